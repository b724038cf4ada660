/* Confidence: the temperature on labels drawn from known probabilities; calibration and coverage
 * compared with values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "classify/classify.h"
#include "classify/confidence.h"

enum { N = 20000, C = 4, SEED = 20170820 };

/* Draws logits, and labels from their softmax. */
static void draw(double *L, int32_t *label)
{
    for (int64_t i = 0; i < N; i++) {
        double all = 0, at = 0;
        for (int k = 0; k < C; k++) {
            L[i * C + k] = 1.7 * eh_random_normal(SEED, 1, (uint64_t)(i * C + k));
            all += exp(L[i * C + k]);
        }
        const double mark = all * eh_random_unit(SEED, 2, (uint64_t)i);
        label[i] = -1;
        while (label[i] < C - 1 && at <= mark) at += exp(L[i * C + ++label[i]]);
    }
}

static double nll(const double *L, const int32_t *label, double temperature)
{
    double sum = 0;
    for (int64_t i = 0; i < N; i++) {
        double all = 0;
        for (int k = 0; k < C; k++) all += exp(L[i * C + k] / temperature);
        sum += log(all) - L[i * C + label[i]] / temperature;
    }
    return sum / N;
}

static void temperature_corrects_scaled_logits(void **state)
{
    (void)state;
    double *L = malloc(sizeof *L * N * C);
    int32_t *label = malloc(sizeof *label * N);
    draw(L, label);
    assert_float_equal(eh_temperature(L, label, NULL, N, C), 1, 0.03);
    static const double factors[] = {3.1, 0.23};
    for (int f = 0; f < 2; f++) {
        for (int64_t i = 0; i < N * C; i++)
            L[i] = L[i] * factors[f] + (double)(i / C % 7); /* a constant per row has no effect */
        const double T = eh_temperature(L, label, NULL, N, C), best = nll(L, label, T);
        assert_float_equal(T, factors[f], 0.03 * factors[f]);
        assert_true(best < nll(L, label, 1) - 0.01);
        /* the minimum, except for the doubt of one sample */
        assert_true(best < nll(L, label, T * 1.02) && best < nll(L, label, T / 1.02));
        for (int64_t i = 0; i < N * C; i++) L[i] = (L[i] - (double)(i / C % 7)) / factors[f];
    }
    free(L);
    free(label);
}

static void temperature_is_bounded_without_errors(void **state)
{
    (void)state;
    /* nine correct samples: 1/11 of doubt remains, 1/(1 + exp(-1/T)) = 1 - 1/11 */
    double L[9 * 2];
    int32_t label[9];
    for (int i = 0; i < 9; i++) L[2 * i] = 0, L[2 * i + 1] = 1, label[i] = 1;
    assert_float_equal(eh_temperature(L, label, NULL, 9, 2), 1 / log(10), 1e-6);
    for (int i = 0; i < 9; i++) label[i] = 0; /* always wrong */
    assert_float_equal(eh_temperature(L, label, NULL, 9, 2), 100, 1e-4);
    for (int i = 0; i < 9; i++) L[2 * i + 1] = 1e-4, label[i] = 1;
    assert_float_equal(eh_temperature(L, label, NULL, 9, 2), 0.01, 1e-8);
    /* no information: classes without exemplars, points that are not finite, no points */
    for (int i = 0; i < 9; i++) L[2 * i + 1] = -INFINITY;
    assert_float_equal(eh_temperature(L, label, NULL, 9, 2), 1, 0);
    for (int i = 0; i < 9; i++) L[2 * i + 1] = NAN;
    assert_float_equal(eh_temperature(L, label, NULL, 9, 2), 1, 0);
    assert_float_equal(eh_temperature(L, label, NULL, 0, 2), 1, 0);
}

/* Two groups of samples, the first of which calls for a higher temperature: a group of weight 0 has
 * no effect, and a common factor changes nothing. */
static void temperature_follows_the_weights_of_samples(void **state)
{
    (void)state;
    enum { M = 40 };
    double L[2 * M * 2], T[4];
    int32_t label[2 * M];
    float weight[2 * M];
    for (int i = 0; i < 2 * M; i++) {
        L[2 * i] = 0, L[2 * i + 1] = 2.385;
        label[i] = i % M % (i < M ? 4 : 13) != 0;
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 2 * M; i++)
            weight[i] = k == 0 ? i < M : k == 1 ? i >= M : (float)(k - 1) * (i < M ? 0.9f : 0.3f);
        T[k] = eh_temperature(L, label, weight, 2 * M, 2);
    }
    assert_true(T[0] > 1.5 * T[1] && T[0] > T[2] && T[2] > T[1]);
    assert_float_equal(T[2], T[3], 1e-6);
}

