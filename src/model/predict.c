/* A model at work: embedding, classifying and evaluating data, block by block.
 *
 * One walk serves all: open it (everything is allocated there), embed the references, then take block after block of
 * embedded samples from it. Nothing is allocated on the way. */
#include <string.h>

#include "classify/classify.h"
#include "data/data.h"
#include "model/json.h"
#include "model/model.h"

enum {
    BLOCK = 1000,            /* rows: products this high run at full speed */
    BLOCK_NUMBERS = 1 << 26, /* in all buffers of a block, so that wide data does not take all memory */
    ALIGN = 16               /* rows of X begin at multiples of it */
};

typedef struct walk {
    const enhope_model *model;
    eh_compute *cp;
    eh_table table; /* the samples, once placed */
    bool placed;
    const int64_t *rows; /* (n) which samples; NULL: the first n */
    int64_t n, next;     /* samples, the first that has not been embedded */
    int64_t block, ld;
    bool sparse;    /* samples go into the map as sparse rows */
    eh_real *theta; /* the map's parameters */
    eh_real *X;     /* (block, ld) */
    eh_real *work;  /* the map's */
    eh_real *Y;     /* (block, h) */
    eh_real *G;     /* (r, h) the embedded references */
    int64_t *row;   /* (block) */
} walk;

static void walk_close(walk *w)
{
    if (!w->cp) return;
    if (w->placed) w->cp->op->unplace(w->cp, &w->table);
    eh_real *vector[] = {w->theta, w->X, w->work, w->Y, w->G};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        if (vector[i]) w->cp->op->release(w->cp, vector[i]);
    eh_free(w->row);
    eh_compute_close(w->cp);
    w->cp = NULL;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of a block: enough for speed, no more than there are, and not so many that they exceed BLOCK_NUMBERS. k:
 * neighbours kept for each row. */
static int64_t block_rows(const enhope_model *model, int64_t ld, int64_t n, int64_t k)
{
    const int64_t wanted = model->exemplars && model->r > n ? model->r : n;
    const int64_t width = ld + model->map->work(&model->shape, 1) + model->shape.h + 3 * k;
    const int64_t most = BLOCK_NUMBERS / width;
    const int64_t rows = smaller(smaller(BLOCK, wanted), most);
    return rows > 0 ? rows : 1;
}

/* Sparse samples may stay sparse where zero stays zero and the map begins with a product. */
static bool stays_sparse(const enhope_model *model, const eh_matrix *x)
{
    if (x->kind != ENHOPE_CSR || model->map == &eh_map_identity) return false;
    for (int64_t j = 0; j < model->shape.H; j++)
        if (model->shift[j] != 0) return false;
    return true;
}

/* data NULL: only the references will be embedded. k: neighbours of each sample; 0: no references are needed. */
static enhope_status walk_open(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                               const int64_t *rows, int64_t n, int64_t k, walk *w)
{
    const eh_map_shape *s = &model->shape;
    *w = (walk){.model = model, .rows = rows, .n = n};
    eh_matrix x = data ? data->x : (eh_matrix){0};
    if (x.kind == ENHOPE_CSR && x.H < s->H) x.H = s->H; /* a sparse file is as wide as its last non-zero */
    if (data && x.H != s->H)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "data has %lld inputs, the model expects %lld", (long long)data->x.H,
                       (long long)s->H);
    for (int64_t j = 0; data && data->input_name && model->input_name && j < data->x.H; j++)
        if (strcmp(data->input_name[j], model->input_name[j]))
            return eh_fail(
                ctx, ENHOPE_ERROR_DATA,
                "input %lld of the data is '%.60s', of the model '%.60s': expected the inputs of training, in "
                "their order",
                (long long)j + 1, data->input_name[j], model->input_name[j]);
    const int64_t parameters = eh_map_parameters(model->map, s);
    int64_t embedded;
    if (s->H > INT32_MAX - ALIGN || !eh_mul(model->r, s->h, &embedded)) /* BLAS counts in 32 bits */
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "a model of %lld inputs and %lld references is too large",
                       (long long)s->H, (long long)model->r);
    w->ld = (s->H + ALIGN) / ALIGN * ALIGN;
    w->block = block_rows(model, w->ld, n, k);
    w->sparse = data && stays_sparse(model, &x);
    const int64_t dense = w->sparse ? smaller(w->block, model->exemplars ? model->r : 0) : w->block;
    enhope_status status;
    EH_CHECK(eh_compute_open(ctx, &w->cp));
    if (data) {
        EH_CHECK(w->cp->op->place(w->cp, ctx, &x, NULL, model->shift, model->mul, &w->table));
        w->placed = true;
    }
    EH_CHECK(eh_compute_new(w->cp, ctx, "the map", parameters, &w->theta));
    EH_CHECK(eh_compute_new(w->cp, ctx, "a block of samples", dense * w->ld, &w->X));
    EH_CHECK(eh_compute_new(w->cp, ctx, "the map's workspace", model->map->work(s, w->block), &w->work));
    EH_CHECK(eh_compute_new(w->cp, ctx, "a block of the embedding", w->block * s->h, &w->Y));
    if (k > 0) EH_CHECK(eh_compute_new(w->cp, ctx, "the embedded references", model->r * s->h, &w->G));
    EH_CHECK(eh_new(ctx, "row numbers", w->block, sizeof *w->row, (void **)&w->row));
    w->cp->op->write(w->cp, w->theta, model->theta, parameters);
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
    const float one = 1;
    if (!model->exemplars) {
        op->write(w->cp, w->G, model->reference, model->r * h);
        return;
    }
    for (int64_t first = 0; first < model->r; first += w->block) {
        const int64_t count = smaller(w->block, model->r - first);
        for (int64_t i = 0; i < count; i++) {
            op->write(w->cp, eh_at(w->cp, w->X, i * w->ld), model->reference + (first + i) * H, H);
            op->write(w->cp, eh_at(w->cp, w->X, i * w->ld + H), &one, 1);
        }
        const eh_rows x = {.X = w->X, .ld = w->ld, .dense_n = count};
        model->map->forward(&model->shape, w->cp, w->theta, &x, w->work, eh_at(w->cp, w->G, first * h));
    }
}

