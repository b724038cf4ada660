/* MATLAB files (data/mat).
 *
 * Variables are identified by shape. The inputs X are the largest numeric matrix, dense or sparse.
 * The labels y are a numeric vector as long as one side of X, and that side counts the samples (the
 * rows if both sides fit or there is no y). A cell of different texts with one entry per class
 * names the classes; one with an entry per input names the inputs. A 3-D array without y is read as
 * inputs x samples per class x classes. Its classes are named 1, 2, ..., and the tenth of ten
 * digits "0". */
#include <stdio.h>
#include <string.h>

#include "data/mat/mat.h"
#include "data/read/read.h"

typedef struct mat {
    const char *path;
    eh_mat_variable *variable; /* (count) */
    int count;
} mat;

/* ---- identification of variables ---- */

static const eh_mat_variable *find_variable(const mat *m, const char *name)
{
    for (int i = 0; i < m->count; i++)
        if (m->variable[i].numeric && strcmp(m->variable[i].name, name) == 0) return &m->variable[i];
    return NULL;
}

static bool is_vector(const eh_mat_variable *v)
{
    return v->numeric && !v->sparse && v->rank == 2 && (v->side[0] == 1 || v->side[1] == 1);
}

static bool fits(const eh_mat_variable *x, const eh_mat_variable *y)
{
    for (int i = 0; i < x->rank; i++)
        if (x->side[i] == y->count) return true;
    return false;
}

static enhope_status find_named(enhope_context *ctx, const mat *m, const char *variables, const eh_mat_variable **x,
                                const eh_mat_variable **y)
{
    char names[2 * EH_MAT_NAME], list[512] = "no numeric matrix";
    if (snprintf(names, sizeof names, "%s", variables) >= (int)sizeof names)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "variables: the names are longer than %zu characters",
                       sizeof names - 1);
    char *second = strchr(names, ',');
    if (second) *second++ = '\0';
    *x = find_variable(m, names);
    *y = second ? find_variable(m, second) : NULL;
    if (!*x || (second && !*y)) {
        size_t n = 0;
        for (int i = 0; i < m->count && n + 48 < sizeof list; i++)
            if (m->variable[i].numeric)
                n += (size_t)snprintf(list + n, sizeof list - n, "%s%.40s", n ? ", " : "", m->variable[i].name);
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: no numeric variable '%.60s': it contains %s", m->path,
                       *x ? second : names, list);
    }
    if (*y && (!is_vector(*y) || !fits(*x, *y)))
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: '%s' has %lld x %lld values and cannot label '%s' of %lld x %lld: expected a vector as "
                       "long as one side",
                       m->path, (*y)->name, (long long)(*y)->side[0], (long long)(*y)->side[1], (*x)->name,
                       (long long)(*x)->side[0], (long long)(*x)->side[1]);
    return ENHOPE_OK;
}

static enhope_status find_by_shape(enhope_context *ctx, const mat *m, const eh_mat_variable **x,
                                   const eh_mat_variable **y)
{
    static const char *const usual[] = {"y", "Y", "labels", "label", "target", "targets", "class", "classes", "gnd"};
    *x = *y = NULL;
    for (int i = 0; i < m->count; i++)
        if (m->variable[i].numeric && (!*x || m->variable[i].count > (*x)->count)) *x = &m->variable[i];
    if (!*x) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: contains no numeric matrix", m->path);
    for (size_t k = 0; k < sizeof usual / sizeof *usual && !*y; k++) {
        const eh_mat_variable *v = find_variable(m, usual[k]);
        if (v && v != *x && is_vector(v) && fits(*x, v)) *y = v;
    }
    for (int i = 0; i < m->count && !*y; i++) {
        const eh_mat_variable *v = &m->variable[i];
        if (v != *x && is_vector(v) && v->count > 1 && fits(*x, v)) *y = v;
    }
    return ENHOPE_OK;
}

/* ---- inputs ---- */

/* Layout of the samples in X. */
typedef struct layout {
    int64_t n, H;
    int64_t rows, columns;       /* an input is (row, column) of a sample, row-major; columns 1: a plain vector */
    int64_t sample, row, column; /* strides in the array */
} layout;

static layout find_layout(const eh_mat_variable *x, const eh_mat_variable *y)
{
    const int64_t a = x->side[0], b = x->side[1], c = x->side[2];
    if (x->rank == 2) {
        const bool rows = !y || y->count == a;
        return rows ? (layout){a, b, b, 1, 1, a, 0} : (layout){b, a, a, 1, a, 1, 0};
    }
    if (!y) return (layout){b * c, a, a, 1, a, 1, 0};
    if (y->count == c) return (layout){c, a * b, a, b, a * b, 1, a};
    if (y->count == a) return (layout){a, b * c, b, c, 1, a, a * b};
    return (layout){b, a * c, a, c, a, 1, a * b};
}

/* Position in the array of input j of sample i. */
static int64_t position(const layout *l, int64_t i, int64_t j)
{
    return i * l->sample + j / l->columns * l->row + j % l->columns * l->column;
}

