/* mcml: maximally collapsing metric learning (Globerson and Roweis 2005), convex in the metric M
 * >= 0.
 *
 *   d_ij = (x_i - x_j)^T M (x_i - x_j),   q_j|i ~ exp(-d_ij) over j != i,
 *   p_j|i uniform over the others of i's class,
 *   loss = mean_i KL(p_.|i || q_.|i),
 *   dloss/dM = 1/N sum_ij (p_j|i - q_j|i) (x_i - x_j)(x_i - x_j)^T.
 *
 * A sample that is alone in its class does not count. Each step follows the negative gradient
 * and projects onto the cone M >= 0 by dropping negative eigenvalues. Its length is Barzilai and
 * Borwein's, reduced until the loss falls enough, so the loss never rises. Steps are made in
 * coordinates in which the samples have the same spread in all directions (equalize); the
 * minimum does not depend on them. The map consists of the h largest eigenvectors in these
 * coordinates, scaled by the roots of their eigenvalues.
 *
 * Each step computes all pairs, a block of rows at a time, in double on the host. With D the
 * slopes dloss/dd_ij, the gradient is X^T (diag(D 1 + D^T 1) - D - D^T) X. A block of rows gives
 * its part of D X and of the sums. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "solve/solve.h"

enum {
    MAX_SAMPLES = 10000, /* all pairs of samples are computed hundreds of times */
    MAX_INPUTS = 1000,   /* M is decomposed as often */
    MAX_STEPS = 1000,
    MAX_CUTS = 40, /* reductions of one step, each to a quarter */
    CHECKED = 10   /* steps between checks of the loss */
};
static const double CONVERGED = 1e-4; /* relative decrease of the loss between checks at which the solver stops */
/* Share of the initial loss at which the solver stops: for separable classes the loss has no
 * minimum. */
static const double COLLAPSED = 1e-6;
static const double ENOUGH = 1e-4; /* share of the decrease predicted by the slope: a step with less is reduced */

/* ---- the objective ---- */

void eh_metric_free(eh_metric *m)
{
    void *const blocks[] = {m->row_loss, m->same, m->Y, m->square, m->slope, m->sums, m->P};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
}

static enhope_status count_same(enhope_context *ctx, eh_metric *m)
{
    int32_t classes = 0;
    int64_t *count = NULL;
    for (int64_t i = 0; i < m->n; i++) classes = m->label[i] >= classes ? m->label[i] + 1 : classes;
    EH_TRY(eh_new(ctx, "class counts", classes, sizeof *count, (void **)&count));
    for (int64_t i = 0; i < m->n; i++) count[m->label[i]]++;
    for (int64_t i = 0; i < m->n; i++) {
        m->same[i] = (double)(count[m->label[i]] - 1);
        m->with_target += m->same[i] > 0;
    }
    eh_free(count);
    return ENHOPE_OK;
}

enhope_status eh_metric_create(enhope_context *ctx, int threads, int64_t n, int64_t H, const double *X,
                               const int32_t *label, eh_metric *out)
{
    enum { BLOCK = 64 };
    const int64_t share = (n + EH_METRIC_SHARES - 1) / EH_METRIC_SHARES;
    eh_metric m = {.n = n, .H = H, .threads = threads, .X = X, .label = label, .block = share < BLOCK ? share : BLOCK};
    enhope_status status;
    EH_CHECK(eh_new(ctx, "losses", n, sizeof *m.row_loss, (void **)&m.row_loss));
    EH_CHECK(eh_new(ctx, "class counts", n, sizeof *m.same, (void **)&m.same));
    EH_CHECK(eh_new(ctx, "samples", n * H, sizeof *m.Y, (void **)&m.Y));
    EH_CHECK(eh_new(ctx, "samples", n, sizeof *m.square, (void **)&m.square));
    EH_CHECK(eh_new(ctx, "slopes", EH_METRIC_SHARES * m.block * n, sizeof *m.slope, (void **)&m.slope));
    EH_CHECK(eh_new(ctx, "slopes", EH_METRIC_SHARES * n, sizeof *m.sums, (void **)&m.sums));
    EH_CHECK(eh_new(ctx, "samples", n * H, sizeof *m.P, (void **)&m.P));
    EH_CHECK(count_same(ctx, &m));
    *out = m;
    return ENHOPE_OK;
cleanup:
    eh_metric_free(&m);
    return status;
}

