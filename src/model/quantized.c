/* The int8 form of a hope map: its arrays, and its weights from float parameters and back
 * (docs/reference/int8.md). Compiled without fused multiply-add, so that all processors compute the
 * same integers. */
#include "model/quantized.h"

#include <math.h>
#include <string.h>

enum {
    WEIGHT = 127,   /* largest magnitude of a weight */
    CANDIDATES = 16 /* scales that are tried for a column, from the largest magnitude down ... */
};
static const double SHRINK = 1.0 / 32; /* ... in steps of this fraction */

/* The nearest integer, ties to even, of |v| below 2^51. */
static inline double nearest(double v)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    return (v + magic) - magic;
}

static inline double weight_of(double value, double scale)
{
    const double v = value / scale;
    return nearest(v > WEIGHT ? WEIGHT : v < -WEIGHT ? -WEIGHT : v);
}

void eh_quantized_free(eh_quantized *q)
{
    if (!q) return;
    eh_free(q->low);
    eh_free(q->step);
    eh_free(q->power_low);
    eh_free(q->power_step);
    eh_free(q->C);
    eh_free(q->C_scale);
    eh_free(q->C_bias);
    eh_free(q->W);
    eh_free(q->W_scale);
    eh_free(q->W_bias);
    eh_free(q);
}

static enhope_status new_floats(enhope_context *ctx, int64_t count, float **out)
{
    return eh_new(ctx, "the numbers of an int8 map", count, sizeof **out, (void **)out);
}

enhope_status eh_quantized_create(enhope_context *ctx, const eh_map_shape *s, bool weights, eh_quantized **out)
{
    eh_quantized *q = NULL;
    int64_t C, W;
    enhope_status status;
    if (!eh_mul(s->H, s->F, &C) || !eh_mul(s->F, s->m, &W))
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: an int8 map of %lld inputs and %lld factors",
                       (long long)s->H, (long long)s->F);
    EH_CHECK(eh_new(ctx, "an int8 map", 1, sizeof *q, (void **)&q));
    EH_CHECK(new_floats(ctx, s->H, &q->low));
    EH_CHECK(new_floats(ctx, s->H, &q->step));
    EH_CHECK(new_floats(ctx, s->F, &q->power_low));
    EH_CHECK(new_floats(ctx, s->F, &q->power_step));
    if (weights) {
        EH_CHECK(eh_new(ctx, "int8 weights", C, sizeof *q->C, (void **)&q->C));
        EH_CHECK(new_floats(ctx, s->F, &q->C_scale));
        EH_CHECK(new_floats(ctx, s->F, &q->C_bias));
        EH_CHECK(eh_new(ctx, "int8 weights", W, sizeof *q->W, (void **)&q->W));
        EH_CHECK(new_floats(ctx, s->m, &q->W_scale));
        EH_CHECK(new_floats(ctx, s->m, &q->W_bias));
    }
    *out = q;
    return ENHOPE_OK;
cleanup:
    eh_quantized_free(q);
    return status;
}

void eh_quantized_copy_ranges(const eh_map_shape *s, const eh_quantized *from, eh_quantized *to)
{
    memcpy(to->low, from->low, (size_t)s->H * sizeof *to->low);
    memcpy(to->step, from->step, (size_t)s->H * sizeof *to->step);
    memcpy(to->power_low, from->power_low, (size_t)s->F * sizeof *to->power_low);
    memcpy(to->power_step, from->power_step, (size_t)s->F * sizeof *to->power_step);
}