static void temperature_keeps_the_order_of_classes(void **state)
{
    (void)state;
    static const float G[] = {0, 1.5f, 4, 60}, Y[] = {0.4f};
    static const int32_t label[] = {0, 1, 0, 2};
    const double T = 40;
    double d[4], scratch[8];
    float proba[4];
    for (int j = 0; j < 4; j++) d[j] = ((double)Y[0] - (double)G[j]) * ((double)Y[0] - (double)G[j]);
    /* exp(-d[3]) is 0 in double, but its share is not */
    const double tempered[2][3] = {
        {pow(1 / (1 + d[0]) + 1 / (1 + d[2]), 1 / T), pow(1 + d[1], -1 / T), pow(1 + d[3], -1 / T)},
        {pow(exp(-d[0]) + exp(-d[2]), 1 / T), exp(-d[1] / T), exp(-d[3] / T)}};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const eh_host_references ref = {G, label, 4, 1, 4, gaussian, 1};
        const double *p = tempered[gaussian], all = p[0] + p[1] + p[2];
        eh_probabilities(&ref, T, Y, 1, scratch, proba);
        for (int k = 0; k < 3; k++) assert_float_equal(proba[k] / (p[k] / all), 1, 1e-5);
        assert_float_equal(proba[3], 0, 0); /* a class without references */
        assert_true(proba[0] > proba[1] && proba[1] > proba[2] && proba[2] > 0);
    }
}

static void margins_are_differences_of_distances(void **state)
{
    (void)state;
    static const float G[] = {0, 0, 3, 4, 10, 0}, Y[] = {0, 0, 6, 0, NAN, 0};
    static const int32_t classes[] = {0, 1, 1}, label[] = {0, 1, 1};
    const eh_host_references ref = {G, classes, 3, 2, 2, false, 1};
    float margin[3];
    eh_margins(&ref, Y, 3, label, margin);
    assert_float_equal(margin[0], 5, 1e-6);
    assert_float_equal(margin[1], 2, 1e-6);
    assert_true(isnan(margin[2]));
    eh_margins(&ref, Y, 1, (int32_t[]){1}, margin);
    assert_float_equal(margin[0], -5, 1e-6); /* the predicted class need not be the nearest */
    const eh_host_references lonely = {G, classes, 1, 2, 2, false, 1};
    eh_margins(&lonely, Y, 1, label, margin);
    assert_true(isinf(margin[0]) && margin[0] > 0);
}

static void calibration_matches_hand_computation(void **state)
{
    (void)state;
    static const float proba[] = {0.9f, 0.1f, 0.875f, 0.125f, 0.3f, 0.7f, 0.5f, 0.5f, 1, 0};
    static const int32_t label[] = {0, 0, 1, 0, 0}, truth[] = {0, 1, 1, -1, 1};
    enhope_calibration c = {0};
    for (int i = 0; i < 5; i++) {
        const float *p = proba + 2 * i;
        eh_calibration_add(truth[i] < 0 ? 0 : p[truth[i]], p[label[i]], truth[i] == label[i], 5, &c);
    }
    eh_calibration_end(5, &c);
    const double floor = 1.1920929e-7;
    assert_float_equal(c.nll, -(log(0.9) + log(0.125) + log(0.7) + 2 * log(floor)) / 5, 1e-6);
    /* bin 13: 0.9 and 0.875, one right; 10: 0.7, right; 7: 0.5, unknown class; 14: 1, wrong */
    assert_float_equal(c.ece, (fabs(1.775 - 1) + 0.3 + 0.5 + 1) / 5, 1e-6);
    static const int64_t n[ENHOPE_BINS] = {[7] = 1, [10] = 1, [13] = 2, [14] = 1};
    for (int i = 0; i < ENHOPE_BINS; i++) assert_int_equal(c.bin[i].n, n[i]);
    assert_float_equal(c.bin[13].confidence, 0.8875, 1e-6);
    assert_float_equal(c.bin[13].accuracy, 0.5, 1e-12);
    assert_float_equal(c.bin[14].accuracy, 0, 0);
    assert_float_equal(c.bin[0].confidence, 0, 0);
}

static void coverage_matches_hand_computation(void **state)
{
    (void)state;
    eh_decision s[] = {{0.5f, true}, {-INFINITY, true}, {2.5f, false}, {0.5f, false}, {1.25f, true}};
    enhope_coverage row[] = {{.share = 1},   {.share = 0.8}, {.share = 0.6},
                             {.share = 0.4}, {.share = 0.2}, {.share = 0}};
    const double area = eh_coverage(s, 5, row, 6);
    static const struct {
        int64_t n, errors;
        double threshold;
    } expected[] = {{5, 3, -INFINITY}, {4, 2, 0.5}, {4, 2, 0.5}, {2, 1, 1.25}, {1, 0, 2.5}, {1, 0, 2.5}};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(row[i].n, expected[i].n);
        assert_int_equal(row[i].errors, expected[i].errors);
        assert_true(row[i].threshold == expected[i].threshold);
    }
    /* errors among the 1, 2, .. 5 most confident: 0, 1, then half of one from a tie of two, 2, 3 */
    assert_float_equal(area, (0 + 1.0 / 2 + 1.5 / 3 + 2.0 / 4 + 3.0 / 5) / 5, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(temperature_corrects_scaled_logits),
        cmocka_unit_test(temperature_is_bounded_without_errors),
        cmocka_unit_test(temperature_follows_the_weights_of_samples),
        cmocka_unit_test(temperature_keeps_the_order_of_classes),
        cmocka_unit_test(margins_are_differences_of_distances),
        cmocka_unit_test(calibration_matches_hand_computation),
        cmocka_unit_test(coverage_matches_hand_computation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
