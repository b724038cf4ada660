/* The state of training: the best epoch, patience, and a checkpoint of every field. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "train/train_state.h"

static enhope_context *ctx;

static eh_train_state fresh(int64_t rows)
{
    eh_train_state s;
    eh_train_state_init(&s);
    assert_int_equal(eh_train_state_reserve(ctx, &s, rows), ENHOPE_OK);
    return s;
}

static void the_lowest_error_is_kept_and_the_lower_loss_among_equal_errors(void **state)
{
    (void)state;
    static const struct {
        double error, loss;
        bool best;
        int64_t improved;
    } epochs[] = {{0.31, 2.385, true, 1},  {0.27, 2.5, true, 2},   {0.27, 2.49, true, 2},  {0.27, 2.49, false, 2},
                  {0.28, 0.125, false, 2}, {0.265, 3.75, true, 6}, {0.265, 3.8, false, 6}, {0, 4.5, true, 8}};
    enum { EPOCHS = sizeof epochs / sizeof *epochs };
    eh_train_state s = fresh(EPOCHS);
    int64_t kept = 0;
    for (int i = 0; i < EPOCHS; i++) {
        s.loss = epochs[i].loss, s.loss_sum = 7, s.batch = 3;
        assert_int_equal(eh_train_state_end_epoch(&s, epochs[i].error, 1.5 * i), epochs[i].best);
        if (epochs[i].best) kept = i + 1;
        assert_int_equal(s.epoch, i + 1);
        assert_int_equal(s.best_epoch, kept);
        assert_int_equal(s.improved, epochs[i].improved);
        assert_true(s.best_error == epochs[kept - 1].error && s.best_loss == epochs[kept - 1].loss);
        assert_true(s.batch == 0 && s.loss_sum == 0 && s.loss == epochs[i].loss);
        const enhope_history *row = &s.history[i];
        assert_true(row->epoch == i + 1 && row->loss == epochs[i].loss && row->valid_error == epochs[i].error &&
                    row->seconds == 1.5 * i);
    }
    eh_train_state_free(&s);
}

static void without_validation_the_last_epoch_is_kept(void **state)
{
    (void)state;
    eh_train_state s = fresh(5);
    for (int i = 0; i < 5; i++) {
        s.loss = 1.25 + i; /* the loss rises */
        assert_true(eh_train_state_end_epoch(&s, NAN, 0));
        assert_false(eh_train_state_stale(&s, 1));
    }
    assert_int_equal(s.best_epoch, 5);
    eh_train_state_free(&s);
}

static void patience_counts_epochs_since_the_error_fell(void **state)
{
    (void)state;
    eh_train_state s = fresh(4);
    eh_train_state_end_epoch(&s, 0.4, 0);
    assert_false(eh_train_state_stale(&s, 1));
    eh_train_state_end_epoch(&s, 0.4, 0); /* an equal error is not lower */
    assert_true(eh_train_state_stale(&s, 1));
    assert_false(eh_train_state_stale(&s, 2));
    eh_train_state_end_epoch(&s, 0.45, 0);
    assert_true(eh_train_state_stale(&s, 2));
    assert_false(eh_train_state_stale(&s, 0)); /* no patience is set */
    eh_train_state_end_epoch(&s, 0.39, 0);
    assert_false(eh_train_state_stale(&s, 1));
    eh_train_state_free(&s);
}

static void a_checkpoint_restores_every_field(void **state)
{
    (void)state;
    int64_t counters[EH_STATE_COUNTERS];
    double numbers[EH_STATE_NUMBERS], history[3 * EH_STATE_COLUMNS];
    eh_train_state s = fresh(3), back = fresh(1);
    for (int i = 0; i < 3; i++) {
        s.loss = 0.7 - 0.11 * i;
        eh_train_state_end_epoch(&s, i == 1 ? NAN : 0.2 + 0.013 * i, 2.25 * i + 0.1);
    }
    enhope_history *own = s.history;
    /* all fields differ */
    s.batch = 17, s.step = 1234567890123, s.best_epoch = 2, s.improved = 1, s.diverged = 1;
    s.seconds = 81.5, s.loss_sum = 9.375, s.loss = 0.55, s.valid_error = NAN, s.best_error = 0.213, s.best_loss = 0.59;
    eh_train_state_pack(&s, counters, numbers, history);
    assert_int_equal(eh_train_state_unpack(ctx, &back, counters, numbers, history), ENHOPE_OK);
    assert_true(back.history_capacity > 3);
    assert_memory_equal(back.history, own, 3 * sizeof *own);
    eh_free(own);
    s.history = back.history, s.history_capacity = back.history_capacity;
    assert_memory_equal(&back, &s, sizeof s);
    eh_train_state_free(&back);
}

static void counters_out_of_bounds_are_not_valid(void **state)
{
    (void)state;
    const eh_train_state good = {.epoch = 4, .batch = 7, .best_epoch = 3, .improved = 2, .step = 31};
    assert_true(eh_train_state_valid(&good, 4, 7));
    assert_false(eh_train_state_valid(&good, 3, 7));
    assert_false(eh_train_state_valid(&good, 4, 6));
    const eh_train_state bad[] = {{.epoch = -1, .batch = 7},     {.epoch = 4, .batch = -1},
                                  {.epoch = 4, .best_epoch = 5}, {.epoch = 4, .best_epoch = -1},
                                  {.epoch = 4, .improved = 5},   {.epoch = 4, .improved = -1},
                                  {.epoch = 4, .step = -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(eh_train_state_valid(&bad[i], 4, 7));
}

static void history_grows_without_losing_rows(void **state)
{
    (void)state;
    eh_train_state s = fresh(1);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(eh_train_state_reserve(ctx, &s, s.epoch + 1), ENHOPE_OK);
        s.loss = i * 0.37;
        eh_train_state_end_epoch(&s, NAN, i);
    }
    for (int i = 0; i < 300; i++) assert_true(s.history[i].epoch == i + 1 && s.history[i].loss == i * 0.37);
    eh_train_state_free(&s);
}

static int setup(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx == NULL;
}

static int teardown(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_error_is_kept_and_the_lower_loss_among_equal_errors),
        cmocka_unit_test(without_validation_the_last_epoch_is_kept),
        cmocka_unit_test(patience_counts_epochs_since_the_error_fell),
        cmocka_unit_test(a_checkpoint_restores_every_field),
        cmocka_unit_test(counters_out_of_bounds_are_not_valid),
        cmocka_unit_test(history_grows_without_losing_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
