/* MATLAB 5 files made by hand: stored types, byte orders, packed elements, texts, and messages for
 * files that contradict themselves. test_read_arrays.c reads those that libmatio writes. */
#define _XOPEN_SOURCE 700
#include <math.h>

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

/* A cell with a repeated or an empty text does not replace the numbers of the classes. */
static void repeated_texts_do_not_name_the_classes(void **state)
{
    (void)state;
    static const char *const second[] = {"bee", "", "ant"};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        mat_begin(&m, 0);
        mat_doubles(&m, "X", 3, 1, (const double[]){1.5, -2, 3});
        mat_doubles(&m, "y", 3, 1, (const double[]){2, 1, 2});
        const size_t start = mat_matrix(&m, 1, 2, 1, "names");
        for (int k = 0; k < 2; k++) {
            const char *text = k ? second[i] : "bee";
            const size_t entry = mat_matrix(&m, 4, 1, (int32_t)strlen(text), "");
            mat_part(&m, 16, 1, text, strlen(text));
            mat_end(&m, entry);
        }
        mat_end(&m, start);
        mat_write(&m, "r.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "r.mat"});
        assert_string_equal(enhope_dataset_class_name(data, 0), i < 2 ? "1" : "bee");
        assert_string_equal(enhope_dataset_class_name(data, 1), i < 2 ? "2" : "ant");
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
    enum { N = 8300 }; /* more than 2^16 bytes */
    static double x[N];
    for (int i = 0; i < N; i++) x[i] = (double)(eh_random_u64(5, 2, (uint64_t)i) >> 11);
    for (int i = 0; i < 4; i++) {
        const bool packed = i & 1;
        mat_begin(&m, i / 2);
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
        for (int k = 0; k < N; k++) assert_row(data, k, (const float[]){(float)x[k]});
        enhope_dataset_free(data);
    }
}

/* The checksum of a stream may be beyond the bytes that are unpacked at once. */
static void streams_may_end_anywhere_in_the_buffer(void **state)
{
    (void)state;
    enum { N = 16320, BUFFER = 1 << 14 };
    static uint8_t x[N];
    bool between = false;
    for (int same = 0; same < 60; same++) { /* every equal byte makes the stream shorter */
        for (int i = 0; i < N; i++) x[i] = i < same ? 7 : (uint8_t)(eh_random_u64(5, 3, (uint64_t)i) >> 11);
        make(9, N, 1, 2, x, N);
        mat_pack(&m, 128);
        between = between || (m.size - 136 > BUFFER && m.size - 136 <= BUFFER + 4);
        mat_write(&m, "d.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "d.mat"});
        assert_memory_equal(data->x.u8, x, N);
        enhope_dataset_free(data);
    }
    assert_true(between);
}

/* ---- labels and names ---- */

/* A cell of texts, each in its own type. */
static void put_texts(const char *name, size_t count, unsigned type, const char *const *text)
{
    const size_t start = mat_matrix(&m, 1, (int32_t)count, 1, name);
    for (size_t i = 0; i < count; i++) {
        const size_t entry = mat_matrix(&m, 4, 1, (int32_t)strlen(text[i]), "");
        mat_part(&m, type, 1, text[i], strlen(text[i]));
        mat_end(&m, entry);
    }
    mat_end(&m, start);
}

/* Only classes that are numbered from 0 or 1 get names. */
static void cells_name_classes_or_inputs_by_their_length(void **state)
{
    (void)state;
    static const struct {
        double labels[4];
        unsigned types[2];         /* of the first and the second cell of two texts */
        const char *class, *input; /* the second class and input */
    } cases[] = {
        {{5, 7, 5, 7}, {16, 16}, "7", "b"}, {{1, 2, 1, 2}, {16, 16}, "b", "d"}, {{0, 1, 1, 0}, {1, 2}, "b", "d"},
        {{2, 3, 3, 2}, {16, 1}, "3", "b"},  {{5, 7, 5, 7}, {5, 16}, "7", "d"},  {{5, 7, 5, 7}, {9, 3}, "7", NULL},
        {{1, 2, 2, 1}, {3, 16}, "d", NULL}, {{1, 0, 0, 1}, {16, 9}, "b", NULL}, {{1, 2, 2, 1}, {7, 5}, "2", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mat_begin(&m, (int)i & 1);
        mat_doubles(&m, "X", 4, 2, (const double[]){1, 2, 3, 4, 5, 6, 7, 8});
        mat_doubles(&m, "y", 4, 1, cases[i].labels);
        put_texts("three", 3, 16, (const char *const[]){"x", "y", "z"});
        put_texts("one", 2, cases[i].types[0], (const char *const[]){"a", "b"});
        put_texts("two", 2, cases[i].types[1], (const char *const[]){"c", "d"});
        mat_write(&m, "n.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "n.mat"});
        assert_string_equal(enhope_dataset_class_name(data, 1), cases[i].class);
        assert_int_equal(!data->input_name, !cases[i].input);
        if (cases[i].input) assert_string_equal(data->input_name[1], cases[i].input);
        enhope_dataset_free(data);
    }
}

/* Texts of 1 to 1023 bytes, of valid UTF-8 without NUL, are names. A cell with another text is
 * ignored. */
static void texts_have_limits(void **state)
{
    (void)state;
    static char text[1100];
    static const uint16_t wide[][3] = {
        {'a', 0xD83D, 'b'}, {0xDE00, 'a', 'b'}, {'a', 'b', 0xD83D}, {0, 'a', 'b'}, {0xD83D, 0xD83D, 0xDE00}};
    memset(text, 't', sizeof text);
    for (size_t length = 0; length <= 1024; length += length == 0 || length > 1020 ? 1 : 1020) {
        mat_begin(&m, 0);
        mat_doubles(&m, "X", 1, 2, (const double[]){1, 2});
        text[length] = '\0';
        put_texts("names", 2, 16, (const char *const[]){text, "other"});
        text[length] = 't';
        mat_write(&m, "t.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "t.mat"});
        assert_int_equal(!data->input_name, length == 0 || length == 1024);
        if (data->input_name) {
            assert_int_equal(strlen(data->input_name[0]), length);
            assert_string_equal(data->input_name[1], "other");
        }
        enhope_dataset_free(data);
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide + 3; i++) {
        mat_begin(&m, 0);
        mat_doubles(&m, "X", 1, 2, (const double[]){1, 2});
        if (i < 5)
            put_cell("names", wide[i], 3);
        else
            put_texts("names", 2, 16, (const char *const[]){i == 5 ? "a\xff" : i == 6 ? "\xC3" : "ok", "other"});
        mat_write(&m, "t.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "t.mat"});
        assert_int_equal(!data->input_name, i != 7);
        enhope_dataset_free(data);
    }
}

/* Cells whose entries are no rows of characters are ignored, and damaged ones reported. */
static void entries_of_cells_are_checked(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        mat_begin(&m, 0);
        mat_doubles(&m, "X", 1, 2, (const double[]){1, 2});
        const size_t start = mat_matrix(&m, 1, 2, 1, "names");
        const size_t entry = i == 0 ? mat_matrix(&m, 4, 2, 1, "") : i == 1 ? mat_matrix(&m, 6, 1, 1, "") : m.size;
        if (i < 2) mat_part(&m, 16, 1, "a", 1), mat_end(&m, entry);
        if (i == 2) mat_put(&m, 14, 4), mat_put(&m, 0, 4); /* empty */
        if (i == 3) mat_put(&m, 15, 4), mat_put(&m, 0, 4);
        if (i == 4) mat_put(&m, 0x0001000E, 4), mat_put(&m, 0, 4);
        const size_t second = mat_matrix(&m, 4, 1, 2, "");
        if (i < 5) mat_part(&m, 16, 1, "ok", 2);
        mat_end(&m, second);
        mat_end(&m, start);
        mat_write(&m, "d.mat");
        if (i < 3)
            enhope_dataset_free(read_ok((enhope_source){.path = "d.mat"}));
        else
            fails(i < 5 ? "d.mat: variable 2 is damaged: an entry is not a matrix"
                        : "d.mat: variable 2 is damaged: a part is missing");
    }
    mat_begin(&m, 0);
    mat_doubles(&m, "X", 1, 200, (const double[200]){1, 2});
    const size_t start = mat_matrix(&m, 1, 200, 1, "names");
    mat_end(&m, start);
    fails("d.mat: variable 2 is damaged: its dimensions do not match its entries");
}

static void labels_are_named_by_their_variable(void **state)
{
    (void)state;
    mat_begin(&m, 0);
    mat_doubles(&m, "X", 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
    mat_doubles(&m, "kind", 3, 1, (const double[]){1, 2, (double)INFINITY});
    mat_write(&m, "l.mat");
    read_fails((enhope_source){.path = "l.mat"}, ENHOPE_ERROR_DATA,
               "l.mat: variable 'kind': label 3 is infinite: expected a finite number");
    enhope_dataset *data = read_ok((enhope_source){.path = "l.mat", .label = "none"});
    assert_null(data->label);
    enhope_dataset_free(data);
    static const char *const usual[] = {"y", "Y", "labels", "label", "target", "targets", "class", "classes", "gnd"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        mat_begin(&m, 0);
        mat_doubles(&m, "other", 1, 3, (const double[]){7, 7, 8});
        mat_doubles(&m, "one", 1, 1, (const double[]){7});
        mat_doubles(&m, usual[i], 3, 1, (const double[]){2, 1, 2});
        mat_doubles(&m, "X", 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
        mat_doubles(&m, "X2", 2, 3, (const double[]){9, 9, 9, 9, 9, 9}); /* as many values, but later */
        mat_write(&m, "l.mat");
        data = read_ok((enhope_source){.path = "l.mat"});
        assert_labels(data, (const int32_t[]){1, 0, 1});
        assert_row(data, 1, (const float[]){2, 5});
        enhope_dataset_free(data);
        data = read_ok((enhope_source){.path = "l.mat", .variables = "X,other"});
        assert_labels(data, (const int32_t[]){0, 0, 1});
        enhope_dataset_free(data);
    }
    mat_begin(&m, 0);
    mat_doubles(&m, "y", 4, 1, (const double[]){2, 1, 2, 1}); /* fits no side of X */
    mat_doubles(&m, "one", 1, 1, (const double[]){7});
    mat_doubles(&m, "X", 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
    mat_write(&m, "l.mat");
    data = read_ok((enhope_source){.path = "l.mat"});
    assert_null(data->label);
    assert_int_equal(data->x.n, 3);
    enhope_dataset_free(data);
    mat_begin(&m, 0);
    mat_doubles(&m, "kind", 3, 1, (const double[]){2, 1, 2}); /* fits by its shape */
    mat_doubles(&m, "X", 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
    mat_write(&m, "l.mat");
    data = read_ok((enhope_source){.path = "l.mat"});
    assert_labels(data, (const int32_t[]){1, 0, 1});
    enhope_dataset_free(data);
    mat_begin(&m, 0);
    mat_doubles(&m, "v", 4, 1, (const double[]){2, 1, 2, 1}); /* inputs are not their own labels */
    mat_write(&m, "l.mat");
    data = read_ok((enhope_source){.path = "l.mat"});
    assert_null(data->label);
    assert_int_equal(data->x.n, 4);
    enhope_dataset_free(data);
    m.size = 128;
    mat_write(&m, "l.mat");
    read_fails((enhope_source){.path = "l.mat"}, ENHOPE_ERROR_DATA, "l.mat: contains no numeric matrix");
    read_fails((enhope_source){.path = "l.mat", .variables = "A"}, ENHOPE_ERROR_DATA,
               "l.mat: no numeric variable 'A': it contains no numeric matrix");
}

static void variables_are_listed_up_to_464_characters(void **state)
{
    (void)state;
    char names[300];
    for (int more = -1; more <= 1; more++) {
        char expected[700] = "l.mat: no numeric variable 'A': it contains ";
        mat_begin(&m, 0);
        put_texts("cell", 1, 16, (const char *const[]){"not listed"});
        for (int i = 0; i < 13; i++) {
            char name[64];
            snprintf(name, sizeof name, "%.*s%02d",
                     i == 11   ? 33 + more
                     : i == 12 ? 3
                               : 35,
                     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst", i);
            mat_doubles(&m, name, 2, 1, (const double[]){1, 2});
            if (i < 12 || more < 0) strcat(strcat(expected, i ? ", " : ""), name);
        }
        mat_write(&m, "l.mat");
        read_fails((enhope_source){.path = "l.mat", .variables = "A"}, ENHOPE_ERROR_DATA, expected);
    }
    memset(names, 'v', sizeof names);
    names[256] = '\0';
    read_fails((enhope_source){.path = "l.mat", .variables = names}, ENHOPE_ERROR_ARGUMENT,
               "variables: the names are longer than 255 characters");
    names[255] = '\0';
    enhope_dataset *none = NULL;
    assert_int_equal(enhope_dataset_read(ctx, &(enhope_source){.path = "l.mat", .variables = names}, &none),
                     ENHOPE_ERROR_DATA);
}

/* A 2 x 3 x 5 array of the values 0, 1, ...: the side that the labels fit counts the samples. */
static void cubes_are_divided_by_the_labels(void **state)
{
    (void)state;
    static const struct {
        int32_t labels;
        int32_t n, rows, columns;
        int stride[3]; /* of samples, rows and columns */
    } cases[] = {{5, 5, 2, 3, {6, 1, 2}}, {2, 2, 3, 5, {1, 2, 6}}, {3, 3, 2, 5, {2, 1, 6}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double x[30], y[5] = {3, 1, 2, 3, 1};
        for (int i = 0; i < 30; i++) x[i] = i;
        mat_begin(&m, 0);
        const size_t start = begin_sides(3, (const int32_t[]){2, 3, 5}, "X");
        mat_part(&m, 9, 8, x, 30);
        mat_end(&m, start);
        mat_doubles(&m, "y", 1, cases[k].labels, y);
        mat_write(&m, "c.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "c.mat"});
        assert_int_equal(data->x.n, cases[k].n);
        assert_int_equal(data->image_rows, cases[k].rows);
        assert_int_equal(data->image_columns, cases[k].columns);
        for (int i = 0; i < cases[k].n; i++)
            for (int r = 0; r < cases[k].rows; r++)
                for (int c = 0; c < cases[k].columns; c++)
                    assert_true(data->x.f32[(i * cases[k].rows + r) * cases[k].columns + c] ==
                                (float)(i * cases[k].stride[0] + r * cases[k].stride[1] + c * cases[k].stride[2]));
        enhope_dataset_free(data);
    }
    for (int side = 1; side <= 10; side++) { /* inputs that are no square are no image */
        mat_begin(&m, 0);
        const size_t start = begin_sides(3, (const int32_t[]){side, 2, 3}, "X");
        mat_part(&m, 9, 8, (const double[60]){0}, 6 * (size_t)side);
        mat_end(&m, start);
        mat_write(&m, "c.mat");
        enhope_dataset *data = read_ok((enhope_source){.path = "c.mat"});
        assert_int_equal(data->x.n, 6);
        assert_labels(data, (const int32_t[]){0, 0, 1, 1, 2, 2});
        assert_int_equal(data->image_rows, side == 4 ? 2 : side == 9 ? 3 : 0);
        assert_int_equal(data->image_columns, data->image_rows);
        enhope_dataset_free(data);
    }
}

static void inconsistent_sparse_matrices_are_refused(void **state)
{
    (void)state;
    static const struct {
        int32_t rows[3], starts[3];
        size_t values;
        bool good;
    } cases[] = {
        {{0, 2, 1}, {0, 2, 3}, 3, true},   {{0, 2, 1}, {0, 2, 2}, 3, true},   {{0, 2, 3}, {0, 2, 2}, 3, true},
        {{0, 2, 3}, {0, 2, 3}, 3, false},  {{-1, 2, 1}, {0, 2, 3}, 3, false}, {{0, 2, 1}, {1, 2, 3}, 3, false},
        {{0, 2, 1}, {0, 3, 2}, 3, false},  {{0, 2, 1}, {0, 2, 4}, 4, false},  {{0, 2, 1}, {0, 2, 3}, 2, false},
        {{0, 2, 1}, {-1, 2, 3}, 3, false}, {{0, 0, 0}, {0, 0, 0}, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mat_begin(&m, 0);
        const size_t start = mat_matrix(&m, 5, 3, 2, "S");
        mat_part(&m, 5, 4, cases[i].rows, 3);
        mat_part(&m, 5, 4, cases[i].starts, 3);
        mat_part(&m, 9, 8, (const double[]){1.5, 2.5, -3, 4}, cases[i].values);
        mat_end(&m, start);
        mat_write(&m, "s.mat");
        if (cases[i].good)
            enhope_dataset_free(read_ok((enhope_source){.path = "s.mat"}));
        else
            read_fails((enhope_source){.path = "s.mat"}, ENHOPE_ERROR_FORMAT,
                       "s.mat: the sparse variable 'S' is inconsistent: the file is damaged");
    }
    for (int i = 0; i < 3; i++) { /* numbers of rows and columns must be integers of up to 32 bits */
        mat_begin(&m, 0);
        const size_t start = mat_matrix(&m, 5, 1, 1, "S");
        mat_part(&m, i == 0 ? 7 : 5, 4, (const int32_t[]){0}, 1);
        mat_part(&m, i == 1 ? 9 : 5, i == 1 ? 8 : 4, (const int32_t[]){0, 1, 0, 0}, 2);
        mat_part(&m, 9, 8, (const double[]){1.5}, 1);
        mat_end(&m, start);
        if (i < 2) fails("d.mat: variable 1 is damaged: its row or column numbers are wrong");
    }
    mat_begin(&m, 0);
    const size_t start = mat_matrix(&m, 5, (1 << 20) + 64, 1, "S");
    mat_part(&m, 5, 4, (const int32_t[]){1 << 20}, 1);
    mat_part(&m, 5, 4, (const int32_t[]){0, 1}, 2);
    mat_part(&m, 9, 8, (const double[]){1.5}, 1);
    mat_end(&m, start);
    fails("d.mat: variable 1 is damaged: it claims more rows than the file can contain");
    m.bytes[160] = 0; /* 2^20 rows */
    m.bytes[184] = 0, m.bytes[186] = 1;
    mat_write(&m, "s.mat");
    enhope_dataset *data = NULL;
    (void)enhope_dataset_read(ctx, &(enhope_source){.path = "s.mat"}, &data);
    enhope_dataset_free(data);
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
        cmocka_unit_test(repeated_texts_do_not_name_the_classes),
        cmocka_unit_test(other_variables_are_skipped),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(parts_of_the_head_are_checked),
        cmocka_unit_test(packed_elements_are_checked),
        cmocka_unit_test(short_parts_are_read),
        cmocka_unit_test(arrays_of_other_dimensions_are_skipped),
        cmocka_unit_test(names_are_limited_to_127_bytes),
        cmocka_unit_test(files_are_limited_to_1024_variables),
        cmocka_unit_test(variables_larger_than_the_buffer_are_whole),
        cmocka_unit_test(streams_may_end_anywhere_in_the_buffer),
        cmocka_unit_test(cells_name_classes_or_inputs_by_their_length),
        cmocka_unit_test(texts_have_limits),
        cmocka_unit_test(entries_of_cells_are_checked),
        cmocka_unit_test(labels_are_named_by_their_variable),
        cmocka_unit_test(variables_are_listed_up_to_464_characters),
        cmocka_unit_test(cubes_are_divided_by_the_labels),
        cmocka_unit_test(inconsistent_sparse_matrices_are_refused),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
