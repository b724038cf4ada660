/* Writes data into the page of enhope view. */
#include "view/page.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/cli.h"
#include "view/page_history.h"

uint16_t cli_page_place(double y, double low, double high)
{
    const double wide = high - low;
    return wide > 0 && isfinite(y) ? (uint16_t)lround(65535 * fmin(1, fmax(0, (y - low) / wide))) : 32768;
}

void cli_page_put_json(FILE *out, const char *id, const char *json, size_t size)
{
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (size_t i = 0; i < size; i++) { /* in JSON these occur in strings only and can be escaped */
        if (json[i] == '<' || json[i] == '>' || json[i] == '&')
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)json[i]);
        else
            putc(json[i], out);
    }
    fputs("</script>\n", out);
}

void cli_page_history_free(cli_page_history *history)
{
    free(history->place);
    free(history->frame);
    *history = (cli_page_history){0};
}

static void put_base64(FILE *out, const uint8_t *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { GROUPS = 4096 };
    char text[GROUPS * 4];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned three = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                               (left > 2 ? (unsigned)bytes[i + 2] : 0);
        text[used++] = digit[three >> 18];
        text[used++] = digit[three >> 12 & 63];
        text[used++] = left > 1 ? digit[three >> 6 & 63] : '=';
        text[used++] = left > 2 ? digit[three & 63] : '=';
        if (used == sizeof text) {
            fwrite(text, 1, used, out);
            used = 0;
        }
    }
    fwrite(text, 1, used, out);
}

int cli_page_put_block(FILE *out, const char *id, const void *numbers, size_t count, size_t width)
{
    enum { LEVEL = 6 };
    const uint8_t *from = numbers;
    const size_t size = count * width;
    uLongf packed_size = compressBound((uLong)size);
    uint8_t *planes = cli_alloc(id, (int64_t)size, 1, 1);
    uint8_t *packed = planes ? cli_alloc(id, (int64_t)packed_size, 1, 1) : NULL;
    int code = packed ? 0 : CLI_FAILED;
    for (size_t b = 0; b < width && !code; b++)
        for (size_t i = 0; i < count; i++) planes[b * count + i] = from[i * width + b];
    if (!code && compress2(packed, &packed_size, planes, (uLong)size, LEVEL) != Z_OK)
        code = cli_error("out of memory: cannot compress %s", id);
    if (!code) {
        fprintf(out, "<script type=\"text/plain\" id=\"%s\" data-count=\"%zu\" data-width=\"%zu\">", id, count, width);
        put_base64(out, packed, packed_size);
        fputs("</script>\n", out);
    }
    free(planes);
    free(packed);
    return code;
}
