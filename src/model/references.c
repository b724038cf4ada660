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

/* A copy of the model with memory for r references. */
static enhope_status copy_model(enhope_context *ctx, const enhope_model *from, int64_t r, bool exemplars,
                                enhope_model **out)
{
    enhope_model *m = NULL;
    const int64_t H = from->shape.H;
    enhope_status status;
    EH_CHECK(eh_model_create(ctx, from->method, from->map, &from->shape, r, exemplars, from->c, from->setting.count,
                             from->epochs, &m));
    memcpy(m->theta, from->theta, (size_t)eh_map_parameters(from->map, &from->shape) * sizeof *m->theta);
    memcpy(m->shift, from->shift, (size_t)H * sizeof *m->shift);
    memcpy(m->mul, from->mul, (size_t)H * sizeof *m->mul);
    if (m->epochs) memcpy(m->history, from->history, (size_t)m->epochs * sizeof *m->history);
    m->earlier = from->earlier;
    for (int32_t i = 0; i < from->note.count; i++)
        EH_CHECK(enhope_model_set_note(ctx, m, from->note.pair[i].name, from->note.pair[i].value));
    m->gaussian = from->gaussian;
    m->dof = from->dof;
    m->image_rows = from->image_rows;
    m->image_columns = from->image_columns;
    EH_CHECK(eh_model_copy_names(ctx, from->class_name, m->c, m->class_name));
    for (int32_t i = 0; i < m->setting.count; i++) {
        EH_CHECK(eh_model_copy_names(ctx, &from->setting.pair[i].name, 1, &m->setting.pair[i].name));
        EH_CHECK(eh_model_copy_names(ctx, &from->setting.pair[i].value, 1, &m->setting.pair[i].value));
    }
    if (from->input_name) {
        EH_CHECK(eh_new(ctx, "names", H, sizeof *m->input_name, (void **)&m->input_name));
        EH_CHECK(eh_model_copy_names(ctx, from->input_name, H, m->input_name));
    }
    *out = m;
    return ENHOPE_OK;
cleanup:
    enhope_model_free(m);
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
    return status;
}

/* Classes that have samples. */
static int64_t count_classes(const enhope_model *model, const labeled *k)
{
    int64_t classes = 0;
    for (int32_t class = 0; class < model->c; class ++) {
        bool there = false;
        for (int64_t i = 0; i < k->n && !there; i++) there = k->label[k->rows[i]] == class;
        classes += there;
    }
    return classes;
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
    EH_CHECK(copy_model(ctx, model,
                        !kmeans ? k.n
                        : z     ? z
                                : eh_exemplar_default_count(count_classes(model, &k), k.n),
                        kmeans, &m));
    EH_CHECK(kmeans ? reference_kmeans(ctx, &x, &k, (uint64_t)seed, m) : reference_training(ctx, model, data, &k, m));
    *out = m;
    m = NULL;
cleanup:
    enhope_model_free(m);
    labeled_free(&k);
    return status;
}
