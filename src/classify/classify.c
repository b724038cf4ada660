/* Classes from neighbors: the vote of the k nearest references, and the share of each class in the
 * similarity to all references,
 *
 *   S(class, y) = sum of w(y, g_j) over the g_j of the class, with w of compute/similarity.h
 *   P(class | y) = S(class, y)^(1/T) / sum over all classes */
#include <math.h>

#include "classify/classify.h"
#include "compute/similarity.h"

void eh_knn_free(eh_knn_result *f)
{
    void *const placed[] = {f->index, f->distance, f->label};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) f->cp->op->release(f->cp, placed[i]);
    eh_free(f->host_index);
    eh_free(f->host_distance);
    *f = (eh_knn_result){0};
}

enhope_status eh_knn_create(enhope_context *ctx, eh_compute *cp, int64_t n, int64_t k, const eh_predictions *wanted,
                            eh_knn_result *out)
{
    enhope_status status;
    eh_knn_result f = {.cp = cp, .k = k};
    int64_t all;
    if (!eh_mul(n, k, &all)) return eh_fail_memory(ctx, "the neighbors", (size_t)n, (size_t)k);
    EH_CHECK(eh_compute_new(cp, ctx, "the neighbors", all, sizeof(int64_t), &f.index));
    EH_CHECK(eh_compute_new(cp, ctx, "the neighbors", all, cp->op->real_size, &f.distance));
    if (wanted->label) EH_CHECK(eh_compute_new(cp, ctx, "the votes", n, sizeof(int32_t), &f.label));
    if (wanted->winner || wanted->shares || wanted->neighbour)
        EH_CHECK(eh_new(ctx, "the neighbors", all, sizeof *f.host_index, (void **)&f.host_index));
    if (wanted->distance || wanted->neighbour_distance)
        EH_CHECK(eh_new(ctx, "the neighbors", all, sizeof *f.host_distance, (void **)&f.host_distance));
    *out = f;
    return ENHOPE_OK;
cleanup:
    eh_knn_free(&f);
    return status;
}

void eh_classify(eh_knn_result *f, const eh_references *ref, const eh_real *Y, int64_t n, int64_t first)
{
    const eh_compute_ops *op = f->cp->op;
    eh_row *index = eh_row_at(f->index, first * f->k);
    const bool votes = f->label && !ref->similarity;
    if (f->label && ref->similarity)
        op->argmax_similarity(f->cp, Y, n, ref->G, ref->r, ref->h, ref->label, ref->similarity,
                              eh_label_at(f->label, first));
    if (votes || f->host_index || f->host_distance)
        op->nearest(f->cp, Y, n, ref->G, ref->r, ref->h, f->k, index, eh_at(f->cp, f->distance, first * f->k));
    if (votes) op->vote(f->cp, index, n, f->k, ref->label, eh_label_at(f->label, first));
}

enhope_status eh_classify_fetch(eh_knn_result *f, enhope_context *ctx, int64_t n, const int32_t *reference_label,
                                int32_t c, const eh_predictions *out)
{
    const eh_compute_ops *op = f->cp->op;
    const int64_t k = f->k;
    if (out->label) op->fetch(f->cp, out->label, f->label, (size_t)n * sizeof *out->label);
    if (f->host_index) op->fetch(f->cp, f->host_index, f->index, (size_t)(n * k) * sizeof *f->host_index);
    if (f->host_distance) op->read(f->cp, f->host_distance, f->distance, n * k);
    EH_TRY(op->sync(f->cp, ctx)); /* after a failure the indices are not valid */
    for (int64_t i = 0; i < n; i++) {
        if (out->winner) out->winner[i] = f->host_index[i * k];
        if (out->distance) out->distance[i] = sqrtf(f->host_distance[i * k]);
        for (int64_t j = i * k; j < (i + 1) * k; j++) {
            if (out->neighbour) out->neighbour[j] = f->host_index[j];
            if (out->neighbour_distance) out->neighbour_distance[j] = sqrtf(f->host_distance[j]);
        }
        if (!out->shares) continue;
        for (int32_t s = 0; s < c; s++) out->shares[i * c + s] = 0;
        for (int64_t j = 0; j < k; j++) out->shares[i * c + reference_label[f->host_index[i * k + j]]] += 1 / (float)k;
    }
    return ENHOPE_OK;
}

static double squared_distance(const float *a, const float *b, int64_t h)
{
    double sum = 0;
    for (int64_t k = 0; k < h; k++) {
        const double difference = (double)a[k] - (double)b[k];
        sum += difference * difference;
    }
    return sum;
}

/* Log-sum-exp per class: the largest exponent of each class is factored out of its sum, so that
 * distant classes do not underflow to 0. */
static void gaussian_logs(const eh_host_references *ref, const float *y, double *top, double *L)
{
    for (int32_t k = 0; k < ref->c; k++) top[k] = -INFINITY, L[k] = 0;
    for (int64_t j = 0; j < ref->r; j++) {
        const double e = squared_distance(y, ref->G + j * ref->h, ref->h);
        double *const max = &top[ref->label[j]], *const sum = &L[ref->label[j]];
        if (-e > *max) {
            *sum = *sum * exp(*max + e) + 1;
            *max = -e;
        } else {
            *sum += exp(-e - *max);
        }
    }
    for (int32_t k = 0; k < ref->c; k++) L[k] = L[k] == 0 ? -INFINITY : top[k] + log(L[k]);
}

