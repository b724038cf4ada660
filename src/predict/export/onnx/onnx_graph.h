/* Builds an ONNX graph and writes it in the wire format of protocol buffers. The numbers of the
 * fields are those of onnx.proto.
 *
 * A value is the result of a node, a constant or an input of the graph. Attributes are set before
 * the node that they belong to. No expression creates two values in unspecified order, so that the
 * file does not depend on the compiler:
 *
 *   eh_graph_attribute(g, "axis", -1);
 *   label = eh_graph_node(g, "ArgMax", 1, (eh_value[]){proba}); */
#ifndef EH_ONNX_GRAPH_H
#define EH_ONNX_GRAPH_H

#include "predict/export/export.h"

enum { EH_ONNX_FLOAT = 1, EH_ONNX_UINT8 = 2, EH_ONNX_INT64 = 7, EH_ONNX_STRING = 8, EH_ONNX_DOUBLE = 11 };

typedef int eh_value;

typedef struct eh_graph {
    eh_bytes node, initializer, input, output;
    eh_bytes attribute; /* of the next node */
    char **name;        /* (values) of inputs and outputs; NULL: a generated one */
    int values, capacity;
    const char *result; /* name of the value of the next node; NULL: generated */
    bool ml;            /* the graph has an operator of ai.onnx.ml */
    bool failed;        /* memory was exhausted */
} eh_graph;

void eh_graph_free(eh_graph *g);
/* The inputs and outputs have the shape (batch, columns); (batch) if columns is 0. */
eh_value eh_graph_input(eh_graph *g, const char *name, int type, int64_t columns);
void eh_graph_output(eh_graph *g, const char *name, int type, int64_t columns);

/* Constants. A matrix of one row and no name of its own is a vector if rows is 0; columns 0: a
 * scalar. */
eh_value eh_graph_floats(eh_graph *g, const float *data, int64_t rows, int64_t columns);
eh_value eh_graph_float(eh_graph *g, float value);
eh_value eh_graph_double(eh_graph *g, double value);
eh_value eh_graph_bytes(eh_graph *g, const uint8_t *data, int64_t rows, int64_t columns);
eh_value eh_graph_ints(eh_graph *g, const int64_t *data, int64_t rows, int64_t columns);
eh_value eh_graph_strings(eh_graph *g, char *const *text, int64_t count);

void eh_graph_attribute(eh_graph *g, const char *name, int64_t value);
void eh_graph_attribute_ints(eh_graph *g, const char *name, const int64_t *value, int64_t count);
void eh_graph_attribute_strings(eh_graph *g, const char *name, char *const *value, int64_t count);
/* A node with one result. An operator whose name begins with "ml." belongs to ai.onnx.ml. */
eh_value eh_graph_node(eh_graph *g, const char *operator, int inputs, const eh_value *input);
/* A node with two results; returns the second. */
eh_value eh_graph_node_second(eh_graph *g, const char *operator, int inputs, const eh_value *input);
eh_value eh_graph_1(eh_graph *g, const char *operator, eh_value a);
eh_value eh_graph_2(eh_graph *g, const char *operator, eh_value a, eh_value b);
eh_value eh_graph_cast(eh_graph *g, eh_value a, int type);
/* "Unsqueeze" or "Squeeze": adds or removes an axis of size 1. */
eh_value eh_graph_axis(eh_graph *g, const char *operator, eh_value a, int64_t axis);
/* Reduces along one axis. ReduceSum has its axes as an input, ReduceMax as an attribute. */
eh_value eh_graph_reduce(eh_graph *g, const char *operator, eh_value a, int64_t axis, bool keep);

/* Text of the model beside its graph. */
typedef struct eh_onnx_text {
    const char *name, *value;
} eh_onnx_text;
/* Adds the whole file to out: opset 17 and, if used, ai.onnx.ml 3. */
void eh_graph_write(eh_graph *g, const char *name, const char *doc, const eh_onnx_text *text, int texts, eh_bytes *out);

#endif
