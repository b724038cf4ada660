/* The neighbour objectives as one family: similarity (student of any freedom, gaussian) x normaliser (joint, row) x
 * target (MCML, NCA) x compared points (exemplars, the batch itself).
 *
 * With w_ij the similarity of sample i and compared point j, and pairs i = j left out where a batch is compared with
 * itself:
 *   joint, MCML (eq. 4, 7-9)   q_ij = w_ij / Z,   loss = log Z - sum_ij p_ij log w_ij,              sum_ij p_ij = 1
 *   row,   MCML (eq. 1, 3)     q_ij = w_ij / Z_i, loss = mean_i (log Z_i - sum_j p_j|i log w_ij)    sum_j p_j|i = 1
 *   joint, NCA                 loss = log Z - mean_i log N_i,   N_i = sum over same-class j of w_ij
 *   row,   NCA                 loss = mean_i (log Z_i - log N_i)
 *   P given (t-SNE, soft)      as MCML with that p; in the row form p_j|i = p_ij / sum_j p_ij, and rows weigh those sums
 * In each, dloss/dd_ij = (a_ij - R_i w_ij) k_ij: see compute/pair_weights.h, and compute/similarity.h for w and k. MCML
 * losses here are cross-entropies; the Kullback-Leibler divergence is that plus sum p log p, a constant of the labels,
 * which is added so that a perfect collapse reads zero.
 *
 * Readings where the paper is silent: p and q both sum to one over the whole batch; every sample weighs the same
 * (the paper's indicator weighs it by its class's number of exemplars: `indicator`); a sample without a same-class
 * compared point has no target, but its pairs count in the joint Z; one without a label has no row of its own.
 */
#include "objective/objective.h"

void eh_neighbour_loss(const eh_neighbour *o, eh_compute *cp, int64_t n, int64_t z, int64_t h, const eh_real *Y,
                       const eh_label *label, const eh_real *G, const eh_label *other_label, eh_scalar *loss,
                       eh_real *dY, eh_real *dG)
{
    const eh_pairs pairs = {.gaussian = o->gaussian,
                            .freedom = o->freedom,
                            .row = o->row,
                            .nca = o->nca,
                            .self = o->self,
                            .indicator = o->indicator,
                            .n = n,
                            .z = z,
                            .h = h,
                            .Y = Y,
                            .G = G,
                            .label = label,
                            .other_label = other_label,
                            .P = o->P};
    cp->op->pairs(cp, &pairs, loss, dY, dG);
}
