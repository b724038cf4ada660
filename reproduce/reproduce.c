/* enhope-reproduce: runs the incomplete cells of the plan, each in its own process, then times
 * classification and writes the report. Completed cells are stored: the same command resumes an
 * interrupted run. */
#define _DEFAULT_SOURCE 1
#include <fnmatch.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pool.h"
#include "reproduce.h"

enum { MAX_NAME = PATH_SIZE - 128 }; /* of a folder: leaves space for file names */

typedef struct work {
    const reproduction *r;
    cell *cells; /* cells to run, in the order of the plan */
    int count, next, done, failed, done_before;
    int part, parts; /* the share of the cells: 1 of 1, or --cells */
    bool terminal;
    double started;
} work;

/* ---- selection of cells ---- */

/* Copies the next of the patterns between commas to pattern (TEXT_SIZE); false: none left. */
static bool next_pattern(const char **rest, char *pattern)
{
    *rest += strspn(*rest, ",");
    const size_t length = strcspn(*rest, ",");
    snprintf(pattern, TEXT_SIZE, "%.*s", (int)length, *rest);
    *rest += length;
    return length > 0;
}

/* Whether a pattern is the data set, the row or both, or matches the whole name of a cell. */
static bool chosen(const char *only, const char *set, const char *row, const char *name)
{
    char pattern[TEXT_SIZE], both[TEXT_SIZE];
    if (!only) return true;
    snprintf(both, sizeof both, "%s/%s", set, row);
    while (next_pattern(&only, pattern))
        if (!strcmp(pattern, set) || !strcmp(pattern, row) || !strcmp(pattern, both) || fnmatch(pattern, name, 0) == 0)
            return true;
    return false;
}

static bool cell_chosen(const char *only, cell at)
{
    char name[TEXT_SIZE];
    cell_name(at, name, sizeof name);
    return chosen(only, plan_sets[at.set].id, plan_row_get(at.row)->id, name);
}

static bool speed_chosen(const char *only, int set)
{
    char name[TEXT_SIZE];
    snprintf(name, sizeof name, "%s/speed", plan_sets[set].id);
    return plan_row_get(plan_row_number("en-hope-20-learned"))->on[set] &&
           chosen(only, plan_sets[set].id, "speed", name);
}

static bool has_row(const reproduction *r, int row)
{
    const plan_part part = plan_row_get(row)->part;
    return part == BEYOND || r->ablation == (part == ABLATION);
}

bool reproduction_has(const reproduction *r, int row, int set)
{
    return plan_row_get(row)->on[set] && has_row(r, row);
}

static bool names_any(const reproduction *r, const char *pattern)
{
    for (int set = 0; set < SETS; set++) {
        if (!r->ablation && speed_chosen(pattern, set)) return true;
        for (int row = 0; row < plan_rows(); row++)
            for (int seed = 1; seed <= r->seeds && reproduction_has(r, row, set); seed++)
                if (cell_chosen(pattern, (cell){row, set, seed})) return true;
    }
    return false;
}

/* Reports a pattern that selects no cell. */
static int check_only(const reproduction *r, const char *only)
{
    char pattern[TEXT_SIZE];
    bool good = !only;
    for (const char *rest = only; only && next_pattern(&rest, pattern);) {
        good = names_any(r, pattern);
        if (!good) break;
    }
    if (good) return 0;
    const int code =
        cli_usage_error(r->options->command,
                        "--only %s names no cell: expected data sets, rows, or patterns of DATA/ROW/SEED such "
                        "as 'mnist/en-hope-*/1' with seeds up to %d, separated by commas",
                        *pattern ? pattern : only, r->seeds);
    fputs("data sets:", stderr);
    for (int set = 0; set < SETS; set++) fprintf(stderr, " %s", plan_sets[set].id);
    fputs("\nrows:", stderr);
    for (int row = 0; row < plan_rows(); row++)
        if (has_row(r, row)) fprintf(stderr, " %s", plan_row_get(row)->id);
    fputs(r->ablation ? "\n" : " speed\n", stderr);
    return code;
}

