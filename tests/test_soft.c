/* Soft targets: smoothed, mixed and balanced. The gradient is that of the loss, the target and the inputs of a batch are
 * what they are said to be, every exemplar method and solver learns with them, and without them nothing changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compute/disturb.h"
#include "blobs_support.h"
#include "memory_support.h"
#include "train_support.h"

/* ---- the loss, in double ---- */

static double loss_at(enhope_trainer *t, double *gradient)
{
    eh_value loss;
    eh_train_loss(t, t->theta, (eh_real *)gradient, (eh_scalar *)&loss);
    return loss.value;
}

static const char *const SOFT[][6] = {{"smooth", "0.2", "mix", "0", "balance", "0"},
                                      {"smooth", "0", "mix", "0.4", "balance", "0"},
                                      {"smooth", "0", "mix", "0", "balance", "0.7"},
                                      {"smooth", "0.1", "mix", "0.3", "balance", "1"}};
enum { N_SOFT = sizeof SOFT / sizeof *SOFT };

static void soften(enhope_settings *s, int i)
{
    for (int k = 0; k < 6; k += 2) assert_int_equal(enhope_settings_set(ctx, s, SOFT[i][k], SOFT[i][k + 1]), 0);
}

static void the_gradient_is_that_of_the_loss(void **state)
{
    (void)state;
    static const char *const methods[][4] = {{"en-hope", "learned", "joint", "sample"},
                                             {"en-hope", "kmeans", "row", "pair"},
                                             {"deep-en-hope", "learned", "joint", "pair"},
                                             {"linear-en-hope", "random", "row", "sample"},
                                             {"snc", "learned", "row", "sample"}};
    on("ref");
    for (int i = 0; i < 5 * N_SOFT * 2; i++) {
        const char *const *by = methods[i / 2 % 5];
        enhope_settings *s =
            with("method", by[0], "exemplars", by[1], "form", by[2], "weight", by[3], "target", "mcml", "factors", "4",
                 "hidden", "3", "batch", "30", "z", "7", "adversary", i % 4 == 3 ? "1e-3" : "0", "norm", "l2", NULL);
        soften(s, i / 10);
        enhope_trainer *t = started(i % 2 ? blobs : sparse_blobs, s);
        const int64_t count = t->optim->count;
        double *x = (double *)t->theta, *g = malloc((size_t)count * sizeof *g), *spare = malloc((size_t)count * 8);
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
        /* the direction of an adversarial step counts as a constant: what is left out is as small as the step */
        if (worst > (t->climbed ? 1e-2 : 1e-6) * size + 1e-10) fail_msg("%s %d: %g of %g", by[0], i, worst, size);
        free(g), free(spare);
        enhope_trainer_free(t);
    }
    on("cpu");
}

/* By class: its samples' part of the target, whatever else is in a batch. */
static void the_target_of_a_batch_is_what_is_said(void **state)
{
    (void)state;
    on("ref");
    for (int i = 0; i < N_SOFT; i++) {
        enhope_settings *s = with("batch", "30", "z", "7", NULL);
        soften(s, i);
        enhope_trainer *t = started(blobs, s);
        const int32_t *label = (const int32_t *)t->batch_label;
        const int64_t n = t->batch_n, z = t->z, *rows = (const int64_t *)t->batch_rows;
        double crowd[C] = {0}, samples[C] = {0}, all = 0, sum = 0;
        for (int64_t j = 0; j < z; j++) crowd[t->exemplar_label[j]]++;
        for (int64_t k = 0; k < t->n; k++) samples[LABEL[t->rows[k]]]++;
        double want[30][7];
        assert_true(n == 30 && z == 7 && t->soft_classes == C);
        for (int64_t k = 0; k < n; k++) {
            const double l =
                t->set.mix * (double)eh_mix_part(1, 0, rows[k]); /* of the first epoch, under the usual seed */
            for (int64_t j = 0; j < z; j++) {
                want[k][j] = 0;
                for (int side = 0; side < 2; side++) {
                    const int32_t y = label[side ? (k + 1) % n : k], c = t->exemplar_label[j];
                    const double pi = (1 - t->set.smooth) * (c == y) + t->set.smooth / C;
                    const double omega = pow(samples[y] / (double)t->n, -t->set.balance);
                    want[k][j] += (side ? l : 1 - l) * omega * pi / crowd[c];
                }
                all += want[k][j];
            }
        }
        for (int64_t k = 0; k < n * z; k++) {
            const double got = ((const double *)t->soft)[k];
            assert_true(fabs(got - want[k / z][k % z] / all) < 1e-7);
            sum += got;
        }
        assert_true(fabs(sum - 1) < 1e-12);
        enhope_trainer_free(t);
    }
    on("cpu");
}

