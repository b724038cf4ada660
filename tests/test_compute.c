/* A backend against the reference, operation by operation, on irregular shapes; and the same bits again: on the cpu from
 * another number of threads, on cuda from another run. The tests run for the cpu, then for cuda where there is one, in
 * each of its precisions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/philox.h"
#include "compute/compute.h"

static enhope_context *ctx;
static eh_compute *cpu, *ref, *one; /* the backend under test, the oracle, the backend with a single thread */
static double tolerance;            /* of products of operands, relative to the largest entry */
static const double EXACT = 1e-5;   /* of everything else */

/* The same on every backend: addresses of any type. */
typedef struct twin {
    void *cpu, *ref, *one;
    int64_t count;
    int64_t operands; /* else numbers */
} twin;

/* Runs one call on all three backends: c is the backend, T(x) its copy of a twin. */
#define ON_EACH(call)                                                  \
    do {                                                               \
        for (int which = 0; which < 3; which++) {                      \
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one; \
            (call);                                                    \
        }                                                              \
    } while (0)
#define T(x) (which == 0 ? (x).cpu : which == 1 ? (x).ref : (x).one)

/* Room for count elements of a size on each; the sizes may differ. */
static twin room(int64_t count, size_t size_cpu, size_t size_ref)
{
    return (twin){cpu->op->alloc(cpu, (size_t)count * size_cpu), ref->op->alloc(ref, (size_t)count * size_ref),
                  one->op->alloc(one, (size_t)count * size_cpu), count, false};
}

static twin from_host(const float *host, int64_t count)
{
    const twin t = room(count, cpu->op->size, ref->op->size);
    ON_EACH(c->op->write(c, T(t), host, count));
    return t;
}

/* Irregular numbers. */
static twin make(int64_t count, uint32_t stream, double scale)
{
    float *host = malloc((size_t)(count + 1) * sizeof *host);
    for (int64_t i = 0; i < count; i++) host[i] = (float)(scale * eh_random_normal(2, stream, (uint64_t)i));
    const twin t = from_host(host, count);
    free(host);
    return t;
}

static void drop(twin t)
{
    ON_EACH(c->op->release(c, T(t)));
}

/* In rows of `wide` entries. */
static twin as_operands(twin numbers, int64_t wide)
{
    twin t = room(numbers.count, cpu->operand, ref->operand);
    t.operands = wide;
    ON_EACH(c->op->operands(c, t.count / wide, wide, T(numbers), T(t)));
    return t;
}

static twin make_operands(int64_t rows, int64_t wide, uint32_t stream, double scale)
{
    const twin numbers = make(rows * wide, stream, scale), t = as_operands(numbers, wide);
    drop(numbers);
    return t;
}

/* bytes the same on all */
static twin sent(const void *host, int64_t count, size_t size)
{
    const twin t = room(count, size, size);
    ON_EACH(c->op->send(c, T(t), host, (size_t)count * size));
    return t;
}

static float from_bfloat16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* wide: of the rows of operands, which lie on cuda as so many bfloat16 parts; 0: they are numbers. */
static float *on_host(eh_compute *c, const void *v, int64_t count, int64_t wide)
{
    float *host = calloc((size_t)(count + 1), sizeof *host);
    if (!wide || c->numbers) {
        c->op->read(c, host, v, count);
        return host;
    }
    const int64_t parts = (int64_t)(c->operand / sizeof(uint16_t));
    uint16_t *half = malloc((size_t)(count * parts + 1) * sizeof *half);
    c->op->fetch(c, half, v, (size_t)(count * parts) * sizeof *half);
    for (int64_t i = 0; i < count; i++)
        for (int64_t part = parts - 1; part >= 0; part--)
            host[i] += from_bfloat16(half[(i / wide * parts + part) * wide + i % wide]);
    free(half);
    return host;
}

/* Every number within this part of the largest. */
static void close_within(twin t, double part)
{
    float *mine = on_host(cpu, t.cpu, t.count, t.operands);
    double largest = 1e-30, worst = 0;
    for (int64_t i = 0; i < t.count; i++) {
        const double want = ((double *)t.ref)[i], got = mine[i];
        largest = fmax(largest, fabs(want));
        worst = want == got ? worst : !(fabs(want - got) <= worst) ? fabs(want - got) : worst;
    }
    free(mine);
    if (!(worst <= part * largest)) fail_msg("%g of %g", worst, largest);
}

/* Operands carry their own rounding. */
static void close_enough(twin t)
{
    close_within(t, t.operands && tolerance > EXACT ? tolerance : EXACT);
}

static void same_bits(twin t)
{
    float *a = on_host(cpu, t.cpu, t.count, t.operands), *b = on_host(one, t.one, t.count, t.operands);
    assert_memory_equal(a, b, (size_t)t.count * sizeof *a);
    free(a), free(b);
}

static void agree(twin t, double part)
{
    close_within(t, part);
    same_bits(t);
}

/* int32 or int64 from a backend; to be freed */
static void *fetched(eh_compute *c, const void *from, int64_t count, size_t size)
{
    void *host = malloc((size_t)(count + 1) * size);
    c->op->fetch(c, host, from, (size_t)count * size);
    return host;
}

static const int64_t SIZES[] = {0, 1, 7, 63, 64, 65, 1000, 20011};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

static void bytes_come_back_as_they_were_sent(void **state)
{
    (void)state;
    int64_t rows[17];
    for (int i = 0; i < 17; i++) rows[i] = (int64_t)eh_random_u64(2, 30, (uint64_t)i);
    const twin t = sent(rows, 17, sizeof *rows);
    int64_t *back = fetched(cpu, eh_row_at(t.cpu, 3), 14, sizeof *back);
    assert_memory_equal(back, rows + 3, 14 * sizeof *rows);
    free(back);
    ON_EACH(c->op->successive(c, 5, 17, T(t)));
    back = fetched(cpu, t.cpu, 17, sizeof *back);
    for (int i = 0; i < 17; i++) assert_int_equal(back[i], 5 + i);
    free(back);
    drop(t);
}

static const eh_orders ORDERS[] = {{1, {1}},    {1, {2}},       {1, {3}},         {1, {4}},
                                   {2, {2, 3}}, {3, {1, 2, 3}}, {4, {4, 2, 1, 3}}};

static void elementwise_operations_agree(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        for (size_t o = 0; o < sizeof ORDERS / sizeof *ORDERS; o++) {
            const int64_t wide = n % 5 == 0 && n ? n / 5 : 1;
            twin u = make(n, 1, 1.3), out = make_operands(n / wide, wide, 2, 1);
            ON_EACH(c->op->power(c, n / wide, wide, &ORDERS[o], T(u), T(out)));
            close_enough(out), same_bits(out);
            drop(u), drop(out);
        }
        twin x = make(n, 3, 1), y = make(n, 4, 2);
        ON_EACH(c->op->axpy(c, n, -1.7, T(x), T(y)));
        close_enough(y), same_bits(y);
        ON_EACH(c->op->scale(c, n, 0.37, T(y)));
        close_enough(y);
        twin o = as_operands(y, n ? n : 1);
        close_enough(o), same_bits(o);
        const double want = ref->op->dot(ref, n, x.ref, y.ref), got = cpu->op->dot(cpu, n, x.cpu, y.cpu);
        assert_true(fabs(want - got) <= 1e-5 * sqrt(1 + (double)n));
        assert_true(got == one->op->dot(one, n, x.one, y.one));
        ON_EACH(c->op->copy(c, n, T(x), T(y)));
        close_enough(y);
        if (n > 7) {
            ON_EACH(c->op->copy_rows(c, n / 7, 5, T(x), 6, T(y), 7));
            close_enough(y), same_bits(y);
        }
        ON_EACH(c->op->fill(c, n, -0.7, T(y)));
        close_enough(y);
        ON_EACH(c->op->fill(c, n, 0, T(y)));
        close_enough(y);
        drop(x), drop(y), drop(o);
    }
}

static void column_sums_agree(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 3}, {1, 1}, {7, 13}, {129, 67}, {2001, 5}};
    for (int s = 0; s < 5; s++) {
        const int64_t n = shapes[s][0], m = shapes[s][1];
        twin a = make(n * m, 6, 2), sums = make(m, 8, 1);
        ON_EACH(c->op->column_sums(c, n, m, T(a), 0.5, T(sums)));
        close_enough(sums), same_bits(sums);
        ON_EACH(c->op->column_sums(c, n, m, T(a), 0, T(sums)));
        close_enough(sums), same_bits(sums);
        drop(a), drop(sums);
    }
}

/* ---- adam ---- */

static eh_value value_of(eh_compute *c, const void *scalar)
{
    eh_value v;
    c->op->fetch(c, &v, scalar, sizeof v);
    return v;
}

static void means_of_vectors_and_losses_agree(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        twin x = make(SIZES[s], 3, 1), y = make(SIZES[s], 4, 2);
        twin loss = sent(&(eh_value){.value = 0.25}, 1, sizeof(eh_value));
        twin other = sent(&(eh_value){.value = 1.5, .spoilt = s % 2}, 1, sizeof(eh_value));
        ON_EACH(c->op->mean(c, SIZES[s], T(x), T(other), T(y), T(loss)));
        agree(y, EXACT);
        ON_EACH(assert_true(value_of(c, T(loss)).value == 0.875 && value_of(c, T(loss)).spoilt == s % 2));
        drop(x), drop(y), drop(loss), drop(other);
    }
}

static void adam_steps_agree(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        twin g = make(n, 9, 0.1), m1 = make(n, 10, 0), m2 = make(n, 11, 0), x = make(n, 12, 1);
        twin loss = sent(&(eh_value){.value = 0.37}, 1, sizeof(eh_value));
        for (int step = 1; step <= 5; step++)
            ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, step, T(g), T(loss), T(m1), T(m2), T(x)));
        close_enough(x), close_enough(m1), close_enough(m2), same_bits(x);
        assert_true(value_of(cpu, loss.cpu).value == 0.37 && value_of(cpu, loss.cpu).spoilt == 0);
        drop(g), drop(m1), drop(m2), drop(x), drop(loss);
    }
}

