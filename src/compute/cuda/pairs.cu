/* Neighbor problems on the device, the fast kernel of objective/neighbor.c. Distances are
 * computed from differences, again in each pass; sums have a fixed order.
 *
 * With few compared points (exemplars), there are two kernels, with a warp for each sample and a
 * thread for each compared point:
 *   few_sums    the sums over the pairs of each sample, and the partial totals of blocks of samples
 *   few_grads   totals, weights, loss, dY, partial dG of blocks; the last block adds these
 * With many compared points (a batch against itself) or with target_probs, each sample has a
 * block: many_sums, weigh, many_grads. */
#include "compute/cuda/cuda.h"
#include "compute/pair_weights.h"

enum { THREADS = CUDA_BLOCK, FEW = 256, FEW_SCALARS = 512 };

struct pairs {
    eh_pair_rule rule;
    bool self;
    int power; /* of the Student similarity (compute/similarity.h), like inverse and rate */
    float inverse, rate;
    int64_t n, z, h;
    const float *Y, *G, *target_probs;
    const float *share;   /* of the smoothing; NULL: no smoothing */
    const int32_t *other; /* labels of the compared points; labels and weights of samples vary and are passed apart */
};

/* The contribution of some samples to the totals. The sum of exp(log_all) is relative to its
 * largest term. */
struct partial {
    double with_target, same_pairs, largest, sum;
};

__device__ static partial joined(const partial &a, const partial &b)
{
    partial c = {a.with_target + b.with_target, a.same_pairs + b.same_pairs, a.largest, a.sum};
    if (b.largest == a.largest) {
        c.sum = a.sum + b.sum;
    } else if (!(b.largest <= a.largest)) { /* also if it is NaN */
        c.largest = b.largest;
        c.sum = b.sum + (a.sum == 0 ? 0 : a.sum * EH_PAIR_EXP(a.largest - b.largest));
    } else if (b.sum != 0) {
        c.sum = a.sum + b.sum * EH_PAIR_EXP(b.largest - a.largest);
    }
    return c;
}

__device__ static partial partial_of(const eh_pair_sums &own)
{
    partial p = {own.count > 0 ? own.weight : 0.0, own.weight * own.count, -INFINITY, 0};
    if (own.weight > 0 && !(own.log_all == -INFINITY)) p.largest = own.log_all, p.sum = own.weight;
    return p;
}

__device__ static eh_pair_totals totals_of(const partial &p)
{
    return {p.with_target, p.same_pairs, p.largest + log(p.sum)};
}

struct minimum {
    __device__ float operator()(float a, float b) const
    {
        return b < a ? b : a;
    }
};
struct join {
    __device__ partial operator()(const partial &a, const partial &b) const
    {
        return joined(a, b);
    }
};

/* Whether both have the same class. Samples without a label have none. */
__device__ static bool same_class(int32_t a, int32_t b)
{
    return a == b && a >= 0;
}

__device__ static float student(const pairs &p, float u)
{
    return eh_similarity_power(u, p.power);
}

__device__ static float unit(const pairs &p, float d)
{
    return 1 / (1 + d * p.inverse);
}

/* Sums over the pairs of a sample. nearest, nearest_same: the distances that Gaussian exponents
 * are relative to. */
struct row_sums {
    double all, mine, count, spread;
};

__device__ static void add_pair(const pairs &p, float d, bool same, float nearest, float nearest_same, row_sums &sums)
{
    const bool gaussian = p.rule.gaussian;
    const float w = gaussian ? 0 : student(p, unit(p, d));
    sums.all += gaussian ? expf(nearest - d) : w;
    if (!same) return;
    sums.count += 1;
    if (p.rule.nca)
        sums.mine += gaussian ? expf(nearest_same - d) : w;
    else
        sums.mine -= gaussian ? d : p.power * log1pf(d * p.inverse);
}

__device__ static void add_spread(const pairs &p, float d, int64_t j, row_sums &sums)
{
    if (p.share) sums.spread -= p.share[j] * (p.rule.gaussian ? d : p.power * log1pf(d * p.inverse));
}

