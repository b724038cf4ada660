/* The scale of inputs that are compared without a map (snc). Its similarity exp(-gamma^2 d)
 * needs a gamma that fits the initial exemplars. The factor becomes part of the scaling of the
 * inputs, and so of the model. */
#include <math.h>
#include <stdlib.h>

#include "train/setup/setup.h"

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* n samples and the exemplars behind them, embedded in Y. */
typedef struct probe {
    int64_t n;
    eh_label *label; /* (n) */
    eh_loss *loss;
} probe;

/* The median distance of the n samples to the nearest exemplar. */
static enhope_status median_distance(enhope_trainer *t, const probe *p, double *out)
{
    eh_compute *cp = t->cp;
    const eh_embedder *e = &t->embedder;
    const int64_t n = p->n, h = e->shape.h;
    float *square = NULL;
    EH_TRY(eh_new(t->ctx, "distances", n, sizeof *square, (void **)&square));
    cp->op->nearest(cp, e->Y, n, eh_at(cp, e->Y, n * h), t->parameters.z, h, 1, e->nearest.index, e->nearest.distance);
    cp->op->read(cp, square, e->nearest.distance, n);
    qsort(square, (size_t)n, sizeof *square, by_size);
    *out = sqrt((double)square[n / 2]);
    eh_free(square);
    return cp->op->sync(cp, t->ctx);
}

static enhope_status loss_of(enhope_trainer *t, const probe *p, double *out)
{
    eh_loss_value value;
    eh_batch_loss_objective(&t->loss, &(eh_batch){.label = p->label, .n = p->n}, p->loss);
    t->cp->op->fetch(t->cp, &value, p->loss, sizeof value);
    EH_TRY(t->cp->op->sync(t->cp, t->ctx));
    *out = value.value;
    return ENHOPE_OK;
}

/* Tries scales around the inverse of the median distance to the nearest exemplar, in steps of
 * the square root of two, and keeps the scale of lowest loss. *best is unchanged if all
 * distances are 0. */
static enhope_status search(enhope_trainer *t, const probe *p, double *best)
{
    enum { STEPS = 24 };
    static const double STEP = 1.4142135623730951;
    double distance, lowest = INFINITY;
    EH_TRY(median_distance(t, p, &distance));
    if (!(distance > 0)) return ENHOPE_OK;
    double gamma = pow(STEP, -STEPS / 2) / distance, factor = gamma;
    for (int step = 0; step <= STEPS; step++, gamma *= STEP, factor = STEP) {
        double loss;
        t->cp->op->scale(t->cp, (p->n + t->parameters.z) * t->parameters.H, factor, t->embedder.Y);
        EH_TRY(loss_of(t, p, &loss));
        if (loss < lowest) lowest = loss, *best = gamma;
    }
    return ENHOPE_OK;
}

/* Embeds the first rows, which are a random sample, and the exemplars. */
static void embed(enhope_trainer *t, const probe *p)
{
    eh_embedder *e = &t->embedder;
    const eh_parameters *q = &t->parameters;
    const eh_rows rows = {.X = e->X, .ld = e->ld, .dense_n = p->n + q->z};
    t->cp->op->gather_packed(t->cp, &e->table, t->samples.placed_rows, p->n, e->X, e->ld, p->label, NULL);
    t->cp->op->append_bias(t->cp, q->z, q->H, eh_parameters_exemplars(q, q->theta),
                           eh_packed_at(t->cp, e->X, p->n * e->ld), e->ld);
    e->map->forward(&e->shape, t->cp, q->theta, &rows, e->work, e->Y, false);
}

enhope_status eh_setup_scale(enhope_trainer *t)
{
    eh_compute *cp = t->cp;
    const eh_parameters *q = &t->parameters;
    probe p = {.n = eh_min(t->samples.resident_n, t->embedder.capacity)};
    double best = 1;
    enhope_status status;
    EH_CHECK(eh_compute_new(cp, t->ctx, "labels", p.n, sizeof(int32_t), &p.label));
    EH_CHECK(eh_compute_new(cp, t->ctx, "a loss", 1, sizeof(eh_loss_value), &p.loss));
    embed(t, &p);
    EH_CHECK(search(t, &p, &best));
    for (int64_t j = 0; j < q->H; j++) t->mul[j] *= (float)best;
    cp->op->write(cp, t->embedder.table.mul, t->mul, q->H);
    cp->op->scale(cp, q->z * q->H, best, eh_parameters_exemplars(q, q->theta));
    status = cp->op->sync(cp, t->ctx);
cleanup:
    if (p.label) cp->op->release(cp, p.label);
    if (p.loss) cp->op->release(cp, p.loss);
    return status;
}
