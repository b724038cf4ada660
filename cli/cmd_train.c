/* enhope train: data and settings in, a model file out. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static const char default_output[] = "model.safetensors";

static int make_settings(enhope_context *ctx, const cli_options *options, enhope_settings **out)
{
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    for (int pass = 0; pass < 2; pass++) /* the recipe first, wherever it stands */
        for (int i = 0; i < options->settings; i++) {
            const cli_pair *setting = &options->setting[i];
            if (!strcmp(setting->name, "recipe") != (pass == 0)) continue;
            const enhope_status status = enhope_settings_set(ctx, *out, setting->name, setting->value);
            if (status) return cli_fail(ctx, status);
        }
    return 0;
}

static void describe_best(const cli_session *session, char *buffer, size_t size)
{
    const enhope_history *best = cli_session_best(session);
    if (best && isfinite(best->valid_error))
        snprintf(buffer, size, "validation error %.2f %% at epoch %lld", 100 * best->valid_error,
                 (long long)best->epoch);
    else if (best)
        snprintf(buffer, size, "no validation part, epoch %lld", (long long)best->epoch);
    else
        snprintf(buffer, size, "before the first epoch ended");
}

static void put_summary(const cli_session *session, double seconds, const char *path)
{
    char best[96], bytes[32];
    struct stat at = {0};
    const int64_t rows = session->model_info.epochs;
    describe_best(session, best, sizeof best);
    cli_bytes_text(stat(path, &at) == 0 ? (double)at.st_size : 0.0, bytes, sizeof bytes);
    if (!strcmp(session->model_info.method, "knn")) { /* nothing was learned */
        printf("Kept %lld points for %s; the model is in %s (%s).\n", (long long)session->model_info.references,
               session->model_info.method, path, bytes);
        return;
    }
    const char *limit = enhope_model_setting(session->model, "time");
    const bool cut = limit && atof(limit) > 0 && seconds >= atof(limit);
    printf("Trained %s for %lld epoch%s in %.1f s%s: %s; the model is in %s (%s).\n", session->model_info.method,
           (long long)rows, rows == 1 ? "" : "s", seconds, cut ? " (ended by --time)" : "", best, path, bytes);
}

/* The held-out error beside the training error, and a warning where they part. */
static void put_errors(const cli_session *session)
{
    char errors[256];
    if (!cli_errors_text(&session->model_info, errors, sizeof errors)) return;
    printf("Errors with 95 %% intervals: %s.\n", errors);
    if (!cli_errors_part(&session->model_info)) return;
    fflush(stdout); /* the warning comes after what it speaks of */
    fputs("The validation error is clearly above the training error: the map has learned its training samples better "
          "than "
          "their classes. --noise, --dropout, a smaller map (--factors, --hidden) or more samples may help.\n",
          stderr);
}

static int train_and_save(cli_session *session, const cli_options *options, const enhope_settings *settings,
                          cli_progress *progress, const char *path)
{
    const enhope_status status =
        enhope_train(session->ctx, session->data, settings, cli_progress_step, progress, &session->model);
    cli_progress_clear(progress);
    if (status && status != ENHOPE_STOPPED) return cli_fail(session->ctx, status);
    enhope_model_get_info(session->model, &session->model_info);

    if (cli_rank()) return 0; /* rank 0 has the same model */

    const enhope_status saved = enhope_model_save(session->ctx, session->model, path);
    if (saved) return cli_fail(session->ctx, saved);
    if (status == ENHOPE_STOPPED) {
        char best[96];
        describe_best(session, best, sizeof best);
        cli_error("stopped; the best model so far (%s) is saved in %s", best, path);
        return 128 + cli_caught_signal();
    }
    if (options->quiet) return 0;
    put_summary(session, progress->seconds, path);
    put_errors(session);
    return 0;
}

int cmd_train(const cli_options *options)
{
    const char *path = options->output ? options->output : default_output;
    if (!strcmp(path, "-"))
        return cli_usage_error(options->command, "a model cannot go to standard output; -o FILE names a file");
    cli_session session;
    cli_progress progress = {0};
    enhope_settings *settings = NULL;
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code) code = make_settings(session.ctx, options, &settings);
    if (!code && !options->data) code = cli_usage_error(options->command, "--data SPEC is missing");
    const bool quiet = options->quiet || cli_rank();
    if (!code) code = cli_output_differs(path, options->data);
    if (!code && !cli_rank()) code = cli_output_check(path); /* before the work, not after it */
    if (!code) code = cli_progress_open(&progress, quiet, cli_rank() ? NULL : options->log);
    if (!code) enhope_context_set_log(session.ctx, cli_progress_line, &progress);
    if (!code) code = cli_session_data(&session, options, options->data, "train");
    if (!code && cli_caught_signal() && cli_ranks() == 1) { /* ranks stop together, in the first batch */
        cli_error("stopped before training began; nothing is saved");
        code = 128 + cli_caught_signal();
    }
    if (!code) {
        if (!quiet)
            fprintf(stderr, "%s: %lld samples, %lld inputs, %d classes\n", options->data,
                    (long long)session.data_info.n, (long long)session.data_info.inputs,
                    (int)session.data_info.classes);
        code = train_and_save(&session, options, settings, &progress, path);
    }
    cli_progress_close(&progress);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