/* Embeds the next block into Y and returns its rows; 0: there are no more. */
static int64_t walk_next(walk *w)
{
    const int64_t count = smaller(w->block, w->n - w->next);
    if (count == 0) return 0;
    for (int64_t i = 0; i < count; i++) w->row[i] = w->rows ? w->rows[w->next + i] : w->next + i;
    eh_rows x = {.sparse = &w->table, .sparse_rows = w->row, .sparse_n = count};
    if (!w->sparse) {
        w->cp->op->gather(w->cp, &w->table, w->row, count, w->X, w->ld, NULL);
        x = (eh_rows){.X = w->X, .ld = w->ld, .dense_n = count};
    }
    w->model->map->forward(&w->model->shape, w->cp, w->theta, &x, w->work, w->Y);
    w->next += count;
    return count;
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

enhope_status enhope_model_embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, float *Y)
{
    walk w;
    EH_TRY(walk_open(ctx, model, data, NULL, data->x.n, 0, &w));
    eh_compute_begin(w.cp);
    for (int64_t count; (count = walk_next(&w)) > 0;)
        w.cp->op->read(w.cp, Y + (w.next - count) * model->shape.h, w.Y, count * model->shape.h);
    eh_compute_end(w.cp);
    const enhope_status status = w.cp->op->sync(w.cp, ctx);
    walk_close(&w);
    return status;
}

/* What classifying needs besides the walk. */
typedef struct votes {
    void *work;   /* eh_classify's */
    float *Y;     /* (block, h) on the host, where probabilities are asked for and Y is not */
    float *G;     /* (r, h) on the host, where probabilities are asked for */
    double *sums; /* (c) */
} votes;

static enhope_status votes_open(enhope_context *ctx, const walk *w, int64_t k, const enhope_prediction *out, votes *v)
{
    const enhope_model *model = w->model;
    const int64_t h = model->shape.h;
    const bool shares = out->proba && !model->exemplars; /* of the votes */
    if (out->label || out->winner || out->distance || shares)
        EH_TRY(eh_new(ctx, "the neighbours", eh_classify_work(w->block, k, model->c), 1, &v->work));
    if (!out->proba || shares) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "the similarities", model->c, sizeof *v->sums, (void **)&v->sums));
    EH_TRY(eh_new(ctx, "the embedded references", model->r * h, sizeof *v->G, (void **)&v->G));
    if (!out->Y) EH_TRY(eh_new(ctx, "a block of the embedding", w->block * h, sizeof *v->Y, (void **)&v->Y));
    return ENHOPE_OK;
}

static void votes_close(votes *v)
{
    eh_free(v->work);
    eh_free(v->Y);
    eh_free(v->G);
    eh_free(v->sums);
}

