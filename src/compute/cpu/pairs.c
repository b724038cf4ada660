/* Neighbor problems on the cpu: the fast kernel of objective/neighbor.c. Sums over pairs, then
 * weights (pair_weights.h), then gradients.
 *
 * Distances are computed from differences, a strip of compared points at a time, and again in
 * each pass, so nothing of size n x z is stored. Threads share the rows. The gradient of the
 * compared points is a second pass with swapped roles, so every sum is made by one thread in one
 * order. */
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"
#include "compute/pair_weights.h"

enum { STRIP = 256 };

EH_SIMD static void distances(int64_t count, int64_t dims, const float *restrict a, const float *restrict B,
                              float *restrict d)
{
    if (dims == 2) {
        for (int64_t j = 0; j < count; j++) {
            const float u = a[0] - B[2 * j], v = a[1] - B[2 * j + 1];
            d[j] = u * u + v * v;
        }
        return;
    }
    for (int64_t j = 0; j < count; j++) {
        const float *b = B + j * dims;
        float partial[16] = {0}, sum = 0;
        int64_t k = 0;
        for (; k + 16 <= dims; k += 16)
            for (int l = 0; l < 16; l++) partial[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
        for (; k < dims; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
        for (int l = 0; l < 16 && dims >= 16; l++) sum += partial[l];
        d[j] = sum;
    }
}

/* A function with several versions cannot have hidden visibility, so this wrapper is exported. */
void eh_cpu_distances(int64_t count, int64_t dims, const float *restrict a, const float *restrict B, float *restrict d)
{
    distances(count, dims, a, B, d);
}

/* u = 1 / (1 + d / nu), w = u^p */
EH_SIMD static void similarities(eh_student s, int64_t count, const float *restrict d, float *restrict u,
                                 float *restrict w)
{
    const float inverse = (float)s.inverse;
    for (int64_t j = 0; j < count; j++) u[j] = w[j] = 1 / (1 + d[j] * inverse);
    for (int o = 1; o < s.power; o++)
        for (int64_t j = 0; j < count; j++) w[j] *= u[j];
}

/* Gaussian similarities relative to the similarity at min_distance. */
EH_SIMD static void relative(int64_t count, float min_distance, const float *restrict d, float *restrict w)
{
    for (int64_t j = 0; j < count; j++) w[j] = eh_exp(min_distance - d[j]);
}

EH_SIMD static void log_similarities(bool gaussian, eh_student s, int64_t count, const float *restrict d,
                                     float *restrict lw)
{
    const float power = (float)s.power, inverse = (float)s.inverse;
    for (int64_t j = 0; j < count; j++) lw[j] = gaussian ? -d[j] : -power * eh_log1p(d[j] * inverse);
}

/* ---- sums ---- */

/* The contribution of the compared points from j0 on to the `spread` of a sample. */
static double spread_sum(const eh_pairs *p, int64_t j0, int64_t count, const float *d)
{
    const float *share = eh_f(p->smoothing.share) + j0;
    float lw[STRIP];
    double sum = 0;
    log_similarities(p->gaussian, eh_student_of(p->dof), count, d, lw);
    for (int64_t j = 0; j < count; j++) sum += share[j] * lw[j];
    return sum;
}

static eh_pair_sums student_row(const eh_pairs *p, int64_t i)
{
    const eh_student s = eh_student_of(p->dof);
    const float *y = eh_f(p->Y) + i * p->h, power = (float)s.power, inverse = (float)s.inverse;
    const int32_t label = eh_host_labels(p->label)[i], *other = eh_host_labels(p->other_label);
    double all = 0, mine = 0, same_count = 0, spread = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], u[STRIP], w[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        similarities(s, count, d, u, w);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            if (label != other[j0 + j]) continue;
            mine += p->nca ? w[j] : -power * log1pf(d[j] * inverse);
            same_count += 1;
        }
        if (p->smoothing.part > 0) spread += spread_sum(p, j0, count, d);
    }
    return (eh_pair_sums){.log_all = log(all),
                          .same = p->nca ? log(mine) : mine,
                          .count = label < 0 ? 0 : same_count,
                          .spread = spread,
                          .weight = eh_sample_weight(label, eh_f(p->weight), i)};
}

