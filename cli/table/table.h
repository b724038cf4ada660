/* Tables of results, written row by row in the format that the name of the output file asks for.
 *
 *   ending     content                                               memory
 *   csv, tsv   a header and a line per row; also without an ending   constant
 *   json       an array of one object per row                        constant
 *   jsonl      one object per line                                   constant
 *   npy        the only column as one array                          constant; texts are collected
 *   npz        an array per column                                   all values are collected
 *
 * A column of several parts, such as the probabilities of all classes, is a matrix in npy and npz
 * and several columns or keys in the others. */
#ifndef ENHOPE_CLI_TABLE_H
#define ENHOPE_CLI_TABLE_H

#include "core/cli.h"

typedef enum cli_table_type { TABLE_TEXT, TABLE_INTEGER, TABLE_REAL } cli_table_type;

typedef struct cli_table_column {
    const char *name; /* of the array; also of the column, if it has no parts */
    cli_table_type type;
    int digits;              /* of reals, in texts */
    int64_t parts;           /* 0: a vector; else the columns of a matrix */
    const char *const *part; /* (parts) */
    const char *part_format; /* the name of a part as a column: "p(%s)" */
    const char *part_array;  /* npz: the array that holds the names of the parts; NULL: none */
} cli_table_column;

typedef struct cli_cell {
    const char *text; /* NULL: none */
    int64_t integer;
    double real;
} cli_cell;

/* Values of a column that are written at the end. */
typedef struct cli_table_values {
    char *bytes; /* numbers, or texts that end with NUL */
    size_t used, capacity;
    int64_t longest; /* code points of the longest text */
} cli_table_values;

typedef struct cli_table cli_table;

/* A format. Functions may be NULL. end returns 0, or an exit code after a message. */
typedef struct cli_table_format {
    const char *ending;
    void (*begin)(cli_table *t);
    void (*cell)(cli_table *t, const cli_cell *cell); /* column t->column, part t->part */
    void (*end_row)(cli_table *t);
    int (*end)(cli_table *t);
} cli_table_format;
extern const cli_table_format table_csv, table_tsv, table_json, table_jsonl; /* table_text.c */
extern const cli_table_format table_npy, table_npz;                          /* table_arrays.c */

enum { TABLE_COLUMNS = 1024 };
struct cli_table {
    const cli_table_format *format;
    cli_output output;
    cli_table_column columns[TABLE_COLUMNS];
    char *names[TABLE_COLUMNS]; /* of the columns */
    cli_table_values values[TABLE_COLUMNS];
    int count;          /* of columns */
    int64_t rows;       /* that will be written */
    int64_t done;       /* rows written */
    int column;         /* of the next cell */
    int64_t part;       /* likewise */
    bool out_of_memory; /* a value could not be collected */
};

/* The format of the option -o; fails for an unknown ending. */
int cli_table_choose(const cli_options *options, const cli_table_format **format);
/* Creates a table for `rows` rows in path; NULL or "-": standard output. The columns are added,
 * then the cells of all rows are put in order. Names of columns are copied; names of parts must
 * outlive the table. */
int cli_table_open(const cli_table_format *format, const char *path, int64_t rows, cli_table **out);
int cli_table_add(cli_table *t, const cli_table_column *column);
void cli_table_text(cli_table *t, const char *text); /* NULL: none */
void cli_table_integer(cli_table *t, int64_t value);
void cli_table_real(cli_table *t, double value);
/* Checks what was written so far. */
int cli_table_flush(cli_table *t);
/* Completes and replaces the file. */
int cli_table_close(cli_table *t);
void cli_table_free(cli_table *t); /* NULL is allowed; abandons a table that is not closed */

#endif
