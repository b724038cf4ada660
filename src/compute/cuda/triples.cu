/* Large-margin problems on the device (compute.h). First the bounds 1 + d_it; then a block for
 * each anchor passes over all pairs (i, j) and computes the loss of the anchor, its gradient as
 * an anchor and as an impostor, and the gradients of its targets; the last kernel sums the loss. */
#include "compute/cuda/cuda.h"

enum { THREADS = CUDA_BLOCK, WIDE = 16, NEAR = 4 }; /* outputs and targets at a time */

struct triples {
    int64_t n, targets, h;
    double pull, push;
    const float *Y;
};

/* bound (targets, n): 1 + d_it; -inf if the target is absent */
__global__ void find_bounds(const __grid_constant__ triples p, const int32_t *label, float *bound)
{
    begin_kernel();
    CUDA_EACH(e, p.n * p.targets)
    {
        const int64_t i = e / p.targets, t = e % p.targets, row = p.n + e;
        const float d = distance2(p.Y + i * p.h, p.Y + row * p.h, p.h);
        bound[t * p.n + i] = label[row] < 0 ? -INFINITY : 1 + d;
    }
}

/* NaN counts as within. */
__device__ static bool within(float bound, float d)
{
    return !(bound - d <= 0);
}

/* Row i against all anchors of other classes, within the bounds of targets `near` to near +
 * NEAR: adds the push to out (h), counts the impostors within each bound in active, and returns
 * the sum of margins. */
__device__ static double push_pass(const triples &p, const int32_t *label, const float *bound, int64_t near,
                                   int32_t *active, float *out)
{
    const int64_t i = blockIdx.x, n = p.n, h = p.h;
    const float *y = p.Y + i * h;
    const int count = p.targets - near < NEAR ? (int)(p.targets - near) : NEAR;
    double margins = 0;
    for (int64_t first = 0; first < h; first += WIDE) {
        double sum[WIDE] = {};
        int found[NEAR] = {};
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            if (label[j] == label[i]) continue;
            const float d = distance2(y, p.Y + j * h, h);
            int slope = 0;
#pragma unroll
            for (int t = 0; t < NEAR; t++) {
                if (t >= count) break;
                const float own = bound[(near + t) * n + i];
                if (within(own, d)) {
                    slope++;
                    found[t]++;
                    if (first == 0) margins += own - d;
                }
                slope += within(bound[(near + t) * n + j], d);
            }
            if (!slope) continue;
#pragma unroll
            for (int k = 0; k < WIDE; k++)
                if (first + k < h) sum[k] += (double)slope * (y[first + k] - p.Y[j * h + first + k]);
        }
#pragma unroll
        for (int k = 0; k < WIDE; k++) {
            if (first + k >= h) break;
            const double all = block_reduce(sum[k], add());
            if (threadIdx.x) continue;
            const float push = (float)(-2 * p.push * all);
            out[first + k] = near ? out[first + k] + push : push;
        }
#pragma unroll
        for (int t = 0; t < NEAR; t++) {
            if (t >= count || first) break;
            const double all = block_reduce((double)found[t], add());
            if (threadIdx.x == 0) active[t] = (int32_t)all;
        }
    }
    return block_reduce(margins, add());
}

/* loss (n): contribution of each anchor; active (n, targets): number of impostors within each
 * bound */
__global__ void pull_and_push(const __grid_constant__ triples p, const int32_t *label, const float *bound,
                              int32_t *active, double *loss, float *dY)
{
    begin_kernel();
    const int64_t i = blockIdx.x, each = p.targets, h = p.h, row = p.n + i * each;
    const float *y = p.Y + i * h;
    double margins = 0;
    active += i * each;
    for (int64_t near = 0; near < each; near += NEAR)
        margins += push_pass(p, label, bound, near, active + near, dY + i * h);
    __syncthreads();
    for (int64_t k = threadIdx.x; k < h; k += THREADS) {
        float sum = dY[i * h + k];
        for (int64_t t = 0; t < each; t++) {
            const float slope = label[row + t] < 0 ? 0 : (float)(2 * (p.pull + p.push * active[t]));
            const float part = slope * (y[k] - p.Y[(row + t) * h + k]);
            sum += part;
            dY[(row + t) * h + k] = -part;
        }
        dY[i * h + k] = sum;
    }
    if (threadIdx.x) return;
    double pulled = 0;
    for (int64_t t = 0; t < each; t++)
        if (label[row + t] >= 0) pulled += distance2(y, p.Y + (row + t) * h, h);
    loss[i] = p.pull * pulled + p.push * margins;
}

/* One block. */
__global__ void add_up(int64_t n, const double *from, eh_loss_value *loss)
{
    begin_kernel();
    double sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) sum += from[i];
    sum = block_reduce(sum, add());
    if (threadIdx.x == 0) *loss = {sum, 0};
}

void cuda_triples(eh_compute *c, const eh_triples *p, eh_loss *loss, eh_real *dY)
{
    cuda_state *s = state_of(c);
    const int64_t pairs = p->n * p->targets;
    if (p->n == 0) {
        static const eh_loss_value none = {0, 0};
        c->op->send(c, loss, &none, sizeof none);
        return;
    }
    triples d;
    memset((void *)&d, 0, sizeof d);
    d.n = p->n, d.targets = p->targets, d.h = p->h, d.pull = p->pull, d.push = p->push, d.Y = F(p->Y);
    const size_t losses = (size_t)p->n * sizeof(double), bounds = (size_t)pairs * sizeof(float);
    char *scratch =
        (char *)cuda_scratch_get(s, &s->pairs, losses + bounds + (size_t)pairs * sizeof(int32_t), "targets of a batch");
    if (!scratch) return;
    double *at_losses = (double *)scratch;
    float *bound = (float *)(scratch + losses);
    int32_t *active = (int32_t *)(scratch + losses + bounds);
    const int32_t *label = L(p->label);
    enqueue(s, blocks_for(pairs, THREADS), THREADS, 0, find_bounds, d, varying{label}, bound);
    enqueue(s, (unsigned)p->n, THREADS, 0, pull_and_push, d, varying{label}, (const float *)bound, active, at_losses,
            F(dY));
    enqueue(s, 1, THREADS, 0, add_up, p->n, (const double *)at_losses, varying{S(loss)});
}
