/* The extension module enhope._enhope: enhope.h for Python, and nothing more. What its files share.
 *
 * Built on the stable ABI of Python 3.9, so that one file serves all later ones. Arrays come and go by numpy's array
 * interface (a dict with address, type and shape): no header of numpy is needed, and what is not of the type and the
 * order that is asked for is refused here. Whatever computes runs without the GIL. A function that fails sets an exception
 * and returns NULL, or 0 where it tells whether it did well. */
#ifndef ENHOPE_MODULE_H
#define ENHOPE_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <enhope_advanced.h>

/* ---- arrays.c ---- */

PyObject *raise_sentence(enhope_context *ctx, enhope_status status);
/* Once, when the module is made; 0: no memory. */
int watch_forks(void);
/* where: (device, precision, threads), or None for what a new context has. */
enhope_context *open_context(PyObject *where);
/* Says that `name` is not what was expected; 0. */
int refuse(const char *name, const char *expected);

/* Of the numbers in arrays, as the interface names them: this machine is little-endian, as the library asks. */
enum { F4, U1, I4, I8, TYPES };

typedef struct array {
    void *data;
    Py_ssize_t shape[2];
    int type;
} array;

int read_array(PyObject *object, const char *name, int wanted, int rank, int write, array *out);
/* An array (rows, columns) that a call fills; NULL for None. */
int output(PyObject *object, const char *name, int type, int rank, int64_t rows, int64_t columns, void *to);
PyObject *text_of(const char *text);
/* Texts of a list of bytes objects, borrowed. PyMem_Free. */
const char **texts_of(PyObject *list, const char *name, Py_ssize_t *count);

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

/* X: an array (n, H) of f4 or u1, or (row_start, column, value, H). n: rows that are expected. */
int read_samples(PyObject *X, int64_t n, samples *out);
/* Needs no GIL: it checks every value. */
enhope_status view(enhope_context *ctx, const samples *x, const labels *y, enhope_dataset **out);

/* ---- model.c, train.c, dataset.c: the module's functions ---- */

typedef struct model_object {
    PyObject_HEAD enhope_model *model;
    enhope_model_info info;
} model_object;

extern PyTypeObject *model_type, *dataset_type;
extern PyType_Spec model_spec, dataset_spec;
/* Owns the model either way. */
PyObject *model_object_of(enhope_model *model);
/* tp_new of both: only this module makes these objects. */
PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
PyObject *load_model(PyObject *module, PyObject *args);
PyObject *model_from_bytes(PyObject *module, PyObject *args);
PyObject *train(PyObject *module, PyObject *args);
PyObject *applicable(PyObject *module, PyObject *list);
PyObject *read_dataset(PyObject *module, PyObject *args);

#endif
