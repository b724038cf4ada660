/* MATLAB 5 files made by hand: stored types, byte orders, packed elements, texts, and messages for
 * files that contradict themselves. test_read_arrays.c reads those that libmatio writes. */
#define _XOPEN_SOURCE 700
#include "mat_support.h"

static mat_maker m;

/* A class of doubles may be stored in any type that holds its values. */
static void values_are_read_from_any_stored_type(void **state)
{
    (void)state;
    const struct {
        unsigned type;
        int size;
        const void *values;
    } stored[] = {{1, 1, (const int8_t[]){-5, 4, 3, 2, 100, 7}},   {2, 1, (const uint8_t[]){251, 4, 3, 2, 100, 7}},
                  {3, 2, (const int16_t[]){-5, 4, 3, 2, 100, 7}},  {4, 2, (const uint16_t[]){65531, 4, 3, 2, 100, 7}},
                  {5, 4, (const int32_t[]){-5, 4, 3, 2, 100, 7}},  {6, 4, (const uint32_t[]){5000, 4, 3, 2, 100, 7}},
                  {7, 4, (const float[]){-5.5f, 4, 3, 2, 100, 7}}, {9, 8, (const double[]){-5.25, 4, 3, 2, 100, 7}},
                  {12, 8, (const int64_t[]){-5, 4, 3, 2, 100, 7}}, {13, 8, (const uint64_t[]){50, 4, 3, 2, 100, 7}}};
    static const float first[] = {-5, 251, -5, 65531, -5, 5000, -5.5f, -5.25f, -5, 50};
    for (size_t i = 0; i < 4 * (sizeof stored / sizeof *stored); i++) {
        const size_t at = i / 4;
        mat_begin(&m, (int)(i & 1));
        const size_t start = mat_matrix(&m, 6, 3, 2, "X");
        mat_part(&m, stored[at].type, stored[at].size, stored[at].values, 6);
        mat_end(&m, start);
        if (i & 2) mat_pack(&m, start);
        mat_write(&m, "a.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "a.mat"});
        assert_int_equal(data->x.kind, ENHOPE_F32);
        assert_row(data, 0, (const float[]){first[at], 2});
        assert_row(data, 2, (const float[]){3, 7});
        enhope_dataset_free(data);
    }
}

static void bytes_and_logicals_stay_bytes(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= 0x200; flags += 0x200) { /* the flag of logical values */
        mat_begin(&m, 0);
        const size_t start = mat_matrix(&m, 9 | flags, 2, 2, "X");
        mat_part(&m, 2, 1, (const uint8_t[]){1, 0, 1, 1}, 4);
        mat_end(&m, start);
        mat_write(&m, "b.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "b.mat"});
        assert_int_equal(data->x.kind, ENHOPE_U8);
        assert_memory_equal(data->x.u8, ((const uint8_t[]){1, 1, 0, 1}), 4);
        enhope_dataset_free(data);
    }
}

static void sparse_positions_may_have_any_integer_type(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        mat_begin(&m, i & 1);
        const size_t start = mat_matrix(&m, 5, 3, 2, "S");
        if (i & 2) {
            mat_part(&m, 2, 1, (const uint8_t[]){0, 2, 1}, 3);
            mat_part(&m, 3, 2, (const int16_t[]){0, 2, 3}, 3);
        } else {
            mat_part(&m, 5, 4, (const int32_t[]){0, 2, 1}, 3);
            mat_part(&m, 5, 4, (const int32_t[]){0, 2, 3}, 3);
        }
        mat_part(&m, 9, 8, (const double[]){1.5, 2.5, -3}, 3);
        mat_end(&m, start);
        mat_write(&m, "s.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "s.mat"});
        assert_int_equal(data->x.kind, ENHOPE_CSR);
        assert_row(data, 0, (const float[]){1.5f, 0});
        assert_row(data, 1, (const float[]){0, -3});
        assert_row(data, 2, (const float[]){2.5f, 0});
        enhope_dataset_free(data);
    }
}

static void put_cell(const char *name, const uint16_t *first, size_t count)
{
    const size_t start = mat_matrix(&m, 1, 2, 1, name);
    size_t entry = mat_matrix(&m, 4, 1, (int32_t)count, "");
    mat_part(&m, 17, 2, first, count);
    mat_end(&m, entry);
    entry = mat_matrix(&m, 4, 1, 3, "");
    mat_part(&m, 16, 1, "bee", 3);
    mat_end(&m, entry);
    mat_end(&m, start);
}

/* UTF-16 with a pair of surrogates becomes UTF-8; a cell with an entry that is no text is ignored.
 */
static void texts_of_a_cell_name_the_inputs(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        mat_begin(&m, big);
        mat_doubles(&m, "X", 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
        put_cell("other", (const uint16_t[]){0xD83D}, 1);
        put_cell("names", (const uint16_t[]){0xE9, 0xD83D, 0xDE00}, 3);
        mat_write(&m, "c.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "c.mat"});
        assert_string_equal(enhope_dataset_input_name(data, 0), "\xC3\xA9\xF0\x9F\x98\x80");
        assert_string_equal(enhope_dataset_input_name(data, 1), "bee");
        enhope_dataset_free(data);
    }
}

/* Structs, functions, opaque objects and empty matrices are skipped. */
static void other_variables_are_skipped(void **state)
{
    (void)state;
    static const uint32_t classes[] = {2, 3, 4, 16, 17};
    mat_begin(&m, 0);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const size_t start = mat_matrix(&m, classes[i], 1, 1, "other");
        mat_put(&m, 0x1234567890ABCDEF, 8);
        mat_end(&m, start);
        if (i % 2) mat_pack(&m, start);
    }
    mat_put(&m, 14, 4);
    mat_put(&m, 0, 4);
    mat_doubles(&m, "X", 2, 1, (const double[]){7, 8.5});
    mat_write(&m, "o.mat");
    enhope_dataset *data = read_ok((enhope_source){.path = "o.mat"});
    assert_row(data, 1, (const float[]){8.5f});
    enhope_dataset_free(data);
}

static void fails(const char *message)
{
    mat_write(&m, "d.mat");
    read_fails((enhope_source){.path = "d.mat"}, ENHOPE_ERROR_FORMAT, message);
}

/* X with the class, the sides and one part of values. */
static void make(uint32_t class, int32_t rows, int32_t columns, unsigned type, const void *values, size_t bytes)
{
    mat_begin(&m, 0);
    const size_t start = mat_matrix(&m, class, rows, columns, "X");
    mat_part(&m, type, 1, values, bytes);
    mat_end(&m, start);
}

static void contradictions_are_reported(void **state)
{
    (void)state;
    static const uint8_t zeros[64];
    make(255, 1, 1, 9, zeros, 8);
    fails("d.mat: variable 1 is damaged: it is of an unknown class");
    make(6, 1 << 20, 1 << 20, 9, zeros, 8);
    fails("d.mat: variable 1 is damaged: its dimensions do not match its values");
    make(6, 1 << 30, 1 << 30, 9, zeros, 8);
    fails("d.mat: variable 1 is damaged: its dimensions do not match its values");
    make(6, 1, -1, 9, zeros, 8);
    fails("d.mat: variable 1 is damaged: its dimensions overflow");
    make(6, 1, 1, 11, zeros, 8);
    fails("d.mat: variable 1 is damaged: its values have an unknown type");
    make(6, 1, 1, 9, zeros, 7);
    fails("d.mat: variable 1 is damaged: its values have an unknown type");
    make(6 | 0x800, 1, 1, 9, zeros, 8);
    fails("d.mat: variable 'X' is complex: expected real numbers");
    make(6, 1, 1, 9, zeros, 8);
    m.bytes[m.size - 12] = 64; /* the part is longer than its matrix */
    fails("d.mat: variable 1 is damaged: a part exceeds the element that contains it");
    make(6, 1, 1, 9, zeros, 8);
    m.size -= 8;
    fails("d.mat: variable 1 is damaged: the file is truncated");
    make(6, 1, 1, 9, zeros, 8);
    mat_pack(&m, 128);
    m.bytes[m.size - 2] ^= 1; /* the checksum */
    fails("d.mat: variable 1 is damaged: its compressed data is wrong or truncated");

    mat_begin(&m, 0);
    size_t start = mat_matrix(&m, 5, 3, 2, "S");
    mat_part(&m, 13, 8, zeros, 1); /* row numbers of 64 bits */
    mat_end(&m, start);
    fails("d.mat: variable 1 is damaged: its row or column numbers are wrong");
    mat_begin(&m, 0);
    start = mat_matrix(&m, 5, 1 << 30, 1, "S");
    mat_end(&m, start);
    fails("d.mat: variable 1 is damaged: it claims more rows than the file can contain");
}

/* ---- limits ---- */

/* Begins X of the class double with these sides, at m.size. Returns where it began. */
static size_t begin_sides(int rank, const int32_t *sides, const char *name)
{
    const size_t start = m.size;
    mat_put(&m, 14, 4);
    mat_put(&m, 0, 4);
    mat_part(&m, 6, 4, (const uint32_t[]){6, 0}, 2);
    mat_part(&m, 5, 4, sides, (size_t)rank);
    mat_part(&m, 1, 1, name, strlen(name));
    return start;
}

static void parts_of_the_head_are_checked(void **state)
{
    (void)state;
    static const uint8_t zeros[64];
    static const struct {
        size_t at; /* in the file: flags from 136, dimensions from 152, the name from 168 */
        uint8_t value;
        const char *why;
    } cases[] = {
        {136, 5, "its flags are wrong"},
        {140, 7, "its flags are wrong"},
        {140, 16, "its flags are wrong"},
        {144, 0, "it is of an unknown class"},
        {144, 18, "it is of an unknown class"},
        {152, 6, "its dimensions are wrong"},
        {156, 4, "its dimensions are wrong"},
        {156, 9, "its dimensions are wrong"},
        {156, 0, "its dimensions are wrong"},
        {168, 2, "its name is wrong"},
        {172, 200, "a part exceeds the element that contains it"},
        {184, 8, "its values have an unknown type"},
        {184, 10, "its values have an unknown type"},
        {184, 14, "its values have an unknown type"},
        {188, 9, "a part exceeds the element that contains it"},
        {188, 7, "its values have an unknown type"},
        {188, 0, "its dimensions do not match its values"},
        {160, 2, "its dimensions do not match its values"},
        {132, 48, "a part is missing"},
        {132, 7, "a part is missing"},
        {132, 55, "a part is missing"},
        {132, 15, "a part exceeds the element that contains it"},
        {132, 72, "the file is truncated"},
        {128, 13, "it is not a matrix"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[128];
        make(6, 1, 1, 9, zeros, 8);
        assert_int_equal(m.size, 200);
        m.bytes[cases[i].at] = cases[i].value;
        snprintf(message, sizeof message, "d.mat: variable 1 is damaged: %s", cases[i].why);
        fails(message);
    }
    for (size_t size = 129; size < 136; size++) {
        make(6, 1, 1, 9, zeros, 8);
        m.size = size;
        fails("d.mat: variable 1 is damaged: the file is truncated");
    }
    for (size_t size = 1; size < 128; size += 42) {
        m.size = size;
        fails("d.mat: is not a MATLAB 5 file");
    }
    make(6, 1, 1, 9, zeros, 8);
    memcpy(m.bytes + 124, "\1\0IM", 4);
    fails("d.mat: is not a MATLAB 5 file");
    memcpy(m.bytes, "\x89HDF", 4);
    fails("d.mat: is a MATLAB 7.3 file: save it with -v7");
    m.size = 4;
    fails("d.mat: is a MATLAB 7.3 file: save it with -v7");
    m.size = 3;
    fails("d.mat: is not a MATLAB 5 file");
}

static void packed_elements_are_checked(void **state)
{
    (void)state;
    static const uint8_t zeros[64];
    static const char wrong[] = "d.mat: variable 1 is damaged: its compressed data is wrong or truncated";
    mat_begin(&m, 0);
    mat_put(&m, 15, 4);
    mat_put(&m, 0, 4);
    fails("d.mat: variable 1 is damaged: it ends early");
    make(6, 1, 1, 9, zeros, 8);
    m.bytes[128] = 13; /* the packed element is no matrix */
    mat_pack(&m, 128);
    fails("d.mat: variable 1 is damaged: it is not a matrix");
    mat_begin(&m, 0);
    mat_put(&m, 0x0004000E, 4); /* a short part of the type of a matrix */
    mat_put(&m, 0, 4);
    mat_pack(&m, 128);
    fails("d.mat: variable 1 is damaged: it is not a matrix");
    make(6, 1, 1, 9, zeros, 8);
    mat_put(&m, 0, 1); /* a byte more than the matrix */
    mat_pack(&m, 128);
    fails(wrong);
    make(6, 1, 1, 9, zeros, 8);
    m.size -= 8; /* the matrix has more than the stream */
    mat_pack(&m, 128);
    fails("d.mat: variable 1 is damaged: it ends early");
    make(6, 1, 1, 9, zeros, 8);
    mat_pack(&m, 128);
    m.bytes[132]--; /* the element ends before the stream */
    m.size--;
    fails("d.mat: variable 1 is damaged: its compressed data is wrong or truncated");
    make(6, 1, 1, 9, zeros, 8);
    mat_pack(&m, 128);
    m.bytes[132] += 3; /* bytes after the stream are skipped */
    mat_put(&m, 0, 3);
    mat_write(&m, "d.mat");
    enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
    assert_row(data, 0, (const float[]){0});
    enhope_dataset_free(data);
}

/* A short part has its data in its head; libraries write names and small values so. */
static void short_parts_are_read(void **state)
{
    (void)state;
    for (int bytes = 1; bytes <= 5; bytes++) {
        mat_begin(&m, 0);
        const size_t start = m.size;
        mat_put(&m, 14, 4);
        mat_put(&m, 0, 4);
        mat_part(&m, 6, 4, (const uint32_t[]){6, 0}, 2);
        mat_part(&m, 5, 4, (const int32_t[]){bytes, 1}, 2);
        mat_put(&m, 1 | 1 << 16, 4);
        mat_put(&m, 'X', 4);
        mat_put(&m, 2 | (uint64_t)bytes << 16, 4);
        mat_put(&m, 0x04030201, 4);
        mat_end(&m, start);
        if (bytes > 4) {
            fails("d.mat: variable 1 is damaged: a short part is too long");
            continue;
        }
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat", .variables = "X"});
        assert_int_equal(data->x.n, bytes);
        for (int i = 0; i < bytes; i++) assert_row(data, i, (const float[]){(float)(i + 1)});
        enhope_dataset_free(data);
    }
}

static void arrays_of_other_dimensions_are_skipped(void **state)
{
    (void)state;
    int32_t sides[33];
    for (int i = 0; i < 33; i++) sides[i] = i == 1 ? 3 : 1;
    for (int rank = 4; rank <= 33; rank++) {
        mat_begin(&m, 0);
        const size_t start = begin_sides(rank, sides, "W");
        mat_part(&m, 9, 8, (const double[]){1, 2, 3}, 3);
        mat_end(&m, start);
        mat_doubles(&m, "X", 2, 1, (const double[]){7, 8.5});
        if (rank == 33) {
            fails("d.mat: variable 1 is damaged: a part is too long");
            continue;
        }
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
        assert_int_equal(data->x.n, 2);
        enhope_dataset_free(data);
    }
    static const int32_t empty[][2] = {{0, 5}, {5, 0}, {0, 0}};
    for (int i = 0; i < 3; i++) {
        mat_begin(&m, 0);
        mat_doubles(&m, "E", empty[i][0], empty[i][1], NULL);
        mat_doubles(&m, "X", 2, 1, (const double[]){7, 8.5});
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
        assert_int_equal(data->x.n, 2);
        enhope_dataset_free(data);
    }
}

static void names_are_limited_to_127_bytes(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'v', sizeof name);
    for (size_t length = 126; length <= 129; length++) {
        name[length] = '\0';
        mat_begin(&m, 0);
        mat_doubles(&m, name, 2, 1, (const double[]){7, 8.5});
        mat_write(&m, "d.mat");
        if (length < 128) {
            enhope_dataset_free(read_ok((enhope_source){.path = "d.mat", .variables = name}));
        } else {
            read_fails((enhope_source){.path = "d.mat"}, ENHOPE_ERROR_DATA, "d.mat: contains no numeric matrix");
        }
        name[length] = 'v';
    }
}

static void files_are_limited_to_1024_variables(void **state)
{
    (void)state;
    for (int count = 1023; count <= 1024; count++) {
        mat_begin(&m, 0);
        for (int i = 0; i < count; i++) mat_doubles(&m, "v", 1, 1, (const double[]){2.5});
        mat_doubles(&m, "X", 2, 1, (const double[]){7, 8.5});
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
        assert_int_equal(data->x.n, count == 1023 ? 2 : 1);
        enhope_dataset_free(data);
    }
}

/* Variables of more bytes than the reader unpacks or skips at once. */
static void variables_larger_than_the_buffer_are_whole(void **state)
{
    (void)state;
    enum { N = 6007 };
    static double x[N];
    for (int i = 0; i < N; i++) x[i] = (double)(eh_random_u64(5, 2, (uint64_t)i) >> 11);
    for (int packed = 0; packed < 2; packed++) {
        mat_begin(&m, 0);
        size_t start = mat_matrix(&m, 2, 1, 1, "struct"); /* is skipped */
        mat_part(&m, 9, 8, x, N);
        mat_end(&m, start);
        if (packed) mat_pack(&m, start);
        start = m.size;
        mat_doubles(&m, "X", N, 1, x);
        if (packed) mat_pack(&m, start);
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
        assert_int_equal(data->x.n, N);
        for (int i = 0; i < N; i++) assert_row(data, i, (const float[]){(float)x[i]});
        enhope_dataset_free(data);
    }
}

static void other_files_are_refused(void **state)
{
    (void)state;
    make(6, 1, 1, 9, "abcdefgh", 8);
    write_gz("z.mat", m.bytes, m.size);
    read_fails((enhope_source){.path = "z.mat"}, ENHOPE_ERROR_FORMAT,
               "z.mat: is compressed with gzip: expected a plain MATLAB file; unpack it first");
    memcpy(m.bytes + 124, "\0\2IM", 4);
    fails("d.mat: is a MATLAB 7.3 file: save it with -v7");
    assert_int_equal(mkfifo("p.mat", 0600), 0);
    read_fails((enhope_source){.path = "p.mat"}, ENHOPE_ERROR_FORMAT,
               "p.mat: is a pipe or a device: expected a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_from_any_stored_type),
        cmocka_unit_test(bytes_and_logicals_stay_bytes),
        cmocka_unit_test(sparse_positions_may_have_any_integer_type),
        cmocka_unit_test(texts_of_a_cell_name_the_inputs),
        cmocka_unit_test(other_variables_are_skipped),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(parts_of_the_head_are_checked),
        cmocka_unit_test(packed_elements_are_checked),
        cmocka_unit_test(short_parts_are_read),
        cmocka_unit_test(arrays_of_other_dimensions_are_skipped),
        cmocka_unit_test(names_are_limited_to_127_bytes),
        cmocka_unit_test(files_are_limited_to_1024_variables),
        cmocka_unit_test(variables_larger_than_the_buffer_are_whole),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
