/* The weights of the pairs of a neighbor problem, from the sums over its rows: the formulas of
 * objective/neighbor.c, shared by all backends (the cuda backend compiles them for the device). */
#ifndef EH_PAIR_WEIGHTS_H
#define EH_PAIR_WEIGHTS_H

#include <math.h>
#include <stdbool.h>

#include "compute/compute.h"
#include "compute/similarity.h"

/* On a device, logarithms and exponentials are computed in float: the code is ten times smaller
 * than in double. */
#ifdef __CUDACC__
#define EH_PAIR_LOG(x) ((double)logf((float)(x)))
#define EH_PAIR_EXP(x) ((double)expf((float)(x)))
#else
#define EH_PAIR_LOG(x) log(x)
#define EH_PAIR_EXP(x) exp(x)
#endif

/* Sums over the pairs of one sample i. */
typedef struct eh_pair_sums {
    double log_all; /* log sum_j w_ij; -inf if the sample has no pair */
    /* Over same-class j: the sum of log w_ij, with nca the log of the sum of w_ij. With
     * target_probs: sum_j p_ij log(w_ij / p_ij). */
    double same;
    double count;  /* number of same-class j; with target_probs sum_j p_ij */
    double spread; /* with smoothing: sum_j share_j log w_ij */
    double weight; /* of the sample; 0 without a label */
} eh_pair_sums;

/* The weight of sample i; 0 without a label. weights NULL: 1. */
EH_HOST_DEVICE static inline double eh_sample_weight(int32_t label, const float *weights, int64_t i)
{
    return label < 0 ? 0 : weights ? (double)weights[i] : 1;
}

/* Sums over all samples, multiplied by their weights. */
typedef struct eh_pair_totals {
    double with_target; /* samples that have a same-class pair */
    double same_pairs;
    double log_Z; /* log of the sum of w_ij over the pairs of all labeled samples */
} eh_pair_totals;

/* The fields of eh_pairs that the weights depend on. */
typedef struct eh_pair_rule {
    bool gaussian, row, nca, indicator;
    double smooth, classes, neg_entropy; /* of eh_smoothing */
} eh_pair_rule;

static inline eh_pair_rule eh_pair_rule_of(const eh_pairs *p)
{
    const eh_pair_rule r = {
        p->gaussian, p->row, p->nca, p->indicator, p->smoothing.part, p->smoothing.classes, p->smoothing.neg_entropy};
    return r;
}

/* The derivative of the loss is dloss/dd_ij = (a_ij - R_i w_ij) k_ij with k of
 * compute/similarity.h. a_ij is A_i for same-class pairs (with nca A_i w_ij), else 0; smoothing
 * adds S_i share_j. For the Gaussian, A_i and R_i are stored as logarithms, because R_i w_ij is
 * of order one while both factors may be out of range. */
typedef struct eh_pair_weight {
    double attract, repel, spread; /* A_i, R_i, S_i */
    double loss;                   /* contribution of the sample */
} eh_pair_weight;

/* sum_j p_j|i log(scale p_j|i) of a sample with `count` same-class pairs, p_j|i = (1 - s) [same
 * class] / count + s share_j. */
EH_HOST_DEVICE static inline double eh_target_neg_entropy(const eh_pair_rule *r, double scale, double count)
{
    if (r->smooth == 0) return EH_PAIR_LOG(scale / count);
    const double others = 1 - 1 / r->classes, own = 1 - r->smooth * others;
    return own * EH_PAIR_LOG(own / count) +
           r->smooth * (r->neg_entropy + EH_PAIR_LOG(r->classes * count) / r->classes) +
           r->smooth * others * EH_PAIR_LOG(r->smooth) + EH_PAIR_LOG(scale);
}

EH_HOST_DEVICE static inline eh_pair_weight eh_pair_weight_of(const eh_pair_rule *r, const eh_pair_totals *all,
                                                              const eh_pair_sums *own)
{
    const bool logs = r->gaussian;
    eh_pair_weight w = {logs ? -INFINITY : 0, logs ? -INFINITY : 0, 0, 0};
    if (own->weight > 0 && own->count > 0) {
        const double weight =
            own->weight * (r->indicator && !r->nca && !r->row ? own->count / all->same_pairs : 1 / all->with_target);
        const double log_norm = r->row ? own->log_all : all->log_Z;
        if (r->nca) {
            w.loss = weight * (log_norm - own->same);
            w.attract = logs ? EH_PAIR_LOG(weight) - own->same : weight * EH_PAIR_EXP(-own->same);
        } else {
            /* p_ij = weight p_j|i; adding sum p log p gives the divergence */
            const double s = r->smooth, share = (1 - s) * weight / own->count;
            const double cross = (1 - s) * (own->same / own->count) + s * own->spread;
            w.loss =
                weight * (log_norm - cross + eh_target_neg_entropy(r, r->row ? 1 : weight / own->weight, own->count));
            w.attract = logs ? EH_PAIR_LOG(share) : share;
            w.spread = s * weight;
        }
        if (r->row) w.repel = logs ? EH_PAIR_LOG(weight) - log_norm : weight * EH_PAIR_EXP(-log_norm);
    }
    if (!r->row && own->weight > 0 && all->with_target > 0)
        w.repel = logs ? EH_PAIR_LOG(own->weight) - all->log_Z : own->weight * EH_PAIR_EXP(-all->log_Z);
    return w;
}

/* The same with target_probs: a_ij is p_ij. P is divided by its sum over all pairs or over the
 * row. */
EH_HOST_DEVICE static inline eh_pair_weight eh_target_probs_weight_of(const eh_pair_rule *r, const eh_pair_totals *all,
                                                                      const eh_pair_sums *own)
{
    eh_pair_weight w = {0, r->gaussian ? -INFINITY : 0, 0, 0};
    const double mass = r->row ? own->count : all->same_pairs, log_norm = r->row ? own->log_all : all->log_Z;
    if (mass <= 0) return w;
    w.repel = r->gaussian ? EH_PAIR_LOG(mass) - log_norm : mass * EH_PAIR_EXP(-log_norm);
    w.loss = own->count * (log_norm - EH_PAIR_LOG(mass)) - own->same;
    return w;
}

#endif
