/* enhope tune: a search for settings on the validation part. A space of settings (tune_space.c); a run is one trial's
 * settings trained for some epochs in a process of its own (tune_run.c); which run comes next is a race in rounds
 * (cmd_tune.c); the report is made from whatever runs there are (tune_report.c). */
#ifndef ENHOPE_TUNE_H
#define ENHOPE_TUNE_H

#include "core/pool.h"

enum { TUNE_PATH = 1024, TUNE_TEXT = 1024, ROUNDS = 3, BRACKET = 9, KEPT = 3 /* one of so many goes on */ };

/* ---- the space ---- */

typedef enum tune_kind { TUNE_ONE_OF, TUNE_LOG, TUNE_LOG_WHOLE } tune_kind;

typedef struct tune_dimension {
    const char *setting; /* for sizes "n_factors n_hidden", both */
    tune_kind kind;
    double low, high;   /* of a range */
    const char *values; /* separated by '|' */
    const char *note;
} tune_dimension;
const tune_dimension *tune_dimension_get(int i); /* NULL outside the space */

/* What the first run told about the data. */
typedef struct tune_facts {
    int64_t samples; /* labelled, the validation part with them */
    int64_t valid;   /* in the validation part */
    int64_t classes;
} tune_facts;

/* ---- a search ---- */

typedef struct tune_run {
    bool done;           /* it was trained to its end */
    bool failed;         /* it cannot be trained: the loss went to infinity, say */
    bool gone;           /* told at the end: its model was beaten, and is no more */
    bool cut;            /* the time was over before its end; it counts, but is done again by the next command */
    double error;        /* of the validation part, in percent */
    double seconds;      /* of training */
    double microseconds; /* a point takes */
    double bytes;        /* of the model file */
    int64_t parameters, epochs, best;
    char why[256]; /* it failed */
} tune_run;

typedef struct tune_trial {
    char settings[TUNE_TEXT];           /* without epochs; "" : not made up yet */
    bool running[ROUNDS], lost[ROUNDS]; /* it runs now; its model is gone */
    tune_run run[ROUNDS];
} tune_trial;

typedef struct tuning {
    const cli_options *options;
    const char *folder;
    double until;   /* cli_now() when the time is over; infinite: never */
    double closing; /* after that no trial begins */
    int64_t most;   /* trials; 0: as many as there is time for */
    int64_t epochs; /* of the last round */
    int64_t seed, series;
    unsigned drawn; /* bit i: dimension i of the space applies to what the user has set */
    int jobs;
    int64_t threads;   /* of a process */
    tune_facts facts;  /* samples 0: not known yet */
    tune_trial *trial; /* (trials) 0 is the default as it is; all others race */
    int trials, room;
    int finished; /* runs in this command */
    bool terminal;
    double started;
    int code; /* why it had to end early; 0: it had not */
} tuning;

/* The settings of a trial as words, by its number alone, once the facts are known. */
void tune_settings(const tuning *t, int trial, char *buffer, size_t size);
/* What of the space applies to a run with these settings, as tuning.drawn holds it. */
unsigned tune_dimensions(const enhope_settings *settings);
int64_t tune_epochs(const tuning *t, int trial, int round); /* 0: those of the recipe */
/* Whether the limits of size and latency allow it to be the best. */
bool tune_allowed(const tuning *t, const tune_run *run);

void tune_path(const tuning *t, const char *kind, int trial, int round, const char *ending,
               char *path); /* (TUNE_PATH) */
/* What was kept of a run with these very settings on this data; the facts as well, where they are not known. */
bool tune_read(tuning *t, int trial, int round);
/* Trains, keeps model and result; an exit code. */
int tune_train(const tuning *t, int trial, int round);
/* What a point of the session's data takes to be classified: the best of some repeats. */
int tune_time(const cli_session *s, double *microseconds);
/* "--data usps.mat --split 8000@1": what makes the data what it is. */
void tune_data_text(const cli_options *options, char *buffer, size_t size);

/* Whether other runs are as good at no more cost, in size as in speed. */
bool tune_beaten(const tuning *t, const tune_run *run);
/* The best run; false: there is none that may be it. */
bool tune_best(const tuning *t, int *trial, int *round);
/* Times the models anew, alone; prints the frontier and writes report and best model. */
int tune_report(tuning *t);

#endif
