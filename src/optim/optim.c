/* Workspace of an optimizer, allocated once. */
#include "optim/optim.h"

enhope_status eh_optim_create(enhope_context *ctx, eh_compute *c, const eh_optim_type *type,
                              const eh_optim_settings *settings, int64_t count, eh_optim **out)
{
    enhope_status status;
    eh_optim *o = NULL;
    int64_t numbers, scalars;
    const int64_t vectors = type->vectors(settings), memory = settings->memory > 0 ? settings->memory : 0;
    if (!eh_mul(vectors, count, &numbers) || !eh_mul(2, memory, &scalars))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "solver %s: %lld vectors of %lld numbers: expected a product below 2^63", type->name,
                       (long long)vectors, (long long)count);
    EH_CHECK(eh_new(ctx, "solver", 1, sizeof *o, (void **)&o));
    o->type = type;
    o->set = *settings;
    o->c = c;
    o->count = count;
    EH_CHECK(eh_new(ctx, "solver factors", scalars, sizeof *o->scalars, (void **)&o->scalars));
    EH_CHECK(eh_compute_new(c, ctx, "solver value", 1, sizeof(eh_loss_value), &o->value));
    EH_CHECK(eh_compute_new(c, ctx, "solver vectors", numbers, c->op->real_size, &o->work));
    *out = o;
    return ENHOPE_OK;
cleanup:
    eh_optim_free(o);
    return status;
}

void eh_optim_free(eh_optim *o)
{
    if (!o) return;
    if (o->value) o->c->op->release(o->c, o->value);
    if (o->work) o->c->op->release(o->c, o->work);
    eh_free(o->scalars);
    eh_free(o);
}
