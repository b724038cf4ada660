/* NPY and NPZ files field by field: limits of headers, the values of every type at their extremes,
 * arrays larger than the buffers of the reader, and each size of a zip archive. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <math.h>

#include "read_support.h"

#define PLAIN(shape) "{'descr': '|u1', 'fortran_order': False, 'shape': " shape "}"

#define DESCR_OF_64_CHARACTERS                                                                               \
    "{'descr': '0123456789012345678901234567890123456789012345678901234567890123', 'fortran_order': False, " \
    "'shape': (8,)}"

static const char strict[] = "a.npy: invalid NPY header: expected {'descr': ..., 'fortran_order': ..., 'shape': ...}";

/* Writes a.npy and reads it. */
static enhope_dataset *read_npy(const char *dictionary, const void *values, size_t bytes)
{
    unsigned char file[512];
    write_bytes("a.npy", file, make_npy(file, dictionary, values, bytes));
    return read_ok((enhope_source){.path = "a.npy"});
}

static void npy_fails(const char *dictionary, enhope_status status, const char *message)
{
    unsigned char file[512];
    write_bytes("a.npy", file, make_npy(file, dictionary, "\0\0\0\0\0\0\0\0", 8));
    read_fails((enhope_source){.path = "a.npy"}, status, message);
}

/* ---- headers ---- */

static void dictionaries_may_be_written_in_any_style(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{'descr':'<f4','fortran_order':False,'shape':(1,2)}",
        "\t{ 'shape' : ( 1 , 2 , ) ,\n\"fortran_order\" : False , \"descr\" : \"=f4\" , }\t\n ",
        "{'descr': 'f4', 'fortran_order': True, 'shape': (1L, 2L)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 2)}",
    };
    const float values[2] = {2.385f, -17.5f};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        enhope_dataset *data = read_npy(good[i], values, sizeof values);
        assert_int_equal(data->x.n, 1);
        assert_int_equal(data->x.H, 2);
        assert_row(data, 0, values);
        enhope_dataset_free(data);
    }
}

static void dictionaries_with_an_error_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "'descr': '|u1', 'fortran_order': False, 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8,)",
        "{'descr': '|u1' 'fortran_order': False, 'shape': (8,)}",
        "{'descr' '|u1', 'fortran_order': False, 'shape': (8,)}",
        "{'descr\": '|u1', 'fortran_order': False, 'shape': (8,)}",
        "{'descr': |u1, 'fortran_order': False, 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': 8}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2 4)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8:)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (/,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,8)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775808,)}",
        "{'descr': '|u1', 'fortran_order': 0, 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': Falsey, 'shape': (8,)}",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': False, 'fortran_order': False, 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8,), 'shape': (8,)}",
        "{'descr': '|u1', 'fortran_order': False}",
        "{'descr': '|u1', 'shape': (8,)}",
        "{'fortran_order': False, 'shape': (8,)}",
        "{}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8,)}}",
        DESCR_OF_64_CHARACTERS,
        "{'a name of far more than the thirty-two characters that a key has': 1}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) npy_fails(bad[i], ENHOPE_ERROR_FORMAT, strict);
    npy_fails("{'descr': '012345678901234567890123456789012345678901234567890123456789012', 'fortran_order': False, "
              "'shape': (8,)}",
              ENHOPE_ERROR_FORMAT,
              "a.npy: unsupported type '012345678901234567890123456789012345678901234567890123456789012': expected "
              "booleans, integers, floats or text");
    npy_fails(PLAIN("(9223372036854775807,)"), ENHOPE_ERROR_FORMAT,
              "a.npy: the dimensions 9223372036854775807 overflow: the header is damaged");
    npy_fails(PLAIN("(3000000000000000000,)"), ENHOPE_ERROR_FORMAT, /* not as floats */
              "a.npy: the dimensions 3000000000000000000 overflow: the header is damaged");
    npy_fails(PLAIN("(2000000000000000000,)"), ENHOPE_ERROR_FORMAT,
              "a.npy: the header announces 2000000000000000000 values (2000000000000000000 bytes) but only 8 bytes "
              "follow: the file is truncated");
    npy_fails(PLAIN("(3, 0, 9223372036854775807, 4)"), ENHOPE_ERROR_DATA,
              "a.npy: the array of 3 x 0 x 9223372036854775807 x 4 values is empty");
}

