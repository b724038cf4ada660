/* Parsing and printing of numbers, independent of the locale. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Converts with strtod, which rounds correctly and expects the decimal point of the locale. Used
 * for the few numbers that the exact fast path does not cover. */
static double convert(const char *text, size_t length)
{
    char small[128], *copy = small;
    const char *point = localeconv()->decimal_point;
    const size_t extra = strlen(point);
    if (length + extra + 1 > sizeof small) copy = eh_alloc(length + extra + 1, 1);
    if (!copy) return NAN;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            memcpy(copy + n, point, extra);
            n += extra;
        } else {
            copy[n++] = text[i];
        }
    }
    copy[n] = '\0';
    const double value = strtod(copy, NULL);
    if (copy != small) eh_free(copy);
    return value;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* A decimal number: mantissa * 10^exponent. */
typedef struct decimal {
    uint64_t mantissa;
    int digits; /* of the mantissa, without leading zeros */
    int64_t exponent;
    bool any;   /* a digit was read */
    bool exact; /* all digits are in the mantissa */
} decimal;

/* Reads digits up to the first other character and returns its position. Each digit that enters the
 * mantissa adds `step` to the exponent: -1 after the decimal point, else 0. */
static inline const char *read_digits(const char *at, const char *end, int step, decimal *d)
{
    for (; at < end && digit(*at); at++) {
        d->any = true;
        if (d->digits < 19) {
            d->mantissa = d->mantissa * 10 + (uint64_t)(*at - '0');
            d->digits += d->mantissa > 0;
            d->exponent += step;
        } else {
            d->exact = false;
        }
    }
    return at;
}

/* Reads the exponent behind an 'e'. Returns NULL if it has no digits. */
static inline const char *read_exponent(const char *at, const char *end, decimal *d)
{
    const bool down = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !digit(*at)) return NULL;
    int64_t e = 0;
    for (; at < end && digit(*at); at++)
        if (e < 100000) e = e * 10 + (*at - '0');
    d->exponent += down ? -e : e;
    return at;
}

eh_number_kind eh_number_parse(const char *text, size_t length, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text, *const end = text + length;
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return EH_NOT_NUMBER;
    if (!digit(*at) && *at != '.') {
        const size_t rest = (size_t)(end - at);
        const bool word = is_word(at, rest, "nan") || is_word(at, rest, "inf") || is_word(at, rest, "infinity");
        return word ? EH_NOT_FINITE : EH_NOT_NUMBER;
    }
    decimal d = {.exact = true};
    at = read_digits(at, end, 0, &d);
    if (at < end && *at == '.') at = read_digits(at + 1, end, -1, &d);
    if (!d.any) return EH_NOT_NUMBER;
    if (at < end && (*at == 'e' || *at == 'E')) at = read_exponent(at + 1, end, &d);
    if (at != end) return EH_NOT_NUMBER;
    /* a mantissa up to 2^53 and a power of ten up to 22 are exact doubles: the result is rounded
     * once */
    if (d.exact && d.mantissa <= (uint64_t)1 << 53 && d.exponent >= -22 && d.exponent <= 22) {
        const double m = (double)d.mantissa;
        const double value = d.exponent < 0 ? m / power[-d.exponent] : m * power[d.exponent];
        *out = negative ? -value : value;
        return EH_NUMBER;
    }
    const double value = convert(text, length);
    if (!isfinite(value)) return EH_NOT_FINITE;
    *out = value;
    return EH_NUMBER;
}

void eh_number_print(double value, char *text, size_t size)
{
    if (value == 0) value = 0; /* no "-0" */
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(text, size, "%.0f", value);
        return;
    }
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(text, size, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") ? strstr(text, point) : NULL;
    if (!found) return;
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
}
