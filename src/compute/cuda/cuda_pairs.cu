/* The cuda backend's pair kernels (compute.h says what they compute): a block a row, distances by differences, made
 * anew in each pass, sums in a fixed order. */
#include "compute/cuda/cuda.h"

enum { THREADS = 128 };

/* A copy of eh_pairs with the labels on the device. */
struct device_pairs {
    bool gaussian, nca, self;
    int64_t n, z, h;
    const float *Y, *G;
    const int32_t *label, *other_label;
};

__device__ static float distance2(const float *a, const float *b, int64_t h)
{
    float sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

template <typename T, typename Op> __device__ static T block_reduce(T value, Op op)
{
    __shared__ T part[THREADS];
    __syncthreads();
    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = op(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    return part[0];
}

struct add {
    __device__ double operator()(double a, double b) const { return a + b; }
};
struct least {
    __device__ float operator()(float a, float b) const { return b < a ? b : a; }
};

__global__ void row_sums(device_pairs p, double *log_all, double *same)
{
    const int64_t i = blockIdx.x;
    const float *y = p.Y + i * p.h;
    float nearest = INFINITY, nearest_same = INFINITY; /* what exponents are taken relative to */
    if (p.gaussian) {
        for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
            if (p.self && i == j) continue;
            const float d = distance2(y, p.G + j * p.h, p.h);
            nearest = fminf(nearest, d);
            if (p.label[i] == p.other_label[j]) nearest_same = fminf(nearest_same, d);
        }
        nearest = block_reduce(nearest, least());
        nearest_same = block_reduce(nearest_same, least());
    }
    double all = 0, mine = 0;
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
        if (p.self && i == j) continue;
        const float d = distance2(y, p.G + j * p.h, p.h);
        const bool kin = p.label[i] == p.other_label[j];
        all += p.gaussian ? expf(nearest - d) : 1 / (1 + d);
        if (!kin) continue;
        if (p.nca)
            mine += p.gaussian ? expf(nearest_same - d) : 1 / (1 + d);
        else
            mine -= p.gaussian ? d : log1pf(d);
    }
    all = block_reduce(all, add());
    mine = block_reduce(mine, add());
    if (threadIdx.x) return;
    log_all[i] = log(all) - (p.gaussian && nearest < INFINITY ? nearest : 0);
    same[i] = p.nca ? log(mine) - (p.gaussian && nearest_same < INFINITY ? nearest_same : 0) : mine;
}

/* Slope of the pair (sample i, compared j). */
__device__ static float slope(const device_pairs &p, const double *attract, const double *repel, int64_t i, int64_t j,
                              float d)
{
    const bool kin = p.label[i] == p.other_label[j];
    const float A = (float)attract[i], R = (float)repel[i];
    if (p.gaussian) return (kin ? expf(p.nca ? A - d : A) : 0) - expf(R - d);
    const float w = 1 / (1 + d);
    return ((kin ? (p.nca ? A * w : A) : 0) - R * w) * w;
}

/* out (rows, h) = 2 sum over others of D (own - other), a block a row. */
__global__ void row_grads(device_pairs p, const double *attract, const double *repel, bool of_samples, bool add_to,
                          float *out)
{
    const int64_t row = blockIdx.x, others = of_samples ? p.z : p.n;
    const float *own = (of_samples ? p.Y : p.G) + row * p.h, *other = of_samples ? p.G : p.Y;
    for (int64_t k = 0; k < p.h; k++) {
        double sum = 0;
        for (int64_t t = threadIdx.x; t < others; t += THREADS) {
            if (p.self && t == row) continue; /* its slope may be infinite, its difference is zero */
            const float d = distance2(own, other + t * p.h, p.h);
            const float D = slope(p, attract, repel, of_samples ? row : t, of_samples ? t : row, d);
            sum += (double)D * (own[k] - other[t * p.h + k]);
        }
        sum = block_reduce(sum, add());
        if (threadIdx.x == 0) out[row * p.h + k] = (add_to ? out[row * p.h + k] : 0) + (float)(2 * sum);
    }
}

/* Labels and, unless NULL, two weights a row to the device; false after a failure. */
static bool place(cuda_state *s, const eh_pairs *p, const double *attract, const double *repel, device_pairs *out,
                  double **weights)
{
    int32_t *labels = (int32_t *)cuda_room_get(s, &s->labels, (size_t)(p->n + p->z) * sizeof *labels, "labels");
    *weights = (double *)cuda_room_get(s, &s->weights, (size_t)(2 * p->n) * sizeof **weights, "weights of a batch");
    if (!labels || !*weights) return false;
    const size_t n = (size_t)p->n, z = (size_t)p->z;
    cuda_ok(s, cudaMemcpyAsync(labels, p->label, n * sizeof *labels, cudaMemcpyHostToDevice, s->stream), "copying labels");
    cuda_ok(s, cudaMemcpyAsync(labels + n, p->other_label, z * sizeof *labels, cudaMemcpyHostToDevice, s->stream),
            "copying labels");
    if (attract) {
        cuda_ok(s, cudaMemcpyAsync(*weights, attract, n * sizeof *attract, cudaMemcpyHostToDevice, s->stream), "copying weights");
        cuda_ok(s, cudaMemcpyAsync(*weights + n, repel, n * sizeof *repel, cudaMemcpyHostToDevice, s->stream), "copying weights");
    }
    *out = device_pairs{p->gaussian, p->nca, p->self, p->n, p->z, p->h, F(p->Y), F(p->G), labels, labels + p->n};
    return !s->failed;
}

void cuda_pair_sums(eh_compute *c, const eh_pairs *p, double *log_all, double *same)
{
    cuda_state *s = state_of(c);
    device_pairs d;
    double *sums = NULL;
    const size_t bytes = (size_t)p->n * sizeof *sums;
    if (p->n == 0) return;
    if (place(s, p, NULL, NULL, &d, &sums)) {
        row_sums<<<(unsigned)p->n, THREADS, 0, s->stream>>>(d, sums, sums + p->n);
        cuda_ok(s, cudaMemcpyAsync(log_all, sums, bytes, cudaMemcpyDeviceToHost, s->stream), "copying from it");
        cuda_ok(s, cudaMemcpyAsync(same, sums + p->n, bytes, cudaMemcpyDeviceToHost, s->stream), "copying from it");
        cuda_ok(s, cudaStreamSynchronize(s->stream), "adding up pairs");
    }
    if (s->failed) memset(log_all, 0xff, bytes), memset(same, 0xff, bytes); /* NaN: the loss tells, then sync() */
}

void cuda_pair_grad(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, eh_real *dY,
                    eh_real *dG)
{
    cuda_state *s = state_of(c);
    device_pairs d;
    double *weights = NULL;
    if (p->n == 0 || !place(s, p, attract, repel, &d, &weights)) return;
    const double *A = weights, *R = weights + p->n;
    row_grads<<<(unsigned)p->n, THREADS, 0, s->stream>>>(d, A, R, true, false, F(dY));
    if (p->self)
        row_grads<<<(unsigned)p->n, THREADS, 0, s->stream>>>(d, A, R, false, true, F(dY));
    else if (p->z)
        row_grads<<<(unsigned)p->z, THREADS, 0, s->stream>>>(d, A, R, false, false, F(dG));
}
