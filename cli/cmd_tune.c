/* enhope tune: which run comes next. Trials race in brackets of nine: each is trained for a ninth of the epochs, the best
 * third again for a third of them, the best third of these for all (successive halving). A round begins when the one before
 * it has ended, so that the same runs are made whatever the number of processes; what ends is kept, and the same command
 * goes on from there. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune/tune.h"

enum { MOST_TRIALS = 200, LAST = ROUNDS - 1, EPOCHS = 90, MOST_OWN_JOBS = 8, CORES_OF_A_JOB = 4 };
static const double own_seconds = 600, closing_part = 0.6;

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

/* ---- the race ---- */

typedef struct racer {
    int trial;
    double error;
} racer;

static int by_error(const void *a, const void *b)
{
    const racer *x = a, *y = b;
    return x->error != y->error ? (x->error < y->error ? -1 : 1) : x->trial - y->trial;
}

/* Those of the bracket's trials that run in this round, as far as that is known: false while the round before goes on. */
static bool find_racers(const tuning *t, int bracket, int round, racer *out, int *count)
{
    const int first = 1 + bracket * BRACKET;
    *count = 0;
    if (round == 0) {
        for (int i = first; i < first + BRACKET && i < t->trials; i++) out[(*count)++] = (racer){.trial = i};
        const bool full = t->trials >= first + BRACKET || (t->most && t->trials >= t->most);
        return full || cli_now() >= t->closing;
    }
    racer before[BRACKET];
    int raced, able = 0;
    if (!find_racers(t, bracket, round - 1, before, &raced)) return false;
    for (int i = 0; i < raced; i++) {
        const tune_run *run = run_of(t, before[i].trial, round - 1);
        if (t->trial[before[i].trial].running[round - 1] || !run->done) return false;
        if (tune_allowed(t, run)) before[able++] = (racer){before[i].trial, run->error};
    }
    qsort(before, (size_t)able, sizeof *before, by_error);
    *count = able ? (raced / KEPT > 1 ? raced / KEPT : 1) : 0;
    if (*count > able) *count = able;
    memcpy(out, before, (size_t)*count * sizeof *out);
    return true;
}

static bool waits(const tuning *t, int trial, int round)
{
    return !run_of(t, trial, round)->done && !t->trial[trial].running[round];
}

/* A run of a bracket that can be made now; -1: none. */
static int next_of_bracket(const tuning *t, int bracket)
{
    racer racers[BRACKET];
    int count;
    for (int round = LAST; round >= 0; round--) {
        if (!find_racers(t, bracket, round, racers, &count) && round > 0) continue;
        for (int i = 0; i < count; i++)
            if (waits(t, racers[i].trial, round)) return racers[i].trial * ROUNDS + round;
    }
    return -1;
}

static int begin(tuning *t, int item)
{
    t->trial[item / ROUNDS].running[item % ROUNDS] = true;
    return item;
}

/* A trial is made up, and what was kept of it is found. */
static void add_trial(tuning *t)
{
    const int number = t->trials++;
    t->trial[number] = (tune_trial){.settings = ""};
    tune_settings(t, number, t->trial[number].settings, sizeof t->trial[number].settings);
    for (int round = 0; round < ROUNDS; round++)
        if (tune_read(t, number, round) && run_of(t, number, round)->cut) t->trial[number].run[round].done = false;
}

static int next(void *user)
{
    tuning *t = user;
    if (cli_now() >= t->until) return -1;
    if (waits(t, 0, LAST)) return begin(t, LAST);
    if (!run_of(t, 0, LAST)->done) return -1; /* it tells what the data is */
    for (;;) {
        for (int bracket = 0; 1 + bracket * BRACKET < t->trials; bracket++) {
            const int item = next_of_bracket(t, bracket);
            if (item >= 0) return begin(t, item);
        }
        const bool over = t->trials >= t->room || (t->most && t->trials >= t->most) || cli_now() >= t->closing;
        if (over) return -1;
        add_trial(t);
    }
}

