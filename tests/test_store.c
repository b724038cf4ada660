/* Stores: rows of files and of memory come to a block as a data set that was read whole holds them. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"

#include "data/store.h"

/* Rows first .. first + n of the store, from row `at` of a block, are those of the data. */
static void same_rows(const eh_store *s, const enhope_dataset *data, int64_t first, int64_t n, int64_t at)
{
    eh_block b = {.label = NULL};
    int64_t stored = 0;
    assert_int_equal(eh_store_count(ctx, s, first, n, &stored), ENHOPE_OK);
    assert_int_equal(eh_block_create(ctx, s->kind, s->H, at + n, stored, &b), ENHOPE_OK);
    if (eh_store_read(ctx, s, first, n, &b, at, true)) fail_msg("%s", enhope_error(ctx));
    float *row = calloc((size_t)s->H, sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        eh_matrix_row(&b.x, at + i, row);
        assert_row(data, first + i, row);
        assert_int_equal(b.label[at + i], data->label ? data->label[first + i] : -1);
    }
    free(row);
    eh_block_free(&b);
}

/* A store over files gives what reading them as a whole gives. */
static void pair_agrees(const char *x, const char *y)
{
    char spec[128];
    snprintf(spec, sizeof spec, y ? "%s,%s" : "%s", x, y);
    enhope_dataset *data = read_ok((enhope_source){.path = spec});
    enhope_dataset *shape = eh_alloc(1, sizeof *shape);
    eh_store *s = NULL;
    if (eh_store_open_pair(ctx, x, y, shape, &s)) fail_msg("%s", enhope_error(ctx));
    assert_non_null(s);
    assert_int_equal(s->n, data->x.n);
    assert_int_equal(s->H, data->x.H);
    assert_int_equal(s->kind, data->x.kind);
    assert_int_equal(s->stored, data->x.n * data->x.H);
    assert_int_equal(shape->c, data->c);
    assert_int_equal(shape->image_rows, data->image_rows);
    for (int32_t k = 0; k < data->c; k++) assert_string_equal(shape->class_name[k], data->class_name[k]);
    same_rows(s, data, 0, s->n, 0);
    same_rows(s, data, 1, s->n - 1, 2);
    same_rows(s, data, s->n, 0, 0);
    eh_store_free(s);
    enhope_dataset_free(shape);
    enhope_dataset_free(data);
}

