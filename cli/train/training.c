/* Trains a new model (train) or continues from one (update) and saves it, with progress,
 * checkpoints, signals and a summary. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cli.h"

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
    const int64_t earlier = session->model_info.earlier, rows = session->model_info.epochs - earlier;
    describe_best(session, best, sizeof best);
    cli_bytes_text(stat(path, &at) == 0 ? (double)at.st_size : 0.0, bytes, sizeof bytes);
    if (!strcmp(session->model_info.method, "knn")) { /* nothing was learned */
        printf("Stored %lld points for %s; the model is in %s (%s).\n", (long long)session->model_info.references,
               session->model_info.method, path, bytes);
        return;
    }
    const char *limit = enhope_model_setting(session->model, "time_limit");
    const bool cut = limit && atof(limit) > 0 && seconds >= atof(limit);
    printf("Trained %s for %lld %sepoch%s in %.1f s%s: %s; the model is in %s (%s).\n", session->model_info.method,
           (long long)rows, earlier ? "more " : "", rows == 1 ? "" : "s", seconds,
           cut ? " (ended by --time-limit)" : "", best, path, bytes);
}

/* Prints the validation and the training error, and a warning if they differ much. */
static void put_errors(const cli_session *session)
{
    char errors[256];
    if (!cli_errors_text(&session->model_info, errors, sizeof errors)) return;
    printf("Errors with 95 %% intervals: %s.\n", errors);
    if (!cli_errors_differ(&session->model_info)) return;
    fflush(stdout); /* print the warning after the errors */
    fputs("warning: the validation error is clearly above the training error: the model overfits. Try --noise, "
          "--dropout, a smaller map (--n-factors, --n-hidden) or more samples.\n",
          stderr);
}

/* After a signal: reports the checkpoint, or saves the best model if there is none. */
static int stopped(cli_session *session, const cli_checkpoint *checkpoint, const char *path)
{
    if (cli_rank()) return 0;
    if (checkpoint->safe) {
        cli_error("stopped; the checkpoint is %s; run the same command with --resume to resume", checkpoint->newest);
        return 128 + cli_caught_signal();
    }
    char best[96];
    const enhope_status saved = enhope_model_save(session->ctx, session->model, path);
    if (saved) return cli_fail(session->ctx, saved);
    describe_best(session, best, sizeof best);
    cli_error("stopped; the best model so far (%s) is saved in %s", best, path);
    return 128 + cli_caught_signal();
}

/* Training time of all runs since the start. If this run had nothing left to do, the time is that
 * of the history, without the part of the model that update started from. */
static double all_seconds(const cli_session *session, const cli_progress *progress)
{
    int64_t rows = 0;
    const int64_t earlier = session->model_info.earlier;
    const enhope_history *history = enhope_model_history(session->model, &rows);
    if (progress->seconds > 0 || rows <= earlier) return progress->seconds;
    const double before = earlier ? history[earlier - 1].seconds : 0;
    const double seconds = history[rows - 1].seconds - (isfinite(before) ? before : 0);
    return isfinite(seconds) ? seconds : progress->seconds;
}

static int save(cli_session *session, const cli_options *options, const cli_progress *progress, const char *path)
{
    if (cli_rank()) return 0; /* rank 0 has the same model */
    const enhope_status saved = enhope_model_save(session->ctx, session->model, path);
    if (saved) return cli_fail(session->ctx, saved);
    if (options->quiet) return 0;
    put_summary(session, all_seconds(session, progress), path);
    put_errors(session);
    return 0;
}

/* Before: session->model is the model to continue from, or NULL. After: it is the new model. */
static int train(cli_session *session, const cli_options *options, const enhope_settings *settings,
                 cli_progress *progress, cli_checkpoint *checkpoint, const char *path)
{
    enhope_trainer *trainer = NULL;
    enhope_model *from = session->model;
    enhope_status status = enhope_trainer_create(session->ctx, from, session->data, settings, &trainer);
    if (status) return cli_fail(session->ctx, status);
    session->model = NULL;
    int code = cli_checkpoint_begin(checkpoint, session->ctx, trainer, progress);
    if (!code) {
        status = enhope_trainer_run(trainer, cli_checkpoint_step, checkpoint);
        if (!status) cli_checkpoint_end(checkpoint);
        cli_progress_clear(progress);
        const bool stop = status == ENHOPE_STOPPED;
        if (!status || (stop && !checkpoint->safe)) status = enhope_trainer_model(trainer, &session->model);
        if (status && status != ENHOPE_STOPPED) code = cli_fail(session->ctx, status);
        if (session->model) enhope_model_get_info(session->model, &session->model_info);
        if (!code) code = stop ? stopped(session, checkpoint, path) : save(session, options, progress, path);
    }
    enhope_trainer_free(trainer);
    enhope_model_free(from);
    return code;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names)) return true;
    return false;
}

int cli_settings_of_model(const cli_session *session, const char *const *others, enhope_settings **out)
{
    const char *recipe = enhope_model_setting(session->model, "recipe");
    enhope_status status = ENHOPE_OK;
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    if (recipe) status = enhope_settings_set(session->ctx, *out, "recipe", recipe);
    for (int i = 0; i < enhope_setting_count() && !status; i++) {
        const char *name = enhope_setting_get(i)->name, *value = enhope_model_setting(session->model, name);
        if (value && strcmp(name, "recipe") != 0 && !is_among(name, others) && enhope_settings_applies(*out, name))
            status = enhope_settings_set(session->ctx, *out, name, value);
    }
    return status ? cli_fail(session->ctx, status) : 0;
}

static void print_data(const cli_session *session, const cli_options *options)
{
    if (options->quiet || cli_rank()) return;
    fprintf(stderr, "%s: %lld samples, %lld inputs, %d classes\n", options->data, (long long)session->data_info.n,
            (long long)session->data_info.inputs, (int)session->data_info.classes);
}

/* The exit code if a signal was caught before training; else 0. */
static int stopped_early(void)
{
    if (!cli_caught_signal() || cli_ranks() > 1) return 0; /* ranks stop together in the first batch */
    cli_error("stopped before training began; no model is saved");
    return 128 + cli_caught_signal();
}

int cli_train(cli_session *session, const cli_options *options, const enhope_settings *settings, const char *path)
{
    cli_progress progress = {0};
    cli_checkpoint checkpoint = {.lock = -1};
    int code = cli_output_differs(path, options->data);
    if (!code && !cli_rank()) code = cli_output_check(path); /* check before training */
    if (!code) code = cli_checkpoint_open(&checkpoint, options, path);
    if (!code)
        code = cli_progress_open(&progress, options->quiet || cli_rank(), cli_rank() ? NULL : options->training.log,
                                 options->training.resume);
    if (!code) enhope_context_set_log(session->ctx, cli_progress_log, &progress);
    if (!code) code = cli_session_data(session, options, options->data, "train");
    if (!code) code = stopped_early();
    if (!code) print_data(session, options);
    if (!code) code = train(session, options, settings, &progress, &checkpoint, path);
    enhope_context_set_log(session->ctx, NULL, NULL);
    cli_progress_close(&progress);
    cli_checkpoint_close(&checkpoint);
    return code;
}
