/* Weights of samples in training: bad ones are refused, whole weights count like copies, weight 0
 * like no sample, and weights belong to their rows wherever these go. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "data/store/store.h"
#include "memory_support.h"
#include "train_support.h"

static double weight[N];

/* The blobs with weights; w NULL: none. */
static enhope_dataset *weighted(bool sparse, const double *w)
{
    enhope_dataset *data = NULL;
    assert_int_equal(sparse ? enhope_dataset_view_csr(ctx, N, H, row_start, column, X, LABEL, C, NULL, &data)
                            : enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &data),
                     ENHOPE_OK);
    if (enhope_dataset_set_weights(ctx, data, w)) fail_msg("%s", enhope_error(ctx));
    return data;
}

static void assert_fails(enhope_status got, enhope_status want, const char *message)
{
    assert_int_equal(got, want);
    assert_string_equal(enhope_error(ctx), message);
}

/* The defaults but one setting. */
static enhope_settings *only(const char *name, const char *value)
{
    enhope_settings *s = enhope_settings_create();
    assert_int_equal(enhope_settings_set(ctx, s, name, value), ENHOPE_OK);
    return s;
}

/* Compares parameters of the map and exemplars; frees the models. */
static void assert_same_model(enhope_model *a, enhope_model *b)
{
    assert_int_equal(a->r, b->r);
    assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
    assert_memory_equal(a->reference, b->reference, (size_t)(a->r * a->shape.H) * sizeof *a->reference);
    assert_true(a->errors.temperature == b->errors.temperature);
    enhope_model_free(a), enhope_model_free(b);
}

static void bad_weights_are_refused(void **state)
{
    (void)state;
    enhope_dataset *data = weighted(false, NULL);
    static const struct {
        double value;
        const char *message;
    } bad[] = {{-0.5, "the weight of sample 42 is -0.5: expected a finite number from 0"},
               {NAN, "the weight of sample 42 is nan: expected a finite number from 0"},
               {INFINITY, "the weight of sample 42 is inf: expected a finite number from 0"}};
    double w[N] = {0};
    assert_fails(enhope_dataset_set_weights(ctx, data, w), ENHOPE_ERROR_DATA,
                 "all weights are 0: expected at least one above 0");
    for (int i = 0; i < N; i++) w[i] = 1;
    for (int b = 0; b < 3; b++) {
        w[41] = bad[b].value;
        assert_fails(enhope_dataset_set_weights(ctx, data, w), ENHOPE_ERROR_DATA, bad[b].message);
        assert_null(data->weight);
    }
    for (int i = 0; i < N; i++) w[i] = i % 2 ? DBL_MAX : DBL_MAX / 3; /* their sum is infinite */
    assert_int_equal(enhope_dataset_set_weights(ctx, data, w), ENHOPE_OK);
    assert_float_equal(data->weight[0], 0.5, 1e-6);
    assert_float_equal(data->weight[1], 1.5, 1e-6);
    enhope_dataset_free(data);
}

