/* Output of confidence: intervals of errors, the reliability table, error against coverage; and the
 * costs of errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

double cli_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

void cli_interval(int64_t errors, int64_t n, double *low, double *high)
{
    const double z = 1.959963984540054;
    const double count = n > 0 ? (double)n : 1.0, p = (double)errors / count;
    const double center = p + z * z / (2 * count);
    const double half = z * sqrt(p * (1 - p) / count + z * z / (4 * count * count));
    const double scale = 100.0 / (1 + z * z / count);
    *low = fmax(0.0, (center - half) * scale);
    *high = fmin(100.0, (center + half) * scale);
    if (errors == 0) *low = 0; /* not 1e-17 by rounding */
    if (errors == n) *high = 100;
}

static int error_text(const char *what, int64_t errors, int64_t n, char *buffer, size_t size)
{
    double low, high;
    cli_interval(errors, n, &low, &high);
    return snprintf(buffer, size, "%s %.2f %% of %lld (%.2f to %.2f %%)", what, cli_percent(errors, n), (long long)n,
                    low, high);
}

bool cli_cross_validated(const enhope_model *model, const enhope_model_info *info)
{
    int64_t rows = 0;
    const enhope_history *history = enhope_model_history(model, &rows);
    for (int64_t i = 0; i < rows; i++)
        if (isfinite(history[i].valid_error)) return false;
    return info->valid_n > 0 && rows > 0;
}

bool cli_errors_text(const enhope_model *model, const enhope_model_info *info, char *buffer, size_t size)
{
    const char *valid = cli_cross_validated(model, info) ? "cross-validation" : "validation";
    size_t used = 0;
    buffer[0] = '\0';
    if (info->valid_n) used += (size_t)error_text(valid, info->valid_errors, info->valid_n, buffer, size);
    if (info->valid_n && info->train_n) used += (size_t)snprintf(buffer + used, size - used, ", ");
    if (info->train_n) error_text("training", info->train_errors, info->train_n, buffer + used, size - used);
    return info->valid_n || info->train_n;
}

bool cli_errors_differ(const enhope_model_info *info)
{
    const double clearly = 2;
    double low, high, ignored;
    if (!info->valid_n || !info->train_n) return false;
    cli_interval(info->valid_errors, info->valid_n, &low, &ignored);
    cli_interval(info->train_errors, info->train_n, &ignored, &high);
    return low > high &&
           cli_percent(info->valid_errors, info->valid_n) >= clearly * cli_percent(info->train_errors, info->train_n);
}

void cli_put_json_errors(const char *key, int64_t errors, int64_t n)
{
    double low, high;
    printf(",\n  \"%s\": ", key);
    if (!n) {
        fputs("null", stdout);
        return;
    }
    cli_interval(errors, n, &low, &high);
    cli_json(stdout, "{\"n\": %lld, \"errors\": %lld, \"error_percent\": %g, \"interval_percent\": [%.6g, %.6g]}",
             (long long)n, (long long)errors, cli_percent(errors, n), low, high);
}

void cli_put_json_epoch(const char *key, const enhope_history *row)
{
    printf(",\n  \"%s\": ", key);
    if (!row) {
        fputs("null", stdout);
        return;
    }
    cli_json(stdout, "{\"epoch\": %lld, \"seconds\": %g, \"loss\": %g, \"valid_error\": %g}", (long long)row->epoch,
             row->seconds, row->loss, row->valid_error);
}

/* ---- calibration ---- */

void cli_put_reliability(const enhope_calibration *calibration)
{
    puts("\nreliability: probability of the label, its mean, and the fraction of correct labels\n"
         "probability           n     mean    right");
    for (int i = 0; i < ENHOPE_BINS; i++) {
        const enhope_bin *bin = &calibration->bin[i];
        printf("%.3f-%.3f  %10lld", (double)i / ENHOPE_BINS, (double)(i + 1) / ENHOPE_BINS, (long long)bin->n);
        if (bin->n)
            printf("   %.4f   %.4f\n", bin->confidence, bin->accuracy);
        else
            puts("        -        -");
    }
}

void cli_put_json_calibration(const enhope_calibration *calibration)
{
    cli_json(stdout,
             ",\n  \"negative_log_likelihood\": %g,\n  \"calibration_error_percent\": %g,\n  \"reliability\": [",
             calibration->nll, 100 * calibration->ece);
    for (int i = 0; i < ENHOPE_BINS; i++) {
        const enhope_bin *bin = &calibration->bin[i];
        fputs(i ? "," : "", stdout);
        cli_json(stdout, "\n    {\"from\": %.6g, \"to\": %.6g, \"n\": %lld, \"probability\": %g, \"right\": %g}",
                 (double)i / ENHOPE_BINS, (double)(i + 1) / ENHOPE_BINS, (long long)bin->n,
                 bin->n ? bin->confidence : NAN, bin->n ? bin->accuracy : NAN);
    }
    fputs("\n  ]", stdout);
}

