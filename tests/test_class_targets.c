/* Class weights and label smoothing in training: the gradient matches the loss, weights and
 * shares have their documented values, methods and solvers learn with them, and without them
 * nothing changes. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "memory_support.h"
#include "train_support.h"

/* ---- the loss, in double ---- */

static double loss_at(enhope_trainer *t, double *gradient)
{
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    return loss.value;
}

static const char *const TARGETS[][4] = {{"label_smoothing", "0.2", "class_weight", "none"},
                                         {"label_smoothing", "0", "class_weight", "balanced"},
                                         {"label_smoothing", "0.1", "class_weight", "balanced"}};
enum { N_TARGETS = sizeof TARGETS / sizeof *TARGETS };

static void choose(enhope_settings *s, int i)
{
    for (int k = 0; k < 4; k += 2) assert_int_equal(enhope_settings_set(ctx, s, TARGETS[i][k], TARGETS[i][k + 1]), 0);
}

static void the_gradient_matches_the_loss(void **state)
{
    (void)state;
    static const char *const methods[][4] = {{"en-hope", "learned", "joint", "sample"},
                                             {"en-hope", "kmeans", "row", "pair"},
                                             {"deep-en-hope", "learned", "joint", "pair"},
                                             {"linear-en-hope", "random", "row", "sample"},
                                             {"snc", "learned", "row", "sample"}};
    on("ref");
    for (int i = 0; i < 5 * N_TARGETS * 2; i++) {
        const char *const *by = methods[i / 2 % 5];
        enhope_settings *s = with("method", by[0], "exemplars", by[1], "normalizer", by[2], "target_weight", by[3],
                                  "target", "mcml", "n_factors", "4", "n_hidden", "3", "batch_size", "30",
                                  "n_exemplars", "7", "adversarial_step", i % 4 == 3 ? "1e-3" : "0", NULL);
        choose(s, i / 10);
        enhope_trainer *t = started(i % 2 ? blobs : sparse_blobs, s);
        const int64_t count = t->optim->count;
        double *x = (double *)t->parameters.theta, *g = malloc((size_t)count * sizeof *g),
               *spare = malloc((size_t)count * 8);
        double size = 0, worst = 0;
        for (int64_t v = 0; v < count; v++) x[v] += 0.01 * eh_random_normal(4, 1, (uint64_t)v);
        assert_true(loss_at(t, g) > 0);
        for (int64_t v = 0; v < count; v++) {
            const double kept = x[v], step = 1e-5;
            x[v] = kept + step;
            const double up = loss_at(t, spare);
            x[v] = kept - step;
            const double slope = (up - loss_at(t, spare)) / (2 * step);
            x[v] = kept;
            size = fmax(size, fabs(g[v])), worst = fmax(worst, fabs(g[v] - slope));
        }
        /* a difference may flip the sign of an adversarial step, which is small */
        if (worst > (t->loss.adversarial.X_adv ? 1e-2 : 1e-6) * size + 1e-10)
            fail_msg("%s %d: %g of %g", by[0], i, worst, size);
        free(g), free(spare);
        enhope_trainer_free(t);
    }
    on("cpu");
}

static void weights_and_shares_match_the_class_counts(void **state)
{
    (void)state;
    on("ref");
    enhope_trainer *t = started(blobs, with("batch_size", "30", "n_exemplars", "7", "label_smoothing", "0.3",
                                            "class_weight", "balanced", NULL));
    const eh_smoothing *s = &t->loss.objective.smoothing;
    double samples[C] = {0}, per_class[C] = {0}, sum = 0, entropy = 0;
    for (int64_t j = 0; j < t->parameters.z; j++) per_class[t->parameters.exemplar_label[j]]++;
    for (int64_t k = 0; k < t->samples.n; k++) samples[LABEL[t->samples.rows[k]]]++;
    for (int k = 0; k < C; k++)
        assert_true(fabs((double)t->samples.class_weight[k] * samples[k] / (double)t->samples.n - 1) < 1e-6);
    for (int64_t i = 0; i < t->loss.batch.n; i++) {
        const int32_t class = ((const int32_t *)t->loss.batch.label)[i];
        assert_true(((const double *)t->loss.batch.weight)[i] == (double)t->samples.class_weight[class]);
    }
    for (int64_t j = 0; j < t->parameters.z; j++) {
        const double share = ((const double *)s->share)[j];
        assert_true(fabs(share * C * per_class[t->parameters.exemplar_label[j]] - 1) < 1e-6);
        sum += share, entropy += share * log(share);
    }
    assert_true(s->part == 0.3 && s->classes == C && fabs(sum - 1) < 1e-6 && fabs(s->neg_entropy - entropy) < 1e-6);
    enhope_trainer_free(t);
    on("cpu");
}

