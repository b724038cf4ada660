/* Problems of a table: all of them are found before the reader fails, and reported together,
 * grouped by column, with the option that solves each. */
#include <stdio.h>
#include <string.h>

#include "data/table/table.h"

void eh_problem_note(eh_problem *p, int64_t line, const char *text, size_t length)
{
    if (p->count < EH_EXAMPLES) {
        eh_example *e = &p->first[p->count];
        e->line = line;
        if (length >= sizeof e->text) length = sizeof e->text - 1;
        memcpy(e->text, text, length);
        e->text[length] = '\0';
        for (char *at = e->text; *at; at++)
            if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
        while (length > 0 && !eh_utf8_valid(e->text, length)) { /* a text that was cut, or is not UTF-8 */
            e->text[--length] = '\0';
        }
    }
    p->count++;
}

enhope_status eh_problems_at(enhope_context *ctx, eh_problems *problems, int64_t column, eh_problem_kind kind,
                             eh_problem **out)
{
    if (!problems->item)
        EH_TRY(eh_new(ctx, "problems of a table", problems->columns + 1, EH_PROBLEMS * sizeof *problems->item,
                      (void **)&problems->item));
    *out = &problems->item[column * EH_PROBLEMS + kind];
    return ENHOPE_OK;
}

enhope_status eh_problems_line(enhope_context *ctx, eh_problems *problems, const eh_csv *csv)
{
    eh_problem *p;
    char text[40];
    const eh_problem_kind kind = !csv->damaged ? EH_PROBLEM_FIELDS : csv->json ? EH_PROBLEM_JSON : EH_PROBLEM_QUOTES;
    const int length = kind == EH_PROBLEM_JSON ? snprintf(text, sizeof text, "%s", csv->reason)
                                               : snprintf(text, sizeof text, "%lld field%s", (long long)csv->fields,
                                                          csv->fields == 1 ? "" : "s");
    EH_TRY(eh_problems_at(ctx, problems, problems->columns, kind, &p));
    eh_problem_note(p, csv->line, text, (size_t)length);
    return ENHOPE_OK;
}

enhope_status eh_problems_resize(enhope_context *ctx, eh_problems *problems, int64_t columns)
{
    eh_problem *item = NULL;
    const size_t size = EH_PROBLEMS * sizeof *item;
    if (problems->item) {
        EH_TRY(eh_new(ctx, "problems of a table", columns + 1, size, (void **)&item));
        memcpy(item + columns * EH_PROBLEMS, problems->item, size);
        eh_free(problems->item);
    }
    problems->item = item;
    problems->columns = columns;
    return ENHOPE_OK;
}

bool eh_problems_any(const eh_problems *problems)
{
    return problems->item != NULL;
}

void eh_problems_free(eh_problems *problems)
{
    eh_free(problems->item);
    problems->item = NULL;
}

/* ---- the report ---- */

/* "'abc' in line 3, 'x' in line 9" */
static void put_examples(char *to, size_t size, const eh_problem *p, eh_problem_kind kind)
{
    size_t at = 0;
    *to = '\0';
    for (int64_t i = 0; i < p->count && i < EH_EXAMPLES && at < size; i++) {
        const eh_example *e = &p->first[i];
        const char *between = i == 0 ? "" : ", ";
        if (kind == EH_PROBLEM_FIELDS)
            at += (size_t)snprintf(to + at, size - at, "%sline %lld has %s", between, (long long)e->line, e->text);
        else if (kind == EH_PROBLEM_JSON)
            at += (size_t)snprintf(to + at, size - at, "%sline %lld: %s", between, (long long)e->line, e->text);
        else if (kind == EH_PROBLEM_QUOTES || kind == EH_PROBLEM_MISSING || kind == EH_PROBLEM_FILL ||
                 kind == EH_PROBLEM_ABSENT || kind == EH_PROBLEM_UTF8)
            at += (size_t)snprintf(to + at, size - at, "%sline %lld", between, (long long)e->line);
        else
            at += (size_t)snprintf(to + at, size - at, "%s'%s' in line %lld", between, e->text, (long long)e->line);
    }
    if (p->count > EH_EXAMPLES && at < size) snprintf(to + at, size - at, ", ...");
}

