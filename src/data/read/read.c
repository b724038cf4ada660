/* enhope_dataset_read: which reader, which part, which rows.
 *
 * The format is told by the name (digits.csv.gz, train-images-idx3-ubyte), and where the name says nothing by the first
 * bytes. Parts: a folder and an .npz may have a train and a test half of their own; with a split, the train half is
 * read and the split makes the parts. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/read/read.h"
#include "data/store.h"

enum { PATH_SIZE = 4096, SPEC_SIZE = 512 };

typedef enum format { IDX, CSV, LIBSVM, NPY, NPZ, MAT, UNKNOWN } format;

/* ---- which format ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t n = strlen(end);
    return length > n && strncasecmp(text + length - n, end, n) == 0;
}

static format format_of_name(const char *path)
{
    static const struct {
        const char *end;
        format format;
    } ends[] = {{".csv", CSV},    {".tsv", CSV},         {".txt", CSV},   {".libsvm", LIBSVM},
                {".svm", LIBSVM}, {".svmlight", LIBSVM}, {".npy", NPY},   {".npz", NPZ},
                {".mat", MAT},    {".idx", IDX},         {"-ubyte", IDX}, {".ubyte", IDX}};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (strcmp(path, "-") == 0) return CSV;
    if (ends_with(name, length, ".gz")) length -= 3;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, length, ends[i].end)) return ends[i].format;
    return UNKNOWN;
}

/* True when the second word of the line is INDEX:VALUE. */
static bool looks_like_libsvm(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    if (!end) end = text + length;
    const char *space = memchr(text, ' ', (size_t)(end - text));
    if (!space) return false;
    const char *at = space + 1;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at > space + 1 && at < end && *at == ':';
}

static enhope_status format_of_content(enhope_context *ctx, const char *path, format *out)
{
    char head[512];
    size_t got = 0;
    eh_stream s = {.name = NULL};
    EH_TRY(eh_stream_open(ctx, path, &s));
    const enhope_status status = eh_stream_read(ctx, &s, head, sizeof head, &got);
    eh_stream_close(&s);
    if (status) return status;
    if (got >= 6 && memcmp(head, "\x93NUMPY", 6) == 0)
        *out = NPY;
    else if (got >= 4 && memcmp(head, "PK\3\4", 4) == 0)
        *out = NPZ;
    else if (got >= 6 && memcmp(head, "MATLAB", 6) == 0)
        *out = MAT;
    else if (got >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14)
        *out = IDX;
    else if (!memchr(head, '\0', got))
        *out = looks_like_libsvm(head, got) ? LIBSVM : CSV;
    else
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                       "%s: the format is not known: expected IDX, CSV, TSV, LIBSVM, NPY, NPZ or MAT", path);
    return ENHOPE_OK;
}

static enhope_status find_format(enhope_context *ctx, const char *path, format *out)
{
    struct stat at;
    *out = format_of_name(path);
    if (*out != UNKNOWN) return ENHOPE_OK;
    if (stat(path, &at) == 0 && !S_ISREG(at.st_mode) && !S_ISDIR(at.st_mode)) { /* a pipe cannot be read twice */
        *out = CSV;
        return ENHOPE_OK;
    }
    return format_of_content(ctx, path, out);
}

/* ---- one file, a pair, a folder ---- */

static bool wants_labels(const enhope_source *source)
{
    return !source->label || strcmp(source->label, "none") != 0;
}

static enhope_status read_npy_file(enhope_context *ctx, const char *path, enhope_dataset *data, eh_labels *labels)
{
    eh_stream s = {.name = NULL};
    EH_TRY(eh_stream_open(ctx, path, &s));
    const enhope_status status = eh_read_npy(ctx, &s, data, labels);
    eh_stream_close(&s);
    return status;
}

/* Leaves the rows in their files where they are more than memory should hold and the files allow it: *done. y_path NULL:
 * no labels. */
