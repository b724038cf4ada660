/* Targets of batches in which some samples have no label, on the device: a labeled sample has the
 * target of its class, another one its own similarities (objective/neighbor.c). One block for each
 * sample; the sums over samples come first. */
#include "compute/cuda/cuda.h"
#include "compute/similarity.h"

enum { THREADS = CUDA_BLOCK };

/* The fields of eh_pairs that do not vary from batch to batch. */
struct shape {
    bool gaussian;
    int power;
    float inverse, smooth;
    int64_t n, z, h;
    double unlabeled;
};

struct smaller {
    __device__ float operator()(float a, float b) const
    {
        return b < a ? b : a;
    }
};

/* One block: all[0] = the weight of the samples with a label, all[1] = that of the others. */
__global__ void target_weights(int64_t n, const int32_t *labels, const float *weights, double *all)
{
    begin_kernel();
    double sum[2] = {};
    for (int64_t i = threadIdx.x; i < n; i += THREADS) sum[labels[i] < 0] += weights ? (double)weights[i] : 1;
    for (int part = 0; part < 2; part++) {
        const double whole = block_reduce(sum[part], add());
        if (threadIdx.x == 0) all[part] = whole;
    }
}

__global__ void target_rows(const __grid_constant__ shape p, const float *Y, const float *G, const int32_t *labels,
                            const int32_t *other, const float *weights, const float *share, const double *all, float *P)
{
    begin_kernel();
    const int64_t i = blockIdx.x;
    const float *y = Y + i * p.h;
    const int32_t label = labels[i];
    float nearest = INFINITY, *row = P + i * p.z;
    double sum = 0;
    if (p.gaussian && label < 0) {
        for (int64_t j = threadIdx.x; j < p.z; j += THREADS) nearest = fminf(nearest, distance2(y, G + j * p.h, p.h));
        nearest = block_reduce(nearest, smaller());
    }
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
        float w = label == other[j];
        if (label < 0) {
            const float d = distance2(y, G + j * p.h, p.h);
            w = p.gaussian ? expf(nearest - d) : eh_similarity_power(1 / (1 + d * p.inverse), p.power);
        }
        row[j] = w;
        sum += w;
    }
    sum = block_reduce(sum, add());
    const double own = (weights ? (double)weights[i] : 1) * (label < 0 ? p.unlabeled : 1);
    const float mass = sum > 0 && own > 0 ? (float)(own / all[label < 0]) : 0;
    const float part = label < 0 ? 0 : p.smooth, scale = sum > 0 ? (1 - part) * (float)(mass / sum) : 0;
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS)
        row[j] = scale * row[j] + (part > 0 ? part * mass * share[j] : 0);
}

void cuda_own_targets(eh_compute *c, const eh_pairs *p, double unlabeled, eh_real *P)
{
    cuda_state *s = state_of(c);
    if (p->n == 0) return;
    shape d;
    memset((void *)&d, 0, sizeof d);
    const eh_student student = eh_student_of(p->dof);
    double *all = (double *)cuda_scratch_get(s, &s->pairs, 2 * sizeof *all, "targets of a batch");
    if (!all) return;
    d.gaussian = p->gaussian, d.power = student.power, d.inverse = (float)student.inverse;
    d.smooth = (float)p->smoothing.part, d.unlabeled = unlabeled;
    d.n = p->n, d.z = p->z, d.h = p->h;
    const auto label = varying{L(p->label)};
    const auto weight = varying{F(p->weight)};
    enqueue(s, 1, THREADS, 0, target_weights, p->n, label, weight, all);
    enqueue(s, (unsigned)p->n, THREADS, 0, target_rows, d, F(p->Y), F(p->G), label, L(p->other_label), weight,
            F(p->smoothing.part > 0 ? p->smoothing.share : NULL), (const double *)all, F(P));
}