static void adam_leaves_out_what_is_not_finite(void **state)
{
    (void)state;
    enum { n = 20011 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static float host[n], before[n];
    for (int b = 0; b < 3; b++) {
        for (int i = 0; i < n; i++)
            host[i] = i % 997 == 5 ? bad[b] : (float)(0.1 * eh_random_normal(2, 9, (uint64_t)i));
        twin g = from_host(host, n), m1 = make(n, 10, 0.1), m2 = make(n, 11, 0), x = make(n, 12, 1);
        twin loss = sent(&(eh_value){.value = 0.37}, 1, sizeof(eh_value));
        cpu->op->read(cpu, before, x.cpu, n);
        ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, 2, T(g), T(loss), T(m1), T(m2), T(x)));
        agree(x, EXACT), agree(m1, EXACT), agree(m2, EXACT);
        ON_EACH(assert_true(value_of(c, T(loss)).value == 0.37 && value_of(c, T(loss)).spoilt != 0));
        float *after = on_host(cpu, x.cpu, n, false);
        for (int i = 0; i < n; i++) assert_int_equal(after[i] == before[i], i % 997 == 5);
        free(after);
        /* and nothing at all where the loss is not */
        for (int v = 0; v < 3; v++) {
            cpu->op->read(cpu, before, x.cpu, n);
            ON_EACH(c->op->send(c, T(loss), &(eh_value){.value = (double)bad[v]}, sizeof(eh_value)));
            ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, 3, T(g), T(loss), T(m1), T(m2), T(x)));
            after = on_host(cpu, x.cpu, n, false);
            assert_memory_equal(after, before, sizeof before);
            free(after);
        }
        agree(x, EXACT), agree(m1, EXACT), agree(m2, EXACT);
        drop(g), drop(m1), drop(m2), drop(x), drop(loss);
    }
}

/* ---- products ---- */

static const int64_t SHAPES[][3] = {{1, 1, 1}, {7, 13, 5}, {33, 2, 129}, {2, 70, 64}, {65, 129, 17}, {300, 520, 90}};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

static void sums_of_products_agree_for_every_transpose_and_stride(void **state)
{
    (void)state;
    for (int s = 0; s < N_SHAPES; s++)
        for (int flags = 0; flags < 4; flags++) {
            const bool ta = flags & 1, tb = flags & 2;
            const int64_t M = SHAPES[s][0], N = SHAPES[s][1], K = SHAPES[s][2], pad = 3;
            const int64_t lda = (ta ? M : K) + pad, ldb = (tb ? K : N) + pad, ldc = N + pad;
            twin A = make((ta ? K : M) * lda, 13, 1), B = make((tb ? N : K) * ldb, 14, 1), C = make(M * ldc, 15, 1);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, 1.3, T(A), lda, T(B), ldb, 0.6, T(C), ldc));
            close_enough(C), same_bits(C);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, -0.4, T(A), lda, T(B), ldb, 0, T(C), ldc));
            close_enough(C);
            drop(A), drop(B), drop(C);
        }
}

enum { C_ONLY = 1, P_ONLY = 2, C_AND_P = 3 };

static int most_of(const eh_orders *orders)
{
    int most = 0;
    for (int r = 0; r < orders->count; r++) most = orders->order[r] > most ? orders->order[r] : most;
    return most;
}

/* One product into C, P or both, with rows longer by `pad` than they need be; what lies between rows must stay. */
static void check_product(int64_t M, int64_t N, int64_t K, int64_t pad, bool ta, bool tb, eh_finish finish,
                          eh_orders orders, int outputs, double scale)
{
    const int64_t lda = (ta ? M : K) + pad, ldb = (tb ? K : N) + pad, ldc = N + pad;
    twin A = make_operands(ta ? K : M, lda, 13, scale), B = make_operands(tb ? N : K, ldb, 14, 1);
    twin C = make(M * ldc, 15, 1), P = make_operands(M, ldc, 16, 1);
    twin with = make(finish == EH_SIGMOID || finish == EH_RELU ? N : M * ldc, 17, 0.8);
    const eh_product p = {.ta = ta,
                          .tb = tb,
                          .M = M,
                          .N = N,
                          .K = K,
                          .lda = lda,
                          .ldb = ldb,
                          .finish = finish,
                          .orders = orders,
                          .ldc = ldc};
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_product mine = p;
        mine.A = T(A), mine.B = T(B), mine.with = T(with);
        mine.C = outputs & C_ONLY ? T(C) : NULL;
        mine.P = outputs & P_ONLY ? T(P) : NULL;
        c->op->product(c, &mine);
    }
    /* a power multiplies the relative error, a sigmoid takes the absolute one */
    const double part = tolerance * (finish == EH_POWER ? most_of(&orders) : 1) * (scale > 1 ? scale : 1);
    agree(C, part), agree(P, part);
    drop(A), drop(B), drop(C), drop(P), drop(with);
}

static void products_agree_for_every_finish_transpose_and_output(void **state)
{
    (void)state;
    static const struct {
        eh_finish finish;
        double scale;
        eh_orders orders;
    } finishes[] = {{EH_PLAIN, 1, {0}},
                    {EH_POWER, 1, {1, {1}}},
                    {EH_POWER, 1, {1, {2}}},
                    {EH_POWER, 1, {1, {3}}},
                    {EH_POWER, 1, {3, {2, 1, 3}}},
                    {EH_SIGMOID, 0.3, {0}},
                    {EH_SIGMOID, 40, {0}},
                    {EH_POWER_GRAD, 1, {1, {1}}},
                    {EH_POWER_GRAD, 1, {1, {2}}},
                    {EH_POWER_GRAD, 1, {1, {4}}},
                    {EH_POWER_GRAD, 1, {2, {3, 2}}},
                    {EH_SIGMOID_GRAD, 1, {0}},
                    {EH_RELU, 1, {0}},
                    {EH_RELU_GRAD, 1, {0}}};
    for (int s = 0; s < N_SHAPES; s++)
        for (int flags = 0; flags < 4; flags++)
            for (size_t f = 0; f < sizeof finishes / sizeof *finishes; f++)
                for (int outputs = C_ONLY; outputs <= C_AND_P; outputs++) {
                    /* where sigmoids saturate, rounded inputs may tip one over */
                    if (finishes[f].scale > 1 && tolerance > EXACT) continue;
                    check_product(SHAPES[s][0], SHAPES[s][1], SHAPES[s][2], 3, flags & 1, flags & 2, finishes[f].finish,
                                  finishes[f].orders, outputs, finishes[f].scale);
                }
}

/* Runs that end where tiles do, within a tile, and within four columns that are stored together; also none for a run. */
static void orders_change_at_any_column(void **state)
{
    (void)state;
    static const struct {
        int64_t N;
        eh_orders orders;
    } cases[] = {{1032, {3, {1, 2, 3}}},  {512, {2, {3, 2}}},     {400, {3, {2, 3, 1}}}, {520, {4, {3, 1, 2, 4}}},
                 {64, {4, {2, 1, 3, 2}}}, {5, {4, {1, 2, 3, 4}}}, {2, {3, {3, 2, 1}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int outputs = C_ONLY; outputs <= C_AND_P; outputs++)
            for (int pad = 0; pad < 2; pad++) {
                check_product(130, cases[i].N, 48, pad, false, false, EH_POWER, cases[i].orders, outputs, 1);
                check_product(67, cases[i].N, 40, pad, false, true, EH_POWER_GRAD, cases[i].orders, outputs, 1);
            }
}

static void a_power_may_take_the_place_of_the_product(void **state)
{
    (void)state;
    if (!cpu->numbers) return;
    for (int s = 0; s < N_SHAPES; s++)
        for (int order = 1; order <= 3; order++) {
            const int64_t M = SHAPES[s][0], N = SHAPES[s][1], K = SHAPES[s][2];
            twin A = make_operands(M, K, 13, 1), B = make_operands(K, N, 14, 1), C = make(M * N, 15, 1);
            twin S = make(M * N, 16, 1);
            const eh_product p = {
                .M = M, .N = N, .K = K, .lda = K, .ldb = N, .finish = EH_POWER, .orders = {1, {order}}, .ldc = N};
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_product mine = p;
                mine.A = T(A), mine.B = T(B), mine.C = T(C), mine.P = T(C);
                c->op->product(c, &mine);
                mine.C = NULL, mine.P = T(S);
                c->op->product(c, &mine);
            }
            agree(C, tolerance * order), agree(S, tolerance * order);
            drop(A), drop(B), drop(C), drop(S);
        }
}

static void the_gradient_behind_an_output_layer_agrees(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {7, 13, 2}, {33, 5, 3}, {1019, 400, 2}, {300, 77, 30}};
    for (int s = 0; s < 2 * 5; s++) {
        const int64_t n = shapes[s / 2][0], m = shapes[s / 2][1], h = shapes[s / 2][2];
        const eh_finish slope = s % 2 ? EH_RELU_GRAD : EH_SIGMOID_GRAD;
        twin dY = make(n * h, 23, 0.1), V = make(h * m, 24, 1), T_ = make(n * m, 25, 0.4);
        twin dA = make_operands(n, m, 26, 1), db = make(m, 27, 1), dV = make(h * m, 28, 1);
        ON_EACH(c->op->output_grad(c, slope, n, m, h, T(dY), T(V), T(T_), T(dA), T(db), T(dV)));
        agree(dA, tolerance), agree(db, tolerance), agree(dV, tolerance);
        drop(dY), drop(V), drop(T_), drop(dA), drop(db), drop(dV);
    }
}

/* ---- data ---- */

static void rows_are_closed_with_a_one_and_zeros(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 4, 5}, {1, 1, 2}, {7, 13, 14}, {20, 784, 800}, {3, 15, 16}};
    for (int s = 0; s < 5; s++) {
        const int64_t n = shapes[s][0], H = shapes[s][1], ld = shapes[s][2];
        twin E = make(n * H, 29, 1), X = make_operands(n, ld, 30, 1);
        ON_EACH(c->op->close_rows(c, n, H, T(E), T(X), ld));
        close_enough(X), same_bits(X);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < ld; j++)
                assert_true(((double *)X.ref)[i * ld + j] == (j < H ? ((double *)E.ref)[i * H + j] : j == H));
        drop(E), drop(X);
    }
}

