/* A file below 1 kB takes at most 100 MB, whatever sizes it announces, to read and to convert. */
#define _XOPEN_SOURCE 700
#include <malloc.h>

#include "mat_support.h"

static const size_t MAX_MEMORY = 100000000, MAX_FILE = 1000;
static size_t used;

static void *limited_malloc(size_t bytes)
{
    if (bytes > MAX_MEMORY - used) return NULL;
    void *block = malloc(bytes);
    if (block) used += malloc_usable_size(block);
    return block;
}

static void counted_free(void *block)
{
    used -= malloc_usable_size(block);
    free(block);
}

/* Reads the file and converts it. Memory must not run out. valid: the file is a data set. */
static void read_within_limit(const char *name, int valid)
{
    struct stat at;
    enhope_dataset *data = NULL;
    const enhope_source source = {.path = name, .label = NULL};
    assert_int_equal(stat(name, &at), 0);
    assert_true((size_t)at.st_size < MAX_FILE);
    enhope_set_allocator(limited_malloc, counted_free);
    const enhope_status read = enhope_dataset_read(ctx, &source, &data);
    enhope_dataset_free(data);
    const enhope_status converted = enhope_convert(ctx, &source, "out", 0, 0, NULL, NULL);
    enhope_set_allocator(NULL, NULL);
    assert_int_equal(used, 0);
    assert_int_equal(read, valid ? ENHOPE_OK : ENHOPE_ERROR_FORMAT);
    assert_int_equal(converted, valid ? ENHOPE_OK : ENHOPE_ERROR_FORMAT);
    if (valid) assert_int_equal(system("rm -r out"), 0);
}

static void packed_arrays_that_announce_too_much_are_refused(void **state)
{
    (void)state;
    unsigned char file[512];
    static const int types[] = {8, 9, 12, 14};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const uint32_t wide[2] = {1, 1500000000}, long_one[2] = {1500000000, 1};
        write_gz("wide-ubyte.gz", file, make_idx(file, types[i], 2, wide, "abcdefgh", 8));
        read_within_limit("wide-ubyte.gz", 0);
        write_gz("long-ubyte.gz", file, make_idx(file, types[i], 2, long_one, "abcdefgh", 8));
        read_within_limit("long-ubyte.gz", 0);
    }
    const char *wide = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 900000000)}";
    const char *text = "{'descr': '<U60000', 'fortran_order': False, 'shape': (90000,)}";
    write_gz("wide.npy.gz", file, make_npy(file, wide, "abcdefgh", 8));
    read_within_limit("wide.npy.gz", 0);
    zip_maker z = {.size = 0};
    zip_add(&z, "X.npy", file, make_npy(file, wide, "abcdefgh", 8), 1);
    zip_write(&z, "wide.npz");
    read_within_limit("wide.npz", 0);
    z = (zip_maker){.size = 0};
    zip_add(&z, "X.npy", file, make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh", 8),
            1);
    zip_add(&z, "y.npy", file, make_npy(file, text, "abcdefgh", 8), 1);
    zip_write(&z, "text.npz");
    read_within_limit("text.npz", 0);
}

/* What deflate can hold is read: 1032 times the bytes of the file. */
static void packed_zeros_are_read(void **state)
{
    (void)state;
    const uint32_t sizes[2] = {1000, 800};
    unsigned char *zeros = calloc(1, 16 + 800000);
    assert_non_null(zeros);
    const size_t head = make_idx(zeros, 8, 2, sizes, "", 0);
    gzFile f = gzopen("zeros-ubyte.gz", "wb9");
    assert_int_equal(gzwrite(f, zeros, (unsigned)head + 800000), (int)head + 800000);
    assert_int_equal(gzclose(f), Z_OK);
    free(zeros);
    read_within_limit("zeros-ubyte.gz", 1);
}

