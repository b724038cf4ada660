/* Stores: blocks of rows from files and from memory equal the data set read as a whole. */
#define _DEFAULT_SOURCE 1 /* flock */
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_support.h"

#include "data/store/store.h"

/* Checks that the rows first .. first + n of the store, read to row `at` of a block, equal those of
 * the data. */
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

/* Checks that a store over files gives the same rows as reading them as a whole. */
static void check_pair(const char *x, const char *y)
{
    char spec[128];
    snprintf(spec, sizeof spec, y ? "%s,%s" : "%s", x, y);
    enhope_dataset *data = read_ok((enhope_source){.path = spec});
    enhope_dataset *shape = eh_alloc(1, sizeof *shape);
    eh_store *s = NULL;
    if (eh_store_open_pair(ctx, x, y, shape, &s)) fail_msg("%s", enhope_error(ctx));
    assert_non_null(s);
    shape->store = s;
    assert_int_equal(eh_store_center(ctx, shape, NULL), ENHOPE_OK);
    assert_int_equal(!shape->encoding, !data->encoding);
    assert_int_equal(eh_encoding_check(ctx, shape->encoding, data->encoding, "data"), ENHOPE_OK);
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
    enhope_dataset_free(shape);
    enhope_dataset_free(data);
}

static void stores_over_idx_and_npy_match_whole_reads(void **state)
{
    (void)state;
    unsigned char file[512];
    const float values[6] = {2.385F, -1.5F, 0.25F, 7, -8.125F, 1e-3F};
    write_bytes("x.idx", file, make_idx(file, 8, 3, (uint32_t[]){3, 2, 2}, "\1\2\3\4\5\6\7\10\377\376\375\374", 12));
    write_bytes("y.idx", file, make_idx(file, 8, 1, (uint32_t[]){3}, "\7\2\7", 3));
    check_pair("x.idx", "y.idx");
    check_pair("x.idx", NULL);
    write_bytes("x.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", values, sizeof values));
    check_pair("x.npy", "y.idx");
    const double wide[6] = {2.385, 1e9 + 0.25, -1.5, 1e9 + 1.75, 0.25, 1e9 - 2.5}; /* float cannot resolve column 2 */
    write_bytes("d.npy", file,
                make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", wide, sizeof wide));
    check_pair("d.npy", "y.idx");
    write_bytes("i.npy", file,
                make_npy(file, "{'descr': '>i2', 'fortran_order': False, 'shape': (3, 1)}", "\1\0\377\377\0\5", 6));
    write_bytes("t.npy", file,
                make_npy(file, "{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", "cowantbee", 9));
    check_pair("i.npy", "t.npy");
    write_bytes("b.npy", file, make_npy(file, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\1\0\1", 3));
    check_pair("b.npy", "i.npy");
    write_bytes("s.npy", file,
                make_npy(file, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,)}", "\377\0\1", 3));
    check_pair("x.idx", "s.npy");
}

static void compressed_or_column_major_files_have_no_store(void **state)
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

static void open_fails(const char *x, const char *y, enhope_status status, const char *message)
{
    enhope_dataset shape = {.c = 0};
    eh_store *s = NULL;
    assert_int_equal(eh_store_open_pair(ctx, x, y, &shape, &s), status);
    assert_string_equal(enhope_error(ctx), message);
    assert_null(s);
}

static void damaged_files_are_rejected(void **state)
{
    (void)state;
    unsigned char file[512];
    const float nan_inside[4] = {1, 2, NAN, 4};
    write_bytes("x.idx", file, make_idx(file, 8, 2, (uint32_t[]){2, 2}, "\1\2\3\4", 4));
    write_bytes("y.idx", file, make_idx(file, 8, 1, (uint32_t[]){3}, "\1\2\3", 3));
    open_fails("x.idx", "y.idx", ENHOPE_ERROR_DATA, "x.idx has 2 samples but y.idx has 3 labels");
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
    assert_int_equal(truncate("nan.npy", 72), 0); /* while the store is open */
    assert_int_equal(eh_store_read(ctx, s, 0, 1, &b, 0, true), ENHOPE_ERROR_FORMAT);
    eh_block_free(&b);
    eh_store_free(s);
}

static void stores_over_memory_return_its_rows(void **state)
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
        assert_int_equal(eh_store_from_dataset(ctx, data[i], &s), ENHOPE_OK);
        same_rows(s, data[i], 0, 3, 0);
        same_rows(s, data[i], 2, 1, 3);
        same_rows(s, data[i], 1, 1, 0);
        eh_store_free(s);
        enhope_dataset_free(data[i]);
    }
}

