/* Synthetic data from a seed: digits of 28 x 28 pixels and Gaussian blobs, for the demo, tests and
 * benchmarks.
 *
 * Every number is a function of (seed, sample, use), so a description gives byte-identical data on
 * any machine. The digits use no library function except sqrt, which IEEE 754 rounds exactly. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "data/read/read.h"
#include "data/store/store.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* a fused multiply-add would change the last bits */
#endif

enum {
    SIDE = 28,
    MAX_POINTS = 16,       /* points of a stroke */
    MAX_SEGMENTS = 32,     /* segments of a digit */
    DRAWS = 1024,          /* random numbers reserved for one digit */
    TEST_SAMPLE = 1 << 30, /* index of the first sample of the test part */
    MAX_SAMPLES = 1 << 30,
    MAX_INPUTS = 1 << 20,
    MAX_CLASSES = 1 << 16
};
/* Indices of the random numbers of the shuffle and of the blob centers, above those of all samples.
 */
static const uint64_t SHUFFLE_ROUND = 1u << 20;
static const uint64_t CENTER_INDEX = (uint64_t)1 << 61;

/* ---- the specification ---- */

typedef struct spec {
    bool digits; /* false: blobs */
    int64_t n, classes, inputs;
    uint64_t seed;
    double spread;
    bool test;
} spec;

static enhope_status parse_integer(enhope_context *ctx, const char *key, const char *value, int64_t minimum,
                                   int64_t maximum, int64_t *out)
{
    double number;
    if (eh_number_parse(value, strlen(value), &number) != EH_NUMBER || number < (double)minimum ||
        number > (double)maximum || number != (double)(int64_t)number)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "synthetic: %s is '%.60s': expected a whole number from %lld to %lld", key, value,
                       (long long)minimum, (long long)maximum);
    *out = (int64_t)number;
    return ENHOPE_OK;
}

static enhope_status parse_pair(enhope_context *ctx, const char *key, const char *value, spec *s)
{
    int64_t seed = 0;
    if (strcmp(key, "n") == 0) return parse_integer(ctx, key, value, 1, MAX_SAMPLES, &s->n);
    if (strcmp(key, "seed") == 0) {
        EH_TRY(parse_integer(ctx, key, value, 0, (int64_t)1 << 53, &seed));
        s->seed = (uint64_t)seed;
        return ENHOPE_OK;
    }
    if (strcmp(key, "part") == 0) {
        s->test = strcmp(value, "test") == 0;
        if (s->test || strcmp(value, "train") == 0) return ENHOPE_OK;
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown part '%.60s': expected train or test", value);
    }
    if (!s->digits && strcmp(key, "classes") == 0) return parse_integer(ctx, key, value, 1, MAX_CLASSES, &s->classes);
    if (!s->digits && strcmp(key, "inputs") == 0) return parse_integer(ctx, key, value, 1, MAX_INPUTS, &s->inputs);
    if (!s->digits && strcmp(key, "spread") == 0) {
        if (eh_number_parse(value, strlen(value), &s->spread) == EH_NUMBER && s->spread >= 0 && s->spread <= 1e6)
            return ENHOPE_OK;
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: spread is '%.60s': expected a number from 0 to 1000000",
                       value);
    }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: unknown key '%.60s' of %s: expected %s", key,
                   s->digits ? "digits" : "blobs",
                   s->digits ? "n, seed or part" : "n, classes, inputs, spread, seed or part");
}

static enhope_status parse_spec(enhope_context *ctx, const char *text, spec *s)
{
    char buffer[256];
    if (strlen(text) >= sizeof buffer)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: the description is longer than %zu characters",
                       sizeof buffer - 1);
    strcpy(buffer, text);
    char *next = strchr(buffer, ',');
    if (next) *next++ = '\0';
    *s = (spec){.digits = strcmp(buffer, "digits") == 0, .classes = 3, .inputs = 5, .seed = 1, .spread = 1};
    if (!s->digits && strcmp(buffer, "blobs") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: unknown name '%.60s': expected digits or blobs", buffer);
    s->n = s->digits ? 6000 : 600;
    if (s->digits) s->classes = 10;
    while (next) {
        char *pair = next;
        next = strchr(pair, ',');
        if (next) *next++ = '\0';
        char *value = strchr(pair, '=');
        if (!value)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: invalid setting '%.60s': expected key=value", pair);
        *value++ = '\0';
        EH_TRY(parse_pair(ctx, pair, value, s));
    }
    return ENHOPE_OK;
}

