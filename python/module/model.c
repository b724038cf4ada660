/* The type Model: a trained model. */
#include "module.h"

PyTypeObject *model_type;

PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "this type cannot be instantiated; use train, load or read only");
    return NULL;
}
static void model_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    model_object *m = (model_object *)self;
    Py_XDECREF(m->predictor); /* before the model, which it uses */
    Py_XDECREF(m->placement);
    enhope_model_free(m->model);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

PyObject *model_object_of(enhope_model *model)
{
    model_object *self = PyObject_New(model_object, model_type);
    if (!self) {
        enhope_model_free(model);
        return NULL;
    }
    self->model = model;
    self->predictor = self->placement = NULL;
    enhope_model_get_info(model, &self->info);
    return (PyObject *)self;
}

/* Ends a call without a result: raises the error, frees the context. */
static PyObject *close_call(enhope_context *ctx, enhope_status status)
{
    if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    Py_RETURN_NONE;
}

static PyObject *model_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    const enhope_model_info *i = &((model_object *)self)->info;
    return Py_BuildValue("{s:s,s:s,s:L,s:L,s:L,s:L,s:O,s:i,s:i,s:L,s:L,s:d,s:L,s:L,s:L,s:L,s:L,s:L}", "method",
                         i->method, "map", i->map, "inputs", (long long)i->inputs, "outputs", (long long)i->outputs,
                         "parameters", (long long)i->parameters, "references", (long long)i->references, "exemplars",
                         i->references_are_exemplars ? Py_True : Py_False, "classes", (int)i->classes, "n_neighbors",
                         (int)i->neighbours, "epochs", (long long)i->epochs, "best", (long long)i->best, "temperature",
                         i->temperature, "valid_n", (long long)i->valid_n, "valid_errors", (long long)i->valid_errors,
                         "train_n", (long long)i->train_n, "train_errors", (long long)i->train_errors, "image_rows",
                         (long long)i->image_rows, "image_columns", (long long)i->image_columns);
}

static PyObject *model_outputs(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong((long long)((model_object *)self)->info.outputs);
}

