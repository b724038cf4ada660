/* Exact search of the k nearest rows.
 *
 * In few dimensions, distances are computed from differences, a strip of references at a time.
 * In many dimensions, one product for each pair of blocks of Q and R gives |q - r|^2 = |q|^2 - 2
 * q.r + |r|^2. The first reference is subtracted from all rows before: distances of data far
 * from the origin would otherwise be lost to rounding. Memory is a few blocks for any size,
 * allocated at the first use. If it cannot be allocated, differences are used in many dimensions
 * too. */
#include <cblas.h>
#include <omp.h>

#include "compute/cpu/cpu.h"

enum { STRIP = 256 };

/* Inserts count candidates d[j] with index first + j into the sorted list of one query, of which
 * `found` of k entries are filled. Candidates come in ascending order of index, so an equal
 * distance never displaces an earlier one. */
static int64_t insert(int64_t count, int64_t first, const float *d, int64_t found, int64_t k, int64_t *index,
                      float *distance)
{
    for (int64_t j = 0; j < count; j++) {
        const float candidate = d[j];
        if (found == k && !(candidate < distance[k - 1])) continue;
        int64_t at = found < k ? found++ : k - 1;
        for (; at > 0 && candidate < distance[at - 1]; at--) {
            distance[at] = distance[at - 1];
            index[at] = index[at - 1];
        }
        distance[at] = candidate;
        index[at] = first + j;
    }
    return found;
}

/* Like insert() for a full list, but skips sixteen candidates at once if none is near enough,
 * which is almost always the case. */
static void insert_full(int64_t count, int64_t first, const float *d, int64_t k, int64_t *index, float *distance)
{
    enum { SKIP = 16 };
    int64_t j = 0;
    for (; j + SKIP <= count; j += SKIP) {
        const float worst = distance[k - 1];
        int near = 0;
        for (int l = 0; l < SKIP; l++) near |= d[j + l] < worst;
        if (near) insert(SKIP, first + j, d + j, k, k, index, distance);
    }
    insert(count - j, first + j, d + j, k, k, index, distance);
}

static int64_t offer(int64_t count, int64_t first, const float *d, int64_t found, int64_t k, int64_t *index,
                     float *distance)
{
    int64_t filling = found < k ? k - found : 0;
    if (filling > count) filling = count;
    found = insert(filling, first, d, found, k, index, distance);
    if (count > filling) insert_full(count - filling, first + filling, d + filling, k, index, distance);
    return found;
}

void eh_cpu_nearest_row(const float *q, const float *R, int64_t r, int64_t dims, int64_t k, int64_t *index,
                        float *distance)
{
    int64_t found = 0;
    float d[STRIP];
    for (int64_t j = 0; j < r; j += STRIP) {
        const int64_t count = r - j < STRIP ? r - j : STRIP;
        eh_cpu_distances(count, dims, q, R + j * dims, d);
        found = offer(count, j, d, found, k, index, distance);
    }
}

static void nearest_few(eh_compute *c, const float *Q, int64_t q, const float *R, int64_t r, int64_t dims, int64_t k,
                        int64_t *index, float *distance)
{
#pragma omp parallel for num_threads(c->threads) if (q * r * dims > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < q; i++) eh_cpu_nearest_row(Q + i * dims, R, r, dims, k, index + i * k, distance + i * k);
}

EH_SIMD static float squared_length(int64_t dims, const float *restrict a)
{
    float partial[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= dims; k += 16)
        for (int l = 0; l < 16; l++) partial[l] += a[k + l] * a[k + l];
    for (; k < dims; k++) partial[0] += a[k] * a[k];
    float sum = 0;
    for (int l = 0; l < 16; l++) sum += partial[l];
    return sum;
}

/* Turns the product q.r into the squared distance, at least 0. */
EH_SIMD static void to_distances(int64_t count, float q_norm, const float *restrict r_norm, float *restrict d)
{
    for (int64_t j = 0; j < count; j++) {
        const float value = q_norm + r_norm[j] - 2 * d[j];
        d[j] = value > 0 ? value : 0;
    }
}

/* to = from - origin, row by row */
EH_SIMD static void center_rows(int64_t count, int64_t dims, const float *restrict from, const float *restrict origin,
                                float *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < dims; k++) to[i * dims + k] = from[i * dims + k] - origin[k];
}

/* Allocates the blocks for rows of `dims` dimensions. Returns false without memory. */
static bool make_blocks(eh_compute *c, int64_t dims)
{
    eh_cpu_state *state = c->state;
    if (dims <= state->dims) return true;
    eh_free(state->blocks);
    const size_t threads = (size_t)c->threads, width = (size_t)dims;
    state->blocks =
        eh_alloc(threads * EH_NEAREST_Q * (EH_NEAREST_R + width) + EH_NEAREST_R * (width + 1), sizeof(float));
    state->dims = state->blocks ? dims : 0;
    return state->blocks;
}

static void nearest_many(eh_compute *c, const float *Q, int64_t q, const float *R, int64_t r, int64_t dims, int64_t k,
                         int64_t *index, float *distance)
{
    const eh_cpu_state *state = c->state;
    float *centered_R = state->blocks;                /* (EH_NEAREST_R, dims) */
    float *r_norm = centered_R + EH_NEAREST_R * dims; /* (EH_NEAREST_R) */
    float *threads = r_norm + EH_NEAREST_R;           /* products and centered queries of each thread */
    for (int64_t j = 0; j < r; j += EH_NEAREST_R) {
        const int64_t rs = r - j < EH_NEAREST_R ? r - j : EH_NEAREST_R;
        center_rows(rs, dims, R + j * dims, R, centered_R);
        for (int64_t s = 0; s < rs; s++) r_norm[s] = squared_length(dims, centered_R + s * dims);
#pragma omp parallel for num_threads(c->threads) if (q > EH_NEAREST_Q) schedule(dynamic)
        for (int64_t i = 0; i < q; i += EH_NEAREST_Q) {
            const int64_t qs = q - i < EH_NEAREST_Q ? q - i : EH_NEAREST_Q;
            float *product = threads + (int64_t)omp_get_thread_num() * EH_NEAREST_Q * (EH_NEAREST_R + dims);
            float *centered_Q = product + EH_NEAREST_Q * EH_NEAREST_R;
            center_rows(qs, dims, Q + i * dims, R, centered_Q);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)qs, (int)rs, (int)dims, 1, centered_Q, (int)dims,
                        centered_R, (int)dims, 0, product, (int)rs);
            for (int64_t s = 0; s < qs; s++) {
                to_distances(rs, squared_length(dims, centered_Q + s * dims), r_norm, product + s * rs);
                offer(rs, j, product + s * rs, j < k ? j : k, k, index + (i + s) * k, distance + (i + s) * k);
            }
        }
    }
}

void eh_cpu_nearest(eh_compute *c, const eh_real *Q, int64_t q, const eh_real *R, int64_t r, int64_t dims, int64_t k,
                    eh_row *index, eh_real *distance)
{
    const bool few = dims <= EH_CPU_FEW_DIMS || !make_blocks(c, dims);
    (few ? nearest_few : nearest_many)(c, eh_f(Q), q, eh_f(R), r, dims, k, eh_host_rows(index), eh_f(distance));
}
