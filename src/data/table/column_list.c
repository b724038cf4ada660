/* Lists of columns that the user names: names and 1-based numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table/table.h"

/* 1-based number as text, or 0. */
static int64_t parse_number(const char *text)
{
    double value;
    const bool ok = eh_number_parse(text, strlen(text), &value) == EH_NUMBER && value >= 1 && value < 1e15;
    return ok && value == floor(value) ? (int64_t)value : 0;
}

/* The column of this number or name; -1: none. A number is a position even if a name is equal. */
static int64_t find_column(const char *text, char *const *name, int64_t columns, bool *named)
{
    const int64_t number = parse_number(text);
    *named = false;
    if (number > 0 && number <= columns) return number - 1;
    for (int64_t j = 0; name && j < columns; j++)
        if (strcmp(name[j], text) == 0) {
            *named = true;
            return j;
        }
    return -1;
}

static enhope_status fail_column(enhope_context *ctx, const char *where, const char *option, const char *text,
                                 bool named, int64_t columns)
{
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: %s: no column '%.60s': expected %sa number 1 to %lld", where,
                   option, text, named ? "a name in the first line or " : "", (long long)columns);
}

/* Copies the next item to `item` and moves *text behind it and its comma. */
static void next_item(const char **text, char *item, size_t size)
{
    const char *at = *text;
    size_t n = 0;
    while (*at == ' ') at++;
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            if (*at == '"') at++;
            if (n + 1 < size) item[n++] = *at;
        }
        if (*at) at++;
        while (*at && *at != ',') at++;
    } else {
        for (; *at && *at != ','; at++)
            if (n + 1 < size) item[n++] = *at;
        while (n > 0 && item[n - 1] == ' ') n--;
    }
    item[n] = '\0';
    *text = *at == ',' ? at + 1 : at;
}

enhope_status eh_column_list_parse(enhope_context *ctx, const char *where, const char *option, const char *text,
                                   char *const *name, int64_t columns, eh_column_list *out)
{
    char item[1024];
    bool named = false;
    *out = (eh_column_list){.at = NULL};
    if (!text || !*text) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "a list of columns", (int64_t)strlen(text) + 1, sizeof *out->at, (void **)&out->at));
    if (find_column(text, name, columns, &named) >= 0 && named) { /* a name that contains commas */
        out->at[out->count++] = find_column(text, name, columns, &named);
        out->named = true;
        return ENHOPE_OK;
    }
    while (*text) {
        next_item(&text, item, sizeof item);
        const int64_t column = find_column(item, name, columns, &named);
        if (column < 0) {
            eh_column_list_free(out);
            return fail_column(ctx, where, option, item, name != NULL, columns);
        }
        out->named = out->named || named;
        if (!eh_column_list_has(out, column)) out->at[out->count++] = column;
    }
    return ENHOPE_OK;
}

bool eh_column_list_has(const eh_column_list *list, int64_t column)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->at[i] == column) return true;
    return false;
}

void eh_column_list_free(eh_column_list *list)
{
    eh_free(list->at);
    *list = (eh_column_list){.at = NULL};
}

/* ---- the options ---- */

static enhope_status check_conflicts(enhope_context *ctx, const char *where, const eh_choice *c)
{
    const int64_t weight = c->weight.count ? c->weight.at[0] : -1;
    if (weight >= 0 && (weight == c->label || eh_column_list_has(&c->id, weight)))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: column %lld is in --weight and %s; remove one", where,
                       (long long)weight + 1, weight == c->label ? "the label" : "in --id or --group");
    if (c->label >= 0 && eh_column_list_has(&c->ignore, c->label))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: column %lld is the label and in --ignore; remove one", where,
                       (long long)c->label + 1);
    if (c->label >= 0 && eh_column_list_has(&c->id, c->label))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: column %lld is the label and in --id or --group; remove one",
                       where, (long long)c->label + 1);
    for (int64_t i = 0; i < c->numeric.count; i++)
        if (eh_column_list_has(&c->categorical, c->numeric.at[i]))
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                           "%s: column %lld is in --numeric and in --categorical; remove one", where,
                           (long long)c->numeric.at[i] + 1);
    return ENHOPE_OK;
}

