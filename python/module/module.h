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
/* placement: (device, precision, threads), or None for the defaults. */
enhope_context *open_context(PyObject *placement);
/* Raises TypeError for the argument `name` unless an exception is set; returns 0. */
int refuse(const char *name, const char *expected);

/* Element types of arrays. The library supports little-endian machines only. */
enum { F4, U1, I4, I8, TYPES };

typedef struct array {
    void *data;
    Py_ssize_t shape[2];
    int type;
} array;

/* wanted: the accepted types, 1 << F4 | ...; write: whether the array must be writable. */
int read_array(PyObject *object, const char *name, int wanted, int rank, int write, array *out);
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
} samples;

typedef struct labels {
    const int32_t *code; /* (n); NULL: no labels */
    const char **name;   /* (classes) */
    Py_ssize_t classes;
} labels;

/* X: an array (n, H) of f4 or u1, or a tuple (row_start, column, value, H). n: expected rows. */
int read_samples(PyObject *X, int64_t n, samples *out);
/* Checks every value, so it is called without the GIL. */
enhope_status view(enhope_context *ctx, const samples *x, const labels *y, enhope_dataset **out);

/* ---- model.c, train.c, dataset.c ---- */

typedef struct model_object {
    PyObject_HEAD enhope_model *model;
    enhope_model_info info;
} model_object;

extern PyTypeObject *model_type, *dataset_type;
extern PyType_Spec model_spec, dataset_spec;
/* Takes ownership of the model, also on failure. */
PyObject *model_object_of(enhope_model *model);
/* tp_new of both types: only this module creates objects. */
PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
PyObject *load_model(PyObject *module, PyObject *args);
PyObject *model_from_bytes(PyObject *module, PyObject *args);
PyObject *train(PyObject *module, PyObject *args);
PyObject *applicable(PyObject *module, PyObject *list);
PyObject *read_dataset(PyObject *module, PyObject *args);

#endif
