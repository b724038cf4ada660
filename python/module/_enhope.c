/* The extension module enhope._enhope: enhope.h for Python, and nothing more.
 *
 * Built on the stable ABI of Python 3.9, so that one file serves all later ones. Arrays come and go by numpy's array
 * interface (a dict with address, type and shape): no header of numpy is needed, and what is not of the type and the
 * order that is asked for is refused here. Whatever computes runs without the GIL. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <enhope.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

static PyObject *raise_sentence(enhope_context *ctx, enhope_status status)
{
    PyObject *type = PyExc_ValueError;
    if (status == ENHOPE_ERROR_IO) type = PyExc_OSError;
    if (status == ENHOPE_ERROR_MEMORY) type = PyExc_MemoryError;
    if (status == ENHOPE_ERROR_COMPUTE) type = PyExc_RuntimeError;
    const char *text = enhope_error(ctx);
    const char *where = "";
    if (!strncmp(text, "view: ", 6)) { /* the view is the caller's X */
        where = "X: ";
        text += 6;
    }
    PyErr_Format(type, "%s%s", where, text);
    return NULL;
}

/* ---- a context for each call: they cost nothing, and calls of several threads have nothing to share ---- */

/* where: (device, precision, threads), or None for what a new context has. NULL: an exception is set. */
static enhope_context *open_context(PyObject *where)
{
    enhope_context *ctx = enhope_context_create();
    if (!ctx) {
        PyErr_NoMemory();
        return NULL;
    }
    const char *device, *precision;
    int threads;
    if (where == Py_None) return ctx;
    if (PyTuple_Check(where) && PyArg_ParseTuple(where, "ssi", &device, &precision, &threads)) {
        enhope_status status = enhope_context_set_device(ctx, device);
        if (!status) status = enhope_context_set_precision(ctx, precision);
        if (!status) status = enhope_context_set_threads(ctx, threads);
        if (!status) return ctx;
        raise_sentence(ctx, status);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "where: expected (device, precision, threads) or None");
    }
    enhope_context_free(ctx);
    return NULL;
}

/* ---- arrays ---- */

/* Of the numbers in arrays, as the interface names them: this machine is little-endian, as the library asks. */
enum { F4, U1, I4, I8, TYPES };
static const char *const types[TYPES] = {"<f4", "|u1", "<i4", "<i8"};

typedef struct array {
    void *data;
    Py_ssize_t shape[2];
    int type;
} array;

static int64_t whole(PyObject *number)
{
    return number ? (int64_t)PyLong_AsLongLong(number) : -1;
}

static int refuse(const char *name, const char *expected)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: expected %s", name, expected);
    return 0;
}

/* What the interface of an array in C order says; wanted: the types, 1 << F4 | ... All objects are borrowed from the dict. */
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
    if (write && PyObject_IsTrue(readonly)) return refuse(name, "an array that can be written to");
    out->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    out->shape[1] = 1;
    for (int i = 0; i < rank; i++) {
        out->shape[i] = (Py_ssize_t)whole(PyTuple_GetItem(shape, i));
        if (out->shape[i] < 0) return refuse(name, "a shape");
    }
    return PyErr_Occurred() ? 0 : 1;
}

static int read_array(PyObject *object, const char *name, int wanted, int rank, int write, array *out)
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

/* An array of `count` numbers that a call fills, or NULL for None. */
static int output(PyObject *object, const char *name, int type, int rank, int64_t rows, int64_t columns, void *to)
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

