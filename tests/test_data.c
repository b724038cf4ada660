/* Data sets in memory: views, selections, scaling compared with brute force, the split compared
 * with its definition, synthetic data. */
#define _DEFAULT_SOURCE 1 /* mkdtemp */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "data/data.h"

static enhope_context *ctx;

static int setup(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

static const float dense[4 * 3] = {2.385f, -1.5f, 0, 0.25f, 8, 0, -3.75f, 8.125f, 0, 1e-3f, 2, 0};
static const int64_t row_start[5] = {0, 2, 2, 5, 6};
static const int32_t column[6] = {0, 3, 0, 1, 4, 3};
static const float value[6] = {1.25f, -7, 2.5f, 0.125f, 3, 0.5f};

/* ---- views ---- */

static void views_refer_to_caller_memory(void **state)
{
    (void)state;
    const int32_t labels[4] = {1, 0, -1, 2};
    const char *const names[3] = {"ant", "bee", "cat"};
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 4, 3, dense, labels, 3, names, &data), ENHOPE_OK);
    assert_ptr_equal(data->x.f32, dense);
    assert_memory_equal(enhope_dataset_labels(data), labels, sizeof labels);
    assert_string_equal(enhope_dataset_class_name(data, 2), "cat");
    assert_null(enhope_dataset_class_name(data, 3));
    assert_null(enhope_dataset_input_name(data, 0));
    float row[3];
    assert_int_equal(enhope_dataset_row(ctx, data, 2, row), ENHOPE_OK);
    assert_memory_equal(row, dense + 6, sizeof row);
    assert_int_equal(enhope_dataset_row(ctx, data, 4, row), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "row 4 is outside the data: expected 0 to 3");
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += dense[i];
    assert_int_equal(info.bytes, 48);
    assert_true(info.minimum == -3.75 && info.maximum == 8.125);
    assert_float_equal(info.mean, sum / 12, 1e-12);
    enhope_dataset_free(data);

    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, row_start, column, value, labels, 3, NULL, &data), ENHOPE_OK);
    assert_string_equal(enhope_dataset_class_name(data, 1), "1");
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.kind, ENHOPE_CSR);
    assert_int_equal(info.stored, 6);
    assert_true(info.minimum == -7 && info.maximum == 3);
    assert_float_equal(info.mean, 0.375 / 20, 1e-12);
    enhope_dataset_free(data);

    const uint8_t bytes[4] = {3, 255, 0, 7};
    assert_int_equal(enhope_dataset_view_u8(ctx, 2, 2, bytes, NULL, 0, NULL, &data), ENHOPE_OK);
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.classes, 0);
    assert_true(info.minimum == 0 && info.maximum == 255 && info.mean == 66.25);
    enhope_dataset_free(data);
    enhope_dataset_free(NULL);
}

static void invalid_views_are_rejected(void **state)
{
    (void)state;
    enhope_dataset *data = NULL;
    float x[4] = {1, 2, NAN, 4};
    const int32_t labels[2] = {0, 3};
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 2, x, NULL, 0, NULL, &data), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 2, column 1 is NaN: expected a finite number");
    x[2] = INFINITY;
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 2, x, NULL, 0, NULL, &data), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 2, column 1 is infinite: expected a finite number");
    x[2] = FLT_MAX;
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 2, x, labels, 3, NULL, &data), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 2: class number 3 is outside 0 to 2 (-1: unlabeled)");
    assert_int_equal(enhope_dataset_view_f32(ctx, 0, 2, x, NULL, 0, NULL, &data), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: there are no samples");
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 0, x, NULL, 0, NULL, &data), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: there are no inputs, only samples");
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 2, NULL, NULL, 0, NULL, &data), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "view: the address of the values is NULL");
    assert_int_equal(enhope_dataset_view_f32(ctx, -1, 2, x, NULL, 0, NULL, &data), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_dataset_view_u8(ctx, INT64_MAX, 3, (const uint8_t *)x, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_int_equal(enhope_dataset_view_f32(ctx, 2, 2, x, labels, 0, NULL, &data), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "view: c is 0: expected at least 1 class with labels");

    int64_t starts[5];
    int32_t columns[6];
    memcpy(starts, row_start, sizeof starts);
    memcpy(columns, column, sizeof columns);
    columns[3] = 5;
    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, starts, columns, value, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 3: column number 5 is outside 0 to 4");
    columns[3] = 0;
    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, starts, columns, value, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 3: column number 0 follows 0: expected ascending columns");
    starts[2] = 1;
    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, starts, column, value, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 2: row_start falls from 2 to 1");
    starts[0] = 1;
    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, starts, column, value, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: row_start begins with 1: expected 0");
    float values[6];
    memcpy(values, value, sizeof values);
    values[4] = -INFINITY;
    assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, row_start, column, values, NULL, 0, NULL, &data),
                     ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "view: sample 3, column 5 is -infinite: expected a finite number");
    assert_null(data);
}

