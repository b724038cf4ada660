/* The output layer Y = T V^T and its gradient. These matrices are as thin as the embedding, so
 * memory bandwidth limits the speed, not arithmetic. */
#include "compute/cuda/cuda.h"

enum {
    THIN = 16,
    ROWS = 8,
    COLUMNS = 32,
    THREAD_ROWS = 8,
    CHUNK = 64, /* smallest number of rows of a chunk */
    CHUNKS = 64 /* largest number of chunks */
};

/* One warp for each row. */
template <int MAX_H>
__global__ void output_rows(int64_t n, int h, int64_t m, const float *T, int64_t ldt, const float *V, int64_t ldv,
                            float *Y, int64_t ldy)
{
    begin_kernel();
    const int64_t i = (int64_t)blockIdx.x * ROWS + threadIdx.y;
    if (i >= n) return;
    float sum[MAX_H] = {};
    for (int64_t k = threadIdx.x; k < m; k += 32) {
        const float t = T[i * ldt + k];
#pragma unroll
        for (int j = 0; j < MAX_H; j++)
            if (j < h) sum[j] += t * V[j * ldv + k];
    }
#pragma unroll
    for (int j = 0; j < MAX_H; j++) {
        for (int half = 16; half; half /= 2) sum[j] += __shfl_xor_sync(0xffffffff, sum[j], half);
        if (threadIdx.x == 0 && j < h) Y[i * ldy + j] = sum[j];
    }
}

bool cuda_output(eh_compute *c, int64_t n, int64_t h, int64_t m, const float *T, int64_t ldt, const float *V,
                 int64_t ldv, float *Y, int64_t ldy)
{
    if (h > THIN) return false;
    const dim3 block(32, ROWS);
    const unsigned grid = (unsigned)((n + ROWS - 1) / ROWS);
    if (n == 0 || h == 0) return true;
    enqueue(state_of(c), grid, block, 0,
            h <= 2   ? output_rows<2>
            : h <= 4 ? output_rows<4>
                     : output_rows<THIN>,
            n, (int)h, m, T, ldt, V, ldv, Y, ldy);
    return true;
}

/* The derivative of a unit with value t. */
__device__ static float slope_of(bool relu, float t)
{
    return relu ? (t > 0 ? 1 : 0) : t * (1 - t);
}

/* A block owns COLUMNS columns of `chunk` rows and writes its sums over the rows to partial_sums
 * (chunks, 1 + h, m). The last block of a column adds the chunks in order. */
template <int MAX_H>
__global__ void output_back(bool relu, int64_t n, int64_t m, int h, const float *dY, const float *V, const float *T,
                            int parts, bool add, __nv_bfloat16 *dA, int64_t chunk, float *partial_sums,
                            unsigned *tickets, float *db, float *dV)
{
    begin_kernel();
    __shared__ float partial[THREAD_ROWS][1 + MAX_H][COLUMNS];
    const int64_t k = (int64_t)blockIdx.x * COLUMNS + threadIdx.x, first = (int64_t)blockIdx.y * chunk;
    const int64_t end = first + chunk < n ? first + chunk : n;
    float sum[1 + MAX_H] = {}, v[MAX_H];
#pragma unroll
    for (int j = 0; j < MAX_H; j++) v[j] = j < h && k < m ? V[j * m + k] : 0;
#pragma unroll 4
    for (int64_t i = first + threadIdx.y; i < end && k < m; i += THREAD_ROWS) {
        const float t = T[i * m + k];
        float d = 0;
#pragma unroll
        for (int j = 0; j < MAX_H; j++) {
            const float dy = j < h ? dY[i * h + j] : 0;
            d += dy * v[j];
            sum[1 + j] += dy * t;
        }
        d *= slope_of(relu, t);
        sum[0] += d;
        store_parts(dA + i * parts * m + k, m, parts, d);
    }
#pragma unroll
    for (int j = 0; j <= MAX_H; j++) partial[threadIdx.y][j][threadIdx.x] = sum[j];
    __syncthreads();
    for (int j = threadIdx.y; j <= h && k < m; j += THREAD_ROWS) {
        float all = 0;
        for (int row = 0; row < THREAD_ROWS; row++) all += partial[row][j][threadIdx.x];
        partial_sums[((int64_t)blockIdx.y * (1 + h) + j) * m + k] = all;
    }
    if (!last_block(tickets + blockIdx.x, gridDim.y)) return;
    for (int j = threadIdx.y; j <= h && k < m; j += THREAD_ROWS) {
        float all = 0;
#pragma unroll 8
        for (unsigned b = 0; b < gridDim.y; b++) all += __ldcg(partial_sums + ((int64_t)b * (1 + h) + j) * m + k);
        float *to = j == 0 ? db + k : dV + (int64_t)(j - 1) * m + k;
        *to = add ? *to + all : all;
    }
}

__global__ void units_back(bool relu, int64_t count, const float *T, float *d)
{
    begin_kernel();
    CUDA_EACH(i, count) d[i] *= slope_of(relu, T[i]);
}

void cuda_output_grad(eh_compute *c, eh_epilogue slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                      const eh_real *V, const eh_real *T, bool add, eh_packed *dA, eh_real *db, eh_real *dV)
{
    cuda_state *s = state_of(c);
    const bool relu = slope == EH_EPILOGUE_RELU_GRAD;
    const int64_t columns = (m + COLUMNS - 1) / COLUMNS,
                  chunk = n > CHUNK * CHUNKS ? (n + CHUNKS - 1) / CHUNKS : (int64_t)CHUNK;
    const int64_t chunks = (n + chunk - 1) / chunk;
    const bool thin = h <= THIN && columns <= CUDA_TICKETS / 2;
    if (n == 0) {
        if (add) return;
        cuda_fill(c, m, 0, db);
        cuda_fill(c, h * m, 0, dV);
        return;
    }
    const size_t scalars = (size_t)(thin ? chunks * (1 + h) * m : n * m);
    float *scratch = (float *)cuda_scratch_get(s, &s->output, scalars * sizeof *scratch, "the output layer");
    if (!scratch) return;
    if (thin) {
        enqueue(s, dim3((unsigned)columns, (unsigned)chunks), dim3(COLUMNS, THREAD_ROWS), 0,
                h <= 2   ? output_back<2>
                : h <= 4 ? output_back<4>
                         : output_back<THIN>,
                relu, n, m, (int)h, F(dY), F(V), F(T), parts_in(c), add, O(dA), chunk, scratch, s->tickets, F(db),
                F(dV));
        return;
    }
    eh_real *d = (eh_real *)scratch;
    cuda_gemm(c, false, false, n, m, h, 1, dY, h, V, m, 0, d, m);
    cuda_gemm(c, true, false, h, m, n, 1, dY, h, T, m, add, dV, m);
    enqueue(s, blocks_for(n * m, 256), 256, 0, units_back, relu, n * m, F(T), F(d));
    cuda_column_sums(c, n, m, d, add, db);
    cuda_pack(c, n, m, d, dA);
}
