/* The warp of an image while it is gathered into a batch: the formulas shared by the backends
 * (the cuda backend compiles them for the device).
 *
 * Pixel p of the result has the value of the raw image at
 *
 *   q = c + R S (p - c) + s + e(p)         (row, column), c the center of the image
 *
 * by bilinear interpolation. Outside the image all values are 0. R rotates, S scales rows and
 * columns and shears (columns move with rows), s shifts; each parameter is uniform within its
 * bound times a strength. e is a smooth field: a uniform cubic B-spline over CELLS x CELLS cells
 * with normal numbers at its nodes. On images of 28 x 28 it is as smooth as noise after a
 * Gaussian filter of standard deviation 4. Its mean square over the pixels is elastic^2 in each
 * direction.
 *
 * Random words have the counter (pass, row, stream, block), as in augment.h. In the stream WARP,
 * block 0 has the shift down, the shift right, the angle and the shear; block 1 has the scales
 * of rows and columns. In the stream ELASTIC, block k has the normal numbers 4 k to 4 k + 3 of
 * an array (2, NODES, NODES) of (direction, node row, node column). */
#ifndef EH_WARP_H
#define EH_WARP_H

#include "compute/augment.h"

enum { EH_WARP_CELLS = 4, EH_WARP_NODES = EH_WARP_CELLS + 3, EH_WARP_NORMALS = 2 * EH_WARP_NODES * EH_WARP_NODES };
#define EH_WARP_ANGLE 0.20943951023931953 /* 12 degrees; this and the next two are the bounds at affine 1 */
#define EH_WARP_SCALE 0.12
#define EH_WARP_SHEAR 0.15
/* The standard deviation of the nodes at elastic 1: with standard normal nodes the field has a
 * mean square of (151 / 315)^2. */
#define EH_WARP_NODE (315.0 / 151)

/* Whether images are warped at all. */
static inline bool eh_warps(const eh_augment *with)
{
    return with && (with->shift > 0 || with->affine > 0 || with->elastic > 0);
}

/* Uniform in (-1, 1), exact in float. */
EH_HOST_DEVICE static inline float eh_centered(uint32_t word)
{
    return (float)(2 * (int32_t)(word >> 8) + 1 - (1 << 24)) * 0x1p-24f;
}

/* q = (y, x) + (p_row (yy, xy) + p_column (yx, xx)) */
typedef struct eh_warp {
    float y, yy, yx;
    float x, xy, xx;
} eh_warp;

EH_HOST_DEVICE static inline eh_warp eh_warp_of(uint64_t seed, uint64_t index, float shift, float affine, int64_t rows,
                                                int64_t columns)
{
    uint32_t v[4], w[4];
    eh_philox(seed, EH_STREAM_WARP, index, 0, v);
    eh_philox(seed, EH_STREAM_WARP, index, 1, w);
    const float angle = affine * (float)EH_WARP_ANGLE * eh_centered(v[2]), cosine = cosf(angle), sine = sinf(angle);
    const float slant = affine * (float)EH_WARP_SHEAR * eh_centered(v[3]);
    const float tall = 1 + affine * (float)EH_WARP_SCALE * eh_centered(w[0]);
    const float wide = 1 + affine * (float)EH_WARP_SCALE * eh_centered(w[1]);
    const float cy = 0.5f * (float)(rows - 1), cx = 0.5f * (float)(columns - 1);
    eh_warp d;
    d.yy = cosine * tall - sine * slant, d.yx = -sine * wide;
    d.xy = sine * tall + cosine * slant, d.xx = cosine * wide;
    d.y = cy - d.yy * cy - d.yx * cx + shift * eh_centered(v[0]);
    d.x = cx - d.xy * cy - d.xx * cx + shift * eh_centered(v[1]);
    return d;
}

/* The cell of pixel i of n along one side, and the weights of its four nodes, cell to cell + 3. */
EH_HOST_DEVICE static inline int32_t eh_warp_weights(int64_t i, int64_t n, float weight[4])
{
    const float at = ((float)i + 0.5f) * (EH_WARP_CELLS / (float)n);
    const int32_t floored = (int32_t)at, cell = floored < EH_WARP_CELLS ? floored : EH_WARP_CELLS - 1;
    const float t = at - (float)cell, u = 1 - t;
    weight[0] = u * u * u * (1.0f / 6);
    weight[1] = (4 + t * t * (3 * t - 6)) * (1.0f / 6);
    weight[2] = (4 + u * u * (3 * u - 6)) * (1.0f / 6);
    weight[3] = t * t * t * (1.0f / 6);
    return cell;
}

#endif
