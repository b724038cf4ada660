/* The operations that all maths here is written in: a table of functions per backend.
 *
 * A number's type and place are the backend's: `ref` computes in double with plain loops and is the oracle, `cpu` in
 * float, `cuda` in float on a GPU. Code above this room therefore holds everything that operations read and write under
 * opaque types, moves along it with the eh_*_at() functions and never looks inside. All matrices are row-major with a
 * leading dimension (elements from one row to the next).
 *
 * A backend may run behind: an operation returns when it is noted, not when it is done. Only fetch(), read(), dot() and
 * sync() wait. Operations allocate nothing but room of the backend's own, which is kept for the next call. An operation
 * that can fail keeps the failure until sync() reports it; what it should have made is then not to be used.
 */
#ifndef EH_COMPUTE_H
#define EH_COMPUTE_H

#include "base/base.h"

/* In the backend's memory; none of these is ever defined. */
typedef struct eh_real eh_real; /* a number: float or double */
typedef struct eh_operand
    eh_operand; /* an entry of a matrix that only products read; on a device, rows are moved by whole */
typedef struct eh_label eh_label;   /* a class: int32 */
typedef struct eh_row eh_row;       /* a row of a table: int64 */
typedef struct eh_scalar eh_scalar; /* an eh_value */

typedef struct eh_compute eh_compute;

/* A loss, and whether (not 0) a step that was made from it met a gradient that is not finite. */
typedef struct eh_value {
    double value, nonfinite;
} eh_value;

/* Data placed where the backend computes, with its scaling. Filled by place(); fields are the backend's, but for x.kind,
 * x.n, x.H and label, which all may read. */
typedef struct eh_table {
    eh_matrix x;
    const int32_t *label; /* (n) on the host, or NULL */
    eh_label *classes;    /* the same in the backend's memory */
    eh_real *shift, *mul; /* (H) x_scaled = (x - shift) * mul */
    void *stream;         /* cuda: the windows on data that is not on the device as a whole; NULL: it is */
} eh_table;

/* What is done to inputs on their way into a batch: raw images are moved (deform.h); normal noise is added to
 * scaled inputs, then some become 0 and the others are divided by 1 - dropout. A function of the seed, the pass, the row of
 * the table and the column, whatever the threads, the backend or the batch (disturb.h). */
typedef struct eh_disturb {
    int64_t image_rows,
        image_columns;             /* of each row, H in all and each at most EH_IMAGE_SIDE; read where one of these */
    double shift, affine, elastic; /* is not 0: pixels, strength, pixels */
    double noise;                  /* deviation; 0: none */
    double dropout;                /* chance of becoming 0; 0: none */
    uint64_t seed;
    uint64_t pass; /* through the data: less than EH_PASSES */
} eh_disturb;

enum { EH_PASSES = 1 << 20 };

enum { EH_IMAGE_SIDE = 32768 }; /* so that a place in an image is a 32-bit number */

/* A share of [0, count) in `parts` equal shares, of which the first count mod parts have one more. */
static inline int64_t eh_share_start(int64_t count, int64_t part, int64_t parts)
{
    return count / parts * part + (part < count % parts ? part : count % parts);
}

/* What becomes of each entry v of a product before it is stored. */
typedef enum eh_finish {
    EH_PLAIN,        /* C = P = v */
    EH_POWER,        /* C = v, P = v^order */
    EH_SIGMOID,      /* C = P = sigmoid(v + with[column]) */
    EH_RELU,         /* C = P = max(v + with[column], 0) */
    EH_POWER_GRAD,   /* C = P = v order u^(order - 1), u the entry of `with` (M, N; ldc) */
    EH_SIGMOID_GRAD, /* C = P = v t (1 - t), t the entry of `with` (M, N; ldc) */
    EH_RELU_GRAD     /* C = P = v where t > 0, else 0; t likewise */
} eh_finish;

/* op(A) op(B), (M, K) x (K, N), and its finish. C and P (M, N; ldc both) may be NULL, one of them. add: the product is made
 * as it would be without, and then added to C; only EH_PLAIN and without P. */
