/* Places labels without lines that connect them with their places.
 *
 * The candidates of a label are the points of a grid around its place. A candidate costs
 *
 *   distance of the center from the place / height + 30 * sum of the weights of the dots below it
 *   + what is missing to a clear lead over the other places
 *
 * so a label lies beside a class that it would hide, and not between two classes. A candidate is
 * free if the label is in the box, overlaps no other label, and is nearer to its place than to any
 * other place by a margin. Labels take their cheapest free candidate in turn. A label without a
 * free candidate takes the cheapest that only other labels cover, and these are placed again. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plot/labels.h"

enum { PASSES = 8, EVICTING_PASSES = 5, MAX_CELLS = 1000 };
static const double hidden_cost = 30;
/* Relative to the height of a label. */
static const double reach = 2.2, step = 0.2, gap = 0.15, margin = 0.3, clear = 1.5;

typedef struct density { /* sums of weights over the cells left of and above a corner */
    double *sum;         /* (rows + 1, columns + 1) */
    int64_t rows, columns;
    double left, top, cell;
} density;

typedef struct work {
    const label_request *request;
    density density;
    double *center; /* (count, 2) */
} work;

/* ---- density ---- */

static int64_t clamp(double value, int64_t last)
{
    return value <= 0 ? 0 : value >= (double)last ? last : (int64_t)value;
}

static double *corner_of(const density *d, int64_t row, int64_t column)
{
    return d->sum + row * (d->columns + 1) + column;
}

static bool measure(density *d, const label_request *r)
{
    const double wide = r->box[2] - r->box[0], tall = r->box[3] - r->box[1];
    d->left = r->box[0];
    d->top = r->box[1];
    d->cell = fmax(2, fmax(wide, tall) / MAX_CELLS);
    d->columns = 1 + (int64_t)(wide / d->cell);
    d->rows = 1 + (int64_t)(tall / d->cell);
    d->sum = calloc((size_t)(d->rows + 1) * (size_t)(d->columns + 1), sizeof *d->sum);
    if (!d->sum) return false;
    for (int64_t i = 0; i < r->dots; i++) {
        const int64_t column = clamp(((double)r->dot[i].x - d->left) / d->cell, d->columns - 1),
                      row = clamp(((double)r->dot[i].y - d->top) / d->cell, d->rows - 1);
        *corner_of(d, row + 1, column + 1) += (double)r->dot[i].weight;
    }
    for (int64_t row = 1; row <= d->rows; row++) {
        const double *above = corner_of(d, row - 1, 0);
        double *sum = corner_of(d, row, 0);
        for (int64_t j = 1; j <= d->columns; j++) sum[j] += above[j] + sum[j - 1] - above[j - 1];
    }
    return true;
}

static double covered(const density *d, double x, double y, double width, double height)
{
    const int64_t left = clamp((x - width / 2 - d->left) / d->cell, d->columns),
                  right = clamp(ceil((x + width / 2 - d->left) / d->cell), d->columns),
                  top = clamp((y - height / 2 - d->top) / d->cell, d->rows),
                  bottom = clamp(ceil((y + height / 2 - d->top) / d->cell), d->rows);
    return *corner_of(d, bottom, right) - *corner_of(d, top, right) - *corner_of(d, bottom, left) +
           *corner_of(d, top, left);
}

/* ---- candidates ---- */

static bool is_placed(const work *w, int32_t i)
{
    return isfinite(w->center[2 * i]);
}

static bool overlaps(const work *w, int32_t i, double x, double y, int32_t other)
{
    const label_request *r = w->request;
    const double space = gap * r->height;
    return other != i && r->width[other] > 0 && is_placed(w, other) &&
           fabs(w->center[2 * other] - x) < (r->width[i] + r->width[other]) / 2 + space &&
           fabs(w->center[2 * other + 1] - y) < r->height + space;
}

