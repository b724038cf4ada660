/* Neighbor graphs in host memory: approximate nearest neighbors of all rows of a matrix, and labels
 * that spread over the links of a graph. */
#ifndef EH_GRAPH_SEARCH_H
#define EH_GRAPH_SEARCH_H

#include "base/base.h"

typedef struct eh_graph_search {
    const float *Z; /* (n, dims) */
    int64_t n, dims;
    int64_t k; /* neighbors of each row, at most n - 1 */
    uint64_t seed;
    int threads;
} eh_graph_search;

/* Sets index (n, k) to other rows that are near each row, nearest first. Nearly all of them are the
 * nearest ones. The result does not depend on the number of threads. Memory is linear in n. */
enhope_status eh_graph_search_run(enhope_context *ctx, const eh_graph_search *s, int32_t *index);

/* ---- graph_spread.c ---- */

typedef struct eh_graph_labels {
    int64_t n, k;
    const int32_t *neighbor; /* (n, k) other samples */
    const int32_t *label;    /* (n) classes; -1: none */
    int32_t classes;
    int threads;
} eh_graph_labels;

/* Sets to (n) to the class whose labels are best connected with each sample; -1: no label is within
 * 60 links. The result does not depend on the number of threads. */
enhope_status eh_graph_spread(enhope_context *ctx, const eh_graph_labels *g, int32_t *to);

/* ---- projection_tree.c ---- */

/* A tree of the rows, divided by random planes until at most `leaf` rows are left: leaf i has the
 * rows order[start[i]] to order[start[i + 1] - 1]. Rows of a leaf are near each other. */
typedef struct eh_projection_tree {
    int32_t *order; /* (n) */
    int64_t *start; /* (leaves + 1) */
    int64_t leaves;
    /* memory of the division */
    int32_t *moved; /* (n) */
    bool *side;     /* (n) */
    int64_t *next;  /* (n + 1) */
} eh_projection_tree;

enhope_status eh_projection_tree_create(enhope_context *ctx, int64_t n, eh_projection_tree *t);
/* Divides all rows anew. Trees of different numbers are independent. */
void eh_projection_tree_build(const eh_graph_search *s, int number, int64_t leaf, eh_projection_tree *t);
void eh_projection_tree_free(eh_projection_tree *t);

#endif
