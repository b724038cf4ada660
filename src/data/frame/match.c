/* Finds the columns of an encoding in a frame and converts them to the types of the encoding. */
#include <math.h>
#include <string.h>

#include "data/frame/frame.h"

static const char *type_name(eh_column_type type)
{
    static const char *const name[] = {"a number", "true or false", "a category", "a date", "a text", "a value"};
    return name[type];
}

/* ---- types ---- */

static bool parse(const eh_encoded *c, const char *text, double *out)
{
    const eh_column_type type = c->type;
    const size_t length = c->form == EH_FORM_PERCENT ? eh_percent_length(text, strlen(text)) : strlen(text);
    double value;
    if (type == EH_COLUMN_DATE) return eh_date_parse_form(text, length, c->form, out);
    if (type == EH_COLUMN_BOOLEAN && eh_boolean_parse(text, length, out)) return true;
    if (c->form == EH_FORM_THOUSANDS && eh_thousands_parse(text, length, out)) return true;
    if (eh_number_parse(text, length, &value) != EH_NUMBER) return false;
    *out = value;
    return type != EH_COLUMN_BOOLEAN || value == 0 || value == 1;
}

/* Replaces texts by the numbers that they denote. */
static enhope_status parse_texts(enhope_context *ctx, const eh_encoded *c, eh_column *column, int64_t n,
                                 const char *where)
{
    enhope_status status = ENHOPE_OK;
    double *of_text = NULL, *number = NULL;
    EH_CHECK(eh_new(ctx, "values", column->texts, sizeof *of_text, (void **)&of_text));
    EH_CHECK(eh_new(ctx, "values", n, sizeof *number, (void **)&number));
    for (int32_t k = 0; k < column->texts; k++)
        if (!parse(c, column->text[k], &of_text[k]))
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: column '%.60s' contains '%.60s': expected %s, as in training",
                             where, c->name, column->text[k],
                             c->form == EH_FORM_PERCENT ? "a percentage such as 47%" : type_name(c->type)));
    for (int64_t i = 0; i < n; i++) number[i] = column->code && column->code[i] >= 0 ? of_text[column->code[i]] : NAN;
    eh_free(column->code);
    eh_names_free(column->text, column->texts);
    column->code = NULL;
    column->text = NULL;
    column->texts = 0;
    column->number = number;
    number = NULL;
cleanup:
    eh_free(of_text);
    eh_free(number);
    return status;
}

static bool has_value(const eh_column *column, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (column->number ? !isnan(column->number[i]) : column->code && column->code[i] >= 0) return true;
    return false;
}

static enhope_status convert(enhope_context *ctx, const eh_encoded *c, eh_column *column, int64_t n, const char *where)
{
    const eh_column_type from = column->type;
    if (c->inputs == 0) return ENHOPE_OK;
    column->type = c->type;
    if (c->type == EH_COLUMN_CATEGORY && !(column->number && from == EH_COLUMN_DATE)) return ENHOPE_OK;
    if (!column->number) return parse_texts(ctx, c, column, n, where);
    const bool dates = from == EH_COLUMN_DATE, date = c->type == EH_COLUMN_DATE;
    if (dates != date && has_value(column, n))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: column '%.60s' contains %s: expected %s, as in training", where,
                       c->name, dates ? "dates" : "numbers", type_name(c->type));
    for (int64_t i = 0; c->type == EH_COLUMN_BOOLEAN && i < n; i++) {
        const double value = column->number[i];
        if (!isnan(value) && value != 0 && value != 1)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: column '%.60s' contains %g: expected %s, as in training", where,
                           c->name, value, type_name(c->type));
    }
    return ENHOPE_OK;
}

/* ---- columns ---- */

/* from (columns): the column of the frame for each column of the encoding; -1: none. used
 * (columns of the frame): it is one of them. */
