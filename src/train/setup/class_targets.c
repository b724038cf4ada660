/* Inputs of the objective beside the labels: class weights and the shares of label smoothing.
 * docs/explanation/method.md has the formulas. */
#include <math.h>

#include "train/setup/setup.h"

/* class_weight balanced: the weight of a sample is the inverse of its class's share of the
 * training samples, so that all classes have the same total weight. */
static enhope_status start_weights(enhope_trainer *t)
{
    float *weight = NULL;
    if (t->set.objective.class_weight != EH_CLASS_WEIGHT_BALANCED) return ENHOPE_OK;
    EH_TRY(eh_compute_new(t->cp, t->ctx, "class weights", t->samples.classes, t->cp->op->real_size,
                          &t->loss.class_weight));
    EH_TRY(eh_new(t->ctx, "class weights", t->samples.classes, sizeof *weight, (void **)&weight));
    for (int32_t k = 0; k < t->samples.classes; k++)
        weight[k] = t->samples.class_n[k] ? (float)((double)t->samples.n / (double)t->samples.class_n[k]) : 0;
    t->cp->op->write(t->cp, t->loss.class_weight, weight, t->samples.classes);
    t->loss.objective.class_weight = t->loss.class_weight;
    eh_free(weight);
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
        s->entropy += one * log(one);
        share[j] = (float)one;
    }
    s->part = t->set.objective.label_smoothing;
    s->share = t->loss.smooth_share;
    t->cp->op->write(t->cp, t->loss.smooth_share, share, t->parameters.z);
}

static enhope_status start_smoothing(enhope_trainer *t)
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

enhope_status eh_setup_class_targets(enhope_trainer *t)
{
    EH_TRY(start_weights(t));
    return start_smoothing(t);
}
