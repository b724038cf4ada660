/* The plug-in libenhope_cairo.so: figures as PNG and PDF. No other file includes cairo. */
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plot/canvas.h"

typedef struct sheet {
    canvas face;
    const canvas_host *host;
    FILE *out;
    canvas_format format;
    const char *font;
    cairo_surface_t *surface;
    cairo_t *cairo;
    canvas_pen pen;
    bool out_of_memory;
} sheet;

static const double points_per_pixel = 0.75; /* 72 points of PDF, 96 pixels per inch */
static const uint32_t ink = 0x222222;        /* color of text, as in SVG */

static cairo_status_t write_bytes(void *file, const unsigned char *bytes, unsigned count)
{
    return fwrite(bytes, 1, count, file) == count ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static void set_color(sheet *s, uint32_t color, double opacity)
{
    cairo_set_source_rgba(s->cairo, (double)(color >> 16) / 255, (double)(color >> 8 & 255) / 255,
                          (double)(color & 255) / 255, opacity);
}

static void begin(canvas *c, const canvas_pen *pen)
{
    sheet *s = (sheet *)c;
    s->pen = *pen;
    cairo_new_path(s->cairo);
}

static void move(canvas *c, double x, double y)
{
    cairo_move_to(((sheet *)c)->cairo, x, y);
}

static void line(canvas *c, double x, double y)
{
    cairo_line_to(((sheet *)c)->cairo, x, y);
}

static void close_path(canvas *c)
{
    cairo_close_path(((sheet *)c)->cairo);
}

static void circle(canvas *c, double x, double y, double radius)
{
    cairo_t *cairo = ((sheet *)c)->cairo;
    cairo_new_sub_path(cairo);
    cairo_arc(cairo, x, y, radius, 0, 2 * acos(-1.0));
    cairo_close_path(cairo);
}

static void end(canvas *c)
{
    sheet *s = (sheet *)c;
    set_color(s, s->pen.color, s->pen.opacity);
    cairo_set_line_width(s->cairo, s->pen.width);
    if (s->pen.width > 0)
        cairo_stroke(s->cairo);
    else
        cairo_fill(s->cairo);
}

/* Text that begins at x or, with an edge, bold text around x. */
static void put_text(sheet *s, double x, double y, double size, double max_width, const char *words, double edge)
{
    char *clean = s->host->clean(words);
    if (!clean) {
        s->out_of_memory = true;
        return;
    }
    cairo_text_extents_t is;
    cairo_save(s->cairo);
    if (edge > 0) cairo_select_font_face(s->cairo, s->font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(s->cairo, size);
    cairo_text_extents(s->cairo, clean, &is);
    cairo_translate(s->cairo, edge > 0 ? x - fmin(is.x_advance, max_width) / 2 : x, y);
    if (is.x_advance > max_width) cairo_scale(s->cairo, max_width / is.x_advance, 1);
    if (edge > 0) {
        cairo_move_to(s->cairo, 0, 0);
        cairo_text_path(s->cairo, clean);
        set_color(s, 0xffffff, 1);
        cairo_set_line_width(s->cairo, edge);
        cairo_stroke(s->cairo);
    }
    cairo_move_to(s->cairo, 0, 0);
    set_color(s, ink, 1);
    cairo_show_text(s->cairo, clean);
    cairo_restore(s->cairo);
    free(clean);
}

static void text(canvas *c, double x, double y, double size, double max_width, const char *words)
{
    put_text((sheet *)c, x, y, size, max_width, words, 0);
}

static void label(canvas *c, double x, double y, double size, double max_width, const char *words)
{
    put_text((sheet *)c, x, y, size, max_width, words, CANVAS_EDGE * size);
}

static int finish(canvas *c)
{
    sheet *s = (sheet *)c;
    const canvas_host *host = s->host;
    cairo_status_t status = s->out_of_memory ? CAIRO_STATUS_NO_MEMORY : cairo_status(s->cairo);
    cairo_destroy(s->cairo);
    if (!status && s->format == CANVAS_PNG) status = cairo_surface_write_to_png_stream(s->surface, write_bytes, s->out);
    cairo_surface_finish(s->surface);
    if (!status) status = cairo_surface_status(s->surface);
    cairo_surface_destroy(s->surface);
    free(s);
    /* cli_output_close reports write errors */
    if (!status || status == CAIRO_STATUS_WRITE_ERROR) return 0;
    return host->fail("cannot draw the figure: %s; try --format svg", cairo_status_to_string(status));
}

/* Fixed dates: the same figure gives a byte-identical file. */
static void put_metadata(cairo_surface_t *surface, const canvas_host *host, const char *title)
{
    char *clean = host->clean(title);
    if (clean) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, clean);
    free(clean);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "enhope");
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_MOD_DATE, "2000-01-01T00:00:00Z");
}

static void prepare(sheet *s, const canvas_page *page, double scale)
{
    s->cairo = cairo_create(s->surface);
    cairo_scale(s->cairo, scale, scale);
    set_color(s, 0xffffff, 1);
    cairo_paint(s->cairo);
    cairo_set_line_cap(s->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(s->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_select_font_face(s->cairo, page->font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    /* the same text rendering on all machines */
    cairo_font_options_t *plain = cairo_font_options_create();
    cairo_font_options_set_antialias(plain, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(plain, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(plain, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(s->cairo, plain);
    cairo_font_options_destroy(plain);
}

__attribute__((visibility("default"))) canvas *canvas_cairo_open(size_t canvas_size, const canvas_host *host, FILE *out,
                                                                 const canvas_page *page);

canvas *canvas_cairo_open(size_t canvas_size, const canvas_host *host, FILE *out, const canvas_page *page)
{
    if (canvas_size != sizeof(canvas)) {
        host->fail("libenhope_cairo.so is from another version than enhope; reinstall enhope");
        return NULL;
    }
    sheet *s = calloc(1, sizeof *s);
    if (!s) {
        host->fail("out of memory: the figure needs %zu bytes", sizeof *s);
        return NULL;
    }
    s->host = host;
    s->face = (canvas){begin, move, line, close_path, circle, end, text, label, finish};
    s->out = out;
    s->format = page->format;
    s->font = page->font;
    if (page->format == CANVAS_PDF) {
        s->surface = cairo_pdf_surface_create_for_stream(write_bytes, out, points_per_pixel * page->width,
                                                         points_per_pixel * page->height);
        put_metadata(s->surface, host, page->title);
        prepare(s, page, points_per_pixel);
    } else {
        s->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(page->scale * page->width),
                                                (int)lround(page->scale * page->height));
        prepare(s, page, page->scale);
    }
    return &s->face;
}
