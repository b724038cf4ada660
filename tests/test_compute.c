/* A backend against the reference, operation by operation, on irregular shapes; and the same bits again: on the cpu from
 * another number of threads, on cuda from another run. The tests run for the cpu, then for cuda where there is one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compute/compute.h"

static enhope_context *ctx;
static eh_compute *cpu, *ref, *one; /* the backend under test, the oracle, the backend with a single thread */

/* The same irregular numbers on every backend. */
typedef struct twin {
    eh_real *cpu, *ref, *one;
    int64_t count;
} twin;

static twin make(int64_t count, uint32_t stream, double scale)
{
    float *host = malloc((size_t)(count + 1) * sizeof *host);
    for (int64_t i = 0; i < count; i++) host[i] = (float)(scale * eh_random_normal(2, stream, (uint64_t)i));
    const twin t = {cpu->op->alloc(cpu, count), ref->op->alloc(ref, count), one->op->alloc(one, count), count};
    cpu->op->write(cpu, t.cpu, host, count);
    ref->op->write(ref, t.ref, host, count);
    one->op->write(one, t.one, host, count);
    free(host);
    return t;
}

static void drop(twin t)
{
    cpu->op->release(cpu, t.cpu);
    ref->op->release(ref, t.ref);
    one->op->release(one, t.one);
}

static float *on_host(eh_compute *c, const eh_real *v, int64_t count)
{
    float *host = malloc((size_t)(count + 1) * sizeof *host);
    c->op->read(c, host, v, count);
    return host;
}

/* Every number within 1e-5 of the largest. */
static void close_enough(twin t)
{
    float *mine = on_host(cpu, t.cpu, t.count);
    double largest = 1e-30, worst = 0;
    for (int64_t i = 0; i < t.count; i++) {
        const double want = ((double *)t.ref)[i], got = mine[i];
        largest = fmax(largest, fabs(want));
        worst = fmax(worst, fabs(want - got));
    }
    free(mine);
    assert_true(worst <= 1e-5 * largest);
}

static void same_bits(twin t)
{
    float *a = on_host(cpu, t.cpu, t.count), *b = on_host(one, t.one, t.count);
    assert_memory_equal(a, b, (size_t)t.count * sizeof *a);
    free(a), free(b);
}

/* Runs one call on all three backends: c is the backend, T(x) its copy of a twin. */
#define ON_EACH(call)                                                  \
    do {                                                               \
        for (int which = 0; which < 3; which++) {                      \
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one; \
            (call);                                                    \
        }                                                              \
    } while (0)
#define T(x) (which == 0 ? (x).cpu : which == 1 ? (x).ref : (x).one)

static const int64_t SIZES[] = {0, 1, 7, 63, 64, 65, 1000, 20011};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

static void elementwise_operations_agree(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        for (int order = 1; order <= 4; order++) {
            twin u = make(n, 1, 1.3), out = make(n, 2, 1);
            ON_EACH(c->op->power(c, n, order, T(u), T(out)));
            close_enough(out), same_bits(out);
            ON_EACH(c->op->power_grad(c, n, order, T(u), T(out)));
            close_enough(out), same_bits(out);
            drop(u), drop(out);
        }
        twin x = make(n, 3, 1), y = make(n, 4, 2), t = make(n, 5, 0.3);
        ON_EACH(c->op->axpy(c, n, -1.7, T(x), T(y)));
        close_enough(y), same_bits(y);
        ON_EACH(c->op->scale(c, n, 0.37, T(y)));
        close_enough(y);
        ON_EACH(c->op->sigmoid_grad(c, n, T(t), T(y)));
        close_enough(y), same_bits(y);
        const double want = ref->op->dot(ref, n, x.ref, y.ref), got = cpu->op->dot(cpu, n, x.cpu, y.cpu);
        assert_true(fabs(want - got) <= 1e-5 * sqrt(1 + (double)n));
        assert_true(got == one->op->dot(one, n, x.one, y.one));
        ON_EACH(c->op->copy(c, n, T(x), T(y)));
        close_enough(y);
        ON_EACH(c->op->fill(c, n, -0.7, T(y)));
        close_enough(y);
        ON_EACH(c->op->fill(c, n, 0, T(y)));
        close_enough(y);
        drop(x), drop(y), drop(t);
    }
}

