/* Exports of a model: ONNX and C, as files or as bytes. */
#include "module.h"

typedef struct request {
    PyObject *path; /* bytes, or None */
    const char *format;
    enhope_export_options options;
} request;

static PyObject *export_bytes(enhope_context *ctx, const enhope_model *model, const request *r)
{
    size_t bytes = 0;
    PyObject *out = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_export_bytes(ctx, model, r->format, &r->options, NULL, 0, &bytes);
    Py_END_ALLOW_THREADS if (!status) out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (out) {
        char *to = PyBytes_AsString(out);
        Py_BEGIN_ALLOW_THREADS status =
            enhope_model_export_bytes(ctx, model, r->format, &r->options, to, bytes, &bytes);
        Py_END_ALLOW_THREADS
    }
    if (status) {
        Py_CLEAR(out);
        raise_error(ctx, status);
    }
    return out;
}

static PyObject *export_file(enhope_context *ctx, const enhope_model *model, const request *r)
{
    const char *path = PyBytes_AsString(r->path);
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_export(ctx, model, path, &r->options);
    Py_END_ALLOW_THREADS if (status) return raise_error(ctx, status);
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *model_export(PyObject *self, PyObject *args)
{
    const enhope_model *model = ((model_object *)self)->model;
    PyObject *path;
    request r = {0};
    if (!PyArg_ParseTuple(args, "Oszzi", &path, &r.format, &r.options.precision, &r.options.name, &r.options.encoded))
        return NULL;
    if (path != Py_None && !PyUnicode_FSConverter(path, &r.path)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    PyObject *out = NULL;
    if (ctx) out = r.path ? export_file(ctx, model, &r) : export_bytes(ctx, model, &r);
    enhope_context_free(ctx);
    Py_XDECREF(r.path);
    return out;
}
