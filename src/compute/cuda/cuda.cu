/* The cuda backend: opening a device, memory, and the table of functions. It is a plug-in that
 * devices.c loads at run time. */
#include <cstdio>

#include "compute/cuda/cuda.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT enhope_status eh_compute_cuda_open(enhope_context *ctx, eh_compute *c, size_t size, int index, int precision);
EXPORT enhope_status eh_compute_cuda_describe(enhope_context *ctx, size_t size, int index, char *text, size_t capacity);
extern const eh_compute_ops cuda_ops;

bool cuda_ok(cuda_state *s, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !s->failed) {
        s->failed = error;
        s->failing = what;
    }
    return !s->failed;
}

/* ---- opening ---- */

/* Counts the devices. Fails if CUDA cannot be used. */
static enhope_status count_devices(enhope_context *ctx, size_t size, int *out)
{
    if (size != sizeof(eh_compute_ops))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "libenhope_cuda.so does not match this version of libenhope; reinstall enhope");
    int devices = 0, driver = 0;
    cudaDriverGetVersion(&driver); /* 0: there is no driver */
    if (!driver)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "no CUDA device was found: no NVIDIA driver is installed; install it or use --device cpu");
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaErrorInsufficientDriver)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "the NVIDIA driver supports CUDA %d.%d, but CUDA %d.%d or newer is needed; update the driver",
                       driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (error != cudaSuccess || devices == 0)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "no CUDA device was found (%s); check nvidia-smi or use --device cpu",
                       error ? cudaGetErrorString(error) : "the driver lists none");
    *out = devices;
    return ENHOPE_OK;
}

static enhope_status check_index(enhope_context *ctx, size_t size, int index)
{
    int devices = 0;
    EH_TRY(count_devices(ctx, size, &devices));
    if (index < 0 || index >= devices)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "there is no CUDA device %d: expected 0 to %d", index, devices - 1);
    return ENHOPE_OK;
}

static enhope_status fail(enhope_context *ctx, int index, cudaError_t error)
{
    cudaGetLastError();
    return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                   "CUDA device %d could not be opened (%s); check nvidia-smi or use --device cpu", index,
                   cudaGetErrorString(error));
}

enhope_status eh_compute_cuda_describe(enhope_context *ctx, size_t size, int index, char *text, size_t capacity)
{
    EH_TRY(check_index(ctx, size, index));
    cudaDeviceProp p;
    int driver = 0;
    const cudaError_t error = cudaGetDeviceProperties(&p, index);
    if (error) return fail(ctx, index, error);
    cudaDriverGetVersion(&driver);
    snprintf(text, capacity, "%s, %.1f GiB, %d multiprocessors, compute capability %d.%d, driver for CUDA %d.%d",
             p.name, (double)p.totalGlobalMem / (1 << 30), p.multiProcessorCount, p.major, p.minor, driver / 1000,
             driver % 1000 / 10);
    return ENHOPE_OK;
}

static void cuda_close(eh_compute *c)
{
    cuda_state *s = state_of(c);
    if (s->stream) cudaStreamSynchronize(s->stream);
    cuda_list_free(s);
    cuda_scratch *const all[] = {&s->pairs, &s->output, &s->nearest, &s->product, &s->real};
    for (cuda_scratch *scratch : all) cudaFree(scratch->block);
    cudaFree(s->sums);
    cudaFree(s->tickets);
    cudaFreeHost(s->pinned);
    if (s->stream) cudaStreamDestroy(s->stream);
    delete s;
}

enhope_status eh_compute_cuda_open(enhope_context *ctx, eh_compute *c, size_t size, int index, int precision)
{
    EH_TRY(check_index(ctx, size, index));
    cuda_state *s = new cuda_state();
    s->device = index;
    s->open_split = -1;
    c->state = s;
    int major = 0, minor = 0;
    cudaError_t error = cudaSetDevice(index);
    if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index);
    if (!error) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index);
    if (!error) error = cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, index);
    if (!error) error = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (!error) error = cudaMalloc(&s->sums, (CUDA_DOT_BLOCKS + 1) * sizeof *s->sums);
    if (!error) error = cudaMalloc(&s->tickets, CUDA_TICKETS * sizeof *s->tickets);
    if (!error) error = cudaMemsetAsync(s->tickets, 0, CUDA_TICKETS * sizeof *s->tickets, s->stream);
    if (!error) error = cudaMallocHost(&s->pinned, 2 * CUDA_PINNED);
    if (!error) error = cudaDeviceGetAttribute(&s->max_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
    if (!error && major >= 8) {
        int version = 0;
        s->hopper = cuda_has_wgmma(&version) && major == 9 && minor == 0;
        s->early = version >= 90;
        error = cuda_product_prepare(s);
    }
    if (error) {
        cuda_close(c);
        return fail(ctx, index, error);
    }
    if (major < 8) {
        cuda_close(c);
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "CUDA device %d has compute capability %d.x, expected 8.0 or newer; use --device cpu", index,
                       major);
    }
    c->op = &cuda_ops;
    c->packed_is_real = precision == EH_UNPACKED;
    const size_t parts = precision == EH_BF16 ? 1 : precision == EH_TF32 ? 2 : 3;
    c->packed_size = c->packed_is_real ? sizeof(float) : parts * sizeof(__nv_bfloat16);
    return ENHOPE_OK;
}

static void cuda_flush(eh_compute *c)
{
    cuda_run(state_of(c));
}

