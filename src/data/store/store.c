/* Blocks of memory, and stores: rows of a data set or of files, copied on demand.
 *
 * Every read opens its file and uses pread. Threads therefore share no state, and thousands of
 * shards need only one file descriptor at a time. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/store/store_files.h"

enum { CHUNK = EH_BUFFER(1 << 16) }; /* bytes converted at once */

/* ---- blocks ---- */

enhope_status eh_block_create(enhope_context *ctx, enhope_kind kind, int64_t H, int64_t rows, int64_t stored,
                              eh_block *out)
{
    enhope_status status = ENHOPE_OK;
    eh_block b = {.x = {.kind = kind, .n = rows, .H = H}, .stored = kind == ENHOPE_CSR ? stored : 0};
    int64_t values = 0;
    if (kind != ENHOPE_CSR && !eh_mul(rows, H, &values)) return eh_fail_memory(ctx, "rows", (size_t)rows, (size_t)H);
    EH_CHECK(eh_new(ctx, "labels of a block", rows, sizeof *b.label, (void **)&b.label));
    switch (kind) {
    case ENHOPE_U8:
        EH_CHECK(eh_new(ctx, "a block of rows", values, sizeof *b.x.u8, &b.owned[0]));
        b.x.u8 = b.owned[0];
        break;
    case ENHOPE_F32:
        EH_CHECK(eh_new(ctx, "a block of rows", values, sizeof *b.x.f32, &b.owned[0]));
        b.x.f32 = b.owned[0];
        break;
    case ENHOPE_CSR:
        EH_CHECK(eh_new(ctx, "row starts", rows + 1, sizeof *b.x.row_start, &b.owned[0]));
        EH_CHECK(eh_new(ctx, "column numbers", stored, sizeof *b.x.column, &b.owned[1]));
        EH_CHECK(eh_new(ctx, "values", stored, sizeof *b.x.value, &b.owned[2]));
        b.x.row_start = b.owned[0], b.x.column = b.owned[1], b.x.value = b.owned[2];
        break;
    }
    *out = b;
    b = (eh_block){.label = NULL};
cleanup:
    eh_block_free(&b);
    return status;
}

void eh_block_free(eh_block *b)
{
    for (int i = 0; i < 3; i++) eh_free(b->owned[i]);
    eh_free(b->label);
    *b = (eh_block){.label = NULL};
}

/* ---- files ---- */

void eh_array_file_free(eh_array_file *file)
{
    eh_free(file->path);
    eh_free(file->a.offset);
    eh_free(file->sum);
    *file = (eh_array_file){.path = NULL};
}

void eh_files_free(eh_files *f)
{
    if (!f) return;
    for (int64_t i = 0; i < f->spans; i++)
        for (int j = 0; j < EH_ARRAYS; j++) eh_array_file_free(&f->span[i].array[j]);
    eh_free(f->span);
    eh_free(f->class_of);
    eh_labels_free(&f->texts);
    eh_free(f);
}

enhope_status eh_array_file_open(enhope_context *ctx, const char *path, bool idx, eh_array_file *out, bool *plain)
{
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    eh_array a = {.rank = 0};
    int64_t count = 0;
    struct stat info;
    *plain = stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode); /* opening a pipe could block */
    if (!*plain) return ENHOPE_OK;
    EH_TRY(eh_stream_open(ctx, path, &s));
    *plain = s.left >= 0;
    if (!*plain) goto cleanup;
    EH_CHECK(idx ? eh_idx_header(ctx, &s, &a) : eh_npy_header(ctx, &s, &a));
    EH_CHECK(eh_array_measure(ctx, &a, &s, &count));
    if (count * a.size < s.left)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: bytes follow the last value that the header announces", path));
    EH_CHECK(eh_new_text(ctx, "a path", path, &out->path));
    out->offset = s.stored - s.left;
    out->a = a;
cleanup:
    eh_stream_close(&s);
    return status;
}

/* Reads the elements at .. at + count of the array without conversion. */
static enhope_status read_raw(enhope_context *ctx, const eh_array_file *f, int fd, int64_t at, int64_t count, void *to)
{
    size_t done = 0;
    const size_t want = (size_t)(count * f->a.size);
    while (done < want) {
        const ssize_t got =
            pread(fd, (char *)to + done, want - done, (off_t)(f->offset + at * f->a.size) + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", f->path, strerror(errno));
        if (got == 0)
            return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                           "%s: ends at byte %lld: the file was truncated after it was opened", f->path,
                           (long long)(f->offset + at * f->a.size) + (long long)done);
        done += (size_t)got;
    }
    return ENHOPE_OK;
}

