/* The optimizers on functions with known minima, in double (ref) and in float (cpu). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "optim/optim.h"
#include "memory_support.h"

enum { MAX_VARIABLES = 16 }; /* variables of a test function */

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- functions: value, and gradient into g ---- */

typedef double (*test_function)(int n, const double *x, double *g);

static double rosenbrock(int n, const double *x, double *g)
{
    double value = 0;
    for (int i = 0; i < n; i++) g[i] = 0;
    for (int i = 0; i + 1 < n; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        value += 100 * a * a + b * b;
        g[i] += -400 * x[i] * a - 2 * b;
        g[i + 1] += 200 * a;
    }
    return value;
}

static const double quadratic_minimum[8] = {0.37, -1.21, 2.385, 0.04, -3.3, 1.7, -0.66, 0.91};

/* (x - s)^T A (x - s) / 2 with A = D T D, T tridiagonal (2, -0.9), D from 1 to 30: condition above
 * 10^4 */
static double quadratic(int n, const double *x, double *g)
{
    double scaled[MAX_VARIABLES], product[MAX_VARIABLES], value = 0;
    for (int i = 0; i < n; i++) scaled[i] = pow(30, i / (n - 1.0)) * (x[i] - quadratic_minimum[i]);
    for (int i = 0; i < n; i++) {
        product[i] = 2 * scaled[i];
        if (i > 0) product[i] -= 0.9 * scaled[i - 1];
        if (i + 1 < n) product[i] -= 0.9 * scaled[i + 1];
        value += 0.5 * product[i] * scaled[i];
        g[i] = 0;
    }
    for (int i = 0; i < n; i++) g[i] = pow(30, i / (n - 1.0)) * product[i];
    return value;
}

static double beale(int n, const double *x, double *g)
{
    static const double y[3] = {1.5, 2.25, 2.625};
    double value = 0, power = 1;
    (void)n;
    g[0] = g[1] = 0;
    for (int i = 0; i < 3; i++) {
        const double before = power;
        power *= x[1];
        const double r = y[i] - x[0] * (1 - power);
        value += r * r;
        g[0] -= 2 * r * (1 - power);
        g[1] += 2 * r * x[0] * (i + 1) * before;
    }
    return value;
}

static double wood(int n, const double *x, double *g)
{
    (void)n;
    const double a = x[1] - x[0] * x[0], b = 1 - x[0], c = x[3] - x[2] * x[2], d = 1 - x[2];
    const double e = x[1] + x[3] - 2, h = x[1] - x[3];
    g[0] = -400 * a * x[0] - 2 * b;
    g[1] = 200 * a + 20 * e + 0.2 * h;
    g[2] = -360 * c * x[2] - 2 * d;
    g[3] = 180 * c + 20 * e - 0.2 * h;
    return 100 * a * a + b * b + 90 * c * c + d * d + 10 * e * e + 0.1 * h * h;
}

static double helical(int n, const double *x, double *g)
{
    (void)n;
    const double turn = 2 * acos(-1.0), square = x[0] * x[0] + x[1] * x[1], radius = sqrt(square);
    const double theta = atan2(x[1], x[0]) / turn, a = 10 * (x[2] - 10 * theta), b = 10 * (radius - 1);
    g[0] = 200 * a * x[1] / square / turn + 20 * b * x[0] / radius;
    g[1] = -200 * a * x[0] / square / turn + 20 * b * x[1] / radius;
    g[2] = 20 * a + 2 * x[2];
    return a * a + b * b + x[2] * x[2];
}

/* several minima along any line */
static double wavy(int n, const double *x, double *g)
{
    double value = 0;
    for (int i = 0; i < n; i++) {
        value += 0.05 * x[i] * x[i] + sin(5.3 * x[i] + i);
        g[i] = 0.1 * x[i] + 5.3 * cos(5.3 * x[i] + i);
    }
    return value;
}

