/* Compares the approximate neighbor graph of en-tsne with the exact one: time and share of the
 * nearest neighbors that it has.
 *
 *   enhope-bench-graph [--data SPEC] [--rows N] [--columns N] [--threads N]
 *
 * Rows are those of the training part, with their first columns. Exact neighbors are searched for
 * 1,000 of the rows, and their time is multiplied by n / 1000. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "common.h"
#include "compute/compute.h"
#include "compute/cpu/graph_search.h"
#include "data/data.h"

enum { K = 15, SAMPLE = 1000 };

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return argv[i + 1];
    return otherwise;
}

/* Rows 0, n / SAMPLE, 2 n / SAMPLE, ... of Z are compared with all. */
static double exact(enhope_context *ctx, const float *Z, int64_t n, int64_t dims, int64_t *index)
{
    eh_compute *c = NULL;
    float *Q = malloc(sizeof *Q * (size_t)(SAMPLE * dims)), *distance = malloc(sizeof *distance * SAMPLE * (K + 1));
    if (!Q || !distance) exit(1);
    for (int64_t i = 0; i < SAMPLE; i++) memcpy(Q + i * dims, Z + i * n / SAMPLE * dims, sizeof *Q * (size_t)dims);
    must(ctx, eh_compute_open(ctx, true, &c));
    eh_compute_begin(c);
    const double start = now();
    c->op->nearest(c, (const eh_real *)Q, SAMPLE, (const eh_real *)Z, n, dims, K + 1, (eh_row *)index,
                   (eh_real *)distance);
    const double seconds = now() - start;
    eh_compute_end(c);
    eh_compute_close(c);
    free(Q), free(distance);
    return seconds * (double)n / SAMPLE;
}

int main(int argc, char **argv)
{
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *data = NULL;
    enhope_dataset_info info;
    const enhope_source source = {.path = option(argc, argv, "--data", "synthetic:digits,n=60000,seed=1"),
                                  .part = "train",
                                  .limit = atoll(option(argc, argv, "--rows", "0"))};
    must(ctx, enhope_context_set_threads(ctx, atoi(option(argc, argv, "--threads", "2"))));
    must(ctx, enhope_dataset_read(ctx, &source, &data));
    enhope_dataset_get_info(data, &info);
    const int64_t n = info.n, dims = eh_min(info.inputs, atoll(option(argc, argv, "--columns", "784")));
    float *Z = malloc(sizeof *Z * (size_t)(n * dims)), *row = malloc(sizeof *row * (size_t)info.inputs);
    int32_t *index = malloc(sizeof *index * (size_t)(n * K));
    int64_t *nearest = malloc(sizeof *nearest * SAMPLE * (K + 1)), found = 0;
    if (!Z || !row || !index || !nearest || n < SAMPLE) exit(1);
    for (int64_t i = 0; i < n; i++) {
        eh_matrix_row(&data->x, i, row);
        memcpy(Z + i * dims, row, sizeof *Z * (size_t)dims);
    }
    const eh_graph_search search = {
        .Z = Z, .n = n, .dims = dims, .k = K, .seed = 1, .threads = eh_compute_threads(ctx)};
    const double start = now();
    must(ctx, eh_graph_search_run(ctx, &search, index));
    const double seconds = now() - start, all = exact(ctx, Z, n, dims, nearest);
    for (int64_t i = 0; i < SAMPLE; i++)
        for (int64_t j = 0; j < K + 1; j++)
            for (int64_t l = 0; l < K; l++) found += index[i * n / SAMPLE * K + l] == nearest[i * (K + 1) + j];
    printf("%lld rows of %lld columns: exact %.1f s, approximate %.1f s (ratio %.2f), %.2f %% of the %d nearest rows\n",
           (long long)n, (long long)dims, all, seconds, all / seconds, 100 * (double)found / (SAMPLE * K), K);
    free(Z), free(row), free(index), free(nearest);
    enhope_dataset_free(data);
    enhope_context_free(ctx);
    return 0;
}
