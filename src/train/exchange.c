/* The exchange of embeddings and gradients between ranks. */
#include <string.h>

#include "comm/comm.h"
#include "train/exchange.h"

struct eh_exchange {
    enhope_context *ctx;
    eh_compute *cp;
    eh_exchange_sizes s;
    int64_t chunks;  /* of all ranks; the last has the exemplars */
    int *owner;      /* (chunks) */
    int64_t *offset; /* (ranks + 1) offsets of gathered data, in bytes */
    bool staged;     /* data passes through the host; otherwise it stays on the backend */
    eh_real *made;   /* (own chunks, count) on the backend */
    char *own;       /* the same in the memory that is exchanged */
    char *others;    /* (chunks, slice) of the slice that this rank sums */
    char *sum;       /* (count) if staged */
    char *Y;         /* (rows, h), likewise */
    enhope_status deferred_status;
};

/* ---- chunks and slices of ranks ---- */

static int64_t first_chunk(const eh_exchange *x, int rank)
{
    return eh_chunks_first(x->s.chunks.count, rank, eh_comm_ranks(x->ctx));
}

static int64_t slice_at(const eh_exchange *x, int rank)
{
    return eh_chunk_start(x->s.count, rank, eh_comm_ranks(x->ctx));
}

static int64_t slice_capacity(const eh_exchange *x)
{
    return x->s.count / eh_comm_ranks(x->ctx) + 1;
}

/* Numbers that a chunk adds to a slice. Only the last chunk has gradients of exemplars, which
 * follow those of the map. */
static int64_t slice_of(const eh_exchange *x, int64_t chunk, int rank)
{
    const int64_t from = slice_at(x, rank), end = slice_at(x, rank + 1);
    const int64_t max = chunk == x->chunks - 1 ? x->s.count : x->s.map_count;
    return from < max ? (end < max ? end : max) - from : 0;
}

static enhope_status allocate(eh_exchange *x, int64_t own)
{
    enhope_context *ctx = x->ctx;
    eh_compute *cp = x->cp;
    const size_t size = cp->op->real_size;
    const int ranks = eh_comm_ranks(ctx);
    int64_t gradients, slices;
    if (!eh_mul(own, x->s.count, &gradients) || !eh_mul(x->chunks, slice_capacity(x), &slices))
        return eh_fail_memory(ctx, "gradients of chunks", (size_t)x->chunks, (size_t)x->s.count * size);
    EH_TRY(eh_new(ctx, "chunks of a batch", x->chunks, sizeof *x->owner, (void **)&x->owner));
    EH_TRY(eh_new(ctx, "shares of ranks", ranks + 1, sizeof *x->offset, (void **)&x->offset));
    EH_TRY(eh_compute_new(cp, ctx, "gradients of chunks", gradients, size, &x->made));
    if (!x->staged) {
        x->own = (char *)x->made;
        return eh_compute_new(cp, ctx, "gradients of chunks", slices, size, &x->others);
    }
    EH_TRY(eh_new(ctx, "gradients of chunks", gradients, size, (void **)&x->own));
    EH_TRY(eh_new(ctx, "gradients of chunks", slices, size, (void **)&x->others));
    EH_TRY(eh_new(ctx, "gradient", x->s.count, size, (void **)&x->sum));
    return eh_new(ctx, "embedding", x->s.rows * x->s.h, size, (void **)&x->Y);
}

enhope_status eh_exchange_create(enhope_context *ctx, eh_compute *cp, const eh_exchange_sizes *s, eh_exchange **out)
{
    const int ranks = eh_comm_ranks(ctx);
    *out = NULL;
    if (ranks == 1) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "exchange between ranks", 1, sizeof **out, (void **)out));
    eh_exchange *x = *out;
    const int64_t mine = s->chunks.own_last - s->chunks.own_first;
    *x = (eh_exchange){.ctx = ctx,
                       .cp = cp,
                       .s = *s,
                       .chunks = s->chunks.count + s->apart,
                       .staged = !cp->op->host && !ctx->comm->device};
    EH_TRY(allocate(x, mine + (mine && s->chunks.own_last == s->chunks.count ? s->apart : 0)));
    for (int r = 0; r < ranks; r++)
        for (int64_t p = first_chunk(x, r); p < first_chunk(x, r + 1); p++) x->owner[p] = r;
    x->owner[x->chunks - 1] = x->owner[s->chunks.count - 1];
    return ENHOPE_OK;
}

void eh_exchange_free(eh_exchange *x)
{
    if (!x) return;
    if (x->made) x->cp->op->release(x->cp, x->made);
    if (x->staged)
        eh_free(x->own), eh_free(x->others);
    else if (x->others)
        x->cp->op->release(x->cp, x->others);
    eh_free(x->sum), eh_free(x->Y), eh_free(x->owner), eh_free(x->offset);
    eh_free(x);
}

static void defer(eh_exchange *x, enhope_status status)
{
    if (!x->deferred_status) x->deferred_status = status;
}

enhope_status eh_exchange_status(eh_exchange *x)
{
    const enhope_status status = x ? x->deferred_status : ENHOPE_OK;
    if (x) x->deferred_status = ENHOPE_OK;
    return status;
}

/* ---- the embedding ---- */

