/* The target of a batch in double, entry by entry; compute.h has the formula. */
#include "compute/disturb.h"
#include "compute/ref/ref.h"

/* What a sample of class `label` has of compared point j, before the target is made one of sum 1. */
static double share(const eh_targets *t, int32_t label, int64_t j)
{
    if (label < 0) return 0;
    const double weight = ((const double *)t->weight)[label], crowd = ((const double *)t->crowd)[j];
    const double own = label == eh_host_labels(t->other_label)[j] ? 1 - t->smooth : 0;
    return weight * (own + t->smooth / (double)t->classes) / crowd;
}

void eh_ref_targets(eh_compute *c, const eh_targets *t, eh_real *P)
{
    (void)c;
    const int32_t *label = eh_host_labels(t->label);
    double *to = (double *)P, sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const bool mixed = t->with->mix > 0;
        const double l = mixed ? t->with->mix * eh_mix_part(t->with->seed, t->with->pass, eh_host_rows(t->rows)[i]) : 0;
        for (int64_t j = 0; j < t->z; j++)
            sum += to[i * t->z + j] = (1 - l) * share(t, label[i], j) + l * share(t, label[eh_partner(i, t->n)], j);
    }
    for (int64_t k = 0; k < t->n * t->z && sum > 0; k++) to[k] /= sum;
}
