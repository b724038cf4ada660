/* Functions that all solvers share, and pca: the h directions of largest variance.
 *
 * The backend computes second moments of [x; 1], block by block. They are added in double, and
 * mean and covariance follow from them. */
#include <math.h>
#include <string.h>

#include "solve/solve.h"

/* LAPACK (part of OpenBLAS): eigenvalues il to iu (ascending, from 1) and vectors of the
 * symmetric A (n, n). */
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a, const int *lda,
             const double *vl, const double *vu, const int *il, const int *iu, const double *abstol, int *m, double *w,
             double *z, const int *ldz, int *isuppz, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info);
/* LAPACK: all eigenvalues, ascending, of A x = w B x (itype 1), and vectors in the columns of A. */
void dsygvd_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *b,
             const int *ldb, double *w, double *work, const int *lwork, int *iwork, const int *liwork, int *info);

/* M (H+1, H+1) = sum over the training rows of x' x'^T. */
static enhope_status second_moments(const eh_solve_data *d, double *M)
{
    eh_compute *c = d->cp;
    const int64_t wide = d->H + 1, count = wide * wide, max = d->n < d->block ? d->n : d->block;
    eh_real *X = NULL, *product = NULL;
    float *block = NULL;
    enhope_status status;
    EH_CHECK(eh_compute_new(c, d->ctx, "a block of samples", max * d->ld, c->op->real_size, &X));
    EH_CHECK(eh_compute_new(c, d->ctx, "second moments", count, c->op->real_size, &product));
    EH_CHECK(eh_new(d->ctx, "second moments", count, sizeof *block, (void **)&block));
    for (int64_t from = 0; from < d->n; from += max) {
        const int64_t n = d->n - from < max ? d->n - from : max;
        c->op->gather(c, d->table, eh_row_at(d->placed_rows, from), n, X, d->ld, NULL);
        c->op->gemm(c, true, false, wide, wide, n, 1, X, d->ld, X, d->ld, 0, product, wide);
        c->op->read(c, block, product, count);
        for (int64_t i = 0; i < count; i++) M[i] += block[i];
    }
    EH_CHECK(c->op->sync(c, d->ctx));
cleanup:
    if (X) c->op->release(c, X);
    if (product) c->op->release(c, product);
    eh_free(block);
    return status;
}

enhope_status eh_covariance(const eh_solve_data *d, double *mean, double *S)
{
    const int64_t H = d->H, wide = H + 1;
    double *M = NULL;
    enhope_status status;
    EH_CHECK(eh_new(d->ctx, "second moments", wide * wide, sizeof *M, (void **)&M));
    EH_CHECK(second_moments(d, M));
    for (int64_t j = 0; j < H; j++) mean[j] = M[j * wide + H] / (double)d->n;
    for (int64_t i = 0; i < H; i++)
        for (int64_t j = 0; j < H; j++) S[i * H + j] = M[i * wide + j] / (double)d->n - mean[i] * mean[j];
cleanup:
    eh_free(M);
    return status;
}

static enhope_status not_found(enhope_context *ctx, int n, int info)
{
    return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "the eigenvectors of a %d x %d matrix could not be found (LAPACK %d)", n,
                   n, info);
}

enhope_status eh_eigen_largest(enhope_context *ctx, int n, double *A, int h, double *value, double *vector)
{
    double *w = NULL, *z = NULL, *work = NULL, size = 0;
    int *support = NULL, *iwork = NULL, found = 0, info = 0, isize = 0;
    const int first = n - h + 1, query = -1;
    const double none = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "eigenvalues", n, sizeof *w, (void **)&w));
    EH_CHECK(eh_new(ctx, "eigenvectors", (int64_t)n * h, sizeof *z, (void **)&z));
    EH_CHECK(eh_new(ctx, "eigenvectors", 2 * (int64_t)h, sizeof *support, (void **)&support));
    dsyevr_("V", "I", "L", &n, A, &n, &none, &none, &first, &n, &none, &found, w, z, &n, support, &size, &query, &isize,
            &query, &info);
    const int lwork = (int)size, liwork = isize;
    EH_CHECK(eh_new(ctx, "eigenvectors", lwork, sizeof *work, (void **)&work));
    EH_CHECK(eh_new(ctx, "eigenvectors", liwork, sizeof *iwork, (void **)&iwork));
    dsyevr_("V", "I", "L", &n, A, &n, &none, &none, &first, &n, &none, &found, w, z, &n, support, work, &lwork, iwork,
            &liwork, &info);
    if (info || found != h) EH_CHECK(not_found(ctx, n, info));
    for (int k = 0; k < h; k++) { /* in ascending order */
        value[k] = w[h - 1 - k];
        memcpy(vector + (int64_t)k * n, z + (int64_t)(h - 1 - k) * n, (size_t)n * sizeof *z);
    }
cleanup:
    eh_free(w);
    eh_free(z);
    eh_free(work);
    eh_free(support);
    eh_free(iwork);
    return status;
}

