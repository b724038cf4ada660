/* Encodings: fitted to frames, applied to other frames, and written as JSON. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frame_support.h"
#include "memory_support.h"

enum { N = 6 };
static enhope_context *ctx;
static char logged[4096];

static void keep_log(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    const size_t at = strlen(logged);
    snprintf(logged + at, sizeof logged - at, "%s: %s\n", level == ENHOPE_LOG_WARNING ? "warning" : "info", line);
}

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    enhope_context_set_log(ctx, keep_log, NULL);
    *logged = '\0';
    return 0;
}

static int close_context(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

static eh_encoding *fit(const eh_frame *frame)
{
    eh_encoding *encoding = NULL;
    if (eh_encoding_fit(ctx, frame, NULL, frame->n, &encoding)) fail_msg("%s", enhope_error(ctx));
    return encoding;
}

/* Encodes all rows; the caller frees them. */
static float *encode(const eh_encoding *encoding, const eh_frame *frame)
{
    float *X = eh_alloc((size_t)(frame->n * encoding->H), sizeof *X);
    eh_unseen *unseen = eh_alloc((size_t)encoding->columns, sizeof *unseen);
    if (eh_encode(ctx, encoding, frame, NULL, frame->n, X, unseen)) fail_msg("%s", enhope_error(ctx));
    eh_unseen_warn(ctx, encoding, unseen);
    eh_free(unseen);
    return X;
}

static void assert_column(const eh_encoding *encoding, const float *X, int64_t j, const char *name, const double *x)
{
    char *found = NULL;
    assert_int_equal(eh_encoding_input_name(ctx, encoding, j, &found), 0);
    assert_string_equal(found, name);
    eh_free(found);
    for (int64_t i = 0; i < N; i++)
        if (fabs((double)X[i * encoding->H + j] - x[i]) > 1e-6)
            fail_msg("row %lld of %s is %g: expected %g", (long long)i, name, (double)X[i * encoding->H + j], x[i]);
}

/* A frame with one column of each type, with missing values. */
static eh_frame *mixed_frame(void)
{
    eh_frame *frame = make_frame(N);
    add_numbers(frame, "age", EH_COLUMN_NUMBER, (double[N]){31, NAN, 29.5, 8, 54.25, 17});
    add_texts(frame, "color", (const char *const[N]){"red", "blue", NULL, "blue", "green", "blue"});
    add_numbers(frame, "member", EH_COLUMN_BOOLEAN, (double[N]){0, 1, 1, 0, 1, 1});
    /* Thursday 1970-01-01 06:00, Friday 1999-12-31, missing, Tuesday 2024-02-29 is a Thursday */
    add_numbers(frame, "day", EH_COLUMN_DATE, (double[N]){0.25, 10956, NAN, 19782, 19783.5, -1});
    frame->label_name = eh_strdup("species");
    return frame;
}

/* ---- the types ---- */

