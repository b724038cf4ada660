/* Readers and what they share: streams of bytes, text lines, labels, arrays, sinks. Internal to src/data; read.c describes
 * the way from a source to its rows. */
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

/* ---- a window on a text that moves along, also stream.c ---- */

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
/* Whether the text says that a label is missing: it is empty or NaN. */
bool eh_labels_missing(const char *text, size_t length);
/* rank (c): the number of each name if classes are ordered as numbers when all names are numbers, else by bytes; -1: the
 * name says that a label is missing (-1 beside two or more whole numbers from 0). */
enhope_status eh_labels_rank(enhope_context *ctx, char *const *name, int32_t c, int32_t *rank);
/* The same of these labels, of which data gets the classes; `where` is for the log. */
enhope_status eh_labels_classes(enhope_context *ctx, const eh_labels *labels, const char *where, int32_t *rank,
                                enhope_dataset *data);
/* One more sample of the class of this text; one that is empty or NaN is missing. */
enhope_status eh_labels_add(enhope_context *ctx, eh_labels *labels, const char *text, size_t length);
enhope_status eh_labels_add_number(enhope_context *ctx, eh_labels *labels, double value);
/* Moves the labels to data and orders its classes. */
enhope_status eh_labels_attach(enhope_context *ctx, eh_labels *labels, enhope_dataset *data);
/* Numbers the classes of data as eh_labels_rank does. Data without any label left becomes unlabelled. */
enhope_status eh_dataset_order_classes(enhope_context *ctx, enhope_dataset *data);
/* Moves the names to data as its classes, by order of appearance. */
void eh_labels_give(eh_labels *labels, enhope_dataset *data);
void eh_labels_free(eh_labels *labels);

/* ---- sink.c: where the rows of every reader go ---- */

enum { EH_SINK_VALUES = 1 << 18 }; /* a reader passes on about so many values at a time, but at least one row */
typedef struct eh_sink {
    /* Takes some more rows; label (x->n): indices of the class names that the reader leaves in its data set; NULL: there
     * are no labels. share: of the source, from 0 to 1, that has been read; NaN: unknown. */
    enhope_status (*take)(enhope_context *ctx, struct eh_sink *sink, const eh_matrix *x, const int32_t *label,
                          double share);
    /* Set by the reader, before the rows that they concern: */
    const char *from; /* file or member, for messages; NULL: the source */
    int64_t rows;     /* that the source announces; 0: unknown */
    int64_t reserve;  /* rows that are worth memory now; 0: unknown */
    bool ordered;     /* class numbers are final */
    /* Set by the sink: */
    int64_t skip; /* rows at the beginning that are not wanted: a reader that can begins after them and sets it to 0 */
    bool full;    /* no more is wanted */
} eh_sink;

/* Rows are appended to data. */
typedef struct eh_memory {
    eh_sink sink; /* first: the sink is the memory */
    enhope_dataset *data;
    int64_t capacity, stored, stored_capacity; /* rows; values of sparse rows */
} eh_memory;
void eh_memory_open(eh_memory *memory, enhope_dataset *data);
/* After the last row: the classes are ordered. */
enhope_status eh_memory_finish(enhope_context *ctx, eh_memory *memory);

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

/* Rows (first index) of inputs (the other indices) to the sink; nothing may follow them in the stream. uint8 and booleans
 * stay bytes, everything else becomes float. */
enhope_status eh_array_rows(enhope_context *ctx, const eh_array *a, eh_stream *s, enhope_dataset *data, eh_sink *sink);
/* Elements first .. first + n, which are next in the stream, as labels of so many more samples. */
enhope_status eh_array_labels(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t first, int64_t n,
                              eh_labels *labels);
/* That the array, which was measured, can be labels: one index, or a second one of size 1. */
enhope_status eh_array_check_labels(enhope_context *ctx, const eh_array *a, const char *name, int64_t count);

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
/* Element i, at p, as the text of a label, in `buffer` (of a->size + EH_LABEL_TEXT bytes) or where it lies. */
enum { EH_LABEL_TEXT = 40 };
enhope_status eh_array_label_text(enhope_context *ctx, const eh_array *a, const unsigned char *p, int64_t i,
                                  char *buffer, const char **text, size_t *length);

/* ---- formats.c: one row a format ---- */

struct eh_format;

