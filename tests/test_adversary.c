/* Adversarial inputs: the gradient matches the loss for a fixed direction of the step, the step
 * raises the loss, every method and solver learns with them, and without them nothing changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "memory_support.h"
#include "train_support.h"

/* ---- adversarial inputs, in double ---- */

typedef struct choice {
    const char *method, *exemplars, *form;
} choice;

static const choice CHOICES[] = {{"en-hope", "learned", "joint"}, {"en-hope", "kmeans", "row"},
                                 {"hope", "learned", "joint"},    {"deep-en-hope", "learned", "row"},
                                 {"dt-nca", "learned", "auto"},   {"linear-en-hope", "random", "joint"},
                                 {"nca", "learned", "auto"},      {"lmnn", "learned", "auto"},
                                 {"pt-sne", "learned", "joint"},  {"snc", "learned", "auto"}};
enum { N_CHOICES = sizeof CHOICES / sizeof *CHOICES };

/* Two trainers with the same parameters and the same batch: one with adversarial steps and a
 * plain one. Dense data, or sparse data with noise. */
typedef struct twins {
    enhope_trainer *adversarial, *plain;
    int64_t count, numbers; /* number of parameters of the optimizer; number of scalars of the batch */
    double *g, *spare;      /* (count) */
} twins;

static twins open_twins(const choice *by, const char *step, bool noisy)
{
    twins w;
    for (int i = 0; i < 2; i++) {
        enhope_settings *s =
            with("method", by->method, "exemplars", by->exemplars, "normalizer", by->form, "n_factors", "4", "n_hidden",
                 "3", "batch_size", "30", "noise", noisy ? "0.3" : "0", "adversarial_step", i ? "0" : step, NULL);
        *(i ? &w.plain : &w.adversarial) = started(noisy ? sparse_blobs : blobs, s);
    }
    w.count = w.adversarial->optim->count;
    w.numbers = w.adversarial->loss.batch.n * w.adversarial->embedder.ld;
    w.g = malloc((size_t)w.count * sizeof *w.g), w.spare = malloc((size_t)w.count * sizeof *w.g);
    /* a line search may end at the kink of a hinge */
    double *x = (double *)w.adversarial->parameters.theta;
    for (int64_t v = 0; v < w.count; v++) x[v] += 0.01 * eh_random_normal(4, 1, (uint64_t)v);
    memcpy(w.plain->parameters.theta, x, (size_t)w.count * sizeof *x);
    assert_memory_equal(w.adversarial->embedder.X, w.plain->embedder.X, (size_t)w.numbers * sizeof(double));
    assert_null(w.plain->loss.adversarial.X_adv);
    return w;
}

static void close_twins(twins *w)
{
    free(w->g), free(w->spare);
    enhope_trainer_free(w->adversarial), enhope_trainer_free(w->plain);
}

static double loss_at(enhope_trainer *t, double *gradient)
{
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    return loss.value;
}

/* The plain loss of the batch stored in `from`. */
static double loss_from(twins *w, const eh_packed *from)
{
    memcpy(w->plain->embedder.X, from, (size_t)w->numbers * sizeof(double));
    return loss_at(w->plain, w->spare);
}

/* Moves every parameter a little and compares the gradient with differences. held: the
 * adversarial batch is fixed. Otherwise parameters whose move flips a sign are skipped. */
static double worst_difference(twins *w, bool held, int64_t *compared)
{
    double *x = (double *)(held ? w->plain : w->adversarial)->parameters.theta, worst = 0;
    const size_t bytes = (size_t)w->numbers * sizeof(double);
    double *batch = malloc(bytes);
    memcpy(batch, w->adversarial->loss.adversarial.X_adv, bytes);
    for (int64_t v = 0; v < w->count; v++) {
        const double kept = x[v], step = 1e-5;
        double value[2];
        bool turns = false;
        for (int side = 0; side < 2; side++) {
            x[v] = side ? kept - step : kept + step;
            value[side] = held ? (loss_from(w, w->adversarial->embedder.X) +
                                  loss_from(w, w->adversarial->loss.adversarial.X_adv)) /
                                     2
                               : loss_at(w->adversarial, w->spare);
            turns |= memcmp(batch, w->adversarial->loss.adversarial.X_adv, bytes) != 0;
        }
        x[v] = kept;
        *compared += !turns;
        if (!turns) worst = fmax(worst, fabs(w->g[v] - (value[0] - value[1]) / (2 * step)));
    }
    free(batch);
    return worst;
}

