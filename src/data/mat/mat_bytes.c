/* The bytes of a MATLAB 5 file:
 *
 *   128 bytes of header, ending in the version (0x0100) and "IM" (little-endian) or "MI" (big)
 *   elements: TYPE(4) BYTES(4) data, padded to 8; TYPE 14 a matrix, 15 a zlib stream of one element
 *   or, for up to 4 bytes, BYTES(2) TYPE(2) data(4), each a number in the file's byte order
 *
 * Every size is compared with the bytes that contain it: that of an element with the file, that of
 * a packed matrix with what its stream can hold, that of a part with the rest of its matrix.
 * Memory may therefore be allocated for any part. */
#include "data/mat/mat_bytes.h"

#include <string.h>

enum { HEADER = 128 };

enhope_status eh_mat_damaged(const eh_mat_cursor *c, const char *why)
{
    return eh_fail(c->ctx, ENHOPE_ERROR_FORMAT, "%s: variable %lld is damaged: %s", c->s.name, (long long)c->element,
                   why);
}

uint32_t eh_mat_word(const eh_mat_cursor *c, const unsigned char *p)
{
    return c->big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3]
                  : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

/* ---- bytes of an element ---- */

static enhope_status fetch_plain(eh_mat_cursor *c, unsigned char *to, size_t n)
{
    size_t got = 0;
    if ((int64_t)n > c->left) return eh_mat_damaged(c, "it ends early");
    EH_TRY(eh_stream_read(c->ctx, &c->s, to, n, &got));
    if (got < n) return eh_mat_damaged(c, "the file is truncated");
    c->left -= (int64_t)n;
    return ENHOPE_OK;
}

