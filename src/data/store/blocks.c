/* Block access to a data set, in memory or streamed. */
#include <string.h>

#include "data/data.h"
#include "data/store/store.h"

enhope_status eh_dataset_in_memory(enhope_context *ctx, const enhope_dataset *data, const char *what)
{
    if (!data->store) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "%s needs the data in memory: it takes %.3g GB, the limit is %.3g GB; raise the memory limit", what,
                   1e-9 * (double)eh_store_bytes(data->x.kind, data->x.H, data->x.n, data->store->stored),
                   1e-9 * (double)eh_memory_limit(ctx));
}

int64_t eh_dataset_block_rows(const enhope_context *ctx, const enhope_dataset *data)
{
    enum { WHOLE = 4096 }; /* blocks are multiples of this, so that batched work leaves no remainder */
    const int64_t stored = data->store ? data->store->stored : data->x.n * data->x.H;
    const int64_t all = eh_store_bytes(data->x.kind, data->x.H, data->x.n, stored), row = all / data->x.n + 1;
    const int64_t usual = (int64_t)1 << 25, limit = eh_memory_limit(ctx) / 8;
    const int64_t rows = (usual < limit ? usual : limit) / row;
    return rows >= WHOLE ? rows / WHOLE * WHOLE : rows > 0 ? rows : 1;
}

/* ---- a block of rows ---- */

enhope_status enhope_dataset_block(enhope_context *ctx, const enhope_dataset *data, int64_t first, int64_t count,
                                   enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    enhope_dataset *block = NULL;
    eh_store *own = NULL;
    eh_block b = {.label = NULL};
    int64_t stored = 0;
    if (first < 0 || count < 1 || first >= data->x.n || count > data->x.n - first)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "rows %lld to %lld requested: expected rows within 0 to %lld",
                       (long long)first, (long long)first + (long long)count - 1, (long long)data->x.n - 1);
    EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *block, (void **)&block));
    if (!data->store) EH_CHECK(eh_store_from_dataset(ctx, data, &own));
    const eh_store *store = data->store ? data->store : own;
    EH_CHECK(eh_store_count(ctx, store, first, count, &stored));
    EH_CHECK(eh_block_create(ctx, store->kind, store->H, count, stored, &b));
    EH_CHECK(eh_store_read(ctx, store, first, count, &b, 0, true));
    eh_store_prefetch(store, first + count, count); /* the next block is usually read next */
    block->x = b.x;
    memcpy(block->owned, b.owned, sizeof b.owned);
    memset(b.owned, 0, sizeof b.owned);
    if (store->labeled) {
        block->label = b.label;
        b.label = NULL;
    }
    if (data->weight) {
        EH_CHECK(eh_new(ctx, "weights", count, sizeof *block->weight, (void **)&block->weight));
        memcpy(block->weight, data->weight + first, (size_t)count * sizeof *block->weight);
    }
    EH_CHECK(eh_dataset_describe(ctx, data, block));
    block->first = data->first + first;
    *out = block;
    block = NULL;
cleanup:
    eh_block_free(&b);
    eh_store_free(own);
    enhope_dataset_free(block);
    return status;
}
