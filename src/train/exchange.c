/* Training over ranks (comm/comm.h): every rank walks through the same batches with the same parameters, maps and carries back
 * its own parts of each, and computes the objective of all of it.
 *
 * A rank's rows of the embedding go to all before the objective. The gradient is the sum over parts in their order: rank s
 * receives slice s of every part's gradient as soon as that is made, adds the slices up, and its sum goes to all. So the sums
 * are those of one process, and so are their bits on the cpu. Where ranks cannot pass a GPU's memory on, what they exchange
 * goes by the host's. */
#include <string.h>

#include "comm/comm.h"
#include "train/trainer.h"

struct eh_exchange {
    int64_t count;   /* numbers of a gradient */
    int64_t pieces;  /* of all ranks; the last has the exemplars */
    int *owner;      /* (pieces) */
    int64_t *offset; /* (ranks + 1) of what is gathered, in bytes */
    bool staged;     /* what is exchanged is held on the host, else by the backend */
    eh_real *made;   /* (own pieces, count) on the backend */
    char *own;       /* the same where it is exchanged */
    char *others;    /* (pieces, slice) of the slice that is summed here */
    char *sum;       /* (count) where staged */
    char *Y;         /* (capacity + z, h), likewise */
};

/* ---- who has what ---- */

/* Ranks take runs of parts. */
static int64_t first_part(const enhope_trainer *t, int rank)
{
    return eh_share_start(t->parts, rank, eh_comm_ranks(t->ctx));
}

void eh_train_share_parts(enhope_trainer *t)
{
    t->own_first = first_part(t, eh_comm_rank(t->ctx));
    t->own_last = first_part(t, eh_comm_rank(t->ctx) + 1);
}

static int64_t slice_at(const enhope_trainer *t, int rank)
{
    return eh_share_start(t->exchange->count, rank, eh_comm_ranks(t->ctx));
}

/* Numbers of a slice that a piece adds to: only the last has gradients of exemplars, which are behind the map's. */
static int64_t slice_of(const enhope_trainer *t, int64_t piece, int rank)
{
    const int64_t from = slice_at(t, rank), end = slice_at(t, rank + 1);
    const int64_t most = piece == t->exchange->pieces - 1 ? t->exchange->count : t->P;
    return from < most ? (end < most ? end : most) - from : 0;
}

enhope_status eh_train_exchange_create(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    eh_compute *c = t->c;
    const int ranks = eh_comm_ranks(ctx);
    if (ranks == 1) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "what ranks exchange", 1, sizeof *t->exchange, (void **)&t->exchange));
    eh_exchange *x = t->exchange;
    const size_t size = c->op->size;
    const int64_t extra = t->embedder.sparse && t->z ? 1 : 0, mine = t->own_last - t->own_first;
    const int64_t own = mine + (mine && t->own_last == t->parts ? extra : 0);
    x->count = t->P + (t->learned ? t->z * t->embedder.shape.H : 0);
    x->pieces = t->parts + extra;
    x->staged = !c->op->host && !ctx->comm->device;
    const int64_t slice = x->count / ranks + 1;
    int64_t gradients, slices;
    if (!eh_mul(own, x->count, &gradients) || !eh_mul(x->pieces, slice, &slices))
        return eh_fail_memory(ctx, "gradients of parts", (size_t)x->pieces, (size_t)x->count * size);
    EH_TRY(eh_new(ctx, "parts of a batch", x->pieces, sizeof *x->owner, (void **)&x->owner));
    EH_TRY(eh_new(ctx, "shares of ranks", ranks + 1, sizeof *x->offset, (void **)&x->offset));
    EH_TRY(eh_compute_new(c, ctx, "gradients of parts", gradients, size, &x->made));
    for (int r = 0; r < ranks; r++)
        for (int64_t p = first_part(t, r); p < first_part(t, r + 1); p++) x->owner[p] = r;
    x->owner[x->pieces - 1] = x->owner[t->parts - 1];
    if (!x->staged) {
        x->own = (char *)x->made;
        return eh_compute_new(c, ctx, "gradients of parts", slices, size, &x->others);
    }
    EH_TRY(eh_new(ctx, "gradients of parts", gradients, size, (void **)&x->own));
    EH_TRY(eh_new(ctx, "gradients of parts", slices, size, (void **)&x->others));
    EH_TRY(eh_new(ctx, "gradient", x->count, size, (void **)&x->sum));
    return eh_new(ctx, "embedding", (t->embedder.capacity + t->z) * t->embedder.shape.h, size, (void **)&x->Y);
}

void eh_train_exchange_free(enhope_trainer *t)
{
    eh_exchange *x = t->exchange;
    if (!x) return;
    if (x->made) t->c->op->release(t->c, x->made);
    if (x->staged)
        eh_free(x->own), eh_free(x->others);
    else if (x->others)
        t->c->op->release(t->c, x->others);
    eh_free(x->sum), eh_free(x->Y), eh_free(x->owner), eh_free(x->offset);
    eh_free(x);
    t->exchange = NULL;
}

/* ---- the embedding ---- */

