/* New data sets from the rows of others: selection, permuted inputs, and a validation part that is
 * appended to the training rows. */
#include <string.h>

#include "data/data.h"

enhope_status eh_dataset_describe(enhope_context *ctx, const enhope_dataset *from, enhope_dataset *to)
{
    to->c = from->class_name ? from->c : 0;
    EH_TRY(eh_new_names(ctx, "names", from->class_name, from->c, &to->class_name));
    EH_TRY(eh_new_names(ctx, "names", from->input_name, from->x.H, &to->input_name));
    if (from->encoding) EH_TRY(eh_encoding_copy(ctx, from->encoding, &to->encoding));
    if (from->source.split) EH_TRY(eh_new_text(ctx, "a split", from->source.split, &to->source.split));
    if (from->source.part) EH_TRY(eh_new_text(ctx, "a part", from->source.part, &to->source.part));
    to->source.limit = from->source.limit;
    to->image_rows = from->image_rows;
    to->image_columns = from->image_columns;
    return ENHOPE_OK;
}

enhope_status enhope_dataset_select(enhope_context *ctx, const enhope_dataset *data, const int64_t *rows, int64_t n,
                                    enhope_dataset **out)
{
    enhope_status status;
    enhope_dataset *selected = NULL;
    EH_TRY(eh_dataset_in_memory(ctx, data, "a selection of rows"));
    if (n < 1) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%lld rows are selected: expected 1 or more", (long long)n);
    EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *selected, (void **)&selected));
    selected->x = data->x;
    EH_CHECK(eh_dataset_describe(ctx, data, selected));
    if (data->label) {
        EH_CHECK(eh_new(ctx, "labels", data->x.n, sizeof *data->label, (void **)&selected->label));
        memcpy(selected->label, data->label, (size_t)data->x.n * sizeof *data->label);
    }
    if (data->weight) {
        EH_CHECK(eh_new(ctx, "weights", data->x.n, sizeof *data->weight, (void **)&selected->weight));
        memcpy(selected->weight, data->weight, (size_t)data->x.n * sizeof *data->weight);
    }
    EH_CHECK(eh_dataset_select(ctx, selected, rows, n));
    *out = selected;
    selected = NULL;
cleanup:
    enhope_dataset_free(selected);
    return status;
}

/* ---- permuted inputs ---- */

static void permute_dense(const eh_matrix *x, const int64_t *inputs, int64_t count, const int64_t *rows, void *to)
{
    uint8_t *u8 = to;
    float *f32 = to;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t t = 0; t < count; t++) {
            const int64_t at = i * x->H + inputs[t], from = rows[i] * x->H + inputs[t];
            if (x->kind == ENHOPE_U8)
                u8[at] = x->u8[from];
            else
                f32[at] = x->f32[from];
        }
}

/* The next entry of row i from `at` on whose column is chosen, or not chosen; the end of the row
 * if there is none. */
static int64_t next_entry(const eh_matrix *x, int64_t i, int64_t at, const uint8_t *chosen, uint8_t wanted)
{
    while (at < x->row_start[i + 1] && chosen[x->column[at]] != wanted) at++;
    return at;
}

/* Merges the entries of row i that stay with those of row rows[i] that are chosen, and returns
 * their number. The arrays may be NULL, which only counts. */
static int64_t merge_rows(const eh_matrix *x, const uint8_t *chosen, const int64_t *rows, int64_t *row_start,
                          int32_t *column, float *value)
{
    int64_t n = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const int64_t j = rows[i];
        int64_t own = next_entry(x, i, x->row_start[i], chosen, 0);
        int64_t other = next_entry(x, j, x->row_start[j], chosen, 1);
        while (own < x->row_start[i + 1] || other < x->row_start[j + 1]) {
            const bool first =
                other >= x->row_start[j + 1] || (own < x->row_start[i + 1] && x->column[own] < x->column[other]);
            const int64_t at = first ? own : other;
            if (column) column[n] = x->column[at], value[n] = x->value[at];
            n++;
            if (first)
                own = next_entry(x, i, own + 1, chosen, 0);
            else
                other = next_entry(x, j, other + 1, chosen, 1);
        }
        if (row_start) row_start[i + 1] = n;
    }
    return n;
}

