/* Internals of the predictor. */
#ifndef EH_PREDICTOR_H
#define EH_PREDICTOR_H

#include <stdatomic.h>

#include "data/data.h"
#include "predict/predict.h"

struct enhope_predictor {
    const enhope_model *model;
    const eh_engine *engine;
    void *state; /* of the engine */
    float *G;    /* (r, h) embedded references */
    int32_t asked_k, k;
    bool voted;    /* labels are votes of the k nearest references */
    bool searches; /* in many dimensions, by a pass; then there are no state, references and workspaces */
    int threads;
    int64_t cost; /* multiplications for a row */
    int64_t tile; /* rows of a workspace */
    size_t workspace;
    int workspaces;
    char *memory;      /* (workspaces, workspace) */
    atomic_bool *used; /* (workspaces) */
};

/* Predicts all rows of x, the inputs of the model. *bad: as in eh_pass_predict. */
enhope_status eh_predictor_rows(enhope_context *ctx, const enhope_predictor *p, const eh_matrix *x,
                                const enhope_prediction *out, double *seconds, int64_t *bad);

#endif
