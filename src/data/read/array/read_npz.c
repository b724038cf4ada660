/* NPZ: a zip archive of NPY arrays. The inputs and the labels are found by name, or the caller
 * names them. */
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

/* The first existing member of these names; with a part: name_part or part_name. */
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

/* "a.npy, b.npy, ..." for messages. */
static const char *list_members(const eh_zip *zip, char *text, size_t size)
{
    size_t n = 0;
    snprintf(text, size, "nothing");
    for (int64_t i = 0; i < zip->count && n + 48 < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%.40s", i ? ", " : "", zip->member[i].name);
    return text;
}

static enhope_status find_named(enhope_context *ctx, const eh_zip *zip, const char *variables, bool labeled,
                                const eh_zip_member **x, const eh_zip_member **y)
{
    char names[NAME_SIZE], list[512];
    if (snprintf(names, sizeof names, "%s", variables) >= (int)sizeof names)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "variables: the names are longer than %d characters", NAME_SIZE - 1);
    char *second = strchr(names, ',');
    if (second) *second++ = '\0';
    *x = find_member(zip, names);
    *y = second && labeled ? find_member(zip, second) : NULL;
    if (!*x || (second && labeled && !*y))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: no array '%.60s': it contains %s", zip->path, *x ? second : names,
                       list_members(zip, list, sizeof list));
    return ENHOPE_OK;
}

static enhope_status find_arrays(enhope_context *ctx, const eh_zip *zip, const char *part, const char *variables,
                                 bool labeled, const eh_zip_member **x, const eh_zip_member **y, bool *parts)
{
    char list[512];
    *parts = false;
    if (variables) return find_named(ctx, zip, variables, labeled, x, y);
    *parts = find_first(zip, input_names, "train") || find_first(zip, input_names, "test");
    if (*parts && !part) part = "train";
    *x = find_first(zip, input_names, *parts ? part : NULL);
    *y = labeled ? find_first(zip, label_names, *parts ? part : NULL) : NULL;
    if (!*x && *parts)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: no array X_%s (or x_, data_, images_, features_): it contains %s",
                       zip->path, part, list_members(zip, list, sizeof list));
    if (!*x)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%s: no array X (or x, data, images, features, arr_0): it contains %s; name the variables",
                       zip->path, list_members(zip, list, sizeof list));
    return ENHOPE_OK;
}

static enhope_status open_member(enhope_context *ctx, eh_zip *zip, const eh_zip_member *m, const char *name,
                                 eh_stream *s, eh_array *a)
{
    EH_TRY(eh_zip_stream(ctx, zip, m, name, s));
    return eh_npy_header(ctx, s, a);
}

/* Reads all labels. They come first, because only one member can be open. */
static enhope_status read_labels(enhope_context *ctx, eh_zip *zip, const eh_zip_member *m, const char *name,
                                 eh_labels *labels)
{
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    eh_array a = {.rank = 0};
    int64_t count;
    EH_CHECK(open_member(ctx, zip, m, name, &s, &a));
    EH_CHECK(eh_array_measure(ctx, &a, &s, &count));
    EH_CHECK(eh_array_check_labels(ctx, &a, name, count));
    EH_CHECK(eh_array_labels(ctx, &a, &s, 0, count, labels));
    EH_CHECK(eh_array_end(ctx, &s));
cleanup:
    eh_stream_close(&s);
    return status;
}

static enhope_status read_members(enhope_context *ctx, eh_zip *zip, const eh_zip_member *x, const eh_zip_member *y,
                                  const eh_encoding *like, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    bool read;
    char x_name[NAME_SIZE], y_name[NAME_SIZE]; /* "file.npz(y.npy)", for messages */
    eh_stream s = {.name = NULL};
    eh_array a = {.rank = 0}, again;
    eh_pair pair;
    snprintf(x_name, sizeof x_name, "%.180s(%.60s)", zip->path, x->name);
    snprintf(y_name, sizeof y_name, "%.180s(%.60s)", zip->path, y ? y->name : "");
    eh_pair_open(&pair, x_name, y_name, true, sink);
    if (y) EH_CHECK(read_labels(ctx, zip, y, y_name, &pair.labels));
    EH_CHECK(open_member(ctx, zip, x, x_name, &s, &a));
    EH_CHECK(eh_array_center(ctx, &a, &s, like, &read));
    if (read) {
        eh_stream_close(&s);
        EH_CHECK(open_member(ctx, zip, x, x_name, &s, &again));
    }
    EH_CHECK(eh_array_rows(ctx, &a, &s, like, data, y ? &pair.sink : sink));
    if (y) EH_CHECK(eh_pair_finish(ctx, &pair, data));
cleanup:
    sink->from = NULL; /* the name goes out of scope */
    eh_free(a.offset);
    eh_stream_close(&s);
    eh_pair_close(&pair);
    return status;
}

enhope_status eh_read_npz(enhope_context *ctx, eh_input *in, enhope_dataset *data, eh_sink *sink)
{
    enhope_status status = ENHOPE_OK;
    const eh_zip_member *x = NULL, *y = NULL;
    eh_stream probe = {.name = NULL};
    eh_zip zip;
    EH_TRY(eh_stream_check(ctx, in->path));
    EH_TRY(eh_stream_open(ctx, in->path, &probe)); /* reports files that are missing, empty or folders */
    eh_stream_close(&probe);
    EH_TRY(eh_zip_open(ctx, in->path, &zip));
    EH_CHECK(find_arrays(ctx, &zip, in->part, in->variables, in->labeled, &x, &y, &in->parts));
    if (!in->parts && in->part && !strcmp(in->part, "test")) EH_CHECK(eh_fail_no_test(ctx, in->path));
    EH_CHECK(read_members(ctx, &zip, x, y, in->encoding, data, sink));
cleanup:
    eh_zip_close(&zip);
    return status;
}
