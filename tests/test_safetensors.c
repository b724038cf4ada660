/* The container: tensors are read back as written, equal contents give byte-identical files,
 * malformed files are refused with a message, and a failed write leaves the old file and no
 * other. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "model_fixture.h"

#include "model/safetensors.h"

static const float numbers[6] = {2.385f, -0.125f, 1e-30f, 7.25f, -3e20f, 0.7312f};
static const int32_t labels[2] = {-5, 2147483647};

static const eh_st_tensor pair[2] = {
    {.name = "numbers", .dtype = "F32", .rank = 2, .shape = {2, 3}, .data = numbers},
    {.name = "lab\"els", .dtype = "I32", .rank = 1, .shape = {2}, .data = labels},
};

static cJSON *make_metadata(void)
{
    cJSON *metadata = cJSON_CreateObject();
    assert_non_null(cJSON_AddStringToObject(metadata, "format", "test"));
    assert_non_null(cJSON_AddStringToObject(metadata, "empty", ""));
    return metadata;
}

static enhope_status write_pair(enhope_context *ctx, const char *path)
{
    cJSON *metadata = make_metadata();
    const enhope_status status = eh_safetensors_write(ctx, path, metadata, pair, 2);
    cJSON_Delete(metadata);
    return status;
}

static void tensors_are_read_back_as_written(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("pair");
    assert_int_equal(write_pair(ctx, path), ENHOPE_OK);
    eh_safetensors st;
    assert_int_equal(eh_safetensors_open(ctx, path, &st), ENHOPE_OK);
    assert_int_equal(st.tensors, 2);
    assert_string_equal(eh_safetensors_text(&st, "format"), "test");
    assert_string_equal(eh_safetensors_text(&st, "empty"), "");
    assert_null(eh_safetensors_text(&st, "Format"));
    assert_null(eh_safetensors_find(&st, "Numbers"));
    const eh_st_tensor *t = eh_safetensors_find(&st, "lab\"els");
    assert_non_null(t);
    assert_string_equal(t->dtype, "I32");
    assert_int_equal(t->rank, 1);
    assert_int_equal(t->shape[0], 2);
    int32_t got_labels[2];
    float got[6];
    assert_int_equal(eh_safetensors_read(ctx, &st, t, got_labels), ENHOPE_OK); /* in any order */
    assert_int_equal(eh_safetensors_read(ctx, &st, eh_safetensors_find(&st, "numbers"), got), ENHOPE_OK);
    assert_memory_equal(got, numbers, sizeof numbers);
    assert_memory_equal(got_labels, labels, sizeof labels);
    eh_safetensors_close(&st);
    unlink(path);
    enhope_context_free(ctx);
}

static void bytes_match_the_format(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("bytes");
    assert_int_equal(write_pair(ctx, path), ENHOPE_OK);
    size_t size;
    unsigned char *bytes = read_all(path, &size);
    static const char header[] = "{\"__metadata__\":{\"format\":\"test\",\"empty\":\"\"},"
                                 "\"numbers\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                                 "\"lab\\\"els\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[24,32]}}";
    const size_t padded = (strlen(header) + 7) / 8 * 8;
    assert_int_equal(size, 8 + padded + 32);
    assert_int_equal(bytes[0] | bytes[1] << 8, padded);
    for (int i = 2; i < 8; i++) assert_int_equal(bytes[i], 0);
    assert_memory_equal(bytes + 8, header, strlen(header));
    for (size_t i = 8 + strlen(header); i < 8 + padded; i++) assert_int_equal(bytes[i], ' ');
    assert_memory_equal(bytes + 8 + padded, numbers, 24);
    assert_memory_equal(bytes + 8 + padded + 24, labels, 8);
    free(bytes);
    unlink(path);
    enhope_context_free(ctx);
}

#define ONE(dtype, shape, range) "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" range "}}"
#define TWO(first, second)                                                                                        \
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" first "},\"b\":{\"dtype\":\"F32\",\"shape\":[2]," \
    "\"data_offsets\":" second "}}"
