/* A model at work: embedding and classifying data, block by block.
 *
 * One walk serves all: open it (everything is allocated there), embed the references, then take span after span of
 * embedded samples from it. A span is as many blocks as the backend may run behind; its results are fetched together.
 * Nothing is allocated on the way. */
#include <string.h>

#include "classify/classify.h"
#include "data/data.h"
#include "model/model.h"

enum {
    HOST_NUMBERS = 1 << 26,   /* in all buffers of a block, so that wide data does not take all memory ... */
    DEVICE_NUMBERS = 1 << 29, /* ... and the same on a device, which wants larger blocks */
    ALIGN = 16                /* rows of X begin at multiples of it */
};

typedef struct walk {
    const enhope_model *model;
    eh_compute *cp;
    eh_table table; /* the samples, once placed */
    bool placed;
    const int64_t *rows; /* (n) which samples; NULL: the first n */
    int64_t n, next;     /* samples, the first that has not been embedded */
    int64_t block, span; /* rows at a time; rows whose results are fetched together */
    int64_t ld;
    bool sparse;          /* samples go into the map as sparse rows */
    const eh_real *theta; /* the map's parameters: the model's own where the backend's numbers are floats here, ... */
    eh_real *own_theta;   /* ... else a copy */
    eh_operand *X;        /* (block, ld) */
    eh_real *work;        /* the map's */
    eh_real *Y;           /* (span, h) */
    eh_real *E;           /* (block, H) references on their way to X */
    eh_real *G;           /* (r, h) the embedded references */
    eh_label *reference_label; /* (r) */
    eh_row *row;               /* (span) */
} walk;

static void walk_close(walk *w)
{
    if (!w->cp) return;
    if (w->placed) w->cp->op->unplace(w->cp, &w->table);
    void *const placed[] = {w->own_theta, w->X, w->work, w->Y, w->E, w->G, w->reference_label, w->row};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) w->cp->op->release(w->cp, placed[i]);
    eh_compute_close(w->cp);
    w->cp = NULL;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of a block: enough for speed, no more than there are, and not so many that they take too much memory. k:
 * neighbours kept for each row. */
static int64_t block_rows(const walk *w, int64_t k)
{
    const enhope_model *model = w->model;
    const eh_compute_ops *op = w->cp->op;
    const eh_map_shape *s = &model->shape;
    const int64_t wanted = model->exemplars && model->r > w->n ? model->r : w->n;
    const int64_t work = model->map->work(s, w->cp, 1, false) - model->map->work(s, w->cp, 0, false);
    const int64_t width = w->ld + work + op->ahead * (s->h + 3 * k);
    const int64_t most = (op->host ? HOST_NUMBERS : DEVICE_NUMBERS) / width;
    const int64_t rows = smaller(smaller(op->block, wanted), most);
    return rows > 0 ? rows : 1;
}

/* Sparse samples may stay sparse where zero stays zero and the map begins with a product. */
static bool stays_sparse(const enhope_model *model, const eh_matrix *x)
{
    if (x->kind != ENHOPE_CSR || !model->map->sparse) return false;
    for (int64_t j = 0; j < model->shape.H; j++)
        if (model->shift[j] != 0) return false;
    return true;
}

enhope_status eh_model_inputs(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, eh_matrix *x)
{
    const int64_t H = model->shape.H;
    *x = data->x;
    if (x->kind == ENHOPE_CSR && x->H < H) x->H = H; /* a sparse file is as wide as its last non-zero */
    if (x->H != H)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "data has %lld inputs, the model expects %lld", (long long)data->x.H,
                       (long long)H);
    for (int64_t j = 0; data->input_name && model->input_name && j < data->x.H; j++)
        if (strcmp(data->input_name[j], model->input_name[j]))
            return eh_fail(
                ctx, ENHOPE_ERROR_DATA,
                "input %lld of the data is '%.60s', of the model '%.60s': expected the inputs of training, in "
                "their order",
                (long long)j + 1, data->input_name[j], model->input_name[j]);
    return ENHOPE_OK;
}

