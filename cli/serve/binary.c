/* Data types of the protocol, and binary data of tensors. It follows the JSON of a request or of an
 * answer: little-endian, without padding, in the order of the tensors. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "serve/scan.h"
#include "serve/serve.h"

static const serve_datatype datatypes[] = {
    {"FP32", SERVE_REAL, 4, -FLT_MAX, FLT_MAX},
    {"FP64", SERVE_REAL, 8, -DBL_MAX, DBL_MAX},
    {"FP16", SERVE_REAL, 2, -65504, 65504},
    {"UINT8", SERVE_UNSIGNED, 1, 0, UINT8_MAX},
    {"UINT16", SERVE_UNSIGNED, 2, 0, UINT16_MAX},
    {"UINT32", SERVE_UNSIGNED, 4, 0, UINT32_MAX},
    {"UINT64", SERVE_UNSIGNED, 8, 0, 0x1p64},
    {"INT8", SERVE_SIGNED, 1, INT8_MIN, INT8_MAX},
    {"INT16", SERVE_SIGNED, 2, INT16_MIN, INT16_MAX},
    {"INT32", SERVE_SIGNED, 4, INT32_MIN, INT32_MAX},
    {"INT64", SERVE_SIGNED, 8, -0x1p63, 0x1p63},
    {"BOOL", SERVE_UNSIGNED, 1, 0, 1},
    {"BYTES", SERVE_STRING, 0, 0, 0},
};

const serve_datatype *serve_datatype_find(const char *name)
{
    for (size_t i = 0; i < sizeof datatypes / sizeof *datatypes; i++)
        if (!strcmp(datatypes[i].name, name)) return &datatypes[i];
    return NULL;
}

/* ---- numbers ---- */

static uint64_t little_endian(const char *bytes, int size)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++) bits |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return bits;
}

/* FP16: a sign, 5 bits of exponent, 10 of the fraction. */
static double half(uint64_t bits)
{
    enum { SPECIAL = 31, BIAS = 15, FRACTION = 10 };
    const int exponent = (int)(bits >> FRACTION & SPECIAL);
    const double fraction = (double)(bits & 0x3FF);
    const double size = exponent == SPECIAL ? (fraction > 0 ? NAN : INFINITY)
                        : exponent == 0     ? ldexp(fraction, 1 - BIAS - FRACTION)
                                            : ldexp(1024 + fraction, exponent - BIAS - FRACTION);
    return bits >> 15 ? -size : size;
}

static double decode(const serve_datatype *type, const char *bytes)
{
    const uint64_t bits = little_endian(bytes, type->size);
    const int unused = 64 - 8 * type->size;
    const uint32_t single = (uint32_t)bits;
    float f;
    double d;
    switch (type->form) {
    case SERVE_UNSIGNED: return (double)bits;
    case SERVE_SIGNED: return (double)((int64_t)(bits << unused) >> unused);
    default: break;
    }
    if (type->size == 2) return half(bits);
    memcpy(&f, &single, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return type->size == 4 ? (double)f : d;
}

void serve_put_little_endian(http_text *to, uint64_t bits, int size)
{
    char bytes[8];
    for (int i = 0; i < size; i++) bytes[i] = (char)(bits >> 8 * i & 0xFF);
    text_put(to, bytes, (size_t)size);
}

/* ---- tensors ---- */

static bool read_numbers(scan *s, serve_request *r, serve_tensor *t, const serve_datatype *type)
{
    t->kind = !strcmp(type->name, "BOOL") ? SERVE_BOOLEANS : SERVE_NUMBERS;
    t->first = r->numbers;
    t->count = t->bytes / type->size;
    if (t->bytes % type->size) return scan_fail(s, "binary_data_size is not a multiple of the size of a value");
    for (int64_t i = 0; i < t->count; i++, s->at += type->size)
        if (!serve_add_number(s, r, decode(type, s->at))) return false;
    return true;
}

/* Strings of a length (4 bytes) and UTF-8. The last byte of the length gives way to the end of the
 * text: the text moves over it. */
static bool read_texts(scan *s, serve_request *r, serve_tensor *t)
{
    enum { LENGTH = 4 };
    char *end = s->at + t->bytes;
    t->kind = SERVE_TEXTS;
    t->first = r->texts;
    for (; s->at < end; t->count++) {
        const int64_t left = end - s->at - LENGTH;
        const uint64_t length = left < 0 ? 0 : little_endian(s->at, LENGTH);
        if (left < 0 || length > (uint64_t)left) return scan_fail(s, "a string is longer than its tensor");
        char *text = s->at + LENGTH - 1;
        memmove(text, text + 1, (size_t)length);
        text[length] = '\0';
        if (!eh_utf8_valid(text, (size_t)length)) return scan_fail(s, "a string is not UTF-8 without NUL");
        s->at = text + 1 + length;
        if (!serve_add_text(s, r, text)) return false;
    }
    return true;
}

/* Reads the binary data of the tensors, in their order. */
static bool read_binary(scan *s, serve_request *r)
{
    for (int64_t j = 0; j < r->tensors; j++) {
        serve_tensor *t = &r->tensor[j];
        const serve_datatype *type = t->datatype ? serve_datatype_find(t->datatype) : NULL;
        if (t->bytes < 0) continue;
        if (t->given) return scan_fail(s, "an input has data and binary data");
        if (t->bytes > s->end - s->at) return scan_fail(s, "the body ends within the binary data of an input");
        t->given = true;
        if (!type)
            s->at += t->bytes; /* an error of the tensor */
        else if (!(type->form == SERVE_STRING ? read_texts(s, r, t) : read_numbers(s, r, t, type)))
            return false;
    }
    return s->at == s->end || scan_fail(s, "bytes follow the data of the inputs");
}

/* The bytes of JSON in the body; -1 after a message. */
static int64_t json_size(const http_exchange *x, char error[SERVE_ERROR])
{
    if (!x->json_length) return (int64_t)x->body.used;
    char *end;
    errno = 0;
    const unsigned long long size = strtoull(x->json_length, &end, 10);
    const bool digits = *x->json_length >= '0' && *x->json_length <= '9' && !*end && !errno;
    if (digits && size > 0 && size <= x->body.used) return (int64_t)size;
    snprintf(
        error, SERVE_ERROR,
        "the header Inference-Header-Content-Length is '%.40s': expected the bytes of JSON in the body of %zu bytes",
        x->json_length, x->body.used);
    return -1;
}

int serve_body_parse(serve_request *r, const http_exchange *x, char error[SERVE_ERROR])
{
    char *body = x->body.bytes;
    const int64_t json = json_size(x, error);
    const int code = json < 0 ? 400 : serve_request_parse(r, body, (size_t)json, error);
    if (code) return code;
    scan s = {.begin = body, .at = body + json, .end = body + x->body.used};
    if (read_binary(&s, r)) return 0;
    snprintf(error, SERVE_ERROR, "%s", s.reason);
    return 400;
}
