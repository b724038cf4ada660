/* The loss of one batch and its gradient.
 *
 * Each rank gathers and embeds its own chunks of the batch, the ranks share the embedding, every
 * rank evaluates the objective of the whole batch, and each rank computes the gradients of its own
 * chunks, which are then summed over the ranks. A single process does the same without the
 * exchange (l->exchange is NULL). */
#include "train/batch_loss.h"

/* ---- create and free ---- */

/* Memory of the adversarial step, for `rows` rows. */
static enhope_status create_adversarial(eh_batch_loss *l, int64_t rows)
{
    const eh_embedder *e = l->embedder;
    eh_adversarial *a = &l->adversarial;
    if (!(a->step > 0)) return ENHOPE_OK;
    EH_TRY(eh_compute_new(e->cp, e->ctx, "adversarial batch", rows * e->ld, e->cp->packed_size, &a->X_adv));
    EH_TRY(eh_compute_new(e->cp, e->ctx, "gradient of a batch", rows * e->shape.H, e->cp->op->real_size, &a->dX));
    EH_TRY(eh_compute_new(e->cp, e->ctx, "adversarial gradient", l->parameters->count, e->cp->op->real_size,
                          &a->grad_adv));
    return eh_compute_new(e->cp, e->ctx, "adversarial loss", 1, sizeof(eh_loss_value), &a->loss_adv);
}

/* Memory of the auxiliary head, for `rows` rows. */
static enhope_status create_head(eh_batch_loss *l, int64_t rows)
{
    const eh_embedder *e = l->embedder;
    eh_head *a = &l->head;
    const int64_t count = rows * eh_max(a->h, e->shape.h);
    if (!a->h) return ENHOPE_OK;
    EH_TRY(eh_compute_new(e->cp, e->ctx, "outputs of a head", count, e->cp->op->real_size, &a->Y));
    EH_TRY(eh_compute_new(e->cp, e->ctx, "gradient of a head", count, e->cp->op->real_size, &a->dY));
    return eh_compute_new(e->cp, e->ctx, "loss of a head", 1, sizeof(eh_loss_value), &a->loss);
}

/* Memory of a target that is computed from the inputs (pt-SNE): the probabilities of all pairs of a
 * batch, and a copy of its inputs unless X holds them as scalars without augmentation. */
static enhope_status create_target(eh_batch_loss *l)
{
    const eh_embedder *e = l->embedder;
    eh_input_target *t = &l->target;
    eh_consistency *own = &l->consistency;
    const int64_t n = l->batch_max, z = l->parameters->z;
    if (own->weight > 0) {
        EH_TRY(eh_compute_new(e->cp, e->ctx, "target of a batch", n * z, e->cp->op->real_size, &own->target_probs));
        return ENHOPE_OK;
    }
    if (!(t->perplexity > 0)) return ENHOPE_OK;
    EH_TRY(eh_compute_new(e->cp, e->ctx, "target of a batch", n * n, e->cp->op->real_size, &t->target_probs));
    l->objective.target_probs = t->target_probs;
    if (e->cp->packed_is_real && !e->sparse && !l->augmented) return ENHOPE_OK;
    return eh_compute_new(e->cp, e->ctx, "batch", n * e->ld, e->cp->op->real_size, &t->inputs);
}

enhope_status eh_batch_loss_create_exchange(eh_batch_loss *l)
{
    const eh_embedder *e = l->embedder;
    const eh_parameters *p = l->parameters;
    return eh_exchange_create(e->ctx, e->cp,
                              &(eh_exchange_sizes){.chunks = l->chunks,
                                                   .apart = e->sparse && p->z > 0,
                                                   .map_count = p->map_count,
                                                   .count = p->trained,
                                                   .rows = e->capacity + p->z,
                                                   .h = l->shape.h},
                              &l->exchange);
}

enhope_status eh_batch_loss_create(eh_batch_loss *l)
{
    const eh_embedder *e = l->embedder;
    const int64_t z = l->parameters->z, rows = e->capacity + z;
    l->shape = e->shape;
    l->shape.h += l->head.h;
    EH_TRY(eh_new(e->ctx, "chunks of a batch", l->chunks.count + 2, sizeof *l->own_start, (void **)&l->own_start));
    EH_TRY(eh_compute_new(e->cp, e->ctx, "gradient of the embedding", rows * l->shape.h, e->cp->op->real_size, &l->dY));
    EH_TRY(create_head(l, rows));
    EH_TRY(eh_batch_loss_create_exchange(l));
    EH_TRY(create_target(l));
    return create_adversarial(l, l->batch_max + z);
}

