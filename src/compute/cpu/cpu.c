/* The cpu backend: memory, data and the table of functions. */
#include <cblas.h>
#include <omp.h>
#include <string.h>

#include "compute/cpu/cpu.h"

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c);

static void cpu_close(eh_compute *c)
{
    eh_cpu_state *state = c->state;
    eh_free(state->blocks);
    eh_free(state->scratch);
    eh_free(state);
}

/* Makes BLAS run on one thread inside our own parallel regions. OpenBLAS follows
 * omp_set_num_threads() if its OpenMP is ours, which is that of gcc; so do other libraries with
 * OpenMP. */
static void blas_join(void)
{
#ifdef OPENBLAS_OPENMP /* cblas.h is that of OpenBLAS */
#ifndef __clang__
    if (openblas_get_parallel() == OPENBLAS_OPENMP) return;
#endif
    openblas_set_num_threads(1);
#endif
}

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c)
{
    EH_TRY(eh_new(ctx, "cpu backend", 1, sizeof(eh_cpu_state), &c->state));
    c->op = &eh_compute_cpu;
    blas_join();
    return ENHOPE_OK;
}

static enhope_status cpu_sync(eh_compute *c, enhope_context *ctx)
{
    eh_cpu_state *state = c->state;
    const int64_t failed_bytes = state->failed_bytes;
    state->failed_bytes = 0;
    return failed_bytes ? eh_fail_memory(ctx, "the scratch memory of a batch", (size_t)failed_bytes, 1) : ENHOPE_OK;
}

static void *cpu_alloc(eh_compute *c, size_t bytes)
{
    (void)c;
    return eh_alloc(bytes, 1);
}

static void cpu_release(eh_compute *c, void *block)
{
    (void)c;
    eh_free(block);
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

static void set_bias(float *row, int64_t H, int64_t ld)
{
    row[H] = 1;
    memset(row + H + 1, 0, (size_t)(ld - H - 1) * sizeof *row);
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
}

static void cpu_gather_packed(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_packed *X, int64_t ld,
                              eh_label *label, const eh_augment *with)
{
    const int64_t *from = eh_host_rows(rows);
    const int64_t scratch = eh_warps(with) ? eh_cpu_warp_scratch(with->image_rows, with->image_columns) : 0;
    float *all =
        scratch ? eh_cpu_scratch(c->state, c->threads * scratch, sizeof *all) : NULL; /* a part for each thread */
    if (scratch && !all) return;
#pragma omp parallel for num_threads(c->threads) if (n * t->x.H > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *x = eh_f(X) + i * ld;
        if (all)
            eh_cpu_warp(with, t, from[i], all + omp_get_thread_num() * scratch, x);
        else
            gather_row(t, from[i], x);
        if (with) eh_cpu_augment(with, from[i], t->x.H, x);
        set_bias(x, t->x.H, ld);
    }
    for (int64_t i = 0; label && i < n; i++) eh_host_labels(label)[i] = eh_host_labels(t->classes)[from[i]];
}

static void cpu_gather(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                       eh_label *label)
{
    cpu_gather_packed(c, t, rows, n, eh_host_packed(X), ld, label, NULL);
}

static void cpu_append_bias(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_packed *X, int64_t ld)
{
#pragma omp parallel for num_threads(c->threads) if (n * H > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        memcpy(eh_f(X) + i * ld, eh_f(E) + i * H, (size_t)H * sizeof(float));
        set_bias(eh_f(X) + i * ld, H, ld);
    }
}

static void cpu_pack(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *to)
{
    (void)c;
    memcpy(to, from, (size_t)(rows * columns) * sizeof(float));
}

static void cpu_sparse_apply(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C,
                             int64_t F, eh_real *U)
{
    const eh_matrix *x = &t->x;
    const float *mul = eh_f(t->mul);
#pragma omp parallel for num_threads(c->threads) if (n * F > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *u = eh_f(U) + i * F;
        const int64_t *ends = x->row_start + eh_host_rows(rows)[i];
        memcpy(u, eh_f(C) + x->H * F, (size_t)F * sizeof *u);
        for (int64_t s = ends[0]; s < ends[1]; s++)
            eh_cpu_add_scaled(F, x->value[s] * mul[x->column[s]], eh_f(C) + x->column[s] * F, u);
    }
}

/* The columns in which rows have values. */
typedef struct columns {
    int64_t count;
    int32_t *number; /* (H) index of each column in `column`; -1: none */
    int32_t *column; /* (count) */
    float *sum;      /* (count + 1, F) zeros; the last row belongs to the bias */
} columns;

