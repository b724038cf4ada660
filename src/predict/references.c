/* Replaces the references of a model by k-means centers of data, or by all of its samples. */
#include <string.h>

#include "classify/classify.h"
#include "comm/comm.h"
#include "data/data.h"
#include "exemplar/exemplar.h"
#include "model/model.h"

/* The labeled samples of data, by the model's classes. */
typedef struct labeled {
    int32_t *label; /* (n of the data) the model's number; -1: no label, or a class that the model does not have */
    int64_t *rows;  /* (n) the samples with a label */
    int64_t n;
} labeled;

static void labeled_free(labeled *k)
{
    eh_free(k->label);
    eh_free(k->rows);
}

static enhope_status labeled_create(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    labeled *out)
{
    labeled k = {0};
    int32_t *class = NULL; /* (c of the data) */
    enhope_status status;
    EH_TRY(eh_dataset_in_memory(ctx, data, "comparing with other references"));
    EH_CHECK(eh_new(ctx, "the classes", data->c, sizeof *class, (void **)&class));
    EH_CHECK(eh_new(ctx, "labels", data->x.n, sizeof *k.label, (void **)&k.label));
    EH_CHECK(eh_new(ctx, "row numbers", data->x.n, sizeof *k.rows, (void **)&k.rows));
    for (int32_t i = 0; i < data->c; i++) EH_CHECK(eh_model_match_class(ctx, model, data, i, &class[i]));
    for (int64_t i = 0; i < data->x.n; i++) {
        k.label[i] = data->label && data->label[i] >= 0 ? class[data->label[i]] : -1;
        if (k.label[i] >= 0) k.rows[k.n++] = i;
    }
    if (!k.n)
        EH_CHECK(
            eh_fail(ctx, ENHOPE_ERROR_DATA,
                    "the data has no labeled sample of a class of the model; use data with labels of these classes"));
    *out = k;
    eh_free(class);
    return ENHOPE_OK;
cleanup:
    eh_free(class);
    labeled_free(&k);
    return status;
}

/* The exemplars become the centers of each class in the scaled input space. */
static enhope_status reference_kmeans(enhope_context *ctx, const eh_matrix *x, const labeled *k, uint64_t seed,
                                      enhope_model *m)
{
    eh_compute *cp = NULL;
    eh_table table;
    EH_TRY(eh_compute_open(ctx, true, &cp));
    enhope_status status = cp->op->place(cp, ctx, x, k->label, m->shift, m->mul, &table);
    if (!status) {
        eh_compute_begin(cp);
        status = eh_exemplar_kmeans(ctx, cp, &table, k->rows, k->n, m->c, m->r, seed, m->reference, m->reference_label);
        eh_compute_end(cp);
        cp->op->unplace(cp, &table);
    }
    eh_compute_close(cp);
    m->k = eh_default_neighbors(m->reference_label, m->r);
    return status;
}

/* The references become all labeled samples, embedded. */
static enhope_status reference_training(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                        const labeled *k, enhope_model *m)
{
    const int64_t h = m->shape.h;
    float *Y = NULL;
    EH_TRY(eh_new(ctx, "the embedding", data->x.n * h, sizeof *Y, (void **)&Y));
    const enhope_status status = enhope_model_embed(ctx, model, data, Y);
    for (int64_t i = 0; i < k->n && !status; i++) {
        memcpy(m->reference + i * h, Y + k->rows[i] * h, (size_t)h * sizeof *Y);
        m->reference_label[i] = k->label[k->rows[i]];
    }
    eh_free(Y);
    m->k = m->r < EH_NEIGHBORS ? (int32_t)m->r : EH_NEIGHBORS;
    m->votes = true;
    return status;
}

/* Two centers per class, or one per sample if it has fewer. */
static enhope_status default_centers(enhope_context *ctx, const enhope_model *model, const labeled *k, int64_t *z)
{
    int64_t *counts = NULL;
    EH_TRY(eh_new(ctx, "class counts", model->c, sizeof *counts, (void **)&counts));
    for (int64_t i = 0; i < k->n; i++) counts[k->label[k->rows[i]]]++;
    *z = eh_exemplar_default_count(2, model->c, counts);
    eh_free(counts);
    return ENHOPE_OK;
}

enhope_status enhope_model_with_references(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                           const char *to, int64_t z, int64_t seed, enhope_model **out)
{
    const bool kmeans = !strcmp(to, "kmeans");
    if (!kmeans && strcmp(to, "training"))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "references are '%s': expected kmeans or training", to);
    if (z < 0) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%lld centers: expected 0 or more", (long long)z);
    labeled k = {0};
    eh_matrix x;
    enhope_model *m = NULL;
    eh_comm_begin(ctx);
    enhope_status status;
    EH_TRY(labeled_create(ctx, model, data, &k));
    EH_CHECK(eh_model_inputs(ctx, model, data, &x));
    if (kmeans && z == 0) EH_CHECK(default_centers(ctx, model, &k, &z));
    EH_CHECK(eh_model_copy(ctx, model, kmeans ? z : k.n, kmeans, &m));
    EH_CHECK(kmeans ? reference_kmeans(ctx, &x, &k, (uint64_t)seed, m) : reference_training(ctx, model, data, &k, m));
    *out = m;
    m = NULL;
cleanup:
    enhope_model_free(m);
    labeled_free(&k);
    return status;
}
