/* The neighbor objectives as one family: similarity (Student, Gaussian) x normalizer (joint,
 * row) x target (MCML, NCA, given) x compared points (exemplars, the batch itself).
 *
 * With d_ij = |y_i - g_j|^2 and w_ij the similarity of sample i and compared point j
 * (compute/similarity.h), without the pairs i = j if a batch is compared with itself:
 *
 *   weights    sum_i m_i = 1 over the samples that have a target: m_i ~ omega_i, the weight of
 *              sample i; with `indicator` (joint MCML) m_i ~ omega_i n_i, n_i the number of
 *              same-class compared points
 *   target     MCML     p_ij = m_i ((1 - s) [same class] / n_i + s v_j), s the label smoothing,
 *                       v_j the share of point j
 *              NCA      p_ij = m_i w_ij / N_i,   N_i the sum of w_ij over same-class j
 *              given    p_ij (target_probs): of pt-SNE, or of eh_neighbor_targets
 *   model      joint    q_ij = omega_i w_ij / Z  (eq. 4, 7-9 of the paper)
 *              row      q_ij = m_i w_ij / Z_i    (eq. 1, 3); given: m_i is the sum of p_ij over j
 *   loss       sum_ij p_ij log(p_ij / q_ij)
 *              NCA      log Z - sum_i m_i log N_i, or sum_i m_i (log Z_i - log N_i)
 *   gradient   dloss/dd_ij = D_ij = (p_ij - q_ij) k_ij,   k = -dlog w/dd
 *              dY_i = 2 sum_j D_ij (y_i - g_j),   dG_j = 2 sum_i D_ij (g_j - y_i)
 *
 * The paper does not define the following. p and q both sum to one over the whole batch. Every
 * sample has the same weight unless weights are given (the paper's indicator weights a sample by
 * the number of exemplars of its class). With exemplars, a sample of weight 2 counts like two
 * samples. A sample without a same-class compared point has no target, but its pairs count in the
 * joint Z. A sample without a label, or of weight 0, has no row.
 *
 * This file has the reference in double, which the `ref` backend runs. The fast kernels
 * compute/cpu/pairs.c and compute/cuda/pairs.cu compute D_ij from a few sums over each row
 * (compute/pair_weights.h). tests/test_pairs.c compares them with the reference. */
#include "objective/objective.h"

#include <math.h>
#include <string.h>

#include "compute/host.h"
#include "compute/similarity.h"

static const double *D(const eh_real *v)
{
    return (const double *)(uintptr_t)v;
}

static double squared_distance(const eh_pairs *p, int64_t i, int64_t j)
{
    const double *y = D(p->Y) + i * p->h, *g = D(p->G) + j * p->h;
    double sum = 0;
    for (int64_t k = 0; k < p->h; k++) sum += (y[k] - g[k]) * (y[k] - g[k]);
    return sum;
}

/* Pair (i, j): log w_ij and k_ij. */
typedef struct pair {
    double log_w, k;
} pair;

static pair pair_of(const eh_pairs *p, int64_t i, int64_t j)
{
    const double d = squared_distance(p, i, j);
    const eh_student s = eh_student_of(p->dof);
    if (p->gaussian) return (pair){-d, 1};
    return (pair){-s.power * log1p(d * s.inverse), s.rate / (1 + d * s.inverse)};
}

