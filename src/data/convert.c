/* enhope_convert: any source becomes a folder of shards, row after row, and a conversion that was stopped goes on after the
 * last shard that is complete.
 *
 * What is in shards.partial.json is on disk. Readers that cannot begin in the middle read from the start again, and the
 * rows that are there already are passed over; labels get the same numbers, since they are numbered as they appear. */
#define _DEFAULT_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/shards.h"

enum {
    PATH_SIZE = 4096,
    HEADER = 128 /* bytes of an NPY header, as written here */
};
static const int64_t USUAL_SHARD = 256000000, LARGEST_SHARD = (int64_t)1 << 40; /* bytes */

/* ---- one file of a shard ---- */

typedef struct shard_file {
    int fd; /* -1: not open */
    char path[PATH_SIZE];
    int64_t bytes; /* after the header */
    uLong crc;     /* of these */
} shard_file;

static enhope_status fail_write(enhope_context *ctx, const char *path, int error)
{
    return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be written: %s", path, strerror(error));
}

static enhope_status write_all(enhope_context *ctx, const shard_file *f, const void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pwrite(f->fd, (const char *)bytes + done, size - done, at + (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail_write(ctx, f->path, n < 0 ? errno : ENOSPC);
        done += (size_t)n;
    }
    return ENHOPE_OK;
}

static enhope_status file_add(enhope_context *ctx, shard_file *f, const void *bytes, size_t size)
{
    if (size == 0) return ENHOPE_OK;
    EH_TRY(write_all(ctx, f, bytes, size, HEADER + (off_t)f->bytes));
    f->crc = crc32_z(f->crc, bytes, size);
    f->bytes += (int64_t)size;
    return ENHOPE_OK;
}

static enhope_status file_create(enhope_context *ctx, shard_file *f)
{
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    f->bytes = 0;
    f->crc = crc32_z(0, NULL, 0);
    return f->fd < 0 ? fail_write(ctx, f->path, errno) : ENHOPE_OK;
}

/* The header, now that the rows are counted; on disk. columns 0: one index. */
static enhope_status file_finish(enhope_context *ctx, shard_file *f, const char *type, int64_t rows, int64_t columns,
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

/* ---- the writer: a sink ---- */

typedef struct writer {
    eh_sink sink; /* first: the sink is the writer */
    const char *folder;
    int lock; /* the folder, open */
    eh_shards to;
    eh_shard shard; /* the one being written; rows 0: none */
    bool writing;   /* its files are there and not yet in the list */
    shard_file file[EH_ARRAYS];
    bool begun; /* the kind and whether there are labels are known */
    bool labelled;
    int64_t shard_rows, shard_bytes; /* of a shard: so many rows, or, where that is 0, bytes */
    int64_t limit;                   /* rows in all; 0: any number */
    enhope_conversion at;
    double start, share_start; /* when, and at which share of the source, rows began to be written */
    enhope_conversion_fn progress;
    void *user;
} writer;

static bool has_array(const writer *w, int i)
{
    if (i == EH_LABELS) return w->labelled;
    return eh_shard_ends[w->to.kind == ENHOPE_CSR][i] != NULL;
}

static enhope_status open_shard(enhope_context *ctx, writer *w)
{
    w->shard = (eh_shard){.rows = 0};
    w->writing = true;
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (!has_array(w, i)) continue;
        char name[EH_SHARD_NAME];
        snprintf(name, sizeof name, "%05lld.%s", (long long)w->to.shards, eh_shard_ends[w->to.kind == ENHOPE_CSR][i]);
        memcpy(w->shard.file[i].name, name, sizeof name);
        snprintf(w->file[i].path, PATH_SIZE, "%s/%s", w->folder, name);
        EH_TRY(file_create(ctx, &w->file[i]));
    }
    if (w->to.kind != ENHOPE_CSR) return ENHOPE_OK;
    const int64_t zero = 0;
    return file_add(ctx, &w->file[EH_STARTS], &zero, sizeof zero);
}

/* Its files are complete and on disk, then the list of those that are. */
static enhope_status close_shard(enhope_context *ctx, writer *w)
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

/* What is not in the list would only take room. */
static void abandon_shard(writer *w)
{
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (w->file[i].fd >= 0) close(w->file[i].fd);
        if (w->writing && *w->file[i].path) unlink(w->file[i].path);
    }
}

