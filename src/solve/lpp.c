/* lpp: locality preserving projections (He and Niyogi 2003), a linear map that keeps neighbors
 * close.
 *
 * z_i are the samples, centered and reduced by pca to 98 % of their variance. W are the weights
 * of a graph, D_ii = sum_j W_ij its degrees, and L = D - W. The directions a of the map belong
 * to the smallest eigenvalues of
 *
 *   A a = lambda B a,   A = sum_i z_i (L Z)_i^T = 1/2 sum_ij W_ij (z_i - z_j)(z_i - z_j)^T,
 *   B = sum_i D_ii z_i z_i^T.
 *
 * graph_k > 0: W_ij = 1 if i is among the nearest neighbors of j or j among those of i, in the
 * reduced space. graph_k 0: W_ij = 1/n_c for every pair of one class, including i = j. Then D
 * = 1, A is the scatter within classes, B is the total scatter, and lpp is linear discriminant
 * analysis.
 *
 * B receives a ridge, so that few samples are enough. Directions are scaled so that the mean
 * square of each output, weighted by D, is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/solve.h"

static const double VARIANCE = 0.98; /* share of the variance that the reduced space keeps */
static const double RIDGE = 1e-6;    /* times the mean of B's diagonal */

enum { LPP_INPUTS = 5000 }; /* at most: all eigenvectors of the covariance are computed */

typedef struct problem {
    int64_t n, r; /* samples; directions of the reduced space */
    double *mean; /* (H) */
    double *V;    /* (H, H) of which r rows are used */
    eh_real *X;   /* (capacity, ld) a block of samples */
    eh_real *Z;   /* (n, r) on the backend */
    eh_real *side, *product;
    float *host;       /* (n, r) Z on the host */
    float *other;      /* (n, r) L Z, then D Z */
    float *block;      /* (r, r) */
    int64_t *link;     /* (n, k) neighbors in the nearest graph, ascending */
    double *degree;    /* (n) */
    double *A, *B, *w; /* (r, r) twice, (r) */
} problem;

/* ---- the reduced space ---- */

/* Finds directions with enough variance, at least as many as outputs. */
static enhope_status reduce(const eh_solve_data *d, problem *p)
{
    enhope_context *ctx = d->ctx;
    const int64_t H = d->H;
    double *S = NULL, *value = NULL, all = 0, explained = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the covariance", H * H, sizeof *S, (void **)&S));
    EH_CHECK(eh_new(ctx, "eigenvalues", H, sizeof *value, (void **)&value));
    EH_CHECK(eh_new(ctx, "eigenvectors", H * H, sizeof *p->V, (void **)&p->V));
    EH_CHECK(eh_new(ctx, "the mean", H, sizeof *p->mean, (void **)&p->mean));
    EH_CHECK(eh_covariance(d, p->mean, S));
    EH_CHECK(eh_eigen_largest(ctx, (int)H, S, (int)H, value, p->V));
    for (int64_t k = 0; k < H; k++) all += value[k];
    while (p->r < H && (p->r < d->h || explained < VARIANCE * all)) explained += value[p->r++];
cleanup:
    eh_free(S);
    eh_free(value);
    return status;
}

/* Z (n, r) = V (x - mean), on the backend and on the host. */
static enhope_status project(const eh_solve_data *d, problem *p)
{
    eh_compute *c = d->cp;
    const int64_t H = d->H, r = p->r;
    eh_real *W = NULL;
    float *weights = NULL;
    enhope_status status;
    EH_CHECK(eh_new(d->ctx, "directions", (H + 1) * r, sizeof *weights, (void **)&weights));
    EH_CHECK(eh_compute_new(c, d->ctx, "directions", (H + 1) * r, c->op->real_size, &W));
    for (int64_t k = 0; k < r; k++) {
        double shift = 0;
        for (int64_t j = 0; j < H; j++) {
            weights[j * r + k] = (float)p->V[k * H + j];
            shift -= p->mean[j] * p->V[k * H + j];
        }
        weights[H * r + k] = (float)shift;
    }
    c->op->write(c, W, weights, (H + 1) * r);
    for (int64_t from = 0; from < p->n; from += d->block) {
        const int64_t n = p->n - from < d->block ? p->n - from : d->block;
        c->op->gather(c, d->table, eh_row_at(d->placed_rows, from), n, p->X, d->ld, NULL);
        c->op->gemm(c, false, false, n, r, H + 1, 1, p->X, d->ld, W, r, 0, eh_at(c, p->Z, from * r), r);
    }
    c->op->read(c, p->host, p->Z, p->n * r);
    EH_CHECK(c->op->sync(c, d->ctx));
cleanup:
    if (W) c->op->release(c, W);
    eh_free(weights);
    return status;
}

/* ---- the nearest graph ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Stores the nearest k of sample i, ascending, from k + 1 found. Sample i itself is left out; if
 * duplicates precede it, the last of them is left out instead. */
static void take_links(int64_t i, const int64_t *found, int64_t k, int64_t *link)
{
    int64_t count = 0;
    for (int64_t j = 0; j <= k && count < k; j++)
        if (found[j] != i) link[count++] = found[j];
    qsort(link, (size_t)k, sizeof *link, by_number);
}

