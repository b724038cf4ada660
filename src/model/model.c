/* Creates and frees models, and returns their fields. */
#include <math.h>
#include <string.h>

#include "model/quantized.h"

int64_t eh_model_reference_width(const enhope_model *model)
{
    return model->exemplars ? model->shape.H : model->shape.h;
}

uint64_t eh_model_hash(const enhope_model *m)
{
    uint64_t h = eh_hash(0, m->theta, (size_t)eh_map_parameters(m->map, &m->shape) * sizeof *m->theta);
    h = eh_hash(h, m->reference, (size_t)(m->r * eh_model_reference_width(m)) * sizeof *m->reference);
    h = eh_hash(h, m->reference_label, (size_t)m->r * sizeof *m->reference_label);
    h = eh_hash(h, m->shift, (size_t)m->shape.H * sizeof *m->shift);
    return eh_hash(h, m->mul, (size_t)m->shape.H * sizeof *m->mul);
}

enhope_status eh_model_create(enhope_context *ctx, const char *method, const eh_map *map, const eh_map_shape *shape,
                              int64_t r, bool exemplars, int32_t c, int32_t settings, int64_t epochs,
                              enhope_model **out)
{
    enhope_model *model = NULL;
    EH_TRY(eh_new(ctx, "the model", 1, sizeof *model, (void **)&model));
    model->map = map;
    model->shape = *shape;
    model->r = r;
    model->exemplars = exemplars;
    model->c = c;
    model->setting.count = settings;
    model->epochs = epochs;
    model->errors.temperature = 1;
    model->dof = 1;
    enhope_status status = ENHOPE_OK;
    const int64_t parameters = eh_map_parameters(map, shape);
    int64_t references = 0;
    if (parameters < 0 || !eh_mul(r, eh_model_reference_width(model), &references)) {
        status =
            eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: a model of %lld inputs, %lld outputs and %lld references",
                    (long long)shape->H, (long long)shape->h, (long long)r);
        goto cleanup;
    }
    EH_CHECK(eh_new_text(ctx, "the method's name", method, &model->method));
    EH_CHECK(eh_new(ctx, "the map", parameters, sizeof *model->theta, (void **)&model->theta));
    EH_CHECK(eh_new(ctx, "the scaling", shape->H, sizeof *model->shift, (void **)&model->shift));
    EH_CHECK(eh_new(ctx, "the scaling", shape->H, sizeof *model->mul, (void **)&model->mul));
    EH_CHECK(eh_new(ctx, "the references", references, sizeof *model->reference, (void **)&model->reference));
    EH_CHECK(
        eh_new(ctx, "the references' labels", r, sizeof *model->reference_label, (void **)&model->reference_label));
    EH_CHECK(eh_new(ctx, "the class names", c, sizeof *model->class_name, (void **)&model->class_name));
    EH_CHECK(eh_new(ctx, "the settings", settings, sizeof *model->setting.pair, (void **)&model->setting.pair));
    EH_CHECK(eh_new(ctx, "the history", epochs, sizeof *model->history, (void **)&model->history));
    *out = model;
    return ENHOPE_OK;
cleanup:
    enhope_model_free(model);
    return status;
}

enhope_status eh_model_copy_names(enhope_context *ctx, char *const *from, int64_t count, char **to)
{
    for (int64_t i = 0; i < count; i++) EH_TRY(eh_new_text(ctx, "names", from[i], &to[i]));
    return ENHOPE_OK;
}

enhope_status eh_model_copy_input(enhope_context *ctx, const eh_model_input *from, int64_t H, eh_model_input *to)
{
    to->image_rows = from->image_rows;
    to->image_columns = from->image_columns;
    EH_TRY(eh_new_names(ctx, "names", from->name, H, &to->name));
    return from->encoding ? eh_encoding_copy(ctx, from->encoding, &to->encoding) : ENHOPE_OK;
}

enhope_status eh_model_encoding(enhope_context *ctx, const enhope_model *model, eh_encoding **out)
{
    if (model->input.encoding) return eh_encoding_copy(ctx, model->input.encoding, out);
    return eh_encoding_of_numbers(ctx, model->shape.H, model->input.name, out);
}

void enhope_model_free(enhope_model *model)
{
    if (!model) return;
    eh_names_free(model->class_name, model->c);
    eh_names_free(model->input.name, model->shape.H);
    eh_encoding_free(model->input.encoding);
    for (int32_t i = 0; model->setting.pair && i < model->setting.count; i++) {
        eh_free(model->setting.pair[i].name);
        eh_free(model->setting.pair[i].value);
    }
    eh_free(model->method);
    eh_free(model->theta);
    eh_free(model->shift);
    eh_free(model->mul);
    eh_free(model->reference);
    eh_free(model->reference_label);
    for (int32_t i = 0; i < model->note.count; i++) {
        eh_free(model->note.pair[i].name);
        eh_free(model->note.pair[i].value);
    }
    eh_free(model->setting.pair);
    eh_free(model->note.pair);
    eh_free(model->history);
    eh_provenance_free(model->provenance);
    eh_quantized_free(model->int8);
    eh_free(model);
}

