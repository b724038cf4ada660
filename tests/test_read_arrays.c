/* The readers of NPY, NPZ and MATLAB files: types, orders, names, and their messages for invalid
 * files. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <matio.h>

#include "read_support.h"

/* ---- NPY ---- */

static void npy_reads_every_type_in_both_byte_orders(void **state)
{
    (void)state;
    const struct {
        const char *descr;
        size_t bytes;
        const char *values;
        float expected[2];
        enhope_kind kind;
    } cases[] = {
        {"|u1", 2, "\x07\xFE", {7, 254}, ENHOPE_U8},
        {"|b1", 2, "\x00\x01", {0, 1}, ENHOPE_U8},
        {"|i1", 2, "\x07\xFE", {7, -2}, ENHOPE_F32},
        {"<i2", 4, "\x02\x01\x00\xFF", {258, -256}, ENHOPE_F32},
        {">i2", 4, "\x01\x02\xFF\x00", {258, -256}, ENHOPE_F32},
        {"<u2", 4, "\x02\x01\x00\xFF", {258, 65280}, ENHOPE_F32},
        {"<i4", 8, "\x00\x00\x01\x00\xF6\xFF\xFF\xFF", {65536, -10}, ENHOPE_F32},
        {">u4", 8, "\x00\x01\x00\x00\xFF\x00\x00\x00", {65536, 4278190080.f}, ENHOPE_F32},
        {"<i8", 16, "\x05\0\0\0\0\0\0\0\xF6\xFF\xFF\xFF\xFF\xFF\xFF\xFF", {5, -10}, ENHOPE_F32},
        {"<u8", 16, "\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", {5, 0x1p63f}, ENHOPE_F32},
        {"<f2", 4, "\x00\x3E\x01\x80", {1.5f, -0x1p-24f}, ENHOPE_F32},
        {"<f4", 8, "\x00\x00\x80\xBF\x44\x8B\x18\x40", {-1, 2.3835f}, ENHOPE_F32},
        {">f4", 8, "\xBF\x80\x00\x00\x40\x18\x8B\x44", {-1, 2.3835f}, ENHOPE_F32},
        {"<f8", 16, "\x14\xAE\x47\xE1\x7A\x14\x03\x40\0\0\0\0\0\0\x59\xC0", {2.385f, -100}, ENHOPE_F32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[256];
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }   \n",
                 cases[i].descr);
        write_bytes("a.npy", file, make_npy(file, dictionary, cases[i].values, cases[i].bytes));
        enhope_dataset *data = read_ok((enhope_source){.path = "a.npy"});
        assert_int_equal(data->x.kind, cases[i].kind);
        assert_int_equal(data->x.n, 2);
        assert_int_equal(data->x.H, 1);
        for (int64_t k = 0; k < 2; k++) {
            float value;
            eh_matrix_row(&data->x, k, &value);
            assert_float_equal(value, cases[i].expected[k], 1e-4);
        }
        enhope_dataset_free(data);
    }
}

static void npy_reads_row_and_column_order_and_versions(void **state)
{
    (void)state;
    unsigned char file[256], values[24];
    for (int i = 0; i < 24; i++) values[i] = (unsigned char)(i * i % 251);
    size_t size = make_npy(file, "{\"shape\": (2, 3L, 4), 'fortran_order': True, 'descr': '|u1'}", values, 24);
    write_bytes("f.npy", file, size);
    write_gz("f.npy.gz", file, size);
    for (int gz = 0; gz < 2; gz++) {
        enhope_dataset *data = read_ok((enhope_source){.path = gz ? "f.npy.gz" : "f.npy"});
        assert_int_equal(data->x.n, 2);
        assert_int_equal(data->x.H, 12);
        assert_int_equal(data->image_rows, 3);
        assert_int_equal(data->image_columns, 4);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 4; k++) assert_int_equal(data->x.u8[i * 12 + j * 4 + k], values[i + 2 * j + 6 * k]);
        enhope_dataset_free(data);
    }
    const char *dictionary = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6)}";
    memcpy(file, "\x93NUMPY\x02\x00", 8);
    put(file + 8, strlen(dictionary), 4);
    memcpy(file + 12, dictionary, strlen(dictionary));
    memcpy(file + 12 + strlen(dictionary), values, 24);
    write_bytes("v2.npy", file, 12 + strlen(dictionary) + 24);
    enhope_dataset *data = read_ok((enhope_source){.path = "v2.npy"});
    assert_int_equal(data->x.H, 6);
    assert_memory_equal(data->x.u8, values, 24);
    enhope_dataset_free(data);
}

