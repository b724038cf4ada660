/* Matches data with a model: its inputs and its classes. Makes data of its exemplars. */
#include <string.h>

#include "data/data.h"
#include "model/model.h"

enhope_status eh_model_inputs(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, eh_matrix *x)
{
    const int64_t H = model->shape.H;
    *x = data->x;
    if (x->kind == ENHOPE_CSR && x->H < H) x->H = H; /* a sparse file is as wide as its last nonzero column */
    if (x->H != H)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "the data has %lld inputs, the model %lld; use data with the inputs of training",
                       (long long)data->x.H, (long long)H);
    for (int64_t j = 0; data->input_name && model->input.name && j < data->x.H; j++)
        if (strcmp(data->input_name[j], model->input.name[j]))
            return eh_fail(
                ctx, ENHOPE_ERROR_DATA,
                "input %lld of the data is '%.60s', of the model '%.60s': expected the inputs of training, in "
                "their order",
                (long long)j + 1, data->input_name[j], model->input.name[j]);
    return eh_encoding_check(ctx, model->input.encoding, data->encoding, "the model");
}

enhope_status eh_model_match_class(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, int32_t *out)
{
    const char *name = data->class_name[k];
    char *utf8 = eh_utf8_copy(name);
    if (!utf8) return eh_fail_memory(ctx, "a class name", strlen(name) + 1, 1);
    *out = -1;
    for (int32_t i = 0; i < model->c && *out < 0; i++) {
        const int32_t candidate =
            (int32_t)(((int64_t)k + i) % model->c); /* most data sets number the classes as the model does */
        if (!strcmp(model->class_name[candidate], name) || !strcmp(model->class_name[candidate], utf8))
            *out = candidate;
    }
    eh_free(utf8);
    return ENHOPE_OK;
}

/* Gives the columns and the image size of the model to data that has its inputs. */
static enhope_status describe(enhope_context *ctx, const enhope_model *model, enhope_dataset *data)
{
    eh_encoding *encoding = NULL;
    EH_TRY(eh_model_encoding(ctx, model, &encoding));
    const enhope_status status = eh_dataset_set_encoding(ctx, data, encoding);
    if (status) {
        eh_encoding_free(encoding);
        return status;
    }
    data->image_rows = model->input.image_rows;
    data->image_columns = model->input.image_columns;
    return ENHOPE_OK;
}

enhope_status enhope_model_exemplar_data(enhope_context *ctx, const enhope_model *model, enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    float *X = NULL;
    int64_t count;
    if (!eh_mul(model->r, model->shape.H, &count)) return eh_fail_memory(ctx, "exemplars", SIZE_MAX, 1);
    EH_CHECK(eh_new(ctx, "exemplars", count, sizeof *X, (void **)&X));
    EH_CHECK(enhope_model_exemplars(ctx, model, X));
    EH_CHECK(enhope_dataset_view_f32(ctx, model->r, model->shape.H, X, model->reference_label, model->c,
                                     (const char *const *)model->class_name, &data));
    data->owned[0] = X;
    X = NULL;
    EH_CHECK(describe(ctx, model, data));
    *out = data;
    data = NULL;
cleanup:
    eh_free(X);
    enhope_dataset_free(data);
    return status;
}
