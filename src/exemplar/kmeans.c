/* k-means exemplars: in each class the centres that Lloyd's iterations reach from a k-means++ start.
 *
 * The samples of a class are gathered in blocks, so that memory is bounded for any number of them; a class that fits in
 * one block, the common case, is gathered once. Distances are the backend's. The sums that make the means are held in
 * double on the host and only samples that changed their cluster are subtracted and added; samples are taken in their
 * order, so the result is the same for any number of threads. Rows carry a closing 1 (gather's), which cancels in
 * distances and counts the members of a cluster in its sum. */
#include <string.h>

#include "comm/comm.h"
#include "exemplar/exemplar.h"

enum {
    MOST_ITERATIONS = 100,   /* of Lloyd; a few dozen are the rule */
    BLOCK_NUMBERS = 6 << 20, /* of a block: 24 MB of floats, 8,000 samples of 784 inputs */
    BLOCK_LEAST = 16,        /* rows, however wide */
    RUN = 32,                /* rows read at a time, where they lie in the host's memory ... */
    FAR_RUN = 2048           /* ... and where they do not, and each reading is waited for */
};

typedef struct kmeans {
    eh_compute *cp;
    const eh_table *t;
    int64_t width; /* H + 1 */
    int64_t block;
    eh_row *rows;             /* (n) the samples of the class */
    eh_real *X;               /* (block, H+1) samples */
    eh_real *R;               /* (k, H+1) centres */
    eh_row *found;            /* (block) nearest centre */
    eh_real *found_at;        /* (block) its squared distance */
    int64_t held, held_count; /* the samples that X holds, as numbers in the class: the first, how many */
    int64_t most;             /* rows read at a time */
    float *run;               /* (most, H+1) */
    float *centre;            /* (k, H+1) the centres on the host */
    double *sum;              /* (k, H+1) of each cluster's members */
    int64_t *near;            /* (block) found, on the host */
    float *near_distance;     /* (block) found_at, likewise */
    int64_t *cluster;         /* (n) of each sample; -1: none yet */
    int64_t *last_cluster;    /* (n) an iteration before */
    float *distance;          /* (n) squared, to the nearest centre */
} kmeans;

static void kmeans_free(kmeans *m)
{
    void *const placed[] = {m->rows, m->X, m->R, m->found, m->found_at};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) m->cp->op->release(m->cp, placed[i]);
    eh_free(m->run);
    eh_free(m->centre);
    eh_free(m->sum);
    eh_free(m->near);
    eh_free(m->near_distance);
    eh_free(m->cluster);
    eh_free(m->last_cluster);
    eh_free(m->distance);
}

/* For classes of at most n samples and k exemplars. */
static enhope_status kmeans_create(enhope_context *ctx, eh_compute *cp, const eh_table *t, int64_t n, int64_t k,
                                   kmeans *out)
{
    kmeans m = {.cp = cp, .most = cp->op->host ? RUN : FAR_RUN, .t = t, .width = t->x.H + 1};
    enhope_status status;
    int64_t samples, centres, run;
    m.block = BLOCK_NUMBERS / m.width > BLOCK_LEAST ? BLOCK_NUMBERS / m.width : BLOCK_LEAST;
    if (m.block > n) m.block = n;
    if (m.most > m.block) m.most = m.block;
    if (!eh_mul(m.block, m.width, &samples) || !eh_mul(k, m.width, &centres) || !eh_mul(m.most, m.width, &run))
        return eh_fail_memory(ctx, "k-means", (size_t)m.width, (size_t)k);
    EH_CHECK(eh_compute_new(cp, ctx, "k-means rows", n, sizeof(int64_t), &m.rows));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means samples", samples, cp->op->size, &m.X));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means centres", centres, cp->op->size, &m.R));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means clusters", m.block, sizeof(int64_t), &m.found));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means distances", m.block, cp->op->size, &m.found_at));
    EH_CHECK(eh_new(ctx, "k-means samples", run, sizeof *m.run, (void **)&m.run));
    EH_CHECK(eh_new(ctx, "k-means centres", centres, sizeof *m.centre, (void **)&m.centre));
    EH_CHECK(eh_new(ctx, "k-means sums", centres, sizeof *m.sum, (void **)&m.sum));
    EH_CHECK(eh_new(ctx, "k-means clusters", m.block, sizeof *m.near, (void **)&m.near));
    EH_CHECK(eh_new(ctx, "k-means distances", m.block, sizeof *m.near_distance, (void **)&m.near_distance));
    EH_CHECK(eh_new(ctx, "k-means clusters", n, sizeof *m.cluster, (void **)&m.cluster));
    EH_CHECK(eh_new(ctx, "k-means clusters", n, sizeof *m.last_cluster, (void **)&m.last_cluster));
    EH_CHECK(eh_new(ctx, "k-means distances", n, sizeof *m.distance, (void **)&m.distance));
    *out = m;
    return ENHOPE_OK;
