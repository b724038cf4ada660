/* The bytes of an open file, plain or gzip (gzip.c). */
#ifndef EH_GZIP_H
#define EH_GZIP_H

#include "data/read/read.h"

/* Reads the beginning of the file and makes a stream of it, which closes fd. s->left and s->stored
 * are not set. *plain is false if it is gzip. On failure fd stays open. */
enhope_status eh_gzip_open(enhope_context *ctx, int fd, const char *name, eh_stream *s, bool *plain);
/* Bytes of the file that have been read. */
int64_t eh_gzip_position(const eh_stream *s);
/* True for a stream of eh_gzip_open. */
bool eh_gzip_is(const eh_stream *s);

#endif
