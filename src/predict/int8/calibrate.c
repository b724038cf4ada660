/* Calibration: finds the ranges of the int8 arithmetic from a sample of training rows.
 *
 * Inputs first. Then the sample passes through the int8 factors themselves, which are exact, so
 * that the ranges of the powers are the same for any number of threads and on any processor. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "predict/int8/stages.h"

enum {
    SAMPLE = 2048,        /* rows */
    MAX_POWERS = 1 << 24, /* numbers of powers in memory: with many factors the sample is smaller ... */
    MIN_SAMPLE = 64,      /* ... but not than this */
    TILE = 64,            /* rows that are multiplied at a time */
    CODES = 255,          /* the largest code */
    SHRINKS = 16,         /* positions of an end of a range that are tried ... */
    TURNS = 3             /* ... for the upper, the lower and the upper end */
};
static const double SHRINK = 0.84089641525371454; /* 2^(-1/4): from one to the next */

/* A range of codes, and the squared error of the sample with it. */
typedef struct range {
    float low, step;
    double error;
} range;

/* Values of one input or of several, or of a power. Zeros that are not stored are only counted. */
typedef struct values {
    float *v; /* (count) */
    int64_t count, zeros;
    bool inputs; /* integers and zeros may get exact codes */
} values;

/* ---- the range of least squared error ---- */

/* The difference of x and its decoded value, in steps. */
static inline float lost(float x, float low, float inverse)
{
    const float v = (x - low) * inverse;
    return v - eh_int8_round(eh_int8_clamp(v, 0, CODES));
}

/* Sixteen partial sums, so that the compiler can vectorize, of blocks, so that floats suffice. */
static double error_of(const values *x, float low, float step)
{
    enum { SUMS = 16, BLOCK = 4096 };
    const float inverse = 1 / step, zero = lost(0, low, inverse);
    double sum = (double)x->zeros * (double)zero * (double)zero;
    for (int64_t first = 0; first < x->count; first += BLOCK) {
        const int64_t end = eh_min(x->count, first + BLOCK);
        float partial[SUMS] = {0};
        int64_t i = first;
        for (; i + SUMS <= end; i += SUMS)
            for (int l = 0; l < SUMS; l++) {
                const float d = lost(x->v[i + l], low, inverse);
                partial[l] += d * d;
            }
        for (; i < end; i++) partial[0] += lost(x->v[i], low, inverse) * lost(x->v[i], low, inverse);
        for (int l = 0; l < SUMS; l++) sum += (double)partial[l];
    }
    return sum * (double)step * (double)step;
}

/* Replaces *best if the range from low with this step has a smaller error. */
static void try_step(const values *x, double low, double step, range *best)
{
    const float l = (float)low, s = (float)fmin(fmax(step, (double)EH_QUANTIZED_MIN), (double)EH_QUANTIZED_MAX);
    const double error = error_of(x, l, s);
    if (error < best->error) *best = (range){l, s, error};
}

static void try_range(const values *x, double low, double high, range *best)
{
    try_step(x, low, (high - low) / CODES, best);
}

/* Ranges that clip large values: one end moves towards the mean, then the other, then the first
 * again. */
static void clip(const values *x, double minimum, double mean, double maximum, range *best)
{
    double low = minimum - mean, high = maximum - mean;
    for (int turn = 0; turn < TURNS; turn++) {
        double at = turn % 2 ? minimum - mean : maximum - mean;
        for (int i = 0; i < SHRINKS; i++, at *= SHRINK) {
            const double error = best->error;
            try_range(x, mean + (turn % 2 ? at : low), mean + (turn % 2 ? high : at), best);
            if (best->error < error) *(turn % 2 ? &low : &high) = at;
        }
    }
}

/* Tries the whole range; for inputs one with an exact code for each integer, and one with an exact
 * code for 0; then ranges that clip. */
