/* Fails one system call or allocation of a program, or kills the program there. It is preloaded
 * (LD_PRELOAD) by tests/faults/run, which describes the environment variables.
 *
 *   FAULT_FOLDER  only calls on files in this folder, or on relative paths, are counted
 *   FAULT         CALL:N:ACTION or CALL:N+:ACTION
 *   FAULT_CAIRO   if it is set, allocations of zlib are not counted
 *   FAULT_LOG     a file that receives the numbers of calls at the end: "open 3", ...
 *
 * CALL is open, read, write, sync, rename, close or malloc, N counts from 1, and N+ is this call
 * and all later ones. ACTION is the name of an error (EIO), "short" (half the bytes), "kill"
 * (SIGKILL instead of the call, after half the bytes of a write), "end" (SIGKILL after the call) or
 * "stop" (SIGSTOP before the call).
 *
 * The C library's streams call the kernel directly, so fopen() and fdopen() return streams over the
 * functions of this file. Allocations are counted if the program, libenhope, cJSON or zlib makes
 * them; other libraries end the process themselves when memory is exhausted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, SYNC, RENAME, CLOSE, MALLOC, CALLS };
static const char *const call_names[CALLS] = {"open", "read", "write", "sync", "rename", "close", "malloc"};

static const struct {
    const char *name;
    int number;
} errors[] = {{"EIO", EIO},       {"EINTR", EINTR}, {"ENOSPC", ENOSPC}, {"EACCES", EACCES},
              {"EMFILE", EMFILE}, {"EXDEV", EXDEV}, {"ENOMEM", ENOMEM}};

enum { SHORT = -1, KILL = -2, END = -3, STOP = -4 }; /* actions that are no error numbers */
enum { FILES = 1024, MODULES = 16 };

static atomic_long count[CALLS];
static int fault_call = -1, fault_action;
static long fault_at;
static bool fault_on, ready;
static const char *folder;
static bool counted[FILES];    /* descriptors of files in the folder */
static FILE *stream_of[FILES]; /* streams of this file, by descriptor */
static struct {
    uintptr_t from, to;
} module[MODULES];
static int modules;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t bytes);

/* ---- setup ---- */

static int find_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    static const char *const names[] = {"libenhope.so", "libcjson", "libz.so"};
    const size_t count_of = sizeof names / sizeof *names - (getenv("FAULT_CAIRO") != NULL);
    bool wanted = !*info->dlpi_name; /* the program */
    for (size_t i = 0; i < count_of; i++) wanted |= strstr(info->dlpi_name, names[i]) != NULL;
    for (int i = 0; wanted && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X && modules < MODULES) {
            module[modules].from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            module[modules].to = module[modules].from + info->dlpi_phdr[i].p_memsz;
            modules++;
        }
    return 0;
}

static void parse_fault(const char *text)
{
    char call[16], action[16], plus[2] = "";
    if (sscanf(text, "%15[a-z]:%ld%1[+]:%15s", call, &fault_at, plus, action) != 4 &&
        sscanf(text, "%15[a-z]:%ld:%15s", call, &fault_at, action) != 3)
        abort();
    fault_on = *plus;
    for (int i = 0; i < CALLS; i++)
        if (!strcmp(call, call_names[i])) fault_call = i;
    fault_action = !strcmp(action, "short")  ? SHORT
                   : !strcmp(action, "kill") ? KILL
                   : !strcmp(action, "end")  ? END
                   : !strcmp(action, "stop") ? STOP
                                             : 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(action, errors[i].name)) fault_action = errors[i].number;
    if (fault_call < 0 || !fault_action) abort();
}

__attribute__((constructor)) static void begin(void)
{
    folder = getenv("FAULT_FOLDER");
    if (!folder) return;
    dl_iterate_phdr(find_module, NULL);
    if (getenv("FAULT")) parse_fault(getenv("FAULT"));
    unsetenv("LD_PRELOAD"); /* not for programs that the command starts */
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_LOG");
    ready = false;
    FILE *log = path ? fopen(path, "w") : NULL;
    for (int i = 0; log && i < CALLS; i++) fprintf(log, "%s %ld\n", call_names[i], atomic_load(&count[i]));
    if (log) fclose(log);
}

/* ---- decisions ---- */

/* Exit handlers run before the destructors of the program, in which it makes no calls of its own:
 * a build that measures coverage writes its counters there. */
static void stop_counting(void)
{
    ready = false;
}

/* What this call does: 0 for its usual work, or the action. */
static int next(int call)
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&registered)) atexit(stop_counting);
    const long n = atomic_fetch_add(&count[call], 1) + 1;
    const bool now = call == fault_call && (n == fault_at || (fault_on && n > fault_at));
    if (now && fault_action == STOP) kill(getpid(), SIGSTOP);
    return now ? fault_action : 0;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static bool in_folder(const char *path)
{
    return ready && (*path != '/' || !strncmp(path, folder, strlen(folder)));
}

