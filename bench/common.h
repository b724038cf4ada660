/* Shared by the benchmarks: clock, error handling, settings and operation counts. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "enhope_advanced.h"

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void must(const enhope_context *ctx, enhope_status status)
{
    if (!status || status == ENHOPE_STOPPED) return;
    fprintf(stderr, "bench: %s\n", enhope_error(ctx));
    exit(1);
}

/* The recipe paper with the settings of `pairs` (name, value, ..., NULL) changed. */
static inline enhope_settings *settings_of(enhope_context *ctx, const char *const *pairs)
{
    enhope_settings *s = enhope_settings_create();
    must(ctx, enhope_settings_set(ctx, s, "recipe", "paper"));
    for (; *pairs; pairs += 2) must(ctx, enhope_settings_set(ctx, s, pairs[0], pairs[1]));
    return s;
}

/* Floating-point operations of a forward pass of the hope map over `rows` rows, and of a forward
 * and backward pass over a batch and z learned exemplars. */
static inline double forward_flops(double rows, double H, double F, double m, double h)
{
    return rows * 2 * ((H + 1) * F + F * m + m * h);
}

static inline double step_flops(double rows, double z, double H, double F, double m, double h)
{
    return forward_flops(rows + z, H, F, m, h) + (rows + z) * 2 * ((H + 1) * F + 2 * F * m + 2 * m * h) + z * 2 * H * F;
}

#endif