static enhope_status add_sparse(enhope_context *ctx, writer *w, const eh_matrix *x, int64_t first, int64_t n)
{
    enhope_status status = ENHOPE_OK;
    int64_t *start = NULL;
    const int64_t begin = x->row_start[first], count = x->row_start[first + n] - begin;
    EH_TRY(eh_new(ctx, "row starts", n, sizeof *start, (void **)&start));
    for (int64_t i = 0; i < n; i++) start[i] = w->shard.stored + x->row_start[first + i + 1] - begin;
    EH_CHECK(file_add(ctx, &w->file[EH_STARTS], start, (size_t)n * sizeof *start));
    EH_CHECK(file_add(ctx, &w->file[EH_COLUMNS], x->column + begin, (size_t)count * sizeof *x->column));
    EH_CHECK(file_add(ctx, &w->file[EH_VALUES], x->value + begin, (size_t)count * sizeof *x->value));
    w->shard.stored += count;
cleanup:
    eh_free(start);
    return status;
}

/* How many of the rows from `first` on still belong into the shard: at least 1. */
static int64_t rows_of_shard(const writer *w, const eh_matrix *x, int64_t first)
{
    int64_t most = w->shard_rows > 0 ? w->shard_rows - w->shard.rows : x->n, n = x->n - first;
    if (w->shard_rows <= 0 && x->kind != ENHOPE_CSR) {
        const int64_t row = eh_store_bytes(x->kind, x->H, 1, 0), whole = w->shard_bytes / row;
        most = (whole > 0 ? whole : 1) - w->shard.rows;
    } else if (w->shard_rows <= 0) {
        most = 0;
        int64_t bytes = eh_store_bytes(x->kind, x->H, w->shard.rows, w->shard.stored);
        do {
            bytes += (int64_t)sizeof(int64_t) + 8 * (x->row_start[first + most + 1] - x->row_start[first + most]);
            most++;
        } while (most < n && bytes < w->shard_bytes);
    }
    return n < most ? n : most;
}

static bool shard_is_full(const writer *w)
{
    if (w->shard_rows > 0) return w->shard.rows >= w->shard_rows;
    const int64_t row = w->to.kind == ENHOPE_CSR ? 0 : eh_store_bytes(w->to.kind, w->to.H, 1, 0);
    return row > 0 ? w->shard.rows >= (w->shard_bytes / row > 0 ? w->shard_bytes / row : 1)
                   : eh_store_bytes(ENHOPE_CSR, 0, w->shard.rows, w->shard.stored) >= w->shard_bytes;
}

static enhope_status tell(enhope_context *ctx, writer *w, double share)
{
    (void)ctx;
    enhope_conversion *at = &w->at;
    at->rows = w->to.n + w->shard.rows;
    at->share = share;
    at->seconds = eh_seconds() - w->start;
    if (isnan(w->share_start)) w->share_start = share;
    const double gone = share - w->share_start;
    at->seconds_left = gone > 0 ? at->seconds * (1 - share) / gone : NAN;
    return w->progress && w->progress(at, w->user) ? ENHOPE_STOPPED : ENHOPE_OK;
}

static enhope_status begin(enhope_context *ctx, writer *w, const eh_matrix *x, const int32_t *label)
{
    w->begun = true;
    w->labelled = label != NULL;
    if (w->to.shards == 0) {
        w->to.kind = x->kind;
        w->to.H = x->H;
        return ENHOPE_OK;
    }
    const bool labelled = *w->to.shard[0].file[EH_LABELS].name;
    if (w->to.kind != x->kind || (x->kind != ENHOPE_CSR && w->to.H != x->H) || labelled != w->labelled)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: the shards that are there are of other inputs: remove the folder to begin anew", w->folder);
    return ENHOPE_OK;
}

static bool reached_limit(const writer *w)
{
    return w->limit > 0 && w->to.n + w->shard.rows >= w->limit;
}

static enhope_status take(enhope_context *ctx, eh_sink *sink, const eh_matrix *x, const int32_t *label, double share)
{
    writer *w = (writer *)sink;
    if (!w->begun) EH_TRY(begin(ctx, w, x, label));
    if (x->H > w->to.H) w->to.H = x->H; /* of sparse data it is the last column that was seen */
    int64_t first = sink->skip < x->n ? sink->skip : x->n;
    sink->skip -= first;
    if (sink->skip > 0 || first == x->n) {
        w->share_start = NAN;
        sink->full = sink->skip == 0 && reached_limit(w);
        return tell(ctx, w, share);
    }
    sink->full = reached_limit(w);
    while (first < x->n && !sink->full) {
        if (w->shard.rows == 0) EH_TRY(open_shard(ctx, w));
        int64_t n = rows_of_shard(w, x, first);
        if (w->limit > 0 && n > w->limit - w->to.n - w->shard.rows) n = w->limit - w->to.n - w->shard.rows;
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
        first += n;
        if (shard_is_full(w)) EH_TRY(close_shard(ctx, w));
        sink->full = reached_limit(w);
    }
    return tell(ctx, w, share);
}

/* ---- beginning and end ---- */

