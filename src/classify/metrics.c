/* Metrics of a classifier. Undefined values follow scikit-learn: a precision without predictions,
 * a recall without samples and an F1 without both are 0, and classes with neither samples nor
 * predictions are left out of the means. The balanced accuracy is the mean recall of the classes
 * with samples. */
#include <math.h>
#include <stdlib.h>

#include "classify/metrics.h"

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

void eh_metrics_count(const eh_class_counts *count, int32_t c, enhope_class_metrics *row, enhope_metrics *out)
{
    int32_t there = 0, present = 0; /* classes with samples; classes with samples or predictions */
    out->balanced_accuracy = out->precision = out->recall = out->f1 = 0;
    for (int32_t k = 0; k < c; k++) {
        const eh_class_counts *at = &count[k];
        enhope_class_metrics *to = &row[k];
        to->n = at->n;
        to->precision = ratio((double)at->right, (double)at->predicted);
        to->recall = ratio((double)at->right, (double)at->n);
        to->f1 = ratio(2 * (double)at->right, (double)at->n + (double)at->predicted);
        there += at->n > 0;
        present += at->n > 0 || at->predicted > 0;
        out->balanced_accuracy += to->recall;
        out->precision += to->precision;
        out->f1 += to->f1;
    }
    out->recall = ratio(out->balanced_accuracy, present);
    out->balanced_accuracy = ratio(out->balanced_accuracy, there);
    out->precision = ratio(out->precision, present);
    out->f1 = ratio(out->f1, present);
}

static int by_value(const void *a, const void *b)
{
    const float left = ((const eh_score *)a)->value, right = ((const eh_score *)b)->value;
    return (left > right) - (left < right);
}

double eh_auc(eh_score *s, int64_t n)
{
    qsort(s, (size_t)n, sizeof *s, by_value);
    double pairs = 0, below = 0, positives = 0; /* ordered pairs; negatives of lower score; all positives */
    for (int64_t from = 0, to; from < n; from = to) {
        double positive = 0;
        for (to = from; to < n && s[to].value == s[from].value; to++) positive += s[to].positive;
        const double negative = (double)(to - from) - positive;
        pairs += positive * (below + negative / 2);
        below += negative;
        positives += positive;
    }
    return positives > 0 && below > 0 ? pairs / positives / below : NAN;
}

int32_t eh_label_by_cost(const float *p, const float *cost, int32_t c)
{
    int32_t label = 0;
    for (int32_t k = 1; k < c; k++)
        if ((double)p[k] * cost[k] > (double)p[label] * cost[label]) label = k;
    return label;
}

void enhope_labels_by_cost(const float *proba, int64_t n, int32_t c, const float *cost, int32_t *label)
{
    for (int64_t i = 0; i < n; i++) label[i] = eh_label_by_cost(proba + i * c, cost, c);
}
