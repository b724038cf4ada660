/* The cuda backend's elementwise operations and vectors. */
#include "compute/cuda/cuda.h"

enum { THREADS = 256 };

__device__ static float int_power(float u, int order)
{
    float p = 1;
    for (int o = 0; o < order; o++) p *= u;
    return p;
}

__global__ void power_each(int64_t count, int order, const float *u, float *s)
{
    CUDA_EACH(i, count) s[i] = int_power(u[i], order);
}

void cuda_power(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *s)
{
    power_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, order, F(u), F(s));
}

__global__ void power_grad_each(int64_t count, int order, const float *u, float *d)
{
    CUDA_EACH(i, count) d[i] *= (float)order * int_power(u[i], order - 1);
}

void cuda_power_grad(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *d)
{
    power_grad_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, order, F(u), F(d));
}

__global__ void sigmoid_each(int64_t count, int64_t m, const float *b, float *A)
{
    CUDA_EACH(i, count) A[i] = 1 / (1 + expf(-(A[i] + b[i % m])));
}

void cuda_sigmoid(eh_compute *c, int64_t n, int64_t m, const eh_real *b, eh_real *A)
{
    sigmoid_each<<<blocks_for(n * m, THREADS), THREADS, 0, state_of(c)->stream>>>(n * m, m, F(b), F(A));
}

__global__ void sigmoid_grad_each(int64_t count, const float *t, float *d)
{
    CUDA_EACH(i, count) d[i] *= t[i] * (1 - t[i]);
}

void cuda_sigmoid_grad(eh_compute *c, int64_t count, const eh_real *t, eh_real *d)
{
    sigmoid_grad_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, F(t), F(d));
}

/* A block owns 32 columns; its 32 lanes of rows are added up in order. */
__global__ void column_sums_of(int64_t n, int64_t m, const float *A, float beta, float *out)
{
    __shared__ float part[32][33];
    const int64_t k = (int64_t)blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (k < m)
        for (int64_t i = threadIdx.y; i < n; i += 32) sum += A[i * m + k];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y || k >= m) return;
    for (int lane = 1; lane < 32; lane++) sum += part[lane][threadIdx.x];
    out[k] = sum + (beta == 0 ? 0 : beta * out[k]);
}

void cuda_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out)
{
    column_sums_of<<<blocks_for(m, 32), dim3(32, 32), 0, state_of(c)->stream>>>(n, m, F(A), (float)beta, F(out));
}

__global__ void fill_each(int64_t count, float value, float *x)
{
    CUDA_EACH(i, count) x[i] = value;
}

void cuda_fill(eh_compute *c, int64_t count, double value, eh_real *x)
{
    fill_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, (float)value, F(x));
}

void cuda_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    cuda_state *s = state_of(c);
    cuda_ok(s, cudaMemcpyAsync(y, x, (size_t)count * sizeof(float), cudaMemcpyDeviceToDevice, s->stream), "copying");
}

__global__ void scale_each(int64_t count, float a, float *x)
{
    CUDA_EACH(i, count) x[i] *= a;
}

void cuda_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    scale_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, (float)a, F(x));
}

__global__ void axpy_each(int64_t count, float a, const float *x, float *y)
{
    CUDA_EACH(i, count) y[i] += a * x[i];
}

void cuda_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y)
{
    axpy_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(count, (float)a, F(x), F(y));
}

/* The sum of one number a thread, in a fixed tree; thread 0 has it. */
__device__ static double block_sum(double value)
{
    __shared__ double part[THREADS];
    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return part[0];
}

__global__ void dot_parts(int64_t count, const float *x, const float *y, double *parts)
{
    double sum = 0;
    CUDA_EACH(i, count) sum += (double)x[i] * y[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void dot_whole(double *parts)
{
    const double sum = block_sum(parts[threadIdx.x]);
    if (threadIdx.x == 0) parts[CUDA_DOT_BLOCKS] = sum;
}

double cuda_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y)
{
    cuda_state *s = state_of(c);
    double sum = 0;
    dot_parts<<<CUDA_DOT_BLOCKS, THREADS, 0, s->stream>>>(count, F(x), F(y), s->sums);
    dot_whole<<<1, CUDA_DOT_BLOCKS, 0, s->stream>>>(s->sums);
    cuda_ok(s, cudaMemcpyAsync(&sum, s->sums + CUDA_DOT_BLOCKS, sizeof sum, cudaMemcpyDeviceToHost, s->stream), "adding up");
    return cuda_ok(s, cudaStreamSynchronize(s->stream), "adding up") ? sum : 0.0 / 0.0;
}

__global__ void adam_each(int64_t count, float step, float beta1, float beta2, float root_fix, float epsilon,
                          const float *g, float *m1, float *m2, float *x)
{
    CUDA_EACH(i, count)
    {
        m1[i] = beta1 * m1[i] + (1 - beta1) * g[i];
        m2[i] = beta2 * m2[i] + (1 - beta2) * g[i] * g[i];
        x[i] -= step * m1[i] / (sqrtf(m2[i]) * root_fix + epsilon);
    }
}

void cuda_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
               const eh_real *g, eh_real *m1, eh_real *m2, eh_real *x)
{
    const float step = (float)(rate / (1 - pow(beta1, (double)t)));
    const float root_fix = (float)(1 / sqrt(1 - pow(beta2, (double)t)));
    adam_each<<<blocks_for(count, THREADS), THREADS, 0, state_of(c)->stream>>>(
        count, step, (float)beta1, (float)beta2, root_fix, (float)epsilon, F(g), F(m1), F(m2), F(x));
}
