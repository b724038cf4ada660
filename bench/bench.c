/* Measures training and prediction relative to the speed of the machine: `make bench`.
 *
 *   bench [--data SPEC] [--command PATH] [--faiss SCRIPT]
 *         [memory] [step] [noise] [predict] [linear]
 *
 * Every figure is a ratio to a figure measured in the same run: the rate of SGEMM (the best of
 * repeats, interleaved with the measured code), exact nearest neighbors, or an epoch of another
 * size. The benchmark has no pass or fail. */
#define _GNU_SOURCE
#include <cblas.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

extern char **environ;

enum { REPEATS = 40 };

static enhope_context *ctx;
static const char *data_path = "synthetic:digits,n=60000,seed=1";
static const char *command = "enhope";
static const char *faiss_script;

static enhope_dataset *read_part(const char *part, int64_t limit)
{
    enhope_dataset *data = NULL;
    must(ctx, enhope_dataset_read(ctx, &(enhope_source){.path = data_path, .part = part, .limit = limit}, &data));
    return data;
}

/* GFLOP/s of a square product on all cores that takes about as long as a training step. Other rates
 * are compared with it. */
static double sgemm_rate(void)
{
    enum { S = 1312 };
    static float *A, *B, *C;
    if (!A) {
        A = malloc(sizeof *A * S * S), B = malloc(sizeof *B * S * S), C = malloc(sizeof *C * S * S);
        if (!A || !B || !C) exit(1);
        for (int i = 0; i < S * S; i++) A[i] = (float)(i % 17) - 8, B[i] = (float)(i % 13) - 6, C[i] = 0;
    }
    const double start = now();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, S, S, S, 1, A, S, B, S, 0, C, S);
    return 2.0 * S * S * S / (now() - start) * 1e-9;
}

static double best(double a, double b)
{
    return a > b ? a : b;
}

static const char *const PAPER[] = {
    "n_factors",           "800", "n_hidden", "400",  "n_exemplars", "20",   "solver", "adam",
    "validation_fraction", "0",   "n_epochs", "1000", "batch_size",  "1000", NULL};

