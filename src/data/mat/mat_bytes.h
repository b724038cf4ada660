/* The bytes of a MATLAB 5 file, element by element, packed or not (mat_bytes.c). */
#ifndef EH_MAT_BYTES_H
#define EH_MAT_BYTES_H

#include <zlib.h>

#include "data/read/read.h"

enum { EH_MAT_CHUNK = 1 << 14 };

enum {
    EH_MAT_INT8 = 1,
    EH_MAT_UINT8 = 2,
    EH_MAT_INT16 = 3,
    EH_MAT_UINT16 = 4,
    EH_MAT_INT32 = 5,
    EH_MAT_UINT32 = 6,
    EH_MAT_SINGLE = 7,
    EH_MAT_DOUBLE = 9,
    EH_MAT_INT64 = 12,
    EH_MAT_UINT64 = 13,
    EH_MAT_MATRIX = 14,
    EH_MAT_PACKED = 15,
    EH_MAT_UTF8 = 16,
    EH_MAT_UTF16 = 17
};

/* A position in the file. */
typedef struct eh_mat_cursor {
    enhope_context *ctx;
    eh_stream s;
    bool big;             /* big-endian */
    int64_t element;      /* number of the open element, from 1, for messages */
    int64_t matrix;       /* bytes of its matrix that are not read yet */
    int64_t left;         /* bytes of the element still in the file */
    bool inflating, done; /* the element is a zlib stream; its end has been reached */
    z_stream z;
    unsigned char in[EH_MAT_CHUNK], skipped[EH_MAT_CHUNK];
} eh_mat_cursor;

/* The head of a part of a matrix. */
typedef struct eh_mat_tag {
    uint32_t type;
    int64_t bytes;
    bool small; /* its data is in these 4 bytes */
    unsigned char data[4];
} eh_mat_tag;

enhope_status eh_mat_open(enhope_context *ctx, const char *path, eh_mat_cursor **out);
void eh_mat_close(eh_mat_cursor *c); /* accepts NULL */
/* Opens the next element; *found is false at the end of the file. */
enhope_status eh_mat_next(eh_mat_cursor *c, bool *found);
/* Skips the rest of the element and checks that it ends where its size says. */
enhope_status eh_mat_finish(eh_mat_cursor *c);

/* The following read bytes of a matrix, of which *left remain. */
enhope_status eh_mat_tag_read(eh_mat_cursor *c, int64_t *left, eh_mat_tag *t);
/* Reads all data of a part to `to`, which has size bytes, and skips its padding. */
enhope_status eh_mat_data(eh_mat_cursor *c, const eh_mat_tag *t, void *to, int64_t size, int64_t *left);
/* Skips the data of a part and its padding. */
enhope_status eh_mat_skip_data(eh_mat_cursor *c, const eh_mat_tag *t, int64_t *left);
/* Skips at most *left bytes. */
enhope_status eh_mat_skip(eh_mat_cursor *c, int64_t bytes, int64_t *left);

uint32_t eh_mat_word(const eh_mat_cursor *c, const unsigned char *p);
enhope_status eh_mat_damaged(const eh_mat_cursor *c, const char *why);

#endif
