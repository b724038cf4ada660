/* Data that stays where it is passes through memory in windows.
 *
 * One block of memory holds the rows that stay (stream/resident.c) and, behind them, two windows. The backend's table is
 * placed over it once, so that a row's number is its position there. The store is cut into runs of successive rows;
 * each epoch has a seeded order of runs, a window is the next so many of them, and its rows are shuffled when they have come.
 * A thread fills one window while batches are taken from the other. What a window holds is a function of (seed, epoch,
 * number), so that any batch of any epoch may come next.
 *
 * A window's runs are dealt to lanes, one for each part of a batch: part p of its batches is made of lane p. */
#define _POSIX_C_SOURCE 200809L /* threads, signals */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "train/stream/window.h"

/* ---- sizes ---- */

enum {
    WINDOW = 128 << 20, /* bytes of a window, where there is room */
    RUN = 1 << 20,      /* bytes of a run: what is read at once, from anywhere in the store ... */
    RUNS = 64,          /* ... less where a window would have fewer of them */
    OVERHEAD = 64,      /* bytes that a row takes beside its values: orders, labels */
    AHEAD = 8           /* runs that a disk is told of before they are read */
};

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Sparse runs differ in size: the most of them that any window may have, and the values that these have. */
static enhope_status measure_sparse(enhope_context *ctx, eh_windows *w, int64_t room)
{
    int64_t *stored = NULL, values = 0, count = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "sizes of runs", w->runs, sizeof *stored, (void **)&stored));
    for (int64_t i = 0; i < w->runs; i++)
        EH_CHECK(eh_store_count(ctx, w->store, i * w->run_rows, eh_window_run(w, i), &stored[i]));
    qsort(stored, (size_t)w->runs, sizeof *stored, by_size);
    while (count < w->most && (!count || eh_store_bytes(ENHOPE_CSR, w->store->H, w->run_rows * (count + 1),
                                                        values + stored[count]) <= room))
        values += stored[count++];
    w->most = count;
    w->stored = values;
cleanup:
    eh_free(stored);
    return status;
}

enhope_status eh_window_measure(enhope_context *ctx, eh_windows *w, int64_t memory)
{
    const eh_store *s = w->store;
    const int64_t row = eh_store_bytes(s->kind, s->H, s->n, s->stored) / s->n + OVERHEAD;
    const int64_t window = memory / 4 < WINDOW ? memory / 4 : WINDOW, run = window / RUNS < RUN ? window / RUNS : RUN;
    w->row_bytes = row;
    w->run_rows = run / row > 1 ? run / row : 1;
    w->runs = (s->n + w->run_rows - 1) / w->run_rows;
    w->most = window / row / w->run_rows > 1 ? window / row / w->run_rows : 1;
    if (w->most > w->runs) w->most = w->runs;
    if (s->kind == ENHOPE_CSR) EH_TRY(measure_sparse(ctx, w, window));
    w->count = (w->runs + w->most - 1) / w->most;
    w->most = (w->runs + w->count - 1) / w->count;
    w->room = w->most * w->run_rows;
    EH_TRY(eh_new(ctx, "sizes of runs", w->runs, sizeof *w->run_n, (void **)&w->run_n));
    EH_TRY(eh_new(ctx, "order of runs", w->runs, sizeof *w->run_order, (void **)&w->run_order));
    return eh_new(ctx, "windows", w->count + 1, sizeof *w->batch_start, (void **)&w->batch_start);
}

/* ---- an epoch's windows ---- */

/* Shuffles the runs and shares out the batches: a window has as many as its samples are of all. */
static void plan(const enhope_trainer *t, int64_t epoch)
{
    eh_windows *w = t->windows;
    if (w->planned == epoch) return;
    eh_shuffle((uint64_t)t->set.seed, EH_STREAM_RUNS, (uint64_t)(t->past + epoch), w->runs, w->run_order);
    int64_t before = 0, i = 0;
    for (int64_t number = 0; number < w->count; number++) {
        for (; i < w->runs * (number + 1) / w->count; i++) before += w->run_n[w->run_order[i]];
        w->batch_start[number + 1] = before * t->batches / t->n;
    }
    w->planned = epoch;
}

/* The window of an epoch that has a batch; count: none has. */
static int64_t window_of(const enhope_trainer *t, int64_t epoch, int64_t batch)
{
    const eh_windows *w = t->windows;
    int64_t number = 0;
    plan(t, epoch);
    while (number < w->count && batch >= w->batch_start[number + 1]) number++;
    return number;
}

static bool has(const eh_window *a, int64_t epoch, int64_t batch)
{
    return a->epoch == epoch && batch >= a->first_batch && batch < a->first_batch + a->batches;
}

