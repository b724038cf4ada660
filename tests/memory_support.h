/* An allocator that fails on request and counts live blocks. */
#ifndef MEMORY_SUPPORT_H
#define MEMORY_SUPPORT_H

#include <stdlib.h>

static long allocations_left, alive;

static void *counting_malloc(size_t bytes)
{
    if (allocations_left-- <= 0) return NULL;
    alive++;
    return malloc(bytes);
}

static void counting_free(void *block)
{
    alive--;
    free(block);
}

#endif
