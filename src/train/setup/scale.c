/* The scale of inputs that are compared as they are (snc): exp(-gamma^2 d) needs a gamma, and one that is right for the
 * exemplars that training begins with. It becomes part of the scaling of the inputs, and so of the model. */
#include <math.h>
#include <stdlib.h>

#include "train/trainer.h"

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median distance of Y's first n points to the nearest of the z behind them. */
static enhope_status median_distance(enhope_trainer *t, int64_t n, double *out)
{
    eh_compute *c = t->c;
    float *square = NULL;
    EH_TRY(eh_new(t->ctx, "distances", n, sizeof *square, (void **)&square));
    c->op->nearest(c, t->embedder.Y, n, eh_at(c, t->embedder.Y, n * t->embedder.shape.h), t->z, t->embedder.shape.h, 1,
                   t->embedder.nearest.index, t->embedder.nearest.distance);
    c->op->read(c, square, t->embedder.nearest.distance, n);
    qsort(square, (size_t)n, sizeof *square, by_size);
    *out = sqrt((double)square[n / 2]);
    eh_free(square);
    return c->op->sync(c, t->ctx);
}

/* The loss of the sample and the exemplars as they lie in Y. */
static enhope_status loss_of(enhope_trainer *t, int64_t n, double *out)
{
    eh_compute *c = t->c;
    eh_value value;
    eh_train_neighbour_loss(t, n, t->epoch_label, t->losses);
    c->op->fetch(c, &value, t->losses, sizeof value);
    EH_TRY(c->op->sync(c, t->ctx));
    *out = value.value;
    return ENHOPE_OK;
}

/* Tries scales about the inverse of the median distance to the nearest exemplar, in steps of the root of two, on the first
 * rows, which are a sample; the lowest loss wins. */
enhope_status eh_train_scale(enhope_trainer *t)
{
    enum { STEPS = 24 };
    static const double STEP = 1.4142135623730951;
    eh_compute *c = t->c;
    const int64_t n = t->held < t->embedder.capacity ? t->held : t->embedder.capacity, H = t->embedder.shape.H;
    const eh_rows rows = {.X = t->embedder.X, .ld = t->embedder.ld, .dense_n = n + t->z};
    eh_real *E = eh_at(c, t->theta, t->P);
    double distance, best = 1, least = INFINITY;
    c->op->gather_operands(c, &t->embedder.table, t->row_list, n, t->embedder.X, t->embedder.ld, t->epoch_label, NULL);
    c->op->close_rows(c, t->z, H, E, eh_operand_at(c, t->embedder.X, n * t->embedder.ld), t->embedder.ld);
    t->method->map->forward(&t->embedder.shape, c, t->theta, &rows, t->embedder.work, t->embedder.Y, false);
    EH_TRY(median_distance(t, n, &distance));
    if (!(distance > 0)) return ENHOPE_OK;
    double gamma = pow(STEP, -STEPS / 2) / distance, factor = gamma;
    for (int step = 0; step <= STEPS; step++, gamma *= STEP, factor = STEP) {
        double loss;
        c->op->scale(c, (n + t->z) * H, factor, t->embedder.Y);
        EH_TRY(loss_of(t, n, &loss));
        if (loss < least) least = loss, best = gamma;
    }
    for (int64_t j = 0; j < H; j++) t->mul[j] *= (float)best;
    c->op->write(c, t->embedder.table.mul, t->mul, H);
    c->op->scale(c, t->z * H, best, E);
    return c->op->sync(c, t->ctx);
}
