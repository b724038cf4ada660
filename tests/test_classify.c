/* Votes, probabilities and the default k compared with simple reference code. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/classify.h"

enum { SEED = 421 };

/* Reference vote: counts each class; a tie goes to the class of the nearest neighbor. */
static int32_t plain_vote(const int64_t *index, int64_t k, const int32_t *label)
{
    int32_t best = -1;
    int64_t max_count = 0;
    for (int64_t j = 0; j < k; j++) {
        int64_t count = 0;
        for (int64_t i = 0; i < k; i++) count += label[index[i]] == label[index[j]];
        if (count > max_count) max_count = count, best = label[index[j]];
    }
    return best;
}

typedef struct problem {
    int64_t n, r, h;
    int32_t c;
    float *Y, *G;
    int32_t *label;
} problem;

static problem make_problem(int64_t n, int64_t r, int64_t h, int32_t c)
{
    problem p = {n,
                 r,
                 h,
                 c,
                 malloc(sizeof(float) * (size_t)(n * h)),
                 malloc(sizeof(float) * (size_t)(r * h)),
                 malloc(sizeof(int32_t) * (size_t)r)};
    for (int64_t i = 0; i < n * h; i++) p.Y[i] = (float)eh_random_normal(SEED, 1, (uint64_t)i);
    for (int64_t i = 0; i < r * h; i++) p.G[i] = (float)eh_random_normal(SEED, 2, (uint64_t)i);
    for (int64_t i = 0; i < r; i++) p.label[i] = (int32_t)(eh_random_u64(SEED, 3, (uint64_t)i) % (uint64_t)c);
    return p;
}

static void free_problem(problem *p)
{
    free(p->Y);
    free(p->G);
    free(p->label);
}

static double distance2(const problem *p, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < p->h; k++) sum += pow((double)p->Y[i * p->h + k] - (double)p->G[j * p->h + k], 2);
    return sum;
}

/* index (r): all references of point i, nearest first. */
static void plain_order(const problem *p, int64_t i, int64_t *index)
{
    for (int64_t j = 0; j < p->r; j++) {
        int64_t at = j;
        for (; at > 0 && distance2(p, i, j) < distance2(p, i, index[at - 1]); at--) index[at] = index[at - 1];
        index[at] = j;
    }
}

static void classes_are_those_of_brute_force(const char *backend, int64_t n, int64_t r, int64_t h, int32_t c, int64_t k)
{
    enhope_context *ctx = enhope_context_create();
    assert_int_equal(enhope_context_set_device(ctx, backend), 0);
    eh_compute *cp = NULL;
    assert_int_equal(eh_compute_open(ctx, false, &cp), 0);
    problem p = make_problem(n, r, h, c);
    eh_real *Y = NULL, *G = NULL;
    eh_label *classes = NULL;
    assert_int_equal(eh_compute_new(cp, ctx, "Y", n * h, cp->op->real_size, &Y), 0);
    assert_int_equal(eh_compute_new(cp, ctx, "G", r * h, cp->op->real_size, &G), 0);
    assert_int_equal(eh_compute_new(cp, ctx, "classes", r, sizeof *p.label, &classes), 0);
    cp->op->write(cp, Y, p.Y, n * h);
    cp->op->write(cp, G, p.G, r * h);
    cp->op->send(cp, classes, p.label, (size_t)r * sizeof *p.label);
    const eh_references ref = {.G = G, .label = classes, .r = r, .h = h};
    int32_t *label = malloc(sizeof *label * (size_t)n);
    int64_t *winner = malloc(sizeof *winner * (size_t)n), *order = malloc(sizeof *order * (size_t)r);
    float *distance = malloc(sizeof *distance * (size_t)n);
    float *shares = malloc((size_t)(n * c) * sizeof *shares);
    const eh_predictions all = {.label = label, .winner = winner, .distance = distance, .shares = shares};
    eh_knn_result found;
    assert_int_equal(eh_knn_create(ctx, cp, n, k, &all, &found), 0);
    const int64_t half = n / 2; /* in two blocks */
    eh_classify(&found, &ref, Y, half, 0);
    eh_classify(&found, &ref, eh_at(cp, Y, half * h), n - half, half);
    assert_int_equal(eh_classify_fetch(&found, ctx, n, p.label, c, &all), 0);
    for (int64_t i = 0; i < n; i++) {
        plain_order(&p, i, order);
        for (int32_t s = 0; s < c; s++) {
            int64_t votes = 0;
            for (int64_t j = 0; j < k; j++) votes += p.label[order[j]] == s;
            assert_float_equal(shares[i * c + s], (double)votes / (double)k, 1e-6);
        }
        assert_int_equal(winner[i], order[0]);
        assert_int_equal(label[i], plain_vote(order, k, p.label));
        assert_float_equal(distance[i], sqrt(distance2(&p, i, order[0])), 1e-4);
    }
    /* every output is optional */
    assert_int_equal(eh_classify_fetch(&found, ctx, n, NULL, 0, &(eh_predictions){0}), 0);
    eh_knn_free(&found);
    assert_int_equal(eh_knn_create(ctx, cp, n, k, &(eh_predictions){.label = label}, &found), 0);
    eh_classify(&found, &ref, Y, n, 0);
    for (int64_t i = 0; i < n; i++) winner[i] = label[i], label[i] = -1;
    assert_int_equal(eh_classify_fetch(&found, ctx, n, NULL, 0, &(eh_predictions){.label = label}), 0);
    for (int64_t i = 0; i < n; i++) assert_int_equal(winner[i], label[i]);
    eh_knn_free(&found);
    free(shares);
    free(label);
    free(winner);
    free(order);
    free(distance);
    cp->op->release(cp, Y);
    cp->op->release(cp, G);
    cp->op->release(cp, classes);
    free_problem(&p);
    eh_compute_close(cp);
    enhope_context_free(ctx);
}

