/* Confidence of a classification: temperature, calibration, coverage.
 *
 * With beta = 1/T the negative log-likelihood of softmax(beta L) is convex in beta. Its slope is
 * the sum over samples of the mean of L under softmax(beta L) minus the L of the true class; its
 * curvature is the sum of the variances. Newton's method in log beta, kept inside a bracket, finds
 * the root of the slope. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "classify/confidence.h"

static const double MAX_TEMPERATURE = 100, MIN_TEMPERATURE = 0.01;

typedef struct slopes {
    double first, second; /* derivatives with respect to beta */
} slopes;

/* Adds a sample with a smoothed label: `doubt` of its weight goes to the strongest other class. All
 * samples together give away the weight of one, so that a set without errors does not make the
 * model certain. */
static void add_sample(const double *L, int32_t label, double weight, int32_t c, double beta, double doubt, slopes *sum)
{
    double other = -INFINITY;
    for (int32_t k = 0; k < c; k++)
        if (k != label && L[k] > other) other = L[k];
    if (!isfinite(L[label]) || !isfinite(other)) return;
    const double top = fmax(L[label], other);
    double all = 0, mean = 0, square = 0;
    for (int32_t k = 0; k < c; k++) {
        const double gap = L[k] - top, p = exp(beta * gap);
        if (!(p > 0)) continue; /* its gap may be infinite */
        all += p;
        mean += p * gap;
        square += p * gap * gap;
    }
    mean /= all;
    sum->first += weight * (mean - ((1 - doubt) * (L[label] - top) + doubt * (other - top)));
    sum->second += weight * fmax(0, square / all - mean * mean);
}

double eh_temperature(const double *L, const int32_t *label, const float *weight, int64_t n, int32_t c)
{
    enum { STEPS = 60 };
    const double doubt = 1 / ((double)n + 2), close = 1e-9;
    double low = log(1 / MAX_TEMPERATURE), high = log(1 / MIN_TEMPERATURE), at = 0; /* log beta */
    bool any = false;
    for (int i = 0; i < STEPS && high - low > close; i++) {
        const double beta = exp(at);
        slopes sum = {0};
        for (int64_t s = 0; s < n; s++)
            add_sample(L + s * c, label[s], weight ? (double)weight[s] : 1, c, beta, doubt, &sum);
        if (sum.first == 0) break;
        any = true;
        if (sum.first > 0)
            high = at;
        else
            low = at;
        const double step = -sum.first / (sum.second * beta), next = at + step;
        if (fabs(step) < close) break;
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return any ? exp(-at) : 1;
}

void eh_calibration_add(float true_p, float confidence, bool right, int64_t all, enhope_calibration *sum)
{
    const double min_p = FLT_EPSILON; /* replaces a probability of 0, whose logarithm is infinite */
    sum->nll -= log(fmax(true_p, min_p)) / (double)all;
    const int bin = (int)((double)confidence * ENHOPE_BINS);
    enhope_bin *to = &sum->bin[bin < ENHOPE_BINS ? bin : ENHOPE_BINS - 1];
    to->n++;
    to->confidence += confidence;
    to->accuracy += right;
}

void eh_calibration_end(int64_t all, enhope_calibration *sum)
{
    for (int b = 0; b < ENHOPE_BINS; b++) {
        enhope_bin *bin = &sum->bin[b];
        if (!bin->n) continue;
        sum->ece += fabs(bin->accuracy - bin->confidence) / (double)all;
        bin->confidence /= (double)bin->n;
        bin->accuracy /= (double)bin->n;
    }
}

static int by_confidence(const void *a, const void *b)
{
    const float left = ((const eh_decision *)a)->confidence, right = ((const eh_decision *)b)->confidence;
    return (left < right) - (left > right);
}

/* Index after the last sample with the confidence of sample i. */
static int64_t tie_end(const eh_decision *s, int64_t n, int64_t i)
{
    int64_t end = i + 1;
    while (end < n && s[end].confidence == s[i].confidence) end++;
    return end;
}

static void cover(const eh_decision *s, int64_t n, enhope_coverage *row)
{
    const double wanted = ceil(row->share * (double)n - 1e-6);
    const int64_t last = wanted < 1 ? 0 : wanted > (double)n ? n - 1 : (int64_t)wanted - 1;
    row->n = tie_end(s, n, last);
    row->threshold = s[last].confidence;
    row->errors = 0;
    for (int64_t i = 0; i < row->n; i++) row->errors += s[i].wrong;
}

double eh_coverage(eh_decision *s, int64_t n, enhope_coverage *row, int rows)
{
    qsort(s, (size_t)n, sizeof *s, by_confidence);
    for (int i = 0; i < rows; i++) cover(s, n, &row[i]);
    double area = 0, errors = 0;
    for (int64_t from = 0, to; from < n; from = to) {
        to = tie_end(s, n, from);
        double wrong = 0;
        for (int64_t i = from; i < to; i++) wrong += s[i].wrong;
        for (int64_t i = from; i < to; i++)
            area += (errors + wrong * (double)(i + 1 - from) / (double)(to - from)) / (double)(i + 1);
        errors += wrong;
    }
    return area / (double)n;
}