static void taking_rows_keeps_kind_labels_and_names(void **state)
{
    (void)state;
    const int32_t labels[4] = {1, 0, -1, 2};
    const int64_t rows[5] = {3, 0, 0, 2, 1};
    uint8_t bytes[4 * 3];
    for (int i = 0; i < 12; i++) bytes[i] = (uint8_t)(i * 37);
    for (int kind = 0; kind < 3; kind++) {
        enhope_dataset *data = NULL, *whole = NULL;
        for (int k = 0; k < 2; k++) {
            enhope_dataset **out = k ? &whole : &data;
            if (kind == 0) assert_int_equal(enhope_dataset_view_u8(ctx, 4, 3, bytes, labels, 3, NULL, out), 0);
            if (kind == 1) assert_int_equal(enhope_dataset_view_f32(ctx, 4, 3, dense, labels, 3, NULL, out), 0);
            if (kind == 2)
                assert_int_equal(enhope_dataset_view_csr(ctx, 4, 5, row_start, column, value, labels, 3, NULL, out), 0);
        }
        assert_int_equal(eh_dataset_select(ctx, data, (int64_t[]){4}, 1), ENHOPE_ERROR_ARGUMENT);
        assert_int_equal(data->x.n, 4);
        assert_int_equal(eh_dataset_select(ctx, data, rows, 5), ENHOPE_OK);
        assert_int_equal(eh_dataset_check(ctx, data, "taken"), ENHOPE_OK);
        assert_int_equal(data->x.n, 5);
        assert_int_equal(data->x.kind, whole->x.kind);
        assert_int_equal(data->c, 3);
        for (int i = 0; i < 5; i++) {
            float a[5], b[5];
            eh_matrix_row(&data->x, i, a);
            eh_matrix_row(&whole->x, rows[i], b);
            assert_memory_equal(a, b, (size_t)data->x.H * sizeof *a);
            assert_int_equal(data->label[i], labels[rows[i]]);
        }
        assert_int_equal(eh_dataset_select(ctx, data, rows + 1, 2), ENHOPE_OK); /* from the memory that it owns now */
        assert_int_equal(data->x.n, 2);
        enhope_dataset_free(data);
        enhope_dataset_free(whole);
    }
}

/* ---- scaling ---- */

enum { N = 23, H = 7 };

/* Computes shift and factor of column j from the definition, with long double sums. */
static void brute_force(eh_scale kind, const eh_matrix *x, const int64_t *rows, int n, int j, double *shift,
                        double *mul)
{
    float all[N][H];
    for (int i = 0; i < n; i++) eh_matrix_row(x, rows ? rows[i] : i, all[i]);
    const int sparse = x->kind == ENHOPE_CSR;
    const int from = kind == EH_SCALE_RANGE ? 0 : j, to = kind == EH_SCALE_RANGE ? H : j + 1;
    double minimum = INFINITY, maximum = -INFINITY, largest = 0;
    long double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        for (int k = from; k < to; k++) {
            const double v = (double)all[i][k];
            minimum = fmin(minimum, v), maximum = fmax(maximum, v), largest = fmax(largest, fabs(v));
            sum += v;
        }
    const long double mean = sparse ? 0 : sum / n;
    for (int i = 0; i < n; i++) squares += (all[i][j] - mean) * (all[i][j] - mean);
    const double spread = kind == EH_SCALE_STANDARD ? sqrt((double)squares / n) : sparse ? largest : maximum - minimum;
    *shift = sparse || kind == EH_SCALE_NONE ? 0 : kind == EH_SCALE_STANDARD ? (double)mean : minimum;
    *mul = kind == EH_SCALE_NONE || spread < 1e-12 ? 1 : 1 / spread;
}

