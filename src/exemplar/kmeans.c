/* k-means exemplars: for each class, the centers that Lloyd's algorithm reaches from a k-means++
 * start.
 *
 * The samples of a class are gathered in blocks, so memory is bounded for any class size. A class
 * that fits in one block, the common case, is gathered once. The backend computes the distances.
 * The sums behind the means are stored in double on the host; only samples that changed their
 * cluster are subtracted and added. Samples are visited in order, so the result does not depend on
 * the number of threads. Rows end with a 1 (see gather), which cancels in distances and adds up to
 * the weight of the members of a cluster in its sum. */
#include <string.h>

#include "comm/comm.h"
#include "exemplar/exemplar.h"

enum {
    MAX_ITERATIONS = 100,    /* of Lloyd's algorithm; most classes need a few dozen */
    BLOCK_NUMBERS = 6 << 20, /* per block: 24 MB of floats, 8,000 samples of 784 inputs */
    MIN_BLOCK = 16,          /* minimum rows per block, for any width */
    RUN = 32,                /* rows per read if the backend computes in host memory */
    FAR_RUN = 2048           /* rows per read otherwise, because each read waits for the device */
};

typedef struct kmeans {
    eh_compute *cp;
    const eh_table *t;
    int64_t width; /* H + 1 */
    int64_t block;
    eh_row *rows;                     /* (n) the samples of the class */
    eh_real *X;                       /* (block, H+1) samples */
    eh_real *R;                       /* (k, H+1) centers */
    eh_row *nearest;                  /* (block) nearest center */
    eh_real *nearest_distance;        /* (block) its squared distance */
    int64_t resident, resident_count; /* the samples in X, as indices in the class: first and count */
    int64_t max_run;                  /* rows per read */
    float *run;                       /* (max_run, H+1) */
    float *center;                    /* (k, H+1) the centers on the host */
    double *sum;                      /* (k, H+1) weighted sum of the members of each cluster */
    int64_t *host_nearest;            /* (block) host copy of `nearest` */
    float *host_distance;             /* (block) host copy of `nearest_distance` */
    const int64_t *host_rows;         /* (n) the same rows on the host */
    int64_t *cluster;                 /* (n) cluster of each sample; -1: none yet */
    int64_t *last_cluster;            /* (n) cluster in the iteration before */
    int64_t *members;                 /* (k) samples of each cluster */
    float *distance;                  /* (n) squared distance to the nearest center */
} kmeans;

static void kmeans_free(kmeans *m)
{
    void *const placed[] = {m->rows, m->X, m->R, m->nearest, m->nearest_distance};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) m->cp->op->release(m->cp, placed[i]);
    eh_free(m->run);
    eh_free(m->center);
    eh_free(m->sum);
    eh_free(m->host_nearest);
    eh_free(m->host_distance);
    eh_free(m->cluster);
    eh_free(m->members);
    eh_free(m->last_cluster);
    eh_free(m->distance);
}

