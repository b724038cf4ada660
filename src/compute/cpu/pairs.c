/* The cpu backend's neighbour problems: sums over pairs, weights from them (host.c), gradients.
 *
 * Distances are taken by differences, a strip of compared points at a time, and made anew in each pass: nothing of
 * size n x z is ever held. Rows are shared out to threads; a gradient of compared points is a second pass with the
 * roles swapped, so that every sum has one owner and one order. */
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"

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
        float lane[16] = {0}, sum = 0;
        int64_t k = 0;
        for (; k + 16 <= dims; k += 16)
            for (int l = 0; l < 16; l++) lane[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
        for (; k < dims; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
        for (int l = 0; l < 16 && dims >= 16; l++) sum += lane[l];
        d[j] = sum;
    }
}

/* A function of several versions cannot be hidden, so the one that others see calls it. */
void eh_cpu_distances(int64_t count, int64_t dims, const float *restrict a, const float *restrict B, float *restrict d)
{
    distances(count, dims, a, B, d);
}

EH_SIMD static void inverse(int64_t count, const float *restrict d, float *restrict w)
{
    for (int64_t j = 0; j < count; j++) w[j] = 1 / (1 + d[j]);
}

EH_SIMD static void student_energies(eh_student s, int64_t count, float *restrict d, float *restrict k)
{
    const float half = (float)s.half, inverse = (float)s.inverse, rate = (float)s.rate;
    for (int64_t j = 0; j < count; j++) {
        const float x = d[j] * inverse;
        k[j] = rate / (1 + x);
        d[j] = half * eh_log1p(x);
    }
}

/* Of all but the gaussian energies are made from the distances in d, in their place, and k, their slopes. */
static void energies(const eh_pairs *p, int64_t count, float *d, float *k)
{
    if (!p->gaussian) student_energies(eh_student_of(p->freedom), count, d, k);
}

/* Similarities relative to that of the energy `least`. */
EH_SIMD static void relative(int64_t count, float least, const float *restrict e, float *restrict w)
{
    for (int64_t j = 0; j < count; j++) w[j] = eh_exp(least - e[j]);
}

/* ---- sums ---- */

static eh_pair_sums student_row(const eh_pairs *p, int64_t i)
{
    const float *y = eh_f(p->Y) + i * p->h;
    const int32_t label = eh_host_labels(p->label)[i], *other = eh_host_labels(p->other_label);
    double all = 0, mine = 0, kin = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], w[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        inverse(count, d, w);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            if (label != other[j0 + j]) continue;
            mine += p->nca ? w[j] : -log1pf(d[j]);
            kin += 1;
        }
    }
    return (eh_pair_sums){.log_all = log(all), .same = p->nca ? log(mine) : mine, .count = label < 0 ? 0 : kin};
}

/* The least energy of sample i's pairs. */
static float least_energy(const eh_pairs *p, int64_t i)
{
    float least = INFINITY;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], k[STRIP];
        distances(count, p->h, eh_f(p->Y) + i * p->h, eh_f(p->G) + j0 * p->h, d);
        energies(p, count, d, k);
        for (int64_t j = 0; j < count; j++)
            if (d[j] < least && !(p->self && j0 + j == i)) least = d[j];
    }
    return least;
}

/* Two walks: the smallest energies first, so that the sums of exponentials neither overflow nor vanish. */
static eh_pair_sums energy_row(const eh_pairs *p, int64_t i)
{
    const float *y = eh_f(p->Y) + i * p->h;
    const int32_t label = eh_host_labels(p->label)[i], *other = eh_host_labels(p->other_label);
    float least = INFINITY, least_same = INFINITY;
    double mine = 0, kin = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], k[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        energies(p, count, d, k);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            least = d[j] < least ? d[j] : least;
            if (label != other[j0 + j]) continue;
            least_same = d[j] < least_same ? d[j] : least_same;
            mine -= d[j];
            kin += 1;
        }
    }
    double all = 0, all_same = 0;
    for (int64_t j0 = 0; j0 < p->z && least < INFINITY; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], w[STRIP], w_same[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        energies(p, count, d, w);
        relative(count, least, d, w);
        if (p->nca) relative(count, least_same, d, w_same);
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            if (p->nca && label == other[j0 + j]) all_same += w_same[j];
        }
    }
    return (eh_pair_sums){.log_all = log(all) - (least < INFINITY ? least : 0),
                          .same = !p->nca ? mine : log(all_same) - (least_same < INFINITY ? least_same : 0),
                          .count = label < 0 ? 0 : kin};
}

