/* A context and the reference backend for the tests of one program. */
#ifndef REF_SUPPORT_H
#define REF_SUPPORT_H

#include "compute/compute.h"

static enhope_context *ctx;
static eh_compute *ref;

static int open_ref(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return enhope_context_set_device(ctx, "ref") || eh_compute_open(ctx, false, &ref);
}

static int close_ref(void **state)
{
    (void)state;
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return 0;
}

#endif
