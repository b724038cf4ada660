/* The search for the bandwidth of a Gaussian, shared by all backends (the cuda backend compiles
 * it for the device).
 *
 * A row gives the other rows the weights p_j ~ exp(-beta e_j), e_j the squared distance minus
 * the smallest distance of the row. The nearest row then has weight 1, and the sum cannot
 * underflow. The entropy log sum_j exp(-beta e_j) + beta <e> decreases from log(number of rows)
 * at beta = 0. Its derivative by log beta is -beta^2 var(e). The search makes Newton steps in
 * log beta within a bracket. If more rows share the smallest distance than the perplexity
 * allows, no beta reaches the goal, and the search ends when these rows have all the weight. */
#ifndef EH_BANDWIDTH_H
#define EH_BANDWIDTH_H

#include <math.h>
#include <stdbool.h>

#include "base/host_device.h"

/* Sums over the other rows with p_j = exp(-beta e_j). */
typedef struct eh_bandwidth_sums {
    double weight, first, second; /* of p, p e, p e^2 */
} eh_bandwidth_sums;

typedef struct eh_bandwidth {
    double beta, low, high; /* the entropy is too large at low and too small at high */
    int steps;
} eh_bandwidth;

/* Starts from the sums at beta = 0. */
EH_HOST_DEVICE static inline eh_bandwidth eh_bandwidth_start(eh_bandwidth_sums s)
{
    /* if all distances are equal, any beta serves */
    const eh_bandwidth b = {s.first > 0 ? s.weight / s.first : 0, 0, INFINITY, 0};
    return b;
}

/* Updates b from the sums at b->beta. Returns true if the new b->beta is final; otherwise the
 * caller computes the sums at it and calls again. goal: the entropy to reach. */
EH_HOST_DEVICE static inline bool eh_bandwidth_found(eh_bandwidth *b, eh_bandwidth_sums s, double goal)
{
    enum { STEPS = 64, LONGEST = 8 }; /* LONGEST: largest factor of a step */
    const double NEAR = 1e-5, ALONE = 1e-12;
    const double beta = b->beta, mean = s.first / s.weight, var = s.second / s.weight - mean * mean;
    const double over = log(s.weight) + beta * mean - goal;
    /* all weight is on the smallest distance, and the entropy is still too large */
    if (over > 0 && beta * mean < ALONE) return true;
    if (over > 0)
        b->low = beta;
    else
        b->high = beta;
    const double next = beta * exp(over / (beta * beta * var));
    const bool near = fabs(over) <= NEAR; /* one more step improves it further */
    if (next > b->low && next < fmin(b->high, LONGEST * beta))
        b->beta = next;
    else if (!near)
        b->beta = b->high < INFINITY ? (b->low + b->high) / 2 : LONGEST * beta;
    return near || ++b->steps == STEPS;
}

#endif
