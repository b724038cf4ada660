/* Descent by line searches, shared by conjugate gradients and L-BFGS.
 *
 * A line search looks along x + t d for a point that meets the Wolfe-Powell conditions
 *     phi(t) <= phi(0) + rho t phi'(0)  and  |phi'(t)| <= sigma |phi'(0)|,  phi(t) = f(x + t d).
 * It maintains `low`, the lowest point so far at which phi falls, and, once found, `high`, the end
 * of the interval that contains a solution: a point that is too high, rising, or not finite.
 * Without `high` the next point is the minimizer of the cubic through the last two points, at most
 * EXTEND times as far. Between `low` and `high` it is the minimizer of the parabola (if `high` is
 * above the start) or of the cubic, kept away from both ends, or the midpoint if `high` is not
 * finite. A search ends after MAX_EVALUATIONS in any case.
 *
 * x moves to the lowest point that the search evaluated, whether the conditions are met or not. The
 * value therefore never rises, even if phi has several minima. After a failed search the next one
 * starts from steepest descent; two failed searches in a row end the run.
 *
 * The constants are those common in the literature on training embeddings by conjugate gradients.
 * The lowest point is recomputed as x + t d, so that five vectors are enough. */
#include <math.h>

#include "optim/optim.h"

enum { MAX_EVALUATIONS = 20 };    /* in one line search */
static const double INSIDE = 0.1; /* new points keep at least this fraction of the interval from its ends */
static const double EXTEND = 3.0; /* maximum growth of the step in one extrapolation */

typedef struct point {
    double step, value, slope;
    bool finite;
} point;

static void swap(eh_real **a, eh_real **b)
{
    eh_real *t = *a;
    *a = *b;
    *b = t;
}

/* Evaluates f at x and writes its gradient to g; NaN if the result is not finite. */
static double value_at(eh_descent *s, const eh_real *x, eh_real *g)
{
    eh_optim *o = s->o;
    eh_loss_value v;
    s->f(s->user, x, g, o->value);
    o->c->op->fetch(o->c, &v, o->value, sizeof v);
    o->evaluations++;
    return v.nonfinite != 0 ? NAN : v.value;
}

/* Evaluates f at x + step d. A point lower than *lowest replaces it, and its gradient goes to
 * last_g. */
static point evaluate(eh_descent *s, double step, point *lowest)
{
    eh_optim *o = s->o;
    const eh_compute_ops *op = o->c->op;
    point p = {.step = step};
    op->copy(o->c, o->count, s->x, s->trial);
    op->axpy(o->c, o->count, step, s->d, s->trial);
    p.value = value_at(s, s->trial, s->trial_g);
    p.slope = op->dot(o->c, o->count, s->trial_g, s->d);
    p.finite = isfinite(p.value) && isfinite(p.slope);
    if (p.finite && p.value < lowest->value) {
        *lowest = p;
        swap(&s->trial_g, &s->last_g);
    }
    return p;
}

/* The minimizer of the cubic with the values and slopes of a and b, as (t - a) / (b - a); NaN or
 * negative if there is none beyond a. With w = b - a and theta = 3 (f_a - f_b) / w + f'_a + f'_b
 * the slope of the cubic at r is f'_a - 2 (f'_a + theta) r + (f'_a + f'_b + 2 theta) r^2. Of the
 * two formulas for its upper root, the one without cancellation is used. */
static double cubic_minimizer(point a, point b)
{
    const double theta = 3 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope;
    const double middle = a.slope + theta, root = sqrt(theta * theta - a.slope * b.slope);
    if (middle < 0) return a.slope / (middle - root);
    return (middle + root) / (a.slope + b.slope + 2 * theta);
}

/* The minimizer of the parabola with the value and slope of a and the value of b, as (t - a) / (b -
 * a). */
static double parabola_minimizer(point a, point b)
{
    const double w = b.step - a.step;
    return -a.slope * w / (2 * (b.value - a.value - a.slope * w));
}

/* A step beyond `to`; `from` is the point before it. */
static double extrapolate(point from, point to)
{
    const double width = to.step - from.step, step = from.step + cubic_minimizer(from, to) * width;
    const double farthest = EXTEND * to.step, nearest = to.step + INSIDE * width;
    if (!isfinite(step) || step < 0 || step > farthest) return farthest;
    return step > nearest ? step : nearest;
}

/* A step between low and high. */
static double interpolate(point low, point high, double start_value)
{
    double part = 0.5;
    if (high.finite) part = high.value > start_value ? parabola_minimizer(low, high) : cubic_minimizer(low, high);
    if (!isfinite(part)) part = 0.5;
    part = fmin(fmax(part, INSIDE), 1 - INSIDE);
    return low.step + part * (high.step - low.step);
}

/* One line search along d with first step `step`; s->slope is g.d < 0. Moves x, value and g to the
 * lowest point evaluated. Afterwards last_g is the gradient at the start and s->step the step made
 * (0: no point was lower). Returns true if the conditions were met. */
static bool line_search(eh_descent *s, double step)
{
    const point start = {0, s->value, s->slope, true};
    point lowest = start, low = start, high = start, before = start;
    bool found = false, closed = false;
    for (int k = 0; k < MAX_EVALUATIONS && !found && isfinite(step); k++) {
        const point p = evaluate(s, step, &lowest);
        const bool enough = p.finite && p.value <= start.value + s->rho * step * start.slope;
        found = enough && p.value < start.value && fabs(p.slope) <= -s->sigma * start.slope;
        if (!enough || p.slope > 0 || p.value >= low.value) {
            high = p;
            closed = true;
        } else {
            before = low;
            low = p;
        }
        step = closed ? interpolate(low, high, start.value) : extrapolate(before, low);
    }
    s->step = lowest.step;
    if (lowest.value < start.value) {
        s->o->c->op->axpy(s->o->c, s->o->count, lowest.step, s->d, s->x);
        s->value = lowest.value;
        swap(&s->g, &s->last_g);
    }
    return found;
}

/* Sets d = -g and returns the first step to try. */
static double steepest(eh_descent *s)
{
    const eh_optim *o = s->o;
    const eh_compute_ops *op = o->c->op;
    if (s->forget) s->forget(s);
    op->copy(o->c, o->count, s->g, s->d);
    op->scale(o->c, o->count, -1, s->d);
    s->slope = -op->dot(o->c, o->count, s->g, s->g);
    return 1 / (1 - s->slope);
}

static void descend(eh_optim *o, eh_descent *s)
{
    s->g = eh_optim_vector(o, 0);
    s->last_g = eh_optim_vector(o, 1);
    s->d = eh_optim_vector(o, 2);
    s->trial = eh_optim_vector(o, 3);
    s->trial_g = eh_optim_vector(o, 4);
    o->stuck = true;
    s->value = value_at(s, s->x, s->g);
    if (!isfinite(s->value)) return;

    double step = steepest(s);
    bool failed = false;
    for (int64_t i = 0; i < o->set.iterations && s->slope < 0 && isfinite(s->slope); i++) {
        const bool found = line_search(s, step);
        if (s->step > 0) o->stuck = false;
        if ((!found && failed) || (o->stop && o->stop(s->user))) break;
        failed = !found;
        if (found) step = s->direct(s);
        if (!found || !(s->slope < 0 && isfinite(s->slope) && isfinite(step))) step = steepest(s);
    }
}

void eh_descend(eh_optim *o, eh_descent *s, eh_real *x, eh_loss *value)
{
    s->o = o;
    s->x = x;
    descend(o, s);
    const eh_loss_value reached = {.value = s->value};
    o->c->op->send(o->c, value, &reached, sizeof reached);
}
