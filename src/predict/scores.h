/* Labels and probabilities of evaluated samples, collected for metrics (evaluate.c). */
#ifndef EH_SCORES_H
#define EH_SCORES_H

#include "classify/metrics.h"

typedef struct eh_scores {
    int32_t c;
    eh_class_counts *count; /* (c) */
    int64_t width;          /* probabilities of a sample: c; 0: none */
    float *round;           /* (a round's rows, width) probabilities of the rows of all ranks */
    int64_t *offset;        /* (ranks + 1) offsets of each rank's probabilities, in bytes */
    float *p;               /* (labeled, width) */
    int32_t *truth;         /* (labeled) */
    eh_score *score;        /* (labeled) scratch */
} eh_scores;

/* For data of n rows, `labeled` of which have labels, and rounds of `rows` rows. The area under the
 * ROC curve needs all probabilities in memory; it is not computed for more than 2^25 of them. */
enhope_status eh_scores_create(enhope_context *ctx, int32_t c, int64_t n, int64_t labeled, int64_t rows,
                               eh_scores *out);
void eh_scores_free(eh_scores *s);
/* Stores the probabilities p (c) of a row of the round. */
void eh_scores_set(eh_scores *s, int64_t row, const float *p);
/* Exchanges the probabilities of the round's rows between ranks, each of which has set `step`. */
void eh_scores_gather(enhope_context *ctx, eh_scores *s, int64_t step, int64_t rows);
/* Adds sample i of all labeled samples, which is row `row` of the round. truth -1: an unknown
 * class. */
void eh_scores_add(eh_scores *s, int64_t i, int64_t row, int32_t truth, int32_t label);
/* The metrics of the n samples added. row (c): scratch if out has none. */
void eh_scores_metrics(eh_scores *s, int64_t n, enhope_class_metrics *row, enhope_metrics *out);

#endif