static void classification_matches_brute_force(void **state)
{
    (void)state;
    static const char *const backends[] = {"ref", "cpu"};
    for (int b = 0; b < 2; b++) {
        classes_are_those_of_brute_force(backends[b], 1, 1, 1, 1, 1);
        classes_are_those_of_brute_force(backends[b], 131, 20, 2, 10, 5);
        classes_are_those_of_brute_force(backends[b], 57, 7, 13, 3, 7);
        classes_are_those_of_brute_force(backends[b], 83, 61, 37, 4, 3);
    }
}

static void probabilities_are_shares_of_the_similarity(void **state)
{
    (void)state;
    problem p = make_problem(67, 23, 3, 5);
    double scratch[10];
    float proba[67 * 5];
    static const int dofs[] = {0, 1, 3, 5, 15}; /* the first: gaussian */
    for (int f = 0; f < 5; f++) {
        const double nu = dofs[f];
        const eh_host_references ref = {p.G, p.label, p.r, p.h, p.c, f == 0, dofs[f]};
        eh_probabilities(&ref, 1, p.Y, p.n, scratch, proba);
        for (int64_t i = 0; i < p.n; i++) {
            double expected[5] = {0}, all = 0;
            for (int64_t j = 0; j < p.r; j++) {
                const double d = distance2(&p, i, j), w = f == 0 ? exp(-d) : pow(1 + d / nu, -(nu + 1) / 2);
                expected[p.label[j]] += w;
                all += w;
            }
            for (int k = 0; k < 5; k++) assert_float_equal(proba[i * 5 + k], expected[k] / all, 1e-6);
        }
    }
    free_problem(&p);
}

static void probabilities_stay_finite_far_away(void **state)
{
    (void)state;
    static const float G[] = {0, 1, 1000}, Y[] = {-3e4f, 3e19f, INFINITY, NAN};
    static const int32_t label[] = {2, 0, 1};
    double scratch[6];
    float proba[12];
    eh_host_references ref = {G, label, 3, 1, 3, true, 1};
    eh_probabilities(&ref, 1, Y, 4, scratch, proba);
    /* exp(-9e8) is 0 in any precision, but g = 0 is the nearest by far */
    assert_float_equal(proba[0], 0, 1e-7);
    assert_float_equal(proba[1], 0, 1e-7);
    assert_float_equal(proba[2], 1, 1e-7);
    for (int i = 6; i < 12; i++) assert_float_equal(proba[i], 1.0 / 3, 1e-7); /* not finite: equal probabilities */
    ref.gaussian = false;
    for (int f = 0; f < 3; f++) {
        ref.dof = (const int[]){1, 3, 15}[f];
        eh_probabilities(&ref, 1, Y, 4, scratch, proba);
        for (int i = 0; i < 4; i++) assert_float_equal(proba[3 * i] + proba[3 * i + 1] + proba[3 * i + 2], 1, 1e-6);
    }
}

static void default_k_protects_small_classes(void **state)
{
    (void)state;
    static const struct {
        int32_t label[20];
        int64_t r;
        int32_t k;
    } cases[] = {
        {{0, 1, 2}, 3, 1},
        {{0}, 1, 1},
        {{0, 0}, 2, 2},
        {{0, 0, 1, 1, 2, 2}, 6, 5},
        {{0, 0, 0, 1, 1, 2, 2, 3, 3, 3}, 10, 1},                               /* two against three: outvoted */
        {{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3}, 20, 5}, /* three against two: not outvoted */
        {{0, 0, 1}, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(eh_default_neighbors(cases[i].label, cases[i].r), cases[i].k);
}

static void excessive_sizes_are_out_of_memory(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), 0);
    eh_compute *cp = NULL;
    eh_knn_result found = {0};
    int32_t label;
    assert_int_equal(eh_compute_open(ctx, false, &cp), 0);
    const eh_predictions wanted = {.label = &label};
    assert_int_equal(eh_knn_create(ctx, cp, INT64_C(1) << 40, INT64_C(1) << 30, &wanted, &found), ENHOPE_ERROR_MEMORY);
    assert_string_equal(enhope_error(ctx), "out of memory: the neighbors needs 1180591620717411303424 bytes");
    assert_int_equal(eh_knn_create(ctx, cp, INT64_C(1) << 40, INT64_C(1) << 21, &wanted, &found), ENHOPE_ERROR_MEMORY);
    assert_null(found.cp);
    eh_compute_close(cp);
    enhope_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classification_matches_brute_force),
        cmocka_unit_test(probabilities_are_shares_of_the_similarity),
        cmocka_unit_test(probabilities_stay_finite_far_away),
        cmocka_unit_test(default_k_protects_small_classes),
        cmocka_unit_test(excessive_sizes_are_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
