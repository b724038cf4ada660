/* Saves a model: its tensors and texts (docs/reference/model-format.md) in a fixed order, so
 * that equal models give byte-identical files. Times are left out for the same reason. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/coded/coded.h"
#include "model/quantized.h"
#include "model/safetensors.h"

/* cJSON fails only if memory is exhausted. */
static enhope_status no_memory(enhope_context *ctx)
{
    return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: the model's metadata");
}

static enhope_status add_text(enhope_context *ctx, cJSON *object, const char *key, const char *value)
{
    char *text = eh_utf8_copy(value);
    const bool added = text && cJSON_AddStringToObject(object, key, text);
    eh_free(text);
    return added ? ENHOPE_OK : no_memory(ctx);
}

static enhope_status add_number(enhope_context *ctx, cJSON *object, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return add_text(ctx, object, key, text);
}

/* Appends item to array and owns it in any case. item NULL: it could not be allocated. */
static enhope_status append(enhope_context *ctx, cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item)) return ENHOPE_OK;
    cJSON_Delete(item);
    return no_memory(ctx);
}

/* Metadata values are texts, so lists are stored as JSON in a text. */
static enhope_status add_printed(enhope_context *ctx, cJSON *object, const char *key, const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    const bool added = text && cJSON_AddStringToObject(object, key, text);
    cJSON_free(text);
    return added ? ENHOPE_OK : no_memory(ctx);
}

static enhope_status fill_names(enhope_context *ctx, cJSON *array, char *const *name, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        char *text = eh_utf8_copy(name[i]);
        cJSON *item = text ? cJSON_CreateString(text) : NULL;
        eh_free(text);
        EH_TRY(append(ctx, array, item));
    }
    return ENHOPE_OK;
}

/* The shortest text that reads back as the same number (cJSON stops at 15 digits); null if the
 * value is not finite. The decimal separator is a point in every locale. */
static cJSON *exact_number(double value)
{
    if (!isfinite(value)) return cJSON_CreateNull();
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    const size_t whole = strspn(text, "-0123456789");
    const size_t point = strcspn(text + whole, "e0123456789"); /* bytes of the locale's point */
    if (point > 0) {
        text[whole] = '.';
        memmove(text + whole + 1, text + whole + point, strlen(text + whole + point) + 1);
    }
    return cJSON_CreateRaw(text);
}

/* Rows [epoch, loss, valid_error]. */
static enhope_status fill_history(enhope_context *ctx, cJSON *array, const enhope_model *model)
{
    for (int64_t i = 0; i < model->epochs; i++) {
        cJSON *row = cJSON_CreateArray();
        EH_TRY(append(ctx, array, row));
        EH_TRY(append(ctx, row, cJSON_CreateNumber((double)model->history[i].epoch)));
        EH_TRY(append(ctx, row, exact_number(model->history[i].loss)));
        EH_TRY(append(ctx, row, exact_number(model->history[i].valid_error)));
    }
    return ENHOPE_OK;
}

static enhope_status fill_texts(enhope_context *ctx, cJSON *object, const eh_pair_text *pair, int32_t count)
{
    for (int32_t i = 0; i < count; i++) EH_TRY(add_text(ctx, object, pair[i].name, pair[i].value));
    return ENHOPE_OK;
}

static enhope_status add_lists(enhope_context *ctx, cJSON *meta, const enhope_model *model)
{
    cJSON *classes = cJSON_CreateArray(), *inputs = cJSON_CreateArray(), *history = cJSON_CreateArray();
    cJSON *settings = cJSON_CreateObject(), *notes = cJSON_CreateObject();
    enhope_status status = classes && inputs && history && settings && notes ? ENHOPE_OK : no_memory(ctx);
    if (status) goto cleanup;
    EH_CHECK(fill_names(ctx, classes, model->class_name, model->c));
    EH_CHECK(add_printed(ctx, meta, "classes", classes));
    if (model->input.name) {
        EH_CHECK(fill_names(ctx, inputs, model->input.name, model->shape.H));
        EH_CHECK(add_printed(ctx, meta, "input_names", inputs));
    }
    EH_CHECK(fill_texts(ctx, settings, model->setting.pair, model->setting.count));
    EH_CHECK(add_printed(ctx, meta, "settings", settings));
    EH_CHECK(fill_history(ctx, history, model));
    EH_CHECK(add_printed(ctx, meta, "history", history));
    if (model->earlier) EH_CHECK(add_number(ctx, meta, "earlier_epochs", model->earlier));
    if (model->note.count) {
        EH_CHECK(fill_texts(ctx, notes, model->note.pair, model->note.count));
        EH_CHECK(add_printed(ctx, meta, "notes", notes));
    }
cleanup:
    cJSON_Delete(classes);
    cJSON_Delete(inputs);
    cJSON_Delete(history);
    cJSON_Delete(settings);
    cJSON_Delete(notes);
    return status;
}

