/* Trains step by step on an array in memory, with a stopping rule of the caller.
 *
 *   steps [MODEL]
 *
 * The data is two concentric rings. No linear map separates them; a map of order 2 does.
 */
#include <math.h>
#include <stdio.h>

#include <enhope_advanced.h>

enum { SAMPLES = 400, INPUTS = 2, MAX_BATCHES = 200 };

int main(int argc, char **argv)
{
    static float x[SAMPLES][INPUTS];
    static int32_t label[SAMPLES];
    const char *const names[] = {"inner", "outer"};
    enhope_context *ctx = enhope_context_create();
    enhope_settings *settings = enhope_settings_create();
    enhope_dataset *data = NULL;
    enhope_trainer *trainer = NULL;
    enhope_model *model = NULL;
    enhope_progress progress = {0};
    enhope_evaluation result = {0};
    int done = 0, failed = 1;

    for (int i = 0; i < SAMPLES; i++) {
        const double angle = 0.618 * i, radius = i % 2 ? 2.1 : 0.9;
        label[i] = i % 2;
        x[i][0] = (float)(radius * cos(angle) + 0.1 * sin(7.3 * i));
        x[i][1] = (float)(radius * sin(angle) + 0.1 * cos(3.7 * i));
    }
    if (!ctx || !settings) goto cleanup;
    if (enhope_settings_set(ctx, settings, "solver", "adam")) goto cleanup;
    if (enhope_settings_set(ctx, settings, "batch_size", "100")) goto cleanup;
    if (enhope_settings_set(ctx, settings, "n_factors", "16")) goto cleanup;
    if (enhope_settings_set(ctx, settings, "n_hidden", "8")) goto cleanup;
    if (enhope_dataset_view_f32(ctx, SAMPLES, INPUTS, x[0], label, 2, names, &data)) goto cleanup;
    if (enhope_trainer_create(ctx, NULL, data, settings, &trainer)) goto cleanup;

    for (int batch = 0; !done && batch < MAX_BATCHES; batch++) {
        if (enhope_trainer_step(trainer, &progress, &done)) goto cleanup;
        if (batch % 40 == 0) printf("batch %d: loss %.4f\n", batch, progress.loss);
    }
    if (enhope_trainer_model(trainer, &model)) goto cleanup;
    if (enhope_model_evaluate(ctx, model, data, 0, &result)) goto cleanup;
    if (argc > 1 && enhope_model_save(ctx, model, argv[1])) goto cleanup;
    printf("%lld of %lld training samples misclassified\n", (long long)result.errors, (long long)result.n);
    failed = 0;

cleanup:
    if (failed) fprintf(stderr, "steps: %s\n", ctx ? enhope_error(ctx) : "out of memory");
    enhope_model_free(model);
    enhope_trainer_free(trainer);
    enhope_dataset_free(data);
    enhope_settings_free(settings);
    enhope_context_free(ctx);
    return failed;
}
