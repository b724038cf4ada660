/* enhope predict --data -: answers each line of standard input as soon as it is complete.
 *
 * Text that is available is read up to a block before it is answered, so that a file or a fast pipe
 * is processed in blocks. When the input would have to wait, all complete lines are answered and
 * the output is flushed. */
#define _GNU_SOURCE 1 /* ppoll */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "predict/answers.h"

enum { BLOCK = 1 << 16 };

bool predict_can_stream(const answers *a, const cli_options *options)
{
    const cli_source_options *s = &options->source;
    const bool whole = a->format == &table_npy || a->format == &table_npz; /* they begin with the number of rows */
    return options->data && !strcmp(options->data, "-") && !whole && !s->split && !s->part && !s->variables &&
           !s->classes;
}

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* A caught signal also ends a write that waits for a reader. */
static void catch_signals(void)
{
    cli_catch_signals();
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL)
            continue;
        action.sa_flags &= ~SA_RESTART;
        sigaction(signals[i], &action, NULL);
    }
}

/* ---- input ---- */

typedef struct input {
    char text[BLOCK];
    size_t used;
    bool end;     /* no more text follows */
    bool stopped; /* by a signal: the rest is not read */
    bool piped;   /* answers go to standard output: end if its reader is gone */
} input;

/* Waits for text. Returns early if a signal is caught or the reader of a pipe is gone. */
static int wait_for_text(input *in)
{
    sigset_t blocked, before;
    struct pollfd at[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = in->piped ? STDOUT_FILENO : -1}};
    sigemptyset(&blocked);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    /* signals arrive only within ppoll, which they end */
    const int ready = cli_caught_signal() ? 0 : ppoll(at, 2, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    in->stopped = cli_caught_signal() != 0;
    return ready > 0 && at[1].revents & POLLERR ? CLI_BROKEN_PIPE : 0;
}

static bool is_available(void)
{
    struct pollfd at = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&at, 1, 0) > 0;
}

/* Reads the text that is available, at least one byte unless it ends. */
static int read_text(input *in)
{
    in->used = 0;
    do {
        const int code = in->used ? 0 : wait_for_text(in);
        if (code || in->stopped) return code;
        const ssize_t got = read(STDIN_FILENO, in->text + in->used, BLOCK - in->used);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return cli_error("standard input: cannot be read: %s", strerror(errno));
        if (got > 0) in->used += (size_t)got;
        in->end = got == 0;
    } while (!in->end && (!in->used || (in->used < BLOCK && is_available())));
    return 0;
}

/* ---- answers ---- */

/* Answers the rows that are complete with text, or all rows if the text has ended (NULL). */
static int answer(answers *a, enhope_reader *reader, const char *text, size_t size, int64_t *rows)
{
    enhope_context *ctx = a->session->ctx;
    for (;;) {
        const enhope_dataset *data = NULL;
        const enhope_status status =
            text ? enhope_reader_take(ctx, reader, text, size, &data) : enhope_reader_end(ctx, reader, &data);
        if (status) return cli_fail(ctx, status);
        if (!data) return 0;
        enhope_dataset_info info;
        enhope_dataset_get_info(data, &info);
        const int code = answers_put(a, data, info.n);
        if (code) return code;
        *rows += info.n;
        size = 0; /* the text is taken */
    }
}

static int answer_all(answers *a, enhope_reader *reader, input *in)
{
    const int64_t limit = a->options->source.limit;
    int64_t rows = 0;
    int code = 0;
    while (!code && !in->end && !in->stopped) {
        code = read_text(in);
        if (!code) code = answer(a, reader, in->text, in->used, &rows);
        if (limit && rows >= limit) in->end = true;
    }
    /* an incomplete line before a signal is no row */
    if (!code && !in->stopped) code = answer(a, reader, NULL, 0, &rows);
    return code ? code : answers_close(a);
}

int predict_stream(answers *a, const cli_session *session, const cli_options *options)
{
    enhope_reader *reader = NULL;
    enhope_source source = cli_source(options, options->data);
    source.model = session->model;
    input *in = cli_alloc("the text of standard input", 1, 1, sizeof *in);
    if (!in) return CLI_FAILED;
    in->piped = !options->output || !strcmp(options->output, "-");
    int code = answers_open(a, session, 0);
    const enhope_status status = code ? ENHOPE_OK : enhope_reader_create(session->ctx, &source, &reader);
    if (status) code = cli_fail(session->ctx, status);
    catch_signals();
    if (!code) code = answer_all(a, reader, in);
    enhope_reader_free(reader);
    free(in);
    return cli_caught_signal() ? 128 + cli_caught_signal() : code;
}