/* ---- digits ---- */

typedef struct point {
    double x, y; /* in a unit box, y downwards */
} point;

typedef struct stroke {
    int digit, variant; /* a digit is drawn with the strokes of one variant */
    int count;
    point at[MAX_POINTS];
} stroke;

static const int variants[10] = {1, 2, 1, 1, 2, 1, 1, 2, 1, 2};

/* clang-format off */
static const stroke strokes[] = {
    {0, 0, 13, {{.77, .50}, {.734, .70}, {.635, .846}, {.50, .90}, {.365, .846}, {.266, .70}, {.23, .50},
                {.266, .30}, {.365, .154}, {.50, .10}, {.635, .154}, {.734, .30}, {.77, .50}}},
    {1, 0, 2, {{.50, .10}, {.50, .90}}},
    {1, 1, 3, {{.34, .28}, {.52, .10}, {.52, .90}}},
    {2, 0, 9, {{.25, .28}, {.30, .16}, {.42, .10}, {.58, .10}, {.70, .18}, {.73, .30}, {.66, .45}, {.25, .90},
               {.76, .90}}},
    {3, 0, 13, {{.27, .17}, {.40, .10}, {.58, .10}, {.70, .19}, {.70, .35}, {.58, .46}, {.43, .48}, {.62, .51},
                {.74, .63}, {.73, .78}, {.60, .89}, {.42, .90}, {.26, .82}}},
    {4, 0, 3, {{.62, .10}, {.22, .64}, {.80, .64}}},
    {4, 0, 2, {{.62, .10}, {.62, .90}}},
    {4, 1, 4, {{.30, .12}, {.25, .50}, {.45, .56}, {.72, .50}}},
    {4, 1, 2, {{.71, .14}, {.64, .90}}},
    {5, 0, 10, {{.72, .10}, {.33, .10}, {.29, .45}, {.44, .40}, {.62, .43}, {.74, .56}, {.73, .74}, {.60, .88},
                {.42, .90}, {.26, .82}}},
    {6, 0, 12, {{.66, .12}, {.46, .22}, {.31, .44}, {.26, .66}, {.34, .84}, {.50, .90}, {.67, .84}, {.74, .70},
                {.68, .56}, {.52, .50}, {.36, .56}, {.28, .68}}},
    {7, 0, 3, {{.24, .12}, {.76, .12}, {.45, .90}}},
    {7, 1, 3, {{.24, .12}, {.76, .12}, {.45, .90}}},
    {7, 1, 2, {{.38, .50}, {.74, .50}}},
    {8, 0, 9, {{.69, .29}, {.634, .424}, {.50, .48}, {.366, .424}, {.31, .29}, {.366, .156}, {.50, .10},
               {.634, .156}, {.69, .29}}},
    {8, 0, 9, {{.73, .69}, {.663, .838}, {.50, .90}, {.337, .838}, {.27, .69}, {.337, .542}, {.50, .48},
               {.663, .542}, {.73, .69}}},
    {9, 0, 12, {{.34, .88}, {.54, .78}, {.69, .56}, {.74, .34}, {.66, .16}, {.50, .10}, {.33, .16}, {.26, .30},
                {.32, .44}, {.48, .50}, {.64, .44}, {.72, .32}}},
    {9, 1, 9, {{.70, .32}, {.60, .46}, {.44, .49}, {.31, .40}, {.30, .24}, {.42, .12}, {.60, .12}, {.70, .26},
               {.66, .90}}},
};
/* clang-format on */

/* The random numbers of one sample, used in order. */
typedef struct draws {
    uint64_t seed, index;
} draws;

/* Uniform in [low, high). */
static double draw(draws *d, double low, double high)
{
    return low + (high - low) * eh_random_unit(d->seed, EH_STREAM_SYNTHETIC, d->index++);
}

