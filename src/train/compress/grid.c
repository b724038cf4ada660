/* Codebooks: a few levels for all weights of a matrix, and a scale for each column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/compress/grid.h"

enum { LARGEST = 127 };

float eh_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

enhope_status eh_grid_create(enhope_context *ctx, const eh_weight_matrix *matrix, eh_grid *out)
{
    *out = (eh_grid){.matrix = matrix};
    EH_TRY(eh_new(ctx, "scales", matrix->rows, sizeof *out->fold, (void **)&out->fold));
    for (int64_t k = 0; k < matrix->rows; k++) out->fold[k] = 1;
    return eh_new(ctx, "scales", matrix->columns, sizeof *out->scale, (void **)&out->scale);
}

void eh_grid_free(eh_grid *g)
{
    eh_free(g->fold);
    eh_free(g->scale);
    *g = (eh_grid){0};
}

static float weight_at(const eh_grid *g, const eh_weights *w, int64_t k, int64_t j)
{
    return w->theta[g->matrix->at + k * g->matrix->columns + j];
}

/* A weight in units of the root mean square of its column, and its importance. */
typedef struct point {
    double x, weight;
} point;

static int by_x(const void *a, const void *b)
{
    const double x = ((const point *)a)->x, y = ((const point *)b)->x;
    return (x > y) - (x < y);
}

/* The root mean square of the folded weights of column j that are not 0. */
static double column_size(const eh_grid *g, const eh_weights *w, int64_t j)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < g->matrix->rows; k++) {
        const double v = (double)weight_at(g, w, k, j) * (double)g->fold[k];
        sum += v * v;
        n += v != 0;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

/* Lloyd's algorithm for sorted points. */
static void lloyd(const point *p, int64_t n, int count, double *center)
{
    enum { ITERATIONS = 60 };
    for (int i = 0; i < count; i++) center[i] = p[(2 * i + 1) * n / (2 * count)].x;
    for (int round = 0; round < ITERATIONS; round++) {
        int64_t at = 0;
        for (int i = 0; i < count; i++) {
            const double end = i + 1 < count ? (center[i] + center[i + 1]) / 2 : INFINITY;
            double sum = 0, weight = 0;
            for (; at < n && p[at].x <= end; at++) sum += p[at].weight * p[at].x, weight += p[at].weight;
            if (weight > 0) center[i] = sum / weight;
        }
    }
}

enhope_status eh_grid_fit(eh_grid *g, const eh_weights *w, int bits)
{
    const eh_weight_matrix *m = g->matrix;
    point *p = NULL;
    int64_t n = 0;
    double largest = 0, center[256];
    EH_TRY(eh_new(w->t->ctx, "weights", m->rows * m->columns, sizeof *p, (void **)&p));
    for (int64_t j = 0; j < m->columns; j++) {
        const double size = column_size(g, w, j);
        g->scale[j] = eh_bfloat16((float)size);
        for (int64_t k = 0; k < m->rows && size > 0; k++) {
            const int64_t at = m->at + k * m->columns + j;
            const double unit = (double)g->scale[j] / (double)g->fold[k], x = (double)w->theta[at] / unit;
            if (x == 0) continue;
            p[n++] = (point){x, unit * unit * ((double)w->square[at] + 1e-30)};
            largest = fmax(largest, fabs(x));
        }
    }
    qsort(p, (size_t)n, sizeof *p, by_x);
    const int count = (int)eh_min(eh_min(INT64_C(1) << bits, EH_GRID_LEVELS), n);
    lloyd(p, n, count, center);
    eh_free(p);
    const double range = fmin(largest, 12) / LARGEST;
    const float unit = eh_bfloat16((float)range);
    for (int64_t j = 0; j < m->columns; j++) g->scale[j] = eh_bfloat16(g->scale[j] * unit);
    g->levels = 0;
    for (int i = 0; i < count; i++) {
        int level = (int)fmin(fmax(nearbyint(center[i] / (double)unit), -LARGEST), LARGEST);
        if (level == 0) level = center[i] < 0 ? -1 : 1;
        if (g->levels && g->level[g->levels - 1] >= level) continue;
        g->level[g->levels++] = (int8_t)level;
    }
    return ENHOPE_OK;
}

int8_t eh_grid_nearest(const eh_grid *g, int64_t k, int64_t j, float weight)
{
    const double x = (double)weight * (double)g->fold[k] / (double)g->scale[j];
    int low = 0, high = g->levels - 1;
    while (low < high) { /* the first level whose upper neighbor is farther */
        const int middle = (low + high) / 2;
        if (x > ((double)g->level[middle] + (double)g->level[middle + 1]) / 2)
            low = middle + 1;
        else
            high = middle;
    }
    return g->level[low];
}

float eh_grid_value(const eh_grid *g, int64_t k, int64_t j, int8_t level)
{
    return (float)((double)level * (double)g->scale[j] / (double)g->fold[k]);
}

static int descending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

enhope_status eh_grid_apply(const eh_grid *g, eh_weights *w, double part)
{
    const eh_weight_matrix *m = g->matrix;
    float *size = NULL;
    int64_t n = 0;
    EH_TRY(eh_new(w->t->ctx, "weights", m->rows * m->columns + 1, sizeof *size, (void **)&size));
    for (int64_t k = 0; k < m->rows; k++)
        for (int64_t j = 0; j < m->columns; j++)
            if (weight_at(g, w, k, j) != 0) size[n++] = fabsf(weight_at(g, w, k, j) * g->fold[k] / g->scale[j]);
    qsort(size, (size_t)n, sizeof *size, descending);
    const int64_t count = (int64_t)(part * (double)n);
    const float limit = count >= n ? 0 : size[count];
    for (int64_t k = 0; k < m->rows; k++)
        for (int64_t j = 0; j < m->columns; j++) {
            const int64_t at = m->at + k * m->columns + j;
            if (w->theta[at] == 0 || w->mask[at] == 0) continue;
            if (fabsf(w->theta[at] * g->fold[k] / g->scale[j]) < limit) continue;
            w->theta[at] = eh_grid_value(g, k, j, eh_grid_nearest(g, k, j, w->theta[at]));
            w->mask[at] = 0;
        }
    eh_free(size);
    return ENHOPE_OK;
}
