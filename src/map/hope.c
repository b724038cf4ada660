/* The high-order map, eq. (6) of the paper: y = V sigmoid(W^T (C^T x')^O + b), x' = [x; 1].
 *
 *   u = C^T x'   s = u^O   t = sigmoid(W^T s + b)   y = V t
 *
 * C (H+1, F), W (F, m), b (m), V (h, m). Samples are rows of matrices: U = X' C, A = S W, Y = T
 * V^T. */
#include <math.h>

#include "map/map.h"

enum { TENSOR_C, TENSOR_W, TENSOR_B, TENSOR_V, TENSORS };

static int hope_tensors(const eh_map_shape *s)
{
    (void)s;
    return TENSORS;
}

static eh_tensor hope_tensor(const eh_map_shape *s, int i)
{
    switch (i) {
    case TENSOR_C: return (eh_tensor){.name = "map.C", .rank = 2, .shape = {s->H + 1, s->F}};
    case TENSOR_W: return (eh_tensor){.name = "map.W", .rank = 2, .shape = {s->F, s->m}};
    case TENSOR_B: return (eh_tensor){.name = "map.b", .rank = 1, .shape = {s->m}};
    default: return (eh_tensor){.name = "map.V", .rank = 2, .shape = {s->h, s->m}};
    }
}

/* The number of scalars of C and W. These are inputs of products and come first in theta. */
static int64_t packed_count(const eh_map_shape *s)
{
    return eh_map_offset(&eh_map_hope, s, TENSOR_B);
}

/* A workspace. backward() reuses S for dU. Without backward(), U and T share memory, because U
 * is no longer needed when T is computed. */
typedef struct activations {
    eh_packed *weights; /* C, W in packed format, unless packed_is_real */
    eh_real *U;         /* (n, F) */
    eh_packed *S;       /* (n, F) */
    eh_real *T;         /* (n, m) */
    eh_packed *dA;      /* (n, m) */
} activations;

/* Assigns the pointers from `work` on, unless that is NULL. Returns the size in scalars, -1 on
 * overflow. */
static int64_t lay_out(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep, eh_real *work, activations *a)
{
    int64_t U, T;
    if (!eh_mul(n, s->F, &U) || !eh_mul(n, s->m, &T)) return -1;
    if (!keep) T = T > U ? T : U;
    const int64_t sizes[] = {eh_map_packed_size(c, packed_count(s)), eh_map_size(c, keep ? U : 0, c->op->real_size),
                             eh_map_size(c, U, c->packed_size), eh_map_size(c, T, c->op->real_size),
                             eh_map_size(c, keep ? T : 0, c->packed_size)};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    int64_t from[COUNT], end = 0;
    for (int i = 0; i < COUNT; i++) {
        from[i] = end;
        if (sizes[i] < 0 || __builtin_add_overflow(end, sizes[i], &end)) return -1;
    }
    if (!work) return end;
    a->weights = (eh_packed *)work;
    a->S = (eh_packed *)eh_at(c, work, from[2]);
    a->T = eh_at(c, work, from[3]);
    a->U = keep ? eh_at(c, work, from[1]) : a->T;
    a->dA = (eh_packed *)eh_at(c, work, from[4]);
    return end;
}

static int64_t hope_work(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep)
{
    return lay_out(s, c, n, keep, NULL, NULL);
}

/* C in packed format, followed by W. */
static const eh_packed *weights(const eh_map_shape *s, eh_compute *c, const eh_real *theta, eh_packed *packed,
                                bool fresh)
{
    const int64_t at_W = (s->H + 1) * s->F;
    eh_map_packed(c, s->F, s->m, eh_at(c, theta, at_W), eh_packed_at(c, packed, at_W), fresh);
    return eh_map_packed(c, s->H + 1, s->F, theta, packed, fresh);
}

/* S = (X' C)^O, then A = S W with its epilogue, stored in T. */
static void hidden_units(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x,
                         const activations *a, bool keep, eh_epilogue epilogue)
{
    const int64_t n = x->sparse_n + x->dense_n, F = s->F, m = s->m, at_W = (s->H + 1) * F;
    const eh_packed *C = weights(s, c, theta, a->weights, true);
    eh_first_forward(c, x, s->H, theta, C, F, s->order, a->U, a->S, keep);
    c->op->product(c, &(eh_product){.M = n,
                                    .N = m,
                                    .K = F,
                                    .A = a->S,
                                    .lda = F,
                                    .B = eh_packed_at(c, C, at_W),
                                    .ldb = m,
                                    .epilogue = epilogue,
                                    .with = eh_at(c, theta, at_W + F * m),
                                    .C = a->T,
                                    .ldc = m});
}

static void hope_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                         eh_real *Y, bool keep)
{
    const int64_t n = x->sparse_n + x->dense_n, m = s->m;
    const eh_real *V = eh_at(c, theta, packed_count(s) + m);
    activations a;
    lay_out(s, c, n, keep, work, &a);
    hidden_units(s, c, theta, x, &a, keep, EH_EPILOGUE_SIGMOID);
    c->op->gemm(c, false, true, n, s->h, m, 1, a.T, m, V, m, 0, Y, s->h);
}

