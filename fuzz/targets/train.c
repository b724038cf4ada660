/* Training with hostile settings on hostile numbers, within sizes that a run allows.
 *
 * Input: lines NAME=VALUE; an empty line; bytes of the values and labels. */
#include "fuzz.h"

static const struct {
    const char *name;
    long small, large;
} sizes[] = {{"n_factors", 5, 40},    {"n_hidden", 4, 30},       {"n_components", 9, 9}, {"n_exemplars", 6, 30},
             {"n_epochs", 2, 2},      {"n_chunks", 9, 9},        {"graph_k", 20, 20},    {"lmnn_k", 9, 9},
             {"line_searches", 1, 3}, {"batch_size", 1000, 1000}};

/* A setting without an effect would be an error of training. */
static void bound_sizes(enhope_settings *settings, bool large)
{
    char text[4096];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, sizes[i].name, text, sizeof text));
        const long max = large ? sizes[i].large : sizes[i].small;
        if (strtol(text, NULL, 10) <= max || !enhope_settings_applies(settings, sizes[i].name)) continue;
        snprintf(text, sizeof text, "%ld", max);
        fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, sizes[i].name, text));
    }
    if (enhope_settings_applies(settings, "hidden_layer_sizes")) {
        fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, "hidden_layer_sizes", text, sizeof text));
        bool many = strlen(text) > 12;
        for (const char *at = text; *at; at++) many = many || strspn(at, "0123456789") > 2;
        if (many) fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "hidden_layer_sizes", "7-5"));
    }
    if (enhope_settings_applies(settings, "time_limit"))
        fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "time_limit", "2"));
}

/* (n, H) values in the range that the first byte chooses. */
static enhope_dataset *make_data(fuzz_input *in, bool large)
{
    static const float scales[] = {1, 1e-30F, 1e30F, 1e-3F, 1e38F, 1e5F, 0, 3};
    enum { H = 5, CLASSES = 4 };
    const size_t max_rows = large ? 60 : 13;
    const float scale = scales[fuzz_byte(in) & 7];
    const int64_t n = (int64_t)(in->left / (H + 1) < max_rows ? in->left / (H + 1) : max_rows);
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
    const int choice = fuzz_byte(in);
    const bool large = choice >= 240; /* a slow run */
    int batches = 1 + choice % (large ? 20 : 3);
    bound_sizes(settings, large);
    enhope_dataset *data = make_data(in, large);
    enhope_model *model = NULL;
    if (data) {
        const enhope_status status = enhope_train(fuzz_ctx, data, settings, stop, &batches, &model);
        FUZZ_MUST(fuzz_good(status) == (model != NULL));
    }
    if (model) {
        enhope_evaluation evaluation = {0};
        if (fuzz_one_of(8)) fuzz_check_model(model);
        if (fuzz_one_of(2) && fuzz_good(enhope_model_evaluate(fuzz_ctx, model, data, 0, &evaluation)))
            FUZZ_MUST(evaluation.errors >= 0 && evaluation.errors <= evaluation.n);
    }
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_settings_free(settings);
}
