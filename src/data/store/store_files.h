/* Structure of a store over files. Internal to src/data. */
#ifndef EH_STORE_FILES_H
#define EH_STORE_FILES_H

#include <stdatomic.h>

#include "data/read/read.h"
#include "data/store/store.h"

/* What a file must contain. It is compared when the file is read first. */
typedef struct eh_checksum {
    int64_t bytes;
    uint32_t crc;
    atomic_bool verified;
} eh_checksum;

/* An array in a file: offset and type of its values. */
typedef struct eh_array_file {
    char *path; /* NULL: no file */
    int64_t offset;
    eh_array a;
    eh_checksum *sum; /* NULL: none is known */
} eh_array_file;

enum { EH_VALUES, EH_LABELS, EH_STARTS, EH_COLUMNS, EH_ARRAYS };

/* A contiguous range of rows with one file for each array. row_start of a sparse span counts from
 * 0. */
typedef struct eh_span {
    int64_t first, n;      /* rows of the store */
    int64_t stored_before; /* number of values in the spans before it */
    eh_array_file array[EH_ARRAYS];
} eh_span;

enum { EH_MISSING = -2 }; /* marks a class that means "label missing" */

typedef struct eh_files {
    eh_span *span; /* (spans) in the order of their rows */
    int64_t spans;
    /* A label in the files is a number, used as index of class_of (numbers). If `texts` are
     * present, the index of its text is used instead. In shards -1 means unlabeled; in other files
     * a text may mean it, and its class is EH_MISSING. */
    int32_t *class_of;
    int32_t numbers;
    bool unlabeled;
    eh_labels texts;
    bool by_text;
} eh_files;

/* Reads the header of a plain NPY or IDX file and checks that all its values are present. *plain is
 * false if it is compressed or not a regular file. */
enhope_status eh_array_file_open(enhope_context *ctx, const char *path, bool idx, eh_array_file *out, bool *plain);
void eh_array_file_free(eh_array_file *file);
void eh_files_free(eh_files *files);
/* Compares a file with its checksum. step (NULL: none) receives the number of bytes of each read
 * and returns true to stop (ENHOPE_STOPPED). */
enhope_status eh_checksum_verify(enhope_context *ctx, const char *path, const eh_checksum *sum,
                                 bool (*step)(int64_t bytes, void *user), void *user);
/* Creates a store over the files, whose spans are complete, with c classes (0: unlabeled). Takes
 * ownership of the files, even on failure. */
enhope_status eh_store_from_files(enhope_context *ctx, enhope_kind kind, int64_t H, int32_t c, eh_files *files,
                                  eh_store **out);

#endif
