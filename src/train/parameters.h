/* The parameters of training: one vector with the map's parameters and then the exemplars, in
 * several states. The map may have an auxiliary head (batch_loss.h), whose parameters follow those
 * of the map. */
#ifndef EH_PARAMETERS_H
#define EH_PARAMETERS_H

#include "compute/compute.h"

typedef struct eh_parameters {
    eh_compute *cp;
    int64_t map_count;       /* parameters of the map and the head */
    int64_t z, H;            /* exemplars; inputs of each */
    bool learned;            /* exemplars are learned; otherwise they keep their initial values */
    int64_t count;           /* map_count + z H */
    int64_t trained;         /* the first `trained` of these are changed by the optimizer */
    eh_real *theta, *best;   /* (count) the current state; the best state so far */
    eh_real *before;         /* (count) theta before the batch; NULL: the optimizer never stops within a batch */
    eh_real *mask;           /* (trained) 1, or 0 for parameters that keep their values; NULL: all change */
    int32_t *exemplar_label; /* (z) */
} eh_parameters;

/* before: the optimizer may stop within a batch. */
enhope_status eh_parameters_create(enhope_context *ctx, eh_compute *cp, int64_t map_count, int64_t z, int64_t H,
                                   bool learned, bool before, eh_parameters *out);
void eh_parameters_free(eh_parameters *p);

/* The exemplars (z, H) of a state. */
static inline eh_real *eh_parameters_exemplars(const eh_parameters *p, const eh_real *theta)
{
    return eh_at(p->cp, theta, p->map_count);
}
static inline void eh_parameters_copy(const eh_parameters *p, const eh_real *from, eh_real *to)
{
    p->cp->op->copy(p->cp, p->count, from, to);
}

#endif