/* ---- rejection ---- */

static const struct {
    const char *name, *bound;
} kinds[] = {
    [ENHOPE_CONFIDENCE_PROBABILITY] = {"probability", "from"},
    [ENHOPE_CONFIDENCE_MARGIN] = {"margin", "from"},
    [ENHOPE_CONFIDENCE_DISTANCE] = {"distance", "up to"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int cli_confidence_parse(const cli_options *options, const char *text, size_t length, enhope_confidence *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i].name) == length && !strncmp(text, kinds[i].name, length)) {
            *out = (enhope_confidence)i;
            return 0;
        }
    return cli_usage_error(options->command, "--reject is '%s': expected probability, margin or distance%s", text,
                           strchr(text, '=') ? " before the =" : "");
}

void cli_put_rejection(const enhope_rejection *rejection)
{
    const char *name = kinds[rejection->by].name;
    printf("\nmost confident points by %s: error against coverage; area under the curve %.4f %%\n"
           "coverage %%         n    errors   error %%   %s %s\n",
           name, 100 * rejection->area, name, kinds[rejection->by].bound);
    for (int i = 0; i < rejection->rows; i++) {
        const enhope_coverage *row = &rejection->row[i];
        printf("%10.4g  %8lld  %8lld  %8.2f   %.9g\n", 100 * row->share, (long long)row->n, (long long)row->errors,
               cli_percent(row->errors, row->n), row->threshold);
    }
}

void cli_put_json_rejection(const enhope_rejection *rejection)
{
    cli_json(stdout, ",\n  \"rejection\": {\"by\": %s, \"area_percent\": %g, \"coverage\": [",
             kinds[rejection->by].name, 100 * rejection->area);
    for (int i = 0; i < rejection->rows; i++) {
        const enhope_coverage *row = &rejection->row[i];
        printf("%s\n    {\"share\": %.9g", i ? "," : "", row->share);
        cli_json(stdout, ", \"n\": %lld, \"errors\": %lld, \"error_percent\": %g, \"threshold\": %g}",
                 (long long)row->n, (long long)row->errors, cli_percent(row->errors, row->n), row->threshold);
    }
    fputs("\n  ]}", stdout);
}

/* ---- costs ---- */

/* The class whose name and '=' begin the text, the longest of several: names may contain ',' and
 * '='. -1: none. */
static int32_t class_at(const cli_session *session, const char *text, size_t *length)
{
    int32_t found = -1;
    *length = 0;
    for (int32_t k = 0; k < session->model_info.classes; k++) {
        const char *name = enhope_model_class_name(session->model, k);
        const size_t wide = strlen(name);
        if (strncmp(text, name, wide) || text[wide] != '=' || (found >= 0 && wide < *length)) continue;
        found = k;
        *length = wide;
    }
    return found;
}

/* The message for a name that is no class. */
static int unknown_class(const cli_session *session, const cli_options *options, const char *text)
{
    enum { LISTED = 20 };
    char names[1024];
    size_t used = 0;
    const int32_t c = session->model_info.classes, listed = c < LISTED ? c : LISTED;
    for (int32_t k = 0; k < listed; k++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%.40s'", k ? ", " : "",
                                 enhope_model_class_name(session->model, k));
    if (c > listed) snprintf(names + used, sizeof names - used, " and %d more", (int)(c - listed));
    return cli_usage_error(options->command,
                           "--cost: '%.60s' does not begin with a class and =; expected NAME=COST,NAME=COST with the "
                           "classes %s",
                           text, names);
}

int cli_costs_parse(const cli_session *session, const cli_options *options, float **out)
{
    const char *at = options->answer.cost;
    if (!at) return 0;
    float *cost = *out = cli_alloc("costs", session->model_info.classes, 1, sizeof *cost);
    if (!cost) return CLI_FAILED;
    for (int32_t k = 0; k < session->model_info.classes; k++) cost[k] = 1;
    for (;; at++) {
        size_t length;
        char *end;
        const int32_t k = class_at(session, at, &length);
        if (k < 0) return unknown_class(session, options, at);
        const char *number = at + length + 1;
        const double value = strtod(number, &end);
        if (end == number || (*end && *end != ',') || !(value >= 0) || !isfinite((float)value))
            return cli_usage_error(options->command, "--cost: the cost of '%.60s' is '%.20s': expected a number from 0",
                                   enhope_model_class_name(session->model, k), number);
        cost[k] = (float)value;
        at = end;
        if (!*at) return 0;
    }
}
