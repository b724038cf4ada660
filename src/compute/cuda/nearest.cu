/* Exact search of the k nearest rows on the device.
 *
 * In few dimensions, distances are computed from differences, one thread for each query. In many
 * dimensions, products in bfloat16 give approximate distances |q|^2 - 2 q.r + |r|^2 of a block
 * of queries to a block of references, all relative to the first reference so that the lengths
 * are small. Rounding to eight bits changes an entry by at most 2^-8 of its value, two entries
 * by 2^-7 and a little, so 2 q.r changes by less than (2^-6 + ...) |q| |r| (Cauchy and Schwarz).
 * The float sums of `dims` terms, here and in the lengths, add an error proportional to dims
 * 2^-24. The total is the bound `doubt`. A reference whose approximate distance minus the doubt
 * is above the k-th best cannot be among the nearest. The few others get their exact distance
 * from differences, one warp for each query. */
#include "compute/cuda/cuda.h"
#include "compute/similarity.h"

/* Factors of |q| |r| and of |q|^2 + |r|^2. */
struct doubts {
    float products, squares;
};

enum {
    FEW_DIMS = 16,
    THREADS = 128,
    WARPS = THREADS / 32,
    SHORT = 8,
    PER_THREAD = 4
}; /* PER_THREAD: references of a thread at a time */
static const int64_t QUERIES = 2048,
                     REFERENCES = 4096; /* size of a block of products, such that it stays in the cache */

/* ---- few dimensions ---- */

/* The list of the best so far, in registers. */
template <int K> struct best_list {
    float d[K];
    int32_t at[K];

    __device__ void clear()
    {
#pragma unroll
        for (int i = 0; i < K; i++) d[i] = INFINITY, at[i] = -1;
    }
    /* Equal distances are placed after earlier ones; NaN counts as infinitely far. */
    __device__ void offer(float x, int32_t j)
    {
        if (!(x < INFINITY)) x = INFINITY;
        if (!(x < d[K - 1]) && at[K - 1] >= 0) return;
#pragma unroll
        for (int i = K - 1; i > 0; i--) {
            const bool before = x < d[i - 1] || at[i - 1] < 0, here = !before && (x < d[i] || at[i] < 0);
            d[i] = before ? d[i - 1] : here ? x : d[i];
            at[i] = before ? at[i - 1] : here ? j : at[i];
        }
        if (x < d[0] || at[0] < 0) d[0] = x, at[0] = j;
    }
};

template <int DIMS>
__global__ void nearest_few(const float *Q, int64_t q, const float *R, int64_t r, int dims, int64_t k, int64_t *index,
                            float *distance)
{
    begin_kernel();
    CUDA_EACH(i, q)
    {
        best_list<SHORT> best;
        float y[DIMS];
        best.clear();
#pragma unroll
        for (int t = 0; t < DIMS; t++) y[t] = t < dims ? Q[i * dims + t] : 0;
        for (int64_t j = 0; j < r; j++) {
            float d = 0;
#pragma unroll
            for (int t = 0; t < DIMS; t++)
                if (t < dims) d += (y[t] - R[j * dims + t]) * (y[t] - R[j * dims + t]);
            best.offer(d, (int32_t)j);
        }
#pragma unroll
        for (int s = 0; s < SHORT; s++)
            if (s < k) index[i * k + s] = best.at[s], distance[i * k + s] = best.d[s];
    }
}

/* ---- any ---- */

/* Inserts (d, j) into the sorted list of the `found` best. Returns the new length. */
__device__ static int64_t put(float d, int64_t j, int64_t found, int64_t k, int64_t *index, float *distance)
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

__device__ static float warp_distance2(const float *a, const float *b, int64_t dims)
{
    float sum = 0;
    for (int64_t t = threadIdx.x % 32; t < dims; t += 32) sum += (a[t] - b[t]) * (a[t] - b[t]);
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
    return sum;
}

/* to = from - origin by rows, zeros up to ld, and the squared lengths of the rows; one warp for
 * each row */
__global__ void center_rows(int64_t count, int64_t dims, const float *from, const float *origin, __nv_bfloat16 *to,
                            int64_t ld, float *length)
{
    begin_kernel();
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= count) return;
    float sum = 0;
    for (int64_t t = threadIdx.x % 32; t < ld; t += 32) {
        const float v = t < dims ? from[i * dims + t] - origin[t] : 0;
        to[i * ld + t] = __float2bfloat16(v);
        sum += v * v;
    }
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
    if (threadIdx.x % 32 == 0) length[i] = sqrtf(sum);
}