/* Replaces the products y_i.y_j in d (n) by the slopes of the pairs of sample i, and stores its
 * loss. */
static void slopes_of_row(const eh_metric *m, int64_t i, double *d)
{
    const int64_t n = m->n;
    double min = INFINITY, near = 0, all = 0;
    for (int64_t j = 0; j < n; j++) {
        const double value = m->square[i] + m->square[j] - 2 * d[j];
        d[j] = value > 0 ? value : 0;
        if (j == i) continue;
        min = d[j] < min ? d[j] : min;
        if (m->label[j] == m->label[i]) near += d[j];
    }
    m->row_loss[i] = 0;
    if (m->same[i] == 0) {
        memset(d, 0, (size_t)n * sizeof *d);
        return;
    }
    d[i] = INFINITY;
    for (int64_t j = 0; j < n; j++) all += d[j] = exp(min - d[j]);
    const double p = 1 / m->same[i], part = 1 / m->with_target;
    for (int64_t j = 0; j < n; j++) d[j] = part * ((m->label[j] == m->label[i] ? p : 0) - d[j] / all);
    d[i] = 0;
    m->row_loss[i] = part * (log(all) - min + p * near + log(p));
}

static int64_t start_of(int64_t n, int share)
{
    return n * share / EH_METRIC_SHARES;
}

/* The rows of one share: P = D X, and their part of D 1 + D^T 1. */
static void compute_share(eh_metric *m, int64_t r, int share)
{
    const int64_t n = m->n, H = m->H, end = start_of(n, share + 1),
                  ld = r ? r : 1; /* BLAS requires at min one, also for M = 0 */
    double *slope = m->slope + share * m->block * n, *sums = m->sums + share * n;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t from = start_of(n, share); from < end; from += m->block) {
        const int64_t rows = end - from < m->block ? end - from : m->block;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)r, 1, m->Y + from * r, (int)ld,
                    m->Y, (int)ld, 0, slope, (int)n);
        for (int64_t i = 0; i < rows; i++) slopes_of_row(m, from + i, slope + i * n);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)H, (int)n, 1, slope, (int)n, m->X,
                    (int)H, 0, m->P + from * H, (int)H);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < n; j++) {
                sums[j] += slope[i * n + j];
                sums[from + i] += slope[i * n + j];
            }
    }
}

/* C (M, N) = A^T B, A (K, M), B (K, N), in strips of rows whose size does not depend on the
 * threads. */
static void transposed_product(int threads, int64_t M, int64_t N, int64_t K, const double *A, const double *B,
                               double *C)
{
    enum { STRIP = 64 };
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < M; i += STRIP)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(M - i < STRIP ? M - i : STRIP), (int)N, (int)K, 1,
                    A + i, (int)M, B, (int)N, 0, C + i * N, (int)N);
}

/* Y (n, r) = X R^T, X (n, H), R (r, H). */
static void map_rows(int threads, int64_t n, int64_t H, int64_t r, const double *X, const double *R, double *Y)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int share = 0; share < EH_METRIC_SHARES; share++) {
        const int64_t from = start_of(n, share), rows = start_of(n, share + 1) - from;
        if (rows && r)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)r, (int)H, 1, X + from * H, (int)H, R,
                        (int)H, 0, Y + from * r, (int)r);
    }
}

