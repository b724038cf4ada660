/* The reader of CSV and TSV: headers, delimiters, quotes, label columns, numbers in any locale, and
 * its messages. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <locale.h>

#include "model/model.h"
#include "read_support.h"

static void header_and_label_column_are_found(void **state)
{
    (void)state;
    const struct {
        const char *text, *label;
        int64_t H;
        float row0[3];
        int32_t label0, c;
        const char *class0, *input0;
    } cases[] = {
        /* no header: the last column */
        {"1.5,2,no\n3,4,yes\n", NULL, 2, {1.5f, 2}, 0, 2, "no", NULL},
        /* a header without a usual label name: the last column */
        {"w,h,kind\n1.5,2,no\n3,4,yes\n", NULL, 2, {1.5f, 2}, 0, 2, "no", "w"},
        /* the usual names, in any case */
        {"Class,w,h\nb,1.5,2\na,3,4\n", NULL, 2, {1.5f, 2}, 1, 2, "a", "w"},
        {"w,Y,h\n1.5,b,2\n3,a,4\n", NULL, 2, {1.5f, 2}, 1, 2, "a", "w"},
        /* names of columns that are numbers */
        {"0,1,label\n1.5,2,7\n3,4,5\n", NULL, 2, {1.5f, 2}, 1, 2, "5", "0"},
        /* a class named y does not make a header */
        {"1.5,2,y\n3,4,n\n", NULL, 2, {1.5f, 2}, 1, 2, "n", NULL},
        /* by name and by index */
        {"w,kind,h\n1.5,no,2\n3,yes,4\n", "kind", 2, {1.5f, 2}, 0, 2, "no", "w"},
        {"no,1.5,2\nyes,3,4\n", "1", 2, {1.5f, 2}, 0, 2, "no", NULL},
        {"k,w,h\nno,1.5,2\nyes,3,4\n", "1", 2, {1.5f, 2}, 0, 2, "no", "w"},
        /* no label */
        {"1.5,2,7\n3,4,5\n", "none", 3, {1.5f, 2, 7}, -1, 0, NULL, NULL},
        {"a,b,label\n1.5,2,7\n3,4,5\n", "none", 3, {1.5f, 2, 7}, -1, 0, NULL, "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("h.csv", cases[i].text);
        enhope_dataset *data = read_ok((enhope_source){.path = "h.csv", .label = cases[i].label});
        assert_int_equal(data->x.kind, ENHOPE_F32);
        assert_int_equal(data->x.n, 2);
        assert_int_equal(data->x.H, cases[i].H);
        assert_row(data, 0, cases[i].row0);
        assert_int_equal(data->c, cases[i].c);
        if (cases[i].c) {
            assert_int_equal(data->label[0], cases[i].label0);
            assert_string_equal(enhope_dataset_class_name(data, 0), cases[i].class0);
        } else {
            assert_null(enhope_dataset_labels(data));
        }
        if (cases[i].input0)
            assert_string_equal(enhope_dataset_input_name(data, 0), cases[i].input0);
        else
            assert_null(enhope_dataset_input_name(data, 0));
        enhope_dataset_free(data);
    }
}

static void delimiters_line_ends_and_quotes_are_parsed(void **state)
{
    (void)state;
    const float expected[2][2] = {{-1.25f, 20}, {3e-3f, 4}};
    const struct {
        const char *name, *text, *class0;
    } cases[] = {
        {"d.csv", "-1.25,20,a b\n3e-3,4,c\n", "a b"},
        {"d.csv", "-1.25;20;a,b\r\n3e-3;4;c\r\n\r\n", "a,b"},
        {"d.tsv", "-1.25\t20\ta,b\n\n3e-3\t4\tc", "a,b"},
        {"d.txt", "-1.25\t20\ta\n3e-3\t4\tc\n", "a"},
        {"iris.data", "-1.25,20,a\n3e-3,4,c\n", "a"},
        {"d.csv", "\xEF\xBB\xBF-1.25 , +20. ,  a  \n.003,4,c\n", "a"},
        {"d.csv", "\"-1.25\",\"20\",\"a \"\"x\"\", b\"\n3E-3,4.0,c\n", "a \"x\", b"},
        {"d.csv", "-1.25,20,\"a\nb\" \r\n3e-3,4,c\n", "a\nb"},
        {"d.csv", "-1.25,20,5\" disk\n3e-3,4,c\n", "5\" disk"},
        {"d.csv", "-1.25,20,\xC3\xA4\n3e-3,4,\xE2\x82\xAC\n", "\xC3\xA4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int gz = 0; gz < 2; gz++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", cases[i].name, gz ? ".gz" : "");
            (gz ? write_gz : write_bytes)(name, cases[i].text, strlen(cases[i].text));
            enhope_dataset *data = read_ok((enhope_source){.path = name});
            assert_int_equal(data->x.n, 2);
            assert_row(data, 0, expected[0]);
            assert_row(data, 1, expected[1]);
            assert_int_equal(data->c, 2);
            assert_string_equal(enhope_dataset_class_name(data, data->label[0]), cases[i].class0);
            enhope_dataset_free(data);
        }
    }
}