static void types_of_other_sizes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"|b2", "<u0",    "<u3",    "<i5", "<i16", "<f1", "<f3",  "<f16",    "<f",
                                      "<",   "<f4x",   "f-4",    "",    "4",    "<U0", "|S0",  "|S65537", "<U65537",
                                      "|O8", "<m8[D]", "<c8[4]", "<x4", "<<f4", "|V4", "<U-1", "S1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char dictionary[128], message[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}", bad[i]);
        snprintf(message, sizeof message, "a.npy: unsupported type '%s': expected booleans, integers, floats or text",
                 bad[i]);
        npy_fails(dictionary, ENHOPE_ERROR_FORMAT, message);
    }
    npy_fails("{'descr': '<U65536', 'fortran_order': False, 'shape': (1,)}", ENHOPE_ERROR_FORMAT,
              "a.npy: the header announces 1 values (262144 bytes) but only 8 bytes follow: the file is truncated");
    npy_fails("{'descr': '|S65536', 'fortran_order': False, 'shape': (1,)}", ENHOPE_ERROR_FORMAT,
              "a.npy: the header announces 1 values (65536 bytes) but only 8 bytes follow: the file is truncated");
    npy_fails("{'descr': '|a4', 'fortran_order': False, 'shape': (2,)}", ENHOPE_ERROR_DATA,
              "a.npy: contains text: expected numbers");
    npy_fails("{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}", ENHOPE_ERROR_DATA,
              "a.npy: contains text: expected numbers");
}

/* A header of `length` bytes, which version 2 or 3 announces in four bytes. */
static size_t make_padded(unsigned char *file, int version, uint32_t length)
{
    memcpy(file, "\x93NUMPY\0\0", 8);
    file[6] = (unsigned char)version;
    put(file + 8, length, 4);
    memset(file + 12, ' ', length);
    memcpy(file + 12, PLAIN("(2,)"), strlen(PLAIN("(2,)")));
    memcpy(file + 12 + length, "\x07\xFE", 2);
    return 12 + length + 2;
}

static void headers_are_limited_to_64_kb(void **state)
{
    (void)state;
    static unsigned char file[70000];
    for (int version = 2; version <= 3; version++) {
        write_bytes("a.npy", file, make_padded(file, version, 65536));
        enhope_dataset *data = read_ok((enhope_source){.path = "a.npy"});
        assert_memory_equal(data->x.u8, "\x07\xFE", 2);
        enhope_dataset_free(data);
        write_bytes("a.npy", file, make_padded(file, version, 65537));
        read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_FORMAT,
                   "a.npy: an NPY header of 65537 bytes: expected at most 65536");
    }
    put(file + 8, 0x01000000, 4);
    write_bytes("a.npy", file, 12);
    read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_FORMAT,
               "a.npy: an NPY header of 16777216 bytes: expected at most 65536");
    file[6] = 0, file[7] = 9;
    write_bytes("a.npy", file, 100);
    read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_FORMAT,
               "a.npy: unknown NPY version 0.9: expected 1 to 3");
    for (int version = 1; version <= 3; version++) {
        const size_t whole = make_padded(file, version, 60), head = version == 1 ? 10 : 12;
        for (size_t size = 1; size < head + 60 && size < whole; size += size < 13 ? 1 : 46) {
            write_bytes("a.npy", file, size);
            read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_FORMAT,
                       "a.npy: ends within the NPY header: the file is truncated");
        }
    }
    for (size_t at = 0; at < 6; at++) { /* each byte of the magic */
        make_padded(file, 2, 60);
        file[at] ^= 1;
        char message[100];
        snprintf(message, sizeof message, "a.npy: wrong magic %02x %02x %02x %02x: expected NPY, 93 4e 55 4d", file[0],
                 file[1], file[2], file[3]);
        write_bytes("a.npy", file, 100);
        read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_FORMAT, message);
    }
}

/* ---- values ---- */

