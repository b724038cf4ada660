/* Results of a search: the frontier of error against size and speed, the best model, and a
 * report. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/tune.h"

enum { TIMED_POINTS = 2000 };

static int runs(const tuning *t)
{
    return t->trials * ROUNDS;
}

static const tune_run *run_at(const tuning *t, int i)
{
    const tune_run *run = &t->trial[i / ROUNDS].run[i % ROUNDS];
    return run->epochs && !run->failed ? run : NULL; /* also if shortened by the time limit */
}

typedef enum cost { SIZE, SPEED } cost;

static double cost_of(const tune_run *run, cost by)
{
    return by == SIZE ? run->bytes : run->microseconds;
}

/* Whether no run within the limits is better in error or cost and not worse in the other. Equal
 * errors are compared by their log loss. Small differences of size (rows of the history) and
 * time (load of the machine) are ignored. */
static bool on_frontier(const tuning *t, const tune_run *run, cost by)
{
    static const double same[] = {[SIZE] = 1.01, [SPEED] = 1.1};
    const double c = cost_of(run, by);
    if (run->gone) return false;
    for (int i = 0; i < runs(t); i++) {
        const tune_run *other = run_at(t, i);
        if (!other || other == run || other->gone || !tune_allowed(t, other)) continue;
        const double d = cost_of(other, by);
        const int order = tune_compare(other, run);
        const bool better = order < 0 || d * same[by] < c;
        if (order <= 0 && d <= c * same[by] && (better || other < run)) return false; /* of equal runs, the first */
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
        const int order = best ? tune_compare(run, best) : -1;
        if (order > 0 || (order == 0 && run->bytes >= best->bytes)) continue;
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

/* The first rows of the order as the data of the session. */
static int select_timed(const tuning *t, cli_session *s)
{
    const int64_t all = t->data.facts.samples;
    const enhope_status status = enhope_dataset_select(s->ctx, t->data.session.data, t->data.order,
                                                       all < TIMED_POINTS ? all : TIMED_POINTS, &s->data);
    return status ? cli_fail(s->ctx, status) : 0;
}

/* Times the stored models one by one, while no other run is active. */
static int time_models(tuning *t)
{
    cli_session s;
    char path[TUNE_PATH];
    int code = cli_session_open(&s, t->options);
    enhope_context_set_log(s.ctx, NULL, NULL);
    if (!code) code = select_timed(t, &s);
    for (int i = 0; i < runs(t) && !code && !cli_caught_signal(); i++) {
        if (!run_at(t, i) || run_at(t, i)->gone) continue;
        tune_path(t, "models", i / ROUNDS, i % ROUNDS, ".safetensors", path);
        code = cli_session_model(&s, path);
        if (!code) code = tune_time(t, &s, &t->trial[i / ROUNDS].run[i % ROUNDS].microseconds);
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
    const int64_t n = tune_by_folds(t) ? t->data.facts.samples : t->data.facts.valid;
    const double p = before, q = after;
    double p_low, p_high, q_low, q_high;
    cli_interval(llround(p / 100 * (double)n), n, &p_low, &p_high);
    cli_interval(llround(q / 100 * (double)n), n, &q_low, &q_high);
    *low = p - q - hypot(p - p_low, q_high - q);
    *high = p - q + hypot(p_high - p, q - q_low);
}

/* The last round in which both the trial and the defaults have a result; -1: none. */
static int common_round(const tuning *t, int trial)
{
    int round = LAST;
    while (round >= 0 && !(run_at(t, trial * ROUNDS + round) && run_at(t, round))) round--;
    return round;
}

/* The best run beside the default settings in the same round. */
static void put_json_gain(const tuning *t, int trial, int round)
{
    const int common = trial ? common_round(t, trial) : -1;
    double low, high;
    if (common < 0) {
        fputs(",\n  \"gain\": null", stdout);
        return;
    }
    const tune_run *base = &t->trial[0].run[common], *own = &t->trial[trial].run[common];
    gain_interval(t, base->error, own->error, &low, &high);
    cli_json(stdout,
             ",\n  \"gain\": {\"rows\": %lld, \"best_round\": %i, \"error_percent\": %g, "
             "\"default_error_percent\": %g, \"points\": %g, \"interval_points\": [%g, %g]}",
             (long long)own->rows, common == round, own->error, base->error, base->error - own->error, low, high);
}

static void put_gain(const tuning *t, int trial, int round, FILE *out)
{
    const char *error = tune_by_folds(t) ? "Cross-validated error" : "Validation error";
    const tune_run *best = &t->trial[trial].run[round];
    const int common = common_round(t, trial);
    double low, high;
    if (!trial && t->trials < 2)
        fprintf(
            out,
            "The time was sufficient for the default settings only: validation error %.2f %%; use a longer --for.\n",
            best->error);
    else if (!trial)
        fprintf(out, "No settings are better than the defaults: %s %.2f %%, log loss %.4f, with %lld training rows.\n",
                tune_by_folds(t) ? "cross-validated error" : "validation error", best->error, best->loss,
                (long long)best->rows);
    if (!trial) return;
    fprintf(out, "%s %.2f %%, log loss %.4f, with %lld training rows", error, best->error, best->loss,
            (long long)best->rows);
    if (common >= 0) {
        const tune_run *base = &t->trial[0].run[common], *own = &t->trial[trial].run[common];
        gain_interval(t, base->error, own->error, &low, &high);
        if (common == round)
            fputs("; ", out);
        else
            fprintf(out, ". With %lld training rows: %.2f %%, ", (long long)own->rows, own->error);
        fprintf(out, "default settings %.2f %%: %.2f points %s (95 %% interval %.2f to %.2f)", base->error,
                fabs(base->error - own->error), own->error <= base->error ? "lower" : "higher", low, high);
    }
    fputs(".\n", out);
}

/* ---- tables ---- */

typedef struct listed {
    int at;
    const tune_run *run;
} listed;

static int by_error(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    const int order = tune_compare(x->run, y->run);
    return order ? order : x->at - y->at;
}

/* The runs of the table, best first; NULL: out of memory. */
static listed *list(const tuning *t, bool frontier, int *count)
{
    listed *rows = cli_alloc("runs", runs(t), 1, sizeof *rows);
    *count = 0;
    for (int i = 0; rows && i < runs(t); i++) {
        const tune_run *run = run_at(t, i);
        if (!run || (frontier && (!tune_allowed(t, run) || tune_beaten(t, run)))) continue;
        rows[(*count)++] = (listed){i, run};
    }
    if (rows) qsort(rows, (size_t)*count, sizeof *rows, by_error);
    return rows;
}

static int put_table(const tuning *t, bool frontier, bool markdown, FILE *out)
{
    int count;
    listed *rows = list(t, frontier, &count);
    if (!rows) return CLI_FAILED;
    fputs(markdown
              ? "| trial | error % | log loss | rows | epochs | parameters | bytes | us/row | training s | best in | "
                "settings |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|\n"
              : "trial  error %  log loss     rows  epochs  parameters     bytes    us/row  best in      settings\n",
          out);
    for (int i = 0; i < count; i++) {
        const tune_run *run = run_at(t, rows[i].at);
        const bool size = on_frontier(t, run, SIZE), speed = on_frontier(t, run, SPEED);
        const char *where = size && speed ? "size, speed" : size ? "size" : speed ? "speed" : "";
        const char *settings = t->trial[rows[i].at / ROUNDS].settings;
        if (markdown)
            cli_print(out, "| %d | %.2f | %.4f | %lld | %lld%s | %lld | %.0f | %.2f | %.1f | %s | `%s` |\n",
                      rows[i].at / ROUNDS, run->error, run->loss, (long long)run->rows, (long long)run->epochs,
                      run->cut ? " (shortened)" : "", (long long)run->parameters, run->bytes, run->microseconds,
                      run->seconds, where, settings);
        else
            cli_print(out, "%5d  %7.2f  %8.4f  %7lld  %6lld  %10lld  %8.0f  %8.2f  %-11s  %s\n", rows[i].at / ROUNDS,
                      run->error, run->loss, (long long)run->rows, (long long)run->epochs, (long long)run->parameters,
                      run->bytes, run->microseconds, where, settings);
    }
    free(rows);
    return 0;
}

static void put_json_run(const tuning *t, const tune_run *run, int trial, const char *model, FILE *out)
{
    cli_json(out,
             "{\"trial\": %d, \"error_percent\": %g, \"log_loss\": %g, \"rows\": %lld, \"epochs\": %lld, "
             "\"parameters\": %lld, \"bytes\": %g, \"microseconds\": %g, \"best_in_size\": %i, "
             "\"best_in_speed\": %i, \"settings\": %s, \"model\": %s}",
             trial, run->error, run->loss, (long long)run->rows, (long long)run->epochs, (long long)run->parameters,
             run->bytes, run->microseconds, on_frontier(t, run, SIZE), on_frontier(t, run, SPEED),
             t->trial[trial].settings, model);
}

/* The frontier as a JSON array. */
static int put_json_frontier(const tuning *t, FILE *out)
{
    int count;
    listed *rows = list(t, true, &count);
    if (!rows) return CLI_FAILED;
    fputs("[", out);
    for (int i = 0; i < count; i++) {
        char model[TUNE_PATH];
        tune_path(t, "models", rows[i].at / ROUNDS, rows[i].at % ROUNDS, ".safetensors", model);
        fputs(i ? ",\n  " : "\n  ", out);
        put_json_run(t, rows[i].run, rows[i].at / ROUNDS, model, out);
    }
    fputs("\n]", out);
    free(rows);
    return 0;
}

static void put_failed(const tuning *t, FILE *out)
{
    for (int i = 0; i < runs(t); i++) {
        const tune_run *run = &t->trial[i / ROUNDS].run[i % ROUNDS];
        if (run->failed)
            cli_print(out, "\nTrial %d (`%s`) failed: %s\n", i / ROUNDS, t->trial[i / ROUNDS].settings, run->reason);
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
    if (o->compute.jobs) fprintf(out, " --jobs %lld", (long long)o->compute.jobs);
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

static void put_data(const tuning *t, FILE *out)
{
    const tune_facts *f = &t->data.facts;
    if (tune_by_folds(t))
        fprintf(out, "\n%lld samples, compared by %d-fold cross-validation; %lld classes; ", (long long)f->samples,
                TUNE_FOLDS, (long long)f->classes);
    else
        fprintf(
            out,
            "\n%lld samples, of which %lld are the validation part of all runs; %lld classes; rounds of %lld, %lld and "
            "%lld training rows; ",
            (long long)f->samples, (long long)f->valid, (long long)f->classes, (long long)tune_rows(t, 0),
            (long long)tune_rows(t, 1), (long long)tune_rows(t, LAST));
}

static int completed(const tuning *t)
{
    int count = 0;
    for (int i = 0; i < runs(t); i++) count += run_at(t, i) != NULL;
    return count;
}

static const char *reason_of_end(const tuning *t)
{
    return cli_caught_signal() ? "it was interrupted" : t->reason ? t->reason : "no run is left";
}

static void put_end(const tuning *t, FILE *out)
{
    fprintf(out, "%d trials, %d runs. The search ended because %s.\n", t->trials, completed(t), reason_of_end(t));
}

static int put_page(const tuning *t, bool found, int trial, int round, FILE *out)
{
    fputs("# Search for settings\n\n", out);
    put_command(t, out);
    put_data(t, out);
    put_end(t, out);
    fputs("\n", out);
    if (found)
        put_gain(t, trial, round, out);
    else
        fputs("No model is within the limits.\n", out);
    fputs(
        "\nTrial 0 is the recipe `fast`. The next are `best` and, unless there are few samples, `fast` with the epochs "
        "of the other trials. The rest are drawn from the search space. The error of the best of many runs is biased "
        "low: `enhope eval` on data that neither training nor this search has used gives an unbiased error.\n\n"
        "## Frontier\n\nRuns within the limits that no other run beats in both error (equal errors: log loss) and size "
        "(differences over 1 %), or error and speed (over 10 %).\n\n",
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

static int write_frontier(const tuning *t)
{
    char path[TUNE_PATH];
    cli_output output = {0};
    snprintf(path, sizeof path, "%s/frontier.json", t->folder);
    int code = cli_output_open(&output, path);
    if (!code) code = put_json_frontier(t, output.file);
    if (!code) putc('\n', output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    return code;
}

/* The result of the search; best, and the file `model`, if one is within the limits. */
static int put_json(const tuning *t, bool found, int trial, int round, const char *model, const char *page)
{
    const tune_facts *f = &t->data.facts;
    cli_json(stdout,
             "{\n  \"samples\": %lld,\n  \"classes\": %lld,\n  \"validation_samples\": %lld,\n  \"folds\": %d,\n"
             "  \"trials\": %d,\n  \"runs\": %d,\n  \"ended_because\": %s,\n  \"best\": ",
             (long long)f->samples, (long long)f->classes, (long long)f->valid, tune_by_folds(t) ? TUNE_FOLDS : 0,
             t->trials, completed(t), reason_of_end(t));
    if (found)
        put_json_run(t, &t->trial[trial].run[round], trial, model, stdout);
    else
        fputs("null", stdout);
    put_json_gain(t, found ? trial : 0, round);
    cli_json(stdout, ",\n  \"report\": %s,\n  \"frontier\": ", page);
    const int code = put_json_frontier(t, stdout);
    fputs(",\n  \"failed\": [", stdout);
    const char *between = "";
    for (int i = 0; i < runs(t); i++) {
        const tune_run *run = &t->trial[i / ROUNDS].run[i % ROUNDS];
        if (!run->failed) continue;
        fputs(between, stdout);
        cli_json(stdout, "{\"trial\": %d, \"settings\": %s, \"reason\": %s}", i / ROUNDS, t->trial[i / ROUNDS].settings,
                 run->reason);
        between = ", ";
    }
    fputs("]\n}\n", stdout);
    return code;
}

int tune_report(tuning *t)
{
    const bool json = t->options->json;
    char page[TUNE_PATH], model[TUNE_PATH];
    cli_output output = {0};
    int trial = 0, round = LAST;
    snprintf(page, sizeof page, "%s/report.md", t->folder);
    snprintf(model, sizeof model, "%s/best.safetensors", t->folder);
    find_gone(t);
    int code = cli_caught_signal() ? 0 : time_models(t);
    if (code) return code;
    const bool found = tune_best(t, &trial, &round);
    if (!json) code = put_table(t, true, false, stdout);
    if (!code && found) code = keep_best(t, trial, round, model);
    if (!code) code = cli_output_open(&output, page);
    if (!code) code = put_page(t, found, trial, round, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    if (!code) code = write_frontier(t);
    if (!code && json) code = put_json(t, found, trial, round, model, page);
    if (code) return code;
    if (!json) putchar('\n');
    fflush(stdout);
    if (!found)
        return cli_error("no model is within --size and --latency; raise them, or search longer; the report is in %s",
                         page);
    if (json) return 0;
    put_end(t, stdout);
    put_gain(t, trial, round, stdout);
    printf("The model is in %s (trial %d), the report in %s.\n", model, trial, page);
    return 0;
}
