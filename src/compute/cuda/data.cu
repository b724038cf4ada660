/* Data on the device: placed as a whole, or streamed through two windows if it is larger than
 * the memory.
 *
 * The rows of streamed data that prefetch() names are copied into the window that is not in use.
 * The host copies them to pinned memory while the device computes; a separate stream then copies
 * them to the device. gather() uses the windows in the order of the prefetches. */
#include <cstdlib>
#include <omp.h>

#include "compute/cuda/gather.h"

enum { WINDOWS = 2 };

struct window {
    void *device, *pinned;
    int64_t first; /* first row in the window */
    cudaEvent_t copied, used;
};

struct cuda_windows {
    const char *host; /* all data */
    size_t row_bytes;
    int64_t capacity; /* rows of a window; 0: not allocated */
    cudaStream_t stream;
    int filled, taken; /* number of windows prefetched, and gathered from, since the start */
    window at[WINDOWS];
};

static void empty_windows(cuda_windows *w)
{
    if (w->stream) cudaStreamSynchronize(w->stream);
    for (window &one : w->at) {
        cudaFree(one.device);
        cudaFreeHost(one.pinned);
        one.device = one.pinned = NULL;
    }
    w->capacity = 0;
    w->filled = w->taken = 0;
}

static void free_windows(cuda_windows *w)
{
    if (!w) return;
    empty_windows(w);
    for (window &one : w->at) {
        if (one.copied) cudaEventDestroy(one.copied);
        if (one.used) cudaEventDestroy(one.used);
    }
    if (w->stream) cudaStreamDestroy(w->stream);
    delete w;
}

void cuda_unplace(eh_compute *c, eh_table *t)
{
    cuda_run(state_of(c));
    cudaStreamSynchronize(state_of(c)->stream);
    const void *const blocks[] = {t->x.u8,    t->x.f32,   t->x.row_start, t->x.column,
                                  t->x.value, t->classes, t->shift,       t->mul};
    for (const void *block : blocks) cudaFree((void *)(uintptr_t)block);
    free_windows((cuda_windows *)t->stream);
    memset(t, 0, sizeof *t);
}

static cudaError_t to_device(cuda_state *s, const void *from, size_t bytes, const void *out)
{
    void *block = NULL;
    const cudaError_t error = cudaMalloc(&block, bytes ? bytes : 1);
    if (error) return error;
    memcpy((void *)(uintptr_t)out, &block, sizeof block);
    return bytes ? cudaMemcpyAsync(block, from, bytes, cudaMemcpyHostToDevice, s->stream) : cudaSuccess;
}

static cudaError_t open_windows(const eh_matrix *x, cuda_windows *w)
{
    w->host = x->kind == ENHOPE_U8 ? (const char *)x->u8 : (const char *)x->f32;
    w->row_bytes = (size_t)x->H * (x->kind == ENHOPE_U8 ? 1 : sizeof(float));
    cudaError_t error = cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking);
    for (window &one : w->at) {
        if (!error) error = cudaEventCreateWithFlags(&one.copied, cudaEventDisableTiming);
        if (!error) error = cudaEventCreateWithFlags(&one.used, cudaEventDisableTiming);
    }
    return error;
}

/* Allocates windows of at least `rows` rows. Their content is lost. */
static void widen_windows(cuda_state *s, cuda_windows *w, int64_t rows)
{
    if (rows <= w->capacity) return;
    cuda_run(s);
    cuda_ok(s, cudaStreamSynchronize(s->stream), "streaming data");
    empty_windows(w);
    s->wanted = (size_t)rows * w->row_bytes;
    for (window &one : w->at) {
        cuda_ok(s, cudaMalloc(&one.device, s->wanted), "a window on the data");
        cuda_ok(s, cudaMallocHost(&one.pinned, s->wanted), "a window on the data");
    }
    w->capacity = rows;
}

/* Bytes that data may occupy: three quarters of the free memory, which leaves the rest for work
 * space; or the limit set in the environment. */
