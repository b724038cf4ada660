/* Writes the seeds of all fuzz targets: small valid inputs, from which a fuzzer starts.
 *
 * usage: fuzz-seeds FOLDER      writes FOLDER/TARGET/NAME */
#define _GNU_SOURCE 1
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#ifdef FUZZ_IMAGES
#include <stdio.h>

#include <jpeglib.h>
#include <png.h>
#endif

#include "seeds.h"

static const char *folder;

_Noreturn static void stop(const char *what, const char *why)
{
    fprintf(stderr, "fuzz-seeds: %s: %s\n", what, why);
    exit(1);
}

/* ---- bytes that grow ---- */

typedef struct bytes {
    uint8_t at[1 << 16];
    size_t used;
} bytes;

static void add(bytes *b, const void *from, size_t size)
{
    if (size > sizeof b->at - b->used) stop("a seed", "too large");
    if (size) memcpy(b->at + b->used, from, size);
    b->used += size;
}

static void add_byte(bytes *b, int value)
{
    const uint8_t byte = (uint8_t)value;
    add(b, &byte, 1);
}

/* A number of `size` bytes in either byte order. */
static void add_number(bytes *b, uint64_t value, int size, bool big)
{
    for (int i = 0; i < size; i++) add_byte(b, (int)(value >> 8 * (big ? size - 1 - i : i) & 255));
}

/* Bytes with two bytes of their size before them. */
static void add_section(bytes *b, const void *from, size_t size)
{
    add_number(b, size, 2, false);
    add(b, from, size);
}

static void write_seed(const char *target, const char *name, const void *content, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(path, 0777) && errno != EEXIST) stop(path, strerror(errno));
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(content, 1, size, file) != size || fclose(file)) stop(path, strerror(errno));
}

static void save(const char *target, const char *name, const bytes *b)
{
    write_seed(target, name, b->at, b->used);
}

/* ---- arrays ---- */

static void add_idx(bytes *b, int type, int rank, const uint32_t *side, const void *values, size_t size)
{
    add_number(b, (uint64_t)type << 8 | (uint64_t)rank, 4, true);
    for (int i = 0; i < rank; i++) add_number(b, side[i], 4, true);
    add(b, values, size);
}

static void add_npy(bytes *b, const char *type, const char *order, const char *shape, const void *values, size_t size)
{
    char header[160];
    const int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, order, shape);
    add(b, "\x93NUMPY\1\0", 8);
    add_number(b, (uint64_t)length + 1, 2, false);
    add(b, header, (size_t)length);
    add_byte(b, '\n');
    add(b, values, size);
}

static const uint8_t pixels[] = {0, 17, 255, 3,  99, 1,   250, 6,  31, 64, 128, 2,
                                 5, 0,  0,   77, 8,  200, 41,  13, 6,  7,  90,  180};
static const double reals[] = {0.5, -1.25, 3e-5, 1e10, 7, 0, -2.385, 4.191, 11, 0.25, 6, -9};
static const float floats[] = {0.5F, -1.25F, 3e-5F, 1e10F, 7, 0, -2.385F, 4.191F, 11, 0.25F, 6, -9};
static const uint8_t classes[] = {1, 0, 2, 1, 0, 2};
static const int64_t numbers[] = {4, -1, 9, 4, 9, 4};

static void seed_idx(void)
{
    bytes x = {.used = 0}, y = {.used = 0}, pair = {.used = 0};
    add_byte(&x, 0xF0);
    add_idx(&x, 8, 3, (const uint32_t[]){6, 2, 2}, pixels, 24);
    save("idx", "images", &x);
    add_idx(&y, 8, 1, (const uint32_t[]){6}, classes, 6);
    add_byte(&pair, 0x31);
    add_section(&pair, x.at + 1, x.used - 1);
    add(&pair, y.at, y.used);
    save("idx", "pair", &pair);
    pair.at[0] = 0x77;
    save("idx", "pair-packed", &pair);
    bytes wide = {.used = 0};
    add_byte(&wide, 0x10);
    add_idx(&wide, 14, 2, (const uint32_t[]){3, 4}, reals, sizeof reals);
    save("idx", "doubles", &wide);
}

