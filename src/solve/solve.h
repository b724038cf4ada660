/* Maps that are solved for at once: eigenvectors (pca), locality preserving projections (lpp), and the metric of mcml.
 *
 * A solver takes samples that a backend has placed and leaves the parameters of a linear map, theta (H+1, h), there. */
#ifndef EH_SOLVE_H
#define EH_SOLVE_H

#include "compute/compute.h"

/* What a solver reads. */
typedef struct eh_solve_data {
    enhope_context *ctx;
    eh_compute *cp;
    const eh_table *table;     /* the samples with their labels */
    const int64_t *rows;       /* (n) rows of the table, in a seeded order */
    const eh_row *placed_rows; /* the same on the backend */
    int64_t n, H, h;
    int32_t classes;
    int64_t block, ld;        /* rows computed at a time, and the leading dimension of such a block */
    const char *method;       /* its name, for messages */
    bool (*stop)(void *user); /* asked in long computations */
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

/* eigen.c. The directions of most variance, scaled so that the outputs have the mean square `response` over the data (0:
 * directions of length one). The loss is the fraction of the variance that is lost. */
enhope_status eh_solve_pca(const eh_solve_data *d, double response, eh_real *theta, double *loss);
/* lpp.c. The graph links each sample with so many neighbours, or (0) with all samples of its class. The loss is the mean
 * of the eigenvalues kept. */
enhope_status eh_solve_lpp(const eh_solve_data *d, int64_t neighbours, eh_real *theta, double *loss);
/* mcml.c. The loss is the objective's in all dimensions. */
enhope_status eh_solve_mcml(const eh_solve_data *d, eh_real *theta, double *loss);

/* ---- eigen.c: what the solvers share. Matrices are double, on the host, row-major. ---- */

enum { EH_EIGEN_INPUTS = 20000 }; /* at most: the covariance is H x H */

/* Refuses more outputs than inputs, and more inputs than `max`. */
enhope_status eh_eigen_check(const eh_solve_data *d, int64_t most);
/* mean (H) and covariance S (H, H) of the samples, as scaled. */
enhope_status eh_covariance(const eh_solve_data *d, double *mean, double *S);
/* Of the symmetric A (n, n), which is destroyed, the h largest eigenvalues, largest first, and their vectors (h, n), each
 * of length one. */
enhope_status eh_eigen_largest(enhope_context *ctx, int n, double *A, int h, double *value, double *vector);
/* Of A v = value B v, A symmetric and B positive definite (n, n), all eigenvalues, smallest first, with v^T B v = 1. A
 * becomes the vectors, a row each; B is destroyed. */
enhope_status eh_eigen_generalised(enhope_context *ctx, int n, double *A, double *B, double *value);
/* theta (H+1, h): y = V (x - mean), V (h, H); the largest entry of each row becomes positive. */
enhope_status eh_write_directions(const eh_solve_data *d, const double *mean, double *V, eh_real *theta);

/* ---- mcml.c: the objective in the metric, for tests ---- */

typedef struct eh_metric {
    int64_t n, H;
    int threads;
    const double *X;      /* (n, H) centred */
    const int32_t *label; /* (n) */
    int64_t block;        /* rows at a time */
    double *row_loss;     /* (n) */
    double *kin;          /* (n) other samples of its class */
    double with_target;   /* samples that have one */
    double *Y, *square;   /* (n, H) the samples under the metric's root, (n) their squared lengths */
    double *slope;        /* (EH_METRIC_SHARES, block, n) of a block of pairs */
    double *sums;         /* (EH_METRIC_SHARES, n) of slopes, over the rows of a share */
    double *P;            /* (n, H) */
} eh_metric;

enum { EH_METRIC_SHARES = 16 }; /* of the rows; not the number of threads, so that sums do not depend on it */

enhope_status eh_metric_create(enhope_context *ctx, int threads, int64_t n, int64_t H, const double *X,
                               const int32_t *label, eh_metric *out);
void eh_metric_free(eh_metric *m);
/* The loss of M = R^T R, R (r, H), and its gradient G (H, H) in M. */
double eh_metric_loss(eh_metric *m, int64_t r, const double *R, double *G);

#endif
