/* Prediction on a backend: a model embeds and classifies data, block by block.
 *
 * ref and cuda predict with this pass, and the cpu does if it searches in many dimensions. Opening
 * the pass allocates all memory. Then it embeds the references and processes one span of samples
 * after another. A span has as many blocks as the backend may queue, and its results are fetched
 * together. */
#include <string.h>

#include "classify/classify.h"
#include "data/data.h"
#include "model/embedder.h"
#include "predict/predict.h"

enum {
    HOST_NUMBERS = 1 << 26,  /* numbers in all buffers of a block, to limit the memory of wide data ... */
    DEVICE_NUMBERS = 1 << 29 /* ... and the same on a device, which needs larger blocks */
};

typedef struct pass {
    const enhope_model *model;
    eh_compute *cp;
    eh_embedder e;
    const int64_t *rows;  /* (n) which samples; NULL: the first n */
    int64_t n, next;      /* samples; the first one that has not been embedded */
    int64_t span;         /* rows whose results are fetched together */
    const eh_real *theta; /* the map's parameters: those of the model if the backend uses floats on the host ... */
    eh_real *own_theta;   /* ... otherwise a copy */
    eh_real *E;           /* (block, H) exemplars before they enter X */
    eh_row *row;          /* (span) */
} pass;

static void pass_close(pass *p)
{
    if (!p->cp) return;
    eh_embedder_free(&p->e);
    void *const placed[] = {p->own_theta, p->E, p->row};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) p->cp->op->release(p->cp, placed[i]);
    eh_compute_close(p->cp);
    p->cp = NULL;
}

/* Rows of a block: enough for speed, but no more than there are samples and memory. k: neighbors
 * of each row. */
static int64_t block_rows(const pass *p, int64_t k)
{
    const enhope_model *model = p->model;
    const eh_compute_ops *op = p->cp->op;
    const eh_map_shape *s = &model->shape;
    const int64_t wanted = model->exemplars && model->r > p->n ? model->r : p->n;
    const int64_t work = model->map->work(s, p->cp, 1, false) - model->map->work(s, p->cp, 0, false);
    const int64_t width = p->e.ld + work + op->queue_depth * (s->h + 3 * k);
    const int64_t max = (op->host ? HOST_NUMBERS : DEVICE_NUMBERS) / width;
    const int64_t rows = eh_min(eh_min(op->block, wanted), max);
    return rows > 0 ? rows : 1;
}

/* Sparse samples stay sparse if the scaling keeps zeros and the map begins with a product. */
static bool stays_sparse(const enhope_model *model, const eh_matrix *x)
{
    if (x->kind != ENHOPE_CSR || !model->map->sparse) return false;
    for (int64_t j = 0; j < model->shape.H; j++)
        if (model->shift[j] != 0) return false;
    return true;
}

/* Copying the parameters takes longer than mapping a single sample. */
static enhope_status pass_theta(pass *p, enhope_context *ctx)
{
    const enhope_model *model = p->model;
    const int64_t count = eh_map_parameters(model->map, &model->shape);
    if (p->cp->op->host && p->cp->op->real_size == sizeof *model->theta) {
        p->theta = (const eh_real *)model->theta;
        return ENHOPE_OK;
    }
    EH_TRY(eh_compute_new(p->cp, ctx, "the map", count, p->cp->op->real_size, &p->own_theta));
    p->cp->op->write(p->cp, p->own_theta, model->theta, count);
    p->theta = p->own_theta;
    return ENHOPE_OK;
}

static enhope_status pass_allocate(pass *p, enhope_context *ctx, int64_t k)
{
    const enhope_model *model = p->model;
    eh_compute *cp = p->cp;
    const int64_t block = block_rows(p, k), exemplars = model->exemplars && k > 0 ? eh_min(block, model->r) : 0;
    p->span = eh_min(cp->op->queue_depth * block, p->n > 0 ? p->n : 1);
    EH_TRY(pass_theta(p, ctx));
    EH_TRY(eh_embedder_allocate(&p->e, &(eh_embedder_sizes){.capacity = block,
                                                            .dense = p->e.sparse ? exemplars : block,
                                                            .embedded = p->span,
                                                            .references = k ? model->r : 0,
                                                            .embedded_references = k ? model->r : 0}));
    EH_TRY(eh_compute_new(cp, ctx, "row numbers", p->span, sizeof *p->rows, &p->row));
    if (!exemplars) return ENHOPE_OK;
    return eh_compute_new(cp, ctx, "a block of exemplars", exemplars * model->shape.H, cp->op->real_size, &p->E);
}