/* ---- runs ---- */

static int train(void *user, int item)
{
    return tune_train(user, item / ROUNDS, item % ROUNDS);
}

static void clear_line(const tuning *t)
{
    if (t->terminal) fputs("\r\033[K", stderr);
}

static void tell(const tuning *t, int trial, int round)
{
    const tune_run *run = run_of(t, trial, round);
    clear_line(t);
    if (run->failed) {
        fprintf(stderr, "trial %d cannot be trained: %s\n", trial, run->why);
        return;
    }
    fprintf(stderr, "trial %d: %.2f %% after %lld epochs, %.1f s%s; %s\n", trial, run->error, (long long)run->epochs,
            run->seconds, run->cut ? " (the time was over)" : "", t->trial[trial].settings);
}

/* Models that are worse than another in everything are not worth their room. */
static void drop_models(const tuning *t)
{
    char path[TUNE_PATH];
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        const tune_run *run = run_of(t, i / ROUNDS, i % ROUNDS);
        if (run->done && !run->failed && i != LAST && tune_beaten(t, run)) {
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
        tell(t, trial, round);
        drop_models(t);
        return;
    }
    if (cli_caught_signal() || cli_now() >= t->until) return;
    clear_line(t);
    if (trial == 0 || !WIFSIGNALED(status)) { /* a sentence says why: no other run would go better */
        t->code =
            WIFSIGNALED(status) ? cli_error("the first run ended by signal %d", WTERMSIG(status)) : WEXITSTATUS(status);
        t->until = 0;
        return;
    }
    *run = (tune_run){.done = true, .failed = true};
    snprintf(run->why, sizeof run->why, "it was ended by signal %d", WTERMSIG(status));
    tell(t, trial, round);
}

