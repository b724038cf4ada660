/* A pair of files, inputs and labels: a sink that adds the label of each row and passes the rows to
 * another sink.
 *
 * Labels of an array (IDX, NPY) are read as rows arrive, so that a pair of any size needs constant
 * memory. Other labels are read completely, four bytes per row. */
#include "data/read/read.h"

static enhope_status fail_count(enhope_context *ctx, const eh_pair *p, int64_t rows)
{
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s has %lld samples but %s has %lld labels", p->x_name, (long long)rows,
                   p->y_name, (long long)p->count);
}

static enhope_status open_labels(enhope_context *ctx, eh_pair *p)
{
    const eh_format *f;
    if (!p->resident) {
        EH_TRY(eh_format_find(ctx, p->y_name, &f));
        if (!f->header && !f->labels)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                           "%s: unsupported file of labels: expected IDX, NPY or CSV with one column", p->y_name);
        if (f->header) {
            EH_TRY(eh_stream_open(ctx, p->y_name, &p->stream));
            EH_TRY(f->header(ctx, &p->stream, &p->a));
            EH_TRY(eh_array_measure(ctx, &p->a, &p->stream, &p->count));
            EH_TRY(eh_array_check_labels(ctx, &p->a, p->y_name, p->count));
            return p->sink.rows && p->sink.rows != p->count ? fail_count(ctx, p, p->sink.rows) : ENHOPE_OK;
        }
        EH_TRY(f->labels(ctx, p->y_name, &p->labels));
    }
    p->count = p->labels.n;
    return ENHOPE_OK;
}

static enhope_status take(enhope_context *ctx, eh_sink *sink, const eh_matrix *x, const int32_t *label, double share)
{
    (void)label; /* the inputs are read without labels */
    eh_pair *p = (eh_pair *)sink;
    eh_sink *to = p->to;
    const int64_t first = p->done;
    if (first == 0) EH_TRY(open_labels(ctx, p));
    p->done += x->n;
    if (p->done > p->count) return ENHOPE_OK; /* eh_pair_finish reports it with the number of rows */
    if (p->stream.state) {
        p->labels.n = 0;
        EH_TRY(eh_array_labels(ctx, &p->a, &p->stream, first, x->n, &p->labels));
    }
    const int32_t *id = p->labels.id + (p->stream.state ? 0 : first);
    to->from = sink->from;
    to->rows = sink->rows;
    to->reserve = sink->reserve;
    EH_TRY(to->take(ctx, to, x, id, share));
    sink->full = to->full;
    return ENHOPE_OK;
}

void eh_pair_open(eh_pair *p, const char *x_name, const char *y_name, bool resident, eh_sink *to)
{
    *p = (eh_pair){.sink = {.take = take, .from = to->from, .resident = to->resident},
                   .to = to,
                   .x_name = x_name,
                   .y_name = y_name,
                   .resident = resident};
}

enhope_status eh_pair_finish(enhope_context *ctx, eh_pair *p, enhope_dataset *data)
{
    if (!p->sink.full) {
        if (p->done > 0 && p->done != p->count) return fail_count(ctx, p, p->done);
        if (p->stream.state) EH_TRY(eh_array_end(ctx, &p->stream));
    }
    eh_labels_move_names(&p->labels, data);
    return ENHOPE_OK;
}

void eh_pair_close(eh_pair *p)
{
    eh_stream_close(&p->stream);
    eh_labels_free(&p->labels);
}
