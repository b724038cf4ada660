/* An encoding as JSON text, for models and shards (docs/reference/model-format.md):
 *
 *   {"named": true, "label": "species", "label_place": 5, "columns": [
 *     {"name": "age", "type": "number", "fill": 29.5, "missing": true},
 *     {"name": "color", "type": "category", "categories": ["red", "blue"], "other": true}]}
 *
 * Fields that are false, 0 or empty are left out. A text is checked completely before its encoding
 * is used, because it may come from anywhere. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "data/frame/frame.h"

enum {
    MAX_VALUES = 20000000,    /* JSON values of a text */
    MAX_INPUTS = 1 << 30,     /* of all columns */
    MAX_CATEGORIES = 1000000, /* of a column */
    MAX_DAYS = 1000000000     /* of a date */
};

static const char *const form_names[EH_FORMS] = {"", "day first", "month first", "percent", "thousands"};
static const char *const type_names[] = {"number", "boolean", "category", "date", "id", "empty"};

const char *eh_column_type_name(eh_column_type type)
{
    return type_names[type];
}

/* ---- print ---- */

static enhope_status no_memory(enhope_context *ctx)
{
    return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: the columns of the model");
}

static bool add_text(cJSON *object, const char *key, const char *value)
{
    char *text = eh_utf8_copy(value);
    const bool added = text && cJSON_AddStringToObject(object, key, text);
    eh_free(text);
    return added;
}

/* The shortest text that reads back as the same number; cJSON would stop at 15 digits. */
static bool add_number(cJSON *object, const char *key, double value)
{
    char text[40];
    eh_number_print(value, text, sizeof text);
    return cJSON_AddRawToObject(object, key, text);
}

static bool add_flag(cJSON *object, const char *key, bool value)
{
    return !value || cJSON_AddTrueToObject(object, key);
}

static bool add_categories(cJSON *object, const eh_encoded *c)
{
    cJSON *list = c->categories ? cJSON_AddArrayToObject(object, "categories") : NULL;
    if (c->categories && !list) return false;
    for (int32_t k = 0; k < c->categories; k++) {
        cJSON *item = cJSON_CreateString(c->category[k]);
        if (item && cJSON_AddItemToArray(list, item)) continue;
        cJSON_Delete(item);
        return false;
    }
    return true;
}

static bool add_column(cJSON *list, const eh_encoded *c)
{
    cJSON *object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return false;
    }
    const bool value = c->type != EH_COLUMN_CATEGORY && !c->constant && !isnan(c->fill);
    return add_text(object, "name", c->name) && add_text(object, "type", type_names[c->type]) &&
           (!c->form || add_text(object, "form", form_names[c->form])) &&
           (!value || add_number(object, "fill", c->fill)) &&
           (c->offset == 0 || add_number(object, "offset", c->offset)) && add_categories(object, c) &&
           add_flag(object, "other", c->other) && add_flag(object, "time", c->time) &&
           add_flag(object, "missing", c->indicator) && add_flag(object, "constant", c->constant);
}

static bool add_all(cJSON *json, const eh_encoding *encoding)
{
    if (!add_flag(json, "named", encoding->named)) return false;
    if (encoding->label && !add_text(json, "label", encoding->label)) return false;
    if (encoding->label_place && !add_number(json, "label_place", (double)encoding->label_place)) return false;
    cJSON *list = cJSON_AddArrayToObject(json, "columns");
    for (int64_t j = 0; list && j < encoding->columns; j++)
        if (!add_column(list, &encoding->column[j])) return false;
    return list != NULL;
}

enhope_status eh_encoding_print(enhope_context *ctx, const eh_encoding *encoding, char **out)
{
    cJSON *json = cJSON_CreateObject();
    char *text = json && add_all(json, encoding) ? cJSON_PrintUnformatted(json) : NULL;
    const enhope_status status = text ? eh_new_text(ctx, "the columns of the model", text, out) : no_memory(ctx);
    cJSON_free(text);
    cJSON_Delete(json);
    return status;
}

/* ---- parse ---- */

/* The place of a message: the text, and the column that is read. */
typedef struct place {
    const char *where;
    int64_t column; /* from 0; -1: none */
} place;

static enhope_status fail(enhope_context *ctx, const place *at, const char *why)
{
    if (at->column < 0) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%s: %s", at->where, why);
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%s: column %lld: %s", at->where, (long long)at->column + 1, why);
}

static enhope_status get_flag(enhope_context *ctx, const place *at, const cJSON *object, const char *key, bool *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char why[64] = "expected true or false for '";
    if (item && !cJSON_IsBool(item)) return fail(ctx, at, strcat(strcat(why, key), "'"));
    *out = cJSON_IsTrue(item);
    return ENHOPE_OK;
}

static enhope_status get_number(enhope_context *ctx, const place *at, const cJSON *object, const char *key,
                                double absent, double *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char why[64] = "expected a finite number for '";
    *out = absent;
    if (!item) return ENHOPE_OK;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) return fail(ctx, at, strcat(strcat(why, key), "'"));
    *out = item->valuedouble;
    return ENHOPE_OK;
}

static enhope_status get_text(enhope_context *ctx, const place *at, const cJSON *object, const char *key, char **out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char why[64] = "expected a text for '";
    if (!cJSON_IsString(item)) return fail(ctx, at, strcat(strcat(why, key), "'"));
    return eh_new_text(ctx, "a text", item->valuestring, out);
}