static void numbers_are_imputed_by_the_median_with_an_indicator(void **state)
{
    (void)state;
    eh_frame *frame = mixed_frame();
    eh_encoding *encoding = fit(frame);
    float *X = encode(encoding, frame);
    assert_column(encoding, X, 0, "age", (double[N]){31, 29.5, 29.5, 8, 54.25, 17});
    assert_column(encoding, X, 1, "age (missing)", (double[N]){0, 1, 0, 0, 0, 0});
    assert_string_equal(encoding->label, "species");
    assert_string_equal(logged, "");
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void categories_are_ordered_by_frequency(void **state)
{
    (void)state;
    eh_frame *frame = mixed_frame();
    eh_encoding *encoding = fit(frame);
    float *X = encode(encoding, frame);
    assert_column(encoding, X, 2, "color=blue", (double[N]){0, 1, 0, 1, 0, 1});
    assert_column(encoding, X, 3, "color=green", (double[N]){0, 0, 0, 0, 1, 0});
    assert_column(encoding, X, 4, "color=red", (double[N]){1, 0, 0, 0, 0, 0});
    assert_column(encoding, X, 5, "color (missing)", (double[N]){0, 0, 1, 0, 0, 0});
    assert_column(encoding, X, 6, "member", (double[N]){0, 1, 1, 0, 1, 1});
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void dates_have_cycles(void **state)
{
    (void)state;
    const double turn = 2 * acos(-1);
    eh_frame *frame = mixed_frame();
    eh_encoding *encoding = fit(frame);
    float *X = encode(encoding, frame);
    assert_int_equal(encoding->H, 7 + 8);
    const double middle = 10956, leap = sin(turn * 59 / 365.25), next = sin(turn * 60 / 365.25);
    assert_column(encoding, X, 7, "day",
                  (double[N]){0.25 - middle, 0, 0, 19782 - middle, 19783.5 - middle, -1 - middle});
    assert_column(encoding, X, 8, "day.year.sin",
                  (double[N]){0, sin(turn * 364 / 365.25), 0, leap, next, sin(turn * 364 / 365.25)});
    assert_column(
        encoding, X, 10, "day.weekday.sin",
        (double[N]){sin(turn * 3 / 7), sin(turn * 4 / 7), 0, sin(turn * 3 / 7), sin(turn * 4 / 7), sin(turn * 2 / 7)});
    assert_column(encoding, X, 13, "day.time.cos", (double[N]){0, 1, 0, 1, -1, 1});
    assert_column(encoding, X, 14, "day (missing)", (double[N]){0, 0, 1, 0, 0, 0});
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void dates_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double days;
    } good[] = {{"1970-01-01", 0},
                {"2024-02-29", 19782},
                {"2024/02/29", 19782},
                {"1600-03-01", -135080},
                {"2024-02-29T12:00", 19782.5},
                {"2024-02-29 18:00:00Z", 19782.75},
                {"1969-12-31T06:00:00.000+02:00", -0.75},
                {"1970-01-02T00:00:43.2-0530", 1.0005}};
    static const char *const bad[] = {"",
                                      "2024",
                                      "2023-02-29",
                                      "2024-13-01",
                                      "2024-00-01",
                                      "2024-1-01",
                                      "2024-01-01x",
                                      "2024-01-01T25:00",
                                      "24-01-01",
                                      "2024-01-01T1:00",
                                      "2024-01-01T10:00+",
                                      "2024/01-01"};
    double days;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(eh_date_parse(good[i].text, strlen(good[i].text), &days));
        assert_true(fabs(days - good[i].days) < 1e-9);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(eh_date_parse(bad[i], strlen(bad[i]), &days));
    assert_int_equal(eh_date_year_day(0), 0);
    assert_int_equal(eh_date_year_day(-1), 364);
    assert_int_equal(eh_date_year_day(19782.99), 59);
    assert_int_equal(eh_date_year_day(19783 + 305), 365);
}

static void booleans_are_parsed(void **state)
{
    (void)state;
    double value = -1;
    assert_true(eh_boolean_parse("TRUE", 4, &value) && value == 1);
    assert_true(eh_boolean_parse("No", 2, &value) && value == 0);
    assert_true(eh_boolean_parse("yesterday", 3, &value) && value == 1);
    assert_false(eh_boolean_parse("1", 1, &value));
    assert_false(eh_boolean_parse("", 0, &value));
}

static void dates_may_begin_with_the_day_or_the_month(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double day_first, month_first; /* NAN: no date */
    } cases[] = {
        {"31.12.2020", 18627, NAN},
        {"12/31/2020", NAN, 18627},
        {"1-2-2024", 19754, 19724},
        {"2024-02-29", 19782, 19782},
        {"29.2.2024 06:00", 19782.25, NAN},
        {"30.2.2024", NAN, NAN},
        {"1/2.2024", NAN, NAN},
        {"1/2/24", NAN, NAN},
        {"001/2/2024", NAN, NAN},
        {"1.2", NAN, NAN},
        {"", NAN, NAN},
        {"1.2.20245", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (eh_form form = EH_FORM_DAY_FIRST; form <= EH_FORM_MONTH_FIRST; form++) {
            const double expected = form == EH_FORM_DAY_FIRST ? cases[i].day_first : cases[i].month_first;
            double days = NAN;
            assert_int_equal(eh_date_parse_form(cases[i].text, strlen(cases[i].text), form, &days), !isnan(expected));
            if (!isnan(expected)) assert_float_equal(days, expected, 1e-9);
        }
    assert_int_equal(eh_percent_length("47.5 %", 6), 4);
    assert_int_equal(eh_percent_length("%", 1), 0);
    assert_int_equal(eh_percent_length("47", 2), 0);
    assert_int_equal(eh_percent_length("", 0), 0);
}

static void thousands_are_separated_by_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* NAN: another text */
    } cases[] = {
        {"1,234", 1234},    {"-12,345,678.9", -12345678.9},
        {"+1,000.", 1000},  {"999,999", 999999},
        {"0,123", NAN},     {"-,123", NAN},
        {"1234", NAN},      {"12,34", NAN},
        {"1234,567", NAN},  {",123", NAN},
        {"1,234,", NAN},    {"1,2345", NAN},
        {"1,234e5", NAN},   {"1,234.5.6", NAN},
        {"1,234.5,6", NAN}, {"", NAN},
        {"-", NAN},         {"1,234x", NAN},
        {"0,123,456", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        assert_int_equal(eh_thousands_parse(cases[i].text, strlen(cases[i].text), &value), !isnan(cases[i].value));
        if (!isnan(cases[i].value)) assert_float_equal(value, cases[i].value, 1e-6);
    }
}

static void forms_are_stored_and_used_for_texts(void **state)
{
    (void)state;
    static const char json[] =
        "{\"named\":true,\"columns\":[{\"name\":\"day\",\"type\":\"date\",\"form\":\"day first\",\"fill\":18627,"
        "\"offset\":18627},{\"name\":\"share\",\"type\":\"number\",\"form\":\"percent\",\"fill\":12}]}";
    static const char *const wrong[] = {
        "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"form\":\"day first\"}]}",
        "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"form\":\"roman\"}]}",
        "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"form\":7}]}",
    };
    eh_encoding *encoding = NULL;
    char *text = NULL;
    assert_int_equal(eh_encoding_parse(ctx, json, "json", &encoding), ENHOPE_OK);
    assert_int_equal(eh_encoding_print(ctx, encoding, &text), ENHOPE_OK);
    assert_string_equal(text, json);
    eh_free(text);
    eh_frame *frame = make_frame(N);
    add_texts(frame, "day",
              (const char *const[N]){"31.12.2020", "1.1.2021", NULL, "2021-01-02", "31.12.2020", "1.1.2021"});
    add_texts(frame, "share", (const char *const[N]){"47%", "12.5 %", "0%", "-3%", NULL, "100%"});
    assert_int_equal(eh_frame_match(ctx, encoding, frame, "t"), ENHOPE_OK);
    float *X = encode(encoding, frame);
    assert_true(X[0] == 0 && X[6] == 1 && X[3 * 6] == 2);
    assert_true(X[5] == 47 && X[6 + 5] == 12.5F && X[3 * 6 + 5] == -3 && X[4 * 6 + 5] == 12);
    eh_free(X);
    eh_frame_free(frame);
    frame = make_frame(N);
    add_texts(frame, "day", (const char *const[N]){"31.12.2020"});
    add_texts(frame, "share", (const char *const[N]){"0.47"});
    assert_int_equal(eh_frame_match(ctx, encoding, frame, "t"), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx),
                        "t: column 'share' contains '0.47': expected a percentage such as 47%, as in training");
    eh_frame_free(frame);
    eh_encoding_free(encoding);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(eh_encoding_parse(ctx, wrong[i], "json", &encoding), ENHOPE_ERROR_MODEL);
        assert_non_null(strstr(enhope_error(ctx), "expected the form"));
    }
}