static void the_gradient_averages_both_losses_with_a_fixed_direction(void **state)
{
    (void)state;
    int64_t all = 0, held = 0, loose = 0;
    on("ref");
    for (int i = 0; i < 2 * N_CHOICES; i++) {
        const choice *by = CHOICES + i / 2;
        twins w = open_twins(by, "0.13", i % 2);
        const double loss = loss_at(w.adversarial, w.g);
        const double both =
            (loss_from(&w, w.adversarial->embedder.X) + loss_from(&w, w.adversarial->loss.adversarial.X_adv)) / 2;
        assert_true(fabs(loss - both) < 1e-12 * (1 + fabs(both)));
        double size = 0;
        for (int64_t v = 0; v < w.count; v++) size = fmax(size, fabs(w.g[v]));
        const double fixed =
            worst_difference(&w, true, &held); /* first, because the other changes the adversarial batch */
        const double worst = fmax(fixed, worst_difference(&w, false, &loose));
        if (worst > 1e-6 * size + 1e-10) fail_msg("%s: %g of %g", by->method, worst, size);
        all += w.count;
        close_twins(&w);
    }
    assert_true(held == all && loose > all * 3 / 4);
    on("cpu");
}

/* The loss rises by step times the sum of the absolute values of the gradient. */
static void a_small_step_raises_the_loss_by_its_slope(void **state)
{
    (void)state;
    on("ref");
    for (int i = 0; i < N_CHOICES; i++) {
        twins w = open_twins(CHOICES + i, "1e-6", false);
        loss_at(w.adversarial, w.g);
        const double rise =
            loss_from(&w, w.adversarial->loss.adversarial.X_adv) - loss_from(&w, w.adversarial->embedder.X);
        const double *dX = (double *)w.adversarial->loss.adversarial.dX;
        double slope = 0;
        for (int64_t v = 0; v < w.adversarial->loss.batch.n * H; v++) slope += fabs(dX[v]);
        if (!(rise > 0) || fabs(rise / (1e-6 * slope) - 1) > 1e-3)
            fail_msg("%s: %g, expected %g", CHOICES[i].method, rise, 1e-6 * slope);
        close_twins(&w);
    }
    on("cpu");
}

static void exemplars_and_validation_rows_do_not_move(void **state)
{
    (void)state;
    /* a learning rate of zero: parameters do not change */
    enhope_trainer *plain = started(blobs, with("solver", "adam", "learning_rate", "0", "batch_size", "0", NULL));
    enhope_trainer *moved = started(blobs, with("solver", "adam", "learning_rate", "0", "batch_size", "0", "n_epochs",
                                                "2", "adversarial_step", "2", NULL));
    const int64_t n = moved->samples.n, ld = moved->embedder.ld;
    assert_memory_equal(plain->parameters.theta, moved->parameters.theta,
                        (size_t)(plain->parameters.map_count + plain->parameters.z * H) * sizeof(float));
    for (int64_t v = 0; v < moved->parameters.z * H; v++)
        assert_true(((float *)moved->loss.adversarial.X_adv)[(n + v / H) * ld + v % H] ==
                    ((float *)moved->parameters.theta)[moved->parameters.map_count + v]);
    assert_true(plain->state.valid_error == moved->state.valid_error && plain->state.loss < moved->state.loss);
    enhope_trainer_free(plain), enhope_trainer_free(moved);
}

