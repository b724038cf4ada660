/* enhope tune: searches settings by their error on the validation part, or by cross-validation if
 * there are few samples. tune_data.c reads the data and orders its rows. tune_space.c draws the
 * settings of a trial. A run trains them on some of the rows in its own process (tune_run.c).
 * tune_schedule.c chooses the next run by successive halving. tune_report.c writes the report from
 * the completed runs. */
#ifndef ENHOPE_TUNE_H
#define ENHOPE_TUNE_H

#include "core/pool.h"

enum { TUNE_PATH = 1024, TUNE_TEXT = 1024, TUNE_FOLDS = 5, ROUNDS = 3, LAST = ROUNDS - 1, BRACKET = 9 };
enum { REDUCTION = 3 /* one trial of three continues */ };

/* ---- the space ---- */

typedef enum tune_kind { TUNE_ONE_OF, TUNE_LOG, TUNE_LOG_WHOLE } tune_kind;

typedef struct tune_dimension {
    const char *setting; /* or two, as in "n_factors n_hidden" */
    tune_kind kind;
    double low, high;   /* of a range */
    const char *values; /* separated by '|' */
    const char *note;
} tune_dimension;
const tune_dimension *tune_dimension_get(int i); /* NULL outside the space */

/* ---- the data ---- */

typedef struct tune_facts {
    int64_t samples; /* labeled, with the validation part */
    int64_t valid;   /* in the validation part; 0: cross-validation */
    int64_t inputs, classes;
} tune_facts;

typedef struct tune_data {
    cli_session session; /* the context and all samples */
    int64_t *order;      /* (samples) the training rows, of which every beginning has all classes, then the validation
                            rows */
    tune_facts facts;
} tune_data;

/* ---- a search ---- */

typedef struct tune_run {
    bool done;           /* trained for all its epochs */
    bool failed;         /* training failed, for example because the loss diverged */
    bool gone;           /* its model was beaten and is removed */
    bool cut;            /* shortened because of the time limit; it counts, and the next command repeats it */
    double error, loss;  /* of the validation part or of cross-validation: in percent; log loss */
    double seconds;      /* of training */
    double microseconds; /* to classify a row */
    double bytes;        /* of the model file */
    int64_t parameters, epochs, best;
    int64_t rows;     /* that it was trained on */
    char reason[256]; /* reason of the failure */
} tune_run;

typedef struct tune_trial {
    char settings[TUNE_TEXT];                    /* without epochs; "": not drawn yet */
    int draw;                                    /* its number in the sequence of settings */
    int64_t fewer;                               /* epochs of the next run that fit in the time; 0: all */
    bool running[ROUNDS], model_missing[ROUNDS]; /* running now; its model is missing */
    tune_run run[ROUNDS];
} tune_trial;

typedef struct tuning {
    const cli_options *options;
    const char *folder;
    double started, until; /* cli_now() of the start and of the time limit; infinite: none */
    double closing;        /* no trial starts after this time */
    double max_seconds;    /* seconds of a run before the last round, and of cross-validation; infinite: no limit */
    int64_t max_trials;    /* 0: limited by the time only */
    int64_t epochs;        /* of a run; 0: those of the recipe */
    int64_t seed, series;
    unsigned drawn; /* bit i: dimension i of the space applies to the explicit settings */
    int jobs;
    int64_t threads; /* of a process */
    tune_data data;
    tune_trial *trial; /* (trials) trial 0 has the default settings and is in no bracket */
    int trials, capacity, draws;
    int finished; /* runs in this command */
    bool terminal;
    const char *reason; /* why no further run starts */
    int code;           /* exit code of an early end; 0: none */
} tuning;

/* Reads the data and chooses the validation part, the fraction `part` of each class. */
int tune_data_open(tuning *t, double part);
void tune_data_close(tune_data *data);
bool tune_by_folds(const tuning *t);           /* few samples: runs are compared by cross-validation */
int64_t tune_rows(const tuning *t, int round); /* training samples of a run */
/* The training samples of a round and the validation part as a data set; then that part alone. */
enhope_status tune_select(const tuning *t, enhope_context *ctx, int round, enhope_dataset **data,
                          enhope_dataset **valid);

/* ---- the schedule (tune_schedule.c) ---- */

/* Draws the settings of a new trial, unlike those before, and reads its stored results; false:
 * there is none. */
bool tune_add_trial(tuning *t);
/* The next run, trial * ROUNDS + round; -1: none now. */
int tune_next(tuning *t);
/* Orders runs by error, equal ones by log loss. */
int tune_compare(const tune_run *a, const tune_run *b);

/* The settings of a draw as words. They depend on the facts and the number of the draw only. */
void tune_settings(const tuning *t, int draw, char *buffer, size_t size);
/* The dimensions that apply to these settings, as bits of tuning.drawn. */
unsigned tune_dimensions(const enhope_settings *settings);
int64_t tune_epochs(const tuning *t, int trial); /* 0: those of the recipe */
/* Whether the run is within the limits of size and latency. */
bool tune_allowed(const tuning *t, const tune_run *run);

void tune_path(const tuning *t, const char *kind, int trial, int round, const char *ending,
               char *path); /* (TUNE_PATH) */
/* Reads the stored result of a run with the same settings and data. */
bool tune_read(tuning *t, int trial, int round);
/* Trains, and stores model and result; returns an exit code. */
int tune_train(const tuning *t, int trial, int round);
/* Median time of a call that classifies one row of the session's data. On a GPU: the time for a row
 * if all are classified together. */
int tune_time(const tuning *t, const cli_session *s, double *microseconds);
/* "--data usps.mat --split 8000@1": the options that define the data. */
void tune_data_text(const cli_options *options, char *buffer, size_t size);

/* Whether other runs have no higher error at no higher cost, both in size and in speed. */
bool tune_beaten(const tuning *t, const tune_run *run);
/* The best run; false: no run is within the limits. */
bool tune_best(const tuning *t, int *trial, int *round);
/* Times the models again one by one, prints the frontier, and writes the report and the best
 * model. */
int tune_report(tuning *t);

#endif
