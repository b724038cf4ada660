/* Products on the cpu and their epilogues.
 *
 * A product is cut into tiles whose size does not depend on the threads. Each tile is one call
 * of rows.c or of single-threaded BLAS, so the bits are the same for any number of threads. The
 * epilogue runs on each tile while it is in the cache. */
#include <cblas.h>
#include <omp.h>
#include <string.h>

#include "compute/cpu/cpu.h"

/* Tiles of this size lose a few percent to packing and give eight tiles for the widest product
 * of a batch of 1,000. Their rows are whole groups of rows.c, except for the last. */
enum { TILE_ROWS = 256, TILE_COLUMNS = 512 };

typedef struct tiles {
    int64_t M, N, down, across;
} tiles;

typedef struct tile {
    int64_t i, j, rows, columns;
} tile;

static tiles cut(int64_t M, int64_t N)
{
    return (tiles){M, N, (M + TILE_ROWS - 1) / TILE_ROWS, (N + TILE_COLUMNS - 1) / TILE_COLUMNS};
}

static tile tile_of(const tiles *all, int64_t number)
{
    const int64_t row = number / all->across, column = number % all->across;
    const int64_t groups = (all->M + EH_CPU_GROUP - 1) / EH_CPU_GROUP;
    const int64_t end = eh_chunk_start(groups, row + 1, all->down) * EH_CPU_GROUP;
    tile t = {.i = eh_chunk_start(groups, row, all->down) * EH_CPU_GROUP,
              .j = eh_chunk_start(all->N, column, all->across)};
    t.rows = (end < all->M ? end : all->M) - t.i;
    t.columns = eh_chunk_start(all->N, column + 1, all->across) - t.j;
    return t;
}

/* Rows of A may be samples, which must not influence each other; with ta, samples are summed
 * over. */
static void multiply(tile t, bool ta, bool tb, int64_t K, float alpha, const float *A, int64_t lda, const float *B,
                     int64_t ldb, float beta, float *C, int64_t ldc)
{
    if (!ta && alpha == 1 && beta == 0) {
        eh_cpu_rows(t.rows, t.columns, K, A + t.i * lda, lda, tb, B + (tb ? t.j * ldb : t.j), ldb, C + t.i * ldc + t.j,
                    ldc);
        return;
    }
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)t.rows,
                (int)t.columns, (int)K, alpha, A + (ta ? t.i : t.i * lda), (int)lda, B + (tb ? t.j * ldb : t.j),
                (int)ldb, beta, C + t.i * ldc + t.j, (int)ldc);
}

void eh_cpu_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                 int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc)
{
    const tiles all = cut(M, N);
#pragma omp parallel for num_threads(c->threads) if (all.down * all.across > 1) schedule(dynamic)
    for (int64_t t = 0; t < all.down * all.across; t++)
        multiply(tile_of(&all, t), ta, tb, K, (float)alpha, eh_f(A), lda, eh_f(B), ldb, (float)beta, eh_f(C), ldc);
}

/* ---- epilogues of a part of a row ---- */

enum { WIDTH = 16 };

/* s = u^order; u and s may be the same array. */
EH_SIMD static void power_range(int64_t count, int order, const float *u, float *s)
{
    int64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        float v[WIDTH], p[WIDTH];
        for (int l = 0; l < WIDTH; l++) p[l] = v[l] = u[i + l];
        for (int o = 1; o < order; o++)
            for (int l = 0; l < WIDTH; l++) p[l] *= v[l];
        for (int l = 0; l < WIDTH; l++) s[i + l] = p[l];
    }
    for (; i < count; i++) {
        const float v = u[i];
        float p = v;
        for (int o = 1; o < order; o++) p *= v;
        s[i] = p;
    }
}

/* A function with several versions cannot have hidden visibility, so this wrapper is exported. */
void eh_cpu_power_range(int64_t count, int order, const float *u, float *s)
{
    power_range(count, order, u, s);
}

/* d = d order u^(order - 1) */
EH_SIMD static void power_grad(int64_t count, int order, const float *restrict u, float *restrict d)
{
    int64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        float p[WIDTH];
        for (int l = 0; l < WIDTH; l++) p[l] = (float)order;
        for (int o = 1; o < order; o++)
            for (int l = 0; l < WIDTH; l++) p[l] *= u[i + l];
        for (int l = 0; l < WIDTH; l++) d[i + l] *= p[l];
    }
    for (; i < count; i++) {
        float p = (float)order;
        for (int o = 1; o < order; o++) p *= u[i];
        d[i] *= p;
    }
}

