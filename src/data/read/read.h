/* What the readers share: a stream of bytes, text lines, numbers, labels, arrays. Internal to src/data.
 *
 * A reader fills an empty data set (zeroed by eh_new) piece by piece. When it fails it leaves the pieces there and the
 * caller frees the whole; eh_dataset_check comes last and is the caller's. */
#ifndef EH_READ_H
#define EH_READ_H

#include "data/data.h"

/* ---- stream.c: bytes of a file, plain or gzip, or of standard input ---- */

typedef struct eh_stream {
    const char *name; /* for sentences */
    void *state;      /* gzFile, or a zip member */
    enhope_status (*read)(enhope_context *ctx, struct eh_stream *s, void *to, size_t want, size_t *got);
    void (*close)(struct eh_stream *s);
    int64_t left;   /* bytes still to come; -1: not known */
    int64_t stored; /* bytes of the file behind it, compressed or not: a measure of what may be allocated ahead */
} eh_stream;

/* "-" is standard input. Refuses what is missing, unreadable, a folder or empty. path must outlive the stream. */
enhope_status eh_stream_open(enhope_context *ctx, const char *path, eh_stream *s);
/* *got < want only at the end. A damaged or truncated file is a sentence. */
enhope_status eh_stream_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got);
/* How much of the file was read, from 0 to 1; NaN: not known. */
double eh_stream_share(const eh_stream *s);
void eh_stream_close(eh_stream *s); /* a zeroed stream is fine */

/* ---- text.c: a window on a text that moves along ---- */

typedef struct eh_text {
    eh_stream stream;
    char *buffer; /* (room); the text not used yet is buffer[at..used) */
    size_t room, at, used;
    bool end;     /* nothing follows buffer[used) */
    int64_t line; /* number of the line that buffer[at] begins */
} eh_text;

/* Skips a byte order mark; refuses an empty file. */
enhope_status eh_text_open(enhope_context *ctx, const char *path, eh_text *text);
/* Reads on: what is not used moves to the front, the buffer grows when it is full. Sets end when nothing came. */
enhope_status eh_text_more(enhope_context *ctx, eh_text *text);
/* How many more items of the length seen so far (`items` up to here) the rest of the text may hold; at least 1. */
int64_t eh_text_guess(const eh_text *text, int64_t items);
void eh_text_close(eh_text *text);

/* ---- labels.c: label texts become class numbers ---- */

typedef struct eh_labels {
    int32_t *id; /* (n) class by order of appearance; -1: missing */
    int64_t n, room;
    char **name; /* (c) */
    int32_t c, name_room;
    int32_t *slot; /* hash table of class + 1, 0: free */
    int64_t slots;
} eh_labels;

/* The class of this text by order of appearance, added where it is new. Equal spelling is an equal class; the text
 * is not empty. */
enhope_status eh_labels_class(enhope_context *ctx, eh_labels *labels, const char *text, size_t length, int32_t *id);
/* The class of this text; -1: there is none. */
int32_t eh_labels_find(const eh_labels *labels, const char *text, size_t length);
/* The class "-1", where it says that a label is missing: beside two or more that are whole numbers from 0; -1: none. */
int32_t eh_labels_minus_one(const eh_labels *labels);
/* Whether the text says that a label is missing: it is empty or NaN. */
bool eh_labels_missing(const char *text, size_t length);
/* rank (c): the number of each class when they are ordered as eh_labels_attach tells; -1: it says that a label is missing. */
enhope_status eh_labels_rank(enhope_context *ctx, const eh_labels *labels, int32_t *rank);
/* One more sample of the class of this text; one that is empty or NaN is missing. */
enhope_status eh_labels_add(enhope_context *ctx, eh_labels *labels, const char *text, size_t length);
enhope_status eh_labels_add_number(enhope_context *ctx, eh_labels *labels, double value);
/* Moves the labels to data, which stays unlabelled where all are missing; -1 may say that, too. Classes are ordered as
 * numbers when all names are numbers, else by bytes. Fails when there is not one for each sample; the two names say where
 * samples and labels came from. */
enhope_status eh_labels_attach(enhope_context *ctx, eh_labels *labels, enhope_dataset *data, const char *samples_from,
                               const char *labels_from);
/* Moves the names to data as its classes, by order of appearance. */
void eh_labels_give(eh_labels *labels, enhope_dataset *data);
void eh_labels_free(eh_labels *labels);

/* ---- array.c: arrays of binary files ---- */

enum { EH_RANK = 8 };
typedef struct eh_array {
    char kind;    /* 'u' unsigned, 'i' signed, 'f' float, 'b' boolean, 'S' bytes, 'U' UCS-4 text */
    int64_t size; /* bytes of an element */
    bool big;     /* big-endian */
    bool fortran; /* the first index moves fastest */
    int rank;     /* 1..EH_RANK */
    int64_t shape[EH_RANK];
} eh_array;

/* The rest of the stream, which must be exactly the array, as samples (first index) of inputs (the other indices).
 * uint8 and booleans stay bytes, everything else becomes float. */
enhope_status eh_array_inputs(enhope_context *ctx, const eh_array *a, eh_stream *s, enhope_dataset *data);
/* The same as labels: one index, or a second one of size 1. */
enhope_status eh_array_labels(enhope_context *ctx, const eh_array *a, eh_stream *s, eh_labels *labels);

