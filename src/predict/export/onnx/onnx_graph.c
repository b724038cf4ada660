/* The wire format: a message is a sequence of fields. A field begins with the varint (number << 3 |
 * type). Type 0 is a varint, type 2 a length and so many bytes (text, packed numbers, a message),
 * type 5 four bytes. */
#include "predict/export/onnx/onnx_graph.h"

#include <stdio.h>
#include <string.h>

enum { IR_VERSION = 8, OPSET = 17, OPSET_ML = 3, ATTRIBUTE_INT = 2, ATTRIBUTE_INTS = 7, ATTRIBUTE_STRINGS = 8 };
/* Field numbers of onnx.proto, by message. */
enum { MODEL_IR = 1, MODEL_PRODUCER, MODEL_PRODUCER_VERSION, MODEL_DOC = 6, MODEL_GRAPH, MODEL_OPSET, MODEL_TEXT = 14 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION };
enum { TEXT_KEY = 1, TEXT_VALUE };
enum { GRAPH_NODE = 1, GRAPH_NAME, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT };
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_OPERATOR, NODE_ATTRIBUTE, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_I = 3, ATTRIBUTE_LIST_INTS = 8, ATTRIBUTE_LIST_STRINGS, ATTRIBUTE_TYPE = 20 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE, TENSOR_STRING = 6, TENSOR_NAME = 8, TENSOR_RAW };
enum {
    INFO_NAME = 1,
    INFO_TYPE,
    TYPE_TENSOR = 1,
    TYPE_ELEMENT = 1,
    TYPE_SHAPE,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_NAME
};
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is little-endian");

/* ---- fields ---- */

static void put_varint(eh_bytes *b, uint64_t value)
{
    unsigned char byte[10];
    size_t n = 0;
    for (; value > 127; value >>= 7) byte[n++] = (unsigned char)(value | 128);
    byte[n++] = (unsigned char)value;
    eh_bytes_add(b, byte, n);
}