static enhope_status cuda_sync(eh_compute *c, enhope_context *ctx)
{
    cuda_state *s = state_of(c);
    cuda_run(s);
    cuda_ok(s, cudaGetLastError(), "starting a kernel");
    cuda_ok(s, cudaStreamSynchronize(s->stream), "computing");
    if (s->failed == cudaErrorMemoryAllocation) {
        s->failed = cudaSuccess; /* the device itself still works */
        cudaGetLastError();
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY,
                       "out of memory on the CUDA device: %s needs %.0f bytes; try a smaller batch", s->failing,
                       (double)s->wanted);
    }
    if (s->failed)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "the CUDA device failed while %s: %s; check nvidia-smi or use --device cpu", s->failing,
                       cudaGetErrorString(s->failed));
    return ENHOPE_OK;
}

/* ---- memory ---- */

void *cuda_scratch_get(cuda_state *s, cuda_scratch *scratch, size_t bytes, const char *what)
{
    if (s->failed) return NULL;
    if (bytes <= scratch->bytes) return scratch->block;
    cuda_run(s);
    cuda_ok(s, cudaStreamSynchronize(s->stream), "computing");
    cudaFree(scratch->block);
    scratch->block = NULL;
    scratch->bytes = 0;
    s->wanted = bytes;
    if (!cuda_ok(s, cudaMalloc(&scratch->block, bytes), what)) return NULL;
    scratch->bytes = bytes;
    return scratch->block;
}

static void *cuda_alloc(eh_compute *c, size_t bytes)
{
    cuda_state *s = state_of(c);
    void *block = NULL;
    cuda_run(s);
    if (cudaMalloc(&block, bytes ? bytes : 1) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    cuda_ok(s, cudaMemsetAsync(block, 0, bytes, s->stream), "clearing memory");
    return block;
}

/* Graphs may refer to the block, and a new block of another size may get the same address.
 * Graphs are matched by address and shape, so an old graph is valid for a new block at the same
 * address. */
static void cuda_release(eh_compute *c, void *block)
{
    if (!block) return;
    cuda_state *s = state_of(c);
    cuda_run(s);
    cudaStreamSynchronize(s->stream);
    cudaFree(block);
}

static void cuda_send(eh_compute *c, void *to, const void *from, size_t bytes)
{
    cuda_state *s = state_of(c);
    cuda_run(s);
    if (bytes > CUDA_PINNED / 2) {
        cuda_ok(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream), "copying to it");
        cuda_ok(s, cudaStreamSynchronize(s->stream), "copying to it");
        return;
    }
    if (s->pinned_used + bytes > CUDA_PINNED) {
        cuda_ok(s, cudaStreamSynchronize(s->stream), "copying to it"); /* all pinned bytes have been copied */
        s->pinned_used = 0;
    }
    char *at = s->pinned + s->pinned_used;
    memcpy(at, from, bytes);
    s->pinned_used += (bytes + 63) / 64 * 64;
    cuda_ok(s, cudaMemcpyAsync(to, at, bytes, cudaMemcpyHostToDevice, s->stream), "copying to it");
}

static void cuda_fetch(eh_compute *c, void *to, const void *from, size_t bytes)
{
    cuda_state *s = state_of(c);
    cuda_run(s);
    void *at = bytes <= CUDA_PINNED ? s->pinned + CUDA_PINNED : to;
    cuda_ok(s, cudaMemcpyAsync(at, from, bytes, cudaMemcpyDeviceToHost, s->stream), "copying from it");
    if (!cuda_ok(s, cudaStreamSynchronize(s->stream), "copying from it"))
        memset(to, 0xff, bytes); /* NaN, in case the caller reads it before sync() reports the failure */
    else if (at != to)
        memcpy(to, at, bytes);
}

static void cuda_write(eh_compute *c, eh_real *to, const float *from, int64_t count)
{
    cuda_send(c, to, from, (size_t)count * sizeof *from);
}

static void cuda_read(eh_compute *c, float *to, const eh_real *from, int64_t count)
{
    cuda_fetch(c, to, from, (size_t)count * sizeof *to);
}

static size_t cuda_free_memory(eh_compute *c)
{
    (void)c;
    size_t left = 0, all = 0;
    if (cudaMemGetInfo(&left, &all) != cudaSuccess) cudaGetLastError();
    return left;
}

const eh_compute_ops cuda_ops = {
    .name = "cuda",
    .real_size = sizeof(float),
    .host = false,
    .block = 16384,
    .queue_depth = 64,
    .close = cuda_close,
    .flush = cuda_flush,
    .sync = cuda_sync,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .send = cuda_send,
    .fetch = cuda_fetch,
    .write = cuda_write,
    .read = cuda_read,
    .free_memory = cuda_free_memory,
    .data_capacity = cuda_data_capacity,
    .place = cuda_place,
    .unplace = cuda_unplace,
    .refresh = cuda_refresh,
    .prefetch = cuda_prefetch,
    .row_range = cuda_row_range,
    .gather = cuda_gather,
    .gather_packed = cuda_gather_packed,
    .append_bias = cuda_append_bias,
    .adversarial_step = cuda_adversarial_step,
    .sparse_apply = cuda_sparse_apply,
    .sparse_grad = cuda_sparse_grad,
    .gemm = cuda_gemm,
    .product = cuda_product,
    .pack = cuda_pack,
    .output_grad = cuda_output_grad,
    .power = cuda_power,
    .column_sums = cuda_column_sums,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .copy_rows = cuda_copy_rows,
    .scale = cuda_scale,
    .multiply = cuda_multiply,
    .axpy = cuda_axpy,
    .dot = cuda_dot,
    .average = cuda_average,
    .adam = cuda_adam,
    .pairs = cuda_pairs,
    .own_targets = cuda_own_targets,
    .triples = cuda_triples,
    .affinities = cuda_affinities,
    .nearest = cuda_nearest,
    .vote = cuda_vote,
    .argmax_similarity = cuda_argmax_similarity,
};
