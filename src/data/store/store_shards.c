/* A folder of shards as a store. The header of every file is compared with shards.json here, and
 * its checksum when it is read first. */
#include <stdio.h>
#include <string.h>

#include "data/store/shards.h"

static enhope_status fail_shape(enhope_context *ctx, const eh_array_file *f, int64_t rows, int64_t columns,
                                const char *type)
{
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                   "%s: %lld x %lld values of type %c%lld: expected %lld x %lld of %s, as shards.json says", f->path,
                   (long long)f->a.shape[0], (long long)(f->a.rank > 1 ? f->a.shape[1] : 1), f->a.kind,
                   (long long)f->a.size, (long long)rows, (long long)columns, type);
}

static enhope_status open_file(enhope_context *ctx, const char *folder, const eh_shards *s, int64_t i, int which,
                               eh_array_file *f)
{
    static const struct {
        char kind;
        int64_t size;
        const char *type;
    } types[EH_ARRAYS + 1] = {
        {'f', 4, "float32"}, {'i', 4, "int32"}, {'i', 8, "int64"}, {'i', 4, "int32"}, {'u', 1, "uint8"}};
    const eh_shard *shard = &s->shard[i];
    const int type = which == EH_VALUES && s->kind == ENHOPE_U8 ? EH_ARRAYS : which;
    const int64_t columns = which == EH_VALUES && s->kind != ENHOPE_CSR ? s->H : 1;
    const int64_t rows = which == EH_STARTS                            ? shard->rows + 1
                         : which == EH_LABELS || s->kind != ENHOPE_CSR ? shard->rows
                                                                       : shard->stored;
    char path[EH_PATH];
    bool plain;
    if (!*shard->file[which].name) {
        if (which == EH_LABELS ? s->labels.c == 0 : shard->stored == 0 || s->kind != ENHOPE_CSR) return ENHOPE_OK;
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s/" EH_SHARDS_NAME ": shard %lld has no %s", folder,
                       (long long)i + 1, eh_shard_ends[s->kind == ENHOPE_CSR][which]);
    }
    EH_TRY(eh_shards_path(ctx, folder, shard->file[which].name, path));
    EH_TRY(eh_array_file_open(ctx, path, false, f, &plain));
    if (!plain)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is compressed or not a regular file: expected plain NPY", path);
    EH_TRY(eh_new(ctx, "a checksum", 1, sizeof *f->sum, (void **)&f->sum));
    f->sum->bytes = shard->file[which].bytes;
    f->sum->crc = shard->file[which].crc;
    int64_t wide = 1;
    for (int r = 1; r < f->a.rank; r++) wide *= f->a.shape[r];
    if (f->a.shape[0] != rows || wide != columns || f->a.kind != types[type].kind || f->a.size != types[type].size ||
        f->a.fortran)
        return fail_shape(ctx, f, rows, columns, types[type].type);
    return ENHOPE_OK;
}

static enhope_status resolve_classes(enhope_context *ctx, const char *folder, eh_shards *s, eh_files *files,
                                     enhope_dataset *data)
{
    files->numbers = s->labels.c;
    files->unlabeled = true;
    EH_TRY(eh_new(ctx, "classes", s->labels.c, sizeof *files->class_of, (void **)&files->class_of));
    EH_TRY(eh_labels_classes(ctx, &s->labels, folder, files->class_of, data));
    for (int32_t k = 0; k < files->numbers; k++)
        if (files->class_of[k] < 0) files->class_of[k] = EH_MISSING;
    return ENHOPE_OK;
}

enhope_status eh_store_open_shards(enhope_context *ctx, const char *folder, bool labeled, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    eh_shards s = {.n = 0};
    eh_files *files = NULL;
    EH_TRY(eh_shards_load(ctx, folder, EH_SHARDS_NAME, &s));
    if (s.shards == 0) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", folder));
    EH_CHECK(eh_new(ctx, "a store", 1, sizeof *files, (void **)&files));
    EH_CHECK(eh_new(ctx, "shards", s.shards, sizeof *files->span, (void **)&files->span));
    files->spans = s.shards;
    int64_t first = 0, stored = 0;
    if (!labeled) eh_labels_free(&s.labels);
    for (int64_t i = 0; i < s.shards; i++) {
        eh_span *p = &files->span[i];
        p->first = first;
        p->n = s.shard[i].rows;
        p->stored_before = stored;
        for (int j = 0; j < EH_ARRAYS; j++)
            if (j != EH_LABELS || labeled) EH_CHECK(open_file(ctx, folder, &s, i, j, &p->array[j]));
        first += p->n;
        stored += s.shard[i].stored;
    }
    EH_CHECK(resolve_classes(ctx, folder, &s, files, data));
    data->x = (eh_matrix){.kind = s.kind, .n = s.n, .H = s.H};
    data->image_rows = s.image_rows;
    data->image_columns = s.image_columns;
    data->input_name = s.input_name;
    s.input_name = NULL;
    data->encoding = s.encoding;
    s.encoding = NULL;
    eh_files *whole = files;
    files = NULL;
    EH_CHECK(eh_store_from_files(ctx, s.kind, s.H, data->c, whole, &data->store));
cleanup:
    eh_files_free(files);
    eh_shards_free(&s);
    return status;
}
