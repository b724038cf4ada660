/* Common to the figure and its legend: marks, colors, and the layout of the legend. */
#ifndef ENHOPE_CLI_FIGURE_H
#define ENHOPE_CLI_FIGURE_H

#include "core/cli.h"
#include "plot/canvas.h"

enum { FIGURE_MARGIN = 14, FIGURE_DARK = 0x111111 };

/* Corners relative to the center, for a diameter of 1. */
typedef struct figure_mark {
    int corners; /* 0: a disc */
    double at[4][2];
} figure_mark;

/* Mark and fill of a class or another group. */
const figure_mark *figure_mark_of(const cli_figure *p, int32_t group);
canvas_pen figure_fill_of(const cli_figure *p, int32_t group, double opacity);
/* Begin a path of marks of one kind; add a mark to it. */
void figure_begin_marks(canvas *c, const figure_mark *m, canvas_pen pen, double diameter);
void figure_put_mark(canvas *c, const figure_mark *m, double x, double y, double diameter);
/* A misclassified point. */
void figure_put_error(canvas *c, const figure_mark *m, canvas_pen pen, double x, double y, double size, double edge);
double figure_exemplar_radius(const cli_figure *p); /* smaller for more exemplars */

/* The legend is right of the frame and has as many columns as necessary. Classes that do not fit
 * are counted in one entry. The entries of exemplars and errors are in the last column, which alone
 * must be wide enough for them. */
typedef struct figure_legend {
    double left, top, column, last, row; /* width of a column, of the last column; height of a row */
    int rows, columns;
    int listed, extra; /* classes with an entry; first entry of exemplars and errors */
} figure_legend;
figure_legend figure_plan_legend(const cli_figure *p, double top);
void figure_put_legend(canvas *c, const cli_figure *p, const figure_legend *l);

#endif
