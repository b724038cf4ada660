/* int8 maps with irregular numbers, and the arithmetic of docs/reference/int8.md written again, in
 * plain loops. It needs no other library, so that it also runs on an emulated processor. */
#ifndef INT8_SUPPORT_H
#define INT8_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/int8/int8.h"

/* A map, its rows and the memory of both. */
typedef struct sample_map {
    eh_map_shape shape;
    eh_quantized q;
    float *V;      /* (h, m) */
    int64_t n;     /* rows */
    uint8_t *u8;   /* (n, H) */
    float *f32;    /* (n, H) */
    float *wanted; /* (n, h) by the reference */
} sample_map;

static inline uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A float with few digits, so that it is the same on every processor: from -1 to 1. */
static inline float part_of_one(uint64_t *state)
{
    return (float)(int32_t)(draw(state) % 2001) / 1024.0f - 0.9765625f;
}

/* ---- the reference ---- */

static inline float nearest_even(float v)
{
    const float below = floorf(v), rest = v - below;
    if (rest > 0.5f || (rest == 0.5f && fmodf(below, 2) != 0)) return below + 1;
    return below;
}

static inline int code(float x, float low, float step)
{
    const float inverse = 1 / step;
    float v = x - low;
    v = v * inverse;
    if (v < 0) v = 0;
    if (v > 255) v = 255;
    return (int)nearest_even(v);
}

static inline float sigmoid(float a)
{
    static const float taylor[] = {0x1.111112p-7f, 0x1.555556p-5f, 0x1.555556p-3f, 0x1p-1f, 1, 1};
    float v = -a;
    if (v < -20) v = -20;
    if (v > 20) v = 20;
    const float k = nearest_even(v * 0x1.715476p+0f);
    const float high = k * 0x1.63p-1f, low = k * 0x1.bd0106p-13f, r = (v - high) + low;
    float p = 0x1.6c16c2p-10f;
    for (int i = 0; i < 6; i++) {
        p = p * r;
        p = p + taylor[i];
    }
    return 1 / (1 + ldexpf(p, (int)k));
}

/* y (h) of one row. */
static inline void reference_row(const sample_map *s, const float *x, float *y)
{
    const int64_t H = s->shape.H, F = s->shape.F, m = s->shape.m;
    float *t = calloc((size_t)m, sizeof *t);
    int *sq = calloc((size_t)F, sizeof *sq);
    for (int64_t f = 0; f < F; f++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < H; k++) sum += code(x[k], s->q.low[k], s->q.step[k]) * s->q.C[k * F + f];
        float u = (float)(int32_t)sum * s->q.C_scale[f];
        u = u + s->q.C_bias[f];
        float power = u;
        for (int i = 1; i < s->shape.order; i++) power = power * u;
        sq[f] = code(power, s->q.power_low[f], s->q.power_step[f]);
    }
    for (int64_t j = 0; j < m; j++) {
        int64_t sum = 0;
        for (int64_t f = 0; f < F; f++) sum += sq[f] * s->q.W[f * m + j];
        float a = (float)(int32_t)sum * s->q.W_scale[j];
        a = a + s->q.W_bias[j];
        t[j] = sigmoid(a);
    }
    for (int64_t i = 0; i < s->shape.h; i++) {
        float sum[16] = {0};
        for (int64_t j = 0; j < m; j++) {
            const float product = s->V[i * m + j] * t[j];
            sum[j % 16] = sum[j % 16] + product;
        }
        for (int d = 8; d; d /= 2)
            for (int l = 0; l < d; l++) sum[l] = sum[l] + sum[l + d];
        y[i] = sum[0];
    }
    free(t);
    free(sq);
}

/* ---- random maps ---- */

static inline void fill_weights(int8_t *W, int64_t K, int64_t N, int zeros, uint64_t *state)
{
    for (int64_t k = 0; k < K; k++)
        for (int64_t j = 0; j < N; j++) {
            const uint32_t block = (uint32_t)(k / 4 * 977 + j / 16 * 131); /* blocks of zeros, as after pruning */
            const int w = (int)(draw(state) % 255) - 127;
            W[k * N + j] = (int8_t)(block % 8 < (uint32_t)zeros ? 0 : w);
        }
}

