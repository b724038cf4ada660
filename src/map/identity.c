/* y = x, without parameters: kNN in the input space, exemplars learned there. Takes dense rows
 * only, because methods that compare points in the input space gather them first. Requires a
 * plain backend, in which packed elements are scalars. */
#include "map/map.h"

static int identity_tensors(const eh_map_shape *s)
{
    (void)s;
    return 0;
}

static eh_tensor identity_tensor(const eh_map_shape *s, int i)
{
    (void)s, (void)i;
    return (eh_tensor){.name = ""};
}

static int64_t identity_work(const eh_map_shape *s, const eh_compute *c, int64_t n, bool keep)
{
    (void)s, (void)c, (void)n, (void)keep;
    return 0;
}

static void identity_init(const eh_map_shape *s, eh_compute *c, uint64_t seed, double response, const eh_real *X,
                          const eh_packed *sample, int64_t ld, int64_t n, float *host, eh_real *theta, eh_real *work)
{
    (void)s, (void)c, (void)seed, (void)response, (void)X, (void)sample, (void)ld, (void)n, (void)host;
    (void)theta, (void)work;
}

static void identity_forward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x,
                             eh_real *work, eh_real *Y, bool keep)
{
    (void)theta, (void)work, (void)keep;
    const eh_real *X = (const eh_real *)x->X;
    c->op->copy_rows(c, x->dense_n, s->H, X, x->ld, Y, s->H);
}

static void identity_backward(const eh_map_shape *s, eh_compute *c, const eh_real *theta, const eh_rows *x,
                              eh_real *work, const eh_real *dY, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX)
{
    (void)theta, (void)work;
    if (dx_n) c->op->copy(c, dx_n * s->H, eh_at(c, dY, (x->dense_n - dx_n) * s->H), dX);
    for (int64_t p = 0; p < chunks->count && chunks->done; p++) chunks->done(chunks->user, p);
}

const eh_map eh_map_identity = {
    .name = "identity",
    .tensors = identity_tensors,
    .tensor = identity_tensor,
    .work = identity_work,
    .init = identity_init,
    .forward = identity_forward,
    .backward = identity_backward,
};