#define UNDESCRIBED   "tensor 'a' is not described by dtype, shape and data_offsets"
#define NOT_ASCENDING "tensor 'a' has data_offsets that are not two ascending whole numbers >= 0"
#define NOT_WHOLE     "tensor 'a' has a shape with a value that is not a whole number >= 0"

static void malformed_headers_are_refused_with_a_message(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data; /* bytes of zeros after it */
        const char *message;
    } cases[] = {
        {"[1]", 0, "not a model: the header is not a JSON object"},
        {" {}", 0, "not a model: the header is not a JSON object"},
        {"{", 0, "the header is not valid JSON"},
        {"{\"a\":}", 0, "the header is not valid JSON"},
        {"{} x", 0, "the header is not valid JSON"},
        {"{\"a\":\"", 0, "the header is not valid JSON"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, "the header is nested deeper than 32 levels"},
        {"{\"a\":3}", 0, UNDESCRIBED},
        {"{\"a\":null}", 0, UNDESCRIBED},
        {"{\"a\":[\"F32\",[1],[0,4]]}", 4, UNDESCRIBED},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, UNDESCRIBED},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, UNDESCRIBED},
        {"{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, UNDESCRIBED},
        {ONE("F33", "[1]", "[0,4]"), 4, "tensor 'a' has an unknown dtype"},
        {ONE("", "[1]", "[0,4]"), 4, "tensor 'a' has an unknown dtype"},
        {ONE("F32", "[-1]", "[0,4]"), 4, NOT_WHOLE},
        {ONE("F32", "[1.5]", "[0,6]"), 6, NOT_WHOLE},
        {ONE("F32", "[1e300]", "[0,4]"), 4, NOT_WHOLE},
        {ONE("F32", "[9007199254740994]", "[0,4]"), 4, NOT_WHOLE},
        {ONE("F32", "[\"1\"]", "[0,4]"), 4, NOT_WHOLE},
        {ONE("F32", "[1,null]", "[0,4]"), 4, NOT_WHOLE},
        {ONE("F32", "[4294967296,1073741824]", "[0,0]"), 0, "tensor 'a' has a shape whose product overflows"},
        {ONE("F32", "[4294967296,4294967296,0]", "[0,0]"), 0, "tensor 'a' has a shape whose product overflows"},
        {ONE("F32", "[1]", "[0]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[0,4,8]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[4,0]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[-4,0]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[0.5,4.5]"), 4, NOT_ASCENDING},
        {ONE("F32", "[1]", "[0,1e19]"), 4, NOT_ASCENDING},
        {ONE("F32", "[2]", "[0,8]"), 4, "tensor 'a' reaches beyond the end of the file"},
        {ONE("F32", "[2]", "[0,4]"), 4, "tensor 'a' has data_offsets that do not match its shape and dtype"},
        {ONE("F64", "[1]", "[0,4]"), 4, "tensor 'a' has data_offsets that do not match its shape and dtype"},
        {TWO("[0,8]", "[4,12]"), 12, "tensor 'b' overlaps another tensor"},
        {TWO("[0,8]", "[0,8]"), 8, "tensor 'b' overlaps another tensor"},
        {TWO("[0,8]", "[12,20]"), 20, "tensor 'b' leaves a gap before it"},
        {TWO("[4,12]", "[12,20]"), 20, "tensor 'a' leaves a gap before it"},
        {TWO("[8,16]", "[0,8]"), 19, "3 bytes after the last tensor"},
        {"{}", 5, "5 bytes after the last tensor"},
        {"{\"a\":1,\"b\":2,\"a\":3}", 0, "the header contains 'a' twice"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "the header contains '__metadata__' twice"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not a JSON object"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__ 'k' is not a string"},
        {"{\"__metadata__\":{\"k\":\"1\",\"j\":\"\",\"k\":\"1\"}}", 0, "__metadata__ contains 'k' twice"},
        {"{\"\\u001b[31m"
         "0123456789012345678901234567890123456789012345678901234567890\":1}",
         0,
         "tensor '?[31m012345678901234567890123456789012345678...' is not described by dtype, shape and data_offsets"},
    };
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("malformed");
    static const char zeros[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_container(path, cases[i].header, strlen(cases[i].header), zeros, cases[i].data);
        eh_safetensors st;
        assert_int_equal(eh_safetensors_open(ctx, path, &st), ENHOPE_ERROR_MODEL);
        assert_string_equal(enhope_error(ctx), cases[i].message);
    }
    unlink(path);
    enhope_context_free(ctx);
}

