/* PNG and JPEG images in a folder for each class. The checksums of PNG are made right.
 *
 * Input: a byte of choices; the first image with two bytes of its size before it; the second. */
#include <zlib.h>

#include "fuzz.h"

static const char *put_image(const char *name, const fuzz_input *image)
{
    enum { SIGNATURE = 8, FRAME = 12 }; /* length, type and checksum of a chunk */
    uint8_t *copy = fuzz_alloc(image->left);
    if (image->left) memcpy(copy, image->at, image->left);
    for (size_t at = SIGNATURE; image->left >= FRAME && at <= image->left - FRAME && copy[0] == 0x89;) {
        const size_t length =
            (size_t)copy[at] << 24 | (size_t)copy[at + 1] << 16 | (size_t)copy[at + 2] << 8 | copy[at + 3];
        if (length > image->left - FRAME - at) break;
        const uLong crc = crc32(0, copy + at + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++) copy[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += FRAME + length;
    }
    return fuzz_file(name, copy, image->left);
}

FUZZ_TARGET(image)
{
    const int choice = fuzz_byte(in);
    const char *end = choice & 1 ? "jpg" : "png";
    char name[2][32];
    snprintf(name[0], sizeof name[0], "images/a/1.%s", end);
    snprintf(name[1], sizeof name[1], "images/b/2.%s", end);
    fuzz_make_folder("images");
    fuzz_make_folder("images/a");
    fuzz_make_folder("images/b");
    const fuzz_input first = fuzz_section(in);
    put_image(name[0], &first);
    put_image(name[1], in->left ? in : &first);
    const enhope_source source = {.path = fuzz_path("images"), .label = choice & 2 ? "none" : NULL};
    fuzz_read_all(&source, choice >> 4);
    fuzz_remove("images");
}
