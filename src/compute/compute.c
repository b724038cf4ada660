/* Opening a backend by name, and what is common to all of them. */
#include <dlfcn.h>
#include <omp.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "compute/compute.h"

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c); /* cpu/cpu.c */

/* The cuda backend is a library of its own beside this one, so that nothing here needs CUDA. It stays open: its driver
 * threads outlive a backend. */
static enhope_status open_cuda(enhope_context *ctx, eh_compute *c)
{
    void *library = dlopen("libenhope_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "the cuda backend is not there: %s", dlerror());
    enhope_status (*open)(enhope_context *, eh_compute *, size_t);
    void *symbol = dlsym(library, "eh_compute_cuda_open");
    if (!symbol) return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "libenhope_cuda.so is of another version: %s", dlerror());
    memcpy(&open, &symbol, sizeof open);         /* ISO C has no cast from an object to a function */
    return open(ctx, c, sizeof(eh_compute_ops)); /* a table of another size is another version's */
}

enhope_status eh_compute_open(enhope_context *ctx, eh_compute **out)
{
    eh_compute *c = NULL;
    EH_TRY(eh_new(ctx, "compute backend", 1, sizeof *c, (void **)&c));
    c->threads = ctx->threads ? ctx->threads : omp_get_max_threads();
    enhope_status status = ENHOPE_OK;
    if (!strcmp(ctx->compute, "ref"))
        c->op = &eh_compute_ref;
    else if (!strcmp(ctx->compute, "cuda"))
        status = open_cuda(ctx, c);
    else
        status = eh_compute_cpu_open(ctx, c);
    if (status) {
        eh_free(c);
        return status;
    }
    *out = c;
    return ENHOPE_OK;
}

void eh_compute_close(eh_compute *c)
{
    if (!c) return;
    c->op->close(c);
    eh_free(c);
}

enhope_status eh_compute_new(eh_compute *c, enhope_context *ctx, const char *what, int64_t count, eh_real **out)
{
    eh_real *v = count < 0 ? NULL : c->op->alloc(c, count);
    if (!v) return eh_fail_memory(ctx, what, (size_t)count, c->op->size);
    *out = v;
    return ENHOPE_OK;
}

void eh_host_unplace(eh_compute *c, eh_table *t)
{
    c->op->release(c, t->shift);
    c->op->release(c, t->mul);
    memset(t, 0, sizeof *t);
}

enhope_status eh_host_place(eh_compute *c, enhope_context *ctx, const eh_matrix *x, const int32_t *label,
                            const float *shift, const float *mul, eh_table *out)
{
    eh_table t = {.x = *x, .label = label};
    enhope_status status;
    EH_CHECK(eh_compute_new(c, ctx, "scaling", x->H, &t.shift));
    EH_CHECK(eh_compute_new(c, ctx, "scaling", x->H, &t.mul));
    c->op->write(c, t.shift, shift, x->H);
    c->op->write(c, t.mul, mul, x->H);
    *out = t;
    return ENHOPE_OK;
cleanup:
    eh_host_unplace(c, &t);
    return status;
}

/* BLAS must not start threads of its own between begin and end: the tiles of a product are shared out by us. OpenBLAS on
 * OpenMP asks omp_get_max_threads() before each call; our own regions name their number of threads. */
static void hold_blas(eh_compute *c)
{
    c->omp_threads = omp_get_max_threads();
    omp_set_num_threads(1);
}

static void release_blas(const eh_compute *c)
{
    omp_set_num_threads(c->omp_threads);
}

#if defined(__SSE2__)
enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };

void eh_compute_begin(eh_compute *c)
{
    hold_blas(c);
    c->float_mode = _mm_getcsr();
#pragma omp parallel num_threads(c->threads)
    _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
}

void eh_compute_end(eh_compute *c)
{
#pragma omp parallel num_threads(c->threads)
    _mm_setcsr(c->float_mode);
    release_blas(c);
}
#else
void eh_compute_begin(eh_compute *c)
{
    hold_blas(c);
}

void eh_compute_end(eh_compute *c)
{
    release_blas(c);
}
#endif
