/* Runs files through fuzz targets without libFuzzer: seeds and regressions in tests, and findings.
 *
 * usage: fuzz-replay TARGET FILE|FOLDER...     the files of folders, in the order of their names
 *        fuzz-replay --list */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "targets.h" /* X(csv) X(reader) ..., made from the files of targets/ */

#define X(name) int fuzz_##name(const uint8_t *bytes, size_t size);
FUZZ_TARGETS
#undef X

typedef int (*entry)(const uint8_t *bytes, size_t size);
static const struct {
    const char *name;
    entry run;
} targets[] = {
#define X(name) {#name, fuzz_##name},
    FUZZ_TARGETS
#undef X
};
enum { TARGETS = sizeof targets / sizeof *targets };

static int fail(const char *what, const char *path)
{
    fprintf(stderr, "fuzz-replay: %s '%s'\n", what, path);
    return -1;
}

/* Returns the number of inputs; -1: failed. */
static int run_file(entry run, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info)) return fail("cannot read", path);
    const size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    const bool good = bytes && fread(bytes, 1, size, file) == size;
    fclose(file);
    if (good) {
        fprintf(stderr, "%s\n", path); /* names the input of a crash */
        run(bytes, size);
    }
    free(bytes);
    return good ? 1 : fail("cannot read", path);
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

static int run_path(entry run, const char *path)
{
    struct stat info;
    struct dirent **names;
    int inputs = 0;
    if (stat(path, &info)) return fail("there is no file or folder", path);
    if (!S_ISDIR(info.st_mode)) return run_file(run, path);
    const int count = scandir(path, &names, is_visible, alphasort);
    if (count < 0) return fail("cannot read", path);
    for (int i = 0; i < count; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s/%s", path, names[i]->d_name) < 0) abort();
        const int ran = inputs < 0 ? 0 : run_file(run, file);
        inputs = ran < 0 ? -1 : inputs + ran;
        free(file);
        free(names[i]);
    }
    free(names);
    return inputs;
}

int main(int argc, char **argv)
{
    int inputs = 0;
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (int i = 0; i < TARGETS; i++) puts(targets[i].name);
        return 0;
    }
    if (argc < 3) {
        fputs("usage: fuzz-replay TARGET FILE|FOLDER...\n       fuzz-replay --list\n", stderr);
        return 2;
    }
    for (int i = 0; i < TARGETS; i++) {
        if (strcmp(argv[1], targets[i].name) != 0) continue;
        for (int k = 2; k < argc && inputs >= 0; k++) {
            const int ran = run_path(targets[i].run, argv[k]);
            inputs = ran < 0 ? -1 : inputs + ran;
        }
        if (inputs < 0) return 1;
        printf("%s: %d inputs\n", argv[1], inputs);
        return 0;
    }
    fail("unknown target", argv[1]);
    return 2;
}
