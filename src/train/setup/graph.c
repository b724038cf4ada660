/* The neighbor graph: the nearest samples of each sample, with and without a label, by the
 * backend's exact search, or by an approximate search of many samples. en-tsne trains on it. If
 * most samples have no label, labels and predictions spread over it.
 *
 * Data of many inputs is first projected onto its directions of largest variance, as is usual for
 * t-SNE, unless these keep too little of the variance. The search is then several times as fast. */
#include "compute/cpu/graph_search.h"
#include "solve/solve.h"
#include "train/setup/setup.h"

enum {
    DIRECTIONS = 100,      /* of the projection */
    MAX_INPUTS = 4000,     /* that are projected: the covariance of more takes longer than the search */
    EXACT = 100000,        /* samples that are searched exactly, at most, on a CPU, ... */
    DEVICE_EXACT = 1000000 /* ... and on a GPU */
};
static const double MAX_LOST = 0.2; /* share of the variance that the projection may lose */

/* The samples that are searched, on the backend. */
typedef struct search {
    int64_t dims, n;
    int64_t *rows;       /* (n) rows of the data */
    eh_row *placed_rows; /* (n) the same on the backend */
    eh_real *Z;          /* (n, dims) */
    eh_real *X;          /* (block, ld) */
    eh_real *direction;  /* (H + 1, dims) */
    eh_row *index;       /* (block, k + 1) */
    eh_real *distance;   /* (block, k + 1) */
    int64_t *found;      /* the same as index, on the host */
} search;

static void search_free(eh_compute *c, search *s)
{
    void *const placed[] = {s->placed_rows, s->Z, s->X, s->direction, s->index, s->distance};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) c->op->release(c, placed[i]);
    eh_free(s->found);
    eh_free(s->rows);
}

/* The rows of all samples. */
static enhope_status take_rows(const enhope_trainer *t, search *s)
{
    EH_TRY(eh_samples_list(t->ctx, &t->samples, &s->rows));
    EH_TRY(eh_compute_new(t->cp, t->ctx, "rows of samples", s->n, sizeof *s->rows, &s->placed_rows));
    t->cp->op->send(t->cp, s->placed_rows, s->rows, (size_t)s->n * sizeof *s->rows);
    return ENHOPE_OK;
}

/* Z = the scaled inputs, with the appended 1, which does not change distances. */
static enhope_status take_inputs(enhope_trainer *t, search *s)
{
    eh_compute *c = t->cp;
    int64_t numbers;
    s->dims = t->embedder.shape.H + 1;
    if (!eh_mul(s->n, s->dims, &numbers)) return eh_fail_memory(t->ctx, "the samples", (size_t)s->n, (size_t)s->dims);
    EH_TRY(eh_compute_new(c, t->ctx, "the samples", numbers, c->op->real_size, &s->Z));
    c->op->gather(c, &t->embedder.table, s->placed_rows, s->n, s->Z, s->dims, NULL);
    return ENHOPE_OK;
}

/* Z = the projected inputs, unless too much of the variance is lost. */
static enhope_status project(enhope_trainer *t, search *s)
{
    eh_compute *c = t->cp;
    const int64_t H = t->embedder.shape.H, ld = t->embedder.ld, block = t->embedder.capacity;
    const eh_solve_data d = {.ctx = t->ctx,
                             .cp = c,
                             .table = &t->embedder.table,
                             .rows = s->rows,
                             .placed_rows = s->placed_rows,
                             .n = s->n,
                             .H = H,
                             .h = DIRECTIONS,
                             .block = block,
                             .ld = ld,
                             .method = t->method->info.name,
                             .stop = eh_train_stop,
                             .user = t};
    double lost;
    EH_TRY(eh_compute_new(c, t->ctx, "directions", (H + 1) * DIRECTIONS, c->op->real_size, &s->direction));
    EH_TRY(eh_solve_pca(&d, 0, s->direction, &lost));
    if (lost > MAX_LOST) return ENHOPE_OK;
    s->dims = DIRECTIONS;
    EH_TRY(eh_compute_new(c, t->ctx, "the samples", s->n * s->dims, c->op->real_size, &s->Z));
    EH_TRY(eh_compute_new(c, t->ctx, "a block of samples", eh_min(block, s->n) * ld, c->op->real_size, &s->X));
    for (int64_t from = 0; from < s->n; from += block) {
        const int64_t n = eh_min(block, s->n - from);
        c->op->gather(c, &t->embedder.table, eh_row_at(s->placed_rows, from), n, s->X, ld, NULL);
        c->op->gemm(c, false, false, n, s->dims, H + 1, 1, s->X, ld, s->direction, s->dims, 0,
                    eh_at(c, s->Z, from * s->dims), s->dims);
    }
    eh_log(t->ctx, ENHOPE_LOG_INFO, "neighbors are searched in the %d directions of largest variance (%.1f %%)",
           DIRECTIONS, 100 * (1 - lost));
    return ENHOPE_OK;
}

