/* The tables of the library as lists of dicts, and the definition of the module. */
#include "module.h"

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
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:N}", "name", m->name, "summary", m->summary, "map",
                         m->map, "similarity", m->similarity, "normalizer", m->normalizer, "target", m->target,
                         "compared", m->compared, "solver", m->solver, "published", m->published, "unlabeled",
                         PyBool_FromLong(m->unlabeled));
}

static PyObject *setting_row(int i)
{
    static const char *const types[] = {"integer", "real", "choice", "text"};
    const enhope_setting_info *s = enhope_setting_get(i);
    PyObject *methods = PyList_New(0);
    for (int m = 0; methods && m < enhope_method_count(); m++) {
        PyObject *name = s->methods >> m & 1 ? text_of(enhope_method_get(m)->name) : NULL;
        if (name) PyList_Append(methods, name);
        Py_XDECREF(name);
    }
    return Py_BuildValue("{s:s,s:s,s:s,s:d,s:d,s:z,s:s,s:s,s:N,s:N}", "name", s->name, "type", types[s->type],
                         "initial", s->initial, "minimum", s->minimum, "maximum", s->maximum, "choices", s->choices,
                         "applies", s->applies, "help", s->help, "methods", methods, "fixed",
                         PyBool_FromLong(s->fixed));
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

static PyObject *current_name(PyObject *module, PyObject *args)
{
    (void)module;
    const char *old;
    if (!PyArg_ParseTuple(args, "s", &old)) return NULL;
    return text_of(enhope_setting_current_name(old));
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
    {"train", train, METH_VARARGS,
     "Trains or compresses; returns (Model, stopped, exception or None, information, warnings, report)."},
    {"applicable", applicable, METH_O, "applicable(settings): names of the settings that have an effect with these."},
    {"load", load_model, METH_VARARGS, "load(path): a Model."},
    {"from_bytes", model_from_bytes, METH_VARARGS, "from_bytes(bytes): a Model, from the contents of a model file."},
    {"read", read_dataset, METH_VARARGS, "read(path, part, label, split, variables, limit, classes): a Dataset."},
    {"frame", make_frame, METH_VARARGS, "frame(n, columns): a Frame."},
    {"measure_map", measure_map, METH_VARARGS,
     "measure_map(rows, references, placement, k, sample, seed): a dict; rows and references are (X, n, Y, labels, "
     "classes)."},
    {"methods", methods, METH_NOARGS, "The table of methods."},
    {"current_name", current_name, METH_VARARGS,
     "current_name(old): the current name of a setting of an earlier version; '' if it was removed, None if unknown."},
    {"settings", settings, METH_NOARGS, "The table of settings."},
    {"recipes", recipes, METH_NOARGS, "The table of recipes."},
    {"devices", devices, METH_NOARGS, "Compute devices: rows (name, available, text)."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_enhope", "Bindings of libenhope.", -1, functions, NULL, NULL, NULL, NULL};

static PyTypeObject *add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type) return NULL;
    Py_INCREF(type); /* PyModule_AddObject takes one reference; the caller keeps the other */
    if (PyModule_AddObject(module, name, type) == 0) return (PyTypeObject *)type;
    Py_DecRef(type);
    Py_DecRef(type);
    return NULL;
}

PyMODINIT_FUNC PyInit__enhope(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (!register_fork_handler()) {
        Py_DecRef(module);
        return PyErr_NoMemory();
    }
    model_type = add_type(module, "Model", &model_spec);
    dataset_type = model_type ? add_type(module, "Dataset", &dataset_spec) : NULL;
    frame_type = dataset_type ? add_type(module, "Frame", &frame_spec) : NULL;
    if (!frame_type || PyModule_AddStringConstant(module, "version", enhope_version()) != 0) {
        Py_DecRef(module);
        return NULL;
    }
    return module;
}