cleanup:
    kmeans_free(&m);
    return status;
}

/* Sample i of the class to X. */
static void take(kmeans *m, int64_t i, eh_real *X)
{
    m->cp->op->gather(m->cp, m->t, eh_row_at(m->rows, i), 1, X, m->width, NULL);
}

/* X = the samples first .. first + count of the class. */
static void hold(kmeans *m, int64_t first, int64_t count)
{
    if (m->held == first && m->held_count == count) return;
    m->cp->op->gather(m->cp, m->t, eh_row_at(m->rows, first), count, m->X, m->width, NULL);
    m->held = first;
    m->held_count = count;
}

/* near and near_distance of the q samples in X, among the k centres at R. */
static void find(kmeans *m, int64_t q, const eh_real *R, int64_t k)
{
    const eh_compute_ops *op = m->cp->op;
    op->nearest(m->cp, m->X, q, R, k, m->width, 1, m->found, m->found_at);
    op->fetch(m->cp, m->near, m->found, (size_t)q * sizeof *m->near);
    op->read(m->cp, m->near_distance, m->found_at, q);
}

static double *sum_of(const kmeans *m, int64_t j)
{
    return m->sum + j * m->width;
}

static double members(const kmeans *m, int64_t j)
{
    return sum_of(m, j)[m->width - 1];
}

static void add(int64_t count, double sign, const float *restrict x, double *restrict sum)
{
    for (int64_t k = 0; k < count; k++) sum[k] += sign * (double)x[k];
}

/* Sample i, whose values are x, goes from its cluster to cluster j. */
static void move(kmeans *m, int64_t i, const float *x, int64_t j)
{
    if (m->cluster[i] >= 0) add(m->width, -1, x, sum_of(m, m->cluster[i]));
    add(m->width, 1, x, sum_of(m, j));
    m->cluster[i] = j;
}

/* A sample drawn with probability proportional to its squared distance; u is uniform in [0, 1). */
static int64_t draw(const kmeans *m, int64_t n, double u)
{
    double total = 0, passed = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) total += m->distance[i];
    if (!(total > 0)) return (int64_t)(u * (double)n); /* all samples coincide with centres */
    for (int64_t i = 0; i < n && !(passed > u * total); i++) {
        passed += m->distance[i];
        if (m->distance[i] > 0) last = i;
    }
    return last;
}

/* k-means++ (Arthur and Vassilvitskii 2007): each next centre is a sample drawn by its squared distance to the nearest
 * centre so far. */
