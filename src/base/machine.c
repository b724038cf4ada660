/* The clock, and how much memory this process may have: the machine's, or less where a control group (a container, a batch job) says so.
 *
 *   /proc/self/cgroup       0::/a/b             version 2: memory.max of /a/b and of those above it
 *                           4:cpu,memory:/a/b   version 1: memory.limit_in_bytes, likewise
 *   /sys/fs/cgroup[/memory] where these are; inside a container its own group is there, whatever its path is outside */
#define _DEFAULT_SOURCE 1 /* _SC_PHYS_PAGES */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

enum { PATH_SIZE = 4096 };

/* The lesser of `most` and the number in a file; what is missing, or "max", is no limit. */
static int64_t read_limit(const char *path, int64_t most)
{
    long long limit = 0;
    FILE *f = fopen(path, "r");
    if (!f) return most;
    if (fscanf(f, "%lld", &limit) != 1 || limit <= 0) limit = most;
    fclose(f);
    return limit < most ? limit : most;
}

/* Of a group and all above it. */
static int64_t group_limit(const char *mount, char *group, const char *name, int64_t most)
{
    char path[2 * PATH_SIZE];
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        most = read_limit(path, most);
        char *last = strrchr(group, '/');
        if (!last) return most;
        *last = '\0';
    }
}

/* Whether a list of words with commas has this one. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && memcmp(at, word, length) == 0) return true;
    return false;
}

int64_t eh_group_memory(const char *list, const char *mount, int64_t most)
{
    char line[PATH_SIZE], old[PATH_SIZE];
    FILE *f = fopen(list, "r");
    if (!f) return most;
    snprintf(old, sizeof old, "%.4000s/memory", mount);
    while (fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (!controllers[1])
            most = group_limit(mount, group, "memory.max", most);
        else if (has_word(controllers + 1, "memory"))
            most = group_limit(old, group, "memory.limit_in_bytes", most);
    }
    fclose(f);
    return most;
}

int64_t eh_machine_memory(void)
{
    const int64_t little = (int64_t)2 << 30; /* where the machine does not tell */
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
