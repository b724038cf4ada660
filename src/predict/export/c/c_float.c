/* Float maps in C: scaling, layers, powers and units. A layer adds four rows of its matrix at a
 * time, which a compiler can vectorize, and skips rows whose four factors are 0. Matrices have
 * rows of zeros up to a multiple of four. */
#include "predict/export/c/c.h"

enum { ROWS = 4 };

/* Compilers vectorize the loop of @_add at -O2 only with restrict and a constant width. */
static const char restricted[] = "#if defined(__GNUC__) || defined(_MSC_VER)\n"
                                 "#define @_RESTRICT __restrict\n"
                                 "#elif defined(__cplusplus)\n"
                                 "#define @_RESTRICT\n"
                                 "#else\n"
                                 "#define @_RESTRICT restrict\n"
                                 "#endif\n\n";

static const char add_rows[] =
    "/* y (%lld) += a (4) w (4, %lld) */\n"
    "static void @_add_%lld(float *@_RESTRICT y, const float *a, const float *@_RESTRICT w)\n"
    "{\n"
    "    const float *w1 = w + %lld, *w2 = w1 + %lld, *w3 = w2 + %lld;\n"
    "    const float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];\n"
    "    if (a0 == 0 && a1 == 0 && a2 == 0 && a3 == 0) return;\n"
    "    for (int j = 0; j < %lld; j++) y[j] += a0 * w[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j];\n"
    "}\n\n";

static const char layer[] =
    "/* y (%lld) = bias + x (m) w (m, %lld) */\n"
    "static void @_layer_%lld(float *y, const float *bias, const float *x, int m, const float *w)\n"
    "{\n"
    "    for (int j = 0; j < %lld; j++) y[j] = bias[j];\n"
    "    for (int i = 0; i < m; i += 4, w += 4 * %lldL) {\n"
    "        float a[4] = {0, 0, 0, 0};\n"
    "        for (int l = 0; l < 4 && i + l < m; l++) a[l] = x[i + l];\n"
    "        @_add_%lld(y, a, w);\n"
    "    }\n"
    "}\n\n";

static const char outputs[] = "/* y (h) = V (h, m) t (m) */\n"
                              "static void @_outputs(const float *t, float *y)\n"
                              "{\n"
                              "    const float *v = @_V;\n"
                              "    for (int i = 0; i < @_OUTPUTS; i++, v += %lld) {\n"
                              "        float sum = 0;\n"
                              "        for (int j = 0; j < %lld; j++) sum += v[j] * t[j];\n"
                              "        y[i] = sum;\n"
                              "    }\n"
                              "}\n\n";

static const char sigmoid[] = "static void @_units(float *t, int n)\n"
                              "{\n"
                              "    for (int j = 0; j < n; j++) t[j] = 1.0f / (1.0f + @_exp(-t[j]));\n"
                              "}\n\n";

static const char relu[] = "static void @_units(float *t, int n)\n"
                           "{\n"
                           "    for (int j = 0; j < n; j++) t[j] = t[j] < 0 ? 0 : t[j];\n"
                           "}\n\n";

/* ---- numbers ---- */

/* A matrix, and its bias, which is its last row if `bias` is NULL. */
static void put_matrix(eh_bytes *b, const eh_weights *W, const float *bias, const char *bias_name)
{
    const int64_t rows = W->rows - (bias ? 0 : 1), padded = (rows + ROWS - 1) / ROWS * ROWS;
    eh_bytes zeros = {0};
    for (int64_t i = 0; i < padded * W->columns; i++) {
        const float zero = 0;
        eh_bytes_add(&zeros, i < rows * W->columns ? &W->data[i] : &zero, sizeof zero);
    }
    b->failed |= zeros.failed;
    if (!b->failed) eh_c_floats(b, W->name, (const float *)(const void *)zeros.data, padded * W->columns);
    eh_bytes_free(&zeros);
    eh_c_floats(b, bias_name, bias ? bias : W->data + rows * W->columns, W->columns);
}

