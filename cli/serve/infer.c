/* Inference: from the tensors of a request to rows of inputs, and from predictions to the tensors
 * of the answer. A model takes one tensor of all inputs, or one tensor for each column of a
 * table. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

/* Stores the message of a bad request; returns its code. */
static int refuse(serve_worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(serve_worker *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->error, sizeof w->error, format, args);
    va_end(args);
    return 400;
}

/* ---- checks ---- */

static const char *shape_text(const serve_tensor *t, char *buffer, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < t->rank && at < size; i++)
        at += (size_t)snprintf(buffer + at, size - at, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
    return buffer;
}

/* The number of elements that the shape has; -1: more than any body can have. */
static int64_t shape_size(const serve_tensor *t)
{
    int64_t size = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i] && size > (int64_t)CLI_INTEGER_MAX / t->shape[i]) return -1;
        size *= t->shape[i];
    }
    return size;
}

/* Checks that a tensor is complete and has the data of its shape. */
static int check_shape(serve_worker *w, const serve_tensor *t)
{
    char shape[256] = "";
    if (!t->name) return refuse(w, "an input has no name");
    if (!t->datatype || !t->rank)
        return refuse(w, "input '%.60s' has no %s", t->name, t->datatype ? "shape" : "datatype");
    if (!t->given) return refuse(w, "input '%.60s' has no data", t->name);
    shape_text(t, shape, sizeof shape);
    if (shape_size(t) != t->count)
        return refuse(w, "input '%.60s' has %lld values: expected those of its shape [%s]", t->name,
                      (long long)t->count, shape);
    const bool nested = t->depth > 1;
    if (nested && (t->depth != t->rank || t->inner != t->shape[t->rank - 1]))
        return refuse(w, "input '%.60s': the nested data does not have the shape [%s]", t->name, shape);
    return 0;
}

/* Checks the values of a tensor against its data type. */
static int check_values(serve_worker *w, const serve_tensor *t)
{
    const serve_datatype *type = serve_datatype_find(t->datatype);
    if (!type)
        return refuse(w,
                      "input '%.60s': the datatype '%.20s' is not known; use FP32, FP64, INT64, UINT8, BOOL or BYTES",
                      t->name, t->datatype);
    const bool whole = type->form != SERVE_REAL, text = type->form == SERVE_STRING;
    if (t->kind != SERVE_EMPTY && text != (t->kind == SERVE_TEXTS))
        return refuse(w, "input '%.60s' has the datatype %s, but its data are %s", t->name, type->name,
                      t->kind == SERVE_TEXTS ? "strings" : "numbers");
    if (text) return 0;
    const double *x = w->request.number + t->first;
    for (int64_t i = 0; i < t->count; i++) {
        const bool inside = x[i] >= type->minimum && x[i] <= type->maximum && (!whole || x[i] == floor(x[i]));
        if (inside || isnan(x[i])) continue;
        return refuse(w, "input '%.60s': value %lld is %g: expected %s from %g to %g (%s)", t->name, (long long)i + 1,
                      x[i], whole ? "a whole number" : "a number", type->minimum, type->maximum, type->name);
    }
    return 0;
}

static int check_rows(const live_model *live, serve_worker *w, int64_t n)
{
    const int64_t max_rows = live_max_rows(live);
    if (n < 1) return refuse(w, "there are no rows");
    if (n <= max_rows) return 0;
    refuse(w, "the request has %lld rows: expected at most %lld; send several requests", (long long)n,
           (long long)max_rows);
    return 413;
}

/* ---- one tensor of all inputs ---- */

static int infer_matrix(const live_model *live, serve_worker *w, int64_t *n)
{
    const serve_tensor *t = &w->request.tensor[0];
    const int64_t H = live->info.inputs;
    char shape[256] = "";
    shape_text(t, shape, sizeof shape);
    if (t->kind == SERVE_TEXTS) return refuse(w, "input '%.60s' has strings: the model needs numbers", t->name);
    if (t->nulls) return refuse(w, "input '%.60s' contains null: the model needs numbers", t->name);
    if (t->rank < 2 || t->shape[0] * H != t->count)
        return refuse(w, "input '%.60s' has the shape [%s]: expected [n, %lld]", t->name, shape, (long long)H);
    *n = t->shape[0];
    const int code = check_rows(live, w, *n);
    if (code) return code;
    void *block = w->x;
    if (!worker_reserve(w, &block, &w->x_capacity, t->count, sizeof *w->x)) return 503;
    w->x = block;
    const double *x = w->request.number + t->first;
    for (int64_t i = 0; i < t->count; i++) {
        w->x[i] = (float)x[i];
        if (!isfinite(w->x[i]))
            return refuse(w, "input '%.60s': value %lld is %g: expected a number from %g to %g", t->name,
                          (long long)i + 1, x[i], -(double)FLT_MAX, (double)FLT_MAX);
    }
    return live_predict(live, w, *n, w->request.wanted);
}

