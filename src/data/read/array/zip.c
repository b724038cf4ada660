/* The members of a zip archive (an .npz is one), stored or deflated, with zip64 sizes.
 *
 * From the end backwards: end record (PK 05 06) -> central directory (PK 01 02, one entry per
 * member) -> local header (PK 03 04) before the bytes of each member. Sizes in the central
 * directory are checked against the size of the file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "data/read/read.h"

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_COMMENT = 65535,
    BUFFER = EH_BUFFER(1 << 16)
};

static uint64_t number(const unsigned char *p, int size)
{
    uint64_t v = 0;
    for (int i = size - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static bool is_record(const unsigned char *p, unsigned char a, unsigned char b)
{
    return p[0] == 'P' && p[1] == 'K' && p[2] == a && p[3] == b;
}

static enhope_status read_at(enhope_context *ctx, const eh_zip *zip, uint64_t offset, void *to, size_t size)
{
    if (offset > (uint64_t)zip->bytes || size > (uint64_t)zip->bytes - offset)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip directory points beyond the file, which is damaged",
                       zip->path);
    if (fseek(zip->file, (long)offset, SEEK_SET) != 0 || eh_fread(to, size, zip->file) != size)
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", zip->path, strerror(errno));
    return ENHOPE_OK;
}

/* ---- the directory ---- */

/* Replaces sizes that are all ones by those of the zip64 field (id 1), in their order. */
static void read_zip64(const unsigned char *extra, size_t length, uint64_t *size, uint64_t *packed, uint64_t *offset)
{
    uint64_t *const field[3] = {size, packed, offset};
    for (size_t at = 0; length - at >= 4;) {
        const size_t id = (size_t)number(extra + at, 2), bytes = (size_t)number(extra + at + 2, 2);
        if (bytes > length - at - 4) return;
        if (id == 1) {
            const unsigned char *p = extra + at + 4;
            size_t left = bytes;
            for (int i = 0; i < 3; i++) {
                if (*field[i] != UINT32_MAX || left < 8) continue;
                *field[i] = number(p, 8);
                p += 8;
                left -= 8;
            }
            return;
        }
        at += 4 + bytes;
    }
}

static enhope_status parse_directory(enhope_context *ctx, eh_zip *zip, const unsigned char *p, size_t size,
                                     uint64_t count)
{
    if (count > size / ENTRY_SIZE)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip directory is damaged", zip->path);
    EH_TRY(eh_new(ctx, "the zip directory", (int64_t)count, sizeof *zip->member, (void **)&zip->member));
    for (uint64_t i = 0; i < count; i++) {
        const size_t name = size < ENTRY_SIZE ? 0 : (size_t)number(p + 28, 2);
        const size_t extra = size < ENTRY_SIZE ? 0 : (size_t)number(p + 30, 2);
        const size_t comment = size < ENTRY_SIZE ? 0 : (size_t)number(p + 32, 2);
        if (size < ENTRY_SIZE || !is_record(p, 1, 2) || size - ENTRY_SIZE < name + extra + comment)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip directory is damaged", zip->path);
        eh_zip_member *m = &zip->member[i];
        const uint64_t flags = number(p + 8, 2), method = number(p + 10, 2);
        uint64_t packed = number(p + 20, 4), whole = number(p + 24, 4), offset = number(p + 42, 4);
        read_zip64(p + ENTRY_SIZE + name, extra, &whole, &packed, &offset);
        m->name = eh_alloc(name + 1, 1);
        if (!m->name) return eh_fail_memory(ctx, "the zip directory", name + 1, 1);
        memcpy(m->name, p + ENTRY_SIZE, name);
        zip->count++;
        if (packed > (uint64_t)zip->bytes || offset > (uint64_t)zip->bytes || whole > INT64_MAX)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip directory points beyond the file, which is damaged",
                           zip->path);
        m->packed = (int64_t)packed;
        m->size = (int64_t)whole;
        m->offset = (int64_t)offset;
        m->crc = (uint32_t)number(p + 16, 4);
        m->deflated = method == 8;
        m->readable = !(flags & 1) && (method == 0 || method == 8);
        p += ENTRY_SIZE + name + extra + comment;
        size -= ENTRY_SIZE + name + extra + comment;
    }
    return ENHOPE_OK;
}