static int find_data(reproduction *r)
{
    int found = 0;
    char path[SETS][PATH_SIZE];
    for (int set = 0; set < SETS; set++) {
        const plan_set *s = &plan_sets[set];
        const char *const files[] = {s->path, s->pair[0][0], s->pair[0][1], s->pair[1][0], s->pair[1][1]};
        r->have[set] = true;
        for (int i = 0; i < 5 && r->have[set]; i++) {
            if (!files[i]) continue;
            snprintf(path[set], PATH_SIZE, "%s/%s", r->data, files[i]);
            r->have[set] = access(path[set], R_OK) == 0;
        }
        found += r->have[set];
    }
    for (int set = 0; set < SETS && found; set++)
        if (!r->have[set]) fprintf(stderr, "%s is left out: %s is missing\n", plan_sets[set].name, path[set]);
    return found ? 0
                 : cli_error("%s contains no data set: expected mnist, usps/usps_all.mat, "
                             "20news/20news_w100.mat, mnist-vgg512 or fashion-mnist in it",
                             r->data);
}

static int parse_share(work *w, const cli_options *options)
{
    char rest;
    w->part = w->parts = 1;
    if (!options->reproduce.cells || (sscanf(options->reproduce.cells, "%9d/%9d%c", &w->part, &w->parts, &rest) == 2 &&
                                      w->part >= 1 && w->part <= w->parts))
        return 0;
    return cli_usage_error(options->command, "--cells is '%s': expected I/N with I from 1 to N, such as 3/20",
                           options->reproduce.cells);
}

static int find_work(work *w, const char *only)
{
    const reproduction *r = w->r;
    int number = 0; /* of a selected cell, complete or not */
    w->cells = cli_alloc("cells", plan_rows(), SETS * r->seeds, sizeof *w->cells);
    if (!w->cells) return CLI_FAILED;
    for (int seed = 1; seed <= r->seeds; seed++) /* the first seed completes the tables */
        for (int set = 0; set < SETS; set++)
            for (int row = 0; row < plan_rows(); row++) {
                const cell at = {.row = row, .set = set, .seed = seed};
                cell_result done;
                if (!reproduction_has(r, row, set) || !r->have[set] || !cell_chosen(only, at)) continue;
                if (number++ % w->parts != w->part - 1) continue;
                if (cell_read(r, at, &done))
                    w->done_before++;
                else
                    w->cells[w->count++] = at;
            }
    return 0;
}

/* ---- running cells ---- */

static void clear_line(const work *w)
{
    if (w->terminal) fputs("\r\033[K", stderr);
}

/* "[12 of 168] mnist/hope/1 0:41, usps/hope/1 0:12; 1:20:00 left" */
static void draw(void *user, const cli_job *jobs, int max_jobs)
{
    const work *w = user;
    if (!w->terminal) return;
    char left[32], spent[32], name[TEXT_SIZE];
    const double passed = cli_now() - w->started;
    cli_seconds_text(w->done ? passed / w->done * (w->count - w->done) : NAN, left, sizeof left);
    fprintf(stderr, "\r[%d of %d]", w->done, w->count);
    for (int j = 0, listed = 0; j < max_jobs && listed < 2; j++) {
        if (!jobs[j].busy) continue;
        cell_name(w->cells[jobs[j].item], name, sizeof name);
        cli_seconds_text(cli_now() - jobs[j].started, spent, sizeof spent);
        fprintf(stderr, "%s %s %s", listed++ ? "," : "", name, spent);
    }
    fprintf(stderr, "; %s left\033[K", left);
    fflush(stderr);
}

static int next_cell(void *user)
{
    work *w = user;
    return w->next < w->count ? w->next++ : -1;
}

static int run_cell(void *user, int item)
{
    const work *w = user;
    return cell_run(w->r, w->cells[item]);
}

static void finish(void *user, const cli_job *job, int status)
{
    work *w = user;
    const cell at = w->cells[job->item];
    char name[TEXT_SIZE];
    cell_result result;
    cell_name(at, name, sizeof name);
    w->done++;
    if (cli_caught_signal()) return;
    clear_line(w);
    if (!cell_read(w->r, at, &result)) {
        w->failed++;
        if (WIFSIGNALED(status))
            cli_error("%s failed: ended by signal %d", name, WTERMSIG(status));
        else
            cli_error("%s failed; see the message above", name);
        return;
    }
    const double paper = plan_row_get(at.row)->paper[at.set];
    fprintf(stderr, "[%d of %d] %s: %.2f %%", w->done, w->count, name, result.test);
    if (paper > 0) fprintf(stderr, " (paper %.2f)", paper);
    fprintf(stderr, ", %.1f s\n", result.seconds);
}

