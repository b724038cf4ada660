/* Training is a function of data, settings and seed. Repetitions, sparse and dense data, and the
 * time at which losses are fetched do not change results. A nonfinite loss is reported for its
 * own batch. */
#include <math.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

static void sparse_data_trains_to_the_same_map_as_dense(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "lmnn"};
    for (int i = 0; i < 2; i++) {
        enhope_model *m[2];
        float Y[2][N * 2];
        for (int sparse = 0; sparse < 2; sparse++) {
            const enhope_dataset *data = sparse ? sparse_blobs : blobs;
            m[sparse] = train(data, with("method", methods[i], "scaling", "none", "solver", "adam", "n_epochs", "3",
                                         "validation_fraction", "0.2", NULL));
            assert_int_equal(enhope_model_embed(ctx, m[sparse], data, Y[sparse]), ENHOPE_OK);
        }
        /* relative to the first point: pairwise losses ignore a translation, but Adam follows
         * its rounding */
        for (int v = 2; v < N * 2; v++) {
            const float a = Y[0][v] - Y[0][v % 2], b = Y[1][v] - Y[1][v % 2];
            assert_true(fabsf(a - b) < 1e-3f * (1 + fabsf(a)));
        }
        enhope_model_free(m[0]), enhope_model_free(m[1]);
    }
}

static void the_reference_backend_gives_the_same_training(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "lmnn"};
    for (int m = 0; m < 2; m++) {
        enhope_model *fast = train(blobs, with("method", methods[m], "n_epochs", "2", "solver", "adam", NULL));
        assert_int_equal(enhope_context_set_device(ctx, "ref"), ENHOPE_OK);
        enhope_model *slow = train(blobs, with("method", methods[m], "n_epochs", "2", "solver", "adam", NULL));
        assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
        int64_t rows;
        const enhope_history *a = enhope_model_history(fast, &rows), *b = enhope_model_history(slow, &rows);
        assert_int_equal(rows, 2);
        for (int i = 0; i < 2; i++) assert_true(fabs(a[i].loss - b[i].loss) < 1e-4 * b[i].loss);
        enhope_model_free(fast);
        enhope_model_free(slow);
    }
}

/* ---- asynchronous losses: the cpu backend with another table ---- */

static int64_t fetches, problems, bad_problem;

static void counting_fetch(eh_compute *c, void *to, const void *from, size_t bytes)
{
    fetches++;
    eh_compute_cpu.fetch(c, to, from, bytes);
}

static void bad_pairs(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG)
{
    eh_compute_cpu.pairs(c, p, loss, dY, dG);
    if (++problems == bad_problem) ((eh_loss_value *)loss)->value = NAN;
}

static enhope_trainer *trainer_behind(eh_compute_ops *op, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
    *op = eh_compute_cpu;
    op->queue_depth = 4;
    op->fetch = counting_fetch;
    op->pairs = bad_pairs;
    t->cp->op = op;
    t->losses.ahead = op->queue_depth;
    fetches = problems = 0;
    bad_problem = -1;
    return t;
}

static void losses_are_fetched_when_due_and_change_nothing(void **state)
{
    (void)state;
    eh_compute_ops op;
    enhope_settings *s =
        with("solver", "adam", "n_epochs", "2", "batch_size", "50", "validation_fraction", "0", NULL); /* 6 batches */
    enhope_trainer *t = trainer_behind(&op, s), *plain = NULL;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &plain), ENHOPE_OK);
    static const int64_t expected[] = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    enhope_progress p, q = {0};
    int done = 0;
    for (int i = 0; i < 12; i++) {
        const double before = q.loss;
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        assert_int_equal(fetches, expected[i]);
        assert_int_equal(enhope_trainer_step(plain, &q, &done), ENHOPE_OK);
        assert_true(p.epoch == q.epoch && p.batch == q.batch && p.epoch_done == q.epoch_done);
        if (t->losses.known == t->state.batch) assert_true(p.loss == q.loss); /* includes the end of an epoch */
        if (i == 6) assert_true(p.loss == before); /* none is known: the loss of the epoch before */
    }
    assert_true(done && isfinite(p.loss));
    assert_memory_equal(t->parameters.theta, plain->parameters.theta,
                        (size_t)(t->parameters.map_count + t->parameters.z * H) * sizeof(float));
    enhope_trainer_free(t);
    enhope_trainer_free(plain);
    enhope_settings_free(s);
}

static void divergence_is_reported_for_its_own_batch(void **state)
{
    (void)state;
    eh_compute_ops op;
    enhope_settings *s = with("solver", "adam", "n_epochs", "3", "batch_size", "50", "validation_fraction", "0", NULL);
    int done = 0;
    enhope_trainer *t = trainer_behind(&op, s);
    bad_problem = 3;
    for (int i = 0; i < 3; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_ERROR_COMPUTE);
    assert_string_equal(enhope_error(ctx), "training diverged: the loss is not finite in epoch 1, batch 3; try a lower "
                                           "learning_rate or another scaling");
    while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK); /* training continues from there */
    assert_int_equal(t->state.epoch, 3);
    enhope_trainer_free(t);

    t = trainer_behind(&op, s);
    bad_problem = 6 + 2;
    for (done = 0; !done;) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_true(t->state.epoch == 1 && t->state.best_epoch == 1); /* the first epoch is kept */
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void the_same_seed_gives_the_same_numbers_and_another_seed_others(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "adam"};
    for (int s = 0; s < 2; s++) {
        enhope_model *a = train(blobs, with("solver", solvers[s], "n_epochs", "4", NULL));
        enhope_model *b = train(blobs, with("solver", solvers[s], "n_epochs", "4", NULL));
        enhope_model *other = train(blobs, with("solver", solvers[s], "n_epochs", "4", "random_state", "2", NULL));
        const size_t bytes = (size_t)eh_map_parameters(a->map, &a->shape) * sizeof(float);
        assert_memory_equal(a->theta, b->theta, bytes);
        assert_memory_equal(a->reference, b->reference, (size_t)(a->r * H) * sizeof(float));
        assert_memory_not_equal(a->theta, other->theta, bytes);
        enhope_model_free(a);
        enhope_model_free(b);
        enhope_model_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_data_trains_to_the_same_map_as_dense),
        cmocka_unit_test(the_reference_backend_gives_the_same_training),
        cmocka_unit_test(losses_are_fetched_when_due_and_change_nothing),
        cmocka_unit_test(divergence_is_reported_for_its_own_batch),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers_and_another_seed_others),
    };
    return cmocka_run_group_tests_name("train_determinism", tests, open_blobs, close_blobs);
}
