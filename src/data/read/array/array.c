/* Arrays of binary files (IDX, NPY): converts elements of any type and byte order to rows or
 * labels.
 *
 * A header may claim any size. The claim is compared with the size of the file if that is known. If
 * not (gzip), memory grows with the bytes that actually arrive. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/read/read.h"

enum {
    CHUNK = EH_BUFFER(1 << 20), /* bytes of a buffer, unless a row is larger */
    LIKELY_RATIO =
        16, /* expected maximum compression of gzip: limits the memory reserved ahead to this times the file size */
    MAX_RATIO = 1032 /* deflate cannot expand more: no byte of data takes less than 2 / 258 bits */
};

/* ---- one element ---- */

static uint64_t bits(const eh_array *a, const unsigned char *p)
{
    uint64_t v = 0;
    for (int64_t i = 0; i < a->size; i++) v = v << 8 | p[a->big ? i : a->size - 1 - i];
    return v;
}

static double half_value(uint64_t v)
{
    const int exponent = (int)(v >> 10 & 31), fraction = (int)(v & 1023);
    const double size = exponent == 0    ? ldexp(fraction, -24)
                        : exponent == 31 ? (fraction ? NAN : INFINITY)
                                         : ldexp(1024 + fraction, exponent - 25);
    return v >> 15 ? -size : size;
}

static int64_t signed_value(const eh_array *a, uint64_t v)
{
    const uint64_t sign = (uint64_t)1 << (8 * a->size - 1);
    return (int64_t)((v ^ sign) - sign); /* two's complement of any width */
}

static double element(const eh_array *a, const unsigned char *p)
{
    const uint64_t v = bits(a, p);
    if (a->kind == 'f') {
        if (a->size == 2) return half_value(v);
        if (a->size == 4) {
            const uint32_t word = (uint32_t)v;
            float f;
            memcpy(&f, &word, sizeof f);
            return f;
        }
        double d;
        memcpy(&d, &v, sizeof d);
        return d;
    }
    if (a->kind == 'i') return (double)signed_value(a, v);
    return (double)v;
}

/* ---- checks of the stream against the header ---- */

static const char *shape_text(const eh_array *a, char *text, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < a->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? " x " : "", (long long)a->shape[i]);
    return text;
}

static enhope_status fail_short(enhope_context *ctx, const eh_array *a, const eh_stream *s, int64_t bytes, int64_t have)
{
    char shape[EH_RANK * 24];
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                   "%s: the header announces %s values (%lld bytes) but only %lld bytes follow: the file is truncated",
                   s->name, shape_text(a, shape, sizeof shape), (long long)bytes, (long long)have);
}

enhope_status eh_array_measure(enhope_context *ctx, const eh_array *a, const eh_stream *s, int64_t *count)
{
    int64_t all = 1, bytes;
    char shape[EH_RANK * 24];
    bool fits = true, empty = false;
    for (int i = 0; i < a->rank; i++) {
        empty = empty || a->shape[i] == 0;
        fits = fits && eh_mul(all, a->shape[i], &all);
    }
    if (empty)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: the array of %s values is empty", s->name,
                       shape_text(a, shape, sizeof shape));
    /* values may be stored as floats, so the count of 4-byte elements must not overflow either */
    if (!fits || !eh_mul(all, a->size > 4 ? a->size : 4, &bytes) || !eh_mul(all, a->size, &bytes))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the dimensions %s overflow: the header is damaged", s->name,
                       shape_text(a, shape, sizeof shape));
    if (s->left >= 0 && bytes > s->left) return fail_short(ctx, a, s, bytes, s->left);
    if (s->left < 0 && s->stored && bytes / MAX_RATIO > s->stored)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: the header announces %s values (%lld bytes): more than %lld compressed bytes can hold, so "
                       "the file is damaged",
                       s->name, shape_text(a, shape, sizeof shape), (long long)bytes, (long long)s->stored);
    *count = all;
    return ENHOPE_OK;
}

