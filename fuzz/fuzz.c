/* Inputs, memory, files and messages of the fuzz targets. */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

enum { KEPT = 512, PATH = 512 };

enhope_context *fuzz_ctx;
static char folder[PATH];
static void *kept[KEPT]; /* memory until the end of the run */
static int kepts;
static size_t input_size;
static bool every_one;
static uint64_t draws; /* state of the draws of a run */
static long blocks_before;

_Noreturn void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken promise: %s (last message: %s)\n", file, line, condition, enhope_error(fuzz_ctx));
    abort();
}

/* ---- memory ---- */

static atomic_long live_bytes, live_blocks;

static size_t limit(void)
{
    return FUZZ_MEMORY + (input_size < FUZZ_SMALL ? 0 : input_size * FUZZ_MEMORY_PER_BYTE);
}

static bool failed; /* what is allocated to report a finding is no other one */

_Noreturn static void too_large(size_t bytes)
{
    failed = true;
    fprintf(stderr, "an input of %zu bytes takes %zu bytes of memory: at most %zu\n", input_size, bytes, limit());
    abort();
}

#ifdef HAVE_ASAN
/* Declared here because gcc has no sanitizer/allocator_interface.h. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);

/* All memory of the process is counted: that of zlib and cJSON as well. */
static void on_malloc(const volatile void *block, size_t bytes)
{
    (void)block;
    const long now = atomic_fetch_add_explicit(&live_bytes, (long)bytes, memory_order_relaxed) + (long)bytes;
    if (now > 0 && (size_t)now > limit() && !failed) too_large((size_t)now);
}

static void on_free(const volatile void *block)
{
    atomic_fetch_sub_explicit(&live_bytes, (long)__sanitizer_get_allocated_size(block), memory_order_relaxed);
}

static void count_memory(void)
{
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}
#else
static void count_memory(void)
{
}
#endif

/* The library aligns its blocks to 64 bytes within the block of the allocator. This block is placed
 * so that nothing is left behind an aligned block: a sanitizer finds the first byte after it. */
enum { ALIGN = 64, SHIFT = 56, SLACK = 64 };

static void *take(size_t bytes)
{
    void *base = NULL;
    if (bytes > limit()) too_large(bytes);
    const size_t size = SHIFT + bytes - SLACK;
    if (posix_memalign(&base, ALIGN, size + (size == ALIGN)) != 0) return NULL; /* an empty block has an address, too */
    atomic_fetch_add(&live_blocks, 1);
    return (char *)base + SHIFT;
}

static void release(void *block)
{
    if (!block) return;
    atomic_fetch_sub(&live_blocks, 1);
    free((char *)block - SHIFT);
}

/* ---- messages ---- */

bool fuzz_clean(const char *text)
{
    uint32_t code;
    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        size = eh_utf8_next(text, left, &code);
        if (size == 0 || (eh_utf8_control(code) && code != '\n' && code != '\t')) return false;
    }
    return true;
}

bool fuzz_equal_texts(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : !a && !b;
}

bool fuzz_good(enhope_status status)
{
    const char *message = enhope_error(fuzz_ctx);
    if (status == ENHOPE_OK || status == ENHOPE_STOPPED) return true;
    FUZZ_MUST(strcmp(enhope_status_text(status), "unknown status") != 0);
    FUZZ_MUST(strlen(message) > 5);
    FUZZ_MUST(fuzz_clean(message));
    return false;
}

void fuzz_succeed(enhope_status status)
{
    FUZZ_MUST(fuzz_good(status) || status == ENHOPE_ERROR_MEMORY);
}

static void check_line(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    FUZZ_MUST(level == ENHOPE_LOG_INFO || level == ENHOPE_LOG_WARNING);
    FUZZ_MUST(*line && fuzz_clean(line));
}

/* ---- a run ---- */

/* A file, or a folder with its content. */
static void remove_path(const char *path)
{
    char inner[2 * PATH];
    DIR *dir = unlink(path) == 0 ? NULL : opendir(path);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        remove_path(inner);
    }
    closedir(dir);
    rmdir(path);
}

