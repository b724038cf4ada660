/* NPZ files field by field: the records and the 64-bit sizes of zip archives, members larger than
 * the buffer, and the names of arrays. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "data/frame/frame.h"
#include "read_support.h"

#define X_ARRAY(shape) "{'descr': '|u1', 'fortran_order': False, 'shape': " shape "}"

static zip_maker z;
static unsigned char array[256]; /* the member X.npy: 4 samples of 2 inputs */
static size_t array_size;
static const char values[8] = {7, 1, 9, 3, 8, 2, 6, 5};

/* Begins the archive with X.npy. Returns its entry of the directory. */
static unsigned char *begin(int deflated)
{
    z = (zip_maker){.size = 0};
    array_size = make_npy(array, X_ARRAY("(4, 2)"), values, sizeof values);
    zip_add(&z, "X.npy", array, array_size, deflated);
    return z.directory;
}

static void assert_reads(const char *name)
{
    enhope_dataset *data = read_ok((enhope_source){.path = name});
    assert_int_equal(data->x.n, 4);
    assert_memory_equal(data->x.u8, values, sizeof values);
    enhope_dataset_free(data);
}

static void fails(const char *message)
{
    read_fails((enhope_source){.path = "z.npz"}, ENHOPE_ERROR_FORMAT, message);
}

static const char damaged[] = "z.npz: the zip directory is damaged";
static const char beyond[] = "z.npz: the zip directory points beyond the file, which is damaged";
static const char header_beyond[] = "z.npz(X.npy): its zip header points beyond the file: it is damaged";
static const char unsupported[] =
    "z.npz(X.npy): is encrypted or uses an unsupported compression: expected stored or deflated";

/* ---- the directory ---- */

