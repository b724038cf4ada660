/* A pair of IDX or NPY files, packed or not, from beginning to end: some rows and their labels at a time. */
#include <math.h>
#include <string.h>

#include "data/read/read.h"

typedef struct half {
    eh_stream stream;
    eh_array a;
    unsigned char *raw; /* what was read last */
} half;

typedef struct pair {
    half x, y; /* y of rank 0: there are no labels */
    int64_t n, H;
    void *values; /* (step, H) */
    char *text;   /* of a label */
    eh_labels labels;
} pair;

static void pair_close(pair *p)
{
    eh_stream_close(&p->x.stream);
    eh_stream_close(&p->y.stream);
    eh_free(p->x.raw);
    eh_free(p->y.raw);
    eh_free(p->values);
    eh_free(p->text);
    eh_labels_free(&p->labels);
}

static enhope_status half_open(enhope_context *ctx, const char *path, bool idx, half *h, int64_t *count)
{
    EH_TRY(eh_stream_open(ctx, path, &h->stream));
    EH_TRY(idx ? eh_idx_header(ctx, &h->stream, &h->a) : eh_npy_header(ctx, &h->stream, &h->a));
    return eh_array_measure(ctx, &h->a, &h->stream, count);
}

static enhope_status half_read(enhope_context *ctx, half *h, int64_t count)
{
    size_t got;
    EH_TRY(eh_stream_read(ctx, &h->stream, h->raw, (size_t)(count * h->a.size), &got));
    if ((int64_t)got < count * h->a.size)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: ends before the values that the header announces: the file is truncated", h->stream.name);
    return ENHOPE_OK;
}

static enhope_status read_labels(enhope_context *ctx, pair *p, int64_t first, int64_t n)
{
    EH_TRY(half_read(ctx, &p->y, n));
    p->labels.n = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *text;
        size_t length;
        enhope_status status =
            eh_array_label_text(ctx, &p->y.a, p->y.raw + i * p->y.a.size, first + i, p->text, &text, &length);
        if (!status) status = eh_labels_add(ctx, &p->labels, text, length);
        if (status) return eh_fail_in(ctx, status, "%s", p->y.stream.name);
    }
    return ENHOPE_OK;
}

static enhope_status read_values(enhope_context *ctx, pair *p, int64_t first, int64_t n)
{
    EH_TRY(half_read(ctx, &p->x, n * p->H));
    eh_array_convert(&p->x.a, p->x.raw, n * p->H, p->values);
    if (eh_array_is_bytes(&p->x.a)) return ENHOPE_OK;
    for (int64_t t = 0; t < n * p->H; t++) {
        const float value = ((const float *)p->values)[t];
        if (!isfinite(value))
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: sample %lld, column %lld is %s: expected a finite number",
                           p->x.stream.name, (long long)(first + t / p->H) + 1, (long long)(t % p->H) + 1,
                           isnan(value) ? "NaN" : "infinite");
    }
    return ENHOPE_OK;
}

enhope_status eh_read_pair_through(enhope_context *ctx, const char *x_path, bool x_idx, const char *y_path, bool y_idx,
                                   enhope_dataset *data, eh_sink *sink, bool *done)
{
    enhope_status status = ENHOPE_OK;
    pair p = {.n = 0};
    int64_t x_count, y_count;
    EH_CHECK(half_open(ctx, x_path, x_idx, &p.x, &x_count));
    if (p.x.a.fortran && p.x.a.rank > 1) goto cleanup;
    if (y_path) EH_CHECK(half_open(ctx, y_path, y_idx, &p.y, &y_count));
    EH_CHECK(eh_array_check_pair(ctx, &p.x.a, x_path, y_path ? &p.y.a : NULL, y_path));
    p.n = p.x.a.shape[0];
    p.H = x_count / p.n;
    const bool bytes = eh_array_is_bytes(&p.x.a);
    const int64_t some = EH_SINK_VALUES / p.H + 1, step = p.n < some ? p.n : some;
    data->x = (eh_matrix){.kind = bytes ? ENHOPE_U8 : ENHOPE_F32, .n = 0, .H = p.H};
    data->image_rows = p.x.a.rank == 3 ? p.x.a.shape[1] : 0;
    data->image_columns = p.x.a.rank == 3 ? p.x.a.shape[2] : 0;
    EH_CHECK(eh_new(ctx, "a reading buffer", step * p.H, (size_t)p.x.a.size, (void **)&p.x.raw));
    EH_CHECK(eh_new(ctx, "values", step * p.H, bytes ? 1 : sizeof(float), &p.values));
    if (y_path) {
        EH_CHECK(eh_new(ctx, "a reading buffer", step, (size_t)p.y.a.size, (void **)&p.y.raw));
        EH_CHECK(eh_new(ctx, "a label", p.y.a.size + EH_LABEL_TEXT, 1, (void **)&p.text));
    }
    for (int64_t first = 0; first < p.n && !sink->full; first += step) {
        const int64_t n = p.n - first < step ? p.n - first : step;
        EH_CHECK(read_values(ctx, &p, first, n));
        if (y_path) EH_CHECK(read_labels(ctx, &p, first, n));
        const eh_matrix x = {
            .kind = data->x.kind, .n = n, .H = p.H, .u8 = bytes ? p.values : NULL, .f32 = bytes ? NULL : p.values};
        EH_CHECK(sink->take(ctx, sink, &x, y_path ? p.labels.id : NULL, (double)(first + n) / (double)p.n));
    }
    if (!sink->full) EH_CHECK(eh_array_end(ctx, &p.x.stream));
    if (!sink->full && y_path) EH_CHECK(eh_array_end(ctx, &p.y.stream));
    eh_labels_give(&p.labels, data);
    *done = true;
cleanup:
    pair_close(&p);
    return status;
}
