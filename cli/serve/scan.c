/* The scanner of JSON. Numbers are parsed here, because a request has hundreds of them. */
#include "serve/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

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

bool scan_string(scan *s, char **out)
{
    if (!scan_expect(s, '"')) return false;
    char *to = s->at;
    uint32_t code;
    *out = to;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\') {
            const char *reason = eh_json_unescape(&s->at, s->end, &to);
            if (reason) return scan_fail(s, reason);
            continue;
        }
        if ((unsigned char)*s->at < ' ') return scan_fail(s, "a string contains a control character");
        const size_t length = eh_utf8_next(s->at, (size_t)(s->end - s->at), &code);
        if (!length) return scan_fail(s, "a string is not UTF-8");
        for (size_t i = 0; i < length; i++) *to++ = *s->at++;
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
