/* The float32 engine: the maps hope, mlp and linear as a sequence of layers.
 *
 *   t_1 = unit_1(C^T [x; 1]),  t_l = unit_l(W_l^T t_(l-1) + b_l),  y = V t_L
 *
 * hope has a power and a sigmoid layer, mlp any number of sigmoid or relu layers. linear has one
 * layer without a unit. Products have the order of sums of compute/cpu/rows.c, and units are those
 * of the cpu backend, so the numbers are the same. Sparse rows are the exception: the backend adds
 * the bias first and this engine last, so that sparse and dense rows of equal values agree. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"
#include "predict/engine.h"
#include "predict/panels.h"

enum {
    FEW = 4, /* up to this number of outputs, rows.c sums y as dot products */
    MAX_LAYERS = EH_MAP_LAYERS + 1,
    PAD = EH_PANEL_HALF /* rows and lists are padded to this multiple */
};

typedef enum unit { NONE, SIGMOID, RELU } unit;

typedef struct layer {
    eh_panels W;
    const float *b; /* (N) if the unit is SIGMOID or RELU */
    unit unit;
} layer;

typedef struct float_state {
    const enhope_model *model;
    int layers;
    layer layer[MAX_LAYERS];
    const float *V; /* (h, m) if y is computed by dot products; NULL: by the last layer */
    int64_t m;
    float *no_bias;    /* (N of the first layer) zeros */
    int64_t stride;    /* of a scaled row */
    int64_t widest[2]; /* columns of the widest result of the layers 0, 2, ... and 1, 3, ... */
    int order;         /* power of the results of the first layer */
    bool sparse;       /* scaling keeps zeros, so sparse rows need not be converted */
} float_state;

/* ---- layers ---- */

static void float_free(void *state)
{
    float_state *s = state;
    if (!s) return;
    for (int l = 0; l < s->layers; l++) eh_panels_free(&s->layer[l].W);
    eh_free(s->no_bias);
    eh_free(s);
}

static enhope_status add_layer(enhope_context *ctx, float_state *s, int64_t K, int64_t N, const float *W, unit unit,
                               const float *b)
{
    layer *to = &s->layer[s->layers];
    EH_TRY(eh_panels_create(ctx, K, N, W, false, s->layers == 0, &to->W));
    to->unit = unit;
    to->b = b;
    s->layers++;
    return ENHOPE_OK;
}

/* y = V t with V (h, m) */
static enhope_status add_output(enhope_context *ctx, float_state *s, int64_t m, const float *V)
{
    const int64_t h = s->model->shape.h;
    s->m = m;
    if (h <= FEW) {
        s->V = V;
        return ENHOPE_OK;
    }
    EH_TRY(eh_panels_create(ctx, m, h, V, true, false, &s->layer[s->layers].W));
    s->layers++;
    return ENHOPE_OK;
}

static enhope_status hope_layers(enhope_context *ctx, float_state *s)
{
    const eh_map_shape *shape = &s->model->shape;
    const float *C = s->model->theta, *W = C + (shape->H + 1) * shape->F, *b = W + shape->F * shape->m;
    EH_TRY(add_layer(ctx, s, shape->H + 1, shape->F, C, NONE, NULL));
    EH_TRY(add_layer(ctx, s, shape->F, shape->m, W, SIGMOID, b));
    return add_output(ctx, s, shape->m, b + shape->m);
}

static enhope_status mlp_layers(enhope_context *ctx, float_state *s)
{
    const eh_map_shape *shape = &s->model->shape;
    const float *at = s->model->theta;
    EH_TRY(eh_new(ctx, "the predictor", shape->width[0], sizeof *s->no_bias, (void **)&s->no_bias));
    for (int l = 0; l < shape->layers; l++) {
        const int64_t K = l ? shape->width[l - 1] : shape->H + 1, N = shape->width[l];
        const float *W = at, *b = l ? W + K * N : s->no_bias;
        EH_TRY(add_layer(ctx, s, K, N, W, shape->relu ? RELU : SIGMOID, b));
        at = W + K * N + (l ? N : 0);
    }
    return add_output(ctx, s, shape->width[shape->layers - 1], at);
}

static bool keeps_zeros(const enhope_model *model)
{
    for (int64_t j = 0; j < model->shape.H; j++)
        if (model->shift[j] != 0) return false;
    return true;
}