static void classes_keep_their_spelling_and_are_sorted(void **state)
{
    (void)state;
    write_text("c.csv", "1,10\n2,9\n3,9.0\n4,-1\n5,+9\n6,09\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "c.csv"});
    assert_labels(data,
                  (int32_t[]){2, 1, 1, -1, 1, 0}); /* numbers by value; 9, 9.0 and +9 are one class, 09 is a code */
    assert_string_equal(enhope_dataset_class_name(data, 0), "09");
    assert_string_equal(enhope_dataset_class_name(data, 1), "9");
    enhope_dataset_free(data);
    write_text("c.csv", "1,10\n2,9\n3,b\n4,B\n5,9\n");
    data = read_ok((enhope_source){.path = "c.csv"});
    assert_labels(data, (int32_t[]){0, 1, 3, 2, 1}); /* one text: all are sorted by bytes */
    assert_null(enhope_dataset_class_name(data, 4));
    assert_null(enhope_dataset_class_name(data, -1));
    enhope_dataset_free(data);
}

static void labels_may_be_missing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t expected[4]; /* of four samples */
        int32_t classes;
    } cases[] = {
        {"1,a\n2,\n3,b\n4,\"\"\n", {0, -1, 1, -1}, 2},   {"1,0\n2,-1\n3,1\n4,-1\n", {0, -1, 1, -1}, 2},
        {"1,-1\n2,+1\n3,1\n4,-1\n", {0, 1, 1, 0}, 2}, /* two common classes */
        {"1,-1\n2,a\n3,b\n4,a\n", {0, 1, 2, 1}, 3},      {"1,-1\n2,0.5\n3,2\n4,-1\n", {0, 1, 2, 0}, 3},
        {"1,7\n2,NaN\n3,8\n4,nan\n", {0, -1, 1, -1}, 2}, {"1,-1\n2,3\n3,5\n4,4\n", {-1, 0, 2, 1}, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("m.csv", cases[i].text);
        enhope_dataset *data = read_ok((enhope_source){.path = "m.csv", .label = "2"});
        enhope_dataset_info info;
        enhope_dataset_get_info(data, &info);
        assert_int_equal(info.classes, cases[i].classes);
        for (int s = 0; s < 4; s++) assert_int_equal(enhope_dataset_labels(data)[s], cases[i].expected[s]);
        enhope_dataset_free(data);
    }
    write_text("m.csv", "w,label\n1,\n2,\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "m.csv"});
    assert_null(enhope_dataset_labels(data)); /* all labels are missing */
    enhope_dataset_free(data);
    write_text("m.svm", "-1 1:2\n3 2:1\n0 1:1\n"); /* the same with sparse rows */
    data = read_ok((enhope_source){.path = "m.svm"});
    assert_labels(data, (int32_t[]){-1, 1, 0});
    enhope_dataset_free(data);
}

static void a_table_as_wide_as_a_model_has_no_label(void **state)
{
    (void)state;
    write_text("w.csv", "1,10,4\n2,9,5\n");
    enhope_model model = {.shape = {.H = 3}};
    enhope_dataset *data = read_ok((enhope_source){.path = "w.csv", .model = &model});
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);
    model.shape.H = 2;
    data = read_ok((enhope_source){.path = "w.csv", .model = &model, .label = "3"});
    assert_non_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);
    read_fails(
        (enhope_source){.path = "w.csv", .model = &model}, ENHOPE_ERROR_DATA,
        "w.csv: there is no header and one column more than the model has inputs, but column 3 is no label: 2 of 2 "
        "values are no classes of the model; use --label 3 if it is the label, --ignore or --id for a column that is "
        "no input");
    model.shape.H = 1;
    read_fails(
        (enhope_source){.path = "w.csv", .model = &model}, ENHOPE_ERROR_DATA,
        "w.csv: 3 columns without a header: the model has 1 input column, and the table may have a label besides; use "
        "--ignore or --id for other columns");
}

