/* Loads a model and prints the class and the coordinates of new samples.
 *
 *   predict MODEL DATA
 */
#include <stdio.h>
#include <stdlib.h>

#include <enhope.h>

int main(int argc, char **argv)
{
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    enhope_dataset *data = NULL;
    enhope_dataset_info data_info;
    enhope_model_info model_info;
    enhope_prediction out = {0};
    int failed = 1;

    if (argc != 3) {
        fprintf(stderr, "usage: predict MODEL DATA\n");
        enhope_context_free(ctx);
        return 2;
    }
    if (!ctx) goto cleanup;
    if (enhope_model_load(ctx, argv[1], &model)) goto cleanup;
    if (enhope_dataset_read(ctx, &(enhope_source){.path = argv[2], .limit = 10}, &data)) goto cleanup;
    enhope_model_get_info(model, &model_info);
    enhope_dataset_get_info(data, &data_info);

    /* The caller allocates the outputs. Outputs that are NULL are not computed. */
    const size_t n = (size_t)data_info.n, h = (size_t)model_info.outputs;
    out.label = malloc(n * sizeof *out.label);
    out.Y = malloc(n * h * sizeof *out.Y);
    if (!out.label || !out.Y) goto cleanup;
    if (enhope_model_predict(ctx, model, data, 0, &out)) goto cleanup;

    for (size_t i = 0; i < n; i++) {
        printf("%zu: %s at (", i, enhope_model_class_name(model, out.label[i]));
        for (size_t j = 0; j < h; j++) printf("%s%.3f", j ? ", " : "", (double)out.Y[i * h + j]);
        printf(")\n");
    }
    failed = 0;

cleanup:
    if (failed) fprintf(stderr, "predict: %s\n", ctx && *enhope_error(ctx) ? enhope_error(ctx) : "out of memory");
    free(out.label);
    free(out.Y);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
    return failed;
}