/* Finds the offset, the size and the number of entries of the directory. */
static enhope_status find_directory(enhope_context *ctx, const eh_zip *zip, uint64_t *offset, uint64_t *size,
                                    uint64_t *count)
{
    enhope_status status = ENHOPE_OK;
    unsigned char *tail = NULL, end64[END64_SIZE];
    const int64_t max = END_SIZE + MAX_COMMENT + LOCATOR_SIZE;
    const int64_t length = zip->bytes < max ? zip->bytes : max;
    EH_TRY(eh_new(ctx, "the end of a zip file", length, 1, (void **)&tail));
    EH_CHECK(read_at(ctx, zip, (uint64_t)(zip->bytes - length), tail, (size_t)length));
    int64_t at = length - END_SIZE;
    while (at >= 0 && !is_record(tail + at, 5, 6)) at--;
    if (at < 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                         "%s: the end of the zip directory is missing: the file is truncated or not an NPZ file",
                         zip->path));
    *count = number(tail + at + 10, 2);
    *size = number(tail + at + 12, 4);
    *offset = number(tail + at + 16, 4);
    if ((*count == UINT16_MAX || *size == UINT32_MAX || *offset == UINT32_MAX) && at >= LOCATOR_SIZE &&
        is_record(tail + at - LOCATOR_SIZE, 6, 7)) {
        EH_CHECK(read_at(ctx, zip, number(tail + at - LOCATOR_SIZE + 8, 8), end64, sizeof end64));
        if (!is_record(end64, 6, 6))
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip64 directory is damaged", zip->path));
        *count = number(end64 + 32, 8);
        *size = number(end64 + 40, 8);
        *offset = number(end64 + 48, 8);
    }
    if (*offset > (uint64_t)zip->bytes || *size > (uint64_t)zip->bytes - *offset)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the zip directory points beyond the file, which is damaged",
                         zip->path));
cleanup:
    eh_free(tail);
    return status;
}

enhope_status eh_zip_open(enhope_context *ctx, const char *path, eh_zip *zip)
{
    enhope_status status = ENHOPE_OK;
    unsigned char *directory = NULL;
    uint64_t offset, size, count;
    *zip = (eh_zip){.path = path, .file = fopen(path, "rb")};
    if (!zip->file) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (fseek(zip->file, 0, SEEK_END) != 0 || (zip->bytes = ftell(zip->file)) < 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno)));
    EH_CHECK(find_directory(ctx, zip, &offset, &size, &count));
    EH_CHECK(eh_new(ctx, "the zip directory", (int64_t)size, 1, (void **)&directory));
    EH_CHECK(read_at(ctx, zip, offset, directory, (size_t)size));
    EH_CHECK(parse_directory(ctx, zip, directory, (size_t)size, count));
cleanup:
    eh_free(directory);
    if (status) eh_zip_close(zip);
    return status;
}

const eh_zip_member *eh_zip_find(const eh_zip *zip, const char *name)
{
    for (int64_t i = 0; i < zip->count; i++)
        if (strcmp(zip->member[i].name, name) == 0) return &zip->member[i];
    return NULL;
}

void eh_zip_close(eh_zip *zip)
{
    if (zip->file) fclose(zip->file);
    for (int64_t i = 0; i < zip->count; i++) eh_free(zip->member[i].name);
    eh_free(zip->member);
    *zip = (eh_zip){.path = NULL};
}

/* ---- one member as a stream ---- */

typedef struct unzip {
    FILE *file;
    int64_t packed_left;
    uint32_t crc, expected_crc;
    int64_t size_left;
    bool deflated, ended;
    z_stream z;
    unsigned char buffer[BUFFER];
} unzip;

static enhope_status fail_member(enhope_context *ctx, const eh_stream *s, const char *why)
{
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: %s", s->name, why);
}

