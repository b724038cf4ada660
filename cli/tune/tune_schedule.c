/* The schedule of a search: successive halving over the number of rows.
 *
 * In a bracket of nine trials, each is trained on a sixteenth of the rows, the best third on a
 * quarter, and the best third of these on all. A round begins when the one before has ended, so
 * that the runs do not depend on the number of processes. Few samples have one round, with
 * cross-validation on all of them.
 *
 * With a time limit, early runs have a limit of their own, and the end of the time is for runs
 * on all rows, of the best trials and of the defaults. These have as many epochs as fit. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"

enum { MIN_EPOCHS = 2, REDRAWS = 100 };
static const double safety = 0.85;       /* of the time that is left is planned */
static const double early_share = 0.3;   /* of the time that is left may go to a run before the last round */
static const double default_share = 0.2; /* of all the time may go to the defaults at the start */

static const tune_run *run_of(const tuning *t, int trial, int round)
{
    return &t->trial[trial].run[round];
}

int tune_compare(const tune_run *a, const tune_run *b)
{
    if (a->error != b->error) return a->error < b->error ? -1 : 1;
    if (isfinite(a->loss) && isfinite(b->loss) && a->loss != b->loss) return a->loss < b->loss ? -1 : 1;
    return 0;
}

static bool is_pending(const tuning *t, int trial, int round)
{
    return !run_of(t, trial, round)->done && !t->trial[trial].running[round];
}

/* ---- brackets ---- */

typedef struct candidate {
    int trial;
    tune_run run; /* of the round before */
} candidate;

static int by_result(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const int order = tune_compare(&x->run, &y->run);
    return order ? order : x->trial - y->trial;
}

static bool is_closed(const tuning *t)
{
    return cli_now() >= t->closing;
}

/* The trials of the bracket that run in this round; false while the round before is running. */
static bool find_candidates(const tuning *t, int bracket, int round, candidate *out, int *count)
{
    const int first = 1 + bracket * BRACKET;
    *count = 0;
    if (round == 0) {
        for (int i = first; i < first + BRACKET && i < t->trials; i++) out[(*count)++] = (candidate){.trial = i};
        const bool full = t->trials >= first + BRACKET || (t->max_trials && t->trials >= t->max_trials);
        return full || t->reason || is_closed(t);
    }
    candidate before[BRACKET];
    int entered, able = 0;
    if (!find_candidates(t, bracket, round - 1, before, &entered)) return false;
    for (int i = 0; i < entered; i++) {
        const tune_run *run = run_of(t, before[i].trial, round - 1);
        if (t->trial[before[i].trial].running[round - 1] || !run->done) return false;
        if (tune_allowed(t, run)) before[able++] = (candidate){before[i].trial, *run};
    }
    qsort(before, (size_t)able, sizeof *before, by_result);
    *count = able ? (entered / REDUCTION > 1 ? entered / REDUCTION : 1) : 0;
    if (*count > able) *count = able;
    memcpy(out, before, (size_t)*count * sizeof *out);
    return true;
}

/* A run of the bracket that can start now; -1: none. */
static int next_of_bracket(const tuning *t, int bracket)
{
    candidate candidates[BRACKET];
    int count;
    for (int round = LAST; round >= 0; round--) {
        if (!find_candidates(t, bracket, round, candidates, &count) && round > 0) continue;
        for (int i = 0; i < count; i++)
            if (is_pending(t, candidates[i].trial, round)) return candidates[i].trial * ROUNDS + round;
    }
    return -1;
}

/* ---- time ---- */

/* The result of the trial with the most rows; NULL: none. */
static const tune_run *latest(const tuning *t, int trial)
{
    for (int round = LAST; round >= 0; round--) {
        const tune_run *run = run_of(t, trial, round);
        if (run->done && !run->failed && run->epochs) return run;
    }
    return NULL;
}

/* Seconds of an epoch of the round, judged by an earlier run of the trial; NaN: there is none. */
static double epoch_seconds(const tuning *t, int trial, int round)
{
    const tune_run *run = latest(t, trial);
    return run ? run->seconds / (double)run->epochs * (double)tune_rows(t, round) / (double)run->rows : NAN;
}

/* Epochs that the run is planned with. */
static double planned_epochs(const tuning *t, int trial)
{
    const tune_run *run = run_of(t, trial, 0);
    return t->epochs && trial ? (double)t->epochs : run->epochs ? (double)run->epochs : 1;
}

/* The epochs of a round that fit in the time that is left. */
static double fitting_epochs(const tuning *t, int trial, int round)
{
    return safety * (t->until - cli_now()) / epoch_seconds(t, trial, round);
}

