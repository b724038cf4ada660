/* Reads the rows of a source.
 *
 *   source -> eh_locate: files -> eh_format_find: the entry of formats.c -> reader -> sink
 *
 * Every reader passes rows to a sink in blocks and holds no more of them than necessary. Data in
 * memory is one sink (sink.c), the writer of shards another (shard_writer.c). A sink in between
 * adds labels from a second file (pair.c). The CSV reader encodes the columns of a table
 * (data/table/table.h, data/frame/frame.h), so that every sink receives numbers.
 *
 * Shards, and plain arrays that may exceed memory, are opened as a store (data/store/store.h) and
 * loaded only if they fit. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>

#include "data/frame/frame.h"
#include "data/read/read.h"
#include "data/store/shards.h"

enhope_status eh_fail_no_test(enhope_context *ctx, const char *path)
{
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: has no test part; use a split N@SEED", path);
}

static bool lacks_test(const enhope_source *source, bool parts)
{
    return !parts && !source->split && source->part && strcmp(source->part, "test") == 0;
}

/* ---- all rows to a sink ---- */

/* Fails if options of columns are given for data without columns. */
static enhope_status check_no_table(enhope_context *ctx, const enhope_table_options *o, const char *path)
{
    if (!o || !(o->header || o->delimiter || o->decimal || o->ignore || o->id || o->group || o->keep || o->weight ||
                o->categorical || o->numeric || o->missing || o->skip_bad))
        return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: options of columns are only for CSV", path);
}

/* The encoding that the data must have; NULL: its own. */
static enhope_status find_encoding(enhope_context *ctx, const enhope_source *source, eh_encoding **out)
{
    if (source->model) return eh_model_encoding(ctx, source->model, out);
    return source->table && source->table->like ? eh_dataset_encoding(ctx, source->table->like, out) : ENHOPE_OK;
}

static enhope_status describe_input(enhope_context *ctx, const enhope_source *source, const char *part,
                                    const eh_located *at, eh_input *in)
{
    const bool labeled = eh_source_labeled(source);
    *in = (eh_input){.path = at->x};
    EH_TRY(eh_format_find(ctx, at->x, &in->format));
    const enhope_table_options *table = source->table;
    EH_TRY(find_encoding(ctx, source, &in->encoding));
    in->table = table;
    in->model = source->classes ? NULL : source->model; /* labels get the names of classes later */
    in->split = source->split;
    in->limit = !source->part || strcmp(source->part, "test") ? source->limit : 0;
    if (!in->format->columns) EH_TRY(check_no_table(ctx, table, at->x));
    if (at->pair) return ENHOPE_OK; /* labels come from the second file */
    if (source->label && labeled && !in->format->columns)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: a label column ('%.60s') can only be named for CSV", at->x,
                       source->label);
    if (source->variables && !in->format->variables)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: variables ('%.60s') can only be named for NPZ and MAT", at->x,
                       source->variables);
    in->labeled = labeled;
    in->label = source->label;
    in->variables = source->variables;
    in->part = part;
    return ENHOPE_OK;
}

/* Reads the located files. */
static enhope_status read_located(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at,
                                  enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    eh_input in;
    eh_pair pair = {.to = NULL};
    if (at->kind == EH_GENERATED) return eh_read_synthetic(ctx, at->x, part, data, sink);
    if (at->kind == EH_IMAGES) return eh_read_images(ctx, at->x, eh_source_labeled(source), source->model, data, sink);
    EH_CHECK(describe_input(ctx, source, part, at, &in));
    if (at->y) {
        eh_pair_open(&pair, at->x, at->y, false, sink);
        EH_CHECK(in.format->read(ctx, &in, data, &pair.sink));
        EH_CHECK(eh_pair_finish(ctx, &pair, data));
    } else {
        EH_CHECK(in.format->read(ctx, &in, data, sink));
        at->parts = at->parts || in.parts;
    }
cleanup:
    eh_pair_close(&pair);
    eh_encoding_free(in.encoding);
    return status;
}

/* ---- the data set ---- */

/* Leaves the rows in their files, as data->store, if they exceed the memory limit and the files
 * allow it. */
