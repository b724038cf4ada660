/* Texts of columns that are kept for outputs: ids, and the columns of --keep. */
#ifndef EH_KEPT_H
#define EH_KEPT_H

#include "base/base.h"

typedef struct eh_kept {
    int64_t columns, n; /* n: rows */
    char **name;        /* (columns) */
    char *text;         /* texts of all fields, row by row, each terminated */
    int64_t *start;     /* (n * columns) position of each field in text */
    int64_t *row;       /* (n) number of the row in its file, from 0 */
    int64_t used, capacity, row_capacity;
} eh_kept;

/* Begins a row; eh_kept_field adds its fields in order. */
enhope_status eh_kept_row(enhope_context *ctx, eh_kept *kept, int64_t row);
enhope_status eh_kept_field(enhope_context *ctx, eh_kept *kept, int64_t column, const char *text, size_t length);
/* Keeps the rows rows[0..n) in that order. */
enhope_status eh_kept_select(enhope_context *ctx, eh_kept *kept, const int64_t *rows, int64_t n);
void eh_kept_clear(eh_kept *kept);

#endif