/* The sums of a chunk that read S: da, db = sum da, dV = sum dy t^T, dW = sum s da^T. */
static void last_sums(const eh_map_shape *s, eh_compute *c, const eh_real *V, const activations *a, const eh_real *dY,
                      const eh_map_chunks *chunks, int64_t p)
{
    const int64_t first = chunks->start[p], n = eh_map_chunk_rows(chunks, p), F = s->F, m = s->m;
    const bool add = eh_map_chunk_adds(chunks, p);
    eh_real *dW = eh_map_chunk_gradient(c, chunks, p, (s->H + 1) * F);
    eh_real *db = eh_at(c, dW, F * m);
    eh_packed *dA = eh_packed_at(c, a->dA, first * m);
    c->op->output_grad(c, EH_EPILOGUE_SIGMOID_GRAD, n, m, s->h, eh_at(c, dY, first * s->h), V,
                       eh_at(c, a->T, first * m), add, dA, db, eh_at(c, db, m));
    c->op->product(c, &(eh_product){.ta = true,
                                    .M = F,
                                    .N = m,
                                    .K = n,
                                    .A = eh_packed_at(c, a->S, first * F),
                                    .lda = F,
                                    .B = dA,
                                    .ldb = m,
                                    .add = add,
                                    .C = dW,
                                    .ldc = m});
}

static void hope_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                          const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX)
{
    const int64_t n = x->sparse_n + x->dense_n, F = s->F, m = s->m, at_W = (s->H + 1) * F;
    activations a;
    lay_out(s, c, n, true, work, &a);
    const eh_packed *C = weights(s, c, theta, a.weights, false);
    const eh_real *V = eh_at(c, theta, at_W + F * m + m);
    for (int64_t p = 0; p < chunks->count; p++) last_sums(s, c, V, &a, dY, chunks, p);
    c->op->product(c, &(eh_product){.tb = true,
                                    .M = n,
                                    .N = F,
                                    .K = m,
                                    .A = a.dA,
                                    .lda = m,
                                    .B = eh_packed_at(c, C, at_W),
                                    .ldb = m,
                                    .epilogue = EH_EPILOGUE_POWER_GRAD,
                                    .order = s->order,
                                    .with = a.U,
                                    .P = a.S,
                                    .ldc = F});                 /* du = O u^(O-1) W da */
    eh_first_backward(c, x, s->H, C, F, a.S, chunks, dx_n, dX); /* dC = sum x' du^T, dx = C du */
}

/* The initialization matters more than the solver. The responses of the factors have a given
 * mean square of order one. W is such that the centered inputs of the sigmoids have a spread
 * near one. b = -W^T mean(s) centers the sigmoids. V is so small that no point starts near a
 * wrong exemplar, where the Student gradient is flat. */
static const double INIT_W = 0.7, INIT_V = 0.2;

/* The variance of u^O for a normal u of variance one: E u^2O - (E u^O)^2 with E u^2k = 1 3 5 ...
 * (2k - 1). */
static double power_variance(int order)
{
    double square = 1, mean = 1;
    for (int odd = 1; odd < 2 * order; odd += 2) square *= odd;
    for (int odd = 1; odd < order; odd += 2) mean *= odd;
    return square - (order % 2 ? 0 : mean * mean);
}

static void draw(uint64_t seed, double sd, int64_t from, int64_t to, float *host)
{
    for (int64_t i = from; i < to; i++)
        host[i] = sd == 0 ? 0 : (float)(sd * eh_random_normal(seed, EH_STREAM_INIT, (uint64_t)i));
}

static void hope_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                      const eh_packed *sample, int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    const int64_t F = s->F, m = s->m, H1 = s->H + 1;
    const int64_t at_W = H1 * F, at_b = at_W + F * m, at_V = at_b + m, all = at_V + s->h * m;
    draw(seed, eh_first_deviation(c, response, X, ld, n, s->H), 0, at_W, host);
    draw(seed, INIT_W * sqrt(power_variance(2) / power_variance(s->order)) / sqrt((double)F), at_W, at_b, host);
    draw(seed, 0, at_b, at_V, host);
    draw(seed, INIT_V, at_V, all, host);
    c->op->write(c, theta, host, all);
    if (!n) return;
    /* b = -mean over the sample of W^T s */
    activations a;
    lay_out(s, c, n, true, work, &a);
    const eh_rows rows = {.X = sample, .ld = ld, .dense_n = n};
    eh_real *b = eh_at(c, theta, at_b);
    hidden_units(s, c, theta, &rows, &a, true, EH_EPILOGUE_NONE);
    c->op->column_sums(c, n, m, a.T, 0, b);
    c->op->scale(c, m, -1.0 / (double)n, b);
}

const eh_map eh_map_hope = {
    .name = "hope",
    .sparse = true,
    .tensors = hope_tensors,
    .tensor = hope_tensor,
    .work = hope_work,
    .init = hope_init,
    .forward = hope_forward,
    .backward = hope_backward,
};
