/* The exchange between ranks for the gradient of a batch (comm/comm.h).
 *
 * Every rank computes its own chunks of each batch, and the objective of the whole batch. All
 * ranks receive all rows of the embedding before the objective. The gradient is the sum over
 * chunks in their order. Rank s receives slice s of the gradient of every chunk as soon as it is
 * computed, adds the slices, and sends the sum to all ranks. So the sums equal those of one
 * process, bit for bit on the CPU. If ranks cannot exchange memory of a GPU, data passes through
 * the host. */
#ifndef EH_EXCHANGE_H
#define EH_EXCHANGE_H

#include "train/batches.h"

typedef struct eh_exchange eh_exchange;

typedef struct eh_exchange_sizes {
    eh_chunks chunks;
    bool apart;        /* the exemplars are a separate chunk behind the others */
    int64_t map_count; /* parameters of the map and its head: every chunk has a gradient for them, the last for all */
    int64_t count;     /* parameters in all */
    int64_t rows, h;   /* largest embedding */
} eh_exchange_sizes;

/* *out NULL: there is one rank. */
enhope_status eh_exchange_create(enhope_context *ctx, eh_compute *cp, const eh_exchange_sizes *s, eh_exchange **out);
void eh_exchange_free(eh_exchange *x); /* may be NULL */

/* Sends all rows of the embedding Y of a batch and of z exemplars to all ranks. */
void eh_exchange_embedding(eh_exchange *x, const eh_batch *batch, int64_t z, eh_real *Y);
/* eh_exchange_begin returns the memory for gradients of own chunks, `apart` numbers from one to
 * the next. eh_exchange_send sends one that is complete. eh_exchange_end sums over the chunks of
 * all ranks. */
eh_real *eh_exchange_begin(eh_exchange *x, int64_t *apart);
void eh_exchange_send(eh_exchange *x, int64_t own_chunk);
void eh_exchange_end(eh_exchange *x, eh_real *gradient);
/* The first failure since the last call. */
enhope_status eh_exchange_status(eh_exchange *x);

/* Gathers the bytes offset[r] .. offset[r + 1] of each rank in a block of the backend. host:
 * memory for it if the data passes through the host. */
enhope_status eh_exchange_gather(enhope_context *ctx, eh_compute *cp, char *block, char *host, const int64_t *offset);

#endif
