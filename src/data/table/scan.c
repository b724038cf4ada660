/* The first pass over a table: counts for each column what its fields look like.
 *
 * The first record is kept apart until it is known whether it is a header. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

/* ---- sets of values ---- */

enum { MAX_DISTINCT = 1 << 17 }; /* values of a column that are counted: 2 MB of hashes */

static uint64_t hash_of(const void *bytes, size_t length)
{
    const uint64_t h = eh_hash(0, bytes, length);
    return h ? h : 1; /* 0 is a free slot */
}

static int64_t find_slot(const eh_distinct *set, uint64_t hash)
{
    const uint64_t mask = (uint64_t)set->slots - 1;
    uint64_t at = (hash ^ hash >> 29) & mask;
    while (set->slot[at] && set->slot[at] != hash) at = (at + 1) & mask;
    return (int64_t)at;
}

static enhope_status grow_set(enhope_context *ctx, eh_distinct *set)
{
    eh_distinct grown = {.slots = set->slots ? 2 * set->slots : 32, .count = set->count, .seen = set->seen};
    EH_TRY(eh_new(ctx, "distinct values", grown.slots, sizeof *grown.slot, (void **)&grown.slot));
    for (int64_t i = 0; i < set->slots; i++)
        if (set->slot[i]) grown.slot[find_slot(&grown, set->slot[i])] = set->slot[i];
    eh_free(set->slot);
    *set = grown;
    return ENHOPE_OK;
}

enhope_status eh_distinct_add(enhope_context *ctx, eh_distinct *set, const void *bytes, size_t length)
{
    if (set->full) return ENHOPE_OK;
    if (2 * (set->count + 1) > set->slots) EH_TRY(grow_set(ctx, set));
    const uint64_t hash = hash_of(bytes, length);
    const int64_t at = find_slot(set, hash);
    set->seen++;
    if (set->slot[at]) return ENHOPE_OK;
    set->slot[at] = hash;
    set->full = ++set->count == MAX_DISTINCT;
    return ENHOPE_OK;
}

bool eh_distinct_has(const eh_distinct *set, const char *text, size_t length)
{
    return set->slots > 0 && set->slot[find_slot(set, hash_of(text, length))] != 0;
}

/* ---- fields ---- */

int64_t eh_column_scan_values(const eh_column_scan *c)
{
    return c->numbers + c->booleans + c->dates + c->texts + c->infinite.count + c->commas;
}

int64_t eh_column_scan_formed(const eh_column_scan *c)
{
    int64_t max = 0;
    for (int f = 0; f < EH_FORMS; f++) max = eh_max(max, c->form[f].count);
    return max;
}

static void add_form(eh_column_scan *c, eh_form form, double value)
{
    eh_form_scan *f = &c->form[form];
    f->minimum = f->count ? fmin(f->minimum, value) : value;
    f->maximum = f->count ? fmax(f->maximum, value) : value;
    f->count++;
}

/* Counts a text for each form that it may have. */
static void add_text(eh_column_scan *c, const char *text, size_t length, char decimal)
{
    double value;
    const size_t number = eh_percent_length(text, length);
    c->texts++;
    c->written += eh_field_written_number(text, length);
    for (eh_form form = EH_FORM_DAY_FIRST; form <= EH_FORM_MONTH_FIRST; form++)
        if (eh_date_parse_form(text, length, form, &value)) add_form(c, form, value);
    if (number && eh_field_number(text, number, decimal, &value) == EH_NUMBER) add_form(c, EH_FORM_PERCENT, value);
    if (decimal == '.' && eh_thousands_parse(text, length, &value)) add_form(c, EH_FORM_THOUSANDS, value);
}

static enhope_status add_number(enhope_context *ctx, eh_column_scan *c, double value)
{
    c->integers = c->integers && fabs(value) < 0x1p53 && value == (double)(int64_t)value;
    c->counter = c->counter && (c->numbers == 0 || value == c->last + 1);
    if (c->numbers == 0) c->first = value;
    c->last = value;
    c->numbers++;
    if (value < c->minimum) c->minimum = value;
    if (value > c->maximum) c->maximum = value;
    if (value == 0) value = 0; /* -0 is 0 */
    return c->counted ? eh_distinct_add(ctx, &c->distinct, &value, sizeof value) : ENHOPE_OK;
}

/* Adds a field that is no number with a decimal point. */
static enhope_status add_other(enhope_context *ctx, eh_scan *s, eh_column_scan *c, const char *text, size_t length,
                               int64_t line, eh_number_kind kind)
{
    double value;
    if (eh_field_missing(text, length)) {
        c->missing++;
        eh_problem_note(&c->empty, line, text, length);
        if (eh_labels_missing(text, length)) return ENHOPE_OK;
        c->markers++;
        return c->counted ? eh_distinct_add(ctx, &c->distinct, text, length) : ENHOPE_OK;
    }
    if (kind == EH_NOT_FINITE) {
        eh_problem_note(&c->infinite, line, text, length);
        return ENHOPE_OK;
    }
    eh_problem_note(&c->other, line, text, length);
    c->counted = true; /* a column with texts */
    if (!s->decimal && eh_field_number(text, length, ',', &value) == EH_NUMBER) {
        EH_TRY(add_number(ctx, c, value));
        c->numbers--;
        c->commas++;
        s->commas++;
        s->grouped += eh_field_grouped(text, length);
        return ENHOPE_OK;
    }
    if (eh_boolean_parse(text, length, &value)) {
        c->booleans++;
    } else if (eh_date_parse(text, length, &value)) {
        c->first_date = c->dates ? fmin(c->first_date, value) : value;
        c->last_date = c->dates ? fmax(c->last_date, value) : value;
        c->dates++;
    } else {
        add_text(c, text, length, s->decimal);
    }
    return eh_distinct_add(ctx, &c->distinct, text, length);
}

