/* The loss of a batch and its gradient: rows are gathered and scaled, batch and exemplars mapped in one go, the objective asked
 * for the loss and its gradient in the embedding, and that carried back through the map. */
#include "train/trainer.h"

void eh_train_lay_exemplars(const enhope_trainer *t, const eh_real *E, eh_operand *X, int64_t first)
{
    if (t->z)
        t->c->op->close_rows(t->c, t->z, t->embedder.shape.H, E, eh_operand_at(t->c, X, first * t->embedder.ld),
                             t->embedder.ld);
}

/* Rows of the batch that are computed here, and exemplars. */
static int64_t own_n(const enhope_trainer *t)
{
    return t->part_start[t->own_last] - t->part_start[t->own_first];
}
static int64_t own_z(const enhope_trainer *t)
{
    return t->own_last == t->parts && t->own_first < t->own_last ? t->z : 0;
}

/* The embedding's rows are the batch's, then the exemplars'. Dense batches lie in X before the exemplars; sparse ones
 * stay where they are. */
static eh_rows own_rows(const enhope_trainer *t, eh_operand *X)
{
    eh_rows rows = {.X = X, .ld = t->embedder.ld, .dense_n = own_n(t) + own_z(t)};
    if (t->embedder.sparse) {
        rows.sparse = &t->embedder.table;
        rows.sparse_rows = eh_row_at(t->batch_rows, t->part_start[t->own_first]);
        rows.sparse_n = own_n(t);
        rows.dense_n = own_z(t);
    }
    return rows;
}

void eh_train_neighbour_loss(enhope_trainer *t, int64_t n, const eh_label *label, eh_scalar *loss)
{
    eh_pairs p = t->objective;
    const int64_t at = p.self ? 0 : n * t->embedder.shape.h; /* of the compared points in Y */
    p.n = n;
    p.z = p.self ? n : t->z;
    p.h = t->embedder.shape.h;
    p.Y = t->embedder.Y;
    p.G = eh_at(t->c, t->embedder.Y, at);
    p.label = label;
    p.other_label = p.self ? label : t->embedder.reference_label;
    eh_neighbour_loss(&p, t->c, loss, t->dY, p.self ? NULL : eh_at(t->c, t->dY, at));
}

/* The objective of the batch, all of which is embedded in Y. */
static void objective(enhope_trainer *t, eh_scalar *loss)
{
    eh_compute *c = t->c;
    const int64_t n = t->batch_n, h = t->embedder.shape.h;
    if (t->method->hinge)
        eh_hinge_loss(&t->hinge, c, n / (1 + t->hinge.targets), h, t->embedder.Y, t->batch_label, loss, t->dY);
    else
        eh_train_neighbour_loss(t, n, t->batch_label, loss);
}

/* A walk back: where its pieces' gradients are made, and of which inputs. */
typedef struct walk {
    enhope_trainer *t;
    eh_parts parts;
    eh_real *dX; /* (own rows, H) of all that are computed here; NULL: of learned exemplars alone, in their place */
} walk;

/* Where the gradient of the exemplars belongs. */
static eh_real *exemplar_gradient(const walk *w)
{
    return eh_part_gradient(w->t->c, &w->parts, w->t->pieces - 1, w->t->P);
}

static void piece_done(void *user, int64_t piece)
{
    const walk *w = user;
    enhope_trainer *t = w->t;
    const int64_t H = t->embedder.shape.H;
    if (w->dX && t->learned && own_z(t) && piece == t->pieces - 1)
        t->c->op->copy(t->c, t->z * H, eh_at(t->c, w->dX, own_n(t) * H), exemplar_gradient(w));
    if (t->exchange) eh_train_send_piece(t, piece);
}

