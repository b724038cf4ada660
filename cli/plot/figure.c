/* The map as a figure: a mark for each point, an open circle for each exemplar, the regions of the classes, a legend.
 *
 * Points that fall together to a tenth of a pixel, in a crowd to a quarter of a dot, are drawn once, and a point is the more
 * opaque the more points of its class are about it. What is dense lies below what is sparse, so that a stray point is seen on
 * a foreign cluster of thousands. A path holds all points of a class and an opacity: the file stays small, and no number of
 * points exceeds what a page can show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/canvas.h"
#include "core/cli.h"
#include "plot/regions.h"

/* Ten colours for a white ground: any two are at least 24.9 apart (CIEDE2000), and 15.5 under protan, deutan and tritan sight
 * (Machado's model, full strength); found by exchange search over the RGB cube, lightness 26 to 74. Tol's muted and Petroff's ten
 * reach 11.5 and 11.9. Ordered so that the first few are the farthest apart. */
static const uint32_t palette[] = {0x662266, 0xbbbb00, 0x2299aa, 0x880000, 0xff9999,
                                   0x4455ff, 0x997744, 0xaaaaff, 0xdd3388, 0x005544};
enum { COLOURS = sizeof palette / sizeof *palette };

/* Beyond ten classes the colours come again with another mark. Corners from the centre, for a diameter of 1; the areas are
 * about a disc's. */
typedef struct mark {
    int corners; /* 0: a disc */
    double at[4][2];
} mark;
static const mark marks[] = {
    {0, {{0}}},
    {3, {{0, -0.72}, {0.62, 0.36}, {-0.62, 0.36}}},
    {4, {{-0.45, -0.45}, {0.45, -0.45}, {0.45, 0.45}, {-0.45, 0.45}}},
    {3, {{0, 0.72}, {-0.62, -0.36}, {0.62, -0.36}}},
    {4, {{0, -0.72}, {0.5, 0}, {0, 0.72}, {-0.5, 0}}},
};
enum { MARKS = sizeof marks / sizeof *marks };

static const double margin = 14;
static const uint32_t line_colour = 0xbbbbbb, border_colour = 0x8a8a8a, dark = 0x111111, white = 0xffffff,
                      no_class = 0x8a8f98;

typedef struct frame { /* the point (x0, y0) of the embedding is in the middle; s: pixels to one of its units */
    double left, top, width, height, x0, y0, s;
} frame;

static canvas_pen fill_of(const cli_figure *p, int32_t group, double opacity)
{
    return (canvas_pen){group < p->classes ? palette[group % COLOURS] : no_class, opacity, 0};
}

/* ---- marks ---- */

static const mark *mark_of(const cli_figure *p, int32_t group)
{
    return &marks[group < p->classes ? group / COLOURS % MARKS : 0];
}

static void begin_marks(canvas *c, const mark *m, canvas_pen pen, double diameter)
{
    pen.width = m->corners ? 0 : diameter;
    c->begin(c, &pen);
}

static void put_mark(canvas *c, const mark *m, double x, double y, double diameter)
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

/* ---- where things are ---- */

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

static double page_share(const cli_figure *p) /* by which all is smaller in a small picture */
{
    return fmin(1, (double)(p->width < p->height ? p->width : p->height) / 480);
}

/* Smaller for more points; more than ten classes are told apart by marks, which have to be seen as long as points are no
 * crowd. */
static double usual_point(const cli_figure *p)
{
    enum { CROWD = 60000 };
    const double n = (double)p->n + 1, least = (p->groups > COLOURS ? 4.0 : 2.2) * fmin(1, sqrt(sqrt(CROWD / n)));
    return page_share(p) * fmin(6.0, fmax(least, 160.0 / sqrt(n)));
}

static double exemplar_radius(const cli_figure *p) /* smaller for many */
{
    return fmax(1.6, page_share(p) * fmax(2.5, 6.5 * fmin(1, sqrt(60.0 / (double)(p->r + 1)))));
}

/* Many are smaller, as the other dots are. */
static double error_size(const cli_figure *p)
{
    return fmax(1.25 * p->point, page_share(p) * fmin(4, fmax(2.8, 4 * sqrt(300.0 / (double)(p->errors + 1)))));
}