void eh_batch_loss_free(eh_batch_loss *l)
{
    if (!l->embedder) return;
    eh_compute *cp = l->embedder->cp;
    const eh_adversarial *a = &l->adversarial;
    void *const placed[] = {l->smooth_share, l->dY,       a->X_adv,         a->dX,
                            a->grad_adv,     a->loss_adv, l->target.inputs, l->target.target_probs,
                            l->head.Y,       l->head.dY,  l->head.loss,     l->consistency.target_probs};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) cp->op->release(cp, placed[i]);
    eh_exchange_free(l->exchange);
    eh_free(l->own_start);
    *l = (eh_batch_loss){0};
}

/* ---- the batch ---- */

/* Rows of the batch that this rank computes. */
static int64_t own_n(const eh_batch_loss *l)
{
    return l->batch.chunk_start[l->chunks.own_last] - l->batch.chunk_start[l->chunks.own_first];
}
/* Exemplars that this rank computes: all z on the rank with the last chunk, else 0. */
static int64_t own_z(const eh_batch_loss *l)
{
    return l->chunks.own_last == l->chunks.count && l->chunks.own_first < l->chunks.own_last ? l->parameters->z : 0;
}

/* The first row of each own chunk, relative to the first own row. Exemplars extend the last chunk;
 * if the batch is sparse they are a chunk of their own. */
static void cut_own(eh_batch_loss *l)
{
    const int64_t *start = l->batch.chunk_start + l->chunks.own_first, z = own_z(l);
    l->own_chunks = l->chunks.own_last - l->chunks.own_first;
    for (int64_t p = 0; p <= l->own_chunks; p++) l->own_start[p] = start[p] - start[0];
    if (l->embedder->sparse && z) l->own_start[++l->own_chunks] = own_n(l);
    l->own_start[l->own_chunks] += z;
}

/* Computes the target of the current batch from its inputs, not augmented. The bias column, 1 in
 * all rows, does not change distances. */
static void compute_target(eh_batch_loss *l)
{
    const eh_embedder *e = l->embedder;
    const eh_input_target *t = &l->target;
    if (t->inputs) e->cp->op->gather(e->cp, &e->table, l->batch.rows, l->batch.n, t->inputs, e->ld, NULL);
    e->cp->op->affinities(e->cp, l->batch.n, e->ld, t->inputs ? t->inputs : (const eh_real *)e->X, t->perplexity,
                          t->target_probs);
}

/* The rows of the embedding: the batch, then the exemplars. Dense batches are in X before the
 * exemplars; sparse batches are read from the table. */
static eh_rows own_rows(const eh_batch_loss *l, eh_packed *X)
{
    const eh_embedder *e = l->embedder;
    if (!e->sparse) return (eh_rows){.X = X, .ld = e->ld, .dense_n = own_n(l) + own_z(l)};
    return (eh_rows){.sparse = &e->table,
                     .sparse_rows = eh_row_at(l->batch.rows, l->batch.chunk_start[l->chunks.own_first]),
                     .sparse_n = own_n(l),
                     .X = X,
                     .ld = e->ld,
                     .dense_n = own_z(l)};
}

/* Embeds the own rows in X with the exemplars, and shares the embedding with the other ranks.
 * Returns the rows. */
static eh_rows embed_own_rows(eh_batch_loss *l, const eh_real *theta, eh_packed *X, bool keep)
{
    eh_embedder *e = l->embedder;
    const eh_parameters *p = l->parameters;
    eh_compute *cp = e->cp;
    const int64_t own_offset = l->batch.chunk_start[l->chunks.own_first] * l->shape.h;
    const eh_rows rows = own_rows(l, X);
    if (own_z(l))
        cp->op->append_bias(cp, p->z, p->H, eh_parameters_exemplars(p, p->learned ? theta : p->theta),
                            eh_packed_at(cp, X, (rows.dense_n - p->z) * e->ld), e->ld);
    if (l->own_chunks) e->map->forward(&l->shape, cp, theta, &rows, e->work, eh_at(cp, e->Y, own_offset), keep);
    if (l->exchange) eh_exchange_embedding(l->exchange, &l->batch, p->z, e->Y);
    return rows;
}