static enhope_status try_store(enhope_context *ctx, const char *x_path, const char *y_path, enhope_dataset *data,
                               bool *done)
{
    enum { MOST_GROWTH = 4 }; /* an int8 becomes a float */
    const int64_t limit = eh_memory_limit(ctx);
    format x_kind, y_kind = IDX;
    struct stat info;
    enhope_status status = ENHOPE_OK;
    *done = false;
    if (stat(x_path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= limit / MOST_GROWTH) return ENHOPE_OK;
    EH_TRY(find_format(ctx, x_path, &x_kind));
    if (y_path) EH_TRY(find_format(ctx, y_path, &y_kind));
    if ((x_kind != IDX && x_kind != NPY) || (y_kind != IDX && y_kind != NPY)) return ENHOPE_OK;
    enhope_dataset *trial = NULL;
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *trial, (void **)&trial));
    EH_CHECK(eh_store_open_pair(ctx, x_path, NULL, trial, &trial->store));
    if (!trial->store || eh_store_bytes(trial->x.kind, trial->x.H, trial->x.n, 0) <= limit) goto cleanup;
    EH_CHECK(eh_store_open_pair(ctx, x_path, y_path, data, &data->store));
    *done = data->store != NULL;
cleanup:
    enhope_dataset_free(trial);
    return status;
}

static enhope_status read_file(enhope_context *ctx, const char *path, const enhope_source *source, const char *part,
                               enhope_dataset *data, bool *parts)
{
    const bool labelled = wants_labels(source);
    format kind;
    EH_TRY(find_format(ctx, path, &kind));
    if (source->label && labelled && kind != CSV)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: the label column '%.60s' is for CSV alone", path,
                       source->label);
    if (source->variables && kind != NPZ && kind != MAT)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: the variables '%.60s' are for NPZ and MAT alone", path,
                       source->variables);
    if (kind == IDX || kind == NPY) {
        bool done;
        EH_TRY(try_store(ctx, path, NULL, data, &done));
        if (done) return ENHOPE_OK;
    }
    switch (kind) {
    case IDX: return eh_read_idx(ctx, path, data, NULL);
    case CSV: return eh_read_csv(ctx, path, source->label, source->inputs, data, NULL);
    case LIBSVM: return eh_read_libsvm(ctx, path, labelled, data, NULL);
    case NPY: return read_npy_file(ctx, path, data, NULL);
    case NPZ: return eh_read_npz(ctx, path, part, source->variables, labelled, data, parts);
    case MAT: return eh_read_mat(ctx, path, source->variables, labelled, data);
    case UNKNOWN: break;
    }
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: the format is not known", path);
}

static enhope_status read_pair(enhope_context *ctx, const char *x_path, const char *y_path, bool labelled,
                               enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    bool done;
    EH_TRY(try_store(ctx, x_path, labelled ? y_path : NULL, data, &done));
    if (done) return ENHOPE_OK;
    eh_labels labels = {.n = 0};
    const enhope_source plain = {.label = "none"};
    bool parts = false;
    format kind;
    EH_TRY(read_file(ctx, x_path, &plain, NULL, data, &parts));
    if (!labelled) return ENHOPE_OK;
    EH_TRY(find_format(ctx, y_path, &kind));
    switch (kind) {
    case IDX: EH_CHECK(eh_read_idx(ctx, y_path, NULL, &labels)); break;
    case NPY: EH_CHECK(read_npy_file(ctx, y_path, NULL, &labels)); break;
    case CSV: EH_CHECK(eh_read_csv_labels(ctx, y_path, &labels)); break;
    default:
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: labels of a pair are read from IDX, NPY or a column of CSV",
                         y_path));
    }
    EH_CHECK(eh_labels_attach(ctx, &labels, data, x_path, y_path));
cleanup:
    eh_labels_free(&labels);
    return status;
}

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The first of folder/name and folder/name.gz that is there. */
static bool find_in_folder(const char *folder, const char *name, char *path)
{
    static const char *const ends[] = {"", ".gz"};
    for (int i = 0; i < 2; i++)
        if (snprintf(path, PATH_SIZE, "%s/%s%s", folder, name, ends[i]) < PATH_SIZE && is_there(path)) return true;
    return false;
}

/* The files of a part in a folder; labelled false: y_path is left empty. */
static enhope_status find_folder_pair(enhope_context *ctx, const char *folder, const char *part, bool labelled,
                                      char *x_path, char *y_path)
{
    static const char *const inputs[] = {"images-idx3-ubyte", "images.idx3-ubyte", "features-idx2-ubyte",
                                         "features.idx2-ubyte"};
    static const char *const labels[] = {"labels-idx1-ubyte", "labels.idx1-ubyte"};
    const char *half = part && strcmp(part, "test") == 0 ? "t10k" : "train";
    char name[64];
    bool found = false;
    *y_path = '\0';
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !found; i++) {
        snprintf(name, sizeof name, "%s-%s", half, inputs[i]);
        found = find_in_folder(folder, name, x_path);
    }
    if (!found)
        return eh_fail(ctx, ENHOPE_ERROR_IO,
                       "%s: is a folder without %s-images-idx3-ubyte or %s-features-idx2-ubyte (or these with .gz), "
                       "and without shards.json",
                       folder, half, half);
    if (!labelled) return ENHOPE_OK;
    found = false;
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !found; i++) {
        snprintf(name, sizeof name, "%s-%s", half, labels[i]);
        found = find_in_folder(folder, name, y_path);
    }
    if (!found)
        return eh_fail(ctx, ENHOPE_ERROR_IO,
                       "%s: is a folder without %s-labels-idx1-ubyte (or with .gz): name the pair of files X,y", folder,
                       half);
    return ENHOPE_OK;
}