/* One scale for both axes, since distances are what the map means. */
static void fit(frame *f, const cli_figure *p)
{
    double bounds[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    stretch(bounds, p->Y, p->n, p->h);
    if (p->circles) stretch(bounds, p->reference, p->r, p->h);
    if (bounds[0] > bounds[1]) bounds[0] = bounds[1] = bounds[2] = bounds[3] = 0;
    const double widest =
        fmax(p->circles ? 1.35 * exemplar_radius(p) : 0, 0.75 * (p->wrong ? error_size(p) : p->point));
    const double room = fmin(widest + 6, fmin(f->width, f->height) / 4);
    const double wide = fmax(bounds[1] - bounds[0], 1e-12), tall = fmax(bounds[3] - bounds[2], 1e-12);
    f->s = fmin((f->width - 2 * room) / wide, (f->height - 2 * room) / tall);
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

typedef struct dot { /* in tenths of a pixel */
    int32_t x, y, group;
    int32_t about; /* points of its group about it, itself among them; then its level, 0: the densest */
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

/* A grid over the frame of squares a dot and a half wide, with one more on each side. */
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

/* Counts the neighbours of each dot within its own and the eight squares around. */
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

/* Replaces counts by levels, by the logarithm; returns that of the densest place. */
static double find_levels(dot *dots, size_t count, double point)
{
    enum { CROWD = 20 };
    const int32_t step = (int32_t)fmax(1, lround(10 * point / 4));
    int32_t most = 1;
    for (size_t i = 0; i < count; i++)
        if (dots[i].about > most) most = dots[i].about;
    const double range = log((double)most);
    for (size_t i = 0; i < count; i++) {
        const double share = range > 0 ? log((double)dots[i].about) / range : 1;
        if (dots[i].about >= CROWD) {
            dots[i].x = snap(dots[i].x, step);
            dots[i].y = snap(dots[i].y, step);
        }
        dots[i].about = (int32_t)lround((LEVELS - 1) * (1 - share));
    }
    return range;
}

/* Few points are all as opaque; where thousands lie together, a lonely one is two thirds so. */
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
        if (fresh) begin_marks(c, mark_of(p, d->group), fill_of(p, d->group, opacity_of(d->about, range)), p->point);
        put_mark(c, mark_of(p, d->group), d->x / 10.0, d->y / 10.0, p->point);
    }
    if (count && !code) c->end(c);
    free(dots);
    return code;
}

/* ---- errors, exemplars ---- */

/* A misclassified point has a dark edge: the mark, dark, below the same a little smaller. */
static void put_error(canvas *c, const mark *m, canvas_pen pen, double x, double y, double size, double edge)
{
    for (int pass = 0; pass < 2; pass++) {
        const double diameter = pass ? size : size + edge * (m->corners ? 1.9 : 1.4);
        begin_marks(c, m, pass ? pen : (canvas_pen){dark, 1, 0}, diameter);
        put_mark(c, m, x, y, diameter);
        c->end(c);
    }
}

/* Edges are thinner where many would make the map dark. */
static void put_errors(canvas *c, const cli_figure *p, const frame *f)
{
    const double size = error_size(p), edge = fmax(0.5, fmin(1, sqrt(600.0 / (double)(p->errors + 1))));
    for (int64_t i = 0; p->wrong && i < p->n; i++) {
        if (!p->wrong[i] || !finite_pair(p->Y, i, p->h)) continue;
        const float *y = p->Y + i * p->h;
        put_error(c, mark_of(p, p->group[i]), fill_of(p, p->group[i], 1), page_x(f, y), page_y(f, y), size, edge);
    }
}

static void put_exemplars(canvas *c, const cli_figure *p, const frame *f)
{
    if (!p->circles) return;
    const double radius = exemplar_radius(p);
    /* A white ring below the dark one keeps it apart from marks of any colour. */
    for (int pass = 0; pass < 2; pass++) {
        c->begin(c, pass ? &(canvas_pen){dark, 1, 0.28 * radius} : &(canvas_pen){white, 1, 0.7 * radius});
        for (int64_t i = 0; i < p->r; i++) {
            const float *y = p->reference + i * p->h;
            if (finite_pair(p->reference, i, p->h)) c->circle(c, page_x(f, y), page_y(f, y), radius);
        }
        c->end(c);
    }
}

/* ---- regions ---- */

static uint32_t tint(uint32_t colour)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 24; shift += 8)
        result |= (uint32_t)lround(255 - 0.16 * (255 - (double)(colour >> shift & 255))) << shift;
    return result;
}

