/* Initial values: exemplars, parameters of the map, optimizer. */
#include "comm/comm.h"
#include "train/setup/setup.h"

enhope_status eh_setup_exemplars(enhope_trainer *t)
{
    const eh_parameters *p = &t->parameters;
    const eh_samples *s = &t->samples;
    eh_embedder *e = &t->embedder;
    if (!p->z) return ENHOPE_OK;
    float *E = NULL;
    enhope_status status;
    /* all ranks enter the next call, or none does */
    EH_CHECK(eh_comm_check(t->ctx, eh_new(t->ctx, "exemplars", p->z * p->H, sizeof *E, (void **)&E)));
    const bool points = t->set.objective.exemplars == EH_EXEMPLARS_RANDOM || (p->learned && t->method->own_scale);
    if (t->from)
        EH_CHECK(eh_setup_more_exemplars(t, E));
    else
        EH_CHECK((points ? eh_exemplar_random : eh_exemplar_kmeans)(t->ctx, t->cp, &e->table, s->rows, s->resident_n,
                                                                    s->classes, p->z, (uint64_t)t->set.random_state, E,
                                                                    p->exemplar_label));
    t->cp->op->write(t->cp, eh_parameters_exemplars(p, p->theta), E, p->z * p->H);
    t->cp->op->send(t->cp, e->reference_label, p->exemplar_label, (size_t)p->z * sizeof *p->exemplar_label);
cleanup:
    eh_free(E);
    return status;
}

/* Rows are in a seeded order, so the first n are a random sample. */
enhope_status eh_setup_map(enhope_trainer *t, int64_t n)
{
    eh_compute *cp = t->cp;
    eh_embedder *e = &t->embedder;
    const eh_parameters *p = &t->parameters;
    double lost;
    if (t->from && !t->loss.head.h) {
        cp->op->write(cp, p->theta, t->from->theta, p->map_count);
        return ENHOPE_OK;
    }
    if (t->method->pca_start) return eh_train_solve(t, EH_SOLVE_PCA, t->set.map.init_scale, &lost);
    const bool packed = !cp->packed_is_real;
    eh_map_shape shape = e->shape;
    shape.h += t->loss.head.h;
    float *host = NULL;
    eh_real *X = NULL; /* (n, ld) the sample as reals, if packed values have another type */
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "parameters", p->map_count, sizeof *host, (void **)&host));
    if (packed) EH_CHECK(eh_compute_new(cp, t->ctx, "a sample", n * e->ld, cp->op->real_size, &X));
    if (packed) cp->op->gather(cp, &e->table, t->samples.placed_rows, n, X, e->ld, NULL);
    cp->op->gather_packed(cp, &e->table, t->samples.placed_rows, n, e->X, e->ld, NULL, NULL);
    e->map->init(&shape, cp, (uint64_t)t->set.random_state, t->set.map.init_scale, packed ? X : (eh_real *)e->X, e->X,
                 e->ld, n, host, p->theta, e->work);
    if (t->from) cp->op->write(cp, p->theta, t->from->theta, eh_map_parameters(e->map, &e->shape)); /* keeps the head */
cleanup:
    if (X) cp->op->release(cp, X);
    eh_free(host);
    return status;
}

/* Constants of the optimizers: the decay rates of Adam's means of gradient and squared gradient,
 * the fraction of all steps in which the rate rises, and the curvature pairs of L-BFGS. */
static const double BETA1 = 0.9, BETA2 = 0.99, WARMUP = 0.05;
enum { LBFGS_MEMORY = 10 };

const eh_optim_type *eh_setup_optim_type(const enhope_settings *s)
{
    static const eh_optim_type *const types[] = {&eh_optim_cg, &eh_optim_lbfgs, &eh_optim_adam};
    return types[s->optim.solver];
}

enhope_status eh_setup_optimizer(enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    const eh_optim_type *type = eh_setup_optim_type(s);
    const int64_t steps = s->optim.n_epochs * t->batches.count;
    const eh_optim_settings set = {
        .iterations = type == &eh_optim_adam ? 1 : s->optim.line_searches,
        .memory = LBFGS_MEMORY,
        .rate = s->optim.learning_rate,
        .beta1 = BETA1,
        .beta2 = BETA2,
        .epsilon = 1e-8,
        .warmup = (int64_t)(WARMUP * (double)steps),
        .total = steps,
    };
    EH_TRY(eh_optim_create(t->ctx, t->cp, type, &set, t->parameters.trained, &t->optim));
    t->optim->stop = eh_train_stop;
    return ENHOPE_OK;
}

/* The rule of classification: the most similar class if there are exemplars, else votes. Sets the
 * number of neighbors that vote, and allocates memory to find them. */
enhope_status eh_setup_neighbors(enhope_trainer *t)
{
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    const int64_t r = exemplars ? t->parameters.z : t->samples.resident_n, k = t->set.n_neighbors;
    if (k > r)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "n_neighbors is %lld, but there are %lld %s; use at most as many",
                       (long long)k, (long long)r, exemplars ? "exemplars" : "training points");
    if (k)
        t->k = (int32_t)k;
    else if (t->method->nearest)
        t->k = t->method->nearest;
    else if (exemplars)
        t->k = eh_default_neighbors(t->parameters.exemplar_label, r);
    else
        t->k = r < EH_NEIGHBORS ? (int32_t)r : EH_NEIGHBORS;
    t->embedder.votes = !exemplars || k > 0;
    t->embedder.similarity = (eh_similarity){.gaussian = t->loss.objective.gaussian, .dof = t->loss.objective.dof};
    if (t->embedder.votes) t->set.n_neighbors = t->k;
    return t->cp ? eh_embedder_search(&t->embedder, t->embedder.capacity, t->k, NULL) : ENHOPE_OK;
}