/* UTF-8; bytes that are none come through as they are. */
static PyObject *text_of(const char *text)
{
    if (!text) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* Texts of a list of bytes objects, borrowed; NULL: an exception is set. PyMem_Free. */
static const char **texts_of(PyObject *list, const char *name, Py_ssize_t *count)
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

/* ---- data: X is an array (n, H) of f4 or u1, or (row_start, column, value, H) ---- */

typedef struct samples {
    enhope_kind kind;
    int64_t n, H;
    const void *values;
    const int64_t *row_start;
    const int32_t *column;
} samples;

typedef struct labels {
    const int32_t *code; /* (n) NULL: none */
    const char **name;   /* (classes) */
    Py_ssize_t classes;
} labels;

static int read_sparse(PyObject *X, int64_t n, samples *out)
{
    PyObject *start, *column, *value;
    long long H;
    array s, c, v;
    if (!PyArg_ParseTuple(X, "OOOL", &start, &column, &value, &H)) return 0;
    if (!read_array(start, "row_start", 1 << I8, 1, 0, &s) || !read_array(column, "column", 1 << I4, 1, 0, &c) ||
        !read_array(value, "value", 1 << F4, 1, 0, &v))
        return 0;
    *out = (samples){ENHOPE_CSR, n, H, v.data, s.data, c.data};
    if (n < 0 || s.shape[0] != n + 1) return refuse("row_start", "one number more than there are rows");
    if (out->row_start[n] > c.shape[0] || out->row_start[n] > v.shape[0])
        return refuse("row_start", "no more values than there are");
    return 1;
}

/* n: rows that are expected. */
static int read_samples(PyObject *X, int64_t n, samples *out)
{
    if (PyTuple_Check(X)) return read_sparse(X, n, out);
    array x;
    if (!read_array(X, "X", 1 << F4 | 1 << U1, 2, 0, &x)) return 0;
    if (n != x.shape[0]) return refuse("X", "as many rows as are told");
    *out = (samples){x.type == U1 ? ENHOPE_U8 : ENHOPE_F32, x.shape[0], x.shape[1], x.data, NULL, NULL};
    return 1;
}

/* Needs no GIL: it checks every value. */
static enhope_status view(enhope_context *ctx, const samples *x, const labels *y, enhope_dataset **out)
{
    const int32_t c = (int32_t)y->classes;
    if (x->kind == ENHOPE_U8) return enhope_dataset_view_u8(ctx, x->n, x->H, x->values, y->code, c, y->name, out);
    if (x->kind == ENHOPE_F32) return enhope_dataset_view_f32(ctx, x->n, x->H, x->values, y->code, c, y->name, out);
    return enhope_dataset_view_csr(ctx, x->n, x->H, x->row_start, x->column, x->values, y->code, c, y->name, out);
}

/* ---- Model ---- */

typedef struct model_object {
    PyObject_HEAD enhope_model *model;
    enhope_model_info info;
} model_object;

static PyTypeObject *model_type, *dataset_type;

/* Only this module makes these objects. */
static PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "made by training, loading and reading only");
    return NULL;
}

static void model_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    enhope_model_free(((model_object *)self)->model);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

/* Owns the model either way. */
static PyObject *model_object_of(enhope_model *model)
{
    model_object *self = PyObject_New(model_object, model_type);
    if (!self) {
        enhope_model_free(model);
        return NULL;
    }
    self->model = model;
    enhope_model_get_info(model, &self->info);
    return (PyObject *)self;
}

static PyObject *model_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    const enhope_model_info *i = &((model_object *)self)->info;
    return Py_BuildValue("{s:s,s:s,s:L,s:L,s:L,s:O,s:i,s:i,s:L,s:L,s:d,s:L,s:L,s:L,s:L,s:L,s:L}", "method", i->method,
                         "map", i->map, "inputs", (long long)i->inputs, "outputs", (long long)i->outputs, "references",
                         (long long)i->references, "exemplars", i->references_are_exemplars ? Py_True : Py_False,
                         "classes", (int)i->classes, "neighbours", (int)i->neighbours, "epochs", (long long)i->epochs,
                         "best", (long long)i->best, "temperature", i->temperature, "valid_n", (long long)i->valid_n,
                         "valid_errors", (long long)i->valid_errors, "train_n", (long long)i->train_n, "train_errors",
                         (long long)i->train_errors, "image_rows", (long long)i->image_rows, "image_columns",
                         (long long)i->image_columns);
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

