/* The time of predictions by the number of rows in a call: enhope eval --latency. */
#include <stdlib.h>

#include "core/pool.h"
#include "measure/measure.h"

enum { MAX_CALLS = 10000, MIN_CALLS = 5 };
static const double ENOUGH = 0.25; /* seconds for each number of rows */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows first .. first + n of the session's data. */
static enhope_rows rows_from(const cli_session *session, const enhope_values *v, int64_t first, int64_t n)
{
    const enhope_dataset_info *info = &session->data_info;
    enhope_rows rows = {.n = n, .kind = info->kind, .column = v->column};
    if (info->kind == ENHOPE_U8) rows.values = v->u8 + first * info->inputs;
    if (info->kind == ENHOPE_F32) rows.values = v->f32 + first * info->inputs;
    if (info->kind == ENHOPE_CSR) rows.values = v->value, rows.row_start = v->row_start + first;
    return rows;
}

/* Calls with rows of all parts of the data in turn, for `enough` seconds. The first call is not
 * counted. */
static enhope_status measure(const cli_session *session, const enhope_predictor *p, double enough, int32_t *label,
                             double *seconds, cli_latency *out)
{
    const int64_t places = session->data_info.n / out->rows;
    double spent = 0;
    enhope_values v;
    enhope_dataset_get_values(session->data, &v);
    for (int64_t i = -1; i < MIN_CALLS || (i < MAX_CALLS && spent < enough); i++) {
        const enhope_rows rows = rows_from(session, &v, (i + 1) % places * out->rows, out->rows);
        const double start = cli_now();
        const enhope_status status = enhope_predictor_label(p, &rows, label);
        if (status) return status;
        if (i < 0) continue;
        spent += seconds[i] = cli_now() - start;
        out->calls = i + 1;
    }
    qsort(seconds, (size_t)out->calls, sizeof *seconds, ascending);
    out->p50 = seconds[out->calls / 2];
    out->p99 = seconds[out->calls * 99 / 100];
    out->rows_per_second = (double)(out->rows * out->calls) / spent;
    return ENHOPE_OK;
}

int cli_latency_measure(const cli_session *session, const cli_options *options, cli_latency *out, int *count)
{
    static const int64_t rows[CLI_LATENCIES - 1] = {1, 10, 100, 1000};
    const int64_t n = session->data_info.n;
    enhope_predictor *p = NULL;
    int code = cli_session_in_memory(session, options);
    if (code) return code;
    double *seconds = cli_alloc("times", MAX_CALLS, 1, sizeof *seconds);
    int32_t *label = cli_alloc("labels", n, 1, sizeof *label);
    if (!seconds || !label) code = CLI_FAILED;
    enhope_status status = ENHOPE_OK;
    if (!code)
        status = enhope_predictor_create(session->ctx, session->model,
                                         &(enhope_predictor_options){.k = (int32_t)options->n_neighbors}, &p);
    if (status) code = cli_fail(session->ctx, status);
    *count = 0;
    for (int i = 0; i < CLI_LATENCIES && !code; i++) {
        const bool all = i == CLI_LATENCIES - 1;
        if (!all && rows[i] >= n) continue;
        out[*count] = (cli_latency){.rows = all ? n : rows[i]};
        status = measure(session, p, ENOUGH, label, seconds, &out[(*count)++]);
        if (status) code = cli_error("prediction failed: %s", enhope_status_text(status));
    }
    enhope_predictor_free(p);
    free(seconds);
    free(label);
    return code;
}

int cli_latency_one(const cli_session *session, double *seconds)
{
    static const double LESS = 0.1;
    cli_session s = *session;
    cli_latency one = {.rows = 1};
    enhope_predictor *p = NULL;
    int32_t label;
    double *times = cli_alloc("times", MAX_CALLS, 1, sizeof *times);
    if (!times) return CLI_FAILED;
    enhope_dataset_get_info(s.data, &s.data_info);
    enhope_status status = enhope_predictor_create(s.ctx, s.model, NULL, &p);
    if (!status) status = measure(&s, p, LESS, &label, times, &one);
    *seconds = one.p50;
    enhope_predictor_free(p);
    free(times);
    return status ? cli_fail(s.ctx, status) : 0;
}

static void put_time(double seconds)
{
    if (seconds < 1e-3)
        printf("  %8.2f us", 1e6 * seconds);
    else if (seconds < 1)
        printf("  %8.2f ms", 1e3 * seconds);
    else
        printf("  %8.2f s ", seconds);
}

void cli_put_latency(const cli_latency *row, int count)
{
    puts("\ntime of a call, by the number of its rows\n      rows          p50          p99        rows/s     calls");
    for (int i = 0; i < count; i++) {
        printf("%10lld", (long long)row[i].rows);
        put_time(row[i].p50);
        put_time(row[i].p99);
        printf("  %12.0f  %8lld\n", row[i].rows_per_second, (long long)row[i].calls);
    }
}

void cli_put_json_latency(const cli_latency *row, int count)
{
    fputs(",\n  \"latency\": [", stdout);
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", stdout);
        cli_json(stdout,
                 "\n    {\"rows\": %lld, \"p50_microseconds\": %g, \"p99_microseconds\": %g, "
                 "\"rows_per_second\": %g, \"calls\": %lld}",
                 (long long)row[i].rows, 1e6 * row[i].p50, 1e6 * row[i].p99, row[i].rows_per_second,
                 (long long)row[i].calls);
    }
    fputs("\n  ]", stdout);
}
