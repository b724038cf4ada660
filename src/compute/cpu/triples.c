/* Large-margin problems on the cpu (compute.h): first the bounds 1 + d_it, then one pass over
 * all pairs (i, j).
 *
 * The derivative of a pair is the number of bounds it lies within, of i and of j. The gradient
 * of a row as an anchor and as an impostor is therefore one sum, made by one thread. Distances
 * are computed a strip at a time, so nothing of size n x n is stored. */
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"

enum { STRIP = 256 };

/* Intermediate results of a call. */
typedef struct workspace {
    double *loss;    /* (n) contribution of each anchor */
    float *bound;    /* (targets, n) 1 + d_it; -inf if the target is absent */
    int32_t *active; /* (n, targets) number of impostors within each bound */
} workspace;

static float squared_distance(int64_t h, const float *a, const float *b)
{
    float sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static void find_bounds(const eh_triples *p, int64_t i, const workspace *to)
{
    const float *Y = eh_f(p->Y);
    double sum = 0;
    for (int64_t t = 0; t < p->targets; t++) {
        const int64_t row = p->n + i * p->targets + t;
        const bool none = eh_host_labels(p->label)[row] < 0;
        const float d = squared_distance(p->h, Y + i * p->h, Y + row * p->h);
        to->bound[t * p->n + i] = none ? -INFINITY : 1 + d;
        sum += none ? 0 : d;
    }
    to->loss[i] = p->pull * sum;
}

/* Sets the distance of points of the anchor's class to infinity. */
EH_SIMD static void skip_same_class(int64_t count, int32_t own, const int32_t *restrict label, float *restrict d)
{
    for (int64_t j = 0; j < count; j++) d[j] = label[j] == own ? INFINITY : d[j];
}

/* Counts the impostors within one bound, and adds to their margins and derivatives. NaN counts
 * as within. */
EH_SIMD static int32_t within_bound(int64_t count, float bound, const float *restrict d, float *restrict margin,
                                    float *restrict slope)
{
    int32_t found = 0;
    for (int64_t j = 0; j < count; j++) {
        const float excess = bound - d[j];
        margin[j] += excess <= 0 ? 0 : excess;
        slope[j] += excess <= 0 ? 0 : 1;
        found += excess <= 0 ? 0 : 1;
    }
    return found;
}

EH_SIMD static double sum_of(int64_t count, const float *restrict x)
{
    float partial[16] = {0};
    int64_t j = 0;
    for (; j + 16 <= count; j += 16)
        for (int l = 0; l < 16; l++) partial[l] += x[j + l];
    for (; j < count; j++) partial[0] += x[j];
    double sum = 0;
    for (int l = 0; l < 16; l++) sum += partial[l];
    return sum;
}

/* Adds the number of anchors that have this point within their bound to the derivatives. */
EH_SIMD static void within_bounds(int64_t count, const float *restrict bound, const float *restrict d,
                                  float *restrict slope)
{
    for (int64_t j = 0; j < count; j++) slope[j] += bound[j] <= d[j] ? 0 : 1;
}

/* Row i against all other anchors: out (h) += 2 sum of derivatives times differences. Returns
 * the sum of margins. */
static double push_pass(const eh_triples *p, int64_t i, const workspace *of, float *out)
{
    const int64_t n = p->n, h = p->h;
    const float *y = eh_f(p->Y) + i * h;
    const int32_t *label = eh_host_labels(p->label);
    int32_t *active = of->active + i * p->targets;
    double sum = 0;
    for (int64_t from = 0; from < n; from += STRIP) {
        const int64_t count = n - from < STRIP ? n - from : STRIP;
        const float *Y = eh_f(p->Y) + from * h;
        float d[STRIP], margin[STRIP] = {0}, slope[STRIP] = {0};
        eh_cpu_distances(count, h, y, Y, d);
        skip_same_class(count, label[i], label + from, d);
        for (int64_t t = 0; t < p->targets; t++) {
            active[t] += within_bound(count, of->bound[t * n + i], d, margin, slope);
            within_bounds(count, of->bound + t * n + from, d, slope);
        }
        sum += sum_of(count, margin);
        eh_cpu_pull_towards(count, h, slope, y, Y, out);
    }
    return sum;
}

/* The gradient of anchor i and of its targets. */
static void pull_and_push(const eh_triples *p, int64_t i, const workspace *of, float *dY)
{
    const int64_t h = p->h, first = p->n + i * p->targets;
    const float *Y = eh_f(p->Y);
    float *out = dY + i * h;
    of->loss[i] += p->push * push_pass(p, i, of, out);
    for (int64_t k = 0; k < h; k++) out[k] *= (float)-p->push;
    for (int64_t t = 0; t < p->targets; t++) {
        const bool none = eh_host_labels(p->label)[first + t] < 0;
        const float slope = none ? 0 : (float)(2 * (p->pull + p->push * of->active[i * p->targets + t]));
        for (int64_t k = 0; k < h; k++) {
            const float change = slope * (Y[i * h + k] - Y[(first + t) * h + k]);
            out[k] += change;
            dY[(first + t) * h + k] = -change;
        }
    }
}

void eh_cpu_triples(eh_compute *c, const eh_triples *p, eh_loss *loss, eh_real *dY)
{
    const int64_t n = p->n, each = p->targets;
    eh_loss_value *value = eh_host_value(loss);
    *value = (eh_loss_value){.value = NAN};
    memset(dY, 0, (size_t)(n * (1 + each) * p->h) * sizeof(float));
    char *scratch = eh_cpu_scratch(c->state, n, sizeof(double) + (size_t)each * (sizeof(float) + sizeof(int32_t)));
    if (!scratch) return;
    const workspace of = {.loss = (double *)scratch,
                          .bound = (float *)(scratch + n * (int64_t)sizeof(double)),
                          .active =
                              (int32_t *)(scratch + n * (int64_t)(sizeof(double) + (size_t)each * sizeof(float)))};
    memset(of.active, 0, (size_t)(n * each) * sizeof *of.active);
    const bool shared = n * n * each > EH_CPU_ALONE;
#pragma omp parallel for num_threads(c->threads) if (shared) schedule(static)
    for (int64_t i = 0; i < n; i++) find_bounds(p, i, &of);
#pragma omp parallel for num_threads(c->threads) if (shared) schedule(static)
    for (int64_t i = 0; i < n; i++) pull_and_push(p, i, &of, eh_f(dY));
    value->value = 0;
    for (int64_t i = 0; i < n; i++) value->value += of.loss[i];
}
