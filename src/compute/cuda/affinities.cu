/* Affinities on the device. Distances of all rows are computed from differences, so rounding
 * does not cancel them. Then each row gets its bandwidth, one block for each row, and both
 * directions of a pair are added. Everything is computed in place in P. */
#include "compute/bandwidth.h"
#include "compute/cuda/cuda.h"

enum {
    THREADS = CUDA_BLOCK,
    TILE = 64,
    DEPTH = 16,
    OWN = 4,
    SIDE = TILE / OWN
}; /* OWN: rows and columns of a thread */

/* Loads rows first .. first + TILE of X from column k on, transposed. */
__device__ static void hold(int64_t n, int64_t dims, const float *X, int64_t first, int64_t k,
                            float to[DEPTH][TILE + 1])
{
    for (int e = (int)threadIdx.x; e < TILE * DEPTH; e += SIDE * SIDE) {
        const int64_t row = first + e / DEPTH, column = k + e % DEPTH;
        to[e % DEPTH][e / DEPTH] = row < n && column < dims ? X[row * dims + column] : 0;
    }
}

/* One block for each tile of the lower triangle, which it writes to both sides. */
__global__ void affinity_distances(int64_t n, int64_t dims, const float *X, float *P)
{
    begin_kernel();
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    if (blockIdx.x > blockIdx.y) return;
    const int64_t i0 = (int64_t)blockIdx.y * TILE, j0 = (int64_t)blockIdx.x * TILE;
    const int y = (int)threadIdx.x / SIDE, x = (int)threadIdx.x % SIDE;
    float sum[OWN][OWN] = {};
    for (int64_t k = 0; k < dims; k += DEPTH) {
        hold(n, dims, X, i0, k, a);
        hold(n, dims, X, j0, k, b);
        __syncthreads();
        for (int t = 0; t < DEPTH; t++)
#pragma unroll
            for (int r = 0; r < OWN; r++)
#pragma unroll
                for (int s = 0; s < OWN; s++) {
                    const float u = a[t][y + SIDE * r] - b[t][x + SIDE * s];
                    sum[r][s] += u * u;
                }
        __syncthreads();
    }
    for (int r = 0; r < OWN; r++)
        for (int s = 0; s < OWN; s++) {
            const int64_t i = i0 + y + SIDE * r, j = j0 + x + SIDE * s;
            if (i < n && j <= i) P[i * n + j] = P[j * n + i] = sum[r][s];
        }
}

struct add_sums {
    __device__ eh_bandwidth_sums operator()(const eh_bandwidth_sums &a, const eh_bandwidth_sums &b) const
    {
        return {a.weight + b.weight, a.first + b.first, a.second + b.second};
    }
};
struct smaller {
    __device__ float operator()(float a, float b) const
    {
        return b < a ? b : a;
    }
};

/* Sums with weights exp(-beta e) over the other rows of row i. */
__device__ static eh_bandwidth_sums sums_at(int64_t n, int64_t i, const float *e, float beta)
{
    eh_bandwidth_sums s = {0, 0, 0};
    for (int64_t j = threadIdx.x; j < n; j += THREADS) {
        if (j == i) continue;
        const float p = expf(-beta * e[j]);
        s.weight += p;
        s.first += p * e[j];
        s.second += p * e[j] * e[j];
    }
    return block_reduce(s, add_sums());
}

/* Replaces the distances of a row by its p_j|i. The smallest distance is subtracted, and the
 * unit is their mean. */
__global__ void affinity_rows(int64_t n, double goal, float *P)
{
    begin_kernel();
    const int64_t i = blockIdx.x;
    float *e = P + i * n, smallest = INFINITY;
    for (int64_t j = threadIdx.x; j < n; j += THREADS)
        if (j != i) smallest = fminf(smallest, e[j]);
    smallest = block_reduce(smallest, smaller());
    for (int64_t j = threadIdx.x; j < n; j += THREADS) e[j] = j == i ? 0 : e[j] - smallest;
    const eh_bandwidth_sums whole = sums_at(n, i, e, 0);
    const float unit = whole.first > 0 ? (float)(whole.weight / whole.first) : 0;
    for (int64_t j = threadIdx.x; j < n; j += THREADS) e[j] *= unit;
    eh_bandwidth b = eh_bandwidth_start(sums_at(n, i, e, 0));
    while (!eh_bandwidth_found(&b, sums_at(n, i, e, (float)b.beta), goal)) {
    }
    const double all = sums_at(n, i, e, (float)b.beta).weight;
    for (int64_t j = threadIdx.x; j < n; j += THREADS) e[j] = j == i ? 0 : (float)(expf(-(float)b.beta * e[j]) / all);
}

__global__ void affinity_sides(int64_t n, float *P)
{
    begin_kernel();
    const float scale = (float)(0.5 / (double)n);
    CUDA_EACH(at, n * n)
    {
        const int64_t i = at / n, j = at % n;
        if (j > i) continue;
        P[i * n + j] = P[j * n + i] = scale * (P[i * n + j] + P[j * n + i]);
    }
}

void cuda_affinities(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P)
{
    cuda_state *s = state_of(c);
    if (n == 0) return;
    const unsigned tiles = (unsigned)((n + TILE - 1) / TILE);
    enqueue(s, dim3(tiles, tiles), SIDE * SIDE, 0, affinity_distances, n, dims, F(X), F(P));
    enqueue(s, (unsigned)n, THREADS, 0, affinity_rows, n, log(perplexity), F(P));
    enqueue(s, blocks_for(n * n, 256), 256, 0, affinity_sides, n, F(P));
}
