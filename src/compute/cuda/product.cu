/* Products on tensor cores. The epilogue runs before the tile leaves the chip; product.h
 * describes the packed format. This file has the tiles by mma, which every device since 8.0
 * supports, for any size and alignment, and the choice of tiles for all products.
 *
 * A block owns a tile of the result, which four warps share. For small tiles, several groups of
 * four warps share the inner dimension and add their sums at the end. Asynchronous copies load
 * tiles of A and B in stages and fill the area outside the matrix with zeros. */
#include "compute/cuda/product.h"

typedef __nv_bfloat16 bfloat;

/* ---- tiles into shared memory ---- */

__device__ static inline void copy16(void *to, const void *from, int bytes)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
}

enum { WIDE = 8 }; /* entries of a copy */

/* Loads (ROWS, COLS) of a matrix of which (rows, cols) exist. */
template <int ROWS, int COLS, int THREADS>
__device__ static inline void load_tile(bfloat *to, int stride, const bfloat *from, int64_t ld, int rows, int cols)
{
    constexpr int ACROSS = COLS / WIDE;
#pragma unroll
    for (int first = 0; first < ROWS * ACROSS; first += THREADS) {
        const int at = first + (int)threadIdx.x, r = at / ACROSS, k = at % ACROSS * WIDE;
        const int left = r < rows ? cols - k : 0, there = left < 0 ? 0 : left < WIDE ? left : WIDE;
        if (ROWS * ACROSS % THREADS && at >= ROWS * ACROSS) break;
        copy16(to + r * stride + k, there ? from + r * ld + k : from, there * (int)sizeof(bfloat));
    }
}

/* The same for rows that are not aligned. */
template <int ROWS, int COLS, int THREADS>
__device__ __noinline__ static void load_slowly(bfloat *to, int stride, const bfloat *from, int64_t ld, int rows,
                                                int cols)
{
#pragma unroll 1
    for (int at = (int)threadIdx.x; at < ROWS * COLS; at += THREADS) {
        const int r = at / COLS, k = at % COLS;
        to[r * stride + k] = r < rows && k < cols ? from[r * ld + k] : bfloat(0.0f);
    }
}

template <int ROWS, int COLS, int THREADS>
__device__ static inline void load_any(bfloat *to, int stride, const bfloat *from, int64_t ld, int rows, int cols,
                                       bool aligned)
{
    if (aligned)
        load_tile<ROWS, COLS, THREADS>(to, stride, from, ld, rows, cols);
    else
        load_slowly<ROWS, COLS, THREADS>(to, stride, from, ld, rows, cols);
}

/* ---- products of fragments ---- */

__device__ static inline void multiply(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <bool TRANS> __device__ static inline void load_matrices(uint32_t *r, const bfloat *from)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(from);
    if (TRANS)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at));
}

/* The 16 x 16 fragment of A at row m and column k of the tile; TA: the tile is stored as (k, m). */
template <bool TA> __device__ static inline void fragment_A(uint32_t *a, const bfloat *tile, int stride, int m, int k)
{
    const int laneid = threadIdx.x % 32, q = laneid / 8, r = laneid % 8;
    load_matrices<TA>(
        a, tile + (TA ? (k + q / 2 * 8 + r) * stride + m + q % 2 * 8 : (m + q % 2 * 8 + r) * stride + k + q / 2 * 8));
}

/* Two adjacent 16 x 8 fragments of B at row k and column n; TB: the tile is stored as (n, k). */
template <bool TB>
__device__ static inline void fragments_B(uint32_t (*b)[2], const bfloat *tile, int stride, int k, int n)
{
    const int laneid = threadIdx.x % 32, q = laneid / 8, r = laneid % 8;
    load_matrices<!TB>(&b[0][0], tile + (TB ? (n + q / 2 * 8 + r) * stride + k + q % 2 * 8
                                            : (k + q % 2 * 8 + r) * stride + n + q / 2 * 8));
}

/* ---- one tile ---- */

enum { BK = 64, STEP = 16, PAD = 8 }; /* inner entries of a stage, of a fragment; padding against bank conflicts */

/* Number of entries of the tile of one input for `size` rows of the result, in either layout. */
__host__ __device__ constexpr int tile_entries(int size)
{
    const int along = size * (BK + PAD), across = BK * (size + PAD);
    return along > across ? along : across;
}