static void errors_name_line_and_column(void **state)
{
    (void)state;
    const struct {
        const char *text, *label, *message;
        enhope_status status;
    } cases[] = {
        {"a,b,c,d,label\n1,2,3,4,x\n1,2,3,x\n", NULL,
         "e.csv: 1 line does not have 5 fields as line 1 (line 3 has 4 fields); use --skip-bad", 0},
        {"\n1,2,x\n\n1,2,3,x\n1,2\n", NULL,
         "e.csv: 2 lines do not have 3 fields as line 2 (line 4 has 4 fields, line 5 has 2 fields); use --skip-bad", 0},
        {"l,h,width,label\n1,2,3,x\n1,2,abc,x\n", NULL,
         "e.csv: column 3 ('width'): a value is not a number ('abc' in line 3); use --categorical width, --ignore "
         "width "
         "or --skip-bad",
         0},
        {"1,2,x\n3,0x10,y\n", NULL,
         "e.csv: column 2: a value is not a number ('0x10' in line 2); use --categorical 2, --ignore 2 or --skip-bad",
         0},
        {"1,2,\"x\n\ny\"\n3,1e,y\n", NULL,
         "e.csv: column 2: a value is not a number ('1e' in line 4); use --categorical 2, --ignore 2 or --skip-bad", 0},
        {"1,2,x\n-inf,2,y\n", NULL,
         "e.csv: column 1: a value is infinite or above 1e30 ('-inf' in line 2); use --ignore 1, --skip-bad or another "
         "unit",
         0},
        {"1,2,x\n1e39,2,y\n", NULL,
         "e.csv: column 1: a value is infinite or above 1e30 ('1e39' in line 2); use --ignore 1, --skip-bad or another "
         "unit",
         0},
        {"1,2,x\n1e999,2,y\n", NULL,
         "e.csv: column 1: a value is infinite or above 1e30 ('1e999' in line 2); use --ignore 1, --skip-bad or "
         "another unit",
         0},
        {"1,x\n2,\"y\n3,z\n", NULL, "e.csv:2: a quoted field is not closed", ENHOPE_ERROR_FORMAT},
        {"1,x\n\"2\"0,y\n", NULL, "e.csv: text follows a closing quote (line 2); use --skip-bad", 0},
        {"\"1\"0,x\n2,y\n", NULL, "e.csv:1: text follows a closing quote: expected ',' or a new line",
         ENHOPE_ERROR_FORMAT},
        {"1,x\n2,\xE4\n", NULL,
         "e.csv: column 2: a text is not UTF-8 (line 2); convert the file to UTF-8, or use --skip-bad", 0},
        {"w\xE4,label\n2,a\n", NULL, "e.csv: the name of column 1 is not UTF-8 text: convert the file", 0},
        {"w,label\n", NULL, "e.csv: there are no samples", 0},
        {"x\ny\n", NULL,
         "e.csv: there is one column, the label: there are no inputs; if another character than comma, semicolon or "
         "tab separates the fields, use --delimiter CHAR",
         0},
        {"w,h\n1,2\n", "kind", "e.csv: --label: no column 'kind': expected a name in the first line or a number 1 to 2",
         ENHOPE_ERROR_ARGUMENT},
        {"w,h\n1,2\n", "3", "e.csv: --label: no column '3': expected a name in the first line or a number 1 to 2",
         ENHOPE_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("e.csv", cases[i].text);
        read_fails((enhope_source){.path = "e.csv", .label = cases[i].label},
                   cases[i].status ? cases[i].status : ENHOPE_ERROR_DATA, cases[i].message);
    }
    write_bytes("nul.csv", "1,2\n3\0,4\n", 9);
    read_fails((enhope_source){.path = "nul.csv"}, ENHOPE_ERROR_FORMAT,
               "nul.csv: contains NUL bytes: expected a text file in UTF-8");
}

static void standard_input_is_csv(void **state)
{
    (void)state;
    write_text("in", "w,label\n1.5,a\n2.5,b\n");
    const int saved = dup(STDIN_FILENO), fd = open("in", O_RDONLY);
    assert_true(saved >= 0 && fd >= 0);
    dup2(fd, STDIN_FILENO);
    enhope_dataset *data = read_ok((enhope_source){.path = "-"});
    assert_int_equal(data->x.n, 2);
    assert_row(data, 1, (float[]){2.5f});
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "-"}, ENHOPE_ERROR_FORMAT, "standard input: the file is empty");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
}

/* A text longer than the window, records across its edges, more columns than the initial capacity.
 */
