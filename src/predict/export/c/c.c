/* Writes a model as a C file and its header. */
#include "predict/export/c/c.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_TEXT = 4000, /* bytes of a name; C99 guarantees string literals of 4,095 */
    MAX_LISTED = 64, /* inputs that the header names */
    FRAMES = 512     /* bytes for everything on the stack but arrays */
};

static const char elementary[] = "/* e^x, relative error 1e-7; x from -87 to 88. */\n"
                                 "static float @_exp(float x)\n"
                                 "{\n"
                                 "    union {\n"
                                 "        float f;\n"
                                 "        uint32_t i;\n"
                                 "    } scale;\n"
                                 "    float k, r, p;\n"
                                 "    x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;\n"
                                 "    scale.f = x * 1.44269504f + 12582912.0f;\n"
                                 "    k = scale.f - 12582912.0f;\n"
                                 "    r = (x - k * 0.693359375f) + k * 0.000212194440f;\n"
                                 "    p = 1.0f / 5040.0f;\n"
                                 "    p = p * r + 1.0f / 720.0f;\n"
                                 "    p = p * r + 1.0f / 120.0f;\n"
                                 "    p = p * r + 1.0f / 24.0f;\n"
                                 "    p = p * r + 1.0f / 6.0f;\n"
                                 "    p = p * r + 0.5f;\n"
                                 "    p = p * r + 1.0f;\n"
                                 "    p = p * r + 1.0f;\n"
                                 "    scale.i = (scale.i + 127u) << 23;\n"
                                 "    return p * scale.f;\n"
                                 "}\n\n";

static const char logarithm[] =
    "/* The natural logarithm of x >= 1, from 2 artanh((m - 1) / (m + 1)). */\n"
    "static float @_log(float x)\n"
    "{\n"
    "    union {\n"
    "        float f;\n"
    "        uint32_t i;\n"
    "    } m;\n"
    "    float s, z;\n"
    "    int k;\n"
    "    m.f = x;\n"
    "    k = (int)((m.i - 0x3f3504f3u) >> 23);\n"
    "    m.i -= (uint32_t)k << 23;\n"
    "    s = (m.f - 1.0f) / (m.f + 1.0f);\n"
    "    z = s * s;\n"
    "    s = 2.0f * s * (1.0f + z * (1.0f / 3.0f + z * (1.0f / 5.0f + z * (1.0f / 7.0f + z / 9.0f))));\n"
    "    return s + (float)k * 0.693147181f;\n"
    "}\n\n";

/* ---- arrays ---- */

void eh_c_float(eh_bytes *b, float value)
{
    char text[EH_FLOAT_TEXT + 4];
    eh_float_print(value, text);
    const bool whole = !strpbrk(text, ".e");
    strcat(text, whole ? ".0f" : "f");
    eh_bytes_add(b, text, strlen(text));
}

/* Begins a line after every `line` elements. */
static void put_gap(eh_bytes *b, int64_t i, int line)
{
    eh_bytes_add(b, i % line ? " " : "\n    ", i % line ? 1 : 5);
}

void eh_c_floats(eh_bytes *b, const char *name, const float *data, int64_t count)
{
    enum { LINE = 8 };
    eh_put(b, "static const float @_%s[%lld] = {", name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        put_gap(b, i, LINE);
        eh_c_float(b, data[i]);
        eh_bytes_add(b, ",", 1);
    }
    eh_put_text(b, "\n};\n");
}

void eh_c_int8s(eh_bytes *b, const char *name, const int8_t *data, int64_t count)
{
    enum { LINE = 24 };
    eh_put(b, "static const int8_t @_%s[%lld] = {", name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        char text[8];
        put_gap(b, i, LINE);
        eh_bytes_add(b, text, (size_t)snprintf(text, sizeof text, "%d,", data[i]));
    }
    eh_put_text(b, "\n};\n");
}

/* ---- the header ---- */

static int64_t ram(const eh_export *e)
{
    const int64_t map = e->int8 ? eh_c_int8_ram(e) : eh_c_float_ram(e);
    return eh_max(map, eh_c_classify_ram(e)) + e->model->shape.h * (int64_t)sizeof(float) + FRAMES;
}

static void put_title(const eh_export *e, eh_bytes *b, const char *suffix)
{
    const enhope_model *m = e->model;
    eh_put(b, "/* @.%s: ", suffix);
    eh_put_comment(b, m->method);
    eh_put(b, ", %lld inputs, %d classes, %s. Written by enhope %s (enhope export).\n", (long long)m->shape.H, m->c,
           e->int8 ? "int8" : "float32", enhope_version());
}

static void put_inputs(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    if (!m->input.name || m->shape.H > MAX_LISTED) return;
    eh_put_text(b, " *\n * Inputs:\n");
    for (int64_t k = 0; k < m->shape.H; k++) {
        eh_put(b, " *   x[%lld]  ", (long long)k);
        eh_put_comment(b, m->input.name[k]);
        eh_put_text(b, "\n");
    }
}

