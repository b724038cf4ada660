/* Results of a search: the frontier of error against size and speed, the best model, and a
 * report. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/tune.h"

enum { TIMED_POINTS = 2000, LAST = ROUNDS - 1 };

static int runs(const tuning *t)
{
    return t->trials * ROUNDS;
}

static const tune_run *run_at(const tuning *t, int i)
{
    const tune_run *run = &t->trial[i / ROUNDS].run[i % ROUNDS];
    return run->epochs && !run->failed ? run : NULL; /* also if stopped at the time limit */
}

typedef enum cost { SIZE, SPEED } cost;

static double cost_of(const tune_run *run, cost by)
{
    return by == SIZE ? run->bytes : run->microseconds;
}

/* Whether no run within the limits is better in error or cost and not worse in the other. Small
 * differences of size (rows of the history) and time (load of the machine) are ignored. */
static bool on_frontier(const tuning *t, const tune_run *run, cost by)
{
    static const double same[] = {[SIZE] = 1.01, [SPEED] = 1.1};
    const double c = cost_of(run, by);
    if (run->gone) return false;
    for (int i = 0; i < runs(t); i++) {
        const tune_run *other = run_at(t, i);
        if (!other || other == run || other->gone || !tune_allowed(t, other)) continue;
        const double d = cost_of(other, by);
        const bool better = other->error < run->error || d * same[by] < c;
        if (other->error <= run->error && d <= c * same[by] && (better || other < run))
            return false; /* of equal runs, the first */
    }
    return true;
}

bool tune_beaten(const tuning *t, const tune_run *run)
{
    return !on_frontier(t, run, SIZE) && !on_frontier(t, run, SPEED);
}

bool tune_best(const tuning *t, int *trial, int *round)
{
    const tune_run *best = NULL;
    for (int i = 0; i < runs(t); i++) {
        const tune_run *run = run_at(t, i);
        if (!run || !tune_allowed(t, run) || tune_beaten(t, run)) continue;
        if (best && (run->error > best->error || (run->error == best->error && run->bytes >= best->bytes))) continue;
        best = run;
        *trial = i / ROUNDS;
        *round = i % ROUNDS;
    }
    return best != NULL;
}

/* ---- timing ---- */

/* A run that was beaten in parallel timing stays beaten, also if timing alone would rank it
 * higher. */
