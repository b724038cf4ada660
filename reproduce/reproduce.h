/* enhope-reproduce: reproduces the tables of the paper. reproduce_plan.c has the rows and data
 * sets. A cell is one row on one data set with one seed; reproduce_cell.c trains and evaluates it
 * in its own process. reproduce_speed.c times classification after all cells. reproduce_report.c
 * writes the report from the completed cells, in Markdown and HTML (reproduce_document.c). */
#ifndef ENHOPE_REPRODUCE_H
#define ENHOPE_REPRODUCE_H

#include "core/cli.h"

/* ---- plan ---- */

enum { MNIST, USPS, NEWS, VGG, FASHION, SETS };
enum { MAX_SEEDS = 99, PATH_SIZE = 1024, TEXT_SIZE = 512 };

typedef struct plan_set {
    const char *id, *name;
    const char *path;       /* in the data folder: a file, or a folder with parts */
    const char *pair[2][2]; /* if path is NULL: values and labels of the train and the test part */
    const char *split;      /* "8000@": a random split for each seed; NULL: the data has parts */
} plan_set;
extern const plan_set plan_sets[SETS];

/* The report of a row: the paper, both reports, or the ablation. */
typedef enum plan_part { OF_PAPER, BEYOND, ABLATION } plan_part;

typedef struct plan_row {
    const char *id, *name;
    const char *settings; /* "name value name value ...", the same on every data set */
    const char *on[SETS]; /* more settings; NULL: the row is not run on this data set */
    double paper[SETS];   /* error in percent; 0: not in the paper */
    double kmeans[SETS];  /* the same with 20 k-means centers as references (s-kmeans); 0: none */
    bool measures_kmeans; /* whether the error with k-means centers is measured */
    const char *keep;     /* " mnist ": data sets whose model of seed 1 is stored, for figure and speed */
    plan_part part;
} plan_row;
int plan_rows(void);
const plan_row *plan_row_get(int i);
int plan_row_number(const char *id); /* id must exist */

/* A claim of the paper: the error of better is lower than that of worse on these data sets. */
typedef struct plan_claim {
    const char *text;
    const char *better, *worse; /* rows; "ROW+kmeans": with k-means centers as references */
    bool on[SETS];
} plan_claim;
int plan_claims(void);
const plan_claim *plan_claim_get(int i);

/* ---- run ---- */

typedef struct reproduction {
    const cli_options *options;
    const char *data;   /* folder */
    const char *folder; /* of cells, models and report */
    bool quick;
    bool ablation; /* rows BEYOND and ABLATION, else OF_PAPER and BEYOND */
    int seeds;
    bool have[SETS]; /* the data exists */
} reproduction;
bool reproduction_has(const reproduction *r, int row, int set); /* the run has this row on this data set */

typedef struct cell {
    int row, set, seed;
} cell;

typedef struct cell_result {
    double test, kmeans, valid; /* errors in percent; NaN: not measured */
    int64_t tested;             /* test points */
    double seconds;             /* of training */
    double bytes;               /* peak memory */
    int64_t epochs, best;
    char device[128];
} cell_result;

void cell_name(cell at, char *buffer, size_t size);                            /* "mnist/hope/1" */
void cell_settings(const reproduction *r, cell at, char *buffer, size_t size); /* as options of train */
/* Reads the train or test part of the data of a cell; returns an exit code. */
int cell_data(const reproduction *r, cell at, const char *part, enhope_context *ctx, enhope_dataset **out);
void cell_model_path(const reproduction *r, cell at, char *path); /* (PATH_SIZE) */
bool cell_keeps_model(cell at);
/* False: not complete, or run with other settings. */
bool cell_read(const reproduction *r, cell at, cell_result *out);
/* Trains, evaluates and writes the file of the cell; returns an exit code. */
int cell_run(const reproduction *r, cell at);

/* "AMD EPYC 9B14, 2 threads, x86-64-v4": describes the device of the context; device NULL: the
 * cpu. */
void reproduce_machine(enhope_context *ctx, const char *device, char *buffer, size_t size);

/* ---- speed ---- */

typedef struct speed_result {
    double exemplars, embedding;       /* en-hope, 20 learned exemplars: embedding and classifying; embedding alone */
    double deep, deep_embedding;       /* dt-mcml with all training points; NaN: not measured */
    double knn, faiss, sklearn;        /* in the input space, k = 5; NaN: not installed */
    double exemplars_error, knn_error; /* percent */
    int64_t training, test, inputs;
    char machine[128];
} speed_result;
bool speed_read(const reproduction *r, int set, speed_result *out);
int speed_run(const reproduction *r, int set);

/* ---- document in Markdown and HTML ---- */

typedef struct document {
    FILE *md, *html;
    int column;   /* of the open table */
    bool heading; /* the first row of the table is open */
} document;
void document_head(document *d, const char *title);
void document_heading(document *d, const char *title);
void document_paragraph(document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_code(document *d, const char *line);
/* Open a table, then add its cells and end its rows. The first row is the heading. */
void document_open_table(document *d);
void document_cell(document *d, const char *text);
void document_end_row(document *d);
void document_close_table(document *d);
/* Opens a table with these headings; the last argument is NULL. */
void document_headings(document *d, const char *first, ...);

/* ---- report ---- */

/* Mean and deviation over seeds. */
typedef struct spread {
    double mean, deviation;
    int count;
} spread;
spread spread_of(const double *values, int count);

/* A result of a cell. */
typedef enum measure { TEST, KMEANS_ERROR, VALIDATION, SECONDS, BYTES, BEST_EPOCH } measure;
double cell_measure(const reproduction *r, cell at, measure m); /* NaN: missing */
spread report_spread(const reproduction *r, int row, int set, measure m);
/* "2.66 ± 0.10", and by how many percent it exceeds the paper's, if it does. */
void report_put_error(document *d, spread s, double paper);
/* One line for each of the space-separated rows; "ROW+kmeans" has k-means centers as references. */
void report_put_errors(const reproduction *r, document *d, const char *names, const bool *sets);
void report_put_devices(const reproduction *r, document *d);
void report_put_costs(const reproduction *r, document *d);
/* The command of the report, and a warning if it is quick. */
void report_put_command(const reproduction *r, document *d);
const char *report_name(const reproduction *r); /* without extension */
int report_write(const reproduction *r);        /* to the folder; returns an exit code */
/* The contents: reproduce_paper.c and reproduce_ablation.c; return exit codes. */
int report_put_paper(const reproduction *r, document *d);
int report_put_ablation(const reproduction *r, document *d);

#endif
