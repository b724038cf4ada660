/* The map as a picture: a dot for each point, an open circle for each exemplar, a legend, as the paper's figure.
 *
 * The bytes depend on the numbers alone. A class is one <path> of zero-length strokes, dots that fall together to a
 * tenth of a pixel are drawn once, so that ten thousand points stay below 200 kB and no number of points exceeds what a
 * screen can show. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

/* Ten colours for a white ground, at least 16.8 apart (CIEDE2000) under normal, protan, deutan and tritan sight; found
 * by exchange search over the RGB cube, lightness 28 to 79. Tol's muted and Petroff's ten reach 11.5 and 11.9. Ordered
 * so that the first few are the farthest apart. */
static const char *const palette[] = {"#1111ee", "#00ddaa", "#005500", "#eeaaee", "#888800",
                                      "#bb4466", "#229999", "#bbcc00", "#772266", "#aa66ff"};
enum { COLOURS = sizeof palette / sizeof *palette };

/* Beyond ten classes colours come again with another mark, drawn from its centre, in units of the dot's size. */
typedef struct mark {
    const char *cap; /* of the stroke */
    double width;    /* of the stroke; 1: the dot itself */
    int arms;        /* 0: a dot, 1: upright cross, 2: diagonal cross */
} mark;
static const mark marks[] = {{"round", 1.0, 0}, {"square", 0.9, 0}, {"butt", 0.35, 1}, {"butt", 0.35, 2}};
enum { MARKS = sizeof marks / sizeof *marks };

static const double margin = 14, title_height = 34, legend_row = 21, legend_letter = 7.4, exemplar_radius = 6.5;

typedef struct frame { /* from the embedding to the page: x_page = x0 + s x, y_page = y0 - s y */
    double left, top, width, height, x0, y0, s;
} frame;

typedef struct dot { /* tenths of a pixel */
    int32_t x, y;
} dot;

static int compare_dots(const void *a, const void *b)
{
    const dot *p = a, *q = b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static dot place(const frame *f, float x, float y)
{
    return (dot){(int32_t)lround(10 * (f->x0 + f->s * (double)x)), (int32_t)lround(10 * (f->y0 - f->s * (double)y))};
}

static bool finite_pair(const float *Y, int64_t row, int64_t h)
{
    return isfinite(Y[row * h]) && isfinite(Y[row * h + 1]);
}

static void stretch(double bounds[4], const float *Y, int64_t rows, int64_t h)
{
    for (int64_t i = 0; i < rows; i++) {
        if (!finite_pair(Y, i, h)) continue;
        const double x = (double)Y[i * h], y = (double)Y[i * h + 1];
        bounds[0] = fmin(bounds[0], x);
        bounds[1] = fmax(bounds[1], x);
        bounds[2] = fmin(bounds[2], y);
        bounds[3] = fmax(bounds[3], y);
    }
}

/* One scale for both axes, since distances are what the map means. */
static void fit(frame *f, const cli_map_picture *p)
{
    double bounds[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    stretch(bounds, p->Y, p->n, p->h);
    if (p->exemplar) stretch(bounds, p->exemplar, p->r, p->h);
    if (bounds[0] > bounds[1]) bounds[0] = bounds[1] = bounds[2] = bounds[3] = 0;
    const double room = exemplar_radius + 6;
    const double wide = fmax(bounds[1] - bounds[0], 1e-12), tall = fmax(bounds[3] - bounds[2], 1e-12);
    f->s = fmin((f->width - 2 * room) / wide, (f->height - 2 * room) / tall);
    f->x0 = f->left + f->width / 2 - f->s * (bounds[0] + bounds[1]) / 2;
    f->y0 = f->top + f->height / 2 + f->s * (bounds[2] + bounds[3]) / 2;
}

/* A number of tenths, without a needless decimal. */
static void put_tenths(FILE *out, int32_t tenths)
{
    const int32_t size = tenths < 0 ? -tenths : tenths;
    if (tenths < 0) putc('-', out);
    if (size % 10)
        fprintf(out, "%d.%d", size / 10, size % 10);
    else
        fprintf(out, "%d", size / 10);
}

static void put_mark(FILE *out, dot at, const mark *m, double point)
{
    putc('M', out);
    put_tenths(out, at.x);
    if (at.y >= 0) putc(' ', out);
    put_tenths(out, at.y);
    const double arm = 0.6 * point, tip = 0.7071 * arm;
    if (m->arms == 0)
        fputs(m->cap[0] == 's' ? "h.01" : "h0", out); /* some renderers draw no square without a direction */
    else if (m->arms == 1)
        fprintf(out, "m-%.1f 0h%.1fm-%.1f-%.1fv%.1f", arm, 2 * arm, arm, arm, 2 * arm);
    else
        fprintf(out, "m-%.1f-%.1fl%.1f %.1fm0-%.1fl-%.1f %.1f", tip, tip, 2 * tip, 2 * tip, 2 * tip, 2 * tip, 2 * tip);
}

static void open_marks(FILE *out, int32_t group, double point)
{
    const mark *m = &marks[group / COLOURS % MARKS];
    fprintf(out, "<path stroke=\"%s\" stroke-width=\"%.2g\" stroke-linecap=\"%s\" d=\"", palette[group % COLOURS],
            m->width * point, m->cap);
}

static int put_points(FILE *out, const cli_map_picture *p, const frame *f)
{
    dot *dots = cli_alloc("dots", p->n, 1, sizeof *dots);
    if (!dots) return CLI_FAILED;
    fputs("<g fill=\"none\" stroke-opacity=\"0.85\">\n", out);
    for (int32_t g = 0; g < p->groups; g++) {
        size_t count = 0;
        for (int64_t i = 0; i < p->n; i++)
            if (p->group[i] == g && finite_pair(p->Y, i, p->h))
                dots[count++] = place(f, p->Y[i * p->h], p->Y[i * p->h + 1]);
        if (!count) continue;
        qsort(dots, count, sizeof *dots, compare_dots);
        open_marks(out, g, p->point);
        for (size_t i = 0; i < count; i++)
            if (i == 0 || compare_dots(&dots[i], &dots[i - 1]) != 0)
                put_mark(out, dots[i], &marks[g / COLOURS % MARKS], p->point);
        fputs("\"/>\n", out);
    }
    fputs("</g>\n", out);
    free(dots);
    return 0;
}

static void put_circle(FILE *out, double x, double y)
{
    fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y, exemplar_radius);
}

static void put_exemplars(FILE *out, const cli_map_picture *p, const frame *f)
{
    if (!p->exemplar) return;
    /* A white ring below the dark one keeps it apart from dots of any colour. */
    static const char *const ring[] = {"stroke=\"#fff\" stroke-width=\"4.5\"", "stroke=\"#111\" stroke-width=\"2\""};
    for (int pass = 0; pass < 2; pass++) {
        fprintf(out, "<g fill=\"none\" %s>\n", ring[pass]);
        for (int64_t i = 0; i < p->r; i++) {
            if (!finite_pair(p->exemplar, i, p->h)) continue;
            const dot at = place(f, p->exemplar[i * p->h], p->exemplar[i * p->h + 1]);
            put_circle(out, at.x / 10.0, at.y / 10.0);
        }
        fputs("</g>\n", out);
    }
}

/* The legend stands right of the frame, in as many columns as its rows need; what does not fit is counted in its last
 * row. */
typedef struct legend {
    double left, top, column;
    int rows, columns;
} legend;

static legend plan_legend(const cli_map_picture *p)
{
    enum { LONGEST = 24 };
    int letters = 8; /* "exemplar" */
    for (int32_t g = 0; g < p->groups; g++) {
        const int wide = cli_text_width(p->name[g]);
        if (wide > letters) letters = wide;
    }
    if (letters > LONGEST) letters = LONGEST;
    legend l = {.top = title_height + margin, .column = 30 + legend_letter * letters};
    l.rows = (int)(((double)p->height - l.top - margin) / legend_row);
    if (l.rows < 2) l.rows = 2;
    const int entries = (int)p->groups + (p->exemplar ? 1 : 0);
    const int most = (int)fmax(1.0, floor((double)p->width / 2 / l.column));
    l.columns = (entries + l.rows - 1) / l.rows;
    if (l.columns > most) l.columns = most;
    if (l.columns < 1) l.columns = 1;
    l.left = (double)p->width - margin / 2 - l.column * l.columns;
    return l;
}

static void put_legend_text(FILE *out, double x, double y, const char *text, double room)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y + 4.6);
    if (legend_letter * cli_text_width(text) > room + 1)
        fprintf(out, " textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\"", room);
    putc('>', out);
    cli_put_xml(out, text);
    fputs("</text>\n", out);
}

