/* Text for terminals, JSON, CSV and XML. Names come from files, so control characters are escaped
 * or replaced. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "core/cli.h"

uint32_t cli_utf8_next(const char **text)
{
    uint32_t point;
    const size_t size = eh_utf8_next(*text, 4, &point);
    if (!size) point = (unsigned char)**text;
    *text += size ? size : 1;
    return point;
}

static void put_utf8(FILE *out, uint32_t point)
{
    char bytes[4];
    fwrite(bytes, 1, eh_utf8_put(point, bytes), out);
}

bool cli_same_text(const char *a, const char *b)
{
    while (*a && *b)
        if (cli_utf8_next(&a) != cli_utf8_next(&b)) return false;
    return *a == *b;
}

int cli_text_width(const char *text)
{
    int width = 0;
    while (*text) {
        cli_utf8_next(&text);
        width++;
    }
    return width;
}

void cli_put_text(FILE *out, const char *text, int width)
{
    const int pad = abs(width) - cli_text_width(text);
    if (width > 0 && pad > 0) fprintf(out, "%*s", pad, "");
    while (*text) {
        const uint32_t point = cli_utf8_next(&text);
        put_utf8(out, eh_utf8_control(point) ? '?' : point);
    }
    if (width < 0 && pad > 0) fprintf(out, "%*s", pad, "");
}

void cli_vprint(FILE *out, const char *format, va_list args)
{
    char text[8192];
    vsnprintf(text, sizeof text, format, args);
    for (const char *at = text; *at;) {
        const uint32_t point = cli_utf8_next(&at);
        put_utf8(out, eh_utf8_control(point) && point != '\n' && point != '\t' ? '?' : point);
    }
}

void cli_print(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_vprint(out, format, args);
    va_end(args);
}

static void put_json_text(FILE *out, const char *text)
{
    if (!text) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    while (*text) {
        const uint32_t point = cli_utf8_next(&text);
        if (point == '"' || point == '\\') {
            putc('\\', out);
            putc((int)point, out);
        } else if (eh_utf8_control(point)) {
            fprintf(out, "\\u%04x", (unsigned)point);
        } else {
            put_utf8(out, point);
        }
    }
    putc('"', out);
}

void cli_json(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *s = format; *s; s++) {
        if (*s != '%') {
            putc(*s, out);
            continue;
        }
        switch (*++s) {
        case 's': put_json_text(out, va_arg(args, const char *)); break;
        case 'i': fputs(va_arg(args, int) ? "true" : "false", out); break;
        case 'd': fprintf(out, "%d", va_arg(args, int)); break;
        case 'l': fprintf(out, "%lld", va_arg(args, long long)), s += 2; break;
        case '.': fprintf(out, "%.6g", va_arg(args, double)), s += 2; break;
        default: {
            const double value = va_arg(args, double);
            fprintf(out, isfinite(value) ? "%.15g" : "null", value);
        }
        }
    }
    va_end(args);
}

static bool is_terminal(FILE *out)
{
    static int known = -1;
    if (out != stdout) return false;
    if (known < 0) known = isatty(STDOUT_FILENO);
    return known;
}

/* A file or pipe receives the text unchanged, a terminal without control characters. */
void cli_put_csv(FILE *out, const char *text)
{
    const size_t length = strlen(text);
    const bool edges = length > 0 && (text[0] == ' ' || text[length - 1] == ' '), clean = is_terminal(out),
               quoted = edges || strpbrk(text, ",\"\r\n\t");
    if (quoted) putc('"', out);
    while (*text) {
        const char *from = text;
        const uint32_t point = cli_utf8_next(&text);
        if (point == '"') putc('"', out);
        if (clean)
            put_utf8(out, eh_utf8_control(point) ? '?' : point);
        else
            fwrite(from, 1, (size_t)(text - from), out);
    }
    if (quoted) putc('"', out);
}

void cli_put_xml(FILE *out, const char *text)
{
    while (*text) {
        const uint32_t point = cli_utf8_next(&text);
        switch (point) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: /* XML cannot represent most control characters, U+FFFE and U+FFFF */
            put_utf8(out, (point < 0x20 && point != '\t') || point == 0xFFFE || point == 0xFFFF ? 0xFFFD : point);
        }
    }
}

void cli_put_wrapped(FILE *out, const char *text, int at, int indent, int width)
{
    bool fresh = true; /* the line is empty except for the indent */
    while (*text) {
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            at = indent;
            fresh = true;
            text++;
            continue;
        }
        if (*text == ' ') {
            text++;
            continue;
        }
        const size_t length = strcspn(text, " \n");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        const int wide = cli_text_width(word);
        if (!fresh && at + 1 + wide > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            fresh = true;
        }
        if (!fresh) {
            putc(' ', out);
            at++;
        }
        fputs(word, out);
        at += wide;
        fresh = false;
        text += length;
    }
    putc('\n', out);
}

void cli_bytes_text(double bytes, char *buffer, size_t size)
{
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t i = 0;
    while (bytes >= 999.5 && i + 1 < sizeof unit / sizeof *unit) {
        bytes /= 1000.0;
        i++;
    }
    snprintf(buffer, size, i == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, unit[i]);
}

bool cli_parse_bytes(const char *text, int64_t *bytes)
{
    static const char units[] = "kmgt";
    const double max_bytes = 9e18;
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || value < 0) return false;
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (unit) {
        const bool binary = end[1] == 'i';
        for (const char *at = units; at <= unit; at++) value *= binary ? 1024 : 1000;
        end += binary ? 2 : 1;
    }
    if (*end == 'B' || *end == 'b') end++;
    if (*end || value > max_bytes) return false;
    *bytes = (int64_t)value;
    return true;
}

void cli_seconds_text(double seconds, char *buffer, size_t size)
{
    if (!(seconds >= 0) || seconds > 1e7) {
        snprintf(buffer, size, "-:--");
        return;
    }
    const long whole = (long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(buffer, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(buffer, size, "%ld:%02ld", whole / 60, whole % 60);
}

/* Levenshtein distance of the first 63 characters; a swap of adjacent letters counts once. */
double cli_seconds_parse(const char *text)
{
    char *unit = NULL;
    const double number = strtod(text, &unit);
    const double seconds = !strcmp(unit, "s") ? 1 : !strcmp(unit, "m") ? 60 : !strcmp(unit, "h") ? 3600 : -1;
    return isfinite(number) && number >= 0 && unit != text && seconds > 0 ? number * seconds : -1;
}

int cli_edit_distance(const char *a, const char *b)
{
    enum { MAX_LENGTH = 64 };
    int row[3][MAX_LENGTH]; /* rows i - 2, i - 1 and i */
    const int wide = (int)strnlen(b, MAX_LENGTH - 1), tall = (int)strnlen(a, MAX_LENGTH - 1);
    for (int j = 0; j <= wide; j++) row[1][j] = j;
    for (int i = 1; i <= tall; i++) {
        row[2][0] = i;
        for (int j = 1; j <= wide; j++) {
            int cost = row[1][j - 1] + (a[i - 1] != b[j - 1]);
            if (row[1][j] + 1 < cost) cost = row[1][j] + 1;
            if (row[2][j - 1] + 1 < cost) cost = row[2][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && row[0][j - 2] + 1 < cost)
                cost = row[0][j - 2] + 1;
            row[2][j] = cost;
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[1]);
    }
    return row[1][wide];
}