static void remove_folder(void)
{
    remove_path(folder);
}

static void start(void)
{
    const char *under = getenv("FUZZ_FOLDER");
    if (!under) under = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    setenv("OMP_NUM_THREADS", "1", 1);
    snprintf(folder, sizeof folder, "%s/enhope-fuzz-XXXXXX", under);
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    enhope_set_allocator(take, release);
    fuzz_ctx = enhope_context_create();
    if (!fuzz_ctx) abort();
    enhope_context_set_threads(fuzz_ctx, 1);
    enhope_context_set_memory(fuzz_ctx, FUZZ_USUAL_MEMORY);
    enhope_context_set_log(fuzz_ctx, check_line, NULL);
    count_memory();
}

void fuzz_begin(const uint8_t *bytes, size_t size, bool every)
{
    if (!fuzz_ctx) start();
    input_size = size;
    every_one = every;
    draws = eh_hash(size, bytes, size);
    atomic_store(&live_bytes, 0);
    blocks_before = atomic_load(&live_blocks);
}

bool fuzz_one_of(uint64_t n)
{
    draws = draws * 6364136223846793005U + 1442695040888963407U;
    return every_one || (draws >> 33) % n == 0;
}

void fuzz_end(void)
{
    while (kepts > 0) free(kept[--kepts]);
    FUZZ_MUST(atomic_load(&live_blocks) == blocks_before); /* everything was freed */
}

void *fuzz_alloc(size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    if (!block || kepts == KEPT) abort();
    return kept[kepts++] = block;
}

void fuzz_keep_memory(void)
{
    blocks_before = atomic_load(&live_blocks);
    atomic_store(&live_bytes, 0);
}

/* ---- the input ---- */

uint8_t fuzz_byte(fuzz_input *in)
{
    if (in->left == 0) return 0;
    in->left--;
    return *in->at++;
}

uint32_t fuzz_word(fuzz_input *in)
{
    const uint32_t low = fuzz_byte(in);
    return low | (uint32_t)fuzz_byte(in) << 8;
}

char *fuzz_text(fuzz_input *in, char end)
{
    const uint8_t *found = in->left ? memchr(in->at, end, in->left) : NULL;
    const size_t length = found ? (size_t)(found - in->at) : in->left;
    char *text = fuzz_alloc(length + 1);
    if (length) memcpy(text, in->at, length);
    text[length] = '\0';
    in->at += length + (found != NULL);
    in->left -= length + (found != NULL);
    return text;
}

char *fuzz_line(fuzz_input *in)
{
    return fuzz_text(in, '\n');
}

fuzz_input fuzz_section(fuzz_input *in)
{
    const size_t size = fuzz_word(in);
    fuzz_input out = {in->at, size < in->left ? size : in->left};
    in->at += out.left;
    in->left -= out.left;
    return out;
}

/* ---- files ---- */

const char *fuzz_path(const char *name)
{
    char *path = fuzz_alloc(PATH + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
    const char *path = fuzz_path(name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || (size && write(fd, bytes, size) != (ssize_t)size) || close(fd)) abort();
    return path;
}

const char *fuzz_gzip(const char *name, const void *bytes, size_t size)
{
    const uLong capacity = compressBound((uLong)size) + 32;
    uint8_t *packed = fuzz_alloc(capacity);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size, .next_out = packed};
    z.avail_out = (uInt)capacity;
    if (deflateInit2(&z, 1, Z_DEFLATED, 16 + 9, 1, Z_DEFAULT_STRATEGY) || deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    const size_t used = z.total_out;
    deflateEnd(&z);
    return fuzz_file(name, packed, used);
}

void fuzz_make_folder(const char *name)
{
    const char *path = fuzz_path(name);
    if (mkdir(path, 0700) && access(path, W_OK)) abort();
}

void fuzz_remove(const char *name)
{
    remove_path(fuzz_path(name));
}
