/* The cpu backend's elementwise operations and vectors: a SIMD kernel on a range, and OpenMP over ranges.
 *
 * Ranges are cut in a number that does not depend on the threads, so that sums are the same for any number of them. */
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"

enum { PARTS = 64 };

/* Over the parts of `count` numbers, in the threads of `c`. */
#define FOR_PARTS                                                                                                      \
    _Pragma("omp parallel for num_threads(c->threads) if (count > EH_CPU_ALONE) schedule(static)") for (int64_t part = \
                                                                                                            0;         \
                                                                                                        part < PARTS;  \
                                                                                                        part++)

EH_SIMD static void square(int64_t count, const float *restrict u, float *restrict s)
{
    for (int64_t i = 0; i < count; i++) s[i] = u[i] * u[i];
}

EH_SIMD static void power_any(int64_t count, int order, const float *restrict u, float *restrict s)
{
    for (int64_t i = 0; i < count; i++) {
        float p = 1;
        for (int o = 0; o < order; o++) p *= u[i];
        s[i] = p;
    }
}

void eh_cpu_power(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *s)
{
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS), n = eh_share_start(count, part + 1, PARTS) - from;
        if (order == 2)
            square(n, eh_f(u) + from, eh_f(s) + from);
        else
            power_any(n, order, eh_f(u) + from, eh_f(s) + from);
    }
}

EH_SIMD static void square_grad(int64_t count, const float *restrict u, float *restrict d)
{
    for (int64_t i = 0; i < count; i++) d[i] *= 2 * u[i];
}

EH_SIMD static void power_any_grad(int64_t count, int order, const float *restrict u, float *restrict d)
{
    for (int64_t i = 0; i < count; i++) {
        float p = (float)order;
        for (int o = 1; o < order; o++) p *= u[i];
        d[i] *= p;
    }
}

void eh_cpu_power_grad(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *d)
{
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS), n = eh_share_start(count, part + 1, PARTS) - from;
        if (order == 2)
            square_grad(n, eh_f(u) + from, eh_f(d) + from);
        else
            power_any_grad(n, order, eh_f(u) + from, eh_f(d) + from);
    }
}

EH_SIMD static void sigmoid_rows(int64_t rows, int64_t m, const float *restrict b, float *restrict A)
{
    for (int64_t i = 0; i < rows; i++, A += m)
        for (int64_t k = 0; k < m; k++) A[k] = 1 / (1 + eh_exp(-(A[k] + b[k])));
}

void eh_cpu_sigmoid(eh_compute *c, int64_t n, int64_t m, const eh_real *b, eh_real *A)
{
    const int64_t count = n * m;
    FOR_PARTS
    {
        const int64_t from = eh_share_start(n, part, PARTS);
        sigmoid_rows(eh_share_start(n, part + 1, PARTS) - from, m, eh_f(b), eh_f(A) + from * m);
    }
}

EH_SIMD static void sigmoid_slope(int64_t count, const float *restrict t, float *restrict d)
{
    for (int64_t i = 0; i < count; i++) d[i] *= t[i] * (1 - t[i]);
}

void eh_cpu_sigmoid_grad(eh_compute *c, int64_t count, const eh_real *t, eh_real *d)
{
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS);
        sigmoid_slope(eh_share_start(count, part + 1, PARTS) - from, eh_f(t) + from, eh_f(d) + from);
    }
}

EH_SIMD static void add_rows(int64_t n, int64_t m, int64_t ld, const float *restrict A, float beta, float *restrict out)
{
    for (int64_t k = 0; k < m; k++) out[k] = beta == 0 ? 0 : beta * out[k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++) out[k] += A[i * ld + k];
}

/* Each thread owns a range of columns. */
void eh_cpu_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out)
{
#pragma omp parallel for num_threads(c->threads) if (n * m > EH_CPU_ALONE) schedule(static)
    for (int part = 0; part < c->threads; part++) {
        const int64_t from = eh_share_start(m, part, c->threads);
        add_rows(n, eh_share_start(m, part + 1, c->threads) - from, m, eh_f(A) + from, (float)beta, eh_f(out) + from);
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

EH_SIMD static void scale_range(int64_t count, float a, float *restrict x)
{
    for (int64_t i = 0; i < count; i++) x[i] *= a;
}

void eh_cpu_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS);
        scale_range(eh_share_start(count, part + 1, PARTS) - from, (float)a, eh_f(x) + from);
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
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS);
        axpy_range(eh_share_start(count, part + 1, PARTS) - from, (float)a, eh_f(x) + from, eh_f(y) + from);
    }
}

/* Eight sums side by side: the compiler may not reorder a sum by itself. */
EH_SIMD static double dot_range(int64_t count, const float *restrict x, const float *restrict y)
{
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += (double)x[i + l] * y[i + l];
    for (; i < count; i++) lane[0] += (double)x[i] * y[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

double eh_cpu_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y)
{
    double partial[PARTS];
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS);
        partial[part] = dot_range(eh_share_start(count, part + 1, PARTS) - from, eh_f(x) + from, eh_f(y) + from);
    }
    double sum = 0;
    for (int part = 0; part < PARTS; part++) sum += partial[part];
    return sum;
}

EH_SIMD static void adam_range(int64_t count, float step, float beta1, float beta2, float root_fix, float epsilon,
                               const float *restrict g, float *restrict m1, float *restrict m2, float *restrict x)
{
    for (int64_t i = 0; i < count; i++) {
        m1[i] = beta1 * m1[i] + (1 - beta1) * g[i];
        m2[i] = beta2 * m2[i] + (1 - beta2) * g[i] * g[i];
        x[i] -= step * m1[i] / (sqrtf(m2[i]) * root_fix + epsilon);
    }
}

void eh_cpu_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                 const eh_real *g, eh_real *m1, eh_real *m2, eh_real *x)
{
    const float step = (float)(rate / (1 - pow(beta1, (double)t)));
    const float root_fix = (float)(1 / sqrt(1 - pow(beta2, (double)t)));
    FOR_PARTS
    {
        const int64_t from = eh_share_start(count, part, PARTS);
        adam_range(eh_share_start(count, part + 1, PARTS) - from, step, (float)beta1, (float)beta2, root_fix,
                   (float)epsilon, eh_f(g) + from, eh_f(m1) + from, eh_f(m2) + from, eh_f(x) + from);
    }
}
