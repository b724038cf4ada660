/* Stores: rows that stay in files, or in the memory of a data set, and are copied to a block on
 * request. Reading does not change the store, so any thread may read, each with its own context for
 * messages. */
#ifndef EH_STORE_H
#define EH_STORE_H

#include "data/data.h"

/* Memory for rows of one kind. x and label are the const view, `owned` the writable memory. */
typedef struct eh_block {
    eh_matrix x;    /* capacity of x.n rows */
    int32_t *label; /* (x.n) class numbers, -1: unlabeled */
    int64_t stored; /* CSR: capacity in values */
    void *owned[3]; /* u8 or f32 in the first; or row_start, column, value */
} eh_block;

/* Allocates zeroed memory for `rows` rows and, if sparse, `stored` values (dense: ignored). */
enhope_status eh_block_create(enhope_context *ctx, enhope_kind kind, int64_t H, int64_t rows, int64_t stored,
                              eh_block *out);
void eh_block_free(eh_block *block); /* accepts a zeroed block */

typedef struct eh_store {
    enhope_kind kind;
    int64_t n, H;
    int64_t stored; /* total number of values: n * H if dense */
    bool labeled;
    const int32_t *number;        /* new number of each class; NULL: unchanged */
    const enhope_dataset *memory; /* the data set that holds the rows; NULL: they are in files */
    struct eh_files *files;
} eh_store;

/* Creates a store over a data set in memory, which must outlive the store. */
enhope_status eh_store_from_dataset(enhope_context *ctx, const enhope_dataset *data, eh_store **out);
/* Opens a plain IDX or NPY file of inputs and one of labels (NULL: none). Stores class names, image
 * shape, n, H and kind in data. *out stays NULL if the files must be read as a whole, because they
 * are compressed or in column-major order. */
enhope_status eh_store_open_pair(enhope_context *ctx, const char *x_path, const char *y_path, enhope_dataset *data,
                                 eh_store **out);
/* Centers the columns that float cannot resolve, for data just opened so: with the offsets of an
 * encoding, else (NULL) with those found in one pass over the file. */
enhope_status eh_store_center(enhope_context *ctx, enhope_dataset *data, const eh_encoding *encoding);
void eh_store_free(eh_store *store);

/* Bytes of memory for the values of n rows in a block; `stored` as above. */
int64_t eh_store_bytes(enhope_kind kind, int64_t H, int64_t n, int64_t stored);
/* Counts the values of the rows first .. first + n. */
enhope_status eh_store_count(enhope_context *ctx, const eh_store *store, int64_t first, int64_t n, int64_t *stored);
/* Copies the rows first .. first + n of the store to the rows at .. at + n of the block; values
 * false: copies only the labels. Values of sparse rows start at row_start[at], which the caller has
 * set; the row starts after it are set here. Fails, naming the row, on numbers that are not finite
 * and on columns that do not ascend. */
enhope_status eh_store_read(enhope_context *ctx, const eh_store *store, int64_t first, int64_t n, eh_block *to,
                            int64_t at, bool values);
/* Announces that these rows will be read next, so that the system can fetch them ahead. Has an
 * effect on dense files only. */
void eh_store_prefetch(const eh_store *store, int64_t first, int64_t n);

#endif