/* S (c): the summed similarity to the references of each class. */
static void student_sums(const eh_host_references *ref, const float *y, double *S)
{
    const eh_student s = eh_student_of(ref->dof);
    for (int32_t k = 0; k < ref->c; k++) S[k] = 0;
    for (int64_t j = 0; j < ref->r; j++) {
        const double u = 1 / (1 + squared_distance(y, ref->G + j * ref->h, ref->h) * s.inverse);
        double w = u;
        for (int i = 1; i < s.power; i++) w *= u;
        S[ref->label[j]] += w;
    }
}

static void student_logs(const eh_host_references *ref, const float *y, double *L)
{
    student_sums(ref, y, L);
    for (int32_t k = 0; k < ref->c; k++) L[k] = log(L[k]);
}

void eh_log_similarities(const eh_host_references *ref, const float *y, double *scratch, double *L)
{
    if (ref->gaussian)
        gaussian_logs(ref, y, scratch, L);
    else
        student_logs(ref, y, L);
}

void eh_probabilities(const eh_host_references *ref, double temperature, const float *Y, int64_t n, double *scratch,
                      float *proba)
{
    const int32_t c = ref->c;
    double *const L = scratch + c;
    for (int64_t i = 0; i < n; i++) {
        double top = -INFINITY, all = 0;
        eh_log_similarities(ref, Y + i * ref->h, scratch, L);
        for (int32_t k = 0; k < c; k++) top = L[k] > top ? L[k] : top;
        for (int32_t k = 0; k < c; k++) all += L[k] = exp((L[k] - top) / temperature);
        for (int32_t k = 0; k < c; k++) proba[i * c + k] = (float)(isfinite(all) ? L[k] / all : 1.0 / c);
    }
}

void eh_argmax(const float *proba, int64_t n, int32_t c, int32_t *label)
{
    for (int64_t i = 0; i < n; i++) {
        label[i] = 0;
        for (int32_t k = 1; k < c; k++)
            if (proba[i * c + k] > proba[i * c + label[i]]) label[i] = k;
    }
}

/* Logarithms of similarities that differ by this multiple of the temperature give probabilities
 * that differ as floats, whose relative precision is 1.2e-7. */
static const double CLEAR = 2e-6;

/* The class of largest similarity; -1: another one may have the same probability, or y is not
 * finite. */
static int32_t clear_student(const eh_host_references *ref, double temperature, const float *y, double *S)
{
    int32_t best = 0, rivals = 0;
    student_sums(ref, y, S);
    for (int32_t k = 1; k < ref->c; k++) best = S[k] > S[best] ? k : best;
    const double bound = S[best] * (1 - CLEAR * temperature); /* log(1 - a) <= -a */
    for (int32_t k = 0; k < ref->c; k++) rivals += k != best && !(S[k] < bound);
    return rivals == 0 && S[best] > 0 ? best : -1;
}

/* The similarity of a class is at least exp(-d) of its nearest reference at d, and at most r times
 * as much. */
static int32_t clear_gaussian(const eh_host_references *ref, double temperature, const float *y, double *nearest)
{
    int32_t best = 0, rivals = 0;
    for (int32_t k = 0; k < ref->c; k++) nearest[k] = INFINITY;
    for (int64_t j = 0; j < ref->r; j++) {
        const double d = squared_distance(y, ref->G + j * ref->h, ref->h);
        double *const own = &nearest[ref->label[j]];
        if (!(d >= *own)) *own = d; /* NaN replaces any distance */
    }
    for (int32_t k = 1; k < ref->c; k++) best = nearest[k] < nearest[best] ? k : best;
    const double bound = nearest[best] + log((double)ref->r) + CLEAR * temperature;
    for (int32_t k = 0; k < ref->c; k++) rivals += k != best && !(nearest[k] > bound);
    return rivals == 0 && isfinite(bound) ? best : -1;
}

void eh_classify_rows(const eh_host_references *ref, double temperature, const float *Y, int64_t n, double *scratch,
                      int32_t *label)
{
    float *const proba = (float *)(scratch + 2 * (int64_t)ref->c);
    for (int64_t i = 0; i < n; i++) {
        const float *y = Y + i * ref->h;
        label[i] = (ref->gaussian ? clear_gaussian : clear_student)(ref, temperature, y, scratch);
        if (label[i] >= 0) continue;
        eh_probabilities(ref, temperature, y, 1, scratch, proba);
        eh_argmax(proba, 1, ref->c, &label[i]);
    }
}

void eh_margins(const eh_host_references *ref, const float *Y, int64_t n, const int32_t *label, float *margin)
{
    for (int64_t i = 0; i < n; i++) {
        double own = INFINITY, other = INFINITY;
        for (int64_t j = 0; j < ref->r; j++) {
            const double d = squared_distance(Y + i * ref->h, ref->G + j * ref->h, ref->h);
            double *const nearest = ref->label[j] == label[i] ? &own : &other;
            if (d < *nearest) *nearest = d;
        }
        margin[i] = (float)(sqrt(other) - sqrt(own));
    }
}

/* The paper uses one neighbor if every class has one exemplar, otherwise five. If exemplars are
 * distributed unevenly, say 3, 2, 2, 3, a larger class nearby could outvote a small class even amid
 * all exemplars of the small class. One neighbor is used then. */
int32_t eh_default_neighbors(const int32_t *label, int64_t r)
{
    int64_t min = r, max = 0;
    for (int64_t from = 0, to; from < r; from = to) {
        for (to = from + 1; to < r && label[to] == label[from]; to++) {
        }
        min = to - from < min ? to - from : min;
        max = to - from > max ? to - from : max;
    }
    const int64_t k = r < EH_NEIGHBORS ? r : EH_NEIGHBORS, others = k - min;
    const bool outvoted = (others < max ? others : max) > min;
    return max <= 1 || outvoted ? 1 : (int32_t)k;
}
