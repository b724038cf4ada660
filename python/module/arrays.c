/* Conversion of Python objects to arguments of the library, and of its errors to exceptions. */
#include "module.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Raises OSError, or the subclass for the system's error message at the end of the text. */
static void raise_system(const char *text)
{
    static const int known[] = {ENOENT, EACCES, EPERM, EISDIR, ENOTDIR, EEXIST, ENOSPC, EROFS, ENAMETOOLONG};
    PyObject *message = text_of(text), *error = NULL;
    const size_t length = strlen(text);
    for (size_t i = 0; message && !error && i < sizeof known / sizeof *known; i++) {
        const char *reason = strerror(known[i]);
        if (length < strlen(reason) || strcmp(text + length - strlen(reason), reason) != 0) continue;
        error = PyObject_CallFunction(PyExc_OSError, "iO", known[i], message);
        if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    }
    if (message && !error && !PyErr_Occurred()) PyErr_SetObject(PyExc_OSError, message);
    Py_XDECREF(error);
    Py_XDECREF(message);
}

PyObject *raise_error(enhope_context *ctx, enhope_status status)
{
    if (status == ENHOPE_ERROR_IO) {
        raise_system(enhope_error(ctx));
        return NULL;
    }
    PyObject *type = PyExc_ValueError;
    if (status == ENHOPE_ERROR_MEMORY) type = PyExc_MemoryError;
    if (status == ENHOPE_ERROR_COMPUTE) type = PyExc_RuntimeError;
    const char *text = enhope_error(ctx);
    const char *prefix = "";
    static const char *const ours[] = {"view: ", "the frame: "}; /* the caller knows them as X */
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strncmp(text, ours[i], strlen(ours[i])) != 0) continue;
        prefix = "X: ";
        text += strlen(ours[i]);
    }
    PyErr_Format(type, "%s%s", prefix, text);
    return NULL;
}

/* ---- contexts: one for each call, so that calls of several threads are independent ---- */

/* A forked process has no OpenMP threads and would wait for them forever, so it computes in one
 * thread. */
static int forked;

static void after_fork(void)
{
    forked = 1;
}

int is_forked(void)
{
    return forked;
}

int register_fork_handler(void)
{
    return pthread_atfork(NULL, NULL, after_fork) == 0;
}

/* placement: (device, precision, threads), or None for the defaults. NULL: an exception is set. */
enhope_context *open_context(PyObject *placement)
{
    enhope_context *ctx = enhope_context_create();
    if (!ctx) {
        PyErr_NoMemory();
        return NULL;
    }
    const char *device, *precision;
    int threads;
    if (placement == Py_None) {
        if (forked) enhope_context_set_threads(ctx, 1);
        return ctx;
    }
    if (PyTuple_Check(placement) && PyArg_ParseTuple(placement, "ssi", &device, &precision, &threads)) {
        enhope_status status = enhope_context_set_device(ctx, device);
        if (!status) status = enhope_context_set_precision(ctx, precision);
        if (!status) status = enhope_context_set_threads(ctx, forked ? 1 : threads);
        if (!status) return ctx;
        raise_error(ctx, status);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "placement: expected (device, precision, threads) or None");
    }
    enhope_context_free(ctx);
    return NULL;
}

/* ---- arrays ---- */

static const char *const types[TYPES] = {"<f4", "|u1", "<i4", "<i8", "<f8"};

static int64_t integer_of(PyObject *number)
{
    return number ? (int64_t)PyLong_AsLongLong(number) : -1;
}

int refuse(const char *name, const char *expected)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: expected %s", name, expected);
    return 0;
}

/* Reads the interface of an array in C order. wanted: the types, 1 << F4 | ... Objects of the dict
 * are borrowed. */
static int read_interface(PyObject *interface, const char *name, int wanted, int rank, int write, array *out)
{
    PyObject *typestr = PyDict_GetItemString(interface, "typestr"), *shape = PyDict_GetItemString(interface, "shape");
    PyObject *data = PyDict_GetItemString(interface, "data"), *strides = PyDict_GetItemString(interface, "strides");
    if (!typestr || !PyUnicode_Check(typestr) || !shape || !PyTuple_Check(shape) || !data || !PyTuple_Check(data))
        return refuse(name, "an array");
    if (strides && strides != Py_None) return refuse(name, "an array in C order");
    out->type = 0;
    while (out->type < TYPES && PyUnicode_CompareWithASCIIString(typestr, types[out->type]) != 0) out->type++;
    if (out->type == TYPES || !(1 << out->type & wanted)) return refuse(name, "another type, or another byte order");
    if (PyTuple_Size(shape) != rank || PyTuple_Size(data) != 2) return refuse(name, "an array of another rank");
    PyObject *readonly = PyTuple_GetItem(data, 1);
    if (write && PyObject_IsTrue(readonly)) return refuse(name, "a writable array");
    out->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    out->shape[1] = 1;
    for (int i = 0; i < rank; i++) {
        out->shape[i] = (Py_ssize_t)integer_of(PyTuple_GetItem(shape, i));
        if (out->shape[i] < 0) return refuse(name, "a shape");
    }
    return PyErr_Occurred() ? 0 : 1;
}

int read_array(PyObject *object, const char *name, int wanted, int rank, int write, array *out)
{
    PyObject *interface = PyObject_GetAttrString(object, "__array_interface__");
    if (!interface) {
        PyErr_Clear();
        return refuse(name, "an array");
    }
    const int read =
        PyDict_Check(interface) ? read_interface(interface, name, wanted, rank, write, out) : refuse(name, "an array");
    Py_DecRef(interface);
    return read;
}