static void files_of_idx_and_npy_give_what_reading_them_whole_gives(void **state)
{
    (void)state;
    unsigned char file[512];
    const float values[6] = {2.385F, -1.5F, 0.25F, 7, -8.125F, 1e-3F};
    write_bytes("x.idx", file, make_idx(file, 8, 3, (uint32_t[]){3, 2, 2}, "\1\2\3\4\5\6\7\10\377\376\375\374", 12));
    write_bytes("y.idx", file, make_idx(file, 8, 1, (uint32_t[]){3}, "\7\2\7", 3));
    pair_agrees("x.idx", "y.idx");
    pair_agrees("x.idx", NULL);
    write_bytes("x.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", values, sizeof values));
    pair_agrees("x.npy", "y.idx");
    write_bytes("i.npy", file,
                make_npy(file, "{'descr': '>i2', 'fortran_order': False, 'shape': (3, 1)}", "\1\0\377\377\0\5", 6));
    write_bytes("t.npy", file,
                make_npy(file, "{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", "cowantbee", 9));
    pair_agrees("i.npy", "t.npy");
    write_bytes("b.npy", file, make_npy(file, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\1\0\1", 3));
    pair_agrees("b.npy", "i.npy");
    write_bytes("s.npy", file,
                make_npy(file, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,)}", "\377\0\1", 3));
    pair_agrees("x.idx", "s.npy");
}

static void files_that_are_packed_or_in_column_order_are_left_to_the_readers(void **state)
{
    (void)state;
    unsigned char file[512];
    enhope_dataset shape = {.c = 0};
    eh_store *s = NULL;
    write_gz("x.idx.gz", file, make_idx(file, 8, 2, (uint32_t[]){2, 2}, "\1\2\3\4", 4));
    assert_int_equal(eh_store_open_pair(ctx, "x.idx.gz", NULL, &shape, &s), ENHOPE_OK);
    assert_null(s);
    write_bytes("f.npy", file,
                make_npy(file, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}", "\1\2\3\4", 4));
    assert_int_equal(eh_store_open_pair(ctx, "f.npy", NULL, &shape, &s), ENHOPE_OK);
    assert_null(s);
}

static void open_fails(const char *x, const char *y, enhope_status status, const char *sentence)
{
    enhope_dataset shape = {.c = 0};
    eh_store *s = NULL;
    assert_int_equal(eh_store_open_pair(ctx, x, y, &shape, &s), status);
    assert_string_equal(enhope_error(ctx), sentence);
    assert_null(s);
}

static void damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    unsigned char file[512];
    const float nan_inside[4] = {1, 2, NAN, 4};
    write_bytes("x.idx", file, make_idx(file, 8, 2, (uint32_t[]){2, 2}, "\1\2\3\4", 4));
    write_bytes("y.idx", file, make_idx(file, 8, 1, (uint32_t[]){3}, "\1\2\3", 3));
    open_fails("x.idx", "y.idx", ENHOPE_ERROR_DATA, "x.idx holds 2 samples but y.idx holds 3 labels");
    open_fails("none.idx", NULL, ENHOPE_ERROR_IO, "none.idx: cannot be opened: No such file or directory");
    write_bytes("short.idx", file, make_idx(file, 8, 2, (uint32_t[]){2, 3}, "\1\2\3\4", 4));
    open_fails("short.idx", NULL, ENHOPE_ERROR_FORMAT,
               "short.idx: the header announces 2 x 3 values (6 bytes) but only 4 bytes follow: the file is truncated");
    write_bytes("nan.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", nan_inside, 16));
    enhope_dataset shape = {.c = 0};
    eh_store *s = NULL;
    eh_block b;
    assert_int_equal(eh_store_open_pair(ctx, "nan.npy", NULL, &shape, &s), ENHOPE_OK);
    assert_int_equal(eh_block_create(ctx, s->kind, s->H, 2, 0, &b), ENHOPE_OK);
    assert_int_equal(eh_store_read(ctx, s, 0, 1, &b, 0, true), ENHOPE_OK);
    assert_int_equal(eh_store_read(ctx, s, 0, 2, &b, 0, true), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "nan.npy: sample 2, column 1 is NaN: expected a finite number");
    assert_int_equal(eh_store_read(ctx, s, 1, 2, &b, 0, true), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(eh_store_read(ctx, s, 0, 2, &b, 1, true), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(truncate("nan.npy", 72), 0); /* while it is in use */
    assert_int_equal(eh_store_read(ctx, s, 0, 1, &b, 0, true), ENHOPE_ERROR_FORMAT);
    eh_block_free(&b);
    eh_store_free(s);
}

static void memory_gives_its_own_rows(void **state)
{
    (void)state;
    const uint8_t u8[6] = {1, 2, 3, 4, 5, 6};
    const float f32[6] = {1.5F, 2, 3, -4, 5, 6};
    const int64_t row_start[4] = {0, 2, 2, 3};
    const int32_t column[3] = {0, 2, 1}, label[3] = {1, -1, 0};
    enhope_dataset *data[3];
    assert_int_equal(enhope_dataset_view_u8(ctx, 3, 2, u8, label, 2, NULL, &data[0]), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, 2, f32, NULL, 0, NULL, &data[1]), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_csr(ctx, 3, 3, row_start, column, f32, label, 2, NULL, &data[2]), ENHOPE_OK);
    for (int i = 0; i < 3; i++) {
        eh_store *s = NULL;
        assert_int_equal(eh_store_of(ctx, data[i], &s), ENHOPE_OK);
        same_rows(s, data[i], 0, 3, 0);
        same_rows(s, data[i], 2, 1, 3);
        same_rows(s, data[i], 1, 1, 0);
        eh_store_free(s);
        enhope_dataset_free(data[i]);
    }
}

static void labels_alone_leave_the_values(void **state)
{
    (void)state;
    const uint8_t u8[4] = {1, 2, 3, 4};
    const int32_t label[2] = {1, 0};
    enhope_dataset *data = NULL;
    eh_store *s = NULL;
    eh_block b;
    assert_int_equal(enhope_dataset_view_u8(ctx, 2, 2, u8, label, 2, NULL, &data), ENHOPE_OK);
    assert_int_equal(eh_store_of(ctx, data, &s), ENHOPE_OK);
    assert_int_equal(eh_block_create(ctx, s->kind, s->H, 2, 0, &b), ENHOPE_OK);
    assert_int_equal(eh_store_read(ctx, s, 0, 2, &b, 0, false), ENHOPE_OK);
    assert_memory_equal(b.label, label, sizeof label);
    assert_memory_equal(b.x.u8, "\0\0\0\0", 4);
    eh_block_free(&b);
    eh_store_free(s);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_idx_and_npy_give_what_reading_them_whole_gives),
        cmocka_unit_test(files_that_are_packed_or_in_column_order_are_left_to_the_readers),
        cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
        cmocka_unit_test(memory_gives_its_own_rows),
        cmocka_unit_test(labels_alone_leave_the_values),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
