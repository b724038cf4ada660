/* The values that the weights of a compressed matrix may have. */
#ifndef EH_GRID_H
#define EH_GRID_H

#include "train/compress/weights.h"

enum { EH_GRID_LEVELS = 254 };

/* Weight (k, j) is 0 or level * scale_j / fold_k with one of the levels. */
typedef struct eh_grid {
    const eh_weight_matrix *matrix;
    float *fold;                  /* (rows) set by the caller after eh_grid_create; all 1 at first */
    float *scale;                 /* (columns) */
    int8_t level[EH_GRID_LEVELS]; /* ascending, not 0 */
    int levels;
} eh_grid;

enhope_status eh_grid_create(enhope_context *ctx, const eh_weight_matrix *matrix, eh_grid *out);
void eh_grid_free(eh_grid *g);
/* Chooses scale and 2^bits levels at most for the weights. */
enhope_status eh_grid_fit(eh_grid *g, const eh_weights *w, int bits);
/* The level of a weight that is not 0. */
int8_t eh_grid_nearest(const eh_grid *g, int64_t k, int64_t j, float weight);
float eh_grid_value(const eh_grid *g, int64_t k, int64_t j, int8_t level);
/* Moves the share `part` of the weights of each matrix to the grid, those of largest saliency
 * first, and freezes them. */
enhope_status eh_grid_apply(const eh_grid *g, eh_weights *w, double part);

/* The nearest number with a mantissa of eight bits. */
float eh_bfloat16(float x);

#endif
