/* Trains a new model (train) or continues from one (update) and saves it, with progress,
 * checkpoints, signals and a summary. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli.h"

static void describe_best(const cli_session *session, const char *error_name, char *buffer, size_t size)
{
    const enhope_history *best = cli_session_best(session);
    if (best && isfinite(best->valid_error))
        snprintf(buffer, size, "%s %.2f %% at epoch %lld", error_name, 100 * best->valid_error, (long long)best->epoch);
    else if (best && cli_cross_validated(session->model, &session->model_info))
        snprintf(buffer, size, "all samples are used for training, epoch %lld", (long long)best->epoch);
    else if (best)
        snprintf(buffer, size, "no validation part, epoch %lld", (long long)best->epoch);
    else
        snprintf(buffer, size, "before the first epoch ended");
}

static double file_bytes(const char *path)
{
    struct stat at = {0};
    return stat(path, &at) == 0 ? (double)at.st_size : 0.0;
}

/* Whether the time limit has ended the training. */
static bool is_cut(const cli_session *session, double seconds)
{
    const char *limit = enhope_model_setting(session->model, "time_limit");
    return limit && atof(limit) > 0 && seconds >= atof(limit);
}

static void put_summary(const cli_session *session, const char *error_name, double seconds, const char *path)
{
    char best[96], bytes[32];
    const int64_t earlier = session->model_info.earlier, rows = session->model_info.epochs - earlier;
    describe_best(session, error_name, best, sizeof best);
    cli_bytes_text(file_bytes(path), bytes, sizeof bytes);
    if (!strcmp(session->model_info.method, "knn")) { /* nothing was learned */
        printf("Stored %lld points for %s; the model is in %s (%s).\n", (long long)session->model_info.references,
               session->model_info.method, path, bytes);
        return;
    }
    printf("Trained %s for %lld %sepoch%s in %.1f s%s: %s; the model is in %s (%s).\n", session->model_info.method,
           (long long)rows, earlier ? "more " : "", rows == 1 ? "" : "s", seconds,
           is_cut(session, seconds) ? " (ended by --time-limit)" : "", best, path, bytes);
}

static void put_json(const cli_session *session, const char *error_name, double seconds, const char *path)
{
    const enhope_model_info *info = &session->model_info;
    cli_json(stdout,
             "{\n  \"method\": %s,\n  \"references\": %lld,\n  \"epochs\": %lld,\n  \"earlier_epochs\": %lld,\n"
             "  \"seconds\": %g,\n  \"time_limit_reached\": %i,\n  \"error_name\": %s",
             info->method, (long long)info->references, (long long)info->epochs, (long long)info->earlier, seconds,
             is_cut(session, seconds), error_name);
    cli_put_json_epoch("best", cli_session_best(session));
    cli_put_json_errors("validation", info->valid_errors, info->valid_n);
    cli_put_json_errors("training", info->train_errors, info->train_n);
    cli_json(stdout, ",\n  \"cross_validated\": %i,\n  \"overfits\": %i,\n  \"model\": %s,\n  \"bytes\": %g\n}\n",
             cli_cross_validated(session->model, info), cli_errors_differ(info), path, file_bytes(path));
}

/* The validation and the training error. */
static void put_errors(const cli_session *session)
{
    char errors[256];
    if (!cli_errors_text(session->model, &session->model_info, errors, sizeof errors)) return;
    printf("Errors with 95 %% intervals: %s.\n", errors);
}

static void warn_of_overfitting(const cli_session *session)
{
    if (!cli_errors_differ(&session->model_info)) return;
    fflush(stdout); /* print the warning after the errors */
    fputs("warning: the validation error is clearly above the training error: the model overfits. Try --noise, "
          "--dropout, a smaller map (--n-factors, --n-hidden) or more samples.\n",
          stderr);
}

/* The fraction of errors in the validation part; NaN: not known. */
static double valid_error(const enhope_model_info *info)
{
    return info->valid_n ? (double)info->valid_errors / (double)info->valid_n : NAN;
}

/* The same for the model in a file, which may be no model. */
static double saved_error(enhope_context *ctx, const char *path)
{
    enhope_model *model = NULL;
    enhope_model_info info = {0};
    if (!enhope_model_load(ctx, path, &model)) enhope_model_get_info(model, &info);
    enhope_model_free(model);
    return valid_error(&info);
}

/* Whether a stopped run may write to path. It replaces a file only if it has completed an epoch
 * whose validation error is not above that of the model in the file. */
static bool may_replace(const cli_session *session, const char *path)
{
    const enhope_history *best = cli_session_best(session);
    struct stat at;
    if (stat(path, &at) != 0) return best != NULL;
    if (!S_ISREG(at.st_mode)) return true; /* a device or a pipe */
    return best && isfinite(best->valid_error) &&
           !(valid_error(&session->model_info) > saved_error(session->ctx, path));
}

/* Saves the model of a stopped run to path, or to path.partial if path may not be replaced. */
static int save_stopped(cli_session *session, const char *error_name, const char *path)
{
    static const char ending[] = ".partial";
    const bool replace = may_replace(session, path), exists = access(path, F_OK) == 0;
    char best[96], *partial = cli_alloc("a file name", (int64_t)(strlen(path) + sizeof ending), 1, 1);
    if (!partial) return CLI_FAILED;
    sprintf(partial, "%s%s", path, ending);
    const enhope_status saved = enhope_model_save(session->ctx, session->model, replace ? path : partial);
    describe_best(session, error_name, best, sizeof best);
    if (saved)
        cli_fail(session->ctx, saved);
    else if (replace)
        cli_error("stopped; the best model so far (%s) is saved in %s", best, path);
    else
        cli_error("stopped; the best model so far (%s) is saved in %s; %s %s; rename the new file to use it", best,
                  partial, path, exists ? "is unchanged" : "is not written");
    free(partial);
    return saved ? CLI_FAILED : 128 + cli_caught_signal();
}

