/* The schema of a table for a model: nothing is guessed. The columns are those of the model's
 * encoding, by name if the table has a header, otherwise by their number and order. */
#include <stdio.h>
#include <string.h>

#include "data/table/table.h"

/* The first record and what the model knows. */
typedef struct matching {
    const eh_input *in;
    const eh_encoding *encoding;
    const char *where;
    char decimal;
    char **first; /* (columns) */
    int64_t columns;
    eh_choice choice;
    eh_schema *schema;
    int64_t *source;
} matching;

/* ---- the header ---- */

static int64_t find_encoded(const eh_encoding *encoding, const char *name)
{
    for (int64_t k = 0; k < encoding->columns; k++)
        if (strcmp(encoding->column[k].name, name) == 0) return k;
    return -1;
}

/* True for numbers, also with a percent sign or thousands, and for missing values. */
static bool is_number(const matching *m, const char *text)
{
    double value;
    const size_t length = strlen(text);
    const char decimal = m->decimal ? m->decimal : strchr(text, ',') ? ',' : '.';
    return eh_field_missing(text, length) || eh_field_number(text, length, decimal, &value) != EH_NOT_NUMBER ||
           eh_field_formed_number(text, length, decimal);
}

/* True if the first record has the names of the model's columns, or has texts but no value of the
 * model's numbers. */
static bool detect_header(const matching *m)
{
    int64_t names = 0, words = 0, numbers = 0, texts = 0, needed = 0;
    for (int64_t k = 0; k < m->encoding->columns; k++) needed += m->encoding->column[k].type == EH_COLUMN_NUMBER;
    for (int64_t j = 0; j < m->columns; j++) {
        const bool number = is_number(m, m->first[j]);
        const bool name = m->encoding->named && (find_encoded(m->encoding, m->first[j]) >= 0 ||
                                                 (m->encoding->label && !strcmp(m->encoding->label, m->first[j])));
        names += name;
        words += name && !number;
        numbers += number;
        texts += !number;
    }
    return words > 0 || (names > 0 && names >= m->encoding->columns) || (numbers < needed && texts > 0 && numbers == 0);
}

/* ---- columns by name ---- */

/* The label of a model that does not know its label column: a column with a usual name, or the only
 * one that is no input. */
static int64_t guess_label(const matching *m)
{
    int64_t found = -1, others = 0, usual = -1;
    for (int64_t j = 0; j < m->columns; j++) {
        if (m->source[j] >= 0 || m->schema->column[j].role != EH_ROLE_IGNORED) continue;
        if (eh_column_list_has(&m->choice.ignore, j)) continue;
        if (eh_label_name_rank(m->first[j]) >= 0) usual = j;
        found = j;
        others++;
    }
    return usual >= 0 ? usual : others == 1 ? found : EH_LABEL_NONE;
}

static enhope_status check_names(enhope_context *ctx, const matching *m, const bool *there)
{
    eh_name_list missing = {.count = 0}, extra = {.count = 0};
    for (int64_t k = 0; k < m->encoding->columns; k++)
        if (!there[k] && m->encoding->column[k].inputs > 0) eh_name_list_add(&missing, m->encoding->column[k].name);
    for (int64_t j = 0; j < m->columns; j++)
        if (m->schema->column[j].role == EH_ROLE_IGNORED && !eh_column_list_has(&m->choice.ignore, j) &&
            !eh_column_list_has(&m->choice.keep, j))
            eh_name_list_add(&extra, m->schema->column[j].name);
    if (missing.count == 0) {
        if (extra.count)
            eh_log(ctx, ENHOPE_LOG_INFO, "%s: columns that the model does not use: %s", m->where,
                   eh_name_list_end(&extra));
        return ENHOPE_OK;
    }
    const char *lacking = eh_name_list_end(&missing);
    if (extra.count == 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: columns of the training data are missing: %s", m->where, lacking);
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: columns of the training data are missing: %s; the data has others: %s",
                   m->where, lacking, eh_name_list_end(&extra));
}

static enhope_status match_names(enhope_context *ctx, matching *m)
{
    eh_schema *s = m->schema;
    bool *there = NULL;
    EH_TRY(eh_new(ctx, "columns", m->encoding->columns, sizeof *there, (void **)&there));
    for (int64_t j = 0; j < m->columns; j++) {
        const int64_t k = find_encoded(m->encoding, s->column[j].name);
        if (k < 0 || j == s->label || eh_column_list_has(&m->choice.ignore, j)) continue;
        m->source[j] = k;
        there[k] = true;
        s->column[j].role = EH_ROLE_INPUT;
        s->column[j].type = m->encoding->column[k].type;
        s->column[j].form = m->encoding->column[k].form;
    }
    if (s->label == EH_LABEL_UNKNOWN) {
        for (int64_t j = 0; j < m->columns && m->encoding->label; j++)
            if (strcmp(s->column[j].name, m->encoding->label) == 0 && m->source[j] < 0) s->label = j;
        if (s->label == EH_LABEL_UNKNOWN) s->label = m->encoding->label ? EH_LABEL_NONE : guess_label(m);
    }
    if (s->label >= 0) s->column[s->label].role = EH_ROLE_LABEL;
    const enhope_status status = check_names(ctx, m, there);
    eh_free(there);
    return status;
}

