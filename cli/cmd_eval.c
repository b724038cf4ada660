/* enhope eval: errors and metrics by class, confusions, time, calibration and rejection on labeled
 * data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"

enum {
    MATRIX_CLASSES = 20, /* with more classes, the most frequent confusions are listed */
    LISTED_CONFUSIONS = 20,
    TABLE_CLASSES = 40, /* with more classes, those of lowest F1 are listed */
    LISTED_CLASSES = 20,
    COUNTED_CLASSES = 2000 /* with more classes there is no confusion matrix: it would take 32 MB or more, twice */
};

static void put_json_metrics(const enhope_evaluation *e)
{
    const enhope_metrics *m = e->metrics;
    cli_json(stdout,
             ",\n  \"balanced_accuracy_percent\": %g,\n  \"precision\": %g,\n  \"recall\": %g,\n  \"f1\": %g,\n"
             "  \"roc_auc\": %g,\n  \"log_loss\": %g",
             100 * m->balanced_accuracy, m->precision, m->recall, m->f1, m->auc, e->calibration->nll);
}

static void put_json_costs(const cli_session *session, const float *cost)
{
    fputs(",\n  \"costs\": {", stdout);
    for (int32_t k = 0; k < session->model_info.classes; k++) {
        fputs(k ? ", " : "", stdout);
        cli_json(stdout, "%s: %.6g", enhope_model_class_name(session->model, k), (double)cost[k]);
    }
    putchar('}');
}

static void put_json_overlap(const enhope_overlap *o)
{
    cli_json(stdout,
             ",\n  \"training_rows\": {\"sampled\": %lld, \"found\": %lld, \"share_percent\": %g, "
             "\"expected_percent\": %g, \"warning\": %i}",
             (long long)o->sampled, (long long)o->found, 100 * o->share, 100 * o->expected, o->trained);
}

/* The recall is the fraction of samples without errors. */
static int64_t errors_of(const enhope_class_metrics *row)
{
    return row->n - llround(row->recall * (double)row->n);
}

static void put_json_classes(const cli_session *session, const enhope_evaluation *e)
{
    const int32_t c = session->model_info.classes;
    fputs(",\n  \"classes\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        if (k) fputs(", ", stdout);
        cli_json(stdout, "%s", enhope_model_class_name(session->model, k));
    }
    fputs("],\n  \"per_class\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        const enhope_class_metrics *at = &e->metrics->row[k];
        const int64_t errors = errors_of(at);
        fputs(k ? "," : "", stdout);
        cli_json(stdout,
                 "\n    {\"class\": %s, \"n\": %lld, \"errors\": %lld, \"error_percent\": %g, \"precision\": %g, "
                 "\"recall\": %g, \"f1\": %g, \"roc_auc\": %g}",
                 enhope_model_class_name(session->model, k), (long long)at->n, (long long)errors,
                 cli_percent(errors, at->n), at->precision, at->recall, at->f1, at->auc);
    }
    if (!e->confusion) {
        fputs("\n  ],\n  \"confusion\": null", stdout);
        return;
    }
    fputs("\n  ],\n  \"confusion\": [", stdout);
    for (int32_t k = 0; k < c; k++) {
        printf("%s\n    [", k ? "," : "");
        for (int32_t j = 0; j < c; j++) printf("%s%lld", j ? ", " : "", (long long)e->confusion[(int64_t)k * c + j]);
        putchar(']');
    }
    fputs("\n  ]", stdout);
}

/* The times of --latency; none without the option. */
typedef struct latencies {
    cli_latency row[CLI_LATENCIES];
    int count;
} latencies;

/* What options and a comparison with the training rows add to an evaluation. */
typedef struct extras {
    enhope_overlap overlap;
    latencies times;
    enhope_map_measures map;
} extras;

