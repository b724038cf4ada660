/* The type Dataset: data read from a file. */
#include "module.h"

#include <string.h>

PyTypeObject *dataset_type;

typedef struct dataset_object {
    PyObject_HEAD enhope_dataset *data;
    enhope_dataset_info info;
} dataset_object;

static void dataset_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    enhope_dataset_free(((dataset_object *)self)->data);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

static PyObject *dataset_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    static const char *const kinds[] = {"u8", "f32", "csr"};
    const enhope_dataset_info *i = &((dataset_object *)self)->info;
    return Py_BuildValue("{s:L,s:L,s:i,s:s,s:L,s:L,s:L}", "n", (long long)i->n, "inputs", (long long)i->inputs,
                         "classes", (int)i->classes, "kind", kinds[i->kind], "stored", (long long)i->stored,
                         "image_rows", (long long)i->image_rows, "image_columns", (long long)i->image_columns);
}

static PyObject *dataset_names(PyObject *self, PyObject *args)
{
    const dataset_object *d = (dataset_object *)self;
    int classes;
    if (!PyArg_ParseTuple(args, "p", &classes)) return NULL;
    const int64_t count = classes ? d->info.classes : d->info.inputs;
    if (!classes && !enhope_dataset_input_name(d->data, 0)) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *name =
            text_of(classes ? enhope_dataset_class_name(d->data, (int32_t)i) : enhope_dataset_input_name(d->data, i));
        if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* The address of "x", "label", "row_start", "column" or "value"; None if there is no such array. */
static PyObject *dataset_address(PyObject *self, PyObject *args)
{
    const dataset_object *d = (dataset_object *)self;
    const char *name;
    enhope_values v;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    enhope_dataset_get_values(d->data, &v);
    const void *address = NULL;
    if (!strcmp(name, "x")) address = d->info.kind == ENHOPE_U8 ? (const void *)v.u8 : (const void *)v.f32;
    if (!strcmp(name, "label")) address = enhope_dataset_labels(d->data);
    if (!strcmp(name, "row_start")) address = v.row_start;
    if (!strcmp(name, "column")) address = v.column;
    if (!strcmp(name, "value")) address = v.value;
    if (!address) Py_RETURN_NONE;
    return PyLong_FromVoidPtr((void *)(uintptr_t)address);
}

static PyMethodDef dataset_methods[] = {
    {"info", dataset_info, METH_NOARGS, "Sizes and type of the data, as a dict."},
    {"names", dataset_names, METH_VARARGS, "names(classes): names of the classes, or of the inputs (None if unknown)."},
    {"address", dataset_address, METH_VARARGS, "The address of an array, valid during the lifetime of this object."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot dataset_slots[] = {{Py_tp_new, no_new},
                                      {Py_tp_dealloc, dataset_free},
                                      {Py_tp_methods, dataset_methods},
                                      {Py_tp_doc, "A data set."},
                                      {0, NULL}};
PyType_Spec dataset_spec = {"enhope._enhope.Dataset", sizeof(dataset_object), 0, Py_TPFLAGS_DEFAULT, dataset_slots};

/* read(path, part, label, split, variables, limit, classes) */
PyObject *read_dataset(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path;
    enhope_source source = {0};
    long long limit;
    if (!PyArg_ParseTuple(args, "O&zzzzLz", PyUnicode_FSConverter, &path, &source.part, &source.label, &source.split,
                          &source.variables, &limit, &source.classes))
        return NULL;
    source.path = PyBytes_AsString(path);
    source.limit = limit;
    enhope_context *ctx = open_context(Py_None);
    dataset_object *self = NULL;
    if (ctx) {
        enhope_dataset *data = NULL;
        enhope_dataset_info info;
        enhope_status status;
        (void)enhope_context_set_memory(ctx, INT64_MAX); /* numpy needs the arrays in memory */
        Py_BEGIN_ALLOW_THREADS;
        status = enhope_dataset_read(ctx, &source, &data);
        if (!status) enhope_dataset_get_info(data, &info);
        Py_END_ALLOW_THREADS;
        if (status)
            raise_error(ctx, status);
        else if (!(self = PyObject_New(dataset_object, dataset_type)))
            enhope_dataset_free(data);
        if (self) self->data = data, self->info = info;
    }
    enhope_context_free(ctx);
    Py_DecRef(path);
    return (PyObject *)self;
}