static double distance(const label_request *r, double x, double y, double width, int32_t place)
{
    const double dx = fabs(r->at[2 * place] - x) - width / 2, dy = fabs(r->at[2 * place + 1] - y) - r->height / 2;
    return hypot(fmax(dx, 0), fmax(dy, 0));
}

/* By how much a label is nearer to its own place than to any other, in heights; -1 if that is less
 * than the margin, or if the label is too far. */
static double find_lead(const label_request *r, int32_t i, double x, double y)
{
    const double own = distance(r, x, y, r->width[i], i), min_nearest = own + margin * r->height;
    double nearest = own + clear * r->height;
    if (own > reach * r->height) return -1;
    for (int32_t k = 0; k < r->count; k++) {
        if (k == i || r->width[k] <= 0 || fabs(r->at[2 * k + 1] - y) - r->height / 2 >= nearest) continue;
        nearest = fmin(nearest, distance(r, x, y, r->width[i], k));
        if (nearest < min_nearest) return -1; /* soon, if there are many places */
    }
    return (nearest - own) / r->height;
}

static bool is_inside(const label_request *r, int32_t i, double x, double y)
{
    return x - r->width[i] / 2 >= r->box[0] && x + r->width[i] / 2 <= r->box[2] && y - r->height / 2 >= r->box[1] &&
           y + r->height / 2 <= r->box[3];
}

static bool is_free(const work *w, int32_t i, double x, double y)
{
    for (int32_t k = 0; k < w->request->count; k++)
        if (overlaps(w, i, x, y, k)) return false;
    return true;
}

/* The cheapest candidate of a label; if `alone`, other labels are ignored. */
static bool find_place(const work *w, int32_t i, bool alone, double out[2])
{
    const label_request *r = w->request;
    const double unit = step * r->height;
    const int across = (int)((r->width[i] / 2 + reach * r->height) / unit),
              down = (int)((r->height / 2 + reach * r->height) / unit);
    double min_cost = HUGE_VAL;
    for (int row = -down; row <= down; row++)
        for (int column = -across; column <= across; column++) {
            const double x = r->at[2 * i] + unit * column, y = r->at[2 * i + 1] + unit * row;
            double cost = step * hypot(row, column);
            if (cost >= min_cost || !is_inside(r, i, x, y)) continue;
            cost += hidden_cost * covered(&w->density, x, y, r->width[i], r->height);
            if (cost >= min_cost) continue;
            const double lead = find_lead(r, i, x, y);
            cost += clear - lead;
            if (cost >= min_cost || lead < 0 || (!alone && !is_free(w, i, x, y))) continue;
            min_cost = cost;
            out[0] = x;
            out[1] = y;
        }
    return min_cost < HUGE_VAL;
}

/* ---- placement ---- */

/* Returns whether the label changed its place. */
static bool place(work *w, int32_t i, bool evict)
{
    double *center = w->center + 2 * i, found[2] = {NAN, NAN};
    if (!find_place(w, i, false, found) && evict && find_place(w, i, true, found))
        for (int32_t k = 0; k < w->request->count; k++)
            if (overlaps(w, i, found[0], found[1], k)) w->center[2 * k] = w->center[2 * k + 1] = NAN;
    const bool same = isfinite(found[0]) ? center[0] == found[0] && center[1] == found[1] : !isfinite(center[0]);
    center[0] = found[0];
    center[1] = found[1];
    return !same;
}

int32_t labels_place(const label_request *request, double *center)
{
    work w = {.request = request, .center = center};
    if (!measure(&w.density, request)) return -1;
    for (int32_t i = 0; i < 2 * request->count; i++) center[i] = NAN;
    bool moved = true;
    for (int pass = 0; moved && pass < PASSES; pass++) {
        moved = false;
        for (int32_t i = 0; i < request->count; i++)
            if (request->width[i] > 0 && place(&w, i, pass < EVICTING_PASSES)) moved = true;
    }
    free(w.density.sum);
    int32_t missing = 0;
    for (int32_t i = 0; i < request->count; i++) missing += request->width[i] > 0 && !is_placed(&w, i);
    return missing;
}