/* With a learning rate of zero, parameters, exemplars, embeddings and errors do not change; the
 * loss differs. */
static void validation_is_not_smoothed(void **state)
{
    (void)state;
    enhope_trainer *plain = started(blobs, with("solver", "adam", "learning_rate", "0", "batch_size", "0", NULL));
    enhope_trainer *smooth =
        started(blobs, with("solver", "adam", "learning_rate", "0", "batch_size", "0", "label_smoothing", "0.3", NULL));
    assert_memory_equal(plain->parameters.theta, smooth->parameters.theta,
                        (size_t)plain->parameters.count * sizeof(float));
    assert_true(plain->state.valid_error == smooth->state.valid_error && plain->state.loss != smooth->state.loss);
    enhope_trainer_free(plain), enhope_trainer_free(smooth);
}

/* ---- training ---- */

static double error_of(const enhope_model *m, const enhope_dataset *data)
{
    enhope_evaluation e = {0};
    assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &e), ENHOPE_OK);
    return (double)e.errors / N;
}

static void every_exemplar_method_and_solver_learns_with_class_targets(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "deep-en-hope"}, *const solvers[] = {"cg", "lbfgs", "adam"};
    for (int i = 0; i < 2 * 3 * N_TARGETS; i++) {
        enhope_settings *s = with("method", methods[i % 2], "solver", solvers[i / 2 % 3], "learning_rate", "0.03",
                                  "hidden_layer_sizes", "24-12", "patience", "0", "n_epochs", "30", "target", "mcml",
                                  "normalizer", "row", "adversarial_step", i % 4 ? "0" : "0.1", NULL);
        choose(s, i / 6);
        enhope_model *m = train(i % 4 ? blobs : sparse_blobs, s);
        const double error = error_of(m, blobs);
        if (error > 0.15) fail_msg("%d %s: %g", i, methods[i % 2], error);
        enhope_model_free(m);
    }
}

static void every_kind_and_backend_trains_to_the_same_loss(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {blobs, sparse_blobs};
    for (int by = 0; by < N_TARGETS; by++) {
        double loss[4][2];
        for (int i = 0; i < 4; i++) {
            int64_t rows;
            on(i / 2 ? "ref" : "cpu");
            enhope_settings *s = with("solver", "adam", "n_epochs", "2", "batch_size", "40", NULL);
            choose(s, by);
            enhope_model *m = train(data[i % 2], s);
            const enhope_history *h = enhope_model_history(m, &rows);
            assert_int_equal(rows, 2);
            loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
            enhope_model_free(m);
        }
        for (int i = 0; i < 2; i++) /* sparse data is initialized from a smaller sample */
            for (int e = 0; e < 2; e++) assert_true(fabs(loss[i][e] - loss[2 + i][e]) < 1e-4 * loss[2 + i][e]);
    }
    on("cpu");
}

static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    enhope_model *m[2];
    for (int i = 0; i < 2; i++) {
        enhope_settings *s = with("solver", "adam", "n_epochs", "3", "batch_size", "0", "n_factors", "90", NULL);
        choose(s, 2);
        assert_int_equal(enhope_context_set_threads(ctx, i ? 3 : 1), ENHOPE_OK);
        m[i] = train(sparse_blobs, s);
    }
    assert_int_equal(enhope_context_set_threads(ctx, 0), ENHOPE_OK);
    assert_memory_equal(m[0]->theta, m[1]->theta, (size_t)eh_map_parameters(m[0]->map, &m[0]->shape) * sizeof(float));
    enhope_model_free(m[0]), enhope_model_free(m[1]);
}

