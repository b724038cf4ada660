/* Validation of a MATLAB 5 file before libmatio opens it. libmatio trusts the sizes in the file, so
 * they are compared here with the bytes that are present.
 *
 *   128 bytes of header, ending in the version (0x0100) and "IM" (little-endian) or "MI" (big)
 *   elements: TYPE(4) BYTES(4) data, padded to 8; TYPE 14 a matrix, 15 a zlib stream of one element
 *   or, for up to 4 bytes, BYTES(2) TYPE(2) data(4), each a number in the file's byte order
 *   a matrix: flags, dimensions, name, then, by class,
 *       values | sparse rows, column starts, values | matrices of a cell */
#include <string.h>
#include <zlib.h>

#include "data/read/read.h"

enum {
    HEADER = 128,
    CHUNK = 1 << 14,
    MAX_DEPTH = 16,
    MAX_DIMENSIONS = 32,
    TYPE_INT8 = 1,
    TYPE_INT32 = 5,
    TYPE_UINT32 = 6,
    TYPE_MATRIX = 14,
    TYPE_PACKED = 15,
    TYPE_UTF8 = 16,
    CLASS_CELL = 1,
    CLASS_STRUCT = 2,
    CLASS_OBJECT = 3,
    CLASS_CHAR = 4,
    CLASS_SPARSE = 5,
    CLASS_DOUBLE = 6,
    CLASS_UINT64 = 15,
    CLASS_FUNCTION = 16,
    FLAG_COMPLEX = 0x0800
};

/* Position in one top-level element. */
typedef struct cursor {
    enhope_context *ctx;
    eh_stream *s;
    int number;   /* of the variable, for messages */
    bool big;     /* big-endian */
    int64_t left; /* bytes of the element still in the file */
    bool packed;
    bool ended; /* the zlib stream */
    z_stream z;
    unsigned char in[CHUNK], out[CHUNK];
} cursor;

typedef struct tag {
    uint32_t type;
    int64_t bytes;
    bool small; /* its data is in these 4 bytes */
    unsigned char data[4];
} tag;

static enhope_status fail_damaged(const cursor *c, const char *why)
{
    return eh_fail(c->ctx, ENHOPE_ERROR_FORMAT, "%s: variable %d is damaged: %s", c->s->name, c->number, why);
}

static enhope_status fetch_plain(cursor *c, unsigned char *to, size_t n)
{
    size_t got = 0;
    if ((int64_t)n > c->left) return fail_damaged(c, "it ends early");
    EH_TRY(eh_stream_read(c->ctx, c->s, to, n, &got));
    if (got < n) return fail_damaged(c, "the file is truncated");
    c->left -= (int64_t)n;
    return ENHOPE_OK;
}

/* Reads more compressed bytes if all are used. */
static enhope_status refill(cursor *c)
{
    if (c->z.avail_in > 0) return ENHOPE_OK;
    const size_t want = c->left < CHUNK ? (size_t)c->left : CHUNK;
    EH_TRY(fetch_plain(c, c->in, want));
    c->z.next_in = c->in;
    c->z.avail_in = (unsigned)want;
    return ENHOPE_OK;
}

