/* Programs that run in a temporary folder: compilers and interpreters. */
#define _DEFAULT_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deploy/export.h"

enum { NOT_FOUND = 127 };

int sandbox_open(sandbox *s)
{
    const char *base = getenv("TMPDIR");
    if (!base || !*base || strlen(base) > SANDBOX_PATH / 2) base = "/tmp";
    snprintf(s->folder, sizeof s->folder, "%s/enhope-export-XXXXXX", base);
    if (mkdtemp(s->folder)) return 0;
    const int code = cli_error("%s: cannot create a temporary folder: %s", base, strerror(errno));
    s->folder[0] = '\0';
    return code;
}

void sandbox_close(sandbox *s)
{
    DIR *folder = s->folder[0] ? opendir(s->folder) : NULL;
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) unlink(sandbox_path(s, entry->d_name));
    closedir(folder);
    rmdir(s->folder);
    s->folder[0] = '\0';
}

const char *sandbox_path(const sandbox *s, const char *name)
{
    static char path[2 * SANDBOX_PATH];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return path;
}

int sandbox_write(const sandbox *s, const char *name, const void *data, size_t size)
{
    FILE *file = fopen(sandbox_path(s, name), "wb");
    bool done = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0) done = false;
    return done ? 0 : cli_error("%s: cannot write: %s", sandbox_path(s, name), strerror(errno));
}

int sandbox_read(const sandbox *s, const char *name, void *data, size_t size)
{
    FILE *file = fopen(sandbox_path(s, name), "rb");
    const size_t count = file ? fread(data, 1, size, file) : 0;
    const bool more = file && fgetc(file) != EOF;
    if (file) fclose(file);
    if (count == size && !more) return 0;
    return cli_error("the exported model wrote %zu bytes to %s: expected %zu", count, name, size);
}

int sandbox_run(const sandbox *s, const char *const *argv, int *status)
{
    int result = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return cli_error("cannot start %s: %s", argv[0], strerror(errno));
    if (child == 0) {
        const int log = open(sandbox_path(s, "log"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir(s->folder) != 0) _exit(NOT_FOUND);
        execvp(argv[0], (char *const *)argv);
        _exit(NOT_FOUND);
    }
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR) return cli_error("cannot wait for %s: %s", argv[0], strerror(errno));
    *status = WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
    return 0;
}

int sandbox_fail(const sandbox *s, const char *what)
{
    enum { LAST = 1500 };
    char text[LAST + 1];
    FILE *file = fopen(sandbox_path(s, "log"), "rb");
    if (file && fseek(file, -LAST, SEEK_END) != 0) rewind(file);
    const size_t count = file ? fread(text, 1, LAST, file) : 0;
    if (file) fclose(file);
    text[count] = '\0';
    for (size_t end = count; end > 0 && text[end - 1] == '\n'; end--) text[end - 1] = '\0';
    return cli_error("%s failed:\n%s", what, text);
}
