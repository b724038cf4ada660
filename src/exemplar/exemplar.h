/* Where exemplars come from: random training points or k-means centres, class by class (docs/explanation/method.md).
 */
#ifndef EH_EXEMPLAR_H
#define EH_EXEMPLAR_H

#include "compute/compute.h"

/* ---- share.c ---- */

/* Exemplars where nobody says how many: two a class, as far as there are samples. */
int64_t eh_exemplar_usual(int64_t classes, int64_t n);

/* z over the classes in proportion to counts (c) by largest remainders (equal remainders: the lower class), at least
 * one each. share (c) sums to z. Fails when z < number of classes with a positive count. */
enhope_status eh_exemplar_share(enhope_context *ctx, int64_t z, int32_t c, const int64_t *counts, int64_t *share);

/* The labelled ones among given rows, class by class: those of class k are rows[start[k] .. start[k + 1]), in their
 * given order, and its exemplars are first[k] .. first[k + 1]. */
typedef struct eh_exemplar_plan {
    int64_t *rows;
    int64_t *start; /* (c + 1) */
    int64_t *first; /* (c + 1) */
} eh_exemplar_plan;

/* Fails when labels are missing or out of range, as share() does, and when a class has fewer points than its share. */
enhope_status eh_exemplar_plan_create(enhope_context *ctx, const eh_table *t, const int64_t *rows, int64_t n, int32_t c,
                                      int64_t z, eh_exemplar_plan *out);
void eh_exemplar_plan_free(eh_exemplar_plan *plan);
/* label (z) as the plan says. */
void eh_exemplar_plan_labels(const eh_exemplar_plan *plan, int32_t c, int32_t *label);

/* ---- random.c, kmeans.c ---- */

/* E (z, H) host floats in scaled input space, grouped by class ascending, label (z), from the rows rows[0..n) of the
 * table (labelled). Fails when a class has fewer points than its share. */
enhope_status eh_exemplar_random(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label);
enhope_status eh_exemplar_kmeans(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label);
/* The same after at most so many iterations of Lloyd; after 0, a class of several exemplars has its k-means++ start. */
enhope_status eh_exemplar_lloyd(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                int32_t c, int64_t z, uint64_t seed, int64_t iterations, float *E, int32_t *label);

#endif
