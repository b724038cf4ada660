/* Records of CSV and TSV text: quoted fields as in RFC 4180, with delimiters and line ends inside
 * quotes. Fields are parsed in place, in the window of the text.
 *
 * Spaces around fields without quotes are removed. Blank lines are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/table/csv.h"

/* ---- sources that can be read only once ---- */

enhope_status eh_spool_fill(enhope_context *ctx, const char *path, eh_spool *spool)
{
    enum { FIRST = 1 << 16 };
    struct stat info;
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    size_t capacity = 0, got = 0;
    *spool = (eh_spool){.bytes = NULL};
    if (strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode))) return ENHOPE_OK;
    EH_TRY(eh_stream_open(ctx, path, &s));
    spool->name = s.name;
    do {
        const size_t grown_capacity = capacity ? 2 * capacity : FIRST;
        char *grown = eh_grow(spool->bytes, spool->size, grown_capacity, 1);
        if (!grown) EH_CHECK(eh_fail_memory(ctx, "the text of a pipe", grown_capacity, 1));
        spool->bytes = grown;
        capacity = grown_capacity;
        EH_CHECK(eh_stream_read(ctx, &s, grown + spool->size, capacity - spool->size, &got));
        spool->size += got;
    } while (spool->size == capacity);
cleanup:
    eh_stream_close(&s);
    if (status) eh_spool_free(spool);
    return status;
}

void eh_spool_free(eh_spool *spool)
{
    eh_free(spool->bytes);
    *spool = (eh_spool){.bytes = NULL};
}

static enhope_status spool_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got)
{
    (void)ctx;
    const eh_spool *spool = s->state;
    const size_t left = (size_t)s->left;
    *got = want < left ? want : left;
    memcpy(to, spool->bytes + (spool->size - left), *got);
    return ENHOPE_OK;
}

/* ---- records ---- */

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\r') return false;
    return true;
}

static bool is_delimiter(const eh_csv *f, char c)
{
    return f->delimiter ? c == f->delimiter : c == ',' || c == ';' || c == '\t';
}

/* Finds the length of the record at the window, without its newline; false if its end is not in the
 * window. *open: newlines before the quote that is not closed; -1: there is none. */
static bool find_end(const eh_csv *f, size_t *length, int64_t *newlines, int64_t *open)
{
    const char *begin = f->text.buffer + f->text.at, *const end = f->text.buffer + f->text.used;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    const char *stop = newline ? newline : end;
    *newlines = 0;
    *open = -1;
    if (f->json || !memchr(begin, '"', (size_t)(stop - begin))) {
        *length = (size_t)(stop - begin);
        return newline != NULL;
    }
    bool fresh = true; /* at the start of a field */
    const char *at = begin;
    for (; at < end && (*open >= 0 || *at != '\n'); at++) {
        if (*open >= 0) {
            *newlines += *at == '\n';
            if (*at != '"') continue;
            if (at + 1 < end && at[1] == '"')
                at++;
            else
                *open = -1;
        } else {
            if (fresh && *at == '"') *open = *newlines;
            fresh = is_delimiter(f, *at);
        }
    }
    *length = (size_t)(at - begin);
    return at < end;
}

enhope_status eh_csv_grow(enhope_context *ctx, eh_csv *f)
{
    if (f->fields < f->capacity) return ENHOPE_OK;
    const int64_t capacity = f->capacity ? 2 * f->capacity : 64;
    eh_field *grown = eh_grow(f->field, (size_t)f->fields, (size_t)capacity, sizeof *grown);
    if (!grown) return eh_fail_memory(ctx, "fields of a line", (size_t)capacity, sizeof *grown);
    f->field = grown;
    f->capacity = capacity;
    return ENHOPE_OK;
}

/* Unquotes the field at `at` in place: doubled quotes become one. Returns the position of the
 * delimiter or the end; NULL: other text follows the closing quote. */
static char *unquote(const eh_csv *f, char *at, char *end, eh_field *one)
{
    char *from = at + 1, *to = at;
    one->text = to;
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
    return from < end && *from != f->delimiter ? NULL : from;
}

static enhope_status split_record(enhope_context *ctx, eh_csv *f, char *at, size_t length)
{
    const char delimiter = f->delimiter;
    char *end = at + length;
    if (end > at && end[-1] == '\r') end--;
    f->fields = 0;
    f->damaged = false;
    for (;; at++) {
        EH_TRY(eh_csv_grow(ctx, f));
        eh_field *one = &f->field[f->fields++];
        if (at < end && *at == '"') {
            at = unquote(f, at, end, one);
            if (!at) {
                f->damaged = true;
                f->fields = 0;
                return ENHOPE_OK;
            }
        } else {
            while (at < end && *at == ' ') at++;
            one->text = at;
            while (at < end && *at != delimiter) at++;
            const char *last = at;
            while (last > one->text && last[-1] == ' ') last--;
            one->length = (size_t)(last - one->text);
        }
        if (at >= end) return ENHOPE_OK;
    }
}

