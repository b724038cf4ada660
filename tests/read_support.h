/* Common parts of the reader tests: a temporary folder, files made by hand, and checks for success
 * and failure. Tests run inside the folder, so that messages name files without a path. */
#ifndef READ_SUPPORT_H
#define READ_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "data/read/read.h"

static enhope_context *ctx;
static char work_folder[] = "/tmp/enhope-read-XXXXXX";
static char start_folder[4096];

static inline int enter_folder(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    if (!ctx || !getcwd(start_folder, sizeof start_folder) || !mkdtemp(work_folder)) return -1;
    return chdir(work_folder);
}

static inline int leave_folder(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    char command[sizeof work_folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", work_folder);
    return chdir(start_folder) || system(command);
}

static inline void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static inline void write_gz(const char *name, const void *bytes, size_t size)
{
    gzFile f = gzopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(f), Z_OK);
}

/* The whole file; the caller frees. */
static inline unsigned char *slurp(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static inline enhope_dataset *read_ok(enhope_source source)
{
    enhope_dataset *data = NULL;
    if (enhope_dataset_read(ctx, &source, &data)) fail_msg("%s", enhope_error(ctx));
    assert_non_null(data);
    return data;
}

static inline void read_fails(enhope_source source, enhope_status status, const char *message)
{
    enhope_dataset *data = (enhope_dataset *)&source; /* outputs do not change on failure */
    assert_int_equal(enhope_dataset_read(ctx, &source, &data), status);
    assert_string_equal(enhope_error(ctx), message);
    assert_ptr_equal(data, &source);
}

static inline void assert_row(const enhope_dataset *data, int64_t i, const float *expected)
{
    float *row = calloc((size_t)data->x.H, sizeof *row);
    assert_int_equal(enhope_dataset_row(ctx, data, i, row), ENHOPE_OK);
    assert_memory_equal(row, expected, (size_t)data->x.H * sizeof *row);
    free(row);
}

static inline void assert_labels(const enhope_dataset *data, const int32_t *expected)
{
    assert_non_null(enhope_dataset_labels(data));
    assert_memory_equal(enhope_dataset_labels(data), expected, (size_t)data->x.n * sizeof *expected);
}

/* IDX: magic, sizes, values. Returns its length. */
static inline size_t make_idx(unsigned char *out, int type, int rank, const uint32_t *sizes, const void *values,
                              size_t bytes)
{
    const unsigned char magic[4] = {0, 0, (unsigned char)type, (unsigned char)rank};
    memcpy(out, magic, 4);
    for (int i = 0; i < rank; i++)
        for (int b = 0; b < 4; b++) out[4 + 4 * i + b] = (unsigned char)(sizes[i] >> (24 - 8 * b));
    memcpy(out + 4 + 4 * rank, values, bytes);
    return 4 + 4 * (size_t)rank + bytes;
}

/* NPY of version 1 with this dictionary. Returns its length. */
static inline size_t make_npy(unsigned char *out, const char *dictionary, const void *values, size_t bytes)
{
    const size_t length = strlen(dictionary);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)length;
    out[9] = (unsigned char)(length >> 8);
    memcpy(out + 10, dictionary, length);
    memcpy(out + 10 + length, values, bytes);
    return 10 + length + bytes;
}

/* A zip archive being made in memory. */
typedef struct zip_maker {
    unsigned char bytes[8192], directory[2048];
    size_t size, directory_size;
    unsigned count;
} zip_maker;

static inline void put(unsigned char *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static inline void zip_add(zip_maker *z, const char *name, const unsigned char *bytes, size_t size, int deflated)
{
    unsigned char packed[4096];
    size_t packed_size = size;
    const size_t name_size = strlen(name), offset = z->size;
    const unsigned long crc = crc32(0, bytes, (unsigned)size);
    if (deflated) {
        z_stream s;
        memset(&s, 0, sizeof s);
        assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        s.next_in = (unsigned char *)(uintptr_t)bytes;
        s.avail_in = (unsigned)size;
        s.next_out = packed;
        s.avail_out = sizeof packed;
        assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
        packed_size = s.total_out;
        deflateEnd(&s);
    } else {
        memcpy(packed, bytes, size);
    }
    unsigned char *local = z->bytes + z->size, *entry = z->directory + z->directory_size;
    memset(local, 0, 30);
    memset(entry, 0, 46);
    memcpy(local, "PK\3\4", 4);
    memcpy(entry, "PK\1\2", 4);
    put(local + 8, deflated ? 8 : 0, 2), put(entry + 10, deflated ? 8 : 0, 2);
    put(local + 14, crc, 4), put(entry + 16, crc, 4);
    put(local + 18, packed_size, 4), put(entry + 20, packed_size, 4);
    put(local + 22, size, 4), put(entry + 24, size, 4);
    put(local + 26, name_size, 2), put(entry + 28, name_size, 2);
    put(entry + 42, offset, 4);
    memcpy(local + 30, name, name_size), memcpy(entry + 46, name, name_size);
    memcpy(local + 30 + name_size, packed, packed_size);
    z->size += 30 + name_size + packed_size;
    z->directory_size += 46 + name_size;
    z->count++;
}

static inline void zip_write(zip_maker *z, const char *name)
{
    unsigned char *end = z->bytes + z->size + z->directory_size;
    memcpy(z->bytes + z->size, z->directory, z->directory_size);
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    put(end + 8, z->count, 2), put(end + 10, z->count, 2);
    put(end + 12, z->directory_size, 4);
    put(end + 16, z->size, 4);
    write_bytes(name, z->bytes, z->size + z->directory_size + 22);
}

#endif