/* A single sample is mapped in less time than the parameters are copied. */
static enhope_status walk_theta(walk *w, enhope_context *ctx)
{
    const enhope_model *model = w->model;
    const int64_t count = eh_map_parameters(model->map, &model->shape);
    if (w->cp->op->host && w->cp->op->size == sizeof *model->theta) {
        w->theta = (const eh_real *)model->theta;
        return ENHOPE_OK;
    }
    EH_TRY(eh_compute_new(w->cp, ctx, "the map", count, w->cp->op->size, &w->own_theta));
    w->cp->op->write(w->cp, w->own_theta, model->theta, count);
    w->theta = w->own_theta;
    return ENHOPE_OK;
}

/* Everything that the walk works in. */
static enhope_status walk_allocate(walk *w, enhope_context *ctx, int64_t k)
{
    const enhope_model *model = w->model;
    const eh_map_shape *s = &model->shape;
    eh_compute *cp = w->cp;
    const size_t size = cp->op->size;
    const int64_t exemplars = model->exemplars && k > 0 ? smaller(w->block, model->r) : 0; /* of a block */
    const int64_t dense = w->sparse ? exemplars : w->block;
    EH_TRY(walk_theta(w, ctx));
    EH_TRY(eh_compute_new(cp, ctx, "a block of samples", dense * w->ld, cp->operand, &w->X));
    EH_TRY(eh_compute_new(cp, ctx, "the map's workspace", model->map->work(s, cp, w->block, false), size, &w->work));
    EH_TRY(eh_compute_new(cp, ctx, "a block of the embedding", w->span * s->h, size, &w->Y));
    EH_TRY(eh_compute_new(cp, ctx, "row numbers", w->span, sizeof *w->rows, &w->row));
    if (exemplars) EH_TRY(eh_compute_new(cp, ctx, "a block of exemplars", exemplars * s->H, size, &w->E));
    if (k == 0) return ENHOPE_OK;
    EH_TRY(eh_compute_new(cp, ctx, "the embedded references", model->r * s->h, size, &w->G));
    return eh_compute_new(cp, ctx, "the references' classes", model->r, sizeof *model->reference_label,
                          &w->reference_label);
}

/* data NULL: only the references will be embedded. k: neighbours of each sample; 0: no references are needed. */
static enhope_status walk_open(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                               const int64_t *rows, int64_t n, int64_t k, walk *w)
{
    const eh_map_shape *s = &model->shape;
    *w = (walk){.model = model, .rows = rows, .n = n};
    eh_matrix x = {0};
    int64_t embedded;
    if (data) EH_TRY(eh_model_inputs(ctx, model, data, &x));
    if (s->H > INT32_MAX - ALIGN || !eh_mul(model->r, s->h, &embedded)) /* BLAS counts in 32 bits */
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "a model of %lld inputs and %lld references is too large",
                       (long long)s->H, (long long)model->r);
    enhope_status status;
    EH_CHECK(eh_compute_open(ctx, model->map == &eh_map_identity, &w->cp));
    if (data) {
        EH_CHECK(w->cp->op->place(w->cp, ctx, &x, NULL, model->shift, model->mul, &w->table));
        w->placed = true;
    }
    w->ld = (s->H + ALIGN) / ALIGN * ALIGN;
    w->block = block_rows(w, k);
    w->span = smaller(w->cp->op->ahead * w->block, n > 0 ? n : 1);
    w->sparse = data && stays_sparse(model, &x);
    EH_CHECK(walk_allocate(w, ctx, k));
    return ENHOPE_OK;
cleanup:
    walk_close(w);
    return status;
}

