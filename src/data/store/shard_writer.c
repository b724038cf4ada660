/* Writes shards: a sink that splits rows into files. Each file is complete and on disk before it is
 * listed. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/store/shard_writer.h"

enum { HEADER = 128 }; /* bytes of the NPY header */

/* ---- one file of a shard ---- */

static enhope_status fail_write(enhope_context *ctx, const char *path, int error)
{
    return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be written: %s", path, strerror(error));
}

static enhope_status write_all(enhope_context *ctx, const eh_shard_file *f, const void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pwrite(f->fd, (const char *)bytes + done, size - done, at + (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail_write(ctx, f->path, n < 0 ? errno : ENOSPC);
        done += (size_t)n;
    }
    return ENHOPE_OK;
}

static enhope_status file_add(enhope_context *ctx, eh_shard_file *f, const void *bytes, size_t size)
{
    if (size == 0) return ENHOPE_OK;
    EH_TRY(write_all(ctx, f, bytes, size, HEADER + (off_t)f->bytes));
    f->crc = crc32_z(f->crc, bytes, size);
    f->bytes += (int64_t)size;
    return ENHOPE_OK;
}

/* Replaces the file of an interrupted conversion. Links are not followed, because the file that
 * they lead to is not part of the folder. */
static enhope_status file_create(enhope_context *ctx, eh_shard_file *f)
{
    struct stat old;
    f->fd = -1;
    f->bytes = 0;
    f->crc = crc32_z(0, NULL, 0);
    if (lstat(f->path, &old) == 0) {
        if (!S_ISREG(old.st_mode)) {
            const enhope_status status = eh_fail(
                ctx, ENHOPE_ERROR_IO, "%s: is not a regular file; remove it or convert to another folder", f->path);
            *f->path = '\0'; /* it is not removed */
            return status;
        }
        unlink(f->path); /* it may have a second name elsewhere */
    }
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return f->fd < 0 ? fail_write(ctx, f->path, errno) : ENHOPE_OK;
}

/* Writes the header with the final number of rows and syncs the file. columns 0: a one-dimensional
 * array. */
static enhope_status file_finish(enhope_context *ctx, eh_shard_file *f, const char *type, int64_t rows, int64_t columns,
                                 int64_t *bytes, uint32_t *crc)
{
    enhope_status status = ENHOPE_OK;
    const uint16_t probe = 1;
    const char order = strcmp(type, "u1") == 0 ? '|' : *(const unsigned char *)&probe ? '<' : '>';
    char header[HEADER], text[HEADER], shape[64];
    if (columns > 0)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    const int length =
        snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }", order, type, shape);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(header + 10, text, (size_t)length);
    header[HEADER - 1] = '\n';
    EH_CHECK(write_all(ctx, f, header, HEADER, 0));
    if (fsync(f->fd) != 0) EH_CHECK(fail_write(ctx, f->path, errno));
    *bytes = HEADER + f->bytes;
    *crc = (uint32_t)crc32_combine(crc32_z(0, (const unsigned char *)header, HEADER), f->crc, (z_off_t)f->bytes);
cleanup:
    if (close(f->fd) != 0 && !status) status = fail_write(ctx, f->path, errno);
    f->fd = -1;
    return status;
}

/* ---- shards ---- */

static bool has_array(const eh_shard_writer *w, int i)
{
    if (i == EH_LABELS) return w->labeled;
    return eh_shard_ends[w->to.kind == ENHOPE_CSR][i] != NULL;
}

static enhope_status open_shard(enhope_context *ctx, eh_shard_writer *w)
{
    w->shard = (eh_shard){.rows = 0};
    for (int i = 0; i < EH_ARRAYS; i++) *w->file[i].path = '\0'; /* those of the shard before are complete */
    w->writing = true;
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (!has_array(w, i)) continue;
        char name[EH_SHARD_NAME];
        snprintf(name, sizeof name, "%05lld.%s", (long long)w->to.shards, eh_shard_ends[w->to.kind == ENHOPE_CSR][i]);
        memcpy(w->shard.file[i].name, name, sizeof name);
        snprintf(w->file[i].path, EH_PATH, "%s/%s", w->folder, name);
        EH_TRY(file_create(ctx, &w->file[i]));
    }
    if (w->to.kind != ENHOPE_CSR) return ENHOPE_OK;
    const int64_t zero = 0;
    return file_add(ctx, &w->file[EH_STARTS], &zero, sizeof zero);
}

