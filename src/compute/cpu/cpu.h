/* Internal header of the cpu backend: float32, OpenBLAS for products, OpenMP over rows and
 * tiles, SIMD level chosen at run time. */
#ifndef EH_CPU_H
#define EH_CPU_H

#include "compute/warp.h"
#include "compute/host.h"

/* Functions with this attribute are compiled for several instruction sets, and the loader picks
 * one for the processor. Sanitizers do not support the attribute, because they instrument the
 * resolver before they are initialized. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#define EH_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EH_SIMD
#endif

/* eh_real and eh_packed are float in this backend. */
static inline float *eh_f(const void *v)
{
    return (float *)(uintptr_t)v;
}

/* Work on fewer scalars than this runs in one thread, because waking another costs more. */
enum { EH_CPU_ALONE = 8192 };

typedef struct eh_cpu_state {
    float *blocks; /* of nearest.c, for rows of `dims` dimensions; NULL before the first use */
    int64_t dims;
    void *scratch; /* (scratch_bytes) memory for one call of an operation; NULL before the first use */
    size_t scratch_bytes;
    int64_t failed_bytes; /* size of a failed allocation until sync() reports it; 0: none */
} eh_cpu_state;
enum { EH_NEAREST_Q = 256, EH_NEAREST_R = 1024 };

/* augment.c: adds noise and dropout to x (H), the scaled row `row` of the data. */
void eh_cpu_augment(const eh_augment *with, int64_t row, int64_t H, float *x);
/* EH_CPU_NORMALS normal numbers times scale, of the blocks 0, 1, ... */
enum { EH_CPU_NORMALS = 256 };
void eh_cpu_normals(uint64_t seed, uint32_t stream, uint64_t index, float scale, float *out);
/* warp.c: warps the image in row `row` of the table, scales it and stores it in to (H). image:
 * scratch of eh_cpu_warp_scratch() scalars. */
void eh_cpu_warp(const eh_augment *with, const eh_table *t, int64_t row, float *image, float *to);
int64_t eh_cpu_warp_scratch(int64_t rows, int64_t columns);
/* The same with an explicit warp: node (2, NODES, NODES) or NULL; the image begins at (1, 1) of
 * a frame of zeros (rows + 3, columns + 3). */
void eh_cpu_warp_by(const eh_warp *by, const float *node, int64_t rows, int64_t columns, const float *image,
                    const float *shift, const float *mul, float *to);
/* math.c */
void eh_cpu_power(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s);
void eh_cpu_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);
void eh_cpu_fill(eh_compute *c, int64_t count, double value, eh_real *x);
void eh_cpu_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
void eh_cpu_copy_rows(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                      int64_t ldy);
void eh_cpu_scale(eh_compute *c, int64_t count, double a, eh_real *x);
void eh_cpu_multiply(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
void eh_cpu_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y);
double eh_cpu_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);
void eh_cpu_average(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss);
void eh_cpu_adversarial_step(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                             const eh_real *dX, eh_packed *to);
void eh_cpu_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x);
/* y += a x in the calling thread */
void eh_cpu_add_scaled(int64_t count, float a, const float *restrict x, float *restrict y);
enum { EH_CPU_GROUP = 12 }; /* largest number of rows that rows.c takes at a time */
/* rows.c: C (rows, columns) = A (rows, K) B in the calling thread; B is (K, columns), or
 * (columns, K) with tb. The bits of a row depend only on that row and on B. */
void eh_cpu_rows(int64_t rows, int64_t columns, int64_t K, const float *A, int64_t lda, bool tb, const float *B,
                 int64_t ldb, float *C, int64_t ldc);
/* The same without the `but` best kernels of the processor, for tests. */
void eh_cpu_rows_but(int but, int64_t rows, int64_t columns, int64_t K, const float *A, int64_t lda, bool tb,
                     const float *B, int64_t ldb, float *C, int64_t ldc);
/* product.c */
void eh_cpu_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                 int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc);
void eh_cpu_product(eh_compute *c, const eh_product *p);
/* s = u^order in the calling thread */
void eh_cpu_power_range(int64_t count, int order, const float *u, float *s);
/* a = sigmoid(a + b) and a = max(a + b, 0), likewise */
void eh_cpu_sigmoid_range(int64_t count, const float *b, float *a);
void eh_cpu_relu_range(int64_t count, const float *b, float *a);
/* pairs.c */
/* d[j] = |a - B_j|^2 from differences, for B (count, dims) */
void eh_cpu_distances(int64_t count, int64_t dims, const float *restrict a, const float *restrict B, float *restrict d);
void eh_cpu_pairs(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG);
void eh_cpu_own_targets(eh_compute *c, const eh_pairs *p, double unlabeled, eh_real *P);
/* out (dims) += 2 sum_j slope[j] (a - B_j) */
void eh_cpu_pull_towards(int64_t count, int64_t dims, const float *restrict slope, const float *restrict a,
                         const float *restrict B, float *restrict out);
/* Scratch memory of at least count elements. Returns NULL if there is not enough; sync() reports
 * it. */
void *eh_cpu_scratch(eh_cpu_state *state, int64_t count, size_t size);
/* triples.c */
void eh_cpu_triples(eh_compute *c, const eh_triples *p, eh_loss *loss, eh_real *dY);
/* affinities.c */
/* The squared distance of two rows, from differences. */
float eh_cpu_distance(int64_t dims, const float *a, const float *b);
void eh_cpu_affinities(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P);
/* nearest.c */
void eh_cpu_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                    eh_row *index, eh_real *distance);
/* The same for one row q (dims) in the calling thread, from differences. Allocates nothing. */
void eh_cpu_nearest_row(const float *q, const float *R, int64_t r, int64_t dims, int64_t k, int64_t *index,
                        float *distance);
enum { EH_CPU_FEW_DIMS = 16 }; /* up to this number of dimensions, nearest() uses differences */

/* e^x with a relative error of 2e-7, inline, so that loops over it become SIMD. NaN stays NaN;
 * the result saturates beyond +-87. */
static inline __attribute__((always_inline)) float eh_exp(float x)
{
    const float clamped = x > 87.0f ? 87.0f : x < -87.0f ? -87.0f : x;
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    const float shifted = clamped * 1.44269504088896341f + magic;
    const float k = shifted - magic;
    /* r = x - k log 2, with log 2 in two terms so that r is exact */
    const float r = (clamped - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    uint32_t bits;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; /* 2^k: the low bits of magic's pattern are zero */
    float power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* log(1 + x) of x >= 0 with a relative error of 3e-7, inline; NaN if x is not finite. */
static inline __attribute__((always_inline)) float eh_log1p(float x)
{
    /* 1 + x = 2^k m with m between sqrt(1/2) and sqrt(2); log m = 2 atanh(s), |s| < 0.172 */
    const uint32_t root_half = 0x3f3504f3, one = 0x3f800000, mantissa = 0x007fffff;
    const float sum = 1 + x;
    uint32_t bits;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    bits += one - root_half;
    const float k = (float)((int32_t)(bits >> 23) - 127);
    bits = (bits & mantissa) + root_half;
    float m;
    __builtin_memcpy(&m, &bits, sizeof m);
    const float f = k == 0 ? x : m - 1; /* for small x, the part that 1 + x rounds off matters */
    const float s = f / (2 + f), q = s * s;
    float p = 2.0f / 9;
    p = p * q + 2.0f / 7;
    p = p * q + 2.0f / 5;
    p = p * q + 2.0f / 3;
    p = p * q + 2;
    return k * 0.693147180559945309f + s * p + (x - x);
}

#endif