/* sum a_i x_i - log x_i: NaN for negative x; minima at 1 / a_i */
static double barrier(int n, const double *x, double *g)
{
    double value = 0;
    for (int i = 0; i < n; i++) {
        const double a = 5 + 0.7 * i;
        value += a * x[i] - log(x[i]);
        g[i] = a - 1 / x[i];
    }
    for (int i = 0; i < n; i++)
        if (x[i] <= 0) value = NAN;
    return value;
}

/* descends all the way to a jump at 1.37 */
static double cliff(int n, const double *x, double *g)
{
    (void)n;
    g[0] = -1;
    return x[0] < 1.37 ? -x[0] : INFINITY;
}

/* finite at 0.25 only */
static double needle(int n, const double *x, double *g)
{
    (void)n;
    g[0] = 2.385;
    return x[0] == 0.25 ? 1.7 : INFINITY;
}

static double flat(int n, const double *x, double *g)
{
    (void)x;
    for (int i = 0; i < n; i++) g[i] = 0;
    return 4.2;
}

static double always_nan(int n, const double *x, double *g)
{
    flat(n, x, g);
    return NAN;
}

/* ---- a function on vectors of the backend that counts its calls ---- */

typedef struct problem {
    eh_compute *c;
    int n;
    test_function f;
    int64_t calls;
    double lowest;    /* lowest value so far */
    int64_t arrived;  /* calls until the value was below 1e-6; 0: never */
    double nonfinite; /* flag stored with each value */
} problem;

static void get(const eh_compute *c, const eh_real *v, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        if (c->op->real_size == sizeof(double))
            memcpy(out + i, eh_at(c, v, i), sizeof(double));
        else {
            float x;
            memcpy(&x, eh_at(c, v, i), sizeof x);
            out[i] = x;
        }
    }
}

static void set(const eh_compute *c, eh_real *v, int n, const double *from)
{
    for (int i = 0; i < n; i++) {
        const float x = (float)from[i];
        if (c->op->real_size == sizeof(double))
            memcpy(eh_at(c, v, i), from + i, sizeof(double));
        else
            memcpy(eh_at(c, v, i), &x, sizeof x);
    }
}

static void call(void *user, const eh_real *x, eh_real *gradient, eh_loss *to)
{
    problem *p = user;
    double at[MAX_VARIABLES], g[MAX_VARIABLES];
    get(p->c, x, p->n, at);
    const double value = p->f(p->n, at, g);
    set(p->c, gradient, p->n, g);
    p->calls++;
    if (value < p->lowest) p->lowest = value;
    if (!p->arrived && value < 1e-6) p->arrived = p->calls;
    p->c->op->send(p->c, to, &(eh_loss_value){.value = value, .nonfinite = p->nonfinite}, sizeof(eh_loss_value));
}

/* ---- one optimizer on one backend ---- */

typedef struct bench {
    enhope_context *ctx;
    eh_compute *c;
    eh_optim *o;
    eh_real *x;
    eh_loss *value;
    problem p;
} bench;

static bench bench_open(const char *backend, const eh_optim_type *solver, const eh_optim_settings *settings,
                        test_function f, int n, const double *start)
{
    bench b = {.ctx = enhope_context_create()};
    assert_non_null(b.ctx);
    assert_int_equal(enhope_context_set_device(b.ctx, backend), ENHOPE_OK);
    assert_int_equal(eh_compute_open(b.ctx, false, &b.c), ENHOPE_OK);
    assert_int_equal(eh_optim_create(b.ctx, b.c, solver, settings, n, &b.o), ENHOPE_OK);
    assert_int_equal(eh_compute_new(b.c, b.ctx, "x", n, b.c->op->real_size, &b.x), ENHOPE_OK);
    assert_int_equal(eh_compute_new(b.c, b.ctx, "value", 1, sizeof(eh_loss_value), &b.value), ENHOPE_OK);
    set(b.c, b.x, n, start);
    b.p = (problem){.c = b.c, .n = n, .f = f, .lowest = INFINITY};
    return b;
}

static double bench_run(bench *b)
{
    eh_loss_value v;
    b->o->type->run(b->o, call, &b->p, b->x, b->value);
    b->c->op->fetch(b->c, &v, b->value, sizeof v);
    return v.nonfinite != 0 ? NAN : v.value;
}