typedef struct eh_product {
    bool ta, tb;
    int64_t M, N, K;
    const eh_operand *A, *B;
    int64_t lda, ldb;
    bool add;
    eh_finish finish;
    int order; /* of the powers */
    const eh_real *with;
    eh_real *C;
    eh_operand *P;
    int64_t ldc;
} eh_product;

/* Label smoothing: a part of each target goes to the compared points of all classes alike, `share` to each. */
typedef struct eh_smoothing {
    double part;          /* 0: none */
    double classes;       /* that have compared points */
    double entropy;       /* sum_j share_j log share_j */
    const eh_real *share; /* (z) 1 / (classes * compared points of the same class); the sum is 1 */
} eh_smoothing;

/* Degrees of freedom of the student similarity: with 15 a float holds it for points up to 900
 * apart. */
enum { EH_DOF_MAX = 15 };

/* One neighbour problem over pairs (i, j): d_ij = |y_i - g_j|^2, w of compute/similarity.h. objective/neighbour.c has the
 * formulas. */
typedef struct eh_pairs {
    bool gaussian;  /* else student, */
    int dof;        /* with so many degrees of freedom, odd; 0 counts as 1 */
    bool row;       /* normalised row by row, else jointly */
    bool nca;       /* attraction r_ij ~ w_ij instead of constant over the class */
    bool self;      /* G is Y: pairs i = j are left out */
    bool indicator; /* MCML, joint: every same-class pair weighs the same, else every sample does */
    int64_t n, z, h;
    const eh_real *Y;            /* (n, h) */
    const eh_real *G;            /* (z, h) */
    const eh_label *label;       /* (n) */
    const eh_label *other_label; /* (z) */
    const eh_real *class_weight; /* of each class's samples; NULL: 1 */
    eh_smoothing smoothing;      /* MCML without self */
    const eh_real *P; /* (n, n) with self: the target itself, symmetric; then no label, class_weight or smoothing is
                         read and nca, indicator are ignored. NULL: by class */
} eh_pairs;

/* One large-margin problem over triples of an anchor i, a target neighbour t of its own class and an impostor j, an anchor
 * of another class: the loss is
 *   pull sum_it d_it + push sum_itj max(0, 1 + d_it - d_ij),   d the squared distance.
 * Target t of anchor i is row n + i targets + t; one whose label is negative is none. Anchors have labels,
 * and there is at least one target each. */
typedef struct eh_triples {
    int64_t n, targets, h; /* anchors, targets of each */
    double pull, push;
    const eh_real *Y;      /* (n + n targets, h) */
    const eh_label *label; /* (n + n targets) */
} eh_triples;