enhope_status eh_quantized_copy(enhope_context *ctx, const eh_map_shape *s, const eh_quantized *from,
                                eh_quantized **out)
{
    EH_TRY(eh_quantized_create(ctx, s, from->C != NULL, out));
    eh_quantized_copy_ranges(s, from, *out);
    if (!from->C) return ENHOPE_OK;
    memcpy((*out)->C, from->C, (size_t)(s->H * s->F));
    memcpy((*out)->C_scale, from->C_scale, (size_t)s->F * sizeof *from->C_scale);
    memcpy((*out)->C_bias, from->C_bias, (size_t)s->F * sizeof *from->C_bias);
    memcpy((*out)->W, from->W, (size_t)(s->F * s->m));
    memcpy((*out)->W_scale, from->W_scale, (size_t)s->m * sizeof *from->W_scale);
    memcpy((*out)->W_bias, from->W_bias, (size_t)s->m * sizeof *from->W_bias);
    (*out)->exemplar_step = from->exemplar_step;
    return ENHOPE_OK;
}

/* ---- checks ---- */

static enhope_status check_steps(enhope_context *ctx, const char *name, const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(x[i] >= EH_QUANTIZED_MIN && x[i] <= EH_QUANTIZED_MAX))
            return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                           "tensor %s has %g (element %lld): expected a number from 2^-60 to 2^100", name, (double)x[i],
                           (long long)i);
    return ENHOPE_OK;
}

/* W (K, N): no -128, and no column whose integer sum could overflow. */
static enhope_status check_weights(enhope_context *ctx, const char *name, const int8_t *W, int64_t K, int64_t N)
{
    int64_t *sum = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "sums of weights", N, sizeof *sum, (void **)&sum));
    for (int64_t k = 0; k < K; k++)
        for (int64_t j = 0; j < N; j++) {
            const int8_t w = W[k * N + j];
            if (w < -WEIGHT)
                EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has -128 (element %lld): expected -127 to 127",
                                 name, (long long)(k * N + j)));
            sum[j] += w < 0 ? -w : w;
        }
    for (int64_t j = 0; j < N; j++)
        if (sum[j] > EH_QUANTIZED_SUM)
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_MODEL,
                             "tensor %s has magnitudes of sum %lld in column %lld: expected at most %d", name,
                             (long long)sum[j], (long long)j, EH_QUANTIZED_SUM));
cleanup:
    eh_free(sum);
    return status;
}

enhope_status eh_quantized_check(enhope_context *ctx, const eh_map_shape *s, const eh_quantized *q)
{
    EH_TRY(check_steps(ctx, "int8.step", q->step, s->H));
    EH_TRY(check_steps(ctx, "int8.power_step", q->power_step, s->F));
    if (!q->C) return ENHOPE_OK;
    EH_TRY(check_steps(ctx, "int8.C_scale", q->C_scale, s->F));
    EH_TRY(check_steps(ctx, "int8.W_scale", q->W_scale, s->m));
    EH_TRY(check_weights(ctx, "int8.C", q->C, s->H, s->F));
    return check_weights(ctx, "int8.W", q->W, s->F, s->m);
}

enhope_status eh_quantized_supports(enhope_context *ctx, const enhope_model *model)
{
    if (model->map == &eh_map_hope) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "int8 needs a model with the map hope; this model has the map %s; use float32", model->map->name);
}

/* ---- from float to int8 ---- */

static double squared_error(const double *G, int64_t K, double scale)
{
    double partial[8] = {0}; /* in a fixed order that the compiler can vectorize */
    int64_t k = 0;
    for (; k + 8 <= K; k += 8)
        for (int l = 0; l < 8; l++) {
            const double d = G[k + l] - scale * weight_of(G[k + l], scale);
            partial[l] += d * d;
        }
    for (; k < K; k++) {
        const double d = G[k] - scale * weight_of(G[k], scale);
        partial[0] += d * d;
    }
    double sum = 0;
    for (int l = 0; l < 8; l++) sum += partial[l];
    return sum;
}

static double sum_of_weights(const double *G, int64_t K, double scale)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) sum += fabs(weight_of(G[k], scale));
    return sum;
}

