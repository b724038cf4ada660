/* The second pass over a table: typed values of its input columns, row by row.
 *
 * A row with a field that does not have the type of its column, or with another number of fields
 * than the first line, cannot be read. All such rows are found before the reader fails, unless they
 * are to be skipped. */
#include <math.h>
#include <string.h>

#include "data/table/table.h"

/* ---- fields ---- */

/* Notes a problem of field j of the record. */
static enhope_status note(enhope_context *ctx, eh_table *t, int64_t j, eh_problem_kind kind)
{
    eh_problem *p;
    const eh_field *f = &t->csv.field[j];
    EH_TRY(eh_problems_at(ctx, &t->problems, j, kind, &p));
    eh_problem_note(p, t->csv.line, f->text ? f->text : "", f->length);
    return ENHOPE_OK;
}

/* A number; decides what the decimal point is if that is not known. */
static eh_number_kind parse_number(eh_schema *schema, char delimiter, const eh_field *f, double *value)
{
    if (schema->decimal) return eh_field_number(f->text, f->length, schema->decimal, value);
    const bool comma = memchr(f->text, ',', f->length) != NULL;
    const eh_number_kind kind = eh_field_number(f->text, f->length, comma && delimiter != ',' ? ',' : '.', value);
    if (kind == EH_NUMBER && comma) schema->decimal = ',';
    if (kind == EH_NUMBER && memchr(f->text, '.', f->length)) schema->decimal = '.';
    return kind;
}

/* Stores field j, which is no plain number, in row i of the column. *bad, *missing: what it is
 * instead of a value. */
static enhope_status store_other(enhope_context *ctx, eh_table *t, int64_t j, int64_t i, bool *bad, bool *missing)
{
    const int64_t k = t->source[j];
    const eh_field *f = &t->csv.field[j];
    eh_column *column = &t->frame.column[k];
    double value = NAN;
    bool good = true;
    eh_problem_kind kind = EH_PROBLEM_NUMBER;
    const bool empty = eh_field_missing(f->text, f->length);
    *missing = *missing || empty;
    if (column->type == EH_COLUMN_CATEGORY) {
        column->code[i] = -1;
        if (empty) return ENHOPE_OK;
        good = eh_utf8_valid(f->text, f->length);
        kind = EH_PROBLEM_UTF8;
        if (good) return eh_labels_class(ctx, &t->text[k], f->text, f->length, &column->code[i]);
    } else if (!empty && !(column->form == EH_FORM_THOUSANDS && eh_thousands_parse(f->text, f->length, &value))) {
        const bool percent = column->form == EH_FORM_PERCENT;
        const eh_field number = {f->text, percent ? eh_percent_length(f->text, f->length) : f->length};
        const eh_number_kind found = parse_number(&t->schema, t->csv.delimiter, &number, &value);
        if (percent) {
            good = found == EH_NUMBER;
            kind = EH_PROBLEM_PERCENT;
        } else if (column->type == EH_COLUMN_NUMBER) {
            good = found == EH_NUMBER;
            kind = found == EH_NOT_FINITE ? EH_PROBLEM_RANGE : EH_PROBLEM_NUMBER;
        } else if (column->type == EH_COLUMN_BOOLEAN) {
            good = eh_boolean_parse(f->text, f->length, &value) || (found == EH_NUMBER && (value == 0 || value == 1));
            kind = EH_PROBLEM_BOOLEAN;
        } else {
            good = eh_date_parse_form(f->text, f->length, column->form, &value);
            kind = EH_PROBLEM_DATE;
        }
    }
    if (column->number) column->number[i] = value;
    if (good) return ENHOPE_OK;
    *bad = true;
    return note(ctx, t, j, kind);
}

