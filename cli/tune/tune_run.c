/* One run of the search: trains the settings of a trial for the epochs of a round, and stores the
 * model and a JSON file with the result. */
#define _DEFAULT_SOURCE 1
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tune/tune.h"

void tune_path(const tuning *t, const char *kind, int trial, int round, const char *ending, char *path)
{
    snprintf(path, TUNE_PATH, "%s/%s/%04d-%d%s", t->folder, kind, trial, round, ending);
}

void tune_data_text(const cli_options *options, char *buffer, size_t size)
{
    const struct {
        const char *name, *value;
    } words[] = {{"data", options->data},
                 {"part", options->source.part},
                 {"split", options->source.split},
                 {"label", options->source.label},
                 {"variables", options->source.variables}};
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t used = strlen(buffer);
        if (words[i].value)
            snprintf(buffer + used, size - used, "%s--%s %s", used ? " " : "", words[i].name, words[i].value);
    }
    const size_t used = strlen(buffer);
    if (options->source.limit) snprintf(buffer + used, size - used, " --limit %lld", (long long)options->source.limit);
}

/* The settings of a run, with its epochs. */
static void run_settings(const tuning *t, int trial, int round, char *buffer, size_t size)
{
    const int64_t epochs = tune_epochs(t, trial, round);
    snprintf(buffer, size, "%s", t->trial[trial].settings);
    const size_t used = strlen(buffer);
    if (epochs) snprintf(buffer + used, size - used, " n_epochs %lld", (long long)epochs);
}

bool tune_read(tuning *t, int trial, int round)
{
    char path[TUNE_PATH], settings[TUNE_TEXT], data[TUNE_TEXT];
    tune_run *run = &t->trial[trial].run[round];
    tune_path(t, "runs", trial, round, ".json", path);
    run_settings(t, trial, round, settings, sizeof settings);
    tune_data_text(t->options, data, sizeof data);
    cJSON *object = cli_json_read(path);
    if (!object) return false;
    const bool same =
        !strcmp(cli_json_text(object, "settings"), settings) && !strcmp(cli_json_text(object, "data"), data);
    if (same) {
        *run = (tune_run){.error = cli_json_number(object, "valid_error_percent"),
                          .seconds = cli_json_number(object, "seconds"),
                          .microseconds = cli_json_number(object, "microseconds_per_point"),
                          .bytes = cli_json_number(object, "bytes"),
                          .parameters = cli_json_count(object, "parameters"),
                          .epochs = cli_json_count(object, "epochs"),
                          .best = cli_json_count(object, "best_epoch"),
                          .cut = cli_json_number(object, "cut") > 0};
        snprintf(run->reason, sizeof run->reason, "%s", cli_json_text(object, "failed"));
        run->failed = run->reason[0] != '\0';
        run->done = run->failed || isfinite(run->error);
        t->facts = (tune_facts){.samples = cli_json_count(object, "samples"),
                                .valid = cli_json_count(object, "valid_samples"),
                                .classes = cli_json_count(object, "classes")};
    }
    cJSON_Delete(object);
    return same && run->done;
}

static int write_result(const tuning *t, int trial, int round, const tune_run *run, const tune_facts *facts)
{
    char path[TUNE_PATH], settings[TUNE_TEXT], data[TUNE_TEXT];
    cli_output output = {0};
    tune_path(t, "runs", trial, round, ".json", path);
    const int code = cli_output_open(&output, path);
    if (code) return code;
    FILE *out = output.file;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"round", round},
                   {"valid_error_percent", run->failed ? NAN : run->error},
                   {"seconds", run->seconds},
                   {"microseconds_per_point", run->microseconds},
                   {"bytes", run->bytes},
                   {"parameters", (double)run->parameters},
                   {"epochs", (double)run->epochs},
                   {"best_epoch", (double)run->best},
                   {"cut", run->cut},
                   {"samples", (double)facts->samples},
                   {"valid_samples", (double)facts->valid},
                   {"classes", (double)facts->classes}};
    tune_data_text(t->options, data, sizeof data);
    run_settings(t, trial, round, settings, sizeof settings);
    cli_json(out, "{\"trial\": %d, \"data\": %s, \"settings\": %s", trial, data, settings);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cli_json(out, ", %s: %g", numbers[i].name, numbers[i].value);
    if (run->failed) cli_json(out, ", \"failed\": %s", run->reason);
    fputs("}\n", out);
    return cli_output_close(&output);
}

/* ---- training ---- */

/* Stops a run after a signal or at the time limit of the search. */
static int keep_training(const enhope_progress *at, void *user)
{
    const tuning *t = user;
    (void)at;
    return cli_caught_signal() || cli_now() >= t->until;
}

