/* Products in which rows do not influence each other: the bits of a row do not depend on the
 * number or the content of the other rows. BLAS does not guarantee this, because its kernels sum
 * in another order at the edges of a matrix and for small matrices.
 *
 * Each entry is one chain of multiply-adds along K, one block of K after the other. B is packed
 * in panels, so that one step along K reads one cache line. A panel is multiplied with groups of
 * rows whose sums stay in registers. With very few columns, an entry is a sum of sixteen chains
 * instead. The choice depends only on the number of columns. */
#include <string.h>

#include "compute/cpu/cpu.h"

enum {
    DEPTH = 320, /* largest length of a block of K */
    PANEL = 32,  /* columns of a panel */
    GROUP = EH_CPU_GROUP,
    PACK_FROM = 8, /* number of rows from which packing pays */
    FEW = 4        /* up to this number of columns, each is summed alone */
};

/* C (rows, width) += A (rows, depth) P, P (depth, width) with ldp; C starts at 0 if `first`. */
typedef struct task {
    int64_t rows, depth;
    const float *A;
    int64_t lda;
    const float *P;
    int64_t ldp;
    float *C;
    int64_t ldc;
    bool first;
} task;

/* A kernel processes whole panels, or their first half. */
typedef void kernel(const task *t, bool half);

#if defined(__x86_64__)
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))
/* A kernel for one instruction set: groups of `high` rows, a panel of `vectors` registers at a
 * time. */
#define KERNEL(name, isa, vector, width, high, load, store, broadcast, fma, zero)                                     \
    __attribute__((target(isa))) INLINE void name##_group(const task *t, int64_t i, int64_t j, int rows, int vectors) \
    {                                                                                                                 \
        vector sum[GROUP][PANEL / width];                                                                             \
        const float *A = t->A + i * t->lda, *P = t->P + j;                                                            \
        float *C = t->C + i * t->ldc + j;                                                                             \
        _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)                                                       \
            _Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++) sum[r][v] =                                     \
                t->first ? zero() : load(C + r * t->ldc + v * width);                                                 \
        for (int64_t k = 0; k < t->depth; k++) {                                                                      \
            vector b[PANEL / width];                                                                                  \
            _Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++) b[v] = load(P + k * t->ldp + v * width);        \
            _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)                                                   \
            {                                                                                                         \
                const vector a = broadcast(A[r * t->lda + k]);                                                        \
                _Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++) sum[r][v] = fma(a, b[v], sum[r][v]);        \
            }                                                                                                         \
        }                                                                                                             \
        _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)                                                       \
            _Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++) store(C + r * t->ldc + v * width, sum[r][v]);   \
    }                                                                                                                 \
    __attribute__((target(isa))) static void name(const task *t, bool half)                                           \
    {                                                                                                                 \
        for (int64_t j = 0; j < (half ? PANEL / 2 : PANEL); j += half ? PANEL / 2 : 2 * width) {                      \
            int64_t i = 0;                                                                                            \
            const bool one = half && width == PANEL / 2;                                                              \
            for (; !one && i + high <= t->rows; i += high) name##_group(t, i, j, high, 2);                            \
            for (; !one && i + 4 <= t->rows; i += 4) name##_group(t, i, j, 4, 2);                                     \
            for (; !one && i + 2 <= t->rows; i += 2) name##_group(t, i, j, 2, 2);                                     \
            for (; !one && i < t->rows; i++) name##_group(t, i, j, 1, 2);                                             \
            for (; i + high <= t->rows; i += high) name##_group(t, i, j, high, 1);                                    \
            for (; i + 4 <= t->rows; i += 4) name##_group(t, i, j, 4, 1);                                             \
            for (; i + 2 <= t->rows; i += 2) name##_group(t, i, j, 2, 1);                                             \
            for (; i < t->rows; i++) name##_group(t, i, j, 1, 1);                                                     \
        }                                                                                                             \
    }

KERNEL(with_avx512, "avx512f", __m512, 16, 12, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps,
       _mm512_setzero_ps)
KERNEL(with_avx2, "avx2,fma", __m256, 8, 6, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps,
       _mm256_setzero_ps)
#endif

/* The portable kernel, with the vectors of the compiler. */
enum { WIDE = 8 };
typedef float four __attribute__((vector_size(16)));
static inline __attribute__((always_inline)) void plain_group(const task *t, int64_t i, int64_t j, int rows)
{
    four sum[4][2] = {{{0}}}, b[2];
    const float *A = t->A + i * t->lda, *P = t->P + j;
    float *C = t->C + i * t->ldc + j;
    for (int r = 0; r < rows && !t->first; r++) memcpy(sum[r], C + r * t->ldc, sizeof sum[r]);
    for (int64_t k = 0; k < t->depth; k++) {
        memcpy(b, P + k * t->ldp, sizeof b);
        for (int r = 0; r < rows; r++) {
            const float a = A[r * t->lda + k];
            sum[r][0] += a * b[0];
            sum[r][1] += a * b[1];
        }
    }
    for (int r = 0; r < rows; r++) memcpy(C + r * t->ldc, sum[r], sizeof sum[r]);
}

