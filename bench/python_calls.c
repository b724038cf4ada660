/* The calls of bench/python and bench/predict in C, with a predictor.
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

static void call(const enhope_predictor *p, const float *x, int64_t n, float *Y, int32_t *label)
{
    const enhope_rows rows = {.n = n, .kind = ENHOPE_F32, .values = x};
    const enhope_status status = Y ? enhope_predictor_embed(p, &rows, Y) : enhope_predictor_label(p, &rows, label);
    if (!status) return;
    fprintf(stderr, "bench: %s\n", enhope_status_text(status));
    exit(1);
}

/* The shortest time of a call in `outer` repeats, each the mean of `inner` calls. */
static double best(const enhope_predictor *p, const float *x, int64_t n, float *Y, int32_t *label, int outer, int inner)
{
    double shortest = 1e9;
    for (int o = 0; o < outer; o++) {
        const double start = now();
        for (int i = 0; i < inner; i++) call(p, x, n, Y, label);
        const double time = (now() - start) / inner;
        if (time < shortest) shortest = time;
    }
    return shortest;
}

int main(int argc, char **argv)
{
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    enhope_predictor *p = NULL;
    enhope_dataset *data = NULL;
    if (argc != 3 || enhope_model_load(ctx, argv[1], &model) || enhope_predictor_create(ctx, model, NULL, &p) ||
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
    printf("%.9f ", best(p, values.f32, info.n, Y, NULL, 15, 1));
    printf("%.9f ", best(p, values.f32, info.n, NULL, label, 15, 1));
    printf("%.9f\n", best(p, values.f32, 1, NULL, label, 200, 20));
    free(Y);
    free(label);
    enhope_dataset_free(data);
    enhope_predictor_free(p);
    enhope_model_free(model);
    enhope_context_free(ctx);
    return 0;
}
