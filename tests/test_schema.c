/* The schema of a table: header, label column, types and use of columns, problems, options. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"

#include "data/table/table.h"

/* ---- a log ---- */

static char logged[8192];

static void note_line(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    const size_t at = strlen(logged);
    snprintf(logged + at, sizeof logged - at, "%s%s\n", level == ENHOPE_LOG_WARNING ? "warning: " : "", line);
}

static int watch_log(void **state)
{
    (void)state;
    *logged = '\0';
    enhope_context_set_log(ctx, note_line, NULL);
    return 0;
}

static int leave_log(void **state)
{
    (void)state;
    enhope_context_set_log(ctx, NULL, NULL);
    return 0;
}

static eh_schema schema_of(const char *text, const char *label, const enhope_table_options *options)
{
    eh_schema schema;
    const eh_input in = {.path = "s.csv", .labeled = true, .label = label, .table = options};
    write_text("s.csv", text);
    *logged = '\0';
    if (eh_schema_read(ctx, &in, NULL, &schema)) fail_msg("%s", enhope_error(ctx));
    return schema;
}

/* Rows made by a function of their index. */
static char *make_rows(const char *header, int rows, void (*put)(char *to, int i))
{
    char *text = malloc((size_t)rows * 64 + 256), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", header);
    for (int i = 0; i < rows; i++) {
        put(at, i);
        at += strlen(at);
    }
    return text;
}

/* ---- the header ---- */

static void a_header_is_unlike_the_columns_below(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool header;
    } cases[] = {
        /* texts above numbers */
        {"a,b,kind\n1,2,x\n3,4,y\n", true},
        {"1,2,x\n3,4,y\n", false},
        /* numbers that count the columns above a label that occurs nowhere else */
        {"0,1,2,3,species\n5.1,3.5,1.4,0.2,setosa\n4.9,3,1.4,0.2,setosa\n6.2,3.4,5.4,2.3,virginica\n5.9,3,5.1,1.8,"
         "virginica\n",
         true},
        {"1,2,species\n5,3,setosa\n4,3,setosa\n6,9,virginica\n8,3,virginica\n", true},
        /* the same without the header */
        {"5.1,3.5,1.4,0.2,setosa\n4.9,3,1.4,0.2,setosa\n6.2,3.4,5.4,2.3,virginica\n5.9,3,5.1,1.8,virginica\n", false},
        /* a class with one sample is no header */
        {"5.1,3.5,rare\n4.9,3,setosa\n4.7,3.1,setosa\n6.2,3.4,virginica\n5.9,3,virginica\n", false},
        {"7,3,rare\n4,3,setosa\n2,5,setosa\n6,4,virginica\n5,1,virginica\n", false},
        /* numbers that count the columns above fractions, and above integers */
        {"0,1,2\n1.5,2.5,1\n3.5,4.25,0\n1.5,2,1\n", true},
        {"1,2,3\n4,5,6\n7,8,9\n", false},
        /* tables of texts */
        {"color,size,kind\nred,big,x\nblue,small,y\nred,small,x\nblue,big,y\n", true},
        {"red,small,x\nblue,big,y\nred,big,x\nblue,small,y\n", false},
        /* the name of an index is empty */
        {",a,b\n0,1.5,x\n1,2.5,y\n2,1.25,x\n", true},
        /* a bad value in the first line */
        {"abc,2,x\n1,2,x\n3,4,y\n5,6,y\n", false},
        {"day,kind\n2024-01-01,x\n2024-01-02,y\n", true},
        {"\xEF\xBB\xBFw,kind\r\n1.5,x\r\n2.5,y\r\n", true},
        {"\"w\n1\",kind\n1.5,x\n2.5,y\n", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enhope_table_options skip = {.skip_bad = 1};
        eh_schema s = schema_of(cases[i].text, NULL, &skip);
        if (s.header != cases[i].header) fail_msg("case %d: header %d", (int)i, s.header);
        eh_schema_free(&s);
        for (int yes = 0; yes < 2; yes++) {
            const enhope_table_options forced = {.header = yes ? "yes" : "no", .skip_bad = 1};
            s = schema_of(cases[i].text, "2", &forced);
            assert_int_equal(s.header, yes);
            eh_schema_free(&s);
        }
    }
}