/* The column of weights, which joins those that are ignored. */
static enhope_status parse_weight(enhope_context *ctx, const char *text, const char *where, char *const *name,
                                  int64_t columns, eh_choice *c)
{
    EH_TRY(eh_column_list_parse(ctx, where, "--weight", text, name, columns, &c->weight));
    if (c->weight.count == 0) return ENHOPE_OK;
    if (c->weight.count > 1)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: --weight names %lld columns: expected one", where,
                       (long long)c->weight.count);
    int64_t *more = eh_grow(c->ignore.at, (size_t)c->ignore.count, (size_t)c->ignore.count + 1, sizeof *more);
    if (!more) return eh_fail_memory(ctx, "columns", (size_t)c->ignore.count + 1, sizeof *more);
    c->ignore.at = more;
    c->ignore.at[c->ignore.count++] = c->weight.at[0];
    return ENHOPE_OK;
}

/* The column of groups, then those of ids. */
static enhope_status parse_ids(enhope_context *ctx, const enhope_table_options *o, const char *where, char *const *name,
                               int64_t columns, eh_column_list *out)
{
    eh_column_list group, id;
    EH_TRY(eh_column_list_parse(ctx, where, "--group", o->group, name, columns, &group));
    enhope_status status = eh_column_list_parse(ctx, where, "--id", o->id, name, columns, &id);
    if (!status && group.count > 1)
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: --group names %lld columns: expected one", where,
                         (long long)group.count);
    if (!status) status = eh_new(ctx, "ids", group.count + id.count, sizeof *out->at, (void **)&out->at);
    for (int64_t i = 0; !status && i < group.count; i++) out->at[out->count++] = group.at[i];
    for (int64_t i = 0; !status && i < id.count; i++)
        if (!eh_column_list_has(out, id.at[i])) out->at[out->count++] = id.at[i];
    out->named = group.named || id.named;
    eh_column_list_free(&group);
    eh_column_list_free(&id);
    return status;
}

enhope_status eh_choice_parse(enhope_context *ctx, const eh_input *in, const char *where, char *const *name,
                              int64_t columns, eh_choice *out)
{
    static const enhope_table_options none = {.header = NULL};
    const enhope_table_options *o = in->table ? in->table : &none;
    enhope_status status;
    *out = (eh_choice){.label = EH_LABEL_UNKNOWN};
    EH_CHECK(eh_column_list_parse(ctx, where, "--ignore", o->ignore, name, columns, &out->ignore));
    EH_CHECK(parse_ids(ctx, o, where, name, columns, &out->id));
    EH_CHECK(eh_column_list_parse(ctx, where, "--categorical", o->categorical, name, columns, &out->categorical));
    EH_CHECK(eh_column_list_parse(ctx, where, "--numeric", o->numeric, name, columns, &out->numeric));
    EH_CHECK(eh_column_list_parse(ctx, where, "--keep", o->keep, name, columns, &out->keep));
    EH_CHECK(parse_weight(ctx, o->weight, where, name, columns, out));
    out->named = out->weight.named || out->ignore.named || out->id.named || out->categorical.named ||
                 out->numeric.named || out->keep.named;
    if (!in->labeled || (in->label && strcmp(in->label, "none") == 0)) {
        out->label = EH_LABEL_NONE;
    } else if (in->label) {
        bool named;
        out->label = find_column(in->label, name, columns, &named);
        out->label_named = named;
        out->named = out->named || named;
        if (out->label < 0) EH_CHECK(fail_column(ctx, where, "--label", in->label, name != NULL, columns));
    }
    EH_CHECK(check_conflicts(ctx, where, out));
    return ENHOPE_OK;
cleanup:
    eh_choice_free(out);
    return status;
}

void eh_choice_free(eh_choice *c)
{
    eh_column_list_free(&c->ignore);
    eh_column_list_free(&c->id);
    eh_column_list_free(&c->categorical);
    eh_column_list_free(&c->numeric);
    eh_column_list_free(&c->keep);
    eh_column_list_free(&c->weight);
}