/* Fills G: exemplars go through the map as rows [e; 1], points are there already. */
static void walk_references(walk *w)
{
    const enhope_model *model = w->model;
    const eh_compute_ops *op = w->cp->op;
    const int64_t H = model->shape.H, h = model->shape.h;
    op->send(w->cp, w->reference_label, model->reference_label, (size_t)model->r * sizeof *model->reference_label);
    if (!model->exemplars) {
        op->write(w->cp, w->G, model->reference, model->r * h);
        return;
    }
    for (int64_t first = 0; first < model->r; first += w->block) {
        const int64_t count = smaller(w->block, model->r - first);
        op->write(w->cp, w->E, model->reference + first * H, count * H);
        op->close_rows(w->cp, count, H, w->E, w->X, w->ld);
        const eh_rows x = {.X = w->X, .ld = w->ld, .dense_n = count};
        model->map->forward(&model->shape, w->cp, w->theta, &x, w->work, eh_at(w->cp, w->G, first * h), false);
    }
}

static int64_t sample_row(const walk *w, int64_t i)
{
    return w->rows ? w->rows[i] : i;
}

/* Says among which rows the block that begins with sample `first` has its own; they ascend. */
static void walk_stage(const walk *w, int64_t first)
{
    const int64_t count = smaller(w->block, w->n - first);
    if (!w->cp->op->stage || count <= 0) return;
    const int64_t from = sample_row(w, first), to = sample_row(w, first + count - 1);
    w->cp->op->stage(w->cp, &w->table, from, to - from + 1);
}

/* The rows of the span that comes next, to the backend; how many they are, 0: there are no more. */
static int64_t walk_span(walk *w)
{
    const int64_t count = smaller(w->span, w->n - w->next);
    if (count <= 0) return 0;
    if (w->rows)
        w->cp->op->send(w->cp, w->row, w->rows + w->next, (size_t)count * sizeof *w->rows);
    else
        w->cp->op->successive(w->cp, w->next, count, w->row);
    return count;
}

/* Embeds a block, rows from .. from + count of the span, into Y. */
static void walk_block(walk *w, int64_t from, int64_t count)
{
    const eh_row *row = eh_row_at(w->row, from);
    eh_rows x = {.sparse = &w->table, .sparse_rows = row, .sparse_n = count};
    if (!w->sparse) {
        w->cp->op->gather_operands(w->cp, &w->table, row, count, w->X, w->ld, NULL, NULL);
        x = (eh_rows){.X = w->X, .ld = w->ld, .dense_n = count};
    }
    w->model->map->forward(&w->model->shape, w->cp, w->theta, &x, w->work, eh_at(w->cp, w->Y, from * w->model->shape.h),
                           false);
    w->next += count;
    walk_stage(w, w->next);
}

enhope_status enhope_model_references(enhope_context *ctx, const enhope_model *model, float *Y, int32_t *labels)
{
    if (Y) {
        walk w;
        EH_TRY(walk_open(ctx, model, NULL, NULL, 0, 1, &w));
        eh_compute_begin(w.cp);
        walk_references(&w);
        eh_compute_end(w.cp);
        const enhope_status status = w.cp->op->sync(w.cp, ctx);
        if (!status) w.cp->op->read(w.cp, Y, w.G, model->r * model->shape.h);
        walk_close(&w);
        EH_TRY(status);
    }
    if (labels) memcpy(labels, model->reference_label, (size_t)model->r * sizeof *labels);
    return ENHOPE_OK;
}

static enhope_status embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, float *Y)
{
    const int64_t h = model->shape.h;
    walk w;
    EH_TRY(walk_open(ctx, model, data, NULL, data->x.n, 0, &w));
    eh_compute_begin(w.cp);
    walk_stage(&w, 0);
    for (int64_t count; (count = walk_span(&w)) > 0;) {
        for (int64_t from = 0; from < count; from += w.block) walk_block(&w, from, smaller(w.block, count - from));
        w.cp->op->read(w.cp, Y + (w.next - count) * h, w.Y, count * h);
    }
    eh_compute_end(w.cp);
    const enhope_status status = w.cp->op->sync(w.cp, ctx);
    walk_close(&w);
    return status;
}