/* For classes of at most n samples and k exemplars. */
static enhope_status kmeans_create(enhope_context *ctx, eh_compute *cp, const eh_table *t, int64_t n, int64_t k,
                                   kmeans *out)
{
    kmeans m = {.cp = cp, .max_run = cp->op->host ? RUN : FAR_RUN, .t = t, .width = t->x.H + 1};
    enhope_status status;
    int64_t samples, centers, run;
    m.block = BLOCK_NUMBERS / m.width > MIN_BLOCK ? BLOCK_NUMBERS / m.width : MIN_BLOCK;
    if (m.block > n) m.block = n;
    if (m.max_run > m.block) m.max_run = m.block;
    if (!eh_mul(m.block, m.width, &samples) || !eh_mul(k, m.width, &centers) || !eh_mul(m.max_run, m.width, &run))
        return eh_fail_memory(ctx, "k-means", (size_t)m.width, (size_t)k);
    EH_CHECK(eh_compute_new(cp, ctx, "k-means rows", n, sizeof(int64_t), &m.rows));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means samples", samples, cp->op->real_size, &m.X));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means centers", centers, cp->op->real_size, &m.R));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means clusters", m.block, sizeof(int64_t), &m.nearest));
    EH_CHECK(eh_compute_new(cp, ctx, "k-means distances", m.block, cp->op->real_size, &m.nearest_distance));
    EH_CHECK(eh_new(ctx, "k-means samples", run, sizeof *m.run, (void **)&m.run));
    EH_CHECK(eh_new(ctx, "k-means centers", centers, sizeof *m.center, (void **)&m.center));
    EH_CHECK(eh_new(ctx, "k-means sums", centers, sizeof *m.sum, (void **)&m.sum));
    EH_CHECK(eh_new(ctx, "k-means clusters", m.block, sizeof *m.host_nearest, (void **)&m.host_nearest));
    EH_CHECK(eh_new(ctx, "k-means distances", m.block, sizeof *m.host_distance, (void **)&m.host_distance));
    EH_CHECK(eh_new(ctx, "k-means clusters", n, sizeof *m.cluster, (void **)&m.cluster));
    EH_CHECK(eh_new(ctx, "k-means clusters", n, sizeof *m.last_cluster, (void **)&m.last_cluster));
    EH_CHECK(eh_new(ctx, "k-means clusters", k, sizeof *m.members, (void **)&m.members));
    EH_CHECK(eh_new(ctx, "k-means distances", n, sizeof *m.distance, (void **)&m.distance));
    *out = m;
    return ENHOPE_OK;
cleanup:
    kmeans_free(&m);
    return status;
}

/* Gathers sample i of the class into X. */
static void gather_sample(kmeans *m, int64_t i, eh_real *X)
{
    m->cp->op->gather(m->cp, m->t, eh_row_at(m->rows, i), 1, X, m->width, NULL);
}

/* Gathers the samples first .. first + count of the class into m->X. */
static void gather_block(kmeans *m, int64_t first, int64_t count)
{
    if (m->resident == first && m->resident_count == count) return;
    m->cp->op->gather(m->cp, m->t, eh_row_at(m->rows, first), count, m->X, m->width, NULL);
    m->resident = first;
    m->resident_count = count;
}

/* Computes host_nearest and host_distance of the q samples in X among the k centers at R. */
static void find(kmeans *m, int64_t q, const eh_real *R, int64_t k)
{
    const eh_compute_ops *op = m->cp->op;
    op->nearest(m->cp, m->X, q, R, k, m->width, 1, m->nearest, m->nearest_distance);
    op->fetch(m->cp, m->host_nearest, m->nearest, (size_t)q * sizeof *m->host_nearest);
    op->read(m->cp, m->host_distance, m->nearest_distance, q);
}

static double *sum_of(const kmeans *m, int64_t j)
{
    return m->sum + j * m->width;
}

static double weight_of(const kmeans *m, int64_t i)
{
    return m->t->weight ? (double)m->t->weight[m->host_rows[i]] : 1;
}

static void add(int64_t count, double weight, const float *restrict x, double *restrict sum)
{
    for (int64_t k = 0; k < count; k++) sum[k] += weight * (double)x[k];
}

/* Moves sample i with values x from its cluster to cluster j. */
static void move(kmeans *m, int64_t i, const float *x, int64_t j)
{
    const int64_t from = m->cluster[i];
    if (from >= 0) {
        add(m->width, -weight_of(m, i), x, sum_of(m, from));
        m->members[from]--;
    }
    add(m->width, weight_of(m, i), x, sum_of(m, j));
    m->members[j]++;
    m->cluster[i] = j;
}

/* Draws a sample with probability proportional to its weight, multiplied by its squared distance
 * if `far`; u is uniform in [0, 1). */
static int64_t draw(const kmeans *m, int64_t n, bool far, double u)
{
    double total = 0, passed = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) total += weight_of(m, i) * (far ? (double)m->distance[i] : 1);
    if (!(total > 0)) return (int64_t)(u * (double)n); /* all samples coincide with centers */
    for (int64_t i = 0; i < n && !(passed > u * total); i++) {
        const double mass = weight_of(m, i) * (far ? (double)m->distance[i] : 1);
        passed += mass;
        if (mass > 0) last = i;
    }
    return last;
}