enhope_status eh_exchange_gather(enhope_context *ctx, eh_compute *cp, char *block, char *host, const int64_t *offset)
{
    const int rank = eh_comm_rank(ctx), ranks = eh_comm_ranks(ctx);
    enhope_status status = ENHOPE_OK;
    if (host)
        cp->op->fetch(cp, host + offset[rank], block + offset[rank], (size_t)(offset[rank + 1] - offset[rank]));
    else
        status = cp->op->sync(cp, ctx);
    eh_comm_gather(ctx, host ? host : block, offset);
    if (host) cp->op->send(cp, block, host, (size_t)offset[ranks]);
    return status;
}

void eh_exchange_embedding(eh_exchange *x, const eh_batch *batch, int64_t z, eh_real *Y)
{
    const int64_t row = x->s.h * (int64_t)x->cp->op->real_size;
    for (int r = 0; r <= eh_comm_ranks(x->ctx); r++) {
        const int64_t first = first_chunk(x, r);
        x->offset[r] = row * (first < x->s.chunks.count ? batch->chunk_start[first] : batch->n + z);
    }
    defer(x, eh_exchange_gather(x->ctx, x->cp, (char *)Y, x->Y, x->offset));
}

/* ---- the gradient ---- */

eh_real *eh_exchange_begin(eh_exchange *x, int64_t *apart)
{
    eh_comm *comm = x->ctx->comm;
    const size_t size = x->cp->op->real_size;
    for (int64_t p = 0; p < x->chunks; p++)
        if (x->owner[p] != comm->rank)
            comm->op->receive(comm, x->owner[p], (int)p, x->others + (size_t)(p * slice_capacity(x)) * size,
                              slice_of(x, p, comm->rank) * (int64_t)size);
    *apart = x->s.count;
    return x->made;
}

void eh_exchange_send(eh_exchange *x, int64_t own_chunk)
{
    eh_compute *cp = x->cp;
    eh_comm *comm = x->ctx->comm;
    const size_t bytes = (size_t)x->s.count * cp->op->real_size;
    const int64_t chunk = x->s.chunks.own_first + own_chunk;
    char *made = x->own + (size_t)own_chunk * bytes;
    if (x->staged)
        cp->op->fetch(cp, made, eh_at(cp, x->made, own_chunk * x->s.count), bytes);
    else if (!cp->op->host)
        defer(x, cp->op->sync(cp, x->ctx));
    for (int r = 0; r < comm->ranks; r++)
        if (r != comm->rank)
            comm->op->send(comm, r, (int)chunk, made + (size_t)slice_at(x, r) * cp->op->real_size,
                           slice_of(x, chunk, r) * (int64_t)cp->op->real_size);
}

/* Where the slice of a chunk is stored that this rank sums. */
static char *slice_here(const eh_exchange *x, int64_t chunk)
{
    const int rank = eh_comm_rank(x->ctx);
    const size_t size = x->cp->op->real_size;
    if (x->owner[chunk] != rank) return x->others + (size_t)(chunk * slice_capacity(x)) * size;
    return x->own + (size_t)((chunk - x->s.chunks.own_first) * x->s.count + slice_at(x, rank)) * size;
}

static void add_floats(int64_t count, const float *restrict from, float *restrict to)
{
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

/* to = the sum of the slices, in the order of the chunks. */
static void sum_slices(eh_exchange *x, char *to)
{
    eh_compute *cp = x->cp;
    const int rank = eh_comm_rank(x->ctx);
    const int64_t last = x->chunks - 1, all = slice_of(x, last, rank), map = last ? slice_of(x, 0, rank) : all;
    const size_t size = cp->op->real_size;
    for (int64_t p = 0; p <= last && map; p++) {
        const char *from = slice_here(x, p);
        if (p == 0 && x->staged)
            memcpy(to, from, (size_t)map * size);
        else if (p == 0)
            cp->op->copy(cp, map, (const eh_real *)from, (eh_real *)to);
        else if (x->staged) /* data of a GPU, which has floats */
            add_floats(map, (const float *)from, (float *)to);
        else
            cp->op->axpy(cp, map, 1, (const eh_real *)from, (eh_real *)to);
    }
    if (all == map) return;
    const char *exemplars = slice_here(x, last) + (size_t)map * size;
    if (x->staged)
        memcpy(to + (size_t)map * size, exemplars, (size_t)(all - map) * size);
    else
        cp->op->copy(cp, all - map, (const eh_real *)exemplars, (eh_real *)(to + (size_t)map * size));
}

void eh_exchange_end(eh_exchange *x, eh_real *gradient)
{
    eh_compute *cp = x->cp;
    eh_comm *comm = x->ctx->comm;
    const int64_t size = (int64_t)cp->op->real_size;
    char *sum = x->staged ? x->sum : (char *)gradient;
    comm->op->wait(comm);
    for (int r = 0; r <= comm->ranks; r++) x->offset[r] = slice_at(x, r) * size;
    sum_slices(x, sum + x->offset[comm->rank]);
    if (!x->staged && !cp->op->host) defer(x, cp->op->sync(cp, x->ctx));
    eh_comm_gather(x->ctx, sum, x->offset);
    if (x->staged) cp->op->send(cp, gradient, x->sum, (size_t)(x->s.count * size));
}
