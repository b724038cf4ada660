/* Text and bytes of exported files: a growing block, numbers, and escaped strings. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/export/export.h"

void eh_bytes_free(eh_bytes *b)
{
    eh_free(b->data);
    *b = (eh_bytes){0};
}

/* Makes room for `more` bytes and a terminating NUL. */
static bool reserve(eh_bytes *b, size_t more)
{
    enum { START = 4096 };
    if (b->failed || more > SIZE_MAX / 4 - b->size) return !(b->failed = true);
    const size_t needed = b->size + more + 1;
    if (needed <= b->capacity) return true;
    size_t capacity = b->capacity ? b->capacity : START;
    while (capacity < needed) capacity *= 2;
    char *data = eh_grow(b->data, b->capacity, capacity, 1);
    if (!data) return !(b->failed = true);
    b->data = data;
    b->capacity = capacity;
    return true;
}

void eh_bytes_add(eh_bytes *b, const void *data, size_t size)
{
    if (!reserve(b, size)) return;
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}

void eh_put_text(eh_bytes *b, const char *text)
{
    for (;;) {
        const size_t length = strcspn(text, "@");
        eh_bytes_add(b, text, length);
        if (!text[length]) return;
        eh_bytes_add(b, b->name, strlen(b->name));
        text += length + 1;
    }
}

void eh_put(eh_bytes *b, const char *format, ...)
{
    eh_bytes expanded = {.name = b->name};
    va_list args;
    eh_put_text(&expanded, format);
    eh_bytes_add(&expanded, "", 1);
    b->failed |= expanded.failed;
    for (size_t size = 256; !b->failed;) {
        if (!reserve(b, size)) break;
        va_start(args, format);
        const int length = vsnprintf(b->data + b->size, size, expanded.data, args);
        va_end(args);
        if (length < 0) b->failed = true;
        if (length >= 0 && (size_t)length < size) {
            b->size += (size_t)length;
            break;
        }
        size = (size_t)length + 1;
    }
    eh_bytes_free(&expanded);
}

void eh_float_print(float value, char text[EH_FLOAT_TEXT])
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, EH_FLOAT_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") ? strstr(text, point) : NULL;
    if (!found) return;
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
}

/* Octal escapes have three digits, so a digit may follow. '?' is escaped because of trigraphs. */
void eh_put_c_string(eh_bytes *b, const char *text)
{
    char escape[8];
    eh_bytes_add(b, "\"", 1);
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\' || byte == '?')
            snprintf(escape, sizeof escape, "\\%c", byte);
        else
            snprintf(escape, sizeof escape, byte < 0x20 || byte > 0x7e ? "\\%03o" : "%c", byte);
        eh_bytes_add(b, escape, strlen(escape));
    }
    eh_bytes_add(b, "\"", 1);
}

static void put_code_point(eh_bytes *b, uint32_t code)
{
    char escape[16];
    if (code == '"' || code == '\\')
        snprintf(escape, sizeof escape, "\\%c", (char)code);
    else if (code >= 0x20 && code < 0x7f && code != '<') /* '<': the text may be put into a page */
        snprintf(escape, sizeof escape, "%c", (char)code);
    else if (code < 0x10000)
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
    else
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)),
                 (unsigned)(0xdc00 + (code & 0x3ff)));
    eh_bytes_add(b, escape, strlen(escape));
}

/* Moves over the next code point of a text. As when a model is saved, bytes that are not valid
 * UTF-8 are read as Latin-1. */
static uint32_t next_code_point(const char **text)
{
    uint32_t code;
    const size_t length = eh_utf8_next(*text, 4, &code);
    if (!length) code = (unsigned char)**text;
    *text += length ? length : 1;
    return code;
}

void eh_put_json_string(eh_bytes *b, const char *text)
{
    eh_bytes_add(b, "\"", 1);
    while (*text) put_code_point(b, next_code_point(&text));
    eh_bytes_add(b, "\"", 1);
}

void eh_put_json(eh_bytes *b, const char *json)
{
    while (*json) {
        const char *at = json;
        const uint32_t code = next_code_point(&json);
        if (code < 0x7f && code != '<')
            eh_bytes_add(b, at, 1);
        else
            put_code_point(b, code);
    }
}

void eh_put_comment(eh_bytes *b, const char *text)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;=()[]%#";
    for (; *text; text++) eh_bytes_add(b, strchr(harmless, *text) ? text : "_", 1);
}

void eh_put_base64(eh_bytes *b, const void *data, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned word = (unsigned)byte[i] << 16 | (left > 1 ? (unsigned)byte[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)byte[i + 2] : 0);
        const char four[4] = {digit[word >> 18], digit[word >> 12 & 63], left > 1 ? digit[word >> 6 & 63] : '=',
                              left > 2 ? digit[word & 63] : '='};
        eh_bytes_add(b, four, sizeof four);
    }
}