static void seed_npy(void)
{
    static const struct {
        const char *name, *type, *order, *shape;
        const void *values;
        size_t size;
        int choice;
    } plain[] = {{"bytes", "|u1", "False", "(6, 4)", pixels, 24, 0xF0},
                 {"floats", "<f4", "False", "(4, 3)", floats, 48, 0x10},
                 {"doubles-columns", "<f8", "True", "(4, 3)", reals, 96, 0x32},
                 {"big-endian", ">i8", "False", "(3, 2)", numbers, 48, 0x20},
                 {"images", "|u1", "False", "(6, 2, 2)", pixels, 24, 0x12}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        bytes b = {.used = 0};
        add_byte(&b, plain[i].choice);
        add_npy(&b, plain[i].type, plain[i].order, plain[i].shape, plain[i].values, plain[i].size);
        save("npy", plain[i].name, &b);
    }
    bytes x = {.used = 0}, pair = {.used = 0};
    add_npy(&x, "<f8", "False", "(6, 2)", reals, 96);
    add_byte(&pair, 0x71);
    add_section(&pair, x.at, x.used);
    add_npy(&pair, "<i8", "False", "(6,)", numbers, sizeof numbers);
    save("npy", "pair", &pair);
    pair.used = 0;
    add_byte(&pair, 0x37);
    add_section(&pair, x.at, x.used);
    add_npy(&pair, "<U2", "False", "(6,)",
            "a\0\0\0b\0\0\0c\0\0\0\0\0\0\0a\0\0\0\0\0\0\0b\0\0\0\0\0\0\0c\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", 48);
    save("npy", "pair-texts", &pair);
}

static void seed_npz(void)
{
    bytes x = {.used = 0}, y = {.used = 0}, b = {.used = 0};
    add_npy(&x, "<f4", "False", "(6, 2)", floats, 48);
    add_npy(&y, "|u1", "False", "(6,)", classes, 6);
    for (int packed = 0; packed < 2; packed++) {
        b.used = 0;
        add_byte(&b, packed ? 0x20 : 0xC0);
        add_byte(&b, '\n');
        for (int part = 0; part < (packed ? 2 : 1); part++) {
            add_byte(&b, (packed ? 10 : 0) + 2 * part);
            add_section(&b, x.at, x.used);
            add_byte(&b, (packed ? 11 : 1) + 2 * part);
            add_section(&b, y.at, y.used);
        }
        save("npz", packed ? "parts-deflated" : "stored", &b);
    }
    b.used = 0;
    add(&b, "\x21X,y\n\0", 6);
    save("npz", "named", &b);
}

/* ---- MATLAB files ---- */

static void add_mat_part(bytes *b, uint32_t type, const void *values, size_t size)
{
    add_number(b, type, 4, false);
    add_number(b, size, 4, false);
    add(b, values, size);
    for (; size % 8; size++) add_byte(b, 0);
}

/* A matrix element with these parts behind its dimensions and name. */
static void add_matrix(bytes *b, uint32_t flags, int32_t rows, int32_t columns, const char *name, const bytes *parts)
{
    bytes m = {.used = 0};
    add_mat_part(&m, 6, (const uint32_t[]){flags, 0}, 8);
    add_mat_part(&m, 5, (const int32_t[]){rows, columns}, 8);
    add_mat_part(&m, 1, name, strlen(name));
    add(&m, parts->at, parts->used);
    add_number(b, 14, 4, false);
    add_number(b, m.used, 4, false);
    add(b, m.at, m.used);
}