/* The neighbor problem of the outputs Y (n + compared points, h). */
static eh_pairs problem_of(const eh_batch_loss *l, const eh_batch *batch, int64_t h, const eh_real *Y)
{
    const eh_embedder *e = l->embedder;
    eh_pairs p = l->objective;
    p.n = batch->n;
    p.z = p.self ? batch->n : l->parameters->z;
    p.h = h;
    p.Y = Y;
    p.G = eh_at(e->cp, Y, p.self ? 0 : batch->n * h);
    p.label = batch->label;
    p.other_label = p.self ? batch->label : e->reference_label;
    p.weight = batch->weight;
    return p;
}

/* Computes the target of a batch with samples that have no label, from rows without noise. */
static void compute_own_targets(eh_batch_loss *l)
{
    eh_embedder *e = l->embedder;
    const eh_batch *batch = &l->batch;
    const int64_t h = e->shape.h;
    const eh_real *Y = e->Y;
    eh_embedder_gather(e, eh_row_at(batch->target_rows, batch->chunk_start[l->chunks.own_first]), own_n(l), NULL);
    embed_own_rows(l, l->parameters->theta, e->X, false);
    if (l->head.h) {
        e->cp->op->copy_rows(e->cp, batch->n + l->parameters->z, h, e->Y, l->shape.h, l->head.Y, h);
        Y = l->head.Y;
    }
    const eh_pairs p = problem_of(l, batch, h, Y);
    eh_neighbor_targets(&p, e->cp, l->consistency.weight, l->consistency.target_probs);
}

void eh_batch_loss_set_batch(eh_batch_loss *l, const eh_batch *batch)
{
    eh_embedder *e = l->embedder;
    l->batch = *batch;
    l->augment.pass = batch->pass;
    cut_own(l);
    if (batch->target_rows) compute_own_targets(l);
    /* all rows are needed if the target is computed from X */
    const bool all = l->target.target_probs && !l->target.inputs;
    const int64_t first = batch->chunk_start[l->chunks.own_first];
    l->own_first_row = all ? first : 0;
    if (!e->sparse)
        eh_embedder_gather(e, all ? batch->rows : eh_row_at(batch->rows, first), all ? batch->n : own_n(l),
                           l->augmented ? &l->augment : NULL);
    if (l->target.target_probs) compute_target(l);
}

/* ---- the loss ---- */

/* The neighbor objective of the outputs Y (n + compared points, h) and its gradient dY. */
static void neighbor_loss(const eh_batch_loss *l, const eh_batch *batch, int64_t h, const eh_real *Y, eh_loss *loss,
                          eh_real *dY)
{
    eh_pairs p = problem_of(l, batch, h, Y);
    if (batch->target_rows) p.target_probs = l->consistency.target_probs;
    eh_neighbor_loss(&p, l->embedder->cp, loss, dY, p.self ? NULL : eh_at(l->embedder->cp, dY, batch->n * h));
}

/* The objective of the outputs of the map and of those of the head, each alone. */
static void loss_with_head(const eh_batch_loss *l, const eh_batch *batch, eh_loss *loss)
{
    const eh_embedder *e = l->embedder;
    const eh_head *a = &l->head;
    eh_compute *cp = e->cp;
    const int64_t rows = batch->n + l->parameters->z, all = l->shape.h;
    for (int group = 0; group < 2; group++) {
        const int64_t h = group ? a->h : e->shape.h, at = group ? e->shape.h : 0;
        cp->op->copy_rows(cp, rows, h, eh_at(cp, e->Y, at), all, a->Y, h);
        if (group && a->off)
            cp->op->fill(cp, rows * h, 0, a->dY);
        else
            neighbor_loss(l, batch, h, a->Y, group ? a->loss : loss, a->dY);
        cp->op->copy_rows(cp, rows, h, a->dY, h, eh_at(cp, l->dY, at), all);
    }
}

void eh_batch_loss_objective(eh_batch_loss *l, const eh_batch *batch, eh_loss *loss)
{
    const eh_embedder *e = l->embedder;
    const int64_t h = e->shape.h;
    if (l->hinge.targets)
        eh_hinge_loss(&l->hinge, e->cp, batch->n / (1 + l->hinge.targets), h, e->Y, batch->label, loss, l->dY);
    else if (l->head.h)
        loss_with_head(l, batch, loss);
    else
        neighbor_loss(l, batch, h, e->Y, loss, l->dY);
}

