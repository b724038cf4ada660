/* The resident rows of streamed data: the validation part, and a sample of the training part.
 * The sample serves wherever rows are needed outside batches: for the scaling, the exemplars,
 * the initial map and the training error.
 *
 * Every row has a hash of (seed, row). In each class, the samples with the lowest hashes form
 * the validation part, and the next ones the sample. Both are sorted by hash, which is a seeded
 * order. Two passes over the labels find them in memory proportional to the resident rows. Then
 * these rows are read. */
#include <stdlib.h>
#include <string.h>

#include "train/stream/windows.h"

enum {
    MAX_ROWS = 50000,      /* rows of either part ... */
    MAX_BYTES = 128 << 20, /* ... and bytes of their values */
    LABELS = 1 << 16,      /* labels read at a time */
    SPAN = 1 << 20,        /* bytes read at a time */
    GAP = 1 << 16          /* gaps up to this size are read and not skipped: seeking takes as long */
};

typedef struct candidate {
    uint64_t hash;
    int64_t row, at; /* in the store; in the block */
    bool valid;
} candidate;

/* The lowest hashes of each class so far: heaps with the highest hash at the top. */
typedef struct heaps {
    int64_t *start; /* (c + 1) candidates of class k: start[k] .. start[k] + count[k] */
    int64_t *count; /* (c) */
    candidate *at;
} heaps;

static bool before(const candidate *a, const candidate *b)
{
    return a->hash < b->hash || (a->hash == b->hash && a->row < b->row);
}

static int by_hash(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

static int by_part(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->valid != y->valid ? x->valid - y->valid : by_hash(a, b);
}

static int by_row(const void *a, const void *b)
{
    const int64_t x = ((const candidate *)a)->row, y = ((const candidate *)b)->row;
    return (x > y) - (x < y);
}

static void sink(candidate *heap, int64_t n, int64_t i)
{
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1])) child++;
        if (!before(&heap[i], &heap[child])) return;
        const candidate swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

static void offer(heaps *h, int32_t class, candidate one)
{
    candidate *heap = h->at + h->start[class];
    const int64_t capacity = h->start[class + 1] - h->start[class], n = h->count[class];
    if (n < capacity) {
        heap[h->count[class]++] = one;
        for (int64_t i = n + 1 == capacity ? n / 2 : -1; i >= 0; i--)
            sink(heap, capacity, i); /* full: from now on a heap */
    } else if (capacity && before(&one, &heap[0])) {
        heap[0] = one;
        sink(heap, capacity, 0);
    }
}

/* ---- two passes over the labels ---- */

typedef struct pass {
    eh_windows *w;
    int64_t *counts; /* (c) samples of each class; NULL: candidates are collected */
    heaps *heaps;
} pass;

static void visit(const pass *p, int64_t row, int32_t class)
{
    eh_windows *w = p->w;
    if (p->counts) {
        p->counts[class]++;
        w->runs.samples[row / w->runs.rows]++;
    } else {
        offer(p->heaps, class, (candidate){.hash = eh_random_u64(w->seed, EH_STREAM_VALID, (uint64_t)row), .row = row});
    }
}

static enhope_status read_labels(const pass *p)
{
    enhope_context *ctx = p->w->ctx;
    const eh_store *store = p->w->store;
    eh_block labels = {.x = {.kind = store->kind, .n = LABELS, .H = store->H}};
    enhope_status status;
    EH_CHECK(eh_new(ctx, "labels", LABELS, sizeof *labels.label, (void **)&labels.label));
    for (int64_t first = 0; first < store->n; first += LABELS) {
        const int64_t left = store->n - first, n = eh_min(left, LABELS);
        EH_CHECK(eh_store_read(ctx, store, first, n, &labels, 0, false));
        for (int64_t i = 0; i < n; i++)
            if (labels.label[i] >= 0) visit(p, first + i, labels.label[i]);
    }
cleanup:
    eh_free(labels.label);
    return status;
}