/* One row's gradient is zero, some are of a size whose square is no float. */
static void rows_climb_along_their_gradients(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 4, 5}, {1, 1, 2}, {7, 13, 16}, {40, 784, 800}, {5, 256, 272}};
    for (int s = 0; s < 10; s++) {
        const int64_t n = shapes[s / 2][0], H = shapes[s / 2][1], ld = shapes[s / 2][2];
        const bool l2 = s % 2;
        float *g = calloc((size_t)(n * H + 1), sizeof *g);
        for (int64_t i = 0; i < n * H; i++)
            g[i] = i / H == 2 ? 0 : (float)((i / H % 3 ? 1 : 1e-25) * eh_random_normal(2, 31, (uint64_t)i));
        if (n) g[0] = H > 1 ? 0 : -1e-30f;
        twin dX = from_host(g, n * H), E = make(n * H, 29, 1), X = make_operands(n, ld, 30, 1);
        twin to = make_operands(n, ld, 32, 1);
        ON_EACH(c->op->close_rows(c, n, H, T(E), T(X), ld));
        ON_EACH(c->op->climb(c, n, H, 0.23, l2, T(X), ld, T(dX), T(to)));
        close_enough(to), same_bits(to);
        float *from = on_host(cpu, X.cpu, n * ld, ld), *there = on_host(cpu, to.cpu, n * ld, ld);
        for (int64_t i = 0; i < n; i++) {
            double square = 0, largest = 0;
            for (int64_t j = 0; j < ld; j++) {
                const double by = (double)there[i * ld + j] - from[i * ld + j];
                if (j >= H) assert_true(there[i * ld + j] == (j == H));
                if (j < H && (i == 2 || g[i * H + j] == 0)) assert_true(by == 0);
                if (j < H) assert_true(by * g[i * H + j] >= 0);
                square += by * by, largest = fmax(largest, fabs(by));
            }
            /* parts carry their own rounding */
            if (i != 2) assert_true(fabs((l2 ? sqrt(square) : largest) / 0.23 - 1) < 1e-4 + 10 * tolerance);
        }
        free(g), free(from), free(there);
        drop(dX), drop(E), drop(X), drop(to);
    }
}

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
    const int64_t row[take] = {8, 0, 3, 3, 5, 1};
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
        eh_table tables[3];
        const twin t = {.cpu = tables, .ref = tables + 1, .one = tables + 2};
        ON_EACH(assert_int_equal(c->op->place(c, ctx, &x, label, by, mul, T(t)), 0));
        twin X = make(take * ld, 1, 1), O = make_operands(take, ld, 2, 1);
        twin rows = sent(row, take, sizeof *row), class = sent(label, take, sizeof *label);
        twin class2 = sent(label, take, sizeof *label);
        if (cpu->op->stage) cpu->op->stage(cpu, t.cpu, 0, n);
        ON_EACH(c->op->gather(c, T(t), T(rows), take, T(X), ld, T(class)));
        ON_EACH(c->op->gather_operands(c, T(t), T(rows), take, T(O), ld, T(class2), NULL));
        close_enough(X), same_bits(X), close_enough(O), same_bits(O);
        int32_t *got = fetched(cpu, class.cpu, take, sizeof *got), *got2 = fetched(cpu, class2.cpu, take, sizeof *got);
        ON_EACH(c->op->gather_operands(c, T(t), T(rows), take, T(O), ld, NULL, NULL));
        for (int i = 0; i < take; i++) {
            float want[H];
            eh_matrix_row(&x, row[i], want);
            assert_true(got[i] == label[row[i]] && got2[i] == got[i]);
            for (int j = 0; j < H; j++)
                assert_true(fabs(((double *)X.ref)[i * ld + j] - ((double)want[j] - by[j]) * mul[j]) < 1e-6);
            for (int j = H; j < ld; j++) assert_true(((double *)X.ref)[i * ld + j] == (j == H));
        }
        if (kind == ENHOPE_CSR) { /* the sparse products equal the dense ones on gathered rows */
            enum { F = 29 };
            twin C = make((H + 1) * F, 5, 1), U = make(take * F, 6, 1), D = make(take * F, 7, 1);
            twin dU = as_operands(D, F);
            twin dC = make((H + 1) * F, 8, 1), dense = make((H + 1) * F, 8, 1);
            ON_EACH(c->op->sparse_apply(c, T(t), T(rows), take, T(C), F, T(U)));
            close_enough(U), same_bits(U);
            ON_EACH(c->op->gemm(c, false, false, take, F, H + 1, -1, T(X), ld, T(C), F, 1, T(U), F));
            for (int i = 0; i < take * F; i++) assert_true(fabs(((double *)U.ref)[i]) < 1e-12);
            ON_EACH(c->op->sparse_grad(c, T(t), T(rows), take, T(dU), F, T(dC)));
            agree(dC, tolerance);
            ON_EACH(c->op->gemm(c, true, false, H + 1, F, take, 1, T(X), ld, T(D), F, 1, T(dense), F));
            for (int i = 0; i < (H + 1) * F; i++)
                assert_true(fabs(((double *)dC.ref)[i] - ((double *)dense.ref)[i]) < 1e-12);
            drop(C), drop(U), drop(D), drop(dU), drop(dC), drop(dense);
        }
        ON_EACH(c->op->unplace(c, T(t)));
        drop(X), drop(O), drop(rows), drop(class), drop(class2);
        free(got), free(got2);
    }
}

/* ---- disturbed rows ---- */

/* The answers that its authors publish. */
static void philox_gives_the_published_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, index;
        uint32_t stream, part, want[4];
    } known[] = {
        {0, 0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x85a308d3243f6a88,
         0x13198a2e,
         0x03707344,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t got[4];
        eh_philox(known[i].seed, known[i].stream, known[i].index, known[i].part, got);
        assert_memory_equal(got, known[i].want, sizeof got);
    }
}

/* A table of every kind on each backend: irregular numbers, a fifth of them stored where it is sparse; or all the same. */
typedef struct rows_of_a_kind {
    eh_table tables[3];
    uint8_t *bytes;
    float *numbers, *value, *shift, *mul;
    int64_t *row_start;
    int32_t *column;
} rows_of_a_kind;

static rows_of_a_kind *place_rows(int kind, int64_t n, int64_t H, bool same)
{
    rows_of_a_kind *r = calloc(1, sizeof *r);
    const size_t all = (size_t)(n * H);
    r->bytes = malloc(all), r->numbers = malloc(all * 4), r->value = malloc(all * 4), r->column = malloc(all * 4);
    r->shift = calloc((size_t)H, 4), r->mul = malloc((size_t)H * 4), r->row_start = calloc((size_t)n + 1, 8);
    for (int64_t j = 0; j < H; j++) r->mul[j] = same ? 1 : 1.0f / (float)(j % 11 + 2);
    for (int64_t j = 0; j < H && kind != ENHOPE_CSR && !same; j++) r->shift[j] = 0.3f * (float)(j % 7);
    for (int64_t i = 0; i < n; i++) {
        int64_t *end = r->row_start + i + 1;
        *end = r->row_start[i];
        for (int64_t j = 0; j < H; j++) {
            const uint64_t at = (uint64_t)(i * H + j);
            r->bytes[at] = same ? 1 : (uint8_t)(eh_random_u64(3, 1, at) % 8);
            r->numbers[at] = same ? 1 : (float)eh_random_normal(3, 2, at);
            if (!same && eh_random_unit(3, 3, at) > 0.2) continue;
            r->column[*end] = (int32_t)j;
            r->value[(*end)++] = r->numbers[at];
        }
    }
    const eh_matrix x = {(enhope_kind)kind, n, H, r->bytes, r->numbers, r->row_start, r->column, r->value};
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    ON_EACH(assert_int_equal(c->op->place(c, ctx, &x, NULL, r->shift, r->mul, T(t)), 0));
    return r;
}

static void unplace_rows(rows_of_a_kind *r)
{
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    ON_EACH(c->op->unplace(c, T(t)));
    free(r->bytes), free(r->numbers), free(r->value), free(r->column);
    free(r->shift), free(r->mul), free(r->row_start), free(r);
}

static twin gather_disturbed(rows_of_a_kind *r, const int64_t *row, int64_t n, int64_t ld, const eh_disturb *with)
{
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    twin X = make_operands(n, ld, 2, 1), rows = sent(row, n, sizeof *row);
    ON_EACH(c->op->gather_operands(c, T(t), T(rows), n, T(X), ld, NULL, with));
    drop(rows);
    return X;
}

static const eh_disturb DISTURB[] = {{.noise = 0.37, .seed = 5, .pass = 3},
                                     {.dropout = 0.21, .seed = 5, .pass = 3},
                                     {.noise = 1.4, .dropout = 0.6, .seed = 1234567890123456, .pass = 999999}};

/* Whatever the rows are gathered with. */
static void disturbed_rows_agree_and_are_their_own(void **state)
{
    (void)state;
    static const int64_t wide[][2] = {{1, 2}, {4, 16}, {37, 48}, {300, 304}, {523, 530}};
    enum { n = 9, take = 6 };
    static const int64_t row[take] = {8, 0, 3, 3, 5, 1}, fewer[2] = {5, 8};
    for (int kind = 0; kind < 3; kind++)
        for (int w = 0; w < 5; w++)
            for (int d = 0; d < 3; d++) {
                const int64_t H = wide[w][0], ld = wide[w][1];
                rows_of_a_kind *r = place_rows(kind, n, H, false);
                const eh_disturb *with = DISTURB + d;
                twin X = gather_disturbed(r, row, take, ld, with), Z = gather_disturbed(r, fewer, 2, ld, with);
                twin plain = gather_disturbed(r, row, take, ld, NULL);
                twin none = gather_disturbed(r, row, take, ld, &(eh_disturb){.seed = 5});
                close_enough(X), same_bits(X);
                const double *want = X.ref, *before = plain.ref;
                float *got = on_host(cpu, X.cpu, take * ld, ld), *other = on_host(cpu, Z.cpu, 2 * ld, ld);
                float *a = on_host(cpu, plain.cpu, take * ld, ld), *b = on_host(cpu, none.cpu, take * ld, ld);
                assert_memory_equal(a, b, (size_t)(take * ld) * sizeof *a);
                assert_memory_equal(got + 2 * ld, got + 3 * ld, (size_t)ld * sizeof *got);
                assert_memory_equal(got + 4 * ld, other, (size_t)ld * sizeof *got);
                assert_memory_equal(got, other + ld, (size_t)ld * sizeof *got);
                for (int64_t i = 0; i < take; i++)
                    for (int64_t j = 0; j < ld; j++) {
                        const double x = want[i * ld + j];
                        assert_true((x == 0) == (got[i * ld + j] == 0)); /* the same are dropped */
                        if (j >= H) assert_true(x == (j == H) && got[i * ld + j] == (float)x);
                        if (j < H && with->noise == 0 && x != 0)
                            assert_true(fabs(x * (1 - with->dropout) - before[i * ld + j]) < 1e-12);
                    }
                free(got), free(other), free(a), free(b);
                drop(X), drop(Z), drop(plain), drop(none);
                unplace_rows(r);
            }
}

