/* The type Frame: columns of different types, which a model encodes. */
#include "module.h"

#include <string.h>

PyTypeObject *frame_type;

static void frame_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    enhope_frame_free(((frame_object *)self)->frame);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

static PyType_Slot frame_slots[] = {
    {Py_tp_new, no_new}, {Py_tp_dealloc, frame_free}, {Py_tp_doc, "Columns of different types."}, {0, NULL}};
PyType_Spec frame_spec = {"enhope._enhope.Frame", sizeof(frame_object), 0, Py_TPFLAGS_DEFAULT, frame_slots};

/* A status of the library as the result of a function of this module. */
static int ok(enhope_context *ctx, enhope_status status)
{
    if (status) raise_error(ctx, status);
    return !status;
}

/* texts: a list of bytes; codes: an array of indices in it, -1 for missing values. */
static int add_texts(enhope_context *ctx, enhope_frame *frame, int64_t n, const char *name, PyObject *codes,
                     PyObject *texts)
{
    array code;
    Py_ssize_t count;
    if (!read_array(codes, "codes", 1 << I4, 1, 0, &code)) return 0;
    if (code.shape[0] != n) return refuse("codes", "one code for each row");
    const char **distinct = texts_of(texts, "texts", &count);
    const char **text = distinct ? PyMem_Calloc((size_t)n + 1, sizeof *text) : NULL;
    if (distinct && !text) PyErr_NoMemory();
    int valid = text != NULL;
    for (int64_t i = 0; valid && i < n; i++) {
        const int32_t k = ((const int32_t *)code.data)[i];
        if (k >= count) valid = refuse("codes", "indices of texts");
        if (valid && k >= 0) text[i] = distinct[k];
    }
    if (valid) valid = ok(ctx, enhope_frame_add_texts(ctx, frame, name, text));
    PyMem_Free((void *)text);
    PyMem_Free((void *)distinct);
    return valid;
}

/* names: a list of bytes, or None. */
static int add_matrix(enhope_context *ctx, enhope_frame *frame, int64_t n, PyObject *names, PyObject *values)
{
    array x;
    Py_ssize_t count = 0;
    const char **name = NULL;
    if (!read_array(values, "values", 1 << F8, 2, 0, &x)) return 0;
    if (x.shape[0] != n) return refuse("values", "n rows");
    if (names != Py_None && !(name = texts_of(names, "names", &count))) return 0;
    const int fits = !name || count == x.shape[1] || refuse("names", "one name for each column");
    const int added = fits && ok(ctx, enhope_frame_add_matrix(ctx, frame, x.shape[1], name, x.data));
    PyMem_Free((void *)name);
    return added;
}

/* column: (kind, name, values), ("text", name, codes, texts) or ("matrix", names, values). */
static int add_column(enhope_context *ctx, enhope_frame *frame, int64_t n, PyObject *column)
{
    const char *kind;
    PyObject *name_object, *values, *texts = NULL;
    array x;
    if (!PyTuple_Check(column) || !PyArg_ParseTuple(column, "sOO|O", &kind, &name_object, &values, &texts))
        return refuse("column", "a tuple of kind, name and values");
    if (!strcmp(kind, "matrix")) return add_matrix(ctx, frame, n, name_object, values);
    const char *name = PyBytes_Check(name_object) ? PyBytes_AsString(name_object) : NULL;
    if (!strcmp(kind, "text")) {
        if (!texts) return refuse("column", "texts");
        return add_texts(ctx, frame, n, name, values, texts);
    }
    if (!read_array(values, "values", 1 << F8, 1, 0, &x)) return 0;
    if (x.shape[0] != n) return refuse("values", "one value for each row");
    if (!strcmp(kind, "boolean")) return ok(ctx, enhope_frame_add_booleans(ctx, frame, name, x.data));
    if (!strcmp(kind, "date")) return ok(ctx, enhope_frame_add_dates(ctx, frame, name, x.data));
    return ok(ctx, enhope_frame_add_numbers(ctx, frame, name, x.data));
}

/* frame(n, columns) */
PyObject *make_frame(PyObject *module, PyObject *args)
{
    (void)module;
    long long n;
    PyObject *columns;
    enhope_frame *frame = NULL;
    frame_object *self = NULL;
    if (!PyArg_ParseTuple(args, "LO", &n, &columns)) return NULL;
    if (!PyList_Check(columns)) return refuse("columns", "a list"), NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    int made = ok(ctx, enhope_frame_create(ctx, n, &frame));
    for (Py_ssize_t j = 0; made && j < PyList_Size(columns); j++)
        made = add_column(ctx, frame, n, PyList_GetItem(columns, j));
    if (made) self = PyObject_New(frame_object, frame_type);
    if (self)
        self->frame = frame, self->n = n;
    else
        enhope_frame_free(frame);
    enhope_context_free(ctx);
    return (PyObject *)self;
}
