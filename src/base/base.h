/* Basics for every module: status and messages, checked allocation, the matrix view, random
 * numbers, hashing, numbers as text and a clock. utf8.h has UTF-8. */
#ifndef EH_BASE_H
#define EH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/utf8.h"
#include "enhope_advanced.h"

/* ---- context and errors (context.c) ---- */

struct enhope_context {
    char error[8192]; /* a report of many problems has several lines */
    enhope_log_fn log;
    void *log_user;
    enhope_stop_fn stop; /* ends a wait for input; NULL: nothing does */
    void *stop_user;
    int threads;          /* 0: all cores */
    int64_t memory;       /* maximum bytes of resident data if it can be streamed; 0: half of the machine's memory */
    char device[16];      /* "cpu", "cuda", "cuda:1", "auto", "ref" */
    int precision;        /* an eh_precision, on a GPU */
    const char *engine;   /* of predictions on the cpu: "float32", "int8"; NULL: the model's */
    bool logged_fallback; /* auto: the fallback to the CPU has been logged */
    struct eh_comm *comm; /* the ranks that train together (comm/); NULL: this process alone */
    int local_rank, local_size; /* among the ranks of this machine; alone: 0 and 1 */
    bool failure_shared;        /* all ranks have received the current failure */
};

/* How the inputs of matrix products are rounded on a GPU. Sums are float32. */
typedef enum eh_precision {
    EH_FP32 = 0,
    EH_TF32 = 1,
    EH_BF16 = 2,
    EH_UNPACKED = 3 /* no rounding: for values that are no inputs of products */
} eh_precision;

/* Stores the message and returns status, so that a failure takes one line: return eh_fail(ctx,
 * ENHOPE_ERROR_DATA, ...). */