enum { MANY = 400, BROAD = 257 }; /* rows, inputs: enough for moments */

/* What is added to ones, and divided by deviation. */
static float *noise_of(rows_of_a_kind *r, const eh_disturb *with)
{
    static int64_t row[MANY];
    for (int64_t i = 0; i < MANY; i++) row[i] = i;
    const twin X = gather_disturbed(r, row, MANY, BROAD + 1, with);
    float *x = on_host(cpu, X.cpu, MANY * (BROAD + 1), BROAD + 1);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t j = 0; j < BROAD; j++)
            x[i * BROAD + j] = (x[i * (BROAD + 1) + j] - 1) / (with->noise > 0 ? (float)with->noise : 1);
    drop(X);
    return x;
}

/* The mean of a_i b_(i + by). */
static double together(const float *a, const float *b, int64_t by)
{
    double sum = 0;
    for (int64_t i = 0; i < MANY * BROAD - by; i++) sum += (double)a[i] * b[i + by];
    return sum / (double)(MANY * BROAD - by);
}

/* Bounds are five deviations of what is measured. */
static void noise_is_normal_and_each_number_is_its_own(void **state)
{
    (void)state;
    const double root = sqrt((double)MANY * BROAD);
    rows_of_a_kind *r = place_rows(ENHOPE_F32, MANY, BROAD, true);
    eh_disturb with = {.noise = 2.5, .seed = 11, .pass = 7};
    float *x = noise_of(r, &with);
    double sums[5] = {0}, least = 0, most = 0;
    int64_t within = 0;
    for (int64_t i = 0; i < MANY * BROAD; i++) {
        double power = 1;
        for (int p = 0; p < 5; p++, power *= x[i]) sums[p] += power / MANY / BROAD;
        within += fabsf(x[i]) < 0.6744898f;
        least = fmin(least, x[i]), most = fmax(most, x[i]);
    }
    assert_true(fabs(sums[1]) < 5 / root && fabs(sums[2] - 1) < 5 * sqrt(2) / root);
    assert_true(fabs(sums[3]) < 5 * sqrt(15) / root && fabs(sums[4] - 3) < 5 * sqrt(96) / root);
    assert_true(fabs((double)within / MANY / BROAD - 0.5) < 2.5 / root); /* half lies within the quartiles */
    assert_true(least < -3.8 && least > -5.8 && most > 3.8 && most < 5.8);
    static const int64_t by[] = {1, 2, 3, 4, BROAD, 2 * BROAD}; /* columns, rows */
    for (int i = 0; i < 6; i++) assert_true(fabs(together(x, x, by[i])) < 5 / root);
    for (int64_t j = 0; j < BROAD; j++) { /* every column alone */
        double sum = 0, square = 0;
        for (int64_t i = 0; i < MANY; i++) sum += x[i * BROAD + j], square += x[i * BROAD + j] * x[i * BROAD + j];
        assert_true(fabs(sum / MANY) < 5 / sqrt(MANY) && fabs(square / MANY - 1) < 5 * sqrt(2.0 / MANY));
    }
    with.pass++;
    float *next = noise_of(r, &with);
    with.pass--, with.seed++;
    float *seeded = noise_of(r, &with);
    assert_true(fabs(together(x, next, 0)) < 5 / root && fabs(together(x, seeded, 0)) < 5 / root);
    free(x), free(next), free(seeded);
    unplace_rows(r);
}

static void inputs_are_dropped_at_their_rate_and_keep_their_mean(void **state)
{
    (void)state;
    static const double rates[] = {0.03, 0.5, 0.95};
    rows_of_a_kind *r = place_rows(ENHOPE_U8, MANY, BROAD, true);
    for (int d = 0; d < 3; d++) {
        const double p = rates[d], deviation = sqrt(p * (1 - p) / MANY / BROAD);
        eh_disturb with = {.dropout = p, .seed = 11, .pass = 0};
        float *x = noise_of(r, &with);
        with.pass = 1;
        float *next = noise_of(r, &with);
        double dropped = 0, mean = 0, both = 0;
        for (int64_t i = 0; i < MANY * BROAD; i++) {
            dropped += x[i] == -1, both += x[i] == -1 && next[i] == -1, mean += x[i];
            assert_true(x[i] == -1 || fabs((x[i] + 1) * (1 - p) - 1) < 1e-2);
        }
        assert_true(fabs(dropped / MANY / BROAD - p) < 5 * deviation);
        assert_true(fabs(both / MANY / BROAD - p * p) < 5 * sqrt(p * p * (1 - p * p) / MANY / BROAD));
        assert_true(fabs(mean / MANY / BROAD) < 5 * deviation / (1 - p) + 4e-3); /* the last for bfloat16 */
        free(x), free(next);
    }
    unplace_rows(r);
}

/* ---- moved images ---- */

/* Images of noise are as rough as can be: what a float rounds off a place, some 1e-7 of the image's side, moves a value by
 * as many times its neighbour's difference. */
static void moved_images_agree_and_are_their_own(void **state)
{
    (void)state;
    static const int64_t sides[][3] = {{1, 1, 2},     {1, 37, 40},     {5, 3, 17},
                                       {28, 28, 800}, {19, 131, 2490}, {150, 2, 304}};
    static const eh_disturb by[] = {
        {.shift = 1.7, .seed = 5, .pass = 3},
        {.affine = 1.3, .seed = 5, .pass = 3},
        {.elastic = 1.1, .seed = 6, .pass = 0},
        {.shift = 900, .affine = 5, .elastic = 2.5, .seed = 1234567890123456, .pass = 999999},
        {.shift = 0.4, .affine = 0.8, .noise = 0.3, .dropout = 0.1, .seed = 2, .pass = 1}};
    enum { n = 9, take = 6, BY = sizeof by / sizeof *by };
    static const int64_t row[take] = {8, 0, 3, 3, 5, 1}, fewer[2] = {5, 8};
    for (int kind = 0; kind < 3; kind++)
        for (int w = 0; w < 6; w++)
            for (int d = 0; d < BY; d++) {
                const int64_t H = sides[w][0] * sides[w][1], ld = sides[w][2];
                rows_of_a_kind *r = place_rows(kind, n, H, false);
                eh_disturb with = by[d];
                with.image_rows = sides[w][0], with.image_columns = sides[w][1];
                twin X = gather_disturbed(r, row, take, ld, &with), Z = gather_disturbed(r, fewer, 2, ld, &with);
                close_within(X, tolerance > EXACT ? tolerance : 10 * EXACT);
                same_bits(X);
                float *got = on_host(cpu, X.cpu, take * ld, ld), *other = on_host(cpu, Z.cpu, 2 * ld, ld);
                assert_memory_equal(got + 2 * ld, got + 3 * ld, (size_t)ld * sizeof *got);
                assert_memory_equal(got + 4 * ld, other, (size_t)ld * sizeof *got);
                assert_memory_equal(got, other + ld, (size_t)ld * sizeof *got);
                for (int64_t i = 0; i < take; i++)
                    for (int64_t j = H; j < ld; j++) assert_true(got[i * ld + j] == (j == H));
                free(got), free(other);
                drop(X), drop(Z);
                unplace_rows(r);
            }
}

/* ---- mixed rows ---- */

/* By a definition of their own from rows that are not mixed, of which the batch has all: neighbours in a batch are partners,
 * and parts are the row's own in any batch. */
static void mixed_rows_agree_and_are_made_of_two(void **state)
{
    (void)state;
    static const int64_t wide[][3] = {{1, 1, 2}, {4, 1, 16}, {37, 1, 48}, {5, 60, 304}, {28, 28, 800}};
    static const eh_disturb by[] = {
        {.seed = 5, .pass = 3}, {.shift = 1.7, .seed = 5, .pass = 3}, {.affine = 0.8, .elastic = 1.1, .seed = 6}};
    enum { n = 50, TAKE = 39 };
    static const int64_t takes[] = {TAKE, 16, 1, 2};
    int64_t row[TAKE];
    for (int i = 0; i < TAKE; i++) row[i] = (i * 7 + 3) % n;
    for (int kind = 0; kind < 3; kind++)
        for (int w = 0; w < 5 * 3 * 4; w++) {
            const int64_t *shape = wide[w % 5], H = shape[0] * shape[1], ld = shape[2], take = takes[w / 15];
            eh_disturb with = by[w / 5 % 3], alone;
            with.image_rows = shape[0], with.image_columns = shape[1];
            alone = with;
            with.mix = 0.37;
            rows_of_a_kind *r = place_rows(kind, n, H, false);
            twin X = gather_disturbed(r, row, take, ld, &with), plain = gather_disturbed(r, row, take, ld, &alone);
            close_within(X, tolerance > EXACT ? tolerance : 10 * EXACT);
            same_bits(X);
            const double *got = X.ref, *from = plain.ref;
            for (int64_t i = 0; i < take; i++) {
                uint32_t word[4];
                eh_philox(with.seed, EH_STREAM_MIX, with.pass << 44 ^ (uint64_t)row[i], 0, word);
                const double l = 0.37 * ((word[0] >> 9) + 0.5) / (1 << 23);
                const double *a = from + i * ld, *b = from + (i + 1) % take * ld;
                for (int64_t j = 0; j < ld; j++) {
                    const double want = j < H ? (1 - l) * a[j] + l * b[j] : j == H;
                    assert_true(fabs(got[i * ld + j] - want) < 1e-12 * (1 + fabs(want)));
                }
            }
            drop(X), drop(plain);
            unplace_rows(r);
        }
}