static enhope_status add_columns(enhope_context *ctx, cJSON *meta, const enhope_model *model)
{
    char *text = NULL;
    if (!model->input.encoding) return ENHOPE_OK;
    EH_TRY(eh_encoding_print(ctx, model->input.encoding, &text));
    const enhope_status status = add_text(ctx, meta, "columns", text);
    eh_free(text);
    return status;
}

static enhope_status add_provenance(enhope_context *ctx, cJSON *meta, const enhope_model *model)
{
    char *text = NULL;
    if (!model->provenance) return ENHOPE_OK;
    EH_TRY(eh_provenance_print(ctx, model->provenance, &text));
    const enhope_status status = add_text(ctx, meta, "training_data", text);
    eh_free(text);
    return status;
}

/* "ERRORS/N", if they are known. */
static enhope_status add_errors(enhope_context *ctx, cJSON *meta, const char *key, int64_t errors, int64_t n)
{
    char text[48];
    if (!n) return ENHOPE_OK;
    snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, errors, n);
    return add_text(ctx, meta, key, text);
}

static enhope_status add_evaluation(enhope_context *ctx, cJSON *meta, const enhope_model *model)
{
    char text[40];
    eh_number_print(model->errors.temperature, text, sizeof text);
    EH_TRY(add_text(ctx, meta, "temperature", text));
    EH_TRY(add_errors(ctx, meta, "valid_errors", model->errors.valid, model->errors.valid_n));
    return add_errors(ctx, meta, "train_errors", model->errors.train, model->errors.train_n);
}

static bool is_coded(const enhope_model *model)
{
    return model->int8 && model->int8->exemplar_step > 0;
}

static bool stored_in_int8(const enhope_model *model)
{
    return model->int8 && model->int8->C;
}

static enhope_status add_metadata(enhope_context *ctx, cJSON *meta, const enhope_model *model)
{
    const eh_map_shape *s = &model->shape;
    EH_TRY(add_text(ctx, meta, "format", EH_MODEL_FORMAT));
    const eh_encoding *encoding = model->input.encoding;
    const bool encoded = encoding && !eh_encoding_is_identity(encoding);
    EH_TRY(add_text(ctx, meta, "format_version",
                    is_coded(model)         ? EH_MODEL_FORMAT_CODED
                    : stored_in_int8(model) ? EH_MODEL_FORMAT_INT8
                    : encoded               ? EH_MODEL_FORMAT_ENCODED
                                            : EH_MODEL_FORMAT_VERSION));
    EH_TRY(add_text(ctx, meta, "enhope_version", enhope_version()));
    EH_TRY(add_text(ctx, meta, "method", model->method));
    EH_TRY(add_text(ctx, meta, "map", model->map->name));
    EH_TRY(add_number(ctx, meta, "inputs", s->H));
    EH_TRY(add_number(ctx, meta, "outputs", s->h));
    EH_TRY(add_number(ctx, meta, "factors", s->F));
    EH_TRY(add_number(ctx, meta, "hidden", s->m));
    EH_TRY(add_number(ctx, meta, "order", s->order));
    if (s->layers) {
        char text[128];
        eh_map_layers_print(s, text, sizeof text);
        EH_TRY(add_text(ctx, meta, "layers", text));
        EH_TRY(add_text(ctx, meta, "unit", s->relu ? "relu" : "sigmoid"));
    }
    EH_TRY(add_text(ctx, meta, "similarity", model->gaussian ? "gaussian" : "student"));
    if (!model->gaussian && model->dof != 1) EH_TRY(add_number(ctx, meta, "dof", model->dof));
    EH_TRY(add_number(ctx, meta, "neighbours", model->k));
    if (model->exemplars && model->votes) EH_TRY(add_text(ctx, meta, "rule", "votes"));
    EH_TRY(add_evaluation(ctx, meta, model));
    if (model->input.image_rows > 0) {
        char text[48];
        snprintf(text, sizeof text, "%" PRId64 "x%" PRId64, model->input.image_rows, model->input.image_columns);
        EH_TRY(add_text(ctx, meta, "image", text));
    }
    EH_TRY(add_columns(ctx, meta, model));
    EH_TRY(add_provenance(ctx, meta, model));
    return add_lists(ctx, meta, model);
}

