/* Similarities of two points at the squared distance d, by their energy e = -log w, once for all:
 *
 *   gaussian                   w = exp(-d)                        e = d                             k = de/dd = 1
 *   student of freedom nu      w = (1 + d / nu)^(-(nu + 1) / 2)   e = (nu + 1) / 2 log(1 + d / nu)
 *                                                                 k = (nu + 1) / (2 nu) / (1 + d / nu)
 *
 * With nu = 1 the student's w is k, 1 / (1 + d), which needs no logarithm and is never out of range. Every other similarity
 * is known by its energy, since w itself may be too small for any number. */
#ifndef EH_SIMILARITY_H
#define EH_SIMILARITY_H

#include <math.h>
#include <stdbool.h>

/* A freedom of 0 counts as 1: nobody asked for another. */
static inline bool eh_by_energy(bool gaussian, double freedom)
{
    return gaussian || (freedom != 0 && freedom != 1);
}

/* e = half log(1 + d inverse), k = rate / (1 + d inverse). */
typedef struct eh_student {
    double half, inverse, rate;
} eh_student;

static inline eh_student eh_student_of(double freedom)
{
    const double nu = freedom == 0 ? 1 : freedom;
    const eh_student s = {(nu + 1) / 2, 1 / nu, (nu + 1) / (2 * nu)};
    return s;
}

static inline double eh_energy(bool gaussian, double freedom, double d)
{
    const eh_student s = eh_student_of(freedom);
    return gaussian ? d : s.half * log1p(d * s.inverse);
}

static inline double eh_energy_slope(bool gaussian, double freedom, double d)
{
    const eh_student s = eh_student_of(freedom);
    return gaussian ? 1 : s.rate / (1 + d * s.inverse);
}

#endif
