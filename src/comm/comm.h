/* Communication between the ranks that train one model together: a table of functions. In a context
 * without a comm the functions below do nothing, so callers need not test for it.
 *
 * All ranks call the same functions in the same order. A failure of communication is stored until
 * eh_comm_check() returns it. */
#ifndef EH_COMM_H
#define EH_COMM_H

#include "base/base.h"

typedef struct eh_comm eh_comm;

typedef struct eh_comm_ops {
    const char *name;
    /* All-gather. Rank r contributes the bytes offset[r] .. offset[r + 1] of block; afterwards
     * every rank has the whole block. */
    void (*gather)(eh_comm *c, void *block, const int64_t *offset);
    void (*broadcast)(eh_comm *c, int from, void *block, int64_t bytes);
    /* Sums over all ranks. */
    void (*sum)(eh_comm *c, int64_t *value, int count);
    /* Nonblocking transfers: complete when wait() returns; blocks must not change before. Messages
     * with equal tags arrive in order. */
    void (*send)(eh_comm *c, int to, int tag, const void *block, int64_t bytes);
    void (*receive)(eh_comm *c, int from, int tag, void *block, int64_t bytes);
    void (*wait)(eh_comm *c);
    /* True if all ranks call this function within `seconds`. If not, this process terminates the
     * others when it exits. */
    bool (*all_failed)(eh_comm *c, double seconds);
} eh_comm_ops;

struct eh_comm {
    const eh_comm_ops *op;
    int rank, ranks;
    int local_rank, local_size; /* among the ranks of this machine */
    bool device;                /* blocks may lie in GPU memory */
    char failure[256];          /* the first failure; "": none */
    void *state;
};

static inline int eh_comm_rank(const enhope_context *ctx)
{
    return ctx->comm ? ctx->comm->rank : 0;
}
static inline int eh_comm_ranks(const enhope_context *ctx)
{
    return ctx->comm ? ctx->comm->ranks : 1;
}

/* Returns status if it is a failure. Otherwise, if another rank has a failure, returns the failure
 * of the lowest such rank and stores its message with the prefix "rank N: ". Ranks exchange a
 * failure once: a rank that passes the same failure to further calls returns without communication.
 * Public functions that use eh_comm_check() start with eh_comm_begin(). */
void eh_comm_begin(enhope_context *ctx);
enhope_status eh_comm_check(enhope_context *ctx, enhope_status status);
/* Copies the bytes of rank 0 to all ranks. */
void eh_comm_broadcast(enhope_context *ctx, void *block, int64_t bytes);
/* Sum over all ranks. */
int64_t eh_comm_sum(enhope_context *ctx, int64_t value);
/* All-gather, as in the table. */
void eh_comm_gather(enhope_context *ctx, void *block, const int64_t *offset);

#endif
