/* Products of rows with packed panels. The order of each sum is that of compute/cpu/rows.c, so both
 * give the same bits.
 *
 * A block has some rows and halves of panels whose sums stay in registers: many rows and one panel,
 * or few rows and several panels. A group of rows skips the inputs that are zero in all of its
 * rows, because 0 * w adds nothing to a sum. */
#include "predict/panels.h"

#include <string.h>

enum { HALF = EH_PANEL_HALF, GROUP = EH_PANEL_ROWS, MAX_HALVES = 8 };

enhope_status eh_panels_create(enhope_context *ctx, int64_t K, int64_t N, const float *W, bool transposed, bool bias,
                               eh_panels *out)
{
    eh_panels w = {.K = K, .N = N};
    const int64_t panels = eh_panels_width(&w) / EH_PANEL;
    int64_t size;
    if (!eh_mul(eh_panels_width(&w), K, &size)) return eh_fail_memory(ctx, "packed weights", (size_t)K, (size_t)N);
    EH_TRY(eh_new(ctx, "packed weights", size, sizeof *w.P, (void **)&w.P));
    for (int64_t p = 0; p < panels; p++) {
        const int64_t first = p * EH_PANEL, width = eh_min(EH_PANEL, N - first);
        for (int64_t k = 0; k < K; k++) {
            float *to = w.P + (p * K + k) * EH_PANEL;
            for (int64_t j = 0; j < width; j++) to[j] = transposed ? W[(first + j) * K + k] : W[k * N + first + j];
            for (int64_t j = 0; j < width && bias && k == K - 1; j++) to[j] += 0.0f; /* -0 becomes 0 */
        }
    }
    *out = w;
    return ENHOPE_OK;
}

void eh_panels_free(eh_panels *w)
{
    eh_free(w->P);
    *w = (eh_panels){0};
}

int64_t eh_panels_width(const eh_panels *w)
{
    return (w->N + EH_PANEL - 1) / EH_PANEL * EH_PANEL;
}

/* ---- kernels ---- */

/* Rows row .. row + rows of a task, and halves of panels from `half` on. */
typedef struct block {
    const eh_panels *w;
    const eh_panels_task *task;
    int64_t row, half;
} block;

enum { ALL, LISTED, COMPACT }; /* which inputs, and whether the row has only these */

static inline eh_panels_list list_of(const block *b)
{
    const eh_panels_task *t = b->task;
    const eh_panels_list all = {.count = b->w->K};
    return t->lists ? t->lists[b->row / GROUP] : all;
}

static inline const float *panel_at(const block *b)
{
    return b->w->P + b->half / 2 * b->w->K * EH_PANEL + b->half % 2 * HALF;
}

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

#if defined(__x86_64__)
#include <immintrin.h>

/* A block for one instruction set. It begins at the start of a panel, or has one half. The barrier
 * prevents the compiler from keeping a pointer for each row instead of one index. */
#define BLOCK(name, isa, vector, width, load, store, broadcast, fma, multiply, zero)                       \
    __attribute__((target(isa))) INLINE void name(const block *b, int rows, int halves, int mode)          \
    {                                                                                                      \
        const eh_panels_task *t = b->task;                                                                 \
        const eh_panels_list list = list_of(b);                                                            \
        const int64_t stride = b->w->K * EH_PANEL, lda = t->lda;                                           \
        const float *A = t->A + b->row * lda, *P = panel_at(b);                                            \
        const int vectors = halves * HALF / width;                                                         \
        vector sum[GROUP][MAX_HALVES * HALF / width];                                                      \
        UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = zero(); \
        for (int64_t i = 0; i < list.count; i++) {                                                         \
            int64_t k = mode == ALL ? i : list.k[i];                                                       \
            __asm__("" : "+r"(k));                                                                         \
            const int64_t at = mode == COMPACT ? i : k;                                                    \
            vector p[MAX_HALVES * HALF / width];                                                           \
            UNROLL for (int v = 0; v < vectors; v++) p[v] =                                                \
                load(P + v * width / EH_PANEL * stride + k * EH_PANEL + v * width % EH_PANEL);             \
            UNROLL for (int r = 0; r < rows; r++)                                                          \
            {                                                                                              \
                const vector a = broadcast(A[r * lda + at]);                                               \
                UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = fma(a, p[v], sum[r][v]);              \
            }                                                                                              \
        }                                                                                                  \
        float *C = t->C + b->row * t->ldc + b->half * HALF;                                                \
        UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)                     \
        {                                                                                                  \
            vector power = sum[r][v];                                                                      \
            for (int o = 1; o < t->order; o++) power = multiply(power, sum[r][v]);                         \
            store(C + r * t->ldc + v * width, power);                                                      \
        }                                                                                                  \
    }

BLOCK(avx512_block, "avx512f", __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps,
      _mm512_mul_ps, _mm512_setzero_ps)
BLOCK(avx2_block, "avx2,fma", __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps,
      _mm256_mul_ps, _mm256_setzero_ps)
#endif

/* The portable block, with the vectors of the compiler. */
enum { WIDTH = 4, VECTORS = EH_PANEL / WIDTH };
typedef float four __attribute__((vector_size(16)));
INLINE void plain_block(const block *b, int rows, int halves, int mode)
{
    const eh_panels_task *t = b->task;
    const eh_panels_list list = list_of(b);
    const float *A = t->A + b->row * t->lda, *P = panel_at(b);
    const int vectors = halves * HALF / WIDTH;
    four sum[2][VECTORS] = {{{0}}}, p[VECTORS];
    for (int64_t i = 0; i < list.count; i++) {
        const int64_t k = mode == ALL ? i : list.k[i], at = mode == COMPACT ? i : k;
        UNROLL for (int v = 0; v < vectors; v++) memcpy(&p[v], P + k * EH_PANEL + v * WIDTH, sizeof p[v]);
        UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] +=
            A[r * t->lda + at] * p[v];
    }
    float *C = t->C + b->row * t->ldc + b->half * HALF;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        four power = sum[r][v];
        for (int o = 1; o < t->order; o++) power *= sum[r][v];
        memcpy(C + r * t->ldc + v * WIDTH, &power, sizeof power);
    }
}

