/* Tables: from the records of a CSV file to its schema and to frames of typed values.
 *
 * The first pass over a file (scan.c) counts for each column what its fields look like. From the
 * counts follow the header (header.c), the label column (label_column.c), and the type and use of
 * every column (schema.c). The second pass (read_frame.c) stores the values. A model has an
 * encoding, which determines the columns, so that one pass is enough. */
#ifndef EH_TABLE_H
#define EH_TABLE_H

#include "data/table/csv.h"
#include "data/frame/frame.h"
#include "data/kept.h"

/* ---- fields.c ---- */

/* True for an empty field, NA, N/A, NaN, null, none, ?, - and ., in any case. */
bool eh_field_missing(const char *text, size_t length);
/* As eh_number_parse, with a decimal comma if decimal is ','. Values above 1e30 in size are
 * EH_NOT_FINITE, because float arithmetic with them overflows. */
eh_number_kind eh_field_number(const char *text, size_t length, char decimal, double *value);
/* True for a percentage, or a number with commas between thousands. */
bool eh_field_formed_number(const char *text, size_t length, char decimal);
/* True for a number that eh_field_number does not read: with thousands separators (1,234.5 or
 * 1.234,5 or 1'234), a currency sign or another decimal point. */
bool eh_field_written_number(const char *text, size_t length);
/* True for a number that may have thousands separators: 1,234 but neither 0,123 nor 1,2. */
bool eh_field_grouped(const char *text, size_t length);

/* ---- problems.c ---- */

enum { EH_EXAMPLES = 3 };
typedef struct eh_example {
    int64_t line;
    char text[40];
} eh_example;

typedef struct eh_problem {
    int64_t count;
    eh_example first[EH_EXAMPLES];
} eh_problem;
void eh_problem_note(eh_problem *problem, int64_t line, const char *text, size_t length);

typedef enum eh_problem_kind {
    EH_PROBLEM_NUMBER, /* not a number */
    EH_PROBLEM_RANGE,  /* infinite, or too large for float arithmetic */
    EH_PROBLEM_BOOLEAN,
    EH_PROBLEM_DATE,
    EH_PROBLEM_PERCENT,
    EH_PROBLEM_MISSING,
    EH_PROBLEM_FILL, /* missing, and the model has no value to use instead */
    EH_PROBLEM_UTF8,
    EH_PROBLEM_WEIGHT, /* not a number, or below 0 */
    EH_PROBLEM_ABSENT, /* JSON: the key is not in the line */
    EH_PROBLEM_FIELDS, /* of a line: another number of fields than the first line has */
    EH_PROBLEM_QUOTES, /* of a line: text follows a closing quote */
    EH_PROBLEM_JSON,   /* of a line: it is not JSON */
    EH_PROBLEMS
} eh_problem_kind;

typedef struct eh_problems {
    eh_problem *item; /* (columns + 1, EH_PROBLEMS), the last row for lines; NULL: no problems */
    int64_t columns;
    const eh_schema *schema; /* has the names of the columns; NULL: not known */
    int64_t first_line;      /* the line that sets the number of fields */
    bool fixed;              /* a model determines the columns */
} eh_problems;
/* The problem of a column, or of lines if column is the number of columns. */
enhope_status eh_problems_at(enhope_context *ctx, eh_problems *problems, int64_t column, eh_problem_kind kind,
                             eh_problem **out);
/* Notes a record that has no fields, or another number of fields than the first. */
enhope_status eh_problems_line(enhope_context *ctx, eh_problems *problems, const eh_csv *csv);
bool eh_problems_any(const eh_problems *problems);
/* Fails with a report of all problems. */
enhope_status eh_problems_fail(enhope_context *ctx, const eh_problems *problems, const char *where);
/* For lines that were skipped before the columns were known. */
enhope_status eh_problems_resize(enhope_context *ctx, eh_problems *problems, int64_t columns);
/* Warns of all problems: `rows` rows were skipped. */
void eh_problems_warn(enhope_context *ctx, const eh_problems *problems, int64_t rows, const char *where);
void eh_problems_free(eh_problems *problems);

/* ---- options.c: the options of a table ---- */

enum { EH_MISSING_IMPUTE, EH_MISSING_DROP, EH_MISSING_ERROR };
/* The options with all texts parsed. */
typedef struct eh_table_rules {
    int header;     /* 1: yes, 0: no, -1: detected */
    char delimiter; /* '\0': detected */
    char decimal;   /* '\0': detected */
    int missing;
    bool skip_bad, label_optional;
} eh_table_rules;
/* options NULL: all defaults. */
enhope_status eh_table_rules_parse(enhope_context *ctx, const enhope_table_options *options, eh_table_rules *out);

/* ---- column_list.c: columns that the user names ---- */

