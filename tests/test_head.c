/* The auxiliary head: it is trained beside the map in the first epochs, and the model has no trace
 * of it. */
#include <math.h>
#include <string.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

static enhope_trainer *trainer(const enhope_model *from, const enhope_dataset *data, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    if (enhope_trainer_create(ctx, from, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return t;
}

static void the_model_has_no_outputs_of_the_head(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "deep-en-hope"};
    for (int i = 0; i < 2; i++) {
        enhope_model *m =
            train(blobs, with("method", methods[i], "solver", "adam", "n_epochs", "3", "aux_components", "7", NULL));
        enhope_model *plain = train(blobs, with("method", methods[i], "solver", "adam", "n_epochs", "3", NULL));
        enhope_model_info with_head, without;
        float Y[2][N * 2];
        enhope_model_get_info(m, &with_head), enhope_model_get_info(plain, &without);
        assert_int_equal(with_head.outputs, 2);
        assert_int_equal(with_head.parameters, without.parameters);
        assert_string_equal(enhope_model_setting(m, "aux_components"), "7");
        assert_int_equal(enhope_model_embed(ctx, m, blobs, Y[0]), ENHOPE_OK);
        assert_int_equal(enhope_model_embed(ctx, plain, blobs, Y[1]), ENHOPE_OK);
        assert_true(memcmp(Y[0], Y[1], sizeof *Y) != 0); /* the head had an effect */
        enhope_model_free(m), enhope_model_free(plain);
    }
}

static void the_map_starts_as_without_a_head(void **state)
{
    (void)state;
    enhope_trainer *t[2];
    enhope_model *m[2];
    for (int i = 0; i < 2; i++) {
        t[i] = trainer(NULL, blobs, with("solver", "adam", "aux_components", i ? "4" : "0", NULL));
        assert_int_equal(enhope_trainer_snapshot(t[i], &m[i]), ENHOPE_OK);
    }
    const int64_t count = eh_map_parameters(m[0]->map, &m[0]->shape);
    assert_int_equal(t[1]->parameters.map_count, count + 4 * m[0]->shape.m);
    assert_memory_equal(m[0]->theta, m[1]->theta, (size_t)count * sizeof(float));
    assert_memory_equal(m[0]->reference, m[1]->reference, (size_t)(m[0]->r * m[0]->shape.H) * sizeof(float));
    for (int i = 0; i < 2; i++) enhope_model_free(m[i]), enhope_trainer_free(t[i]);
}

/* The parameters of the head, behind those of the map. */
static void read_head(enhope_trainer *t, float *V)
{
    const int64_t map = eh_map_parameters(t->embedder.map, &t->embedder.shape);
    t->cp->op->read(t->cp, V, eh_at(t->cp, t->parameters.theta, map), t->parameters.map_count - map);
}

static void the_head_is_trained_in_six_tenths_of_the_epochs(void **state)
{
    (void)state;
    enum { EPOCHS = 10, OFF = 6, HIDDEN = 8 };
    enhope_trainer *t = trainer(NULL, blobs, with("solver", "adam", "n_epochs", "10", "aux_components", "3", NULL));
    float before[3 * HIDDEN], after[3 * HIDDEN];
    double last = INFINITY;
    int done = 0;
    while (!done) {
        enhope_progress p;
        read_head(t, before);
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        read_head(t, after);
        assert_int_equal(t->loss.head.off, (p.epoch - p.epoch_done) >= OFF);
        if (!t->loss.head.off) assert_true(memcmp(before, after, sizeof after) != 0);
        if (p.epoch_done && p.epoch == OFF) last = p.loss;
        if (p.epoch_done && p.epoch == OFF + 1) /* the loss is that of the map alone, without a jump */
            assert_true(p.loss > 0.7 * last && p.loss < 1.1 * last);
    }
    enhope_trainer_free(t);
}

static void an_update_may_have_a_head(void **state)
{
    (void)state;
    enhope_model *m = train(blobs, with("solver", "adam", "n_epochs", "4", NULL)), *start = NULL, *more = NULL;
    enhope_trainer *t = trainer(m, sparse_blobs, with("solver", "adam", "n_epochs", "2", "aux_components", "6", NULL));
    const int64_t count = eh_map_parameters(m->map, &m->shape);
    float V[6 * 8];
    assert_int_equal(enhope_trainer_snapshot(t, &start), ENHOPE_OK);
    assert_memory_equal(start->theta, m->theta, (size_t)count * sizeof(float));
    assert_memory_equal(start->reference, m->reference, (size_t)(m->r * m->shape.H) * sizeof(float));
    read_head(t, V);
    for (int i = 0; i < 6 * 8; i++) assert_true(V[i] != 0 && fabsf(V[i]) < 1);
    assert_int_equal(enhope_trainer_run(t, NULL, NULL), ENHOPE_OK);
    assert_int_equal(enhope_trainer_model(t, &more), ENHOPE_OK);
    assert_true(memcmp(more->theta, m->theta, (size_t)count * sizeof(float)) != 0);
    enhope_model_free(more);
    enhope_model_free(start), enhope_model_free(m);
    enhope_trainer_free(t);
}

static void the_reference_backend_gives_the_same_training(void **state)
{
    (void)state;
    enhope_model *m[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enhope_context_set_device(ctx, i ? "ref" : "cpu"), ENHOPE_OK);
        m[i] = train(blobs,
                     with("solver", "adam", "n_epochs", "3", "aux_components", "5", "adversarial_step", "0.05", NULL));
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
    int64_t rows;
    const enhope_history *a = enhope_model_history(m[0], &rows), *b = enhope_model_history(m[1], &rows);
    for (int64_t i = 0; i < rows; i++) assert_true(fabs(a[i].loss - b[i].loss) < 1e-3 * b[i].loss);
    enhope_model_free(m[0]), enhope_model_free(m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_has_no_outputs_of_the_head),
        cmocka_unit_test(the_map_starts_as_without_a_head),
        cmocka_unit_test(the_head_is_trained_in_six_tenths_of_the_epochs),
        cmocka_unit_test(an_update_may_have_a_head),
        cmocka_unit_test(the_reference_backend_gives_the_same_training),
    };
    return cmocka_run_group_tests(tests, open_blobs, close_blobs);
}
