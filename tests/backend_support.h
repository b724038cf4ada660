/* Compares a backend with the reference, operation by operation, on irregular shapes, and checks
 * that results repeat bit for bit: on the cpu with another number of threads, on cuda in another
 * run. Tests run on cuda, if there is a device, in each of its precisions, then on the cpu. */
#ifndef BACKEND_SUPPORT_H
#define BACKEND_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compute/compute.h"

static enhope_context *ctx;
static eh_compute *cpu, *ref, *one; /* the backend under test, the reference, the backend with a single thread */
static double tolerance;            /* of products of packed matrices, relative to the largest entry */
static const double EXACT = 1e-5;   /* of all other operations */

/* The same array on every backend, with elements of any type. */
typedef struct twin {
    void *cpu, *ref, *one;
    int64_t count;
    int64_t packed; /* width of packed rows; 0: scalars */
} twin;

/* Runs one call on all three backends: c is the backend, T(x) its copy of a twin. */
#define ON_EACH(call)                                                  \
    do {                                                               \
        for (int which = 0; which < 3; which++) {                      \
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one; \
            (call);                                                    \
        }                                                              \
    } while (0)
#define T(x) (which == 0 ? (x).cpu : which == 1 ? (x).ref : (x).one)

/* Allocates count elements on each backend; the sizes of an element may differ. */
static inline twin allocate(int64_t count, size_t size_cpu, size_t size_ref)
{
    return (twin){cpu->op->alloc(cpu, (size_t)count * size_cpu), ref->op->alloc(ref, (size_t)count * size_ref),
                  one->op->alloc(one, (size_t)count * size_cpu), count, false};
}

static inline twin from_host(const float *host, int64_t count)
{
    const twin t = allocate(count, cpu->op->real_size, ref->op->real_size);
    ON_EACH(c->op->write(c, T(t), host, count));
    return t;
}

/* The first normal numbers of a stream, computed once, because the same few streams are used
 * thousands of times. */
static inline const double *normals(uint32_t stream, int64_t count)
{
    static struct {
        double *value;
        int64_t count;
    } drawn[256];
    if (stream >= 256) fail_msg("stream %u", stream);
    if (count > drawn[stream].count) {
        drawn[stream].value = realloc(drawn[stream].value, (size_t)count * sizeof(double));
        assert_non_null(drawn[stream].value);
        for (int64_t i = drawn[stream].count; i < count; i++)
            drawn[stream].value[i] = eh_random_normal(2, stream, (uint64_t)i);
        drawn[stream].count = count;
    }
    return drawn[stream].value;
}

/* Irregular values. */
static inline twin make(int64_t count, uint32_t stream, double scale)
{
    float *host = malloc((size_t)(count + 1) * sizeof *host);
    const double *normal = normals(stream, count);
    for (int64_t i = 0; i < count; i++) host[i] = (float)(scale * normal[i]);
    const twin t = from_host(host, count);
    free(host);
    return t;
}

static inline void drop(twin t)
{
    ON_EACH(c->op->release(c, T(t)));
}

/* Packs rows of `wide` entries. */
static inline twin as_packed(twin reals, int64_t wide)
{
    twin t = allocate(reals.count, cpu->packed_size, ref->packed_size);
    t.packed = wide;
    ON_EACH(c->op->pack(c, t.count / wide, wide, T(reals), T(t)));
    return t;
}

static inline twin make_packed(int64_t rows, int64_t wide, uint32_t stream, double scale)
{
    const twin reals = make(rows * wide, stream, scale), t = as_packed(reals, wide);
    drop(reals);
    return t;
}

/* An array with equal bytes on all backends. */
static inline twin sent(const void *host, int64_t count, size_t size)
{
    const twin t = allocate(count, size, size);
    ON_EACH(c->op->send(c, T(t), host, (size_t)count * size));
    return t;
}