static enhope_status start(kmeans *m, enhope_context *ctx, int64_t n, int64_t k, uint64_t seed, uint64_t class)
{
    eh_compute *cp = m->cp;
    for (int64_t j = 0; j < k; j++) {
        const double u = eh_random_unit(seed, EH_STREAM_EXEMPLAR, class << 40 ^ (uint64_t)j);
        const int64_t i = j ? draw(m, n, u) : (int64_t)(u * (double)n);
        eh_real *centre = eh_at(cp, m->R, j * m->width);
        take(m, i, centre);
        for (int64_t from = 0; from < n && j + 1 < k; from += m->block) {
            const int64_t q = n - from < m->block ? n - from : m->block;
            hold(m, from, q);
            find(m, q, centre, 1);
            EH_TRY(cp->op->sync(cp, ctx));
            for (int64_t s = 0; s < q; s++)
                if (j == 0 || m->near_distance[s] < m->distance[from + s]) m->distance[from + s] = m->near_distance[s];
        }
        m->distance[i] = 0; /* exactly, whatever rounding made of it */
    }
    cp->op->read(cp, m->centre, m->R, k * m->width);
    return cp->op->sync(cp, ctx);
}

/* Every sample goes to its nearest centre. With one centre there is nothing to compare. */
static enhope_status assign(kmeans *m, enhope_context *ctx, int64_t n, int64_t k)
{
    eh_compute *cp = m->cp;
    if (k == 1) memset(m->near, 0, (size_t)m->block * sizeof *m->near);
    for (int64_t from = 0; from < n; from += m->block) {
        const int64_t q = n - from < m->block ? n - from : m->block;
        hold(m, from, q);
        if (k > 1) find(m, q, m->R, k);
        EH_TRY(cp->op->sync(cp, ctx));
        memcpy(m->distance + from, m->near_distance, (size_t)q * sizeof *m->distance);
        for (int64_t i = 0, end; i < q; i = end) {
            for (end = i; end < q && end - i < m->most && m->near[end] != m->cluster[from + end];) end++;
            if (end > i) cp->op->read(cp, m->run, eh_at(cp, m->X, i * m->width), (end - i) * m->width);
            for (int64_t s = i; s < end; s++) move(m, from + s, m->run + (s - i) * m->width, m->near[s]);
            if (end == i) end++;
        }
    }
    return cp->op->sync(cp, ctx);
}

/* A cluster without members takes the sample that is farthest from its centre and not alone there. */
static enhope_status fill_empty(kmeans *m, enhope_context *ctx, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < k; j++) {
        if (members(m, j) > 0) continue;
        int64_t far = -1;
        for (int64_t i = 0; i < n; i++)
            if (members(m, m->cluster[i]) > 1 && (far < 0 || m->distance[i] > m->distance[far])) far = i;
        eh_real *x = eh_at(m->cp, m->R, j * m->width); /* the centre there is of no more use */
        take(m, far, x);
        m->cp->op->read(m->cp, m->run, x, m->width);
        EH_TRY(m->cp->op->sync(m->cp, ctx));
        memset(sum_of(m, j), 0, (size_t)m->width * sizeof *m->sum); /* rounding left of former members */
        move(m, far, m->run, j);
        m->distance[far] = 0;
    }
    return ENHOPE_OK;
}

/* The k centres of one class, rows[0..n), into m->centre. */
static enhope_status class_centres(kmeans *m, enhope_context *ctx, const int64_t *rows, int64_t n, int64_t k,
                                   uint64_t seed, uint64_t class, int64_t iterations)
{
    m->cp->op->send(m->cp, m->rows, rows, (size_t)n * sizeof *rows);
    m->held_count = 0;
    memset(m->sum, 0, (size_t)(k * m->width) * sizeof *m->sum);
    for (int64_t i = 0; i < n; i++) m->cluster[i] = -1;
    if (k == 1)
        iterations = 1;
    else
        EH_TRY(start(m, ctx, n, k, seed, class));
    for (int64_t step = 0; step < iterations; step++) {
        memcpy(m->last_cluster, m->cluster, (size_t)n * sizeof *m->cluster);
        EH_TRY(assign(m, ctx, n, k));
        EH_TRY(fill_empty(m, ctx, n, k));
        if (!memcmp(m->last_cluster, m->cluster, (size_t)n * sizeof *m->cluster)) break;
        for (int64_t j = 0; j < k; j++)
            for (int64_t a = 0; a < m->width; a++)
                m->centre[j * m->width + a] = (float)(sum_of(m, j)[a] / members(m, j));
        m->cp->op->write(m->cp, m->R, m->centre, k * m->width);
    }
    return m->cp->op->sync(m->cp, ctx);
}

