/* One run of the search: trains the settings of a trial on the rows of a round, and stores the
 * model and a JSON file with the result. */
#define _DEFAULT_SOURCE 1
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/measure.h"
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
                 {"variables", options->source.variables},
                 {"classes", options->source.classes}};
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t used = strlen(buffer);
        if (words[i].value)
            snprintf(buffer + used, size - used, "%s--%s %s", used ? " " : "", words[i].name, words[i].value);
    }
    const size_t used = strlen(buffer);
    if (options->source.limit) snprintf(buffer + used, size - used, " --limit %lld", (long long)options->source.limit);
}

/* The settings of a run, with its epochs. fewer: the epochs that fit in the time; 0: all. */
static void run_settings(const tuning *t, int trial, int64_t fewer, char *buffer, size_t size)
{
    const int64_t epochs = fewer ? fewer : tune_epochs(t, trial);
    snprintf(buffer, size, "%s", t->trial[trial].settings);
    const size_t used = strlen(buffer);
    if (epochs) snprintf(buffer + used, size - used, " n_epochs %lld", (long long)epochs);
}

bool tune_read(tuning *t, int trial, int round)
{
    char path[TUNE_PATH], settings[TUNE_TEXT], data[TUNE_TEXT];
    tune_run *run = &t->trial[trial].run[round];
    tune_path(t, "runs", trial, round, ".json", path);
    run_settings(t, trial, 0, settings, sizeof settings);
    tune_data_text(t->options, data, sizeof data);
    cJSON *object = cli_json_read(path);
    if (!object) return false;
    const tune_facts *facts = &t->data.facts;
    const bool same =
        !strcmp(cli_json_text(object, "settings"), settings) && !strcmp(cli_json_text(object, "data"), data) &&
        cli_json_count(object, "rows") == tune_rows(t, round) && cli_json_count(object, "inputs") == facts->inputs &&
        cli_json_count(object, "samples") == facts->samples && cli_json_count(object, "valid_samples") == facts->valid;
    if (same) {
        *run = (tune_run){.error = cli_json_number(object, "valid_error_percent"),
                          .loss = cli_json_number(object, "valid_log_loss"),
                          .rows = cli_json_count(object, "rows"),
                          .seconds = cli_json_number(object, "seconds"),
                          .microseconds = cli_json_number(object, "microseconds_per_row"),
                          .bytes = cli_json_number(object, "bytes"),
                          .parameters = cli_json_count(object, "parameters"),
                          .epochs = cli_json_count(object, "epochs"),
                          .best = cli_json_count(object, "best_epoch"),
                          .cut = cli_json_number(object, "cut") > 0};
        snprintf(run->reason, sizeof run->reason, "%s", cli_json_text(object, "failed"));
        run->failed = run->reason[0] != '\0';
        run->done = run->failed || isfinite(run->error);
    }
    cJSON_Delete(object);
    return same && run->done;
}

static int write_result(const tuning *t, int trial, int round, const tune_run *run)
{
    const tune_facts *facts = &t->data.facts;
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
                   {"rows", (double)tune_rows(t, round)},
                   {"valid_error_percent", run->failed ? NAN : run->error},
                   {"valid_log_loss", run->failed ? NAN : run->loss},
                   {"seconds", run->seconds},
                   {"microseconds_per_row", run->microseconds},
                   {"bytes", run->bytes},
                   {"parameters", (double)run->parameters},
                   {"epochs", (double)run->epochs},
                   {"best_epoch", (double)run->best},
                   {"cut", run->cut},
                   {"samples", (double)facts->samples},
                   {"valid_samples", (double)facts->valid},
                   {"inputs", (double)facts->inputs},
                   {"classes", (double)facts->classes}};
    tune_data_text(t->options, data, sizeof data);
    run_settings(t, trial, 0, settings, sizeof settings);
    cli_json(out, "{\"trial\": %d, \"data\": %s, \"settings\": %s", trial, data, settings);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cli_json(out, ", %s: %g", numbers[i].name, numbers[i].value);
    if (run->failed) cli_json(out, ", \"failed\": %s", run->reason);
    fputs("}\n", out);
    return cli_output_close(&output);
}

/* ---- training ---- */

