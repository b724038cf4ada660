/* Readers and their common parts: byte streams, text lines, labels, arrays, sinks. Internal to
 * src/data. read.c describes the path from a source to its rows. */
#ifndef EH_READ_H
#define EH_READ_H

#include "data/data.h"

/* ---- stream.c: bytes of a file, plain or gzip, or of standard input ---- */

typedef struct eh_stream {
    const char *name; /* for messages */
    void *state;      /* of gzip.c, or a zip member */
    enhope_status (*read)(enhope_context *ctx, struct eh_stream *s, void *to, size_t want, size_t *got);
    void (*close)(struct eh_stream *s);
    int64_t left;   /* remaining bytes; -1: unknown */
    int64_t stored; /* bytes of the underlying file, compressed or not; limits how much is allocated ahead */
} eh_stream;

/* Opens a file; "-" is standard input. Fails if it is missing, unreadable, a folder or empty. path
 * must outlive the stream. */
enhope_status eh_stream_open(enhope_context *ctx, const char *path, eh_stream *s);
/* Fails if the path is a pipe or a device, which cannot be read twice and may block. */
enhope_status eh_stream_check(enhope_context *ctx, const char *path);
/* Reads `want` bytes; *got is less only at the end. Fails on a damaged or truncated file. */
enhope_status eh_stream_read(enhope_context *ctx, eh_stream *s, void *to, size_t want, size_t *got);
/* Fraction of the file read, from 0 to 1; NaN: unknown. */
double eh_stream_share(const eh_stream *s);
void eh_stream_close(eh_stream *s); /* accepts a zeroed stream */

/* ---- a sliding window on a text, also stream.c ---- */

typedef struct eh_text {
    eh_stream stream;
    char *buffer; /* (capacity); the unread text is buffer[at..used) */
    size_t capacity, at, used;
    bool end;     /* no text follows buffer[used) */
    int64_t line; /* line number at buffer[at] */
} eh_text;

/* Skips a byte order mark; fails on an empty file. */
enhope_status eh_text_open(enhope_context *ctx, const char *path, eh_text *text);
/* The same for an open stream, which the text closes, also on failure. */
enhope_status eh_text_open_stream(enhope_context *ctx, const eh_stream *stream, eh_text *text);
/* Reads more text: moves the unread part to the front and grows a full buffer. Sets `end` if there
 * is no more. */
enhope_status eh_text_more(enhope_context *ctx, eh_text *text);
/* A text without a stream, which arrives in chunks. name must outlive it. */
enhope_status eh_text_open_chunks(enhope_context *ctx, const char *name, eh_text *text);
/* Adds text after the unread part, which moves to the front. Of a text with a NUL byte, which is a
 * failure, what is before it is added. */
enhope_status eh_text_append(enhope_context *ctx, eh_text *text, const char *bytes, size_t size);
/* Estimates how many more items the rest of the text contains, from the `items` read so far; at
 * least 1. */
int64_t eh_text_guess(const eh_text *text, int64_t items);
void eh_text_close(eh_text *text);

/* ---- labels.c: conversion of label texts to class numbers ---- */

typedef struct eh_labels {
    int32_t *id; /* (n) class in order of appearance; -1: missing */
    int64_t n, capacity;
    char **name; /* (c) */
    int32_t c, name_capacity;
    int32_t *slot; /* hash table of class + 1; 0: free */
    int64_t slots;
} eh_labels;

/* The class of this text in order of appearance; a new text adds a class. Classes are equal if
 * their spelling is. The text must not be empty. */
enhope_status eh_labels_class(enhope_context *ctx, eh_labels *labels, const char *text, size_t length, int32_t *id);
/* The class of this text; -1: unknown. */
int32_t eh_labels_find(const eh_labels *labels, const char *text, size_t length);
/* True if the text means "label missing": empty or NaN. */
bool eh_labels_missing(const char *text, size_t length);
/* rank (c): the final number of each class. Classes are sorted as numbers if all names are numbers,
 * otherwise by bytes. -1: the name means "label missing" (-1 beside two or more integers from 0).
 */
enhope_status eh_labels_rank(enhope_context *ctx, char *const *name, int32_t c, int32_t *rank);
/* As eh_labels_rank, for these labels; also stores the classes in data. `where` is for the log. */
enhope_status eh_labels_classes(enhope_context *ctx, const eh_labels *labels, const char *where, int32_t *rank,
                                enhope_dataset *data);