/* "trial 3 0:12, trial 5 0:03; 14 runs, best 2.10 %; 4:10 left" */
static void draw(void *user, const cli_job *jobs, int most)
{
    const tuning *t = user;
    char text[32];
    int trial, round, shown = 0;
    if (!t->terminal) return;
    fputs("\r", stderr);
    for (int j = 0; j < most && shown < 3; j++) {
        if (!jobs[j].busy) continue;
        cli_seconds_text(cli_now() - jobs[j].started, text, sizeof text);
        fprintf(stderr, "%strial %d %s", shown++ ? ", " : "", jobs[j].item / ROUNDS, text);
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

static int take_settings(tuning *t)
{
    const cli_options *o = t->options;
    char words[TUNE_TEXT];
    enhope_context *ctx = enhope_context_create();
    enhope_settings *settings = enhope_settings_create();
    int code = ctx && settings ? 0 : cli_error("out of memory");
    for (int i = 0; i < o->settings && !code; i++) {
        const char *name = o->setting[i].name, *value = o->setting[i].value;
        if (!strcmp(name, "recipe"))
            code =
                cli_usage_error(o->command, "--recipe has no place here: the trials begin with recipes of their own");
        else if (strchr(value, ' ') || !*value) /* settings are kept as words */
            code = cli_usage_error(o->command, "%s is '%s': expected one word", name, value);
        else if (!strcmp(name, "n_epochs"))
            t->epochs = atoll(value);
        else if (!strcmp(name, "random_state"))
            t->seed = atoll(value);
    }
    tune_settings(t, 0, words, sizeof words);
    if (!code) code = cli_apply_settings(ctx, settings, words); /* before the work, not after it */
    if (!code) {
        enhope_settings_get(ctx, settings, "validation_fraction", words, sizeof words);
        if (atof(words) <= 0)
            code = cli_usage_error(o->command, "--validation-fraction 0 leaves no validation part to tune on");
        if (!enhope_settings_applies(settings, "n_epochs"))
            code = cli_usage_error(o->command, "the method is not learned in steps: there is nothing to tune");
        t->drawn = tune_dimensions(settings);
    }
    enhope_settings_free(settings);
    enhope_context_free(ctx);
    return code;
}

static int take_options(tuning *t)
{
    const cli_options *o = t->options;
    const double seconds = o->tune.for_time ? cli_seconds_parse(o->tune.for_time)
                           : o->tune.trials ? INFINITY
                                            : own_seconds;
    if (!o->data) return cli_usage_error(o->command, "--data SPEC is missing");
    if (!strcmp(o->data, "-"))
        return cli_usage_error(o->command, "every trial reads the data: it cannot be -, but a file");
    if (seconds <= 0)
        return cli_usage_error(o->command, "--for is '%s': expected a time as in 90s, 10m or 2h", o->tune.for_time);
    t->started = cli_now();
    t->until = t->started + seconds;
    t->closing = t->started + closing_part * seconds;
    t->most = o->tune.trials;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const bool cpu = !o->compute.device || !strcmp(o->compute.device, "cpu");
    t->jobs = o->jobs ? (int)o->jobs : cpu ? cores / CORES_OF_A_JOB : 1;
    if (t->jobs < 1) t->jobs = 1;
    if (!o->jobs && t->jobs > MOST_OWN_JOBS) t->jobs = MOST_OWN_JOBS;
    t->threads = t->jobs == 1 ? 0 : cores > t->jobs ? cores / t->jobs : 1;
    return take_settings(t);
}

static bool kept(const tuning *t, const char *kind, int trial, int round, const char *ending)
{
    char path[TUNE_PATH];
    tune_path(t, kind, trial, round, ending, path);
    return access(path, R_OK) == 0;
}

/* The trials of a search that was begun before: one of the same kind only. */
static int find_kept(tuning *t)
{
    add_trial(t);
    if (!t->facts.samples && kept(t, "runs", 0, LAST, ".json"))
        return cli_error("%s holds a search on other data or with other settings; -o names another folder", t->folder);
    while (t->facts.samples && t->trials < t->room && kept(t, "runs", t->trials, 0, ".json")) add_trial(t);
    /* a model that is wanted and gone is made again; all are looked at before any is given up */
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        const tune_run *run = run_of(t, i / ROUNDS, i % ROUNDS);
        const bool wanted = tune_allowed(t, run) && (i == LAST || !tune_beaten(t, run));
        t->trial[i / ROUNDS].lost[i % ROUNDS] = wanted && !kept(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors");
    }
    for (int i = 0; i < t->trials * ROUNDS; i++) {
        tune_trial *trial = &t->trial[i / ROUNDS];
        if (trial->lost[i % ROUNDS]) trial->run[i % ROUNDS].done = false;
    }
    return 0;
}

int cmd_tune(const cli_options *options)
{
    tuning t = {.options = options,
                .folder = options->output ? options->output : "tuning",
                .epochs = EPOCHS,
                .seed = 1,
                .series = options->tune.series ? options->tune.series : 1,
                .room = options->tune.trials ? (int)options->tune.trials : MOST_TRIALS,
                .terminal = isatty(STDERR_FILENO) != 0};
    static const char *const inner[] = {"runs", "models"};
    int code = take_options(&t);
    if (code) return code;
    t.trial = cli_alloc("trials", t.room, 1, sizeof *t.trial);
    if (!t.trial) return CLI_FAILED;
    const cli_pool pool = {.user = &t, .most = t.jobs, .next = next, .run = train, .ended = ended, .draw = draw};
    cli_catch_signals();
    code = cli_make_folders(t.folder, inner, 2);
    if (!code) code = find_kept(&t);
    if (!code) code = cli_pool_run(&pool);
    clear_line(&t);
    if (!code) code = t.code;
    if (!code && t.facts.samples) code = tune_report(&t);
    if (!code && cli_caught_signal()) {
        cli_error("stopped; what is done is kept in %s, and the same command goes on from there", t.folder);
        code = 128 + cli_caught_signal();
    }
    free(t.trial);
    return code;
}
