/* Loads a model, classifies new points and says where they lie.
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
    enhope_dataset_info of_data;
    enhope_model_info of_model;
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
    enhope_model_get_info(model, &of_model);
    enhope_dataset_get_info(data, &of_data);

    /* The arrays that are asked for are the caller's; those left NULL are not computed. */
    const size_t n = (size_t)of_data.n, h = (size_t)of_model.outputs;
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
