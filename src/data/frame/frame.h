/* Frames: rows of named, typed columns, before they become numbers.
 *
 *   CSV text -> records (csv.c) -> schema (schema.c: header, label column, types of all columns)
 *     -> frame (read_frame.c) -> encoding, fitted to the training rows (encoding.c)
 *     -> rows of a data set (encode.c)
 *
 * A schema is what one pass over a file finds out about its columns. A frame holds the values of
 * some rows, typed. An encoding says which inputs of a map each column becomes. It is stored in the
 * model, so that a model reads the columns of its training data by name, in any order. */
#ifndef EH_FRAME_H
#define EH_FRAME_H

#include "base/base.h"

typedef enum eh_column_type {
    EH_COLUMN_NUMBER,
    EH_COLUMN_BOOLEAN,  /* true and false, yes and no, in any case */
    EH_COLUMN_CATEGORY, /* texts, or numbers that the user calls categories */
    EH_COLUMN_DATE,     /* dates, with or without a time */
    EH_COLUMN_ID,       /* unique texts, or a counter: says nothing about other rows */
    EH_COLUMN_EMPTY     /* no value at all */
} eh_column_type;

/* "number", "boolean", "category", "date", "id", "empty" (encoding_json.c) */
const char *eh_column_type_name(eh_column_type type);

/* How the texts of a column denote its values. All of them have the same form. */
typedef enum eh_form {
    EH_FORM_PLAIN,
    EH_FORM_DAY_FIRST,   /* dates: 31.12.2020, 31/12/2020 or 31-12-2020, or ISO 8601 */
    EH_FORM_MONTH_FIRST, /* dates: 12/31/2020, or ISO 8601 */
    EH_FORM_PERCENT,     /* numbers: 47% is 47 */
    EH_FORM_THOUSANDS,   /* numbers: 1,234.5 is 1234.5; also numbers without separators */
    EH_FORMS
} eh_form;

typedef enum eh_column_role {
    EH_ROLE_INPUT,
    EH_ROLE_LABEL,
    EH_ROLE_ID,     /* copied to outputs */
    EH_ROLE_IGNORED /* by the user, or because the column is an id, empty or constant */
} eh_column_role;

/* A column of a file, and what training does with it. */
typedef struct eh_column_schema {
    char *name; /* from the header, or "column 3" */
    eh_column_type type;
    eh_column_role role;
    eh_form form;
    int64_t values, missing; /* number of rows with and without a value */
    int64_t distinct;        /* number of distinct values, counted up to a limit */
    double minimum, maximum; /* of numbers and dates; NaN: none */
    bool integers;           /* all numbers are integers */
    char reason[96];         /* why it has this role: "the last column", "a counter" */
} eh_column_schema;

typedef struct eh_schema {
    eh_column_schema *column; /* (columns) */
    int64_t columns;
    int64_t label; /* the label column; -1: none */
    int64_t id;    /* the column of ids; -1: none */
    int64_t *kept; /* (kept_columns) columns whose texts are kept for outputs: ids, then others */
    int64_t kept_columns;
    bool weighted; /* the last of them has the weights of the rows */
    int64_t rows;
    char decimal; /* '.' or ','; '\0': decided by the first number that has one */
    bool header;  /* the first record is a header */
} eh_schema;
/* Frees the fields. */
void eh_schema_free(eh_schema *schema);

/* A column of a frame. */
typedef struct eh_column {
    char *name;
    eh_column_type type;
    eh_form form;
    double *number; /* (n) of numbers, booleans (0, 1) and dates (days since 1970-01-01); NaN: missing; NULL: texts */
    int32_t *code;  /* (n) index of the text; -1: missing; NULL: numbers */
    char **text;    /* (texts) distinct texts in order of appearance */
    int32_t texts;
    bool varies; /* the source has different values, although the rows of the frame may not */
} eh_column;

