/* Which rows an epoch shows, and in what order: each epoch has a seeded shuffle of its own, cut into batches. */
#include <string.h>

#include "train/trainer.h"

/* The first sample of an epoch's batch: batches are of equal size, give or take one. */
static int64_t batch_start(const enhope_trainer *t, int64_t batch)
{
    return t->n * batch / t->batches;
}

/* The parts of a batch of so many rows: equal shares. */
static void cut(enhope_trainer *t, int64_t rows)
{
    for (int64_t p = 0; p <= t->parts; p++) t->part_start[p] = eh_share_start(rows, p, t->parts);
}

/* Makes room behind each batch of the shuffled samples, the last first, and puts their targets there. */
static void add_targets(enhope_trainer *t)
{
    const int64_t each = t->hinge.targets;
    for (int64_t b = t->batches - 1; b >= 0 && each; b--) {
        const int64_t from = batch_start(t, b), n = batch_start(t, b + 1) - from;
        int64_t *batch = t->order + from * (1 + each);
        memmove(batch, t->order + from, (size_t)n * sizeof *batch);
        for (int64_t i = 0; i < n; i++)
            memcpy(batch + n + i * each, t->targets + batch[i] * each, (size_t)each * sizeof *batch);
    }
}

/* The rows of an epoch in their order, and their classes, on the host. */
static void shuffle(enhope_trainer *t, int64_t epoch)
{
    if (t->shuffled == epoch || epoch >= t->set.epochs) return;
    eh_shuffle((uint64_t)t->set.seed, EH_STREAM_SHUFFLE, (uint64_t)(t->past + epoch), t->n, t->order);
    add_targets(t);
    for (int64_t i = 0; i < t->n * (1 + t->hinge.targets); i++) {
        const int64_t at = t->order[i];
        t->order[i] = t->rows[at < 0 ? -1 - at : at];
        t->order_label[i] = at < 0 ? -1 : t->label[t->order[i]];
    }
    t->shuffled = epoch;
}

/* The rows of the epoch under way go to the backend. */
static void send(enhope_trainer *t)
{
    shuffle(t, t->epoch);
    t->c->op->send(t->c, t->epoch_rows, t->order, (size_t)t->order_room * sizeof *t->order);
    t->c->op->send(t->c, t->epoch_label, t->order_label, (size_t)t->order_room * sizeof *t->order_label);
    t->shown = t->epoch;
}

enhope_status eh_train_show(enhope_trainer *t, eh_shown *out)
{
    if (t->windows) return eh_train_window_show(t, out);
    const int64_t each = 1 + t->hinge.targets; /* rows of a sample */
    const int64_t from = batch_start(t, t->batch) * each, to = batch_start(t, t->batch + 1) * each;
    if (t->shown != t->epoch) send(t);
    cut(t, to - from);
    *out = (eh_shown){.first = from, .n = to - from, .pass = (uint64_t)(t->past + t->epoch)};
    return ENHOPE_OK;
}

void eh_train_show_next(enhope_trainer *t)
{
    if (!t->windows) shuffle(t, t->epoch + 1); /* windows are always ahead */
}