/* near (SIDE, SIDE): the minimum of its value and the squared distance of the pixel to the segment
 * a-b, for pixels up to `reach` away from it. */
static void draw_segment(point a, point b, double reach, double *near)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const double top = (a.y < b.y ? a.y : b.y) - reach, bottom = (a.y < b.y ? b.y : a.y) + reach;
    const double left = (a.x < b.x ? a.x : b.x) - reach, right = (a.x < b.x ? b.x : a.x) + reach;
    for (int r = 0; r < SIDE; r++) {
        if (r < top || r > bottom) continue;
        for (int c = 0; c < SIDE; c++) {
            if (c < left || c > right) continue;
            double t = length2 > 0 ? ((c - a.x) * dx + (r - a.y) * dy) / length2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            const double ex = c - a.x - t * dx, ey = r - a.y - t * dy, d2 = ex * ex + ey * ey;
            if (d2 < near[r * SIDE + c]) near[r * SIDE + c] = d2;
        }
    }
}

/* A digit in pixel coordinates, before rasterization. */
typedef struct drawing {
    double radius, ink, grain;
    int count;
    point from[MAX_SEGMENTS], to[MAX_SEGMENTS];
} drawing;

static void trace_digit(int digit, draws *d, drawing *out)
{
    const double half = (SIDE - 1) / 2.0;
    const int variant = (int)draw(d, 0, variants[digit]);
    const double half_tangent = draw(d, -.16, .16), q = 1 / (1 + half_tangent * half_tangent);
    const double cosine = (1 - half_tangent * half_tangent) * q, sine = 2 * half_tangent * q;
    const double slant = draw(d, -.4, .4), wide = draw(d, 15, 25), high = draw(d, 18, 25);
    const double shift_x = draw(d, -2, 2), shift_y = draw(d, -2, 2);
    out->radius = draw(d, .8, 1.9);
    out->ink = draw(d, 160, 255);
    out->grain = draw(d, 5, 45);
    const double bend_x = draw(d, -.5, .5), bend_y = draw(d, -.4, .4), wobble = .055;
    out->count = 0;
    for (size_t k = 0; k < sizeof strokes / sizeof *strokes; k++) {
        const stroke *s = &strokes[k];
        if (s->digit != digit || s->variant != variant) continue;
        point last = {0, 0};
        for (int i = 0; i < s->count; i++) {
            double x = s->at[i].x - .5 + draw(d, -wobble, wobble), y = s->at[i].y - .5 + draw(d, -wobble, wobble);
            const double x2 = x * x, y2 = y * y;
            x = (x + slant * -y + bend_x * y2) * wide;
            y = (y + bend_y * x2) * high;
            const point p = {half + shift_x + cosine * x - sine * y, half + shift_y + sine * x + cosine * y};
            if (i > 0) {
                out->from[out->count] = last;
                out->to[out->count++] = p;
            }
            last = p;
        }
    }
}

static void draw_digit(int digit, draws d, uint8_t *image /* (SIDE, SIDE) */)
{
    const double far = 1e9;
    drawing of;
    trace_digit(digit, &d, &of);
    const double radius = of.radius, ink = of.ink, grain = of.grain;
    double near[SIDE * SIDE];
    for (int p = 0; p < SIDE * SIDE; p++) near[p] = far;
    for (int i = 0; i < of.count; i++) draw_segment(of.from[i], of.to[i], radius + 1.5, near);
    for (int p = 0; p < SIDE * SIDE; p++) {
        double cover = .5 + radius - sqrt(near[p]);
        cover = cover < 0 ? 0 : cover > 1 ? 1 : cover;
        const double value = ink * cover + draw(&d, -grain, grain);
        image[p] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + .5 > 255 ? 255 : value + .5);
    }
}

/* ---- generator ---- */

typedef struct generator {
    spec s;
    int64_t *order; /* (n) the class of sample i is order[i] mod classes: all classes equally often, in random order */
    int threads;
} generator;