/* The same with target_probs, for the target p. */
__device__ static void add_target_probs(const pairs &p, float d, float target, float nearest, row_sums &sums)
{
    const bool gaussian = p.rule.gaussian;
    const float x = d * p.inverse;
    sums.all += gaussian ? expf(nearest - d) : student(p, unit(p, d));
    if (!(target > 0)) return;
    sums.count += target;
    sums.mine -= target * (gaussian ? logf(target) + d : logf(target * (1 + x)));
    if (!gaussian && p.power > 1) sums.mine -= target * (p.power - 1) * log1pf(x);
}

/* logs: log_all is needed. */
__device__ static eh_pair_sums sums_of(const pairs &p, bool logs, float nearest, float nearest_same,
                                       const row_sums &sums, double weight)
{
    const bool gaussian = p.rule.gaussian;
    return {logs ? EH_PAIR_LOG(sums.all) - (gaussian && nearest < INFINITY ? nearest : 0) : 0,
            p.rule.nca && !p.target_probs
                ? EH_PAIR_LOG(sums.mine) - (gaussian && nearest_same < INFINITY ? nearest_same : 0)
                : sums.mine,
            sums.count, sums.spread, weight};
}

/* dloss/dd of the pair at distance d; spread: the attraction that smoothing adds. */
__device__ static float slope(const pairs &p, float attract, float repel, float spread, bool same, float d)
{
    const bool nca = p.rule.nca;
    if (p.rule.gaussian) return (same ? expf(nca ? attract - d : attract) : 0) + spread - expf(repel - d);
    const float u = unit(p, d), w = student(p, u);
    return ((same ? (nca ? attract * w : attract) : 0) + spread - repel * w) * (p.rate * u);
}

/* The same with target_probs. */
__device__ static float slope_target_probs(const pairs &p, float target, float repel, float d)
{
    const float u = unit(p, d);
    return p.rule.gaussian ? target - expf(repel - d) : (target - repel * student(p, u)) * (p.rate * u);
}

/* ---- few compared points ---- */

enum { FEW_WARPS = 16, FEW_THREADS = 32 * FEW_WARPS };

__device__ static double warp_sum(double v)
{
    for (int half = 16; half; half /= 2) v += __shfl_xor_sync(0xffffffff, v, half);
    return v;
}
__device__ static float warp_sum(float v)
{
    for (int half = 16; half; half /= 2) v += __shfl_xor_sync(0xffffffff, v, half);
    return v;
}
__device__ static float warp_min(float v)
{
    for (int half = 16; half; half /= 2) v = fminf(v, __shfl_xor_sync(0xffffffff, v, half));
    return v;
}

/* Compared points, the samples of the block and their labels, in shared memory. */
struct shared_points {
    float G[FEW_SCALARS], Y[FEW_SCALARS];
    int32_t other[FEW], label[FEW_WARPS];
};

__device__ static void hold(const pairs &p, const int32_t *label, shared_points &to)
{
    const int64_t first = (int64_t)blockIdx.x * FEW_WARPS;
    const int rows = p.n - first < FEW_WARPS ? (int)(p.n - first) : FEW_WARPS;
    for (int i = (int)threadIdx.x; i < (int)(p.z * p.h); i += FEW_THREADS) to.G[i] = p.G[i];
    for (int i = (int)threadIdx.x; i < rows * (int)p.h; i += FEW_THREADS) to.Y[i] = p.Y[first * p.h + i];
    for (int j = (int)threadIdx.x; j < (int)p.z; j += FEW_THREADS) to.other[j] = p.other[j];
    for (int i = (int)threadIdx.x; i < FEW_WARPS; i += FEW_THREADS) to.label[i] = i < rows ? label[first + i] : -1;
    __syncthreads();
}