static tune_facts learn_facts(const cli_session *s, double part)
{
    tune_facts facts = {.classes = s->data_info.classes};
    const int32_t *label = enhope_dataset_labels(s->data);
    for (int64_t i = 0; label && i < s->data_info.n; i++) facts.samples += label[i] >= 0;
    facts.valid = (int64_t)(part * (double)facts.samples);
    return facts;
}

int tune_time(const cli_session *s, double *microseconds)
{
    enum { REPEATS = 10 };
    static const double enough = 0.1; /* seconds */
    double best = INFINITY, spent = 0;
    int64_t n = 1;
    for (int i = 0; i < REPEATS && spent < enough; i++) {
        enhope_evaluation e = {0};
        const enhope_status status = enhope_model_evaluate(s->ctx, s->model, s->data, 0, &e);
        if (status) return cli_fail(s->ctx, status);
        best = fmin(best, e.seconds);
        spent += e.seconds;
        n = e.n ? e.n : 1;
    }
    *microseconds = 1e6 * best / (double)n;
    return 0;
}

/* Sizes, error and time per point of the model. */
static int evaluate(const cli_session *s, const char *path, tune_run *run)
{
    struct stat at = {0};
    const enhope_history *best = cli_session_best(s);
    run->error = best ? 100 * best->valid_error : NAN;
    run->epochs = s->model_info.epochs;
    run->best = best ? best->epoch : 0;
    run->parameters = s->model_info.parameters;
    run->bytes = stat(path, &at) == 0 ? (double)at.st_size : NAN;
    return tune_time(s, &run->microseconds);
}

/* A failed trial is a result. If the default settings fail, the search ends. */
static int give_up(const tuning *t, int trial, int round, const cli_session *s, enhope_status status,
                   const tune_facts *facts)
{
    tune_run run = {.failed = true};
    if (trial == 0 || status == ENHOPE_ERROR_IO || status == ENHOPE_ERROR_COMPUTE) return cli_fail(s->ctx, status);
    snprintf(run.reason, sizeof run.reason, "%s", enhope_error(s->ctx));
    return write_result(t, trial, round, &run, facts);
}

static int train(const tuning *t, int trial, int round, cli_session *s, const enhope_settings *settings)
{
    char path[TUNE_PATH], part[64];
    tune_run run = {0};
    enhope_settings_get(s->ctx, settings, "validation_fraction", part, sizeof part);
    const tune_facts facts = learn_facts(s, atof(part));
    const double start = cli_now();
    const enhope_status status =
        enhope_train(s->ctx, s->data, settings, keep_training, (void *)(uintptr_t)t, &s->model);
    if (status && status != ENHOPE_STOPPED) return give_up(t, trial, round, s, status, &facts);
    if (cli_caught_signal()) return 128 + cli_caught_signal();
    run.seconds = cli_now() - start;
    run.cut = status == ENHOPE_STOPPED;
    enhope_model_get_info(s->model, &s->model_info);
    const enhope_history *best = cli_session_best(s);
    if (run.cut && !best && trial) return 0; /* no complete epoch: no result */
    if (!best || !isfinite(best->valid_error))
        return cli_error(run.cut
                             ? "the time limit ended the first epoch of the default settings; use a longer --for"
                             : "the validation part is empty; use more samples, or a --validation-fraction above 0");
    tune_path(t, "models", trial, round, ".safetensors", path);
    const enhope_status saved = enhope_model_save(s->ctx, s->model, path);
    if (saved) return cli_fail(s->ctx, saved);
    const int code = evaluate(s, path, &run);
    return code ? code : write_result(t, trial, round, &run, &facts);
}

int tune_train(const tuning *t, int trial, int round)
{
    char words[TUNE_TEXT];
    cli_options options = *t->options;
    cli_session s;
    enhope_settings *settings = enhope_settings_create();
    if (!settings) return cli_error("out of memory");
    if (!options.compute.threads) options.compute.threads = t->threads;
    int code = cli_session_open(&s, &options);
    if (!code && trial) enhope_context_set_log(s.ctx, NULL, NULL);
    run_settings(t, trial, round, words, sizeof words);
    if (!code) code = cli_apply_settings(s.ctx, settings, words);
    if (!code) code = cli_session_data(&s, &options, options.data, "train");
    if (!code) code = cli_session_in_memory(&s, &options);
    if (!code) code = train(t, trial, round, &s, settings);
    enhope_settings_free(settings);
    cli_session_close(&s);
    return code;
}
