/* The batches of an epoch, from rows in memory or from windows of streamed data. */
#include <string.h>

#include "train/batches.h"
#include "train/stream/windows.h"

enhope_status eh_batches_create(eh_batches *b)
{
    enhope_context *ctx = b->ctx;
    eh_compute *cp = b->cp;
    b->order.epoch = b->sent = -1;
    /* all samples are shuffled, of which the first are drawn */
    b->capacity = b->windows ? b->windows->capacity : eh_max(b->drawn * (1 + b->targets), b->samples->n);
    if (b->labeled)
        EH_TRY(eh_new(ctx, "order of samples", eh_max(b->samples->n, b->samples->unlabeled_n), sizeof *b->order.part,
                      (void **)&b->order.part));
    if (!b->windows) {
        EH_TRY(eh_new(ctx, "order of samples", b->capacity, sizeof *b->order.row, (void **)&b->order.row));
        EH_TRY(eh_new(ctx, "order of samples", b->capacity, sizeof *b->order.label, (void **)&b->order.label));
    }
    EH_TRY(eh_new(ctx, "chunks of a batch", b->chunks.count + 1, sizeof *b->chunk_start, (void **)&b->chunk_start));
    if (b->labeled && b->candidates) {
        EH_TRY(eh_new(ctx, "rows of targets", b->capacity, sizeof *b->order.target_row, (void **)&b->order.target_row));
        EH_TRY(eh_compute_new(cp, ctx, "rows of targets", b->capacity, sizeof *b->order.target_row, &b->target_rows));
    }
    if (eh_samples_weighted(b->samples)) {
        EH_TRY(eh_new(ctx, "weights", b->capacity, sizeof *b->order.weight, (void **)&b->order.weight));
        EH_TRY(eh_compute_new(cp, ctx, "weights", b->capacity, cp->op->real_size, &b->weight));
    }
    EH_TRY(eh_compute_new(cp, ctx, "order of samples", b->capacity, sizeof *b->order.row, &b->rows));
    return eh_compute_new(cp, ctx, "order of samples", b->capacity, sizeof *b->order.label, &b->label);
}

void eh_batches_free(eh_batches *b)
{
    if (b->rows) b->cp->op->release(b->cp, b->rows);
    if (b->label) b->cp->op->release(b->cp, b->label);
    if (b->weight) b->cp->op->release(b->cp, b->weight);
    if (b->target_rows) b->cp->op->release(b->cp, b->target_rows);
    void *const blocks[] = {b->target,      b->spread,       b->order.row,        b->order.part,
                            b->order.label, b->order.weight, b->order.target_row, b->chunk_start};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
    *b = (eh_batches){0};
}

/* The first sample of a batch. Sizes of batches differ by at most one. */
static int64_t batch_start(const eh_batches *b, int64_t number)
{
    return b->drawn * number / b->count;
}

/* Stores the targets of a sample: all of its candidates, or a random part of them. */
static void take_targets(const eh_batches *b, int64_t epoch, int64_t sample, int64_t *to)
{
    const int32_t *from = b->target + sample * b->candidates;
    const uint64_t first = (uint64_t)((b->past + epoch) * b->samples->n + sample) * (uint64_t)b->candidates;
    int64_t count = 0;
    for (int64_t i = 0; count < b->targets; i++) {
        const double unit = eh_random_unit(b->seed, EH_STREAM_NEIGHBOR, first + (uint64_t)i);
        if (unit * (double)(b->candidates - i) < (double)(b->targets - count)) to[count++] = from[i];
    }
}

/* Inserts the targets of each batch behind its shuffled samples, starting with the last batch. */
static void add_targets(eh_batches *b, int64_t epoch)
{
    const int64_t each = b->targets;
    for (int64_t i = b->count - 1; i >= 0 && each; i--) {
        const int64_t from = batch_start(b, i), n = batch_start(b, i + 1) - from;
        int64_t *batch = b->order.row + from * (1 + each);
        memmove(batch, b->order.row + from, (size_t)n * sizeof *batch);
        for (int64_t s = 0; s < n; s++) take_targets(b, epoch, batch[s], batch + n + s * each);
    }
}

/* Numbers the classes of each batch: sample s and its targets have class s. */
static void number_classes(eh_batches *b)
{
    const int64_t each = b->targets;
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t from = batch_start(b, i), n = batch_start(b, i + 1) - from;
        int32_t *label = b->order.label + from * (1 + each);
        for (int64_t s = 0; s < n; s++) label[s] = (int32_t)s;
        for (int64_t t = 0; t < n * each; t++) label[n + t] = (int32_t)(t / each);
    }
}

bool eh_batches_spread(const eh_batches *b, int64_t epoch)
{
    return b->spread && epoch < b->epochs / 2;
}

/* The row that the target of a sample without a label is computed from: with probability 1/2 the
 * sample itself, else one of its neighbors. */
static int64_t draw_target_row(const eh_batches *b, int64_t epoch, int64_t position)
{
    const eh_samples *s = b->samples;
    const uint64_t draw = (uint64_t)((b->past + epoch) * (s->n + s->unlabeled_n) + position);
    const double unit = eh_random_unit(b->seed, EH_STREAM_NEIGHBOR, draw);
    if (unit < 0.5) return eh_samples_row(s, position);
    return eh_samples_row(s, b->target[position * b->candidates + (int64_t)((2 * unit - 1) * (double)b->candidates)]);
}