static int begin(tuning *t, int item)
{
    tune_trial *trial = &t->trial[item / ROUNDS];
    const double fit = fitting_epochs(t, item / ROUNDS, item % ROUNDS);
    const bool fewer = item % ROUNDS > 0 && !tune_by_folds(t) && fit < planned_epochs(t, item / ROUNDS);
    trial->fewer = fewer ? (int64_t)fmax(1, fit) : 0;
    trial->running[item % ROUNDS] = true;
    return item;
}

/* Whether a run of a bracket leaves enough time for the last round. */
static bool is_affordable(const tuning *t, int item)
{
    const double seconds = epoch_seconds(t, item / ROUNDS, item % ROUNDS) * planned_epochs(t, item / ROUNDS);
    if (!isfinite(t->until) || !(isfinite(seconds))) return true;
    if (!is_closed(t) && item % ROUNDS < LAST)
        return fmin(seconds, t->max_seconds) < early_share * (t->until - cli_now());
    return seconds <= (item % ROUNDS == LAST ? safety : early_share) * (t->until - cli_now());
}

/* A run of the best trial on more rows than before, all of them if some epochs fit in the time; -1:
 * none. */
static int next_final(const tuning *t)
{
    const tune_run *best = NULL;
    int found = -1;
    for (int i = 0; i < t->trials; i++) {
        const tune_run *run = latest(t, i);
        if (!run || !tune_allowed(t, run) || !is_pending(t, i, LAST) || t->trial[i].running[1]) continue;
        if (best && tune_compare(run, best) >= 0) continue;
        best = run;
        found = i;
    }
    for (int round = LAST; found >= 0 && round > best - t->trial[found].run; round--)
        if (is_pending(t, found, round) && fitting_epochs(t, found, round) >= MIN_EPOCHS) return found * ROUNDS + round;
    return -1;
}

static bool any_running(const tuning *t)
{
    for (int i = 0; i < t->trials * ROUNDS; i++)
        if (t->trial[i / ROUNDS].running[i % ROUNDS]) return true;
    return false;
}

/* ---- trials ---- */

static bool is_new(const tuning *t, const char *settings)
{
    for (int i = tune_by_folds(t) ? 0 : 1; i < t->trials; i++) /* trial 0 may have other epochs */
        if (!strcmp(t->trial[i].settings, settings)) return false;
    return true;
}

bool tune_add_trial(tuning *t)
{
    tune_trial *trial = &t->trial[t->trials];
    *trial = (tune_trial){.settings = ""};
    for (int tries = 0; tries < REDRAWS; tries++) {
        trial->draw = t->draws++;
        tune_settings(t, trial->draw, trial->settings, sizeof trial->settings);
        if (t->trials && !is_new(t, trial->settings)) continue;
        const int number = t->trials++;
        for (int round = 0; round < ROUNDS; round++)
            if (tune_read(t, number, round) && run_of(t, number, round)->cut) trial->run[round].done = false;
        return true;
    }
    t->reason = "the search space has no further settings";
    return false;
}

/* Whether no trial may be added; sets the reason. */
static bool is_full(tuning *t)
{
    if (t->reason) return true;
    if (t->max_trials && t->trials >= t->max_trials)
        t->reason = "all trials are done (--trials)";
    else if (t->trials >= t->capacity)
        t->reason = "the maximum number of trials is reached; use --trials to raise it";
    else if (is_closed(t))
        t->reason = "the time is over (--for)";
    return t->reason != NULL;
}

/* With few samples, all trials have one run, in their order. */
static int next_by_folds(tuning *t)
{
    for (;;) {
        for (int i = 0; i < t->trials; i++)
            if (is_pending(t, i, LAST)) return begin(t, i * ROUNDS + LAST);
        if (is_full(t) || !tune_add_trial(t)) return -1;
    }
}

int tune_next(tuning *t)
{
    if (cli_now() >= t->until) {
        t->reason = "the time is over (--for)";
        return -1;
    }
    if (tune_by_folds(t)) return next_by_folds(t);
    const double whole = epoch_seconds(t, 0, LAST) * planned_epochs(t, 0);
    if (is_pending(t, 0, 0)) return begin(t, 0);
    if (is_pending(t, 0, LAST) && (!isfinite(t->until) || whole < default_share * (t->until - t->started)))
        return begin(t, LAST);
    for (bool waiting = false; !waiting;) {
        for (int bracket = 0; 1 + bracket * BRACKET < t->trials; bracket++) {
            const int item = next_of_bracket(t, bracket);
            if (item >= 0 && is_affordable(t, item)) return begin(t, item);
            waiting = waiting || item >= 0;
        }
        if (!waiting && (is_full(t) || !tune_add_trial(t))) break;
    }
    if (!isfinite(t->until)) return -1;
    if (!is_closed(t) && any_running(t)) return -1; /* better trials may follow */
    const int item = next_final(t);
    return item < 0 ? -1 : begin(t, item);
}
