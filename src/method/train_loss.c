/* The loss of a batch and its gradient: rows are gathered and scaled, batch and exemplars mapped in one go, the objective asked
 * for the loss and its gradient in the embedding, and that carried back through the map. */
#include "method/train.h"

/* The embedding's rows are the batch's, then the exemplars'. Dense batches lie in X before the exemplars; sparse ones
 * stay where they are. */
eh_rows eh_train_batch(const enhope_trainer *t, int64_t z)
{
    eh_rows rows = {.X = t->X, .ld = t->ld, .dense_n = t->batch_n + z};
    if (t->sparse) {
        rows.sparse = &t->table;
        rows.sparse_rows = t->batch_rows;
        rows.sparse_n = t->batch_n;
        rows.dense_n = z;
    }
    return rows;
}

void eh_train_lay_exemplars(const enhope_trainer *t, const eh_real *E, eh_operand *X, int64_t first)
{
    if (t->z) t->c->op->close_rows(t->c, t->z, t->shape.H, E, eh_operand_at(t->c, X, first * t->ld), t->ld);
}

/* The loss of a batch that lies in X, at parameters x, and its gradient; dX (dx_n, H) as the map's. */
static void loss_in(enhope_trainer *t, const eh_real *x, eh_operand *X, eh_real *gradient, eh_scalar *loss,
                    int64_t dx_n, eh_real *dX)
{
    eh_compute *c = t->c;
    const eh_map *map = t->method->map;
    const int64_t n = t->batch_n, z = t->z, h = t->shape.h;
    eh_rows rows = eh_train_batch(t, z);
    rows.X = X;
    eh_train_lay_exemplars(t, eh_at(c, t->learned ? x : t->theta, t->P), X, rows.dense_n - z);
    map->forward(&t->shape, c, x, &rows, t->work, t->Y, true);
    if (t->method->hinge)
        eh_hinge_loss(&t->hinge, c, n / (1 + t->hinge.targets), h, t->Y, t->batch_label, loss, t->dY);
    else if (t->objective.self)
        eh_neighbour_loss(&t->objective, c, n, n, h, t->Y, t->batch_label, t->Y, t->batch_label, loss, t->dY, NULL);
    else
        eh_neighbour_loss(&t->objective, c, n, z, h, t->Y, t->batch_label, eh_at(c, t->Y, n * h), t->exemplar_class,
                          loss, t->dY, eh_at(c, t->dY, n * h));
    map->backward(&t->shape, c, x, &rows, t->work, t->dY, gradient, dx_n, dX);
}

/* One adversarial step (docs/method.md): the mean of the loss in X and of the loss a step up its gradient from there, which
 * the first walk back leaves along with the gradient of the exemplars. The step's direction counts as a constant. */
static void loss_with_climb(enhope_trainer *t, const eh_real *x, eh_real *gradient, eh_scalar *loss)
{
    eh_compute *c = t->c;
    const int64_t n = t->batch_n, H = t->shape.H, learned = t->learned ? t->z : 0;
    loss_in(t, x, t->X, gradient, loss, n + t->z, t->dX);
    c->op->copy(c, learned * H, eh_at(c, t->dX, n * H), eh_at(c, gradient, t->P));
    c->op->climb(c, n, H, t->set.adversary, t->set.norm == EH_NORM_L2, t->X, t->ld, t->dX, t->climbed);
    loss_in(t, x, t->climbed, t->climbed_grad, t->climbed_loss, learned, eh_at(c, t->climbed_grad, t->P));
    c->op->mean(c, t->optim->count, t->climbed_grad, t->climbed_loss, gradient, loss);
}

/* The loss of the present batch at parameters x, and its gradient. */
void eh_train_loss(void *user, const eh_real *x, eh_real *gradient, eh_scalar *loss)
{
    enhope_trainer *t = user;
    if (t->climbed)
        loss_with_climb(t, x, gradient, loss);
    else
        loss_in(t, x, t->X, gradient, loss, t->learned ? t->z : 0, t->learned ? eh_at(t->c, gradient, t->P) : NULL);
}

/* The target of the present batch. */
static void take_affinities(enhope_trainer *t)
{
    eh_compute *c = t->c;
    if (t->inputs) c->op->gather(c, &t->table, t->batch_rows, t->batch_n, t->inputs, t->ld, NULL);
    /* what closes the rows is the same in all of them and adds no distance */
    c->op->affinities(c, t->batch_n, t->ld, t->inputs ? t->inputs : (const eh_real *)t->X, t->set.perplexity,
                      t->affinities);
}

/* These rows become the batch, disturbed unless `with` is NULL; label may be NULL where no loss will be asked for. */
void eh_train_take(enhope_trainer *t, const eh_row *rows, const eh_label *label, int64_t n, const eh_disturb *with)
{
    t->batch_n = n;
    t->batch_rows = rows;
    t->batch_label = label;
    if (!t->sparse) t->c->op->gather_operands(t->c, &t->table, rows, n, t->X, t->ld, NULL, with);
    if (t->affinities && label) take_affinities(t);
    if (t->soft && label) eh_train_soft_take(t);
}
