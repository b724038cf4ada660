/* Bytes of a file, plain or gzip (zlib detects which), or of standard input; and a sliding window
 * on a text, in which the text readers parse in place. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/read/read.h"

enum {
    MAX_STEP = 1 << 30, /* maximum bytes per gzread */
    GZ_BUFFER = 1 << 17,
    TEXT_BUFFER = 1 << 18, /* bytes of a text window, unless a line is longer */
    MAX_PENDING = 1 << 26  /* maximum bytes of a text that arrives in chunks and has no complete record */
};

static enhope_status gz_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    gzFile gz = s->state;
    size_t done = 0;
    while (done < want) {
        const size_t step = want - done < MAX_STEP ? want - done : MAX_STEP;
        const int n = gzread(gz, (char *)to + done, (unsigned)step);
        if (n > 0) done += (size_t)n;
        if (n == (int)step) continue;
        int code;
        const char *message = gzerror(gz, &code);
        if (code == Z_BUF_ERROR)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data ends early: the file is truncated", s->name);
        if (code == Z_ERRNO) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", s->name, strerror(errno));
        if (code == Z_MEM_ERROR) return eh_fail_memory(ctx, "gzip", GZ_BUFFER, 1);
        if (code != Z_OK && code != Z_STREAM_END) {
            const char *reason = strstr(message, ">: "); /* zlib puts "<fd:3>: " before its message */
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data is damaged: %s", s->name,
                           reason ? reason + 3 : message);
        }
        break;
    }
    *got = done;
    return ENHOPE_OK;
}

static void gz_close(eh_stream *s)
{
    gzclose_r((gzFile)s->state);
}

enhope_status eh_stream_open(enhope_context *ctx, const char *path, eh_stream *s)
{
    const bool input = strcmp(path, "-") == 0;
    const char *name = input ? "standard input" : path;
    struct stat info;
    const int fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        const int reason = errno;
        if (fd >= 0) close(fd);
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", name, strerror(reason));
    }
    if (S_ISDIR(info.st_mode)) {
        close(fd);
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: is a folder: expected a file", name);
    }
    if (S_ISREG(info.st_mode) && info.st_size == 0) {
        close(fd);
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the file is empty", name);
    }
    gzFile gz = gzdopen(fd, "rb");
    if (!gz) {
        close(fd);
        return eh_fail_memory(ctx, "gzip", GZ_BUFFER, 1);
    }
    gzbuffer(gz, GZ_BUFFER);
    const bool sized = S_ISREG(info.st_mode) && !input;
    *s = (eh_stream){.name = name,
                     .state = gz,
                     .read = gz_read,
                     .close = gz_close,
                     .left = sized && gzdirect(gz) ? (int64_t)info.st_size : -1,
                     .stored = sized ? (int64_t)info.st_size : 0};
    return ENHOPE_OK;
}

enhope_status eh_stream_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    EH_TRY(s->read(ctx, s, to, want, got));
    if (s->left >= 0) s->left = s->left > (int64_t)*got ? s->left - (int64_t)*got : 0;
    return ENHOPE_OK;
}

double eh_stream_share(const eh_stream *s)
{
    if (s->stored <= 0) return NAN;
    if (s->left >= 0) return 1 - (double)s->left / (double)s->stored;
    return s->read == gz_read ? (double)gzoffset((gzFile)s->state) / (double)s->stored : NAN;
}

void eh_stream_close(eh_stream *s)
{
    if (s->close) s->close(s);
    *s = (eh_stream){.name = NULL};
}

/* ---- text ---- */

enhope_status eh_text_open(enhope_context *ctx, const char *path, eh_text *text)
{
    eh_stream s = {.name = NULL};
    *text = (eh_text){.line = 1};
    EH_TRY(eh_stream_open(ctx, path, &s));
    return eh_text_open_stream(ctx, &s, text);
}

enhope_status eh_text_open_stream(enhope_context *ctx, const eh_stream *stream, eh_text *text)
{
    *text = (eh_text){.line = 1, .stream = *stream};
    enhope_status status = eh_new(ctx, "a text buffer", TEXT_BUFFER, 1, (void **)&text->buffer);
    if (!status) {
        text->capacity = TEXT_BUFFER;
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
    if (text->used == text->capacity) {
        char *grown = eh_grow(text->buffer, text->capacity, 2 * text->capacity, 1);
        if (!grown) return eh_fail_memory(ctx, "a line of text", text->capacity, 2);
        text->buffer = grown;
        text->capacity *= 2;
    }
    size_t got;
    EH_TRY(eh_stream_read(ctx, &text->stream, text->buffer + text->used, text->capacity - text->used, &got));
    if (memchr(text->buffer + text->used, '\0', got))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains NUL bytes: expected a text file", text->stream.name);
    text->end = text->used + got < text->capacity;
    text->used += got;
    return ENHOPE_OK;
}

/* ---- a text that arrives in chunks ---- */

enhope_status eh_text_open_chunks(enhope_context *ctx, const char *name, eh_text *text)
{
    *text = (eh_text){.line = 1, .stream = {.name = name, .left = -1}};
    EH_TRY(eh_new(ctx, "a text buffer", TEXT_BUFFER, 1, (void **)&text->buffer));
    text->capacity = TEXT_BUFFER;
    return ENHOPE_OK;
}

enhope_status eh_text_append(enhope_context *ctx, eh_text *text, const char *bytes, size_t size)
{
    if (memchr(bytes, '\0', size))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains NUL bytes: expected text", text->stream.name);
    memmove(text->buffer, text->buffer + text->at, text->used - text->at);
    text->used -= text->at;
    text->at = 0;
    size_t capacity = text->capacity;
    while (capacity - text->used < size && capacity < MAX_PENDING) capacity *= 2;
    if (capacity - text->used < size)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s:%lld: a record has more than %d bytes; close its quotes",
                       text->stream.name, (long long)text->line, MAX_PENDING);
    if (capacity > text->capacity) {
        char *grown = eh_grow(text->buffer, text->capacity, capacity, 1);
        if (!grown) return eh_fail_memory(ctx, "a line of text", capacity, 1);
        text->buffer = grown;
        text->capacity = capacity;
    }
    memcpy(text->buffer + text->used, bytes, size);
    text->used += size;
    return ENHOPE_OK;
}

int64_t eh_text_guess(const eh_text *text, int64_t items)
{
    if (text->stream.left < 0 || items < 1) return items < 1 ? 1 : items;
    const double rest = (double)text->stream.left + (double)(text->used - text->at);
    const double seen = (double)text->stream.stored - rest;
    if (seen < 1) return items;
    const double guess = (double)items * rest / seen * 1.02 + 16;
    /* limits for items of different lengths: at most one per byte, at least items / 8 */
    return guess > rest + 1 ? (int64_t)rest + 1 : guess < (double)items / 8 ? items / 8 + 1 : (int64_t)guess;
}

void eh_text_close(eh_text *text)
{
    eh_stream_close(&text->stream);
    eh_free(text->buffer);
    *text = (eh_text){.buffer = NULL};
}
