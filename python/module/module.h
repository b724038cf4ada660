/* Declarations shared by the files of the extension module enhope._enhope, which binds enhope.h.
 *
 * The module uses the stable ABI of Python 3.9, so one binary works with all later versions.
 * Arrays are passed by numpy's array interface (a dict with address, type and shape), which needs
 * no headers of numpy. Arrays of a wrong type or order are rejected. The GIL is released during
 * computation. A function that fails sets an exception and returns NULL, or 0 if it returns int. */
#ifndef ENHOPE_MODULE_H
#define ENHOPE_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <enhope_advanced.h>

/* ---- arrays.c ---- */

PyObject *raise_error(enhope_context *ctx, enhope_status status);
/* Called once, when the module is created; 0: out of memory. */
int register_fork_handler(void);
/* Whether this process was forked. It has no OpenMP threads and computes in one thread. */
int is_forked(void);
/* placement: (device, precision, threads), or None for the defaults. */
enhope_context *open_context(PyObject *placement);
/* Raises TypeError for the argument `name` unless an exception is set; returns 0. */
int refuse(const char *name, const char *expected);

/* Element types of arrays. The library supports little-endian machines only. */
enum { F4, U1, I4, I8, F8, TYPES };

typedef struct array {
    void *data;
    Py_ssize_t shape[2];
    int type;
} array;

/* wanted: the accepted types, 1 << F4 | ...; write: whether the array must be writable. */
int read_array(PyObject *object, const char *name, int wanted, int rank, int write, array *out);
/* A matrix of f4, f8 or u1 in C order by the faster array interface, a capsule. 0: the object is of
 * another type or layout; no exception is set. */
int read_matrix(PyObject *object, int wanted, int write, array *out);
/* The data of a writable array (rows, columns), in *to; NULL for None. */
int output(PyObject *object, const char *name, int type, int rank, int64_t rows, int64_t columns, void *to);
PyObject *text_of(const char *text);
/* Pointers to the texts of a list of bytes objects, which own them; free with PyMem_Free. */
const char **texts_of(PyObject *list, const char *name, Py_ssize_t *count);

typedef struct samples {
    enhope_kind kind;
    int64_t n, H;
    const void *values;
    const int64_t *row_start;
    const int32_t *column;
    enhope_frame *frame; /* columns instead of values; NULL: none */
} samples;

typedef struct labels {
    const int32_t *code; /* (n); NULL: no labels */
    const char **name;   /* (classes) */
    Py_ssize_t classes;
} labels;

/* X: an array (n, H) of f4 or u1, a tuple (row_start, column, value, H), or a Frame. n: expected
 * rows. */
int read_samples(PyObject *X, int64_t n, samples *out);
/* Checks every value, so it is called without the GIL. model: encodes a frame as in its training;
 * NULL: the encoding is fitted. */
enhope_status dataset_of(enhope_context *ctx, const samples *x, const labels *y, const enhope_model *model,
                         enhope_dataset **out);

/* Log lines of one level, collected without the GIL: lines log[LEVELS], passed to append_line. */
typedef struct lines {
    char *text; /* joined by newlines; free */
    size_t used;
} lines;
enum { LEVELS = ENHOPE_LOG_WARNING + 1 };
void append_line(enhope_log_level level, const char *line, void *user);
/* The lines as a str. */
PyObject *log_text(const lines *l);
void log_free(lines *log);

/* ---- model.c, predict.c, export.c, page.c, train.c, dataset.c, frame.c, measure.c ---- */

typedef struct model_object {
    PyObject_HEAD enhope_model *model;
    enhope_model_info info;
    PyObject *predictor; /* of the last placement: a capsule; NULL: none yet */
    PyObject *placement;
    int forked; /* whether the predictor was created in a forked process */
} model_object;

typedef struct frame_object {
    PyObject_HEAD enhope_frame *frame;
    int64_t n;
} frame_object;

extern PyTypeObject *model_type, *dataset_type, *frame_type;
extern PyType_Spec model_spec, dataset_spec, frame_spec;
/* Takes ownership of the model, also on failure. */
PyObject *model_object_of(enhope_model *model);
/* tp_new of all types: only this module creates objects. */
PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
/* Methods of Model (predict.c). */
PyObject *model_embed(PyObject *self, PyObject *args);
PyObject *model_predict(PyObject *self, PyObject *args);
PyObject *model_row(PyObject *self, PyObject *args);
PyObject *load_model(PyObject *module, PyObject *args);
PyObject *model_from_bytes(PyObject *module, PyObject *args);
/* export(path, format, precision, name, encoded): bytes, or None if it wrote a file. */
PyObject *model_export(PyObject *self, PyObject *args);
/* page(X, n, labels, classes, placement, title, name, sample, detail): the page of enhope view. */
PyObject *model_page(PyObject *self, PyObject *args);
PyObject *train(PyObject *module, PyObject *args);
PyObject *applicable(PyObject *module, PyObject *list);
PyObject *read_dataset(PyObject *module, PyObject *args);
PyObject *make_frame(PyObject *module, PyObject *args);
PyObject *measure_map(PyObject *module, PyObject *args);

#endif