static void put_json(const cli_session *session, const cli_options *options, const enhope_evaluation *e,
                     const extras *x)
{
    double low, high;
    cli_interval(e->errors, e->n, &low, &high);
    cli_json(stdout,
             "{\n  \"n\": %lld,\n  \"errors\": %lld,\n  \"error_percent\": %g,\n  \"interval_percent\": [%.6g, %.6g],\n"
             "  \"unknown\": %lld,\n  \"seconds\": %g,\n  \"microseconds_per_point\": %g,\n  \"references\": %lld,\n"
             "  \"temperature\": %g",
             (long long)e->n, (long long)e->errors, cli_percent(e->errors, e->n), low, high, (long long)e->unknown,
             e->seconds, e->n > 0 ? 1e6 * e->seconds / (double)e->n : 0.0, (long long)session->model_info.references,
             session->model_info.temperature);
    put_json_metrics(e);
    if (e->metrics->cost) put_json_costs(session, e->metrics->cost);
    cli_put_json_calibration(e->calibration);
    if (e->rejection) cli_put_json_rejection(e->rejection);
    put_json_overlap(&x->overlap);
    if (x->times.count) cli_put_json_latency(x->times.row, x->times.count);
    if (options->answer.map) {
        puts(",");
        cli_put_json_map(options, &x->map);
    }
    put_json_classes(session, e);
    puts("\n}");
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
    if (!e->confusion) {
        printf("\nconfusions of more than %d classes are not counted; compare the labels of enhope predict\n",
               COUNTED_CLASSES);
        return;
    }
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

/* Warns if rows of the data have trained the model. */
static void warn_of_overlap(const cli_session *session, const enhope_overlap *o)
{
    enhope_training_data data;
    if (!o->trained || !enhope_model_training_data(session->model, &data)) return;
    fprintf(stderr,
            "warning: about %.0f %% of these rows were used in training (%lld of %lld rows that were compared), so the "
            "error is too low. Evaluate rows that training has not used",
            100 * o->share, (long long)o->found, (long long)o->sampled);
    if (data.split) {
        fputs("; the model was trained with --split ", stderr);
        cli_put_text(stderr, data.split, 0);
    }
    fputs(".\n", stderr);
}

/* ---- the report ---- */

static void put_fraction(double value)
{
    if (isnan(value))
        fputs("       -", stdout);
    else
        printf("  %6.4f", value);
}

static void put_class(const cli_session *session, const enhope_evaluation *e, int32_t k, int names)
{
    const enhope_class_metrics *at = &e->metrics->row[k];
    const int64_t errors = errors_of(at);
    cli_put_text(stdout, enhope_model_class_name(session->model, k), -names);
    printf(" %8lld  %8lld  %8.2f   ", (long long)at->n, (long long)errors, cli_percent(errors, at->n));
    put_fraction(at->precision);
    put_fraction(at->recall);
    put_fraction(at->f1);
    put_fraction(at->auc);
    putchar('\n');
}

/* The class of lowest F1 after class `last`; equal ones are in the order of the classes. last -1:
 * the lowest of all. */
static int32_t next_worst(const enhope_class_metrics *row, int32_t c, int32_t last)
{
    int32_t worst = -1;
    for (int32_t k = 0; k < c; k++) {
        const bool listed = last >= 0 && (row[k].f1 < row[last].f1 || (row[k].f1 == row[last].f1 && k <= last));
        if (!listed && row[k].n > 0 && (worst < 0 || row[k].f1 < row[worst].f1)) worst = k;
    }
    return worst;
}

static void put_classes(const cli_session *session, const enhope_evaluation *e)
{
    const int32_t c = session->model_info.classes;
    const int names = name_width(session, 5);
    putchar('\n');
    if (c > TABLE_CLASSES) printf("the %d classes of lowest F1; --json has all %d\n", LISTED_CLASSES, (int)c);
    cli_put_text(stdout, "class", -names);
    fputs("        n    errors   error %  precision  recall      F1     AUC\n", stdout);
    for (int32_t k = 0; c <= TABLE_CLASSES && k < c; k++) put_class(session, e, k, names);
    for (int32_t i = 0, k = -1; c > TABLE_CLASSES && i < LISTED_CLASSES; i++) {
        k = next_worst(e->metrics->row, c, k);
        if (k < 0) break;
        put_class(session, e, k, names);
    }
}

static void put_metrics(const cli_session *session, const enhope_metrics *m)
{
    const bool two = session->model_info.classes == 2;
    printf("balanced accuracy: %.2f %%\n", 100 * m->balanced_accuracy);
    printf("means of classes: precision %.4f, recall %.4f, F1 %.4f\n", m->precision, m->recall, m->f1);
    if (isnan(m->auc)) return;
    printf("ROC-AUC: %.4f (", m->auc);
    if (two) cli_put_text(stdout, enhope_model_class_name(session->model, 1), 0);
    fputs(two ? " against the other class)\n" : "mean of each class against the others)\n", stdout);
}

static void put_costs(const cli_session *session, const float *cost)
{
    const char *between = "";
    fputs("costs: ", stdout);
    for (int32_t k = 0; k < session->model_info.classes; k++) {
        if (cost[k] == 1) continue;
        fputs(between, stdout);
        cli_put_text(stdout, enhope_model_class_name(session->model, k), 0);
        printf(" %.6g", (double)cost[k]);
        between = ", ";
    }
    puts(*between ? "; 1 for other classes" : "1 for all classes");
}

static void put_report(const cli_session *session, const enhope_evaluation *e, bool reliability)
{
    double low, high;
    cli_interval(e->errors, e->n, &low, &high);
    printf("error: %.2f %% (%lld of %lld points; 95 %% interval %.2f to %.2f %%)\n", cli_percent(e->errors, e->n),
           (long long)e->errors, (long long)e->n, low, high);
    put_metrics(session, e->metrics);
    printf("against: %lld %s\n", (long long)session->model_info.references,
           session->model_info.references_are_exemplars ? "exemplars" : "points");
    if (e->metrics->cost) put_costs(session, e->metrics->cost);
    printf("probabilities: log loss %.4f, calibration error %.2f %%, temperature %.4g\n", e->calibration->nll,
           100 * e->calibration->ece, session->model_info.temperature);
    printf("time: %.3f s, %.1f microseconds per point\n", e->seconds, e->n > 0 ? 1e6 * e->seconds / (double)e->n : 0.0);
    if (e->unknown)
        printf("unknown: %lld point%s of classes that the model does not know, counted as errors\n",
               (long long)e->unknown, e->unknown == 1 ? "" : "s");
    put_classes(session, e);
    if (session->model_info.classes <= MATRIX_CLASSES)
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

/* Allocates the arrays of the evaluation and parses --cost. */
static int prepare(const cli_session *session, const cli_options *options, enhope_evaluation *e, float **cost)
{
    const int32_t c = session->model_info.classes;
    if (c <= COUNTED_CLASSES) e->confusion = cli_alloc("confusions", c, c, sizeof *e->confusion);
    e->metrics->row = cli_alloc("metrics", c, 1, sizeof *e->metrics->row);
    if ((c <= COUNTED_CLASSES && !e->confusion) || !e->metrics->row) return CLI_FAILED;
    const int code = cli_costs_parse(session, options, cost);
    e->metrics->cost = *cost;
    return code;
}

/* Estimates how many rows have trained the model, and warns. */
static int compare_rows(const cli_session *session, enhope_overlap *overlap)
{
    if (cli_rank()) return 0; /* rank 0 prints */
    const enhope_status status = enhope_model_overlap(session->ctx, session->model, session->data, overlap);
    if (status) return cli_fail(session->ctx, status);
    warn_of_overlap(session, overlap);
    return 0;
}

/* Whether there is something to classify. Otherwise --map alone is measured. */
static bool classifies(const cli_session *session, const cli_options *options)
{
    return !options->answer.map || (session->model_info.classes > 0 && session->data_info.classes > 0);
}

/* Only --map: the model has no classes, or the data no labels. */
static int eval_map(const cli_session *session, const cli_options *options)
{
    enhope_map_measures map;
    if (cli_rank()) return 0; /* rank 0 prints */
    const int code = cli_map_measure(session, options, &map);
    if (code) return code;
    if (!options->json) return cli_put_map(session, options, &map), 0;
    puts("{");
    cli_put_json_map(options, &map);
    puts("\n}");
    return 0;
}

/* What the options add to an evaluation. */
static int measure(const cli_session *session, const cli_options *options, extras *x)
{
    int code = compare_rows(session, &x->overlap);
    if (cli_rank()) return code;
    if (!code && options->answer.latency) code = cli_latency_measure(session, options, x->times.row, &x->times.count);
    if (!code && options->answer.map) code = cli_map_measure(session, options, &x->map);
    return code;
}

static void put_all(const cli_session *session, const cli_options *options, const enhope_evaluation *e, const extras *x)
{
    if (options->json) {
        put_json(session, options, e, x);
        return;
    }
    put_report(session, e, options->answer.reliability);
    if (x->times.count) cli_put_latency(x->times.row, x->times.count);
    if (!options->answer.map || cli_rank()) return;
    putchar('\n');
    cli_put_map(session, options, &x->map);
}

static int eval_labels(cli_session *session, const cli_options *options, enhope_rejection *rejection)
{
    enhope_calibration calibration;
    enhope_metrics metrics = {0};
    float *cost = NULL;
    extras x = {.times.count = 0};
    enhope_evaluation e = {
        .calibration = &calibration, .rejection = options->answer.reject ? rejection : NULL, .metrics = &metrics};
    int code = prepare(session, options, &e, &cost);
    if (!code) code = cli_session_set_references(session, options);
    if (!code) {
        const enhope_status status =
            enhope_model_evaluate(session->ctx, session->model, session->data, (int32_t)options->n_neighbors, &e);
        if (status) code = cli_fail(session->ctx, status);
    }
    if (!code) code = measure(session, options, &x);
    if (!code) put_all(session, options, &e, &x);
    free(e.confusion);
    free(metrics.row);
    free(cost);
    return code;
}

int cmd_eval(const cli_options *options)
{
    cli_session session;
    enhope_coverage row[COVERAGES] = {0};
    enhope_rejection rejection = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = plan_rejection(options, row, &rejection);
    if (!code) code = cli_map_check(options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code)
        code = classifies(&session, options) ? eval_labels(&session, options, &rejection) : eval_map(&session, options);
    cli_session_close(&session);
    return code;
}