/* ---- one tensor for each column ---- */

static bool is_column(const live_model *live, const char *name, int64_t usual)
{
    for (int64_t j = 0; live->column && j < live->columns; j++)
        if (!strcmp(live->column[(usual + j) % live->columns], name)) return true;
    return false;
}

static int check_columns(const live_model *live, serve_worker *w, int64_t *n)
{
    const serve_request *r = &w->request;
    *n = r->tensor[0].shape[0];
    for (int64_t j = 0; j < r->tensors; j++) {
        const serve_tensor *t = &r->tensor[j];
        char shape[256] = "";
        shape_text(t, shape, sizeof shape);
        if (!is_column(live, t->name, j)) return refuse(w, "input '%.60s' is not a column of the model", t->name);
        if (t->rank > 2 || (t->rank == 2 && t->shape[1] != 1))
            return refuse(w, "input '%.60s' has the shape [%s]: expected [n] or [n, 1]", t->name, shape);
        if (t->shape[0] != *n)
            return refuse(w, "input '%.60s' has %lld rows: expected %lld, as the first input", t->name,
                          (long long)t->shape[0], (long long)*n);
        for (int64_t i = 0; i < j; i++)
            if (!strcmp(r->tensor[i].name, t->name)) return refuse(w, "input '%.60s' occurs twice", t->name);
    }
    return check_rows(live, w, *n);
}

static enhope_status add_column(serve_worker *w, enhope_frame *frame, const serve_tensor *t)
{
    const serve_request *r = &w->request;
    if (t->kind == SERVE_TEXTS) return enhope_frame_add_texts(w->ctx, frame, t->name, r->text + t->first);
    if (t->kind == SERVE_BOOLEANS || !strcmp(t->datatype, "BOOL"))
        return enhope_frame_add_booleans(w->ctx, frame, t->name, r->number + t->first);
    return enhope_frame_add_numbers(w->ctx, frame, t->name, r->number + t->first);
}

static int infer_columns(const live_model *live, serve_worker *w, int64_t *n)
{
    enhope_frame *frame = NULL;
    int code = check_columns(live, w, n);
    if (code) return code;
    enhope_status status = enhope_frame_create(w->ctx, *n, &frame);
    for (int64_t j = 0; j < w->request.tensors && !status; j++) status = add_column(w, frame, &w->request.tensor[j]);
    if (status) {
        code = status == ENHOPE_ERROR_MEMORY ? 503 : 400;
        snprintf(w->error, sizeof w->error, "%s", enhope_error(w->ctx));
    }
    if (!code) code = live_predict_frame(live, w, frame, *n, w->request.wanted);
    enhope_frame_free(frame);
    return code;
}

/* ---- the answer ---- */

/* Bytes of an output as binary data. */
static int64_t binary_size(const live_model *live, const serve_worker *w, serve_output output, int64_t n)
{
    int64_t size = 0;
    if (output == SERVE_PROBA) return n * live->info.classes * (int64_t)sizeof *w->proba;
    if (output == SERVE_EMBED) return n * live->info.outputs * (int64_t)sizeof *w->y;
    if (live->numbered) return n * (int64_t)sizeof *live->number;
    for (int64_t i = 0; i < n; i++) size += 4 + (int64_t)strlen(enhope_model_class_name(live->model, w->label[i]));
    return size;
}

static void put_labels(const live_model *live, const int32_t *label, int64_t n, http_text *to)
{
    for (int64_t i = 0; i < n; i++) {
        if (i) text_put(to, ",", 1);
        if (live->numbered)
            text_integer(to, live->number[label[i]]);
        else
            text_put(to, live->class_name[label[i]].bytes, live->class_name[label[i]].used);
    }
}

