/* The predictor: a model prepared for many calls on the CPU.
 *
 * create() packs the weights, embeds the references and allocates all memory. A call divides its
 * rows into tiles. For each tile, a thread takes a workspace of the predictor with an atomic
 * exchange. If all workspaces are in use, it uses smaller tiles on its stack. If the map is too
 * large for the stack, it yields until a workspace is free. */
#define _DEFAULT_SOURCE 1
#include "predict/predictor.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "compute/cpu/cpu.h"
#include "predict/panels.h"

enum {
    GROUP = EH_PANEL_ROWS,
    MAX_TILE = 8 * GROUP,    /* rows of a tile ... */
    TILE_BYTES = 448 * 1024, /* ... whose scratch memory fits into the cache of a core with some weights */
    MIN_WORKSPACES = 4,      /* for callers with their own threads */
    STACK = 32 * 1024,       /* bytes of a workspace on the stack */
    ALONE = 2 * 1000 * 1000  /* multiplications that do not pay for a second thread */
};
static const int64_t NONE = INT64_MAX; /* in place of a bad row */

/* ---- create and free ---- */

static size_t lines(int64_t count, size_t size)
{
    return eh_engine_lines((size_t)count * size);
}

/* Bytes of a workspace for a tile of n rows: the parts of `memory`, then the engine's. */
static size_t decision_bytes(const enhope_predictor *p, int64_t n)
{
    return lines(n * p->model->shape.h, sizeof(float)) + lines(n, sizeof(int32_t)) +
           lines(EH_DECISION_SCRATCH(p->model->c), sizeof(double)) + lines(p->k, sizeof(int64_t)) +
           lines(p->k, sizeof(float));
}

static size_t tile_bytes(const enhope_predictor *p, int64_t n)
{
    return decision_bytes(p, n) + p->engine->scratch(p->state, n);
}

static enhope_status allocate(enhope_context *ctx, enhope_predictor *p)
{
    const enhope_model *model = p->model;
    p->tile = MAX_TILE;
    while (p->tile > GROUP && tile_bytes(p, p->tile) > TILE_BYTES) p->tile -= GROUP;
    p->workspace = tile_bytes(p, p->tile);
    p->workspaces = p->threads > MIN_WORKSPACES ? p->threads : MIN_WORKSPACES;
    EH_TRY(eh_new(ctx, "the workspaces of the predictor", p->workspaces, p->workspace, (void **)&p->memory));
    EH_TRY(eh_new(ctx, "the workspaces of the predictor", p->workspaces, sizeof *p->used, (void **)&p->used));
    EH_TRY(eh_new(ctx, "the embedded references", model->r * model->shape.h, sizeof *p->G, (void **)&p->G));
    return enhope_model_references(ctx, model, p->G, NULL);
}

static enhope_status check_device(enhope_context *ctx)
{
    if (!strcmp(ctx->device, "cpu") || !strcmp(ctx->device, "auto")) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a predictor computes on the cpu, the device is '%s'; use device cpu",
                   ctx->device);
}

enhope_status enhope_predictor_create(enhope_context *ctx, const enhope_model *model,
                                      const enhope_predictor_options *options, enhope_predictor **out)
{
    const enhope_predictor_options chosen = options ? *options : (enhope_predictor_options){0};
    enhope_predictor *p = NULL;
    enhope_status status;
    EH_TRY(check_device(ctx));
    EH_TRY(eh_predict_check(ctx, model, chosen.k, &(enhope_prediction){0}));
    EH_TRY(eh_new(ctx, "the predictor", 1, sizeof *p, (void **)&p));
    *p = (enhope_predictor){.model = model, .asked_k = chosen.k, .k = chosen.k ? chosen.k : model->k};
    p->threads = eh_compute_threads(ctx);
    p->voted = chosen.k > 0 || model->votes;
    p->cost = eh_map_parameters(model->map, &model->shape) + model->r * model->shape.h;
    EH_CHECK(eh_engine_find(ctx, model, chosen.precision ? chosen.precision : ctx->engine, &p->engine));
    p->searches = p->engine == &eh_engine_float &&
                  (model->map == &eh_map_identity || (!model->exemplars && model->shape.h > EH_CPU_FEW_DIMS));
    if (!p->searches) {
        EH_CHECK(p->engine->create(ctx, model, &p->state));
        EH_CHECK(allocate(ctx, p));
    }
    *out = p;
    return ENHOPE_OK;
cleanup:
    enhope_predictor_free(p);
    return status;
}