static enhope_status add_field(enhope_context *ctx, eh_scan *s, eh_column_scan *c, const char *text, size_t length,
                               int64_t line)
{
    double value;
    const eh_number_kind kind = eh_field_number(text, length, s->decimal, &value);
    if (kind != EH_NUMBER) return add_other(ctx, s, c, text, length, line, kind);
    if (!s->decimal) s->points += memchr(text, '.', length) != NULL;
    return add_number(ctx, c, value);
}

enhope_status eh_scan_add_first(enhope_context *ctx, eh_scan *s)
{
    for (int64_t j = 0; j < s->columns; j++) {
        eh_column_scan *c = &s->column[j];
        const int64_t before = c->numbers;
        const double first = c->first, last = c->last;
        const bool counter = c->counter;
        EH_TRY(add_field(ctx, s, c, s->first[j], strlen(s->first[j]), s->first_line));
        if (before == 0 || c->numbers == before) continue;
        c->counter = counter && first == c->last + 1; /* the number comes before the others */
        c->first = c->last;
        c->last = last;
    }
    s->rows++;
    return ENHOPE_OK;
}

/* ---- records ---- */

static enhope_status keep_first(enhope_context *ctx, eh_scan *s)
{
    s->columns = s->csv.fields;
    s->first_line = s->csv.line;
    EH_TRY(eh_new(ctx, "the first line", s->columns, sizeof *s->first, (void **)&s->first));
    for (int64_t j = 0; j < s->columns; j++) {
        const eh_field *f = &s->csv.field[j];
        s->first[j] = eh_alloc(f->length + 1, 1);
        if (!s->first[j]) return eh_fail_memory(ctx, "the first line", f->length + 1, 1);
        memcpy(s->first[j], f->text, f->length);
    }
    return ENHOPE_OK;
}

/* Prepares the columns. Numbers are counted in columns that may be the label or an id. */
static enhope_status open_columns(enhope_context *ctx, eh_scan *s)
{
    EH_TRY(eh_new(ctx, "columns of a table", s->columns, sizeof *s->column, (void **)&s->column));
    for (int64_t j = 0; j < s->columns; j++) {
        const bool counted = j == 0 || j >= s->columns - 2 || j == s->choice.label ||
                             eh_label_name_rank(s->first[j]) >= 0 || eh_id_name(s->first[j]);
        s->column[j] = (eh_column_scan){.minimum = INFINITY,
                                        .maximum = -INFINITY,
                                        .integers = true,
                                        .counter = true,
                                        .counted = counted || eh_column_list_has(&s->choice.categorical, j)};
    }
    return ENHOPE_OK;
}

static enhope_status scan_record(enhope_context *ctx, eh_scan *s)
{
    const eh_csv *csv = &s->csv;
    if (csv->damaged || csv->fields != s->columns) return eh_problems_line(ctx, &s->problems, csv);
    for (int64_t j = 0; j < csv->fields; j++)
        EH_TRY(add_field(ctx, s, &s->column[j], csv->field[j].text, csv->field[j].length, csv->line));
    s->rows++;
    return ENHOPE_OK;
}

enhope_status eh_scan_read(enhope_context *ctx, const eh_input *in, const eh_spool *spool, eh_scan *s)
{
    bool found;
    *s = (eh_scan){.columns = 0};
    EH_TRY(eh_table_rules_parse(ctx, in->table, &s->rules));
    EH_TRY(eh_csv_open(ctx, in->path, spool, s->rules.delimiter, &s->csv));
    EH_TRY(eh_csv_next(ctx, &s->csv, &found));
    if (!found) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are only blank lines", eh_csv_name(&s->csv));
    if (s->csv.damaged)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s:%lld: text follows a closing quote: expected '%s' or a new line",
                       eh_csv_name(&s->csv), (long long)s->csv.line,
                       s->csv.delimiter == '\t' ? "tab" : (char[2]){s->csv.delimiter});
    EH_TRY(keep_first(ctx, s));
    s->decimal = s->rules.decimal ? s->rules.decimal : s->csv.delimiter == ',' ? '.' : '\0';
    s->problems = (eh_problems){.columns = s->columns, .first_line = s->first_line};
    EH_TRY(eh_choice_parse(ctx, in, eh_csv_name(&s->csv), s->rules.header ? s->first : NULL, s->columns, &s->choice));
    EH_TRY(open_columns(ctx, s));
    for (;;) {
        EH_TRY(eh_csv_next(ctx, &s->csv, &found));
        if (!found) return ENHOPE_OK;
        EH_TRY(scan_record(ctx, s));
    }
}

void eh_scan_free(eh_scan *s)
{
    for (int64_t j = 0; s->column && j < s->columns; j++) eh_free(s->column[j].distinct.slot);
    eh_free(s->column);
    eh_names_free(s->first, s->columns);
    eh_choice_free(&s->choice);
    eh_problems_free(&s->problems);
    eh_csv_close(&s->csv);
}