static void bench_close(bench *b)
{
    eh_optim_free(b->o);
    b->c->op->release(b->c, b->x);
    b->c->op->release(b->c, b->value);
    eh_compute_close(b->c);
    enhope_context_free(b->ctx);
}

static double value_at(const bench *b)
{
    double at[MAX_VARIABLES], g[MAX_VARIABLES];
    get(b->c, b->x, b->p.n, at);
    return b->p.f(b->p.n, at, g);
}

static const char *const backends[] = {"ref", "cpu"};
static const eh_optim_type *const searchers[] = {&eh_optim_cg, &eh_optim_lbfgs};

/* evaluations: the maximum for cg and lbfgs until the value, 0 at the minimum, is below 1e-6; three
 * times as many in float, where directions soon lose their conjugacy */
static const struct {
    const char *name;
    test_function f;
    int n;
    double start[MAX_VARIABLES], minimum[MAX_VARIABLES];
    double float_tolerance;
    int64_t evaluations;
} classics[] = {
    {"rosenbrock", rosenbrock, 2, {-1.2, 1}, {1, 1}, 1e-3, 100},
    {"chained rosenbrock",
     rosenbrock,
     10,
     {-1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1},
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     2e-3,
     400},
    {"quadratic",
     quadratic,
     8,
     {1.1, 0.3, -2.7, 4.4, 0.8, -1.9, 2.2, 5.1},
     {0.37, -1.21, 2.385, 0.04, -3.3, 1.7, -0.66, 0.91},
     1e-4,
     120},
    {"beale", beale, 2, {1, 1}, {3, 0.5}, 1e-3, 60},
    {"wood", wood, 4, {-3, -1, -3, -1}, {1, 1, 1, 1}, 3e-3, 400},
    {"helical valley", helical, 3, {-1, 0.01, 0}, {1, 0, 0}, 1e-3, 120},
};
enum { CLASSICS = sizeof classics / sizeof *classics };

static void cg_and_lbfgs_find_known_minima(void **state)
{
    (void)state;
    for (size_t i = 0; i < CLASSICS; i++)
        for (size_t s = 0; s < 2; s++)
            for (size_t k = 0; k < 2; k++) {
                const eh_optim_settings settings = {.iterations = 2000, .memory = 7};
                bench b =
                    bench_open(backends[k], searchers[s], &settings, classics[i].f, classics[i].n, classics[i].start);
                const double value = bench_run(&b);
                double x[MAX_VARIABLES];
                get(b.c, b.x, b.p.n, x);
                const double tolerance = k == 0 ? 1e-6 : classics[i].float_tolerance;
                for (int j = 0; j < b.p.n; j++)
                    if (!(fabs(x[j] - classics[i].minimum[j]) < tolerance))
                        fail_msg("%s, %s, %s: x[%d] = %.9g after %lld evaluations, value %g", classics[i].name,
                                 searchers[s]->name, backends[k], j, x[j], (long long)b.p.calls, value);
                if (b.p.arrived > (k == 0 ? 1 : 3) * classics[i].evaluations)
                    fail_msg("%s, %s, %s: %lld evaluations to 1e-6", classics[i].name, searchers[s]->name, backends[k],
                             (long long)b.p.arrived);
                assert_int_equal(b.o->evaluations, b.p.calls);
                assert_false(b.o->stuck);
                bench_close(&b);
            }
}

static void value_never_rises_and_x_is_the_lowest_point(void **state)
{
    (void)state;
    const double start[3] = {2.2, -1.3, 0.4};
    for (size_t i = 0; i <= CLASSICS; i++)
        for (size_t s = 0; s < 2; s++)
            for (size_t k = 0; k < 2; k++) {
                const eh_optim_settings settings = {.iterations = 3, .memory = 4};
                bench b = i < CLASSICS ? bench_open(backends[k], searchers[s], &settings, classics[i].f, classics[i].n,
                                                    classics[i].start)
                                       : bench_open(backends[k], searchers[s], &settings, wavy, 3, start);
                double before = value_at(&b);
                for (int run = 0; run < 12; run++) {
                    const double value = bench_run(&b);
                    assert_true(value <= before);
                    assert_true(value == value_at(&b));
                    assert_true(value == b.p.lowest);
                    assert_int_equal(b.o->stuck, value == before);
                    before = value;
                }
                bench_close(&b);
            }
}

