/* Internal header of the reference backend: eh_real and eh_packed are double. */
#ifndef EH_REF_H
#define EH_REF_H

#include "compute/host.h"

/* warp.c: warps the image in row `row` of the table, scales it and stores it in to (H). */
void eh_ref_warp(const eh_augment *with, const eh_table *t, int64_t row, double *to);
/* ref.c: normal number i of a block of words. */
double eh_ref_normal(const uint32_t word[4], int64_t i);

#endif
