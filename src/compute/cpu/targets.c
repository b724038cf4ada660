/* The target of a batch by its classes on the cpu: rows are shared out to threads, their sums added up in order. */

#include "compute/cpu/cpu.h"
#include "compute/targets.h"

EH_SIMD static void fill_row(int64_t z, eh_target_row row, int32_t label, int32_t partner,
                             const int32_t *restrict other, const float *restrict crowd, float *restrict P)
{
    for (int64_t j = 0; j < z; j++) P[j] = eh_target_entry(row, other[j] == label, other[j] == partner, crowd[j]);
}

static double weight_of(const eh_targets *t, int32_t label)
{
    return label < 0 ? 0 : eh_f(t->weight)[label];
}

/* Returns the row's sum. */
static double make_row(const eh_targets *t, int64_t i, float *P)
{
    const eh_disturb *with = t->with;
    const int32_t label = eh_host_labels(t->label)[i], partner = eh_host_labels(t->label)[eh_partner(i, t->n)];
    const double part = with->mix > 0 ? with->mix * eh_mix_part(with->seed, with->pass, eh_host_rows(t->rows)[i]) : 0;
    fill_row(t->z, eh_target_row_of(weight_of(t, label), weight_of(t, partner), part, t->smooth, (double)t->classes),
             label, partner, eh_host_labels(t->other_label), eh_f(t->crowd), P);
    double sum = 0;
    for (int64_t j = 0; j < t->z; j++) sum += P[j];
    return sum;
}

void eh_cpu_targets(eh_compute *c, const eh_targets *t, eh_real *P)
{
    const int64_t n = t->n, z = t->z;
    double *sums = eh_cpu_room(c->state, n, sizeof *sums), all = 0;
    if (!sums) return;
#pragma omp parallel for num_threads(c->threads) if (n * z > EH_CPU_ALONE) schedule(static)
    for (int64_t i = 0; i < n; i++) sums[i] = make_row(t, i, eh_f(P) + i * z);
    for (int64_t i = 0; i < n; i++) all += sums[i];
    if (all > 0) eh_cpu_scale(c, n * z, 1 / all, P);
}