__global__ void few_sums(const __grid_constant__ pairs p, const int32_t *labels, const float *weights,
                         eh_pair_sums *sums, partial *partials)
{
    begin_kernel();
    __shared__ shared_points have;
    __shared__ partial warps[FEW_WARPS];
    hold(p, labels, have);
    const float *G = have.G;
    const int32_t *other = have.other;
    const int warp = threadIdx.x / 32, laneid = threadIdx.x % 32, z = (int)p.z, h = (int)p.h;
    const int64_t i = (int64_t)blockIdx.x * FEW_WARPS + warp;
    const bool gaussian = p.rule.gaussian;
    partial mine = {0, 0, gaussian ? -INFINITY : 0, 0};
    if (i < p.n) {
        const float *y = have.Y + warp * h;
        const int32_t label = have.label[warp];
        float nearest = INFINITY, nearest_same = INFINITY;
        for (int j = laneid; gaussian && j < z; j += 32) {
            const float d = distance2(y, G + j * h, h);
            nearest = fminf(nearest, d);
            if (same_class(label, other[j])) nearest_same = fminf(nearest_same, d);
        }
        if (gaussian) nearest = warp_min(nearest), nearest_same = warp_min(nearest_same);
        row_sums all = {};
        for (int j = laneid; j < z; j += 32) {
            const float d = distance2(y, G + j * h, h);
            add_pair(p, d, same_class(label, other[j]), nearest, nearest_same, all);
            add_spread(p, d, j, all);
        }
        all.all = warp_sum(all.all), all.mine = warp_sum(all.mine), all.count = warp_sum(all.count);
        if (p.share) all.spread = warp_sum(all.spread);
        const double weight = eh_sample_weight(label, weights, i);
        const eh_pair_sums own = sums_of(p, p.rule.row || gaussian, nearest, nearest_same, all, weight);
        if (laneid == 0) sums[i] = own;
        mine = partial_of(own);
        if (!gaussian) mine.largest = 0, mine.sum = weight > 0 ? weight * all.all : 0;
    }
    if (laneid == 0) warps[warp] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < FEW_WARPS; w++) mine = joined(mine, warps[w]);
    partials[blockIdx.x] = mine;
}

/* Joins the partial results of all blocks into whole[0], by the threads of one warp. */
__device__ static void join_partials(bool gaussian, const partial *partials, int laneid, partial *whole)
{
    partial mine = {0, 0, gaussian ? -INFINITY : 0, 0};
    for (unsigned b = (unsigned)laneid; b < gridDim.x; b += 32) mine = joined(mine, partials[b]);
    whole[laneid] = mine;
    for (int half = 16; half; half /= 2) {
        __syncwarp();
        if (laneid < half) whole[laneid] = joined(whole[laneid], whole[laneid + half]);
    }
}

/* Sums the gradients and losses of all blocks, in the last block. Each warp sums one scalar at a
 * time, and each thread of the warp takes every 32nd block. */
__device__ static void sum_blocks(const float *grads, const double *losses, int scalars, int warp, int laneid,
                                  float *dG, eh_loss_value *loss)
{
    for (int e = warp; e < scalars; e += FEW_WARPS) {
        float sum = 0;
        for (unsigned b = (unsigned)laneid; b < gridDim.x; b += 32) sum += __ldcg(grads + (int64_t)b * scalars + e);
        sum = warp_sum(sum);
        if (laneid == 0) dG[e] = sum;
    }
    if (warp) return;
    double all = 0;
    for (unsigned b = (unsigned)laneid; b < gridDim.x; b += 32) all += __ldcg(losses + b);
    all = warp_sum(all);
    if (laneid == 0) *loss = {all, 0};
}

