/* The data set: samples, labels, class names, scaling and split. */
#ifndef EH_DATA_H
#define EH_DATA_H

#include "base/base.h"
#include "data/frame/frame.h"
#include "data/kept.h"

/* The table that a data set was read from. */
typedef struct eh_origin {
    eh_schema schema;
    eh_kept kept; /* texts and row numbers of the rows of the data set */
} eh_origin;
void eh_origin_free(eh_origin *origin); /* accepts NULL */

/* How a data set was read, to be stored in models. NULL and 0: not given. */
typedef struct eh_source_texts {
    char *split, *part;
    int64_t limit;
} eh_source_texts;

struct enhope_dataset {
    eh_matrix x;
    int32_t *label; /* (n) 0..c-1, -1: unlabeled; NULL: no labels at all */
    float *weight;  /* (n) in training; the mean of those above 0 is 1. NULL: all are 1 */
    int32_t c;
    char **class_name;     /* (c) */
    char **input_name;     /* (H), or NULL */
    eh_encoding *encoding; /* of the columns that became inputs; NULL: of H plain numbers */
    eh_origin *origin;     /* NULL: the data set was not read from a table */
    int64_t first;         /* a block: row of the whole data that it begins with */
    int64_t image_rows, image_columns;
    void *owned[3]; /* memory of x that the data set owns (eh_alloc); NULL for views */
    eh_source_texts source;
    int64_t valid_n;        /* the last rows are the validation part of training; 0: training draws one */
    struct eh_store *store; /* rows that stay in files: x has no values, and label is NULL even if c
                             * > 0;
                             *                               NULL: everything is in memory */
};

/* ---- dataset.c ---- */

/* Checks that all values are finite and all labels in range. Messages name row and column; `where`
 * is the file. Frees nothing on failure. */
enhope_status eh_dataset_check(enhope_context *ctx, const enhope_dataset *data, const char *where);
/* Checks the values of some rows, the first of which is row `first` of data. Messages use the names
 * of data. */
enhope_status eh_rows_check(enhope_context *ctx, const eh_matrix *x, int64_t first, const enhope_dataset *data,
                            const char *where);
/* Keeps the rows rows[0..n) in that order. Copies the values; labels, weights and names follow;
 * classes do not change. */
enhope_status eh_dataset_select(enhope_context *ctx, enhope_dataset *data, const int64_t *rows, int64_t n);

/* Gives the encoding, which becomes the data set's, and names of inputs to a data set. On failure
 * the encoding stays the caller's. */
enhope_status eh_dataset_set_encoding(enhope_context *ctx, enhope_dataset *data, eh_encoding *encoding);
/* A copy of its encoding; that of plain numbers if it has none. */
enhope_status eh_dataset_encoding(enhope_context *ctx, const enhope_dataset *data, eh_encoding **out);

/* Fails if data is streamed, because `what` needs all of it in memory. */
enhope_status eh_dataset_in_memory(enhope_context *ctx, const enhope_dataset *data, const char *what);
/* Rows per block for a pass over the data: about 32 MB, at most an eighth of the memory limit. */
int64_t eh_dataset_block_rows(const enhope_context *ctx, const enhope_dataset *data);

/* ---- rows.c ---- */

/* Copies what is not a row: names of classes and inputs, the encoding, the source, the size of
 * images. x.H of both is equal. */
enhope_status eh_dataset_describe(enhope_context *ctx, const enhope_dataset *from, enhope_dataset *to);

/* ---- scaling.c ---- */

typedef enum eh_scale {
    EH_SCALE_AUTO, /* range if the columns share a scale (images, counts of words), else standard */
    EH_SCALE_NONE,
    EH_SCALE_RANGE,   /* one range for the whole matrix -> [0, 1] */
    EH_SCALE_MINMAX,  /* each column -> [0, 1] */
    EH_SCALE_STANDARD /* each column -> mean 0, standard deviation 1 */
} eh_scale;

/* Fits x_scaled = (x - shift) * mul, column by column, on the rows rows[0..n) of x only (NULL: the
 * first n). Replaces *kind if it is auto. shift and mul are (H), allocated by the caller.
 *
 *             dense shift   dense mul               sparse mul (shift is 0: sparse stays sparse)
 *   none      0             1                       1
 *   range     min of all    1 / (max - min) of all  1 / max |x| of all
 *   minmax    min_j         1 / (max_j - min_j)     1 / max |x_j|
 *   standard  mean_j        1 / sd_j (of n)         1 / root mean square of x_j, with zeros
 *
 * If the divisor is 0 (a constant column or matrix, an empty sparse column), mul is 1. With auto,
 * `standard` does not change columns of zeros and ones. Values above 1e30 are an error; its message
 * has the name of the input if `name` (H) is not NULL. */
enum {
    EH_SCALING_IMAGES = 1, /* hint: the rows are images */
    EH_SCALING_CENTER = 2  /* hint: auto may center sparse columns, so that zeros do not stay zeros */
};
enhope_status eh_scaling_fit(enhope_context *ctx, eh_scale *kind, const eh_matrix *x, char *const *name, int hints,
                             const int64_t *rows, int64_t n, float *shift, float *mul);

/* ---- fingerprint.c ---- */

/* Identity of a data set: its shape and hashes of the class names, of all labels and weights and of
 * the values of some rows. */
typedef struct eh_fingerprint {
    int64_t n, H, image_rows, image_columns;
    int32_t c;
    enhope_kind kind;
    uint64_t names, labels, values;
    uint64_t weights; /* 0: there are none */
} eh_fingerprint;
enhope_status eh_fingerprint_compute(enhope_context *ctx, const enhope_dataset *data, eh_fingerprint *out);
/* Conversion to one line of text and back. Parsing returns false for any other text. */
enum { EH_FINGERPRINT_TEXT = 256 };
void eh_fingerprint_print(const eh_fingerprint *f, char text[EH_FINGERPRINT_TEXT]);
bool eh_fingerprint_parse(const char *text, eh_fingerprint *out);
/* Describes the first difference, as in "600 samples, 500 before"; returns false if there is none.
 */
bool eh_fingerprint_differs(const eh_fingerprint *now, const eh_fingerprint *before, char *what, size_t size);

/* ---- split.c ---- */

/* Parses "N@SEED" and shuffles 0..n-1 by Fisher-Yates from the end, j = SplitMix64() % (i + 1). The
 * first N are the train part. With "0.8@SEED" the train part has this fraction of every class, by
 * largest remainders; label is (n) 0..c-1, -1: unlabeled, or NULL. Stores the rows of `part`
 * ("train", "test"; NULL: train) in *rows (eh_alloc) and their number, at least 1. */
enhope_status eh_split_rows(enhope_context *ctx, const char *text, const char *part, const int32_t *label, int32_t c,
                            int64_t n, int64_t **rows, int64_t *count);

#endif
