/* Readers: tables whose text arrives in chunks, for the columns of a model.
 *
 * Text is stored until its line is complete (data/table/chunks.c). Rows are encoded into one data
 * set, which the reader owns and fills again with every call. Compressed text (gzip) is detected by
 * its first byte. */
#include <string.h>
#include <zlib.h>

#include "data/table/table.h"

enum { INFLATED = EH_BUFFER(1 << 16) }; /* bytes that are decompressed at once */

typedef struct unpacker {
    z_stream stream;
    char *buffer;  /* (INFLATED) NULL: the text is not compressed */
    bool complete; /* the last member of the gzip data has ended */
} unpacker;

struct enhope_reader {
    char *name;
    eh_input in;
    eh_table table;
    eh_position_check position;
    eh_unseen *unseen; /* (columns) */
    unpacker gzip;
    float *x;            /* (capacity, H) */
    int64_t capacity;    /* rows of a call */
    enhope_dataset data; /* rows of the last call; views of x, of the schema and of the encoding */
    eh_origin origin;
    int64_t limit; /* maximum rows; 0: all */
    bool started, known, bad, ended;
    bool misplaced;        /* the next row shows that the position of the label is wrong */
    enhope_status failure; /* of the text after the rows that are complete; 0: none */
    char *message;
};

/* ---- text ---- */

static enhope_status unpack(enhope_context *ctx, enhope_reader *r, const char *bytes, size_t size)
{
    unpacker *u = &r->gzip;
    u->stream.next_in = (unsigned char *)(uintptr_t)bytes;
    u->stream.avail_in = (unsigned)size;
    do {
        if (u->complete) { /* another member follows */
            inflateReset(&u->stream);
            u->complete = false;
        }
        u->stream.next_out = (unsigned char *)u->buffer;
        u->stream.avail_out = INFLATED;
        const int code = inflate(&u->stream, Z_NO_FLUSH);
        u->complete = code == Z_STREAM_END;
        EH_TRY(eh_csv_append(ctx, &r->table.csv, u->buffer, INFLATED - u->stream.avail_out));
        if (code == Z_MEM_ERROR) return eh_fail_memory(ctx, "gzip", INFLATED, 1);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data is damaged: %s", r->name,
                           u->stream.msg ? u->stream.msg : "unknown method");
    } while (u->stream.avail_in || !u->stream.avail_out);
    return ENHOPE_OK;
}

static enhope_status receive(enhope_context *ctx, enhope_reader *r, const char *text, size_t size)
{
    enum { GZIP = 0x1F, STEP = 1 << 30, DETECT = 15 + 16 };
    if (!r->started && (unsigned char)text[0] == GZIP) {
        EH_TRY(eh_new(ctx, "gzip", INFLATED, 1, (void **)&r->gzip.buffer));
        if (inflateInit2(&r->gzip.stream, DETECT) != Z_OK) {
            eh_free(r->gzip.buffer);
            r->gzip.buffer = NULL;
            return eh_fail_memory(ctx, "gzip", INFLATED, 1);
        }
    }
    r->started = true;
    if (!r->gzip.buffer) return eh_csv_append(ctx, &r->table.csv, text, size);
    for (size_t at = 0; at < size; at += STEP) EH_TRY(unpack(ctx, r, text + at, size - at < STEP ? size - at : STEP));
    return ENHOPE_OK;
}

/* ---- rows ---- */

static enhope_status open_rows(enhope_context *ctx, enhope_reader *r)
{
    eh_table *t = &r->table;
    eh_encoding *encoding = r->in.encoding;
    eh_kept *kept = &r->origin.kept;
    r->capacity = EH_SINK_VALUES / eh_max(encoding->H, encoding->columns) + 1;
    EH_TRY(eh_position_open(ctx, t, &r->position));
    EH_TRY(eh_new(ctx, "unseen values", encoding->columns, sizeof *r->unseen, (void **)&r->unseen));
    EH_TRY(eh_new(ctx, "values", r->capacity, (size_t)encoding->H * sizeof *r->x, (void **)&r->x));
    EH_TRY(eh_new(ctx, "column names", t->schema.kept_columns, sizeof *kept->name, (void **)&kept->name));
    kept->columns = t->schema.kept_columns;
    for (int64_t k = 0; k < kept->columns; k++)
        EH_TRY(eh_new_text(ctx, "a column name", t->schema.column[t->schema.kept[k]].name, &kept->name[k]));
    t->kept = kept;
    r->origin.schema = t->schema;
    r->data.x = (eh_matrix){.kind = ENHOPE_F32, .H = encoding->H, .f32 = r->x};
    r->data.origin = &r->origin;
    r->data.encoding = eh_encoding_is_plain(encoding) ? NULL : encoding;
    return eh_encoding_input_names(ctx, encoding, &r->data.input_name);
}

static bool is_full(const enhope_reader *r)
{
    return r->limit > 0 && r->table.rows >= r->limit;
}

/* Fails if the text did, unless no more of it is needed. */
static enhope_status fail_text(enhope_context *ctx, const enhope_reader *r)
{
    if (!r->failure || is_full(r)) return ENHOPE_OK;
    return eh_fail(ctx, r->failure, "%s", r->message ? r->message : "out of memory");
}