static void seed_mat(void)
{
    bytes x = {.used = 0}, y = {.used = 0}, s = {.used = 0}, cell = {.used = 0}, part = {.used = 0}, b = {.used = 0};
    add_mat_part(&part, 9, reals, sizeof reals);
    add_matrix(&x, 6, 6, 2, "X", &part);
    part.used = 0;
    add_mat_part(&part, 2, classes, 6);
    add_matrix(&y, 9, 6, 1, "y", &part);
    part.used = 0;
    add_mat_part(&part, 5, (const int32_t[]){0, 2, 1}, 12);
    add_mat_part(&part, 5, (const int32_t[]){0, 2, 3}, 12);
    add_mat_part(&part, 9, reals, 24);
    add_matrix(&s, 5, 3, 2, "S", &part);
    part.used = 0;
    for (int i = 0; i < 3; i++) {
        bytes text = {.used = 0};
        add_mat_part(&text, 16, &"catdogbee"[3 * i], 3);
        add_matrix(&part, 4, 1, 3, "", &text);
    }
    add_matrix(&cell, 1, 1, 3, "names", &part);
    add(&b, "\x70\n", 2);
    add_section(&b, x.at, x.used);
    add_section(&b, y.at, y.used);
    add_section(&b, cell.at, cell.used);
    save("mat", "packed", &b);
    b.used = 0;
    add(&b, "\x20S\n", 3);
    add_section(&b, s.at, s.used);
    save("mat", "sparse", &b);
    b.used = 0;
    add(&b, "\1X,y\nMATLAB 5.0 MAT-file", 24);
    while (b.used < 5 + 124) add_byte(&b, ' ');
    add(&b, "\0\1IM", 4);
    add(&b, x.at, x.used);
    add(&b, y.at, y.used);
    save("mat", "plain", &b);
}

/* ---- images ---- */

#ifdef FUZZ_IMAGES
static void add_png(bytes *b, int format, const uint8_t *from)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 4, .height = 2, .format = (png_uint_32)format};
    uint8_t file[4096];
    png_alloc_size_t size = sizeof file;
    if (!png_image_write_to_memory(&image, file, &size, 0, from, 0, NULL)) stop("png", image.message);
    add_section(b, file, size);
}

static void add_jpeg(bytes *b, int components)
{
    struct jpeg_compress_struct jpeg = {.image_width = 0};
    struct jpeg_error_mgr errors;
    unsigned char *file = NULL;
    unsigned long size = 0;
    uint8_t row[12];
    memcpy(row, pixels, sizeof row);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &size);
    jpeg.image_width = 4;
    jpeg.image_height = 2;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int i = 0; i < 2; i++) jpeg_write_scanlines(&jpeg, (JSAMPARRAY) & (uint8_t *){row}, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    add_section(b, file, size);
    free(file);
}

static void seed_image(void)
{
    static const struct {
        const char *name;
        int format;
    } png[] = {{"gray", PNG_FORMAT_GRAY}, {"colors", PNG_FORMAT_RGB}, {"transparent", PNG_FORMAT_GA}};
    for (size_t i = 0; i < sizeof png / sizeof *png; i++) {
        bytes b = {.used = 0};
        add_byte(&b, 0x20 + 0x40 * (int)i);
        add_png(&b, png[i].format, pixels);
        save("image", png[i].name, &b);
    }
    for (int components = 1; components <= 3; components += 2) {
        bytes b = {.used = 0};
        add_byte(&b, 1);
        add_jpeg(&b, components);
        save("image", components == 1 ? "jpeg-gray" : "jpeg-colors", &b);
    }
}
#endif

/* ---- shards ---- */

static void seed_shards(enhope_context *ctx, const char *name, const char *ending, const char *text)
{
    static const char *const files[] = {"shards.json",      "00000.x.npy",     "00000.y.npy", "00000.start.npy",
                                        "00000.column.npy", "00000.value.npy", "00001.x.npy", "00001.y.npy"};
    char from[1024], to[1024], path[1100];
    static uint8_t content[1 << 16];
    bytes b = {.used = 0};
    snprintf(from, sizeof from, "%s/source.%s", folder, ending);
    snprintf(to, sizeof to, "%s/shards-of-source", folder);
    FILE *file = fopen(from, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file)) stop(from, strerror(errno));
    const enhope_source source = {.path = from};
    if (enhope_convert(ctx, &source, to, 4, 0, NULL, NULL)) stop(name, enhope_error(ctx));
    add_byte(&b, 0x71);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", to, files[i]);
        size_t size = 0;
        if ((file = fopen(path, "rb"))) {
            size = fread(content, 1, sizeof content, file);
            fclose(file);
        }
        add_section(&b, content, size);
        remove(path);
    }
    save("shards", name, &b);
    snprintf(path, sizeof path, "%s/00001.start.npy", to), remove(path);
    snprintf(path, sizeof path, "%s/00001.column.npy", to), remove(path);
    snprintf(path, sizeof path, "%s/00001.value.npy", to), remove(path);
    if (rmdir(to) || remove(from)) stop(to, strerror(errno));
}