size_t cuda_data_capacity(eh_compute *c)
{
    const char *limit = getenv("ENHOPE_GPU_MEMORY");
    const size_t max_bytes = c->op->free_memory(c) / 4 * 3,
                 requested = limit ? (size_t)strtoull(limit, NULL, 10) : max_bytes;
    return requested < max_bytes ? requested : max_bytes;
}

enhope_status cuda_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                         const float *shift, const float *mul, eh_table *out)
{
    cuda_state *s = state_of(c);
    cuda_run(s);
    eh_table t = {};
    t.x.kind = x->kind;
    t.x.n = x->n;
    t.x.H = x->H;
    t.label = label;
    const size_t H = (size_t)x->H, n = (size_t)x->n;
    const size_t entries = x->kind == ENHOPE_CSR ? (size_t)x->row_start[x->n] : n * H;
    const size_t bytes = x->kind == ENHOPE_U8    ? entries
                         : x->kind == ENHOPE_F32 ? entries * sizeof(float)
                                                 : entries * 8 + (n + 1) * 8;
    const size_t free_bytes = c->op->free_memory(c);
    cudaError_t error = to_device(s, shift, H * sizeof *shift, &t.shift);
    if (!error) error = to_device(s, mul, H * sizeof *mul, &t.mul);
    if (!error && label) error = to_device(s, label, n * sizeof *label, &t.classes);
    if (!error && x->kind != ENHOPE_CSR && bytes > cuda_data_capacity(c)) {
        cuda_windows *w = new cuda_windows();
        t.stream = w;
        error = open_windows(x, w);
    } else if (!error && x->kind == ENHOPE_U8) {
        error = to_device(s, x->u8, bytes, &t.x.u8);
    } else if (!error && x->kind == ENHOPE_F32) {
        error = to_device(s, x->f32, bytes, &t.x.f32);
    } else if (!error) {
        error = to_device(s, x->row_start, (n + 1) * sizeof *x->row_start, &t.x.row_start);
        if (!error) error = to_device(s, x->column, entries * sizeof *x->column, &t.x.column);
        if (!error) error = to_device(s, x->value, entries * sizeof *x->value, &t.x.value);
    }
    if (!error) error = cudaStreamSynchronize(s->stream);
    if (error) {
        cudaGetLastError();
        cuda_unplace(c, &t);
        if (error != cudaErrorMemoryAllocation)
            return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "the CUDA device failed while data was copied to it: %s",
                           cudaGetErrorString(error));
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY,
                       "out of memory on the CUDA device: the data needs %.0f bytes, %.0f are free; use --device cpu",
                       (double)bytes, (double)free_bytes);
    }
    *out = t;
    return ENHOPE_OK;
}

void cuda_refresh(eh_compute *c, eh_table *t, const eh_matrix *x, const int32_t *label, int64_t first, int64_t n)
{
    cuda_state *s = state_of(c);
    if (n <= 0) return;
    cuda_run(s); /* queued kernels must see the old rows */
    const auto send = [s](const auto *to, const auto *from, int64_t at, int64_t count) {
        if (count > 0)
            cuda_ok(s,
                    cudaMemcpyAsync((void *)(uintptr_t)(to + at), from + at, (size_t)count * sizeof *from,
                                    cudaMemcpyHostToDevice, s->stream),
                    "copying data to it");
    };
    if (x->kind == ENHOPE_U8) send(t->x.u8, x->u8, first * x->H, n * x->H);
    if (x->kind == ENHOPE_F32) send(t->x.f32, x->f32, first * x->H, n * x->H);
    if (x->kind == ENHOPE_CSR) {
        const int64_t from = x->row_start[first], values = x->row_start[first + n] - from;
        send(t->x.row_start, x->row_start, first, n + 1);
        send(t->x.column, x->column, from, values);
        send(t->x.value, x->value, from, values);
    }
    if (t->classes) send((const int32_t *)L(t->classes), label, first, n);
    cuda_ok(s, cudaStreamSynchronize(s->stream), "copying data to it");
}

