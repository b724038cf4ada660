/* The data set: views of caller memory, validation, statistics, selection of rows. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "data/store/store.h"

void enhope_dataset_free(enhope_dataset *data)
{
    if (!data) return;
    eh_free(data->label);
    eh_free(data->weight);
    eh_names_free(data->class_name, data->c);
    eh_names_free(data->input_name, data->x.H);
    eh_encoding_free(data->encoding);
    eh_origin_free(data->origin);
    for (int i = 0; i < 3; i++) eh_free(data->owned[i]);
    eh_free(data->source.split);
    eh_free(data->source.part);
    eh_store_free(data->store);
    eh_free(data);
}

/* ---- validation ---- */

/* "column 3" or "column 3 ('width')", for messages. */
static const char *column_text(const enhope_dataset *data, int64_t j, char *buffer, size_t size)
{
    const char *name = enhope_dataset_input_name(data, j);
    if (name)
        snprintf(buffer, size, "column %lld ('%.60s')", (long long)j + 1, name);
    else
        snprintf(buffer, size, "column %lld", (long long)j + 1);
    return buffer;
}

static enhope_status fail_value(enhope_context *ctx, const enhope_dataset *data, const char *where, int64_t i,
                                int64_t j, double value)
{
    char column[128];
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: sample %lld, %s is %s: expected a finite number", where,
                   (long long)i + 1, column_text(data, j, column, sizeof column),
                   isnan(value) ? "NaN"
                   : value > 0  ? "infinite"
                                : "-infinite");
}

static enhope_status check_dense(enhope_context *ctx, const eh_matrix *x, int64_t first, const enhope_dataset *data,
                                 const char *where)
{
    for (int64_t i = 0; i < x->n; i++) {
        const float *row = x->f32 + i * x->H;
        float sum = 0; /* x * 0 is 0 for finite x and NaN otherwise: one branch per row */
        for (int64_t j = 0; j < x->H; j++) sum += row[j] * 0.0f;
        if (sum == 0) continue;
        for (int64_t j = 0; j < x->H; j++)
            if (!isfinite(row[j])) return fail_value(ctx, data, where, first + i, j, row[j]);
    }
    return ENHOPE_OK;
}

static enhope_status check_sparse(enhope_context *ctx, const eh_matrix *x, int64_t first, const enhope_dataset *data,
                                  const char *where)
{
    if (x->row_start[0] != 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: row_start begins with %lld: expected 0", where,
                       (long long)x->row_start[0]);
    for (int64_t i = 0; i < x->n; i++)
        if (x->row_start[i + 1] < x->row_start[i])
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: sample %lld: row_start falls from %lld to %lld", where,
                           (long long)(first + i) + 1, (long long)x->row_start[i], (long long)x->row_start[i + 1]);
    if (x->row_start[x->n] > 0 && (!x->column || !x->value))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: there are %lld values but column or value is NULL", where,
                       (long long)x->row_start[x->n]);
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t t = x->row_start[i]; t < x->row_start[i + 1]; t++) {
            const int32_t j = x->column[t];
            if (j < 0 || j >= x->H)
                return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: sample %lld: column number %lld is outside 0 to %lld",
                               where, (long long)(first + i) + 1, (long long)j, (long long)x->H - 1);
            if (t > x->row_start[i] && j <= x->column[t - 1])
                return eh_fail(ctx, ENHOPE_ERROR_DATA,
                               "%s: sample %lld: column number %lld follows %lld: expected ascending columns", where,
                               (long long)(first + i) + 1, (long long)j, (long long)x->column[t - 1]);
            if (!isfinite(x->value[t])) return fail_value(ctx, data, where, first + i, j, x->value[t]);
        }
    }
    return ENHOPE_OK;
}

enhope_status eh_rows_check(enhope_context *ctx, const eh_matrix *x, int64_t first, const enhope_dataset *data,
                            const char *where)
{
    switch (x->kind) {
    case ENHOPE_U8: break;
    case ENHOPE_F32: return check_dense(ctx, x, first, data, where);
    case ENHOPE_CSR: return check_sparse(ctx, x, first, data, where);
    }
    return ENHOPE_OK;
}

enhope_status eh_dataset_check(enhope_context *ctx, const enhope_dataset *data, const char *where)
{
    const eh_matrix *x = &data->x;
    int64_t count;
    if (x->n < 1) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", where);
    if (x->H < 1) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no inputs, only samples", where);
    if (!eh_mul(x->n, x->H, &count))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: %lld samples of %lld inputs are more than memory can hold", where,
                       (long long)x->n, (long long)x->H);
    if (data->store) return ENHOPE_OK; /* values are checked when they are read */
    EH_TRY(eh_rows_check(ctx, x, 0, data, where));
    for (int64_t i = 0; data->label && i < x->n; i++)
        if (data->label[i] < -1 || data->label[i] >= data->c)
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "%s: sample %lld: class number %lld is outside 0 to %lld (-1: unlabeled)", where,
                           (long long)i + 1, (long long)data->label[i], (long long)data->c - 1);
    return ENHOPE_OK;
}

