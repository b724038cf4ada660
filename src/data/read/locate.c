/* Finds the files of a source: a file, a pair X,y, a folder of MNIST-named files, of shards or of
 * images, or none (synthetic data). A folder may have its own train and test parts. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data/read/read.h"

bool eh_source_labeled(const enhope_source *source)
{
    return !source->label || strcmp(source->label, "none") != 0;
}

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The first of folder/name and folder/name.gz that exists. */
static bool find_in_folder(const char *folder, const char *name, char *path)
{
    static const char *const ends[] = {"", ".gz"};
    for (int i = 0; i < 2; i++)
        if (snprintf(path, EH_PATH, "%s/%s%s", folder, name, ends[i]) < EH_PATH && is_there(path)) return true;
    return false;
}

static const char *idx_half(const char *part)
{
    return part && strcmp(part, "test") == 0 ? "t10k" : "train";
}

/* Finds the IDX file of the inputs of a part. */
static bool find_inputs(const char *folder, const char *part, char *x_path)
{
    static const char *const inputs[] = {"images-idx3-ubyte", "images.idx3-ubyte", "features-idx2-ubyte",
                                         "features.idx2-ubyte"};
    char name[64];
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        snprintf(name, sizeof name, "%s-%s", idx_half(part), inputs[i]);
        if (find_in_folder(folder, name, x_path)) return true;
    }
    return false;
}

/* Finds the IDX files of a part in a folder. labeled false: leaves y_path empty. */
static enhope_status find_folder_pair(enhope_context *ctx, const char *folder, const char *part, bool labeled,
                                      char *x_path, char *y_path)
{
    static const char *const labels[] = {"labels-idx1-ubyte", "labels.idx1-ubyte"};
    const char *half = idx_half(part);
    char name[64];
    bool found = false;
    *y_path = '\0';
    if (!find_inputs(folder, part, x_path))
        return eh_fail(ctx, ENHOPE_ERROR_IO,
                       "%s: is a folder without %s-images-idx3-ubyte or %s-features-idx2-ubyte (or these with .gz), "
                       "without shards.json, and without images (PNG or JPEG files in a folder for each class)",
                       folder, half, half);
    if (!labeled) return ENHOPE_OK;
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !found; i++) {
        snprintf(name, sizeof name, "%s-%s", half, labels[i]);
        found = find_in_folder(folder, name, y_path);
    }
    if (!found)
        return eh_fail(ctx, ENHOPE_ERROR_IO,
                       "%s: is a folder without %s-labels-idx1-ubyte (or with .gz): name the pair of files X,y", folder,
                       half);
    return ENHOPE_OK;
}

/* Finds folder/shards.json, or that in the folder of the part. */
static bool find_shards(const char *folder, const char *part, char *path, bool *parts)
{
    char list[EH_PATH];
    const char *half = part ? part : "train";
    *parts = false;
    if (snprintf(path, EH_PATH, "%s", folder) >= EH_PATH ||
        snprintf(list, sizeof list, "%s/shards.json", folder) >= EH_PATH)
        return false;
    if (is_there(list)) return true;
    *parts = true;
    return snprintf(path, EH_PATH, "%s/%s", folder, half) < EH_PATH &&
           snprintf(list, sizeof list, "%s/%s/shards.json", folder, half) < EH_PATH && is_there(list);
}

/* Fails if the folder contains an incomplete conversion. */
static enhope_status check_complete(enhope_context *ctx, const char *folder, const char *part)
{
    char list[EH_PATH];
    const char *half[] = {".", part ? part : "train"};
    for (int i = 0; i < 2; i++)
        if (snprintf(list, sizeof list, "%s/%s/shards.partial.json", folder, half[i]) < EH_PATH && is_there(list))
            return eh_fail(ctx, ENHOPE_ERROR_DATA,
                           "%s: contains an incomplete conversion; run the same enhope convert again to finish it",
                           folder);
    return ENHOPE_OK;
}

/* "X,y": the comma for which both sides are files, or the first comma if there is none. NULL: no
 * comma. */
static const char *find_comma(const char *path, char *x_path)
{
    const char *first = strchr(path, ',');
    if (!first || strlen(path) >= EH_PATH) return NULL;
    for (const char *comma = first; comma; comma = strchr(comma + 1, ',')) {
        snprintf(x_path, EH_PATH, "%.*s", (int)(comma - path), path);
        if (is_there(x_path) && is_there(comma + 1)) return comma;
    }
    snprintf(x_path, EH_PATH, "%.*s", (int)(first - path), path);
    return first;
}

static enhope_status locate_folder(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at)
{
    const bool labeled = eh_source_labeled(source);
    if (find_shards(source->path, part, at->x_path, &at->parts)) {
        at->kind = EH_SHARDED;
        return ENHOPE_OK;
    }
    if (!find_inputs(source->path, NULL, at->x_path) && !find_inputs(source->path, "test", at->x_path) &&
        eh_images_find(source->path, part, at->x_path, &at->parts)) {
        at->kind = EH_IMAGES;
        return ENHOPE_OK;
    }
    at->parts = at->pair = true;
    EH_TRY(check_complete(ctx, source->path, part));
    EH_TRY(find_folder_pair(ctx, source->path, part, labeled, at->x_path, at->y_path));
    if (labeled) at->y = at->y_path;
    return ENHOPE_OK;
}

enhope_status eh_locate(enhope_context *ctx, const enhope_source *source, const char *part, eh_located *at)
{
    static const char scheme[] = "synthetic:";
    const char *path = source->path;
    at->kind = EH_FILES;
    at->x = at->x_path;
    at->y = NULL;
    at->pair = at->parts = false;
    if (strncmp(path, scheme, sizeof scheme - 1) == 0) {
        at->kind = EH_GENERATED;
        at->x = path + sizeof scheme - 1;
        at->parts = true;
        return ENHOPE_OK;
    }
    if (is_folder(path)) return locate_folder(ctx, source, part, at);
    const char *comma = is_there(path) ? NULL : find_comma(path, at->x_path);
    at->pair = comma != NULL;
    if (!comma) at->x = path;
    if (comma && eh_source_labeled(source)) at->y = comma + 1;
    return ENHOPE_OK;
}
