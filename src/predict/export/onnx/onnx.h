/* The stages of the ONNX graph of a model. A value has a row for each row of the batch. */
#ifndef EH_ONNX_H
#define EH_ONNX_H

#include "predict/export/onnx/onnx_graph.h"

/* Inputs of the graph -> (batch, H) encoded inputs, before scaling (onnx_columns.c). */
enhope_status eh_onnx_inputs(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value *x);
/* (batch, H) encoded inputs -> (batch, h) "embedding" (onnx_map.c). */
eh_value eh_onnx_map(const eh_export *e, eh_graph *g, eh_value x);
/* (batch, h) -> "probabilities" (batch, c) and the outputs of the graph (onnx_classify.c). */
enhope_status eh_onnx_classify(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value y);

#endif