double eh_metric_loss(eh_metric *m, int64_t r, const double *R, double *G)
{
    const int64_t n = m->n, H = m->H;
    double loss = 0;
    map_rows(m->threads, n, H, r, m->X, R, m->Y);
    for (int64_t i = 0; i < n; i++) m->square[i] = cblas_ddot((int)r, m->Y + i * r, 1, m->Y + i * r, 1);
#pragma omp parallel for num_threads(m->threads) schedule(dynamic)
    for (int share = 0; share < EH_METRIC_SHARES; share++) compute_share(m, r, share);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int share = 0; share < EH_METRIC_SHARES; share++) sum += m->sums[share * n + i];
        for (int64_t k = 0; k < H; k++) m->P[i * H + k] = sum / 2 * m->X[i * H + k] - m->P[i * H + k];
        loss += m->row_loss[i];
    }
    /* the gradient is X^T P plus its transpose; P now contains half the diagonal */
    transposed_product(m->threads, H, H, n, m->X, m->P, G);
    for (int64_t i = 0; i < H; i++)
        for (int64_t j = 0; j <= i; j++) G[i * H + j] = G[j * H + i] = G[i * H + j] + G[j * H + i];
    return loss;
}

/* ---- the solver ---- */

/* A metric with its loss and gradient. */
typedef struct point {
    double *M; /* (H, H) */
    double *G; /* (H, H) the gradient at M */
    double *R; /* (H, H) r rows are the root of M = R^T R, longest first */
    int64_t r;
    double loss;
} point;

static enhope_status make_point(enhope_context *ctx, int64_t H, point *p)
{
    EH_TRY(eh_new(ctx, "the metric", H * H, sizeof *p->M, (void **)&p->M));
    EH_TRY(eh_new(ctx, "the metric", H * H, sizeof *p->G, (void **)&p->G));
    return eh_new(ctx, "the metric", H * H, sizeof *p->R, (void **)&p->R);
}

static void free_point(point *p)
{
    eh_free(p->M);
    eh_free(p->G);
    eh_free(p->R);
}

/* Projects p->M onto the cone and computes loss and gradient there. value (H): scratch. */
static enhope_status evaluate(enhope_context *ctx, eh_metric *m, double *value, point *p)
{
    const int64_t H = m->H;
    EH_TRY(eh_eigen_largest(ctx, (int)H, p->M, (int)H, value, p->R)); /* M is destroyed */
    for (p->r = 0; p->r < H && value[p->r] > 0; p->r++)
        for (int64_t j = 0; j < H; j++) p->R[p->r * H + j] *= sqrt(value[p->r]);
    transposed_product(m->threads, H, H, p->r, p->R, p->R, p->M);
    p->loss = eh_metric_loss(m, p->r, p->R, p->G);
    return ENHOPE_OK;
}

/* to = the point one step away from `from`. The step is reduced until the loss falls enough;
 * *fell: whether it does. */
static enhope_status step_down(const eh_solve_data *d, eh_metric *m, double *value, const point *from, double *step,
                               point *to, bool *fell)
{
    const int64_t count = m->H * m->H;
    *fell = false;
    for (int cut = 0; cut < MAX_CUTS && !*fell && !(cut && eh_solve_stop(d)); cut++, *step /= *fell ? 1 : 4) {
        double slope = 0;
        for (int64_t i = 0; i < count; i++) to->M[i] = from->M[i] - *step * from->G[i];
        EH_TRY(evaluate(d->ctx, m, value, to));
        for (int64_t i = 0; i < count; i++) slope += from->G[i] * (to->M[i] - from->M[i]);
        *fell = slope < 0 && to->loss <= from->loss + ENOUGH * slope;
    }
    return ENHOPE_OK;
}

/* The length of the next step by Barzilai and Borwein, |dM|^2 / (dM . dG). The objective is
 * convex. */
static double next_step(int64_t count, const point *from, const point *to, double step)
{
    double square = 0, bend = 0;
    for (int64_t i = 0; i < count; i++) {
        const double d = to->M[i] - from->M[i];
        square += d * d;
        bend += d * (to->G[i] - from->G[i]);
    }
    return bend > 0 ? square / bend : 2 * step;
}