enhope_status eh_array_end(enhope_context *ctx, eh_stream *s)
{
    char byte;
    size_t got;
    EH_TRY(eh_stream_read(ctx, s, &byte, 1, &got));
    if (got)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: bytes follow the last value that the header announces", s->name);
    return ENHOPE_OK;
}

enhope_status eh_array_check_labels(enhope_context *ctx, const eh_array *a, const char *name, int64_t count)
{
    char shape[EH_RANK * 24];
    if (count == a->shape[0] || (a->rank == 2 && a->shape[0] == 1)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: %s values cannot be labels: expected one per sample", name,
                   shape_text(a, shape, sizeof shape));
}

static enhope_status check_inputs(enhope_context *ctx, const eh_array *a, const char *name, int64_t count)
{
    if (a->kind == 'S' || a->kind == 'U')
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: contains text: expected numbers", name);
    if (count / a->shape[0] > INT32_MAX)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: %lld inputs per sample: expected fewer than 2^31", name,
                       (long long)(count / a->shape[0]));
    return ENHOPE_OK;
}

static int64_t count_of(const eh_array *a)
{
    int64_t count = 1;
    for (int i = 0; i < a->rank; i++) count *= a->shape[i];
    return count;
}

enhope_status eh_array_check_pair(enhope_context *ctx, const eh_array *x, const char *x_name, const eh_array *y,
                                  const char *y_name)
{
    EH_TRY(check_inputs(ctx, x, x_name, count_of(x)));
    if (!y) return ENHOPE_OK;
    const int64_t count = count_of(y);
    EH_TRY(eh_array_check_labels(ctx, y, y_name, count));
    if (count != x->shape[0])
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s has %lld samples but %s has %lld labels", x_name,
                       (long long)x->shape[0], y_name, (long long)count);
    return ENHOPE_OK;
}

/* ---- inputs ---- */

bool eh_array_is_bytes(const eh_array *a)
{
    return (a->kind == 'u' || a->kind == 'b') && a->size == 1;
}

int64_t eh_array_integer(const eh_array *a, const unsigned char *raw)
{
    return a->kind == 'i' ? signed_value(a, bits(a, raw)) : (int64_t)bits(a, raw);
}

bool eh_array_is_direct(const eh_array *a)
{
    const uint16_t probe = 1;
    const bool big = *(const unsigned char *)&probe == 0;
    return (a->kind == 'u' && a->size == 1) ||
           (a->kind == 'f' && a->size == sizeof(float) && a->big == big && !a->offset);
}

/* The input that element `at` of the stream belongs to, in row-major order of a sample. */
static int64_t input_of(const eh_array *a, int64_t at)
{
    int64_t H = 1, input = 0, rest = at / a->shape[0];
    for (int i = 1; i < a->rank; i++) H *= a->shape[i];
    if (!a->fortran || a->rank < 2) return at % H;
    for (int i = 1; i < a->rank; i++) {
        H /= a->shape[i];
        input += rest % a->shape[i] * H;
        rest /= a->shape[i];
    }
    return input;
}

void eh_array_convert(const eh_array *a, const unsigned char *raw, int64_t first, int64_t count, void *to)
{
    if (eh_array_is_direct(a)) {
        memcpy(to, raw, (size_t)(count * a->size));
    } else if (a->kind == 'b') {
        for (int64_t i = 0; i < count; i++) ((uint8_t *)to)[i] = raw[i] != 0;
    } else if (a->offset) {
        for (int64_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)(element(a, raw + i * a->size) - a->offset[input_of(a, first + i)]);
    } else {
        for (int64_t i = 0; i < count; i++) ((float *)to)[i] = (float)element(a, raw + i * a->size);
    }
}

/* A buffer that grows with the bytes that arrive. */
typedef struct buffer {
    unsigned char *bytes;
    int64_t capacity;
} buffer;

/* Reads the next `want` bytes of the stream. `before` is the number of bytes of the array read so
 * far, for the message. */