/* A failure on one data set does not affect the others and the report. */
static int run_speed(const reproduction *r, const char *only)
{
    int code = 0;
    for (int set = 0; set < SETS; set++) {
        speed_result done;
        if (!r->have[set] || !speed_chosen(only, set) || speed_read(r, set, &done) || cli_caught_signal()) continue;
        const cell at = {.row = plan_row_number("en-hope-20-learned"), .set = set, .seed = 1};
        cell_result trained;
        if (!plan_row_get(at.row)->on[set] || !cell_read(r, at, &trained)) continue;
        fprintf(stderr, "timing classification on %s\n", plan_sets[set].name);
        const int failed = speed_run(r, set);
        if (failed) code = failed;
    }
    return code;
}

/* Times classification and writes the report, after a signal from the completed cells. */
static int write_results(const work *w, const char *only)
{
    const reproduction *r = w->r;
    const int speed_code = r->ablation ? 0 : run_speed(r, only);
    const int code = report_write(r);
    if (code || cli_caught_signal()) return code;
    printf("The report is in %s/%s.md and %s/%s.html.\n", r->folder, report_name(r), r->folder, report_name(r));
    if (w->failed)
        return cli_error("%d of %d cells failed and are missing in the report; run the same command to retry",
                         w->failed, w->count);
    return speed_code;
}

static int run_work(work *w, const cli_options *options)
{
    const reproduction *r = w->r;
    const cli_pool pool = {.user = w,
                           .max_jobs = options->compute.jobs ? (int)options->compute.jobs : 1,
                           .next = next_cell,
                           .run = run_cell,
                           .ended = finish,
                           .draw = draw};
    fprintf(stderr, "cells to run: %d, already complete: %d, in %s\n", w->count, w->done_before, r->folder);
    int code = cli_pool_run(&pool);
    if (!code && cli_caught_signal()) {
        clear_line(w);
        cli_error("stopped; completed cells are in %s; run the same command again to resume", r->folder);
        code = 128 + cli_caught_signal();
    }
    if (options->reproduce.cells) {
        if (!code && w->failed)
            code = cli_error("%d of %d cells failed; run the same command to retry", w->failed, w->count);
        if (!code)
            printf("Cells %s are complete; run the same command without --cells to write the report.\n",
                   options->reproduce.cells);
        return code;
    }
    if (code && !cli_caught_signal()) return code;
    const int result = write_results(w, options->reproduce.only);
    return code ? code : result;
}

static int reproduce(const cli_options *options)
{
    static const char *const inner[] = {"cells", "models", "speed"};
    reproduction r = {.options = options,
                      .data = options->data ? options->data : getenv("ENHOPE_DATA"),
                      .quick = options->reproduce.quick,
                      .ablation = options->reproduce.ablation,
                      .seeds = options->reproduce.seeds      ? (int)options->reproduce.seeds
                               : options->reproduce.quick    ? 1
                               : options->reproduce.ablation ? 5
                                                             : 3};
    r.folder = options->output ? options->output : r.quick ? "reproduction-quick" : "reproduction";
    if (!r.data || !*r.data)
        return cli_usage_error(options->command, "missing option: --data FOLDER, or set ENHOPE_DATA");
    if (strlen(r.data) > MAX_NAME || strlen(r.folder) > MAX_NAME)
        return cli_usage_error(options->command, "the name of a folder is too long: expected at most %d bytes",
                               MAX_NAME);
    work w = {.r = &r, .terminal = isatty(STDERR_FILENO) != 0, .started = cli_now()};
    cli_catch_signals();
    int code = parse_share(&w, options);
    if (!code) code = check_only(&r, options->reproduce.only);
    if (!code) code = find_data(&r);
    if (!code) code = cli_make_folders(r.folder, inner, 3);
    if (!code) code = find_work(&w, options->reproduce.only);
    if (!code) code = run_work(&w, options);
    free(w.cells);
    return code;
}

