/* The cuda backend: opening a device, memory, data, products; and the table. A plug-in that compute.c opens at run time. */
#include <cstring>

#include "compute/cuda/cuda.h"

extern "C" __attribute__((visibility("default"))) enhope_status eh_compute_cuda_open(enhope_context *ctx, eh_compute *c, size_t size);
extern const eh_compute_ops cuda_ops;

static void cuda_close(eh_compute *c)
{
    cuda_state *s = state_of(c);
    if (s->blas) cublasDestroy(s->blas);
    cuda_room *const rooms[] = {&s->rows, &s->labels, &s->weights, &s->found, &s->product};
    for (cuda_room *room : rooms) cudaFree(room->block);
    cudaFree(s->sums);
    if (s->stream) cudaStreamDestroy(s->stream);
    eh_free(s);
}

enhope_status eh_compute_cuda_open(enhope_context *ctx, eh_compute *c, size_t size)
{
    if (size != sizeof(eh_compute_ops))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "libenhope_cuda.so is of another version than libenhope");
    int devices = 0, driver = 0;
    cudaDriverGetVersion(&driver); /* 0: there is none */
    if (!driver) return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "no CUDA device was found: there is no NVIDIA driver");
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found == cudaErrorInsufficientDriver)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "the NVIDIA driver is for CUDA %d.%d: this backend needs one for CUDA %d.%d or newer",
                       driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (found != cudaSuccess || devices == 0)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "no CUDA device was found (%s)", cudaGetErrorString(found));
    cuda_state *s = NULL;
    EH_TRY(eh_new(ctx, "cuda backend", 1, sizeof *s, (void **)&s));
    c->state = s;
    const cudaError_t made = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (made != cudaSuccess || cudaMalloc(&s->sums, (CUDA_DOT_BLOCKS + 1) * sizeof *s->sums) != cudaSuccess ||
        cublasCreate(&s->blas) != CUBLAS_STATUS_SUCCESS || cublasSetStream(s->blas, s->stream) != CUBLAS_STATUS_SUCCESS) {
        cuda_close(c);
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "the CUDA device could not be opened (%s)",
                       cudaGetErrorString(cudaGetLastError()));
    }
    c->op = &cuda_ops;
    return ENHOPE_OK;
}

static enhope_status cuda_sync(eh_compute *c, enhope_context *ctx)
{
    cuda_state *s = state_of(c);
    cuda_ok(s, cudaGetLastError(), "starting a kernel");
    cuda_ok(s, cudaStreamSynchronize(s->stream), "computing");
    if (s->failed == cudaErrorMemoryAllocation)
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory on the CUDA device: %s; try a smaller batch", s->failing);
    if (s->failed)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "the CUDA device failed while %s: %s", s->failing,
                       cudaGetErrorString((cudaError_t)s->failed));
    if (s->blas_failed)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "cuBLAS failed: %s", cublasGetStatusString((cublasStatus_t)s->blas_failed));
    return ENHOPE_OK;
}

void *cuda_room_get(cuda_state *s, cuda_room *room, size_t bytes, const char *what)
{
    if (s->failed) return NULL;
    if (bytes <= room->bytes) return room->block;
    cudaFree(room->block); /* waits for what still uses it */
    room->block = NULL;
    room->bytes = 0;
    if (!cuda_ok(s, cudaMalloc(&room->block, bytes), what)) return NULL;
    room->bytes = bytes;
    return room->block;
}

/* ---- memory ---- */

static eh_real *cuda_alloc(eh_compute *c, int64_t count)
{
    cuda_state *s = state_of(c);
    void *block = NULL;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)(count ? count : 1), sizeof(float), &bytes)) return NULL;
    if (cudaMalloc(&block, bytes) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    cuda_ok(s, cudaMemsetAsync(block, 0, bytes, s->stream), "clearing memory");
    return (eh_real *)block;
}

static void cuda_release(eh_compute *c, eh_real *v)
{
    (void)c;
    cudaFree(v);
}

static void cuda_write(eh_compute *c, eh_real *to, const float *from, int64_t count)
{
    cuda_state *s = state_of(c);
    cuda_ok(s, cudaMemcpyAsync(to, from, (size_t)count * sizeof *from, cudaMemcpyHostToDevice, s->stream), "copying to it");
    cuda_ok(s, cudaStreamSynchronize(s->stream), "copying to it");
}

