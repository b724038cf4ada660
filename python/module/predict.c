/* Prediction by the type Model. A model keeps the predictor of its last placement.
 *
 * Calls hold a reference to the predictor, so that another thread may replace it. The GIL is
 * released if a call takes long enough to pay for it. */
#include "module.h"

/* Multiplications that take about as long as a second thread of Python needs to take over. */
static const double KEEP_GIL = 2e6;

static void predictor_free(PyObject *capsule)
{
    enhope_predictor_free(PyCapsule_GetPointer(capsule, NULL));
}

/* Whether a placement computes on the CPU, which has predictors. */
static int on_cpu(PyObject *placement)
{
    if (placement == Py_None) return 1;
    PyObject *device = PyTuple_Check(placement) ? PyTuple_GetItem(placement, 0) : NULL; /* borrowed */
    PyErr_Clear();
    return device && PyUnicode_Check(device) && PyUnicode_CompareWithASCIIString(device, "cpu") == 0;
}

static int is_current(const model_object *m, PyObject *placement)
{
    if (!m->predictor || m->forked != is_forked()) return 0;
    if (m->placement == placement) return 1;
    const int same = PyObject_RichCompareBool(m->placement, placement, Py_EQ);
    if (same < 0) PyErr_Clear();
    return same > 0;
}

/* A new reference to a capsule with the predictor for a placement on the CPU. */
static PyObject *predictor_of(model_object *m, PyObject *placement)
{
    if (is_current(m, placement)) {
        Py_IncRef(m->predictor);
        return m->predictor;
    }
    enhope_predictor *predictor = NULL;
    enhope_context *ctx = open_context(placement);
    if (!ctx) return NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = enhope_predictor_create(ctx, m->model, NULL, &predictor);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    enhope_context_free(ctx);
    if (status) return NULL;
    PyObject *capsule = PyCapsule_New(predictor, NULL, predictor_free);
    if (!capsule) {
        enhope_predictor_free(predictor);
        return NULL;
    }
    PyObject *before = m->predictor, *before_placement = m->placement;
    Py_IncRef(capsule);
    Py_IncRef(placement);
    m->predictor = capsule;
    m->placement = placement;
    m->forked = is_forked();
    Py_XDECREF(before);
    Py_XDECREF(before_placement);
    return capsule;
}

/* Predicts samples; returns the warnings. capsule: of a predictor; NULL: without. */
static PyObject *predict(const model_object *m, PyObject *capsule, PyObject *placement, const samples *x, int k,
                         const enhope_prediction *out)
{
    const enhope_predictor *predictor = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    enhope_context *ctx = open_context(placement);
    if (!ctx) return NULL;
    enhope_dataset *data = NULL;
    enhope_status status;
    lines log[LEVELS] = {{0}};
    enhope_context_set_log(ctx, append_line, log);
    Py_BEGIN_ALLOW_THREADS status = dataset_of(ctx, x, &(labels){0}, m->model, &data);
    if (!status && predictor) status = enhope_predictor_predict(ctx, predictor, data, out);
    if (!status && !predictor) status = enhope_model_predict(ctx, m->model, data, k, out);
    enhope_dataset_free(data);
    Py_END_ALLOW_THREADS PyObject *text = status ? raise_error(ctx, status) : log_text(&log[ENHOPE_LOG_WARNING]);
    log_free(log);
    enhope_context_free(ctx);
    return text;
}

/* The predictor counts neighbors as the model does, so another k needs a call without it. */
static PyObject *predict_samples(PyObject *self, PyObject *placement, const samples *x, int k,
                                 const enhope_prediction *out)
{
    model_object *m = (model_object *)self;
    PyObject *capsule = NULL;
    if (k == 0 && on_cpu(placement) && !(capsule = predictor_of(m, placement))) return NULL;
    PyObject *text = predict(m, capsule, placement, x, k, out);
    Py_XDECREF(capsule);
    return text;
}

/* embed(X, n, placement, Y): fills Y; returns the warnings. */
PyObject *model_embed(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X, *placement, *Y_object;
    long long n;
    float *Y;
    samples x;
    if (!PyArg_ParseTuple(args, "OLOO", &X, &n, &placement, &Y_object) || !read_samples(X, n, &x) ||
        !output(Y_object, "Y", F4, 2, n, m->info.outputs, &Y))
        return NULL;
    if (!Y) return refuse("Y", "an array"), NULL;
    return predict_samples(self, placement, &x, 0, &(enhope_prediction){.Y = Y});
}

/* predict(X, n, placement, k, label, proba, winner, distance, margin, Y, neighbor,
 * neighbor_distance): fills the arrays that are not None; returns the warnings. */
