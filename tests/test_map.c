/* The maps: a case computed by hand, every gradient against central differences in double, and
 * invariances. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "map/map.h"

static enhope_context *ctx;
static eh_compute *ref;

#define R(p) ((eh_real *)(p))
#define O(p) ((eh_packed *)(p)) /* packed elements are scalars in ref */

static void one_input_matches_the_case_by_hand(void **state)
{
    (void)state;
    const eh_map_shape s = {.H = 1, .h = 1, .F = 1, .m = 1, .order = 2};
    double theta[] = {.5, -.25, 2, -1, 3}, X[] = {2, 1}, work[32], y, dy = 1, d[5], dx;
    const eh_rows rows = {.X = O(X), .ld = 2, .dense_n = 1};
    assert_int_equal(eh_map_parameters(&eh_map_hope, &s), 5);
    assert_int_equal(eh_map_hope.work(&s, ref, 1, true), 32); /* four vectors of one cache line each */
    eh_map_hope.forward(&s, ref, R(theta), &rows, R(work), R(&y), true);
    assert_true(fabs(y - 1.5936281201) < 1e-9);
    eh_map_hope.backward(&s, ref, R(theta), &rows, R(work), R(&dy),
                         &(eh_map_chunks){.count = 1, .start = (int64_t[]){0, 1}, .dtheta = R(d)}, 1, R(&dx));
    const double want[] = {4.4824675502, 2.2412337751, .4202313328, .7470779250, .5312093734};
    for (int i = 0; i < 5; i++) assert_true(fabs(d[i] - want[i]) < 1e-9);
    assert_true(fabs(dx - 1.1206168876) < 1e-9);
}

/* ---- gradients: the scalar sum_ik r_ik y_ik with fixed irregular r represents any objective
 * ---- */

enum { H = 5, DENSE = 4, SPARSE = 3, MAX_THETA = 400, MAX_Y = 64, MAX_WORK = 2048 };

typedef struct problem {
    const eh_map *map;
    eh_map_shape s;
    eh_rows rows;
    double X[DENSE * (H + 2)];
    double theta[MAX_THETA];
    double weight[MAX_Y];
} problem;

static double value(problem *p, double *work)
{
    double Y[MAX_Y], again[MAX_Y], sum = 0;
    p->map->forward(&p->s, ref, R(p->theta), &p->rows, R(work), R(again), false);
    p->map->forward(&p->s, ref, R(p->theta), &p->rows, R(work), R(Y), true);
    for (int64_t i = 0; i < (p->rows.sparse_n + p->rows.dense_n) * p->s.h; i++) {
        assert_true(Y[i] == again[i]); /* with and without keep */
        sum += p->weight[i] * Y[i];
    }
    return sum;
}

static double slope(problem *p, double *x)
{
    const double kept = *x, step = 1e-5;
    double work[MAX_WORK];
    *x = kept + step;
    const double up = value(p, work);
    *x = kept - step;
    const double down = value(p, work);
    *x = kept;
    return (up - down) / (2 * step);
}