static double size_of(int64_t count, const double *A)
{
    return cblas_dnrm2((int)count, A, 1);
}

/* Descends from the evaluated point *p until the loss is nearly constant. q: memory for a second
 * point. */
static enhope_status descend(const eh_solve_data *d, eh_metric *m, double *value, point *p, point *q)
{
    const int64_t count = m->H * m->H;
    const double slope = size_of(count, p->G);
    const double nothing = COLLAPSED * p->loss;
    double step = slope > 0 ? size_of(count, p->M) / slope : 0, checked_loss = p->loss;
    int64_t steps = 0;
    bool going = step > 0;
    while (going && steps < MAX_STEPS && !eh_solve_stop(d)) {
        EH_TRY(step_down(d, m, value, p, &step, q, &going));
        if (!going) break;
        step = next_step(count, p, q, step);
        const point previous = *p;
        *p = *q;
        *q = previous;
        if (++steps % CHECKED) continue;
        going = checked_loss - p->loss > CONVERGED * p->loss && p->loss > nothing;
        checked_loss = p->loss;
    }
    eh_log(d->ctx, ENHOPE_LOG_INFO, "mcml: %lld steps, a metric of rank %lld with loss %.6g", (long long)steps,
           (long long)p->r, p->loss);
    return ENHOPE_OK;
}

/* X (n, H): the training rows as scaled; label (n). */
static enhope_status take_samples(const eh_solve_data *d, double *X, int32_t *label)
{
    eh_compute *c = d->cp;
    const int64_t H = d->H, max = d->block;
    eh_real *block = NULL;
    float *host = NULL;
    enhope_status status;
    EH_CHECK(eh_compute_new(c, d->ctx, "a block of samples", max * d->ld, c->op->real_size, &block));
    EH_CHECK(eh_new(d->ctx, "a block of samples", max * d->ld, sizeof *host, (void **)&host));
    for (int64_t from = 0; from < d->n; from += max) {
        const int64_t n = d->n - from < max ? d->n - from : max;
        c->op->gather(c, d->table, eh_row_at(d->placed_rows, from), n, block, d->ld, NULL);
        c->op->read(c, host, block, n * d->ld);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < H; j++) X[(from + i) * H + j] = host[i * d->ld + j];
    }
    for (int64_t i = 0; i < d->n; i++) label[i] = eh_solve_label(d, i);
    EH_CHECK(c->op->sync(c, d->ctx));
cleanup:
    if (block) c->op->release(c, block);
    eh_free(host);
    return status;
}

static void center(int64_t n, int64_t H, double *X, double *mean)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < H; j++) mean[j] += X[i * H + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < H; j++) X[i * H + j] -= mean[j];
}

/* T (H, H): coordinates in which the samples have about the same spread in every direction,
 * because directions of different spread make steps short. Directions of almost no spread are
 * not enlarged. */
static enhope_status equalize(enhope_context *ctx, int threads, int64_t n, int64_t H, const double *X, double *T)
{
    static const double FLOOR = 0.1; /* times the mean variance, added to each variance */
    double *S = NULL, *value = NULL, mean = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the covariance", H * H, sizeof *S, (void **)&S));
    EH_CHECK(eh_new(ctx, "eigenvalues", H, sizeof *value, (void **)&value));
    transposed_product(threads, H, H, n, X, X, S);
    for (int64_t j = 0; j < H; j++) mean += S[j * H + j] / (double)H;
    EH_CHECK(eh_eigen_largest(ctx, (int)H, S, (int)H, value, T));
    for (int64_t k = 0; k < H; k++) {
        const double spread = sqrt(fmax(value[k], 0) + FLOOR * mean);
        for (int64_t j = 0; j < H && spread > 0; j++) T[k * H + j] /= spread;
    }
cleanup:
    eh_free(S);
    eh_free(value);
    return status;
}