/* ---- models and checkpoints ---- */

static enhope_settings *settings_of(enhope_context *ctx, const char *const *pairs)
{
    enhope_settings *settings = enhope_settings_create();
    for (; *pairs; pairs += 2)
        if (enhope_settings_set(ctx, settings, pairs[0], pairs[1])) stop("settings", enhope_error(ctx));
    return settings;
}

/* A file with the length of its header: the header, a byte 0, the rest. */
static void save_safetensors(const char *target, const char *name, int choice, const uint8_t *file, size_t size)
{
    static bytes b;
    size_t header = 0;
    for (int i = 7; i >= 0; i--) header = header << 8 | file[i];
    while (header > 0 && file[8 + header - 1] == ' ') header--;
    size_t start = 0;
    for (int i = 7; i >= 0; i--) start = start << 8 | file[i];
    b.used = 0;
    if (choice >= 0) add_byte(&b, choice);
    add(&b, file + 8, header);
    add_byte(&b, 0);
    add(&b, file + 8 + start, size - 8 - start);
    save(target, name, &b);
}

static void save_model(enhope_context *ctx, const char *name, const enhope_model *model)
{
    static uint8_t file[1 << 16];
    size_t size;
    if (enhope_model_save_bytes(ctx, model, file, sizeof file, &size)) stop(name, enhope_error(ctx));
    save_safetensors("model", name, -1, file, size);
    save_safetensors("export", name, 0, file, size);
}

static enhope_dataset *read_table(enhope_context *ctx)
{
    char path[1024];
    enhope_dataset *data = NULL;
    snprintf(path, sizeof path, "%s/table.csv", folder);
    FILE *file = fopen(path, "wb");
    if (!file || fputs(seed_table, file) < 0 || fclose(file)) stop(path, strerror(errno));
    const enhope_source source = {.path = path};
    if (enhope_dataset_read(ctx, &source, &data)) stop(path, enhope_error(ctx));
    remove(path);
    return data;
}

/* A model of few numbers: the settings that the method does not have are left out. */
static enhope_model *train(enhope_context *ctx, const enhope_dataset *data, const char *method)
{
    static const char *const sizes[][2] = {
        {"n_factors", "3"}, {"n_hidden", "2"}, {"hidden_layer_sizes", "4-3"}, {"n_epochs", "2"}, {"batch_size", "10"}};
    enhope_settings *settings = settings_of(ctx, (const char *const[]){"method", method, NULL});
    enhope_model *model = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (enhope_settings_applies(settings, sizes[i][0]) &&
            enhope_settings_set(ctx, settings, sizes[i][0], sizes[i][1]))
            stop(method, enhope_error(ctx));
    if (enhope_train(ctx, data, settings, NULL, NULL, &model)) stop(method, enhope_error(ctx));
    enhope_settings_free(settings);
    return model;
}

static void seed_models(enhope_context *ctx)
{
    static const char *const methods[] = {"hope", "linear-en-hope", "pca", "knn", "deep-en-hope"};
    const enhope_source source = {.path = "synthetic:blobs,n=60,classes=3,inputs=6,seed=1"};
    const enhope_compress_options options = {.size = 4000};
    enhope_dataset *table = read_table(ctx), *data = NULL;
    enhope_model *model = train(ctx, table, "en-hope"), *small = NULL;
    save_model(ctx, "table", model);
    enhope_model_free(model);
    enhope_dataset_free(table);
    if (enhope_dataset_read(ctx, &source, &data)) stop(source.path, enhope_error(ctx));
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        model = train(ctx, data, methods[i]);
        save_model(ctx, methods[i], model);
        enhope_model_free(model);
    }
    model = train(ctx, data, "en-hope");
    if (enhope_model_quantize(ctx, model, data, &small)) stop("quantize", enhope_error(ctx));
    save_model(ctx, "int8", small);
    enhope_model_free(small);
    enhope_settings *settings = settings_of(ctx, (const char *const[]){"n_epochs", "10", "batch_size", "20", NULL});
    if (enhope_model_compress(ctx, model, data, settings, &options, NULL, NULL, NULL, &small))
        stop("compress", enhope_error(ctx));
    save_model(ctx, "compressed", small);
    enhope_settings_free(settings);
    enhope_model_free(small);
    enhope_model_free(model);
    enhope_dataset_free(data);
}

