/* Checks of models: what their functions show and predict is consistent, and a saved model is the
 * model. */
#include <math.h>

#include "fuzz.h"

enum { ROWS = 3, CELLS = 1 << 16 };

const enhope_model *fuzz_trained(const char *method, const char *path, enhope_dataset **data)
{
    static const char *const values[][2] = {
        {"n_factors", "4"}, {"n_hidden", "3"}, {"n_epochs", "3"}, {"batch_size", "10"}, {"random_state", "7"}};
    const enhope_source source = {.path = path};
    enhope_settings *settings = enhope_settings_create();
    enhope_model *model = NULL;
    *data = NULL;
    fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "method", method));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        (void)enhope_settings_set(fuzz_ctx, settings, values[i][0], values[i][1]);
    fuzz_succeed(enhope_dataset_read(fuzz_ctx, &source, data));
    fuzz_succeed(enhope_train(fuzz_ctx, *data, settings, NULL, NULL, &model));
    enhope_settings_free(settings);
    fuzz_keep_memory();
    return model;
}

uint8_t *fuzz_safetensors(const fuzz_input *in, size_t *size)
{
    const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
    const size_t header = end ? (size_t)(end - in->at) : in->left, data = end ? in->left - header - 1 : 0;
    uint8_t *file = fuzz_alloc(8 + header + data);
    for (int i = 0; i < 8; i++) file[i] = (uint8_t)((uint64_t)header >> 8 * i);
    if (header) memcpy(file + 8, in->at, header);
    if (data) memcpy(file + 8 + header, end + 1, data);
    *size = 8 + header + data;
    return file;
}

/* ---- what a model shows ---- */

static void check_columns(const enhope_model *model, const enhope_model_info *info)
{
    static const char types[] = "number boolean category date";
    enhope_column_info c;
    int64_t next = 0;
    for (int64_t j = 0; j < enhope_model_column_count(model); j++) {
        FUZZ_MUST(enhope_model_column(model, j, &c));
        FUZZ_MUST(strstr(types, c.type) && c.first == next && c.inputs >= 0);
        for (int32_t k = 0; k < c.categories; k++) FUZZ_MUST(c.category[k] && *c.category[k]);
        next = c.first + c.inputs;
    }
    FUZZ_MUST(enhope_model_column_count(model) == 0 || next == info->inputs);
    FUZZ_MUST(!enhope_model_column(model, -1, &c));
    FUZZ_MUST(!enhope_model_column(model, enhope_model_column_count(model), &c));
}

static void check_texts(const enhope_model *model, const enhope_model_info *info)
{
    int64_t rows = -1;
    enhope_training_data from;
    const enhope_history *history = enhope_model_history(model, &rows);
    FUZZ_MUST(rows == info->epochs && (rows == 0 || history));
    FUZZ_MUST(info->best >= -1 && info->best < rows && info->earlier >= 0 && info->earlier <= rows);
    for (int32_t k = 0; k < info->classes; k++) {
        const char *name = enhope_model_class_name(model, k);
        FUZZ_MUST(name && (k == 0 || strcmp(name, enhope_model_class_name(model, k - 1)) != 0));
    }
    FUZZ_MUST(!enhope_model_class_name(model, info->classes));
    for (int64_t j = 0; j < info->inputs && j < CELLS; j++) (void)enhope_model_input_name(model, j);
    (void)enhope_model_note(model, "python");
    (void)enhope_model_setting(model, "n_factors");
    (void)enhope_model_label_column(model);
    if (enhope_model_training_data(model, &from)) FUZZ_MUST(from.rows >= 0 && from.limit >= 0);
}

static void check_references(const enhope_model *model, const enhope_model_info *info)
{
    if (info->references > CELLS || info->references * info->outputs > CELLS) return;
    float *Y = fuzz_alloc((size_t)(info->references * info->outputs) * sizeof *Y);
    int32_t *label = fuzz_alloc((size_t)info->references * sizeof *label);
    if (!fuzz_good(enhope_model_references(fuzz_ctx, model, Y, label))) return;
    for (int64_t i = 0; i < info->references * info->outputs; i++) FUZZ_MUST(isfinite(Y[i]));
    for (int64_t i = 0; i < info->references && info->classes > 0; i++)
        FUZZ_MUST(label[i] >= 0 && label[i] < info->classes);
    if (!info->references_are_exemplars || info->references * info->inputs > CELLS) return;
    enhope_dataset *data = NULL;
    if (!fuzz_good(enhope_model_exemplar_data(fuzz_ctx, model, &data))) return;
    fuzz_check_data(data);
    enhope_dataset_free(data);
}