/* Finds the neighbors of the first *known samples: of all, unless training must stop. Samples
 * are in a seeded order, so the first ones are a random sample. */
static enhope_status find_links(const eh_solve_data *d, problem *p, int64_t k, int64_t *known)
{
    eh_compute *c = d->cp;
    const int64_t wide = k + 1, max = d->block;
    eh_row *index = NULL;
    eh_real *distance = NULL;
    int64_t *found = NULL;
    enhope_status status;
    EH_CHECK(eh_compute_new(c, d->ctx, "neighbors", max * wide, sizeof *found, &index));
    EH_CHECK(eh_compute_new(c, d->ctx, "neighbors", max * wide, c->op->real_size, &distance));
    EH_CHECK(eh_new(d->ctx, "neighbors", max * wide, sizeof *found, (void **)&found));
    while (*known < p->n && (*known == 0 || !eh_solve_stop(d))) {
        const int64_t n = p->n - *known < max ? p->n - *known : max;
        c->op->nearest(c, eh_at(c, p->Z, *known * p->r), n, p->Z, p->n, p->r, wide, index, distance);
        c->op->fetch(c, found, index, (size_t)(n * wide) * sizeof *found);
        EH_CHECK(c->op->sync(c, d->ctx));
        for (int64_t i = 0; i < n; i++) take_links(*known + i, found + i * wide, k, p->link + (*known + i) * k);
        *known += n;
    }
cleanup:
    if (index) c->op->release(c, index);
    if (distance) c->op->release(c, distance);
    eh_free(found);
    return status;
}

/* Whether the pair (i, j) is already counted at j: j < i and i is among the neighbors of j. */
static bool is_counted(const problem *p, int64_t i, int64_t j, int64_t k, int64_t known)
{
    return j < i && j < known && bsearch(&i, p->link + j * k, (size_t)k, sizeof i, by_number);
}

/* other = L Z; computes the degrees. */
static void apply_laplacian(problem *p, int64_t k, int64_t known)
{
    const int64_t r = p->r;
    for (int64_t i = 0; i < known; i++)
        for (int64_t l = 0; l < k; l++) {
            const int64_t j = p->link[i * k + l];
            if (is_counted(p, i, j, k, known)) continue;
            p->degree[i]++, p->degree[j]++;
            const float *a = p->host + i * r, *b = p->host + j * r;
            float *to_a = p->other + i * r, *to_b = p->other + j * r;
            for (int64_t s = 0; s < r; s++) {
                to_a[s] += a[s] - b[s];
                to_b[s] -= a[s] - b[s];
            }
        }
}

/* ---- both graphs ---- */

/* M (r, r) = Z^T other, block by block on the backend, added in double. */
static enhope_status accumulate(const eh_solve_data *d, problem *p, double *M)
{
    eh_compute *c = d->cp;
    const int64_t r = p->r;
    for (int64_t from = 0; from < p->n; from += d->block) {
        const int64_t n = p->n - from < d->block ? p->n - from : d->block;
        c->op->write(c, p->side, p->other + from * r, n * r);
        c->op->gemm(c, true, false, r, r, n, 1, eh_at(c, p->Z, from * r), r, p->side, r, 0, p->product, r);
        c->op->read(c, p->block, p->product, r * r);
        for (int64_t i = 0; i < r * r; i++) M[i] += p->block[i];
    }
    return c->op->sync(c, d->ctx);
}

static void weigh(problem *p)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t s = 0; s < p->r; s++) p->other[i * p->r + s] = (float)p->degree[i] * p->host[i * p->r + s];
}

static enhope_status nearest_graph(const eh_solve_data *d, int64_t neighbors, problem *p)
{
    const int64_t k = neighbors < p->n ? neighbors : p->n - 1;
    int64_t known = 0;
    eh_log(d->ctx, ENHOPE_LOG_INFO,
           "lpp: searching %lld neighbors for each of %lld samples, in %lld directions with 98 %% of the variance",
           (long long)k, (long long)p->n, (long long)p->r);
    EH_TRY(eh_new(d->ctx, "neighbors", p->n * k, sizeof *p->link, (void **)&p->link));
    EH_TRY(find_links(d, p, k, &known));
    if (known < p->n)
        eh_log(d->ctx, ENHOPE_LOG_WARNING, "lpp: stopped after the neighbors of %lld samples; the map uses only these",
               (long long)known);
    apply_laplacian(p, k, known);
    EH_TRY(accumulate(d, p, p->A));
    weigh(p);
    return accumulate(d, p, p->B);
}

