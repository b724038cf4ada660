/* The int8 map in C, operation for operation as docs/reference/int8.md defines it. A product and a
 * sum must not be fused, so the file turns contraction off. */
#include <math.h>

#include "model/quantized.h"
#include "predict/export/c/c.h"

static const char separate[] = "/* A fused multiply-add would change the last bits. */\n"
                               "#if defined(__FAST_MATH__)\n"
                               "#error \"-ffast-math changes the results of this file\"\n"
                               "#elif defined(__clang__)\n"
                               "#pragma STDC FP_CONTRACT OFF\n"
                               "#elif defined(__GNUC__)\n"
                               "#pragma GCC optimize(\"fp-contract=off\")\n"
                               "#elif defined(_MSC_VER)\n"
                               "#pragma fp_contract(off)\n"
                               "#else\n"
                               "#pragma STDC FP_CONTRACT OFF\n"
                               "#endif\n\n";

static const char code[] = "/* The nearest of the codes 0 .. 255, ties to even, of x = low + code / inverse. */\n"
                           "static int32_t @_code(float x, float low, float inverse)\n"
                           "{\n"
                           "    float v = (x - low) * inverse;\n"
                           "    v = v > 0 ? v : 0;\n"
                           "    v = v < 255 ? v : 255;\n"
                           "    v = v + 12582912.0f;\n"
                           "    return (int32_t)(v - 12582912.0f);\n"
                           "}\n\n";

static const char sigmoid[] = "static float @_sigmoid(float a)\n"
                              "{\n"
                              "    union {\n"
                              "        float f;\n"
                              "        uint32_t i;\n"
                              "    } scale;\n"
                              "    float v = -a, k, r, p;\n"
                              "    v = v > -20.0f ? v : -20.0f;\n"
                              "    v = v < 20.0f ? v : 20.0f;\n"
                              "    scale.f = v * 1.44269502f;\n"
                              "    scale.f = scale.f + 12582912.0f;\n"
                              "    k = scale.f - 12582912.0f;\n"
                              "    r = (v - k * 0.693359375f) + k * 0.000212194442f;\n"
                              "    p = 0.00138888892f;\n"
                              "    p = p * r + 0.00833333377f;\n"
                              "    p = p * r + 0.0416666679f;\n"
                              "    p = p * r + 0.166666672f;\n"
                              "    p = p * r + 0.5f;\n"
                              "    p = p * r + 1.0f;\n"
                              "    p = p * r + 1.0f;\n"
                              "    scale.i = (scale.i + 127u) << 23;\n"
                              "    return 1.0f / (1.0f + p * scale.f);\n"
                              "}\n\n";

static const char hidden[] = "/* The codes of the powers, their product with W, units and outputs. */\n"
                             "static void @_outputs(const int32_t *sum, float *y)\n"
                             "{\n"
                             "    int32_t a[@_HIDDEN];\n"
                             "    float t[@_HIDDEN];\n"
                             "    const int8_t *w = @_W;\n"
                             "    const float *v = @_V;\n"
                             "    for (int j = 0; j < @_HIDDEN; j++) a[j] = 0;\n"
                             "    for (int f = 0; f < @_FACTORS; f++, w += @_HIDDEN) {\n"
                             "        float u = (float)sum[f] * @_C_scale[f], s;\n"
                             "        int32_t q;\n"
                             "        u = u + @_C_bias[f];\n"
                             "        s = u;\n"
                             "        for (int o = 1; o < %d; o++) s = s * u;\n"
                             "        q = @_code(s, @_power_low[f], @_power_step[f]);\n"
                             "        for (int j = 0; j < @_HIDDEN; j++) a[j] += q * w[j];\n"
                             "    }\n"
                             "    for (int j = 0; j < @_HIDDEN; j++) {\n"
                             "        const float product = (float)a[j] * @_W_scale[j];\n"
                             "        t[j] = @_sigmoid(product + @_W_bias[j]);\n"
                             "    }\n"
                             "    for (int i = 0; i < @_OUTPUTS; i++, v += @_HIDDEN) {\n"
                             "        float part[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};\n"
                             "        for (int j = 0; j < @_HIDDEN; j++) {\n"
                             "            const float product = v[j] * t[j];\n"
                             "            part[j %% 16] = part[j %% 16] + product;\n"
                             "        }\n"
                             "        for (int d = 8; d > 0; d /= 2)\n"
                             "            for (int l = 0; l < d; l++) part[l] = part[l] + part[l + d];\n"
                             "        y[i] = part[0];\n"
                             "    }\n"
                             "}\n\n";

/* The codes of byte inputs are the bytes if all ranges are 0 to 255. */
static bool bytes_are_codes(const eh_export *e)
{
    for (int64_t k = 0; k < e->model->shape.H; k++)
        if (e->int8->low[k] != 0 || e->int8->step[k] != 1) return false;
    return true;
}

