/* Folds of cross-validation: every class is divided evenly, and samples of a group stay
 * together.
 *
 * Without groups, the samples of a class are dealt to the folds in a seeded order; each class
 * begins at the fold where the one before ended, so that the folds have equal sizes. With
 * groups, the largest group comes first, and each goes to the fold that has the fewest samples
 * of its classes. */
#include <string.h>

#include "data/data.h"

/* Lists the rows of each key 0..keys-1 in the order given; start (keys + 1). Rows with the key -1
 * are left out. */
static void list_by_key(const int64_t *key, int64_t n, int64_t keys, const int64_t *order, int64_t *start,
                        int64_t *rows)
{
    memset(start, 0, (size_t)(keys + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++)
        if (key[i] >= 0 && key[i] + 2 <= keys) start[key[i] + 2]++;
    for (int64_t k = 2; k <= keys; k++) start[k] += start[k - 1];
    for (int64_t i = 0; i < n; i++)
        if (key[order[i]] >= 0) rows[start[key[order[i]] + 1]++] = order[i];
}

/* ---- groups ---- */

typedef struct grouping {
    int32_t folds, c;
    const int32_t *label; /* (n) */
    int64_t *start;       /* (groups + 1) */
    int64_t *rows;        /* (n) rows of each group */
    int64_t *total;       /* (c) samples of each class */
    int64_t *have;        /* (folds, c) samples of each class in each fold */
    int64_t *count;       /* (c) of the group at hand */
    int64_t *size;        /* (folds) */
} grouping;

/* Increase of the sum over folds and classes of have^2 / total if the group joins fold f. It is
 * least for the fold that lacks the classes of the group most. */
static double cost_of(const grouping *g, int64_t group, int32_t f)
{
    double cost = 0;
    for (int64_t t = g->start[group]; t < g->start[group + 1]; t++) {
        const int32_t k = g->label[g->rows[t]];
        cost += (double)(2 * g->have[(int64_t)f * g->c + k] + g->count[k]) / (double)g->total[k];
    }
    return cost;
}

static void place_group(const grouping *g, int64_t group, int32_t *fold)
{
    int32_t best = 0;
    double lowest = 0;
    for (int64_t t = g->start[group]; t < g->start[group + 1]; t++) g->count[g->label[g->rows[t]]]++;
    for (int32_t f = 0; f < g->folds; f++) {
        const double cost = cost_of(g, group, f);
        if (f == 0 || cost < lowest || (cost == lowest && g->size[f] < g->size[best])) best = f, lowest = cost;
    }
    for (int64_t t = g->start[group]; t < g->start[group + 1]; t++) {
        const int64_t row = g->rows[t];
        fold[row] = best;
        g->size[best]++;
        g->have[(int64_t)best * g->c + g->label[row]]++;
        g->count[g->label[row]] = 0;
    }
}

/* Places the groups, the largest first; equal ones in the seeded order. */
static enhope_status place_groups(enhope_context *ctx, const grouping *g, int64_t groups, const int64_t *order,
                                  int64_t n, int32_t *fold)
{
    enhope_status status;
    int64_t *rank = NULL, *start = NULL, *sorted = NULL, found = 0; /* (groups), (n + 2), (groups) */
    EH_CHECK(eh_new(ctx, "groups", groups, sizeof *rank, (void **)&rank));
    EH_CHECK(eh_new(ctx, "groups", n + 2, sizeof *start, (void **)&start));
    EH_CHECK(eh_new(ctx, "groups", groups, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < groups; i++) {
        const int64_t size = g->start[i + 1] - g->start[i];
        rank[i] = size ? n - size : -1; /* groups of unlabeled samples are not placed */
        found += size > 0;
    }
    list_by_key(rank, groups, n + 1, order, start, sorted);
    if (found < g->folds)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%lld groups are too few for %d folds; use fewer folds",
                         (long long)found, g->folds));
    for (int64_t i = 0; i < found; i++) place_group(g, sorted[i], fold);
cleanup:
    eh_free(rank);
    eh_free(start);
    eh_free(sorted);
    return status;
}

