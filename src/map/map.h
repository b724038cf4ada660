/* The maps y = f(x; theta): forward, backward, input gradient. A map never sees a label.
 *
 * All parameters live in one block theta, tensor after tensor in the order that tensor() lists them.
 */
#ifndef EH_MAP_H
#define EH_MAP_H

#include "compute/compute.h"

/* The rows that a map is applied to: first sparse rows of a placed table, then dense rows [x; 1]. A batch of dense data
 * has no sparse rows; exemplars are always dense and follow the batch. */
typedef struct eh_rows {
    const eh_table *sparse; /* rows sparse_rows[0..sparse_n) of it */
    const eh_row *sparse_rows;
    int64_t sparse_n;
    const eh_packed *X; /* (dense_n, H+1) */
    int64_t ld, dense_n;
} eh_rows;

/* The parts that rows are cut into for sums over them. A part's sums do not depend on the other parts, so that the gradient
 * is the same whoever makes them. */
typedef struct eh_map_chunks {
    int64_t count;
    const int64_t *start; /* (count + 1) the first row of each, the first of all being 0 */
    eh_real *dtheta;      /* part p's gradient is `apart` p numbers from here; 0: they are added up in their order */
    int64_t apart;
    void (*done)(void *user, int64_t chunk); /* told when a part's gradient has been made, in their order; or NULL */
    void *user;
} eh_map_chunks;

enum { EH_MAP_LAYERS = 8 }; /* of an mlp, at most */

typedef struct eh_map_shape {
    int64_t H, h;
    int64_t F, m;                 /* hope */
    int order;                    /* hope: O */
    int layers;                   /* mlp */
    int64_t width[EH_MAP_LAYERS]; /* (layers) mlp: units of each layer */
    bool relu;                    /* mlp: units are max(a, 0), else sigmoid(a) */
} eh_map_shape;

typedef struct eh_tensor {
    const char *name; /* "map.C" */
    int rank;
    int64_t shape[2];
} eh_tensor;

typedef struct eh_map {
    const char *name;
    bool sparse; /* takes sparse rows as they are */
    /* How many tensors theta has, and tensor i of them. */
    int (*tensors)(const eh_map_shape *s);
    eh_tensor (*tensor)(const eh_map_shape *s, int i);
    /* Numbers of workspace for n rows, -1 on overflow. keep: backward will follow, on what forward leaves there. */
    int64_t (*work)(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep);
    /* A start that suits the data: the first responses to the sample have mean square `response`. X (n, H+1) is a dense
     * sample of scaled rows, sample the same as operands, work for n rows to keep. theta is on the backend. */
    void (*init)(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                 const eh_packed *sample, int64_t ld, int64_t n, float *host /* (parameters) scratch */, eh_real *theta,
                 eh_real *work);
    /* Y (n, h), n = sparse_n + dense_n. */
    void (*forward)(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                    eh_real *Y, bool keep);
    /* After forward on the same theta, x and work, with keep. Sets the gradients of the parts; dX (dx_n, H) receives the
     * gradient of the last dx_n dense rows before the first part is done, or is NULL. */
    void (*backward)(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                     const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX);
} eh_map;

extern const eh_map eh_map_hope, eh_map_mlp, eh_map_linear, eh_map_identity;

/* NULL: no such map. */
const eh_map *eh_map_find(const char *name);
/* Numbers in theta; -1 on overflow. */
int64_t eh_map_parameters(const eh_map *map, const eh_map_shape *s);
/* Where tensor i begins in theta. */
int64_t eh_map_offset(const eh_map *map, const eh_map_shape *s, int i);

/* Layers from "500-500-2000" into the shape; false: it is no such text. And back. */
bool eh_map_layers_parse(const char *text, eh_map_shape *s);
void eh_map_layers_print(const eh_map_shape *s, char *text, size_t size);

/* first.c: the product with the inputs that every map begins with. */
/* The deviation of random weights whose responses to the rows of X have mean square `response`. */
double eh_first_deviation(eh_compute *c, double response, const eh_real *X, int64_t ld, int64_t n, int64_t H);
/* U (n, F) = X' C and S = U^order, for C (H+1, F), given as numbers and as operands. S NULL: U alone, no order is asked.
 * Without keep U is room for sparse rows only and is left undefined. */
void eh_first_forward(eh_compute *c, const eh_rows *x, int64_t H, const eh_real *C, const eh_packed *C_packed,
                      int64_t F, int order, eh_real *U, eh_packed *S, bool keep);
/* C is what dtheta begins with. Ends the parts. */
void eh_first_backward(eh_compute *c, const eh_rows *x, int64_t H, const eh_packed *C_packed, int64_t F,
                       const eh_packed *dU, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX);

/* One part: its rows, where its gradient has tensor `offset`, and whether that is to be added to. */
static inline int64_t eh_map_chunk_rows(const eh_map_chunks *p, int64_t chunk)
{
    return p->start[chunk + 1] - p->start[chunk];
}
static inline eh_real *eh_map_chunk_gradient(const eh_compute *c, const eh_map_chunks *p, int64_t chunk, int64_t offset)
{
    return eh_at(c, p->dtheta, chunk * p->apart + offset);
}
static inline bool eh_map_chunk_adds(const eh_map_chunks *p, int64_t chunk)
{
    return chunk > 0 && !p->apart;
}

/* map.c: workspaces. */
/* Numbers of room that `count` elements of `size` bytes take, up to a whole cache line; -1 on overflow. */
int64_t eh_map_size(const eh_compute *c, int64_t count, size_t size);
/* A matrix (rows, columns) as operands: the matrix itself where operands are numbers, else room (eh_map_packed_size
 * numbers of it), which `fresh` fills. */
const eh_packed *eh_map_packed(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *packed,
                               bool fresh);
int64_t eh_map_packed_size(const eh_compute *c, int64_t count);

#endif