/* P (qs, rs): approximate products of queries with the references from first_r on; NULL: all
 * distances are exact. Q and R are the original rows. Lists start empty if first_r is 0. */
__global__ void take_near(const float *P, int64_t qs, int64_t rs, int64_t first_r, int64_t dims, int64_t k,
                          const float *Q, const float *R, const float *q_length, const float *r_length, doubts doubt,
                          int64_t *index, float *distance)
{
    begin_kernel();
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= qs) return;
    const int laneid = threadIdx.x % 32;
    int64_t *my_index = index + i * k, found = first_r < k ? first_r : k;
    float *my_distance = distance + i * k;
    float limit = found == k ? my_distance[k - 1] : INFINITY;
    const float length = P ? q_length[i] : 0;
    for (int64_t first = 0; first < rs; first += 32 * PER_THREAD) {
        bool wanted[PER_THREAD];
        float product[PER_THREAD], other[PER_THREAD];
#pragma unroll
        for (int e = 0; e < PER_THREAD; e++) {
            const int64_t j = first + PER_THREAD * laneid + e;
            product[e] = P && j < rs ? P[i * rs + j] : 0;
            other[e] = P && j < rs ? r_length[j] : 0;
        }
#pragma unroll
        for (int e = 0; e < PER_THREAD; e++) {
            const float squares = length * length + other[e] * other[e];
            const float lower_bound =
                squares - 2 * product[e] - (doubt.products * length * other[e] + doubt.squares * squares);
            wanted[e] = first + PER_THREAD * laneid + e < rs && (!P || !(lower_bound > limit));
        }
        bool some = false;
#pragma unroll
        for (int e = 0; e < PER_THREAD; e++) some |= wanted[e];
        unsigned ballot = __ballot_sync(0xffffffff, some);
        for (; ballot; ballot &= ballot - 1) {
            const int next = __ffs((int)ballot) - 1;
#pragma unroll
            for (int e = 0; e < PER_THREAD; e++) {
                if (!__shfl_sync(0xffffffff, (int)wanted[e], next)) continue;
                const int64_t j = first + PER_THREAD * next + e;
                const float d = warp_distance2(Q + i * dims, R + j * dims, dims);
                if (found == k && !(d < limit)) continue; /* the same for all threads of the warp */
                if (laneid == 0) put(d, first_r + j, found, k, my_index, my_distance);
                __syncwarp();
                if (found < k) found++;
                const float last = laneid == 0 && found == k ? my_distance[k - 1] : INFINITY;
                limit = __shfl_sync(0xffffffff, last, 0);
            }
        }
    }
}

/* Number of blocks of WARPS rows. */
static unsigned warps_for(int64_t rows)
{
    return (unsigned)((rows + WARPS - 1) / WARPS);
}

static void many(eh_compute *c, const float *Q, int64_t q, const float *R, int64_t r, int64_t dims, int64_t k,
                 int64_t *index, float *distance)
{
    cuda_state *s = state_of(c);
    const int64_t qs = q < QUERIES ? q : QUERIES, rs = r < REFERENCES ? r : REFERENCES, ld = (dims + 7) / 8 * 8;
    const size_t products = (size_t)((qs * rs + q + rs + 3) / 4 * 4) * sizeof(float);
    char *scratch = (char *)cuda_scratch_get(s, &s->product, products + (size_t)((q + rs) * ld) * sizeof(__nv_bfloat16),
                                             "distances");
    if (!scratch) return;
    float *P = (float *)scratch, *q_length = P + qs * rs, *r_length = q_length + q;
    __nv_bfloat16 *near_Q = (__nv_bfloat16 *)(scratch + products),
                  *near_R = near_Q + q * ld; /* relative to the first reference */
    const doubts doubt = {0x1.04p-6f + (float)dims * 0x1p-24f, (64 + (float)dims / 16) * 0x1p-24f};
    enqueue(s, warps_for(q), THREADS, 0, center_rows, q, dims, Q, R, near_Q, ld, q_length);
    for (int64_t j = 0; j < r; j += rs) {
        const int64_t across = r - j < rs ? r - j : rs;
        enqueue(s, warps_for(across), THREADS, 0, center_rows, across, dims, R + j * dims, R, near_R, ld, r_length);
        for (int64_t i = 0; i < q; i += qs) {
            const int64_t down = q - i < qs ? q - i : qs;
            cuda_rough_product(s, down, across, dims, near_Q + i * ld, near_R, ld, P, across);
            enqueue(s, warps_for(down), THREADS, 0, take_near, P, down, across, j, dims, k, Q + i * dims, R + j * dims,
                    q_length + i, r_length, doubt, index + i * k, distance + i * k);
        }
    }
}

