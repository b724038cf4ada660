/* Adam (Kingma and Ba 2015): steps along the running mean of the gradient divided by the root of
 * its running mean square.
 *
 * The rate of step t = 0, 1, ... is
 *     rate * min(1, (t + 1) / warmup) * (1 + cos(pi min(1, t / total))) / 2
 * It rises linearly during warm-up and falls to zero at the end of training.
 *
 * Adam does not read the value, so that a backend may queue operations. The backend's operation
 * itself skips a step if the value or the gradient is not finite, because such numbers would stay
 * in the running means. */
#include <math.h>

#include "optim/optim.h"

static const double PI = 3.14159265358979323846;

static int64_t adam_vectors(const eh_optim_settings *s)
{
    (void)s;
    return 3;
}

static double rate_of(const eh_optim_settings *s, int64_t t)
{
    double rate = s->rate;
    if (t < s->warmup) rate *= (double)(t + 1) / (double)s->warmup;
    if (s->total > 0) rate *= 0.5 * (1 + cos(PI * (t < s->total ? (double)t / (double)s->total : 1)));
    return rate;
}

static void adam_run(eh_optim *o, eh_function f, void *user, eh_real *x, eh_loss *value)
{
    const eh_compute_ops *op = o->c->op;
    const eh_optim_settings *s = &o->set;
    eh_real *g = eh_optim_vector(o, 0), *m1 = eh_optim_vector(o, 1), *m2 = eh_optim_vector(o, 2);
    o->stuck = false;
    for (int64_t i = 0; i < s->iterations; i++) {
        f(user, x, g, value);
        o->evaluations++;
        op->adam(o->c, o->count, rate_of(s, o->step), s->beta1, s->beta2, s->epsilon, o->step + 1, g, value, m1, m2, x);
        o->step++;
    }
}

const eh_optim_type eh_optim_adam = {"adam", adam_vectors, adam_run, .deferred = true, .first_kept = 1, .kept = 2};