static void put_file(char *text, size_t size, const char *path)
{
    struct stat info;
    const size_t at = strlen(text);
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        snprintf(text + at, size - at, "; %lld bytes of %lld", (long long)info.st_size, (long long)info.st_mtime);
}

/* The files of a folder, in whatever order they come. */
static void put_folder(char *text, size_t size, const char *folder)
{
    char path[PATH_SIZE];
    struct stat info;
    long long files = 0, bytes = 0, newest = 0;
    const size_t at = strlen(text);
    DIR *all = opendir(folder);
    if (!all) return;
    for (const struct dirent *one; (one = readdir(all));) {
        if (snprintf(path, sizeof path, "%s/%s", folder, one->d_name) >= PATH_SIZE || stat(path, &info) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        files++;
        bytes += info.st_size;
        if (info.st_mtime > newest) newest = info.st_mtime;
    }
    closedir(all);
    if (files) snprintf(text + at, size - at, "; %lld files, %lld bytes of %lld", files, bytes, newest);
}

/* Two conversions of the same words make the same shards. */
static enhope_status describe(enhope_context *ctx, const enhope_source *s, const writer *w, char **out)
{
    char text[2 * PATH_SIZE];
    snprintf(text, sizeof text,
             "%.4000s; part %.16s; label %.200s; split %.60s; variables %.200s; limit %lld; shards of %lld %s", s->path,
             s->part ? s->part : "-", s->label ? s->label : "-", s->split ? s->split : "-",
             s->variables ? s->variables : "-", (long long)s->limit,
             (long long)(w->shard_rows > 0 ? w->shard_rows : w->shard_bytes), w->shard_rows > 0 ? "rows" : "bytes");
    put_file(text, sizeof text, s->path);
    put_folder(text, sizeof text, s->path);
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", s->path, s->part ? s->part : "train") < PATH_SIZE)
        put_folder(text, sizeof text, path);
    for (const char *comma = strchr(s->path, ','); comma; comma = strchr(comma + 1, ',')) { /* X,y */
        if (snprintf(path, sizeof path, "%.*s", (int)(comma - s->path), s->path) >= PATH_SIZE) break;
        put_file(text, sizeof text, path);
        put_file(text, sizeof text, comma + 1);
    }
    for (char *at = text; *at; at++) /* whatever the path is, JSON is UTF-8 */
        if ((unsigned char)*at >= 0x80 && !eh_utf8_valid(text, strlen(text))) *at = '?';
    *out = eh_strdup(text);
    return *out ? ENHOPE_OK : eh_fail_memory(ctx, "a text", strlen(text) + 1, 1);
}

static bool is_in(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct stat info;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_SIZE && stat(path, &info) == 0;
}

/* The folder, and those above it that are missing; the path of the first that was made is of *made characters, 0: none was. */
static enhope_status make_folder(enhope_context *ctx, const char *folder, size_t *made)
{
    char path[PATH_SIZE];
    struct stat info;
    if (snprintf(path, sizeof path, "%s", folder) >= PATH_SIZE - 64)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the path of the folder is longer than %d characters",
                       PATH_SIZE - 64);
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/') continue;
        const char end = *at;
        *at = '\0';
        if (mkdir(path, 0777) == 0)
            *made = *made ? *made : (size_t)(at - path);
        else if (errno != EEXIST)
            return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: the folder cannot be made: %s", path, strerror(errno));
        *at = end;
        if (!end) break;
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: is no folder", path);
    return ENHOPE_OK;
}

/* Removes folders that were made here, from the last on, unless something is in them. */
static void unmake_folder(const char *folder, size_t made)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", folder);
    for (size_t end = strlen(path); made > 0 && end >= made; end--) {
        if (path[end] && path[end] != '/') continue;
        path[end] = '\0';
        if (rmdir(path) != 0 && errno != ENOENT) return;
    }
}

