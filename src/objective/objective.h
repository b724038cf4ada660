/* The neighbour objectives: embeddings and labels in, a loss and its gradient out. */
#ifndef EH_OBJECTIVE_H
#define EH_OBJECTIVE_H

#include "compute/compute.h"

typedef struct eh_neighbour {
    bool gaussian;  /* else student */
    bool row;       /* else joint */
    bool nca;       /* else MCML */
    bool self;      /* compared with the batch itself, else with exemplars */
    bool indicator; /* MCML joint: every same-class pair weighs the same (the paper's indicator form); else every
                       sample does */
} eh_neighbour;

/* Numbers of host workspace for n samples and c classes. */
int64_t eh_neighbour_work(int64_t n, int32_t c);

/* Loss of Y (n, h) against G (z, h), and dY (n, h), dG (z, h). With self pass G = Y, z = n, other_label = label and
 * dG NULL. c classes. Returns NaN where the embedding is not finite. */
double eh_neighbour_loss(const eh_neighbour *o, eh_compute *cp, int64_t n, int64_t z, int64_t h, int32_t c,
                         const eh_real *Y, const int32_t *label, const eh_real *G, const int32_t *other_label,
                         eh_real *dY, eh_real *dG, double *work);

#endif
