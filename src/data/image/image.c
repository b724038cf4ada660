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

enum {
    MAX_DEFLATE = 1032, /* bytes of a row from a byte of a PNG file, at most */
    MAX_JPEG = 1024     /* pixels from a byte of a JPEG file with Huffman codes: a block of 64 takes a bit */
};

typedef struct decoder {
    const uint8_t *file;
    size_t size, at;
    int channels;
    uint8_t *pixels; /* NULL: read the header only */
    eh_image_info info;
    uint8_t *row; /* decoded, in the channels of libpng or libjpeg */
    char *message;
    jmp_buf failed;
} decoder;

/* Refuses images that are too large, and files that are too small for their image: so memory is
 * allocated only for as many pixels as the file can have. `needed`: bytes of the smallest file. */
static bool too_large(decoder *d, int64_t needed)
{
    const long long rows = d->info.rows, columns = d->info.columns; /* at most 31 bits */
    if (rows * columns <= 0 || rows * columns > EH_IMAGE_PIXELS)
        snprintf(d->message, EH_IMAGE_MESSAGE, "has %lld x %lld pixels: expected at most %d pixels; resize it", columns,
                 rows, (int)EH_IMAGE_PIXELS);
    else if (rows > EH_IMAGE_SIDE || columns > EH_IMAGE_SIDE)
        snprintf(d->message, EH_IMAGE_MESSAGE, "has %lld x %lld pixels: expected sides of at most %d; resize it",
                 columns, rows, (int)EH_IMAGE_SIDE);
    else if (needed > (int64_t)d->size)
        snprintf(d->message, EH_IMAGE_MESSAGE, "is damaged: %zu bytes are too few for %lld x %lld pixels", d->size,
                 columns, rows);
    else
        return false;
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

/* Stores a pixel of red, green, blue and alpha over white. */
static void store_png(decoder *d, int64_t row, int64_t column, const uint8_t *from)
{
    const int alpha = from[3], white = 255 * (255 - alpha);
    uint8_t rgb[3];
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)((from[k] * alpha + white + 127) / 255);
    store(d->pixels + (row * d->info.columns + column) * d->channels, d->channels, rgb);
}

/* Decodes row by row. An interlaced file has seven images of some of the pixels. */
static void read_rows(decoder *d, png_structp png, bool interlaced)
{
    const int64_t rows = d->info.rows, columns = d->info.columns;
    for (int pass = 0; pass < (interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++) {
        const int64_t count = interlaced ? PNG_PASS_COLS(columns, pass) : columns;
        const int64_t lines = count == 0 ? 0 : interlaced ? PNG_PASS_ROWS(rows, pass) : rows;
        for (int64_t i = 0; i < lines; i++) {
            png_read_row(png, d->row, NULL);
            for (int64_t j = 0; j < count; j++)
                store_png(d, interlaced ? PNG_ROW_FROM_PASS_ROW(i, pass) : i,
                          interlaced ? PNG_COL_FROM_PASS_COL(j, pass) : j, d->row + 4 * j);
        }
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
    const bool interlaced = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7;
    if (too_large(d, d->info.rows * (int64_t)png_get_rowbytes(png, info) / MAX_DEFLATE)) return false;
    if (!d->pixels) return true;
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_read_update_info(png, info);
    const size_t width = 4 * (size_t)d->info.columns;
    if (png_get_rowbytes(png, info) != width) png_error(png, "unknown kind of pixels");
    d->row = malloc(width);
    if (!d->row) png_error(png, "out of memory");
    read_rows(d, png, interlaced);
    png_read_end(png, NULL);
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
    const int64_t pixels = d->info.rows * d->info.columns;
    if (too_large(d, jpeg->arith_code ? 0 : pixels / MAX_JPEG)) return false;
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        snprintf(d->message, EH_IMAGE_MESSAGE, "has the colors CMYK: convert it to RGB or gray");
        return false;
    }
    if (!d->pixels) return true;
    jpeg->out_color_space = JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(jpeg);
    d->row = malloc((size_t)d->info.columns * 3);
    if (!d->row || jpeg->output_components != 3) {
        snprintf(d->message, EH_IMAGE_MESSAGE, "cannot be decoded: %s", d->row ? "unknown colors" : "out of memory");
        return false;
    }
    for (uint8_t *to = d->pixels; jpeg->output_scanline < jpeg->output_height;) {
        jpeg_read_scanlines(jpeg, &d->row, 1);
        for (int64_t j = 0; j < d->info.columns; j++) to = store(to, d->channels, d->row + 3 * j);
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
    free(d->row);
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