static void assert_scaling(eh_scale asked, eh_scale expected, const eh_matrix *x, const int64_t *rows, int n)
{
    eh_scale kind = asked;
    float shift[H], mul[H];
    assert_int_equal(eh_scaling_fit(ctx, &kind, x, NULL, 0, rows, n, shift, mul), ENHOPE_OK);
    assert_int_equal(kind, expected);
    for (int j = 0; j < H; j++) {
        double true_shift, true_mul;
        brute_force(kind, x, rows, n, j, &true_shift, &true_mul);
        assert_true(fabs(shift[j] - true_shift) <= 1e-6 * fmax(1, fabs(true_shift)));
        assert_true(fabs(mul[j] - true_mul) <= 1e-5 * true_mul);
    }
}

static void scaling_matches_its_definition_on_the_given_rows(void **state)
{
    (void)state;
    const eh_scale kinds[] = {EH_SCALE_NONE, EH_SCALE_RANGE, EH_SCALE_MINMAX, EH_SCALE_STANDARD};
    static float f32[N * H], unit[N * H], values[N * H];
    static uint8_t u8[N * H];
    static int64_t starts[N + 1];
    static int32_t columns[N * H];
    int64_t rows[9], stored = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < H; j++) {
            const uint64_t index = (uint64_t)(i * H + j);
            /* column 2 is constant, column 3 lies far from 0 */
            f32[i * H + j] =
                j == 2 ? 0.1f : (float)(eh_random_normal(4, 77, index) * (j + 1) + (j == 3 ? 1000.0 : 0.3));
            unit[i * H + j] = (float)eh_random_unit(5, 77, index);
            u8[i * H + j] = (uint8_t)(eh_random_u64(6, 77, index) % 200 + 10);
            if (j == 5 || eh_random_unit(7, 77, index) > 0.3) continue; /* column 5 is empty */
            columns[stored] = j;
            values[stored++] = (float)eh_random_normal(8, 77, index);
        }
        starts[i + 1] = stored;
    }
    for (int i = 0; i < 9; i++) rows[i] = (i * 7 + 3) % N;
    const eh_matrix matrices[] = {
        {.kind = ENHOPE_F32, .n = N, .H = H, .f32 = f32},
        {.kind = ENHOPE_F32, .n = N, .H = H, .f32 = unit},
        {.kind = ENHOPE_U8, .n = N, .H = H, .u8 = u8},
        {.kind = ENHOPE_CSR, .n = N, .H = H, .row_start = starts, .column = columns, .value = values},
    };
    const eh_scale automatic[] = {EH_SCALE_STANDARD, EH_SCALE_STANDARD, EH_SCALE_STANDARD, EH_SCALE_RANGE};
    for (int m = 0; m < 4; m++) {
        for (int k = 0; k < 4; k++) {
            assert_scaling(kinds[k], kinds[k], &matrices[m], rows, 9);
            assert_scaling(kinds[k], kinds[k], &matrices[m], NULL, N);
            assert_scaling(kinds[k], kinds[k], &matrices[m], rows, 1); /* every column constant */
        }
        assert_scaling(EH_SCALE_AUTO, automatic[m], &matrices[m], rows, 9);
    }
    eh_scale kind = EH_SCALE_STANDARD;
    float shift[H], mul[H];
    assert_int_equal(eh_scaling_fit(ctx, &kind, &matrices[0], NULL, 0, rows, 0, shift, mul), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "scaling cannot be fitted: there are no training samples");
}

