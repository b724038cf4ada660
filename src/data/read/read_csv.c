/* CSV and TSV: a table becomes frames of typed columns (data/table/table.h), and frames become rows
 * of numbers by an encoding (data/frame/frame.h).
 *
 * With a model, its encoding is used. Otherwise one is fitted: to all training rows of a table of
 * moderate size, which is then encoded from memory; to evenly spaced rows of a larger one, which is
 * read again in chunks. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

enum {
    WHOLE_VALUES = 1 << 22, /* a table of so many values is read at once: 32 MB */
    SAMPLE_VALUES = 1 << 20 /* values of a larger table that the encoding is fitted to */
};

/* A table on its way to a sink. */
typedef struct reading {
    eh_input *in;
    eh_table table;
    eh_encoding *fitted;         /* NULL: the encoding is that of a model */
    const eh_encoding *encoding; /* the one in use */
    eh_unseen *unseen;           /* (columns) */
    eh_position_check position;
    float *x; /* (capacity, H) rows on their way to the sink */
    int64_t capacity;
    enhope_dataset *data;
    eh_sink *sink;
} reading;

/* ---- fitting ---- */

/* True for a table of pixels: many columns of bytes. They are inputs as they are, so that images
 * keep their shape although the pixels at the border are constant. */
static bool is_pixels(const eh_schema *s)
{
    enum { FEW_PIXELS = 64 };
    int64_t inputs = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        const eh_column_schema *c = &s->column[j];
        if (c->role != EH_ROLE_INPUT) continue;
        if (c->type != EH_COLUMN_NUMBER || c->missing || !c->integers || c->minimum < 0 || c->maximum > 255)
            return false;
        inputs++;
    }
    return inputs >= FEW_PIXELS;
}

static enhope_status encode_pixels(enhope_context *ctx, reading *r)
{
    const eh_frame *frame = &r->table.frame;
    char **name = NULL;
    enhope_status status = ENHOPE_OK;
    if (frame->named) EH_TRY(eh_new(ctx, "column names", frame->columns, sizeof *name, (void **)&name));
    for (int64_t k = 0; name && k < frame->columns; k++) name[k] = frame->column[k].name;
    EH_CHECK(eh_encoding_of_numbers(ctx, frame->columns, name, &r->fitted));
    r->fitted->label_place = frame->label_place;
    if (frame->label_name) EH_CHECK(eh_new_text(ctx, "the label's name", frame->label_name, &r->fitted->label));
cleanup:
    eh_free(name);
    return status;
}

/* The training rows of a table of n rows; NULL: the first *count. label (n), in order of
 * appearance. */
static enhope_status find_training_rows(enhope_context *ctx, const eh_input *in, const eh_labels *labels, int64_t n,
                                        int64_t **rows, int64_t *count)
{
    enhope_status status = ENHOPE_OK;
    int32_t *rank = NULL, *label = NULL;
    const bool labeled = labels->n == n && labels->c > 0;
    *rows = NULL;
    *count = n;
    if (in->split && (labeled || !strchr(in->split, '.'))) {
        if (labeled) {
            EH_CHECK(eh_new(ctx, "classes", labels->c, sizeof *rank, (void **)&rank));
            EH_CHECK(eh_new(ctx, "labels", n, sizeof *label, (void **)&label));
            EH_CHECK(eh_labels_rank(ctx, labels->name, labels->c, rank));
            for (int64_t i = 0; i < n; i++) label[i] = labels->id[i] < 0 ? -1 : rank[labels->id[i]];
        }
        EH_CHECK(eh_split_rows(ctx, in->split, "train", label, labels->c, n, rows, count));
    }
    if (in->limit > 0) *count = eh_min(*count, in->limit);
cleanup:
    eh_free(rank);
    eh_free(label);
    return status;
}

/* The rows of the frame that the caller has chosen by their numbers in the file. */
static enhope_status find_chosen_rows(enhope_context *ctx, const eh_table *t, const enhope_table_options *o,
                                      int64_t **rows, int64_t *count)
{
    enhope_status status;
    uint8_t *chosen = NULL; /* (last + 1) */
    int64_t last = 0;
    for (int64_t i = 0; i < o->fit_count; i++) last = eh_max(last, o->fit[i]);
    EH_CHECK(eh_new(ctx, "rows", last + 1, sizeof *chosen, (void **)&chosen));
    EH_CHECK(eh_new(ctx, "rows", t->frame.n, sizeof **rows, (void **)rows));
    for (int64_t i = 0; i < o->fit_count; i++)
        if (o->fit[i] >= 0) chosen[o->fit[i]] = 1;
    *count = 0;
    for (int64_t i = 0; i < t->frame.n; i++) {
        const int64_t row = t->kept && i < t->kept->n ? t->kept->row[i] : i;
        if (row <= last && chosen[row]) (*rows)[(*count)++] = i;
    }
cleanup:
    eh_free(chosen);
    return status;
}

