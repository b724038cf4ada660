/* Internal header of the cuda backend: float32 on an NVIDIA GPU, one stream, own kernels for all
 * operations.
 *
 * Operations only add their kernels to a list (list.cu). The list is launched when a result is
 * fetched or memory is changed. A list that occurred before is replayed as a CUDA graph. Every
 * reduction has a fixed order, so a repeated run is byte-identical. The state keeps the first
 * failure of the CUDA runtime until sync() reports it. */
#ifndef EH_CUDA_H
#define EH_CUDA_H

#include <climits>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <vector>

extern "C" {
#include "compute/compute.h"
}

/* A device block that grows on demand and is reused by later calls. */
struct cuda_scratch {
    void *block;
    size_t bytes;
};

/* A kernel launch in the list. Its parameters are in the bytes of the list. */
struct cuda_launch {
    const void *kernel;
    dim3 grid, block;
    unsigned shared;
    unsigned params, first; /* count and index of its parameters in the list */
    bool varying;           /* a parameter may change from one replay to the next */
};

/* The position of a parameter in the bytes of the list. */
struct cuda_param {
    unsigned at, size;
    bool varying;
};

struct cuda_list {
    std::vector<cuda_launch> launches;
    std::vector<cuda_param> params;
    std::vector<char> bytes;
};

struct cuda_graph; /* list.cu */

struct cuda_state {
    int device, multiprocessors, max_shared; /* max_shared: largest shared memory of a block in bytes */
    bool hopper;                             /* the loaded code has wgmma, the matrix products of Hopper */
    bool early; /* ... and is for 9.0 or newer: a kernel may start before the previous one has ended */
    cudaStream_t stream;
    cudaError_t failed;  /* the first failure, or cudaSuccess */
    const char *failing; /* the operation that failed */
    size_t wanted;       /* bytes of an allocation that failed */

    cuda_list list;
    std::vector<cuda_graph *> graphs;
    int open_split; /* index of the split launch that further matrices may join; -1: none */

    char *pinned;       /* staging memory for send() and small results */
    size_t pinned_used; /* bytes in use by send() */

    double *sums;      /* partial sums of dot, then the sum */
    unsigned *tickets; /* zeroed counters, left zeroed */
    cuda_scratch pairs, output, nearest, product, real;
};

enum {
    CUDA_PINNED = 1 << 20, /* bytes for send(); as many again for fetch() */
    CUDA_TICKETS = 4096,
    CUDA_DOT_BLOCKS = 256
};

static inline cuda_state *state_of(const eh_compute *c)
{
    return (cuda_state *)c->state;
}

static inline float *F(const eh_real *v)
{
    return (float *)(uintptr_t)v;
}

static inline int64_t *R(const eh_row *v)
{
    return (int64_t *)(uintptr_t)v;
}

static inline int32_t *L(const eh_label *v)
{
    return (int32_t *)(uintptr_t)v;
}

static inline eh_loss_value *S(const eh_loss *v)
{
    return (eh_loss_value *)(uintptr_t)v;
}

/* bfloat16 parts of a packed element (product.h); 0: packed elements are scalars. */
static inline int parts_in(const eh_compute *c)
{
    return c->packed_is_real ? 0 : (int)(c->packed_size / sizeof(__nv_bfloat16));
}

static inline __nv_bfloat16 *O(const eh_packed *v)
{
    return (__nv_bfloat16 *)(uintptr_t)v;
}

/* Stores the first failure. Returns true if there has been none. */
bool cuda_ok(cuda_state *s, cudaError_t error, const char *what);
/* Returns at least `bytes` bytes, or NULL after a failure, which sync() reports. Launches the
 * list first if the block moves. */
void *cuda_scratch_get(cuda_state *s, cuda_scratch *scratch, size_t bytes, const char *what);

static inline unsigned blocks_for(int64_t count, int64_t threads)
{
    const int64_t blocks = (count + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks > 1048576 ? 1048576 : blocks);
}

/* ---- list.cu ---- */