static void decisions_are_logged(void **state)
{
    (void)state;
    eh_schema s = schema_of("0,1,species\n5.1,3.5,a\n4.9,3,a\n6.2,3.4,b\n5.9,3,b\n", NULL, NULL);
    assert_string_equal(logged, "s.csv: header: line 1 (its 'species' occurs in no other line); label: column 3 "
                                "('species', the last column)\n");
    eh_schema_free(&s);
    s = schema_of("1.5,a\n2.5,b\n", NULL, NULL);
    assert_string_equal(logged, "s.csv: no header; label: column 2 (the last column)\n");
    eh_schema_free(&s);
    s = schema_of("w,w,,w,class\n1.5,1,2,1,a\n2.5,2,1,3,b\n", NULL, NULL);
    assert_string_equal(s.column[1].name, "w.2");
    assert_string_equal(s.column[2].name, "column 3");
    assert_string_equal(s.column[3].name, "w.3");
    assert_non_null(strstr(logged, "warning: s.csv: two columns have the name 'w'; column 2 is called 'w.2'\n"));
    eh_schema_free(&s);
}

/* ---- the label column ---- */

static void put_activity(char *to, int i)
{
    sprintf(to, "%d.5,%d.25,%d,%d.125,%s\n", i % 7, i % 11, i % 13, i, i % 2 ? "walk" : "sit");
}

static void put_numbers(char *to, int i)
{
    sprintf(to, "%d.5,%d\n", i, i * 16 % 51);
}

static void put_first(char *to, int i)
{
    sprintf(to, "%s,%d.5,%d.25\n", i % 3 ? "oak" : "elm", i, i);
}

static void the_label_column_is_found(void **state)
{
    (void)state;
    char *text = make_rows("x,y,z,w,activity\n", 58, put_activity);
    eh_schema s = schema_of(text, NULL, NULL);
    assert_int_equal(s.label, 4); /* y is a coordinate beside x */
    eh_schema_free(&s);
    free(text);
    s = schema_of("w,Y,h\n1.5,b,2\n3,a,4\n", NULL, NULL);
    assert_int_equal(s.label, 1);
    assert_string_equal(s.column[1].reason, "a usual name");
    eh_schema_free(&s);
    text = make_rows("kind,a,b\n", 58, put_first);
    s = schema_of(text, NULL, NULL);
    assert_int_equal(s.label, 0);
    assert_string_equal(s.column[0].reason, "the first column");
    eh_schema_free(&s);
    free(text);
}

static void columns_that_cannot_be_labels_are_refused(void **state)
{
    (void)state;
    char *text = make_rows("a,b\n", 58, put_numbers);
    write_text("r.csv", text);
    read_fails((enhope_source){.path = "r.csv"}, ENHOPE_ERROR_DATA,
               "r.csv: no column can be the label: none has a usual name (label, class, target), and the last and the "
               "first column have too many different values; use --label COLUMN, or --label none");
    read_fails((enhope_source){.path = "r.csv", .label = "b"}, ENHOPE_ERROR_DATA,
               "r.csv: the label, column 2 ('b'), has 51 classes in 58 rows: expected fewer; use --label COLUMN for "
               "another column, or --label none");
    read_fails((enhope_source){.path = "r.csv", .label = "1"}, ENHOPE_ERROR_DATA,
               "r.csv: the label, column 1 ('a'), is continuous (58 values from 0.5 to 57.5): expected classes; use "
               "--label COLUMN for another column, or --label none");
    enhope_dataset *data = read_ok((enhope_source){.path = "r.csv", .label = "none"});
    assert_int_equal(data->x.H, 2);
    enhope_dataset_free(data);
    free(text);
}

/* ---- types ---- */

