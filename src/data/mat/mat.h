/* MATLAB 5 files: their variables and values (mat.c). read_mat.c decides which of them are
 * inputs, labels and names. */
#ifndef EH_MAT_H
#define EH_MAT_H

#include "base/base.h"

enum { EH_MAT_NAME = 128 };

/* A variable without its values. */
typedef struct eh_mat_variable {
    char name[EH_MAT_NAME];
    bool numeric, sparse, cell; /* all false: of no use to a reader of samples */
    bool bytes;                 /* of class uint8 or logical */
    bool complex;
    int rank;        /* 2 or 3; 2 if sparse */
    int64_t side[3]; /* 1 beyond the rank */
    int64_t count;   /* product of the sides, at least 1 */
    int64_t element; /* number in the file, from 1 */
} eh_mat_variable;

/* Numbers as the file stores them, in the byte order of this machine. */
typedef struct eh_mat_numbers {
    char kind; /* 'u' unsigned, 'i' signed, 'f' float */
    int size;  /* bytes of a number */
    int64_t count;
    void *data; /* (count) */
} eh_mat_numbers;

typedef struct eh_mat_values {
    eh_mat_numbers value;      /* dense: column-major; sparse: column by column */
    eh_mat_numbers row, start; /* sparse: row of each value; first value of each column, and the end */
} eh_mat_values;

/* The usable variables of a file. Reads the whole file and checks that its sizes match its bytes.
 * The caller frees *out, also after a failure. */
enhope_status eh_mat_list(enhope_context *ctx, const char *path, eh_mat_variable **out, int *count);
/* Reads the values of a numeric variable. The caller frees them, also after a failure. */
enhope_status eh_mat_read(enhope_context *ctx, const char *path, const eh_mat_variable *v, eh_mat_values *out);
void eh_mat_free(eh_mat_values *values); /* accepts zeroed values */
double eh_mat_value(const eh_mat_numbers *numbers, int64_t at);
/* The texts (v->count) of a cell as UTF-8; *out is NULL if an entry is not text or too long. */
enhope_status eh_mat_texts(enhope_context *ctx, const char *path, const eh_mat_variable *v, char ***out);

#endif
