/* From the sums over a neighbour problem's rows to the weights of its pairs: the formulas of objective/neighbour.c, once
 * for all backends (the cuda backend compiles them for the device). */
#ifndef EH_PAIR_WEIGHTS_H
#define EH_PAIR_WEIGHTS_H

#include <math.h>
#include <stdbool.h>

#include "base/both.h"
#include "compute/similarity.h"

/* On a device logarithms and exponentials are taken in float, whose code is a tenth of double's. */
#ifdef __CUDACC__
#define EH_PAIR_LOG(x) ((double)logf((float)(x)))
#define EH_PAIR_EXP(x) ((double)expf((float)(x)))
#else
#define EH_PAIR_LOG(x) log(x)
#define EH_PAIR_EXP(x) exp(x)
#endif

/* Of one sample i, over its pairs. */
typedef struct eh_pair_sums {
    double log_all; /* log sum_j w_ij; -inf: it has no pair */
    double same;    /* sum over same-class j of log w_ij; with nca log sum over same-class j of w_ij; where P is given
                       sum_j p_ij log(w_ij / p_ij) */
    double count;   /* same-class j; where P is given sum_j p_ij */
} eh_pair_sums;

/* Over all samples. */
typedef struct eh_pair_totals {
    double with_target; /* samples that have a same-class pair */
    double same_pairs;
    double log_Z; /* log of the sum of w_ij over the pairs of every labelled sample, also one without a target */
} eh_pair_totals;

/* The slope of the loss is dloss/dd_ij = (a_ij - R_i w_ij) k_ij, where a_ij is A_i for same-class pairs (with nca
 * A_i w_ij), else 0, and k is that of compute/similarity.h: w itself for the student of freedom 1, 1 for the gaussian.
 * Where w is known by its energy A_i and R_i are logarithms here, since R_i w_ij is of order one while both factors may
 * be out of range. */
typedef struct eh_pair_weight {
    double attract, repel; /* A_i, R_i */
    double loss;           /* what the sample adds */
} eh_pair_weight;

EH_BOTH static inline eh_pair_weight eh_pair_weight_of(bool logs, bool row, bool nca, bool indicator,
                                                       const eh_pair_totals *all, const eh_pair_sums *own,
                                                       bool labelled)
{
    eh_pair_weight w = {logs ? -INFINITY : 0, logs ? -INFINITY : 0, 0};
    if (own->count > 0) {
        const double weight = indicator && !nca && !row ? own->count / all->same_pairs : 1 / all->with_target;
        const double log_norm = row ? own->log_all : all->log_Z;
        if (nca) {
            w.loss = weight * (log_norm - own->same);
            w.attract = logs ? EH_PAIR_LOG(weight) - own->same : weight * EH_PAIR_EXP(-own->same);
        } else {
            /* p_ij = weight / count; with sum p log p the divergence */
            const double share = weight / own->count;
            w.loss = weight * (log_norm - own->same / own->count + EH_PAIR_LOG(row ? 1 / own->count : share));
            w.attract = logs ? EH_PAIR_LOG(share) : share;
        }
        if (row) w.repel = logs ? EH_PAIR_LOG(weight) - log_norm : weight * EH_PAIR_EXP(-log_norm);
    }
    if (!row && labelled && all->with_target > 0) w.repel = logs ? -all->log_Z : EH_PAIR_EXP(-all->log_Z);
    return w;
}

/* The same where P is given: a_ij is p_ij itself. P is taken relative to its sum, over all pairs or the row. */
EH_BOTH static inline eh_pair_weight eh_given_weight_of(bool logs, bool row, const eh_pair_totals *all,
                                                        const eh_pair_sums *own)
{
    eh_pair_weight w = {0, logs ? -INFINITY : 0, 0};
    const double mass = row ? own->count : all->same_pairs, log_norm = row ? own->log_all : all->log_Z;
    if (mass <= 0) return w;
    w.repel = logs ? EH_PAIR_LOG(mass) - log_norm : mass * EH_PAIR_EXP(-log_norm);
    w.loss = own->count * (log_norm - EH_PAIR_LOG(mass)) - own->same;
    return w;
}

#endif