static void cuda_read(eh_compute *c, float *to, const eh_real *from, int64_t count)
{
    cuda_state *s = state_of(c);
    cuda_ok(s, cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToHost, s->stream), "copying from it");
    cuda_ok(s, cudaStreamSynchronize(s->stream), "copying from it");
}

/* ---- data ---- */

static void cuda_unplace(eh_compute *c, eh_table *t)
{
    (void)c;
    const void *const blocks[] = {t->x.u8, t->x.f32, t->x.row_start, t->x.column, t->x.value, t->shift, t->mul};
    for (const void *block : blocks) cudaFree((void *)(uintptr_t)block);
    memset(t, 0, sizeof *t);
}

static bool to_device(cuda_state *s, const void *from, int64_t count, size_t size, const void **out)
{
    void *block = NULL;
    const size_t bytes = (size_t)(count ? count : 1) * size;
    if (cudaMalloc(&block, bytes) != cudaSuccess) return false;
    *out = block;
    if (count == 0) return true;
    return cudaMemcpyAsync(block, from, (size_t)count * size, cudaMemcpyHostToDevice, s->stream) == cudaSuccess &&
           cudaStreamSynchronize(s->stream) == cudaSuccess;
}

static enhope_status cuda_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                                const float *shift, const float *mul, eh_table *out)
{
    cuda_state *s = state_of(c);
    eh_table t = {};
    t.x.kind = x->kind;
    t.x.n = x->n;
    t.x.H = x->H;
    t.label = label;
    bool placed = to_device(s, shift, x->H, sizeof *shift, (const void **)&t.shift) &&
                  to_device(s, mul, x->H, sizeof *mul, (const void **)&t.mul);
    int64_t bytes = 0;
    switch (x->kind) {
    case ENHOPE_U8:
        bytes = x->n * x->H;
        placed = placed && to_device(s, x->u8, x->n * x->H, 1, (const void **)&t.x.u8);
        break;
    case ENHOPE_F32:
        bytes = x->n * x->H * (int64_t)sizeof(float);
        placed = placed && to_device(s, x->f32, x->n * x->H, sizeof(float), (const void **)&t.x.f32);
        break;
    case ENHOPE_CSR:
        bytes = x->row_start[x->n] * 8 + x->n * 8;
        placed = placed && to_device(s, x->row_start, x->n + 1, sizeof *x->row_start, (const void **)&t.x.row_start) &&
                 to_device(s, x->column, x->row_start[x->n], sizeof *x->column, (const void **)&t.x.column) &&
                 to_device(s, x->value, x->row_start[x->n], sizeof *x->value, (const void **)&t.x.value);
        break;
    }
    if (!placed) {
        cudaGetLastError();
        cuda_unplace(c, &t);
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory on the CUDA device: the data needs %lld bytes",
                       (long long)bytes);
    }
    *out = t;
    return ENHOPE_OK;
}

static int64_t *rows_to_device(cuda_state *s, const int64_t *rows, int64_t n)
{
    int64_t *device = (int64_t *)cuda_room_get(s, &s->rows, (size_t)n * sizeof *rows, "rows of a batch");
    if (device)
        cuda_ok(s, cudaMemcpyAsync(device, rows, (size_t)n * sizeof *rows, cudaMemcpyHostToDevice, s->stream), "copying to it");
    return device;
}

__global__ void gather_rows(eh_matrix x, const float *shift, const float *mul, const int64_t *rows, int64_t n, float *X,
                            int64_t ld)
{
    const int64_t H = x.H;
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const int64_t row = rows[i];
        float *to = X + i * ld;
        for (int64_t j = threadIdx.x; j < H; j += blockDim.x) {
            const float value = x.kind == ENHOPE_U8 ? (float)x.u8[row * H + j] : x.kind == ENHOPE_F32 ? x.f32[row * H + j] : 0;
            to[j] = (value - shift[j]) * mul[j];
        }
        if (threadIdx.x == 0) to[H] = 1;
        if (x.kind != ENHOPE_CSR) continue;
        __syncthreads();
        for (int64_t s = x.row_start[row] + threadIdx.x; s < x.row_start[row + 1]; s += blockDim.x) {
            const int32_t j = x.column[s];
            to[j] = (x.value[s] - shift[j]) * mul[j];
        }
    }
}

