/* JSON parsing with limits, on top of cJSON.
 *
 * cJSON builds a node of 64 bytes for a value that may take two bytes of text. The values and the
 * nesting depth of a text are therefore counted before it is parsed, without allocation. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { MAX_DEPTH = 32 }; /* a model needs 3 levels, a shard list 5 */

/* Counts an upper bound of the values: one, plus one for each bracket and comma outside strings. */
static enhope_status measure(enhope_context *ctx, enhope_status failure, const char *what, const char *text,
                             size_t length, int64_t max_values)
{
    int64_t values = 1, depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        const char byte = text[i];
        if (quoted) {
            if (byte == '\\')
                i++;
            else if (byte == '"')
                quoted = false;
            continue;
        }
        if (byte == '"') quoted = true;
        if (byte == '{' || byte == '[') depth++;
        if (byte == '}' || byte == ']') depth--;
        if (byte == '{' || byte == '[' || byte == ',') values++;
        if (depth > MAX_DEPTH) return eh_fail(ctx, failure, "%s is nested deeper than %d levels", what, MAX_DEPTH);
        if (values > max_values)
            return eh_fail(ctx, failure, "%s has more than %lld values", what, (long long)max_values);
    }
    return ENHOPE_OK;
}

enhope_status eh_json_parse(enhope_context *ctx, enhope_status failure, const char *what, const char *text,
                            size_t length, int64_t max_values, cJSON **out)
{
    EH_TRY(measure(ctx, failure, what, text, length, max_values));
    const char *end = text;
    cJSON *json = cJSON_ParseWithLengthOpts(text, length, &end, 0);
    size_t at = (size_t)(end - text);
    if (json) {
        while (at < length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) at++;
        if (at == length) {
            *out = json;
            return ENHOPE_OK;
        }
        cJSON_Delete(json);
    }
    return eh_fail(ctx, failure, "%s is not valid JSON", what);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enhope_status eh_json_distinct(enhope_context *ctx, enhope_status failure, const char *what, const cJSON *list)
{
    int64_t count = 0;
    for (const cJSON *item = list->child; item; item = item->next) count++;
    const char **name = NULL;
    EH_TRY(eh_new(ctx, what, count, sizeof *name, (void **)&name));
    count = 0;
    for (const cJSON *item = list->child; item; item = item->next)
        name[count++] = cJSON_IsObject(list) ? item->string : item->valuestring;
    qsort(name, (size_t)count, sizeof *name, compare_names);
    enhope_status status = ENHOPE_OK;
    char quote[EH_QUOTE];
    for (int64_t i = 1; i < count && !status; i++)
        if (!strcmp(name[i - 1], name[i]))
            status = eh_fail(ctx, failure, "%s contains '%s' twice", what, eh_json_quote(name[i], quote));
    eh_free(name);
    return status;
}

bool eh_json_size(const cJSON *item, int64_t *out)
{
    if (!cJSON_IsNumber(item)) return false;
    const double value = item->valuedouble;
    if (!(value >= 0 && value <= 0x1p53) || value != (double)(int64_t)value) return false;
    *out = (int64_t)value;
    return true;
}

const char *eh_json_quote(const char *text, char buffer[EH_QUOTE])
{
    size_t i = 0;
    for (; i < EH_QUOTE - 1 && text[i]; i++) buffer[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    buffer[i] = '\0';
    if (text[i]) memcpy(buffer + i - 3, "...", 3);
    return buffer;
}
