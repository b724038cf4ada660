/* Exports a model: prepares what every writer needs, selects the writer and writes its files. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "model/quantized.h"
#include "predict/export/export.h"

enum { MAX_NAME = 40 }; /* characters of the prefix of C functions */

typedef enhope_status (*writer)(enhope_context *ctx, const eh_export *e, eh_bytes *out);
static const struct {
    const char *format;
    writer write;
} writers[] = {{"onnx", eh_export_onnx},
               {"c", eh_export_c},
               {"h", eh_export_c_header},
               {"js", eh_export_js},
               {"json", eh_export_json}};

/* ---- tensors and scaling ---- */

int eh_export_tensors(const eh_export *e)
{
    return e->model->map->tensors(&e->model->shape);
}

eh_weights eh_export_tensor(const eh_export *e, int i)
{
    const enhope_model *m = e->model;
    const eh_tensor t = m->map->tensor(&m->shape, i);
    return (eh_weights){.name = t.name + strlen("map."),
                        .data = m->theta + eh_map_offset(m->map, &m->shape, i),
                        .rows = t.rank == 2 ? t.shape[0] : 1,
                        .columns = t.shape[t.rank - 1]};
}

static bool all_equal(const float *x, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] != value) return false;
    return true;
}

bool eh_export_shifts(const eh_export *e)
{
    return !all_equal(e->model->shift, e->model->shape.H, 0);
}

bool eh_export_multiplies(const eh_export *e)
{
    return !all_equal(e->model->mul, e->model->shape.H, 1);
}

/* ---- preparation ---- */

static enhope_status check_name(enhope_context *ctx, const char *name)
{
    const size_t length = strlen(name);
    bool valid = length > 0 && length <= MAX_NAME && isalpha((unsigned char)name[0]);
    for (size_t i = 0; i < length && valid; i++) valid = isalnum((unsigned char)name[i]) || name[i] == '_';
    if (valid) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "the name is '%.60s': expected a letter, then letters, digits and _, at most %d in all", name,
                   MAX_NAME);
}

static enhope_status find_precision(enhope_context *ctx, const enhope_model *model, const char *precision, eh_export *e)
{
    const bool stored = model->int8 && model->int8->C;
    if (!precision) precision = stored ? "int8" : "float32";
    if (!strcmp(precision, "int8")) return eh_model_quantized(ctx, model, &e->int8);
    if (!strcmp(precision, "float32")) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "precision is '%.20s': expected float32 or int8", precision);
}

static void release(eh_export *e)
{
    eh_free(e->G);
    eh_quantized_free(e->int8);
}

static enhope_status prepare(enhope_context *ctx, const enhope_model *model, const enhope_export_options *options,
                             eh_export *e)
{
    const int64_t H = model->shape.H;
    if (!eh_model_classifies(model))
        return eh_fail(
            ctx, ENHOPE_ERROR_ARGUMENT,
            "the model was trained without labels, so it cannot classify; export a model trained with labels");
    if (options->k < 0 || options->k > model->r)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k is %d: expected 1 to %lld, the number of references", options->k,
                       (long long)model->r);
    e->model = model;
    e->name = options->name ? options->name : "model";
    EH_TRY(check_name(ctx, e->name));
    e->encoding = options->encoded ? NULL : model->input.encoding;
    e->votes = options->k > 0 || model->votes;
    e->k = options->k > 0 ? options->k : model->k;
    e->one_scale = all_equal(model->shift, H, model->shift[0]) && all_equal(model->mul, H, model->mul[0]);
    int64_t count;
    if (!eh_mul(model->r, model->shape.h, &count))
        return eh_fail_memory(ctx, "the embedded references", (size_t)model->r, (size_t)model->shape.h);
    EH_TRY(find_precision(ctx, model, options->precision, e));
    EH_TRY(eh_new(ctx, "the embedded references", count, sizeof *e->G, (void **)&e->G));
    return enhope_model_references(ctx, model, e->G, NULL);
}

static enhope_status find_writer(enhope_context *ctx, const char *format, const char *where, writer *out)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (!strcmp(writers[i].format, format)) {
            *out = writers[i].write;
            return ENHOPE_OK;
        }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: no export format '%.20s'; use onnx, c, js or json", where, format);
}

static enhope_status write_bytes(enhope_context *ctx, const eh_export *e, writer write, eh_bytes *out)
{
    out->name = e->name;
    EH_TRY(write(ctx, e, out));
    if (!out->failed) return ENHOPE_OK;
    return eh_fail_memory(ctx, "the exported model", out->size, 1);
}

/* ---- the API ---- */

static enhope_status write_file(enhope_context *ctx, const char *path, const eh_bytes *bytes)
{
    eh_atomic_file file;
    EH_TRY(eh_atomic_open(ctx, path, &file));
    EH_TRY(eh_atomic_write(ctx, path, &file, bytes->data, bytes->size));
    return eh_atomic_commit(ctx, path, &file);
}

/* The header is written first: a source that names it then exists only beside it. */
static enhope_status write_files(enhope_context *ctx, const eh_export *e, const char *path, writer write)
{
    eh_bytes bytes = {0}, header = {0};
    char *header_path = NULL;
    enhope_status status;
    EH_CHECK(write_bytes(ctx, e, write, &bytes));
    if (write == eh_export_c) {
        EH_CHECK(write_bytes(ctx, e, eh_export_c_header, &header));
        EH_CHECK(eh_new_text(ctx, "a path", path, &header_path));
        header_path[strlen(path) - 1] = 'h';
        EH_CHECK(write_file(ctx, header_path, &header));
    }
    EH_CHECK(write_file(ctx, path, &bytes));
cleanup:
    eh_bytes_free(&bytes);
    eh_bytes_free(&header);
    eh_free(header_path);
    return status;
}

enhope_status enhope_model_export(enhope_context *ctx, const enhope_model *model, const char *path,
                                  const enhope_export_options *options)
{
    const enhope_export_options none = {0};
    const char *const ending = strrchr(path, '.'), *const folder = strrchr(path, '/');
    writer write = NULL;
    if (!options) options = &none;
    EH_TRY(find_writer(ctx, ending ? ending + 1 : "", path, &write));
    eh_export e = {.file = folder ? folder + 1 : path};
    if (strpbrk(e.file, "\"\\\n"))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "%s: an exported file has no quote, backslash or newline in its name", path);
    enhope_status status = prepare(ctx, model, options, &e);
    if (!status) status = write_files(ctx, &e, path, write);
    release(&e);
    return status;
}

enhope_status enhope_model_export_bytes(enhope_context *ctx, const enhope_model *model, const char *format,
                                        const enhope_export_options *options, void *to, size_t capacity, size_t *bytes)
{
    const enhope_export_options none = {0};
    writer write = NULL;
    if (!options) options = &none;
    EH_TRY(find_writer(ctx, format, "enhope_model_export_bytes", &write));
    eh_export e = {0};
    eh_bytes out = {0};
    enhope_status status = prepare(ctx, model, options, &e);
    if (!status) status = write_bytes(ctx, &e, write, &out);
    if (!status) *bytes = out.size;
    if (!status && to && capacity < out.size)
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the exported model has %zu bytes, but there is room for %zu",
                         out.size, capacity);
    if (!status && to) memcpy(to, out.data, out.size);
    eh_bytes_free(&out);
    release(&e);
    return status;
}
