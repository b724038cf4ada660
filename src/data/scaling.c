/* Scaling of the inputs: x_scaled = (x - shift) * mul, column by column, fitted on the training
 * rows only.
 *
 * Sums are computed in double. A constant column (for range: a constant matrix) gets mul 1. */
#include <float.h>
#include <math.h>

#include "data/data.h"

/* Statistics of each column from one pass over the rows. Zeros that a sparse row does not store
 * count as values. */
typedef struct columns {
    double *minimum, *maximum; /* (H) */
    double *sum;               /* (H) sum of x, then of (x - mean)^2; sparse: of x^2 */
} columns;

/* 1 / spread, or 1 if the result is not a finite float. */
static float inverse(double spread)
{
    return spread >= (double)FLT_MIN ? (float)(1.0 / spread) : 1.0f;
}

static void pass_dense(const eh_matrix *x, const int64_t *rows, int64_t n, columns *a)
{
    const int64_t H = x->H;
    for (int64_t j = 0; j < H; j++) a->minimum[j] = INFINITY, a->maximum[j] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = rows ? rows[i] : i;
        for (int64_t j = 0; j < H; j++) {
            const double v = x->kind == ENHOPE_U8 ? (double)x->u8[r * H + j] : (double)x->f32[r * H + j];
            if (v < a->minimum[j]) a->minimum[j] = v;
            if (v > a->maximum[j]) a->maximum[j] = v;
            a->sum[j] += v;
        }
    }
}

/* Second pass of the variance, around the mean, to avoid cancellation in columns far from 0. */
static void pass_squares(const eh_matrix *x, const int64_t *rows, int64_t n, const double *mean, double *sum)
{
    const int64_t H = x->H;
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = rows ? rows[i] : i;
        for (int64_t j = 0; j < H; j++) {
            const double v = x->kind == ENHOPE_U8 ? (double)x->u8[r * H + j] : (double)x->f32[r * H + j];
            sum[j] += (v - mean[j]) * (v - mean[j]);
        }
    }
}

/* Stores max |x| of each column in `maximum`. */
static void pass_sparse(const eh_matrix *x, const int64_t *rows, int64_t n, columns *a)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = rows ? rows[i] : i;
        for (int64_t t = x->row_start[r]; t < x->row_start[r + 1]; t++) {
            const double v = x->value[t];
            const int32_t j = x->column[t];
            if (fabs(v) > a->maximum[j]) a->maximum[j] = fabs(v);
            a->sum[j] += v * v;
        }
    }
}

static void fit_dense(eh_scale *kind, const eh_matrix *x, const int64_t *rows, int64_t n, columns *a, float *shift,
                      float *mul)
{
    const int64_t H = x->H;
    pass_dense(x, rows, n, a);
    double minimum = INFINITY, maximum = -INFINITY;
    for (int64_t j = 0; j < H; j++) {
        if (a->minimum[j] < minimum) minimum = a->minimum[j];
        if (a->maximum[j] > maximum) maximum = a->maximum[j];
    }
    if (*kind == EH_SCALE_AUTO)
        *kind = x->kind == ENHOPE_U8 || (minimum >= 0 && maximum <= 1) ? EH_SCALE_RANGE : EH_SCALE_STANDARD;
    if (*kind == EH_SCALE_STANDARD) {
        /* from here on the minimum only detects constant columns: the mean replaces it */
        for (int64_t j = 0; j < H; j++) {
            const bool constant = a->minimum[j] == a->maximum[j];
            a->minimum[j] = constant ? a->minimum[j] : a->sum[j] / (double)n;
            a->maximum[j] = constant ? 0 : 1;
            a->sum[j] = 0;
        }
        pass_squares(x, rows, n, a->minimum, a->sum);
    }
    for (int64_t j = 0; j < H; j++) {
        switch (*kind) {
        case EH_SCALE_RANGE:
            shift[j] = (float)minimum;
            mul[j] = inverse(maximum - minimum);
            break;
        case EH_SCALE_MINMAX:
            shift[j] = (float)a->minimum[j];
            mul[j] = inverse(a->maximum[j] - a->minimum[j]);
            break;
        case EH_SCALE_STANDARD:
            shift[j] = (float)a->minimum[j];
            mul[j] = a->maximum[j] > 0 ? inverse(sqrt(a->sum[j] / (double)n)) : 1.0f;
            break;
        case EH_SCALE_AUTO:
        case EH_SCALE_NONE: break;
        }
    }
}

static void fit_sparse(eh_scale *kind, const eh_matrix *x, const int64_t *rows, int64_t n, columns *a, float *shift,
                       float *mul)
{
    if (*kind == EH_SCALE_AUTO) *kind = EH_SCALE_RANGE;
    pass_sparse(x, rows, n, a);
    double largest = 0;
    for (int64_t j = 0; j < x->H; j++)
        if (a->maximum[j] > largest) largest = a->maximum[j];
    for (int64_t j = 0; j < x->H; j++) {
        shift[j] = 0;
        mul[j] = *kind == EH_SCALE_RANGE    ? inverse(largest)
                 : *kind == EH_SCALE_MINMAX ? inverse(a->maximum[j])
                                            : inverse(sqrt(a->sum[j] / (double)n));
    }
}

enhope_status eh_scaling_fit(enhope_context *ctx, eh_scale *kind, const eh_matrix *x, const int64_t *rows, int64_t n,
                             float *shift, float *mul)
{
    enhope_status status = ENHOPE_OK;
    columns a = {NULL, NULL, NULL};
    if (*kind == EH_SCALE_NONE) {
        for (int64_t j = 0; j < x->H; j++) shift[j] = 0, mul[j] = 1;
        return ENHOPE_OK;
    }
    if (n < 1) return eh_fail(ctx, ENHOPE_ERROR_DATA, "scaling cannot be fitted: there are no training samples");
    EH_CHECK(eh_new(ctx, "column minima", x->H, sizeof(double), (void **)&a.minimum));
    EH_CHECK(eh_new(ctx, "column maxima", x->H, sizeof(double), (void **)&a.maximum));
    EH_CHECK(eh_new(ctx, "column sums", x->H, sizeof(double), (void **)&a.sum));
    if (x->kind == ENHOPE_CSR)
        fit_sparse(kind, x, rows, n, &a, shift, mul);
    else
        fit_dense(kind, x, rows, n, &a, shift, mul);
cleanup:
    eh_free(a.minimum);
    eh_free(a.maximum);
    eh_free(a.sum);
    return status;
}