static void check_gradient(problem *p)
{
    double work[MAX_WORK], dtheta[MAX_THETA], dX[DENSE * H];
    const int64_t P = eh_map_parameters(p->map, &p->s), dx_n = p->rows.dense_n ? p->rows.dense_n - 1 : 0;
    assert_true(P <= MAX_THETA && p->map->work(&p->s, ref, SPARSE + DENSE, true) <= MAX_WORK);
    assert_true(p->map->work(&p->s, ref, SPARSE + DENSE, false) <= p->map->work(&p->s, ref, SPARSE + DENSE, true));
    for (int64_t i = 0; i < P; i++) p->theta[i] = 0.6 * eh_random_normal(3, 1, (uint64_t)i), dtheta[i] = 7.7;
    for (int64_t i = 0; i < MAX_Y; i++) p->weight[i] = eh_random_normal(3, 2, (uint64_t)i);
    value(p, work);
    /* three chunks, one of them with sparse and dense rows if there are both */
    const int64_t n = p->rows.sparse_n + p->rows.dense_n, start[] = {0, n / 3, n - 1, n};
    const eh_map_chunks parts = {.count = 3, .start = start, .dtheta = R(dtheta)};
    p->map->backward(&p->s, ref, R(p->theta), &p->rows, R(work), R(p->weight), &parts, dx_n, R(dX));
    double size = 0, worst = 0;
    for (int64_t i = 0; i < P; i++) {
        size = fmax(size, fabs(dtheta[i]));
        worst = fmax(worst, fabs(dtheta[i] - slope(p, p->theta + i)));
    }
    assert_true(worst <= 1e-6 * size);
    size = worst = 0;
    for (int64_t i = 0; i < dx_n; i++)
        for (int64_t j = 0; j < p->s.H; j++) {
            const double got = dX[i * p->s.H + j];
            size = fmax(size, fabs(got));
            worst = fmax(worst, fabs(got - slope(p, p->X + (p->rows.dense_n - dx_n + i) * p->rows.ld + j)));
        }
    assert_true(worst <= 1e-6 * size);
}

static void every_gradient_matches_central_differences(void **state)
{
    (void)state;
    int64_t rows[] = {2, 0, 1};
    const int64_t row_start[] = {0, 2, 2, 5};
    const int32_t column[] = {1, 4, 0, 2, 3};
    const float number[] = {0.7f, -1.3f, 2.1f, 0.4f, -0.9f}, shift[H] = {0}, mul[H] = {1.5f, 0.7f, 1.1f, 0.3f, 2.2f};
    const eh_matrix sparse = {
        .kind = ENHOPE_CSR, .n = SPARSE, .H = H, .row_start = row_start, .column = column, .value = number};
    eh_table table;
    assert_int_equal(ref->op->place(ref, ctx, &sparse, NULL, shift, mul, &table), ENHOPE_OK);

    static problem p;
    for (int i = 0; i < DENSE * (H + 2); i++) p.X[i] = 0.8 * eh_random_normal(3, 3, (uint64_t)i);
    for (int i = 0; i < DENSE; i++) p.X[i * (H + 2) + H] = 1;
    p.s = (eh_map_shape){.H = H, .h = 3, .F = 6, .m = 4};
    for (int mixed = 0; mixed < 3; mixed++) { /* dense, both, sparse only */
        p.rows = (eh_rows){.X = O(p.X), .ld = H + 2, .dense_n = mixed < 2 ? DENSE : 0};
        if (mixed) p.rows.sparse = &table, p.rows.sparse_rows = (eh_row *)rows, p.rows.sparse_n = SPARSE;
        p.map = &eh_map_linear;
        check_gradient(&p);
        p.map = &eh_map_hope;
        for (p.s.order = 1; p.s.order <= 4; p.s.order++) check_gradient(&p);
    }
    p.map = &eh_map_mlp;
    p.rows = (eh_rows){.X = O(p.X), .ld = H + 2, .dense_n = DENSE};
    static const char *const layers[] = {"7", "6-4", "5-3-4", "4-3-4-3"};
    for (int i = 0; i < 8; i++) {
        assert_true(eh_map_layers_parse(layers[i / 2], &p.s));
        p.s.relu = i % 2; /* the points do not hit the corner of max(a, 0) */
        check_gradient(&p);
    }
    p.map = &eh_map_identity;
    p.s.h = H;
    p.rows = (eh_rows){.X = O(p.X), .ld = H + 2, .dense_n = DENSE};
    check_gradient(&p);
    ref->op->unplace(ref, &table);
}

/* On a device, packed matrices are copies. Here they are copies of the same scalars, so nothing
 * may change. */
