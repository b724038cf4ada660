/* Number of exemplars of each class, and grouping of rows by class. */
#include <string.h>

#include "exemplar/exemplar.h"

int64_t eh_exemplar_default_count(int64_t per_class, int32_t c, const int64_t *counts)
{
    int64_t z = 0;
    for (int32_t k = 0; k < c; k++) z += eh_min(per_class, counts[k]);
    return z;
}

/* The class that gets the next exemplar: fewest exemplars per class first, then the most samples,
 * then the lower number; -1: every sample is an exemplar. */
static int32_t next_class(int32_t c, const int64_t *counts, const int64_t *share)
{
    int32_t to = -1;
    for (int32_t k = 0; k < c; k++)
        if (share[k] < counts[k] &&
            (to < 0 || share[k] < share[to] || (share[k] == share[to] && counts[k] > counts[to])))
            to = k;
    return to;
}

enhope_status eh_exemplar_share(enhope_context *ctx, int64_t z, int32_t c, const int64_t *counts, int64_t *share)
{
    int64_t classes = 0, n = 0;
    for (int32_t k = 0; k < c; k++) {
        classes += counts[k] > 0;
        n += counts[k];
    }
    if (!classes)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "exemplars need labeled samples, but no sample has a label; add labels");
    if (z < classes)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "%lld exemplars for %lld classes: expected at least one for each class; raise n_exemplars",
                       (long long)z, (long long)classes);
    if (z > n)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%lld exemplars for %lld samples: lower n_exemplars", (long long)z,
                       (long long)n);
    int64_t left = z;
    for (int32_t k = 0; k < c; k++) left -= share[k] = eh_min(z / classes, counts[k]);
    /* a class that is smaller than its share leaves exemplars to the others */
    for (; left > 0; left--) share[next_class(c, counts, share)]++;
    return ENHOPE_OK;
}

/* Counts the samples of each class into counts (c). */
static enhope_status count_classes(enhope_context *ctx, const eh_table *t, const int64_t *rows, int64_t n, int32_t c,
                                   int64_t *counts)
{
    if (!t->label)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "exemplars need class labels, but the data has none; add labels");
    for (int64_t i = 0; i < n; i++) {
        const int32_t k = t->label[rows[i]];
        if (k >= c)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "row %lld: class number %d: expected 0 to %d, or -1 for no label",
                           (long long)rows[i] + 1, k, c - 1);
        if (k >= 0) counts[k]++;
    }
    return ENHOPE_OK;
}

enhope_status eh_exemplar_plan_create(enhope_context *ctx, const eh_table *t, const int64_t *rows, int64_t n, int32_t c,
                                      int64_t z, eh_exemplar_plan *out)
{
    enhope_status status;
    eh_exemplar_plan plan = {0};
    int64_t *counts = NULL, *share = NULL; /* (c) */
    EH_CHECK(eh_new(ctx, "class sizes", c, sizeof *counts, (void **)&counts));
    EH_CHECK(eh_new(ctx, "class sizes", c, sizeof *share, (void **)&share));
    EH_CHECK(count_classes(ctx, t, rows, n, c, counts));
    EH_CHECK(eh_exemplar_share(ctx, z, c, counts, share));
    EH_CHECK(eh_new(ctx, "rows by class", n, sizeof *plan.rows, (void **)&plan.rows));
    EH_CHECK(eh_new(ctx, "rows by class", (int64_t)c + 1, sizeof *plan.start, (void **)&plan.start));
    EH_CHECK(eh_new(ctx, "exemplars by class", (int64_t)c + 1, sizeof *plan.first, (void **)&plan.first));
    for (int32_t k = 0; k < c; k++) {
        plan.start[k + 1] = plan.start[k] + counts[k];
        plan.first[k + 1] = plan.first[k] + share[k];
    }
    memcpy(counts, plan.start,
           (size_t)c * sizeof *counts); /* from here on: the position of the next row of each class */
    for (int64_t i = 0; i < n; i++) {
        const int32_t k = t->label[rows[i]];
        if (k >= 0) plan.rows[counts[k]++] = rows[i];
    }
    *out = plan;
    memset(&plan, 0, sizeof plan);
    status = ENHOPE_OK;
cleanup:
    eh_free(counts);
    eh_free(share);
    eh_exemplar_plan_free(&plan);
    return status;
}

void eh_exemplar_plan_free(eh_exemplar_plan *plan)
{
    eh_free(plan->rows);
    eh_free(plan->start);
    eh_free(plan->first);
    memset(plan, 0, sizeof *plan);
}

void eh_exemplar_plan_labels(const eh_exemplar_plan *plan, int32_t c, int32_t *label)
{
    for (int32_t k = 0; k < c; k++)
        for (int64_t j = plan->first[k]; j < plan->first[k + 1]; j++) label[j] = k;
}
