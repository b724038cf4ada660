/* The reader thread. It fills a window with its runs of the store, one after another, and
 * shuffles their samples.
 *
 * It accesses only the window of its current job. A failure becomes the status of that window. */
#define _POSIX_C_SOURCE 200809L /* threads, signals */
#include <signal.h>

#include "train/stream/windows.h"

enum { AHEAD = 8 }; /* runs that are announced to the disk before they are read */

static bool quitting(eh_windows *w)
{
    pthread_mutex_lock(&w->reader.lock);
    const bool quit = w->reader.quit;
    pthread_mutex_unlock(&w->reader.lock);
    return quit;
}

/* The first entry of held_out at or after a row of the store. */
static int64_t held_out_from(const eh_windows *w, int64_t row)
{
    int64_t low = 0, high = w->resident.held_out_n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (w->resident.held_out[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Appends the positions of a run's training samples to the list of `count`. first: position of
 * the run. */
static int64_t list_run(const eh_windows *w, int64_t run, int64_t first, int64_t count)
{
    const int64_t row = run * w->runs.rows, n = eh_run_rows(w, run);
    int64_t out = held_out_from(w, row);
    for (int64_t i = 0; i < n; i++) {
        if (out < w->resident.held_out_n && w->resident.held_out[out] == row + i)
            out++;
        else if (w->block.label[first + i] >= 0)
            w->reader.list[count++] = first + i;
    }
    return count;
}

/* Whether run i of a window belongs to a chunk that this rank computes. */
static bool is_own(const eh_windows *w, int64_t i)
{
    return i % w->chunks.count >= w->chunks.own_first && i % w->chunks.count < w->chunks.own_last;
}

static void read_ahead(const eh_windows *w, const eh_window *a, int64_t i)
{
    if (i < a->runs && is_own(w, i)) eh_store_prefetch(w->store, a->run[i] * w->runs.rows, eh_run_rows(w, a->run[i]));
}

/* Reads all runs of a window in sequence. Values are read for own chunks only. */
static enhope_status read_runs(eh_windows *w, eh_window *a)
{
    int64_t at = a->first, stored = a->first_stored, *row_start = w->block.owned[0];
    const bool sparse = w->store->kind == ENHOPE_CSR;
    for (int64_t i = 0; i < AHEAD; i++) read_ahead(w, a, i);
    for (int64_t i = 0; i < a->runs && !quitting(w); i++) {
        const int64_t n = eh_run_rows(w, a->run[i]);
        read_ahead(w, a, i + AHEAD);
        for (int64_t r = at; sparse && r <= at + n; r++) row_start[r] = stored; /* rows of other ranks are empty */
        EH_TRY(eh_store_read(&w->reader.ctx, w->store, a->run[i] * w->runs.rows, n, &w->block, at, is_own(w, i)));
        at += n;
        if (sparse) stored = row_start[at];
    }
    a->rows = at - a->first;
    return ENHOPE_OK;
}

/* Lists the samples of a chunk and shuffles them. */
static enhope_status list_chunk(eh_windows *w, const eh_window *a, int64_t chunk)
{
    int64_t at = a->first, n = 0;
    for (int64_t i = 0; i < a->runs; i++) {
        if (i % w->chunks.count == chunk) n = list_run(w, a->run[i], at, n);
        at += eh_run_rows(w, a->run[i]);
    }
    if (n != a->chunk_n[chunk])
        return eh_fail(&w->reader.ctx, ENHOPE_ERROR_DATA,
                       "the data changed while it was read: %lld labeled samples, expected %lld; do not change the "
                       "files during training",
                       (long long)n, (long long)a->chunk_n[chunk]);
    const uint64_t round = eh_window_pass(w, a->epoch, a->number) * (uint64_t)w->chunks.count + (uint64_t)chunk;
    eh_shuffle(w->seed, EH_STREAM_SHUFFLE, round, n, w->reader.shuffle);
    return ENHOPE_OK;
}

static enhope_status order_rows(eh_windows *w, eh_window *a)
{
    for (int64_t p = 0; p < w->chunks.count; p++) {
        EH_TRY(list_chunk(w, a, p));
        for (int64_t b = 0, i = 0; b < a->batches; b++) {
            int64_t to = eh_window_chunk(w, a, b, p);
            for (; i < a->chunk_n[p] * (b + 1) / a->batches; i++, to++) {
                a->order[to] = w->reader.list[w->reader.shuffle[i]];
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
    eh_reader *r = &w->reader;
    pthread_mutex_lock(&r->lock);
    while (!r->quit) {
        if (!r->job) {
            pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        pthread_mutex_unlock(&r->lock);
        r->job->status = fill(w, r->job);
        pthread_mutex_lock(&r->lock);
        r->job = NULL;
        pthread_cond_signal(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- functions for the caller's thread ---- */

void eh_reader_init(eh_reader *r)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
}

/* The thread blocks signals: the caller's threads handle them. */
enhope_status eh_reader_start(eh_windows *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->reader.thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->reader.running = !failed;
    if (failed)
        return eh_fail(w->ctx, ENHOPE_ERROR_COMPUTE,
                       "cannot start the reader thread; check the limits of processes and threads");
    return ENHOPE_OK;
}

void eh_reader_stop(eh_windows *w)
{
    eh_reader *r = &w->reader;
    if (r->running) {
        pthread_mutex_lock(&r->lock);
        r->quit = true;
        pthread_cond_signal(&r->changed);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    eh_free(r->list);
    eh_free(r->shuffle);
}

void eh_reader_ask(eh_windows *w, eh_window *window)
{
    eh_reader *r = &w->reader;
    pthread_mutex_lock(&r->lock);
    r->job = window;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void eh_reader_wait(eh_windows *w)
{
    eh_reader *r = &w->reader;
    pthread_mutex_lock(&r->lock);
    while (r->job) pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}