static void find_by_name(const eh_encoding *encoding, const eh_frame *frame, int64_t *from, bool *used)
{
    for (int64_t j = 0; j < encoding->columns; j++) {
        const char *name = encoding->column[j].name;
        from[j] = -1;
        /* the usual place first, so that tables of many columns take linear time */
        for (int64_t k = 0; k < frame->columns && from[j] < 0; k++) {
            const int64_t at = (j + k) % frame->columns;
            if (!used[at] && strcmp(frame->column[at].name, name) == 0) from[j] = at;
        }
        if (from[j] >= 0) used[from[j]] = true;
    }
}

static enhope_status fail_missing(enhope_context *ctx, const eh_encoding *encoding, const eh_frame *frame,
                                  const int64_t *from, const bool *used, const char *where)
{
    eh_name_list missing = {.count = 0}, extra = {.count = 0};
    for (int64_t j = 0; j < encoding->columns; j++)
        if (from[j] < 0 && encoding->column[j].inputs > 0) eh_name_list_add(&missing, encoding->column[j].name);
    for (int64_t k = 0; k < frame->columns; k++)
        if (!used[k]) eh_name_list_add(&extra, frame->column[k].name);
    if (missing.count == 0) {
        if (extra.count)
            eh_log(ctx, ENHOPE_LOG_INFO, "%s: columns that the model does not use: %s", where,
                   eh_name_list_end(&extra));
        return ENHOPE_OK;
    }
    const char *lacking = eh_name_list_end(&missing);
    if (extra.count == 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: columns of the training data are missing: %s", where, lacking);
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: columns of the training data are missing: %s; the data has others: %s",
                   where, lacking, eh_name_list_end(&extra));
}

static enhope_status find_columns(enhope_context *ctx, const eh_encoding *encoding, const eh_frame *frame,
                                  int64_t *from, bool *used, const char *where)
{
    if (encoding->named && frame->named) {
        find_by_name(encoding, frame, from, used);
        return fail_missing(ctx, encoding, frame, from, used, where);
    }
    if (frame->columns != encoding->columns)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: %lld columns without names: the model has %lld; use the columns of training%s", where,
                       (long long)frame->columns, (long long)encoding->columns,
                       encoding->named ? ", or a header with their names" : "");
    for (int64_t j = 0; j < encoding->columns; j++) from[j] = j;
    return ENHOPE_OK;
}

/* Moves the columns to their places. A constant column of training need not be there: it becomes
 * an empty one. */
static enhope_status move_columns(enhope_context *ctx, const eh_encoding *encoding, const int64_t *from,
                                  eh_frame *frame)
{
    eh_column *column = NULL;
    const int64_t before = frame->columns;
    EH_TRY(eh_new(ctx, "columns", encoding->columns, sizeof *column, (void **)&column));
    for (int64_t j = 0; j < encoding->columns; j++) {
        if (from[j] < 0) continue;
        column[j] = frame->column[from[j]];
        frame->column[from[j]] = (eh_column){.name = NULL};
    }
    for (int64_t k = 0; k < before; k++) eh_column_clear(&frame->column[k]);
    eh_free(frame->column);
    frame->column = column;
    frame->columns = encoding->columns;
    return ENHOPE_OK;
}

enhope_status eh_frame_match(enhope_context *ctx, const eh_encoding *encoding, eh_frame *frame, const char *where)
{
    enhope_status status = ENHOPE_OK;
    int64_t *from = NULL;
    bool *used = NULL;
    EH_CHECK(eh_new(ctx, "columns", encoding->columns, sizeof *from, (void **)&from));
    EH_CHECK(eh_new(ctx, "columns", frame->columns, sizeof *used, (void **)&used));
    EH_CHECK(find_columns(ctx, encoding, frame, from, used, where));
    EH_CHECK(move_columns(ctx, encoding, from, frame));
    for (int64_t j = 0; j < frame->columns; j++)
        EH_CHECK(convert(ctx, &encoding->column[j], &frame->column[j], frame->n, where));
cleanup:
    eh_free(from);
    eh_free(used);
    return status;
}