static PyObject *model_setting(PyObject *self, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    return text_of(enhope_model_setting(((model_object *)self)->model, name));
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

/* references(where, Y, labels): fills what is not None. */
static PyObject *model_references(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *where, *Y_object, *label_object;
    float *Y;
    int32_t *label;
    if (!PyArg_ParseTuple(args, "OOO", &where, &Y_object, &label_object)) return NULL;
    if (!output(Y_object, "Y", F4, 2, m->info.references, m->info.outputs, &Y) ||
        !output(label_object, "labels", I4, 1, m->info.references, 1, &label))
        return NULL;
    enhope_context *ctx = open_context(where);
    if (!ctx) return NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_model_references(ctx, m->model, Y, label);
    Py_END_ALLOW_THREADS if (status) raise_sentence(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    Py_RETURN_NONE;
}

/* exemplars(X) */
static PyObject *model_exemplars(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X_object;
    float *X;
    if (!PyArg_ParseTuple(args, "O", &X_object)) return NULL;
    if (!output(X_object, "X", F4, 2, m->info.references, m->info.inputs, &X) || !X) return NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    const enhope_status status = enhope_model_exemplars(ctx, m->model, X);
    if (status) raise_sentence(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    Py_RETURN_NONE;
}

/* What a call that only asks the model leaves behind. */
static PyObject *close_call(enhope_context *ctx, enhope_status status)
{
    if (status) raise_sentence(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    Py_RETURN_NONE;
}

/* embed(X, n, where, Y) */
static PyObject *model_embed(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X, *where, *Y_object;
    long long n;
    float *Y;
    samples x;
    if (!PyArg_ParseTuple(args, "OLOO", &X, &n, &where, &Y_object) || !read_samples(X, n, &x) ||
        !output(Y_object, "Y", F4, 2, n, m->info.outputs, &Y))
        return NULL;
    if (!Y) return refuse("Y", "an array"), NULL;
    enhope_context *ctx = open_context(where);
    if (!ctx) return NULL;
    enhope_dataset *data = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = view(ctx, &x, &(labels){0}, &data);
    if (!status) status = enhope_model_embed(ctx, m->model, data, Y);
    enhope_dataset_free(data);
    Py_END_ALLOW_THREADS return close_call(ctx, status);
}

/* predict(X, n, where, k, label, proba, winner, distance, margin, Y, neighbour, neighbour_distance): fills what is not
 * None. */
static PyObject *model_predict(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X, *where, *object[8];
    long long n;
    int k;
    samples x;
    enhope_prediction out;
    if (!PyArg_ParseTuple(args, "OLOiOOOOOOOO", &X, &n, &where, &k, &object[0], &object[1], &object[2], &object[3],
                          &object[4], &object[5], &object[6], &object[7]) ||
        !read_samples(X, n, &x))
        return NULL;
    const int64_t near = k ? k : m->info.neighbours;
    if (!output(object[0], "label", I4, 1, n, 1, &out.label) ||
        !output(object[1], "proba", F4, 2, n, m->info.classes, &out.proba) ||
        !output(object[2], "winner", I8, 1, n, 1, &out.winner) ||
        !output(object[3], "distance", F4, 1, n, 1, &out.distance) ||
        !output(object[4], "margin", F4, 1, n, 1, &out.margin) ||
        !output(object[5], "Y", F4, 2, n, m->info.outputs, &out.Y) ||
        !output(object[6], "neighbour", I8, 2, n, near, &out.neighbour) ||
        !output(object[7], "neighbour_distance", F4, 2, n, near, &out.neighbour_distance))
        return NULL;
    enhope_context *ctx = open_context(where);
    if (!ctx) return NULL;
    enhope_dataset *data = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = view(ctx, &x, &(labels){0}, &data);
    if (!status) status = enhope_model_predict(ctx, m->model, data, k, &out);
    enhope_dataset_free(data);
    Py_END_ALLOW_THREADS return close_call(ctx, status);
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
    enhope_status status = enhope_model_save_bytes(ctx, model, NULL, 0, &bytes);
    if (!status) out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (out) status = enhope_model_save_bytes(ctx, model, PyBytes_AsString(out), bytes, &bytes);
    if (status) {
        Py_CLEAR(out);
        raise_sentence(ctx, status);
    }
    enhope_context_free(ctx);
    return out;
}

static PyMethodDef model_methods[] = {
    {"info", model_info, METH_NOARGS, "What is in it, as a dict."},
    {"classes", model_classes, METH_NOARGS, "Names of the classes, by number."},
    {"inputs", model_inputs, METH_NOARGS, "Names of the inputs; None: not known."},
    {"setting", model_setting, METH_VARARGS, "The text of a setting; None: unknown."},
    {"history", model_history, METH_NOARGS, "Rows (epoch, seconds, loss, valid_error)."},
    {"references", model_references, METH_VARARGS, "references(where, Y, labels)"},
    {"exemplars", model_exemplars, METH_VARARGS, "exemplars(X)"},
    {"embed", model_embed, METH_VARARGS, "embed(X, n, where, Y)"},
    {"predict", model_predict, METH_VARARGS,
     "predict(X, n, where, k, label, proba, winner, distance, margin, Y, neighbour, neighbour_distance)"},
    {"save", model_save, METH_VARARGS, "save(path)"},
    {"to_bytes", model_bytes, METH_NOARGS, "What save() would write."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot model_slots[] = {{Py_tp_new, no_new},
                                    {Py_tp_dealloc, model_free},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_doc, "A trained model."},
                                    {0, NULL}};
static PyType_Spec model_spec = {"enhope._enhope.Model", sizeof(model_object), 0, Py_TPFLAGS_DEFAULT, model_slots};

static PyObject *load_model(PyObject *module, PyObject *args)
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
        Py_END_ALLOW_THREADS if (status) raise_sentence(ctx, status);
    }
    Py_DecRef(path);
    enhope_context_free(ctx);
    return status ? NULL : model_object_of(model);
}

static PyObject *model_from_bytes(PyObject *module, PyObject *args)
{
    (void)module;
    const char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    enhope_model *model = NULL;
    const enhope_status status = enhope_model_load_bytes(ctx, bytes, (size_t)size, &model);
    if (status) raise_sentence(ctx, status);
    enhope_context_free(ctx);
    return status ? NULL : model_object_of(model);
}

/* ---- training ---- */

/* What the progress function has to know. It is called without the GIL, in the thread that called train(). */
typedef struct training {
    PyThreadState *thread;
    PyObject *callback; /* NULL: none */
    PyObject *error;    /* the exception that stopped training; NULL: none */
    double heard;       /* when Python was last asked */
} training;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PyObject *take_exception(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

/* True (not 0): the callback wants training to end, or an exception does. */
static int ask_python(training *t, const enhope_progress *p)
{
    int stop = 0;
    if (PyErr_CheckSignals() == 0 && t->callback) {
        PyObject *answer =
            PyObject_CallFunction(t->callback, "LLLLdddddO", (long long)p->epoch, (long long)p->epochs,
                                  (long long)p->batch, (long long)p->batches, p->loss, p->valid_error, p->best_error,
                                  p->seconds, p->seconds_left, p->epoch_done ? Py_True : Py_False);
        stop = answer ? PyObject_IsTrue(answer) : 0;
        Py_XDECREF(answer);
    }
    if (!PyErr_Occurred()) return stop;
    t->error = take_exception();
    return 1;
}

static int progress(const enhope_progress *p, void *user)
{
    static const double often = 0.05; /* seconds: soon enough for Ctrl-C and for a bar */
    training *t = user;
    const double time = now();
    if (!(t->callback && p->epoch_done) && time - t->heard < often && time >= t->heard) return 0;
    t->heard = time;
    PyEval_RestoreThread(t->thread);
    const int stop = ask_python(t, p);
    t->thread = PyEval_SaveThread();
    return stop;
}

/* Lines of the log, until the GIL is there again. */
typedef struct lines {
    char *text; /* joined by newlines; free */
    size_t used;
} lines;

static void keep_line(const char *line, void *user)
{
    lines *l = user;
    const size_t length = strlen(line);
    char *grown = realloc(l->text, l->used + length + 2);
    if (!grown) return;
    memcpy(grown + l->used, line, length);
    memcpy(grown + l->used + length, "\n", 2);
    l->text = grown;
    l->used += length + 1;
}

/* settings: a list of bytes, name and value in turn. */
static enhope_settings *make_settings(enhope_context *ctx, PyObject *list)
{
    Py_ssize_t count;
    const char **texts = texts_of(list, "settings", &count);
    if (!texts) return NULL;
    enhope_settings *settings = enhope_settings_create();
    if (!settings) PyErr_NoMemory();
    for (Py_ssize_t i = 0; settings && i + 1 < count; i += 2) {
        const enhope_status status = enhope_settings_set(ctx, settings, texts[i], texts[i + 1]);
        if (!status) continue;
        raise_sentence(ctx, status);
        enhope_settings_free(settings);
        settings = NULL;
    }
    PyMem_Free((void *)texts);
    return settings;
}

/* The parts of a call of train() that are read before and freed after it. */
typedef struct request {
    samples x;
    labels y;
    const char **input; /* names; NULL: none */
    long long image_rows, image_columns;
    const enhope_model *from; /* NULL: from nothing */
    enhope_settings *settings;
} request;

static int read_request(enhope_context *ctx, PyObject *args, request *r, PyObject **callback)
{
    PyObject *X, *code, *classes, *inputs, *settings, *where, *from;
    long long n;
    array a;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OLOOOLLOOOO", &X, &n, &code, &classes, &inputs, &r->image_rows, &r->image_columns,
                          &settings, &where, &from, callback) ||
        !read_samples(X, n, &r->x) || !read_array(code, "labels", 1 << I4, 1, 0, &a))
        return 0;
    if (a.shape[0] != n) return refuse("labels", "as many as there are rows");
    r->y.code = a.data;
    r->y.name = texts_of(classes, "classes", &r->y.classes);
    if (!r->y.name) return 0;
    if (r->y.classes > INT32_MAX) return refuse("classes", "fewer");
    if (inputs != Py_None) {
        r->input = texts_of(inputs, "inputs", &count);
        if (!r->input) return 0;
        if (count != r->x.H) return refuse("inputs", "as many names as there are inputs");
    }
    if (from != Py_None && Py_TYPE(from) != model_type) return refuse("from", "a Model or None");
    if (from != Py_None) r->from = ((model_object *)from)->model;
    r->settings = make_settings(ctx, settings);
    return r->settings != NULL;
}

/* Needs no GIL. */
static enhope_status train_request(enhope_context *ctx, const request *r, training *t, enhope_model **model)
{
    enhope_dataset *data = NULL;
    enhope_status status = view(ctx, &r->x, &r->y, &data);
    if (!status && r->image_rows) status = enhope_dataset_set_image(ctx, data, r->image_rows, r->image_columns);
    if (!status && r->input) status = enhope_dataset_set_input_names(ctx, data, r->input);
    if (!status)
        status = r->from ? enhope_model_update(ctx, r->from, data, r->settings, progress, t, model)
                         : enhope_train(ctx, data, r->settings, progress, t, model);
    enhope_dataset_free(data);
    return status;
}

/* train(X, n, labels, classes, inputs, image_rows, image_columns, settings, where, from, callback) -> (Model, stopped,
 * exception or None, log). A model that was stopped by an exception comes with it. */
static PyObject *train(PyObject *module, PyObject *args)
{
    (void)module;
    request r = {0};
    PyObject *callback = NULL, *result = NULL, *where = PyTuple_Size(args) > 8 ? PyTuple_GetItem(args, 8) : Py_None;
    enhope_context *ctx = open_context(where);
    if (!ctx) return NULL;
    if (read_request(ctx, args, &r, &callback)) {
        training t = {.callback = callback == Py_None ? NULL : callback, .heard = now()};
        lines log = {0};
        enhope_model *model = NULL;
        enhope_context_set_log(ctx, keep_line, &log);
        t.thread = PyEval_SaveThread();
        const enhope_status status = train_request(ctx, &r, &t, &model);
        PyEval_RestoreThread(t.thread);
        if (status == ENHOPE_OK || status == ENHOPE_STOPPED) {
            PyObject *object = model_object_of(model);
            PyObject *text = object ? text_of(log.text ? log.text : "") : NULL;
            if (text)
                result = Py_BuildValue("(OOOO)", object, status == ENHOPE_STOPPED ? Py_True : Py_False,
                                       t.error ? t.error : Py_None, text);
            Py_XDECREF(text);
            Py_XDECREF(object);
        } else if (t.error) {
            PyErr_SetObject((PyObject *)Py_TYPE(t.error), t.error);
        } else {
            raise_sentence(ctx, status);
        }
        Py_XDECREF(t.error);
        free(log.text);
    }
    enhope_settings_free(r.settings);
    PyMem_Free((void *)r.y.name);
    PyMem_Free((void *)r.input);
    enhope_context_free(ctx);
    return result;
}

/* ---- Dataset: what was read from a file ---- */

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

/* Address of one of the arrays: "x", "label", "row_start", "column", "value"; None: it is not there. */
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
    {"info", dataset_info, METH_NOARGS, "What is in it, as a dict."},
    {"names", dataset_names, METH_VARARGS, "names(classes): of the classes, or of the inputs (None: not known)."},
    {"address", dataset_address, METH_VARARGS, "Where an array lies, as long as this object does."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot dataset_slots[] = {{Py_tp_new, no_new},
                                      {Py_tp_dealloc, dataset_free},
                                      {Py_tp_methods, dataset_methods},
                                      {Py_tp_doc, "A data set."},
                                      {0, NULL}};
static PyType_Spec dataset_spec = {"enhope._enhope.Dataset", sizeof(dataset_object), 0, Py_TPFLAGS_DEFAULT,
                                   dataset_slots};

/* read(path, part, label, split, variables, inputs, limit) */
static PyObject *read_dataset(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path;
    enhope_source source = {0};
    long long inputs, limit;
    if (!PyArg_ParseTuple(args, "O&zzzzLL", PyUnicode_FSConverter, &path, &source.part, &source.label, &source.split,
                          &source.variables, &inputs, &limit))
        return NULL;
    source.path = PyBytes_AsString(path);
    source.inputs = inputs;
    source.limit = limit;
    enhope_context *ctx = open_context(Py_None);
    dataset_object *self = NULL;
    if (ctx) {
        enhope_dataset *data = NULL;
        enhope_dataset_info info;
        enhope_status status;
        Py_BEGIN_ALLOW_THREADS status = enhope_dataset_read(ctx, &source, &data);
        if (!status) enhope_dataset_get_info(data, &info);
        Py_END_ALLOW_THREADS if (status) raise_sentence(ctx, status);
        else if (!(self = PyObject_New(dataset_object, dataset_type))) enhope_dataset_free(data);
        if (self) self->data = data, self->info = info;
    }
    enhope_context_free(ctx);
    Py_DecRef(path);
    return (PyObject *)self;
}

/* ---- the tables ---- */

static PyObject *list_of(int count, PyObject *(*row)(int))
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = row(i);
        if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *method_row(int i)
{
    const enhope_method_info *m = enhope_method_get(i);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "name", m->name, "summary", m->summary, "map", m->map,
                         "similarity", m->similarity, "normaliser", m->normaliser, "target", m->target, "compared",
                         m->compared, "solver", m->solver);
}

static PyObject *setting_row(int i)
{
    static const char *const types[] = {"integer", "real", "choice", "text"};
    const enhope_setting_info *s = enhope_setting_get(i);
    return Py_BuildValue("{s:s,s:s,s:s,s:d,s:d,s:z,s:s,s:s}", "name", s->name, "type", types[s->type], "initial",
                         s->initial, "minimum", s->minimum, "maximum", s->maximum, "choices", s->choices, "applies",
                         s->applies, "help", s->help);
}

static PyObject *recipe_row(int i)
{
    const enhope_recipe_info *r = enhope_recipe_get(i);
    return Py_BuildValue("{s:s,s:s,s:s}", "name", r->name, "summary", r->summary, "settings", r->settings);
}

static PyObject *methods(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return list_of(enhope_method_count(), method_row);
}

static PyObject *settings(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return list_of(enhope_setting_count(), setting_row);
}

static PyObject *recipes(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return list_of(enhope_recipe_count(), recipe_row);
}

static PyObject *devices(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    enhope_context *ctx = open_context(Py_None);
    if (!ctx) return NULL;
    PyObject *list = PyList_New(0);
    const int count = enhope_device_count(ctx);
    for (int i = 0; list && i < count; i++) {
        enhope_device_info d;
        if (enhope_device_get(ctx, i, &d)) break;
        PyObject *item = Py_BuildValue("(sOs)", d.name, d.available ? Py_True : Py_False, d.text);
        if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    enhope_context_free(ctx);
    return list;
}

static PyMethodDef functions[] = {
    {"train", train, METH_VARARGS, "Trains, and gives (Model, stopped, exception or None, log)."},
    {"load", load_model, METH_VARARGS, "A Model from a file."},
    {"from_bytes", model_from_bytes, METH_VARARGS, "A Model from the bytes of one."},
    {"read", read_dataset, METH_VARARGS, "read(path, part, label, split, variables, inputs, limit): a Dataset."},
    {"methods", methods, METH_NOARGS, "The table of methods."},
    {"settings", settings, METH_NOARGS, "The table of settings."},
    {"recipes", recipes, METH_NOARGS, "The table of recipes."},
    {"devices", devices, METH_NOARGS, "Rows (name, available, text)."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_enhope", "libenhope for Python.", -1, functions, NULL, NULL, NULL, NULL};

static PyTypeObject *add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type) return NULL;
    Py_INCREF(type); /* one for the module, one for us */
    if (PyModule_AddObject(module, name, type) == 0) return (PyTypeObject *)type;
    Py_DecRef(type);
    Py_DecRef(type);
    return NULL;
}

PyMODINIT_FUNC PyInit__enhope(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    model_type = add_type(module, "Model", &model_spec);
    dataset_type = model_type ? add_type(module, "Dataset", &dataset_spec) : NULL;
    if (!dataset_type || PyModule_AddStringConstant(module, "version", enhope_version()) != 0) {
        Py_DecRef(module);
        return NULL;
    }
    return module;
}