static void packed_copies_change_nothing(void **state)
{
    (void)state;
    static problem p;
    eh_compute far = *ref;
    far.packed_is_real = false;
    const eh_map *const maps[] = {&eh_map_linear, &eh_map_hope, &eh_map_mlp, &eh_map_mlp};
    for (int i = 0; i < DENSE * (H + 2); i++) p.X[i] = i % (H + 2) == H ? 1 : eh_random_normal(5, 3, (uint64_t)i);
    for (int i = 0; i < MAX_THETA; i++) p.theta[i] = 0.6 * eh_random_normal(5, 1, (uint64_t)i);
    for (int i = 0; i < 4; i++) {
        p.s = (eh_map_shape){.H = H, .h = 3, .F = 6, .m = 4, .order = 3, .relu = i == 3};
        assert_true(eh_map_layers_parse("5-3-4", &p.s));
        p.rows = (eh_rows){.X = O(p.X), .ld = H + 2, .dense_n = DENSE};
        double work[MAX_WORK], Y[2][MAX_Y], dtheta[2][MAX_THETA], dX[2][DENSE * H];
        for (int which = 0; which < 2; which++) {
            eh_compute *c = which ? &far : ref;
            assert_true(maps[i]->work(&p.s, c, DENSE, true) <= MAX_WORK);
            maps[i]->forward(&p.s, c, R(p.theta), &p.rows, R(work), R(Y[which]), false);
            maps[i]->forward(&p.s, c, R(p.theta), &p.rows, R(work), R(Y[which]), true);
            maps[i]->backward(
                &p.s, c, R(p.theta), &p.rows, R(work), R(Y[0]),
                &(eh_map_chunks){.count = 2, .start = (int64_t[]){0, 1, DENSE}, .dtheta = R(dtheta[which])}, 2,
                R(dX[which]));
        }
        assert_memory_equal(Y[0], Y[1], (size_t)(DENSE * p.s.h) * sizeof **Y);
        assert_memory_equal(dtheta[0], dtheta[1], (size_t)eh_map_parameters(maps[i], &p.s) * sizeof **dtheta);
        assert_memory_equal(dX[0], dX[1], (size_t)(2 * H) * sizeof **dX);
    }
}

static void factors_may_be_rescaled_and_even_orders_ignore_their_sign(void **state)
{
    (void)state;
    static problem p;
    p.map = &eh_map_hope;
    for (int order = 2; order <= 3; order++) {
        p.s = (eh_map_shape){.H = H, .h = 2, .F = 3, .m = 4, .order = order};
        p.rows = (eh_rows){.X = O(p.X), .ld = H + 2, .dense_n = DENSE};
        for (int i = 0; i < DENSE * (H + 2); i++) p.X[i] = eh_random_normal(4, 1, (uint64_t)i);
        for (int i = 0; i < MAX_THETA; i++) p.theta[i] = 0.5 * eh_random_normal(4, 2, (uint64_t)i);
        for (int i = 0; i < MAX_Y; i++) p.weight[i] = 1 + i;
        double work[MAX_WORK];
        const double before = value(&p, work), k = order % 2 ? 1.7 : -1.7;
        for (int j = 0; j <= H; j++) p.theta[j * 3 + 1] *= k;
        for (int u = 0; u < 4; u++) p.theta[(H + 1) * 3 + 4 + u] /= pow(k, order);
        assert_true(fabs(value(&p, work) - before) < 1e-12 * fabs(before));
    }
}