static void put_legend(FILE *out, const cli_map_picture *p, const legend *l)
{
    const int circle = p->exemplar ? 1 : 0, cells = l->rows * l->columns;
    const int shown = (int)p->groups + circle <= cells ? (int)p->groups : cells - circle - 1;
    const double room = l->column - 30;
    for (int i = 0; i < (int)p->groups + circle && i < cells; i++) {
        const double x = l->left + l->column * (i / l->rows) + 12,
                     y = l->top + legend_row * (i % l->rows) + legend_row / 2;
        if (i < shown) {
            open_marks(out, i, 9);
            put_mark(out, (dot){(int32_t)lround(10 * x), (int32_t)lround(10 * y)}, &marks[i / COLOURS % MARKS], 9);
            fputs("\"/>\n", out);
            put_legend_text(out, x + 14, y, p->name[i], room);
        } else if (i == shown && shown < (int)p->groups) {
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">and %d more</text>\n", x + 14, y + 4.6, (int)p->groups - shown);
        } else if (circle) {
            fputs("<g fill=\"none\" stroke=\"#111\" stroke-width=\"2\">\n", out);
            put_circle(out, x, y);
            fputs("</g>\n", out);
            put_legend_text(out, x + 14, y, "exemplar", room);
        }
    }
}

int cli_svg_write(FILE *out, const cli_map_picture *p)
{
    const legend l = plan_legend(p);
    frame f = {.left = margin, .top = title_height, .height = (double)p->height - title_height - margin};
    f.width = fmax(l.left - margin - f.left, 60);
    fit(&f, p);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" viewBox=\"0 0 %lld %lld\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n<title>",
            (long long)p->width, (long long)p->height, (long long)p->width, (long long)p->height);
    cli_put_xml(out, p->title);
    fprintf(out, "</title>\n<rect width=\"%lld\" height=\"%lld\" fill=\"#fff\"/>\n", (long long)p->width,
            (long long)p->height);
    fprintf(out, "<text x=\"%.1f\" y=\"22\" font-size=\"15\">", f.left);
    cli_put_xml(out, p->title);
    fputs("</text>\n", out);
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fcfcfc\" stroke=\"#bbb\"/>\n",
            f.left, f.top, f.width, f.height);
    const int code = put_points(out, p, &f);
    if (code) return code;
    put_exemplars(out, p, &f);
    put_legend(out, p, &l);
    fputs("</svg>\n", out);
    return 0;
}
