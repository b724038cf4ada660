/* Products: declarations shared by product.cu (tiles by mma, any device) and wgmma.cu (Hopper).
 *
 * A packed matrix consists of bfloat16. If more than their eight bits of precision are
 * requested, a scalar is the sum of two or three bfloat16 parts, x = x0 + x1 + x2, and a row of
 * `ld` entries is stored as `parts` rows of ld: first parts, second parts, third parts. A
 * product is then the sum of the significant products of parts, smallest first:
 *   bf16   one part:    a0 b0
 *   tf32   two parts:   a1 b0 + a0 b1 + a0 b0                              (16 bits; TF32 has 11)
 *   fp32   three parts: a2 b0 + a0 b2 + a1 b1 + a1 b0 + a0 b1 + a0 b0      (24 bits, like float32)
 * All sums are in float32. */
#ifndef EH_CUDA_PRODUCT_H
#define EH_CUDA_PRODUCT_H

#include <cuda.h>

#include "compute/cuda/cuda.h"

struct problem {
    const __nv_bfloat16 *A, *B;
    const float *with;
    float *C;
    __nv_bfloat16 *P;
    int64_t lda, ldb, ldc;
    int M, N, K, parts, epilogue;
    int order;  /* of EH_EPILOGUE_POWER and EH_EPILOGUE_POWER_GRAD */
    int stages; /* of tiles in shared memory */
    float alpha, beta;
    bool ta, tb;
    bool aligned_A, aligned_B; /* rows begin at multiples of 16 bytes */
    bool quads;                /* rows of C, P and with begin and end at multiples of four entries */
};

struct maps {
    CUtensorMap A, B; /* for wgmma */
};

/* A way to cut products into tiles. */
struct shape {
    int BM, BN;
    double rate[3]; /* relative speed of a multiprocessor for one, two and three parts; 0: not supported */
    unsigned threads;
    int stages;     /* of tiles in shared memory; 0: as many as fit, each with all parts */
    unsigned stage; /* bytes of a stage with one part */
    void (*kernel)(problem, maps);
};

/* wgmma.cu: shapes for Hopper, and the tensor maps of a product. wgmma_maps() returns false if
 * there can be none. */
enum { WGMMA_SHAPES = 4, WGMMA_STAGES = 8 };
extern const shape wgmma_shapes[WGMMA_SHAPES];
bool wgmma_maps(const problem &p, maps *out);

/* ---- which parts are multiplied ---- */

__host__ __device__ static inline int products_of(int parts)
{
    return parts == 1 ? 1 : parts == 2 ? 3 : 6;
}

/* The parts of A and of B in product i. */
__device__ static inline void parts_of(int parts, int i, int *a, int *b)
{
    const int left = products_of(parts) - 1 - i; /* 0: a0 b0, then a0 b1, a1 b0, a1 b1, a0 b2, a2 b0 */
    *a = left == 2 || left == 3 ? 1 : left == 5 ? 2 : 0;
    *b = left == 1 || left == 3 ? 1 : left == 4 ? 2 : 0;
}

/* ---- epilogue, from a tile in shared memory ---- */

template <int EPILOGUE> __device__ static inline float apply_epilogue(const problem &p, float v, float with)
{
    switch (EPILOGUE) {
    case EH_EPILOGUE_POWER: return int_power(v, p.order);
    case EH_EPILOGUE_SIGMOID: return __fdividef(1, 1 + __expf(-(v + with)));
    case EH_EPILOGUE_RELU: return v + with < 0 ? 0 : v + with; /* keeps NaN */
    case EH_EPILOGUE_POWER_GRAD: return v * (float)p.order * (p.order == 2 ? with : int_power(with, p.order - 1));
    case EH_EPILOGUE_SIGMOID_GRAD: return v * with * (1 - with);
    case EH_EPILOGUE_RELU_GRAD: return with > 0 ? v : 0;
    default: return p.alpha * v;
    }
}

template <int EPILOGUE> __device__ static inline void store_one(const problem &p, int m, int n, float v)
{
    const int64_t at = m * p.ldc + n;
    const float f = apply_epilogue<EPILOGUE>(
        p, v, EPILOGUE < EH_EPILOGUE_SIGMOID ? 0 : p.with[EPILOGUE <= EH_EPILOGUE_RELU ? n : at]);
    if (p.C) p.C[at] = EPILOGUE == EH_EPILOGUE_POWER ? v : p.beta == 0 ? f : f + p.beta * p.C[at];
    if (p.P) store_parts(p.P + m * p.parts * p.ldc + n, p.ldc, p.parts, f);
}

/* Stores four entries from row m and column n on, if they exist. Inputs are loaded in any case,
 * so that loads do not wait for each other. */
