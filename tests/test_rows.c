/* Data sets made of rows of others: selection, permuted inputs, folds, validation rows. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "memory_support.h"
#include "train/setup/samples.h"

enum { N = 137, H = 5, C = 3 };
static enhope_context *ctx;

typedef struct table {
    float f32[N * H];
    uint8_t u8[N * H];
    int64_t row_start[N + 1];
    int32_t column[N * H];
    float value[N * H];
    int32_t label[N];
} table;
static table t;

static int setup(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    int64_t stored = 0;
    for (int64_t i = 0; i < N; i++) {
        t.label[i] = i % 19 == 0 ? -1 : i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2;
        for (int32_t j = 0; j < H; j++) {
            t.f32[i * H + j] = 0.375F * (float)(i + 1) + 100.0F * (float)j;
            t.u8[i * H + j] = (uint8_t)(i + 3 * j);
            if ((i + j) % 3 == 0) continue;
            t.column[stored] = j;
            t.value[stored++] = t.f32[i * H + j];
        }
        t.row_start[i + 1] = stored;
    }
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

static enhope_dataset *make(enhope_kind kind, int64_t n)
{
    static const char *const classes[C] = {"oak", "elm", "ash"}, *const inputs[H] = {"a", "b", "c", "d", "e"};
    enhope_dataset *data = NULL;
    enhope_status status;
    if (kind == ENHOPE_F32)
        status = enhope_dataset_view_f32(ctx, n, H, t.f32, t.label, C, classes, &data);
    else if (kind == ENHOPE_U8)
        status = enhope_dataset_view_u8(ctx, n, H, t.u8, t.label, C, classes, &data);
    else
        status = enhope_dataset_view_csr(ctx, n, H, t.row_start, t.column, t.value, t.label, C, classes, &data);
    if (!status) status = enhope_dataset_set_input_names(ctx, data, inputs);
    if (status) fail_msg("%s", enhope_error(ctx));
    return data;
}

static const enhope_kind kinds[] = {ENHOPE_U8, ENHOPE_F32, ENHOPE_CSR};

static void selected_rows_keep_values_labels_and_names(void **state)
{
    (void)state;
    static const int64_t rows[] = {130, 3, 3, 57};
    for (int k = 0; k < 3; k++) {
        enhope_dataset *data = make(kinds[k], N), *some = NULL;
        assert_int_equal(enhope_dataset_select(ctx, data, rows, 4, &some), ENHOPE_OK);
        assert_int_equal(some->x.n, 4);
        for (int i = 0; i < 4; i++) {
            float a[H], b[H];
            eh_matrix_row(&data->x, rows[i], a);
            eh_matrix_row(&some->x, i, b);
            assert_memory_equal(a, b, sizeof a);
            assert_int_equal(some->label[i], t.label[rows[i]]);
        }
        assert_string_equal(enhope_dataset_class_name(some, 2), "ash");
        assert_string_equal(enhope_dataset_input_name(some, 4), "e");
        enhope_dataset_free(some);
        some = NULL;
        assert_int_equal(enhope_dataset_select(ctx, data, (int64_t[]){0, N}, 2, &some), ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), "row 137 is outside the data: expected 0 to 136");
        assert_int_equal(enhope_dataset_select(ctx, data, rows, 0, &some), ENHOPE_ERROR_ARGUMENT);
        assert_null(some);
        enhope_dataset_free(data);
    }
}

static void permutation_changes_the_chosen_inputs_only(void **state)
{
    (void)state;
    static const int64_t inputs[] = {1, 4};
    int64_t rows[N];
    for (int64_t i = 0; i < N; i++) rows[i] = (i * 31 + 5) % N;
    for (int k = 0; k < 3; k++) {
        enhope_dataset *data = make(kinds[k], N), *permuted = NULL;
        assert_int_equal(enhope_dataset_permute(ctx, data, inputs, 2, rows, &permuted), ENHOPE_OK);
        assert_int_equal(eh_dataset_check(ctx, permuted, "permuted"), ENHOPE_OK);
        for (int64_t i = 0; i < N; i++) {
            float own[H], other[H], now[H];
            eh_matrix_row(&data->x, i, own);
            eh_matrix_row(&data->x, rows[i], other);
            eh_matrix_row(&permuted->x, i, now);
            for (int j = 0; j < H; j++) assert_true(now[j] == (j == 1 || j == 4 ? other[j] : own[j]));
            assert_int_equal(permuted->label[i], t.label[i]);
        }
        enhope_dataset_free(permuted);
        permuted = NULL;
        assert_int_equal(enhope_dataset_permute(ctx, data, (int64_t[]){H}, 1, rows, &permuted), ENHOPE_ERROR_ARGUMENT);
        assert_null(permuted);
        enhope_dataset_free(data);
    }
}

/* ---- folds ---- */

