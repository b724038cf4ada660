/* A deep map with a linear last layer, as in parametric t-SNE (van der Maaten 2009):
 *
 *   t_1 = unit(C^T x'),  t_l = unit(W_l^T t_(l-1) + b_l),  y = V t_L
 *   x' = [x; 1],  unit(a) = sigmoid(a) or max(a, 0)
 *
 * C (H+1, w_1), W_l (w_(l-1), w_l), b_l (w_l), V (h, w_L) for layers of w_1, ..., w_L units.
 * Takes dense rows only. */
#include <math.h>

#include "map/map.h"

/* Tensors: C, then W_l and b_l of layers 2 to L, then V. */
static int mlp_tensors(const eh_map_shape *s)
{
    return 2 * s->layers;
}

static eh_tensor mlp_tensor(const eh_map_shape *s, int i)
{
    static const char *const W[] = {"map.W2", "map.W3", "map.W4", "map.W5", "map.W6", "map.W7", "map.W8"};
    static const char *const b[] = {"map.b2", "map.b3", "map.b4", "map.b5", "map.b6", "map.b7", "map.b8"};
    const int layer = (i + 1) / 2; /* counted from 0 */
    if (i == 0) return (eh_tensor){.name = "map.C", .rank = 2, .shape = {s->H + 1, s->width[0]}};
    if (i == mlp_tensors(s) - 1)
        return (eh_tensor){.name = "map.V", .rank = 2, .shape = {s->h, s->width[s->layers - 1]}};
    if (i % 2) return (eh_tensor){.name = W[layer - 1], .rank = 2, .shape = {s->width[layer - 1], s->width[layer]}};
    return (eh_tensor){.name = b[layer - 1], .rank = 1, .shape = {s->width[layer]}};
}

/* Offsets of W and b of a layer in theta, and of V. */
static int64_t at_W(const eh_map_shape *s, int layer)
{
    return eh_map_offset(&eh_map_mlp, s, layer ? 2 * layer - 1 : 0);
}
static int64_t at_b(const eh_map_shape *s, int layer)
{
    return eh_map_offset(&eh_map_mlp, s, 2 * layer);
}
static int64_t at_V(const eh_map_shape *s)
{
    return eh_map_offset(&eh_map_mlp, s, mlp_tensors(s) - 1);
}

typedef struct activations {
    eh_packed *weights[EH_MAP_LAYERS]; /* C, W in packed format, unless packed_is_real */
    eh_real *none;                     /* (w_1) zeros: the bias of the first layer is a row of C */
    eh_real *T[EH_MAP_LAYERS];         /* (n, w) */
    eh_packed *S[EH_MAP_LAYERS];       /* the same in packed format, unless packed_is_real */
    eh_packed *dA[EH_MAP_LAYERS];      /* (n, w) */
    eh_real *d;                        /* (n, w) dA of a layer as scalars, unless packed_is_real */
    eh_real *db;                       /* (w) scratch for the first layer, which has no b */
} activations;

/* Takes the next rows x columns elements of the workspace. *end grows, -1 on overflow. */
static eh_real *take(const eh_compute *c, eh_real *work, int64_t rows, int64_t columns, size_t size, int64_t *end)
{
    int64_t count, size_needed = -1;
    if (*end >= 0 && eh_mul(rows, columns, &count)) size_needed = eh_map_size(c, count, size);
    const int64_t from = *end;
    if (size_needed < 0 || __builtin_add_overflow(from, size_needed, end)) {
        *end = -1;
        return NULL;
    }
    return work ? eh_at(c, work, from) : NULL;
}

/* Assigns the pointers from `work` on, unless that is NULL. Returns the size in scalars, -1 on
 * overflow. */