static void values_at_the_ends_of_their_types_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t size;
        const char *values;
        float expected[4];
    } cases[] = {
        {"|i1", 1, "\x80\x7F\xFF\x00", {-128, 127, -1, 0}},
        {"<i2", 2, "\x00\x80\xFF\x7F\xFF\xFF\x00\x01", {-32768, 32767, -1, 256}},
        {">i4",
         4,
         "\x80\x00\x00\x00\x7F\xFF\xFF\x80\xFF\xFF\xFF\xFF\x00\x01\x00\x00",
         {-0x1p31f, 2147483520, -1, 65536}},
        {">i8",
         8,
         "\x80\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\1\0\0\0\0",
         {-0x1p63f, 0x1p62f, -1, 0x1p32f}},
        {"|u1", 1, "\x80\x7F\xFF\x00", {128, 127, 255, 0}},
        {">u2", 2, "\x80\x00\x7F\xFF\xFF\xFF\x01\x00", {32768, 32767, 65535, 256}},
        {"<u4", 4, "\0\0\0\x80\x80\xFF\xFF\x7F\0\xFF\xFF\xFF\0\0\1\0", {0x1p31f, 2147483520, 4294967040, 65536}},
        {"<f2", 2, "\x01\x00\xFF\x7B\x00\x84\x01\x3C", {0x1p-24f, 65504, -0x1p-14f, 1 + 0x1p-10f}},
        {">f2", 2, "\x03\xFF\x04\x01\xFB\xFF\x00\x00", {1023 * 0x1p-24f, 1025 * 0x1p-24f, -65504, 0}},
        {"|b1", 1, "\x00\x01\x02\xFF", {0, 1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 4)}",
                 cases[i].descr);
        enhope_dataset *data = read_npy(dictionary, cases[i].values, 4 * cases[i].size);
        assert_row(data, 0, cases[i].expected);
        enhope_dataset_free(data);
    }
    const struct {
        const char *values, *what;
    } endless[] = {{"\x00\x7C", "infinite"}, {"\x00\xFC", "-infinite"}, {"\x01\x7C", "NaN"}, {"\x00\xFE", "NaN"}};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        unsigned char file[256];
        char message[100];
        const char values[4] = {0, 0, endless[i].values[0], endless[i].values[1]};
        write_bytes("a.npy", file,
                    make_npy(file, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1)}", values, 4));
        snprintf(message, sizeof message, "a.npy: sample 2, column 1 is %s: expected a finite number", endless[i].what);
        read_fails((enhope_source){.path = "a.npy"}, ENHOPE_ERROR_DATA, message);
    }
}

static void write_inputs(int64_t n)
{
    unsigned char file[256];
    char dictionary[100];
    snprintf(dictionary, sizeof dictionary, PLAIN("(%d, 1)"), (int)n);
    write_bytes("x.npy", file, make_npy(file, dictionary, "\1\2\3\4\5\6", (size_t)n));
}

static void labels_of_every_type_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t size;
        const char *values;
        const char *names[3]; /* NULL: missing */
    } cases[] = {
        {"<i8",
         8,
         "\1\0\0\0\0\0\x20\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\0\x80",
         {"9007199254740993", "9007199254740992", "-9223372036854775808"}},
        {">u8",
         8,
         "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE\x80\0\0\0\0\0\0\0",
         {"18446744073709551615", "18446744073709551614", "9223372036854775808"}},
        {"|i1", 1, "\x80\x7F\xFE", {"-128", "127", "-2"}},
        {"|b1", 1, "\x00\x01\x00", {"0", "1", "0"}},
        {"<f2", 2, "\x00\x3E\x00\x7E\x00\xC0", {"1.5", NULL, "-2"}},
        {"<f8", 8, "\0\0\0\0\0\0\xF8\x7F\x9A\x99\x99\x99\x99\x99\xB9\x3F\0\0\0\0\0\0\0\x40", {NULL, "0.1", "2"}},
        {"|S2", 2, "ab\0\0c\0", {"ab", NULL, "c"}},
        {">U2",
         8,
         "\0\1\xF6\x42\0\0\0\0\0\0\0a\0\x10\xFF\xFF\0\0\0\0\0\0\0\0",
         {"\xF0\x9F\x99\x82", "a\xF4\x8F\xBF\xBF", NULL}},
    };
    unsigned char file[256];
    write_inputs(3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (3,)}",
                 cases[i].descr);
        write_bytes("y.npy", file, make_npy(file, dictionary, cases[i].values, 3 * cases[i].size));
        enhope_dataset *data = read_ok((enhope_source){.path = "x.npy,y.npy"});
        for (int k = 0; k < 3; k++) {
            const char *name = enhope_dataset_class_name(data, data->label[k]);
            assert_int_equal(!name, !cases[i].names[k]);
            if (name) assert_string_equal(name, cases[i].names[k]);
        }
        enhope_dataset_free(data);
    }
}

