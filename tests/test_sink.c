/* Sinks: rows in memory, labels from a second file, and formats that are read in several blocks,
 * each compared with the same data read or written in another way. */
#define _DEFAULT_SOURCE 1
#include <math.h>

#include "read_support.h"

#include "memory_support.h"

/* ---- rows without a reader ---- */

/* Rows of 7 values that are a function of their index; every third sparse row is empty. */
enum { H = 7 };
static float value_of(int64_t row, int64_t column)
{
    return 0.25F * (float)(row * 31 + column * 7 % 5) - 3.1F;
}

typedef struct rows {
    float f32[100 * H];
    uint8_t u8[100 * H];
    int64_t row_start[101];
    int32_t column[100 * H];
    float value[100 * H];
    int32_t label[100];
} rows;

static eh_matrix make_rows(rows *r, enhope_kind kind, int64_t first, int64_t n)
{
    int64_t stored = 5; /* rows of a larger matrix: row starts do not begin at 0 */
    r->row_start[0] = stored;
    for (int64_t i = 0; i < n; i++) {
        r->label[i] = (int32_t)((first + i) % 3);
        for (int32_t j = 0; j < H; j++) {
            r->f32[i * H + j] = value_of(first + i, j);
            r->u8[i * H + j] = (uint8_t)(first + i + j);
            if ((first + i) % 3 == 0 || j % 2) continue;
            r->column[stored] = j;
            r->value[stored++] = value_of(first + i, j);
        }
        r->row_start[i + 1] = stored;
    }
    return (eh_matrix){.kind = kind,
                       .n = n,
                       .H = H,
                       .u8 = r->u8,
                       .f32 = r->f32,
                       .row_start = r->row_start,
                       .column = r->column,
                       .value = r->value};
}

static void assert_rows(const enhope_dataset *data, enhope_kind kind, int64_t n)
{
    assert_int_equal(data->x.kind, kind);
    assert_int_equal(data->x.n, n);
    assert_int_equal(data->x.H, H);
    for (int64_t i = 0; i < n; i++) {
        float row[H];
        eh_matrix_row(&data->x, i, row);
        for (int64_t j = 0; j < H; j++) {
            const float sparse = i % 3 == 0 || j % 2 ? 0 : value_of(i, j);
            const float expected = kind == ENHOPE_U8    ? (float)(uint8_t)(i + j)
                                   : kind == ENHOPE_CSR ? sparse
                                                        : value_of(i, j);
            assert_true(row[j] == expected);
        }
        assert_int_equal(data->label[i], i % 3);
    }
}

static enhope_dataset *new_data(void)
{
    enhope_dataset *data = NULL;
    assert_int_equal(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data), ENHOPE_OK);
    return data;
}

/* Passes blocks of irregular size. The number of rows that the reader expects is right, too small,
 * or unknown. */
static enhope_status push(enhope_dataset *data, rows *r, enhope_kind kind, int64_t reserve)
{
    static const int64_t sizes[] = {1, 13, 0, 100, 2, 71};
    eh_memory memory;
    int64_t first = 0;
    eh_memory_open(&memory, data);
    memory.sink.reserve = reserve;
    for (size_t p = 0; p < sizeof sizes / sizeof *sizes; p++) {
        const eh_matrix x = make_rows(r, kind, first, sizes[p]);
        EH_TRY(memory.sink.take(ctx, &memory.sink, &x, r->label, NAN));
        first += sizes[p];
    }
    return ENHOPE_OK;
}

static void memory_sink_accepts_any_kind_and_any_estimate(void **state)
{
    (void)state;
    static const int64_t reserves[] = {0, 50, 187, 5000};
    rows *r = calloc(1, sizeof *r);
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < sizeof reserves / sizeof *reserves; i++) {
            enhope_dataset *data = new_data();
            assert_int_equal(push(data, r, (enhope_kind)kind, reserves[i]), ENHOPE_OK);
            assert_rows(data, (enhope_kind)kind, 187);
            enhope_dataset_free(data);
        }
    free(r);
}

typedef struct pushed {
    rows *r;
    enhope_kind kind;
} pushed;

static enhope_status push_once(void *user)
{
    const pushed *p = user;
    enhope_dataset *data = NULL;
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    const enhope_status status = push(data, p->r, p->kind, 0);
    enhope_dataset_free(data);
    return status;
}

static void every_allocation_of_the_memory_sink_may_fail(void **state)
{
    (void)state;
    rows *r = calloc(1, sizeof *r);
    for (int kind = 0; kind < 3; kind++) fail_allocations(ctx, push_once, &(pushed){r, (enhope_kind)kind}, 1);
    free(r);
}

static void overflowing_sizes_are_rejected(void **state)
{
    (void)state;
    enhope_dataset *data = new_data();
    eh_memory memory;
    const float x[1] = {0};
    eh_memory_open(&memory, data);
    memory.sink.reserve = INT64_MAX / 2;
    const eh_matrix one = {.kind = ENHOPE_F32, .n = 1, .H = 1 << 20, .f32 = x};
    assert_int_equal(memory.sink.take(ctx, &memory.sink, &one, NULL, NAN), ENHOPE_ERROR_MEMORY);
    enhope_dataset_free(data);
}

static void rows_of_the_data_set_itself_are_not_copied(void **state)
{
    (void)state;
    enhope_dataset *data = new_data();
    eh_memory memory;
    static const int32_t label[2] = {1, 0};
    eh_memory_open(&memory, data);
    assert_int_equal(eh_new(ctx, "values", 2, sizeof(float), &data->owned[0]), ENHOPE_OK);
    data->x = (eh_matrix){.kind = ENHOPE_F32, .n = 2, .H = 1, .f32 = data->owned[0]};
    const void *before = data->x.f32;
    assert_int_equal(memory.sink.take(ctx, &memory.sink, &data->x, label, 1), ENHOPE_OK);
    assert_ptr_equal(data->x.f32, before);
    assert_int_equal(data->x.n, 2);
    assert_memory_equal(data->label, label, sizeof label);
    enhope_dataset_free(data);
}

