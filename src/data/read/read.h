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

/* One more sample. Equal spelling is an equal class; a label that is empty or NaN is missing. */
enhope_status eh_labels_add(enhope_context *ctx, eh_labels *labels, const char *text, size_t length);
enhope_status eh_labels_add_number(enhope_context *ctx, eh_labels *labels, double value);
/* Moves the labels to data, which stays unlabelled where all are missing; -1 may say that, too. Classes are ordered as numbers when all names are numbers, else by bytes. Fails when there
 * is not one for each sample; the two names say where samples and labels came from. */
enhope_status eh_labels_attach(enhope_context *ctx, eh_labels *labels, enhope_dataset *data, const char *samples_from,
                               const char *labels_from);
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

/* ---- one reader a format ---- */

/* Either data or labels is NULL: the array becomes the other. */
enhope_status eh_read_idx(enhope_context *ctx, const char *path, enhope_dataset *data, eh_labels *labels);
enhope_status eh_read_npy(enhope_context *ctx, eh_stream *s, enhope_dataset *data, eh_labels *labels);

/* label: name or 1-based index of the column; "none"; NULL: found by name, else the last. */
enhope_status eh_read_csv(enhope_context *ctx, const char *path, const char *label, int64_t inputs,
                          enhope_dataset *data);
enhope_status eh_read_csv_labels(enhope_context *ctx, const char *path, eh_labels *labels); /* one column */

enhope_status eh_read_libsvm(enhope_context *ctx, const char *path, bool labelled, enhope_dataset *data);

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
