/* Windows: their sizes, the window of each batch, and the alternation of the two windows.
 * stream/windows.h describes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "train/stream/windows.h"

/* ---- sizes ---- */

enum {
    WINDOW = 128 << 20, /* bytes of a window, if there is memory for it */
    RUN = 1 << 20,      /* bytes of a run, which is read at once from anywhere in the store */
    RUNS = 64,          /* runs of a window, at least: runs of small windows are smaller */
    OVERHEAD = 64       /* bytes of a row beside its values: orders, labels */
};

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Sparse runs differ in size. Finds the largest number of runs of a window and of their values. */
static enhope_status measure_sparse(enhope_context *ctx, eh_windows *w, int64_t room)
{
    int64_t *stored = NULL, values = 0, count = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "sizes of runs", w->runs.count, sizeof *stored, (void **)&stored));
    for (int64_t i = 0; i < w->runs.count; i++)
        EH_CHECK(eh_store_count(ctx, w->store, i * w->runs.rows, eh_run_rows(w, i), &stored[i]));
    qsort(stored, (size_t)w->runs.count, sizeof *stored, by_size);
    while (count < w->runs.max && (!count || eh_store_bytes(ENHOPE_CSR, w->store->H, w->runs.rows * (count + 1),
                                                            values + stored[count]) <= room))
        values += stored[count++];
    w->runs.max = count;
    w->runs.stored = values;
cleanup:
    eh_free(stored);
    return status;
}

static enhope_status measure(enhope_context *ctx, eh_windows *w, int64_t memory)
{
    const eh_store *s = w->store;
    const int64_t row = eh_store_bytes(s->kind, s->H, s->n, s->stored) / s->n + OVERHEAD;
    const int64_t window = memory / 4 < WINDOW ? memory / 4 : WINDOW, run = window / RUNS < RUN ? window / RUNS : RUN;
    w->runs.row_bytes = row;
    w->runs.rows = run / row > 1 ? run / row : 1;
    w->runs.count = (s->n + w->runs.rows - 1) / w->runs.rows;
    w->runs.max = window / row / w->runs.rows > 1 ? window / row / w->runs.rows : 1;
    if (w->runs.max > w->runs.count) w->runs.max = w->runs.count;
    if (s->kind == ENHOPE_CSR) EH_TRY(measure_sparse(ctx, w, window));
    w->count = (w->runs.count + w->runs.max - 1) / w->runs.max;
    w->runs.max = (w->runs.count + w->count - 1) / w->count;
    w->capacity = w->runs.max * w->runs.rows;
    EH_TRY(eh_new(ctx, "sizes of runs", w->runs.count, sizeof *w->runs.samples, (void **)&w->runs.samples));
    EH_TRY(eh_new(ctx, "order of runs", w->runs.count, sizeof *w->run_order, (void **)&w->run_order));
    return eh_new(ctx, "windows", w->count + 1, sizeof *w->batch_start, (void **)&w->batch_start);
}

/* ---- an epoch's windows ---- */

/* Shuffles the runs and assigns the batches: each window has batches in proportion to its
 * samples. */
static void plan(eh_windows *w, int64_t epoch)
{
    if (w->planned == epoch) return;
    eh_shuffle(w->seed, EH_STREAM_RUNS, (uint64_t)(w->past + epoch), w->runs.count, w->run_order);
    int64_t before = 0, i = 0;
    for (int64_t number = 0; number < w->count; number++) {
        for (; i < w->runs.count * (number + 1) / w->count; i++) before += w->runs.samples[w->run_order[i]];
        w->batch_start[number + 1] = before * w->batches / w->n;
    }
    w->planned = epoch;
}

/* The window of an epoch that has a batch; `count` if there is none. */
static int64_t window_of(eh_windows *w, int64_t epoch, int64_t batch)
{
    int64_t number = 0;
    plan(w, epoch);
    while (number < w->count && batch >= w->batch_start[number + 1]) number++;
    return number;
}

static bool has(const eh_window *a, int64_t epoch, int64_t batch)
{
    return a->epoch == epoch && batch >= a->first_batch && batch < a->first_batch + a->batches;
}

/* ---- the two windows ---- */

/* The memory of a window. Noise is drawn by position, so the position of a window must not
 * depend on the windows before it: even and odd windows alternate. */
