/* The parameters of training, on the backend. */
#include "train/parameters.h"

enhope_status eh_parameters_create(enhope_context *ctx, eh_compute *cp, int64_t map_count, int64_t z, int64_t H,
                                   bool learned, bool before, eh_parameters *out)
{
    const int64_t count = map_count + z * H;
    *out = (eh_parameters){.cp = cp,
                           .map_count = map_count,
                           .z = z,
                           .H = H,
                           .learned = learned,
                           .count = count,
                           .trained = learned ? count : map_count};
    EH_TRY(eh_compute_new(cp, ctx, "parameters", count, cp->op->real_size, &out->theta));
    EH_TRY(eh_compute_new(cp, ctx, "parameters", count, cp->op->real_size, &out->best));
    if (before) EH_TRY(eh_compute_new(cp, ctx, "parameters", count, cp->op->real_size, &out->before));
    return eh_new(ctx, "labels", z, sizeof *out->exemplar_label, (void **)&out->exemplar_label);
}

void eh_parameters_free(eh_parameters *p)
{
    void *const placed[] = {p->theta, p->best, p->before, p->mask};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) p->cp->op->release(p->cp, placed[i]);
    eh_free(p->exemplar_label);
    *p = (eh_parameters){0};
}
