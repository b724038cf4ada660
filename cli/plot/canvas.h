/* A page to draw a figure on. Lengths are pixels as SVG and CSS have them, 96 an inch, from the upper left corner.
 *
 * SVG is written by ourselves (canvas_svg.c): cairo's would turn text into outlines of the fonts that a machine has, so that
 * bytes would depend on it. PNG and PDF are cairo's (canvas_cairo.c), a plug-in that is loaded on first use (canvas_plugin.c),
 * because cairo depends on some twenty other libraries. */
#ifndef ENHOPE_CLI_CANVAS_H
#define ENHOPE_CLI_CANVAS_H

#include <stdint.h>
#include <stdio.h>

typedef enum canvas_format { CANVAS_SVG, CANVAS_PNG, CANVAS_PDF } canvas_format;

typedef struct canvas_page {
    canvas_format format;
    double width, height;
    double scale; /* PNG: its pixels to one of ours */
    const char *title, *font;
} canvas_page;

typedef struct canvas_pen {
    uint32_t color; /* 0xRRGGBB */
    double opacity; /* of the path as a whole: where it covers itself, it is not darker */
    double width;   /* of a stroke with round ends; 0: the path is filled */
} canvas_pen;

typedef struct canvas canvas;
struct canvas {
    void (*begin)(canvas *c, const canvas_pen *pen); /* a path */
    void (*move)(canvas *c, double x, double y);
    void (*line)(canvas *c, double x, double y); /* to where it is: a dot as wide as the pen */
    void (*close)(canvas *c);
    void (*circle)(canvas *c, double x, double y, double radius);
    void (*end)(canvas *c);
    /* (x, y) is its left end on its line; squeezed where it is wider than room. */
    void (*text)(canvas *c, double x, double y, double size, double max_width, const char *text);
    int (*finish)(canvas *c); /* completes the file and frees the canvas; 0 or an exit code after a message */
};

/* A white page. NULL after a message on stderr. */
canvas *canvas_open_svg(FILE *out, const canvas_page *page);
canvas *canvas_open_cairo(FILE *out, const canvas_page *page); /* by the plug-in */

/* What the plug-in uses of the command. */
typedef struct canvas_host {
    char *(*clean)(const char *text);     /* UTF-8 without control characters, to be freed; NULL: out of memory */
    int (*fail)(const char *format, ...); /* prints a message; returns an exit code */
} canvas_host;

/* The symbol canvas_cairo_open of the plug-in. canvas_size is sizeof(canvas): another size is another version's, and gives
 * NULL, as does a failure after its message. */
typedef canvas *(*canvas_cairo_open_fn)(size_t canvas_size, const canvas_host *host, FILE *out,
                                        const canvas_page *page);

/* How wide a letter is taken to be, of a size of 1, where the font is not at hand. */
#define CANVAS_LETTER 0.57

#endif
