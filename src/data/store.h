/* Rows that stay where they are, in files or in the memory of a data set, and are copied to a block when they are asked
 * for. Reading changes nothing in the store, so any thread may read, each with a context of its own for the sentence. */
#ifndef EH_STORE_H
#define EH_STORE_H

#include "data/data.h"

/* Memory for rows of one kind: x and label show what is there, `owned` is the same to be written. */
typedef struct eh_block {
    eh_matrix x;    /* x.n rows of room */
    int32_t *label; /* (x.n) class numbers, -1: unlabelled */
    int64_t stored; /* CSR: room for so many values */
    void *owned[3]; /* u8 or f32 in the first; row_start, column, value */
} eh_block;

/* Room for so many rows, and for so many values where they are sparse (otherwise not read). All zero. */
enhope_status eh_block_create(enhope_context *ctx, enhope_kind kind, int64_t H, int64_t rows, int64_t stored,
                              eh_block *out);
void eh_block_free(eh_block *block); /* a zeroed one is fine */

typedef struct eh_store {
    enhope_kind kind;
    int64_t n, H;
    int64_t stored; /* values in all: n * H unless sparse */
    bool labelled;
    const int32_t *number;        /* for each class there the number that it is given; NULL: its own */
    const enhope_dataset *memory; /* the rows are these; NULL: they are in files */
    struct eh_files *files;
} eh_store;

/* The rows of a data set in memory, which must outlive the store. */
enhope_status eh_store_of(enhope_context *ctx, const enhope_dataset *data, eh_store **out);
/* A plain IDX or NPY file of inputs, and one of labels (NULL: none). Class names and image shape go to data, whose n, H and
 * kind become the store's. *out stays NULL where the files have to be read as a whole: packed, or the first index fastest. */
enhope_status eh_store_open_pair(enhope_context *ctx, const char *x_path, const char *y_path, enhope_dataset *data,
                                 eh_store **out);
void eh_store_free(eh_store *store);

/* Bytes of memory that the values of n rows take, as blocks hold them; `stored` as above. */
int64_t eh_store_bytes(enhope_kind kind, int64_t H, int64_t n, int64_t stored);
/* How many values the rows first .. first + n have. */
enhope_status eh_store_count(enhope_context *ctx, const eh_store *store, int64_t first, int64_t n, int64_t *stored);
/* Rows first .. first + n of the store become rows at .. at + n of the block; values false: the labels alone. Sparse rows
 * put their values from row_start[at] on, which is the caller's, and set the row starts after it. Numbers that are not
 * finite and columns that do not ascend are refused, with the row. */
enhope_status eh_store_read(enhope_context *ctx, const eh_store *store, int64_t first, int64_t n, eh_block *to,
                            int64_t at, bool values);
/* Says that these rows will be read next, so that the system fetches them meanwhile; dense files alone. */
void eh_store_ahead(const eh_store *store, int64_t first, int64_t n);

#endif
