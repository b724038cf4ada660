/* UTF-8, and the escapes of JSON strings. This header has no dependencies within the library, so
 * the command uses it, too. */
#ifndef EH_UTF8_H
#define EH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Decodes the first sequence of text: returns its length in bytes and stores its code point.
 * Returns 0 for invalid UTF-8 (overlong, surrogate, above U+10FFFF, truncated). Does not read
 * beyond a NUL. */
static inline size_t eh_utf8_next(const char *text, size_t length, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000}; /* smaller code points are overlong */
    const unsigned char *s = (const unsigned char *)text;
    if (length == 0) return 0;
    *code = s[0];
    if (s[0] < 0x80) return 1;
    const size_t size = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length < size) return 0;
    uint32_t c = s[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if (c < min[size] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0;
    *code = c;
    return size;
}

/* Encodes a code point of at most U+10FFFF; returns the number of bytes, 1 to 4. */
static inline size_t eh_utf8_put(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(lead[size] | code);
    return size;
}

/* True for characters that change a terminal or the order of a line: control characters, those of
 * Latin-1 included, and embeddings and isolates of writing direction. */
static inline bool eh_utf8_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Makes a text valid UTF-8 without such characters, in place: they become '?', except ends of lines
 * and tabs, and so does every byte that is not UTF-8. */
static inline void eh_utf8_clean(char *text)
{
    char *to = text;
    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        uint32_t code;
        size = eh_utf8_next(text, left, &code);
        if (size == 0 || (eh_utf8_control(code) && code != '\n' && code != '\t')) {
            *to++ = '?';
            if (size == 0) size = 1;
        } else {
            memmove(to, text, size);
            to += size;
        }
    }
    *to = '\0';
}

/* True for valid UTF-8 without NUL. */
static inline bool eh_utf8_valid(const char *text, size_t length)
{
    uint32_t code;
    for (size_t at = 0, size; at < length; at += size) {
        size = eh_utf8_next(text + at, length - at, &code);
        if (size == 0 || code == 0) return false;
    }
    return true;
}

/* The unit of UTF-16 of an escape backslash, u and four hexadecimal digits; -1: there is none. */
static inline int32_t eh_json_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        const char lower = (char)(at[i] | 0x20);
        if (at[i] >= '0' && at[i] <= '9')
            unit = unit << 4 | (at[i] - '0');
        else if (lower >= 'a' && lower <= 'f')
            unit = unit << 4 | (lower - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

/* Decodes the escape of a JSON string whose backslash is at *at. Appends it to *to, which may be in
 * the same text, because UTF-8 is shorter, and moves both. Returns NULL, or why it is not valid. */
static inline const char *eh_json_unescape(char **at, const char *end, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char letter = end - *at > 1 ? (*at)[1] : '\0';
    const char *plain = letter ? strchr(from, letter) : NULL;
    if (plain) {
        *(*to)++ = into[plain - from];
        *at += 2;
        return NULL;
    }
    int32_t code = eh_json_unit(*at, end), low;
    if (code < 0) return "an escape is not valid";
    if (code == 0) return "a string contains NUL";
    *at += 6;
    if (code >= 0xD800 && code < 0xE000) {
        low = code < 0xDC00 ? eh_json_unit(*at, end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return "an escape is half of a character";
        code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
        *at += 6;
    }
    *to += eh_utf8_put((uint32_t)code, *to);
    return NULL;
}

#endif
