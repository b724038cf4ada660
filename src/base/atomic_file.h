/* A file that is replaced whole or not at all. */
#ifndef EH_ATOMIC_FILE_H
#define EH_ATOMIC_FILE_H

#include "base/base.h"

typedef struct eh_atomic_file {
    int fd;
    char *target;    /* what is renamed over; links followed */
    char *temporary; /* NULL: target is a device or a pipe, written directly */
} eh_atomic_file;

/* Every failure leaves the old file as it was and nothing beside it, and says path and the system's reason. After a
 * failure of write or commit the file is closed. */
enhope_status eh_atomic_open(enhope_context *ctx, const char *path, eh_atomic_file *out);
enhope_status eh_atomic_write(enhope_context *ctx, const char *path, eh_atomic_file *file, const void *data,
                              size_t bytes);
/* Syncs, renames, closes. */
enhope_status eh_atomic_commit(enhope_context *ctx, const char *path, eh_atomic_file *file);

#endif