/* ---- numbers that float cannot resolve ---- */

static void large_numbers_get_an_offset(void **state)
{
    (void)state;
    eh_frame *frame = make_frame(N);
    const double x[N] = {1e9 + 12.37, 1e9 + 13.2, 1e9 + 13.16, 1e9 + 14.37, 1e9 + 13.24, 1e9 + 14.2};
    add_numbers(frame, "alcohol", EH_COLUMN_NUMBER, x);
    add_numbers(frame, "small", EH_COLUMN_NUMBER, (double[N]){1e5 + 7, 2e5, 3e5, 4e5, 5e5, 6e5});
    add_numbers(frame, "huge", EH_COLUMN_NUMBER, (double[N]){1e38, -3e38, 2e38, 3.4e38, 0, 1e38});
    eh_encoding *encoding = fit(frame);
    float *X = encode(encoding, frame);
    assert_true(fabs(encoding->column[0].offset - (1e9 + 13.22)) < 1e-6);
    for (int i = 0; i < N; i++) assert_true(fabs((double)X[i * 3] + encoding->column[0].offset - x[i]) < 2e-7);
    assert_true(encoding->column[1].offset == 0);
    assert_true(encoding->column[2].offset == 0);
    assert_true(X[3 * 3 + 2] == 3.4e38F);
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void numbers_beyond_float_are_refused(void **state)
{
    (void)state;
    float X[N];
    eh_encoding *encoding = NULL;
    eh_frame *frame = make_frame(N);
    add_numbers(frame, "mass", EH_COLUMN_NUMBER, (double[N]){1, 2, 3, 4e38, 5, 6});
    encoding = fit(frame);
    assert_int_equal(eh_encode(ctx, encoding, frame, NULL, N, X, NULL), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "row 4, column 'mass': 4e+38 is too large: expected at most 3.403e+38 in "
                                           "size; divide the column");
    frame->column[0].number[3] = -INFINITY;
    assert_int_equal(eh_encode(ctx, encoding, frame, NULL, N, X, NULL), ENHOPE_ERROR_DATA);
    eh_encoding_free(encoding);
    for (int i = 0; i < N; i++) frame->column[0].number[i] = 1e-40 * i;
    assert_int_equal(eh_encoding_fit(ctx, frame, NULL, N, &encoding), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "too small"));
    eh_frame_free(frame);
}

