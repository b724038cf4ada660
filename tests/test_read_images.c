/* Folders of images: every kind of PNG and JPEG gives the right bytes, folders become classes and
 * parts, other files are reported, and damaged or hostile files give an error. The tests write the
 * files with libpng and libjpeg. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"
#include "memory_support.h"

#include <jpeglib.h>
#include <png.h>

/* ---- writing images ---- */

enum { ROWS = 3, COLUMNS = 4, PIXELS = ROWS * COLUMNS };

/* Distinct values of irregular size. */
static uint8_t value_of(int i)
{
    return (uint8_t)((i * 37 + 11) % 256);
}

typedef struct png_kind {
    int type, depth, interlace;
    int columns; /* 0: COLUMNS */
} png_kind;

static void fill_row(uint8_t *row, const png_kind *kind, int y, int columns)
{
    for (int x = 0; x < columns; x++) {
        const int i = y * columns + x;
        const uint8_t v = value_of(i);
        switch (kind->type) {
        case PNG_COLOR_TYPE_GRAY:
            if (kind->depth == 16)
                row[2 * x] = v, row[2 * x + 1] = 7; /* close to v * 257 */
            else if (kind->depth == 8)
                row[x] = v;
            else
                row[x / 8] = (uint8_t)(row[x / 8] | (i % 2) << (7 - x % 8)); /* one bit */
            break;
        case PNG_COLOR_TYPE_PALETTE: row[x] = (uint8_t)(i % 5); break;
        case PNG_COLOR_TYPE_GRAY_ALPHA: row[2 * x] = v, row[2 * x + 1] = (uint8_t)(i % 3 * 127); break;
        case PNG_COLOR_TYPE_RGB: row[3 * x] = v, row[3 * x + 1] = (uint8_t)(v / 2), row[3 * x + 2] = (uint8_t)i; break;
        default:
            row[4 * x] = v, row[4 * x + 1] = (uint8_t)(v / 2), row[4 * x + 2] = (uint8_t)i;
            row[4 * x + 3] = (uint8_t)(i % 3 * 127);
        }
    }
}

static void write_png(const char *name, png_kind kind)
{
    const int columns = kind.columns ? kind.columns : COLUMNS;
    uint8_t data[ROWS][256];
    png_bytep rows[ROWS];
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)columns, ROWS, kind.depth, kind.type, kind.interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    const png_color colors[5] = {{0, 0, 0}, {10, 20, 30}, {255, 255, 255}, {40, 50, 60}, {70, 80, 90}};
    if (kind.type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, colors, 5);
    png_write_info(png, info);
    for (int y = 0; y < ROWS; y++) {
        memset(data[y], 0, sizeof data[y]);
        fill_row(data[y], &kind, y, columns);
        rows[y] = data[y];
    }
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

/* A smooth image, which JPEG keeps within a few units. */
static uint8_t smooth(int y, int x, int channel)
{
    return (uint8_t)(40 + 9 * y + 7 * x + 30 * channel);
}

static void write_jpeg(const char *name, int components, bool progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = COLUMNS, jpeg.image_height = ROWS;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < ROWS; y++) {
        uint8_t row[COLUMNS * 4];
        for (int x = 0; x < COLUMNS; x++)
            for (int k = 0; k < components; k++) row[x * components + k] = smooth(y, x, k);
        JSAMPROW at = row;
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    assert_int_equal(fclose(file), 0);
}

static const png_kind GRAY = {.type = PNG_COLOR_TYPE_GRAY, .depth = 8}, RGB = {.type = PNG_COLOR_TYPE_RGB, .depth = 8};

/* Makes the folder empty. */
static void fresh(const char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s && mkdir -p %s", folder, folder);
    assert_int_equal(system(command), 0);
}

/* ---- pixels ---- */

static uint8_t over_white(int v, int alpha)
{
    return (uint8_t)((v * alpha + 255 * (255 - alpha) + 127) / 255);
}

static uint8_t luma(int r, int g, int b)
{
    return (uint8_t)lround(0.299 * r + 0.587 * g + 0.114 * b);
}