static void each_field_of_an_entry_is_checked(void **state)
{
    (void)state;
    enum { STORED_AND_DEFLATED = 2 };
    static const struct {
        size_t at, size; /* of a field of the entry */
        uint64_t value;
        const char *messages[STORED_AND_DEFLATED];
    } cases[] = {
        {0, 1, 'Q', {damaged, damaged}},
        {1, 1, 'Q', {damaged, damaged}},
        {2, 1, 2, {damaged, damaged}},
        {3, 1, 1, {damaged, damaged}},
        {8, 2, 1, {unsupported, unsupported}},
        {8, 2, 0x801, {unsupported, unsupported}},
        {10, 2, 1, {unsupported, unsupported}},
        {10, 2, 9, {unsupported, unsupported}},
        {10, 2, 12, {unsupported, unsupported}},
        {16,
         4,
         17,
         {"z.npz(X.npy): the checksum is wrong: the file is damaged",
          "z.npz(X.npy): the checksum is wrong: the file is damaged"}},
        {20, 4, 1000, {beyond, beyond}},
        {20, 4, 0, {header_beyond, "z.npz(X.npy): the compressed data is damaged"}},
        {20, 4, 3, {header_beyond, "z.npz(X.npy): the compressed data is damaged"}},
        {24, 4, 74, {header_beyond, "z.npz(X.npy): the unpacked size does not match the directory: it is damaged"}},
        {24, 4, 76, {header_beyond, "z.npz(X.npy): the unpacked size does not match the directory: it is damaged"}},
        {28, 2, 6, {damaged, damaged}},
        {28, 2, 0xFFFF, {damaged, damaged}},
        {30, 2, 1, {damaged, damaged}},
        {32, 2, 1, {damaged, damaged}},
        {42, 4, 1, {"z.npz(X.npy): its zip header is damaged", "z.npz(X.npy): its zip header is damaged"}},
        {42, 4, 1000, {beyond, beyond}},
        {42, 4, 0xFFFFFFFE, {beyond, beyond}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int deflated = 0; deflated < STORED_AND_DEFLATED; deflated++) {
            put(begin(deflated) + cases[i].at, cases[i].value, (int)cases[i].size);
            zip_write(&z, "z.npz");
            assert_int_equal(array_size, 75);
            fails(cases[i].messages[deflated]);
        }
    begin(0);
    zip_write(&z, "z.npz");
    assert_reads("z.npz");
}

static void extra_fields_and_comments_are_skipped(void **state)
{
    (void)state;
    static const struct {
        size_t extra, comment, end;
    } cases[] = {{0, 0, 1}, {4, 0, 0}, {5, 3, 17}, {0, 9, 65535}};
    static unsigned char file[80000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *entry = begin(1);
        const size_t more = cases[i].extra + cases[i].comment;
        memset(z.directory + z.directory_size, 0, more);
        z.directory_size += more;
        put(entry + 30, cases[i].extra, 2);
        put(entry + 32, cases[i].comment, 2);
        zip_add(&z, "other", array, 5, 0); /* is found after the extra field and the comment */
        zip_write(&z, "z.npz");
        size_t size;
        unsigned char *bytes = slurp("z.npz", &size);
        memcpy(file, bytes, size);
        memset(file + size, 'c', cases[i].end);
        free(bytes);
        write_bytes("z.npz", file, size + cases[i].end);
        assert_reads("z.npz");
        read_fails((enhope_source){.path = "z.npz", .variables = "other"}, ENHOPE_ERROR_FORMAT,
                   "z.npz(other): ends within the NPY header: the file is truncated");
    }
}

static void the_end_record_is_checked(void **state)
{
    (void)state;
    static const struct {
        size_t at, size; /* of a field of the end record */
        uint64_t value;
        const char *message;
    } cases[] = {
        {10, 2, 2, damaged},
        {10, 2, 0xFFFF, damaged},
        {10, 2, 0, "z.npz: no array X (or x, data, images, features, arr_0): it contains nothing; name the variables"},
        {12, 4, 50, damaged},
        {12, 4, 45, damaged},
        {12, 4, 1000, beyond},
        {12, 4, 0xFFFFFFFF, beyond},
        {16, 4, 1000, beyond},
        {16, 4, 0xFFFFFFFF, beyond},
        {16, 4, 0, damaged},
        {0, 1, 'Q', "z.npz: the end of the zip directory is missing: the file is truncated or not an NPZ file"},
        {3, 1, 7, "z.npz: the end of the zip directory is missing: the file is truncated or not an NPZ file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(0);
        zip_write(&z, "z.npz");
        unsigned char *end = z.bytes + z.size + z.directory_size;
        put(end + cases[i].at, cases[i].value, (int)cases[i].size);
        write_bytes("z.npz", z.bytes, z.size + z.directory_size + 22);
        if (strstr(cases[i].message, "no array"))
            read_fails((enhope_source){.path = "z.npz"}, ENHOPE_ERROR_DATA, cases[i].message);
        else
            fails(cases[i].message);
    }
    z = (zip_maker){.size = 0};
    zip_write(&z, "z.npz"); /* an empty archive: nothing but the end record */
    read_fails((enhope_source){.path = "z.npz"}, ENHOPE_ERROR_DATA,
               "z.npz: no array X (or x, data, images, features, arr_0): it contains nothing; name the variables");
    write_bytes("z.npz", z.bytes, 21);
    fails("z.npz: the end of the zip directory is missing: the file is truncated or not an NPZ file");
}

/* ---- zip64 ---- */

/* Appends a field of 8-byte sizes to the last entry, before it other fields of `skip` bytes. */
static void add_zip64(unsigned char *entry, int skip, const uint64_t *sizes, int count)
{
    unsigned char *at = z.directory + z.directory_size;
    if (skip) {
        put(at, 0x5455, 2);
        put(at + 2, (uint64_t)skip - 4, 2);
        memset(at + 4, 0xFF, (size_t)skip - 4);
        at += skip;
    }
    put(at, 1, 2);
    put(at + 2, 8 * (uint64_t)count, 2);
    for (int i = 0; i < count; i++) put(at + 4 + 8 * i, sizes[i], 8);
    put(entry + 30, (uint64_t)skip + 4 + 8 * (uint64_t)count, 2);
    z.directory_size += (size_t)skip + 4 + 8 * (size_t)count;
}

static void sizes_of_64_bits_replace_those_of_all_ones(void **state)
{
    (void)state;
    for (int given = 1; given < 8; given++) /* which of size, packed size and offset */
        for (int skip = 0; skip <= 9; skip += 9) {
            uint64_t sizes[3];
            int count = 0;
            z = (zip_maker){.size = 0};
            zip_add(&z, "a", (const unsigned char *)"abc", 3, 0);
            unsigned char *entry = z.directory + z.directory_size;
            const size_t offset = z.size;
            array_size = make_npy(array, X_ARRAY("(4, 2)"), values, sizeof values);
            zip_add(&z, "X.npy", array, array_size, 0);
            if (given & 1) sizes[count++] = array_size, put(entry + 24, UINT32_MAX, 4);
            if (given & 2) sizes[count++] = array_size, put(entry + 20, UINT32_MAX, 4);
            if (given & 4) sizes[count++] = offset, put(entry + 42, UINT32_MAX, 4);
            add_zip64(entry, skip, sizes, count);
            zip_write(&z, "z.npz");
            assert_reads("z.npz");
            sizes[count - 1] = 1000;
            z.directory_size -= (size_t)skip + 4 + 8 * (size_t)count;
            add_zip64(entry, skip, sizes, count);
            zip_write(&z, "z.npz");
            fails(given & 6 ? beyond : header_beyond);
            put(entry + 46 + 5 + skip + 2, 8 * (uint64_t)count - 1, 2); /* a size is missing */
            zip_write(&z, "z.npz");
            fails(given == 1 ? header_beyond : beyond);
            put(entry + 46 + 5 + skip + 2, 8 * (uint64_t)count + 1, 2); /* the field is longer than its entry */
            zip_write(&z, "z.npz");
            fails(given == 1 ? header_beyond : beyond);
        }
    unsigned char *entry = begin(1);
    put(entry + 24, UINT32_MAX, 4);
    add_zip64(entry, 0, (const uint64_t[]){(uint64_t)1 << 63}, 1);
    zip_write(&z, "z.npz");
    fails(beyond);
}

/* Writes z.npz with a directory of 64-bit sizes. The fields of the last record are all ones if
 * their bit is set. */
static void write_zip64(int ones, size_t at, uint64_t value)
{
    unsigned char end[56 + 20 + 22] = "PK\6\6", *locator = end + 56, *last = locator + 20;
    const size_t start = z.size + z.directory_size;
    put(end + 4, 44, 8);
    put(end + 24, z.count, 8), put(end + 32, z.count, 8);
    put(end + 40, z.directory_size, 8);
    put(end + 48, z.size, 8);
    memcpy(locator, "PK\6\7", 4);
    put(locator + 8, start, 8);
    memcpy(last, "PK\5\6", 4);
    put(last + 10, ones & 1 ? UINT16_MAX : z.count, 2);
    put(last + 12, ones & 2 ? UINT32_MAX : z.directory_size, 4);
    put(last + 16, ones & 4 ? UINT32_MAX : z.size, 4);
    if (value) put(end + at, value, at >= 56 && at < 60 ? 1 : 4);
    memcpy(z.bytes + z.size, z.directory, z.directory_size);
    memcpy(z.bytes + start, end, sizeof end);
    write_bytes("z.npz", z.bytes, start + sizeof end);
}

static void directories_of_64_bits_are_found(void **state)
{
    (void)state;
    for (int ones = 1; ones < 8; ones++) {
        begin(ones & 1);
        write_zip64(ones, 0, 0);
        assert_reads("z.npz");
        begin(0);
        write_zip64(ones, 1, 'Q');
        fails("z.npz: the zip64 directory is damaged");
        write_zip64(ones, 3, 5);
        fails("z.npz: the zip64 directory is damaged");
        write_zip64(ones, 32, 2);
        fails(damaged);
        write_zip64(ones, 36, 256); /* 2^40 entries, for which there is no memory */
        fails(damaged);
        write_zip64(ones, 40, 1000);
        fails(beyond);
        write_zip64(ones, 48, 1000);
        fails(beyond);
        write_zip64(ones, 64, 1000); /* the place of the record */
        fails(beyond);
        write_zip64(ones, 59, 8); /* without a locator the sizes are wrong */
        fails(ones & 6 ? beyond : damaged);
    }
    begin(0);
    write_zip64(0, 1, 'Q'); /* not needed, so not read */
    assert_reads("z.npz");
}

/* ---- members ---- */

static void local_headers_are_checked(void **state)
{
    (void)state;
    for (int deflated = 0; deflated < 2; deflated++) {
        for (size_t at = 0; at < 4; at++) {
            begin(deflated);
            z.bytes[at] ^= 8;
            zip_write(&z, "z.npz");
            fails("z.npz(X.npy): its zip header is damaged");
        }
        begin(deflated);
        put(z.bytes + 26, 1000, 2);
        zip_write(&z, "z.npz");
        fails(header_beyond);
        begin(deflated);
        put(z.bytes + 28, 1000, 2);
        zip_write(&z, "z.npz");
        fails(header_beyond);
    }
    unsigned char *entry = begin(1);
    put(z.bytes + 28, 2, 2); /* the local extra field moves the start into the data */
    zip_write(&z, "z.npz");
    fails("z.npz(X.npy): the compressed data is damaged");
    put(entry + 42, z.size + 46 + 5 + 22 - 29, 4); /* the header would end after the file */
    z.bytes[28] = 0;
    zip_write(&z, "z.npz");
    fails(beyond);
}

/* A stored or deflated member of many bytes, which are read in steps. */
static void members_larger_than_the_buffer_are_whole(void **state)
{
    (void)state;
    enum { N = 300003 };
    static unsigned char file[2 * N], npy[N + 200];
    const size_t head = make_npy(npy, X_ARRAY("(300003, 1)"), "", 0), size = head + N;
    for (int i = 0; i < N; i++) npy[head + (size_t)i] = (unsigned char)(eh_random_u64(3, 1, (uint64_t)i) >> 17);
    for (int deflated = 0; deflated < 2; deflated++) {
        size_t packed = size;
        memset(file, 0, 100);
        if (deflated) {
            z_stream s;
            memset(&s, 0, sizeof s);
            assert_int_equal(deflateInit2(&s, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
            s.next_in = npy, s.avail_in = (unsigned)size;
            s.next_out = file + 35, s.avail_out = (unsigned)(sizeof file - 200);
            assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
            packed = s.total_out;
            deflateEnd(&s);
        } else {
            memcpy(file + 35, npy, size);
        }
        memcpy(file, "PK\3\4", 4);
        put(file + 26, 5, 2);
        memcpy(file + 30, "X.npy", 5);
        unsigned char *entry = file + 35 + packed, *end = entry + 51;
        memset(entry, 0, 51 + 22);
        memcpy(entry, "PK\1\2", 4);
        put(entry + 10, deflated ? 8 : 0, 2);
        put(entry + 16, crc32(0, npy, (unsigned)size), 4);
        put(entry + 20, packed, 4);
        put(entry + 24, size, 4);
        put(entry + 28, 5, 2);
        memcpy(entry + 46, "X.npy", 5);
        memcpy(end, "PK\5\6", 4);
        put(end + 10, 1, 2);
        put(end + 12, 51, 4);
        put(end + 16, 35 + packed, 4);
        write_bytes("big.npz", file, 35 + packed + 51 + 22);
        enhope_dataset *data = read_ok((enhope_source){.path = "big.npz"});
        assert_int_equal(data->x.n, N);
        assert_memory_equal(data->x.u8, npy + head, N);
        enhope_dataset_free(data);
    }
}

static void columns_that_float_cannot_resolve_are_centered(void **state)
{
    (void)state;
    static const double x[4] = {1e9 + 0.25, 1e9 + 0.5, 1e9 - 3.75, 1e9 + 0.125};
    unsigned char file[256];
    for (int deflated = 0; deflated < 2; deflated++) {
        z = (zip_maker){.size = 0};
        zip_add(&z, "X.npy", file,
                make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1)}", x, sizeof x), deflated);
        zip_write(&z, "c.npz");
        enhope_dataset *data = read_ok((enhope_source){.path = "c.npz"});
        assert_non_null(data->encoding);
        for (int i = 0; i < 4; i++)
            assert_true(fabs((double)data->x.f32[i] + data->encoding->column[0].offset - x[i]) < 1e-6);
        enhope_dataset_free(data);
    }
}

/* ---- names ---- */

static void add(const char *name, const char *dictionary, const void *bytes, size_t size)
{
    unsigned char file[512];
    zip_add(&z, name, file, make_npy(file, dictionary, bytes, size), 0);
}

static void every_usual_name_is_found(void **state)
{
    (void)state;
    static const char *const inputs[] = {"X", "x", "data", "images", "features", "inputs", "arr_0"};
    static const char *const labels[] = {"y", "Y", "labels", "label", "target", "targets", "classes", "arr_1"};
    for (int i = 0; i < 8 * 4; i++) {
        const char *x = inputs[i / 4 % 7], *y = labels[i / 4];
        char x_name[40], y_name[40];
        const char *const patterns[] = {"%s.npy", "%s", "%s_test.npy", "test_%s.npy"};
        snprintf(x_name, sizeof x_name, patterns[i % 4], x);
        snprintf(y_name, sizeof y_name, patterns[i % 4], y);
        z = (zip_maker){.size = 0};
        add("zzz.npy", X_ARRAY("(1, 1)"), "\11", 1);
        add(y_name, X_ARRAY("(4,)"), "\3\1\3\2", 4);
        add(x_name, X_ARRAY("(4, 2)"), values, 8);
        zip_write(&z, "n.npz");
        enhope_dataset *data = read_ok((enhope_source){.path = "n.npz", .part = i % 4 > 1 ? "test" : NULL});
        assert_memory_equal(data->x.u8, values, 8);
        assert_labels(data, (const int32_t[]){2, 0, 2, 1});
        enhope_dataset_free(data);
        if (i % 4 > 1) {
            char message[200];
            snprintf(message, sizeof message,
                     "n.npz: no array X_train (or x_, data_, images_, features_): it contains zzz.npy, %s, %s", y_name,
                     x_name);
            read_fails((enhope_source){.path = "n.npz"}, ENHOPE_ERROR_DATA, message);
        }
    }
}

static void named_variables_are_found(void **state)
{
    (void)state;
    z = (zip_maker){.size = 0};
    add("first.npy", X_ARRAY("(4, 2)"), values, 8);
    add("second.npy", X_ARRAY("(1, 4)"), "\3\1\3\2", 4);
    zip_write(&z, "v.npz");
    enhope_dataset *data = read_ok((enhope_source){.path = "v.npz", .variables = "first"});
    assert_null(data->label);
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "v.npz", .variables = "first.npy,second.npy"});
    assert_labels(data, (const int32_t[]){2, 0, 2, 1});
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "v.npz", .variables = "first,none", .label = "none"});
    assert_null(data->label);
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "v.npz", .variables = "third,second"}, ENHOPE_ERROR_DATA,
               "v.npz: no array 'third': it contains first.npy, second.npy");
    read_fails((enhope_source){.path = "v.npz", .variables = "first,third"}, ENHOPE_ERROR_DATA,
               "v.npz: no array 'third': it contains first.npy, second.npy");
    char names[300];
    memset(names, 'v', sizeof names);
    names[255] = '\0';
    read_fails((enhope_source){.path = "v.npz", .variables = names}, ENHOPE_ERROR_DATA,
               "v.npz: no array 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv': it contains first.npy, "
               "second.npy");
    names[255] = 'v', names[256] = '\0';
    read_fails((enhope_source){.path = "v.npz", .variables = names}, ENHOPE_ERROR_ARGUMENT,
               "variables: the names are longer than 255 characters");
    z = (zip_maker){.size = 0};
    for (int i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof name, "the_long_name_of_the_array_with_number_%02d.npy", i);
        zip_add(&z, name, array, 1, 0);
    }
    zip_write(&z, "v.npz");
    enhope_dataset *none = NULL;
    assert_int_equal(enhope_dataset_read(ctx, &(enhope_source){.path = "v.npz", .variables = "A"}, &none),
                     ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "it contains the_long_name_of_the_array_with_number_0, the_long"));
    size_t listed = 0;
    for (const char *at = enhope_error(ctx); (at = strstr(at, "the_long_name")); at++) listed++;
    assert_int_equal(listed, 12); /* as many as the message can hold */
}