static void methods_without_exemplars_refuse_weights(void **state)
{
    (void)state;
    enhope_dataset *data = weighted(false, weight);
    for (int i = 0; i < enhope_method_count(); i++) {
        const char *name = enhope_method_get(i)->name;
        const bool exemplars = eh_method_find(name)->compared == EH_EXEMPLARS;
        enhope_settings *s = with("method", name, "n_epochs", "1", NULL);
        enhope_trainer *t = NULL;
        const enhope_status status = enhope_trainer_create(ctx, NULL, data, s, &t);
        char message[200];
        snprintf(message, sizeof message,
                 "%s has no weights of samples; train without them, or use a method with exemplars: en-hope, "
                 "deep-en-hope, linear-en-hope or snc",
                 name);
        if (!exemplars) assert_fails(status, ENHOPE_ERROR_ARGUMENT, message);
        if (exemplars && status) fail_msg("%s: %s", name, enhope_error(ctx));
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
    enhope_dataset_free(data);
}

/* The weights of a batch are the product of those of samples and classes, row by row. */
static void rows_of_a_batch_have_the_weights_of_sample_and_class(void **state)
{
    (void)state;
    static const char *const by[] = {"none", "0=0.7,2=2.385", "balanced"};
    on("ref");
    for (int i = 0; i < 6; i++) {
        enhope_dataset *data = weighted(i % 2, weight);
        enhope_trainer *t = started(data, with("batch_size", "30", "class_weight", by[i / 2], NULL));
        double total[C] = {0}, all = 0;
        for (int64_t k = 0; k < t->samples.n; k++) {
            const int64_t row = t->samples.rows[k];
            total[LABEL[row]] += (double)data->weight[row], all += (double)data->weight[row];
        }
        for (int64_t k = 0; k < t->loss.batch.n; k++) {
            const int64_t row = ((const int64_t *)t->loss.batch.rows)[k];
            const double list[C] = {0.7, 1, 2.385}, of_class = i / 2 == 0   ? 1
                                                               : i / 2 == 1 ? list[LABEL[row]]
                                                                            : all / total[LABEL[row]];
            assert_float_equal(((const double *)t->loss.batch.weight)[k], data->weight[row] * of_class, 1e-5);
        }
        enhope_trainer_free(t);
        enhope_dataset_free(data);
    }
    on("cpu");
}

static double loss_at(enhope_trainer *t, double *gradient)
{
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    return loss.value;
}

static void the_gradient_matches_the_weighted_loss(void **state)
{
    (void)state;
    static const char *const methods[][4] = {{"en-hope", "learned", "joint", "mcml"},
                                             {"en-hope", "kmeans", "row", "nca"},
                                             {"deep-en-hope", "learned", "joint", "nca"},
                                             {"linear-en-hope", "random", "row", "mcml"},
                                             {"snc", "learned", "row", "nca"}};
    on("ref");
    for (int i = 0; i < 10; i++) {
        const char *const *by = methods[i / 2];
        enhope_dataset *data = weighted(i % 2, weight);
        enhope_trainer *t = started(data, with("method", by[0], "exemplars", by[1], "normalizer", by[2], "target",
                                               by[3], "n_factors", "4", "n_hidden", "3", "batch_size", "30",
                                               "n_exemplars", "7", "class_weight", "1=1.7", NULL));
        const int64_t count = t->optim->count;
        double *x = (double *)t->parameters.theta, *g = malloc((size_t)count * sizeof *g);
        double *spare = malloc((size_t)count * sizeof *spare), size = 0, worst = 0;
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
        if (worst > 1e-6 * size + 1e-10) fail_msg("%s %d: %g of %g", by[0], i, worst, size);
        free(g), free(spare);
        enhope_trainer_free(t);
        enhope_dataset_free(data);
    }
    on("cpu");
}

/* ---- what weights mean ---- */

static void equal_weights_change_nothing(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "lbfgs", "adam"};
    double equal[N];
    for (int i = 0; i < N; i++) equal[i] = 2.385e-7;
    for (int i = 0; i < 6; i++) {
        enhope_dataset *data = weighted(i % 2, equal);
        enhope_settings *s[2];
        for (int k = 0; k < 2; k++)
            s[k] =
                with("solver", solvers[i / 2], "n_epochs", "3", "n_exemplars", "9", "noise", i % 2 ? "0" : "0.1", NULL);
        assert_same_model(train(i % 2 ? sparse_blobs : blobs, s[0]), train(data, s[1]));
        enhope_dataset_free(data);
    }
}

/* Samples without a label keep their row numbers, which noise depends on. */
/* Samples without a label take no part. */
static void weight_zero_equals_no_label(void **state)
{
    (void)state;
    double mask[N];
    int32_t label[N];
    for (int i = 0; i < N; i++) mask[i] = i % 7 == 3 || i < 20 ? 0 : 0.3, label[i] = mask[i] > 0 ? LABEL[i] : -1;
    for (int i = 0; i < 2; i++) {
        enhope_dataset *without = NULL, *data = weighted(false, mask);
        assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, label, C, NULL, &without), ENHOPE_OK);
        enhope_settings *s[2]; /* chosen by cross-validation; set */
        for (int k = 0; k < 2; k++) s[k] = i ? with("n_epochs", "5", "noise", "0.1", NULL) : only("n_epochs", "3");
        if (!i) assert_int_equal(enhope_settings_set(ctx, s[0], "unlabeled_weight", "0"), ENHOPE_OK);
        assert_same_model(train(without, s[0]), train(data, s[1]));
        enhope_dataset_free(without), enhope_dataset_free(data);
    }
}