static void init_centers_the_hidden_units_and_scales_the_factors(void **state)
{
    (void)state;
    enum { n = 40 };
    for (int big = 0; big < 6; big++) { /* inputs a hundred times larger give the same initial responses */
        const eh_map_shape s = {.H = H, .h = 2, .F = 30, .m = 8, .order = 1 + big / 2};
        double X[n * (H + 1)], work[n * 2 * (30 + 8)], theta[700], Y[n * 2]; /* multiples of whole cache lines */
        float host[700];
        assert_true(eh_map_parameters(&eh_map_hope, &s) <= 700);
        for (int i = 0; i < n * (H + 1); i++)
            X[i] = i % (H + 1) == H ? 1 : (big % 2 ? 100 : 1) * eh_random_unit(8, 1, (uint64_t)i);
        assert_int_equal(eh_map_hope.work(&s, ref, n, true), n * 2 * (30 + 8));
        eh_map_hope.init(&s, ref, 11, 1, R(X), O(X), H + 1, n, host, R(theta), R(work));
        const eh_rows rows = {.X = O(X), .ld = H + 1, .dense_n = n};
        eh_map_hope.forward(&s, ref, R(theta), &rows, R(work), R(Y), true);
        double response = 0, hidden = 0;
        for (int i = 0; i < n * 30; i++) response += work[i] * work[i] / (n * 30);
        for (int i = 0; i < n * 8; i++) hidden += work[2 * n * 30 + i] / (n * 8);
        assert_true(response > 0.3 && response < 3);
        assert_true(fabs(hidden - 0.5) < 0.05);
    }
}

/* y = V sigmoid(sum_f W_f u_f^O + b), computed by hand. */
static void a_factor_enters_by_its_power(void **state)
{
    (void)state;
    for (int order = 1; order <= 16; order += 5) {
        const eh_map_shape s = {.H = 1, .h = 1, .F = 7, .m = 1, .order = order};
        double theta[14 + 7 + 2], X[] = {0.83, 1}, work[64], y, a;
        for (int i = 0; i < 23; i++) theta[i] = 0.4 * eh_random_normal(12, 1, (uint64_t)i);
        a = theta[21];
        for (int f = 0; f < 7; f++) a += theta[14 + f] * pow(X[0] * theta[f] + theta[7 + f], order);
        const eh_rows rows = {.X = O(X), .ld = 2, .dense_n = 1};
        assert_true(eh_map_hope.work(&s, ref, 1, true) <= 64);
        eh_map_hope.forward(&s, ref, R(theta), &rows, R(work), R(&y), true);
        assert_true(fabs(y - theta[22] / (1 + exp(-a))) < 1e-12);
    }
}

static void oversized_maps_are_refused_not_wrapped(void **state)
{
    (void)state;
    const eh_map_shape s = {.H = INT64_C(1) << 40, .h = 2, .F = INT64_C(1) << 40, .m = 3, .order = 2};
    assert_int_equal(eh_map_parameters(&eh_map_hope, &s), -1);
    assert_int_equal(eh_map_hope.work(&s, ref, INT64_C(1) << 40, true), -1);
    assert_int_equal(eh_map_hope.work(&s, ref, INT64_C(1) << 22, false), -1);
    assert_ptr_equal(eh_map_find("linear"), &eh_map_linear);
    assert_null(eh_map_find("cubic"));
    eh_map_shape deep = {.H = 3, .h = 2};
    static const char *const wrong[] = {"", "-", "3-", "-3", "3--4", "0", "3-0", "1048577", "3,4", "1-1-1-1-1-1-1-1-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(eh_map_layers_parse(wrong[i], &deep));
    assert_true(eh_map_layers_parse("1048576-1048576", &deep));
    assert_int_equal(eh_map_mlp.work(&deep, ref, INT64_C(1) << 43, true), -1);
    char text[64];
    eh_map_layers_print(&deep, text, sizeof text);
    assert_string_equal(text, "1048576-1048576");
}

int main(void)
{
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "ref") || eh_compute_open(ctx, false, &ref)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_input_matches_the_case_by_hand),
        cmocka_unit_test(every_gradient_matches_central_differences),
        cmocka_unit_test(packed_copies_change_nothing),
        cmocka_unit_test(factors_may_be_rescaled_and_even_orders_ignore_their_sign),
        cmocka_unit_test(init_centers_the_hidden_units_and_scales_the_factors),
        cmocka_unit_test(a_factor_enters_by_its_power),
        cmocka_unit_test(oversized_maps_are_refused_not_wrapped),
    };
    const int failed = cmocka_run_group_tests_name("map", tests, NULL, NULL);
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return failed;
}