/* Stores the k nearest of sample i, from the k + 1 found. These include itself, unless enough
 * duplicates precede it. */
static void take_neighbors(int64_t i, const int64_t *found, int64_t k, int32_t *to)
{
    int64_t count = 0;
    for (int64_t j = 0; j <= k && count < k; j++)
        if (found[j] != i) to[count++] = (int32_t)found[j];
}

static enhope_status find(enhope_trainer *t, search *s)
{
    eh_compute *c = t->cp;
    const int64_t k = t->batches.candidates, wide = k + 1, block = eh_min(t->embedder.capacity, s->n);
    EH_TRY(eh_compute_new(c, t->ctx, "neighbors", block * wide, sizeof *s->found, &s->index));
    EH_TRY(eh_compute_new(c, t->ctx, "neighbors", block * wide, c->op->real_size, &s->distance));
    EH_TRY(eh_new(t->ctx, "neighbors", block * wide, sizeof *s->found, (void **)&s->found));
    EH_TRY(eh_new(t->ctx, "neighbors", s->n * k, sizeof *t->batches.target, (void **)&t->batches.target));
    for (int64_t from = 0; from < s->n; from += block) {
        const int64_t n = eh_min(block, s->n - from);
        c->op->nearest(c, eh_at(c, s->Z, from * s->dims), n, s->Z, s->n, s->dims, wide, s->index, s->distance);
        c->op->fetch(c, s->found, s->index, (size_t)(n * wide) * sizeof *s->found);
        EH_TRY(c->op->sync(c, t->ctx));
        for (int64_t i = 0; i < n; i++)
            take_neighbors(from + i, s->found + i * wide, k, t->batches.target + (from + i) * k);
    }
    return ENHOPE_OK;
}

/* The same by approximate search, in host memory. */
static enhope_status find_approximately(enhope_trainer *t, search *s)
{
    const int64_t k = t->batches.candidates, numbers = s->n * s->dims;
    const bool in_place = t->cp->op->host && t->cp->op->real_size == sizeof(float);
    float *Z = (float *)(uintptr_t)s->Z;
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "neighbors", s->n * k, sizeof *t->batches.target, (void **)&t->batches.target));
    if (!in_place) {
        EH_CHECK(eh_new(t->ctx, "the samples", numbers, sizeof *Z, (void **)&Z));
        t->cp->op->read(t->cp, Z, s->Z, numbers);
        EH_CHECK(t->cp->op->sync(t->cp, t->ctx));
    }
    EH_CHECK(eh_graph_search_run(t->ctx,
                                 &(eh_graph_search){.Z = Z,
                                                    .n = s->n,
                                                    .dims = s->dims,
                                                    .k = k,
                                                    .seed = (uint64_t)t->set.random_state,
                                                    .threads = eh_compute_threads(t->ctx)},
                                 t->batches.target));
cleanup:
    if (!in_place && Z != (float *)(uintptr_t)s->Z) eh_free(Z);
    return status;
}

/* Spreads the labels over the graph, if some samples have none and no model predicts them yet. */
static enhope_status spread_labels(enhope_trainer *t, const search *s)
{
    int32_t *label = NULL;
    enhope_status status;
    if (!t->samples.unlabeled_n || t->from || t->batches.epochs < 2) return ENHOPE_OK;
    EH_CHECK(eh_new(t->ctx, "spread labels", s->n, sizeof *label, (void **)&label));
    EH_CHECK(eh_new(t->ctx, "spread labels", s->n, sizeof *t->batches.spread, (void **)&t->batches.spread));
    for (int64_t i = 0; i < s->n; i++) label[i] = t->samples.label[s->rows[i]];
    EH_CHECK(eh_graph_spread(t->ctx,
                             &(eh_graph_labels){.n = s->n,
                                                .k = t->batches.candidates,
                                                .neighbor = t->batches.target,
                                                .label = label,
                                                .classes = t->data->c,
                                                .threads = eh_compute_threads(t->ctx)},
                             t->batches.spread));
cleanup:
    eh_free(label);
    return status;
}

enhope_status eh_setup_graph(enhope_trainer *t)
{
    const int64_t H = t->embedder.shape.H;
    search s = {.n = t->samples.n + t->samples.unlabeled_n};
    enhope_status status;
    eh_log(t->ctx, ENHOPE_LOG_INFO, "searching %lld neighbors of each of %lld samples",
           (long long)t->batches.candidates, (long long)s.n);
    EH_CHECK(take_rows(t, &s));
    if (H > 2 * DIRECTIONS && H <= MAX_INPUTS && s.n > H) EH_CHECK(project(t, &s));
    if (!s.Z) EH_CHECK(take_inputs(t, &s));
    EH_CHECK((s.n > (t->cp->op->host ? EXACT : DEVICE_EXACT) ? find_approximately : find)(t, &s));
    EH_CHECK(spread_labels(t, &s));
cleanup:
    search_free(t->cp, &s);
    return status;
}
