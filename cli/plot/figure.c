/* Draws the figure: the regions of the classes, a mark for each point, an open circle for each
 * exemplar, and the names of the classes on the map or in a legend.
 *
 * Points at the same place are drawn once. Places are rounded to 0.1 pixels, or to a quarter of
 * a dot if there are many points. Dense points are drawn below sparse ones, so that a stray point
 * is visible on a cluster of another class. Dots are opaque, so every one has the contrast of its
 * color. A path contains the points of a class of about the same density, which keeps the file
 * small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure.h"
#include "plot/regions.h"

enum { MAX_NAMES = 200 }; /* on the map automatically */

static const uint32_t line_color = 0xbbbbbb, border_color = 0x8a8a8a, white = 0xffffff;

/* ---- layout ---- */

static bool finite_pair(const float *Y, int64_t row, int64_t h)
{
    return isfinite(Y[row * h]) && isfinite(Y[row * h + 1]);
}

static void stretch(double bounds[4], const float *Y, int64_t rows, int64_t h)
{
    for (int64_t i = 0; i < rows; i++) {
        if (!finite_pair(Y, i, h)) continue;
        const double x = (double)Y[i * h], y = (double)Y[i * h + 1];
        bounds[0] = fmin(bounds[0], x);
        bounds[1] = fmax(bounds[1], x);
        bounds[2] = fmin(bounds[2], y);
        bounds[3] = fmax(bounds[3], y);
    }
}

static double page_share(const cli_figure *p) /* reduction of sizes in a small figure */
{
    return fmin(1, (double)(p->width < p->height ? p->width : p->height) / 480);
}

/* Smaller for more points. With more than ten classes, marks must be recognizable, except above
 * DENSE points. */
static double default_point(const cli_figure *p)
{
    enum { DENSE = 60000 };
    const double n = (double)p->n + 1, min_size = (figure_has_marks(p) ? 4.0 : 2.2) * fmin(1, sqrt(sqrt(DENSE / n)));
    return page_share(p) * fmin(6.0, fmax(min_size, 160.0 / sqrt(n)));
}

double figure_exemplar_radius(const cli_figure *p)
{
    return fmax(1.6, page_share(p) * fmax(2.5, 5 * fmin(1, sqrt(60.0 / (double)(p->r + 1)))));
}

/* Smaller for more errors. */
static double error_size(const cli_figure *p)
{
    return fmax(1.25 * p->point, page_share(p) * fmin(4, fmax(2.8, 4 * sqrt(300.0 / (double)(p->errors + 1)))));
}

/* One scale for both axes, because distances matter. */
static void fit(figure_frame *f, const cli_figure *p)
{
    double bounds[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    stretch(bounds, p->Y, p->n, p->h);
    if (p->circles) stretch(bounds, p->reference, p->r, p->h);
    if (bounds[0] > bounds[1]) bounds[0] = bounds[1] = bounds[2] = bounds[3] = 0;
    const double widest =
        fmax(p->circles ? 1.35 * figure_exemplar_radius(p) : 0, 0.75 * (p->wrong ? error_size(p) : p->point));
    const double margin = fmin(widest + 6, fmin(f->width, f->height) / 4);
    const double wide = fmax(bounds[1] - bounds[0], 1e-12), tall = fmax(bounds[3] - bounds[2], 1e-12);
    f->s = fmin((f->width - 2 * margin) / wide, (f->height - 2 * margin) / tall);
    f->x0 = (bounds[0] + bounds[1]) / 2;
    f->y0 = (bounds[2] + bounds[3]) / 2;
}

double figure_x(const figure_frame *f, const float *y)
{
    return f->left + f->width / 2 + f->s * ((double)y[0] - f->x0);
}

double figure_y(const figure_frame *f, const float *y)
{
    return f->top + f->height / 2 - f->s * ((double)y[1] - f->y0);
}

/* ---- points ---- */

typedef struct dot { /* in units of 0.1 pixels */
    int32_t x, y, group;
    int32_t about; /* points of its group near it, with itself; then its level, 0: densest */
} dot;

static int compare_dots(const void *a, const void *b)
{
    const dot *p = a, *q = b;
    if (p->about != q->about) return p->about < q->about ? -1 : 1;
    if (p->group != q->group) return p->group < q->group ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static int compare_groups(const void *a, const void *b)
{
    const dot *p = a, *q = b;
    return (p->group > q->group) - (p->group < q->group);
}

static size_t place_dots(dot *dots, const cli_figure *p, const figure_frame *f)
{
    size_t count = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (!finite_pair(p->Y, i, p->h)) continue;
        const float *y = p->Y + i * p->h;
        dots[count++] =
            (dot){(int32_t)lround(10 * figure_x(f, y)), (int32_t)lround(10 * figure_y(f, y)), p->group[i], 0};
    }
    return count;
}

/* A grid of squares 1.5 dots wide over the frame, with one more square on each side. */
typedef struct grid {
    int32_t *count; /* (rows, columns) */
    int32_t rows, columns;
    double left, top, step;
} grid;

static int32_t *square_of(const grid *g, const dot *d)
{
    const int32_t column = 1 + (int32_t)floor((d->x / 10.0 - g->left) / g->step),
                  row = 1 + (int32_t)floor((d->y / 10.0 - g->top) / g->step);
    return g->count + (size_t)row * (size_t)g->columns + (size_t)column;
}

/* Counts the neighbors of each dot in its own square and the eight adjacent squares. */
static int count_about(dot *dots, size_t count, const cli_figure *p, const figure_frame *f)
{
    grid g = {.left = f->left, .top = f->top, .step = fmax(1.5 * p->point, 1)};
    g.columns = 3 + (int32_t)floor(f->width / g.step);
    g.rows = 3 + (int32_t)floor(f->height / g.step);
    g.count = cli_alloc("the density", g.rows, g.columns, sizeof *g.count);
    if (!g.count) return CLI_FAILED;
    qsort(dots, count, sizeof *dots, compare_groups);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && dots[last].group == dots[first].group; last++) ++*square_of(&g, &dots[last]);
        for (size_t i = first; i < last; i++)
            for (int square = 0; square < 9; square++)
                dots[i].about += square_of(&g, &dots[i])[(square / 3 - 1) * g.columns + square % 3 - 1];
        for (size_t i = first; i < last; i++) *square_of(&g, &dots[i]) = 0;
    }
    free(g.count);
    return 0;
}