/* The scaling that auto chooses for a matrix with hints. */
static eh_scale automatic_scaling(const eh_matrix *x, int hints, float *shift, float *mul)
{
    eh_scale kind = EH_SCALE_AUTO;
    assert_int_equal(eh_scaling_fit(ctx, &kind, x, NULL, hints, NULL, x->n, shift, mul), ENHOPE_OK);
    return kind;
}

static void automatic_scaling_uses_one_range_only_for_columns_of_one_scale(void **state)
{
    (void)state;
    enum { ROWS = 40, COLUMNS = 20 };
    static float pixels[ROWS * COLUMNS], table[ROWS * COLUMNS], counts[ROWS * COLUMNS];
    static int64_t starts[ROWS + 1];
    static int32_t column[ROWS * COLUMNS];
    float shift[COLUMNS], mul[COLUMNS];
    int64_t stored = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            const double unit = eh_random_unit(9, 77, (uint64_t)(i * COLUMNS + j));
            pixels[i * COLUMNS + j] = (float)(i == 0 ? 0 : j < 3 ? 0.1 * unit : unit); /* darker at the border */
            table[i * COLUMNS + j] = j == 0 ? (float)(unit > 0.5) : (float)(unit * pow(10, j % 7 - 3));
            if (unit > 0.2) continue;
            column[stored] = j;
            counts[stored++] = (float)(1 + (int)(unit * 20));
        }
        starts[i + 1] = stored;
    }
    const eh_matrix images = {.kind = ENHOPE_F32, .n = ROWS, .H = COLUMNS, .f32 = pixels};
    const eh_matrix dense = {.kind = ENHOPE_F32, .n = ROWS, .H = COLUMNS, .f32 = table};
    eh_matrix sparse = {.kind = ENHOPE_CSR, .n = ROWS, .H = COLUMNS, .row_start = starts, .column = column};
    sparse.value = counts;
    assert_int_equal(automatic_scaling(&images, 0, shift, mul), EH_SCALE_RANGE);
    assert_int_equal(automatic_scaling(&dense, EH_SCALING_IMAGES, shift, mul), EH_SCALE_RANGE);
    assert_int_equal(automatic_scaling(&dense, 0, shift, mul), EH_SCALE_STANDARD);
    assert_true(shift[0] == 0 && mul[0] == 1); /* a column of zeros and ones */
    assert_true(shift[1] > 0 && mul[1] > 1);
    assert_int_equal(automatic_scaling(&sparse, EH_SCALING_CENTER, shift, mul), EH_SCALE_RANGE);
    for (int64_t t = 0; t < stored; t++) counts[t] *= column[t] % 5 == 4 ? 1000 : 1;
    assert_int_equal(automatic_scaling(&sparse, 0, shift, mul), EH_SCALE_MINMAX);
    assert_true(shift[4] == 0 && mul[4] < 1e-3);
    assert_int_equal(automatic_scaling(&sparse, EH_SCALING_CENTER, shift, mul), EH_SCALE_STANDARD);
    assert_true(shift[4] > 0);
}

/* A sparse table is scaled like the same table with all its zeros stored. */
static void sparse_and_dense_tables_are_scaled_alike(void **state)
{
    (void)state;
    enum { ROWS = 30, COLUMNS = 3 };
    static float table[ROWS * COLUMNS], value[ROWS * COLUMNS];
    static int64_t starts[ROWS + 1];
    static int32_t column[ROWS * COLUMNS];
    float shift[2][COLUMNS], mul[2][COLUMNS];
    int64_t stored = 0;
    for (int i = 0; i < ROWS; i++) {
        const float row[COLUMNS] = {(float)(i % 2), (float)(500 + i * i % 17), i % 3 ? 0 : 0.01f * (float)i};
        for (int j = 0; j < COLUMNS; j++) {
            table[i * COLUMNS + j] = row[j];
            if (row[j] == 0) continue;
            column[stored] = j;
            value[stored++] = row[j];
        }
        starts[i + 1] = stored;
    }
    const eh_matrix dense = {.kind = ENHOPE_F32, .n = ROWS, .H = COLUMNS, .f32 = table};
    const eh_matrix sparse = {
        .kind = ENHOPE_CSR, .n = ROWS, .H = COLUMNS, .row_start = starts, .column = column, .value = value};
    assert_int_equal(automatic_scaling(&dense, 0, shift[0], mul[0]), EH_SCALE_STANDARD);
    assert_int_equal(automatic_scaling(&sparse, EH_SCALING_CENTER, shift[1], mul[1]), EH_SCALE_STANDARD);
    for (int j = 0; j < COLUMNS; j++) {
        assert_float_equal(shift[0][j], shift[1][j], 1e-4);
        assert_float_equal(mul[0][j], mul[1][j], 1e-4 * mul[0][j]);
    }
}

