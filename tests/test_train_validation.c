/* The validation part: its best epoch is kept, probabilities are calibrated on it, and the
 * errors of a model are recounted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

/* The error of a model, recounted on the rows of the validation part. */
static double error_held_out(const enhope_trainer *t, const enhope_model *m)
{
    int32_t guess[N];
    int64_t errors = 0;
    assert_int_equal(enhope_model_predict(ctx, m, blobs, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
    for (int64_t i = 0; i < t->samples.valid_n; i++)
        errors += guess[t->samples.rows[t->samples.n + i]] != LABEL[t->samples.rows[t->samples.n + i]];
    return (double)errors / (double)t->samples.valid_n;
}

static void the_epoch_of_lowest_validation_error_is_kept(void **state)
{
    (void)state;
    /* a large rate, so that the last epoch is rarely the best */
    enhope_settings *s = with("solver", "adam", "learning_rate", "0.5", "n_epochs", "12", "validation_fraction", "0.3",
                              "patience", "0", NULL);
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
    assert_int_equal(t->samples.n + t->samples.valid_n, N);
    assert_int_equal(t->samples.valid_n, 90);
    enhope_progress p;
    double lowest = 2;
    for (int done = 0; !done;) {
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        if (p.epoch_done && p.valid_error < lowest) lowest = p.valid_error;
    }
    assert_true(p.best_error == lowest && p.epoch == 12 && p.seconds_left == 0);
    enhope_model *m = NULL, *present = NULL;
    assert_int_equal(enhope_trainer_model(t, &m), ENHOPE_OK);
    assert_int_equal(enhope_trainer_snapshot(t, &present), ENHOPE_OK);
    assert_true(error_held_out(t, m) == lowest && error_held_out(t, present) == p.valid_error);
    assert_true(p.valid_error > lowest); /* the two differ */
    enhope_model_info info;
    enhope_model_get_info(m, &info);
    assert_int_equal(info.best + 1, t->state.best_epoch); /* the model reports the kept epoch */
    /* no row is in both parts, and every class is in each */
    int seen[N] = {0};
    for (int i = 0; i < N; i++) seen[t->samples.rows[i]]++;
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    enhope_model_free(m);
    enhope_model_free(present);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

/* The validation part of the trainer. */
static enhope_dataset *held_out(const enhope_trainer *t, float *x, int32_t *label)
{
    enhope_dataset *data = NULL;
    for (int64_t i = 0; i < t->samples.valid_n; i++) {
        memcpy(x + i * H, X + t->samples.rows[t->samples.n + i] * H, H * sizeof *x);
        label[i] = LABEL[t->samples.rows[t->samples.n + i]];
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, t->samples.valid_n, H, x, label, C, NULL, &data), 0);
    return data;
}

/* Similarities are over- or underconfident. The validation part corrects them. */
static void probabilities_are_calibrated_on_the_validation_part(void **state)
{
    (void)state;
    static const char *const similarities[] = {"student", "gaussian", "student"}, *const dofs[] = {"1", "1", "5"};
    for (int s = 0; s < 3; s++) {
        enhope_settings *set = with("similarity", similarities[s], "dof", dofs[s], "n_epochs", "3",
                                    "validation_fraction", "0.4", "patience", "0", NULL);
        enhope_trainer *t = NULL;
        enhope_model *m = NULL;
        float x[N * H];
        int32_t label[N];
        int done = 0;
        assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, set, &t), 0);
        while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), 0);
        assert_int_equal(enhope_trainer_model(t, &m), 0);
        enhope_dataset *data = held_out(t, x, label);
        enhope_calibration fitted, plain;
        enhope_evaluation e = {.calibration = &fitted}, raw = {.calibration = &plain};
        assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &e), 0);
        assert_true(m->errors.temperature >= 0.01 && m->errors.temperature <= 100 &&
                    fabs(m->errors.temperature - 1) > 0.02);
        m->errors.temperature = 1;
        assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &raw), 0);
        assert_true(fitted.nll < plain.nll);
        assert_int_equal(e.errors, raw.errors);
        /* the model reproduces the numbers of training */
        assert_int_equal(m->errors.valid_n, t->samples.valid_n);
        assert_int_equal(m->errors.valid, e.errors);
        assert_float_equal((double)m->errors.valid / (double)m->errors.valid_n, t->state.best_error, 1e-12);
        assert_int_equal(enhope_model_evaluate(ctx, m, blobs, 0, &raw), 0);
        assert_int_equal(m->errors.train_n, t->samples.n);
        assert_int_equal(m->errors.train, raw.errors - e.errors);
        enhope_dataset_free(data);
        enhope_model_free(m);
        enhope_trainer_free(t);
        enhope_settings_free(set);
    }
    enhope_model *m = train(blobs, with("validation_fraction", "0", "n_epochs", "2", NULL));
    assert_true(m->errors.temperature == 1 && m->errors.valid_n == 0 && m->errors.train_n == N);
    enhope_model_free(m);
    m = train(blobs, with("method", "knn", NULL));
    assert_true(m->errors.temperature == 1 && !m->errors.valid_n && !m->errors.train_n);
    enhope_model_free(m);
}