/* After a signal: reports the checkpoint, or saves the best model if there is none. */
static int stopped(cli_session *session, const cli_progress *progress, const cli_checkpoint *checkpoint,
                   const char *path)
{
    if (cli_rank()) return 0;
    if (!checkpoint->safe) return save_stopped(session, progress->error_name, path);
    cli_error("stopped; the checkpoint is %s; run the same command with --resume to resume", checkpoint->newest);
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
    if (options->json) put_json(session, progress->error_name, all_seconds(session, progress), path);
    if (options->quiet) return 0;
    if (!options->json) {
        put_summary(session, progress->error_name, all_seconds(session, progress), path);
        put_errors(session);
    }
    warn_of_overfitting(session);
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
        if (!code) code = stop ? stopped(session, progress, checkpoint, path) : save(session, options, progress, path);
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

int cli_settings_of_options(enhope_context *ctx, const cli_options *options, enhope_settings **out)
{
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    for (int pass = 0; pass < 2; pass++) /* the recipe first, whatever the order of the options */
        for (int i = 0; i < options->settings; i++) {
            const cli_pair *setting = &options->setting[i];
            if (!strcmp(setting->name, "recipe") != (pass == 0)) continue;
            const enhope_status status = enhope_settings_set(ctx, *out, setting->name, setting->value);
            if (status) return cli_fail(ctx, status);
        }
    return 0;
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

static const enhope_setting_info *find_setting(const char *name)
{
    int i = 0;
    while (strcmp(enhope_setting_get(i)->name, name) != 0) i++; /* the parser accepts known names only */
    return enhope_setting_get(i);
}

int cli_settings_add(const cli_session *session, const cli_options *options, enhope_settings *settings)
{
    enhope_status status = ENHOPE_OK;
    for (int i = 0; i < options->settings && !status; i++) {
        const cli_pair *setting = &options->setting[i];
        char name[CLI_NAME];
        cli_option_name(setting->name, name, sizeof name);
        if (find_setting(setting->name)->fixed)
            return cli_usage_error(
                options->command,
                "--%s cannot be changed: the shape of the map is that of the model; remove the option, "
                "or use enhope train",
                name);
        status = enhope_settings_set(session->ctx, settings, setting->name, setting->value);
    }
    return status ? cli_fail(session->ctx, status) : 0;
}

static void print_data(const cli_session *session, const cli_options *options)
{
    if (options->quiet || cli_rank()) return;
    const enhope_dataset_info *info = &session->data_info;
    cli_print(stderr, "%s: %lld sample%s, %lld input%s, %d class%s\n", options->data, (long long)info->n,
              info->n == 1 ? "" : "s", (long long)info->inputs, info->inputs == 1 ? "" : "s", (int)info->classes,
              info->classes == 1 ? "" : "es");
}

static bool is_set(const cli_options *options, const char *setting)
{
    for (int i = 0; i < options->settings; i++)
        if (!strcmp(options->setting[i].name, setting)) return true;
    return false;
}

/* Adds the validation part of --valid-data to the data. */
static int add_validation(cli_session *session, const cli_options *options)
{
    const char *spec = options->training.valid_data;
    if (!spec) return 0;
    if (is_set(options, "validation_fraction"))
        return cli_usage_error(options->command,
                               "--valid-data and --validation-fraction exclude each other; use one of them");
    enhope_source source = cli_source(options, spec);
    source.part = NULL;
    source.split = NULL;
    source.limit = 0;
    source.model = session->model;
    enhope_table_options table = source.table ? *source.table : (enhope_table_options){.header = NULL};
    table.like = session->data;
    source.table = &table;
    enhope_dataset *valid = NULL;
    enhope_dataset_info info;
    enhope_status status = enhope_dataset_read(session->ctx, &source, &valid);
    if (!status) status = enhope_dataset_add_validation(session->ctx, session->data, valid);
    if (status) {
        enhope_dataset_free(valid);
        return cli_fail(session->ctx, status);
    }
    enhope_dataset_get_info(valid, &info);
    enhope_dataset_free(valid);
    enhope_dataset_get_info(session->data, &session->data_info);
    if (!options->quiet && !cli_rank()) cli_print(stderr, "%s: %lld samples for validation\n", spec, (long long)info.n);
    return 0;
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
    char weights[16]; /* cut if longer */
    int code = cli_output_differs(path, options->data);
    if (!code) code = cli_output_differs(path, options->training.valid_data);
    if (!code && !cli_rank()) code = cli_output_check(path); /* check before training */
    if (!code) code = cli_checkpoint_open(&checkpoint, options, path);
    if (!code)
        code = cli_progress_open(&progress, options->quiet || cli_rank(), cli_rank() ? NULL : options->training.log,
                                 options->training.resume);
    if (!code) enhope_context_set_log(session->ctx, cli_progress_log, &progress);
    if (!code) code = cli_session_data(session, options, options->data, "train");
    if (!code) code = stopped_early();
    if (!code) print_data(session, options);
    if (!code) code = add_validation(session, options);
    if (!code && !enhope_settings_get(session->ctx, settings, "class_weight", weights, sizeof weights))
        progress.error_name = cli_error_name(weights, options->source.table.weight);
    if (!code) code = train(session, options, settings, &progress, &checkpoint, path);
    enhope_context_set_log(session->ctx, NULL, NULL);
    cli_progress_close(&progress);
    cli_checkpoint_close(&checkpoint);
    return code;
}