/* Adds a sample with the class of this text; an empty text or NaN means "missing". */
enhope_status eh_labels_add(enhope_context *ctx, eh_labels *labels, const char *text, size_t length);
enhope_status eh_labels_add_number(enhope_context *ctx, eh_labels *labels, double value);
/* Moves the labels to data and sorts its classes. */
enhope_status eh_labels_attach(enhope_context *ctx, eh_labels *labels, enhope_dataset *data);
/* Numbers the classes of data as eh_labels_rank does. If no labels remain, data becomes unlabeled.
 */
enhope_status eh_dataset_order_classes(enhope_context *ctx, enhope_dataset *data);
/* Moves the names to data as its classes, in order of appearance. */
void eh_labels_move_names(eh_labels *labels, enhope_dataset *data);
void eh_labels_free(eh_labels *labels);

/* ---- sink.c: sinks receive the rows of every reader ---- */

enum { EH_SINK_VALUES = EH_BUFFER(1 << 18) }; /* a reader passes about this many values at once, but at least one row */
typedef struct eh_sink {
    /* Receives a block of rows. label (x->n): indices of the class names that the reader stores in
     * its data set; NULL: no labels. share: fraction of the source read so far, from 0 to 1; NaN:
     * unknown. */
    enhope_status (*take)(enhope_context *ctx, struct eh_sink *sink, const eh_matrix *x, const int32_t *label,
                          double share);
    /* Set by the reader, before the rows that they concern: */
    const char *from; /* file or member, for messages; NULL: the source */
    int64_t rows;     /* number of rows in the source; 0: unknown */
    int64_t reserve;  /* rows to reserve memory for; 0: unknown */
    bool ordered;     /* class numbers are final */
    bool resident;    /* set by the sink: all rows stay in memory, and so may texts of columns */
    /* Set by the sink: */
    int64_t skip; /* leading rows to skip; a reader that can seek starts after them and sets it to 0 */
    bool full;    /* no more rows are needed */
} eh_sink;

/* The sink that appends rows to a data set in memory. */
typedef struct eh_memory {
    eh_sink sink; /* first member: the sink is the memory */
    enhope_dataset *data;
    int64_t capacity, stored, stored_capacity; /* of rows; values of sparse rows */
} eh_memory;
void eh_memory_open(eh_memory *memory, enhope_dataset *data);
/* Sorts the classes. Called after the last row. */
enhope_status eh_memory_finish(enhope_context *ctx, eh_memory *memory);

/* ---- array.c: arrays of binary files ---- */

enum { EH_RANK = 8 };
typedef struct eh_array {
    char kind;    /* 'u' unsigned, 'i' signed, 'f' float, 'b' boolean, 'S' bytes, 'U' UCS-4 text */
    int64_t size; /* bytes of an element */
    bool big;     /* big-endian */
    bool fortran; /* column-major: the first index varies fastest */
    int rank;     /* 1..EH_RANK */
    int64_t shape[EH_RANK];
    double *offset; /* (H) subtracted from the inputs before they become float; NULL: none */
} eh_array;

/* Centers of columns whose differences are lost if their values become float (centers.c). */
typedef struct eh_column_sums eh_column_sums;
typedef struct eh_centers {
    eh_column_sums *column; /* (H) */
    int64_t H;
} eh_centers;
enhope_status eh_centers_open(enhope_context *ctx, int64_t H, eh_centers *c);
/* Adds a value of column j. */
void eh_centers_add(eh_centers *c, int64_t j, double value);
/* *offset (H): the centers of such columns, 0 of others; NULL: there are none. */
enhope_status eh_centers_find(enhope_context *ctx, const eh_centers *c, double **offset);
void eh_centers_close(eh_centers *c);
/* The same from an encoding, if it has H numbers. */
enhope_status eh_centers_of(enhope_context *ctx, const eh_encoding *encoding, int64_t H, double **offset);
/* Gives data the encoding with these offsets, if there are any; like: the one they are from, or
 * NULL. */
enhope_status eh_centers_describe(enhope_context *ctx, const double *offset, const eh_encoding *like,
                                  enhope_dataset *data);

/* Sets the offsets of an array: those of an encoding, else (NULL) those found in the values that
 * are next in the stream. *read: the stream has been read. */
enhope_status eh_array_center(enhope_context *ctx, eh_array *a, eh_stream *s, const eh_encoding *encoding, bool *read);
/* Passes rows (first index) of inputs (the other indices) to the sink. Fails if data follows them
 * in the stream. uint8 and booleans stay bytes; all other types become float. like: the encoding of
 * the offsets, or NULL. */
enhope_status eh_array_rows(enhope_context *ctx, const eh_array *a, eh_stream *s, const eh_encoding *like,
                            enhope_dataset *data, eh_sink *sink);
/* Reads the elements first .. first + n, which are next in the stream, as labels of n more samples.
 */
