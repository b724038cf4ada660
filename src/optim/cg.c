/* Conjugate gradients (Polak and Ribiere), the solver of the paper.
 *
 *     d' = -g' + beta d,   beta = g'.(g' - g) / g.g   (g, d: gradient and direction before)
 *
 * If beta is negative, d' = -g'. The line searches are those of descent.c. They are nearly exact
 * (SIGMA), as conjugate directions require. The first step of a search assumes the gain of the
 * search before, step' slope' = step slope, but grows by at most the factor GROWTH. */
#include <math.h>

#include "optim/optim.h"

static const double SIGMA = 0.1, RHO = 0.05;
static const double GROWTH = 10.0;

static int64_t cg_vectors(const eh_optim_settings *s)
{
    (void)s;
    return EH_DESCENT_VECTORS;
}

static double conjugate(eh_descent *s)
{
    const eh_optim *o = s->o;
    const eh_compute_ops *op = o->c->op;
    const double square = op->dot(o->c, o->count, s->g, s->g);
    const double beta =
        (square - op->dot(o->c, o->count, s->g, s->last_g)) / op->dot(o->c, o->count, s->last_g, s->last_g);
    op->scale(o->c, o->count, beta > 0 && isfinite(beta) ? beta : 0, s->d);
    op->axpy(o->c, o->count, -1, s->g, s->d);
    const double before = s->slope;
    s->slope = op->dot(o->c, o->count, s->g, s->d);
    return s->step * fmin(GROWTH, before / s->slope);
}

static void cg_run(eh_optim *o, eh_function f, void *user, eh_real *x, eh_loss *value)
{
    eh_descent s = {.f = f, .user = user, .direct = conjugate, .sigma = SIGMA, .rho = RHO};
    eh_descend(o, &s, x, value);
}

const eh_optim_type eh_optim_cg = {"cg", cg_vectors, cg_run, .deferred = false};
