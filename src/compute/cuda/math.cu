/* Elementwise and vector operations on the device. */
#include "compute/cuda/cuda.h"

enum { THREADS = 256 };

__global__ void power_each(int64_t rows, int64_t columns, int order, const float *u, int parts, __nv_bfloat16 *s)
{
    begin_kernel();
    CUDA_EACH(i, rows * columns)
    {
        const int64_t row = i / columns, k = i % columns;
        store_parts(s + row * parts * columns + k, columns, parts, int_power(u[i], order));
    }
}

void cuda_power(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s)
{
    const int64_t count = rows * columns;
    if (count)
        enqueue(state_of(c), blocks_for(count, THREADS), THREADS, 0, power_each, rows, columns, order, F(u),
                parts_in(c), O(s));
}

/* Matrices to pack. Consecutive requests share one launch, because none of them reads the output
 * of another. */
enum { JOBS = 4, SPLIT_ROWS = 4 };

struct split_job {
    const float *from;
    __nv_bfloat16 *to;
    int64_t rows, ld;
    int columns, wide;
    bool one;   /* append the bias 1 to the columns */
    bool quads; /* whole aligned groups of four */
    unsigned first_block;
};

struct split_jobs {
    split_job job[JOBS];
    int count, parts;
};

/* A block processes SPLIT_ROWS rows of one of the matrices. */
__global__ void split_rows(const __grid_constant__ split_jobs jobs)
{
    begin_kernel();
    int which = 0;
    while (which + 1 < jobs.count && blockIdx.x >= jobs.job[which + 1].first_block) which++;
    const split_job &job = jobs.job[which];
    const int64_t first = (int64_t)(blockIdx.x - job.first_block) * SPLIT_ROWS;
    for (int64_t row = first; row < first + SPLIT_ROWS && row < job.rows; row++) {
        const float *from = job.from + row * job.ld;
        __nv_bfloat16 *to = job.to + row * jobs.parts * job.wide;
        const int quads = job.quads ? job.columns / 4 : 0;
        for (int k = (int)threadIdx.x; k < quads; k += THREADS)
            store_parts_of_four(to + 4 * k, job.wide, jobs.parts, *(const float4 *)(from + 4 * k));
        for (int k = 4 * quads + (int)threadIdx.x; k < job.wide; k += THREADS)
            store_parts(to + k, job.wide, jobs.parts,
                        k < job.columns               ? from[k]
                        : k == job.columns && job.one ? 1.0f
                                                      : 0.0f);
    }
}

void cuda_split(cuda_state *s, int64_t rows, int64_t columns, const float *from, int64_t ld, bool one, int parts,
                __nv_bfloat16 *to, int64_t wide)
{
    if (rows * wide == 0) return;
    split_jobs jobs;
    memset((void *)&jobs, 0, sizeof jobs); /* including padding, because lists are compared by bytes */
    jobs.parts = parts;
    if (s->open_split >= 0) {
        const cuda_launch &last = s->list.launches[(size_t)s->open_split];
        memcpy((void *)&jobs, s->list.bytes.data() + s->list.params[last.first].at, sizeof jobs);
    }
    const bool joins = s->open_split >= 0 && jobs.count < JOBS && jobs.parts == parts;
    if (!joins) {
        memset((void *)&jobs, 0, sizeof jobs);
        jobs.parts = parts;
    }
    split_job &job = jobs.job[jobs.count++];
    job.from = from, job.to = to, job.rows = rows, job.ld = ld;
    job.columns = (int)columns, job.wide = (int)wide, job.one = one;
    job.quads = columns % 4 == 0 && (ld | wide) % 4 == 0 && (uintptr_t)from % 16 == 0 && (uintptr_t)to % 8 == 0;
    const unsigned blocks = (unsigned)((rows + SPLIT_ROWS - 1) / SPLIT_ROWS);
    if (!joins) {
        enqueue(s, blocks, THREADS, 0, split_rows, jobs);
        s->open_split = (int)s->list.launches.size() - 1;
        return;
    }
    cuda_launch &last = s->list.launches[(size_t)s->open_split];
    job.first_block = last.grid.x;
    last.grid.x += blocks;
    memcpy(s->list.bytes.data() + s->list.params[last.first].at, (const void *)&jobs, sizeof jobs);
}

void cuda_pack(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *to)
{
    if (c->packed_is_real)
        cuda_copy(c, rows * columns, from, (eh_real *)to);
    else
        cuda_split(state_of(c), rows, columns, F(from), columns, false, parts_in(c), O(to), columns);
}

