/* The options of a table: texts to values. */
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

static enhope_status parse_delimiter(enhope_context *ctx, const char *text, char *out)
{
    if (!strcasecmp(text, "tab") || !strcmp(text, "\\t"))
        *out = '\t';
    else if (!strcasecmp(text, "space"))
        *out = ' ';
    else if (strlen(text) == 1 && !strchr("\"\n\r", *text) && (*text < '0' || *text > '9'))
        *out = *text;
    else
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "invalid delimiter '%.60s': expected one character or tab", text);
    return ENHOPE_OK;
}

enhope_status eh_table_rules_parse(enhope_context *ctx, const enhope_table_options *o, eh_table_rules *out)
{
    static const char *const ways[] = {
        [EH_MISSING_IMPUTE] = "impute", [EH_MISSING_DROP] = "drop", [EH_MISSING_ERROR] = "error"};
    *out = (eh_table_rules){.header = -1};
    if (!o) return ENHOPE_OK;
    out->skip_bad = o->skip_bad != 0;
    out->label_optional = o->label_optional != 0;
    if (o->header) {
        if (strcmp(o->header, "yes") != 0 && strcmp(o->header, "no") != 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "header is '%.60s': expected yes or no", o->header);
        out->header = strcmp(o->header, "yes") == 0;
    }
    if (o->delimiter) EH_TRY(parse_delimiter(ctx, o->delimiter, &out->delimiter));
    if (o->decimal) {
        if (strcmp(o->decimal, ".") != 0 && strcmp(o->decimal, ",") != 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "decimal is '%.60s': expected . or ,", o->decimal);
        out->decimal = *o->decimal;
    }
    if (out->decimal == ',' && out->delimiter == ',')
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "decimal and delimiter are both a comma; quote such numbers and use another delimiter");
    for (int i = 0; o->missing && i < 3; i++)
        if (strcmp(o->missing, ways[i]) == 0) {
            out->missing = i;
            return ENHOPE_OK;
        }
    return o->missing
               ? eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "missing is '%.60s': expected impute, drop or error", o->missing)
               : ENHOPE_OK;
}
