/* The parts of the API that bindings in other languages use: models in memory, names and image
 * shapes of views, neighbors, exemplars, and continued training. Also: a row is embedded bit for
 * bit the same alone and among other rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blobs_support.h"
#include "compute/compute.h"
#include "compute/cpu/cpu.h"
#include "settings_support.h"

static enhope_context *ctx;

static enhope_model *trained(const char *first, ...)
{
    static const char *const base[] = {"n_factors", "9", "n_hidden", "7", "n_epochs", "12", "solver", "adam", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, base, first, args);
    va_end(args);
    return trained_with(ctx, blobs, s);
}

/* Computes a product with the best kernel after the first `skipped`. It is close to sums in double,
 * and each row has the same bits whatever the other rows are. */
static void check_rows(int skipped, int64_t n, int64_t K, bool tb)
{
    enum { ROWS = 61 };
    float *A = eh_alloc((size_t)(ROWS * K), sizeof *A), *B = eh_alloc((size_t)(n * K), sizeof *B);
    float *all = eh_alloc((size_t)(ROWS * n), sizeof *all), *part = eh_alloc((size_t)(ROWS * n), sizeof *part);
    for (int64_t i = 0; i < ROWS * K; i++) A[i] = (float)eh_random_normal(5, 1, (uint64_t)i);
    for (int64_t i = 0; i < n * K; i++) B[i] = (float)eh_random_normal(5, 2, (uint64_t)i);
    eh_cpu_rows_but(skipped, ROWS, n, K, A, K, tb, B, tb ? K : n, all, n);
    for (int64_t i = 0; i < ROWS; i += 7)
        for (int64_t j = 0; j < n; j += 5) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < K; k++) {
                const double term = (double)A[i * K + k] * (double)B[tb ? j * K + k : k * n + j];
                sum += term;
                size += fabs(term);
            }
            assert_true(fabs(all[i * n + j] - sum) <= 1e-5 * size);
        }
    for (int64_t count = 1; count <= ROWS; count += count < 14 ? 1 : 9)
        for (int64_t first = 0; first + count <= ROWS; first += 5) {
            eh_cpu_rows_but(skipped, count, n, K, A + first * K, K, tb, B, tb ? K : n, part, n);
            assert_memory_equal(part, all + first * n, (size_t)(count * n) * sizeof *all);
        }
    eh_free(A), eh_free(B), eh_free(all), eh_free(part);
}

static void rows_of_a_product_do_not_depend_on_other_rows(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{400, 785, 0}, {2, 200, 1}, {37, 13, 1}, {33, 700, 0},
                                        {16, 5, 0},    {1, 321, 1}, {64, 1, 0}};
    for (int skipped = 0; skipped < 3; skipped++) /* AVX-512, AVX2, portable */
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_rows(skipped, shapes[s][0], shapes[s][1], shapes[s][2]);
}

static void a_row_is_embedded_the_same_alone_and_among_others(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "deep-en-hope", "linear-en-hope", "pca", "snc"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        enhope_model *model = trained("method", methods[m], "hidden_layer_sizes", "11-5", NULL);
        enhope_model_info info;
        enhope_model_get_info(model, &info);
        float all[N * H], one[H];
        int32_t label[N], alone;
        assert_int_equal(enhope_model_predict(ctx, model, blobs, 0, &(enhope_prediction){.label = label, .Y = all}), 0);
        for (int64_t i = 0; i < N; i += 13) {
            enhope_dataset *row = NULL;
            assert_int_equal(enhope_dataset_view_f32(ctx, 1, H, X + i * H, NULL, 0, NULL, &row), 0);
            assert_int_equal(enhope_model_predict(ctx, model, row, 0, &(enhope_prediction){.label = &alone, .Y = one}),
                             0);
            assert_memory_equal(one, all + i * info.outputs, (size_t)info.outputs * sizeof *one);
            assert_int_equal(alone, label[i]);
            enhope_dataset_free(row);
        }
        enhope_model_free(model);
    }
}

