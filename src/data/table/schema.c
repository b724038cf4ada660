/* The schema of a table: header, names, types and use of all columns, from a pass over the file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table/table.h"

void eh_schema_free(eh_schema *schema)
{
    for (int64_t j = 0; schema->column && j < schema->columns; j++) eh_free(schema->column[j].name);
    eh_free(schema->column);
    eh_free(schema->kept);
    *schema = (eh_schema){.label = EH_LABEL_NONE, .id = -1};
}

/* ---- types ---- */

/* The reason why the numbers of the column are ids; NULL: they are none. */
static const char *id_reason(const eh_scan *s, int64_t j, bool header)
{
    const eh_column_scan *c = &s->column[j];
    const bool unique = c->counted && c->distinct.count == c->distinct.seen;
    if (!c->integers) return NULL;
    return eh_id_reason(header ? s->first[j] : NULL, j == 0, c->numbers, c->counter && !c->missing, unique);
}

/* Mostly numbers, with a few other texts. */
static bool is_mixed(const eh_column_scan *c, int64_t values)
{
    enum { FEW = 3 };
    const int64_t others = values - c->numbers;
    return c->numbers > 0 && (10 * others <= values || (others <= FEW && others <= c->numbers));
}

/* The form of a column whose values are all texts of it; numbers below 1,000 have no separator. A
 * date that begins with the day and one that begins with the month differ in the first number above
 * 12; without one, the form is not known. */
static eh_form find_form(const eh_column_scan *c, int64_t values)
{
    const bool day = c->form[EH_FORM_DAY_FIRST].count == values, month = c->form[EH_FORM_MONTH_FIRST].count == values;
    const int64_t thousands = c->form[EH_FORM_THOUSANDS].count;
    if (c->form[EH_FORM_PERCENT].count == values) return EH_FORM_PERCENT;
    if (thousands > 0 && c->numbers + thousands == values) return EH_FORM_THOUSANDS;
    return day == month ? EH_FORM_PLAIN : day ? EH_FORM_DAY_FIRST : EH_FORM_MONTH_FIRST;
}

static void set_type(const eh_scan *s, int64_t j, bool header, eh_column_schema *out)
{
    const eh_column_scan *c = &s->column[j];
    const int64_t values = eh_column_scan_values(c);
    const bool numeric = eh_column_list_has(&s->choice.numeric, j);
    const char *reason = c->numbers == values && !numeric ? id_reason(s, j, header) : NULL;
    out->type = EH_COLUMN_CATEGORY;
    if (values == 0) {
        out->type = EH_COLUMN_EMPTY;
    } else if (eh_column_list_has(&s->choice.categorical, j)) {
        return;
    } else if ((out->form = find_form(c, values))) {
        out->type = out->form >= EH_FORM_PERCENT ? EH_COLUMN_NUMBER : EH_COLUMN_DATE;
    } else if (reason) {
        out->type = EH_COLUMN_ID;
        snprintf(out->reason, sizeof out->reason, "%s", reason);
    } else if (numeric || c->numbers + c->infinite.count == values || is_mixed(c, values)) {
        out->type = EH_COLUMN_NUMBER;
    } else if (c->booleans == values) {
        out->type = EH_COLUMN_BOOLEAN;
    } else if (c->dates == values) {
        out->type = EH_COLUMN_DATE;
    } else if (eh_id_texts(header ? s->first[j] : NULL, c->distinct.seen, c->distinct.count)) {
        out->type = EH_COLUMN_ID;
        snprintf(out->reason, sizeof out->reason, "unique texts");
    }
}

static void describe_column(const eh_scan *s, int64_t j, bool header, eh_column_schema *out)
{
    const eh_column_scan *c = &s->column[j];
    set_type(s, j, header, out);
    out->values = eh_column_scan_values(c);
    out->missing = c->missing;
    out->distinct = c->counted ? c->distinct.count : 0;
    out->minimum = out->maximum = NAN;
    out->integers = c->integers;
    if (out->form) {
        out->minimum = c->form[out->form].minimum;
        out->maximum = c->form[out->form].maximum;
        if (out->form == EH_FORM_THOUSANDS && c->numbers > 0) {
            out->minimum = fmin(out->minimum, c->minimum);
            out->maximum = fmax(out->maximum, c->maximum);
        }
    } else if (out->type == EH_COLUMN_NUMBER || (out->type == EH_COLUMN_ID && c->numbers > 0)) {
        out->minimum = c->minimum;
        out->maximum = c->maximum;
    } else if (out->type == EH_COLUMN_DATE) {
        out->minimum = c->first_date;
        out->maximum = c->last_date;
    }
}