enhope_status enhope_model_embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, float *Y)
{
    if (!data->store) return embed(ctx, model, data, Y);
    const int64_t step = eh_dataset_step(ctx, data);
    for (int64_t first = 0; first < data->x.n; first += step) {
        enhope_dataset *block = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, first, smaller(step, data->x.n - first), &block));
        const enhope_status status = embed(ctx, model, block, Y + first * model->shape.h);
        enhope_dataset_free(block);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

/* What classifying needs besides the walk. */
typedef struct votes {
    eh_found found;  /* where labels, winners, distances or shares are asked for */
    int32_t *label;  /* (span), where margins are asked for and labels are not */
    float *Y;        /* (span, h) on the host, where that is compared there and Y is not asked for */
    float *G;        /* (r, h) on the host, where probabilities or margins are made there */
    double *scratch; /* (2 c) */
    double aside;    /* seconds of that */
} votes;

/* What is asked of the neighbours of the span that begins with sample `first`; points that are no exemplars have shares of
 * the votes for probabilities. */
static eh_classes classes_of(const enhope_model *model, const enhope_prediction *out, const votes *v, int64_t first,
                             int64_t k)
{
    return (eh_classes){.label = out->label ? out->label + first : v->label,
                        .winner = out->winner ? out->winner + first : NULL,
                        .distance = out->distance ? out->distance + first : NULL,
                        .shares = out->proba && !model->exemplars ? out->proba + first * model->c : NULL,
                        .neighbour = out->neighbour ? out->neighbour + first * k : NULL,
                        .neighbour_distance = out->neighbour_distance ? out->neighbour_distance + first * k : NULL};
}

static enhope_status votes_open(enhope_context *ctx, const walk *w, int64_t k, const enhope_prediction *out, votes *v)
{
    const enhope_model *model = w->model;
    const int64_t h = model->shape.h;
    if (out->margin && !out->label) EH_TRY(eh_new(ctx, "labels", w->span, sizeof *v->label, (void **)&v->label));
    const eh_classes wanted = classes_of(model, out, v, 0, k);
    if (wanted.label || wanted.winner || wanted.distance || wanted.shares || wanted.neighbour ||
        wanted.neighbour_distance)
        EH_TRY(eh_found_create(ctx, w->cp, w->span, k, &wanted, &v->found));
    if (!out->margin && (!out->proba || wanted.shares)) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "the similarities", 2 * (int64_t)model->c, sizeof *v->scratch, (void **)&v->scratch));
    EH_TRY(eh_new(ctx, "the embedded references", model->r * h, sizeof *v->G, (void **)&v->G));
    if (!out->Y) EH_TRY(eh_new(ctx, "a block of the embedding", w->span * h, sizeof *v->Y, (void **)&v->Y));
    return ENHOPE_OK;
}

static void votes_close(votes *v)
{
    eh_found_free(&v->found);
    eh_free(v->label);
    eh_free(v->Y);
    eh_free(v->G);
    eh_free(v->scratch);
}

/* Embeds and classifies a span of `count` samples, block by block. */
static void classify_span(walk *w, int64_t count, votes *v)
{
    const int64_t h = w->model->shape.h;
    const eh_references ref = {.G = w->G, .label = w->reference_label, .r = w->model->r, .h = h};
    for (int64_t from = 0; from < count; from += w->block) {
        const int64_t rows = smaller(w->block, count - from);
        walk_block(w, from, rows);
        if (v->found.cp) eh_classify(&v->found, &ref, eh_at(w->cp, w->Y, from * h), rows, from);
    }
}

