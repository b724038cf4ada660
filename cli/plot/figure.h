/* What the figure and its legend share: marks, colours, and the plan of the legend. */
#ifndef ENHOPE_CLI_FIGURE_H
#define ENHOPE_CLI_FIGURE_H

#include "core/cli.h"
#include "plot/canvas.h"

enum { FIGURE_MARGIN = 14, FIGURE_DARK = 0x111111 };

/* Corners from the centre, for a diameter of 1. */
typedef struct figure_mark {
    int corners; /* 0: a disc */
    double at[4][2];
} figure_mark;

/* Mark and fill of a class, or of a group that is none. */
const figure_mark *figure_mark_of(const cli_figure *p, int32_t group);
canvas_pen figure_fill_of(const cli_figure *p, int32_t group, double opacity);
/* Begins a path of marks of one kind; puts one into it. */
void figure_begin_marks(canvas *c, const figure_mark *m, canvas_pen pen, double diameter);
void figure_put_mark(canvas *c, const figure_mark *m, double x, double y, double diameter);
/* A misclassified point. */
void figure_put_error(canvas *c, const figure_mark *m, canvas_pen pen, double x, double y, double size, double edge);
double figure_exemplar_radius(const cli_figure *p); /* smaller for many */

/* It stands right of the frame, in as many columns as its rows need; what does not fit is counted. Exemplars and errors are
 * explained below one another in the last column, so that only this one has to be wide enough for these words. */
typedef struct figure_legend {
    double left, top, column, last, row; /* widths of a column and of the last; height of a row */
    int rows, columns;
    int listed, extra; /* classes that have an entry; where exemplars and errors begin */
} figure_legend;
figure_legend figure_plan_legend(const cli_figure *p, double top);
void figure_put_legend(canvas *c, const cli_figure *p, const figure_legend *l);

#endif