/* x NULL: only references are embedded. k: neighbors of each sample; 0: no references. */
static enhope_status pass_open(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, const int64_t *rows,
                               int64_t n, int64_t k, pass *p)
{
    const eh_map_shape *s = &model->shape;
    *p = (pass){.model = model, .rows = rows, .n = n};
    int64_t embedded;
    if (eh_embedder_stride(s->H) > INT32_MAX || !eh_mul(model->r, s->h, &embedded)) /* BLAS counts in 32 bits */
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "a model of %lld inputs and %lld references is too large",
                       (long long)s->H, (long long)model->r);
    enhope_status status;
    EH_CHECK(eh_compute_open(ctx, model->map == &eh_map_identity, &p->cp));
    eh_embedder_init(&p->e, ctx, p->cp, model->map, s);
    p->e.similarity = (eh_similarity){.gaussian = model->gaussian, .dof = model->dof};
    if (x) EH_CHECK(eh_embedder_place(&p->e, x, NULL, model->shift, model->mul));
    p->e.sparse = x && stays_sparse(model, x);
    EH_CHECK(pass_allocate(p, ctx, k));
    return ENHOPE_OK;
cleanup:
    pass_close(p);
    return status;
}

/* Fills G: embeds exemplars as rows [e; 1]; other references are already embedded. */
static void pass_references(pass *p)
{
    const enhope_model *model = p->model;
    const eh_compute_ops *op = p->cp->op;
    const int64_t H = model->shape.H, h = model->shape.h;
    op->send(p->cp, p->e.reference_label, model->reference_label, (size_t)model->r * sizeof *model->reference_label);
    if (!model->exemplars) {
        op->write(p->cp, p->e.G, model->reference, model->r * h);
        return;
    }
    for (int64_t first = 0; first < model->r; first += p->e.capacity) {
        const int64_t count = eh_min(p->e.capacity, model->r - first);
        op->write(p->cp, p->E, model->reference + first * H, count * H);
        eh_embedder_exemplars(&p->e, p->theta, p->E, first, count);
    }
}

static int64_t sample_row(const pass *p, int64_t i)
{
    return p->rows ? p->rows[i] : i;
}

/* Announces to the backend the row range of the block that starts with sample `first`. Rows
 * ascend. */
static void pass_stage(const pass *p, int64_t first)
{
    const int64_t count = eh_min(p->e.capacity, p->n - first);
    if (!p->cp->op->prefetch || count <= 0) return;
    const int64_t from = sample_row(p, first), to = sample_row(p, first + count - 1);
    p->cp->op->prefetch(p->cp, &p->e.table, from, to - from + 1);
}

/* Sends the rows of the next span to the backend. Returns their number; 0: no more. */
static int64_t pass_span(pass *p)
{
    const int64_t count = eh_min(p->span, p->n - p->next);
    if (count <= 0) return 0;
    if (p->rows)
        p->cp->op->send(p->cp, p->row, p->rows + p->next, (size_t)count * sizeof *p->rows);
    else
        p->cp->op->row_range(p->cp, p->next, count, p->row);
    return count;
}

/* Embeds a block, rows from .. from + count of the span, into Y. */
static void pass_block(pass *p, int64_t from, int64_t count)
{
    eh_embedder_embed(&p->e, p->theta, eh_row_at(p->row, from), count, eh_at(p->cp, p->e.Y, from * p->e.shape.h));
    p->next += count;
    pass_stage(p, p->next);
}

