/* A file of inputs, or a pair of files of inputs and labels, plain or packed.
 *
 * Input: a byte of choices; for a pair, the first file with two bytes of its size before it; the
 * rest is the last file. */
#ifndef FUZZ_ARRAYS_H
#define FUZZ_ARRAYS_H

#include "fuzz.h"

static inline const char *put_array(const char *name, const fuzz_input *bytes, bool packed)
{
    char *end = fuzz_alloc(strlen(name) + 4);
    sprintf(end, "%s%s", name, packed ? ".gz" : "");
    return packed ? fuzz_gzip(end, bytes->at, bytes->left) : fuzz_file(end, bytes->at, bytes->left);
}

static inline void fuzz_arrays(fuzz_input *in, const char *x_name, const char *y_name)
{
    const int choice = fuzz_byte(in);
    const bool pair = choice & 1;
    const fuzz_input x = pair ? fuzz_section(in) : *in;
    const char *x_path = put_array(choice & 8 ? "x" : x_name, &x, choice & 2);
    enhope_source source = {.path = x_path};
    if (pair) {
        const char *y_path = put_array(y_name, in, choice & 4);
        char *both = fuzz_alloc(strlen(x_path) + strlen(y_path) + 2);
        sprintf(both, "%s,%s", x_path, y_path);
        source.path = both;
    }
    fuzz_read_all(&source, choice >> 4);
}

#endif