static enhope_status read_folder(enhope_context *ctx, const char *folder, const char *part, bool labelled,
                                 enhope_dataset *data)
{
    char x_path[PATH_SIZE], y_path[PATH_SIZE];
    EH_TRY(find_folder_pair(ctx, folder, part, labelled, x_path, y_path));
    return read_pair(ctx, x_path, labelled ? y_path : NULL, labelled, data);
}

/* folder/shards.json, or that of the part's own folder. */
static bool find_shards(const char *folder, const char *part, char *path, bool *parts)
{
    char list[PATH_SIZE];
    const char *half = part ? part : "train";
    *parts = false;
    if (snprintf(path, PATH_SIZE, "%s", folder) >= PATH_SIZE ||
        snprintf(list, sizeof list, "%s/shards.json", folder) >= PATH_SIZE)
        return false;
    if (is_there(list)) return true;
    *parts = true;
    return snprintf(path, PATH_SIZE, "%s/%s", folder, half) < PATH_SIZE &&
           snprintf(list, sizeof list, "%s/%s/shards.json", folder, half) < PATH_SIZE && is_there(list);
}

/* A conversion that was stopped is no data yet. */
static enhope_status refuse_partial(enhope_context *ctx, const char *folder, const char *part)
{
    char list[PATH_SIZE];
    const char *half[] = {".", part ? part : "train"};
    for (int i = 0; i < 2; i++)
        if (snprintf(list, sizeof list, "%s/%s/shards.partial.json", folder, half[i]) < PATH_SIZE && is_there(list))
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "%s: holds shards that are not complete: give the same enhope convert again", folder);
    return ENHOPE_OK;
}

/* "X,y": the comma after which both halves are files; without such a one, the first comma. NULL: no comma. */
static const char *find_comma(const char *path, char *x_path)
{
    const char *first = strchr(path, ',');
    if (!first || strlen(path) >= PATH_SIZE) return NULL;
    for (const char *comma = first; comma; comma = strchr(comma + 1, ',')) {
        snprintf(x_path, PATH_SIZE, "%.*s", (int)(comma - path), path);
        if (is_there(x_path) && is_there(comma + 1)) return comma;
    }
    snprintf(x_path, PATH_SIZE, "%.*s", (int)(first - path), path);
    return first;
}

static const char *spec_of_part(const char *text, const char *part, char *with_part)
{
    if (!part) return text;
    snprintf(with_part, SPEC_SIZE, "%.400s,part=%s", text, part);
    return with_part;
}

static enhope_status read_synthetic(enhope_context *ctx, const char *text, const char *part, enhope_dataset **out)
{
    char with_part[SPEC_SIZE];
    return eh_synthetic(ctx, spec_of_part(text, part, with_part), out);
}

/* Everything but the split and the limit. *parts: the source has a train and a test half of its own. */
static enhope_status read_source(enhope_context *ctx, const enhope_source *source, const char *part,
                                 enhope_dataset **out, bool *parts)
{
    static const char scheme[] = "synthetic:";
    const char *path = source->path;
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    char x_path[PATH_SIZE];
    *parts = true;
    if (strncmp(path, scheme, sizeof scheme - 1) == 0) return read_synthetic(ctx, path + sizeof scheme - 1, part, out);
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    if (is_folder(path) && find_shards(path, part, x_path, parts)) {
        EH_CHECK(eh_read_shards(ctx, x_path, wants_labels(source), data));
    } else if (is_folder(path)) {
        *parts = true;
        EH_CHECK(refuse_partial(ctx, path, part));
        EH_CHECK(read_folder(ctx, path, part, wants_labels(source), data));
    } else {
        const char *comma = is_there(path) ? NULL : find_comma(path, x_path);
        *parts = false;
        EH_CHECK(comma ? read_pair(ctx, x_path, comma + 1, wants_labels(source), data)
                       : read_file(ctx, path, source, part, data, parts));
    }
    *out = data;
    data = NULL;
cleanup:
    enhope_dataset_free(data);
    return status;
}