static void put_typed(char *to, int i)
{
    static const char *const towns[] = {"Rome", "Oslo", "Bern"};
    sprintf(to, "%d,u%d,%d.5,%s,%s,2024-0%d-11,,%s,%d,%s\n", i, i, i % 9, towns[i % 3], i % 2 ? "Yes" : "no", 1 + i % 9,
            i % 4 ? "7" : "NA", i % 5, i % 2 ? "a" : "b");
}

static void types_are_those_of_all_values(void **state)
{
    (void)state;
    static const struct {
        eh_column_type type;
        eh_column_role role;
    } expected[] = {{EH_COLUMN_ID, EH_ROLE_IGNORED},     {EH_COLUMN_ID, EH_ROLE_IGNORED},
                    {EH_COLUMN_NUMBER, EH_ROLE_INPUT},   {EH_COLUMN_CATEGORY, EH_ROLE_INPUT},
                    {EH_COLUMN_BOOLEAN, EH_ROLE_INPUT},  {EH_COLUMN_DATE, EH_ROLE_INPUT},
                    {EH_COLUMN_EMPTY, EH_ROLE_IGNORED},  {EH_COLUMN_NUMBER, EH_ROLE_INPUT},
                    {EH_COLUMN_CATEGORY, EH_ROLE_INPUT}, {EH_COLUMN_CATEGORY, EH_ROLE_LABEL}};
    char *text = make_rows("Unnamed: 0,user,size,town,smokes,day,nothing,seven,grade,kind\n", 60, put_typed);
    const enhope_table_options options = {.categorical = "grade"};
    eh_schema s = schema_of(text, NULL, &options);
    assert_int_equal(s.columns, 10);
    assert_int_equal(s.rows, 60);
    for (int j = 0; j < 10; j++) {
        if (s.column[j].type != expected[j].type || s.column[j].role != expected[j].role)
            fail_msg("column %d: type %d, role %d", j, (int)s.column[j].type, (int)s.column[j].role);
    }
    assert_int_equal(s.column[7].missing, 15);
    assert_true(s.column[2].minimum == 0.5 && s.column[2].maximum == 8.5);
    assert_true(s.column[5].minimum == 19733);
    assert_non_null(strstr(logged, "warning: s.csv: not used: 'Unnamed: 0' (a counter), 'user' (unique texts), "
                                   "'nothing' (no values); to use a column, name it in --numeric or --categorical\n"));
    eh_schema_free(&s);
    free(text);
}

static void put_ids(char *to, int i)
{
    sprintf(to, "%d,%d,%d,%d,%d,%d.5,%c\n", 1000 + i, 3 * i * i + 7, i + 5, 11 * i, 17 + i % 29, i % 13, "pq"[i % 2]);
}