static void values_too_large_for_float_sums_are_refused(void **state)
{
    (void)state;
    const float x[4] = {1, 2e38f, 2, -1e38f};
    const eh_matrix m = {.kind = ENHOPE_F32, .n = 2, .H = 2, .f32 = x};
    float shift[2], mul[2];
    eh_scale kind = EH_SCALE_STANDARD;
    assert_int_equal(eh_scaling_fit(ctx, &kind, &m, NULL, 0, NULL, 2, shift, mul), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "input 2 has a value of size 2e+38: expected at most 1e+30; divide it by a "
                                           "constant or leave it out");
    char *name[] = {"width", "height"};
    assert_int_equal(eh_scaling_fit(ctx, &kind, &m, name, 0, NULL, 2, shift, mul), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "input 2 ('height') has a value of size 2e+38"));
}

/* ---- the split ---- */

static uint64_t splitmix(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15ull;
    uint64_t z = *s;
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9ull;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBull;
    z ^= z >> 31;
    return z;
}

static void split_is_fisher_yates_from_the_end_with_splitmix64(void **state)
{
    (void)state;
    enum { COUNT = 101 };
    uint64_t s = 1234567;
    assert_true(splitmix(&s) == 6457827717110365317ull); /* the published first number of this seed */
    for (uint64_t seed = 0; seed < 4; seed++) {
        int64_t order[COUNT], *rows = NULL, count = 0;
        for (int i = 0; i < COUNT; i++) order[i] = i;
        s = seed;
        for (int i = COUNT - 1; i >= 1; i--) {
            const uint64_t j = splitmix(&s) % ((uint64_t)i + 1);
            const int64_t t = order[i];
            order[i] = order[j], order[j] = t;
        }
        char text[32];
        snprintf(text, sizeof text, "70@%d", (int)seed);
        assert_int_equal(eh_split_rows(ctx, text, "train", NULL, 0, COUNT, &rows, &count), ENHOPE_OK);
        assert_int_equal(count, 70);
        assert_memory_equal(rows, order, 70 * sizeof *rows);
        eh_free(rows);
        assert_int_equal(eh_split_rows(ctx, text, "test", NULL, 0, COUNT, &rows, &count), ENHOPE_OK);
        assert_int_equal(count, 31);
        assert_memory_equal(rows, order + 70, 31 * sizeof *rows);
        eh_free(rows);
    }
}

static void invalid_splits_are_rejected(void **state)
{
    (void)state;
#define FORMS "N@SEED, e.g. 8000@1, or a fraction from 0 to 1, e.g. 0.8@1"
    const struct {
        const char *split, *part, *message;
    } cases[] = {
        {"80", "train", "invalid split '80': expected " FORMS},
        {"@1", "train", "invalid split '@1': expected " FORMS},
        {"8@", "train", "invalid split '8@': expected " FORMS},
        {"8@1x", "train", "invalid split '8@1x': expected " FORMS},
        {"-8@1", "train", "invalid split '-8@1': expected " FORMS},
        {"99999999999999999999@1", "train", "invalid split '99999999999999999999@1': expected " FORMS},
        {"0@1", "train", "split '0@1' takes 0 samples to train: expected 1 to 20"},
        {"21@1", "train", "split '21@1' takes 21 samples to train: expected 1 to 20"},
        {"20@1", "test", "split '20@1' leaves no sample of 20 for the test part"},
        {"0.@1", "train", "invalid split '0.@1': expected " FORMS},
        {"1.5@1", "train", "invalid split '1.5@1': expected " FORMS},
        {"0.8", "train", "invalid split '0.8': expected " FORMS},
        {"0.1234567@1", "train", "invalid split '0.1234567@1': expected " FORMS},
        {"0.00@1", "train", "split '0.00@1': expected a fraction above 0 and below 1"},
        {"0.01@1", "train", "split '0.01@1' leaves no sample of 20 for the train part"},
        {"0.99@1", "test", "split '0.99@1' leaves no sample of 20 for the test part"},
        {"5@1", "dev", "unknown part 'dev': expected train or test"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t *rows = NULL, count = 0;
        assert_int_equal(eh_split_rows(ctx, cases[i].split, cases[i].part, NULL, 0, 20, &rows, &count),
                         ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), cases[i].message);
        assert_null(rows);
    }
#undef FORMS
}