/* The identity, scaled so that the mean distance of two samples is one. */
static void start(const eh_metric *m, double *M)
{
    double square = 0;
    for (int64_t i = 0; i < m->n; i++) square += cblas_ddot((int)m->H, m->X + i * m->H, 1, m->X + i * m->H, 1);
    const double mean = 2 * square / (double)m->n;
    for (int64_t j = 0; j < m->H; j++) M[j * m->H + j] = mean > 0 ? 1 / mean : 1;
}

/* Writes the map: the h directions with the largest variance of the data under the metric.
 * Equalized samples have about the same variance in every direction, so these are the largest of
 * M. q: scratch. */
static enhope_status write_map(const eh_solve_data *d, const double *mean, const double *T, const point *p, point *q,
                               eh_real *theta)
{
    const int64_t H = d->H, h = d->h, rows = h < p->r ? h : p->r;
    memset(q->R, 0, (size_t)(h * H) * sizeof *q->R);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)H, (int)H, 1, p->R, (int)H, T, (int)H, 0,
                q->R, (int)H);
    return eh_write_directions(d, mean, q->R, theta);
}

static enhope_status check_sizes(const eh_solve_data *d)
{
    EH_TRY(eh_eigen_check(d, EH_EIGEN_INPUTS));
    if (d->n <= MAX_SAMPLES && d->H <= MAX_INPUTS) return ENHOPE_OK;
    return eh_fail(
        d->ctx, ENHOPE_ERROR_ARGUMENT,
        "mcml of %lld samples of %lld inputs: expected at most %d samples and %d inputs; use --method mcml+, which "
        "learns the same objective without this limit, or fewer samples (--limit)",
        (long long)d->n, (long long)d->H, MAX_SAMPLES, MAX_INPUTS);
}

enhope_status eh_solve_mcml(const eh_solve_data *d, eh_real *theta, double *loss)
{
    enhope_context *ctx = d->ctx;
    const int64_t n = d->n, H = d->H;
    const int threads = d->cp->threads;
    EH_TRY(check_sizes(d));
    double *raw = NULL, *X = NULL, *T = NULL, *mean = NULL, *value = NULL;
    int32_t *label = NULL;
    eh_metric m = {0};
    point p = {0}, q = {0};
    enhope_status status;
    EH_CHECK(eh_new(ctx, "samples", n * H, sizeof *raw, (void **)&raw));
    EH_CHECK(eh_new(ctx, "samples", n * H, sizeof *X, (void **)&X));
    EH_CHECK(eh_new(ctx, "the metric", H * H, sizeof *T, (void **)&T));
    EH_CHECK(eh_new(ctx, "the mean", H, sizeof *mean, (void **)&mean));
    EH_CHECK(eh_new(ctx, "eigenvalues", H, sizeof *value, (void **)&value));
    EH_CHECK(eh_new(ctx, "labels", n, sizeof *label, (void **)&label));
    EH_CHECK(take_samples(d, raw, label));
    center(n, H, raw, mean);
    EH_CHECK(equalize(ctx, threads, n, H, raw, T));
    map_rows(threads, n, H, H, raw, T, X);
    EH_CHECK(eh_metric_create(ctx, threads, n, H, X, label, &m));
    EH_CHECK(make_point(ctx, H, &p));
    EH_CHECK(make_point(ctx, H, &q));
    start(&m, p.M);
    EH_CHECK(evaluate(ctx, &m, value, &p));
    EH_CHECK(descend(d, &m, value, &p, &q));
    EH_CHECK(write_map(d, mean, T, &p, &q, theta));
    *loss = p.loss;
cleanup:
    eh_metric_free(&m);
    free_point(&p);
    free_point(&q);
    eh_free(label);
    eh_free(value);
    eh_free(mean);
    eh_free(T);
    eh_free(X);
    eh_free(raw);
    return status;
}
