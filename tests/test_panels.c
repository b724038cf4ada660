/* Products with packed panels: every kernel of the processor against a chain in plain C, and lists
 * of nonzero inputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "predict/panels.h"

enum { SEED = 20170819, KERNELS = 3, PAD = EH_PANEL_HALF };

static enhope_context *ctx;

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

/* Whether kernel `but` of the processor has fused multiply-adds. The last one has none. */
static bool is_fused(int but)
{
#if defined(__x86_64__)
    const int fused =
        (__builtin_cpu_supports("avx512f") != 0) + (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    return but < fused;
#else
    (void)but;
    return false;
#endif
}

static float chain(const float *a, const float *W, int64_t K, int64_t N, int64_t j, int order, bool fused)
{
    float sum = 0;
    for (int64_t k = 0; k < K; k++) {
        const float product = a[k] * W[k * N + j];
        sum = fused ? fmaf(a[k], W[k * N + j], sum) : sum + product;
    }
    float power = sum;
    for (int o = 1; o < order; o++) power *= sum;
    return power;
}

typedef struct problem {
    int64_t rows, K, N, stride;
    float *A, *W, *C;
    int32_t *list;
    float *value;
    eh_panels_list lists[8];
} problem;

static problem make(int64_t rows, int64_t K, int64_t N, int zeros)
{
    const int64_t whole = (rows + EH_PANEL_ROWS - 1) / EH_PANEL_ROWS * EH_PANEL_ROWS,
                  stride = (K + PAD - 1) / PAD * PAD;
    problem p = {.rows = rows, .K = K, .N = N, .stride = stride};
    p.A = calloc((size_t)(whole * stride), sizeof *p.A);
    p.W = calloc((size_t)(K * N), sizeof *p.W);
    p.C = calloc((size_t)(whole * (N + EH_PANEL)), sizeof *p.C);
    p.list = calloc((size_t)(8 * (stride + PAD)), sizeof *p.list);
    p.value = calloc((size_t)(stride + PAD), sizeof *p.value);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < K; k++) {
            const uint64_t at = (uint64_t)(i * K + k);
            const bool zero = (int)(eh_random_u64(SEED, 51, at) % 100) < zeros;
            p.A[i * stride + k] = zero ? 0 : (float)eh_random_normal(SEED, 52, at);
        }
    for (int64_t i = 0; i < K * N; i++) p.W[i] = (float)eh_random_normal(SEED, 53, (uint64_t)i);
    return p;
}

static void destroy(problem *p)
{
    free(p->A);
    free(p->W);
    free(p->C);
    free(p->list);
    free(p->value);
}

static void compare(const problem *p, int64_t ldc, int order, bool fused)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->N; j++) {
            const float expected = chain(p->A + i * p->stride, p->W, p->K, p->N, j, order, fused);
            assert_memory_equal(&p->C[i * ldc + j], &expected, sizeof expected);
        }
}

static void check_kernel(int but, int64_t rows, int64_t K, int64_t N, int order, int zeros)
{
    problem p = make(rows, K, N, zeros);
    eh_panels w;
    assert_int_equal(eh_panels_create(ctx, K, N, p.W, false, false, &w), 0);
    w.but = but;
    const int64_t ldc = eh_panels_width(&w);
    assert_true(ldc >= N && ldc < N + EH_PANEL);
    eh_panels_task t = {.rows = rows, .A = p.A, .lda = p.stride, .order = order, .C = p.C, .ldc = ldc};
    eh_panels_multiply(&w, &t);
    compare(&p, ldc, order, is_fused(but));
    memset(p.C, 0x55, (size_t)(rows * ldc) * sizeof *p.C);
    for (int64_t g = 0; g * EH_PANEL_ROWS < rows; g++) {
        const int64_t first = g * EH_PANEL_ROWS, count = eh_min(rows - first, EH_PANEL_ROWS);
        int32_t *list = p.list + g * (p.stride + PAD);
        p.lists[g] = (eh_panels_list){list, eh_panels_nonzero(count, K, p.A + first * p.stride, p.stride, list)};
    }
    t.lists = p.lists;
    if (rows > 1) {
        eh_panels_multiply(&w, &t);
    } else {
        p.lists[0].count = eh_panels_compact(K, p.A, p.list, p.value);
        t.A = p.value;
        t.compact = true;
        eh_panels_multiply(&w, &t);
    }
    compare(&p, ldc, order, is_fused(but));
    eh_panels_free(&w);
    destroy(&p);
}

