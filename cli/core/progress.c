/* Progress of training: a bar on a terminal, else some twenty lines; the JSON log; and signals. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/cli.h"

static const double redraw_seconds = 0.1, line_seconds = 10;
enum { LINES = 20 }; /* of a run without a bar, and one whenever line_seconds have passed */

static bool catching;

void cli_catch_signals(void)
{
    catching = true;
    struct sigaction action = {0};
    action.sa_handler = cli_keep_signal;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART; /* a second signal ends the program */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* ignored under nohup */
        sigaction(SIGHUP, &action, NULL);
}

bool cli_signals_caught(void)
{
    return catching;
}

int cli_progress_open(cli_progress *progress, bool quiet, const char *log_path, bool append)
{
    const char *terminal = getenv("TERM");
    *progress =
        (cli_progress){.quiet = quiet, .log_path = log_path, .drawn = -1, .error_name = cli_error_name(NULL, NULL)};
    progress->bar = !quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    if (!log_path) return 0;
    progress->log = fopen(log_path, append ? "a+" : "w");
    if (!progress->log) return cli_error("%s: cannot write: %s", log_path, strerror(errno));
    return 0;
}

void cli_progress_keep(cli_progress *progress, int64_t rows)
{
    FILE *log = progress->log;
    if (!log) return;
    rewind(log);
    long end = 0;
    for (int c; rows > 0 && (c = getc(log)) != EOF;)
        if (c == '\n') rows--, end = ftell(log);
    /* a device or a pipe cannot be truncated */
    if (fflush(log) != 0 || ftruncate(fileno(log), end) != 0) clearerr(log);
}

const char *cli_error_name(const char *class_weight, const char *weight)
{
    if (!class_weight || !strcmp(class_weight, "none"))
        return weight ? "weighted validation error" : "validation error";
    return strcmp(class_weight, "balanced") ? "weighted validation error" : "balanced validation error";
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/* "epoch 3/30 [=====>    ] loss 0.1234, validation error 2.10 %, 0:42 left", to the terminal
 * width. */
static void draw_bar(const enhope_progress *at, const char *error_name)
{
    char head[64], tail[160], error[64] = "", left[32];
    const double within = at->epoch_done || at->batches <= 0 ? 0.0 : (double)at->batch / (double)at->batches;
    double done = at->epochs > 0 ? ((double)at->epoch + within) / (double)at->epochs : 0.0;
    done = done < 0 ? 0 : done > 1 ? 1 : done;
    const int64_t current = at->epoch + (at->epoch_done || at->epoch >= at->epochs ? 0 : 1);
    snprintf(head, sizeof head, "epoch %lld/%lld ", (long long)current, (long long)at->epochs);
    if (isfinite(at->valid_error)) snprintf(error, sizeof error, ", %s %.2f %%", error_name, 100 * at->valid_error);
    cli_seconds_text(at->seconds_left, left, sizeof left);
    snprintf(tail, sizeof tail, " loss %.5g%s, %s left", at->loss, error, left);

    const int columns = terminal_width() - 1;
    const int bar_width = columns - (int)strlen(head) - (int)strlen(tail) - 2;
    fputs("\r", stderr);
    if (bar_width >= 5) {
        const int cells = bar_width < 40 ? bar_width : 40, full = (int)(done * cells);
        fprintf(stderr, "%s[", head);
        for (int i = 0; i < cells; i++) putc(i < full ? '=' : i == full ? '>' : ' ', stderr);
        fprintf(stderr, "]%s", tail);
    } else {
        char line[256]; /* the terminal is too narrow for a bar */
        snprintf(line, sizeof line, "%s%.0f %%%s, %s left", head, 100 * done, *error ? strstr(error, " error") : "",
                 left);
        fprintf(stderr, "%.*s", columns, line);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

void cli_progress_share(cli_progress *progress, const char *what, double share, int64_t rows, double left)
{
    enum { CELLS = 30 };
    char line[256] = "", bar[CELLS + 3], time[32];
    const int full = isfinite(share) ? (int)(share * CELLS) : 0;
    if (!progress->bar) return;
    for (int i = 0; i < CELLS; i++) bar[i + 1] = i < full ? '=' : i == full ? '>' : ' ';
    bar[0] = '[', bar[CELLS + 1] = ']', bar[CELLS + 2] = '\0';
    cli_seconds_text(left, time, sizeof time);
    if (isfinite(share))
        snprintf(line, sizeof line, "%s %s %.0f %%, %lld rows, %s left", what, bar, 100 * share, (long long)rows, time);
    else
        snprintf(line, sizeof line, "%s %lld rows", what, (long long)rows);
    fprintf(stderr, "\r%.*s\033[K", terminal_width() - 1, line);
    fflush(stderr);
    progress->drawn = progress->seconds;
}

static void put_line(const enhope_progress *at, const char *error_name)
{
    fprintf(stderr, "epoch %lld/%lld: loss %.5g", (long long)at->epoch, (long long)at->epochs, at->loss);
    if (isfinite(at->valid_error)) fprintf(stderr, ", %s %.2f %%", error_name, 100 * at->valid_error);
    fprintf(stderr, ", %.1f s\n", at->seconds);
}

/* Whether a line is due: this epoch completes another twentieth of the run, or some time has passed
 * since the last line. */
static bool is_line_due(const cli_progress *progress, const enhope_progress *at)
{
    const int64_t epochs = at->epochs > 0 ? at->epochs : 1;
    return at->epoch * LINES / epochs != (at->epoch - 1) * LINES / epochs || at->epoch >= at->epochs ||
           at->seconds - progress->drawn >= line_seconds;
}

static void put_log(cli_progress *progress, const enhope_progress *at)
{
    FILE *out = progress->log;
    cli_json(out, "{\"epoch\": %lld, \"loss\": %g, \"valid_error\": %g", (long long)at->epoch, at->loss,
             at->valid_error);
    fprintf(out, ", \"seconds\": %.3f}\n", at->seconds);
    if (fflush(out) == 0 && !ferror(out)) return;
    cli_error("%s: cannot write: %s; training continues without --log", progress->log_path, strerror(errno));
    fclose(out);
    progress->log = NULL;
}

int cli_progress_step(const enhope_progress *at, void *user)
{
    cli_progress *progress = user;
    progress->seconds = at->seconds;
    if (at->epoch_done && progress->log) put_log(progress, at);
    if (progress->bar && (at->epoch_done || progress->drawn < 0 || at->seconds - progress->drawn >= redraw_seconds)) {
        draw_bar(at, progress->error_name);
        progress->drawn = at->seconds;
    } else if (at->epoch_done && !progress->quiet && !progress->bar && is_line_due(progress, at)) {
        put_line(at, progress->error_name);
        progress->drawn = at->seconds;
    }
    return cli_caught_signal() != 0;
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->bar && progress->drawn >= 0) fputs("\r\033[K", stderr);
    progress->drawn = -1;
}

void cli_put_log(enhope_log_level level, const char *line, void *user)
{
    if (user && level < ENHOPE_LOG_WARNING) return;
    if (!cli_rank()) cli_print(stderr, "%s%s\n", level == ENHOPE_LOG_WARNING ? "warning: " : "", line);
}

void cli_progress_log(enhope_log_level level, const char *line, void *user)
{
    cli_progress *progress = user;
    if (progress->quiet && level < ENHOPE_LOG_WARNING) return;
    cli_progress_clear(progress);
    cli_put_log(level, line, NULL);
}

void cli_progress_close(cli_progress *progress)
{
    cli_progress_clear(progress);
    if (progress->log) fclose(progress->log);
    progress->log = NULL;
}
