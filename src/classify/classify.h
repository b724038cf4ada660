/* Classification by neighbors: votes, probabilities and margins. */
#ifndef EH_CLASSIFY_H
#define EH_CLASSIFY_H

#include "compute/compute.h"

/* The labeled points that embedded points are compared with, on the backend. */
typedef struct eh_references {
    const eh_real *G;      /* (r, h) */
    const eh_label *label; /* (r) */
    int64_t r, h;
    const eh_similarity *similarity; /* classes are chosen by the sum of this similarity; NULL: by votes */
} eh_references;

/* The k nearest references of n points, and their classes. */
typedef struct eh_knn_result {
    eh_compute *cp;
    int64_t k;
    eh_row *index;        /* (n, k) on the backend, as are the next two */
    eh_real *distance;    /* (n, k) squared */
    eh_label *label;      /* (n), if labels are requested */
    int64_t *host_index;  /* (n, k), if winners, neighbors or shares are requested */
    float *host_distance; /* (n, k), if distances are requested */
} eh_knn_result;

/* Requested results, on the host; NULL: not requested. */
typedef struct eh_predictions {
    int32_t *label;            /* (n) */
    int64_t *winner;           /* (n) the nearest reference */
    float *distance;           /* (n) its Euclidean distance */
    float *shares;             /* (n, c) shares of the votes */
    int64_t *neighbour;        /* (n, k) the nearest references */
    float *neighbour_distance; /* (n, k) their Euclidean distances */
} eh_predictions;

/* Allocates for the results that have a pointer in `wanted`. */
enhope_status eh_knn_create(enhope_context *ctx, eh_compute *cp, int64_t n, int64_t k, const eh_predictions *wanted,
                            eh_knn_result *out);
void eh_knn_free(eh_knn_result *f);
/* Classifies Y (n, h) on the backend into rows first .. first + n of f. Does not wait. */
void eh_classify(eh_knn_result *f, const eh_references *ref, const eh_real *Y, int64_t n, int64_t first);
/* Copies the first n points to the host and fills `out`. reference_label (r) and c are needed for
 * shares. Fails if sync() fails. */
enhope_status eh_classify_fetch(eh_knn_result *f, enhope_context *ctx, int64_t n, const int32_t *reference_label,
                                int32_t c, const eh_predictions *out);
/* The labeled points that embedded points are compared with, on the host, for probabilities. */
typedef struct eh_host_references {
    const float *G;       /* (r, h) */
    const int32_t *label; /* (r) 0..c-1 */
    int64_t r, h;
    int32_t c;
    bool gaussian; /* false: Student; see compute/similarity.h */
    int dof;       /* degrees of freedom of the Student similarity; 0 means 1 */
} eh_host_references;

/* L (c): logarithm of the summed similarity of y (h) to the references of each class; -infinity for
 * a class without references, NaN if y is not finite. scratch: (c). */
void eh_log_similarities(const eh_host_references *ref, const float *y, double *scratch, double *L);
/* proba (n, c): for each row of Y (n, h), the class similarities to the power 1/temperature,
 * divided by their sum. scratch: (2 c). A point that is not finite gets equal probabilities. */
void eh_probabilities(const eh_host_references *ref, double temperature, const float *Y, int64_t n, double *scratch,
                      float *proba);
/* label (n): the class of the largest of proba (n, c); the first of equal ones. */
void eh_argmax(const float *proba, int64_t n, int32_t c, int32_t *label);
/* The same as eh_probabilities and eh_argmax, without logarithms unless classes are almost equal.
 * scratch: (EH_DECISION_SCRATCH(c)). */
void eh_classify_rows(const eh_host_references *ref, double temperature, const float *Y, int64_t n, double *scratch,
                      int32_t *label);
#define EH_DECISION_SCRATCH(c) (3 * (int64_t)(c))
/* margin (n): distance to the nearest reference of any class but label (n), minus the distance to
 * the nearest reference of that class; infinite if there is no other class. */
void eh_margins(const eh_host_references *ref, const float *Y, int64_t n, const int32_t *label, float *margin);
enum { EH_NEIGHBORS = 5 }; /* default number of voting neighbors */
/* Default number of voting neighbors among references that are grouped by class: 5, or r if r is
 * smaller. It is 1 if no class has two references, or if a small class could be outvoted at its own
 * references. */
int32_t eh_default_neighbors(const int32_t *label, int64_t r);

#endif
