/* The objectives: embeddings and labels in, a loss and its gradient out. */
#ifndef EH_OBJECTIVE_H
#define EH_OBJECTIVE_H

#include "compute/compute.h"

/* neighbour.c: the loss of Y (n, h) against G (z, h), left in *loss, and dY (n, h), dG (z, h). With self G = Y, z = n,
 * other_label = label, and dG is NULL. The loss is NaN where the embedding is not finite. All on the backend. */
void eh_neighbour_loss(const eh_pairs *p, eh_compute *c, eh_loss *loss, eh_real *dY, eh_real *dG);

/* ---- hinge.c ---- */

typedef struct eh_hinge {
    int64_t targets; /* of each sample */
    int64_t all;     /* samples that batches are drawn from */
} eh_hinge;

/* The loss of a batch of n samples, the first rows of Y (n + n targets, h), whose targets follow them: those of sample i are
 * rows n + i targets and on; a target whose label is negative is none. Left in *loss, and dY (n + n targets, h). */
void eh_hinge_loss(const eh_hinge *o, eh_compute *c, int64_t n, int64_t h, const eh_real *Y, const eh_label *label,
                   eh_loss *loss, eh_real *dY);
/* The same with pull and push given. */
void eh_triples_loss(const eh_triples *p, eh_compute *c, eh_loss *loss, eh_real *dY);

#endif
