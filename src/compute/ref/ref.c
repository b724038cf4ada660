/* The reference backend: plain loops in double, one thread, written to be read. Every other backend is tested
 * against it, and every gradient is proved on it. */
#include <math.h>
#include <string.h>

#include "compute/compute.h"

/* eh_real is double here */
static double *D(const eh_real *v)
{
    return (double *)(uintptr_t)v;
}

static void ref_close(eh_compute *c)
{
    (void)c;
}

static enhope_status ref_sync(eh_compute *c, enhope_context *ctx)
{
    (void)c, (void)ctx;
    return ENHOPE_OK;
}

static eh_real *ref_alloc(eh_compute *c, int64_t count)
{
    (void)c;
    return eh_alloc((size_t)count, sizeof(double));
}

static void ref_release(eh_compute *c, eh_real *v)
{
    (void)c;
    eh_free(v);
}

static void ref_write(eh_compute *c, eh_real *to, const float *from, int64_t count)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(to)[i] = from[i];
}

static void ref_read(eh_compute *c, float *to, const eh_real *from, int64_t count)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) to[i] = (float)D(from)[i];
}

/* ---- data ---- */

static void ref_gather(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, eh_real *X, int64_t ld,
                       int32_t *label)
{
    (void)c;
    const eh_matrix *x = &t->x;
    const int64_t H = x->H;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows[i];
        double *to = D(X) + i * ld;
        for (int64_t j = 0; j < H; j++) to[j] = -D(t->shift)[j] * D(t->mul)[j]; /* what zero scales to */
        if (x->kind == ENHOPE_CSR) {
            for (int64_t s = x->row_start[row]; s < x->row_start[row + 1]; s++) {
                const int32_t j = x->column[s];
                to[j] = (x->value[s] - D(t->shift)[j]) * D(t->mul)[j];
            }
        } else {
            for (int64_t j = 0; j < H; j++) {
                const double value = x->kind == ENHOPE_U8 ? x->u8[row * H + j] : x->f32[row * H + j];
                to[j] = (value - D(t->shift)[j]) * D(t->mul)[j];
            }
        }
        to[H] = 1;
        if (label) label[i] = t->label[row];
    }
}

static void ref_sparse_apply(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *C,
                             int64_t F, eh_real *U)
{
    (void)c;
    const eh_matrix *x = &t->x;
    for (int64_t i = 0; i < n; i++)
        for (int64_t f = 0; f < F; f++) {
            double sum = D(C)[x->H * F + f];
            for (int64_t s = x->row_start[rows[i]]; s < x->row_start[rows[i] + 1]; s++)
                sum += x->value[s] * D(t->mul)[x->column[s]] * D(C)[x->column[s] * F + f];
            D(U)[i * F + f] = sum;
        }
}

static void ref_sparse_grad(eh_compute *c, const eh_table *t, const int64_t *rows, int64_t n, const eh_real *dU,
                            int64_t F, eh_real *dC)
{
    (void)c;
    const eh_matrix *x = &t->x;
    for (int64_t i = 0; i < n; i++)
        for (int64_t f = 0; f < F; f++) {
            D(dC)[x->H * F + f] += D(dU)[i * F + f];
            for (int64_t s = x->row_start[rows[i]]; s < x->row_start[rows[i] + 1]; s++)
                D(dC)[x->column[s] * F + f] += x->value[s] * D(t->mul)[x->column[s]] * D(dU)[i * F + f];
        }
}

/* ---- dense ---- */

static void ref_gemm(eh_compute *c, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const eh_real *A,
                     int64_t lda, const eh_real *B, int64_t ldb, double beta, eh_real *C, int64_t ldc)
{
    (void)c;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += (ta ? D(A)[k * lda + i] : D(A)[i * lda + k]) * (tb ? D(B)[j * ldb + k] : D(B)[k * ldb + j]);
            double *out = D(C) + i * ldc + j;
            *out = alpha * sum + (beta == 0 ? 0 : beta * *out);
        }
}

static double int_power(double u, int order)
{
    double p = 1;
    while (order-- > 0) p *= u;
    return p;
}

static void ref_power(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *s)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(s)[i] = int_power(D(u)[i], order);
}

static void ref_power_grad(eh_compute *c, int64_t count, int order, const eh_real *u, eh_real *d)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(d)[i] *= order * int_power(D(u)[i], order - 1);
}

static void ref_sigmoid(eh_compute *c, int64_t n, int64_t m, const eh_real *b, eh_real *A)
{
    (void)c;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++) D(A)[i * m + k] = 1 / (1 + exp(-D(A)[i * m + k] - D(b)[k]));
}

static void ref_sigmoid_grad(eh_compute *c, int64_t count, const eh_real *t, eh_real *d)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(d)[i] *= D(t)[i] * (1 - D(t)[i]);
}

static void ref_column_sums(eh_compute *c, int64_t n, int64_t m, const eh_real *A, double beta, eh_real *out)
{
    (void)c;
    for (int64_t k = 0; k < m; k++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += D(A)[i * m + k];
        D(out)[k] = sum + (beta == 0 ? 0 : beta * D(out)[k]);
    }
}

/* ---- vectors ---- */

static void ref_fill(eh_compute *c, int64_t count, double value, eh_real *x)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(x)[i] = value;
}

