/* Minimisers of f over one flat vector. They know {f, gradient, count} only: no map, no label, no batch.
 *
 * A minimiser is a table {name, vectors, run, deferred}. The trainer calls run() once per mini-batch; `iterations` says how many
 * line searches (cg, lbfgs) or steps (adam) one call makes. Each mini-batch is another function, so cg and lbfgs start
 * afresh with each run(); adam's moments and step counter live on from run to run.
 */
#ifndef EH_OPTIM_H
#define EH_OPTIM_H

#include "compute/compute.h"

/* Value and gradient at x, left on the backend; NaN or infinity is allowed and means "not here". */
typedef void (*eh_function)(void *user, const eh_real *x, eh_real *gradient, eh_scalar *value);

typedef struct eh_optim_settings {
    int64_t iterations; /* line searches or steps in one run() */
    int64_t memory;     /* lbfgs: pairs kept */
    double rate;        /* adam: peak learning rate */
    double beta1, beta2, epsilon;
    int64_t warmup, total; /* adam: steps of linear warm-up, all steps of the cosine; 0: without */
} eh_optim_settings;

typedef struct eh_optim eh_optim;

typedef struct eh_optim_type {
    const char *name;
    /* vectors of length count that it works in */
    int64_t (*vectors)(const eh_optim_settings *s);
    /* Improves x in place and leaves a value at *value, on the backend. cg, lbfgs: x is left at the lowest point met,
     * whose value it is; it never rises. adam: the value before the last step; where the value is not finite no step is
     * made, and a gradient that is not finite moves nothing and spoils *value. */
    void (*run)(eh_optim *o, eh_function f, void *user, eh_real *x, eh_scalar *value);
    bool deferred; /* run() never waits for a value: a backend may run behind it */
    int64_t first_kept,
        kept; /* vectors that live on from run to run, with the step; the others are made anew by each */
} eh_optim_type;

struct eh_optim {
    const eh_optim_type *type;
    eh_optim_settings set;
    eh_compute *c;
    int64_t count;
    eh_real *work;            /* (vectors, count) */
    double *scalars;          /* (2, memory) lbfgs: of each pair 1 / s.y and the first loop's factor */
    eh_scalar *value;         /* of one evaluation in a line search */
    int64_t step;             /* adam: steps made, or left out where the value was not finite */
    int64_t evaluations;      /* of f, in all runs */
    bool (*stop)(void *user); /* asked after each line search with f's user; NULL: never */
    bool stuck;               /* cg, lbfgs: the last run() left x as it was; adam cannot know and says false */
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

/* ---- descent.c: line searches along directions, what cg and lbfgs share ---- */

typedef struct eh_descent eh_descent;
struct eh_descent {
    eh_optim *o;
    eh_function f;
    void *user;
    /* The rule of directions, asked after each line search that met the Wolfe-Powell conditions: from g, last_g, d,
     * step and slope it makes the new d and slope = g.d and returns the first step to try. A slope that is not negative
     * asks for steepest descent instead. */
    double (*direct)(eh_descent *s);
    void (*forget)(eh_descent *s); /* called before each start from steepest descent; may be NULL */
    double sigma;                  /* |slope| must fall to this part of the first slope */
    double rho;                    /* and the value by this part of what the first slope promises */

    eh_real *x, *g;  /* the point reached, its gradient */
    eh_real *last_g; /* the gradient where the last line search began */
    eh_real *d;      /* the direction of the last line search */
    eh_real *trial, *trial_g;
    double value; /* at x */
    double slope; /* g.d where the line search along d began */
    double step;  /* that it made along d */

    /* lbfgs: pairs held, where the oldest is, s.y / y.y of the latest */
    int64_t pairs, oldest;
    double scale;
};

/* vectors 0 .. EH_DESCENT_VECTORS - 1 of the workspace are the descent's */
enum { EH_DESCENT_VECTORS = 5 };

/* Makes set.iterations line searches from x; leaves the value reached at *value. The caller fills f, user, direct,
 * forget, sigma and rho; the rest is set here. */
void eh_descend(eh_optim *o, eh_descent *s, eh_real *x, eh_scalar *value);

#endif