PyObject *model_predict(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    PyObject *X, *placement, *object[8];
    long long n;
    int k;
    samples x;
    enhope_prediction out = {0};
    if (!PyArg_ParseTuple(args, "OLOiOOOOOOOO", &X, &n, &placement, &k, &object[0], &object[1], &object[2], &object[3],
                          &object[4], &object[5], &object[6], &object[7]) ||
        !read_samples(X, n, &x))
        return NULL;
    const int64_t count = k ? k : m->info.neighbours;
    if (!output(object[0], "label", I4, 1, n, 1, &out.label) ||
        !output(object[1], "proba", F4, 2, n, m->info.classes, &out.proba) ||
        !output(object[2], "winner", I8, 1, n, 1, &out.winner) ||
        !output(object[3], "distance", F4, 1, n, 1, &out.distance) ||
        !output(object[4], "margin", F4, 1, n, 1, &out.margin) ||
        !output(object[5], "Y", F4, 2, n, m->info.outputs, &out.Y) ||
        !output(object[6], "neighbor", I8, 2, n, count, &out.neighbour) ||
        !output(object[7], "neighbor_distance", F4, 2, n, count, &out.neighbour_distance))
        return NULL;
    return predict_samples(self, placement, &x, k, &out);
}

/* ---- one row ---- */

/* What is computed for a row: proba, Y, or else the label. */
typedef struct row_outputs {
    float *proba, *Y;
    int32_t label;
} row_outputs;

/* The data of an output of one row; NULL for None. 0: it is not suitable. */
static int row_output(PyObject *object, int64_t columns, float **to)
{
    array a;
    *to = NULL;
    if (object == Py_None) return 1;
    if (!read_matrix(object, 1 << F4, 1, &a) || a.shape[0] != 1 || a.shape[1] != columns) return 0;
    *to = a.data;
    return 1;
}

static enhope_status predict_row(const enhope_predictor *p, enhope_kind kind, const void *x, row_outputs *out)
{
    const enhope_rows row = {.n = 1, .kind = kind, .values = x};
    if (out->proba) return enhope_predictor_proba(p, &row, out->proba);
    return out->Y ? enhope_predictor_embed(p, &row, out->Y) : enhope_predictor_label(p, &row, &out->label);
}

/* The same without the GIL if that takes long. A row of doubles is rounded to floats. */
static enhope_status predict_array(const model_object *m, const enhope_predictor *p, const array *x, row_outputs *out)
{
    const int64_t H = m->info.inputs;
    const int large = (double)m->info.parameters + (double)m->info.references * (double)m->info.outputs > KEEP_GIL;
    float *rounded = x->type == F8 ? PyMem_Malloc((size_t)H * sizeof *rounded) : NULL;
    if (x->type == F8 && !rounded) return ENHOPE_ERROR_MEMORY;
    for (int64_t j = 0; rounded && j < H; j++) rounded[j] = (float)((const double *)x->data)[j];
    const void *values = rounded ? rounded : x->data;
    const enhope_kind kind = x->type == U1 ? ENHOPE_U8 : ENHOPE_F32;
    enhope_status status;
    if (large) {
        Py_BEGIN_ALLOW_THREADS status = predict_row(p, kind, values, out);
        Py_END_ALLOW_THREADS
    } else {
        status = predict_row(p, kind, values, out);
    }
    PyMem_Free(rounded);
    return status;
}

/* row(X, placement, proba, Y): fills one of the arrays, or returns the class number if both are
 * None. Returns None if X is not one row of finite f4, f8 or u1, the device is not the CPU, or
 * probabilities may have to be exchanged because neighbors vote. The other methods then give the
 * result or the reason. */
PyObject *model_row(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    const enhope_model_info *info = &m->info;
    PyObject *object[4];
    array x;
    row_outputs out = {0};
    if (PyTuple_Size(args) != 4) return refuse("row", "X, placement, proba, Y"), NULL;
    for (int i = 0; i < 4; i++) object[i] = PyTuple_GetItem(args, i); /* borrowed */
    if (!read_matrix(object[0], 1 << F4 | 1 << F8 | 1 << U1, 0, &x) || x.shape[0] != 1 || x.shape[1] != info->inputs ||
        !on_cpu(object[1]) || !row_output(object[2], info->classes, &out.proba) ||
        !row_output(object[3], info->outputs, &out.Y) || (out.proba && info->votes))
        Py_RETURN_NONE;
    PyObject *capsule = predictor_of(m, object[1]);
    if (!capsule) return NULL;
    const enhope_status status = predict_array(m, PyCapsule_GetPointer(capsule, NULL), &x, &out);
    Py_DecRef(capsule);
    if (status) Py_RETURN_NONE;
    return PyLong_FromLong(out.label);
}