/* Completes and syncs the files of the shard, then writes the partial list. */
enhope_status eh_shard_writer_flush(enhope_context *ctx, eh_shard_writer *w)
{
    const bool sparse = w->to.kind == ENHOPE_CSR;
    eh_shard *s = &w->shard;
    if (s->rows == 0) return ENHOPE_OK;
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (!has_array(w, i)) continue;
        const int64_t rows = i == EH_STARTS ? s->rows + 1 : i == EH_LABELS || !sparse ? s->rows : s->stored;
        const int64_t columns = i == EH_VALUES && !sparse ? w->to.H : 0;
        const char *type = i == EH_VALUES ? w->to.kind == ENHOPE_U8 ? "u1" : "f4" : i == EH_STARTS ? "i8" : "i4";
        EH_TRY(file_finish(ctx, &w->file[i], type, rows, columns, &s->file[i].bytes, &s->file[i].crc));
        if (rows > 0) continue;
        unlink(w->file[i].path); /* no values at all: no file */
        s->file[i].name[0] = '\0';
    }
    w->to.n += s->rows;
    w->to.stored += s->stored;
    EH_TRY(eh_shards_append(ctx, &w->to, s));
    s->rows = 0;
    EH_TRY(eh_shards_save(ctx, &w->to, w->folder, EH_SHARDS_PARTIAL));
    w->writing = false;
    return ENHOPE_OK;
}

static enhope_status add_sparse(enhope_context *ctx, eh_shard_writer *w, const eh_matrix *x, int64_t first, int64_t n)
{
    enhope_status status = ENHOPE_OK;
    int64_t *start = NULL;
    const int64_t begin = x->row_start[first], count = x->row_start[first + n] - begin;
    EH_TRY(eh_new(ctx, "row starts", n, sizeof *start, (void **)&start));
    for (int64_t i = 0; i < n; i++) start[i] = w->shard.stored + x->row_start[first + i + 1] - begin;
    EH_CHECK(file_add(ctx, &w->file[EH_STARTS], start, (size_t)n * sizeof *start));
    if (count > 0) { /* rows without values have no arrays */
        EH_CHECK(file_add(ctx, &w->file[EH_COLUMNS], x->column + begin, (size_t)count * sizeof *x->column));
        EH_CHECK(file_add(ctx, &w->file[EH_VALUES], x->value + begin, (size_t)count * sizeof *x->value));
    }
    w->shard.stored += count;
cleanup:
    eh_free(start);
    return status;
}

/* Number of rows from `first` on that belong to the current shard, at least 1. */
static int64_t rows_of_shard(const eh_shard_writer *w, const eh_matrix *x, int64_t first)
{
    int64_t max = w->shard_rows > 0 ? w->shard_rows - w->shard.rows : x->n, n = x->n - first;
    if (w->shard_rows <= 0 && x->kind != ENHOPE_CSR) {
        const int64_t row = eh_store_bytes(x->kind, x->H, 1, 0), whole = w->shard_bytes / row;
        max = (whole > 0 ? whole : 1) - w->shard.rows;
    } else if (w->shard_rows <= 0) {
        max = 0;
        int64_t bytes = eh_store_bytes(x->kind, x->H, w->shard.rows, w->shard.stored);
        do {
            bytes += (int64_t)sizeof(int64_t) + 8 * (x->row_start[first + max + 1] - x->row_start[first + max]);
            max++;
        } while (max < n && bytes < w->shard_bytes);
    }
    return n < max ? n : max;
}

static bool shard_is_full(const eh_shard_writer *w)
{
    if (w->shard_rows > 0) return w->shard.rows >= w->shard_rows;
    const int64_t row = w->to.kind == ENHOPE_CSR ? 0 : eh_store_bytes(w->to.kind, w->to.H, 1, 0);
    return row > 0 ? w->shard.rows >= (w->shard_bytes / row > 0 ? w->shard_bytes / row : 1)
                   : eh_store_bytes(ENHOPE_CSR, 0, w->shard.rows, w->shard.stored) >= w->shard_bytes;
}

