/* Which rows an epoch shows, and in what order: each epoch has a seeded shuffle of its own, cut into batches. */
#include <string.h>

#include "method/train.h"

/* The first sample of an epoch's batch: batches are of equal size, give or take one. */
int64_t eh_train_batch_start(const enhope_trainer *t, int64_t batch)
{
    return t->n * batch / t->batches;
}

void eh_train_cut(enhope_trainer *t, int64_t rows)
{
    for (int64_t p = 0; p <= t->parts; p++) t->part_start[p] = eh_share_start(rows, p, t->parts);
}

/* Makes room behind each batch of the shuffled samples, the last first, and puts their targets there. */
static void add_targets(enhope_trainer *t)
{
    const int64_t each = t->hinge.targets;
    for (int64_t b = t->batches - 1; b >= 0 && each; b--) {
        const int64_t from = eh_train_batch_start(t, b), n = eh_train_batch_start(t, b + 1) - from;
        int64_t *batch = t->order + from * (1 + each);
        memmove(batch, t->order + from, (size_t)n * sizeof *batch);
        for (int64_t i = 0; i < n; i++)
            memcpy(batch + n + i * each, t->targets + batch[i] * each, (size_t)each * sizeof *batch);
    }
}

/* The rows of an epoch in their order, and their classes, on the host. */
void eh_train_shuffle(enhope_trainer *t, int64_t epoch)
{
    if (t->shuffled == epoch || epoch >= t->set.epochs) return;
    eh_shuffle((uint64_t)t->set.seed, EH_STREAM_SHUFFLE, (uint64_t)(t->past + epoch), t->n, t->order);
    add_targets(t);
    for (int64_t i = 0; i < t->n * (1 + t->hinge.targets); i++) {
        const int64_t at = t->order[i];
        t->order[i] = t->rows[at < 0 ? -1 - at : at];
        t->order_label[i] = at < 0 ? -1 : t->data->label[t->order[i]];
    }
    t->shuffled = epoch;
}

void eh_train_begin_epoch(enhope_trainer *t)
{
    eh_train_shuffle(t, t->epoch);
    const size_t rows = (size_t)(t->n * (1 + t->hinge.targets));
    t->c->op->send(t->c, t->epoch_rows, t->order, rows * sizeof *t->order);
    t->c->op->send(t->c, t->epoch_label, t->order_label, rows * sizeof *t->order_label);
}
