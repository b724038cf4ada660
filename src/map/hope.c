/* The high-order map, eq. (6) of the paper: y = V sigmoid(W^T (C^T x')^O + b), x' = [x; 1].
 *
 *   u = C^T x'   s = u^O   t = sigmoid(W^T s + b)   y = V t
 *
 * C (H+1, F), W (F, m), b (m), V (h, m). Rows of samples are rows of matrices, so that U = X' C, A = S W, Y = T V^T.
 */
#include <math.h>

#include "map/map.h"

enum { TENSOR_C, TENSOR_W, TENSOR_B, TENSOR_V, TENSORS };

static eh_tensor hope_tensor(const eh_map_shape *s, int i)
{
    switch (i) {
    case TENSOR_C: return (eh_tensor){.name = "map.C", .rank = 2, .shape = {s->H + 1, s->F}};
    case TENSOR_W: return (eh_tensor){.name = "map.W", .rank = 2, .shape = {s->F, s->m}};
    case TENSOR_B: return (eh_tensor){.name = "map.b", .rank = 1, .shape = {s->m}};
    default: return (eh_tensor){.name = "map.V", .rank = 2, .shape = {s->h, s->m}};
    }
}

/* What forward leaves: U, S, T; backward reuses S for dU. And its own dT. */
typedef struct activations {
    eh_real *U;  /* (n, F) */
    eh_real *S;  /* (n, F) */
    eh_real *T;  /* (n, m) */
    eh_real *dA; /* (n, m) */
} activations;

static activations lay_out(const eh_map_shape *s, const eh_compute *c, int64_t n, eh_real *work)
{
    activations a;
    a.U = work;
    a.S = eh_at(c, a.U, n * s->F);
    a.T = eh_at(c, a.S, n * s->F);
    a.dA = eh_at(c, a.T, n * s->m);
    return a;
}

static int64_t hope_work(const eh_map_shape *s, int64_t n)
{
    int64_t width, count;
    if (__builtin_add_overflow(s->F, s->m, &width) || !eh_mul(width, 2, &width) || !eh_mul(width, n, &count)) return -1;
    return count;
}

static void hope_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                         eh_real *Y)
{
    const int64_t n = x->sparse_n + x->dense_n, F = s->F, m = s->m;
    const activations a = lay_out(s, c, n, work);
    const eh_real *C = theta;
    const eh_real *W = eh_at(c, C, (s->H + 1) * F);
    const eh_real *b = eh_at(c, W, F * m);
    const eh_real *V = eh_at(c, b, m);
    eh_first_forward(c, x, s->H, C, F, a.U);
    c->op->power(c, n * F, s->order, a.U, a.S);
    c->op->gemm(c, false, false, n, m, F, 1, a.S, F, W, m, 0, a.T, m);
    c->op->sigmoid(c, n, m, b, a.T);
    c->op->gemm(c, false, true, n, s->h, m, 1, a.T, m, V, m, 0, Y, s->h);
}

static void hope_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                          const eh_real *dY, eh_real *dtheta, int64_t dx_n, eh_real *dX)
{
    const int64_t n = x->sparse_n + x->dense_n, F = s->F, m = s->m, h = s->h;
    const activations a = lay_out(s, c, n, work);
    const eh_real *C = theta;
    const eh_real *W = eh_at(c, C, (s->H + 1) * F);
    const eh_real *V = eh_at(c, W, F * m + m);
    eh_real *dC = dtheta;
    eh_real *dW = eh_at(c, dC, (s->H + 1) * F);
    eh_real *db = eh_at(c, dW, F * m);
    eh_real *dV = eh_at(c, db, m);
    c->op->gemm(c, true, false, h, m, n, 1, dY, h, a.T, m, 0, dV, m);   /* dV = sum dy t^T */
    c->op->gemm(c, false, false, n, m, h, 1, dY, h, V, m, 0, a.dA, m);  /* dt = V^T dy */
    c->op->sigmoid_grad(c, n * m, a.T, a.dA);                           /* da = dt t (1 - t) */
    c->op->column_sums(c, n, m, a.dA, 0, db);                           /* db = sum da */
    c->op->gemm(c, true, false, F, m, n, 1, a.S, F, a.dA, m, 0, dW, m); /* dW = sum s da^T */
    c->op->gemm(c, false, true, n, F, m, 1, a.dA, m, W, m, 0, a.S, F);  /* ds = W da */
    c->op->power_grad(c, n * F, s->order, a.U, a.S);                    /* du = O u^(O-1) ds */
    eh_first_backward(c, x, s->H, C, F, a.S, dC, dx_n, dX);             /* dC = sum x' du^T, dx = C du */
}

/* The start matters more than the solver. Factor responses of a given mean square (of order one), W so that the centred
 * inputs of the sigmoids then have a spread near one, b = -W^T mean(s) so that the sigmoids start centred, and a V so
 * small that no point is stuck near a wrong exemplar, where the Student slope has flattened. */
static const double START_W = 0.7, START_V = 0.2;

/* The variance of u^O for a normal u of variance one: E u^2O - (E u^O)^2, where E u^2k = 1 3 5 ... (2k - 1). */
static double power_variance(int order)
{
    double square = 1, mean = 1;
    for (int odd = 1; odd < 2 * order; odd += 2) square *= odd;
    for (int odd = 1; odd < order; odd += 2) mean *= odd;
    return square - (order % 2 ? 0 : mean * mean);
}

static void hope_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                      int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    const int64_t F = s->F, m = s->m, H1 = s->H + 1;
    const int64_t at_W = H1 * F, at_b = at_W + F * m, at_V = at_b + m, all = at_V + s->h * m;
    const double sd_C = eh_first_deviation(c, response, X, ld, n, s->H);
    const double sd_W = START_W * sqrt(power_variance(2) / power_variance(s->order)) / sqrt((double)F);
    for (int64_t i = 0; i < all; i++) {
        const double sd = i < at_W ? sd_C : i < at_b ? sd_W : i < at_V ? 0 : START_V;
        host[i] = sd == 0 ? 0 : (float)(sd * eh_random_normal(seed, EH_STREAM_INIT, (uint64_t)i));
    }
    c->op->write(c, theta, host, all);
    if (!n) return;
    /* b = -mean over the sample of W^T s */
    const activations a = lay_out(s, c, n, work);
    const eh_rows rows = {.X = X, .ld = ld, .dense_n = n};
    eh_real *b = eh_at(c, theta, at_b);
    eh_first_forward(c, &rows, s->H, theta, F, a.U);
    c->op->power(c, n * F, s->order, a.U, a.S);
    c->op->gemm(c, false, false, n, m, F, 1, a.S, F, eh_at(c, theta, at_W), m, 0, a.T, m);
    c->op->column_sums(c, n, m, a.T, 0, b);
    c->op->scale(c, m, -1.0 / (double)n, b);
}

const eh_map eh_map_hope = {
    .name = "hope",
    .tensors = TENSORS,
    .tensor = hope_tensor,
    .work = hope_work,
    .init = hope_init,
    .forward = hope_forward,
    .backward = hope_backward,
};