static void put_reals(const float *x, int64_t n, http_text *to)
{
    for (int64_t i = 0; i < n; i++) {
        if (i) text_put(to, ",", 1);
        text_real(to, x[i]);
    }
}

/* The JSON of an output, with its data unless that is binary. */
static void put_output(const live_model *live, const serve_worker *w, serve_output output, int64_t n, http_text *to)
{
    const char *type = output != SERVE_LABEL ? "FP32" : live->numbered ? "INT64" : "BYTES";
    const int64_t c = live->info.classes, h = live->info.outputs;
    text_format(to, "{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":[%lld", serve_output_name[output], type,
                (long long)n);
    if (output != SERVE_LABEL) text_format(to, ",%lld", (long long)(output == SERVE_PROBA ? c : h));
    if (w->request.binary[output]) {
        text_format(to, "],\"parameters\":{\"binary_data_size\":%lld}}", (long long)binary_size(live, w, output, n));
        return;
    }
    text_add(to, "],\"data\":[");
    switch (output) {
    case SERVE_LABEL: put_labels(live, w->label, n, to); break;
    case SERVE_PROBA: put_reals(w->proba, n * c, to); break;
    case SERVE_EMBED: put_reals(w->y, n * h, to); break;
    }
    text_add(to, "]}");
}

static void put_binary_reals(const float *x, int64_t n, http_text *to)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        serve_put_little_endian(to, bits, sizeof bits);
    }
}

static void put_binary_labels(const live_model *live, const int32_t *label, int64_t n, http_text *to)
{
    for (int64_t i = 0; i < n; i++) {
        if (live->numbered) {
            serve_put_little_endian(to, (uint64_t)live->number[label[i]], sizeof *live->number);
            continue;
        }
        const char *name = enhope_model_class_name(live->model, label[i]);
        serve_put_little_endian(to, strlen(name), 4);
        text_add(to, name);
    }
}

static void put_answer(const live_model *live, const serve_worker *w, int64_t n, http_exchange *x)
{
    const serve_request *r = &w->request;
    http_text *to = &x->answer;
    bool first = true, binary = false;
    text_add(to, "{\"model_name\":");
    text_put(to, live->name.bytes, live->name.used);
    text_add(to, ",\"model_version\":\"1\"");
    if (r->id) {
        text_add(to, ",\"id\":");
        text_json(to, r->id);
    }
    text_add(to, ",\"outputs\":[");
    for (int i = 0; i < SERVE_OUTPUTS; i++) {
        if (!r->wanted[i]) continue;
        text_add(to, first ? "" : ",");
        put_output(live, w, (serve_output)i, n, to);
        first = false;
        binary = binary || r->binary[i];
    }
    text_add(to, "]}");
    if (!binary) return;
    x->type = "application/octet-stream";
    x->answer_json = to->used;
    if (r->wanted[SERVE_LABEL] && r->binary[SERVE_LABEL]) put_binary_labels(live, w->label, n, to);
    if (r->wanted[SERVE_PROBA] && r->binary[SERVE_PROBA]) put_binary_reals(w->proba, n * live->info.classes, to);
    if (r->wanted[SERVE_EMBED] && r->binary[SERVE_EMBED]) put_binary_reals(w->y, n * live->info.outputs, to);
}

int serve_infer(const live_model *live, serve_worker *w, http_exchange *x, int64_t *rows)
{
    const serve_request *r = &w->request;
    int64_t n = 0;
    int code = serve_request_parse(&w->request, x, w->error);
    if (!code && r->tensors == 0) code = refuse(w, "the request has no inputs");
    for (int64_t j = 0; j < r->tensors && !code; j++) {
        code = check_shape(w, &r->tensor[j]);
        if (!code) code = check_values(w, &r->tensor[j]);
    }
    const bool matrix = !code && r->tensors == 1 && !is_column(live, r->tensor[0].name, 0);
    if (!code && !matrix && !live->column)
        code = refuse(w, "the request has %lld inputs: expected one of shape [n, %lld]", (long long)r->tensors,
                      (long long)live->info.inputs);
    else if (matrix && !live->plain)
        code = refuse(w, "input '%.60s' is not a column of the model: send one input for each of its %lld columns",
                      r->tensor[0].name, (long long)live->columns);
    else if (!code)
        code = matrix ? infer_matrix(live, w, &n) : infer_columns(live, w, &n);
    if (code) return code;
    put_answer(live, w, n, x);
    *rows = n;
    return 200;
}
