/* Text files token by token: LIBSVM, labels alone, names of classes, tables of pixels, and options
 * that do not belong to a file. */
#define _XOPEN_SOURCE 700
#include <float.h>

#include "read_support.h"

static char warnings[2000];

static void keep_warning(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == ENHOPE_LOG_WARNING && strlen(warnings) + strlen(line) + 2 < sizeof warnings)
        strcat(strcat(warnings, line), "\n");
}

/* Reads the source; its warnings are in `warnings`. */
static enhope_dataset *read_logged(enhope_source source)
{
    warnings[0] = '\0';
    enhope_context_set_log(ctx, keep_warning, NULL);
    enhope_dataset *data = read_ok(source);
    enhope_context_set_log(ctx, NULL, NULL);
    return data;
}

/* ---- LIBSVM ---- */

static void spaces_of_any_kind_separate_tokens(void **state)
{
    (void)state;
    static const char *const lines[] = {"7 1:2 3:4\n9 2:5\n", "7\t1:2\t3:4\r\n9\f2:5\r\n",
                                        "  7\v1:2 \t 3:4  \n\n \t\n 9 2:5", "#x\n7 1:2 3:4#9:9\n9 2:5 # 1:1\n#"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_text("a.svm", lines[i]);
        enhope_dataset *data = read_ok((enhope_source){.path = "a.svm"});
        assert_int_equal(data->x.n, 2);
        assert_int_equal(data->x.H, 3);
        assert_row(data, 0, (const float[]){2, 0, 4});
        assert_row(data, 1, (const float[]){0, 5, 0});
        assert_labels(data, (const int32_t[]){0, 1});
        enhope_dataset_free(data);
    }
}

static void numbers_at_the_ends_of_their_range_are_read(void **state)
{
    (void)state;
    write_text("a.svm", "1 1:3.4028234663852886e38 2:-3.4028234663852886e38 2147483647:1\n0 5:1e-50\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "a.svm"});
    assert_int_equal(data->x.H, 2147483647);
    assert_memory_equal(data->x.column, ((const int32_t[]){0, 1, 2147483646, 4}), 16);
    assert_memory_equal(data->x.value, ((const float[]){FLT_MAX, -FLT_MAX, 1, 0}), 16);
    enhope_dataset_free(data);
}

static void tokens_that_are_wrong_are_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1 2147483648:1\n", "b.svm:1: '2147483648:1' has an index outside 1 to 2147483647"},
        {"1 21474836470:1\n", "b.svm:1: '21474836470:1' has an index outside 1 to 2147483647"},
        {"1 :1\n", "b.svm:1: ':1' has an index outside 1 to 2147483647"},
        {"1 0:1\n", "b.svm:1: '0:1' has an index outside 1 to 2147483647"},
        {"1 -1:1\n", "b.svm:1: '-1:1' is invalid: expected INDEX:VALUE"},
        {"1 1/:1\n", "b.svm:1: '1/:1' is invalid: expected INDEX:VALUE"},
        {"1 qie:1\n", "b.svm:1: 'qie:1' is invalid: expected INDEX:VALUE"},
        {"1 qid1:1\n", "b.svm:1: 'qid1:1' is invalid: expected INDEX:VALUE"},
        {"1 1:\n", "b.svm:1: '1:' has a value that is not a number"},
        {"1 1:2:3\n", "b.svm:1: '1:2:3' has a value that is not a number"},
        {"1 1:-1e39\n", "b.svm:1: '1:-1e39' has a value that is not a finite number"},
        {"1 1:-inf\n", "b.svm:1: '1:-inf' has a value that is not a finite number"},
        {"1 1:1 1:1\n", "b.svm:1: '1:1' is out of order: expected ascending indices"},
        {"1 1:1 2:1\n2 2:1 1:4\n", "b.svm:2: '1:4' is out of order: expected ascending indices"},
        {"\n#\n1 1:1 x\n", "b.svm:3: 'x' is invalid: expected INDEX:VALUE"},
        {"1 1:1\r\n:2 2:1\n", "b.svm:2: ':2' is in the place of the label: expected the label first"},
        {"\xff 1:1\n", "b.svm:1: a label is not UTF-8 text: convert the file first"},
        {"1 0123456789012345678901234567890123456789\n",
         "b.svm:1: '0123456789012345678901234567890123456789' is invalid: expected INDEX:VALUE"},
        {"1 01234567890123456789012345678901234567890\n",
         "b.svm:1: '0123456789012345678901234567890123456789' is invalid: expected INDEX:VALUE"},
        {"1 012345678901234567890123456789012345678\n",
         "b.svm:1: '012345678901234567890123456789012345678' is invalid: expected INDEX:VALUE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("b.svm", cases[i].text);
        read_fails((enhope_source){.path = "b.svm"}, ENHOPE_ERROR_DATA, cases[i].message);
    }
}

