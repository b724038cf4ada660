/* Short texts: splits, descriptions of synthetic data, lists of columns, numbers,
 * dates and UTF-8.
 *
 * Input: a byte with the kind of text; the text. */
#include <math.h>

#include "base/json.h"
#include "data/data.h"
#include "data/frame/frame.h"
#include "data/table/table.h"
#include "fuzz.h"

static void check_split(const char *text)
{
    enum { N = 13 };
    static const int32_t label[N] = {0, 1, 2, 0, 1, 2, 0, -1, 1, 0, -1, 2, 0};
    bool seen[N] = {false};
    int64_t *rows[2] = {NULL}, count[2] = {0};
    if (!fuzz_good(eh_split_rows(fuzz_ctx, text, "train", label, 3, N, &rows[0], &count[0]))) return;
    const bool both = fuzz_good(eh_split_rows(fuzz_ctx, text, "test", label, 3, N, &rows[1], &count[1]));
    FUZZ_MUST(count[0] >= 1 && (both ? count[0] + count[1] == N : count[0] == N));
    for (int part = 0; part < 2; part++) {
        for (int64_t i = 0; i < count[part]; i++) {
            FUZZ_MUST(rows[part][i] >= 0 && rows[part][i] < N && !seen[rows[part][i]]);
            seen[rows[part][i]] = true;
        }
        eh_free(rows[part]);
    }
}

static void check_number(const char *text)
{
    double x = NAN, again = NAN;
    char printed[64];
    if (eh_number_parse(text, strlen(text), &x) != EH_NUMBER) return;
    FUZZ_MUST(isfinite(x) && x == strtod(text, NULL));
    eh_number_print(x, printed, sizeof printed);
    FUZZ_MUST(eh_number_parse(printed, strlen(printed), &again) == EH_NUMBER && again == x);
}

static void check_date(const char *text)
{
    for (int form = 0; form < EH_FORMS; form++) {
        double days = NAN;
        if (!eh_date_parse_form(text, strlen(text), (eh_form)form, &days)) continue;
        FUZZ_MUST(isfinite(days) && fabs(days) < 1e9);
        FUZZ_MUST(eh_date_year_day(days) >= 0 && eh_date_year_day(days) <= 365);
    }
    FUZZ_MUST(eh_percent_length(text, strlen(text)) <= strlen(text));
}

static void check_utf8(const char *text)
{
    char *copy = eh_utf8_copy(text), quote[EH_QUOTE];
    FUZZ_MUST(eh_utf8_valid(copy, strlen(copy)));
    FUZZ_MUST(!eh_utf8_valid(text, strlen(text)) || !strcmp(text, copy));
    FUZZ_MUST(fuzz_clean(eh_json_quote(text, quote)));
    eh_utf8_clean(copy);
    FUZZ_MUST(fuzz_clean(copy));
    eh_free(copy);
}

static void check_synthetic(const char *text)
{
    char *path = fuzz_alloc(strlen(text) + 64);
    for (const char *at = text; (at = strchr(at, '=')); at++) /* large data is no finding */
        if (strspn(at + 1, "+-0123456789.eE") > 2) return;
    sprintf(path, "synthetic:%s%s", text, strstr(text, "n=") ? "" : strchr(text, ',') ? ",n=7" : "");
    if (!strstr(path, "n=") || strstr(path, "strokes")) return;
    const enhope_source source = {.path = path};
    fuzz_read_all(&source, FUZZ_SPLIT);
}

static void check_columns(const char *text)
{
    static char *const names[] = {"a", "b, c", "d\"e", "4", "\xc3\xa4"};
    eh_column_list list = {.at = NULL};
    if (fuzz_good(eh_column_list_parse(fuzz_ctx, "a.csv", "ignore", text, names, 5, &list)))
        for (int64_t i = 0; i < list.count; i++) FUZZ_MUST(list.at[i] >= 0 && list.at[i] < 5);
    eh_column_list_free(&list);
}

static void check_json(const char *text)
{
    cJSON *json = NULL;
    const bool good =
        fuzz_good(eh_json_parse(fuzz_ctx, ENHOPE_ERROR_MODEL, "the text", text, strlen(text), 1000, &json));
    FUZZ_MUST(good == (json != NULL));
    cJSON_Delete(json);
}

FUZZ_TARGET(texts)
{
    static void (*const checks[])(const char *) = {check_split,     check_number,  check_date, check_utf8,
                                                   check_synthetic, check_columns, check_json};
    const int kind = fuzz_byte(in);
    checks[(unsigned)kind % (sizeof checks / sizeof *checks)](fuzz_text(in, '\0'));
}