/* A rate of nothing: parameters and exemplars stay, and so do embeddings and errors; the loss is another. */
static void what_is_validated_is_neither_mixed_nor_smoothed(void **state)
{
    (void)state;
    enhope_trainer *plain = started(blobs, with("solver", "adam", "rate", "0", "batch", "0", NULL));
    enhope_trainer *soft =
        started(blobs, with("solver", "adam", "rate", "0", "batch", "0", "mix", "0.5", "smooth", "0.3", NULL));
    assert_memory_equal(plain->theta, soft->theta, (size_t)(plain->P + plain->z * H) * sizeof(float));
    assert_true(plain->valid_error == soft->valid_error && plain->loss != soft->loss);
    enhope_trainer_free(plain), enhope_trainer_free(soft);
}

static void mixed_inputs_are_those_of_two_samples(void **state)
{
    (void)state;
    enhope_trainer *t = started(blobs, with("batch", "37", "mix", "0.5", NULL));
    const int64_t n = t->batch_n, *rows = (const int64_t *)t->batch_rows;
    for (int64_t i = 0; i < n; i++) {
        const double l = 0.5 * (double)eh_mix_part(1, 0, rows[i]);
        assert_true(l > 0 && l < 0.5);
        for (int j = 0; j < H; j++) {
            const double want = (1 - l) * X[rows[i] * H + j] + l * X[rows[(i + 1) % n] * H + j];
            assert_true(fabs(((const float *)t->embedder.X)[i * t->embedder.ld + j] - want) < 1e-6);
        }
    }
    enhope_trainer_free(t);
}

/* ---- training ---- */

static double error_of(const enhope_model *m, const enhope_dataset *data)
{
    enhope_evaluation e = {0};
    assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &e), ENHOPE_OK);
    return (double)e.errors / N;
}

static void every_exemplar_method_and_solver_learns_from_soft_targets(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "deep-en-hope"}, *const solvers[] = {"cg", "lbfgs", "adam"};
    for (int i = 0; i < 2 * 3 * N_SOFT; i++) {
        enhope_settings *s = with("method", methods[i % 2], "solver", solvers[i / 2 % 3], "rate", "0.03", "layers",
                                  "24-12", "patience", "0", "epochs", "30", "target", "mcml", "form", "row", "average",
                                  i % 3 ? "0" : "0.8", "adversary", i % 4 ? "0" : "0.1", NULL);
        soften(s, i / 6);
        enhope_model *m = train(i % 4 ? blobs : sparse_blobs, s);
        const double error = error_of(m, blobs);
        if (error > 0.15) fail_msg("%d %s: %g", i, methods[i % 2], error);
        enhope_model_free(m);
    }
}

static void every_kind_and_backend_trains_alike(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {blobs, sparse_blobs};
    for (int by = 0; by < N_SOFT; by++) {
        double loss[4][2];
        for (int i = 0; i < 4; i++) {
            int64_t rows;
            on(i / 2 ? "ref" : "cpu");
            enhope_settings *s = with("solver", "adam", "epochs", "2", "batch", "40", "average", "0.9", NULL);
            soften(s, by);
            enhope_model *m = train(data[i % 2], s);
            const enhope_history *h = enhope_model_history(m, &rows);
            assert_int_equal(rows, 2);
            loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
            enhope_model_free(m);
        }
        /* what stays sparse starts from a smaller sample */
        for (int i = 0; i < 3; i++)
            for (int e = 0; e < 2; e++)
                if (i == 1 || strcmp(SOFT[by][3], "0") != 0)
                    assert_true(fabs(loss[i][e] - loss[3][e]) < 1e-4 * loss[3][e]);
        for (int e = 0; e < 2; e++) assert_true(fabs(loss[0][e] - loss[2][e]) < 1e-4 * loss[2][e]);
    }
    on("cpu");
}

static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    enhope_model *m[2];
    for (int i = 0; i < 2; i++) {
        enhope_settings *s = with("solver", "adam", "epochs", "3", "batch", "0", "factors", "90", NULL);
        soften(s, 3);
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

/* Methods that compare with no exemplars pass over them, too. */
static void nothing_asked_for_changes_nothing(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "lbfgs", "adam"}, *const others[] = {"hope", "pca", "lmnn", "pt-sne"};
    for (int i = 0; i < 3; i++)
        same_model(
            train(blobs, with("solver", solvers[i], "epochs", "3", NULL)),
            train(blobs, with("solver", solvers[i], "epochs", "3", "smooth", "0", "mix", "0", "balance", "0", NULL)));
    for (int i = 0; i < 4; i++)
        same_model(train(blobs, with("method", others[i], "epochs", "2", NULL)),
                   train(blobs, with("method", others[i], "epochs", "2", "smooth", "0.2", "mix", "0.3", "balance", "1",
                                     NULL)));
    enhope_trainer *t = started(sparse_blobs, with(NULL));
    assert_true(t->embedder.sparse && !t->soft && !t->objective.P);
    enhope_trainer_free(t);
    /* only what is mixed has to be dense */
    t = started(sparse_blobs, with("smooth", "0.1", "balance", "1", NULL));
    assert_true(t->embedder.sparse && t->objective.P == t->soft);
    enhope_trainer_free(t);
}

