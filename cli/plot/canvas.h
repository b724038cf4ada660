/* A page to draw a figure on. Lengths are CSS pixels, 96 per inch, from the upper left corner.
 *
 * canvas_svg.c writes SVG without cairo, which would convert text to outlines of the installed
 * fonts, so that files would differ between machines. canvas_cairo.c writes PNG and PDF with cairo.
 * It is a plug-in, loaded on first use (canvas_plugin.c), because cairo depends on some twenty
 * libraries. */
#ifndef ENHOPE_CLI_CANVAS_H
#define ENHOPE_CLI_CANVAS_H

#include <stdint.h>
#include <stdio.h>

typedef enum canvas_format { CANVAS_SVG, CANVAS_PNG, CANVAS_PDF } canvas_format;

typedef struct canvas_page {
    canvas_format format;
    double width, height;
    double scale;             /* pixels of the PNG per CSS pixel */
    const char *title, *font; /* until the canvas is finished */
} canvas_page;

typedef struct canvas_pen {
    uint32_t color; /* 0xRRGGBB */
    double opacity; /* of the whole path: overlaps are not darker */
    double width;   /* of a stroke with round ends; 0: fill */
} canvas_pen;

typedef struct canvas canvas;
struct canvas {
    void (*begin)(canvas *c, const canvas_pen *pen); /* a path */
    void (*move)(canvas *c, double x, double y);
    void (*line)(canvas *c, double x, double y); /* to the same point: draws a dot */
    void (*close)(canvas *c);
    void (*circle)(canvas *c, double x, double y, double radius);
    void (*end)(canvas *c);
    /* Text with its baseline beginning at (x, y), condensed to max_width if it is wider. */
    void (*text)(canvas *c, double x, double y, double size, double max_width, const char *text);
    /* A name on the map: bold, around the middle x, with a white edge. */
    void (*label)(canvas *c, double x, double y, double size, double max_width, const char *text);
    int (*finish)(canvas *c); /* completes the file and frees the canvas; 0 or an exit code after a message */
};

/* A white page. NULL after a message on stderr. */
canvas *canvas_open_svg(FILE *out, const canvas_page *page);
canvas *canvas_open_cairo(FILE *out, const canvas_page *page); /* by the plug-in */

/* Functions of the command that the plug-in uses. */
typedef struct canvas_host {
    char *(*clean)(const char *text);     /* UTF-8 without control characters, to be freed; NULL: out of memory */
    int (*fail)(const char *format, ...); /* prints a message; returns an exit code */
} canvas_host;

/* The symbol canvas_cairo_open of the plug-in. canvas_size is sizeof(canvas): a different size
 * means a different version. Prints a message and returns NULL on failure. */
typedef canvas *(*canvas_cairo_open_fn)(size_t canvas_size, const canvas_host *host, FILE *out,
                                        const canvas_page *page);

/* Assumed mean width of a letter at font size 1, for SVG. */
#define CANVAS_LETTER 0.57
/* Width of the stroke that makes the edge of a label, at font size 1; half of it is outside. */
#define CANVAS_EDGE 0.3

#endif
