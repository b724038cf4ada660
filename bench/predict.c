/* Measures the predictor: `bench/predict` runs it and compares it with other programs.
 *
 *   enhope-bench-predict [--data FOLDER] [--model FILE] [row] [batch]
 *
 * Models are random weights for 784 inputs in three sizes, unless --model names one. Rows are the
 * test part of --data, or bytes of which 80 % are zero. row: times of calls with one row in one
 * thread. batch: 10,000 rows in one call, and BLAS's products of the same shapes in the same run,
 * the best of repeats that alternate. The last line of a batch is for rows without zeros. */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdbool.h>
#include <string.h>

#include "common.h"
#include "predict/int8/int8.h"

enum { H = 784, Z = 20, CLASSES = 10, SEED = 20170819, BATCH = 10000 };

static enhope_context *ctx;
static const char *const precisions[] = {"float32", "int8"};

typedef struct size {
    int64_t F, m;
} size;

static void fill(float *x, int64_t count, double deviation, uint32_t stream)
{
    for (int64_t i = 0; i < count; i++) x[i] = (float)(deviation * eh_random_normal(SEED, stream, (uint64_t)i));
}

static void *must_alloc(int64_t count, size_t bytes)
{
    void *block = calloc((size_t)count, bytes);
    if (!block) fputs("bench: out of memory\n", stderr), exit(1);
    return block;
}

/* ---- rows ---- */

typedef struct table {
    const uint8_t *x; /* (n, H) */
    int64_t n;
    uint8_t *own;
    enhope_dataset *data;
} table;

static table make_rows(int zeros)
{
    table t = {.n = BATCH, .own = must_alloc(BATCH * H, 1)};
    for (int64_t i = 0; i < BATCH * H; i++) {
        const uint64_t random = eh_random_u64(SEED, 6, (uint64_t)i);
        t.own[i] = (int)(random % 100) < zeros ? 0 : (uint8_t)(1 + (random >> 32) % 255);
    }
    t.x = t.own;
    return t;
}

static table read_rows(const char *path)
{
    table t = {.n = 0};
    enhope_dataset_info info;
    enhope_values values;
    must(ctx, enhope_dataset_read(ctx, &(enhope_source){.path = path, .part = "test"}, &t.data));
    enhope_dataset_get_info(t.data, &info);
    enhope_dataset_get_values(t.data, &values);
    if (info.inputs != H || !values.u8) fputs("bench: --data has no bytes of 784 inputs\n", stderr), exit(1);
    t.n = info.n < BATCH ? info.n : BATCH;
    t.x = values.u8;
    return t;
}

static void free_rows(table *t)
{
    free(t->own);
    enhope_dataset_free(t->data);
}

/* ---- a model ---- */

/* Random weights, with responses of the size of trained ones, and ranges of rows for int8. */
static enhope_model *make_model(size s, const table *t)
{
    const eh_map_shape shape = {.H = H, .h = 2, .F = s.F, .m = s.m, .order = 3};
    enhope_model *model = NULL;
    must(ctx, eh_model_create(ctx, "en-hope", &eh_map_hope, &shape, Z, true, CLASSES, 0, 0, &model));
    float *W = model->theta + (H + 1) * s.F, *b = W + s.F * s.m;
    fill(model->theta, (H + 1) * s.F, 0.1, 1);
    fill(W, s.F * s.m, 0.1, 2);
    fill(b, s.m, 0.1, 3);
    fill(b + s.m, 2 * s.m, 1, 4);
    fill(model->reference, (int64_t)Z * H, 0.3, 5);
    for (int64_t i = 0; i < Z; i++) model->reference_label[i] = (int32_t)(i * CLASSES / Z);
    for (int64_t j = 0; j < H; j++) model->mul[j] = 1.0f / 255;
    for (int32_t k = 0; k < CLASSES; k++) model->class_name[k] = eh_strdup("class");
    model->k = 1;
    model->errors.temperature = 1;
    const eh_matrix x = {.kind = ENHOPE_U8, .n = t->n, .H = H, .u8 = t->x};
    must(ctx, eh_int8_calibrate(ctx, model, &x, NULL, t->n, &model->int8));
    return model;
}

/* ---- one row ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* NULL if the model has no such arithmetic. */
static enhope_predictor *open_predictor(const enhope_model *model, const char *precision)
{
    enhope_predictor *p = NULL;
    const enhope_status status =
        enhope_predictor_create(ctx, model, &(enhope_predictor_options){.precision = precision}, &p);
    if (status && strcmp(precision, "float32")) return NULL;
    must(ctx, status);
    return p;
}

