/* Scaling of the inputs: x_scaled = (x - shift) * mul, column by column, fitted on the training
 * rows only.
 *
 * Sums are computed in double. A constant column (for range: a constant matrix) gets mul 1.
 *
 * `auto` uses one range for all columns only if they share a scale, as pixels and counts of words
 * do. Other columns are scaled one by one, except for columns of zeros and ones. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "data/data.h"

/* Statistics of the columns. Zeros that a sparse row does not store count as values. */
typedef struct columns {
    double *minimum, *maximum; /* (H) */
    double *sum;               /* (H) sum of x, then of (x - mean)^2 */
    double *squares;           /* (H) sum of x^2 */
    int64_t *zeros, *ones;     /* (H) number of values that are 0, and 1 */
} columns;

/* 1 / spread, or 1 if the result is not a finite float. */
static float inverse(double spread)
{
    return spread >= (double)FLT_MIN ? (float)(1.0 / spread) : 1.0f;
}

static void add(columns *a, int64_t j, double v)
{
    if (v < a->minimum[j]) a->minimum[j] = v;
    if (v > a->maximum[j]) a->maximum[j] = v;
    a->sum[j] += v;
    a->squares[j] += v * v;
    a->zeros[j] += v == 0;
    a->ones[j] += v == 1;
}

static double dense_value(const eh_matrix *x, int64_t at)
{
    return x->kind == ENHOPE_U8 ? (double)x->u8[at] : (double)x->f32[at];
}

static void pass(const eh_matrix *x, const int64_t *rows, int64_t n, columns *a)
{
    const int64_t H = x->H;
    const bool sparse = x->kind == ENHOPE_CSR;
    for (int64_t j = 0; j < H; j++) {
        a->minimum[j] = INFINITY, a->maximum[j] = -INFINITY;
        if (sparse) a->zeros[j] = n;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = rows ? rows[i] : i;
        if (!sparse)
            for (int64_t j = 0; j < H; j++) add(a, j, dense_value(x, r * H + j));
        for (int64_t t = sparse ? x->row_start[r] : 0; sparse && t < x->row_start[r + 1]; t++) {
            add(a, x->column[t], x->value[t]);
            a->zeros[x->column[t]]--; /* stored */
        }
    }
    for (int64_t j = 0; j < H && sparse; j++) {
        if (!a->zeros[j]) continue;
        a->minimum[j] = fmin(a->minimum[j], 0);
        a->maximum[j] = fmax(a->maximum[j], 0);
    }
}

/* Second pass of the variance, around the mean, to avoid cancellation in columns far from 0. */
static void pass_squares(const eh_matrix *x, const int64_t *rows, int64_t n, const double *mean, columns *a)
{
    const int64_t H = x->H;
    const bool sparse = x->kind == ENHOPE_CSR;
    for (int64_t j = 0; j < H; j++) a->sum[j] = sparse ? (double)n * mean[j] * mean[j] : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = rows ? rows[i] : i;
        for (int64_t j = 0; j < H && !sparse; j++) {
            const double d = dense_value(x, r * H + j) - mean[j];
            a->sum[j] += d * d;
        }
        for (int64_t t = sparse ? x->row_start[r] : 0; sparse && t < x->row_start[r + 1]; t++) {
            const double m = mean[x->column[t]], d = x->value[t] - m;
            a->sum[x->column[t]] += d * d - m * m;
        }
    }
}

/* ---- auto ---- */

/* Whether dense columns share a scale, as pixels do: there are many, all begin at the same minimum,
 * most of those that vary reach almost the same maximum, and most have other values than zeros and
 * ones. */
static bool share_range(const columns *a, int64_t H, int64_t n, double minimum, double maximum)
{
    enum { MIN_COLUMNS = 16 };
    static const double REACHED = 0.75;
    int64_t varying = 0, reached = 0;
    for (int64_t j = 0; j < H; j++) {
        if (a->minimum[j] == a->maximum[j]) continue;
        if (a->minimum[j] > minimum) return false;
        varying++;
        reached += a->zeros[j] + a->ones[j] < n && a->maximum[j] - minimum >= REACHED * (maximum - minimum);
    }
    return varying >= MIN_COLUMNS && 2 * reached > varying;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whether sparse columns share a scale, as counts of words do: most values are zeros, and the root
 * mean squares of the others differ little between columns. Columns with very few values are not
 * compared. scratch (H). */
static bool share_scale(const columns *a, int64_t H, int64_t n, double *scratch)
{
    enum { MIN_VALUES = 5 };
    static const double RATIO = 30, MAX_DENSITY = 0.5;
    int64_t compared = 0;
    double stored = 0;
    for (int64_t j = 0; j < H; j++) {
        const int64_t values = n - a->zeros[j];
        stored += (double)values;
        if (values >= MIN_VALUES) scratch[compared++] = sqrt(a->squares[j] / (double)values);
    }
    if (stored > MAX_DENSITY * (double)n * (double)H) return false;
    if (!compared) return true;
    qsort(scratch, (size_t)compared, sizeof *scratch, by_size);
    const double median = scratch[compared / 2];
    return scratch[0] * RATIO >= median && scratch[compared - 1] <= RATIO * median;
}

/* ---- fits ---- */

/* Fails if values are so large that float arithmetic would overflow or lose them. */
static enhope_status check_magnitude(enhope_context *ctx, const columns *a, char *const *name, int64_t H)
{
    static const double MAX = 1e30;
    for (int64_t j = 0; j < H; j++) {
        const double largest = fmax(fabs(a->minimum[j]), fabs(a->maximum[j]));
        if (largest > MAX)
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "input %lld%s%.60s%s has a value of size %.3g: expected at most %g; divide it by a constant "
                           "or leave it out",
                           (long long)j + 1, name ? " ('" : "", name ? name[j] : "", name ? "')" : "", largest, MAX);
    }
    return ENHOPE_OK;
}

