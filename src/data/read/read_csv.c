/* CSV and TSV: one sample per line, quoted fields as in RFC 4180, an optional header and an
 * optional label column.
 *
 * The delimiter is the tab in *.tsv, otherwise the most frequent of , ; and tab in the first line.
 * The first line is a header if it contains a text outside the label column, or one of the words
 * label, class, target. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/read/read.h"

typedef struct field {
    char *text; /* in the window, not terminated */
    size_t length;
    bool quoted;
} field;

typedef struct csv {
    eh_text text;
    char delimiter;
    int64_t line; /* first line of the record */
    field *field; /* (fields) of the record */
    int64_t fields, capacity;
    int64_t columns, first_line; /* number of fields of every record, and the line that set it */
    int64_t label;               /* label column, -1: none */
    char **name;                 /* (columns) from the header, or NULL */
} csv;

/* ---- records ---- */

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\r') return false;
    return true;
}

static bool is_delimiter(const csv *f, char c)
{
    return f->delimiter ? c == f->delimiter : c == ',' || c == ';' || c == '\t';
}

/* Finds the length of the record at the window, without its newline; false if its end is not in the
 * window. */
static bool find_end(const csv *f, size_t *length, int64_t *newlines, bool *open)
{
    const char *begin = f->text.buffer + f->text.at, *const end = f->text.buffer + f->text.used;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    const char *stop = newline ? newline : end;
    *newlines = 0;
    *open = false;
    if (!memchr(begin, '"', (size_t)(stop - begin))) {
        *length = (size_t)(stop - begin);
        return newline != NULL;
    }
    bool fresh = true; /* at the start of a field */
    const char *at = begin;
    for (; at < end && (*open || *at != '\n'); at++) {
        if (*open) {
            *newlines += *at == '\n';
            if (*at == '"') *open = at + 1 < end && at[1] == '"' ? (at++, true) : false;
        } else {
            if (fresh && *at == '"') *open = true;
            fresh = is_delimiter(f, *at);
        }
    }
    *length = (size_t)(at - begin);
    return at < end;
}

static enhope_status add_field(enhope_context *ctx, csv *f, field one)
{
    if (f->fields == f->capacity) {
        const int64_t capacity = f->capacity ? 2 * f->capacity : 64;
        field *grown = eh_grow(f->field, (size_t)f->fields, (size_t)capacity, sizeof *grown);
        if (!grown) return eh_fail_memory(ctx, "fields of a line", (size_t)capacity, sizeof *grown);
        f->field = grown;
        f->capacity = capacity;
    }
    f->field[f->fields++] = one;
    return ENHOPE_OK;
}

/* Unquotes the field at `at` in place: doubled quotes become one. Moves *at to the delimiter or the
 * end. */
static enhope_status unquote(enhope_context *ctx, const csv *f, char **at, const char *end, field *one)
{
    char *from = *at + 1, *to = *at;
    *one = (field){.text = to, .quoted = true};
    for (; from < end; from++) {
        if (*from == '"') {
            if (from + 1 < end && from[1] == '"')
                from++;
            else
                break;
        }
        *to++ = *from;
    }
    one->length = (size_t)(to - one->text);
    if (from < end) from++; /* the closing quote */
    while (from < end && *from == ' ') from++;
    if (from < end && *from != f->delimiter)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s:%lld: text follows a closing quote: expected '%s' or the end of the line",
                       f->text.stream.name, (long long)f->line, f->delimiter == '\t' ? "tab" : (char[2]){f->delimiter});
    *at = from;
    return ENHOPE_OK;
}

static enhope_status split_record(enhope_context *ctx, csv *f, char *at, size_t length)
{
    char *end = at + length;
    if (end > at && end[-1] == '\r') end--;
    f->fields = 0;
    for (;;) {
        field one = {.text = at};
        if (at < end && *at == '"') {
            EH_TRY(unquote(ctx, f, &at, end, &one));
        } else {
            char *stop = at < end ? memchr(at, f->delimiter, (size_t)(end - at)) : NULL;
            if (!stop) stop = end;
            const char *last = stop;
            while (one.text < last && *one.text == ' ') one.text++;
            while (last > one.text && last[-1] == ' ') last--;
            one.length = (size_t)(last - one.text);
            at = stop;
        }
        EH_TRY(add_field(ctx, f, one));
        if (at >= end) return ENHOPE_OK;
        at++;
    }
}

