/* Windows on data that stays where it is, between their two files: stream/resident.c says which rows stay in memory,
 * stream/window.c lets the others pass. */
#ifndef EH_TRAIN_WINDOW_H
#define EH_TRAIN_WINDOW_H

#include <pthread.h>

#include "data/store.h"
#include "train/trainer.h"

/* One of the two windows: runs of the store in memory, and the order of their training samples. */
typedef struct eh_window {
    int64_t first, first_stored; /* its place in the block: row; value, where rows are sparse */
    int64_t epoch, number;       /* which it is; epoch -1: none */
    int64_t first_batch, batches;
    int64_t *run, runs; /* (most) */
    int64_t rows;       /* that it holds; of these in the order: */
    int64_t n;
    int64_t *lane_n;      /* (lanes) samples of each lane */
    int64_t *order;       /* (room) positions in the block, batch by batch, lane by lane in a batch */
    int32_t *order_label; /* (room) */
    enhope_status status; /* of filling it */
} eh_window;

struct eh_windows {
    const eh_store *store;
    eh_store *own; /* the same, where it was made here, from data in memory */
    uint64_t seed;
    int64_t past;

    int64_t row_bytes;      /* of memory, for a row of the windows, on average */
    int64_t run_rows, runs; /* the store in runs of so many rows; the last may have fewer */
    int32_t *run_n;         /* (runs) training samples of each */
    int64_t most, stored;   /* runs of a window; values that these may have, where rows are sparse */
    int64_t count;          /* windows of an epoch */
    int64_t *held_out;      /* (held_out_n) rows of the store that are the validation part, ascending */
    int64_t held_out_n;
    int64_t *kept, kept_n; /* (kept_n) rows of the store that stay in memory, ascending: the first of the block */
    int64_t lanes;         /* the parts of a batch; those that are computed here: */
    int64_t own_first, own_last;

    eh_block block;       /* what stays, window 0, window 1 */
    int64_t room;         /* samples of a window */
    int64_t planned;      /* the epoch of the next two; -1: none */
    int64_t *run_order;   /* (runs) */
    int64_t *batch_start; /* (count + 1) */
    eh_window window[2];
    const eh_window *now; /* the window under way; NULL: none */

    /* the thread and what it alone uses while it has a job */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool running;
    eh_window *job; /* under lock, as is quit; NULL: nothing to do */
    bool quit;
    int64_t *list, *shuffle; /* (room) */
    enhope_context ctx;      /* for its sentence */
};

/* Rows of a run. */
static inline int64_t eh_window_run(const eh_windows *w, int64_t run)
{
    const int64_t left = w->store->n - run * w->run_rows;
    return left < w->run_rows ? left : w->run_rows;
}

/* How the store is cut, for so much memory in all; stream/window.c. */
enhope_status eh_window_measure(enhope_context *ctx, eh_windows *w, int64_t memory);
/* Counts samples and classes and chooses what stays, for so much memory in all; stream/resident.c. */
enhope_status eh_window_choose(enhope_trainer *t, int64_t memory);
/* How many values what stays has, where rows are sparse; and its rows, to the front of the block. */
enhope_status eh_window_count_kept(enhope_trainer *t, int64_t *stored);
enhope_status eh_window_read_kept(enhope_trainer *t);

#endif
