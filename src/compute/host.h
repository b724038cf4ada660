/* Functions shared by the backends in host memory (host.c). */
#ifndef EH_HOST_H
#define EH_HOST_H

#include "compute/compute.h"

/* Casts from the opaque types to the types behind them. */
static inline int32_t *eh_host_labels(const eh_label *v)
{
    return (int32_t *)(uintptr_t)v;
}
static inline int64_t *eh_host_rows(const eh_row *v)
{
    return (int64_t *)(uintptr_t)v;
}
static inline eh_loss_value *eh_host_value(const eh_loss *v)
{
    return (eh_loss_value *)(uintptr_t)v;
}
/* Packed elements are scalars in host memory. */
static inline eh_real *eh_host_reals(const eh_packed *v)
{
    return (eh_real *)(uintptr_t)v;
}
static inline eh_packed *eh_host_packed(const eh_real *v)
{
    return (eh_packed *)(uintptr_t)v;
}

/* Sets *loss to the mean of both losses. The result is nonfinite if either loss is. */
static inline void eh_host_average_loss(const eh_loss *other, eh_loss *loss)
{
    eh_loss_value *v = eh_host_value(loss);
    v->value = (eh_host_value(other)->value + v->value) / 2;
    if (eh_host_value(other)->nonfinite != 0) v->nonfinite = 1;
}

/* Copies bytes unchanged. */
void eh_host_copy(eh_compute *c, void *to, const void *from, size_t bytes);

#endif
