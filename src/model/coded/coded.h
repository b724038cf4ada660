/* Tensors of compressed model files (format version 4) in smaller forms
 * (docs/reference/model-format.md).
 *
 *   F32 (n)       one number for all n, or BF16 if that is exact
 *   F32 (r, c)    BF16 if that is exact; exemplars: a step, and codes (codes.h) of whole multiples
 *   I8  (r, c)    codes
 */
#ifndef EH_CODED_H
#define EH_CODED_H

#include "model/coded/codes.h"
#include "model/safetensors.h"

/* Whether a file is of this version. */
bool eh_coded_file(const eh_safetensors *st);

/* As eh_safetensors_expect; smaller forms are accepted in a file of this version. */
enhope_status eh_coded_expect(enhope_context *ctx, const eh_safetensors *st, const eh_st_tensor *want,
                              const eh_st_tensor **out);
/* Reads a tensor that eh_coded_expect has found for `want` in its full form; a failure if a float
 * is not finite. width: of the image that a column of codes shows; 0: none. */
enhope_status eh_coded_read(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *found,
                            const eh_st_tensor *want, int64_t width, void *to);

/* The step of a float matrix that is stored as codes. Fails if it is stored otherwise. */
enhope_status eh_coded_step(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *found, float *step);

/* How a tensor is made smaller. */
typedef struct eh_coded_tensor {
    int64_t width; /* as above */
    float step;    /* of a float matrix that is stored as codes; 0: it is not */
} eh_coded_tensor;
/* Replaces a tensor by its smallest form. *memory: its data, which the caller frees; NULL: the data
 * of the tensor itself. */
enhope_status eh_coded_shrink(enhope_context *ctx, const eh_coded_tensor *how, eh_st_tensor *tensor, void **memory);

#endif