/* The data and settings of the target checkpoint. */
static void seed_checkpoints(enhope_context *ctx)
{
    static const char *const solvers[] = {"adam", "cg", "lbfgs"};
    const enhope_source source = {.path = "synthetic:blobs,n=40,classes=3,inputs=4,seed=1"};
    enhope_dataset *data = NULL;
    static uint8_t content[1 << 16];
    char path[1024];
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    if (enhope_dataset_read(ctx, &source, &data)) stop(source.path, enhope_error(ctx));
    for (int i = 0; i < 3; i++) {
        const char *const pairs[] = {
            "recipe",     "paper", "n_factors",           "4",   "n_hidden", "3",        "n_epochs", "4",
            "batch_size", "10",    "validation_fraction", "0.2", "solver",   solvers[i], NULL};
        enhope_settings *settings = settings_of(ctx, pairs);
        enhope_trainer *trainer = NULL;
        int done;
        if (enhope_trainer_create(ctx, NULL, data, settings, &trainer)) stop(solvers[i], enhope_error(ctx));
        for (int step = 0; step < 5; step++)
            if (enhope_trainer_step(trainer, NULL, &done)) stop(solvers[i], enhope_error(ctx));
        char file_name[1100];
        snprintf(file_name, sizeof file_name, "%s.tmp", path);
        if (enhope_trainer_checkpoint(trainer, file_name)) stop(file_name, enhope_error(ctx));
        FILE *file = fopen(file_name, "rb");
        if (!file) stop(file_name, strerror(errno));
        const size_t size = fread(content, 1, sizeof content, file);
        fclose(file);
        remove(file_name);
        save_safetensors("checkpoint", solvers[i], 4 + i, content, size);
        enhope_trainer_free(trainer);
        enhope_settings_free(settings);
    }
    enhope_dataset_free(data);
}

/* ---- codes ---- */

static void seed_codes(void)
{
    bytes b = {.used = 0};
    add(&b, "\1\7\3\4", 4);
    for (int i = 0; i < 32; i++) add_byte(&b, i % 3 == 0 ? i % 9 - 4 : 0);
    save("codes", "values", &b);
    b.used = 0;
    add(&b, "\0\7\3\0\1\xff\1\x93\x77\x12\x80\x41\x99", 13);
    save("codes", "stream", &b);
}

int main(int argc, char **argv)
{
    if (argc != 2) stop("usage", "fuzz-seeds FOLDER");
    folder = argv[1];
    if (mkdir(folder, 0777) && errno != EEXIST) stop(folder, strerror(errno));
    enhope_context *ctx = enhope_context_create();
    enhope_context_set_threads(ctx, 1);
    for (size_t i = 0; i < seed_texts; i++)
        write_seed(seed_text[i].target, seed_text[i].name, seed_text[i].text, seed_text[i].size);
    seed_idx();
    seed_npy();
    seed_npz();
    seed_mat();
    seed_codes();
#ifdef FUZZ_IMAGES
    seed_image();
#endif
    seed_shards(ctx, "table", "csv", seed_table);
    seed_shards(ctx, "sparse", "svm", "1 2:0.5 4:1\n2 1:3\n1 3:7.25\n");
    seed_shards(ctx, "numbers", "txt", "1,2,a\n3,4,b\n5,6,a\n7,8,b\n9,9,a\n");
    seed_models(ctx);
    seed_checkpoints(ctx);
    enhope_context_free(ctx);
    return 0;
}