/* A = B - sum over classes of n_c m_c m_c^T, where m_c is the mean of the class. */
static enhope_status class_graph(const eh_solve_data *d, problem *p)
{
    const int64_t r = p->r, c = d->classes;
    double *sum = NULL, *count = NULL;
    enhope_status status;
    EH_CHECK(eh_new(d->ctx, "class means", c * r, sizeof *sum, (void **)&sum));
    EH_CHECK(eh_new(d->ctx, "class counts", c, sizeof *count, (void **)&count));
    for (int64_t i = 0; i < p->n; i++) {
        const int32_t own = eh_solve_label(d, i);
        p->degree[i] = 1;
        count[own]++;
        for (int64_t s = 0; s < r; s++) sum[own * r + s] += p->host[i * r + s];
    }
    weigh(p);
    EH_CHECK(accumulate(d, p, p->B));
    memcpy(p->A, p->B, (size_t)(r * r) * sizeof *p->A);
    for (int64_t own = 0; own < c; own++)
        for (int64_t i = 0; i < r && count[own] > 0; i++)
            for (int64_t j = 0; j < r; j++) p->A[i * r + j] -= sum[own * r + i] * sum[own * r + j] / count[own];
cleanup:
    eh_free(sum);
    eh_free(count);
    return status;
}

/* Makes both matrices exactly symmetric after sums in float, and adds the ridge to B. */
static void symmetrize(problem *p)
{
    const int64_t r = p->r;
    double trace = 0;
    for (int64_t i = 0; i < r; i++) {
        trace += p->B[i * r + i];
        for (int64_t j = 0; j < i; j++) {
            p->A[i * r + j] = p->A[j * r + i] = (p->A[i * r + j] + p->A[j * r + i]) / 2;
            p->B[i * r + j] = p->B[j * r + i]; /* the triangle that LAPACK reads */
        }
    }
    for (int64_t i = 0; i < r; i++) p->B[i * r + i] += RIDGE * (trace > 0 ? trace / (double)r : 1);
}

static enhope_status allocate(const eh_solve_data *d, problem *p)
{
    enhope_context *ctx = d->ctx;
    eh_compute *c = d->cp;
    const int64_t n = p->n, r = p->r, square = r * r;
    EH_TRY(eh_compute_new(c, ctx, "a block of samples", d->block * d->ld, c->op->real_size, &p->X));
    EH_TRY(eh_compute_new(c, ctx, "reduced samples", n * r, c->op->real_size, &p->Z));
    EH_TRY(eh_compute_new(c, ctx, "a block of samples", d->block * r, c->op->real_size, &p->side));
    EH_TRY(eh_compute_new(c, ctx, "scatter", square, c->op->real_size, &p->product));
    EH_TRY(eh_new(ctx, "reduced samples", n * r, sizeof *p->host, (void **)&p->host));
    EH_TRY(eh_new(ctx, "reduced samples", n * r, sizeof *p->other, (void **)&p->other));
    EH_TRY(eh_new(ctx, "scatter", square, sizeof *p->block, (void **)&p->block));
    EH_TRY(eh_new(ctx, "degrees", n, sizeof *p->degree, (void **)&p->degree));
    EH_TRY(eh_new(ctx, "scatter", square, sizeof *p->A, (void **)&p->A));
    EH_TRY(eh_new(ctx, "scatter", square, sizeof *p->B, (void **)&p->B));
    return eh_new(ctx, "eigenvalues", r, sizeof *p->w, (void **)&p->w);
}

static void release(const eh_solve_data *d, problem *p)
{
    void *const placed[] = {p->X, p->Z, p->side, p->product};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) d->cp->op->release(d->cp, placed[i]);
    void *const blocks[] = {p->mean, p->V, p->host, p->other, p->block, p->link, p->degree, p->A, p->B, p->w};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
}

/* Writes the first h eigenvectors, rows of A, as directions of the inputs. */
static enhope_status write_map(const eh_solve_data *d, problem *p, eh_real *theta)
{
    const int64_t H = d->H, h = d->h, r = p->r;
    double *direction = NULL, weight = 0;
    EH_TRY(eh_new(d->ctx, "directions", h * H, sizeof *direction, (void **)&direction));
    for (int64_t i = 0; i < p->n; i++) weight += p->degree[i];
    for (int64_t k = 0; k < h; k++)
        for (int64_t s = 0; s < r; s++) {
            const double a = sqrt(weight) * p->A[k * r + s];
            for (int64_t j = 0; j < H; j++) direction[k * H + j] += a * p->V[s * H + j];
        }
    const enhope_status status = eh_write_directions(d, p->mean, direction, theta);
    eh_free(direction);
    return status;
}

enhope_status eh_solve_lpp(const eh_solve_data *d, int64_t neighbors, eh_real *theta, double *loss)
{
    EH_TRY(eh_eigen_check(d, LPP_INPUTS));
    problem p = {.n = d->n};
    enhope_status status;
    EH_CHECK(reduce(d, &p));
    EH_CHECK(allocate(d, &p));
    EH_CHECK(project(d, &p));
    EH_CHECK(neighbors ? nearest_graph(d, neighbors, &p) : class_graph(d, &p));
    symmetrize(&p);
    EH_CHECK(eh_eigen_generalized(d->ctx, (int)p.r, p.A, p.B, p.w));
    EH_CHECK(write_map(d, &p, theta));
    *loss = 0;
    for (int64_t k = 0; k < d->h; k++) *loss += p.w[k] / (double)d->h;
cleanup:
    release(d, &p);
    return status;
}