static void put_int(eh_bytes *b, int field, int64_t value)
{
    put_varint(b, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(b, (uint64_t)value);
}

static void put_bytes(eh_bytes *b, int field, const void *data, size_t size)
{
    put_varint(b, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(b, size);
    eh_bytes_add(b, data, size);
}

static void put_text(eh_bytes *b, int field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

/* Adds a message and frees it. */
static void put_message(eh_bytes *b, int field, eh_bytes *message)
{
    put_bytes(b, field, message->data, message->size);
    b->failed |= message->failed;
    eh_bytes_free(message);
}

/* ---- values ---- */

void eh_graph_free(eh_graph *g)
{
    eh_bytes *const all[] = {&g->node, &g->initializer, &g->input, &g->output, &g->attribute};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) eh_bytes_free(all[i]);
    eh_names_free(g->name, g->values);
    *g = (eh_graph){0};
}

static eh_value new_value(eh_graph *g, const char *name)
{
    if (g->values == g->capacity) {
        const int capacity = g->capacity ? 2 * g->capacity : 64;
        char **grown = eh_grow(g->name, (size_t)g->capacity, (size_t)capacity, sizeof *grown);
        if (!grown) {
            g->failed = true;
            return 0;
        }
        g->name = grown;
        g->capacity = capacity;
    }
    if (name && !(g->name[g->values] = eh_utf8_copy(name))) g->failed = true;
    return g->values++;
}

enum { VALUE_NAME = 24 };
/* Generated names cannot be those of inputs: names of inputs do not begin with "enhope/". */
static const char *name_of(const eh_graph *g, eh_value v, char buffer[VALUE_NAME])
{
    if (v < g->values && g->name[v]) return g->name[v];
    snprintf(buffer, VALUE_NAME, "enhope/%d", v);
    return buffer;
}

static eh_bytes describe(const char *name, int type, int64_t columns)
{
    eh_bytes batch = {0}, width = {0}, shape = {0}, tensor = {0}, about = {0}, info = {0};
    put_text(&batch, DIM_NAME, "batch");
    put_message(&shape, SHAPE_DIM, &batch);
    put_int(&width, DIM_VALUE, columns);
    if (columns) put_message(&shape, SHAPE_DIM, &width);
    eh_bytes_free(&width);
    put_int(&tensor, TYPE_ELEMENT, type);
    put_message(&tensor, TYPE_SHAPE, &shape);
    put_message(&about, TYPE_TENSOR, &tensor);
    put_text(&info, INFO_NAME, name);
    put_message(&info, INFO_TYPE, &about);
    return info;
}

eh_value eh_graph_input(eh_graph *g, const char *name, int type, int64_t columns)
{
    char buffer[VALUE_NAME];
    const eh_value v = new_value(g, name);
    eh_bytes info = describe(name_of(g, v, buffer), type, columns);
    put_message(&g->input, GRAPH_INPUT, &info);
    return v;
}

void eh_graph_output(eh_graph *g, const char *name, int type, int64_t columns)
{
    eh_bytes info = describe(name, type, columns);
    put_message(&g->output, GRAPH_OUTPUT, &info);
}

/* ---- constants ---- */

/* Begins a tensor: its shape and type. */
static eh_bytes tensor_of(int type, int64_t rows, int64_t columns)
{
    eh_bytes tensor = {0};
    if (rows) put_int(&tensor, TENSOR_DIMS, rows);
    if (columns) put_int(&tensor, TENSOR_DIMS, columns);
    put_int(&tensor, TENSOR_TYPE, type);
    return tensor;
}

static eh_value add_tensor(eh_graph *g, eh_bytes *tensor)
{
    char buffer[VALUE_NAME];
    const eh_value v = new_value(g, NULL);
    put_text(tensor, TENSOR_NAME, name_of(g, v, buffer));
    put_message(&g->initializer, GRAPH_INITIALIZER, tensor);
    return v;
}

static eh_value add_raw(eh_graph *g, int type, const void *data, int64_t rows, int64_t columns, size_t size)
{
    eh_bytes tensor = tensor_of(type, rows, columns);
    put_bytes(&tensor, TENSOR_RAW, data, (size_t)(rows ? rows : 1) * (size_t)(columns ? columns : 1) * size);
    return add_tensor(g, &tensor);
}

eh_value eh_graph_floats(eh_graph *g, const float *data, int64_t rows, int64_t columns)
{
    return add_raw(g, EH_ONNX_FLOAT, data, rows, columns, sizeof *data);
}

eh_value eh_graph_float(eh_graph *g, float value)
{
    return add_raw(g, EH_ONNX_FLOAT, &value, 0, 0, sizeof value);
}

eh_value eh_graph_double(eh_graph *g, double value)
{
    return add_raw(g, EH_ONNX_DOUBLE, &value, 0, 0, sizeof value);
}

eh_value eh_graph_bytes(eh_graph *g, const uint8_t *data, int64_t rows, int64_t columns)
{
    return add_raw(g, EH_ONNX_UINT8, data, rows, columns, sizeof *data);
}

eh_value eh_graph_ints(eh_graph *g, const int64_t *data, int64_t rows, int64_t columns)
{
    return add_raw(g, EH_ONNX_INT64, data, rows, columns, sizeof *data);
}

/* Texts are UTF-8; other bytes are read as Latin-1, as in model files. */
static void put_utf8(eh_bytes *b, int field, const char *text)
{
    char *copy = eh_utf8_copy(text);
    if (copy) put_text(b, field, copy);
    b->failed |= !copy;
    eh_free(copy);
}

eh_value eh_graph_strings(eh_graph *g, char *const *text, int64_t count)
{
    eh_bytes tensor = tensor_of(EH_ONNX_STRING, 0, count);
    for (int64_t i = 0; i < count; i++) put_utf8(&tensor, TENSOR_STRING, text[i]);
    return add_tensor(g, &tensor);
}

/* ---- nodes ---- */

static eh_bytes attribute_of(const char *name, int type)
{
    eh_bytes a = {0};
    put_text(&a, ATTRIBUTE_NAME, name);
    put_int(&a, ATTRIBUTE_TYPE, type);
    return a;
}

void eh_graph_attribute(eh_graph *g, const char *name, int64_t value)
{
    eh_bytes a = attribute_of(name, ATTRIBUTE_INT);
    put_int(&a, ATTRIBUTE_I, value);
    put_message(&g->attribute, NODE_ATTRIBUTE, &a);
}

void eh_graph_attribute_ints(eh_graph *g, const char *name, const int64_t *value, int64_t count)
{
    eh_bytes a = attribute_of(name, ATTRIBUTE_INTS);
    for (int64_t i = 0; i < count; i++) put_int(&a, ATTRIBUTE_LIST_INTS, value[i]);
    put_message(&g->attribute, NODE_ATTRIBUTE, &a);
}

void eh_graph_attribute_strings(eh_graph *g, const char *name, char *const *value, int64_t count)
{
    eh_bytes a = attribute_of(name, ATTRIBUTE_STRINGS);
    for (int64_t i = 0; i < count; i++) put_utf8(&a, ATTRIBUTE_LIST_STRINGS, value[i]);
    put_message(&g->attribute, NODE_ATTRIBUTE, &a);
}

static eh_value add_node(eh_graph *g, const char *operator, int inputs, const eh_value *input, int results)
{
    char buffer[VALUE_NAME];
    eh_bytes node = {0};
    eh_value v = 0;
    for (int i = 0; i < inputs; i++) put_text(&node, NODE_INPUT, name_of(g, input[i], buffer));
    for (int i = 0; i < results; i++) {
        v = new_value(g, i == results - 1 ? g->result : NULL);
        put_text(&node, NODE_OUTPUT, name_of(g, v, buffer));
    }
    g->result = NULL;
    const bool ml = strncmp(operator, "ml.", 3) == 0;
    put_text(&node, NODE_OPERATOR, ml ? operator + 3 : operator);
    eh_bytes_add(&node, g->attribute.data, g->attribute.size);
    g->failed |= g->attribute.failed;
    eh_bytes_free(&g->attribute);
    if (ml) put_text(&node, NODE_DOMAIN, "ai.onnx.ml");
    g->ml |= ml;
    put_message(&g->node, GRAPH_NODE, &node);
    return v;
}

eh_value eh_graph_node(eh_graph *g, const char *operator, int inputs, const eh_value *input)
{
    return add_node(g, operator, inputs, input, 1);
}

eh_value eh_graph_node_second(eh_graph *g, const char *operator, int inputs, const eh_value *input)
{
    return add_node(g, operator, inputs, input, 2);
}

eh_value eh_graph_1(eh_graph *g, const char *operator, eh_value a)
{
    return add_node(g, operator, 1, &a, 1);
}

eh_value eh_graph_2(eh_graph *g, const char *operator, eh_value a, eh_value b)
{
    return add_node(g, operator, 2, (eh_value[]){a, b}, 1);
}

eh_value eh_graph_cast(eh_graph *g, eh_value a, int type)
{
    eh_graph_attribute(g, "to", type);
    return eh_graph_1(g, "Cast", a);
}

eh_value eh_graph_axis(eh_graph *g, const char *operator, eh_value a, int64_t axis)
{
    const eh_value axes = eh_graph_ints(g, &axis, 0, 1);
    return eh_graph_2(g, operator, a, axes);
}

eh_value eh_graph_reduce(eh_graph *g, const char *operator, eh_value a, int64_t axis, bool keep)
{
    if (strcmp(operator, "ReduceSum") == 0) {
        const eh_value axes = eh_graph_ints(g, &axis, 0, 1);
        eh_graph_attribute(g, "keepdims", keep);
        return eh_graph_2(g, operator, a, axes);
    }
    eh_graph_attribute_ints(g, "axes", &axis, 1);
    eh_graph_attribute(g, "keepdims", keep);
    return eh_graph_1(g, operator, a);
}

/* ---- the file ---- */

static void put_opset(eh_bytes *model, const char *domain, int version)
{
    eh_bytes set = {0};
    put_text(&set, OPSET_DOMAIN, domain);
    put_int(&set, OPSET_VERSION, version);
    put_message(model, MODEL_OPSET, &set);
}

void eh_graph_write(eh_graph *g, const char *name, const char *doc, const eh_onnx_text *text, int texts, eh_bytes *out)
{
    eh_bytes graph = {0};
    const eh_bytes *const parts[] = {&g->initializer, &g->input, &g->output};
    eh_bytes_add(&graph, g->node.data, g->node.size);
    put_text(&graph, GRAPH_NAME, name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) eh_bytes_add(&graph, parts[i]->data, parts[i]->size);
    put_int(out, MODEL_IR, IR_VERSION);
    put_text(out, MODEL_PRODUCER, "enhope");
    put_text(out, MODEL_PRODUCER_VERSION, enhope_version());
    put_utf8(out, MODEL_DOC, doc);
    put_message(out, MODEL_GRAPH, &graph);
    put_opset(out, "", OPSET);
    if (g->ml) put_opset(out, "ai.onnx.ml", OPSET_ML);
    for (int i = 0; i < texts; i++) {
        eh_bytes entry = {0};
        put_text(&entry, TEXT_KEY, text[i].name);
        put_utf8(&entry, TEXT_VALUE, text[i].value);
        put_message(out, MODEL_TEXT, &entry);
    }
    out->failed |= g->failed || g->node.failed || g->initializer.failed || g->input.failed || g->output.failed;
}
