/* What the backends that compute in the host's memory share, beyond compute.h: host.c. */
#ifndef EH_HOST_H
#define EH_HOST_H

#include "compute/compute.h"

/* The opaque types, opened. */
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
/* operands are numbers here */
static inline eh_real *eh_host_reals(const eh_packed *v)
{
    return (eh_real *)(uintptr_t)v;
}
static inline eh_packed *eh_host_packed(const eh_real *v)
{
    return (eh_packed *)(uintptr_t)v;
}

/* *loss becomes the mean of both values; nonfinite where one of them is. */
static inline void eh_host_average_loss(const eh_loss *other, eh_loss *loss)
{
    eh_loss_value *v = eh_host_value(loss);
    v->value = (eh_host_value(other)->value + v->value) / 2;
    if (eh_host_value(other)->nonfinite != 0) v->nonfinite = 1;
}

/* bytes as they are */
void eh_host_copy(eh_compute *c, void *to, const void *from, size_t bytes);

#endif