void cuda_prefetch(eh_compute *c, const eh_table *t, int64_t first, int64_t n)
{
    cuda_state *s = state_of(c);
    cuda_windows *w = (cuda_windows *)t->stream;
    if (!w || n <= 0) return;
    widen_windows(s, w, n);
    if (s->failed) return;
    window &one = w->at[w->filled % WINDOWS];
    if (w->filled >= WINDOWS) { /* wait until pinned and device memory are free again */
        cuda_ok(s, cudaEventSynchronize(one.copied), "streaming data");
        cuda_ok(s, cudaStreamWaitEvent(w->stream, one.used, 0), "streaming data");
    }
    one.first = first;
    w->filled++;
    const size_t bytes = (size_t)n * w->row_bytes;
    const char *from = w->host + (size_t)first * w->row_bytes;
    static const size_t CHUNK = 1 << 20;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (size_t at = 0; at < bytes; at += CHUNK)
        memcpy((char *)one.pinned + at, from + at, bytes - at < CHUNK ? bytes - at : CHUNK);
    cuda_ok(s, cudaMemcpyAsync(one.device, one.pinned, bytes, cudaMemcpyHostToDevice, w->stream), "streaming data");
    cuda_ok(s, cudaEventRecord(one.copied, w->stream), "streaming data");
}

/* The current address of the table's rows: row r begins at the returned address + r * row bytes. */
static const void *rows_at(cuda_state *s, const eh_table *t)
{
    cuda_windows *w = (cuda_windows *)t->stream;
    if (!w) return t->x.kind == ENHOPE_U8 ? (const void *)t->x.u8 : (const void *)t->x.f32;
    if (w->taken == w->filled) {
        cuda_ok(s, cudaErrorInvalidValue, "reading rows that were not prefetched");
        return NULL;
    }
    const window &one = w->at[w->taken++ % WINDOWS];
    cuda_run(s);
    cuda_ok(s, cudaStreamWaitEvent(s->stream, one.copied, 0), "streaming data");
    return (const char *)one.device - (size_t)one.first * w->row_bytes;
}

/* ---- gather ---- */

__global__ void row_range_each(int64_t first, int64_t n, int64_t *rows)
{
    begin_kernel();
    CUDA_EACH(i, n) rows[i] = first + i;
}

void cuda_row_range(eh_compute *c, int64_t first, int64_t n, eh_row *rows)
{
    if (n) enqueue(state_of(c), blocks_for(n, 256), 256, 0, row_range_each, varying{first}, n, R(rows));
}

/* One block for each row. quads: rows begin at multiples of four entries. */
template <typename X, typename T, bool AUGMENTED>
__global__ void gather_dense(const X *x, int64_t H, bool quads, const float *shift, const float *mul,
                             const int64_t *rows, int64_t n, const int32_t *classes, T *to, int64_t ld, int parts,
                             int32_t *label, augmentation with)
{
    begin_kernel();
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const int64_t row = rows[i];
        const X *from = x + row * H;
        const auto out = row_of(to, i, ld, parts);
        if (quads) {
            for (int64_t j = 4 * threadIdx.x; j < H; j += 4 * GATHER_WIDE) {
                X v[4];
                if constexpr (sizeof(X) == 1)
                    *(uint32_t *)v = *(const uint32_t *)(from + j);
                else
                    *(float4 *)v = *(const float4 *)(from + j);
                const float4 a = __ldg((const float4 *)(shift + j)), b = __ldg((const float4 *)(mul + j));
                const float4 scaled = {((float)v[0] - a.x) * b.x, ((float)v[1] - a.y) * b.y, ((float)v[2] - a.z) * b.z,
                                       ((float)v[3] - a.w) * b.w};
                out.put_four(j, AUGMENTED ? augment_four(with, row, j, scaled) : scaled);
            }
        } else {
            for (int64_t j = threadIdx.x; j < H; j += GATHER_WIDE) {
                const float scaled = ((float)from[j] - shift[j]) * mul[j];
                out.put(j, AUGMENTED ? augment_one(with, row, j, scaled) : scaled);
            }
        }
        for (int64_t j = H + threadIdx.x; j < ld; j += GATHER_WIDE) out.put(j, j == H ? 1.0f : 0.0f);
        if (label && threadIdx.x == 0) label[i] = classes[row];
    }
}

