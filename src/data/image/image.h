/* PNG and JPEG images: the interface between the plug-in libenhope_image.so (image.c) and the
 * reader (read/read_images.c).
 *
 * image.c is the only file that uses libpng and libjpeg. They are loaded when the first image is
 * read. The plug-in frees its own memory. */
#ifndef EH_IMAGE_H
#define EH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger images are refused before memory is allocated for them. */
enum { EH_IMAGE_PIXELS = 1 << 24, EH_IMAGE_SIDE = (1 << 16) - 1, EH_IMAGE_MESSAGE = 200 };

typedef struct eh_image_info {
    int64_t rows, columns;
    bool gray; /* the file has no colors */
} eh_image_info;

typedef struct eh_image_ops {
    /* Reads the header of a file in memory. Returns false with a message that follows "FILE: ". */
    bool (*describe)(const uint8_t *file, size_t size, eh_image_info *out, char message[EH_IMAGE_MESSAGE]);
    /* Decodes a file that `describe` has accepted. pixels (rows, columns, channels): channels is 1
     * (gray: the luma of colors) or 3 (red, green, blue). Transparent pixels are white. */
    bool (*decode)(const uint8_t *file, size_t size, int channels, uint8_t *pixels, char message[EH_IMAGE_MESSAGE]);
} eh_image_ops;

/* The exported symbol. Returns NULL if table_size is not the plug-in's sizeof(eh_image_ops), which
 * means another version. */
typedef const eh_image_ops *(*eh_image_table_fn)(size_t table_size);

#endif