/* Launches the list without waiting for it. */
void cuda_run(cuda_state *s);
void cuda_list_free(cuda_state *s);

/* A parameter that varies from step to step. Lists that differ only in such parameters share a
 * graph. */
template <typename T> struct varying {
    T value;
};
template <typename T> varying(T) -> varying<T>;

template <typename P, typename A> static inline void add_param(cuda_list &list, const A &arg)
{
    const unsigned at = (unsigned)((list.bytes.size() + 15) / 16 * 16);
    const P value = arg;
    list.bytes.resize(at + sizeof(P));
    memcpy(list.bytes.data() + at, &value, sizeof(P));
    list.params.push_back({at, (unsigned)sizeof(P), false});
}
template <typename P, typename A> static inline void add_param(cuda_list &list, const varying<A> &arg)
{
    add_param<P>(list, arg.value);
    list.params.back().varying = true;
    list.launches.back().varying = true;
}

template <typename... P, typename... A>
static inline void enqueue(cuda_state *s, dim3 grid, dim3 block, size_t shared, void (*kernel)(P...), const A &...args)
{
    enum { LONG = 100 }; /* number of launches after which the list is launched early */
    if (s->list.launches.size() >= LONG) cuda_run(s);
    s->open_split = -1;
    s->list.launches.push_back({(const void *)kernel, grid, block, (unsigned)shared, (unsigned)sizeof...(P),
                                (unsigned)s->list.params.size(), false});
    (add_param<P>(s->list, args), ...);
}

/* ---- device functions ---- */

#define CUDA_EACH(i, count) \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += (int64_t)gridDim.x * blockDim.x)

/* Every kernel begins with this call, because its blocks may start before the previous kernel
 * has ended. */
__device__ static inline void begin_kernel()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ static inline float int_power(float u, int order)
{
    if (order == 2) return u * u;
    float p = 1;
    for (int o = 0; o < order; o++) p *= u;
    return p;
}

/* Returns true to all threads of the last of `blocks` blocks to call it. That block sees all
 * earlier writes of the others. */
__device__ static inline bool last_block(unsigned *ticket, unsigned blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        last = atomicAdd(ticket, 1) == blocks - 1;
        if (last) *ticket = 0;
    }
    __syncthreads();
    if (last) __threadfence();
    return last;
}

enum { CUDA_BLOCK = 128 }; /* threads of a block in reductions */

/* Combines the values of all threads of a block of CUDA_BLOCK with op in a fixed order. All
 * threads receive the result. */
template <typename T, typename Op> __device__ static inline T block_reduce(T value, Op op)
{
    __shared__ T scratch[CUDA_BLOCK];
    __syncthreads();
    scratch[threadIdx.x] = value;
    for (int half = CUDA_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) scratch[threadIdx.x] = op(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    }
    __syncthreads();
    return scratch[0];
}

struct add {
    __device__ double operator()(double a, double b) const
    {
        return a + b;
    }
};

__device__ static inline float distance2(const float *a, const float *b, int64_t h)
{
    float sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Stores v as a packed element; `to` is its position in the row of first parts. */
__device__ static inline void store_parts(__nv_bfloat16 *to, int64_t ld, int parts, float v)
{
    for (int part = 0; part < parts; part++, to += ld) {
        const __nv_bfloat16 h = __float2bfloat16(v);
        *to = h;
        v -= __bfloat162float(h);
    }
}

/* The same for four consecutive elements at a multiple of 8 bytes. */
__device__ static inline void store_parts_of_four(__nv_bfloat16 *to, int64_t ld, int parts, float4 v)
{
    for (int part = 0; part < parts; part++, to += ld) {
        const __nv_bfloat162 h[2] = {__floats2bfloat162_rn(v.x, v.y), __floats2bfloat162_rn(v.z, v.w)};
        *(uint2 *)to = *(const uint2 *)h;
        v.x -= __low2float(h[0]), v.y -= __high2float(h[0]), v.z -= __low2float(h[1]), v.w -= __high2float(h[1]);
    }
}

__device__ static inline float load_parts(const __nv_bfloat16 *from, int64_t ld, int parts)
{
    float v = 0;
    for (int part = parts - 1; part >= 0; part--) v += __bfloat162float(from[part * ld]);
    return v;
}

/* ---- operations ---- */

/* data.cu */
enhope_status cuda_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                         const float *shift, const float *mul, eh_table *out);
void cuda_unplace(eh_compute *c, eh_table *t);
size_t cuda_data_capacity(eh_compute *c);
void cuda_refresh(eh_compute *c, eh_table *t, const eh_matrix *x, const int32_t *label, int64_t first, int64_t n);
void cuda_prefetch(eh_compute *c, const eh_table *t, int64_t first, int64_t n);
void cuda_row_range(eh_compute *c, int64_t first, int64_t n, eh_row *rows);
void cuda_gather(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                 eh_label *label);
void cuda_gather_packed(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_packed *X, int64_t ld,
                        eh_label *label, const eh_augment *with);
