/* Readers: tables whose text arrives in chunks. */
#define _DEFAULT_SOURCE 1
#include <limits.h>

#include "read_support.h"

#include "memory_support.h"
#include "model/model.h"

static enhope_model *people; /* columns age, height, town, member, born; id name */
static enhope_model *plain;  /* three columns without names */
static char logged[4096];

static const char table[] = "name,age,height,town,member,born,label\n"
                            "\"Li, An\",21,1.5,Ulm,yes,2001-02-03,young\n"
                            "Bo,64,1.75,Rom,no,1960-05-06,old\n"
                            "\n"
                            "Cy,23,1.625,Ulm,no,1999-12-31,young\n"
                            "\"D\na\",71,1.875,\"Bonn \"\"am\"\" Rhein\",yes,1950-01-01,old\r\n"
                            "Ed,25,1.9,Rom,no,1998-03-04,young\n"
                            "Fi,69,,Ulm,yes,1952-07-08,old\n";

static void keep_log(enhope_log_level level, const char *line, void *user)
{
    (void)level;
    (void)user;
    const size_t at = strlen(logged);
    snprintf(logged + at, sizeof logged - at, "%s\n", line);
}

static enhope_model *train(const char *path, const enhope_table_options *options)
{
    enhope_settings *settings = enhope_settings_create();
    enhope_model *model = NULL;
    enhope_dataset *data = read_ok((enhope_source){.path = path, .table = options});
    assert_int_equal(enhope_settings_set(ctx, settings, "n_epochs", "1"), 0);
    assert_int_equal(enhope_settings_set(ctx, settings, "validation_fraction", "0"), 0);
    assert_int_equal(enhope_settings_set(ctx, settings, "n_factors", "3"), 0);
    assert_int_equal(enhope_settings_set(ctx, settings, "n_hidden", "4"), 0);
    if (enhope_train(ctx, data, settings, NULL, NULL, &model)) fail_msg("%s", enhope_error(ctx));
    enhope_dataset_free(data);
    enhope_settings_free(settings);
    return model;
}

static int open_all(void **state)
{
    allocations_left = LONG_MAX;
    enhope_set_allocator(counting_malloc, counting_free);
    if (enter_folder(state)) return -1;
    write_text("people.csv", table);
    write_text("plain.csv", "1.5,2,3,a\n-4,5,6.25,b\n7,8,9,a\n0.125,1,1,b\n");
    people = train("people.csv", &(enhope_table_options){.id = "name"});
    plain = train("plain.csv", NULL);
    enhope_context_set_log(ctx, keep_log, NULL);
    return 0;
}

static int close_all(void **state)
{
    enhope_model_free(people);
    enhope_model_free(plain);
    return leave_folder(state);
}

/* ---- what a text gives ---- */

typedef struct rows {
    int64_t n, H;
    float x[64][32];
    int64_t row[64];
    char id[64][32];
    enhope_status status;
} rows;

static void collect(rows *all, const enhope_dataset *data)
{
    for (int64_t i = 0; i < data->x.n; i++, all->n++) {
        all->H = data->x.H;
        assert_int_equal(enhope_dataset_row(ctx, data, i, all->x[all->n]), 0);
        all->row[all->n] = enhope_dataset_source_row(data, i);
        if (enhope_dataset_text_count(data))
            snprintf(all->id[all->n], sizeof all->id[0], "%s", enhope_dataset_text(data, 0, i));
    }
}

/* Passes text in chunks of `chunk` bytes. */
static rows pass(const enhope_source *source, const void *text, size_t size, size_t chunk)
{
    rows all = {0};
    enhope_reader *reader = NULL;
    const enhope_dataset *data = NULL;
    logged[0] = '\0';
    all.status = enhope_reader_create(ctx, source, &reader);
    for (size_t at = 0; at < size && !all.status; at += chunk) {
        size_t part = size - at < chunk ? size - at : chunk;
        do {
            all.status = enhope_reader_take(ctx, reader, (const char *)text + at, part, &data);
            if (!all.status && data) collect(&all, data);
            part = 0;
        } while (!all.status && data);
    }
    while (!all.status) {
        all.status = enhope_reader_end(ctx, reader, &data);
        if (all.status || !data) break;
        collect(&all, data);
    }
    enhope_reader_free(reader);
    return all;
}

