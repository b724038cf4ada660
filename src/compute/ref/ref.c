/* The reference backend: plain loops in double, one thread, written for reading. Every other
 * backend is tested against it, and every gradient is checked on it. */
#include <math.h>
#include <string.h>

#include "compute/bandwidth.h"
#include "compute/warp.h"
#include "compute/ref/ref.h"

/* eh_real and eh_packed are double in this backend. */
static double *D(const void *v)
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

static void *ref_alloc(eh_compute *c, size_t bytes)
{
    (void)c;
    return eh_alloc(bytes, 1);
}

static void ref_release(eh_compute *c, void *block)
{
    (void)c;
    eh_free(block);
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

static void gather_row(const eh_table *t, int64_t row, double *to)
{
    const eh_matrix *x = &t->x;
    const int64_t H = x->H;
    for (int64_t j = 0; j < H; j++) to[j] = -D(t->shift)[j] * D(t->mul)[j]; /* a zero, scaled */
    if (x->kind == ENHOPE_CSR) {
        for (int64_t s = x->row_start[row]; s < x->row_start[row + 1]; s++) {
            const int32_t j = x->column[s];
            to[j] = (x->value[s] - D(t->shift)[j]) * D(t->mul)[j];
        }
        return;
    }
    for (int64_t j = 0; j < H; j++) {
        const double value = x->kind == ENHOPE_U8 ? x->u8[row * H + j] : x->f32[row * H + j];
        to[j] = (value - D(t->shift)[j]) * D(t->mul)[j];
    }
}

/* Words 2 k and 2 k + 1 of a block give its normal numbers 2 k and 2 k + 1. */
double eh_ref_normal(const uint32_t word[4], int64_t i)
{
    const double u = ((word[i & ~1] >> 8) + 1) * 0x1p-24, angle = 6.283185307179586 * ((word[i | 1] >> 8) * 0x1p-24);
    return sqrt(-2 * log(u)) * (i & 1 ? sin(angle) : cos(angle));
}

static void augment_row(const eh_augment *with, int64_t row, int64_t H, double *x)
{
    const uint64_t index = eh_augment_index(with->pass, row);
    for (int64_t j = 0; j < H; j++) {
        uint32_t word[4];
        if (with->noise > 0) {
            eh_philox(with->seed, EH_STREAM_NOISE, index, (uint32_t)(j / 4), word);
            x[j] += with->noise * eh_ref_normal(word, j % 4);
        }
        if (with->dropout > 0) {
            eh_philox(with->seed, EH_STREAM_DROPOUT, index, (uint32_t)(j / 4), word);
            const bool dropped = (int32_t)(word[j % 4] >> 8) < eh_drop_below(with->dropout);
            x[j] = dropped ? 0 : x[j] / (1 - with->dropout);
        }
    }
}

static void set_bias(double *row, int64_t H, int64_t ld)
{
    row[H] = 1;
    for (int64_t j = H + 1; j < ld; j++) row[j] = 0;
}

static void ref_gather_packed(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_packed *X, int64_t ld,
                              eh_label *label, const eh_augment *with)
{
    (void)c;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = eh_host_rows(rows)[i];
        if (eh_warps(with))
            eh_ref_warp(with, t, row, D(X) + i * ld);
        else
            gather_row(t, row, D(X) + i * ld);
        if (with) augment_row(with, row, t->x.H, D(X) + i * ld);
        set_bias(D(X) + i * ld, t->x.H, ld);
        if (label) eh_host_labels(label)[i] = eh_host_labels(t->classes)[row];
    }
}

static void ref_gather(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, eh_real *X, int64_t ld,
                       eh_label *label)
{
    ref_gather_packed(c, t, rows, n, eh_host_packed(X), ld, label, NULL);
}

static void ref_append_bias(eh_compute *c, int64_t n, int64_t H, const eh_real *E, eh_packed *X, int64_t ld)
{
    (void)c;
    for (int64_t i = 0; i < n; i++) {
        memcpy(D(X) + i * ld, D(E) + i * H, (size_t)H * sizeof(double));
        set_bias(D(X) + i * ld, H, ld);
    }
}

static void ref_adversarial_step(eh_compute *c, int64_t n, int64_t H, double step, const eh_packed *X, int64_t ld,
                                 const eh_real *dX, eh_packed *to)
{
    (void)c;
    for (int64_t i = 0; i < n; i++) {
        const double *g = D(dX) + i * H;
        double *x = D(to) + i * ld;
        memcpy(x, D(X) + i * ld, (size_t)ld * sizeof(double));
        for (int64_t j = 0; j < H; j++) x[j] += step * ((g[j] > 0) - (g[j] < 0));
    }
}

