/* enhope view: view_read.c reads the data and records the training, view_build.c predicts and
 * selects the points, view_page.c writes the page, view_samples.c the samples, and view_spread.c
 * how the page spreads a collapsed map. The Python module contains all but view_read.c. */
#ifndef ENHOPE_VIEW_H
#define ENHOPE_VIEW_H

#include "core/cli.h"
#include "measure/measure.h"
#include "view/page_history.h"

enum {
    VIEW_PARTS = 2,
    VIEW_FIELDS = 64,    /* maximum inputs of a table that the page stores per sample, */
    VIEW_ENCODED = 400,  /* and if its columns are encoded; few samples may have more, */
    VIEW_VALUES = 640000 /* if they are so many numbers together */
};

typedef struct view_part {
    cli_session session; /* its data; context and model are those of the view */
    int kind;            /* 0 held out, 1 training, 2 data without parts */
    enhope_prediction p; /* label, winner (n), proba (n, c), Y (n, h); without classes only Y */
    int32_t *truth;      /* (n) number in the classes of the view; -1: unlabeled, -2: unknown class */
    int64_t labeled, errors;
    double trained; /* share of the rows that trained the model, if it is clearly above that of other data, else 0 */
} view_part;

typedef struct view {
    cli_session session; /* context and model, of the caller */
    view_part part[VIEW_PARTS];
    int parts;
    bool classifies;         /* the model has classes */
    int32_t classes;         /* those of the model, else of the data */
    const char **class_name; /* (classes), of the model or the data */
    int64_t total, n;        /* points of the data, points of the page */
    int64_t *row;            /* (n) row of the point, numbered across the parts */
    int64_t first_row;       /* its number: 1 in files, as in enhope predict; 0 in data of view_take */
    int64_t details;         /* points with a stored sample */
    int64_t *detail;         /* (details) of 0..n-1 */
    float *exemplar;         /* (r, h), or NULL */
    int32_t *exemplar_class;
    double low[2], high[2]; /* range of the first two outputs */
    cli_page_history history;
    bool words;                /* the data is sparse and has no images */
    bool encoded;              /* columns of the model are not just inputs */
    cli_importance importance; /* columns 0: not measured */
} view;

/* A page. Initialize the view to zero. view_read reads the data of the options; view_take takes a
 * data set, which the view frees. view_gather predicts, and selects the points; then view_record
 * may add the history of training, and view_put writes the page. Functions return 0, or an exit
 * code after a message. */
int view_read(view *v, const cli_session *session, const cli_options *options);
void view_take(view *v, const cli_session *session, enhope_dataset *data);
int view_gather(view *v, const cli_options *options);
int view_record(view *v, const cli_options *options);
int view_put(const view *v, const cli_options *options, FILE *out);
void view_free(view *v);

/* Sets the session, for view_read and view_take. */
void view_begin(view *v, const cli_session *session);
/* The part of a row that is numbered across the parts; *row becomes the row in the part. */
const view_part *view_part_of(const view *v, int64_t *row);
/* The same for point i. */
const view_part *view_point(const view *v, int64_t i, int64_t *row);
/* The class of a row; classes: unlabeled, classes + 1: unknown class. */
int32_t view_group_of(const view *v, int64_t row);
/* The index of point i of the animation, whose points are evenly spaced among those of the page. */
int64_t view_played_point(const view *v, int64_t i);

/* The number of inputs that the page stores per sample of a table. */
int64_t view_fields(const view *v);
/* The integer factor by which images are reduced. */
int64_t view_shrink(const enhope_dataset_info *info);
/* Return 0, or an exit code after a message. */
int view_put_samples(const view *v, FILE *out);
int view_put_texts(const view *v, FILE *out);
int view_put_spread(const view *v, FILE *out);

#endif