static void split_by_fraction_divides_every_class(void **state)
{
    (void)state;
    enum { COUNT = 137, CLASSES = 4 };
    static const int sizes[CLASSES + 1] = {70, 43, 13, 1, 10}; /* the last: unlabeled */
    /* 0.7 of each is 49, 30.1, 9.1, 0.7 and 7; the part has 95.9, so the one sample joins it */
    static const int expected[CLASSES + 1] = {49, 30, 9, 1, 7};
    int32_t label[COUNT];
    for (int i = 0, k = 0, left = sizes[0]; i < COUNT; i++, left--) {
        while (left == 0) left = sizes[++k];
        label[i] = k < CLASSES ? k : -1;
    }
    int64_t *train = NULL, *test = NULL, *other = NULL, trains = 0, tests = 0, others = 0;
    assert_int_equal(eh_split_rows(ctx, "0.7@5", "train", label, CLASSES, COUNT, &train, &trains), ENHOPE_OK);
    assert_int_equal(eh_split_rows(ctx, "0.7@5", "test", label, CLASSES, COUNT, &test, &tests), ENHOPE_OK);
    assert_int_equal(eh_split_rows(ctx, "0.7@6", "train", label, CLASSES, COUNT, &other, &others), ENHOPE_OK);
    int counts[CLASSES + 1] = {0}, seen[COUNT] = {0}, same = 0;
    for (int64_t i = 0; i < trains; i++) {
        counts[label[train[i]] < 0 ? CLASSES : label[train[i]]]++;
        seen[train[i]]++;
        same += train[i] == other[i];
    }
    for (int64_t i = 0; i < tests; i++) seen[test[i]]++;
    assert_memory_equal(counts, expected, sizeof counts);
    for (int i = 0; i < COUNT; i++) assert_int_equal(seen[i], 1);
    assert_int_equal(trains, others);
    assert_true(same < 20);
    eh_free(train);
    eh_free(test);
    eh_free(other);
}

/* ---- synthetic data ---- */

static enhope_dataset *synthetic(const char *path, const char *part)
{
    const enhope_source source = {.path = path, .part = part};
    enhope_dataset *data = NULL;
    if (enhope_dataset_read(ctx, &source, &data)) fail_msg("%s", enhope_error(ctx));
    return data;
}

static uint32_t fingerprint(const enhope_dataset *data)
{
    const uLong values = crc32(0, data->owned[0], (unsigned)(data->x.n * data->x.H));
    return (uint32_t)crc32(values, (const Bytef *)data->label, (unsigned)(data->x.n * 4));
}

static void synthetic_digits_are_identical_on_every_machine(void **state)
{
    (void)state;
    enhope_dataset *a = synthetic("synthetic:digits,n=60,seed=5", NULL);
    enhope_dataset *b = synthetic("synthetic:digits,seed=5,n=60", "train");
    enhope_dataset *c = synthetic("synthetic:digits,n=60,seed=6", NULL);
    assert_int_equal(a->x.kind, ENHOPE_U8);
    assert_int_equal(a->x.H, 784);
    assert_int_equal(a->image_rows, 28);
    assert_int_equal(a->image_columns, 28);
    assert_int_equal(a->c, 10);
    assert_string_equal(enhope_dataset_class_name(a, 9), "9");
    int count[10] = {0};
    for (int i = 0; i < 60; i++) count[a->label[i]]++;
    for (int k = 0; k < 10; k++) assert_int_equal(count[k], 6);
    assert_memory_equal(a->x.u8, b->x.u8, 60 * 784);
    assert_memory_equal(a->label, b->label, 60 * sizeof *a->label);
    assert_true(fingerprint(a) != fingerprint(c));
    assert_int_equal(fingerprint(a), 0x440DA04Eu); /* the same on any machine */
    enhope_dataset_free(a);
    enhope_dataset_free(b);
    enhope_dataset_free(c);
}

