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
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
