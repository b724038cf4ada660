/* The table of formats. The format of a file follows from its name (digits.csv.gz,
 * train-images-idx3-ubyte) or, if the name is not conclusive, from its first bytes. A new format is
 * a reader and a row in this table. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/read/read.h"

/* ---- recognition by the first bytes ---- */

static bool is_npy(const char *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static bool is_npz(const char *head, size_t size)
{
    return size >= 4 && memcmp(head, "PK\3\4", 4) == 0;
}

static bool is_mat(const char *head, size_t size)
{
    return size >= 6 && memcmp(head, "MATLAB", 6) == 0;
}

static bool is_idx(const char *head, size_t size)
{
    return size >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14;
}

static bool is_text(const char *head, size_t size)
{
    return !memchr(head, '\0', size);
}

/* True if the second word of the first line is INDEX:VALUE. */
static bool is_libsvm(const char *head, size_t size)
{
    const char *end = memchr(head, '\n', size);
    if (!end) end = head + size;
    const char *space = memchr(head, ' ', (size_t)(end - head));
    if (!space || !is_text(head, size)) return false;
    const char *at = space + 1;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at > space + 1 && at < end && *at == ':';
}

/* ---- the table: the first match is used ---- */

static const eh_format formats[] = {
    {"NPY", {".npy"}, is_npy, .read = eh_read_array, .header = eh_npy_header},
    {"NPZ", {".npz"}, is_npz, .read = eh_read_npz, .variables = true, .parts = true},
    {"MAT", {".mat"}, is_mat, .read = eh_read_mat, .variables = true},
    {"IDX", {".idx", "-ubyte", ".ubyte"}, is_idx, .read = eh_read_array, .header = eh_idx_header},
    {"LIBSVM", {".libsvm", ".svm", ".svmlight"}, is_libsvm, .read = eh_read_libsvm},
    {"CSV", {".csv", ".tsv", ".txt"}, is_text, .read = eh_read_csv, .labels = eh_read_csv_labels, .columns = true},
};
enum { FORMATS = sizeof formats / sizeof *formats };
static const eh_format *const csv = &formats[FORMATS - 1];

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t n = strlen(end);
    return length > n && strncasecmp(text + length - n, end, n) == 0;
}

static const eh_format *format_of_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (strcmp(path, "-") == 0) return csv;
    if (ends_with(name, length, ".gz")) length -= 3;
    for (int i = 0; i < FORMATS; i++)
        for (int j = 0; j < 3 && formats[i].ends[j]; j++)
            if (ends_with(name, length, formats[i].ends[j])) return &formats[i];
    return NULL;
}

static enhope_status format_of_content(enhope_context *ctx, const char *path, const eh_format **out)
{
    char head[512];
    size_t got = 0;
    eh_stream s = {.name = NULL};
    EH_TRY(eh_stream_open(ctx, path, &s));
    const enhope_status status = eh_stream_read(ctx, &s, head, sizeof head, &got);
    eh_stream_close(&s);
    if (status) return status;
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].recognize(head, got)) {
            *out = &formats[i];
            return ENHOPE_OK;
        }
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: unknown format: expected IDX, CSV, TSV, LIBSVM, NPY, NPZ or MAT",
                   path);
}

enhope_status eh_format_find(enhope_context *ctx, const char *path, const eh_format **out)
{
    struct stat at;
    *out = format_of_name(path);
    if (*out) return ENHOPE_OK;
    if (stat(path, &at) == 0 && !S_ISREG(at.st_mode) && !S_ISDIR(at.st_mode)) { /* a pipe cannot be read twice */
        *out = csv;
        return ENHOPE_OK;
    }
    return format_of_content(ctx, path, out);
}
