/* Columns of arrays that float cannot resolve, such as 10^9 + 0.3. As in CSV files and frames, a
 * center is subtracted from them before they are rounded. It is part of the encoding of the data
 * set and of its model. */
#include <math.h>

#include "data/frame/frame.h"
#include "data/read/read.h"

/* Sums of a column, after its first value was subtracted. */
struct eh_column_sums {
    int64_t n;
    double first, sum, squares, largest;
};

enhope_status eh_centers_open(enhope_context *ctx, int64_t H, eh_centers *c)
{
    *c = (eh_centers){.H = H};
    return eh_new(ctx, "sums of columns", H, sizeof *c->column, (void **)&c->column);
}

void eh_centers_add(eh_centers *centers, int64_t j, double value)
{
    eh_column_sums *c = &centers->column[j];
    if (!isfinite(value)) return;
    if (c->n++ == 0) c->first = value;
    const double d = value - c->first;
    c->sum += d;
    c->squares += d * d;
    c->largest = fmax(c->largest, fabs(value));
}

/* The mean of a column that float cannot resolve, else 0. */
static double center_of(const eh_column_sums *c)
{
    const double n = (double)eh_max(c->n, 1), mean = c->sum / n;
    const double sd = sqrt(fmax(c->squares / n - mean * mean, 0));
    return eh_is_coarse(c->largest, sd) ? c->first + mean : 0;
}

enhope_status eh_centers_find(enhope_context *ctx, const eh_centers *c, double **offset)
{
    bool any = false;
    *offset = NULL;
    for (int64_t j = 0; j < c->H; j++) any = any || center_of(&c->column[j]) != 0;
    if (!any) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "centers of columns", c->H, sizeof **offset, (void **)offset));
    for (int64_t j = 0; j < c->H; j++) (*offset)[j] = center_of(&c->column[j]);
    return ENHOPE_OK;
}

void eh_centers_close(eh_centers *c)
{
    eh_free(c->column);
    *c = (eh_centers){0};
}

enhope_status eh_centers_of(enhope_context *ctx, const eh_encoding *encoding, int64_t H, double **offset)
{
    bool any = false;
    *offset = NULL;
    if (encoding->columns != H) return ENHOPE_OK;
    for (int64_t j = 0; j < H; j++) {
        const eh_encoded *c = &encoding->column[j];
        if (c->type != EH_COLUMN_NUMBER || c->inputs != 1) return ENHOPE_OK;
        any = any || c->offset != 0;
    }
    if (!any) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "centers of columns", H, sizeof **offset, (void **)offset));
    for (int64_t j = 0; j < H; j++) (*offset)[j] = encoding->column[j].offset;
    return ENHOPE_OK;
}

enhope_status eh_centers_describe(enhope_context *ctx, const double *offset, const eh_encoding *like,
                                  enhope_dataset *data)
{
    eh_encoding *encoding = NULL;
    if (!offset) return ENHOPE_OK;
    EH_TRY(like ? eh_encoding_copy(ctx, like, &encoding)
                : eh_encoding_of_numbers(ctx, data->x.H, data->input_name, &encoding));
    for (int64_t j = 0; j < data->x.H; j++) encoding->column[j].offset = offset[j];
    const enhope_status status = eh_dataset_set_encoding(ctx, data, encoding);
    if (status) eh_encoding_free(encoding);
    return status;
}