enhope_status enhope_model_references(enhope_context *ctx, const enhope_model *model, float *Y, int32_t *labels)
{
    if (Y) {
        pass p;
        EH_TRY(pass_open(ctx, model, NULL, NULL, 0, 1, &p));
        eh_compute_begin(p.cp);
        pass_references(&p);
        eh_compute_end(p.cp);
        const enhope_status status = p.cp->op->sync(p.cp, ctx);
        if (!status) p.cp->op->read(p.cp, Y, p.e.G, model->r * model->shape.h);
        pass_close(&p);
        EH_TRY(status);
        const int64_t bad = eh_predict_overflow(Y, model->r, model->shape.h);
        if (bad < model->r)
            return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                           "the embedding of exemplar %lld is not finite: the model is damaged; train it again",
                           (long long)bad + 1);
    }
    if (labels) memcpy(labels, model->reference_label, (size_t)model->r * sizeof *labels);
    return ENHOPE_OK;
}

/* Checks the embedding Y (count, h) of the samples from `first` on. */
static enhope_status check_span(const pass *p, const float *Y, int64_t first, int64_t count, int64_t *bad)
{
    const int64_t row = eh_predict_overflow(Y, count, p->model->shape.h);
    *bad = first + row;
    return row < count ? ENHOPE_ERROR_DATA : ENHOPE_OK;
}

enhope_status eh_pass_embed(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, float *Y, int64_t *bad)
{
    const int64_t h = model->shape.h;
    enhope_status good = ENHOPE_OK;
    pass p;
    EH_TRY(pass_open(ctx, model, x, NULL, x->n, 0, &p));
    eh_compute_begin(p.cp);
    pass_stage(&p, 0);
    for (int64_t count; !good && (count = pass_span(&p)) > 0;) {
        for (int64_t from = 0; from < count; from += p.e.capacity)
            pass_block(&p, from, eh_min(p.e.capacity, count - from));
        const int64_t first = p.next - count;
        p.cp->op->read(p.cp, Y + first * h, p.e.Y, count * h);
        good = check_span(&p, Y + first * h, first, count, bad);
    }
    eh_compute_end(p.cp);
    const enhope_status status = p.cp->op->sync(p.cp, ctx);
    pass_close(&p);
    return status ? status : good;
}

/* State of classification beside the pass. */
typedef struct votes {
    int32_t *label;      /* (span), if margins are requested and labels are not */
    float *Y;            /* (span, h) on the host, if Y is not requested */
    float *G;            /* (r, h) on the host, if probabilities or margins are computed there */
    double *scratch;     /* (2 c) */
    bool voted;          /* labels are votes of the nearest references */
    double host_seconds; /* seconds of computation on the host */
} votes;

/* The outputs of the span that starts with sample `first`. Without exemplars, probabilities are
 * shares of the votes. */
static eh_predictions predictions_of(const enhope_model *model, const enhope_prediction *out, const votes *v,
                                     int64_t first, int64_t k)
{
    return (eh_predictions){.label = out->label ? out->label + first : v->label,
                            .winner = out->winner ? out->winner + first : NULL,
                            .distance = out->distance ? out->distance + first : NULL,
                            .shares = out->proba && !model->exemplars ? out->proba + first * model->c : NULL,
                            .neighbour = out->neighbour ? out->neighbour + first * k : NULL,
                            .neighbour_distance = out->neighbour_distance ? out->neighbour_distance + first * k : NULL};
}

static enhope_status votes_open(enhope_context *ctx, pass *p, int64_t k, const enhope_prediction *out, votes *v)
{
    const enhope_model *model = p->model;
    const int64_t h = model->shape.h;
    if (out->margin && !out->label) EH_TRY(eh_new(ctx, "labels", p->span, sizeof *v->label, (void **)&v->label));
    const eh_predictions wanted = predictions_of(model, out, v, 0, k);
    if (wanted.label || wanted.winner || wanted.distance || wanted.shares || wanted.neighbour ||
        wanted.neighbour_distance)
        EH_TRY(eh_embedder_search(&p->e, p->span, k, &wanted));
    if (!out->Y) EH_TRY(eh_new(ctx, "a block of the embedding", p->span * h, sizeof *v->Y, (void **)&v->Y));
    if (!out->margin && (!out->proba || wanted.shares)) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "the similarities", 2 * (int64_t)model->c, sizeof *v->scratch, (void **)&v->scratch));
    return eh_new(ctx, "the embedded references", model->r * h, sizeof *v->G, (void **)&v->G);
}