static enhope_status get_categories(enhope_context *ctx, const place *at, const cJSON *object, eh_encoded *c)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "categories");
    if (!list) return ENHOPE_OK;
    int64_t count = 0;
    for (const cJSON *item = cJSON_IsArray(list) ? list->child : NULL; item; item = item->next, count++)
        if (!cJSON_IsString(item)) return fail(ctx, at, "expected texts as categories");
    if (!cJSON_IsArray(list) || c->type != EH_COLUMN_CATEGORY || count > MAX_CATEGORIES)
        return fail(ctx, at, "expected 'categories' to be a list of texts in a column of categories");
    const enhope_status status = eh_json_distinct(ctx, ENHOPE_ERROR_MODEL, "'categories'", list);
    if (status) return eh_fail_in(ctx, status, "%s: column %lld", at->where, (long long)at->column + 1);
    EH_TRY(eh_new(ctx, "categories", count, sizeof *c->category, (void **)&c->category));
    c->categories = (int32_t)count;
    int64_t k = 0;
    for (const cJSON *item = list->child; item; item = item->next)
        EH_TRY(eh_new_text(ctx, "a category", item->valuestring, &c->category[k++]));
    return ENHOPE_OK;
}

static enhope_status get_type(enhope_context *ctx, const place *at, const cJSON *object, eh_column_type *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "type");
    for (int type = EH_COLUMN_NUMBER; cJSON_IsString(item) && type <= EH_COLUMN_EMPTY; type++)
        if (strcmp(item->valuestring, type_names[type]) == 0) {
            *out = (eh_column_type)type;
            return ENHOPE_OK;
        }
    return fail(ctx, at, "expected the type number, boolean, category, date, id or empty; use a newer enhope");
}

static enhope_status get_form(enhope_context *ctx, const place *at, const cJSON *object, eh_encoded *c)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "form");
    if (!item) return ENHOPE_OK;
    for (int form = EH_FORM_PLAIN + 1; cJSON_IsString(item) && form < EH_FORMS; form++)
        if (strcmp(item->valuestring, form_names[form]) == 0) c->form = (eh_form)form;
    if (c->form && c->type == (c->form >= EH_FORM_PERCENT ? EH_COLUMN_NUMBER : EH_COLUMN_DATE)) return ENHOPE_OK;
    return fail(ctx, at,
                "expected the form day first or month first of dates, or percent or thousands of numbers; use a newer "
                "enhope");
}

static enhope_status get_column(enhope_context *ctx, const place *at, const cJSON *object, eh_encoded *c)
{
    if (!cJSON_IsObject(object)) return fail(ctx, at, "expected an object");
    EH_TRY(get_type(ctx, at, object, &c->type));
    EH_TRY(get_form(ctx, at, object, c));
    EH_TRY(get_text(ctx, at, object, "name", &c->name));
    EH_TRY(get_number(ctx, at, object, "fill", NAN, &c->fill));
    EH_TRY(get_number(ctx, at, object, "offset", 0, &c->offset));
    EH_TRY(get_flag(ctx, at, object, "other", &c->other));
    EH_TRY(get_flag(ctx, at, object, "time", &c->time));
    EH_TRY(get_flag(ctx, at, object, "missing", &c->indicator));
    EH_TRY(get_flag(ctx, at, object, "constant", &c->constant));
    EH_TRY(get_categories(ctx, at, object, c));
    if (c->type == EH_COLUMN_DATE && !(fabs(c->offset) <= MAX_DAYS && !(fabs(c->fill) > MAX_DAYS)))
        return fail(ctx, at, "expected dates within a billion days of 1970");
    if (fabs(c->fill - c->offset) > (double)FLT_MAX) return fail(ctx, at, "expected 'fill' within 3.4e38 of 'offset'");
    return ENHOPE_OK;
}

static enhope_status get_all(enhope_context *ctx, place *at, const cJSON *json, eh_encoding *encoding)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "columns");
    if (!cJSON_IsArray(list) || !list->child) return fail(ctx, at, "expected a list 'columns'");
    EH_TRY(get_flag(ctx, at, json, "named", &encoding->named));
    if (cJSON_GetObjectItemCaseSensitive(json, "label")) EH_TRY(get_text(ctx, at, json, "label", &encoding->label));
    const int64_t columns = cJSON_GetArraySize(list);
    double label_place;
    EH_TRY(get_number(ctx, at, json, "label_place", 0, &label_place));
    if (!(label_place >= 0 && label_place <= (double)columns + 1))
        return fail(ctx, at, "expected the place of the label among the columns");
    encoding->label_place = (int64_t)label_place;
    EH_TRY(eh_new(ctx, "columns", columns, sizeof *encoding->column, (void **)&encoding->column));
    encoding->columns = columns;
    at->column = 0;
    for (const cJSON *item = list->child; item; item = item->next, at->column++)
        EH_TRY(get_column(ctx, at, item, &encoding->column[at->column]));
    eh_encoding_layout(encoding);
    at->column = -1;
    if (encoding->H < 1 || encoding->H > MAX_INPUTS) return fail(ctx, at, "the columns have no inputs, or too many");
    return ENHOPE_OK;
}

enhope_status eh_encoding_parse(enhope_context *ctx, const char *text, const char *where, eh_encoding **out)
{
    enhope_status status = ENHOPE_OK;
    cJSON *json = NULL;
    eh_encoding *encoding = NULL;
    place at = {where, -1};
    EH_CHECK(eh_json_parse(ctx, ENHOPE_ERROR_MODEL, where, text, strlen(text), MAX_VALUES, &json));
    EH_CHECK(eh_new(ctx, "an encoding", 1, sizeof *encoding, (void **)&encoding));
    EH_CHECK(get_all(ctx, &at, json, encoding));
    *out = encoding;
    encoding = NULL;
cleanup:
    cJSON_Delete(json);
    eh_encoding_free(encoding);
    return status;
}
