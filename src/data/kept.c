/* Texts of columns that are kept for outputs. */
#include <string.h>

#include "data/kept.h"

static enhope_status reserve(enhope_context *ctx, const char *what, void **block, int64_t used, int64_t wanted,
                             int64_t *capacity, size_t size)
{
    if (wanted <= *capacity) return ENHOPE_OK;
    const int64_t next = eh_max(wanted, eh_max(2 * *capacity, 256));
    void *grown = eh_grow(*block, (size_t)used, (size_t)next, size);
    if (!grown) return eh_fail_memory(ctx, what, (size_t)next, size);
    *block = grown;
    *capacity = next;
    return ENHOPE_OK;
}

enhope_status eh_kept_row(enhope_context *ctx, eh_kept *kept, int64_t row)
{
    int64_t capacity = kept->row_capacity;
    void *rows = kept->row, *start = kept->start;
    EH_TRY(reserve(ctx, "row numbers", &rows, kept->n, kept->n + 1, &capacity, sizeof *kept->row));
    kept->row = rows;
    capacity = kept->row_capacity;
    EH_TRY(reserve(ctx, "kept texts", &start, kept->n, kept->n + 1, &capacity,
                   (size_t)eh_max(kept->columns, 1) * sizeof *kept->start));
    kept->start = start;
    kept->row_capacity = capacity;
    kept->row[kept->n++] = row;
    return ENHOPE_OK;
}

enhope_status eh_kept_field(enhope_context *ctx, eh_kept *kept, int64_t column, const char *text, size_t length)
{
    void *block = kept->text;
    EH_TRY(reserve(ctx, "kept texts", &block, kept->used, kept->used + (int64_t)length + 1, &kept->capacity, 1));
    kept->text = block;
    kept->start[(kept->n - 1) * kept->columns + column] = kept->used;
    memcpy(kept->text + kept->used, text, length);
    kept->text[kept->used + (int64_t)length] = '\0';
    kept->used += (int64_t)length + 1;
    return ENHOPE_OK;
}

enhope_status eh_kept_select(enhope_context *ctx, eh_kept *kept, const int64_t *rows, int64_t n)
{
    enhope_status status = ENHOPE_OK;
    int64_t *start = NULL, *row = NULL;
    const int64_t columns = kept->columns;
    EH_CHECK(eh_new(ctx, "row numbers", n, sizeof *row, (void **)&row));
    EH_CHECK(eh_new(ctx, "kept texts", n, (size_t)eh_max(columns, 1) * sizeof *start, (void **)&start));
    for (int64_t i = 0; i < n; i++) {
        row[i] = kept->row[rows[i]];
        for (int64_t k = 0; k < columns; k++) start[i * columns + k] = kept->start[rows[i] * columns + k];
    }
    eh_free(kept->row);
    eh_free(kept->start);
    kept->row = row;
    kept->start = start;
    kept->n = kept->row_capacity = n;
    return ENHOPE_OK;
cleanup:
    eh_free(row);
    eh_free(start);
    return status;
}

void eh_kept_clear(eh_kept *kept)
{
    eh_names_free(kept->name, kept->columns);
    eh_free(kept->text);
    eh_free(kept->start);
    eh_free(kept->row);
    *kept = (eh_kept){.columns = 0};
}