/* The most frequent candidate of the first record; a tie goes to the comma. */
static char sniff_delimiter(const char *text, size_t length)
{
    int64_t count[3] = {0, 0, 0};
    bool open = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') open = !open;
        if (!open) count[0] += text[i] == ',', count[1] += text[i] == ';', count[2] += text[i] == '\t';
    }
    return count[2] > count[0] && count[2] > count[1] ? '\t' : count[1] > count[0] ? ';' : ',';
}

/* Reads the next record that is not blank; *found is false at the end. */
static enhope_status next_record(enhope_context *ctx, csv *f, bool *found)
{
    eh_text *t = &f->text;
    for (;;) {
        size_t length = 0;
        int64_t newlines = 0;
        bool open = false;
        while (!find_end(f, &length, &newlines, &open) && !t->end) EH_TRY(eh_text_more(ctx, t));
        if (open)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s:%lld: a quoted field is not closed", t->stream.name,
                           (long long)t->line);
        if (t->at == t->used) break;
        char *record = t->buffer + t->at;
        f->line = t->line;
        t->line += newlines + 1;
        t->at += length + (t->at + length < t->used);
        if (is_blank(record, length)) continue;
        if (!f->delimiter) f->delimiter = sniff_delimiter(record, length);
        *found = true;
        return split_record(ctx, f, record, length);
    }
    *found = false;
    return ENHOPE_OK;
}

/* ---- the header and the label column ---- */

static bool is_name(const field *one, const char *name)
{
    return one->length == strlen(name) && strncasecmp(one->text, name, one->length) == 0;
}

/* Neither a number nor a missing value. */
static bool is_text(const field *one)
{
    double value;
    return one->length > 0 && !is_name(one, "?") && eh_number_parse(one->text, one->length, &value) == EH_NOT_NUMBER;
}

/* 1-based index as text, or 0. */
static int64_t parse_index(const char *text)
{
    double value;
    const bool ok = eh_number_parse(text, strlen(text), &value) == EH_NUMBER && value >= 1 && value < 1e15;
    return ok && value == floor(value) ? (int64_t)value : 0;
}

static enhope_status keep_names(enhope_context *ctx, csv *f)
{
    EH_TRY(eh_new(ctx, "column names", f->fields, sizeof *f->name, (void **)&f->name));
    for (int64_t j = 0; j < f->fields; j++) {
        if (!eh_utf8_valid(f->field[j].text, f->field[j].length))
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "%s:%lld: the name of column %lld is not UTF-8 text: convert the file", f->text.stream.name,
                           (long long)f->line, (long long)j + 1);
        f->name[j] = eh_alloc(f->field[j].length + 1, 1);
        if (!f->name[j]) return eh_fail_memory(ctx, "a column name", f->field[j].length + 1, 1);
        memcpy(f->name[j], f->field[j].text, f->field[j].length);
    }
    return ENHOPE_OK;
}

/* From the first record: finds the label column and decides whether the record is a header. */
static enhope_status decide_columns(enhope_context *ctx, csv *f, const char *label, int64_t inputs)
{
    static const char *const usual[] = {"label", "class", "target", "labels", "y"};
    const bool none = label && strcmp(label, "none") == 0;
    bool header = false;
    f->columns = f->fields;
    f->first_line = f->line;
    f->label = none || (!label && f->fields == inputs) ? -1 : f->fields - 1;
    if (label && !none) {
        f->label = -1;
        for (int64_t j = 0; j < f->fields && f->label < 0; j++)
            if (f->field[j].length == strlen(label) && memcmp(f->field[j].text, label, strlen(label)) == 0)
                f->label = j;
        const int64_t index = parse_index(label);
        header = f->label >= 0 && !index;
        if (index) f->label = index <= f->fields ? index - 1 : -1;
        if (f->label < 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                           "%s: no label column '%.60s': expected a name in line %lld or a number 1 to %lld",
                           f->text.stream.name, label, (long long)f->line, (long long)f->fields);
    }
    for (int64_t j = 0; j < f->fields && !header; j++)
        header = (j != f->label && is_text(&f->field[j])) || is_name(&f->field[j], "label") ||
                 is_name(&f->field[j], "class") || is_name(&f->field[j], "target");
    if (!header) return ENHOPE_OK;
    if (!label) {
        bool found = false;
        for (size_t i = 0; i < sizeof usual / sizeof *usual && !found; i++)
            for (int64_t j = 0; j < f->fields && !found; j++)
                if (is_name(&f->field[j], usual[i])) f->label = j, found = true;
    }
    return keep_names(ctx, f);
}