static void every_method_and_solver_learns_from_adversarial_inputs(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "deep-en-hope", "dt-mcml", "nca", "lmnn", "snc"};
    static const char *const solvers[] = {"cg", "lbfgs", "adam"};
    for (int i = 0; i < 7 * 3; i++) {
        const char *method = methods[i / 3], *solver = solvers[i % 3];
        enhope_model *m = train(i % 4 ? blobs : sparse_blobs,
                                with("method", method, "solver", solver, "learning_rate", "0.03", "hidden_layer_sizes",
                                     "24-12", "patience", "0", "n_epochs", strcmp(method, "snc") ? "30" : "60",
                                     "adversarial_step", "0.1", NULL));
        enhope_evaluation e = {0};
        assert_int_equal(enhope_model_evaluate(ctx, m, blobs, 0, &e), ENHOPE_OK);
        const double error = (double)e.errors / N;
        if (error > (strcmp(method, "snc") ? 0.15 : 0.3)) fail_msg("%s %s: %g", method, solver, error);
        enhope_model_free(m);
    }
}

static void every_kind_and_backend_trains_to_the_same_loss(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {blobs, sparse_blobs};
    double loss[4][2];
    for (int i = 0; i < 4; i++) {
        int64_t rows;
        on(i / 2 ? "ref" : "cpu");
        enhope_model *m = train(
            data[i % 2], with("solver", "adam", "n_epochs", "2", "adversarial_step", "0.1", "noise", "0.1", NULL));
        const enhope_history *h = enhope_model_history(m, &rows);
        assert_int_equal(rows, 2);
        loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
        enhope_model_free(m);
    }
    on("cpu");
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < 2; e++) assert_true(fabs(loss[i][e] - loss[3][e]) < 1e-4 * loss[3][e]);
}

static void same_model(enhope_model *a, enhope_model *b)
{
    assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
    assert_memory_equal(a->reference, b->reference, (size_t)(a->r * H) * sizeof *a->reference);
    enhope_model_free(a), enhope_model_free(b);
}

static void a_zero_step_changes_nothing(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "lbfgs", "adam"};
    for (int i = 0; i < 3; i++)
        same_model(train(blobs, with("solver", solvers[i], "n_epochs", "3", NULL)),
                   train(blobs, with("solver", solvers[i], "n_epochs", "3", "adversarial_step", "0", NULL)));
    /* direct solvers make no steps */
    enhope_model *m[2] = {
        train(blobs, with("method", "pca", NULL)),
        train(sparse_blobs, with("method", "pca", "adversarial_step", "0.1", NULL)),
    };
    for (int v = 0; v < (H + 1) * 2; v++) assert_true(fabsf(m[0]->theta[v] - m[1]->theta[v]) < 1e-5f);
    enhope_model_free(m[0]), enhope_model_free(m[1]);
}

/* ---- settings, memory ---- */

static void a_model_stores_its_adversarial_step(void **state)
{
    (void)state;
    static const char *const expected[][2] = {{"adversarial_step", "0.25"}};
    enhope_model *m = train(blobs, with("adversarial_step", "0.25", "n_epochs", "1", NULL));
    assert_settings(m, expected, 1);
    enhope_model_free(m);
}

static void every_failed_allocation_returns_a_message_without_a_leak(void **state)
{
    (void)state;
    enhope_settings *s = with("adversarial_step", "0.1", "n_epochs", "1", "batch_size", "300", NULL);
    fail_allocations(ctx, train_once, &(training){ctx, blobs, s}, 1);
    enhope_settings_free(s);
}

int main(void)
{
    ctx = enhope_context_create();
    if (!make_blobs(ctx)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_averages_both_losses_with_a_fixed_direction),
        cmocka_unit_test(a_small_step_raises_the_loss_by_its_slope),
        cmocka_unit_test(exemplars_and_validation_rows_do_not_move),
        cmocka_unit_test(every_method_and_solver_learns_from_adversarial_inputs),
        cmocka_unit_test(every_kind_and_backend_trains_to_the_same_loss),
        cmocka_unit_test(a_zero_step_changes_nothing),
        cmocka_unit_test(a_model_stores_its_adversarial_step),
        cmocka_unit_test(every_failed_allocation_returns_a_message_without_a_leak),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    enhope_dataset_free(blobs), enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return failed;
}