static void same_model(enhope_model *a, enhope_model *b)
{
    assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
    assert_int_equal(a->r, b->r);
    enhope_model_free(a), enhope_model_free(b);
}

static void neutral_values_change_nothing(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "lbfgs", "adam"};
    for (int i = 0; i < 3; i++)
        same_model(train(blobs, with("solver", solvers[i], "n_epochs", "3", NULL)),
                   train(blobs, with("solver", solvers[i], "n_epochs", "3", "label_smoothing", "0", "class_weight",
                                     "none", NULL)));
    /* sparse data stays sparse */
    enhope_trainer *t = started(sparse_blobs, with("label_smoothing", "0.1", "class_weight", "balanced", NULL));
    assert_true(t->embedder.sparse);
    enhope_trainer_free(t);
}

/* With one exemplar for each class and outputs that fit, q of the own class reaches its target 1
 * - s + s / 3. */
static void smoothing_limits_the_probability_of_the_own_class(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        enhope_settings *s = with("solver", "adam", "learning_rate", "0.03", "n_exemplars", "3", "normalizer", "row",
                                  "similarity", "gaussian", "n_epochs", "300", "batch_size", "0", "validation_fraction",
                                  "0", "label_smoothing", i ? "0.3" : "0", NULL);
        enhope_trainer *t = NULL;
        int done = 0;
        assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
        while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
        /* the mean q of the own class; Y holds the batch, then the exemplars */
        const float *y = (const float *)t->embedder.Y;
        const int64_t n = t->loss.batch.n;
        double own = 0;
        for (int64_t k = 0; k < n; k++) {
            double all = 0, mine = 0;
            for (int64_t j = 0; j < t->parameters.z; j++) {
                double d = 0;
                for (int v = 0; v < 2; v++) d += pow((double)y[k * 2 + v] - y[(n + j) * 2 + v], 2);
                all += exp(-d);
                if (t->parameters.exemplar_label[j] == ((const int32_t *)t->loss.batch.label)[k]) mine += exp(-d);
            }
            own += mine / all / (double)n;
        }
        if (i ? fabs(own - 0.8) > 0.03 || t->state.loss > 0.05 : own < 0.95)
            fail_msg("%g, loss %g", own, t->state.loss);
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
}

/* Two overlapping classes, one of them rare. With balanced weights the rare class gets as much
 * area as the other, for either target. */
static void balanced_weights_make_a_rare_class_count(void **state)
{
    (void)state;
    static const char *const by[][2] = {{"linear-en-hope", "mcml"}, {"linear-en-hope", "nca"}};
    enum { M = 600 };
    static float x[M * 2];
    static int32_t label[M];
    for (int i = 0; i < M; i++) {
        label[i] = i % 15 == 0;
        for (int j = 0; j < 2; j++)
            x[i * 2 + j] = (float)((j ? 0 : label[i] ? 0.6 : -0.6) + eh_random_normal(9, 1, (uint64_t)(i * 2 + j)));
    }
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, M, 2, x, label, 2, NULL, &data), ENHOPE_OK);
    for (int b = 0; b < 2; b++) {
        double found[2];
        for (int i = 0; i < 2; i++) {
            enhope_model *m =
                train(data, with("method", by[b][0], "target", by[b][1], "normalizer", "row", "n_exemplars", "2",
                                 "solver", "adam", "learning_rate", "0.03", "n_epochs", "60", "validation_fraction",
                                 "0", "class_weight", i ? "balanced" : "none", NULL));
            int32_t guess[M];
            assert_int_equal(enhope_model_predict(ctx, m, data, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
            found[i] = 0;
            for (int k = 0; k < M; k++) found[i] += label[k] == 1 && guess[k] == 1;
            found[i] /= M / 15;
            enhope_model_free(m);
        }
        if (found[0] > 0.3 || found[1] < 0.6)
            fail_msg("%s: found %g of the rare class, %g with balanced weights", by[b][1], found[0], found[1]);
    }
    enhope_dataset_free(data);
}

/* Two overlapping classes, the second of which is rare. */
static enhope_dataset *make_rare(float *x, int32_t *label, int n)
{
    enhope_dataset *data = NULL;
    for (int i = 0; i < n; i++) {
        label[i] = i % 9 == 0;
        for (int j = 0; j < 2; j++)
            x[i * 2 + j] = (float)((j ? 0 : label[i] ? 0.6 : -0.6) + eh_random_normal(9, 1, (uint64_t)(i * 2 + j)));
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, n, 2, x, label, 2, NULL, &data), ENHOPE_OK);
    return data;
}