#define FIRST      "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define SECOND     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}"
#define EMPTY_LAST "\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]}"
#define EMPTY      "{" EMPTY_LAST

static void unusual_but_valid_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        int64_t tensors;
    } cases[] = {
        {"{}", 0, 0},
        {"{} \n\t\r ", 0, 0},
        {"{\"__metadata__\":{}}", 0, 0},
        {ONE("BF16", "[]", "[0,2]"), 2, 1},        /* a scalar */
        {ONE("F64", "[3,0,5]", "[0,0]"), 0, 1},    /* an empty tensor */
        {ONE("U8", "[1,2,1,3,1]", "[0,6]"), 6, 1}, /* more dimensions than are stored */
        {TWO("[8,16]", "[0,8]"), 16, 2},           /* listed out of order */
        {EMPTY "," FIRST "," SECOND "}", 16, 3},   /* an empty one between others, in any order */
        {EMPTY "," SECOND "," FIRST "}", 16, 3},
        {"{" FIRST "," EMPTY_LAST "," SECOND "}", 16, 3},
        {"{" SECOND "," EMPTY_LAST "," FIRST "}", 16, 3},
    };
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("sound");
    static const char zeros[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_container(path, cases[i].header, strlen(cases[i].header), zeros, cases[i].data);
        eh_safetensors st;
        assert_int_equal(eh_safetensors_open(ctx, path, &st), ENHOPE_OK);
        assert_int_equal(st.tensors, cases[i].tensors);
        eh_safetensors_close(&st);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void every_type_has_its_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        int bytes;
    } types[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                 {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
                 {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8}};
    enhope_context *ctx = enhope_context_create();
    static const char zeros[64];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int more = -1; more <= 1; more++) {
            char header[200];
            eh_safetensors st;
            const int size = 3 * types[i].bytes + more;
            snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[3,1,1],\"data_offsets\":[0,%d]}}",
                     types[i].dtype, size);
            const char *path = in_folder("types");
            write_container(path, header, strlen(header), zeros, (size_t)size);
            assert_int_equal(eh_safetensors_open(ctx, path, &st), more ? ENHOPE_ERROR_MODEL : ENHOPE_OK);
            unlink(path);
            if (more) continue;
            assert_int_equal(st.tensor[0].rank, 3);
            assert_int_equal(st.tensor[0].shape[0], 3);
            assert_int_equal(st.tensor[0].shape[1], 1);
            eh_safetensors_close(&st);
        }
    enhope_context_free(ctx);
}