static void long_files_are_read_completely(void **state)
{
    (void)state;
    enum { ROWS = 3000, COLUMNS = 97 };
    for (int gz = 0; gz < 2; gz++) {
        const char *name = gz ? "long.csv.gz" : "long.csv";
        char *text = malloc((size_t)ROWS * COLUMNS * 16), *at = text;
        assert_non_null(text);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) at += sprintf(at, "%d.%03d,", i - j, (i * 7 + j) % 1000);
            at += sprintf(at, i % 3 ? "c%d\n" : "\"c%d\"\n", i % 5);
        }
        (gz ? write_gz : write_bytes)(name, text, (size_t)(at - text));
        enhope_dataset *data = read_ok((enhope_source){.path = name});
        assert_int_equal(data->x.n, ROWS);
        assert_int_equal(data->x.H, COLUMNS);
        assert_int_equal(data->c, 5);
        char *line = text;
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++, line++)
                assert_true(data->x.f32[i * COLUMNS + j] == (float)strtod(line, &line));
            line = strchr(line, '\n') + 1;
            assert_int_equal(data->label[i], i % 5);
        }
        enhope_dataset_free(data);
        free(text);
    }
    /* one line longer than the window */
    enum { WIDE = 120000 };
    char *text = malloc(WIDE * 8), *at = text;
    assert_non_null(text);
    for (int j = 0; j < WIDE; j++) at += sprintf(at, "%d;", j);
    sprintf(at, "\"end; of line\"\n");
    write_text("wide.csv", text);
    free(text);
    enhope_dataset *data = read_ok((enhope_source){.path = "wide.csv"});
    assert_int_equal(data->x.H, WIDE);
    assert_true(data->x.f32[WIDE - 1] == WIDE - 1);
    assert_string_equal(enhope_dataset_class_name(data, 0), "end; of line");
    enhope_dataset_free(data);
}

static void numbers_match_strtod_in_any_locale(void **state)
{
    (void)state;
    const char *good[] = {"0",
                          "-0",
                          "7",
                          "+7.",
                          ".5",
                          "-.25e1",
                          "2.385",
                          "1e22",
                          "1e23",
                          "1E-22",
                          "1e-23",
                          "123456789012345678",
                          "0.12345678901234567",
                          "179769313486231570000000000000000000000e270",
                          "4.9e-324",
                          "1e-400",
                          "00000000000000000000000000001.5",
                          "0.000000000000000000000000000000000012345",
                          "9007199254740993",
                          "12345678901234567890123456789.123456789e-10"};
    const char *bad[] = {"", "-", "+", ".", "e5", "1e", "1e+", "1,5", "1 ", " 1", "0x1p3", "1.2.3", "--1", "1d5", "na"};
    const char *endless[] = {"nan", "NaN", "-inf", "+Infinity", "1e309", "-1e99999999999999999999"};
    const char *locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"};
    for (size_t k = 0; k < sizeof locales / sizeof *locales; k++) {
        double expected[sizeof good / sizeof *good], value;
        setlocale(LC_NUMERIC, "C");
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) expected[i] = strtod(good[i], NULL);
        setlocale(LC_NUMERIC, locales[k]); /* stays C if the locale is not installed */
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            assert_int_equal(eh_number_parse(good[i], strlen(good[i]), &value), EH_NUMBER);
            assert_memory_equal(&value, &expected[i], sizeof value);
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            assert_int_equal(eh_number_parse(bad[i], strlen(bad[i]), &value), EH_NOT_NUMBER);
        for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
            assert_int_equal(eh_number_parse(endless[i], strlen(endless[i]), &value), EH_NOT_FINITE);
        char text[40];
        eh_number_print(-0.0, text, sizeof text);
        assert_string_equal(text, "0");
        eh_number_print(-12, text, sizeof text);
        assert_string_equal(text, "-12");
        eh_number_print(0.1, text, sizeof text);
        assert_string_equal(text, "0.1");
        eh_number_print(1.0 / 3, text, sizeof text);
        assert_string_equal(text, "0.3333333333333333");
    }
    setlocale(LC_NUMERIC, "C");
}

/* ---- the encoding of other rows ---- */