static double log_add(double a, double b)
{
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

/* omega_i; 0: the sample has no row. */
static double weight_of(const eh_pairs *p, int64_t i)
{
    if (p->target_probs) return 1;
    if (eh_host_labels(p->label)[i] < 0) return 0;
    return p->weight ? D(p->weight)[i] : 1;
}

static bool same_class(const eh_pairs *p, int64_t i, int64_t j)
{
    const int32_t label = eh_host_labels(p->label)[i];
    return label >= 0 && label == eh_host_labels(p->other_label)[j];
}

typedef struct sample {
    double log_Z, log_N; /* log Z_i; with NCA log N_i */
    double n;            /* n_i; with target_probs the sum of p_ij */
    double omega;
    double weight; /* m_i before division by the sum over all; 0 without a target */
} sample;

static sample sample_of(const eh_pairs *p, int64_t i)
{
    sample s = {.log_Z = -INFINITY, .log_N = -INFINITY, .omega = weight_of(p, i)};
    for (int64_t j = 0; j < p->z; j++) {
        if (p->self && i == j) continue;
        const double log_w = pair_of(p, i, j).log_w;
        s.log_Z = log_add(s.log_Z, log_w);
        if (p->target_probs) s.n += D(p->target_probs)[i * p->z + j];
        if (p->target_probs || !same_class(p, i, j)) continue;
        if (p->nca) s.log_N = log_add(s.log_N, log_w);
        s.n += 1;
    }
    const bool by_pairs = p->target_probs || (p->indicator && !p->nca && !p->row);
    s.weight = s.n > 0 ? s.omega * (by_pairs ? s.n : 1) : 0;
    return s;
}

typedef struct totals {
    double weight; /* of all samples */
    double log_Z;
} totals;

static totals totals_of(const eh_pairs *p)
{
    totals all = {.log_Z = -INFINITY};
    for (int64_t i = 0; i < p->n; i++) {
        const sample s = sample_of(p, i);
        all.weight += s.weight;
        if (s.omega > 0) all.log_Z = log_add(all.log_Z, log(s.omega) + s.log_Z);
    }
    return all;
}

/* p_ij, for m = m_i. */
static double target(const eh_pairs *p, const sample *s, double m, double log_w, int64_t i, int64_t j)
{
    if (p->target_probs) return D(p->target_probs)[i * p->z + j];
    if (s->n == 0) return 0;
    if (p->nca) return same_class(p, i, j) ? m * exp(log_w - s->log_N) : 0;
    const double smooth = p->smoothing.part, share = smooth > 0 ? smooth * D(p->smoothing.share)[j] : 0;
    return m * ((same_class(p, i, j) ? (1 - smooth) / s->n : 0) + share);
}

/* Adds the gradient of the pairs of sample i. Returns their contribution to the loss. */
static double add_sample(const eh_pairs *p, const totals *all, int64_t i, double *dY, double *dG)
{
    const sample s = sample_of(p, i);
    const double m = p->target_probs ? s.n : s.weight / all->weight;
    const double mass = p->row ? m : p->target_probs ? all->weight : s.omega;
    const double log_norm = p->row ? s.log_Z : all->log_Z;
    double loss = p->nca && !p->target_probs && m > 0 ? m * (log_norm - s.log_N) : 0;
    for (int64_t j = 0; j < p->z && mass > 0; j++) {
        if (p->self && i == j) continue;
        const pair ij = pair_of(p, i, j);
        const double log_q = log(mass) + ij.log_w - log_norm, P = target(p, &s, m, ij.log_w, i, j);
        if (P > 0 && (!p->nca || p->target_probs)) loss += P * (log(P) - log_q);
        const double slope = (P - exp(log_q)) * ij.k;
        for (int64_t k = 0; k < p->h; k++) {
            const double term = 2 * slope * (D(p->Y)[i * p->h + k] - D(p->G)[j * p->h + k]);
            dY[i * p->h + k] += term;
            dG[j * p->h + k] -= term;
        }
    }
    return loss;
}

static void reference(const eh_pairs *p, eh_loss *loss, double *dY, double *dG)
{
    double sum = 0;
    memset(dY, 0, (size_t)(p->n * p->h) * sizeof *dY);
    if (!p->self) memset(dG, 0, (size_t)(p->z * p->h) * sizeof *dG);
    const totals all = totals_of(p);
    for (int64_t i = 0; i < p->n && all.weight > 0; i++)
        if (weight_of(p, i) > 0) sum += add_sample(p, &all, i, dY, p->self ? dY : dG);
    *eh_host_value(loss) = (eh_loss_value){.value = sum};
}

/* The target of a labeled sample is as in `target`. That of a sample without a label is the
 * probability w_ij / Z_i of each exemplar at the present map, which is then kept: training does not
 * change these probabilities, but makes noise and adversarial steps change them less. */
static void reference_targets(const eh_pairs *p, double unlabeled, double *P)
{
    const int32_t *label = eh_host_labels(p->label);
    double weight[2] = {0}; /* of all samples with a label, and of those without */
    for (int64_t i = 0; i < p->n; i++) weight[label[i] < 0] += p->weight ? D(p->weight)[i] : 1;
    for (int64_t i = 0; i < p->n; i++) {
        const sample s = sample_of(p, i);
        const double omega = p->weight ? D(p->weight)[i] : 1;
        const double m = omega > 0 ? omega / weight[label[i] < 0] : 0;
        for (int64_t j = 0; j < p->z; j++) {
            const double log_w = pair_of(p, i, j).log_w;
            P[i * p->z + j] = label[i] < 0 ? unlabeled * m * exp(log_w - s.log_Z) : target(p, &s, m, log_w, i, j);
        }
    }
}

void eh_neighbor_targets(const eh_pairs *p, eh_compute *c, double unlabeled, eh_real *P)
{
    if (c->op->own_targets)
        c->op->own_targets(c, p, unlabeled, P);
    else
        reference_targets(p, unlabeled, (double *)P);
}

void eh_neighbor_loss(const eh_pairs *p, eh_compute *c, eh_loss *loss, eh_real *dY, eh_real *dG)
{
    if (c->op->pairs)
        c->op->pairs(c, p, loss, dY, dG);
    else
        reference(p, loss, (double *)dY, (double *)dG);
}