/* ---- which rows ---- */

/* What is in files comes to memory where it fits there, the first so many rows alone where that is asked for. */
static enhope_status settle_store(enhope_context *ctx, const enhope_source *source, enhope_dataset **data)
{
    eh_store *store = (*data)->store;
    const bool cut = !source->split && source->limit > 0 && source->limit < store->n;
    const int64_t n = cut ? source->limit : store->n;
    int64_t stored = store->stored;
    if (cut) EH_TRY(eh_store_count(ctx, store, 0, n, &stored));
    (*data)->x.n = store->n = n;
    store->stored = stored;
    if (eh_store_bytes(store->kind, store->H, n, stored) > eh_memory_limit(ctx))
        return source->split ? eh_dataset_in_memory(ctx, *data, "a split") : ENHOPE_OK;
    enhope_dataset *all = NULL;
    EH_TRY(enhope_dataset_block(ctx, *data, 0, n, &all));
    enhope_dataset_free(*data);
    *data = all;
    return ENHOPE_OK;
}

static enhope_status keep_rows(enhope_context *ctx, const enhope_source *source, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    int64_t *rows = NULL, n = data->x.n;
    if (source->split) {
        EH_TRY(eh_split_rows(ctx, source->split, source->part, n, &rows, &n));
    } else if (source->limit > 0 && source->limit < n) {
        EH_TRY(eh_new(ctx, "rows", source->limit, sizeof *rows, (void **)&rows));
        for (int64_t i = 0; i < source->limit; i++) rows[i] = i;
    }
    if (source->limit > 0 && source->limit < n) n = source->limit;
    if (rows) status = eh_dataset_take(ctx, data, rows, n);
    eh_free(rows);
    return status;
}

static enhope_status check_source(enhope_context *ctx, const enhope_source *source)
{
    if (!source || !source->path || !*source->path)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "no data is named: expected a path");
    if (source->part && strcmp(source->part, "train") != 0 && strcmp(source->part, "test") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "part '%.60s' is not known: expected train or test", source->part);
    if (source->limit < 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "limit is %lld: expected 0 (all samples) or more",
                       (long long)source->limit);
    return ENHOPE_OK;
}