/* Opens a file. Its first reader compares it with its checksum. */
static enhope_status open_array(enhope_context *ctx, const eh_array_file *f, int *fd)
{
    if (f->sum && !atomic_load(&f->sum->verified)) {
        EH_TRY(eh_checksum_verify(ctx, f->path, f->sum, NULL, NULL));
        atomic_store(&f->sum->verified, true);
    }
    *fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", f->path, strerror(errno));
    return ENHOPE_OK;
}

/* True if the elements are integers of this size in the byte order of this machine. */
static bool is_native_integer(const eh_array *a, size_t size)
{
    const uint16_t probe = 1;
    return a->kind == 'i' && (size_t)a->size == size && a->big == (*(const unsigned char *)&probe == 0);
}

typedef enum into { TO_VALUES, TO_INT32, TO_INT64 } into;

/* Reads and converts the elements at .. at + count. */
static enhope_status read_array(enhope_context *ctx, const eh_array_file *f, int64_t at, int64_t count, into type,
                                void *to)
{
    enhope_status status = ENHOPE_OK;
    unsigned char raw[CHUNK];
    int fd;
    EH_TRY(open_array(ctx, f, &fd));
    const bool direct = type == TO_VALUES  ? eh_array_is_direct(&f->a)
                        : type == TO_INT32 ? is_native_integer(&f->a, sizeof(int32_t))
                                           : is_native_integer(&f->a, sizeof(int64_t));
    if (direct) EH_CHECK(read_raw(ctx, f, fd, at, count, to));
    const int64_t step = CHUNK / f->a.size;
    for (int64_t done = 0; !direct && done < count; done += step) {
        const int64_t n = count - done < step ? count - done : step;
        EH_CHECK(read_raw(ctx, f, fd, at + done, n, raw));
        if (type == TO_VALUES) {
            const size_t width = eh_array_is_bytes(&f->a) ? 1 : sizeof(float);
            eh_array_convert(&f->a, raw, at + done, n, (char *)to + (size_t)done * width);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t value = eh_array_integer(&f->a, raw + i * f->a.size);
            if (type == TO_INT32)
                ((int32_t *)to)[done + i] = (int32_t)value;
            else
                ((int64_t *)to)[done + i] = value;
        }
    }
cleanup:
    close(fd);
    return status;
}

/* ---- labels of files ---- */

static enhope_status label_class(enhope_context *ctx, const eh_files *files, const eh_array_file *f,
                                 const unsigned char *raw, int64_t i, char *buffer, int32_t *class)
{
    int64_t number;
    *class = -1;
    if (files->by_text) {
        const char *text;
        size_t length;
        EH_TRY(eh_array_label_text(ctx, &f->a, raw, i, buffer, &text, &length));
        if (eh_labels_missing(text, length)) return ENHOPE_OK;
        number = eh_labels_find(&files->texts, text, length);
    } else {
        number = f->a.size == 1 ? raw[0] : eh_array_integer(&f->a, raw);
    }
    if (files->unlabeled && number == -1) return ENHOPE_OK;
    if (number >= 0 && number < files->numbers && files->class_of[number] == EH_MISSING) return ENHOPE_OK;
    if (number < 0 || number >= files->numbers || files->class_of[number] < 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: label %lld is not a known class", f->path, (long long)i + 1);
    *class = files->class_of[number];
    return ENHOPE_OK;
}

static enhope_status read_labels(enhope_context *ctx, const eh_files *files, const eh_span *p, int64_t at, int64_t n,
                                 int32_t *to)
{
    enhope_status status = ENHOPE_OK;
    const eh_array_file *f = &p->array[EH_LABELS];
    unsigned char *raw = NULL;
    char *buffer = NULL;
    int fd = -1;
    if (!f->path) {
        for (int64_t i = 0; i < n; i++) to[i] = -1;
        return ENHOPE_OK;
    }
    const int64_t step = CHUNK / f->a.size > 0 ? CHUNK / f->a.size : 1;
    EH_CHECK(eh_new(ctx, "labels", step, (size_t)f->a.size, (void **)&raw));
    EH_CHECK(eh_new(ctx, "a label", f->a.size + EH_LABEL_TEXT, 1, (void **)&buffer));
    EH_CHECK(open_array(ctx, f, &fd));
    for (int64_t done = 0; done < n; done += step) {
        const int64_t count = n - done < step ? n - done : step;
        EH_CHECK(read_raw(ctx, f, fd, at + done, count, raw));
        for (int64_t i = 0; i < count; i++)
            EH_CHECK(label_class(ctx, files, f, raw + i * f->a.size, at + done + i, buffer, &to[done + i]));
    }
cleanup:
    if (fd >= 0) close(fd);
    eh_free(raw);
    eh_free(buffer);
    return status;
}

/* ---- rows of files ---- */

static enhope_status check_finite(enhope_context *ctx, const eh_array_file *f, const float *x, int64_t count,
                                  int64_t at, int64_t H)
{
    float sum = 0; /* x * 0 is 0 for finite x and NaN otherwise */
    for (int64_t t = 0; t < count; t++) sum += x[t] * 0.0f;
    if (sum == 0) return ENHOPE_OK;
    for (int64_t t = 0; t < count; t++)
        if (!isfinite(x[t]))
            return H > 0
                       ? eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: sample %lld, column %lld is %s: expected a finite number",
                                 f->path, (long long)((at + t) / H) + 1, (long long)((at + t) % H) + 1,
                                 isnan(x[t]) ? "NaN" : "infinite")
                       : eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: value %lld is %s: expected a finite number", f->path,
                                 (long long)(at + t) + 1, isnan(x[t]) ? "NaN" : "infinite");
    return ENHOPE_OK;
}