/* k-means++ (Arthur and Vassilvitskii 2007): the first center is a sample drawn by its weight; each
 * further one is drawn with probability proportional to weight and squared distance to the nearest
 * center so far. */
static enhope_status start(kmeans *m, enhope_context *ctx, int64_t n, int64_t k, uint64_t seed, uint64_t class)
{
    eh_compute *cp = m->cp;
    for (int64_t j = 0; j < k; j++) {
        const double u = eh_random_unit(seed, EH_STREAM_EXEMPLAR, class << 40 ^ (uint64_t)j);
        const int64_t i = draw(m, n, j > 0, u);
        eh_real *center = eh_at(cp, m->R, j * m->width);
        gather_sample(m, i, center);
        for (int64_t from = 0; from < n && j + 1 < k; from += m->block) {
            const int64_t q = n - from < m->block ? n - from : m->block;
            gather_block(m, from, q);
            find(m, q, center, 1);
            EH_TRY(cp->op->sync(cp, ctx));
            for (int64_t s = 0; s < q; s++)
                if (j == 0 || m->host_distance[s] < m->distance[from + s]) m->distance[from + s] = m->host_distance[s];
        }
        m->distance[i] = 0; /* exact: rounding may have left a small value */
    }
    cp->op->read(cp, m->center, m->R, k * m->width);
    return cp->op->sync(cp, ctx);
}

/* Assigns every sample to its nearest center. */
static enhope_status assign(kmeans *m, enhope_context *ctx, int64_t n, int64_t k)
{
    eh_compute *cp = m->cp;
    if (k == 1) memset(m->host_nearest, 0, (size_t)m->block * sizeof *m->host_nearest);
    for (int64_t from = 0; from < n; from += m->block) {
        const int64_t q = n - from < m->block ? n - from : m->block;
        gather_block(m, from, q);
        if (k > 1) find(m, q, m->R, k);
        EH_TRY(cp->op->sync(cp, ctx));
        memcpy(m->distance + from, m->host_distance, (size_t)q * sizeof *m->distance);
        for (int64_t i = 0, end; i < q; i = end) {
            for (end = i; end < q && end - i < m->max_run && m->host_nearest[end] != m->cluster[from + end];) end++;
            if (end > i) cp->op->read(cp, m->run, eh_at(cp, m->X, i * m->width), (end - i) * m->width);
            for (int64_t s = i; s < end; s++) move(m, from + s, m->run + (s - i) * m->width, m->host_nearest[s]);
            if (end == i) end++;
        }
    }
    return cp->op->sync(cp, ctx);
}

/* Gives each empty cluster the sample that is farthest from its center and not the only member of
 * its cluster. */
static enhope_status fill_empty(kmeans *m, enhope_context *ctx, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < k; j++) {
        if (m->members[j] > 0) continue;
        int64_t far = -1;
        for (int64_t i = 0; i < n; i++)
            if (m->members[m->cluster[i]] > 1 && (far < 0 || m->distance[i] > m->distance[far])) far = i;
        eh_real *x = eh_at(m->cp, m->R, j * m->width); /* the old center is not needed any more */
        gather_sample(m, far, x);
        m->cp->op->read(m->cp, m->run, x, m->width);
        EH_TRY(m->cp->op->sync(m->cp, ctx));
        memset(sum_of(m, j), 0, (size_t)m->width * sizeof *m->sum); /* clear rounding errors of former members */
        move(m, far, m->run, j);
        m->distance[far] = 0;
    }
    return ENHOPE_OK;
}