/* Checks rows of two columns, the second of which float cannot resolve: values (5, 2). */
static void check_centered(const enhope_dataset *data, const double *values, double offset)
{
    assert_int_equal(data->x.n, 5);
    assert_non_null(data->encoding);
    assert_true(data->encoding->column[0].offset == 0);
    assert_true(fabs(data->encoding->column[1].offset - offset) < 1e-6);
    for (int i = 0; i < 10; i++) {
        const double x = (double)data->x.f32[i] + data->encoding->column[i % 2].offset;
        assert_true(fabs(x - values[i]) < 1e-6);
    }
}

static void columns_that_float_cannot_resolve_are_centered(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    double mean = 0;
    double values[2][ROWS * 2]; /* by rows, by columns */
    unsigned char file[512];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++) {
            const double value = (j ? 1e9 : 17) + 0.31 * ((3 * i + 2) % 7);
            values[0][2 * i + j] = values[1][ROWS * j + i] = value;
            if (j) mean += value / ROWS;
        }
    for (int fortran = 0; fortran < 2; fortran++) {
        char dictionary[96];
        snprintf(dictionary, sizeof dictionary, "{'descr': '<f8', 'fortran_order': %s, 'shape': (5, 2)}",
                 fortran ? "True" : "False");
        write_bytes("c.npy", file, make_npy(file, dictionary, values[fortran], sizeof values[0]));
        enhope_dataset *data = read_ok((enhope_source){.path = "c.npy"});
        check_centered(data, values[0], mean);
        /* other rows, with the same center, also if they are floats */
        const enhope_table_options like = {.like = data};
        const float other[2] = {3.5f, 1e9f};
        unsigned char small[256];
        write_bytes("o.npy", small,
                    make_npy(small, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", other, sizeof other));
        enhope_dataset *more = read_ok((enhope_source){.path = "o.npy", .table = &like});
        assert_true(more->x.f32[0] == 3.5f);
        assert_true(more->x.f32[1] == (float)(1e9 - data->encoding->column[1].offset));
        assert_int_equal(eh_encoding_check(ctx, data->encoding, more->encoding, "data"), ENHOPE_OK);
        enhope_dataset_free(more);
        enhope_dataset_free(data);
    }
}

static void npy_labels_may_be_numbers_or_text(void **state)
{
    (void)state;
    unsigned char x[128], y[256];
    write_bytes("x.npy", x, make_npy(x, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1)}", "\1\2\3", 3));
    const struct {
        const char *dictionary, *values;
        size_t bytes;
        int32_t expected[3];
        const char *class1;
    } cases[] = {
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}", "\x0A\0\xFF\xFF\x09\0", 6, {1, -1, 0}, "10"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1)}",
         "\0\0\x80\x3F\0\0\0\x40\0\0\x80\x3F",
         12,
         {0, 1, 0},
         "2"},
        {"{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", "ant\0\0\0bee", 9, {0, -1, 1}, "bee"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
         "\0\0\x80\x3F\0\0\xC0\x7F\0\0\0\x40",
         12,
         {0, -1, 1},
         "2"}, /* the second is NaN */
        {"{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", "antc\0\0bee", 9, {0, 2, 1}, "bee"},
        {"{'descr': '<U2', 'fortran_order': False, 'shape': (1, 3)}",
         "a\0\0\0\xE4\0\0\0\xAC\x20\0\0\0\0\0\0a\0\0\0\xE4\0\0\0",
         24,
         {0, 1, 0},
         "\xE2\x82\xAC"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("y.npy", y, make_npy(y, cases[i].dictionary, cases[i].values, cases[i].bytes));
        enhope_dataset *data = read_ok((enhope_source){.path = "x.npy,y.npy"});
        assert_labels(data, cases[i].expected);
        assert_string_equal(enhope_dataset_class_name(data, 1), cases[i].class1);
        enhope_dataset_free(data);
    }
}