static void each_run_of_cg_and_lbfgs_starts_anew(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        const eh_optim_settings settings = {.iterations = 5, .memory = 3};
        bench used = bench_open("ref", searchers[s], &settings, wood, 4, classics[4].start);
        bench fresh = bench_open("ref", searchers[s], &settings, rosenbrock, 4, classics[4].start);
        bench_run(&used);
        const int64_t before = used.o->evaluations;
        used.p.f = rosenbrock;
        set(used.c, used.x, 4, classics[4].start);
        assert_true(bench_run(&used) == bench_run(&fresh));
        assert_memory_equal(used.x, fresh.x, 4 * sizeof(double));
        assert_int_equal(used.o->evaluations - before, fresh.o->evaluations);
        bench_close(&used);
        bench_close(&fresh);
    }
}

static void line_search_bisects_away_from_points_not_finite(void **state)
{
    (void)state;
    const double start[3] = {0.3, 0.27, 0.41};
    for (size_t s = 0; s < 2; s++)
        for (size_t k = 0; k < 2; k++) {
            const eh_optim_settings settings = {.iterations = 60, .memory = 5};
            bench b = bench_open(backends[k], searchers[s], &settings, barrier, 3, start);
            bench_run(&b);
            double x[3];
            get(b.c, b.x, 3, x);
            for (int i = 0; i < 3; i++) assert_near(x[i], 1 / (5 + 0.7 * i), k == 0 ? 1e-6 : 1e-4);
            bench_close(&b);

            const double far = -2.6;
            b = bench_open(backends[k], searchers[s], &settings, cliff, 1, &far);
            const double value = bench_run(&b);
            assert_true(isfinite(value));
            assert_near(value, -1.37, 1e-4);
            assert_true(value == value_at(&b));
            bench_close(&b);
        }
}

static void runs_without_descent_are_stuck_and_keep_x(void **state)
{
    (void)state;
    /* a line search has 20 evaluations and is tried twice */
    const struct {
        test_function f;
        double value;
        int64_t evaluations;
    } cases[] = {{needle, 1.7, 41}, {flat, 4.2, 1}, {always_nan, NAN, 1}};
    const double start = 0.25;
    for (size_t i = 0; i < 3; i++)
        for (size_t s = 0; s < 2; s++)
            for (size_t k = 0; k < 2; k++) {
                const eh_optim_settings settings = {.iterations = 30, .memory = 2};
                bench b = bench_open(backends[k], searchers[s], &settings, cases[i].f, 1, &start);
                const double value = bench_run(&b);
                double x;
                get(b.c, b.x, 1, &x);
                assert_true(b.o->stuck);
                assert_true(x == start);
                assert_true(isnan(cases[i].value) ? isnan(value) : value == cases[i].value);
                assert_int_equal(b.p.calls, cases[i].evaluations);
                assert_int_equal(b.o->evaluations, cases[i].evaluations);
                bench_close(&b);
            }
}

static void a_run_of_no_iterations_only_evaluates(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.iterations = 0};
    bench b = bench_open("ref", &eh_optim_cg, &settings, beale, 2, classics[3].start);
    const double value = bench_run(&b);
    assert_true(value == value_at(&b));
    assert_int_equal(b.o->evaluations, 1);
    assert_true(b.o->stuck);
    bench_close(&b);
}

static void lbfgs_without_memory_descends(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.iterations = 300};
    bench b = bench_open("ref", &eh_optim_lbfgs, &settings, quadratic, 8, classics[2].start);
    const double before = value_at(&b), value = bench_run(&b);
    assert_true(value < 0.01 * before);
    bench_close(&b);
}