static void reading_only_labels_keeps_the_values(void **state)
{
    (void)state;
    const uint8_t u8[4] = {1, 2, 3, 4};
    const int32_t label[2] = {1, 0};
    enhope_dataset *data = NULL;
    eh_store *s = NULL;
    eh_block b;
    assert_int_equal(enhope_dataset_view_u8(ctx, 2, 2, u8, label, 2, NULL, &data), ENHOPE_OK);
    assert_int_equal(eh_store_from_dataset(ctx, data, &s), ENHOPE_OK);
    assert_int_equal(eh_block_create(ctx, s->kind, s->H, 2, 0, &b), ENHOPE_OK);
    assert_int_equal(eh_store_read(ctx, s, 0, 2, &b, 0, false), ENHOPE_OK);
    assert_memory_equal(b.label, label, sizeof label);
    assert_memory_equal(b.x.u8, "\0\0\0\0", 4);
    eh_block_free(&b);
    eh_store_free(s);
    enhope_dataset_free(data);
}

/* ---- shards ---- */

static enhope_dataset *read_streamed(const char *folder)
{
    assert_int_equal(enhope_context_set_memory(ctx, 1000), ENHOPE_OK);
    enhope_dataset *data = read_ok((enhope_source){.path = folder});
    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.streamed, 1);
    assert_null(enhope_dataset_labels(data));
    return data;
}

static void check_shards(const char *spec, const char *folder, int64_t shard_rows)
{
    if (enhope_convert(ctx, &(enhope_source){.path = spec}, folder, shard_rows, 0, NULL, NULL))
        fail_msg("%s", enhope_error(ctx));
    enhope_dataset *whole = read_ok((enhope_source){.path = spec}), *back = read_ok((enhope_source){.path = folder});
    enhope_dataset *data = read_streamed(folder);
    const int64_t n = whole->x.n;
    assert_int_equal(data->x.n, n);
    assert_int_equal(data->c, whole->c);
    for (int32_t k = 0; k < whole->c; k++) assert_string_equal(data->class_name[k], whole->class_name[k]);
    for (int64_t i = 0; i < n; i += n / 7) {
        same_rows(data->store, whole, i, n - i, 0);
        same_rows(data->store, whole, i, (n - i) / 2, 3);
        same_rows(data->store, back, i, 1, 1);
    }
    assert_labels(back, whole->label);
    enhope_dataset_free(whole);
    enhope_dataset_free(back);
    enhope_dataset_free(data);
}

static void write_trees(void)
{
    FILE *f = fopen("trees.csv", "w");
    assert_non_null(f);
    fputs("width,height,kind\n", f);
    for (int i = 0; i < 300; i++)
        fprintf(f, "%g,%d,%s\n", i * 0.375, 5 - i, i % 7 == 3 ? "oak" : i % 2 ? "elm" : "ash");
    fclose(f);
}

static void shards_match_their_source(void **state)
{
    (void)state;
    write_trees();
    check_shards("trees.csv", "trees", 37);
    FILE *f = fopen("words.svm", "w");
    assert_non_null(f);
    for (int i = 0; i < 200; i++) {
        fprintf(f, "%d", i % 3);
        for (int j = i % 11; j < 50 && i % 4 && i > 40; j += 3 + i % 9) fprintf(f, " %d:%g", j + 1, j - 2.5 * i);
        fputs("\n", f);
    }
    fclose(f);
    check_shards("words.svm", "words", 20); /* the first two shards have no values */
    check_shards("synthetic:digits,n=500,seed=3", "digits", 73);
}

