/* Measures of a map. For each row i, references are ranked by their distance to it in the inputs
 * and in the map; ties are ranked by number. With n rows, N references of each, and k neighbors:
 *
 *   trustworthiness  1 - 2 / (n k (2N + 1 - 3k)) sum_i sum_j (rank of j in the inputs - k), over
 *                    the k nearest j in the map that are not among the k nearest in the inputs
 *   continuity       the same with inputs and map exchanged
 *   preservation     mean over i of the share of the k nearest in the inputs that are also the k
 *                    nearest in the map
 *   accuracy         share of the rows whose class most of the nearest references in the map have
 *   triplets         share of random pairs (a, b) of references of which the same one is nearer to
 *                    i in the inputs and in the map
 *   spearman         rank correlation of the distances of random pairs (i, a)
 *
 * Trustworthiness is that of Venna and Kaski (2001). If rows are compared with each other,
 * N = n - 1.
 * The backend multiplies blocks of inputs; everything else is computed on the host. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/compute.h"
#include "data/data.h"
#include "predict/predict.h"

enum {
    BLOCK = 256, /* rows whose distances are in memory */
    DEFAULT_K = 15,
    DEFAULT_SAMPLE = 10000,
    MORE_REFERENCES = 10, /* for each row of the sample */
    DRAWS = 10,           /* random references of each row: pairs of distances, and half as many triplets */
    VOTES = 3
};
static const int voters[VOTES] = {1, 5, 15};

/* The sampled rows of a map. */
typedef struct points {
    int64_t n;
    int64_t *row;   /* (n) ascending */
    float *Y;       /* (n, h) */
    int32_t *label; /* (n) classes of the references; -1: none */
    eh_row *placed; /* (n) the row numbers on the backend */
    eh_real *X;     /* (n, H + 1) inputs on the backend */
    double *norm;   /* (n) squared norms */
} points;

/* Sums over the rows of a thread. */
typedef struct sums {
    int64_t intruders, missing; /* ranks beyond k */
    int64_t kept, triplets;
    int64_t labeled, correct[VOTES];
} sums;

typedef struct measurement {
    enhope_context *ctx;
    eh_compute *cp;
    int64_t H, h, k, nearest; /* nearest: references of a row that are searched in the map */
    bool self;                /* rows are compared with each other */
    uint64_t seed;
    points rows, references;
    eh_real *product; /* (BLOCK, references) */
    float *near_X;    /* (BLOCK, references) distances in the inputs */
    float *near_Y;    /* (threads, references) and in the map */
    int64_t *index;   /* (threads, 2 nearest) */
    double *pair;     /* (2, rows DRAWS) distances of random pairs in the inputs, then in the map */
    sums *sum;        /* (threads) */
    int threads;
} measurement;

/* ---- ranks ---- */

/* The `count` nearest of r references, nearest first. */
static void find_nearest(const float *d, int64_t r, int64_t count, int64_t *index)
{
    int64_t found = 0;
    for (int64_t j = 0; j < r; j++) {
        if (found == count && !(d[j] < d[index[count - 1]])) continue;
        int64_t at = found < count ? found++ : count - 1;
        for (; at > 0 && d[j] < d[index[at - 1]]; at--) index[at] = index[at - 1];
        index[at] = j;
    }
}

/* The rank of reference j, from 1 on. */
static int64_t rank_of(const float *d, int64_t r, int64_t j)
{
    const float own = d[j];
    int64_t before = 0;
    for (int64_t l = 0; l < r; l++) before += d[l] < own;
    for (int64_t l = 0; l < j; l++) before += d[l] == own;
    return before + 1;
}

/* The sum over the k neighbors of their ranks beyond k. */
static int64_t beyond(const float *d, int64_t r, const int64_t *neighbor, int64_t k)
{
    int64_t sum = 0;
    for (int64_t s = 0; s < k; s++) sum += eh_max(rank_of(d, r, neighbor[s]) - k, 0);
    return sum;
}

/* ---- one row ---- */

