/* The k nearest rows on the device, exactly: in few dimensions by differences, in many by one product a block of
 * queries and |q - r|^2 = |q|^2 - 2 q.r + |r|^2, after the first reference has been taken from all rows (cpu/nearest.c
 * says why). A thread owns a query and walks the references in order. */
#include "compute/cuda/cuda.h"

enum { FEW_DIMS = 16, THREADS = 64 };
static const int64_t QUERIES = 1024, REFERENCES = 8192; /* of a block of products */

__device__ static int64_t offer(float d, int64_t j, int64_t found, int64_t k, int64_t *index, float *distance)
{
    if (found == k && !(d < distance[k - 1])) return found;
    int64_t at = found < k ? found++ : k - 1;
    for (; at > 0 && d < distance[at - 1]; at--) {
        distance[at] = distance[at - 1];
        index[at] = index[at - 1];
    }
    distance[at] = d;
    index[at] = j;
    return found;
}

__global__ void nearest_few(const float *Q, int64_t q, const float *R, int64_t r, int64_t dims, int64_t k,
                            int64_t *index, float *distance)
{
    CUDA_EACH(i, q)
    {
        int64_t found = 0;
        for (int64_t j = 0; j < r; j++) {
            float d = 0;
            for (int64_t t = 0; t < dims; t++) d += (Q[i * dims + t] - R[j * dims + t]) * (Q[i * dims + t] - R[j * dims + t]);
            found = offer(d, j, found, k, index + i * k, distance + i * k);
        }
    }
}

/* to = from - origin, row by row */
__global__ void centre_rows(int64_t count, int64_t dims, const float *from, const float *origin, float *to)
{
    CUDA_EACH(i, count * dims) to[i] = from[i] - origin[i % dims];
}

__global__ void squared_lengths(int64_t count, int64_t dims, const float *A, float *norm)
{
    CUDA_EACH(i, count)
    {
        float sum = 0;
        for (int64_t t = 0; t < dims; t++) sum += A[i * dims + t] * A[i * dims + t];
        norm[i] = sum;
    }
}

/* P (qs, rs): products of queries from `first_q` with references from `first_r`. */
__global__ void take_products(const float *P, int64_t qs, int64_t rs, int64_t first_q, int64_t first_r, int64_t k,
                              const float *q_norm, const float *r_norm, int64_t *index, float *distance)
{
    CUDA_EACH(i, qs)
    {
        int64_t found = first_r < k ? first_r : k;
        for (int64_t j = 0; j < rs; j++) {
            const float d = q_norm[i] + r_norm[j] - 2 * P[i * rs + j];
            found = offer(d > 0 ? d : 0, first_r + j, found, k, index + (first_q + i) * k, distance + (first_q + i) * k);
        }
    }
}

void cuda_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                  int64_t *index, float *distance)
{
    cuda_state *s = state_of(c);
    if (q == 0) return;
    const size_t lists = (size_t)(q * k);
    int64_t *found = (int64_t *)cuda_room_get(s, &s->found, lists * (sizeof *index + sizeof *distance), "neighbours");
    if (!found) return;
    float *near = (float *)(found + lists);
    if (dims <= FEW_DIMS) {
        nearest_few<<<blocks_for(q, THREADS), THREADS, 0, s->stream>>>(F(Q), q, F(R), r, dims, k, found, near);
    } else {
        const int64_t qs = q < QUERIES ? q : QUERIES, rs = r < REFERENCES ? r : REFERENCES;
        const size_t room = (size_t)(qs * rs + (qs + rs) * (dims + 1));
        float *P = (float *)cuda_room_get(s, &s->product, room * sizeof *P, "distances");
        if (!P) return;
        float *near_Q = P + qs * rs, *near_R = near_Q + qs * dims; /* centred */
        float *q_norm = near_R + rs * dims, *r_norm = q_norm + qs;
        for (int64_t j = 0; j < r; j += rs) {
            const int64_t across = r - j < rs ? r - j : rs;
            centre_rows<<<blocks_for(across * dims, 256), 256, 0, s->stream>>>(across, dims, F(R) + j * dims, F(R), near_R);
            squared_lengths<<<blocks_for(across, THREADS), THREADS, 0, s->stream>>>(across, dims, near_R, r_norm);
            for (int64_t i = 0; i < q; i += qs) {
                const int64_t down = q - i < qs ? q - i : qs;
                centre_rows<<<blocks_for(down * dims, 256), 256, 0, s->stream>>>(down, dims, F(Q) + i * dims, F(R), near_Q);
                squared_lengths<<<blocks_for(down, THREADS), THREADS, 0, s->stream>>>(down, dims, near_Q, q_norm);
                c->op->gemm(c, false, true, down, across, dims, 1, (eh_real *)near_Q, dims, (eh_real *)near_R, dims, 0,
                            (eh_real *)P, across);
                take_products<<<blocks_for(down, THREADS), THREADS, 0, s->stream>>>(P, down, across, i, j, k, q_norm,
                                                                                     r_norm, found, near);
            }
        }
    }
    cuda_ok(s, cudaMemcpyAsync(index, found, lists * sizeof *index, cudaMemcpyDeviceToHost, s->stream), "copying from it");
    cuda_ok(s, cudaMemcpyAsync(distance, near, lists * sizeof *distance, cudaMemcpyDeviceToHost, s->stream), "copying from it");
    cuda_ok(s, cudaStreamSynchronize(s->stream), "searching neighbours");
}
