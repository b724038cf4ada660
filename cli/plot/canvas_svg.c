/* Figures as SVG. The file depends on the drawing only. A path is one element, and a dot takes
 * about ten bytes. */
#include <math.h>
#include <stdlib.h>

#include "plot/canvas.h"
#include "core/cli.h"

typedef struct svg {
    canvas face;
    FILE *out;
    double x, y; /* current point of the path */
} svg;

/* Rounded to 0.01, without trailing zeros. */
static void put_number(FILE *out, double value)
{
    const long hundredths = lround(100 * value), size = labs(hundredths);
    if (hundredths < 0) putc('-', out);
    if (size % 100 == 0)
        fprintf(out, "%ld", size / 100);
    else if (size % 10 == 0)
        fprintf(out, "%ld.%ld", size / 100, size / 10 % 10);
    else
        fprintf(out, "%ld.%02ld", size / 100, size % 100);
}

static void put_pair(FILE *out, char verb, double x, double y)
{
    putc(verb, out);
    put_number(out, x);
    if (!(lround(100 * y) < 0)) putc(' ', out);
    put_number(out, y);
}

static void put_attribute(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    put_number(out, value);
    putc('"', out);
}

static void begin(canvas *c, const canvas_pen *pen)
{
    FILE *out = ((svg *)c)->out;
    const char *kind = pen->width > 0 ? "stroke" : "fill";
    fprintf(out, pen->width > 0 ? "<path fill=\"none\" %s=\"#%06x\"" : "<path %s=\"#%06x\"", kind,
            (unsigned)pen->color);
    if (pen->width > 0) put_attribute(out, "stroke-width", pen->width);
    if (pen->opacity < 1) put_attribute(out, pen->width > 0 ? "stroke-opacity" : "fill-opacity", pen->opacity);
    fputs(" d=\"", out);
}

static void move(canvas *c, double x, double y)
{
    svg *s = (svg *)c;
    put_pair(s->out, 'M', x, y);
    s->x = x;
    s->y = y;
}

static void line(canvas *c, double x, double y)
{
    svg *s = (svg *)c;
    if (hypot(x - s->x, y - s->y) > 0)
        put_pair(s->out, 'L', x, y);
    else
        fputs("h0", s->out);
    s->x = x;
    s->y = y;
}

static void close_path(canvas *c)
{
    putc('z', ((svg *)c)->out);
}

static void circle(canvas *c, double x, double y, double radius)
{
    FILE *out = ((svg *)c)->out;
    put_pair(out, 'M', x - radius, y);
    for (int half = 0; half < 2; half++) {
        put_pair(out, 'a', radius, radius);
        put_pair(out, ' ', 0, 1);
        put_pair(out, ' ', 0, half ? -2 * radius : 2 * radius);
        fputs(" 0", out);
    }
    putc('z', out);
}

static void end(canvas *c)
{
    fputs("\"/>\n", ((svg *)c)->out);
}

/* The rest of an element that begins with "<text". */
static void put_text(FILE *out, double x, double y, double size, double max_width, const char *words,
                     const char *anchor)
{
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "font-size", size);
    fputs(anchor, out);
    if (CANVAS_LETTER * size * cli_text_width(words) > max_width + 1) {
        put_attribute(out, "textLength", max_width);
        fputs(" lengthAdjust=\"spacingAndGlyphs\"", out);
    }
    putc('>', out);
    cli_put_xml(out, words);
    fputs("</text>\n", out);
}

static void text(canvas *c, double x, double y, double size, double max_width, const char *words)
{
    FILE *out = ((svg *)c)->out;
    fputs("<text", out);
    put_text(out, x, y, size, max_width, words, "");
}

/* The white edge is another text below the name, because not every program supports paint-order. */
static void label(canvas *c, double x, double y, double size, double max_width, const char *words)
{
    FILE *out = ((svg *)c)->out;
    for (int pass = 0; pass < 2; pass++) {
        fputs(pass ? "<text" : "<text aria-hidden=\"true\" stroke=\"#fff\" fill=\"#fff\"", out);
        if (!pass) put_attribute(out, "stroke-width", CANVAS_EDGE * size);
        put_text(out, x, y, size, max_width, words, " text-anchor=\"middle\" font-weight=\"bold\"");
    }
}

static int finish(canvas *c)
{
    fputs("</svg>\n", ((svg *)c)->out);
    free(c);
    return 0; /* cli_output_close reports write errors */
}

canvas *canvas_open_svg(FILE *out, const canvas_page *page)
{
    svg *s = cli_alloc("the figure", 1, 1, sizeof *s);
    if (!s) return NULL;
    s->face = (canvas){begin, move, line, close_path, circle, end, text, label, finish};
    s->out = out;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"",
            page->width, page->height, page->width, page->height);
    cli_put_xml(out, page->font);
    fputs("\" fill=\"#222\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>", out);
    cli_put_xml(out, page->title);
    fprintf(out, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", page->width, page->height);
    return &s->face;
}