/* grads (blocks, z h): contribution of each block to dG. */
__global__ void few_grads(const __grid_constant__ pairs p, const int32_t *labels, const eh_pair_sums *sums,
                          const partial *partials, double *losses, float *grads, unsigned *ticket, eh_loss_value *loss,
                          float *dY, float *dG)
{
    begin_kernel();
    __shared__ shared_points have;
    __shared__ float pulls[FEW_WARPS][FEW_SCALARS];
    __shared__ partial whole[32];
    __shared__ double lost[FEW_WARPS];
    const int warp = threadIdx.x / 32, laneid = threadIdx.x % 32, z = (int)p.z, h = (int)p.h, scalars = z * h;
    if (warp == 0) join_partials(p.rule.gaussian, partials, laneid, whole);
    for (int e = laneid; e < scalars; e += 32) pulls[warp][e] = 0;
    hold(p, labels, have);
    const float *G = have.G;
    const int32_t *other = have.other;
    const eh_pair_totals totals = totals_of(whole[0]);
    const int64_t i = (int64_t)blockIdx.x * FEW_WARPS + warp;
    eh_pair_weight weight = {0, 0, 0, 0};
    if (laneid == 0 && i < p.n) weight = eh_pair_weight_of(&p.rule, &totals, &sums[i]);
    const float attract = (float)__shfl_sync(0xffffffff, weight.attract, 0);
    const float repel = (float)__shfl_sync(0xffffffff, weight.repel, 0);
    const float spread = p.share ? (float)__shfl_sync(0xffffffff, weight.spread, 0) : 0;
    const float *y = have.Y + warp * h;
    const int32_t label = have.label[warp];
    for (int first = 0; first < z && i < p.n; first += 32) {
        const int j = first + laneid;
        const float *g = G + (j < z ? j : 0) * h;
        const float more = p.share && j < z ? spread * p.share[j] : 0;
        const float D = j < z ? 2 * slope(p, attract, repel, more, same_class(label, other[j]), distance2(y, g, h)) : 0;
        for (int k = 0; k < h; k++) {
            const float push = j < z ? D * (y[k] - g[k]) : 0;
            if (j < z) pulls[warp][j * h + k] -= push;
            const float sum = warp_sum(push);
            if (laneid == 0) dY[i * h + k] = first ? dY[i * h + k] + sum : sum;
        }
    }
    if (laneid == 0) lost[warp] = weight.loss;
    __syncthreads();
    for (int e = (int)threadIdx.x; e < scalars; e += FEW_THREADS) {
        float sum = 0;
        for (int w = 0; w < FEW_WARPS; w++) sum += pulls[w][e];
        grads[(int64_t)blockIdx.x * scalars + e] = sum;
    }
    if (threadIdx.x == 0) {
        double all = 0;
        for (int w = 0; w < FEW_WARPS; w++) all += lost[w];
        losses[blockIdx.x] = all;
    }
    if (!last_block(ticket, gridDim.x)) return;
    sum_blocks(grads, losses, scalars, warp, laneid, dG, loss);
}

/* ---- many ---- */

__global__ void many_sums(const __grid_constant__ pairs p, const int32_t *labels, const int32_t *other,
                          const float *weights, eh_pair_sums *sums)
{
    begin_kernel();
    const int64_t i = blockIdx.x;
    const float *y = p.Y + i * p.h;
    const int32_t label = p.target_probs ? -1 : labels[i];
    float nearest = INFINITY, nearest_same = INFINITY;
    if (p.rule.gaussian) {
        for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
            if (p.self && i == j) continue;
            const float d = distance2(y, p.G + j * p.h, p.h);
            nearest = fminf(nearest, d);
            if (!p.target_probs && same_class(label, other[j])) nearest_same = fminf(nearest_same, d);
        }
        nearest = block_reduce(nearest, minimum());
        nearest_same = block_reduce(nearest_same, minimum());
    }
    row_sums all = {};
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
        if (p.self && i == j) continue;
        const float d = distance2(y, p.G + j * p.h, p.h);
        if (p.target_probs)
            add_target_probs(p, d, p.target_probs[i * p.z + j], nearest, all);
        else
            add_pair(p, d, same_class(label, other[j]), nearest, nearest_same, all);
        add_spread(p, d, j, all);
    }
    all.all = block_reduce(all.all, add());
    all.mine = block_reduce(all.mine, add());
    all.count = block_reduce(all.count, add());
    if (p.share) all.spread = block_reduce(all.spread, add());
    const double weight = p.target_probs ? 1 : eh_sample_weight(label, weights, i);
    if (threadIdx.x == 0) sums[i] = sums_of(p, true, nearest, nearest_same, all, weight);
}

/* One block: totals, then the weights of the pairs of every sample and the loss. */
__global__ void weigh(const __grid_constant__ pairs p, const eh_pair_sums *sums, float4 *weights, eh_loss_value *loss)
{
    begin_kernel();
    partial whole = {0, 0, -INFINITY, 0};
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS) whole = joined(whole, partial_of(sums[i]));
    const eh_pair_totals totals = totals_of(block_reduce(whole, join()));
    double sum = 0;
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS) {
        const eh_pair_weight w = p.target_probs ? eh_target_probs_weight_of(&p.rule, &totals, &sums[i])
                                                : eh_pair_weight_of(&p.rule, &totals, &sums[i]);
        weights[i] = float4{(float)w.attract, (float)w.repel, (float)w.spread, 0};
        sum += w.loss;
    }
    sum = block_reduce(sum, add());
    if (threadIdx.x == 0) *loss = {sum, 0};
}