/* ---- conversion of fields to numbers; the place to encode other types ---- */

static enhope_status fail_field(enhope_context *ctx, const csv *f, int64_t j, const char *why)
{
    char column[128] = "";
    if (f->name) snprintf(column, sizeof column, " ('%.60s')", f->name[j]);
    return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%lld: column %lld%s: %s", f->text.stream.name, (long long)f->line,
                   (long long)j + 1, column, why);
}

static enhope_status fail_number(enhope_context *ctx, const csv *f, int64_t j, eh_number_kind kind)
{
    const field *one = &f->field[j];
    char why[128];
    snprintf(why, sizeof why, kind == EH_NOT_NUMBER ? "'%.*s' is not a number" : "'%.*s' is not a finite number",
             one->length < 40 ? (int)one->length : 40, one->text);
    return fail_field(ctx, f, j, why);
}

/* Converts the current record to a row: numbers to x, its label to labels. */
static enhope_status encode_record(enhope_context *ctx, csv *f, float *x, eh_labels *labels)
{
    if (f->fields != f->columns)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%lld: %lld fields, expected %lld (as in line %lld)",
                       f->text.stream.name, (long long)f->line, (long long)f->fields, (long long)f->columns,
                       (long long)f->first_line);
    for (int64_t j = 0; j < f->fields; j++) {
        const field *one = &f->field[j];
        if (one->length == 0 && j != f->label) return fail_field(ctx, f, j, "the value is missing: expected a number");
        if (j == f->label) {
            const enhope_status status = eh_labels_add(ctx, labels, one->text, one->length);
            if (status)
                return eh_fail_in(ctx, status, "%s:%lld: column %lld", f->text.stream.name, (long long)f->line,
                                  (long long)j + 1);
            continue;
        }
        double value;
        eh_number_kind kind = eh_number_parse(one->text, one->length, &value);
        if (kind == EH_NUMBER && fabs(value) > (double)FLT_MAX) kind = EH_NOT_FINITE;
        if (kind != EH_NUMBER) return fail_number(ctx, f, j, kind);
        *x++ = (float)value;
    }
    return ENHOPE_OK;
}

static enhope_status open_csv(enhope_context *ctx, const char *path, csv *f)
{
    const size_t length = strlen(path);
    *f = (csv){.label = -1};
    EH_TRY(eh_text_open(ctx, path, &f->text));
    const bool tsv = (length > 4 && strcasecmp(path + length - 4, ".tsv") == 0) ||
                     (length > 7 && strcasecmp(path + length - 7, ".tsv.gz") == 0);
    f->delimiter = tsv ? '\t' : '\0';
    return ENHOPE_OK;
}

static void close_csv(csv *f)
{
    for (int64_t j = 0; f->name && j < f->columns; j++) eh_free(f->name[j]);
    eh_free(f->name);
    eh_free(f->field);
    eh_text_close(&f->text);
}

/* Moves the names of the inputs to data. */
static enhope_status move_names(enhope_context *ctx, csv *f, enhope_dataset *data)
{
    if (!f->name) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "column names", data->x.H, sizeof *data->input_name, (void **)&data->input_name));
    int64_t at = 0;
    for (int64_t j = 0; j < f->columns; j++) {
        if (j == f->label) continue;
        data->input_name[at++] = f->name[j];
        f->name[j] = NULL;
    }
    return ENHOPE_OK;
}