/* The number of elements; refuses what overflows, is empty, or exceeds a stream of known size. */
enhope_status eh_array_measure(enhope_context *ctx, const eh_array *a, const eh_stream *s, int64_t *count);
/* That nothing follows the last element. */
enhope_status eh_array_end(enhope_context *ctx, eh_stream *s);
/* That x, which was measured, can be samples, and y (NULL: none) their labels. */
enhope_status eh_array_check_pair(enhope_context *ctx, const eh_array *x, const char *x_name, const eh_array *y,
                                  const char *y_name);
/* Whether elements stay bytes. */
bool eh_array_is_bytes(const eh_array *a);
/* Whether they lie in the file as they are held: conversion is a copy. */
bool eh_array_is_direct(const eh_array *a);
/* count elements at raw as bytes or floats. */
void eh_array_convert(const eh_array *a, const unsigned char *raw, int64_t count, void *to);
/* One element as a whole number. */
int64_t eh_array_integer(const eh_array *a, const unsigned char *raw);
/* Element i, at raw, as the text of a label, in `buffer` (of a->size + EH_LABEL_TEXT bytes) or where it lies. */
enum { EH_LABEL_TEXT = 40 };
enhope_status eh_array_label_text(enhope_context *ctx, const eh_array *a, const unsigned char *raw, int64_t i,
                                  char *buffer, const char **text, size_t *length);

/* ---- rows that pass by: what a reader that is given a sink does instead of holding all of them ---- */

enum { EH_SINK_VALUES = 1 << 20 }; /* held at most before they are passed on, but for one row */
typedef struct eh_sink {
    /* Some more rows; label (x->n) counts classes by order of appearance, NULL: there are none. share: of the source, from
     * 0 to 1, that was read so far; NaN: not known. */
    enhope_status (*take)(enhope_context *ctx, struct eh_sink *sink, const eh_matrix *x, const int32_t *label,
                          double share);
    int64_t skip; /* rows at the beginning that are not wanted: a reader that can begins after them and sets it to 0 */
    bool full;    /* no more is wanted */
} eh_sink;

/* ---- one reader a format ---- */

/* The header alone; the values follow. */
enhope_status eh_idx_header(enhope_context *ctx, eh_stream *s, eh_array *a);
enhope_status eh_npy_header(enhope_context *ctx, eh_stream *s, eh_array *a);

/* Either data or labels is NULL: the array becomes the other. */
enhope_status eh_read_idx(enhope_context *ctx, const char *path, enhope_dataset *data, eh_labels *labels);
enhope_status eh_read_npy(enhope_context *ctx, eh_stream *s, enhope_dataset *data, eh_labels *labels);

/* label: name or 1-based index of the column; "none"; NULL: found by name, else the last. With a sink, the rows go there
 * and data is left with names alone, classes by order of appearance. */
enhope_status eh_read_csv(enhope_context *ctx, const char *path, const char *label, int64_t inputs,
                          enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels); /* one column */

enhope_status eh_read_libsvm(enhope_context *ctx, const char *path, bool labelled, enhope_dataset *data, eh_sink *sink);

/* Inputs and labels (y_path NULL: none) row after row to the sink; idx: of IDX, else NPY. *done false: the first index moves
 * fastest, and nothing was passed on. */
enhope_status eh_read_pair_through(enhope_context *ctx, const char *x_path, bool x_idx, const char *y_path, bool y_idx,
                                   enhope_dataset *data, eh_sink *sink, bool *done);

/* A folder with shards.json becomes data->store. */
enhope_status eh_read_shards(enhope_context *ctx, const char *folder, bool labelled, enhope_dataset *data);

/* read.c: the source row after row, in constant memory where its format allows it, to the sink; what is left in data are
 * H, kind, names and image shape. */
enhope_status eh_read_through(enhope_context *ctx, const enhope_source *source, enhope_dataset **data, eh_sink *sink);

/* part: "train", "test" or NULL; *parts tells whether the file has them. variables: "X,y", "X" or NULL. */
enhope_status eh_read_npz(enhope_context *ctx, const char *path, const char *part, const char *variables, bool labelled,
                          enhope_dataset *data, bool *parts);

/* mat_check.c: refuses a file whose sizes are not those of its bytes, before libmatio believes them. */
enhope_status eh_mat_check(enhope_context *ctx, const char *path);
enhope_status eh_read_mat(enhope_context *ctx, const char *path, const char *variables, bool labelled,
                          enhope_dataset *data);

/* ---- zip.c: the members of a zip archive ---- */

typedef struct eh_zip_member {
    char *name;
    int64_t packed, size, offset; /* offset of the local header */
    uint32_t crc;
    bool deflated; /* else stored */
    bool readable; /* neither encrypted nor packed in another way */
} eh_zip_member;

typedef struct eh_zip {
    const char *path;
    void *file; /* FILE */
    int64_t bytes;
    eh_zip_member *member;
    int64_t count;
} eh_zip;

enhope_status eh_zip_open(enhope_context *ctx, const char *path, eh_zip *zip);
/* NULL: there is none of this name. */
const eh_zip_member *eh_zip_find(const eh_zip *zip, const char *name);
/* One member at a time; its checksum is compared when its end is reached. zip and name must outlive the stream. */
enhope_status eh_zip_stream(enhope_context *ctx, eh_zip *zip, const eh_zip_member *member, const char *name,
                            eh_stream *s);
void eh_zip_close(eh_zip *zip);

#endif