/* Counters from any number, and different integers under the name of an id, are not used. */
static void columns_that_identify_rows_are_not_used(void **state)
{
    (void)state;
    char *text = make_rows("start,customer_id,step,orderID,paid,size,kind\n", 40, put_ids);
    eh_schema s = schema_of(text, NULL, NULL);
    for (int j = 0; j < 6; j++)
        assert_int_equal(s.column[j].type, j == 0 || j == 1 || j == 3 ? EH_COLUMN_ID : EH_COLUMN_NUMBER);
    assert_non_null(strstr(logged, "warning: s.csv: not used: 'start' (a counter), 'customer_id' (unique numbers), "
                                   "'orderID' (unique numbers); to use a column, name it in --numeric\n"));
    eh_schema_free(&s);
    const enhope_table_options use = {.numeric = "start,4"};
    s = schema_of(text, NULL, &use);
    assert_int_equal(s.column[0].role, EH_ROLE_INPUT);
    assert_int_equal(s.column[1].role, EH_ROLE_IGNORED);
    assert_int_equal(s.column[3].type, EH_COLUMN_NUMBER);
    eh_schema_free(&s);
    free(text);
    static const struct {
        const char *name;
        bool id;
    } names[] = {{"ID", true},     {"Index", true}, {"", true},        {"Unnamed: 0", true}, {"PassengerId", true},
                 {"row id", true}, {"a.id", true},  {"USER_ID", true}, {"valid", false},     {"PAID", false},
                 {"idle", false},  {"d", false},    {"Covid", false},  {"Id2", false},       {"kidID", true}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (eh_id_name(names[i].name) != names[i].id) fail_msg("'%s'", names[i].name);
}

static void put_late_text(char *to, int i)
{
    sprintf(to, "%d.5,%s,%d\n", i, i == 50000 ? "oops" : "2.25", i % 2);
}

static void a_table_without_a_label_may_be_read(void **state)
{
    (void)state;
    const enhope_table_options optional = {.label_optional = 1};
    char *text = make_rows("a,b,label_like\n", 100, put_late_text);
    eh_schema s = schema_of("a,b\n1.5,2.25\n2.5,7.125\n3.25,1.75\n", NULL, &optional);
    assert_int_equal(s.label, EH_LABEL_NONE);
    assert_non_null(strstr(logged, "s.csv: no label column was found; if there is one, name it with --label COLUMN\n"));
    eh_schema_free(&s);
    s = schema_of(text, NULL, &optional);
    assert_int_equal(s.label, 2);
    eh_schema_free(&s);
    free(text);
}

/* A text in the middle of many numbers, decimal commas, values that are not finite. */
static void problems_are_reported_together(void **state)
{
    (void)state;
    char *text = make_rows("a,b,label\n", 100000, put_late_text);
    write_text("p.csv", text);
    free(text);
    read_fails(
        (enhope_source){.path = "p.csv"}, ENHOPE_ERROR_DATA,
        "p.csv: column 2 ('b'): a value is not a number ('oops' in line 50002); use --categorical b, --ignore b or "
        "--skip-bad");
    const enhope_table_options skip = {.skip_bad = 1}, ignore = {.ignore = "b"};
    enhope_dataset *data = read_ok((enhope_source){.path = "p.csv", .table = &skip});
    assert_int_equal(data->x.n, 99999);
    assert_int_equal(enhope_dataset_source_row(data, 49999), 49999);
    assert_int_equal(enhope_dataset_source_row(data, 50000), 50001);
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "p.csv", .table = &ignore});
    assert_int_equal(data->x.n, 100000);
    assert_int_equal(data->x.H, 1);
    enhope_dataset_free(data);
    write_text("q.csv", "a,b c,label\n1,2,x\nx,1e400,y\n3,4\n5,6,x\n7,8,y\n\"1\"2,3,x\n9,-inf,y\n");
    read_fails(
        (enhope_source){.path = "q.csv"}, ENHOPE_ERROR_DATA,
        "q.csv: 4 problems:\n"
        "  column 1 ('a'): a value is not a number ('x' in line 3); use --categorical a, --ignore a or --skip-bad\n"
        "  column 2 ('b c'): 2 values are infinite or above 1e30 ('1e400' in line 3, '-inf' in line 8); use --ignore "
        "2, --skip-bad or another unit\n"
        "  1 line does not have 3 fields as line 1 (line 4 has 2 fields); use --skip-bad\n"
        "  text follows a closing quote (line 7); use --skip-bad");
    *logged = '\0';
    data = read_ok((enhope_source){.path = "q.csv", .table = &skip});
    assert_int_equal(data->x.n, 3);
    assert_non_null(strstr(logged, "warning: q.csv: skipped 4 rows that cannot be read:\n"
                                   "  column 1 ('a'): a value is not a number ('x' in line 3)\n"
                                   "  column 2 ('b c'): 2 values are infinite or above 1e30 ('1e400' in line 3, '-inf' "
                                   "in line 8)\n"
                                   "  1 line does not have 3 fields as line 1 (line 4 has 2 fields)\n"
                                   "  text follows a closing quote (line 7)\n"));
    enhope_dataset_free(data);
}

/* ---- options ---- */

