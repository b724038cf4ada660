/* Measurements that train or classify many times: cross-validation (cross.c), permutation
 * importance (importance.c), the scores of predictions (scores.c), their time (latency.c),
 * and measures of the map (map.c). */
#ifndef ENHOPE_MEASURE_H
#define ENHOPE_MEASURE_H

#include "core/cli.h"

/* ---- scores of predictions (scores.c) ---- */

typedef struct cli_scores {
    int64_t n, errors;
    double error;    /* fraction; NaN: no samples */
    double balanced; /* balanced accuracy: mean over the classes with samples of the fraction that is correct */
    double log_loss; /* mean of -log(probability of the true class), the probability being at least 1.2e-7 */
} cli_scores;
/* truth (n): class, below 0: not counted; label (n); proba (n, c). fold (n) NULL: all samples, else
 * only those of the fold f. Returns 0, or an exit code after a message. */
int cli_scores_compute(const int32_t *truth, const int32_t *label, const float *proba, int64_t n, int32_t c,
                       const int32_t *fold, int32_t f, cli_scores *out);

/* ---- cross-validation (cross.c) ---- */

/* Models are trained in processes of their own, or in this one. The results are in memory that all
 * processes share. */
typedef struct cli_cross {
    const enhope_dataset *data;
    const int32_t *truth; /* (n) classes of the data, -1: unlabeled */
    int64_t n;
    int32_t c, folds, repeats;
    int32_t *fold;   /* (repeats, n) -1: unlabeled */
    int32_t *label;  /* (repeats, n) predictions of the model that has not seen the sample */
    float *proba;    /* (repeats, n, c) */
    double *seconds; /* (repeats, folds) of training; 0: not trained yet */
    void *shared;    /* the memory of label, proba and seconds */
    size_t bytes;
} cli_cross;
/* Divides the data; repeat r uses the seed seed + r. group (n) NULL: no groups. */
int cli_cross_open(cli_cross *cross, enhope_context *ctx, const enhope_dataset *data, int32_t folds, int32_t repeats,
                   int64_t seed, const int64_t *group);
/* Trains on all folds but one and classifies that one. stop may be NULL. */
enhope_status cli_cross_train(const cli_cross *cross, enhope_context *ctx, const enhope_settings *settings,
                              int32_t repeat, int32_t fold, enhope_progress_fn stop, void *user);
/* Scores of a fold, or of all folds (fold -1), of a repeat. */
int cli_cross_scores(const cli_cross *cross, int32_t repeat, int32_t fold, cli_scores *out);
void cli_cross_close(cli_cross *cross);

/* ---- permutation importance (importance.c) ---- */

enum { CLI_IMPORTANCE_MINUTES = 20 }; /* longer computations need an explicit limit */

/* A column of the data, or a block of pixels. */
typedef struct cli_column {
    char name[128];
    int64_t first, inputs;  /* its inputs are input[first .. first + inputs) of the result */
    double error, error_sd; /* increase of the error (fraction): mean and standard deviation over repeats */
    double loss, loss_sd;   /* the same of the log loss */
} cli_column;

typedef struct cli_importance {
    cli_column *column; /* (columns), the most important first */
    int64_t columns;
    int64_t *input; /* (inputs of the model) */
    int64_t n;      /* labeled samples that were used */
    int32_t repeats;
    int64_t seed;
    cli_scores base; /* without permutation */
    enhope_dataset *data;
    int32_t *truth; /* (n) */
} cli_importance;
/* Called after each column: the share and number of columns done, and the seconds left. Returns 0,
 * or an exit code to stop. */
typedef int (*cli_importance_fn)(double share, int64_t columns, double left, void *user);
/* Measures the session's model on its labeled data. limit: most samples, a seeded choice; 0:
 * 10,000. progress may be NULL. Free the result also after a failure. */
int cli_importance_compute(const cli_session *session, int64_t limit, int32_t repeats, int64_t seed,
                           cli_importance_fn progress, void *user, cli_importance *out);
void cli_importance_free(cli_importance *x);

/* ---- time of predictions (latency.c) ---- */

enum { CLI_LATENCIES = 5 }; /* 1, 10, 100, 1000 and all rows */

typedef struct cli_latency {
    int64_t rows, calls; /* rows of a call; calls that were measured */
    double p50, p99;     /* median and 99th percentile of their times, in seconds */
    double rows_per_second;
} cli_latency;
/* Measures labels of the session's data on the CPU. out (CLI_LATENCIES) gets *count entries: calls
 * of more rows than the data has are left out. */
int cli_latency_measure(const cli_session *session, const cli_options *options, cli_latency *out, int *count);
/* Seconds of a call with one row of the session's data, in memory: the median. */
int cli_latency_one(const cli_session *session, double *seconds);
void cli_put_latency(const cli_latency *row, int count);
void cli_put_json_latency(const cli_latency *row, int count);

/* ---- measures of a map (map.c) ---- */

/* Checks the value of --map, if there is one. */
int cli_map_check(const cli_options *options);
/* Measures the map of the session's model, of its data or against the train part. */
int cli_map_measure(const cli_session *session, const cli_options *options, enhope_map_measures *out);
void cli_put_map(const cli_session *session, const cli_options *options, const enhope_map_measures *m);
/* A member of an object, without the comma before it. */
void cli_put_json_map(const cli_options *options, const enhope_map_measures *m);

#endif