typedef struct enhope_frame {
    int64_t n;
    eh_column *column; /* (columns): inputs, in the order of the source; the label and ids are not among them */
    int64_t columns;
    bool named;          /* columns have names of their own; false: "column 1", "column 2", ... */
    char *label_name;    /* of the label column; NULL: no name */
    int64_t label_place; /* of the label column among it and the columns of the frame, from 1; 0: not known */
} eh_frame;
void eh_frame_free(eh_frame *frame);
/* Frees the fields of a column. */
void eh_column_clear(eh_column *column);
/* The numbers number[0..n) as distinct texts and codes; NaN: missing. */
enhope_status eh_numbers_to_texts(enhope_context *ctx, const double *number, int64_t n, eh_column *out);

/* ---- encodings (encoding.c) ---- */

/* A column and the inputs that it becomes:
 *   number    x - offset, or fill - offset if x is missing
 *   boolean   0 or 1, or fill if it is missing
 *   category  one input per category, then one for all other texts if `other` is set; all are 0 if
 *             the value is missing
 *   date      days - offset; sine and cosine of the day of the year and of the weekday; of the
 *             time of day if `time` is set; sines and cosines are 0 if the value is missing
 * and last, if `indicator` is set, an input that is 1 if the value is missing. A constant column
 * has no inputs but, if `indicator` is set, that one. */
typedef struct eh_encoded {
    char *name;
    eh_column_type type;
    eh_form form;
    double fill;     /* the median, for missing values */
    double offset;   /* numbers: nonzero only if rounding x itself to float would lose precision */
    char **category; /* (categories), most frequent first */
    int32_t categories;
    bool other, time, indicator, constant;
    int64_t first, inputs; /* its inputs are first .. first + inputs */
} eh_encoded;

typedef struct eh_encoding {
    eh_encoded *column; /* (columns) */
    int64_t columns;
    int64_t H;           /* inputs of all columns */
    bool named;          /* columns have names of their own; false: they are found by position */
    char *label;         /* name of the label column; NULL: not known */
    int64_t label_place; /* of the label column among it and these columns, from 1; 0: not known */
} eh_encoding;

/* Sets first and inputs of each column, and H, from the other fields. */
void eh_encoding_layout(eh_encoding *encoding);
/* True if every column is a number that becomes one input unchanged, columns have no names, and the
 * label is the last column or not known.
 * Data sets and models do not store such an encoding. */
bool eh_encoding_is_plain(const eh_encoding *encoding);
/* True if the inputs are the values of the columns: each is a number that becomes one input
 * unchanged. */
bool eh_encoding_is_identity(const eh_encoding *encoding);
/* Fails if numbers were encoded with other offsets than those of `wanted`, which belongs to `whose`
 * (NULL: no offsets). */
enhope_status eh_encoding_check(enhope_context *ctx, const eh_encoding *wanted, const eh_encoding *found,
                                const char *whose);
/* The name of input j: "age", "color=red", "color=(other)", "age (missing)", "day.weekday.sin". */
enhope_status eh_encoding_input_name(enhope_context *ctx, const eh_encoding *encoding, int64_t j, char **out);
/* The names of all inputs (H); NULL if columns have no names and are all plain numbers. */
enhope_status eh_encoding_input_names(enhope_context *ctx, const eh_encoding *encoding, char ***out);
enhope_status eh_encoding_copy(enhope_context *ctx, const eh_encoding *encoding, eh_encoding **out);
void eh_encoding_free(eh_encoding *encoding);
/* The encoding of H columns of plain numbers without a fill; name (H), or NULL. */
enhope_status eh_encoding_of_numbers(enhope_context *ctx, int64_t H, char *const *name, eh_encoding **out);

/* Fits an encoding to the rows rows[0..n) of the frame (NULL: the first n). Columns that are
 * constant in these rows get no inputs; a warning names them (encoding_fit.c). */
enhope_status eh_encoding_fit(enhope_context *ctx, const eh_frame *frame, const int64_t *rows, int64_t n,
                              eh_encoding **out);

/* Whether float cannot resolve the differences of numbers of this size and standard deviation. */
bool eh_is_coarse(double largest, double sd);

