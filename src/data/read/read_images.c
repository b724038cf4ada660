/* Folders of PNG and JPEG images, through the plug-in libenhope_image.so (data/image).
 *
 * An image is a row of bytes: its pixels from the top left, row by row. If every file is gray, a
 * pixel is one byte and the data set has the shape of the images. Otherwise a pixel is red, green
 * and blue, and gray files have three equal bytes. With a model, its number of inputs decides, so
 * that a folder is read as in training. All images have the size of the first. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/plugin.h"
#include "data/image/image.h"
#include "data/read/read.h"

typedef struct reader {
    enhope_context *ctx;
    const eh_image_ops *op;
    const char *folder;
    eh_images files;
    char path[EH_PATH]; /* the current file */
    uint8_t *bytes;     /* (size) its content */
    int64_t size, capacity;
    eh_image_info first; /* of the first file */
    int channels;
} reader;

static enhope_status find_table(enhope_context *ctx, const char *path, const eh_image_ops **out)
{
    static const eh_plugin plugin = {
        .library = "libenhope_image.so",
        .purpose = "reading images",
        .advice = "install libpng and libjpeg, or rebuild enhope with libpng-dev and libjpeg-dev installed"};
    char message[EH_PLUGIN_MESSAGE];
    eh_image_table_fn table = NULL;
    if (!eh_plugin_find(&plugin, "eh_image_table", &table, message))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: %s", path, message);
    *out = table(sizeof **out);
    if (*out) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                   "%s: libenhope_image.so does not match this version of libenhope; reinstall enhope", path);
}

/* ---- one file ---- */

static enhope_status read_bytes(reader *r, FILE *file)
{
    enum { MAX_BYTES = 1 << 28 };
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return eh_fail(r->ctx, ENHOPE_ERROR_IO, "%s: is not a file", r->path);
    if (info.st_size > MAX_BYTES)
        return eh_fail(r->ctx, ENHOPE_ERROR_DATA, "%s: has %lld bytes: expected at most %d", r->path,
                       (long long)info.st_size, (int)MAX_BYTES);
    if (info.st_size > r->capacity) {
        eh_free(r->bytes);
        r->bytes = NULL;
        r->capacity = 0;
        EH_TRY(eh_new(r->ctx, "an image file", info.st_size, 1, (void **)&r->bytes));
        r->capacity = info.st_size;
    }
    r->size = (int64_t)eh_fread(r->bytes, (size_t)info.st_size, file);
    if (r->size == info.st_size) return ENHOPE_OK;
    return eh_fail(r->ctx, ENHOPE_ERROR_IO, "%s: cannot read: %s", r->path,
                   ferror(file) ? strerror(errno) : "the file became shorter");
}

/* Loads file i and reads its header. */
static enhope_status load(reader *r, int64_t i, eh_image_info *info)
{
    char message[EH_IMAGE_MESSAGE] = "";
    if (snprintf(r->path, sizeof r->path, "%s/%s", r->folder, r->files.name[i]) >= EH_PATH)
        return eh_fail(r->ctx, ENHOPE_ERROR_IO, "%s: the path of an image is too long", r->folder);
    FILE *file = fopen(r->path, "rb");
    if (!file) return eh_fail(r->ctx, ENHOPE_ERROR_IO, "%s: cannot open: %s", r->path, strerror(errno));
    const enhope_status status = read_bytes(r, file);
    fclose(file);
    if (status) return status;
    if (r->op->describe(r->bytes, (size_t)r->size, info, message)) return ENHOPE_OK;
    return eh_fail(r->ctx, ENHOPE_ERROR_DATA, "%s: %s", r->path, message);
}

static enhope_status decode(reader *r, int64_t i, uint8_t *pixels)
{
    eh_image_info info;
    char message[EH_IMAGE_MESSAGE] = "";
    EH_TRY(load(r, i, &info));
    if (info.rows != r->first.rows || info.columns != r->first.columns)
        return eh_fail(
            r->ctx, ENHOPE_ERROR_DATA,
            "%s has %lld x %lld pixels but %s/%s has %lld x %lld: all images must have the same size; resize "
            "them, for example with ImageMagick: mogrify -resize '%lldx%lld!' FILES",
            r->path, (long long)info.columns, (long long)info.rows, r->folder, r->files.name[0],
            (long long)r->first.columns, (long long)r->first.rows, (long long)r->first.columns,
            (long long)r->first.rows);
    if (r->op->decode(r->bytes, (size_t)r->size, r->channels, pixels, message)) return ENHOPE_OK;
    return eh_fail(r->ctx, ENHOPE_ERROR_DATA, "%s: %s", r->path, message);
}