/* Fails if the model could not be loaded again, so that it does not replace a valid file. */
static enhope_status check_finite(enhope_context *ctx, const char *path, const eh_st_tensor *t)
{
    const int64_t count = t->shape[0] * (t->rank > 1 ? t->shape[1] : 1);
    const int64_t at = strcmp(t->dtype, "F32") ? -1 : eh_model_not_finite(t->data, count);
    if (at < 0) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%s: not written: tensor %s has a number that is not finite (element %lld)",
                   path, t->name, (long long)at);
}

/* Lists all tensors of the model in the order of the file. Returns their number. */
static int64_t list_tensors(const enhope_model *model, eh_st_tensor *tensor)
{
    const eh_map_shape *s = &model->shape;
    int64_t tensors = 0;
    for (int i = 0; i < model->map->tensors(s); i++) {
        const eh_tensor t = model->map->tensor(s, i);
        if (stored_in_int8(model) && eh_quantized_replaces(t.name, is_coded(model))) continue;
        tensor[tensors++] = (eh_st_tensor){.name = t.name,
                                           .dtype = "F32",
                                           .rank = t.rank,
                                           .shape = {t.shape[0], t.shape[1]},
                                           .data = model->theta + eh_map_offset(model->map, s, i)};
    }
    tensor[tensors++] = (eh_st_tensor){.name = model->exemplars ? "exemplars" : "points",
                                       .dtype = "F32",
                                       .rank = 2,
                                       .shape = {model->r, eh_model_reference_width(model)},
                                       .data = model->reference};
    tensor[tensors++] = (eh_st_tensor){.name = model->exemplars ? "exemplar_labels" : "point_labels",
                                       .dtype = "I32",
                                       .rank = 1,
                                       .shape = {model->r, 1},
                                       .data = model->reference_label};
    tensor[tensors++] =
        (eh_st_tensor){.name = "scale.shift", .dtype = "F32", .rank = 1, .shape = {s->H, 1}, .data = model->shift};
    tensor[tensors++] =
        (eh_st_tensor){.name = "scale.mul", .dtype = "F32", .rank = 1, .shape = {s->H, 1}, .data = model->mul};
    if (!model->int8) return tensors;
    return tensors + eh_quantized_tensors(s, model->int8, stored_in_int8(model) ? EH_INT8_WEIGHTS : EH_INT8_RANGES,
                                          tensor + tensors);
}

/* Replaces the tensors by smaller forms, if the model is stored so. memory (tensors): freed by the
 * caller. */
static enhope_status shrink(enhope_context *ctx, const enhope_model *model, eh_st_tensor *tensor, int64_t tensors,
                            void **memory)
{
    const int64_t width = model->input.image_columns;
    for (int64_t i = 0; i < tensors && is_coded(model); i++) {
        const bool exemplars = !strcmp(tensor[i].name, "exemplars"), inputs = !strcmp(tensor[i].name, "int8.C");
        const eh_coded_tensor how = {.width = exemplars || inputs ? width : 0,
                                     .step = exemplars ? model->int8->exemplar_step : 0};
        EH_TRY(eh_coded_shrink(ctx, &how, &tensor[i], &memory[i]));
    }
    return ENHOPE_OK;
}

/* Saves to a file, or to memory if path is NULL. */
static enhope_status save(enhope_context *ctx, const enhope_model *model, const char *path, void *to, size_t room,
                          size_t *bytes)
{
    enum { MAX = EH_MODEL_MAX_MAP_TENSORS + 4 + EH_INT8_TENSORS };
    eh_st_tensor tensor[MAX];
    void *memory[MAX] = {NULL};
    const int64_t tensors = list_tensors(model, tensor);
    for (int64_t i = 0; i < tensors; i++) EH_TRY(check_finite(ctx, path ? path : "the model's bytes", &tensor[i]));

    cJSON *meta = cJSON_CreateObject();
    enhope_status status = meta ? add_metadata(ctx, meta, model) : no_memory(ctx);
    if (!status) status = shrink(ctx, model, tensor, tensors, memory);
    if (!status)
        status = path ? eh_safetensors_write(ctx, path, meta, tensor, tensors)
                      : eh_safetensors_write_bytes(ctx, meta, tensor, tensors, to, room, bytes);
    for (int64_t i = 0; i < tensors; i++) eh_free(memory[i]);
    cJSON_Delete(meta);
    return status;
}

enhope_status enhope_model_save(enhope_context *ctx, const enhope_model *model, const char *path)
{
    return save(ctx, model, path, NULL, 0, NULL);
}

enhope_status enhope_model_save_bytes(enhope_context *ctx, const enhope_model *model, void *to, size_t room,
                                      size_t *bytes)
{
    return save(ctx, model, NULL, to, room, bytes);
}
