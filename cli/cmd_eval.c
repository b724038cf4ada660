/* enhope eval: errors by class, confusions, time, calibration and rejection on labeled data. */
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

enum { MATRIX_CLASSES = 20, LISTED_CONFUSIONS = 20 }; /* with more classes, the most frequent confusions are listed */

static int64_t class_total(const enhope_evaluation *e, int32_t c, int32_t k)
{
    int64_t total = 0;
    for (int32_t j = 0; j < c; j++) total += e->confusion[(int64_t)k * c + j];
    return total;
}

static void put_json(const cli_session *session, const enhope_evaluation *e)
{
    const int32_t c = session->model_info.classes;
    double low, high;
    cli_interval(e->errors, e->n, &low, &high);
    cli_json(stdout,
             "{\n  \"n\": %lld,\n  \"errors\": %lld,\n  \"error_percent\": %g,\n  \"interval_percent\": [%.6g, %.6g],\n"
             "  \"unknown\": %lld,\n  \"seconds\": %g,\n  \"microseconds_per_point\": %g,\n  \"references\": %lld,\n"
             "  \"temperature\": %g",
             (long long)e->n, (long long)e->errors, cli_percent(e->errors, e->n), low, high, (long long)e->unknown,
             e->seconds, e->n > 0 ? 1e6 * e->seconds / (double)e->n : 0.0, (long long)session->model_info.references,
             session->model_info.temperature);
    cli_put_json_calibration(e->calibration);
    if (e->rejection) cli_put_json_rejection(e->rejection);
    fputs(",\n  \"classes\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        if (k) fputs(", ", stdout);
        cli_json(stdout, "%s", enhope_model_class_name(session->model, k));
    }
    fputs("],\n  \"per_class\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        const int64_t total = class_total(e, c, k), errors = total - e->confusion[(int64_t)k * c + k];
        fputs(k ? "," : "", stdout);
        cli_json(stdout, "\n    {\"class\": %s, \"n\": %lld, \"errors\": %lld, \"error_percent\": %g}",
                 enhope_model_class_name(session->model, k), (long long)total, (long long)errors,
                 cli_percent(errors, total));
    }
    fputs("\n  ],\n  \"confusion\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        printf("%s\n    [", k ? "," : "");
        for (int32_t j = 0; j < c; j++) printf("%s%lld", j ? ", " : "", (long long)e->confusion[(int64_t)k * c + j]);
        putchar(']');
    }
    fputs("\n  ]\n}\n", stdout);
}

static int name_width(const cli_session *session, int min_width)
{
    int width = min_width;
    for (int32_t k = 0; k < session->model_info.classes; k++) {
        const int wide = cli_text_width(enhope_model_class_name(session->model, k));
        if (wide > width) width = wide;
    }
    return width;
}

static void put_matrix(const cli_session *session, const enhope_evaluation *e)
{
    const int32_t c = session->model_info.classes;
    const int names = name_width(session, 1);
    char largest[32];
    int cell = snprintf(largest, sizeof largest, "%lld", (long long)e->n);
    cell = (cell > names ? cell : names) + 1;
    printf("\nconfusion matrix: rows are true classes, columns are predicted classes\n%*s", names, "");
    for (int32_t j = 0; j < c; j++) cli_put_text(stdout, enhope_model_class_name(session->model, j), cell);
    putchar('\n');
    for (int32_t k = 0; k < c; k++) {
        cli_put_text(stdout, enhope_model_class_name(session->model, k), -names);
        for (int32_t j = 0; j < c; j++) printf("%*lld", cell, (long long)e->confusion[(int64_t)k * c + j]);
        putchar('\n');
    }
}

/* The most frequent confusions. Ties are in the order of the classes. */
static void put_frequent_confusions(const cli_session *session, const enhope_evaluation *e)
{
    const int32_t c = session->model_info.classes;
    const int names = name_width(session, 4);
    printf("\nmost frequent confusions\n");
    cli_put_text(stdout, "true", -names);
    fputs("  ", stdout);
    cli_put_text(stdout, "predicted", -(names > 9 ? names : 9));
    fputs("       n\n", stdout);
    int64_t last = INT64_MAX, last_at = -1;
    for (int i = 0; i < LISTED_CONFUSIONS; i++) {
        int64_t max_count = 0, at = -1;
        for (int64_t cell = 0; cell < (int64_t)c * c; cell++) {
            const int64_t count = e->confusion[cell];
            const bool listed = count > last || (count == last && cell <= last_at);
            if (cell / c != cell % c && !listed && count > max_count) {
                max_count = count;
                at = cell;
            }
        }
        if (at < 0) break;
        cli_put_text(stdout, enhope_model_class_name(session->model, (int32_t)(at / c)), -names);
        fputs("  ", stdout);
        cli_put_text(stdout, enhope_model_class_name(session->model, (int32_t)(at % c)), -(names > 9 ? names : 9));
        printf("%8lld\n", (long long)max_count);
        last = max_count;
        last_at = at;
    }
}

static void put_report(const cli_session *session, const enhope_evaluation *e, bool reliability)
{
    const int32_t c = session->model_info.classes;
    const int names = name_width(session, 5);
    double low, high;
    cli_interval(e->errors, e->n, &low, &high);
    printf("error: %.2f %% (%lld of %lld points; 95 %% interval %.2f to %.2f %%)\n", cli_percent(e->errors, e->n),
           (long long)e->errors, (long long)e->n, low, high);
    printf("against: %lld %s\n", (long long)session->model_info.references,
           session->model_info.references_are_exemplars ? "exemplars" : "points");
    printf("probabilities: negative log-likelihood %.4f, calibration error %.2f %%, temperature %.4g\n",
           e->calibration->nll, 100 * e->calibration->ece, session->model_info.temperature);
    printf("time: %.3f s, %.1f microseconds per point\n", e->seconds, e->n > 0 ? 1e6 * e->seconds / (double)e->n : 0.0);
    if (e->unknown)
        printf("unknown: %lld point%s of classes that the model does not know, counted as errors\n",
               (long long)e->unknown, e->unknown == 1 ? "" : "s");
    putchar('\n');
    cli_put_text(stdout, "class", -names);
    fputs("        n    errors   error %\n", stdout);
    for (int32_t k = 0; k < c; k++) {
        const int64_t total = class_total(e, c, k), errors = total - e->confusion[(int64_t)k * c + k];
        cli_put_text(stdout, enhope_model_class_name(session->model, k), -names);
        printf(" %8lld  %8lld  %8.2f\n", (long long)total, (long long)errors, cli_percent(errors, total));
    }
    if (c <= MATRIX_CLASSES)
        put_matrix(session, e);
    else
        put_frequent_confusions(session, e);
    if (reliability) cli_put_reliability(e->calibration);
    if (e->rejection) cli_put_rejection(e->rejection);
}

enum { COVERAGES = 7 };

/* Fills the rows of --reject, if given. */
static int plan_rejection(const cli_options *options, enhope_coverage *row, enhope_rejection *rejection)
{
    static const double usual[COVERAGES] = {1, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5};
    if (!options->answer.reject && options->answer.keep > 0)
        return cli_usage_error(options->command, "--keep needs --reject KIND");
    if (!options->answer.reject) return 0;
    rejection->row = row;
    rejection->rows = options->answer.keep > 0 ? 1 : COVERAGES;
    for (int i = 0; i < rejection->rows; i++) row[i].share = options->answer.keep > 0 ? options->answer.keep : usual[i];
    return cli_confidence_parse(options, options->answer.reject, strlen(options->answer.reject), &rejection->by);
}

int cmd_eval(const cli_options *options)
{
    cli_session session;
    enhope_calibration calibration;
    enhope_coverage row[COVERAGES] = {0};
    enhope_rejection rejection = {0};
    enhope_evaluation e = {.calibration = &calibration, .rejection = options->answer.reject ? &rejection : NULL};
    int code = cli_session_open(&session, options);
    if (!code) code = plan_rejection(options, row, &rejection);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_session_set_references(&session, options);
    if (!code) {
        e.confusion =
            cli_alloc("confusions", session.model_info.classes, session.model_info.classes, sizeof *e.confusion);
        if (!e.confusion) code = CLI_FAILED;
    }
    if (!code) {
        const enhope_status status =
            enhope_model_evaluate(session.ctx, session.model, session.data, (int32_t)options->n_neighbors, &e);
        if (status) code = cli_fail(session.ctx, status);
    }
    if (!code && options->json) put_json(&session, &e);
    if (!code && !options->json) put_report(&session, &e, options->answer.reliability);
    free(e.confusion);
    cli_session_close(&session);
    return code;
}