enhope_status eh_array_labels(enhope_context *ctx, const eh_array *a, eh_stream *s, int64_t first, int64_t n,
                              eh_labels *labels);
/* Checks that the measured array can be labels: one dimension, or a second one of size 1. */
enhope_status eh_array_check_labels(enhope_context *ctx, const eh_array *a, const char *name, int64_t count);

/* Computes the number of elements. Fails if it overflows, is 0, or exceeds a stream of known size.
 */
enhope_status eh_array_measure(enhope_context *ctx, const eh_array *a, const eh_stream *s, int64_t *count);
/* Checks that nothing follows the last element. */
enhope_status eh_array_end(enhope_context *ctx, eh_stream *s);
/* Checks that the measured array x can be samples, and y (NULL: none) their labels. */
enhope_status eh_array_check_pair(enhope_context *ctx, const eh_array *x, const char *x_name, const eh_array *y,
                                  const char *y_name);
/* True if elements stay bytes. */
bool eh_array_is_bytes(const eh_array *a);
/* True if the file has the layout of memory, so that conversion is a copy. */
bool eh_array_is_direct(const eh_array *a);
/* Converts the elements first .. first + count, at raw, to bytes or floats. */
void eh_array_convert(const eh_array *a, const unsigned char *raw, int64_t first, int64_t count, void *to);
/* One element as an integer. */
int64_t eh_array_integer(const eh_array *a, const unsigned char *raw);
/* Element i, at p, as the text of a label: in `buffer` (a->size + EH_LABEL_TEXT bytes) or in place.
 */
enum { EH_LABEL_TEXT = 40 };
enhope_status eh_array_label_text(enhope_context *ctx, const eh_array *a, const unsigned char *p, int64_t i,
                                  char *buffer, const char **text, size_t *length);

/* ---- formats.c: one row per format ---- */

struct eh_format;

/* A request to a reader: a file, and which part of it to read. */
typedef struct eh_input {
    const char *path;
    const struct eh_format *format;
    bool labeled;      /* false: labels are not needed */
    const char *label; /* CSV: name or 1-based index of the label column; "none"; NULL: found by name, else the last */
    eh_encoding *encoding;                    /* of the columns of a model, owned by the caller; NULL: fit one */
    const struct enhope_table_options *table; /* CSV: NULL: all defaults */
    const enhope_model *model;                /* CSV: the model of the encoding; NULL: none */
    const char *split;     /* CSV: the split whose train part the encoding is fitted to; NULL: all rows */
    int64_t limit;         /* CSV: the encoding is fitted to the first so many of these rows; 0: all */
    const char *variables; /* NPZ, MAT: "X,y", "X"; NULL: found by name or shape */
    const char *part;      /* "train", "test" or NULL */
    bool parts;            /* set by the reader: the file has its own train and test parts */
} eh_input;

