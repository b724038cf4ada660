/* Training that continues a model: it starts with the model's map, scaling and exemplars.
 *
 * Classes are matched by name. New classes follow those of the model. Their exemplars are
 * k-means centers of their samples, as many per class as the model has on average. Classes of
 * the model that the new data lacks keep their exemplars. */
#include <string.h>

#include "comm/comm.h"
#include "train/setup/setup.h"

/* ---- the joined list of classes ---- */

void eh_setup_join_free(enhope_dataset *joined)
{
    eh_free(joined->label);
    if (joined->store) eh_free((void *)(uintptr_t)joined->store->number);
    eh_free(joined->store);
    eh_free(joined->class_name);
    *joined = (enhope_dataset){0};
}

static bool is_whole(const char *name)
{
    return *name && strspn(name, "0123456789") == strlen(name);
}

/* Whether -1 marks a missing label: all classes of the model are numbers from 0 on. */
static bool is_missing(const enhope_model *model, const char *name)
{
    if (strcmp(name, "-1") != 0) return false;
    for (int32_t k = 0; k < model->c; k++)
        if (!is_whole(model->class_name[k])) return false;
    return true;
}

/* Class names are borrowed from model and data. */
static enhope_status join_names(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                int32_t *number, enhope_dataset *out)
{
    int64_t capacity;
    if (__builtin_add_overflow((int64_t)model->c, (int64_t)data->c, &capacity) || capacity > INT32_MAX)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%d classes of the data and %d of the model are too many; use fewer classes", data->c, model->c);
    EH_TRY(eh_new(ctx, "class names", capacity, sizeof *out->class_name, (void **)&out->class_name));
    memcpy(out->class_name, model->class_name, (size_t)model->c * sizeof *out->class_name);
    out->c = model->c;
    for (int32_t k = 0; k < data->c; k++) {
        EH_TRY(eh_model_match_class(ctx, model, data, k, &number[k]));
        if (number[k] >= 0 || is_missing(model, data->class_name[k])) continue;
        number[k] = out->c;
        out->class_name[out->c++] = data->class_name[k];
    }
    return ENHOPE_OK;
}

enhope_status eh_setup_join(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                            enhope_dataset *out)
{
    enhope_dataset j = *data;
    const bool in_store = data->store && data->store->labeled;
    int32_t *number = NULL; /* (c of the data) numbers in the joined list */
    enhope_status status;
    j.label = NULL;
    j.class_name = NULL;
    j.store = NULL;
    EH_CHECK(eh_model_inputs(ctx, model, data, &j.x));
    if (!data->label && !in_store)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA,
                         "the data has no labels: continued training needs a class for each sample; add labels, or "
                         "train a new model"));
    if (!data->input_name) j.input_name = model->input.name;
    j.encoding = model->input.encoding;
    if (!data->image_rows) j.image_rows = model->input.image_rows, j.image_columns = model->input.image_columns;
    EH_CHECK(eh_new(ctx, "classes", data->c, sizeof *number, (void **)&number));
    EH_CHECK(join_names(ctx, model, data, number, &j));
    if (in_store) {
        EH_CHECK(eh_new(ctx, "a store", 1, sizeof *j.store, (void **)&j.store));
        *j.store = *data->store;
        j.store->H = j.x.H;
        j.store->number = number;
        number = NULL;
    } else {
        EH_CHECK(eh_new(ctx, "labels", data->x.n, sizeof *j.label, (void **)&j.label));
        for (int64_t i = 0; i < data->x.n; i++) j.label[i] = data->label[i] < 0 ? -1 : number[data->label[i]];
    }
    *out = j;
    j = (enhope_dataset){0};
cleanup:
    eh_free(number);
    eh_setup_join_free(&j);
    return status;
}

enhope_status eh_setup_unlabeled(enhope_context *ctx, const enhope_dataset *data, enhope_dataset *out)
{
    static char no_name[] = "";
    enhope_dataset j = *data;
    enhope_status status;
    j.label = NULL;
    j.class_name = NULL;
    EH_CHECK(eh_new(ctx, "labels", data->x.n, sizeof *j.label, (void **)&j.label));
    EH_CHECK(eh_new(ctx, "names", 1, sizeof *j.class_name, (void **)&j.class_name));
    j.class_name[0] = no_name;
    j.c = 1;
    *out = j;
    return ENHOPE_OK;
cleanup:
    eh_free(j.label);
    return status;
}

enhope_status eh_setup_own_labels(enhope_context *ctx, const enhope_dataset *data, enhope_dataset *out)
{
    enhope_dataset j = *data;
    enhope_status status;
    j.label = NULL;
    j.class_name = NULL;
    EH_CHECK(eh_new(ctx, "labels", data->x.n, sizeof *j.label, (void **)&j.label));
    EH_CHECK(eh_new(ctx, "names", data->c, sizeof *j.class_name, (void **)&j.class_name));
    memcpy(j.label, data->label, (size_t)data->x.n * sizeof *j.label);
    memcpy(j.class_name, data->class_name, (size_t)data->c * sizeof *j.class_name);
    *out = j;
    return ENHOPE_OK;
cleanup:
    eh_free(j.label);
    return status;
}

/* ---- settings and shape ---- */