/* Where P is given. */
static eh_pair_sums given_row(const eh_pairs *p, int64_t i)
{
    const float *y = eh_f(p->Y) + i * p->h, *P = eh_f(p->P) + i * p->z;
    const bool logs = eh_by_energy(p->gaussian, p->freedom);
    const float least = logs ? least_energy(p, i) : 0;
    double all = 0, cross = 0, mass = 0;
    for (int64_t j0 = 0; j0 < p->z; j0 += STRIP) {
        const int64_t count = p->z - j0 < STRIP ? p->z - j0 : STRIP;
        float d[STRIP], w[STRIP];
        distances(count, p->h, y, eh_f(p->G) + j0 * p->h, d);
        if (logs) {
            energies(p, count, d, w);
            relative(count, least, d, w);
        } else {
            inverse(count, d, w);
        }
        for (int64_t j = 0; j < count; j++) {
            if (p->self && j0 + j == i) continue;
            all += w[j];
            const float target = P[j0 + j];
            if (!(target > 0)) continue;
            mass += target;
            cross += target * (logs ? logf(target) + d[j] : logf(target * (1 + d[j])));
        }
    }
    return (eh_pair_sums){.log_all = log(all) - least, .same = -cross, .count = mass};
}

/* ---- gradients ---- */

/* Slopes D of a strip of pairs, in place of the distances in d; with `logs` by the energy, in its place. First for one
 * sample i against compared points ... */
EH_SIMD static void slopes_of_sample(const eh_pairs *p, bool logs, int64_t count, int32_t label,
                                     const int32_t *restrict other, float attract, float repel, float *restrict d)
{
    if (logs) {
        const float pull = p->nca ? 0 : eh_exp(attract);
        for (int64_t t = 0; t < count; t++) {
            const float a = p->nca ? eh_exp(attract - d[t]) : pull;
            d[t] = (other[t] == label ? a : 0) - eh_exp(repel - d[t]);
        }
        return;
    }
    const float constant = p->nca ? 0 : attract, per_w = p->nca ? attract : 0;
    for (int64_t t = 0; t < count; t++) {
        const float w = 1 / (1 + d[t]);
        d[t] = ((other[t] == label ? constant + per_w * w : 0) - repel * w) * w;
    }
}

/* ... then for one compared point j against samples, each with its own weights. */
EH_SIMD static void slopes_of_compared(const eh_pairs *p, bool logs, int64_t count, int32_t other,
                                       const int32_t *restrict label, const double *restrict attract,
                                       const double *restrict repel, float *restrict d)
{
    if (logs) {
        for (int64_t t = 0; t < count; t++) {
            const float a = eh_exp((float)attract[t] - (p->nca ? d[t] : 0));
            d[t] = (label[t] == other ? a : 0) - eh_exp((float)repel[t] - d[t]);
        }
        return;
    }
    for (int64_t t = 0; t < count; t++) {
        const float w = 1 / (1 + d[t]), a = (float)attract[t];
        d[t] = ((label[t] == other ? (p->nca ? a * w : a) : 0) - (float)repel[t] * w) * w;
    }
}

/* Where P is given, either: `repel` of the one sample, or `others` of each. */
EH_SIMD static void slopes_given(bool logs, int64_t count, const float *restrict P, float repel,
                                 const double *restrict others, float *restrict d)
{
    for (int64_t t = 0; t < count; t++) {
        const float own = others ? (float)others[t] : repel, w = 1 / (1 + d[t]);
        d[t] = logs ? P[t] - eh_exp(own - d[t]) : (P[t] - own * w) * w;
    }
}

/* P of compared point j with `count` samples. */
static const float *given_column(const eh_pairs *p, int64_t j, int64_t from, int64_t count, float *room)
{
    if (p->self) return eh_f(p->P) + j * p->z + from;
    for (int64_t t = 0; t < count; t++) room[t] = eh_f(p->P)[(from + t) * p->z + j];
    return room;
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
        float lane[8] = {0};
        int64_t t = 0;
        for (; t + 8 <= count; t += 8)
            for (int l = 0; l < 8; l++) lane[l] += slope[t + l] * (a[k] - B[(t + l) * h + k]);
        for (; t < count; t++) lane[0] += slope[t] * (a[k] - B[t * h + k]);
        out[k] += 2 * (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])));
    }
}

void eh_cpu_pull_towards(int64_t count, int64_t dims, const float *restrict slope, const float *restrict a,
                         const float *restrict B, float *restrict out)
{
    pull_towards(count, dims, slope, a, B, out);
}