static enhope_status fold_groups(enhope_context *ctx, const enhope_dataset *data, int32_t folds, uint64_t seed,
                                 const int64_t *group, int64_t groups, int32_t *fold)
{
    enhope_status status;
    const int64_t n = data->x.n;
    grouping g = {.folds = folds, .c = data->c, .label = data->label};
    int64_t *key = NULL, *order = NULL; /* (n), (n or groups) */
    EH_CHECK(eh_new(ctx, "groups", n, sizeof *key, (void **)&key));
    EH_CHECK(eh_new(ctx, "order of samples", eh_max(n, groups), sizeof *order, (void **)&order));
    EH_CHECK(eh_new(ctx, "groups", groups + 1, sizeof *g.start, (void **)&g.start));
    EH_CHECK(eh_new(ctx, "rows of groups", n, sizeof *g.rows, (void **)&g.rows));
    EH_CHECK(eh_new(ctx, "class counts", (int64_t)g.c * (folds + 2) + folds, sizeof *g.have, (void **)&g.have));
    g.total = g.have + (int64_t)g.c * folds;
    g.count = g.total + g.c;
    g.size = g.count + g.c;
    for (int64_t i = 0; i < n; i++) {
        key[i] = data->label[i] >= 0 ? group[i] : -1;
        order[i] = i;
        if (data->label[i] >= 0) g.total[data->label[i]]++;
    }
    list_by_key(key, n, groups, order, g.start, g.rows);
    eh_shuffle(seed, EH_STREAM_FOLDS, 0, groups, order);
    EH_CHECK(place_groups(ctx, &g, groups, order, n, fold));
cleanup:
    eh_free(key);
    eh_free(order);
    eh_free(g.start);
    eh_free(g.rows);
    eh_free(g.have);
    return status;
}

/* ---- samples ---- */

static enhope_status fold_samples(enhope_context *ctx, const enhope_dataset *data, int32_t folds, uint64_t seed,
                                  int32_t *fold)
{
    enhope_status status;
    const int64_t n = data->x.n;
    int64_t *key = NULL, *order = NULL, *start = NULL, *rows = NULL; /* (n), (n), (c + 1), (n) */
    EH_CHECK(eh_new(ctx, "classes", n, sizeof *key, (void **)&key));
    EH_CHECK(eh_new(ctx, "order of samples", n, sizeof *order, (void **)&order));
    EH_CHECK(eh_new(ctx, "classes", (int64_t)data->c + 1, sizeof *start, (void **)&start));
    EH_CHECK(eh_new(ctx, "rows of classes", n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n; i++) key[i] = data->label[i];
    eh_shuffle(seed, EH_STREAM_FOLDS, 0, n, order);
    list_by_key(key, n, data->c, order, start, rows);
    for (int64_t i = 0; i < start[data->c]; i++) fold[rows[i]] = (int32_t)(i % folds);
cleanup:
    eh_free(key);
    eh_free(order);
    eh_free(start);
    eh_free(rows);
    return status;
}

enhope_status enhope_dataset_folds(enhope_context *ctx, const enhope_dataset *data, int32_t folds, int64_t seed,
                                   const int64_t *group, int32_t *fold)
{
    int64_t labeled = 0, groups = 0;
    EH_TRY(eh_dataset_in_memory(ctx, data, "cross-validation"));
    if (!data->label)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "the data has no labels; cross-validation needs a class for each sample");
    for (int64_t i = 0; i < data->x.n; i++) {
        labeled += data->label[i] >= 0;
        if (!group) continue;
        if (group[i] < 0 || group[i] >= data->x.n)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the group of sample %lld is %lld: expected 0 to %lld",
                           (long long)i + 1, (long long)group[i], (long long)data->x.n - 1);
        groups = eh_max(groups, group[i] + 1);
    }
    if (folds < 2 || folds > labeled)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%d folds: expected 2 to %lld, the number of labeled samples", folds,
                       (long long)labeled);
    for (int64_t i = 0; i < data->x.n; i++) fold[i] = -1;
    return group ? fold_groups(ctx, data, folds, (uint64_t)seed, group, groups, fold)
                 : fold_samples(ctx, data, folds, (uint64_t)seed, fold);
}
