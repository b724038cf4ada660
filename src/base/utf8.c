/* UTF-8 encoding and decoding, for every text that comes from outside the library. */
#include <string.h>

#include "base/base.h"

size_t eh_utf8_next(const char *text, size_t length, uint32_t *code)
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

size_t eh_utf8_put(uint32_t code, char *to)
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

bool eh_utf8_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void eh_utf8_clean(char *text)
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

bool eh_utf8_valid(const char *text, size_t length)
{
    uint32_t code;
    for (size_t at = 0, size; at < length; at += size) {
        size = eh_utf8_next(text + at, length - at, &code);
        if (size == 0 || code == 0) return false;
    }
    return true;
}

char *eh_utf8_copy(const char *text)
{
    size_t left = strlen(text);
    char *copy = eh_alloc(left + 1, 2);
    if (!copy) return NULL;
    for (char *to = copy; left > 0;) {
        uint32_t code;
        size_t size = eh_utf8_next(text, left, &code);
        to += eh_utf8_put(size ? code : (unsigned char)*text, to);
        if (size == 0) size = 1;
        text += size;
        left -= size;
    }
    return copy;
}