static int nearest_label(const enhope_dataset *train, const uint8_t *image)
{
    int64_t best = INT64_MAX;
    int label = -1;
    for (int64_t k = 0; k < train->x.n; k++) {
        int64_t distance = 0;
        for (int j = 0; j < 784; j++) {
            const int d = train->x.u8[k * 784 + j] - image[j];
            distance += d * d;
        }
        if (distance < best) best = distance, label = train->label[k];
    }
    return label;
}

static void synthetic_digits_can_be_learned_and_the_test_part_is_separate(void **state)
{
    (void)state;
    enhope_dataset *train = synthetic("synthetic:digits,n=1500,seed=1", NULL);
    enhope_dataset *test = synthetic("synthetic:digits,n=200,seed=1", "test");
    int errors = 0, equal = 0;
    for (int64_t i = 0; i < test->x.n; i++) {
        const uint8_t *image = test->x.u8 + i * 784;
        errors += nearest_label(train, image) != test->label[i];
        for (int64_t k = 0; k < train->x.n; k++) equal += memcmp(train->x.u8 + k * 784, image, 784) == 0;
    }
    assert_int_equal(equal, 0);
    assert_in_range(errors, 4, 40); /* 2 to 20 % */
    enhope_dataset_free(train);
    enhope_dataset_free(test);
}

static void synthetic_blobs_have_the_requested_spread(void **state)
{
    (void)state;
    enhope_dataset *data = synthetic("synthetic:blobs,n=3000,classes=4,inputs=6,spread=0.5,seed=9", NULL);
    enhope_dataset *test = synthetic("synthetic:blobs,n=3000,classes=4,inputs=6,spread=0.5,seed=9", "test");
    assert_int_equal(data->x.kind, ENHOPE_F32);
    assert_int_equal(data->x.H, 6);
    assert_int_equal(data->c, 4);
    double mean[2][4][6] = {{{0}}}, square = 0;
    for (int i = 0; i < 3000; i++)
        for (int j = 0; j < 6; j++) {
            mean[0][data->label[i]][j] += (double)data->x.f32[i * 6 + j] / 750;
            mean[1][test->label[i]][j] += (double)test->x.f32[i * 6 + j] / 750;
        }
    for (int i = 0; i < 3000; i++)
        for (int j = 0; j < 6; j++) square += pow((double)data->x.f32[i * 6 + j] - mean[0][data->label[i]][j], 2);
    assert_float_equal(sqrt(square / 18000), 0.5, 0.02);
    for (int k = 0; k < 4; k++) /* another draw around the same centers */
        for (int j = 0; j < 6; j++) assert_float_equal(mean[0][k][j], mean[1][k][j], 0.15);
    assert_true(memcmp(data->x.f32, test->x.f32, 6 * sizeof(float)) != 0);
    enhope_dataset_free(data);
    enhope_dataset_free(test);
}