static void sigmoids_agree_also_where_they_saturate(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 3}, {1, 1}, {7, 13}, {129, 67}};
    for (int s = 0; s < 4; s++)
        for (int wide = 0; wide < 2; wide++) {
            const int64_t n = shapes[s][0], m = shapes[s][1];
            twin a = make(n * m, 6, wide ? 90 : 2), b = make(m, 7, 1), sums = make(m, 8, 1);
            ON_EACH(c->op->sigmoid(c, n, m, T(b), T(a)));
            close_enough(a), same_bits(a);
            ON_EACH(c->op->column_sums(c, n, m, T(a), 0.5, T(sums)));
            close_enough(sums), same_bits(sums);
            drop(a), drop(b), drop(sums);
        }
}

static void adam_steps_agree(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        twin g = make(n, 9, 0.1), m1 = make(n, 10, 0), m2 = make(n, 11, 0), x = make(n, 12, 1);
        for (int step = 1; step <= 5; step++)
            ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, step, T(g), T(m1), T(m2), T(x)));
        close_enough(x), close_enough(m1), close_enough(m2), same_bits(x);
        drop(g), drop(m1), drop(m2), drop(x);
    }
}

static void products_agree_for_every_transpose_and_stride(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1},   {7, 13, 5},    {33, 2, 129},
                                        {2, 70, 64}, {65, 129, 17}, {300, 520, 90}};
    for (int s = 0; s < 6; s++)
        for (int flags = 0; flags < 4; flags++) {
            const bool ta = flags & 1, tb = flags & 2;
            const int64_t M = shapes[s][0], N = shapes[s][1], K = shapes[s][2], pad = 3;
            const int64_t lda = (ta ? M : K) + pad, ldb = (tb ? K : N) + pad, ldc = N + pad;
            twin A = make((ta ? K : M) * lda, 13, 1), B = make((tb ? N : K) * ldb, 14, 1), C = make(M * ldc, 15, 1);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, 1.3, T(A), lda, T(B), ldb, 0.6, T(C), ldc));
            close_enough(C), same_bits(C);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, -0.4, T(A), lda, T(B), ldb, 0, T(C), ldc));
            close_enough(C);
            drop(A), drop(B), drop(C);
        }
}

/* ---- data ---- */