/* The scale of a column G (K), as a float within the bounds; 0: it has large numbers, or NaN. */
static float column_scale(const double *G, int64_t K)
{
    double largest = 0, best_error = INFINITY;
    float best = 1; /* of a column of zeros */
    for (int64_t k = 0; k < K; k++) {
        if (isnan(G[k])) return 0;
        largest = fmax(largest, fabs(G[k]));
    }
    if (largest > WEIGHT * (double)EH_QUANTIZED_MAX) return 0;
    if (largest < WEIGHT * (double)EH_QUANTIZED_MIN) return largest > 0 ? EH_QUANTIZED_MIN : best;
    for (int i = 0; i < CANDIDATES; i++) {
        const float scale = (float)(largest / WEIGHT * (1 - i * SHRINK));
        const double error = scale < EH_QUANTIZED_MIN ? INFINITY : squared_error(G, K, scale);
        if (error < best_error) {
            best_error = error;
            best = scale;
        }
    }
    for (double sum = sum_of_weights(G, K, best); sum > EH_QUANTIZED_SUM; sum = sum_of_weights(G, K, best))
        best = (float)(best * (1.001 * sum / EH_QUANTIZED_SUM));
    return best;
}

/* Q (K, N) and scale (N) of the matrix A (K, N) whose rows are multiplied with a (K), then b (K)
 * unless that is NULL. */
static enhope_status quantize(enhope_context *ctx, const char *name, int64_t K, int64_t N, const float *A,
                              const float *a, const float *b, int8_t *Q, float *scale)
{
    enum { COLUMNS = 16 };
    double *G = NULL; /* (COLUMNS, K) */
    enhope_status status;
    EH_CHECK(eh_new(ctx, "columns of weights", K, COLUMNS * sizeof *G, (void **)&G));
    for (int64_t first = 0; first < N; first += COLUMNS) {
        const int64_t columns = eh_min(N - first, COLUMNS);
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < columns; j++)
                G[j * K + k] = (double)A[k * N + first + j] * (double)a[k] * (b ? (double)b[k] : 1);
        for (int64_t j = 0; j < columns; j++) {
            const float s = column_scale(G + j * K, K);
            if (s == 0)
                EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_MODEL,
                                 "tensor %s has NaN or numbers above 2^100 in column %lld; int8 needs smaller ones",
                                 name, (long long)(first + j)));
            scale[first + j] = s;
            for (int64_t k = 0; k < K; k++) Q[k * N + first + j] = (int8_t)weight_of(G[j * K + k], s);
        }
    }
cleanup:
    eh_free(G);
    return status;
}

/* The sums over rows of Q (K, N) * (low - shift) / step, times scale: what the weights add if all
 * codes are those of shift. shift NULL: 0. out (N). */
static void sum_of_lows(int64_t K, int64_t N, const int8_t *Q, const float *low, const float *shift, const float *step,
                        const float *scale, double *out)
{
    for (int64_t j = 0; j < N; j++) out[j] = 0;
    for (int64_t k = 0; k < K; k++) {
        const double at = ((double)low[k] - (shift ? (double)shift[k] : 0)) / (double)step[k];
        for (int64_t j = 0; j < N; j++) out[j] += at * Q[k * N + j];
    }
    for (int64_t j = 0; j < N; j++) out[j] *= (double)scale[j];
}

/* bias (N) = at (N) + these sums. */
static enhope_status fill_bias(enhope_context *ctx, const char *name, int64_t N, const float *at, const double *sum,
                               float *bias)
{
    for (int64_t j = 0; j < N; j++) {
        bias[j] = (float)((double)at[j] + sum[j]);
        if (!isfinite(bias[j]))
            return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has numbers that are too large for int8; use float32",
                           name);
    }
    return ENHOPE_OK;
}

enhope_status eh_quantized_factors(enhope_context *ctx, const enhope_model *model, eh_quantized *q)
{
    const int64_t H = model->shape.H, F = model->shape.F;
    double *sum = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "biases", F, sizeof *sum, (void **)&sum));
    EH_CHECK(quantize(ctx, "map.C", H, F, model->theta, model->mul, q->step, q->C, q->C_scale));
    sum_of_lows(H, F, q->C, q->low, model->shift, q->step, q->C_scale, sum);
    EH_CHECK(fill_bias(ctx, "map.C", F, model->theta + H * F, sum, q->C_bias));