static enhope_status fill(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t before, int64_t want, buffer *b)
{
    for (int64_t done = 0; done < want;) {
        if (done == b->capacity) {
            const int64_t capacity = eh_min(want, eh_max(CHUNK, 2 * b->capacity));
            unsigned char *grown = eh_grow(b->bytes, (size_t)done, (size_t)capacity, 1);
            if (!grown) return eh_fail_memory(ctx, "a reading buffer", (size_t)capacity, 1);
            b->bytes = grown;
            b->capacity = capacity;
        }
        const int64_t step = eh_min(b->capacity, want) - done;
        size_t got;
        EH_TRY(eh_stream_read(ctx, s, b->bytes + done, (size_t)step, &got));
        done += (int64_t)got;
        if ((int64_t)got < step) return fail_short(ctx, a, s, count_of(a) * a->size, before + done);
    }
    return ENHOPE_OK;
}

/* Reads all values and finds the centers of the columns that float cannot resolve. */
static enhope_status find_centers(enhope_context *ctx, eh_array *a, eh_stream *s, int64_t count)
{
    enhope_status status = ENHOPE_OK;
    buffer raw = {.bytes = NULL};
    eh_centers centers;
    const int64_t step = CHUNK / a->size;
    EH_TRY(eh_centers_open(ctx, count / a->shape[0], &centers));
    for (int64_t first = 0; first < count; first += step) {
        const int64_t n = eh_min(step, count - first);
        EH_CHECK(fill(ctx, a, s, first * a->size, n * a->size, &raw));
        for (int64_t i = 0; i < n; i++)
            eh_centers_add(&centers, input_of(a, first + i), element(a, raw.bytes + i * a->size));
    }
    EH_CHECK(eh_centers_find(ctx, &centers, &a->offset));
cleanup:
    eh_centers_close(&centers);
    eh_free(raw.bytes);
    return status;
}

enhope_status eh_array_center(enhope_context *ctx, eh_array *a, eh_stream *s, const eh_encoding *encoding, bool *read)
{
    int64_t count;
    *read = false;
    EH_TRY(eh_array_measure(ctx, a, s, &count));
    EH_TRY(check_inputs(ctx, a, s->name, count));
    if (eh_array_is_bytes(a)) return ENHOPE_OK;
    if (encoding) return eh_centers_of(ctx, encoding, count / a->shape[0], &a->offset);
    if (a->size < 4 || (a->kind == 'f' && a->size == 4)) return ENHOPE_OK; /* float holds these values */
    if (!s->stored) {
        eh_log(ctx, ENHOPE_LOG_WARNING,
               "%s: a pipe is read once, so its values become float32 without centering; use a file if columns have "
               "large values that differ little",
               s->name);
        return ENHOPE_OK;
    }
    *read = true;
    return find_centers(ctx, a, s, count);
}

/* Passes rows of H elements to the sink, in the order of the stream. */
static enhope_status push_rows(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t H, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    buffer raw = {.bytes = NULL};
    void *converted = NULL;
    const bool bytes = eh_array_is_bytes(a), direct = eh_array_is_direct(a);
    const int64_t n = a->shape[0], row = H * a->size, step = eh_min(n, EH_SINK_VALUES / H + 1);
    sink->from = s->name;
    sink->rows = n;
    sink->reserve = s->left >= 0 ? n : eh_min(n, s->stored * LIKELY_RATIO / row + step);
    for (int64_t first = 0; first < n && !sink->full; first += step) {
        const int64_t count = eh_min(step, n - first);
        EH_CHECK(fill(ctx, a, s, first * row, count * row, &raw));
        if (!direct && !converted)
            EH_CHECK(eh_new(ctx, "values", step * H, bytes ? sizeof(uint8_t) : sizeof(float), &converted));
        if (!direct) eh_array_convert(a, raw.bytes, first * H, count * H, converted);
        const void *values = direct ? raw.bytes : converted;
        const eh_matrix x = {.kind = bytes ? ENHOPE_U8 : ENHOPE_F32,
                             .n = count,
                             .H = H,
                             .u8 = bytes ? values : NULL,
                             .f32 = bytes ? NULL : values};
        EH_CHECK(sink->take(ctx, sink, &x, NULL, (double)(first + count) / (double)n));
    }
    if (!sink->full) EH_CHECK(eh_array_end(ctx, s));
cleanup:
    eh_free(raw.bytes);
    eh_free(converted);
    return status;
}

