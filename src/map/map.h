/* The maps y = f(x; theta): forward, backward, gradient of the inputs. A map never reads labels.
 *
 * All parameters are in one block theta, tensor after tensor in the order of tensor(). */
#ifndef EH_MAP_H
#define EH_MAP_H

#include "compute/compute.h"

/* The rows that a map is applied to: first sparse rows of a table, then dense rows [x; 1]. A
 * batch of dense data has no sparse rows. Exemplars are always dense and follow the batch. */
typedef struct eh_rows {
    const eh_table *sparse; /* rows sparse_rows[0..sparse_n) of it */
    const eh_row *sparse_rows;
    int64_t sparse_n;
    const eh_packed *X; /* (dense_n, H+1) */
    int64_t ld, dense_n;
} eh_rows;

/* The chunks of rows whose gradients backward() computes. The sums of a chunk do not depend on
 * the other chunks, so the gradient is the same whichever rank computes them. */
typedef struct eh_map_chunks {
    int64_t count;
    const int64_t *start; /* (count + 1) the first row of each chunk; start[0] = 0 */
    eh_real *dtheta;      /* the gradient of chunk p is at p * apart; apart 0: chunks are added in order */
    int64_t apart;
    void (*done)(void *user, int64_t chunk); /* called after the gradient of each chunk, in order; or NULL */
    void *user;
} eh_map_chunks;

enum { EH_MAP_LAYERS = 8 }; /* largest number of layers of an mlp */

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
    bool sparse; /* accepts sparse rows directly */
    /* The number of tensors in theta, and tensor i. */
    int (*tensors)(const eh_map_shape *s);
    eh_tensor (*tensor)(const eh_map_shape *s, int i);
    /* Size of the workspace for n rows in scalars, -1 on overflow. keep: backward() follows and
     * reads what forward() stored. */
    int64_t (*work)(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep);
    /* Sets initial parameters that suit the data: the first responses to the sample have mean
     * square `response`. X (n, H+1) is a dense sample of scaled rows, `sample` the same rows in
     * packed format, work a workspace for n rows with keep. theta is in the backend's memory. */
    void (*init)(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                 const eh_packed *sample, int64_t ld, int64_t n, float *host /* (parameters) scratch */, eh_real *theta,
                 eh_real *work);
    /* Computes Y (n, h), n = sparse_n + dense_n. */
    void (*forward)(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                    eh_real *Y, bool keep);
    /* Follows forward() with keep on the same theta, x and work. Computes the gradients of the
     * chunks. dX (dx_n, H) receives the gradient of the last dx_n dense rows before the first
     * chunk is done, or is NULL. */
    void (*backward)(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                     const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX);
} eh_map;

extern const eh_map eh_map_hope, eh_map_mlp, eh_map_linear, eh_map_identity;

/* Returns NULL if there is no such map. */
const eh_map *eh_map_find(const char *name);
/* Number of scalars in theta; -1 on overflow. */
int64_t eh_map_parameters(const eh_map *map, const eh_map_shape *s);
/* Offset of tensor i in theta. */
int64_t eh_map_offset(const eh_map *map, const eh_map_shape *s, int i);

/* Reads layer sizes such as "500-500-2000" into the shape. Returns false if the text is invalid.
 * print() is the inverse. */
bool eh_map_layers_parse(const char *text, eh_map_shape *s);
void eh_map_layers_print(const eh_map_shape *s, char *text, size_t size);

/* first.c: the product of the inputs with the first matrix of every map. */
/* The standard deviation of random weights whose responses to the rows of X have mean square
 * `response`. */
double eh_first_deviation(eh_compute *c, double response, const eh_real *X, int64_t ld, int64_t n, int64_t H);
/* Computes U (n, F) = X' C and S = U^order for C (H+1, F) as scalars and in packed format. S
 * NULL: computes U only and ignores order. Without keep, U is scratch for sparse rows and
 * undefined afterwards. */
void eh_first_forward(eh_compute *c, const eh_rows *x, int64_t H, const eh_real *C, const eh_packed *C_packed,
                      int64_t F, int order, eh_real *U, eh_packed *S, bool keep);
/* Computes dC, the first tensor of dtheta, and reports each chunk as done. */
void eh_first_backward(eh_compute *c, const eh_rows *x, int64_t H, const eh_packed *C_packed, int64_t F,
                       const eh_packed *dU, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX);

/* One chunk: its number of rows, the address of its gradient from `offset` on, and whether the
 * gradient is added to. */
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
/* Number of scalars that hold `count` elements of `size` bytes, rounded up to whole cache lines;
 * -1 on overflow. */
int64_t eh_map_size(const eh_compute *c, int64_t count, size_t size);
/* A matrix (rows, columns) in packed format: the matrix itself if packed_is_real, else `packed`
 * (of eh_map_packed_size scalars), which is filled if `fresh`. */
const eh_packed *eh_map_packed(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *packed,
                               bool fresh);
int64_t eh_map_packed_size(const eh_compute *c, int64_t count);

#endif