enhope_status eh_fail(enhope_context *ctx, enhope_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "prefix: " before the stored message (for example a file name) and returns status. */
enhope_status eh_fail_in(enhope_context *ctx, enhope_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Stores the message "out of memory: WHAT needs N bytes". */
enhope_status eh_fail_memory(enhope_context *ctx, const char *what, size_t count, size_t size);
void eh_log(enhope_context *ctx, enhope_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns from the calling function when expression fails. */
#define EH_TRY(expression)                                \
    do {                                                  \
        const enhope_status eh_try_status = (expression); \
        if (eh_try_status) return eh_try_status;          \
    } while (0)
/* As EH_TRY, but jumps to the label `cleanup`. Needs a variable `enhope_status status`. */
#define EH_CHECK(expression)      \
    do {                          \
        status = (expression);    \
        if (status) goto cleanup; \
    } while (0)

static inline int64_t eh_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t eh_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- memory (memory.c) ---- */

/* The size of a buffer for reading. Builds for fuzzing have small ones, which short inputs fill. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define EH_BUFFER(size) ((size) >> 10)
#else
#define EH_BUFFER(size) (size)
#endif

/* Allocates 64-byte aligned, zeroed memory. Returns NULL if count * size overflows or memory is
 * exhausted. A count of 0 gives a valid block. */
void *eh_alloc(size_t count, size_t size);
/* Grows a block of eh_alloc from old_count to new_count elements and zeroes the new ones. Returns
 * NULL and leaves the block unchanged if memory is exhausted. */
void *eh_grow(void *block, size_t old_count, size_t new_count, size_t size);
void eh_free(void *block);
char *eh_strdup(const char *text);
/* Copies text; bytes that are not valid UTF-8 are read as Latin-1. Returns NULL if memory is
 * exhausted. */
char *eh_utf8_copy(const char *text);
/* out = a * b; false on overflow or if a factor is negative. */
bool eh_mul(int64_t a, int64_t b, int64_t *out);

/* Allocates and reports failure as a status: EH_TRY(eh_new(ctx, "labels", n, sizeof *p, (void
 * **)&p)). */
enhope_status eh_new(enhope_context *ctx, const char *what, int64_t count, size_t size, void **out);
enhope_status eh_new_text(enhope_context *ctx, const char *what, const char *text, char **out);
/* Copies count strings; does nothing if `from` is NULL. After a failure *out holds the copies made
 * so far. */
enhope_status eh_new_names(enhope_context *ctx, const char *what, char *const *from, int64_t count, char ***out);
void eh_names_free(char **name, int64_t count);

/* Maximum bytes of resident data: the limit of the context, or half of eh_machine_memory(). */
int64_t eh_memory_limit(const enhope_context *ctx);

/* ---- machine.c ---- */

double eh_seconds(void); /* monotonic clock */
/* Bytes of memory that this process may use. */
int64_t eh_machine_memory(void);
/* fread() that continues if a signal interrupts it. Fewer bytes: the end of the file, or errno. */
size_t eh_fread(void *to, size_t bytes, FILE *file);
/* The smallest of `max` and the memory limits of the control groups in the file `list`
 * (/proc/self/cgroup). Their files lie under `mount` (/sys/fs/cgroup). */
int64_t eh_group_memory(const char *list, const char *mount, int64_t max);

/* ---- the matrix view (matrix.c) ---- */

/* Samples in host memory, one per row. A view: owns no memory. */
typedef struct eh_matrix {
    enhope_kind kind;
    int64_t n, H;
    const uint8_t *u8;        /* (n, H) ENHOPE_U8 */
    const float *f32;         /* (n, H) ENHOPE_F32 */
    const int64_t *row_start; /* (n + 1) ENHOPE_CSR */
    const int32_t *column;    /* (row_start[n]) ascending in a row */
    const float *value;       /* (row_start[n]) */
} eh_matrix;

/* Row i as dense floats, unscaled. */
void eh_matrix_row(const eh_matrix *x, int64_t i, float *out /* (H) */);

/* ---- random numbers (random.c): Philox4x32-10, functions of (seed, stream, index) ---- */

enum { /* one stream for each use, so that uses do not share numbers */
       EH_STREAM_INIT = 1,
       EH_STREAM_SHUFFLE = 2,
       EH_STREAM_EXEMPLAR = 3,
       EH_STREAM_VALID = 4,
       EH_STREAM_SYNTHETIC = 5,
       EH_STREAM_NOISE = 6,
       EH_STREAM_DROPOUT = 7,
       EH_STREAM_WARP = 8,
       EH_STREAM_ELASTIC = 9,
       EH_STREAM_FINGERPRINT = 11,
       EH_STREAM_RUNS = 12,
       EH_STREAM_FOLDS = 13,
       EH_STREAM_NEIGHBOR = 14,
       EH_STREAM_MEASURE = 15,
       EH_STREAM_UNLABELED = 16,
       EH_STREAM_TREE = 17
};
uint64_t eh_random_u64(uint64_t seed, uint32_t stream, uint64_t index);
double eh_random_unit(uint64_t seed, uint32_t stream, uint64_t index);   /* [0, 1) */
double eh_random_normal(uint64_t seed, uint32_t stream, uint64_t index); /* N(0, 1) */
/* Writes a permutation of 0..n-1; `round` numbers successive shuffles of one stream. */
void eh_shuffle(uint64_t seed, uint32_t stream, uint64_t round, int64_t n, int64_t *order);

/* ---- hash.c ---- */

/* Hash of bytes. `before` is the hash of the preceding bytes, or 0. */
uint64_t eh_hash(uint64_t before, const void *data, size_t bytes);

/* ---- numbers as text, independent of the locale (number.c) ---- */

typedef enum eh_number_kind { EH_NUMBER, EH_NOT_NUMBER, EH_NOT_FINITE } eh_number_kind;
/* Parses [+-]digits[.digits][e[+-]digits]. The words nan, inf and infinity (any case) and values
 * that overflow (1e999) give EH_NOT_FINITE. Spaces are not allowed. */
eh_number_kind eh_number_parse(const char *text, size_t length, double *out);
/* Writes the shortest text that reads back as value; integers have no decimal point. */
void eh_number_print(double value, char *text, size_t size);

#endif