static void damaged_npy_is_rejected(void **state)
{
    (void)state;
    static const char strict[] =
        "b.npy: invalid NPY header: expected {'descr': ..., 'fortran_order': ..., 'shape': ...}";
    const struct {
        const char *dictionary, *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False}", strict},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", strict},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", strict},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,-2)}", strict},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", strict},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} junk", strict},
        {"", strict},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "b.npy: contains a single value: expected an array"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
         "b.npy: unsupported type '|O': expected booleans, integers, floats or text"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
         "b.npy: unsupported type '<c8': expected booleans, integers, floats or text"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
         "b.npy: contains records: expected a plain array of numbers"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
         "b.npy: the header announces 2 values (16 bytes) but only 8 bytes follow: the file is truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "b.npy: the dimensions 4294967296 x 4294967296 overflow: the header is damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
         "b.npy: bytes follow the last value that the header announces"},
    };
    unsigned char file[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("b.npy", file, make_npy(file, cases[i].dictionary, "\0\0\0\0\0\0\0\0", 8));
        read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_FORMAT, cases[i].message);
    }
    write_bytes(
        "b.npy", file,
        make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", "\0\0\x80\x3F\0\0\x80\xFF", 8));
    read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_DATA,
               "b.npy: sample 1, column 2 is -infinite: expected a finite number");
    const char *text = "{'descr': '|S4', 'fortran_order': False, 'shape': (2,)}";
    write_bytes("b.npy", file, make_npy(file, text, "antsbees", 8));
    read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_DATA, "b.npy: contains text: expected numbers");
    write_text("b.npy", "not a numpy file");
    read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_FORMAT,
               "b.npy: wrong magic 6e 6f 74 20: expected NPY, 93 4e 55 4d");
    write_bytes("b.npy", "\x93NUMPY\x04\x00\x10\x00", 10);
    read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_FORMAT,
               "b.npy: unknown NPY version 4.0: expected 1 to 3");
    write_bytes("b.npy", "\x93NUMPY\x01\x00\x10\x00{'de", 14);
    read_fails((enhope_source){.path = "b.npy"}, ENHOPE_ERROR_FORMAT,
               "b.npy: ends within the NPY header: the file is truncated");
}

/* ---- NPZ ---- */

static void add_array(zip_maker *z, const char *name, const char *dictionary, const void *values, size_t bytes,
                      int deflated)
{
    unsigned char file[512];
    zip_add(z, name, file, make_npy(file, dictionary, values, bytes), deflated);
}

static const char x_dictionary[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
static const char y_dictionary[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
static const char y_values[] = "\5\0\0\0\3\0\0\0\5\0\0\0";

static void npz_arrays_are_found_by_name_and_part(void **state)
{
    (void)state;
    zip_maker z = {.size = 0};
    add_array(&z, "x_train.npy", x_dictionary, "\1\2\3\4\5\6", 6, 1);
    add_array(&z, "y_train.npy", y_dictionary, y_values, 12, 0);
    add_array(&z, "x_test.npy", x_dictionary, "\7\2\3\4\5\6", 6, 0);
    add_array(&z, "y_test.npy", y_dictionary, y_values, 12, 1);
    zip_write(&z, "parts.npz");
    enhope_dataset *data = read_ok((enhope_source){.path = "parts.npz"});
    assert_int_equal(data->x.kind, ENHOPE_U8);
    assert_row(data, 0, (float[]){1, 2});
    assert_row(data, 2, (float[]){5, 6});
    assert_labels(data, (int32_t[]){1, 0, 1});
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "parts.npz", .part = "test"});
    assert_row(data, 0, (float[]){7, 2});
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "parts.npz", .variables = "x_test,y_train"});
    assert_row(data, 0, (float[]){7, 2});
    assert_string_equal(enhope_dataset_class_name(data, 0), "3");
    enhope_dataset_free(data);

    zip_maker plain = {.size = 0};
    add_array(&plain, "arr_0.npy", x_dictionary, "\1\2\3\4\5\6", 6, 1);
    add_array(&plain, "arr_1.npy", y_dictionary, y_values, 12, 1);
    zip_write(&plain, "plain.npz");
    data = read_ok((enhope_source){.path = "plain.npz"});
    assert_labels(data, (int32_t[]){1, 0, 1});
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "plain.npz", .label = "none"});
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "plain.npz", .part = "test"}, ENHOPE_ERROR_ARGUMENT,
               "plain.npz: has no test part; use a split N@SEED");
    read_fails((enhope_source){.path = "plain.npz", .variables = "arr_0,z"}, ENHOPE_ERROR_DATA,
               "plain.npz: no array 'z': it contains arr_0.npy, arr_1.npy");
}

