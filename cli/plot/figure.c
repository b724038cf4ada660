/* Draws the figure: a mark for each point, an open circle for each exemplar, the regions of the
 * classes and a legend.
 *
 * Points at the same place are drawn once. Places are rounded to 0.1 pixels, or to a quarter of
 * a dot if there are many points. A point is more opaque the more points of its class are near
 * it. Dense points are drawn below sparse ones, so that a stray point is visible on a cluster of
 * another class. A path contains all points of a class and an opacity, which keeps the file
 * small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure.h"
#include "plot/regions.h"

/* Ten colors for a white background. Any two differ by at least 24.9 (CIEDE2000), and by 15.5 with
 * protan, deutan and tritan vision (Machado's model, full strength). They were found by exchange
 * search in the RGB cube with lightness 26 to 74. Tol's muted and Petroff's ten colors reach 11.5
 * and 11.9. The first few colors differ most. */
static const uint32_t palette[] = {0x662266, 0xbbbb00, 0x2299aa, 0x880000, 0xff9999,
                                   0x4455ff, 0x997744, 0xaaaaff, 0xdd3388, 0x005544};
enum { COLORS = sizeof palette / sizeof *palette };

/* With more than ten classes, colors repeat with another mark of about the same area. */
static const figure_mark marks[] = {
    {0, {{0}}},
    {3, {{0, -0.72}, {0.62, 0.36}, {-0.62, 0.36}}},
    {4, {{-0.45, -0.45}, {0.45, -0.45}, {0.45, 0.45}, {-0.45, 0.45}}},
    {3, {{0, 0.72}, {-0.62, -0.36}, {0.62, -0.36}}},
    {4, {{0, -0.72}, {0.5, 0}, {0, 0.72}, {-0.5, 0}}},
};
enum { MARKS = sizeof marks / sizeof *marks };

static const uint32_t line_color = 0xbbbbbb, border_color = 0x8a8a8a, white = 0xffffff, no_class = 0x8a8f98;

typedef struct frame { /* (x0, y0) of the embedding is in the middle; s: pixels per unit */
    double left, top, width, height, x0, y0, s;
} frame;

canvas_pen figure_fill_of(const cli_figure *p, int32_t group, double opacity)
{
    return (canvas_pen){group < p->classes ? palette[group % COLORS] : no_class, opacity, 0};
}

/* ---- marks ---- */

const figure_mark *figure_mark_of(const cli_figure *p, int32_t group)
{
    return &marks[group < p->classes ? group / COLORS % MARKS : 0];
}

void figure_begin_marks(canvas *c, const figure_mark *m, canvas_pen pen, double diameter)
{
    pen.width = m->corners ? 0 : diameter;
    c->begin(c, &pen);
}

void figure_put_mark(canvas *c, const figure_mark *m, double x, double y, double diameter)
{
    if (!m->corners) {
        c->move(c, x, y);
        c->line(c, x, y);
        return;
    }
    for (int i = 0; i < m->corners; i++)
        (i ? c->line : c->move)(c, x + diameter * m->at[i][0], y + diameter * m->at[i][1]);
    c->close(c);
}

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
    const double n = (double)p->n + 1, min_size = (p->groups > COLORS ? 4.0 : 2.2) * fmin(1, sqrt(sqrt(DENSE / n)));
    return page_share(p) * fmin(6.0, fmax(min_size, 160.0 / sqrt(n)));
}

double figure_exemplar_radius(const cli_figure *p)
{
    return fmax(1.6, page_share(p) * fmax(2.5, 6.5 * fmin(1, sqrt(60.0 / (double)(p->r + 1)))));
}

/* Smaller for more errors. */
static double error_size(const cli_figure *p)
{
    return fmax(1.25 * p->point, page_share(p) * fmin(4, fmax(2.8, 4 * sqrt(300.0 / (double)(p->errors + 1)))));
}

/* One scale for both axes, because distances matter. */
static void fit(frame *f, const cli_figure *p)
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

static double page_x(const frame *f, const float *y)
{
    return f->left + f->width / 2 + f->s * ((double)y[0] - f->x0);
}

static double page_y(const frame *f, const float *y)
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