/* ---- columns without information ---- */

static void constant_columns_have_no_inputs(void **state)
{
    (void)state;
    eh_frame *frame = make_frame(N);
    add_numbers(frame, "same", EH_COLUMN_NUMBER, (double[N]){3, 3, 3, 3, 3, 3});
    add_numbers(frame, "x", EH_COLUMN_NUMBER, (double[N]){3, 1, 4, 1, 5, 9});
    add_texts(frame, "alike", (const char *const[N]){"a", "a", "a", "a", "a", "a"});
    add_texts(frame, "sometimes", (const char *const[N]){"a", "a", NULL, "a", "a", "a"});
    add_numbers(frame, "nothing", EH_COLUMN_NUMBER, (double[N]){NAN, NAN, NAN, NAN, NAN, NAN});
    eh_encoding *encoding = fit(frame);
    float *X = encode(encoding, frame);
    assert_string_equal(logged,
                        "warning: not used, because all rows have the same value: 'same', 'alike', 'nothing'\n");
    assert_int_equal(encoding->H, 2);
    assert_column(encoding, X, 0, "x", (double[N]){3, 1, 4, 1, 5, 9});
    assert_column(encoding, X, 1, "sometimes (missing)", (double[N]){0, 0, 1, 0, 0, 0});
    eh_free(X);
    eh_encoding_free(encoding);
    /* in the rows 1 and 3, x is constant too */
    assert_int_equal(eh_encoding_fit(ctx, frame, (int64_t[]){1, 3}, 2, &encoding), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "no column is left"));
    eh_frame_free(frame);
}

