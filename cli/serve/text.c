/* The text of answers. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

/* A text that is not complete has used > capacity. */
bool text_good(const http_text *t)
{
    return t->used <= t->capacity;
}

/* Reserves memory for `size` more bytes. */
static bool reserve(http_text *t, size_t size)
{
    enum { FIRST = 1024 };
    if (!text_good(t)) return false;
    if (size <= t->capacity - t->used) return true;
    size_t capacity = t->capacity ? t->capacity : FIRST;
    while (capacity - t->used < size) capacity *= 2;
    char *grown = realloc(t->bytes, capacity);
    if (!grown) {
        free(t->bytes);
        *t = (http_text){.used = 1};
        return false;
    }
    t->bytes = grown;
    t->capacity = capacity;
    return true;
}

void text_put(http_text *t, const char *bytes, size_t size)
{
    if (!reserve(t, size)) return;
    memcpy(t->bytes + t->used, bytes, size);
    t->used += size;
}

void text_add(http_text *t, const char *text)
{
    text_put(t, text, strlen(text));
}

void text_format(http_text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length > 0) text_put(t, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* ---- numbers ---- */

static size_t put_digits(char *to, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < n; i++) to[i] = digits[n - 1 - i];
    return n;
}

void text_integer(http_text *t, int64_t value)
{
    enum { LONGEST = 20 };
    if (!reserve(t, LONGEST)) return;
    if (value < 0) t->bytes[t->used++] = '-';
    t->used += put_digits(t->bytes + t->used, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* A number of 1e-5 to 1e9: the fewest digits, of 6 to 9, that are read back as value. Both the
 * product and the quotient are rounded once, because powers of ten up to 1e22 are exact. */
static size_t put_plain(char *to, float value)
{
    static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const double x = (double)value;
    int whole = 0; /* digits before the decimal point; below 0: zeros after it */
    for (; whole < 9 && x >= power[whole]; whole++) {
    }
    for (; whole <= 0 && whole > -5 && x * power[-whole + 1] < 1; whole--) {
    }
    for (int digits = 6; digits <= 9; digits++) {
        const int places = digits - whole > 0 ? digits - whole : 0;
        const double scaled = rint(x * power[places]);
        if (digits < 9 && (float)(scaled / power[places]) != value) continue;
        uint64_t mantissa = (uint64_t)scaled;
        int used = places;
        for (; used > 0 && mantissa % 10 == 0; used--) mantissa /= 10;
        const uint64_t unit = (uint64_t)power[used];
        size_t n = put_digits(to, mantissa / unit);
        if (used) to[n++] = '.';
        for (uint64_t rest = mantissa % unit, at = unit / 10; at > 0; at /= 10) {
            to[n++] = (char)('0' + rest / at);
            rest %= at;
        }
        return n;
    }
    return 0;
}

void text_real(http_text *t, float value)
{
    enum { LONGEST = 32 };
    if (!reserve(t, LONGEST)) return;
    const float size = fabsf(value);
    if (!isfinite(value)) { /* JSON has no such number */
        memcpy(t->bytes + t->used, "null", 4);
        t->used += 4;
    } else if (size == 0) {
        t->bytes[t->used++] = '0';
    } else if (size >= 1e-5F && size < 1e9F) {
        if (value < 0) t->bytes[t->used++] = '-';
        t->used += put_plain(t->bytes + t->used, size);
    } else {
        t->used += (size_t)snprintf(t->bytes + t->used, LONGEST, "%.9g", (double)value);
    }
}

/* ---- JSON ---- */

void text_json(http_text *t, const char *text)
{
    char *quoted = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&quoted, &size);
    if (to) cli_json(to, "%s", text);
    if (!to || fclose(to)) {
        free(quoted);
        free(t->bytes);
        *t = (http_text){.used = 1};
        return;
    }
    text_put(t, quoted, size);
    free(quoted);
}