static void anywhere(const task *t, bool half)
{
    for (int64_t j = 0; j < (half ? PANEL / 2 : PANEL); j += WIDE) {
        int64_t i = 0;
        for (; i + 4 <= t->rows; i += 4) plain_group(t, i, j, 4);
        for (; i < t->rows; i++) plain_group(t, i, j, 1);
    }
}

/* The best kernel of the processor, after skipping the `but` best. */
static kernel *choose(int but)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && but-- == 0) return with_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && but-- == 0) return with_avx2;
#endif
    (void)but;
    return anywhere;
}

/* Packs columns j .. j + width and rows k .. k + depth of B, padded with zeros. */
static void pack(bool tb, const float *B, int64_t ldb, int64_t k, int64_t depth, int64_t j, int64_t width, float *P)
{
    if (width < PANEL) memset(P, 0, (size_t)(depth * PANEL) * sizeof *P);
    if (!tb) {
        for (int64_t d = 0; d < depth; d++) memcpy(P + d * PANEL, B + (k + d) * ldb + j, (size_t)width * sizeof *P);
        return;
    }
    for (int64_t d = 0; d < depth; d++)
        for (int64_t c = 0; c < width; c++) P[d * PANEL + c] = B[(j + c) * ldb + k + d];
}

/* A panel that is wider than the rest of C. */
static void edge(kernel *run, task t, int64_t width)
{
    float edge_tile[GROUP * PANEL];
    const task all = t;
    for (int64_t i = 0; i < all.rows; i += GROUP) {
        t.rows = all.rows - i < GROUP ? all.rows - i : GROUP;
        t.A = all.A + i * all.lda;
        t.C = edge_tile;
        t.ldc = PANEL;
        float *C = all.C + i * all.ldc;
        for (int64_t r = 0; r < t.rows && !t.first; r++)
            memcpy(edge_tile + r * PANEL, C + r * all.ldc, (size_t)width * sizeof *C);
        run(&t, width <= PANEL / 2);
        for (int64_t r = 0; r < t.rows; r++) memcpy(C + r * all.ldc, edge_tile + r * PANEL, (size_t)width * sizeof *C);
    }
}

/* With few columns, panels would be mostly empty. Sixteen partial sums along K, then their sum. */
EH_SIMD static float dot(int64_t K, const float *restrict a, const float *restrict b)
{
    float partial[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= K; k += 16)
        for (int l = 0; l < 16; l++) partial[l] += a[k + l] * b[k + l];
    for (; k < K; k++) partial[0] += a[k] * b[k];
    float sum = 0;
    for (int l = 0; l < 16; l++) sum += partial[l];
    return sum;
}

void eh_cpu_rows(int64_t rows, int64_t columns, int64_t K, const float *A, int64_t lda, bool tb, const float *B,
                 int64_t ldb, float *C, int64_t ldc)
{
    eh_cpu_rows_but(0, rows, columns, K, A, lda, tb, B, ldb, C, ldc);
}

void eh_cpu_rows_but(int but, int64_t rows, int64_t columns, int64_t K, const float *A, int64_t lda, bool tb,
                     const float *B, int64_t ldb, float *C, int64_t ldc)
{
    if (tb && columns <= FEW) {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) C[i * ldc + j] = dot(K, A + i * lda, B + j * ldb);
        return;
    }
    _Alignas(64) float packed[DEPTH * PANEL];
    kernel *run = choose(but);
    const int64_t blocks = K > DEPTH ? (K + DEPTH - 1) / DEPTH : 1; /* with K = 0, one block sets zeros */
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t k = eh_chunk_start(K, block, blocks), depth = eh_chunk_start(K, block + 1, blocks) - k;
        for (int64_t j = 0; j < columns; j += PANEL) {
            const int64_t width = columns - j < PANEL ? columns - j : PANEL;
            const bool in_place = !tb && width == PANEL && rows < PACK_FROM;
            if (!in_place) pack(tb, B, ldb, k, depth, j, width, packed);
            const task t = {.rows = rows,
                            .depth = depth,
                            .A = A + k,
                            .lda = lda,
                            .P = in_place ? B + k * ldb + j : packed,
                            .ldp = in_place ? ldb : PANEL,
                            .C = C + j,
                            .ldc = ldc,
                            .first = k == 0};
            if (width == PANEL)
                run(&t, false);
            else
                edge(run, t, width);
        }
    }
}
