/* The compute backend: the table of functions that all numerical code calls.
 *
 * A backend chooses the type of a scalar and the memory it lies in: `ref` computes in double with
 * plain loops and is the reference of the tests, `cpu` computes in float, `cuda` in float on a GPU.
 * Callers therefore hold every input and output of an operation under an opaque type, compute
 * addresses with the eh_*_at() functions and never dereference them. Matrices are row-major with a
 * leading dimension: the number of elements from one row to the next.
 *
 * A backend may be asynchronous: an operation returns when it is queued, not when it is done.
 * Operations take effect in the order of the calls. Only fetch(), read(), dot() and sync() wait.
 * Operations allocate only scratch memory of the backend, which is reused by the next call. If
 * sync() reports a failure, all outputs since the sync() before are invalid.
 */
#ifndef EH_COMPUTE_H
#define EH_COMPUTE_H

#include "base/base.h"

/* Elements of arrays in the backend's memory. These types are never defined. */
typedef struct eh_real eh_real; /* a scalar: float or double */
/* An element of a packed matrix, the input format of product(): a scalar on the host; on a GPU one
 * to three bfloat16 parts, as the precision requires. There, address only whole rows of it. */
typedef struct eh_packed eh_packed;
typedef struct eh_label eh_label; /* a class: int32 */
typedef struct eh_row eh_row;     /* a row of a table: int64 */
typedef struct eh_loss eh_loss;   /* memory of the backend for an eh_loss_value */

typedef struct eh_compute eh_compute;

/* A loss. `nonfinite` is not 0 if a step from this loss met a gradient that is not finite. */
typedef struct eh_loss_value {
    double value, nonfinite;
} eh_loss_value;

/* Data in the memory of the backend, with its scaling. place() fills it. Callers may read
 * x.kind, x.n, x.H and label; all other fields belong to the backend. */
typedef struct eh_table {
    eh_matrix x;
    const int32_t *label; /* (n) on the host, or NULL */
    const float *weight;  /* (n) on the host, weights of the rows for k-means; NULL: 1. Set by the caller of place() */
    eh_label *classes;    /* the labels in the backend's memory */
    eh_real *shift, *mul; /* (H) x_scaled = (x - shift) * mul */
    void *stream;         /* cuda: windows on data larger than the device's memory; else NULL */
} eh_table;

/* The augmentation of inputs while they are gathered into a batch. Raw images are warped
 * (warp.h). Normal noise is added to scaled inputs; then some inputs become 0 and the others are
 * divided by 1 - dropout. The result is a function of seed, pass, row of the table and column.
 * It does not depend on threads, backend or batch (augment.h). */
typedef struct eh_augment {
    /* The size of the image in each row: H = image_rows * image_columns, each at most
     * EH_IMAGE_SIDE. Read only if shift, affine or elastic is not 0. */
    int64_t image_rows, image_columns;
    double shift, affine, elastic; /* the settings of these names: pixels, strength, pixels */
    double noise;                  /* standard deviation; 0: no noise */
    double dropout;                /* probability of becoming 0; 0: no dropout */
    uint64_t seed;
    uint64_t pass; /* number of the pass through the data, less than EH_PASSES */
} eh_augment;

enum { EH_PASSES = 1 << 20 };

enum { EH_IMAGE_SIDE = 32768 }; /* a position in an image fits in 32 bits */

/* The start of chunk `chunk` of [0, count) cut into `chunks`; the first count mod chunks have
 * one more. */
static inline int64_t eh_chunk_start(int64_t count, int64_t chunk, int64_t chunks)
{
    return count / chunks * chunk + (chunk < count % chunks ? chunk : count % chunks);
}

