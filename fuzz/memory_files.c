/* Files in memory for the programs of libFuzzer, which spend more than half of their time in the
 * kernel with real files. The linker redirects the calls of the library to the functions here
 * (option --wrap). Paths in the folder of the process (mkdtemp) have their files here; other paths
 * and the descriptors and streams of them are those of the system.
 *
 * Blocks of files come from mmap(), so that the memory of an input does not count them, and stay
 * for later files. One thread at a time may call these functions. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NODES = 1024,
    OPEN = 64,
    FIRST_FD = 1 << 20,
    PATH = 512,
    BLOCK = 1 << 14,
    KEPT_BLOCK = 1 << 20,
    LARGEST = 1 << 30
};

static const char root[] = "/fuzz";

/* A file or a folder. Blocks outlive their files. */
typedef struct node {
    char path[PATH];
    bool used, folder;
    int open; /* descriptors; an open file outlives its name */
    uint8_t *bytes;
    size_t size, capacity;
} node;

typedef struct opened {
    node *of;
    size_t at; /* of the next byte, or the next node of a folder */
    FILE *stream;
    struct dirent entry;
} opened;

static node nodes[NODES];
static int count; /* nodes that were ever used */
static opened table[OPEN];

/* ---- nodes ---- */

static bool is_ours(const char *path)
{
    const size_t length = sizeof root - 1;
    return !strncmp(path, root, length) && (path[length] == '\0' || path[length] == '/');
}

static node *find(const char *path)
{
    for (int i = 0; i < count; i++)
        if (nodes[i].used && !strcmp(nodes[i].path, path)) return &nodes[i];
    errno = ENOENT;
    return NULL;
}

/* The folder that a path lies in. */
static node *parent_of(const char *path)
{
    char copy[PATH];
    snprintf(copy, sizeof copy, "%s", path);
    char *slash = strrchr(copy, '/');
    if (slash) *slash = '\0';
    node *parent = find(copy);
    if (parent && !parent->folder) errno = ENOTDIR;
    return parent && parent->folder ? parent : NULL;
}

static node *create(const char *path, bool folder)
{
    if (strlen(path) >= PATH) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    for (int i = 0; i < NODES; i++) {
        if (nodes[i].used || nodes[i].open) continue;
        strcpy(nodes[i].path, path);
        nodes[i].used = true;
        nodes[i].folder = folder;
        nodes[i].size = 0;
        if (i == count) count++;
        return &nodes[i];
    }
    errno = ENOSPC;
    return NULL;
}

static bool is_empty(const node *folder)
{
    const size_t length = strlen(folder->path);
    for (int i = 0; i < count; i++)
        if (nodes[i].used && !strncmp(nodes[i].path, folder->path, length) && nodes[i].path[length] == '/')
            return false;
    return true;
}

static void drop_block(node *n)
{
    if (n->bytes) munmap(n->bytes, n->capacity);
    n->bytes = NULL;
    n->capacity = 0;
}

static int remove_node(node *n)
{
    n->used = false;
    if (!n->open && n->capacity > KEPT_BLOCK) drop_block(n);
    return 0;
}

static bool reserve(node *n, size_t size)
{
    size_t capacity = n->capacity ? n->capacity : BLOCK;
    if (size <= n->capacity) return true;
    while (capacity < size) capacity *= 2;
    void *block =
        size > LARGEST ? MAP_FAILED : mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        errno = ENOSPC;
        return false;
    }
    if (n->size) memcpy(block, n->bytes, n->size);
    drop_block(n);
    n->bytes = block;
    n->capacity = capacity;
    return true;
}

static void describe(const node *n, struct stat *out)
{
    *out = (struct stat){.st_mode = n->folder ? S_IFDIR | 0700 : S_IFREG | 0600, .st_nlink = 1};
    out->st_size = (off_t)n->size;
    out->st_ino = (ino_t)(n - nodes) + 1;
}

/* ---- descriptors ---- */

static opened *opened_of(int fd)
{
    return fd >= FIRST_FD && fd < FIRST_FD + OPEN && table[fd - FIRST_FD].of ? &table[fd - FIRST_FD] : NULL;
}

static opened *open_node(node *n)
{
    for (int i = 0; i < OPEN; i++) {
        if (table[i].of) continue;
        table[i].of = n;
        table[i].at = 0;
        table[i].stream = NULL;
        n->open++;
        return &table[i];
    }
    errno = EMFILE;
    return NULL;
}

