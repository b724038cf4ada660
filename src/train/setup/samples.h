/* The rows of training: training samples and the validation part. */
#ifndef EH_SAMPLES_H
#define EH_SAMPLES_H

#include "compute/compute.h"
#include "data/data.h"

typedef struct eh_samples {
    const eh_matrix *x;   /* the data, or the block of memory that holds its windows */
    const int32_t *label; /* of the rows of x */
    int64_t n;            /* training samples of an epoch */
    int64_t resident_n;   /* training samples that are always in x: all n, or a sample of streamed data */
    int64_t valid_n;      /* samples of the validation part */
    int64_t *rows;        /* (resident_n + valid_n) rows of x in a seeded order, the validation part last */
    eh_row *placed_rows;  /* the same on the backend */
    int64_t *unlabeled;   /* (unlabeled_n) rows of x without a label that take part in training */
    int64_t unlabeled_n;
    int32_t classes;         /* c */
    int32_t present;         /* classes that have samples */
    int64_t *class_n;        /* (c) training samples of each class ... */
    int64_t *class_resident; /* (c) ... and those of them that are resident */
    const float *weight;     /* of the rows of x; NULL: 1 */
    float *class_weight;     /* (c) NULL: 1 */
    int64_t *error_weight;   /* (valid_n) what an error of each validation sample counts; NULL: 1 */
    int64_t error_total;     /* the sum of error_weight */
} eh_samples;

typedef struct eh_samples_settings {
    uint64_t seed;
    double valid;   /* fraction of the samples that becomes the validation part */
    bool one_class; /* a single class is enough: a model brings exemplars of others */
    bool unlabeled; /* samples without a label take part */
} eh_samples_settings;

/* Splits data that is in memory. */
enhope_status eh_samples_create(enhope_context *ctx, const enhope_dataset *data, const eh_samples_settings *s,
                                eh_samples *out);
/* Shared by eh_samples_create and windows. eh_samples_init allocates the class counts.
 * eh_samples_check fails if the counted samples are too few to train on, and sets `present`. */
enhope_status eh_samples_init(enhope_context *ctx, const enhope_dataset *data, eh_samples *out);
enhope_status eh_samples_check(enhope_context *ctx, const enhope_dataset *data, const int64_t *counts, bool one_class,
                               eh_samples *out);
/* Sets error_weight: errors count with the weights of their samples. balanced: all classes get the
 * same share instead of the weight of their class. */
enhope_status eh_samples_weight_errors(enhope_context *ctx, eh_samples *s, bool balanced);
/* Lists the rows of all samples that take part in training: (n + unlabeled_n), those with a label
 * first. */
enhope_status eh_samples_list(enhope_context *ctx, const eh_samples *s, int64_t **rows);
/* Sends the row numbers to the backend. */
enhope_status eh_samples_place(enhope_context *ctx, eh_compute *cp, eh_samples *s);
void eh_samples_free(eh_compute *cp, eh_samples *s); /* s may be zeroed; cp NULL: the rows were not placed */

/* Whether rows have different weights. */
static inline bool eh_samples_weighted(const eh_samples *s)
{
    return s->weight || s->class_weight;
}
/* The weight of a row of x with a label. Without one (-1), it has no class weight. */
static inline float eh_samples_weight(const eh_samples *s, int64_t row, int32_t label)
{
    return (s->weight ? s->weight[row] : 1) * (s->class_weight && label >= 0 ? s->class_weight[label] : 1);
}

/* The row of x of a sample, at a position in the list of eh_samples_list. */
static inline int64_t eh_samples_row(const eh_samples *s, int64_t position)
{
    return position < s->n ? s->rows[position] : s->unlabeled[position - s->n];
}

/* The class of the training or validation sample at a position of `rows`. */
static inline int32_t eh_samples_class(const eh_samples *s, int64_t position)
{
    return s->label[s->rows[position]];
}

#endif
