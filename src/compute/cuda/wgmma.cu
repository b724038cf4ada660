/* Products of bfloat16 on Hopper: asynchronous tensor-core products of a warp group (wgmma). The
 * copy engine (TMA) loads the tiles and fills the area outside the matrix with zeros. One thread
 * of an extra warp requests tiles, stage after stage; each warp group owns 64 rows of the
 * block's tile. Tiles are stored in shared memory as rows of 128 bytes in the 128-byte swizzle,
 * in the layout of the matrix: wgmma reads bfloat16 in either layout. */
#include <cuda.h>

#include "compute/cuda/product.h"

enum {
    BK = 64,       /* inner entries of a stage */
    ROW = 128,     /* bytes of a row of them */
    BOX = 64 * ROW /* of 64 rows */
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER 1
#else
#define HOPPER 0
#endif

#if HOPPER
template <int N, int TA, int TB> struct wgmma;
template <int TA, int TB> struct wgmma<64, TA, TB> {
    __device__ static inline void run(float (&d)[8][4], uint64_t a, uint64_t b)
    {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
            "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
            "%32, %33, 1, 1, 1, %34, %35;"
            : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]),
              "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]),
              "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]),
              "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]), "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
              "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3])
            : "l"(a), "l"(b), "n"(TA), "n"(TB));
    }
};
template <int TA, int TB> struct wgmma<128, TA, TB> {
    __device__ static inline void run(float (&d)[16][4], uint64_t a, uint64_t b)
    {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
            "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
            "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
            "%62, %63}, "
            "%64, %65, 1, 1, 1, %66, %67;"
            : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]),
              "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]),
              "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]),
              "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]), "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
              "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]),
              "+f"(d[8][3]), "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
              "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
              "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]),
              "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
              "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
            : "l"(a), "l"(b), "n"(TA), "n"(TB));
    }
};
template <int TA, int TB> struct wgmma<256, TA, TB> {
    __device__ static inline void run(float (&d)[32][4], uint64_t a, uint64_t b)
    {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
            "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
            "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
            "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "
            "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, "
            "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "
            "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
            "%128, %129, 1, 1, 1, %130, %131;"
            : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]),
              "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]),
              "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]),
              "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]), "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
              "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]),
              "+f"(d[8][3]), "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
              "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
              "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]),
              "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
              "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3]), "+f"(d[16][0]), "+f"(d[16][1]),
              "+f"(d[16][2]), "+f"(d[16][3]), "+f"(d[17][0]), "+f"(d[17][1]), "+f"(d[17][2]), "+f"(d[17][3]),
              "+f"(d[18][0]), "+f"(d[18][1]), "+f"(d[18][2]), "+f"(d[18][3]), "+f"(d[19][0]), "+f"(d[19][1]),
              "+f"(d[19][2]), "+f"(d[19][3]), "+f"(d[20][0]), "+f"(d[20][1]), "+f"(d[20][2]), "+f"(d[20][3]),
              "+f"(d[21][0]), "+f"(d[21][1]), "+f"(d[21][2]), "+f"(d[21][3]), "+f"(d[22][0]), "+f"(d[22][1]),
              "+f"(d[22][2]), "+f"(d[22][3]), "+f"(d[23][0]), "+f"(d[23][1]), "+f"(d[23][2]), "+f"(d[23][3]),
              "+f"(d[24][0]), "+f"(d[24][1]), "+f"(d[24][2]), "+f"(d[24][3]), "+f"(d[25][0]), "+f"(d[25][1]),
              "+f"(d[25][2]), "+f"(d[25][3]), "+f"(d[26][0]), "+f"(d[26][1]), "+f"(d[26][2]), "+f"(d[26][3]),
              "+f"(d[27][0]), "+f"(d[27][1]), "+f"(d[27][2]), "+f"(d[27][3]), "+f"(d[28][0]), "+f"(d[28][1]),
              "+f"(d[28][2]), "+f"(d[28][3]), "+f"(d[29][0]), "+f"(d[29][1]), "+f"(d[29][2]), "+f"(d[29][3]),
              "+f"(d[30][0]), "+f"(d[30][1]), "+f"(d[30][2]), "+f"(d[30][3]), "+f"(d[31][0]), "+f"(d[31][1]),
              "+f"(d[31][2]), "+f"(d[31][3])
            : "l"(a), "l"(b), "n"(TA), "n"(TB));
    }
};

__device__ static inline void barrier_init(uint64_t *barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(count));
}

__device__ static inline void barrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
        "r"(bytes)
        : "memory");
}

__device__ static inline void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
                 : "memory");
}

__device__ static inline void barrier_wait(uint64_t *barrier, unsigned phase)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra over;\n"
                 "bra again;\n"
                 "over:\n"
                 "}\n" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(phase)
                 : "memory");
}