void enhope_predictor_free(enhope_predictor *p)
{
    if (!p) return;
    if (p->state) p->engine->free(p->state);
    eh_free(p->memory);
    eh_free(p->used);
    eh_free(p->G);
    eh_free(p);
}

/* ---- one tile ---- */

/* A part of the rows of x, and what is requested for each row of x. */
typedef struct job {
    const enhope_predictor *p;
    const eh_matrix *x; /* NULL: out->Y is given */
    const enhope_prediction *out;
} job;

/* The parts of a workspace. */
typedef struct tile {
    float *Y;        /* (n, h) */
    int32_t *label;  /* (n) */
    double *scratch; /* (EH_DECISION_SCRATCH) */
    int64_t *index;  /* (k) */
    float *distance; /* (k) */
    char *engine;
} tile;

static tile tile_at(const enhope_predictor *p, int64_t n, char *memory)
{
    tile t = {.Y = (float *)memory};
    memory += lines(n * p->model->shape.h, sizeof(float));
    t.label = (int32_t *)memory;
    memory += lines(n, sizeof(int32_t));
    t.scratch = (double *)memory;
    memory += lines(EH_DECISION_SCRATCH(p->model->c), sizeof(double));
    t.index = (int64_t *)memory;
    memory += lines(p->k, sizeof(int64_t));
    t.distance = (float *)memory;
    t.engine = memory + lines(p->k, sizeof(float));
    return t;
}

/* The outputs of row i that depend on its nearest references. */
static void search_row(const enhope_predictor *p, const float *y, int64_t i, const tile *t, int32_t *label,
                       const enhope_prediction *out)
{
    const enhope_model *model = p->model;
    const int32_t *class = model->reference_label;
    const bool shares = out->proba && !model->exemplars;
    const int32_t k = p->voted || shares || out->neighbour || out->neighbour_distance ? p->k : 1;
    eh_cpu_nearest_row(y, p->G, model->r, model->shape.h, k, t->index, t->distance);
    if (label && p->voted) *label = eh_host_vote_row(t->index, k, class);
    if (out->winner) out->winner[i] = t->index[0];
    if (out->distance) out->distance[i] = sqrtf(t->distance[0]);
    for (int32_t j = 0; out->neighbour && j < k; j++) out->neighbour[i * k + j] = t->index[j];
    for (int32_t j = 0; out->neighbour_distance && j < k; j++)
        out->neighbour_distance[i * k + j] = sqrtf(t->distance[j]);
    if (!shares) return;
    float *share = out->proba + i * model->c;
    for (int32_t c = 0; c < model->c; c++) share[c] = 0;
    for (int32_t j = 0; j < k; j++) share[class[t->index[j]]] += 1 / (float)k;
}

/* Classifies Y (n, h), the rows from `first` on. */
static void decide(const enhope_predictor *p, const float *Y, int64_t first, int64_t n, const tile *t,
                   const enhope_prediction *out)
{
    const enhope_model *model = p->model;
    const int64_t h = model->shape.h;
    const eh_host_references ref = {.G = p->G,
                                    .label = model->reference_label,
                                    .r = model->r,
                                    .h = h,
                                    .c = model->c,
                                    .gaussian = model->gaussian,
                                    .dof = model->dof};
    int32_t *label = out->label ? out->label + first : out->margin ? t->label : NULL;
    float *proba = out->proba && model->exemplars ? out->proba + first * model->c : NULL;
    const bool search = (label && p->voted) || (out->proba && !proba) || out->winner || out->distance ||
                        out->neighbour || out->neighbour_distance;
    for (int64_t i = 0; i < n && search; i++) search_row(p, Y + i * h, first + i, t, label ? label + i : NULL, out);
    if (proba) eh_probabilities(&ref, model->errors.temperature, Y, n, t->scratch, proba);
    if (label && !p->voted && proba) eh_argmax(proba, n, model->c, label);
    if (label && !p->voted && !proba) eh_classify_rows(&ref, model->errors.temperature, Y, n, t->scratch, label);
    if (out->margin) eh_margins(&ref, Y, n, label, out->margin + first);
}

