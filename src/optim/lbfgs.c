/* L-BFGS: a quasi-Newton direction from the last few steps (Nocedal 1980).
 *
 * Each step stores the pair s = x' - x, y = g' - g. The direction is d = -A g, where A approximates
 * the inverse Hessian. It is computed by two loops over the pairs (r_i = 1 / s_i.y_i):
 *     q = g;                        for i latest to oldest: a_i = r_i s_i.q,  q -= a_i y_i
 *     q *= s.y / y.y of the latest; for i oldest to latest: q += (a_i - r_i y_i.q) s_i
 * A pair whose curvature s.y is not positive is skipped, so that A stays positive definite. The
 * memory starts empty with each run, because pairs of another mini-batch belong to another
 * function. The line searches are those of descent.c. A quasi-Newton step of 1 is usually right, so
 * their conditions are loose. */
#include "optim/optim.h"

static const double SIGMA = 0.9, RHO = 1e-4;
/* minimum s.y / y.y: a pair below it is rounding noise */
static const double MIN_CURVATURE = 1e-10;

static int64_t lbfgs_vectors(const eh_optim_settings *s)
{
    return EH_DESCENT_VECTORS + 2 * (s->memory > 0 ? s->memory : 0);
}

static void clear_pairs(eh_descent *s)
{
    s->pairs = 0;
    s->oldest = 0;
}

static eh_real *step_of(const eh_optim *o, int64_t slot)
{
    return eh_optim_vector(o, EH_DESCENT_VECTORS + 2 * slot);
}

static eh_real *change_of(const eh_optim *o, int64_t slot)
{
    return eh_optim_vector(o, EH_DESCENT_VECTORS + 2 * slot + 1);
}

/* Stores the pair of the last step; a full memory drops the oldest pair. */
static void store_pair(eh_descent *s)
{
    const eh_optim *o = s->o;
    const eh_compute_ops *op = o->c->op;
    const int64_t memory = o->set.memory;
    if (memory < 1) return;
    const int64_t slot = (s->oldest + s->pairs) % memory;
    eh_real *step = step_of(o, slot), *change = change_of(o, slot);
    op->copy(o->c, o->count, s->g, change);
    op->axpy(o->c, o->count, -1, s->last_g, change);
    const double curvature = s->step * op->dot(o->c, o->count, s->d, change);
    const double square = op->dot(o->c, o->count, change, change);
    if (s->pairs == memory) { /* the slot of the oldest pair has been overwritten */
        s->oldest = (s->oldest + 1) % memory;
        s->pairs--;
    }
    if (!(curvature > MIN_CURVATURE * square)) return;
    op->copy(o->c, o->count, s->d, step);
    op->scale(o->c, o->count, s->step, step);
    o->scalars[slot] = 1 / curvature;
    s->scale = curvature / square;
    s->pairs++;
}

static double quasi_newton(eh_descent *s)
{
    const eh_optim *o = s->o;
    const eh_compute_ops *op = o->c->op;
    const int64_t memory = o->set.memory;
    double *inverse = o->scalars, *factor = o->scalars + (memory > 0 ? memory : 0); /* (memory) each */
    store_pair(s);
    if (!s->pairs) {
        s->slope = 0;
        return 0;
    }
    op->copy(o->c, o->count, s->g, s->d);
    for (int64_t i = s->pairs - 1; i >= 0; i--) {
        const int64_t slot = (s->oldest + i) % memory;
        factor[slot] = inverse[slot] * op->dot(o->c, o->count, step_of(o, slot), s->d);
        op->axpy(o->c, o->count, -factor[slot], change_of(o, slot), s->d);
    }
    op->scale(o->c, o->count, s->scale, s->d);
    for (int64_t i = 0; i < s->pairs; i++) {
        const int64_t slot = (s->oldest + i) % memory;
        const double back = inverse[slot] * op->dot(o->c, o->count, change_of(o, slot), s->d);
        op->axpy(o->c, o->count, factor[slot] - back, step_of(o, slot), s->d);
    }
    op->scale(o->c, o->count, -1, s->d);
    s->slope = op->dot(o->c, o->count, s->g, s->d);
    return 1;
}

static void lbfgs_run(eh_optim *o, eh_function f, void *user, eh_real *x, eh_loss *value)
{
    eh_descent s = {.f = f, .user = user, .direct = quasi_newton, .forget = clear_pairs, .sigma = SIGMA, .rho = RHO};
    eh_descend(o, &s, x, value);
}

const eh_optim_type eh_optim_lbfgs = {"lbfgs", lbfgs_vectors, lbfgs_run, .deferred = false};
