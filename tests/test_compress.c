/* Compression: pruned and rounded weights keep their values in training, limits are met or
 * refused, and a compressed model is the same in memory and in its file. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/compress/grid.h"
#include "train_blobs_support.h"

static enhope_trainer *trainer(const enhope_dataset *data, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    if (enhope_trainer_create(ctx, NULL, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return t;
}

static void run_steps(enhope_trainer *t, int steps)
{
    int done = 0;
    for (int i = 0; i < steps && !done; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
}

static int64_t count_nonzero(const eh_weights *w)
{
    int64_t count = 0;
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++)
        for (int64_t j = 0; j < w->matrix[i].rows * w->matrix[i].columns; j++)
            count += w->theta[w->matrix[i].at + j] != 0;
    return count;
}

/* ---- weights ---- */

static void pruned_weights_stay_zero_in_training(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "ref"};
    for (int d = 0; d < 2; d++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[d]), ENHOPE_OK);
        enhope_trainer *t = trainer(blobs, with("solver", "adam", "aux_components", d ? "3" : "0", NULL));
        eh_weights w;
        assert_int_equal(eh_weights_create(t, &w), ENHOPE_OK);
        const int64_t all = w.count, steps[] = {all * 3 / 4, all / 3, all / 10};
        for (int i = 0; i < 3; i++) {
            float before = 0, after = 0;
            run_steps(t, 5);
            assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
            assert_int_equal(eh_prune_weights(&w, steps[i]), ENHOPE_OK);
            assert_int_equal(eh_weights_push(&w), ENHOPE_OK);
            assert_int_equal(count_nonzero(&w), steps[i]);
            for (int64_t v = 0; v < t->parameters.count; v++) before += fabsf(w.theta[v]);
            run_steps(t, 5);
            assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
            assert_int_equal(count_nonzero(&w), steps[i]);
            assert_int_equal(eh_prune_alive(&w), steps[i]);
            for (int64_t v = 0; v < t->parameters.count; v++) after += fabsf(w.theta[v]);
            assert_true(before != after); /* the others are trained */
        }
        eh_weights_free(&w);
        enhope_trainer_free(t);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
}

static void weights_of_low_saliency_are_pruned(void **state)
{
    (void)state;
    enhope_trainer *t = trainer(blobs, with("solver", "adam", NULL));
    eh_weights w;
    run_steps(t, 3);
    assert_int_equal(eh_weights_create(t, &w), ENHOPE_OK);
    assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
    float *theta = malloc((size_t)t->parameters.count * sizeof *theta);
    memcpy(theta, w.theta, (size_t)t->parameters.count * sizeof *theta);
    assert_int_equal(eh_prune_weights(&w, w.count / 2), ENHOPE_OK);
    double min_kept = INFINITY, max_pruned = 0;
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++)
        for (int64_t j = 0; j < w.matrix[i].rows * w.matrix[i].columns; j++) {
            const int64_t at = w.matrix[i].at + j;
            const double saliency = (double)theta[at] * (double)theta[at] * (double)w.square[at];
            if (w.theta[at] != 0)
                min_kept = fmin(min_kept, saliency);
            else
                max_pruned = fmax(max_pruned, saliency);
            assert_true(w.mask[at] == (w.theta[at] != 0));
        }
    assert_true(min_kept >= max_pruned && max_pruned > 0);
    for (int64_t j = 0; j < w.matrix[0].columns; j++) /* biases are no weights */
        assert_true(w.theta[w.matrix[0].rows * w.matrix[0].columns + j] ==
                    theta[w.matrix[0].rows * w.matrix[0].columns + j]);
    free(theta);
    eh_weights_free(&w);
    enhope_trainer_free(t);
}

static enhope_settings *wide(void)
{
    return with("solver", "adam", "n_factors", "37", "n_hidden", "20", "noise", "0", NULL);
}