/* ---- views ---- */

static enhope_status copy_names(enhope_context *ctx, int32_t c, const char *const *from, char **to)
{
    for (int32_t k = 0; k < c; k++) {
        char number[16];
        snprintf(number, sizeof number, "%d", k);
        if (from && !from[k]) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "view: the name of class %d is NULL", k);
        const char *name = from ? from[k] : number;
        EH_TRY(eh_new_text(ctx, "a class name", name, &to[k]));
    }
    for (int32_t k = 1; from && k < c; k++)
        for (int32_t j = 0; j < k; j++)
            if (!strcmp(from[j], from[k]))
                return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "view: classes %d and %d are both named '%s'", j, k,
                               from[k]);
    return ENHOPE_OK;
}

static enhope_status view(enhope_context *ctx, eh_matrix x, const void *values, const int32_t *labels, int32_t c,
                          const char *const *class_names, enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    if (!values) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "view: the address of the values is NULL");
    if (x.n < 0 || x.H < 0 || x.H > INT32_MAX)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "view: n is %lld and H is %lld: expected sizes from 1, H below 2^31",
                       (long long)x.n, (long long)x.H);
    if (c < 0 || (labels && c < 1))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "view: c is %d: expected at least 1 class with labels", c);
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    data->x = x;
    if (labels) {
        EH_CHECK(eh_new(ctx, "class names", c, sizeof *data->class_name, (void **)&data->class_name));
        data->c = c;
        EH_CHECK(copy_names(ctx, c, class_names, data->class_name));
        EH_CHECK(eh_new(ctx, "labels", x.n, sizeof *data->label, (void **)&data->label));
        memcpy(data->label, labels, (size_t)x.n * sizeof *labels);
    }
    EH_CHECK(eh_dataset_check(ctx, data, "view"));
    *out = data;
    data = NULL;
cleanup:
    enhope_dataset_free(data);
    return status;
}

enhope_status enhope_dataset_view_f32(enhope_context *ctx, int64_t n, int64_t H, const float *x, const int32_t *labels,
                                      int32_t c, const char *const *class_names, enhope_dataset **out)
{
    return view(ctx, (eh_matrix){.kind = ENHOPE_F32, .n = n, .H = H, .f32 = x}, x, labels, c, class_names, out);
}

enhope_status enhope_dataset_view_u8(enhope_context *ctx, int64_t n, int64_t H, const uint8_t *x, const int32_t *labels,
                                     int32_t c, const char *const *class_names, enhope_dataset **out)
{
    return view(ctx, (eh_matrix){.kind = ENHOPE_U8, .n = n, .H = H, .u8 = x}, x, labels, c, class_names, out);
}

enhope_status enhope_dataset_view_csr(enhope_context *ctx, int64_t n, int64_t H, const int64_t *row_start,
                                      const int32_t *column, const float *value, const int32_t *labels, int32_t c,
                                      const char *const *class_names, enhope_dataset **out)
{
    const eh_matrix x = {.kind = ENHOPE_CSR, .n = n, .H = H, .row_start = row_start, .column = column, .value = value};
    return view(ctx, x, row_start, labels, c, class_names, out);
}

/* The largest weight, and the mean of those above 0 as a part of it, which is finite. */
static enhope_status check_weights(enhope_context *ctx, const enhope_dataset *data, const double *weight,
                                   double *largest, double *mean)
{
    int64_t positive = 0;
    *largest = *mean = 0;
    for (int64_t i = 0; i < data->x.n; i++) {
        if (!(weight[i] >= 0 && weight[i] <= DBL_MAX))
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "the weight of sample %lld is %g: expected a finite number from 0",
                           (long long)i + 1, weight[i]);
        *largest = fmax(*largest, weight[i]);
    }
    if (!(*largest > 0)) return eh_fail(ctx, ENHOPE_ERROR_DATA, "all weights are 0: expected at least one above 0");
    for (int64_t i = 0; i < data->x.n; i++) {
        *mean += weight[i] / *largest;
        positive += weight[i] > 0;
    }
    *mean /= (double)positive;
    return ENHOPE_OK;
}

enhope_status enhope_dataset_set_weights(enhope_context *ctx, enhope_dataset *data, const double *weight)
{
    float *own = NULL;
    double largest, mean;
    EH_TRY(eh_dataset_in_memory(ctx, data, "a weight for each sample"));
    if (weight) {
        EH_TRY(check_weights(ctx, data, weight, &largest, &mean));
        EH_TRY(eh_new(ctx, "weights", data->x.n, sizeof *own, (void **)&own));
        for (int64_t i = 0; i < data->x.n; i++) own[i] = (float)(weight[i] / largest / mean);
    }
    eh_free(data->weight);
    data->weight = own;
    return ENHOPE_OK;
}