static void every_gray_png_gives_its_bytes(void **state)
{
    (void)state;
    static const png_kind kinds[] = {{PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, 0},
                                     {PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, 0},
                                     {PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_NONE, 0},
                                     {PNG_COLOR_TYPE_GRAY, 1, PNG_INTERLACE_NONE, 0},
                                     {PNG_COLOR_TYPE_GRAY_ALPHA, 8, PNG_INTERLACE_ADAM7, 0}};
    fresh("one");
    for (int k = 0; k < 5; k++) {
        write_png("one/a.png", kinds[k]);
        enhope_dataset *data = read_ok((enhope_source){.path = "one"});
        enhope_dataset_info info;
        enhope_dataset_get_info(data, &info);
        assert_true(info.n == 1 && info.inputs == PIXELS && info.image_rows == ROWS && info.image_columns == COLUMNS);
        assert_null(enhope_dataset_labels(data));
        for (int i = 0; i < PIXELS; i++) {
            const uint8_t expected = kinds[k].depth == 1                          ? (uint8_t)(i % 2 * 255)
                                     : kinds[k].type == PNG_COLOR_TYPE_GRAY_ALPHA ? over_white(value_of(i), i % 3 * 127)
                                                                                  : value_of(i);
            if (abs(data->x.u8[i] - expected) > (kinds[k].depth == 16))
                fail_msg("kind %d, pixel %d: %d instead of %d", k, i, data->x.u8[i], expected);
        }
        enhope_dataset_free(data);
    }
}

static void every_color_png_gives_red_green_and_blue(void **state)
{
    (void)state;
    static const png_kind kinds[] = {{PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, 0},
                                     {PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_ADAM7, 0},
                                     {PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_NONE, 0}};
    static const int colors[5][3] = {{0, 0, 0}, {10, 20, 30}, {255, 255, 255}, {40, 50, 60}, {70, 80, 90}};
    fresh("one");
    for (int k = 0; k < 3; k++) {
        write_png("one/a.PNG", kinds[k]);
        enhope_dataset *data = read_ok((enhope_source){.path = "one"});
        assert_true(data->x.H == 3 * PIXELS && data->image_rows == 0 && data->x.kind == ENHOPE_U8);
        for (int i = 0; i < PIXELS; i++) {
            const int v = value_of(i), plain[3] = {v, v / 2, i};
            for (int c = 0; c < 3; c++) {
                const int expected = k == 2 ? colors[i % 5][c] : k == 1 ? over_white(plain[c], i % 3 * 127) : plain[c];
                assert_int_equal(data->x.u8[3 * i + c], expected);
            }
        }
        enhope_dataset_free(data);
    }
}

static void jpegs_are_decoded_and_cmyk_is_refused(void **state)
{
    (void)state;
    fresh("one");
    for (int k = 0; k < 4; k++) {
        const int components = k / 2 ? 3 : 1;
        write_jpeg("one/a.jpeg", components, k % 2);
        enhope_dataset *data = read_ok((enhope_source){.path = "one"});
        assert_int_equal(data->x.H, components * PIXELS);
        for (int i = 0; i < components * PIXELS; i++) {
            const int expected = smooth(i / components / COLUMNS, i / components % COLUMNS, i % components);
            if (abs(data->x.u8[i] - expected) > 6) fail_msg("%d: %d instead of %d", k, data->x.u8[i], expected);
        }
        enhope_dataset_free(data);
    }
    write_jpeg("one/a.jpeg", 4, false);
    read_fails((enhope_source){.path = "one"}, ENHOPE_ERROR_DATA,
               "one/a.jpeg: has the colors CMYK: convert it to RGB or gray");
}

/* ---- folders ---- */

static char logged[2000];

static void keep_log(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == ENHOPE_LOG_WARNING && strlen(logged) + strlen(line) + 2 < sizeof logged)
        strcat(strcat(logged, line), "\n");
}

/* Three classes in the order of numbers; two parts. */
static void make_parts(void)
{
    fresh("photos");
    fresh("photos/train/10"), fresh("photos/train/9"), fresh("photos/test/9");
    write_png("photos/train/10/b.png", GRAY);
    write_png("photos/train/10/a.png", GRAY);
    write_png("photos/train/9/z.png", GRAY);
    write_png("photos/test/9/t.png", GRAY);
}

