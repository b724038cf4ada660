/* The weights of a trainer on the host. */
#include "train/compress/weights.h"

enhope_status eh_weights_create(enhope_trainer *t, eh_weights *out)
{
    const eh_map_shape *s = &t->embedder.shape;
    eh_parameters *p = &t->parameters;
    *out = (eh_weights){
        .t = t, .matrix = {{s->H, s->F, 0}, {s->F, s->m, (s->H + 1) * s->F}}, .count = s->H * s->F + s->F * s->m};
    EH_TRY(eh_new(t->ctx, "parameters", p->count, sizeof *out->theta, (void **)&out->theta));
    EH_TRY(eh_new(t->ctx, "parameters", p->trained, sizeof *out->square, (void **)&out->square));
    EH_TRY(eh_new(t->ctx, "parameters", p->trained, sizeof *out->mask, (void **)&out->mask));
    for (int64_t i = 0; i < p->trained; i++) out->mask[i] = 1;
    return eh_compute_new(t->cp, t->ctx, "parameters", p->trained, t->cp->op->real_size, &p->mask);
}

void eh_weights_free(eh_weights *w)
{
    eh_free(w->theta);
    eh_free(w->square);
    eh_free(w->mask);
    *w = (eh_weights){0};
}

enhope_status eh_weights_pull(eh_weights *w)
{
    enhope_trainer *t = w->t;
    eh_compute *cp = t->cp;
    const eh_parameters *p = &t->parameters;
    eh_compute_begin(cp);
    cp->op->read(cp, w->theta, p->theta, p->count);
    cp->op->read(cp, w->square, eh_optim_vector(t->optim, t->optim->type->first_kept + 1), p->trained);
    const enhope_status status = cp->op->sync(cp, t->ctx);
    eh_compute_end(cp);
    return status;
}

enhope_status eh_weights_push(eh_weights *w)
{
    enhope_trainer *t = w->t;
    eh_compute *cp = t->cp;
    const eh_parameters *p = &t->parameters;
    eh_compute_begin(cp);
    cp->op->write(cp, p->theta, w->theta, p->count);
    cp->op->write(cp, p->mask, w->mask, p->trained);
    for (int64_t i = 0; i < t->optim->type->kept; i++)
        cp->op->multiply(cp, p->trained, p->mask, eh_optim_vector(t->optim, t->optim->type->first_kept + i));
    const enhope_status status = cp->op->sync(cp, t->ctx);
    eh_compute_end(cp);
    return status;
}
