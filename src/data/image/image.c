/* The plug-in libenhope_image.so: decodes PNG files through libpng and JPEG files through libjpeg;
 * image.h describes its interface.
 *
 * Both libraries report errors by longjmp. Every function that calls setjmp keeps its state in one
 * struct of the caller, so that no local variable changes between setjmp and longjmp. */
#include "data/image/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

typedef struct decoder {
    const uint8_t *file;
    size_t size, at;
    int channels;
    uint8_t *pixels; /* NULL: read the header only */
    eh_image_info info;
    uint8_t *block;  /* decoded rows, in the channels of the library */
    png_bytep *rows; /* of PNG: pointers to them */
    char *message;
    jmp_buf failed;
} decoder;

static bool too_large(decoder *d)
{
    const int64_t pixels = d->info.rows * d->info.columns; /* sides have at most 31 bits */
    if (pixels > 0 && pixels <= EH_IMAGE_PIXELS) return false;
    snprintf(d->message, EH_IMAGE_MESSAGE, "has %lld x %lld pixels: expected at most %d pixels; resize it",
             (long long)d->info.columns, (long long)d->info.rows, (int)EH_IMAGE_PIXELS);
    return true;
}

/* Stores a pixel in one or three channels. The weights of luma are those of ITU-R BT.601, as in
 * JPEG; they leave gray values unchanged. */
static uint8_t *store(uint8_t *to, int channels, const uint8_t *rgb)
{
    if (channels == 3) {
        memcpy(to, rgb, 3);
        return to + 3;
    }
    *to = (uint8_t)((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    return to + 1;
}

/* ---- PNG ---- */

static void png_failed(png_structp png, png_const_charp text)
{
    decoder *d = png_get_error_ptr(png);
    snprintf(d->message, EH_IMAGE_MESSAGE, "is damaged: %.150s", text);
    longjmp(d->failed, 1);
}

static void png_ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void png_bytes(png_structp png, png_bytep to, size_t count)
{
    decoder *d = png_get_io_ptr(png);
    if (count > d->size - d->at) png_error(png, "the file is truncated");
    memcpy(to, d->file + d->at, count);
    d->at += count;
}

static bool palette_is_gray(png_structp png, png_infop info)
{
    png_colorp color = NULL;
    int count = 0;
    png_get_PLTE(png, info, &color, &count);
    for (int i = 0; i < count; i++)
        if (color[i].red != color[i].green || color[i].red != color[i].blue) return false;
    return true;
}

/* Stores pixels of red, green, blue and alpha over white. */
static void store_png(decoder *d)
{
    const int64_t count = d->info.rows * d->info.columns;
    uint8_t *to = d->pixels;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *from = d->block + 4 * i;
        const int alpha = from[3], white = 255 * (255 - alpha);
        uint8_t rgb[3];
        for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)((from[k] * alpha + white + 127) / 255);
        to = store(to, d->channels, rgb);
    }
}

/* Reads through the two structs. Returns false after longjmp. */
static bool read_png(decoder *d, png_structp png, png_infop info)
{
    if (setjmp(d->failed)) return false;
    png_set_read_fn(png, d, png_bytes);
    png_set_user_limits(png, EH_IMAGE_PIXELS, EH_IMAGE_PIXELS);
    png_read_info(png, info);
    const int type = png_get_color_type(png, info);
    d->info = (eh_image_info){.rows = png_get_image_height(png, info), .columns = png_get_image_width(png, info)};
    d->info.gray = type == PNG_COLOR_TYPE_PALETTE ? palette_is_gray(png, info) : !(type & PNG_COLOR_MASK_COLOR);
    if (too_large(d)) return false;
    if (!d->pixels) return true;
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const size_t width = 4 * (size_t)d->info.columns;
    if (png_get_rowbytes(png, info) != width) png_error(png, "unknown kind of pixels");
    d->block = malloc((size_t)d->info.rows * width);
    d->rows = malloc((size_t)d->info.rows * sizeof *d->rows);
    if (!d->block || !d->rows) png_error(png, "out of memory");
    for (int64_t i = 0; i < d->info.rows; i++) d->rows[i] = d->block + (size_t)i * width;
    png_read_image(png, d->rows);
    png_read_end(png, NULL);
    store_png(d);
    return true;
}

static bool decode_png(decoder *d)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, png_failed, png_ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool ok = false;
    if (info)
        ok = read_png(d, png, info);
    else
        snprintf(d->message, EH_IMAGE_MESSAGE, "cannot be read: libpng has no memory or another version");
    png_destroy_read_struct(&png, info ? &info : NULL, NULL);
    return ok;
}

/* ---- JPEG ---- */