/* The smallest distance of the pairs of sample i. */
static float find_min_distance(const eh_pairs *p, int64_t i)
{
    float min_distance = INFINITY;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP];
        distances(count, p->h, eh_f(p->Y) + i * p->h, eh_f(p->G) + j0 * p->h, d);
        for (int64_t j = 0; j < count; j++)
            if (d[j] < min_distance && !(p->self && j0 + j == i)) min_distance = d[j];
    }
    return min_distance;
}

/* Two passes: the first finds the smallest distances, so that the sums of exponentials neither
 * overflow nor underflow. */
static eh_pair_sums gaussian_row(const eh_pairs *p, int64_t i)
{
    const float *y = eh_f(p->Y) + i * p->h;
    const int32_t label = eh_host_labels(p->label)[i], *other = eh_host_labels(p->other_label);
    float min_distance = INFINITY, min_same = INFINITY;
    double mine = 0, same_count = 0, spread = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            min_distance = d[j] < min_distance ? d[j] : min_distance;
            if (label != other[j0 + j]) continue;
            min_same = d[j] < min_same ? d[j] : min_same;
            mine -= d[j];
            same_count += 1;
        }
        if (p->smoothing.part > 0) spread += spread_sum(p, j0, count, d);
    }
    double all = 0, all_same = 0;
    for (int64_t j0 = 0; j0 < p->z && min_distance < INFINITY; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], w[STRIP], w_same[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        relative(count, min_distance, d, w);
        if (p->nca) relative(count, min_same, d, w_same);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            if (p->nca && label == other[j0 + j]) all_same += w_same[j];
        }
    }
    return (eh_pair_sums){.log_all = log(all) - (min_distance < INFINITY ? min_distance : 0),
                          .same = !p->nca ? mine : log(all_same) - (min_same < INFINITY ? min_same : 0),
                          .count = label < 0 ? 0 : same_count,
                          .spread = spread,
                          .weight = eh_sample_weight(label, eh_f(p->weight), i)};
}

/* With target_probs. */
static eh_pair_sums target_probs_row(const eh_pairs *p, int64_t i)
{
    const eh_student s = eh_student_of(p->dof);
    const float *y = eh_f(p->Y) + i * p->h, *P = eh_f(p->target_probs) + i * p->z, inverse = (float)s.inverse;
    const float min_distance = p->gaussian ? find_min_distance(p, i) : 0;
    double all = 0, cross = 0, mass = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], u[STRIP], w[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        if (p->gaussian)
            relative(count, min_distance, d, w);
        else
            similarities(s, count, d, u, w);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            const float target = P[j0 + j], x = d[j] * inverse;
            if (!(target > 0)) continue;
            mass += target;
            cross += target * (p->gaussian ? logf(target) + d[j] : logf(target * (1 + x)));
            if (!p->gaussian && s.power > 1) cross += target * (float)(s.power - 1) * log1pf(x);
        }
    }
    return (eh_pair_sums){.log_all = log(all) - min_distance, .same = -cross, .count = mass, .weight = 1};
}

/* ---- weights ---- */

/* The joint normalizer covers every labeled row, even if no compared point has its class. */
static double log_normalizer(const eh_pairs *p, const eh_pair_sums *sums)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (sums[i].weight > 0 && !(sums[i].log_all <= largest)) largest = sums[i].log_all;
    for (int64_t i = 0; i < p->n; i++)
        if (sums[i].weight > 0) sum += sums[i].weight * exp(sums[i].log_all - largest);
    return largest + log(sum);
}

/* Computes the weights attract, repel, spread (n) of the samples from their sums (n), and the
 * loss. Returns false if no sample has a target; the loss and all gradients are then 0. */