static void rare_categories_are_grouped(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    char text[ROWS][8];
    const char *pointer[ROWS];
    for (int i = 0; i < ROWS; i++) {
        snprintf(text[i], sizeof text[i], "%c%d", i < 20 ? 'a' : 'b', i < 20 ? i % 4 : i);
        pointer[i] = text[i];
    }
    eh_frame *frame = make_frame(ROWS);
    add_texts(frame, "zip", pointer);
    eh_encoding *encoding = fit(frame);
    assert_int_equal(encoding->column[0].categories, 4);
    assert_true(encoding->column[0].other);
    assert_string_equal(encoding->column[0].category[3], "a3");
    float *X = encode(encoding, frame);
    assert_true(X[20 * 5 + 4] == 1 && X[19 * 5 + 4] == 0);
    assert_string_equal(logged, "");
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void many_categories_are_limited(void **state)
{
    (void)state;
    enum { ROWS = 600 };
    double x[ROWS];
    for (int i = 0; i < ROWS; i++) x[i] = 0.5 * (i % 150);
    eh_frame *frame = make_frame(ROWS);
    add_numbers(frame, "code", EH_COLUMN_CATEGORY, x);
    eh_encoding *encoding = fit(frame);
    assert_int_equal(encoding->column[0].categories, 100);
    assert_int_equal(encoding->H, 101);
    char *name = NULL;
    assert_int_equal(eh_encoding_input_name(ctx, encoding, 1, &name), 0);
    assert_string_equal(name, "code=0.5");
    eh_free(name);
    assert_int_equal(eh_encoding_input_name(ctx, encoding, 101, &name), ENHOPE_ERROR_ARGUMENT);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

/* ---- other frames ---- */

static void unknown_categories_are_reported(void **state)
{
    (void)state;
    eh_frame *frame = mixed_frame(), *other = make_frame(2);
    eh_encoding *encoding = fit(frame);
    add_numbers(other, "member", EH_COLUMN_BOOLEAN, (double[]){1, NAN});
    add_numbers(other, "id", EH_COLUMN_NUMBER, (double[]){101, 102});
    add_texts(other, "day", (const char *const[]){NULL, "1999-12-31"});
    add_texts(other, "color", (const char *const[]){"mauve", "green"});
    add_texts(other, "age", (const char *const[]){"44.5", NULL});
    assert_int_equal(eh_frame_match(ctx, encoding, other, "new.csv"), 0);
    assert_string_equal(logged, "info: new.csv: columns that the model does not use: 'id'\n");
    *logged = '\0';
    float *X = encode(encoding, other);
    static const float expected[2][7] = {{44.5F, 0, 0, 0, 0, 0, 1}, {29.5F, 1, 0, 1, 0, 0, 1}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 7; j++) assert_true(X[i * encoding->H + j] == expected[i][j]);
    assert_string_equal(logged, "warning: column 'color': 1 value is not among the categories of training ('mauve')\n"
                                "warning: 1 value is missing in columns that had no missing values in training, and "
                                "replaced by the median or by no category: 'member'\n");
    eh_unseen unseen[4] = {{0}, {.unknown = 7, .missing = 3, .example = "pink"}, {0}, {0}};
    assert_int_equal(eh_encode(ctx, encoding, other, NULL, 2, X, unseen), 0);
    assert_int_equal(unseen[1].unknown, 8);
    assert_int_equal(unseen[1].missing, 3);
    assert_string_equal(unseen[1].example, "pink");
    eh_free(X);
    eh_frame_free(other);
    eh_frame_free(frame);
    eh_encoding_free(encoding);
}

static void missing_columns_are_listed(void **state)
{
    (void)state;
    eh_frame *frame = mixed_frame(), *other = make_frame(2);
    eh_encoding *encoding = fit(frame);
    add_numbers(other, "Age", EH_COLUMN_NUMBER, (double[]){1, 2});
    add_numbers(other, "member", EH_COLUMN_NUMBER, (double[]){1, 0});
    assert_int_equal(eh_frame_match(ctx, encoding, other, "new.csv"), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx),
                        "new.csv: columns of the training data are missing: 'age', 'color', 'day'; the data "
                        "has others: 'Age'");
    other->named = false;
    assert_int_equal(eh_frame_match(ctx, encoding, other, "new.csv"), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "new.csv: 2 columns without names: the model has 4; use the columns of "
                                           "training, or a header with their names");
    eh_frame_free(other);
    eh_frame_free(frame);
    eh_encoding_free(encoding);
}

static void values_of_another_type_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *column, *text;
        double number;
        const char *message;
    } bad[] = {
        {"age", "old", 0, "t: column 'age' contains 'old': expected a number, as in training"},
        {"day", "1/2/99", 0, "t: column 'day' contains '1/2/99': expected a date, as in training"},
        {"member", "maybe", 0, "t: column 'member' contains 'maybe': expected true or false, as in training"},
        {"member", NULL, 2, "t: column 'member' contains 2: expected true or false, as in training"},
        {"day", NULL, 2, "t: column 'day' contains numbers: expected a date, as in training"},
    };
    eh_frame *frame = mixed_frame();
    eh_encoding *encoding = fit(frame);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        eh_frame *other = mixed_frame();
        for (int64_t j = 0; j < other->columns; j++) {
            eh_column *column = &other->column[j];
            if (strcmp(column->name, bad[i].column) != 0) continue;
            eh_column_clear(column);
            other->columns--;
            other->column[j] = other->column[other->columns];
        }
        const char *const text[N] = {bad[i].text, NULL, bad[i].text, NULL, NULL, bad[i].text};
        if (bad[i].text)
            add_texts(other, bad[i].column, text);
        else
            add_numbers(other, bad[i].column, EH_COLUMN_NUMBER, (double[N]){NAN, bad[i].number, 0, 1, 1, 0});
        assert_int_equal(eh_frame_match(ctx, encoding, other, "t"), ENHOPE_ERROR_DATA);
        assert_string_equal(enhope_error(ctx), bad[i].message);
        eh_frame_free(other);
    }
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void categories_of_numbers_are_compared_as_texts(void **state)
{
    (void)state;
    eh_frame *frame = make_frame(N), *texts = make_frame(N);
    add_numbers(frame, "floor", EH_COLUMN_CATEGORY, (double[N]){1, 2, 1, 3.5, 2, 1});
    add_texts(texts, "floor", (const char *const[N]){"2", "1.0", "3.5", NULL, "4", "+1"});
    eh_encoding *encoding = fit(frame);
    assert_int_equal(eh_frame_match(ctx, encoding, texts, "t"), 0);
    float *X = encode(encoding, texts);
    assert_column(encoding, X, 0, "floor=1", (double[N]){0, 1, 0, 0, 0, 1});
    assert_column(encoding, X, 1, "floor=2", (double[N]){1, 0, 0, 0, 0, 0});
    assert_column(encoding, X, 2, "floor=3.5", (double[N]){0, 0, 1, 0, 0, 0});
    eh_free(X);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
    eh_frame_free(texts);
}

