/* The search for a gaussian's bandwidth, once for all backends (the cuda backend compiles it for the device).
 *
 * A row has weights p_j ~ exp(-beta e_j) over its other rows, e_j its squared distances less the smallest of them, so that
 * a weight is 1 and nothing vanishes. Their entropy log sum_j exp(-beta e_j) + beta <e> falls from log of the rows' number
 * at beta = 0, its slope by log beta is -beta^2 var(e): Newton's steps in log beta, held to a bracket. Where more rows share
 * the smallest distance than the perplexity asks for, no beta reaches it: the search ends when these have all the weight. */
#ifndef EH_BANDWIDTH_H
#define EH_BANDWIDTH_H

#include <math.h>
#include <stdbool.h>

#include "base/host_device.h"

/* Over the other rows, with p_j = exp(-beta e_j). */
typedef struct eh_bandwidth_sums {
    double weight, first, second; /* of p, p e, p e^2 */
} eh_bandwidth_sums;

typedef struct eh_bandwidth {
    double beta, low, high; /* the entropy at low is too large, at high too small */
    int steps;
} eh_bandwidth;

/* From the sums at beta = 0. */
EH_HOST_DEVICE static inline eh_bandwidth eh_bandwidth_start(eh_bandwidth_sums s)
{
    /* where all distances are the same, every beta is as good */
    const eh_bandwidth b = {s.first > 0 ? s.weight / s.first : 0, 0, INFINITY, 0};
    return b;
}

/* Whether the beta that is now in b serves; else the sums at that beta are asked for next. goal: of the entropy. */
EH_HOST_DEVICE static inline bool eh_bandwidth_found(eh_bandwidth *b, eh_bandwidth_sums s, double goal)
{
    enum { STEPS = 64, LONGEST = 8 }; /* LONGEST: factor of a step */
    const double NEAR = 1e-5, ALONE = 1e-12;
    const double beta = b->beta, mean = s.first / s.weight, var = s.second / s.weight - mean * mean;
    const double over = log(s.weight) + beta * mean - goal;
    /* nothing but the smallest distance has weight, and still too many have it */
    if (over > 0 && beta * mean < ALONE) return true;
    if (over > 0)
        b->low = beta;
    else
        b->high = beta;
    const double next = beta * exp(over / (beta * beta * var));
    const bool near = fabs(over) <= NEAR; /* and by one more step nearer still */
    if (next > b->low && next < fmin(b->high, LONGEST * beta))
        b->beta = next;
    else if (!near)
        b->beta = b->high < INFINITY ? (b->low + b->high) / 2 : LONGEST * beta;
    return near || ++b->steps == STEPS;
}

#endif
