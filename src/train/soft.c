/* Soft targets of the methods that compare with exemplars: smoothed over classes, mixed of two samples, and weighted by
 * class. All three are one P of a batch, which is made when the batch is taken; docs/explanation/method.md has the formulas. */
#include <math.h>

#include "train/trainer.h"

bool eh_train_is_soft(const enhope_trainer *t)
{
    return t->method->compared == EH_EXEMPLARS && (t->set.smooth > 0 || t->set.mix > 0 || t->set.balance > 0);
}

enhope_status eh_train_soft_settle(const enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    const eh_named on =
        eh_train_first_on((eh_named[]){{"smooth", s->smooth}, {"mix", s->mix}, {"balance", s->balance}}, 3);
    if (!eh_train_is_soft(t) || !t->objective.nca) return ENHOPE_OK;
    return eh_fail(
        t->ctx, ENHOPE_ERROR_ARGUMENT,
        "%s is %g: with target nca a sample may have any exemplar of its class, so that there is no target to "
        "change; expected target mcml",
        on.name, on.value);
}

enhope_status eh_train_soft_allocate(enhope_trainer *t)
{
    eh_compute *c = t->c;
    if (!eh_train_is_soft(t)) return ENHOPE_OK;
    EH_TRY(eh_compute_new(c, t->ctx, "target of a batch", t->batch_most * t->z, c->op->size, &t->soft));
    EH_TRY(eh_compute_new(c, t->ctx, "weights of classes", t->data->c, c->op->size, &t->class_weight));
    return eh_compute_new(c, t->ctx, "weights of exemplars", t->z, c->op->size, &t->crowd);
}

/* count (c): exemplars, of each class. Where every pair weighs the same, none is divided by their number. */
static void fill_crowd(enhope_trainer *t, const int64_t *count, float *crowd)
{
    for (int64_t j = 0; j < t->z; j++)
        crowd[j] = t->objective.indicator && !t->objective.row ? 1 : (float)count[t->exemplar_label[j]];
    t->c->op->write(t->c, t->crowd, crowd, t->z);
}

static void fill_weights(enhope_trainer *t, const int64_t *count, float *weight)
{
    for (int32_t k = 0; k < t->data->c; k++)
        weight[k] = count[k] && t->class_n[k] ? (float)pow((double)t->class_n[k] / (double)t->n, -t->set.balance) : 0;
    t->c->op->write(t->c, t->class_weight, weight, t->data->c);
}

enhope_status eh_train_soft_start(enhope_trainer *t)
{
    const int64_t classes = t->data->c;
    int64_t *count = NULL; /* (c) exemplars */
    float *numbers = NULL;
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "class counts", classes, sizeof *count, (void **)&count));
    EH_CHECK(eh_new(t->ctx, "weights", classes > t->z ? classes : t->z, sizeof *numbers, (void **)&numbers));
    for (int64_t j = 0; j < t->z; j++) t->soft_classes += count[t->exemplar_label[j]]++ == 0;
    fill_crowd(t, count, numbers);
    fill_weights(t, count, numbers);
    t->objective.P = t->soft;
cleanup:
    eh_free(count);
    eh_free(numbers);
    return status;
}

void eh_train_soft_take(enhope_trainer *t)
{
    t->c->op->targets(t->c,
                      &(eh_targets){.n = t->batch_n,
                                    .z = t->z,
                                    .label = t->batch_label,
                                    .other_label = t->embedder.reference_label,
                                    .weight = t->class_weight,
                                    .crowd = t->crowd,
                                    .smooth = t->set.smooth,
                                    .classes = t->soft_classes,
                                    .with = &t->disturb,
                                    .rows = t->batch_rows},
                      t->soft);
}
