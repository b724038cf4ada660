/* Training without the GIL. The progress function acquires it for the callback and to check for
 * Ctrl-C. */
#include "module.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* State of the progress function, which is called without the GIL in the thread of train(). */
typedef struct training {
    PyThreadState *thread;
    PyObject *callback; /* NULL: none */
    PyObject *error;    /* the exception that stopped training; NULL: none */
    double last_call;   /* time of the last call into Python */
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

/* Calls the callback with the GIL held. Returns nonzero to stop training: if the callback returns
 * true or an exception is raised. */
static int call_python(training *t, const enhope_progress *p)
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
    static const double interval = 0.05; /* seconds; responsive to Ctrl-C, and negligible cost */
    training *t = user;
    if (t->error) return 1; /* the library ignored the stop in the last step of one of several trainings */
    const double time = now();
    if (!(t->callback && p->epoch_done) && time - t->last_call < interval && time >= t->last_call) return 0;
    t->last_call = time;
    PyEval_RestoreThread(t->thread);
    const int stop = call_python(t, p);
    t->thread = PyEval_SaveThread();
    return stop;
}

/* list: bytes objects, alternately names and values. */
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
        raise_error(ctx, status);
        enhope_settings_free(settings);
        settings = NULL;
    }
    PyMem_Free((void *)texts);
    return settings;
}

PyObject *applicable(PyObject *module, PyObject *list)
{
    (void)module;
    enhope_context *ctx = open_context(Py_None);
    enhope_settings *settings = ctx ? make_settings(ctx, list) : NULL;
    PyObject *names = settings ? PyList_New(0) : NULL;
    for (int i = 0; names && i < enhope_setting_count(); i++) {
        const char *name = enhope_setting_get(i)->name;
        PyObject *text = enhope_settings_applies(settings, name) ? text_of(name) : NULL;
        if (text) PyList_Append(names, text);
        Py_XDECREF(text);
    }
    enhope_settings_free(settings);
    enhope_context_free(ctx);
    return names;
}

/* The arguments of train(). */
typedef struct request {
    samples x;
    labels y;
    const double *weight; /* of the samples; NULL: none */
    const char **input;   /* names; NULL: none */
    long long image_rows, image_columns;
    const enhope_model *from; /* model to continue from; NULL: none */
    enhope_settings *settings;
    int compress; /* whether `from` is compressed to `limits` */
    enhope_compress_options limits;
} request;

/* object: None, or a tuple (size, error, operations, bits). */
static int read_limits(PyObject *object, request *r)
{
    if (object == Py_None) return 1;
    if (!PyTuple_Check(object)) return refuse("limits", "a tuple or None");
    if (!r->from) return refuse("from", "the Model to compress");
    long long size, operations;
    int bits;
    if (!PyArg_ParseTuple(object, "LdLi", &size, &r->limits.error, &operations, &bits)) return 0;
    r->limits.size = size;
    r->limits.operations = operations;
    r->limits.bits = bits;
    r->compress = 1;
    return 1;
}

/* code: one number for each of n rows, or None. */
static int read_labels(PyObject *code, PyObject *classes, int64_t n, labels *y)
{
    array a;
    if (code == Py_None) return 1;
    if (!read_array(code, "labels", 1 << I4, 1, 0, &a)) return 0;
    if (a.shape[0] != n) return refuse("labels", "one label for each row");
    y->code = a.data;
    y->name = texts_of(classes, "classes", &y->classes);
    if (!y->name) return 0;
    return y->classes <= INT32_MAX || refuse("classes", "fewer than 2^31 names");
}

static int read_request(enhope_context *ctx, PyObject *args, request *r, PyObject **callback)
{
    PyObject *X, *code, *classes, *inputs, *settings, *placement, *from, *weights, *limits;
    long long n;
    array a;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OLOOOLLOOOOOO", &X, &n, &code, &classes, &inputs, &r->image_rows, &r->image_columns,
                          &settings, &placement, &from, callback, &weights, &limits) ||
        !read_samples(X, n, &r->x) || !read_labels(code, classes, n, &r->y))
        return 0;
    if (inputs != Py_None) {
        r->input = texts_of(inputs, "inputs", &count);
        if (!r->input) return 0;
        if (count != r->x.H) return refuse("inputs", "one name for each input");
    }
    if (weights != Py_None) {
        if (!read_array(weights, "weights", 1 << F8, 1, 0, &a)) return 0;
        if (a.shape[0] != n) return refuse("weights", "one weight for each row");
        r->weight = a.data;
    }
    if (from != Py_None && Py_TYPE(from) != model_type) return refuse("from", "a Model or None");
    if (from != Py_None) r->from = ((model_object *)from)->model;
    if (!read_limits(limits, r)) return 0;
    r->settings = make_settings(ctx, settings);
    return r->settings != NULL;
}

