/* Windows of data that is larger than memory, for methods with exemplars.
 *
 * One block of memory holds the resident rows (resident.c), followed by two windows. The
 * backend's table is placed over the block once, so the number of a row is its position in the
 * block. The store is cut into runs of successive rows. Each epoch has a seeded order of runs. A
 * window is a group of successive runs in this order, and its rows are shuffled after reading. A
 * thread (reader.c) fills one window while batches are taken from the other. The content of a
 * window is a function of (seed, epoch, number), so any batch of any epoch may be requested
 * next.
 *
 * The runs of a window are assigned to the chunks of its batches in turn: chunk p has rows of
 * runs p, p + chunks, ... */
#ifndef EH_WINDOWS_H
#define EH_WINDOWS_H

#include <pthread.h>

#include "data/store/store.h"
#include "train/batches.h"

/* One of the two windows: runs of the store in memory, and the order of their training samples. */
typedef struct eh_window {
    int64_t first, first_stored; /* its position in the block: first row; first value, if rows are sparse */
    int64_t epoch, number;       /* its epoch and number; epoch -1: none */
    int64_t first_batch, batches;
    int64_t *run, runs; /* (max) */
    int64_t rows;       /* rows in memory */
    int64_t n;
    int64_t *chunk_n;     /* (chunks) samples of each chunk */
    int64_t *order;       /* (capacity) positions in the block, by batch, and by chunk within a batch */
    int32_t *order_label; /* (capacity) */
    enhope_status status; /* of reading it */
} eh_window;

/* How the store is cut into runs. */
typedef struct eh_runs {
    int64_t rows, count; /* rows of a run (the last may have fewer); number of runs */
    int32_t *samples;    /* (count) training samples of each */
    int64_t max, stored; /* runs of a window, at most; their values, if rows are sparse */
    int64_t row_bytes;   /* memory of a row of a window, on average */
} eh_runs;

/* The rows of the store that stay in memory, at the start of the block, and those of the
 * validation part. Both lists are ascending. */
typedef struct eh_resident {
    int64_t *row, n;
    int64_t *held_out, held_out_n;
} eh_resident;

/* The reader thread, and memory that only the thread uses while it has a job. */
typedef struct eh_reader {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool running;
    eh_window *job; /* protected by lock, as is quit; NULL: no job */
    bool quit;
    int64_t *list, *shuffle; /* (capacity) */
    enhope_context ctx;      /* for its error message */
} eh_reader;

struct eh_windows {
    enhope_context *ctx;
    const eh_store *store;
    eh_store *own; /* the same, if it was created for the windows from data in memory */
    uint64_t seed;
    int64_t past; /* epochs of the model that training continues */

    eh_runs runs;
    eh_resident resident;
    int64_t count;    /* windows of an epoch */
    int64_t capacity; /* samples of a window */
    int64_t n;        /* training samples of an epoch, ... */
    int64_t batches;  /* ... and its batches */
    int64_t epochs;
    eh_chunks chunks;

    eh_block block;       /* resident rows, window 0, window 1 */
    int64_t planned;      /* epoch of the next two fields; -1: none */
    int64_t *run_order;   /* (runs) */
    int64_t *batch_start; /* (count + 1) */
    eh_window window[2];
    const eh_window *now; /* the current window; NULL: none */
    eh_reader reader;
};

typedef struct eh_windows_settings {
    const eh_store *store;
    eh_store *own;  /* freed with the windows, also on failure; may be NULL */
    int64_t memory; /* bytes for all rows in memory */
    int64_t past;
} eh_windows_settings;

/* Cuts the store into windows, chooses the resident rows and fills in `samples`. */
enhope_status eh_windows_create(enhope_context *ctx, const enhope_dataset *data, const eh_samples_settings *rows,
                                const eh_windows_settings *s, eh_samples *samples, eh_windows **out);
/* Reads the resident rows and sets samples->x and samples->label. batches: per epoch. */
enhope_status eh_windows_open(eh_windows *w, int64_t batches, int64_t epochs, const eh_chunks *chunks,
                              eh_samples *samples);
/* Starts the thread. The table has been placed. */
enhope_status eh_windows_start(eh_windows *w);
void eh_windows_free(eh_windows *w); /* waits for the thread */

/* Samples of a window, on average. Runs of a window; each chunk of a batch needs one. Samples of
 * the largest batch, if an epoch has `batches`. */
int64_t eh_windows_samples(const eh_windows *w);
int64_t eh_windows_runs(const eh_windows *w);
int64_t eh_windows_batch_max(const eh_windows *w, int64_t batches, int64_t chunks);

/* eh_windows_current: whether the current window has the batch. eh_windows_turn: makes the
 * window of the batch the current one. eh_windows_read_ahead: starts reading the next window. */
bool eh_windows_current(const eh_windows *w, int64_t epoch, int64_t batch);
enhope_status eh_windows_turn(eh_windows *w, int64_t epoch, int64_t batch, const eh_window **out);
void eh_windows_read_ahead(eh_windows *w);
/* The start of a batch in the order of the current window. chunk_start (chunks + 1): within the
 * batch. */
int64_t eh_windows_cut(const eh_windows *w, int64_t batch, int64_t *chunk_start);
/* The pass of the current window. */
uint64_t eh_windows_pass(const eh_windows *w);

/* Identification of windows: a text of how they are cut ("none": all data is in memory), the
 * resident rows as a view of the data, and a hash of the training samples of each run. */
enum { EH_WINDOWS_TEXT = 64 };
void eh_windows_print(const eh_windows *w, char text[EH_WINDOWS_TEXT]);
enhope_dataset eh_windows_resident(const eh_windows *w, const enhope_dataset *data);
uint64_t eh_windows_hash(const eh_windows *w);

/* ---- shared by the files of this folder ---- */

/* Rows of a run. */
static inline int64_t eh_run_rows(const eh_windows *w, int64_t run)
{
    const int64_t left = w->store->n - run * w->runs.rows;
    return eh_min(left, w->runs.rows);
}
/* A number that is unique among all windows of all epochs. */
static inline uint64_t eh_window_pass(const eh_windows *w, int64_t epoch, int64_t number)
{
    return (uint64_t)(w->past + epoch) * (uint64_t)w->count + (uint64_t)number;
}
/* The start of a chunk of a batch in the order of the window: after all earlier batches, and
 * after the earlier chunks of its own batch. */
static inline int64_t eh_window_chunk(const eh_windows *w, const eh_window *a, int64_t batch, int64_t chunk)
{
    int64_t at = 0;
    for (int64_t p = 0; p < w->chunks.count; p++) at += a->chunk_n[p] * (batch + (p < chunk)) / a->batches;
    return at;
}

/* Counts samples and classes and chooses the resident rows, within the given memory
 * (resident.c). */
enhope_status eh_resident_choose(eh_windows *w, const enhope_dataset *data, const eh_samples_settings *s,
                                 int64_t memory, eh_samples *samples);
/* Counts the values of resident rows if rows are sparse; reads these rows into the start of the
 * block. */
enhope_status eh_resident_count(eh_windows *w, int64_t *stored);
enhope_status eh_resident_read(eh_windows *w);

/* reader.c */
void eh_reader_init(eh_reader *r);
enhope_status eh_reader_start(eh_windows *w);
void eh_reader_stop(eh_windows *w); /* also frees the resources of eh_reader_init */
void eh_reader_ask(eh_windows *w, eh_window *window);
void eh_reader_wait(eh_windows *w);

#endif