static void saved_bytes_equal_the_file_and_load_again(void **state)
{
    (void)state;
    enhope_model *model = trained(NULL, NULL), *again = NULL;
    size_t size = 0, size_again = 0;
    assert_int_equal(enhope_model_save_bytes(ctx, model, NULL, 0, &size), 0);
    char *bytes = malloc(size), *twice = malloc(size);
    assert_int_equal(enhope_model_save_bytes(ctx, model, bytes, size - 1, &size_again), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_model_save_bytes(ctx, model, bytes, size, &size_again), 0);
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &again), 0);
    assert_int_equal(enhope_model_save_bytes(ctx, again, twice, size, &size_again), 0);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, twice, size);
    enhope_model_free(again);
    again = NULL;
    for (size_t cut = 0; cut < size; cut += 1 + cut / 9) {
        assert_int_not_equal(enhope_model_load_bytes(ctx, bytes, cut, &again), 0);
        assert_null(again);
        assert_true(strlen(enhope_error(ctx)) > 10);
    }
    free(bytes), free(twice);
    enhope_model_free(model);
}

static void a_view_accepts_image_shapes_and_names(void **state)
{
    (void)state;
    static const char *const names[H] = {"a", "b", "c", "d", "e", "f"}, *const holes[H] = {"a", NULL};
    enhope_dataset *data = NULL;
    enhope_dataset_info info;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &data), 0);
    assert_int_equal(enhope_dataset_set_image(ctx, data, 4, 2), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "images of 4 x 2: expected rows x columns to be the 6 inputs");
    assert_int_equal(enhope_dataset_set_image(ctx, data, -3, -2), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_dataset_set_image(ctx, data, 3, 2), 0);
    assert_int_equal(enhope_dataset_set_input_names(ctx, data, names), 0);
    assert_int_equal(enhope_dataset_set_input_names(ctx, data, holes), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_dataset_input_name(data, 5), "f");
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.image_rows * 10 + info.image_columns, 32);
    enhope_values values;
    enhope_dataset_get_values(data, &values);
    assert_ptr_equal(values.f32, X);
    assert_null(values.u8);
    enhope_model *model = NULL;
    enhope_settings *s = enhope_settings_create();
    assert_int_equal(enhope_settings_set(ctx, s, "shift", "1"), 0);
    assert_int_equal(enhope_settings_set(ctx, s, "n_epochs", "1"), 0);
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &model), 0);
    assert_string_equal(enhope_model_input_name(model, 2), "c");
    assert_null(enhope_model_input_name(model, H));
    enhope_model_info about;
    enhope_model_get_info(model, &about);
    assert_int_equal(about.image_rows, 3);
    enhope_settings_free(s);
    enhope_model_free(model);
    enhope_dataset_free(data);
}

static void neighbors_are_sorted_and_exemplars_have_the_units_of_the_data(void **state)
{
    (void)state;
    enum { K = 4 };
    enhope_model *model = trained("n_exemplars", "6", NULL);
    int64_t neighbour[N * K], winner[N];
    float distance[N * K], nearest[N], E[6 * H], Y[6 * 2], Y_again[6 * 2];
    const enhope_prediction out = {
        .winner = winner, .distance = nearest, .neighbour = neighbour, .neighbour_distance = distance};
    assert_int_equal(enhope_model_predict(ctx, model, blobs, K, &out), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(neighbour[i * K], winner[i]);
        assert_true(distance[i * K] == nearest[i]);
        for (int j = 1; j < K; j++) assert_true(distance[i * K + j] >= distance[i * K + j - 1]);
    }
    /* exemplars, read as data, are embedded at their own positions */
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_model_exemplars(ctx, model, E), 0);
    assert_int_equal(enhope_model_references(ctx, model, Y, NULL), 0);
    assert_int_equal(enhope_dataset_view_f32(ctx, 6, H, E, NULL, 0, NULL, &data), 0);
    assert_int_equal(enhope_model_embed(ctx, model, data, Y_again), 0);
    for (int i = 0; i < 12; i++) assert_true(fabsf(Y[i] - Y_again[i]) <= 1e-4f * (1 + fabsf(Y[i])));
    enhope_dataset_free(data);
    enhope_model_free(model);
    model = trained("method", "nca", NULL);
    assert_int_equal(enhope_model_exemplars(ctx, model, E), ENHOPE_ERROR_ARGUMENT);
    enhope_model_free(model);
}

/* Settings of a short training run. */
static enhope_settings *brief(const char *first, ...)
{
    static const char *const base[] = {"n_epochs", "3", "solver", "adam", "batch_size", "30", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, base, first, args);
    va_end(args);
    return s;
}

static double error_of(const enhope_model *model)
{
    enhope_evaluation e = {0};
    assert_int_equal(enhope_model_evaluate(ctx, model, blobs, 0, &e), 0);
    return (double)e.errors / (double)e.n;
}

