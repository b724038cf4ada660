/* Large margin nearest neighbours (Weinberger and Saul 2009): the targets of a sample, its neighbours of the same class in the
 * input space, are pulled near, and impostors, samples of other classes that are not farther than a target by a margin of
 * one, are pushed away. d is the squared distance in the embedding, N the number of all samples:
 *   loss = 1/N sum_i [ (1 - mu) sum_t d_it + mu sum_t sum_j max(0, 1 + d_it - d_ij) ],   j of another class
 *
 * Readings: the mean over samples instead of the sum, as in the other objectives. In a mini-batch of n the impostors are the
 * batch's, and their sum is multiplied by (N - 1) / (n - 1): its expectation is the loss above, so that pull and push
 * weigh the same whatever the batch. Impostors are searched among all samples of the batch each time, none are kept. */
#include "objective/objective.h"

void eh_hinge_loss(const eh_hinge *o, eh_compute *cp, int64_t n, int64_t h, const eh_real *Y, const eh_label *label,
                   eh_scalar *loss, eh_real *dY)
{
    const double samples = (double)n, drawn = n > 1 ? (double)(o->all - 1) / (samples - 1) : 0;
    const eh_triples triples = {.n = n,
                                .targets = o->targets,
                                .h = h,
                                .pull = (1 - o->push) / samples,
                                .push = o->push * drawn / samples,
                                .Y = Y,
                                .label = label};
    cp->op->triples(cp, &triples, loss, dY);
}