/* A run in progress. */
typedef struct running {
    const tuning *t;
    int trial, round;
    double end;    /* cli_now() at which it is stopped */
    int64_t fewer; /* epochs that fit in the time; 0: all */
    cli_session session;
    enhope_settings *settings;
    enhope_dataset *data, *valid; /* valid NULL: cross-validation */
    tune_run result;
} running;

/* Stops a run after a signal or at its time limit. */
static int keep_training(const enhope_progress *at, void *user)
{
    const running *r = user;
    (void)at;
    return cli_caught_signal() || cli_now() >= r->end;
}

/* Likewise, and stops after the first epoch if not all epochs fit in the time. They are then fewer,
 * because the learning rate falls over the epochs of a run. */
static int keep_fitting(const enhope_progress *at, void *user)
{
    running *r = user;
    if (keep_training(at, user)) return 1;
    if (!at->epoch_done || at->epoch != 1 || r->fewer || !isfinite(r->end)) return 0;
    const double fit = (r->end - cli_now()) / at->seconds;
    if (fit >= (double)at->epochs) return 0;
    r->fewer = fit > 1 ? (int64_t)fit : 1;
    return 1;
}

/* Trains on the data of the run. */
static enhope_status fit_model(running *r)
{
    char epochs[32];
    cli_session *s = &r->session;
    const bool planned = r->fewer != 0;
    enhope_status status = enhope_train(s->ctx, r->data, r->settings, keep_fitting, r, &s->model);
    if (status != ENHOPE_STOPPED || planned || !r->fewer || cli_caught_signal()) return status;
    enhope_model_free(s->model);
    s->model = NULL;
    snprintf(epochs, sizeof epochs, "%lld", (long long)r->fewer);
    status = enhope_settings_set(s->ctx, r->settings, "n_epochs", epochs);
    return status ? status : enhope_train(s->ctx, r->data, r->settings, keep_training, r, &s->model);
}

/* For a GPU, which has no predictors: the time for a sample among all. */
static int time_batch(const cli_session *s, double *microseconds)
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

int tune_time(const tuning *t, const cli_session *s, double *microseconds)
{
    const char *device = t->options->compute.device;
    double seconds = NAN;
    if (device && strcmp(device, "cpu") != 0) return time_batch(s, microseconds);
    const int code = cli_latency_one(s, &seconds);
    *microseconds = 1e6 * seconds;
    return code;
}

/* Error and log loss of the validation part. */
static int score_validation(running *r)
{
    cli_session s = r->session; /* with the validation part as its data */
    cli_scores scores = {0};
    int32_t *truth = NULL;
    s.data = r->valid;
    enhope_dataset_get_info(s.data, &s.data_info);
    const int64_t n = s.data_info.n;
    enhope_prediction p = {.label = cli_alloc("labels", n, 1, sizeof *p.label),
                           .proba = cli_alloc("probabilities", n, s.model_info.classes, sizeof *p.proba)};
    int code = p.label && p.proba ? cli_session_true_classes(&s, &truth) : CLI_FAILED;
    if (!code) {
        const enhope_status status = enhope_model_predict(s.ctx, s.model, s.data, 0, &p);
        if (status) code = cli_fail(s.ctx, status);
    }
    if (!code) code = cli_scores_compute(truth, p.label, p.proba, n, s.model_info.classes, NULL, 0, &scores);
    r->result.error = 100 * scores.error;
    r->result.loss = scores.log_loss;
    if (!code) code = tune_time(r->t, &s, &r->result.microseconds);
    free(p.label);
    free(p.proba);
    free(truth);
    return code;
}

/* Error and log loss of cross-validation. */
static enhope_status cross_validate(running *r, int *code)
{
    cli_cross cross;
    cli_scores scores = {0};
    enhope_status status = ENHOPE_OK;
    *code = cli_cross_open(&cross, r->session.ctx, r->data, TUNE_FOLDS, 1, r->t->seed, NULL);
    for (int32_t f = 0; f < TUNE_FOLDS && !*code && !status; f++)
        status = cli_cross_train(&cross, r->session.ctx, r->settings, 0, f, keep_training, r);
    if (!*code && !status) *code = cli_cross_scores(&cross, 0, -1, &scores);
    r->result.error = 100 * scores.error;
    r->result.loss = scores.log_loss;
    cli_cross_close(&cross);
    return status;
}