/* Notes a weight that is none. */
static enhope_status check_weight(enhope_context *ctx, eh_table *t, bool *bad)
{
    double value = 0;
    if (!t->schema.weighted) return ENHOPE_OK;
    const int64_t j = t->schema.kept[t->schema.kept_columns - 1];
    const eh_field *f = &t->csv.field[j];
    if (f->text && parse_number(&t->schema, t->csv.delimiter, f, &value) == EH_NUMBER && value >= 0) return ENHOPE_OK;
    *bad = true;
    return note(ctx, t, j, EH_PROBLEM_WEIGHT);
}

/* Stores the label and the texts of the row. */
static enhope_status store_texts(enhope_context *ctx, eh_table *t)
{
    const eh_schema *s = &t->schema;
    if (s->label >= 0) {
        const eh_field *f = &t->csv.field[s->label];
        EH_TRY(eh_labels_add(ctx, &t->labels, f->text ? f->text : "", f->length));
    }
    if (!t->kept) return ENHOPE_OK;
    EH_TRY(eh_kept_row(ctx, t->kept, t->records));
    for (int64_t k = 0; k < s->kept_columns; k++) {
        const eh_field *f = &t->csv.field[s->kept[k]];
        EH_TRY(eh_kept_field(ctx, t->kept, k, f->text ? f->text : "", f->length));
    }
    return ENHOPE_OK;
}

/* True if the model has no value for a missing one of column k, so that its row must be dropped. */
static bool lacks_fill(const eh_table *t, int64_t k)
{
    const eh_encoded *c = t->in->encoding ? &t->in->encoding->column[k] : NULL;
    return c && c->type != EH_COLUMN_CATEGORY && !c->constant && isnan(c->fill) && t->rules.missing != EH_MISSING_DROP;
}

enhope_status eh_table_store(enhope_context *ctx, eh_table *t, bool *used)
{
    const eh_csv *csv = &t->csv;
    const int64_t i = t->frame.n;
    bool bad = false, missing = false;
    *used = false;
    if (csv->damaged || csv->fields != t->schema.columns) {
        t->skipped++;
        return eh_problems_line(ctx, &t->problems, csv);
    }
    for (int64_t j = 0; j < csv->fields; j++) {
        const int64_t k = t->source[j];
        if (k < 0) continue;
        eh_column *column = &t->frame.column[k];
        const eh_field *f = &csv->field[j];
        if (!f->text) { /* JSON */
            bad = true;
            EH_TRY(note(ctx, t, j, EH_PROBLEM_ABSENT));
        } else if (column->type != EH_COLUMN_NUMBER || column->form || t->schema.decimal != '.' ||
                   eh_field_number(f->text, f->length, '.', &column->number[i]) != EH_NUMBER) {
            const bool before = missing;
            missing = false;
            EH_TRY(store_other(ctx, t, j, i, &bad, &missing));
            if (missing && (t->rules.missing == EH_MISSING_ERROR || lacks_fill(t, k))) {
                bad = true;
                EH_TRY(note(ctx, t, j, t->rules.missing == EH_MISSING_ERROR ? EH_PROBLEM_MISSING : EH_PROBLEM_FILL));
            }
            missing = missing || before;
        }
    }
    if (t->schema.label >= 0 && !eh_utf8_valid(csv->field[t->schema.label].text, csv->field[t->schema.label].length)) {
        bad = true;
        EH_TRY(note(ctx, t, t->schema.label, EH_PROBLEM_UTF8));
    }
    EH_TRY(check_weight(ctx, t, &bad));
    t->skipped += bad;
    if (bad) return ENHOPE_OK;
    t->dropped += missing && t->rules.missing == EH_MISSING_DROP;
    if (missing && t->rules.missing == EH_MISSING_DROP) return ENHOPE_OK;
    *used = true;
    return store_texts(ctx, t);
}

/* ---- rows ---- */