static rows pass_text(const enhope_model *model, const enhope_table_options *options, const char *text)
{
    return pass(&(enhope_source){.path = "-", .model = model, .table = options}, text, strlen(text), strlen(text));
}

static rows read_file(const enhope_source *source)
{
    rows all = {0};
    enhope_dataset *data = read_ok(*source);
    collect(&all, data);
    enhope_dataset_free(data);
    return all;
}

static void assert_same(const rows *a, const rows *b)
{
    assert_int_equal(a->status, ENHOPE_OK);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->H, b->H);
    for (int64_t i = 0; i < a->n; i++) {
        assert_memory_equal(a->x[i], b->x[i], (size_t)a->H * sizeof(float));
        assert_int_equal(a->row[i], b->row[i]);
        assert_string_equal(a->id[i], b->id[i]);
    }
}

/* ---- tests ---- */

static void chunks_of_any_size_give_the_rows_of_the_file(void **state)
{
    (void)state;
    const enhope_table_options id = {.id = "name"};
    const enhope_source source = {.path = "people.csv", .model = people, .table = &id};
    const rows file = read_file(&source);
    assert_int_equal(file.n, 6);
    assert_string_equal(file.id[3], "D\na");
    for (size_t chunk = 1; chunk < sizeof table; chunk += chunk < 9 ? 1 : 37) {
        const rows all = pass(&source, table, sizeof table - 1, chunk);
        assert_same(&all, &file);
    }
}

static void rows_describe_their_columns(void **state)
{
    (void)state;
    const enhope_table_options options = {.id = "name", .keep = "town"};
    const enhope_source source = {.path = "people", .model = people, .table = &options};
    enhope_reader *reader = NULL;
    const enhope_dataset *data = NULL;
    assert_int_equal(enhope_reader_create(ctx, &source, &reader), 0);
    assert_int_equal(enhope_reader_take(ctx, reader, table, sizeof table - 1, &data), 0);
    assert_non_null(data);
    assert_int_equal(enhope_dataset_column_count(data), 7);
    assert_int_equal(enhope_dataset_text_count(data), 2);
    assert_int_equal(enhope_dataset_id_count(data), 1);
    assert_string_equal(enhope_dataset_text_name(data, 0), "name");
    assert_string_equal(enhope_dataset_text_name(data, 1), "town");
    assert_string_equal(enhope_dataset_text(data, 1, 3), "Bonn \"am\" Rhein");
    assert_string_equal(enhope_dataset_input_name(data, 0), "age");
    enhope_reader_free(reader);
}

static void compressed_text_gives_the_same_rows(void **state)
{
    (void)state;
    size_t size;
    const enhope_table_options id = {.id = "name"};
    const enhope_source source = {.path = "people.csv", .model = people, .table = &id};
    const rows file = read_file(&source);
    write_gz("people.csv.gz", table, sizeof table - 1);
    unsigned char *packed = slurp("people.csv.gz", &size);
    for (size_t chunk = 1; chunk <= size; chunk = chunk * 3 + 1) {
        const rows all = pass(&source, packed, size, chunk);
        assert_same(&all, &file);
    }
    rows cut = pass(&source, packed, size - 5, size);
    assert_int_equal(cut.status, ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "people.csv: the gzip data ends early: the file is truncated");
    packed[12] ^= 0x55;
    cut = pass(&source, packed, size, size);
    assert_int_equal(cut.status, ENHOPE_ERROR_FORMAT);
    free(packed);
}