static void put_numbers(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    const int last = eh_export_tensors(e) - 1;
    if (!e->one_scale) {
        if (eh_export_shifts(e)) eh_c_floats(b, "shift", m->shift, m->shape.H);
        if (eh_export_multiplies(e)) eh_c_floats(b, "mul", m->mul, m->shape.H);
    }
    if (m->map == &eh_map_identity) return;
    const eh_weights first = eh_export_tensor(e, 0);
    put_matrix(b, &first, NULL, "bias");
    for (int i = 1; i < last; i += 2) {
        const eh_weights W = eh_export_tensor(e, i), bias = eh_export_tensor(e, i + 1);
        put_matrix(b, &W, bias.data, bias.name);
    }
    if (m->map == &eh_map_linear) return;
    const eh_weights V = eh_export_tensor(e, last);
    eh_c_floats(b, "V", V.data, V.rows * V.columns);
}

/* ---- code ---- */

/* The scaled input x[at]. */
static void put_scaled(const eh_export *e, eh_bytes *b, const char *at)
{
    const bool shifts = eh_export_shifts(e), multiplies = eh_export_multiplies(e);
    eh_put(b, shifts && multiplies ? "((float)x[%s]" : "(float)x[%s]", at);
    if (shifts && e->one_scale) {
        eh_put_text(b, " - ");
        eh_c_float(b, e->model->shift[0]);
    } else if (shifts) {
        eh_put(b, " - @_shift[%s]", at);
    }
    if (shifts && multiplies) eh_put_text(b, ")");
    if (multiplies && e->one_scale) {
        eh_put_text(b, " * ");
        eh_c_float(b, e->model->mul[0]);
    } else if (multiplies) {
        eh_put(b, " * @_mul[%s]", at);
    }
}

/* @_first: the product of the inputs of a type with the first matrix (H, n). */
static void put_first(const eh_export *e, eh_bytes *b, const char *type, const char *suffix)
{
    const eh_weights W = eh_export_tensor(e, 0);
    const bool bytes = *suffix;
    eh_put(b,
           "/* u (%lld) = bias + scaled x (H) %s. Returns -1 if an input is not finite. */\n"
           "static int @_first%s(const %s *x, float *u)\n"
           "{\n"
           "    const float *w = @_%s;\n"
           "    for (int j = 0; j < %lld; j++) u[j] = @_bias[j];\n"
           "    for (long i = 0; i < @_INPUTS; i += 4, w += 4 * %lldL) {\n"
           "        float a[4] = {0, 0, 0, 0};\n"
           "        for (int l = 0; l < 4 && i + l < @_INPUTS; l++) {\n",
           (long long)W.columns, W.name, suffix, type, W.name, (long long)W.columns, (long long)W.columns);
    if (!bytes) eh_put_text(b, "            if (!(x[i + l] - x[i + l] == 0)) return -1;\n");
    eh_put_text(b, "            a[l] = ");
    put_scaled(e, b, "i + l");
    eh_put(b,
           ";\n"
           "        }\n"
           "        @_add_%lld(u, a, w);\n"
           "    }\n"
           "    return 0;\n"
           "}\n\n",
           (long long)W.columns);
}

static void put_power(eh_bytes *b, int order)
{
    eh_put(b,
           "/* u^%d, elementwise */\n"
           "static void @_power(float *u)\n"
           "{\n"
           "    for (int j = 0; j < @_FACTORS; j++) {\n"
           "        float s = u[j];\n"
           "        for (int o = 1; o < %d; o++) s *= u[j];\n"
           "        u[j] = s;\n"
           "    }\n"
           "}\n\n",
           order, order);
}

/* The body of @_embed behind the first layer: layers alternate between two arrays. */
static void put_layers(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    const int last = eh_export_tensors(e) - 1;
    const char *from = "u", *to = "t";
    int64_t width = eh_export_tensor(e, 0).columns;
    if (m->map == &eh_map_hope)
        eh_put_text(b, "    @_power(u);\n");
    else
        eh_put(b, "    @_units(u, %lld);\n", (long long)width);
    for (int i = 1; i < last; i += 2) {
        const eh_weights W = eh_export_tensor(e, i), bias = eh_export_tensor(e, i + 1);
        eh_put(b, "    @_layer_%lld(%s, @_%s, %s, %lld, @_%s);\n    @_units(%s, %lld);\n", (long long)W.columns, to,
               bias.name, from, (long long)W.rows, W.name, to, (long long)W.columns);
        const char *other = from;
        from = to;
        to = other;
        width = W.columns;
    }
    eh_put(b, "    @_outputs(%s, y);\n", from);
}