/* Rows read but not yet passed to the sink. */
typedef struct rows {
    float *x;            /* (capacity, H) */
    int64_t n, capacity; /* rows in x */
    int64_t total;       /* rows of the file so far */
    eh_labels labels;    /* labels of these rows; class names of all */
} rows;

static enhope_status flush_rows(enhope_context *ctx, const csv *f, int64_t H, rows *r, eh_sink *sink)
{
    const eh_matrix x = {.kind = ENHOPE_F32, .n = r->n, .H = H, .f32 = r->x};
    if (r->n == 0) return ENHOPE_OK;
    sink->reserve = r->total + eh_text_guess(&f->text, r->total);
    r->n = r->labels.n = 0;
    return sink->take(ctx, sink, &x, f->label >= 0 ? r->labels.id : NULL, eh_stream_share(&f->text.stream));
}

/* Reads the current record and all after it. */
static enhope_status read_records(enhope_context *ctx, csv *f, int64_t H, rows *r, eh_sink *sink)
{
    bool found = true;
    r->capacity = EH_SINK_VALUES / H + 1;
    EH_TRY(eh_new(ctx, "values", r->capacity, (size_t)H * sizeof *r->x, (void **)&r->x));
    if (f->name) EH_TRY(next_record(ctx, f, &found));
    while (found && !sink->full) {
        if (r->n == r->capacity) {
            EH_TRY(flush_rows(ctx, f, H, r, sink));
            continue;
        }
        EH_TRY(encode_record(ctx, f, r->x + r->n * H, &r->labels));
        r->n++;
        r->total++;
        EH_TRY(next_record(ctx, f, &found));
    }
    return sink->full ? ENHOPE_OK : flush_rows(ctx, f, H, r, sink);
}

enhope_status eh_read_csv(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    rows r = {.n = 0};
    csv f;
    bool found;
    EH_TRY(open_csv(ctx, in->path, &f));
    EH_CHECK(next_record(ctx, &f, &found));
    if (!found) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are only blank lines", f.text.stream.name));
    EH_CHECK(decide_columns(ctx, &f, in->labeled ? in->label : "none", in->inputs));
    const int64_t H = f.columns - (f.label >= 0);
    if (H == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: line %lld has one column, the label: there are no inputs",
                         f.text.stream.name, (long long)f.first_line));
    data->x = (eh_matrix){.kind = ENHOPE_F32, .H = H};
    EH_CHECK(read_records(ctx, &f, H, &r, sink));
    EH_CHECK(move_names(ctx, &f, data));
    eh_labels_move_names(&r.labels, data);
cleanup:
    eh_free(r.x);
    eh_labels_free(&r.labels);
    close_csv(&f);
    return status;
}

/* A file of labels only. Its first line is a header if it is label, class, target or labels, or a
 * text followed by a number. */
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels)
{
    enhope_status status = ENHOPE_OK;
    csv f;
    bool found, first = true, first_text = false;
    EH_TRY(open_csv(ctx, path, &f));
    EH_CHECK(next_record(ctx, &f, &found));
    for (; found; first = false) {
        const field *one = &f.field[0];
        if (f.fields != 1)
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s:%lld: %lld fields, expected 1 (a label)", f.text.stream.name,
                             (long long)f.line, (long long)f.fields));
        const bool named =
            is_name(one, "label") || is_name(one, "labels") || is_name(one, "class") || is_name(one, "target");
        if (labels->n == 1 && first_text && !is_text(one)) { /* the text before this number was a header */
            eh_labels_free(labels);
            first_text = false;
        }
        if (!(first && named)) {
            if (labels->n == 0) first_text = is_text(one);
            status = eh_labels_add(ctx, labels, one->text, one->length);
            if (status) {
                eh_fail_in(ctx, status, "%s:%lld", f.text.stream.name, (long long)f.line);
                goto cleanup;
            }
        }
        EH_CHECK(next_record(ctx, &f, &found));
    }
cleanup:
    close_csv(&f);
    return status;
}