static void units_are_pruned_as_a_whole(void **state)
{
    (void)state;
    enum { FACTORS = 37, HIDDEN = 20, KEPT = 21, KEPT_HIDDEN = 9 };
    enhope_trainer *t = trainer(blobs, wide());
    eh_weights w;
    double factor[FACTORS] = {0}, hidden[HIDDEN] = {0}, kept = INFINITY, pruned = 0;
    int64_t factors = 0, hiddens = 0;
    run_steps(t, 3);
    assert_int_equal(eh_weights_create(t, &w), ENHOPE_OK);
    assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
    const int64_t at_W = w.matrix[EH_WEIGHTS_W].at;
    for (int i = 0; i < FACTORS * HIDDEN; i++) {
        const double s = (double)w.theta[at_W + i] * (double)w.theta[at_W + i] * (double)w.square[at_W + i];
        factor[i / HIDDEN] += s;
        hidden[i % HIDDEN] += s;
    }
    assert_int_equal(eh_prune_units(&w, KEPT, KEPT_HIDDEN), ENHOPE_OK);
    for (int f = 0; f < FACTORS; f++) {
        int64_t inputs = 0, outputs = 0;
        for (int k = 0; k < H; k++) inputs += w.theta[k * FACTORS + f] != 0;
        for (int j = 0; j < HIDDEN; j++) outputs += w.theta[at_W + f * HIDDEN + j] != 0;
        assert_true((inputs == H && outputs == KEPT_HIDDEN) || (inputs == 0 && outputs == 0));
        factors += inputs > 0;
        kept = inputs ? fmin(kept, factor[f]) : kept;
        pruned = inputs ? pruned : fmax(pruned, factor[f]);
    }
    for (int j = 0; j < HIDDEN; j++) {
        int64_t inputs = 0;
        for (int f = 0; f < FACTORS; f++) inputs += w.theta[at_W + f * HIDDEN + j] != 0;
        hiddens += inputs > 0;
    }
    assert_int_equal(factors, KEPT);
    assert_int_equal(hiddens, KEPT_HIDDEN);
    assert_true(kept >= pruned);
    eh_weights_free(&w);
    enhope_trainer_free(t);
}

/* ---- grids ---- */

static void a_bfloat16_is_the_nearest_of_eight_bits(void **state)
{
    (void)state;
    assert_true(eh_bfloat16(1) == 1 && eh_bfloat16(-0.15625f) == -0.15625f && eh_bfloat16(0) == 0);
    assert_true(eh_bfloat16(1.003f) == 1 && eh_bfloat16(1.005f) == 1.0078125f);
    assert_true(eh_bfloat16(1.00390625f) == 1 && eh_bfloat16(1.01171875f) == 1.015625f); /* ties to even */
}

static void rounded_weights_are_on_the_grid_and_frozen(void **state)
{
    (void)state;
    enhope_trainer *t = trainer(blobs, wide());
    eh_weights w;
    eh_grid g;
    run_steps(t, 6);
    assert_int_equal(eh_weights_create(t, &w), ENHOPE_OK);
    assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
    assert_int_equal(eh_prune_weights(&w, w.count / 2), ENHOPE_OK);
    const eh_weight_matrix *m = &w.matrix[EH_WEIGHTS_W];
    assert_int_equal(eh_grid_create(ctx, m, &g), ENHOPE_OK);
    for (int64_t k = 0; k < m->rows; k++) g.fold[k] = 0.5f + 0.01f * (float)k;
    assert_int_equal(eh_grid_fit(&g, &w, 4), ENHOPE_OK);
    assert_in_range(g.levels, 8, 16);
    for (int i = 0; i < g.levels; i++) assert_true(g.level[i] != 0 && (i == 0 || g.level[i] > g.level[i - 1]));
    const int64_t nonzero = count_nonzero(&w);
    for (int round = 0; round < 2; round++) {
        int64_t frozen = 0, on_grid = 0, all = 0;
        assert_int_equal(eh_grid_apply(&g, &w, round ? 1 : 0.5), ENHOPE_OK);
        assert_int_equal(eh_weights_push(&w), ENHOPE_OK);
        run_steps(t, 4);
        assert_int_equal(eh_weights_pull(&w), ENHOPE_OK);
        for (int64_t k = 0; k < m->rows; k++)
            for (int64_t j = 0; j < m->columns; j++) {
                const int64_t at = m->at + k * m->columns + j;
                if (w.theta[at] == 0) continue;
                const int8_t level = eh_grid_nearest(&g, k, j, w.theta[at]);
                all++;
                frozen += w.mask[at] == 0;
                on_grid += w.theta[at] == eh_grid_value(&g, k, j, level);
                if (w.mask[at] == 0) assert_true(w.theta[at] == eh_grid_value(&g, k, j, level));
            }
        assert_true(round ? frozen == all : frozen >= all / 2 - 1 && frozen < all);
        assert_true(on_grid >= frozen);
        assert_int_equal(count_nonzero(&w), nonzero);
    }
    eh_grid_free(&g);
    eh_weights_free(&w);
    enhope_trainer_free(t);
}