static int64_t lay_out(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep, eh_real *work, activations *a)
{
    const size_t real_size = c->op->real_size;
    const int64_t narrow = c->packed_is_real ? 0 : 1,
                  kept = keep ? n : 0; /* rows of arrays that are not always needed */
    int64_t end = 0, widest = 0;
    a->none = take(c, work, 1, s->width[0], real_size, &end);
    a->db = take(c, work, keep, s->width[0], real_size, &end);
    for (int l = 0; l < s->layers; l++) {
        const int64_t w = s->width[l], inputs = l ? s->width[l - 1] : s->H + 1;
        a->weights[l] = (eh_packed *)take(c, work, narrow * inputs, w, c->packed_size, &end);
        a->T[l] = take(c, work, n, w, real_size, &end);
        a->S[l] = (eh_packed *)take(c, work, narrow * n, w, c->packed_size, &end);
        a->dA[l] = (eh_packed *)take(c, work, kept, w, c->packed_size, &end);
        widest = w > widest ? w : widest;
    }
    a->d = take(c, work, narrow * kept, widest, real_size, &end);
    return end;
}

static int64_t mlp_work(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep)
{
    activations a;
    return lay_out(s, c, n, keep, NULL, &a);
}

/* The input of the product after layer l. */
static const eh_packed *as_packed(const eh_compute *c, const activations *a, int l)
{
    return c->packed_is_real ? (const eh_packed *)a->T[l] : a->S[l];
}

static const eh_packed *weights(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const activations *a, int l,
                                bool fresh)
{
    return eh_map_packed(c, l ? s->width[l - 1] : s->H + 1, s->width[l], eh_at(c, theta, at_W(s, l)), a->weights[l],
                         fresh);
}

static void mlp_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                        eh_real *Y, bool keep)
{
    const int64_t n = x->dense_n, last = s->width[s->layers - 1];
    activations a;
    lay_out(s, c, n, keep, work, &a);
    c->op->fill(c, s->width[0], 0, a.none);
    for (int l = 0; l < s->layers; l++)
        c->op->product(c, &(eh_product){.M = n,
                                        .N = s->width[l],
                                        .K = l ? s->width[l - 1] : s->H + 1,
                                        .A = l ? as_packed(c, &a, l - 1) : x->X,
                                        .lda = l ? s->width[l - 1] : x->ld,
                                        .B = weights(s, c, theta, &a, l, true),
                                        .ldb = s->width[l],
                                        .epilogue = s->relu ? EH_EPILOGUE_RELU : EH_EPILOGUE_SIGMOID,
                                        .with = l ? eh_at(c, theta, at_b(s, l)) : a.none,
                                        .C = a.T[l],
                                        .P = c->packed_is_real ? NULL : a.S[l],
                                        .ldc = s->width[l]});
    c->op->gemm(c, false, true, n, s->h, last, 1, a.T[s->layers - 1], last, eh_at(c, theta, at_V(s)), last, 0, Y, s->h);
}

/* dW = sum t da^T of layer l from its da, over the rows of a chunk. */
static void layer_sums(const eh_map_shape *s, eh_compute *c, const activations *a, int l, const eh_map_chunks *chunks,
                       int64_t p)
{
    const int64_t w = s->width[l], below = s->width[l - 1], first = chunks->start[p];
    c->op->product(c, &(eh_product){.ta = true,
                                    .M = below,
                                    .N = w,
                                    .K = eh_map_chunk_rows(chunks, p),
                                    .A = eh_packed_at(c, as_packed(c, a, l - 1), first * below),
                                    .lda = below,
                                    .B = eh_packed_at(c, a->dA[l], first * w),
                                    .ldb = w,
                                    .add = eh_map_chunk_adds(chunks, p),
                                    .C = eh_map_chunk_gradient(c, chunks, p, at_W(s, l)),
                                    .ldc = w});
}

/* The same after the last layer: da, db = sum da, dV = sum dy t^T. */
static void output_sums(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const activations *a,
                        const eh_real *dY, const eh_map_chunks *chunks, int64_t p)
{
    const int top = s->layers - 1;
    const int64_t first = chunks->start[p], w = s->width[top];
    c->op->output_grad(c, s->relu ? EH_EPILOGUE_RELU_GRAD : EH_EPILOGUE_SIGMOID_GRAD, eh_map_chunk_rows(chunks, p), w,
                       s->h, eh_at(c, dY, first * s->h), eh_at(c, theta, at_V(s)), eh_at(c, a->T[top], first * w),
                       eh_map_chunk_adds(chunks, p), eh_packed_at(c, a->dA[top], first * w),
                       top ? eh_map_chunk_gradient(c, chunks, p, at_b(s, top)) : a->db,
                       eh_map_chunk_gradient(c, chunks, p, at_V(s)));
}