static void labels_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *values;
        size_t bytes;
        enhope_status status;
        const char *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "\0\0\x80\x3F\0\0\x80\x7F\0\0\x80\x3F", 12,
         ENHOPE_ERROR_DATA, "y.npy: label 2 is infinite: expected a finite number"},
        {"{'descr': '<U1', 'fortran_order': False, 'shape': (3,)}", "a\0\0\0b\0\0\0\0\0\x11\0", 12, ENHOPE_ERROR_FORMAT,
         "y.npy: label 3 is not Unicode text"},
        {PLAIN("(3, 2)"), "abcdef", 6, ENHOPE_ERROR_DATA,
         "y.npy: 3 x 2 values cannot be labels: expected one per sample"},
        {PLAIN("(1, 3, 1)"), "abc", 3, ENHOPE_ERROR_DATA,
         "y.npy: 1 x 3 x 1 values cannot be labels: expected one per sample"},
        {PLAIN("(4,)"), "abcd", 4, ENHOPE_ERROR_DATA, "x.npy has 3 samples but y.npy has 4 labels"},
        {PLAIN("(2,)"), "ab", 2, ENHOPE_ERROR_DATA, "x.npy has 3 samples but y.npy has 2 labels"},
        {PLAIN("(3,)"), "ab", 2, ENHOPE_ERROR_FORMAT,
         "y.npy: the header announces 3 values (3 bytes) but only 2 bytes follow: the file is truncated"},
        {PLAIN("(3,)"), "abcd", 4, ENHOPE_ERROR_FORMAT, "y.npy: bytes follow the last value that the header announces"},
    };
    unsigned char file[256];
    write_inputs(3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("y.npy", file, make_npy(file, cases[i].dictionary, cases[i].values, cases[i].bytes));
        read_fails((enhope_source){.path = "x.npy,y.npy"}, cases[i].status, cases[i].message);
    }
}

/* The file of two sparse gigabytes takes no space. */
static void samples_of_more_than_2_31_inputs_are_refused(void **state)
{
    (void)state;
    unsigned char file[256];
    const size_t size = make_npy(file, PLAIN("(1, 2147483648)"), "", 0);
    write_bytes("wide.npy", file, size);
    assert_int_equal(truncate("wide.npy", (off_t)size + 2147483648), 0);
    read_fails((enhope_source){.path = "wide.npy"}, ENHOPE_ERROR_DATA,
               "wide.npy: 2147483648 inputs per sample: expected fewer than 2^31");
    assert_int_equal(unlink("wide.npy"), 0);
}

/* ---- arrays larger than the buffers ---- */

enum { MANY = 300001 };

/* A column of MANY values, value i being (i * 7919 % 65521) / 4, without the last `lost` bytes. */
static void write_many(const char *name, const char *order, const char *descr, size_t lost)
{
    const int doubles = !strcmp(descr, "<f8"), bytes = !strcmp(descr, "|u1");
    const size_t width = doubles ? 8 : bytes ? 1 : 4;
    unsigned char *file = malloc(200 + 8 * (size_t)MANY);
    char dictionary[128];
    assert_non_null(file);
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, 1)}", descr, order,
             MANY);
    const size_t head = make_npy(file, dictionary, "", 0);
    for (int i = 0; i < MANY; i++) {
        const double value = (i * 7919LL % 65521) / 4.0;
        const float single = (float)value;
        const uint8_t byte = (uint8_t)value;
        memcpy(file + head + (size_t)i * width,
               doubles ? (const void *)&value
               : bytes ? (const void *)&byte
                       : &single,
               width);
    }
    const size_t size = head + MANY * width - lost;
    gzFile f = gzopen(name, strstr(name, ".gz") ? "wb1" : "wbT"); /* T: not compressed */
    assert_int_equal(gzwrite(f, file, (unsigned)size), (int)size);
    assert_int_equal(gzclose(f), Z_OK);
    free(file);
}