static void damaged_npz_is_rejected(void **state)
{
    (void)state;
    zip_maker z = {.size = 0};
    add_array(&z, "other.npy", x_dictionary, "\1\2\3\4\5\6", 6, 1);
    zip_write(&z, "other.npz");
    read_fails(
        (enhope_source){.path = "other.npz"}, ENHOPE_ERROR_DATA,
        "other.npz: no array X (or x, data, images, features, arr_0): it contains other.npy; name the variables");
    zip_maker m = {.size = 0};
    add_array(&m, "X.npy", x_dictionary, "\1\2\3\4\5\6", 6, 0);
    add_array(&m, "y.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", y_values, 8, 0);
    zip_write(&m, "few.npz");
    read_fails((enhope_source){.path = "few.npz"}, ENHOPE_ERROR_DATA,
               "few.npz(X.npy) has 3 samples but few.npz(y.npy) has 2 labels");
    size_t size;
    unsigned char *bytes = slurp("few.npz", &size);
    write_bytes("cut.npz", bytes, size - 10);
    read_fails((enhope_source){.path = "cut.npz"}, ENHOPE_ERROR_FORMAT,
               "cut.npz: the end of the zip directory is missing: the file is truncated or not an NPZ file");
    bytes[30 + 5 + 10 + strlen(x_dictionary) + 2] ^= 1; /* a value of X */
    write_bytes("crc.npz", bytes, size);
    read_fails((enhope_source){.path = "crc.npz"}, ENHOPE_ERROR_FORMAT,
               "crc.npz(X.npy): the checksum is wrong: the file is damaged");
    free(bytes);
}

/* ---- MATLAB ---- */

static void put_variable(mat_t *file, matvar_t *var)
{
    assert_non_null(var);
    assert_int_equal(Mat_VarWrite(file, var, MAT_COMPRESSION_ZLIB), 0);
    Mat_VarFree(var);
}

static matvar_t *texts(const char *name, size_t count, const char *const *text)
{
    matvar_t *cell = Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, (size_t[]){count, 1}, NULL, 0);
    for (size_t i = 0; i < count; i++)
        Mat_VarSetCell(cell, (int)i,
                       Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, (size_t[]){1, strlen(text[i])},
                                     (void *)(uintptr_t)text[i], 0));
    return cell;
}