enum { LEVELS = 7, DENSE = 20 /* points in nine squares, which then cover each other */ };

static int32_t snap(int32_t tenths, int32_t step)
{
    return (int32_t)lround((double)tenths / step) * step;
}

/* Replaces counts by logarithmic levels. Returns the last level with DENSE points or more only, -1
 * if there is none. */
static int32_t find_levels(dot *dots, size_t count, double point)
{
    const int32_t step = (int32_t)fmax(1, lround(10 * point / 4));
    int32_t max_count = 1;
    for (size_t i = 0; i < count; i++)
        if (dots[i].about > max_count) max_count = dots[i].about;
    const double range = log((double)max_count);
    for (size_t i = 0; i < count; i++) {
        const double share = range > 0 ? log((double)dots[i].about) / range : 1;
        if (dots[i].about >= DENSE) {
            dots[i].x = snap(dots[i].x, step);
            dots[i].y = snap(dots[i].y, step);
        }
        dots[i].about = (int32_t)lround((LEVELS - 1) * (1 - share));
    }
    return max_count < DENSE ? -1 : (int32_t)floor((LEVELS - 1) * (1 - log(DENSE) / range) - 0.5);
}

/* ---- exemplars ---- */

canvas_pen figure_exemplar_pen(const cli_figure *p)
{
    return (canvas_pen){FIGURE_DARK, 1, fmax(0.6, 0.2 * figure_exemplar_radius(p))};
}

/* A thin white ring below the dark one separates it from dots of any color. */
static void put_exemplars(canvas *c, const cli_figure *p, const figure_frame *f)
{
    if (!p->circles) return;
    const canvas_pen pen = figure_exemplar_pen(p);
    for (int pass = 0; pass < 2; pass++) {
        c->begin(c, pass ? &pen : &(canvas_pen){white, 1, 2.2 * pen.width});
        for (int64_t i = 0; i < p->r; i++) {
            const float *y = p->reference + i * p->h;
            if (finite_pair(p->reference, i, p->h))
                c->circle(c, figure_x(f, y), figure_y(f, y), figure_exemplar_radius(p));
        }
        c->end(c);
    }
}

/* ---- points and exemplars ---- */

/* Draws dots from number i while their level is at most `last`; returns the number of the next. */
static size_t put_dots(canvas *c, const cli_figure *p, const dot *dots, size_t i, size_t count, int32_t last)
{
    const size_t first = i;
    for (; i < count && dots[i].about <= last; i++) {
        const dot *d = &dots[i];
        const bool fresh = i == first || d->about != d[-1].about || d->group != d[-1].group;
        if (!fresh && d->x == d[-1].x && d->y == d[-1].y) continue;
        if (fresh && i > first) c->end(c);
        if (fresh) figure_begin_marks(c, figure_mark_of(p, d->group), figure_fill_of(p, d->group), p->point);
        figure_put_mark(c, figure_mark_of(p, d->group), d->x / 10.0, d->y / 10.0, p->point);
    }
    if (i > first) c->end(c);
    return i;
}