static void votes_close(votes *v)
{
    eh_free(v->label);
    eh_free(v->Y);
    eh_free(v->G);
    eh_free(v->scratch);
}

/* Embeds and classifies a span of `count` samples, block by block. */
static void classify_span(pass *p, int64_t count)
{
    const int64_t h = p->model->shape.h;
    const eh_references ref = eh_embedder_references(&p->e);
    for (int64_t from = 0; from < count; from += p->e.capacity) {
        const int64_t rows = eh_min(p->e.capacity, count - from);
        pass_block(p, from, rows);
        if (p->e.nearest.cp) eh_classify(&p->e.nearest, &ref, eh_at(p->cp, p->e.Y, from * h), rows, from);
    }
}

/* Computes the outputs of a span that need its embedding Y (count, h) on the host. Probabilities
 * also decide the label, so that both agree to the last bit. */
static void compare_span(const enhope_model *model, int64_t first, int64_t count, votes *v, int32_t *label,
                         const float *Y, const enhope_prediction *out)
{
    const double start = eh_seconds();
    const eh_host_references ref = {.G = v->G,
                                    .label = model->reference_label,
                                    .r = model->r,
                                    .h = model->shape.h,
                                    .c = model->c,
                                    .gaussian = model->gaussian,
                                    .dof = model->dof};
    if (out->proba)
        eh_probabilities(&ref, model->errors.temperature, Y, count, v->scratch, out->proba + first * model->c);
    if (out->proba && label && !v->voted) eh_argmax(out->proba + first * model->c, count, model->c, label);
    if (out->margin) eh_margins(&ref, Y, count, label, out->margin + first);
    v->host_seconds += eh_seconds() - start;
}

/* Fetches the outputs of a span of `count` samples that starts with sample `first`. */
static enhope_status fetch_span(pass *p, enhope_context *ctx, int64_t first, int64_t count, votes *v,
                                const enhope_prediction *out, int64_t *bad)
{
    const enhope_model *model = p->model;
    const int64_t h = model->shape.h;
    float *Y = out->Y ? out->Y + first * h : v->Y;
    const eh_predictions classes = predictions_of(model, out, v, first, p->e.nearest.k);
    if (p->e.nearest.cp)
        EH_TRY(eh_classify_fetch(&p->e.nearest, ctx, count, model->reference_label, model->c, &classes));
    p->cp->op->read(p->cp, Y, p->e.Y, count * h);
    EH_TRY(check_span(p, Y, first, count, bad));
    if (v->G) compare_span(model, first, count, v, classes.label, Y, out);
    return ENHOPE_OK;
}

enhope_status eh_pass_predict(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, const int64_t *rows,
                              int64_t n, int32_t k, const enhope_prediction *out, double *seconds, int64_t *bad)
{
    const bool voted = k > 0 || model->votes;
    if (k == 0) k = model->k;
    pass p;
    votes v = {.voted = voted};
    EH_TRY(pass_open(ctx, model, x, rows, n, k, &p));
    p.e.votes = voted;
    enhope_status status = votes_open(ctx, &p, k, out, &v);
    if (!status) {
        eh_compute_begin(p.cp);
        pass_references(&p);
        if (v.G) p.cp->op->read(p.cp, v.G, p.e.G, model->r * model->shape.h);
        status = p.cp->op->sync(p.cp, ctx);
        const double start = eh_seconds();
        pass_stage(&p, 0);
        for (int64_t count; !status && (count = pass_span(&p)) > 0;) {
            classify_span(&p, count);
            status = fetch_span(&p, ctx, p.next - count, count, &v, out, bad);
        }
        eh_compute_end(p.cp);
        if (!status) status = p.cp->op->sync(p.cp, ctx);
        if (seconds) *seconds = eh_seconds() - start - v.host_seconds;
    }
    votes_close(&v);
    pass_close(&p);
    return status;
}
