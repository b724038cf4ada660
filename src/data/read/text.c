/* A window on a text that moves along: the readers of text parse in place, a block at a time. */
#include <string.h>

#include "data/read/read.h"

enum { BLOCK = 1 << 18 };

enhope_status eh_text_open(enhope_context *ctx, const char *path, eh_text *text)
{
    *text = (eh_text){.line = 1};
    EH_TRY(eh_stream_open(ctx, path, &text->stream));
    enhope_status status = eh_new(ctx, "a text buffer", BLOCK, 1, (void **)&text->buffer);
    if (!status) {
        text->room = BLOCK;
        status = eh_text_more(ctx, text);
    }
    if (!status && text->used == 0)
        status = eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the file is empty", text->stream.name);
    if (status) {
        eh_text_close(text);
        return status;
    }
    if (text->used >= 3 && memcmp(text->buffer, "\xEF\xBB\xBF", 3) == 0) text->at = 3;
    return ENHOPE_OK;
}

enhope_status eh_text_more(enhope_context *ctx, eh_text *text)
{
    if (text->at > 0) {
        memmove(text->buffer, text->buffer + text->at, text->used - text->at);
        text->used -= text->at;
        text->at = 0;
    }
    if (text->used == text->room) {
        char *grown = eh_grow(text->buffer, text->room, 2 * text->room, 1);
        if (!grown) return eh_fail_memory(ctx, "a line of text", text->room, 2);
        text->buffer = grown;
        text->room *= 2;
    }
    size_t got;
    EH_TRY(eh_stream_read(ctx, &text->stream, text->buffer + text->used, text->room - text->used, &got));
    if (memchr(text->buffer + text->used, '\0', got))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: holds NUL bytes: this is no text file", text->stream.name);
    text->end = text->used + got < text->room;
    text->used += got;
    return ENHOPE_OK;
}

int64_t eh_text_guess(const eh_text *text, int64_t items)
{
    if (text->stream.left < 0 || items < 1) return items < 1 ? 1 : items;
    const double rest = (double)text->stream.left + (double)(text->used - text->at);
    const double seen = (double)text->stream.stored - rest;
    if (seen < 1) return items;
    const double guess = (double)items * rest / seen * 1.02 + 16;
    /* items of different length mislead: never more than the text has bytes, nor so few that growth is slow */
    return guess > rest + 1 ? (int64_t)rest + 1 : guess < (double)items / 8 ? items / 8 + 1 : (int64_t)guess;
}

void eh_text_close(eh_text *text)
{
    eh_stream_close(&text->stream);
    eh_free(text->buffer);
    *text = (eh_text){.buffer = NULL};
}
