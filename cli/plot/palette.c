/* Colors and marks of classes.
 *
 * A class has the same color in every figure of a model, and on the page of enhope view
 * (viewer/src/palette.js has the same table, and one for a dark background). tests/palette.py
 * compares the tables and checks these promises:
 *
 *   - The contrast of each color with a white background is at least 3:1 (WCAG 2).
 *   - Any two of the first ten differ by at least 20 (CIEDE2000), and by 14 as people with protan,
 *     deutan or tritan vision see them (Machado's model, full strength).
 *   - Any two of the hundred differ by at least 7.
 *
 * The first ten were found by exchange search in the RGB cube. Each further color is the one most
 * different from all before it, and, with color-deficient vision, from those of its ten. */
#include "plot/figure.h"

static const uint32_t palette[] = {
    0x1100cc, 0xbb8800, 0x880000, 0x8888bb, 0xff3377, 0x770066, 0x005544, 0x667744, 0x1166cc, 0x119988,
    0xff5511, 0x664400, 0x0099cc, 0x996688, 0x444477, 0x6644ff, 0xaa4444, 0x770033, 0x998855, 0x337766,
    0x334400, 0x009900, 0xbb00bb, 0xbb7777, 0xcc55ff, 0xbb1166, 0x007733, 0xee44aa, 0x552288, 0x773333,
    0xaa5511, 0x117788, 0x5588ff, 0x889900, 0x669966, 0x005577, 0xbb77bb, 0x773300, 0x0044cc, 0x886644,
    0xff0033, 0x7755aa, 0x777700, 0x774466, 0x0099aa, 0x8877ff, 0x005500, 0xbb5577, 0xaa7755, 0x7700cc,
    0xcc2200, 0xcc7722, 0x885544, 0x0077aa, 0x003388, 0x224422, 0xaa00ff, 0xaa4488, 0xaa77dd, 0xcc5544,
    0x886600, 0xcc7799, 0xdd0055, 0x556699, 0x553366, 0x998800, 0x555500, 0x336644, 0x4466ff, 0x553311,
    0x447700, 0x882299, 0xee00dd, 0x009966, 0x0088dd, 0x779944, 0x884455, 0x9966aa, 0x991133, 0xdd1188,
    0xcc6633, 0x885511, 0x228888, 0x9955ff, 0x2222ff, 0x5544aa, 0xaa6655, 0x882255, 0x663322, 0xbb55aa,
    0x994422, 0xaa7733, 0x6677cc, 0xdd6666, 0xff1100, 0xaa0088, 0x448855, 0x1188aa, 0x8844cc, 0xcc1133,
};
enum { COLORS = sizeof palette / sizeof *palette, COLORS_PER_MARK = 10 };

/* Marks of about the same area. The mark changes after every ten classes, and once more after all
 * colors, so that 500 classes have different combinations. */
static const figure_mark marks[] = {
    {0, {{0}}},
    {3, {{0, -0.72}, {0.62, 0.36}, {-0.62, 0.36}}},
    {4, {{-0.45, -0.45}, {0.45, -0.45}, {0.45, 0.45}, {-0.45, 0.45}}},
    {3, {{0, 0.72}, {-0.62, -0.36}, {0.62, -0.36}}},
    {4, {{0, -0.72}, {0.5, 0}, {0, 0.72}, {-0.5, 0}}},
};
enum { MARKS = sizeof marks / sizeof *marks };

static const uint32_t no_class = 0x8a8f98;

uint32_t figure_color_of(const cli_figure *p, int32_t group)
{
    return group < p->classes ? palette[group % COLORS] : no_class;
}

canvas_pen figure_fill_of(const cli_figure *p, int32_t group)
{
    return (canvas_pen){figure_color_of(p, group), 1, 0};
}

const figure_mark *figure_mark_of(const cli_figure *p, int32_t group)
{
    return &marks[group < p->classes ? (group / COLORS_PER_MARK + group / COLORS) % MARKS : 0];
}

bool figure_has_marks(const cli_figure *p)
{
    return p->groups > COLORS_PER_MARK;
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