/* Restores B after a failed factorization, which leaves one triangle, with a larger diagonal. */
static void make_definite(int n, double *B, const double *diagonal)
{
    double norm = 0; /* the largest sum of the absolute values of a row */
    for (int64_t i = 0; i < n; i++) {
        B[i * n + i] = diagonal[i];
        for (int64_t j = 0; j < i; j++) B[j * n + i] = B[i * n + j];
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(B[i * n + j]);
        norm = fmax(norm, sum);
    }
    for (int64_t i = 0; i < n; i++) B[i * n + i] += 2 * norm;
}

enhope_status eh_eigen_generalized(enhope_context *ctx, int n, double *A, double *B, double *value)
{
    double *work = NULL, *diagonal = NULL, size = 0;
    int *iwork = NULL, info = 0, isize = 0;
    const int type = 1, query = -1;
    enhope_status status;
    dsygvd_(&type, "V", "L", &n, A, &n, B, &n, value, &size, &query, &isize, &query, &info);
    const int lwork = (int)size, liwork = isize;
    EH_CHECK(eh_new(ctx, "eigenvectors", lwork, sizeof *work, (void **)&work));
    EH_CHECK(eh_new(ctx, "eigenvectors", liwork, sizeof *iwork, (void **)&iwork));
    EH_CHECK(eh_new(ctx, "eigenvectors", n, sizeof *diagonal, (void **)&diagonal));
    for (int64_t i = 0; i < n; i++) diagonal[i] = B[i * n + i];
    dsygvd_(&type, "V", "L", &n, A, &n, B, &n, value, work, &lwork, iwork, &liwork, &info);
    if (info > n) { /* B has no Cholesky factor: it consists of rounding errors; A is as before */
        make_definite(n, B, diagonal);
        dsygvd_(&type, "V", "L", &n, A, &n, B, &n, value, work, &lwork, iwork, &liwork, &info);
    }
    if (info) EH_CHECK(not_found(ctx, n, info));
cleanup:
    eh_free(work);
    eh_free(iwork);
    eh_free(diagonal);
    return status;
}

/* The sign of an eigenvector is arbitrary: makes the largest entry positive. */
static void fix_sign(int64_t H, double *v)
{
    double largest = 0;
    for (int64_t j = 0; j < H; j++)
        if (fabs(v[j]) > fabs(largest)) largest = v[j];
    for (int64_t j = 0; j < H && largest < 0; j++) v[j] = -v[j];
}

enhope_status eh_write_directions(const eh_solve_data *d, const double *mean, double *V, eh_real *theta)
{
    const int64_t H = d->H, h = d->h, count = (H + 1) * h;
    float *A = NULL;
    EH_TRY(eh_new(d->ctx, "parameters", count, sizeof *A, (void **)&A));
    for (int64_t k = 0; k < h; k++) {
        double shift = 0;
        fix_sign(H, V + k * H);
        for (int64_t j = 0; j < H; j++) {
            A[j * h + k] = (float)V[k * H + j];
            shift -= mean[j] * V[k * H + j];
        }
        A[H * h + k] = (float)shift;
    }
    d->cp->op->write(d->cp, theta, A, count);
    eh_free(A);
    return ENHOPE_OK;
}

enhope_status eh_eigen_check(const eh_solve_data *d, int64_t max)
{
    const int64_t H = d->H, h = d->h;
    if (h <= H && H <= max) return ENHOPE_OK;
    return eh_fail(d->ctx, ENHOPE_ERROR_ARGUMENT,
                   "%s of %lld inputs to %lld outputs: expected at most %lld inputs, and no more outputs than inputs",
                   d->method, (long long)H, (long long)h, (long long)max);
}

/* ---- pca ---- */

enhope_status eh_solve_pca(const eh_solve_data *d, double response, eh_real *theta, double *loss)
{
    enhope_context *ctx = d->ctx;
    const int64_t H = d->H, h = d->h;
    EH_TRY(eh_eigen_check(d, EH_EIGEN_INPUTS));
    double *S = NULL, *vector = NULL, *value = NULL, *mean = NULL, all = 0, explained = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the covariance", H * H, sizeof *S, (void **)&S));
    EH_CHECK(eh_new(ctx, "eigenvectors", h * H, sizeof *vector, (void **)&vector));
    EH_CHECK(eh_new(ctx, "eigenvalues", h, sizeof *value, (void **)&value));
    EH_CHECK(eh_new(ctx, "the mean", H, sizeof *mean, (void **)&mean));
    EH_CHECK(eh_covariance(d, mean, S));
    for (int64_t j = 0; j < H; j++) all += S[j * H + j];
    EH_CHECK(eh_eigen_largest(ctx, (int)H, S, (int)h, value, vector));
    for (int64_t k = 0; k < h; k++) explained += value[k];
    const double scale = response > 0 && explained > 0 ? sqrt(response * (double)h / explained) : 1;
    for (int64_t i = 0; i < h * H; i++) vector[i] *= scale;
    EH_CHECK(eh_write_directions(d, mean, vector, theta));
    *loss = all > 0 ? 1 - explained / all : 0;
cleanup:
    eh_free(S);
    eh_free(vector);
    eh_free(value);
    eh_free(mean);
    return status;
}
