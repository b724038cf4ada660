/* The bytes of a file, plain or gzip. A file that begins with 1f 8b is gzip: one member or several;
 * other bytes after a member are ignored, as gzip does.
 *
 * read() is repeated if a signal interrupts it, which zlib's own functions for files do not do. */
#define _POSIX_C_SOURCE 200809L
#include "data/read/gzip.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BUFFER = EH_BUFFER(1 << 17),
    POLL_MS = 200, /* between two questions whether to stop */
    MAX_STEP = 1 << 30 /* bytes for inflate() or read() at once */,
    ANY_HEADER = 15 + 16
};

typedef struct gzip {
    int fd;
    bool packed, done; /* the last member has ended */
    int64_t position;  /* bytes read from fd */
    z_stream z;        /* its input is the unused part of `in`, also of a plain file */
    unsigned char in[BUFFER];
} gzip;

/* Waits until a file has bytes or ends, or the context stops the wait. */
static enhope_status wait_for(enhope_context *ctx, const char *name, int fd)
{
    struct pollfd at = {.fd = fd, .events = POLLIN};
    while (ctx->stop) {
        if (ctx->stop(ctx->stop_user)) return eh_fail(ctx, ENHOPE_STOPPED, "%s: stopped before its end", name);
        const int ready = poll(&at, 1, POLL_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR)) break; /* an error is that of read(), too */
    }
    return ENHOPE_OK;
}

/* *got is 0 only at the end of the file. */
static enhope_status read_some(enhope_context *ctx, const char *name, gzip *g, void *to, size_t want, size_t *got)
{
    ssize_t n;
    EH_TRY(wait_for(ctx, name, g->fd));
    do n = read(g->fd, to, want < MAX_STEP ? want : MAX_STEP);
    while (n < 0 && errno == EINTR);
    if (n < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", name, strerror(errno));
    g->position += n;
    *got = (size_t)n;
    return ENHOPE_OK;
}

/* Reads until two bytes are unused or the file ends. *magic: they are those of gzip. */
static enhope_status find_member(enhope_context *ctx, const char *name, gzip *g, bool *magic)
{
    size_t got = 1;
    memmove(g->in, g->z.next_in, g->z.avail_in);
    g->z.next_in = g->in;
    while (g->z.avail_in < 2 && got > 0) {
        EH_TRY(read_some(ctx, name, g, g->in + g->z.avail_in, BUFFER - g->z.avail_in, &got));
        g->z.avail_in += (unsigned)got;
    }
    *magic = g->z.avail_in >= 2 && g->in[0] == 0x1F && g->in[1] == 0x8B;
    return ENHOPE_OK;
}

/* Fills the empty buffer; *got is 0 at the end of the file. */
static enhope_status fill(enhope_context *ctx, const char *name, gzip *g, size_t *got)
{
    EH_TRY(read_some(ctx, name, g, g->in, BUFFER, got));
    g->z.next_in = g->in;
    g->z.avail_in = (unsigned)*got;
    return ENHOPE_OK;
}

static enhope_status read_plain(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    gzip *g = s->state;
    size_t done = 0;
    for (size_t n = 1; done < want && n > 0; done += n) {
        const size_t left = want - done;
        if (g->z.avail_in == 0 && left >= BUFFER) {
            EH_TRY(read_some(ctx, s->name, g, (char *)to + done, left, &n));
            continue;
        }
        if (g->z.avail_in == 0) EH_TRY(fill(ctx, s->name, g, &n));
        n = left < g->z.avail_in ? left : g->z.avail_in;
        memcpy((char *)to + done, g->z.next_in, n);
        g->z.next_in += n;
        g->z.avail_in -= (unsigned)n;
    }
    *got = done;
    return ENHOPE_OK;
}

static enhope_status unpack(enhope_context *ctx, eh_stream *s, gzip *g)
{
    bool more = true;
    if (g->z.avail_in == 0) {
        size_t got = 0;
        EH_TRY(fill(ctx, s->name, g, &got));
        if (got == 0)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data ends early: the file is truncated", s->name);
    }
    const int code = inflate(&g->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return eh_fail_memory(ctx, "gzip", BUFFER, 1);
    if (code != Z_OK && code != Z_STREAM_END)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data is damaged: %s", s->name,
                       g->z.msg ? g->z.msg : "it is not valid");
    if (code == Z_OK) return ENHOPE_OK;
    EH_TRY(find_member(ctx, s->name, g, &more));
    g->done = !more || inflateReset(&g->z) != Z_OK;
    return ENHOPE_OK;
}

static enhope_status read_packed(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    gzip *g = s->state;
    size_t done = 0;
    while (done < want && !g->done) {
        const size_t step = want - done < MAX_STEP ? want - done : MAX_STEP;
        g->z.next_out = (unsigned char *)to + done;
        g->z.avail_out = (unsigned)step;
        EH_TRY(unpack(ctx, s, g));
        done += step - g->z.avail_out;
    }
    *got = done;
    return ENHOPE_OK;
}

static void gzip_close(eh_stream *s)
{
    gzip *g = s->state;
    if (g->packed) inflateEnd(&g->z);
    close(g->fd);
    eh_free(g);
}

enhope_status eh_gzip_open(enhope_context *ctx, int fd, const char *name, eh_stream *s, bool *plain)
{
    gzip *g = NULL;
    EH_TRY(eh_new(ctx, "a reading buffer", 1, sizeof *g, (void **)&g));
    g->fd = fd;
    g->z.next_in = g->in;
    enhope_status status = find_member(ctx, name, g, &g->packed);
    if (!status && g->packed && inflateInit2(&g->z, ANY_HEADER) != Z_OK)
        status = eh_fail_memory(ctx, "gzip", BUFFER, 1);
    if (status) {
        eh_free(g);
        return status;
    }
    *plain = !g->packed;
    *s = (eh_stream){
        .name = name, .state = g, .read = g->packed ? read_packed : read_plain, .close = gzip_close, .left = -1};
    return ENHOPE_OK;
}

bool eh_gzip_is(const eh_stream *s)
{
    return s->close == gzip_close;
}

int64_t eh_gzip_position(const eh_stream *s)
{
    const gzip *g = s->state;
    return g->position - g->z.avail_in;
}