static enhope_status float_create(enhope_context *ctx, const enhope_model *model, void **state)
{
    const eh_map_shape *shape = &model->shape;
    float_state *s = NULL;
    enhope_status status;
    EH_TRY(eh_new(ctx, "the predictor", 1, sizeof *s, (void **)&s));
    s->model = model;
    s->stride = (shape->H + 1 + PAD - 1) / PAD * PAD;
    s->order = model->map == &eh_map_hope ? shape->order : 1;
    s->sparse = keeps_zeros(model);
    if (model->map == &eh_map_hope)
        EH_CHECK(hope_layers(ctx, s));
    else if (model->map == &eh_map_mlp)
        EH_CHECK(mlp_layers(ctx, s));
    else
        EH_CHECK(add_layer(ctx, s, shape->H + 1, shape->h, model->theta, NONE, NULL));
    for (int l = 0; l < s->layers; l++) s->widest[l % 2] = eh_max(s->widest[l % 2], eh_panels_width(&s->layer[l].W));
    *state = s;
    return ENHOPE_OK;
cleanup:
    float_free(s);
    return status;
}

/* ---- scratch memory ---- */

typedef struct scratch {
    float *X;              /* (rows, stride) scaled rows */
    float *value;          /* (stride + PAD) nonzero inputs of one row */
    int32_t *list;         /* (groups, stride + PAD) nonzero inputs ... */
    eh_panels_list *lists; /* (groups) ... and their numbers */
    float *T[2];           /* (rows, widest) results of layers, in turn */
} scratch;

static int64_t groups_of(int64_t rows)
{
    return (rows + EH_PANEL_ROWS - 1) / EH_PANEL_ROWS;
}

/* Assigns the parts of `memory` (NULL: they are only measured) for a tile of n rows. Returns their
 * size in bytes. */
static size_t lay_out(const float_state *s, int64_t n, char *memory, scratch *out)
{
    const int64_t groups = groups_of(n), rows = n == 1 ? 1 : groups * EH_PANEL_ROWS, list = s->stride + PAD;
    const int64_t floats[] = {rows * s->stride, list, rows * s->widest[0], rows * s->widest[1]};
    const uintptr_t begin = (uintptr_t)memory; /* C adds no number to NULL */
    float *part[4];
    size_t end = 0;
    for (int i = 0; i < 4; i++) {
        part[i] = (float *)(begin + end);
        end += eh_engine_lines((size_t)floats[i] * sizeof(float));
    }
    *out = (scratch){.X = part[0], .value = part[1], .T = {part[2], part[3]}, .list = (int32_t *)(begin + end)};
    end += eh_engine_lines((size_t)(groups * list) * sizeof *out->list);
    out->lists = (eh_panels_list *)(begin + end);
    return end + eh_engine_lines((size_t)groups * sizeof *out->lists);
}

static size_t float_scratch(const void *state, int64_t rows)
{
    scratch sizes;
    return lay_out(state, rows, NULL, &sizes);
}

/* ---- scaling ---- */

EH_SIMD static void scale_u8(int64_t H, const uint8_t *restrict x, const float *restrict shift,
                             const float *restrict mul, float *restrict to)
{
    for (int64_t j = 0; j < H; j++) to[j] = ((float)x[j] - shift[j]) * mul[j];
}

/* Returns whether a value is not finite. */
EH_SIMD static int scale_f32(int64_t H, const float *restrict x, const float *restrict shift, const float *restrict mul,
                             float *restrict to)
{
    int bad = 0;
    for (int64_t j = 0; j < H; j++) {
        bad |= !(fabsf(x[j]) <= FLT_MAX);
        to[j] = (x[j] - shift[j]) * mul[j];
    }
    return bad;
}

static bool scale_csr(const enhope_model *model, const eh_matrix *x, int64_t i, float *to)
{
    bool good = true;
    for (int64_t j = 0; j < model->shape.H; j++) to[j] = (0 - model->shift[j]) * model->mul[j];
    for (int64_t a = x->row_start[i]; a < x->row_start[i + 1]; a++) {
        const int32_t j = x->column[a];
        good &= fabsf(x->value[a]) <= FLT_MAX;
        to[j] = (x->value[a] - model->shift[j]) * model->mul[j];
    }
    return good;
}

/* Scales row i of x into to (stride), followed by 1 for the bias and zeros. Returns false if a
 * value is not finite. */
static bool scale_row(const float_state *s, const eh_matrix *x, int64_t i, float *to)
{
    const enhope_model *model = s->model;
    const int64_t H = model->shape.H;
    to[H] = 1;
    memset(to + H + 1, 0, (size_t)(s->stride - H - 1) * sizeof *to);
    switch (x->kind) {
    case ENHOPE_U8: scale_u8(H, x->u8 + i * H, model->shift, model->mul, to); return true;
    case ENHOPE_F32: return !scale_f32(H, x->f32 + i * H, model->shift, model->mul, to);
    case ENHOPE_CSR: break;
    }
    return scale_csr(model, x, i, to);
}

/* ---- the first layer ---- */

