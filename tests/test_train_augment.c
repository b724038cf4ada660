/* Noise and dropout during training: models learn from augmented inputs, and other inputs are
 * not augmented. */
#include <math.h>
#include <string.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

static void augmented_inputs_are_learned(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "dt-nca", "nca"}, *const solvers[] = {"cg", "adam"};
    static const char *const by[][2] = {{"0.2", "0"}, {"0", "0.1"}, {"0.1", "0.1"}};
    for (int m = 0; m < 4; m++)
        for (int s = 0; s < 2; s++)
            for (int d = 0; d < 3; d++) {
                const double error =
                    error_of(train(blobs, with("method", methods[m], "solver", solvers[s], "learning_rate", "0.03",
                                               "noise", by[d][0], "dropout", by[d][1], NULL)),
                             blobs);
                if (error > 0.15) fail_msg("%s %s %s %s: %g", methods[m], solvers[s], by[d][0], by[d][1], error);
            }
}

/* In double on ref, where dense and sparse rows take different code paths. */
static void augmented_batches_are_equal_for_every_kind_and_backend(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {blobs, sparse_blobs};
    double loss[4][2];
    for (int i = 0; i < 4; i++) {
        int64_t rows;
        assert_int_equal(enhope_context_set_device(ctx, i / 2 ? "ref" : "cpu"), ENHOPE_OK);
        enhope_model *m =
            train(data[i % 2], with("scaling", "none", "solver", "adam", "n_epochs", "2", "validation_fraction", "0.2",
                                    "noise", "0.4", "dropout", "0.15", NULL));
        const enhope_history *h = enhope_model_history(m, &rows);
        assert_int_equal(rows, 2);
        loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
        enhope_model_free(m);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < 2; e++) assert_true(fabs(loss[i][e] - loss[3][e]) < 1e-4 * loss[3][e]);
}

/* The samples of a trainer's current batch, as floats. */
static void batch_of(const enhope_trainer *t, float *x)
{
    t->cp->op->read(t->cp, x, (const eh_real *)t->embedder.X, t->loss.batch.n * t->embedder.ld);
}

static void only_training_batches_are_augmented_and_anew_in_each_epoch(void **state)
{
    (void)state;
    /* a rate of zero: the parameters stay */
    enhope_settings *plain =
        with("solver", "adam", "batch_size", "0", "learning_rate", "0", "validation_fraction", "0", NULL);
    enhope_settings *noisy =
        with("solver", "adam", "batch_size", "0", "learning_rate", "0", "validation_fraction", "0", "noise", "3", NULL);
    enhope_trainer *a = NULL, *b = NULL;
    int done;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, plain, &a), ENHOPE_OK);
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, noisy, &b), ENHOPE_OK);
    static float clean[N * 16], first[N * 16], second[N * 16], Y[2][N * 2];
    assert_int_equal(a->embedder.ld, 16);
    assert_int_equal(enhope_trainer_step(a, NULL, &done), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(b, NULL, &done), ENHOPE_OK);
    batch_of(a, clean), batch_of(b, first);
    assert_int_equal(enhope_trainer_step(b, NULL, &done), ENHOPE_OK);
    batch_of(b, second);
    int64_t at[N]; /* position of a row in the second epoch */
    for (int64_t i = 0; i < N; i++) at[((int64_t *)b->batches.rows)[i]] = i;
    double square[3] = {0};
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < H; j++) {
            const float x = clean[i * 16 + j], u = first[i * 16 + j] - x,
                        v = second[at[((int64_t *)a->batches.rows)[i]] * 16 + j] - x;
            square[0] += u * u / N / H / 9, square[1] += v * v / N / H / 9, square[2] += u * v / N / H / 9;
        }
    assert_true(fabs(square[0] - 1) < 0.15 && fabs(square[1] - 1) < 0.15 && fabs(square[2]) < 0.1);
    assert_memory_equal(a->parameters.theta, b->parameters.theta,
                        (size_t)a->parameters.count * sizeof(float)); /* includes the exemplars */
    for (int which = 0; which < 2; which++) {
        enhope_trainer *t = which ? b : a;
        eh_embedder_embed(&t->embedder, t->parameters.theta, t->samples.placed_rows, N, t->embedder.Y);
        t->cp->op->read(t->cp, Y[which], t->embedder.Y, N * 2);
    }
    assert_memory_equal(Y[0], Y[1], sizeof Y[0]);
    enhope_trainer_free(a), enhope_trainer_free(b);
    enhope_settings_free(plain), enhope_settings_free(noisy);
}

static void a_model_stores_the_augmentation_of_its_inputs(void **state)
{
    (void)state;
    enhope_model *m = train(blobs, with("noise", "0.25", "dropout", "0.1", "n_epochs", "1", NULL));
    int found = 0;
    for (int i = 0; i < m->setting.count; i++) {
        if (!strcmp(m->setting.pair[i].name, "noise")) assert_string_equal(m->setting.pair[i].value, "0.25"), found++;
        if (!strcmp(m->setting.pair[i].name, "dropout")) assert_string_equal(m->setting.pair[i].value, "0.1"), found++;
    }
    assert_int_equal(found, 2);
    enhope_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(augmented_inputs_are_learned),
        cmocka_unit_test(augmented_batches_are_equal_for_every_kind_and_backend),
        cmocka_unit_test(only_training_batches_are_augmented_and_anew_in_each_epoch),
        cmocka_unit_test(a_model_stores_the_augmentation_of_its_inputs),
    };
    return cmocka_run_group_tests_name("train_augment", tests, open_blobs, close_blobs);
}