/* The loss of a batch whose own rows lie in X, at parameters x, and its gradient; dX as a walk's. */
static void loss_in(enhope_trainer *t, const eh_real *x, eh_operand *X, eh_real *gradient, eh_scalar *loss, eh_real *dX)
{
    eh_compute *c = t->c;
    const eh_map *map = t->method->map;
    const int64_t own = t->part_start[t->own_first] * t->embedder.shape.h, z = t->learned ? own_z(t) : 0;
    const eh_rows rows = own_rows(t, X);
    walk w = {.t = t, .dX = dX};
    w.parts = (eh_parts){.count = t->pieces, .start = t->piece, .dtheta = gradient, .done = piece_done, .user = &w};
    if (own_z(t)) eh_train_lay_exemplars(t, eh_at(c, t->learned ? x : t->theta, t->P), X, rows.dense_n - t->z);
    if (t->pieces) map->forward(&t->embedder.shape, c, x, &rows, t->embedder.work, eh_at(c, t->embedder.Y, own), true);
    eh_train_gather_embedding(t);
    objective(t, loss);
    if (t->exchange) w.parts.dtheta = eh_train_begin_exchange(t, &w.parts.apart);
    if (t->pieces)
        map->backward(&t->embedder.shape, c, x, &rows, t->embedder.work, eh_at(c, t->dY, own), &w.parts,
                      dX ? own_n(t) + own_z(t) : z,
                      dX  ? dX
                      : z ? exemplar_gradient(&w)
                          : NULL);
    if (t->exchange) eh_train_end_exchange(t, gradient);
}

/* One adversarial step (docs/explanation/method.md): the mean of the loss in X and of the loss a step up its gradient from there, which
 * the first walk back leaves along with the gradient of the exemplars. The step's direction counts as a constant. */
static void loss_with_climb(enhope_trainer *t, const eh_real *x, eh_operand *X, eh_real *gradient, eh_scalar *loss)
{
    eh_compute *c = t->c;
    loss_in(t, x, X, gradient, loss, t->dX);
    c->op->climb(c, own_n(t), t->embedder.shape.H, t->set.adversary, X, t->embedder.ld, t->dX, t->climbed);
    loss_in(t, x, t->climbed, t->climbed_grad, t->climbed_loss, NULL);
    c->op->mean(c, t->optim->count, t->climbed_grad, t->climbed_loss, gradient, loss);
}

/* The loss of the present batch at parameters x, and its gradient. */
void eh_train_loss(void *user, const eh_real *x, eh_real *gradient, eh_scalar *loss)
{
    enhope_trainer *t = user;
    eh_operand *X = eh_operand_at(t->c, t->embedder.X, t->own_at * t->embedder.ld);
    if (t->climbed)
        loss_with_climb(t, x, X, gradient, loss);
    else
        loss_in(t, x, X, gradient, loss, NULL);
}

/* The target of the present batch. */
static void take_affinities(enhope_trainer *t)
{
    eh_compute *c = t->c;
    if (t->inputs) c->op->gather(c, &t->embedder.table, t->batch_rows, t->batch_n, t->inputs, t->embedder.ld, NULL);
    /* what closes the rows is the same in all of them and adds no distance */
    c->op->affinities(c, t->batch_n, t->embedder.ld, t->inputs ? t->inputs : (const eh_real *)t->embedder.X,
                      t->set.perplexity, t->affinities);
}

/* Where the pieces of this process begin, from its first row on. */
static void cut_own(enhope_trainer *t)
{
    const int64_t parts = t->own_last - t->own_first, z = own_z(t);
    for (int64_t p = 0; p <= parts; p++) t->piece[p] = t->part_start[t->own_first + p] - t->part_start[t->own_first];
    t->pieces = parts;
    if (t->embedder.sparse && z) t->piece[++t->pieces] = own_n(t);
    t->piece[t->pieces] += z;
}

void eh_train_take(enhope_trainer *t, const eh_row *rows, const eh_label *label, int64_t n, const eh_disturb *with)
{
    t->batch_n = n;
    t->batch_rows = rows;
    t->batch_label = label;
    cut_own(t);
    const bool whole = t->affinities && !t->inputs; /* P is of all rows */
    const int64_t first = t->part_start[t->own_first];
    t->own_at = whole ? first : 0;
    if (!t->embedder.sparse)
        t->c->op->gather_operands(t->c, &t->embedder.table, whole ? rows : eh_row_at(rows, first), whole ? n : own_n(t),
                                  t->embedder.X, t->embedder.ld, NULL, with);
    if (t->affinities) take_affinities(t);
}
