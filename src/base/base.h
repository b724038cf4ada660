/* What every room may use: status with a sentence, checked memory, arenas, the matrix view, random numbers, a clock. */
#ifndef EH_BASE_H
#define EH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enhope_advanced.h"

/* ---- context and errors (context.c) ---- */

struct enhope_context {
    char error[1024];
    enhope_log_fn log;
    void *log_user;
    int threads;          /* 0: all cores */
    int64_t memory;       /* bytes of data that are held at most where it can be streamed; 0: half of the machine's */
    char device[16];      /* "cpu", "cuda", "cuda:1", "auto", "ref" */
    int precision;        /* an eh_precision */
    bool told_fallback;   /* auto: that the cpu computes, and why, was logged */
    struct eh_comm *comm; /* of comm/: the ranks that train together; NULL: this process alone */
    int local_rank, local_size; /* of these, on this machine: number of this one, and how many there are (1: alone) */
    bool agreed;                /* all of them know of the failure under way */
};

/* How the inputs of products are rounded on a GPU; sums are float32. */
typedef enum eh_precision {
    EH_FP32 = 0,
    EH_TF32 = 1,
    EH_BF16 = 2,
    EH_NUMBERS = 3 /* not for products at all: operands are numbers */
} eh_precision;

/* Sets the sentence and returns status, so that a failure is one line: return eh_fail(ctx, ENHOPE_ERROR_DATA, ...). */
enhope_status eh_fail(enhope_context *ctx, enhope_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "prefix: " before the present sentence (which file, which part) and returns status. */
enhope_status eh_fail_in(enhope_context *ctx, enhope_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The sentence for no memory: "out of memory: WHAT needs N bytes". */
enhope_status eh_fail_memory(enhope_context *ctx, const char *what, size_t count, size_t size);
void eh_log(enhope_context *ctx, enhope_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns from the calling function when expression fails. */
#define EH_TRY(expression)                                \
    do {                                                  \
        const enhope_status eh_try_status = (expression); \
        if (eh_try_status) return eh_try_status;          \
    } while (0)
/* The same where there is something to clean up: needs `enhope_status status` and a label `cleanup`. */
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

/* 64-byte aligned, zeroed; NULL when count * size overflows or memory is out. count 0 gives a valid block. */
void *eh_alloc(size_t count, size_t size);
/* Grows a block got from eh_alloc from old_count to new_count elements (new part zeroed); NULL leaves it as it was. */
void *eh_grow(void *block, size_t old_count, size_t new_count, size_t size);
void eh_free(void *block);
char *eh_strdup(const char *text);
/* out = a * b, false on overflow or a negative factor. */
bool eh_mul(int64_t a, int64_t b, int64_t *out);

/* Allocates through the status channel: EH_TRY(eh_new(ctx, "labels", n, sizeof *p, (void **)&p)). */
enhope_status eh_new(enhope_context *ctx, const char *what, int64_t count, size_t size, void **out);
enhope_status eh_new_text(enhope_context *ctx, const char *what, const char *text, char **out);
/* Copies of count texts; from NULL: none. After a failure *out holds those that were made. */
enhope_status eh_new_names(enhope_context *ctx, const char *what, char *const *from, int64_t count, char ***out);
void eh_names_free(char **name, int64_t count);

/* Bytes of data to be held in memory at most, as the context says or half of what eh_machine_memory does. */
int64_t eh_memory_limit(const enhope_context *ctx);

/* ---- machine.c ---- */

double eh_seconds(void); /* of a monotonic clock */
/* Bytes of memory that this process may have. */
int64_t eh_machine_memory(void);
/* The lesser of `most` and the limits of control groups: `list` is /proc/self/cgroup, `mount` where they are. */
int64_t eh_group_memory(const char *list, const char *mount, int64_t most);

/* ---- the matrix view (matrix.c) ---- */

/* Samples in host memory, one a row; owns nothing. */
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

/* ---- random numbers (random.c): Philox4x32-10, a function of (seed, stream, index) ---- */

enum { /* streams, so that no two uses share numbers */
       EH_STREAM_INIT = 1,
       EH_STREAM_SHUFFLE = 2,
       EH_STREAM_EXEMPLAR = 3,
       EH_STREAM_VALID = 4,
       EH_STREAM_SYNTHETIC = 5,
       EH_STREAM_NOISE = 6,
       EH_STREAM_DROPOUT = 7,
       EH_STREAM_DEFORM = 8,
       EH_STREAM_ELASTIC = 9,
       EH_STREAM_FINGERPRINT = 11,
       EH_STREAM_RUNS = 12
};
uint64_t eh_random_u64(uint64_t seed, uint32_t stream, uint64_t index);
double eh_random_unit(uint64_t seed, uint32_t stream, uint64_t index);   /* [0, 1) */
double eh_random_normal(uint64_t seed, uint32_t stream, uint64_t index); /* N(0, 1) */
/* A permutation of 0..n-1; round separates successive shuffles of one stream. */
void eh_shuffle(uint64_t seed, uint32_t stream, uint64_t round, int64_t n, int64_t *order);

/* ---- hash.c ---- */

/* Of bytes, going on from the hash `before` of others (0: none). */
uint64_t eh_hash(uint64_t before, const void *data, size_t bytes);

/* ---- numbers as text, whatever the locale (number.c) ---- */

typedef enum eh_number_kind { EH_NUMBER, EH_NOT_NUMBER, EH_NOT_FINITE } eh_number_kind;
/* [+-]digits[.digits][e[+-]digits], or nan, inf, infinity in any case (not finite, like 1e999). No spaces. */
eh_number_kind eh_number_parse(const char *text, size_t length, double *out);
/* The shortest text that reads back as value; whole numbers without a point. */
void eh_number_print(double value, char *text, size_t size);

/* ---- UTF-8 (utf8.c) ---- */

/* Bytes of the sequence that text begins with, and its code point; 0: it is not valid UTF-8 (overlong, a surrogate, beyond
 * U+10FFFF, cut off). */
size_t eh_utf8_next(const char *text, size_t length, uint32_t *code);
/* Writes the code point, which must not exceed U+10FFFF; returns its 1 to 4 bytes. */
size_t eh_utf8_put(uint32_t code, char *to);
/* True for valid UTF-8 without NUL. */
bool eh_utf8_valid(const char *text, size_t length);
/* A copy in which every byte that is not part of valid UTF-8 is taken for Latin-1. NULL: out of memory. */
char *eh_utf8_copy(const char *text);

#endif