static void bytes_equal_the_file(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("equal");
    assert_int_equal(write_pair(ctx, path), ENHOPE_OK);
    size_t size, needed = 0;
    unsigned char *bytes = read_all(path, &size), *copy = malloc(size + 1);
    cJSON *metadata = make_metadata();
    assert_int_equal(eh_safetensors_write_bytes(ctx, metadata, pair, 2, NULL, 0, &needed), ENHOPE_OK);
    assert_int_equal(needed, size);
    needed = 0;
    memset(copy, 'z', size + 1);
    assert_int_equal(eh_safetensors_write_bytes(ctx, metadata, pair, 2, copy, size, &needed), ENHOPE_OK);
    assert_int_equal(needed, size);
    assert_memory_equal(copy, bytes, size);
    assert_int_equal(copy[size], 'z');
    memset(copy, 'z', size);
    needed = 17;
    assert_int_equal(eh_safetensors_write_bytes(ctx, metadata, pair, 2, copy, size - 1, &needed),
                     ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(needed, 17);
    assert_int_equal(copy[0], 'z');
    char expected[100];
    snprintf(expected, sizeof expected, "the buffer has %zu bytes, the model needs %zu", size - 1, size);
    assert_string_equal(enhope_error(ctx), expected);
    eh_safetensors st;
    assert_int_equal(eh_safetensors_open_bytes(ctx, bytes, size, &st), ENHOPE_OK);
    float got[6];
    assert_int_equal(eh_safetensors_read(ctx, &st, eh_safetensors_find(&st, "numbers"), got), ENHOPE_OK);
    assert_memory_equal(got, numbers, sizeof numbers);
    eh_safetensors_close(&st);
    cJSON_Delete(metadata);
    free(bytes);
    free(copy);
    unlink(path);
    enhope_context_free(ctx);
}

/* The header is padded to a multiple of 8 bytes, whatever its length. */
static void headers_of_every_length_are_padded(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    char text[20] = "";
    for (int i = 0; i < 17; i++) {
        unsigned char bytes[512];
        size_t size;
        cJSON *metadata = cJSON_CreateObject();
        assert_non_null(cJSON_AddStringToObject(metadata, "k", text));
        assert_int_equal(eh_safetensors_write_bytes(ctx, metadata, pair, 1, bytes, sizeof bytes, &size), ENHOPE_OK);
        cJSON_Delete(metadata);
        const size_t used = strlen("{\"__metadata__\":{\"k\":\"\"},\"numbers\":{\"dtype\":\"F32\",\"shape\":[2,3],"
                                   "\"data_offsets\":[0,24]}}") +
                            strlen(text),
                     padded = (used + 7) / 8 * 8;
        assert_int_equal(size, 8 + padded + 24);
        assert_int_equal(bytes[0], padded);
        for (size_t b = used; b < padded; b++) assert_int_equal(bytes[8 + b], ' ');
        strcat(text, "x");
    }
    enhope_context_free(ctx);
}

static void lengths_are_checked_before_memory_is_allocated(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"", 0, "not a model: 0 bytes, a safetensors file begins with 8"},
        {"\2\0\0\0\0\0\0", 7, "not a model: 7 bytes, a safetensors file begins with 8"},
        {"\0\0\0\0\0\0\0\0{}", 10, "not a model: header length 0, expected 1 to 100000000"},
        {"\1\341\365\5\0\0\0\0{}", 10, "not a model: header length 100000001, expected 1 to 100000000"},
        {"\377\377\377\377\377\377\377\377{}", 10,
         "not a model: header length 18446744073709551615, expected 1 to 100000000"},
        {"\0\341\365\5\0\0\0\0{}", 10, "header length 100000000 reaches beyond the end of the file (10 bytes)"},
        {"\3\0\0\0\0\0\0\0{}", 10, "header length 3 reaches beyond the end of the file (10 bytes)"},
        {"\2\0\0\0\0\0\0\0", 8, "header length 2 reaches beyond the end of the file (8 bytes)"},
    };
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("lengths");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_all(path, cases[i].bytes, cases[i].size);
        eh_safetensors st;
        allocations_left = 0; /* an allocation would give the wrong message */
        enhope_set_allocator(counting_malloc, counting_free);
        const enhope_status status = eh_safetensors_open(ctx, path, &st);
        enhope_set_allocator(NULL, NULL);
        assert_int_equal(status, ENHOPE_ERROR_MODEL);
        assert_string_equal(enhope_error(ctx), cases[i].message);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void a_header_of_a_million_values_is_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const size_t size = 2100000;
    char *header = malloc(size);
    memset(header, ',', size);
    for (size_t i = 0; i < size; i += 2) header[i] = '1';
    memcpy(header, "{\"a\":[", 6);
    const char *path = in_folder("many");
    write_container(path, header, size, NULL, 0);
    eh_safetensors st;
    assert_int_equal(eh_safetensors_open(ctx, path, &st), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx), "the header has more than 1000000 values");
    free(header);
    unlink(path);
    enhope_context_free(ctx);
}

static void a_file_that_cannot_be_opened_gives_a_reason(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    eh_safetensors st;
    assert_int_equal(eh_safetensors_open(ctx, in_folder("missing"), &st), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "cannot open: No such file or directory");
    assert_int_equal(eh_safetensors_open(ctx, folder, &st), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "cannot open: not a regular file");
    assert_int_equal(eh_safetensors_open(ctx, "/dev/null", &st), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), "cannot open: not a regular file");
    enhope_context_free(ctx);
}