/* ---- resident rows of each class ---- */

__extension__ typedef __int128 wide;

/* The lesser of `total` and the number of rows that fit into the memory. */
static int64_t limit_rows(const eh_windows *w, int64_t total, int64_t memory)
{
    const int64_t bytes = memory / 8 < MAX_BYTES ? memory / 8 : MAX_BYTES, fit = bytes / w->runs.row_bytes;
    const int64_t max = fit < MAX_ROWS ? fit : MAX_ROWS;
    return total < max ? total : max;
}

/* Resident samples of each class: valid (c), sample (c). Both are in proportion to counts (c),
 * rounded down. A class keeps at least one training sample and has one in the sample. */
static void share(const eh_windows *w, int32_t c, const int64_t *counts, double part, int64_t memory, int64_t *valid,
                  int64_t *sample)
{
    int64_t all = 0;
    for (int32_t k = 0; k < c; k++) all += counts[k];
    const int64_t valid_n = limit_rows(w, (int64_t)(part * (double)all), memory);
    const int64_t sample_n = limit_rows(w, all - valid_n, memory);
    int64_t left = valid_n;
    for (int32_t k = 0; k < c; k++) left -= valid[k] = (int64_t)((wide)valid_n * counts[k] / all);
    for (int32_t k = 0; k < c; k++) {
        if (left > 0 && valid[k] + 1 < counts[k]) valid[k]++, left--;
        if (valid[k] && valid[k] == counts[k]) valid[k]--;
        const int64_t rest = counts[k] - valid[k], part_n = (int64_t)((wide)sample_n * counts[k] / all) + 1;
        sample[k] = eh_min(part_n, rest);
    }
}

/* ---- lists of resident rows ---- */

static enhope_status find(eh_windows *w, int32_t c, const int64_t *valid, const int64_t *sample, heaps *h)
{
    EH_TRY(eh_new(w->ctx, "class counts", (int64_t)c + 1, sizeof *h->start, (void **)&h->start));
    EH_TRY(eh_new(w->ctx, "class counts", c, sizeof *h->count, (void **)&h->count));
    for (int32_t k = 0; k < c; k++) h->start[k + 1] = h->start[k] + valid[k] + sample[k];
    EH_TRY(eh_new(w->ctx, "resident rows", h->start[c], sizeof *h->at, (void **)&h->at));
    EH_TRY(read_labels(&(pass){.w = w, .heaps = h}));
    for (int32_t k = 0; k < c; k++) {
        candidate *of = h->at + h->start[k];
        if (h->count[k] < valid[k] + sample[k])
            return eh_fail(w->ctx, ENHOPE_ERROR_DATA,
                           "the labels changed while they were read; do not change the files during training");
        qsort(of, (size_t)h->count[k], sizeof *of, by_hash);
        for (int64_t i = 0; i < valid[k]; i++) of[i].valid = true;
    }
    return ENHOPE_OK;
}

/* Creates the lists of rows from all n resident candidates. */
static enhope_status keep(eh_windows *w, candidate *all, int64_t n, eh_samples *samples)
{
    eh_resident *r = &w->resident;
    EH_TRY(eh_new(w->ctx, "resident rows", n, sizeof *r->row, (void **)&r->row));
    EH_TRY(eh_new(w->ctx, "resident rows", n, sizeof *samples->rows, (void **)&samples->rows));
    EH_TRY(eh_new(w->ctx, "the validation part", samples->valid_n, sizeof *r->held_out, (void **)&r->held_out));
    r->n = n;
    qsort(all, (size_t)n, sizeof *all, by_row);
    for (int64_t i = 0; i < n; i++) {
        r->row[i] = all[i].row;
        all[i].at = i;
        if (!all[i].valid) continue;
        r->held_out[r->held_out_n++] = all[i].row;
        w->runs.samples[all[i].row / w->runs.rows]--;
    }
    qsort(all, (size_t)n, sizeof *all, by_part);
    for (int64_t i = 0; i < n; i++) samples->rows[i] = all[i].at;
    return ENHOPE_OK;
}