static void ref_sparse_apply(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_real *C,
                             int64_t F, eh_real *U)
{
    (void)c;
    const eh_matrix *x = &t->x;
    for (int64_t i = 0; i < n; i++) {
        const int64_t *ends = x->row_start + eh_host_rows(rows)[i];
        for (int64_t f = 0; f < F; f++) {
            double sum = D(C)[x->H * F + f];
            for (int64_t s = ends[0]; s < ends[1]; s++)
                sum += x->value[s] * D(t->mul)[x->column[s]] * D(C)[x->column[s] * F + f];
            D(U)[i * F + f] = sum;
        }
    }
}

static void ref_sparse_grad(eh_compute *c, const eh_table *t, const eh_row *rows, int64_t n, const eh_packed *dU,
                            int64_t F, eh_real *dC)
{
    (void)c;
    const eh_matrix *x = &t->x;
    for (int64_t i = 0; i < n; i++) {
        const int64_t *ends = x->row_start + eh_host_rows(rows)[i];
        for (int64_t f = 0; f < F; f++) {
            D(dC)[x->H * F + f] += D(dU)[i * F + f];
            for (int64_t s = ends[0]; s < ends[1]; s++)
                D(dC)[x->column[s] * F + f] += x->value[s] * D(t->mul)[x->column[s]] * D(dU)[i * F + f];
        }
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

/* Entry (i, j) of the product after the epilogue. */
static double apply_epilogue(const eh_product *p, double v, int64_t i, int64_t j)
{
    const double *with = D(p->with);
    const int64_t at = i * p->ldc + j;
    switch (p->epilogue) {
    case EH_EPILOGUE_SIGMOID: return 1 / (1 + exp(-v - with[j]));
    case EH_EPILOGUE_RELU: return v + with[j] < 0 ? 0 : v + with[j]; /* keeps NaN */
    case EH_EPILOGUE_POWER_GRAD: return v * p->order * int_power(with[at], p->order - 1);
    case EH_EPILOGUE_SIGMOID_GRAD: return v * with[at] * (1 - with[at]);
    case EH_EPILOGUE_RELU_GRAD: return with[at] > 0 ? v : 0;
    default: return v;
    }
}

static void ref_product(eh_compute *c, const eh_product *p)
{
    (void)c;
    for (int64_t i = 0; i < p->M; i++)
        for (int64_t j = 0; j < p->N; j++) {
            double sum = 0;
            for (int64_t k = 0; k < p->K; k++)
                sum += (p->ta ? D(p->A)[k * p->lda + i] : D(p->A)[i * p->lda + k]) *
                       (p->tb ? D(p->B)[j * p->ldb + k] : D(p->B)[k * p->ldb + j]);
            const double v = apply_epilogue(p, sum, i, j);
            if (p->C) D(p->C)[i * p->ldc + j] = p->add ? D(p->C)[i * p->ldc + j] + v : v;
            if (p->P) D(p->P)[i * p->ldc + j] = p->epilogue == EH_EPILOGUE_POWER ? int_power(v, p->order) : v;
        }
}

static void ref_pack(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *to)
{
    (void)c;
    memcpy(to, from, (size_t)(rows * columns) * sizeof(double));
}

static void ref_power(eh_compute *c, int64_t rows, int64_t columns, int order, const eh_real *u, eh_packed *s)
{
    (void)c;
    for (int64_t i = 0; i < rows * columns; i++) D(s)[i] = int_power(D(u)[i], order);
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

static void ref_copy_rows(eh_compute *c, int64_t rows, int64_t columns, const eh_real *x, int64_t ldx, eh_real *y,
                          int64_t ldy)
{
    for (int64_t i = 0; i < rows; i++) ref_copy(c, columns, eh_at(c, x, i * ldx), eh_at(c, y, i * ldy));
}

static void ref_scale(eh_compute *c, int64_t count, double a, eh_real *x)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(x)[i] *= a;
}

static void ref_multiply(eh_compute *c, int64_t count, const eh_real *x, eh_real *y)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(y)[i] *= D(x)[i];
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

static void ref_average(eh_compute *c, int64_t count, const eh_real *x, const eh_loss *other, eh_real *y, eh_loss *loss)
{
    (void)c;
    for (int64_t i = 0; i < count; i++) D(y)[i] = (D(x)[i] + D(y)[i]) / 2;
    eh_host_average_loss(other, loss);
}

static void ref_adam(eh_compute *c, int64_t count, double rate, double beta1, double beta2, double epsilon, int64_t t,
                     const eh_real *g, eh_loss *loss, eh_real *m1, eh_real *m2, eh_real *x)
{
    (void)c;
    const double fix1 = 1 - pow(beta1, (double)t), fix2 = 1 - pow(beta2, (double)t);
    if (!isfinite(eh_host_value(loss)->value)) return;
    for (int64_t i = 0; i < count; i++) {
        const double gi = D(g)[i];
        if (!isfinite(gi)) {
            eh_host_value(loss)->nonfinite = 1;
            continue;
        }
        D(m1)[i] = beta1 * D(m1)[i] + (1 - beta1) * gi;
        D(m2)[i] = beta2 * D(m2)[i] + (1 - beta2) * gi * gi;
        D(x)[i] -= rate * (D(m1)[i] / fix1) / (sqrt(D(m2)[i] / fix2) + epsilon);
    }
}

/* ---- affinities ---- */

static double distance2(const double *a, const double *b, int64_t h)
{
    double sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Squared distances of row i to the other rows minus the smallest; 0 for the row itself. */
static void shifted_distances(int64_t n, int64_t dims, const double *X, int64_t i, double *e)
{
    double min_distance = INFINITY;
    for (int64_t j = 0; j < n; j++) {
        e[j] = distance2(X + i * dims, X + j * dims, dims);
        if (j != i) min_distance = fmin(min_distance, e[j]);
    }
    for (int64_t j = 0; j < n; j++) e[j] = j == i ? 0 : e[j] - min_distance;
}

static eh_bandwidth_sums bandwidth_sums(int64_t n, const double *e, double beta)
{
    eh_bandwidth_sums s = {-1, 0, 0}; /* subtracts exp(0) of the row itself */
    for (int64_t j = 0; j < n; j++) {
        const double p = exp(-beta * e[j]);
        s.weight += p;
        s.first += p * e[j];
        s.second += p * e[j] * e[j];
    }
    return s;
}

/* Replaces the distances e of row i by its p_j|i. */
static void conditional(int64_t n, int64_t i, double goal, double *e)
{
    eh_bandwidth b = eh_bandwidth_start(bandwidth_sums(n, e, 0));
    while (!eh_bandwidth_found(&b, bandwidth_sums(n, e, b.beta), goal)) {
    }
    const double all = bandwidth_sums(n, e, b.beta).weight;
    for (int64_t j = 0; j < n; j++) e[j] = j == i ? 0 : exp(-b.beta * e[j]) / all;
}

static void ref_affinities(eh_compute *c, int64_t n, int64_t dims, const eh_real *X, double perplexity, eh_real *P)
{
    (void)c;
    for (int64_t i = 0; i < n; i++) {
        shifted_distances(n, dims, D(X), i, D(P) + i * n);
        conditional(n, i, log(perplexity), D(P) + i * n);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            D(P)[i * n + j] = D(P)[j * n + i] = (D(P)[i * n + j] + D(P)[j * n + i]) / (2 * (double)n);
}

static void ref_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                        int64_t k, eh_row *index, eh_real *distance)
{
    (void)c;
    for (int64_t i = 0; i < q; i++) {
        int64_t found = 0, *rows = eh_host_rows(index) + i * k;
        double *near = D(distance) + i * k;
        for (int64_t j = 0; j < r; j++) {
            const double d = distance2(D(Q) + i * dims, D(R) + j * dims, dims);
            int64_t at = found < k ? found : k;
            while (at > 0 && d < near[at - 1]) at--;
            if (at == k) continue;
            for (int64_t s = found < k ? found : k - 1; s > at; s--) {
                near[s] = near[s - 1];
                rows[s] = rows[s - 1];
            }
            near[at] = d;
            rows[at] = j;
            if (found < k) found++;
        }
    }
}

const eh_compute_ops eh_compute_ref = {
    .name = "ref",
    .real_size = sizeof(double),
    .host = true,
    .block = 1000,
    .queue_depth = 1,
    .close = ref_close,
    .sync = ref_sync,
    .alloc = ref_alloc,
    .release = ref_release,
    .send = eh_host_copy,
    .fetch = eh_host_copy,
    .write = ref_write,
    .read = ref_read,
    .place = eh_host_place,
    .unplace = eh_host_unplace,
    .row_range = eh_host_row_range,
    .gather = ref_gather,
    .gather_packed = ref_gather_packed,
    .append_bias = ref_append_bias,
    .adversarial_step = ref_adversarial_step,
    .sparse_apply = ref_sparse_apply,
    .sparse_grad = ref_sparse_grad,
    .gemm = ref_gemm,
    .product = ref_product,
    .pack = ref_pack,
    .output_grad = eh_host_output_grad,
    .power = ref_power,
    .column_sums = ref_column_sums,
    .fill = ref_fill,
    .copy = ref_copy,
    .copy_rows = ref_copy_rows,
    .scale = ref_scale,
    .multiply = ref_multiply,
    .axpy = ref_axpy,
    .dot = ref_dot,
    .average = ref_average,
    .adam = ref_adam,
    .affinities = ref_affinities,
    .nearest = ref_nearest,
    .vote = eh_host_vote,
    .argmax_similarity = eh_host_argmax_similarity,
};
