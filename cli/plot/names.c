/* Names of the classes on the map, instead of the legend or beside it.
 *
 * The place of a class is the median of its points. If the class consists of several clusters, the
 * median may lie between them, so it is replaced by the median of the points of the class around
 * the nearest of them, repeatedly. A class without a majority of the points around its place gets
 * no name there, because it would be taken for the name of the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure.h"

enum { ROUNDS = 6, MAX_MEDIAN = 4096, MAX_COUNTED = 100000, PADDING = 3, AROUND = 5 /* dots for a circle */ };
static const double around = 0.125;                  /* radius of a cluster, relative to the frame */
static const double sizes[] = {1.15, 1, 0.85, 0.75}; /* of letters, relative to the font size; tried in turn */
static const double line_height = 1.15;
static const double exemplar_weight = 0.2; /* of the exemplars of a class; its dots have 1 */

typedef struct class_dots {
    label_dot *dot; /* (n + AROUND * r) sorted by group; then the circles of the exemplars */
    int64_t *first; /* (groups + 1) */
    int64_t count;  /* without the circles */
    int64_t obstacles;
} class_dots;

/* ---- dots ---- */

static bool is_drawn(const cli_figure *p, int64_t i)
{
    return isfinite(p->Y[i * p->h]) && isfinite(p->Y[i * p->h + 1]);
}

static void sort_dots(class_dots *d, const cli_figure *p, const figure_frame *f)
{
    int64_t *first = d->first;
    for (int64_t i = 0; i < p->n; i++)
        if (is_drawn(p, i)) first[p->group[i] + 1]++;
    for (int32_t g = 0; g < p->groups; g++) first[g + 1] += first[g];
    d->count = first[p->groups];
    for (int64_t i = p->n - 1; i >= 0; i--) {
        if (!is_drawn(p, i)) continue;
        const float *y = p->Y + i * p->h;
        d->dot[--first[p->group[i] + 1]] = (label_dot){(float)figure_x(f, y), (float)figure_y(f, y), 0};
    }
    /* each start has moved by one group */
    memmove(first, first + 1, (size_t)p->groups * sizeof *first);
    first[p->groups] = d->count;
    for (int32_t g = 0; g < p->groups; g++)
        for (int64_t i = first[g]; i < first[g + 1]; i++) d->dot[i].weight = 1 / (float)(first[g + 1] - first[g]);
}

/* A name should not cover a circle, even partly. */
static void add_exemplars(class_dots *d, const cli_figure *p, const figure_frame *f)
{
    static const int across[AROUND] = {0, -1, 1, 0, 0}, down[AROUND] = {0, 0, 0, -1, 1};
    const double radius = figure_exemplar_radius(p), of_class = fmax(1, (double)p->r / p->classes);
    const float weight = (float)(exemplar_weight / (AROUND * of_class));
    d->obstacles = d->count;
    for (int64_t i = 0; p->circles && i < p->r; i++) {
        const float *y = p->reference + i * p->h;
        for (int k = 0; isfinite(y[0]) && isfinite(y[1]) && k < AROUND; k++)
            d->dot[d->obstacles++] = (label_dot){(float)(figure_x(f, y) + across[k] * radius),
                                                 (float)(figure_y(f, y) + down[k] * radius), weight};
    }
}

/* ---- medians ---- */

static int compare_values(const void *a, const void *b)
{
    const float p = *(const float *)a, q = *(const float *)b;
    return (p > q) - (p < q);
}

static double median(float *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare_values);
    return 0.5 * ((double)values[(count - 1) / 2] + (double)values[count / 2]);
}

static double distance(const label_dot *dot, const double at[2])
{
    return hypot((double)dot->x - at[0], (double)dot->y - at[1]);
}

/* The median of the dots nearer to `center` than radius. Of many dots, every m-th is used. */
static void find_median(const label_dot *dot, int64_t count, const double center[2], double radius, double at[2])
{
    float x[MAX_MEDIAN], y[MAX_MEDIAN];
    const int64_t stride = (count + MAX_MEDIAN - 1) / MAX_MEDIAN;
    int64_t used = 0;
    for (int64_t i = 0; i < count; i += stride) {
        if (distance(&dot[i], center) > radius) continue;
        x[used] = dot[i].x;
        y[used++] = dot[i].y;
    }
    if (!used) return;
    at[0] = median(x, used);
    at[1] = median(y, used);
}

static void find_center(const label_dot *dot, int64_t count, double radius, double at[2])
{
    if (!count) return;
    find_median(dot, count, (const double[2]){0, 0}, HUGE_VAL, at);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t nearest = 0;
        for (int64_t i = 1; i < count; i++)
            if (distance(&dot[i], at) < distance(&dot[nearest], at)) nearest = i;
        const double center[2] = {(double)dot[nearest].x, (double)dot[nearest].y};
        find_median(dot, count, center, radius, at);
    }
}

