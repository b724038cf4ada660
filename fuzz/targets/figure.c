/* Figures of the command with hostile names, titles, fonts and coordinates: SVG that is well-formed
 * XML, and PDF and PNG by the plug-in.
 *
 * Input: a byte of choices, a byte of the format, two bytes of the size, a byte with the number of
 * classes; lines with the title, the font and the names of the classes; coordinates, two bytes
 * each, and classes of the points. */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdarg.h>

#include "base/base.h"
#include "fuzz.h"
#include "plot/figure.h"
#include "plot/regions.h"

/* Functions of the command that drawing uses. */
int cli_error(const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    FUZZ_MUST(strlen(message) > 5);
    return CLI_FAILED;
}

void *cli_alloc(const char *what, int64_t rows, int64_t columns, size_t size)
{
    FUZZ_MUST(*what && rows >= 0 && columns >= 0);
    return calloc((size_t)(rows * columns) + 1, size);
}

/* ---- XML ---- */

static bool is_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(at, known[i], strlen(known[i]))) return true;
    return false;
}

/* Passes over the attributes of a tag; NULL: they are malformed. */
static const char *tag_end(const char *at)
{
    for (; *at && *at != '>'; at++) {
        if (*at == '<') return NULL;
        if (*at != '"') continue;
        for (at++; *at && *at != '"'; at++)
            if (*at == '<' || (*at == '&' && !is_entity(at))) return NULL;
        if (!*at) return NULL;
    }
    return *at ? at : NULL;
}

/* Whether every element ends and texts have no markup. */
static bool is_xml(const char *at)
{
    enum { DEPTH = 16, NAME = 16 };
    char open[DEPTH][NAME];
    int depth = 0;
    for (; *at; at++) {
        if (*at == '&' && !is_entity(at)) return false;
        if (*at != '<') continue;
        const bool ends = at[1] == '/', special = at[1] == '?' || at[1] == '!';
        const char *name = at + 1 + ends, *end = tag_end(at + 1);
        const size_t length = strcspn(name, " />\n");
        if (!end || length >= NAME) return false;
        if (ends) {
            if (depth == 0 || strncmp(open[depth - 1], name, length) != 0 || open[depth - 1][length]) return false;
            depth--;
        } else if (!special && end[-1] != '/') {
            if (depth == DEPTH) return false;
            snprintf(open[depth++], NAME, "%.*s", (int)length, name);
        }
        at = end;
    }
    return depth == 0;
}

/* ---- figures ---- */

static void check_file(canvas_format format, const char *bytes, size_t size)
{
    FUZZ_MUST(size > 8);
    if (format == CANVAS_SVG) FUZZ_MUST(eh_utf8_valid(bytes, size) && is_xml(bytes));
    if (format == CANVAS_PNG) FUZZ_MUST(!memcmp(bytes, "\x89PNG\r\n\x1a\n", 8));
    if (format == CANVAS_PDF) FUZZ_MUST(!memcmp(bytes, "%PDF-", 5) && strstr(bytes + size - 8, "%%EOF"));
}

/* Coordinates in ranges that differ by the bits of the choice. */
static float *make_coordinates(fuzz_input *in, int64_t count, int choice)
{
    static const float scales[] = {1, 1e-38F, 1e38F, 1e-5F, 1e10F, 0, 1e30F, 100};
    float *Y = fuzz_alloc((size_t)count * sizeof *Y);
    for (int64_t i = 0; i < count; i++) {
        const int value = (int)fuzz_word(in) - 0x8000;
        Y[i] = value == 0x7FFF ? INFINITY : (float)value / 0x8000 * scales[choice >> 5 & 7];
    }
    return Y;
}

/* At least what the command allows; a large figure is slow. */
static int side(int choice)
{
    return 200 + (choice < 240 ? choice / 8 : 2 * choice);
}

FUZZ_TARGET(figure)
{
    enum { MAX_POINTS = 60, MAX_CLASSES = 40, FEW_CLASSES = 6, FONTS = 12 };
    const int choice = fuzz_byte(in), kind = fuzz_byte(in);
    const bool by_plugin = kind >= 250 && fuzz_one_of(32);
    const canvas_format format = !by_plugin ? CANVAS_SVG : kind % 2 ? CANVAS_PDF : CANVAS_PNG;
    cli_figure p = {.h = 2 + (choice & 1), .format = format, .scale = 1, .k = 1 + choice % 3};
    p.width = side(fuzz_byte(in));
    p.height = side(fuzz_byte(in));
    p.font_size = 4 + kind % (p.width < p.height ? p.width / FONTS - 3 : p.height / FONTS - 3); /* as the command */
    const int classes = fuzz_byte(in);
    p.classes = 1 + classes % (classes < 200 ? FEW_CLASSES : MAX_CLASSES);
    p.groups = p.classes + (choice >> 1 & 1);
    p.title = fuzz_line(in);
    p.font = fuzz_line(in);
    if (!*p.font) p.font = "sans-serif";
    const char **names = fuzz_alloc((size_t)p.groups * sizeof *names);
    for (int32_t k = 0; k < p.groups; k++) names[k] = fuzz_line(in);
    p.name = names;
    p.n = 1 + fuzz_byte(in) % MAX_POINTS;
    p.r = choice & 4 ? 1 + p.n / 3 : 0;
    p.legend = choice >> 3 & 1;
    p.labels = (cli_labels)(choice % 3);
    p.Y = make_coordinates(in, p.n * p.h, choice);
    int32_t *group = fuzz_alloc((size_t)p.n * sizeof *group), *label = fuzz_alloc((size_t)p.n * sizeof *label);
    bool *wrong = fuzz_alloc((size_t)p.n * sizeof *wrong);
    for (int64_t i = 0; i < p.n; i++) {
        group[i] = fuzz_byte(in) % p.groups;
        label[i] = (int32_t)(i % p.classes);
        wrong[i] = i % 5 == 0;
        p.errors += wrong[i];
    }
    p.group = group;
    p.wrong = choice & 16 ? wrong : NULL;
    p.reference = p.r ? make_coordinates(in, p.r * p.h, choice) : NULL;
    p.circles = p.r > 0;
    p.reference_label = p.r && p.h == 2 && p.r <= REGIONS_MAX_REFERENCES ? label : NULL;
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out) abort();
    const int code = cli_figure_draw(out, &p);
    if (fclose(out)) abort();
    if (code == 0) check_file(format, bytes, size);
    free(bytes);
}
