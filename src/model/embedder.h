/* A map applied to placed rows, block by block: what training, its validation and prediction share.
 *
 * An embedder has the data table, the workspace of the map, the embedded references and the search for the nearest of
 * them. Parameters are passed to each call, because training holds several states. Memory is allocated at the start; no
 * call allocates. */
#ifndef EH_EMBEDDER_H
#define EH_EMBEDDER_H

#include "classify/classify.h"
#include "map/map.h"

typedef struct eh_embedder {
    enhope_context *ctx;
    eh_compute *cp; /* borrowed */
    const eh_map *map;
    eh_map_shape shape;
    eh_table table; /* the data, once placed */
    bool placed;
    bool sparse;               /* rows of the table enter the map as sparse rows */
    int64_t capacity;          /* rows of a block */
    int64_t ld;                /* of X, at least H + 1 */
    int64_t dense;             /* rows of X */
    eh_packed *X;              /* (dense, ld) rows [x; 1] on their way into the map */
    eh_real *work;             /* of the map */
    eh_real *Y;                /* (embedded, h) */
    int64_t r;                 /* references */
    eh_real *G;                /* (r or more, h) the embedded references */
    eh_label *reference_label; /* (r) */
    eh_knn_result nearest;     /* of embedded rows, once eh_embedder_search was called */
    int32_t *guess;            /* (capacity) their classes, if errors are counted; else NULL */
} eh_embedder;

typedef struct eh_embedder_sizes {
    int64_t capacity;            /* rows of a block */
    int64_t behind;              /* dense rows that may follow a block in one pass through the map: exemplars */
    int64_t dense;               /* rows of X */
    int64_t embedded;            /* rows of Y */
    int64_t references;          /* 0: none */
    int64_t embedded_references; /* rows of G, at least `references` */
    bool keep;                   /* backward passes follow forward passes */
} eh_embedder_sizes;

/* The leading dimension of rows [x; 1] of H inputs: rows begin on a cache line. */
int64_t eh_embedder_stride(int64_t H);

/* An embedder without data or memory; a zeroed one may be freed as well. */
void eh_embedder_init(eh_embedder *e, enhope_context *ctx, eh_compute *cp, const eh_map *map,
                      const eh_map_shape *shape);
/* Places the data: as eh_compute_ops.place does. */
enhope_status eh_embedder_place(eh_embedder *e, const eh_matrix *x, const int32_t *label, const float *shift,
                                const float *mul);
enhope_status eh_embedder_allocate(eh_embedder *e, const eh_embedder_sizes *sizes);
/* Memory to find the k nearest references of n embedded rows, and what `wanted` has pointers for; NULL: to count errors,
 * then n is the capacity. */
enhope_status eh_embedder_search(eh_embedder *e, int64_t n, int64_t k, const eh_predictions *wanted);
void eh_embedder_free(eh_embedder *e);

/* The rows as a map takes them; dense ones are gathered into X, augmented unless `with` is NULL. n <= dense. */
eh_rows eh_embedder_gather(eh_embedder *e, const eh_row *rows, int64_t n, const eh_augment *with);
/* Y (count, h) of any number of rows, a block at a time. */
void eh_embedder_embed(eh_embedder *e, const eh_real *theta, const eh_row *rows, int64_t count, eh_real *Y);
/* References first .. first + count are the exemplars E (count, H), embedded. count <= dense. */
void eh_embedder_exemplars(eh_embedder *e, const eh_real *theta, const eh_real *E, int64_t first, int64_t count);
/* The embedded references, for eh_classify. */
eh_references eh_embedder_references(const eh_embedder *e);
/* Counts those of n rows whose class (table.label) is not that of the vote among the nearest references. placed and rows:
 * the same row numbers on the backend and on the host. */
enhope_status eh_embedder_errors(eh_embedder *e, const eh_real *theta, const eh_row *placed, const int64_t *rows,
                                 int64_t n, int64_t *errors);

#endif
