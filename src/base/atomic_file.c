/* Atomic file replacement: the data goes to a temporary file next to the target, which is synced
 * and then renamed over the target. The target therefore holds either the old content or the new
 * content, never a mixture.
 *
 * A target that exists but is not a regular file (/dev/stdout, a FIFO) cannot be renamed over. It
 * is written directly. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"

enum {
    ATTEMPTS = 100, /* names to try: another thread may be saving to the same path, or a crash may have left a file */
    SUFFIX = 40,    /* ".tmp-" and two numbers */
    MAX_WRITE = 1 << 30 /* bytes per call; Linux writes at most 2 GiB at once */
};

static enhope_status fail_write(enhope_context *ctx, const char *path, int error)
{
    return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot write: %s", path, strerror(error));
}

/* Closes and removes the temporary file. The caller already reports a failure, so errors are
 * ignored. */
static void abandon(eh_atomic_file *file)
{
    if (file->fd >= 0) close(file->fd);
    if (file->temporary) unlink(file->temporary);
    eh_free(file->temporary);
    eh_free(file->target);
    *file = (eh_atomic_file){.fd = -1};
}

/* Resolves symbolic links, so that saving to a link replaces the file that it points to. */
static enhope_status resolve(enhope_context *ctx, const char *path, char **out)
{
    char *real = realpath(path, NULL);
    char *copy = eh_strdup(real ? real : path);
    free(real);
    if (!copy) return eh_fail_memory(ctx, "the file name", strlen(path) + 1, 1);
    *out = copy;
    return ENHOPE_OK;
}

enhope_status eh_atomic_open(enhope_context *ctx, const char *path, eh_atomic_file *out)
{
    eh_atomic_file file = {.fd = -1};
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        file.fd = open(path, O_WRONLY | O_CLOEXEC);
        if (file.fd < 0) return fail_write(ctx, path, errno);
        *out = file;
        return ENHOPE_OK;
    }
    /* a rename needs no permission for the file, and the superuser has every permission */
    if (exists && (!(old.st_mode & 0222) || access(path, W_OK) != 0))
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: is read-only; write to another file, or make it writable", path);
    EH_TRY(resolve(ctx, path, &file.target));
    const size_t size = strlen(file.target) + SUFFIX;
    char *name = eh_alloc(size, 1);
    if (!name) {
        abandon(&file);
        return eh_fail_memory(ctx, "the temporary file name", size, 1);
    }
    int error = 0;
    for (int attempt = 0; attempt < ATTEMPTS && file.fd < 0; attempt++) {
        snprintf(name, size, "%s.tmp-%ld-%d", file.target, (long)getpid(), attempt);
        file.fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
        if (file.fd < 0 && error != EEXIST) break;
    }
    if (file.fd < 0) {
        eh_free(name);
        abandon(&file);
        return fail_write(ctx, path, error);
    }
    file.temporary = name;
    if (exists && fchmod(file.fd, old.st_mode & 0777) != 0) {
        error = errno;
        abandon(&file);
        return fail_write(ctx, path, error);
    }
    *out = file;
    return ENHOPE_OK;
}

enhope_status eh_atomic_write(enhope_context *ctx, const char *path, eh_atomic_file *file, const void *data,
                              size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        const ssize_t written = write(file->fd, from, bytes < MAX_WRITE ? bytes : MAX_WRITE);
        if (written < 0) {
            const int error = errno;
            if (error == EINTR) continue;
            abandon(file);
            return fail_write(ctx, path, error);
        }
        from += written;
        bytes -= (size_t)written;
    }
    return ENHOPE_OK;
}

/* Makes the rename durable by syncing the folder. Errors are ignored: the new file is already in
 * place, and some file systems cannot sync a folder. */
static void sync_folder(char *target)
{
    char *slash = strrchr(target, '/');
    if (slash) slash[slash == target] = '\0'; /* the folder of "/name" is "/" */
    const int fd = open(slash ? target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

enhope_status eh_atomic_commit(enhope_context *ctx, const char *path, eh_atomic_file *file)
{
    int error = 0;
    if (file->temporary && fsync(file->fd) != 0) error = errno;
    if (close(file->fd) != 0 && !error) error = errno;
    file->fd = -1;
    if (file->temporary && !error && rename(file->temporary, file->target) != 0) error = errno;
    if (error) {
        abandon(file);
        return fail_write(ctx, path, error);
    }
    if (file->temporary) sync_folder(file->target);
    eh_free(file->temporary);
    eh_free(file->target);
    *file = (eh_atomic_file){.fd = -1};
    return ENHOPE_OK;
}
