/* Pruning: weights, or whole factors and hidden units, of least saliency become 0 and stay 0. */
#include <stdlib.h>

#include "train/compress/weights.h"

/* The saliency of a weight. Pruned weights have the least, also if no squared gradient is known. */
static double saliency(const eh_weights *w, int64_t at)
{
    const double weight = (double)w->theta[at];
    return weight * weight * ((double)w->square[at] + 1e-30);
}

static void clear(eh_weights *w, int64_t at)
{
    w->theta[at] = 0;
    w->mask[at] = 0;
}

int64_t eh_prune_alive(const eh_weights *w)
{
    int64_t count = 0;
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++)
        for (int64_t j = 0; j < w->matrix[i].rows * w->matrix[i].columns; j++)
            count += w->theta[w->matrix[i].at + j] != 0;
    return count;
}

typedef struct ranked {
    double saliency;
    int64_t at;
} ranked;

static int by_saliency(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->saliency != y->saliency) return x->saliency < y->saliency ? 1 : -1;
    return x->at < y->at ? -1 : 1;
}

enhope_status eh_prune_weights(eh_weights *w, int64_t keep)
{
    ranked *order = NULL;
    int64_t count = 0;
    EH_TRY(eh_new(w->t->ctx, "weights", w->count, sizeof *order, (void **)&order));
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++)
        for (int64_t j = 0; j < w->matrix[i].rows * w->matrix[i].columns; j++) {
            const int64_t at = w->matrix[i].at + j;
            order[count++] = (ranked){saliency(w, at), at};
        }
    qsort(order, (size_t)count, sizeof *order, by_saliency);
    for (int64_t i = keep; i < count; i++) clear(w, order[i].at);
    eh_free(order);
    return ENHOPE_OK;
}

/* Marks in pruned (count) all but the `keep` units of largest saliency. unit: their saliency. */
static enhope_status rank_units(enhope_context *ctx, const double *unit, int64_t count, int64_t keep, bool *pruned)
{
    ranked *order = NULL;
    EH_TRY(eh_new(ctx, "units", count, sizeof *order, (void **)&order));
    for (int64_t i = 0; i < count; i++) order[i] = (ranked){unit[i], i};
    qsort(order, (size_t)count, sizeof *order, by_saliency);
    for (int64_t i = keep; i < count; i++) pruned[order[i].at] = true;
    eh_free(order);
    return ENHOPE_OK;
}

enhope_status eh_prune_units(eh_weights *w, int64_t factors, int64_t hidden)
{
    const eh_weight_matrix *C = &w->matrix[EH_WEIGHTS_C], *W = &w->matrix[EH_WEIGHTS_W];
    const int64_t F = W->rows, m = W->columns;
    enhope_context *ctx = w->t->ctx;
    double *unit = NULL; /* (F + m) factors, then hidden units */
    bool *pruned = NULL; /* likewise */
    enhope_status status;
    EH_CHECK(eh_new(ctx, "units", F + m, sizeof *unit, (void **)&unit));
    EH_CHECK(eh_new(ctx, "units", F + m, sizeof *pruned, (void **)&pruned));
    for (int64_t f = 0; f < F; f++)
        for (int64_t j = 0; j < m; j++) {
            const double s = saliency(w, W->at + f * m + j);
            unit[f] += s;
            unit[F + j] += s;
        }
    EH_CHECK(rank_units(ctx, unit, F, factors, pruned));
    EH_CHECK(rank_units(ctx, unit + F, m, hidden, pruned + F));
    for (int64_t f = 0; f < F; f++) {
        for (int64_t j = 0; j < m; j++)
            if (pruned[f] || pruned[F + j]) clear(w, W->at + f * m + j);
        for (int64_t k = 0; k < C->rows && pruned[f]; k++) clear(w, C->at + k * F + f);
    }
cleanup:
    eh_free(unit);
    eh_free(pruned);
    return status;
}
