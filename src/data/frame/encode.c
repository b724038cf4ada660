/* Encodes rows of a frame as inputs of a map. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/frame/frame.h"

enum { BLOCK = 256 }; /* rows of all columns that are encoded together, while they are in the cache */

/* What one column of a frame needs, and what was found in it. */
typedef struct encoder {
    const eh_encoded *c;
    const eh_column *column;
    eh_column own;     /* texts of a column of numbers */
    int32_t *input_of; /* (texts) the input of each text; -1: unknown */
    eh_unseen unseen;
} encoder;

/* The category of a text; -1: unknown. A text such as 1.0 is also found as 1. */
static int32_t find_category(const eh_encoded *c, const char *text)
{
    char number[40];
    double value;
    for (int32_t k = 0; k < c->categories; k++)
        if (strcmp(c->category[k], text) == 0) return k;
    if (eh_number_parse(text, strlen(text), &value) != EH_NUMBER) return -1;
    eh_number_print(value, number, sizeof number);
    for (int32_t k = 0; k < c->categories; k++)
        if (strcmp(c->category[k], number) == 0) return k;
    return -1;
}

static enhope_status open_category(enhope_context *ctx, encoder *e, int64_t n)
{
    if (e->column->number) {
        EH_TRY(eh_numbers_to_texts(ctx, e->column->number, n, &e->own));
        e->column = &e->own;
    }
    EH_TRY(eh_new(ctx, "categories", e->column->texts, sizeof *e->input_of, (void **)&e->input_of));
    for (int32_t k = 0; k < e->column->texts; k++) {
        char *text = eh_utf8_copy(e->column->text[k]);
        if (!text) return eh_fail_memory(ctx, "a category", strlen(e->column->text[k]) + 1, 1);
        e->input_of[k] = find_category(e->c, text);
        eh_free(text);
    }
    return ENHOPE_OK;
}

/* ---- one value ---- */

static void encode_text(encoder *e, int64_t row, float *x)
{
    const eh_encoded *c = e->c;
    const int32_t code = e->column->code ? e->column->code[row] : -1;
    const int32_t found = code >= 0 ? e->input_of[code] : -1;
    for (int64_t i = 0; i < c->categories + c->other; i++) x[i] = 0;
    if (found >= 0)
        x[found] = 1;
    else if (code >= 0 && c->other)
        x[c->categories] = 1;
    if (code >= 0 && found < 0) {
        if (!e->unseen.unknown++) snprintf(e->unseen.example, sizeof e->unseen.example, "%.60s", e->column->text[code]);
    }
}

static void put_angle(float *x, double turn)
{
    const double angle = 2 * 3.14159265358979323846 * turn;
    x[0] = (float)sin(angle);
    x[1] = (float)cos(angle);
}

static void encode_date(const eh_encoded *c, double days, float *x)
{
    const bool missing = isnan(days);
    const double day = floor(days);
    x[0] = (float)((missing ? c->fill : days) - c->offset);
    for (int i = 1; i < (c->time ? 7 : 5); i++) x[i] = 0;
    if (missing) return;
    put_angle(x + 1, eh_date_year_day(days) / 365.25);
    put_angle(x + 3, fmod(fmod(day + 3, 7) + 7, 7) / 7); /* 1970-01-01 was a Thursday; Monday is 0 */
    if (c->time) put_angle(x + 5, days - day);
}

static enhope_status fail_size(enhope_context *ctx, const eh_encoded *c, int64_t row, double value)
{
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "row %lld, column '%.60s': %g is too large: expected at most %.4g in size; divide the column",
                   (long long)row + 1, c->name, value, (double)FLT_MAX);
}