static PyObject *model_classes(PyObject *self, PyObject *unused)
{
    (void)unused;
    const model_object *m = (model_object *)self;
    PyObject *list = PyList_New(0);
    for (int32_t k = 0; list && k < m->info.classes; k++) {
        PyObject *name = text_of(enhope_model_class_name(m->model, k));
        if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *model_inputs(PyObject *self, PyObject *unused)
{
    (void)unused;
    const model_object *m = (model_object *)self;
    if (!enhope_model_input_name(m->model, 0)) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int64_t j = 0; list && j < m->info.inputs; j++) {
        PyObject *name = text_of(enhope_model_input_name(m->model, j));
        if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *categories_of(const enhope_column_info *c)
{
    PyObject *list = PyList_New(0);
    for (int32_t k = 0; list && k < c->categories; k++) {
        PyObject *text = text_of(c->category[k]);
        if (!text || PyList_Append(list, text) != 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *column_row(const enhope_column_info *c)
{
    PyObject *name = text_of(c->name), *categories = categories_of(c);
    if (name && categories)
        return Py_BuildValue("{s:N,s:s,s:d,s:d,s:N,s:O,s:O,s:O}", "name", name, "type", c->type, "fill", c->fill,
                             "offset", c->offset, "categories", categories, "other", c->other ? Py_True : Py_False,
                             "missing", c->missing ? Py_True : Py_False, "constant", c->constant ? Py_True : Py_False);
    Py_XDECREF(name);
    Py_XDECREF(categories);
    return NULL;
}

/* None if the model stores no encoding: its columns are its inputs. */
static PyObject *model_columns(PyObject *self, PyObject *unused)
{
    (void)unused;
    const enhope_model *model = ((model_object *)self)->model;
    const int64_t count = enhope_model_column_count(model);
    enhope_column_info c;
    int encoded = 0;
    for (int64_t j = 0; !encoded && j < count && enhope_model_column(model, j, &c); j++)
        encoded = c.fill == c.fill || c.constant || *c.type != 'n';
    if (!encoded) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int64_t j = 0; list && j < count && enhope_model_column(model, j, &c); j++) {
        PyObject *row = column_row(&c);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *model_setting(PyObject *self, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    return text_of(enhope_model_setting(((model_object *)self)->model, name));
}

static PyObject *model_note(PyObject *self, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    return text_of(enhope_model_note(((model_object *)self)->model, name));
}

/* Not thread-safe: call it before the model is shared between threads. */
static PyObject *model_set_note(PyObject *self, PyObject *args)
{
    const char *name, *text;
    if (!PyArg_ParseTuple(args, "ss", &name, &text)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    return ctx ? close_call(ctx, enhope_model_set_note(ctx, ((model_object *)self)->model, name, text)) : NULL;
}

/* Rows (epoch, seconds, loss, valid_error). */
static PyObject *model_history(PyObject *self, PyObject *unused)
{
    (void)unused;
    int64_t rows;
    const enhope_history *history = enhope_model_history(((model_object *)self)->model, &rows);
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < rows; i++) {
        const enhope_history *h = &history[i];
        PyObject *row = Py_BuildValue("(Lddd)", (long long)h->epoch, h->seconds, h->loss, h->valid_error);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* references(placement, Y, labels): fills the arrays that are not None. */
static PyObject *model_references(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *placement, *Y_object, *label_object;
    float *Y;
    int32_t *label;
    if (!PyArg_ParseTuple(args, "OOO", &placement, &Y_object, &label_object)) return NULL;
    if (!output(Y_object, "Y", F4, 2, m->info.references, m->info.outputs, &Y) ||
        !output(label_object, "labels", I4, 1, m->info.references, 1, &label))
        return NULL;
    enhope_context *ctx = open_context(placement);
    if (!ctx) return NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_references(ctx, m->model, Y, label);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    Py_RETURN_NONE;
}

/* exemplars(X): fills X. */
static PyObject *model_exemplars(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X_object;
    float *X;
    if (!PyArg_ParseTuple(args, "O", &X_object)) return NULL;
    if (!output(X_object, "X", F4, 2, m->info.references, m->info.inputs, &X)) return NULL;
    if (!X) return refuse("X", "an array"), NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    return close_call(ctx, enhope_model_exemplars(ctx, m->model, X));
}

/* quantize(X, n): a new Model with weights in int8. */
static PyObject *model_quantize(PyObject *self, PyObject *args)
{
    const enhope_model *from = ((model_object *)self)->model;
    PyObject *X;
    long long n;
    samples x;
    if (!PyArg_ParseTuple(args, "OL", &X, &n) || !read_samples(X, n, &x)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    enhope_dataset *data = NULL;
    enhope_model *model = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = dataset_of(ctx, &x, &(labels){0}, from, &data);
    if (!status) status = enhope_model_quantize(ctx, from, data, &model);
    enhope_dataset_free(data);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    return status ? NULL : model_object_of(model);
}

static PyObject *model_save(PyObject *self, PyObject *args)
{
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    enhope_status status = ENHOPE_OK;
    if (ctx) {
        const char *text = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS status = enhope_model_save(ctx, ((model_object *)self)->model, text);
        Py_END_ALLOW_THREADS
    }
    Py_DecRef(path);
    return ctx ? close_call(ctx, status) : NULL;
}

static PyObject *model_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    const enhope_model *model = ((model_object *)self)->model;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    size_t bytes = 0;
    PyObject *out = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_save_bytes(ctx, model, NULL, 0, &bytes);
    Py_END_ALLOW_THREADS if (!status) out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (out) {
        char *to = PyBytes_AsString(out);
        Py_BEGIN_ALLOW_THREADS status = enhope_model_save_bytes(ctx, model, to, bytes, &bytes);
        Py_END_ALLOW_THREADS
    }
    if (status) {
        Py_CLEAR(out);
        raise_error(ctx, status);
    }
    enhope_context_free(ctx);
    return out;
}

static PyMethodDef model_methods[] = {
    {"info", model_info, METH_NOARGS, "Method, sizes and results of training, as a dict."},
    {"outputs", model_outputs, METH_NOARGS, "Number of components."},
    {"classes", model_classes, METH_NOARGS, "Names of the classes, in the order of their numbers."},
    {"inputs", model_inputs, METH_NOARGS, "Names of the inputs; None if unknown."},
    {"columns", model_columns, METH_NOARGS, "Columns of the training data, as dicts; None if they are the inputs."},
    {"setting", model_setting, METH_VARARGS, "setting(name): its value as text; None if unknown."},
    {"note", model_note, METH_VARARGS, "note(name): its text; None if there is none."},
    {"set_note", model_set_note, METH_VARARGS, "set_note(name, text)"},
    {"history", model_history, METH_NOARGS, "Rows (epoch, seconds, loss, valid_error)."},
    {"references", model_references, METH_VARARGS, "references(placement, Y, labels)"},
    {"exemplars", model_exemplars, METH_VARARGS, "exemplars(X)"},
    {"quantize", model_quantize, METH_VARARGS, "quantize(X, n): a new Model with weights in int8."},
    {"embed", model_embed, METH_VARARGS, "embed(X, n, placement, Y)"},
    {"predict", model_predict, METH_VARARGS,
     "predict(X, n, placement, k, label, proba, winner, distance, margin, Y, neighbor, neighbor_distance)"},
    {"row", model_row, METH_VARARGS,
     "row(X, placement, proba, Y): fills the arrays for the one row of X, or returns its class number; None: not "
     "possible"},
    {"save", model_save, METH_VARARGS, "save(path)"},
    {"export", model_export, METH_VARARGS,
     "export(path, format, precision, name, encoded): writes the file; path None: its bytes."},
    {"page", model_page, METH_VARARGS,
     "page(X, n, labels, classes, placement, title, name, sample, detail): the page of enhope view, as bytes."},
    {"to_bytes", model_bytes, METH_NOARGS, "The contents of the file that save() writes."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot model_slots[] = {{Py_tp_new, no_new},
                                    {Py_tp_dealloc, model_free},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_doc, "A trained model."},
                                    {0, NULL}};
PyType_Spec model_spec = {"enhope._enhope.Model", sizeof(model_object), 0, Py_TPFLAGS_DEFAULT, model_slots};

PyObject *load_model(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    enhope_model *model = NULL;
    enhope_status status = ENHOPE_ERROR_MEMORY;
    if (ctx) {
        const char *text = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS status = enhope_model_load(ctx, text, &model);
        Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    }
    Py_DecRef(path);
    enhope_context_free(ctx);
    return status ? NULL : model_object_of(model);
}

PyObject *model_from_bytes(PyObject *module, PyObject *args)
{
    (void)module;
    const char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    enhope_model *model = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_load_bytes(ctx, bytes, (size_t)size, &model);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    return status ? NULL : model_object_of(model);
}
