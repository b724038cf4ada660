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

enum { BUFFER = EH_BUFFER(1 << 20) };

enhope_status eh_checksum_verify(enhope_context *ctx, const char *path, const eh_checksum *sum,
                                 bool (*step)(int64_t bytes, void *user), void *user)
{
    enhope_status status = ENHOPE_OK;
    uLong crc = crc32_z(0, NULL, 0);
    int64_t done = 0;
    char *buffer = NULL;
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* opening a pipe could block */
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is not a regular file", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    EH_CHECK(eh_new(ctx, "a reading buffer", BUFFER, 1, (void **)&buffer));
    for (ssize_t n; (n = read(fd, buffer, BUFFER)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno)));
        crc = crc32_z(crc, (const unsigned char *)buffer, (size_t)n);
        done += n;
        if (step && step(n, user)) EH_CHECK(ENHOPE_STOPPED);
    }
    if (done != sum->bytes)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: has %lld bytes: expected %lld; convert the data again", path,
                         (long long)done, (long long)sum->bytes));
    if ((uint32_t)crc != sum->crc)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                         "%s: is damaged: its checksum is %08lx: expected %08lx; convert the data again", path,
                         (unsigned long)(uint32_t)crc, (unsigned long)sum->crc));
cleanup:
    eh_free(buffer);
    close(fd);
    return status;
}

/* A check of all files. */
typedef struct checking {
    enhope_conversion at;
    double start, all; /* bytes of all files */
    enhope_conversion_fn progress;
    void *user;
} checking;

static bool report(int64_t bytes, void *user)
{
    checking *c = user;
    c->at.share += (double)bytes / c->all;
    c->at.seconds = eh_seconds() - c->start;
    c->at.seconds_left = c->at.share > 0 ? c->at.seconds * (1 - c->at.share) / c->at.share : NAN;
    return c->progress && c->progress(&c->at, c->user);
}

enhope_status enhope_shards_check(enhope_context *ctx, const char *folder, enhope_conversion_fn progress, void *user,
                                  int64_t *files)
{
    enhope_status status = ENHOPE_OK;
    eh_shards s = {.n = 0};
    checking c = {.start = eh_seconds(), .progress = progress, .user = user};
    int64_t count = 0;
    EH_TRY(eh_shards_load(ctx, folder, EH_SHARDS_NAME, &s));
    for (int64_t i = 0; i < s.shards; i++)
        for (int j = 0; j < EH_ARRAYS; j++) c.all += (double)s.shard[i].file[j].bytes;
    for (int64_t i = 0; i < s.shards; i++) {
        for (int j = 0; j < EH_ARRAYS; j++) {
            char path[EH_PATH];
            if (!*s.shard[i].file[j].name) continue;
            EH_CHECK(eh_shards_path(ctx, folder, s.shard[i].file[j].name, path));
            const eh_checksum sum = {.bytes = s.shard[i].file[j].bytes, .crc = s.shard[i].file[j].crc};
            EH_CHECK(eh_checksum_verify(ctx, path, &sum, report, &c));
            count++;
        }
        c.at.rows += s.shard[i].rows;
    }
    *files = count;
cleanup:
    eh_shards_free(&s);
    return status;
}
