/* Records of CSV and TSV text, and of JSON lines. */
#ifndef EH_CSV_H
#define EH_CSV_H

#include "data/read/read.h"

typedef struct eh_field {
    char *text; /* in the window of the text, not terminated */
    size_t length;
} eh_field;

typedef struct eh_csv {
    eh_text text;
    char delimiter; /* '\0': not known before the first record */
    bool begun;     /* the first record was found */
    int64_t line;   /* first line of the record */
    bool damaged;   /* text follows a closing quote, or it is no JSON: the record has no fields */
    eh_field *field;
    int64_t fields, capacity;
    /* Of a text that arrives in chunks: */
    bool fresh;         /* no line was read: a byte order mark may follow */
    bool detect;        /* the first line decides whether the text is JSON lines */
    bool json, objects; /* lines are JSON: objects, or arrays; false: CSV */
    eh_labels key;      /* keys of the first object: the columns */
    const char *reason; /* why a line of JSON is damaged */
    int64_t quote;      /* line of the quote that is not closed in the text so far; 0: none */
    bool warned;        /* of a long field */
} eh_csv;

/* A text that is read twice although its source can be read only once (a pipe, standard input). */
typedef struct eh_spool {
    char *bytes; /* NULL: the source is a file and is opened again */
    size_t size;
    const char *name;
} eh_spool;
/* Reads the source into memory if it is not a regular file. */
enhope_status eh_spool_fill(enhope_context *ctx, const char *path, eh_spool *spool);
void eh_spool_free(eh_spool *spool);

/* delimiter: '\0' means the tab in *.tsv, otherwise the character of a first line sep=; (as Excel
 * writes it), otherwise the most frequent of , ; and tab in the first record. A first line that
 * names the delimiter is skipped. spool may be NULL. path and spool must outlive f. */
enhope_status eh_csv_open(enhope_context *ctx, const char *path, const eh_spool *spool, char delimiter, eh_csv *f);
/* Reads the next record that is not blank; *found is false at the end. Its fields are valid until
 * the next call. */
enhope_status eh_csv_next(enhope_context *ctx, eh_csv *f, bool *found);
/* As eh_csv_next, but does not divide the record into fields. */
enhope_status eh_csv_skip(enhope_context *ctx, eh_csv *f, bool *found);

/* ---- a text that arrives in chunks ---- */

/* As eh_csv_open, without text. If the delimiter is not given, the text may also be JSON lines: the
 * keys of the first object are the header, and an array has the fields of a line. name must outlive
 * f. */
enhope_status eh_csv_open_chunks(enhope_context *ctx, const char *name, char delimiter, eh_csv *f);
/* Appends text. Fields of the last record become invalid. */
enhope_status eh_csv_append(enhope_context *ctx, eh_csv *f, const char *text, size_t size);
/* No more text follows. */
void eh_csv_end(eh_csv *f);
/* True if the next record is complete, so that eh_csv_next returns it, or if the text has ended. */
bool eh_csv_ready(eh_csv *f);

/* json_lines.c: the fields of a line of JSON, in place. A field of an object is that of its key;
 * its text is NULL if the key is absent. Strings are unescaped, null becomes an empty field, nested
 * values stay JSON. Keys that the first line has not are ignored. */
enhope_status eh_json_split(enhope_context *ctx, eh_csv *f, char *line, size_t length);
/* The keys of the first object, as a record. */
enhope_status eh_json_header(enhope_context *ctx, eh_csv *f, const char *line, size_t length);
/* Reserves memory for one more field. */
enhope_status eh_csv_grow(enhope_context *ctx, eh_csv *f);

/* The name of the source for messages. */
const char *eh_csv_name(const eh_csv *f);
void eh_csv_close(eh_csv *f);

#endif