/* Returns the first row that has no prediction, because a value or its embedding is not finite, or
 * NONE. It is the first row of the tile if a value is not finite. */
static int64_t run_tile(const job *job, int64_t first, int64_t n, char *memory)
{
    const enhope_predictor *p = job->p;
    const tile t = tile_at(p, n, memory);
    float *Y = job->out->Y ? job->out->Y + first * p->model->shape.h : t.Y;
    if (job->x && !p->engine->embed(p->state, job->x, first, n, t.engine, Y)) return first;
    const int64_t bad = eh_predict_overflow(Y, n, p->model->shape.h);
    if (bad < n) return first + bad;
    decide(p, Y, first, n, &t, job->out);
    return NONE;
}

/* ---- workspaces ---- */

/* Returns the number of a workspace that this thread now owns; -1: all are in use. */
static int take_workspace(const enhope_predictor *p)
{
    for (int i = 0; i < p->workspaces; i++)
        if (!atomic_load_explicit(&p->used[i], memory_order_relaxed) &&
            !atomic_exchange_explicit(&p->used[i], true, memory_order_acquire))
            return i;
    return -1;
}

static int64_t run_on_stack(const job *job, int64_t first, int64_t n, int64_t rows)
{
    _Alignas(64) char memory[STACK];
    int64_t bad = NONE;
    for (int64_t i = 0; i < n && bad == NONE; i += rows) bad = run_tile(job, first + i, eh_min(rows, n - i), memory);
    return bad;
}

static int64_t run_somewhere(const job *job, int64_t first, int64_t n)
{
    const enhope_predictor *p = job->p;
    int owned = take_workspace(p);
    if (owned < 0 && tile_bytes(p, eh_min(n, GROUP)) <= STACK) return run_on_stack(job, first, n, eh_min(n, GROUP));
    if (owned < 0 && tile_bytes(p, 1) <= STACK) return run_on_stack(job, first, n, 1);
    for (; owned < 0; owned = take_workspace(p)) sched_yield();
    const int64_t bad = run_tile(job, first, n, p->memory + (size_t)owned * p->workspace);
    atomic_store_explicit(&p->used[owned], false, memory_order_release);
    return bad;
}

#if defined(__SSE2__)
/* Flushes denormal numbers to zero, as all computations do, and restores the caller's mode. */
static int64_t run_part(const job *job, int64_t first, int64_t n)
{
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    const int64_t bad = run_somewhere(job, first, n);
    _mm_setcsr(mode);
    return bad;
}
#else
static int64_t run_part(const job *job, int64_t first, int64_t n)
{
    return run_somewhere(job, first, n);
}
#endif

/* Returns the first bad row, as run_tile. */
static int64_t run(const job *job, int64_t n)
{
    const enhope_predictor *p = job->p;
    const int64_t groups = (n + GROUP - 1) / GROUP, whole = (n + p->tile - 1) / p->tile;
    const bool share = n * p->cost > ALONE;
    const int64_t tiles = share ? eh_max(whole, eh_min(p->threads, groups)) : whole;
    int64_t bad = NONE;
    if (tiles <= 1) return tiles == 0 ? NONE : run_part(job, 0, n);
#pragma omp parallel for num_threads(p->threads) if (share) schedule(dynamic) reduction(min : bad)
    for (int64_t t = 0; t < tiles; t++) {
        const int64_t from = eh_chunk_start(groups, t, tiles) * GROUP;
        const int64_t to = eh_min(eh_chunk_start(groups, t + 1, tiles) * GROUP, n);
        bad = eh_min(bad, run_part(job, from, to - from));
    }
    return bad;
}

/* ---- calls ---- */

/* Columns ascend within a row and are inputs of the model. */
static bool columns_fit(const enhope_rows *rows, int64_t H)
{
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t s = rows->row_start[i], last = -1; s < rows->row_start[i + 1]; last = rows->column[s++])
            if (rows->column[s] <= last || rows->column[s] >= H) return false;
    return true;
}