static void a_row_is_complete_with_its_newline(void **state)
{
    (void)state;
    enhope_reader *reader = NULL;
    const enhope_dataset *data = NULL;
    const enhope_source source = {.path = "-", .model = plain};
    assert_int_equal(enhope_reader_create(ctx, &source, &reader), 0);
    assert_int_equal(enhope_reader_take(ctx, reader, "1,2,", 4, &data), 0);
    assert_null(data);
    assert_int_equal(enhope_reader_take(ctx, reader, "3\n4,5", 5, &data), 0);
    assert_non_null(data);
    assert_int_equal(data->x.n, 1);
    assert_int_equal(enhope_reader_take(ctx, reader, NULL, 0, &data), 0);
    assert_null(data);
    assert_int_equal(enhope_reader_take(ctx, reader, ",6\n7,8,9\n", 9, &data), 0);
    assert_int_equal(data->x.n, 2);
    assert_int_equal(enhope_dataset_source_row(data, 1), 2);
    assert_int_equal(enhope_reader_end(ctx, reader, &data), 0);
    assert_null(data);
    assert_int_equal(enhope_reader_take(ctx, reader, "1,2,3\n", 6, &data), ENHOPE_ERROR_ARGUMENT);
    enhope_reader_free(reader);
}

static void the_last_line_needs_no_newline(void **state)
{
    (void)state;
    const rows all = pass_text(plain, NULL,
                               "\xEF\xBB\xBF"
                               "1,2,3\n4,5,6");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 2);
    assert_float_equal(all.x[1][2], 6, 0);
}

static void json_objects_are_matched_by_key(void **state)
{
    (void)state;
    const enhope_table_options id = {.id = "name"};
    const enhope_source source = {.path = "people.csv", .model = people, .table = &id};
    const rows file = read_file(&source);
    static const char lines[] =
        "{\"name\": \"Li, An\", \"age\": 21, \"height\": 1.5, \"town\": \"Ulm\", \"member\": true, \"born\": "
        "\"2001-02-03\"}\n"
        "{\"age\":64,\"x\":{\"a\":[1,\"]}\"]},\"born\":\"1960-05-06\",\"member\":\"no\",\"town\":\"Rom\",\"height\":1."
        "75,\"name\":\"Bo\"}\n"
        " { \"age\" : 23.0 , \"height\" : 1625e-3, \"town\" : \"\\u0055lm\", \"member\":false, "
        "\"born\":\"1999-12-31\",\"name\":\"Cy\" } \r\n"
        "\n"
        "{\"age\":71,\"height\":1.875,\"town\":\"Bonn \\\"am\\\" "
        "Rhein\",\"member\":true,\"born\":\"1950-01-01\",\"name\":\"D\\na\"}\n"
        "{\"age\":25,\"height\":1.9,\"town\":\"Rom\",\"member\":0,\"born\":\"1998-03-04\",\"name\":\"Ed\"}\n"
        "{\"age\":69,\"height\":null,\"town\":\"Ulm\",\"member\":1,\"born\":\"1952-07-08\",\"name\":\"Fi\"}";
    for (size_t chunk = 1; chunk < sizeof lines; chunk += chunk < 5 ? 1 : 61) {
        const rows all = pass(&source, lines, sizeof lines - 1, chunk);
        assert_same(&all, &file);
    }
}

