/* Compression of a trained model (docs/guides/small.md): a training that prunes weights,
 * rounds them to a few levels and freezes them, step by step, while the others adapt.
 *
 * compress.c has the schedule, weights.h the weights, pack.c turns them into a model of the stored
 * form. */
#ifndef EH_COMPRESS_H
#define EH_COMPRESS_H

#include "model/quantized.h"
#include "train/compress/grid.h"

typedef struct eh_compressor {
    enhope_context *ctx;
    enhope_compress_options limit;
    enhope_trainer *t;
    eh_weights w;
    eh_grid grid[EH_WEIGHTS_MATRICES];
    eh_provenance *provenance;
    eh_quantized *ranges; /* of inputs and powers, of the last calibration */
    int bits;             /* of a level */
    float exemplar_step;  /* exemplars are multiples of it; 0: not rounded yet */
    int64_t keep;         /* weights that are left at the end of pruning */
    int64_t factors;      /* factors and hidden units that are left */
    int64_t hidden;
    int stage; /* steps of rounding that are done */
} eh_compressor;

/* ---- pack.c ---- */

/* Measures the ranges of the current weights and uses them for the grids. */
enhope_status eh_compress_calibrate(eh_compressor *c);
/* Rounds the exemplars to multiples of the largest step that hardly changes the error, and freezes
 * them. Sends the weights to the backend. */
enhope_status eh_compress_exemplars(eh_compressor *c);
/* A model in its stored form of the weights of c->w. Weights that are not on the grid are rounded
 * to it. */
enhope_status eh_compress_pack(eh_compressor *c, enhope_model **out);
/* Bytes of the file of such a model if all but `keep` weights are pruned. Changes nothing. */
enhope_status eh_compress_bytes(eh_compressor *c, int64_t keep, int64_t *bytes);
/* Errors of a model in the validation part of the trainer, in its own arithmetic. */
enhope_status eh_compress_errors(eh_compressor *c, const enhope_model *model, int64_t *errors);

#endif