/* Whether most dots around the place of a class are of the class. Of many dots, every m-th is
 * counted. */
static bool has_majority(const class_dots *d, int32_t group, double radius, const double at[2])
{
    const int64_t stride = 1 + d->count / MAX_COUNTED;
    int64_t own = 0, all = 0;
    for (int64_t i = 0; i < d->count; i += stride) {
        if (distance(&d->dot[i], at) > radius) continue;
        own += i >= d->first[group] && i < d->first[group + 1];
        all++;
    }
    return !all || 2 * own > all;
}

/* ---- labels ---- */

/* Width of a letter in DejaVu Sans Bold, which is wider than most fonts, at font size 1. */
static double letter_width(uint32_t letter)
{
    if (letter >= 0x1100) return 1.1;
    if (letter == 'm' || letter == 'w' || letter == 'M' || letter == 'W' || letter == '@' || letter == '%') return 1.1;
    if (letter >= 0x80 || (letter >= 'A' && letter <= 'Z')) return 0.8;
    return letter && strchr("ijltfrI.,:;'|!()[]/ ", (int)letter) ? CANVAS_LETTER : 0.71;
}

static double text_width(const char *text)
{
    double width = 0;
    while (*text) width += letter_width(cli_utf8_next(&text));
    return width;
}

static void prepare(figure_names *names, const cli_figure *p)
{
    for (int32_t g = 0; g < p->classes; g++)
        figure_shorten(names->text[g], sizeof names->text[g], p->name[g], FIGURE_MAX_LETTERS);
}

static int place(figure_names *names, const cli_figure *p, const figure_frame *f, const class_dots *d, double *at)
{
    label_request request = {.count = p->classes, .at = at, .width = names->width, .dot = d->dot, .dots = d->obstacles};
    const double radius = around * fmin(f->width, f->height);
    for (int32_t g = 0; g < p->classes; g++) {
        find_center(d->dot + d->first[g], d->first[g + 1] - d->first[g], radius, at + 2 * g);
        names->is_mixed[g] = !has_majority(d, g, 2 * p->font_size, at + 2 * g);
    }
    int32_t missing = 0;
    request.box[0] = f->left + PADDING;
    request.box[1] = f->top + PADDING;
    request.box[2] = f->left + f->width - PADDING;
    request.box[3] = f->top + f->height - PADDING;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        names->size = sizes[i] * p->font_size;
        request.height = line_height * names->size;
        int32_t mixed = 0;
        for (int32_t g = 0; g < p->classes; g++) {
            const bool is_empty = d->first[g + 1] == d->first[g];
            mixed += !is_empty && names->is_mixed[g];
            names->width[g] = is_empty || names->is_mixed[g] ? 0 : names->size * text_width(names->text[g]);
        }
        missing = labels_place(&request, names->center);
        names->missing = missing + mixed;
        if (missing <= 0) break;
    }
    return missing < 0 ? cli_error("out of memory: names of %d classes", (int)p->classes) : 0;
}

int figure_place_names(figure_names *names, const cli_figure *p, const figure_frame *f)
{
    class_dots d = {.dot = cli_alloc("dots", p->n + (p->circles ? AROUND * p->r : 0), 1, sizeof *d.dot),
                    .first = cli_alloc("names", (int64_t)p->groups + 1, 1, sizeof *d.first)};
    double *at = cli_alloc("names", p->classes, 2, sizeof *at);
    names->center = cli_alloc("names", p->classes, 2, sizeof *names->center);
    names->width = cli_alloc("names", p->classes, 1, sizeof *names->width);
    names->is_mixed = cli_alloc("names", p->classes, 1, sizeof *names->is_mixed);
    names->text = cli_alloc("names", p->classes, 1, sizeof *names->text);
    int code =
        d.dot && d.first && at && names->center && names->width && names->is_mixed && names->text ? 0 : CLI_FAILED;
    if (!code) {
        prepare(names, p);
        sort_dots(&d, p, f);
        add_exemplars(&d, p, f);
        code = place(names, p, f, &d, at);
    }
    free(d.dot);
    free(d.first);
    free(at);
    return code;
}

void figure_put_names(canvas *c, const cli_figure *p, const figure_names *names)
{
    for (int32_t g = 0; names->center && g < p->classes; g++)
        if (names->width[g] > 0 && isfinite(names->center[2 * g]))
            c->label(c, names->center[2 * g], names->center[2 * g + 1] + 0.36 * names->size, names->size,
                     names->width[g], names->text[g]);
}

void figure_free_names(figure_names *names)
{
    free(names->center);
    free(names->width);
    free(names->is_mixed);
    free(names->text);
    *names = (figure_names){0};
}