/* The list of members in a message ends where the next one may not fit. */
static void members_are_listed_up_to_464_characters(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        char expected[700] = "l.npz: no array 'A': it contains ";
        z = (zip_maker){.size = 0};
        for (int i = 0; i < 13; i++) {
            char name[64];
            snprintf(name, sizeof name, "%.*s%02d",
                     i == 11   ? 33 + more
                     : i == 12 ? 3
                               : 35,
                     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst", i);
            zip_add(&z, name, array, 1, 0);
            if (i < 12 || more < 0) strcat(strcat(expected, i ? ", " : ""), name);
        }
        zip_write(&z, "l.npz");
        read_fails((enhope_source){.path = "l.npz", .variables = "A"}, ENHOPE_ERROR_DATA, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_of_an_entry_is_checked),
        cmocka_unit_test(extra_fields_and_comments_are_skipped),
        cmocka_unit_test(the_end_record_is_checked),
        cmocka_unit_test(sizes_of_64_bits_replace_those_of_all_ones),
        cmocka_unit_test(directories_of_64_bits_are_found),
        cmocka_unit_test(local_headers_are_checked),
        cmocka_unit_test(members_larger_than_the_buffer_are_whole),
        cmocka_unit_test(columns_that_float_cannot_resolve_are_centered),
        cmocka_unit_test(every_usual_name_is_found),
        cmocka_unit_test(named_variables_are_found),
        cmocka_unit_test(members_are_listed_up_to_464_characters),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