static void cuda_gather(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, eh_real *X, int64_t ld,
                        int32_t *label)
{
    cuda_state *s = state_of(c);
    if (label)
        for (int64_t i = 0; i < n; i++) label[i] = t->label[rows[i]];
    if (n == 0) return;
    const int64_t *device = rows_to_device(s, rows, n);
    if (device) gather_rows<<<blocks_for(n, 1), 256, 0, s->stream>>>(t->x, F(t->shift), F(t->mul), device, n, F(X), ld);
}

__global__ void sparse_rows_apply(eh_matrix x, const float *mul, const int64_t *rows, int64_t n, const float *C,
                                  int64_t F, float *U)
{
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x)
        for (int64_t f = threadIdx.x; f < F; f += blockDim.x) {
            float sum = C[x.H * F + f];
            for (int64_t s = x.row_start[rows[i]]; s < x.row_start[rows[i] + 1]; s++)
                sum += x.value[s] * mul[x.column[s]] * C[x.column[s] * F + f];
            U[i * F + f] = sum;
        }
}

static void cuda_sparse_apply(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *C,
                              int64_t F_, eh_real *U)
{
    cuda_state *s = state_of(c);
    if (n == 0) return;
    const int64_t *device = rows_to_device(s, rows, n);
    if (device) sparse_rows_apply<<<blocks_for(n, 1), 256, 0, s->stream>>>(t->x, F(t->mul), device, n, F(C), F_, F(U));
}

/* A thread owns a factor and walks the rows in order, so that the sums have one order. */
__global__ void sparse_rows_grad(eh_matrix x, const float *mul, const int64_t *rows, int64_t n, const float *dU,
                                 int64_t F, float *dC)
{
    CUDA_EACH(f, F)
    {
        float bias = 0;
        for (int64_t i = 0; i < n; i++) {
            const float du = dU[i * F + f];
            bias += du;
            for (int64_t s = x.row_start[rows[i]]; s < x.row_start[rows[i] + 1]; s++)
                dC[x.column[s] * F + f] += x.value[s] * mul[x.column[s]] * du;
        }
        dC[x.H * F + f] += bias;
    }
}

static void cuda_sparse_grad(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *dU,
                             int64_t F_, eh_real *dC)
{
    cuda_state *s = state_of(c);
    if (n == 0) return;
    const int64_t *device = rows_to_device(s, rows, n);
    if (device) sparse_rows_grad<<<blocks_for(F_, 32), 32, 0, s->stream>>>(t->x, F(t->mul), device, n, F(dU), F_, F(dC));
}

/* ---- products ---- */

/* cuBLAS is column-major: C^T = op(B)^T op(A)^T. */
static void cuda_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                      int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc)
{
    cuda_state *s = state_of(c);
    const float a = (float)alpha, b = (float)beta;
    if (M == 0 || N == 0) return;
    const cublasStatus_t status =
        cublasSgemm_64(s->blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N, N, M, K, &a, F(B), ldb,
                       F(A), lda, &b, F(C), ldc);
    if (status != CUBLAS_STATUS_SUCCESS && !s->blas_failed) s->blas_failed = (int)status;
}

const eh_compute_ops cuda_ops = {
    .name = "cuda",
    .size = sizeof(float),
    .close = cuda_close,
    .sync = cuda_sync,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .write = cuda_write,
    .read = cuda_read,
    .place = cuda_place,
    .unplace = cuda_unplace,
    .gather = cuda_gather,
    .sparse_apply = cuda_sparse_apply,
    .sparse_grad = cuda_sparse_grad,
    .gemm = cuda_gemm,
    .power = cuda_power,
    .power_grad = cuda_power_grad,
    .sigmoid = cuda_sigmoid,
    .sigmoid_grad = cuda_sigmoid_grad,
    .column_sums = cuda_column_sums,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .scale = cuda_scale,
    .axpy = cuda_axpy,
    .dot = cuda_dot,
    .adam = cuda_adam,
    .pair_sums = cuda_pair_sums,
    .pair_grad = cuda_pair_grad,
    .nearest = cuda_nearest,
};