/* Everybody's bytes of a block of the backend's; `host` is room for it where it goes by the host. */
static void gather_block(enhope_trainer *t, char *block, char *host, const int64_t *offset)
{
    eh_compute *c = t->c;
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    if (host)
        c->op->fetch(c, host + offset[rank], block + offset[rank], (size_t)(offset[rank + 1] - offset[rank]));
    else
        eh_train_note(t, c->op->sync(c, t->ctx));
    eh_comm_gather(t->ctx, host ? host : block, offset);
    if (host) c->op->send(c, block, host, (size_t)offset[ranks]);
}

void eh_train_gather_embedding(enhope_trainer *t)
{
    eh_exchange *x = t->exchange;
    if (!x) return;
    const int ranks = eh_comm_ranks(t->ctx);
    const int64_t row = t->embedder.shape.h * (int64_t)t->c->op->size;
    for (int r = 0; r <= ranks; r++)
        x->offset[r] = row * (first_part(t, r) < t->parts ? t->part_start[first_part(t, r)] : t->batch_n + t->z);
    gather_block(t, (char *)t->embedder.Y, x->Y, x->offset);
}

/* ---- the gradient ---- */

eh_real *eh_train_begin_exchange(enhope_trainer *t, int64_t *apart)
{
    eh_exchange *x = t->exchange;
    eh_comm *comm = t->ctx->comm;
    const size_t size = t->c->op->size;
    const int64_t room = x->count / comm->ranks + 1;
    for (int64_t p = 0; p < x->pieces; p++)
        if (x->owner[p] != comm->rank)
            comm->op->receive(comm, x->owner[p], (int)p, x->others + (size_t)(p * room) * size,
                              slice_of(t, p, comm->rank) * (int64_t)size);
    *apart = x->count;
    return x->made;
}

void eh_train_send_piece(enhope_trainer *t, int64_t piece)
{
    eh_exchange *x = t->exchange;
    eh_compute *c = t->c;
    eh_comm *comm = t->ctx->comm;
    const size_t bytes = (size_t)x->count * c->op->size;
    const int64_t number = t->own_first + piece;
    char *made = x->own + (size_t)piece * bytes;
    if (x->staged)
        c->op->fetch(c, made, eh_at(c, x->made, piece * x->count), bytes);
    else if (!c->op->host)
        eh_train_note(t, c->op->sync(c, t->ctx));
    for (int r = 0; r < comm->ranks; r++)
        if (r != comm->rank)
            comm->op->send(comm, r, (int)number, made + (size_t)slice_at(t, r) * c->op->size,
                           slice_of(t, number, r) * (int64_t)c->op->size);
}

/* Where the slice that is summed here lies of a piece. */
static char *slice_here(const enhope_trainer *t, int64_t piece)
{
    const eh_exchange *x = t->exchange;
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    const size_t size = t->c->op->size;
    if (x->owner[piece] != rank) return x->others + (size_t)(piece * (x->count / ranks + 1)) * size;
    return x->own + (size_t)((piece - t->own_first) * x->count + slice_at(t, rank)) * size;
}

