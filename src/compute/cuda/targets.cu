/* The target of a batch by its classes on the device: a block a row, then the sum of all, then its division. */
#include "compute/cuda/cuda.h"
#include "compute/disturb.h"
#include "compute/targets.h"

enum { THREADS = CUDA_BLOCK };

/* What stays the same from step to step. */
struct targets {
    int64_t n, z;
    double smooth, mix, classes;
    uint64_t seed;
    const int32_t *other;
    const float *weight, *crowd;
};

__device__ static double weight_of(const targets &t, int32_t label)
{
    return label < 0 ? 0 : t.weight[label];
}

__global__ void target_rows(const __grid_constant__ targets t, const int32_t *labels, const int64_t *rows,
                            uint64_t pass, float *P, double *sums)
{
    begin_kernel();
    const int64_t i = blockIdx.x;
    const int32_t label = labels[i], partner = labels[eh_partner(i, t.n)];
    const double part = t.mix > 0 ? t.mix * eh_mix_part(t.seed, pass, rows[i]) : 0;
    const eh_target_row row = eh_target_row_of(weight_of(t, label), weight_of(t, partner), part, t.smooth, t.classes);
    double sum = 0;
    for (int64_t j = threadIdx.x; j < t.z; j += THREADS)
        sum += P[i * t.z + j] = eh_target_entry(row, t.other[j] == label, t.other[j] == partner, t.crowd[j]);
    sum = block_reduce(sum, add());
    if (threadIdx.x == 0) sums[i] = sum;
}

/* One block: behind the sums, what the target is multiplied with. */
__global__ void target_sum(int64_t n, double *sums)
{
    begin_kernel();
    double all = 0;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) all += sums[i];
    all = block_reduce(all, add());
    if (threadIdx.x == 0) sums[n] = all > 0 ? 1 / all : 0;
}

__global__ void target_scale(int64_t count, const double *by, float *P)
{
    begin_kernel();
    const float scale = (float)*by;
    CUDA_EACH(k, count) P[k] *= scale;
}

void cuda_targets(eh_compute *c, const eh_targets *t, eh_real *P)
{
    cuda_state *s = state_of(c);
    if (t->n == 0 || t->z == 0) return;
    double *sums = (double *)cuda_room_get(s, &s->pairs, (size_t)(t->n + 1) * sizeof(double), "pairs of a batch");
    if (!sums) return;
    targets d;
    memset((void *)&d, 0, sizeof d);
    d.n = t->n, d.z = t->z;
    d.smooth = t->smooth, d.mix = t->with->mix, d.classes = (double)t->classes;
    d.seed = t->with->seed;
    d.other = L(t->other_label), d.weight = F(t->weight), d.crowd = F(t->crowd);
    note(s, (unsigned)t->n, THREADS, 0, target_rows, d, soft{(const int32_t *)L(t->label)},
         soft{(const int64_t *)R(t->rows)}, soft{t->with->pass}, F(P), sums);
    note(s, 1, THREADS, 0, target_sum, t->n, sums);
    note(s, blocks_for(t->n * t->z, 256), 256, 0, target_scale, t->n * t->z, (const double *)sums + t->n, F(P));
}