static range fit(const values *x)
{
    double minimum = x->zeros ? 0 : INFINITY, maximum = x->zeros ? 0 : -INFINITY, sum = 0;
    bool integers = x->inputs;
    for (int64_t i = 0; i < x->count; i++) {
        const double v = (double)x->v[i];
        minimum = fmin(minimum, v);
        maximum = fmax(maximum, v);
        sum += v;
        integers &= v == floor(v);
    }
    const double width = maximum - minimum;
    range best = {(float)minimum, 1.0f / CODES, INFINITY};
    if (width == 0) return best; /* a constant */
    if (integers && width <= CODES) try_step(x, minimum, 1 / floor(CODES / width), &best);
    try_range(x, minimum, maximum, &best);
    if (x->inputs && minimum < 0 && maximum > 0) {
        const double step = width / (CODES - 1);
        try_step(x, -step * ceil(-minimum / step), step, &best);
    }
    if (best.error > 0) clip(x, minimum, sum / (double)(x->count + x->zeros), maximum, &best);
    return best;
}

/* ---- inputs ---- */

/* Rows of the data, and the columns of sparse rows as lists. */
typedef struct sample {
    const eh_matrix *x;
    const int64_t *rows; /* (n) */
    int64_t n;
    int64_t *start; /* (H + 2) sparse: first value of each column */
    float *value;   /* (start[H]) sparse */
} sample;

static enhope_status transpose(enhope_context *ctx, sample *s)
{
    const eh_matrix *x = s->x;
    int64_t total = 0;
    for (int64_t i = 0; i < s->n; i++) total += x->row_start[s->rows[i] + 1] - x->row_start[s->rows[i]];
    EH_TRY(eh_new(ctx, "columns of a sample", x->H + 2, sizeof *s->start, (void **)&s->start));
    EH_TRY(eh_new(ctx, "columns of a sample", total, sizeof *s->value, (void **)&s->value));
    int64_t *next = s->start + 1; /* next[k] moves from the start to the end of column k */
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t t = x->row_start[s->rows[i]]; t < x->row_start[s->rows[i] + 1]; t++) next[x->column[t] + 1]++;
    for (int64_t k = 0; k < x->H; k++) next[k + 1] += next[k];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t t = x->row_start[s->rows[i]]; t < x->row_start[s->rows[i] + 1]; t++)
            s->value[next[x->column[t]]++] = x->value[t];
    return ENHOPE_OK;
}

/* Appends the values of column k. */
static void add_column(const sample *s, int64_t k, values *to)
{
    const eh_matrix *x = s->x;
    if (x->kind == ENHOPE_CSR) {
        const int64_t count = s->start[k + 1] - s->start[k];
        memcpy(to->v + to->count, s->value + s->start[k], (size_t)count * sizeof *to->v);
        to->count += count;
        to->zeros += s->n - count;
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t at = s->rows[i] * x->H + k;
        to->v[to->count++] = x->kind == ENHOPE_U8 ? (float)x->u8[at] : x->f32[at];
    }
}

/* Whether all inputs are scaled alike, as pixels and counts of words are. */
static bool one_range(const enhope_model *model)
{
    bool same = true;
    for (int64_t k = 1; k < model->shape.H; k++)
        same &= model->mul[k] == model->mul[0] && model->shift[k] == model->shift[0];
    return same;
}

static enhope_status fit_inputs(enhope_context *ctx, const enhope_model *model, sample *s, eh_quantized *q)
{
    const int64_t H = model->shape.H;
    const bool shared = one_range(model), sparse = s->x->kind == ENHOPE_CSR;
    values x = {.inputs = true};
    enhope_status status = ENHOPE_OK;
    if (shared && s->x->kind == ENHOPE_U8) { /* a byte is its own code */
        for (int64_t k = 0; k < H; k++) q->step[k] = 1;
        return ENHOPE_OK;
    }
    if (sparse) EH_CHECK(transpose(ctx, s));
    const int64_t capacity = shared && sparse ? s->start[H] : shared ? s->n * H : s->n;
    EH_CHECK(eh_new(ctx, "values of a sample", capacity, sizeof *x.v, (void **)&x.v));
    range r = {0};
    for (int64_t k = 0; k < H && shared; k++) add_column(s, k, &x);
    if (shared) r = fit(&x);
    for (int64_t k = 0; k < H; k++) {
        if (!shared) {
            x.count = x.zeros = 0;
            add_column(s, k, &x);
            r = fit(&x);
        }
        q->low[k] = r.low;
        q->step[k] = r.step;
    }
cleanup:
    eh_free(x.v);
    eh_free(s->start);
    eh_free(s->value);
    return status;
}