/* The last epoch of the history. A number outside a plausible range counts as 0, because a file
 * may contain any number and later epochs are added to it. */
static int64_t last_epoch(const enhope_model *model)
{
    const int64_t last = model->epochs ? model->history[model->epochs - 1].epoch : 0;
    return last < 0 || last > INT64_C(1) << 52 ? 0 : last;
}

enhope_status eh_setup_take_settings(enhope_trainer *t)
{
    EH_TRY(eh_settings_fix(t->ctx, &t->set, t->from));
    t->method = eh_method_find(t->set.method);
    t->past = last_epoch(t->from);
    if (eh_method_learns(t->method)) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                   "%s is not an iterative method and cannot continue a model; train a new model",
                   t->method->info.name);
}

static bool same_shape(const eh_map_shape *a, const eh_map_shape *b)
{
    bool same = a->H == b->H && a->h == b->h && a->F == b->F && a->m == b->m && a->order == b->order &&
                a->layers == b->layers && a->relu == b->relu;
    for (int i = 0; same && i < a->layers; i++) same = a->width[i] == b->width[i];
    return same;
}

enhope_status eh_setup_check_shape(const enhope_trainer *t, const eh_map_shape *shape)
{
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    if (t->from->map == t->method->map && same_shape(shape, &t->from->shape) && t->from->exemplars == exemplars)
        return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_MODEL,
                   "the settings of the model do not match its shape as a model of %s; train a new model",
                   t->method->info.name);
}

/* ---- exemplars ---- */

/* has (c): whether the model has exemplars of a class. */
static enhope_status find_known(const enhope_trainer *t, bool **has)
{
    const enhope_model *m = t->from;
    EH_TRY(eh_new(t->ctx, "classes", t->data->c, sizeof **has, (void **)has));
    for (int64_t i = 0; i < m->r; i++) (*has)[m->reference_label[i]] = true;
    return ENHOPE_OK;
}

/* Stores the resident rows of classes without exemplars in `rows`, and their number in *count. */
static enhope_status new_rows(const enhope_trainer *t, int64_t *rows, int64_t *count)
{
    bool *has = NULL;
    EH_TRY(find_known(t, &has));
    *count = 0;
    for (int64_t i = 0; i < t->samples.resident_n; i++)
        if (!has[eh_samples_class(&t->samples, i)]) rows[(*count)++] = t->samples.rows[i];
    eh_free(has);
    return ENHOPE_OK;
}

static int64_t exemplars_for(const enhope_model *m, int64_t rows, int64_t classes)
{
    int64_t known = 0;
    for (int64_t i = 0; i < m->r; i++) known += i == 0 || m->reference_label[i] != m->reference_label[i - 1];
    const int64_t each = (m->r + known / 2) / known, wanted = each * classes;
    return wanted < rows ? wanted : rows;
}

enhope_status eh_setup_count_exemplars(const enhope_trainer *t, int64_t *z)
{
    bool *has = NULL;
    int64_t rows = 0, classes = 0;
    EH_TRY(find_known(t, &has));
    for (int32_t k = 0; k < t->data->c; k++)
        if (!has[k] && t->samples.class_resident[k]) rows += t->samples.class_resident[k], classes++;
    eh_free(has);
    *z = t->from->r + exemplars_for(t->from, rows, classes);
    return ENHOPE_OK;
}

/* Merges both groups in the order of their classes. */
static void merge(enhope_trainer *t, const float *fresh, const int32_t *fresh_label, int64_t count, float *E)
{
    const enhope_model *m = t->from;
    const int64_t H = t->parameters.H;
    for (int64_t at = 0, old = 0, new = 0; at < t->parameters.z; at++) {
        const bool own = new == count || (old < m->r && m->reference_label[old] <= fresh_label[new]);
        memcpy(E + at * H, own ? m->reference + old * H : fresh + new *H, (size_t)H * sizeof *E);
        t->parameters.exemplar_label[at] = own ? m->reference_label[old] : fresh_label[new];
        if (own)
            old++;
        else
            new ++;
    }
}

enhope_status eh_setup_more_exemplars(enhope_trainer *t, float *E)
{
    const int64_t count = t->parameters.z - t->from->r;
    int64_t *rows = NULL, found = 0;
    float *fresh = NULL;   /* (count, H) */
    int32_t *label = NULL; /* (count) */
    enhope_status status = ENHOPE_OK;
    if (count) {
        status = eh_new(t->ctx, "rows of samples", t->samples.resident_n, sizeof *rows, (void **)&rows);
        if (!status) status = eh_new(t->ctx, "exemplars", count * t->parameters.H, sizeof *fresh, (void **)&fresh);
        if (!status) status = eh_new(t->ctx, "labels", count, sizeof *label, (void **)&label);
        if (!status) status = new_rows(t, rows, &found);
        EH_CHECK(eh_comm_check(t->ctx, status));
        EH_CHECK(eh_exemplar_kmeans(t->ctx, t->cp, &t->embedder.table, rows, found, t->data->c, count,
                                    (uint64_t)t->set.random_state, fresh, label));
    }
    merge(t, fresh, label, count, E);
cleanup:
    eh_free(rows);
    eh_free(fresh);
    eh_free(label);
    return status;
}
