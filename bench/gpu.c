/* Measures training and prediction on a GPU, for the table of bench/gpu.
 *
 *   enhope-bench-gpu [--data SPEC] [--rows N] [epoch] [large] [predict] [knn]
 *
 * Each line of output is `name value unit`. Times are the best of several runs. The data is on the
 * device, except for `stream`, which copies it from host memory during prediction. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common.h"

static const char *data_path = "synthetic:digits,n=60000,seed=1";
static int64_t predict_rows = 10000000;
static enhope_context *ctx;
static const char *const PRECISIONS[] = {"fp32", "tf32", "bf16"};

static enhope_dataset *read_part(const char *part)
{
    enhope_dataset *data = NULL;
    must(ctx, enhope_dataset_read(ctx, &(enhope_source){.path = data_path, .part = part}, &data));
    return data;
}

/* Seconds of the fastest epoch. The first two, which create CUDA graphs, do not count. */
static double epoch_seconds(const enhope_dataset *data, const char *const *pairs, int epochs)
{
    enhope_settings *s = settings_of(ctx, pairs);
    enhope_trainer *t = NULL;
    must(ctx, enhope_trainer_create(ctx, NULL, data, s, &t));
    double best = 1e30, start = now();
    for (int epoch = 0, done = 0; epoch < epochs && !done;) {
        enhope_progress p;
        must(ctx, enhope_trainer_step(t, &p, &done));
        if (!p.epoch_done) continue;
        const double seconds = now() - start;
        if (epoch++ >= 2 && seconds < best) best = seconds;
        start = now();
    }
    enhope_trainer_free(t);
    enhope_settings_free(s);
    return best;
}

static void bench_epoch(void)
{
    static const char *const pairs[] = {
        "n_factors",           "800", "n_hidden", "400",  "n_exemplars", "20",   "solver", "adam",
        "validation_fraction", "0",   "n_epochs", "1000", "batch_size",  "1000", NULL};
    enhope_dataset *data = read_part("train");
    for (int i = 0; i < 3; i++) {
        must(ctx, enhope_context_set_precision(ctx, PRECISIONS[i]));
        printf("epoch_%s %.3f ms\n", PRECISIONS[i], epoch_seconds(data, pairs, 40) * 1e3);
    }
    enhope_dataset_free(data);
}

static void bench_large(void)
{
    static const char *const pairs[] = {
        "n_factors",           "2000", "n_hidden", "1000", "n_exemplars", "20",   "solver", "adam",
        "validation_fraction", "0",    "n_epochs", "1000", "batch_size",  "8192", NULL};
    enhope_dataset *all = read_part("train"), *data = NULL;
    enhope_dataset_info info;
    enhope_dataset_get_info(all, &info);
    enhope_dataset_free(all);
    const int64_t n = info.n / 8192 * 8192; /* whole batches */
    must(ctx, enhope_dataset_read(ctx, &(enhope_source){.path = data_path, .part = "train", .limit = n}, &data));
    for (int i = 0; i < 3; i++) {
        must(ctx, enhope_context_set_precision(ctx, PRECISIONS[i]));
        const double flops = (double)(n / 8192) * step_flops(8192, 20, (double)info.inputs, 2000, 1000, 2);
        printf("large_step_%s %.1f TFLOP/s\n", PRECISIONS[i], flops / epoch_seconds(data, pairs, 12) * 1e-12);
    }
    enhope_dataset_free(data);
}

/* A briefly trained model; prediction time does not depend on training. */
static enhope_model *model_of(const enhope_dataset *data, const char *factors, const char *hidden)
{
    const char *const pairs[] = {
        "n_factors",           factors, "n_hidden",   hidden, "n_exemplars", "20", "solver", "adam",
        "validation_fraction", "0",     "time_limit", "0.01", "n_epochs",    "1",  NULL};
    enhope_settings *s = settings_of(ctx, pairs);
    enhope_model *model = NULL;
    must(ctx, enhope_train(ctx, data, s, NULL, NULL, &model));
    enhope_settings_free(s);
    return model;
}

