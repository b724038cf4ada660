/* Splits data in memory into training rows and the validation part. */
#include <string.h>

#include "train/setup/samples.h"

enhope_status eh_samples_init(enhope_context *ctx, const enhope_dataset *data, eh_samples *out)
{
    *out = (eh_samples){.x = &data->x, .label = data->label, .weight = data->weight, .classes = data->c};
    EH_TRY(eh_new(ctx, "class counts", 2 * (int64_t)data->c, sizeof *out->class_n, (void **)&out->class_n));
    out->class_resident = out->class_n + data->c;
    return ENHOPE_OK;
}

enhope_status eh_samples_check(enhope_context *ctx, const enhope_dataset *data, const int64_t *counts, bool one_class,
                               eh_samples *out)
{
    int32_t last = 0;
    for (int32_t k = 0; k < data->c; k++)
        if (counts[k]) out->present++, last = k;
    if (out->present == 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "the data has no labeled samples; training needs at least two classes");
    if (out->present == 1 && !one_class)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "the data has a single class ('%s'): training needs at least two; add samples of another class",
                       data->class_name[last]);
    return ENHOPE_OK;
}

/* quota (c): samples of each class in the validation part. Each class has the fraction `valid`,
 * rounded down. Classes then take one more in the seeded order until the part is full. A class
 * keeps at least one training sample. */
static void share_validation(const enhope_dataset *data, double valid, const int64_t *counts, int64_t labeled,
                             const int64_t *order, int64_t *quota)
{
    int64_t left = (int64_t)(valid * (double)labeled);
    for (int32_t k = 0; k < data->c; k++) left -= quota[k] = (int64_t)(valid * (double)counts[k]);
    for (int64_t i = 0; i < data->x.n && left > 0; i++) {
        const int32_t k = data->label[order[i]];
        if (k < 0 || quota[k] + 1 >= counts[k]) continue;
        quota[k]++;
        left--;
    }
}

/* Lists labeled rows in the seeded order, with the validation part last. The part consists of the
 * rows that the data set names, or of the first rows of each class. */
static void split(const enhope_dataset *data, const int64_t *order, int64_t *quota, int64_t labeled, eh_samples *out)
{
    int64_t train = 0, valid = labeled;
    for (int64_t i = 0; i < data->x.n; i++) {
        const int32_t k = data->label[order[i]];
        if (k < 0) continue;
        const bool held_out = data->valid_n ? order[i] >= data->x.n - data->valid_n : quota[k]-- > 0;
        if (held_out) {
            out->rows[--valid] = order[i];
        } else {
            out->rows[train++] = order[i];
            out->class_n[k]++;
        }
    }
    out->n = out->resident_n = train;
    out->valid_n = labeled - train;
    memcpy(out->class_resident, out->class_n, (size_t)data->c * sizeof *out->class_n);
}

/* Lists the rows without a label in the seeded order. Rows of weight 0 are not used. */
static enhope_status list_unlabeled(enhope_context *ctx, const enhope_dataset *data, const int64_t *order,
                                    int64_t labeled, eh_samples *out)
{
    EH_TRY(eh_new(ctx, "rows without a label", data->x.n - labeled, sizeof *out->unlabeled, (void **)&out->unlabeled));
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[order[i]] < 0 && !(data->weight && data->weight[order[i]] == 0))
            out->unlabeled[out->unlabeled_n++] = order[i];
    return ENHOPE_OK;
}

enhope_status eh_samples_create(enhope_context *ctx, const enhope_dataset *data, const eh_samples_settings *s,
                                eh_samples *out)
{
    int64_t *counts = NULL, *order = NULL, labeled = 0; /* (2 c) counts, then quota; (n) */
    enhope_status status;
    EH_CHECK(eh_samples_init(ctx, data, out));
    EH_CHECK(eh_new(ctx, "class counts", 2 * (int64_t)data->c, sizeof *counts, (void **)&counts));
    EH_CHECK(eh_new(ctx, "order of samples", data->x.n, sizeof *order, (void **)&order));
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) counts[data->label[i]]++, labeled++;
    EH_CHECK(eh_samples_check(ctx, data, counts, s->one_class, out));
    EH_CHECK(eh_new(ctx, "rows of samples", labeled, sizeof *out->rows, (void **)&out->rows));
    eh_shuffle(s->seed, EH_STREAM_VALID, 0, data->x.n, order);
    if (s->valid > 0 && !data->valid_n) share_validation(data, s->valid, counts, labeled, order, counts + data->c);
    split(data, order, counts + data->c, labeled, out);
    if (s->unlabeled) EH_CHECK(list_unlabeled(ctx, data, order, labeled, out));
cleanup:
    eh_free(counts);
    eh_free(order);
    return status;
}

/* What an error of a row counts. of_class (c): weights of the classes in the validation part; NULL:
 * the weights of the classes in training are used. */
static double count_of(const eh_samples *s, const double *of_class, int64_t row)
{
    if (!of_class) return eh_samples_weight(s, row, s->label[row]);
    return (s->weight ? (double)s->weight[row] : 1) / of_class[s->label[row]];
}

/* Counts are whole numbers, so that their sum is the same for any number of ranks. */
enhope_status eh_samples_weight_errors(enhope_context *ctx, eh_samples *s, bool balanced)
{
    static const double TOTAL = (double)(INT64_C(1) << 52);
    const int64_t *rows = s->rows + s->resident_n;
    double *of_class = NULL, sum = 0;
    enhope_status status = ENHOPE_OK;
    if (!s->valid_n) return ENHOPE_OK;
    EH_CHECK(eh_new(ctx, "error weights", s->valid_n, sizeof *s->error_weight, (void **)&s->error_weight));
    if (balanced) EH_CHECK(eh_new(ctx, "class weights", s->classes, sizeof *of_class, (void **)&of_class));
    for (int64_t i = 0; i < s->valid_n && balanced; i++)
        of_class[s->label[rows[i]]] += s->weight ? (double)s->weight[rows[i]] : 1;
    for (int64_t i = 0; i < s->valid_n; i++) sum += count_of(s, of_class, rows[i]);
    for (int64_t i = 0; i < s->valid_n; i++) {
        s->error_weight[i] = (int64_t)(count_of(s, of_class, rows[i]) / sum * TOTAL);
        s->error_total += s->error_weight[i];
    }
cleanup:
    eh_free(of_class);
    return status;
}

enhope_status eh_samples_list(enhope_context *ctx, const eh_samples *s, int64_t **rows)
{
    EH_TRY(eh_new(ctx, "rows of samples", s->n + s->unlabeled_n, sizeof **rows, (void **)rows));
    for (int64_t i = 0; i < s->n + s->unlabeled_n; i++) (*rows)[i] = eh_samples_row(s, i);
    return ENHOPE_OK;
}

enhope_status eh_samples_place(enhope_context *ctx, eh_compute *cp, eh_samples *s)
{
    const int64_t all = s->resident_n + s->valid_n;
    EH_TRY(eh_compute_new(cp, ctx, "rows of samples", all, sizeof *s->rows, &s->placed_rows));
    cp->op->send(cp, s->placed_rows, s->rows, (size_t)all * sizeof *s->rows);
    return ENHOPE_OK;
}

void eh_samples_free(eh_compute *cp, eh_samples *s)
{
    if (s->placed_rows) cp->op->release(cp, s->placed_rows);
    eh_free(s->rows);
    eh_free(s->unlabeled);
    eh_free(s->class_n);
    eh_free(s->class_weight);
    eh_free(s->error_weight);
    *s = (eh_samples){0};
}
