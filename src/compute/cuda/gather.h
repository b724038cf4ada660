/* Code shared by the kernels that gather rows: output formats and augmentation. */
#ifndef EH_CUDA_GATHER_H
#define EH_CUDA_GATHER_H

#include "compute/cuda/cuda.h"
#include "compute/warp.h"

enum { GATHER_WIDE = 224 };

/* The output of a row: scalars, or packed elements with `parts` parts. */
struct real_row {
    float *at;
    __device__ void put(int64_t j, float v) const
    {
        at[j] = v;
    }
    __device__ void put_four(int64_t j, float4 v) const
    {
        *(float4 *)(at + j) = v;
    }
};
struct packed_row {
    __nv_bfloat16 *at;
    int64_t ld;
    int parts;
    __device__ void put(int64_t j, float v) const
    {
        store_parts(at + j, ld, parts, v);
    }
    __device__ void put_four(int64_t j, float4 v) const
    {
        store_parts_of_four(at + j, ld, parts, v);
    }
};

__device__ static inline real_row row_of(float *X, int64_t i, int64_t ld, int)
{
    return {X + i * ld};
}
__device__ static inline packed_row row_of(__nv_bfloat16 *X, int64_t i, int64_t ld, int parts)
{
    return {X + i * parts * ld, ld, parts};
}

/* An eh_augment for the device, without padding, because parameters are compared byte by byte. */
struct augmentation {
    uint64_t seed, pass;
    float noise, kept; /* standard deviation; factor of an input that is not dropped */
    int32_t below;     /* eh_drop_below(); 0: no dropout */
    int32_t unused;    /* instead of padding */
};

static inline augmentation augmentation_of(const eh_augment *with)
{
    if (!with) return {};
    return {with->seed, with->pass, (float)with->noise, (float)(1 / (1 - with->dropout)), eh_drop_below(with->dropout),
            0};
}

__device__ static inline float kept_or_dropped(const augmentation &with, uint32_t word, float v)
{
    return (int32_t)(word >> 8) < with.below ? 0 : with.kept * v;
}

/* Augments columns j .. j + 3 of a row, j a multiple of four. */
__device__ static inline float4 augment_four(const augmentation &with, int64_t row, int64_t j, float4 v)
{
    const uint64_t index = eh_augment_index(with.pass, row);
    uint32_t w[4];
    if (with.noise > 0) {
        float4 g;
        eh_philox(with.seed, EH_STREAM_NOISE, index, (uint32_t)(j / 4), w);
        eh_normal_pair(w[0], w[1], &g.x, &g.y);
        eh_normal_pair(w[2], w[3], &g.z, &g.w);
        v = {v.x + with.noise * g.x, v.y + with.noise * g.y, v.z + with.noise * g.z, v.w + with.noise * g.w};
    }
    if (with.below) {
        eh_philox(with.seed, EH_STREAM_DROPOUT, index, (uint32_t)(j / 4), w);
        v = {kept_or_dropped(with, w[0], v.x), kept_or_dropped(with, w[1], v.y), kept_or_dropped(with, w[2], v.z),
             kept_or_dropped(with, w[3], v.w)};
    }
    return v;
}

/* Augments one column. */
__device__ static inline float augment_one(const augmentation &with, int64_t row, int64_t j, float v)
{
    const float4 all = augment_four(with, row, j - j % 4, float4{v, v, v, v});
    return j % 4 == 0 ? all.x : j % 4 == 1 ? all.y : j % 4 == 2 ? all.z : all.w;
}

/* warp.cu: gathers images and warps them. from: the current address of the rows of a dense
 * table. */
void cuda_gather_images(eh_compute *c, const eh_table *t, const void *from, const eh_row *rows, int64_t n, float *X,
                        int64_t ld, eh_label *label, const eh_augment *with);
void cuda_gather_images(eh_compute *c, const eh_table *t, const void *from, const eh_row *rows, int64_t n,
                        __nv_bfloat16 *X, int64_t ld, eh_label *label, const eh_augment *with);

#endif
