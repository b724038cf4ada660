/* enhope view: cmd_view.c reads, predicts and selects the points, view_page.c writes the page, and
 * view_samples.c writes the samples. */
#ifndef ENHOPE_VIEW_H
#define ENHOPE_VIEW_H

#include "core/cli.h"
#include "view/page_history.h"

enum {
    VIEW_PARTS = 2,
    VIEW_FIELDS = 64, /* maximum inputs of a table that the page shows per sample */
};

typedef struct view_part {
    cli_session session; /* its data; context and model are shared */
    int kind;            /* 0 held out, 1 training, 2 data without parts */
    enhope_prediction p; /* label, winner (n), proba (n, c), Y (n, h) */
    int32_t *truth;      /* (n) see cli_session_true_classes */
    int64_t labeled, errors;
} view_part;

typedef struct view {
    cli_session session;
    view_part part[VIEW_PARTS];
    int parts;
    int64_t total, n; /* points of the data, points of the page */
    int64_t *row;     /* (n) row of the point, numbered across the parts */
    int64_t details;  /* points with a stored sample */
    int64_t *detail;  /* (details) of 0..n-1 */
    float *exemplar;  /* (r, h), or NULL */
    int32_t *exemplar_class;
    double low[2], high[2]; /* range of the first two outputs */
    cli_page_history history;
    bool words; /* the data is sparse and has no images */
} view;

/* The part of a row that is numbered across the parts; *row becomes the row in the part. */
const view_part *view_part_of(const view *v, int64_t *row);
/* The same for point i. */
const view_part *view_point(const view *v, int64_t i, int64_t *row);
/* The class of a row; c: unlabeled, c + 1: unknown class. */
int32_t view_group_of(const view *v, int64_t row);
/* The index of point i of the animation, whose points are evenly spaced among those of the page. */
int64_t view_played_point(const view *v, int64_t i);

/* The integer factor by which images are reduced. */
int64_t view_shrink(const enhope_dataset_info *info);
/* Return 0, or an exit code after a message. */
int view_put_samples(const view *v, FILE *out);
int view_put_page(const view *v, const cli_options *options, FILE *out);

#endif
