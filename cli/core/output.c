/* Output to standard output, or to a file that is replaced completely or not at all. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli.h"

/* The temporary file that a signal handler removes. A program writes one file at a time. */
static char *volatile pending;

static void remove_pending(int number)
{
    if (pending) unlink(pending);
    signal(number, SIG_DFL);
    raise(number);
}

static int failed(const char *name, int error)
{
    if (error == EPIPE) return CLI_BROKEN_PIPE;
    return cli_error("%s: cannot write: %s", name ? name : "standard output", strerror(error));
}

/* The mode of a new file, according to umask. */
static mode_t new_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static char *temporary_name(const char *path)
{
    static const char ending[] = ".XXXXXX";
    char *name = malloc(strlen(path) + sizeof ending);
    if (name) sprintf(name, "%s%s", path, ending);
    return name;
}

static int open_beside(cli_output *output, mode_t mode)
{
    output->temporary = temporary_name(output->path);
    if (!output->temporary) return cli_error("out of memory");
    const int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        const int error = errno;
        free(output->temporary);
        output->temporary = NULL;
        return failed(output->name, error);
    }
    pending = output->temporary;
    if (!cli_signals_caught()) {
        signal(SIGINT, remove_pending);
        signal(SIGTERM, remove_pending);
    }
    if (fchmod(descriptor, mode) != 0 || !(output->file = fdopen(descriptor, "wb"))) {
        const int error = errno;
        close(descriptor);
        return failed(output->name, error);
    }
    return 0;
}

/* Refuses to replace a read-only file: a rename needs no permission for it, and the superuser has
 * every permission. */
static int check_writable(const char *path, const struct stat *at)
{
    if (S_ISREG(at->st_mode) && (!(at->st_mode & 0222) || access(path, W_OK) != 0))
        return cli_error("%s: is read-only; write to another file, or make it writable", path);
    return 0;
}

int cli_output_open(cli_output *output, const char *path)
{
    *output = (cli_output){0};
    if (!path || !strcmp(path, "-")) {
        output->file = stdout;
        return 0;
    }
    struct stat at;
    const bool exists = stat(path, &at) == 0;
    if (exists && check_writable(path, &at)) return CLI_FAILED;
    output->name = path;
    /* Replace the target of a link, not the link. */
    output->path = exists ? realpath(path, NULL) : strdup(path);
    if (!output->path) return failed(path, errno);
    int code = 0;
    if (exists && S_ISDIR(at.st_mode)) {
        code = failed(path, EISDIR);
    } else if (exists && !S_ISREG(at.st_mode)) {
        output->file = fopen(path, "wb");
        if (!output->file) code = failed(path, errno);
    } else {
        code = open_beside(output, exists ? at.st_mode & 07777 : new_mode());
    }
    if (code) cli_output_abandon(output);
    return code;
}

int cli_output_flush(cli_output *output)
{
    errno = 0;
    if (fflush(output->file) == 0 && !ferror(output->file)) return 0;
    const int error = errno;
    clearerr(output->file); /* reported once */
    return failed(output->name, error ? error : EPIPE);
}

int cli_output_close(cli_output *output)
{
    if (!output->path) return cli_stdout_finish(0);
    int error = 0;
    if (fflush(output->file) != 0 || ferror(output->file)) error = errno ? errno : EIO;
    if (!error && output->temporary && fsync(fileno(output->file)) != 0) error = errno;
    if (fclose(output->file) != 0 && !error) error = errno;
    output->file = NULL;
    if (!error && output->temporary) {
        if (rename(output->temporary, output->path) == 0) {
            pending = NULL;
            free(output->temporary);
            output->temporary = NULL;
        } else {
            error = errno;
        }
    }
    const int code = error ? failed(output->name, error) : 0;
    cli_output_abandon(output);
    return code;
}

void cli_output_abandon(cli_output *output)
{
    if (output->file && output->file != stdout) fclose(output->file);
    if (output->temporary) {
        unlink(output->temporary);
        pending = NULL;
    }
    free(output->temporary);
    free(output->path);
    *output = (cli_output){0};
}

int cli_output_differs(const char *path, const char *input)
{
    struct stat a, b;
    if (!path || !input || stat(path, &a) != 0 || stat(input, &b) != 0 || !S_ISREG(a.st_mode)) return 0;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) return 0;
    return cli_error("%s is an input of this command; write to another file with -o", path);
}

int cli_output_check(const char *path)
{
    struct stat at;
    const bool exists = stat(path, &at) == 0;
    if (exists && S_ISDIR(at.st_mode)) return failed(path, EISDIR);
    if (exists && !S_ISREG(at.st_mode)) return access(path, W_OK) == 0 ? 0 : failed(path, errno);
    if (exists && check_writable(path, &at)) return CLI_FAILED;
    char *name = temporary_name(path);
    if (!name) return cli_error("out of memory");
    const int descriptor = mkstemp(name);
    const int error = errno;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(name);
    }
    free(name);
    return descriptor >= 0 ? 0 : failed(path, error);
}

/* The error of an earlier write whose errno is lost: EPIPE if the reader closed the pipe, else
 * EIO. */
static int lost_error(void)
{
    struct pollfd to = {.fd = STDOUT_FILENO};
    return poll(&to, 1, 0) > 0 && to.revents & POLLERR ? EPIPE : EIO;
}

int cli_stdout_finish(int code)
{
    errno = 0;
    const bool bad = fflush(stdout) != 0 || ferror(stdout);
    const int error = errno;
    if (!bad) return code;
    clearerr(stdout); /* reported once */
    return code ? code : failed(NULL, error ? error : lost_error());
}
