/* Reads the rows of a source.
 *
 *   source -> eh_locate: files -> eh_format_find: a row of the table of formats -> reader -> sink
 *
 * Every reader passes rows to a sink in blocks and holds no more of them than necessary. Data in
 * memory is one sink (sink.c), the writer of shards another (shard_writer.c). A sink in between
 * adds labels from a second file (pair.c). The CSV reader converts fields to numbers in one place
 * (encode_record), so that every sink receives numbers.
 *
 * Shards, and plain arrays larger than memory, are not read here. They stay in their files as a
 * store (data/store/store.h). */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>

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

static enhope_status describe_input(enhope_context *ctx, const enhope_source *source, const char *part,
                                    const eh_located *at, eh_input *in)
{
    const bool labeled = eh_source_labeled(source);
    *in = (eh_input){.path = at->x};
    EH_TRY(eh_format_find(ctx, at->x, &in->format));
    if (at->pair) return ENHOPE_OK;
    if (source->label && labeled && !in->format->columns)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: a label column ('%.60s') can only be named for CSV", at->x,
                       source->label);
    if (source->variables && !in->format->variables)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: variables ('%.60s') can only be named for NPZ and MAT", at->x,
                       source->variables);
    in->labeled = labeled;
    in->label = source->label;
    in->inputs = source->inputs;
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
    eh_pair pair;
    if (at->kind == EH_GENERATED) return eh_read_synthetic(ctx, at->x, part, data, sink);
    EH_TRY(describe_input(ctx, source, part, at, &in));
    if (!at->y) {
        EH_TRY(in.format->read(ctx, &in, data, sink));
        at->parts = at->parts || in.parts;
        return ENHOPE_OK;
    }
    eh_pair_open(&pair, at->x, at->y, false, sink);
    EH_CHECK(in.format->read(ctx, &in, data, &pair.sink));
    EH_CHECK(eh_pair_finish(ctx, &pair, data));
cleanup:
    eh_pair_close(&pair);
    return status;
}

/* ---- the data set ---- */

/* Leaves the rows in their files, as data->store, if they exceed the memory limit and the files
 * allow it. */
static enhope_status try_store(enhope_context *ctx, const eh_located *at, enhope_dataset *data)
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
    EH_TRY(eh_new(ctx, "a data set", 1, sizeof *trial, (void **)&trial));
    EH_CHECK(eh_store_open_pair(ctx, at->x, NULL, trial, &trial->store));
    if (!trial->store || eh_store_bytes(trial->x.kind, trial->x.H, trial->x.n, 0) <= limit) goto cleanup;
    EH_CHECK(eh_store_open_pair(ctx, at->x, at->y, data, &data->store));
cleanup:
    enhope_dataset_free(trial);
    return status;
}

/* Opens the located files, in memory or as a store. */
static enhope_status open_located(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at,
                                  enhope_dataset *data)
{
    eh_memory memory;
    if (at->kind == EH_SHARDED) return eh_store_open_shards(ctx, at->x, eh_source_labeled(source), data);
    if (at->kind == EH_FILES) EH_TRY(try_store(ctx, at, data));
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
        EH_TRY(eh_split_rows(ctx, source->split, source->part, n, &rows, &n));
    } else if (source->limit > 0 && source->limit < n) {
        EH_TRY(eh_new(ctx, "rows", source->limit, sizeof *rows, (void **)&rows));
        for (int64_t i = 0; i < source->limit; i++) rows[i] = i;
    }
    if (source->limit > 0) n = eh_min(n, source->limit);
    if (rows) status = eh_dataset_select(ctx, data, rows, n);
    eh_free(rows);
    return status;
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

static enhope_status read_dataset(enhope_context *ctx, const enhope_source *source, enhope_dataset *data)
{
    eh_located at;
    EH_TRY(check_source(ctx, source));
    const char *part = source->split ? NULL : source->part; /* a split divides the train part */
    EH_TRY(eh_locate(ctx, source, part, &at));
    EH_TRY(open_located(ctx, source, part, &at, data));
    if (lacks_test(source, at.parts)) return eh_fail_no_test(ctx, source->path);
    if (data->store) EH_TRY(load_store(ctx, source, data));
    EH_TRY(eh_dataset_check(ctx, data, source->path));
    return data->store ? ENHOPE_OK : keep_rows(ctx, source, data);
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
    if (lacks_test(source, at.parts)) {
        const eh_format *format = NULL;
        if (at.kind == EH_FILES && !at.pair) EH_TRY(eh_format_find(ctx, at.x, &format));
        if (!format || !format->parts) return eh_fail_no_test(ctx, source->path);
    }
    if (at.kind != EH_SHARDED) return read_located(ctx, source, source->part, &at, data, sink);
    EH_TRY(eh_store_open_shards(ctx, at.x, eh_source_labeled(source), data));
    return push_blocks(ctx, data, sink);
}
