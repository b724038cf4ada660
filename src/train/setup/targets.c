/* Target neighbors (lmnn): the nearest samples of the same class, in the scaled input space. The
 * backend's exact search finds them once, class by class. */
#include "train/setup/setup.h"

/* Memory of the search, for the largest class. */
typedef struct search {
    int64_t *start;  /* (c + 1) */
    int64_t *member; /* (n) positions of the training rows; those of class k begin at start[k] */
    int64_t *found;  /* (max_n, k) positions in the class; before the search, rows of the class */
    eh_row *rows, *index;
    eh_real *X, *distance;
    int64_t max_n; /* samples of the largest class */
} search;

static int32_t class_of(const enhope_trainer *t, int64_t position)
{
    return eh_samples_class(&t->samples, position);
}

static enhope_status sort_by_class(const enhope_trainer *t, search *s)
{
    const int32_t c = t->data->c;
    EH_TRY(eh_new(t->ctx, "classes", (int64_t)c + 1, sizeof *s->start, (void **)&s->start));
    EH_TRY(eh_new(t->ctx, "classes", t->samples.n, sizeof *s->member, (void **)&s->member));
    for (int64_t i = 0; i < t->samples.n; i++) s->start[class_of(t, i) + 1]++;
    for (int32_t k = 0; k < c; k++) {
        if (s->start[k + 1] > s->max_n) s->max_n = s->start[k + 1];
        s->start[k + 1] += s->start[k];
    }
    /* each start moves to the end of its class, which is the next start, and then back */
    for (int64_t i = 0; i < t->samples.n; i++) s->member[s->start[class_of(t, i)]++] = i;
    for (int32_t k = c; k > 0; k--) s->start[k] = s->start[k - 1];
    s->start[0] = 0;
    return ENHOPE_OK;
}

static enhope_status allocate(enhope_trainer *t, search *s)
{
    eh_compute *c = t->cp;
    const int64_t nearest = s->max_n * (t->batches.targets + 1);
    int64_t numbers;
    if (!eh_mul(s->max_n, t->embedder.shape.H + 1, &numbers))
        return eh_fail_memory(t->ctx, "a class", (size_t)s->max_n, 1);
    EH_TRY(eh_new(t->ctx, "targets", t->samples.n * t->batches.targets, sizeof *t->batches.target,
                  (void **)&t->batches.target));
    EH_TRY(eh_new(t->ctx, "neighbors", nearest, sizeof *s->found, (void **)&s->found));
    EH_TRY(eh_compute_new(c, t->ctx, "rows of a class", s->max_n, sizeof *s->found, &s->rows));
    EH_TRY(eh_compute_new(c, t->ctx, "neighbors", nearest, sizeof *s->found, &s->index));
    EH_TRY(eh_compute_new(c, t->ctx, "distances", nearest, c->op->real_size, &s->distance));
    return eh_compute_new(c, t->ctx, "the samples of a class", numbers, c->op->real_size, &s->X);
}

/* Stores the targets of member i of a class. Its k nearest include itself, unless enough
 * duplicates precede it. */
static void take_targets(enhope_trainer *t, const int64_t *member, int64_t i, const int64_t *nearest, int64_t k)
{
    const int64_t each = t->batches.targets;
    int32_t *to = t->batches.target + member[i] * each;
    int64_t count = 0;
    for (int64_t s = 0; s < k && count < each; s++)
        if (nearest[s] != i) to[count++] = (int32_t)member[nearest[s]];
    while (count < each) to[count++] = (int32_t)(-1 - member[i]);
}

static enhope_status search_class(enhope_trainer *t, const search *s, int32_t class)
{
    eh_compute *c = t->cp;
    const int64_t *member = s->member + s->start[class], n = s->start[class + 1] - s->start[class];
    const int64_t wide = t->embedder.shape.H + 1, k = n < t->batches.targets + 1 ? n : t->batches.targets + 1;
    for (int64_t i = 0; i < n; i++) s->found[i] = t->samples.rows[member[i]];
    c->op->send(c, s->rows, s->found, (size_t)n * sizeof *s->found);
    c->op->gather(c, &t->embedder.table, s->rows, n, s->X, wide, NULL); /* the appended 1 does not change distances */
    c->op->nearest(c, s->X, n, s->X, n, wide, k, s->index, s->distance);
    c->op->fetch(c, s->found, s->index, (size_t)(n * k) * sizeof *s->found);
    EH_TRY(c->op->sync(c, t->ctx));
    for (int64_t i = 0; i < n; i++) take_targets(t, member, i, s->found + i * k, k);
    return ENHOPE_OK;
}

enhope_status eh_setup_targets(enhope_trainer *t)
{
    search s = {0};
    int64_t lacking = 0;
    enhope_status status;
    eh_log(t->ctx, ENHOPE_LOG_INFO, "searching %lld target neighbors for each of %lld samples",
           (long long)t->batches.targets, (long long)t->samples.n);
    EH_CHECK(sort_by_class(t, &s));
    EH_CHECK(allocate(t, &s));
    for (int32_t k = 0; k < t->data->c; k++) {
        const int64_t n = s.start[k + 1] - s.start[k];
        if (n) EH_CHECK(search_class(t, &s, k));
        if (n <= t->batches.targets) lacking += n;
    }
    if (lacking)
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "%lld samples have fewer targets: their classes are too small",
               (long long)lacking);
cleanup:;
    void *const placed[] = {s.rows, s.index, s.X, s.distance};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) t->cp->op->release(t->cp, placed[i]);
    eh_free(s.start), eh_free(s.member), eh_free(s.found);
    return status;
}