/* A number that no two windows share. */
static uint64_t pass_of(const eh_windows *w, int64_t epoch, int64_t number)
{
    return (uint64_t)(w->past + epoch) * (uint64_t)w->count + (uint64_t)number;
}

/* ---- filling one, by the thread ---- */

static bool quitting(eh_windows *w)
{
    pthread_mutex_lock(&w->lock);
    const bool quit = w->quit;
    pthread_mutex_unlock(&w->lock);
    return quit;
}

/* The first of held_out that is not before a row of the store. */
static int64_t held_out_from(const eh_windows *w, int64_t row)
{
    int64_t low = 0, high = w->held_out_n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (w->held_out[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts the positions of a run's training samples behind the `count` of the list; `first` is the run's position. */
static int64_t list_run(const eh_windows *w, int64_t run, int64_t first, int64_t count)
{
    const int64_t row = run * w->run_rows, n = eh_window_run(w, run);
    int64_t out = held_out_from(w, row);
    for (int64_t i = 0; i < n; i++) {
        if (out < w->held_out_n && w->held_out[out] == row + i)
            out++;
        else if (w->block.label[first + i] >= 0)
            w->list[count++] = first + i;
    }
    return count;
}

/* Whether the values of run i of a window are of a part that is computed here. */
static bool is_own(const eh_windows *w, int64_t i)
{
    return i % w->lanes >= w->own_first && i % w->lanes < w->own_last;
}

static void read_ahead(const eh_windows *w, const eh_window *a, int64_t i)
{
    if (i < a->runs && is_own(w, i)) eh_store_ahead(w->store, a->run[i] * w->run_rows, eh_window_run(w, a->run[i]));
}

/* All runs of a window, one behind the other; values of own lanes alone. */
static enhope_status read_runs(eh_windows *w, eh_window *a)
{
    int64_t at = a->first, stored = a->first_stored, *row_start = w->block.owned[0];
    const bool sparse = w->store->kind == ENHOPE_CSR;
    for (int64_t i = 0; i < AHEAD; i++) read_ahead(w, a, i);
    for (int64_t i = 0; i < a->runs && !quitting(w); i++) {
        const int64_t n = eh_window_run(w, a->run[i]);
        read_ahead(w, a, i + AHEAD);
        for (int64_t r = at; sparse && r <= at + n; r++) row_start[r] = stored; /* rows of others are empty */
        EH_TRY(eh_store_read(&w->ctx, w->store, a->run[i] * w->run_rows, n, &w->block, at, is_own(w, i)));
        at += n;
        if (sparse) stored = row_start[at];
    }
    a->rows = at - a->first;
    return ENHOPE_OK;
}

/* The samples of a lane in the list, and their shuffle. */
static enhope_status list_lane(eh_windows *w, const eh_window *a, int64_t lane)
{
    int64_t at = a->first, n = 0;
    for (int64_t i = 0; i < a->runs; i++) {
        if (i % w->lanes == lane) n = list_run(w, a->run[i], at, n);
        at += eh_window_run(w, a->run[i]);
    }
    if (n != a->lane_n[lane])
        return eh_fail(&w->ctx, ENHOPE_ERROR_DATA,
                       "the data has changed while it was read: %lld labelled samples where there were %lld",
                       (long long)n, (long long)a->lane_n[lane]);
    const uint64_t round = pass_of(w, a->epoch, a->number) * (uint64_t)w->lanes + (uint64_t)lane;
    eh_shuffle(w->seed, EH_STREAM_SHUFFLE, round, n, w->shuffle);
    return ENHOPE_OK;
}

/* Where a lane's part of a batch of the window begins in the order: behind the batches before, and in its own behind the
 * lanes before. */
static int64_t part_at(const eh_windows *w, const eh_window *a, int64_t batch, int64_t lane)
{
    int64_t at = 0;
    for (int64_t p = 0; p < w->lanes; p++) at += a->lane_n[p] * (batch + (p < lane)) / a->batches;
    return at;
}

static enhope_status order_rows(eh_windows *w, eh_window *a)
{
    for (int64_t p = 0; p < w->lanes; p++) {
        EH_TRY(list_lane(w, a, p));
        for (int64_t b = 0, i = 0; b < a->batches; b++) {
            int64_t to = part_at(w, a, b, p);
            for (; i < a->lane_n[p] * (b + 1) / a->batches; i++, to++) {
                a->order[to] = w->list[w->shuffle[i]];
                a->order_label[to] = w->block.label[a->order[to]];
            }
        }
    }
    return ENHOPE_OK;
}

static enhope_status fill(eh_windows *w, eh_window *a)
{
    EH_TRY(read_runs(w, a));
    return quitting(w) ? ENHOPE_OK : order_rows(w, a);
}

static void *work(void *user)
{
    eh_windows *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->quit) {
        if (!w->job) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->job->status = fill(w, w->job);
        pthread_mutex_lock(&w->lock);
        w->job = NULL;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the other side ---- */

static void wait_for(eh_windows *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->job) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Noise is drawn by position, so that a window has its place, whichever was read before it: the two take turns. */
static eh_window *place_of(eh_windows *w, int64_t epoch, int64_t number)
{
    return &w->window[pass_of(w, epoch, number) % 2];
}

/* The thread shall fill window `number` of an epoch into its place, where nothing is needed any more. */
static void ask_for(const enhope_trainer *t, int64_t epoch, int64_t number)
{
    eh_windows *w = t->windows;
    eh_window *a = place_of(w, epoch, number);
    plan(t, epoch);
    const int64_t from = w->runs * number / w->count, to = w->runs * (number + 1) / w->count;
    a->epoch = epoch;
    a->number = number;
    a->first_batch = w->batch_start[number];
    a->batches = w->batch_start[number + 1] - a->first_batch;
    a->runs = to - from;
    a->n = 0;
    memcpy(a->run, w->run_order + from, (size_t)a->runs * sizeof *a->run);
    memset(a->lane_n, 0, (size_t)w->lanes * sizeof *a->lane_n);
    for (int64_t i = 0; i < a->runs; i++) {
        a->lane_n[i % w->lanes] += w->run_n[a->run[i]];
        a->n += w->run_n[a->run[i]];
    }
    pthread_mutex_lock(&w->lock);
    w->job = a;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* The thread goes on with the window that follows, if there is one. Where a window between has no batch, that belongs in the
 * same place and has to wait. */
static void ask_ahead(const enhope_trainer *t, const eh_window *now)
{
    const int64_t after = now->first_batch + now->batches, epoch = now->epoch + (after == t->batches);
    if (epoch == t->set.epochs) return;
    const int64_t number = window_of(t, epoch, after == t->batches ? 0 : after);
    if (place_of(t->windows, epoch, number) != now) ask_for(t, epoch, number);
}

/* The window that has the present batch becomes the one under way. */
static enhope_status turn(enhope_trainer *t)
{
    eh_windows *w = t->windows;
    eh_compute *c = t->c;
    wait_for(w);
    const int64_t number = window_of(t, t->epoch, t->batch);
    eh_window *next = place_of(w, t->epoch, number);
    w->now = NULL;
    if (!has(next, t->epoch, t->batch)) {
        ask_for(t, t->epoch, number);
        wait_for(w);
    }
    enhope_status status = next->status;
    if (status) {
        next->epoch = -1; /* who asks again has it read again */
        status = eh_fail(t->ctx, status, "%s", w->ctx.error);
    }
    EH_TRY(eh_comm_agree(t->ctx, status));
    if (c->op->refresh) c->op->refresh(c, &t->embedder.table, &w->block.x, w->block.label, next->first, next->rows);
    c->op->send(c, t->epoch_rows, next->order, (size_t)next->n * sizeof *next->order);
    c->op->send(c, t->epoch_label, next->order_label, (size_t)next->n * sizeof *next->order_label);
    w->now = next;
    ask_ahead(t, next);
    return ENHOPE_OK;
}

enhope_status eh_train_window_show(enhope_trainer *t, eh_shown *out)
{
    eh_windows *w = t->windows;
    if (!w->now || !has(w->now, t->epoch, t->batch)) EH_TRY(turn(t));
    const eh_window *now = w->now;
    const int64_t batch = t->batch - now->first_batch, first = part_at(w, now, batch, 0);
    for (int64_t p = 0; p <= w->lanes; p++) t->part_start[p] = part_at(w, now, batch, p) - first;
    *out = (eh_shown){
        .first = first, .n = t->part_start[w->lanes], .pass = pass_of(w, now->epoch, now->number) % EH_PASSES};
    return ENHOPE_OK;
}

/* ---- opening and closing ---- */

enhope_status eh_train_windows_create(enhope_trainer *t, const eh_store *store, eh_store *own, int64_t memory)
{
    eh_windows *w = NULL;
    const enhope_status status = eh_new(t->ctx, "windows", 1, sizeof *w, (void **)&w);
    if (status) {
        eh_store_free(own);
        return status;
    }
    t->windows = w;
    w->store = store;
    w->own = own;
    w->seed = (uint64_t)t->set.seed;
    w->past = t->past;
    w->planned = w->window[0].epoch = w->window[1].epoch = -1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    EH_TRY(eh_window_measure(t->ctx, w, memory));
    return eh_window_choose(t, memory);
}

/* How many samples a window has, on average. */
int64_t eh_train_window_samples(const enhope_trainer *t)
{
    return t->n / t->windows->count;
}

int64_t eh_train_window_runs(const enhope_trainer *t)
{
    return t->windows->runs / t->windows->count;
}

/* A window has n batches / t->n batches of its n samples, rounded down: where that is one, it may be nearly twice as large. Each lane
 * may have one sample more. */
int64_t eh_train_window_batch(const enhope_trainer *t)
{
    return 2 * ((t->n + t->batches - 1) / t->batches) + t->parts;
}

int64_t eh_train_window_room(const enhope_trainer *t)
{
    return t->windows->room;
}

static enhope_status open_window(enhope_context *ctx, const eh_windows *w, eh_window *a)
{
    EH_TRY(eh_new(ctx, "a window", w->most, sizeof *a->run, (void **)&a->run));
    EH_TRY(eh_new(ctx, "a window", w->lanes, sizeof *a->lane_n, (void **)&a->lane_n));
    EH_TRY(eh_new(ctx, "a window", w->room, sizeof *a->order, (void **)&a->order));
    return eh_new(ctx, "a window", w->room, sizeof *a->order_label, (void **)&a->order_label);
}

/* Signals are for the threads of the caller. */
static int start_thread(eh_windows *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->running = !failed;
    return failed;
}

enhope_status eh_train_windows_open(enhope_trainer *t)
{
    eh_windows *w = t->windows;
    enhope_context *ctx = t->ctx;
    int64_t stored;
    w->lanes = t->parts;
    w->own_first = t->own_first;
    w->own_last = t->own_last;
    EH_TRY(eh_window_count_kept(t, &stored));
    /* the row behind each part has the end of its values */
    const int64_t rows = w->kept_n + 1 + 2 * (w->room + 1), all = stored + 2 * w->stored;
    EH_TRY(eh_block_create(ctx, w->store->kind, w->store->H, rows, all, &w->block));
    for (int i = 0; i < 2; i++) {
        w->window[i].first = w->kept_n + 1 + i * (w->room + 1);
        w->window[i].first_stored = stored + i * w->stored;
        EH_TRY(open_window(ctx, w, &w->window[i]));
    }
    EH_TRY(eh_new(ctx, "a window", w->room, sizeof *w->list, (void **)&w->list));
    EH_TRY(eh_new(ctx, "a window", w->room, sizeof *w->shuffle, (void **)&w->shuffle));
    EH_TRY(eh_window_read_kept(t));
    if (w->store->kind == ENHOPE_CSR) ((int64_t *)w->block.owned[0])[rows] = all;
    t->x = &w->block.x;
    t->label = w->block.label;
    return ENHOPE_OK;
}

enhope_status eh_train_windows_start(enhope_trainer *t)
{
    eh_windows *w = t->windows;
    if (start_thread(w)) return eh_fail(t->ctx, ENHOPE_ERROR_COMPUTE, "no thread could be started to read ahead");
    ask_for(t, 0, window_of(t, 0, 0)); /* while all else is made ready */
    return ENHOPE_OK;
}

void eh_train_windows_print(const enhope_trainer *t, char text[EH_WINDOWS_TEXT])
{
    const eh_windows *w = t->windows;
    if (w)
        snprintf(text, EH_WINDOWS_TEXT, "%lld %lld %lld", (long long)w->run_rows, (long long)w->count,
                 (long long)w->kept_n);
    else
        snprintf(text, EH_WINDOWS_TEXT, "none");
}

enhope_dataset eh_train_windows_kept(const enhope_trainer *t)
{
    enhope_dataset kept = *t->data;
    kept.store = NULL;
    kept.x = *t->x;
    kept.x.n = t->windows->kept_n;
    kept.label = t->windows->block.label;
    return kept;
}

uint64_t eh_train_windows_hash(const enhope_trainer *t)
{
    return eh_hash(0, t->windows->run_n, (size_t)t->windows->runs * sizeof *t->windows->run_n);
}

void eh_train_windows_free(eh_windows *w)
{
    if (!w) return;
    if (w->running) {
        pthread_mutex_lock(&w->lock);
        w->quit = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    for (int i = 0; i < 2; i++) {
        eh_free(w->window[i].run), eh_free(w->window[i].lane_n);
        eh_free(w->window[i].order), eh_free(w->window[i].order_label);
    }
    void *const blocks[] = {w->run_n, w->held_out, w->kept, w->run_order, w->batch_start, w->list, w->shuffle};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
    eh_block_free(&w->block);
    eh_store_free(w->own);
    eh_free(w);
}