static enhope_status try_store(enhope_context *ctx, const enhope_source *source, const eh_located *at,
                               enhope_dataset *data)
{
    enum { MAX_GROWTH = 4 }; /* int8 becomes float */
    const int64_t limit = eh_memory_limit(ctx);
    const eh_format *x = NULL, *y = NULL;
    struct stat info;
    enhope_status status = ENHOPE_OK;
    if (stat(at->x, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= limit / MAX_GROWTH) return ENHOPE_OK;
    EH_TRY(eh_format_find(ctx, at->x, &x));
    if (at->y) EH_TRY(eh_format_find(ctx, at->y, &y));
    if (!x->header || (y && !y->header)) return ENHOPE_OK;
    enhope_dataset *trial = NULL;
    eh_encoding *like = NULL;
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *trial, (void **)&trial));
    EH_CHECK(eh_store_open_pair(ctx, at->x, NULL, trial, &trial->store));
    if (!trial->store || eh_store_bytes(trial->x.kind, trial->x.H, trial->x.n, 0) <= limit) goto cleanup;
    EH_CHECK(eh_store_open_pair(ctx, at->x, at->y, data, &data->store));
    EH_CHECK(find_encoding(ctx, source, &like));
    EH_CHECK(eh_store_center(ctx, data, like));
cleanup:
    eh_encoding_free(like);
    enhope_dataset_free(trial);
    return status;
}

/* Opens the located files, in memory or as a store. */
static enhope_status open_located(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at,
                                  enhope_dataset *data)
{
    eh_memory memory;
    if (at->kind == EH_SHARDED) return eh_store_open_shards(ctx, at->x, eh_source_labeled(source), data);
    if (at->kind == EH_FILES) EH_TRY(try_store(ctx, source, at, data));
    if (data->store) return ENHOPE_OK;
    eh_memory_open(&memory, data);
    EH_TRY(read_located(ctx, source, part, at, data, &memory.sink));
    return eh_memory_finish(ctx, &memory);
}

/* Loads a store that fits into memory; with a limit, only its first rows. */
static enhope_status load_store(enhope_context *ctx, const enhope_source *source, enhope_dataset *data)
{
    eh_store *store = data->store;
    const bool cut = !source->split && source->limit > 0 && source->limit < store->n;
    const int64_t n = cut ? source->limit : store->n;
    int64_t stored = store->stored;
    if (cut) EH_TRY(eh_store_count(ctx, store, 0, n, &stored));
    data->x.n = store->n = n;
    store->stored = stored;
    if (eh_store_bytes(store->kind, store->H, n, stored) > eh_memory_limit(ctx))
        return source->split ? eh_dataset_in_memory(ctx, data, "a split") : ENHOPE_OK;
    enhope_dataset *all = NULL;
    EH_TRY(enhope_dataset_block(ctx, data, 0, n, &all));
    const enhope_dataset streamed = *data;
    *data = *all;
    *all = streamed;
    enhope_dataset_free(all);
    return ENHOPE_OK;
}

static enhope_status keep_rows(enhope_context *ctx, const enhope_source *source, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    int64_t *rows = NULL, n = data->x.n;
    if (source->split) {
        if (!eh_source_labeled(source) && strchr(source->split, '.'))
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                           "split '%.60s' divides every class and needs the labels; use a split N@SEED without labels",
                           source->split);
        EH_TRY(eh_split_rows(ctx, source->split, source->part, data->label, data->c, n, &rows, &n));
    } else if (source->limit > 0 && source->limit < n) {
        EH_TRY(eh_new(ctx, "rows", source->limit, sizeof *rows, (void **)&rows));
        for (int64_t i = 0; i < source->limit; i++) rows[i] = i;
    }
    if (source->limit > 0) n = eh_min(n, source->limit);
    if (rows) status = eh_dataset_select(ctx, data, rows, n);
    eh_free(rows);
    return status;
}

/* Warns of classes without samples, which a limit or a split may leave out. */
static enhope_status warn_of_classes(enhope_context *ctx, const enhope_source *source, const enhope_dataset *data)
{
    eh_name_list missing = {.count = 0};
    int64_t *count = NULL;
    if (!data->label) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "class counts", data->c, sizeof *count, (void **)&count));
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) count[data->label[i]]++;
    for (int32_t k = 0; k < data->c; k++)
        if (!count[k]) eh_name_list_add(&missing, data->class_name[k]);
    if (missing.count)
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: %lld of %d classes %s no samples%s: %s", source->path,
               (long long)missing.count, data->c, missing.count == 1 ? "has" : "have",
               source->limit   ? " within the limit"
               : source->split ? " in this part of the split"
                               : "",
               eh_name_list_end(&missing));
    eh_free(count);
    return ENHOPE_OK;
}

