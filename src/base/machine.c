/* Reading from files, the clock, and the memory that this process may use: that of the machine, or
 * the limit of a control group (container, batch job) if it is smaller.
 *
 *   /proc/self/cgroup       0::/a/b             version 2: memory.max of /a/b and its parents
 *                           4:cpu,memory:/a/b   version 1: memory.limit_in_bytes, likewise
 *   /sys/fs/cgroup[/memory] the folders of the groups
 *
 * Inside a container, the container's own group is mounted at /sys/fs/cgroup[/memory], whatever
 * its path on the host. */
#define _DEFAULT_SOURCE 1 /* _SC_PHYS_PAGES */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

enum { PATH_SIZE = 4096 };

size_t eh_fread(void *to, size_t bytes, FILE *file)
{
    size_t done = 0;
    if (bytes == 0) return 0; /* `to` may be NULL then */
    for (;;) {
        errno = 0;
        done += fread((char *)to + done, 1, bytes - done, file);
        if (done == bytes || !ferror(file) || errno != EINTR) return done;
        clearerr(file);
    }
}

/* The smaller of `max` and the number in a file. A missing file, or "max", sets no limit. */
static int64_t read_limit(const char *path, int64_t max)
{
    long long limit = 0;
    FILE *f = fopen(path, "r");
    if (!f) return max;
    if (fscanf(f, "%lld", &limit) != 1 || limit <= 0) limit = max;
    fclose(f);
    return limit < max ? limit : max;
}

/* The smallest limit of a group and its parents. */
static int64_t group_limit(const char *mount, char *group, const char *name, int64_t max)
{
    char path[2 * PATH_SIZE];
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        max = read_limit(path, max);
        char *last = strrchr(group, '/');
        if (!last) return max;
        *last = '\0';
    }
}

/* True if a comma-separated list contains word. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && memcmp(at, word, length) == 0) return true;
    return false;
}

int64_t eh_group_memory(const char *list, const char *mount, int64_t max)
{
    char line[PATH_SIZE], old[PATH_SIZE];
    FILE *f = fopen(list, "r");
    if (!f) return max;
    snprintf(old, sizeof old, "%.4000s/memory", mount);
    while (fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (!controllers[1])
            max = group_limit(mount, group, "memory.max", max);
        else if (has_word(controllers + 1, "memory"))
            max = group_limit(old, group, "memory.limit_in_bytes", max);
    }
    fclose(f);
    return max;
}

int64_t eh_machine_memory(void)
{
    const int64_t little = (int64_t)2 << 30; /* assumed if the system does not report its memory */
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return eh_group_memory("/proc/self/cgroup", "/sys/fs/cgroup",
                           pages > 0 && size > 0 ? (int64_t)pages * size : little);
}

double eh_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