enhope_status eh_resident_choose(eh_windows *w, const enhope_dataset *data, const eh_samples_settings *s,
                                 int64_t memory, eh_samples *samples)
{
    const int32_t c = data->c;
    int64_t *valid = NULL, *sample; /* (c) */
    heaps h = {0};
    enhope_status status;
    EH_CHECK(eh_new(w->ctx, "class counts", 2 * (int64_t)c, sizeof *valid, (void **)&valid));
    sample = valid + c;
    EH_CHECK(read_labels(&(pass){.w = w, .counts = samples->class_n}));
    EH_CHECK(eh_samples_check(w->ctx, data, samples->class_n, s->one_class, samples));
    share(w, c, samples->class_n, s->valid, memory, valid, sample);
    EH_CHECK(find(w, c, valid, sample, &h));
    for (int32_t k = 0; k < c; k++) {
        samples->class_n[k] -= valid[k];
        samples->n += samples->class_n[k];
        samples->resident_n += samples->class_resident[k] = sample[k];
        samples->valid_n += valid[k];
    }
    EH_CHECK(keep(w, h.at, samples->resident_n + samples->valid_n, samples));
cleanup:
    eh_free(valid);
    eh_free(h.start), eh_free(h.count), eh_free(h.at);
    return status;
}

/* ---- reading the resident rows ---- */

enhope_status eh_resident_count(eh_windows *w, int64_t *stored)
{
    int64_t one;
    *stored = 0;
    for (int64_t i = 0; i < w->resident.n && w->store->kind == ENHOPE_CSR; i++, *stored += one)
        EH_TRY(eh_store_count(w->ctx, w->store, w->resident.row[i], 1, &one));
    return ENHOPE_OK;
}

/* The end of the rows from i on that are read together: gaps have fewer than `gap` rows, and the
 * span has at max `max` rows. */
static int64_t span_end(const eh_windows *w, int64_t i, int64_t gap, int64_t max)
{
    int64_t end = i + 1;
    while (end < w->resident.n && w->resident.row[end] - w->resident.row[end - 1] <= gap &&
           w->resident.row[end] - w->resident.row[i] < max)
        end++;
    return end;
}

/* Reads sparse rows and rows of data in memory, successive ones together. */
static enhope_status read_adjacent(eh_windows *w)
{
    for (int64_t i = 0, end; i < w->resident.n; i = end) {
        end = span_end(w, i, 1, INT64_MAX);
        EH_TRY(eh_store_read(w->ctx, w->store, w->resident.row[i], end - i, &w->block, i, true));
    }
    return ENHOPE_OK;
}

enhope_status eh_resident_read(eh_windows *w)
{
    const eh_store *s = w->store;
    eh_block span = {.label = NULL};
    enhope_status status;
    if (s->kind == ENHOPE_CSR || s->memory) return read_adjacent(w);
    const int64_t row = eh_store_bytes(s->kind, s->H, 1, 0), max = row < SPAN ? SPAN / row : 1;
    EH_CHECK(eh_block_create(w->ctx, s->kind, s->H, max, 0, &span));
    for (int64_t i = 0, end; i < w->resident.n; i = end) {
        const int64_t first = w->resident.row[i];
        end = span_end(w, i, GAP / row + 1, max);
        EH_CHECK(eh_store_read(w->ctx, s, first, w->resident.row[end - 1] - first + 1, &span, 0, true));
        for (int64_t j = i; j < end; j++) {
            const int64_t at = w->resident.row[j] - first;
            w->block.label[j] = span.label[at];
            memcpy((char *)w->block.owned[0] + j * row, (const char *)span.owned[0] + at * row, (size_t)row);
        }
    }
cleanup:
    eh_block_free(&span);
    return status;
}
