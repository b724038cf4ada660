/* What the methods that solve for their map share: moments of the data, eigenvectors by LAPACK, a map from directions.
 *
 * Matrices here are double, on the host, row-major. */
#ifndef EH_EIGEN_H
#define EH_EIGEN_H

#include "method/train.h"

enum { EH_EIGEN_INPUTS = 20000 }; /* at most: the covariance is H x H */

/* Refuses more outputs than inputs, and more inputs than `most`. */
enhope_status eh_eigen_check(const enhope_trainer *t, int64_t most);
/* mean (H) and covariance S (H, H) of the training rows, as scaled. */
enhope_status eh_covariance(enhope_trainer *t, double *mean, double *S);
/* Of the symmetric A (n, n), which is destroyed, the h largest eigenvalues, largest first, and their vectors (h, n), each
 * of length one. */
enhope_status eh_eigen_largest(enhope_context *ctx, int n, double *A, int h, double *value, double *vector);
/* Of A v = value B v, A symmetric and B positive definite (n, n), all eigenvalues, smallest first, with v^T B v = 1. A
 * becomes the vectors, a row each; B is destroyed. */
enhope_status eh_eigen_generalised(enhope_context *ctx, int n, double *A, double *B, double *value);
/* theta (H+1, h): y = V (x - mean), V (h, H); the largest entry of each row becomes positive. */
enhope_status eh_write_directions(enhope_trainer *t, const double *mean, double *V);

/* ---- mcml.c: the objective in the metric, for whoever wants its value ---- */

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
