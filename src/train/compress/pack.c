/* The weights of a compression as a model in its stored form: int8 weights of a few levels, numbers
 * of eight bits of precision, and no factor, hidden unit or text that is not used. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "predict/int8/int8.h"
#include "train/compress/compress.h"

/* ---- ranges ---- */

static enhope_status snapshot(eh_compressor *c, enhope_model **out)
{
    const eh_parameters *p = &c->t->parameters;
    EH_TRY(enhope_trainer_snapshot(c->t, out));
    enhope_model *m = *out;
    memcpy(m->theta, c->w.theta, (size_t)eh_map_parameters(m->map, &m->shape) * sizeof *m->theta);
    memcpy(m->reference, c->w.theta + p->map_count, (size_t)(p->z * p->H) * sizeof *m->reference);
    return ENHOPE_OK;
}

enhope_status eh_compress_calibrate(eh_compressor *c)
{
    const eh_samples *s = &c->t->samples;
    enhope_model *m = NULL;
    eh_quantized *q = NULL;
    enhope_status status;
    EH_CHECK(snapshot(c, &m));
    EH_CHECK(eh_int8_calibrate(c->ctx, m, s->x, s->rows, s->resident_n, &q));
    for (int64_t f = 0; f < m->shape.F; f++) {
        q->power_low[f] = eh_bfloat16(q->power_low[f]);
        q->power_step[f] = eh_bfloat16(q->power_step[f]);
        c->grid[EH_WEIGHTS_W].fold[f] = q->power_step[f];
    }
    for (int64_t k = 0; k < m->shape.H; k++) c->grid[EH_WEIGHTS_C].fold[k] = m->mul[k] * q->step[k];
    eh_quantized_free(c->ranges);
    c->ranges = q;
cleanup:
    enhope_model_free(m);
    return status;
}

/* ---- int8 weights ---- */

static double level_at(const eh_compressor *c, int which, int64_t k, int64_t j, int8_t *level)
{
    const eh_weight_matrix *m = &c->w.matrix[which];
    const float weight = c->w.theta[m->at + k * m->columns + j];
    *level = weight != 0 ? eh_grid_nearest(&c->grid[which], k, j, weight) : 0;
    return *level ? (double)eh_grid_value(&c->grid[which], k, j, *level) : 0;
}

/* q (shape of m) from weights, grids and ranges. */
static void fill_weights(const eh_compressor *c, const enhope_model *m, eh_quantized *q)
{
    const int64_t H = m->shape.H, F = m->shape.F, n = m->shape.m;
    const float *bias = c->w.theta + H * F, *b = c->w.theta + c->w.matrix[EH_WEIGHTS_W].at + F * n;
    for (int64_t f = 0; f < F; f++) {
        double sum = (double)bias[f];
        for (int64_t k = 0; k < H; k++)
            sum += level_at(c, EH_WEIGHTS_C, k, f, &q->C[k * F + f]) * (double)m->mul[k] *
                   ((double)q->low[k] - (double)m->shift[k]);
        q->C_scale[f] = c->grid[EH_WEIGHTS_C].scale[f];
        q->C_bias[f] = eh_bfloat16((float)sum);
    }
    for (int64_t j = 0; j < n; j++) {
        double sum = (double)b[j];
        for (int64_t f = 0; f < F; f++)
            sum += level_at(c, EH_WEIGHTS_W, f, j, &q->W[f * n + j]) * (double)q->power_low[f];
        q->W_scale[j] = c->grid[EH_WEIGHTS_W].scale[j];
        q->W_bias[j] = (float)sum;
    }
}

/* ---- unused units ---- */

/* Which factors and hidden units are used. */
typedef struct used {
    bool *factor, *hidden; /* (F), (m) */
    int64_t factors, hiddens;
} used;

static void used_free(used *u)
{
    eh_free(u->factor);
    eh_free(u->hidden);
}

/* A factor without weights of inputs is a constant, which becomes part of the bias. A hidden unit
 * without weights moves all points alike, which changes no distance. */