template <int BM, int BN, int STAGES, int FOURS, bool TA, bool TB>
__device__ static inline void tile_product(const problem &p, int m0, int n0, bfloat *shared,
                                           float (&d)[BM / 32][BN / 16][4])
{
    constexpr int SA = TA ? BM + PAD : BK + PAD, SB = TB ? BK + PAD : BN + PAD;
    constexpr int STAGE = tile_entries(BM) + tile_entries(BN), THREADS = FOURS * 128;
    constexpr int DOWN = BM / 32, ACROSS = BN / 16; /* fragments of a warp: two warps each way */
    const int64_t lda = p.parts * p.lda, ldb = p.parts * p.ldb;
    const bfloat *A = p.A + (TA ? (int64_t)m0 : m0 * lda), *B = p.B + (TB ? n0 * ldb : (int64_t)n0);
    const int M = p.M - m0, N = p.N - n0, across = (p.K + BK - 1) / BK, steps = across * products_of(p.parts);
    const int warp = threadIdx.x / 32 % 4, wm = warp / 2 * (BM / 2), wn = warp % 2 * (BN / 2);
    const int four = threadIdx.x / 128;

    auto fill = [&](int step) {
        if (step < steps) {
            bfloat *a = shared + step % STAGES * STAGE, *b = a + tile_entries(BM);
            const int k = step % across * BK, K = p.K - k;
            int part_a, part_b;
            parts_of(p.parts, step / across, &part_a, &part_b);
            const bfloat *from_A = A + part_a * p.lda, *from_B = B + part_b * p.ldb;
            if (TA)
                load_any<BK, BM, THREADS>(a, SA, from_A + k * lda, lda, K, M, p.aligned_A);
            else
                load_any<BM, BK, THREADS>(a, SA, from_A + k, lda, M, K, p.aligned_A);
            if (TB)
                load_any<BN, BK, THREADS>(b, SB, from_B + k, ldb, N, K, p.aligned_B);
            else
                load_any<BK, BN, THREADS>(b, SB, from_B + k * ldb, ldb, K, N, p.aligned_B);
        }
        asm volatile("cp.async.commit_group;");
    };
    for (int step = 0; step < STAGES - 1; step++) fill(step);
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        fill(step + STAGES - 1);
        const bfloat *a_tile = shared + step % STAGES * STAGE, *b_tile = a_tile + tile_entries(BM);
#pragma unroll
        for (int k = 0; k < BK; k += FOURS * STEP) {
            const int at = k + four * STEP;
            uint32_t a[DOWN][4], b[ACROSS][2];
#pragma unroll
            for (int i = 0; i < DOWN; i++) fragment_A<TA>(a[i], a_tile, SA, wm + 16 * i, at);
#pragma unroll
            for (int j = 0; j < ACROSS; j += 2) fragments_B<TB>(&b[j], b_tile, SB, at, wn + 8 * j);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) multiply(d[i][j], a[i], b[j]);
        }
    }
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
}

/* Stores the tile in shared memory; the sums of the groups are added in order. */
template <int BM, int BN, int FOURS>
__device__ static inline void lay_down(float *tile, const float (&d)[BM / 32][BN / 16][4])
{
    const int warp = threadIdx.x / 32 % 4, laneid = threadIdx.x % 32;
    const int m1 = warp / 2 * (BM / 2) + laneid / 4, n1 = warp % 2 * (BN / 2) + laneid % 4 * 2;
    for (int four = 0; four < FOURS; four++) {
        if ((int)threadIdx.x / 128 == four)
#pragma unroll
            for (int i = 0; i < BM / 32; i++)
#pragma unroll
                for (int j = 0; j < BN / 16; j++)
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        float2 *to = (float2 *)(tile + (m1 + 16 * i + 8 * half) * (BN + PAD) + n1 + 8 * j);
                        float2 v = {d[i][j][2 * half], d[i][j][2 * half + 1]};
                        if (four) v.x += to->x, v.y += to->y;
                        *to = v;
                    }
        __syncthreads();
    }
}