/* The function that a product applies to each entry v before it stores it. */
typedef enum eh_epilogue {
    EH_EPILOGUE_NONE,         /* C = P = v */
    EH_EPILOGUE_POWER,        /* C = v, P = v^order */
    EH_EPILOGUE_SIGMOID,      /* C = P = sigmoid(v + with[column]) */
    EH_EPILOGUE_RELU,         /* C = P = max(v + with[column], 0) */
    EH_EPILOGUE_POWER_GRAD,   /* C = P = v * order * u^(order - 1), u in `with` (M, N; ldc) */
    EH_EPILOGUE_SIGMOID_GRAD, /* C = P = v * t * (1 - t), t the sigmoid in `with` (M, N; ldc) */
    EH_EPILOGUE_RELU_GRAD     /* C = P = v if t > 0, else 0; t the output in `with` */
} eh_epilogue;

/* op(A) op(B), (M, K) x (K, N), followed by the epilogue. One of C and P (M, N; ldc both) may be
 * NULL. add: the whole product is computed first and then added to C, which fixes the rounding;
 * this requires EH_EPILOGUE_NONE and no P. */
typedef struct eh_product {
    bool ta, tb;
    int64_t M, N, K;
    const eh_packed *A, *B;
    int64_t lda, ldb;
    bool add;
    eh_epilogue epilogue;
    int order;           /* of EH_EPILOGUE_POWER and EH_EPILOGUE_POWER_GRAD */
    const eh_real *with; /* of the epilogue: a bias (N), or values of the forward pass (M, N; ldc) */
    eh_real *C;
    eh_packed *P;
    int64_t ldc;
} eh_product;

/* Label smoothing: the fraction `part` of the target of each sample is replaced by a fixed
 * distribution over the compared points, which gives every class the same total. */
typedef struct eh_smoothing {
    double part;          /* fraction of each target; 0: no smoothing */
    double classes;       /* number of classes that have compared points */
    double neg_entropy;   /* sum_j share_j log share_j */
    const eh_real *share; /* (z) 1 / (classes * compared points of the class); the sum is 1 */
} eh_smoothing;

/* The largest number of degrees of freedom of the Student similarity. With 15, a float holds the
 * similarity of points up to a distance of 900. */
enum { EH_DOF_MAX = 15 };

/* The similarity of two points (compute/similarity.h). */
typedef struct eh_similarity {
    bool gaussian; /* else Student */
    int dof;       /* degrees of freedom of Student, odd; 0 counts as 1 */
} eh_similarity;

/* A neighbor problem over pairs (i, j) with d_ij = |y_i - g_j|^2 and the similarity w of
 * compute/similarity.h. The formulas are in objective/neighbor.c. */
typedef struct eh_pairs {
    bool gaussian;  /* else Student */
    int dof;        /* degrees of freedom of Student, odd; 0 counts as 1 */
    bool row;       /* normalized for each row, else jointly */
    bool nca;       /* NCA: attraction proportional to w_ij; else MCML: constant within a class */
    bool self;      /* G is Y, and pairs i = j are left out */
    bool indicator; /* joint MCML: all same-class pairs weigh the same; else all samples do */
    int64_t n, z, h;
    const eh_real *Y;            /* (n, h) */
    const eh_real *G;            /* (z, h) */
    const eh_label *label;       /* (n) */
    const eh_label *other_label; /* (z) */
    const eh_real *weight;       /* (n) relative weights of the samples; NULL: 1 */
    eh_smoothing smoothing;      /* of MCML without self */
    /* (n, z) the target p_ij, symmetric with self; label, weight, smoothing, nca and indicator
     * are then ignored. NULL: the target follows from the labels. */
    const eh_real *target_probs;
} eh_pairs;

/* A large-margin problem over triples: an anchor i, a target neighbor t of its class, and an
 * impostor j, which is an anchor of another class. The loss is
 *   pull sum_it d_it + push sum_itj max(0, 1 + d_it - d_ij),   d the squared distance.
 * Target t of anchor i is row n + i * targets + t. A negative label marks a target that is absent.
 * Every anchor has a label, and targets >= 1. */
typedef struct eh_triples {
    int64_t n, targets, h; /* anchors, targets of each anchor, outputs */
    double pull, push;
    const eh_real *Y;      /* (n + n * targets, h) */
    const eh_label *label; /* (n + n * targets) */
} eh_triples;

