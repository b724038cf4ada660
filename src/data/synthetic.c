/* Data made from a seed: digits and strokes of 28 x 28 pixels, and gaussian blobs.
 *
 * Every number is a function of (seed, sample, use), so the same words give the same bytes on any machine. The digits
 * need no library function but sqrt, which IEEE 754 rounds exactly. Strokes are digits drawn in float with coarser noise,
 * ten times as fast, whose labels need no shuffle of all: for sets of any size.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "data/data.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* a fused multiply-add would change last bits */
#endif

enum {
    SIDE = 28,
    MAX_POINTS = 16,       /* of a stroke */
    MAX_SEGMENTS = 32,     /* of a digit */
    DRAWS = 1024,          /* random numbers set aside for one digit */
    TEST_SAMPLE = 1 << 30, /* the test part counts its samples from here */
    MAX_SAMPLES = 1 << 30,
    MAX_INPUTS = 1 << 20,
    MAX_CLASSES = 1 << 16
};
/* Where the numbers of the shuffle and of the blobs' centres lie, beyond those of all samples. */
static const uint64_t SHUFFLE_ROUND = 1u << 20;
static const uint64_t CENTRE_INDEX = (uint64_t)1 << 61;
/* Of strokes: where the test part begins, and where the orders of digits lie. */
static const uint64_t STROKES_TEST = (uint64_t)10 << 37;
static const uint64_t ORDER_INDEX = (uint64_t)1 << 60;

/* ---- the specification ---- */

typedef struct spec {
    bool digits, strokes; /* strokes are digits too */
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
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "part '%.60s' is not known: expected train or test", value);
    }
    if (!s->digits && strcmp(key, "classes") == 0) return parse_integer(ctx, key, value, 1, MAX_CLASSES, &s->classes);
    if (!s->digits && strcmp(key, "inputs") == 0) return parse_integer(ctx, key, value, 1, MAX_INPUTS, &s->inputs);
    if (!s->digits && strcmp(key, "spread") == 0) {
        if (eh_number_parse(value, strlen(value), &s->spread) == EH_NUMBER && s->spread >= 0 && s->spread <= 1e6)
            return ENHOPE_OK;
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: spread is '%.60s': expected a number from 0 to 1000000",
                       value);
    }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: '%.60s' is not known of %s: expected %s", key,
                   s->strokes  ? "strokes"
                   : s->digits ? "digits"
                               : "blobs",
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
    *s = (spec){.strokes = strcmp(buffer, "strokes") == 0, .classes = 3, .inputs = 5, .seed = 1, .spread = 1};
    s->digits = s->strokes || strcmp(buffer, "digits") == 0;
    if (!s->digits && strcmp(buffer, "blobs") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: '%.60s' is not known: expected digits, strokes or blobs",
                       buffer);
    s->n = s->digits ? 6000 : 600;
    while (next) {
        char *pair = next;
        next = strchr(pair, ',');
        if (next) *next++ = '\0';
        char *value = strchr(pair, '=');
        if (!value)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "synthetic: '%.60s' is not understood: expected key=value",
                           pair);
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
    uint32_t stream;
} draws;

/* Uniform in [low, high). */
static double draw(draws *d, double low, double high)
{
    return low + (high - low) * eh_random_unit(d->seed, d->stream, d->index++);
}

/* near (SIDE, SIDE) = min(near, squared distance of the pixel to the segment a-b), looking `reach` pixels around it. */
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

/* A digit in pixels, before it is inked. */
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

/* ---- strokes ---- */

/* As draw_segment, in float and within its box alone. */
static void draw_stroke(point a, point b, float reach, float *near)
{
    const float ax = (float)a.x, ay = (float)a.y, dx = (float)b.x - ax, dy = (float)b.y - ay;
    const float length2 = dx * dx + dy * dy, inverse = length2 > 0 ? 1 / length2 : 0;
    const float low_x = dx < 0 ? ax + dx : ax, high_x = dx < 0 ? ax : ax + dx;
    const float low_y = dy < 0 ? ay + dy : ay, high_y = dy < 0 ? ay : ay + dy;
    const int top = low_y - reach > 0 ? (int)(low_y - reach) : 0, left = low_x - reach > 0 ? (int)(low_x - reach) : 0;
    const int bottom = high_y + reach < SIDE - 1 ? (int)(high_y + reach) : SIDE - 1;
    const int right = high_x + reach < SIDE - 1 ? (int)(high_x + reach) : SIDE - 1;
    for (int r = top; r <= bottom; r++) {
        float *row = near + r * SIDE;
        const float y = (float)r - ay;
        for (int c = left; c <= right; c++) {
            const float x = (float)c - ax;
            float t = (x * dx + y * dy) * inverse;
            t = t < 0 ? 0 : t;
            t = t > 1 ? 1 : t;
            const float ex = x - t * dx, ey = y - t * dy, d2 = ex * ex + ey * ey;
            row[c] = d2 < row[c] ? d2 : row[c];
        }
    }
}