typedef struct eh_column_list {
    int64_t *at; /* (count) */
    int64_t count;
    bool named; /* at least one column was given by its name */
} eh_column_list;
/* Parses names and 1-based numbers, separated by commas; a name may be quoted. name (columns);
 * NULL: only numbers are known. text NULL: an empty list. */
enhope_status eh_column_list_parse(enhope_context *ctx, const char *where, const char *option, const char *text,
                                   char *const *name, int64_t columns, eh_column_list *out);
bool eh_column_list_has(const eh_column_list *list, int64_t column);
void eh_column_list_free(eh_column_list *list);

/* The columns that the options name. */
typedef struct eh_choice {
    eh_column_list ignore, id, categorical, numeric, keep, weight; /* ignore has the column of weight, too */
    int64_t label;                                                 /* EH_LABEL_UNKNOWN, EH_LABEL_NONE or a column */
    bool label_named;                                              /* the label was given by its name */
    bool named; /* at least one column was given by its name: there is a header */
} eh_choice;
enum { EH_LABEL_NONE = -1, EH_LABEL_UNKNOWN = -2 };
enhope_status eh_choice_parse(enhope_context *ctx, const eh_input *in, const char *where, char *const *name,
                              int64_t columns, eh_choice *out);
void eh_choice_free(eh_choice *choice);

/* ---- scan.c: the first pass ---- */

/* A set of hashes, which grows up to a limit. */
typedef struct eh_distinct {
    uint64_t *slot; /* (slots) 0: free */
    int64_t slots, count;
    int64_t seen; /* values up to the limit */
    bool full;    /* the limit was reached; values after it are not counted */
} eh_distinct;
enhope_status eh_distinct_add(enhope_context *ctx, eh_distinct *set, const void *bytes, size_t length);
bool eh_distinct_has(const eh_distinct *set, const char *text, size_t length);

/* What the fields of a column look like. */
/* Texts of one form in a column. */
typedef struct eh_form_scan {
    int64_t count;
    double minimum, maximum;
} eh_form_scan;

typedef struct eh_column_scan {
    int64_t numbers;
    double minimum, maximum; /* of the numbers */
    double first, last;
    bool integers;            /* all numbers are integers */
    bool counter;             /* every number is its predecessor plus 1 */
    bool counted;             /* numbers are in `distinct`, too */
    int64_t missing, markers; /* fields without a value; of these, those that are not empty or NaN */
    int64_t commas;           /* numbers with a decimal comma */
    int64_t booleans, dates, texts;
    double first_date, last_date; /* minimum and maximum */
    int64_t written;              /* texts that are numbers by eh_field_written_number */
    eh_form_scan form[EH_FORMS];  /* of the texts */
    eh_distinct distinct;         /* of texts, booleans and, if counted, numbers and markers */
    eh_problem other;             /* fields that are neither numbers nor missing */
    eh_problem infinite, empty;
} eh_column_scan;
int64_t eh_column_scan_values(const eh_column_scan *c);
/* The largest number of texts of one form. */
int64_t eh_column_scan_formed(const eh_column_scan *c);

typedef struct eh_scan {
    eh_table_rules rules;
    eh_csv csv;
    char **first; /* (columns) fields of the first record */
    int64_t columns, first_line;
    eh_column_scan *column; /* of the records after the first */
    int64_t rows;           /* records after the first, without those that are not readable */
    int64_t commas, points; /* numbers with a decimal comma and with a decimal point */
    int64_t grouped;        /* numbers with a comma before three digits, which may separate thousands */
    char decimal;
    eh_choice choice;
    eh_problems problems; /* of lines */
} eh_scan;
/* Reads all records of the file. */
enhope_status eh_scan_read(enhope_context *ctx, const eh_input *in, const eh_spool *spool, eh_scan *scan);
/* Adds the first record to the columns: it is no header. */
enhope_status eh_scan_add_first(enhope_context *ctx, eh_scan *scan);
void eh_scan_free(eh_scan *scan);

/* ---- header.c, label_column.c, schema.c ---- */

/* Decides whether the first record is a header; why: a text for the log. */
bool eh_header_detect(const eh_scan *scan, char *why, size_t size);
/* The names of all columns: the fields of the header, made unique, or "column 3". */
enhope_status eh_header_names(enhope_context *ctx, const char *where, char *const *first, int64_t columns, bool header,
                              char ***out);

/* The rank of a usual name of label columns, 0 for the first; -1: another name. */
int eh_label_name_rank(const char *name);
enum { EH_PLAIN_LABEL_NAMES = 4 }; /* usual names that are not used for inputs */
/* Sets schema->label, and fails if there is no label column or if it cannot be one. The other
 * columns have their types. why: how it was found, "the last column". */
enhope_status eh_label_column_find(enhope_context *ctx, const eh_scan *scan, const char *where, eh_schema *schema,
                                   char *why, size_t size);