/* A failed trial is a result. If the default settings fail, the search ends. */
static int give_up(const running *r, enhope_status status)
{
    tune_run run = {.failed = true};
    if (r->trial == 0 || status == ENHOPE_ERROR_IO || status == ENHOPE_ERROR_COMPUTE)
        return cli_fail(r->session.ctx, status);
    snprintf(run.reason, sizeof run.reason, "%s", enhope_error(r->session.ctx));
    return write_result(r->t, r->trial, r->round, &run);
}

/* The run was stopped before it had a result. At the end of the search, nothing is written. */
static int no_result(const running *r)
{
    tune_run run = {.failed = true, .cut = true, .reason = "the time of a run ended before it had a result"};
    if (cli_now() >= r->t->until) return 0;
    if (r->trial == 0)
        return cli_error(
            "the time limit ended the run of the default settings before it had a result; use a longer --for");
    return write_result(r->t, r->trial, r->round, &run);
}

/* Sizes of the model, and the time per point without a validation part. */
static int describe(running *r, const char *path)
{
    cli_session *s = &r->session;
    struct stat at = {0};
    const enhope_history *best = cli_session_best(s);
    r->result.epochs = s->model_info.epochs;
    r->result.best = best ? best->epoch : 0;
    r->result.parameters = s->model_info.parameters;
    r->result.rows = tune_rows(r->t, r->round);
    r->result.bytes = stat(path, &at) == 0 ? (double)at.st_size : NAN;
    if (r->valid) return 0;
    s->data = r->data;
    const int code = tune_time(r->t, s, &r->result.microseconds);
    s->data = NULL;
    return code;
}

static int train(running *r)
{
    char path[TUNE_PATH];
    cli_session *s = &r->session;
    int code = 0;
    const double start = cli_now();
    enhope_status status = r->valid ? ENHOPE_OK : cross_validate(r, &code);
    if (!code && status == ENHOPE_STOPPED) return cli_caught_signal() ? 128 + cli_caught_signal() : no_result(r);
    if (!code && !status) status = fit_model(r);
    if (!code && status && status != ENHOPE_STOPPED) return give_up(r, status);
    if (cli_caught_signal()) return 128 + cli_caught_signal();
    if (code) return code;
    r->result.seconds = cli_now() - start;
    r->result.cut = status == ENHOPE_STOPPED || r->fewer;
    enhope_model_get_info(s->model, &s->model_info);
    if (status == ENHOPE_STOPPED && !cli_session_best(s)) return no_result(r);
    tune_path(r->t, "models", r->trial, r->round, ".safetensors", path);
    const enhope_status saved = enhope_model_save(s->ctx, s->model, path);
    if (saved) return cli_fail(s->ctx, saved);
    if (r->valid) code = score_validation(r);
    if (!code) code = describe(r, path);
    return code ? code : write_result(r->t, r->trial, r->round, &r->result);
}

int tune_train(const tuning *t, int trial, int round)
{
    char words[TUNE_TEXT];
    cli_options options = *t->options;
    running r = {.t = t,
                 .trial = trial,
                 .round = round,
                 .end = t->until,
                 .fewer = t->trial[trial].fewer,
                 .settings = enhope_settings_create()};
    if (!r.settings) return cli_error("out of memory");
    if (tune_by_folds(t) && !trial)
        r.end = INFINITY; /* the search has a result, however short its time */
    else if (round < LAST || tune_by_folds(t))
        r.end = fmin(r.end, cli_now() + t->max_seconds);
    if (!options.compute.threads) options.compute.threads = t->threads;
    int code = cli_session_open(&r.session, &options);
    if (!code && (trial || round)) enhope_context_set_log(r.session.ctx, NULL, NULL);
    run_settings(t, trial, r.fewer, words, sizeof words);
    if (!code) code = cli_apply_settings(r.session.ctx, r.settings, words);
    if (!code) {
        const enhope_status status = tune_select(t, r.session.ctx, round, &r.data, &r.valid);
        if (status) code = cli_fail(r.session.ctx, status);
    }
    if (!code) code = train(&r);
    enhope_dataset_free(r.data);
    enhope_dataset_free(r.valid);
    enhope_settings_free(r.settings);
    cli_session_close(&r.session);
    return code;
}