static enhope_status model_of(enhope_context *ctx, const request *r, const enhope_dataset *data, training *t,
                              enhope_compression *report, enhope_model **model)
{
    if (r->compress)
        return enhope_model_compress(ctx, r->from, data, r->settings, &r->limits, progress, t, report, model);
    if (r->from) return enhope_model_update(ctx, r->from, data, r->settings, progress, t, model);
    return enhope_train(ctx, data, r->settings, progress, t, model);
}

/* Called without the GIL. */
static enhope_status train_request(enhope_context *ctx, const request *r, training *t, enhope_compression *report,
                                   enhope_model **model)
{
    enhope_dataset *data = NULL;
    enhope_status status = dataset_of(ctx, &r->x, &r->y, r->from, &data);
    if (!status && r->image_rows) status = enhope_dataset_set_image(ctx, data, r->image_rows, r->image_columns);
    if (!status && r->input) status = enhope_dataset_set_input_names(ctx, data, r->input);
    if (!status && r->weight) status = enhope_dataset_set_weights(ctx, data, r->weight);
    if (!status) status = model_of(ctx, r, data, t, report, model);
    enhope_dataset_free(data);
    return status;
}

static PyObject *report_of(const request *r, const enhope_compression *c)
{
    if (!r->compress) Py_RETURN_NONE;
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "bytes_before", (long long)c->bytes_before,
                         "bytes", (long long)c->bytes, "errors_before", (long long)c->errors_before, "errors",
                         (long long)c->errors, "samples", (long long)c->samples, "weights_before",
                         (long long)c->weights_before, "weights", (long long)c->weights, "operations_before",
                         (long long)c->operations_before, "operations", (long long)c->operations, "inputs",
                         (long long)c->inputs);
}

/* train(X, n, labels, classes, inputs, image_rows, image_columns, settings, placement, from,
 * callback, weights, limits) -> (Model, stopped, exception or None, information, warnings,
 * report). With limits, `from` is compressed, and the report of it is a dict, else None.
 * Information and warnings are lines of the log. If an exception stopped training, both the model
 * and the exception are returned; a compression that stopped has no model, and raises it. */
PyObject *train(PyObject *module, PyObject *args)
{
    (void)module;
    request r = {0};
    PyObject *callback = NULL, *result = NULL, *placement = PyTuple_Size(args) > 8 ? PyTuple_GetItem(args, 8) : Py_None;
    enhope_context *ctx = open_context(placement);
    if (!ctx) return NULL;
    if (read_request(ctx, args, &r, &callback)) {
        training t = {.callback = callback == Py_None ? NULL : callback, .last_call = now()};
        lines log[LEVELS] = {{0}};
        enhope_model *model = NULL;
        enhope_compression report;
        enhope_context_set_log(ctx, append_line, log);
        t.thread = PyEval_SaveThread();
        const enhope_status status = train_request(ctx, &r, &t, &report, &model);
        PyEval_RestoreThread(t.thread);
        if (model) {
            PyObject *object = model_object_of(model);
            if (object)
                result = Py_BuildValue("(NOONNN)", object, status == ENHOPE_STOPPED ? Py_True : Py_False,
                                       t.error ? t.error : Py_None, log_text(&log[ENHOPE_LOG_INFO]),
                                       log_text(&log[ENHOPE_LOG_WARNING]), report_of(&r, &report));
        } else if (t.error) {
            PyErr_SetObject((PyObject *)Py_TYPE(t.error), t.error);
        } else if (status == ENHOPE_STOPPED) {
            PyErr_SetString(PyExc_RuntimeError, "the callback stopped the compression: there is no model");
        } else {
            raise_error(ctx, status);
        }
        Py_XDECREF(t.error);
        log_free(log);
    }
    enhope_settings_free(r.settings);
    PyMem_Free((void *)r.y.name);
    PyMem_Free((void *)r.input);
    enhope_context_free(ctx);
    return result;
}
