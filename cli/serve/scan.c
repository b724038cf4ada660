/* The scanner of JSON. Numbers are parsed here, because a request has hundreds of them. */
#include "serve/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scan_fail(scan *s, const char *reason)
{
    if (!*s->reason)
        snprintf(s->reason, sizeof s->reason, "byte %lld of the body: %s", (long long)(s->at - s->begin) + 1, reason);
    return false;
}

void scan_space(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) s->at++;
}

char scan_peek(scan *s)
{
    scan_space(s);
    return s->at < s->end ? *s->at : '\0';
}

bool scan_accept(scan *s, char wanted)
{
    if (scan_peek(s) != wanted || s->at == s->end) return false;
    s->at++;
    return true;
}

bool scan_expect(scan *s, char wanted)
{
    char reason[32];
    if (scan_accept(s, wanted)) return true;
    snprintf(reason, sizeof reason, "expected '%c'", wanted);
    return scan_fail(s, reason);
}

bool scan_more(scan *s, char end)
{
    char reason[32];
    if (*s->reason) return false;
    if (scan_accept(s, ',')) return true;
    if (scan_accept(s, end)) return false;
    snprintf(reason, sizeof reason, "expected ',' or '%c'", end);
    return scan_fail(s, reason);
}

/* ---- strings ---- */

/* The four hexadecimal digits at `at`; -1: there are none. */
static int32_t parse_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char digit = at[i], lower = (char)(digit | 0x20);
        if (digit >= '0' && digit <= '9')
            unit = unit << 4 | (digit - '0');
        else if (lower >= 'a' && lower <= 'f')
            unit = unit << 4 | (lower - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (code >> 6 * i & 0x3F));
    return to;
}

/* Decodes the escape at s->at, which is shorter in UTF-8. */
static bool unescape(scan *s, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char letter = s->end - s->at > 1 ? s->at[1] : '\0';
    const char *plain = letter ? strchr(from, letter) : NULL;
    if (plain) {
        *(*to)++ = into[plain - from];
        s->at += 2;
        return true;
    }
    int32_t code = letter == 'u' ? parse_unit(s->at + 2, s->end) : -1;
    if (code < 0) return scan_fail(s, "an escape is not valid");
    if (code == 0) return scan_fail(s, "a string contains NUL");
    int length = 6;
    if (code >= 0xD800 && code < 0xE000) {
        const bool pair = code < 0xDC00 && s->end - s->at >= 12 && s->at[6] == '\\' && s->at[7] == 'u';
        const int32_t low = pair ? parse_unit(s->at + 8, s->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return scan_fail(s, "an escape is half of a character");
        code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
        length = 12;
    }
    s->at += length;
    *to = put_utf8(*to, (uint32_t)code);
    return true;
}

/* The length of the UTF-8 sequence at `at`; 0: it is not valid. */
static int utf8_length(const char *at, const char *end)
{
    const unsigned char *u = (const unsigned char *)at;
    const int more = u[0] < 0x80 ? 0 : u[0] < 0xC2 ? -1 : u[0] < 0xE0 ? 1 : u[0] < 0xF0 ? 2 : u[0] < 0xF5 ? 3 : -1;
    if (more < 0 || end - at <= more) return 0;
    for (int i = 1; i <= more; i++)
        if ((u[i] & 0xC0) != 0x80) return 0;
    const bool overlong = (u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xF0 && u[1] < 0x90);
    const bool outside = (u[0] == 0xED && u[1] > 0x9F) || (u[0] == 0xF4 && u[1] > 0x8F);
    return overlong || outside ? 0 : more + 1;
}

bool scan_string(scan *s, char **out)
{
    if (!scan_expect(s, '"')) return false;
    char *to = s->at;
    *out = to;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\') {
            if (!unescape(s, &to)) return false;
            continue;
        }
        if ((unsigned char)*s->at < ' ') return scan_fail(s, "a string contains a control character");
        const int length = utf8_length(s->at, s->end);
        if (!length) return scan_fail(s, "a string is not UTF-8");
        for (int i = 0; i < length; i++) *to++ = *s->at++;
    }
    if (s->at == s->end) return scan_fail(s, "a string is not closed");
    *to = '\0';
    s->at++;
    return true;
}

bool scan_key(scan *s, char **out)
{
    return scan_string(s, out) && scan_expect(s, ':');
}

/* ---- numbers ---- */