static enhope_status fit(enhope_context *ctx, reading *r)
{
    int64_t *rows = NULL, n;
    eh_table *t = &r->table;
    if (is_pixels(&t->schema)) return encode_pixels(ctx, r);
    if (t->frame.n == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", eh_csv_name(&t->csv));
    const enhope_table_options *o = r->in->table;
    enhope_status status = o && o->fit ? find_chosen_rows(ctx, t, o, &rows, &n)
                                       : find_training_rows(ctx, r->in, &t->labels, t->frame.n, &rows, &n);
    for (int64_t k = 0; !status && n == 1 && k < t->frame.columns; k++)
        t->frame.column[k].varies = true; /* cannot be known */
    if (!status) status = eh_encoding_fit(ctx, &t->frame, rows, n, &r->fitted);
    eh_free(rows);
    return status ? eh_fail_in(ctx, status, "%s", eh_csv_name(&t->csv)) : ENHOPE_OK;
}

/* The training rows among every stride-th row of the table; NULL: all of them. Rows that are
 * skipped or dropped are not numbered, so that all rows are used if there may be some; the same
 * holds for a split by classes, which needs all labels. */
static enhope_status find_sampled_rows(enhope_context *ctx, const reading *r, int64_t stride, int64_t **rows,
                                       int64_t *count)
{
    const eh_table *t = &r->table;
    const eh_input *in = r->in;
    const int64_t *fit = in->table ? in->table->fit : NULL;
    enhope_status status = ENHOPE_OK;
    int64_t *train = NULL, trained = fit ? in->table->fit_count : 0;
    uint8_t *chosen = NULL; /* (rows of the table) */
    *rows = NULL;
    *count = t->frame.n;
    if (t->rules.skip_bad || t->rules.missing == EH_MISSING_DROP) return ENHOPE_OK;
    if (!fit && (!in->split || strchr(in->split, '.'))) return ENHOPE_OK;
    if (!fit) EH_TRY(eh_split_rows(ctx, in->split, "train", NULL, 0, t->schema.rows, &train, &trained));
    EH_CHECK(eh_new(ctx, "rows", t->schema.rows, sizeof *chosen, (void **)&chosen));
    EH_CHECK(eh_new(ctx, "rows", t->frame.n, sizeof **rows, (void **)rows));
    for (int64_t i = 0; i < trained; i++) {
        const int64_t row = fit ? fit[i] : train[i];
        if (row >= 0 && row < t->schema.rows) chosen[row] = 1;
    }
    *count = 0;
    for (int64_t i = 0; i < t->frame.n; i++)
        if (i * stride < t->schema.rows && chosen[i * stride]) (*rows)[(*count)++] = i;
cleanup:
    eh_free(train);
    eh_free(chosen);
    return status;
}

/* Reads evenly spaced rows and fits the encoding to them. */
static enhope_status fit_sample(enhope_context *ctx, reading *r)
{
    eh_table *t = &r->table;
    if (is_pixels(&t->schema)) return encode_pixels(ctx, r);
    const int64_t rows = eh_max(SAMPLE_VALUES / t->frame.columns, 2), stride = (t->schema.rows + rows - 1) / rows;
    eh_kept *kept = t->kept;
    t->kept = NULL;
    EH_TRY(eh_table_next(ctx, t, rows, stride));
    for (int64_t j = 0; j < t->schema.columns; j++)
        if (t->source[j] >= 0) {
            const eh_column_schema *c = &t->schema.column[j];
            t->frame.column[t->source[j]].varies = c->distinct > 1 || c->minimum < c->maximum;
        }
    t->kept = kept;
    int64_t *chosen = NULL, n;
    enhope_status status = find_sampled_rows(ctx, r, stride, &chosen, &n);
    if (!status) status = eh_encoding_fit(ctx, &t->frame, n ? chosen : NULL, n ? n : t->frame.n, &r->fitted);
    eh_free(chosen);
    return status ? eh_fail_in(ctx, status, "%s", eh_csv_name(&t->csv)) : eh_table_rewind(ctx, t);
}

/* ---- rows ---- */

static enhope_status open_rows(enhope_context *ctx, reading *r)
{
    r->encoding = r->fitted ? r->fitted : r->in->encoding;
    const int64_t H = r->encoding->H;
    r->capacity = EH_SINK_VALUES / eh_max(H, r->encoding->columns) + 1;
    r->data->x = (eh_matrix){.kind = ENHOPE_F32, .H = H};
    EH_TRY(eh_new(ctx, "unseen values", r->encoding->columns, sizeof *r->unseen, (void **)&r->unseen));
    return eh_new(ctx, "values", r->capacity, (size_t)H * sizeof *r->x, (void **)&r->x);
}

/* Encodes the rows first .. first + n of the frame and passes them to the sink. */
static enhope_status pass_rows(enhope_context *ctx, reading *r, const int64_t *rows, int64_t first, int64_t n)
{
    const eh_table *t = &r->table;
    EH_TRY(eh_encode(ctx, r->encoding, &t->frame, rows, n, r->x, r->unseen));
    const eh_matrix x = {.kind = ENHOPE_F32, .n = n, .H = r->encoding->H, .f32 = r->x};
    r->sink->reserve = t->rows + (t->found ? eh_text_guess(&t->csv.text, t->rows) : 0);
    return r->sink->take(ctx, r->sink, &x, t->schema.label >= 0 ? t->labels.id + first : NULL,
                         eh_stream_share(&t->csv.text.stream));
}

/* ---- all rows ---- */

/* Passes a frame of the whole table, in blocks. */
static enhope_status pass_frame(enhope_context *ctx, reading *r)
{
    const int64_t n = r->table.frame.n;
    enhope_status status = ENHOPE_OK;
    int64_t *rows = NULL;
    EH_TRY(eh_new(ctx, "rows", n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n; i++) rows[i] = i;
    for (int64_t first = 0; first < n && !r->sink->full; first += r->capacity)
        EH_CHECK(pass_rows(ctx, r, rows + first, first, eh_min(r->capacity, n - first)));
cleanup:
    eh_free(rows);
    return status;
}

/* Reads and passes the table in chunks. */
static enhope_status pass_chunks(enhope_context *ctx, reading *r)
{
    while (!r->sink->full) {
        EH_TRY(eh_table_next(ctx, &r->table, r->capacity, 1));
        if (r->table.frame.n == 0) break;
        eh_position_count(&r->position, &r->table);
        EH_TRY(pass_rows(ctx, r, NULL, 0, r->table.frame.n));
    }
    return ENHOPE_OK;
}

static enhope_status read_rows(enhope_context *ctx, reading *r)
{
    eh_table *t = &r->table;
    int64_t values;
    const bool whole = !r->in->encoding && eh_mul(t->schema.rows, t->frame.columns, &values) && values <= WHOLE_VALUES;
    if (whole) {
        EH_TRY(eh_table_next(ctx, t, t->schema.rows, 1));
        EH_TRY(fit(ctx, r));
    } else if (!r->in->encoding) {
        EH_TRY(fit_sample(ctx, r));
    }
    EH_TRY(open_rows(ctx, r));
    EH_TRY(eh_position_open(ctx, t, &r->position));
    return whole ? pass_frame(ctx, r) : pass_chunks(ctx, r);
}

/* ---- the end ---- */

/* Warns of classes whose names differ only in case. */
static void warn_case(enhope_context *ctx, const eh_labels *labels, const char *where)
{
    enum { MAX_CLASSES = 1000 };
    for (int32_t k = 1; k < labels->c && labels->c <= MAX_CLASSES; k++)
        for (int32_t i = 0; i < k; i++)
            if (strcasecmp(labels->name[i], labels->name[k]) == 0) {
                eh_log(ctx, ENHOPE_LOG_WARNING,
                       "%s: '%.60s' and '%.60s' are two classes; write them alike if they are one", where,
                       labels->name[i], labels->name[k]);
                break;
            }
}

/* Moves names, classes, encoding and schema to the data set. */
static enhope_status finish(enhope_context *ctx, reading *r)
{
    enhope_dataset *data = r->data;
    eh_table *t = &r->table;
    EH_TRY(eh_position_fail(ctx, &r->position, t));
    eh_table_log(ctx, t);
    if (r->in->encoding) eh_unseen_warn(ctx, r->encoding, r->unseen);
    warn_case(ctx, &t->labels, eh_csv_name(&t->csv));
    EH_TRY(eh_encoding_input_names(ctx, r->encoding, &data->input_name));
    if (!eh_encoding_is_plain(r->encoding)) {
        if (!r->fitted) EH_TRY(eh_encoding_copy(ctx, r->encoding, &r->fitted));
        data->encoding = r->fitted;
        r->fitted = NULL;
    }
    eh_labels_move_names(&t->labels, data);
    if (!data->origin) return ENHOPE_OK;
    eh_kept *kept = &data->origin->kept;
    for (int64_t k = 0; k < kept->columns; k++)
        EH_TRY(eh_new_text(ctx, "a column name", t->schema.column[t->schema.kept[k]].name, &kept->name[k]));
    data->origin->schema = t->schema;
    t->schema = (eh_schema){.label = EH_LABEL_NONE};
    return ENHOPE_OK;
}

enhope_status eh_read_csv(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    reading r = {.in = in, .data = data, .sink = sink};
    EH_CHECK(eh_table_open(ctx, in, &r.table));
    if (r.table.schema.weighted && !sink->resident)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: shards have no weights; leave out --weight",
                         eh_csv_name(&r.table.csv)));
    if (sink->resident) {
        EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *data->origin, (void **)&data->origin));
        eh_kept *kept = &data->origin->kept;
        EH_CHECK(eh_new(ctx, "column names", r.table.schema.kept_columns, sizeof *kept->name, (void **)&kept->name));
        kept->columns = r.table.schema.kept_columns;
        r.table.kept = kept;
    }
    EH_CHECK(read_rows(ctx, &r));
    EH_CHECK(finish(ctx, &r));