static void the_nearest_level_is_the_nearest(void **state)
{
    (void)state;
    const eh_weight_matrix m = {1, 1, 0};
    float fold = 2, scale = 0.25f;
    eh_grid g = {.matrix = &m, .fold = &fold, .scale = &scale, .level = {-90, -7, 3, 4, 127}, .levels = 5};
    static const float weights[] = {-100, -7, -0.3f, -0.25f, 0.001f, 0.43f, 0.44f, 5, 8.3f, 100};
    static const int8_t expected[] = {-90, -90, -7, -7, 3, 3, 4, 4, 127, 127};
    for (int i = 0; i < 10; i++) assert_int_equal(eh_grid_nearest(&g, 0, 0, weights[i]), expected[i]);
    assert_true(eh_grid_value(&g, 0, 0, -7) == -0.875f);
}

/* ---- models ---- */

static enhope_model *large;

static enhope_compression compressed(const enhope_compress_options *limit, enhope_settings *s, enhope_model **out)
{
    enhope_compression r;
    *out = NULL;
    if (enhope_model_compress(ctx, large, blobs, s, limit, NULL, NULL, &r, out)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return r;
}

static enhope_settings *brief(void)
{
    return with("solver", "adam", "n_factors", "37", "n_hidden", "20", "n_epochs", "12", "validation_fraction", "0.3",
                NULL);
}

static void *bytes_of(const enhope_model *m, size_t *size)
{
    assert_int_equal(enhope_model_save_bytes(ctx, m, NULL, 0, size), ENHOPE_OK);
    void *bytes = malloc(*size);
    assert_int_equal(enhope_model_save_bytes(ctx, m, bytes, *size, size), ENHOPE_OK);
    return bytes;
}

static void a_file_is_within_its_size_and_is_read_as_it_was(void **state)
{
    (void)state;
    static const int64_t sizes[] = {3400, 3000, 2700};
    for (int i = 0; i < 3; i++) {
        enhope_model *m = NULL, *back = NULL;
        const enhope_compression r =
            compressed(&(enhope_compress_options){.size = sizes[i], .bits = 4 + i}, brief(), &m);
        size_t size, again;
        void *bytes = bytes_of(m, &size);
        assert_true((int64_t)size <= sizes[i] && r.bytes == (int64_t)size && r.bytes < r.bytes_before);
        assert_true(r.weights < r.weights_before && r.errors <= r.samples / 2);
        assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &back), ENHOPE_OK);
        const size_t count = (size_t)eh_map_parameters(m->map, &m->shape);
        assert_memory_equal(m->theta, back->theta, count * sizeof(float));
        assert_memory_equal(m->reference, back->reference, (size_t)(m->r * m->shape.H) * sizeof(float));
        assert_memory_equal(m->shift, back->shift, (size_t)m->shape.H * sizeof(float));
        assert_int_equal(enhope_model_int8(back), 2);
        void *copy = bytes_of(back, &again);
        assert_int_equal(size, again);
        assert_memory_equal(bytes, copy, size);
        free(bytes), free(copy);
        enhope_model_free(m), enhope_model_free(back);
    }
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    void *first = NULL;
    size_t size = 0;
    for (int threads = 1; threads <= 3; threads++) {
        enhope_model *m = NULL;
        size_t own;
        assert_int_equal(enhope_context_set_threads(ctx, threads), ENHOPE_OK);
        compressed(&(enhope_compress_options){.size = 3000}, brief(), &m);
        void *bytes = bytes_of(m, &own);
        if (first) {
            assert_int_equal(own, size);
            assert_memory_equal(first, bytes, size);
            free(bytes);
        } else {
            first = bytes, size = own;
        }
        enhope_model_free(m);
    }
    free(first);
    assert_int_equal(enhope_context_set_threads(ctx, 2), ENHOPE_OK);
}

