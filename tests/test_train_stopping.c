/* Training that ends early: callbacks, time limits, patience, a failed allocation. The trainer
 * stays usable. */
#include <string.h>

#include "train/trainer.h"
#include "memory_support.h"
#include "train_blobs_support.h"

static int stop_after_two(const enhope_progress *p, void *user)
{
    (void)p;
    return ++*(int *)user == 2;
}

static void a_stopped_run_gives_a_usable_model(void **state)
{
    (void)state;
    enhope_settings *s = with(NULL);
    enhope_model *m = NULL;
    int calls = 0;
    assert_int_equal(enhope_train(ctx, blobs, s, stop_after_two, &calls, &m), ENHOPE_STOPPED);
    assert_int_equal(calls, 2);
    assert_true(error_of(m, blobs) < 0.7);
    enhope_settings_free(s);

    enhope_model *timed = train(blobs, with("time_limit", "0.000001", "n_epochs", "1000000", NULL));
    enhope_model_info info;
    enhope_model_get_info(timed, &info);
    assert_int_equal(info.epochs, 0); /* one of three batches was computed */
    enhope_model_free(timed);

    enhope_model *patient = train(blobs, with("patience", "3", "n_epochs", "500", NULL));
    enhope_model_get_info(patient, &info);
    assert_true(info.epochs < 500);
    enhope_model_free(patient);
}

static void a_failed_step_leaves_the_trainer_usable(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "70", "solver", "adam", "patience", "0", "batch_size", "300", NULL);
    enhope_trainer *t = NULL;
    enhope_model *m = NULL;
    int done = 0, failures = 0;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
    while (!done) {
        allocations_left = 0; /* the history grows at epochs 1 and 65 */
        enhope_set_allocator(counting_malloc, counting_free);
        const enhope_status status = enhope_trainer_step(t, NULL, &done);
        enhope_set_allocator(NULL, NULL);
        if (!status) continue;
        failures++;
        assert_int_equal(status, ENHOPE_ERROR_MEMORY);
        assert_int_equal(enhope_trainer_model(t, &m), ENHOPE_OK);
        enhope_model_free(m);
        assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    }
    assert_int_equal(failures, 2);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void progress_is_reported_within_a_long_step_and_may_stop_it(void **state)
{
    (void)state;
    enhope_settings *s = with(NULL);
    enhope_trainer *t = NULL;
    int calls = 0;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
    t->run.progress = stop_after_two;
    t->run.progress_user = &calls;
    eh_compute_begin(t->cp);
    t->run.started = eh_seconds();
    assert_false(eh_train_stop(t)); /* the step has just started */
    assert_int_equal(calls, 0);
    t->run.started -= 100;
    assert_false(eh_train_stop(t));
    assert_true(eh_train_stop(t));
    assert_true(eh_train_stop(t)); /* progress is not called again */
    assert_int_equal(calls, 2);
    eh_compute_end(t->cp);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void a_time_budget_ends_a_long_step(void **state)
{
    (void)state;
    enhope_settings *s = with("solver", "lbfgs", "batch_size", "0", "line_searches", "1000000", "time_limit", "0.05",
                              "n_epochs", "1", NULL);
    enhope_trainer *t = NULL;
    int done = 0;
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_true(done && t->optim->evaluations < 1000000);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_run_gives_a_usable_model),
        cmocka_unit_test(a_time_budget_ends_a_long_step),
        cmocka_unit_test(a_failed_step_leaves_the_trainer_usable),
        cmocka_unit_test(progress_is_reported_within_a_long_step_and_may_stop_it),
    };
    return cmocka_run_group_tests_name("train_stopping", tests, open_blobs, close_blobs);
}