/* zeros: so many of eight blocks of weights are zero. Bytes: inputs are their own codes. */
static inline sample_map make_map(int64_t H, int64_t F, int64_t m, int64_t h, int order, int zeros, bool bytes,
                                  uint64_t seed)
{
    uint64_t state = seed * 977 + 12345;
    sample_map s = {.shape = {.H = H, .F = F, .m = m, .h = h, .order = order}, .n = 11};
    float **const floats[] = {&s.q.low,     &s.q.step,   &s.q.power_low, &s.q.power_step, &s.q.C_scale, &s.q.C_bias,
                              &s.q.W_scale, &s.q.W_bias, &s.V,           &s.f32,          &s.wanted};
    const int64_t sizes[] = {H, H, F, F, F, F, m, m, h * m, s.n * H, s.n * h};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) *floats[i] = calloc((size_t)sizes[i], sizeof(float));
    s.q.C = calloc((size_t)(H * F), 1);
    s.q.W = calloc((size_t)(F * m), 1);
    s.u8 = calloc((size_t)(s.n * H), 1);
    for (int64_t k = 0; k < H; k++) {
        s.q.low[k] = bytes ? 0 : 40 * part_of_one(&state);
        s.q.step[k] = bytes ? 1 : 0.6f + 0.4f * part_of_one(&state);
    }
    for (int64_t f = 0; f < F; f++) {
        s.q.C_scale[f] = (1.2f + part_of_one(&state)) / (float)(8192 + 1024 * H);
        s.q.C_bias[f] = part_of_one(&state);
        s.q.power_low[f] = order % 2 ? -2 + part_of_one(&state) : 0;
        s.q.power_step[f] = 0.02f + 0.01f * part_of_one(&state);
    }
    for (int64_t j = 0; j < m; j++) {
        s.q.W_scale[j] = (1.2f + part_of_one(&state)) / (float)(4096 + 512 * F);
        s.q.W_bias[j] = 3 * part_of_one(&state);
    }
    for (int64_t i = 0; i < h * m; i++) s.V[i] = 3 * part_of_one(&state);
    fill_weights(s.q.C, H, F, zeros, &state);
    fill_weights(s.q.W, F, m, zeros, &state);
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t k = 0; k < H; k++) { /* row 0 is zero, row 1 saturates, the others are mostly zero */
            const uint32_t d = draw(&state);
            s.u8[i * H + k] = (uint8_t)(i == 0 ? 0 : i == 1 ? 255 : d % 4 ? 0 : d >> 8);
            s.f32[i * H + k] = s.u8[i * H + k];
            if (!bytes && i > 1) s.f32[i * H + k] += 100 * part_of_one(&state);
        }
    for (int64_t i = 0; i < s.n; i++) reference_row(&s, s.f32 + i * H, s.wanted + i * h);
    return s;
}

static inline void free_map(sample_map *s)
{
    float *const floats[] = {s->q.low,     s->q.step,   s->q.power_low, s->q.power_step, s->q.C_scale, s->q.C_bias,
                             s->q.W_scale, s->q.W_bias, s->V,           s->f32,          s->wanted};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) free(floats[i]);
    free(s->q.C);
    free(s->q.W);
    free(s->u8);
}

/* Y (n, h) of the rows by a kernel, in tiles of `rows` rows. Returns false if memory is exhausted
 * or a value is not finite. */
static inline bool embed_with(const eh_int8_kernel *kernel, const sample_map *s, const eh_matrix *x, int64_t rows,
                              float *Y)
{
    enhope_context *ctx = enhope_context_create();
    eh_int8_map *map = NULL;
    bool good = eh_int8_map_create(ctx, kernel, &s->shape, &s->q, s->V, &map) == ENHOPE_OK;
    void *scratch = good ? eh_alloc(eh_int8_tile_bytes(map, rows), 1) : NULL;
    good &= scratch != NULL;
    for (int64_t i = 0; i < x->n && good; i += rows) {
        const eh_int8_tile tile = eh_int8_tile_at(map, eh_min(rows, x->n - i), scratch);
        for (int64_t r = 0; r < tile.n; r++) good &= eh_int8_codes(map, x, i + r, &tile, tile.x + r * tile.ldx);
        if (good) kernel->embed(map, &tile, Y + i * s->shape.h);
    }
    eh_free(scratch);
    eh_int8_map_free(map);
    enhope_context_free(ctx);
    return good;
}

#endif
