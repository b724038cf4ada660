/* Applies a map to placed rows, block by block, for training, validation and prediction.
 *
 * An embedder has the data table, the workspace of the map, the embedded references and the
 * search for the nearest of them. Each call receives the parameters, because training has
 * several states. Memory is allocated at the start; later calls allocate none. */
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
    bool sparse;               /* sparse rows enter the map without a dense copy */
    int64_t capacity;          /* rows of a block */
    int64_t ld;                /* of X, at least H + 1 */
    int64_t dense;             /* rows of X */
    eh_packed *X;              /* (dense, ld) rows [x; 1], the input of the map */
    eh_real *work;             /* of the map */
    eh_real *Y;                /* (embedded, h or more) */
    int64_t r;                 /* references */
    eh_real *G;                /* (r or more, h) the embedded references */
    eh_label *reference_label; /* (r) */
    bool votes;                /* classes are votes of the nearest references; else the most similar class */
    eh_similarity similarity;  /* for the most similar class */
    eh_knn_result nearest;     /* neighbors of embedded rows, after eh_embedder_search */
    int32_t *prediction;       /* (capacity) their classes, if errors are counted; otherwise NULL */
} eh_embedder;

typedef struct eh_embedder_sizes {
    int64_t capacity;            /* rows of a block */
    int64_t behind;              /* dense rows that may follow a block in one pass through the map: exemplars */
    int64_t dense;               /* rows of X */
    int64_t embedded, outputs;   /* rows and columns of Y; outputs 0: h */
    int64_t references;          /* 0: none */
    int64_t embedded_references; /* rows of G, at least `references` */
    bool keep;                   /* backward passes follow forward passes */
} eh_embedder_sizes;

/* The leading dimension of rows [x; 1] of H inputs. Rows start at cache lines. */
int64_t eh_embedder_stride(int64_t H);

/* Creates an embedder without data or memory. A zeroed one may be freed as well. */
void eh_embedder_init(eh_embedder *e, enhope_context *ctx, eh_compute *cp, const eh_map *map,
                      const eh_map_shape *shape);
/* Places the data, as eh_compute_ops.place does. */
enhope_status eh_embedder_place(eh_embedder *e, const eh_matrix *x, const int32_t *label, const float *shift,
                                const float *mul);
enhope_status eh_embedder_allocate(eh_embedder *e, const eh_embedder_sizes *sizes);
/* Allocates memory to find the k nearest references of n embedded rows, and for the outputs that
 * `wanted` has pointers for. wanted NULL: memory to count errors; n is the capacity. */
enhope_status eh_embedder_search(eh_embedder *e, int64_t n, int64_t k, const eh_predictions *wanted);
void eh_embedder_free(eh_embedder *e);

/* Returns the rows as input of a map. Dense rows are gathered into X, and augmented unless
 * `with` is NULL. n <= dense. */
eh_rows eh_embedder_gather(eh_embedder *e, const eh_row *rows, int64_t n, const eh_augment *with);
/* Y (count, h): embeds any number of rows, a block at a time. */
void eh_embedder_embed(eh_embedder *e, const eh_real *theta, const eh_row *rows, int64_t count, eh_real *Y);
/* Embeds the exemplars E (count, H) as references first .. first + count. count <= dense. */
void eh_embedder_exemplars(eh_embedder *e, const eh_real *theta, const eh_real *E, int64_t first, int64_t count);
/* The embedded references, for eh_classify. */
eh_references eh_embedder_references(const eh_embedder *e);
/* Counts the rows whose class (table.label) differs from the majority of the nearest references.
 * placed, rows: the same n row numbers on the backend and on the host. weight (n): what each row
 * counts; NULL: 1. */
enhope_status eh_embedder_errors(eh_embedder *e, const eh_real *theta, const eh_row *placed, const int64_t *rows,
                                 int64_t n, const int64_t *weight, int64_t *errors);

#endif
