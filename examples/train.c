/* Trains a model in one call and saves it.
 *
 *   train [DATA [MODEL]]
 *
 * DATA is any value of `enhope train --data`; the default is three Gaussian blobs.
 */
#include <stdio.h>

#include <enhope.h>

static int report(const enhope_progress *p, void *user)
{
    (void)user;
    if (p->epoch_done) printf("epoch %lld of %lld: loss %.4f\n", (long long)p->epoch, (long long)p->epochs, p->loss);
    return 0; /* any other value stops training and keeps the best model so far */
}

int main(int argc, char **argv)
{
    const enhope_source source = {.path = argc > 1 ? argv[1] : "synthetic:blobs,n=600,classes=3,inputs=5,seed=1"};
    const char *const path = argc > 2 ? argv[2] : "model.safetensors";
    const char *const choice[][2] = {{"method", "en-hope"}, {"n_factors", "16"}, {"n_hidden", "8"}, {"n_epochs", "5"}};
    enhope_context *ctx = enhope_context_create();
    enhope_settings *settings = enhope_settings_create();
    enhope_dataset *data = NULL;
    enhope_model *model = NULL;
    enhope_evaluation result = {0};
    int failed = 1;

    if (!ctx || !settings) goto cleanup;
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++)
        if (enhope_settings_set(ctx, settings, choice[i][0], choice[i][1])) goto cleanup;

    if (enhope_dataset_read(ctx, &source, &data)) goto cleanup;
    if (enhope_train(ctx, data, settings, report, NULL, &model)) goto cleanup;
    if (enhope_model_evaluate(ctx, model, data, 0, &result)) goto cleanup;
    if (enhope_model_save(ctx, model, path)) goto cleanup;
    printf("%s: %lld of %lld training samples misclassified\n", path, (long long)result.errors, (long long)result.n);
    failed = 0;

cleanup:
    if (failed) fprintf(stderr, "train: %s\n", ctx ? enhope_error(ctx) : "out of memory");
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_settings_free(settings);
    enhope_context_free(ctx);
    return failed;
}
