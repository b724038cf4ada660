/* The neighbour objectives as one family: similarity (student, gaussian) x normaliser (joint, row) x target (MCML,
 * NCA) x compared points (exemplars, the batch itself).
 *
 * With w_ij the similarity of sample i and compared point j, and pairs i = j left out where a batch is compared with
 * itself:
 *   joint, MCML (eq. 4, 7-9)   q_ij = w_ij / Z,   loss = log Z - sum_ij p_ij log w_ij,              sum_ij p_ij = 1
 *   row,   MCML (eq. 1, 3)     q_ij = w_ij / Z_i, loss = mean_i (log Z_i - sum_j p_j|i log w_ij)    sum_j p_j|i = 1
 *   joint, NCA                 loss = log Z - mean_i log N_i,   N_i = sum over same-class j of w_ij
 *   row,   NCA                 loss = mean_i (log Z_i - log N_i)
 * In each, dloss/dd_ij = (a_ij - R_i w_ij) k_ij: see pair_grad in compute.h. MCML losses here are cross-entropies; the
 * Kullback-Leibler divergence is that plus sum p log p, a constant of the labels, which is added so that a perfect
 * collapse reads zero.
 *
 * Readings where the paper is silent: p and q both sum to one over the whole batch; every sample weighs the same
 * (the paper's indicator weighs it by its class's number of exemplars: `indicator`); a sample without a same-class
 * compared point has no target, but its pairs count in the joint Z; one without a label has no row of its own.
 */
#include <math.h>

#include "objective/objective.h"

int64_t eh_neighbour_work(int64_t n, int32_t c)
{
    return 4 * n + c;
}

/* How many compared points share sample i's class. */
static double same_count(const eh_neighbour *o, const double *per_class, int32_t label)
{
    return label < 0 ? 0 : per_class[label] - (o->self ? 1 : 0);
}

double eh_neighbour_loss(const eh_neighbour *o, eh_compute *cp, int64_t n, int64_t z, int64_t h, int32_t c,
                         const eh_real *Y, const int32_t *label, const eh_real *G, const int32_t *other_label,
                         eh_real *dY, eh_real *dG, double *work)
{
    double *log_all = work, *same = log_all + n, *attract = same + n, *repel = attract + n, *per_class = repel + n;
    const eh_pairs pairs = {.gaussian = o->gaussian,
                            .nca = o->nca,
                            .self = o->self,
                            .n = n,
                            .z = z,
                            .h = h,
                            .Y = Y,
                            .G = G,
                            .label = label,
                            .other_label = other_label};
    cp->op->pair_sums(cp, &pairs, log_all, same);

    for (int32_t k = 0; k < c; k++) per_class[k] = 0;
    for (int64_t j = 0; j < z; j++)
        if (other_label[j] >= 0) per_class[other_label[j]] += 1;
    double with_target = 0, same_pairs = 0;
    for (int64_t i = 0; i < n; i++) {
        const double count = same_count(o, per_class, label[i]);
        with_target += count > 0;
        same_pairs += count;
    }
    if (with_target == 0) {
        cp->op->fill(cp, n * h, 0, dY);
        if (!o->self) cp->op->fill(cp, z * h, 0, dG);
        return 0;
    }

    /* the joint normaliser runs over every labelled row, also one that no compared point matches */
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0 && !(log_all[i] <= largest)) largest = log_all[i];
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0) sum += exp(log_all[i] - largest);
    const double log_Z = largest + log(sum);

    double loss = 0;
    for (int64_t i = 0; i < n; i++) {
        const double count = same_count(o, per_class, label[i]);
        double log_a = -INFINITY, log_r = -INFINITY; /* logarithms of A_i and R_i */
        if (count > 0) {
            const double weight = o->indicator && !o->nca && !o->row ? count / same_pairs : 1 / with_target;
            const double log_norm = o->row ? log_all[i] : log_Z;
            if (o->nca) {
                loss += weight * (log_norm - same[i]);
                log_a = log(weight) - same[i];
            } else {
                /* p_ij = weight / count; with sum p log p the divergence */
                loss += weight * (log_norm - same[i] / count + log(o->row ? 1 / count : weight / count));
                log_a = log(weight / count);
            }
            if (o->row) log_r = log(weight) - log_norm;
        }
        if (!o->row && label[i] >= 0) log_r = -log_Z;
        attract[i] = o->gaussian ? log_a : exp(log_a);
        repel[i] = o->gaussian ? log_r : exp(log_r);
    }
    cp->op->pair_grad(cp, &pairs, attract, repel, dY, dG);
    return loss;
}