static void folders_are_classes_and_parts(void **state)
{
    (void)state;
    make_parts();
    enhope_dataset *data = read_ok((enhope_source){.path = "photos"});
    assert_true(data->x.n == 3 && data->c == 2);
    assert_string_equal(enhope_dataset_class_name(data, 0), "9");
    assert_string_equal(enhope_dataset_class_name(data, 1), "10");
    assert_labels(data, (const int32_t[]){1, 1, 0}); /* files in the order of their paths */
    assert_int_equal(enhope_dataset_text_count(data), 1);
    assert_int_equal(enhope_dataset_id_count(data), 1);
    assert_int_equal(enhope_dataset_column_count(data), 0);
    assert_string_equal(enhope_dataset_text_name(data, 0), "file");
    assert_string_equal(enhope_dataset_text(data, 0, 2), "9/z.png");
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "photos", .part = "test"});
    assert_true(data->x.n == 1 && data->c == 1);
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "photos/train", .label = "none"});
    assert_true(data->x.n == 3 && data->c == 0 && !enhope_dataset_labels(data));
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "photos/train", .limit = 2});
    assert_true(data->x.n == 2);
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "photos/train", .part = "test"}, ENHOPE_ERROR_ARGUMENT,
               "photos/train: has no test part; use a split N@SEED");
    fresh("photos/train");
    read_fails((enhope_source){.path = "photos"}, ENHOPE_ERROR_IO,
               "photos/train: contains no images: expected .png, .jpg or .jpeg files, in a folder for each class");
    /* a class may be called train if there are others */
    fresh("photos/car");
    write_png("photos/train/a.png", GRAY);
    write_png("photos/car/a.png", GRAY);
    data = read_ok((enhope_source){.path = "photos"});
    assert_true(data->x.n == 2 && data->c == 2); /* test has no images, only a folder */
    enhope_dataset_free(data);
}

static void other_files_are_reported(void **state)
{
    (void)state;
    make_parts();
    fresh("photos/train/empty"), fresh("photos/train/9/more");
    write_text("photos/train/9/notes.txt", "x");
    write_text("photos/train/9/.hidden", "x");
    write_png("photos/train/title.png", GRAY);
    logged[0] = '\0';
    enhope_context_set_log(ctx, keep_log, NULL);
    enhope_dataset_free(read_ok((enhope_source){.path = "photos"}));
    enhope_context_set_log(ctx, NULL, NULL);
    assert_non_null(
        strstr(logged, "photos/train: ignored 1 image outside the class folders, for example 'title.png'\n"));
    assert_non_null(strstr(logged, "photos/train: ignored 3 files or folders that are not PNG or JPEG images"));
    fresh("none");
    read_fails((enhope_source){.path = "none"}, ENHOPE_ERROR_IO,
               "none: is a folder without train-images-idx3-ubyte or train-features-idx2-ubyte (or these with .gz), "
               "without shards.json, and without images (PNG or JPEG files in a folder for each class)");
}

static void colors_anywhere_make_all_images_colored(void **state)
{
    (void)state;
    make_parts();
    write_png("photos/train/9/z.png", RGB);
    enhope_dataset *data = read_ok((enhope_source){.path = "photos"});
    assert_true(data->x.H == 3 * PIXELS && data->image_rows == 0);
    for (int i = 0; i < 3 * PIXELS; i++) assert_int_equal(data->x.u8[i], value_of(i / 3)); /* the first is gray */
    /* a model has the number of inputs of its training: colors become luma, gray becomes colors */
    enhope_settings *s = enhope_settings_create();
    assert_int_equal(enhope_settings_set(ctx, s, "method", "knn"), ENHOPE_OK);
    enhope_model *colored = NULL, *gray = NULL;
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &colored), ENHOPE_OK);
    enhope_dataset_free(data);
    write_png("photos/train/9/z.png", GRAY);
    data = read_ok((enhope_source){.path = "photos"});
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &gray), ENHOPE_OK);
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "photos", .model = colored});
    assert_int_equal(data->x.H, 3 * PIXELS);
    enhope_dataset_free(data);
    write_png("photos/test/9/t.png", RGB);
    data = read_ok((enhope_source){.path = "photos", .part = "test", .model = gray});
    assert_true(data->x.H == PIXELS && data->image_rows == ROWS);
    for (int i = 0; i < PIXELS; i++) assert_int_equal(data->x.u8[i], luma(value_of(i), value_of(i) / 2, i));
    enhope_dataset_free(data);
    enhope_model_free(colored), enhope_model_free(gray);
    enhope_settings_free(s);
}

/* ---- wrong files ---- */

static void images_of_another_size_are_refused_with_the_remedy(void **state)
{
    (void)state;
    make_parts();
    png_kind wide = GRAY;
    wide.columns = 5;
    write_png("photos/train/9/z.png", wide);
    read_fails(
        (enhope_source){.path = "photos"}, ENHOPE_ERROR_DATA,
        "photos/train/9/z.png has 5 x 3 pixels but photos/train/10/a.png has 4 x 3: all images must have the same "
        "size; resize them, for example with ImageMagick: mogrify -resize '4x3!' FILES");
}