/* Sixteen bytes of noise come from one call. */
static void draw_strokes(int digit, draws d, uint8_t *image /* (SIDE, SIDE) */)
{
    enum { PIXELS = SIDE * SIDE, NOISE = DRAWS / 2 }; /* the noise follows the numbers of the drawing */
    const float far = 1e9F;
    const uint64_t noise = d.index + NOISE;
    drawing of;
    trace_digit(digit, &d, &of);
    const float radius = (float)of.radius, ink = (float)of.ink, grain = (float)of.grain / 127.5F;
    float near[PIXELS];
    uint32_t word[PIXELS / 4];
    uint8_t speck[PIXELS];
    for (int p = 0; p < PIXELS; p++) near[p] = far;
    for (int i = 0; i < of.count; i++) draw_stroke(of.from[i], of.to[i], radius + 1.5F, near);
    for (int w = 0; w < PIXELS / 4; w += 4) eh_philox(d.seed, d.stream, noise + (uint64_t)w / 4, 0, word + w);
    for (int w = 0; w < PIXELS / 4; w++)
        for (int b = 0; b < 4; b++) speck[4 * w + b] = (uint8_t)(word[w] >> 8 * b);
    for (int p = 0; p < PIXELS; p++) {
        float cover = .5F + radius - sqrtf(near[p]);
        cover = cover < 0 ? 0 : cover;
        cover = cover > 1 ? 1 : cover;
        float value = ink * cover + grain * ((float)speck[p] - 127.5F) + .5F;
        value = value < 0 ? 0 : value;
        value = value > 255 ? 255 : value;
        image[p] = (uint8_t)(int)value; /* by way of int, so that the loop is vectorised */
    }
}

/* Rows 10 b to 10 b + 9 hold the ten digits in an order that is drawn for them. */
static int stroke_digit(uint64_t seed, uint64_t sample)
{
    int digit[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint64_t left = eh_random_u64(seed, EH_STREAM_STROKES, ORDER_INDEX + sample / 10);
    for (int i = 9; i > 0; i--) {
        const int j = (int)(left % (uint64_t)(i + 1)), t = digit[i];
        left /= (uint64_t)(i + 1);
        digit[i] = digit[j];
        digit[j] = t;
    }
    return digit[sample % 10];
}

/* ---- all ---- */

struct eh_generator {
    spec s;
    int64_t *order; /* (n) the class of sample i is order[i] mod classes; strokes: NULL */
    int threads;    /* 0: as many as there are */
};

/* The number of a sample among those of both parts. */
static uint64_t sample_of(const spec *s, int64_t i)
{
    if (s->strokes) return (uint64_t)i + (s->test ? STROKES_TEST : 0);
    return (uint64_t)i + (s->test ? TEST_SAMPLE : 0);
}

/* Every class equally often, but for a remainder, in random order. */
static int32_t label_of(const eh_generator *g, int64_t i)
{
    if (g->s.strokes) return stroke_digit(g->s.seed, sample_of(&g->s, i));
    return (int32_t)(g->order[i] % g->s.classes);
}

/* Centres are N(0, 3^2) in every input, samples N(centre, spread^2). */
static void draw_blob(const spec *s, uint64_t sample, int32_t label, float *x /* (inputs) */)
{
    const int64_t H = s->inputs;
    for (int64_t j = 0; j < H; j++) {
        const uint64_t centre = CENTRE_INDEX + (uint64_t)(label * H + j);
        x[j] = (float)(3 * eh_random_normal(s->seed, EH_STREAM_SYNTHETIC, centre) +
                       s->spread * eh_random_normal(s->seed, EH_STREAM_SYNTHETIC, sample * (uint64_t)H + (uint64_t)j));
    }
}

static void make_row(const eh_generator *g, int64_t i, int64_t at, void *x, int32_t label)
{
    const spec *s = &g->s;
    const uint64_t sample = sample_of(s, i);
    const draws d = {s->seed, sample * DRAWS, s->strokes ? EH_STREAM_STROKES : EH_STREAM_SYNTHETIC};
    if (s->strokes)
        draw_strokes(label, d, (uint8_t *)x + at * SIDE * SIDE);
    else if (s->digits)
        draw_digit(label, d, (uint8_t *)x + at * SIDE * SIDE);
    else
        draw_blob(s, sample, label, (float *)x + at * s->inputs);
}

void eh_generator_rows(const eh_generator *g, int64_t first, int64_t n, void *x, int32_t *label)
{
    enum { ALONE = 256 }; /* rows that are not worth a second thread */
    const int threads = g->threads > 0 ? g->threads : omp_get_max_threads();
#pragma omp parallel for num_threads(threads) if (n > ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        label[i] = label_of(g, first + i);
        make_row(g, first + i, i, x, label[i]);
    }
}

