/* Measures of a map, of embeddings by any method. */
#include "module.h"

#include <string.h>

/* Rows, their embedding and their labels. */
typedef struct points {
    samples x;
    labels y;
    const float *Y;
    int64_t h;
} points;

/* tuple: (X, n, Y, labels or None, classes). */
static int read_points(PyObject *tuple, points *p)
{
    PyObject *X, *Y_object, *code;
    long long n;
    int classes;
    array Y, label;
    *p = (points){0};
    if (!PyArg_ParseTuple(tuple, "OLOOi", &X, &n, &Y_object, &code, &classes) || !read_samples(X, n, &p->x) ||
        !read_array(Y_object, "Y", 1 << F4, 2, 0, &Y))
        return 0;
    if (Y.shape[0] != n) return refuse("Y", "one row for each row of X");
    p->Y = Y.data;
    p->h = Y.shape[1];
    if (code == Py_None) return 1;
    if (!read_array(code, "labels", 1 << I4, 1, 0, &label)) return 0;
    if (label.shape[0] != n) return refuse("labels", "one label for each row");
    p->y = (labels){.code = label.data, .classes = classes};
    return 1;
}

/* Called without the GIL. references NULL: rows are compared with each other. */
static enhope_status measure(enhope_context *ctx, const points *rows, const points *references,
                             enhope_map_measures *out)
{
    enhope_dataset *data = NULL, *other = NULL;
    enhope_status status = dataset_of(ctx, &rows->x, &rows->y, NULL, &data);
    if (!status && references) status = dataset_of(ctx, &references->x, &references->y, NULL, &other);
    if (!status) {
        const enhope_map of = {data, rows->Y}, to = {other, references ? references->Y : NULL};
        status = enhope_map_measure(ctx, NULL, rows->h, &of, references ? &to : NULL, out);
    }
    enhope_dataset_free(data);
    enhope_dataset_free(other);
    return status;
}

/* measure_map(rows, references or None, placement, k, sample, seed): a dict. */
PyObject *measure_map(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows_object, *references_object, *placement;
    long long sample, seed;
    int k;
    points rows, references;
    if (!PyArg_ParseTuple(args, "OOOiLL", &rows_object, &references_object, &placement, &k, &sample, &seed) ||
        !read_points(rows_object, &rows) ||
        (references_object != Py_None && !read_points(references_object, &references)))
        return NULL;
    if (references_object != Py_None && references.h != rows.h)
        return refuse("Y", "as many columns as that of X"), NULL;
    enhope_context *ctx = open_context(placement);
    if (!ctx) return NULL;
    enhope_map_measures m = {.k = k, .sample = sample, .seed = seed};
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = measure(ctx, &rows, references_object == Py_None ? NULL : &references, &m);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    return Py_BuildValue("{s:i,s:L,s:L,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "n_neighbors", (int)m.k, "n_rows",
                         (long long)m.rows, "n_references", (long long)m.references, "trustworthiness",
                         m.trustworthiness, "continuity", m.continuity, "preservation", m.preservation, "triplets",
                         m.triplets, "spearman", m.spearman, "accuracy_1", m.accuracy[0], "accuracy_5", m.accuracy[1],
                         "accuracy_15", m.accuracy[2]);
}