/* A column as an option names it: its name, or its number if the name needs quotes. */
static void put_option(char *to, size_t size, int64_t column, const char *name)
{
    const size_t plain = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") : 0;
    if (name && plain == strlen(name) && plain > 0 && plain <= 40 && strspn(name, "0123456789") < plain)
        snprintf(to, size, "%s", name);
    else
        snprintf(to, size, "%lld", (long long)column + 1);
}

static void put_solution(char *to, size_t size, const eh_problems *problems, eh_problem_kind kind, const char *column)
{
    switch (kind) {
    case EH_PROBLEM_NUMBER:
    case EH_PROBLEM_BOOLEAN:
    case EH_PROBLEM_DATE:
    case EH_PROBLEM_PERCENT:
        if (problems->fixed)
            snprintf(to, size, "use --skip-bad");
        else
            snprintf(to, size, "use --categorical %s, --ignore %s or --skip-bad", column, column);
        break;
    case EH_PROBLEM_RANGE:
        if (problems->fixed)
            snprintf(to, size, "use --skip-bad");
        else
            snprintf(to, size, "use --ignore %s, --skip-bad or another unit", column);
        break;
    case EH_PROBLEM_MISSING: snprintf(to, size, "use --missing impute or --missing drop"); break;
    case EH_PROBLEM_FILL: snprintf(to, size, "use --missing drop or --skip-bad"); break;
    case EH_PROBLEM_UTF8: snprintf(to, size, "convert the file to UTF-8, or use --skip-bad"); break;
    case EH_PROBLEM_WEIGHT: snprintf(to, size, "use a column of weights from 0, or --skip-bad"); break;
    case EH_PROBLEM_ABSENT: snprintf(to, size, "write null for a missing value, or use --skip-bad"); break;
    case EH_PROBLEM_FIELDS:
    case EH_PROBLEM_JSON:
    case EH_PROBLEM_QUOTES: snprintf(to, size, "use --skip-bad"); break;
    case EH_PROBLEMS: break;
    }
}

/* One group, as "column 3 ('width'): 2 values are not numbers ('abc' in line 3, 'x' in line 9)",
 * and "; use ..." if the solution is wanted. */
