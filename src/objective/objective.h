/* The objectives: embeddings and labels in, a loss and its gradient out. */
#ifndef EH_OBJECTIVE_H
#define EH_OBJECTIVE_H

#include "compute/compute.h"

/* ---- neighbour.c ---- */

typedef struct eh_neighbour {
    bool gaussian;  /* else student */
    double freedom; /* nu of the student similarity; 0 counts as 1 */
    bool row;       /* else joint */
    bool nca;       /* else MCML */
    bool self;      /* compared with the batch itself, else with exemplars */
    bool indicator; /* MCML joint: every same-class pair weighs the same (the paper's indicator form); else every
                       sample does */
    const eh_real
        *P; /* (n, z) the target itself, symmetric with self: labels are not read, nca and indicator not asked;
                         NULL: by class */
} eh_neighbour;

/* The loss of Y (n, h) against G (z, h), left in *loss, and dY (n, h), dG (z, h). With self pass G = Y, z = n,
 * other_label = label and dG NULL. The loss is NaN where the embedding is not finite. All on the backend. */
void eh_neighbour_loss(const eh_neighbour *o, eh_compute *cp, int64_t n, int64_t z, int64_t h, const eh_real *Y,
                       const eh_label *label, const eh_real *G, const eh_label *other_label, eh_scalar *loss,
                       eh_real *dY, eh_real *dG);

/* ---- hinge.c ---- */

typedef struct eh_hinge {
    int64_t targets; /* of each sample */
    double push;     /* mu: the weight of impostors against targets */
    int64_t all;     /* samples that batches are drawn from */
} eh_hinge;

/* The loss of a batch of n samples, the first rows of Y (n + n targets, h), whose targets follow them: those of sample i are
 * rows n + i targets and on; a target whose label is negative is none. Left in *loss, and dY (n + n targets, h). */
void eh_hinge_loss(const eh_hinge *o, eh_compute *cp, int64_t n, int64_t h, const eh_real *Y, const eh_label *label,
                   eh_scalar *loss, eh_real *dY);

#endif
