/* Minimizers of f over one flat vector. They see only {f, gradient, count}: no map, labels or
 * batches.
 *
 * A minimizer is a table {name, vectors, run, deferred}. The trainer calls run() once per
 * mini-batch; `iterations` is the number of line searches (cg, lbfgs) or steps (adam) per call.
 * Each mini-batch is another function, so cg and lbfgs start anew in each run(); adam keeps its
 * moments and step counter between runs. */
#ifndef EH_OPTIM_H
#define EH_OPTIM_H

#include "compute/compute.h"

/* Computes value and gradient at x on the backend. A value that is not finite marks x as invalid.
 */
typedef void (*eh_function)(void *user, const eh_real *x, eh_real *gradient, eh_loss *value);

typedef struct eh_optim_settings {
    int64_t iterations; /* line searches or steps in one run() */
    int64_t memory;     /* lbfgs: number of stored pairs */
    double rate;        /* adam: peak learning rate */
    double beta1, beta2, epsilon;
    int64_t warmup, total; /* adam: steps of linear warm-up, total steps of the cosine; 0: none */
} eh_optim_settings;

typedef struct eh_optim eh_optim;

typedef struct eh_optim_type {
    const char *name;
    /* number of work vectors of length count */
    int64_t (*vectors)(const eh_optim_settings *s);
    /* Improves x in place and stores a value at *value, on the backend. cg, lbfgs: x is the lowest
     * point evaluated and *value its value, which never rises. adam: *value is the value before the
     * last step. If it is not finite no step is made; an entry of the gradient that is not
     * finite is skipped and marks *value as not finite. */
    void (*run)(eh_optim *o, eh_function f, void *user, eh_real *x, eh_loss *value);
    bool deferred;            /* run() never waits for a value, so a backend may queue its operations */
    int64_t first_kept, kept; /* vectors that persist between runs, with the step; each run() recomputes the others */
} eh_optim_type;

struct eh_optim {
    const eh_optim_type *type;
    eh_optim_settings set;
    eh_compute *c;
    int64_t count;
    eh_real *work;            /* (vectors, count) */
    double *scalars;          /* (2, memory) lbfgs: for each pair 1 / s.y and the factor of the first loop */
    eh_loss *value;           /* result of one evaluation in a line search */
    int64_t step;             /* adam: steps made, including steps skipped because the value was not finite */
    int64_t evaluations;      /* number of evaluations of f in all runs */
    bool (*stop)(void *user); /* called after each line search with the user pointer of f; NULL: never */
    bool stuck;               /* cg, lbfgs: the last run() did not change x; adam: always false */
};

extern const eh_optim_type eh_optim_cg, eh_optim_lbfgs, eh_optim_adam;

enhope_status eh_optim_create(enhope_context *ctx, eh_compute *c, const eh_optim_type *type,
                              const eh_optim_settings *settings, int64_t count, eh_optim **out);
void eh_optim_free(eh_optim *o);
/* Vector i of the workspace. */
static inline eh_real *eh_optim_vector(const eh_optim *o, int64_t i)
{
    return eh_at(o->c, o->work, i * o->count);
}

/* ---- descent.c: line searches along directions, shared by cg and lbfgs ---- */

typedef struct eh_descent eh_descent;
struct eh_descent {
    eh_optim *o;
    eh_function f;
    void *user;
    /* Direction rule, called after each line search that met the Wolfe-Powell conditions. From g,
     * last_g, d, step and slope it computes the new d and slope = g.d, and returns the first step
     * to try. If slope is not negative, steepest descent is used instead. */
    double (*direct)(eh_descent *s);
    void (*forget)(eh_descent *s); /* called before each restart from steepest descent; may be NULL */
    double sigma;                  /*slope| must fall to this fraction of the first slope */
    double rho; /* the value must fall by this fraction of the decrease that the first slope predicts */

    eh_real *x, *g;  /* current point and its gradient */
    eh_real *last_g; /* the gradient at the start of the last line search */
    eh_real *d;      /* the direction of the last line search */
    eh_real *trial, *trial_g;
    double value; /* at x */
    double slope; /* g.d at the start of the line search along d */
    double step;  /* step made along d */

    /* lbfgs: number of stored pairs, slot of the oldest, s.y / y.y of the latest */
    int64_t pairs, oldest;
    double scale;
};

/* vectors 0 .. EH_DESCENT_VECTORS - 1 of the workspace belong to the descent */
enum { EH_DESCENT_VECTORS = 5 };

/* Makes set.iterations line searches from x and stores the value reached at *value. The caller sets
 * f, user, direct, forget, sigma and rho; this function sets the other fields. */
void eh_descend(eh_optim *o, eh_descent *s, eh_real *x, eh_loss *value);

#endif