/* Noise and dropout come behind, as without it. */
static void mixed_rows_are_disturbed_like_others(void **state)
{
    (void)state;
    enum { n = 9, take = 6, H = 37, ld = 48 };
    static const int64_t row[take] = {8, 0, 3, 3, 5, 1};
    for (int kind = 0; kind < 3; kind++)
        for (int d = 0; d < 3; d++) {
            rows_of_a_kind *r = place_rows(kind, n, H, false);
            eh_disturb with = DISTURB[d], mixing = {.mix = 0.5, .seed = with.seed, .pass = with.pass};
            twin plain = gather_disturbed(r, row, take, ld, NULL), apart = gather_disturbed(r, row, take, ld, &with);
            twin mixed = gather_disturbed(r, row, take, ld, &mixing);
            with.mix = 0.5;
            twin both = gather_disturbed(r, row, take, ld, &with);
            close_enough(both), same_bits(both);
            const double *x = plain.ref, *y = apart.ref, *m = mixed.ref, *got = both.ref, kept = 1 - with.dropout;
            for (int64_t i = 0; i < take * ld; i++) {
                if (i % ld >= H || (x[i] == 0 && with.noise == 0)) continue; /* 0 tells nothing */
                assert_true(fabs(got[i] - (y[i] == 0 ? 0 : y[i] + (m[i] - x[i]) / kept)) < 1e-12 * (1 + fabs(y[i])));
            }
            drop(plain), drop(apart), drop(mixed), drop(both);
            unplace_rows(r);
        }
}

static void parts_of_partners_are_uniform(void **state)
{
    (void)state;
    /* rows of one number, 0 but for every second: what these have lost, or others got, is the part */
    static float numbers[MANY], shift[1], mul[1] = {1};
    static int64_t row[MANY];
    for (int i = 0; i < MANY; i++) numbers[i] = (float)(i % 2), row[i] = i;
    const eh_matrix x = {.kind = ENHOPE_F32, .n = MANY, .H = 1, .f32 = numbers};
    eh_table t;
    assert_int_equal(ref->op->place(ref, ctx, &x, NULL, shift, mul, &t), 0);
    double out[MANY][2], mean[2] = {0}, square = 0, low = 1, high = 0, together_ = 0, before[MANY];
    for (uint64_t pass = 0; pass < 2; pass++) {
        const eh_disturb with = {.mix = 0.5, .seed = 3, .pass = pass};
        ref->op->gather_operands(ref, &t, (const eh_row *)row, MANY, (eh_operand *)out, 2, NULL, &with);
        for (int i = 0; i < MANY; i++) {
            const double l = i % 2 ? 1 - out[i][0] : out[i][0];
            mean[pass] += l / MANY, square += (l - 0.25) * (l - 0.25) / (2 * MANY);
            low = fmin(low, l), high = fmax(high, l);
            if (pass) together_ += (before[i] - 0.25) * (l - 0.25) / MANY;
            before[i] = l;
        }
    }
    const double variance = 0.25 / 12, root = sqrt(MANY);
    assert_true(low > 0 && low < 0.01 && high < 0.5 && high > 0.49);
    for (int k = 0; k < 2; k++) assert_true(fabs(mean[k] - 0.25) < 5 * sqrt(variance) / root);
    assert_true(fabs(square - variance) < 5 * variance / root && fabs(together_) < 5 * variance / root);
    ref->op->unplace(ref, &t);
}

/* ---- pairs ---- */

/* All of one problem's results, on each backend. target: P (n, z), or NULL; with it there are no labels. */
static void check_pairs(const eh_pairs *flags, const float *Y_host, const float *G_host, const int32_t *label,
                        const int32_t *other, const float *target, double part)
{
    const bool self = flags->self;
    const int64_t n = flags->n, z = flags->z, h = flags->h;
    twin Y = from_host(Y_host, n * h), G = from_host(self ? Y_host : G_host, z * h);
    twin dY = make(n * h, 18, 1), dG = make(z * h, 19, 1), loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
    twin labels = sent(label, n, sizeof *label), others = sent(self ? label : other, z, sizeof *other);
    twin P = target ? from_host(target, n * z) : (twin){0};
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_pairs p = *flags;
        p.Y = T(Y), p.G = self ? T(Y) : T(G), p.P = T(P);
        p.label = target ? NULL : T(labels);
        p.other_label = target ? NULL : self ? T(labels) : T(others);
        c->op->pairs(c, &p, T(loss), T(dY), self ? NULL : T(dG));
    }
    const eh_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.spoilt != 0 || got.spoilt != 0)
        fail_msg("gaussian %d freedom %g row %d nca %d self %d indicator %d, n %lld: loss %.9g, expected %.9g",
                 flags->gaussian, flags->freedom, flags->row, flags->nca, self, flags->indicator, (long long)n,
                 got.value, want.value);
    assert_true(got.value == again.value);
    agree(dY, part);
    if (!self) agree(dG, part);
    drop(Y), drop(G), drop(dY), drop(dG), drop(loss), drop(labels), drop(others), drop(P);
}

/* Bits choose: the similarity is the first bit's and those from 32 on. */
enum { PROBLEMS = 3 * 32 };

static eh_pairs problem(int bits, int64_t n, int64_t z, int64_t h)
{
    static const double freedoms[] = {1, 0, 0.1, 0.5, 7.9, 1000};
    const double freedom = freedoms[bits / 32 * 2 + bits % 2];
    const bool self = bits & 8;
    return (eh_pairs){.gaussian = freedom == 0,
                      .freedom = freedom,
                      .row = bits & 2,
                      .nca = bits & 4,
                      .self = self,
                      .indicator = bits & 16,
                      .n = n,
                      .z = self ? n : z,
                      .h = h};
}

/* Of gradients; an energy has the rounding of a logarithm, which counts where attraction and repulsion nearly cancel. */
static double rounding(const eh_pairs *p)
{
    return (p->gaussian || p->freedom == 1 ? 2 : 10) * EXACT;
}

static void neighbour_problems_agree_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {200, 20, 2}, {33, 300, 3}, {520, 520, 2}, {65, 9, 17}};
    enum { MOST = 520 * 17 };
    static float Y[MOST], G[MOST];
    int32_t label[520], other[520];
    for (int i = 0; i < MOST; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < MOST; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 520; i++) label[i] = (int32_t)(eh_random_u64(2, 20, (uint64_t)i) % 4) - 1; /* some have none */
    for (int j = 0; j < 520; j++) other[j] = j % 3;
    for (int s = 0; s < 6; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            check_pairs(&p, Y, G, label, other, NULL, rounding(&p));
        }
}

/* A target of which a fifth is zero. */
static void given_problems_agree_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {33, 300, 3}, {300, 7, 2}, {65, 9, 17}};
    enum { MOST = 300 * 17 };
    static float Y[MOST], G[MOST], P[300 * 300];
    const int32_t label[300] = {0};
    for (int i = 0; i < MOST; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < MOST; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int s = 0; s < 5; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            double sum = 0;
            for (int64_t i = 0; i < p.n * p.z; i++) {
                const int64_t row = i / p.z, column = i % p.z, less = row < column ? row : column;
                const uint64_t at = (uint64_t)(p.self ? less * p.z + row + column : i);
                P[i] = p.self && row == column ? 0 : (float)fmax(0, eh_random_unit(2, 33, at) - 0.2);
                sum += P[i];
            }
            for (int64_t i = 0; i < p.n * p.z && sum > 0; i++) P[i] = (float)(P[i] / sum);
            check_pairs(&p, Y, G, label, label, P, rounding(&p));
        }
}

/* Two by two, far apart: the slope of a point with itself would be infinite. */
static void points_far_from_all_others_have_finite_gradients(void **state)
{
    (void)state;
    static const float Y[] = {0, 30, 0.5f, 31}, G[] = {-21, 47};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, 1e-3); /* exp(x - 900) has three digits less than x */
    }
}

/* At squared distances of 1e30, where w of much freedom is e^-31000: energies of that size have three digits behind the
 * point in float. The gaussian's would have none. */
static void students_farther_than_a_float_s_w_have_finite_gradients(void **state)
{
    (void)state;
    static const float Y[] = {0, 1e15f, 2e15f, 1.001e15f}, G[] = {-3e15f, 2.5e15f};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        if (!p.gaussian) check_pairs(&p, Y, G, label, other, NULL, 1e-2);
    }
}

static void without_a_target_there_is_no_loss_and_no_gradient(void **state)
{
    (void)state;
    static const float Y[] = {0.3f, 1.2f, -0.7f}, G[] = {-0.2f, 0.4f};
    static const int32_t label[] = {0, -1, 1}, other[] = {2, 3};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 3, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, 0); /* ref is proved in test_objective */
    }
}

static void an_embedding_that_is_not_finite_has_no_loss(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY}, G[] = {-0.2f, 0.4f};
    static const int32_t label[] = {0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++)
        for (int b = 0; b < 3; b++) {
            const float Y_host[] = {0.3f, bad[b], -0.7f};
            const eh_pairs flags = problem(bits, 3, 2, 1);
            twin Y = from_host(Y_host, 3), compared = from_host(G, 2), dY = make(3, 18, 1), dG = make(2, 19, 1);
            twin labels = sent(label, 3, sizeof *label), others = sent(other, 2, sizeof *other);
            twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_pairs p = flags;
                p.Y = T(Y), p.G = p.self ? T(Y) : T(compared);
                p.label = T(labels), p.other_label = p.self ? T(labels) : T(others);
                c->op->pairs(c, &p, T(loss), T(dY), p.self ? NULL : T(dG));
                if (isfinite(value_of(c, T(loss)).value))
                    fail_msg("%s, case %d: %g", c->op->name, bits, (double)bad[b]);
            }
            drop(Y), drop(compared), drop(dY), drop(dG), drop(labels), drop(others), drop(loss);
        }
}