static void find_gone(tuning *t)
{
    char path[TUNE_PATH];
    for (int i = 0; i < runs(t); i++) {
        tune_path(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors", path);
        t->trial[i / ROUNDS].run[i % ROUNDS].gone = access(path, R_OK) != 0;
    }
}

/* Times the stored models one by one, while no other run is active. */
static int time_models(tuning *t)
{
    cli_options options = *t->options;
    cli_session s;
    char path[TUNE_PATH];
    if (!options.source.limit || options.source.limit > TIMED_POINTS) options.source.limit = TIMED_POINTS;
    int code = cli_session_open(&s, &options);
    enhope_context_set_log(s.ctx, NULL, NULL);
    if (!code) code = cli_session_data(&s, &options, options.data, "train");
    for (int i = 0; i < runs(t) && !code && !cli_caught_signal(); i++) {
        if (!run_at(t, i) || run_at(t, i)->gone) continue;
        tune_path(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors", path);
        code = cli_session_model(&s, path);
        if (!code) code = tune_time(&s, &t->trial[i / ROUNDS].run[i % ROUNDS].microseconds);
        enhope_model_free(s.model);
        s.model = NULL;
    }
    cli_session_close(&s);
    return code;
}

/* ---- intervals ---- */

/* Newcombe's interval of the decrease from the first error to the second, in percentage points. It
 * assumes different samples; for the same samples it is too wide. */
static void gain_interval(const tuning *t, double before, double after, double *low, double *high)
{
    const int64_t n = t->facts.valid > 0 ? t->facts.valid : 1;
    const double p = before, q = after;
    double p_low, p_high, q_low, q_high;
    cli_interval(llround(p / 100 * (double)n), n, &p_low, &p_high);
    cli_interval(llround(q / 100 * (double)n), n, &q_low, &q_high);
    *low = p - q - hypot(p - p_low, q_high - q);
    *high = p - q + hypot(p_high - p, q - q_low);
}

static void put_gain(const tuning *t, const tune_run *best, FILE *out)
{
    const tune_run *base = &t->trial[0].run[LAST];
    double low, high;
    gain_interval(t, base->error, best->error, &low, &high);
    if (best == base && t->trials < 2)
        fprintf(
            out,
            "The time was sufficient for the default settings only: validation error %.2f %%; use a longer --for.\n",
            base->error);
    else if (best == base)
        fprintf(out, "No settings are better than the defaults: validation error %.2f %%.\n", base->error);
    else if (best->error == base->error)
        fprintf(out,
                "Validation error %.2f %%, as with the default settings, with a model of %.0f bytes instead of %.0f.\n",
                best->error, best->bytes, base->bytes);
    else
        fprintf(out,
                "Validation error %.2f %%, default settings %.2f %%: %.2f points %s (95 %% interval %.2f to "
                "%.2f).\n",
                best->error, base->error, fabs(base->error - best->error),
                base->error >= best->error ? "lower" : "higher, because of the limits", low, high);
}

/* ---- tables ---- */

typedef struct listed {
    int at;
    double error;
} listed;

static int by_error(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->error != y->error ? (x->error < y->error ? -1 : 1) : x->at - y->at;
}

/* The runs of the table, best first; NULL: out of memory. */
static listed *list(const tuning *t, bool frontier, int *count)
{
    listed *rows = cli_alloc("runs", runs(t), 1, sizeof *rows);
    *count = 0;
    for (int i = 0; rows && i < runs(t); i++) {
        const tune_run *run = run_at(t, i);
        if (!run || (frontier && (!tune_allowed(t, run) || tune_beaten(t, run)))) continue;
        rows[(*count)++] = (listed){i, run->error};
    }
    if (rows) qsort(rows, (size_t)*count, sizeof *rows, by_error);
    return rows;
}

static int put_table(const tuning *t, bool frontier, bool markdown, FILE *out)
{
    int count;
    listed *rows = list(t, frontier, &count);
    if (!rows) return CLI_FAILED;
    fputs(markdown ? "| trial | error % | epochs | parameters | bytes | us/point | training s | best in | settings |\n"
                     "|---|---|---|---|---|---|---|---|---|\n"
                   : "trial  error %  epochs  parameters     bytes  us/point  best in      settings\n",
          out);
    for (int i = 0; i < count; i++) {
        const tune_run *run = run_at(t, rows[i].at);
        const bool size = on_frontier(t, run, SIZE), speed = on_frontier(t, run, SPEED);
        const char *where = size && speed ? "size, speed" : size ? "size" : speed ? "speed" : "";
        const char *settings = t->trial[rows[i].at / ROUNDS].settings;
        if (markdown)
            fprintf(out, "| %d | %.2f | %lld | %lld | %.0f | %.2f | %.1f | %s | `%s` |\n", rows[i].at / ROUNDS,
                    run->error, (long long)run->epochs, (long long)run->parameters, run->bytes, run->microseconds,
                    run->seconds, where, settings);
        else
            fprintf(out, "%5d  %7.2f  %6lld  %10lld  %8.0f  %8.2f  %-11s  %s\n", rows[i].at / ROUNDS, run->error,
                    (long long)run->epochs, (long long)run->parameters, run->bytes, run->microseconds, where, settings);
    }
    free(rows);
    return 0;
}

static void put_failed(const tuning *t, FILE *out)
{
    for (int i = 0; i < runs(t); i++) {
        const tune_run *run = &t->trial[i / ROUNDS].run[i % ROUNDS];
        if (run->failed)
            fprintf(out, "\nTrial %d (`%s`) failed: %s\n", i / ROUNDS, t->trial[i / ROUNDS].settings, run->reason);
    }
}

static void put_space(FILE *out)
{
    const tune_dimension *d;
    fputs("\n## Search space\n\n| setting | values | |\n|---|---|---|\n", out);
    for (int i = 0; (d = tune_dimension_get(i)); i++) {
        fprintf(out, "| %s | ", d->setting);
        if (d->kind == TUNE_ONE_OF)
            for (const char *at = d->values; *at; at++) *at == '|' ? fputs(", ", out) : putc(*at, out);
        else
            fprintf(out, "%g to %g, logarithmic", d->low, d->high);
        fprintf(out, " | %s |\n", d->note);
    }
}

static void put_command(const tuning *t, FILE *out)
{
    const cli_options *o = t->options;
    char text[TUNE_TEXT];
    tune_data_text(o, text, sizeof text);
    fprintf(out, "    enhope tune %s", text);
    if (o->tune.for_time) fprintf(out, " --for %s", o->tune.for_time);
    if (o->tune.trials) fprintf(out, " --trials %lld", (long long)o->tune.trials);
    if (o->jobs) fprintf(out, " --jobs %lld", (long long)o->jobs);
    if (o->tune.series) fprintf(out, " --series %lld", (long long)o->tune.series);
    if (o->tune.size) fprintf(out, " --size %lld", (long long)o->tune.size);
    if (o->tune.latency > 0) fprintf(out, " --latency %g", o->tune.latency);
    if (o->compute.device) fprintf(out, " --device %s", o->compute.device);
    if (o->compute.precision) fprintf(out, " --precision %s", o->compute.precision);
    for (int i = 0; i < o->settings; i++) {
        cli_option_name(o->setting[i].name, text, sizeof text);
        fprintf(out, " --%s %s", text, o->setting[i].value);
    }
    fprintf(out, " -o %s\n", t->folder);
}

static int put_page(const tuning *t, const tune_run *best, FILE *out)
{
    int count;
    listed *rows = list(t, false, &count);
    free(rows);
    if (!rows) return CLI_FAILED;
    fputs("# Search for settings\n\n", out);
    put_command(t, out);
    fprintf(out,
            "\n%lld samples, of which %lld are the validation part of all runs; %lld classes; %d trials, %d runs. ",
            (long long)t->facts.samples, (long long)t->facts.valid, (long long)t->facts.classes, t->trials, count);
    if (best)
        put_gain(t, best, out);
    else
        fputs("No model is within the limits.\n", out);
    fputs("\nTrial 0 is the recipe `fast`, trial 1 `best`, trial 2 `fast` with the epochs of the other trials. The "
          "rest are drawn from the search space. The error of the best of many runs is biased low: `enhope eval` on "
          "data that neither "
          "training nor this search has used gives an unbiased error.\n\n## Frontier\n\nRuns within the limits "
          "that no other run beats in both error and size (differences over 1 %), or error and speed (over 10 %).\n\n",
          out);
    const int code = put_table(t, true, true, out);
    if (code) return code;
    fputs("\n## All runs\n\n", out);
    const int all = put_table(t, false, true, out);
    put_failed(t, out);
    put_space(out);
    return all;
}

static int keep_best(const tuning *t, int trial, int round, const char *path)
{
    char from[TUNE_PATH];
    enhope_model *model = NULL;
    enhope_context *ctx = enhope_context_create();
    if (!ctx) return cli_error("out of memory");
    tune_path(t, "models", trial, round, ".safetensors", from);
    enhope_status status = enhope_model_load(ctx, from, &model);
    if (!status) status = enhope_model_save(ctx, model, path);
    const int code = status ? cli_fail(ctx, status) : 0;
    enhope_model_free(model);
    enhope_context_free(ctx);
    return code;
}

int tune_report(tuning *t)
{
    char page[TUNE_PATH], model[TUNE_PATH];
    cli_output output = {0};
    int trial, round;
    snprintf(page, sizeof page, "%s/report.md", t->folder);
    snprintf(model, sizeof model, "%s/best.safetensors", t->folder);
    find_gone(t);
    int code = cli_caught_signal() ? 0 : time_models(t);
    if (code) return code;
    const bool found = tune_best(t, &trial, &round);
    const tune_run *best = found ? &t->trial[trial].run[round] : NULL;
    code = put_table(t, true, false, stdout);
    if (!code && found) code = keep_best(t, trial, round, model);
    if (!code) code = cli_output_open(&output, page);
    if (!code) code = put_page(t, best, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    if (code) return code;
    putchar('\n');
    fflush(stdout);
    if (!found)
        return cli_error("no model is within --size and --latency; raise them, or search longer; the report is in %s",
                         page);
    put_gain(t, best, stdout);
    printf("The model is in %s (trial %d), the report in %s.\n", model, trial, page);
    return 0;
}
