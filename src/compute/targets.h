/* The target of a batch by its classes, a row at a time, once for the backends that compute in float; compute.h has the
 * formula. All entries of a row are made of three numbers: what every compared point gets, what those of the sample's own
 * class get besides, and what those of its partner's class get. */
#ifndef EH_TARGETS_H
#define EH_TARGETS_H

#include <stdbool.h>

#include "base/both.h"

typedef struct eh_target_row {
    float every, own, partner;
} eh_target_row;

/* weight, other: of the sample and its partner, 0 where it has no target; part: the partner's. */
EH_BOTH static inline eh_target_row eh_target_row_of(double weight, double other, double part, double smooth,
                                                     double classes)
{
    const double mine = (1 - part) * weight, theirs = part * other;
    eh_target_row r;
    r.every = (float)((mine + theirs) * smooth / classes);
    r.own = (float)((1 - smooth) * mine);
    r.partner = (float)((1 - smooth) * theirs);
    return r;
}

/* Of a compared point, before the target is made one of sum 1. */
EH_BOTH static inline float eh_target_entry(eh_target_row r, bool own, bool partner, float crowd)
{
    return (r.every + (own ? r.own : 0) + (partner ? r.partner : 0)) / crowd;
}

#endif
