/* Computes regions by clipping. A cell is the set of points whose nearest references are a, b, ...
 * in this order:
 *
 *   cell(a) = box cut by |y - a| <= |y - f| for every other f
 *   cell(a, b) = cell(a) cut by |y - b| <= |y - f|, f not a, ...
 *
 * A cell is divided until k references are known, or until the others cannot change the vote. For k
 * = 1 these are the Voronoi cells. The class beyond a side is the class at a point just beyond the
 * middle of the side: if references coincide, several neighbors change at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/regions.h"

typedef struct corner {
    double x, y;
} corner;

typedef struct polygon {
    corner *at;
    int64_t count, capacity;
} polygon;

typedef struct workspace {
    const region_rule *rule;
    regions *out;
    int64_t cell_capacity, corner_capacity;
    polygon *cut;     /* (k + 1, 2) for each depth: input and output of a cut */
    int32_t *nearest; /* (r, r) for each reference the others, nearest first */
    int32_t *found;   /* (k) nearest references of the current cell */
    int32_t *beyond;  /* (k) nearest references of a point beyond a side */
    bool *taken;      /* (r) whether in found */
    double scale;     /* size of the box, for tolerances */
} workspace;

static const double min_side = 1e-9, offset = 1e-6; /* relative to the scale */

static regions_status grow(void **block, int64_t *capacity, int64_t wanted, size_t size)
{
    if (wanted <= *capacity) return REGIONS_OK;
    const int64_t more = wanted + *capacity;
    void *grown = realloc(*block, (size_t)more * size);
    if (!grown) return REGIONS_NO_MEMORY;
    *block = grown;
    *capacity = more;
    return REGIONS_OK;
}

static double squared(const double *a, const double *b)
{
    const double x = a[0] - b[0], y = a[1] - b[1];
    return x * x + y * y;
}

static const double *place_of(const workspace *w, int32_t reference)
{
    return w->rule->at + 2 * (size_t)reference;
}

/* ---- cuts ---- */

/* (|y - b|^2 - |y - a|^2) / 2 at y = (x, y): positive if a is nearer than b. */
static double nearer(const double *a, const double *b, double x, double y)
{
    return (a[0] - b[0]) * (x - (a[0] + b[0]) / 2) + (a[1] - b[1]) * (y - (a[1] + b[1]) / 2);
}

static void put_corner(polygon *p, double x, double y)
{
    p->at[p->count++] = (corner){x, y};
}

/* The part of `from` that is nearer to reference a than to b. Of coincident references the one with
 * the lower number is nearer, as in the library. */
static regions_status clip(const workspace *w, const polygon *from, int32_t a, int32_t b, polygon *to)
{
    if (grow((void **)&to->at, &to->capacity, from->count + 2, sizeof *to->at)) return REGIONS_NO_MEMORY;
    to->count = 0;
    const double *pa = place_of(w, a), *pb = place_of(w, b);
    if (squared(pa, pb) <= 0) {
        if (a > b) return REGIONS_OK;
        memcpy(to->at, from->at, (size_t)from->count * sizeof *to->at);
        to->count = from->count;
        return REGIONS_OK;
    }
    for (int64_t i = 0; i < from->count; i++) {
        const corner *p = &from->at[i], *q = &from->at[i + 1 < from->count ? i + 1 : 0];
        const double sp = nearer(pa, pb, p->x, p->y), sq = nearer(pa, pb, q->x, q->y), t = sp / (sp - sq);
        if (sp >= 0) put_corner(to, p->x, p->y);
        if ((sp >= 0) != (sq >= 0)) put_corner(to, p->x + t * (q->x - p->x), p->y + t * (q->y - p->y));
    }
    return REGIONS_OK;
}

static double area(const polygon *p)
{
    double sum = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const corner *a = &p->at[i], *b = &p->at[i + 1 < p->count ? i + 1 : 0];
        sum += (a->x - p->at[0].x) * (b->y - p->at[0].y) - (b->x - p->at[0].x) * (a->y - p->at[0].y);
    }
    return fabs(sum) / 2;
}

static double reach(const polygon *p, const double *from)
{
    double farthest = 0;
    for (int64_t i = 0; i < p->count; i++)
        farthest = fmax(farthest, squared(from, (const double[2]){p->at[i].x, p->at[i].y}));
    return farthest;
}

/* The part of parent in which a is the next nearest, in one of the two polygons of this depth. Cuts
 * by the other references, nearest first, until their bisectors lie beyond all corners. */