/* The validation error of the current state, recounted from predictions. weight (2): of a sample of
 * each class. */
static double weighted_error(enhope_trainer *t, const enhope_dataset *data, const int32_t *label, const double *weight)
{
    int32_t guess[450];
    double wrong = 0, all = 0;
    enhope_model *m = NULL;
    assert_int_equal(enhope_trainer_snapshot(t, &m), ENHOPE_OK);
    assert_int_equal(enhope_model_predict(ctx, m, data, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
    for (int64_t i = 0; i < t->samples.valid_n; i++) {
        const int64_t row = t->samples.rows[t->samples.n + i];
        wrong += guess[row] != label[row] ? weight[label[row]] : 0, all += weight[label[row]];
    }
    enhope_model_free(m);
    return wrong / all;
}

static void the_best_epoch_has_the_lowest_balanced_error(void **state)
{
    (void)state;
    enum { M = 450 };
    static float x[M * 2];
    static int32_t label[M];
    enhope_dataset *data = make_rare(x, label, M);
    enhope_settings *s = with("solver", "adam", "learning_rate", "0.1", "n_epochs", "9", "validation_fraction", "0.4",
                              "patience", "0", "class_weight", "balanced", NULL);
    enhope_trainer *t = NULL;
    enhope_progress p;
    double lowest = 2;
    int plain_differs = 0;
    assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
    for (int done = 0; !done;) {
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        if (!p.epoch_done) continue;
        double count[2] = {0};
        for (int64_t i = 0; i < t->samples.valid_n; i++) count[label[t->samples.rows[t->samples.n + i]]]++;
        const double inverse[2] = {1 / count[0], 1 / count[1]}, equal[2] = {1, 1};
        assert_float_equal(p.valid_error, weighted_error(t, data, label, inverse), 1e-9);
        plain_differs += fabs(p.valid_error - weighted_error(t, data, label, equal)) > 0.01;
        lowest = fmin(lowest, p.valid_error);
    }
    assert_true(p.best_error == lowest && plain_differs > 0);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

/* ---- settings, memory ---- */

static void a_list_gives_weights_by_class_name(void **state)
{
    (void)state;
    enum { M = 450 };
    static float x[M * 2];
    static int32_t label[M];
    const char *const names[] = {"no, thanks", "a=\"b\""};
    const double weight[] = {1, 7.5};
    enhope_dataset *data = make_rare(x, label, M), *named = NULL;
    enhope_trainer *t = NULL;
    enhope_progress p;
    int done = 0;
    assert_int_equal(enhope_dataset_view_f32(ctx, M, 2, x, label, 2, names, &named), ENHOPE_OK);
    enhope_settings *s =
        with("n_epochs", "2", "validation_fraction", "0.4", "class_weight", "\"a=\"\"b\"\"\"=7.5", NULL);
    assert_int_equal(enhope_trainer_create(ctx, NULL, named, s, &t), ENHOPE_OK);
    while (!done) assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
    for (int k = 0; k < 2; k++) assert_true(t->samples.class_weight[k] == (float)weight[k]);
    assert_float_equal(p.valid_error, weighted_error(t, named, label, weight), 1e-9);
    enhope_trainer_free(t);
    assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(
        strstr(enhope_error(ctx), "the class 'a=\"b\"', which the data does not have; its classes are '0', '1'"));
    enhope_settings_free(s);
    enhope_dataset_free(data), enhope_dataset_free(named);
}

static void class_weights_are_none_balanced_or_a_list(void **state)
{
    (void)state;
    static const char *const good[] = {"none", "balanced", "a=1", "a=1,b=2e3,\"c,d\"=0.5", "\"\"\"\"=2", "0=1,1=0.001"};
    static const char *const bad[] = {"",        "heavy",    "a=",      "a=0",    "a=-1",    "a=1,",
                                      "a=1,a=2", ",a=1",     "=1",      "\"a=1",  "a=b",     "a=1e10",
                                      "a=nan",   "\"a\"b=1", "a=1;b=2", "\"\"=1", "a=1,,b=1"};
    enhope_settings *s = enhope_settings_create();
    char text[64], longer[5000];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(enhope_settings_set(ctx, s, "class_weight", good[i]), ENHOPE_OK);
        assert_int_equal(enhope_settings_get(ctx, s, "class_weight", text, sizeof text), ENHOPE_OK);
        assert_string_equal(text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (enhope_settings_set(ctx, s, "class_weight", bad[i]) != ENHOPE_ERROR_ARGUMENT) fail_msg("%s", bad[i]);
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(enhope_settings_set(ctx, s, "class_weight", longer), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "class_weight has 4999 bytes: expected at most 4095"));
    enhope_settings_free(s);
}

/* A list that is longer than the texts of all other settings passes through a model file. */
static void a_model_stores_a_long_list(void **state)
{
    (void)state;
    char list[3000], path[] = "/tmp/enhope_weights_XXXXXX";
    enhope_model *loaded = NULL;
    memset(list, ' ', sizeof list);
    snprintf(list + 2900, 100, "=2"); /* the name of a class of blanks */
    list[0] = 'x';
    char name[2901];
    snprintf(name, sizeof name, "%.2900s", list);
    const char *names[C] = {"0", name, "2"};
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, names, &data), ENHOPE_OK);
    enhope_model *m = train(data, with("n_epochs", "1", "class_weight", list, NULL));
    close(mkstemp(path));
    assert_int_equal(enhope_model_save(ctx, m, path), ENHOPE_OK);
    assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_OK);
    assert_string_equal(enhope_model_setting(loaded, "class_weight"), list);
    unlink(path);
    enhope_model_free(m), enhope_model_free(loaded);
    enhope_dataset_free(data);
}

