/* Counters in the text format of Prometheus, and the access log. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/serve.h"

int64_t serve_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- counters ---- */

static const int codes[METRIC_CODES] = {200, 400, 404, 405, 413, 500, 503};
static const int64_t bounds[METRIC_BUCKETS] = {25000,   50000,    100000,   250000,   500000,    1000000,   2500000,
                                               5000000, 10000000, 25000000, 50000000, 100000000, 250000000, 1000000000};

static void add(_Atomic int64_t *counter, int64_t value)
{
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static int64_t get(const _Atomic int64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count(serve_metrics *m, int code, bool infer, int64_t nanoseconds)
{
    int k = 0;
    while (k < METRIC_CODES && codes[k] != code) k++;
    add(&m->requests[k], 1);
    if (!infer) return;
    for (k = 0; k < METRIC_BUCKETS && nanoseconds > bounds[k];) k++;
    add(&m->latency[k], 1);
    add(&m->nanoseconds, nanoseconds);
}

static void put_head(http_text *out, const char *name, const char *type, const char *help)
{
    text_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_count(http_text *out, const char *name, const char *type, const char *help, int64_t value)
{
    put_head(out, name, type, help);
    text_format(out, "%s %lld\n", name, (long long)value);
}

static void put_time(http_text *out, const char *name, const char *help, double seconds)
{
    put_head(out, name, "gauge", help);
    text_format(out, "%s %.3f\n", name, seconds);
}

static void put_latency(const serve_metrics *m, http_text *out)
{
    static const char name[] = "enhope_request_duration_seconds";
    int64_t sum = 0;
    put_head(out, name, "histogram", "Time of inference requests, from their header to their answer.");
    for (int k = 0; k < METRIC_BUCKETS; k++) {
        sum += get(&m->latency[k]);
        text_format(out, "%s_bucket{le=\"%g\"} %lld\n", name, 1e-9 * (double)bounds[k], (long long)sum);
    }
    sum += get(&m->latency[METRIC_BUCKETS]);
    text_format(out, "%s_bucket{le=\"+Inf\"} %lld\n%s_sum %.9f\n%s_count %lld\n", name, (long long)sum, name,
                1e-9 * (double)get(&m->nanoseconds), name, (long long)sum);
}

void metrics_put(const serve_metrics *m, const live_model *live, int connections, http_text *out)
{
    static const char name[] = "enhope_requests_total";
    put_head(out, name, "counter", "Requests by the code of the answer.");
    for (int k = 0; k < METRIC_CODES; k++)
        text_format(out, "%s{code=\"%d\"} %lld\n", name, codes[k], (long long)get(&m->requests[k]));
    if (get(&m->requests[METRIC_CODES]))
        text_format(out, "%s{code=\"other\"} %lld\n", name, (long long)get(&m->requests[METRIC_CODES]));
    put_latency(m, out);
    put_count(out, "enhope_rows_total", "counter", "Rows that were classified.", get(&m->rows));
    put_count(out, "enhope_lost_answers_total", "counter", "Answers whose connection was lost.", get(&m->lost));
    put_count(out, "enhope_connections", "gauge", "Open connections.", connections);
    put_count(out, "enhope_reloads_total", "counter", "Successful reloads of the model.", get(&m->reloads));
    put_count(out, "enhope_failed_reloads_total", "counter", "Reloads that kept the old model.",
              get(&m->failed_reloads));
    put_time(out, "enhope_model_loaded_timestamp_seconds", "Time at which the model was loaded.", live->loaded);
    put_time(out, "enhope_start_timestamp_seconds", "Time at which the server was started.", m->started);
    put_head(out, "enhope_info", "gauge", "The version of enhope.");
    text_format(out, "enhope_info{version=\"%s\"} 1\n", enhope_version());
}

/* ---- the access log ---- */

int access_log_open(access_log *log, const char *path)
{
    *log = (access_log){.path = path};
    pthread_mutex_init(&log->lock, NULL);
    if (!path) return 0;
    log->file = strcmp(path, "-") ? fopen(path, "a") : stdout;
    return log->file ? 0 : cli_error("%s: cannot write: %s", path, strerror(errno));
}

/* Reports once that the log cannot be written. */
static void check(access_log *log)
{
    if (!ferror(log->file) || log->failed) return;
    log->failed = true;
    cli_error("%s: cannot write: %s; the server continues without --log", log->path, strerror(errno));
}

void access_log_reopen(access_log *log)
{
    if (!log->path || !strcmp(log->path, "-")) return;
    pthread_mutex_lock(&log->lock);
    FILE *again = fopen(log->path, "a");
    if (again) {
        fclose(log->file);
        log->file = again;
        log->failed = false;
    } else {
        cli_error("%s: cannot write: %s", log->path, strerror(errno));
    }
    pthread_mutex_unlock(&log->lock);
}

/* The path as one word: quotes, backslashes, spaces and other characters are escaped. */
static void put_path(FILE *to, const char *path)
{
    for (; *path; path++) {
        const unsigned char letter = (unsigned char)*path;
        if (letter > ' ' && letter < 127 && letter != '"' && letter != '\\')
            putc_unlocked(letter, to);
        else
            fprintf(to, "%%%02X", letter);
    }
}

void access_log_write(access_log *log, const http_exchange *x, int64_t nanoseconds, bool sent)
{
    char date[64];
    struct tm local;
    const time_t now = time(NULL);
    if (!log->path) return;
    localtime_r(&now, &local);
    strftime(date, sizeof date, "%d/%b/%Y:%H:%M:%S %z", &local);
    pthread_mutex_lock(&log->lock);
    fprintf(log->file, "%s - - [%s] \"", x->client, date);
    put_path(log->file, x->method);
    putc_unlocked(' ', log->file);
    put_path(log->file, x->path);
    fprintf(log->file, " %s\" %d %zu %.6f%s\n", x->version, x->code, x->page ? x->page_size : x->answer.used,
            1e-9 * (double)nanoseconds, sent ? "" : " lost");
    check(log);
    pthread_mutex_unlock(&log->lock);
}

void access_log_flush(access_log *log)
{
    if (!log->file) return; /* none, or it could not be opened */
    pthread_mutex_lock(&log->lock);
    fflush(log->file);
    check(log);
    pthread_mutex_unlock(&log->lock);
}

void access_log_close(access_log *log)
{
    access_log_flush(log);
    if (log->file && log->file != stdout) fclose(log->file);
    pthread_mutex_destroy(&log->lock);
}