static void put_group(char *to, size_t size, const eh_problems *problems, int64_t column, eh_problem_kind kind,
                      bool solve)
{
    static const char *const one[] = {[EH_PROBLEM_NUMBER] = "a value is not a number",
                                      [EH_PROBLEM_RANGE] = "a value is infinite or above 1e30",
                                      [EH_PROBLEM_BOOLEAN] = "a value is not true or false",
                                      [EH_PROBLEM_DATE] = "a value is not a date",
                                      [EH_PROBLEM_PERCENT] = "a value is not a percentage such as 47%",
                                      [EH_PROBLEM_MISSING] = "a value is missing",
                                      [EH_PROBLEM_UTF8] = "a text is not UTF-8",
                                      [EH_PROBLEM_WEIGHT] = "a weight is not a number from 0",
                                      [EH_PROBLEM_FILL] =
                                          "a value is missing, and the model has no value to use instead",
                                      [EH_PROBLEM_ABSENT] = "a key is absent",
                                      [EH_PROBLEM_QUOTES] = "text follows a closing quote",
                                      [EH_PROBLEM_JSON] = "a line is not JSON"};
    static const char *const many[] = {[EH_PROBLEM_NUMBER] = "values are not numbers",
                                       [EH_PROBLEM_RANGE] = "values are infinite or above 1e30",
                                       [EH_PROBLEM_BOOLEAN] = "values are not true or false",
                                       [EH_PROBLEM_DATE] = "values are not dates",
                                       [EH_PROBLEM_PERCENT] = "values are not percentages such as 47%",
                                       [EH_PROBLEM_MISSING] = "values are missing",
                                       [EH_PROBLEM_UTF8] = "texts are not UTF-8",
                                       [EH_PROBLEM_WEIGHT] = "weights are not numbers from 0",
                                       [EH_PROBLEM_FILL] =
                                           "values are missing, and the model has no value to use instead",
                                       [EH_PROBLEM_ABSENT] = "keys are absent",
                                       [EH_PROBLEM_QUOTES] = "lines have text after a closing quote",
                                       [EH_PROBLEM_JSON] = "lines are not JSON"};
    const eh_problem *p = &problems->item[column * EH_PROBLEMS + kind];
    const eh_schema *schema = problems->schema;
    const char *name = schema && schema->header && column < problems->columns ? schema->column[column].name : NULL;
    char where[128] = "", what[96], examples[256], option[64], solution[192];
    put_examples(examples, sizeof examples, p, kind);
    put_option(option, sizeof option, column, name);
    put_solution(solution, sizeof solution, problems, kind, option);
    if (column < problems->columns) {
        if (name)
            snprintf(where, sizeof where, "column %lld ('%.60s'): ", (long long)column + 1, name);
        else
            snprintf(where, sizeof where, "column %lld: ", (long long)column + 1);
    }
    if (kind == EH_PROBLEM_FIELDS)
        snprintf(what, sizeof what, "%lld line%s not have %lld field%s as line %lld", (long long)p->count,
                 p->count == 1 ? " does" : "s do", (long long)problems->columns, problems->columns == 1 ? "" : "s",
                 (long long)problems->first_line);
    else if (p->count == 1)
        snprintf(what, sizeof what, "%s", one[kind]);
    else
        snprintf(what, sizeof what, "%lld %s", (long long)p->count, many[kind]);
    snprintf(to, size, "%s%s (%s)%s%s", where, what, examples, solve ? "; " : "", solve ? solution : "");
}

/* Puts one group in the same line, several in lines of their own. Returns the number of groups. */
static int64_t put_groups(char *to, size_t size, const eh_problems *problems, bool solve)
{
    enum { MAX_GROUPS = 20 };
    char group[768];
    int64_t groups = 0, printed = 0;
    size_t at = 0;
    *to = '\0';
    for (int64_t i = 0; i < (problems->columns + 1) * EH_PROBLEMS; i++) groups += problems->item[i].count > 0;
    for (int64_t i = 0; i < (problems->columns + 1) * EH_PROBLEMS; i++) {
        if (problems->item[i].count == 0) continue;
        put_group(group, sizeof group, problems, i / EH_PROBLEMS, (eh_problem_kind)(i % EH_PROBLEMS), solve);
        if (printed == MAX_GROUPS || at + strlen(group) + 48 > size) break;
        at += (size_t)snprintf(to + at, size - at, "%s%s", groups == 1 ? " " : "\n  ", group);
        printed++;
    }
    if (printed < groups) snprintf(to + at, size - at, "\n  and %lld more", (long long)(groups - printed));
    return groups;
}

enhope_status eh_problems_fail(enhope_context *ctx, const eh_problems *problems, const char *where)
{
    char text[sizeof ctx->error - 256];
    const int64_t groups = put_groups(text, sizeof text, problems, true);
    if (groups == 1) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%s", where, text);
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: %lld problems:%s", where, (long long)groups, text);
}

void eh_problems_warn(enhope_context *ctx, const eh_problems *problems, int64_t rows, const char *where)
{
    char text[sizeof ctx->error - 256];
    put_groups(text, sizeof text, problems, false);
    eh_log(ctx, ENHOPE_LOG_WARNING, "%s: skipped %lld row%s that cannot be read:%s", where, (long long)rows,
           rows == 1 ? "" : "s", text);
}
