/* Functions common to all backends. devices.c opens a backend. */
#include <omp.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "compute/compute.h"

void eh_compute_close(eh_compute *c)
{
    if (!c) return;
    c->op->close(c);
    eh_free(c);
}

enhope_status eh_compute_new(eh_compute *c, enhope_context *ctx, const char *what, int64_t count, size_t size,
                             void *out)
{
    size_t bytes;
    const bool fits = count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes);
    void *block = fits ? c->op->alloc(c, bytes) : NULL;
    if (block) {
        memcpy(out, &block, sizeof block);
        return ENHOPE_OK;
    }
    if (!c->op->free_memory) return eh_fail_memory(ctx, what, (size_t)count, size);
    return eh_fail(ctx, ENHOPE_ERROR_MEMORY,
                   "out of memory on the CUDA device: %s needs %.0f bytes, %.0f are free; try a smaller batch", what,
                   (double)(size_t)count * (double)size, (double)c->op->free_memory(c));
}

/* BLAS must not start threads between begin and end, because the tiles of a product are already
 * distributed over threads. OpenBLAS with OpenMP calls omp_get_max_threads() before each
 * operation; the parallel regions of this library set their number of threads explicitly. */
static void limit_blas_threads(eh_compute *c)
{
    c->omp_threads = omp_get_max_threads();
    omp_set_num_threads(1);
}

static void restore_blas_threads(const eh_compute *c)
{
    omp_set_num_threads(c->omp_threads);
}

#if defined(__SSE2__)
enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };

void eh_compute_begin(eh_compute *c)
{
    if (!c->op->host) return;
    limit_blas_threads(c);
    c->float_mode = _mm_getcsr();
#pragma omp parallel num_threads(c->threads)
    _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
}

void eh_compute_end(eh_compute *c)
{
    if (!c->op->host) return;
#pragma omp parallel num_threads(c->threads)
    _mm_setcsr(c->float_mode);
    restore_blas_threads(c);
}
#else
void eh_compute_begin(eh_compute *c)
{
    if (!c->op->host) return;
    limit_blas_threads(c);
}

void eh_compute_end(eh_compute *c)
{
    if (c->op->host) restore_blas_threads(c);
}
#endif