static void rows_gather_scaled_from_every_kind(void **state)
{
    (void)state;
    enum { n = 9, H = 37, take = 6, ld = 48 };
    uint8_t bytes[n * H];
    float numbers[n * H], value[n * H], shift[H], mul[H];
    int64_t row_start[n + 1] = {0};
    int32_t column[n * H], label[n];
    for (int i = 0; i < n * H; i++) {
        bytes[i] = (uint8_t)eh_random_u64(3, 1, (uint64_t)i);
        numbers[i] = (float)eh_random_normal(3, 2, (uint64_t)i);
    }
    for (int j = 0; j < H; j++) shift[j] = 0.3f * (float)j, mul[j] = 1.0f / (float)(j + 2);
    for (int i = 0; i < n; i++) {
        label[i] = i % 4;
        row_start[i + 1] = row_start[i];
        for (int j = 0; j < H; j++)
            if (eh_random_unit(3, 3, (uint64_t)(i * H + j)) < 0.2) {
                column[row_start[i + 1]] = j;
                value[row_start[i + 1]++] = numbers[i * H + j];
            }
    }
    const int64_t rows[take] = {8, 0, 3, 3, 5, 1};
    for (int kind = 0; kind < 3; kind++) {
        const eh_matrix x = {.kind = (enhope_kind)kind,
                             .n = n,
                             .H = H,
                             .u8 = bytes,
                             .f32 = numbers,
                             .row_start = row_start,
                             .column = column,
                             .value = value};
        float none[H] = {0};
        const float *by = kind == ENHOPE_CSR ? none : shift;
        eh_table tc, tr, to;
        assert_int_equal(cpu->op->place(cpu, ctx, &x, label, by, mul, &tc), 0);
        assert_int_equal(ref->op->place(ref, ctx, &x, label, by, mul, &tr), 0);
        assert_int_equal(one->op->place(one, ctx, &x, label, by, mul, &to), 0);
        twin X = make(take * ld, 1, 0);
        int32_t got[take];
        ON_EACH(c->op->gather(c, which == 0 ? &tc : which == 1 ? &tr : &to, rows, take, T(X), ld, got));
        close_enough(X), same_bits(X);
        for (int i = 0; i < take; i++) {
            float want[H];
            eh_matrix_row(&x, rows[i], want);
            assert_int_equal(got[i], label[rows[i]]);
            for (int j = 0; j < H; j++)
                assert_true(fabs(((double *)X.ref)[i * ld + j] - ((double)want[j] - by[j]) * mul[j]) < 1e-6);
            assert_true(((double *)X.ref)[i * ld + H] == 1);
        }
        if (kind == ENHOPE_CSR) { /* the sparse products equal the dense ones on gathered rows */
            enum { F = 29 };
            twin C = make((H + 1) * F, 5, 1), U = make(take * F, 6, 1), D = make(take * F, 7, 1);
            twin dC = make((H + 1) * F, 8, 1), dense = make((H + 1) * F, 8, 1);
            ON_EACH(c->op->sparse_apply(c, which == 0 ? &tc : which == 1 ? &tr : &to, rows, take, T(C), F, T(U)));
            close_enough(U), same_bits(U);
            ON_EACH(c->op->gemm(c, false, false, take, F, H + 1, -1, T(X), ld, T(C), F, 1, T(U), F));
            for (int i = 0; i < take * F; i++) assert_true(fabs(((double *)U.ref)[i]) < 1e-12);
            ON_EACH(c->op->sparse_grad(c, which == 0 ? &tc : which == 1 ? &tr : &to, rows, take, T(D), F, T(dC)));
            close_enough(dC), same_bits(dC);
            ON_EACH(c->op->gemm(c, true, false, H + 1, F, take, 1, T(X), ld, T(D), F, 1, T(dense), F));
            for (int i = 0; i < (H + 1) * F; i++)
                assert_true(fabs(((double *)dC.ref)[i] - ((double *)dense.ref)[i]) < 1e-12);
            drop(C), drop(U), drop(D), drop(dC), drop(dense);
        }
        cpu->op->unplace(cpu, &tc), ref->op->unplace(ref, &tr), one->op->unplace(one, &to);
        drop(X);
    }
}

/* ---- pairs ---- */