static bool weigh(const eh_pairs *p, const eh_pair_sums *sums, double *attract, double *repel, double *spread,
                  double *loss)
{
    eh_pair_totals all = {0};
    for (int64_t i = 0; i < p->n; i++) {
        all.with_target += sums[i].count > 0 ? sums[i].weight : 0;
        all.same_pairs += sums[i].weight * sums[i].count;
    }
    *loss = 0;
    if (all.with_target == 0) return false;
    all.log_Z = log_normalizer(p, sums);
    const eh_pair_rule rule = eh_pair_rule_of(p);
    for (int64_t i = 0; i < p->n; i++) {
        const eh_pair_weight w = p->target_probs ? eh_target_probs_weight_of(&rule, &all, sums + i)
                                                 : eh_pair_weight_of(&rule, &all, sums + i);
        attract[i] = w.attract;
        repel[i] = w.repel;
        spread[i] = w.spread;
        *loss += w.loss;
    }
    return true;
}

/* ---- gradients ---- */

/* A strip of pairs: distances d and, for Student, u and w. */
typedef struct strip {
    float d[STRIP], u[STRIP], w[STRIP];
} strip;

static void measure(const eh_pairs *p, int64_t count, const float *a, const float *B, strip *s)
{
    distances(count, p->h, a, B, s->d);
    if (!p->gaussian) similarities(eh_student_of(p->dof), count, s->d, s->u, s->w);
}

/* Derivatives D of a strip, for Student without the factor k: one sample i against compared
 * points. */
EH_SIMD static void slopes_of_sample(const eh_pairs *p, int64_t count, int32_t label, const int32_t *restrict other,
                                     float attract, float repel, const strip *restrict s, float *restrict slope)
{
    if (p->gaussian) {
        const float pull = p->nca ? 0 : eh_exp(attract);
        for (int64_t t = 0; t < count; t++) {
            const float a = p->nca ? eh_exp(attract - s->d[t]) : pull;
            slope[t] = (other[t] == label ? a : 0) - eh_exp(repel - s->d[t]);
        }
        return;
    }
    const float constant = p->nca ? 0 : attract, per_w = p->nca ? attract : 0;
    for (int64_t t = 0; t < count; t++)
        slope[t] = (other[t] == label ? constant + per_w * s->w[t] : 0) - repel * s->w[t];
}

/* The same for one compared point j against samples, each with its own weights. */
EH_SIMD static void slopes_of_compared(const eh_pairs *p, int64_t count, int32_t other, const int32_t *restrict label,
                                       const double *restrict attract, const double *restrict repel,
                                       const strip *restrict s, float *restrict slope)
{
    if (p->gaussian) {
        for (int64_t t = 0; t < count; t++) {
            const float a = eh_exp((float)attract[t] - (p->nca ? s->d[t] : 0));
            slope[t] = (label[t] == other ? a : 0) - eh_exp((float)repel[t] - s->d[t]);
        }
        return;
    }
    for (int64_t t = 0; t < count; t++) {
        const float w = s->w[t], a = (float)attract[t];
        slope[t] = (label[t] == other ? (p->nca ? a * w : a) : 0) - (float)repel[t] * w;
    }
}

/* With target_probs, for both: `repel` of the one sample, or `others` for each. P: every `ld`th
 * entry. */
EH_SIMD static void slopes_target_probs(bool gaussian, int64_t count, const float *restrict P, int64_t ld, float repel,
                                        const double *restrict others, const strip *restrict s, float *restrict slope)
{
    for (int64_t t = 0; t < count; t++) {
        const float own = others ? (float)others[t] : repel;
        slope[t] = P[t * ld] - (gaussian ? eh_exp(own - s->d[t]) : own * s->w[t]);
    }
}

/* Multiplies by k, which is 1 for the Gaussian. Leaves out the pair of point i with itself: its
 * derivative may be infinite, but its difference is zero. */