template <int EPILOGUE> __device__ static inline void store_four(const problem &p, int m, int n, float4 v)
{
    const bool there = m < p.M && n < p.N;
    const int64_t at = there ? m * p.ldc + n : 0;
    float4 with = {0, 0, 0, 0};
    if (EPILOGUE >= EH_EPILOGUE_SIGMOID)
        with = __ldg((const float4 *)(p.with + (EPILOGUE > EH_EPILOGUE_RELU ? at : there ? n : 0)));
    float4 f = {apply_epilogue<EPILOGUE>(p, v.x, with.x), apply_epilogue<EPILOGUE>(p, v.y, with.y),
                apply_epilogue<EPILOGUE>(p, v.z, with.z), apply_epilogue<EPILOGUE>(p, v.w, with.w)};
    if (!there) return;
    if (EPILOGUE == EH_EPILOGUE_NONE && p.beta != 0) {
        const float4 old = *(const float4 *)(p.C + at);
        f.x += p.beta * old.x, f.y += p.beta * old.y, f.z += p.beta * old.z, f.w += p.beta * old.w;
    }
    if (p.C) *(float4 *)(p.C + at) = EPILOGUE == EH_EPILOGUE_POWER ? v : f;
    if (p.P) store_parts_of_four(p.P + m * p.parts * p.ldc + n, p.ldc, p.parts, f);
}

/* A warp stores whole rows, or several short rows at a time. */
template <int EPILOGUE, int BN>
__device__ static inline void store_rows(const problem &p, const float *tile, int stride, int rows, int m0, int n0,
                                         int warp, int warps)
{
    constexpr int ACROSS = BN / 4, TOGETHER = ACROSS < 32 ? 32 / ACROSS : 1, EACH = ACROSS < 32 ? 1 : ACROSS / 32;
    const int laneid = threadIdx.x % 32, k = laneid % ACROSS * 4;
    if (!p.quads) {
#pragma unroll 1
        for (int e = 32 * warp + laneid; e < rows * BN; e += 32 * warps) {
            const int r = e / BN, c = e % BN;
            if (m0 + r < p.M && n0 + c < p.N) store_one<EPILOGUE>(p, m0 + r, n0 + c, tile[r * stride + c]);
        }
        return;
    }
#pragma unroll 2
    for (int r = warp * TOGETHER + laneid / ACROSS; r < rows; r += warps * TOGETHER)
#pragma unroll
        for (int e = 0; e < EACH; e++)
            store_four<EPILOGUE>(p, m0 + r, n0 + k + 128 * e, *(const float4 *)(tile + r * stride + k + 128 * e));
}

/* Stores `rows` rows of BN columns, from (m0, n0) of the result on, by warp number `warp` of
 * `warps`. */
template <int BN>
__device__ static inline void store_tile(const problem &p, const float *tile, int stride, int rows, int m0, int n0,
                                         int warp, int warps)
{
    switch (p.epilogue) {
    case EH_EPILOGUE_POWER: store_rows<EH_EPILOGUE_POWER, BN>(p, tile, stride, rows, m0, n0, warp, warps); break;
    case EH_EPILOGUE_SIGMOID: store_rows<EH_EPILOGUE_SIGMOID, BN>(p, tile, stride, rows, m0, n0, warp, warps); break;
    case EH_EPILOGUE_RELU: store_rows<EH_EPILOGUE_RELU, BN>(p, tile, stride, rows, m0, n0, warp, warps); break;
    case EH_EPILOGUE_POWER_GRAD:
        store_rows<EH_EPILOGUE_POWER_GRAD, BN>(p, tile, stride, rows, m0, n0, warp, warps);
        break;
    case EH_EPILOGUE_SIGMOID_GRAD:
        store_rows<EH_EPILOGUE_SIGMOID_GRAD, BN>(p, tile, stride, rows, m0, n0, warp, warps);
        break;
    case EH_EPILOGUE_RELU_GRAD:
        store_rows<EH_EPILOGUE_RELU_GRAD, BN>(p, tile, stride, rows, m0, n0, warp, warps);
        break;
    default: store_rows<EH_EPILOGUE_NONE, BN>(p, tile, stride, rows, m0, n0, warp, warps);
    }
}

/* Orders tiles in bands of BAND rows, column by column, so that concurrent blocks share their
 * inputs. */
__device__ static inline void place_of(int tile, int down, int across, int *i, int *j)
{
    enum { BAND = 8 };
    const int band = tile / (BAND * across), first = band * BAND, high = down - first < BAND ? down - first : BAND;
    const int within = tile - band * BAND * across;
    *i = first + within % high;
    *j = within / high;
}

#endif