template <int BM, int BN, int STAGES, int FOURS>
__global__ void __launch_bounds__(FOURS * 128) tiles(const __grid_constant__ problem p, const __grid_constant__ maps)
{
    extern __shared__ __align__(16) char shared[];
    int i, j;
    place_of((int)blockIdx.x, (p.M + BM - 1) / BM, (p.N + BN - 1) / BN, &i, &j);
    float d[BM / 32][BN / 16][4] = {};
    begin_kernel();
    const int m = i * BM, n = j * BN;
    if (p.ta && p.tb)
        tile_product<BM, BN, STAGES, FOURS, true, true>(p, m, n, (bfloat *)shared, d);
    else if (p.ta)
        tile_product<BM, BN, STAGES, FOURS, true, false>(p, m, n, (bfloat *)shared, d);
    else if (p.tb)
        tile_product<BM, BN, STAGES, FOURS, false, true>(p, m, n, (bfloat *)shared, d);
    else
        tile_product<BM, BN, STAGES, FOURS, false, false>(p, m, n, (bfloat *)shared, d);
    lay_down<BM, BN, FOURS>((float *)shared, d);
    store_tile<BN>(p, (float *)shared, BN + PAD, BM, m, n, (int)threadIdx.x / 32, FOURS * 4);
}

/* ---- choosing and launching ---- */

template <int BM, int BN, int STAGES, int FOURS> static constexpr shape shape_of(double rate)
{
    return {BM,
            BN,
            {rate, rate, rate},
            FOURS * 128,
            STAGES,
            (unsigned)((tile_entries(BM) + tile_entries(BN)) * sizeof(bfloat)),
            tiles<BM, BN, STAGES, FOURS>};
}

enum { SHAPES = 2 };
static const shape mma_shapes[SHAPES] = {shape_of<64, 64, 4, 4>(0.8), shape_of<128, 128, 3, 1>(1.2)};

/* The shapes that a product may use. */
struct choice {
    const shape *first;
    int count;
};

static choice shapes_for(const cuda_state *s, const problem &p, maps *map)
{
    if (s->hopper && p.aligned_A && p.aligned_B && p.K > 0 && wgmma_maps(p, map)) return {wgmma_shapes, WGMMA_SHAPES};
    return {mma_shapes, SHAPES};
}

static int64_t tiles_of(const shape &s, const problem &p)
{
    return (int64_t)((p.M + s.BM - 1) / s.BM) * ((p.N + s.BN - 1) / s.BN);
}

/* Number of stages of a shape for `parts` parts. One block of a multiprocessor uses all shared
 * memory. Two blocks share it if tiles are small and either outnumber the multiprocessors or
 * have one part. */
enum { MAX_SHARED = 216 << 10, SWIZZLE = 1024 }; /* SWIZZLE: alignment of its tiles */

static int stages_of(const cuda_state *s, const shape &one, int parts, int64_t tiles)
{
    if (one.stages) return one.stages;
    const bool two = one.BM * one.BN <= 64 * 64 && (tiles > s->multiprocessors || parts == 1) && parts < 3;
    const int stages = MAX_SHARED / (two ? 2 : 1) / ((int)one.stage * parts);
    return stages < WGMMA_STAGES ? stages : WGMMA_STAGES;
}

/* Whether the device has enough shared memory for the shape. */
static bool fits(const cuda_state *s, const shape &one)
{
    return (one.stages ? one.stages * (int)one.stage : MAX_SHARED) + SWIZZLE <= s->max_shared;
}

/* The shape with the smallest expected time. */
static const shape *choose(const cuda_state *s, choice among, const problem &p)
{
    const shape *best = NULL;
    double best_time = 0;
    for (const shape *one = among.first; one < among.first + among.count; one++) {
        const double rate = one->rate[p.parts - 1];
        const int64_t rounds = (tiles_of(*one, p) + s->multiprocessors - 1) / s->multiprocessors;
        const double time = (double)(rounds * one->BM * one->BN) / rate;
        if (rate > 0 && fits(s, *one) && (!best || time < best_time)) best = one, best_time = time;
    }
    return best;
}

static bool aligned(const void *at, int64_t ld, int bytes, int entries)
{
    return (uintptr_t)at % (size_t)bytes == 0 && ld % entries == 0;
}