/* Unpacks up to avail_out bytes. */
static enhope_status inflate_more(eh_mat_cursor *c)
{
    if (c->z.avail_in == 0) {
        const size_t want = (size_t)eh_min(c->left, EH_MAT_CHUNK);
        EH_TRY(fetch_plain(c, c->in, want));
        c->z.next_in = c->in;
        c->z.avail_in = (unsigned)want;
    }
    const int code = inflate(&c->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return eh_fail_memory(c->ctx, "zlib", EH_MAT_CHUNK, 1);
    if (code != Z_OK && code != Z_STREAM_END) return eh_mat_damaged(c, "its compressed data is wrong or truncated");
    c->done = code == Z_STREAM_END;
    return ENHOPE_OK;
}

static enhope_status fetch(eh_mat_cursor *c, void *to, size_t n)
{
    if (!c->inflating) return fetch_plain(c, to, n);
    c->z.next_out = to;
    c->z.avail_out = (unsigned)n; /* sizes of parts have 32 bits */
    while (c->z.avail_out > 0) {
        if (c->done) return eh_mat_damaged(c, "it ends early");
        EH_TRY(inflate_more(c));
    }
    return ENHOPE_OK;
}

enhope_status eh_mat_skip(eh_mat_cursor *c, int64_t bytes, int64_t *left)
{
    *left -= bytes;
    while (bytes > 0) {
        const int64_t step = eh_min(bytes, EH_MAT_CHUNK);
        EH_TRY(fetch(c, c->skipped, (size_t)step));
        bytes -= step;
    }
    return ENHOPE_OK;
}

/* ---- parts of a matrix ---- */

enhope_status eh_mat_tag_read(eh_mat_cursor *c, int64_t *left, eh_mat_tag *t)
{
    unsigned char bytes[8];
    if (*left < 8) return eh_mat_damaged(c, "a part is missing");
    EH_TRY(fetch(c, bytes, sizeof bytes));
    *left -= 8;
    const uint32_t first = eh_mat_word(c, bytes);
    t->small = first >> 16 != 0;
    t->type = t->small ? first & 0xFFFF : first;
    t->bytes = t->small ? (int64_t)(first >> 16) : (int64_t)eh_mat_word(c, bytes + 4);
    memcpy(t->data, bytes + 4, sizeof t->data);
    if (t->small && t->bytes > 4) return eh_mat_damaged(c, "a short part is too long");
    if (!t->small && t->bytes > *left) return eh_mat_damaged(c, "a part exceeds the element that contains it");
    return ENHOPE_OK;
}

/* The last part of an unpacked matrix may lack its padding. */
static enhope_status skip_padding(eh_mat_cursor *c, const eh_mat_tag *t, int64_t *left)
{
    return eh_mat_skip(c, eh_min((8 - t->bytes % 8) % 8, *left), left);
}

enhope_status eh_mat_data(eh_mat_cursor *c, const eh_mat_tag *t, void *to, int64_t size, int64_t *left)
{
    if (t->bytes > size) return eh_mat_damaged(c, "a part is too long");
    if (t->small) {
        memcpy(to, t->data, (size_t)t->bytes);
        return ENHOPE_OK;
    }
    EH_TRY(fetch(c, to, (size_t)t->bytes));
    *left -= t->bytes;
    return skip_padding(c, t, left);
}

enhope_status eh_mat_skip_data(eh_mat_cursor *c, const eh_mat_tag *t, int64_t *left)
{
    if (t->small) return ENHOPE_OK;
    EH_TRY(eh_mat_skip(c, t->bytes, left));
    return skip_padding(c, t, left);
}

/* ---- elements ---- */

static enhope_status open_packed(eh_mat_cursor *c)
{
    enum { MAX_RATIO = 1032 }; /* of deflate */
    eh_mat_tag t;
    const int64_t packed = c->left;
    c->z = (z_stream){.next_in = NULL};
    if (inflateInit(&c->z) != Z_OK) return eh_fail_memory(c->ctx, "zlib", EH_MAT_CHUNK, 1);
    c->inflating = true;
    c->done = false;
    c->matrix = MAX_RATIO * packed;
    if (c->matrix < 8) return eh_mat_damaged(c, "it ends early");
    EH_TRY(eh_mat_tag_read(c, &c->matrix, &t));
    if (t.type != EH_MAT_MATRIX || t.small) return eh_mat_damaged(c, "it is not a matrix");
    c->matrix = t.bytes;
    return ENHOPE_OK;
}

enhope_status eh_mat_next(eh_mat_cursor *c, bool *found)
{
    unsigned char head[8];
    size_t got = 0;
    c->element++;
    EH_TRY(eh_stream_read(c->ctx, &c->s, head, sizeof head, &got));
    *found = got > 0;
    if (got == 0) return ENHOPE_OK;
    if (got < sizeof head) return eh_mat_damaged(c, "the file is truncated");
    const uint32_t type = eh_mat_word(c, head);
    c->matrix = c->left = (int64_t)eh_mat_word(c, head + 4);
    if (c->left > c->s.left) return eh_mat_damaged(c, "the file is truncated");
    if (type == EH_MAT_PACKED) return open_packed(c);
    return type == EH_MAT_MATRIX ? ENHOPE_OK : eh_mat_damaged(c, "it is not a matrix");
}

enhope_status eh_mat_finish(eh_mat_cursor *c)
{
    EH_TRY(eh_mat_skip(c, c->matrix, &c->matrix));
    if (c->inflating) { /* the stream and its checksum must end here */
        unsigned char more;
        c->z.next_out = &more;
        c->z.avail_out = 1;
        while (!c->done) {
            EH_TRY(inflate_more(c));
            if (c->z.avail_out == 0) return eh_mat_damaged(c, "its compressed data is wrong or truncated");
        }
        inflateEnd(&c->z);
        c->inflating = false;
    }
    return eh_mat_skip(c, c->left, &(int64_t){c->left});
}

/* ---- the file ---- */

static enhope_status read_head(eh_mat_cursor *c)
{
    unsigned char header[HEADER];
    size_t got = 0;
    const char *name = c->s.name;
    EH_TRY(eh_stream_read(c->ctx, &c->s, header, sizeof header, &got));
    const bool whole = got == HEADER, hdf = got >= 4 && memcmp(header, "\x89HDF", 4) == 0;
    if (hdf || (whole && memcmp(header + 124, "\0\2IM", 4) == 0))
        return eh_fail(c->ctx, ENHOPE_ERROR_FORMAT, "%s: is a MATLAB 7.3 file: save it with -v7", name);
    c->big = whole && memcmp(header + 124, "\1\0MI", 4) == 0;
    if (!c->big && !(whole && memcmp(header + 124, "\0\1IM", 4) == 0))
        return eh_fail(c->ctx, ENHOPE_ERROR_FORMAT, "%s: is not a MATLAB 5 file", name);
    if (c->s.left < 0)
        return eh_fail(c->ctx, ENHOPE_ERROR_FORMAT,
                       "%s: is compressed with gzip: expected a plain MATLAB file; unpack it first", name);
    return ENHOPE_OK;
}

enhope_status eh_mat_open(enhope_context *ctx, const char *path, eh_mat_cursor **out)
{
    eh_mat_cursor *c = NULL;
    EH_TRY(eh_stream_check(ctx, path));
    EH_TRY(eh_new(ctx, "a reading buffer", 1, sizeof *c, (void **)&c));
    c->ctx = ctx;
    enhope_status status = eh_stream_open(ctx, path, &c->s);
    if (!status) status = read_head(c);
    if (status) {
        eh_mat_close(c);
        c = NULL;
    }
    *out = c;
    return status;
}

void eh_mat_close(eh_mat_cursor *c)
{
    if (!c) return;
    if (c->inflating) inflateEnd(&c->z);
    eh_stream_close(&c->s);
    eh_free(c);
}
