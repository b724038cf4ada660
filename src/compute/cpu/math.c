/* Elementwise and vector operations on the cpu: a SIMD kernel on a range, and OpenMP over
 * ranges.
 *
 * The number of ranges does not depend on the threads, so sums are the same for any number of
 * threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"

enum { CHUNKS = 64 };

/* A loop over the chunks of `count` scalars in the threads of `c`. */
#define FOR_CHUNKS                                                                                                     \
    _Pragma(                                                                                                           \
        "omp parallel for num_threads(c->threads) if (count > EH_CPU_ALONE) schedule(static)") for (int64_t chunk = 0; \
                                                                                                    chunk < CHUNKS;    \
                                                                                                    chunk++)

void eh_cpu_power(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s)
{
    const int64_t count = rows * columns;
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        eh_cpu_power_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, order, eh_f(u) + from, eh_f(s) + from);
    }
}

/* A block of columns at a time: sums first, then adds them. */
EH_SIMD static void add_rows(int64_t n, int64_t m, int64_t ld, const float *restrict A, float beta, float *restrict out)
{
    enum { WIDE = 64 };
    for (int64_t first = 0; first < m; first += WIDE) {
        const int64_t wide = m - first < WIDE ? m - first : WIDE;
        float sum[WIDE] = {0};
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < wide; k++) sum[k] += A[i * ld + first + k];
        for (int64_t k = 0; k < wide; k++) out[first + k] = beta == 0 ? sum[k] : beta * out[first + k] + sum[k];
    }
}

/* Each thread owns a range of columns. */
void eh_cpu_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out)
{
#pragma omp parallel for num_threads(c->threads) if (n * m > EH_CPU_ALONE) schedule(static)
    for (int chunk = 0; chunk < c->threads; chunk++) {
        const int64_t from = eh_chunk_start(m, chunk, c->threads);
        add_rows(n, eh_chunk_start(m, chunk + 1, c->threads) - from, m, eh_f(A) + from, (float)beta, eh_f(out) + from);
    }
}

void eh_cpu_fill(eh_compute *c, int64_t count, double value, eh_real *x)
{
    (void)c;
    if (value == 0) {
        memset(x, 0, (size_t)count * sizeof(float));
        return;
    }
    for (int64_t i = 0; i < count; i++) eh_f(x)[i] = (float)value;
}

void eh_cpu_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    (void)c;
    memcpy(y, x, (size_t)count * sizeof(float));
}

void eh_cpu_copy_rows(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                      int64_t ldy)
{
    for (int64_t i = 0; i < rows; i++) eh_cpu_copy(c, columns, eh_at(c, x, i * ldx), eh_at(c, y, i * ldy));
}

EH_SIMD static void scale_range(int64_t count, float a, float *restrict x)
{
    for (int64_t i = 0; i < count; i++) x[i] *= a;
}

void eh_cpu_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        scale_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, (float)a, eh_f(x) + from);
    }
}

EH_SIMD static void multiply_range(int64_t count, const float *restrict x, float *restrict y)
{
    for (int64_t i = 0; i < count; i++) y[i] *= x[i];
}

void eh_cpu_multiply(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        multiply_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, eh_f(x) + from, eh_f(y) + from);
    }
}

EH_SIMD static void axpy_range(int64_t count, float a, const float *restrict x, float *restrict y)
{
    for (int64_t i = 0; i < count; i++) y[i] += a * x[i];
}

void eh_cpu_add_scaled(int64_t count, float a, const float *restrict x, float *restrict y)
{
    axpy_range(count, a, x, y);
}

void eh_cpu_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y)
{
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        axpy_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, (float)a, eh_f(x) + from, eh_f(y) + from);
    }
}

/* Eight partial sums, because the compiler may not reorder a sum. */
EH_SIMD static double dot_range(int64_t count, const float *restrict x, const float *restrict y)
{
    double partial[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int l = 0; l < 8; l++) partial[l] += (double)x[i + l] * y[i + l];
    for (; i < count; i++) partial[0] += (double)x[i] * y[i];
    return ((partial[0] + partial[4]) + (partial[1] + partial[5])) +
           ((partial[2] + partial[6]) + (partial[3] + partial[7]));
}

double eh_cpu_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y)
{
    double partial[CHUNKS];
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        partial[chunk] = dot_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, eh_f(x) + from, eh_f(y) + from);
    }
    double sum = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) sum += partial[chunk];
    return sum;
}

EH_SIMD static void average_range(int64_t count, const float *restrict x, float *restrict y)
{
    for (int64_t i = 0; i < count; i++) y[i] = 0.5f * (x[i] + y[i]);
}

void eh_cpu_average(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss)
{
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        average_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, eh_f(x) + from, eh_f(y) + from);
    }
    eh_host_average_loss(other, loss);
}

EH_SIMD static void add_signs(int64_t count, float step, const float *restrict g, float *restrict x)
{
    for (int64_t i = 0; i < count; i++) x[i] += g[i] > 0 ? step : g[i] < 0 ? -step : 0;
}

void eh_cpu_adversarial_step(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                             const eh_real *dX, eh_packed *to)
{
#pragma omp parallel for num_threads(c->threads) if (n * H > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *x = eh_f(to) + i * ld;
        memcpy(x, eh_f(X) + i * ld, (size_t)ld * sizeof *x);
        add_signs(H, (float)step, eh_f(dX) + i * H, x);
    }
}

/* Returns true if a gradient was not finite. */
EH_SIMD static bool adam_range(int64_t count, float step, float beta1, float beta2, float root_fix, float epsilon,
                               const float *restrict g, float *restrict m1, float *restrict m2, float *restrict x)
{
    int bad = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool good = fabsf(g[i]) <= FLT_MAX;
        const float first = beta1 * m1[i] + (1 - beta1) * g[i];
        const float second = beta2 * m2[i] + (1 - beta2) * g[i] * g[i];
        const float moved = x[i] - step * first / (sqrtf(second) * root_fix + epsilon);
        m1[i] = good ? first : m1[i];
        m2[i] = good ? second : m2[i];
        x[i] = good ? moved : x[i];
        bad |= !good;
    }
    return bad;
}

void eh_cpu_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x)
{
    const float step = (float)(rate / (1 - pow(beta1, (double)t)));
    const float root_fix = (float)(1 / sqrt(1 - pow(beta2, (double)t)));
    bool bad[CHUNKS];
    if (!isfinite(eh_host_value(loss)->value)) return;
    FOR_CHUNKS
    {
        const int64_t from = eh_chunk_start(count, chunk, CHUNKS);
        bad[chunk] =
            adam_range(eh_chunk_start(count, chunk + 1, CHUNKS) - from, step, (float)beta1, (float)beta2, root_fix,
                       (float)epsilon, eh_f(g) + from, eh_f(m1) + from, eh_f(m2) + from, eh_f(x) + from);
    }
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        if (bad[chunk]) eh_host_value(loss)->nonfinite = 1;
}