static void add(cuda_state *s, problem &p)
{
    p.aligned_A = aligned(p.A, p.lda, 16, WIDE);
    p.aligned_B = aligned(p.B, p.ldb, 16, WIDE);
    p.quads = aligned(p.C, p.ldc, 16, 4) && aligned(p.P, p.ldc, 8, 4) && aligned(p.with, 0, 16, 4) && p.N % 4 == 0;
    if (p.M == 0 || p.N == 0) return;
    maps map = {};
    const shape *chosen = choose(s, shapes_for(s, p, &map), p);
    const int64_t count = tiles_of(*chosen, p);
    p.stages = stages_of(s, *chosen, p.parts, count);
    const unsigned shared = (unsigned)(p.stages * (chosen->stages ? 1 : p.parts)) * chosen->stage;
    enqueue(s, (unsigned)count, chosen->threads, shared + SWIZZLE, chosen->kernel, p, map);
}

cudaError_t cuda_product_prepare(const cuda_state *s)
{
    const choice all[] = {{mma_shapes, SHAPES}, {wgmma_shapes, s->hopper ? WGMMA_SHAPES : 0}};
    for (const choice &one : all)
        for (const shape *it = one.first; it < one.first + one.count; it++) {
            const int bytes = (it->stages ? it->stages * (int)it->stage : MAX_SHARED) + SWIZZLE;
            const cudaError_t error =
                fits(s, *it)
                    ? cudaFuncSetAttribute((const void *)it->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)
                    : cudaSuccess;
            if (error) return error;
        }
    return cudaSuccess;
}

static problem plain(bool ta, bool tb, int64_t M, int64_t N, int64_t K, int parts, const void *A, int64_t lda,
                     const void *B, int64_t ldb, float *C, int64_t ldc)
{
    problem p;
    memset((void *)&p, 0, sizeof p);
    p.ta = ta, p.tb = tb;
    p.M = (int)M, p.N = (int)N, p.K = (int)K, p.parts = parts;
    p.A = (const bfloat *)A, p.lda = lda, p.B = (const bfloat *)B, p.ldb = ldb, p.C = C, p.ldc = ldc;
    p.alpha = 1;
    return p;
}

void cuda_product(eh_compute *c, const eh_product *q)
{
    problem p = plain(q->ta, q->tb, q->M, q->N, q->K, parts_in(c), q->A, q->lda, q->B, q->ldb, F(q->C), q->ldc);
    p.P = (bfloat *)q->P;
    p.with = F(q->with);
    p.order = q->order;
    p.epilogue = q->epilogue;
    p.beta = q->add;
    add(state_of(c), p);
}

/* A product of scalars: packs both matrices first, in scratch memory with aligned rows. */
static void real_product(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, int parts, double alpha,
                         const float *A, int64_t lda, const float *B, int64_t ldb, double beta, float *C, int64_t ldc)
{
    cuda_state *s = state_of(c);
    const int64_t rows_A = ta ? K : M, columns_A = ta ? M : K, rows_B = tb ? N : K, columns_B = tb ? K : N;
    const int64_t wide_A = (columns_A + WIDE - 1) / WIDE * WIDE, wide_B = (columns_B + WIDE - 1) / WIDE * WIDE;
    const size_t entries_A = (size_t)(rows_A * parts * wide_A), entries_B = (size_t)(rows_B * parts * wide_B);
    bfloat *scratch = (bfloat *)cuda_scratch_get(s, &s->real, (entries_A + entries_B) * sizeof *scratch, "a product");
    if (!scratch) return;
    cuda_split(s, rows_A, columns_A, A, lda, false, parts, scratch, wide_A);
    cuda_split(s, rows_B, columns_B, B, ldb, false, parts, scratch + entries_A, wide_B);
    problem p = plain(ta, tb, M, N, K, parts, scratch, wide_A, scratch + entries_A, wide_B, C, ldc);
    p.alpha = (float)alpha;
    p.beta = (float)beta;
    add(s, p);
}

void cuda_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
               int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc)
{
    if (!ta && tb && alpha == 1 && beta == 0 && cuda_output(c, M, N, K, F(A), lda, F(B), ldb, F(C), ldc)) return;
    if (M && N) real_product(c, ta, tb, M, N, K, 3, alpha, F(A), lda, F(B), ldb, beta, F(C), ldc);
}

void cuda_rough_product(cuda_state *s, int64_t M, int64_t N, int64_t K, const __nv_bfloat16 *A, const __nv_bfloat16 *B,
                        int64_t ld, float *C, int64_t ldc)
{
    problem p = plain(false, true, M, N, K, 1, A, ld, B, ld, C, ldc);
    add(s, p);
}