/* A backward pass: where the gradients of the own chunks are stored, and for which inputs a
 * gradient is computed. */
typedef struct backward {
    eh_batch_loss *l;
    eh_map_chunks chunks;
    eh_real *dX; /* (own rows, H) the gradient of all own inputs; NULL: only of learned exemplars */
} backward;

/* Where the gradient of the exemplars is stored. */
static eh_real *exemplar_gradient(const backward *b)
{
    return eh_map_chunk_gradient(b->l->embedder->cp, &b->chunks, b->l->own_chunks - 1, b->l->parameters->map_count);
}

static void chunk_done(void *user, int64_t chunk)
{
    const backward *b = user;
    eh_batch_loss *l = b->l;
    const eh_parameters *p = l->parameters;
    eh_compute *cp = l->embedder->cp;
    if (b->dX && p->learned && own_z(l) && chunk == l->own_chunks - 1)
        cp->op->copy(cp, p->z * p->H, eh_at(cp, b->dX, own_n(l) * p->H), exemplar_gradient(b));
    if (l->exchange) eh_exchange_send(l->exchange, chunk);
}

/* The loss at theta, and its gradient, of the batch whose own rows are in X. dX: as in
 * `backward`. */
static void loss_of_rows(eh_batch_loss *l, const eh_real *theta, eh_packed *X, eh_real *gradient, eh_loss *loss,
                         eh_real *dX)
{
    eh_embedder *e = l->embedder;
    const eh_parameters *p = l->parameters;
    eh_compute *cp = e->cp;
    const eh_map *map = e->map;
    const int64_t own_offset = l->batch.chunk_start[l->chunks.own_first] * l->shape.h, z = p->learned ? own_z(l) : 0;
    const eh_rows rows = embed_own_rows(l, theta, X, true);
    backward b = {.l = l, .dX = dX};
    b.chunks = (eh_map_chunks){
        .count = l->own_chunks, .start = l->own_start, .dtheta = gradient, .done = chunk_done, .user = &b};
    eh_batch_loss_objective(l, &l->batch, loss);
    if (l->exchange) b.chunks.dtheta = eh_exchange_begin(l->exchange, &b.chunks.apart);
    if (l->own_chunks)
        map->backward(&l->shape, cp, theta, &rows, e->work, eh_at(cp, l->dY, own_offset), &b.chunks,
                      dX ? own_n(l) + own_z(l) : z,
                      dX  ? dX
                      : z ? exemplar_gradient(&b)
                          : NULL);
    if (l->exchange) eh_exchange_end(l->exchange, gradient);
}

/* The mean of the loss at X and of the loss at X_adv, which is X moved one step along the sign of
 * the gradient of the loss with respect to X (docs/explanation/method.md). The first backward pass
 * computes that gradient. The direction of the step counts as a constant. Inputs are dense. */
static void adversarial_loss(eh_batch_loss *l, const eh_real *theta, eh_packed *X, eh_real *gradient, eh_loss *loss)
{
    const eh_embedder *e = l->embedder;
    const eh_adversarial *a = &l->adversarial;
    loss_of_rows(l, theta, X, gradient, loss, a->dX);
    e->cp->op->adversarial_step(e->cp, own_n(l), e->shape.H, a->step, X, e->ld, a->dX, a->X_adv);
    loss_of_rows(l, theta, a->X_adv, a->grad_adv, a->loss_adv, NULL);
    e->cp->op->average(e->cp, l->parameters->trained, a->grad_adv, a->loss_adv, gradient, loss);
}

void eh_batch_loss_at(eh_batch_loss *l, const eh_real *theta, eh_real *gradient, eh_loss *loss)
{
    const eh_parameters *p = l->parameters;
    eh_compute *cp = l->embedder->cp;
    eh_packed *X = eh_packed_at(cp, l->embedder->X, l->own_first_row * l->embedder->ld);
    if (l->adversarial.X_adv)
        adversarial_loss(l, theta, X, gradient, loss);
    else
        loss_of_rows(l, theta, X, gradient, loss, NULL);
    if (p->mask) cp->op->multiply(cp, p->trained, p->mask, gradient);
}
