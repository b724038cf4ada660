/* Every reader survives damaged files and exhausted memory. Small valid files of every format are
 * truncated and modified, and every allocation fails in turn. Reading must give a data set or an
 * error message, without a crash or a leak. Intended for sanitizer builds. */
#define _XOPEN_SOURCE 700
#include <matio.h>

#include "base/base.h"
#include "read_support.h"
#include "memory_support.h"

enum { ROUNDS = 50 };

static void write_mat(const char *name, enum matio_compression compression)
{
    double x[6] = {1, 2.5, 3, -4, 5, 6}, y[3] = {1, 2, 1};
    uint32_t row[3] = {0, 1, 1}, column_start[5] = {0, 1, 2, 2, 3};
    double value[3] = {1, 2, 3};
    mat_sparse_t sparse = {3, row, 3, column_start, 5, 3, value};
    mat_t *file = Mat_CreateVer(name, NULL, MAT_FT_MAT5);
    assert_non_null(file);
    matvar_t *cell = Mat_VarCreate("names", MAT_C_CELL, MAT_T_CELL, 2, (size_t[]){2, 1}, NULL, 0);
    for (int i = 0; i < 2; i++)
        Mat_VarSetCell(cell, i, Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, (size_t[]){1, 3}, i ? "ant" : "bee", 0));
    matvar_t *all[] = {
        Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){3, 2}, x, 0),
        Mat_VarCreate("y", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){3, 1}, y, 0), cell,
        Mat_VarCreate("S", MAT_C_SPARSE, MAT_T_DOUBLE, 2, (size_t[]){2, 4}, &sparse, MAT_F_DONT_COPY_DATA)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(Mat_VarWrite(file, all[i], compression), 0);
        Mat_VarFree(all[i]);
    }
    Mat_Close(file);
}

/* Reads a file. In any case nothing may leak, and a failure must have a message. */
static void try_reading(const char *path, const char *variables)
{
    enhope_dataset *data = NULL;
    const enhope_source source = {.path = path, .variables = variables};
    const enhope_status status = enhope_dataset_read(ctx, &source, &data);
    if (status) {
        assert_null(data);
        assert_true(strlen(enhope_error(ctx)) > 10);
    } else {
        assert_non_null(data);
        enhope_dataset_info info;
        enhope_dataset_get_info(data, &info);
        assert_true(info.n > 0 && info.inputs > 0);
    }
    enhope_dataset_free(data);
}

static uint64_t draw(uint64_t *index, uint64_t below)
{
    return eh_random_u64(17, 99, (*index)++) % below;
}

static void damage(const char *name, const char *variables, uint64_t *index)
{
    size_t size;
    unsigned char *whole = slurp(name, &size), *bytes = malloc(size);
    assert_non_null(bytes);
    try_reading(name, variables);
    const size_t step = size / ROUNDS + 1;
    for (size_t cut = 0; cut < size; cut += step) {
        write_bytes(name, whole, cut);
        try_reading(name, variables);
    }
    for (int round = 0; round < ROUNDS; round++) {
        static const unsigned char edges[] = {0, 1, 0x7F, 0x80, 0xFF};
        memcpy(bytes, whole, size);
        for (uint64_t flips = 1 + draw(index, 4); flips > 0; flips--) {
            unsigned char *at = bytes + draw(index, size);
            *at = draw(index, 2) ? edges[draw(index, sizeof edges)] : (unsigned char)(*at ^ 1u << draw(index, 8));
        }
        write_bytes(name, bytes, size);
        try_reading(name, variables);
    }
    free(whole);
    free(bytes);
}

static void damaged_text_never_crashes(void **state)
{
    (void)state;
    uint64_t index = 0;
    write_text("a.csv", "w,\"h,\"\"x\"\"\",label\n1.5,2e3,\"a\nb\"\n-3,4.25,c\r\n\n7,8,a b\n");
    damage("a.csv", NULL, &index);
    write_text("a.tsv", "1.5\t2e3\ta\n-3\t4.25\tc\n");
    damage("a.tsv", NULL, &index);
    write_text("a.svm", "+1 1:2 3:4.5 # c\n-1 qid:2 2:7\n\n+1 3:1e-3\n");
    damage("a.svm", NULL, &index);
}