/* Reads bytes of the archive that belong to the member. */
static enhope_status fetch(enhope_context *ctx, eh_stream *s, unzip *u, void *to, size_t want, size_t *got)
{
    if ((int64_t)want > u->packed_left) want = (size_t)u->packed_left;
    *got = eh_fread(to, want, u->file);
    if (*got < want) return fail_member(ctx, s, "the zip file ends early: it is truncated");
    u->packed_left -= (int64_t)*got;
    return ENHOPE_OK;
}

static enhope_status inflate_some(enhope_context *ctx, eh_stream *s, unzip *u, void *to, size_t want, size_t *got)
{
    u->z.next_out = to;
    u->z.avail_out = (unsigned)want;
    while (u->z.avail_out > 0 && !u->ended) {
        if (u->z.avail_in == 0) {
            size_t n;
            EH_TRY(fetch(ctx, s, u, u->buffer, sizeof u->buffer, &n));
            u->z.next_in = u->buffer;
            u->z.avail_in = (unsigned)n;
        }
        const int code = inflate(&u->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            u->ended = true;
        else if (code == Z_MEM_ERROR)
            return eh_fail_memory(ctx, "zip", BUFFER, 1);
        else if (code != Z_OK)
            return fail_member(ctx, s, "the compressed data is damaged");
    }
    *got = want - u->z.avail_out;
    return ENHOPE_OK;
}

static enhope_status unzip_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    unzip *u = s->state;
    size_t done = 0;
    while (done < want) {
        const size_t step = want - done < BUFFER ? want - done : BUFFER;
        char *at = (char *)to + done;
        size_t n = 0;
        EH_TRY(u->deflated ? inflate_some(ctx, s, u, at, step, &n) : fetch(ctx, s, u, at, step, &n));
        if (n == 0) break;
        u->crc = (uint32_t)crc32(u->crc, (const Bytef *)at, (unsigned)n);
        u->size_left -= (int64_t)n;
        done += n;
    }
    if (done < want && (u->size_left != 0 || u->crc != u->expected_crc))
        return fail_member(ctx, s,
                           u->size_left ? "the unpacked size does not match the directory: it is damaged"
                                        : "the checksum is wrong: the file is damaged");
    *got = done;
    return ENHOPE_OK;
}

static void unzip_close(eh_stream *s)
{
    unzip *u = s->state;
    if (u->deflated) inflateEnd(&u->z);
    eh_free(u);
}

enhope_status eh_zip_stream(enhope_context *ctx, eh_zip *zip, const eh_zip_member *m, const char *name, eh_stream *s)
{
    unsigned char local[LOCAL_SIZE];
    if (!m->readable)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: is encrypted or uses an unsupported compression: expected stored or deflated", name);
    EH_TRY(read_at(ctx, zip, (uint64_t)m->offset, local, sizeof local));
    if (!is_record(local, 3, 4)) return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: its zip header is damaged", name);
    const int64_t start = m->offset + LOCAL_SIZE + (int64_t)number(local + 26, 2) + (int64_t)number(local + 28, 2);
    if (start > zip->bytes || m->packed > zip->bytes - start || (!m->deflated && m->size != m->packed))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: its zip header points beyond the file: it is damaged", name);
    if (fseek(zip->file, (long)start, SEEK_SET) != 0)
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", zip->path, strerror(errno));
    unzip *u = NULL;
    EH_TRY(eh_new(ctx, "a zip buffer", 1, sizeof *u, (void **)&u));
    u->file = zip->file;
    u->packed_left = m->packed;
    u->size_left = m->size;
    u->expected_crc = m->crc;
    u->deflated = m->deflated;
    if (m->deflated && inflateInit2(&u->z, -MAX_WBITS) != Z_OK) { /* raw: no zlib header */
        eh_free(u);
        return eh_fail_memory(ctx, "zip", BUFFER, 1);
    }
    *s = (eh_stream){.name = name,
                     .state = u,
                     .read = unzip_read,
                     .close = unzip_close,
                     .left = m->deflated ? -1 : m->size,
                     .stored = m->packed};
    return ENHOPE_OK;
}