/* Converts from column-major to row-major order. */
static void reorder(const eh_array *a, int64_t count, size_t width, const char *from, char *to)
{
    int64_t index[EH_RANK] = {0}, stride[EH_RANK], at = 0;
    for (int i = 0; i < a->rank; i++) stride[i] = i ? stride[i - 1] * a->shape[i - 1] : 1;
    for (int64_t t = 0; t < count; t++) {
        memcpy(to + (size_t)t * width, from + (size_t)at * width, width);
        for (int i = a->rank - 1; i >= 0; i--) {
            at += stride[i];
            if (++index[i] < a->shape[i]) break;
            at -= stride[i] * a->shape[i];
            index[i] = 0;
        }
    }
}

/* Column-major order: all elements are read before the first row is complete. */
static enhope_status push_fortran(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t count,
                                  enhope_dataset *data, eh_sink *sink)
{
    const size_t width = eh_array_is_bytes(a) ? sizeof(uint8_t) : sizeof(float);
    enhope_dataset *flat = NULL;
    eh_memory memory;
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *flat, (void **)&flat));
    eh_memory_open(&memory, flat);
    enhope_status status = push_rows(ctx, a, s, data->x.H, &memory.sink);
    if (!status) status = eh_new(ctx, "values in row order", count, width, &data->owned[0]);
    if (!status) reorder(a, count, width, flat->owned[0], data->owned[0]);
    enhope_dataset_free(flat);
    if (status) return status;
    data->x.n = sink->rows = a->shape[0];
    if (data->x.kind == ENHOPE_U8)
        data->x.u8 = data->owned[0];
    else
        data->x.f32 = data->owned[0];
    sink->from = s->name;
    return sink->take(ctx, sink, &data->x, NULL, 1);
}

/* Arrays that are larger than the memory limit have been opened as a store, unless they or their
 * labels cannot be read from an arbitrary row. */
static enhope_status check_memory(enhope_context *ctx, const eh_array *a, const char *name, int64_t count)
{
    const int64_t bytes = count * (int64_t)(eh_array_is_bytes(a) ? sizeof(uint8_t) : sizeof(float));
    if (ctx->memory == 0 || bytes <= ctx->memory) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "%s: its values take %lld bytes of memory: expected at most %lld, the memory limit; only row-major "
                   "IDX and NPY files that are not packed, with labels in such a file, are streamed; convert it to "
                   "shards or raise the limit",
                   name, (long long)bytes, (long long)ctx->memory);
}

enhope_status eh_array_rows(enhope_context *ctx, const eh_array *a, eh_stream *s, const eh_encoding *like,
                            enhope_dataset *data, eh_sink *sink)
{
    int64_t count;
    EH_TRY(eh_array_measure(ctx, a, s, &count));
    EH_TRY(check_inputs(ctx, a, s->name, count));
    if (sink->resident) EH_TRY(check_memory(ctx, a, s->name, count));
    data->x = (eh_matrix){.kind = eh_array_is_bytes(a) ? ENHOPE_U8 : ENHOPE_F32, .H = count / a->shape[0]};
    data->image_rows = a->rank == 3 ? a->shape[1] : 0;
    data->image_columns = a->rank == 3 ? a->shape[2] : 0;
    EH_TRY(eh_centers_describe(ctx, a->offset, like, data));
    return a->fortran && a->rank > 1 ? push_fortran(ctx, a, s, count, data, sink)
                                     : push_rows(ctx, a, s, data->x.H, sink);
}

