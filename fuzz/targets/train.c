/* Training with hostile settings on hostile numbers, within sizes that a run allows.
 *
 * Input: lines NAME=VALUE; an empty line; bytes of the values and labels. */
#include "fuzz.h"

static const struct {
    const char *name;
    long max;
} sizes[] = {{"n_factors", 40},    {"n_hidden", 30}, {"n_components", 9}, {"n_exemplars", 30}, {"n_epochs", 2},
             {"line_searches", 3}, {"n_chunks", 9},  {"graph_k", 20},     {"lmnn_k", 9},       {"batch_size", 1000}};

/* A setting without an effect would be an error of training. */
static void bound_sizes(enhope_settings *settings)
{
    char text[4096];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, sizes[i].name, text, sizeof text));
        if (strtol(text, NULL, 10) <= sizes[i].max || !enhope_settings_applies(settings, sizes[i].name)) continue;
        snprintf(text, sizeof text, "%ld", sizes[i].max);
        fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, sizes[i].name, text));
    }
    if (enhope_settings_applies(settings, "hidden_layer_sizes")) {
        fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, "hidden_layer_sizes", text, sizeof text));
        bool large = strlen(text) > 12;
        for (const char *at = text; *at; at++) large = large || strspn(at, "0123456789") > 2;
        if (large) fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "hidden_layer_sizes", "7-5"));
    }
    if (enhope_settings_applies(settings, "time_limit"))
        fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "time_limit", "2"));
}

/* (n, H) values in the range that the first byte chooses. */
static enhope_dataset *make_data(fuzz_input *in)
{
    static const float scales[] = {1, 1e-30F, 1e30F, 1e-3F, 1e38F, 1e5F, 0, 3};
    enum { H = 5, MAX_ROWS = 60, CLASSES = 4 };
    const float scale = scales[fuzz_byte(in) & 7];
    const int64_t n = in->left / (H + 1) < MAX_ROWS ? (int64_t)(in->left / (H + 1)) : MAX_ROWS;
    float *x = fuzz_alloc((size_t)n * H * sizeof *x);
    int32_t *label = fuzz_alloc((size_t)n * sizeof *label);
    enhope_dataset *data = NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < H; j++) x[i * H + j] = (float)((int8_t)fuzz_byte(in)) / 128 * scale;
        label[i] = fuzz_byte(in) % (CLASSES + 1) - 1;
    }
    (void)fuzz_good(enhope_dataset_view_f32(fuzz_ctx, n, H, x, label, CLASSES, NULL, &data));
    return data;
}

static int stop(const enhope_progress *progress, void *user)
{
    int *batches = user;
    FUZZ_MUST(progress->epoch >= 0 && progress->epoch <= progress->epochs && progress->seconds >= 0);
    return --*batches < 0;
}

FUZZ_TARGET(train)
{
    enhope_settings *settings = enhope_settings_create();
    for (int lines = 0; in->left > 0 && lines < 30; lines++) {
        char *name = fuzz_line(in), *value = strchr(name, '=');
        if (!*name) break;
        if (value) *value++ = '\0';
        (void)fuzz_good(enhope_settings_set(fuzz_ctx, settings, name, value ? value : ""));
    }
    bound_sizes(settings);
    int batches = 1 + fuzz_byte(in) % 20;
    enhope_dataset *data = make_data(in);
    enhope_model *model = NULL;
    if (data) {
        const enhope_status status = enhope_train(fuzz_ctx, data, settings, stop, &batches, &model);
        FUZZ_MUST(fuzz_good(status) == (model != NULL));
    }
    if (model) {
        enhope_evaluation evaluation = {0};
        fuzz_check_model(model);
        if (fuzz_good(enhope_model_evaluate(fuzz_ctx, model, data, 0, &evaluation)))
            FUZZ_MUST(evaluation.errors >= 0 && evaluation.errors <= evaluation.n);
    }
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_settings_free(settings);
}