static void damaged_arrays_never_crash(void **state)
{
    (void)state;
    uint64_t index = 1000000;
    unsigned char file[512];
    const uint32_t sizes[3] = {2, 2, 3};
    size_t size = make_idx(file, 8, 3, sizes, "abcdefghijkl", 12);
    write_bytes("a-ubyte", file, size);
    damage("a-ubyte", NULL, &index);
    write_gz("a-ubyte.gz", file, size);
    damage("a-ubyte.gz", NULL, &index);
    const char *x = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 3), }\n";
    const char *y = "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }\n";
    size = make_npy(file, x, "abcdefghijklmnopqrstuvwx", 24);
    write_bytes("a.npy", file, size);
    damage("a.npy", NULL, &index);
    zip_maker z = {.size = 0};
    zip_add(&z, "X.npy", file, size, 1);
    size = make_npy(file, y, "a\0\0\0b\0\0\0c\0\0\0\0\0\0\0", 16);
    zip_add(&z, "y.npy", file, size, 0);
    zip_write(&z, "a.npz");
    damage("a.npz", NULL, &index);
}

static void damaged_mat_never_crashes(void **state)
{
    (void)state;
    uint64_t index = 2000000;
    for (int packed = 0; packed < 2; packed++) {
        const enum matio_compression how = packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
        write_mat("a.mat", how);
        damage("a.mat", "X,y", &index);
        write_mat("a.mat", how);
        damage("a.mat", "S", &index);
        write_mat("a.mat", how);
        damage("a.mat", NULL, &index);
    }
}

/* ---- exhausted memory ---- */

static enhope_status read_once(void *source)
{
    enhope_dataset *data = NULL;
    const enhope_status status = enhope_dataset_read(ctx, source, &data);
    assert_true(!data == (status != ENHOPE_OK));
    enhope_dataset_free(data);
    return status;
}

static void exhaust(enhope_source source)
{
    assert_true(fail_allocations(ctx, read_once, &source, 1) > 1);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    unsigned char file[512];
    const uint32_t sizes[2] = {2, 3}, count[1] = {2};
    write_text("m.csv", "w,h,label\n1.5,2e3,a\n-3,4.25,c\n");
    exhaust((enhope_source){.path = "m.csv", .split = "1@3"});
    write_text("m.svm", "+1 1:2 3:4.5\n-1 2:7\n");
    exhaust((enhope_source){.path = "m.svm", .limit = 1});
    write_gz("x-ubyte.gz", file, make_idx(file, 8, 2, sizes, "abcdef", 6));
    write_bytes("y-ubyte", file, make_idx(file, 8, 1, count, "ab", 2));
    exhaust((enhope_source){.path = "x-ubyte.gz,y-ubyte", .split = "1@3", .part = "test"});
    write_text("names.txt", "97,seven\n98,eight\n");
    exhaust((enhope_source){.path = "x-ubyte.gz,y-ubyte", .classes = "names.txt"});
    zip_maker z = {.size = 0};
    const char *x = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}";
    const char *y = "{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}";
    zip_add(&z, "X.npy", file, make_npy(file, x, "abcdefghijklmnop", 16), 1);
    zip_add(&z, "y.npy", file, make_npy(file, y, "a\0\0\0b\0\0\0", 8), 0);
    zip_write(&z, "m.npz");
    exhaust((enhope_source){.path = "m.npz"});
    write_mat("m.mat", MAT_COMPRESSION_ZLIB);
    exhaust((enhope_source){.path = "m.mat", .variables = "X,y"});
    exhaust((enhope_source){.path = "m.mat", .variables = "S"});
    exhaust((enhope_source){.path = "synthetic:digits,n=3"});
    exhaust((enhope_source){.path = "synthetic:blobs,n=7", .part = "test"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_text_never_crashes),
        cmocka_unit_test(damaged_arrays_never_crash),
        cmocka_unit_test(damaged_mat_never_crashes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
