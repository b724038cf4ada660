/* Metrics of classes and of evaluations. Expected values are those of scikit-learn. */
#define _XOPEN_SOURCE 700
#include "model_fixture.h"

#include "classify/metrics.h"

static void count(const int32_t *truth, const int32_t *label, int n, eh_class_counts *to)
{
    for (int i = 0; i < n; i++) {
        to[label[i]].predicted++;
        if (truth[i] >= 0) to[truth[i]].n++;
        if (truth[i] == label[i]) to[label[i]].right++;
    }
}

static void precision_recall_and_f1_are_those_of_scikit_learn(void **state)
{
    (void)state;
    static const int32_t truth[] = {0, 0, 0, 1, 1, 2, 2, 2, 2, 1}, label[] = {0, 1, 0, 1, 1, 2, 0, 2, 2, 0};
    static const double expected[3][3] = {
        {0.5, 0.66666667, 0.57142857}, {0.66666667, 0.66666667, 0.66666667}, {1, 0.75, 0.85714286}};
    static const int64_t n[3] = {3, 3, 4};
    eh_class_counts counts[3] = {0};
    enhope_class_metrics row[3];
    enhope_metrics m = {0};
    count(truth, label, 10, counts);
    eh_metrics_count(counts, 3, row, &m);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(row[k].n, n[k]);
        assert_float_equal(row[k].precision, expected[k][0], 1e-8);
        assert_float_equal(row[k].recall, expected[k][1], 1e-8);
        assert_float_equal(row[k].f1, expected[k][2], 1e-8);
    }
    assert_float_equal(m.precision, 0.7222222222222222, 1e-12);
    assert_float_equal(m.recall, 0.6944444444444443, 1e-12);
    assert_float_equal(m.f1, 0.6984126984126985, 1e-12);
    assert_float_equal(m.balanced_accuracy, 0.6944444444444443, 1e-12);
}

/* Class 2 has predictions only, class 3 nothing. A sample of an unknown class lowers a
 * precision. */
static void classes_without_samples_follow_scikit_learn(void **state)
{
    (void)state;
    static const int32_t truth[] = {0, 0, 1, 1, 1, -1}, label[] = {0, 2, 1, 1, 0, 1};
    eh_class_counts counts[4] = {0};
    enhope_class_metrics row[4];
    enhope_metrics m = {0};
    count(truth, label, 5, counts);
    eh_metrics_count(counts, 4, row, &m);
    assert_float_equal(row[2].precision + row[2].recall + row[2].f1, 0, 0);
    assert_float_equal(m.precision, 0.5, 1e-12);
    assert_float_equal(m.recall, 0.38888888888888884, 1e-12);
    assert_float_equal(m.f1, 0.43333333333333335, 1e-12);
    assert_float_equal(m.balanced_accuracy, 0.5833333333333333, 1e-12);
    count(truth + 5, label + 5, 1, counts);
    eh_metrics_count(counts, 4, row, &m);
    assert_float_equal(row[1].precision, 2.0 / 3, 1e-12);
    assert_float_equal(m.balanced_accuracy, 0.5833333333333333, 1e-12);
}

static void area_counts_equal_scores_half(void **state)
{
    (void)state;
    static const float value[] = {0.11f, 0.42f, 0.42f, 0.37f, 0.81f, 0.42f, 0.9f, 0.35f, 0.93f};
    static const bool positive[] = {false, false, true, false, true, true, false, true, true};
    eh_score s[9];
    for (int i = 0; i < 9; i++) s[i] = (eh_score){value[i], positive[i]};
    assert_float_equal(eh_auc(s, 9), 0.65, 1e-12);
    for (int i = 0; i < 9; i++) s[i] = (eh_score){0.5f, positive[i]};
    assert_float_equal(eh_auc(s, 9), 0.5, 0);
    for (int i = 0; i < 9; i++) s[i] = (eh_score){value[i], true};
    assert_true(isnan(eh_auc(s, 9)));
    assert_true(isnan(eh_auc(s, 0)));
}

static void labels_by_cost_maximize_probability_times_cost(void **state)
{
    (void)state;
    static const float p[] = {0.7f, 0.1f, 0.2f, 0.05f, 0.06f, 0.89f, 0.4f, 0.4f, 0.2f};
    int32_t label[3];
    enhope_labels_by_cost(p, 3, 3, (float[]){1, 1, 1}, label);
    assert_memory_equal(label, ((int32_t[]){0, 2, 0}), sizeof label);
    enhope_labels_by_cost(p, 3, 3, (float[]){1, 10, 1}, label);
    assert_memory_equal(label, ((int32_t[]){1, 2, 1}), sizeof label);
    enhope_labels_by_cost(p, 3, 3, (float[]){0, 0, 0.01f}, label);
    assert_memory_equal(label, ((int32_t[]){2, 2, 2}), sizeof label);
}

/* ---- evaluations ---- */

enum { N = 517, H = 7, R = 20, C = 3 };