static void mat_finds_samples_labels_and_names_by_shape(void **state)
{
    (void)state;
    double x[2 * 5], y[5] = {2, 1, 3, 3, 1};
    for (int i = 0; i < 10; i++) x[i] = 0.25 * i - 1.1;
    mat_t *file = Mat_CreateVer("d.mat", NULL, MAT_FT_MAT5);
    put_variable(file, texts("kinds", 3, (const char *const[]){"ant", "bee", "cat"}));
    put_variable(file, texts("features", 2, (const char *const[]){"width", "height"}));
    put_variable(file, Mat_VarCreate("measured", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){2, 5}, x, 0));
    put_variable(file, Mat_VarCreate("kind", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){1, 5}, y, 0));
    Mat_Close(file);
    enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
    assert_int_equal(data->x.kind, ENHOPE_F32);
    assert_int_equal(data->x.n, 5); /* as many columns as labels */
    assert_row(data, 3, (float[]){(float)x[6], (float)x[7]});
    assert_labels(data, (int32_t[]){1, 0, 2, 2, 0});
    assert_string_equal(enhope_dataset_class_name(data, 2), "cat");
    assert_string_equal(enhope_dataset_input_name(data, 1), "height");
    enhope_dataset_free(data);

    data = read_ok((enhope_source){.path = "d.mat", .variables = "measured"});
    assert_int_equal(data->x.n, 2); /* without labels the rows are the samples */
    assert_row(data, 1, (float[]){(float)x[1], (float)x[3], (float)x[5], (float)x[7], (float)x[9]});
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "d.mat", .variables = "measured,z"}, ENHOPE_ERROR_DATA,
               "d.mat: no numeric variable 'z': it contains measured, kind");
    read_fails((enhope_source){.path = "d.mat", .variables = "kind,measured"}, ENHOPE_ERROR_DATA,
               "d.mat: 'measured' has 2 x 5 values and cannot label 'kind' of 1 x 5: expected a vector as long as one "
               "side");
}

static void matlab_columns_that_float_cannot_resolve_are_centered(void **state)
{
    (void)state;
    double by_column[10], values[10], mean = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 2; j++) {
            const double value = (j ? -3e10 : 0.7) + 0.43 * ((2 * i + 1) % 5);
            by_column[5 * j + i] = values[2 * i + j] = value;
            if (j) mean += value / 5;
        }
    mat_t *file = Mat_CreateVer("center.mat", NULL, MAT_FT_MAT5);
    put_variable(file, Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){5, 2}, by_column, 0));
    Mat_Close(file);
    enhope_dataset *data = read_ok((enhope_source){.path = "center.mat"});
    check_centered(data, values, mean);
    enhope_dataset_free(data);
}

static void mat_cube_without_labels_is_inputs_by_samples_by_classes(void **state)
{
    (void)state;
    uint8_t x[4 * 3 * 10];
    for (int i = 0; i < 120; i++) x[i] = (uint8_t)(i * 7 % 256);
    mat_t *file = Mat_CreateVer("cube.mat", NULL, MAT_FT_MAT5);
    put_variable(file, Mat_VarCreate("data", MAT_C_UINT8, MAT_T_UINT8, 3, (size_t[]){4, 3, 10}, x, 0));
    Mat_Close(file);
    enhope_dataset *data = read_ok((enhope_source){.path = "cube.mat"});
    assert_int_equal(data->x.kind, ENHOPE_U8);
    assert_int_equal(data->x.n, 30);
    assert_int_equal(data->x.H, 4);
    assert_int_equal(data->image_rows, 2);
    assert_memory_equal(data->x.u8, x, sizeof x);
    assert_int_equal(data->c, 10);
    assert_string_equal(enhope_dataset_class_name(data, data->label[0]), "1");
    assert_string_equal(enhope_dataset_class_name(data, data->label[26]), "9");
    assert_string_equal(enhope_dataset_class_name(data, data->label[27]), "0"); /* the tenth of ten digits */
    enhope_dataset_free(data);

    double y[10] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}; /* with labels: images of 4 x 3, row-major */
    file = Mat_CreateVer("images.mat", NULL, MAT_FT_MAT5);
    put_variable(file, Mat_VarCreate("data", MAT_C_UINT8, MAT_T_UINT8, 3, (size_t[]){4, 3, 10}, x, 0));
    put_variable(file, Mat_VarCreate("y", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){10, 1}, y, 0));
    Mat_Close(file);
    data = read_ok((enhope_source){.path = "images.mat"});
    assert_int_equal(data->x.n, 10);
    assert_int_equal(data->image_rows, 4);
    assert_int_equal(data->image_columns, 3);
    for (int i = 0; i < 10; i++)
        for (int r = 0; r < 4; r++)
            for (int q = 0; q < 3; q++) assert_int_equal(data->x.u8[i * 12 + r * 3 + q], x[i * 12 + r + 4 * q]);
    enhope_dataset_free(data);
}