static enhope_status permute_sparse(enhope_context *ctx, const eh_matrix *x, const int64_t *inputs, int64_t count,
                                    const int64_t *rows, eh_matrix *to, void *owned[3])
{
    uint8_t *chosen = NULL; /* (H) */
    enhope_status status;
    EH_CHECK(eh_new(ctx, "inputs", x->H, sizeof *chosen, (void **)&chosen));
    for (int64_t t = 0; t < count; t++) chosen[inputs[t]] = 1;
    const int64_t stored = merge_rows(x, chosen, rows, NULL, NULL, NULL);
    EH_CHECK(eh_new(ctx, "row starts", x->n + 1, sizeof *x->row_start, &owned[0]));
    EH_CHECK(eh_new(ctx, "column numbers", stored, sizeof *x->column, &owned[1]));
    EH_CHECK(eh_new(ctx, "values", stored, sizeof *x->value, &owned[2]));
    merge_rows(x, chosen, rows, owned[0], owned[1], owned[2]);
    to->row_start = owned[0], to->column = owned[1], to->value = owned[2];
cleanup:
    eh_free(chosen);
    return status;
}

enhope_status enhope_dataset_permute(enhope_context *ctx, const enhope_dataset *data, const int64_t *inputs,
                                     int64_t count, const int64_t *rows, enhope_dataset **out)
{
    enhope_status status;
    const eh_matrix *x = &data->x;
    int64_t *all = NULL; /* (n) 0, 1, ... */
    enhope_dataset *permuted = NULL;
    EH_TRY(eh_dataset_in_memory(ctx, data, "a permutation"));
    for (int64_t t = 0; t < count; t++)
        if (inputs[t] < 0 || inputs[t] >= x->H)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "input %lld is outside the data: expected 0 to %lld",
                           (long long)inputs[t], (long long)x->H - 1);
    EH_CHECK(eh_new(ctx, "rows", x->n, sizeof *all, (void **)&all));
    for (int64_t i = 0; i < x->n; i++) {
        if (rows[i] < 0 || rows[i] >= x->n)
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "row %lld is outside the data: expected 0 to %lld",
                             (long long)rows[i], (long long)x->n - 1));
        all[i] = i;
    }
    EH_CHECK(enhope_dataset_select(ctx, data, all, x->n, &permuted));
    if (x->kind == ENHOPE_CSR) {
        for (int i = 0; i < 3; i++) eh_free(permuted->owned[i]);
        memset(permuted->owned, 0, sizeof permuted->owned);
        EH_CHECK(permute_sparse(ctx, x, inputs, count, rows, &permuted->x, permuted->owned));
    } else {
        permute_dense(x, inputs, count, rows, permuted->owned[0]);
    }
    *out = permuted;
    permuted = NULL;
cleanup:
    eh_free(all);
    enhope_dataset_free(permuted);
    return status;
}

/* ---- a validation part ---- */

static const char *kind_text(enhope_kind kind)
{
    return kind == ENHOPE_U8 ? "bytes" : kind == ENHOPE_F32 ? "float numbers" : "sparse";
}

static enhope_status check_like(enhope_context *ctx, const enhope_dataset *data, const enhope_dataset *valid)
{
    EH_TRY(eh_dataset_in_memory(ctx, data, "validation data"));
    EH_TRY(eh_dataset_in_memory(ctx, valid, "validation data"));
    if (valid->x.kind != data->x.kind)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "the values of the validation data are %s, those of the training data %s; use the same format",
                       kind_text(valid->x.kind), kind_text(data->x.kind));
    if (valid->x.kind == ENHOPE_CSR ? valid->x.H > data->x.H : valid->x.H != data->x.H)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "the validation data has %lld inputs, the training data %lld",
                       (long long)valid->x.H, (long long)data->x.H);
    if (!data->label || !valid->label)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "the %s data has no labels; a validation part needs them",
                       data->label ? "validation" : "training");
    for (int64_t j = 0; j < valid->x.H; j++) {
        const char *a = enhope_dataset_input_name(data, j), *b = enhope_dataset_input_name(valid, j);
        if (a && b && strcmp(a, b) != 0)
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "input %lld is '%.60s' in the validation data and '%.60s' in the training data; use the "
                           "same columns in the same order",
                           (long long)j + 1, b, a);
    }
    return eh_encoding_check(ctx, data->encoding, valid->encoding, "the training data");
}

/* number (c of valid): the class of `data` with the same name. */
static enhope_status match_classes(enhope_context *ctx, const enhope_dataset *data, const enhope_dataset *valid,
                                   int32_t *number)
{
    for (int32_t k = 0; k < valid->c; k++) {
        number[k] = -1;
        for (int32_t j = 0; j < data->c && number[k] < 0; j++)
            if (!strcmp(data->class_name[j], valid->class_name[k])) number[k] = j;
        if (number[k] < 0)
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "the validation data has the class '%.60s', which the training data has not; remove its "
                           "samples, or add some to the training data",
                           valid->class_name[k]);
    }
    return ENHOPE_OK;
}

