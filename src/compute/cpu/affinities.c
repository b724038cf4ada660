/* Affinities on the cpu. Distances of all rows are computed from differences, so rounding does
 * not cancel them. Then each row gets its bandwidth, and both directions of a pair are added.
 * Everything is computed in place in P. Threads share tiles of pairs and rows; each entry is
 * written by one thread. */
#include <math.h>

#include "compute/bandwidth.h"
#include "compute/cpu/cpu.h"

enum { TILE = 64, STRIP = 256 };

/* Sixteen partial sums, because the compiler may not reorder a sum. */
EH_SIMD static float difference(int64_t dims, const float *restrict a, const float *restrict b)
{
    float partial[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= dims; k += 16)
        for (int l = 0; l < 16; l++) partial[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
    for (; k < dims; k++) partial[0] += (a[k] - b[k]) * (a[k] - b[k]);
    for (int half = 8; half; half /= 2)
        for (int l = 0; l < half; l++) partial[l] += partial[l + half];
    return partial[0];
}

/* A function with several versions cannot have hidden visibility, so this wrapper is exported. */
float eh_cpu_distance(int64_t dims, const float *a, const float *b)
{
    return difference(dims, a, b);
}

/* Calls `each` for every tile of the lower triangle of (n, n), including the diagonal. */
typedef void tile_fn(int64_t n, int64_t dims, const float *X, float *P, int64_t i0, int64_t j0);

static void for_tiles(eh_compute *c, tile_fn *each, int64_t n, int64_t dims, const float *X, float *P)
{
    const int64_t tiles = (n + TILE - 1) / TILE;
#pragma omp parallel for num_threads(c->threads) if (n * n * dims > EH_CPU_ALONE) schedule(dynamic) collapse(2)
    for (int64_t a = 0; a < tiles; a++)
        for (int64_t b = 0; b < tiles; b++)
            if (b <= a) each(n, dims, X, P, a * TILE, b * TILE);
}

static void distances(int64_t n, int64_t dims, const float *X, float *P, int64_t i0, int64_t j0)
{
    for (int64_t i = i0; i < eh_min(i0 + TILE, n); i++)
        for (int64_t j = j0; j < eh_min(j0 + TILE, i + 1); j++)
            P[i * n + j] = P[j * n + i] = difference(dims, X + i * dims, X + j * dims);
}

static void add_directions(int64_t n, int64_t dims, const float *X, float *P, int64_t i0, int64_t j0)
{
    (void)dims, (void)X;
    const float scale = (float)(0.5 / (double)n);
    for (int64_t i = i0; i < eh_min(i0 + TILE, n); i++)
        for (int64_t j = j0; j < eh_min(j0 + TILE, i + 1); j++)
            P[i * n + j] = P[j * n + i] = scale * (P[i * n + j] + P[j * n + i]);
}

/* ---- a row ---- */

/* Distances minus the smallest, in units of their mean, so that squares stay in range; 0 for the
 * row itself. */
EH_SIMD static void shift(int64_t n, int64_t i, float *e)
{
    float smallest = INFINITY;
    double sum = 0;
    e[i] = INFINITY;
    for (int64_t j = 0; j < n; j++) smallest = e[j] < smallest ? e[j] : smallest;
    e[i] = smallest;
    for (int64_t j = 0; j < n; j++) sum += e[j] -= smallest;
    const float unit = sum > 0 ? (float)((double)n / sum) : 0;
    for (int64_t j = 0; j < n; j++) e[j] *= unit;
    e[i] = 0;
}

/* Adds a strip to the sums. */
EH_SIMD static void add_strip(int64_t count, const float *restrict e, float beta, eh_bandwidth_sums *s)
{
    float weight[16] = {0}, first[16] = {0}, second[16] = {0};
    for (int64_t j = 0; j < count; j += 16) {
        const int64_t width = count - j < 16 ? count - j : 16;
        for (int64_t l = 0; l < width; l++) {
            const float p = eh_exp(-beta * e[j + l]), pe = p * e[j + l];
            weight[l] += p;
            first[l] += pe;
            second[l] += pe * e[j + l];
        }
    }
    for (int l = 0; l < 16; l++) {
        s->weight += weight[l];
        s->first += first[l];
        s->second += second[l];
    }
}

static eh_bandwidth_sums sums_at(int64_t n, const float *e, double beta)
{
    eh_bandwidth_sums s = {-1, 0, 0}; /* subtracts exp(0) of the row itself */
    for (int64_t j = 0; j < n; j += STRIP) add_strip(eh_min(STRIP, n - j), e + j, (float)beta, &s);
    return s;
}

EH_SIMD static void weigh(int64_t n, float beta, float scale, float *e)
{
    for (int64_t j = 0; j < n; j++) e[j] = scale * eh_exp(-beta * e[j]);
}

/* Replaces the distances e of row i by its p_j|i. */
static void conditional(int64_t n, int64_t i, double goal, float *e)
{
    shift(n, i, e);
    eh_bandwidth b = eh_bandwidth_start(sums_at(n, e, 0));
    while (!eh_bandwidth_found(&b, sums_at(n, e, b.beta), goal)) {
    }
    weigh(n, (float)b.beta, (float)(1 / sums_at(n, e, b.beta).weight), e);
    e[i] = 0;
}

void eh_cpu_affinities(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P)
{
    const double goal = log(perplexity);
    for_tiles(c, distances, n, dims, eh_f(X), eh_f(P));
#pragma omp parallel for num_threads(c->threads) if (n * n > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) conditional(n, i, goal, eh_f(P) + i * n);
    for_tiles(c, add_directions, n, dims, eh_f(X), eh_f(P));
}