/* A saved model is loaded and saved to a byte-identical file. */
static void check_bytes(const enhope_model *model)
{
    size_t size = 0, again = 0;
    enhope_model *copy = NULL;
    if (!fuzz_good(enhope_model_save_bytes(fuzz_ctx, model, NULL, 0, &size))) return;
    uint8_t *saved = fuzz_alloc(size), *second = fuzz_alloc(size);
    fuzz_succeed(enhope_model_save_bytes(fuzz_ctx, model, saved, size, &again));
    FUZZ_MUST(again == size);
    fuzz_succeed(enhope_model_load_bytes(fuzz_ctx, saved, size, &copy));
    fuzz_succeed(enhope_model_save_bytes(fuzz_ctx, copy, second, size, &again));
    FUZZ_MUST(again == size && !memcmp(saved, second, size));
    enhope_model_free(copy);
}

/* ---- what a model predicts ---- */

enhope_dataset *fuzz_rows_of(const enhope_model *model, int64_t n)
{
    enhope_model_info info;
    enhope_dataset *data = NULL;
    enhope_model_get_info(model, &info);
    float *x = fuzz_alloc((size_t)(n * info.inputs) * sizeof *x);
    for (int64_t i = 0; i < n * info.inputs; i++) x[i] = (float)(i % 7) * 0.375F - 1;
    fuzz_succeed(enhope_dataset_view_f32(fuzz_ctx, n, info.inputs, x, NULL, 0, NULL, &data));
    return data;
}

static void check_proba(const float *proba, const int32_t *label, int32_t c)
{
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0;
        FUZZ_MUST(label[i] >= 0 && label[i] < c);
        for (int32_t k = 0; k < c; k++) {
            FUZZ_MUST(proba[i * c + k] >= 0 && proba[i * c + k] <= 1);
            sum += proba[i * c + k];
        }
        FUZZ_MUST(fabs(sum - 1) < 1e-3);
    }
}

static void check_predictor(const enhope_model *model, const enhope_model_info *info, const enhope_dataset *data,
                            const char *precision)
{
    const enhope_predictor_options options = {.precision = precision};
    enhope_predictor *p = NULL;
    enhope_values v;
    if (!fuzz_good(enhope_predictor_create(fuzz_ctx, model, &options, &p))) return;
    enhope_dataset_get_values(data, &v);
    const enhope_rows rows = {.n = ROWS, .kind = ENHOPE_F32, .values = v.f32};
    int32_t *label = fuzz_alloc(ROWS * sizeof *label);
    float *proba = fuzz_alloc(ROWS * (size_t)(info->classes + 1) * sizeof *proba);
    float *Y = fuzz_alloc(ROWS * (size_t)info->outputs * sizeof *Y);
    if (enhope_predictor_embed(p, &rows, Y) == ENHOPE_OK)
        for (int64_t i = 0; i < ROWS * info->outputs; i++) FUZZ_MUST(isfinite(Y[i]));
    if (info->classes > 0 && enhope_predictor_label(p, &rows, label) == ENHOPE_OK &&
        enhope_predictor_proba(p, &rows, proba) == ENHOPE_OK)
        check_proba(proba, label, info->classes);
    enhope_predictor_free(p);
}

static void check_predictions(const enhope_model *model, const enhope_model_info *info)
{
    if (info->inputs > CELLS || info->outputs > CELLS || info->classes > CELLS) return;
    enhope_dataset *data = fuzz_rows_of(model, ROWS);
    const size_t c = (size_t)info->classes, h = (size_t)info->outputs;
    enhope_prediction out = {.winner = fuzz_alloc(ROWS * sizeof *out.winner),
                             .distance = fuzz_alloc(ROWS * sizeof *out.distance),
                             .Y = fuzz_alloc(ROWS * h * sizeof *out.Y)};
    if (c > 0) {
        out.label = fuzz_alloc(ROWS * sizeof *out.label);
        out.proba = fuzz_alloc(ROWS * c * sizeof *out.proba);
    }
    if (fuzz_good(enhope_model_predict(fuzz_ctx, model, data, 0, &out))) {
        for (size_t i = 0; i < ROWS * h; i++) FUZZ_MUST(isfinite(out.Y[i]));
        for (int i = 0; i < ROWS; i++) {
            FUZZ_MUST(out.winner[i] >= 0 && out.winner[i] < info->references);
            FUZZ_MUST(out.distance[i] >= 0);
        }
        if (c > 0) check_proba(out.proba, out.label, info->classes);
    }
    check_predictor(model, info, data, "float32");
    if (enhope_model_int8(model)) check_predictor(model, info, data, "int8");
    enhope_dataset_free(data);
}

void fuzz_check_model(const enhope_model *model)
{
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    FUZZ_MUST(info.inputs > 0 && info.outputs > 0 && info.references > 0 && info.classes >= 0);
    FUZZ_MUST(info.method && info.map && info.parameters >= 0 && info.neighbours >= 0);
    FUZZ_MUST(isfinite(info.temperature) && info.temperature > 0);
    FUZZ_MUST(info.valid_errors <= info.valid_n && info.train_errors <= info.train_n);
    check_columns(model, &info);
    check_texts(model, &info);
    check_references(model, &info);
    check_bytes(model);
    check_predictions(model, &info);
}