static inline float from_bfloat16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* wide: width of packed rows, which cuda stores as bfloat16 parts; 0: scalars. */
static inline float *on_host(eh_compute *c, const void *v, int64_t count, int64_t wide)
{
    float *host = calloc((size_t)(count + 1), sizeof *host);
    if (!wide || c->packed_is_real) {
        c->op->read(c, host, v, count);
        return host;
    }
    const int64_t parts = (int64_t)(c->packed_size / sizeof(uint16_t));
    uint16_t *half = malloc((size_t)(count * parts + 1) * sizeof *half);
    c->op->fetch(c, half, v, (size_t)(count * parts) * sizeof *half);
    for (int64_t i = 0; i < count; i++)
        for (int64_t part = parts - 1; part >= 0; part--)
            host[i] += from_bfloat16(half[(i / wide * parts + part) * wide + i % wide]);
    free(half);
    return host;
}

/* Every entry is within `part` times the largest. */
static inline void close_within(twin t, double part)
{
    float *mine = on_host(cpu, t.cpu, t.count, t.packed);
    double largest = 1e-30, worst = 0;
    for (int64_t i = 0; i < t.count; i++) {
        const double want = ((double *)t.ref)[i], got = mine[i];
        largest = fmax(largest, fabs(want));
        worst = want == got ? worst : !(fabs(want - got) <= worst) ? fabs(want - got) : worst;
    }
    free(mine);
    if (!(worst <= part * largest)) fail_msg("%g of %g", worst, largest);
}

/* Packed matrices have their own rounding. */
static inline void close_enough(twin t)
{
    close_within(t, t.packed && tolerance > EXACT ? tolerance : EXACT);
}

static inline void same_bits(twin t)
{
    float *a = on_host(cpu, t.cpu, t.count, t.packed), *b = on_host(one, t.one, t.count, t.packed);
    assert_memory_equal(a, b, (size_t)t.count * sizeof *a);
    free(a), free(b);
}

static inline void check_close(twin t, double part)
{
    close_within(t, part);
    same_bits(t);
}

/* An array of int32 or int64 from a backend. The caller frees it. */
static inline void *fetched(eh_compute *c, const void *from, int64_t count, size_t size)
{
    void *host = malloc((size_t)(count + 1) * size);
    c->op->fetch(c, host, from, (size_t)count * size);
    return host;
}

static inline eh_loss_value value_of(eh_compute *c, const void *scalar)
{
    eh_loss_value v;
    c->op->fetch(c, &v, scalar, sizeof v);
    return v;
}

/* Opens the backend under test twice and runs the group of tests on it. */
static inline int run_on(const char *device, const char *precision, double product_tolerance,
                         const struct CMUnitTest *tests, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", device, precision);
    tolerance = product_tolerance;
    enhope_context_set_device(ctx, device);
    enhope_context_set_precision(ctx, precision);
    enhope_context_set_threads(ctx, 3);
    if (eh_compute_open(ctx, false, &cpu)) {
        printf("%s: skipped: no CUDA device (%s)\n", name, enhope_error(ctx));
        return strcmp(device, "cuda") != 0;
    }
    enhope_context_set_threads(ctx, 1);
    int failed = eh_compute_open(ctx, false, &one) != ENHOPE_OK;
    eh_compute_begin(cpu);
    if (!failed) failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    eh_compute_end(cpu);
    if (!failed) failed = cpu->op->sync(cpu, ctx) != ENHOPE_OK || one->op->sync(one, ctx) != ENHOPE_OK;
    eh_compute_close(cpu);
    eh_compute_close(one);
    return failed;
}

static inline int run_on_each(const struct CMUnitTest *tests, size_t count)
{
    ctx = enhope_context_create();
    enhope_context_set_device(ctx, "ref");
    if (eh_compute_open(ctx, false, &ref)) return 1;
    const int failed = run_on("cuda", "fp32", EXACT, tests, count) + run_on("cuda", "tf32", 4e-3, tests, count) +
                       run_on("cuda", "bf16", 3e-2, tests, count) + run_on("cpu", "fp32", EXACT, tests, count);
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return failed;
}

#endif