static bool is_counted(int fd)
{
    return ready && fd >= 0 && fd < FILES && counted[fd];
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- descriptors ---- */

static int opened(int fd, int action)
{
    if (fd >= 0 && fd < FILES) counted[fd] = true;
    if (action == END) die();
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (!in_folder(path)) return REAL(open)(path, flags, mode);
    const int action = next(OPEN);
    if (action > 0) return fail(action);
    if (action == KILL) die();
    return opened(REAL(open)(path, flags, mode), action);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int mkstemp(char *path)
{
    if (!in_folder(path)) return REAL(mkstemp)(path);
    const int action = next(OPEN);
    if (action > 0) return fail(action);
    if (action == KILL) die();
    return opened(REAL(mkstemp)(path), action);
}

int mkstemp64(char *path) __attribute__((alias("mkstemp")));

ssize_t read(int fd, void *to, size_t bytes)
{
    const int action = is_counted(fd) ? next(READ) : 0;
    if (action > 0) return fail(action);
    if (action == KILL || action == END) die();
    return REAL(read)(fd, to, action == SHORT && bytes > 1 ? bytes / 2 : bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    const int action = is_counted(fd) ? next(READ) : 0;
    if (action > 0) return fail(action);
    if (action == KILL || action == END) die();
    return REAL(pread)(fd, to, action == SHORT && bytes > 1 ? bytes / 2 : bytes, at);
}

ssize_t pread64(int fd, void *to, size_t bytes, off_t at) __attribute__((alias("pread")));

/* offset -1: at the position of the descriptor */
static ssize_t write_at(int fd, const void *from, size_t bytes, off_t offset)
{
    const int action = is_counted(fd) ? next(WRITE) : 0;
    if (action > 0) return fail(action);
    const size_t part = (action == SHORT && bytes > 1) || action == KILL ? bytes / 2 : bytes;
    const ssize_t done = offset < 0 ? REAL(write)(fd, from, part) : REAL(pwrite)(fd, from, part, offset);
    if (action == KILL || action == END) die();
    return done;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    return write_at(fd, from, bytes, -1);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    return write_at(fd, from, bytes, at);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off_t at) __attribute__((alias("pwrite")));

int fsync(int fd)
{
    const int action = is_counted(fd) ? next(SYNC) : 0;
    if (action > 0) return fail(action);
    if (action == KILL) die();
    const int result = REAL(fsync)(fd);
    if (action == END) die();
    return result;
}

int rename(const char *from, const char *to)
{
    const int action = in_folder(to) ? next(RENAME) : 0;
    if (action > 0) return fail(action);
    if (action == KILL) die();
    const int result = REAL(rename)(from, to);
    if (action == END) die();
    return result;
}

/* A failed close() has closed the descriptor. */
int close(int fd)
{
    const int action = is_counted(fd) ? next(CLOSE) : 0;
    if (action == KILL) die();
    if (fd >= 0 && fd < FILES) counted[fd] = false, stream_of[fd] = NULL;
    const int result = REAL(close)(fd);
    if (action == END) die();
    return action > 0 ? fail(action) : result;
}

/* ---- streams ---- */

static ssize_t stream_read(void *cookie, char *to, size_t bytes)
{
    return read((int)(intptr_t)cookie - 1, to, bytes);
}

/* A stream takes 0, not -1, for an error. */
static ssize_t stream_write(void *cookie, const char *from, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) { /* as the C library does */
        const ssize_t n = write((int)(intptr_t)cookie - 1, from + done, bytes - done);
        if (n < 0) break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    const off_t at = lseek((int)(intptr_t)cookie - 1, *offset, whence);
    if (at < 0) return -1;
    *offset = at;
    return 0;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie - 1);
}

FILE *fdopen(int fd, const char *mode)
{
    if (!is_counted(fd)) return REAL(fdopen)(fd, mode);
    const cookie_io_functions_t io = {stream_read, stream_write, stream_seek, stream_close};
    FILE *stream = fopencookie((void *)(intptr_t)(fd + 1), mode, io);
    if (stream) stream_of[fd] = stream;
    return stream;
}

FILE *fopen(const char *path, const char *mode)
{
    if (!in_folder(path)) return REAL(fopen)(path, mode);
    const int more = strchr(mode, '+') != NULL;
    const int flags = *mode == 'r'   ? more ? O_RDWR : O_RDONLY
                      : *mode == 'w' ? (more ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC
                                     : (more ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
    const int fd = open(path, flags, 0666);
    FILE *stream = fd >= 0 ? fdopen(fd, mode) : NULL;
    if (fd >= 0 && !stream) close(fd);
    return stream;
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

int fileno(FILE *stream)
{
    for (int fd = 0; ready && fd < FILES; fd++)
        if (stream_of[fd] == stream) return fd;
    return REAL(fileno)(stream);
}

/* ---- memory ---- */

static bool refused(const void *caller)
{
    if (!ready) return false;
    const uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < modules; i++)
        if (at >= module[i].from && at < module[i].to) {
            const int action = next(MALLOC);
            if (action == KILL || action == END) die();
            if (action) errno = ENOMEM;
            return action != 0;
        }
    return false;
}

void *malloc(size_t bytes)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t number, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *block, size_t bytes)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(block, bytes);
}

static char *copied(const char *text, size_t length)
{
    char *copy = __libc_malloc(length + 1);
    if (copy) memcpy(copy, text, length), copy[length] = '\0';
    return copy;
}

char *strdup(const char *text)
{
    return refused(__builtin_return_address(0)) ? NULL : copied(text, strlen(text));
}

char *strndup(const char *text, size_t length)
{
    return refused(__builtin_return_address(0)) ? NULL : copied(text, strnlen(text, length));
}