/* ---- all files ---- */

/* Chooses one or three channels: by the number of inputs of the model, or else by all files. */
static enhope_status choose_channels(reader *r, const enhope_model *model)
{
    enhope_model_info known = {.inputs = 0};
    eh_image_info info;
    EH_TRY(load(r, 0, &r->first));
    const int64_t pixels = r->first.rows * r->first.columns;
    if (model) enhope_model_get_info(model, &known);
    if (known.inputs == pixels || known.inputs == 3 * pixels) {
        r->channels = known.inputs == pixels ? 1 : 3;
        return ENHOPE_OK;
    }
    r->channels = r->first.gray ? 1 : 3;
    for (int64_t i = 1; i < r->files.n && r->channels == 1; i++) {
        EH_TRY(load(r, i, &info));
        if (!info.gray) r->channels = 3;
    }
    return ENHOPE_OK;
}

static enhope_status pass_rows(reader *r, bool labeled, enhope_dataset *data, eh_sink *sink)
{
    const int64_t H = data->x.H, n = r->files.n, step = eh_max(1, EH_SINK_VALUES / H);
    uint8_t *block = NULL;
    enhope_status status;
    EH_CHECK(eh_new(r->ctx, "a block of images", step * H, 1, (void **)&block));
    sink->rows = sink->reserve = n;
    int64_t first = eh_min(sink->skip, n);
    sink->skip = 0;
    for (; first < n && !sink->full; first += step) {
        const int64_t count = eh_min(step, n - first);
        for (int64_t i = 0; i < count; i++) EH_CHECK(decode(r, first + i, block + i * H));
        const eh_matrix x = {.kind = ENHOPE_U8, .n = count, .H = H, .u8 = block};
        EH_CHECK(sink->take(r->ctx, sink, &x, labeled ? r->files.labels.id + first : NULL,
                            (double)(first + count) / (double)n));
    }
cleanup:
    eh_free(block);
    return status;
}

/* Keeps the names of the files, as texts of a column "file". */
static enhope_status keep_names(reader *r, enhope_dataset *data)
{
    EH_TRY(eh_new(r->ctx, "a data set", 1, sizeof *data->origin, (void **)&data->origin));
    eh_kept *kept = &data->origin->kept;
    EH_TRY(eh_new(r->ctx, "column names", 1, sizeof *kept->name, (void **)&kept->name));
    kept->columns = 1;
    EH_TRY(eh_new_text(r->ctx, "a column name", "file", &kept->name[0]));
    for (int64_t i = 0; i < r->files.n; i++) {
        char *name = eh_utf8_copy(r->files.name[i]);
        if (!name) return eh_fail_memory(r->ctx, "a file name", strlen(r->files.name[i]) + 1, 1);
        enhope_status status = eh_kept_row(r->ctx, kept, i);
        if (!status) status = eh_kept_field(r->ctx, kept, 0, name, strlen(name));
        eh_free(name);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

enhope_status eh_read_images(enhope_context *ctx, const char *folder, bool labeled, const enhope_model *model,
                             enhope_dataset *data, eh_sink *sink)
{
    enhope_status status;
    reader r = {.ctx = ctx, .folder = folder};
    EH_CHECK(find_table(ctx, folder, &r.op));
    EH_CHECK(eh_images_list(ctx, folder, &r.files));
    EH_CHECK(choose_channels(&r, model));
    data->x.kind = ENHOPE_U8;
    data->x.H = r.first.rows * r.first.columns * r.channels;
    if (r.channels == 1) {
        data->image_rows = r.first.rows;
        data->image_columns = r.first.columns;
    }
    labeled = labeled && r.files.labels.n > 0;
    EH_CHECK(pass_rows(&r, labeled, data, sink));
    if (sink->resident) EH_CHECK(keep_names(&r, data));
    if (labeled) eh_labels_move_names(&r.files.labels, data);
cleanup:
    eh_images_free(&r.files);
    eh_free(r.bytes);
    return status;
}