static void adam_follows_its_schedule(void **state)
{
    (void)state;
    const eh_optim_settings settings = {
        .iterations = 3, .rate = 0.037, .beta1 = 0.87, .beta2 = 0.983, .epsilon = 1e-7, .warmup = 5, .total = 22};
    for (size_t k = 0; k < 2; k++) {
        bench b = bench_open(backends[k], &eh_optim_adam, &settings, beale, 2, classics[3].start);
        double x[2] = {1, 1}, m1[2] = {0}, m2[2] = {0}, value = 0;
        for (int run = 0; run < 8; run++) { /* 24 steps: two after the end */
            const double got = bench_run(&b);
            for (int i = 0; i < 3; i++) {
                const int t = 3 * run + i;
                double g[2], rate = 0.037;
                value = beale(2, x, g);
                if (t < 5) rate *= (t + 1) / 5.0;
                rate *= t < 22 ? (1 + cos(acos(-1.0) * t / 22)) / 2 : 0;
                for (int j = 0; j < 2; j++) {
                    m1[j] = 0.87 * m1[j] + (1 - 0.87) * g[j];
                    m2[j] = 0.983 * m2[j] + (1 - 0.983) * g[j] * g[j];
                    x[j] -= rate * (m1[j] / (1 - pow(0.87, t + 1))) / (sqrt(m2[j] / (1 - pow(0.983, t + 1))) + 1e-7);
                }
            }
            double at[2];
            get(b.c, b.x, 2, at);
            for (int j = 0; j < 2; j++) assert_near(at[j], x[j], k == 0 ? 1e-12 : 1e-5);
            assert_near(got, value, k == 0 ? 1e-12 : 1e-4);
            assert_int_equal(b.o->step, 3 * run + 3);
            assert_int_equal(b.p.calls, 3 * run + 3); /* one evaluation per step */
            assert_int_equal(b.o->evaluations, b.p.calls);
            assert_false(b.o->stuck);
        }
        bench_close(&b);
    }
}

static void adam_without_warmup_and_cosine_keeps_its_rate_and_converges(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const eh_optim_settings first = {.iterations = 1, .rate = 0.125, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-12};
        bench b = bench_open(backends[k], &eh_optim_adam, &first, beale, 2, classics[3].start);
        bench_run(&b);
        double x[MAX_VARIABLES];
        get(b.c, b.x, 2, x);
        assert_near(x[0], 1, 1e-7); /* the slope is 0 there at (1, 1) */
        assert_near(x[1], 1 - 0.125, 1e-6);
        bench_close(&b);

        const eh_optim_settings whole = {.iterations = 4000,
                                         .rate = 0.05,
                                         .beta1 = 0.9,
                                         .beta2 = 0.99,
                                         .epsilon = 1e-8,
                                         .warmup = 50,
                                         .total = 4000};
        for (size_t i = 0; i < CLASSICS; i++) {
            b = bench_open(backends[k], &eh_optim_adam, &whole, classics[i].f, classics[i].n, classics[i].start);
            const double before = value_at(&b);
            bench_run(&b);
            assert_true(value_at(&b) < 0.05 * before);
            if (classics[i].f == quadratic) {
                get(b.c, b.x, 8, x);
                for (int j = 0; j < 8; j++) assert_near(x[j], quadratic_minimum[j], 1e-3);
            }
            bench_close(&b);
        }
    }
}

static void adam_skips_values_that_are_not_finite(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.iterations = 4, .rate = 0.1, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8};
    for (size_t k = 0; k < 2; k++) {
        const double start = -0.35;
        double x;
        bench b = bench_open(backends[k], &eh_optim_adam, &settings, barrier, 1, &start);
        assert_true(isnan(bench_run(&b)));
        get(b.c, b.x, 1, &x);
        assert_near(x, start, 1e-7);
        assert_int_equal(b.o->evaluations, 4); /* adam cannot detect it and continues */
        const double inside = 0.35;            /* the moments are still finite */
        set(b.c, b.x, 1, &inside);
        assert_true(isfinite(bench_run(&b)));
        assert_int_equal(b.o->step, 8);
        bench_close(&b);
    }
}

