/* NPY, the NumPy format of one array, versions 1 to 3:
 *
 *   93 'NUMPY' MAJOR MINOR LENGTH(2 or 4 bytes, little-endian)
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }   LENGTH bytes, space-padded
 *   the values
 *
 * The dictionary is Python text. Exactly these three keys are accepted, in any order. Nothing in it
 * is executed. */
#include <string.h>

#include "data/read/read.h"

enum { MAX_HEADER = 1 << 16, MAX_TEXT = 1 << 16 };

/* ---- the dictionary ---- */

static void skip_spaces(const char **at)
{
    while (**at == ' ' || **at == '\n' || **at == '\t') (*at)++;
}

/* Skips spaces and expects this character. */
static bool parse_char(const char **at, char c)
{
    skip_spaces(at);
    if (**at != c) return false;
    (*at)++;
    return true;
}

/* Parses a quoted text without escapes. */
static bool parse_text(const char **at, char *text, size_t size)
{
    skip_spaces(at);
    const char quote = **at;
    if (quote != '\'' && quote != '"') return false;
    const char *end = strchr(*at + 1, quote);
    if (!end || (size_t)(end - *at) > size) return false;
    const size_t length = (size_t)(end - *at) - 1;
    memcpy(text, *at + 1, length);
    text[length] = '\0';
    *at = end + 1;
    return true;
}

static bool parse_number(const char **at, int64_t *out)
{
    skip_spaces(at);
    int64_t value = 0;
    if (**at < '0' || **at > '9') return false;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (!eh_mul(value, 10, &value) || __builtin_add_overflow(value, (int64_t)(**at - '0'), &value)) return false;
    if (**at == 'L') (*at)++; /* Python 2 wrote 3L */
    *out = value;
    return true;
}

/* (), (3,), (3, 4) */
static bool parse_shape(const char **at, eh_array *a)
{
    a->rank = 0;
    if (!parse_char(at, '(')) return false;
    while (!parse_char(at, ')')) {
        if (a->rank == EH_RANK || !parse_number(at, &a->shape[a->rank++])) return false;
        if (parse_char(at, ',')) continue;
        if (!parse_char(at, ')')) return false;
        break;
    }
    return true;
}

static bool parse_bool(const char **at, bool *out)
{
    skip_spaces(at);
    *out = strncmp(*at, "True", 4) == 0;
    if (!*out && strncmp(*at, "False", 5) != 0) return false;
    *at += *out ? 4 : 5;
    return true;
}

/* '<f4', '|u1', '>i8', '<U5' */
static bool known_type(const char *descr, eh_array *a)
{
    const char *at = descr;
    a->big = *at == '>';
    if (*at == '<' || *at == '>' || *at == '|' || *at == '=') at++;
    a->kind = *at == 'a' ? 'S' : *at;
    if (*at) at++;
    if (!parse_number(&at, &a->size) || *at != '\0' || a->size < 1) return false;
    const int64_t n = a->size;
    switch (a->kind) {
    case 'b': return n == 1;
    case 'u':
    case 'i': return n == 1 || n == 2 || n == 4 || n == 8;
    case 'f': return n == 2 || n == 4 || n == 8;
    case 'U': a->size = n <= MAX_TEXT ? 4 * n : n; return n <= MAX_TEXT;
    case 'S': return n <= MAX_TEXT;
    default: return false;
    }
}

static enhope_status parse_header(enhope_context *ctx, const char *name, const char *text, eh_array *a)
{
    char key[32], descr[64] = "";
    bool has_descr = false, has_order = false, has_shape = false, ok = true;
    const char *at = text;
    ok = parse_char(&at, '{');
    while (ok && !parse_char(&at, '}')) {
        ok = parse_text(&at, key, sizeof key) && parse_char(&at, ':');
        if (!ok) break;
        if (strcmp(key, "descr") == 0 && !has_descr) {
            skip_spaces(&at);
            if (*at == '[')
                return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains records: expected a plain array of numbers",
                               name);
            ok = has_descr = parse_text(&at, descr, sizeof descr);
        } else if (strcmp(key, "fortran_order") == 0 && !has_order) {
            ok = has_order = parse_bool(&at, &a->fortran);
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            ok = has_shape = parse_shape(&at, a);
        } else {
            ok = false;
        }
        if (ok && !parse_char(&at, ',')) {
            ok = parse_char(&at, '}');
            break;
        }
    }
    skip_spaces(&at);
    if (!ok || *at != '\0' || !has_descr || !has_order || !has_shape)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: invalid NPY header: expected {'descr': ..., 'fortran_order': ..., "
                       "'shape': ...}",
                       name);
    if (!known_type(descr, a))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: unsupported type '%s': expected booleans, integers, floats or text", name, descr);
    if (a->rank < 1) return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains a single value: expected an array", name);
    return ENHOPE_OK;
}

/* ---- the file ---- */

static enhope_status read_exactly(enhope_context *ctx, eh_stream *s, void *to, size_t want)
{
    size_t got;
    EH_TRY(eh_stream_read(ctx, s, to, want, &got));
    if (got < want)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: ends within the NPY header: the file is truncated", s->name);
    return ENHOPE_OK;
}

enhope_status eh_npy_header(enhope_context *ctx, eh_stream *s, eh_array *a)
{
    enhope_status status = ENHOPE_OK;
    unsigned char magic[8], count[4] = {0};
    char *header = NULL;
    EH_TRY(read_exactly(ctx, s, magic, sizeof magic));
    if (memcmp(magic, "\x93NUMPY", 6) != 0)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: wrong magic %02x %02x %02x %02x: expected NPY, 93 4e 55 4d",
                       s->name, magic[0], magic[1], magic[2], magic[3]);
    if (magic[6] < 1 || magic[6] > 3)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: unknown NPY version %d.%d: expected 1 to 3", s->name, magic[6],
                       magic[7]);
    EH_TRY(read_exactly(ctx, s, count, magic[6] == 1 ? 2 : 4));
    const uint32_t length =
        (uint32_t)count[0] | (uint32_t)count[1] << 8 | (uint32_t)count[2] << 16 | (uint32_t)count[3] << 24;
    if (length > MAX_HEADER)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: an NPY header of %lu bytes: expected at most %d", s->name,
                       (unsigned long)length, MAX_HEADER);
    EH_TRY(eh_new(ctx, "an NPY header", (int64_t)length + 1, 1, (void **)&header));
    EH_CHECK(read_exactly(ctx, s, header, length));
    EH_CHECK(parse_header(ctx, s->name, header, a));
cleanup:
    eh_free(header);
    return status;
}