EH_SIMD static void scale_slopes(const eh_pairs *p, int64_t i, int64_t from, int64_t count, const strip *restrict s,
                                 float *restrict slope)
{
    const float rate = (float)eh_student_of(p->dof).rate;
    if (!p->gaussian)
        for (int64_t t = 0; t < count; t++) slope[t] *= rate * s->u[t];
    if (p->self && i >= from && i < from + count) slope[i - from] = 0;
}

/* out += 2 sum_t D_t (a - B_t) */
EH_SIMD static void pull_towards(int64_t count, int64_t h, const float *restrict slope, const float *restrict a,
                                 const float *restrict B, float *restrict out)
{
    if (h >= 16) {
        for (int64_t t = 0; t < count; t++)
            for (int64_t k = 0; k < h; k++) out[k] += 2 * slope[t] * (a[k] - B[t * h + k]);
        return;
    }
    for (int64_t k = 0; k < h; k++) {
        float partial[8] = {0};
        int64_t t = 0;
        for (; t + 8 <= count; t += 8)
            for (int l = 0; l < 8; l++) partial[l] += slope[t + l] * (a[k] - B[(t + l) * h + k]);
        for (; t < count; t++) partial[0] += slope[t] * (a[k] - B[t * h + k]);
        out[k] += 2 * (((partial[0] + partial[4]) + (partial[1] + partial[5])) +
                       ((partial[2] + partial[6]) + (partial[3] + partial[7])));
    }
}

void eh_cpu_pull_towards(int64_t count, int64_t dims, const float *restrict slope, const float *restrict a,
                         const float *restrict B, float *restrict out)
{
    pull_towards(count, dims, slope, a, B, out);
}

static void add_sample_side(const eh_pairs *p, int64_t i, double attract, double repel, double spread, float *out)
{
    const int64_t h = p->h;
    const float *y = eh_f(p->Y) + i * h;
    for (int64_t from = 0; from < p->z; from += STRIP) {
        const int64_t count = p->z - from < STRIP ? p->z - from : STRIP;
        const float *G = eh_f(p->G) + from * h;
        float slope[STRIP];
        strip s;
        measure(p, count, y, G, &s);
        if (p->target_probs)
            slopes_target_probs(p->gaussian, count, eh_f(p->target_probs) + i * p->z + from, 1, (float)repel, NULL, &s,
                                slope);
        else
            slopes_of_sample(p, count, eh_host_labels(p->label)[i], eh_host_labels(p->other_label) + from,
                             (float)attract, (float)repel, &s, slope);
        for (int64_t t = 0; t < count && spread > 0; t++)
            slope[t] += (float)spread * eh_f(p->smoothing.share)[from + t];
        scale_slopes(p, i, from, count, &s, slope);
        pull_towards(count, h, slope, y, G, out);
    }
}

static void add_compared_side(const eh_pairs *p, int64_t j, const double *attract, const double *repel,
                              const double *spread, float *out)
{
    const int64_t h = p->h;
    const float *g = eh_f(p->G) + j * h;
    for (int64_t from = 0; from < p->n; from += STRIP) {
        const int64_t count = p->n - from < STRIP ? p->n - from : STRIP;
        const float *Y = eh_f(p->Y) + from * h;
        float slope[STRIP];
        strip s;
        measure(p, count, g, Y, &s);
        if (p->target_probs) /* P is symmetric with self: then its row is contiguous */
            slopes_target_probs(p->gaussian, count,
                                eh_f(p->target_probs) + (p->self ? j * p->z + from : from * p->z + j),
                                p->self ? 1 : p->z, 0, repel + from, &s, slope);
        else
            slopes_of_compared(p, count, eh_host_labels(p->other_label)[j], eh_host_labels(p->label) + from,
                               attract + from, repel + from, &s, slope);
        for (int64_t t = 0; t < count && p->smoothing.part > 0; t++)
            slope[t] += (float)spread[from + t] * eh_f(p->smoothing.share)[j];
        scale_slopes(p, j, from, count, &s, slope);
        pull_towards(count, h, slope, g, Y, out);
    }
}