/* Fails if the next row does, and the rows before it were returned. */
static enhope_status fail_row(enhope_context *ctx, const enhope_reader *r)
{
    if (r->misplaced) return eh_position_fail(ctx, &r->position, &r->table);
    return r->bad ? eh_problems_fail(ctx, &r->table.problems, r->name) : ENHOPE_OK;
}

/* Encodes the next rows that are complete; *out is NULL if there is none. */
static enhope_status next_rows(enhope_context *ctx, enhope_reader *r, const enhope_dataset **out)
{
    eh_table *t = &r->table;
    if (!r->known) {
        EH_TRY(eh_table_find_columns(ctx, t, &r->known));
        if (r->known) EH_TRY(open_rows(ctx, r));
    }
    int64_t n = 0;
    if (r->known && !is_full(r)) {
        r->origin.kept.n = r->origin.kept.used = 0;
        EH_TRY(eh_table_next_chunks(ctx, t, r->limit ? eh_min(r->capacity, r->limit - t->rows) : r->capacity, &r->bad));
        n = eh_position_good_rows(&r->position, t);
        r->misplaced = n < t->frame.n;
        if (n == 0) EH_TRY(eh_position_fail(ctx, &r->position, t));
        EH_TRY(eh_encode(ctx, r->in.encoding, &t->frame, NULL, n, r->x, r->unseen));
    }
    if (n == 0 && r->bad) return eh_problems_fail(ctx, &t->problems, r->name);
    r->data.x.n = n;
    if (n == 0) EH_TRY(fail_text(ctx, r));
    *out = n ? &r->data : NULL;
    return ENHOPE_OK;
}

enhope_status enhope_reader_take(enhope_context *ctx, enhope_reader *r, const char *text, size_t size,
                                 const enhope_dataset **out)
{
    EH_TRY(fail_row(ctx, r));
    if (r->ended) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: text follows its end", r->name);
    if (size > 0 && !is_full(r) && !r->failure) {
        r->failure = receive(ctx, r, text, size);
        if (r->failure) EH_TRY(eh_new_text(ctx, "a message", enhope_error(ctx), &r->message));
    }
    return next_rows(ctx, r, out);
}

enhope_status enhope_reader_end(enhope_context *ctx, enhope_reader *r, const enhope_dataset **out)
{
    const enhope_dataset *rows = NULL;
    EH_TRY(fail_row(ctx, r));
    EH_TRY(fail_text(ctx, r)); /* its last line may be cut */
    if (!r->ended && r->gzip.buffer && !r->gzip.complete && !is_full(r))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the gzip data ends early: the file is truncated", r->name);
    if (!r->started) return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the file is empty", r->name);
    eh_csv_end(&r->table.csv);
    r->ended = true;
    EH_TRY(next_rows(ctx, r, &rows));
    if (!rows) {
        eh_table_log(ctx, &r->table);
        if (r->known) eh_unseen_warn(ctx, r->in.encoding, r->unseen);
        if (r->table.rows == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", r->name);
    }
    *out = rows;
    return ENHOPE_OK;
}

/* ---- create and free ---- */

static enhope_status open_reader(enhope_context *ctx, const enhope_source *source, enhope_reader *r)
{
    EH_TRY(eh_new_text(ctx, "a name", strcmp(source->path, "-") ? source->path : "standard input", &r->name));
    r->limit = source->limit;
    r->in = (eh_input){.path = r->name,
                       .labeled = eh_source_labeled(source),
                       .label = source->label,
                       .table = source->table,
                       .model = source->model};
    EH_TRY(eh_model_encoding(ctx, source->model, &r->in.encoding));
    return eh_table_open_chunks(ctx, &r->in, &r->table);
}

enhope_status enhope_reader_create(enhope_context *ctx, const enhope_source *source, enhope_reader **out)
{
    enhope_reader *r = NULL;
    if (!source->path || !source->model)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a reader needs a name (path) and a model that has the columns");
    if (source->split || source->part || source->variables)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a reader has no split, parts or variables");
    if (source->limit < 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "limit is %lld: expected 0 (all samples) or more",
                       (long long)source->limit);
    EH_TRY(eh_new(ctx, "a reader", 1, sizeof *r, (void **)&r));
    const enhope_status status = open_reader(ctx, source, r);
    if (status)
        enhope_reader_free(r);
    else
        *out = r;
    return status;
}

void enhope_reader_free(enhope_reader *r)
{
    if (!r) return;
    if (r->gzip.buffer) inflateEnd(&r->gzip.stream);
    eh_free(r->gzip.buffer);
    eh_names_free(r->data.input_name, r->data.x.H);
    eh_kept_clear(&r->origin.kept);
    eh_position_free(&r->position);
    eh_free(r->unseen);
    eh_free(r->x);
    eh_table_close(&r->table);
    eh_encoding_free(r->in.encoding);
    eh_free(r->message);
    eh_free(r->name);
    eh_free(r);
}