static void operations_limit_factors_and_hidden_units(void **state)
{
    (void)state;
    enhope_model *m = NULL, *more = NULL;
    const enhope_compression r = compressed(&(enhope_compress_options){.operations = 300, .bits = 8}, brief(), &m);
    assert_true(r.operations <= 300 && r.operations >= 200 && r.operations_before == 37 * (H + 20));
    assert_int_equal(r.operations, m->shape.F * (H + m->shape.m));
    assert_int_equal(r.weights, r.operations);
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)m->shape.F);
    assert_string_equal(enhope_model_setting(m, "n_factors"), text); /* updates need it */
    enhope_settings *plain = enhope_settings_create();
    assert_int_equal(enhope_settings_set(ctx, plain, "n_epochs", "2"), ENHOPE_OK);
    if (enhope_model_update(ctx, m, blobs, plain, NULL, NULL, &more)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(plain);
    enhope_model_free(m), enhope_model_free(more);
}

static void an_error_gives_the_smallest_file(void **state)
{
    (void)state;
    enhope_model *m[2] = {NULL};
    enhope_compression r[2];
    for (int i = 0; i < 2; i++) r[i] = compressed(&(enhope_compress_options){.error = i ? 0.6 : 0.2}, brief(), &m[i]);
    assert_true((double)r[0].errors <= 0.2 * (double)r[0].samples);
    assert_true((double)r[1].errors <= 0.6 * (double)r[1].samples && r[1].bytes <= r[0].bytes);
    enhope_model_free(m[0]), enhope_model_free(m[1]);
}

static void the_error_is_that_of_the_stored_model(void **state)
{
    (void)state;
    enhope_model *m = NULL;
    enhope_model_info info;
    const enhope_compression r = compressed(&(enhope_compress_options){.size = 3000}, brief(), &m);
    enhope_model_get_info(m, &info);
    assert_int_equal(info.valid_errors, r.errors);
    assert_int_equal(info.valid_n, r.samples);
    assert_true(error_of(m, blobs) < 0.3);
}

static int stop_later(const enhope_progress *at, void *user)
{
    (void)user;
    return at->epoch >= 3;
}