/* A block owns 32 columns; the partial sums of its 32 rows of threads are added in order. */
__global__ void column_sums_of(int64_t n, int64_t m, const float *A, float beta, float *out)
{
    begin_kernel();
    __shared__ float part[32][33];
    const int64_t k = (int64_t)blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (k < m)
        for (int64_t i = threadIdx.y; i < n; i += 32) sum += A[i * m + k];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y || k >= m) return;
    for (int row = 1; row < 32; row++) sum += part[row][threadIdx.x];
    out[k] = sum + (beta == 0 ? 0 : beta * out[k]);
}

void cuda_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out)
{
    enqueue(state_of(c), blocks_for(m, 32), dim3(32, 32), 0, column_sums_of, n, m, F(A), (float)beta, F(out));
}

__global__ void fill_each(int64_t count, float value, float *x)
{
    begin_kernel();
    CUDA_EACH(i, count) x[i] = value;
}

void cuda_fill(eh_compute *c, int64_t count, double value, eh_real *x)
{
    if (count) enqueue(state_of(c), blocks_for(count, THREADS), THREADS, 0, fill_each, count, (float)value, F(x));
}

__global__ void copy_each(int64_t count, const float *x, float *y)
{
    begin_kernel();
    CUDA_EACH(i, count) y[i] = x[i];
}

void cuda_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    if (count) enqueue(state_of(c), blocks_for(count, 4 * THREADS), THREADS, 0, copy_each, count, F(x), F(y));
}

__global__ void copy_rows_each(int64_t rows, int64_t columns, const float *x, int64_t ldx, float *y, int64_t ldy)
{
    begin_kernel();
    for (int64_t i = blockIdx.x; i < rows; i += gridDim.x)
        for (int64_t k = threadIdx.x; k < columns; k += THREADS) y[i * ldy + k] = x[i * ldx + k];
}

void cuda_copy_rows(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                    int64_t ldy)
{
    if (rows)
        enqueue(state_of(c), blocks_for(rows, 1), THREADS, 0, copy_rows_each, rows, columns, F(x), ldx, F(y), ldy);
}

__global__ void scale_each(int64_t count, float a, float *x)
{
    begin_kernel();
    CUDA_EACH(i, count) x[i] *= a;
}

void cuda_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    if (count)
        enqueue(state_of(c), blocks_for(count, 4 * THREADS), THREADS, 0, scale_each, count, varying{(float)a}, F(x));
}

__global__ void multiply_each(int64_t count, const float *x, float *y)
{
    begin_kernel();
    CUDA_EACH(i, count) y[i] *= x[i];
}

void cuda_multiply(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    if (count) enqueue(state_of(c), blocks_for(count, 4 * THREADS), THREADS, 0, multiply_each, count, F(x), F(y));
}

__global__ void axpy_each(int64_t count, float a, const float *x, float *y)
{
    begin_kernel();
    CUDA_EACH(i, count) y[i] += a * x[i];
}

void cuda_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y)
{
    if (count)
        enqueue(state_of(c), blocks_for(count, 4 * THREADS), THREADS, 0, axpy_each, count, varying{(float)a}, F(x),
                F(y));
}

__global__ void average_each(int64_t count, const float *x, const eh_loss_value *other, float *y, eh_loss_value *loss)
{
    begin_kernel();
    CUDA_EACH(i, count) y[i] = 0.5f * (x[i] + y[i]);
    if (blockIdx.x || threadIdx.x) return;
    loss->value = (other->value + loss->value) / 2;
    if (other->nonfinite != 0) loss->nonfinite = 1;
}

void cuda_average(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss)
{
    enqueue(state_of(c), blocks_for(count, 4 * THREADS), THREADS, 0, average_each, count, F(x), S(other), F(y),
            varying{S(loss)});
}

/* Entry j of row i: a scalar, or the sum of its parts. */
__device__ static float entry(const float *X, int64_t i, int64_t j, int64_t ld, int)
{
    return X[i * ld + j];
}
__device__ static float entry(const __nv_bfloat16 *X, int64_t i, int64_t j, int64_t ld, int parts)
{
    return load_parts(X + i * parts * ld + j, ld, parts);
}
__device__ static void put_entry(float *X, int64_t i, int64_t j, int64_t ld, int, float v)
{
    X[i * ld + j] = v;
}
__device__ static void put_entry(__nv_bfloat16 *X, int64_t i, int64_t j, int64_t ld, int parts, float v)
{
    store_parts(X + i * parts * ld + j, ld, parts, v);
}

