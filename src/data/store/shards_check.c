/* enhope_shards_check: compares every file of a folder of shards with the checksums in its list. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/store/shards.h"

enum { BUFFER = 1 << 20 };

static enhope_status check_file(enhope_context *ctx, const char *path, int64_t bytes, uint32_t expected, char *buffer,
                                enhope_conversion *at, double all, enhope_conversion_fn progress, void *user)
{
    enhope_status status = ENHOPE_OK;
    uLong crc = crc32_z(0, NULL, 0);
    int64_t done = 0;
    const double start = eh_seconds() - at->seconds;
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* opening a pipe could block */
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is not a regular file", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    for (ssize_t n; (n = read(fd, buffer, BUFFER)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno)));
        crc = crc32_z(crc, (const unsigned char *)buffer, (size_t)n);
        done += n;
        at->share += (double)n / all;
        at->seconds = eh_seconds() - start;
        at->seconds_left = at->share > 0 ? at->seconds * (1 - at->share) / at->share : NAN;
        if (progress && progress(at, user)) EH_CHECK(ENHOPE_STOPPED);
    }
    if (done != bytes)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: has %lld bytes: expected %lld; convert the data again", path,
                         (long long)done, (long long)bytes));
    if ((uint32_t)crc != expected)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is damaged: its checksum is %08lx: expected %08lx", path,
                         (unsigned long)(uint32_t)crc, (unsigned long)expected));
cleanup:
    close(fd);
    return status;
}

enhope_status enhope_shards_check(enhope_context *ctx, const char *folder, enhope_conversion_fn progress, void *user,
                                  int64_t *files)
{
    enhope_status status = ENHOPE_OK;
    eh_shards s = {.n = 0};
    enhope_conversion at = {.rows = 0};
    char *buffer = NULL;
    double all = 0;
    int64_t count = 0;
    EH_TRY(eh_shards_load(ctx, folder, EH_SHARDS_NAME, &s));
    EH_CHECK(eh_new(ctx, "a reading buffer", BUFFER, 1, (void **)&buffer));
    for (int64_t i = 0; i < s.shards; i++)
        for (int j = 0; j < EH_ARRAYS; j++) all += (double)s.shard[i].file[j].bytes;
    for (int64_t i = 0; i < s.shards; i++) {
        for (int j = 0; j < EH_ARRAYS; j++) {
            char path[EH_PATH];
            if (!*s.shard[i].file[j].name) continue;
            EH_CHECK(eh_shards_path(ctx, folder, s.shard[i].file[j].name, path));
            EH_CHECK(check_file(ctx, path, s.shard[i].file[j].bytes, s.shard[i].file[j].crc, buffer, &at, all, progress,
                                user));
            count++;
        }
        at.rows += s.shard[i].rows;
    }
    *files = count;
cleanup:
    eh_free(buffer);
    eh_shards_free(&s);
    return status;
}
