/* enhope-reproduce: the paper's tables, measured. A plan (reproduce_plan.c) of rows and data sets; a cell is one row on
 * one data set with one seed, trained and judged in a process of its own (reproduce_cell.c); classification is timed
 * against the yardsticks when nothing else runs (reproduce_speed.c); the report is made from whatever cells there are
 * (reproduce_report.c) in Markdown and HTML (reproduce_document.c). */
#ifndef ENHOPE_REPRODUCE_H
#define ENHOPE_REPRODUCE_H

#include "core/cli.h"

/* ---- the plan ---- */

enum { MNIST, USPS, NEWS, VGG, FASHION, SETS };
enum { MAX_SEEDS = 99, PATH_SIZE = 1024, TEXT_SIZE = 512 };

typedef struct plan_set {
    const char *id, *name;
    const char *path;       /* below the data folder: a file, or a folder with parts */
    const char *pair[2][2]; /* where path is NULL: values and labels of the train and of the test part */
    const char *split;      /* "8000@": a random split for each seed; NULL: the data's own parts */
} plan_set;
extern const plan_set plan_sets[SETS];

/* What a row belongs to: the paper, what goes beyond it, or the ablation of that. */
typedef enum plan_part { OF_PAPER, BEYOND, ABLATION } plan_part;

typedef struct plan_row {
    const char *id, *name;
    const char *settings; /* "name value name value ...", the same on every data set */
    const char *on[SETS]; /* more of them; NULL: the row is not run on this data set */
    double paper[SETS];   /* error in percent; 0: the paper has none */
    double kmeans[SETS];  /* the same model against 20 k-means centres of the train part (s-kmeans); 0: none */
    bool measures_kmeans; /* whether that is measured */
    const char *keep;     /* " mnist ": where the model of the first seed is kept, for figure and speed */
    plan_part part;
} plan_row;
int plan_rows(void);
const plan_row *plan_row_get(int i);
int plan_row_number(const char *id); /* id: of a row that there is */

/* "better is lower than worse on these data sets", as the paper says. */
typedef struct plan_claim {
    const char *text;
    const char *better, *worse; /* rows; "ROW+kmeans": judged against k-means centres */
    bool on[SETS];
} plan_claim;
int plan_claims(void);
const plan_claim *plan_claim_get(int i);

/* ---- a run ---- */

typedef struct reproduction {
    const cli_options *options;
    const char *data;   /* folder */
    const char *folder; /* of cells, models and report */
    bool quick;
    bool ablation; /* the rows beyond the paper and their ablation, else the paper's and those beyond it */
    int seeds;
    bool have[SETS]; /* the data is there */
} reproduction;
bool reproduction_has(const reproduction *r, int row, int set); /* the row is part of the run, and of this data set */

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
/* The train or test part of a cell's data set; an exit code. */
int cell_data(const reproduction *r, cell at, const char *part, enhope_context *ctx, enhope_dataset **out);
void cell_model_path(const reproduction *r, cell at, char *path); /* (PATH_ROOM) */
bool cell_keeps_model(cell at);
/* False: it has not been done, or with other settings. */
bool cell_read(const reproduction *r, cell at, cell_result *out);
/* Trains and judges, and writes its file; an exit code. */
int cell_run(const reproduction *r, cell at);

/* "AMD EPYC 9B14, 2 threads, x86-64-v4": what the device of the context is; device NULL: the cpu. */
void reproduce_machine(enhope_context *ctx, const char *device, char *buffer, size_t size);

/* ---- speed ---- */

typedef struct speed_result {
    double exemplars, embedding;       /* en-hope, 20 learned exemplars: embedding and classifying; embedding alone */
    double deep, deep_embedding;       /* dt-mcml against all training points; NaN: not asked for */
    double knn, faiss, sklearn;        /* in the input space, k = 5; NaN: not installed */
    double exemplars_error, knn_error; /* percent */
    int64_t training, test, inputs;
    char machine[128];
} speed_result;
bool speed_read(const reproduction *r, int set, speed_result *out);
int speed_run(const reproduction *r, int set);

/* ---- a document in two languages: Markdown and HTML ---- */

typedef struct document {
    FILE *md, *html;
    int column;   /* of the table that is open */
    bool heading; /* its first row is open */
} document;
void document_head(document *d, const char *title);
void document_heading(document *d, const char *title);
void document_paragraph(document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_code(document *d, const char *line);
/* A table is opened, then its cells are put and its rows ended; the first row heads it. */
void document_open_table(document *d);
void document_cell(document *d, const char *text);
void document_end_row(document *d);
void document_close_table(document *d);
/* Opens a table with these headings, the last of which is NULL. */
void document_headings(document *d, const char *first, ...);

/* ---- the report ---- */

/* A mean over seeds. */
typedef struct spread {
    double mean, deviation;
    int count;
} spread;
spread spread_of(const double *values, int count);

/* Which number of a cell. */
typedef enum measure { TEST, KMEANS_ERROR, VALIDATION, SECONDS, BYTES, BEST_EPOCH } measure;
double cell_measure(const reproduction *r, cell at, measure m); /* NaN: there is none */
spread report_spread(const reproduction *r, int row, int set, measure m);
/* "2.66 ± 0.10", and how much more than the paper's in relation to it, where that is above 0. */
void report_put_error(document *d, spread s, double paper);
/* One line for each of the rows, named between spaces; "ROW+kmeans" is judged against centres. */
void report_put_errors(const reproduction *r, document *d, const char *names, const bool *sets);
void report_put_devices(const reproduction *r, document *d);
void report_put_costs(const reproduction *r, document *d);
/* The command that a report is made by; and that the numbers of a quick one mean nothing. */
void report_put_command(const reproduction *r, document *d);
const char *report_name(const reproduction *r); /* without an ending */
int report_write(const reproduction *r);        /* into the folder; an exit code */
/* What is in it, by the run: reproduce_paper.c and reproduce_ablation.c; exit codes. */
int report_put_paper(const reproduction *r, document *d);
int report_put_ablation(const reproduction *r, document *d);

#endif