static enhope_status find_used(enhope_context *ctx, const eh_map_shape *s, eh_quantized *q, used *u)
{
    EH_TRY(eh_new(ctx, "factors", s->F, sizeof *u->factor, (void **)&u->factor));
    EH_TRY(eh_new(ctx, "hidden units", s->m, sizeof *u->hidden, (void **)&u->hidden));
    for (int64_t f = 0; f < s->F; f++) {
        for (int64_t k = 0; k < s->H && !u->factor[f]; k++) u->factor[f] = q->C[k * s->F + f] != 0;
        const double power = (pow((double)q->C_bias[f], s->order) - (double)q->power_low[f]) / (double)q->power_step[f];
        bool outputs = false;
        for (int64_t j = 0; j < s->m; j++) {
            const int8_t level = q->W[f * s->m + j];
            outputs |= level != 0;
            if (u->factor[f])
                u->hidden[j] |= level != 0;
            else
                q->W_bias[j] = (float)((double)q->W_bias[j] + power * level * (double)q->W_scale[j]);
        }
        u->factor[f] &= outputs;
        u->factors += u->factor[f];
    }
    for (int64_t j = 0; j < s->m; j++) u->hiddens += u->hidden[j];
    if (!u->factors) u->factor[0] = true, u->factors = 1; /* a map has at least one of each */
    if (!u->hiddens) u->hidden[0] = true, u->hiddens = 1;
    return ENHOPE_OK;
}

/* The rows and columns of a matrix that are used; NULL: all. */
static void pick_levels(const int8_t *from, int64_t rows, int64_t columns, const bool *row, const bool *column,
                        int8_t *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if ((!row || row[i]) && column[j]) *to++ = from[i * columns + j];
}

static void pick(const float *from, int64_t count, const bool *unit, float *to)
{
    for (int64_t i = 0; i < count; i++)
        if (unit[i]) *to++ = from[i];
}

/* A scale that no weight uses may be 0. */
static float valid_scale(float scale)
{
    return fmaxf(scale, EH_QUANTIZED_MIN);
}

/* The used part `to` of q. */
static void pick_weights(const eh_map_shape *s, const eh_quantized *q, const used *u, eh_quantized *to)
{
    memcpy(to->low, q->low, (size_t)s->H * sizeof *to->low);
    memcpy(to->step, q->step, (size_t)s->H * sizeof *to->step);
    const float *const factor_from[] = {q->power_low, q->power_step, q->C_scale, q->C_bias};
    float *const factor_to[] = {to->power_low, to->power_step, to->C_scale, to->C_bias};
    for (int i = 0; i < 4; i++) pick(factor_from[i], s->F, u->factor, factor_to[i]);
    pick(q->W_scale, s->m, u->hidden, to->W_scale);
    pick(q->W_bias, s->m, u->hidden, to->W_bias);
    pick_levels(q->C, s->H, s->F, NULL, u->factor, to->C);
    pick_levels(q->W, s->F, s->m, u->factor, u->hidden, to->W);
    for (int64_t f = 0; f < u->factors; f++) to->C_scale[f] = valid_scale(to->C_scale[f]);
    for (int64_t j = 0; j < u->hiddens; j++) {
        to->W_scale[j] = valid_scale(to->W_scale[j]);
        to->W_bias[j] = eh_bfloat16(to->W_bias[j]);
    }
}

/* ---- the model ---- */

static enhope_status set_setting(enhope_context *ctx, enhope_model *m, const char *name, int64_t value)
{
    char text[24];
    for (int32_t i = 0; i < m->setting.count; i++) {
        if (strcmp(m->setting.pair[i].name, name) != 0) continue;
        snprintf(text, sizeof text, "%lld", (long long)value);
        eh_free(m->setting.pair[i].value);
        m->setting.pair[i].value = NULL;
        return eh_new_text(ctx, "a setting", text, &m->setting.pair[i].value);
    }
    return ENHOPE_OK;
}