/* The outputs of one block of `count` samples that begins with sample `first`. */
static void classify_block(const walk *w, int64_t first, int64_t count, int64_t k, const votes *v,
                           const enhope_prediction *out)
{
    const enhope_model *model = w->model;
    const int64_t h = model->shape.h;
    const eh_references ref = {.G = w->G, .label = model->reference_label, .r = model->r, .h = h, .c = model->c};
    if (v->work)
        eh_classify(w->cp, &ref, w->Y, count, k, v->work, out->label ? out->label + first : NULL,
                    out->winner ? out->winner + first : NULL, out->distance ? out->distance + first : NULL,
                    out->proba && !model->exemplars ? out->proba + first * model->c : NULL);
    float *Y = out->Y ? out->Y + first * h : v->Y;
    if (Y) w->cp->op->read(w->cp, Y, w->Y, count * h);
    if (out->proba && model->exemplars)
        eh_probabilities(model->gaussian, v->G, model->reference_label, model->r, h, model->c, Y, count, v->sums,
                         out->proba + first * model->c);
}

/* The samples rows[0..n), or the first n. *seconds (unless NULL): embedding and classifying, without making room. */
static enhope_status predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                             const int64_t *rows, int64_t n, int32_t k, const enhope_prediction *out, double *seconds)
{
    if (k < 0) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k = %d neighbours asked for: expected at least 1", k);
    if (k > model->r)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k = %d neighbours asked for, the model has %lld references", k,
                       (long long)model->r);
    if (k == 0) k = model->k;
    walk w;
    votes v = {0};
    EH_TRY(walk_open(ctx, model, data, rows, n, k, &w));
    enhope_status status = votes_open(ctx, &w, k, out, &v);
    if (!status) {
        const double start = eh_seconds();
        eh_compute_begin(w.cp);
        walk_references(&w);
        if (v.G) w.cp->op->read(w.cp, v.G, w.G, model->r * model->shape.h);
        for (int64_t count; (count = walk_next(&w)) > 0;) classify_block(&w, w.next - count, count, k, &v, out);
        eh_compute_end(w.cp);
        status = w.cp->op->sync(w.cp, ctx);
        if (seconds) *seconds = eh_seconds() - start;
    }
    votes_close(&v);
    walk_close(&w);
    return status;
}

enhope_status enhope_model_predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, const enhope_prediction *out)
{
    return predict(ctx, model, data, NULL, data->x.n, k, out, NULL);
}

/* ---- evaluation ---- */

/* The model's number for a class of the data; -1: it has none. A model from a file has its names in UTF-8. */
static enhope_status match_class(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, int32_t k,
                                 int32_t *out)
{
    const char *name = data->class_name[k];
    char *utf8 = eh_json_utf8(name);
    if (!utf8) return eh_fail_memory(ctx, "a class name", strlen(name) + 1, 1);
    *out = -1;
    for (int32_t i = 0; i < model->c && *out < 0; i++) {
        const int32_t guess = (int32_t)(((int64_t)k + i) % model->c); /* mostly they are numbered alike */
        if (!strcmp(model->class_name[guess], name) || !strcmp(model->class_name[guess], utf8)) *out = guess;
    }
    eh_free(utf8);
    return ENHOPE_OK;
}

/* Samples without a label cannot be judged and are left out: *rows are the others; NULL: all have labels. */
static enhope_status labelled_rows(enhope_context *ctx, const enhope_dataset *data, int64_t **rows, int64_t *n)
{
    int64_t count = 0;
    for (int64_t i = 0; data->label && i < data->x.n; i++) count += data->label[i] >= 0;
    if (count == 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "data has no labels: there is nothing to compare predictions with");
    *n = count;
    if (count == data->x.n) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "row numbers", count, sizeof **rows, (void **)rows));
    count = 0;
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) (*rows)[count++] = i;
    return ENHOPE_OK;
}

enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    int32_t k, enhope_evaluation *out)
{
    enhope_status status;
    enhope_evaluation result = {.confusion = out->confusion};
    int64_t *rows = NULL;
    int32_t *known = NULL, *label = NULL; /* (c of the data), (n) */
    EH_CHECK(labelled_rows(ctx, data, &rows, &result.n));
    EH_CHECK(eh_new(ctx, "the classes", data->c, sizeof *known, (void **)&known));
    EH_CHECK(eh_new(ctx, "the predictions", result.n, sizeof *label, (void **)&label));
    for (int32_t i = 0; i < data->c; i++) EH_CHECK(match_class(ctx, model, data, i, &known[i]));
    EH_CHECK(predict(ctx, model, data, rows, result.n, k, &(enhope_prediction){.label = label}, &result.seconds));

    const int64_t c = model->c;
    if (result.confusion) memset(result.confusion, 0, (size_t)(c * c) * sizeof *result.confusion);
    for (int64_t i = 0; i < result.n; i++) {
        const int32_t truth = known[data->label[rows ? rows[i] : i]];
        result.unknown += truth < 0;
        result.errors += truth != label[i];
        if (result.confusion && truth >= 0) result.confusion[truth * c + label[i]]++;
    }
    *out = result;
cleanup:
    eh_free(rows);
    eh_free(known);
    eh_free(label);
    return status;
}