/* With one exemplar a class and outputs that fit, q comes to what was asked for: 1 - smooth of the own class. */
static void smoothing_sets_how_sure_a_map_becomes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        enhope_settings *s = with("solver", "adam", "rate", "0.03", "z", "3", "form", "row", "similarity", "gaussian",
                                  "epochs", "300", "batch", "0", "valid", "0", "smooth", i ? "0.3" : "0", NULL);
        enhope_trainer *t = NULL;
        int done = 0;
        assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
        while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
        /* the mean q of the own class; Y has the batch, then the exemplars */
        const float *y = (const float *)t->embedder.Y;
        const int64_t n = t->batch_n;
        double own = 0;
        for (int64_t k = 0; k < n; k++) {
            double all = 0, mine = 0;
            for (int64_t j = 0; j < t->z; j++) {
                double d = 0;
                for (int v = 0; v < 2; v++) d += pow((double)y[k * 2 + v] - y[(n + j) * 2 + v], 2);
                all += exp(-d);
                if (t->exemplar_label[j] == ((const int32_t *)t->batch_label)[k]) mine += exp(-d);
            }
            own += mine / all / (double)n;
        }
        if (i ? fabs(own - 0.8) > 0.03 || t->loss > 0.05 : own < 0.95) fail_msg("%g, loss %g", own, t->loss);
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
}

/* Two classes that overlap, one of them rare: balanced, the rare one has as much ground as the other. */
static void balance_makes_a_rare_class_count(void **state)
{
    (void)state;
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
    double found[2];
    for (int i = 0; i < 2; i++) {
        enhope_model *m =
            train(data, with("method", "linear-en-hope", "form", "row", "z", "2", "solver", "adam", "rate", "0.03",
                             "epochs", "60", "valid", "0", "balance", i ? "1" : "0", NULL));
        int32_t guess[M];
        assert_int_equal(enhope_model_predict(ctx, m, data, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
        found[i] = 0;
        for (int k = 0; k < M; k++) found[i] += label[k] == 1 && guess[k] == 1;
        found[i] /= M / 15;
        enhope_model_free(m);
    }
    if (found[0] > 0.3 || found[1] < 0.6) fail_msg("found %g of the rare class, %g where balanced", found[0], found[1]);
    enhope_dataset_free(data);
}

/* ---- settings, memory ---- */

static void a_model_tells_how_soft_its_target_was(void **state)
{
    (void)state;
    static const char *const told[][2] = {{"smooth", "0.05"}, {"mix", "0.15"}, {"balance", "0.5"}};
    enhope_model *m = train(blobs, with("smooth", "0.05", "mix", "0.15", "balance", "0.5", "epochs", "1", NULL));
    assert_told(m, told, 3);
    enhope_model_free(m);
}

static void the_nca_target_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"smooth", "mix", "balance"};
    for (int i = 0; i < 6; i++) {
        enhope_trainer *t = NULL;
        enhope_settings *s =
            i < 3 ? with("target", "nca", names[i], "0.25", NULL) : with("method", "snc", names[i % 3], "0.25", NULL);
        char sentence[64];
        assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_ERROR_ARGUMENT);
        assert_null(t);
        snprintf(sentence, sizeof sentence, "%s is 0.25: with target nca", names[i % 3]);
        assert_non_null(strstr(enhope_error(ctx), sentence));
        enhope_settings_free(s);
    }
}

static void every_failed_allocation_is_a_sentence_and_no_leak(void **state)
{
    (void)state;
    enhope_settings *s = with("epochs", "1", "batch", "300", NULL);
    soften(s, 3);
    enhope_status status = ENHOPE_ERROR_MEMORY;
    for (long k = 0; status; k++) {
        enhope_model *m = NULL;
        allocations_left = k;
        alive = 0;
        enhope_set_allocator(counting_malloc, counting_free);
        status = enhope_train(ctx, k % 2 ? blobs : sparse_blobs, s, NULL, NULL, &m);
        enhope_model_free(m);
        enhope_set_allocator(NULL, NULL);
        assert_int_equal(alive, 0);
        if (status) assert_non_null(strstr(enhope_error(ctx), "out of memory"));
    }
    enhope_settings_free(s);
}

int main(void)
{
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "cpu") || !make_blobs(ctx)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_loss),
        cmocka_unit_test(the_target_of_a_batch_is_what_is_said),
        cmocka_unit_test(what_is_validated_is_neither_mixed_nor_smoothed),
        cmocka_unit_test(mixed_inputs_are_those_of_two_samples),
        cmocka_unit_test(every_exemplar_method_and_solver_learns_from_soft_targets),
        cmocka_unit_test(every_kind_and_backend_trains_alike),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(nothing_asked_for_changes_nothing),
        cmocka_unit_test(smoothing_sets_how_sure_a_map_becomes),
        cmocka_unit_test(balance_makes_a_rare_class_count),
        cmocka_unit_test(a_model_tells_how_soft_its_target_was),
        cmocka_unit_test(the_nca_target_is_refused),
        cmocka_unit_test(every_failed_allocation_is_a_sentence_and_no_leak),
    };
    const int failed = cmocka_run_group_tests_name("soft", tests, NULL, NULL);
    enhope_dataset_free(blobs), enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return failed;
}
