/* Columns of numbers that identify rows: a counter, or different integers under the name of an id.
 * They say nothing about other rows, and a map would learn the order of the rows from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/frame/frame.h"

enum {
    FEW_ROWS = 20,  /* up to here, a counter says nothing unless its name does */
    FEW_NUMBERS = 2 /* up to here, numbers say nothing whatever their name */
};

/* Names of columns that count rows: pandas writes its index with an empty name, and reads that as
 * "Unnamed: 0". Others end like order_id, "order id" or orderID; paid and valid are no ids. */
bool eh_id_name(const char *name)
{
    static const char *const names[] = {"id", "index", "idx", "row", "rowid", "no", "nr", "#", "uuid", "guid", ""};
    const size_t length = strlen(name);
    if (strncasecmp(name, "Unnamed: ", 9) == 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    if (length < 3 || strcasecmp(name + length - 2, "id") != 0) return false;
    const char before = name[length - 3];
    return strchr("_-. ", before) || (name[length - 2] == 'I' && before >= 'a' && before <= 'z');
}

const char *eh_id_reason(const char *name, bool first, int64_t numbers, bool counter, bool unique)
{
    const bool named = name && eh_id_name(name);
    if (counter && ((named && numbers > FEW_NUMBERS) || (first && numbers > FEW_ROWS))) return "a counter";
    return named && unique && numbers > FEW_NUMBERS ? "unique numbers" : NULL;
}

bool eh_id_texts(const char *name, int64_t values, int64_t distinct)
{
    if (name && eh_id_name(name)) return values > FEW_NUMBERS && distinct == values;
    return values > FEW_ROWS && 20 * distinct > 19 * values;
}

/* ---- frames ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The reason why the numbers are ids; NULL: they are none. */
static enhope_status check_numbers(enhope_context *ctx, const eh_frame *frame, int64_t j, const char **reason)
{
    const eh_column *c = &frame->column[j];
    double *sorted = NULL;
    int64_t n = 0;
    bool counter = true, unique = true;
    *reason = NULL;
    if (j > 0 && !eh_id_name(c->name)) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "values of a column", frame->n, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < frame->n; i++) {
        const double x = c->number[i];
        counter = counter && isfinite(x) && (i == 0 || x == c->number[i - 1] + 1);
        if (!isnan(x)) sorted[n++] = x;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t i = 0; i < n && unique; i++)
        unique = sorted[i] == floor(sorted[i]) && (i == 0 || sorted[i] != sorted[i - 1]);
    *reason = eh_id_reason(c->name, j == 0, n, counter && n > 0 && c->number[0] == floor(c->number[0]), unique);
    eh_free(sorted);
    return ENHOPE_OK;
}

static bool has_id_texts(const eh_column *c, int64_t n)
{
    int64_t values = 0;
    for (int64_t i = 0; c->code && i < n; i++) values += c->code[i] >= 0;
    return eh_id_texts(c->name, values, c->texts);
}

enhope_status eh_frame_mark_ids(enhope_context *ctx, eh_frame *frame)
{
    eh_name_list list = {.count = 0};
    int64_t ids = 0;
    bool *mark = NULL;
    if (!frame->named) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "columns", frame->columns, sizeof *mark, (void **)&mark));
    for (int64_t j = 0; j < frame->columns; j++) {
        const eh_column *c = &frame->column[j];
        const char *reason = NULL;
        enhope_status status = ENHOPE_OK;
        if (c->type == EH_COLUMN_NUMBER)
            status = check_numbers(ctx, frame, j, &reason);
        else if (c->type == EH_COLUMN_CATEGORY && has_id_texts(c, frame->n))
            reason = "unique texts";
        if (status) {
            eh_free(mark);
            return status;
        }
        mark[j] = reason != NULL;
        ids += mark[j];
        if (reason) eh_name_list_add_with(&list, c->name, reason);
    }
    for (int64_t j = 0; ids < frame->columns && j < frame->columns; j++)
        if (mark[j]) frame->column[j].type = EH_COLUMN_ID;
    if (ids && ids < frame->columns)
        eh_log(ctx, ENHOPE_LOG_WARNING, "not used: %s; rename a column to use it", eh_name_list_end(&list));
    eh_free(mark);
    return ENHOPE_OK;
}
