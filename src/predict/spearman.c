/* Spearman's rank correlation. */
#include <math.h>
#include <stdlib.h>

#include "predict/predict.h"

typedef struct ranked {
    double value, rank;
    int64_t at;
} ranked;

static int by_value(const void *a, const void *b)
{
    const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const int64_t x = ((const ranked *)a)->at, y = ((const ranked *)b)->at;
    return (x > y) - (x < y);
}

/* Ranks the values from -1/2 to 1/2; equal values have the mean of their ranks. */
static void rank_values(const double *value, int64_t n, ranked *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (ranked){.value = value[i], .at = i};
    qsort(out, (size_t)n, sizeof *out, by_value);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && out[end].value == out[i].value; end++) continue;
        for (int64_t j = i; j < end; j++) out[j].rank = (double)(i + end) / (2 * (double)n) - 0.5;
    }
    qsort(out, (size_t)n, sizeof *out, by_place);
}

enhope_status eh_spearman(enhope_context *ctx, const double *a, const double *b, int64_t n, double *out)
{
    ranked *x = NULL, *y = NULL;
    double xx = 0, xy = 0, yy = 0;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "ranks", n, sizeof *x, (void **)&x));
    EH_CHECK(eh_new(ctx, "ranks", n, sizeof *y, (void **)&y));
    rank_values(a, n, x);
    rank_values(b, n, y);
    for (int64_t i = 0; i < n; i++) {
        xx += x[i].rank * x[i].rank;
        xy += x[i].rank * y[i].rank;
        yy += y[i].rank * y[i].rank;
    }
    *out = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
cleanup:
    eh_free(x);
    eh_free(y);
    return status;
}
