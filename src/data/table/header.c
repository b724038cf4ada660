/* Decides whether the first record of a table is a header.
 *
 * A header is unlike the columns below it. The clearest sign is a text above numbers. A table of
 * texts, or a header of numbers (0,1,2,3,species), has weaker signs: a field that occurs in no
 * other line although the other texts of its column repeat, and integers that count the columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

/* The kind of a field of the first record. */
typedef enum kind { MISSING, NUMBER, TYPED, TEXT } kind;

static kind kind_of(const eh_scan *s, const char *text)
{
    double value;
    const size_t length = strlen(text);
    if (eh_field_missing(text, length)) return MISSING;
    if (eh_field_number(text, length, s->decimal, &value) != EH_NOT_NUMBER) return NUMBER;
    if (eh_boolean_parse(text, length, &value) || eh_field_formed_number(text, length, s->decimal) ||
        eh_date_parse_form(text, length, EH_FORM_DAY_FIRST, &value) ||
        eh_date_parse_form(text, length, EH_FORM_MONTH_FIRST, &value))
        return TYPED;
    return TEXT;
}

/* True if the column is of numbers, booleans or dates, but for a few fields. One boolean alone may
 * be any text: y, n, t, f. */
static bool is_typed(const eh_column_scan *c)
{
    const int64_t values = eh_column_scan_values(c), typed = values - c->texts + eh_column_scan_formed(c);
    return values > 0 && 10 * typed >= 9 * values && (c->booleans < typed || c->distinct.count > 1);
}

static bool is_of_numbers(const eh_column_scan *c)
{
    return is_typed(c) && c->booleans == 0 && c->dates == 0 && eh_column_scan_formed(c) == 0;
}

/* True if most texts of the column occur more than once. */
static bool repeats(const eh_column_scan *c)
{
    return c->distinct.seen >= 3 && 2 * c->distinct.count <= c->distinct.seen;
}

static bool occurs(const eh_column_scan *c, const char *text)
{
    return eh_distinct_has(&c->distinct, text, strlen(text));
}

/* Signs of a header, and signs of data. */
typedef struct signs {
    int64_t typed;       /* texts above typed columns */
    int64_t against;     /* texts that occur below, numbers that no name would be */
    int64_t numbers;     /* numbers above numbers */
    int64_t consecutive; /* of these, those that are their predecessor plus 1 */
    double start;        /* the first of them */
    int64_t fractions;   /* columns of numbers with fractions below integers */
    int64_t texts;       /* texts above texts */
    int64_t unique;      /* of these, those that occur in no other line although others repeat */
    int64_t example;     /* a column with a sign of a header */
    int usual;           /* a usual name of label columns that occurs in no other line */
} signs;

static void count_number(const eh_scan *s, int64_t j, signs *g, double *previous)
{
    double value = 0;
    const eh_column_scan *c = &s->column[j];
    eh_field_number(s->first[j], strlen(s->first[j]), s->decimal, &value);
    if (!is_of_numbers(c)) return;
    const bool integer = value == floor(value);
    g->numbers++;
    g->against += !integer;
    g->fractions += integer && !c->integers;
    g->consecutive += g->numbers == 1 ? integer : value == *previous + 1;
    if (g->numbers == 1) g->start = value;
    *previous = value;
}

static signs find_signs(const eh_scan *s)
{
    signs g = {.example = -1, .usual = -1};
    double previous = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        const char *text = s->first[j];
        const eh_column_scan *c = &s->column[j];
        const kind k = kind_of(s, text);
        const int usual = eh_label_name_rank(text);
        if (usual >= 0 && usual < EH_PLAIN_LABEL_NAMES && !occurs(c, text)) g.usual = (int)j;
        if (k == NUMBER) count_number(s, j, &g, &previous);
        if (k != TEXT) continue;
        if (is_typed(c)) {
            g.typed++;
            if (g.example < 0) g.example = j;
        } else if (eh_column_scan_values(c) > 0) {
            g.texts++;
            if (occurs(c, text)) {
                g.against++;
            } else if (repeats(c)) {
                g.unique++;
                if (g.example < 0 || g.typed == 0) g.example = j;
            }
        }
    }
    return g;
}