/* Values of a column that its encoding has no input for. */
typedef struct eh_unseen {
    int64_t unknown;  /* texts that are no categories */
    int64_t missing;  /* values */
    char example[64]; /* an unknown text */
} eh_unseen;
/* Encodes the rows rows[0..n) of the frame (NULL: the first n) into X (n, H). The columns of the
 * frame are those of the encoding, with its types and in its order (see eh_frame_match). Counts
 * unseen values in unseen (columns), unless NULL (encode.c). */
enhope_status eh_encode(enhope_context *ctx, const eh_encoding *encoding, const eh_frame *frame, const int64_t *rows,
                        int64_t n, float *X, eh_unseen *unseen);
/* Warns of columns with unknown categories, or with missing values that training did not have. */
void eh_unseen_warn(enhope_context *ctx, const eh_encoding *encoding, const eh_unseen *unseen);
/* Makes the columns of a frame those of the encoding, in its order and with its types. They are
 * found by name or, if frame or encoding has no names, by position. Fails if columns are missing,
 * or if values do not have the type of their column. Other columns are dropped and logged.
 * (match.c) */
enhope_status eh_frame_match(enhope_context *ctx, const eh_encoding *encoding, eh_frame *frame, const char *where);

/* The encoding of the columns of a model; that of plain numbers if it stores none (model/model.c).
 */
enhope_status eh_model_encoding(enhope_context *ctx, const enhope_model *model, eh_encoding **out);

/* JSON text and back, for models and shards (encoding_json.c). */
enhope_status eh_encoding_print(enhope_context *ctx, const eh_encoding *encoding, char **out);
enhope_status eh_encoding_parse(enhope_context *ctx, const char *text, const char *where, eh_encoding **out);

/* ---- values of texts (values.c) ---- */

/* true, yes, t and y are 1; false, no, f and n are 0; in any case. False: another text. */
bool eh_boolean_parse(const char *text, size_t length, double *out);
/* ISO 8601: 2024-02-29 (or 2024/02/29), with a time 2024-02-29T23:59, 2024-02-29 23:59:59.5, and
 * with a zone Z or +02:00, which is ignored: the time is that of the clock at the place. *out is in
 * days since 1970-01-01. False: another text. */
bool eh_date_parse(const char *text, size_t length, double *out);
/* The same for dates of this form. */
bool eh_date_parse_form(const char *text, size_t length, eh_form form, double *out);
/* The length of the number in a percentage, "47" in "47%"; 0: the text is none. */
size_t eh_percent_length(const char *text, size_t length);
/* A number whose thousands are separated by commas: 1,234 or -12,345,678.9. False: another text,
 * also a number without a comma and 0,123. */
bool eh_thousands_parse(const char *text, size_t length, double *out);
/* The day of the year of a date, from 0. */
int eh_date_year_day(double days);

/* ---- columns that identify rows (ids.c) ---- */

/* True for the names of ids and indices: id, order_id, orderID, index, "Unnamed: 0". */
bool eh_id_name(const char *name);
/* Why a column of integers identifies the rows: "a counter" (of any start, in the first column or
 * under the name of an id), "unique numbers" (under such a name); NULL: it does not. name NULL: it
 * has no name. */
const char *eh_id_reason(const char *name, bool first, int64_t numbers, bool counter, bool unique);
/* True if texts identify the rows: nearly all of the many values differ. */
bool eh_id_texts(const char *name, int64_t values, int64_t distinct);
/* Makes columns of a named frame that identify its rows ids, and warns of them. */
enhope_status eh_frame_mark_ids(enhope_context *ctx, eh_frame *frame);

/* ---- lists of names in messages (name_list.c) ---- */

/* "'a', 'b', 'c' and 12 others" */
typedef struct eh_name_list {
    char text[768];
    int64_t count;
} eh_name_list;
void eh_name_list_add(eh_name_list *list, const char *name);
/* Adds "'a' (note)". */
void eh_name_list_add_with(eh_name_list *list, const char *name, const char *note);
/* Completes and returns the text. */
const char *eh_name_list_end(eh_name_list *list);

#endif
