/* enhope tune: checks the options, starts the runs of the schedule in processes, and prints their
 * results. Results are stored, and the same command resumes an interrupted search. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune/tune.h"

enum { MAX_TRIALS = 200, EPOCHS = 90, MAX_DEFAULT_JOBS = 8, CORES_PER_JOB = 4 };
static const double default_seconds = 600;
static const double start_fraction = 0.6; /* of the time in which trials start */
static const double early_runs = 8;       /* at least so many fit in that time */

static const tune_run *run_of(const tuning *t, int trial, int round)
{
    return &t->trial[trial].run[round];
}

bool tune_allowed(const tuning *t, const tune_run *run)
{
    const cli_options *o = t->options;
    if (!run->done || run->failed) return false;
    return (!o->tune.size || run->bytes <= (double)o->tune.size) &&
           (o->tune.latency <= 0 || run->microseconds <= o->tune.latency);
}

/* ---- runs ---- */

static int next(void *user)
{
    return tune_next(user);
}

static int train(void *user, int item)
{
    return tune_train(user, item / ROUNDS, item % ROUNDS);
}

static void clear_line(const tuning *t)
{
    if (t->terminal) fputs("\r\033[K", stderr);
}

static void print_run(const tuning *t, int trial, int round)
{
    const tune_run *run = run_of(t, trial, round);
    clear_line(t);
    if (run->failed) {
        cli_print(stderr, "trial %d failed: %s\n", trial, run->reason);
        return;
    }
    cli_print(stderr, "trial %d: %.2f %%, log loss %.4f; %lld rows, %lld epochs, %.1f s%s; %s\n", trial, run->error,
              run->loss, (long long)run->rows, (long long)run->epochs, run->seconds,
              run->cut ? " (shortened by the time limit)" : "", t->trial[trial].settings);
}

/* Removes models that another model beats in error, size and speed. */
static void drop_models(const tuning *t)
{
    char path[TUNE_PATH];
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        const tune_run *run = run_of(t, i / ROUNDS, i % ROUNDS);
        if (run->done && !run->failed && i / ROUNDS && tune_beaten(t, run)) {
            tune_path(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors", path);
            unlink(path);
        }
    }
}

static void ended(void *user, const cli_job *job, int status)
{
    tuning *t = user;
    const int trial = job->item / ROUNDS, round = job->item % ROUNDS;
    tune_run *run = &t->trial[trial].run[round];
    t->trial[trial].running[round] = false;
    if (tune_read(t, trial, round)) {
        t->finished++;
        print_run(t, trial, round);
        drop_models(t);
        return;
    }
    if (cli_caught_signal() || cli_now() >= t->until) return;
    clear_line(t);
    if (trial == 0 || !WIFSIGNALED(status)) { /* the run has printed why: all others would fail too */
        t->code = WIFSIGNALED(status) ? cli_error("the first run was ended by signal %d", WTERMSIG(status))
                                      : WEXITSTATUS(status);
        t->until = 0;
        return;
    }
    *run = (tune_run){.done = true, .failed = true};
    snprintf(run->reason, sizeof run->reason, "it was ended by signal %d", WTERMSIG(status));
    print_run(t, trial, round);
}