/* ---- triples ---- */

static void check_triples(const eh_triples *sizes, const float *Y_host, const int32_t *label)
{
    const int64_t rows = sizes->n * (1 + sizes->targets);
    twin Y = from_host(Y_host, rows * sizes->h), dY = make(rows * sizes->h, 18, 1);
    twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value)), labels = sent(label, rows, sizeof *label);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_triples p = *sizes;
        p.Y = T(Y), p.label = T(labels);
        c->op->triples(c, &p, T(loss), T(dY));
    }
    const eh_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.spoilt != 0 || got.spoilt != 0)
        fail_msg("n %lld, targets %lld: loss %.9g, expected %.9g", (long long)sizes->n, (long long)sizes->targets,
                 got.value, want.value);
    assert_true(got.value == again.value);
    agree(dY, EXACT);
    drop(Y), drop(dY), drop(loss), drop(labels);
}

/* Points on a grid have exact distances in float, so that backends agree on who is within a margin. Classes of several
 * sizes, one of a single sample; some have fewer targets, some none. */
static void large_margin_problems_agree(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 2, 2}, {1, 1, 1}, {7, 2, 3}, {200, 3, 2}, {130, 1, 17}, {520, 9, 2}};
    enum { MOST = 520 * 10 * 2 };
    static float Y[MOST];
    static int32_t label[520 * 10];
    for (int i = 0; i < MOST; i++) Y[i] = (float)(round(96 * eh_random_normal(2, 16, (uint64_t)i)) / 64);
    for (int s = 0; s < 6; s++) {
        const int64_t n = shapes[s][0], targets = shapes[s][1];
        for (int64_t i = 0; i < n; i++) {
            const uint64_t draw = eh_random_u64(2, 20, (uint64_t)i) % 8;
            label[i] = i == n / 2 ? 3 : draw < 5 ? 0 : draw < 7 ? 1 : 2;
            for (int64_t t = 0; t < targets; t++) {
                const bool none = label[i] == 3 || (uint64_t)t > eh_random_u64(2, 21, (uint64_t)i) % 12;
                label[n + i * targets + t] = none ? -1 : label[i];
            }
        }
        check_triples(&(eh_triples){.n = n, .targets = targets, .h = shapes[s][2], .pull = 0.013, .push = 0.71}, Y,
                      label);
    }
}

static void a_large_margin_embedding_that_is_not_finite_has_no_loss(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const int32_t label[] = {0, 0, 1, 0, 0, -1};
    for (int b = 0; b < 3; b++)
        for (int at = 0; at < 5; at++) {
            if (at == 2) continue; /* no target: an impostor that is infinitely far is none */
            float Y_host[] = {0.3f, 0.8f, -0.7f, 0.8f, 0.3f, -0.7f};
            Y_host[at] = bad[b];
            twin Y = from_host(Y_host, 6), dY = make(6, 18, 1), labels = sent(label, 6, sizeof *label);
            twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                const eh_triples p = {
                    .n = 3, .targets = 1, .h = 1, .pull = 0.2, .push = 0.3, .Y = T(Y), .label = T(labels)};
                c->op->triples(c, &p, T(loss), T(dY));
                if (isfinite(value_of(c, T(loss)).value)) fail_msg("%s: %g at %d", c->op->name, (double)bad[b], at);
            }
            drop(Y), drop(dY), drop(labels), drop(loss);
        }
}

/* ---- affinities ---- */

/* P again, from its definition, by bisection. */
static void plain_affinities(int64_t n, int64_t dims, const float *X, double perplexity, double *P)
{
    double *given = calloc((size_t)(n * n + 1), sizeof *given), *d = malloc((size_t)(n + 1) * sizeof *d);
    for (int64_t i = 0; i < n; i++) {
        double low = 0, high = 1e12, entropy = 0, least = INFINITY;
        for (int64_t j = 0; j < n; j++) {
            d[j] = 0;
            for (int64_t k = 0; k < dims; k++) d[j] += pow((double)X[i * dims + k] - X[j * dims + k], 2);
            if (j != i) least = fmin(least, d[j]);
        }
        for (int step = 0; step < 200; step++) {
            const double beta = (low + high) / 2;
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += given[i * n + j] = j == i ? 0 : exp(-beta * (d[j] - least));
            entropy = 0;
            for (int64_t j = 0; j < n; j++) {
                const double p = given[i * n + j] /= n > 1 ? sum : 1;
                if (p > 0) entropy -= p * log(p);
            }
            if (entropy > log(perplexity))
                low = beta;
            else
                high = beta;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) P[i * n + j] = (given[i * n + j] + given[j * n + i]) / (2 * (double)n);
    free(given), free(d);
}

static void check_affinities(int64_t n, int64_t dims, const float *host, double perplexity)
{
    twin X = from_host(host, n * dims), P = make(n * n, 34, 1);
    double *want = malloc((size_t)(n * n + 1) * sizeof *want);
    ON_EACH(c->op->affinities(c, n, dims, T(X), perplexity, T(P)));
    agree(P, 2 * EXACT);
    plain_affinities(n, dims, host, perplexity, want);
    float *mine = on_host(cpu, P.cpu, n * n, false);
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) {
        if (!(fabs(((double *)P.ref)[i] - want[i]) <= 1e-7 / (double)n))
            fail_msg("n %lld at %lld: %.9g, expected %.9g", (long long)n, (long long)i, ((double *)P.ref)[i], want[i]);
        assert_true(mine[i] == mine[i % n * n + i / n]);
        assert_true(mine[i] >= 0 && (i / n != i % n || mine[i] == 0));
        sum += mine[i];
    }
    assert_true(n == 1 ? sum == 0 : fabs(sum - 1) < 1e-5);
    free(want), free(mine);
    drop(X), drop(P);
}

static void affinities_match_their_definition(void **state)
{
    (void)state;
    static const struct {
        int64_t n, dims;
        double perplexity, scale;
    } cases[] = {{1, 3, 1, 1},     {2, 5, 1, 1},     {3, 2, 1.5, 1},   {7, 13, 2, 40},  {65, 17, 20, 1e-3},
                 {130, 1, 5, 1e3}, {300, 30, 30, 1}, {300, 30, 99, 1}, {64, 4, 1.2, 1}, {90, 2, 29.7, 0.1}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const int64_t count = cases[t].n * cases[t].dims;
        float *X = malloc((size_t)count * sizeof *X);
        for (int64_t i = 0; i < count; i++)
            X[i] = (float)(cases[t].scale * eh_random_normal(2, 35, (uint64_t)i) * (i % 3 + 1));
        check_affinities(cases[t].n, cases[t].dims, X, cases[t].perplexity);
        free(X);
    }
}

/* All the same; many twins, fewer and more than the perplexity asks for; far from the origin. */
static void affinities_bear_rows_that_are_the_same(void **state)
{
    (void)state;
    enum { n = 70, dims = 5 };
    float X[n * dims] = {0};
    check_affinities(n, dims, X, 10);
    for (int twins = 3; twins <= 35; twins += 16) {
        for (int i = 0; i < n * dims; i++) {
            const int row = i / dims % (n - twins); /* the last rows are the first again */
            X[i] = row < 2 ? (float)(i % dims) : (float)eh_random_normal(2, 36, (uint64_t)(row * dims + i % dims));
        }
        check_affinities(n, dims, X, 10);
    }
    for (int i = 0; i < n * dims; i++) X[i] = i / dims < 30 ? 2.385f : (float)(1000 + i % 7);
    check_affinities(n, dims, X, 10);
}

/* ---- targets ---- */

/* A batch and compared points with classes; the tables that a target is made from. Class 3 has no compared point, class 4
 * no sample. */
enum { CLASSES = 5, T_MOST = 330 };
typedef struct target_case {
    int64_t n, z;
    int32_t label[T_MOST], other[T_MOST];
    int64_t row[T_MOST];
    float weight[CLASSES], crowd[T_MOST];
    bool pair;
    double smooth;
    eh_disturb with;
} target_case;

static target_case *make_target_case(int64_t n, int64_t z, bool unlabelled, bool pair)
{
    static const int32_t order[] = {0, 1, 2, 1, 4};
    target_case *t = calloc(1, sizeof *t);
    t->n = n, t->z = z, t->pair = pair;
    int64_t count[CLASSES] = {0};
    for (int64_t i = 0; i < n; i++)
        t->label[i] = (int32_t)(eh_random_u64(2, 40, (uint64_t)i) % (4 + unlabelled)) - unlabelled,
        t->row[i] = 3 * i + 1;
    for (int64_t j = 0; j < z; j++) count[t->other[j] = order[j % 5]]++;
    for (int k = 0; k < CLASSES; k++) t->weight[k] = count[k] ? 1 : 0;
    for (int64_t j = 0; j < z; j++) t->crowd[j] = pair ? 1 : (float)count[t->other[j]];
    return t;
}

static int64_t classes_of(const target_case *t)
{
    int64_t classes = 0;
    for (int k = 0; k < CLASSES; k++) classes += t->weight[k] != 0;
    return classes;
}

static twin make_targets(const target_case *t)
{
    twin P = make(t->n * t->z, 41, 1), label = sent(t->label, t->n, 4), other = sent(t->other, t->z, 4);
    twin rows = sent(t->row, t->n, 8), weight = from_host(t->weight, CLASSES), crowd = from_host(t->crowd, t->z);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        c->op->targets(c,
                       &(eh_targets){.n = t->n,
                                     .z = t->z,
                                     .label = T(label),
                                     .other_label = T(other),
                                     .weight = T(weight),
                                     .crowd = T(crowd),
                                     .smooth = t->smooth,
                                     .classes = classes_of(t),
                                     .with = &t->with,
                                     .rows = T(rows)},
                       T(P));
    }
    drop(label), drop(other), drop(rows), drop(weight), drop(crowd);
    return P;
}