/* Sizes of the arrays u and t. */
static void widths(const eh_export *e, int64_t *u, int64_t *t)
{
    const int last = eh_export_tensors(e) - 1;
    *u = *t = 0;
    if (e->model->map == &eh_map_identity || e->model->map == &eh_map_linear) return;
    *u = eh_export_tensor(e, 0).columns;
    for (int i = 1; i < last; i += 2) {
        int64_t *const width = i % 4 == 1 ? t : u;
        *width = eh_max(*width, eh_export_tensor(e, i).columns);
    }
}

int64_t eh_c_float_ram(const eh_export *e)
{
    int64_t u, t;
    widths(e, &u, &t);
    return (u + t + ROWS) * (int64_t)sizeof(float);
}

static void put_embed(const eh_export *e, eh_bytes *b, const char *type, const char *suffix)
{
    const eh_map *map = e->model->map;
    int64_t u, t;
    widths(e, &u, &t);
    if (map != &eh_map_identity) put_first(e, b, type, suffix);
    eh_put(b, "int @_embed%s(const %s *x, float *y)\n{\n", suffix, type);
    if (map == &eh_map_identity) {
        eh_put_text(b, "    for (long i = 0; i < @_INPUTS; i++) {\n");
        if (!*suffix) eh_put_text(b, "        if (!(x[i] - x[i] == 0)) return -1;\n");
        eh_put_text(b, "        y[i] = ");
        put_scaled(e, b, "i");
        eh_put_text(b, ";\n    }\n    return @_check(y);\n}\n\n");
    } else if (map == &eh_map_linear) {
        eh_put(b, "    return @_first%s(x, y) ? -1 : @_check(y);\n}\n\n", suffix);
    } else {
        eh_put(b, "    float u[%lld];\n", (long long)u);
        if (t) eh_put(b, "    float t[%lld];\n", (long long)t);
        eh_put(b, "    if (@_first%s(x, u)) return -1;\n", suffix);
        put_layers(e, b);
        eh_put_text(b, "    return @_check(y);\n}\n\n");
    }
}

/* The bound is that of eh_predict_overflow. */
static const char check[] = "/* Returns -1 if y is not finite or too long for its distances to be finite. */\n"
                            "static int @_check(const float *y)\n"
                            "{\n"
                            "    float square = 0;\n"
                            "    for (long i = 0; i < @_OUTPUTS; i++) square += y[i] * y[i];\n"
                            "    return square <= 8.5e37f ? 0 : -1;\n"
                            "}\n\n";

/* The functions of each width, once. */
static void put_products(const eh_export *e, eh_bytes *b)
{
    const int last = eh_export_tensors(e) > 1 ? eh_export_tensors(e) - 1 : 1;
    eh_put_text(b, restricted);
    for (int i = 0; i < last; i += i ? 2 : 1) {
        const long long n = eh_export_tensor(e, i).columns;
        bool added = false, layered = false; /* by an earlier tensor */
        for (int j = 0; j < i; j += j ? 2 : 1) {
            const bool same = eh_export_tensor(e, j).columns == n;
            added |= same;
            layered |= same && j > 0;
        }
        if (!added) eh_put(b, add_rows, n, n, n, n, n, n, n);
        if (i > 0 && !layered) eh_put(b, layer, n, n, n, n, n, n);
    }
}

void eh_c_float_map(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    const bool layers = m->map == &eh_map_hope || m->map == &eh_map_mlp;
    put_numbers(e, b);
    if (m->map != &eh_map_identity) put_products(e, b);
    if (layers) {
        const eh_weights V = eh_export_tensor(e, eh_export_tensors(e) - 1);
        eh_put_text(b, m->shape.relu ? relu : sigmoid);
        if (m->map == &eh_map_hope) put_power(b, m->shape.order);
        eh_put(b, outputs, (long long)V.columns, (long long)V.columns);
    }
    eh_put_text(b, check);
    put_embed(e, b, "float", "");
    if (e->one_scale) put_embed(e, b, "uint8_t", "_u8");
}