static void add_floats(int64_t count, const float *restrict from, float *restrict to)
{
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

/* to = the sum of the slices, piece after piece. */
static void sum_slices(enhope_trainer *t, char *to)
{
    const eh_exchange *x = t->exchange;
    eh_compute *c = t->c;
    const int rank = eh_comm_rank(t->ctx);
    const int64_t last = x->pieces - 1, all = slice_of(t, last, rank), map = last ? slice_of(t, 0, rank) : all;
    const size_t size = c->op->size;
    for (int64_t p = 0; p <= last && map; p++) {
        const char *from = slice_here(t, p);
        if (p == 0 && x->staged)
            memcpy(to, from, (size_t)map * size);
        else if (p == 0)
            c->op->copy(c, map, (const eh_real *)from, (eh_real *)to);
        else if (x->staged) /* of a GPU, whose numbers are floats */
            add_floats(map, (const float *)from, (float *)to);
        else
            c->op->axpy(c, map, 1, (const eh_real *)from, (eh_real *)to);
    }
    if (all == map) return;
    const char *exemplars = slice_here(t, last) + (size_t)map * size;
    if (x->staged)
        memcpy(to + (size_t)map * size, exemplars, (size_t)(all - map) * size);
    else
        c->op->copy(c, all - map, (const eh_real *)exemplars, (eh_real *)(to + (size_t)map * size));
}

void eh_train_end_exchange(enhope_trainer *t, eh_real *gradient)
{
    eh_exchange *x = t->exchange;
    eh_comm *comm = t->ctx->comm;
    const int64_t size = (int64_t)t->c->op->size;
    comm->op->wait(comm);
    for (int r = 0; r <= comm->ranks; r++) x->offset[r] = slice_at(t, r) * size;
    sum_slices(t, (x->staged ? x->sum : (char *)gradient) + x->offset[comm->rank]);
    if (!x->staged && !t->c->op->host) eh_train_note(t, t->c->op->sync(t->c, t->ctx));
    eh_comm_gather(t->ctx, x->staged ? x->sum : (char *)gradient, x->offset);
    if (x->staged) t->c->op->send(t->c, gradient, x->sum, (size_t)(x->count * size));
}

void eh_train_note(enhope_trainer *t, enhope_status status)
{
    if (!t->noted) t->noted = status;
}

/* ---- all training points ---- */

enhope_status eh_train_embed_shared(enhope_trainer *t, const eh_real *theta, int64_t count, eh_real *Y)
{
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    const int64_t first = eh_share_start(count, rank, ranks), h = t->embedder.shape.h;
    char *host = NULL;
    int64_t *offset = NULL;
    enhope_status status = ENHOPE_OK;
    eh_embedder_embed(&t->embedder, theta, eh_row_at(t->row_list, first),
                      eh_share_start(count, rank + 1, ranks) - first, eh_at(t->c, Y, first * h));
    if (ranks == 1) return ENHOPE_OK;
    status = eh_new(t->ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status && !t->c->op->host && !t->ctx->comm->device)
        status = eh_new(t->ctx, "embedded points", count * h, t->c->op->size, (void **)&host);
    EH_CHECK(eh_comm_agree(t->ctx, status));
    for (int r = 0; r <= ranks; r++) offset[r] = eh_share_start(count, r, ranks) * h * (int64_t)t->c->op->size;
    gather_block(t, (char *)Y, host, offset);
cleanup:
    eh_free(host);
    eh_free(offset);
    return status;
}

/* ---- whether all see the same ---- */

enum { SAMPLES, INPUTS, KIND, CLASSES, WINDOWS, LABELS, VALUES, MODEL, METHOD, DEVICE, FACTS };
static const char *const fact_name[FACTS] = {"the number of samples",
                                             "the number of inputs",
                                             "the kind of the data",
                                             "the classes",
                                             "the windows on the data (--memory)",
                                             "the labels",
                                             "the values",
                                             "the model that training goes on from",
                                             "the setting method",
                                             "what computes (--device, --precision)"};

static uint64_t hash_text(const char *text)
{
    return eh_hash(0, text, strlen(text));
}

/* What a later fact depends on comes before it, so that the cause is told. */
static enhope_status find_facts(enhope_trainer *t, uint64_t *fact)
{
    char windows[EH_WINDOWS_TEXT];
    EH_TRY(eh_train_look_at_data(t));
    const eh_fingerprint *f = &t->fingerprint;
    const int64_t kind[] = {f->kind, f->image_rows, f->image_columns};
    eh_train_windows_print(t, windows);
    fact[SAMPLES] = (uint64_t)f->n;
    fact[INPUTS] = (uint64_t)f->H;
    fact[KIND] = eh_hash(0, kind, sizeof kind);
    fact[CLASSES] = f->names;
    fact[WINDOWS] = hash_text(windows);
    fact[LABELS] = f->labels;
    fact[VALUES] = f->values;
    fact[MODEL] = t->from ? eh_train_hash_model(t) : 0;
    fact[METHOD] = hash_text(t->method->info.name);
    if (t->c) fact[DEVICE] = hash_text(t->c->op->name) + (t->c->op->host ? 0 : (uint64_t)t->ctx->precision);
    return ENHOPE_OK;
}

/* all (ranks, each): every rank's facts and settings. */
static enhope_status compare(const enhope_trainer *t, const uint64_t *all, int64_t each)
{
    for (int r = 1; r < eh_comm_ranks(t->ctx); r++)
        for (int64_t i = 0; i < each; i++) {
            if (all[r * each + i] == all[i]) continue;
            if (i < FACTS)
                return eh_fail(t->ctx, ENHOPE_ERROR_DATA,
                               "rank %d and rank 0 differ in %s: all ranks must be given the same", r, fact_name[i]);
            return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                           "rank %d and rank 0 differ in the setting %s: all ranks must be given the same", r,
                           enhope_setting_get((int)(i - FACTS))->name);
        }
    return ENHOPE_OK;
}

enhope_status eh_train_check_ranks(enhope_trainer *t)
{
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx), settings = enhope_setting_count();
    const int64_t each = FACTS + settings;
    uint64_t *all = NULL;
    int64_t *offset = NULL;
    eh_pair_text *text = NULL;
    enhope_status status;
    if (ranks == 1) return ENHOPE_OK;
    status = eh_new(t->ctx, "facts of ranks", ranks * each, sizeof *all, (void **)&all);
    if (!status) status = eh_new(t->ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status) status = eh_new(t->ctx, "settings", settings, sizeof *text, (void **)&text);
    if (!status) status = eh_settings_texts(t->ctx, &t->set, text);
    if (!status) status = find_facts(t, all + rank * each);
    EH_CHECK(eh_comm_agree(t->ctx, status));
    for (int i = 0; i < settings; i++) all[rank * each + FACTS + i] = hash_text(text[i].value);
    for (int r = 0; r <= ranks; r++) offset[r] = r * each * (int64_t)sizeof *all;
    eh_comm_gather(t->ctx, all, offset);
    status = compare(t, all, each);
cleanup:
    for (int i = 0; i < settings && text; i++) eh_free(text[i].name), eh_free(text[i].value);
    eh_free(text);
    eh_free(offset);
    eh_free(all);
    return status;
}