static void a_huge_image_is_refused_before_memory_is_allocated(void **state)
{
    (void)state;
    size_t size;
    fresh("one");
    write_png("one/a.png", GRAY);
    unsigned char *bytes = slurp("one/a.png", &size);
    char few[200];
    snprintf(few, sizeof few, "one/a.png: is damaged: %zu bytes are too few for 4000 x 4001 pixels", size);
    const struct {
        uint32_t columns, rows;
        const char *message;
    } huge[] = {{50000, 50000, "one/a.png: has 50000 x 50000 pixels: expected at most 16777216 pixels; resize it"},
                {70000, 2, "one/a.png: has 70000 x 2 pixels: expected sides of at most 65535; resize it"},
                {4000, 4001, few}};
    for (size_t k = 0; k < sizeof huge / sizeof *huge; k++) {
        for (int i = 0; i < 4; i++) {
            bytes[16 + i] = (unsigned char)(huge[k].columns >> (24 - 8 * i));
            bytes[20 + i] = (unsigned char)(huge[k].rows >> (24 - 8 * i));
        }
        const uint32_t crc = (uint32_t)crc32(0, bytes + 12, 17);
        for (int i = 0; i < 4; i++) bytes[29 + i] = (unsigned char)(crc >> (24 - 8 * i));
        write_bytes("one/a.png", bytes, size);
        read_fails((enhope_source){.path = "one"}, ENHOPE_ERROR_DATA, huge[k].message);
    }
    free(bytes);
    write_text("one/a.png", "not an image");
    read_fails((enhope_source){.path = "one"}, ENHOPE_ERROR_DATA, "one/a.png: is neither a PNG nor a JPEG file");
    write_text("one/a.png", "");
    read_fails((enhope_source){.path = "one"}, ENHOPE_ERROR_DATA, "one/a.png: is neither a PNG nor a JPEG file");
}

/* Truncated at every length and with changed bytes: an error that names the file, or an image. */
static void damaged_images_never_crash(void **state)
{
    (void)state;
    uint64_t index = 0;
    fresh("one");
    for (int k = 0; k < 4; k++) {
        size_t size;
        if (k < 2)
            write_png("one/a.png", k ? (png_kind){PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_ADAM7, 0} : RGB);
        else
            write_jpeg("one/a.png", 3, k == 3);
        unsigned char *bytes = slurp("one/a.png", &size), kept;
        for (size_t i = 0; i < size + 600; i++) {
            const size_t at = i < size ? 0 : eh_random_u64(8, 1, index++) % size;
            kept = bytes[at];
            if (i >= size) bytes[at] = (unsigned char)eh_random_u64(8, 1, index++);
            write_bytes("one/a.png", bytes, i < size ? i : size);
            bytes[at] = kept;
            enhope_dataset *data = NULL;
            const enhope_status status = enhope_dataset_read(ctx, &(enhope_source){.path = "one"}, &data);
            /* a JPEG without its end marker may be complete */
            if (i < size && k < 2) assert_int_equal(status, ENHOPE_ERROR_DATA);
            if (status) assert_memory_equal(enhope_error(ctx), "one/a.png: ", 11);
            enhope_dataset_free(data);
        }
        free(bytes);
    }
}

static enhope_status read_photos(void *unused)
{
    (void)unused;
    enhope_dataset *data = NULL;
    const enhope_status status = enhope_dataset_read(ctx, &(enhope_source){.path = "photos"}, &data);
    enhope_dataset_free(data);
    return status;
}

static void every_failed_allocation_has_a_message_and_no_leak(void **state)
{
    (void)state;
    make_parts();
    fail_allocations(ctx, read_photos, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gray_png_gives_its_bytes),
        cmocka_unit_test(every_color_png_gives_red_green_and_blue),
        cmocka_unit_test(jpegs_are_decoded_and_cmyk_is_refused),
        cmocka_unit_test(folders_are_classes_and_parts),
        cmocka_unit_test(other_files_are_reported),
        cmocka_unit_test(colors_anywhere_make_all_images_colored),
        cmocka_unit_test(images_of_another_size_are_refused_with_the_remedy),
        cmocka_unit_test(a_huge_image_is_refused_before_memory_is_allocated),
        cmocka_unit_test(damaged_images_never_crash),
        cmocka_unit_test(every_failed_allocation_has_a_message_and_no_leak),
    };
    return cmocka_run_group_tests_name("folders of images", tests, enter_folder, leave_folder);
}