static void ref_copy(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    (void)c;
    memcpy(y, x, (size_t)count * sizeof(double));
}

static void ref_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(x)[i] *= a;
}

static void ref_axpy(eh_compute *c, int64_t count, double a, const eh_real *x, eh_real *y)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(y)[i] += a * D(x)[i];
}

static double ref_dot(eh_compute *c, int64_t count, const eh_real *x, const eh_real *y)
{
    (void)c;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += D(x)[i] * D(y)[i];
    return sum;
}

static void ref_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                     const eh_real *g, eh_real *m1, eh_real *m2, eh_real *x)
{
    (void)c;
    const double fix1 = 1 - pow(beta1, (double)t), fix2 = 1 - pow(beta2, (double)t);
    for (int64_t i = 0; i < count; i++) {
        const double gi = D(g)[i];
        D(m1)[i] = beta1 * D(m1)[i] + (1 - beta1) * gi;
        D(m2)[i] = beta2 * D(m2)[i] + (1 - beta2) * gi * gi;
        D(x)[i] -= rate * (D(m1)[i] / fix1) / (sqrt(D(m2)[i] / fix2) + epsilon);
    }
}

/* ---- pairs ---- */

static double distance2(const double *a, const double *b, int64_t h)
{
    double sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static double log_weight(const eh_pairs *p, int64_t i, int64_t j)
{
    const double d = distance2(D(p->Y) + i * p->h, D(p->G) + j * p->h, p->h);
    return p->gaussian ? -d : -log1p(d);
}

static double log_add(double a, double b)
{
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static void ref_pair_sums(eh_compute *c, const eh_pairs *p, double *log_all, double *same)
{
    (void)c;
    for (int64_t i = 0; i < p->n; i++) {
        log_all[i] = -INFINITY;
        same[i] = p->nca ? -INFINITY : 0;
        for (int64_t j = 0; j < p->z; j++) {
            if (p->self && i == j) continue;
            const double lw = log_weight(p, i, j);
            log_all[i] = log_add(log_all[i], lw);
            if (p->label[i] == p->other_label[j]) same[i] = p->nca ? log_add(same[i], lw) : same[i] + lw;
        }
    }
}

static double pair_slope(const eh_pairs *p, const double *attract, const double *repel, int64_t i, int64_t j)
{
    const bool same = p->label[i] == p->other_label[j];
    const double lw = log_weight(p, i, j);
    if (p->gaussian) return (same ? exp(p->nca ? attract[i] + lw : attract[i]) : 0) - exp(repel[i] + lw);
    const double w = exp(lw);
    return ((same ? (p->nca ? attract[i] * w : attract[i]) : 0) - repel[i] * w) * w;
}

static void ref_pair_grad(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, eh_real *dY,
                          eh_real *dG)
{
    (void)c;
    const int64_t h = p->h;
    double *other = p->self ? D(dY) : D(dG);
    memset(dY, 0, (size_t)(p->n * h) * sizeof(double));
    memset(other, 0, (size_t)(p->z * h) * sizeof(double));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->z; j++) {
            if (p->self && i == j) continue;
            const double slope = pair_slope(p, attract, repel, i, j);
            for (int64_t k = 0; k < h; k++) {
                const double part = 2 * slope * (D(p->Y)[i * h + k] - D(p->G)[j * h + k]);
                D(dY)[i * h + k] += part;
                other[j * h + k] -= part;
            }
        }
}

static void ref_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                        int64_t k, int64_t *index, float *distance)
{
    (void)c;
    for (int64_t i = 0; i < q; i++) {
        int64_t found = 0;
        for (int64_t j = 0; j < r; j++) {
            const float d = (float)distance2(D(Q) + i * dims, D(R) + j * dims, dims);
            int64_t at = found < k ? found : k;
            while (at > 0 && d < distance[i * k + at - 1]) at--;
            if (at == k) continue;
            for (int64_t s = found < k ? found : k - 1; s > at; s--) {
                distance[i * k + s] = distance[i * k + s - 1];
                index[i * k + s] = index[i * k + s - 1];
            }
            distance[i * k + at] = d;
            index[i * k + at] = j;
            if (found < k) found++;
        }
    }
}

const eh_compute_ops eh_compute_ref = {
    .name = "ref",
    .size = sizeof(double),
    .close = ref_close,
    .sync = ref_sync,
    .alloc = ref_alloc,
    .release = ref_release,
    .write = ref_write,
    .read = ref_read,
    .place = eh_host_place,
    .unplace = eh_host_unplace,
    .gather = ref_gather,
    .sparse_apply = ref_sparse_apply,
    .sparse_grad = ref_sparse_grad,
    .gemm = ref_gemm,
    .power = ref_power,
    .power_grad = ref_power_grad,
    .sigmoid = ref_sigmoid,
    .sigmoid_grad = ref_sigmoid_grad,
    .column_sums = ref_column_sums,
    .fill = ref_fill,
    .copy = ref_copy,
    .scale = ref_scale,
    .axpy = ref_axpy,
    .dot = ref_dot,
    .adam = ref_adam,
    .pair_sums = ref_pair_sums,
    .pair_grad = ref_pair_grad,
    .nearest = ref_nearest,
};
