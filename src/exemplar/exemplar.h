/* Initial exemplars: random training samples or k-means centers, class by class
 * (docs/explanation/method.md). */
#ifndef EH_EXEMPLAR_H
#define EH_EXEMPLAR_H

#include "compute/compute.h"

/* ---- share.c ---- */

/* Number of exemplars if every class gets per_class of them, or one per sample if it has fewer.
 * counts (c): samples of each class. */
int64_t eh_exemplar_default_count(int64_t per_class, int32_t c, const int64_t *counts);

/* Distributes z exemplars evenly over the classes with a positive count; the remainder goes to the
 * largest classes. No class gets more exemplars than it has samples. share (c) sums to z.
 * Fails if z is below the number of these classes or above the number of samples. */
enhope_status eh_exemplar_share(enhope_context *ctx, int64_t z, int32_t c, const int64_t *counts, int64_t *share);

/* The labeled rows, grouped by class: class k has rows[start[k] .. start[k + 1]), in their original
 * order, and the exemplars first[k] .. first[k + 1]. */
typedef struct eh_exemplar_plan {
    int64_t *rows;
    int64_t *start; /* (c + 1) */
    int64_t *first; /* (c + 1) */
} eh_exemplar_plan;

/* Fails if labels are missing or out of range, or if eh_exemplar_share fails. */
enhope_status eh_exemplar_plan_create(enhope_context *ctx, const eh_table *t, const int64_t *rows, int64_t n, int32_t c,
                                      int64_t z, eh_exemplar_plan *out);
void eh_exemplar_plan_free(eh_exemplar_plan *plan);
/* Writes the class of each exemplar to label (z). */
void eh_exemplar_plan_labels(const eh_exemplar_plan *plan, int32_t c, int32_t *label);

/* ---- random.c, kmeans.c ---- */

/* Writes z exemplars, grouped by ascending class: E (z, H) as host floats in scaled input space,
 * and label (z). They come from the labeled rows rows[0..n) of the table. k-means uses the weights
 * of the table. Fails if a class has fewer samples than exemplars. */
enhope_status eh_exemplar_random(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label);
enhope_status eh_exemplar_kmeans(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label);
/* As eh_exemplar_kmeans, with at most `iterations` of Lloyd; 0 gives the k-means++ start of classes
 * with several exemplars. */
enhope_status eh_exemplar_lloyd(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                int32_t c, int64_t z, uint64_t seed, int64_t iterations, float *E, int32_t *label);

#endif