/* Draws random references of row i; those of a triplet are not the same. */
static void measure_pairs(const measurement *m, int64_t i, const float *dx, const float *dy, sums *s)
{
    const int64_t others = m->references.n - (m->self ? 1 : 0);
    double *x = m->pair + i * DRAWS, *y = x + m->rows.n * DRAWS;
    for (int64_t t = 0, drawn = -1; t < DRAWS; t++) {
        const uint64_t number = eh_random_u64(m->seed, EH_STREAM_MEASURE, (uint64_t)(i * DRAWS + t));
        const int64_t before = drawn;
        drawn = (int64_t)(number % (uint64_t)others);
        if (t % 2 && drawn == before) drawn = (drawn + 1) % others;
        const int64_t j = drawn + (m->self && drawn >= i);
        x[t] = dx[j];
        y[t] = dy[j];
        if (t % 2) s->triplets += (x[t] < x[t - 1]) == (y[t] < y[t - 1]) && (x[t] > x[t - 1]) == (y[t] > y[t - 1]);
    }
}

/* The class of most of the first `count` neighbors that have one; among equals that of the nearest.
 * -1: none. */
static int32_t vote(const int32_t *label, const int64_t *neighbor, int64_t count)
{
    int32_t winner = -1;
    int max_votes = 0;
    for (int64_t s = 0; s < count; s++) {
        int votes = 0;
        for (int64_t t = 0; t < count; t++) votes += label[neighbor[t]] == label[neighbor[s]];
        if (label[neighbor[s]] < 0 || votes <= max_votes) continue;
        max_votes = votes;
        winner = label[neighbor[s]];
    }
    return winner;
}

/* dx, dy (references): distances. near (2 nearest): scratch. */
static void measure_row(const measurement *m, int64_t i, float *dx, float *dy, int64_t *near, sums *s)
{
    const int64_t r = m->references.n, k = m->k;
    const int32_t truth = m->rows.label[i];
    const float *y = m->rows.Y + i * m->h;
    for (int64_t j = 0; j < r; j++) {
        float sum = 0;
        const float *g = m->references.Y + j * m->h;
        for (int64_t a = 0; a < m->h; a++) sum += (y[a] - g[a]) * (y[a] - g[a]);
        dy[j] = sum;
    }
    measure_pairs(m, i, dx, dy, s);
    if (m->self) dx[i] = dy[i] = INFINITY; /* the last rank */
    int64_t *near_x = near, *near_y = near + m->nearest;
    find_nearest(dx, r, k, near_x);
    find_nearest(dy, r, m->nearest, near_y);
    s->intruders += beyond(dx, r, near_y, k);
    s->missing += beyond(dy, r, near_x, k);
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++) s->kept += near_x[a] == near_y[b];
    if (truth < 0) return;
    s->labeled++;
    for (int v = 0; v < VOTES; v++)
        s->correct[v] += vote(m->references.label, near_y, eh_min(voters[v], m->nearest)) == truth;
}

/* ---- all rows ---- */

/* Rows first .. first + count, whose products with the references are in m->product. */
static void measure_block(measurement *m, int64_t first, int64_t count)
{
    const int64_t r = m->references.n;
    m->cp->op->read(m->cp, m->near_X, m->product, count * r);
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int t = 0; t < m->threads; t++)
        for (int64_t b = t; b < count; b += m->threads) {
            float *dx = m->near_X + b * r;
            for (int64_t j = 0; j < r; j++) {
                const double d = m->rows.norm[first + b] + m->references.norm[j] - 2 * (double)dx[j];
                dx[j] = d > 0 ? (float)d : 0;
            }
            measure_row(m, first + b, dx, m->near_Y + t * r, m->index + t * 2 * m->nearest, m->sum + t);
        }
}