static void labels_are_optional_if_they_are_not_needed(void **state)
{
    (void)state;
    write_text("a.svm", "qid:7 1:2 3:4\n3 1:1\n1:5\nx\n");
    enhope_dataset *data = read_logged((enhope_source){.path = "a.svm", .label = "none"});
    assert_int_equal(data->x.n, 4);
    assert_null(data->label);
    assert_memory_equal(data->x.row_start, ((const int64_t[]){0, 2, 3, 4, 4}), 5 * sizeof(int64_t));
    assert_row(data, 2, (const float[]){5, 0, 0});
    assert_string_equal(warnings, "a.svm: ignored 1 field qid: the groups of samples for ranking are not used\n");
    enhope_dataset_free(data);
    write_text("a.svm", "1 1:2 3\n");
    read_fails((enhope_source){.path = "a.svm", .label = "none"}, ENHOPE_ERROR_DATA,
               "a.svm:1: '3' is invalid: expected INDEX:VALUE");
}

/* Row i has i % 7 values, in as many rows and values as fill the buffers several times. */
static void many_rows_and_values_are_whole(void **state)
{
    (void)state;
    enum { ROWS = 9001 };
    FILE *f = fopen("many.svm", "w");
    assert_non_null(f);
    for (int i = 0; i < ROWS; i++) {
        fprintf(f, "c%d", i % 3);
        for (int j = 0; j < i % 7; j++) fprintf(f, " %d:%d", j * j + 1, i + j);
        fputs(i % 2 ? "\n" : "\r\n", f);
    }
    for (int j = 0; j < 5000; j++) fprintf(f, j ? " %d:%d" : "c0 %d:%d", j + 1, j % 100);
    fclose(f);
    enhope_dataset *data = read_ok((enhope_source){.path = "many.svm"});
    assert_int_equal(data->x.n, ROWS + 1);
    assert_int_equal(data->x.H, 5000);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(data->x.row_start[i], at);
        assert_int_equal(data->label[i], i % 3);
        for (int j = 0; j < i % 7; j++, at++) {
            assert_int_equal(data->x.column[at], j * j);
            assert_true(data->x.value[at] == (float)(i + j));
        }
    }
    for (int j = 0; j < 5000; j++, at++) assert_true(data->x.column[at] == j && data->x.value[at] == (float)(j % 100));
    assert_int_equal(data->x.row_start[ROWS + 1], at);
    enhope_dataset_free(data);
}

/* ---- labels alone ---- */