static void plain_numbers_need_no_encoding(void **state)
{
    (void)state;
    char **name = NULL;
    eh_frame *frame = make_frame(N);
    add_numbers(frame, "column 1", EH_COLUMN_NUMBER, (double[N]){3, 1, 4, 1, 5, 9});
    frame->named = false;
    eh_encoding *encoding = fit(frame);
    assert_true(eh_encoding_is_plain(encoding));
    assert_int_equal(eh_encoding_input_names(ctx, encoding, &name), 0);
    assert_null(name);
    eh_encoding_free(encoding);
    frame->named = true;
    encoding = fit(frame);
    assert_false(eh_encoding_is_plain(encoding));
    eh_encoding_free(encoding);
    eh_frame_free(frame);
    char *names[] = {"a", "b"};
    assert_int_equal(eh_encoding_of_numbers(ctx, 2, names, &encoding), 0);
    frame = make_frame(1);
    add_numbers(frame, "b", EH_COLUMN_NUMBER, (double[]){7.5});
    add_numbers(frame, "a", EH_COLUMN_NUMBER, (double[]){NAN});
    assert_int_equal(eh_frame_match(ctx, encoding, frame, "t"), 0);
    float X[2];
    assert_int_equal(eh_encode(ctx, encoding, frame, NULL, 1, X, NULL), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "row 1, column 'a': the value is missing, and the model has no value to use "
                                           "instead");
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

/* ---- JSON ---- */

static void json_reads_back(void **state)
{
    (void)state;
    eh_frame *frame = mixed_frame();
    add_numbers(frame, "far", EH_COLUMN_NUMBER, (double[N]){1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3, 1e9, 1e9, 1e9 + 0.7});
    add_texts(frame, "quote \"\\ \xC3\xA4", (const char *const[N]){"\"", "\n", "\xC3\xA4", "", "", "\xE4"});
    add_numbers(frame, "same", EH_COLUMN_NUMBER, (double[N]){1, 1, 1, 1, 1, 1});
    eh_encoding *encoding = fit(frame), *copy = NULL, *read = NULL;
    char *text = NULL, *again = NULL;
    assert_int_equal(eh_encoding_print(ctx, encoding, &text), 0);
    assert_int_equal(eh_encoding_parse(ctx, text, "columns", &read), 0);
    assert_int_equal(eh_encoding_copy(ctx, read, &copy), 0);
    assert_int_equal(eh_encoding_print(ctx, copy, &again), 0);
    assert_string_equal(text, again);
    float *X = encode(encoding, frame), *Y = encode(copy, frame);
    assert_int_equal(copy->H, encoding->H);
    assert_memory_equal(X, Y, (size_t)(N * encoding->H) * sizeof *X);
    char **a = NULL, **b = NULL;
    assert_int_equal(eh_encoding_input_names(ctx, encoding, &a), 0);
    assert_int_equal(eh_encoding_input_names(ctx, copy, &b), 0);
    for (int64_t j = 0; j < copy->H; j++) assert_string_equal(a[j], b[j]);
    eh_names_free(a, copy->H);
    eh_names_free(b, copy->H);
    eh_free(X);
    eh_free(Y);
    eh_free(text);
    eh_free(again);
    eh_encoding_free(copy);
    eh_encoding_free(read);
    eh_encoding_free(encoding);
    eh_frame_free(frame);
}

static void damaged_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"columns\": 7}",
        "{\"columns\": []}",
        "{\"columns\": [3]}",
        "{\"columns\": [{\"name\": \"a\"}]}",
        "{\"columns\": [{\"type\": \"number\"}]}",
        "{\"columns\": [{\"name\": 1, \"type\": \"number\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"picture\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"fill\": \"3\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"offset\": 1e999}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"fill\": 3e39}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"date\", \"offset\": 1e99}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"missing\": 1}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"categories\": [\"x\"]}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"categories\": [\"x\", \"x\"]}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"categories\": {\"x\": 1}}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"categories\": [null]}]}",
        "{\"columns\": [{\"name\": \"a\", \"type\": \"id\"}]}",
        "{\"label\": 3, \"columns\": [{\"name\": \"a\", \"type\": \"number\"}]}",
        "{\"named\": \"yes\", \"columns\": [{\"name\": \"a\", \"type\": \"number\"}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        eh_encoding *encoding = NULL;
        assert_int_equal(eh_encoding_parse(ctx, bad[i], "m.safetensors", &encoding), ENHOPE_ERROR_MODEL);
        assert_null(encoding);
        assert_int_equal(strncmp(enhope_error(ctx), "m.safetensors", 13), 0);
    }
}