typedef struct eh_compute_ops {
    const char *name;
    size_t size;   /* bytes of a number */
    bool host;     /* computes in the host's memory and threads */
    int64_t block; /* rows at a time that suit it */
    int64_t ahead; /* blocks or batches that it may run behind the caller before results are asked for */

    void (*close)(eh_compute *c);
    /* Begins what has been noted, where the backend runs behind; may be NULL. */
    void (*start)(eh_compute *c);
    /* Waits for everything; tells the first failure. */
    enhope_status (*sync)(eh_compute *c, enhope_context *ctx);

    /* memory: zeroed; NULL when there is none */
    void *(*alloc)(eh_compute *c, size_t bytes);
    void (*release)(eh_compute *c, void *block);
    /* bytes as they are; `from` may be changed as soon as send() returns, fetch() waits */
    void (*send)(eh_compute *c, void *to, const void *from, size_t bytes);
    void (*fetch)(eh_compute *c, void *to, const void *from, size_t bytes);
    /* floats to numbers and back, like send and fetch */
    void (*write)(eh_compute *c, eh_real *to, const float *from, int64_t count);
    void (*read)(eh_compute *c, float *to, const eh_real *from, int64_t count);
    /* Bytes that could still be had; NULL: not known. Those that data may take; NULL: it stays where it is. */
    size_t (*room)(eh_compute *c);
    size_t (*data_room)(eh_compute *c);

    /* data: the view must outlive the table */
    enhope_status (*place)(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                           const float *shift, const float *mul, eh_table *out);
    void (*unplace)(eh_compute *c, eh_table *t);
    /* Rows first .. first + n of what was placed as a whole have changed, sparse ones within the values that they had room
     * for; x and label as in place(). May be changed again when it returns. NULL: the table is what was placed. */
    void (*refresh)(eh_compute *c, eh_table *t, const eh_matrix *x, const int32_t *label, int64_t first, int64_t n);
    /* Says that the next gather will ask for rows among first .. first + n of the table; may be NULL. */
    void (*stage)(eh_compute *c, const eh_table *t, int64_t first, int64_t n);
    /* rows (n) = first, first + 1, ... */
    void (*successive)(eh_compute *c, int64_t first, int64_t n, eh_row *rows);
    /* X (n, H+1; ld): scaled rows with a closing 1, zeros from there to ld; label (n) unless NULL. Any kind of x. As
     * numbers, or as operands, these disturbed unless `with` is NULL; the closing 1 and the zeros never are. */
    void (*gather)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                   eh_label *label);
    void (*gather_operands)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_operand *X, int64_t ld,
                            eh_label *label, const eh_disturb *with);
    /* X (n, H+1; ld): the rows of E (n, H) with a closing 1, zeros from there to ld */
    void (*close_rows)(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_operand *X, int64_t ld);
    /* to (n, H+1; ld): x + step sign(dx) of the closed rows X (n, H+1; ld), dX (n, H). The closing 1 and the zeros stay. */
    void (*climb)(eh_compute *c, int64_t n, int64_t H, double step, const eh_operand *X, int64_t ld, const eh_real *dX,
                  eh_operand *to);
    /* sparse rows: U (n, F) = [x; 1]^T C with C (H+1, F); and dC (H+1, F) += x' dU^T, on the host this sum made first */
    void (*sparse_apply)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C, int64_t F,
                         eh_real *U);
    void (*sparse_grad)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_operand *dU,
                        int64_t F, eh_real *dC);

    /* products. gemm: C (M, N) = alpha op(A) op(B) + beta C, inner size K, of numbers, as exact as numbers are */
    void (*gemm)(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                 int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc);
    void (*product)(eh_compute *c, const eh_product *p);
    /* to = from as operands, both (rows, columns) without gaps */
    void (*operands)(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_operand *to);
    /* Behind an output layer Y = T V^T, T (n, m) the units of a slope, EH_SIGMOID_GRAD or EH_RELU_GRAD, V (h, m): from dY
     * (n, h)   dA (n, m) = slope of dY V,   db (m) = column sums of dA,   dV (h, m) = dY^T T;   add: to db and dV, as products
     * do */
    void (*output_grad)(eh_compute *c, eh_finish slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                        const eh_real *V, const eh_real *T, bool add, eh_operand *dA, eh_real *db, eh_real *dV);

    /* elementwise */
    /* s = u^order */
    void (*power)(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_operand *s);
    /* out (m) = the sums of A (n, m) + beta out */
    void (*column_sums)(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);

    /* vectors */
    void (*fill)(eh_compute *c, int64_t count, double value, eh_real *x);
    void (*copy)(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
    void (*copy_rows)(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                      int64_t ldy);
    void (*scale)(eh_compute *c, int64_t count, double a, eh_real *x);
    void (*axpy)(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y); /* y += a x */
    double (*dot)(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);    /* double accumulator */
    /* y = (x + y) / 2, and so *loss with *other; nonfinite where one of the two is */
    void (*mean)(eh_compute *c, int64_t count, const eh_real *x, const eh_scalar *other, eh_real *y, eh_scalar *loss);
    /* One Adam step with step counter t >= 1 (for the bias correction). None where the value at `loss` is not finite; a
     * number whose gradient is not finite stays, and spoils `loss`. */
    void (*adam)(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_scalar *loss, eh_real *m1, eh_real *m2, eh_real *x);

    /* The loss of a neighbour problem (nonfinite 0), and its gradient: dY (n, h), dG (z, h); with self, dG is NULL and dY gets
     * both sides. NaN where an embedding is not finite. */
    void (*pairs)(eh_compute *c, const eh_pairs *p, eh_scalar *loss, eh_real *dY, eh_real *dG);

    /* The loss of a large-margin problem (nonfinite 0), and its gradient dY (n + n targets, h). Not finite where the embedding
     * of an anchor with a target, or of a target, is not. */
    void (*triples)(eh_compute *c, const eh_triples *p, eh_scalar *loss, eh_real *dY);
    /* P (n, n) = (p_j|i + p_i|j) / 2n, where p_j|i ~ exp(-beta_i |x_i - x_j|^2) over the other rows of X (n, dims) has the
     * entropy log(perplexity), as near as it can; compute/bandwidth.h. Symmetric, of sum 1, the diagonal 0. */
    void (*affinities)(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P);

    /* The k nearest rows of R (r, dims) for each row of Q (q, dims), nearest first, equal distances by index:
     * index (q, k), distance (q, k) squared Euclidean. k <= r. */
    void (*nearest)(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                    eh_row *index, eh_real *distance);
    /* The majority among each row of index (q, k), nearest first; equal counts: the class of the nearest among the tied. */
    void (*vote)(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
                 eh_label *label);
} eh_compute_ops;

