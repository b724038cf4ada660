/* From neighbours to classes: votes and probabilities. */
#ifndef EH_CLASSIFY_H
#define EH_CLASSIFY_H

#include "compute/compute.h"

/* What embedded points are compared with. */
typedef struct eh_references {
    const eh_real *G;     /* (r, h) on the backend */
    const int32_t *label; /* (r) host */
    int64_t r, h;
    int32_t c;
} eh_references;

/* Majority among the k nearest; equal counts: the class of the nearest among the tied. index (k) nearest first; votes
 * (c) scratch, zeroed and left zeroed. */
int32_t eh_vote(const int64_t *index, int64_t k, const int32_t *reference_label, int32_t *votes);

/* Host workspace in bytes for blocks of n points; -1 on overflow. */
int64_t eh_classify_work(int64_t n, int64_t k, int32_t c);
/* Classifies Y (n, h) on the backend. label (n), winner (n), distance (n; Euclidean) and
 * shares (n, c; of the votes) are host, each may be NULL. */
void eh_classify(eh_compute *cp, const eh_references *ref, const eh_real *Y, int64_t n, int64_t k, void *work,
                 int32_t *label, int64_t *winner, float *distance, float *shares);
/* proba (n, c): for each class the sum of 1/(1+d) (gaussian: exp(-d)), d squared distances, over its references, over
 * the sum over all. Y (n, h) and G (r, h) host. sums: (c) scratch. A point that is not finite gets equal shares. */
void eh_probabilities(bool gaussian, const float *G, const int32_t *label, int64_t r, int64_t h, int32_t c,
                      const float *Y, int64_t n, double *sums, float *proba);
enum { EH_NEIGHBOURS = 5 }; /* that vote, where there are enough */
/* Neighbours that vote by default among references grouped by class: 5 (r, where there are fewer); 1 where no class has
 * two references, or where a class might be outvoted on its own ground for want of them. */
int32_t eh_default_neighbours(const int32_t *label, int64_t r);

#endif