static void a_full_disk_leaves_the_old_file_and_no_other(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("full");
    write_all(path, "the old contents", 16);
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < 215; limit += 35) { /* in the prefix, the header and the tensors */
        tight = old;
        tight.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        const enhope_status status = write_pair(ctx, path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, ENHOPE_ERROR_IO);
        assert_message(ctx, path, "cannot write: File too large");
        size_t size;
        unsigned char *bytes = read_all(path, &size);
        assert_int_equal(size, 16);
        assert_memory_equal(bytes, "the old contents", 16);
        free(bytes);
    }
    signal(SIGXFSZ, handler);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no other file is left */
    assert_int_equal(mkdir(folder, 0700), 0);
    enhope_context_free(ctx);
}

static void unwritable_paths_give_path_and_reason(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    assert_int_equal(write_pair(ctx, "/dev/full"), ENHOPE_ERROR_IO);
    assert_message(ctx, "/dev/full", "cannot write: No space left on device");
    const char *nowhere = in_folder("no/such/folder");
    assert_int_equal(write_pair(ctx, nowhere), ENHOPE_ERROR_IO);
    assert_message(ctx, nowhere, "cannot write: No such file or directory");
    assert_int_equal(write_pair(ctx, folder), ENHOPE_ERROR_IO);
    assert_message(ctx, folder, "cannot write: Is a directory");
    assert_int_equal(write_pair(ctx, ""), ENHOPE_ERROR_IO);
    assert_message(ctx, "", "cannot write: No such file or directory");
    enhope_context_free(ctx);
}

static void a_symbolic_link_and_the_mode_are_kept(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("real"), *link = in_folder("link");
    write_all(path, "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("real", link), 0);
    assert_int_equal(write_pair(ctx, link), ENHOPE_OK);
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_true(about.st_size > 32);
    unlink(link);
    unlink(path);
    enhope_context_free(ctx);
}

static void *read_pipe(void *path)
{
    static unsigned char bytes[4096];
    const int fd = open(path, O_RDONLY);
    ssize_t size = 0, got;
    while ((got = read(fd, bytes + size, sizeof bytes - (size_t)size)) > 0) size += got;
    close(fd);
    bytes[4095] = (unsigned char)(size == 8 + bytes[0] + (bytes[1] << 8) + 32); /* whole */
    return bytes;
}

static void a_pipe_is_written_directly(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    char path[128];
    strcpy(path, in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, path), 0);
    assert_int_equal(write_pair(ctx, path), ENHOPE_OK);
    void *bytes;
    assert_int_equal(pthread_join(reader, &bytes), 0);
    assert_int_equal(((unsigned char *)bytes)[4095], 1);
    unlink(path);
    enhope_context_free(ctx);
}

static void a_stale_temporary_file_is_not_touched(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    char path[128], stale[192];
    strcpy(path, in_folder("m"));
    char *real = realpath(folder, NULL);
    snprintf(stale, sizeof stale, "%s/m.tmp-%ld-0", real, (long)getpid());
    free(real);
    write_all(stale, "stale", 5);
    assert_int_equal(write_pair(ctx, path), ENHOPE_OK);
    size_t size;
    unsigned char *bytes = read_all(stale, &size);
    assert_int_equal(size, 5);
    free(bytes);
    unlink(stale);
    unlink(path);
    enhope_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_read_back_as_written),
        cmocka_unit_test(bytes_match_the_format),
        cmocka_unit_test(malformed_headers_are_refused_with_a_message),
        cmocka_unit_test(unusual_but_valid_files_are_read),
        cmocka_unit_test(every_type_has_its_bytes),
        cmocka_unit_test(bytes_equal_the_file),
        cmocka_unit_test(headers_of_every_length_are_padded),
        cmocka_unit_test(lengths_are_checked_before_memory_is_allocated),
        cmocka_unit_test(a_header_of_a_million_values_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_opened_gives_a_reason),
        cmocka_unit_test(a_full_disk_leaves_the_old_file_and_no_other),
        cmocka_unit_test(unwritable_paths_give_path_and_reason),
        cmocka_unit_test(a_symbolic_link_and_the_mode_are_kept),
        cmocka_unit_test(a_pipe_is_written_directly),
        cmocka_unit_test(a_stale_temporary_file_is_not_touched),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