/* ---- roles ---- */

static void set_role(eh_column_schema *c, eh_column_role role, const char *reason)
{
    c->role = role;
    if (reason) snprintf(c->reason, sizeof c->reason, "%s", reason);
}

/* Roles of all columns but the label. */
static void set_roles(const eh_scan *s, eh_schema *schema)
{
    for (int64_t j = 0; j < schema->columns; j++) {
        eh_column_schema *c = &schema->column[j];
        if (eh_column_list_has(&s->choice.ignore, j))
            set_role(c, EH_ROLE_IGNORED,
                     eh_column_list_has(&s->choice.weight, j) ? "given by --weight" : "given by --ignore");
        else if (c->type == EH_COLUMN_EMPTY)
            set_role(c, EH_ROLE_IGNORED, "no values");
        else if (c->type == EH_COLUMN_ID)
            set_role(c, EH_ROLE_IGNORED, NULL);
        if (eh_column_list_has(&s->choice.id, j)) set_role(c, EH_ROLE_ID, "given by --id");
    }
    schema->id = s->choice.id.count ? s->choice.id.at[0] : -1;
}

/* If the only inputs would be columns that look like ids, they are inputs. */
static void keep_inputs(eh_schema *schema)
{
    for (int64_t j = 0; j < schema->columns; j++)
        if (schema->column[j].role == EH_ROLE_INPUT) return;
    for (int64_t j = 0; j < schema->columns; j++) {
        eh_column_schema *c = &schema->column[j];
        if (c->role != EH_ROLE_IGNORED || c->type != EH_COLUMN_ID || isnan(c->minimum)) continue;
        c->type = EH_COLUMN_NUMBER;
        set_role(c, EH_ROLE_INPUT, "");
    }
}

static enhope_status check_inputs(enhope_context *ctx, const eh_schema *schema, const char *where)
{
    for (int64_t j = 0; j < schema->columns; j++)
        if (schema->column[j].role == EH_ROLE_INPUT) return ENHOPE_OK;
    if (schema->columns == 1)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: there is one column, %s: there are no inputs; if another character than comma, semicolon "
                       "or tab separates the fields, use --delimiter CHAR",
                       where, schema->label == 0 ? "the label" : "not used");
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "%s: there are no inputs: all columns are labels, ids, empty or ignored; enhope data prints the "
                   "columns",
                   where);
}

enhope_status eh_schema_list_kept(enhope_context *ctx, const eh_choice *choice, eh_schema *schema)
{
    const eh_column_list *lists[] = {&choice->id, &choice->keep};
    EH_TRY(eh_new(ctx, "kept columns", choice->id.count + choice->keep.count + choice->weight.count,
                  sizeof *schema->kept, (void **)&schema->kept));
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < lists[i]->count; k++)
            if (i == 0 || !eh_column_list_has(lists[0], lists[i]->at[k]))
                schema->kept[schema->kept_columns++] = lists[i]->at[k];
    schema->weighted = choice->weight.count > 0;
    if (schema->weighted) schema->kept[schema->kept_columns++] = choice->weight.at[0];
    return ENHOPE_OK;
}

/* Warns of columns that are not used, unless the user has said so. */
static void warn_unused(enhope_context *ctx, const eh_schema *schema, const char *where)
{
    eh_name_list list = {.count = 0};
    bool numbers = false, texts = false;
    for (int64_t j = 0; j < schema->columns; j++) {
        const eh_column_schema *c = &schema->column[j];
        if (c->role != EH_ROLE_IGNORED || (c->type != EH_COLUMN_EMPTY && c->type != EH_COLUMN_ID)) continue;
        if (strncmp(c->reason, "given", 5) == 0) continue;
        eh_name_list_add_with(&list, c->name, c->reason);
        numbers = numbers || (c->type == EH_COLUMN_ID && !isnan(c->minimum));
        texts = texts || (c->type == EH_COLUMN_ID && isnan(c->minimum));
    }
    if (list.count)
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: not used: %s%s%s%s%s", where, eh_name_list_end(&list),
               numbers || texts ? "; to use a column, name it in " : "", numbers ? "--numeric" : "",
               numbers && texts ? " or " : "", texts ? "--categorical" : "");
}