static void bench_predict(void)
{
    static const struct {
        const char *factors, *hidden;
        double F, m;
    } shapes[] = {{"800", "400", 800, 400}, {"2000", "1000", 2000, 1000}};
    enhope_dataset *data = read_part("train"), *many = NULL;
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    const size_t H = (size_t)info.inputs, n = (size_t)predict_rows;
    uint8_t *x = malloc(n * H);
    int32_t *label = calloc(n, sizeof *label);
    if (!x || !label) {
        printf("predict_rows 0 rows (not enough memory for %zu)\n", n);
        exit(1);
    }
    uint32_t state = 1;
    for (size_t i = 0; i < H * 65536 && i < n * H; i++)
        x[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    for (size_t i = 65536; i < n; i += 65536) memcpy(x + i * H, x, (n - i < 65536 ? n - i : 65536) * H);
    must(ctx, enhope_dataset_view_u8(ctx, predict_rows, info.inputs, x, label, info.classes, NULL, &many));
    for (int shape = 0; shape < 2; shape++)
        for (int i = 0; i < 3; i++) {
            must(ctx, enhope_context_set_precision(ctx, PRECISIONS[i]));
            enhope_model *model = model_of(data, shapes[shape].factors, shapes[shape].hidden);
            double best = 1e30;
            for (int repeat = 0; repeat < 2; repeat++) {
                enhope_evaluation e = {0};
                must(ctx, enhope_model_evaluate(ctx, model, many, 0, &e));
                best = e.seconds < best ? e.seconds : best;
            }
            const double flops = forward_flops((double)n, (double)H, shapes[shape].F, shapes[shape].m, 2);
            printf("predict_F%s_%s %.1f TFLOP/s\n", shapes[shape].factors, PRECISIONS[i], flops / best * 1e-12);
            printf("predict_F%s_%s_time %.1f ms\n", shapes[shape].factors, PRECISIONS[i], best * 1e3);
            fflush(stdout);
            enhope_model_free(model);
        }
    must(ctx, enhope_context_set_precision(ctx, "bf16"));
    setenv("ENHOPE_GPU_MEMORY", "1000000000", 1);
    enhope_model *model = model_of(data, "800", "400");
    enhope_evaluation e = {0};
    must(ctx, enhope_model_evaluate(ctx, model, many, 0, &e));
    printf("stream_F800_bf16 %.1f GB/s\nstream_F800_bf16_time %.1f ms\n", (double)n * (double)H / e.seconds * 1e-9,
           e.seconds * 1e3);
    unsetenv("ENHOPE_GPU_MEMORY");
    enhope_model_free(model);
    enhope_dataset_free(many);
    enhope_dataset_free(data);
    free(x);
    free(label);
}

static void bench_knn(void)
{
    enhope_dataset *train = read_part("train"), *test = read_part("test");
    enhope_settings *s = settings_of(ctx, (const char *const[]){"method", "knn", NULL});
    enhope_model *model = NULL;
    must(ctx, enhope_train(ctx, train, s, NULL, NULL, &model));
    double best = 1e30;
    for (int repeat = 0; repeat < 5; repeat++) {
        enhope_evaluation e = {0};
        must(ctx, enhope_model_evaluate(ctx, model, test, 0, &e));
        best = e.seconds < best ? e.seconds : best;
    }
    printf("knn %.2f ms\n", best * 1e3);
    enhope_model_free(model);
    enhope_settings_free(s);
    enhope_dataset_free(train);
    enhope_dataset_free(test);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"epoch", bench_epoch}, {"large", bench_large}, {"predict", bench_predict}, {"knn", bench_knn}};
    enum { PARTS = sizeof parts / sizeof *parts };
    ctx = enhope_context_create();
    must(ctx, enhope_context_set_device(ctx, "cuda"));
    int named = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--data") && i + 1 < argc)
            data_path = argv[++i];
        else if (!strcmp(argv[i], "--rows") && i + 1 < argc)
            predict_rows = atoll(argv[++i]);
        else {
            bool known = false;
            for (int part = 0; part < PARTS; part++) known |= !strcmp(argv[i], parts[part].name);
            if (!known) {
                fprintf(stderr,
                        "enhope-bench-gpu: unknown argument '%s': expected [--data SPEC] [--rows N] [epoch] [large] "
                        "[predict] [knn]\n",
                        argv[i]);
                return 2;
            }
            named++;
        }
    }
    for (int part = 0; part < PARTS; part++) {
        int wanted = !named;
        for (int i = 1; i < argc; i++) wanted |= !strcmp(argv[i], parts[part].name);
        if (!wanted) continue;
        parts[part].run();
        fflush(stdout);
    }
    enhope_context_free(ctx);
    return 0;
}
