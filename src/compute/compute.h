/* The operations that all maths here is written in: a table of functions per backend.
 *
 * A number's type is the backend's: `ref` computes in double with plain loops and is the oracle, `cpu` in float. Code
 * above this room therefore holds vectors as `eh_real *`, an opaque address, moves along them with eh_at() and never
 * looks inside; it reads and writes them through read() and write(). All matrices are row-major with a leading
 * dimension (elements from one row to the next). Operations allocate nothing but room of the backend's own, which is kept
 * for the next call. An operation that can fail keeps the failure until sync() reports it.
 */
#ifndef EH_COMPUTE_H
#define EH_COMPUTE_H

#include "base/base.h"

typedef struct eh_real eh_real; /* never defined: float or double, here or on a device */
typedef struct eh_compute eh_compute;

/* Data placed where the backend computes, with its scaling. Filled by place(); fields are the backend's. */
typedef struct eh_table {
    eh_matrix x;
    const int32_t *label; /* (n), or NULL */
    eh_real *shift, *mul; /* (H) x_scaled = (x - shift) * mul */
} eh_table;

/* One neighbour problem over pairs (i, j): d_ij = |y_i - g_j|^2, w = 1 / (1 + d) or exp(-d). */
typedef struct eh_pairs {
    bool gaussian; /* else student */
    bool nca;      /* attraction r_ij ~ w_ij instead of constant over the class */
    bool self;     /* G is Y: pairs i = j are left out */
    int64_t n, z, h;
    const eh_real *Y;           /* (n, h) */
    const eh_real *G;           /* (z, h) */
    const int32_t *label;       /* (n) */
    const int32_t *other_label; /* (z) */
} eh_pairs;

typedef struct eh_compute_ops {
    const char *name;
    size_t size; /* bytes of a number */

    void (*close)(eh_compute *c);
    enhope_status (*sync)(eh_compute *c, enhope_context *ctx);

    /* memory: zeroed vectors; NULL when there is none */
    eh_real *(*alloc)(eh_compute *c, int64_t count);
    void (*release)(eh_compute *c, eh_real *v);
    void (*write)(eh_compute *c, eh_real *to, const float *from, int64_t count);
    void (*read)(eh_compute *c, float *to, const eh_real *from, int64_t count);

    /* data: the view must outlive the table */
    enhope_status (*place)(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                           const float *shift, const float *mul, eh_table *out);
    void (*unplace)(eh_compute *c, eh_table *t);
    /* X (n, H+1) leading dimension ld: scaled rows with a closing 1; label (n) unless NULL. Any kind of x. */
    void (*gather)(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, eh_real *X, int64_t ld,
                   int32_t *label);
    /* sparse rows: U (n, F) = [x; 1]^T C with C (H+1, F); and dC (H+1, F) += x' dU^T */
    void (*sparse_apply)(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *C, int64_t F,
                         eh_real *U);
    void (*sparse_grad)(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *dU, int64_t F,
                        eh_real *dC);

    /* C (M, N) = alpha op(A) op(B) + beta C, inner size K */
    void (*gemm)(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                 int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc);

    /* elementwise */
    void (*power)(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *s);      /* s = u^O */
    void (*power_grad)(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *d); /* d *= O u^(O-1) */
    void (*sigmoid)(eh_compute *c, int64_t n, int64_t m, const eh_real *b, eh_real *A); /* A = sigmoid(A + b) by rows */
    void (*sigmoid_grad)(eh_compute *c, int64_t count, const eh_real *t, eh_real *d);   /* d *= t (1 - t) */
    void (*column_sums)(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);

    /* vectors */
    void (*fill)(eh_compute *c, int64_t count, double value, eh_real *x);
    void (*copy)(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
    void (*scale)(eh_compute *c, int64_t count, double a, eh_real *x);
    void (*axpy)(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y); /* y += a x */
    double (*dot)(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);    /* double accumulator */
    /* One Adam step with step counter t >= 1 (for the bias correction). */
    void (*adam)(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_real *m1, eh_real *m2, eh_real *x);

    /* pairs (objective/neighbour.c says what for). pair_sums, for each row i over its pairs, outputs on the host:
     *   log_all[i]  = log sum_j w_ij
     *   same[i]     = sum over same-class j of log w_ij; with nca log sum over same-class j of w_ij
     * (-inf for an empty log-sum). */
    void (*pair_sums)(eh_compute *c, const eh_pairs *p, double *log_all, double *same);
    /* D_ij = (a_ij - R_i w_ij) k_ij, k = w (student) or 1 (gaussian), where a_ij is A_i for same-class pairs (with nca
     * A_i w_ij), else 0. attract and repel (n) hold A and R; their logarithms where gaussian, since R_i w_ij is of
     * order one while both factors may be out of range. Then dY_i = 2 sum_j D_ij (y_i - g_j) and
     * dG_j = 2 sum_i D_ij (g_j - y_i); with self, dG is NULL and dY gets both. */
    void (*pair_grad)(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, eh_real *dY,
                      eh_real *dG);

    /* The k nearest rows of R (r, dims) for each row of Q (q, dims), nearest first, equal distances by index:
     * index (q, k), distance (q, k) squared Euclidean. k <= r. */
    void (*nearest)(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                    int64_t *index, float *distance);
} eh_compute_ops;

struct eh_compute {
    const eh_compute_ops *op;
    int threads;
    unsigned float_mode; /* the caller's, between begin and end */
    int omp_threads;     /* likewise */
    void *state;         /* the backend's own */
};

/* Operations are called between begin and end. There tiny numbers are flushed to zero, in the calling thread and in the
 * workers (a saturated sigmoid's gradient would otherwise cost a hundred cycles a product), and BLAS starts no threads of
 * its own. end() puts the caller's modes back. */
void eh_compute_begin(eh_compute *c);
void eh_compute_end(eh_compute *c);

/* Opens the backend that the context names. */
enhope_status eh_compute_open(enhope_context *ctx, eh_compute **out);
void eh_compute_close(eh_compute *c);
/* A vector through the status channel. */
enhope_status eh_compute_new(eh_compute *c, enhope_context *ctx, const char *what, int64_t count, eh_real **out);

/* Element i of v. */
static inline eh_real *eh_at(const eh_compute *c, const eh_real *v, int64_t i)
{
    return (eh_real *)((char *)(uintptr_t)v + i * (int64_t)c->op->size);
}

/* place and unplace of the backends that compute in the host's memory: the view itself, and the scaling. */
enhope_status eh_host_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                            const float *shift, const float *mul, eh_table *out);
void eh_host_unplace(eh_compute *c, eh_table *t);

extern const eh_compute_ops eh_compute_ref, eh_compute_cpu;

#endif