static void the_header_of_labels_is_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t labels[3];
        const char *names[3]; /* of the classes */
    } cases[] = {
        {"label\nb\na\nb\n", {1, 0, 1}, {"a", "b"}},        {"Labels\n1\n2\n2\n", {0, 1, 1}, {"1", "2"}},
        {"CLASS\nx\nx\ny", {0, 0, 1}, {"x", "y"}},          {"target\r\n3\r\n1\r\n3\r\n", {1, 0, 1}, {"1", "3"}},
        {"labelx\nb\nb\n", {1, 0, 0}, {"b", "labelx"}},     {"labe\nb\nb\n", {1, 0, 0}, {"b", "labe"}},
        {"kind\n4\n2\n4\n", {1, 0, 1}, {"2", "4"}},         {"kind\nfox\n4\n", {2, 1, 0}, {"4", "fox", "kind"}},
        {"4\nkind\n4\n", {0, 1, 0}, {"4", "kind"}},         {"label\nkind\n4\n4", {1, 0, 0}, {"4", "kind"}},
        {"\"kind\"\n1\n\"2\"\n1\n", {0, 1, 0}, {"1", "2"}}, {"nan\n4\nx\n", {-1, 0, 1}, {"4", "x"}},
    };
    unsigned char file[64];
    write_bytes("x-ubyte", file, make_idx(file, 8, 2, (const uint32_t[]){3, 1}, "abc", 3));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("y.csv", cases[i].text);
        enhope_dataset *data = read_ok((enhope_source){.path = "x-ubyte,y.csv"});
        for (int k = 0; k < 3; k++) {
            const char *name = enhope_dataset_class_name(data, k);
            assert_int_equal(!name, !cases[i].names[k]);
            if (name && strcmp(name, cases[i].names[k])) fail_msg("case %d: %s", (int)i, name);
        }
        assert_labels(data, cases[i].labels);
        enhope_dataset_free(data);
    }
    static const struct {
        const char *text, *message;
    } wrong[] = {{"a\nb,c\nd\n", "y.csv:2: 2 fields, expected 1 (a label)"},
                 {"a\nb\nc\nd\n", "x-ubyte has 3 samples but y.csv has 4 labels"},
                 {"label\na\nb\n", "x-ubyte has 3 samples but y.csv has 2 labels"},
                 {"a\nb\n\xff\n", "y.csv:3: a label is not UTF-8 text: convert the file first"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_text("y.csv", wrong[i].text);
        read_fails((enhope_source){.path = "x-ubyte,y.csv"}, ENHOPE_ERROR_DATA, wrong[i].message);
    }
    write_text("y.svm", "1 1:1\n");
    read_fails((enhope_source){.path = "x-ubyte,y.svm"}, ENHOPE_ERROR_FORMAT,
               "y.svm: unsupported file of labels: expected IDX, NPY or CSV with one column");
}

/* ---- names of classes ---- */

