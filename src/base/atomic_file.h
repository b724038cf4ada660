/* Files that are replaced completely or not at all. */
#ifndef EH_ATOMIC_FILE_H
#define EH_ATOMIC_FILE_H

#include "base/base.h"

typedef struct eh_atomic_file {
    int fd;
    char *target;    /* the file to replace, with symbolic links resolved */
    char *temporary; /* NULL: the target is a device or a pipe and is written directly */
} eh_atomic_file;

/* Fails if the file is read-only. On failure the old file is unchanged, the temporary file is
 * removed, and the message contains the path and the reason from the system. A failed write or
 * commit also closes the file. */
enhope_status eh_atomic_open(enhope_context *ctx, const char *path, eh_atomic_file *out);
enhope_status eh_atomic_write(enhope_context *ctx, const char *path, eh_atomic_file *file, const void *data,
                              size_t bytes);
/* Syncs, renames and closes. */
enhope_status eh_atomic_commit(enhope_context *ctx, const char *path, eh_atomic_file *file);

#endif
