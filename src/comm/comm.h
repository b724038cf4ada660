/* What ranks say to each other, where several processes train one model: a table of functions. A context without a comm is
 * alone, and the functions below do nothing then, so that no caller asks.
 *
 * All ranks call the same functions in the same order. What goes wrong on the way is kept until eh_comm_agree() tells it. */
#ifndef EH_COMM_H
#define EH_COMM_H

#include "base/base.h"

typedef struct eh_comm eh_comm;

typedef struct eh_comm_ops {
    const char *name;
    /* Block: rank r's share are the bytes offset[r] .. offset[r + 1]; everybody's own is there, all are there afterwards. */
    void (*gather)(eh_comm *c, void *block, const int64_t *offset);
    void (*broadcast)(eh_comm *c, int from, void *block, int64_t bytes);
    /* The sums over all ranks. */
    void (*sum)(eh_comm *c, int64_t *value, int count);
    /* Begun here, done when wait() returns; blocks stay as they are until then. Messages of equal tags come in their order. */
    void (*send)(eh_comm *c, int to, int tag, const void *block, int64_t bytes);
    void (*receive)(eh_comm *c, int from, int tag, void *block, int64_t bytes);
    void (*wait)(eh_comm *c);
    /* Whether all ranks call this within so many seconds. If not, this process ends the others when it exits. */
    bool (*all_failed)(eh_comm *c, double seconds);
} eh_comm_ops;

struct eh_comm {
    const eh_comm_ops *op;
    int rank, ranks;
    int local_rank, local_size; /* among the ranks of this machine: number of this one, and how many there are */
    bool device;                /* blocks may lie in a GPU's memory */
    char failure[256];          /* the first; "": none */
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

/* This status where it is a failure; else, where another rank has one, that and its sentence, with "rank N: " before it. A
 * failure is agreed upon once: on its way out it may come to further agreements, where nobody else is. Public functions that agree
 * upon something begin with eh_comm_begin(). */
void eh_comm_begin(enhope_context *ctx);
enhope_status eh_comm_agree(enhope_context *ctx, enhope_status status);
/* Rank 0's bytes for all. */
void eh_comm_broadcast(enhope_context *ctx, void *block, int64_t bytes);
/* The sum over all ranks. */
int64_t eh_comm_sum(enhope_context *ctx, int64_t value);
/* As the table has it. */
void eh_comm_gather(enhope_context *ctx, void *block, const int64_t *offset);

#endif
