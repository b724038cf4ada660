/* Writes the report from the completed cells, and the tables that both reports use. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reproduce.h"

/* ---- means over seeds ---- */

spread spread_of(const double *values, int count)
{
    spread s = {.mean = NAN, .deviation = NAN, .count = count};
    double sum = 0, square = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    if (count) s.mean = sum / count;
    for (int i = 0; i < count; i++) square += (values[i] - s.mean) * (values[i] - s.mean);
    if (count > 1) s.deviation = sqrt(square / (count - 1));
    return s;
}

static double measured(const cell_result *c, measure m)
{
    switch (m) {
    case TEST: return c->test;
    case KMEANS_ERROR: return c->kmeans;
    case VALIDATION: return c->valid;
    case SECONDS: return c->seconds;
    case BYTES: return c->bytes;
    default: return (double)c->best;
    }
}

double cell_measure(const reproduction *r, cell at, measure m)
{
    cell_result c;
    return plan_row_get(at.row)->on[at.set] && cell_read(r, at, &c) ? measured(&c, m) : NAN;
}

spread report_spread(const reproduction *r, int row, int set, measure m)
{
    double values[MAX_SEEDS];
    int count = 0;
    for (int seed = 1; seed <= r->seeds; seed++) {
        const double value = cell_measure(r, (cell){row, set, seed}, m);
        if (isfinite(value)) values[count++] = value;
    }
    return spread_of(values, count);
}

/* ---- tables of errors ---- */

static void put_paper(document *d, double paper)
{
    char text[32];
    snprintf(text, sizeof text, paper > 0 ? "%.2f" : "-", paper);
    document_cell(d, text);
}

void report_put_error(document *d, spread s, double paper)
{
    char text[64] = "-", more[24] = "";
    if (s.count && paper > 0 && s.mean > paper) snprintf(more, sizeof more, " (+%.0f %%)", 100 * (s.mean / paper - 1));
    if (s.count > 1)
        snprintf(text, sizeof text, "%.2f ± %.2f%s", s.mean, s.deviation, more);
    else if (s.count)
        snprintf(text, sizeof text, "%.2f%s", s.mean, more);
    document_cell(d, text);
}

static void put_set_headings(document *d, const bool *sets)
{
    char text[64];
    document_open_table(d);
    document_cell(d, "method");
    for (int set = 0; set < SETS; set++) {
        if (!sets[set]) continue;
        snprintf(text, sizeof text, "%s, paper", plan_sets[set].name);
        document_cell(d, text);
        document_cell(d, "enhope");
    }
    document_end_row(d);
}

static bool measured_somewhere(const reproduction *r, int row, const bool *sets, bool kmeans)
{
    for (int set = 0; set < SETS; set++)
        if (sets[set] && report_spread(r, row, set, kmeans ? KMEANS_ERROR : TEST).count) return true;
    return false;
}

void report_put_errors(const reproduction *r, document *d, const char *names, const bool *sets)
{
    char words[TEXT_SIZE], text[128];
    snprintf(words, sizeof words, "%s", names);
    put_set_headings(d, sets);
    for (char *rest = words, *word; (word = strtok_r(rest, " ", &rest));) {
        char *kmeans = strstr(word, "+kmeans");
        if (kmeans) *kmeans = 0;
        const int row = plan_row_number(word);
        const plan_row *p = plan_row_get(row);
        if (!measured_somewhere(r, row, sets, kmeans)) continue;
        snprintf(text, sizeof text, "%s%s", kmeans ? "s-kmeans + " : "", p->name);
        document_cell(d, text);
        for (int set = 0; set < SETS; set++) {
            if (!sets[set]) continue;
            const double paper = kmeans ? p->kmeans[set] : p->paper[set];
            put_paper(d, paper);
            report_put_error(d, report_spread(r, row, set, kmeans ? KMEANS_ERROR : TEST), paper);
        }
        document_end_row(d);
    }
    document_close_table(d);
}

/* ---- costs and settings ---- */

