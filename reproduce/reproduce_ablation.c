/* The report on the effect of each setting of the recipe best. */
#include <math.h>
#include <stdio.h>

#include "reproduce.h"

static const char base[] = "half"; /* the row that the others are compared with */

/* "+0.21 ± 0.04": mean over seeds of the difference to the base, and its standard error. */
static void put_difference(const reproduction *r, document *d, int row, int set, measure m)
{
    double values[MAX_SEEDS];
    int count = 0;
    for (int seed = 1; seed <= r->seeds; seed++) {
        const double value =
            cell_measure(r, (cell){row, set, seed}, m) - cell_measure(r, (cell){plan_row_number(base), set, seed}, m);
        if (isfinite(value)) values[count++] = value;
    }
    const spread s = spread_of(values, count);
    char text[48] = "-";
    if (s.count > 1)
        snprintf(text, sizeof text, "%+.2f ± %.2f", s.mean, s.deviation / sqrt(s.count));
    else if (s.count)
        snprintf(text, sizeof text, "%+.2f", s.mean);
    document_cell(d, text);
}

static void put_row(const reproduction *r, document *d, int row, int set)
{
    char text[32];
    document_cell(d, plan_row_get(row)->name);
    report_put_error(d, report_spread(r, row, set, VALIDATION), 0);
    put_difference(r, d, row, set, VALIDATION);
    report_put_error(d, report_spread(r, row, set, TEST), 0);
    put_difference(r, d, row, set, TEST);
    snprintf(text, sizeof text, "%.1f", report_spread(r, row, set, SECONDS).mean);
    document_cell(d, text);
    document_end_row(d);
}

static void put_set(const reproduction *r, document *d, int set)
{
    char title[64];
    snprintf(title, sizeof title, "Ablation on %s", plan_sets[set].name);
    document_heading(d, title);
    document_headings(d, "change", "validation error", "difference", "test error", "difference", "seconds", NULL);
    for (int row = 0; row < plan_rows(); row++)
        if (plan_row_get(row)->part == ABLATION && report_spread(r, row, set, TEST).count) put_row(r, d, row, set);
    document_close_table(d);
}

static void put_introduction(const reproduction *r, document *d)
{
    report_put_command(r, d);
    document_paragraph(d,
                       "Errors are percentages, mean ± standard deviation over seeds 1 to %d. Each seed has its own "
                       "validation part and, if the data has no parts, its own test part.",
                       r->seeds);
    report_put_devices(r, d);
}

int report_put_ablation(const reproduction *r, document *d)
{
    static const bool all[SETS] = {true, true, true, true, true}, mnist[SETS] = {true};
    document_head(d, "Accuracy");
    put_introduction(r, d);
    document_heading(d, "Recipes");
    report_put_errors(r, d, "fast best knn", all);
    report_put_errors(r, d, "best-10-D best-small best-moved", mnist);
    document_heading(d, "Ablation");
    document_paragraph(
        d,
        "The first row of each table is the recipe best with half of its epochs (on 20 Newsgroups with 40 epochs, and "
        "dropout instead of noise and adversarial step). Every other row changes one setting. Differences are to the "
        "first row, paired by seed: mean ± standard error. A difference below two standard errors is not significant.");
    for (int set = 0; set < SETS; set++)
        if (report_spread(r, plan_row_number(base), set, TEST).count) put_set(r, d, set);
    document_heading(d, "Settings and costs");
    report_put_costs(r, d);
    return 0;
}