/* ---- memory ---- */

/* Fits, copies, encodes and prints; every allocation may fail. */
static enhope_status use_everything(const eh_frame *frame, eh_frame *other)
{
    enhope_status status = ENHOPE_OK;
    eh_encoding *encoding = NULL, *copy = NULL, *read = NULL;
    char *text = NULL, **name = NULL;
    float X[N * 20];
    EH_CHECK(eh_encoding_fit(ctx, frame, NULL, N, &encoding));
    EH_CHECK(eh_encoding_copy(ctx, encoding, &copy));
    EH_CHECK(eh_encoding_input_names(ctx, copy, &name));
    EH_CHECK(eh_encoding_print(ctx, copy, &text));
    EH_CHECK(eh_encoding_parse(ctx, text, "columns", &read));
    EH_CHECK(eh_frame_match(ctx, read, other, "t"));
    EH_CHECK(eh_encode(ctx, read, other, NULL, N, X, NULL));
cleanup:
    if (name) eh_names_free(name, copy->H);
    eh_free(text);
    eh_encoding_free(encoding);
    eh_encoding_free(copy);
    eh_encoding_free(read);
    return status;
}

static enhope_status encode_two_frames(void *unused)
{
    (void)unused;
    const long left = atomic_exchange(&allocations_left, LONG_MAX); /* the frames themselves can be made */
    eh_frame *frame = mixed_frame(), *other = make_frame(N);
    add_numbers(frame, "code", EH_COLUMN_CATEGORY, (double[N]){3, 1, 4, 1, 5, 9});
    for (int64_t j = frame->columns - 1; j >= 0; j--)
        if (frame->column[j].number)
            add_numbers(other, frame->column[j].name, frame->column[j].type, frame->column[j].number);
    add_texts(other, "color", (const char *const[N]){"red", "mauve", NULL, "red", "green", "blue"});
    allocations_left = left;
    const enhope_status status = use_everything(frame, other);
    eh_frame_free(frame);
    eh_frame_free(other);
    return status;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    fail_allocations(ctx, encode_two_frames, NULL, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_imputed_by_the_median_with_an_indicator),
        TEST(categories_are_ordered_by_frequency),
        TEST(dates_have_cycles),
        TEST(dates_are_parsed),
        TEST(booleans_are_parsed),
        TEST(dates_may_begin_with_the_day_or_the_month),
        TEST(thousands_are_separated_by_commas),
        TEST(forms_are_stored_and_used_for_texts),
        TEST(large_numbers_get_an_offset),
        TEST(numbers_beyond_float_are_refused),
        TEST(constant_columns_have_no_inputs),
        TEST(rare_categories_are_grouped),
        TEST(many_categories_are_limited),
        TEST(unknown_categories_are_reported),
        TEST(missing_columns_are_listed),
        TEST(values_of_another_type_are_refused),
        TEST(categories_of_numbers_are_compared_as_texts),
        TEST(plain_numbers_need_no_encoding),
        TEST(json_reads_back),
        TEST(damaged_json_is_refused),
        TEST(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
