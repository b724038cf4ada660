/* What a model was trained on: how the data was read, and a sketch of its rows. It shows whether
 * evaluated rows have trained the model. Paths of files are not stored. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "model/model.h"

void eh_provenance_free(eh_provenance *provenance)
{
    if (!provenance) return;
    eh_free(provenance->split);
    eh_free(provenance->part);
    eh_free(provenance->label);
    eh_free(provenance->label_found);
    eh_free(provenance);
}

static enhope_status copy_text(enhope_context *ctx, const char *from, char **to)
{
    return from ? eh_new_text(ctx, "a text", from, to) : ENHOPE_OK;
}

static enhope_status fill(enhope_context *ctx, const enhope_dataset *data, const eh_provenance *before,
                          eh_provenance *to)
{
    for (int64_t i = 0; data->label && i < data->x.n; i++) to->rows += data->label[i] >= 0;
    if (data->store) to->rows = data->x.n;
    to->limit = data->source.limit;
    EH_TRY(copy_text(ctx, data->source.split, &to->split));
    EH_TRY(copy_text(ctx, data->source.part, &to->part));
    EH_TRY(copy_text(ctx, data->encoding ? data->encoding->label : NULL, &to->label));
    const eh_schema *schema = data->origin ? &data->origin->schema : NULL;
    if (to->label && schema && schema->column && schema->label >= 0)
        EH_TRY(copy_text(ctx, schema->column[schema->label].reason, &to->label_found));
    if (data->store || (before && !before->sketch.count)) return ENHOPE_OK; /* not all rows are known */
    EH_TRY(eh_sketch_add(ctx, data, &to->sketch));
    if (before) eh_sketch_merge(&to->sketch, &before->sketch);
    return ENHOPE_OK;
}

enhope_status eh_provenance_create(enhope_context *ctx, const enhope_dataset *data, const enhope_model *from,
                                   eh_provenance **out)
{
    static const eh_provenance unknown = {0};
    eh_provenance *provenance = NULL;
    EH_TRY(eh_new(ctx, "the provenance", 1, sizeof *provenance, (void **)&provenance));
    const enhope_status status = fill(ctx, data,
                                      !from              ? NULL
                                      : from->provenance ? from->provenance
                                                         : &unknown,
                                      provenance);
    if (status)
        eh_provenance_free(provenance);
    else
        *out = provenance;
    return status;
}

enhope_status eh_provenance_copy(enhope_context *ctx, const eh_provenance *from, eh_provenance **out)
{
    eh_provenance *provenance = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the provenance", 1, sizeof *provenance, (void **)&provenance));
    provenance->rows = from->rows;
    provenance->limit = from->limit;
    provenance->sketch = from->sketch;
    EH_CHECK(copy_text(ctx, from->split, &provenance->split));
    EH_CHECK(copy_text(ctx, from->part, &provenance->part));
    EH_CHECK(copy_text(ctx, from->label, &provenance->label));
    EH_CHECK(copy_text(ctx, from->label_found, &provenance->label_found));
    *out = provenance;
    return ENHOPE_OK;
cleanup:
    eh_provenance_free(provenance);
    return status;
}

/* ---- in a model file: a JSON object ---- */

static bool add_text(cJSON *object, const char *key, const char *value)
{
    char *text = value ? eh_utf8_copy(value) : NULL;
    const bool added = !value || (text && cJSON_AddStringToObject(object, key, text));
    eh_free(text);
    return added;
}

enhope_status eh_provenance_print(enhope_context *ctx, const eh_provenance *provenance, char **out)
{
    char sketch[EH_SKETCH_TEXT];
    cJSON *object = cJSON_CreateObject();
    eh_sketch_print(&provenance->sketch, sketch);
    bool added = object && cJSON_AddNumberToObject(object, "rows", (double)provenance->rows);
    added = added && add_text(object, "split", provenance->split) && add_text(object, "part", provenance->part) &&
            add_text(object, "label", provenance->label) && add_text(object, "label_found", provenance->label_found);
    if (provenance->limit) added = added && cJSON_AddNumberToObject(object, "limit", (double)provenance->limit);
    if (provenance->sketch.count) added = added && add_text(object, "sketch", sketch);
    char *text = added ? cJSON_PrintUnformatted(object) : NULL;
    cJSON_Delete(object);
    const enhope_status status = text ? eh_new_text(ctx, "the provenance", text, out)
                                      : eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: the model's metadata");
    cJSON_free(text);
    return status;
}

/* A member that may be missing. */
static enhope_status get_text(enhope_context *ctx, const cJSON *object, const char *key, char **out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item) return ENHOPE_OK;
    if (cJSON_IsString(item)) return eh_new_text(ctx, "a text", item->valuestring, out);
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'training_data': %s is not a text", key);
}

static enhope_status get_number(enhope_context *ctx, const cJSON *object, const char *key, int64_t *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item || eh_json_size(item, out)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'training_data': %s is not a whole number from 0", key);
}

static enhope_status parse(enhope_context *ctx, const cJSON *object, eh_provenance *provenance)
{
    char *sketch = NULL;
    if (!cJSON_IsObject(object)) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'training_data' is not an object");
    EH_TRY(get_number(ctx, object, "rows", &provenance->rows));
    EH_TRY(get_number(ctx, object, "limit", &provenance->limit));
    EH_TRY(get_text(ctx, object, "split", &provenance->split));
    EH_TRY(get_text(ctx, object, "part", &provenance->part));
    EH_TRY(get_text(ctx, object, "label", &provenance->label));
    EH_TRY(get_text(ctx, object, "label_found", &provenance->label_found));
    EH_TRY(get_text(ctx, object, "sketch", &sketch));
    const bool valid = !sketch || eh_sketch_parse(sketch, &provenance->sketch);
    eh_free(sketch);
    return valid
               ? ENHOPE_OK
               : eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'training_data': sketch is not a list of ascending hashes");
}

enhope_status eh_provenance_parse(enhope_context *ctx, const char *text, eh_provenance **out)
{
    enum { MAX_VALUES = 1000 };
    cJSON *object = NULL;
    eh_provenance *provenance = NULL;
    enhope_status status;
    EH_CHECK(
        eh_json_parse(ctx, ENHOPE_ERROR_MODEL, "metadata 'training_data'", text, strlen(text), MAX_VALUES, &object));
    EH_CHECK(eh_new(ctx, "the provenance", 1, sizeof *provenance, (void **)&provenance));
    EH_CHECK(parse(ctx, object, provenance));
    *out = provenance;
    provenance = NULL;
cleanup:
    eh_provenance_free(provenance);
    cJSON_Delete(object);
    return status;
}

/* ---- public ---- */

int enhope_model_training_data(const enhope_model *model, enhope_training_data *out)
{
    const eh_provenance *o = model->provenance;
    if (!o) return 0;
    *out = (enhope_training_data){.rows = o->rows,
                                  .limit = o->limit,
                                  .split = o->split,
                                  .part = o->part,
                                  .label = o->label,
                                  .label_found = o->label_found};
    return 1;
}

enhope_status enhope_model_overlap(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   enhope_overlap *out)
{
    *out = (enhope_overlap){.share = NAN, .expected = NAN};
    if (!model->provenance || !model->provenance->sketch.count || data->store) return ENHOPE_OK;
    return eh_sketch_compare(ctx, &model->provenance->sketch, data, out);
}