/* Two conversions at once would write over each other. File systems that have no locks do without. */
static enhope_status lock_folder(enhope_context *ctx, writer *w)
{
    w->lock = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->lock < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", w->folder, strerror(errno));
    if (flock(w->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: another conversion is writing there", w->folder);
    return ENHOPE_OK;
}

/* A shard that is in the list has files of these sizes. */
static enhope_status check_sizes(enhope_context *ctx, const char *folder, const eh_shards *s)
{
    for (int64_t i = 0; i < s->shards; i++)
        for (int j = 0; j < EH_ARRAYS; j++) {
            char path[PATH_SIZE];
            struct stat info;
            if (!*s->shard[i].file[j].name) continue;
            snprintf(path, sizeof path, "%s/%s", folder, s->shard[i].file[j].name);
            if (stat(path, &info) != 0)
                return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
            if (info.st_size != s->shard[i].file[j].bytes)
                return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is of %lld bytes: expected %lld", path,
                               (long long)info.st_size, (long long)s->shard[i].file[j].bytes);
        }
    return ENHOPE_OK;
}

/* What is there of an earlier conversion of the same source. *done: all. */
static enhope_status go_on(enhope_context *ctx, writer *w, bool *done)
{
    eh_shards there = {.n = 0};
    *done = is_in(w->folder, EH_SHARDS_NAME);
    if (!*done && !is_in(w->folder, EH_SHARDS_PARTIAL)) return ENHOPE_OK;
    EH_TRY(eh_shards_load(ctx, w->folder, *done ? EH_SHARDS_NAME : EH_SHARDS_PARTIAL, &there));
    enhope_status status = check_sizes(ctx, w->folder, &there);
    if (!status && (!there.source || strcmp(there.source, w->to.source) != 0))
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: holds shards of something else (%.200s): name another folder",
                         w->folder, there.source ? there.source : "unknown");
    if (!status && *done && strncmp(there.source, "-;", 2) == 0)
        status =
            eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                    "%s: holds shards of standard input, which may have been other: name another folder", w->folder);
    if (status) {
        eh_shards_free(&there);
        return status;
    }
    eh_shards_free(&w->to);
    w->to = there;
    w->sink.skip = w->to.n;
    w->at.resumed = w->to.n;
    return ENHOPE_OK;
}

/* The names, moved from data; the list; and the partial list is not needed any more. */
static enhope_status finish(enhope_context *ctx, writer *w, const char *source, enhope_dataset *data)
{
    char path[PATH_SIZE];
    EH_TRY(close_shard(ctx, w));
    if (w->to.n == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", source);
    if (data->x.H > w->to.H) w->to.H = data->x.H;
    if (w->to.H == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no inputs, only samples", source);
    w->to.image_rows = data->image_rows;
    w->to.image_columns = data->image_columns;
    eh_labels_free(&w->to.labels);
    for (int32_t k = 0; w->labelled && k < data->c; k++) {
        int32_t id;
        EH_TRY(eh_labels_class(ctx, &w->to.labels, data->class_name[k], strlen(data->class_name[k]), &id));
        if (id != k) return eh_fail(ctx, ENHOPE_ERROR_DATA, "two classes have the name '%.60s'", data->class_name[k]);
    }
    if (!w->to.input_name) {
        w->to.input_name = data->input_name;
        data->input_name = NULL;
    }
    EH_TRY(eh_shards_save(ctx, &w->to, w->folder, EH_SHARDS_NAME));
    snprintf(path, sizeof path, "%s/" EH_SHARDS_PARTIAL, w->folder);
    unlink(path);
    return ENHOPE_OK;
}

enhope_status enhope_convert(enhope_context *ctx, const enhope_source *source, const char *folder, int64_t shard_rows,
                             int64_t shard_bytes, enhope_conversion_fn progress, void *user)
{
    enhope_status status = ENHOPE_OK;
    writer *w = NULL;
    enhope_dataset *data = NULL;
    bool done;
    size_t made = 0;
    if (!source || !source->path || !folder || !*folder)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a source and a folder are needed to convert");
    if (shard_rows < 0 || shard_bytes < 0 || shard_bytes > LARGEST_SHARD)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "shards of %lld rows and %lld bytes: expected 0 (256 MB) to 1 TB",
                       (long long)shard_rows, (long long)shard_bytes);
    EH_TRY(eh_new(ctx, "a conversion", 1, sizeof *w, (void **)&w));
    *w = (writer){.sink = {.take = take},
                  .folder = folder,
                  .lock = -1,
                  .shard_rows = shard_rows,
                  .shard_bytes = shard_bytes ? shard_bytes : USUAL_SHARD,
                  .limit = source->limit,
                  .start = eh_seconds(),
                  .share_start = NAN,
                  .progress = progress,
                  .user = user};
    for (int i = 0; i < EH_ARRAYS; i++) w->file[i].fd = -1;
    EH_CHECK(make_folder(ctx, folder, &made));
    EH_CHECK(lock_folder(ctx, w));
    EH_CHECK(describe(ctx, source, w, &w->to.source));
    EH_CHECK(go_on(ctx, w, &done));
    if (done) goto cleanup;
    EH_CHECK(eh_read_through(ctx, source, &data, &w->sink));
    if (!w->begun) w->labelled = w->to.shards > 0 && *w->to.shard[0].file[EH_LABELS].name;
    EH_CHECK(finish(ctx, w, source->path, data));
cleanup:
    abandon_shard(w);
    if (w->lock >= 0) close(w->lock);
    if (status) unmake_folder(folder, made);
    eh_shards_free(&w->to);
    eh_free(w);
    enhope_dataset_free(data);
    return status;
}