int64_t eh_model_not_finite(const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return i;
    return -1;
}

/* The row of the kept state (train/trainer.c), among the rows of the last training. */
static int64_t best_row(const enhope_model *model)
{
    int64_t best = -1;
    for (int64_t i = model->earlier; i < model->epochs; i++) {
        const enhope_history *row = &model->history[i], *kept = &model->history[best < 0 ? i : best];
        const bool equal = row->valid_error == kept->valid_error;
        if (best < 0 || !isfinite(row->valid_error) || row->valid_error < kept->valid_error ||
            (equal && row->loss < kept->loss))
            best = i;
    }
    return best;
}

void enhope_model_get_info(const enhope_model *model, enhope_model_info *info)
{
    *info = (enhope_model_info){
        .method = model->method,
        .map = model->map->name,
        .inputs = model->shape.H,
        .outputs = model->shape.h,
        .factors = model->shape.F,
        .hidden = model->shape.m,
        .order = model->shape.order,
        .parameters = eh_map_parameters(model->map, &model->shape),
        .references = model->r,
        .references_are_exemplars = model->exemplars,
        .classes = eh_model_classifies(model) ? model->c : 0,
        .neighbours = model->k,
        .votes = model->votes,
        .epochs = model->epochs,
        .earlier = model->earlier,
        .best = best_row(model),
        .temperature = model->errors.temperature,
        .image_rows = model->input.image_rows,
        .image_columns = model->input.image_columns,
        .valid_n = model->errors.valid_n,
        .valid_errors = model->errors.valid,
        .train_n = model->errors.train_n,
        .train_errors = model->errors.train,
    };
}

bool eh_model_classifies(const enhope_model *model)
{
    return model->c != 1 || *model->class_name[0];
}

const char *enhope_model_class_name(const enhope_model *model, int32_t k)
{
    return k >= 0 && k < model->c && eh_model_classifies(model) ? model->class_name[k] : NULL;
}

const char *enhope_model_input_name(const enhope_model *model, int64_t j)
{
    return model->input.name && j >= 0 && j < model->shape.H ? model->input.name[j] : NULL;
}

enhope_status enhope_model_exemplars(enhope_context *ctx, const enhope_model *model, float *X)
{
    if (!model->exemplars)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "the model has no exemplars: it compares with embedded training points");
    const int64_t H = model->shape.H;
    for (int64_t i = 0; i < model->r; i++)
        for (int64_t j = 0; j < H; j++) { /* an input that is scaled by 0 has the constant value `shift` */
            const float scaled = model->mul[j] != 0 ? model->reference[i * H + j] / model->mul[j] : 0;
            X[i * H + j] = scaled + model->shift[j];
        }
    return ENHOPE_OK;
}

const char *enhope_model_setting(const enhope_model *model, const char *name)
{
    for (int32_t i = 0; i < model->setting.count; i++)
        if (!strcmp(model->setting.pair[i].name, name)) return model->setting.pair[i].value;
    return NULL;
}

static eh_pair_text *find_note(const enhope_model *model, const char *name)
{
    for (int32_t i = 0; i < model->note.count; i++)
        if (!strcmp(model->note.pair[i].name, name)) return &model->note.pair[i];
    return NULL;
}

const char *enhope_model_note(const enhope_model *model, const char *name)
{
    const eh_pair_text *note = find_note(model, name);
    return note ? note->value : NULL;
}

enhope_status enhope_model_set_note(enhope_context *ctx, enhope_model *model, const char *name, const char *text)
{
    char *value = eh_strdup(text), *key = NULL;
    eh_pair_text *note = find_note(model, name), *grown;
    enhope_status status = ENHOPE_OK;
    if (!value) EH_CHECK(eh_fail_memory(ctx, "a note", strlen(text) + 1, 1));
    if (!note && model->note.count == EH_MODEL_MAX_NOTES)
        EH_CHECK(
            eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a model has at most %d notes; remove one first", EH_MODEL_MAX_NOTES));
    if (!note) {
        key = eh_strdup(name);
        if (!key) EH_CHECK(eh_fail_memory(ctx, "a note", strlen(name) + 1, 1));
        grown = eh_grow(model->note.pair, (size_t)model->note.count, (size_t)model->note.count + 1, sizeof *grown);
        if (!grown) EH_CHECK(eh_fail_memory(ctx, "notes", (size_t)model->note.count + 1, sizeof *grown));
        model->note.pair = grown;
        note = &grown[model->note.count++];
        *note = (eh_pair_text){.name = key};
        key = NULL;
    }
    eh_free(note->value);
    note->value = value;
    value = NULL;
cleanup:
    eh_free(key);
    eh_free(value);
    return status;
}

const enhope_history *enhope_model_history(const enhope_model *model, int64_t *rows)
{
    if (rows) *rows = model->epochs;
    return model->history;
}