/* ---- files that are read in several blocks ---- */

enum { LONG = EH_SINK_VALUES / H * 2 + 12345 };

static void write_long(const char *csv, const char *svm, const char *labels, int64_t label_rows)
{
    FILE *c = fopen(csv, "w"), *s = fopen(svm, "w"), *l = fopen(labels, "w");
    assert_true(c && s && l);
    for (int64_t i = 0; i < LONG; i++) {
        fputs(i % 2 ? "even" : "odd", s);
        for (int64_t j = 0; j < H; j++) {
            fprintf(c, "%lld%s", (long long)((i * 7 + j) % 1000), j < H - 1 ? "," : "\n");
            if ((i + j) % 2) fprintf(s, " %lld:%lld", (long long)j + 1, (long long)((i * 7 + j) % 1000));
        }
        fputs("\n", s);
    }
    for (int64_t i = 0; i < label_rows; i++) fprintf(l, "%s\n", i % 2 ? "even" : "odd");
    fclose(c), fclose(s), fclose(l);
}

static enhope_dataset *read_converted(const char *path, const char *folder)
{
    const enhope_source source = {.path = path};
    if (enhope_convert(ctx, &source, folder, LONG / 3, 0, NULL, NULL)) fail_msg("%s", enhope_error(ctx));
    return read_ok((enhope_source){.path = folder});
}

static void assert_same(const char *path, const char *folder)
{
    enhope_dataset *a = read_ok((enhope_source){.path = path}), *b = read_converted(path, folder);
    eh_fingerprint of_a, of_b;
    char what[128];
    assert_int_equal(eh_fingerprint_compute(ctx, a, &of_a), ENHOPE_OK);
    assert_int_equal(eh_fingerprint_compute(ctx, b, &of_b), ENHOPE_OK);
    if (eh_fingerprint_differs(&of_b, &of_a, what, sizeof what)) fail_msg("%s: %s", path, what);
    enhope_dataset_free(a);
    enhope_dataset_free(b);
}

static void files_and_pairs_give_identical_shards(void **state)
{
    (void)state;
    write_long("long.csv", "long.svm", "long_y.csv", LONG);
    enhope_dataset *data = read_ok((enhope_source){.path = "long.csv,long_y.csv"});
    assert_int_equal(data->x.n, LONG);
    assert_int_equal(data->c, 2);
    assert_string_equal(data->class_name[1], "odd");
    for (int64_t i = 0; i < LONG; i += 997) {
        assert_int_equal(data->label[i], !(i % 2));
        for (int64_t j = 0; j < H; j++) assert_true(data->x.f32[i * H + j] == (float)((i * 7 + j) % 1000));
    }
    enhope_dataset_free(data);
    assert_same("long.csv,long_y.csv", "of_pair");
    assert_same("long.svm", "of_svm");
}

static void pairs_of_different_length_are_rejected(void **state)
{
    (void)state;
    char message[128];
    for (int more = -1; more <= 1; more += 2) {
        write_long("x.csv", "x.svm", "y.csv", LONG + more);
        snprintf(message, sizeof message, "x.csv has %d samples but y.csv has %d labels", LONG, LONG + more);
        read_fails((enhope_source){.path = "x.csv,y.csv"}, ENHOPE_ERROR_DATA, message);
    }
}

static void npz_converts_to_shards(void **state)
{
    (void)state;
    static const char x[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    static const char turned[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }";
    static const char y[] = "{'descr': '|S3', 'fortran_order': False, 'shape': (3,), }";
    const float values[6] = {1.5F, -2, 3.25F, 0, 7, 1e-3F};
    unsigned char array[256];
    for (int fortran = 0; fortran < 2; fortran++) {
        zip_maker z = {.size = 0};
        zip_add(&z, "X_train.npy", array, make_npy(array, fortran ? turned : x, values, sizeof values), 1);
        zip_add(&z, "y_train.npy", array, make_npy(array, y, "owlcat\0\0\0", 9), 0);
        zip_write(&z, "small.npz");
        assert_same("small.npz", fortran ? "of_turned" : "of_npz");
        const enhope_source test = {.path = "small.npz", .part = "test"};
        assert_int_equal(enhope_convert(ctx, &test, "no_test", 0, 0, NULL, NULL), ENHOPE_ERROR_DATA);
    }
}

static void conversion_rejects_values_that_are_not_finite(void **state)
{
    (void)state;
    const float values[6] = {1, 2, 3, 4, -INFINITY, 6};
    unsigned char array[256];
    const size_t size =
        make_npy(array, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", values, sizeof values);
    write_bytes("endless.npy", array, size);
    const enhope_source source = {.path = "endless.npy"};
    assert_int_equal(enhope_convert(ctx, &source, "endless", 0, 0, NULL, NULL), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "endless.npy: sample 3, column 1 is -infinite: expected a finite number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_sink_accepts_any_kind_and_any_estimate),
        cmocka_unit_test(every_allocation_of_the_memory_sink_may_fail),
        cmocka_unit_test(overflowing_sizes_are_rejected),
        cmocka_unit_test(rows_of_the_data_set_itself_are_not_copied),
        cmocka_unit_test(files_and_pairs_give_identical_shards),
        cmocka_unit_test(pairs_of_different_length_are_rejected),
        cmocka_unit_test(npz_converts_to_shards),
        cmocka_unit_test(conversion_rejects_values_that_are_not_finite),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