static void put_cells(canvas *c, const regions *all, int32_t label)
{
    c->begin(c, &(canvas_pen){tint(palette[label % COLOURS]), 1, 0});
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
    c->begin(c, &(canvas_pen){border_colour, 1, 0.8});
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

/* The references on the page: the scale is one for both axes, so that the nearest are the nearest there. */
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
        return cli_error(
            "--regions: %d neighbours among %lld references divide the map into more than %d cells; a smaller "
            "-k makes fewer",
            (int)p->k, (long long)p->r, (int)REGIONS_MOST_CELLS);
    if (status) return cli_error("out of memory: the regions of %lld references", (long long)p->r);
    for (int32_t g = 0; g < p->classes; g++) put_cells(c, &all, g);
    put_borders(c, &all);
    regions_free(&all);
    return 0;
}

/* ---- the legend ---- */

/* It stands right of the frame, in as many columns as its rows need; what does not fit is counted. Exemplars and errors are
 * explained below one another in the last column, so that only this one has to be wide enough for these words. */
typedef struct legend {
    double left, top, column, last, row; /* widths of a column and of the last; height of a row */
    int rows, columns;
    int shown, extra; /* classes that have an entry; where exemplars and errors begin */
} legend;

static const char exemplar_text[] = "exemplar", error_text[] = "misclassified";

static int longest_name(const cli_figure *p)
{
    enum { SHORTEST = 2, LONGEST = 24 };
    int letters = SHORTEST;
    for (int32_t g = 0; g < p->groups; g++) {
        const int wide = cli_text_width(p->name[g]);
        if (wide > letters) letters = wide;
    }
    return letters < LONGEST ? letters : LONGEST;
}

static double key_width(const cli_figure *p) /* of an entry without its words */
{
    return 2.3 * p->font_size;
}

static double column_width(const cli_figure *p, int letters)
{
    return fmin(key_width(p) + CANVAS_LETTER * p->font_size * letters, (double)p->width / 2);
}

static legend plan_legend(const cli_figure *p, double top)
{
    legend l = {.top = top, .left = (double)p->width - margin / 2};
    if (!p->legend) return l;
    const int extras = (p->circles ? 1 : 0) + (p->wrong ? 1 : 0);
    l.column = column_width(p, longest_name(p));
    l.last = fmax(l.column, column_width(p, p->wrong     ? sizeof error_text - 1
                                            : p->circles ? sizeof exemplar_text - 1
                                                         : 0));
    /* rows move together before a second column is begun */
    const double tall = (double)p->height - l.top - margin, share = tall / (p->groups + extras);
    l.row = share >= 1.25 * p->font_size ? fmin(share, 1.62 * p->font_size) : 1.62 * p->font_size;
    l.rows = (int)(tall / l.row + 1e-9);
    if (l.rows < extras + 2) l.rows = extras + 2;
    const int over = p->groups % l.rows, most = 1 + (int)(((double)p->width / 2 - l.last) / l.column);
    l.shown = p->groups;
    l.extra = over + extras > l.rows ? p->groups - over + l.rows : p->groups;
    l.columns = (l.extra + extras + l.rows - 1) / l.rows;
    if (l.columns > most) {
        l.columns = most;
        l.extra = most * l.rows - extras;
        l.shown = l.extra - 1;
        l.last = fmax(l.last, column_width(p, sizeof "and 100 more" - 1));
    }
    l.left -= l.column * (l.columns - 1) + l.last;
    return l;
}

static void put_class_key(canvas *c, const cli_figure *p, int32_t g, double x, double y)
{
    const double size = 0.7 * p->font_size;
    begin_marks(c, mark_of(p, g), fill_of(p, g, 1), size);
    put_mark(c, mark_of(p, g), x, y, size);
    c->end(c);
}