/* Exemplars are below the dots, so that they hide none. Only dots that cover each other are below
 * the exemplars, which would be invisible otherwise. */
static int put_points(canvas *c, const cli_figure *p, const figure_frame *f)
{
    dot *dots = cli_alloc("dots", p->n, 1, sizeof *dots);
    if (!dots) return CLI_FAILED;
    const size_t count = place_dots(dots, p, f);
    const int code = count_about(dots, count, p, f);
    if (!code) {
        const int32_t dense = find_levels(dots, count, p->point);
        qsort(dots, count, sizeof *dots, compare_dots);
        const size_t next = put_dots(c, p, dots, 0, count, dense);
        put_exemplars(c, p, f);
        put_dots(c, p, dots, next, count, LEVELS);
    }
    free(dots);
    return code;
}

/* ---- errors ---- */

/* A misclassified point has a dark edge: a dark mark below a slightly smaller one. */
void figure_put_error(canvas *c, const figure_mark *m, canvas_pen pen, double x, double y, double size, double edge)
{
    for (int pass = 0; pass < 2; pass++) {
        const double diameter = pass ? size : size + edge * (m->corners ? 1.9 : 1.4);
        figure_begin_marks(c, m, pass ? pen : (canvas_pen){FIGURE_DARK, 1, 0}, diameter);
        figure_put_mark(c, m, x, y, diameter);
        c->end(c);
    }
}

/* Edges are thinner for many errors, so that the map does not become dark. */
static void put_errors(canvas *c, const cli_figure *p, const figure_frame *f)
{
    const double size = error_size(p), edge = fmax(0.5, fmin(1, sqrt(600.0 / (double)(p->errors + 1))));
    for (int64_t i = 0; p->wrong && i < p->n; i++) {
        if (!p->wrong[i] || !finite_pair(p->Y, i, p->h)) continue;
        const float *y = p->Y + i * p->h;
        figure_put_error(c, figure_mark_of(p, p->group[i]), figure_fill_of(p, p->group[i]), figure_x(f, y),
                         figure_y(f, y), size, edge);
    }
}

/* ---- regions ---- */

static uint32_t tint(uint32_t color)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 24; shift += 8)
        result |= (uint32_t)lround(255 - 0.16 * (255 - (double)(color >> shift & 255))) << shift;
    return result;
}

static void put_cells(canvas *c, const cli_figure *p, const regions *all, int32_t label)
{
    c->begin(c, &(canvas_pen){tint(figure_color_of(p, label)), 1, 0});
    for (int64_t i = 0; i < all->cells; i++) {
        if (all->cell[i].label != label) continue;
        const region_corner *corner = all->corner + all->cell[i].first;
        for (int64_t j = 0; j < all->cell[i].corners; j++) (j ? c->line : c->move)(c, corner[j].x, corner[j].y);
        c->close(c);
    }
    c->end(c);
}

static void put_borders(canvas *c, const regions *all)
{
    c->begin(c, &(canvas_pen){border_color, 1, 0.8});
    for (int64_t i = 0; i < all->cells; i++)
        for (int64_t j = 0; j < all->cell[i].corners; j++) {
            const region_corner *from = all->corner + all->cell[i].first + j;
            const region_corner *to = j + 1 < all->cell[i].corners ? from + 1 : all->corner + all->cell[i].first;
            if (!from->border) continue;
            c->move(c, from->x, from->y);
            c->line(c, to->x, to->y);
        }
    c->end(c);
}

/* The references in page coordinates. Both axes have the same scale, so the nearest stay the
 * nearest. */
static void place_references(region_rule *rule, double *at, int32_t *label, const cli_figure *p, const figure_frame *f)
{
    for (int64_t i = 0; i < p->r; i++) {
        if (!finite_pair(p->reference, i, p->h)) continue;
        at[2 * (size_t)rule->r] = figure_x(f, p->reference + i * p->h);
        at[2 * (size_t)rule->r + 1] = figure_y(f, p->reference + i * p->h);
        label[rule->r++] = p->reference_label[i];
    }
}

