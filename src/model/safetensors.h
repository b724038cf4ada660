/* The safetensors container: named tensors and a table of texts in one file.
 *
 *   bytes 0..7        N, the length of the header, unsigned little-endian
 *   bytes 8..8+N-1    the header: a JSON object, padded with spaces to a multiple of 8 bytes
 *   bytes 8+N..end    the tensors, little-endian, row-major, without gaps
 *
 * The header maps the name of each tensor to {"dtype": "F32", "shape": [2, 3],
 * "data_offsets": [begin, end]}, with offsets from byte 8+N, and "__metadata__" to an object of
 * texts.
 */
#ifndef EH_SAFETENSORS_H
#define EH_SAFETENSORS_H

#include <stdio.h>

#include "base/json.h"

typedef struct eh_st_tensor {
    const char *name;
    const char *dtype; /* "F32", "I32", ... */
    int64_t rank;
    int64_t shape[2];   /* the first two extents; those of higher ranks are checked but not stored */
    int64_t begin, end; /* bytes; set by reading, ignored by writing */
    const void *data;   /* used by writing */
} eh_st_tensor;

/* An open file with a valid header: every tensor lies in the file, and no two overlap. */
typedef struct eh_safetensors {
    FILE *file;
    cJSON *header;
    const cJSON *metadata; /* an object of strings; NULL: none */
    eh_st_tensor *tensor;  /* sorted by offset */
    int64_t tensors;
    int64_t start; /* where the tensors begin */
} eh_safetensors;

/* Messages of reading do not name the file. On failure *st is closed. */
enhope_status eh_safetensors_open(enhope_context *ctx, const char *path, eh_safetensors *st);
/* The same for a file in memory, which must outlive *st. */
enhope_status eh_safetensors_open_bytes(enhope_context *ctx, const void *bytes, size_t size, eh_safetensors *st);
void eh_safetensors_close(eh_safetensors *st);
/* NULL: not found. */
const char *eh_safetensors_text(const eh_safetensors *st, const char *key);
const eh_st_tensor *eh_safetensors_find(const eh_safetensors *st, const char *name);
/* Finds the tensor of this name, type and shape; a failure if it is missing, different or empty. */
enhope_status eh_safetensors_expect(enhope_context *ctx, const eh_safetensors *st, const eh_st_tensor *want,
                                    const eh_st_tensor **out);
/* Reads the data of a tensor: end - begin bytes. */
enhope_status eh_safetensors_read(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *tensor, void *to);

/* Writes tensors of rank 0 to 2 in their order. Equal contents give byte-identical files. */
enhope_status eh_safetensors_write(enhope_context *ctx, const char *path, const cJSON *metadata,
                                   const eh_st_tensor *tensor, int64_t tensors);
/* Writes the file to memory, `to`, of `capacity` bytes, and sets *bytes to its size. to NULL:
 * only sets *bytes. */
enhope_status eh_safetensors_write_bytes(enhope_context *ctx, const cJSON *metadata, const eh_st_tensor *tensor,
                                         int64_t tensors, void *to, size_t capacity, size_t *bytes);

#endif