static eh_matrix matrix_of(const enhope_rows *rows, int64_t H)
{
    return (eh_matrix){.kind = rows->kind,
                       .n = rows->n,
                       .H = H,
                       .u8 = rows->kind == ENHOPE_U8 ? rows->values : NULL,
                       .f32 = rows->kind == ENHOPE_F32 ? rows->values : NULL,
                       .value = rows->kind == ENHOPE_CSR ? rows->values : NULL,
                       .row_start = rows->row_start,
                       .column = rows->column};
}

/* A search by a pass needs a context. */
static enhope_status search(const enhope_predictor *p, const eh_matrix *x, const enhope_prediction *out)
{
    enhope_context ctx = {.device = "cpu", .threads = p->threads, .local_size = 1};
    const enhope_dataset data = {.x = *x};
    int64_t bad;
    EH_TRY(eh_rows_check(&ctx, x, 0, &data, "the rows"));
    return eh_pass_predict(&ctx, p->model, x, NULL, x->n, p->asked_k, out, NULL, &bad);
}

static enhope_status call(const enhope_predictor *p, const enhope_rows *rows, const enhope_prediction *out)
{
    const eh_matrix x = matrix_of(rows, p->model->shape.H);
    if (rows->n < 0 || rows->kind < ENHOPE_U8 || rows->kind > ENHOPE_CSR) return ENHOPE_ERROR_ARGUMENT;
    if (!eh_model_classifies(p->model) && !out->Y) return ENHOPE_ERROR_ARGUMENT;
    if (x.kind == ENHOPE_CSR && !columns_fit(rows, x.H)) return ENHOPE_ERROR_DATA;
    if (p->searches) return search(p, &x, out);
    return run(&(job){.p = p, .x = &x, .out = out}, x.n) == NONE ? ENHOPE_OK : ENHOPE_ERROR_DATA;
}

enhope_status enhope_predictor_label(const enhope_predictor *p, const enhope_rows *rows, int32_t *label)
{
    return call(p, rows, &(enhope_prediction){.label = label});
}

enhope_status enhope_predictor_proba(const enhope_predictor *p, const enhope_rows *rows, float *proba)
{
    return call(p, rows, &(enhope_prediction){.proba = proba});
}

enhope_status enhope_predictor_embed(const enhope_predictor *p, const enhope_rows *rows, float *Y)
{
    return call(p, rows, &(enhope_prediction){.Y = Y});
}

/* ---- data sets ---- */

/* To time labels alone, all other outputs are computed afterwards, from Y. */
static enhope_status run_timed(enhope_context *ctx, const enhope_predictor *p, const eh_matrix *x,
                               const enhope_prediction *out, double *seconds, int64_t *bad)
{
    enhope_prediction rest = *out;
    float *Y = NULL;
    if (!out->Y) EH_TRY(eh_new(ctx, "the embedding", x->n * p->model->shape.h, sizeof *Y, (void **)&Y));
    rest.Y = out->Y ? out->Y : Y;
    const enhope_prediction first = {.label = out->label, .Y = rest.Y};
    const double start = eh_seconds();
    *bad = run(&(job){.p = p, .x = x, .out = &first}, x->n);
    *seconds = eh_seconds() - start;
    if (*bad == NONE) run(&(job){.p = p, .out = &rest}, x->n);
    eh_free(Y);
    return *bad == NONE ? ENHOPE_OK : ENHOPE_ERROR_DATA;
}

enhope_status eh_predictor_rows(enhope_context *ctx, const enhope_predictor *p, const eh_matrix *x,
                                const enhope_prediction *out, double *seconds, int64_t *bad)
{
    if (p->searches) return eh_pass_predict(ctx, p->model, x, NULL, x->n, p->asked_k, out, seconds, bad);
    if (seconds) return run_timed(ctx, p, x, out, seconds, bad);
    *bad = run(&(job){.p = p, .x = x, .out = out}, x->n);
    return *bad == NONE ? ENHOPE_OK : ENHOPE_ERROR_DATA;
}