/* True if column j is text because of its values alone. */
static bool is_text_by_values(const eh_scan *s, const eh_schema *schema, int64_t j)
{
    const eh_column_schema *c = &schema->column[j];
    return (c->type == EH_COLUMN_CATEGORY || c->type == EH_COLUMN_ID) && c->role != EH_ROLE_LABEL &&
           strncmp(c->reason, "given", 5) != 0 && !eh_column_list_has(&s->choice.categorical, j);
}

/* Warns of columns of texts that may be meant as dates, which begin with the day or the month, or
 * as numbers. */
static void warn_ambiguous(enhope_context *ctx, const eh_scan *s, const eh_schema *schema, const char *where)
{
    eh_name_list dates = {.count = 0}, numbers = {.count = 0};
    for (int64_t j = 0; j < schema->columns; j++) {
        const eh_column_schema *c = &schema->column[j];
        const eh_column_scan *scan = &s->column[j];
        if (!is_text_by_values(s, schema, j)) continue;
        if (scan->form[EH_FORM_DAY_FIRST].count == c->values && scan->form[EH_FORM_MONTH_FIRST].count == c->values)
            eh_name_list_add(&dates, c->name);
        else if (scan->written > 0 && 10 * (scan->numbers + scan->written) >= 9 * c->values)
            eh_name_list_add(&numbers, c->name);
    }
    if (dates.count)
        eh_log(ctx, ENHOPE_LOG_WARNING,
               "%s: texts, because their dates may begin with the day or the month: %s; write dates as 2020-12-31",
               where, eh_name_list_end(&dates));
    if (numbers.count)
        eh_log(ctx, ENHOPE_LOG_WARNING,
               "%s: texts, because their numbers have thousands separators, currency signs or another decimal point: "
               "%s; write numbers as 1234.5%s",
               where, eh_name_list_end(&numbers),
               s->decimal == '.' && s->csv.delimiter != ',' ? ", or use --decimal ," : "");
}

/* ---- problems ---- */

/* Moves the fields of numeric columns that are no numbers to the problems. */
static enhope_status find_problems(enhope_context *ctx, const eh_scan *s, const eh_schema *schema,
                                   eh_problems *problems)
{
    for (int64_t j = 0; j < schema->columns; j++) {
        const eh_column_scan *c = &s->column[j];
        const eh_column_schema *column = &schema->column[j];
        eh_problem *p;
        if (column->role != EH_ROLE_INPUT) continue;
        if (column->type == EH_COLUMN_NUMBER && c->infinite.count) {
            EH_TRY(eh_problems_at(ctx, problems, j, EH_PROBLEM_RANGE, &p));
            *p = c->infinite;
        }
        if (column->type == EH_COLUMN_NUMBER && !column->form && c->other.count) {
            EH_TRY(eh_problems_at(ctx, problems, j, EH_PROBLEM_NUMBER, &p));
            *p = c->other;
        }
        if (s->rules.missing == EH_MISSING_ERROR && c->missing) {
            EH_TRY(eh_problems_at(ctx, problems, j, EH_PROBLEM_MISSING, &p));
            *p = c->empty;
        }
    }
    return ENHOPE_OK;
}

static enhope_status report_problems(enhope_context *ctx, eh_scan *s, const eh_schema *schema, const char *where)
{
    EH_TRY(find_problems(ctx, s, schema, &s->problems));
    if (!eh_problems_any(&s->problems) || s->rules.skip_bad) return ENHOPE_OK;
    s->problems.schema = schema;
    return eh_problems_fail(ctx, &s->problems, where);
}

/* ---- the schema ---- */

/* With a delimiter other than the comma, numbers with only decimal commas are numbers. */
static void decide_decimal(enhope_context *ctx, eh_scan *s, const char *where)
{
    if (s->decimal) return;
    s->decimal = s->commas > 0 && s->points == 0 ? ',' : '.';
    if (s->decimal == ',' && s->grouped == s->commas)
        eh_log(ctx, ENHOPE_LOG_WARNING,
               "%s: 1,234 is read as 1.234; if the commas separate thousands, remove them, or use --decimal , if they "
               "do not",
               where);
    else if (s->decimal == ',')
        eh_log(ctx, ENHOPE_LOG_INFO,
               "%s: numbers have a decimal comma; use --decimal . if the comma is no decimal point", where);
    for (int64_t j = 0; j < s->columns; j++) {
        eh_column_scan *c = &s->column[j];
        if (s->decimal == ',') {
            c->numbers += c->commas;
            c->other.count -= c->commas;
        } else {
            c->texts += c->commas;
            c->written += c->commas;
        }
        c->commas = 0;
    }
}