/* One block for each row: zeros first, then the values. */
template <typename T, bool AUGMENTED>
__global__ void gather_sparse(const int64_t *start, const int32_t *column, const float *value, int64_t H,
                              const float *shift, const float *mul, const int64_t *rows, int64_t n,
                              const int32_t *classes, T *to, int64_t ld, int parts, int32_t *label, augmentation with)
{
    begin_kernel();
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const int64_t row = rows[i];
        const auto out = row_of(to, i, ld, parts);
        for (int64_t j = threadIdx.x; j < ld; j += blockDim.x) {
            const float scaled = j < H ? -shift[j] * mul[j] : j == H ? 1.0f : 0.0f;
            out.put(j, AUGMENTED && j < H ? augment_one(with, row, j, scaled) : scaled);
        }
        __syncthreads();
        for (int64_t e = start[row] + threadIdx.x; e < start[row + 1]; e += blockDim.x) {
            const int32_t j = column[e];
            const float scaled = (value[e] - shift[j]) * mul[j];
            out.put(j, AUGMENTED ? augment_one(with, row, j, scaled) : scaled);
        }
        if (label && threadIdx.x == 0) label[i] = classes[row];
        __syncthreads();
    }
}

/* The rows have been gathered, so the window may be refilled. */
static void rows_used(cuda_state *s, const eh_table *t)
{
    cuda_windows *w = (cuda_windows *)t->stream;
    if (!w) return;
    cuda_run(s);
    cuda_ok(s, cudaEventRecord(w->at[(w->taken - 1) % WINDOWS].used, s->stream), "streaming data");
}

template <typename T>
static void gather(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, T *X, int64_t ld, eh_label *label,
                   const eh_augment *with)
{
    cuda_state *s = state_of(c);
    if (n == 0) return;
    const int64_t H = t->x.H;
    const float *shift = F(t->shift), *mul = F(t->mul);
    const int32_t *classes = L(t->classes);
    const varying at{(const int64_t *)R(rows)};
    const varying how{augmentation_of(with)};
    const bool moved = eh_warps(with);
    if (t->x.kind == ENHOPE_CSR && moved) return cuda_gather_images(c, t, NULL, rows, n, X, ld, label, with);
    if (t->x.kind == ENHOPE_CSR) {
        enqueue(s, blocks_for(n, 1), 128, 0, with ? gather_sparse<T, true> : gather_sparse<T, false>, t->x.row_start,
                t->x.column, t->x.value, H, shift, mul, at, n, classes, X, ld, parts_in(c), L(label), how);
        return;
    }
    const void *from = rows_at(s, t);
    if (!from) return;
    const bool quads = H % 4 == 0 && ld % 4 == 0 && (uintptr_t)X % 16 == 0;
    if (moved)
        cuda_gather_images(c, t, from, rows, n, X, ld, label, with);
    else if (t->x.kind == ENHOPE_U8)
        enqueue(s, blocks_for(n, 1), GATHER_WIDE, 0,
                with ? gather_dense<uint8_t, T, true> : gather_dense<uint8_t, T, false>, varying{(const uint8_t *)from},
                H, quads, shift, mul, at, n, classes, X, ld, parts_in(c), L(label), how);
    else
        enqueue(s, blocks_for(n, 1), GATHER_WIDE, 0,
                with ? gather_dense<float, T, true> : gather_dense<float, T, false>, varying{(const float *)from}, H,
                quads, shift, mul, at, n, classes, X, ld, parts_in(c), L(label), how);
    rows_used(s, t);
}

void cuda_gather(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                 eh_label *label)
{
    gather(c, t, rows, n, F(X), ld, label, NULL);
}

void cuda_gather_packed(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_packed *X, int64_t ld,
                        eh_label *label, const eh_augment *with)
{
    if (c->packed_is_real)
        gather(c, t, rows, n, (float *)X, ld, label, with);
    else
        gather(c, t, rows, n, O(X), ld, label, with);
}

