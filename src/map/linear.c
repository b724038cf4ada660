/* y = A^T x': a linear map (NCA, MCML+, linear en-HOPE). The row of A for the bias shifts all
 * points equally, which no neighbor objective depends on. It is kept so that every map reads the
 * same rows. */
#include "map/map.h"

static int linear_tensors(const eh_map_shape *s)
{
    (void)s;
    return 1;
}

static eh_tensor linear_tensor(const eh_map_shape *s, int i)
{
    (void)i;
    return (eh_tensor){.name = "map.A", .rank = 2, .shape = {s->H + 1, s->h}};
}

/* Unless packed_is_real: A in packed format, then dY. */
static int64_t linear_work(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep)
{
    const int64_t weights = eh_map_packed_size(c, eh_map_parameters(&eh_map_linear, s));
    int64_t count, all;
    if (!keep) return weights;
    if (!eh_mul(n, s->h, &count) || weights < 0 || eh_map_packed_size(c, count) < 0 ||
        __builtin_add_overflow(weights, eh_map_packed_size(c, count), &all))
        return -1;
    return all;
}

static void linear_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                        const eh_packed *sample, int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    (void)sample, (void)work;
    const double sd = eh_first_deviation(c, response, X, ld, n, s->H);
    const int64_t count = (s->H + 1) * s->h;
    for (int64_t i = 0; i < count; i++) host[i] = (float)(sd * eh_random_normal(seed, EH_STREAM_INIT, (uint64_t)i));
    c->op->write(c, theta, host, count);
}

static void linear_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                           eh_real *Y, bool keep)
{
    (void)keep;
    const eh_packed *A = eh_map_packed(c, s->H + 1, s->h, theta, (eh_packed *)work, true);
    eh_first_forward(c, x, s->H, theta, A, s->h, 0, Y, NULL, true);
}

static void linear_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                            const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX)
{
    const int64_t n = x->sparse_n + x->dense_n;
    eh_packed *rest = (eh_packed *)eh_at(c, work, eh_map_packed_size(c, (s->H + 1) * s->h));
    const eh_packed *A = eh_map_packed(c, s->H + 1, s->h, theta, (eh_packed *)work, false);
    const eh_packed *dU = eh_map_packed(c, n, s->h, dY, rest, true);
    eh_first_backward(c, x, s->H, A, s->h, dU, chunks, dx_n, dX);
}

const eh_map eh_map_linear = {
    .name = "linear",
    .sparse = true,
    .tensors = linear_tensors,
    .tensor = linear_tensor,
    .work = linear_work,
    .init = linear_init,
    .forward = linear_forward,
    .backward = linear_backward,
};
