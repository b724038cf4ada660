/* Finds the label column of a table: the one that the user names, a column with a usual name, or
 * the last or the first column if its values can be classes. Checks one that a model has found by
 * its position.
 *
 * A column of fractions, or with nearly as many classes as rows, is refused also if the user names
 * it, because a model of it would be useless. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

enum {
    FEW_ROWS = 20,    /* up to here, the number of classes says nothing */
    FEW_CLASSES = 20, /* of integers that are taken for labels without a name */
    MAX_CODES = 100   /* the same for integers that count from 0 or 1 */
};

int eh_label_name_rank(const char *name)
{
    static const char *const usual[] = {"label", "class", "target", "labels", "y"}; /* y may be a coordinate */
    for (int i = 0; i < (int)(sizeof usual / sizeof *usual); i++)
        if (strcasecmp(name, usual[i]) == 0) return i;
    return -1;
}

/* Labels of a column: a marker such as "none" may be a class. */
static int64_t label_rows(const eh_column_scan *c)
{
    return eh_column_scan_values(c) + c->markers;
}

static bool has_fractions(const eh_column_scan *c)
{
    return c->numbers == label_rows(c) && c->numbers > 0 && !c->integers;
}

static bool has_many_classes(const eh_column_scan *c)
{
    return label_rows(c) > FEW_ROWS && (c->distinct.full || 2 * c->distinct.count > label_rows(c));
}

/* True if the values of the column look like classes. */
static bool can_be_label(const eh_column_scan *c, const eh_column_schema *column)
{
    const int64_t classes = c->distinct.count;
    if (label_rows(c) == 0 || has_fractions(c) || has_many_classes(c) || column->type == EH_COLUMN_DATE) return false;
    if (column->role != EH_ROLE_INPUT || !c->counted) return false;
    if (c->numbers < label_rows(c)) return c->numbers == 0 || classes <= MAX_CODES;
    const bool codes = (c->minimum == 0 || c->minimum == 1) && c->maximum - c->minimum + 1 == (double)classes;
    return classes <= FEW_CLASSES || (codes && classes <= MAX_CODES);
}

static enhope_status refuse(enhope_context *ctx, const char *where, const eh_schema *schema, const eh_column_scan *c)
{
    const int64_t j = schema->label;
    char column[96];
    snprintf(column, sizeof column, schema->header ? "column %lld ('%.60s')" : "column %lld", (long long)j + 1,
             schema->column[j].name);
    if (has_fractions(c))
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: the label, %s, is continuous (%lld%s values from %g to %g): expected classes; use --label "
                       "COLUMN for another column, or --label none",
                       where, column, (long long)c->distinct.count, c->distinct.full ? " or more" : "", c->minimum,
                       c->maximum);
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "%s: the label, %s, has %lld%s classes in %lld rows: expected fewer; use --label COLUMN for another "
                   "column, or --label none",
                   where, column, (long long)c->distinct.count, c->distinct.full ? " or more" : "",
                   (long long)label_rows(c));
}

/* The column with the first of the usual names; -1: none. y is a coordinate beside x. */
static int64_t find_usual(const eh_schema *schema)
{
    int64_t found = -1;
    int best = EH_PLAIN_LABEL_NAMES + 1;
    bool x = false;
    for (int64_t j = 0; j < schema->columns; j++) x = x || strcasecmp(schema->column[j].name, "x") == 0;
    for (int64_t j = 0; j < schema->columns; j++) {
        const int rank = eh_label_name_rank(schema->column[j].name);
        if (rank < 0 || rank >= best || (rank >= EH_PLAIN_LABEL_NAMES && x)) continue;
        if (schema->column[j].role != EH_ROLE_INPUT && schema->column[j].type != EH_COLUMN_EMPTY) continue;
        found = j;
        best = rank;
    }
    return found;
}