static enhope_status report(eh_shard_writer *w, double share)
{
    enhope_conversion *at = &w->at;
    at->rows = w->to.n + w->shard.rows;
    at->share = share;
    at->seconds = eh_seconds() - w->start;
    if (isnan(w->share_start)) w->share_start = share;
    const double gone = share - w->share_start;
    at->seconds_left = gone > 0 ? at->seconds * (1 - share) / gone : NAN;
    return w->progress && w->progress(at, w->user) ? ENHOPE_STOPPED : ENHOPE_OK;
}

static enhope_status begin(enhope_context *ctx, eh_shard_writer *w, const eh_matrix *x, const int32_t *label)
{
    w->begun = true;
    w->labeled = label != NULL;
    if (w->to.shards == 0) {
        w->to.kind = x->kind;
        w->to.H = x->H;
        return ENHOPE_OK;
    }
    const bool labeled = *w->to.shard[0].file[EH_LABELS].name;
    if (w->to.kind != x->kind || (x->kind != ENHOPE_CSR && w->to.H != x->H) || labeled != w->labeled)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: the existing shards have other inputs; remove the folder and convert again", w->folder);
    return ENHOPE_OK;
}

static bool reached_limit(const eh_shard_writer *w)
{
    return w->limit > 0 && w->to.n + w->shard.rows >= w->limit;
}

/* Adds the rows first .. first + n of x, which all belong to the open shard. */
static enhope_status add_rows(enhope_context *ctx, eh_shard_writer *w, const eh_matrix *x, const int32_t *label,
                              int64_t first, int64_t n)
{
    if (x->kind == ENHOPE_CSR) {
        EH_TRY(add_sparse(ctx, w, x, first, n));
    } else {
        const size_t row = (size_t)eh_store_bytes(x->kind, x->H, 1, 0);
        const char *values = x->kind == ENHOPE_U8 ? (const char *)x->u8 : (const char *)x->f32;
        EH_TRY(file_add(ctx, &w->file[EH_VALUES], values + (size_t)first * row, (size_t)n * row));
        w->shard.stored += n * x->H;
    }
    if (label) EH_TRY(file_add(ctx, &w->file[EH_LABELS], label + first, (size_t)n * sizeof *label));
    w->shard.rows += n;
    return ENHOPE_OK;
}

static enhope_status take(enhope_context *ctx, eh_sink *sink, const eh_matrix *x, const int32_t *label, double share)
{
    eh_shard_writer *w = (eh_shard_writer *)sink;
    const char *from = sink->from ? sink->from : w->source;
    EH_TRY(eh_rows_check(ctx, x, w->seen, w->data, from));
    w->seen += x->n;
    if (!w->begun) EH_TRY(begin(ctx, w, x, label));
    w->to.H = eh_max(w->to.H, x->H); /* sparse: the largest column so far */
    int64_t first = eh_min(sink->skip, x->n);
    sink->skip -= first;
    if (sink->skip > 0 || first == x->n) {
        w->share_start = NAN;
        sink->full = sink->skip == 0 && reached_limit(w);
        return report(w, share);
    }
    sink->full = reached_limit(w);
    while (first < x->n && !sink->full) {
        if (w->shard.rows == 0) EH_TRY(open_shard(ctx, w));
        int64_t n = rows_of_shard(w, x, first);
        if (w->limit > 0) n = eh_min(n, w->limit - w->to.n - w->shard.rows);
        EH_TRY(add_rows(ctx, w, x, label, first, n));
        first += n;
        if (shard_is_full(w)) EH_TRY(eh_shard_writer_flush(ctx, w));
        sink->full = reached_limit(w);
    }
    return report(w, share);
}

void eh_shard_writer_open(eh_shard_writer *w, const char *folder, const char *source)
{
    *w = (eh_shard_writer){
        .sink = {.take = take}, .folder = folder, .source = source, .start = eh_seconds(), .share_start = NAN};
    for (int i = 0; i < EH_ARRAYS; i++) w->file[i].fd = -1;
}

void eh_shard_writer_close(eh_shard_writer *w)
{
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (w->file[i].fd >= 0) close(w->file[i].fd);
        if (w->writing && *w->file[i].path) unlink(w->file[i].path);
    }
    eh_shards_free(&w->to);
}