/* A label column that a table without a header has by its position: its values must be classes of
 * the model, else the columns are others than they seem. */
typedef struct eh_position_check {
    bool active;
    eh_labels classes;      /* of the model */
    int64_t rows;           /* counted so far */
    int64_t labeled, known; /* rows with a label; of these, rows with a class of the model */
    bool counter;           /* the first column counts the rows, from any number */
    double start;           /* its value in the first row */
} eh_position_check;
struct eh_table;
enhope_status eh_position_open(enhope_context *ctx, const struct eh_table *table, eh_position_check *check);
/* Counts the rows of the frame. */
void eh_position_count(eh_position_check *check, const struct eh_table *table);
/* Counts the rows of the frame up to the first that, with the rows before it, contradicts the
 * position of the label. Returns the number of rows before it, which chunks of a text do not
 * change. */
int64_t eh_position_good_rows(eh_position_check *check, const struct eh_table *table);
/* Fails if the rows so far contradict the position of the label. */
enhope_status eh_position_fail(enhope_context *ctx, const eh_position_check *check, const struct eh_table *table);
void eh_position_free(eh_position_check *check);

/* The schema of a file from a pass over it. Fails with all problems of the file. */
enhope_status eh_schema_read(enhope_context *ctx, const eh_input *in, const eh_spool *spool, eh_schema *schema);

/* Sets schema->kept: ids, then the columns of --keep, then that of --weight. */
enhope_status eh_schema_list_kept(enhope_context *ctx, const eh_choice *choice, eh_schema *schema);

/* The reason of a label column that is found by its position, in a table without a header. Its
 * values must be classes of the model. */
#define EH_BY_POSITION "by position"
/* The schema of a file for a model, from the first record of csv and from in->encoding. source
 * (columns of the file): the column of the encoding, or -1. */
enhope_status eh_schema_match(enhope_context *ctx, const eh_input *in, const eh_table_rules *rules, const eh_csv *csv,
                              eh_schema *schema, int64_t **source);

/* ---- read_frame.c: the second pass ---- */

/* A file that is read as frames. */
typedef struct eh_table {
    const eh_input *in;
    eh_table_rules rules;
    eh_spool spool;
    eh_schema schema;
    eh_csv csv;
    eh_problems problems;
    eh_frame frame;   /* the current rows; its texts belong to `text` */
    eh_labels *text;  /* (columns of the frame) texts of the current rows */
    eh_labels labels; /* labels of the current rows; class names of all */
    eh_kept *kept;    /* receives texts of columns that are kept; NULL: they are not needed */
    int64_t *source;  /* (columns of the file) column of the frame, or -1 */
    int64_t capacity; /* rows of the frame */
    int64_t records;  /* records read so far, without the header */
    int64_t rows;     /* of these, rows that were used */
    int64_t skipped, dropped;
    bool found; /* csv has a record that was not used yet */
} eh_table;

/* Finds the schema and starts the second pass. in must outlive the table. */
enhope_status eh_table_open(enhope_context *ctx, const eh_input *in, eh_table *table);
/* Starts the second pass again. */
enhope_status eh_table_rewind(enhope_context *ctx, eh_table *table);
/* Reads up to `rows` rows into table->frame and table->labels, every `stride`-th row of the file;
 * frame.n is 0 at the end. Fails at the end, with all problems, if there are rows that cannot be
 * read. */
enhope_status eh_table_next(enhope_context *ctx, eh_table *table, int64_t rows, int64_t stride);
/* Parts of these functions: the columns of the frame, when the schema is known; the start of up to
 * `rows` rows; the current record as the next row, unless it cannot be used; the end of the
 * rows. */
enhope_status eh_table_open_frame(enhope_context *ctx, eh_table *table);
enhope_status eh_table_begin_rows(enhope_context *ctx, eh_table *table, int64_t rows);
enhope_status eh_table_store(enhope_context *ctx, eh_table *table, bool *used);
void eh_table_end_rows(eh_table *table);
/* Logs the rows that were skipped or dropped. */
void eh_table_log(enhope_context *ctx, const eh_table *table);
void eh_table_close(eh_table *table);

/* ---- chunks.c: a table whose text arrives in chunks, for a model ---- */

/* in has an encoding; in->path is the name of the source. */
enhope_status eh_table_open_chunks(enhope_context *ctx, const eh_input *in, eh_table *table);
/* Finds the columns as soon as the first record is complete; *known: they are known. */
enhope_status eh_table_find_columns(enhope_context *ctx, eh_table *table, bool *known);
/* Stores the complete records as rows of the frame, up to `rows`. Stops before a record that cannot
 * be read, unless these are skipped: *bad is then true, and eh_problems_fail describes it. */
enhope_status eh_table_next_chunks(enhope_context *ctx, eh_table *table, int64_t rows, bool *bad);

#endif
