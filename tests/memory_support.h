/* An allocator that fails on request and counts live blocks, and a test that fails each allocation
 * of a call in turn. */
#ifndef MEMORY_SUPPORT_H
#define MEMORY_SUPPORT_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "enhope_advanced.h"

static atomic_long allocations_left; /* until one fails */
static atomic_long alive;            /* blocks */
static bool fails_once;              /* only that one; else also those after it */

static void *counting_malloc(size_t bytes)
{
    const long left = atomic_fetch_sub(&allocations_left, 1);
    if (fails_once ? left == 0 : left <= 0) return NULL;
    atomic_fetch_add(&alive, 1);
    return malloc(bytes);
}

static void counting_free(void *block)
{
    atomic_fetch_sub(&alive, 1);
    free(block);
}

/* Makes calls and frees all that they create. */
typedef enhope_status (*fallible)(void *user);

/* One run with this allocation failing. Returns whether the call made so many allocations. */
static inline bool fail_allocation(enhope_context *ctx, fallible call, void *user, long k, enhope_status *status)
{
    allocations_left = k;
    alive = 0;
    enhope_set_allocator(counting_malloc, counting_free);
    *status = call(user);
    enhope_set_allocator(NULL, NULL);
    const bool reached = allocations_left < 0;
    assert_int_equal(alive, 0); /* nothing leaks */
    if (*status && (*status != ENHOPE_ERROR_MEMORY || !strstr(enhope_error(ctx), "out of memory")))
        fail_msg("allocation %ld: status %d: %s", k, (int)*status, enhope_error(ctx));
    return reached;
}

/* Fails allocation 0, 1, ... of a call until it succeeds: first with all allocations after it, then
 * alone, which a call may survive. step 1: every one; larger: every step-th. The environment
 * variable ENHOPE_FAULTS is "all" for every one, or how many times as many. Returns the number of
 * allocations. */
static inline long fail_allocations(enhope_context *ctx, fallible call, void *user, long step)
{
    long count = 0, tried = 0;
    enhope_status status;
    const char *faults = getenv("ENHOPE_FAULTS");
    const long times = faults ? atol(faults) : 1;
    if (faults) step = times > 0 && times < step ? step / times : 1;
    for (int once = 0; once < 2; once++) {
        fails_once = once;
        for (count = 0; fail_allocation(ctx, call, user, count, &status); count += step) tried++;
        assert_int_equal(status, ENHOPE_OK);
    }
    fails_once = false;
    print_message("%ld allocations failed\n", tried);
    return count;
}

/* A training, as a call for fail_allocations. */
typedef struct training {
    enhope_context *ctx;
    const enhope_dataset *data;
    const enhope_settings *settings;
} training;

static inline enhope_status train_once(void *user)
{
    const training *t = user;
    enhope_model *model = NULL;
    const enhope_status status = enhope_train(t->ctx, t->data, t->settings, NULL, NULL, &model);
    enhope_model_free(model);
    return status;
}

#endif