static void arrays_larger_than_the_buffers_are_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"m.npy", "m.npy.gz"}, *const types[] = {"|u1", "<f4", "<f8"},
                             *const orders[] = {"False", "True"};
    for (int i = 0; i < 12; i++) {
        const char *name = names[i % 2];
        write_many(name, orders[i / 2 % 2], types[i / 4], 0);
        enhope_dataset *data = read_ok((enhope_source){.path = name});
        assert_int_equal(data->x.n, MANY);
        for (int k = 0; k < MANY; k++) {
            const double value = (k * 7919LL % 65521) / 4.0;
            if (i < 4 ? data->x.u8[k] != (uint8_t)value : data->x.f32[k] != (float)value)
                fail_msg("%s, %s: value %d differs", name, types[i / 4], k);
        }
        enhope_dataset_free(data);
    }
    write_many("m.npy.gz", "False", "<f8", 5);
    read_fails((enhope_source){.path = "m.npy.gz"}, ENHOPE_ERROR_FORMAT,
               "m.npy.gz: the header announces 300001 x 1 values (2400008 bytes) but only 2400003 bytes follow: the "
               "file is truncated");
    write_many("m.npy.gz", "False", "<f4", 3);
    read_fails((enhope_source){.path = "m.npy.gz"}, ENHOPE_ERROR_FORMAT,
               "m.npy.gz: the header announces 300001 x 1 values (1200004 bytes) but only 1200001 bytes follow: the "
               "file is truncated");
}

static void labels_beyond_the_buffer_are_whole(void **state)
{
    (void)state;
    enum { LABELS = (1 << 20) + 7 };
    unsigned char *file = malloc(200 + LABELS);
    assert_non_null(file);
    char dictionary[100];
    snprintf(dictionary, sizeof dictionary, PLAIN("(%d,)"), LABELS);
    const size_t head = make_npy(file, dictionary, "", 0);
    for (int i = 0; i < LABELS; i++) file[head + (size_t)i] = (unsigned char)(i / 11 * 31 % 7);
    write_bytes("x.npy", file, head + LABELS);
    write_bytes("y.npy", file, head + LABELS);
    free(file);
    enhope_dataset *data = read_ok((enhope_source){.path = "x.npy,y.npy"});
    assert_int_equal(data->x.n, LABELS);
    assert_int_equal(data->c, 7);
    for (int i = 0; i < LABELS; i++)
        if (data->label[i] != i / 11 * 31 % 7 || data->x.u8[i] != i / 11 * 31 % 7) fail_msg("label %d differs", i);
    enhope_dataset_free(data);
}

static void column_major_arrays_are_not_streamed(void **state)
{
    (void)state;
    unsigned char file[1024];
    static const char zeros[600];
    write_bytes("c.npy", file,
                make_npy(file, "{'descr': '<i2', 'fortran_order': True, 'shape': (20, 15)}", zeros, sizeof zeros));
    assert_int_equal(enhope_context_set_memory(ctx, 1199), ENHOPE_OK);
    read_fails((enhope_source){.path = "c.npy"}, ENHOPE_ERROR_DATA,
               "c.npy: its values take 1200 bytes of memory: expected at most 1199, the memory limit; only row-major "
               "IDX and NPY files that are not packed, with labels in such a file, are streamed; convert it to shards "
               "or raise the limit");
    assert_int_equal(enhope_context_set_memory(ctx, 1200), ENHOPE_OK);
    enhope_dataset_free(read_ok((enhope_source){.path = "c.npy"}));
    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dictionaries_may_be_written_in_any_style),
        cmocka_unit_test(dictionaries_with_an_error_are_refused),
        cmocka_unit_test(types_of_other_sizes_are_refused),
        cmocka_unit_test(headers_are_limited_to_64_kb),
        cmocka_unit_test(values_at_the_ends_of_their_types_are_exact),
        cmocka_unit_test(labels_of_every_type_are_exact),
        cmocka_unit_test(labels_that_are_none_are_refused),
        cmocka_unit_test(samples_of_more_than_2_31_inputs_are_refused),
        cmocka_unit_test(arrays_larger_than_the_buffers_are_whole),
        cmocka_unit_test(labels_beyond_the_buffer_are_whole),
        cmocka_unit_test(column_major_arrays_are_not_streamed),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