/* The struct of numpy's protocol __array_struct__. */
typedef struct array_struct {
    int two, rank;
    char kind;
    int item_size, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} array_struct;

int read_matrix(PyObject *object, int wanted, int write, array *out)
{
    enum { C_ORDER = 0x1, ALIGNED = 0x100, NATIVE = 0x200, WRITABLE = 0x400 };
    const int flags = C_ORDER | ALIGNED | NATIVE | (write ? WRITABLE : 0);
    PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
    const array_struct *a = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    int type = TYPES;
    if (a && a->kind == 'f') type = a->item_size == 4 ? F4 : a->item_size == 8 ? F8 : TYPES;
    if (a && a->kind == 'u' && a->item_size == 1) type = U1;
    const int good = 1 << type & wanted && a->two == 2 && a->rank == 2 && (a->flags & flags) == flags;
    if (good) *out = (array){.data = a->data, .shape = {a->shape[0], a->shape[1]}, .type = type};
    Py_XDECREF(capsule); /* the array itself owns the data */
    PyErr_Clear();
    return good;
}

int output(PyObject *object, const char *name, int type, int rank, int64_t rows, int64_t columns, void *to)
{
    *(void **)to = NULL;
    if (object == Py_None) return 1;
    array a;
    if (!read_array(object, name, 1 << type, rank, 1, &a)) return 0;
    if (a.shape[0] != rows || a.shape[1] != columns) return refuse(name, "an array of another shape");
    *(void **)to = a.data;
    return 1;
}

/* ---- texts ---- */

/* Bytes that are not valid UTF-8 become surrogate escapes. */
PyObject *text_of(const char *text)
{
    if (!text) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

const char **texts_of(PyObject *list, const char *name, Py_ssize_t *count)
{
    if (!PyList_Check(list)) {
        refuse(name, "a list of bytes");
        return NULL;
    }
    *count = PyList_Size(list);
    const char **texts = PyMem_Calloc((size_t)*count + 1, sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        texts[i] = PyBytes_Check(item) ? PyBytes_AsString(item) : NULL;
        if (texts[i]) continue;
        PyMem_Free((void *)texts);
        refuse(name, "a list of bytes");
        return NULL;
    }
    return texts;
}

/* ---- the log ---- */

void append_line(enhope_log_level level, const char *line, void *user)
{
    lines *l = (lines *)user + level;
    const size_t length = strlen(line);
    char *grown = realloc(l->text, l->used + length + 2);
    if (!grown) return;
    memcpy(grown + l->used, line, length);
    memcpy(grown + l->used + length, "\n", 2);
    l->text = grown;
    l->used += length + 1;
}

PyObject *log_text(const lines *l)
{
    return text_of(l->text ? l->text : "");
}

void log_free(lines *log)
{
    for (int level = 0; level < LEVELS; level++) free(log[level].text);
}

/* ---- data: X is an array (n, H) of f4 or u1, or (row_start, column, value, H) ---- */

static int read_sparse(PyObject *X, int64_t n, samples *out)
{
    PyObject *start, *column, *value;
    long long H;
    array s, c, v;
    if (!PyArg_ParseTuple(X, "OOOL", &start, &column, &value, &H)) return 0;
    if (!read_array(start, "row_start", 1 << I8, 1, 0, &s) || !read_array(column, "column", 1 << I4, 1, 0, &c) ||
        !read_array(value, "value", 1 << F4, 1, 0, &v))
        return 0;
    *out = (samples){ENHOPE_CSR, n, H, v.data, s.data, c.data, NULL};
    if (n < 0 || s.shape[0] != n + 1) return refuse("row_start", "n + 1 numbers");
    if (out->row_start[n] > c.shape[0] || out->row_start[n] > v.shape[0])
        return refuse("row_start", "offsets within column and value");
    return 1;
}

int read_samples(PyObject *X, int64_t n, samples *out)
{
    if (PyTuple_Check(X)) return read_sparse(X, n, out);
    if (Py_TYPE(X) == frame_type) {
        const frame_object *frame = (frame_object *)X;
        *out = (samples){.kind = ENHOPE_F32, .n = n, .frame = frame->frame};
        return n == frame->n || refuse("X", "n rows");
    }
    array x;
    if (!read_array(X, "X", 1 << F4 | 1 << U1, 2, 0, &x)) return 0;
    if (n != x.shape[0]) return refuse("X", "n rows");
    const enhope_kind kind = x.type == U1 ? ENHOPE_U8 : ENHOPE_F32;
    *out = (samples){kind, x.shape[0], x.shape[1], x.data, NULL, NULL, NULL};
    return 1;
}

enhope_status dataset_of(enhope_context *ctx, const samples *x, const labels *y, const enhope_model *model,
                         enhope_dataset **out)
{
    const int32_t c = (int32_t)y->classes;
    if (x->frame) return enhope_dataset_from_frame(ctx, x->frame, model, y->code, c, y->name, out);
    if (x->kind == ENHOPE_U8) return enhope_dataset_view_u8(ctx, x->n, x->H, x->values, y->code, c, y->name, out);
    if (x->kind == ENHOPE_F32) return enhope_dataset_view_f32(ctx, x->n, x->H, x->values, y->code, c, y->name, out);
    return enhope_dataset_view_csr(ctx, x->n, x->H, x->row_start, x->column, x->values, y->code, c, y->name, out);
}