static void put_exemplar_key(canvas *c, const cli_figure *p, double x, double y)
{
    const double radius = exemplar_radius(p);
    c->begin(c, &(canvas_pen){dark, 1, 0.28 * radius});
    c->circle(c, x, y, radius);
    c->end(c);
}

static void find_entry(const cli_figure *p, const legend *l, int entry, double *x, double *y)
{
    *x = l->left + l->column * (entry / l->rows) + 0.95 * p->font_size;
    *y = l->top + l->row * (entry % l->rows + 0.5);
}

/* The letters that have room if squeezed to four fifths; a longer text ends in dots. */
static void shorten(char *to, size_t size, const char *text, const cli_figure *p, double room)
{
    const int most = (int)(1.25 * room / (CANVAS_LETTER * p->font_size));
    const char *end = text;
    const bool whole = cli_text_width(text) <= most;
    for (int i = 1; i < most && *end; i++) cli_utf8_next(&end);
    snprintf(to, size, "%.*s%s", (int)(end - text), text, whole ? end : "\u2026");
}

static double room_for_words(const cli_figure *p, const legend *l, int entry)
{
    return (entry / l->rows == l->columns - 1 ? l->last : l->column) - key_width(p);
}

static void put_words(canvas *c, const cli_figure *p, const legend *l, int entry, const char *words)
{
    double x, y;
    find_entry(p, l, entry, &x, &y);
    c->text(c, x + 1.05 * p->font_size, y + 0.36 * p->font_size, p->font_size, room_for_words(p, l, entry), words);
}

static void put_legend(canvas *c, const cli_figure *p, const legend *l)
{
    double x, y;
    int entry = l->extra;
    for (int i = 0; i < l->shown; i++) {
        char name[256];
        find_entry(p, l, i, &x, &y);
        put_class_key(c, p, i, x, y);
        shorten(name, sizeof name, p->name[i], p, room_for_words(p, l, i));
        put_words(c, p, l, i, name);
    }
    if (l->shown < p->groups) {
        char more[32];
        snprintf(more, sizeof more, "and %d more", p->groups - l->shown);
        put_words(c, p, l, l->shown, more);
    }
    if (p->circles) {
        find_entry(p, l, entry, &x, &y);
        put_exemplar_key(c, p, x, y);
        put_words(c, p, l, entry++, exemplar_text);
    }
    if (p->wrong) {
        find_entry(p, l, entry, &x, &y);
        put_error(c, &marks[0], (canvas_pen){0xcccccc, 1, 0}, x, y, 0.4 * p->font_size, 1);
        put_words(c, p, l, entry, error_text);
    }
}

/* ---- the whole ---- */

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

int cli_figure_draw(FILE *out, const cli_figure *asked)
{
    cli_figure figure = *asked;
    const cli_figure *p = &figure;
    if (figure.point <= 0) figure.point = usual_point(p);
    const double title_size = 1.15 * p->font_size, top = *p->title ? 2.6 * p->font_size : margin;
    const legend l = plan_legend(p, top);
    frame f = {.left = margin, .top = top, .height = (double)p->height - top - margin};
    f.width = l.left - margin / 2 - f.left;
    fit(&f, p);
    const canvas_page page = {p->format, (double)p->width, (double)p->height, p->scale, p->title, p->font};
    canvas *c = p->format == CANVAS_SVG ? canvas_open_svg(out, &page) : canvas_open_cairo(out, &page);
    if (!c) return CLI_FAILED;
    int code = p->reference_label ? put_regions(c, p, &f) : 0;
    if (!code) code = put_points(c, p, &f);
    if (!code) {
        put_errors(c, p, &f);
        put_exemplars(c, p, &f);
        put_frame(c, &f, &(canvas_pen){line_colour, 1, 1});
        if (*p->title) c->text(c, f.left, 1.7 * p->font_size, title_size, (double)p->width - 2 * margin, p->title);
        if (p->legend) put_legend(c, p, &l);
    }
    const int ended = c->finish(c);
    return code ? code : ended;
}
