/* LIBSVM (also called svmlight): sparse samples as text, one per line,
 *
 *   LABEL INDEX:VALUE INDEX:VALUE ...   # comment
 *
 * Indices start at 1 and ascend; qid:N is ignored with a warning. The data stays sparse; H is the
 * largest index. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/read/read.h"

typedef struct libsvm {
    eh_text text;
    int64_t *row_start; /* (row_capacity) */
    int32_t *column;    /* (capacity) */
    float *value;       /* (capacity) */
    int64_t n, row_capacity, count, capacity, H;
    int64_t total;   /* rows of the file so far */
    int64_t queries; /* fields qid:N */
    bool labeled;
    eh_labels labels;
    eh_sink *sink;
} libsvm;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static int quoted_length(size_t length)
{
    return length < 40 ? (int)length : 40;
}

static enhope_status fail_token(enhope_context *ctx, const libsvm *f, const char *token, size_t length, const char *why)
{
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%lld: '%.*s' %s", f->text.stream.name, (long long)f->text.line,
                   quoted_length(length), token, why);
}

static enhope_status grow_rows(enhope_context *ctx, libsvm *f)
{
    if (f->n + 1 < f->row_capacity) return ENHOPE_OK;
    const int64_t capacity = 2 * f->row_capacity + 1024;
    int64_t *grown = eh_grow(f->row_start, (size_t)f->row_capacity, (size_t)capacity, sizeof *grown);
    if (!grown) return eh_fail_memory(ctx, "row starts", (size_t)capacity, sizeof *grown);
    f->row_start = grown;
    f->row_capacity = capacity;
    return ENHOPE_OK;
}

static enhope_status grow_values(enhope_context *ctx, libsvm *f)
{
    if (f->count < f->capacity) return ENHOPE_OK;
    const int64_t capacity = 2 * f->capacity + 1024;
    int32_t *column = eh_grow(f->column, (size_t)f->count, (size_t)capacity, sizeof *column);
    if (!column) return eh_fail_memory(ctx, "column numbers", (size_t)capacity, sizeof *column);
    f->column = column;
    float *value = eh_grow(f->value, (size_t)f->count, (size_t)capacity, sizeof *value);
    if (!value) return eh_fail_memory(ctx, "values", (size_t)capacity, sizeof *value);
    f->value = value;
    f->capacity = capacity;
    return ENHOPE_OK;
}

/* Parses INDEX:VALUE, with the colon at `colon`. */
static enhope_status parse_pair(enhope_context *ctx, libsvm *f, const char *token, size_t length, const char *colon)
{
    const size_t before = (size_t)(colon - token);
    if (before == 3 && memcmp(token, "qid", 3) == 0) {
        f->queries++;
        return ENHOPE_OK;
    }
    int64_t index = 0;
    for (const char *p = token; p < colon; p++) {
        if (*p < '0' || *p > '9') return fail_token(ctx, f, token, length, "is invalid: expected INDEX:VALUE");
        index = index > INT32_MAX ? index : index * 10 + (*p - '0');
    }
    if (before == 0 || index < 1 || index > INT32_MAX)
        return fail_token(ctx, f, token, length, "has an index outside 1 to 2147483647");
    const int64_t begin = f->row_start[f->n];
    if (f->count > begin && index - 1 <= f->column[f->count - 1])
        return fail_token(ctx, f, token, length, "is out of order: expected ascending indices");
    double value;
    eh_number_kind kind = eh_number_parse(colon + 1, length - before - 1, &value);
    if (kind == EH_NUMBER && fabs(value) > (double)FLT_MAX) kind = EH_NOT_FINITE;
    if (kind != EH_NUMBER)
        return fail_token(ctx, f, token, length,
                          kind == EH_NOT_FINITE ? "has a value that is not a finite number"
                                                : "has a value that is not a number");
    EH_TRY(grow_values(ctx, f));
    f->column[f->count] = (int32_t)(index - 1);
    f->value[f->count++] = (float)value;
    if (index > f->H) f->H = index;
    return ENHOPE_OK;
}

static enhope_status parse_line(enhope_context *ctx, libsvm *f, const char *at, size_t length)
{
    const char *end = memchr(at, '#', length);
    if (!end) end = at + length;
    bool first = true;
    while (at < end) {
        if (is_space(*at)) {
            at++;
            continue;
        }
        const char *token = at;
        while (at < end && !is_space(*at)) at++;
        const size_t size = (size_t)(at - token);
        const char *colon = memchr(token, ':', size);
        if (first) EH_TRY(grow_rows(ctx, f));
        if (first && f->labeled) {
            if (colon) return fail_token(ctx, f, token, size, "is in the place of the label: expected the label first");
            const enhope_status status = eh_labels_add(ctx, &f->labels, token, size);
            if (status) return eh_fail_in(ctx, status, "%s:%lld", f->text.stream.name, (long long)f->text.line);
        } else if (colon) {
            EH_TRY(parse_pair(ctx, f, token, size, colon));
        } else if (!first) {
            return fail_token(ctx, f, token, size, "is invalid: expected INDEX:VALUE");
        }
        first = false;
    }
    if (first) return ENHOPE_OK; /* a blank line, or only a comment */
    f->row_start[++f->n] = f->count;
    return ENHOPE_OK;
}

/* Passes the collected rows to the sink. */
static enhope_status flush_rows(enhope_context *ctx, libsvm *f)
{
    const eh_matrix x = {
        .kind = ENHOPE_CSR, .n = f->n, .H = f->H, .row_start = f->row_start, .column = f->column, .value = f->value};
    if (f->n == 0) return ENHOPE_OK;
    f->total += f->n;
    f->sink->reserve = f->total + eh_text_guess(&f->text, f->total);
    f->n = f->count = f->labels.n = 0;
    return f->sink->take(ctx, f->sink, &x, f->labeled ? f->labels.id : NULL, eh_stream_share(&f->text.stream));
}

static enhope_status parse_lines(enhope_context *ctx, libsvm *f)
{
    eh_text *t = &f->text;
    for (;;) {
        const char *newline = memchr(t->buffer + t->at, '\n', t->used - t->at);
        if (!newline && !t->end) {
            EH_TRY(eh_text_more(ctx, t));
            continue;
        }
        if (t->at == t->used || f->sink->full) return flush_rows(ctx, f);
        if (f->count + f->n >= EH_SINK_VALUES) EH_TRY(flush_rows(ctx, f));
        const char *line = t->buffer + t->at;
        const size_t length = newline ? (size_t)(newline - line) : t->used - t->at;
        EH_TRY(parse_line(ctx, f, line, length));
        t->at += length + (newline != NULL);
        t->line++;
    }
}

enhope_status eh_read_libsvm(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    libsvm f = {.labeled = in->labeled, .sink = sink};
    data->x.kind = ENHOPE_CSR;
    EH_TRY(eh_text_open(ctx, in->path, &f.text));
    EH_CHECK(parse_lines(ctx, &f));
    data->x.H = f.H;
    if (f.queries)
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: ignored %lld field%s qid: the groups of samples for ranking are not used",
               in->path, (long long)f.queries, f.queries == 1 ? "" : "s");
    eh_labels_move_names(&f.labels, data);
cleanup:
    eh_free(f.row_start);
    eh_free(f.column);
    eh_free(f.value);
    eh_labels_free(&f.labels);
    eh_text_close(&f.text);
    return status;
}