/* A block of CUDA_BLOCK threads for each row. */
template <typename T>
__global__ void adversarial_rows(int64_t n, int64_t H, float step, const T *X, int64_t ld, int parts, const float *dX,
                                 T *to)
{
    begin_kernel();
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x)
        for (int64_t j = threadIdx.x; j < ld; j += CUDA_BLOCK) {
            const float g = j < H ? dX[i * H + j] : 0;
            put_entry(to, i, j, ld, parts, entry(X, i, j, ld, parts) + (g > 0 ? step : g < 0 ? -step : 0));
        }
}

void cuda_adversarial_step(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                           const eh_real *dX, eh_packed *to)
{
    if (n == 0) return;
    if (c->packed_is_real)
        enqueue(state_of(c), blocks_for(n, 1), CUDA_BLOCK, 0, adversarial_rows<float>, n, H, (float)step,
                (const float *)X, ld, 0, F(dX), (float *)to);
    else
        enqueue(state_of(c), blocks_for(n, 1), CUDA_BLOCK, 0, adversarial_rows<__nv_bfloat16>, n, H, (float)step, O(X),
                ld, parts_in(c), F(dX), O(to));
}

/* The sum of one value of each thread in a fixed tree; thread 0 receives it. */
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
    begin_kernel();
    double sum = 0;
    CUDA_EACH(i, count) sum += (double)x[i] * y[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void dot_whole(double *parts)
{
    begin_kernel();
    const double sum = block_sum(parts[threadIdx.x]);
    if (threadIdx.x == 0) parts[CUDA_DOT_BLOCKS] = sum;
}

double cuda_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y)
{
    cuda_state *s = state_of(c);
    double sum = 0;
    static_assert((int)CUDA_DOT_BLOCKS == (int)THREADS, "one block adds the partial sums");
    enqueue(s, CUDA_DOT_BLOCKS, THREADS, 0, dot_parts, count, F(x), F(y), s->sums);
    enqueue(s, 1, CUDA_DOT_BLOCKS, 0, dot_whole, s->sums);
    c->op->fetch(c, &sum, s->sums + CUDA_DOT_BLOCKS, sizeof sum);
    return sum;
}

struct adam_rates {
    float beta1, beta2, epsilon;
};

__device__ static inline bool adam_one(float step, float root_fix, const adam_rates &r, float g, float &m1, float &m2,
                                       float &x)
{
    if (!isfinite(g)) return false;
    m1 = r.beta1 * m1 + (1 - r.beta1) * g;
    m2 = r.beta2 * m2 + (1 - r.beta2) * g * g;
    x -= step * m1 / (sqrtf(m2) * root_fix + r.epsilon);
    return true;
}

__global__ void adam_each(int64_t count, bool quads, float step, float root_fix, adam_rates r, const float *g,
                          eh_loss_value *loss, float *m1, float *m2, float *x)
{
    begin_kernel();
    if (!isfinite(loss->value)) return;
    bool good = true;
    const int64_t whole = quads ? count / 4 : 0;
    CUDA_EACH(i, whole)
    {
        const float4 d = ((const float4 *)g)[i];
        float4 a = ((float4 *)m1)[i], b = ((float4 *)m2)[i], v = ((float4 *)x)[i];
        good &= adam_one(step, root_fix, r, d.x, a.x, b.x, v.x);
        good &= adam_one(step, root_fix, r, d.y, a.y, b.y, v.y);
        good &= adam_one(step, root_fix, r, d.z, a.z, b.z, v.z);
        good &= adam_one(step, root_fix, r, d.w, a.w, b.w, v.w);
        ((float4 *)m1)[i] = a;
        ((float4 *)m2)[i] = b;
        ((float4 *)x)[i] = v;
    }
    CUDA_EACH(rest, count - 4 * whole)
    {
        const int64_t i = 4 * whole + rest;
        good &= adam_one(step, root_fix, r, g[i], m1[i], m2[i], x[i]);
    }
    if (!good) loss->nonfinite = 1;
}

void cuda_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
               const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x)
{
    if (count == 0) return;
    const float step = (float)(rate / (1 - pow(beta1, (double)t)));
    const float root_fix = (float)(1 / sqrt(1 - pow(beta2, (double)t)));
    const adam_rates rates = {(float)beta1, (float)beta2, (float)epsilon};
    const bool quads = ((uintptr_t)g | (uintptr_t)m1 | (uintptr_t)m2 | (uintptr_t)x) % 16 == 0;
    enqueue(state_of(c), blocks_for(quads ? (count + 3) / 4 : count, THREADS), THREADS, 0, adam_each, count, quads,
            varying{step}, varying{root_fix}, rates, F(g), varying{S(loss)}, F(m1), F(m2), F(x));
}