/* One row whose `count` nonzero inputs are in scratch memory. */
static void multiply_compact(const float_state *s, const scratch *m, int64_t count, float *to)
{
    const layer *first = &s->layer[0];
    const eh_panels_list list = {.k = m->list, .count = count};
    eh_panels_multiply(&first->W, &(eh_panels_task){.rows = 1,
                                                    .A = m->value,
                                                    .lists = &list,
                                                    .compact = true,
                                                    .order = s->order,
                                                    .C = to,
                                                    .ldc = s->widest[0]});
}

static bool first_of_sparse(const float_state *s, const eh_matrix *x, int64_t i, const scratch *m, float *to)
{
    const float *mul = s->model->mul;
    bool good = true;
    int64_t count = 0;
    for (int64_t a = x->row_start[i]; a < x->row_start[i + 1]; a++, count++) {
        good &= fabsf(x->value[a]) <= FLT_MAX;
        m->list[count] = x->column[a];
        m->value[count] = x->value[a] * mul[x->column[a]];
    }
    m->list[count] = (int32_t)s->model->shape.H;
    m->value[count++] = 1;
    multiply_compact(s, m, count, to);
    return good;
}

static bool first_of_one(const float_state *s, const eh_matrix *x, int64_t i, const scratch *m, float *to)
{
    const bool good = scale_row(s, x, i, m->X);
    multiply_compact(s, m, eh_panels_compact(s->model->shape.H + 1, m->X, m->list, m->value), to);
    return good;
}

static bool first_of_many(const float_state *s, const eh_matrix *x, int64_t first, int64_t n, const scratch *m,
                          float *to)
{
    const int64_t K = s->model->shape.H + 1, groups = groups_of(n);
    bool good = true;
    for (int64_t i = 0; i < n; i++) good &= scale_row(s, x, first + i, m->X + i * s->stride);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t row = g * EH_PANEL_ROWS, rows = eh_min(n - row, EH_PANEL_ROWS);
        int32_t *list = m->list + g * (s->stride + PAD);
        m->lists[g].k = list;
        m->lists[g].count = eh_panels_nonzero(rows, K, m->X + row * s->stride, s->stride, list);
    }
    eh_panels_multiply(&s->layer[0].W, &(eh_panels_task){.rows = n,
                                                         .A = m->X,
                                                         .lda = s->stride,
                                                         .lists = m->lists,
                                                         .order = s->order,
                                                         .C = to,
                                                         .ldc = s->widest[0]});
    return good;
}

static bool first_layer(const float_state *s, const eh_matrix *x, int64_t first, int64_t n, const scratch *m, float *to)
{
    bool good = true;
    if (x->kind == ENHOPE_CSR && s->sparse) {
        for (int64_t i = 0; i < n; i++) good &= first_of_sparse(s, x, first + i, m, to + i * s->widest[0]);
        return good;
    }
    return n == 1 ? first_of_one(s, x, first, m, to) : first_of_many(s, x, first, n, m, to);
}

/* ---- all layers ---- */

static void apply_unit(const layer *layer, int64_t n, float *T, int64_t ld)
{
    for (int64_t i = 0; i < n; i++) {
        if (layer->unit == SIGMOID) eh_cpu_sigmoid_range(layer->W.N, layer->b, T + i * ld);
        if (layer->unit == RELU) eh_cpu_relu_range(layer->W.N, layer->b, T + i * ld);
    }
}

static bool float_embed(const void *state, const eh_matrix *x, int64_t first, int64_t n, void *memory, float *Y)
{
    const float_state *s = state;
    const int64_t h = s->model->shape.h;
    const int last = (s->layers - 1) % 2;
    scratch m;
    lay_out(s, n, memory, &m);
    if (!first_layer(s, x, first, n, &m, m.T[0])) return false;
    apply_unit(&s->layer[0], n, m.T[0], s->widest[0]);
    for (int l = 1; l < s->layers; l++) {
        const int from = (l - 1) % 2, to = l % 2;
        eh_panels_multiply(
            &s->layer[l].W,
            &(eh_panels_task){
                .rows = n, .A = m.T[from], .lda = s->widest[from], .order = 1, .C = m.T[to], .ldc = s->widest[to]});
        apply_unit(&s->layer[l], n, m.T[to], s->widest[to]);
    }
    if (s->V)
        eh_cpu_rows(n, h, s->m, m.T[last], s->widest[last], true, s->V, s->m, Y, h);
    else
        for (int64_t i = 0; i < n; i++) memcpy(Y + i * h, m.T[last] + i * s->widest[last], (size_t)h * sizeof *Y);
    return true;
}

const eh_engine eh_engine_float = {
    .name = "float32",
    .create = float_create,
    .free = float_free,
    .scratch = float_scratch,
    .embed = float_embed,
};