enhope_status enhope_dataset_set_image(enhope_context *ctx, enhope_dataset *data, int64_t rows, int64_t columns)
{
    int64_t pixels;
    if (rows < 1 || columns < 1 || !eh_mul(rows, columns, &pixels) || pixels != data->x.H)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "images of %lld x %lld: expected rows x columns to be the %lld inputs", (long long)rows,
                       (long long)columns, (long long)data->x.H);
    data->image_rows = rows;
    data->image_columns = columns;
    return ENHOPE_OK;
}

enhope_status enhope_dataset_set_input_names(enhope_context *ctx, enhope_dataset *data, const char *const *names)
{
    char **copies = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "input names", data->x.H, sizeof *copies, (void **)&copies));
    for (int64_t j = 0; j < data->x.H; j++) {
        if (!names[j])
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the name of input %lld is NULL", (long long)j + 1));
        EH_CHECK(eh_new_text(ctx, "an input's name", names[j], &copies[j]));
    }
    eh_names_free(data->input_name, data->x.H);
    data->input_name = copies;
    return ENHOPE_OK;
cleanup:
    eh_names_free(copies, data->x.H);
    return status;
}

enhope_status eh_dataset_set_encoding(enhope_context *ctx, enhope_dataset *data, eh_encoding *encoding)
{
    char **names = NULL;
    EH_TRY(eh_encoding_input_names(ctx, encoding, &names));
    eh_names_free(data->input_name, data->x.H);
    data->input_name = names;
    eh_encoding_free(data->encoding);
    data->encoding = NULL;
    if (eh_encoding_is_plain(encoding))
        eh_encoding_free(encoding);
    else
        data->encoding = encoding;
    return ENHOPE_OK;
}

enhope_status eh_dataset_encoding(enhope_context *ctx, const enhope_dataset *data, eh_encoding **out)
{
    if (data->encoding) return eh_encoding_copy(ctx, data->encoding, out);
    return eh_encoding_of_numbers(ctx, data->x.H, data->input_name, out);
}

/* ---- statistics ---- */

/* Running minimum, maximum and sum. */
typedef struct extent {
    double minimum, maximum, sum;
} extent;

static void extend(extent *e, double value)
{
    if (value < e->minimum) e->minimum = value;
    if (value > e->maximum) e->maximum = value;
    e->sum += value;
}

/* Over all values, including the zeros that are not stored. */
static extent find_extent(const eh_matrix *x, int64_t stored)
{
    const int64_t all = x->n * x->H;
    extent e = {INFINITY, -INFINITY, 0};
    switch (x->kind) {
    case ENHOPE_U8: {
        int64_t count[256] = {0};
        for (int64_t t = 0; t < all; t++) count[x->u8[t]]++;
        for (int v = 0; v < 256; v++) {
            if (!count[v]) continue;
            extend(&e, v);
            e.sum += (double)v * (double)(count[v] - 1);
        }
        break;
    }
    case ENHOPE_F32:
        for (int64_t t = 0; t < all; t++) extend(&e, x->f32[t]);
        break;
    case ENHOPE_CSR:
        for (int64_t t = 0; t < stored; t++) extend(&e, x->value[t]);
        if (stored < all) extend(&e, 0);
        break;
    }
    return e;
}

void enhope_dataset_get_info(const enhope_dataset *data, enhope_dataset_info *info)
{
    const eh_matrix *x = &data->x;
    const int64_t all = x->n * x->H;
    const int64_t stored = data->store ? data->store->stored : x->kind == ENHOPE_CSR ? x->row_start[x->n] : all;
    const extent e = data->store ? (extent){NAN, NAN, NAN} : find_extent(x, stored);
    *info = (enhope_dataset_info){.n = x->n,
                                  .inputs = x->H,
                                  .classes = data->c,
                                  .kind = x->kind,
                                  .stored = stored,
                                  .bytes = eh_store_bytes(x->kind, x->H, x->n, stored),
                                  .image_rows = data->image_rows,
                                  .image_columns = data->image_columns,
                                  .minimum = e.minimum,
                                  .maximum = e.maximum,
                                  .mean = e.sum / (double)all,
                                  .streamed = data->store != NULL};
}

const int32_t *enhope_dataset_labels(const enhope_dataset *data)
{
    return data->label;
}

const char *enhope_dataset_class_name(const enhope_dataset *data, int32_t k)
{
    return k >= 0 && k < data->c ? data->class_name[k] : NULL;
}