cleanup:
    eh_encoding_free(r.fitted);
    eh_position_free(&r.position);
    eh_free(r.unseen);
    eh_free(r.x);
    eh_table_close(&r.table);
    return status;
}

enhope_status eh_read_weights(enhope_context *ctx, enhope_dataset *data, const char *path)
{
    double *weight = NULL;
    if (!data->origin || !data->origin->schema.weighted) return ENHOPE_OK;
    const char decimal = data->origin->schema.decimal == ',' ? ',' : '.';
    EH_TRY(eh_new(ctx, "weights", data->x.n, sizeof *weight, (void **)&weight));
    for (int64_t i = 0; i < data->x.n; i++) {
        const char *text = enhope_dataset_text(data, data->origin->kept.columns - 1, i);
        (void)eh_field_number(text, strlen(text), decimal, &weight[i]); /* eh_table_store has checked it */
    }
    enhope_status status = enhope_dataset_set_weights(ctx, data, weight);
    if (status) status = eh_fail_in(ctx, status, "%s", path);
    eh_free(weight);
    return status;
}

/* ---- labels alone ---- */

static bool is_text(const eh_field *one)
{
    double value;
    return !eh_field_missing(one->text, one->length) &&
           eh_number_parse(one->text, one->length, &value) == EH_NOT_NUMBER;
}