static void pair_sums_and_gradients_agree(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {200, 20, 2}, {33, 300, 3}, {520, 520, 2}};
    for (int s = 0; s < 5; s++)
        for (int bits = 0; bits < 8; bits++) {
            const int64_t n = shapes[s][0], h = shapes[s][2];
            const bool self = bits & 4;
            const int64_t z = self ? n : shapes[s][1];
            twin Y = make(n * h, 16, 1.5), G = make(z * h, 17, 1.5), dY = make(n * h, 18, 1), dG = make(z * h, 19, 1);
            int32_t *label = malloc((size_t)n * sizeof *label), *other = malloc((size_t)z * sizeof *other);
            for (int64_t i = 0; i < n; i++) label[i] = (int32_t)(eh_random_u64(2, 20, (uint64_t)i) % 3);
            for (int64_t j = 0; j < z; j++) other[j] = self ? label[j] : (int32_t)(j % 3);
            double *sums[3], *attract = malloc((size_t)n * sizeof *attract), *repel = malloc((size_t)n * sizeof *repel);
            for (int64_t i = 0; i < n; i++) {
                const double a = 0.01 + 0.001 * (double)(i % 7), r = 0.002 + 0.0003 * (double)(i % 5);
                attract[i] = bits & 1 ? log(a) : a;
                repel[i] = bits & 1 ? log(r) : r;
            }
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                const eh_pairs p = {.gaussian = bits & 1,
                                    .nca = bits & 2,
                                    .self = self,
                                    .n = n,
                                    .z = z,
                                    .h = h,
                                    .Y = T(Y),
                                    .G = self ? T(Y) : T(G),
                                    .label = label,
                                    .other_label = other};
                sums[which] = malloc(2 * (size_t)n * sizeof **sums);
                c->op->pair_sums(c, &p, sums[which], sums[which] + n);
                c->op->pair_grad(c, &p, attract, repel, T(dY), self ? NULL : T(dG));
            }
            for (int64_t i = 0; i < 2 * n; i++) {
                const double want = sums[1][i], got = sums[0][i];
                assert_true(want == got || fabs(want - got) <= 1e-5 * (1 + fabs(want)));
                assert_true(got == sums[2][i]);
            }
            close_enough(dY), same_bits(dY);
            if (!self) close_enough(dG), same_bits(dG);
            for (int which = 0; which < 3; which++) free(sums[which]);
            free(label), free(other), free(attract), free(repel);
            drop(Y), drop(G), drop(dY), drop(dG);
        }
}

/* ---- nearest ---- */

static void nearest_rows_agree_in_few_and_many_dimensions(void **state)
{
    (void)state;
    static const int64_t shapes[][4] = {
        {1, 1, 1, 1}, {7, 20, 2, 5}, {3, 700, 2, 5}, {600, 1100, 23, 7}, {5, 40, 16, 40}};
    for (int s = 0; s < 5; s++) {
        const int64_t q = shapes[s][0], r = shapes[s][1], dims = shapes[s][2], k = shapes[s][3];
        twin Q = make(q * dims, 21, 1), R = make(r * dims, 22, 1);
        int64_t *index[3];
        float *distance[3];
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            index[which] = malloc((size_t)(q * k) * sizeof **index);
            distance[which] = malloc((size_t)(q * k) * sizeof **distance);
            c->op->nearest(c, T(Q), q, T(R), r, dims, k, index[which], distance[which]);
        }
        for (int64_t i = 0; i < q * k; i++) {
            assert_true(fabsf(distance[0][i] - distance[1][i]) <= 1e-5f * (1 + (float)dims));
            assert_true(i % k == 0 || distance[0][i] >= distance[0][i - 1]);
            assert_int_equal(index[0][i], index[2][i]);
            /* another order only among distances that float cannot tell apart */
            if (index[0][i] != index[1][i]) {
                double d = 0;
                for (int64_t t = 0; t < dims; t++) {
                    const double e = ((double *)Q.ref)[i / k * dims + t] - ((double *)R.ref)[index[0][i] * dims + t];
                    d += e * e;
                }
                assert_true(fabs(d - distance[1][i]) <= 1e-5 * (1 + (double)dims));
            }
        }
        for (int which = 0; which < 3; which++) free(index[which]), free(distance[which]);
        drop(Q), drop(R);
    }
}