static void folds_divide_every_class_evenly(void **state)
{
    (void)state;
    enhope_dataset *data = make(ENHOPE_F32, N);
    int32_t fold[N], again[N], other[N];
    for (int32_t folds = 2; folds < 12; folds += 3) {
        assert_int_equal(enhope_dataset_folds(ctx, data, folds, 7, NULL, fold), ENHOPE_OK);
        assert_int_equal(enhope_dataset_folds(ctx, data, folds, 7, NULL, again), ENHOPE_OK);
        assert_int_equal(enhope_dataset_folds(ctx, data, folds, 8, NULL, other), ENHOPE_OK);
        assert_memory_equal(fold, again, sizeof fold);
        assert_true(memcmp(fold, other, sizeof fold) != 0);
        int size[12] = {0}, count[12][C] = {{0}}, total[C] = {0}, all = 0;
        for (int i = 0; i < N; i++) {
            assert_true(t.label[i] < 0 ? fold[i] == -1 : fold[i] >= 0 && fold[i] < folds);
            if (t.label[i] < 0) continue;
            size[fold[i]]++;
            count[fold[i]][t.label[i]]++;
            total[t.label[i]]++;
            all++;
        }
        for (int f = 0; f < folds; f++) {
            assert_true(size[f] == all / folds || size[f] == all / folds + 1);
            for (int k = 0; k < C; k++)
                assert_true(count[f][k] == total[k] / folds || count[f][k] == total[k] / folds + 1);
        }
    }
    assert_int_equal(enhope_dataset_folds(ctx, data, 1, 7, NULL, fold), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_dataset_folds(ctx, data, 130, 7, NULL, fold), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "130 folds: expected 2 to 129, the number of labeled samples");
    enhope_dataset_free(data);
}

static void groups_stay_in_one_fold(void **state)
{
    (void)state;
    enum { FOLDS = 4, GROUPS = 23 };
    enhope_dataset *data = make(ENHOPE_U8, N);
    int64_t group[N];
    int32_t fold[N], of_group[GROUPS], size[FOLDS] = {0}, first[FOLDS] = {0};
    for (int i = 0; i < N; i++) group[i] = (i * i + 3 * i) % GROUPS;
    for (int g = 0; g < GROUPS; g++) of_group[g] = -1;
    assert_int_equal(enhope_dataset_folds(ctx, data, FOLDS, 3, group, fold), ENHOPE_OK);
    for (int i = 0; i < N; i++) {
        if (t.label[i] < 0) continue;
        if (of_group[group[i]] < 0) of_group[group[i]] = fold[i];
        assert_int_equal(of_group[group[i]], fold[i]);
        size[fold[i]]++;
        first[fold[i]] += t.label[i] == 0;
    }
    for (int f = 0; f < FOLDS; f++) {
        assert_in_range(size[f], 26, 39);  /* 129 samples in 4 folds */
        assert_in_range(first[f], 13, 24); /* 74 of the first class */
    }
    for (int i = 0; i < N; i++) group[i] = i % 3;
    assert_int_equal(enhope_dataset_folds(ctx, data, FOLDS, 3, group, fold), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "3 groups are too few for 4 folds; use fewer folds");
    group[5] = N;
    assert_int_equal(enhope_dataset_folds(ctx, data, 2, 3, group, fold), ENHOPE_ERROR_ARGUMENT);
    enhope_dataset_free(data);
}

/* ---- validation rows ---- */