/* From slopes by the energy to slopes by the distance; k is 1 for the gaussian. */
static void by_distance(const eh_pairs *p, int64_t count, const float *k, float *slope)
{
    for (int64_t t = 0; t < count && !p->gaussian; t++) slope[t] *= k[t];
}

/* The pair of point i with itself: its slope may be infinite, its difference is zero. */
static void leave_out_self(const eh_pairs *p, int64_t i, int64_t from, int64_t count, float *slope)
{
    if (p->self && i >= from && i < from + count) slope[i - from] = 0;
}

static void add_sample_side(const eh_pairs *p, int64_t i, double attract, double repel, float *out)
{
    const int64_t h = p->h;
    const bool logs = eh_by_energy(p->gaussian, p->freedom);
    const float *y = eh_f(p->Y) + i * h;
    for (int64_t from = 0; from < p->z; from += STRIP) {
        const int64_t count = p->z - from < STRIP ? p->z - from : STRIP;
        const float *G = eh_f(p->G) + from * h;
        float d[STRIP], k[STRIP];
        distances(count, h, y, G, d);
        if (logs) energies(p, count, d, k);
        if (p->P)
            slopes_given(logs, count, eh_f(p->P) + i * p->z + from, (float)repel, NULL, d);
        else
            slopes_of_sample(p, logs, count, eh_host_labels(p->label)[i], eh_host_labels(p->other_label) + from,
                             (float)attract, (float)repel, d);
        if (logs) by_distance(p, count, k, d);
        leave_out_self(p, i, from, count, d);
        pull_towards(count, h, d, y, G, out);
    }
}

static void add_compared_side(const eh_pairs *p, int64_t j, const double *attract, const double *repel, float *out)
{
    const int64_t h = p->h;
    const bool logs = eh_by_energy(p->gaussian, p->freedom);
    const float *g = eh_f(p->G) + j * h;
    for (int64_t from = 0; from < p->n; from += STRIP) {
        const int64_t count = p->n - from < STRIP ? p->n - from : STRIP;
        const float *Y = eh_f(p->Y) + from * h;
        float d[STRIP], k[STRIP], room[STRIP];
        distances(count, h, g, Y, d);
        if (logs) energies(p, count, d, k);
        if (p->P)
            slopes_given(logs, count, given_column(p, j, from, count, room), 0, repel + from, d);
        else
            slopes_of_compared(p, logs, count, eh_host_labels(p->other_label)[j], eh_host_labels(p->label) + from,
                               attract + from, repel + from, d);
        if (logs) by_distance(p, count, k, d);
        leave_out_self(p, j, from, count, d);
        pull_towards(count, h, d, g, Y, out);
    }
}

static void gradient(eh_compute *c, const eh_pairs *p, const double *attract, const double *repel, float *dY, float *dG)
{
    const int64_t h = p->h;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        add_sample_side(p, i, attract[i], repel[i], dY + i * h);
        if (p->self) add_compared_side(p, i, attract, repel, dY + i * h);
    }
    if (p->self) return;
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t j = 0; j < p->z; j++) add_compared_side(p, j, attract, repel, dG + j * h);
}

/* ---- the whole ---- */

void *eh_cpu_room(eh_cpu_state *state, int64_t count, size_t size)
{
    const size_t bytes = (size_t)count * size;
    if (bytes <= state->room_bytes && state->room) return state->room;
    eh_free(state->room);
    state->room = eh_alloc((size_t)count, size);
    state->room_bytes = state->room ? bytes : 0;
    if (!state->room) state->lacked = (int64_t)bytes;
    return state->room;
}

void eh_cpu_pairs(eh_compute *c, const eh_pairs *p, eh_scalar *loss, eh_real *dY, eh_real *dG)
{
    eh_value *value = eh_host_value(loss);
    *value = (eh_value){.value = NAN};
    memset(dY, 0, (size_t)(p->n * p->h) * sizeof(float));
    if (!p->self) memset(dG, 0, (size_t)(p->z * p->h) * sizeof(float));
    eh_pair_sums *sums = eh_cpu_room(c->state, p->n, sizeof *sums + 2 * sizeof(double));
    if (!sums) return;
    double *attract = (double *)(sums + p->n), *repel = attract + p->n;
    const bool logs = eh_by_energy(p->gaussian, p->freedom);
#pragma omp parallel for num_threads(c->threads) if (p->n * p->z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < p->n; i++) sums[i] = (p->P ? given_row : logs ? energy_row : student_row)(p, i);
    if (eh_host_pair_weights(p, sums, attract, repel, &value->value))
        gradient(c, p, attract, repel, eh_f(dY), eh_f(dG));
}