static void every_kernel_computes_one_chain_for_each_entry(void **state)
{
    (void)state;
    for (int but = 0; but < KERNELS; but++) {
        for (int64_t rows = 1; rows <= 26; rows++) check_kernel(but, rows, 37, 53, 1 + (int)rows % 4, 60);
        for (int64_t N = 1; N <= 150; N += 7) {
            check_kernel(but, 1, 29, N, 3, 50);
            check_kernel(but, 13, 29, N, 2, 50);
        }
        for (int64_t K = 1; K <= 40; K += 3) check_kernel(but, 5, K, 17, 1, 30);
        check_kernel(but, 48, 785, 200, 3, 80);
    }
}

static void all_inputs_may_be_zero(void **state)
{
    (void)state;
    for (int but = 0; but < KERNELS; but++) {
        check_kernel(but, 1, 21, 35, 1, 100);
        check_kernel(but, 12, 21, 35, 2, 100);
    }
}

static void transposed_matrices_are_packed_alike(void **state)
{
    (void)state;
    enum { K = 11, N = 41 };
    float W[K * N], transposed[N * K];
    eh_panels a, b;
    for (int i = 0; i < K * N; i++) W[i] = (float)eh_random_normal(SEED, 54, (uint64_t)i);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) transposed[j * K + k] = W[k * N + j];
    assert_int_equal(eh_panels_create(ctx, K, N, W, false, false, &a), 0);
    assert_int_equal(eh_panels_create(ctx, K, N, transposed, true, false, &b), 0);
    assert_memory_equal(a.P, b.P, (size_t)(K * eh_panels_width(&a)) * sizeof *a.P);
    eh_panels_free(&a);
    eh_panels_free(&b);
}

/* A bias of -0 would keep the sign of a sum that underflowed to -0, which depends on the inputs
 * that were skipped. */
static void a_bias_has_no_negative_zero(void **state)
{
    (void)state;
    const float W[] = {1.5f, -2.5f, -0.0f, 0.5f};
    eh_panels w;
    assert_int_equal(eh_panels_create(ctx, 2, 2, W, false, true, &w), 0);
    assert_false(signbit(w.P[EH_PANEL]));
    assert_true(w.P[EH_PANEL + 1] == 0.5f);
    eh_panels_free(&w);
}

static void lists_have_the_inputs_that_are_not_zero(void **state)
{
    (void)state;
    for (int64_t K = 1; K < 70; K++) {
        problem p = make(7, K, 1, 70);
        const int64_t count = eh_panels_nonzero(7, K, p.A, p.stride, p.list);
        int64_t at = 0;
        for (int32_t k = 0; k < K; k++) {
            bool any = false;
            for (int r = 0; r < 7; r++) any = any || p.A[r * p.stride + k] != 0;
            if (any) assert_int_equal(p.list[at++], k);
        }
        assert_int_equal(count, at);
        const int64_t own = eh_panels_compact(K, p.A, p.list, p.value);
        at = 0;
        for (int32_t k = 0; k < K; k++) {
            if (p.A[k] == 0) continue;
            assert_int_equal(p.list[at], k);
            assert_true(p.value[at++] == p.A[k]);
        }
        assert_int_equal(own, at);
        destroy(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_computes_one_chain_for_each_entry), cmocka_unit_test(all_inputs_may_be_zero),
        cmocka_unit_test(transposed_matrices_are_packed_alike),           cmocka_unit_test(a_bias_has_no_negative_zero),
        cmocka_unit_test(lists_have_the_inputs_that_are_not_zero),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
