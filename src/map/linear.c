/* y = A^T x': a linear map (NCA, MCML+, linear en-HOPE). The row of A that meets the closing 1 shifts all points
 * alike, which no neighbour objective sees; it is kept so that every map reads the same rows. */
#include "map/map.h"

static eh_tensor linear_tensor(const eh_map_shape *s, int i)
{
    (void)i;
    return (eh_tensor){.name = "map.A", .rank = 2, .shape = {s->H + 1, s->h}};
}

static int64_t linear_work(const eh_map_shape *s, int64_t n)
{
    (void)s, (void)n;
    return 0;
}

static void linear_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                        int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    (void)work;
    const double sd = eh_first_deviation(c, response, X, ld, n, s->H);
    const int64_t count = (s->H + 1) * s->h;
    for (int64_t i = 0; i < count; i++) host[i] = (float)(sd * eh_random_normal(seed, EH_STREAM_INIT, (uint64_t)i));
    c->op->write(c, theta, host, count);
}

static void linear_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                           eh_real *Y)
{
    (void)work;
    eh_first_forward(c, x, s->H, theta, s->h, Y);
}

static void linear_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x, eh_real *work,
                            const eh_real *dY, eh_real *dtheta, int64_t dx_n, eh_real *dX)
{
    (void)work;
    eh_first_backward(c, x, s->H, theta, s->h, dY, dtheta, dx_n, dX);
}

const eh_map eh_map_linear = {
    .name = "linear",
    .tensors = 1,
    .tensor = linear_tensor,
    .work = linear_work,
    .init = linear_init,
    .forward = linear_forward,
    .backward = linear_backward,
};