static void options_change_the_columns(void **state)
{
    (void)state;
    const enhope_table_options o = {
        .delimiter = "|", .decimal = ",", .ignore = "2", .id = "\"a,b\"", .keep = "c,\"a,b\""};
    write_text("o.csv", "a,b|x|c|label\nu1|9|1,5|p\nu2|8|-2,25|q\nu3|7|3|p\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "o.csv", .table = &o});
    assert_int_equal(data->x.H, 1);
    assert_row(data, 1, (float[]){-2.25f});
    assert_int_equal(enhope_dataset_text_count(data), 2);
    assert_string_equal(enhope_dataset_text_name(data, 0), "a,b");
    assert_string_equal(enhope_dataset_text(data, 0, 2), "u3");
    assert_string_equal(enhope_dataset_text(data, 1, 1), "-2,25");
    assert_null(enhope_dataset_text(data, 2, 0));
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "o.csv", .table = &o, .split = "2@1", .part = "test"});
    const int64_t row = enhope_dataset_source_row(data, 0);
    assert_int_equal(enhope_dataset_text(data, 0, 0)[1], '1' + row);
    enhope_dataset_free(data);
    const enhope_table_options grouped = {.delimiter = "|", .decimal = ",", .id = "\"a,b\"", .group = "x"};
    data = read_ok((enhope_source){.path = "o.csv", .table = &grouped});
    assert_int_equal(data->x.H, 1);
    assert_string_equal(enhope_dataset_text_name(data, 0), "x");
    assert_string_equal(enhope_dataset_text_name(data, 1), "a,b");
    enhope_dataset_free(data);
    static const struct {
        enhope_table_options options;
        const char *message;
    } bad[] = {
        {{.header = "maybe"}, "header is 'maybe': expected yes or no"},
        {{.delimiter = "::"}, "invalid delimiter '::': expected one character or tab"},
        {{.decimal = ";"}, "decimal is ';': expected . or ,"},
        {{.missing = "guess"}, "missing is 'guess': expected impute, drop or error"},
        {{.ignore = "x,nothing"},
         "b.csv: --ignore: no column 'nothing': expected a name in the first line or a number 1 to 2"},
        {{.ignore = "label"}, "b.csv: column 2 is the label and in --ignore; remove one"},
        {{.group = "label"}, "b.csv: column 2 is the label and in --id or --group; remove one"},
        {{.group = "y"}, "b.csv: --group: no column 'y': expected a name in the first line or a number 1 to 2"},
        {{.group = "1,2"}, "b.csv: --group names 2 columns: expected one"},
        {{.numeric = "x", .categorical = "1"}, "b.csv: column 1 is in --numeric and in --categorical; remove one"},
    };
    write_text("b.csv", "x,label\n1,p\n2,q\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        read_fails((enhope_source){.path = "b.csv", .label = "label", .table = &bad[i].options}, ENHOPE_ERROR_ARGUMENT,
                   bad[i].message);
}

static void decimal_commas_are_detected(void **state)
{
    (void)state;
    write_text("d.csv", "w;h;kind\n1,5;2;a\n-3,25;4;b\n");
    *logged = '\0';
    enhope_dataset *data = read_ok((enhope_source){.path = "d.csv"});
    assert_row(data, 1, (float[]){-3.25f, 4});
    assert_non_null(strstr(logged, "d.csv: numbers have a decimal comma; use --decimal . if"));
    enhope_dataset_free(data);
    write_text("d.csv", "w;h;kind\n1,5;2;a\n-3,25;4.5;b\n1,5;3;a\n-3,25;1;b\n");
    data = read_ok((enhope_source){.path = "d.csv"});
    assert_int_equal(data->x.H, 3); /* two categories and a number */
    enhope_dataset_free(data);
}

static void missing_values_are_imputed_dropped_or_reported(void **state)
{
    (void)state;
    const enhope_table_options drop = {.missing = "drop"}, error = {.missing = "error"};
    write_text("m.csv", "a,t,label\n1,x,p\n?,y,q\n3,-,p\n4,x,\n7,NA,q\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "m.csv"});
    assert_int_equal(data->x.n, 5);
    assert_row(data, 1, (float[]){3.5f, 1, 0, 1, 0});
    assert_row(data, 2, (float[]){3, 0, 0, 0, 1});
    enhope_dataset_free(data);
    *logged = '\0';
    data = read_ok((enhope_source){.path = "m.csv", .table = &drop});
    assert_int_equal(data->x.n, 2);
    assert_int_equal(data->label[1], -1);
    assert_non_null(strstr(logged, "m.csv: dropped 3 rows with missing values\n"));
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "m.csv", .table = &error}, ENHOPE_ERROR_DATA,
               "m.csv: 2 problems:\n"
               "  column 1 ('a'): a value is missing (line 3); use --missing impute or --missing drop\n"
               "  column 2 ('t'): 2 values are missing (line 4, line 6); use --missing impute or --missing drop");
}

