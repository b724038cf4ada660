/* The weights of a trainer that compression changes: C without its bias row, and W of a hope map.
 *
 * Compression works on a copy on the host, between epochs: it sets weights to 0 (prune.c) or to
 * values of a grid (grid.c) and freezes them. push() sends the weights back with a mask, so that
 * training changes the others only. */
#ifndef EH_WEIGHTS_H
#define EH_WEIGHTS_H

#include "train/trainer.h"

enum { EH_WEIGHTS_C, EH_WEIGHTS_W, EH_WEIGHTS_MATRICES };

typedef struct eh_weight_matrix {
    int64_t rows, columns;
    int64_t at; /* of the first weight in theta */
} eh_weight_matrix;

typedef struct eh_weights {
    enhope_trainer *t;
    eh_weight_matrix matrix[EH_WEIGHTS_MATRICES];
    int64_t count; /* of both matrices */
    float *theta;  /* (parameters.count) */
    float *square; /* (parameters.trained) running mean of the squared gradient */
    float *mask;   /* (parameters.trained) 1, or 0 for frozen parameters */
} eh_weights;

/* The trainer has a hope map and the solver adam. */
enhope_status eh_weights_create(enhope_trainer *t, eh_weights *out);
void eh_weights_free(eh_weights *w);
/* Reads theta and the squared gradients from the backend. */
enhope_status eh_weights_pull(eh_weights *w);
/* Sends theta and mask to the backend. Frozen parameters lose their momentum. */
enhope_status eh_weights_push(eh_weights *w);

/* ---- prune.c ---- */

/* Weights that are not 0. */
int64_t eh_prune_alive(const eh_weights *w);
/* Sets all but the `keep` weights of largest saliency to 0 and freezes them. The saliency of a
 * weight is weight^2 times its mean squared gradient, an estimate of the change of the loss if the
 * weight becomes 0 (LeCun et al. 1990), which does not depend on the scale of a factor. */
enhope_status eh_prune_weights(eh_weights *w, int64_t keep);
/* The same with all weights of factors and hidden units, except so many of each. The saliency of a
 * unit is the sum over its weights in W. */
enhope_status eh_prune_units(eh_weights *w, int64_t factors, int64_t hidden);

#endif