static void a_model_stores_class_target_settings(void **state)
{
    (void)state;
    static const char *const expected[][2] = {{"label_smoothing", "0.05"}, {"class_weight", "balanced"}};
    enhope_model *m = train(blobs, with("label_smoothing", "0.05", "class_weight", "balanced", "n_epochs", "1", NULL));
    assert_settings(m, expected, 2);
    enhope_model_free(m);
}

static void every_failed_allocation_returns_a_message_without_a_leak(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "1", "batch_size", "300", NULL);
    choose(s, 2);
    fail_allocations(ctx, train_once, &(training){ctx, blobs, s}, 2);
    fail_allocations(ctx, train_once, &(training){ctx, sparse_blobs, s}, 2);
    enhope_settings_free(s);
}

int main(void)
{
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "cpu") || !make_blobs(ctx)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_matches_the_loss),
        cmocka_unit_test(weights_and_shares_match_the_class_counts),
        cmocka_unit_test(validation_is_not_smoothed),
        cmocka_unit_test(every_exemplar_method_and_solver_learns_with_class_targets),
        cmocka_unit_test(every_kind_and_backend_trains_to_the_same_loss),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(neutral_values_change_nothing),
        cmocka_unit_test(smoothing_limits_the_probability_of_the_own_class),
        cmocka_unit_test(balanced_weights_make_a_rare_class_count),
        cmocka_unit_test(the_best_epoch_has_the_lowest_balanced_error),
        cmocka_unit_test(a_list_gives_weights_by_class_name),
        cmocka_unit_test(class_weights_are_none_balanced_or_a_list),
        cmocka_unit_test(a_model_stores_a_long_list),
        cmocka_unit_test(a_model_stores_class_target_settings),
        cmocka_unit_test(every_failed_allocation_returns_a_message_without_a_leak),
    };
    const int failed = cmocka_run_group_tests_name("class targets", tests, NULL, NULL);
    enhope_dataset_free(blobs), enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return failed;
}