/* Computes the k centers of one class, rows[0..n), into m->center. */
static enhope_status class_centers(kmeans *m, enhope_context *ctx, const int64_t *rows, int64_t n, int64_t k,
                                   uint64_t seed, uint64_t class, int64_t iterations)
{
    m->cp->op->send(m->cp, m->rows, rows, (size_t)n * sizeof *rows);
    m->host_rows = rows;
    m->resident_count = 0;
    memset(m->sum, 0, (size_t)(k * m->width) * sizeof *m->sum);
    memset(m->members, 0, (size_t)k * sizeof *m->members);
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
        for (int64_t j = 0; j < k; j++) {
            const double weight = sum_of(m, j)[m->width - 1];
            if (!(weight > 0)) continue; /* heavy samples have left, and rounding has hidden the light ones */
            for (int64_t a = 0; a < m->width; a++) m->center[j * m->width + a] = (float)(sum_of(m, j)[a] / weight);
        }
        m->cp->op->write(m->cp, m->R, m->center, k * m->width);
    }
    return m->cp->op->sync(m->cp, ctx);
}

/* The first class that a rank computes. */
static int32_t first_class(int32_t c, int rank, int ranks)
{
    return (int32_t)eh_chunk_start(c, rank, ranks);
}

/* Computes the centers of the classes from .. to into centers (z, H). */
static enhope_status centers_of(enhope_context *ctx, eh_compute *cp, const eh_table *t, const eh_exemplar_plan *plan,
                                int32_t from, int32_t to, uint64_t seed, int64_t iterations, float *centers)
{
    kmeans m = {0};
    const int64_t H = t->x.H;
    int64_t max_samples = 0, max_exemplars = 0;
    enhope_status status;
    for (int32_t k = from; k < to; k++) {
        const int64_t samples = plan->start[k + 1] - plan->start[k], exemplars = plan->first[k + 1] - plan->first[k];
        if (samples > max_samples) max_samples = samples;
        if (exemplars > max_exemplars) max_exemplars = exemplars;
    }
    if (!max_exemplars) return ENHOPE_OK;
    EH_CHECK(kmeans_create(ctx, cp, t, max_samples, max_exemplars, &m));
    for (int32_t k = from; k < to; k++) {
        const int64_t first = plan->first[k], exemplars = plan->first[k + 1] - first;
        if (!exemplars) continue;
        EH_CHECK(class_centers(&m, ctx, plan->rows + plan->start[k], plan->start[k + 1] - plan->start[k], exemplars,
                               seed, (uint64_t)k, iterations));
        for (int64_t j = 0; j < exemplars; j++)
            memcpy(centers + (first + j) * H, m.center + j * m.width, (size_t)H * sizeof *centers);
    }
cleanup:
    kmeans_free(&m);
    return status;
}

/* Each rank computes the centers of some classes. */
enhope_status eh_exemplar_lloyd(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                int32_t c, int64_t z, uint64_t seed, int64_t iterations, float *E, int32_t *label)
{
    const int rank = eh_comm_rank(ctx), ranks = eh_comm_ranks(ctx);
    eh_exemplar_plan plan = {0};
    float *centers = NULL;  /* (z, H) */
    int64_t *offset = NULL; /* (ranks + 1) */
    int64_t numbers;
    enhope_status status;
    if (!eh_mul(z, t->x.H, &numbers)) return eh_fail_memory(ctx, "exemplars", (size_t)z, sizeof *centers);
    status = eh_exemplar_plan_create(ctx, t, rows, n, c, z, &plan);
    if (!status) status = eh_new(ctx, "exemplars", numbers, sizeof *centers, (void **)&centers);
    if (!status) status = eh_new(ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status)
        status = centers_of(ctx, cp, t, &plan, first_class(c, rank, ranks), first_class(c, rank + 1, ranks), seed,
                            iterations, centers);
    EH_CHECK(eh_comm_check(ctx, status));
    for (int r = 0; r <= ranks; r++)
        offset[r] = plan.first[first_class(c, r, ranks)] * t->x.H * (int64_t)sizeof *centers;
    eh_comm_gather(ctx, centers, offset);
    memcpy(E, centers, (size_t)numbers * sizeof *E);
    eh_exemplar_plan_labels(&plan, c, label);
cleanup:
    eh_free(offset);
    eh_free(centers);
    eh_exemplar_plan_free(&plan);
    return status;
}

enhope_status eh_exemplar_kmeans(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label)
{
    return eh_exemplar_lloyd(ctx, cp, t, rows, n, c, z, seed, MAX_ITERATIONS, E, label);
}