static void a_common_factor_of_all_weights_changes_nothing(void **state)
{
    (void)state;
    double more[N];
    for (int i = 0; i < N; i++) more[i] = 1024 * weight[i];
    enhope_dataset *a = weighted(false, weight), *b = weighted(false, more);
    assert_same_model(train(a, with("n_epochs", "5", NULL)), train(b, with("n_epochs", "5", NULL)));
    enhope_dataset_free(a), enhope_dataset_free(b);
}

/* Training continues the same model with a full batch: a sample of weight 2 or 3 against two or
 * three equal samples. */
static void whole_weights_equal_copies_in_a_full_batch(void **state)
{
    (void)state;
    static const char *const normalizers[] = {"row", "joint"};
    static float x[3 * N * H];
    int32_t label[3 * N];
    double whole[N];
    int64_t n = 0;
    for (int i = 0; i < N; i++) {
        whole[i] = 1 + i % 3;
        for (int copy = 0; copy <= i % 3; copy++, n++) {
            label[n] = LABEL[i];
            memcpy(x + n * H, X + i * H, H * sizeof *x);
        }
    }
    enhope_dataset *copies = NULL, *data = weighted(false, whole);
    assert_int_equal(enhope_dataset_view_f32(ctx, n, H, x, label, C, NULL, &copies), ENHOPE_OK);
    on("ref");
    for (int i = 0; i < 2; i++) {
        enhope_model *from = train(blobs, with("n_epochs", "3", "normalizer", normalizers[i], NULL)), *m[2];
        static float Y[2][N * 2], before[N * 2];
        assert_int_equal(enhope_model_embed(ctx, from, blobs, before), ENHOPE_OK);
        double moved = 0;
        for (int k = 0; k < 2; k++) {
            enhope_settings *s = with("solver", "lbfgs", "batch_size", "0", "n_epochs", "2", "validation_fraction", "0",
                                      "normalizer", normalizers[i], NULL);
            if (enhope_model_update(ctx, from, k ? data : copies, s, NULL, NULL, &m[k]))
                fail_msg("%s", enhope_error(ctx));
            assert_int_equal(enhope_model_embed(ctx, m[k], blobs, Y[k]), ENHOPE_OK);
            enhope_settings_free(s);
        }
        for (int k = 0; k < 2 * N; k++) {
            assert_float_equal(Y[0][k], Y[1][k], 1e-4);
            moved = fmax(moved, fabs((double)Y[0][k] - (double)before[k]));
        }
        assert_true(moved > 0.01);
        enhope_model_free(from), enhope_model_free(m[0]), enhope_model_free(m[1]);
    }
    on("cpu");
    enhope_dataset_free(copies), enhope_dataset_free(data);
}

/* Two overlapping clouds: the one with the larger weights gets more of the space. */
static void heavy_samples_count_more(void **state)
{
    (void)state;
    enum { M = 400 };
    static float x[M * 2];
    static int32_t label[M], guess[M];
    double w[M];
    int first[2] = {0};
    for (int i = 0; i < M; i++) {
        label[i] = i % 2;
        for (int j = 0; j < 2; j++)
            x[i * 2 + j] = (float)((j ? 0 : label[i] ? 0.6 : -0.6) + eh_random_normal(9, 1, (uint64_t)(i * 2 + j)));
    }
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, M, 2, x, label, 2, NULL, &data), ENHOPE_OK);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < M; i++) w[i] = label[i] == k ? 6 : 1;
        assert_int_equal(enhope_dataset_set_weights(ctx, data, w), ENHOPE_OK);
        enhope_model *m =
            train(data, with("method", "linear-en-hope", "normalizer", "row", "n_exemplars", "2", "solver", "adam",
                             "learning_rate", "0.03", "validation_fraction", "0", NULL));
        assert_int_equal(enhope_model_predict(ctx, m, data, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
        for (int i = 0; i < M; i++) first[k] += guess[i] == 0;
        enhope_model_free(m);
    }
    if (first[0] < M * 0.65 || first[1] > M * 0.35) fail_msg("%d and %d of %d", first[0], first[1], M);
    enhope_dataset_free(data);
}