static void names_follow_numbers_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names[3];
    } good[] = {
        {"a\nb\nc\nd\n", {"a", "b", "c"}},
        {" \ta \t\r\n b\nc\r\n\r\n \n", {"a", "b", "c"}},
        {"2,c\n0,a\n1,b", {"a", "b", "c"}},
        {"-1,minus\n2,c\n0,a\n1,b", {"a", "b", "c"}},
        {"number,name\n2,\"c\"\n0,\"\"a\"\"\n1,\"b,\"\n", {"\"a\"", "b,", "c"}},
        {"0,1\n1,2\n2,0\n", {"1", "2", "0"}},
        {"0.0\n1\n2\n", {"0.0", "1", "2"}},
        {"a,b\nc,d\ne\n", {"a,b", "c,d", "e"}},
        {"a\n1,d\n2,d\n", {"a", "1,d", "2,d"}},
        {"0,a\nb\n2,c\n", {"0,a", "b", "2,c"}},
    };
    static const char *const bad[][2] = {
        {"x,y\n0,a\n1,b\n", "n.txt: has 2 names but none for the class '2': expected a name in each line, for the "
                            "classes 0, 1, ..., or lines NUMBER,NAME"},
        {"0,a\n", "n.txt: has 1 name but none for the class '1': expected a name in each line, for the classes 0, "
                  "1, ..., or lines NUMBER,NAME"},
        {"a\n", "n.txt: has 1 name but none for the class '1': expected a name in each line, for the classes 0, "
                "1, ..., or lines NUMBER,NAME"},
        {"\n",
         "n.txt: has 0 names but none for the class '0': expected a name in each line, for the classes 0, 1, ..., "
         "or lines NUMBER,NAME"},
        {"x,y\n0,a\n1,b\n1,c\n2,d\n", "n.txt:4: the class 1 occurs twice"},
        {"x,y\n0,a\n1,b\n2,a\n", "n.txt:4: the name 'a' occurs twice"},
        {"x,y\n0,a\n1, \t\n2,c\n", "n.txt:3: the name is empty"},
        {"x,y\n0,a\n1,\"\"\n2,c\n", "n.txt:3: the name is empty"},
        {"\na\nb\n", "n.txt:1: the name is empty"},
    };
    unsigned char file[64];
    write_bytes("x-ubyte", file, make_idx(file, 8, 2, (const uint32_t[]){4, 1}, "abcd", 4));
    write_bytes("y-ubyte", file, make_idx(file, 8, 1, (const uint32_t[]){4}, "\2\1\0\2", 4));
    const enhope_source source = {.path = "x-ubyte,y-ubyte", .classes = "n.txt"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        write_text("n.txt", good[i].text);
        enhope_dataset *data = read_ok(source);
        for (int k = 0; k < 3; k++) assert_string_equal(enhope_dataset_class_name(data, k), good[i].names[k]);
        enhope_dataset_free(data);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("n.txt", bad[i][0]);
        read_fails(source, ENHOPE_ERROR_DATA, bad[i][1]);
    }
    FILE *many = fopen("n.txt", "w");
    assert_non_null(many);
    for (int i = 0; i < 300; i++) fprintf(many, "name %d%*s\n", i, i == 50 ? 300000 : 0, ""); /* a long line */
    fclose(many);
    enhope_dataset *data = read_ok(source);
    assert_string_equal(enhope_dataset_class_name(data, 2), "name 2");
    enhope_dataset_free(data);
}

static void classes_that_differ_in_case_are_reported(void **state)
{
    (void)state;
    write_text("c.csv", "x,label\n1,Cat\n2,dog\n3,CAT\n4,cat\n5,dig\n");
    enhope_dataset_free(read_logged((enhope_source){.path = "c.csv"}));
    assert_string_equal(warnings, "c.csv: 'Cat' and 'CAT' are two classes; write them alike if they are one\n"
                                  "c.csv: 'Cat' and 'cat' are two classes; write them alike if they are one\n");
    write_text("c.csv", "x,label\n1,cat\n2,dog\n3,cat\n");
    enhope_dataset_free(read_logged((enhope_source){.path = "c.csv"}));
    assert_string_equal(warnings, "");
}

/* ---- tables of pixels ---- */

/* A table with `inputs` columns of bytes that are constant, and one value of row 1, column 3. */
static void write_pixels(int inputs, const char *value)
{
    FILE *f = fopen("p.csv", "w");
    assert_non_null(f);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < inputs; j++)
            if (i == 1 && j == 3)
                fprintf(f, "%s,", value);
            else
                fprintf(f, "%d,", j * 5 % 256);
        fprintf(f, "%s\n", i % 2 ? "odd" : "even");
    }
    fclose(f);
}

