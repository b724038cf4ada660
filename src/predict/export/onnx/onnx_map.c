/* The maps as ONNX nodes: scaling, layers, embedding. The int8 map has the arithmetic of
 * docs/reference/int8.md but for the sigmoid and the sums of the outputs, which are those of the
 * runtime. */
#include "model/quantized.h"
#include "predict/export/onnx/onnx.h"

static eh_value scale(const eh_export *e, eh_graph *g, eh_value x)
{
    const enhope_model *m = e->model;
    const int64_t H = m->shape.H;
    if (eh_export_shifts(e))
        x = eh_graph_2(g, "Sub", x, e->one_scale ? eh_graph_float(g, m->shift[0]) : eh_graph_floats(g, m->shift, 0, H));
    if (eh_export_multiplies(e))
        x = eh_graph_2(g, "Mul", x, e->one_scale ? eh_graph_float(g, m->mul[0]) : eh_graph_floats(g, m->mul, 0, H));
    return x;
}

/* u^order by squaring. */
static eh_value power(eh_graph *g, eh_value u, int order)
{
    eh_value result = -1;
    for (;; u = eh_graph_2(g, "Mul", u, u)) {
        if (order & 1) result = result < 0 ? u : eh_graph_2(g, "Mul", result, u);
        order >>= 1;
        if (!order) return result;
    }
}

/* x W + b. If b is NULL, it is the last row of W. */
static eh_value layer(eh_graph *g, eh_value x, const eh_weights *W, const eh_weights *b)
{
    const int64_t rows = W->rows - (b ? 0 : 1), columns = W->columns;
    x = eh_graph_2(g, "MatMul", x, eh_graph_floats(g, W->data, rows, columns));
    return eh_graph_2(g, "Add", x, eh_graph_floats(g, b ? b->data : W->data + rows * columns, 0, columns));
}

/* t V^T for V (h, m). */
static eh_value outputs(eh_graph *g, eh_value t, const eh_weights *V)
{
    const eh_value stored = eh_graph_floats(g, V->data, V->rows, V->columns);
    eh_graph_attribute_ints(g, "perm", (const int64_t[]){1, 0}, 2);
    const eh_value transposed = eh_graph_1(g, "Transpose", stored);
    g->result = "embedding";
    return eh_graph_2(g, "MatMul", t, transposed);
}

/* ---- int8 ---- */

/* A constant (n), or a scalar if all n numbers are equal. `inverse`: 1 / each number. */
static eh_value numbers(eh_graph *g, const float *data, int64_t n, bool inverse)
{
    eh_bytes all = {0};
    bool equal = true;
    for (int64_t i = 0; i < n; i++) {
        const float value = inverse ? 1 / data[i] : data[i];
        eh_bytes_add(&all, &value, sizeof value);
        equal &= data[i] == data[0];
    }
    g->failed |= all.failed;
    const float *const values = (const float *)(const void *)all.data;
    const eh_value v = all.failed ? 0 : equal ? eh_graph_float(g, values[0]) : eh_graph_floats(g, values, 0, n);
    eh_bytes_free(&all);
    return v;
}

/* round(clamp((x - low) / step, 0, 255)) as a byte, for x (batch, n). */
static eh_value code(eh_graph *g, eh_value x, const float *low, const float *step, int64_t n)
{
    x = eh_graph_2(g, "Sub", x, numbers(g, low, n, false));
    x = eh_graph_2(g, "Mul", x, numbers(g, step, n, true));
    const eh_value low_code = eh_graph_float(g, 0);
    const eh_value high_code = eh_graph_float(g, 255);
    x = eh_graph_node(g, "Clip", 3, (eh_value[]){x, low_code, high_code});
    return eh_graph_cast(g, eh_graph_1(g, "Round", x), EH_ONNX_UINT8);
}

/* float(sum of x W) * scale + bias for bytes x and W (rows, columns). The weights are bytes with
 * zero 128: runtimes multiply signed and unsigned bytes with saturation on processors without dot
 * products of bytes. */
static eh_value int8_layer(eh_graph *g, eh_value x, const int8_t *W, int64_t rows, int64_t columns, const float *scale,
                           const float *bias)
{
    const uint8_t zeros[] = {0, 128};
    eh_bytes shifted = {0};
    for (int64_t i = 0; i < rows * columns; i++) {
        const uint8_t byte = (uint8_t)(W[i] + 128);
        eh_bytes_add(&shifted, &byte, 1);
    }
    g->failed |= shifted.failed;
    const eh_value weights = shifted.failed ? 0 : eh_graph_bytes(g, (const uint8_t *)shifted.data, rows, columns);
    eh_bytes_free(&shifted);
    const eh_value zero_x = eh_graph_bytes(g, &zeros[0], 0, 0);
    const eh_value zero_w = eh_graph_bytes(g, &zeros[1], 0, 0);
    x = eh_graph_node(g, "MatMulInteger", 4, (eh_value[]){x, weights, zero_x, zero_w});
    x = eh_graph_cast(g, x, EH_ONNX_FLOAT);
    x = eh_graph_2(g, "Mul", x, eh_graph_floats(g, scale, 0, columns));
    return eh_graph_2(g, "Add", x, eh_graph_floats(g, bias, 0, columns));
}

static eh_value int8_map(const eh_export *e, eh_graph *g, eh_value x)
{
    const eh_map_shape *s = &e->model->shape;
    const eh_quantized *q = e->int8;
    const eh_weights V = eh_export_tensor(e, 3);
    x = code(g, x, q->low, q->step, s->H);
    const eh_value u = int8_layer(g, x, q->C, s->H, s->F, q->C_scale, q->C_bias);
    eh_value power = u;
    for (int o = 1; o < s->order; o++) power = eh_graph_2(g, "Mul", power, u);
    power = code(g, power, q->power_low, q->power_step, s->F);
    const eh_value a = int8_layer(g, power, q->W, s->F, s->m, q->W_scale, q->W_bias);
    return outputs(g, eh_graph_1(g, "Sigmoid", a), &V);
}

eh_value eh_onnx_map(const eh_export *e, eh_graph *g, eh_value x)
{
    const enhope_model *m = e->model;
    if (e->int8) return int8_map(e, g, x);
    const int last = eh_export_tensors(e) - 1;
    x = scale(e, g, x);
    if (m->map == &eh_map_identity) {
        g->result = "embedding";
        return eh_graph_1(g, "Identity", x);
    }
    const eh_weights first = eh_export_tensor(e, 0), V = eh_export_tensor(e, last);
    eh_value y = layer(g, x, &first, NULL);
    if (m->map == &eh_map_linear) {
        g->result = "embedding";
        return eh_graph_1(g, "Identity", y);
    }
    const char *const unit = m->shape.relu ? "Relu" : "Sigmoid";
    y = m->map == &eh_map_hope ? power(g, y, m->shape.order) : eh_graph_1(g, unit, y);
    for (int i = 1; i < last; i += 2) {
        const eh_weights W = eh_export_tensor(e, i), b = eh_export_tensor(e, i + 1);
        y = eh_graph_1(g, unit, layer(g, y, &W, &b));
    }
    return outputs(g, y, &V);
}