/* Distances that a norm expansion about the origin would drown in rounding. */
static void nearest_rows_are_found_far_from_the_origin(void **state)
{
    (void)state;
    enum { q = 70, r = 1100, dims = 24, k = 3 };
    float *Q = malloc(sizeof *Q * q * dims), *R = malloc(sizeof *R * r * dims);
    for (int i = 0; i < q * dims; i++) Q[i] = (float)(1e4 + eh_random_normal(9, 1, (uint64_t)i));
    for (int i = 0; i < r * dims; i++) R[i] = (float)(1e4 + eh_random_normal(9, 2, (uint64_t)i));
    int64_t got[q * k], want[q * k];
    float near[q * k];
    for (int which = 0; which < 2; which++) {
        eh_compute *c = which ? ref : cpu;
        eh_real *a = c->op->alloc(c, q * dims), *b = c->op->alloc(c, r * dims);
        c->op->write(c, a, Q, q * dims);
        c->op->write(c, b, R, r * dims);
        c->op->nearest(c, a, q, b, r, dims, k, which ? want : got, near);
        c->op->release(c, a), c->op->release(c, b);
    }
    int other = 0;
    for (int i = 0; i < q * k; i++) other += got[i] != want[i];
    free(Q), free(R);
    assert_true(other <= q * k / 50); /* but for near ties */
}

static void equal_distances_are_ordered_by_index(void **state)
{
    (void)state;
    for (int dims = 1; dims <= 20; dims += 19) {
        float same[40 * 20] = {0}, far[20] = {0};
        far[0] = 2;
        eh_real *R = cpu->op->alloc(cpu, 40 * dims), *Q = cpu->op->alloc(cpu, dims);
        cpu->op->write(cpu, R, same, 40 * dims);
        cpu->op->write(cpu, Q, far, dims);
        int64_t index[5];
        float distance[5];
        cpu->op->nearest(cpu, Q, 1, R, 40, dims, 5, index, distance);
        for (int i = 0; i < 5; i++) assert_true(index[i] == i && distance[i] == 4);
        cpu->op->release(cpu, R), cpu->op->release(cpu, Q);
    }
}

static void an_unknown_backend_is_refused_with_the_known_names(void **state)
{
    (void)state;
    assert_int_equal(enhope_context_set_compute(ctx, "abacus"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "compute backend 'abacus' is not known: expected cpu, cuda or ref");
    assert_int_equal(enhope_context_set_threads(ctx, -1), ENHOPE_ERROR_ARGUMENT);
}

/* Opens the backend under test twice, and runs the group on it. */
static int run_on(const char *name)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_operations_agree),
        cmocka_unit_test(sigmoids_agree_also_where_they_saturate),
        cmocka_unit_test(adam_steps_agree),
        cmocka_unit_test(products_agree_for_every_transpose_and_stride),
        cmocka_unit_test(rows_gather_scaled_from_every_kind),
        cmocka_unit_test(pair_sums_and_gradients_agree),
        cmocka_unit_test(nearest_rows_agree_in_few_and_many_dimensions),
        cmocka_unit_test(nearest_rows_are_found_far_from_the_origin),
        cmocka_unit_test(equal_distances_are_ordered_by_index),
        cmocka_unit_test(an_unknown_backend_is_refused_with_the_known_names),
    };
    enhope_context_set_compute(ctx, name);
    enhope_context_set_threads(ctx, 3);
    if (eh_compute_open(ctx, &cpu)) {
        printf("%s: skipped: no CUDA device (%s)\n", name, enhope_error(ctx));
        return strcmp(name, "cuda") != 0;
    }
    enhope_context_set_threads(ctx, 1);
    int failed = eh_compute_open(ctx, &one) != ENHOPE_OK;
    eh_compute_begin(cpu);
    if (!failed) failed = cmocka_run_group_tests_name(name, tests, NULL, NULL);
    eh_compute_end(cpu);
    if (!failed) failed = cpu->op->sync(cpu, ctx) != ENHOPE_OK || one->op->sync(one, ctx) != ENHOPE_OK;
    eh_compute_close(cpu);
    eh_compute_close(one);
    return failed;
}

int main(void)
{
    ctx = enhope_context_create();
    enhope_context_set_compute(ctx, "ref");
    if (eh_compute_open(ctx, &ref)) return 1;
    const int failed = run_on("cuda") + run_on("cpu");
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return failed;
}