EH_SIMD static void sigmoid(int64_t count, const float *restrict b, float *restrict a)
{
    for (int64_t i = 0; i < count; i++) a[i] = 1 / (1 + eh_exp(-(a[i] + b[i])));
}

EH_SIMD static void sigmoid_grad(int64_t count, const float *restrict t, float *restrict d)
{
    for (int64_t i = 0; i < count; i++) d[i] *= t[i] * (1 - t[i]);
}

EH_SIMD static void relu(int64_t count, const float *restrict b, float *restrict a)
{
    for (int64_t i = 0; i < count; i++) {
        const float v = a[i] + b[i];
        a[i] = v < 0 ? 0 : v; /* keeps NaN */
    }
}

EH_SIMD static void relu_grad(int64_t count, const float *restrict t, float *restrict d)
{
    for (int64_t i = 0; i < count; i++) d[i] = t[i] > 0 ? d[i] : 0;
}

void eh_cpu_sigmoid_range(int64_t count, const float *b, float *a)
{
    sigmoid(count, b, a);
}

void eh_cpu_relu_range(int64_t count, const float *b, float *a)
{
    relu(count, b, a);
}

/* v: entries of the product from (i, j) on, stored in C, or in P if there is no C. */
static void epilogue(const eh_product *p, int64_t i, int64_t j, int64_t count, float *v)
{
    const float *with = eh_f(p->with);
    const int64_t at = i * p->ldc + j;
    float *P = p->P ? eh_f(p->P) + at : v;
    switch (p->epilogue) {
    case EH_EPILOGUE_NONE: break;
    case EH_EPILOGUE_POWER:
        if (p->P) eh_cpu_power_range(count, p->order, v, P);
        return;
    case EH_EPILOGUE_SIGMOID: sigmoid(count, with + j, v); break;
    case EH_EPILOGUE_RELU: relu(count, with + j, v); break;
    case EH_EPILOGUE_POWER_GRAD: power_grad(count, p->order, with + at, v); break;
    case EH_EPILOGUE_SIGMOID_GRAD: sigmoid_grad(count, with + at, v); break;
    case EH_EPILOGUE_RELU_GRAD: relu_grad(count, with + at, v); break;
    }
    if (P != v) memcpy(P, v, (size_t)count * sizeof *v);
}

/* Tiles are computed in scratch memory and then added, so that C + AB does not depend on the
 * tiling of AB. */
static void add_product(eh_compute *c, const eh_product *p, const tiles *all)
{
    float *scratch = eh_cpu_scratch(c->state, (int64_t)c->threads * TILE_ROWS * TILE_COLUMNS, sizeof *scratch);
    if (!scratch) return;
#pragma omp parallel for num_threads(c->threads) if (all->down * all->across > 1) schedule(dynamic)
    for (int64_t number = 0; number < all->down * all->across; number++) {
        const tile t = tile_of(all, number);
        float *made = scratch + (int64_t)omp_get_thread_num() * TILE_ROWS * TILE_COLUMNS;
        const float *A = eh_f(p->A) + (p->ta ? t.i : t.i * p->lda), *B = eh_f(p->B) + (p->tb ? t.j * p->ldb : t.j);
        multiply((tile){.rows = t.rows, .columns = t.columns}, p->ta, p->tb, p->K, 1, A, p->lda, B, p->ldb, 0, made,
                 t.columns);
        for (int64_t i = 0; i < t.rows; i++)
            eh_cpu_add_scaled(t.columns, 1, made + i * t.columns, eh_f(p->C) + (t.i + i) * p->ldc + t.j);
    }
}

void eh_cpu_product(eh_compute *c, const eh_product *p)
{
    const tiles all = cut(p->M, p->N);
    float *C = p->C ? eh_f(p->C) : eh_f(p->P);
    if (p->add) {
        add_product(c, p, &all);
        return;
    }
#pragma omp parallel for num_threads(c->threads) if (all.down * all.across > 1) schedule(dynamic)
    for (int64_t number = 0; number < all.down * all.across; number++) {
        const tile t = tile_of(&all, number);
        multiply(t, p->ta, p->tb, p->K, 1, eh_f(p->A), p->lda, eh_f(p->B), p->ldb, 0, C, p->ldc);
        for (int64_t i = t.i; i < t.i + t.rows; i++) epilogue(p, i, t.j, t.columns, C + i * p->ldc + t.j);
    }
}
