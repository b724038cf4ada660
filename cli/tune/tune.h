/* enhope tune: searches settings by their error on the validation part. tune_space.c draws the
 * settings of a trial. A run trains them for some epochs in its own process (tune_run.c).
 * cmd_tune.c schedules the runs by successive halving. tune_report.c writes the report from the
 * completed runs. */
#ifndef ENHOPE_TUNE_H
#define ENHOPE_TUNE_H

#include "core/pool.h"

enum { TUNE_PATH = 1024, TUNE_TEXT = 1024, ROUNDS = 3, BRACKET = 9, REDUCTION = 3 /* one trial of three continues */ };

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

/* Facts about the data, from the first run. */
typedef struct tune_facts {
    int64_t samples; /* labeled, with the validation part */
    int64_t valid;   /* in the validation part */
    int64_t classes;
} tune_facts;

/* ---- a search ---- */

typedef struct tune_run {
    bool done;           /* trained for all its epochs */
    bool failed;         /* training failed, for example because the loss diverged */
    bool gone;           /* its model was beaten and is removed */
    bool cut;            /* stopped at the time limit; it counts, and the next command repeats it */
    double error;        /* of the validation part, in percent */
    double seconds;      /* of training */
    double microseconds; /* per point */
    double bytes;        /* of the model file */
    int64_t parameters, epochs, best;
    char reason[256]; /* reason of the failure */
} tune_run;

typedef struct tune_trial {
    char settings[TUNE_TEXT];                    /* without epochs; "": not drawn yet */
    bool running[ROUNDS], model_missing[ROUNDS]; /* running now; its model is missing */
    tune_run run[ROUNDS];
} tune_trial;

typedef struct tuning {
    const cli_options *options;
    const char *folder;
    double until;       /* cli_now() of the time limit; infinite: none */
    double closing;     /* no trial starts after this time */
    int64_t max_trials; /* 0: limited by the time only */
    int64_t epochs;     /* of the last round */
    int64_t seed, series;
    unsigned drawn; /* bit i: dimension i of the space applies to the explicit settings */
    int jobs;
    int64_t threads;   /* of a process */
    tune_facts facts;  /* samples 0: not known yet */
    tune_trial *trial; /* (trials) trial 0 has the default settings and is in no bracket */
    int trials, capacity;
    int finished; /* runs in this command */
    bool terminal;
    double started;
    int code; /* exit code of an early end; 0: none */
} tuning;

/* The settings of a trial as words. They depend on the facts and the number of the trial only. */
void tune_settings(const tuning *t, int trial, char *buffer, size_t size);
/* The dimensions that apply to these settings, as bits of tuning.drawn. */
unsigned tune_dimensions(const enhope_settings *settings);
int64_t tune_epochs(const tuning *t, int trial, int round); /* 0: those of the recipe */
/* Whether the run is within the limits of size and latency. */
bool tune_allowed(const tuning *t, const tune_run *run);

void tune_path(const tuning *t, const char *kind, int trial, int round, const char *ending,
               char *path); /* (TUNE_PATH) */
/* Reads the stored result of a run with the same settings and data, and the facts if unknown. */
bool tune_read(tuning *t, int trial, int round);
/* Trains, and stores model and result; returns an exit code. */
int tune_train(const tuning *t, int trial, int round);
/* Time to classify a point of the session's data: the minimum of several repeats. */
int tune_time(const cli_session *s, double *microseconds);
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