static void bench_step(void)
{
    enhope_dataset *data = read_part("train", 0);
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    enhope_settings *s = settings_of(ctx, PAPER);
    enhope_trainer *t = NULL;
    must(ctx, enhope_trainer_create(ctx, NULL, data, s, &t));
    double gemm = 0, ours = 0;
    for (int r = 0; r < REPEATS; r++) {
        gemm = best(gemm, sgemm_rate());
        int done;
        const double start = now();
        must(ctx, enhope_trainer_step(t, NULL, &done));
        ours = best(ours, step_flops(1000, 20, (double)info.inputs, 800, 400, 2) / (now() - start) * 1e-9);
    }
    printf("training step   B=1000 F=800 m=400 H=%lld   %7.1f GFLOP/s   SGEMM %7.1f   ratio %.2f\n",
           (long long)info.inputs, ours, gemm, ours / gemm);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

/* The cost of noise, dropout, adversarial inputs and image transformations in a training step. The
 * variants are interleaved. */
static void bench_noise(void)
{
    enum { PLAIN, NOISE, DROPOUT, ADVERSARY, AFFINE, ELASTIC, KINDS };
    static const char *const names[KINDS][2] = {{"noise", "0"},     {"noise", "0.2"},
                                                {"dropout", "0.2"}, {"adversarial_step", "0.1"},
                                                {"affine", "1"},    {"elastic", "1"}};
    enhope_dataset *data = read_part("train", 0);
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    const int kinds = info.image_rows ? KINDS : AFFINE;
    enhope_trainer *t[KINDS] = {0};
    double seconds[KINDS];
    for (int k = 0; k < kinds; k++) {
        enhope_settings *s = settings_of(ctx, PAPER);
        must(ctx, enhope_settings_set(ctx, s, names[k][0], names[k][1]));
        must(ctx, enhope_trainer_create(ctx, NULL, data, s, &t[k]));
        enhope_settings_free(s);
        seconds[k] = 1e30;
    }
    for (int r = 0; r < REPEATS; r++)
        for (int k = 0; k < kinds; k++) {
            int done;
            const double start = now();
            must(ctx, enhope_trainer_step(t[k], NULL, &done));
            const double spent = now() - start;
            seconds[k] = spent < seconds[k] ? spent : seconds[k];
        }
    printf("noise           a training step takes %.4f s; %.3f times as long with noise, %.3f with dropout, %.3f with "
           "adversarial inputs\n",
           seconds[PLAIN], seconds[NOISE] / seconds[PLAIN], seconds[DROPOUT] / seconds[PLAIN],
           seconds[ADVERSARY] / seconds[PLAIN]);
    if (kinds == KINDS)
        printf("images          %.3f times as long with affine, %.3f with elastic transformations\n",
               seconds[AFFINE] / seconds[PLAIN], seconds[ELASTIC] / seconds[PLAIN]);
    for (int k = 0; k < kinds; k++) enhope_trainer_free(t[k]);
    enhope_dataset_free(data);
}

static void bench_predict(void)
{
    enhope_dataset *train = read_part("train", 0), *test = read_part("test", 0);
    enhope_dataset_info info;
    enhope_dataset_get_info(test, &info);
    static const char *const brief[] = {
        "n_factors",           "800", "n_hidden",   "400",  "n_exemplars", "20", "solver", "adam",
        "validation_fraction", "0",   "time_limit", "0.01", "n_epochs",    "1",  NULL};
    enhope_settings *s = settings_of(ctx, brief), *k = settings_of(ctx, (const char *const[]){"method", "knn", NULL});
    enhope_model *model = NULL, *knn = NULL;
    must(ctx, enhope_train(ctx, train, s, NULL, NULL, &model));
    must(ctx, enhope_train(ctx, train, k, NULL, NULL, &knn));
    const double flops = forward_flops((double)info.n, (double)info.inputs, 800, 400, 2);
    double gemm = 0, ours = 0, seconds = 1e30, knn_seconds = 1e30;
    for (int r = 0; r < REPEATS; r++) {
        enhope_evaluation e = {0};
        gemm = best(gemm, sgemm_rate());
        must(ctx, enhope_model_evaluate(ctx, model, test, 0, &e));
        ours = best(ours, flops / e.seconds * 1e-9);
        seconds = e.seconds < seconds ? e.seconds : seconds;
        if (r < 2) {
            must(ctx, enhope_model_evaluate(ctx, knn, test, 0, &e));
            knn_seconds = e.seconds < knn_seconds ? e.seconds : knn_seconds;
        }
    }
    printf("prediction      n=%lld F=800 m=400 z=20   %7.1f GFLOP/s   SGEMM %7.1f   ratio %.2f   (%.4f s)\n",
           (long long)info.n, ours, gemm, ours / gemm, seconds);
    printf("exact kNN       the same samples against all training samples: %.3f s, %.0f times as long\n", knn_seconds,
           knn_seconds / seconds);
    enhope_model_free(model), enhope_model_free(knn);
    enhope_settings_free(s), enhope_settings_free(k);
    enhope_dataset_free(train), enhope_dataset_free(test);
    fflush(stdout);
    if (!faiss_script) return;
    char ours_text[32];
    snprintf(ours_text, sizeof ours_text, "%.6f", seconds);
    char *const argv[] = {"python3", (char *)(uintptr_t)faiss_script, (char *)(uintptr_t)data_path, ours_text, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/usr/bin/python3", NULL, NULL, argv, environ) || waitpid(child, &status, 0) < 0)
        printf("faiss-flat      not measured: python3 could not be started\n");
}

static void bench_linear(void)
{
    static const int64_t sizes[] = {7500, 15000, 30000, 60000};
    static const char *const brief[] = {
        "n_factors",           "800", "n_hidden",   "400", "n_exemplars", "20", "solver", "adam",
        "validation_fraction", "0",   "batch_size", "500", "n_epochs",    "3",  NULL};
    printf("cost of an epoch, F=800 m=400 B=500\n");
    double per_row[4] = {0};
    enhope_settings *s = settings_of(ctx, brief);
    /* all sizes twice, so that a temporary slowdown does not affect one size only */
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 4; i++) {
            enhope_dataset *data = read_part("train", sizes[i]);
            enhope_dataset_info info;
            enhope_dataset_get_info(data, &info);
            enhope_trainer *t = NULL;
            must(ctx, enhope_trainer_create(ctx, NULL, data, s, &t));
            double start = now();
            int done = 0;
            while (!done) {
                enhope_progress p;
                must(ctx, enhope_trainer_step(t, &p, &done));
                if (!p.epoch_done) continue;
                const double us = (now() - start) / (double)info.n * 1e6;
                per_row[i] = per_row[i] == 0 || us < per_row[i] ? us : per_row[i];
                start = now();
            }
            enhope_trainer_free(t);
            enhope_dataset_free(data);
        }
    for (int i = 0; i < 4; i++)
        printf("  n = %6lld   %6.2f us a row   ratio to the first %.3f\n", (long long)sizes[i], per_row[i],
               per_row[i] / per_row[0]);
    enhope_settings_free(s);
}

static void bench_memory(void)
{
    char path[] = "/tmp/enhope-bench-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) return;
    char *const argv[] = {(char *)(uintptr_t)command,
                          "train",
                          "--data",
                          (char *)(uintptr_t)data_path,
                          "--n-epochs",
                          "1",
                          "--time",
                          "20",
                          "--quiet",
                          "-o",
                          path,
                          NULL};
    pid_t child;
    int status = 1;
    struct rusage usage;
    if (posix_spawnp(&child, command, NULL, NULL, argv, environ) == 0 && wait4(child, &status, 0, &usage) == child &&
        status == 0)
        printf("peak memory     enhope train, the paper's settings: %.0f MB\n", (double)usage.ru_maxrss / 1024);
    else
        printf("peak memory     not measured: '%s train' failed\n", command);
    unlink(path);
}

int main(int argc, char **argv)
{
    ctx = enhope_context_create();
    bool some = false;
    /* memory is first, because a child is charged with the memory of its parent at the start */
    enum { PARTS = 5 };
    const char *names[PARTS] = {"memory", "step", "noise", "predict", "linear"};
    void (*const run[PARTS])(void) = {bench_memory, bench_step, bench_noise, bench_predict, bench_linear};
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--", 2) && i + 1 < argc) {
            const char *value = argv[++i];
            if (!strcmp(argv[i - 1], "--data")) data_path = value;
            if (!strcmp(argv[i - 1], "--command")) command = value;
            if (!strcmp(argv[i - 1], "--faiss")) faiss_script = value;
        }
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (int b = 0; b < PARTS; b++) known |= !strcmp(argv[i], names[b]);
        if (!strncmp(argv[i], "--", 2) && i + 1 < argc)
            i++;
        else if (!known) {
            fprintf(stderr, "bench: unknown part '%s': expected memory, step, noise, predict or linear\n", argv[i]);
            return 2;
        }
    }
    printf("data: %s\n", data_path);
    fflush(stdout);
    for (int pass = 0; pass < 2 && !some; pass++) /* the parts that are named, or all */
        for (int b = 0; b < PARTS; b++) {
            bool wanted = pass == 1;
            for (int i = 1; i < argc; i++) wanted |= !strcmp(argv[i], names[b]);
            if (!wanted) continue;
            some = true;
            run[b]();
            fflush(stdout);
        }
    enhope_context_free(ctx);
    return 0;
}
