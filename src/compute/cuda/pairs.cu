/* The neighbour objectives on the device: distances by differences, made anew in each pass, sums in a fixed order.
 *
 * Against few compared points (exemplars) two kernels do it all, a thread a sample:
 *   few_sums    the sums over each sample's pairs, and what blocks of samples add to the totals
 *   few_grads   the totals, weights, loss, dY, and what blocks add to dG; the last block adds those up
 * Against many (a batch against itself), a block a sample: many_sums, weigh, many_grads. */
#include "compute/cuda/cuda.h"
#include "compute/pair_weights.h"

enum { THREADS = 128, WARPS = THREADS / 32, FEW = 256, FEW_NUMBERS = 1024, WIDE = 16 };

struct pairs {
    bool gaussian, row, nca, self, indicator;
    int64_t n, z, h;
    const float *Y, *G;
    const int32_t *label, *other;
};

/* What a part of the samples adds to the totals; the sum of exp(log_all) is kept relative to its largest term. */
struct part {
    double with_target, same_pairs, largest, sum;
};

__device__ static part joined(const part &a, const part &b)
{
    part c = {a.with_target + b.with_target, a.same_pairs + b.same_pairs, a.largest, a.sum};
    if (!(b.largest <= a.largest)) { /* also where it is NaN */
        c.largest = b.largest;
        c.sum = b.sum + (a.sum == 0 ? 0 : a.sum * exp(a.largest - b.largest));
    } else if (b.sum != 0) {
        c.sum = a.sum + b.sum * exp(b.largest - a.largest);
    }
    return c;
}

__device__ static part part_of(const eh_pair_sums &own, bool labelled)
{
    part p = {own.count > 0 ? 1.0 : 0.0, own.count, -INFINITY, 0};
    if (labelled && !(own.log_all == -INFINITY)) p.largest = own.log_all, p.sum = 1;
    return p;
}

__device__ static eh_pair_totals totals_of(const part &p)
{
    return {p.with_target, p.same_pairs, p.largest + log(p.sum)};
}

template <typename T, typename Op> __device__ static T block_reduce(T value, Op op)
{
    __shared__ T room[THREADS];
    __syncthreads();
    room[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] = op(room[threadIdx.x], room[threadIdx.x + half]);
    }
    __syncthreads();
    return room[0];
}

struct add {
    __device__ double operator()(double a, double b) const { return a + b; }
};
struct least {
    __device__ float operator()(float a, float b) const { return b < a ? b : a; }
};
struct join {
    __device__ part operator()(const part &a, const part &b) const { return joined(a, b); }
};

__device__ static float distance2(const float *a, const float *b, int64_t h)
{
    float sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Same class: samples without a label have none. */
__device__ static bool kin(int32_t a, int32_t b)
{
    return a == b && a >= 0;
}

/* Adds the pair at distance d to the sums. nearest, nearest_same: what exponents are taken relative to. */
__device__ static void add_pair(const pairs &p, float d, bool same, float nearest, float nearest_same, double &all,
                                double &mine, double &count)
{
    all += p.gaussian ? expf(nearest - d) : 1 / (1 + d);
    if (!same) return;
    count += 1;
    if (p.nca)
        mine += p.gaussian ? expf(nearest_same - d) : 1 / (1 + d);
    else
        mine -= p.gaussian ? d : log1pf(d);
}

__device__ static eh_pair_sums sums_of(const pairs &p, float nearest, float nearest_same, double all, double mine,
                                       double count)
{
    return {log(all) - (p.gaussian && nearest < INFINITY ? nearest : 0),
            p.nca ? log(mine) - (p.gaussian && nearest_same < INFINITY ? nearest_same : 0) : mine, count};
}

/* dloss/dd of the pair at distance d. */
__device__ static float slope(const pairs &p, float attract, float repel, bool same, float d)
{
    if (p.gaussian) return (same ? expf(p.nca ? attract - d : attract) : 0) - expf(repel - d);
    const float w = 1 / (1 + d);
    return ((same ? (p.nca ? attract * w : attract) : 0) - repel * w) * w;
}

/* ---- few compared points ---- */

/* Compared points and their labels into shared memory. */
__device__ static void hold(const pairs &p, float *G, int32_t *other)
{
    for (int64_t i = threadIdx.x; i < p.z * p.h; i += THREADS) G[i] = p.G[i];
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS) other[j] = p.other[j];
    __syncthreads();
}