/* Replaces the map of the model by the used part of q. */
static enhope_status use_weights(enhope_context *ctx, enhope_model *m, eh_quantized *q)
{
    const eh_map_shape old = m->shape;
    used u = {0};
    float *theta = NULL;
    enhope_status status;
    EH_CHECK(find_used(ctx, &old, q, &u));
    m->shape.F = u.factors;
    m->shape.m = u.hiddens;
    EH_CHECK(eh_new(ctx, "the map", eh_map_parameters(m->map, &m->shape), sizeof *theta, (void **)&theta));
    const float *V = m->theta + (old.H + 1) * old.F + old.F * old.m + old.m;
    float *to = theta + (old.H + 1) * u.factors + u.factors * u.hiddens + u.hiddens;
    for (int64_t i = 0; i < old.h; i++) {
        pick(V + i * old.m, old.m, u.hidden, to + i * u.hiddens);
        for (int64_t j = 0; j < u.hiddens; j++) to[i * u.hiddens + j] = eh_bfloat16(to[i * u.hiddens + j]);
    }
    eh_free(m->theta);
    m->theta = theta;
    theta = NULL;
    EH_CHECK(eh_quantized_create(ctx, &m->shape, true, &m->int8));
    pick_weights(&old, q, &u, m->int8);
    EH_CHECK(eh_quantized_decode(ctx, m->int8, m));
    eh_quantized_decode_bias(m->int8, m);
    EH_CHECK(set_setting(ctx, m, "n_factors", u.factors));
    EH_CHECK(set_setting(ctx, m, "n_hidden", u.hiddens));
cleanup:
    eh_free(theta);
    used_free(&u);
    return status;
}

/* Exemplars need no values of inputs that no factor uses. */
static void clear_unused_inputs(enhope_model *m)
{
    const int64_t H = m->shape.H, F = m->shape.F;
    for (int64_t k = 0; k < H; k++) {
        bool factors = false;
        for (int64_t f = 0; f < F && !factors; f++) factors = m->int8->C[k * F + f] != 0;
        for (int64_t i = 0; i < m->r && !factors; i++) m->reference[i * H + k] = 0;
    }
}

/* Removes settings that the recipe gives, unless an update needs them. */
static enhope_status shorten_settings(enhope_context *ctx, enhope_model *m)
{
    enhope_settings *s = enhope_settings_create();
    const char *recipe = enhope_model_setting(m, "recipe");
    char text[EH_CLASS_WEIGHTS];
    int32_t kept = 0;
    if (!s) return eh_fail_memory(ctx, "settings", 1, sizeof *s);
    enhope_status status = recipe ? enhope_settings_set(ctx, s, "recipe", recipe) : ENHOPE_OK;
    for (int32_t i = 0; i < m->setting.count; i++) {
        const eh_pair_text pair = m->setting.pair[i];
        bool given = false;
        for (int j = 0; j < enhope_setting_count() && !status; j++) {
            const enhope_setting_info *info = enhope_setting_get(j);
            if (info->fixed || strcmp(info->name, pair.name) != 0) continue;
            given = !enhope_settings_get(ctx, s, pair.name, text, sizeof text) && !strcmp(text, pair.value);
        }
        if (given) {
            eh_free(pair.name);
            eh_free(pair.value);
        } else {
            m->setting.pair[kept++] = pair;
        }
    }
    m->setting.count = kept;
    enhope_settings_free(s);
    return status;
}

/* Leaves the last row of the history and a smaller sample of the training rows. */
static enhope_status shorten_texts(eh_compressor *c, enhope_model *m)
{
    enum { SKETCH = 16 };
    if (m->epochs > 1) {
        m->history[0] = m->history[m->epochs - 1];
        m->epochs = 1;
        m->earlier = 0;
    }
    EH_TRY(eh_provenance_copy(c->ctx, c->provenance, &m->provenance));
    m->provenance->sketch.count = eh_min(m->provenance->sketch.count, SKETCH);
    return shorten_settings(c->ctx, m);
}

enhope_status eh_compress_pack(eh_compressor *c, enhope_model **out)
{
    enhope_model *m = NULL;
    eh_quantized *q = NULL;
    enhope_status status;
    EH_CHECK(snapshot(c, &m));
    EH_CHECK(eh_quantized_create(c->ctx, &m->shape, true, &q));
    eh_quantized_copy_ranges(&m->shape, c->ranges, q);
    fill_weights(c, m, q);
    EH_CHECK(use_weights(c->ctx, m, q));
    clear_unused_inputs(m);
    m->int8->exemplar_step = c->exemplar_step;
    EH_CHECK(shorten_texts(c, m));
    *out = m;
    m = NULL;
cleanup:
    eh_quantized_free(q);
    enhope_model_free(m);
    return status;
}