/* The offsets (H) of the encoding, else (NULL) those of columns that float cannot resolve. */
static enhope_status find_offsets(enhope_context *ctx, const eh_mat_numbers *from, const layout *l,
                                  const eh_encoding *encoding, double **offset)
{
    eh_centers centers;
    if (encoding) return eh_centers_of(ctx, encoding, l->H, offset);
    EH_TRY(eh_centers_open(ctx, l->H, &centers));
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t j = 0; j < l->H; j++) eh_centers_add(&centers, j, eh_mat_value(from, position(l, i, j)));
    const enhope_status status = eh_centers_find(ctx, &centers, offset);
    eh_centers_close(&centers);
    return status;
}

static enhope_status load_dense(enhope_context *ctx, const eh_mat_numbers *from, bool bytes, const layout *l,
                                const eh_encoding *encoding, double **offset, enhope_dataset *data)
{
    int64_t count;
    if (!eh_mul(l->n, l->H, &count)) return eh_fail_memory(ctx, "values", (size_t)l->n, (size_t)l->H);
    EH_TRY(eh_new(ctx, "values", count, bytes ? 1 : sizeof(float), &data->owned[0]));
    uint8_t *u8 = data->owned[0];
    float *f32 = data->owned[0];
    if (!bytes) EH_TRY(find_offsets(ctx, from, l, encoding, offset));
    for (int64_t i = 0, t = 0; i < l->n; i++)
        for (int64_t j = 0; j < l->H; j++, t++) {
            const int64_t at = position(l, i, j);
            if (bytes)
                u8[t] = ((const uint8_t *)from->data)[at];
            else
                f32[t] = (float)(eh_mat_value(from, at) - (*offset ? (*offset)[j] : 0));
        }
    data->x = (eh_matrix){.kind = bytes ? ENHOPE_U8 : ENHOPE_F32, .n = l->n, .H = l->H};
    if (bytes)
        data->x.u8 = u8;
    else
        data->x.f32 = f32;
    return ENHOPE_OK;
}

/* Checks that the column starts ascend from 0 and that there are as many rows and values. */
static bool is_consistent(const eh_mat_values *s, int64_t rows, int64_t columns, int64_t *count)
{
    bool ok = eh_mat_value(&s->start, 0) == 0;
    for (int64_t j = 0; ok && j < columns; j++) ok = eh_mat_value(&s->start, j) <= eh_mat_value(&s->start, j + 1);
    *count = ok ? (int64_t)eh_mat_value(&s->start, columns) : 0;
    ok = ok && *count <= s->row.count && *count <= s->value.count;
    for (int64_t t = 0; ok && t < *count; t++)
        ok = eh_mat_value(&s->row, t) >= 0 && eh_mat_value(&s->row, t) < (double)rows;
    return ok;
}

static int64_t position_at(const eh_mat_numbers *numbers, int64_t at)
{
    return (int64_t)eh_mat_value(numbers, at);
}

/* Converts compressed columns: used directly if the samples are the columns, otherwise transposed
 * by counting. */
static enhope_status load_sparse(enhope_context *ctx, const mat *m, const eh_mat_variable *v, const eh_mat_values *s,
                                 bool by_column, enhope_dataset *data)
{
    const int64_t rows = v->side[0], columns = v->side[1], n = by_column ? columns : rows;
    int64_t count;
    if (!is_consistent(s, rows, columns, &count))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the sparse variable '%s' is inconsistent: the file is damaged",
                       m->path, v->name);
    EH_TRY(eh_new(ctx, "row starts", n + 1, sizeof(int64_t), &data->owned[0]));
    EH_TRY(eh_new(ctx, "column numbers", count, sizeof(int32_t), &data->owned[1]));
    EH_TRY(eh_new(ctx, "values", count, sizeof(float), &data->owned[2]));
    int64_t *row_start = data->owned[0];
    int32_t *column = data->owned[1];
    float *value = data->owned[2];
    if (by_column) {
        for (int64_t j = 0; j <= columns; j++) row_start[j] = position_at(&s->start, j);
        for (int64_t t = 0; t < count; t++) {
            column[t] = (int32_t)position_at(&s->row, t);
            value[t] = (float)eh_mat_value(&s->value, t);
        }
    } else {
        for (int64_t t = 0; t < count; t++) row_start[position_at(&s->row, t) + 1]++;
        for (int64_t i = 0; i < rows; i++) row_start[i + 1] += row_start[i];
        /* row_start[i] is the position of the next value of row i; it ends as the start of row i +
         * 1 */
        for (int64_t j = 0; j < columns; j++)
            for (int64_t t = position_at(&s->start, j); t < position_at(&s->start, j + 1); t++) {
                const int64_t to = row_start[position_at(&s->row, t)]++;
                column[to] = (int32_t)j;
                value[to] = (float)eh_mat_value(&s->value, t);
            }
        memmove(row_start + 1, row_start, (size_t)rows * sizeof *row_start);
        row_start[0] = 0;
    }
    data->x = (eh_matrix){.kind = ENHOPE_CSR,
                          .n = n,
                          .H = by_column ? rows : columns,
                          .row_start = row_start,
                          .column = column,
                          .value = value};
    return ENHOPE_OK;
}

