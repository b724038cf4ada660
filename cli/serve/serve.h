/* enhope serve: answers requests of the Open Inference Protocol (version 2, REST).
 *
 *   cmd_serve.c   options, start, signals, stop
 *   http.h        connections, by a plug-in
 *   routes.c      paths and small answers: health, metadata, metrics, the page
 *   request.c     an inference request: JSON (scan.h), and binary data after it
 *   datatype.c    data types, and binary data
 *   infer.c       from tensors to outputs
 *   live.c        the model, which a reload replaces
 *   metrics.c     counters, and the access log
 *   text.c        the text of answers */
#ifndef ENHOPE_SERVE_H
#define ENHOPE_SERVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/cli.h"
#include "serve/http.h"

/* ---- text.c: appends to the text of an answer ---- */

/* False: memory was exhausted, and the text is not complete. */
bool text_good(const http_text *t);
void text_put(http_text *t, const char *bytes, size_t size);
void text_add(http_text *t, const char *text);
void text_format(http_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_integer(http_text *t, int64_t value);
/* The shortest of the decimal numbers that is read back as value; null if it is not finite. */
void text_real(http_text *t, float value);
/* A JSON string. Bytes that are not UTF-8 are read as Latin-1. */
void text_json(http_text *t, const char *text);

/* ---- request.c ---- */

enum { SERVE_RANK = 8, SERVE_OUTPUTS = 3, SERVE_ERROR = 700 };

typedef enum serve_output { SERVE_LABEL, SERVE_PROBA, SERVE_EMBED } serve_output;
extern const char *const serve_output_name[SERVE_OUTPUTS]; /* "label", "probabilities", "embedding" */

/* A data type of the protocol. */
typedef struct serve_datatype {
    const char *name;
    enum { SERVE_REAL, SERVE_UNSIGNED, SERVE_SIGNED, SERVE_STRING } form;
    int size; /* bytes of a number */
    double minimum, maximum;
} serve_datatype;

typedef enum serve_kind { SERVE_EMPTY, SERVE_NUMBERS, SERVE_BOOLEANS, SERVE_TEXTS } serve_kind;

typedef struct serve_tensor {
    const char *name, *datatype;
    int64_t shape[SERVE_RANK];
    int rank;      /* 0: no shape */
    bool given;    /* it has data */
    int depth;     /* of nested arrays in the data */
    int64_t inner; /* elements of each innermost array; -1: they differ */
    serve_kind kind;
    int64_t first, count; /* elements of `number` or `text` of the request; null is NaN or NULL */
    int64_t nulls;
    int64_t bytes; /* of binary data; -1: the data is in the JSON */
} serve_tensor;

/* A parsed request. Arrays are kept for the next one. Names and texts are in the body. */
typedef struct serve_request {
    const char *id; /* NULL: none */
    serve_tensor *tensor;
    double *number;
    const char **text;
    int64_t tensors, numbers, texts;
    int64_t tensor_capacity, number_capacity, text_capacity;
    bool wanted[SERVE_OUTPUTS];
    int binary[SERVE_OUTPUTS]; /* 1: the output is binary data; 0: JSON */
} serve_request;

/* Parses the body in place. Returns 0, or the code of the answer and its message. */
int serve_request_parse(serve_request *r, const http_exchange *x, char error[SERVE_ERROR]);
void serve_request_free(serve_request *r);

/* ---- datatype.c ---- */

const serve_datatype *serve_datatype_find(const char *name); /* NULL: not known */
uint64_t serve_little_endian(const char *bytes, int size);
/* A number from its binary data. */
double serve_datatype_decode(const serve_datatype *type, const char *bytes);
void serve_put_little_endian(http_text *to, uint64_t bits, int size);

/* ---- live.c: models that are in use ---- */

typedef struct live_model {
    atomic_int uses;
    enhope_context *ctx; /* of the main thread */
    enhope_model *model;
    enhope_predictor *predictor;
    enhope_model_info info;
    const char **column; /* (columns) names; NULL: columns have no names */
    int64_t columns;
    bool plain;            /* inputs are the numbers of the columns */
    bool numbered;         /* all names of classes are integers */
    int64_t *number;       /* (c) these */
    http_text name;        /* of the model, in JSON */
    http_text *class_name; /* (c) in JSON */
    http_text metadata;    /* JSON */
    http_text page;        /* HTML */
    double loaded;         /* seconds since 1970 */
} live_model;

/* Memory for one request at a time. */
typedef struct serve_worker {
    struct serve_worker *next;
    enhope_context *ctx;
    serve_request request;
    float *x;       /* (n, H) */
    int32_t *label; /* (n) */
    float *proba;   /* (n, c) */
    float *y;       /* (n, h) */
    int64_t x_capacity, label_capacity, proba_capacity, y_capacity;
    char error[SERVE_ERROR];
} serve_worker;

typedef struct serve_options {
    const cli_options *options;
    const char *model; /* path */
    char *name;
} serve_options;

/* Loads the model and prepares what requests need. NULL after a message. */
live_model *live_open(const serve_options *options);
void live_release(live_model *live); /* frees it after the last use */
/* Makes the page at /: the view of --data, or of the exemplars; a list of the paths if there are no
 * exemplars. Returns 0, or an exit code after a message. */
int live_make_page(live_model *live, const serve_options *options);
/* Reserves *block for count elements; false after a message in worker->error. */
bool worker_reserve(serve_worker *worker, void **block, int64_t *capacity, int64_t count, size_t size);
/* Predicts the n rows of worker->x. Fills the arrays of the worker for the outputs that are wanted.
 * Returns 0, or the code of the answer and worker->error. */
int live_predict(const live_model *live, serve_worker *worker, int64_t n, const bool wanted[SERVE_OUTPUTS]);
/* The same for a frame, whose columns are encoded. */
int live_predict_frame(const live_model *live, serve_worker *worker, enhope_frame *frame, int64_t n,
                       const bool wanted[SERVE_OUTPUTS]);
/* Maximum rows of a request, by the size of its inputs and outputs. */
int64_t live_max_rows(const live_model *live);

/* ---- infer.c ---- */

/* Answers an inference request. Returns the code; the answer is JSON. */
int serve_infer(const live_model *live, serve_worker *worker, http_exchange *x, int64_t *rows);

/* ---- metrics.c ---- */

enum { METRIC_CODES = 7, METRIC_BUCKETS = 14 };
typedef struct serve_metrics {
    _Atomic int64_t requests[METRIC_CODES + 1];  /* by code; the last: other codes */
    _Atomic int64_t latency[METRIC_BUCKETS + 1]; /* of inference requests */
    _Atomic int64_t nanoseconds, rows, lost, reloads, failed_reloads;
    double started; /* seconds since 1970 */
} serve_metrics;
void metrics_count(serve_metrics *m, int code, bool infer, int64_t nanoseconds);
/* In the text format of Prometheus. */
void metrics_put(const serve_metrics *m, const live_model *live, int connections, http_text *out);

typedef struct access_log {
    FILE *file; /* NULL: none */
    const char *path;
    pthread_mutex_t lock;
    bool failed; /* reported */
} access_log;
int access_log_open(access_log *log, const char *path); /* path NULL: no log */
/* Opens the file again, because it may have been renamed. */
void access_log_reopen(access_log *log);
void access_log_write(access_log *log, const http_exchange *x, int64_t nanoseconds, bool sent);
void access_log_flush(access_log *log);
void access_log_close(access_log *log);

/* ---- routes.c ---- */

typedef struct server {
    serve_options options;
    pthread_mutex_t lock; /* of live and idle */
    live_model *live;
    serve_worker *idle; /* list of workers without a request */
    serve_metrics metrics;
    access_log log;
    const http_functions *http;
    http_server *connections;
    atomic_bool draining;
} server;

/* Functions of an http_host; user is the server. */
void serve_respond(void *user, http_exchange *x);
void serve_done(void *user, http_exchange *x, bool sent);
void serve_workers_free(server *s);

int64_t serve_now(void); /* nanoseconds of the clock of http_exchange.began */

#endif
