/* enhope view: a model's embedding of data as a page. cmd_view.c reads, predicts and chooses what is shown; view_page.c writes
 * it, view_samples.c the samples. */
#ifndef ENHOPE_VIEW_H
#define ENHOPE_VIEW_H

#include "core/cli.h"
#include "view/page_history.h"

enum {
    VIEW_PARTS = 2,
    VIEW_FIELDS = 64, /* inputs of a table that a card tells */
};

typedef struct view_part {
    cli_session session; /* its own data; context and model are the first one's */
    int kind;            /* 0 held out, 1 training, 2 all there is */
    enhope_prediction p; /* label, winner (n), proba (n, c), Y (n, h) */
    int32_t *truth;      /* (n) as cli_session_true_classes says */
    int64_t labelled, errors;
} view_part;

typedef struct view {
    cli_session session;
    view_part part[VIEW_PARTS];
    int parts;
    int64_t total, n; /* points there are, points shown */
    int64_t *row;     /* (n) of the point, counted through the parts */
    int64_t details;  /* points whose sample is carried */
    int64_t *detail;  /* (details) of 0..n-1 */
    float *exemplar;  /* (r, h), or NULL */
    int32_t *exemplar_class;
    double low[2], high[2]; /* of the drawn outputs */
    cli_page_history history;
    bool words; /* of the inputs of a sample few are not 0 */
} view;

/* The part that a row counted through all of them is in; *row becomes its row there. */
const view_part *view_part_of(const view *v, int64_t *row);
/* The same of point i. */
const view_part *view_point(const view *v, int64_t i, int64_t *row);
/* The class of a row, or after the c classes: unlabelled, unknown. */
int32_t view_group_of(const view *v, int64_t row);
/* Point i of those that are played: they lie evenly along those that are shown. */
int64_t view_played_point(const view *v, int64_t i);

/* By how much pictures are made smaller for the page, a whole number. */
int64_t view_shrink(const enhope_dataset_info *info);
/* 0 or an exit code after a sentence. */
int view_put_samples(const view *v, FILE *out);
int view_put_page(const view *v, const cli_options *options, FILE *out);

#endif
