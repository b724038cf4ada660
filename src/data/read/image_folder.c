/* Folders of PNG and JPEG images: which folder has the images of a part, and the list of its files.
 *
 *   photos/cat/1.png   photos/dog/2.jpg         classes: the names of folders
 *   photos/train/cat/1.png   photos/test/...    parts
 *   photos/1.png                                no classes: unlabeled images
 *
 * Files are ordered by the bytes of their path. A file is an image by its name; its content is
 * checked when it is decoded. Hidden files are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/read/read.h"

static bool is_image_name(const char *name)
{
    static const char *const ends[] = {".png", ".jpg", ".jpeg"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (length > n && strcasecmp(name + length - n, ends[i]) == 0) return true;
    }
    return false;
}

static bool is_folder(const char *folder, const char *name)
{
    char path[EH_PATH];
    struct stat info;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < EH_PATH && stat(path, &info) == 0 &&
           S_ISDIR(info.st_mode);
}

/* ---- the folder of a part ---- */

static bool is_part(const char *name)
{
    static const char *const parts[] = {"train", "test", "valid", "val", "validation"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(name, parts[i])) return true;
    return false;
}

/* Whether the folder, or with depth 1 one of its folders, contains an image. */
static bool has_images(const char *folder, int depth)
{
    char path[EH_PATH];
    DIR *dir = opendir(folder);
    bool found = false;
    if (!dir) return false;
    for (const struct dirent *entry; !found && (entry = readdir(dir));) {
        if (*entry->d_name == '.') continue;
        found = is_image_name(entry->d_name) ||
                (depth > 0 && snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < EH_PATH &&
                 is_folder(folder, entry->d_name) && has_images(path, depth - 1));
    }
    closedir(dir);
    return found;
}

/* Whether all folders with images have the names of parts. */
static bool has_parts(const char *folder)
{
    char path[EH_PATH];
    DIR *dir = opendir(folder);
    bool found = false, other = false;
    if (!dir) return false;
    for (const struct dirent *entry; !other && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (*name == '.' || !is_folder(folder, name) || snprintf(path, sizeof path, "%s/%s", folder, name) >= EH_PATH ||
            !has_images(path, 1))
            continue;
        found = found || !strcmp(name, "train") || !strcmp(name, "test");
        other = !is_part(name);
    }
    closedir(dir);
    return found && !other;
}

bool eh_images_find(const char *folder, const char *part, char *path, bool *parts)
{
    const char *half = part ? part : "train";
    *parts = has_parts(folder);
    if (*parts) return snprintf(path, EH_PATH, "%s/%s", folder, half) < EH_PATH;
    return snprintf(path, EH_PATH, "%s", folder) < EH_PATH && has_images(folder, 1);
}

/* ---- the list of files ---- */

/* Names in a folder. */
typedef struct names {
    char **name;
    int64_t n, capacity;
} names;

typedef struct scan {
    enhope_context *ctx;
    const char *root;
    eh_images *out;
    int64_t ignored; /* entries that are not images */
    char example[200];
} scan;

static void names_free(names *list)
{
    eh_names_free(list->name, list->n);
}

static enhope_status names_add(enhope_context *ctx, names *list, const char *name)
{
    if (list->n == list->capacity) {
        const int64_t capacity = 2 * list->capacity + 64;
        char **grown = eh_grow(list->name, (size_t)list->n, (size_t)capacity, sizeof *grown);
        if (!grown) return eh_fail_memory(ctx, "file names", (size_t)capacity, sizeof *grown);
        list->name = grown;
        list->capacity = capacity;
    }
    EH_TRY(eh_new_text(ctx, "a file name", name, &list->name[list->n]));
    list->n++;
    return ENHOPE_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort(names *list)
{
    if (list->n > 1) qsort(list->name, (size_t)list->n, sizeof *list->name, by_bytes);
}

static void ignore(scan *s, const char *folder, const char *name)
{
    if (s->ignored++ == 0) snprintf(s->example, sizeof s->example, "%.90s%s%.90s", folder, *folder ? "/" : "", name);
}

/* Lists the images and the folders in root/below. folders NULL: folders are ignored. */
static enhope_status list_folder(scan *s, const char *below, names *images, names *folders)
{
    char path[EH_PATH];
    enhope_status status = ENHOPE_OK;
    if (snprintf(path, sizeof path, "%s%s%s", s->root, *below ? "/" : "", below) >= EH_PATH)
        return eh_fail(s->ctx, ENHOPE_ERROR_IO, "%s: the path is too long", s->root);
    DIR *dir = opendir(path);
    if (!dir) return eh_fail(s->ctx, ENHOPE_ERROR_IO, "%s: cannot read the folder: %s", path, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (*name == '.') continue;
        const bool inner = is_folder(path, name);
        if (inner && folders)
            EH_CHECK(names_add(s->ctx, folders, name));
        else if (!inner && is_image_name(name))
            EH_CHECK(names_add(s->ctx, images, name));
        else
            ignore(s, below, name);
    }
    names_sort(images);
    if (folders) names_sort(folders);
cleanup:
    closedir(dir);
    return status;
}

/* Appends the images of a folder. folder "": the root, whose images have no class. */
static enhope_status append(scan *s, const char *folder, const names *images)
{
    eh_images *out = s->out;
    names all = {out->name, out->n, out->capacity};
    enhope_status status = ENHOPE_OK;
    for (int64_t i = 0; i < images->n && !status; i++) {
        char path[EH_PATH];
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", images->name[i]);
        status = names_add(s->ctx, &all, path);
        if (!status && *folder) status = eh_labels_add(s->ctx, &out->labels, folder, strlen(folder));
    }
    out->name = all.name, out->n = all.n, out->capacity = all.capacity;
    return status ? eh_fail_in(s->ctx, status, "%s/%s", s->root, folder) : ENHOPE_OK;
}

static enhope_status list_classes(scan *s, const names *folders)
{
    for (int64_t k = 0; k < folders->n; k++) {
        names images = {.name = NULL};
        enhope_status status = list_folder(s, folders->name[k], &images, NULL);
        if (!status && images.n == 0) ignore(s, "", folders->name[k]);
        if (!status && images.n > 0) status = append(s, folders->name[k], &images);
        names_free(&images);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

enhope_status eh_images_list(enhope_context *ctx, const char *folder, eh_images *out)
{
    scan s = {.ctx = ctx, .root = folder, .out = out};
    names images = {.name = NULL}, folders = {.name = NULL};
    enhope_status status;
    EH_CHECK(list_folder(&s, "", &images, &folders));
    EH_CHECK(list_classes(&s, &folders));
    if (out->n == 0)
        EH_CHECK(append(&s, "", &images));
    else if (images.n > 0)
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: ignored %lld image%s outside the class folders, for example '%.90s'",
               folder, (long long)images.n, images.n == 1 ? "" : "s", images.name[0]);
    if (s.ignored)
        eh_log(ctx, ENHOPE_LOG_WARNING, "%s: ignored %lld %s, for example '%s'", folder, (long long)s.ignored,
               s.ignored == 1 ? "file or folder that is not a PNG or JPEG image"
                              : "files or folders that are not PNG or JPEG images",
               s.example);
    if (out->n == 0)
        status =
            eh_fail(ctx, ENHOPE_ERROR_IO,
                    "%s: contains no images: expected .png, .jpg or .jpeg files, in a folder for each class", folder);
cleanup:
    names_free(&images);
    names_free(&folders);
    return status;
}

void eh_images_free(eh_images *images)
{
    eh_names_free(images->name, images->n);
    eh_labels_free(&images->labels);
    *images = (eh_images){.name = NULL};
}