/* The percentiles of the best of several rounds. */
static void bench_row(const enhope_model *model, const table *t)
{
    enum { CALLS = 2000, ROUNDS = 20 };
    static double seconds[CALLS];
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    for (int i = 0; i < 2; i++) {
        enhope_predictor *p = open_predictor(model, precisions[i]);
        double p50 = 1e30, p99 = 1e30;
        for (int round = 0; p && round < ROUNDS; round++) {
            for (int64_t call = 0; call < CALLS; call++) {
                const enhope_rows row = {.n = 1, .kind = ENHOPE_U8, .values = t->x + call % t->n * H};
                int32_t label;
                const double start = now();
                must(ctx, enhope_predictor_label(p, &row, &label));
                seconds[call] = now() - start;
            }
            qsort(seconds, CALLS, sizeof *seconds, ascending);
            if (seconds[CALLS / 2] < p50) p50 = seconds[CALLS / 2];
            if (seconds[CALLS * 99 / 100] < p99) p99 = seconds[CALLS * 99 / 100];
        }
        if (p)
            printf("row    F=%-4lld m=%-4lld %-8s p50 %7.2f us   p99 %7.2f us\n", (long long)info.factors,
                   (long long)info.hidden, precisions[i], 1e6 * p50, 1e6 * p99);
        enhope_predictor_free(p);
    }
}

/* ---- a batch ---- */

typedef struct products {
    int64_t n;
    size s;
    float *X, *U, *T, *C, *W;
} products;

static products make_products(int64_t n, size s)
{
    const products p = {n,
                        s,
                        must_alloc(n * (H + 1), sizeof(float)),
                        must_alloc(n * s.F, sizeof(float)),
                        must_alloc(n * s.m, sizeof(float)),
                        must_alloc((H + 1) * s.F, sizeof(float)),
                        must_alloc(s.F * s.m, sizeof(float))};
    fill(p.X, n * (H + 1), 1, 7);
    fill(p.C, (H + 1) * s.F, 0.1, 8);
    fill(p.W, s.F * s.m, 0.1, 9);
    return p;
}

static void free_products(products *p)
{
    free(p->X), free(p->U), free(p->T), free(p->C), free(p->W);
}

/* Seconds of X C and U W in BLAS. */
static double multiply(const products *p)
{
    const int n = (int)p->n, F = (int)p->s.F, m = (int)p->s.m;
    const double start = now();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, F, H + 1, 1, p->X, H + 1, p->C, F, 0, p->U, F);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, F, 1, p->U, F, p->W, m, 0, p->T, m);
    return now() - start;
}

static void bench_batch(const enhope_model *model, const table *t, const char *rows)
{
    enum { REPEATS = 25 };
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    products blas = make_products(t->n, (size){info.factors, info.hidden});
    enhope_predictor *p[2];
    double ours[2] = {1e30, 1e30}, theirs = 1e30;
    int32_t *label = must_alloc(t->n, sizeof *label);
    for (int i = 0; i < 2; i++) p[i] = open_predictor(model, precisions[i]);
    for (int r = 0; r < REPEATS; r++) {
        for (int i = 0; i < 2; i++) {
            const double start = now();
            if (p[i])
                must(ctx,
                     enhope_predictor_label(p[i], &(enhope_rows){.n = t->n, .kind = ENHOPE_U8, .values = t->x}, label));
            if (now() - start < ours[i]) ours[i] = now() - start;
        }
        const double spent = multiply(&blas);
        if (spent < theirs) theirs = spent;
    }
    for (int i = 0; i < 2; i++) {
        if (p[i])
            printf("batch  F=%-4lld m=%-4lld %-8s %lld rows, %s: %.6f s   SGEMM %.6f s   rate of SGEMM %.2f\n",
                   (long long)info.factors, (long long)info.hidden, precisions[i], (long long)t->n, rows, ours[i],
                   theirs, theirs / ours[i]);
        enhope_predictor_free(p[i]);
    }
    free_products(&blas);
    free(label);
}

/* ---- */

int main(int argc, char **argv)
{
    static const size sizes[] = {{200, 100}, {400, 200}, {800, 400}};
    const char *data = NULL, *path = NULL;
    bool row = false, batch = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--data") && i + 1 < argc)
            data = argv[++i];
        else if (!strcmp(argv[i], "--model") && i + 1 < argc)
            path = argv[++i];
        else if (!strcmp(argv[i], "row"))
            row = true;
        else if (!strcmp(argv[i], "batch"))
            batch = true;
        else
            return fprintf(stderr, "usage: %s [--data FOLDER] [--model FILE] [row] [batch]\n", argv[0]), 2;
    }
    ctx = enhope_context_create();
    table t = data ? read_rows(data) : make_rows(80);
    const int count = path ? 1 : 3;
    for (int i = 0; i < count; i++) {
        enhope_model *model = NULL;
        if (path)
            must(ctx, enhope_model_load(ctx, path, &model));
        else
            model = make_model(sizes[i], &t);
        if (row || !batch) bench_row(model, &t);
        if (i == count - 1 && (batch || !row)) {
            table full = make_rows(0);
            bench_batch(model, &t, data ? "test digits" : "80 % zeros");
            bench_batch(model, &full, "no zeros");
            free_rows(&full);
        }
        enhope_model_free(model);
    }
    free_rows(&t);
    enhope_context_free(ctx);
    return 0;
}
