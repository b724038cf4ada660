/* MATLAB 5 files: elements that are packed here, or the input itself.
 *
 * Input: a byte of choices; a line with the names of variables; then the file, or elements, each
 * with two bytes of its size before it. */
#include <zlib.h>

#include "fuzz.h"

static void put_word(uint8_t *to, uint32_t value, bool big)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * (big ? 3 - i : i));
}

static const char *make_file(fuzz_input *in, bool big)
{
    enum { ELEMENTS = 16, HEADER = 128, COMPRESSED = 15 };
    uint8_t *file = fuzz_alloc(HEADER + 2 * in->left + ELEMENTS * 128);
    size_t used = HEADER;
    memset(file, ' ', HEADER);
    memcpy(file, "MATLAB 5.0 MAT-file", 19);
    memcpy(file + 124, big ? "\1\0MI" : "\0\1IM", 4);
    for (int i = 0; i < ELEMENTS && in->left > 0; i++) {
        const fuzz_input element = fuzz_section(in);
        uLongf packed = compressBound((uLong)element.left);
        if (compress2(file + used + 8, &packed, element.left ? element.at : file, (uLong)element.left, 1)) abort();
        put_word(file + used, COMPRESSED, big);
        put_word(file + used + 4, (uint32_t)packed, big);
        used += 8 + packed;
    }
    return fuzz_file("a.mat", file, used);
}

FUZZ_TARGET(mat)
{
    const int choice = fuzz_byte(in);
    const char *variables = fuzz_line(in);
    const enhope_source source = {.path = choice & 1 ? fuzz_file("a.mat", in->at, in->left) : make_file(in, choice & 2),
                                  .variables = *variables ? variables : NULL,
                                  .label = choice & 4 ? "none" : NULL};
    fuzz_read_all(&source, choice >> 4);
}
