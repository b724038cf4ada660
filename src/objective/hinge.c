/* Large margin nearest neighbors (Weinberger and Saul 2009). The targets of a sample, its
 * nearest neighbors of the same class in the input space, are pulled closer. Impostors, samples
 * of other classes that are not farther than a target by a margin of one, are pushed away. With
 * d the squared distance in the embedding and N the number of all samples:
 *   loss = 1/N sum_i [ (1 - mu) sum_t d_it + mu sum_t sum_j max(0, 1 + d_it - d_ij) ],
 * j of another class.
 *
 * Differences from the paper: the mean over samples replaces the sum, as in the other
 * objectives. In a mini-batch of n samples, the impostors are those of the batch, and their sum
 * is multiplied by (N - 1) / (n - 1). Its expectation is the loss above, so the balance of pull
 * and push does not depend on the batch size. Impostors are searched among all samples of the
 * batch in every step; none are cached.
 *
 * This file has the reference in double, which the `ref` backend runs. tests/test_pairs.c
 * compares it with the fast kernels compute/cpu/triples.c and compute/cuda/triples.cu. */
#include "objective/objective.h"

#include <string.h>

#include "compute/host.h"

/* The choice of Weinberger and Saul: targets and impostors have the same weight. */
static const double MU = 0.5;

static double squared_distance(const double *a, const double *b, int64_t h)
{
    double sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Adds the gradient of target t of anchor i. Returns its contribution to the loss. */
static double add_target(const eh_triples *p, int64_t i, int64_t t, double *dY)
{
    const int32_t *label = eh_host_labels(p->label);
    const int64_t h = p->h, row = p->n + i * p->targets + t;
    const double *Y = (const double *)p->Y, near = squared_distance(Y + i * h, Y + row * h, h);
    double loss = p->pull * near, slope = p->pull;
    for (int64_t j = 0; j < p->n; j++) {
        const double margin = 1 + near - squared_distance(Y + i * h, Y + j * h, h);
        if (label[j] == label[i] || margin <= 0) continue;
        loss += p->push * margin;
        slope += p->push;
        for (int64_t k = 0; k < h; k++) {
            const double term = 2 * p->push * (Y[i * h + k] - Y[j * h + k]);
            dY[i * h + k] -= term;
            dY[j * h + k] += term;
        }
    }
    for (int64_t k = 0; k < h; k++) {
        const double term = 2 * slope * (Y[i * h + k] - Y[row * h + k]);
        dY[i * h + k] += term;
        dY[row * h + k] -= term;
    }
    return loss;
}

static void reference(const eh_triples *p, eh_loss *loss, double *dY)
{
    double sum = 0;
    memset(dY, 0, (size_t)(p->n * (1 + p->targets) * p->h) * sizeof *dY);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t t = 0; t < p->targets; t++)
            if (eh_host_labels(p->label)[p->n + i * p->targets + t] >= 0) sum += add_target(p, i, t, dY);
    *eh_host_value(loss) = (eh_loss_value){.value = sum};
}

void eh_triples_loss(const eh_triples *p, eh_compute *c, eh_loss *loss, eh_real *dY)
{
    if (c->op->triples)
        c->op->triples(c, p, loss, dY);
    else
        reference(p, loss, (double *)dY);
}

void eh_hinge_loss(const eh_hinge *o, eh_compute *c, int64_t n, int64_t h, const eh_real *Y, const eh_label *label,
                   eh_loss *loss, eh_real *dY)
{
    const double samples = (double)n, drawn = n > 1 ? (double)(o->all - 1) / (samples - 1) : 0;
    const eh_triples triples = {.n = n,
                                .targets = o->targets,
                                .h = h,
                                .pull = (1 - MU) / samples,
                                .push = MU * drawn / samples,
                                .Y = Y,
                                .label = label};
    eh_triples_loss(&triples, c, loss, dY);
}