static void keys_that_are_no_inputs_may_be_absent(void **state)
{
    (void)state;
    const enhope_table_options id = {.id = "name"};
    const rows all = pass_text(
        people, &id,
        "{\"name\":\"a\",\"label\":\"old\",\"age\":1,\"height\":1,\"town\":\"Ulm\",\"member\":1,\"born\":null}\n"
        "{\"age\":1,\"height\":1,\"town\":\"Ulm\",\"member\":1,\"born\":null}\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.id[1], "");
}

static void json_arrays_are_matched_by_position(void **state)
{
    (void)state;
    const rows all = pass_text(plain, NULL, "[1.5, 2, 3]\n[-4,5,6.25]\n[ 7 , 8 , 9 ]\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 3);
    assert_float_equal(all.x[0][0], 1.5, 0);
    assert_float_equal(all.x[1][2], 6.25, 0);
}

static void unicode_escapes_are_decoded(void **state)
{
    (void)state;
    const enhope_table_options id = {.id = "name"};
    const rows all = pass_text(people, &id,
                               "{\"name\":\"\\u00e9\\ud83d\\ude00\\t\\/\",\"age\":1,\"height\":1,\"town\":\"Ulm\","
                               "\"member\":true,\"born\":null}\n");
    assert_int_equal(all.status, 0);
    assert_string_equal(all.id[0], "\xc3\xa9\xf0\x9f\x98\x80\t/");
}

static void assert_fails(const enhope_model *model, const char *text, int64_t before, const char *message)
{
    const rows all = pass_text(model, NULL, text);
    assert_int_not_equal(all.status, ENHOPE_OK);
    assert_string_equal(enhope_error(ctx), message);
    assert_int_equal(all.n, before);
}

static void bad_lines_fail_after_the_rows_before_them(void **state)
{
    (void)state;
    assert_fails(plain, "1,2,3\n4,5,x\n7,8,9\n", 1,
                 "standard input: column 3: a value is not a number ('x' in line 2); use --skip-bad");
    assert_fails(plain, "1,2,3\n4,5,6\n7,8\n", 2,
                 "standard input: 1 line does not have 3 fields as line 1 (line 3 has 2 fields); use --skip-bad");
    assert_fails(
        plain, "1,2,3\n4,,6\n", 1,
        "standard input: column 2: a value is missing, and the model has no value to use instead (line 2); use "
        "--missing drop or --skip-bad");
    assert_fails(plain, "[1,2,3]\n[4,5,6\n", 1,
                 "standard input: a line is not JSON (line 2: a comma or a bracket is missing); use --skip-bad");
    assert_fails(plain, "[1,2,3]\n{\"a\":1}\n", 1,
                 "standard input: a line is not JSON (line 2: it is no array); use --skip-bad");
    assert_fails(plain, "[1,2,1e99]\n", 0,
                 "standard input: column 3: a value is infinite or above 1e30 ('1e99' in line 1); use --skip-bad");
    assert_fails(people, "{\"age\":1,\"height\":1,\"town\":\"Ulm\",\"member\":true,\"born\":null}\n{\"age\":1}\n", 1,
                 "standard input: 4 problems:\n"
                 "  column 2 ('height'): a key is absent (line 2); write null for a missing value, or use --skip-bad\n"
                 "  column 3 ('town'): a key is absent (line 2); write null for a missing value, or use --skip-bad\n"
                 "  column 4 ('member'): a key is absent (line 2); write null for a missing value, or use --skip-bad\n"
                 "  column 5 ('born'): a key is absent (line 2); write null for a missing value, or use --skip-bad");
    assert_fails(people, "{\"age\":1,\"town\":\"Ulm\"}\n", 0,
                 "standard input: columns of the training data are missing: 'height', 'member', 'born'");
}

/* Lines 2 and 3 are one record, whose second quote begins in line 3. */
static void a_quote_that_is_not_closed_is_reported_with_its_line(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    static const char begin[] = "1,2,3\n\"4\n5\",\"6,7\n";
    char *text = malloc(SIZE + 1);
    memcpy(text, begin, sizeof begin - 1);
    for (size_t i = sizeof begin - 1; i < SIZE; i++) text[i] = i % 6 ? '1' : '\n';
    const enhope_source source = {.path = "-", .model = plain};
    const rows all = pass(&source, text, SIZE, 1 << 16);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.status, ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "standard input:3: a quoted field is not closed");
    assert_string_equal(logged,
                        "standard input:3: a quoted field begins in this line and is not closed after 1 MiB, so "
                        "that no row follows; check its quotes\n");
    free(text);
}

static void malformed_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"[1,2,]",          "[1,,2]",
                                      "[1 2 3]",         "[1,2,3]x",
                                      "[01x,2,3]",       "[tru,2,3]",
                                      "[\"a,2,3]",       "[\"\\x\",2,3]",
                                      "[\"\\u12\",2]",   "[\"\\ud800\",2,3]",
                                      "[\"\\u0000\",2]", "[\"\\ud800\\u0041\",1,2]",
                                      "[[1,2},3,4]",     "[[[1],2,3]",
                                      "[\"\x01\",2,3]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "[1,2,3]\n%s\n", bad[i]);
        const rows all = pass_text(plain, NULL, text);
        assert_int_equal(all.status, ENHOPE_ERROR_DATA);
        assert_int_equal(all.n, 1);
        assert_non_null(strstr(enhope_error(ctx), "line 2"));
    }
}