static void gradient(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, const double *spread,
                     float *dY, float *dG)
{
    const int64_t h = p->h;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        add_sample_side(p, i, attract[i], repel[i], spread[i], dY + i * h);
        if (p->self) add_compared_side(p, i, attract, repel, spread, dY + i * h);
    }
    if (p->self) return;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t j = 0; j < p->z; j++) add_compared_side(p, j, attract, repel, spread, dG + j * h);
}

/* ---- all steps ---- */

void *eh_cpu_scratch(eh_cpu_state *state, int64_t count, size_t size)
{
    const size_t bytes = (size_t)count * size;
    if (bytes <= state->scratch_bytes && state->scratch) return state->scratch;
    eh_free(state->scratch);
    state->scratch = eh_alloc((size_t)count, size);
    state->scratch_bytes = state->scratch ? bytes : 0;
    if (!state->scratch) state->failed_bytes = (int64_t)bytes;
    return state->scratch;
}

void eh_cpu_pairs(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG)
{
    eh_loss_value *value = eh_host_value(loss);
    *value = (eh_loss_value){.value = NAN};
    memset(dY, 0, (size_t)(p->n * p->h) * sizeof(float));
    if (!p->self) memset(dG, 0, (size_t)(p->z * p->h) * sizeof(float));
    eh_pair_sums *sums = eh_cpu_scratch(c->state, p->n, sizeof *sums + 3 * sizeof(double));
    if (!sums) return;
    double *attract = (double *)(sums + p->n), *repel = attract + p->n, *spread = repel + p->n;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < p->n; i++)
        sums[i] = (p->target_probs ? target_probs_row : p->gaussian ? gaussian_row : student_row)(p, i);
    if (weigh(p, sums, attract, repel, spread, &value->value))
        gradient(c, p, attract, repel, spread, eh_f(dY), eh_f(dG));
}

/* The targets of row i: mass times the target of its label, or times its own similarities. */
static void target_row(const eh_pairs *p, int64_t i, double mass, float *P)
{
    const eh_student s = eh_student_of(p->dof);
    const float *y = eh_f(p->Y) + i * p->h, smooth = (float)p->smoothing.part;
    const int32_t label = eh_host_labels(p->label)[i], *other = eh_host_labels(p->other_label);
    const float min_distance = p->gaussian && label < 0 ? find_min_distance(p, i) : 0;
    double sum = 0; /* of similarities, or of compared points of the class */
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], u[STRIP], *w = P + j0;
        if (label < 0) distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        if (label >= 0)
            for (int64_t j = 0; j < count; j++) w[j] = other[j0 + j] == label;
        else if (p->gaussian)
            relative(count, min_distance, d, w);
        else
            similarities(s, count, d, u, w);
        for (int64_t j = 0; j < count; j++) sum += w[j];
    }
    const float scale = sum > 0 ? (float)(mass / sum) : 0, share = sum > 0 ? smooth * (float)mass : 0;
    if (label < 0 || !(smooth > 0))
        for (int64_t j = 0; j < p->z; j++) P[j] *= scale;
    else
        for (int64_t j = 0; j < p->z; j++) P[j] = (1 - smooth) * scale * P[j] + share * eh_f(p->smoothing.share)[j];
}

void eh_cpu_own_targets(eh_compute *c, const eh_pairs *p, double unlabeled, eh_real *P)
{
    const int32_t *label = eh_host_labels(p->label);
    const float *weight = p->weight ? eh_f(p->weight) : NULL;
    double all[2] = {0}; /* weight of the samples with a label, and of those without */
    for (int64_t i = 0; i < p->n; i++) all[label[i] < 0] += weight ? (double)weight[i] : 1;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        const double own = (weight ? (double)weight[i] : 1) * (label[i] < 0 ? unlabeled : 1);
        target_row(p, i, own > 0 ? own / all[label[i] < 0] : 0, eh_f(P) + i * p->z);
    }
}
