/* Engines: each maps rows to their embedding with one arithmetic, such as float32. */
#ifndef EH_ENGINE_H
#define EH_ENGINE_H

#include "model/model.h"

typedef struct eh_engine {
    const char *name; /* "float32", "int8" */
    /* Packs the weights of a model, which must outlive the state. Fails with a message if the
     * engine cannot compute the model's map. */
    enhope_status (*create)(enhope_context *ctx, const enhope_model *model, void **state);
    void (*free)(void *state); /* accepts NULL */
    /* Bytes of scratch memory for a tile of `rows` rows. It is aligned to 64 bytes. */
    size_t (*scratch)(const void *state, int64_t rows);
    /* Computes Y (n, h) of the rows first .. first + n of x, which are not scaled; n is at most the
     * rows of the scratch memory. The bits of a row do not depend on the other rows. The caller has
     * checked the columns of sparse rows. Returns false if a value is not finite. Denormal numbers
     * are flushed to zero. Called by any number of threads at a time, each with its own scratch
     * memory. */
    bool (*embed)(const void *state, const eh_matrix *x, int64_t first, int64_t n, void *scratch, float *Y);
} eh_engine;

extern const eh_engine eh_engine_float, eh_engine_int8;

/* Finds the engine of a precision; NULL: the default of the model. Fails with a message if there is
 * none (predict.c). */
enhope_status eh_engine_find(enhope_context *ctx, const enhope_model *model, const char *precision,
                             const eh_engine **out);

/* The smallest multiple of a cache line that is at least `bytes`. */
static inline size_t eh_engine_lines(size_t bytes)
{
    enum { LINE = 64 };
    return (bytes + LINE - 1) / LINE * LINE;
}

#endif