typedef struct eh_compute_ops {
    const char *name;
    size_t real_size;    /* bytes of a scalar */
    bool host;           /* computes in host memory with host threads */
    int64_t block;       /* preferred number of rows of a block */
    int64_t queue_depth; /* number of blocks or batches to queue before results are fetched */

    /* Frees everything that the backend holds. */
    void (*close)(eh_compute *c);
    /* Starts queued operations without waiting for them. NULL if the backend is synchronous. */
    void (*flush)(eh_compute *c);
    /* Waits for all operations and reports the first failure. */
    enhope_status (*sync)(eh_compute *c, enhope_context *ctx);

    /* Allocates zeroed memory. Returns NULL if there is not enough. */
    void *(*alloc)(eh_compute *c, size_t bytes);
    /* Frees memory of alloc(). */
    void (*release)(eh_compute *c, void *block);
    /* Copies bytes to the backend. The caller may change `from` when send() returns. */
    void (*send)(eh_compute *c, void *to, const void *from, size_t bytes);
    /* Copies bytes from the backend and waits for them. */
    void (*fetch)(eh_compute *c, void *to, const void *from, size_t bytes);
    /* Converts floats to scalars of the backend, like send(). */
    void (*write)(eh_compute *c, eh_real *to, const float *from, int64_t count);
    /* Converts scalars of the backend to floats, like fetch(). */
    void (*read)(eh_compute *c, float *to, const eh_real *from, int64_t count);
    /* Returns the bytes that can still be allocated. NULL: unknown. */
    size_t (*free_memory)(eh_compute *c);
    /* Returns the bytes that data may occupy. NULL: data stays in host memory. */
    size_t (*data_capacity)(eh_compute *c);

    /* Makes a data matrix available to the backend, with its labels (or NULL) and scaling. x
     * must outlive the table. */
    enhope_status (*place)(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                           const float *shift, const float *mul, eh_table *out);
    /* Frees what place() allocated. */
    void (*unplace)(eh_compute *c, eh_table *t);
    /* Updates rows [first, first + n) of a table that was placed as a whole, after they changed
     * in x and label. Sparse rows must fit in the space of the rows they replace. The caller may
     * change the data again when refresh() returns. NULL: the table reads the caller's memory
     * itself. */
    void (*refresh)(eh_compute *c, eh_table *t, const eh_matrix *x, const int32_t *label, int64_t first, int64_t n);
    /* Announces that the next gather reads rows within [first, first + n) of the table. May be
     * NULL. */
    void (*prefetch)(eh_compute *c, const eh_table *t, int64_t first, int64_t n);
    /* Sets rows (n) = first, first + 1, ... */
    void (*row_range)(eh_compute *c, int64_t first, int64_t n, eh_row *rows);
    /* Gathers scaled rows of any kind of table into X (n, H+1; ld): H inputs, the bias 1, zeros
     * up to ld. Sets label (n) unless it is NULL. */
    void (*gather)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                   eh_label *label);
    /* The same in packed format. Augments the inputs unless `with` is NULL. */
    void (*gather_packed)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_packed *X, int64_t ld,
                          eh_label *label, const eh_augment *with);
    /* Sets X (n, H+1; ld) to the rows of E (n, H), each followed by the bias 1 and zeros up to
     * ld. */
    void (*append_bias)(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_packed *X, int64_t ld);
    /* Sets to = X + step sign(dX) for X, to (n, H+1; ld) and dX (n, H). Copies the bias and the
     * zeros. */
    void (*adversarial_step)(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                             const eh_real *dX, eh_packed *to);
    /* Multiplies sparse rows with a matrix: U (n, F) = [x; 1]^T C with C (H+1, F). */
    void (*sparse_apply)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C, int64_t F,
                         eh_real *U);
    /* Adds the gradient of that product: dC (H+1, F) += [x; 1] dU^T. A host backend first sums over
     * the rows and then adds the sum to dC. */
    void (*sparse_grad)(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_packed *dU, int64_t F,
                        eh_real *dC);

    /* Computes C (M, N) = alpha op(A) op(B) + beta C with inner size K in full precision. */
    void (*gemm)(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                 int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc);
    /* Computes a product of packed matrices with its epilogue. */
    void (*product)(eh_compute *c, const eh_product *p);
    /* Converts a matrix (rows, columns) without gaps to the packed format. */
    void (*pack)(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *to);
    /* Computes the gradients of an output layer Y = T V^T, T (n, m), V (h, m), from dY (n, h):
     *   dA (n, m) = (dY V) * f'(T),   db (m) = column sums of dA,   dV (h, m) = dY^T T
     * slope names f': EH_EPILOGUE_SIGMOID_GRAD or EH_EPILOGUE_RELU_GRAD. add: adds to db and
     * dV. */
    void (*output_grad)(eh_compute *c, eh_epilogue slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                        const eh_real *V, const eh_real *T, bool add, eh_packed *dA, eh_real *db, eh_real *dV);

    /* Computes s = u^order elementwise. */
    void (*power)(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s);
    /* Computes out (m) = column sums of A (n, m) + beta out. */
    void (*column_sums)(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out);

    /* Sets every entry of x to value. */
    void (*fill)(eh_compute *c, int64_t count, double value, eh_real *x);
    /* Copies x to y. */
    void (*copy)(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
    /* Copies the matrix x (rows, columns; ldx) to y (rows, columns; ldy). */
    void (*copy_rows)(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                      int64_t ldy);
    /* Multiplies x by a. */
    void (*scale)(eh_compute *c, int64_t count, double a, eh_real *x);
    /* Multiplies y by x, entry by entry. */
    void (*multiply)(eh_compute *c, int64_t count, const eh_real *x, eh_real *y);
    /* Computes y += a x. */
    void (*axpy)(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y);
    /* Returns the dot product of x and y, summed in double. Waits for the result. */
    double (*dot)(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y);
    /* Averages two gradients and their losses: y = (x + y) / 2 and *loss = (*loss + *other) / 2.
     * The result is nonfinite if either loss is. */
    void (*average)(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss);
    /* Makes step t >= 1 of Adam. Does nothing if the value of *loss is not finite. Skips
     * parameters whose gradient is not finite and sets loss->nonfinite. */
    void (*adam)(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x);

    /* Computes the loss of a neighbor problem (with nonfinite = 0) and its gradients dY (n, h)
     * and dG (z, h). With self, dG is NULL and dY receives both. The loss is NaN if an embedding
     * is not finite. NULL: objective/neighbor.c runs its reference code. */
    void (*pairs)(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG);
    /* Sets P (n, z) to targets of samples that are compared with exemplars (no self, no nca). Those
     * of labeled samples follow from the labels and add up to 1. A sample without a label has its
     * own similarities as target; these add up to `unlabeled`. NULL: objective/neighbor.c runs its
     * reference code. */
    void (*own_targets)(eh_compute *c, const eh_pairs *p, double unlabeled, eh_real *P);

    /* Computes the loss of a large-margin problem (with nonfinite = 0) and its gradient
     * dY (n + n * targets, h). The loss is not finite if the embedding of a target, or of an anchor
     * with a target, is not. NULL: objective/hinge.c runs its reference code. */
    void (*triples)(eh_compute *c, const eh_triples *p, eh_loss *loss, eh_real *dY);
    /* Computes P (n, n) = (p_j|i + p_i|j) / 2n. p_j|i ~ exp(-beta_i |x_i - x_j|^2) over the
     * other rows of X (n, dims), with beta_i such that the entropy is as close to
     * log(perplexity) as possible (compute/bandwidth.h). P is symmetric, its sum is 1 and its
     * diagonal is 0. */
    void (*affinities)(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P);

    /* Finds the k nearest rows of R (r, dims) for each row of Q (q, dims), k <= r, nearest
     * first, ties by index: index (q, k) and squared Euclidean distance (q, k). */
    void (*nearest)(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                    eh_row *index, eh_real *distance);
    /* Sets label (q) to the majority class of each row of index (q, k), which is sorted by
     * distance. Among tied classes, the class of the nearest neighbor wins. */
    void (*vote)(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
                 eh_label *label);
    /* Sets label (q) to the class whose references have the largest sum of similarities to the row
     * of Q (q, dims). R (r, dims) is grouped by class. Among tied classes, the first wins. */
    void (*argmax_similarity)(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                              const eh_label *reference_label, const eh_similarity *similarity, eh_label *label);
} eh_compute_ops;