static void added_rows_are_the_validation_part(void **state)
{
    (void)state;
    enum { EXTRA = 20 };
    static const char *const names[] = {"ash", "oak"};
    int32_t label[EXTRA];
    for (int i = 0; i < EXTRA; i++) label[i] = i % 6 == 5 ? -1 : i % 2;
    for (int k = 0; k < 3; k++) {
        enhope_dataset *data = make(kinds[k], N), *valid = NULL;
        enhope_status status =
            kinds[k] == ENHOPE_F32 ? enhope_dataset_view_f32(ctx, EXTRA, H, t.f32 + 9, label, 2, names, &valid)
            : kinds[k] == ENHOPE_U8
                ? enhope_dataset_view_u8(ctx, EXTRA, H, t.u8 + 9, label, 2, names, &valid)
                : enhope_dataset_view_csr(ctx, EXTRA, H, t.row_start, t.column, t.value, label, 2, names, &valid);
        assert_int_equal(status, ENHOPE_OK);
        assert_int_equal(enhope_dataset_add_validation(ctx, data, valid), ENHOPE_OK);
        assert_int_equal(data->x.n, N + EXTRA);
        for (int64_t i = 0; i < N + EXTRA; i++) {
            float now[H], expected[H];
            enhope_dataset *from = make(kinds[k], N);
            eh_matrix_row(&data->x, i, now);
            eh_matrix_row(i < N ? &from->x : &valid->x, i < N ? i : i - N, expected);
            enhope_dataset_free(from);
            assert_memory_equal(now, expected, sizeof now);
        }
        eh_samples samples = {0};
        const eh_samples_settings settings = {.seed = 4, .valid = 0.3};
        assert_int_equal(eh_samples_create(ctx, data, &settings, &samples), ENHOPE_OK);
        assert_int_equal(samples.valid_n, 17); /* of 20, three have no label */
        assert_int_equal(samples.n, 129);
        for (int64_t i = 0; i < samples.n + samples.valid_n; i++)
            assert_true((samples.rows[i] >= N) == (i >= samples.n));
        assert_int_equal(data->label[N], 2);
        assert_int_equal(data->label[N + 1], 0);
        eh_samples_free(NULL, &samples);
        enhope_dataset_free(data);
        enhope_dataset_free(valid);
    }
}

static void other_data_is_no_validation_part(void **state)
{
    (void)state;
    static const char *const names[] = {"oak", "fir"};
    static const int32_t label[] = {0, 1, 0};
    enhope_dataset *data = make(ENHOPE_F32, N), *valid = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, H, t.f32, label, 2, names, &valid), ENHOPE_OK);
    assert_int_equal(enhope_dataset_add_validation(ctx, data, valid), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the validation data has the class 'fir', which the training data has not; "
                                           "remove its samples, or add some to the training data");
    enhope_dataset_free(valid);
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, H - 1, t.f32, label, 2, NULL, &valid), ENHOPE_OK);
    assert_int_equal(enhope_dataset_add_validation(ctx, data, valid), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the validation data has 4 inputs, the training data 5");
    enhope_dataset_free(valid);
    valid = make(ENHOPE_U8, 9);
    assert_int_equal(enhope_dataset_add_validation(ctx, data, valid), ENHOPE_ERROR_DATA);
    enhope_dataset_free(valid);
    assert_int_equal(enhope_dataset_set_validation(ctx, data, N), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_dataset_set_validation(ctx, data, 31), ENHOPE_OK);
    assert_int_equal(data->valid_n, 31);
    assert_int_equal(data->x.n, N);
    enhope_dataset_free(data);
}

/* ---- memory ---- */

static enhope_status move_rows(void *unused)
{
    (void)unused;
    int64_t rows[N], group[N];
    int32_t fold[N];
    for (int64_t i = 0; i < N; i++) rows[i] = N - 1 - i, group[i] = i % 40;
    const long left = atomic_exchange(&allocations_left, LONG_MAX); /* the data itself can be made */
    enhope_dataset *data = make(ENHOPE_CSR, N), *valid = make(ENHOPE_CSR, 30), *out = NULL, *moved = NULL;
    allocations_left = left;
    enhope_status status = enhope_dataset_select(ctx, data, rows, 50, &out);
    if (!status) status = enhope_dataset_permute(ctx, data, (int64_t[]){2}, 1, rows, &moved);
    if (!status) status = enhope_dataset_folds(ctx, data, 5, 1, NULL, fold);
    if (!status) status = enhope_dataset_folds(ctx, data, 5, 1, group, fold);
    if (!status) status = enhope_dataset_add_validation(ctx, data, valid);
    enhope_dataset_free(data);
    enhope_dataset_free(valid);
    enhope_dataset_free(out);
    enhope_dataset_free(moved);
    return status;
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    fail_allocations(ctx, move_rows, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selected_rows_keep_values_labels_and_names),
        cmocka_unit_test(permutation_changes_the_chosen_inputs_only),
        cmocka_unit_test(folds_divide_every_class_evenly),
        cmocka_unit_test(groups_stay_in_one_fold),
        cmocka_unit_test(added_rows_are_the_validation_part),
        cmocka_unit_test(other_data_is_no_validation_part),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