enhope_status eh_read_array(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    eh_stream s = {.name = NULL};
    eh_array a = {.rank = 0}, again;
    enhope_status status = ENHOPE_OK;
    bool read;
    EH_TRY(eh_stream_open(ctx, in->path, &s));
    EH_CHECK(in->format->header(ctx, &s, &a));
    EH_CHECK(eh_array_center(ctx, &a, &s, in->encoding, &read));
    if (read) {
        eh_stream_close(&s);
        EH_CHECK(eh_stream_open(ctx, in->path, &s));
        EH_CHECK(in->format->header(ctx, &s, &again));
    }
    EH_CHECK(eh_array_rows(ctx, &a, &s, in->encoding, data, sink));
cleanup:
    eh_stream_close(&s);
    eh_free(a.offset);
    return status;
}

/* ---- labels ---- */

/* Converts UCS-4 to UTF-8, up to the trailing zeros. Returns false for an invalid code point. */
static bool decode_text(const eh_array *a, const unsigned char *p, char *text, size_t *length)
{
    const eh_array code = {.kind = 'u', .size = 4, .big = a->big};
    size_t n = 0;
    for (int64_t i = 0; i < a->size / 4; i++) {
        const uint32_t c = (uint32_t)bits(&code, p + 4 * i);
        if (c > 0x10FFFF) return false;
        n += eh_utf8_put(c, text + n);
    }
    while (n > 0 && text[n - 1] == '\0') n--;
    *length = n;
    return true;
}

enhope_status eh_array_label_text(enhope_context *ctx, const eh_array *a, const unsigned char *p, int64_t i,
                                  char *buffer, const char **text, size_t *length)
{
    *text = buffer;
    if (a->kind == 'U') {
        if (!decode_text(a, p, buffer, length))
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "label %lld is not Unicode text", (long long)i + 1);
        return ENHOPE_OK;
    }
    if (a->kind == 'S') {
        *text = (const char *)p;
        *length = (size_t)a->size;
        while (*length > 0 && p[*length - 1] == '\0') --*length;
        return ENHOPE_OK;
    }
    if (a->kind == 'f') {
        const double value = element(a, p);
        if (isinf(value))
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "label %lld is infinite: expected a finite number",
                           (long long)i + 1);
        buffer[0] = '\0';
        if (!isnan(value)) eh_number_print(value, buffer, EH_LABEL_TEXT);
    } else if (a->kind == 'i') { /* keeps integers above 2^53 distinct */
        snprintf(buffer, EH_LABEL_TEXT, "%lld", (long long)signed_value(a, bits(a, p)));
    } else {
        snprintf(buffer, EH_LABEL_TEXT, "%llu", (unsigned long long)bits(a, p));
    }
    *length = strlen(buffer);
    return ENHOPE_OK;
}

enhope_status eh_array_labels(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t first, int64_t n,
                              eh_labels *labels)
{
    enhope_status status = ENHOPE_OK;
    buffer raw = {.bytes = NULL};
    char *buffer = NULL;
    const int64_t step = CHUNK / a->size + 1;
    EH_CHECK(eh_new(ctx, "a label", a->size + EH_LABEL_TEXT, 1, (void **)&buffer));
    for (int64_t at = first; at < first + n; at += step) {
        const int64_t count = eh_min(step, first + n - at);
        EH_CHECK(fill(ctx, a, s, at * a->size, count * a->size, &raw));
        for (int64_t i = 0; i < count; i++) {
            const char *text;
            size_t length;
            status = eh_array_label_text(ctx, a, raw.bytes + i * a->size, at + i, buffer, &text, &length);
            if (!status) status = eh_labels_add(ctx, labels, text, length);
            if (status) EH_CHECK(eh_fail_in(ctx, status, "%s", s->name));
        }
    }
cleanup:
    eh_free(raw.bytes);
    eh_free(buffer);
    return status;
}
