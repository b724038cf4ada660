/* What the backends that compute in the host's memory share, beyond compute.h: host.c. */
#ifndef EH_HOST_H
#define EH_HOST_H

#include "compute/compute.h"
#include "compute/pair_weights.h"

/* The opaque types, opened. */
static inline int32_t *eh_host_labels(const eh_label *v)
{
    return (int32_t *)(uintptr_t)v;
}
static inline int64_t *eh_host_rows(const eh_row *v)
{
    return (int64_t *)(uintptr_t)v;
}
static inline eh_value *eh_host_value(const eh_scalar *v)
{
    return (eh_value *)(uintptr_t)v;
}
/* operands are numbers here */
static inline eh_real *eh_host_numbers(const eh_operand *v)
{
    return (eh_real *)(uintptr_t)v;
}
static inline eh_operand *eh_host_operands(const eh_real *v)
{
    return (eh_operand *)(uintptr_t)v;
}

/* *loss becomes the mean of both values; nonfinite where one of them is. */
static inline void eh_host_mean(const eh_scalar *other, eh_scalar *loss)
{
    eh_value *v = eh_host_value(loss);
    v->value = (eh_host_value(other)->value + v->value) / 2;
    if (eh_host_value(other)->nonfinite != 0) v->nonfinite = 1;
}

/* bytes as they are */
void eh_host_copy(eh_compute *c, void *to, const void *from, size_t bytes);

/* From the sums of each sample (n) to its weights attract, repel, spread (n), and the loss. False: no sample has a target;
 * then the loss is 0, and so are all gradients. */
bool eh_host_pair_weights(const eh_pairs *p, const eh_pair_sums *sums, double *attract, double *repel, double *spread,
                          double *loss);

#endif