/* why: a text for the log if the header was detected. */
static enhope_status decide_header(enhope_context *ctx, eh_scan *s, eh_schema *schema, char *why, size_t size)
{
    char reason[96] = "";
    const bool detected = eh_header_detect(s, reason, sizeof reason);
    schema->header = s->rules.header >= 0 ? s->rules.header == 1 : detected;
    if (s->rules.header < 0 && s->rows > 0 && !s->choice.named) {
        if (schema->header)
            snprintf(why, size, "header: line %lld (%s)", (long long)s->first_line, reason);
        else
            snprintf(why, size, "no header");
    }
    return schema->header ? ENHOPE_OK : eh_scan_add_first(ctx, s);
}

/* Logs what was decided about the header and the label column. */
static void log_decisions(enhope_context *ctx, const eh_scan *s, const eh_schema *schema, const char *header)
{
    char label[256] = "";
    const int64_t j = schema->label;
    if (j >= 0 && (s->choice.label == EH_LABEL_UNKNOWN || (schema->header && !s->choice.label_named))) {
        if (schema->header)
            snprintf(label, sizeof label, "label: column %lld ('%.60s', %s)", (long long)j + 1, schema->column[j].name,
                     schema->column[j].reason);
        else
            snprintf(label, sizeof label, "label: column %lld (%s)", (long long)j + 1, schema->column[j].reason);
    }
    if (*header || *label)
        eh_log(ctx, ENHOPE_LOG_INFO, "%s: %s%s%s", eh_csv_name(&s->csv), header, *header && *label ? "; " : "", label);
}

static enhope_status name_columns(enhope_context *ctx, const eh_scan *s, const char *where, eh_schema *schema)
{
    char **name = NULL;
    schema->columns = s->columns;
    EH_TRY(eh_new(ctx, "columns", s->columns, sizeof *schema->column, (void **)&schema->column));
    EH_TRY(eh_header_names(ctx, where, s->first, s->columns, schema->header, &name));
    for (int64_t j = 0; j < s->columns; j++) schema->column[j].name = name[j];
    eh_free(name);
    return ENHOPE_OK;
}

static enhope_status fill_schema(enhope_context *ctx, eh_scan *s, eh_schema *schema)
{
    const char *where = eh_csv_name(&s->csv);
    char why[64] = "", header[160] = "";
    decide_decimal(ctx, s, where);
    EH_TRY(decide_header(ctx, s, schema, header, sizeof header));
    schema->decimal = s->decimal;
    schema->rows = s->rows;
    EH_TRY(name_columns(ctx, s, where, schema));
    if (s->rows == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", where);
    for (int64_t j = 0; j < s->columns; j++) describe_column(s, j, schema->header, &schema->column[j]);
    set_roles(s, schema);
    EH_TRY(eh_label_column_find(ctx, s, where, schema, why, sizeof why));
    if (schema->label >= 0) set_role(&schema->column[schema->label], EH_ROLE_LABEL, why);
    log_decisions(ctx, s, schema, header);
    keep_inputs(schema);
    EH_TRY(check_inputs(ctx, schema, where));
    warn_unused(ctx, schema, where);
    warn_ambiguous(ctx, s, schema, where);
    EH_TRY(eh_schema_list_kept(ctx, &s->choice, schema));
    return report_problems(ctx, s, schema, where);
}

enhope_status eh_schema_read(enhope_context *ctx, const eh_input *in, const eh_spool *spool, eh_schema *schema)
{
    eh_scan s;
    *schema = (eh_schema){.label = EH_LABEL_NONE, .id = -1};
    enhope_status status = eh_scan_read(ctx, in, spool, &s);
    if (!status) status = fill_schema(ctx, &s, schema);
    eh_scan_free(&s);
    if (status) eh_schema_free(schema);
    return status;
}