/* ---- validation ---- */

static void errors_in_validation_count_with_their_weight(void **state)
{
    (void)state;
    static const char *const by[] = {"none", "0=0.7,2=2.385", "balanced"};
    enhope_dataset *data = weighted(false, weight);
    assert_int_equal(enhope_dataset_set_validation(ctx, data, 120), ENHOPE_OK);
    for (int i = 0; i < 3; i++) {
        enhope_settings *s = with("solver", "adam", "n_epochs", "2", "class_weight", by[i], NULL);
        enhope_trainer *t = NULL;
        enhope_model *m = NULL;
        int32_t guess[N];
        double wrong = 0, all = 0, total[C] = {0};
        const double list[C] = {0.7, 1, 2.385};
        enhope_progress p = {0};
        assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
        for (int done = 0; !done;) assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        assert_int_equal(enhope_trainer_snapshot(t, &m), ENHOPE_OK);
        assert_int_equal(enhope_model_predict(ctx, m, data, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
        for (int r = N - 120; r < N; r++) total[LABEL[r]] += weight[r];
        for (int r = N - 120; r < N; r++) {
            const double one = weight[r] * (i == 0 ? 1 : i == 1 ? list[LABEL[r]] : 1 / total[LABEL[r]]);
            wrong += guess[r] != LABEL[r] ? one : 0, all += one;
        }
        assert_true(wrong > 0);
        assert_float_equal(p.valid_error, wrong / all, 1e-6);
        enhope_model_free(m);
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
    enhope_dataset_free(data);
}

/* ---- rows that are selected, joined, streamed, resumed ---- */

static void weights_follow_their_rows(void **state)
{
    (void)state;
    const int64_t rows[] = {7, 3, 250, 7};
    enhope_dataset *data = weighted(false, weight), *plain = weighted(false, NULL), *some = NULL;
    assert_int_equal(enhope_dataset_select(ctx, data, rows, 4, &some), ENHOPE_OK);
    for (int i = 0; i < 4; i++) assert_true(some->weight[i] == data->weight[rows[i]]);
    enhope_dataset *block = NULL;
    assert_int_equal(enhope_dataset_block(ctx, data, 41, 9, &block), ENHOPE_OK);
    for (int i = 0; i < 9; i++) assert_true(block->weight[i] == data->weight[41 + i]);
    enhope_dataset_free(block);
    assert_int_equal(enhope_dataset_add_validation(ctx, some, plain), ENHOPE_OK);
    for (int i = 0; i < 4; i++) assert_true(some->weight[i] == data->weight[rows[i]]);
    for (int i = 0; i < N; i++) assert_true(some->weight[4 + i] == 1);
    assert_int_equal(enhope_dataset_set_weights(ctx, some, NULL), ENHOPE_OK);
    assert_null(some->weight);
    assert_int_equal(enhope_dataset_add_validation(ctx, plain, data), ENHOPE_OK);
    for (int i = 0; i < 2 * N; i++) assert_true(plain->weight[i] == (i < N ? 1 : data->weight[i - N]));
    enhope_dataset_free(data), enhope_dataset_free(plain), enhope_dataset_free(some);
}

static void a_checkpoint_belongs_to_its_weights(void **state)
{
    (void)state;
    char path[] = "/tmp/enhope-weights-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    double other[N];
    memcpy(other, weight, sizeof other);
    other[17] *= 1.01;
    enhope_dataset *data[] = {weighted(false, weight), weighted(false, other), weighted(false, NULL)};
    enhope_settings *s = with("n_epochs", "4", NULL);
    enhope_model *whole = NULL, *resumed = NULL;
    enhope_trainer *t = NULL;
    int done;
    assert_int_equal(enhope_train(ctx, data[0], s, NULL, NULL, &whole), ENHOPE_OK);
    assert_int_equal(enhope_trainer_create(ctx, NULL, data[0], s, &t), ENHOPE_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_int_equal(enhope_trainer_checkpoint(t, path), ENHOPE_OK);
    enhope_trainer_free(t);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(enhope_trainer_create(ctx, NULL, data[i], s, &t), ENHOPE_OK);
        const enhope_status status = enhope_trainer_resume(t, path);
        if (i) {
            assert_int_equal(status, ENHOPE_ERROR_DATA);
            assert_non_null(strstr(enhope_error(ctx), "there are other weights; resume with the same data"));
        } else {
            assert_true(!status && !enhope_trainer_run(t, NULL, NULL) && !enhope_trainer_model(t, &resumed));
        }
        enhope_trainer_free(t);
        enhope_dataset_free(data[i]);
    }
    assert_same_model(whole, resumed);
    enhope_settings_free(s);
    unlink(path);
}

static void streamed_data_refuses_weights(void **state)
{
    (void)state;
    enhope_dataset *data = weighted(false, NULL), streamed = *data;
    assert_int_equal(eh_store_from_dataset(ctx, data, &streamed.store), ENHOPE_OK);
    assert_int_equal(enhope_dataset_set_weights(ctx, &streamed, weight), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "a weight for each sample needs the data in memory"));
    eh_store_free(streamed.store);
    enhope_dataset_free(data);
}

static enhope_status use_weights(void *settings)
{
    static const int64_t rows[] = {0, 1, 2, 30, 31, 32, 60, 61, 62, 90, 91, 92};
    enhope_dataset *data = NULL, *some = NULL;
    enhope_model *m = NULL;
    enhope_status status = enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &data);
    if (!status) status = enhope_dataset_set_weights(ctx, data, weight);
    if (!status) status = enhope_dataset_select(ctx, data, rows, 12, &some);
    if (!status) status = enhope_dataset_add_validation(ctx, some, data);
    if (!status) status = enhope_train(ctx, some, settings, NULL, NULL, &m);
    enhope_model_free(m);
    enhope_dataset_free(some), enhope_dataset_free(data);
    return status;
}

static void every_failed_allocation_returns_a_message_without_a_leak(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "1", "class_weight", "balanced", NULL);
    fail_allocations(ctx, use_weights, s, 1);
    enhope_settings_free(s);
}

