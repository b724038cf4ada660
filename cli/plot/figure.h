/* Common to the parts of the figure: the frame, marks and colors, names on the map, the legend. */
#ifndef ENHOPE_CLI_FIGURE_H
#define ENHOPE_CLI_FIGURE_H

#include "core/cli.h"
#include "plot/canvas.h"
#include "plot/labels.h"

enum { FIGURE_MARGIN = 14, FIGURE_DARK = 0x111111, FIGURE_MAX_LETTERS = 24 /* of a name */ };

typedef struct figure_frame { /* (x0, y0) of the embedding is in the middle; s: pixels per unit */
    double left, top, width, height, x0, y0, s;
} figure_frame;

/* A point of the embedding on the page. */
double figure_x(const figure_frame *f, const float *y);
double figure_y(const figure_frame *f, const float *y);

/* Corners relative to the center, for a diameter of 1. */
typedef struct figure_mark {
    int corners; /* 0: a disc */
    double at[4][2];
} figure_mark;

/* Mark, color and fill of a class or another group (palette.c). */
const figure_mark *figure_mark_of(const cli_figure *p, int32_t group);
uint32_t figure_color_of(const cli_figure *p, int32_t group);
canvas_pen figure_fill_of(const cli_figure *p, int32_t group);
bool figure_has_marks(const cli_figure *p); /* whether classes differ by marks too */
/* Begin a path of marks of one kind; add a mark to it. */
void figure_begin_marks(canvas *c, const figure_mark *m, canvas_pen pen, double diameter);
void figure_put_mark(canvas *c, const figure_mark *m, double x, double y, double diameter);
/* A misclassified point. */
void figure_put_error(canvas *c, const figure_mark *m, canvas_pen pen, double x, double y, double size, double edge);
double figure_exemplar_radius(const cli_figure *p); /* smaller for more exemplars */
canvas_pen figure_exemplar_pen(const cli_figure *p);

/* Names of classes on the map (names.c). */
typedef struct figure_names {
    double *center; /* (classes, 2) NAN: no place */
    double *width;  /* (classes) 0: no name on the map */
    bool *is_mixed; /* (classes) other classes have most points around its place */
    char (*text)[4 * FIGURE_MAX_LETTERS + 8];
    double size;     /* of letters */
    int32_t missing; /* classes with points and without a place */
} figure_names;
int figure_place_names(figure_names *names, const cli_figure *p, const figure_frame *f); /* 0 or an exit code */
void figure_put_names(canvas *c, const cli_figure *p, const figure_names *names);
void figure_free_names(figure_names *names);

/* The legend is right of the frame and has as many columns as necessary. Classes that do not fit
 * are counted in one entry. The entries of exemplars and errors are in the last column, which alone
 * must be wide enough for them. If the classes have their names on the map, the other entries are
 * in a row below the frame. */
typedef struct figure_legend {
    double left, top, column, last, row; /* width of a column, of the last column; height of a row */
    int rows, columns;
    int first, listed; /* first group; groups with an entry */
    int extra;         /* first entry of exemplars and errors */
    double below;      /* height of the row below the frame */
} figure_legend;
figure_legend figure_plan_legend(const cli_figure *p, double top);
figure_legend figure_plan_row(const cli_figure *p);
/* Appends an ellipsis to a text of more letters. */
void figure_shorten(char *to, size_t size, const char *text, int max_letters);
void figure_put_legend(canvas *c, const cli_figure *p, const figure_legend *l);

#endif