typedef struct jpeg_errors {
    struct jpeg_error_mgr base; /* first member: libjpeg knows only this one */
    struct jpeg_progress_mgr progress;
    decoder *d;
} jpeg_errors;

static void jpeg_failed(j_common_ptr cinfo)
{
    decoder *d = ((jpeg_errors *)cinfo->err)->d;
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    snprintf(d->message, EH_IMAGE_MESSAGE, "is damaged: %.150s", text);
    longjmp(d->failed, 1);
}

/* Warnings after which pixels are guessed count as errors. */
static void jpeg_warned(j_common_ptr cinfo, int level)
{
    static const int damage[] = {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_BOGUS_PROGRESSION,
                                 JWRN_MUST_RESYNC};
    for (size_t i = 0; level < 0 && i < sizeof damage / sizeof *damage; i++)
        if (cinfo->err->msg_code == damage[i]) jpeg_failed(cinfo);
}

/* A small file can have very many scans, each of which decodes the whole image. */
static void jpeg_progress(j_common_ptr cinfo)
{
    enum { MAX_SCANS = 200 };
    decoder *d = ((jpeg_errors *)cinfo->err)->d;
    if (((j_decompress_ptr)cinfo)->input_scan_number <= MAX_SCANS) return;
    snprintf(d->message, EH_IMAGE_MESSAGE, "has more than %d scans: it is damaged", (int)MAX_SCANS);
    longjmp(d->failed, 1);
}

/* Returns false after longjmp. */
static bool read_jpeg(decoder *d, j_decompress_ptr jpeg)
{
    if (setjmp(d->failed)) return false;
    jpeg_mem_src(jpeg, d->file, d->size);
    jpeg_read_header(jpeg, TRUE);
    d->info = (eh_image_info){.rows = jpeg->image_height, .columns = jpeg->image_width};
    d->info.gray = jpeg->jpeg_color_space == JCS_GRAYSCALE;
    if (too_large(d)) return false;
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        snprintf(d->message, EH_IMAGE_MESSAGE, "has the colors CMYK: convert it to RGB or gray");
        return false;
    }
    if (!d->pixels) return true;
    jpeg->out_color_space = JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(jpeg);
    d->block = malloc((size_t)d->info.columns * 3);
    if (!d->block || jpeg->output_components != 3) {
        snprintf(d->message, EH_IMAGE_MESSAGE, "cannot be decoded: %s", d->block ? "unknown colors" : "out of memory");
        return false;
    }
    for (uint8_t *to = d->pixels; jpeg->output_scanline < jpeg->output_height;) {
        jpeg_read_scanlines(jpeg, &d->block, 1);
        for (int64_t j = 0; j < d->info.columns; j++) to = store(to, d->channels, d->block + 3 * j);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

static bool create_jpeg(decoder *d, j_decompress_ptr jpeg)
{
    if (setjmp(d->failed)) return false;
    jpeg_create_decompress(jpeg);
    return true;
}

static bool decode_jpeg(decoder *d)
{
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_errors errors = {.d = d};
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_failed;
    errors.base.emit_message = jpeg_warned;
    errors.progress.progress_monitor = jpeg_progress;
    bool ok = create_jpeg(d, &jpeg);
    if (ok) {
        jpeg.progress = &errors.progress;
        ok = read_jpeg(d, &jpeg);
    }
    jpeg_destroy_decompress(&jpeg);
    return ok;
}

/* ---- the table ---- */

static bool run(decoder *d)
{
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}, jpeg[] = {0xFF, 0xD8, 0xFF};
    bool ok = false;
    if (d->size > sizeof png && !memcmp(d->file, png, sizeof png))
        ok = decode_png(d);
    else if (d->size > sizeof jpeg && !memcmp(d->file, jpeg, sizeof jpeg))
        ok = decode_jpeg(d);
    else
        snprintf(d->message, EH_IMAGE_MESSAGE, "is neither a PNG nor a JPEG file");
    free(d->block);
    free(d->rows);
    return ok;
}

static bool describe(const uint8_t *file, size_t size, eh_image_info *out, char message[EH_IMAGE_MESSAGE])
{
    decoder d = {.file = file, .size = size, .message = message};
    if (!run(&d)) return false;
    *out = d.info;
    return true;
}

static bool decode(const uint8_t *file, size_t size, int channels, uint8_t *pixels, char message[EH_IMAGE_MESSAGE])
{
    decoder d = {.file = file, .size = size, .channels = channels, .pixels = pixels, .message = message};
    return run(&d);
}

__attribute__((visibility("default"))) const eh_image_ops *eh_image_table(size_t table_size);

const eh_image_ops *eh_image_table(size_t table_size)
{
    static const eh_image_ops table = {describe, decode};
    return table_size == sizeof table ? &table : NULL;
}
