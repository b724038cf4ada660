/* The objectives: a loss and its gradient from embeddings and labels. */
#ifndef EH_OBJECTIVE_H
#define EH_OBJECTIVE_H

#include "compute/compute.h"

/* neighbor.c: computes the loss of Y (n, h) against G (z, h) and its gradients dY (n, h) and dG
 * (z, h). With self, G = Y, z = n, other_label = label, and dG is NULL. The loss is NaN if the
 * embedding is not finite. All arrays are in the backend's memory. */
void eh_neighbor_loss(const eh_pairs *p, eh_compute *c, eh_loss *loss, eh_real *dY, eh_real *dG);

/* Sets P (n, z), the targets of a batch in which some samples have no label (see own_targets in
 * compute.h). */
void eh_neighbor_targets(const eh_pairs *p, eh_compute *c, double unlabeled, eh_real *P);

/* ---- hinge.c ---- */

typedef struct eh_hinge {
    int64_t targets; /* of each sample */
    int64_t all;     /* number of samples that batches are drawn from */
} eh_hinge;

/* Computes the loss of a batch of n samples and its gradient dY. Y and dY are (n + n targets,
 * h): first the samples, then the targets, those of sample i from row n + i targets on. A
 * negative label marks a target that is absent. */
void eh_hinge_loss(const eh_hinge *o, eh_compute *c, int64_t n, int64_t h, const eh_real *Y, const eh_label *label,
                   eh_loss *loss, eh_real *dY);
/* The same with explicit weights of pull and push. */
void eh_triples_loss(const eh_triples *p, eh_compute *c, eh_loss *loss, eh_real *dY);

#endif