static void concurrent_conversions_to_one_folder_are_rejected(void **state)
{
    (void)state;
    const enhope_source blobs = {.path = "synthetic:blobs,n=30"};
    assert_int_equal(mkdir("locked", 0777), 0);
    const int fd = open("locked", O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(enhope_convert(ctx, &blobs, "locked", 0, 0, NULL, NULL), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "locked: another conversion is writing there");
    close(fd);
    assert_int_equal(enhope_convert(ctx, &blobs, "locked", 0, 0, NULL, NULL), ENHOPE_OK);
}

static int stop_in_the_second_shard(const enhope_conversion *at, void *user)
{
    *(int64_t *)user = at->rows;
    return at->rows > 10000;
}

static int note_resumed(const enhope_conversion *at, void *user)
{
    *(int64_t *)user = at->resumed;
    return 0;
}

static void interrupted_conversion_resumes(void **state)
{
    (void)state;
    const enhope_source digits = {.path = "synthetic:digits,n=30000"};
    int64_t rows = 0;
    assert_int_equal(enhope_convert(ctx, &digits, "late", 10000, 0, stop_in_the_second_shard, &rows), ENHOPE_STOPPED);
    assert_true(rows > 10000 && rows < 30000);
    read_fails((enhope_source){.path = "late"}, ENHOPE_ERROR_DATA,
               "late: contains an incomplete conversion; run the same enhope convert again to finish it");
    assert_int_equal(enhope_convert(ctx, &digits, "late", 10000, 0, note_resumed, &rows), ENHOPE_OK);
    assert_true(rows == 10000 || rows == 20000);
    int64_t files = 0;
    assert_int_equal(enhope_shards_check(ctx, "late", NULL, NULL, &files), ENHOPE_OK);
    assert_int_equal(files, 6);
    enhope_dataset *data = read_ok((enhope_source){.path = "late"}), *made = read_ok(digits);
    assert_memory_equal(data->x.u8, made->x.u8, 30000 * 784);
    enhope_dataset_free(data);
    enhope_dataset_free(made);
}

/* A conversion that fails in the second shard keeps the first one. */
static void a_failure_in_a_shard_keeps_the_shards_before_it(void **state)
{
    (void)state;
    const enhope_source words = {.path = "words.svm"}; /* of shards_match_their_source */
    assert_int_equal(mkdir("half", 0777) | mkdir("half/00001.value.npy", 0777), 0);
    assert_int_equal(enhope_convert(ctx, &words, "half", 100, 0, NULL, NULL), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "half/00001.value.npy: is not a regular file; remove it or convert to "
                                           "another folder");
    assert_int_equal(rmdir("half/00001.value.npy"), 0);
    if (enhope_convert(ctx, &words, "half", 100, 0, NULL, NULL)) fail_msg("%s", enhope_error(ctx));
    int64_t files = 0;
    assert_int_equal(enhope_shards_check(ctx, "half", NULL, NULL, &files), ENHOPE_OK);
    assert_int_equal(files, 8);
}

static void remains_of_killed_conversions_are_removed(void **state)
{
    (void)state;
    const enhope_source blobs = {.path = "synthetic:blobs,n=30"};
    static const char *const remains[] = {"killed/shards.json.tmp-17-0", "killed/shards.partial.json.tmp-4194000-12"};
    static const char *const others[] = {"killed/shards.json.tmp-17-0.txt", "killed/shards.json.tmp-x"};
    assert_int_equal(enhope_convert(ctx, &blobs, "killed", 0, 0, NULL, NULL), ENHOPE_OK);
    for (int i = 0; i < 2; i++) write_text(remains[i], "{"), write_text(others[i], "mine");
    write_text("killed/shards.partial.json", "{"); /* the end of a conversion removes it after the final list */
    assert_int_equal(enhope_convert(ctx, &blobs, "killed", 0, 0, NULL, NULL), ENHOPE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_not_equal(access(remains[i], F_OK), 0);
        assert_int_equal(access(others[i], F_OK), 0);
    }
    assert_int_not_equal(access("killed/shards.partial.json", F_OK), 0);
}

static void blocks_are_data_sets(void **state)
{
    (void)state;
    write_trees();
    assert_int_equal(enhope_convert(ctx, &(enhope_source){.path = "trees.csv"}, "blocks", 100, 0, NULL, NULL),
                     ENHOPE_OK);
    enhope_dataset *data = read_streamed("blocks"), *whole = read_ok((enhope_source){.path = "trees.csv"}),
                   *block = NULL;
    float row[2];
    assert_int_equal(enhope_dataset_block(ctx, data, 95, 110, &block), ENHOPE_OK);
    for (int64_t i = 0; i < 110; i++) {
        assert_int_equal(enhope_dataset_row(ctx, block, i, row), ENHOPE_OK);
        assert_row(whole, 95 + i, row);
        assert_int_equal(enhope_dataset_labels(block)[i], whole->label[95 + i]);
    }
    assert_string_equal(enhope_dataset_input_name(block, 1), "height");
    assert_string_equal(enhope_dataset_class_name(block, 2), "oak");
    enhope_dataset_free(block);
    block = NULL;
    assert_int_equal(enhope_dataset_row(ctx, data, 299, row), ENHOPE_OK);
    assert_row(whole, 299, row);
    assert_int_equal(enhope_dataset_block(ctx, whole, 7, 3, &block), ENHOPE_OK);
    assert_labels(block, whole->label + 7);
    enhope_dataset_free(block);
    assert_int_equal(enhope_dataset_block(ctx, data, 299, 2, &block), ENHOPE_ERROR_ARGUMENT);
    enhope_dataset_free(whole);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_over_idx_and_npy_match_whole_reads),
        cmocka_unit_test(compressed_or_column_major_files_have_no_store),
        cmocka_unit_test(damaged_files_are_rejected),
        cmocka_unit_test(stores_over_memory_return_its_rows),
        cmocka_unit_test(reading_only_labels_keeps_the_values),
        cmocka_unit_test(shards_match_their_source),
        cmocka_unit_test(concurrent_conversions_to_one_folder_are_rejected),
        cmocka_unit_test(interrupted_conversion_resumes),
        cmocka_unit_test(a_failure_in_a_shard_keeps_the_shards_before_it),
        cmocka_unit_test(remains_of_killed_conversions_are_removed),
        cmocka_unit_test(blocks_are_data_sets),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