static void invalid_synthetic_descriptions_are_rejected(void **state)
{
    (void)state;
    const struct {
        const char *path, *message;
    } cases[] = {
        {"synthetic:rings", "synthetic: unknown name 'rings': expected digits or blobs"},
        {"synthetic:", "synthetic: unknown name '': expected digits or blobs"},
        {"synthetic:digits,n=0", "synthetic: n is '0': expected a whole number from 1 to 1073741824"},
        {"synthetic:digits,n=2.5", "synthetic: n is '2.5': expected a whole number from 1 to 1073741824"},
        {"synthetic:digits,n=many", "synthetic: n is 'many': expected a whole number from 1 to 1073741824"},
        {"synthetic:digits,classes=3", "synthetic: unknown key 'classes' of digits: expected n, seed or part"},
        {"synthetic:blobs,colour=3",
         "synthetic: unknown key 'colour' of blobs: expected n, classes, inputs, spread, seed or part"},
        {"synthetic:blobs,n", "synthetic: invalid setting 'n': expected key=value"},
        {"synthetic:blobs,spread=-1", "synthetic: spread is '-1': expected a number from 0 to 1000000"},
        {"synthetic:blobs,part=dev", "unknown part 'dev': expected train or test"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enhope_source source = {.path = cases[i].path};
        enhope_dataset *data = NULL;
        assert_int_equal(enhope_dataset_read(ctx, &source, &data), ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), cases[i].message);
        assert_null(data);
    }
}

/* ---- memory ---- */

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void memory_limit_follows_control_groups(void **state)
{
    (void)state;
    const char *const folders[] = {"groups", "groups/job", "groups/job/step", "groups/memory", "groups/memory/job"};
    const char *const files[] = {"groups/list", "groups/job/memory.max", "groups/job/step/memory.max",
                                 "groups/memory/memory.limit_in_bytes", "groups/memory/job/memory.limit_in_bytes"};
    char start[4096], folder[] = "/tmp/enhope-data-XXXXXX";
    assert_non_null(getcwd(start, sizeof start));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) assert_int_equal(mkdir(folders[i], 0777), 0);
    assert_int_equal(eh_group_memory("groups/none", "groups", 77), 77);
    put_text("groups/list", "0::/job/step\n");
    assert_int_equal(eh_group_memory("groups/list", "groups", 9000), 9000);
    put_text("groups/job/step/memory.max", "max\n");
    put_text("groups/job/memory.max", "5000\n");
    assert_int_equal(eh_group_memory("groups/list", "groups", 9000), 5000);
    assert_int_equal(eh_group_memory("groups/list", "groups", 4000), 4000);
    put_text("groups/job/step/memory.max", "3000\n");
    assert_int_equal(eh_group_memory("groups/list", "groups", 9000), 3000);
    put_text("groups/list", "7:memoryless:/job\n4:cpu,memory:/job\n3:pids:/\nnonsense\n");
    put_text("groups/memory/job/memory.limit_in_bytes", "2500\n");
    put_text("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(eh_group_memory("groups/list", "groups", 9000), 2500);
    put_text("groups/list", "4:memory:/elsewhere/outside\n"); /* as seen inside a container */
    put_text("groups/memory/memory.limit_in_bytes", "6000\n");
    assert_int_equal(eh_group_memory("groups/list", "groups", 9000), 6000);
    assert_true(eh_machine_memory() > 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) assert_int_equal(remove(files[i]), 0);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) assert_int_equal(rmdir(folders[i]), 0);
    assert_int_equal(chdir(start), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_refer_to_caller_memory),
        cmocka_unit_test(invalid_views_are_rejected),
        cmocka_unit_test(taking_rows_keeps_kind_labels_and_names),
        cmocka_unit_test(scaling_matches_its_definition_on_the_given_rows),
        cmocka_unit_test(automatic_scaling_uses_one_range_only_for_columns_of_one_scale),
        cmocka_unit_test(sparse_and_dense_tables_are_scaled_alike),
        cmocka_unit_test(values_too_large_for_float_sums_are_refused),
        cmocka_unit_test(split_is_fisher_yates_from_the_end_with_splitmix64),
        cmocka_unit_test(invalid_splits_are_rejected),
        cmocka_unit_test(split_by_fraction_divides_every_class),
        cmocka_unit_test(synthetic_digits_are_identical_on_every_machine),
        cmocka_unit_test(synthetic_digits_can_be_learned_and_the_test_part_is_separate),
        cmocka_unit_test(synthetic_blobs_have_the_requested_spread),
        cmocka_unit_test(invalid_synthetic_descriptions_are_rejected),
        cmocka_unit_test(memory_limit_follows_control_groups),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