static enhope_status name_classes(enhope_context *ctx, const spec *s, enhope_dataset *data)
{
    EH_TRY(eh_new(ctx, "class names", s->classes, sizeof *data->class_name, (void **)&data->class_name));
    data->c = (int32_t)s->classes;
    for (int32_t k = 0; k < data->c; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", k);
        data->class_name[k] = eh_strdup(name);
        if (!data->class_name[k]) return eh_fail_memory(ctx, "a class name", strlen(name) + 1, 1);
    }
    return ENHOPE_OK;
}

enhope_status eh_generator_create(enhope_context *ctx, const char *text, eh_generator **out, enhope_dataset **out_data)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    eh_generator *g = NULL;
    int64_t count;
    EH_CHECK(eh_new(ctx, "a generator", 1, sizeof *g, (void **)&g));
    EH_CHECK(parse_spec(ctx, text, &g->s));
    const spec *s = &g->s;
    if (s->digits) g->s.classes = 10;
    g->threads = ctx->threads;
    EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    data->x =
        (eh_matrix){.kind = s->digits ? ENHOPE_U8 : ENHOPE_F32, .n = s->n, .H = s->digits ? SIDE * SIDE : s->inputs};
    if (!eh_mul(s->n, data->x.H, &count)) EH_CHECK(eh_fail_memory(ctx, "samples", (size_t)s->n, (size_t)data->x.H));
    data->image_rows = data->image_columns = s->digits ? SIDE : 0;
    EH_CHECK(name_classes(ctx, s, data));
    if (!s->strokes) {
        EH_CHECK(eh_new(ctx, "the order of the labels", s->n, sizeof *g->order, (void **)&g->order));
        eh_shuffle(s->seed, EH_STREAM_SYNTHETIC, SHUFFLE_ROUND + s->test, s->n, g->order);
    }
    *out = g;
    *out_data = data;
    return ENHOPE_OK;
cleanup:
    eh_generator_free(g);
    enhope_dataset_free(data);
    return status;
}

void eh_generator_free(eh_generator *g)
{
    if (!g) return;
    eh_free(g->order);
    eh_free(g);
}

enhope_status eh_synthetic(enhope_context *ctx, const char *text, enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    eh_generator *g = NULL;
    EH_TRY(eh_generator_create(ctx, text, &g, &data));
    const bool bytes = data->x.kind == ENHOPE_U8;
    const int64_t n = data->x.n, H = data->x.H;
    EH_CHECK(eh_new(ctx, "labels", n, sizeof *data->label, (void **)&data->label));
    EH_CHECK(eh_new(ctx, bytes ? "images" : "samples", n * H, bytes ? 1 : sizeof(float), &data->owned[0]));
    eh_generator_rows(g, 0, n, data->owned[0], data->label);
    if (bytes)
        data->x.u8 = data->owned[0];
    else
        data->x.f32 = data->owned[0];
    *out = data;
    data = NULL;
cleanup:
    eh_generator_free(g);
    enhope_dataset_free(data);
    return status;
}
