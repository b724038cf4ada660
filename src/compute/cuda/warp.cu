/* Warps images while they are gathered. The formulas are in compute/warp.h. Each pixel reads its
 * four source pixels from the raw image directly: an image has a few kilobytes, and a block
 * reads only one. */
#include "compute/cuda/gather.h"

enum { NODES = EH_WARP_NODES, NODE_BLOCKS = (EH_WARP_NORMALS + 3) / 4 };

/* The parameters of image warping for the device, without padding. */
struct warp_params {
    int32_t rows, columns;
    float shift, affine, node; /* node: standard deviation of the nodes of the field; 0: no field */
};

template <typename X> struct dense_images {
    const X *x;
    int64_t H;
    __device__ float at(int64_t row, int32_t j) const
    {
        return (float)x[row * H + j];
    }
};

struct sparse_images {
    const int64_t *start;
    const int32_t *column;
    const float *value;
    __device__ float at(int64_t row, int32_t j) const
    {
        int64_t low = start[row], high = start[row + 1];
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (column[middle] < j)
                low = middle + 1;
            else
                high = middle;
        }
        return low < start[row + 1] && column[low] == j ? value[low] : 0;
    }
};

/* The raw value at (i, j); 0 outside the image. */
template <typename Images>
__device__ static float pixel(const Images &from, const warp_params &by, int64_t row, int32_t i, int32_t j)
{
    return i >= 0 && i < by.rows && j >= 0 && j < by.columns ? from.at(row, i * by.columns + j) : 0;
}

/* The value of pixel p of a warped image. node (2, NODES, NODES) if there is a field. */
template <typename Images>
__device__ static float moved_pixel(const Images &from, const warp_params &by, const eh_warp &d, const float *node,
                                    int64_t row, int32_t p)
{
    const int32_t i = p / by.columns, j = p % by.columns;
    float y = d.y + (float)i * d.yy + (float)j * d.yx, x = d.x + (float)i * d.xy + (float)j * d.xx;
    if (by.node > 0) {
        float down[4], right[4];
        const float *at = node + eh_warp_weights(i, by.rows, down) * NODES;
        at += eh_warp_weights(j, by.columns, right);
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < 4; l++) {
                y += down[k] * right[l] * at[k * NODES + l];
                x += down[k] * right[l] * at[(NODES + k) * NODES + l];
            }
    }
    y = fminf(fmaxf(y, -1), (float)by.rows), x = fminf(fmaxf(x, -1), (float)by.columns);
    const float top = floorf(y), left = floorf(x), b = y - top, a = x - left;
    const int32_t r = (int32_t)top, c = (int32_t)left;
    const float v00 = pixel(from, by, row, r, c), v01 = pixel(from, by, row, r, c + 1);
    const float v10 = pixel(from, by, row, r + 1, c), v11 = pixel(from, by, row, r + 1, c + 1);
    const float above = v00 + a * (v01 - v00), below = v10 + a * (v11 - v10);
    return above + b * (below - above);
}

/* The warp of the image in row `row`, and the nodes of its field; all threads of the block call
 * this. */
__device__ static eh_warp begin_image(const augmentation &with, const warp_params &by, int64_t row, float *node)
{
    const uint64_t index = eh_augment_index(with.pass, row);
    if (by.node > 0 && threadIdx.x < NODE_BLOCKS) {
        uint32_t w[4];
        float *g = node + 4 * threadIdx.x;
        eh_philox(with.seed, EH_STREAM_ELASTIC, index, threadIdx.x, w);
        eh_normal_pair(w[0], w[1], g, g + 1);
        eh_normal_pair(w[2], w[3], g + 2, g + 3);
        for (int k = 0; k < 4; k++) g[k] *= by.node;
    }
    return eh_warp_of(with.seed, index, by.shift, by.affine, by.rows, by.columns);
}

/* One block for each row, four columns for each thread. quads: rows begin at multiples of four
 * entries and have a multiple of four. */
template <typename Images, typename T>
__global__ void gather_images(Images from, int64_t H, bool quads, const float *shift, const float *mul,
                              const int64_t *rows, int64_t n, const int32_t *classes, T *to, int64_t ld, int parts,
                              int32_t *label, augmentation with, warp_params by)
{
    begin_kernel();
    __shared__ float node[4 * NODE_BLOCKS];
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const int64_t row = rows[i];
        const auto out = row_of(to, i, ld, parts);
        __syncthreads();
        const eh_warp d = begin_image(with, by, row, node);
        __syncthreads();
        for (int64_t j = 4 * threadIdx.x; j < H; j += 4 * GATHER_WIDE) {
            float v[4] = {};
            for (int k = 0; k < 4 && j + k < H; k++)
                v[k] = (moved_pixel(from, by, d, node, row, (int32_t)(j + k)) - shift[j + k]) * mul[j + k];
            const float4 four = augment_four(with, row, j, float4{v[0], v[1], v[2], v[3]});
            if (quads) {
                out.put_four(j, four);
                continue;
            }
            out.put(j, four.x);
            if (j + 1 < H) out.put(j + 1, four.y);
            if (j + 2 < H) out.put(j + 2, four.z);
            if (j + 3 < H) out.put(j + 3, four.w);
        }
        for (int64_t j = H + threadIdx.x; j < ld; j += GATHER_WIDE) out.put(j, j == H ? 1.0f : 0.0f);
        if (label && threadIdx.x == 0) label[i] = classes[row];
    }
}

template <typename Images, typename T>
static void gather(eh_compute *c, const eh_table *t, const Images &from, const eh_row *rows, int64_t n, T *X,
                   int64_t ld, eh_label *label, const eh_augment *with)
{
    const int64_t H = t->x.H;
    const bool quads = H % 4 == 0 && ld % 4 == 0 && (uintptr_t)X % 16 == 0;
    const warp_params by = {(int32_t)with->image_rows, (int32_t)with->image_columns, (float)with->shift,
                            (float)with->affine, (float)(with->elastic * EH_WARP_NODE)};
    enqueue(state_of(c), blocks_for(n, 1), GATHER_WIDE, 0, gather_images<Images, T>, varying{from}, H, quads,
            F(t->shift), F(t->mul), varying{(const int64_t *)R(rows)}, n, L(t->classes), X, ld, parts_in(c), L(label),
            varying{augmentation_of(with)}, by);
}

template <typename T>
static void gather_of_any_kind(eh_compute *c, const eh_table *t, const void *from, const eh_row *rows, int64_t n, T *X,
                               int64_t ld, eh_label *label, const eh_augment *with)
{
    const int64_t H = t->x.H;
    if (t->x.kind == ENHOPE_U8)
        gather(c, t, dense_images<uint8_t>{(const uint8_t *)from, H}, rows, n, X, ld, label, with);
    else if (t->x.kind == ENHOPE_F32)
        gather(c, t, dense_images<float>{(const float *)from, H}, rows, n, X, ld, label, with);
    else
        gather(c, t, sparse_images{t->x.row_start, t->x.column, t->x.value}, rows, n, X, ld, label, with);
}

void cuda_gather_images(eh_compute *c, const eh_table *t, const void *from, const eh_row *rows, int64_t n, float *X,
                        int64_t ld, eh_label *label, const eh_augment *with)
{
    gather_of_any_kind(c, t, from, rows, n, X, ld, label, with);
}

void cuda_gather_images(eh_compute *c, const eh_table *t, const void *from, const eh_row *rows, int64_t n,
                        __nv_bfloat16 *X, int64_t ld, eh_label *label, const eh_augment *with)
{
    gather_of_any_kind(c, t, from, rows, n, X, ld, label, with);
}
