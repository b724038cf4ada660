/* Data types of the protocol, and numbers as binary data: little-endian, without padding. */
#include <float.h>
#include <math.h>
#include <string.h>

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

uint64_t serve_little_endian(const char *bytes, int size)
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

double serve_datatype_decode(const serve_datatype *type, const char *bytes)
{
    const uint64_t bits = serve_little_endian(bytes, type->size);
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