void cuda_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R_, int64_t r, int64_t dims, int64_t k,
                  eh_row *index, eh_real *distance)
{
    cuda_state *s = state_of(c);
    if (q == 0 || k == 0) return;
    enum { ALL = 64 }; /* number of references up to which approximate distances gain nothing */
    if (dims <= FEW_DIMS && k <= SHORT && r <= INT32_MAX)
        enqueue(s, blocks_for(q, THREADS), THREADS, 0,
                dims <= 2   ? nearest_few<2>
                : dims <= 4 ? nearest_few<4>
                            : nearest_few<FEW_DIMS>,
                F(Q), q, F(R_), r, (int)dims, k, R(index), F(distance));
    else if (dims <= FEW_DIMS || r <= ALL)
        enqueue(s, warps_for(q), THREADS, 0, take_near, (const float *)NULL, q, r, (int64_t)0, dims, k, F(Q), F(R_),
                (const float *)NULL, (const float *)NULL, doubts{0, 0}, R(index), F(distance));
    else
        many(c, F(Q), q, F(R_), r, dims, k, R(index), F(distance));
}

__global__ void vote_each(const int64_t *index, int64_t q, int64_t k, const int32_t *reference_label, int32_t *label)
{
    begin_kernel();
    CUDA_EACH(i, q)
    {
        const int64_t *mine = index + i * k;
        int32_t winner = reference_label[mine[0]];
        int64_t max_votes = 0;
        for (int64_t a = 0; a < k; a++) {
            const int32_t one = reference_label[mine[a]];
            int64_t count = 0;
            for (int64_t b = 0; b < k; b++) count += reference_label[mine[b]] == one;
            if (count > max_votes) max_votes = count, winner = one;
        }
        label[i] = winner;
    }
}

void cuda_vote(eh_compute *c, const eh_row *index, int64_t q, int64_t k, const eh_label *reference_label,
               eh_label *label)
{
    if (q)
        enqueue(state_of(c), blocks_for(q, THREADS), THREADS, 0, vote_each, R(index), q, k, L(reference_label),
                L(label));
}

static __device__ float squared_distance(const float *a, const float *b, int64_t dims)
{
    float sum = 0;
    for (int64_t k = 0; k < dims; k++) {
        const float difference = a[k] - b[k];
        sum += difference * difference;
    }
    return sum;
}

/* Similarities are divided by the largest one, so that they do not all underflow. */
__global__ void argmax_similarity_each(const float *Q, int64_t q, const float *R, int64_t r, int64_t dims,
                                       const int32_t *reference_label, bool gaussian, int power, float inverse,
                                       int32_t *label)
{
    begin_kernel();
    CUDA_EACH(i, q)
    {
        const float *y = Q + i * dims;
        float nearest = INFINITY, largest = 0;
        int32_t winner = reference_label[0];
        for (int64_t j = 0; j < r; j++) nearest = fminf(nearest, squared_distance(y, R + j * dims, dims));
        for (int64_t j = 0; j < r;) {
            const int32_t one = reference_label[j];
            float sum = 0;
            for (; j < r && reference_label[j] == one; j++) {
                const float d = squared_distance(y, R + j * dims, dims);
                sum += gaussian ? expf(nearest - d)
                                : eh_similarity_power((1 + nearest * inverse) / (1 + d * inverse), power);
            }
            if (sum > largest) largest = sum, winner = one;
        }
        label[i] = winner;
    }
}

void cuda_argmax_similarity(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R_, int64_t r, int64_t dims,
                            const eh_label *reference_label, const eh_similarity *similarity, eh_label *label)
{
    const eh_student s = eh_student_of(similarity->dof);
    if (q)
        enqueue(state_of(c), blocks_for(q, THREADS), THREADS, 0, argmax_similarity_each, F(Q), q, F(R_), r, dims,
                L(reference_label), similarity->gaussian, s.power, (float)s.inverse, L(label));
}
