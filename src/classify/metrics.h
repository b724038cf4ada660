/* Metrics of a classifier beside its error: precision, recall, F1 and the area under the ROC curve
 * of each class, their means, and labels that consider costs. */
#ifndef EH_METRICS_H
#define EH_METRICS_H

#include "base/base.h"

/* Counts of one class. */
typedef struct eh_class_counts {
    int64_t n;         /* samples of the class */
    int64_t predicted; /* samples of any class, also unknown ones, that get its label */
    int64_t right;     /* samples of the class that get its label */
} eh_class_counts;

/* Fills precision, recall and F1 of the classes and all means but auc. row (c) is scratch if the
 * caller of the library did not provide one. */
void eh_metrics_count(const eh_class_counts *count, int32_t c, enhope_class_metrics *row, enhope_metrics *out);

typedef struct eh_score {
    float value; /* larger: more likely of the class */
    bool positive;
} eh_score;
/* The area under the ROC curve: the probability that a positive sample has a larger score than a
 * negative one, equal scores counting half. NaN without positives or without negatives. Sorts
 * s (n). */
double eh_auc(eh_score *s, int64_t n);

/* The class of largest p_k * cost_k. p, cost (c). The first of equal ones. */
int32_t eh_label_by_cost(const float *p, const float *cost, int32_t c);

#endif