static eh_window *place_of(eh_windows *w, int64_t epoch, int64_t number)
{
    return &w->window[eh_window_pass(w, epoch, number) % 2];
}

/* Starts reading window `number` of an epoch into its memory, which is no longer in use. */
static void ask_for(eh_windows *w, int64_t epoch, int64_t number)
{
    eh_window *a = place_of(w, epoch, number);
    plan(w, epoch);
    const int64_t from = w->runs.count * number / w->count, to = w->runs.count * (number + 1) / w->count;
    a->epoch = epoch;
    a->number = number;
    a->first_batch = w->batch_start[number];
    a->batches = w->batch_start[number + 1] - a->first_batch;
    a->runs = to - from;
    a->n = 0;
    memcpy(a->run, w->run_order + from, (size_t)a->runs * sizeof *a->run);
    memset(a->chunk_n, 0, (size_t)w->chunks.count * sizeof *a->chunk_n);
    for (int64_t i = 0; i < a->runs; i++) {
        a->chunk_n[i % w->chunks.count] += w->runs.samples[a->run[i]];
        a->n += w->runs.samples[a->run[i]];
    }
    eh_reader_ask(w, a);
}

/* Starts reading the next window, if there is one. If a window without batches lies between, the
 * next one needs the memory of the current window and has to wait. */
void eh_windows_read_ahead(eh_windows *w)
{
    const int64_t after = w->now->first_batch + w->now->batches, epoch = w->now->epoch + (after == w->batches);
    if (epoch == w->epochs) return;
    const int64_t number = window_of(w, epoch, after == w->batches ? 0 : after);
    if (place_of(w, epoch, number) != w->now) ask_for(w, epoch, number);
}

bool eh_windows_current(const eh_windows *w, int64_t epoch, int64_t batch)
{
    return w->now && has(w->now, epoch, batch);
}

enhope_status eh_windows_turn(eh_windows *w, int64_t epoch, int64_t batch, const eh_window **out)
{
    eh_reader_wait(w);
    const int64_t number = window_of(w, epoch, batch);
    eh_window *next = place_of(w, epoch, number);
    w->now = NULL;
    if (!has(next, epoch, batch)) {
        ask_for(w, epoch, number);
        eh_reader_wait(w);
    }
    enhope_status status = next->status;
    if (status) {
        next->epoch = -1; /* the next request reads it again */
        status = eh_fail(w->ctx, status, "%s", w->reader.ctx.error);
    }
    EH_TRY(eh_comm_check(w->ctx, status));
    *out = w->now = next;
    return ENHOPE_OK;
}

int64_t eh_windows_cut(const eh_windows *w, int64_t batch, int64_t *chunk_start)
{
    const int64_t in_window = batch - w->now->first_batch, first = eh_window_chunk(w, w->now, in_window, 0);
    for (int64_t p = 0; p <= w->chunks.count; p++) chunk_start[p] = eh_window_chunk(w, w->now, in_window, p) - first;
    return first;
}

uint64_t eh_windows_pass(const eh_windows *w)
{
    return eh_window_pass(w, w->now->epoch, w->now->number) % EH_PASSES;
}

/* ---- create and free ---- */

enhope_status eh_windows_create(enhope_context *ctx, const enhope_dataset *data, const eh_samples_settings *rows,
                                const eh_windows_settings *s, eh_samples *samples, eh_windows **out)
{
    eh_windows *w = NULL;
    enhope_status status = eh_new(ctx, "windows", 1, sizeof *w, (void **)&w);
    if (!status && data->valid_n)
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                         "validation data needs all data in memory; train on the cpu or on fewer samples, or use "
                         "validation_fraction instead");
    if (status) {
        eh_free(w);
        eh_store_free(s->own);
        return status;
    }
    *out = w;
    w->ctx = ctx;
    w->store = s->store;
    w->own = s->own;
    w->seed = rows->seed;
    w->past = s->past;
    w->planned = w->window[0].epoch = w->window[1].epoch = -1;
    eh_reader_init(&w->reader);
    EH_TRY(measure(ctx, w, s->memory));
    EH_TRY(eh_samples_init(ctx, data, samples));
    EH_TRY(eh_resident_choose(w, data, rows, s->memory, samples));
    w->n = samples->n;
    return ENHOPE_OK;
}