static const char functions[] =
    "/* The class of an input, 0 .. @_CLASSES - 1; -1 if a value is not finite, or so far\n"
    " * from the training data that its embedding is not finite. */\n"
    "int @_predict(const float *x); /* x: @_INPUTS numbers in the units of the training data */\n"
    "/* The same, and the probability of each class: p has @_CLASSES numbers. */\n"
    "int @_proba(const float *x, float *p);\n"
    "/* The embedding: y has @_OUTPUTS numbers. Returns 0, or -1 as above. */\n"
    "int @_embed(const float *x, float *y);\n";

static const char byte_functions[] = "/* The same for bytes, such as pixels. */\n"
                                     "int @_predict_u8(const uint8_t *x);\n"
                                     "int @_proba_u8(const uint8_t *x, float *p);\n"
                                     "int @_embed_u8(const uint8_t *x, float *y);\n";

static void put_sizes(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    eh_put(b,
           "#define @_INPUTS %lld\n#define @_CLASSES %d\n#define @_OUTPUTS %lld\n"
           "#define @_RAM %lld /* bytes of stack that a call needs at most; there is no other memory */\n\n",
           (long long)m->shape.H, m->c, (long long)m->shape.h, (long long)ram(e));
}

enhope_status eh_export_c_header(enhope_context *ctx, const eh_export *e, eh_bytes *b)
{
    (void)ctx;
    put_title(e, b, "h");
    put_inputs(e, b);
    eh_put(b, " */\n#ifndef @_MODEL_H\n#define @_MODEL_H\n\n#include <stdint.h>\n\n"
              "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    put_sizes(e, b);
    eh_put_text(b, "extern const char *const @_class_name[@_CLASSES]; /* in UTF-8 */\n\n");
    eh_put_text(b, functions);
    if (e->one_scale) eh_put_text(b, byte_functions);
    eh_c_row_type(e, b);
    eh_put_text(b, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return ENHOPE_OK;
}

/* ---- the source ---- */

enhope_status eh_c_check_text(enhope_context *ctx, const char *text)
{
    if (strlen(text) <= MAX_TEXT) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "the text '%.40s...' has %zu bytes: a text of a C file has at most %d; use another format", text,
                   strlen(text), MAX_TEXT);
}

static enhope_status put_class_names(enhope_context *ctx, const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    eh_put_text(b, "const char *const @_class_name[@_CLASSES] = {\n");
    for (int32_t k = 0; k < m->c; k++) {
        EH_TRY(eh_c_check_text(ctx, m->class_name[k]));
        eh_put_text(b, "    ");
        eh_put_c_string(b, m->class_name[k]);
        eh_put_text(b, ",\n");
    }
    eh_put_text(b, "};\n\n");
    return ENHOPE_OK;
}

static void put_calls(eh_bytes *b, const char *type, const char *suffix)
{
    eh_put(b,
           "int @_proba%s(const %s *x, float *p)\n"
           "{\n"
           "    float y[@_OUTPUTS];\n"
           "    return @_embed%s(x, y) ? -1 : @_class(y, p);\n"
           "}\n\n"
           "int @_predict%s(const %s *x)\n"
           "{\n"
           "    return @_proba%s(x, 0);\n"
           "}\n",
           suffix, type, suffix, suffix, type, suffix);
}

enhope_status eh_export_c(enhope_context *ctx, const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    const bool hidden = m->map == &eh_map_hope || m->map == &eh_map_mlp;
    const bool exp = m->exemplars || (hidden && !m->shape.relu && !e->int8);
    const int stem = e->file ? (int)strlen(e->file) - 2 : 0;
    put_title(e, b, "c");
    eh_put_text(b, " * The header describes the functions. */\n#include \"");
    if (stem)
        eh_bytes_add(b, e->file, (size_t)stem);
    else
        eh_put_text(b, "@");
    eh_put_text(b, ".h\"\n\n");
    if (m->map == &eh_map_hope)
        eh_put(b, "#define @_FACTORS %lld\n#define @_HIDDEN %lld\n", (long long)m->shape.F, (long long)m->shape.m);
    eh_put(b, "#define @_REFERENCES %lld\n\n", (long long)m->r);
    EH_TRY(put_class_names(ctx, e, b));
    EH_TRY(eh_c_encode(ctx, e, b));
    if (exp) eh_put_text(b, elementary);
    if (m->exemplars) eh_put_text(b, logarithm);
    if (e->int8)
        eh_c_int8_map(e, b);
    else
        eh_c_float_map(e, b);
    eh_c_classify(e, b);
    put_calls(b, "float", "");
    if (e->one_scale) {
        eh_put_text(b, "\n");
        put_calls(b, "uint8_t", "_u8");
    }
    return ENHOPE_OK;
}
