/* From neighbours to classes: votes and probabilities. */
#ifndef EH_CLASSIFY_H
#define EH_CLASSIFY_H

#include "compute/compute.h"

/* What embedded points are compared with, on the backend. */
typedef struct eh_references {
    const eh_real *G;      /* (r, h) */
    const eh_label *label; /* (r) */
    int64_t r, h;
} eh_references;

/* Room for the k nearest references of n points, and their vote. */
typedef struct eh_found {
    eh_compute *cp;
    int64_t k;
    eh_row *index;        /* (n, k) on the backend, like the next two */
    eh_real *distance;    /* (n, k) squared */
    eh_label *label;      /* (n), where labels are asked for */
    int64_t *host_index;  /* (n, k), where winners, neighbours or shares are asked for */
    float *host_distance; /* (n, k), where distances are */
} eh_found;

/* What may be asked for, on the host; each may be NULL. */
typedef struct eh_classes {
    int32_t *label;            /* (n) */
    int64_t *winner;           /* (n) the nearest reference */
    float *distance;           /* (n) its Euclidean distance */
    float *shares;             /* (n, c) of the votes */
    int64_t *neighbour;        /* (n, k) all of them */
    float *neighbour_distance; /* (n, k) their Euclidean distances */
} eh_classes;

/* What `wanted` has pointers for will be asked for. */
enhope_status eh_found_create(enhope_context *ctx, eh_compute *cp, int64_t n, int64_t k, const eh_classes *wanted,
                              eh_found *out);
void eh_found_free(eh_found *f);
/* Classifies Y (n, h) on the backend: f's points first .. first + n. Waits for nothing. */
void eh_classify(eh_found *f, const eh_references *ref, const eh_real *Y, int64_t n, int64_t first);
/* The first n points of f to the host. reference_label (r) and c: for shares. Fails as sync() does. */
enhope_status eh_classify_fetch(eh_found *f, enhope_context *ctx, int64_t n, const int32_t *reference_label, int32_t c,
                                const eh_classes *out);
/* What embedded points are compared with, on the host, where probabilities are made. */
typedef struct eh_host_references {
    const float *G;       /* (r, h) */
    const int32_t *label; /* (r) 0..c-1 */
    int64_t r, h;
    int32_t c;
    bool gaussian; /* else student: compute/similarity.h */
    int dof;       /* of the student similarity; 0 counts as 1 */
} eh_host_references;

/* L (c): the logarithm of each class's summed similarity to y (h), -infinity for a class without references; NaN where y
 * is not finite. scratch: (c). */
void eh_log_similarities(const eh_host_references *ref, const float *y, double *scratch, double *L);
/* proba (n, c): the classes' shares in the similarity to each row of Y (n, h), to the power 1/temperature, over their sum.
 * scratch: (2 c). A point that is not finite gets equal shares. */
void eh_probabilities(const eh_host_references *ref, double temperature, const float *Y, int64_t n, double *scratch,
                      float *proba);
/* margin (n): distance to the nearest reference of another class than label (n) says, less that to the nearest of that
 * class; infinite where there is no other. */
void eh_margins(const eh_host_references *ref, const float *Y, int64_t n, const int32_t *label, float *margin);
enum { EH_NEIGHBOURS = 5 }; /* that vote, where there are enough */
/* Neighbours that vote by default among references grouped by class: 5 (r, where there are fewer); 1 where no class has
 * two references, or where a class might be outvoted on its own ground for want of them. */
int32_t eh_default_neighbours(const int32_t *label, int64_t r);

#endif
