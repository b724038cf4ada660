/* The cuda backend's own header: float32 on an NVIDIA GPU, one stream, cuBLAS for products.
 *
 * Every reduction has a fixed order, so that the same run gives the same bytes. A failure of the runtime is kept in the
 * state and told by sync(). */
#ifndef EH_CUDA_H
#define EH_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime.h>

extern "C" {
#include "compute/compute.h"
}

/* A device block that grows when more is asked of it and is kept between calls. */
struct cuda_room {
    void *block;
    size_t bytes;
};

struct cuda_state {
    cudaStream_t stream;
    cublasHandle_t blas;
    int failed;          /* cudaError_t or 0 */
    int blas_failed;     /* cublasStatus_t or 0 */
    const char *failing; /* the operation that failed first */
    double *sums;        /* device: partial sums of dot, then the sum */
    cuda_room rows, labels, weights, found, product;
};

static inline cuda_state *state_of(const eh_compute *c)
{
    return (cuda_state *)c->state;
}

static inline float *F(const eh_real *v)
{
    return (float *)(uintptr_t)v;
}

/* Remembers the first failure; true when all is well so far. */
static inline bool cuda_ok(cuda_state *s, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !s->failed) {
        s->failed = (int)error;
        s->failing = what;
    }
    return !s->failed;
}

/* At least so many bytes; NULL after a failure, which sync() tells. */
void *cuda_room_get(cuda_state *s, cuda_room *room, size_t bytes, const char *what);

static inline unsigned blocks_for(int64_t count, int64_t threads)
{
    const int64_t blocks = (count + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks > 1048576 ? 1048576 : blocks);
}

#define CUDA_EACH(i, count) \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += (int64_t)gridDim.x * blockDim.x)

/* cuda_math.cu */
void cuda_power(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *s);
void cuda_power_grad(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *d);
void cuda_sigmoid(eh_compute *c, int64_t n, int64_t m, const eh_real *b, eh_real *A);
void cuda_sigmoid_grad(eh_compute *c, int64_t count, const eh_real *t, eh_real *d);
void cuda_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);
void cuda_fill(eh_compute *c, int64_t count, double value, eh_real *x);
void cuda_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
void cuda_scale(eh_compute *c, int64_t count, double a, eh_real *x);
void cuda_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y);
double cuda_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);
void cuda_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
               const eh_real *g, eh_real *m1, eh_real *m2, eh_real *x);
enum { CUDA_DOT_BLOCKS = 256 };
/* cuda_pairs.cu */
void cuda_pair_sums(eh_compute *c, const eh_pairs *p, double *log_all, double *same);
void cuda_pair_grad(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, eh_real *dY,
                    eh_real *dG);
/* cuda_nearest.cu */
void cuda_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                  int64_t *index, float *distance);

#endif
