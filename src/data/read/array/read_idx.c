/* IDX, the format of MNIST, plain or gzip:
 *
 *   00 00 TYPE RANK   then RANK sizes of 4 bytes, then the values, row-major; all big-endian
 *
 * TYPE: 08 uint8, 09 int8, 0b int16, 0c int32, 0d float, 0e double. */
#include <string.h>

#include "data/read/read.h"

static bool known_type(unsigned char type, eh_array *a)
{
    static const struct {
        unsigned char type;
        char kind;
        int64_t size;
    } types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2}, {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != type) continue;
        a->kind = types[i].kind;
        a->size = types[i].size;
        return true;
    }
    return false;
}

enhope_status eh_idx_header(enhope_context *ctx, eh_stream *s, eh_array *a)
{
    unsigned char magic[4], sizes[4 * EH_RANK];
    size_t got;
    EH_TRY(eh_stream_read(ctx, s, magic, sizeof magic, &got));
    if (got < sizeof magic)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: ends within the IDX header: the file is truncated", s->name);
    if (magic[0] != 0 || magic[1] != 0 || !known_type(magic[2], a) || magic[3] < 1 || magic[3] > EH_RANK)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: wrong magic %02x %02x %02x %02x: expected IDX, 00 00, a type (08, 09, 0b to 0e), "
                       "1 to %d dimensions",
                       s->name, magic[0], magic[1], magic[2], magic[3], EH_RANK);
    a->big = true;
    a->rank = magic[3];
    EH_TRY(eh_stream_read(ctx, s, sizes, 4 * (size_t)a->rank, &got));
    if (got < 4 * (size_t)a->rank)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: ends within the IDX header: the file is truncated", s->name);
    for (int i = 0; i < a->rank; i++) {
        const unsigned char *p = sizes + 4 * i;
        a->shape[i] = (int64_t)p[0] << 24 | (int64_t)p[1] << 16 | (int64_t)p[2] << 8 | (int64_t)p[3];
    }
    return ENHOPE_OK;
}
