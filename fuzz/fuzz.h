/* Common code of the fuzz targets (docs/explanation/fuzzing.md).
 *
 * A target is a file in targets/ with FUZZ_TARGET(name) { ... }. It consumes its input with
 * fuzz_byte(), fuzz_line() and the like, calls the library, and checks after every call what the
 * public headers promise. A broken promise ends the process, as a finding of a sanitizer does. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enhope_advanced.h"

/* ---- the input ---- */

typedef struct fuzz_input {
    const uint8_t *at;
    size_t left;
} fuzz_input;

/* 0 at the end of the input. */
uint8_t fuzz_byte(fuzz_input *in);
uint32_t fuzz_word(fuzz_input *in); /* two bytes, little-endian */
/* A text up to the next `end` or the end of the input; it lives until the end of the run. */
char *fuzz_text(fuzz_input *in, char end);
char *fuzz_line(fuzz_input *in);
/* The next word() bytes, or fewer. */
fuzz_input fuzz_section(fuzz_input *in);
/* Memory until the end of the run. */
void *fuzz_alloc(size_t bytes);

/* ---- a run ---- */

/* Limit of all memory for an input of less than 1 kB. Larger inputs may take more for each byte,
 * because one of a compressed model stands for up to EH_CODES_ENTRIES floats. */
enum { FUZZ_MEMORY = 100 << 20, FUZZ_SMALL = 1024, FUZZ_MEMORY_PER_BYTE = 1 << 16 };
/* The limit of the context: it refuses nothing, and a run does not depend on the machine. */
#define FUZZ_USUAL_MEMORY ((int64_t)1 << 50)

/* every: fuzz_one_of() draws every input. */
void fuzz_begin(const uint8_t *bytes, size_t size, bool every);
void fuzz_end(void);
/* Draws an input for a slow check: about one of n with libFuzzer, by a hash of its bytes. */
bool fuzz_one_of(uint64_t n);
/* What was allocated so far stays for later runs, as models that are made once. */
void fuzz_keep_memory(void);

/* With libFuzzer each target is a program. Without, main.c runs files through all targets. */
#ifdef FUZZ_LIBFUZZER
#define FUZZ_ENTRY(name) LLVMFuzzerTestOneInput
#define FUZZ_EVERY       false
#else
#define FUZZ_ENTRY(name) fuzz_##name
#define FUZZ_EVERY       true
#endif
#define FUZZ_TARGET(name)                                    \
    int FUZZ_ENTRY(name)(const uint8_t *bytes, size_t size); \
    static void run(fuzz_input *in);                         \
    int FUZZ_ENTRY(name)(const uint8_t *bytes, size_t size)  \
    {                                                        \
        fuzz_input in = {bytes, size};                       \
        fuzz_begin(bytes, size, FUZZ_EVERY);                 \
        run(&in);                                            \
        fuzz_end();                                          \
        return 0;                                            \
    }                                                        \
    static void run(fuzz_input *in)

/* ---- promises ---- */

extern enhope_context *fuzz_ctx; /* its log checks every line */

#define FUZZ_MUST(condition)                                           \
    do {                                                               \
        if (!(condition)) fuzz_broken(#condition, __FILE__, __LINE__); \
    } while (0)
_Noreturn void fuzz_broken(const char *condition, const char *file, int line);

/* True for success. A failure must have a message of valid UTF-8 without control characters. */
bool fuzz_good(enhope_status status);
/* As fuzz_good; the failures that the call may have no other reason for end the process. */
void fuzz_succeed(enhope_status status);
bool fuzz_clean(const char *text); /* valid UTF-8 without control characters, except newlines and tabs */
bool fuzz_equal_texts(const char *a, const char *b); /* either may be NULL */

/* ---- files, in a folder in memory ---- */

/* Writes a file and returns its path, which lives until the end of the run. */
const char *fuzz_file(const char *name, const void *bytes, size_t size);
const char *fuzz_gzip(const char *name, const void *bytes, size_t size); /* the same, packed */
const char *fuzz_path(const char *name);
void fuzz_make_folder(const char *name);
void fuzz_remove(const char *name); /* a file, or a folder with its content */

/* ---- data (data.c) ---- */

/* Checks everything that a data set shows. */
void fuzz_check_data(const enhope_dataset *data);
/* Both have the same rows, labels and names. */
void fuzz_check_same(const enhope_dataset *a, const enhope_dataset *b);
/* Reads and checks a source; NULL: it failed. */
enhope_dataset *fuzz_read(const enhope_source *source);
enum {
    FUZZ_STREAM = 1, /* also left in its files */
    FUZZ_CONVERT = 2,
    FUZZ_SPLIT = 4,
    FUZZ_LIMIT = 8
};
/* Reads a source in the ways of `how`, each for one of FUZZ_WAYS inputs, and compares the results.
 */
enum { FUZZ_WAYS = 3 };
void fuzz_read_all(const enhope_source *source, int how);

/* ---- models (model.c) ---- */

/* A model of a small training of this source, made once. */
const enhope_model *fuzz_trained(const char *method, const char *path, enhope_dataset **data);
/* A safetensors file: a header in JSON, a byte 0, the tensors. */
uint8_t *fuzz_safetensors(const fuzz_input *in, size_t *size);
/* Checks what a model shows, saves and predicts. */
void fuzz_check_model(const enhope_model *model);
/* Rows of the model's width, in memory. */
enhope_dataset *fuzz_rows_of(const enhope_model *model, int64_t n);

#endif