__global__ void few_sums(const __grid_constant__ pairs p, eh_pair_sums *sums, part *parts)
{
    begin_kernel();
    __shared__ float G[FEW_NUMBERS];
    __shared__ int32_t other[FEW];
    hold(p, G, other);
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    part mine = {0, 0, -INFINITY, 0};
    if (i < p.n) {
        const float *y = p.Y + i * p.h;
        const int32_t label = p.label[i];
        float nearest = INFINITY, nearest_same = INFINITY;
        for (int64_t j = 0; p.gaussian && j < p.z; j++) {
            const float d = distance2(y, G + j * p.h, p.h);
            nearest = fminf(nearest, d);
            if (kin(label, other[j])) nearest_same = fminf(nearest_same, d);
        }
        double all = 0, same = 0, count = 0;
        for (int64_t j = 0; j < p.z; j++)
            add_pair(p, distance2(y, G + j * p.h, p.h), kin(label, other[j]), nearest, nearest_same, all, same, count);
        const eh_pair_sums own = sums_of(p, nearest, nearest_same, all, same, count);
        sums[i] = own;
        mine = part_of(own, label >= 0);
    }
    mine = block_reduce(mine, join());
    if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

/* grads (blocks, z h): what each block adds to dG. */
__global__ void few_grads(const __grid_constant__ pairs p, const eh_pair_sums *sums, const part *parts, double *losses,
                          float *grads, unsigned *ticket, eh_value *loss, float *dY, float *dG)
{
    begin_kernel();
    __shared__ float G[FEW_NUMBERS];
    __shared__ int32_t other[FEW];
    __shared__ float warps[WARPS][FEW_NUMBERS];
    hold(p, G, other);
    part whole = {0, 0, -INFINITY, 0};
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) whole = joined(whole, parts[b]);
    const eh_pair_totals totals = totals_of(block_reduce(whole, join()));

    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int32_t label = i < p.n ? p.label[i] : -1;
    const float *y = p.Y + (i < p.n ? i : 0) * p.h;
    eh_pair_weight weight = {0, 0, 0};
    if (i < p.n) weight = eh_pair_weight_of(p.gaussian, p.row, p.nca, p.indicator, &totals, &sums[i], label >= 0);
    const float attract = (float)weight.attract, repel = (float)weight.repel;
    if (i < p.n)
        for (int64_t k = 0; k < p.h; k++) dY[i * p.h + k] = 0;
    for (int64_t j = 0; j < p.z; j++) {
        const float *g = G + j * p.h;
        const float D = i < p.n ? 2 * slope(p, attract, repel, kin(label, other[j]), distance2(y, g, p.h)) : 0;
        for (int64_t k = 0; k < p.h; k++) {
            float push = i < p.n ? D * (y[k] - g[k]) : 0;
            if (i < p.n) dY[i * p.h + k] += push;
            for (int half = 16; half; half /= 2) push += __shfl_xor_sync(0xffffffff, push, half);
            if (lane == 0) warps[warp][j * p.h + k] = -push;
        }
    }
    const double mine = block_reduce(weight.loss, add());
    for (int64_t e = threadIdx.x; e < p.z * p.h; e += THREADS) {
        float sum = 0;
        for (int w = 0; w < WARPS; w++) sum += warps[w][e];
        grads[blockIdx.x * p.z * p.h + e] = sum;
    }
    if (threadIdx.x == 0) losses[blockIdx.x] = mine;
    if (!last_block(ticket, gridDim.x)) return;
    for (int64_t e = threadIdx.x; e < p.z * p.h; e += THREADS) {
        float sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += grads[b * p.z * p.h + e];
        dG[e] = sum;
    }
    if (threadIdx.x) return;
    double all = 0;
    for (unsigned b = 0; b < gridDim.x; b++) all += losses[b];
    *loss = {all, 0};
}

/* ---- many ---- */

__global__ void many_sums(const __grid_constant__ pairs p, eh_pair_sums *sums)
{
    begin_kernel();
    const int64_t i = blockIdx.x;
    const float *y = p.Y + i * p.h;
    const int32_t label = p.label[i];
    float nearest = INFINITY, nearest_same = INFINITY;
    if (p.gaussian) {
        for (int64_t j = threadIdx.x; j < p.z; j += THREADS) {
            if (p.self && i == j) continue;
            const float d = distance2(y, p.G + j * p.h, p.h);
            nearest = fminf(nearest, d);
            if (kin(label, p.other[j])) nearest_same = fminf(nearest_same, d);
        }
        nearest = block_reduce(nearest, least());
        nearest_same = block_reduce(nearest_same, least());
    }
    double all = 0, same = 0, count = 0;
    for (int64_t j = threadIdx.x; j < p.z; j += THREADS)
        if (!(p.self && i == j))
            add_pair(p, distance2(y, p.G + j * p.h, p.h), kin(label, p.other[j]), nearest, nearest_same, all, same, count);
    all = block_reduce(all, add());
    same = block_reduce(same, add());
    count = block_reduce(count, add());
    if (threadIdx.x == 0) sums[i] = sums_of(p, nearest, nearest_same, all, same, count);
}