/* True if every comma may be a decimal comma: between digits, and the only one of its field. */
static bool has_decimal_commas(const char *text, size_t length)
{
    bool open = false, fresh = true; /* in quotes; no comma in the field so far */
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') open = !open;
        if (!open && (text[i] == ';' || text[i] == '\t')) fresh = true;
        if (open || text[i] != ',') continue;
        if (!fresh || i == 0 || i + 1 == length || !isdigit((unsigned char)text[i - 1])) return false;
        if (!isdigit((unsigned char)text[i + 1])) return false;
        fresh = false;
    }
    return true;
}

/* The most frequent candidate of the first record; a tie goes to the comma. Without a header,
 * numbers may have as many decimal commas as there are semicolons: 5,1;3,5;setosa. */
static char sniff_delimiter(const char *text, size_t length)
{
    int64_t count[3] = {0, 0, 0};
    bool open = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') open = !open;
        if (!open) count[0] += text[i] == ',', count[1] += text[i] == ';', count[2] += text[i] == '\t';
    }
    if (count[1] + count[2] > 0 && has_decimal_commas(text, length)) count[0] = 0;
    return count[2] > count[0] && count[2] > count[1] ? '\t' : count[1] > count[0] ? ';' : ',';
}

/* Takes the delimiter from a line that names it: sep=; */
static bool take_delimiter(eh_csv *f, const char *record, size_t length)
{
    if (length > 0 && record[length - 1] == '\r') length--;
    if (length != 5 || strncasecmp(record, "sep=", 4) != 0) return false;
    if (f->delimiter && f->delimiter != record[4]) return false; /* another one was given */
    f->delimiter = record[4];
    return true;
}

/* Decides the delimiter by the first record. Fails if the lines end with CR alone, because the
 * whole text is then one record. *skip: the record names the delimiter and is no data. */
static enhope_status begin_records(enhope_context *ctx, eh_csv *f, const char *record, size_t length, bool *skip)
{
    const char *end = memchr(record, '\r', length);
    if (end && end + 1 < record + length && end[1] != '\r' && !memchr(record, '"', (size_t)(end - record)))
        return eh_fail(
            ctx, ENHOPE_ERROR_FORMAT,
            "%s: lines end with a carriage return alone: expected a line feed; convert the file, for example "
            "with tr '\\r' '\\n'",
            f->text.stream.name);
    f->begun = true;
    *skip = take_delimiter(f, record, length);
    if (!f->delimiter) f->delimiter = sniff_delimiter(record, length);
    return ENHOPE_OK;
}

/* Moves over the next record that is not blank; NULL at the end. */
static enhope_status find_record(enhope_context *ctx, eh_csv *f, char **record, size_t *length)
{
    eh_text *t = &f->text;
    bool skip;
    do {
        int64_t newlines = 0, open = -1;
        skip = false;
        *record = NULL;
        while (!find_end(f, length, &newlines, &open) && !t->end) EH_TRY(eh_text_more(ctx, t));
        if (open >= 0)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s:%lld: a quoted field is not closed", t->stream.name,
                           (long long)t->line + (long long)open);
        if (t->at == t->used) return ENHOPE_OK;
        *record = t->buffer + t->at;
        f->line = t->line;
        t->line += newlines + 1;
        t->at += *length + (t->at + *length < t->used);
        if (!f->begun && !is_blank(*record, *length)) EH_TRY(begin_records(ctx, f, *record, *length, &skip));
    } while (skip || is_blank(*record, *length));
    return ENHOPE_OK;
}

enhope_status eh_csv_next(enhope_context *ctx, eh_csv *f, bool *found)
{
    char *record;
    size_t length = 0;
    EH_TRY(find_record(ctx, f, &record, &length));
    *found = record != NULL;
    if (!record) return ENHOPE_OK;
    if (!f->json) return split_record(ctx, f, record, length);
    if (!f->objects || f->key.c) return eh_json_split(ctx, f, record, length);
    EH_TRY(eh_json_header(ctx, f, record, length));
    if (f->damaged) return ENHOPE_OK;
    f->text.at = (size_t)(record - f->text.buffer); /* the line is also the first row */
    f->text.line = f->line;
    return ENHOPE_OK;
}

enhope_status eh_csv_skip(enhope_context *ctx, eh_csv *f, bool *found)
{
    char *record;
    size_t length = 0;
    EH_TRY(find_record(ctx, f, &record, &length));
    *found = record != NULL;
    return ENHOPE_OK;
}