/* Reserves the arrays of the frame and forgets the texts of the rows before. */
enhope_status eh_table_begin_rows(enhope_context *ctx, eh_table *t, int64_t rows)
{
    eh_frame *frame = &t->frame;
    const bool grow = rows > t->capacity;
    frame->n = t->labels.n = 0;
    for (int64_t k = 0; k < frame->columns; k++) {
        eh_column *c = &frame->column[k];
        eh_labels_free(&t->text[k]);
        c->text = NULL;
        c->texts = 0;
        if (!grow) continue;
        eh_free(c->number);
        eh_free(c->code);
        c->number = NULL;
        c->code = NULL;
        if (c->type == EH_COLUMN_CATEGORY)
            EH_TRY(eh_new(ctx, "codes of texts", rows, sizeof *c->code, (void **)&c->code));
        else
            EH_TRY(eh_new(ctx, "values of a column", rows, sizeof *c->number, (void **)&c->number));
    }
    if (grow) t->capacity = rows;
    return ENHOPE_OK;
}

static enhope_status check_problems(enhope_context *ctx, const eh_table *t)
{
    if (!eh_problems_any(&t->problems) || t->rules.skip_bad) return ENHOPE_OK;
    return eh_problems_fail(ctx, &t->problems, eh_csv_name(&t->csv));
}

/* True if records can be passed over without a look at their fields. */
static bool can_skip(const eh_table *t)
{
    return !t->rules.skip_bad && t->rules.missing != EH_MISSING_DROP;
}

void eh_table_end_rows(eh_table *t)
{
    for (int64_t k = 0; k < t->frame.columns; k++) {
        t->frame.column[k].text = t->text[k].name;
        t->frame.column[k].texts = t->text[k].c;
    }
}

enhope_status eh_table_next(enhope_context *ctx, eh_table *t, int64_t rows, int64_t stride)
{
    EH_TRY(eh_table_begin_rows(ctx, t, rows));
    while (t->found && t->frame.n < rows) {
        bool used = true;
        const bool wanted = t->rows % stride == 0;
        if (wanted || !can_skip(t)) EH_TRY(eh_table_store(ctx, t, &used));
        t->frame.n += used && wanted;
        t->rows += used;
        t->records++;
        const bool skip = can_skip(t) && t->rows % stride != 0;
        EH_TRY(skip ? eh_csv_skip(ctx, &t->csv, &t->found) : eh_csv_next(ctx, &t->csv, &t->found));
    }
    eh_table_end_rows(t);
    return t->found ? ENHOPE_OK : check_problems(ctx, t);
}

void eh_table_log(enhope_context *ctx, const eh_table *t)
{
    if (t->skipped) eh_problems_warn(ctx, &t->problems, t->skipped, eh_csv_name(&t->csv));
    if (t->dropped)
        eh_log(ctx, ENHOPE_LOG_INFO, "%s: dropped %lld row%s with missing values", eh_csv_name(&t->csv),
               (long long)t->dropped, t->dropped == 1 ? "" : "s");
}

/* ---- opening ---- */

/* A model has determined t->source already. */
static enhope_status open_columns(enhope_context *ctx, eh_table *t)
{
    const eh_schema *s = &t->schema;
    const eh_encoding *encoding = t->in->encoding;
    eh_frame *frame = &t->frame;
    int64_t inputs = 0;
    for (int64_t j = 0; j < s->columns; j++) inputs += s->column[j].role == EH_ROLE_INPUT;
    frame->columns = encoding ? encoding->columns : inputs;
    EH_TRY(eh_new(ctx, "columns", frame->columns, sizeof *frame->column, (void **)&frame->column));
    EH_TRY(eh_new(ctx, "texts of columns", frame->columns, sizeof *t->text, (void **)&t->text));
    frame->named = s->header;
    if (!encoding) {
        EH_TRY(eh_new(ctx, "columns", s->columns, sizeof *t->source, (void **)&t->source));
        int64_t k = 0;
        for (int64_t j = 0; j < s->columns; j++) {
            if (j == s->label) frame->label_place = k + 1;
            t->source[j] = s->column[j].role == EH_ROLE_INPUT ? k++ : -1;
        }
    }
    for (int64_t k = 0; encoding && k < encoding->columns; k++) {
        frame->column[k].type = encoding->column[k].type;
        frame->column[k].form = encoding->column[k].form;
        EH_TRY(eh_new_text(ctx, "a column name", encoding->column[k].name, &frame->column[k].name));
    }
    for (int64_t j = 0; !encoding && j < s->columns; j++) {
        if (t->source[j] < 0) continue;
        eh_column *c = &frame->column[t->source[j]];
        c->type = s->column[j].type;
        c->form = s->column[j].form;
        EH_TRY(eh_new_text(ctx, "a column name", s->column[j].name, &c->name));
    }
    if (s->label < 0 || !s->header) return ENHOPE_OK;
    return eh_new_text(ctx, "the label's name", s->column[s->label].name, &frame->label_name);
}

