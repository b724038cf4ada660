/* Warps images in double, pixel by pixel. The formulas are in compute/warp.h. */
#include "compute/ref/ref.h"

#include "compute/warp.h"

enum { NODES = EH_WARP_NODES };

/* The raw value at (i, j); 0 outside the image. */
static double pixel(const eh_augment *with, const eh_matrix *x, int64_t row, int64_t i, int64_t j)
{
    if (i < 0 || i >= with->image_rows || j < 0 || j >= with->image_columns) return 0;
    const int64_t at = i * with->image_columns + j;
    if (x->kind == ENHOPE_U8) return x->u8[row * x->H + at];
    if (x->kind == ENHOPE_F32) return x->f32[row * x->H + at];
    for (int64_t s = x->row_start[row]; s < x->row_start[row + 1]; s++)
        if (x->column[s] == at) return x->value[s];
    return 0;
}

static double interpolate(const eh_augment *with, const eh_matrix *x, int64_t row, double y, double x_)
{
    /* clamp: any position outside the image reads 0, and the index fits in an integer */
    const double top = floor(fmin(fmax(y, -2), (double)with->image_rows + 1));
    const double left = floor(fmin(fmax(x_, -2), (double)with->image_columns + 1));
    double sum = 0;
    for (int di = 0; di < 2; di++)
        for (int dj = 0; dj < 2; dj++) {
            const double weight = fmax(0, 1 - fabs(y - top - di)) * fmax(0, 1 - fabs(x_ - left - dj));
            sum += weight * pixel(with, x, row, (int64_t)top + di, (int64_t)left + dj);
        }
    return sum;
}

/* The cubic B-spline, 0 beyond 2. */
static double spline(double t)
{
    const double a = fabs(t);
    return a < 1 ? (4 + a * a * (3 * a - 6)) / 6 : a < 2 ? (2 - a) * (2 - a) * (2 - a) / 6 : 0;
}

/* Displacement of pixel (i, j) in one direction. Nodes are one cell apart; the first is one cell
 * before the image. */
static double field_at(const eh_augment *with, const double *node, int64_t i, int64_t j)
{
    const double y = ((double)i + 0.5) * EH_WARP_CELLS / (double)with->image_rows;
    const double x = ((double)j + 0.5) * EH_WARP_CELLS / (double)with->image_columns;
    double sum = 0;
    for (int k = 0; k < NODES; k++)
        for (int l = 0; l < NODES; l++) sum += spline(y - (k - 1)) * spline(x - (l - 1)) * node[k * NODES + l];
    return with->elastic * EH_WARP_NODE * sum;
}

void eh_ref_warp(const eh_augment *with, const eh_table *t, int64_t row, double *to)
{
    const uint64_t index = eh_augment_index(with->pass, row);
    const double cy = (double)(with->image_rows - 1) / 2, cx = (double)(with->image_columns - 1) / 2;
    const double *scale_shift = (const double *)t->shift, *mul = (const double *)t->mul;
    uint32_t v[4], w[4];
    double node[2][NODES * NODES];
    eh_philox(with->seed, EH_STREAM_WARP, index, 0, v);
    eh_philox(with->seed, EH_STREAM_WARP, index, 1, w);
    const double angle = with->affine * EH_WARP_ANGLE * eh_centered(v[2]);
    const double slant = with->affine * EH_WARP_SHEAR * eh_centered(v[3]);
    const double tall = 1 + with->affine * EH_WARP_SCALE * eh_centered(w[0]);
    const double wide = 1 + with->affine * EH_WARP_SCALE * eh_centered(w[1]);
    for (int64_t k = 0; k < EH_WARP_NORMALS; k++) {
        eh_philox(with->seed, EH_STREAM_ELASTIC, index, (uint32_t)(k / 4), w);
        node[k / (NODES * NODES)][k % (NODES * NODES)] = eh_ref_normal(w, k % 4);
    }
    for (int64_t i = 0; i < with->image_rows; i++)
        for (int64_t j = 0; j < with->image_columns; j++) {
            /* scaled and sheared, then rotated */
            const double y = tall * ((double)i - cy), x = wide * ((double)j - cx) + slant * ((double)i - cy);
            const double qy = cy + cos(angle) * y - sin(angle) * x + with->shift * eh_centered(v[0]);
            const double qx = cx + sin(angle) * y + cos(angle) * x + with->shift * eh_centered(v[1]);
            const int64_t at = i * with->image_columns + j;
            const double value =
                interpolate(with, &t->x, row, qy + field_at(with, node[0], i, j), qx + field_at(with, node[1], i, j));
            to[at] = (value - scale_shift[at]) * mul[at];
        }
}
