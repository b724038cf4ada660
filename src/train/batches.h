/* The batches of an epoch. Each epoch has a seeded order of the training samples. The order is
 * cut into batches, and each batch into chunks.
 *
 * If samples without a label take part, an epoch has each of them once. Each batch begins with the
 * next labeled samples of the epoch's order, which starts again at its end. The target of a sample
 * without a label is computed from a row, which is the sample itself or, with probability 1/2 in
 * each epoch, one of its neighbors. Labels that were spread over the neighbor graph take the place
 * of these targets in the first half of the epochs, when the map is not yet reliable.
 *
 * A batch is a function of (seed, epoch, number), so a resumed run needs no other state. If the
 * data is larger than memory, windows supply the rows (stream/windows.h). */
#ifndef EH_BATCHES_H
#define EH_BATCHES_H

#include "train/setup/samples.h"

typedef struct eh_windows eh_windows; /* stream/windows.h */

/* The gradient of a batch is the sum of the gradients of its chunks in their order. So its bits
 * do not depend on the rank that computes a chunk. Exemplars belong to the last chunk. Each rank
 * has successive chunks. */
typedef struct eh_chunks {
    int64_t count;
    int64_t own_first, own_last; /* this rank computes chunks own_first to own_last - 1 */
} eh_chunks;

/* The first chunk of a rank; count for rank `ranks`. */
static inline int64_t eh_chunks_first(int64_t count, int rank, int ranks)
{
    return eh_chunk_start(count, rank, ranks);
}
static inline eh_chunks eh_chunks_of(int64_t count, int rank, int ranks)
{
    return (eh_chunks){count, eh_chunks_first(count, rank, ranks), eh_chunks_first(count, rank + 1, ranks)};
}

/* One batch, on the backend. */
typedef struct eh_batch {
    const eh_row *rows;    /* (n) the samples, then the targets of each */
    const eh_label *label; /* (n) classes; -1: no target */
    const eh_real *weight; /* (n) NULL: 1 */
    /* (n) rows that the targets of samples without a label are computed from; NULL: all targets
     * follow from `label`. */
    const eh_row *target_rows;
    int64_t n;
    const int64_t *chunk_start; /* (chunks + 1) on the host: the first row of each chunk */
    uint64_t pass;              /* number of the pass through the data, from which noise is drawn */
} eh_batch;

/* The order of an epoch, on the host. */
typedef struct eh_order {
    int64_t epoch;       /* -1: none */
    int64_t *row;        /* (capacity) the samples of each batch, then their targets */
    int32_t *label;      /* (capacity) their classes; -1: no target */
    float *weight;       /* (capacity) their weights; NULL: 1 */
    int64_t *target_row; /* (capacity) the row that the target of a sample without a label is computed from */
    int64_t *part;       /* the order of the samples with a label, and of those without; NULL: all have one */
} eh_order;

typedef struct eh_batches {
    /* filled in by the caller of eh_batches_create; pointers are borrowed */
    enhope_context *ctx;
    eh_compute *cp;
    const eh_samples *samples;
    eh_windows *windows; /* NULL: all rows are in memory */
    eh_table *table;     /* the backend's table, which windows refresh */
    uint64_t seed;
    int64_t past; /* epochs of the model that training continues */
    int64_t epochs;
    int64_t count;   /* batches of an epoch */
    int64_t targets; /* target neighbors of each sample, which follow a batch; 0: none */
    /* Neighbors that targets are drawn from in each epoch; equal to `targets`: all are targets. If
     * samples have no label: neighbors whose probabilities they adopt; 0: none. */
    int64_t candidates;
    int64_t drawn;   /* samples of an epoch: all, or the first ones of its order; `labeled` * count and the others */
    int64_t labeled; /* labeled samples of each batch, if there are others; 0: there are none */
    bool own_class;  /* the class of a sample is the sample and its targets, instead of that of the data */
    eh_chunks chunks;

    /* (samples, candidates) positions of samples (eh_samples_row); -1 - own position: no target.
     * Owned. */
    int32_t *target;
    int32_t *spread; /* (samples) labels that were spread over the neighbor graph; NULL: none. Owned */
    eh_order order;
    int64_t capacity;     /* rows of an epoch, or of a window */
    eh_row *rows;         /* (capacity) on the backend */
    eh_label *label;      /* (capacity) on the backend */
    eh_real *weight;      /* (capacity) on the backend; NULL: 1 */
    eh_row *target_rows;  /* (capacity) on the backend; NULL: those of the batch */
    int64_t sent;         /* epoch of the rows on the backend; -1: none */
    int64_t *chunk_start; /* (chunks + 1) of the last batch */
} eh_batches;

enhope_status eh_batches_create(eh_batches *b);
/* Whether samples without a label have spread labels in an epoch. */
bool eh_batches_spread(const eh_batches *b, int64_t epoch);
void eh_batches_free(eh_batches *b);
/* Returns batch `number` of an epoch. Batches may be requested in any order. A failure changes
 * nothing, and the call may be repeated. */
enhope_status eh_batches_get(eh_batches *b, int64_t epoch, int64_t number, eh_batch *out);
/* Shuffles an epoch before its first batch is requested, while the backend is still computing. */
void eh_batches_prepare(eh_batches *b, int64_t epoch);

#endif