/* Encodes the value of a row in x (inputs of the column). */
static enhope_status encode_value(enhope_context *ctx, encoder *e, int64_t row, float *x)
{
    const eh_encoded *c = e->c;
    const bool texts = c->type == EH_COLUMN_CATEGORY;
    const double value = !texts && e->column->number ? e->column->number[row] : NAN;
    const bool missing = texts ? !e->column->code || e->column->code[row] < 0 : isnan(value);
    e->unseen.missing += missing;
    if (c->indicator) x[c->inputs - 1] = missing;
    if (c->constant) return ENHOPE_OK;
    if (texts) {
        encode_text(e, row, x);
        return ENHOPE_OK;
    }
    if (fabs(value - c->offset) > (double)FLT_MAX || (c->type == EH_COLUMN_DATE && fabs(value) > 1e9))
        return fail_size(ctx, c, row, value);
    if (missing && isnan(c->fill))
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "row %lld, column '%.60s': the value is missing, and the model has no value to use instead",
                       (long long)row + 1, c->name);
    if (c->type == EH_COLUMN_DATE)
        encode_date(c, value, x);
    else
        x[0] = (float)((missing ? c->fill : value) - c->offset);
    return ENHOPE_OK;
}

/* ---- all columns ---- */

static enhope_status encode_rows(enhope_context *ctx, const eh_encoding *encoding, encoder *e, const int64_t *rows,
                                 int64_t n, float *X)
{
    for (int64_t first = 0; first < n; first += BLOCK)
        for (int64_t j = 0; j < encoding->columns; j++) {
            const int64_t end = eh_min(first + BLOCK, n);
            if (e[j].c->inputs == 0) continue;
            for (int64_t i = first; i < end; i++)
                EH_TRY(encode_value(ctx, &e[j], rows ? rows[i] : i, X + i * encoding->H + e[j].c->first));
        }
    return ENHOPE_OK;
}

static void add_unseen(const eh_unseen *from, eh_unseen *to)
{
    if (!to->unknown) memcpy(to->example, from->example, sizeof to->example);
    to->unknown += from->unknown;
    to->missing += from->missing;
}

void eh_unseen_warn(enhope_context *ctx, const eh_encoding *encoding, const eh_unseen *unseen)
{
    eh_name_list missing = {.count = 0};
    int64_t values = 0;
    for (int64_t j = 0; j < encoding->columns; j++) {
        const eh_encoded *c = &encoding->column[j];
        if (unseen[j].missing && !c->indicator) {
            eh_name_list_add(&missing, c->name);
            values += unseen[j].missing;
        }
        if (unseen[j].unknown && !c->other)
            eh_log(ctx, ENHOPE_LOG_WARNING, "column '%.60s': %lld value%s not among the categories of training ('%s')",
                   c->name, (long long)unseen[j].unknown, unseen[j].unknown == 1 ? " is" : "s are", unseen[j].example);
    }
    if (missing.count)
        eh_log(ctx, ENHOPE_LOG_WARNING,
               "%lld value%s missing in columns that had no missing values in training, and replaced by the median or "
               "by no category: %s",
               (long long)values, values == 1 ? " is" : "s are", eh_name_list_end(&missing));
}

enhope_status eh_encode(enhope_context *ctx, const eh_encoding *encoding, const eh_frame *frame, const int64_t *rows,
                        int64_t n, float *X, eh_unseen *unseen)
{
    enhope_status status = ENHOPE_OK;
    encoder *e = NULL;
    if (frame->columns != encoding->columns)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "a frame of %lld columns: expected %lld", (long long)frame->columns,
                       (long long)encoding->columns);
    EH_TRY(eh_new(ctx, "an encoder", encoding->columns, sizeof *e, (void **)&e));
    for (int64_t j = 0; j < encoding->columns; j++) {
        e[j].c = &encoding->column[j];
        e[j].column = &frame->column[j];
        if (e[j].c->type == EH_COLUMN_CATEGORY) EH_CHECK(open_category(ctx, &e[j], frame->n));
    }
    EH_CHECK(encode_rows(ctx, encoding, e, rows, n, X));
    for (int64_t j = 0; unseen && j < encoding->columns; j++) add_unseen(&e[j].unseen, &unseen[j]);
cleanup:
    for (int64_t j = 0; j < encoding->columns; j++) {
        eh_free(e[j].input_of);
        eh_column_clear(&e[j].own);
    }
    eh_free(e);
    return status;
}