/* The rows of both in new memory. */
static enhope_status join_values(enhope_context *ctx, const eh_matrix *a, const eh_matrix *b, eh_matrix *to,
                                 void *owned[3])
{
    const int64_t n = a->n + b->n;
    *to = (eh_matrix){.kind = a->kind, .n = n, .H = a->H};
    if (a->kind != ENHOPE_CSR) {
        const bool bytes = a->kind == ENHOPE_U8;
        const size_t width = (size_t)a->H * (bytes ? sizeof *a->u8 : sizeof *a->f32);
        EH_TRY(eh_new(ctx, "values", n, width, &owned[0]));
        char *at = owned[0];
        memcpy(at, bytes ? (const void *)a->u8 : a->f32, (size_t)a->n * width);
        memcpy(at + (size_t)a->n * width, bytes ? (const void *)b->u8 : b->f32, (size_t)b->n * width);
        to->u8 = bytes ? owned[0] : NULL;
        to->f32 = bytes ? NULL : owned[0];
        return ENHOPE_OK;
    }
    const int64_t before = a->row_start[a->n], after = b->row_start[b->n];
    EH_TRY(eh_new(ctx, "row starts", n + 1, sizeof *a->row_start, &owned[0]));
    EH_TRY(eh_new(ctx, "column numbers", before + after, sizeof *a->column, &owned[1]));
    EH_TRY(eh_new(ctx, "values", before + after, sizeof *a->value, &owned[2]));
    int64_t *row_start = owned[0];
    int32_t *column = owned[1];
    float *value = owned[2];
    memcpy(row_start, a->row_start, (size_t)(a->n + 1) * sizeof *row_start);
    for (int64_t i = 1; i <= b->n; i++) row_start[a->n + i] = before + b->row_start[i];
    if (before) memcpy(column, a->column, (size_t)before * sizeof *column);
    if (before) memcpy(value, a->value, (size_t)before * sizeof *value);
    if (after) memcpy(column + before, b->column, (size_t)after * sizeof *column);
    if (after) memcpy(value + before, b->value, (size_t)after * sizeof *value);
    to->row_start = row_start, to->column = column, to->value = value;
    return ENHOPE_OK;
}

/* The weights of both in new memory; 1 in the part without weights. */
static enhope_status join_weights(enhope_context *ctx, const enhope_dataset *data, const enhope_dataset *valid,
                                  float **out)
{
    const int64_t n = data->x.n, all = n + valid->x.n;
    if (!data->weight && !valid->weight) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "weights", all, sizeof **out, (void **)out));
    for (int64_t i = 0; i < all; i++) {
        const float *from = i < n ? data->weight : valid->weight;
        (*out)[i] = from ? from[i < n ? i : i - n] : 1;
    }
    return ENHOPE_OK;
}

enhope_status enhope_dataset_add_validation(enhope_context *ctx, enhope_dataset *data, const enhope_dataset *valid)
{
    enhope_status status;
    void *owned[3] = {NULL, NULL, NULL};
    int32_t *number = NULL, *label = NULL; /* (c of valid); (n) of both */
    float *weight = NULL;                  /* (n) of both */
    eh_matrix x;
    EH_TRY(check_like(ctx, data, valid));
    EH_CHECK(eh_new(ctx, "classes", valid->c, sizeof *number, (void **)&number));
    EH_CHECK(match_classes(ctx, data, valid, number));
    EH_CHECK(eh_new(ctx, "labels", data->x.n + valid->x.n, sizeof *label, (void **)&label));
    EH_CHECK(join_weights(ctx, data, valid, &weight));
    EH_CHECK(join_values(ctx, &data->x, &valid->x, &x, owned));
    memcpy(label, data->label, (size_t)data->x.n * sizeof *label);
    for (int64_t i = 0; i < valid->x.n; i++) label[data->x.n + i] = valid->label[i] < 0 ? -1 : number[valid->label[i]];
    for (int i = 0; i < 3; i++) {
        void *old = data->owned[i];
        data->owned[i] = owned[i];
        owned[i] = old;
    }
    eh_free(data->label);
    eh_free(data->weight);
    data->label = label;
    data->weight = weight;
    label = NULL;
    weight = NULL;
    data->x = x;
    data->valid_n += valid->x.n;
    eh_origin_free(data->origin); /* it describes the rows of one table */
    data->origin = NULL;
cleanup:
    for (int i = 0; i < 3; i++) eh_free(owned[i]);
    eh_free(label);
    eh_free(weight);
    eh_free(number);
    return status;
}

enhope_status enhope_dataset_set_validation(enhope_context *ctx, enhope_dataset *data, int64_t n)
{
    EH_TRY(eh_dataset_in_memory(ctx, data, "validation data"));
    if (n < 0 || n >= data->x.n)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "%lld of %lld samples are for validation: expected 0, or fewer than all", (long long)n,
                       (long long)data->x.n);
    data->valid_n = n;
    return ENHOPE_OK;
}
