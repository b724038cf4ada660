/* How many exemplars each class gets, and which samples it has. */
#include <string.h>

#include "exemplar/exemplar.h"

/* z * count - share * n: what a class lacks of its exact quota z count / n, in units of 1 / n. Products of two 64-bit
 * sizes, hence 128 bits; whole numbers, so that equal remainders are equal. */
__extension__ typedef __int128 wide;

static wide lack(int64_t z, int64_t count, int64_t share, int64_t n)
{
    return (wide)z * count - (wide)share * n;
}

int64_t eh_exemplar_usual(int64_t classes, int64_t n)
{
    return 2 * classes < n ? 2 * classes : n;
}

enhope_status eh_exemplar_share(enhope_context *ctx, int64_t z, int32_t c, const int64_t *counts, int64_t *share)
{
    int64_t classes = 0, n = 0;
    for (int32_t k = 0; k < c; k++) {
        classes += counts[k] > 0;
        n += counts[k];
    }
    if (!classes) return eh_fail(ctx, ENHOPE_ERROR_DATA, "no labelled sample to take exemplars from: expected some");
    if (z < classes)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "z = %lld exemplars for %lld classes: expected at least one for each class", (long long)z,
                       (long long)classes);
    int64_t left = z;
    for (int32_t k = 0; k < c; k++) {
        const int64_t whole = (int64_t)((wide)z * counts[k] / n);
        share[k] = counts[k] && !whole ? 1 : whole;
        left -= share[k];
    }
    for (; left > 0; left--) {
        int32_t to = 0;
        for (int32_t k = 1; k < c; k++)
            if (lack(z, counts[k], share[k], n) > lack(z, counts[to], share[to], n)) to = k;
        share[to]++;
    }
    /* the ones lifted to 1 may have overdrawn: who has most beyond its quota, and another left, gives */
    for (; left < 0; left++) {
        int32_t from = -1;
        for (int32_t k = 0; k < c; k++)
            if (share[k] > 1 && (from < 0 || lack(z, counts[k], share[k], n) <= lack(z, counts[from], share[from], n)))
                from = k;
        share[from]--;
    }
    return ENHOPE_OK;
}

/* Class sizes into counts (c). */
static enhope_status count_classes(enhope_context *ctx, const eh_table *t, const int64_t *rows, int64_t n, int32_t c,
                                   int64_t *counts)
{
    if (!t->label) return eh_fail(ctx, ENHOPE_ERROR_DATA, "exemplars are taken class by class: expected labelled data");
    for (int64_t i = 0; i < n; i++) {
        const int32_t k = t->label[rows[i]];
        if (k >= c)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "row %lld: class number %d: expected 0 to %d, or -1 for none",
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
    for (int32_t k = 0; k < c; k++)
        if (counts[k] < share[k]) {
            status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                             "z = %lld exemplars give class number %d a share of %lld, but it has %lld samples: "
                             "expected a smaller z",
                             (long long)z, k, (long long)share[k], (long long)counts[k]);
            goto cleanup;
        }

    EH_CHECK(eh_new(ctx, "rows by class", n, sizeof *plan.rows, (void **)&plan.rows));
    EH_CHECK(eh_new(ctx, "rows by class", (int64_t)c + 1, sizeof *plan.start, (void **)&plan.start));
    EH_CHECK(eh_new(ctx, "exemplars by class", (int64_t)c + 1, sizeof *plan.first, (void **)&plan.first));
    for (int32_t k = 0; k < c; k++) {
        plan.start[k + 1] = plan.start[k] + counts[k];
        plan.first[k + 1] = plan.first[k] + share[k];
    }
    memcpy(counts, plan.start, (size_t)c * sizeof *counts); /* from here on where the next row of a class goes */
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