/* ---- program ---- */

static const cli_command commands[] = {
    {"reproduce", "--data FOLDER [-o FOLDER] [OPTIONS]", "reproduce the tables and the figure of the paper",
     "Trains every method of the en-HOPE paper on MNIST, USPS, 20 Newsgroups and VGG features, and the recipes on "
     "these and on Fashion-MNIST. Data sets that are missing in the folder (mnist, usps/usps_all.mat, "
     "20news/20news_w100.mat, mnist-vgg512, fashion-mnist) are left out. Compares the time of classification with "
     "exact "
     "kNN and, if installed, with faiss and scikit-learn. Writes report.md and report.html, which compare the results "
     "with those of the paper. With --ablation, trains the recipes and variants of the recipe best with one setting "
     "changed, and writes accuracy.md and accuracy.html.\n"
     "A cell is one row on one data set with one seed. Completed cells are stored in the output folder, and the same "
     "command resumes an interrupted run. A full run takes days on two cores, or a quarter of an hour on a large GPU "
     "(--device cuda --jobs 12). Classification is always timed on the cpu.\n"
     "On several machines, run one command per machine with a share of the cells (--cells) and a shared folder. Then "
     "run the same command without --cells to write the report.",
     "enhope-reproduce --data data --quick\n"
     "enhope-reproduce --data data --only 'mnist/en-hope-*,usps/snc/1'\n"
     "enhope-reproduce --data data --cells 3/20",
     0, 0, false, CLI_ALONE, reproduce},
    {0},
};

#define AT(field) offsetof(cli_options, field)
/* clang-format off */
static const cli_option options[] = {
    {"data", 0, "FOLDER", CLI_TEXT, AT(data), 0, 0, NULL, "the folder of the data sets; default: the value of ENHOPE_DATA"},
    {"output", 'o', "FOLDER", CLI_TEXT, AT(output), 0, 0, NULL,
     "the output folder for cells, models and report; default reproduction"},
    {"quick", 0, NULL, CLI_FLAG, AT(reproduce.quick), 0, 0, NULL,
     "run all tables in minutes, with few samples, seconds per model and one seed; default folder reproduction-quick"},
    {"ablation", 0, NULL, CLI_FLAG, AT(reproduce.ablation), 0, 0, NULL,
     "measure the effect of each setting of the recipe best over five seeds instead of the paper's tables"},
    {"only", 0, "CELLS", CLI_TEXT, AT(reproduce.only), 0, 0, NULL,
     "run only these data sets, rows, or patterns of DATA/ROW/SEED, separated by commas; speed selects the timing"},
    {"cells", 0, "I/N", CLI_TEXT, AT(reproduce.cells), 0, 0, NULL,
     "run only the I-th of N shares of the cells, without timing and report; use it in job arrays"},
    {"seeds", 0, "N", CLI_INTEGER, AT(reproduce.seeds), 1, MAX_SEEDS, NULL, "seeds 1 to N; default 3, with --ablation 5"},
    {"jobs", 0, "N", CLI_INTEGER, AT(compute.jobs), 1, 64, NULL, "number of cells at a time, each in its own process; default 1"},
    {"threads", 0, "N", CLI_INTEGER, AT(compute.threads), 0, 1024, NULL, "number of threads; 0: all cores"},
    {"device", 0, "cpu|cuda|cuda:N|auto", CLI_TEXT, AT(compute.device), 0, 0, NULL,
     "device to train on: cpu (default), cuda (an NVIDIA GPU), cuda:N (the N-th GPU, from 0), auto (cuda if available, else "
     "cpu)"},
    {"precision", 0, "fp32|tf32|bf16", CLI_TEXT, AT(compute.precision), 0, 0, NULL,
     "precision of the inputs of matrix products on a GPU: 24, 16 or 8 bits; default fp32"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), 0, 0, NULL, "print this help"},
    {"version", 'V', NULL, CLI_FLAG, AT(version), 0, 0, NULL, "print the version"},
    {0},
};
/* clang-format on */

const cli_program cli_self = {.name = "enhope-reproduce", .commands = commands, .options = options};