static bool is_name(const eh_field *one)
{
    static const char *const names[] = {"label", "labels", "class", "target"};
    for (int i = 0; i < 4; i++)
        if (one->length == strlen(names[i]) && strncasecmp(one->text, names[i], one->length) == 0) return true;
    return false;
}

/* A file of labels only. Its first line is a header if it is label, class, target or labels, or a
 * text followed by a number. */
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels)
{
    enhope_status status = ENHOPE_OK;
    eh_csv f;
    bool found, first = true, first_text = false;
    EH_TRY(eh_csv_open(ctx, path, NULL, '\0', &f));
    EH_CHECK(eh_csv_next(ctx, &f, &found));
    for (; found; first = false) {
        const eh_field *one = &f.field[0];
        if (f.fields != 1)
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%lld: %lld fields, expected 1 (a label)", eh_csv_name(&f),
                             (long long)f.line, (long long)f.fields));
        if (labels->n == 1 && first_text && !is_text(one)) { /* the text before this number was a header */
            eh_labels_free(labels);
            first_text = false;
        }
        if (!(first && is_name(one))) {
            if (first) first_text = is_text(one);
            status = eh_labels_add(ctx, labels, one->text, one->length);
            if (status) {
                eh_fail_in(ctx, status, "%s:%lld", eh_csv_name(&f), (long long)f.line);
                goto cleanup;
            }
        }
        EH_CHECK(eh_csv_next(ctx, &f, &found));
    }
cleanup:
    eh_csv_close(&f);
    return status;
}