struct eh_compute {
    const eh_compute_ops *op;
    size_t operand; /* bytes of an operand */
    bool numbers;   /* an operand is a number, and eh_operand * may be taken for eh_real * */
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

/* Opens the backend that the context names. plain: operands are numbers, whatever precision the context asks for. */
enhope_status eh_compute_open(enhope_context *ctx, bool plain, eh_compute **out);
void eh_compute_close(eh_compute *c);
/* A zeroed block of count elements through the status channel; *out is a pointer to any of the types above. */
enhope_status eh_compute_new(eh_compute *c, enhope_context *ctx, const char *what, int64_t count, size_t size,
                             void *out);

/* Element i of v. */
static inline eh_real *eh_at(const eh_compute *c, const eh_real *v, int64_t i)
{
    return (eh_real *)((char *)(uintptr_t)v + i * (int64_t)c->op->size);
}
static inline eh_operand *eh_operand_at(const eh_compute *c, const eh_operand *v, int64_t i)
{
    return (eh_operand *)((char *)(uintptr_t)v + i * (int64_t)c->operand);
}
static inline eh_label *eh_label_at(const eh_label *v, int64_t i)
{
    return (eh_label *)((char *)(uintptr_t)v + i * (int64_t)sizeof(int32_t));
}
static inline eh_row *eh_row_at(const eh_row *v, int64_t i)
{
    return (eh_row *)((char *)(uintptr_t)v + i * (int64_t)sizeof(int64_t));
}
static inline eh_scalar *eh_scalar_at(const eh_scalar *v, int64_t i)
{
    return (eh_scalar *)((char *)(uintptr_t)v + i * (int64_t)sizeof(eh_value));
}

/* place and unplace of the backends that compute in the host's memory: the view itself, and the scaling. */
enhope_status eh_host_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                            const float *shift, const float *mul, eh_table *out);
void eh_host_unplace(eh_compute *c, eh_table *t);
/* output_grad, successive and vote of these backends (host.c). */
void eh_host_output_grad(eh_compute *c, eh_finish slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                         const eh_real *V, const eh_real *T, bool add, eh_operand *dA, eh_real *db, eh_real *dV);
void eh_host_successive(eh_compute *c, int64_t first, int64_t n, eh_row *rows);
void eh_host_vote(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
                  eh_label *label);

extern const eh_compute_ops eh_compute_ref, eh_compute_cpu;

#endif