cleanup:
    eh_free(sum);
    return status;
}

enhope_status eh_quantized_hidden(enhope_context *ctx, const enhope_model *model, eh_quantized *q)
{
    const int64_t F = model->shape.F, m = model->shape.m;
    const float *W = model->theta + (model->shape.H + 1) * F;
    double *sum = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "biases", m, sizeof *sum, (void **)&sum));
    EH_CHECK(quantize(ctx, "map.W", F, m, W, q->power_step, NULL, q->W, q->W_scale));
    sum_of_lows(F, m, q->W, q->power_low, NULL, q->power_step, q->W_scale, sum);
    EH_CHECK(fill_bias(ctx, "map.W", m, W + F * m, sum, q->W_bias));
cleanup:
    eh_free(sum);
    return status;
}

enhope_status eh_quantized_decode(enhope_context *ctx, const eh_quantized *q, enhope_model *model)
{
    const int64_t H = model->shape.H, F = model->shape.F, m = model->shape.m;
    float *C = model->theta, *W = C + (H + 1) * F;
    double *sum = NULL;
    EH_TRY(eh_new(ctx, "biases", F, sizeof *sum, (void **)&sum));
    for (int64_t k = 0; k < H; k++) {
        const double unit = (double)model->mul[k] * (double)q->step[k];
        for (int64_t f = 0; f < F; f++)
            C[k * F + f] = unit == 0 ? 0 : (float)(q->C[k * F + f] * (double)q->C_scale[f] / unit);
    }
    sum_of_lows(H, F, q->C, q->low, model->shift, q->step, q->C_scale, sum);
    for (int64_t f = 0; f < F; f++) {
        C[H * F + f] = (float)((double)q->C_bias[f] - sum[f]);
        for (int64_t j = 0; j < m; j++)
            W[f * m + j] = (float)(q->W[f * m + j] * (double)q->W_scale[j] / (double)q->power_step[f]);
    }
    eh_free(sum);
    const int64_t at = eh_model_not_finite(C, (H + 1) * F + F * m);
    if (at < 0) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor int8.%s decodes to a number that is not finite",
                   at < (H + 1) * F ? "C" : "W");
}

void eh_quantized_decode_bias(const eh_quantized *q, enhope_model *model)
{
    const int64_t F = model->shape.F, m = model->shape.m;
    const float *W = model->theta + (model->shape.H + 1) * F;
    float *b = model->theta + (model->shape.H + 1) * F + F * m;
    for (int64_t j = 0; j < m; j++) {
        double sum = (double)q->W_bias[j];
        for (int64_t f = 0; f < F; f++) sum -= (double)q->power_low[f] * (double)W[f * m + j];
        b[j] = (float)sum;
    }
}

enhope_status eh_model_quantized(enhope_context *ctx, const enhope_model *model, eh_quantized **out)
{
    eh_quantized *q = NULL;
    enhope_status status;
    EH_TRY(eh_quantized_supports(ctx, model));
    if (!model->int8)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "the model has no ranges for int8 (it was made by an earlier version); run 'enhope quantize "
                       "MODEL --data TRAINING_DATA -o NEW' to measure them, or use float32");
    if (model->int8->C) return eh_quantized_copy(ctx, &model->shape, model->int8, out);
    EH_CHECK(eh_quantized_create(ctx, &model->shape, true, &q));
    eh_quantized_copy_ranges(&model->shape, model->int8, q);
    EH_CHECK(eh_quantized_factors(ctx, model, q));
    EH_CHECK(eh_quantized_hidden(ctx, model, q));
    *out = q;
    q = NULL;
cleanup:
    eh_quantized_free(q);
    return status;
}