static enhope_status fetch_packed(cursor *c, unsigned char *to, size_t n)
{
    c->z.next_out = to;
    c->z.avail_out = (unsigned)n;
    while (c->z.avail_out > 0) {
        if (c->ended) return fail_damaged(c, "it ends early");
        EH_TRY(refill(c));
        const int code = inflate(&c->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            c->ended = true;
        else if (code == Z_MEM_ERROR)
            return eh_fail_memory(c->ctx, "zlib", CHUNK, 1);
        else if (code != Z_OK)
            return fail_damaged(c, "its compressed data is wrong or truncated");
    }
    return ENHOPE_OK;
}

static enhope_status fetch(cursor *c, void *to, size_t n)
{
    return c->packed ? fetch_packed(c, to, n) : fetch_plain(c, to, n);
}

/* Skips bytes of the parent, of which *left remain. */
static enhope_status pass(cursor *c, int64_t bytes, int64_t *left)
{
    if (bytes > *left) return fail_damaged(c, "a part exceeds the element that contains it");
    *left -= bytes;
    while (bytes > 0) {
        const size_t step = bytes < CHUNK ? (size_t)bytes : CHUNK;
        EH_TRY(fetch(c, c->out, step));
        bytes -= (int64_t)step;
    }
    return ENHOPE_OK;
}

static uint32_t word(const cursor *c, const unsigned char *p)
{
    return c->big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3]
                  : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

static enhope_status read_tag(cursor *c, int64_t *left, tag *t)
{
    unsigned char bytes[8];
    if (*left < 8) return fail_damaged(c, "a part is missing");
    EH_TRY(fetch(c, bytes, sizeof bytes));
    *left -= 8;
    const uint32_t first = word(c, bytes);
    t->small = first >> 16 != 0;
    t->type = t->small ? first & 0xFFFF : first;
    t->bytes = t->small ? (int64_t)(first >> 16) : (int64_t)word(c, bytes + 4);
    memcpy(t->data, bytes + 4, sizeof t->data);
    if (t->small && t->bytes > 4) return fail_damaged(c, "a short part is too long");
    return ENHOPE_OK;
}

/* Reads the data of a part, up to size bytes of it into `to`, and skips its padding. */
static enhope_status read_data(cursor *c, const tag *t, void *to, size_t size, int64_t *left)
{
    if (t->bytes > (int64_t)size) return fail_damaged(c, "a part is too long");
    if (t->small) {
        memcpy(to, t->data, (size_t)t->bytes);
        return ENHOPE_OK;
    }
    if (t->bytes > *left) return fail_damaged(c, "a part exceeds the element that contains it");
    EH_TRY(fetch(c, to, (size_t)t->bytes));
    *left -= t->bytes;
    return pass(c, (8 - t->bytes % 8) % 8, left);
}

/* Skips the data of a part. The last part of an uncompressed matrix may lack its padding. */
static enhope_status skip_data(cursor *c, const tag *t, int64_t *left)
{
    if (t->small) return ENHOPE_OK;
    EH_TRY(pass(c, t->bytes, left));
    const int64_t padding = (8 - t->bytes % 8) % 8;
    return pass(c, padding < *left ? padding : *left, left);
}

static int64_t type_size(uint32_t type)
{
    static const unsigned char size[19] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
    return type < sizeof size ? size[type] : 0;
}

/* Checks for `count` values, or for any number if count is -1. */
static enhope_status check_values(cursor *c, int64_t count, bool text, int64_t *left)
{
    tag t = {.type = 0};
    EH_TRY(read_tag(c, left, &t));
    const int64_t size = type_size(t.type);
    if (size == 0 || (!text && t.type >= TYPE_UTF8) || t.bytes % size)
        return fail_damaged(c, "its values have an unknown type");
    /* a character in UTF-8 takes one byte or more */
    const bool fits = count < 0 || t.bytes / size == count || (t.type == TYPE_UTF8 && t.bytes / size > count);
    if (!fits) return fail_damaged(c, "its dimensions do not match its values");
    return skip_data(c, &t, left);
}

static enhope_status check_matrix(cursor *c, int64_t bytes, int depth);

static enhope_status check_nested(cursor *c, int64_t count, int depth, int64_t *left)
{
    for (int64_t i = 0; i < count;
         i++) { /* each takes 8 bytes or more, so the loop is bounded by the size of the file */
        tag t = {.type = 0};
        EH_TRY(read_tag(c, left, &t));
        if (t.type != TYPE_MATRIX || t.small) return fail_damaged(c, "an entry is not a matrix");
        if (t.bytes > *left) return fail_damaged(c, "a part exceeds the element that contains it");
        *left -= t.bytes;
        EH_TRY(check_matrix(c, t.bytes, depth + 1));
    }
    return ENHOPE_OK;
}

static enhope_status check_struct(cursor *c, bool object, int64_t count, int depth, int64_t *left)
{
    tag t = {.type = 0};
    unsigned char length_bytes[4];
    int64_t fields;
    if (object) {
        EH_TRY(read_tag(c, left, &t));
        EH_TRY(skip_data(c, &t, left));
    }
    EH_TRY(read_tag(c, left, &t));
    if (t.type != TYPE_INT32 || t.bytes != 4) return fail_damaged(c, "its field names are wrong");
    EH_TRY(read_data(c, &t, length_bytes, sizeof length_bytes, left));
    const int64_t length = word(c, length_bytes);
    EH_TRY(read_tag(c, left, &t));
    if (length < 1 || t.type != TYPE_INT8 || t.bytes % length) return fail_damaged(c, "its field names are wrong");
    fields = t.bytes / length;
    EH_TRY(skip_data(c, &t, left));
    if (!eh_mul(count, fields, &fields)) return fail_damaged(c, "its dimensions overflow");
    return check_nested(c, fields, depth, left);
}

static enhope_status check_sparse(cursor *c, int64_t rows, int64_t columns, bool complex, int64_t *left)
{
    /* a row without values takes no byte in the file but takes memory */
    if (rows > (int64_t)1 << 20 && rows / 64 > c->s->stored)
        return fail_damaged(c, "it claims more rows than the file can contain");
    EH_TRY(check_values(c, -1, false, left));
    EH_TRY(check_values(c, columns + 1, false, left));
    EH_TRY(check_values(c, -1, false, left));
    return complex ? check_values(c, -1, false, left) : ENHOPE_OK;
}

static enhope_status check_matrix(cursor *c, int64_t bytes, int depth)
{
    tag t = {.type = 0};
    unsigned char flags[8], sides[4 * MAX_DIMENSIONS];
    int64_t left = bytes, count = 1;
    if (bytes == 0) return ENHOPE_OK; /* an empty entry */
    if (depth > MAX_DEPTH) return fail_damaged(c, "it is nested too deep");
    EH_TRY(read_tag(c, &left, &t));
    if (t.type != TYPE_UINT32 || t.bytes != 8) return fail_damaged(c, "its flags are wrong");
    EH_TRY(read_data(c, &t, flags, sizeof flags, &left));
    const uint32_t kind = word(c, flags) & 0xFF;
    const bool complex = (word(c, flags) & FLAG_COMPLEX) != 0;
    if (kind < CLASS_CELL || kind > CLASS_FUNCTION) return pass(c, left, &left);
    EH_TRY(read_tag(c, &left, &t));
    if (t.type != TYPE_INT32 || t.bytes < 8 || t.bytes % 4) return fail_damaged(c, "its dimensions are wrong");
    EH_TRY(read_data(c, &t, sides, sizeof sides, &left));
    for (int64_t i = 0; i < t.bytes / 4; i++) {
        const uint32_t side = word(c, sides + 4 * i);
        if (side > INT32_MAX || !eh_mul(count, side, &count)) return fail_damaged(c, "its dimensions overflow");
    }
    const int64_t rows = word(c, sides), columns = word(c, sides + 4);
    const bool flat = t.bytes == 8;
    EH_TRY(read_tag(c, &left, &t));
    if (t.type != TYPE_INT8) return fail_damaged(c, "its name is wrong");
    EH_TRY(skip_data(c, &t, &left));
    if (kind == CLASS_CELL) {
        EH_TRY(check_nested(c, count, depth, &left));
    } else if (kind == CLASS_STRUCT || kind == CLASS_OBJECT) {
        EH_TRY(check_struct(c, kind == CLASS_OBJECT, count, depth, &left));
    } else if (kind == CLASS_SPARSE) {
        if (!flat) return fail_damaged(c, "its dimensions are wrong");
        EH_TRY(check_sparse(c, rows, columns, complex, &left));
    } else if (kind == CLASS_FUNCTION) {
        EH_TRY(check_nested(c, 1, depth, &left));
    } else {
        EH_TRY(check_values(c, count, kind == CLASS_CHAR, &left));
        if (complex) EH_TRY(check_values(c, count, false, &left));
    }
    return pass(c, left, &left);
}

static enhope_status check_packed(cursor *c)
{
    tag t = {.type = 0};
    int64_t left = 8;
    EH_TRY(read_tag(c, &left, &t));
    if (t.type != TYPE_MATRIX || t.small) return fail_damaged(c, "it is not a matrix");
    EH_TRY(check_matrix(c, t.bytes, 0));
    /* the stream and its checksum must end here */
    unsigned char more;
    c->z.next_out = &more;
    c->z.avail_out = 1;
    while (!c->ended) {
        EH_TRY(refill(c));
        const int code = inflate(&c->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            c->ended = true;
        else if (code != Z_OK || c->z.avail_out == 0)
            return fail_damaged(c, "its compressed data is wrong or truncated");
    }
    return ENHOPE_OK;
}

/* Checks the next top-level element; *found is false at the end of the file. */
static enhope_status check_element(cursor *c, bool *found)
{
    unsigned char head[8];
    size_t got = 0;
    enhope_status status = ENHOPE_OK;
    EH_TRY(eh_stream_read(c->ctx, c->s, head, sizeof head, &got));
    *found = got > 0;
    if (got == 0) return ENHOPE_OK;
    if (got < sizeof head) return fail_damaged(c, "the file is truncated");
    const uint32_t type = word(c, head);
    c->left = (int64_t)word(c, head + 4);
    if (c->s->left >= 0 && c->left > c->s->left) return fail_damaged(c, "the file is truncated");
    if (type == TYPE_PACKED) {
        memset(&c->z, 0, sizeof c->z);
        if (inflateInit(&c->z) != Z_OK) return eh_fail_memory(c->ctx, "zlib", CHUNK, 1);
        c->packed = true;
        c->ended = false;
        status = check_packed(c);
        inflateEnd(&c->z);
        c->packed = false;
    } else if (type == TYPE_MATRIX) {
        status = check_matrix(c, c->left, 0);
    } else {
        status = fail_damaged(c, "it is not a matrix");
    }
    if (status) return status;
    return pass(c, c->left, &(int64_t){c->left});
}

enhope_status eh_mat_check(enhope_context *ctx, const char *path)
{
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    cursor *c = NULL;
    unsigned char header[HEADER];
    size_t got = 0;
    bool found = true;
    EH_TRY(eh_stream_open(ctx, path, &s));
    EH_CHECK(eh_stream_read(ctx, &s, header, sizeof header, &got));
    if (got >= 4 && memcmp(header, "\x89HDF", 4) == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is a MATLAB 7.3 file: save it with -v7", path));
    const bool little = got == HEADER && memcmp(header + 124, "\0\1IM", 4) == 0;
    const bool big = got == HEADER && memcmp(header + 124, "\1\0MI", 4) == 0;
    if (!little && !big && got == HEADER && memcmp(header + 124, "\0\2IM", 4) == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is a MATLAB 7.3 file: save it with -v7", path));
    if (!little && !big) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is not a MATLAB 5 file", path));
    EH_CHECK(eh_new(ctx, "a reading buffer", 1, sizeof *c, (void **)&c));
    *c = (cursor){.ctx = ctx, .s = &s, .big = big};
    while (found) {
        c->number++;
        EH_CHECK(check_element(c, &found));
    }
cleanup:
    eh_free(c);
    eh_stream_close(&s);
    return status;
}