static void encodings_follow_chosen_rows_and_other_data(void **state)
{
    (void)state;
    static const int64_t fit[] = {0, 1, 3, 4};
    write_text("fit.csv", "color,size,kind\nred,1,x\nblue,2,y\nblack,3,x\nred,4,y\nblue,5,x\n");
    write_text("like.csv", "size,kind,color\n7,x,red\n9,y,green\n");
    const enhope_table_options some = {.fit = fit, .fit_count = 4};
    enhope_dataset *all = read_ok((enhope_source){.path = "fit.csv"});
    enhope_dataset *part = read_ok((enhope_source){.path = "fit.csv", .table = &some});
    int black = 0;
    for (int64_t j = 0; j < all->x.H; j++) black += !strcmp(enhope_dataset_input_name(all, j), "color=black");
    for (int64_t j = 0; j < part->x.H; j++) black -= !strcmp(enhope_dataset_input_name(part, j), "color=black");
    assert_int_equal(black, 1); /* the third row has not fitted the second encoding */
    assert_int_equal(part->x.n, 5);
    const enhope_table_options other = {.like = part};
    enhope_dataset *like = read_ok((enhope_source){.path = "like.csv", .table = &other});
    assert_int_equal(like->x.H, part->x.H);
    for (int64_t j = 0; j < part->x.H; j++)
        assert_string_equal(enhope_dataset_input_name(like, j), enhope_dataset_input_name(part, j));
    assert_int_equal(enhope_dataset_add_validation(ctx, part, like), ENHOPE_OK);
    assert_int_equal(part->x.n, 7);
    enhope_dataset_free(like);
    enhope_dataset_free(part);
    enhope_dataset_free(all);
}

static void texts_are_ids_then_kept_columns(void **state)
{
    (void)state;
    write_text("kept.csv",
               "name,a,b,town,label\n\"Li, An\",1,2.5,Ulm,x\nBo,2,1.5,Rom,y\nCy,3,0.5,Ulm,x\nDa,4,4.5,Bonn,y\n");
    const enhope_table_options table = {.id = "name", .keep = "label,town"};
    const enhope_source source = {.path = "kept.csv", .part = "test", .split = "2@1", .table = &table};
    enhope_dataset *data = NULL;
    static const char *const texts[4][3] = {
        {"Li, An", "x", "Ulm"}, {"Bo", "y", "Rom"}, {"Cy", "x", "Ulm"}, {"Da", "y", "Bonn"}};
    assert_int_equal(enhope_dataset_read(ctx, &source, &data), ENHOPE_OK);
    assert_int_equal(enhope_dataset_id_count(data), 1);
    assert_int_equal(enhope_dataset_text_count(data), 3);
    assert_string_equal(enhope_dataset_text_name(data, 0), "name");
    assert_string_equal(enhope_dataset_text_name(data, 1), "label");
    for (int64_t i = 0; i < 2; i++)
        for (int64_t k = 0; k < 3; k++)
            assert_string_equal(enhope_dataset_text(data, k, i), texts[enhope_dataset_source_row(data, i)][k]);
    enhope_dataset_free(data);
}

/* The inputs of a column are found by its place if the first table has no names. */
static void named_columns_are_described_like_those_without_names(void **state)
{
    (void)state;
    write_text("bare.csv", "red,2.5,a\nblue,3.25,b\nred,-4,a\nblue,1.5,b\n");
    write_text("named.csv", "color,size,kind\nblue,7.5,b\nred,2,a\n");
    enhope_dataset *bare = read_ok((enhope_source){.path = "bare.csv"});
    const enhope_table_options like = {.like = bare};
    enhope_dataset *named = read_ok((enhope_source){.path = "named.csv", .table = &like});
    for (int64_t j = 0; j < 3; j++) {
        enhope_table_column a, b;
        assert_int_equal(enhope_dataset_column(ctx, bare, j, &a), 0);
        assert_int_equal(enhope_dataset_column(ctx, named, j, &b), 0);
        assert_int_equal(a.inputs, b.inputs);
        assert_int_equal(a.categories, b.categories);
        assert_int_equal(b.categories, j == 0 ? 2 : 0);
    }
    enhope_dataset_free(named);
    enhope_dataset_free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_and_label_column_are_found),
        cmocka_unit_test(delimiters_line_ends_and_quotes_are_parsed),
        cmocka_unit_test(classes_keep_their_spelling_and_are_sorted),
        cmocka_unit_test(labels_may_be_missing),
        cmocka_unit_test(a_table_as_wide_as_a_model_has_no_label),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(standard_input_is_csv),
        cmocka_unit_test(long_files_are_read_completely),
        cmocka_unit_test(numbers_match_strtod_in_any_locale),
        cmocka_unit_test(encodings_follow_chosen_rows_and_other_data),
        cmocka_unit_test(texts_are_ids_then_kept_columns),
        cmocka_unit_test(named_columns_are_described_like_those_without_names),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
