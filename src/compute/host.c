/* Functions shared by the backends in host memory: placing data, votes, and operations that are
 * composed of other operations of the table. */
#include "compute/host.h"

#include <math.h>
#include <string.h>

#include "compute/similarity.h"

void eh_host_copy(eh_compute *c, void *to, const void *from, size_t bytes)
{
    (void)c;
    memcpy(to, from, bytes);
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
    eh_table t = {.x = *x, .label = label, .classes = (eh_label *)(uintptr_t)label};
    enhope_status status;
    EH_CHECK(eh_compute_new(c, ctx, "scaling", x->H, c->op->real_size, &t.shift));
    EH_CHECK(eh_compute_new(c, ctx, "scaling", x->H, c->op->real_size, &t.mul));
    c->op->write(c, t.shift, shift, x->H);
    c->op->write(c, t.mul, mul, x->H);
    *out = t;
    return ENHOPE_OK;
cleanup:
    eh_host_unplace(c, &t);
    return status;
}

void eh_host_output_grad(eh_compute *c, eh_epilogue slope, int64_t n, int64_t m, int64_t h, const eh_real *dY,
                         const eh_real *V, const eh_real *T, bool add, eh_packed *dA, eh_real *db, eh_real *dV)
{
    c->op->product(c, &(eh_product){.ta = true,
                                    .M = h,
                                    .N = m,
                                    .K = n,
                                    .A = eh_host_packed(dY),
                                    .lda = h,
                                    .B = eh_host_packed(T),
                                    .ldb = m,
                                    .add = add,
                                    .C = dV,
                                    .ldc = m}); /* dV = sum dy t^T */
    c->op->product(c, &(eh_product){.M = n,
                                    .N = m,
                                    .K = h,
                                    .A = eh_host_packed(dY),
                                    .lda = h,
                                    .B = eh_host_packed(V),
                                    .ldb = m,
                                    .epilogue = slope,
                                    .with = T,
                                    .P = dA,
                                    .ldc = m}); /* da = slope of V^T dy */
    c->op->column_sums(c, n, m, eh_host_reals(dA), add, db);
}

/* ---- votes ---- */

int32_t eh_host_vote_row(const int64_t *index, int64_t k, const int32_t *label)
{
    int32_t winner = label[index[0]];
    int64_t max_votes = 0;
    for (int64_t j = 0; j < k; j++) {
        int64_t count = 0;
        for (int64_t i = 0; i < k; i++) count += label[index[i]] == label[index[j]];
        if (count <= max_votes) continue;
        max_votes = count;
        winner = label[index[j]];
    }
    return winner;
}

void eh_host_row_range(eh_compute *c, int64_t first, int64_t n, eh_row *rows)
{
    (void)c;
    for (int64_t i = 0; i < n; i++) eh_host_rows(rows)[i] = first + i;
}

void eh_host_vote(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
                  eh_label *label)
{
    enum { ALONE = 8192 }; /* less work than this runs in one thread */
#pragma omp parallel for num_threads(c->threads) if (q * k > ALONE) schedule(static)
    for (int64_t i = 0; i < q; i++)
        eh_host_labels(label)[i] = eh_host_vote_row(eh_host_rows(index) + i * k, k, eh_host_labels(reference_label));
}

/* ---- the most similar class ---- */

static double squared_distance(const eh_compute *c, const eh_real *a, const eh_real *b, int64_t dims)
{
    double sum = 0;
    for (int64_t k = 0; k < dims; k++) {
        const double difference =
            c->op->real_size == sizeof(float)
                ? (double)((const float *)(const void *)a)[k] - ((const float *)(const void *)b)[k]
                : ((const double *)(const void *)a)[k] - ((const double *)(const void *)b)[k];
        sum += difference * difference;
    }
    return sum;
}

/* The similarity at the squared distance d, divided by that at the smaller distance `nearest`. */
static double relative_similarity(const eh_similarity *w, const eh_student *s, double nearest, double d)
{
    if (w->gaussian) return exp(nearest - d);
    const double u = (1 + nearest * s->inverse) / (1 + d * s->inverse);
    double power = u;
    for (int i = 1; i < s->power; i++) power *= u;
    return power;
}

static int32_t argmax_similarity(const eh_compute *c, const eh_real *y, const eh_real *R, int64_t r, int64_t dims,
                                 const int32_t *label, const eh_similarity *w)
{
    const eh_student s = eh_student_of(w->dof);
    double nearest = INFINITY, largest = 0;
    int32_t winner = label[0];
    for (int64_t j = 0; j < r; j++) nearest = fmin(nearest, squared_distance(c, y, eh_at(c, R, j * dims), dims));
    for (int64_t j = 0; j < r;) {
        const int32_t class = label[j];
        double sum = 0;
        for (; j < r && label[j] == class; j++)
            sum += relative_similarity(w, &s, nearest, squared_distance(c, y, eh_at(c, R, j * dims), dims));
        if (sum > largest) largest = sum, winner = class;
    }
    return winner;
}

void eh_host_argmax_similarity(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims,
                               const eh_label *reference_label, const eh_similarity *similarity, eh_label *label)
{
    enum { ALONE = 8192 }; /* less work than this runs in one thread */
#pragma omp parallel for num_threads(c->threads) if (q * r > ALONE) schedule(static)
    for (int64_t i = 0; i < q; i++)
        eh_host_labels(label)[i] =
            argmax_similarity(c, eh_at(c, Q, i * dims), R, r, dims, eh_host_labels(reference_label), similarity);
}