typedef struct decimal {
    uint64_t mantissa;
    int digits;   /* of the mantissa, without leading zeros */
    int exponent; /* of ten */
} decimal;

/* Moves over digits; those that the mantissa cannot hold only count. scale: 0 before the decimal
 * point, -1 after it. */
static const char *scan_digits(const char *at, const char *end, int scale, decimal *d)
{
    enum { MAX_DIGITS = 19 }; /* below 2^64 */
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (d->digits < MAX_DIGITS) {
            d->mantissa = d->mantissa * 10 + (uint64_t)(*at - '0');
            d->digits += d->mantissa > 0;
            d->exponent += scale;
        } else {
            d->digits++;
            d->exponent += scale + 1;
        }
    }
    return at;
}

/* A number that needs more than a multiplication of exact doubles. */
static bool convert_slowly(scan *s, const char *begin, double *out)
{
    enum { LONGEST = 1100 }; /* more digits change no double */
    char text[LONGEST + 1];
    const size_t length = (size_t)(s->at - begin);
    if (length > LONGEST) return scan_fail(s, "a number has more than 1100 characters");
    memcpy(text, begin, length);
    text[length] = '\0';
    *out = strtod(text, NULL);
    return isfinite(*out) || scan_fail(s, "a number is too large");
}

static bool scan_exponent(scan *s, const char **at, decimal *d)
{
    enum { LARGE = 100000 };
    int exponent = 0;
    (*at)++;
    const bool negative = *at < s->end && **at == '-';
    if (*at < s->end && (**at == '-' || **at == '+')) (*at)++;
    const char *first = *at;
    for (; *at < s->end && **at >= '0' && **at <= '9'; (*at)++)
        if (exponent < LARGE) exponent = exponent * 10 + (**at - '0');
    d->exponent += negative ? -exponent : exponent;
    return *at > first || scan_fail(s, "a number has no digits in its exponent");
}

bool scan_number(scan *s, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { EXACT = sizeof power / sizeof *power - 1 };
    decimal d = {0};
    scan_space(s);
    const char *begin = s->at, *at = begin;
    const bool negative = at < s->end && *at == '-';
    at += negative;
    const char *whole = at;
    at = scan_digits(at, s->end, 0, &d);
    if (at == whole || (*whole == '0' && at > whole + 1)) return scan_fail(s, "expected a number");
    if (at < s->end && *at == '.') {
        const char *fraction = ++at;
        at = scan_digits(at, s->end, -1, &d);
        if (at == fraction) return scan_fail(s, "a number ends with its decimal point");
    }
    if (at < s->end && (*at == 'e' || *at == 'E') && !scan_exponent(s, &at, &d)) return false;
    s->at += at - begin;
    if (d.digits > 19 || d.mantissa > (uint64_t)1 << 53 || d.exponent < -EXACT || d.exponent > EXACT)
        return convert_slowly(s, begin, out);
    const double value =
        d.exponent < 0 ? (double)d.mantissa / power[-d.exponent] : (double)d.mantissa * power[d.exponent];
    *out = negative ? -value : value;
    return true;
}

/* ---- other values ---- */

bool scan_word(scan *s, const char *word)
{
    const size_t length = strlen(word);
    scan_space(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return scan_fail(s, "expected a value");
    s->at += length;
    return true;
}

static bool skip_scalar(scan *s)
{
    char *text;
    double number;
    switch (scan_peek(s)) {
    case '"': return scan_string(s, &text);
    case 't': return scan_word(s, "true");
    case 'f': return scan_word(s, "false");
    case 'n': return scan_word(s, "null");
    default: return scan_number(s, &number);
    }
}

bool scan_skip(scan *s)
{
    char open[SCAN_DEPTH], *key;
    int depth = 0;
    bool more = true; /* a value follows */
    while (more) {
        if (depth && open[depth - 1] == '}' && !scan_key(s, &key)) return false;
        if (scan_accept(s, '[') || scan_accept(s, '{')) {
            const char end = s->at[-1] == '[' ? ']' : '}';
            if (scan_accept(s, end)) { /* it is empty */
            } else if (depth == SCAN_DEPTH) {
                return scan_fail(s, "values are nested too deeply");
            } else {
                open[depth++] = end;
                continue;
            }
        } else if (!skip_scalar(s)) {
            return false;
        }
        for (more = false; depth > 0 && !(more = scan_more(s, open[depth - 1])); depth--)
            if (*s->reason) return false;
    }
    return true;
}
