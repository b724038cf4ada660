/* Fingerprint of a data set, computed from a sample of its values. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"

enum { ROWS = 1000 }; /* rows whose values are hashed, drawn at random; the last row is added */

static enhope_status hash_values(enhope_context *ctx, const eh_matrix *x, uint64_t *out)
{
    float *row = NULL;
    EH_TRY(eh_new(ctx, "a row", x->H, sizeof *row, (void **)&row));
    uint64_t h = 0;
    for (uint64_t k = 0; k < ROWS && x->n; k++) {
        const uint64_t at = k ? eh_random_u64(0, EH_STREAM_FINGERPRINT, k) % (uint64_t)x->n : (uint64_t)x->n - 1;
        eh_matrix_row(x, (int64_t)at, row);
        h = eh_hash(h, row, (size_t)x->H * sizeof *row);
    }
    eh_free(row);
    *out = h;
    return ENHOPE_OK;
}

enhope_status eh_fingerprint_compute(enhope_context *ctx, const enhope_dataset *data, eh_fingerprint *out)
{
    eh_fingerprint f = {.n = data->x.n,
                        .H = data->x.H,
                        .image_rows = data->image_rows,
                        .image_columns = data->image_columns,
                        .c = data->c,
                        .kind = data->x.kind};
    for (int32_t k = 0; k < data->c; k++) f.names = eh_hash(f.names, data->class_name[k], strlen(data->class_name[k]));
    if (data->label) f.labels = eh_hash(0, data->label, (size_t)data->x.n * sizeof *data->label);
    if (data->weight) f.weights = eh_hash(1, data->weight, (size_t)data->x.n * sizeof *data->weight);
    EH_TRY(hash_values(ctx, &data->x, &f.values));
    *out = f;
    return ENHOPE_OK;
}

void eh_fingerprint_print(const eh_fingerprint *f, char text[EH_FINGERPRINT_TEXT])
{
    const int used = snprintf(
        text, EH_FINGERPRINT_TEXT,
        "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32 " %d %016" PRIx64 " %016" PRIx64 " %016" PRIx64,
        f->n, f->H, f->image_rows, f->image_columns, f->c, (int)f->kind, f->names, f->labels, f->values);
    if (f->weights) snprintf(text + used, (size_t)(EH_FINGERPRINT_TEXT - used), " %016" PRIx64, f->weights);
}

bool eh_fingerprint_parse(const char *text, eh_fingerprint *out)
{
    int kind;
    out->weights = 0;
    const int found = sscanf(text,
                             "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd32 " %d %" SCNx64 " %" SCNx64
                             " %" SCNx64 " %" SCNx64,
                             &out->n, &out->H, &out->image_rows, &out->image_columns, &out->c, &kind, &out->names,
                             &out->labels, &out->values, &out->weights);
    out->kind = (enhope_kind)kind;
    return found >= 9;
}

bool eh_fingerprint_differs(const eh_fingerprint *now, const eh_fingerprint *before, char *what, size_t size)
{
    static const char *const kinds[] = {"bytes", "floats", "sparse rows"};
    const struct {
        const char *name;
        int64_t now, before;
    } counts[] = {{"samples", now->n, before->n}, {"inputs", now->H, before->H}, {"classes", now->c, before->c}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].now != counts[i].before) {
            snprintf(what, size, "%" PRId64 " %s, %" PRId64 " before", counts[i].now, counts[i].name, counts[i].before);
            return true;
        }
    const bool known = before->kind >= ENHOPE_U8 && before->kind <= ENHOPE_CSR;
    if (now->kind != before->kind)
        snprintf(what, size, "values stored as %s, %s before", kinds[now->kind],
                 known ? kinds[before->kind] : "others");
    else if (now->image_rows != before->image_rows || now->image_columns != before->image_columns)
        snprintf(what, size, "images of another shape");
    else if (now->names != before->names)
        snprintf(what, size, "other class names");
    else if (now->labels != before->labels)
        snprintf(what, size, "other labels");
    else if (now->weights != before->weights)
        snprintf(what, size, "other weights");
    else if (now->values != before->values)
        snprintf(what, size, "other values");
    else
        return false;
    return true;
}