/* The derivative of pair t of a row, as a sample or as a compared point; both: the sum of the
 * two. */
__device__ static float many_slope(const pairs &p, const int32_t *labels, const int32_t *other_labels,
                                   const float4 *weights, bool as_sample, bool both, int64_t row, int64_t t)
{
    const float *own = (as_sample ? p.Y : p.G) + row * p.h, *other = (as_sample ? p.G : p.Y) + t * p.h;
    const float d = distance2(own, other, p.h);
    const float4 w = weights[as_sample ? row : t];
    if (p.target_probs) {
        const float target = as_sample ? p.target_probs[row * p.z + t] : p.target_probs[t * p.z + row];
        return slope_target_probs(p, target, w.y, d) + (both ? slope_target_probs(p, target, weights[t].y, d) : 0);
    }
    const bool same = as_sample ? same_class(labels[row], other_labels[t]) : same_class(other_labels[row], labels[t]);
    const float spread = p.share ? w.z * p.share[as_sample ? t : row] : 0; /* never with `both` */
    return slope(p, w.x, w.y, spread, same, d) + (both ? slope(p, weights[t].x, weights[t].y, 0, same, d) : 0);
}

/* out (rows, h) = 2 sum over others of D (own - other), a block for each row; both: the row as a
 * sample and as a compared point. WIDE: outputs at a time. */
template <int WIDE>
__global__ void many_grads(const __grid_constant__ pairs p, const int32_t *labels, const int32_t *other_labels,
                           const float4 *weights, bool as_sample, bool both, float *out)
{
    begin_kernel();
    const int64_t row = blockIdx.x, others = as_sample ? p.z : p.n;
    const float *own = (as_sample ? p.Y : p.G) + row * p.h, *other = as_sample ? p.G : p.Y;
    for (int64_t first = 0; first < p.h; first += WIDE) {
        double sum[WIDE] = {};
        for (int64_t t = threadIdx.x; t < others; t += THREADS) {
            if (p.self && t == row) continue; /* its derivative may be infinite, but its difference is zero */
            const float D = many_slope(p, labels, other_labels, weights, as_sample, both, row, t);
#pragma unroll
            for (int k = 0; k < WIDE; k++)
                if (first + k < p.h) sum[k] += (double)D * (own[first + k] - other[t * p.h + first + k]);
        }
#pragma unroll
        for (int k = 0; k < WIDE; k++) {
            if (first + k >= p.h) break;
            const double all = block_reduce(sum[k], add());
            if (threadIdx.x == 0) out[row * p.h + first + k] = (float)(2 * all);
        }
    }
}

/* The same for wide rows (the input space): first the derivatives of a strip of others, then a
 * thread for each output. */
__global__ void wide_grads(const __grid_constant__ pairs p, const int32_t *labels, const int32_t *other_labels,
                           const float4 *weights, bool as_sample, bool both, float *out)
{
    begin_kernel();
    __shared__ float slopes[THREADS];
    const int64_t row = blockIdx.x, others = as_sample ? p.z : p.n;
    const float *own = (as_sample ? p.Y : p.G) + row * p.h, *other = as_sample ? p.G : p.Y;
    for (int64_t from = 0; from < others || from == 0; from += THREADS) {
        const int64_t t = from + threadIdx.x, count = others - from < THREADS ? others - from : THREADS;
        __syncthreads();
        slopes[threadIdx.x] = t < others && !(p.self && t == row)
                                  ? many_slope(p, labels, other_labels, weights, as_sample, both, row, t)
                                  : 0;
        __syncthreads();
        for (int64_t k = threadIdx.x; k < p.h; k += THREADS) {
            double sum = 0;
            for (int64_t s = 0; s < count; s++) sum += (double)slopes[s] * (own[k] - other[(from + s) * p.h + k]);
            out[row * p.h + k] = (from ? out[row * p.h + k] : 0) + (float)(2 * sum);
        }
    }
}

