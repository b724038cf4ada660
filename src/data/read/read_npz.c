/* NPZ: a zip archive of NPY arrays. The inputs and the labels are found by name, or named by the caller. */
#include <stdio.h>
#include <string.h>

#include "data/read/read.h"

enum { NAME_SIZE = 256 };

static const char *const input_names[] = {"X", "x", "data", "images", "features", "inputs", "arr_0", NULL};
static const char *const label_names[] = {"y", "Y", "labels", "label", "target", "targets", "classes", "arr_1", NULL};

static const eh_zip_member *find_member(const eh_zip *zip, const char *name)
{
    char file[NAME_SIZE];
    if (snprintf(file, sizeof file, "%s.npy", name) >= (int)sizeof file) return NULL;
    const eh_zip_member *m = eh_zip_find(zip, file);
    return m ? m : eh_zip_find(zip, name);
}

/* The first of the names; with a part: name_part or part_name. */
static const eh_zip_member *find_first(const eh_zip *zip, const char *const *names, const char *part)
{
    for (; *names; names++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, part ? "%s_%s" : "%s", *names, part);
        const eh_zip_member *m = find_member(zip, name);
        if (m) return m;
        if (!part) continue;
        snprintf(name, sizeof name, "%s_%s", part, *names);
        m = find_member(zip, name);
        if (m) return m;
    }
    return NULL;
}

/* "a.npy, b.npy, ..." for sentences. */
static const char *list_members(const eh_zip *zip, char *text, size_t size)
{
    size_t n = 0;
    snprintf(text, size, "nothing");
    for (int64_t i = 0; i < zip->count && n + 48 < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%.40s", i ? ", " : "", zip->member[i].name);
    return text;
}

static enhope_status find_named(enhope_context *ctx, const eh_zip *zip, const char *variables, bool labelled,
                                const eh_zip_member **x, const eh_zip_member **y)
{
    char names[NAME_SIZE], list[512];
    if (snprintf(names, sizeof names, "%s", variables) >= (int)sizeof names)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "variables: the names are longer than %d characters", NAME_SIZE - 1);
    char *second = strchr(names, ',');
    if (second) *second++ = '\0';
    *x = find_member(zip, names);
    *y = second && labelled ? find_member(zip, second) : NULL;
    if (!*x || (second && labelled && !*y))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: no array '%.60s': it holds %s", zip->path, *x ? second : names,
                       list_members(zip, list, sizeof list));
    return ENHOPE_OK;
}

static enhope_status find_arrays(enhope_context *ctx, const eh_zip *zip, const char *part, const char *variables,
                                 bool labelled, const eh_zip_member **x, const eh_zip_member **y, bool *parts)
{
    char list[512];
    *parts = false;
    if (variables) return find_named(ctx, zip, variables, labelled, x, y);
    *parts = find_first(zip, input_names, "train") || find_first(zip, input_names, "test");
    if (*parts && !part) part = "train";
    *x = find_first(zip, input_names, *parts ? part : NULL);
    *y = labelled ? find_first(zip, label_names, *parts ? part : NULL) : NULL;
    if (!*x && *parts)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: no array X_%s (or x_, data_, images_, features_): it holds %s",
                       zip->path, part, list_members(zip, list, sizeof list));
    if (!*x)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: no array X (or x, data, images, features, arr_0): it holds %s; name the variables",
                       zip->path, list_members(zip, list, sizeof list));
    return ENHOPE_OK;
}

static enhope_status read_member(enhope_context *ctx, eh_zip *zip, const eh_zip_member *m, const char *name,
                                 enhope_dataset *data, eh_labels *labels)
{
    eh_stream s = {.name = NULL};
    EH_TRY(eh_zip_stream(ctx, zip, m, name, &s));
    const enhope_status status = eh_read_npy(ctx, &s, data, labels);
    eh_stream_close(&s);
    return status;
}

enhope_status eh_read_npz(enhope_context *ctx, const char *path, const char *part, const char *variables, bool labelled,
                          enhope_dataset *data, bool *parts)
{
    enhope_status status = ENHOPE_OK;
    char x_name[NAME_SIZE], y_name[NAME_SIZE]; /* "file.npz(y.npy)", for sentences */
    eh_labels labels = {.n = 0};
    const eh_zip_member *x = NULL, *y = NULL;
    eh_stream probe = {.name = NULL};
    eh_zip zip;
    EH_TRY(eh_stream_open(ctx, path, &probe)); /* the sentences for files that are missing, empty or folders */
    eh_stream_close(&probe);
    EH_TRY(eh_zip_open(ctx, path, &zip));
    EH_CHECK(find_arrays(ctx, &zip, part, variables, labelled, &x, &y, parts));
    snprintf(x_name, sizeof x_name, "%.180s(%.60s)", path, x->name);
    EH_CHECK(read_member(ctx, &zip, x, x_name, data, NULL));
    if (y) {
        snprintf(y_name, sizeof y_name, "%.180s(%.60s)", path, y->name);
        EH_CHECK(read_member(ctx, &zip, y, y_name, NULL, &labels));
        EH_CHECK(eh_labels_attach(ctx, &labels, data, x_name, y_name));
    }
cleanup:
    eh_labels_free(&labels);
    eh_zip_close(&zip);
    return status;
}
