/* enhope convert: writes data as a folder of shards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

typedef struct conversion {
    cli_progress progress;
    double drawn;
    enhope_conversion last;
    bool reported; /* the message that the conversion resumes is printed */
} conversion;

static int draw(const enhope_conversion *at, void *user)
{
    conversion *c = user;
    if (at->resumed > 0 && !c->reported) {
        char line[96];
        snprintf(line, sizeof line, "resuming after %lld converted rows", (long long)at->resumed);
        cli_progress_log(ENHOPE_LOG_INFO, line, &c->progress);
        c->reported = true;
    }
    if (at->seconds - c->drawn > 0.1) {
        cli_progress_share(&c->progress, "converting", at->share, at->rows, at->seconds_left);
        c->drawn = at->seconds;
    }
    c->last = *at;
    return cli_caught_signal() != 0;
}

static int summarize(const conversion *c, const char *folder)
{
    if (c->progress.quiet) return 0;
    if (c->last.rows == 0) {
        cli_print(stderr, "%s: already complete\n", folder);
        return 0;
    }
    cli_print(stderr, "%s: %lld rows, %.1f s\n", folder, (long long)c->last.rows, c->last.seconds);
    return 0;
}

/* Converts one part; *status is the status of the library. */
static int convert(const cli_session *session, const cli_options *options, const char *part, const char *folder,
                   enhope_status *status)
{
    enhope_source source = cli_source(options, options->data);
    conversion c = {.drawn = 0};
    int64_t bytes = 0;
    source.part = part;
    if (options->shards.size && (!cli_parse_bytes(options->shards.size, &bytes) || bytes < 1))
        return cli_usage_error(options->command, "--shard-size is '%s': expected a size, such as 64M or 1GB",
                               options->shards.size);
    int code = cli_progress_open(&c.progress, options->quiet, NULL, false);
    if (code) return code;
    *status = enhope_convert(session->ctx, &source, folder, options->shards.rows, bytes, draw, &c);
    cli_progress_close(&c.progress);
    if (*status == ENHOPE_STOPPED && c.last.rows == 0) return cli_fail(session->ctx, *status);
    if (*status == ENHOPE_STOPPED) {
        cli_error("%s: stopped at row %lld; run the same command again to resume", folder, (long long)c.last.rows);
        return 128 + cli_caught_signal();
    }
    return *status ? CLI_FAILED : summarize(&c, folder);
}

static int convert_parts(const cli_session *session, const cli_options *options)
{
    static const char *const parts[] = {"train", "test"};
    char folder[4096];
    enhope_status status = ENHOPE_OK;
    int code = 0;
    for (int i = 0; i < 2 && !code; i++) {
        snprintf(folder, sizeof folder, "%.4000s/%s", options->output, parts[i]);
        code = convert(session, options, parts[i], folder, &status);
    }
    return status && status != ENHOPE_STOPPED ? cli_fail(session->ctx, status) : code;
}

/* Whether to convert both parts of the data. */
static bool has_parts(const cli_session *session, const cli_options *options)
{
    if (options->source.part) return !strcmp(options->source.part, "both");
    if (!strncmp(options->data, "synthetic:", 10)) return false;
    const cli_parts found = cli_data_parts(options, options->data);
    if (found != CLI_MAYBE_PARTS) return found == CLI_WITH_PARTS;
    enhope_source source = cli_source(options, options->data);
    enhope_dataset *test = NULL;
    source.part = "test";
    const bool there = enhope_dataset_read(session->ctx, &source, &test) == ENHOPE_OK;
    enhope_dataset_free(test);
    return there;
}

int cmd_convert(const cli_options *options)
{
    cli_session session;
    enhope_status status = ENHOPE_OK;
    int code = cli_session_open(&session, options);
    if (!code && !options->data) code = cli_usage_error(options->command, "missing option: --data SPEC");
    if (!code && !options->output) code = cli_usage_error(options->command, "missing option: -o FOLDER");
    if (!code) {
        cli_catch_signals();
        if (has_parts(&session, options)) {
            code = convert_parts(&session, options);
        } else {
            code = convert(&session, options, options->source.part, options->output, &status);
            if (status && status != ENHOPE_STOPPED) code = cli_fail(session.ctx, status);
        }
    }
    cli_session_close(&session);
    return code;
}