/* The vote of the k nearest embedded training points without the point itself, over all pairs. */
static int64_t errors_without_self(const float *Y, int64_t h, const int32_t *label, int64_t n, int64_t k)
{
    int64_t errors = 0;
    for (int64_t i = 0; i < n; i++) {
        bool taken[N] = {[0] = false};
        int32_t votes[C] = {0}, best = -1, order[16];
        taken[i] = true;
        for (int64_t j = 0; j < k; j++) {
            double nearest = INFINITY;
            int64_t at = -1;
            for (int64_t p = 0; p < n; p++) {
                double d = 0;
                for (int64_t s = 0; s < h; s++) d += pow((double)Y[i * h + s] - (double)Y[p * h + s], 2);
                if (!taken[p] && d < nearest) nearest = d, at = p;
            }
            taken[at] = true;
            order[j] = label[at];
            votes[label[at]]++;
        }
        for (int64_t j = k - 1; j >= 0; j--)
            if (best < 0 || votes[order[j]] >= votes[best]) best = order[j];
        errors += best != label[i];
    }
    return errors;
}

static void a_training_point_does_not_vote_for_itself(void **state)
{
    (void)state;
    static const char *const k[] = {"1", "4", "5"};
    for (int i = 0; i < 3; i++) {
        enhope_model *m = train(
            blobs, with("method", "hope", "n_epochs", "1", "n_neighbors", k[i], "validation_fraction", "0.2", NULL));
        /* references are the training rows, then those of the validation part */
        assert_true(m->errors.temperature == 1 && m->errors.valid_n == N / 5 && m->errors.train_n == N - N / 5);
        const int64_t expected =
            errors_without_self(m->reference, m->shape.h, m->reference_label, m->errors.train_n, atoi(k[i]));
        assert_true(expected > 0);
        assert_true(llabs(m->errors.train - expected) <= 1); /* floats may order two neighbors differently */
        enhope_model_free(m);
    }
}

static void small_data_keeps_a_validation_part_and_a_default_number_of_exemplars(void **state)
{
    (void)state;
    enhope_dataset *few = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 24, H, X, LABEL, C, NULL, &few), ENHOPE_OK);
    enhope_settings *s = with("n_exemplars", "0", "n_epochs", "1", NULL);
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, NULL, few, s, &t), ENHOPE_OK);
    assert_int_equal(t->samples.valid_n, 2); /* 10 % of 24, although no class has ten */
    assert_int_equal(t->parameters.z, 6);
    enhope_trainer_free(t);
    enhope_dataset_free(few);
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, H, X, LABEL, C, NULL, &few), ENHOPE_OK);
    assert_int_equal(enhope_trainer_create(ctx, NULL, few, s, &t), ENHOPE_OK);
    assert_true(t->samples.valid_n == 0 && t->parameters.z == 3);
    enhope_trainer_free(t);
    enhope_dataset_free(few);
    enhope_settings_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_epoch_of_lowest_validation_error_is_kept),
        cmocka_unit_test(probabilities_are_calibrated_on_the_validation_part),
        cmocka_unit_test(a_training_point_does_not_vote_for_itself),
        cmocka_unit_test(small_data_keeps_a_validation_part_and_a_default_number_of_exemplars),
    };
    return cmocka_run_group_tests_name("train_validation", tests, open_blobs, close_blobs);
}