typedef struct eh_format {
    const char *name;
    const char *ends[3];                              /* suffixes of file names */
    bool (*recognize)(const char *head, size_t size); /* recognition by the first bytes */
    /* Passes all rows to the sink. data (zeroed by eh_new) receives kind, H, names and image shape,
     * but no values. A reader that must hold all rows stores them in data and passes data->x
     * itself. The caller calls eh_dataset_check at the end, and frees data if the reader fails. */
    enhope_status (*read)(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
    /* Formats of one array: reads the header, up to the first value. */
    enhope_status (*header)(enhope_context *ctx, eh_stream *s, eh_array *a);
    /* Other formats that may contain only labels. */
    enhope_status (*labels)(enhope_context *ctx, const char *path, eh_labels *labels);
    bool columns, variables; /* true if a label column, or variables, can be named */
    bool parts;              /* true if a file may have a train and a test part */
} eh_format;

/* Finds the format by the name, else by the first bytes; "-" and pipes are CSV. */
enhope_status eh_format_find(enhope_context *ctx, const char *path, const eh_format **out);

/* ---- locate.c: the files of a source ---- */

enum { EH_PATH = 4096 };
typedef struct eh_located {
    enum { EH_GENERATED, EH_SHARDED, EH_IMAGES, EH_FILES } kind;
    const char *x; /* the text after "synthetic:", the folder of shards or images, or the file of inputs */
    const char *y; /* file of labels; NULL: none */
    bool pair;     /* a file of inputs only, with or without y */
    bool parts;    /* the source has a train and a test part */
    char x_path[EH_PATH], y_path[EH_PATH]; /* storage for x and y */
} eh_located;
enhope_status eh_locate(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at);
/* True if labels are needed: the label column is not "none". */
bool eh_source_labeled(const enhope_source *source);

/* ---- class_names.c: names of classes ---- */

/* Replaces the names of the classes, which are numbers, by those in the file. */
enhope_status eh_class_names_read(enhope_context *ctx, const char *path, enhope_dataset *data);

/* ---- image_folder.c: folders of images ---- */

typedef struct eh_images {
    char **name; /* (n) paths below the folder, by class and name */
    int64_t n, capacity;
    eh_labels labels; /* of n samples; labels.n 0: the images are not in folders of classes */
} eh_images;

/* Finds the folder that has the images of a part, in path (EH_PATH); false: there are no images. */
bool eh_images_find(const char *folder, const char *part, char *path, bool *parts);
/* Lists the images of that folder. Warns of other files. The caller frees images (zeroed before),
 * also after a failure. */
enhope_status eh_images_list(enhope_context *ctx, const char *folder, eh_images *out);
void eh_images_free(eh_images *images);

/* ---- pair.c: a sink that adds labels from a second file ---- */

typedef struct eh_pair {
    eh_sink sink; /* first member: the sink is the pair */
    eh_sink *to;
    const char *x_name, *y_name;
    bool resident;    /* all labels are in `labels`; false: y_name is opened with the first rows */
    eh_stream stream; /* an array of labels, read as rows arrive; closed if the labels are resident */
    eh_array a;
    eh_labels labels;
    int64_t count, done; /* number of labels; rows so far */
} eh_pair;

/* The reader receives pair->sink. resident: the caller has filled pair->labels before the first
 * row. */
void eh_pair_open(eh_pair *pair, const char *x_name, const char *y_name, bool resident, eh_sink *to);
/* Called after the last row: moves class names to data. Fails if the numbers of labels and rows
 * differ. */
enhope_status eh_pair_finish(enhope_context *ctx, eh_pair *pair, enhope_dataset *data);
void eh_pair_close(eh_pair *pair);

/* ---- one reader per format ---- */

enhope_status eh_idx_header(enhope_context *ctx, eh_stream *s, eh_array *a);
enhope_status eh_npy_header(enhope_context *ctx, eh_stream *s, eh_array *a);
enhope_status eh_read_array(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink); /* array.c */
enhope_status eh_read_npz(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_csv(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
/* Sets the weights of a data set that was read from CSV with a column of weights. */
enhope_status eh_read_weights(enhope_context *ctx, enhope_dataset *data, const char *path);
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels); /* one column */
enhope_status eh_read_libsvm(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
enhope_status eh_read_mat(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink);
/* A folder of images. model NULL: images are gray if all files are. */
enhope_status eh_read_images(enhope_context *ctx, const char *folder, bool labeled, const enhope_model *model,
                             enhope_dataset *data, eh_sink *sink);

/* ../synthetic.c: "digits,n=6000,seed=1,part=train" or
 * "blobs,n=600,classes=3,inputs=5,spread=1,seed=1,part=train"; every key is optional; part: NULL,
 * or the default of that key. The test part is drawn separately and shares no sample with the train
 * part of the same seed. Uses 8 bytes per sample for the order of the labels. */
enhope_status eh_read_synthetic(enhope_context *ctx, const char *text, const char *part, enhope_dataset *data,
                                eh_sink *sink);

/* read.c: passes all rows of the source to the sink, in constant memory if its format allows it.
 * data (zeroed by eh_new) receives H, kind, names and image shape. */
enhope_status eh_read_rows(enhope_context *ctx, const enhope_source *source, enhope_dataset *data, eh_sink *sink);
/* Reports that there is no test part. */
enhope_status eh_fail_no_test(enhope_context *ctx, const char *path);

/* ---- zip.c: the members of a zip archive ---- */

typedef struct eh_zip_member {
    char *name;
    int64_t packed, size, offset; /* offset of the local header */
    uint32_t crc;
    bool deflated; /* false: stored */
    bool readable; /* not encrypted, and stored or deflated */
} eh_zip_member;

typedef struct eh_zip {
    const char *path;
    void *file; /* FILE */
    int64_t bytes;
    eh_zip_member *member;
    int64_t count;
} eh_zip;

enhope_status eh_zip_open(enhope_context *ctx, const char *path, eh_zip *zip);
/* The member of this name; NULL: none. */
const eh_zip_member *eh_zip_find(const eh_zip *zip, const char *name);
/* Opens one member at a time; its checksum is verified at its end. zip and name must outlive the
 * stream. */
enhope_status eh_zip_stream(enhope_context *ctx, eh_zip *zip, const eh_zip_member *member, const char *name,
                            eh_stream *s);
void eh_zip_close(eh_zip *zip);

#endif
