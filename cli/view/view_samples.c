/* Writes the samples of the page of enhope view: images, fields or words. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/page.h"
#include "view/view.h"

enum {
    THUMB = 32, /* maximum side of an image in pixels */
    LEVELS = 15 /* maximum gray level: four bits */
};

int64_t view_shrink(const enhope_dataset_info *info)
{
    const int64_t longer = info->image_rows > info->image_columns ? info->image_rows : info->image_columns;
    return (longer + THUMB - 1) / THUMB;
}

int64_t view_fields(const view *v)
{
    const int64_t H = v->session.model_info.inputs, few = VIEW_VALUES / (v->details ? v->details : 1);
    if (H <= VIEW_FIELDS || (v->encoded && H <= VIEW_ENCODED) || H <= few) return H;
    return few > VIEW_FIELDS ? few : VIEW_FIELDS;
}

static int sample_of(const view *v, int64_t at, float *x)
{
    int64_t row;
    const view_part *part = view_point(v, v->detail[at], &row);
    const enhope_status status = enhope_dataset_row(v->session.ctx, part->session.data, row, x);
    return status ? cli_fail(v->session.ctx, status) : 0;
}

/* Packs one image, two pixels per byte. */
static void pack_picture(const enhope_dataset_info *info, const float *x, uint8_t *to)
{
    const int64_t s = view_shrink(info), rows = (info->image_rows + s - 1) / s,
                  columns = (info->image_columns + s - 1) / s;
    const double wide = info->maximum > info->minimum ? info->maximum - info->minimum : 1;
    for (int64_t i = 0; i < rows * columns; i++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t a = i / columns * s; a < (i / columns + 1) * s && a < info->image_rows; a++)
            for (int64_t b = i % columns * s; b < (i % columns + 1) * s && b < info->image_columns; b++, count++)
                sum += (double)x[a * info->image_columns + b];
        const double gray = (sum / (double)count - info->minimum) / wide;
        const unsigned level = (unsigned)lround(LEVELS * fmin(1, fmax(0, gray)));
        to[i / 2] = (uint8_t)(to[i / 2] | (i % 2 ? level << 4 : level));
    }
}

static int put_pictures(const view *v, FILE *out, float *x)
{
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    const int64_t s = view_shrink(info);
    const int64_t pixels = ((info->image_rows + s - 1) / s) * ((info->image_columns + s - 1) / s),
                  bytes = (pixels + 1) / 2;
    uint8_t *to = cli_alloc("pictures", v->details, bytes, 1);
    int code = to ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) {
        code = sample_of(v, i, x);
        if (!code) pack_picture(info, x, to + i * bytes);
    }
    if (!code) code = cli_page_put_block(out, "pixels", to, (size_t)(v->details * bytes), 1);
    free(to);
    return code;
}

static int put_fields(const view *v, FILE *out, float *x)
{
    const int64_t fields = view_fields(v);
    float *to = cli_alloc("samples", v->details, fields, sizeof *to);
    int code = to ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) {
        code = sample_of(v, i, x);
        if (!code) memcpy(to + i * fields, x, (size_t)fields * sizeof *x);
    }
    if (!code) code = cli_page_put_block(out, "fields", to, (size_t)(v->details * fields), sizeof *to);
    free(to);
    return code;
}

/* Writes the first word of every sample, then the columns and the counts of the words. */
static int put_words(const view *v, FILE *out)
{
    enhope_values values[VIEW_PARTS];
    int64_t stored = 0;
    for (int k = 0; k < v->parts; k++) enhope_dataset_get_values(v->part[k].session.data, &values[k]);
    for (int64_t i = 0; i < v->details; i++) {
        int64_t row;
        const enhope_values *from = &values[view_point(v, v->detail[i], &row) - v->part];
        stored += from->row_start[row + 1] - from->row_start[row];
    }
    uint32_t *start = cli_alloc("samples", v->details + 1, 1, sizeof *start);
    int32_t *column = start ? cli_alloc("samples", stored, 1, sizeof *column) : NULL;
    float *value = column ? cli_alloc("samples", stored, 1, sizeof *value) : NULL;
    int64_t used = 0;
    for (int64_t i = 0; i < v->details && value; i++) {
        int64_t row;
        const enhope_values *from = &values[view_point(v, v->detail[i], &row) - v->part];
        for (int64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++, used++) {
            column[used] = from->column[e];
            value[used] = from->value[e];
        }
        start[i + 1] = (uint32_t)used;
    }
    int code = value ? 0 : CLI_FAILED;
    if (!code) code = cli_page_put_block(out, "start", start, (size_t)v->details + 1, sizeof *start);
    if (!code) code = cli_page_put_block(out, "column", column, (size_t)stored, sizeof *column);
    if (!code) code = cli_page_put_block(out, "value", value, (size_t)stored, sizeof *value);
    free(start);
    free(column);
    free(value);
    return code;
}

int view_put_samples(const view *v, FILE *out)
{
    if (!v->details) return 0;
    uint32_t *detail = cli_alloc("samples", v->details, 1, sizeof *detail);
    float *x = detail ? cli_alloc("a sample", v->session.model_info.inputs, 1, sizeof *x) : NULL;
    int code = x ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) detail[i] = (uint32_t)v->detail[i];
    if (!code) code = cli_page_put_block(out, "detail", detail, (size_t)v->details, sizeof *detail);
    if (!code)
        code = v->part[0].session.data_info.image_rows ? put_pictures(v, out, x)
               : v->words                              ? put_words(v, out)
                                                       : put_fields(v, out, x);
    free(detail);
    free(x);
    return code;
}

/* Writes the texts of ids and of kept columns, column by column. Each text ends with a zero. */
int view_put_texts(const view *v, FILE *out)
{
    const int64_t columns = enhope_dataset_text_count(v->part[0].session.data);
    if (!columns) return 0;
    char *bytes = NULL;
    size_t size = 0;
    FILE *texts = open_memstream(&bytes, &size);
    if (!texts) return cli_error("out of memory");
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < v->n; i++) {
            int64_t row;
            const view_part *part = view_point(v, i, &row);
            const char *text = enhope_dataset_text(part->session.data, k, row);
            fputs(text ? text : "", texts);
            putc(0, texts);
        }
    int code = fclose(texts) ? cli_error("out of memory") : 0;
    if (!code) code = cli_page_put_block(out, "text", bytes, size, 1);
    free(bytes);
    return code;
}
