/* The cpu backend: memory, data, products; and the table. */
#include <cblas.h>
#include <string.h>

#include "compute/cpu/cpu.h"

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c);

static void cpu_close(eh_compute *c)
{
    eh_cpu_state *state = c->state;
    eh_free(state->blocks);
    eh_free(state);
}

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c)
{
    EH_TRY(eh_new(ctx, "cpu backend", 1, sizeof(eh_cpu_state), &c->state));
    c->op = &eh_compute_cpu;
    /* an OpenBLAS with threads of its own must not use them inside ours */
    if (openblas_get_parallel() == OPENBLAS_THREAD) openblas_set_num_threads(1);
    return ENHOPE_OK;
}

static enhope_status cpu_sync(eh_compute *c, enhope_context *ctx)
{
    (void)c, (void)ctx;
    return ENHOPE_OK;
}

static eh_real *cpu_alloc(eh_compute *c, int64_t count)
{
    (void)c;
    return eh_alloc((size_t)count, sizeof(float));
}

static void cpu_release(eh_compute *c, eh_real *v)
{
    (void)c;
    eh_free(v);
}

static void cpu_write(eh_compute *c, eh_real *to, const float *from, int64_t count)
{
    (void)c;
    memcpy(to, from, (size_t)count * sizeof(float));
}

static void cpu_read(eh_compute *c, float *to, const eh_real *from, int64_t count)
{
    (void)c;
    memcpy(to, from, (size_t)count * sizeof(float));
}

/* ---- data ---- */

EH_SIMD static void scale_u8(int64_t H, const uint8_t *restrict x, const float *restrict shift,
                             const float *restrict mul, float *restrict to)
{
    for (int64_t j = 0; j < H; j++) to[j] = ((float)x[j] - shift[j]) * mul[j];
}

EH_SIMD static void scale_f32(int64_t H, const float *restrict x, const float *restrict shift,
                              const float *restrict mul, float *restrict to)
{
    for (int64_t j = 0; j < H; j++) to[j] = (x[j] - shift[j]) * mul[j];
}

static void gather_row(const eh_table *t, int64_t row, float *to)
{
    const eh_matrix *x = &t->x;
    const int64_t H = x->H;
    const float *shift = eh_f(t->shift), *mul = eh_f(t->mul);
    switch (x->kind) {
    case ENHOPE_U8: scale_u8(H, x->u8 + row * H, shift, mul, to); break;
    case ENHOPE_F32: scale_f32(H, x->f32 + row * H, shift, mul, to); break;
    case ENHOPE_CSR:
        for (int64_t j = 0; j < H; j++) to[j] = -shift[j] * mul[j];
        for (int64_t s = x->row_start[row]; s < x->row_start[row + 1]; s++) {
            const int32_t j = x->column[s];
            to[j] = (x->value[s] - shift[j]) * mul[j];
        }
        break;
    }
    to[H] = 1;
}

static void cpu_gather(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, eh_real *X, int64_t ld,
                       int32_t *label)
{
#pragma omp parallel for num_threads(c->threads) if (n * t->x.H > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) gather_row(t, rows[i], eh_f(X) + i * ld);
    if (label)
        for (int64_t i = 0; i < n; i++) label[i] = t->label[rows[i]];
}

static void cpu_sparse_apply(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *C,
                             int64_t F, eh_real *U)
{
    const eh_matrix *x = &t->x;
    const float *mul = eh_f(t->mul);
#pragma omp parallel for num_threads(c->threads) if (n * F > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *u = eh_f(U) + i * F;
        memcpy(u, eh_f(C) + x->H * F, (size_t)F * sizeof *u);
        for (int64_t s = x->row_start[rows[i]]; s < x->row_start[rows[i] + 1]; s++)
            eh_cpu_add_scaled(F, x->value[s] * mul[x->column[s]], eh_f(C) + x->column[s] * F, u);
    }
}

/* Each thread owns a range of factors, so that no two write the same place and the order of sums is fixed. */
static void cpu_sparse_grad(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *dU,
                            int64_t F, eh_real *dC)
{
    const eh_matrix *x = &t->x;
    const float *mul = eh_f(t->mul);
#pragma omp parallel for num_threads(c->threads) if (n * F > EH_CPU_ALONE) schedule(static)
    for (int part = 0; part < c->threads; part++) {
        const int64_t from = eh_share_start(F, part, c->threads),
                      count = eh_share_start(F, part + 1, c->threads) - from;
        for (int64_t i = 0; i < n; i++) {
            const float *du = eh_f(dU) + i * F + from;
            eh_cpu_add_scaled(count, 1, du, eh_f(dC) + x->H * F + from);
            for (int64_t s = x->row_start[rows[i]]; s < x->row_start[rows[i] + 1]; s++)
                eh_cpu_add_scaled(count, x->value[s] * mul[x->column[s]], du, eh_f(dC) + x->column[s] * F + from);
        }
    }
}

/* ---- products ---- */

/* Products are cut into tiles whose size does not depend on the threads, each one call of a single-threaded BLAS: so
 * the bits are the same for any number of threads. Tiles this large lose a few percent to packing, and
 * leave eight for the widest product of a batch of 1,000. */
enum { TILE_ROWS = 256, TILE_COLUMNS = 512 };

static void cpu_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                     int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc)
{
    const int64_t down = (M + TILE_ROWS - 1) / TILE_ROWS, across = (N + TILE_COLUMNS - 1) / TILE_COLUMNS;
#pragma omp parallel for num_threads(c->threads) if (down * across > 1) schedule(dynamic)
    for (int64_t tile = 0; tile < down * across; tile++) {
        const int64_t i = eh_share_start(M, tile / across, down), rows = eh_share_start(M, tile / across + 1, down) - i;
        const int64_t j = eh_share_start(N, tile % across, across);
        const int64_t columns = eh_share_start(N, tile % across + 1, across) - j;
        cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)rows,
                    (int)columns, (int)K, (float)alpha, eh_f(A) + (ta ? i : i * lda), (int)lda,
                    eh_f(B) + (tb ? j * ldb : j), (int)ldb, (float)beta, eh_f(C) + i * ldc + j, (int)ldc);
    }
}

const eh_compute_ops eh_compute_cpu = {
    .name = "cpu",
    .size = sizeof(float),
    .close = cpu_close,
    .sync = cpu_sync,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .write = cpu_write,
    .read = cpu_read,
    .place = eh_host_place,
    .unplace = eh_host_unplace,
    .gather = cpu_gather,
    .sparse_apply = cpu_sparse_apply,
    .sparse_grad = cpu_sparse_grad,
    .gemm = cpu_gemm,
    .power = eh_cpu_power,
    .power_grad = eh_cpu_power_grad,
    .sigmoid = eh_cpu_sigmoid,
    .sigmoid_grad = eh_cpu_sigmoid_grad,
    .column_sums = eh_cpu_column_sums,
    .fill = eh_cpu_fill,
    .copy = eh_cpu_copy,
    .scale = eh_cpu_scale,
    .axpy = eh_cpu_axpy,
    .dot = eh_cpu_dot,
    .adam = eh_cpu_adam,
    .pair_sums = eh_cpu_pair_sums,
    .pair_grad = eh_cpu_pair_grad,
    .nearest = eh_cpu_nearest,
};