static void skipped_lines_are_counted(void **state)
{
    (void)state;
    const enhope_table_options skip = {.skip_bad = 1};
    rows all = pass_text(plain, &skip, "1,2,3\n4,5,x\n\"a\"b,1,2\n7,8,9\n1,2\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 2);
    assert_int_equal(all.row[1], 3);
    assert_string_equal(logged, "standard input: skipped 3 rows that cannot be read:\n"
                                "  column 3: a value is not a number ('x' in line 2)\n"
                                "  1 line does not have 3 fields as line 1 (line 5 has 2 fields)\n"
                                "  text follows a closing quote (line 3)\n");
    all = pass_text(people, &skip,
                    "{\"age\":1,\n{}\n{\"age\":1,\"age\":2}\n"
                    "{\"age\":1,\"height\":1,\"town\":\"Ulm\",\"member\":true,\"born\":null}\n{\"age\":2}\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.row[0], 3);
    assert_non_null(strstr(logged, "skipped 4 rows"));
    all = pass_text(plain, &skip, "[\"]\n[4,5,6.5]\n[7,8]\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 1);
    assert_non_null(strstr(logged, "skipped 2 rows"));
    assert_non_null(strstr(logged, "a line is not JSON (line 1"));
    all = pass_text(plain, &skip, "[\"]\n[1\n");
    assert_int_equal(all.status, ENHOPE_ERROR_DATA);
}

static void texts_without_rows_fail(void **state)
{
    (void)state;
    assert_fails(plain, "", 0, "standard input: the file is empty");
    assert_fails(plain, "\n \n", 0, "standard input: there are no samples");
    assert_fails(people, "age,height,town,member,born\n", 0, "standard input: there are no samples");
    const enhope_source source = {.path = "-", .model = plain};
    const rows all = pass(&source, "1,2,3\n4,\0,6\n", 12, 12);
    assert_int_equal(all.status, ENHOPE_ERROR_FORMAT);
}

static void a_limit_ends_the_rows(void **state)
{
    (void)state;
    const enhope_source source = {.path = "-", .model = plain, .limit = 2};
    const rows all = pass(&source, "1,2,3\n4,5,6\nbad\n", 16, 3);
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 2);
}

static void a_label_by_position_must_be_a_class(void **state)
{
    (void)state;
    rows all = pass_text(plain, NULL, "1,2,3,a\n4,5,6,b\n");
    assert_int_equal(all.status, 0);
    assert_int_equal(all.n, 2);
    all = pass_text(plain, NULL, "1,2,3,4\n4,5,6,7\n");
    assert_int_equal(all.status, ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "column 4 is no label"));

    /* the third row contradicts the position, in chunks of any size */
    static const char text[] = "1,2,3,a\n4,5,6,7\n7,8,9,8\n1,1,1,b\n2,2,2,b\n";
    for (size_t chunk = 1; chunk < sizeof text; chunk++) {
        all = pass(&(enhope_source){.path = "-", .model = plain}, text, sizeof text - 1, chunk);
        assert_int_equal(all.status, ENHOPE_ERROR_DATA);
        assert_int_equal(all.n, 2);
        assert_non_null(strstr(enhope_error(ctx), "column 4 is no label: 2 of 3 values are no classes"));
    }
}

static void other_delimiters_are_detected(void **state)
{
    (void)state;
    const rows all = pass_text(plain, NULL, "1,5;2;3\n-4;5;6,25\n");
    assert_int_equal(all.status, 0);
    assert_float_equal(all.x[0][0], 1.5, 0);
    assert_float_equal(all.x[1][2], 6.25, 0);
    const rows odd = pass_text(plain, &(enhope_table_options){.delimiter = "["}, "1[2[3\n");
    assert_int_equal(odd.status, 0);
    assert_int_equal(odd.n, 1);
}

/* A text that cannot be read at all, as one with a NUL byte, does not take rows before it away. */
static void damage_between_lines_fails_after_the_rows_before_it(void **state)
{
    (void)state;
    static const char text[] = "1,2,3\n-4,5,6\n7,8\0,9\n1,2,3\n";
    const enhope_source source = {.path = "-", .model = plain};
    for (size_t chunk = 1; chunk <= sizeof text; chunk += 3) {
        const rows all = pass(&source, text, sizeof text - 1, chunk);
        assert_int_equal(all.n, 2);
        assert_int_equal(all.status, ENHOPE_ERROR_FORMAT);
        assert_string_equal(enhope_error(ctx), "standard input: contains NUL bytes: expected text");
    }
    const rows some = pass(&(enhope_source){.path = "-", .model = plain, .limit = 2}, text, sizeof text - 1, 50);
    assert_int_equal(some.n, 2);
    assert_int_equal(some.status, 0); /* no more of it is needed */
}

static void wrong_sources_are_refused(void **state)
{
    (void)state;
    enhope_reader *reader = NULL;
    assert_int_equal(enhope_reader_create(ctx, &(enhope_source){.path = "-"}, &reader), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_reader_create(ctx, &(enhope_source){.path = "-", .model = plain, .split = "1@1"}, &reader),
                     ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_reader_create(ctx, &(enhope_source){.path = "-", .model = plain, .limit = -1}, &reader),
                     ENHOPE_ERROR_ARGUMENT);
    assert_null(reader);
}

/* Every byte of a good text is replaced in turn: the reader may fail, but does not crash. */
static void damaged_texts_never_crash(void **state)
{
    (void)state;
    static const char lines[] = "{\"name\":\"\\u00e9\\ud83d\\ude00\",\"age\":1.5e0,\"height\":[1,{\"a\":2}],"
                                "\"town\":\"U\\\"lm\",\"member\":true,\"born\":null}\n[1]\n";
    static const char other[] = "\"\\{}[],:u\n\x80"
                                "9e";
    const enhope_table_options options = {.id = "name", .skip_bad = 1};
    const enhope_source source = {.path = "-", .model = people, .table = &options};
    char text[sizeof lines];
    for (size_t i = 0; i + 1 < sizeof lines; i++) {
        for (const char *with = other; *with; with++) {
            memcpy(text, lines, sizeof lines);
            text[i] = *with;
            pass(&source, text, sizeof lines - 1, 7);
        }
        pass(&source, lines, i, 11); /* cut */
    }
}

static void exhausted_memory_is_reported(void **state)
{
    (void)state;
    const enhope_table_options id = {.id = "name"};
    const enhope_source source = {.path = "-", .model = people, .table = &id};
    enhope_status status = ENHOPE_ERROR_MEMORY;
    for (int n = 0; status; n++) {
        allocations_left = n;
        const long before = alive;
        const rows all = pass(&source, table, sizeof table - 1, 50);
        allocations_left = LONG_MAX;
        assert_int_equal(alive, before);
        status = all.status;
        if (status) assert_int_equal(status, ENHOPE_ERROR_MEMORY);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_any_size_give_the_rows_of_the_file),
        cmocka_unit_test(rows_describe_their_columns),
        cmocka_unit_test(compressed_text_gives_the_same_rows),
        cmocka_unit_test(a_row_is_complete_with_its_newline),
        cmocka_unit_test(the_last_line_needs_no_newline),
        cmocka_unit_test(json_objects_are_matched_by_key),
        cmocka_unit_test(keys_that_are_no_inputs_may_be_absent),
        cmocka_unit_test(json_arrays_are_matched_by_position),
        cmocka_unit_test(unicode_escapes_are_decoded),
        cmocka_unit_test(bad_lines_fail_after_the_rows_before_them),
        cmocka_unit_test(a_quote_that_is_not_closed_is_reported_with_its_line),
        cmocka_unit_test(malformed_json_is_refused),
        cmocka_unit_test(skipped_lines_are_counted),
        cmocka_unit_test(texts_without_rows_fail),
        cmocka_unit_test(a_limit_ends_the_rows),
        cmocka_unit_test(a_label_by_position_must_be_a_class),
        cmocka_unit_test(other_delimiters_are_detected),
        cmocka_unit_test(damage_between_lines_fails_after_the_rows_before_it),
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(damaged_texts_never_crash),
        cmocka_unit_test(exhausted_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