enhope_status eh_table_open_frame(enhope_context *ctx, eh_table *t)
{
    t->problems.columns = t->schema.columns;
    t->problems.fixed = t->in->encoding != NULL;
    t->problems.schema = &t->schema;
    return open_columns(ctx, t);
}

enhope_status eh_table_rewind(enhope_context *ctx, eh_table *t)
{
    eh_csv_close(&t->csv);
    eh_labels_free(&t->labels);
    eh_problems_free(&t->problems);
    t->records = t->rows = t->skipped = t->dropped = 0;
    EH_TRY(eh_csv_open(ctx, t->in->path, &t->spool, t->rules.delimiter, &t->csv));
    EH_TRY(eh_csv_next(ctx, &t->csv, &t->found));
    t->problems.first_line = t->csv.line;
    return t->schema.header && t->found ? eh_csv_next(ctx, &t->csv, &t->found) : ENHOPE_OK;
}

/* With a model: the columns follow from the first record. */
static enhope_status open_for_model(enhope_context *ctx, eh_table *t)
{
    const eh_input *in = t->in;
    EH_TRY(eh_csv_open(ctx, in->path, NULL, t->rules.delimiter, &t->csv));
    EH_TRY(eh_csv_next(ctx, &t->csv, &t->found));
    if (!t->found) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are only blank lines", eh_csv_name(&t->csv));
    t->problems.first_line = t->csv.line;
    EH_TRY(eh_schema_match(ctx, in, &t->rules, &t->csv, &t->schema, &t->source));
    return t->schema.header ? eh_csv_next(ctx, &t->csv, &t->found) : ENHOPE_OK;
}

enhope_status eh_table_open(enhope_context *ctx, const eh_input *in, eh_table *t)
{
    *t = (eh_table){.in = in, .schema = {.label = EH_LABEL_NONE}};
    EH_TRY(eh_table_rules_parse(ctx, in->table, &t->rules));
    if (in->encoding) {
        EH_TRY(open_for_model(ctx, t));
    } else {
        EH_TRY(eh_spool_fill(ctx, in->path, &t->spool));
        EH_TRY(eh_schema_read(ctx, in, &t->spool, &t->schema));
        EH_TRY(eh_table_rewind(ctx, t));
    }
    return eh_table_open_frame(ctx, t);
}

void eh_table_close(eh_table *t)
{
    for (int64_t k = 0; t->frame.column && k < t->frame.columns; k++) {
        eh_column *c = &t->frame.column[k];
        eh_free(c->name);
        eh_free(c->number);
        eh_free(c->code);
        if (t->text) eh_labels_free(&t->text[k]);
    }
    eh_free(t->frame.column);
    eh_free(t->frame.label_name);
    eh_free(t->text);
    eh_free(t->source);
    eh_labels_free(&t->labels);
    eh_problems_free(&t->problems);
    eh_schema_free(&t->schema);
    eh_csv_close(&t->csv);
    eh_spool_free(&t->spool);
}