static enhope_status measure_rows(measurement *m)
{
    eh_compute *cp = m->cp;
    for (int64_t first = 0; first < m->rows.n; first += BLOCK) {
        const int64_t count = eh_min(BLOCK, m->rows.n - first), ld = m->H + 1;
        eh_compute_begin(cp);
        cp->op->gemm(cp, false, true, count, m->references.n, m->H, 1, eh_at(cp, m->rows.X, first * ld), ld,
                     m->references.X, ld, 0, m->product, m->references.n);
        const enhope_status status = cp->op->sync(cp, m->ctx);
        if (!status) measure_block(m, first, count);
        eh_compute_end(cp);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

/* ---- points ---- */

static void points_free(eh_compute *cp, points *p)
{
    if (p->placed) cp->op->release(cp, p->placed);
    if (p->X) cp->op->release(cp, p->X);
    eh_free(p->row);
    eh_free(p->Y);
    eh_free(p->label);
    eh_free(p->norm);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Chooses at most `limit` rows and copies their embedding and classes. class (c): a number for each
 * class of the data. */
static enhope_status choose(measurement *m, const enhope_map *map, const int32_t *class, int64_t limit, points *p)
{
    const enhope_dataset *data = map->data;
    const int64_t n = data->x.n, h = m->h;
    EH_TRY(eh_new(m->ctx, "row numbers", n, sizeof *p->row, (void **)&p->row));
    eh_shuffle(m->seed, EH_STREAM_MEASURE, 0, n, p->row);
    p->n = eh_min(n, limit);
    qsort(p->row, (size_t)p->n, sizeof *p->row, by_number);
    EH_TRY(eh_new(m->ctx, "the embedding", p->n * h, sizeof *p->Y, (void **)&p->Y));
    EH_TRY(eh_new(m->ctx, "labels", p->n, sizeof *p->label, (void **)&p->label));
    for (int64_t i = 0; i < p->n; i++) {
        const float *y = map->Y + p->row[i] * h;
        const int32_t label = data->label ? data->label[p->row[i]] : -1;
        for (int64_t a = 0; a < h; a++)
            if (!isfinite(y[a]) || fabsf(y[a]) > 1e18f)
                return eh_fail(m->ctx, ENHOPE_ERROR_DATA,
                               "row %lld of the embedding is %g: expected finite numbers below 1e18 in absolute value",
                               (long long)p->row[i] + 1, (double)y[a]);
        memcpy(p->Y + i * h, y, (size_t)h * sizeof *y);
        p->label[i] = label < 0 ? -1 : class[label];
    }
    return ENHOPE_OK;
}

/* The mean of the chosen rows. Distances do not depend on it, but products of centered rows are
 * more exact. */
static enhope_status center(const measurement *m, const eh_matrix *x, const points *p, float *shift)
{
    double *sum = NULL;
    float *row = NULL;
    enhope_status status;
    EH_CHECK(eh_new(m->ctx, "means", m->H, sizeof *sum, (void **)&sum));
    EH_CHECK(eh_new(m->ctx, "a row", m->H, sizeof *row, (void **)&row));
    for (int64_t i = 0; i < p->n; i++) {
        eh_matrix_row(x, p->row[i], row);
        for (int64_t j = 0; j < m->H; j++) sum[j] += (double)row[j];
    }
    for (int64_t j = 0; j < m->H; j++) shift[j] = (float)(sum[j] / (double)p->n);
cleanup:
    eh_free(sum);
    eh_free(row);
    return status;
}

/* Raises *max to the largest absolute value of the chosen rows after scaling. */
static enhope_status find_max(const measurement *m, const eh_matrix *x, const points *p, const float *shift,
                              const float *mul, double *max)
{
    float *row = NULL;
    EH_TRY(eh_new(m->ctx, "a row", m->H, sizeof *row, (void **)&row));
    for (int64_t i = 0; i < p->n; i++) {
        eh_matrix_row(x, p->row[i], row);
        for (int64_t j = 0; j < m->H; j++) { /* gcc 12 for 64-bit ARM fails on fmax() here */
            const double scaled = fabs(((double)row[j] - (double)shift[j]) * (double)mul[j]);
            if (scaled > *max) *max = scaled;
        }
    }
    eh_free(row);
    return ENHOPE_OK;
}

/* Places the inputs of the chosen rows, scaled, and computes their norms. */
static enhope_status place(const measurement *m, const eh_matrix *x, const float *shift, const float *mul, points *p)
{
    eh_compute *cp = m->cp;
    const int64_t ld = m->H + 1;
    eh_table table = {0};
    float *block = NULL;
    bool placed = false;
    enhope_status status;
    int64_t numbers;
    if (!eh_mul(p->n, ld, &numbers)) return eh_fail_memory(m->ctx, "the inputs", (size_t)p->n, (size_t)ld);
    EH_CHECK(cp->op->place(cp, m->ctx, x, NULL, shift, mul, &table));
    placed = true;
    EH_CHECK(eh_compute_new(cp, m->ctx, "row numbers", p->n, sizeof *p->row, &p->placed));
    EH_CHECK(eh_compute_new(cp, m->ctx, "the inputs", numbers, cp->op->real_size, &p->X));
    EH_CHECK(eh_new(m->ctx, "norms", p->n, sizeof *p->norm, (void **)&p->norm));
    EH_CHECK(eh_new(m->ctx, "a block", eh_min(p->n, BLOCK) * ld, sizeof *block, (void **)&block));
    eh_compute_begin(cp);
    cp->op->send(cp, p->placed, p->row, (size_t)p->n * sizeof *p->row);
    cp->op->gather(cp, &table, p->placed, p->n, p->X, ld, NULL);
    for (int64_t first = 0; first < p->n; first += BLOCK) {
        const int64_t count = eh_min(BLOCK, p->n - first);
        cp->op->read(cp, block, eh_at(cp, p->X, first * ld), count * ld);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < m->H; j++)
                p->norm[first + i] += (double)block[i * ld + j] * (double)block[i * ld + j];
    }
    status = cp->op->sync(cp, m->ctx);
    eh_compute_end(cp);
cleanup:
    if (placed) cp->op->unplace(cp, &table);
    eh_free(block);
    return status;
}

/* ---- setup ---- */

static void measurement_free(measurement *m)
{
    if (m->self) m->references = (points){0}; /* shared with the rows */
    points_free(m->cp, &m->rows);
    points_free(m->cp, &m->references);
    if (m->product) m->cp->op->release(m->cp, m->product);
    if (m->cp) eh_compute_close(m->cp);
    eh_free(m->near_X);
    eh_free(m->near_Y);
    eh_free(m->index);
    eh_free(m->pair);
    eh_free(m->sum);
}

/* number (c of data): the class of the references with the same name; their c if there is none. */
static enhope_status match(enhope_context *ctx, const enhope_dataset *data, const enhope_dataset *references,
                           int32_t **number)
{
    EH_TRY(eh_new(ctx, "the classes", data->c, sizeof **number, (void **)number));
    for (int32_t k = 0; k < data->c; k++) {
        const int32_t c = references->c;
        (*number)[k] = c;
        for (int32_t i = 0; i < c && (*number)[k] == c; i++) {
            const int32_t candidate = (int32_t)(((int64_t)k + i) % c); /* most data sets number them alike */
            if (!strcmp(references->class_name[candidate], data->class_name[k])) (*number)[k] = candidate;
        }
    }
    return ENHOPE_OK;
}

static enhope_status choose_all(measurement *m, const enhope_map *rows, const enhope_map *references, int64_t sample)
{
    int32_t *number = NULL;
    enhope_status status;
    int64_t more;
    if (!eh_mul(sample, MORE_REFERENCES, &more)) more = INT64_MAX;
    EH_CHECK(match(m->ctx, rows->data, references->data, &number));
    EH_CHECK(choose(m, rows, number, sample, &m->rows));
    if (m->self) {
        m->references = m->rows;
    } else {
        eh_free(number);
        number = NULL;
        EH_CHECK(match(m->ctx, references->data, references->data, &number));
        EH_CHECK(choose(m, references, number, more, &m->references));
    }
    int64_t labeled = 0;
    for (int64_t j = 0; j < m->references.n; j++) labeled += m->references.label[j] >= 0;
    for (int64_t i = 0; i < m->rows.n && !labeled; i++) m->rows.label[i] = -1; /* there is no accuracy */
cleanup:
    eh_free(number);
    return status;
}

static enhope_status resolve_k(measurement *m, int64_t k)
{
    const int64_t others = m->references.n - (m->self ? 1 : 0), max = (others - 1) / 2;
    if (max < 1)
        return eh_fail(m->ctx, ENHOPE_ERROR_DATA, "%lld rows are too few to measure a map; use at least %d",
                       (long long)m->references.n, m->self ? 4 : 3);
    if (k > max)
        return eh_fail(m->ctx, ENHOPE_ERROR_ARGUMENT, "k is %lld: %lld rows to compare with allow at most %lld",
                       (long long)k, (long long)others, (long long)max);
    m->k = k ? k : eh_min(DEFAULT_K, max);
    m->nearest = eh_min(eh_max(m->k, voters[VOTES - 1]), others);
    return ENHOPE_OK;
}

/* Centers, scales and places the inputs of rows and references. A power of two, which changes no
 * measure, makes the largest value about 1, so that squares do not overflow or become 0. */
static enhope_status place_all(measurement *m, const enhope_model *model, const eh_matrix *x, const eh_matrix *others)
{
    float *shift = NULL, *mul = NULL;
    double max = FLT_MIN;
    enhope_status status;
    EH_CHECK(eh_new(m->ctx, "scaling", m->H, sizeof *shift, (void **)&shift));
    EH_CHECK(eh_new(m->ctx, "scaling", m->H, sizeof *mul, (void **)&mul));
    for (int64_t j = 0; j < m->H; j++) mul[j] = model ? model->mul[j] : 1;
    EH_CHECK(center(m, x, &m->rows, shift));
    EH_CHECK(find_max(m, x, &m->rows, shift, mul, &max));
    if (!m->self) EH_CHECK(find_max(m, others, &m->references, shift, mul, &max));
    for (int64_t j = 0; j < m->H; j++) mul[j] = ldexpf(mul[j], -ilogb(max));
    EH_CHECK(place(m, x, shift, mul, &m->rows));
    if (m->self)
        m->references = m->rows;
    else
        EH_CHECK(place(m, others, shift, mul, &m->references));
cleanup:
    eh_free(shift);
    eh_free(mul);
    return status;
}

static enhope_status allocate(measurement *m)
{
    const int64_t r = m->references.n, threads = m->threads, block = eh_min(BLOCK, m->rows.n);
    EH_TRY(eh_compute_new(m->cp, m->ctx, "products", block * r, m->cp->op->real_size, &m->product));
    EH_TRY(eh_new(m->ctx, "distances", block * r, sizeof *m->near_X, (void **)&m->near_X));
    EH_TRY(eh_new(m->ctx, "distances", threads * r, sizeof *m->near_Y, (void **)&m->near_Y));
    EH_TRY(eh_new(m->ctx, "neighbors", threads * 2 * m->nearest, sizeof *m->index, (void **)&m->index));
    EH_TRY(eh_new(m->ctx, "distances", 2 * m->rows.n * DRAWS, sizeof *m->pair, (void **)&m->pair));
    return eh_new(m->ctx, "sums", threads, sizeof *m->sum, (void **)&m->sum);
}

static enhope_status finish(const measurement *m, enhope_map_measures *out)
{
    sums all = {0};
    for (int t = 0; t < m->threads; t++) {
        const sums *s = m->sum + t;
        all.intruders += s->intruders, all.missing += s->missing;
        all.kept += s->kept, all.triplets += s->triplets, all.labeled += s->labeled;
        for (int v = 0; v < VOTES; v++) all.correct[v] += s->correct[v];
    }
    const double n = (double)m->rows.n, k = (double)m->k, others = (double)(m->references.n - (m->self ? 1 : 0));
    const double unit = 2 / (n * k * (2 * others + 1 - 3 * k));
    out->k = (int32_t)m->k;
    out->rows = m->rows.n;
    out->references = (int64_t)others;
    out->trustworthiness = 1 - unit * (double)all.intruders;
    out->continuity = 1 - unit * (double)all.missing;
    out->preservation = (double)all.kept / (n * k);
    out->triplets = (double)all.triplets / (n * (DRAWS / 2));
    for (int v = 0; v < VOTES; v++) out->accuracy[v] = all.labeled ? (double)all.correct[v] / (double)all.labeled : NAN;
    return eh_spearman(m->ctx, m->pair, m->pair + m->rows.n * DRAWS, m->rows.n * DRAWS, &out->spearman);
}

/* The inputs of data, as those of the model if there is one. */
static enhope_status inputs_of(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, eh_matrix *x)
{
    EH_TRY(eh_dataset_in_memory(ctx, data, "measuring a map"));
    if (model) return eh_model_inputs(ctx, model, data, x);
    *x = data->x;
    return ENHOPE_OK;
}

enhope_status enhope_map_measure(enhope_context *ctx, const enhope_model *model, int64_t h, const enhope_map *rows,
                                 const enhope_map *references, enhope_map_measures *out)
{
    measurement m = {.ctx = ctx, .h = h, .self = !references, .seed = (uint64_t)out->seed};
    eh_matrix x, others;
    enhope_status status;
    if (!references) references = rows;
    if (h < 1 || out->k < 0 || out->sample < 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "h is %lld, k %d and sample %lld: expected at least 1, 0 and 0",
                       (long long)h, (int)out->k, (long long)out->sample);
    EH_TRY(inputs_of(ctx, model, rows->data, &x));
    EH_TRY(inputs_of(ctx, model, references->data, &others));
    if (x.H != others.H)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "the rows have %lld inputs, the references %lld: expected the same",
                       (long long)x.H, (long long)others.H);
    m.H = x.H;
    m.threads = eh_compute_threads(ctx);
    EH_CHECK(eh_compute_open(ctx, true, &m.cp));
    EH_CHECK(choose_all(&m, rows, references, out->sample ? out->sample : DEFAULT_SAMPLE));
    EH_CHECK(resolve_k(&m, out->k));
    EH_CHECK(place_all(&m, model, &x, &others));
    EH_CHECK(allocate(&m));
    EH_CHECK(measure_rows(&m));
    EH_CHECK(finish(&m, out));
cleanup:
    measurement_free(&m);
    return status;
}