static enhope_status check_source(enhope_context *ctx, const enhope_source *source)
{
    if (!source || !source->path || !*source->path)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "no data given: expected a path");
    if (source->part && strcmp(source->part, "train") != 0 && strcmp(source->part, "test") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown part '%.60s': expected train or test", source->part);
    if (source->limit < 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "limit is %lld: expected 0 (all samples) or more",
                       (long long)source->limit);
    return ENHOPE_OK;
}

static enhope_status keep_source(enhope_context *ctx, const enhope_source *source, eh_source_texts *to)
{
    to->limit = source->limit;
    if (source->split) EH_TRY(eh_new_text(ctx, "the split", source->split, &to->split));
    return source->part ? eh_new_text(ctx, "the part", source->part, &to->part) : ENHOPE_OK;
}

static enhope_status read_dataset(enhope_context *ctx, const enhope_source *source, enhope_dataset *data)
{
    eh_located at;
    EH_TRY(check_source(ctx, source));
    const char *part = source->split ? NULL : source->part; /* a split divides the train part */
    EH_TRY(eh_locate(ctx, source, part, &at));
    if (at.kind != EH_FILES) EH_TRY(check_no_table(ctx, source->table, source->path));
    if (at.kind == EH_IMAGES && lacks_test(source, at.parts)) return eh_fail_no_test(ctx, source->path);
    EH_TRY(open_located(ctx, source, part, &at, data));
    if (lacks_test(source, at.parts)) return eh_fail_no_test(ctx, source->path);
    if (source->classes) EH_TRY(eh_class_names_read(ctx, source->classes, data));
    if (data->store) EH_TRY(load_store(ctx, source, data));
    EH_TRY(eh_dataset_check(ctx, data, source->path));
    EH_TRY(keep_source(ctx, source, &data->source));
    if (data->store) return ENHOPE_OK;
    EH_TRY(keep_rows(ctx, source, data));
    EH_TRY(eh_read_weights(ctx, data, source->path));
    return warn_of_classes(ctx, source, data);
}

enhope_status enhope_dataset_read(enhope_context *ctx, const enhope_source *source, enhope_dataset **out)
{
    enhope_dataset *data = NULL;
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    const enhope_status status = read_dataset(ctx, source, data);
    if (status)
        enhope_dataset_free(data);
    else
        *out = data;
    return status;
}

/* ---- rows in sequence ---- */

/* Passes a data set, in memory or streamed, to the sink. */
static enhope_status push_blocks(enhope_context *ctx, const enhope_dataset *data, eh_sink *sink)
{
    const int64_t n = data->x.n, step = eh_dataset_block_rows(ctx, data);
    int64_t first = eh_min(sink->skip, n);
    sink->skip = 0;
    for (; first < n && !sink->full; first += step) {
        const int64_t count = eh_min(step, n - first);
        enhope_dataset *block = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, first, count, &block));
        const enhope_status status =
            sink->take(ctx, sink, &block->x, block->label, (double)(first + count) / (double)n);
        enhope_dataset_free(block);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

enhope_status eh_read_rows(enhope_context *ctx, const enhope_source *source, enhope_dataset *data, eh_sink *sink)
{
    eh_located at;
    EH_TRY(check_source(ctx, source));
    if (source->split) {
        EH_TRY(read_dataset(ctx, source, data));
        return push_blocks(ctx, data, sink);
    }
    EH_TRY(eh_locate(ctx, source, source->part, &at));
    if (at.kind != EH_FILES) EH_TRY(check_no_table(ctx, source->table, source->path));
    if (lacks_test(source, at.parts)) {
        const eh_format *format = NULL;
        if (at.kind == EH_FILES && !at.pair) EH_TRY(eh_format_find(ctx, at.x, &format));
        if (!format || !format->parts) return eh_fail_no_test(ctx, source->path);
    }
    if (at.kind == EH_SHARDED) {
        EH_TRY(eh_store_open_shards(ctx, at.x, eh_source_labeled(source), data));
        EH_TRY(push_blocks(ctx, data, sink));
    } else {
        EH_TRY(read_located(ctx, source, source->part, &at, data, sink));
    }
    return source->classes ? eh_class_names_read(ctx, source->classes, data) : ENHOPE_OK;
}