static void continued_training_adds_new_classes(void **state)
{
    (void)state;
    /* first classes 0 and 1, with the names of all three */
    static float some[N * H];
    static int32_t code[N];
    static const char *const two[] = {"0", "1"}, *const last[] = {"2"};
    int64_t n = 0, rest = 0;
    for (int i = 0; i < N; i++)
        if (LABEL[i] < 2) {
            memcpy(some + n * H, X + i * H, H * sizeof *X);
            code[n++] = LABEL[i];
        }
    enhope_dataset *first = NULL, *third = NULL;
    enhope_model *model = NULL, *more = NULL, *whole = NULL;
    enhope_settings *s = brief("n_factors", "9", "n_hidden", "7", "n_epochs", "20", NULL);
    assert_int_equal(enhope_dataset_view_f32(ctx, n, H, some, code, 2, two, &first), 0);
    assert_int_equal(enhope_train(ctx, first, s, NULL, NULL, &model), 0);
    assert_true(error_of(model) > 0.3);

    /* then class 2 alone, which gets exemplars of its own */
    static float third_rows[N * H];
    static int32_t zero[N];
    for (int i = 0; i < N; i++)
        if (LABEL[i] == 2) memcpy(third_rows + rest++ * H, X + i * H, H * sizeof *X);
    assert_int_equal(enhope_dataset_view_f32(ctx, rest, H, third_rows, zero, 1, last, &third), 0);
    enhope_settings *few = brief(NULL, NULL);
    if (enhope_model_update(ctx, model, third, few, NULL, NULL, &more)) fail_msg("%s", enhope_error(ctx));
    enhope_model_info before, after;
    enhope_model_get_info(model, &before);
    enhope_model_get_info(more, &after);
    assert_int_equal(after.classes, 3);
    assert_string_equal(enhope_model_class_name(more, 2), "2");
    assert_int_equal(after.references, before.references + before.references / 2);
    assert_int_equal(before.classes, 2); /* the old model is unchanged */

    /* training on all data then fits all classes */
    assert_int_equal(enhope_model_update(ctx, more, blobs, s, NULL, NULL, &whole), 0);
    assert_true(error_of(whole) < 0.1);

    /* settings do not change the shape of the model; data with other inputs is refused */
    enhope_model_get_info(whole, &after);
    assert_int_equal(after.factors, 9);
    enhope_dataset *narrow = NULL;
    enhope_model *none = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 10, H - 1, X, LABEL, C, NULL, &narrow), 0);
    assert_int_equal(enhope_model_update(ctx, whole, narrow, few, NULL, NULL, &none), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has 5 inputs, the model 6; use data with the inputs of training");
    enhope_dataset_free(narrow);
    assert_int_equal(enhope_dataset_view_f32(ctx, 10, H, X, NULL, 0, NULL, &narrow), 0);
    assert_int_equal(enhope_model_update(ctx, whole, narrow, few, NULL, NULL, &none), ENHOPE_ERROR_DATA);
    enhope_dataset_free(narrow);
    enhope_settings_free(s), enhope_settings_free(few);
    enhope_dataset_free(first), enhope_dataset_free(third);
    enhope_model_free(model), enhope_model_free(more), enhope_model_free(whole);
}

static void every_method_continues_or_reports_why_not(void **state)
{
    (void)state;
    for (int m = 0; m < enhope_method_count(); m++) {
        const enhope_method_info *info = enhope_method_get(m);
        enhope_model *model = trained("method", info->name, "hidden_layer_sizes", "8-5", NULL), *more = NULL;
        enhope_settings *s = brief("method", info->name, NULL);
        const enhope_status status = enhope_model_update(ctx, model, blobs, s, NULL, NULL, &more);
        if (!strcmp(info->solver, "adam")) {
            if (status) fail_msg("%s: %s", info->name, enhope_error(ctx));
            assert_true(error_of(more) <= error_of(model) + 0.05);
        } else {
            assert_int_equal(status, ENHOPE_ERROR_ARGUMENT);
            assert_non_null(strstr(enhope_error(ctx), "is not an iterative method"));
        }
        enhope_settings_free(s);
        enhope_model_free(model);
        enhope_model_free(more);
    }
}