static size_t place_dots(dot *dots, const cli_figure *p, const frame *f)
{
    size_t count = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (!finite_pair(p->Y, i, p->h)) continue;
        const float *y = p->Y + i * p->h;
        dots[count++] = (dot){(int32_t)lround(10 * page_x(f, y)), (int32_t)lround(10 * page_y(f, y)), p->group[i], 0};
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
static int count_about(dot *dots, size_t count, const cli_figure *p, const frame *f)
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

enum { LEVELS = 7 };

static int32_t snap(int32_t tenths, int32_t step)
{
    return (int32_t)lround((double)tenths / step) * step;
}

/* Replaces counts by logarithmic levels; returns the logarithm of the largest count. */
static double find_levels(dot *dots, size_t count, double point)
{
    enum { DENSE = 20 };
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
    return range;
}

/* Few points have the same opacity. Beside thousands of points, an isolated one has two thirds of
 * it. */
static double opacity_of(int32_t level, double range)
{
    return 0.95 - 0.3 * fmin(1, range / log(1000)) * level / (LEVELS - 1);
}

static int put_points(canvas *c, const cli_figure *p, const frame *f)
{
    dot *dots = cli_alloc("dots", p->n, 1, sizeof *dots);
    if (!dots) return CLI_FAILED;
    const size_t count = place_dots(dots, p, f);
    const int code = count_about(dots, count, p, f);
    const double range = code ? 0 : find_levels(dots, count, p->point);
    if (!code) qsort(dots, count, sizeof *dots, compare_dots);
    for (size_t i = 0; i < count && !code; i++) {
        const dot *d = &dots[i];
        const bool fresh = i == 0 || d->about != d[-1].about || d->group != d[-1].group;
        if (!fresh && d->x == d[-1].x && d->y == d[-1].y) continue;
        if (fresh && i > 0) c->end(c);
        if (fresh)
            figure_begin_marks(c, figure_mark_of(p, d->group), figure_fill_of(p, d->group, opacity_of(d->about, range)),
                               p->point);
        figure_put_mark(c, figure_mark_of(p, d->group), d->x / 10.0, d->y / 10.0, p->point);
    }
    if (count && !code) c->end(c);
    free(dots);
    return code;
}

/* ---- errors, exemplars ---- */

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
static void put_errors(canvas *c, const cli_figure *p, const frame *f)
{
    const double size = error_size(p), edge = fmax(0.5, fmin(1, sqrt(600.0 / (double)(p->errors + 1))));
    for (int64_t i = 0; p->wrong && i < p->n; i++) {
        if (!p->wrong[i] || !finite_pair(p->Y, i, p->h)) continue;
        const float *y = p->Y + i * p->h;
        figure_put_error(c, figure_mark_of(p, p->group[i]), figure_fill_of(p, p->group[i], 1), page_x(f, y),
                         page_y(f, y), size, edge);
    }
}

static void put_exemplars(canvas *c, const cli_figure *p, const frame *f)
{
    if (!p->circles) return;
    const double radius = figure_exemplar_radius(p);
    /* A white ring below the dark one separates it from marks of any color. */
    for (int pass = 0; pass < 2; pass++) {
        c->begin(c, pass ? &(canvas_pen){FIGURE_DARK, 1, 0.28 * radius} : &(canvas_pen){white, 1, 0.7 * radius});
        for (int64_t i = 0; i < p->r; i++) {
            const float *y = p->reference + i * p->h;
            if (finite_pair(p->reference, i, p->h)) c->circle(c, page_x(f, y), page_y(f, y), radius);
        }
        c->end(c);
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

static void put_cells(canvas *c, const regions *all, int32_t label)
{
    c->begin(c, &(canvas_pen){tint(palette[label % COLORS]), 1, 0});
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
static void place_references(region_rule *rule, double *at, int32_t *label, const cli_figure *p, const frame *f)
{
    for (int64_t i = 0; i < p->r; i++) {
        if (!finite_pair(p->reference, i, p->h)) continue;
        at[2 * (size_t)rule->r] = page_x(f, p->reference + i * p->h);
        at[2 * (size_t)rule->r + 1] = page_y(f, p->reference + i * p->h);
        label[rule->r++] = p->reference_label[i];
    }
}

static int put_regions(canvas *c, const cli_figure *p, const frame *f)
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
    for (int32_t g = 0; g < p->classes; g++) put_cells(c, &all, g);
    put_borders(c, &all);
    regions_free(&all);
    return 0;
}

/* ---- figure ---- */

static void put_frame(canvas *c, const frame *f, const canvas_pen *pen)
{
    c->begin(c, pen);
    c->move(c, f->left, f->top);
    c->line(c, f->left + f->width, f->top);
    c->line(c, f->left + f->width, f->top + f->height);
    c->line(c, f->left, f->top + f->height);
    c->close(c);
    c->end(c);
}

int cli_figure_draw(FILE *out, const cli_figure *request)
{
    cli_figure figure = *request;
    const cli_figure *p = &figure;
    if (figure.point <= 0) figure.point = default_point(p);
    const double title_size = 1.15 * p->font_size, top = *p->title ? 2.6 * p->font_size : FIGURE_MARGIN;
    const figure_legend l = figure_plan_legend(p, top);
    frame f = {.left = FIGURE_MARGIN, .top = top, .height = (double)p->height - top - FIGURE_MARGIN};
    f.width = l.left - FIGURE_MARGIN / 2 - f.left;
    fit(&f, p);
    const canvas_page page = {p->format, (double)p->width, (double)p->height, p->scale, p->title, p->font};
    canvas *c = p->format == CANVAS_SVG ? canvas_open_svg(out, &page) : canvas_open_cairo(out, &page);
    if (!c) return CLI_FAILED;
    int code = p->reference_label ? put_regions(c, p, &f) : 0;
    if (!code) code = put_points(c, p, &f);
    if (!code) {
        put_errors(c, p, &f);
        put_exemplars(c, p, &f);
        put_frame(c, &f, &(canvas_pen){line_color, 1, 1});
        if (*p->title)
            c->text(c, f.left, 1.7 * p->font_size, title_size, (double)p->width - 2 * FIGURE_MARGIN, p->title);
        if (p->legend) figure_put_legend(c, p, &l);
    }
    const int ended = c->finish(c);
    return code ? code : ended;
}
