/* MATLAB 5 files made by hand, of either byte order, plain or packed. */
#ifndef MAT_SUPPORT_H
#define MAT_SUPPORT_H

#include "read_support.h"

enum { MAT_BYTES = 1 << 18 };
typedef struct mat_maker {
    unsigned char bytes[MAT_BYTES];
    size_t size;
    int big;
} mat_maker;

static inline void mat_put(mat_maker *m, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        m->bytes[m->size + (size_t)i] = (unsigned char)(value >> 8 * (m->big ? size - 1 - i : i));
    m->size += (size_t)size;
}

static inline void mat_begin(mat_maker *m, int big)
{
    *m = (mat_maker){.big = big};
    memset(m->bytes, ' ', 124);
    memcpy(m->bytes, "MATLAB 5.0 MAT-file", 19);
    memcpy(m->bytes + 124, big ? "\1\0MI" : "\0\1IM", 4);
    m->size = 128;
}

/* A part: its values have `size` bytes each, in the byte order of this machine. */
static inline void mat_part(mat_maker *m, unsigned type, int size, const void *values, size_t count)
{
    mat_put(m, type, 4);
    mat_put(m, count * (size_t)size, 4);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *from = (const unsigned char *)values + i * (size_t)size;
        uint64_t value = 0;
        const uint16_t probe = 1;
        for (int k = 0; k < size; k++)
            value |= (uint64_t)from[*(const unsigned char *)&probe ? k : size - 1 - k] << 8 * k;
        mat_put(m, value, size);
    }
    mat_put(m, 0, (int)((8 - count * (size_t)size % 8) % 8));
}

/* Begins a matrix; its values follow, and mat_end(). Returns where it began. */
static inline size_t mat_matrix(mat_maker *m, uint32_t class_and_flags, int32_t rows, int32_t columns, const char *name)
{
    const size_t start = m->size;
    mat_put(m, 14, 4);
    mat_put(m, 0, 4);
    mat_part(m, 6, 4, (const uint32_t[]){class_and_flags, 0}, 2);
    mat_part(m, 5, 4, (const int32_t[]){rows, columns}, 2);
    mat_part(m, 1, 1, name, strlen(name));
    return start;
}

static inline void mat_end(mat_maker *m, size_t start)
{
    const size_t end = m->size;
    m->size = start + 4;
    mat_put(m, end - start - 8, 4);
    m->size = end;
}

/* Replaces the element from `start` on by its zlib stream. */
static inline void mat_pack(mat_maker *m, size_t start)
{
    static unsigned char packed[MAT_BYTES];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, m->bytes + start, m->size - start), Z_OK);
    m->size = start;
    mat_put(m, 15, 4);
    mat_put(m, size, 4);
    memcpy(m->bytes + m->size, packed, size);
    m->size += size;
}

static inline void mat_doubles(mat_maker *m, const char *name, int32_t rows, int32_t columns, const double *x)
{
    const size_t start = mat_matrix(m, 6, rows, columns, name);
    mat_part(m, 9, 8, x, (size_t)rows * (size_t)columns);
    mat_end(m, start);
}

static inline void mat_write(const mat_maker *m, const char *name)
{
    write_bytes(name, m->bytes, m->size);
}

#endif
