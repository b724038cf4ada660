/* Inputs of the objective beside the labels: weights and the shares of label smoothing. The weight
 * of a row is that of its sample, multiplied by that of its class. docs/explanation/method.md has
 * the formulas. */
#include <math.h>
#include <string.h>

#include "data/frame/frame.h"
#include "train/setup/setup.h"

/* class_weight balanced: the weight of a class is the inverse of its share of the weight of all
 * training samples, so that all classes have the same total weight. */
static enhope_status balance(enhope_context *ctx, eh_samples *s)
{
    double *total = NULL, all = 0;
    EH_TRY(eh_new(ctx, "class weights", s->classes, sizeof *total, (void **)&total));
    for (int32_t k = 0; k < s->classes && !s->weight; k++) total[k] = (double)s->class_n[k];
    for (int64_t i = 0; i < s->n && s->weight; i++) total[eh_samples_class(s, i)] += (double)s->weight[s->rows[i]];
    for (int32_t k = 0; k < s->classes; k++) all += total[k];
    for (int32_t k = 0; k < s->classes; k++) s->class_weight[k] = total[k] > 0 ? (float)(all / total[k]) : 0;
    eh_free(total);
    return ENHOPE_OK;
}

/* class_weight NAME=WEIGHT,...: other classes have weight 1. */
static enhope_status read_weights(enhope_trainer *t)
{
    const enhope_dataset *data = t->data;
    float *weight = t->samples.class_weight;
    char name[EH_CLASS_WEIGHTS];
    eh_name_list known = {.count = 0};
    double value;
    for (int32_t k = 0; k < data->c; k++) weight[k] = 1;
    for (const char *at = t->set.objective.class_weight; *at;) {
        int32_t k = 0;
        if (!eh_class_weights_next(&at, name, sizeof name, &value)) break; /* enhope_settings_set has checked it */
        while (k < data->c && strcmp(data->class_name[k], name) != 0) k++;
        if (k == data->c) {
            for (k = 0; k < data->c; k++) eh_name_list_add(&known, data->class_name[k]);
            return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                           "class_weight names the class '%.60s', which the data does not have; its classes are %s",
                           name, eh_name_list_end(&known));
        }
        weight[k] = (float)value;
    }
    return ENHOPE_OK;
}

enhope_status eh_setup_weights(enhope_trainer *t)
{
    const bool balanced = !strcmp(t->set.objective.class_weight, "balanced");
    eh_samples *s = &t->samples;
    if (strcmp(t->set.objective.class_weight, "none") != 0) {
        EH_TRY(eh_new(t->ctx, "class weights", s->classes, sizeof *s->class_weight, (void **)&s->class_weight));
        EH_TRY(balanced ? balance(t->ctx, s) : read_weights(t));
    }
    if (!eh_samples_weighted(s)) return ENHOPE_OK;
    EH_TRY(eh_samples_weight_errors(t->ctx, s, balanced));
    if (s->valid_n)
        eh_log(t->ctx, ENHOPE_LOG_INFO, "the best epoch has the lowest %s",
               balanced          ? "balanced validation error, the mean of the error rates of the classes"
               : s->class_weight ? "weighted validation error: errors count with the weight of their class"
                                 : "weighted validation error: errors count with the weight of their sample");
    return ENHOPE_OK;
}

/* Every class has the same share, divided equally among its exemplars. count (c), share (z):
 * scratch. */
static void fill_smoothing(enhope_trainer *t, int64_t *count, float *share)
{
    eh_smoothing *s = &t->loss.objective.smoothing;
    for (int64_t j = 0; j < t->parameters.z; j++) s->classes += count[t->parameters.exemplar_label[j]]++ == 0;
    for (int64_t j = 0; j < t->parameters.z; j++) {
        const double one = 1 / (s->classes * (double)count[t->parameters.exemplar_label[j]]);
        s->neg_entropy += one * log(one);
        share[j] = (float)one;
    }
    s->part = t->set.objective.label_smoothing;
    s->share = t->loss.smooth_share;
    t->cp->op->write(t->cp, t->loss.smooth_share, share, t->parameters.z);
}

enhope_status eh_setup_smoothing(enhope_trainer *t)
{
    int64_t *count = NULL;
    float *share = NULL;
    enhope_status status;
    if (t->set.objective.label_smoothing == 0 || t->method->compared != EH_EXEMPLARS) return ENHOPE_OK;
    EH_CHECK(
        eh_compute_new(t->cp, t->ctx, "label smoothing", t->parameters.z, t->cp->op->real_size, &t->loss.smooth_share));
    EH_CHECK(eh_new(t->ctx, "class counts", t->samples.classes, sizeof *count, (void **)&count));
    EH_CHECK(eh_new(t->ctx, "label smoothing", t->parameters.z, sizeof *share, (void **)&share));
    fill_smoothing(t, count, share);
cleanup:
    eh_free(count);
    eh_free(share);
    return status;
}