static enhope_status read_dense(enhope_context *ctx, const eh_span *p, int64_t H, int64_t first, int64_t n,
                                eh_block *to, int64_t at)
{
    const eh_array_file *f = &p->array[EH_VALUES];
    if (to->x.kind == ENHOPE_U8)
        return read_array(ctx, f, first * H, n * H, TO_VALUES, (uint8_t *)to->owned[0] + at * H);
    float *x = (float *)to->owned[0] + at * H;
    EH_TRY(read_array(ctx, f, first * H, n * H, TO_VALUES, x));
    return check_finite(ctx, f, x, n * H, first * H, H);
}

static enhope_status check_starts(enhope_context *ctx, const eh_span *p, const int64_t *start, int64_t first, int64_t n)
{
    const eh_array_file *f = &p->array[EH_STARTS];
    const int64_t max = p->array[EH_VALUES].path ? p->array[EH_VALUES].a.shape[0] : 0;
    for (int64_t i = 0; i <= n; i++)
        if (start[i] < (i ? start[i - 1] : 0) || start[i] > max)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: row start %lld is %lld: expected ascending numbers to %lld",
                           f->path, (long long)(first + i) + 1, (long long)start[i], (long long)max);
    return ENHOPE_OK;
}

static enhope_status check_columns(enhope_context *ctx, const eh_span *p, const int64_t *start, int64_t first,
                                   int64_t n, int64_t H, const int32_t *column)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = start[i] - start[0]; t < start[i + 1] - start[0]; t++)
            if (column[t] < 0 || column[t] >= H || (t > start[i] - start[0] && column[t] <= column[t - 1]))
                return eh_fail(ctx, ENHOPE_ERROR_DATA,
                               "%s: sample %lld: column number %lld: expected ascending columns from 0 to %lld",
                               p->array[EH_COLUMNS].path, (long long)(first + i) + 1, (long long)column[t],
                               (long long)H - 1);
    return ENHOPE_OK;
}

static enhope_status fail_capacity(enhope_context *ctx, int64_t values, int64_t capacity)
{
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the rows have %lld values: the capacity of the block is %lld",
                   (long long)values, (long long)capacity);
}