struct eh_compute {
    const eh_compute_ops *op;
    size_t packed_size;  /* bytes of an element of a packed matrix */
    bool packed_is_real; /* packed elements are scalars: an eh_packed * may be cast to eh_real * */
    int threads;
    unsigned float_mode; /* of the caller, between begin and end */
    int omp_threads;     /* likewise */
    void *state;         /* private to the backend */
};

/* Operations are called between begin and end. Between them, denormal numbers are flushed to
 * zero in the calling thread and in the workers (the gradient of a saturated sigmoid would
 * otherwise cost a hundred cycles a multiplication), and BLAS starts no threads. end() restores
 * the caller's modes. */
void eh_compute_begin(eh_compute *c);
void eh_compute_end(eh_compute *c);

/* Opens the backend that the context names. plain: packed elements are scalars, whatever
 * precision the context requests. */
enhope_status eh_compute_open(enhope_context *ctx, bool plain, eh_compute **out);
/* The number of threads that a backend uses on the host. */
int eh_compute_threads(const enhope_context *ctx);
void eh_compute_close(eh_compute *c);
/* Allocates a zeroed block of count elements. *out receives a pointer to any of the types above. */
enhope_status eh_compute_new(eh_compute *c, enhope_context *ctx, const char *what, int64_t count, size_t size,
                             void *out);

