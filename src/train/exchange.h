/* What ranks exchange for the gradient of a batch (comm/comm.h).
 *
 * Every rank computes its own chunks of each batch, and the objective of all of it. The rows of the embedding go to all
 * ranks before the objective. The gradient is the sum over chunks in their order: rank s receives slice s of the gradient
 * of every chunk as soon as that is made, adds the slices up, and its sum goes to all. So the sums are those of one
 * process, and so are their bits on the cpu. If ranks cannot pass on memory of a GPU, it goes by that of the host. */
#ifndef EH_EXCHANGE_H
#define EH_EXCHANGE_H

#include "train/batches.h"

typedef struct eh_exchange eh_exchange;

typedef struct eh_exchange_sizes {
    eh_chunks chunks;
    bool apart;        /* the exemplars are a chunk of their own, behind the others */
    int64_t map_count; /* parameters of the map: what every chunk has a gradient of; only the last has the rest */
    int64_t count;     /* parameters in all */
    int64_t rows, h;   /* of an embedding, at most */
} eh_exchange_sizes;

/* *out NULL: there is one rank. */
enhope_status eh_exchange_create(enhope_context *ctx, eh_compute *cp, const eh_exchange_sizes *s, eh_exchange **out);
void eh_exchange_free(eh_exchange *x); /* may be NULL */

/* Gives all ranks all rows of the embedding Y of a batch and of z exemplars. */
void eh_exchange_embedding(eh_exchange *x, const eh_batch *batch, int64_t z, eh_real *Y);
/* Where the gradients of own chunks are to be made, `apart` numbers from one to the next; one of them has been made; the
 * sum over the chunks of all ranks. */
eh_real *eh_exchange_begin(eh_exchange *x, int64_t *apart);
void eh_exchange_send(eh_exchange *x, int64_t own_chunk);
void eh_exchange_end(eh_exchange *x, eh_real *gradient);
/* The first failure since the last call. */
enhope_status eh_exchange_status(eh_exchange *x);

/* All ranks' bytes offset[r] .. offset[r + 1] of a block of the backend; `host` is memory for it if it goes by the host. */
enhope_status eh_exchange_gather(enhope_context *ctx, eh_compute *cp, char *block, char *host, const int64_t *offset);

#endif