/* Copies the box of 64 x 64 entries at column x of row y, of one part. */
__device__ static inline void copy_box(void *to, const CUtensorMap *map, int x, int part, int y, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
                 "%5}], [%2];" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(map), "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(x), "r"(part), "r"(y)
                 : "memory");
}

/* The descriptor of a tile for wgmma: its address, the bytes between boxes of 64 columns (only
 * for transposed tiles) and between groups of eight rows, and the swizzle. */
__device__ static inline uint64_t tile_at(const char *shared)
{
    const uint64_t at = (uint64_t)__cvta_generic_to_shared(shared);
    return (at & 0x3ffff) >> 4 | (uint64_t)(BOX >> 4) << 16 | (uint64_t)(8 * ROW >> 4) << 32 | (uint64_t)1 << 62;
}

/* A stage holds BK columns of every part of both tiles. */
template <int BM, int BN> __device__ static inline int stage_bytes(int parts)
{
    return parts * (BM + BN) * ROW;
}

/* One warp group's products over all stages. */
template <int BM, int BN, int TA, int TB>
__device__ static inline void multiply(const problem &p, const char *shared, uint64_t *full, uint64_t *empty,
                                       float (&d)[BN / 8][4])
{
    const int products = products_of(p.parts), steps = (p.K + BK - 1) / BK;
    const char *stage = shared;
    for (int step = 0, at = 0, phase = 0, before = 0; step < steps; step++) {
        const uint64_t A = tile_at(stage + threadIdx.x / 128 * BOX), B = tile_at(stage + p.parts * BM * ROW);
        barrier_wait(&full[at], phase);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < products; i++) {
            int part_a, part_b;
            parts_of(p.parts, i, &part_a, &part_b);
            const uint64_t a = A + (unsigned)(part_a * BM * ROW >> 4), b = B + (unsigned)(part_b * BN * ROW >> 4);
#pragma unroll
            for (int k = 0; k < BK / 16; k++)
                wgmma<BN, TA, TB>::run(d, a + (unsigned)(TA ? k * 16 * ROW >> 4 : k * 32 >> 4),
                                       b + (unsigned)(TB ? k * 16 * ROW >> 4 : k * 32 >> 4));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        /* the previous stage has been read when all but the last group are done */
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[before]);
        before = at;
        stage += stage_bytes<BM, BN>(p.parts);
        if (++at == p.stages) at = 0, phase ^= 1, stage = shared;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/* Requests the tiles of all stages; one thread. */
template <int BM, int BN>
__device__ static inline void load_tiles(const problem &p, const maps &map, int m, int n, char *shared, uint64_t *full,
                                         uint64_t *empty)
{
    char *to = shared;
    for (int k = 0, at = 0, phase = 1; k < p.K; k += BK) {
        barrier_wait(&empty[at], phase); /* in the first round there is nothing to wait for */
        barrier_expect(&full[at], stage_bytes<BM, BN>(p.parts));
        for (int part = 0; part < p.parts; part++)
            for (int box = 0; box < BM / 64; box++, to += BOX)
                copy_box(to, &map.A, p.ta ? m + 64 * box : k, part, p.ta ? k : m + 64 * box, &full[at]);
        for (int part = 0; part < p.parts; part++)
            for (int box = 0; box < BN / 64; box++, to += BOX)
                copy_box(to, &map.B, p.tb ? k : n + 64 * box, part, p.tb ? n + 64 * box : k, &full[at]);
        if (++at == p.stages) at = 0, phase ^= 1, to = shared;
    }
}

/* Stores the 16 rows of a warp directly from registers. */
template <int BN>
__device__ static inline void store_plain(const problem &p, int m0, int n0, const float (&d)[BN / 8][4])
{
    const int laneid = threadIdx.x % 32, m1 = m0 + (int)threadIdx.x / 32 * 16 + laneid / 4, n1 = n0 + laneid % 4 * 2;
#pragma unroll
    for (int j = 0; j < BN / 8; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int m = m1 + 8 * half, n = n1 + 8 * j;
            if (m < p.M && n < p.N) *(float2 *)(p.C + m * p.ldc + n) = float2{d[j][2 * half], d[j][2 * half + 1]};
        }
}

/* Stores the 16 rows of a warp through its shared memory, so that memory is accessed in whole
 * lines. */
template <int BN>
__device__ static inline void epilogue(const problem &p, int m0, int n0, const float (&d)[BN / 8][4], float *shared)
{
    constexpr int STRIDE = BN + 8;
    const int warp = threadIdx.x / 32, laneid = threadIdx.x % 32;
    float *tile = shared + warp * 16 * STRIDE;
#pragma unroll
    for (int j = 0; j < BN / 8; j++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            *(float2 *)(tile + (laneid / 4 + 8 * half) * STRIDE + 8 * j + laneid % 4 * 2) =
                float2{d[j][2 * half], d[j][2 * half + 1]};
    __syncwarp();
    store_tile<BN>(p, tile, STRIDE, 16, m0 + warp * 16, n0, 0, 1);
}
#endif

/* BM / 64 warp groups compute, and one warp loads. */
template <int BM, int BN>
__global__ void __launch_bounds__(BM * 2 + 32, 1)
    group_tiles(const __grid_constant__ problem p, const __grid_constant__ maps map)
{
#if HOPPER
    extern __shared__ char raw_shared[];
    __shared__ uint64_t full[WGMMA_STAGES], empty[WGMMA_STAGES];
    char *shared = (char *)(((uintptr_t)raw_shared + 1023) / 1024 * 1024); /* alignment that the swizzle requires */
    int i, j;
    place_of((int)blockIdx.x, (p.M + BM - 1) / BM, (p.N + BN - 1) / BN, &i, &j);
    const int m = i * BM, n = j * BN;
    if (threadIdx.x == 0) {
        for (int at = 0; at < p.stages; at++) {
            barrier_init(&full[at], 1);
            barrier_init(&empty[at], BM / 64);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (threadIdx.x < 2) asm volatile("prefetch.tensormap [%0];" ::"l"(threadIdx.x ? &map.B : &map.A) : "memory");
    __syncthreads();
    begin_kernel();
    if (threadIdx.x >= BM * 2) {
        if (threadIdx.x == BM * 2) load_tiles<BM, BN>(p, map, m, n, shared, full, empty);
        return;
    }
    float d[BN / 8][4] = {};
    if (p.ta && p.tb)
        multiply<BM, BN, 1, 0>(p, shared, full, empty, d);
    else if (p.ta)
        multiply<BM, BN, 1, 1>(p, shared, full, empty, d);
    else if (p.tb)
        multiply<BM, BN, 0, 0>(p, shared, full, empty, d);
    else
        multiply<BM, BN, 0, 1>(p, shared, full, empty, d);
    if (p.epilogue == EH_EPILOGUE_NONE && p.quads && !p.P && p.alpha == 1 && p.beta == 0) {
        store_plain<BN>(p, m, n, d);
        return;
    }
    asm volatile("bar.sync 1, %0;" ::"n"(BM * 2) : "memory"); /* no warp group reads the stages anymore */
    epilogue<BN>(p, m, n, d, (float *)shared);
#else
    __trap(); /* cuda_has_wgmma() returns false for this code */
#endif
}

template <int BM, int BN> static constexpr shape shape_of(double one, double two, double three)
{
    return {BM, BN, {one, two, three}, BM * 2 + 32, 0, (BM + BN) * ROW, group_tiles<BM, BN>};
}

/* Measured on an H200. */
const shape wgmma_shapes[WGMMA_SHAPES] = {shape_of<64, 64>(0.52, 0.65, 0.79), shape_of<128, 64>(0.5, 0.72, 1),
                                          shape_of<128, 128>(0.79, 1, 0.9), shape_of<128, 256>(1, 0, 0)};

/* The function of the driver, found through the runtime, so nothing is linked with the driver. */
typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                    const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_function encoder()
{
    static encode_function found = [] {
        void *entry = NULL;
        cudaDriverEntryPointQueryResult result;
        if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result) !=
                cudaSuccess ||
            result != cudaDriverEntryPointSuccess)
            entry = NULL;
        return (encode_function)entry;
    }();
    return found;
}

/* Boxes of 64 by 64 entries of a row-major matrix with parts. */
static bool map_of(const void *at, int parts, int64_t rows, int64_t columns, int64_t ld, CUtensorMap *map)
{
    const encode_function encode = encoder();
    const cuuint64_t size[3] = {(cuuint64_t)columns, (cuuint64_t)parts, (cuuint64_t)rows};
    const cuuint64_t stride[2] = {(cuuint64_t)ld * 2, (cuuint64_t)(ld * parts) * 2};
    const cuuint32_t box[3] = {64, 1, 64}, step[3] = {1, 1, 1};
    return encode && !encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)(uintptr_t)at, size, stride, box, step,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

bool wgmma_maps(const problem &p, maps *out)
{
    return map_of(p.A, p.parts, p.ta ? p.K : p.M, p.ta ? p.M : p.K, p.lda, &out->A) &&
           map_of(p.B, p.parts, p.tb ? p.N : p.K, p.tb ? p.K : p.N, p.ldb, &out->B);
}

/* Only the real kernel has shared memory of fixed size. */
bool cuda_has_wgmma(int *version)
{
    cudaFuncAttributes a;
    if (cudaFuncGetAttributes(&a, (const void *)wgmma_shapes[0].kernel) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    *version = a.ptxVersion;
    return a.sharedSizeBytes > 0;
}