/* P again, class by class: the distributions first, then what a compared point has of its class. */
static void plain_targets(const target_case *t, double *P)
{
    double count[CLASSES] = {0}, sum = 0, classes = (double)classes_of(t);
    for (int64_t j = 0; j < t->z; j++) count[t->other[j]]++;
    for (int64_t i = 0; i < t->n; i++) {
        uint32_t word[4];
        eh_philox(t->with.seed, EH_STREAM_MIX, t->with.pass << 44 ^ (uint64_t)t->row[i], 0, word);
        const double l = t->with.mix * ((word[0] >> 9) + 0.5) / (1 << 23);
        double pi[CLASSES] = {0};
        for (int side = 0; side < 2; side++) {
            const int32_t y = t->label[side ? (i + 1) % t->n : i];
            for (int k = 0; k < CLASSES && y >= 0; k++)
                if (count[k] > 0)
                    pi[k] += (side ? l : 1 - l) * t->weight[y] * ((1 - t->smooth) * (k == y) + t->smooth / classes);
        }
        for (int64_t j = 0; j < t->z; j++)
            sum += P[i * t->z + j] = t->pair ? pi[t->other[j]] : pi[t->other[j]] / count[t->other[j]];
    }
    for (int64_t k = 0; k < t->n * t->z && sum > 0; k++) P[k] /= sum;
}

static const int64_t TARGET_SHAPES[][2] = {{1, 1}, {1, 5}, {7, 13}, {300, 20}, {33, 300}, {130, 3}};

static void targets_match_their_definition(void **state)
{
    (void)state;
    for (int i = 0; i < 6 * 32; i++) {
        target_case *t = make_target_case(TARGET_SHAPES[i / 32][0], TARGET_SHAPES[i / 32][1], i & 1, i & 2);
        t->smooth = i & 4 ? 0.3 : 0;
        t->with = (eh_disturb){.mix = i & 8 ? 0.4 : 0, .seed = 77, .pass = 5};
        for (int k = 0; k < CLASSES && i & 16; k++) t->weight[k] *= 0.3f + 2.1f * (float)k;
        twin P = make_targets(t);
        agree(P, EXACT);
        double *want = malloc((size_t)(t->n * t->z) * sizeof *want), sum = 0, most = 0;
        plain_targets(t, want);
        for (int64_t k = 0; k < t->n * t->z; k++) {
            const double got = ((double *)P.ref)[k];
            assert_true(fabs(got - want[k]) < 1e-12 && got >= 0);
            sum += got, most = fmax(most, got);
        }
        assert_true(most == 0 || fabs(sum - 1) < 1e-12);
        assert_true(most > 0 || t->n == 1);
        free(want);
        drop(P);
        free(t);
    }
}

static void no_label_that_is_known_is_no_target(void **state)
{
    (void)state;
    target_case *t = make_target_case(7, 13, false, false);
    for (int i = 0; i < 7; i++) t->label[i] = i % 2 ? -1 : 3;
    t->smooth = 0.2, t->with.mix = 0.3;
    twin P = make_targets(t);
    agree(P, 0);
    for (int k = 0; k < 7 * 13; k++) assert_true(((double *)P.ref)[k] == 0);
    drop(P);
    free(t);
}

/* Losses and gradients by a target that is not soft are those by class, on every backend: of samples that have labels,
 * whether or not their class has a compared point. */
static void a_hard_target_is_the_one_by_class(void **state)
{
    (void)state;
    enum { h = 2 };
    static float Y[T_MOST * h], G[T_MOST * h];
    for (int i = 0; i < T_MOST * h; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < T_MOST * h; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 6 * 8; i++) {
        const bool row = i & 2, pair = i & 4 && !row; /* rows weigh the same in the row form */
        target_case *t = make_target_case(TARGET_SHAPES[i / 8][0], TARGET_SHAPES[i / 8][1], false, pair);
        const int64_t n = t->n, z = t->z;
        twin P = make_targets(t), y = from_host(Y, n * h), g = from_host(G, z * h);
        twin label = sent(t->label, n, 4), other = sent(t->other, z, 4), loss = room(2, 16, 16);
        twin dY[2] = {make(n * h, 18, 1), make(n * h, 18, 1)}, dG[2] = {make(z * h, 18, 1), make(z * h, 18, 1)};
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            float *mine[2][2];
            eh_value value[2];
            for (int soft = 0; soft < 2; soft++) {
                const eh_pairs p = {.gaussian = i & 1,
                                    .row = row,
                                    .indicator = i & 4,
                                    .n = n,
                                    .z = z,
                                    .h = h,
                                    .Y = T(y),
                                    .G = T(g),
                                    .label = T(label),
                                    .other_label = T(other),
                                    .P = soft ? T(P) : NULL};
                c->op->pairs(c, &p, T(loss), T(dY[soft]), T(dG[soft]));
                value[soft] = value_of(c, T(loss));
                mine[soft][0] = on_host(c, T(dY[soft]), n * h, 0), mine[soft][1] = on_host(c, T(dG[soft]), z * h, 0);
            }
            const double near = which == 1 ? 1e-7 : 2 * EXACT; /* gradients are read as floats */
            assert_true(fabs(value[0].value - value[1].value) < (which == 1 ? 1e-12 : near) * (1 + value[0].value));
            for (int side = 0; side < 2; side++) {
                double most = 1e-30, worst = 0;
                for (int64_t k = 0; k < (side ? z : n) * h; k++) {
                    most = fmax(most, fabs(mine[0][side][k]));
                    worst = fmax(worst, fabs(mine[0][side][k] - mine[1][side][k]));
                }
                if (worst > 2 * near * most) fail_msg("case %d on %s: %g of %g", i, c->op->name, worst, most);
                free(mine[0][side]), free(mine[1][side]);
            }
        }
        drop(P), drop(y), drop(g), drop(label), drop(other), drop(loss);
        drop(dY[0]), drop(dY[1]), drop(dG[0]), drop(dG[1]);
        free(t);
    }
}

/* Two compared points at +-1 and samples (u, v): u makes the ratio of a sample's q, v their size. Where q is a soft p, the
 * loss is 0. */
static void a_soft_loss_is_zero_where_q_is_p(void **state)
{
    (void)state;
    enum { n = 40 };
    static const float G[] = {1, 0, -1, 0};
    for (int i = 0; i < 4; i++) {
        target_case *t = make_target_case(n, 2, false, false);
        for (int k = 0; k < n; k++) t->label[k] = k % 3 == 1;
        t->smooth = 0.1, t->with.mix = i & 2 ? 0.4 : 0, t->weight[1] = 2.385f;
        twin P = make_targets(t);
        float Y[n * 2];
        for (int k = 0; k < n; k++) {
            const double *p = (double *)P.ref + 2 * k, u = log(p[0] / p[1]) / 4;
            Y[2 * k] = (float)u, Y[2 * k + 1] = (float)sqrt(10 - log(p[0] * n) - (u - 1) * (u - 1));
        }
        twin y = from_host(Y, 2 * n), g = from_host(G, 4), loss = room(1, 16, 16), dY = room(2 * n, 4, 8),
             dG = room(4, 4, 8);
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            const eh_pairs p = {
                .gaussian = true, .row = i & 1, .n = n, .z = 2, .h = 2, .Y = T(y), .G = T(g), .P = T(P)};
            c->op->pairs(c, &p, T(loss), T(dY), T(dG));
            const double value = value_of(c, T(loss)).value;
            if (!(fabs(value) < 1e-5)) fail_msg("case %d on %s: %g", i, c->op->name, value);
        }
        drop(P), drop(y), drop(g), drop(loss), drop(dY), drop(dG);
        free(t);
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
        twin Q = make(q * dims, 21, 1), R = make(r * dims, 22, 1), distance = make(q * k, 23, 1);
        twin index = room(q * k, sizeof(int64_t), sizeof(int64_t));
        ON_EACH(c->op->nearest(c, T(Q), q, T(R), r, dims, k, T(index), T(distance)));
        int64_t *mine = fetched(cpu, index.cpu, q * k, sizeof *mine);
        int64_t *again = fetched(one, index.one, q * k, sizeof *again);
        const int64_t *want = index.ref;
        float *near = on_host(cpu, distance.cpu, q * k, false);
        for (int64_t i = 0; i < q * k; i++) {
            const double wanted = ((double *)distance.ref)[i];
            assert_true(fabs(near[i] - wanted) <= 1e-5 * (1 + (double)dims));
            assert_true(i % k == 0 || near[i] >= near[i - 1]);
            assert_int_equal(mine[i], again[i]);
            /* another order only among distances that float cannot tell apart */
            if (mine[i] != want[i]) {
                double d = 0;
                for (int64_t t = 0; t < dims; t++) {
                    const double e = ((double *)Q.ref)[i / k * dims + t] - ((double *)R.ref)[mine[i] * dims + t];
                    d += e * e;
                }
                assert_true(fabs(d - wanted) <= 1e-5 * (1 + (double)dims));
            }
        }
        free(mine), free(again), free(near);
        drop(Q), drop(R), drop(distance), drop(index);
    }
}

/* Distances that a norm expansion about the origin would drown in rounding. */
static void nearest_rows_are_found_far_from_the_origin(void **state)
{
    (void)state;
    enum { q = 70, r = 1100, dims = 24, k = 3 };
    float *Q_host = malloc(sizeof *Q_host * q * dims), *R_host = malloc(sizeof *R_host * r * dims);
    for (int i = 0; i < q * dims; i++) Q_host[i] = (float)(1e4 + eh_random_normal(9, 1, (uint64_t)i));
    for (int i = 0; i < r * dims; i++) R_host[i] = (float)(1e4 + eh_random_normal(9, 2, (uint64_t)i));
    twin Q = from_host(Q_host, q * dims), R = from_host(R_host, r * dims), distance = make(q * k, 23, 1);
    twin index = room(q * k, sizeof(int64_t), sizeof(int64_t));
    ON_EACH(c->op->nearest(c, T(Q), q, T(R), r, dims, k, T(index), T(distance)));
    int64_t *got = fetched(cpu, index.cpu, q * k, sizeof *got), *want = index.ref;
    int other = 0;
    for (int i = 0; i < q * k; i++) other += got[i] != want[i];
    assert_true(other <= q * k / 50); /* but for near ties */
    free(Q_host), free(R_host), free(got);
    drop(Q), drop(R), drop(distance), drop(index);
}