static regions_status cut_out(const workspace *w, const polygon *parent, int32_t a, int32_t hint, polygon *two,
                              polygon **out)
{
    const polygon *from = parent;
    int turn = 0;
    *out = &two[0];
    for (int32_t i = -1; i < w->rule->r; i++) {
        const int32_t b = i < 0 ? hint : w->nearest[(size_t)a * (size_t)w->rule->r + (size_t)i];
        if (b == a || w->taken[b]) continue;
        if (i >= 0 && squared(place_of(w, a), place_of(w, b)) > 4 * reach(from, place_of(w, a))) break;
        if (clip(w, from, a, b, &two[turn])) return REGIONS_NO_MEMORY;
        from = *out = &two[turn];
        if (from->count < 3) return REGIONS_OK;
        turn = !turn;
    }
    if (from != parent) return REGIONS_OK;
    if (grow((void **)&two[0].at, &two[0].capacity, parent->count, sizeof *two[0].at)) return REGIONS_NO_MEMORY;
    memcpy(two[0].at, parent->at, (size_t)parent->count * sizeof *parent->at);
    two[0].count = parent->count;
    return REGIONS_OK;
}

/* ---- votes ---- */

/* The majority class of the known references; of equal ones the class of the nearest. *lead: the
 * difference of votes to the second class. */
static int32_t vote(const workspace *w, const int32_t *found, int32_t known, int32_t *lead)
{
    const int32_t *label = w->rule->label;
    int32_t winner = label[found[0]], first = 0, second = 0;
    for (int32_t j = 0; j < known; j++) {
        int32_t count = 0, before = 0;
        for (int32_t i = 0; i < known; i++) {
            count += label[found[i]] == label[found[j]];
            before += i < j && label[found[i]] == label[found[j]];
        }
        if (before) continue; /* counted */
        if (count > first) {
            second = first;
            first = count;
            winner = label[found[j]];
        } else if (count > second) {
            second = count;
        }
    }
    *lead = first - second;
    return winner;
}

/* The class at a point. Of references at the same distance the one with the lower number is
 * nearer. */
static int32_t class_at(const workspace *w, const double *place)
{
    const int32_t k = w->rule->k;
    int32_t known = 0, lead;
    for (int32_t f = 0; f < w->rule->r; f++) {
        const double d = squared(place_of(w, f), place);
        int32_t at = known;
        while (at > 0 && d < squared(place_of(w, w->beyond[at - 1]), place)) at--;
        if (at == k) continue;
        if (known < k) known++;
        memmove(w->beyond + at + 1, w->beyond + at, (size_t)(known - 1 - at) * sizeof *w->beyond);
        w->beyond[at] = f;
    }
    return vote(w, w->beyond, k, &lead);
}

/* Whether a class with a higher number lies beyond the side from p to q. So each border is drawn
 * once. */
static bool is_border(const workspace *w, const corner *p, const corner *q, int32_t label)
{
    const double *box = w->rule->box, length = hypot(q->x - p->x, q->y - p->y), off = offset * w->scale / length;
    const double place[2] = {(p->x + q->x) / 2 + off * (q->y - p->y), (p->y + q->y) / 2 - off * (q->x - p->x)};
    if (place[0] < box[0] || place[0] > box[2] || place[1] < box[1] || place[1] > box[3]) return false;
    return class_at(w, place) > label;
}

/* ---- division ---- */

/* Stores a cell, without sides of length zero up to rounding. */
static regions_status keep(workspace *w, const polygon *p, int32_t label)
{
    regions *out = w->out;
    if (out->cells >= REGIONS_MAX_CELLS) return REGIONS_TOO_MANY;
    if (grow((void **)&out->cell, &w->cell_capacity, out->cells + 1, sizeof *out->cell) ||
        grow((void **)&out->corner, &w->corner_capacity, out->corners + p->count, sizeof *out->corner))
        return REGIONS_NO_MEMORY;
    region_cell *cell = &out->cell[out->cells++];
    *cell = (region_cell){label, out->corners, 0};
    for (int64_t i = 0; i < p->count; i++) {
        const corner *a = &p->at[i], *b = &p->at[i + 1 < p->count ? i + 1 : 0];
        if (hypot(b->x - a->x, b->y - a->y) <= min_side * w->scale) continue;
        out->corner[out->corners++] = (region_corner){a->x, a->y, is_border(w, a, b, label)};
    }
    cell->corners = out->corners - cell->first;
    return REGIONS_OK;
}