static void limits_that_cannot_be_met_are_refused(void **state)
{
    (void)state;
    const struct {
        enhope_compress_options limit;
        const char *setting, *value, *message;
    } cases[] = {
        {{0}, NULL, NULL, "no limit is set"},
        {{.size = 900}, NULL, NULL, "size is 900 bytes: with hardly any weights the file has"},
        {{.size = 3000, .bits = 3}, NULL, NULL, "bits is 3: expected 4 to 8"},
        {{.size = -3}, NULL, NULL, "size is -3"},
        {{.error = 1e-9, .size = 2600}, NULL, NULL, "allow a higher error"},
        {{.operations = 5}, NULL, NULL, "operations is 5: a factor alone has 6"},
        {{.size = 3000}, "solver", "cg", "set solver adam"},
        {{.size = 3000}, "n_epochs", "5", "n_epochs is 5: compression needs at least 10"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enhope_model *m = NULL;
        enhope_settings *s = brief();
        if (cases[i].setting)
            assert_int_equal(enhope_settings_set(ctx, s, cases[i].setting, cases[i].value), ENHOPE_OK);
        const enhope_status status = enhope_model_compress(ctx, large, blobs, s, &cases[i].limit, NULL, NULL, NULL, &m);
        assert_int_equal(status, ENHOPE_ERROR_ARGUMENT);
        if (!strstr(enhope_error(ctx), cases[i].message)) fail_msg("%s", enhope_error(ctx));
        assert_null(m);
        enhope_settings_free(s);
    }
}

static void models_without_factors_or_exemplars_are_refused(void **state)
{
    (void)state;
    static const char *const methods[][2] = {{"hope", "embedded training points"}, {"deep-en-hope", "only hope maps"}};
    for (int i = 0; i < 2; i++) {
        enhope_model *m = train(blobs, with("method", methods[i][0], "solver", "adam", "n_epochs", "1", NULL)),
                     *small = NULL;
        assert_int_equal(enhope_model_compress(ctx, m, blobs, NULL, &(enhope_compress_options){.size = 9000}, NULL,
                                               NULL, NULL, &small),
                         ENHOPE_ERROR_ARGUMENT);
        assert_non_null(strstr(enhope_error(ctx), methods[i][1]));
        enhope_model_free(m);
    }
}

static void a_stopped_compression_has_no_model(void **state)
{
    (void)state;
    enhope_model *m = NULL;
    enhope_settings *s = brief();
    assert_int_equal(enhope_model_compress(ctx, large, blobs, s, &(enhope_compress_options){.size = 3000}, stop_later,
                                           NULL, NULL, &m),
                     ENHOPE_STOPPED);
    assert_null(m);
    enhope_settings_free(s);
}

/* Any change of a byte gives an error or another model, but no access outside of memory. */
static void damaged_files_are_handled(void **state)
{
    (void)state;
    enhope_model *m = NULL;
    size_t size;
    compressed(&(enhope_compress_options){.size = 2600}, brief(), &m);
    uint8_t *bytes = bytes_of(m, &size);
    for (size_t i = 8; i < size; i += 3) {
        enhope_model *other = NULL;
        bytes[i] ^= (uint8_t)(1 << i % 8);
        (void)enhope_model_load_bytes(ctx, bytes, size, &other);
        enhope_model_free(other);
        bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    char *text = memmem(bytes, size, "\"hidden\":\"", 10);
    assert_non_null(text);
    free(bytes);
    enhope_model_free(m);
}

static int open_all(void **state)
{
    if (open_blobs(state)) return 1;
    large = train(blobs, with("solver", "adam", "n_factors", "37", "n_hidden", "20", "n_epochs", "20",
                              "validation_fraction", "0.3", NULL));
    return 0;
}

static int close_all(void **state)
{
    enhope_model_free(large);
    return close_blobs(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruned_weights_stay_zero_in_training),
        cmocka_unit_test(weights_of_low_saliency_are_pruned),
        cmocka_unit_test(units_are_pruned_as_a_whole),
        cmocka_unit_test(a_bfloat16_is_the_nearest_of_eight_bits),
        cmocka_unit_test(rounded_weights_are_on_the_grid_and_frozen),
        cmocka_unit_test(the_nearest_level_is_the_nearest),
        cmocka_unit_test(a_file_is_within_its_size_and_is_read_as_it_was),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(operations_limit_factors_and_hidden_units),
        cmocka_unit_test(an_error_gives_the_smallest_file),
        cmocka_unit_test(the_error_is_that_of_the_stored_model),
        cmocka_unit_test(limits_that_cannot_be_met_are_refused),
        cmocka_unit_test(models_without_factors_or_exemplars_are_refused),
        cmocka_unit_test(a_stopped_compression_has_no_model),
        cmocka_unit_test(damaged_files_are_handled),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
