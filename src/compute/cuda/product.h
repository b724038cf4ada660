/* A launch of products: what product.cu (tiles by mma, any device) and wgmma.cu (Hopper's own) share.
 *
 * An operand is a matrix of bfloat16. Where more than their eight bits are asked for, a number is the sum of two or three
 * bfloat16 parts, x = x0 + x1 + x2, and a row of `ld` entries lies as `parts` rows of ld: first parts, second parts, third
 * parts. A product then is the sum of the products of parts, smallest first, that matter:
 *   bf16   one part:    a0 b0
 *   tf32   two parts:   a1 b0 + a0 b1 + a0 b0                              (16 bits; TF32 itself has 11)
 *   fp32   three parts: a2 b0 + a0 b2 + a1 b1 + a1 b0 + a0 b1 + a0 b0      (24 bits, as float32 has)
 * all summed in float32. */
#ifndef EH_CUDA_PRODUCT_H
#define EH_CUDA_PRODUCT_H

#include <cuda.h>

#include "compute/cuda/cuda.h"

enum { GROUP = 3 }; /* products of a launch, at most */

struct problem {
    const __nv_bfloat16 *A, *B;
    const float *with;
    float *C;
    __nv_bfloat16 *P;
    int64_t lda, ldb, ldc;
    int M, N, K, parts, order, finish;
    float alpha, beta;
    bool ta, tb;
    bool aligned_A, aligned_B; /* rows begin at multiples of 16 bytes */
    bool quads;                /* rows of C, P and with begin and end at multiples of four entries */
};

struct group {
    CUtensorMap map[GROUP][2]; /* of A and B, for wgmma */
    problem p[GROUP];
    int first[GROUP + 1]; /* tile of each */
    int count;
};

/* A way to cut products into tiles. */
struct shape {
    int BM, BN;
    double rate; /* of a multiprocessor, relative */
    unsigned threads, shared;
    void (*kernel)(group);
};

/* wgmma.cu: shapes for Hopper, and the maps of a product for them; false: it cannot be. */
enum { WGMMA_SHAPES = 4 };
extern const shape wgmma_shapes[WGMMA_SHAPES];
bool wgmma_maps(const problem &p, CUtensorMap *map);

/* ---- which parts are multiplied ---- */

__host__ __device__ static inline int products_of(int parts)
{
    return parts == 1 ? 1 : parts == 2 ? 3 : 6;
}

/* Of product i the part of A and the part of B. */
__device__ static inline void parts_of(int parts, int i, int *a, int *b)
{
    const int left = products_of(parts) - 1 - i; /* 0: a0 b0, then a0 b1, a1 b0, a1 b1, a0 b2, a2 b0 */
    *a = left == 2 || left == 3 ? 1 : left == 5 ? 2 : 0;
    *b = left == 1 || left == 3 ? 1 : left == 4 ? 2 : 0;
}

/* ---- what follows a product, from a tile in shared memory ---- */

__device__ static inline float finished(const problem &p, float v, float with)
{
    switch (p.finish) {
    case EH_POWER: return int_power(v, p.order);
    case EH_SIGMOID: return 1 / (1 + __expf(-(v + with)));
    case EH_POWER_GRAD: return v * (float)p.order * (p.order == 2 ? with : int_power(with, p.order - 1));
    case EH_SIGMOID_GRAD: return v * with * (1 - with);
    default: return p.alpha * v;
    }
}

__device__ static inline void finish_one(const problem &p, int m, int n, float v)
{
    const int64_t at = m * p.ldc + n;
    const float f = finished(p, v, !p.with ? 0 : p.with[p.finish == EH_SIGMOID ? n : at]);
    if (p.C) p.C[at] = p.finish == EH_POWER ? v : p.beta == 0 ? f : f + p.beta * p.C[at];
    if (p.P) store_parts(p.P + m * p.parts * p.ldc + n, p.ldc, p.parts, f);
}

__device__ static inline void finish_four(const problem &p, int m, int n, float4 v)
{
    const int64_t at = m * p.ldc + n;
    float4 with = {0, 0, 0, 0};
    if (p.with) with = *(const float4 *)(p.with + (p.finish == EH_SIGMOID ? n : at));
    float4 f = {finished(p, v.x, with.x), finished(p, v.y, with.y), finished(p, v.z, with.z), finished(p, v.w, with.w)};
    if (p.beta != 0) {
        const float4 old = *(const float4 *)(p.C + at);
        f.x += p.beta * old.x, f.y += p.beta * old.y, f.z += p.beta * old.z, f.w += p.beta * old.w;
    }
    if (p.C) *(float4 *)(p.C + at) = p.finish == EH_POWER ? v : f;
    if (p.P) store_parts_of_four(p.P + m * p.parts * p.ldc + n, p.ldc, p.parts, f);
}

/* `rows` rows of BN columns, the first of which are m0 and n0 of the result, by `threads` threads. */
template <int BN>
__device__ static inline void finish_rows(const problem &p, const float *tile, int stride, int rows, int m0, int n0, int thread,
                                          int threads)
{
    constexpr int ACROSS = BN / 4;
#pragma unroll 4
    for (int e = thread; e < rows * ACROSS; e += threads) {
        const int r = e / ACROSS, k = e % ACROSS * 4, m = m0 + r, n = n0 + k;
        if (m >= p.M || n >= p.N) continue;
        const float4 v = *(const float4 *)(tile + r * stride + k);
        if (p.quads) {
            finish_four(p, m, n, v);
        } else {
            finish_one(p, m, n, v.x);
            if (n + 1 < p.N) finish_one(p, m, n + 1, v.y);
            if (n + 2 < p.N) finish_one(p, m, n + 2, v.z);
            if (n + 3 < p.N) finish_one(p, m, n + 3, v.w);
        }
    }
}

/* Tiles in bands of BAND rows, column after column, so that blocks that run side by side share what they read. */
__device__ static inline void place_of(int tile, int down, int across, int *i, int *j)
{
    enum { BAND = 8 };
    const int band = tile / (BAND * across), first = band * BAND, high = down - first < BAND ? down - first : BAND;
    const int within = tile - band * BAND * across;
    *i = first + within % high;
    *j = within / high;
}

#endif
