/* Votes, probabilities and the choice of k against plain recomputation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/classify.h"

enum { SEED = 421 };

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
    int32_t votes[4] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(eh_vote(cases[i].index, cases[i].k, label, votes), cases[i].winner);
        for (int k = 0; k < 4; k++) assert_int_equal(votes[k], 0);
    }
}

/* The vote again, the slow way: count each class, prefer the one met first. */
static int32_t plain_vote(const int64_t *index, int64_t k, const int32_t *label)
{
    int32_t best = -1;
    int64_t most = 0;
    for (int64_t j = 0; j < k; j++) {
        int64_t count = 0;
        for (int64_t i = 0; i < k; i++) count += label[index[i]] == label[index[j]];
        if (count > most) most = count, best = label[index[j]];
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
    assert_int_equal(enhope_context_set_compute(ctx, backend), 0);
    eh_compute *cp = NULL;
    assert_int_equal(eh_compute_open(ctx, &cp), 0);
    problem p = make_problem(n, r, h, c);
    eh_real *Y = NULL, *G = NULL;
    assert_int_equal(eh_compute_new(cp, ctx, "Y", n * h, &Y), 0);
    assert_int_equal(eh_compute_new(cp, ctx, "G", r * h, &G), 0);
    cp->op->write(cp, Y, p.Y, n * h);
    cp->op->write(cp, G, p.G, r * h);
    const eh_references ref = {.G = G, .label = p.label, .r = r, .h = h, .c = c};
    int32_t *label = malloc(sizeof *label * (size_t)n);
    int64_t *winner = malloc(sizeof *winner * (size_t)n), *order = malloc(sizeof *order * (size_t)r);
    float *distance = malloc(sizeof *distance * (size_t)n);
    void *work = malloc((size_t)eh_classify_work(n, k, c)); /* not zeroed */
    float *shares = malloc((size_t)(n * ref.c) * sizeof *shares);
    eh_classify(cp, &ref, Y, n, k, work, label, winner, distance, shares);
    for (int64_t i = 0; i < n; i++) {
        plain_order(&p, i, order);
        for (int32_t s = 0; s < ref.c; s++) {
            int64_t votes = 0;
            for (int64_t j = 0; j < k; j++) votes += ref.label[order[j]] == s;
            assert_float_equal(shares[i * ref.c + s], (double)votes / (double)k, 1e-6);
        }
        assert_int_equal(winner[i], order[0]);
        assert_int_equal(label[i], plain_vote(order, k, p.label));
        assert_float_equal(distance[i], sqrt(distance2(&p, i, order[0])), 1e-4);
    }
    eh_classify(cp, &ref, Y, n, k, work, NULL, NULL, NULL, NULL); /* each output may be left out */
    free(shares);
    free(work);
    free(label);
    free(winner);
    free(order);
    free(distance);
    cp->op->release(cp, Y);
    cp->op->release(cp, G);
    free_problem(&p);
    eh_compute_close(cp);
    enhope_context_free(ctx);
}

static void classification_is_that_of_brute_force(void **state)
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
    double sums[5];
    float proba[67 * 5];
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        eh_probabilities(gaussian, p.G, p.label, p.r, p.h, p.c, p.Y, p.n, sums, proba);
        for (int64_t i = 0; i < p.n; i++) {
            double expected[5] = {0}, all = 0;
            for (int64_t j = 0; j < p.r; j++) {
                const double d = distance2(&p, i, j), w = gaussian ? exp(-d) : 1 / (1 + d);
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
    double sums[3];
    float proba[12];
    eh_probabilities(true, G, label, 3, 1, 3, Y, 4, sums, proba);
    /* exp(-9e8) is 0 in any precision, but g = 0 is the nearest by far */
    assert_float_equal(proba[0], 0, 1e-7);
    assert_float_equal(proba[1], 0, 1e-7);
    assert_float_equal(proba[2], 1, 1e-7);
    for (int i = 6; i < 12; i++) assert_float_equal(proba[i], 1.0 / 3, 1e-7); /* not finite: nothing is known */
    eh_probabilities(false, G, label, 3, 1, 3, Y, 4, sums, proba);
    for (int i = 0; i < 4; i++) assert_float_equal(proba[3 * i] + proba[3 * i + 1] + proba[3 * i + 2], 1, 1e-6);
}

static void the_default_k_lets_no_class_be_outvoted_on_its_own_ground(void **state)
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
        {{0, 0, 0, 1, 1, 2, 2, 3, 3, 3}, 10, 1},                               /* two against three */
        {{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3}, 20, 5}, /* three hold against two */
        {{0, 0, 1}, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(eh_default_neighbours(cases[i].label, cases[i].r), cases[i].k);
}

static void workspace_that_overflows_is_minus_one(void **state)
{
    (void)state;
    assert_int_equal(eh_classify_work(INT64_C(1) << 40, INT64_C(1) << 30, 3), -1);
    assert_int_equal(eh_classify_work(10, 5, 3), 10 * 5 * 12 + 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_majority_wins_and_ties_go_to_the_nearest),
        cmocka_unit_test(classification_is_that_of_brute_force),
        cmocka_unit_test(probabilities_are_shares_of_the_similarity),
        cmocka_unit_test(probabilities_stay_finite_far_away),
        cmocka_unit_test(the_default_k_lets_no_class_be_outvoted_on_its_own_ground),
        cmocka_unit_test(workspace_that_overflows_is_minus_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