__global__ void append_bias_reals(int64_t n, int64_t H, const float *E, float *X, int64_t ld)
{
    begin_kernel();
    CUDA_EACH(i, n * ld)
    {
        const int64_t j = i % ld;
        X[i] = j < H ? E[i / ld * H + j] : j == H ? 1.0f : 0.0f;
    }
}

void cuda_append_bias(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_packed *X, int64_t ld)
{
    if (!c->packed_is_real)
        cuda_split(state_of(c), n, H, F(E), H, true, parts_in(c), O(X), ld);
    else if (n)
        enqueue(state_of(c), blocks_for(n * ld, 128), 128, 0, append_bias_reals, n, H, F(E), (float *)X, ld);
}

/* ---- sparse rows ---- */

/* One block for each row; its threads read the entries together, a chunk at a time. */
enum { CHUNK = 128 };

__global__ void sparse_rows_apply(const int64_t *start, const int32_t *column, const float *value, int64_t H,
                                  const float *mul, const int64_t *rows, int64_t n, const float *C, int64_t F, float *U)
{
    begin_kernel();
    __shared__ int32_t at[CHUNK];
    __shared__ float by[CHUNK];
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const int64_t first = start[rows[i]], end = start[rows[i] + 1];
        for (int64_t from = 0; from < F; from += blockDim.x) { /* all threads iterate equally often */
            const int64_t f = from + threadIdx.x;
            float sum = f < F ? C[H * F + f] : 0;
            for (int64_t e = first; e < end; e += CHUNK) {
                const int64_t count = end - e < CHUNK ? end - e : CHUNK;
                __syncthreads();
                for (int64_t p = threadIdx.x; p < count; p += blockDim.x) {
                    at[p] = column[e + p];
                    by[p] = value[e + p] * mul[column[e + p]];
                }
                __syncthreads();
                if (f < F)
                    for (int64_t p = 0; p < count; p++) sum += by[p] * C[at[p] * F + f];
            }
            if (f < F) U[i * F + f] = sum;
        }
        __syncthreads();
    }
}

void cuda_sparse_apply(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C, int64_t F_,
                       eh_real *U)
{
    if (n == 0) return;
    enqueue(state_of(c), blocks_for(n, 1), 256, 0, sparse_rows_apply, t->x.row_start, t->x.column, t->x.value, t->x.H,
            F(t->mul), varying{(const int64_t *)R(rows)}, n, F(C), F_, F(U));
}

/* A block owns SLICE factors and processes the rows in order, so every sum has one order. The
 * entries of a row may be processed in any order, because no two share a column. */
enum { SLICE = 8, THREAD_ROWS = 32 };

__global__ void sparse_rows_grad(const int64_t *start, const int32_t *column, const float *value, int64_t H,
                                 const float *mul, const int64_t *rows, int64_t n, const __nv_bfloat16 *dU, int parts,
                                 int64_t F, float *dC)
{
    begin_kernel();
    const int64_t f = (int64_t)blockIdx.x * SLICE + threadIdx.x;
    float bias = 0;
    for (int64_t i = 0; i < n; i++) {
        const float du = f < F ? load_parts(dU + i * parts * F + f, F, parts) : 0;
        bias += du;
        const int64_t end = start[rows[i] + 1];
        for (int64_t e = start[rows[i]] + threadIdx.y; e < end; e += THREAD_ROWS)
            if (f < F) dC[column[e] * F + f] += value[e] * mul[column[e]] * du;
        __syncthreads();
    }
    if (f < F && threadIdx.y == 0) dC[H * F + f] += bias;
}

void cuda_sparse_grad(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_packed *dU, int64_t F_,
                      eh_real *dC)
{
    if (n == 0) return;
    enqueue(state_of(c), blocks_for(F_, SLICE), dim3(SLICE, THREAD_ROWS), 0, sparse_rows_grad, t->x.row_start,
            t->x.column, t->x.value, t->x.H, F(t->mul), varying{(const int64_t *)R(rows)}, n, O(dU), parts_in(c), F_,
            F(dC));
}