static void few(cuda_state *s, const pairs &d, const int32_t *label, const float *weight, eh_loss *loss, float *dY,
                float *dG)
{
    const unsigned blocks = (unsigned)((d.n + FEW_WARPS - 1) / FEW_WARPS);
    const size_t sums = (size_t)d.n * sizeof(eh_pair_sums), partials = blocks * sizeof(partial),
                 losses = blocks * sizeof(double);
    const size_t grads = blocks * (size_t)(d.z * d.h) * sizeof(float);
    char *scratch = (char *)cuda_scratch_get(s, &s->pairs, sums + partials + losses + grads, "pairs of a batch");
    if (!scratch) return;
    partial *at_partials = (partial *)(scratch + sums);
    double *at_losses = (double *)(scratch + sums + partials);
    float *at_grads = (float *)(scratch + sums + partials + losses);
    enqueue(s, blocks, FEW_THREADS, 0, few_sums, d, varying{label}, varying{weight}, (eh_pair_sums *)scratch,
            at_partials);
    enqueue(s, blocks, FEW_THREADS, 0, few_grads, d, varying{label}, (const eh_pair_sums *)scratch, at_partials,
            at_losses, at_grads, s->tickets + CUDA_TICKETS - 1, varying{S(loss)}, dY, dG);
}

static void many(cuda_state *s, const pairs &d, const int32_t *label, const int32_t *other, const float *weight,
                 eh_loss *loss, float *dY, float *dG)
{
    const size_t weight_bytes = (size_t)d.n * sizeof(float4), sum_bytes = (size_t)d.n * sizeof(eh_pair_sums);
    char *scratch = (char *)cuda_scratch_get(s, &s->pairs, weight_bytes + sum_bytes, "pairs of a batch");
    if (!scratch) return;
    float4 *weights = (float4 *)scratch; /* first, because it needs the larger alignment */
    eh_pair_sums *sums = (eh_pair_sums *)(scratch + weight_bytes);
    enqueue(s, (unsigned)d.n, THREADS, 0, many_sums, d, varying{label}, varying{other}, varying{weight}, sums);
    enqueue(s, 1, THREADS, 0, weigh, d, (const eh_pair_sums *)sums, weights, varying{S(loss)});
    const auto grads = d.h <= 2 ? many_grads<2> : d.h <= 16 ? many_grads<16> : wide_grads;
    enqueue(s, (unsigned)d.n, THREADS, 0, grads, d, varying{label}, varying{other}, weights, true, d.self, dY);
    if (!d.self && d.z)
        enqueue(s, (unsigned)d.z, THREADS, 0, grads, d, varying{label}, varying{other}, weights, false, false, dG);
}

void cuda_pairs(eh_compute *c, const eh_pairs *p, eh_loss *loss, eh_real *dY, eh_real *dG)
{
    cuda_state *s = state_of(c);
    pairs d;
    memset((void *)&d, 0, sizeof d);
    const eh_pair_rule rule = eh_pair_rule_of(p);
    const eh_student student = eh_student_of(p->dof);
    d.rule.gaussian = rule.gaussian, d.rule.row = rule.row, d.rule.nca = rule.nca, d.rule.indicator = rule.indicator;
    d.rule.smooth = rule.smooth, d.rule.classes = rule.classes, d.rule.neg_entropy = rule.neg_entropy;
    d.self = p->self;
    d.power = student.power, d.inverse = (float)student.inverse, d.rate = (float)student.rate;
    d.share = p->smoothing.part > 0 ? F(p->smoothing.share) : NULL;
    d.n = p->n, d.z = p->z, d.h = p->h;
    d.Y = F(p->Y), d.G = F(p->G), d.target_probs = F(p->target_probs);
    d.other = p->self ? NULL : L(p->other_label);
    if (p->n == 0) {
        static const eh_loss_value none = {0, 0};
        c->op->send(c, loss, &none, sizeof none);
        if (dG) cuda_fill(c, p->z * p->h, 0, dG);
        return;
    }
    const int32_t *label = L(p->label), *other = L(p->other_label);
    if (!p->self && !p->target_probs && p->z > 0 && p->z <= FEW && p->z * p->h <= FEW_SCALARS &&
        FEW_WARPS * p->h <= FEW_SCALARS)
        few(s, d, label, F(p->weight), loss, F(dY), F(dG));
    else
        many(s, d, label, other, F(p->weight), loss, F(dY), F(dG));
}