/* ---- odd files ---- */

static void odd_files_are_read(void **state)
{
    (void)state;
    write_text("1.csv", "w,label\n"); /* a header only */
    read_fails((enhope_source){.path = "1.csv"}, ENHOPE_ERROR_DATA, "1.csv: there are no samples");
    write_text("1.csv", "1.5,2,x\n"); /* one row */
    enhope_dataset *data = read_ok((enhope_source){.path = "1.csv"});
    assert_row(data, 0, (float[]){1.5f, 2});
    enhope_dataset_free(data);
    write_text("1.csv", "w\n1.5\n2.5\n"); /* one column */
    data = read_ok((enhope_source){.path = "1.csv", .label = "none"});
    assert_int_equal(data->x.n, 2);
    enhope_dataset_free(data);
    write_text("1.csv", "w,v,label\n,1,x\n,2,y\n"); /* a column without values */
    data = read_ok((enhope_source){.path = "1.csv"});
    assert_int_equal(data->x.H, 1);
    assert_string_equal(enhope_dataset_input_name(data, 0), "v");
    enhope_dataset_free(data);
    write_text("1.csv", "w,flag\n1.5,TRUE\n2.5,True\n3.5,FALSE\n");
    *logged = '\0';
    data = read_ok((enhope_source){.path = "1.csv"});
    assert_int_equal(data->c, 3);
    assert_non_null(
        strstr(logged, "warning: 1.csv: 'TRUE' and 'True' are two classes; write them alike if they are one\n"));
    enhope_dataset_free(data);
}

static void put_large(char *to, int i)
{
    sprintf(to, "%d,%d,%d,%s,%d,%d\n", i % 97, i * 7 % 1001, i < 299000 ? 3 : 4, i % 3 ? "red" : "blue", i % 11, i % 2);
}

/* A table that is fitted to a sample of its rows gives the same inputs as one that is not. */
static void large_tables_are_fitted_to_a_sample(void **state)
{
    (void)state;
    char *text = make_rows("a,b,c,color,e,label\n", 900000, put_large);
    write_text("l.csv", text);
    free(text);
    enhope_dataset *data = read_ok((enhope_source){.path = "l.csv"});
    assert_int_equal(data->x.n, 900000);
    assert_int_equal(data->x.H, 6);
    assert_string_equal(enhope_dataset_input_name(data, 3), "color=red");
    assert_row(data, 899999, (float[]){899999 % 97, 899999L * 7 % 1001, 4, 1, 0, 899999 % 11});
    assert_int_equal(data->label[899999], 1);
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "l.csv", .split = "300000@5"});
    assert_int_equal(data->x.n, 300000);
    assert_int_equal(data->x.H, 6);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_header_is_unlike_the_columns_below, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(decisions_are_logged, watch_log, leave_log),
        cmocka_unit_test(the_label_column_is_found),
        cmocka_unit_test(columns_that_cannot_be_labels_are_refused),
        cmocka_unit_test_setup_teardown(types_are_those_of_all_values, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(columns_that_identify_rows_are_not_used, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(a_table_without_a_label_may_be_read, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(problems_are_reported_together, watch_log, leave_log),
        cmocka_unit_test(options_change_the_columns),
        cmocka_unit_test_setup_teardown(decimal_commas_are_detected, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(missing_values_are_imputed_dropped_or_reported, watch_log, leave_log),
        cmocka_unit_test_setup_teardown(odd_files_are_read, watch_log, leave_log),
        cmocka_unit_test(large_tables_are_fitted_to_a_sample),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
