/* Classes from neighbours: the vote of the k nearest references, and each class's share of the similarity to all of
 * them,
 *
 *   P(class | y) = sum of w(y, g_j) over the class's g_j / sum over all, w = 1 / (1 + d) or exp(-d), d = |y - g_j|^2
 */
#include <math.h>

#include "classify/classify.h"

int32_t eh_vote(const int64_t *index, int64_t k, const int32_t *reference_label, int32_t *votes)
{
    int32_t most = 0;
    for (int64_t j = 0; j < k; j++) {
        const int32_t count = ++votes[reference_label[index[j]]];
        if (count > most) most = count;
    }
    int64_t first = 0;
    while (votes[reference_label[index[first]]] < most) first++;
    for (int64_t j = 0; j < k; j++) votes[reference_label[index[j]]] = 0;
    return reference_label[index[first]];
}

/* The workspace: index (n, k), then distance (n, k), then votes (c). */
int64_t eh_classify_work(int64_t n, int64_t k, int32_t c)
{
    int64_t found, bytes;
    if (!eh_mul(n, k, &found) || !eh_mul(found, (int64_t)(sizeof(int64_t) + sizeof(float)), &bytes) ||
        __builtin_add_overflow(bytes, (int64_t)c * (int64_t)sizeof(int32_t), &bytes))
        return -1;
    return bytes;
}

void eh_classify(eh_compute *cp, const eh_references *ref, const eh_real *Y, int64_t n, int64_t k, void *work,
                 int32_t *label, int64_t *winner, float *distance, float *shares)
{
    int64_t *index = work;
    float *square = (float *)(index + n * k);
    int32_t *votes = (int32_t *)(square + n * k);
    for (int32_t i = 0; i < ref->c; i++) votes[i] = 0; /* a shorter last block lays the workspace out anew */
    cp->op->nearest(cp, Y, n, ref->G, ref->r, ref->h, k, index, square);
    for (int64_t i = 0; i < n; i++) {
        if (label) label[i] = eh_vote(index + i * k, k, ref->label, votes);
        if (winner) winner[i] = index[i * k];
        if (distance) distance[i] = sqrtf(square[i * k]);
        if (!shares) continue;
        for (int32_t s = 0; s < ref->c; s++) shares[i * ref->c + s] = 0;
        for (int64_t j = 0; j < k; j++) shares[i * ref->c + ref->label[index[i * k + j]]] += 1 / (float)k;
    }
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

/* sums[k] = sum of exp(shift - d) over class k, shift the smallest d, which cancels in the shares: the largest term is
 * 1 and the sum is never 0. */
static void gaussian_sums(const float *G, const int32_t *label, int64_t r, int64_t h, const float *y, double *sums)
{
    double shift = INFINITY;
    for (int64_t j = 0; j < r; j++) {
        const double d = squared_distance(y, G + j * h, h);
        if (d < shift) shift = d;
    }
    for (int64_t j = 0; j < r; j++) sums[label[j]] += exp(shift - squared_distance(y, G + j * h, h));
}

static void student_sums(const float *G, const int32_t *label, int64_t r, int64_t h, const float *y, double *sums)
{
    for (int64_t j = 0; j < r; j++) sums[label[j]] += 1 / (1 + squared_distance(y, G + j * h, h));
}

void eh_probabilities(bool gaussian, const float *G, const int32_t *label, int64_t r, int64_t h, int32_t c,
                      const float *Y, int64_t n, double *sums, float *proba)
{
    for (int64_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < c; k++) sums[k] = 0;
        (gaussian ? gaussian_sums : student_sums)(G, label, r, h, Y + i * h, sums);
        double all = 0;
        for (int32_t k = 0; k < c; k++) all += sums[k];
        const bool known = all > 0 && isfinite(all);
        for (int32_t k = 0; k < c; k++) proba[i * c + k] = (float)(known ? sums[k] / all : 1.0 / c);
    }
}

/* The paper takes one neighbour where a class has one exemplar, else five. But with exemplars shared out unevenly, say
 * 3, 2, 2, 3, a point amid all of a small class's exemplars would be outvoted by a larger class next door. */
int32_t eh_default_neighbours(const int32_t *label, int64_t r)
{
    int64_t fewest = r, most = 0;
    for (int64_t from = 0, to; from < r; from = to) {
        for (to = from + 1; to < r && label[to] == label[from]; to++) {
        }
        fewest = to - from < fewest ? to - from : fewest;
        most = to - from > most ? to - from : most;
    }
    const int64_t k = r < EH_NEIGHBOURS ? r : EH_NEIGHBOURS, strangers = k - fewest;
    const bool outvoted = (strangers < most ? strangers : most) > fewest;
    return most <= 1 || outvoted ? 1 : (int32_t)k;
}