enhope_status eh_label_column_find(enhope_context *ctx, const eh_scan *scan, const char *where, eh_schema *schema,
                                   char *why, size_t size)
{
    int64_t last = schema->columns - 1;
    while (last > 0 && schema->column[last].type == EH_COLUMN_EMPTY) last--; /* lines that end with a delimiter */
    schema->label = scan->choice.label;
    snprintf(why, size, "given by --label");
    if (schema->label == EH_LABEL_NONE) return ENHOPE_OK;
    if (schema->label == EH_LABEL_UNKNOWN && schema->header) {
        schema->label = find_usual(schema);
        if (schema->label < 0) schema->label = EH_LABEL_UNKNOWN;
        snprintf(why, size, "a usual name");
    }
    if (schema->label >= 0) {
        const eh_column_scan *c = &scan->column[schema->label];
        const bool many = has_fractions(c) && c->distinct.count > FEW_CLASSES;
        return many || has_many_classes(c) ? refuse(ctx, where, schema, c) : ENHOPE_OK;
    }
    const int64_t places[] = {last, 0};
    for (int i = 0; i < 2; i++) {
        schema->label = places[i];
        snprintf(why, size, i == 0 ? "the last column" : "the first column");
        if (can_be_label(&scan->column[places[i]], &schema->column[places[i]])) return ENHOPE_OK;
    }
    schema->label = EH_LABEL_NONE;
    if (scan->rules.label_optional) {
        eh_log(ctx, ENHOPE_LOG_INFO, "%s: no label column was found; if there is one, name it with --label COLUMN",
               where);
        return ENHOPE_OK;
    }
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "%s: no column can be the label: none has a usual name (label, class, target), and the last and the "
                   "first column have too many different values; use --label COLUMN, or --label none",
                   where);
}

/* ---- a label that is found by its position ---- */

enhope_status eh_position_open(enhope_context *ctx, const eh_table *t, eh_position_check *check)
{
    const eh_schema *s = &t->schema;
    const enhope_model *model = t->in->model;
    *check = (eh_position_check){.counter = true};
    check->active = model && s->label >= 0 && strcmp(s->column[s->label].reason, EH_BY_POSITION) == 0;
    for (int32_t k = 0; check->active && enhope_model_class_name(model, k); k++) {
        const char *name = enhope_model_class_name(model, k);
        int32_t id;
        if (*name) EH_TRY(eh_labels_class(ctx, &check->classes, name, strlen(name), &id));
    }
    return ENHOPE_OK;
}

static bool has_wrong_label(const eh_position_check *check)
{
    return check->active && 2 * check->known < check->labeled;
}

static bool has_counter(const eh_position_check *check)
{
    enum { MANY_ROWS = 6 }; /* fewer numbers may look like a counter by chance */
    return check->active && check->counter && check->rows >= MANY_ROWS;
}

/* Counts row i of the frame. */
static void count_row(eh_position_check *check, const eh_table *t, int64_t i)
{
    const int64_t first = t->source[0];
    const double *x = first >= 0 ? t->frame.column[first].number : NULL;
    const int32_t id = t->labels.id[i];
    const char *name = id >= 0 ? t->labels.name[id] : "";
    check->labeled += id >= 0;
    check->known += id >= 0 && eh_labels_find(&check->classes, name, strlen(name)) >= 0;
    if (check->rows == 0 && x) check->start = x[i];
    check->counter = check->counter && x && x[i] == floor(x[i]) && x[i] == check->start + (double)check->rows;
    check->rows++;
}

void eh_position_count(eh_position_check *check, const eh_table *t)
{
    for (int64_t i = 0; check->active && i < t->frame.n; i++) count_row(check, t, i);
}

int64_t eh_position_good_rows(eh_position_check *check, const eh_table *t)
{
    for (int64_t i = 0; check->active && i < t->frame.n; i++) {
        count_row(check, t, i);
        if (has_wrong_label(check) || has_counter(check)) return i;
    }
    return t->frame.n;
}

enhope_status eh_position_fail(enhope_context *ctx, const eh_position_check *check, const eh_table *t)
{
    const long long label = (long long)t->schema.label + 1;
    if (has_wrong_label(check))
        return eh_fail(
            ctx, ENHOPE_ERROR_DATA,
            "%s: there is no header and one column more than the model has inputs, but column %lld is no label: "
            "%lld of %lld values are no classes of the model; use --label %lld if it is the label, --ignore or "
            "--id for a column that is no input",
            eh_csv_name(&t->csv), label, (long long)(check->labeled - check->known), (long long)check->labeled, label);
    if (has_counter(check))
        return eh_fail(
            ctx, ENHOPE_ERROR_DATA,
            "%s: there is no header, and column 1 counts the rows; use --ignore 1 or --id 1 if it is no input, "
            "--label %lld if it is one",
            eh_csv_name(&t->csv), label);
    return ENHOPE_OK;
}

void eh_position_free(eh_position_check *check)
{
    eh_labels_free(&check->classes);
}