/* The first class that a rank makes the centres of. */
static int32_t first_class(int32_t c, int rank, int ranks)
{
    return (int32_t)eh_share_start(c, rank, ranks);
}

/* The centres of classes from .. to, into centres (z, H). */
static enhope_status centres_of(enhope_context *ctx, eh_compute *cp, const eh_table *t, const eh_exemplar_plan *plan,
                                int32_t from, int32_t to, uint64_t seed, int64_t iterations, float *centres)
{
    kmeans m = {0};
    const int64_t H = t->x.H;
    int64_t most_samples = 0, most_exemplars = 0;
    enhope_status status;
    for (int32_t k = from; k < to; k++) {
        const int64_t samples = plan->start[k + 1] - plan->start[k], exemplars = plan->first[k + 1] - plan->first[k];
        if (samples > most_samples) most_samples = samples;
        if (exemplars > most_exemplars) most_exemplars = exemplars;
    }
    if (!most_exemplars) return ENHOPE_OK;
    EH_CHECK(kmeans_create(ctx, cp, t, most_samples, most_exemplars, &m));
    for (int32_t k = from; k < to; k++) {
        const int64_t first = plan->first[k], exemplars = plan->first[k + 1] - first;
        if (!exemplars) continue;
        EH_CHECK(class_centres(&m, ctx, plan->rows + plan->start[k], plan->start[k + 1] - plan->start[k], exemplars,
                               seed, (uint64_t)k, iterations));
        for (int64_t j = 0; j < exemplars; j++)
            memcpy(centres + (first + j) * H, m.centre + j * m.width, (size_t)H * sizeof *centres);
    }
cleanup:
    kmeans_free(&m);
    return status;
}

/* Ranks share the classes. */
enhope_status eh_exemplar_lloyd(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                int32_t c, int64_t z, uint64_t seed, int64_t iterations, float *E, int32_t *label)
{
    const int rank = eh_comm_rank(ctx), ranks = eh_comm_ranks(ctx);
    eh_exemplar_plan plan = {0};
    float *centres = NULL;  /* (z, H) */
    int64_t *offset = NULL; /* (ranks + 1) */
    int64_t numbers;
    enhope_status status;
    if (!eh_mul(z, t->x.H, &numbers)) return eh_fail_memory(ctx, "exemplars", (size_t)z, sizeof *centres);
    status = eh_exemplar_plan_create(ctx, t, rows, n, c, z, &plan);
    if (!status) status = eh_new(ctx, "exemplars", numbers, sizeof *centres, (void **)&centres);
    if (!status) status = eh_new(ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status)
        status = centres_of(ctx, cp, t, &plan, first_class(c, rank, ranks), first_class(c, rank + 1, ranks), seed,
                            iterations, centres);
    EH_CHECK(eh_comm_agree(ctx, status));
    for (int r = 0; r <= ranks; r++)
        offset[r] = plan.first[first_class(c, r, ranks)] * t->x.H * (int64_t)sizeof *centres;
    eh_comm_gather(ctx, centres, offset);
    memcpy(E, centres, (size_t)numbers * sizeof *E);
    eh_exemplar_plan_labels(&plan, c, label);
cleanup:
    eh_free(offset);
    eh_free(centres);
    eh_exemplar_plan_free(&plan);
    return status;
}

enhope_status eh_exemplar_kmeans(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label)
{
    return eh_exemplar_lloyd(ctx, cp, t, rows, n, c, z, seed, MOST_ITERATIONS, E, label);
}