static bool one_range(const eh_export *e)
{
    for (int64_t k = 1; k < e->model->shape.H; k++)
        if (e->int8->low[k] != e->int8->low[0] || e->int8->step[k] != e->int8->step[0]) return false;
    return true;
}

static void put_inverse(eh_bytes *b, const char *name, const float *step, int64_t count)
{
    eh_bytes inverse = {0};
    for (int64_t i = 0; i < count; i++) {
        const float one = 1 / step[i];
        eh_bytes_add(&inverse, &one, sizeof one);
    }
    b->failed |= inverse.failed;
    if (!b->failed) eh_c_floats(b, name, (const float *)(const void *)inverse.data, count);
    eh_bytes_free(&inverse);
}

static void put_outputs(const eh_export *e, eh_bytes *b)
{
    const eh_weights V = eh_export_tensor(e, 3);
    eh_bytes kept = {0};
    for (int64_t i = 0; i < V.rows * V.columns; i++) {
        const float value = fabsf(V.data[i]) < EH_QUANTIZED_MIN ? 0 : V.data[i];
        eh_bytes_add(&kept, &value, sizeof value);
    }
    b->failed |= kept.failed;
    if (!b->failed) eh_c_floats(b, "V", (const float *)(const void *)kept.data, V.rows * V.columns);
    eh_bytes_free(&kept);
}

static void put_numbers(const eh_export *e, eh_bytes *b)
{
    const eh_map_shape *s = &e->model->shape;
    const eh_quantized *q = e->int8;
    if (!one_range(e)) {
        eh_c_floats(b, "low", q->low, s->H);
        put_inverse(b, "step", q->step, s->H);
    }
    eh_c_int8s(b, "C", q->C, s->H * s->F);
    eh_c_floats(b, "C_scale", q->C_scale, s->F);
    eh_c_floats(b, "C_bias", q->C_bias, s->F);
    eh_c_floats(b, "power_low", q->power_low, s->F);
    put_inverse(b, "power_step", q->power_step, s->F);
    eh_c_int8s(b, "W", q->W, s->F * s->m);
    eh_c_floats(b, "W_scale", q->W_scale, s->m);
    eh_c_floats(b, "W_bias", q->W_bias, s->m);
    put_outputs(e, b);
}

/* The code of input k. */
static void put_code(const eh_export *e, eh_bytes *b, bool bytes)
{
    if (bytes && bytes_are_codes(e)) {
        eh_put_text(b, "x[k]");
    } else if (one_range(e)) {
        eh_put_text(b, "@_code((float)x[k], ");
        eh_c_float(b, e->int8->low[0]);
        eh_put_text(b, ", ");
        eh_c_float(b, 1 / e->int8->step[0]);
        eh_put_text(b, ")");
    } else {
        eh_put_text(b, "@_code((float)x[k], @_low[k], @_step[k])");
    }
}

static void put_embed(const eh_export *e, eh_bytes *b, const char *type, const char *suffix)
{
    const bool bytes = *suffix;
    eh_put(b,
           "int @_embed%s(const %s *x, float *y)\n"
           "{\n"
           "    int32_t sum[@_FACTORS];\n"
           "    const int8_t *w = @_C;\n"
           "    for (int f = 0; f < @_FACTORS; f++) sum[f] = 0;\n"
           "    for (long k = 0; k < @_INPUTS; k++, w += @_FACTORS) {\n"
           "        int32_t q;\n",
           suffix, type);
    if (!bytes && one_range(e) && e->int8->low[0] == 0) eh_put_text(b, "        if (x[k] == 0) continue;\n");
    if (!bytes) eh_put_text(b, "        if (!(x[k] - x[k] == 0)) return -1;\n");
    eh_put_text(b, "        q = ");
    put_code(e, b, bytes);
    eh_put_text(b, ";\n"
                   "        if (q == 0) continue;\n"
                   "        for (int f = 0; f < @_FACTORS; f++) sum[f] += q * w[f];\n"
                   "    }\n"
                   "    @_outputs(sum, y);\n"
                   "    return 0;\n"
                   "}\n\n");
}

int64_t eh_c_int8_ram(const eh_export *e)
{
    const eh_map_shape *s = &e->model->shape;
    return (s->F + 2 * s->m + 16) * (int64_t)sizeof(int32_t);
}

void eh_c_int8_map(const eh_export *e, eh_bytes *b)
{
    eh_put_text(b, separate);
    put_numbers(e, b);
    eh_put_text(b, code);
    eh_put_text(b, sigmoid);
    eh_put(b, hidden, e->model->shape.order);
    put_embed(e, b, "float", "");
    if (e->one_scale) put_embed(e, b, "uint8_t", "_u8");
}