static enhope_status read_sparse(enhope_context *ctx, const eh_span *p, int64_t H, int64_t first, int64_t n,
                                 eh_block *to, int64_t at)
{
    enhope_status status = ENHOPE_OK;
    int64_t *row_start = (int64_t *)to->owned[0] + at, *start = NULL;
    const int64_t base = row_start[0];
    EH_CHECK(eh_new(ctx, "row starts", n + 1, sizeof *start, (void **)&start));
    EH_CHECK(read_array(ctx, &p->array[EH_STARTS], first, n + 1, TO_INT64, start));
    EH_CHECK(check_starts(ctx, p, start, first, n));
    const int64_t count = start[n] - start[0];
    if (count > to->stored - base) EH_CHECK(fail_capacity(ctx, base + count, to->stored));
    if (count > 0) {
        int32_t *column = (int32_t *)to->owned[1] + base;
        float *value = (float *)to->owned[2] + base;
        EH_CHECK(read_array(ctx, &p->array[EH_COLUMNS], start[0], count, TO_INT32, column));
        EH_CHECK(read_array(ctx, &p->array[EH_VALUES], start[0], count, TO_VALUES, value));
        EH_CHECK(check_columns(ctx, p, start, first, n, H, column));
        EH_CHECK(check_finite(ctx, &p->array[EH_VALUES], value, count, start[0], 0));
    }
    for (int64_t i = 1; i <= n; i++) row_start[i] = base + start[i] - start[0];
cleanup:
    eh_free(start);
    return status;
}

/* The span that contains a row. */
static const eh_span *find_span(const eh_files *f, int64_t row)
{
    int64_t low = 0, high = f->spans - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (f->span[middle].first <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return &f->span[low];
}

static enhope_status read_files(enhope_context *ctx, const eh_store *s, int64_t first, int64_t n, eh_block *to,
                                int64_t at, bool values)
{
    for (int64_t done = 0; done < n;) {
        const eh_span *p = find_span(s->files, first + done);
        const int64_t row = first + done - p->first, rest = p->n - row;
        const int64_t count = n - done < rest ? n - done : rest;
        EH_TRY(read_labels(ctx, s->files, p, row, count, to->label + at + done));
        if (values)
            EH_TRY(s->kind == ENHOPE_CSR ? read_sparse(ctx, p, s->H, row, count, to, at + done)
                                         : read_dense(ctx, p, s->H, row, count, to, at + done));
        done += count;
    }
    return ENHOPE_OK;
}

/* ---- rows of memory ---- */

static enhope_status read_memory(enhope_context *ctx, const eh_store *s, int64_t first, int64_t n, eh_block *to,
                                 int64_t at, bool values)
{
    const enhope_dataset *data = s->memory;
    const eh_matrix *x = &data->x;
    for (int64_t i = 0; i < n; i++) to->label[at + i] = data->label ? data->label[first + i] : -1;
    if (!values || n == 0) return ENHOPE_OK;
    if (s->kind != ENHOPE_CSR) {
        const size_t width = (size_t)s->H * (s->kind == ENHOPE_U8 ? sizeof *x->u8 : sizeof *x->f32);
        const char *from = s->kind == ENHOPE_U8 ? (const char *)x->u8 : (const char *)x->f32;
        memcpy((char *)to->owned[0] + (size_t)at * width, from + (size_t)first * width, (size_t)n * width);
        return ENHOPE_OK;
    }
    int64_t *row_start = (int64_t *)to->owned[0] + at;
    const int64_t base = row_start[0], begin = x->row_start[first], count = x->row_start[first + n] - begin;
    if (count > to->stored - base) return fail_capacity(ctx, base + count, to->stored);
    for (int64_t i = 1; i <= n; i++) row_start[i] = base + x->row_start[first + i] - begin;
    if (count == 0) return ENHOPE_OK;
    memcpy((int32_t *)to->owned[1] + base, x->column + begin, (size_t)count * sizeof *x->column);
    memcpy((float *)to->owned[2] + base, x->value + begin, (size_t)count * sizeof *x->value);
    return ENHOPE_OK;
}

/* ---- stores ---- */

int64_t eh_store_bytes(enhope_kind kind, int64_t H, int64_t n, int64_t stored)
{
    switch (kind) {
    case ENHOPE_U8: return n * H;
    case ENHOPE_F32: return n * H * (int64_t)sizeof(float);
    case ENHOPE_CSR: break;
    }
    return stored * (int64_t)(sizeof(float) + sizeof(int32_t)) + (n + 1) * (int64_t)sizeof(int64_t);
}

static enhope_status check_rows(enhope_context *ctx, const eh_store *s, int64_t first, int64_t n)
{
    if (first < 0 || n < 0 || first > s->n || n > s->n - first)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "rows %lld to %lld are outside the data of %lld rows",
                       (long long)first, (long long)first + (long long)n - 1, (long long)s->n);
    return ENHOPE_OK;
}