/* ---- columns by position ---- */

static enhope_status fail_columns(enhope_context *ctx, const matching *m, int64_t rest)
{
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "%s: %lld columns%s: the model has %lld input column%s, and the table may have a label besides; use "
                   "--ignore or --id for other columns%s",
                   m->where, (long long)rest, m->schema->header ? "" : " without a header",
                   (long long)m->encoding->columns, m->encoding->columns == 1 ? "" : "s",
                   m->encoding->named && !m->schema->header ? ", or a table with the names of the columns" : "");
}

static enhope_status match_positions(enhope_context *ctx, matching *m)
{
    eh_schema *s = m->schema;
    const int64_t inputs = m->encoding->columns;
    int64_t rest = 0, k = 0;
    for (int64_t j = 0; j < m->columns; j++)
        rest += j != s->label && !eh_column_list_has(&m->choice.ignore, j) && !eh_column_list_has(&m->choice.id, j);
    const bool unknown = s->label == EH_LABEL_UNKNOWN;
    if (rest != inputs + (unknown && rest == inputs + 1)) return fail_columns(ctx, m, rest);
    const int64_t place = m->encoding->label_place, before = rest == inputs ? -1 : place > 0 ? place - 1 : inputs;
    if (unknown) s->label = EH_LABEL_NONE;
    for (int64_t j = 0; j < m->columns; j++) {
        if (j == s->label || eh_column_list_has(&m->choice.ignore, j) || eh_column_list_has(&m->choice.id, j)) continue;
        if (k == before && s->label == EH_LABEL_NONE) {
            s->label = j;
            snprintf(s->column[j].reason, sizeof s->column[j].reason, EH_BY_POSITION);
            continue;
        }
        m->source[j] = k;
        s->column[j].role = EH_ROLE_INPUT;
        s->column[j].type = m->encoding->column[k].type;
        s->column[j].form = m->encoding->column[k++].form;
    }
    if (s->label >= 0) s->column[s->label].role = EH_ROLE_LABEL;
    return ENHOPE_OK;
}

/* ---- the schema ---- */

static enhope_status copy_first(enhope_context *ctx, const eh_csv *csv, matching *m)
{
    m->columns = csv->fields;
    EH_TRY(eh_new(ctx, "the first line", m->columns, sizeof *m->first, (void **)&m->first));
    for (int64_t j = 0; j < m->columns; j++) {
        const eh_field *f = &csv->field[j];
        EH_TRY(eh_new(ctx, "the first line", (int64_t)f->length + 1, 1, (void **)&m->first[j]));
        memcpy(m->first[j], f->text, f->length);
    }
    return ENHOPE_OK;
}

static enhope_status fill(enhope_context *ctx, matching *m, int header)
{
    eh_schema *s = m->schema;
    char **name = NULL;
    s->header = header >= 0 ? header == 1 : detect_header(m);
    s->decimal = m->decimal;
    EH_TRY(eh_choice_parse(ctx, m->in, m->where, s->header ? m->first : NULL, m->columns, &m->choice));
    EH_TRY(eh_new(ctx, "columns", m->columns, sizeof *s->column, (void **)&s->column));
    EH_TRY(eh_new(ctx, "columns", m->columns, sizeof *m->source, (void **)&m->source));
    s->columns = m->columns;
    EH_TRY(eh_header_names(ctx, m->where, m->first, m->columns, s->header, &name));
    for (int64_t j = 0; j < m->columns; j++) {
        s->column[j].name = name[j];
        s->column[j].role = eh_column_list_has(&m->choice.id, j) ? EH_ROLE_ID : EH_ROLE_IGNORED;
        m->source[j] = -1;
    }
    eh_free(name);
    s->label = m->choice.label;
    EH_TRY(s->header && m->encoding->named ? match_names(ctx, m) : match_positions(ctx, m));
    return eh_schema_list_kept(ctx, &m->choice, s);
}

enhope_status eh_schema_match(enhope_context *ctx, const eh_input *in, const eh_table_rules *rules, const eh_csv *csv,
                              eh_schema *schema, int64_t **source)
{
    matching m = {.in = in, .encoding = in->encoding, .where = eh_csv_name(csv), .schema = schema};
    m.decimal = rules->decimal ? rules->decimal : csv->delimiter == ',' ? '.' : '\0';
    *schema = (eh_schema){.label = EH_LABEL_NONE, .id = -1};
    enhope_status status = copy_first(ctx, csv, &m);
    if (!status) status = fill(ctx, &m, rules->header);
    if (status)
        eh_free(m.source);
    else
        *source = m.source;
    eh_names_free(m.first, m.columns);
    eh_choice_free(&m.choice);
    return status;
}