static int close_node(opened *o)
{
    node *n = o->of;
    o->of = NULL;
    n->open--;
    return n->used ? 0 : remove_node(n);
}

static ssize_t read_node(const node *n, void *to, size_t want, size_t at)
{
    if (at >= n->size || want == 0) return 0;
    if (want > n->size - at) want = n->size - at;
    memcpy(to, n->bytes + at, want);
    return (ssize_t)want;
}

static ssize_t write_node(node *n, const void *from, size_t size, size_t at)
{
    if (size == 0) return 0;
    if (!reserve(n, at + size)) return -1;
    if (at > n->size) memset(n->bytes + n->size, 0, at - n->size);
    memcpy(n->bytes + at, from, size);
    if (at + size > n->size) n->size = at + size;
    return (ssize_t)size;
}

/* ---- the functions of the system ---- */

/* Declares the function of the system, and its replacement. */
#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

WRAP(char *, mkdtemp, char *path)
{
    if (strlen(path) < sizeof root - 1 || !create(root, true)) return NULL;
    return strcpy(path, root);
}

WRAP(int, open, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    if (!is_ours(path)) return __real_open(path, flags, mode);
    node *n = find(path);
    if (n && flags & O_CREAT && flags & O_EXCL) return errno = EEXIST, -1;
    if (n && !n->folder && flags & O_DIRECTORY) return errno = ENOTDIR, -1;
    if (n && n->folder && (flags & O_ACCMODE) != O_RDONLY) return errno = EISDIR, -1;
    if (!n && flags & O_CREAT && parent_of(path)) n = create(path, false);
    if (!n) return -1;
    if (flags & O_TRUNC) n->size = 0;
    const opened *o = open_node(n);
    return o ? FIRST_FD + (int)(o - table) : -1;
}

WRAP(int, close, int fd)
{
    opened *o = opened_of(fd);
    return o ? close_node(o) : __real_close(fd);
}

WRAP(ssize_t, read, int fd, void *to, size_t want)
{
    opened *o = opened_of(fd);
    if (!o) return __real_read(fd, to, want);
    const ssize_t n = read_node(o->of, to, want, o->at);
    o->at += (size_t)n;
    return n;
}

WRAP(ssize_t, pread, int fd, void *to, size_t want, off_t at)
{
    const opened *o = opened_of(fd);
    return o ? read_node(o->of, to, want, (size_t)at) : __real_pread(fd, to, want, at);
}

WRAP(ssize_t, write, int fd, const void *from, size_t size)
{
    opened *o = opened_of(fd);
    if (!o) return __real_write(fd, from, size);
    const ssize_t n = write_node(o->of, from, size, o->at);
    if (n > 0) o->at += (size_t)n;
    return n;
}

WRAP(ssize_t, pwrite, int fd, const void *from, size_t size, off_t at)
{
    const opened *o = opened_of(fd);
    return o ? write_node(o->of, from, size, (size_t)at) : __real_pwrite(fd, from, size, at);
}

WRAP(int, fstat, int fd, struct stat *out)
{
    const opened *o = opened_of(fd);
    if (!o) return __real_fstat(fd, out);
    describe(o->of, out);
    return 0;
}

WRAP(int, stat, const char *path, struct stat *out)
{
    if (!is_ours(path)) return __real_stat(path, out);
    const node *n = find(path);
    if (n) describe(n, out);
    return n ? 0 : -1;
}

WRAP(int, lstat, const char *path, struct stat *out)
{
    return is_ours(path) ? __wrap_stat(path, out) : __real_lstat(path, out);
}

WRAP(int, access, const char *path, int mode)
{
    if (!is_ours(path)) return __real_access(path, mode);
    return find(path) ? 0 : -1;
}

WRAP(char *, realpath, const char *path, char *out)
{
    if (!is_ours(path) || out) return __real_realpath(path, out);
    return find(path) ? strdup(path) : NULL;
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
    if (!is_ours(path)) return __real_mkdir(path, mode);
    if (find(path)) return errno = EEXIST, -1;
    return parent_of(path) && create(path, true) ? 0 : -1;
}

WRAP(int, rmdir, const char *path)
{
    if (!is_ours(path)) return __real_rmdir(path);
    node *n = find(path);
    if (!n) return -1;
    if (!n->folder) return errno = ENOTDIR, -1;
    if (!is_empty(n)) return errno = ENOTEMPTY, -1;
    return remove_node(n);
}