int64_t eh_windows_samples(const eh_windows *w)
{
    return w->n / w->count;
}

int64_t eh_windows_runs(const eh_windows *w)
{
    return w->runs.count / w->count;
}

/* A window of n samples has n * batches / w->n batches, rounded down. If that is one batch, it
 * may be nearly twice the average size. Each chunk may have one sample more. */
int64_t eh_windows_batch_max(const eh_windows *w, int64_t batches, int64_t chunks)
{
    return 2 * ((w->n + batches - 1) / batches) + chunks;
}

static enhope_status open_window(enhope_context *ctx, const eh_windows *w, eh_window *a)
{
    EH_TRY(eh_new(ctx, "a window", w->runs.max, sizeof *a->run, (void **)&a->run));
    EH_TRY(eh_new(ctx, "a window", w->chunks.count, sizeof *a->chunk_n, (void **)&a->chunk_n));
    EH_TRY(eh_new(ctx, "a window", w->capacity, sizeof *a->order, (void **)&a->order));
    return eh_new(ctx, "a window", w->capacity, sizeof *a->order_label, (void **)&a->order_label);
}

enhope_status eh_windows_open(eh_windows *w, int64_t batches, int64_t epochs, const eh_chunks *chunks,
                              eh_samples *samples)
{
    enhope_context *ctx = w->ctx;
    int64_t stored;
    w->batches = batches;
    w->epochs = epochs;
    w->chunks = *chunks;
    EH_TRY(eh_resident_count(w, &stored));
    /* the row behind each part holds the end of its values */
    const int64_t rows = w->resident.n + 1 + 2 * (w->capacity + 1), all = stored + 2 * w->runs.stored;
    EH_TRY(eh_block_create(ctx, w->store->kind, w->store->H, rows, all, &w->block));
    for (int i = 0; i < 2; i++) {
        w->window[i].first = w->resident.n + 1 + i * (w->capacity + 1);
        w->window[i].first_stored = stored + i * w->runs.stored;
        EH_TRY(open_window(ctx, w, &w->window[i]));
    }
    EH_TRY(eh_new(ctx, "a window", w->capacity, sizeof *w->reader.list, (void **)&w->reader.list));
    EH_TRY(eh_new(ctx, "a window", w->capacity, sizeof *w->reader.shuffle, (void **)&w->reader.shuffle));
    EH_TRY(eh_resident_read(w));
    if (w->store->kind == ENHOPE_CSR) ((int64_t *)w->block.owned[0])[rows] = all;
    samples->x = &w->block.x;
    samples->label = w->block.label;
    return ENHOPE_OK;
}

enhope_status eh_windows_start(eh_windows *w)
{
    EH_TRY(eh_reader_start(w));
    ask_for(w, 0, window_of(w, 0, 0)); /* while the rest of the trainer is created */
    return ENHOPE_OK;
}

void eh_windows_free(eh_windows *w)
{
    if (!w) return;
    eh_reader_stop(w);
    for (int i = 0; i < 2; i++) {
        eh_free(w->window[i].run), eh_free(w->window[i].chunk_n);
        eh_free(w->window[i].order), eh_free(w->window[i].order_label);
    }
    void *const blocks[] = {w->runs.samples, w->resident.row, w->resident.held_out, w->run_order, w->batch_start};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
    eh_block_free(&w->block);
    eh_store_free(w->own);
    eh_free(w);
}

/* ---- identification, for checkpoints ---- */

void eh_windows_print(const eh_windows *w, char text[EH_WINDOWS_TEXT])
{
    if (w)
        snprintf(text, EH_WINDOWS_TEXT, "%lld %lld %lld", (long long)w->runs.rows, (long long)w->count,
                 (long long)w->resident.n);
    else
        snprintf(text, EH_WINDOWS_TEXT, "none");
}

enhope_dataset eh_windows_resident(const eh_windows *w, const enhope_dataset *data)
{
    enhope_dataset resident = *data;
    resident.store = NULL;
    resident.x = w->block.x;
    resident.x.n = w->resident.n;
    resident.label = w->block.label;
    return resident;
}

uint64_t eh_windows_hash(const eh_windows *w)
{
    return eh_hash(0, w->runs.samples, (size_t)w->runs.count * sizeof *w->runs.samples);
}