/* Centers are N(0, 3^2) in every input, samples N(center, spread^2). */
static void draw_blob(const spec *s, uint64_t sample, int32_t label, float *x /* (inputs) */)
{
    const int64_t H = s->inputs;
    for (int64_t j = 0; j < H; j++) {
        const uint64_t center = CENTER_INDEX + (uint64_t)(label * H + j);
        x[j] = (float)(3 * eh_random_normal(s->seed, EH_STREAM_SYNTHETIC, center) +
                       s->spread * eh_random_normal(s->seed, EH_STREAM_SYNTHETIC, sample * (uint64_t)H + (uint64_t)j));
    }
}

/* Draws the rows first .. first + n: x (n, H), label (n), on several threads. */
static void draw_rows(const generator *g, int64_t first, int64_t n, void *x, int32_t *label)
{
    enum { ALONE = 256 }; /* minimum rows for a second thread */
    const spec *s = &g->s;
#pragma omp parallel for num_threads(g->threads) if (n > ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const uint64_t sample = (uint64_t)(first + i) + (s->test ? TEST_SAMPLE : 0);
        label[i] = (int32_t)(g->order[first + i] % s->classes);
        if (s->digits)
            draw_digit(label[i], (draws){s->seed, sample * DRAWS}, (uint8_t *)x + i * SIDE * SIDE);
        else
            draw_blob(s, sample, label[i], (float *)x + i * s->inputs);
    }
}

static enhope_status name_classes(enhope_context *ctx, const spec *s, enhope_dataset *data)
{
    EH_TRY(eh_new(ctx, "class names", s->classes, sizeof *data->class_name, (void **)&data->class_name));
    data->c = (int32_t)s->classes;
    for (int32_t k = 0; k < data->c; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", k);
        EH_TRY(eh_new_text(ctx, "a class name", name, &data->class_name[k]));
    }
    return ENHOPE_OK;
}

/* Passes the rows to the sink in blocks, without the skipped ones. */
static enhope_status push_rows(enhope_context *ctx, const generator *g, const eh_matrix *shape, eh_sink *sink)
{
    enum { BLOCK = 1 << 22 }; /* bytes */
    enhope_status status = ENHOPE_OK;
    const int64_t n = g->s.n, usual = BLOCK / eh_store_bytes(shape->kind, shape->H, 1, 0);
    const int64_t step = eh_min(n, eh_max(usual, 1));
    int64_t first = eh_min(sink->skip, n);
    eh_block b = {.label = NULL};
    EH_TRY(eh_block_create(ctx, shape->kind, shape->H, step, 0, &b));
    sink->skip = 0;
    sink->rows = sink->reserve = n;
    sink->ordered = true;
    for (; first < n && !sink->full; first += step) {
        eh_matrix x = b.x;
        x.n = eh_min(step, n - first);
        draw_rows(g, first, x.n, b.owned[0], b.label);
        EH_CHECK(sink->take(ctx, sink, &x, b.label, (double)(first + x.n) / (double)n));
    }
cleanup:
    eh_block_free(&b);
    return status;
}

enhope_status eh_read_synthetic(enhope_context *ctx, const char *text, const char *part, enhope_dataset *data,
                                eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    generator g = {.threads = ctx->threads > 0 ? ctx->threads : omp_get_max_threads()};
    int64_t count;
    EH_TRY(parse_spec(ctx, text, &g.s));
    const spec *s = &g.s;
    if (part) g.s.test = strcmp(part, "test") == 0;
    const int64_t H = s->digits ? SIDE * SIDE : s->inputs;
    data->x = (eh_matrix){.kind = s->digits ? ENHOPE_U8 : ENHOPE_F32, .H = H};
    data->image_rows = data->image_columns = s->digits ? SIDE : 0;
    if (!eh_mul(s->n, H, &count)) return eh_fail_memory(ctx, "samples", (size_t)s->n, (size_t)H);
    EH_TRY(name_classes(ctx, s, data));
    EH_TRY(eh_new(ctx, "the order of the labels", s->n, sizeof *g.order, (void **)&g.order));
    eh_shuffle(s->seed, EH_STREAM_SYNTHETIC, SHUFFLE_ROUND + s->test, s->n, g.order);
    status = push_rows(ctx, &g, &data->x, sink);
    eh_free(g.order);
    return status;
}