/* "trial 3 0:12, trial 5 0:03; 14 runs, best 2.10 %; 4:10 left" */
static void draw(void *user, const cli_job *jobs, int max_jobs)
{
    const tuning *t = user;
    char text[32];
    int trial, round, listed = 0;
    if (!t->terminal) return;
    fputs("\r", stderr);
    for (int j = 0; j < max_jobs && listed < 3; j++) {
        if (!jobs[j].busy) continue;
        cli_seconds_text(cli_now() - jobs[j].started, text, sizeof text);
        fprintf(stderr, "%strial %d %s", listed++ ? ", " : "", jobs[j].item / ROUNDS, text);
    }
    fprintf(stderr, "; %d runs", t->finished);
    if (tune_best(t, &trial, &round)) fprintf(stderr, ", best %.2f %%", run_of(t, trial, round)->error);
    if (isfinite(t->until)) {
        cli_seconds_text(fmax(0, t->until - cli_now()), text, sizeof text);
        fprintf(stderr, "; %s left", text);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

/* ---- the command ---- */

static int parse_settings(tuning *t, double *part)
{
    const cli_options *o = t->options;
    char words[TUNE_TEXT];
    enhope_context *ctx = enhope_context_create();
    enhope_settings *settings = enhope_settings_create();
    int code = ctx && settings ? 0 : cli_error("out of memory");
    for (int i = 0; i < o->settings && !code; i++) {
        const char *name = o->setting[i].name, *value = o->setting[i].value;
        if (!strcmp(name, "recipe"))
            code = cli_usage_error(o->command,
                                   "--recipe is not allowed: the trials use the recipes fast and best; remove it");
        else if (strchr(value, ' ') || !*value) /* settings are stored as words */
            code = cli_usage_error(o->command, "%s is '%s': expected one word", name, value);
        else if (!strcmp(name, "n_epochs"))
            t->epochs = atoll(value);
        else if (!strcmp(name, "random_state"))
            t->seed = atoll(value);
    }
    tune_settings(t, 0, words, sizeof words);
    if (!code) code = cli_apply_settings(ctx, settings, words); /* check before the search */
    if (!code) {
        enhope_settings_get(ctx, settings, "validation_fraction", words, sizeof words);
        *part = atof(words);
        if (*part <= 0)
            code =
                cli_usage_error(o->command, "--validation-fraction 0 leaves no validation part; use a value above 0");
        if (!enhope_settings_applies(settings, "n_epochs"))
            code = cli_usage_error(o->command, "the method is not trained in epochs; choose another --method");
        t->drawn = tune_dimensions(settings);
    }
    enhope_settings_free(settings);
    enhope_context_free(ctx);
    return code;
}

static int parse_options(tuning *t, double *part)
{
    const cli_options *o = t->options;
    const double seconds = o->tune.for_time ? cli_seconds_parse(o->tune.for_time)
                           : o->tune.trials ? INFINITY
                                            : default_seconds;
    if (!o->data) return cli_usage_error(o->command, "missing option: --data SPEC");
    if (!strcmp(o->data, "-"))
        return cli_usage_error(o->command, "every trial reads the data, which cannot be -; use a file");
    if (seconds <= 0)
        return cli_usage_error(o->command, "--for is '%s': expected a time such as 90s, 10m or 2h", o->tune.for_time);
    t->started = cli_now();
    t->until = t->started + seconds;
    t->closing = t->started + start_fraction * seconds;
    t->max_seconds = start_fraction * seconds / early_runs;
    t->max_trials = o->tune.trials;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const bool cpu = !o->compute.device || !strcmp(o->compute.device, "cpu");
    t->jobs = o->compute.jobs ? (int)o->compute.jobs : cpu ? cores / CORES_PER_JOB : 1;
    if (t->jobs < 1) t->jobs = 1;
    if (!o->compute.jobs && t->jobs > MAX_DEFAULT_JOBS) t->jobs = MAX_DEFAULT_JOBS;
    t->threads = t->jobs == 1 ? 0 : cores > t->jobs ? cores / t->jobs : 1;
    return parse_settings(t, part);
}

static bool has_file(const tuning *t, const char *kind, int trial, int round, const char *ending)
{
    char path[TUNE_PATH];
    tune_path(t, kind, trial, round, ending, path);
    return access(path, R_OK) == 0;
}

/* Whether a result of this trial is in the folder, also one of another search. */
static bool has_result(const tuning *t, int trial)
{
    for (int round = 0; round < ROUNDS; round++)
        if (has_file(t, "runs", trial, round, ".json")) return true;
    return false;
}

/* Reads the trials of an earlier search with the same data and settings. */
static int find_results(tuning *t)
{
    tune_add_trial(t);
    for (int round = 0; round < ROUNDS; round++)
        if (has_file(t, "runs", 0, round, ".json") && !t->trial[0].run[round].rows)
            return cli_error("%s contains a search on other data or with other settings; choose another folder with -o",
                             t->folder);
    int last = t->capacity - 1; /* all trials are read before models are compared, also after a lost result */
    while (last > 0 && !has_result(t, last)) last--;
    while (t->trials <= last)
        if (!tune_add_trial(t)) break;
    t->reason = NULL;
    /* a missing model is trained again; check all runs before models are removed */
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        const tune_run *run = run_of(t, i / ROUNDS, i % ROUNDS);
        const bool wanted = tune_allowed(t, run) && (i < ROUNDS || !tune_beaten(t, run));
        t->trial[i / ROUNDS].model_missing[i % ROUNDS] =
            wanted && !has_file(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors");
    }
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        tune_trial *trial = &t->trial[i / ROUNDS];
        if (trial->model_missing[i % ROUNDS]) trial->run[i % ROUNDS].done = false;
    }
    return 0;
}

static bool any_result(const tuning *t)
{
    for (int i = 0; i < t->trials * ROUNDS; i++)
        if (run_of(t, i / ROUNDS, i % ROUNDS)->epochs) return true;
    return false;
}

/* Few samples have the epochs of the recipe, and no runs that use the end of the time. */
static void adapt(tuning *t)
{
    if (!tune_by_folds(t)) {
        if (!t->epochs) t->epochs = EPOCHS;
    } else if (isfinite(t->until)) {
        t->closing = t->until - t->max_seconds;
    }
}

int cmd_tune(const cli_options *options)
{
    tuning t = {.options = options,
                .folder = options->output ? options->output : "tuning",
                .reason = NULL,
                .seed = 1,
                .series = options->tune.series ? options->tune.series : 1,
                .capacity = options->tune.trials ? (int)options->tune.trials : MAX_TRIALS,
                .terminal = isatty(STDERR_FILENO) != 0};
    static const char *const inner[] = {"runs", "models"};
    double part = 0;
    int code = parse_options(&t, &part);
    if (code) return code;
    t.trial = cli_alloc("trials", t.capacity, 1, sizeof *t.trial);
    if (!t.trial) return CLI_FAILED;
    const cli_pool pool = {.user = &t, .max_jobs = t.jobs, .next = next, .run = train, .ended = ended, .draw = draw};
    cli_catch_signals();
    code = cli_make_folders(t.folder, inner, 2);
    if (!code) code = tune_data_open(&t, part);
    if (!code) adapt(&t);
    if (!code) code = find_results(&t);
    if (!code) code = cli_pool_run(&pool);
    clear_line(&t);
    if (!code) code = t.code;
    if (!code && any_result(&t))
        code = tune_report(&t);
    else if (!code && !cli_caught_signal())
        code = cli_error("no run was completed in the time; use a longer --for");
    if (!code && cli_caught_signal()) {
        cli_error("stopped; completed runs are in %s; run the same command again to resume", t.folder);
        code = 128 + cli_caught_signal();
    }
    tune_data_close(&t.data);
    free(t.trial);
    return code;
}