int main(void)
{
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "cpu") || !make_blobs(ctx)) return 1;
    for (int i = 0; i < N; i++) weight[i] = 0.2 + 2.385 * eh_random_unit(3, 1, (uint64_t)i);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_weights_are_refused),
        cmocka_unit_test(methods_without_exemplars_refuse_weights),
        cmocka_unit_test(rows_of_a_batch_have_the_weights_of_sample_and_class),
        cmocka_unit_test(the_gradient_matches_the_weighted_loss),
        cmocka_unit_test(equal_weights_change_nothing),
        cmocka_unit_test(weight_zero_equals_no_label),
        cmocka_unit_test(a_common_factor_of_all_weights_changes_nothing),
        cmocka_unit_test(whole_weights_equal_copies_in_a_full_batch),
        cmocka_unit_test(heavy_samples_count_more),
        cmocka_unit_test(errors_in_validation_count_with_their_weight),
        cmocka_unit_test(weights_follow_their_rows),
        cmocka_unit_test(a_checkpoint_belongs_to_its_weights),
        cmocka_unit_test(streamed_data_refuses_weights),
        cmocka_unit_test(every_failed_allocation_returns_a_message_without_a_leak),
    };
    const int failed = cmocka_run_group_tests_name("weights", tests, NULL, NULL);
    enhope_dataset_free(blobs), enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return failed;
}