/* What a reader is asked for: a file, and what of it. */
typedef struct eh_input {
    const char *path;
    const struct eh_format *format;
    bool labelled;         /* false: labels are not wanted */
    const char *label;     /* CSV: name or 1-based index of the column; "none"; NULL: found by name, else the last */
    int64_t inputs;        /* CSV: a table of so many columns has no label; 0: unknown */
    const char *variables; /* NPZ, MAT: "X,y", "X"; NULL: found by name or shape */
    const char *part;      /* "train", "test" or NULL */
    bool parts;            /* set by the reader: the file has parts of its own */
} eh_input;

typedef struct eh_format {
    const char *name;
    const char *ends[3];                              /* of file names */
    bool (*recognise)(const char *head, size_t size); /* by the first bytes */
    /* Passes all rows to the sink. data (zeroed by eh_new) gets kind, H, names and image shape, but no values: a reader
     * that has to hold all rows puts them there and passes data->x itself. What a reader that fails leaves in data is freed
     * by the caller; eh_dataset_check comes last and is the caller's. */
    enhope_status (*read)(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
    /* Formats of one array: the header, up to the first value. */
    enhope_status (*header)(enhope_context *ctx, eh_stream *s, eh_array *a);
    /* Other formats that may hold labels alone. */
    enhope_status (*labels)(enhope_context *ctx, const char *path, eh_labels *labels);
    bool columns, variables; /* whether a label column, or variables, can be named */
    bool parts;              /* whether a file may have a train and a test part */
} eh_format;

/* By the name, else by the first bytes; "-" and pipes are CSV. */
enhope_status eh_format_find(enhope_context *ctx, const char *path, const eh_format **out);

/* ---- locate.c: which files a source means ---- */

enum { EH_PATH = 4096 };
typedef struct eh_located {
    enum { EH_GENERATED, EH_SHARDED, EH_FILES } kind;
    const char *x;                         /* what follows "synthetic:", the folder of shards, or the file of inputs */
    const char *y;                         /* file of labels; NULL: none */
    bool pair;                             /* a file of inputs alone, with y or without */
    bool parts;                            /* the source has a train and a test part */
    char x_path[EH_PATH], y_path[EH_PATH]; /* behind x and y */
} eh_located;
enhope_status eh_locate(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at);
/* Whether labels are wanted: the label column is not "none". */
bool eh_source_labelled(const enhope_source *source);

/* ---- pair.c: a sink that adds labels from a second file ---- */

typedef struct eh_pair {
    eh_sink sink; /* first: the sink is the pair */
    eh_sink *to;
    const char *x_name, *y_name;
    bool held;        /* the labels are all in `labels`; else y_name is opened with the first rows */
    eh_stream stream; /* an array of labels, read as rows arrive; closed: they are held */
    eh_array a;
    eh_labels labels;
    int64_t count, done; /* labels; rows so far */
} eh_pair;

/* The reader is given pair->sink. held: the caller fills pair->labels before. */
void eh_pair_open(eh_pair *pair, const char *x_name, const char *y_name, bool held, eh_sink *to);
/* After the last row: class names to data. Refuses more or fewer labels than rows. */
enhope_status eh_pair_finish(enhope_context *ctx, eh_pair *pair, enhope_dataset *data);
void eh_pair_close(eh_pair *pair);

/* ---- one reader a format ---- */

enhope_status eh_idx_header(enhope_context *ctx, eh_stream *s, eh_array *a);
enhope_status eh_npy_header(enhope_context *ctx, eh_stream *s, eh_array *a);
enhope_status eh_read_array(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink); /* array.c */
enhope_status eh_read_npz(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_csv(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels); /* one column */
enhope_status eh_read_libsvm(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_mat(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);

/* ../synthetic.c: "digits,n=6000,seed=1,part=train" or "blobs,n=600,classes=3,inputs=5,spread=1,seed=1,part=train": every key
 * may be left out; part: NULL, or what is taken for the key. The test part is a draw of its own that shares no sample with
 * the train part of the same seed. 8 bytes a sample are held for the order of the labels. */
enhope_status eh_read_synthetic(enhope_context *ctx, const char *text, const char *part, enhope_dataset *data,
                                eh_sink *sink);

/* read.c: all rows of the source to the sink, in constant memory if its format allows it; data (zeroed by eh_new) gets H,
 * kind, names and image shape. */
enhope_status eh_read_rows(enhope_context *ctx, const enhope_source *source, enhope_dataset *data, eh_sink *sink);
/* The refusal of --part test. */
enhope_status eh_fail_no_test(enhope_context *ctx, const char *path);

/* mat_check.c: refuses a file whose sizes are not those of its bytes, before libmatio believes them. */
enhope_status eh_mat_check(enhope_context *ctx, const char *path);

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