/* The free reference nearest to the middle of a cell. Its cut removes most of the cell for
 * others. */
static int32_t nearest_to_middle(const workspace *w, const polygon *p)
{
    double middle[2] = {0, 0}, min_distance = HUGE_VAL;
    int32_t best = -1;
    for (int64_t i = 0; i < p->count; i++) {
        middle[0] += p->at[i].x / (double)p->count;
        middle[1] += p->at[i].y / (double)p->count;
    }
    for (int32_t f = 0; f < w->rule->r; f++) {
        const double d = w->taken[f] ? HUGE_VAL : squared(place_of(w, f), middle);
        if (best < 0 || d < min_distance) {
            best = f;
            min_distance = d;
        }
    }
    return best;
}

static regions_status divide(workspace *w, const polygon *parent, int32_t known)
{
    const int32_t hint = nearest_to_middle(w, parent);
    for (int32_t a = 0; a < w->rule->r; a++) {
        if (w->taken[a]) continue;
        polygon *cell;
        if (cut_out(w, parent, a, hint, &w->cut[2 * (size_t)known], &cell)) return REGIONS_NO_MEMORY;
        if (cell->count < 3 || area(cell) <= 1e-14 * w->scale * w->scale) continue;
        int32_t lead;
        w->found[known] = a;
        w->taken[a] = true;
        const int32_t winner = vote(w, w->found, known + 1, &lead), open = w->rule->k - known - 1;
        const regions_status status = lead > open || !open ? keep(w, cell, winner) : divide(w, cell, known + 1);
        w->taken[a] = false;
        if (status) return status;
    }
    return REGIONS_OK;
}

typedef struct distance {
    double squared;
    int32_t to;
} distance;

static int compare_distances(const void *a, const void *b)
{
    const distance *p = a, *q = b;
    if (p->squared < q->squared || p->squared > q->squared) return p->squared < q->squared ? -1 : 1;
    return (p->to > q->to) - (p->to < q->to);
}

static void sort_others(workspace *w, distance *others)
{
    const int32_t r = w->rule->r;
    for (int32_t a = 0; a < r; a++) {
        for (int32_t b = 0; b < r; b++) others[b] = (distance){squared(place_of(w, a), place_of(w, b)), b};
        qsort(others, (size_t)r, sizeof *others, compare_distances);
        for (int32_t b = 0; b < r; b++) w->nearest[(size_t)a * (size_t)r + (size_t)b] = others[b].to;
    }
}

static regions_status divide_box(workspace *w)
{
    const double *box = w->rule->box;
    corner corners[4] = {{box[0], box[1]}, {box[2], box[1]}, {box[2], box[3]}, {box[0], box[3]}};
    const polygon whole = {corners, 4, 4};
    w->scale = fmax(box[2] - box[0], box[3] - box[1]);
    return divide(w, &whole, 0);
}

regions_status regions_create(const region_rule *rule, regions *out)
{
    regions made = {0};
    if (rule->r > REGIONS_MAX_REFERENCES) return REGIONS_TOO_MANY;
    const size_t r = (size_t)rule->r, k = (size_t)rule->k;
    workspace w = {.rule = rule,
                   .out = &made,
                   .cut = calloc(2 * (k + 1), sizeof *w.cut),
                   .nearest = calloc(r * r + 1, sizeof *w.nearest),
                   .found = calloc(k, sizeof *w.found),
                   .beyond = calloc(k, sizeof *w.beyond),
                   .taken = calloc(r + 1, sizeof *w.taken)};
    distance *others = calloc(r + 1, sizeof *others);
    regions_status status = REGIONS_NO_MEMORY;
    if (w.cut && w.nearest && w.found && w.beyond && w.taken && others) {
        sort_others(&w, others);
        status = divide_box(&w);
    }
    for (size_t i = 0; w.cut && i < 2 * (k + 1); i++) free(w.cut[i].at);
    free(w.cut);
    free(w.nearest);
    free(w.found);
    free(w.beyond);
    free(w.taken);
    free(others);
    if (status)
        regions_free(&made);
    else
        *out = made;
    return status;
}

void regions_free(regions *regions)
{
    free(regions->cell);
    free(regions->corner);
    regions->cell = NULL;
    regions->corner = NULL;
    regions->cells = regions->corners = 0;
}