enhope_status eh_csv_open(enhope_context *ctx, const char *path, const eh_spool *spool, char delimiter, eh_csv *f)
{
    const size_t length = strlen(path);
    const bool tsv = (length > 4 && strcasecmp(path + length - 4, ".tsv") == 0) ||
                     (length > 7 && strcasecmp(path + length - 7, ".tsv.gz") == 0);
    *f = (eh_csv){.delimiter = delimiter ? delimiter : tsv ? '\t' : '\0'};
    eh_stream s = {.name = NULL};
    if (spool && spool->bytes)
        s = (eh_stream){.name = spool->name,
                        .state = (void *)(uintptr_t)spool,
                        .read = spool_read,
                        .left = (int64_t)spool->size,
                        .stored = (int64_t)spool->size};
    else
        EH_TRY(eh_stream_open(ctx, path, &s));
    return eh_text_open_stream(ctx, &s, &f->text);
}

/* ---- a text that arrives in chunks ---- */

enhope_status eh_csv_open_chunks(enhope_context *ctx, const char *name, char delimiter, eh_csv *f)
{
    *f = (eh_csv){.delimiter = delimiter, .fresh = true, .detect = !delimiter};
    return eh_text_open_chunks(ctx, name, &f->text);
}

enhope_status eh_csv_append(enhope_context *ctx, eh_csv *f, const char *text, size_t size)
{
    enum { LONG_FIELD = 1 << 20 }; /* bytes of a field that probably lacks its closing quote */
    const enhope_status status = eh_text_append(ctx, &f->text, text, size);
    if (status == ENHOPE_ERROR_FORMAT && f->quote && !memchr(text, '\0', size)) /* the record is too long */
        return eh_fail_in(ctx, status, "a quoted field begins in line %lld", (long long)f->quote);
    if (!f->quote || f->warned || f->text.used - f->text.at < LONG_FIELD) return status;
    f->warned = true;
    eh_log(ctx, ENHOPE_LOG_WARNING,
           "%s:%lld: a quoted field begins in this line and is not closed after %d MiB, so that no row follows; check "
           "its quotes",
           f->text.stream.name, (long long)f->quote, LONG_FIELD >> 20);
    return status;
}

void eh_csv_end(eh_csv *f)
{
    f->text.end = true;
}

/* True for a line without data: it is blank, or the first one and names the delimiter. */
static bool is_passed_over(eh_csv *f, const char *line, size_t length)
{
    if (is_blank(line, length)) return true;
    if (f->begun || !take_delimiter(f, line, length)) return false;
    f->detect = false;
    return true;
}

/* Skips a byte order mark and lines without data. False: more text is needed to decide. */
static bool skip_blank(eh_csv *f)
{
    static const char mark[] = "\xEF\xBB\xBF";
    eh_text *t = &f->text;
    const size_t left = t->used - t->at;
    if (f->fresh && left) {
        const bool marked = memcmp(t->buffer + t->at, mark, left < 3 ? left : 3) == 0;
        if (marked && left < 3) return t->end;
        if (marked) t->at += 3;
        f->fresh = false;
    }
    for (const char *newline;;) {
        const char *begin = t->buffer + t->at;
        newline = memchr(begin, '\n', t->used - t->at);
        if (!newline || !is_passed_over(f, begin, (size_t)(newline - begin))) return true;
        t->at += (size_t)(newline - begin) + 1;
        t->line++;
    }
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

/* Decides by the first line whether the text is JSON: {"key" begins an object, and brackets enclose
 * an array. */
static void detect_json(eh_csv *f, size_t length)
{
    const char *begin = f->text.buffer + f->text.at, *end = begin + length;
    begin = skip_space(begin, end);
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    f->detect = false;
    if (end - begin < 2) return;
    const char *next = skip_space(begin + 1, end);
    f->objects = *begin == '{' && (*next == '"' || *next == '}');
    f->json = f->objects || (*begin == '[' && end[-1] == ']');
    if (f->json) f->delimiter = ',';
}

bool eh_csv_ready(eh_csv *f)
{
    eh_text *t = &f->text;
    size_t length;
    int64_t newlines, open;
    f->quote = 0;
    if (!skip_blank(f)) return false;
    if (f->detect) {
        const char *newline = memchr(t->buffer + t->at, '\n', t->used - t->at);
        if (!newline && !t->end) return false;
        detect_json(f, newline ? (size_t)(newline - (t->buffer + t->at)) : t->used - t->at);
    }
    const bool complete = find_end(f, &length, &newlines, &open);
    if (open >= 0) f->quote = t->line + open;
    return complete || t->end;
}

const char *eh_csv_name(const eh_csv *f)
{
    return f->text.stream.name;
}

void eh_csv_close(eh_csv *f)
{
    eh_free(f->field);
    eh_labels_free(&f->key);
    eh_text_close(&f->text);
    *f = (eh_csv){.field = NULL};
}