static void mlp_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                         const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX)
{
    const int64_t n = x->dense_n;
    activations a;
    lay_out(s, c, n, true, work, &a);
    for (int64_t p = 0; p < chunks->count; p++) output_sums(s, c, theta, &a, dY, chunks, p);
    for (int l = s->layers - 1; l > 0; l--) {
        const int64_t w = s->width[l], below = s->width[l - 1];
        eh_real *d = c->packed_is_real ? (eh_real *)a.dA[l - 1] : a.d;
        for (int64_t p = 0; p < chunks->count; p++) layer_sums(s, c, &a, l, chunks, p);
        c->op->product(c, &(eh_product){.tb = true,
                                        .M = n,
                                        .N = below,
                                        .K = w,
                                        .A = a.dA[l],
                                        .lda = w,
                                        .B = weights(s, c, theta, &a, l, false),
                                        .ldb = w,
                                        .epilogue = s->relu ? EH_EPILOGUE_RELU_GRAD : EH_EPILOGUE_SIGMOID_GRAD,
                                        .with = a.T[l - 1],
                                        .C = d,
                                        .P = c->packed_is_real ? NULL : a.dA[l - 1],
                                        .ldc = below}); /* da = slope of W da of the layer above */
        for (int64_t p = 0; p < chunks->count && l > 1; p++)
            c->op->column_sums(c, eh_map_chunk_rows(chunks, p), below, eh_at(c, d, chunks->start[p] * below),
                               eh_map_chunk_adds(chunks, p), eh_map_chunk_gradient(c, chunks, p, at_b(s, l - 1)));
    }
    eh_first_backward(c, x, s->H, weights(s, c, theta, &a, 0, false), s->width[0], a.dA[0], chunks, dx_n, dX);
}

/* The inputs of the units of every layer start with a spread near one around zero. If the layer
 * below does too, a sigmoid has mean 1/2, which the biases subtract, and standard deviation near
 * 1/5; max(a, 0) has mean square 1/2, and its mean is not subtracted. The embedding starts about
 * as wide as that of the hope map. */
static const double SIGMOID_W = 4, SIGMOID_V = 4, RELU_W = 1.4142135623730951, RELU_V = 2;

static void mlp_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                     const eh_packed *sample, int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    (void)sample, (void)work;
    const int64_t all = eh_map_parameters(&eh_map_mlp, s);
    const double W_sd = s->relu ? RELU_W : SIGMOID_W, V_sd = s->relu ? RELU_V : SIGMOID_V;
    const double sd_C = eh_first_deviation(c, response, X, ld, n, s->H);
    for (int64_t i = 0; i < all; i++) host[i] = (float)eh_random_normal(seed, EH_STREAM_INIT, (uint64_t)i);
    for (int64_t i = 0; i < (s->H + 1) * s->width[0]; i++) host[i] *= (float)sd_C;
    for (int l = 1; l < s->layers; l++) {
        const int64_t w = s->width[l], below = s->width[l - 1];
        float *W = host + at_W(s, l), *b = host + at_b(s, l);
        for (int64_t k = 0; k < w; k++) b[k] = 0;
        for (int64_t i = 0; i < below * w; i++) {
            W[i] *= (float)(W_sd / sqrt((double)below));
            if (!s->relu) b[i % w] -= W[i] / 2;
        }
    }
    for (int64_t i = at_V(s); i < all; i++) host[i] *= (float)(V_sd / sqrt((double)s->width[s->layers - 1]));
    c->op->write(c, theta, host, all);
}

const eh_map eh_map_mlp = {
    .name = "mlp",
    .tensors = mlp_tensors,
    .tensor = mlp_tensor,
    .work = mlp_work,
    .init = mlp_init,
    .forward = mlp_forward,
    .backward = mlp_backward,
};
