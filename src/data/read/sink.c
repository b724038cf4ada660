/* The sink that appends rows to a data set in memory.
 *
 * Memory is reserved for as many rows as the reader expects, and doubled if more arrive. A reader
 * that must hold all rows passes the matrix of the data set itself, which is not copied. */
#include <string.h>

#include "data/read/read.h"

static enhope_status grow(enhope_context *ctx, const char *what, void **block, int64_t used, int64_t capacity,
                          int64_t columns, size_t size)
{
    int64_t before, after;
    void *grown = NULL;
    if (eh_mul(used, columns, &before) && eh_mul(capacity, columns, &after))
        grown = eh_grow(*block, (size_t)before, (size_t)after, size);
    if (!grown) return eh_fail_memory(ctx, what, (size_t)capacity, (size_t)columns * size);
    *block = grown;
    return ENHOPE_OK;
}

static enhope_status reserve_rows(enhope_context *ctx, eh_memory *m, int64_t n, bool labeled)
{
    enhope_dataset *data = m->data;
    eh_matrix *x = &data->x;
    const int64_t used = x->n, wanted = used + n;
    if (wanted <= m->capacity) return ENHOPE_OK;
    const int64_t capacity = m->sink.reserve >= wanted ? m->sink.reserve : eh_max(wanted, 2 * m->capacity);
    switch (x->kind) {
    case ENHOPE_U8: EH_TRY(grow(ctx, "values", &data->owned[0], used, capacity, x->H, sizeof *x->u8)); break;
    case ENHOPE_F32: EH_TRY(grow(ctx, "values", &data->owned[0], used, capacity, x->H, sizeof *x->f32)); break;
    case ENHOPE_CSR:
        EH_TRY(grow(ctx, "row starts", &data->owned[0], used + (used > 0), capacity + 1, 1, sizeof *x->row_start));
        break;
    }
    if (labeled) {
        void *label = data->label;
        EH_TRY(grow(ctx, "labels", &label, used, capacity, 1, sizeof *data->label));
        data->label = label;
    }
    m->capacity = capacity;
    return ENHOPE_OK;
}

/* Reserves values in proportion to the expected rows. */
static enhope_status reserve_values(enhope_context *ctx, eh_memory *m, int64_t rows, int64_t count)
{
    enhope_dataset *data = m->data;
    const int64_t wanted = m->stored + count;
    if (wanted <= m->stored_capacity) return ENHOPE_OK;
    const double expected = 1.02 * (double)wanted * (double)m->sink.reserve / (double)rows;
    int64_t capacity = eh_max(wanted, 2 * m->stored_capacity);
    if (m->sink.reserve >= rows && expected < 0x1p62) capacity = eh_max(wanted, (int64_t)expected);
    EH_TRY(grow(ctx, "column numbers", &data->owned[1], m->stored, capacity, 1, sizeof *data->x.column));
    EH_TRY(grow(ctx, "values", &data->owned[2], m->stored, capacity, 1, sizeof *data->x.value));
    m->stored_capacity = capacity;
    return ENHOPE_OK;
}

static enhope_status append_sparse(enhope_context *ctx, eh_memory *m, const eh_matrix *x)
{
    enhope_dataset *data = m->data;
    const int64_t begin = x->row_start[0], count = x->row_start[x->n] - begin;
    EH_TRY(reserve_values(ctx, m, data->x.n + x->n, count));
    int64_t *row_start = (int64_t *)data->owned[0] + data->x.n;
    for (int64_t i = 1; i <= x->n; i++) row_start[i] = m->stored + x->row_start[i] - begin;
    if (count > 0) {
        memcpy((int32_t *)data->owned[1] + m->stored, x->column + begin, (size_t)count * sizeof *x->column);
        memcpy((float *)data->owned[2] + m->stored, x->value + begin, (size_t)count * sizeof *x->value);
    }
    m->stored += count;
    data->x.row_start = data->owned[0], data->x.column = data->owned[1], data->x.value = data->owned[2];
    return ENHOPE_OK;
}

static void append_dense(enhope_dataset *data, const eh_matrix *x)
{
    const bool bytes = x->kind == ENHOPE_U8;
    const size_t row = (size_t)x->H * (bytes ? sizeof *x->u8 : sizeof *x->f32);
    memcpy((char *)data->owned[0] + (size_t)data->x.n * row, bytes ? (const void *)x->u8 : x->f32, (size_t)x->n * row);
    if (bytes)
        data->x.u8 = data->owned[0];
    else
        data->x.f32 = data->owned[0];
}

static enhope_status take(enhope_context *ctx, eh_sink *sink, const eh_matrix *x, const int32_t *label, double share)
{
    (void)share;
    eh_memory *m = (eh_memory *)sink;
    enhope_dataset *data = m->data;
    if (x == &data->x) { /* the rows are already in place */
        if (!label || label == data->label) return ENHOPE_OK;
        EH_TRY(eh_new(ctx, "labels", x->n, sizeof *label, (void **)&data->label));
        memcpy(data->label, label, (size_t)x->n * sizeof *label);
        return ENHOPE_OK;
    }
    data->x.kind = x->kind;
    data->x.H = eh_max(data->x.H, x->H); /* sparse: the largest column so far */
    EH_TRY(reserve_rows(ctx, m, x->n, label != NULL));
    if (x->kind == ENHOPE_CSR)
        EH_TRY(append_sparse(ctx, m, x));
    else
        append_dense(data, x);
    if (label) memcpy(data->label + data->x.n, label, (size_t)x->n * sizeof *label);
    data->x.n += x->n;
    return ENHOPE_OK;
}

void eh_memory_open(eh_memory *m, enhope_dataset *data)
{
    *m = (eh_memory){.sink = {.take = take, .resident = true}, .data = data};
}

enhope_status eh_memory_finish(enhope_context *ctx, eh_memory *m)
{
    return m->sink.ordered ? ENHOPE_OK : eh_dataset_order_classes(ctx, m->data);
}
