/* Writes a model as an ONNX file: inputs, map and classification as one graph of standard
 * operators, with texts that describe it. */
#include "predict/export/onnx/onnx.h"

#include <stdio.h>

/* JSON array of texts. */
static void put_names(eh_bytes *b, char *const *name, int64_t count)
{
    eh_put_text(b, "[");
    for (int64_t k = 0; k < count; k++) {
        if (k) eh_put_text(b, ", ");
        eh_put_json_string(b, name[k]);
    }
    eh_put_text(b, "]");
    eh_bytes_add(b, "", 1);
}

static enhope_status write_graph(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_bytes *out)
{
    const enhope_model *m = e->model;
    eh_bytes classes = {0}, inputs = {0};
    char doc[256];
    snprintf(doc, sizeof doc,
             "%.60s: %lld inputs, %lld outputs, %d classes, %lld %s. Outputs: label, probabilities, embedding.",
             m->method, (long long)m->shape.H, (long long)m->shape.h, m->c, (long long)m->r,
             m->exemplars ? "exemplars" : "reference points");
    put_names(&classes, m->class_name, m->c);
    if (m->input.name) put_names(&inputs, m->input.name, m->shape.H);
    if (classes.failed || inputs.failed) {
        out->failed = true;
    } else {
        const eh_onnx_text text[] = {{"enhope.method", m->method},
                                     {"enhope.map", m->map->name},
                                     {"enhope.classes", classes.data},
                                     {"enhope.inputs", inputs.data}};
        eh_graph_write(g, e->name, doc, text, m->input.name ? 4 : 3, out);
    }
    eh_bytes_free(&classes);
    eh_bytes_free(&inputs);
    if (out->size > INT32_MAX)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "the ONNX file would have %zu bytes: the format has at most 2^31 - 1; use a model with fewer "
                       "parameters or references",
                       out->size);
    return ENHOPE_OK;
}

enhope_status eh_export_onnx(enhope_context *ctx, const eh_export *e, eh_bytes *out)
{
    eh_graph g = {0};
    eh_value x = 0;
    enhope_status status = eh_onnx_inputs(ctx, e, &g, &x);
    if (!status) status = eh_onnx_classify(ctx, e, &g, eh_onnx_map(e, &g, x));
    if (!status) status = write_graph(ctx, e, &g, out);
    eh_graph_free(&g);
    return status;
}