/* the second gradient is not finite while x[1] < 1 */
static double half_bad(int n, const double *x, double *g)
{
    (void)n;
    g[0] = 0.5;
    g[1] = x[1] < 1 ? INFINITY : -0.5;
    return x[0] - x[1];
}

static void adam_skips_and_reports_gradients_that_are_not_finite(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.iterations = 1, .rate = 0.125, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-12};
    for (size_t k = 0; k < 2; k++) {
        const double start[2] = {0.5, 0.25};
        double x[2];
        bench b = bench_open(backends[k], &eh_optim_adam, &settings, half_bad, 2, start);
        assert_true(isnan(bench_run(&b))); /* marked as not finite */
        get(b.c, b.x, 2, x);
        assert_near(x[0], 0.5 - 0.125, 1e-6);
        assert_true(x[1] == 0.25);
        const double after[2] = {0.5, 1.25};
        set(b.c, b.x, 2, after);
        assert_true(bench_run(&b) == -0.75);
        get(b.c, b.x, 2, x);
        assert_true(x[1] > 1.25);
        bench_close(&b);
    }
}

static void line_search_treats_nonfinite_flag_as_nan(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.iterations = 4, .memory = 3};
    for (size_t s = 0; s < 2; s++) {
        bench b = bench_open("ref", searchers[s], &settings, beale, 2, classics[3].start);
        b.p.nonfinite = 1;
        assert_true(isnan(bench_run(&b)));
        assert_true(b.o->stuck && b.p.calls == 1);
        bench_close(&b);
    }
}

/* ---- creation ---- */

typedef struct solver {
    enhope_context *ctx;
    eh_compute *c;
} solver;

static enhope_status create_solver(void *user)
{
    const eh_optim_settings settings = {.memory = 3};
    const solver *s = user;
    eh_optim *o = NULL;
    const enhope_status status = eh_optim_create(s->ctx, s->c, &eh_optim_lbfgs, &settings, 11, &o);
    assert_true(!o == (status != ENHOPE_OK));
    eh_optim_free(o);
    return status;
}

static void creation_survives_every_failed_allocation(void **state)
{
    (void)state;
    const eh_optim_settings settings = {.memory = 3};
    solver s = {.ctx = enhope_context_create()};
    assert_int_equal(enhope_context_set_device(s.ctx, "ref"), ENHOPE_OK);
    assert_int_equal(eh_compute_open(s.ctx, false, &s.c), ENHOPE_OK);
    assert_int_equal(fail_allocations(s.ctx, create_solver, &s, 1), 4);
    eh_optim_free(NULL);

    eh_optim *o = NULL;
    assert_int_equal(eh_optim_create(s.ctx, s.c, &eh_optim_cg, &settings, INT64_MAX / 4, &o), ENHOPE_ERROR_ARGUMENT);
    assert_null(o);
    assert_string_equal(enhope_error(s.ctx), "solver cg: 5 vectors of 2305843009213693951 numbers: expected a product "
                                             "below 2^63");
    eh_compute_close(s.c);
    enhope_context_free(s.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cg_and_lbfgs_find_known_minima),
        cmocka_unit_test(value_never_rises_and_x_is_the_lowest_point),
        cmocka_unit_test(each_run_of_cg_and_lbfgs_starts_anew),
        cmocka_unit_test(line_search_bisects_away_from_points_not_finite),
        cmocka_unit_test(runs_without_descent_are_stuck_and_keep_x),
        cmocka_unit_test(a_run_of_no_iterations_only_evaluates),
        cmocka_unit_test(lbfgs_without_memory_descends),
        cmocka_unit_test(adam_follows_its_schedule),
        cmocka_unit_test(adam_without_warmup_and_cosine_keeps_its_rate_and_converges),
        cmocka_unit_test(adam_skips_values_that_are_not_finite),
        cmocka_unit_test(adam_skips_and_reports_gradients_that_are_not_finite),
        cmocka_unit_test(line_search_treats_nonfinite_flag_as_nan),
        cmocka_unit_test(creation_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests_name("optim", tests, NULL, NULL);
}
