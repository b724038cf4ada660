/* Similarities w of two points at the squared distance d, and k = -dlog w/dd:
 *
 *   gaussian                   w = exp(-d)      k = 1
 *   student, nu = 1, 3, 5 ...  w = u^p          k = rate u
 *                              u = 1 / (1 + d / nu), p = (nu + 1) / 2, rate = p / nu
 *
 * The degrees of freedom nu are odd, so p is an integer. The w of a Gaussian may underflow and
 * is therefore represented by its logarithm. */
#ifndef EH_SIMILARITY_H
#define EH_SIMILARITY_H

#include <stdbool.h>

#include "base/host_device.h"

typedef struct eh_student {
    int power;            /* p */
    double inverse, rate; /* 1 / nu, p / nu */
} eh_student;

/* dof 0 counts as 1. */
static inline eh_student eh_student_of(int dof)
{
    const double nu = dof ? dof : 1;
    const eh_student s = {dof ? (dof + 1) / 2 : 1, 1 / nu, (nu + 1) / (2 * nu)};
    return s;
}

/* u^power, power >= 1. */
EH_HOST_DEVICE static inline float eh_similarity_power(float u, int power)
{
    float w = u;
    for (int i = 1; i < power; i++) w *= u;
    return w;
}

#endif