WRAP(int, unlink, const char *path)
{
    if (!is_ours(path)) return __real_unlink(path);
    node *n = find(path);
    if (!n) return -1;
    return n->folder ? errno = EISDIR, -1 : remove_node(n);
}

WRAP(int, unlinkat, int fd, const char *name, int flags)
{
    const opened *o = opened_of(fd);
    char path[2 * PATH];
    if (!o) return __real_unlinkat(fd, name, flags);
    snprintf(path, sizeof path, "%s/%s", o->of->path, name);
    return __wrap_unlink(path);
}

WRAP(int, rename, const char *from, const char *to)
{
    if (!is_ours(from)) return __real_rename(from, to);
    node *n = find(from), *old = find(to);
    if (!n || !parent_of(to) || strlen(to) >= PATH) return -1;
    if (n->folder || (old && old->folder)) return errno = EISDIR, -1;
    if (old && old != n) remove_node(old);
    strcpy(n->path, to);
    return 0;
}

WRAP(int, fsync, int fd)
{
    return opened_of(fd) ? 0 : __real_fsync(fd);
}

WRAP(int, fchmod, int fd, mode_t mode)
{
    return opened_of(fd) ? 0 : __real_fchmod(fd, mode);
}

WRAP(int, flock, int fd, int operation)
{
    return opened_of(fd) ? 0 : __real_flock(fd, operation);
}

WRAP(int, posix_fadvise, int fd, off_t at, off_t size, int advice)
{
    return opened_of(fd) ? 0 : __real_posix_fadvise(fd, at, size, advice);
}

/* ---- folders ---- */

static opened *opened_folder(const DIR *dir)
{
    for (int i = 0; i < OPEN; i++)
        if (table[i].of && (const void *)dir == (const void *)&table[i]) return &table[i];
    return NULL;
}

WRAP(DIR *, opendir, const char *path)
{
    if (!is_ours(path)) return __real_opendir(path);
    node *n = find(path);
    if (!n) return NULL;
    if (!n->folder) return errno = ENOTDIR, NULL;
    return (DIR *)(void *)open_node(n);
}

WRAP(struct dirent *, readdir, DIR *dir)
{
    opened *o = opened_folder(dir);
    if (!o) return __real_readdir(dir);
    const size_t length = strlen(o->of->path);
    while (o->at < (size_t)count) {
        const node *n = &nodes[o->at++];
        if (!n->used || strncmp(n->path, o->of->path, length) != 0 || n->path[length] != '/') continue;
        const char *name = n->path + length + 1;
        if (strchr(name, '/') || strlen(name) >= sizeof o->entry.d_name) continue;
        o->entry = (struct dirent){.d_ino = o->at, .d_type = n->folder ? DT_DIR : DT_REG};
        strcpy(o->entry.d_name, name);
        return &o->entry;
    }
    return NULL;
}

WRAP(int, closedir, DIR *dir)
{
    opened *o = opened_folder(dir);
    return o ? close_node(o) : __real_closedir(dir);
}

WRAP(int, dirfd, DIR *dir)
{
    const opened *o = opened_folder(dir);
    return o ? FIRST_FD + (int)(o - table) : __real_dirfd(dir);
}

/* ---- streams, for reading only ---- */

static opened *opened_stream(const FILE *file)
{
    for (int i = 0; i < OPEN; i++)
        if (table[i].of && table[i].stream == file) return &table[i];
    return NULL;
}

WRAP(FILE *, fopen, const char *path, const char *mode)
{
    if (!is_ours(path)) return __real_fopen(path, mode);
    node *n = find(path);
    if (!n) return NULL;
    if (*mode != 'r' || strchr(mode, '+')) return errno = EROFS, NULL;
    static uint8_t none[1];
    FILE *file = fmemopen(n->size ? n->bytes : none, n->size, "rb");
    opened *o = file ? open_node(n) : NULL;
    if (o) o->stream = file;
    return file;
}

WRAP(int, fclose, FILE *file)
{
    opened *o = opened_stream(file);
    if (o) close_node(o);
    return __real_fclose(file);
}

WRAP(int, fileno, FILE *file)
{
    const opened *o = opened_stream(file);
    return o ? FIRST_FD + (int)(o - table) : __real_fileno(file);
}