/* The only record is a header if it has no number. */
static bool detect_alone(const eh_scan *s)
{
    bool any = false;
    for (int64_t j = 0; j < s->columns; j++) {
        const kind k = kind_of(s, s->first[j]);
        if (k == NUMBER || k == TYPED) return false;
        any = any || k == TEXT;
    }
    return any && s->columns > 1;
}

/* Integers that count the columns, from 0 or 1, or from another number if there are more. */
static bool counts_columns(const signs *g)
{
    return g->numbers >= 2 && g->consecutive == g->numbers && (g->start == 0 || g->start == 1 || g->numbers >= 4);
}

bool eh_header_detect(const eh_scan *s, char *why, size_t size)
{
    enum { MANY = 8 }; /* a row of data that counts to 8 is unlikely */
    const signs g = find_signs(s);
    const char *text = g.example >= 0 ? s->first[g.example] : "";
    if (s->rows == 0) {
        snprintf(why, size, "the only line");
        return detect_alone(s);
    }
    if (s->choice.named) {
        snprintf(why, size, "it has the columns that options name");
        return true;
    }
    if (g.typed > 0) {
        snprintf(why, size, "'%.40s' is above a column of %s", text,
                 is_of_numbers(&s->column[g.example]) ? "numbers" : "other values");
        return g.typed > g.against;
    }
    if (g.usual >= 0) {
        snprintf(why, size, "'%.40s' is the usual name of a label column", s->first[g.usual]);
        return true;
    }
    if (g.against > 0) return false;
    if (g.unique > 0) {
        snprintf(why, size, "its '%.40s' occurs in no other line", text);
        return g.numbers == 0 || counts_columns(&g) || g.fractions == g.numbers;
    }
    snprintf(why, size, "its fields count the columns");
    return g.texts == 0 && counts_columns(&g) && (g.fractions > 0 || g.numbers >= MANY);
}

/* ---- names ---- */

/* A copy of the name of column j; a name that occurs before gets a suffix, and a warning. */
static enhope_status unique_name(enhope_context *ctx, const char *where, const char *text, int64_t j,
                                 eh_distinct *taken, char **out)
{
    const size_t size = strlen(text) + 32;
    char *name = NULL;
    EH_TRY(eh_new(ctx, "a column name", (int64_t)size, 1, (void **)&name));
    *out = name;
    if (*text)
        snprintf(name, size, "%s", text);
    else
        snprintf(name, size, "column %lld", (long long)j + 1);
    if (eh_distinct_has(taken, name, strlen(name))) {
        for (int64_t k = 2; eh_distinct_has(taken, name, strlen(name)); k++)
            snprintf(name, size, "%s.%lld", text, (long long)k);
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: two columns have the name '%.60s'; column %lld is called '%.70s'", where,
               text, (long long)j + 1, name);
    }
    return eh_distinct_add(ctx, taken, name, strlen(name));
}

enhope_status eh_header_names(enhope_context *ctx, const char *where, char *const *first, int64_t columns, bool header,
                              char ***out)
{
    enhope_status status = ENHOPE_OK;
    char **name = NULL;
    eh_distinct taken = {.slots = 0};
    EH_TRY(eh_new(ctx, "column names", columns, sizeof *name, (void **)&name));
    for (int64_t j = 0; j < columns; j++) {
        const char *text = header ? first[j] : "";
        if (!eh_utf8_valid(text, strlen(text)))
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: the name of column %lld is not UTF-8 text: convert the file",
                             where, (long long)j + 1));
        EH_CHECK(unique_name(ctx, where, text, j, &taken, &name[j]));
    }
    *out = name;
    name = NULL;
cleanup:
    eh_free(taken.slot);
    eh_names_free(name, columns);
    return status;
}