/* Each column to mean 0 and standard deviation 1. keep_binary: columns of zeros and ones are not
 * changed. */
static void fit_standard(const eh_matrix *x, const int64_t *rows, int64_t n, columns *a, bool keep_binary, float *shift,
                         float *mul)
{
    /* from here on the maximum only shows which columns vary, and the mean replaces the minimum */
    for (int64_t j = 0; j < x->H; j++) {
        const bool constant = a->minimum[j] == a->maximum[j];
        a->minimum[j] = constant ? a->minimum[j] : a->sum[j] / (double)n;
        a->maximum[j] = constant ? 0 : 1;
    }
    pass_squares(x, rows, n, a->minimum, a);
    for (int64_t j = 0; j < x->H; j++) {
        const bool kept = keep_binary && a->zeros[j] + a->ones[j] == n;
        shift[j] = kept ? 0 : (float)a->minimum[j];
        mul[j] = !kept && a->maximum[j] > 0 ? inverse(sqrt(fmax(a->sum[j], 0) / (double)n)) : 1.0f;
    }
}

static void fit_dense(eh_scale *kind, const eh_matrix *x, int hints, const int64_t *rows, int64_t n, columns *a,
                      float *shift, float *mul)
{
    const int64_t H = x->H;
    const bool automatic = *kind == EH_SCALE_AUTO;
    double minimum = INFINITY, maximum = -INFINITY;
    for (int64_t j = 0; j < H; j++) {
        minimum = fmin(minimum, a->minimum[j]);
        maximum = fmax(maximum, a->maximum[j]);
    }
    if (automatic)
        *kind =
            hints & EH_SCALING_IMAGES || share_range(a, H, n, minimum, maximum) ? EH_SCALE_RANGE : EH_SCALE_STANDARD;
    if (*kind == EH_SCALE_STANDARD) fit_standard(x, rows, n, a, automatic, shift, mul);
    for (int64_t j = 0; j < H && *kind != EH_SCALE_STANDARD; j++) {
        const bool range = *kind == EH_SCALE_RANGE;
        shift[j] = (float)(range ? minimum : a->minimum[j]);
        mul[j] = inverse(range ? maximum - minimum : a->maximum[j] - a->minimum[j]);
    }
}

static void fit_sparse(eh_scale kind, int64_t H, int64_t n, const columns *a, float *shift, float *mul)
{
    double largest = 0;
    for (int64_t j = 0; j < H; j++) largest = fmax(largest, fmax(fabs(a->minimum[j]), fabs(a->maximum[j])));
    for (int64_t j = 0; j < H; j++) {
        const double own = fmax(fabs(a->minimum[j]), fabs(a->maximum[j]));
        shift[j] = 0;
        mul[j] = inverse(kind == EH_SCALE_RANGE    ? largest
                         : kind == EH_SCALE_MINMAX ? own
                                                   : sqrt(a->squares[j] / (double)n));
    }
}

/* Sparse tables are centered like dense ones if the caller allows it. */
static void fit(eh_scale *kind, const eh_matrix *x, int hints, const int64_t *rows, int64_t n, columns *a,
                double *scratch, float *shift, float *mul)
{
    const bool sparse = x->kind == ENHOPE_CSR;
    const bool table = sparse && *kind == EH_SCALE_AUTO && !share_scale(a, x->H, n, scratch);
    if (sparse && *kind == EH_SCALE_AUTO)
        *kind = !table ? EH_SCALE_RANGE : hints & EH_SCALING_CENTER ? EH_SCALE_STANDARD : EH_SCALE_MINMAX;
    if (table && *kind == EH_SCALE_STANDARD)
        fit_standard(x, rows, n, a, true, shift, mul);
    else if (sparse)
        fit_sparse(*kind, x->H, n, a, shift, mul);
    else
        fit_dense(kind, x, hints, rows, n, a, shift, mul);
}

enhope_status eh_scaling_fit(enhope_context *ctx, eh_scale *kind, const eh_matrix *x, char *const *name, int hints,
                             const int64_t *rows, int64_t n, float *shift, float *mul)
{
    enhope_status status = ENHOPE_OK;
    enum { PARTS = 7 };
    const int64_t H = x->H;
    double *all = NULL; /* the statistics and a column of scratch; counts have the size of a double */
    if (*kind == EH_SCALE_NONE) {
        for (int64_t j = 0; j < H; j++) shift[j] = 0, mul[j] = 1;
        return ENHOPE_OK;
    }
    if (n < 1) return eh_fail(ctx, ENHOPE_ERROR_DATA, "scaling cannot be fitted: there are no training samples");
    EH_CHECK(eh_new(ctx, "column statistics", H, PARTS * sizeof *all, (void **)&all));
    columns a = {.minimum = all,
                 .maximum = all + H,
                 .sum = all + 2 * H,
                 .squares = all + 3 * H,
                 .zeros = (int64_t *)(void *)(all + 4 * H),
                 .ones = (int64_t *)(void *)(all + 5 * H)};
    pass(x, rows, n, &a);
    EH_CHECK(check_magnitude(ctx, &a, name, H));
    fit(kind, x, hints, rows, n, &a, all + 6 * H, shift, mul);
cleanup:
    eh_free(all);
    return status;
}
