/* The legend of a figure: its entries, their layout, and how they are drawn. */
#include <math.h>

#include "plot/figure.h"

static const char exemplar_text[] = "exemplar", error_text[] = "misclassified";

static int longest_name(const cli_figure *p)
{
    enum { SHORTEST = 2 };
    int letters = SHORTEST;
    for (int32_t g = 0; g < p->groups; g++) {
        const int wide = cli_text_width(p->name[g]);
        if (wide > letters) letters = wide;
    }
    return letters < FIGURE_MAX_LETTERS ? letters : FIGURE_MAX_LETTERS;
}

static double key_width(const cli_figure *p) /* width of an entry without its text */
{
    return 2.3 * p->font_size;
}

static double column_width(const cli_figure *p, int letters)
{
    return fmin(key_width(p) + CANVAS_LETTER * p->font_size * letters, (double)p->width / 2);
}

figure_legend figure_plan_legend(const cli_figure *p, double top)
{
    figure_legend l = {.top = top, .left = (double)p->width - FIGURE_MARGIN / 2};
    if (!p->legend) return l;
    const int extras = (p->circles ? 1 : 0) + (p->wrong ? 1 : 0);
    l.column = column_width(p, longest_name(p));
    l.last = fmax(l.column, column_width(p, p->wrong     ? sizeof error_text - 1
                                            : p->circles ? sizeof exemplar_text - 1
                                                         : 0));
    /* reduce the row height before a second column is added */
    const double tall = (double)p->height - l.top - FIGURE_MARGIN, share = tall / (p->groups + extras);
    l.row = share >= 1.25 * p->font_size ? fmin(share, 1.62 * p->font_size) : 1.62 * p->font_size;
    l.rows = (int)(tall / l.row + 1e-9);
    if (l.rows < extras + 2) l.rows = extras + 2;
    const int over = p->groups % l.rows, max_columns = 1 + (int)(((double)p->width / 2 - l.last) / l.column);
    l.listed = p->groups;
    l.extra = over + extras > l.rows ? p->groups - over + l.rows : p->groups;
    l.columns = (l.extra + extras + l.rows - 1) / l.rows;
    if (l.columns > max_columns) {
        l.columns = max_columns;
        l.extra = max_columns * l.rows - extras;
        l.listed = l.extra - 1;
        l.last = fmax(l.last, column_width(p, sizeof "and 100 more" - 1));
    }
    l.left -= l.column * (l.columns - 1) + l.last;
    return l;
}

figure_legend figure_plan_row(const cli_figure *p)
{
    figure_legend l = {.left = (double)p->width - FIGURE_MARGIN / 2, .rows = 1, .first = p->classes};
    l.listed = l.extra = p->legend ? p->groups - p->classes : 0;
    l.columns = l.extra + (p->legend && p->circles) + (p->legend && p->wrong);
    if (!l.columns) return l;
    l.left = FIGURE_MARGIN - 0.6 * p->font_size;
    l.below = l.row = 1.9 * p->font_size;
    l.top = (double)p->height - FIGURE_MARGIN / 2 - l.row;
    l.last = l.column =
        fmin(column_width(p, sizeof error_text), ((double)p->width - 2 * FIGURE_MARGIN) / (double)l.columns);
    return l;
}

static void put_class_key(canvas *c, const cli_figure *p, int32_t g, double x, double y)
{
    const double size = 0.7 * p->font_size;
    figure_begin_marks(c, figure_mark_of(p, g), figure_fill_of(p, g), size);
    figure_put_mark(c, figure_mark_of(p, g), x, y, size);
    c->end(c);
}

static void put_exemplar_key(canvas *c, const cli_figure *p, double x, double y)
{
    const canvas_pen pen = figure_exemplar_pen(p);
    c->begin(c, &pen);
    c->circle(c, x, y, figure_exemplar_radius(p));
    c->end(c);
}

static void find_entry(const cli_figure *p, const figure_legend *l, int entry, double *x, double *y)
{
    *x = l->left + l->column * (entry / l->rows) + 0.95 * p->font_size;
    *y = l->top + l->row * (entry % l->rows + 0.5);
}

void figure_shorten(char *to, size_t size, const char *text, int max_letters)
{
    const char *end = text;
    const bool whole = cli_text_width(text) <= max_letters;
    for (int i = 1; i < max_letters && *end; i++) cli_utf8_next(&end);
    snprintf(to, size, "%.*s%s", (int)(end - text), text, whole ? end : "\u2026");
}

/* The number of letters that fit if condensed to 80 %. */
static int max_letters(const cli_figure *p, double max_width)
{
    return (int)(1.25 * max_width / (CANVAS_LETTER * p->font_size));
}

static double text_width(const cli_figure *p, const figure_legend *l, int entry)
{
    return (entry / l->rows == l->columns - 1 ? l->last : l->column) - key_width(p);
}

static void put_words(canvas *c, const cli_figure *p, const figure_legend *l, int entry, const char *words)
{
    double x, y;
    find_entry(p, l, entry, &x, &y);
    c->text(c, x + 1.05 * p->font_size, y + 0.36 * p->font_size, p->font_size, text_width(p, l, entry), words);
}

void figure_put_legend(canvas *c, const cli_figure *p, const figure_legend *l)
{
    double x, y;
    int entry = l->extra;
    for (int i = 0; i < l->listed; i++) {
        char name[256];
        find_entry(p, l, i, &x, &y);
        put_class_key(c, p, l->first + i, x, y);
        figure_shorten(name, sizeof name, p->name[l->first + i], max_letters(p, text_width(p, l, i)));
        put_words(c, p, l, i, name);
    }
    if (l->first + l->listed < p->groups) {
        char more[32];
        snprintf(more, sizeof more, "and %d more", p->groups - l->first - l->listed);
        put_words(c, p, l, l->listed, more);
    }
    if (p->circles) {
        find_entry(p, l, entry, &x, &y);
        put_exemplar_key(c, p, x, y);
        put_words(c, p, l, entry++, exemplar_text);
    }
    if (p->wrong) {
        find_entry(p, l, entry, &x, &y);
        figure_put_error(c, &(figure_mark){0}, (canvas_pen){0xcccccc, 1, 0}, x, y, 0.4 * p->font_size, 1);
        put_words(c, p, l, entry, error_text);
    }
}
