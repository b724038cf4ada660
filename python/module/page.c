/* The page of enhope view, made by the code of the command. Its messages become exceptions. */
#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/page.h"
#include "view/view.h"

const cli_program cli_self = {.name = "enhope"};

/* The last message of the code of the command, which prints it. Threads may make pages at once. */
static _Thread_local char message[1024];

void cli_print_message(const char *prefix, const char *format, va_list args)
{
    (void)prefix;
    vsnprintf(message, sizeof message, format, args);
}

/* The arguments of page(). */
typedef struct request {
    samples x;
    labels y;
    const char *name; /* of the model */
    cli_options options;
} request;

static int read_request(PyObject *args, request *r, PyObject **placement)
{
    PyObject *X, *code, *classes;
    long long n, sample, detail;
    array a;
    if (!PyArg_ParseTuple(args, "OLOOOzsLL", &X, &n, &code, &classes, placement, &r->options.picture.title, &r->name,
                          &sample, &detail) ||
        !read_samples(X, n, &r->x))
        return 0;
    r->options.data = "X";
    r->options.positional[0] = r->name;
    r->options.page.sample = sample;
    r->options.page.detail = detail;
    r->options.page.bare = detail == 0;
    if (code == Py_None) return 1;
    if (!read_array(code, "labels", 1 << I4, 1, 0, &a)) return 0;
    if (a.shape[0] != n) return refuse("labels", "one label for each row");
    r->y.code = a.data;
    r->y.name = texts_of(classes, "classes", &r->y.classes);
    if (!r->y.name) return 0;
    return r->y.classes <= INT32_MAX || refuse("classes", "fewer than 2^31 names");
}

/* The data set of the request, with the shape of the images that trained the model. Called without
 * the GIL, as put_page is. */
static enhope_status read_data(enhope_context *ctx, const model_object *m, const request *r, enhope_dataset **data)
{
    enhope_status status = dataset_of(ctx, &r->x, &r->y, m->model, data);
    if (!status && m->info.image_rows && m->info.inputs == m->info.image_rows * m->info.image_columns)
        status = enhope_dataset_set_image(ctx, *data, m->info.image_rows, m->info.image_columns);
    if (status) enhope_dataset_free(*data);
    return status;
}

/* Writes the page into memory, which the caller frees. Frees the data. Returns 0, or an exit code
 * after a message. */
static int put_page(enhope_context *ctx, const model_object *m, const request *r, enhope_dataset *data, char **text,
                    size_t *size)
{
    const cli_session session = {.ctx = ctx, .model = m->model, .model_info = m->info};
    view v = {0};
    view_take(&v, &session, data);
    FILE *out = open_memstream(text, size);
    int code = out ? view_gather(&v, &r->options) : cli_error("out of memory");
    if (!code) code = view_put(&v, &r->options, out);
    if (out && fclose(out) && !code) code = cli_error("out of memory");
    view_free(&v);
    return code;
}

static PyObject *make_page(enhope_context *ctx, const model_object *m, const request *r)
{
    static const char memory[] = "out of memory";
    enhope_dataset *data = NULL;
    char *text = NULL;
    size_t size = 0;
    int code = 0;
    PyObject *page = NULL;
    enhope_status status;
    Py_BEGIN_ALLOW_THREADS status = read_data(ctx, m, r, &data);
    if (!status) code = put_page(ctx, m, r, data, &text, &size);
    Py_END_ALLOW_THREADS if (status) raise_error(ctx, status);
    if (code)
        PyErr_SetString(strncmp(message, memory, sizeof memory - 1) ? PyExc_ValueError : PyExc_MemoryError, message);
    if (!status && !code) page = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
    free(text);
    return page;
}

PyObject *model_page(PyObject *self, PyObject *args)
{
    const model_object *m = (model_object *)self;
    request r = {0};
    PyObject *placement = NULL, *page = NULL;
    if (*cli_page_missing) return PyErr_SetString(PyExc_RuntimeError, cli_page_missing), NULL;
    if (m->info.outputs < 2)
        return PyErr_SetString(PyExc_ValueError, "the embedding has 1 component: expected at least 2; fit with "
                                                 "n_components=2"),
               NULL;
    if (read_request(args, &r, &placement)) {
        enhope_context *ctx = open_context(placement);
        if (ctx) page = make_page(ctx, m, &r);
        enhope_context_free(ctx);
    }
    PyMem_Free((void *)r.y.name);
    return page;
}