const char *enhope_dataset_input_name(const enhope_dataset *data, int64_t j)
{
    return data->input_name && j >= 0 && j < data->x.H ? data->input_name[j] : NULL;
}

void enhope_dataset_get_values(const enhope_dataset *data, enhope_values *values)
{
    const eh_matrix *x = &data->x;
    *values =
        (enhope_values){.u8 = x->u8, .f32 = x->f32, .row_start = x->row_start, .column = x->column, .value = x->value};
}

enhope_status enhope_dataset_row(enhope_context *ctx, const enhope_dataset *data, int64_t i, float *x)
{
    if (i < 0 || i >= data->x.n)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "row %lld is outside the data: expected 0 to %lld", (long long)i,
                       (long long)data->x.n - 1);
    if (data->store) {
        enhope_dataset *row = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, i, 1, &row));
        eh_matrix_row(&row->x, 0, x);
        enhope_dataset_free(row);
        return ENHOPE_OK;
    }
    eh_matrix_row(&data->x, i, x);
    return ENHOPE_OK;
}

/* ---- selection of rows ---- */

static enhope_status select_sparse(enhope_context *ctx, const eh_matrix *x, const int64_t *rows, int64_t n,
                                   eh_matrix *selected, void *owned[3])
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += x->row_start[rows[i] + 1] - x->row_start[rows[i]];
    EH_TRY(eh_new(ctx, "row starts", n + 1, sizeof(int64_t), &owned[0]));
    EH_TRY(eh_new(ctx, "column numbers", count, sizeof(int32_t), &owned[1]));
    EH_TRY(eh_new(ctx, "values", count, sizeof(float), &owned[2]));
    int64_t *row_start = owned[0];
    int32_t *column = owned[1];
    float *value = owned[2];
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = x->row_start[rows[i]], length = x->row_start[rows[i] + 1] - from;
        row_start[i + 1] = row_start[i] + length;
        if (length == 0) continue;
        memcpy(column + row_start[i], x->column + from, (size_t)length * sizeof *column);
        memcpy(value + row_start[i], x->value + from, (size_t)length * sizeof *value);
    }
    selected->row_start = row_start, selected->column = column, selected->value = value;
    return ENHOPE_OK;
}

static enhope_status select_dense(enhope_context *ctx, const eh_matrix *x, const int64_t *rows, int64_t n,
                                  eh_matrix *selected, void *owned[3])
{
    const bool bytes = x->kind == ENHOPE_U8;
    const size_t width = (size_t)x->H * (bytes ? sizeof *x->u8 : sizeof *x->f32);
    const char *from = bytes ? (const char *)x->u8 : (const char *)x->f32;
    EH_TRY(eh_new(ctx, "values", n, width, &owned[0]));
    for (int64_t i = 0; i < n; i++) memcpy((char *)owned[0] + (size_t)i * width, from + (size_t)rows[i] * width, width);
    if (bytes)
        selected->u8 = owned[0];
    else
        selected->f32 = owned[0];
    return ENHOPE_OK;
}

enhope_status eh_dataset_select(enhope_context *ctx, enhope_dataset *data, const int64_t *rows, int64_t n)
{
    enhope_status status = ENHOPE_OK;
    void *owned[3] = {NULL, NULL, NULL};
    int32_t *label = NULL;
    float *weight = NULL;
    eh_matrix selected = data->x;
    selected.n = n;
    for (int64_t i = 0; i < n; i++)
        if (rows[i] < 0 || rows[i] >= data->x.n)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "row %lld is outside the data: expected 0 to %lld",
                           (long long)rows[i], (long long)data->x.n - 1);
    if (data->label) {
        EH_CHECK(eh_new(ctx, "labels", n, sizeof *label, (void **)&label));
        for (int64_t i = 0; i < n; i++) label[i] = data->label[rows[i]];
    }
    if (data->weight) {
        EH_CHECK(eh_new(ctx, "weights", n, sizeof *weight, (void **)&weight));
        for (int64_t i = 0; i < n; i++) weight[i] = data->weight[rows[i]];
    }
    EH_CHECK(data->x.kind == ENHOPE_CSR ? select_sparse(ctx, &data->x, rows, n, &selected, owned)
                                        : select_dense(ctx, &data->x, rows, n, &selected, owned));
    if (data->origin) EH_CHECK(eh_kept_select(ctx, &data->origin->kept, rows, n));
    for (int i = 0; i < 3; i++) {
        void *old = data->owned[i];
        data->owned[i] = owned[i];
        owned[i] = old;
    }
    data->x = selected;
    eh_free(data->label);
    eh_free(data->weight);
    data->label = label;
    data->weight = weight;
    label = NULL;
    weight = NULL;
cleanup:
    for (int i = 0; i < 3; i++) eh_free(owned[i]);
    eh_free(label);
    eh_free(weight);
    return status;
}