/* Sets row, class and target row at a place of the order. */
static void place_sample(eh_batches *b, int64_t epoch, int64_t at, int64_t position)
{
    const eh_samples *s = b->samples;
    const int64_t row = eh_samples_row(s, position);
    const bool labeled = position < s->n, spread = eh_batches_spread(b, epoch);
    b->order.row[at] = row;
    b->order.label[at] = !labeled && spread ? b->spread[position] : s->label[row];
    if (b->target_rows && !spread) b->order.target_row[at] = labeled ? row : draw_target_row(b, epoch, position);
}

/* Orders the rows of an epoch of which some have no label: each batch has its next labeled samples
 * and then its share of the others. */
static void shuffle_both(eh_batches *b, int64_t epoch)
{
    const eh_samples *s = b->samples;
    const uint64_t number = (uint64_t)(b->past + epoch);
    eh_shuffle(b->seed, EH_STREAM_SHUFFLE, number, s->n, b->order.part);
    for (int64_t i = 0; i < b->count; i++)
        for (int64_t k = 0; k < b->labeled; k++)
            place_sample(b, epoch, batch_start(b, i) + k, b->order.part[(i * b->labeled + k) % s->n]);
    eh_shuffle(b->seed, EH_STREAM_UNLABELED, number, s->unlabeled_n, b->order.part);
    for (int64_t i = 0, next = 0; i < b->count; i++)
        for (int64_t at = batch_start(b, i) + b->labeled; at < batch_start(b, i + 1); at++)
            place_sample(b, epoch, at, s->n + b->order.part[next++]);
    b->order.epoch = epoch;
}

/* Orders the rows of an epoch and their classes, on the host. */
static void shuffle(eh_batches *b, int64_t epoch)
{
    const eh_samples *s = b->samples;
    if (b->order.epoch == epoch) return;
    if (b->labeled) {
        shuffle_both(b, epoch);
        return;
    }
    eh_shuffle(b->seed, EH_STREAM_SHUFFLE, (uint64_t)(b->past + epoch), s->n, b->order.row);
    add_targets(b, epoch);
    for (int64_t i = 0; i < b->drawn * (1 + b->targets); i++) {
        const int64_t at = b->order.row[i];
        b->order.row[i] = s->rows[at < 0 ? -1 - at : at];
        b->order.label[i] = at < 0 ? -1 : s->label[b->order.row[i]];
    }
    if (b->own_class) number_classes(b);
    b->order.epoch = epoch;
}

/* Sends n rows with their classes and weights to the backend. */
static void send_rows(eh_batches *b, const int64_t *rows, const int32_t *label, int64_t n)
{
    b->cp->op->send(b->cp, b->rows, rows, (size_t)n * sizeof *rows);
    b->cp->op->send(b->cp, b->label, label, (size_t)n * sizeof *label);
    if (!b->weight) return;
    for (int64_t i = 0; i < n; i++) b->order.weight[i] = eh_samples_weight(b->samples, rows[i], label[i]);
    b->cp->op->write(b->cp, b->weight, b->order.weight, n);
}

static void send(eh_batches *b, int64_t epoch)
{
    shuffle(b, epoch);
    send_rows(b, b->order.row, b->order.label, b->drawn * (1 + b->targets));
    if (b->target_rows && !eh_batches_spread(b, epoch))
        b->cp->op->send(b->cp, b->target_rows, b->order.target_row, (size_t)b->drawn * sizeof *b->order.target_row);
    b->sent = epoch;
}

/* Makes the window of the batch the current one and takes the batch from it. */
static enhope_status get_from_window(eh_batches *b, int64_t epoch, int64_t number, int64_t *first, uint64_t *pass)
{
    eh_windows *w = b->windows;
    if (!eh_windows_current(w, epoch, number)) {
        const eh_window *next;
        eh_compute *cp = b->cp;
        EH_TRY(eh_windows_turn(w, epoch, number, &next));
        if (cp->op->refresh) cp->op->refresh(cp, b->table, &w->block.x, w->block.label, next->first, next->rows);
        send_rows(b, next->order, next->order_label, next->n);
        eh_windows_read_ahead(w);
    }
    *first = eh_windows_cut(w, number, b->chunk_start);
    *pass = eh_windows_pass(w);
    return ENHOPE_OK;
}

enhope_status eh_batches_get(eh_batches *b, int64_t epoch, int64_t number, eh_batch *out)
{
    const int64_t each = 1 + b->targets, chunks = b->chunks.count; /* rows per sample */
    int64_t first = batch_start(b, number) * each;
    uint64_t pass = (uint64_t)(b->past + epoch);
    if (b->windows) {
        EH_TRY(get_from_window(b, epoch, number, &first, &pass));
    } else {
        const int64_t n = batch_start(b, number + 1) * each - first;
        if (b->sent != epoch) send(b, epoch);
        for (int64_t p = 0; p <= chunks; p++) b->chunk_start[p] = eh_chunk_start(n, p, chunks);
    }
    *out = (eh_batch){.rows = eh_row_at(b->rows, first),
                      .label = eh_label_at(b->label, first),
                      .weight = b->weight ? eh_at(b->cp, b->weight, first) : NULL,
                      .target_rows = b->labeled && !eh_batches_spread(b, epoch)
                                         ? eh_row_at(b->target_rows ? b->target_rows : b->rows, first)
                                         : NULL,
                      .n = b->chunk_start[chunks],
                      .chunk_start = b->chunk_start,
                      .pass = pass};
    return ENHOPE_OK;
}

void eh_batches_prepare(eh_batches *b, int64_t epoch)
{
    if (!b->windows && epoch < b->epochs) shuffle(b, epoch); /* windows are always read in advance */
}
