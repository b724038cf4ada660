/* Writes a model as JSON: the numbers of the map, the references and the rules
 * (docs/reference/export-format.md). A JavaScript module has the same object, with tensors in
 * base64 instead of arrays. */
#include <stdio.h>
#include <string.h>

#include "model/quantized.h"
#include "predict/export/export.h"

typedef struct object {
    eh_bytes *b;
    bool base64;
    bool comma; /* a member precedes */
} object;

static void put_key(object *o, const char *key)
{
    eh_put(o->b, o->comma ? ", \"%s\": " : "\"%s\": ", key);
    o->comma = true;
}

static void open_object(object *o, const char *key)
{
    put_key(o, key);
    eh_put_text(o->b, "{");
    o->comma = false;
}

static void close_object(object *o)
{
    eh_put_text(o->b, "}");
    o->comma = true;
}

static void put_string(object *o, const char *key, const char *text)
{
    put_key(o, key);
    eh_put_json_string(o->b, text);
}

static void put_number(object *o, const char *key, double value)
{
    char text[40];
    eh_number_print(value, text, sizeof text);
    put_key(o, key);
    eh_bytes_add(o->b, text, strlen(text));
}

static void put_names(object *o, const char *key, char *const *name, int64_t count)
{
    put_key(o, key);
    for (int64_t k = 0; k < count; k++) {
        eh_put_text(o->b, k ? ", " : "[");
        eh_put_json_string(o->b, name[k]);
    }
    eh_put_text(o->b, "]");
}

/* ---- tensors ---- */

typedef enum element { FLOAT, INT8, INT32 } element;

/* Prints element i of data. */
static void put_element(eh_bytes *b, element type, const void *data, int64_t i)
{
    char text[EH_FLOAT_TEXT];
    if (type == FLOAT)
        eh_float_print(((const float *)data)[i], text);
    else
        snprintf(text, sizeof text, "%d", type == INT8 ? ((const int8_t *)data)[i] : ((const int32_t *)data)[i]);
    eh_bytes_add(b, text, strlen(text));
}

static void put_row(eh_bytes *b, element type, const void *data, int64_t first, int64_t count)
{
    eh_bytes_add(b, "[", 1);
    for (int64_t i = 0; i < count; i++) {
        if (i) eh_bytes_add(b, ", ", 2);
        put_element(b, type, data, first + i);
    }
    eh_bytes_add(b, "]", 1);
}

/* A matrix, or a vector if rows is 0. */
static void put_tensor(object *o, const char *key, element type, const void *data, int64_t rows, int64_t columns)
{
    put_key(o, key);
    if (o->base64) {
        const size_t size = type == INT8 ? 1 : 4;
        eh_put_text(o->b, "\"");
        eh_put_base64(o->b, data, (size_t)(rows ? rows : 1) * (size_t)columns * size);
        eh_put_text(o->b, "\"");
        return;
    }
    if (!rows) {
        put_row(o->b, type, data, 0, columns);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        eh_put_text(o->b, i ? ",\n  " : "[\n  ");
        put_row(o->b, type, data, i * columns, columns);
    }
    eh_put_text(o->b, "]");
}

/* ---- members ---- */

static void put_float_map(const eh_export *e, object *o)
{
    const enhope_model *m = e->model;
    if (m->map == &eh_map_hope) put_number(o, "order", m->shape.order);
    if (m->map == &eh_map_mlp) put_string(o, "unit", m->shape.relu ? "relu" : "sigmoid");
    for (int i = 0; i < eh_export_tensors(e); i++) {
        const eh_weights t = eh_export_tensor(e, i);
        put_tensor(o, t.name, FLOAT, t.data, t.name[0] == 'b' ? 0 : t.rows, t.columns);
    }
}

static void put_int8_map(const eh_export *e, object *o)
{
    const eh_map_shape *s = &e->model->shape;
    const eh_quantized *q = e->int8;
    put_number(o, "order", s->order);
    put_tensor(o, "low", FLOAT, q->low, 0, s->H);
    put_tensor(o, "step", FLOAT, q->step, 0, s->H);
    put_tensor(o, "C", INT8, q->C, s->H, s->F);
    put_tensor(o, "C_scale", FLOAT, q->C_scale, 0, s->F);
    put_tensor(o, "C_bias", FLOAT, q->C_bias, 0, s->F);
    put_tensor(o, "power_low", FLOAT, q->power_low, 0, s->F);
    put_tensor(o, "power_step", FLOAT, q->power_step, 0, s->F);
    put_tensor(o, "W", INT8, q->W, s->F, s->m);
    put_tensor(o, "W_scale", FLOAT, q->W_scale, 0, s->m);
    put_tensor(o, "W_bias", FLOAT, q->W_bias, 0, s->m);
    put_tensor(o, "V", FLOAT, eh_export_tensor(e, 3).data, s->h, s->m);
}

static void put_rule(const eh_export *e, object *o)
{
    const enhope_model *m = e->model;
    open_object(o, "rule");
    put_string(o, "label", e->votes ? "votes" : "probability");
    put_number(o, "neighbors", e->k);
    put_string(o, "probability", m->exemplars ? "similarity" : "votes");
    put_string(o, "similarity", m->gaussian ? "gaussian" : "student");
    put_number(o, "dof", m->dof ? m->dof : 1);
    put_number(o, "temperature", m->errors.temperature);
    close_object(o);
}

static enhope_status put_columns(enhope_context *ctx, const eh_export *e, object *o)
{
    char *text = NULL;
    if (!e->encoding) return ENHOPE_OK;
    EH_TRY(eh_encoding_print(ctx, e->encoding, &text));
    put_key(o, "table");
    eh_put_json(o->b, text);
    eh_free(text);
    return ENHOPE_OK;
}

enhope_status eh_export_object(enhope_context *ctx, const eh_export *e, bool base64, eh_bytes *b)
{
    const enhope_model *m = e->model;
    object o = {.b = b, .base64 = base64};
    eh_put_text(b, "{");
    put_string(&o, "format", "enhope-export");
    put_number(&o, "version", 1);
    put_string(&o, "producer", "enhope");
    put_string(&o, "producer_version", enhope_version());
    put_string(&o, "method", m->method);
    put_string(&o, "precision", e->int8 ? "int8" : "float32");
    put_number(&o, "inputs", (double)m->shape.H);
    put_number(&o, "outputs", (double)m->shape.h);
    put_names(&o, "classes", m->class_name, m->c);
    if (m->input.name) put_names(&o, "input_names", m->input.name, m->shape.H);
    EH_TRY(put_columns(ctx, e, &o));
    if (!e->int8) {
        open_object(&o, "scale");
        put_tensor(&o, "shift", FLOAT, m->shift, 0, m->shape.H);
        put_tensor(&o, "mul", FLOAT, m->mul, 0, m->shape.H);
        close_object(&o);
    }
    open_object(&o, "map");
    put_string(&o, "kind", m->map->name);
    if (e->int8)
        put_int8_map(e, &o);
    else
        put_float_map(e, &o);
    close_object(&o);
    open_object(&o, "references");
    put_tensor(&o, "y", FLOAT, e->G, m->r, m->shape.h);
    put_tensor(&o, "class", INT32, m->reference_label, 0, m->r);
    close_object(&o);
    put_rule(e, &o);
    eh_put_text(b, "}");
    return ENHOPE_OK;
}

enhope_status eh_export_json(enhope_context *ctx, const eh_export *e, eh_bytes *out)
{
    EH_TRY(eh_export_object(ctx, e, false, out));
    eh_put_text(out, "\n");
    return ENHOPE_OK;
}