void report_put_costs(const reproduction *r, document *d)
{
    char text[TEXT_SIZE], bytes[32];
    document_headings(d, "data", "method", "validation error", "test error", "best epoch", "seconds", "peak memory",
                      "settings", NULL);
    for (int set = 0; set < SETS; set++)
        for (int row = 0; row < plan_rows(); row++) {
            const spread test = report_spread(r, row, set, TEST);
            if (!test.count || !reproduction_has(r, row, set)) continue;
            document_cell(d, plan_sets[set].name);
            document_cell(d, plan_row_get(row)->name);
            report_put_error(d, report_spread(r, row, set, VALIDATION), 0);
            report_put_error(d, test, 0);
            const spread best = report_spread(r, row, set, BEST_EPOCH), seconds = report_spread(r, row, set, SECONDS);
            snprintf(text, sizeof text, "%.0f", best.mean);
            document_cell(d, text);
            snprintf(text, sizeof text, "%.1f", seconds.mean);
            document_cell(d, text);
            cli_bytes_text(report_spread(r, row, set, BYTES).mean, bytes, sizeof bytes);
            document_cell(d, bytes);
            snprintf(text, sizeof text, "%s %s", plan_row_get(row)->settings, plan_row_get(row)->on[set]);
            document_cell(d, text);
            document_end_row(d);
        }
    document_close_table(d);
}

/* ---- report ---- */

/* Every device that cells were trained on. */
void report_put_devices(const reproduction *r, document *d)
{
    char seen[TEXT_SIZE] = "";
    int cells = 0;
    for (int row = 0; row < plan_rows(); row++)
        for (int set = 0; set < SETS; set++)
            for (int seed = 1; seed <= r->seeds && reproduction_has(r, row, set); seed++) {
                cell_result c;
                if (!cell_read(r, (cell){row, set, seed}, &c)) continue;
                cells++;
                const size_t length = strlen(seen);
                if (!strstr(seen, c.device))
                    snprintf(seen + length, sizeof seen - length, "%s%s", length ? "; " : "", c.device);
            }
    if (!cells) document_paragraph(d, "No model has been trained yet.");
    if (cells)
        document_paragraph(d, "Models: %d. Trained on: %s. Peak memory is that of the process on the host.", cells,
                           seen);
}

void report_put_command(const reproduction *r, document *d)
{
    char date[32], line[TEXT_SIZE];
    const time_t t = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&t));
    snprintf(line, sizeof line, "enhope-reproduce%s --data DATA --seeds %d%s%s%s", r->ablation ? " --ablation" : "",
             r->seeds, r->quick ? " --quick" : "", r->options->reproduce.only ? " --only " : "",
             r->options->reproduce.only ? r->options->reproduce.only : "");
    document_code(d, line);
    document_paragraph(d, "enhope %s, %s.", enhope_version(), date);
    if (r->quick)
        document_paragraph(d,
                           "This is the quick run with few samples and seconds per model. It shows the layout of the "
                           "report, and its numbers have no meaning.");
}

const char *report_name(const reproduction *r)
{
    return r->ablation ? "accuracy" : "report";
}

int report_write(const reproduction *r)
{
    char paths[2][PATH_SIZE];
    cli_output output[2] = {{0}, {0}};
    snprintf(paths[0], sizeof paths[0], "%s/%s.md", r->folder, report_name(r));
    snprintf(paths[1], sizeof paths[1], "%s/%s.html", r->folder, report_name(r));
    int code = 0;
    for (int i = 0; i < 2 && !code; i++) code = cli_output_open(&output[i], paths[i]);
    document d = {.md = output[0].file, .html = output[1].file};
    if (!code) code = (r->ablation ? report_put_ablation : report_put_paper)(r, &d);
    if (!code) fputs("</html>\n", d.html);
    for (int i = 0; i < 2 && !code; i++) code = cli_output_close(&output[i]);
    for (int i = 0; i < 2; i++) cli_output_abandon(&output[i]);
    return code;
}
