/* Solvers for linear maps: eigenvectors (pca), locality preserving projections (lpp), and the
 * metric of mcml.
 *
 * A solver reads samples that are placed on a backend and writes the parameters theta (H+1, h)
 * of a linear map there. */
#ifndef EH_SOLVE_H
#define EH_SOLVE_H

#include "compute/compute.h"

/* The input of a solver. */
typedef struct eh_solve_data {
    enhope_context *ctx;
    eh_compute *cp;
    const eh_table *table;     /* the samples with their labels */
    const int64_t *rows;       /* (n) rows of the table, in a seeded order */
    const eh_row *placed_rows; /* the same on the backend */
    int64_t n, H, h;
    int32_t classes;
    int64_t block, ld;        /* rows computed at a time; leading dimension of such a block */
    const char *method;       /* its name, for messages */
    bool (*stop)(void *user); /* checked in long computations */
    void *user;
} eh_solve_data;

/* The class of sample i. */
static inline int32_t eh_solve_label(const eh_solve_data *d, int64_t i)
{
    return d->table->label[d->rows[i]];
}
static inline bool eh_solve_stop(const eh_solve_data *d)
{
    return d->stop(d->user);
}

/* eigen.c: the directions of largest variance, scaled so that the outputs have the mean square
 * `response` over the data (0: directions of length one). The loss is the share of the variance
 * that is lost. */
enhope_status eh_solve_pca(const eh_solve_data *d, double response, eh_real *theta, double *loss);
/* lpp.c: the graph connects each sample with `neighbors` others, or (0) with all samples of its
 * class. The loss is the mean of the eigenvalues of the map. */
enhope_status eh_solve_lpp(const eh_solve_data *d, int64_t neighbors, eh_real *theta, double *loss);
/* mcml.c: the loss is the objective in all dimensions. */
enhope_status eh_solve_mcml(const eh_solve_data *d, eh_real *theta, double *loss);

/* ---- eigen.c: shared by the solvers. Matrices are double, on the host, row-major. ---- */

enum { EH_EIGEN_INPUTS = 20000 }; /* at most: the covariance is H x H */

/* Fails if there are more outputs than inputs, or more inputs than `max`. */
enhope_status eh_eigen_check(const eh_solve_data *d, int64_t max);
/* mean (H) and covariance S (H, H) of the samples, as scaled. */
enhope_status eh_covariance(const eh_solve_data *d, double *mean, double *S);
/* The h largest eigenvalues, largest first, of the symmetric A (n, n), and their vectors (h, n)
 * of length one. A is destroyed. */
enhope_status eh_eigen_largest(enhope_context *ctx, int n, double *A, int h, double *value, double *vector);
/* All eigenvalues, smallest first, of A v = value B v, with A and B symmetric and B positive
 * definite (n, n); if rounding makes B indefinite, its diagonal is raised. A becomes the vectors,
 * one per row, with v^T B v = 1. B is destroyed. */
enhope_status eh_eigen_generalized(enhope_context *ctx, int n, double *A, double *B, double *value);
/* theta (H+1, h): y = V (x - mean), V (h, H). The largest entry of each row becomes positive. */
enhope_status eh_write_directions(const eh_solve_data *d, const double *mean, double *V, eh_real *theta);

/* ---- mcml.c: the objective in the metric, for tests ---- */

typedef struct eh_metric {
    int64_t n, H;
    int threads;
    const double *X;      /* (n, H) centered */
    const int32_t *label; /* (n) */
    int64_t block;        /* rows at a time */
    double *row_loss;     /* (n) */
    double *same;         /* (n) other samples of its class */
    double with_target;   /* samples that have another sample of their class */
    double *Y, *square;   /* (n, H) samples times the metric's root; (n) their squared lengths */
    double *slope;        /* (EH_METRIC_SHARES, block, n) slopes of a block of pairs */
    double *sums;         /* (EH_METRIC_SHARES, n) sums of slopes over the rows of a share */
    double *P;            /* (n, H) */
} eh_metric;

enum { EH_METRIC_SHARES = 16 }; /* of the rows; independent of the number of threads, and so are the sums */

enhope_status eh_metric_create(enhope_context *ctx, int threads, int64_t n, int64_t H, const double *X,
                               const int32_t *label, eh_metric *out);
void eh_metric_free(eh_metric *m);
/* The loss of M = R^T R, R (r, H), and its gradient G (H, H) in M. */
double eh_metric_loss(eh_metric *m, int64_t r, const double *R, double *G);

#endif