/* A packed array is not streamed, so one that exceeds the limit of the context is refused. */
static void packed_arrays_above_the_limit_are_refused(void **state)
{
    (void)state;
    static const unsigned char zeros[2000];
    unsigned char file[4096];
    const uint32_t sizes[2] = {50, 40};
    write_gz("above-ubyte.gz", file, make_idx(file, 8, 2, sizes, zeros, sizeof zeros));
    assert_int_equal(enhope_context_set_memory(ctx, 1999), ENHOPE_OK);
    read_fails((enhope_source){.path = "above-ubyte.gz"}, ENHOPE_ERROR_DATA,
               "above-ubyte.gz: its values take 2000 bytes of memory: expected at most 1999, the memory limit; only "
               "row-major IDX and NPY files that are not packed, with labels in such a file, are streamed; convert it "
               "to shards or raise the limit");
    assert_int_equal(enhope_convert(ctx, &(enhope_source){.path = "above-ubyte.gz"}, "above", 0, 0, NULL, NULL),
                     ENHOPE_OK);
    assert_int_equal(enhope_context_set_memory(ctx, 2000), ENHOPE_OK);
    enhope_dataset_free(read_ok((enhope_source){.path = "above-ubyte.gz"}));
    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
}

static void columns_of_large_numbers_take_no_memory(void **state)
{
    (void)state;
    write_text("wide.svm", "1 2000000000:1\n2 7:1\n");
    read_within_limit("wide.svm", 1);
}

static void matlab_files_that_announce_too_much_are_refused(void **state)
{
    (void)state;
    mat_maker m;
    mat_begin(&m, 0);
    size_t start = mat_matrix(&m, 6, 20000, 20000, "X");
    mat_put(&m, 9, 4);
    mat_put(&m, 3200000000, 4);
    mat_end(&m, start);
    mat_write(&m, "wide.mat");
    read_within_limit("wide.mat", 0);
    mat_put(&m, 0, 8);
    m.size = start + 4;
    mat_put(&m, 3200000048, 4); /* the matrix announces them too */
    m.size = start + 72;
    mat_pack(&m, start);
    mat_write(&m, "packed.mat");
    read_within_limit("packed.mat", 0);

    mat_begin(&m, 0);
    start = mat_matrix(&m, 1, 20000, 20000, "names");
    mat_end(&m, start);
    mat_doubles(&m, "X", 1, 1, (const double[]){2.5});
    mat_write(&m, "cell.mat");
    read_within_limit("cell.mat", 1);

    mat_begin(&m, 0);
    start = mat_matrix(&m, 5, 1, 1, "S"); /* row numbers of 64 bits, the first of them large */
    mat_part(&m, 13, 8, (const uint64_t[]){1ull << 40}, 1);
    mat_part(&m, 5, 4, (const int32_t[]){0, 1}, 2);
    mat_part(&m, 9, 8, (const double[]){2.5}, 1);
    mat_end(&m, start);
    mat_write(&m, "sparse.mat");
    read_within_limit("sparse.mat", 0);
}

static void lists_of_shards_that_announce_too_much_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("shards", 0700), 0);
    write_text(
        "shards/shards.json",
        "{\"format\": \"enhope shards\", \"version\": 1, \"source\": \"a\", \"samples\": 2000000000, \"inputs\": "
        "1000000, \"kind\": \"uint8\", \"stored\": 0, \"shards\": [{\"rows\": 2000000000, \"stored\": 0, "
        "\"files\": [{\"name\": \"00000.x.npy\", \"bytes\": 4000000000, \"crc32\": \"00000000\"}]}]}");
    enhope_dataset *data = NULL;
    enhope_set_allocator(limited_malloc, counted_free);
    const enhope_status status = enhope_dataset_read(ctx, &(enhope_source){.path = "shards"}, &data);
    enhope_set_allocator(NULL, NULL);
    assert_int_equal(used, 0);
    assert_int_equal(status, ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "shards/00000.x.npy: cannot be opened: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_arrays_that_announce_too_much_are_refused),
        cmocka_unit_test(packed_zeros_are_read),
        cmocka_unit_test(packed_arrays_above_the_limit_are_refused),
        cmocka_unit_test(columns_of_large_numbers_take_no_memory),
        cmocka_unit_test(matlab_files_that_announce_too_much_are_refused),
        cmocka_unit_test(lists_of_shards_that_announce_too_much_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