/* Numbers that bfloat16 rounds all the same way, as far as it can: what is rough must not be taken for exact. */
static void the_nearest_row_is_found_where_rounding_is_worst(void **state)
{
    (void)state;
    enum { r = 300, dims = 512, twin_row = 200 };
    float *q = malloc(sizeof *q * dims), *rows = calloc((size_t)r * dims, sizeof *rows);
    for (int j = 0; j < dims; j++) q[j] = 1.0038f;
    for (int i = 1; i < r; i++)
        for (int j = 0; j < dims; j++) rows[i * dims + j] = i == 1 || i == twin_row ? q[j] : 10 + (float)i;
    rows[dims] += 1;
    const twin Q = from_host(q, dims), R = from_host(rows, (int64_t)r * dims), d = make(1, 1, 1);
    const twin index = room(1, sizeof(int64_t), sizeof(int64_t));
    ON_EACH(c->op->nearest(c, T(Q), 1, T(R), r, dims, 1, T(index), T(d)));
    int64_t *found = fetched(cpu, index.cpu, 1, sizeof *found);
    assert_int_equal(*found, twin_row);
    free(found), free(q), free(rows);
    drop(Q), drop(R), drop(index), drop(d);
}

static void equal_distances_are_ordered_by_index(void **state)
{
    (void)state;
    for (int dims = 1; dims <= 20; dims += 19) {
        float same[40 * 20] = {0}, far[20] = {0};
        far[0] = 2;
        twin R = from_host(same, 40 * dims), Q = from_host(far, dims), distance = make(5, 23, 1);
        twin index = room(5, sizeof(int64_t), sizeof(int64_t));
        ON_EACH(c->op->nearest(c, T(Q), 1, T(R), 40, dims, 5, T(index), T(distance)));
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            int64_t *found = fetched(c, T(index), 5, sizeof *found);
            float *near = on_host(c, T(distance), 5, false);
            for (int i = 0; i < 5; i++) assert_true(found[i] == i && near[i] == 4);
            free(found), free(near);
        }
        drop(R), drop(Q), drop(distance), drop(index);
    }
}

/* ---- votes ---- */

static void the_majority_wins_and_ties_go_to_the_nearest(void **state)
{
    (void)state;
    static const int32_t label[] = {2, 0, 1, 0, 2, 1, 3};
    static const struct {
        int64_t index[6], k;
        int32_t winner;
    } cases[] = {
        {{6}, 1, 3},
        {{2, 1, 3}, 3, 0},
        {{2, 1}, 2, 1},
        {{0, 1, 3, 4}, 4, 2},
        {{6, 1, 0, 4, 3}, 5, 0},
        {{6, 0, 1, 3, 4}, 5, 2},
        {{5, 0, 2, 4, 1, 3}, 6, 1},
        {{6, 4, 1, 2}, 4, 3},
        {{6, 4, 1, 3, 5, 2}, 6, 0},
    };
    twin labels = sent(label, 7, sizeof *label);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        twin index = sent(cases[i].index, cases[i].k, sizeof(int64_t)), won = room(1, sizeof *label, sizeof *label);
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            c->op->vote(c, T(index), 1, cases[i].k, T(labels), T(won));
            int32_t *winner = fetched(c, T(won), 1, sizeof *winner);
            assert_int_equal(*winner, cases[i].winner);
            free(winner);
        }
        drop(index), drop(won);
    }
    drop(labels);
}

/* Against counts by class, the way it was done when there was room for them. */
static int32_t plain_vote(const int64_t *index, int64_t k, const int32_t *label)
{
    int32_t votes[5] = {0}, most = 0;
    for (int64_t j = 0; j < k; j++)
        if (++votes[label[index[j]]] > most) most = votes[label[index[j]]];
    int64_t first = 0;
    while (votes[label[index[first]]] < most) first++;
    return label[index[first]];
}

static void many_votes_are_counted_alike(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {7, 13}, {3001, 5}, {20, 257}, {0, 3}};
    enum { r = 301 };
    int32_t label[r];
    for (int j = 0; j < r; j++) label[j] = (int32_t)(eh_random_u64(2, 31, (uint64_t)j) % 5);
    twin labels = sent(label, r, sizeof *label);
    for (int s = 0; s < 5; s++) {
        const int64_t q = shapes[s][0], k = shapes[s][1];
        int64_t *index = malloc((size_t)(q * k + 1) * sizeof *index);
        for (int64_t i = 0; i < q * k; i++) index[i] = (int64_t)(eh_random_u64(2, 32, (uint64_t)i) % r);
        twin rows = sent(index, q * k, sizeof *index), won = room(q, sizeof *label, sizeof *label);
        ON_EACH(c->op->vote(c, T(rows), q, k, T(labels), T(won)));
        int32_t *winner = fetched(cpu, won.cpu, q, sizeof *winner);
        for (int64_t i = 0; i < q; i++) assert_int_equal(winner[i], plain_vote(index + i * k, k, label));
        assert_memory_equal(winner, won.ref, (size_t)q * sizeof *winner);
        free(winner), free(index);
        drop(rows), drop(won);
    }
    drop(labels);
}

/* ---- room ---- */

static void memory_that_is_not_there_is_refused_with_a_sentence(void **state)
{
    (void)state;
    static const int64_t counts[] = {-1, INT64_C(1) << 61, INT64_C(1) << 50};
    const char *start =
        cpu->op->room ? "out of memory on the CUDA device: a test needs " : "out of memory: a test needs ";
    for (int i = 0; i < 3; i++) {
        eh_real *v = NULL;
        assert_int_equal(eh_compute_new(cpu, ctx, "a test", counts[i], 16, &v), ENHOPE_ERROR_MEMORY);
        assert_null(v);
        assert_memory_equal(enhope_error(ctx), start, strlen(start));
    }
}

/* Opens the backend under test twice, and runs the group on it. */
static int run_on(const char *device, const char *precision, double product_tolerance)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_as_they_were_sent),
        cmocka_unit_test(elementwise_operations_agree),
        cmocka_unit_test(column_sums_agree),
        cmocka_unit_test(means_of_vectors_and_losses_agree),
        cmocka_unit_test(adam_steps_agree),
        cmocka_unit_test(adam_leaves_out_what_is_not_finite),
        cmocka_unit_test(sums_of_products_agree_for_every_transpose_and_stride),
        cmocka_unit_test(products_agree_for_every_finish_transpose_and_output),
        cmocka_unit_test(orders_change_at_any_column),
        cmocka_unit_test(a_power_may_take_the_place_of_the_product),
        cmocka_unit_test(the_gradient_behind_an_output_layer_agrees),
        cmocka_unit_test(rows_are_closed_with_a_one_and_zeros),
        cmocka_unit_test(rows_climb_along_their_gradients),
        cmocka_unit_test(rows_gather_scaled_from_every_kind),
        cmocka_unit_test(philox_gives_the_published_words),
        cmocka_unit_test(disturbed_rows_agree_and_are_their_own),
        cmocka_unit_test(noise_is_normal_and_each_number_is_its_own),
        cmocka_unit_test(inputs_are_dropped_at_their_rate_and_keep_their_mean),
        cmocka_unit_test(moved_images_agree_and_are_their_own),
        cmocka_unit_test(mixed_rows_agree_and_are_made_of_two),
        cmocka_unit_test(mixed_rows_are_disturbed_like_others),
        cmocka_unit_test(parts_of_partners_are_uniform),
        cmocka_unit_test(neighbour_problems_agree_in_every_combination),
        cmocka_unit_test(given_problems_agree_in_every_combination),
        cmocka_unit_test(points_far_from_all_others_have_finite_gradients),
        cmocka_unit_test(students_farther_than_a_float_s_w_have_finite_gradients),
        cmocka_unit_test(without_a_target_there_is_no_loss_and_no_gradient),
        cmocka_unit_test(an_embedding_that_is_not_finite_has_no_loss),
        cmocka_unit_test(large_margin_problems_agree),
        cmocka_unit_test(a_large_margin_embedding_that_is_not_finite_has_no_loss),
        cmocka_unit_test(affinities_match_their_definition),
        cmocka_unit_test(affinities_bear_rows_that_are_the_same),
        cmocka_unit_test(targets_match_their_definition),
        cmocka_unit_test(no_label_that_is_known_is_no_target),
        cmocka_unit_test(a_hard_target_is_the_one_by_class),
        cmocka_unit_test(a_soft_loss_is_zero_where_q_is_p),
        cmocka_unit_test(nearest_rows_agree_in_few_and_many_dimensions),
        cmocka_unit_test(nearest_rows_are_found_far_from_the_origin),
        cmocka_unit_test(the_nearest_row_is_found_where_rounding_is_worst),
        cmocka_unit_test(equal_distances_are_ordered_by_index),
        cmocka_unit_test(the_majority_wins_and_ties_go_to_the_nearest),
        cmocka_unit_test(many_votes_are_counted_alike),
        cmocka_unit_test(memory_that_is_not_there_is_refused_with_a_sentence),
    };
    char name[64];
    snprintf(name, sizeof name, "%s %s", device, precision);
    tolerance = product_tolerance;
    enhope_context_set_device(ctx, device);
    enhope_context_set_precision(ctx, precision);
    enhope_context_set_threads(ctx, 3);
    if (eh_compute_open(ctx, false, &cpu)) {
        printf("%s: skipped: no CUDA device (%s)\n", name, enhope_error(ctx));
        return strcmp(device, "cuda") != 0;
    }
    enhope_context_set_threads(ctx, 1);
    int failed = eh_compute_open(ctx, false, &one) != ENHOPE_OK;
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
    enhope_context_set_device(ctx, "ref");
    if (eh_compute_open(ctx, false, &ref)) return 1;
    const int failed = run_on("cuda", "fp32", EXACT) + run_on("cuda", "tf32", 4e-3) + run_on("cuda", "bf16", 3e-2) +
                       run_on("cpu", "fp32", EXACT);
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return failed;
}