/* A kernel: several rows panel by panel, or one row with several panels at a time. Blocks of
 * `tall` rows and `panel` halves, and of one row and `wide` halves, fill the registers. The last
 * rows take a lower block. */
#define KERNEL(name, attribute, one_block, tall, middle, low, panel, wide)               \
    attribute INLINE void name##_down(block *b, int halves, int mode)                    \
    {                                                                                    \
        for (b->row = 0; b->row < b->task->rows;) {                                      \
            const int64_t left = b->task->rows - b->row;                                 \
            if (left > middle) {                                                         \
                one_block(b, tall, halves, mode);                                        \
                b->row += tall;                                                          \
            } else if (left > low) {                                                     \
                one_block(b, middle, halves, mode);                                      \
                b->row += middle;                                                        \
            } else {                                                                     \
                one_block(b, low, halves, mode);                                         \
                b->row += low;                                                           \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    attribute INLINE void name##_tile(block *b, int mode)                                \
    {                                                                                    \
        const int64_t halves = (b->w->N + HALF - 1) / HALF;                              \
        for (; b->half + panel <= halves; b->half += panel) name##_down(b, panel, mode); \
        for (; b->half < halves; b->half++) name##_down(b, 1, mode);                     \
    }                                                                                    \
    attribute INLINE void name##_row(block *b, int mode)                                 \
    {                                                                                    \
        const int64_t halves = eh_panels_width(b->w) / HALF, rest = halves % wide;       \
        for (; b->half + wide <= halves; b->half += wide) one_block(b, 1, wide, mode);   \
        if (rest == 2) one_block(b, 1, 2 < wide ? 2 : wide, mode);                       \
        if (rest == 4) one_block(b, 1, 4 < wide ? 4 : wide, mode);                       \
        if (rest == 6) one_block(b, 1, 6 < wide ? 6 : wide, mode);                       \
    }                                                                                    \
    attribute static void name(const eh_panels *w, const eh_panels_task *t)              \
    {                                                                                    \
        block b = {.w = w, .task = t};                                                   \
        if (t->compact)                                                                  \
            name##_row(&b, COMPACT);                                                     \
        else if (t->rows == 1)                                                           \
            name##_row(&b, ALL);                                                         \
        else if (t->lists)                                                               \
            name##_tile(&b, LISTED);                                                     \
        else                                                                             \
            name##_tile(&b, ALL);                                                        \
    }

/* NOLINTBEGIN(bugprone-branch-clone): narrow kernels have equal sizes for several branches */
#if defined(__x86_64__)
KERNEL(with_avx512, __attribute__((target("avx512f"))), avx512_block, 12, 8, 4, 2, 8)
KERNEL(with_avx2, __attribute__((target("avx2,fma"))), avx2_block, 6, 4, 2, 1, 4)
#endif
KERNEL(anywhere, , plain_block, 2, 2, 2, 1, 2)
/* NOLINTEND(bugprone-branch-clone) */

void eh_panels_multiply(const eh_panels *w, const eh_panels_task *t)
{
    int but = w->but;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && but-- == 0) {
        with_avx512(w, t);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && but-- == 0) {
        with_avx2(w, t);
        return;
    }
#endif
    (void)but;
    anywhere(w, t);
}

/* ---- lists of nonzero inputs ---- */

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static int64_t list_avx512(int64_t rows, int64_t K, const float *A, int64_t ld,
                                                              int32_t *list, float *value)
{
    const __m512i ascending = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    int64_t count = 0;
    for (int64_t k = 0; k < K; k += 16) {
        __mmask16 any = 0;
        for (int64_t r = 0; r < rows; r++)
            any |= _mm512_cmp_ps_mask(_mm512_loadu_ps(A + r * ld + k), _mm512_setzero_ps(), _CMP_NEQ_UQ);
        const __m512i number = _mm512_add_epi32(ascending, _mm512_set1_epi32((int32_t)k));
        _mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(any, number));
        if (value) _mm512_storeu_ps(value + count, _mm512_maskz_compress_ps(any, _mm512_loadu_ps(A + k)));
        count += __builtin_popcount(any);
    }
    return count;
}
#endif

static int64_t list_anywhere(int64_t rows, int64_t K, const float *A, int64_t ld, int32_t *list, float *value)
{
    int64_t count = 0;
    for (int64_t k = 0; k < K; k++) {
        bool any = false;
        for (int64_t r = 0; r < rows; r++) any = any || A[r * ld + k] != 0;
        list[count] = (int32_t)k;
        if (value) value[count] = A[k];
        count += any;
    }
    return count;
}

static int64_t list_inputs(int64_t rows, int64_t K, const float *A, int64_t ld, int32_t *list, float *value)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return list_avx512(rows, K, A, ld, list, value);
#endif
    return list_anywhere(rows, K, A, ld, list, value);
}

int64_t eh_panels_nonzero(int64_t rows, int64_t K, const float *A, int64_t ld, int32_t *list)
{
    return list_inputs(rows, K, A, ld, list, NULL);
}

int64_t eh_panels_compact(int64_t K, const float *a, int32_t *list, float *value)
{
    return list_inputs(1, K, a, 0, list, value);
}
