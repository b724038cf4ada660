/* MATLAB 5 files: the interface between the plug-in libenhope_mat.so (mat.c) and the reader
 * (read/read_mat.c).
 *
 * mat.c is the only file that uses libmatio, which depends on about forty other libraries. They are
 * loaded when the first MAT file is read. The plug-in writes no messages and frees its own memory.
 */
#ifndef EH_MAT_H
#define EH_MAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EH_MAT_NAME = 128 };

/* A variable without its values. */
typedef struct eh_mat_variable {
    char name[EH_MAT_NAME];
    bool numeric, sparse, cell;
    int rank;        /* 2 or 3; 2 if sparse */
    int64_t side[3]; /* 1 beyond the rank */
    int64_t count;   /* product of the sides, at least 1 */
} eh_mat_variable;

/* The values of a variable. The plug-in owns the memory. */
typedef struct eh_mat_values {
    void *owner;
    char kind;        /* 'u' unsigned, 'i' signed, 'f' float; 0: not numbers */
    int size;         /* bytes of a number */
    const void *data; /* dense: (count), column-major; sparse: (value_count), column by column */
    /* sparse only; the arrays may have inconsistent lengths */
    const uint32_t *row;   /* (row_count) */
    const uint32_t *start; /* (start_count) of each column, and the end */
    int64_t row_count, start_count, value_count;
} eh_mat_values;

/* Text of a cell: UTF-8, or two-byte units. The plug-in owns the memory. */
typedef struct eh_mat_text {
    const void *data; /* (count) of uint8_t, or of uint16_t if wide */
    size_t count;
    bool wide;
} eh_mat_text;

typedef enum eh_mat_result { EH_MAT_OK, EH_MAT_UNUSABLE, EH_MAT_END, EH_MAT_COMPLEX, EH_MAT_DAMAGED } eh_mat_result;

typedef struct eh_mat_ops {
    void *(*open)(const char *path); /* NULL: the file cannot be read */
    void (*close)(void *file);
    /* Describes the next variable: OK, UNUSABLE (not numbers or cells of two or three dimensions)
     * or END. */
    eh_mat_result (*next)(void *file, eh_mat_variable *v);
    /* Reads all values of a variable and compares them with its description: OK, COMPLEX or
     * DAMAGED. */
    eh_mat_result (*read)(void *file, const eh_mat_variable *v, eh_mat_values *out);
    /* Entry i of a cell; false if it is not text. */
    bool (*text)(const eh_mat_values *values, int64_t i, eh_mat_text *out);
    void (*free)(eh_mat_values *values); /* accepts zeroed values */
} eh_mat_ops;

/* The exported symbol. Returns NULL if table_size is not the plug-in's sizeof(eh_mat_ops), which
 * means another version. */
typedef const eh_mat_ops *(*eh_mat_table_fn)(size_t table_size);

#endif