enhope_status eh_store_count(enhope_context *ctx, const eh_store *s, int64_t first, int64_t n, int64_t *stored)
{
    EH_TRY(check_rows(ctx, s, first, n));
    int64_t count = 0;
    if (s->kind != ENHOPE_CSR) {
        count = n * s->H;
    } else if (s->memory) {
        count = s->memory->x.row_start[first + n] - s->memory->x.row_start[first];
    } else {
        for (int64_t done = 0; done < n;) {
            const eh_span *p = find_span(s->files, first + done);
            const int64_t row = first + done - p->first, rest = p->n - row, some = n - done < rest ? n - done : rest;
            int64_t start[2];
            EH_TRY(read_array(ctx, &p->array[EH_STARTS], row, 1, TO_INT64, &start[0]));
            EH_TRY(read_array(ctx, &p->array[EH_STARTS], row + some, 1, TO_INT64, &start[1]));
            EH_TRY(check_starts(ctx, p, start, row, 1));
            count += start[1] - start[0];
            done += some;
        }
    }
    *stored = count;
    return ENHOPE_OK;
}

enhope_status eh_store_read(enhope_context *ctx, const eh_store *s, int64_t first, int64_t n, eh_block *to, int64_t at,
                            bool values)
{
    EH_TRY(check_rows(ctx, s, first, n));
    if (at < 0 || at > to->x.n || n > to->x.n - at || to->x.kind != s->kind || to->x.H != s->H)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%lld rows at %lld do not fit the block of %lld rows", (long long)n,
                       (long long)at, (long long)to->x.n);
    EH_TRY(s->memory ? read_memory(ctx, s, first, n, to, at, values) : read_files(ctx, s, first, n, to, at, values));
    for (int64_t i = at; i < at + n && s->number; i++)
        if (to->label[i] >= 0) to->label[i] = s->number[to->label[i]];
    return ENHOPE_OK;
}

void eh_store_prefetch(const eh_store *s, int64_t first, int64_t n)
{
    if (!s->files || s->kind == ENHOPE_CSR || first < 0) return;
    const int64_t end = n < s->n - first ? first + n : s->n;
    while (first < end) {
        const eh_span *p = find_span(s->files, first);
        const eh_array_file *f = &p->array[EH_VALUES];
        const int64_t row = s->H * f->a.size, stop = end < p->first + p->n ? end : p->first + p->n;
        const int fd = open(f->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return; /* the read reports the reason */
        (void)posix_fadvise(fd, (off_t)(f->offset + (first - p->first) * row), (off_t)((stop - first) * row),
                            POSIX_FADV_WILLNEED);
        close(fd);
        first = stop;
    }
}

enhope_status eh_store_from_dataset(enhope_context *ctx, const enhope_dataset *data, eh_store **out)
{
    eh_store *s = NULL;
    EH_TRY(eh_new(ctx, "a store", 1, sizeof *s, (void **)&s));
    const eh_matrix *x = &data->x;
    *s = (eh_store){.kind = x->kind,
                    .n = x->n,
                    .H = x->H,
                    .stored = x->kind == ENHOPE_CSR ? x->row_start[x->n] : x->n * x->H,
                    .labeled = data->label != NULL,
                    .memory = data};
    *out = s;
    return ENHOPE_OK;
}

enhope_status eh_store_from_files(enhope_context *ctx, enhope_kind kind, int64_t H, int32_t c, eh_files *files,
                                  eh_store **out)
{
    eh_store *s = NULL;
    const enhope_status status = eh_new(ctx, "a store", 1, sizeof *s, (void **)&s);
    if (status) {
        eh_files_free(files);
        return status;
    }
    const eh_span *last = &files->span[files->spans - 1];
    const int64_t n = last->first + last->n;
    const int64_t sparse = last->stored_before + (last->array[EH_VALUES].path ? last->array[EH_VALUES].a.shape[0] : 0);
    *s = (eh_store){
        .kind = kind, .n = n, .H = H, .stored = kind == ENHOPE_CSR ? sparse : n * H, .labeled = c > 0, .files = files};
    *out = s;
    return ENHOPE_OK;
}

void eh_store_free(eh_store *s)
{
    if (!s) return;
    eh_files_free(s->files);
    eh_free(s);
}