void cuda_append_bias(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_packed *X, int64_t ld);
void cuda_sparse_apply(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C, int64_t F_,
                       eh_real *U);
void cuda_sparse_grad(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_packed *dU, int64_t F_,
                      eh_real *dC);
/* product.cu */
void cuda_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
               int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc);
/* C (M, N) = A B^T of bfloat16, both with leading dimension ld: approximate, for searches that
 * verify their candidates. */
void cuda_rough_product(cuda_state *s, int64_t M, int64_t N, int64_t K, const __nv_bfloat16 *A, const __nv_bfloat16 *B,
                        int64_t ld, float *C, int64_t ldc);
void cuda_product(eh_compute *c, const eh_product *p);
/* Called once for each device: allows the kernels the shared memory that they need. */
cudaError_t cuda_product_prepare(const cuda_state *s);
/* Whether the loaded code has wgmma, and its PTX version, 90 for 9.0. */
bool cuda_has_wgmma(int *version);
/* output.cu */
/* Y (n, h) = T (n, m) V^T for small h. Returns false if h is too large. */
bool cuda_output(eh_compute *c, int64_t n, int64_t h, int64_t m, const float *T, int64_t ldt, const float *V,
                 int64_t ldv, float *Y, int64_t ldy);
void cuda_output_grad(eh_compute *c, eh_epilogue slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                      const eh_real *V, const eh_real *T, bool add, eh_packed *dA, eh_real *db, eh_real *dV);
/* math.cu */
/* Converts a matrix to packed format: to (rows, columns; wide) with `parts` parts, followed by
 * the bias 1 if `one`, then zeros up to wide. */
void cuda_split(cuda_state *s, int64_t rows, int64_t columns, const float *from, int64_t ld, bool one, int parts,
                __nv_bfloat16 *to, int64_t wide);
void cuda_pack(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *to);
void cuda_power(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s);
void cuda_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);
void cuda_fill(eh_compute *c, int64_t count, double value, eh_real *x);
void cuda_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
void cuda_copy_rows(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                    int64_t ldy);
void cuda_scale(eh_compute *c, int64_t count, double a, eh_real *x);
void cuda_multiply(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
void cuda_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y);
double cuda_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);
void cuda_average(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss);
void cuda_adversarial_step(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                           const eh_real *dX, eh_packed *to);
void cuda_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
               const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x);
/* pairs.cu */
void cuda_pairs(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG);
/* own_targets.cu */
void cuda_own_targets(eh_compute *c, const eh_pairs *p, double unlabeled, eh_real *P);
/* triples.cu */
void cuda_triples(eh_compute *c, const eh_triples *p, eh_loss *loss, eh_real *dY);
/* affinities.cu */
void cuda_affinities(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P);
/* nearest.cu */
void cuda_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                  eh_row *index, eh_real *distance);
void cuda_vote(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
               eh_label *label);
void cuda_argmax_similarity(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                            const eh_label *reference_label, const eh_similarity *similarity, eh_label *label);

#endif