/* Epochs with a tiny learning rate: losses differ only by the random numbers. */
static enhope_model *continued(const enhope_model *model, const char *valid)
{
    enhope_settings *s =
        brief("n_epochs", "2", "learning_rate", "1e-12", "noise", "0.5", "validation_fraction", valid, NULL);
    enhope_model *more = NULL;
    if (enhope_model_update(ctx, model, blobs, s, NULL, NULL, &more)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return more;
}

static void continued_training_draws_new_random_numbers_and_extends_the_history(void **state)
{
    (void)state;
    enhope_model *model = trained("patience", "0", NULL), *once = continued(model, "0"), *twice = continued(once, "0");
    enhope_model *same = continued(model, "0"), *validated = continued(twice, "0.2");
    enhope_model_info first, last;
    int64_t rows, rows_twice;
    const enhope_history *a = enhope_model_history(once, &rows), *b = enhope_model_history(twice, &rows_twice);
    assert_int_equal(rows, 14);
    assert_int_equal(rows_twice, 16);
    for (int64_t i = 0; i < 16; i++) {
        assert_int_equal(b[i].epoch, i + 1);
        assert_true(i == 0 || b[i].seconds >= b[i - 1].seconds);
        assert_true(i >= 14 || a[i].loss == b[i].loss);
    }
    for (int64_t i = 14; i < 16; i++) assert_true(fabs(b[i].loss - a[i - 2].loss) > 1e-4 * a[i - 2].loss);
    assert_true(enhope_model_history(same, NULL)[12].loss == a[12].loss);

    /* without a new validation part the old figures remain */
    enhope_model_get_info(model, &first);
    enhope_model_get_info(twice, &last);
    assert_int_equal(last.earlier, 14);
    assert_int_equal(last.best, 15);
    assert_true(first.valid_n > 0 && last.valid_n == first.valid_n && last.valid_errors == first.valid_errors);
    assert_true(first.temperature != 1 && last.temperature == first.temperature);
    enhope_model_get_info(validated, &last);
    assert_int_equal(last.valid_n, 60);
    assert_true(last.best >= 16); /* of the last training run */
    enhope_model_free(model), enhope_model_free(once), enhope_model_free(twice);
    enhope_model_free(same), enhope_model_free(validated);
}

static void notes_are_saved_with_the_model(void **state)
{
    (void)state;
    enhope_model *model = trained("patience", "0", NULL), *more = continued(model, "0"), *again = NULL;
    size_t plain = 0, size = 0;
    assert_null(enhope_model_note(more, "mine"));
    assert_int_equal(enhope_model_save_bytes(ctx, more, NULL, 0, &plain), 0);
    assert_int_equal(enhope_model_set_note(ctx, more, "mine", "first"), 0);
    assert_int_equal(enhope_model_set_note(ctx, more, "other", ""), 0);
    assert_int_equal(enhope_model_set_note(ctx, more, "mine", "<\"\xc3\xa4>"), 0);
    assert_int_equal(enhope_model_save_bytes(ctx, more, NULL, 0, &size), 0);
    assert_true(size > plain);
    char *bytes = malloc(size);
    assert_int_equal(enhope_model_save_bytes(ctx, more, bytes, size, &size), 0);
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &again), 0);
    assert_string_equal(enhope_model_note(again, "mine"), "<\"\xc3\xa4>");
    assert_string_equal(enhope_model_note(again, "other"), "");
    enhope_model_info info;
    enhope_model_get_info(again, &info);
    assert_int_equal(info.earlier, 12);
    enhope_model_free(again);
    for (int i = 2; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(enhope_model_set_note(ctx, more, name, name), 0);
    }
    assert_int_equal(enhope_model_set_note(ctx, more, "one more", ""), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_model_set_note(ctx, more, "mine", "as before"), 0);
    free(bytes);
    enhope_model_free(model), enhope_model_free(more);
}

static int make(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return !ctx || !make_blobs(ctx);
}

static int unmake(void **state)
{
    (void)state;
    enhope_dataset_free(blobs);
    enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_product_do_not_depend_on_other_rows),
        cmocka_unit_test(a_row_is_embedded_the_same_alone_and_among_others),
        cmocka_unit_test(saved_bytes_equal_the_file_and_load_again),
        cmocka_unit_test(a_view_accepts_image_shapes_and_names),
        cmocka_unit_test(neighbors_are_sorted_and_exemplars_have_the_units_of_the_data),
        cmocka_unit_test(continued_training_adds_new_classes),
        cmocka_unit_test(every_method_continues_or_reports_why_not),
        cmocka_unit_test(continued_training_draws_new_random_numbers_and_extends_the_history),
        cmocka_unit_test(notes_are_saved_with_the_model),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