typedef struct example {
    enhope_context *ctx;
    enhope_dataset *data;
    enhope_model *model;
    float x[N * H], proba[N * C];
    int32_t label[N], predicted[N];
} example;

static example *make_example(void)
{
    example *e = calloc(1, sizeof *e);
    e->ctx = enhope_context_create();
    e->model = make_model(e->ctx, &eh_map_hope, true, H, R);
    static const char *names[C];
    for (int k = 0; k < C; k++) names[k] = enhope_model_class_name(e->model, k);
    for (int i = 0; i < N * H; i++) e->x[i] = (float)eh_random_normal(SEED, 41, (uint64_t)i);
    for (int i = 0; i < N; i++) e->label[i] = (int32_t)(eh_random_u64(SEED, 42, (uint64_t)i) % 4) - 1;
    assert_int_equal(enhope_dataset_view_f32(e->ctx, N, H, e->x, e->label, C, names, &e->data), 0);
    const enhope_prediction out = {.label = e->predicted, .proba = e->proba};
    assert_int_equal(enhope_model_predict(e->ctx, e->model, e->data, 0, &out), 0);
    return e;
}

static void free_example(example *e)
{
    enhope_dataset_free(e->data);
    enhope_model_free(e->model);
    enhope_context_free(e->ctx);
    free(e);
}

static double plain_area(const example *e, int k)
{
    double pairs = 0, all = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (e->label[i] != k || e->label[j] == k || e->label[j] < 0) continue;
            const float a = e->proba[i * C + k], b = e->proba[j * C + k];
            pairs += a > b ? 1 : a == b ? 0.5 : 0;
            all++;
        }
    return pairs / all;
}

static void evaluation_fills_metrics(void **state)
{
    (void)state;
    example *e = make_example();
    enhope_class_metrics row[C];
    enhope_metrics m = {.row = row};
    enhope_evaluation v = {.metrics = &m};
    assert_int_equal(enhope_model_evaluate(e->ctx, e->model, e->data, 0, &v), 0);
    double recalls = 0, areas = 0;
    for (int k = 0; k < C; k++) {
        int64_t n = 0, right = 0;
        for (int i = 0; i < N; i++) {
            n += e->label[i] == k;
            right += e->label[i] == k && e->predicted[i] == k;
        }
        assert_int_equal(row[k].n, n);
        assert_float_equal(row[k].recall, (double)right / (double)n, 1e-12);
        assert_float_equal(row[k].auc, plain_area(e, k), 1e-12);
        recalls += row[k].recall;
        areas += row[k].auc;
    }
    assert_float_equal(m.balanced_accuracy, recalls / C, 1e-12);
    assert_float_equal(m.auc, areas / C, 1e-12);
    free_example(e);
}

static void costs_change_labels_and_errors(void **state)
{
    (void)state;
    example *e = make_example();
    const float cost[C] = {1.25f, 0.5f, 1.5f};
    enhope_metrics m = {.cost = cost}, wrong = {.cost = (float[]){1, -2, 1}};
    enhope_evaluation v = {.metrics = &m}, refused = {.metrics = &wrong};
    int64_t errors = 0, n = 0, changed = 0;
    int32_t label[N];
    enhope_labels_by_cost(e->proba, N, C, cost, label);
    for (int i = 0; i < N; i++) {
        n += e->label[i] >= 0;
        errors += e->label[i] >= 0 && label[i] != e->label[i];
        changed += label[i] != e->predicted[i];
    }
    assert_true(changed > 0);
    assert_int_equal(enhope_model_evaluate(e->ctx, e->model, e->data, 0, &v), 0);
    assert_int_equal(v.n, n);
    assert_int_equal(v.errors, errors);
    assert_int_equal(enhope_model_evaluate(e->ctx, e->model, e->data, 0, &refused), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(e->ctx), "is -2: expected a number from 0"));
    free_example(e);
}

static void an_evaluation_without_known_class_is_refused(void **state)
{
    (void)state;
    example *e = make_example();
    enhope_dataset *other = NULL;
    static const char *const names[C] = {"x1", "x2", "x3"};
    enhope_evaluation v = {.n = -3};
    assert_int_equal(enhope_dataset_view_f32(e->ctx, N, H, e->x, e->label, C, names, &other), 0);
    assert_int_equal(enhope_model_evaluate(e->ctx, e->model, other, 0, &v), ENHOPE_ERROR_DATA);
    assert_non_null(
        strstr(enhope_error(e->ctx), "none of the classes of the data: 'x1', 'x2', 'x3'; its classes are '"));
    assert_int_equal(v.n, -3);
    enhope_dataset_free(other);
    free_example(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precision_recall_and_f1_are_those_of_scikit_learn),
        cmocka_unit_test(classes_without_samples_follow_scikit_learn),
        cmocka_unit_test(area_counts_equal_scores_half),
        cmocka_unit_test(labels_by_cost_maximize_probability_times_cost),
        cmocka_unit_test(evaluation_fills_metrics),
        cmocka_unit_test(costs_change_labels_and_errors),
        cmocka_unit_test(an_evaluation_without_known_class_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
