/* A store over a plain IDX or NPY file of inputs and one of labels. Opening it reads all labels
 * once to find the classes, but no inputs. Inputs of more than 32 bits are then read once to find
 * the centers of columns that float cannot resolve. */
#include <string.h>

#include "data/store/store_files.h"

enum { CHUNK = EH_BUFFER(1 << 16) }; /* bytes of labels per read */

static enhope_status is_idx(enhope_context *ctx, const char *path, bool *idx)
{
    char head[2] = {0};
    size_t got;
    eh_stream s = {.name = NULL};
    EH_TRY(eh_stream_open(ctx, path, &s));
    const enhope_status status = eh_stream_read(ctx, &s, head, sizeof head, &got);
    eh_stream_close(&s);
    *idx = head[0] == 0;
    return status;
}

/* Collects the distinct label texts. */
static enhope_status collect_texts(enhope_context *ctx, const eh_array_file *f, eh_labels *texts)
{
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    unsigned char *raw = NULL;
    char *buffer = NULL;
    bool seen[256] = {false};
    size_t got;
    const int64_t step = CHUNK / f->a.size > 0 ? CHUNK / f->a.size : 1;
    int64_t count = 1;
    for (int i = 0; i < f->a.rank; i++) count *= f->a.shape[i];
    EH_CHECK(eh_new(ctx, "labels", step, (size_t)f->a.size, (void **)&raw));
    EH_CHECK(eh_new(ctx, "a label", f->a.size + EH_LABEL_TEXT, 1, (void **)&buffer));
    EH_CHECK(eh_stream_open(ctx, f->path, &s));
    for (int64_t left = f->offset; left > 0; left -= (int64_t)got) {
        EH_CHECK(eh_stream_read(ctx, &s, raw, (size_t)(left < step * f->a.size ? left : step * f->a.size), &got));
        if (got == 0) break;
    }
    for (int64_t done = 0; done < count; done += step) {
        const int64_t n = count - done < step ? count - done : step;
        EH_CHECK(eh_stream_read(ctx, &s, raw, (size_t)(n * f->a.size), &got));
        if ((int64_t)got < n * f->a.size)
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: ends within the labels", f->path));
        for (int64_t i = 0; i < n; i++) {
            const unsigned char *p = raw + i * f->a.size;
            const char *text;
            size_t length;
            int32_t id;
            if (f->a.size == 1 && seen[*p]) continue;
            seen[*p] = true;
            status = eh_array_label_text(ctx, &f->a, p, done + i, buffer, &text, &length);
            if (!status && !eh_labels_missing(text, length)) status = eh_labels_class(ctx, texts, text, length, &id);
            if (status) {
                eh_fail_in(ctx, status, "%s", f->path);
                goto cleanup;
            }
        }
    }
cleanup:
    eh_stream_close(&s);
    eh_free(raw);
    eh_free(buffer);
    return status;
}

/* Maps labels to classes: by value if they are one byte, otherwise by text. */
static enhope_status resolve_classes(enhope_context *ctx, const eh_array_file *f, eh_files *files, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    int32_t *rank = NULL;
    EH_TRY(collect_texts(ctx, f, &files->texts));
    EH_CHECK(eh_new(ctx, "classes", files->texts.c, sizeof *rank, (void **)&rank));
    EH_CHECK(eh_labels_classes(ctx, &files->texts, f->path, rank, data));
    files->by_text = f->a.size != 1;
    files->numbers = files->by_text ? files->texts.c : 256;
    EH_CHECK(eh_new(ctx, "classes", files->numbers, sizeof *files->class_of, (void **)&files->class_of));
    for (int32_t v = 0; v < files->numbers; v++) {
        const unsigned char byte = (unsigned char)v;
        char buffer[1 + EH_LABEL_TEXT];
        const char *text;
        size_t length;
        int32_t id = v;
        bool missing = false;
        if (!files->by_text) {
            EH_CHECK(eh_array_label_text(ctx, &f->a, &byte, 0, buffer, &text, &length));
            id = eh_labels_find(&files->texts, text, length);
            missing = eh_labels_missing(text, length);
        }
        files->class_of[v] = missing ? EH_MISSING : id < 0 ? -1 : rank[id] < 0 ? EH_MISSING : rank[id];
    }
cleanup:
    eh_free(rank);
    return status;
}

enhope_status eh_store_open_pair(enhope_context *ctx, const char *x_path, const char *y_path, enhope_dataset *data,
                                 eh_store **out)
{
    enhope_status status = ENHOPE_OK;
    eh_files *files = NULL;
    bool idx, plain = true;
    int64_t H = 1;
    EH_CHECK(eh_new(ctx, "a store", 1, sizeof *files, (void **)&files));
    EH_CHECK(eh_new(ctx, "a store", 1, sizeof *files->span, (void **)&files->span));
    files->spans = 1;
    eh_array_file *x = &files->span->array[EH_VALUES], *y = &files->span->array[EH_LABELS];
    EH_CHECK(is_idx(ctx, x_path, &idx));
    EH_CHECK(eh_array_file_open(ctx, x_path, idx, x, &plain));
    if (!plain || (x->a.fortran && x->a.rank > 1)) goto cleanup;
    if (y_path) {
        EH_CHECK(is_idx(ctx, y_path, &idx));
        EH_CHECK(eh_array_file_open(ctx, y_path, idx, y, &plain));
        if (!plain) goto cleanup;
    }
    EH_CHECK(eh_array_check_pair(ctx, &x->a, x_path, y_path ? &y->a : NULL, y_path));
    for (int i = 1; i < x->a.rank; i++) H *= x->a.shape[i];
    if (y_path) EH_CHECK(resolve_classes(ctx, y, files, data));
    files->span->n = x->a.shape[0];
    data->x = (eh_matrix){.kind = eh_array_is_bytes(&x->a) ? ENHOPE_U8 : ENHOPE_F32, .n = x->a.shape[0], .H = H};
    data->image_rows = x->a.rank == 3 ? x->a.shape[1] : 0;
    data->image_columns = x->a.rank == 3 ? x->a.shape[2] : 0;
    eh_files *whole = files;
    files = NULL;
    EH_CHECK(eh_store_from_files(ctx, data->x.kind, H, data->c, whole, out));
cleanup:
    eh_files_free(files);
    return status;
}

enhope_status eh_store_center(enhope_context *ctx, enhope_dataset *data, const eh_encoding *encoding)
{
    enhope_status status = ENHOPE_OK;
    eh_array_file *x = &data->store->files->span->array[EH_VALUES];
    eh_stream s = {.name = NULL};
    eh_array again;
    bool idx, read;
    EH_TRY(is_idx(ctx, x->path, &idx));
    EH_TRY(eh_stream_open(ctx, x->path, &s));
    EH_CHECK(idx ? eh_idx_header(ctx, &s, &again) : eh_npy_header(ctx, &s, &again));
    EH_CHECK(eh_array_center(ctx, &x->a, &s, encoding, &read));
    EH_CHECK(eh_centers_describe(ctx, x->a.offset, encoding, data));
cleanup:
    eh_stream_close(&s);
    return status;
}