/* One block: totals, then the weights of every sample and the loss. */
__global__ void weigh(const __grid_constant__ pairs p, const eh_pair_sums *sums, float2 *weights, eh_value *loss)
{
    begin_kernel();
    part whole = {0, 0, -INFINITY, 0};
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS) whole = joined(whole, part_of(sums[i], p.label[i] >= 0));
    const eh_pair_totals totals = totals_of(block_reduce(whole, join()));
    double sum = 0;
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS) {
        const eh_pair_weight w =
            eh_pair_weight_of(p.gaussian, p.row, p.nca, p.indicator, &totals, &sums[i], p.label[i] >= 0);
        weights[i] = float2{(float)w.attract, (float)w.repel};
        sum += w.loss;
    }
    sum = block_reduce(sum, add());
    if (threadIdx.x == 0) *loss = {sum, 0};
}

/* out (rows, h) = 2 sum over others of D (own - other), a block a row; both: of the row as a sample and as a compared
 * point. */
__global__ void many_grads(const __grid_constant__ pairs p, const float2 *weights, bool as_sample, bool both, float *out)
{
    begin_kernel();
    const int64_t row = blockIdx.x, others = as_sample ? p.z : p.n;
    const float *own = (as_sample ? p.Y : p.G) + row * p.h, *other = as_sample ? p.G : p.Y;
    const int32_t label = as_sample ? p.label[row] : p.other[row], *other_label = as_sample ? p.other : p.label;
    for (int64_t first = 0; first < p.h; first += WIDE) {
        double sum[WIDE] = {};
        for (int64_t t = threadIdx.x; t < others; t += THREADS) {
            if (p.self && t == row) continue; /* its slope may be infinite, its difference is zero */
            const float d = distance2(own, other + t * p.h, p.h);
            const bool same = kin(label, other_label[t]);
            const float2 w = weights[as_sample ? row : t];
            float D = slope(p, w.x, w.y, same, d);
            if (both) D += slope(p, weights[t].x, weights[t].y, same, d);
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

/* ---- */

static void few(cuda_state *s, const pairs &d, eh_scalar *loss, float *dY, float *dG)
{
    const unsigned blocks = blocks_for(d.n, THREADS);
    const size_t sums = (size_t)d.n * sizeof(eh_pair_sums), parts = blocks * sizeof(part), losses = blocks * sizeof(double);
    const size_t grads = blocks * (size_t)(d.z * d.h) * sizeof(float);
    char *room = (char *)cuda_room_get(s, &s->pairs, sums + parts + losses + grads, "pairs of a batch");
    if (!room) return;
    part *at_parts = (part *)(room + sums);
    double *at_losses = (double *)(room + sums + parts);
    float *at_grads = (float *)(room + sums + parts + losses);
    note(s, blocks, THREADS, 0, few_sums, d, (eh_pair_sums *)room, at_parts);
    note(s, blocks, THREADS, 0, few_grads, d, (const eh_pair_sums *)room, at_parts, at_losses, at_grads,
         s->tickets + CUDA_TICKETS - 1, soft{S(loss)}, dY, dG);
}

static void many(cuda_state *s, const pairs &d, eh_scalar *loss, float *dY, float *dG)
{
    const size_t sums = (size_t)d.n * sizeof(eh_pair_sums);
    char *room = (char *)cuda_room_get(s, &s->pairs, sums + (size_t)d.n * sizeof(float2), "pairs of a batch");
    if (!room) return;
    float2 *weights = (float2 *)(room + sums);
    note(s, (unsigned)d.n, THREADS, 0, many_sums, d, (eh_pair_sums *)room);
    note(s, 1, THREADS, 0, weigh, d, (const eh_pair_sums *)room, weights, soft{S(loss)});
    note(s, (unsigned)d.n, THREADS, 0, many_grads, d, weights, true, d.self, dY);
    if (!d.self && d.z) note(s, (unsigned)d.z, THREADS, 0, many_grads, d, weights, false, false, dG);
}

void cuda_pairs(eh_compute *c, const eh_pairs *p, eh_scalar *loss, eh_real *dY, eh_real *dG)
{
    cuda_state *s = state_of(c);
    pairs d;
    memset((void *)&d, 0, sizeof d);
    d.gaussian = p->gaussian, d.row = p->row, d.nca = p->nca, d.self = p->self, d.indicator = p->indicator;
    d.n = p->n, d.z = p->z, d.h = p->h;
    d.Y = F(p->Y), d.G = F(p->G);
    d.label = L(p->label), d.other = L(p->other_label);
    if (p->n == 0) {
        static const eh_value none = {0, 0};
        c->op->send(c, loss, &none, sizeof none);
        if (dG) cuda_fill(c, p->z * p->h, 0, dG);
        return;
    }
    if (!p->self && p->z <= FEW && p->z * p->h <= FEW_NUMBERS)
        few(s, d, loss, F(dY), F(dG));
    else
        many(s, d, loss, F(dY), F(dG));
}