/* Element i of v. */
static inline eh_real *eh_at(const eh_compute *c, const eh_real *v, int64_t i)
{
    return (eh_real *)((char *)(uintptr_t)v + i * (int64_t)c->op->real_size);
}
static inline eh_packed *eh_packed_at(const eh_compute *c, const eh_packed *v, int64_t i)
{
    return (eh_packed *)((char *)(uintptr_t)v + i * (int64_t)c->packed_size);
}
static inline eh_label *eh_label_at(const eh_label *v, int64_t i)
{
    return (eh_label *)((char *)(uintptr_t)v + i * (int64_t)sizeof(int32_t));
}
static inline eh_row *eh_row_at(const eh_row *v, int64_t i)
{
    return (eh_row *)((char *)(uintptr_t)v + i * (int64_t)sizeof(int64_t));
}
static inline eh_loss *eh_loss_at(const eh_loss *v, int64_t i)
{
    return (eh_loss *)((char *)(uintptr_t)v + i * (int64_t)sizeof(eh_loss_value));
}

/* place() and unplace() of the backends in host memory: the table refers to the caller's matrix. */
enhope_status eh_host_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                            const float *shift, const float *mul, eh_table *out);
void eh_host_unplace(eh_compute *c, eh_table *t);
/* output_grad(), row_range(), vote() and argmax_similarity() of these backends (host.c). */
void eh_host_output_grad(eh_compute *c, eh_epilogue slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                         const eh_real *V, const eh_real *T, bool add, eh_packed *dA, eh_real *db, eh_real *dV);
void eh_host_row_range(eh_compute *c, int64_t first, int64_t n, eh_row *rows);
int32_t eh_host_vote_row(const int64_t *index, int64_t k, const int32_t *reference_label);
void eh_host_vote(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
                  eh_label *label);

void eh_host_argmax_similarity(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                               const eh_label *reference_label, const eh_similarity *similarity, eh_label *label);

extern const eh_compute_ops eh_compute_ref, eh_compute_cpu;

#endif