static void mat_sparse_stays_sparse_in_both_orientations(void **state)
{
    (void)state;
    uint32_t row[5] = {0, 2, 1, 0, 2}, column_start[5] = {0, 2, 3, 3, 5}; /* 3 x 4 */
    double value[5] = {0.5, -2, 7.25, 1, 3}, y[4] = {5, 6, 5, 5};
    const float dense[3][4] = {{0.5f, 0, 0, 1}, {0, 7.25f, 0, 0}, {-2, 0, 0, 3}};
    mat_sparse_t sparse = {5, row, 5, column_start, 5, 5, value};
    for (size_t samples = 3; samples <= 4; samples++) {
        mat_t *file = Mat_CreateVer("s.mat", NULL, MAT_FT_MAT5);
        put_variable(
            file, Mat_VarCreate("X", MAT_C_SPARSE, MAT_T_DOUBLE, 2, (size_t[]){3, 4}, &sparse, MAT_F_DONT_COPY_DATA));
        put_variable(file, Mat_VarCreate("y", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){samples, 1}, y, 0));
        Mat_Close(file);
        enhope_dataset *data = read_ok((enhope_source){.path = "s.mat"});
        assert_int_equal(data->x.kind, ENHOPE_CSR);
        assert_int_equal(data->x.n, samples);
        assert_int_equal(data->x.row_start[samples], 5);
        for (size_t i = 0; i < samples; i++) {
            float expected[4];
            for (size_t j = 0; j < 7 - samples; j++) expected[j] = samples == 3 ? dense[i][j] : dense[j][i];
            assert_row(data, (int64_t)i, expected);
        }
        assert_int_equal(data->c, 2);
        assert_string_equal(enhope_dataset_class_name(data, 0), "5");
        enhope_dataset_free(data);
    }
}

static void damaged_mat_is_rejected(void **state)
{
    (void)state;
    write_text("no.mat", "this is a text and no MATLAB file, whatever its name may say about it");
    read_fails((enhope_source){.path = "no.mat"}, ENHOPE_ERROR_FORMAT, "no.mat: is not a MATLAB 5 file");
    mat_t *file = Mat_CreateVer("text.mat", NULL, MAT_FT_MAT5);
    put_variable(file, texts("names", 2, (const char *const[]){"a", "b"}));
    Mat_Close(file);
    read_fails((enhope_source){.path = "text.mat"}, ENHOPE_ERROR_DATA, "text.mat: contains no numeric matrix");
    double x[4] = {1, 2, NAN, 4};
    file = Mat_CreateVer("nan.mat", NULL, MAT_FT_MAT5);
    put_variable(file, Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){2, 2}, x, 0));
    Mat_Close(file);
    read_fails((enhope_source){.path = "nan.mat"}, ENHOPE_ERROR_DATA,
               "nan.mat: sample 1, column 2 is NaN: expected a finite number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_reads_every_type_in_both_byte_orders),
        cmocka_unit_test(npy_reads_row_and_column_order_and_versions),
        cmocka_unit_test(matlab_columns_that_float_cannot_resolve_are_centered),
        cmocka_unit_test(columns_that_float_cannot_resolve_are_centered),
        cmocka_unit_test(npy_labels_may_be_numbers_or_text),
        cmocka_unit_test(damaged_npy_is_rejected),
        cmocka_unit_test(npz_arrays_are_found_by_name_and_part),
        cmocka_unit_test(damaged_npz_is_rejected),
        cmocka_unit_test(mat_finds_samples_labels_and_names_by_shape),
        cmocka_unit_test(mat_cube_without_labels_is_inputs_by_samples_by_classes),
        cmocka_unit_test(mat_sparse_stays_sparse_in_both_orientations),
        cmocka_unit_test(damaged_mat_is_rejected),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
