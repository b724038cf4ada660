/* Bytes of a file, plain or gzip, or of standard input; and a sliding window on a text, in which
 * the text readers parse in place. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/read/gzip.h"

enum {
    TEXT_BUFFER = EH_BUFFER(1 << 18), /* bytes of a text window, unless a line is longer */
    MAX_PENDING = 1 << 26             /* maximum bytes of a text that arrives in chunks and has no complete record */
};

/* A signal may interrupt the opening of a pipe. If the context can stop a wait, a FIFO is opened
 * without a writer, and the first reading waits for one. */
static int open_file(const enhope_context *ctx, const char *path)
{
    struct stat at;
    const bool waits = ctx->stop && stat(path, &at) == 0 && S_ISFIFO(at.st_mode);
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | (waits ? O_NONBLOCK : 0));
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && waits) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

enhope_status eh_stream_open(enhope_context *ctx, const char *path, eh_stream *s)
{
    const bool input = strcmp(path, "-") == 0;
    const char *name = input ? "standard input" : path;
    struct stat info;
    const int fd = input ? dup(STDIN_FILENO) : open_file(ctx, path);
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
    bool plain;
    const enhope_status status = eh_gzip_open(ctx, fd, name, s, &plain);
    if (status) {
        close(fd);
        return status;
    }
    if (!S_ISREG(info.st_mode) || input) return ENHOPE_OK;
    s->stored = (int64_t)info.st_size;
    if (plain) s->left = s->stored;
    return ENHOPE_OK;
}

enhope_status eh_stream_check(enhope_context *ctx, const char *path)
{
    struct stat at;
    if (stat(path, &at) != 0 || S_ISREG(at.st_mode) || S_ISDIR(at.st_mode)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is a pipe or a device: expected a regular file", path);
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
    return eh_gzip_is(s) ? (double)eh_gzip_position(s) / (double)s->stored : NAN;
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
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains NUL bytes: expected a text file in UTF-8",
                       text->stream.name);
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
    const char *nul = memchr(bytes, '\0', size);
    if (nul) size = (size_t)(nul - bytes);
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
    if (nul) return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: contains NUL bytes: expected text", text->stream.name);
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