enhope_status enhope_dataset_read(enhope_context *ctx, const enhope_source *source, enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    bool parts = false;
    EH_TRY(check_source(ctx, source));
    EH_CHECK(read_source(ctx, source, source->split ? NULL : source->part, &data, &parts));
    if (!parts && !source->split && source->part && strcmp(source->part, "test") == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: has no test part: name a split N@SEED", source->path));
    if (data->store) EH_CHECK(settle_store(ctx, source, &data));
    EH_CHECK(eh_dataset_check(ctx, data, source->path));
    if (!data->store) EH_CHECK(keep_rows(ctx, source, data));
    *out = data;
    data = NULL;
cleanup:
    enhope_dataset_free(data);
    return status;
}

/* ---- row after row ---- */

/* A data set, in memory or streamed, to the sink. */
static enhope_status pass_blocks(enhope_context *ctx, const enhope_dataset *data, eh_sink *sink)
{
    const int64_t n = data->x.n, step = eh_dataset_step(ctx, data);
    int64_t first = sink->skip < n ? sink->skip : n;
    sink->skip = 0;
    for (; first < n && !sink->full; first += step) {
        const int64_t count = n - first < step ? n - first : step;
        enhope_dataset *block = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, first, count, &block));
        const enhope_status status =
            sink->take(ctx, sink, &block->x, block->label, (double)(first + count) / (double)n);
        enhope_dataset_free(block);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

/* Made block by block. */
static enhope_status through_synthetic(enhope_context *ctx, const char *text, const char *part, enhope_dataset **out,
                                       eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    char with_part[SPEC_SIZE];
    eh_generator *g = NULL;
    eh_block b = {.label = NULL};
    enhope_dataset *data = NULL;
    EH_TRY(eh_generator_create(ctx, spec_of_part(text, part, with_part), &g, &data));
    const int64_t n = data->x.n, usual = (1 << 24) / eh_store_bytes(data->x.kind, data->x.H, 1, 0);
    const int64_t step = n < usual ? n : usual > 0 ? usual : 1;
    EH_CHECK(eh_block_create(ctx, data->x.kind, data->x.H, step, 0, &b));
    int64_t first = sink->skip < n ? sink->skip : n;
    sink->skip = 0;
    for (; first < n && !sink->full; first += step) {
        const int64_t count = n - first < step ? n - first : step;
        eh_generator_rows(g, first, count, b.owned[0], b.label);
        eh_matrix x = b.x;
        x.n = count;
        EH_CHECK(sink->take(ctx, sink, &x, b.label, (double)(first + count) / (double)n));
    }
    *out = data;
    data = NULL;
cleanup:
    eh_block_free(&b);
    eh_generator_free(g);
    enhope_dataset_free(data);
    return status;
}

/* IDX and NPY from their beginning to their end, packed or not: *done where it is these. */
static enhope_status through_pair(enhope_context *ctx, const enhope_source *source, enhope_dataset *data, eh_sink *sink,
                                  bool *done)
{
    char x_path[PATH_SIZE] = "", y_path[PATH_SIZE] = "";
    const char *path = source->path;
    const bool labelled = wants_labels(source), folder = is_folder(path);
    bool parts;
    format x_kind, y_kind = IDX;
    *done = false;
    if (folder && find_shards(path, source->part, x_path, &parts)) return ENHOPE_OK;
    if (folder) {
        EH_TRY(refuse_partial(ctx, path, source->part));
        EH_TRY(find_folder_pair(ctx, path, source->part, labelled, x_path, y_path));
    } else {
        const char *comma = is_there(path) ? NULL : find_comma(path, x_path);
        if (!comma) snprintf(x_path, PATH_SIZE, "%s", path);
        if (comma && labelled) snprintf(y_path, PATH_SIZE, "%s", comma + 1);
        if (source->variables || (source->label && labelled) || (comma && labelled && !comma[1]) ||
            (source->part && strcmp(source->part, "test") == 0))
            return ENHOPE_OK; /* which is refused elsewhere */
    }
    EH_TRY(find_format(ctx, x_path, &x_kind));
    if (*y_path) EH_TRY(find_format(ctx, y_path, &y_kind));
    if ((x_kind != IDX && x_kind != NPY) || (y_kind != IDX && y_kind != NPY)) return ENHOPE_OK;
    return eh_read_pair_through(ctx, x_path, x_kind == IDX, *y_path ? y_path : NULL, y_kind == IDX, data, sink, done);
}

/* What may be left in its files is; the rest is read as a whole. */
static enhope_status pass_whole(enhope_context *ctx, const enhope_source *source, enhope_dataset **data, eh_sink *sink)
{
    const int64_t memory = ctx->memory;
    if (!source->split) ctx->memory = 1;
    enhope_status status = enhope_dataset_read(ctx, source, data);
    ctx->memory = memory;
    return status ? status : pass_blocks(ctx, *data, sink);
}

enhope_status eh_read_through(enhope_context *ctx, const enhope_source *source, enhope_dataset **out, eh_sink *sink)
{
    static const char scheme[] = "synthetic:";
    enhope_status status = ENHOPE_OK;
    enhope_dataset *data = NULL;
    format kind = UNKNOWN;
    EH_TRY(check_source(ctx, source));
    const char *path = source->path;
    const bool made = strncmp(path, scheme, sizeof scheme - 1) == 0;
    const bool file = !made && !source->split && !is_folder(path) && (is_there(path) || strcmp(path, "-") == 0);
    if (file) EH_TRY(find_format(ctx, path, &kind));
    if (kind == CSV || kind == LIBSVM) {
        if (source->part && strcmp(source->part, "test") == 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: has no test part: name a split N@SEED", path);
        EH_TRY(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
        EH_CHECK(kind == CSV ? eh_read_csv(ctx, path, source->label, source->inputs, data, sink)
                             : eh_read_libsvm(ctx, path, wants_labels(source), data, sink));
    } else if (made && !source->split) {
        EH_CHECK(through_synthetic(ctx, path + sizeof scheme - 1, source->part, &data, sink));
    } else {
        bool done = false;
        EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
        if (!source->split) EH_CHECK(through_pair(ctx, source, data, sink, &done));
        if (!done) {
            enhope_dataset_free(data);
            data = NULL;
            EH_CHECK(pass_whole(ctx, source, &data, sink));
        }
    }
    *out = data;
    data = NULL;
cleanup:
    enhope_dataset_free(data);
    return status;
}