/* What is made on the host from the embedding Y (count, h) of a span. */
static void compare_span(const enhope_model *model, int64_t first, int64_t count, votes *v, const int32_t *label,
                         const float *Y, const enhope_prediction *out)
{
    const double start = eh_seconds();
    const eh_host_references ref = {.G = v->G,
                                    .label = model->reference_label,
                                    .r = model->r,
                                    .h = model->shape.h,
                                    .c = model->c,
                                    .gaussian = model->gaussian,
                                    .freedom = model->freedom};
    if (out->proba) eh_probabilities(&ref, model->temperature, Y, count, v->scratch, out->proba + first * model->c);
    if (out->margin) eh_margins(&ref, Y, count, label, out->margin + first);
    v->aside += eh_seconds() - start;
}

/* The outputs of a span of `count` samples that begins with sample `first`. */
static enhope_status fetch_span(const walk *w, enhope_context *ctx, int64_t first, int64_t count, votes *v,
                                const enhope_prediction *out)
{
    const enhope_model *model = w->model;
    const int64_t h = model->shape.h;
    const eh_classes classes = classes_of(model, out, v, first, v->found.k);
    if (v->found.cp) EH_TRY(eh_classify_fetch(&v->found, ctx, count, model->reference_label, model->c, &classes));
    float *Y = out->Y ? out->Y + first * h : v->Y;
    if (Y) w->cp->op->read(w->cp, Y, w->Y, count * h);
    if (v->G) compare_span(model, first, count, v, classes.label, Y, out);
    return ENHOPE_OK;
}

enhope_status eh_model_predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                               const int64_t *rows, int64_t n, int32_t k, const enhope_prediction *out, double *seconds)
{
    if (k < 0) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k = %d neighbours asked for: expected at least 1", k);
    if (k > model->r)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k = %d neighbours asked for, the model has %lld references", k,
                       (long long)model->r);
    if (out->margin && !model->exemplars)
        return eh_fail(
            ctx, ENHOPE_ERROR_ARGUMENT,
            "margins asked for: a model that compares with training points has none, only one with exemplars");
    if (k == 0) k = model->k;
    walk w;
    votes v = {0};
    EH_TRY(walk_open(ctx, model, data, rows, n, k, &w));
    enhope_status status = votes_open(ctx, &w, k, out, &v);
    if (!status) {
        eh_compute_begin(w.cp);
        walk_references(&w);
        if (v.G) w.cp->op->read(w.cp, v.G, w.G, model->r * model->shape.h);
        status = w.cp->op->sync(w.cp, ctx);
        const double start = eh_seconds();
        walk_stage(&w, 0);
        for (int64_t count; !status && (count = walk_span(&w)) > 0;) {
            classify_span(&w, count, &v);
            status = fetch_span(&w, ctx, w.next - count, count, &v, out);
        }
        eh_compute_end(w.cp);
        if (!status) status = w.cp->op->sync(w.cp, ctx);
        if (seconds) *seconds = eh_seconds() - start - v.aside;
    }
    votes_close(&v);
    walk_close(&w);
    return status;
}

enhope_status enhope_model_predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, const enhope_prediction *out)
{
    if (!data->store) return eh_model_predict(ctx, model, data, NULL, data->x.n, k, out, NULL);
    const int64_t step = eh_dataset_step(ctx, data), near = k > 0 ? k : model->k;
    for (int64_t first = 0; first < data->x.n; first += step) {
        const int64_t count = smaller(step, data->x.n - first);
        const enhope_prediction part = {.label = out->label ? out->label + first : NULL,
                                        .proba = out->proba ? out->proba + first * model->c : NULL,
                                        .winner = out->winner ? out->winner + first : NULL,
                                        .distance = out->distance ? out->distance + first : NULL,
                                        .margin = out->margin ? out->margin + first : NULL,
                                        .Y = out->Y ? out->Y + first * model->shape.h : NULL,
                                        .neighbour = out->neighbour ? out->neighbour + first * near : NULL,
                                        .neighbour_distance =
                                            out->neighbour_distance ? out->neighbour_distance + first * near : NULL};
        enhope_dataset *block = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, first, count, &block));
        const enhope_status status = eh_model_predict(ctx, model, block, NULL, count, k, &part, NULL);
        enhope_dataset_free(block);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}