/* Uses the scratch memory of the state. Returns false if there is not enough; sync() reports it. */
static bool find_columns(eh_compute *c, const eh_matrix *x, const int64_t *rows, int64_t n, int64_t F, columns *out)
{
    int64_t max_columns = 0;
    for (int64_t i = 0; i < n; i++) max_columns += x->row_start[rows[i] + 1] - x->row_start[rows[i]];
    if (max_columns > x->H) max_columns = x->H;
    float *scratch = eh_cpu_scratch(c->state, (max_columns + 1) * F + x->H + max_columns, sizeof *scratch);
    if (!scratch) return false;
    *out = (columns){.sum = scratch, .number = (int32_t *)(scratch + (max_columns + 1) * F)};
    out->column = out->number + x->H;
    memset(out->number, -1, (size_t)x->H * sizeof *out->number);
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = x->row_start[rows[i]]; s < x->row_start[rows[i] + 1]; s++) {
            if (out->number[x->column[s]] >= 0) continue;
            out->number[x->column[s]] = (int32_t)out->count;
            out->column[out->count++] = x->column[s];
        }
    memset(out->sum, 0, (size_t)((out->count + 1) * F) * sizeof *out->sum);
    return true;
}

/* Each thread owns a range of factors, so no two threads write the same entry and the order of
 * sums is fixed. */
static void cpu_sparse_grad(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_packed *dU,
                            int64_t F, eh_real *dC)
{
    const eh_matrix *x = &t->x;
    const float *mul = eh_f(t->mul);
    columns in;
    if (!find_columns(c, x, eh_host_rows(rows), n, F, &in)) return;
#pragma omp parallel for num_threads(c->threads) if (n * F > EH_CPU_ALONE) schedule(static)
    for (int chunk = 0; chunk < c->threads; chunk++) {
        const int64_t from = eh_chunk_start(F, chunk, c->threads),
                      count = eh_chunk_start(F, chunk + 1, c->threads) - from;
        for (int64_t i = 0; i < n; i++) {
            const float *du = eh_f(dU) + i * F + from;
            const int64_t *ends = x->row_start + eh_host_rows(rows)[i];
            eh_cpu_add_scaled(count, 1, du, in.sum + in.count * F + from);
            for (int64_t s = ends[0]; s < ends[1]; s++)
                eh_cpu_add_scaled(count, x->value[s] * mul[x->column[s]], du,
                                  in.sum + in.number[x->column[s]] * F + from);
        }
        for (int64_t k = 0; k <= in.count; k++)
            eh_cpu_add_scaled(count, 1, in.sum + k * F + from,
                              eh_f(dC) + (k < in.count ? in.column[k] : x->H) * F + from);
    }
}

const eh_compute_ops eh_compute_cpu = {
    .name = "cpu",
    .real_size = sizeof(float),
    .host = true,
    .block = 84 * EH_CPU_GROUP, /* products of this height run at full speed */
    .queue_depth = 1,
    .close = cpu_close,
    .sync = cpu_sync,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .send = eh_host_copy,
    .fetch = eh_host_copy,
    .write = cpu_write,
    .read = cpu_read,
    .place = eh_host_place,
    .unplace = eh_host_unplace,
    .row_range = eh_host_row_range,
    .gather = cpu_gather,
    .gather_packed = cpu_gather_packed,
    .append_bias = cpu_append_bias,
    .adversarial_step = eh_cpu_adversarial_step,
    .sparse_apply = cpu_sparse_apply,
    .sparse_grad = cpu_sparse_grad,
    .gemm = eh_cpu_gemm,
    .product = eh_cpu_product,
    .pack = cpu_pack,
    .output_grad = eh_host_output_grad,
    .power = eh_cpu_power,
    .column_sums = eh_cpu_column_sums,
    .fill = eh_cpu_fill,
    .copy = eh_cpu_copy,
    .copy_rows = eh_cpu_copy_rows,
    .scale = eh_cpu_scale,
    .multiply = eh_cpu_multiply,
    .axpy = eh_cpu_axpy,
    .dot = eh_cpu_dot,
    .average = eh_cpu_average,
    .adam = eh_cpu_adam,
    .pairs = eh_cpu_pairs,
    .own_targets = eh_cpu_own_targets,
    .triples = eh_cpu_triples,
    .affinities = eh_cpu_affinities,
    .nearest = eh_cpu_nearest,
    .vote = eh_host_vote,
    .argmax_similarity = eh_host_argmax_similarity,
};
