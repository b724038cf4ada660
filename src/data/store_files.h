/* What a store over files is made of. Internal to src/data. */
#ifndef EH_STORE_FILES_H
#define EH_STORE_FILES_H

#include "data/read/read.h"
#include "data/store.h"

/* An array in a file: where its values begin, and what they are. */
typedef struct eh_array_file {
    char *path; /* NULL: there is none */
    int64_t offset;
    eh_array a;
} eh_array_file;

enum { EH_VALUES, EH_LABELS, EH_STARTS, EH_COLUMNS, EH_ARRAYS };

/* A run of rows: one file of each array. row_start of a sparse piece counts from 0. */
typedef struct eh_piece {
    int64_t first, n;      /* rows of the store */
    int64_t stored_before; /* values of the pieces before it */
    eh_array_file array[EH_ARRAYS];
} eh_piece;

enum { EH_MISSING = -2 }; /* a class that says that the label is missing */

typedef struct eh_files {
    eh_piece *piece; /* (pieces) in the order of their rows */
    int64_t pieces;
    /* A label of the files is a number, an index of class_of (numbers); where there are `texts`, it is the index of the
     * text among those. -1 is unlabelled in shards; elsewhere a text may be, whose class is EH_MISSING. */
    int32_t *class_of;
    int32_t numbers;
    bool unlabelled;
    eh_labels texts;
    bool by_text;
} eh_files;

/* Reads the header of a plain NPY or IDX file and checks that all its values are there. *plain false: it is packed, or no file. */
enhope_status eh_array_file_open(enhope_context *ctx, const char *path, bool idx, eh_array_file *out, bool *plain);
void eh_array_file_free(eh_array_file *file);
void eh_files_free(eh_files *files);
/* A store over the files, whose pieces are complete, of c classes (0: unlabelled); it owns them from here on, even on
 * failure. */
enhope_status eh_store_of_files(enhope_context *ctx, enhope_kind kind, int64_t H, int32_t c, eh_files *files,
                                eh_store **out);

#endif
