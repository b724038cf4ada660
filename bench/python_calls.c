/* The calls of bench/python in C.
 *
 * usage: enhope-bench-python MODEL X.npy
 *
 * Prints seconds: to embed all rows, to predict all rows, to predict one row. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <enhope_advanced.h>

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One complete call: context, view, result. */
static void call(const enhope_model *model, const float *x, int64_t n, int64_t H, float *Y, int32_t *label)
{
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *data = NULL;
    enhope_status status = enhope_dataset_view_f32(ctx, n, H, x, NULL, 0, NULL, &data);
    if (!status)
        status = Y ? enhope_model_embed(ctx, model, data, Y)
                   : enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.label = label});
    if (status) {
        fprintf(stderr, "bench: %s\n", enhope_error(ctx));
        exit(1);
    }
    enhope_dataset_free(data);
    enhope_context_free(ctx);
}

/* The shortest time of a call in `outer` repeats, each the mean of `inner` calls. */
static double best(const enhope_model *model, const float *x, int64_t n, int64_t H, float *Y, int32_t *label, int outer,
                   int inner)
{
    double shortest = 1e9;
    for (int o = 0; o < outer; o++) {
        const double start = now();
        for (int i = 0; i < inner; i++) call(model, x, n, H, Y, label);
        const double time = (now() - start) / inner;
        if (time < shortest) shortest = time;
    }
    return shortest;
}

int main(int argc, char **argv)
{
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    enhope_dataset *data = NULL;
    if (argc != 3 || enhope_model_load(ctx, argv[1], &model) ||
        enhope_dataset_read(ctx, &(enhope_source){.path = argv[2]}, &data)) {
        fprintf(stderr, "bench: %s\n", argc == 3 ? enhope_error(ctx) : "usage: MODEL X.npy");
        return 1;
    }
    enhope_dataset_info info;
    enhope_model_info about;
    enhope_values values;
    enhope_dataset_get_info(data, &info);
    enhope_dataset_get_values(data, &values);
    enhope_model_get_info(model, &about);
    float *Y = malloc((size_t)(info.n * about.outputs) * sizeof *Y);
    int32_t *label = malloc((size_t)info.n * sizeof *label);
    if (!Y || !label || !values.f32) return 1;
    printf("%.9f ", best(model, values.f32, info.n, info.inputs, Y, NULL, 15, 1));
    printf("%.9f ", best(model, values.f32, info.n, info.inputs, NULL, label, 15, 1));
    printf("%.9f\n", best(model, values.f32, 1, info.inputs, NULL, label, 200, 20));
    free(Y);
    free(label);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
    return 0;
}