static void many_columns_of_bytes_are_pixels(void **state)
{
    (void)state;
    static const struct {
        int inputs;
        const char *value;
        bool pixels;
    } cases[] = {{64, "7", true},   {63, "7", false},   {65, "0", true}, {64, "255", true}, {64, "256", false},
                 {64, "-1", false}, {64, "7.5", false}, {64, "", false}, {200, "17", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_pixels(cases[i].inputs, cases[i].value);
        enhope_dataset *data = read_ok((enhope_source){.path = "p.csv"});
        /* constant columns of other tables are no inputs */
        if (cases[i].pixels) {
            assert_int_equal(data->x.H, cases[i].inputs);
            for (int j = 0; j < cases[i].inputs; j++)
                assert_true(data->x.f32[2 * cases[i].inputs + j] == (float)(j * 5 % 256));
        } else {
            assert_true(data->x.H < cases[i].inputs);
        }
        enhope_dataset_free(data);
    }
}

/* ---- options ---- */

static void options_of_columns_are_only_for_tables(void **state)
{
    (void)state;
    static const enhope_table_options options[] = {
        {.header = "no"},     {.delimiter = "tab"}, {.decimal = ","},    {.ignore = "1"},
        {.id = "1"},          {.group = "1"},       {.keep = "1"},       {.weight = "1"},
        {.categorical = "1"}, {.numeric = "1"},     {.missing = "drop"}, {.skip_bad = 1},
    };
    unsigned char file[64];
    write_bytes("x-ubyte", file, make_idx(file, 8, 2, (const uint32_t[]){3, 1}, "abc", 3));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        read_fails((enhope_source){.path = "x-ubyte", .table = &options[i]}, ENHOPE_ERROR_ARGUMENT,
                   "x-ubyte: options of columns are only for CSV");
        read_fails((enhope_source){.path = "synthetic:blobs,n=9", .table = &options[i]}, ENHOPE_ERROR_ARGUMENT,
                   "synthetic:blobs,n=9: options of columns are only for CSV");
    }
    enhope_dataset_free(
        read_ok((enhope_source){.path = "x-ubyte", .table = &(enhope_table_options){.label_optional = 1}}));
}

static void limits_and_parts_keep_the_first_rows(void **state)
{
    (void)state;
    unsigned char file[64];
    write_bytes("x-ubyte", file, make_idx(file, 8, 2, (const uint32_t[]){5, 1}, "\1\2\3\4\5", 5));
    for (int64_t limit = 0; limit <= 6; limit++) {
        enhope_dataset *data = read_ok((enhope_source){.path = "x-ubyte", .limit = limit});
        assert_int_equal(data->x.n, limit == 0 || limit > 5 ? 5 : limit);
        assert_memory_equal(data->x.u8, "\1\2\3\4\5", (size_t)data->x.n);
        enhope_dataset_free(data);
    }
    for (int64_t limit = 0; limit <= 4; limit++) {
        enhope_dataset *data =
            read_ok((enhope_source){.path = "x-ubyte", .split = "3@1", .label = "none", .limit = limit});
        assert_int_equal(data->x.n, limit == 0 || limit > 3 ? 3 : limit);
        enhope_dataset_free(data);
    }
    read_fails((enhope_source){.path = "x-ubyte", .limit = -1}, ENHOPE_ERROR_ARGUMENT,
               "limit is -1: expected 0 (all samples) or more");
    read_fails((enhope_source){.path = "x-ubyte", .part = "test"}, ENHOPE_ERROR_ARGUMENT,
               "x-ubyte: has no test part; use a split N@SEED");
    read_fails((enhope_source){.path = ""}, ENHOPE_ERROR_ARGUMENT, "no data given: expected a path");
    read_fails((enhope_source){.path = "x-ubyte", .variables = "X"}, ENHOPE_ERROR_ARGUMENT,
               "x-ubyte: variables ('X') can only be named for NPZ and MAT");
    enhope_dataset_free(read_ok((enhope_source){.path = "x-ubyte", .part = "train"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_of_any_kind_separate_tokens),
        cmocka_unit_test(numbers_at_the_ends_of_their_range_are_read),
        cmocka_unit_test(tokens_that_are_wrong_are_quoted),
        cmocka_unit_test(labels_are_optional_if_they_are_not_needed),
        cmocka_unit_test(many_rows_and_values_are_whole),
        cmocka_unit_test(the_header_of_labels_is_recognized),
        cmocka_unit_test(names_follow_numbers_in_any_order),
        cmocka_unit_test(classes_that_differ_in_case_are_reported),
        cmocka_unit_test(many_columns_of_bytes_are_pixels),
        cmocka_unit_test(options_of_columns_are_only_for_tables),
        cmocka_unit_test(limits_and_parts_keep_the_first_rows),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