/* ---- powers ---- */

/* S (F, n): the powers of the sample. */
static void powers(const eh_int8_map *map, const sample *s, int64_t F, const eh_int8_tile *tile, int32_t *sums,
                   float *S)
{
    const int64_t ld = map->C.panels * EH_INT8_PANEL;
    eh_int8_tile part = *tile;
    for (int64_t first = 0; first < s->n; first += TILE) {
        part.n = eh_min(s->n - first, TILE);
        for (int64_t i = 0; i < part.n; i++)
            (void)eh_int8_codes(map, s->x, s->rows[first + i], &part, part.x + i * part.ldx);
        map->kernel->sums(map, &part, sums);
        for (int64_t f = 0; f < F; f++)
            for (int64_t i = 0; i < part.n; i++) {
                const float power = eh_int8_power(sums[i * ld + f], map->C.scale[f], map->C.bias[f], map->order);
                S[f * s->n + first + i] = eh_int8_clamp(power, -EH_QUANTIZED_MAX, EH_QUANTIZED_MAX);
            }
    }
}

static enhope_status fit_powers(enhope_context *ctx, const enhope_model *model, const sample *s, eh_quantized *q)
{
    const int64_t F = model->shape.F, m = model->shape.m;
    eh_int8_map *map = NULL;
    void *scratch = NULL;
    int32_t *sums = NULL;
    float *S = NULL;
    enhope_status status;
    for (int64_t f = 0; f < F; f++) q->power_step[f] = 1;
    for (int64_t j = 0; j < m; j++) q->W_scale[j] = 1;
    EH_CHECK(eh_quantized_factors(ctx, model, q));
    EH_CHECK(eh_int8_map_create(ctx, eh_int8_kernel_choose(), &model->shape, q,
                                model->theta + (model->shape.H + 1) * F + F * m + m, &map));
    EH_CHECK(eh_new(ctx, "calibration", (int64_t)eh_int8_tile_bytes(map, TILE), 1, &scratch));
    EH_CHECK(eh_new(ctx, "calibration", TILE * map->C.panels * EH_INT8_PANEL, sizeof *sums, (void **)&sums));
    EH_CHECK(eh_new(ctx, "calibration", F * s->n, sizeof *S, (void **)&S));
    const eh_int8_tile tile = eh_int8_tile_at(map, TILE, scratch);
    powers(map, s, F, &tile, sums, S);
    for (int64_t f = 0; f < F; f++) {
        const range r = fit(&(values){.v = S + f * s->n, .count = s->n});
        q->power_low[f] = r.low;
        q->power_step[f] = r.step;
    }
cleanup:
    eh_int8_map_free(map);
    eh_free(scratch);
    eh_free(sums);
    eh_free(S);
    return status;
}

enhope_status eh_int8_calibrate(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, const int64_t *rows,
                                int64_t n, eh_quantized **out)
{
    eh_quantized *q = NULL;
    int64_t *chosen = NULL;
    enhope_status status;
    EH_TRY(eh_quantized_supports(ctx, model));
    sample s = {.x = x, .n = eh_min(n, eh_min(SAMPLE, eh_max(MIN_SAMPLE, MAX_POWERS / model->shape.F)))};
    EH_CHECK(eh_new(ctx, "row numbers", s.n, sizeof *chosen, (void **)&chosen));
    for (int64_t i = 0; i < s.n; i++) { /* spread evenly: rows may be sorted by class */
        const int64_t at = (int64_t)((double)i / (double)s.n * (double)n);
        chosen[i] = rows ? rows[at] : at;
    }
    s.rows = chosen;
    EH_CHECK(eh_quantized_create(ctx, &model->shape, true, &q));
    EH_CHECK(fit_inputs(ctx, model, &s, q));
    EH_CHECK(fit_powers(ctx, model, &s, q));
    EH_CHECK(eh_quantized_create(ctx, &model->shape, false, out));
    eh_quantized_copy_ranges(&model->shape, q, *out);
cleanup:
    eh_quantized_free(q);
    eh_free(chosen);
    return status;
}