static enhope_status load_inputs(enhope_context *ctx, const mat *m, const eh_mat_variable *x, const eh_mat_variable *y,
                                 const eh_encoding *encoding, double **offset, enhope_dataset *data)
{
    const layout l = find_layout(x, y);
    eh_mat_values values;
    enhope_status status = eh_mat_read(ctx, m->path, x, &values);
    const bool bytes = x->bytes && values.value.kind == 'u' && values.value.size == 1;
    if (!status)
        status = x->sparse ? load_sparse(ctx, m, x, &values, y && y->count != x->side[0], data)
                           : load_dense(ctx, &values.value, bytes, &l, encoding, offset, data);
    eh_mat_free(&values);
    if (status || x->rank < 3) return status;
    int64_t side = 1;
    while (side * side < l.H) side++;
    if (y) {
        data->image_rows = l.rows;
        data->image_columns = l.columns;
    } else if (side > 1 && side * side == l.H) {
        data->image_rows = data->image_columns = side;
    }
    return ENHOPE_OK;
}

/* ---- labels and names ---- */

/* True if the classes are 1..c or 0..c-1, so that a list of c names belongs to them. */
static bool is_numbered(const enhope_dataset *data)
{
    for (int base = 0; base < 2; base++) {
        bool all = data->c > 0;
        for (int32_t k = 0; all && k < data->c; k++) {
            char number[16];
            snprintf(number, sizeof number, "%d", k + base);
            all = strcmp(data->class_name[k], number) == 0;
        }
        if (all) return true;
    }
    return false;
}

/* Whether texts can name classes: none is empty or occurs twice. */
static enhope_status are_names(enhope_context *ctx, char *const *text, int64_t count, bool *good)
{
    eh_labels known = {.n = 0};
    enhope_status status = ENHOPE_OK;
    *good = true;
    for (int64_t i = 0; i < count && *good && !status; i++) {
        int32_t id = 0;
        status = eh_labels_class(ctx, &known, text[i], strlen(text[i]), &id);
        *good = *text[i] && id == i;
    }
    eh_labels_free(&known);
    return status;
}

static enhope_status load_names(enhope_context *ctx, const mat *m, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    bool named = !is_numbered(data);
    for (int i = 0; i < m->count; i++) {
        const eh_mat_variable *v = &m->variable[i];
        char **text = NULL;
        const bool inputs = !data->input_name && v->count == data->x.H;
        bool classes = !named && v->count == data->c;
        if (!v->cell || (!classes && !inputs)) continue;
        EH_TRY(eh_mat_texts(ctx, m->path, v, &text));
        if (!text) continue;
        if (classes) status = are_names(ctx, text, v->count, &classes);
        if (status || (!classes && !inputs)) {
            eh_names_free(text, v->count);
            if (status) return status;
        } else if (classes) {
            eh_names_free(data->class_name, data->c);
            data->class_name = text;
            named = true;
        } else {
            data->input_name = text;
        }
    }
    return ENHOPE_OK;
}

static enhope_status load_labels(enhope_context *ctx, const mat *m, const eh_mat_variable *x, const eh_mat_variable *y,
                                 enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    eh_labels labels = {.n = 0};
    eh_mat_values values = {.value = {.data = NULL}};
    if (y) {
        EH_CHECK(eh_mat_read(ctx, m->path, y, &values));
        for (int64_t i = 0; i < y->count && !status; i++)
            status = eh_labels_add_number(ctx, &labels, eh_mat_value(&values.value, i));
    } else {
        const int64_t classes = x->side[2];
        for (int64_t i = 0; i < data->x.n && !status; i++) {
            const int64_t k = i / x->side[1] + 1;
            status = eh_labels_add_number(ctx, &labels, (double)(classes == 10 && k == 10 ? 0 : k));
        }
    }
    status = status ? eh_fail_in(ctx, status, "%s: variable '%s'", m->path, (y ? y : x)->name)
                    : eh_labels_attach(ctx, &labels, data);
cleanup:
    eh_mat_free(&values);
    eh_labels_free(&labels);
    return status;
}

enhope_status eh_read_mat(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    const char *path = in->path, *variables = in->variables;
    const eh_mat_variable *x = NULL, *y = NULL;
    mat m = {.path = path};
    double *offset = NULL;
    EH_CHECK(eh_mat_list(ctx, path, &m.variable, &m.count));
    EH_CHECK(variables ? find_named(ctx, &m, variables, &x, &y) : find_by_shape(ctx, &m, &x, &y));
    EH_CHECK(load_inputs(ctx, &m, x, y, in->encoding, &offset, data));
    if (in->labeled && (y || x->rank == 3)) EH_CHECK(load_labels(ctx, &m, x, y, data));
    EH_CHECK(load_names(ctx, &m, data));
    EH_CHECK(eh_centers_describe(ctx, offset, in->encoding, data));
    sink->ordered = true;
    EH_CHECK(sink->take(ctx, sink, &data->x, data->label, 1));
cleanup:
    eh_free(offset);
    eh_free(m.variable);
    return status;
}
