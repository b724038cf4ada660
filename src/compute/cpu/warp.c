/* Warps images on the cpu. The raw image is framed with zeros. For one row of the result at a
 * time, the source positions of its pixels are computed and then sampled. The formulas are in
 * compute/warp.h. */
#include <string.h>

#include "compute/cpu/cpu.h"
#include "compute/warp.h"

enum { TILE = 64, NODES = EH_WARP_NODES }; /* TILE: columns at a time */

/* The nodes of the field, interpolated along rows at the columns of a tile. */
typedef struct field {
    float at[2][NODES][TILE];
} field;

int64_t eh_cpu_warp_scratch(int64_t rows, int64_t columns)
{
    return (rows + 3) * (columns + 3);
}

/* image (rows + 3, columns + 3): one row and column of zeros before, two after */
static void frame(const eh_matrix *x, int64_t row, int64_t rows, int64_t columns, float *image)
{
    const int64_t ld = columns + 3;
    float *first = image + ld + 1;
    memset(image, 0, (size_t)eh_cpu_warp_scratch(rows, columns) * sizeof *image);
    if (x->kind == ENHOPE_CSR) {
        for (int64_t s = x->row_start[row]; s < x->row_start[row + 1]; s++)
            first[x->column[s] / columns * ld + x->column[s] % columns] = x->value[s];
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const int64_t from = row * x->H + i * columns;
        for (int64_t j = 0; j < columns && x->kind == ENHOPE_U8; j++) first[i * ld + j] = (float)x->u8[from + j];
        if (x->kind == ENHOPE_F32) memcpy(first + i * ld, x->f32 + from, (size_t)columns * sizeof *first);
    }
}

static void make_field(const float *node, int64_t first, int64_t count, int64_t columns, field *f)
{
    for (int64_t j = 0; j < count; j++) {
        float w[4];
        const float *from = node + eh_warp_weights(first + j, columns, w);
        for (int k = 0; k < 2 * NODES; k++, from += NODES)
            f->at[k / NODES][k % NODES][j] = w[0] * from[0] + w[1] * from[1] + w[2] * from[2] + w[3] * from[3];
    }
}

/* to[j] = start + j step: the source positions of a row of a tile, in one direction. */
EH_SIMD static void begin_places(int64_t count, float start, float step, float *restrict to)
{
    for (int64_t j = 0; j < count; j++) to[j] = start + (float)j * step;
}

EH_SIMD static void add_field(int64_t count, const float w[4], const float from[][TILE], float *restrict to)
{
    for (int64_t j = 0; j < count; j++)
        to[j] += w[0] * from[0][j] + w[1] * from[1][j] + w[2] * from[2][j] + w[3] * from[3][j];
}

/* Bilinear samples of a framed image at the positions (y, x), scaled. */
EH_SIMD static void sample(int64_t count, int64_t rows, int64_t columns, const float *restrict image,
                           const float *restrict y, const float *restrict x, const float *restrict shift,
                           const float *restrict mul, float *restrict to)
{
    const int32_t ld = (int32_t)columns + 3;
    const float low = (float)rows + 1, right = (float)columns + 1;
    for (int64_t j = 0; j < count; j++) {
        float v = y[j] + 1, u = x[j] + 1; /* in the frame */
        v = v < 0 ? 0 : v > low ? low : v;
        u = u < 0 ? 0 : u > right ? right : u;
        const int32_t r = (int32_t)v, c = (int32_t)u, at = r * ld + c;
        const float b = v - (float)r, a = u - (float)c;
        const float above = image[at] + a * (image[at + 1] - image[at]);
        const float below = image[at + ld] + a * (image[at + ld + 1] - image[at + ld]);
        to[j] = (above + b * (below - above) - shift[j]) * mul[j];
    }
}

void eh_cpu_warp_by(const eh_warp *by, const float *node, int64_t rows, int64_t columns, const float *image,
                    const float *shift, const float *mul, float *to)
{
    field f;
    float y[TILE], x[TILE], w[4];
    for (int64_t first = 0; first < columns; first += TILE) {
        const int64_t count = columns - first < TILE ? columns - first : TILE;
        if (node) make_field(node, first, count, columns, &f);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = i * columns + first;
            begin_places(count, by->y + (float)i * by->yy + (float)first * by->yx, by->yx, y);
            begin_places(count, by->x + (float)i * by->xy + (float)first * by->xx, by->xx, x);
            if (node) {
                const int32_t cell = eh_warp_weights(i, rows, w);
                add_field(count, w, f.at[0] + cell, y);
                add_field(count, w, f.at[1] + cell, x);
            }
            sample(count, rows, columns, image, y, x, shift + at, mul + at, to + at);
        }
    }
}

void eh_cpu_warp(const eh_augment *with, const eh_table *t, int64_t row, float *image, float *to)
{
    const int64_t rows = with->image_rows, columns = with->image_columns;
    const uint64_t index = eh_augment_index(with->pass, row);
    const eh_warp by = eh_warp_of(with->seed, index, (float)with->shift, (float)with->affine, rows, columns);
    float node[EH_CPU_NORMALS];
    if (with->elastic > 0)
        eh_cpu_normals(with->seed, EH_STREAM_ELASTIC, index, (float)(with->elastic * EH_WARP_NODE), node);
    frame(&t->x, row, rows, columns, image);
    eh_cpu_warp_by(&by, with->elastic > 0 ? node : NULL, rows, columns, image, eh_f(t->shift), eh_f(t->mul), to);
}