static int put_regions(canvas *c, const cli_figure *p, const figure_frame *f)
{
    double *at = cli_alloc("the references", p->r, 2, sizeof *at);
    int32_t *label = at ? cli_alloc("the references", p->r, 1, sizeof *label) : NULL;
    region_rule rule = {.at = at, .label = label, .k = p->k, .box = {f->left, f->top}};
    rule.box[2] = f->left + f->width;
    rule.box[3] = f->top + f->height;
    regions all = {0};
    regions_status status = label ? REGIONS_OK : REGIONS_NO_MEMORY;
    if (label) place_references(&rule, at, label, p, f);
    if (rule.k > rule.r) rule.k = rule.r;
    if (label && rule.r) status = regions_create(&rule, &all);
    free(at);
    free(label);
    if (status == REGIONS_TOO_MANY)
        return cli_error("--regions: %d neighbors among %lld references give more than %d cells; use a smaller -k",
                         (int)p->k, (long long)p->r, (int)REGIONS_MAX_CELLS);
    if (status) return cli_error("out of memory: regions of %lld references", (long long)p->r);
    for (int32_t g = 0; g < p->classes; g++) put_cells(c, p, &all, g);
    put_borders(c, &all);
    regions_free(&all);
    return 0;
}

/* ---- figure ---- */

static void put_frame(canvas *c, const figure_frame *f, const canvas_pen *pen)
{
    c->begin(c, pen);
    c->move(c, f->left, f->top);
    c->line(c, f->left + f->width, f->top);
    c->line(c, f->left + f->width, f->top + f->height);
    c->line(c, f->left, f->top + f->height);
    c->close(c);
    c->end(c);
}

/* Where everything is. */
typedef struct layout {
    figure_frame frame;
    figure_legend legend;
    figure_names names;
} layout;

static void fit_beside(layout *l, const cli_figure *p, double top)
{
    figure_frame *f = &l->frame;
    *f = (figure_frame){.left = FIGURE_MARGIN, .top = top};
    f->height = (double)p->height - top - FIGURE_MARGIN - l->legend.below;
    f->width = (l->legend.below > 0 ? (double)p->width - FIGURE_MARGIN : l->legend.left - FIGURE_MARGIN / 2) - f->left;
    fit(f, p);
}

/* Names on the map replace the legend if every class has a place for its own, or at least no more
 * classes remain without a name than in the legend. */
static int find_layout(layout *l, const cli_figure *p, double top)
{
    const figure_legend beside = figure_plan_legend(p, top);
    int code = 0;
    if (p->labels == CLI_LABELS_AUTO && p->classes <= MAX_NAMES) {
        l->legend = figure_plan_row(p);
        fit_beside(l, p, top);
        code = figure_place_names(&l->names, p, &l->frame);
        if (!code && l->names.missing <= p->groups - beside.listed) return 0;
        figure_free_names(&l->names);
    }
    l->legend = beside;
    fit_beside(l, p, top);
    return code || p->labels != CLI_LABELS_ON ? code : figure_place_names(&l->names, p, &l->frame);
}

static int put_figure(canvas *c, const cli_figure *p, const layout *l)
{
    const figure_frame *f = &l->frame;
    int code = p->reference_label ? put_regions(c, p, f) : 0;
    if (code) return code;
    code = put_points(c, p, f);
    if (code) return code;
    put_errors(c, p, f);
    put_frame(c, f, &(canvas_pen){line_color, 1, 1});
    if (*p->title)
        c->text(c, f->left, 1.7 * p->font_size, 1.15 * p->font_size, (double)p->width - 2 * FIGURE_MARGIN, p->title);
    figure_put_names(c, p, &l->names);
    if (p->legend) figure_put_legend(c, p, &l->legend);
    return 0;
}

int cli_figure_draw(FILE *out, const cli_figure *request)
{
    cli_figure figure = *request;
    const cli_figure *p = &figure;
    if (figure.point <= 0) figure.point = default_point(p);
    layout l = {0};
    int code = find_layout(&l, p, *p->title ? 2.6 * p->font_size : FIGURE_MARGIN);
    const canvas_page page = {p->format, (double)p->width, (double)p->height, p->scale, p->title, p->font};
    canvas *c = code ? NULL : p->format == CANVAS_SVG ? canvas_open_svg(out, &page) : canvas_open_cairo(out, &page);
    if (c) {
        const int drawn = put_figure(c, p, &l), ended = c->finish(c);
        code = drawn ? drawn : ended;
    } else if (!code) {
        code = CLI_FAILED;
    }
    figure_free_names(&l.names);
    return code;
}
