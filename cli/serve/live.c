/* The model of a server. Requests hold a use of it, so that a reload replaces it while the old one
 * still answers. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/serve.h"
#include "view/page.h"
#include "view/view.h"

/* ---- names and metadata ---- */

/* A text that an integer is written as. */
static bool parse_integer(const char *text, int64_t *out)
{
    char *end, again[32];
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno) return false;
    snprintf(again, sizeof again, "%lld", value);
    *out = value;
    return !strcmp(text, again);
}

static int describe_classes(live_model *live)
{
    const int32_t c = live->info.classes;
    live->class_name = cli_alloc("names", c, 1, sizeof *live->class_name);
    live->number = live->class_name ? cli_alloc("names", c, 1, sizeof *live->number) : NULL;
    if (!live->number) return CLI_FAILED;
    live->numbered = true;
    for (int32_t k = 0; k < c; k++) {
        const char *name = enhope_model_class_name(live->model, k);
        live->numbered = live->numbered && parse_integer(name, &live->number[k]);
        text_json(&live->class_name[k], name);
        if (!text_good(&live->class_name[k])) return cli_error("out of memory");
    }
    return 0;
}

static int describe_columns(live_model *live)
{
    enhope_column_info info;
    live->columns = enhope_model_column_count(live->model);
    live->plain = true;
    live->column = cli_alloc("columns", live->columns, 1, sizeof *live->column);
    if (!live->column) return CLI_FAILED;
    bool named = live->columns > 0;
    for (int64_t j = 0; j < live->columns && enhope_model_column(live->model, j, &info); j++) {
        live->column[j] = info.name;
        named = named && info.name;
        live->plain = live->plain && !strcmp(info.type, "number") && info.inputs == 1 && info.offset == 0 &&
                      !info.missing && !info.constant;
    }
    if (named) return 0;
    free(live->column);
    live->column = NULL;
    return 0;
}

static void put_tensor(http_text *to, const char *name, const char *type, int64_t columns)
{
    text_add(to, "{\"name\":");
    text_json(to, name);
    text_format(to, ",\"datatype\":\"%s\",\"shape\":[-1", type);
    if (columns) text_format(to, ",%lld", (long long)columns);
    text_add(to, "]");
}

static void put_inputs(const live_model *live, http_text *to)
{
    enhope_column_info info;
    if (!live->column) {
        put_tensor(to, "input", "FP32", live->info.inputs);
        text_add(to, "}");
    }
    for (int64_t j = 0; live->column && enhope_model_column(live->model, j, &info); j++) {
        const bool number = !strcmp(info.type, "number"), boolean = !strcmp(info.type, "boolean");
        text_add(to, j ? "," : "");
        put_tensor(to, info.name, number ? "FP64" : boolean ? "BOOL" : "BYTES", 0);
        text_add(to, "}");
    }
}

static void put_metadata(live_model *live, const char *name)
{
    http_text *to = &live->metadata;
    const int32_t c = live->info.classes;
    text_json(&live->name, name);
    text_add(to, "{\"name\":");
    text_put(to, live->name.bytes, live->name.used);
    text_add(to, ",\"versions\":[\"1\"],\"platform\":\"enhope_safetensors\",\"inputs\":[");
    put_inputs(live, to);
    text_add(to, "],\"outputs\":[");
    put_tensor(to, "label", live->numbered ? "INT64" : "BYTES", 0);
    text_add(to, "},");
    put_tensor(to, "probabilities", "FP32", c);
    text_add(to, ",\"parameters\":{\"labels\":[");
    for (int32_t k = 0; k < c; k++) {
        text_add(to, k ? "," : "");
        text_put(to, live->class_name[k].bytes, live->class_name[k].used);
    }
    text_add(to, "]}},");
    put_tensor(to, "embedding", "FP32", live->info.outputs);
    text_add(to, "}]}");
}

/* ---- opening ---- */

/* Loads the model. Requests run beside each other, so that each has one thread. */
static int load(live_model *live, const serve_options *options)
{
    const enhope_predictor_options o = {.precision = options->options->compute.precision};
    live->ctx = enhope_context_create();
    if (!live->ctx) return cli_error("out of memory");
    enhope_status status = enhope_model_load(live->ctx, options->model, &live->model);
    if (!status) status = enhope_context_set_threads(live->ctx, 1);
    if (!status) status = enhope_predictor_create(live->ctx, live->model, &o, &live->predictor);
    if (!status) status = enhope_context_set_threads(live->ctx, 0); /* of the page */
    if (status) return cli_fail(live->ctx, status);
    enhope_model_get_info(live->model, &live->info);
    if (live->info.classes) return 0;
    return cli_error("%s: the model was trained without labels, so it cannot classify", options->model);
}

live_model *live_open(const serve_options *options)
{
    struct timespec now;
    live_model *live = cli_alloc("the model", 1, 1, sizeof *live);
    if (!live) return NULL;
    atomic_init(&live->uses, 1);
    int code = load(live, options);
    if (!code) code = describe_classes(live);
    if (!code) code = describe_columns(live);
    if (!code) put_metadata(live, options->name);
    if (!code && !(text_good(&live->metadata) && text_good(&live->name))) code = cli_error("out of memory");
    clock_gettime(CLOCK_REALTIME, &now);
    live->loaded = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (!code) return live;
    live_release(live);
    return NULL;
}

void live_release(live_model *live)
{
    if (!live || atomic_fetch_sub(&live->uses, 1) > 1) return;
    for (int32_t k = 0; live->class_name && k < live->info.classes; k++) free(live->class_name[k].bytes);
    free(live->class_name);
    free(live->number);
    free((void *)live->column);
    free(live->name.bytes);
    free(live->metadata.bytes);
    free(live->page.bytes);
    enhope_predictor_free(live->predictor);
    enhope_model_free(live->model);
    enhope_context_free(live->ctx);
    free(live);
}

/* ---- predictions ---- */

int64_t live_max_rows(const live_model *live)
{
    enum { VALUES = 1 << 22 }; /* numbers of the inputs and of the outputs of a request */
    const int64_t out = live->info.classes + live->info.outputs, in = live->info.inputs;
    const int64_t rows = VALUES / (in > out ? in : out);
    return rows > 1 ? rows : 1;
}

bool worker_reserve(serve_worker *w, void **block, int64_t *capacity, int64_t count, size_t size)
{
    if (count <= *capacity) return true;
    void *grown = realloc(*block, (size_t)count * size);
    if (!grown) {
        snprintf(w->error, sizeof w->error, "out of memory");
        return false;
    }
    *block = grown;
    *capacity = count;
    return true;
}

/* Reserves the outputs of n rows. */
static bool reserve_outputs(const live_model *live, serve_worker *w, int64_t n)
{
    void *label = w->label, *proba = w->proba, *y = w->y;
    const bool good = worker_reserve(w, &label, &w->label_capacity, n, sizeof *w->label) &&
                      worker_reserve(w, &proba, &w->proba_capacity, n * live->info.classes, sizeof *w->proba) &&
                      worker_reserve(w, &y, &w->y_capacity, n * live->info.outputs, sizeof *w->y);
    w->label = label;
    w->proba = proba;
    w->y = y;
    return good;
}

static int fail(serve_worker *w, enhope_status status)
{
    static const char where[] = "the frame: "; /* the request has no frame */
    const char *message = enhope_error(w->ctx);
    if (!strncmp(message, where, sizeof where - 1)) message += sizeof where - 1;
    snprintf(w->error, sizeof w->error, "%s", message);
    return status == ENHOPE_ERROR_DATA || status == ENHOPE_ERROR_ARGUMENT ? 400
           : status == ENHOPE_ERROR_MEMORY                                ? 503
                                                                          : 500;
}

static int predict(const live_model *live, serve_worker *w, const enhope_dataset *data, int64_t n,
                   const bool wanted[SERVE_OUTPUTS])
{
    if (!reserve_outputs(live, w, n)) return 503;
    const enhope_prediction out = {.label = wanted[SERVE_LABEL] ? w->label : NULL,
                                   .proba = wanted[SERVE_PROBA] ? w->proba : NULL,
                                   .Y = wanted[SERVE_EMBED] ? w->y : NULL};
    const enhope_status status = enhope_predictor_predict(w->ctx, live->predictor, data, &out);
    return status ? fail(w, status) : 0;
}

int live_predict(const live_model *live, serve_worker *w, int64_t n, const bool wanted[SERVE_OUTPUTS])
{
    const enhope_rows rows = {.n = n, .kind = ENHOPE_F32, .values = w->x};
    enhope_dataset *data = NULL;
    enhope_status status;
    if (wanted[SERVE_LABEL] + wanted[SERVE_PROBA] + wanted[SERVE_EMBED] == 1) { /* without a data set */
        if (!reserve_outputs(live, w, n)) return 503;
        status = wanted[SERVE_LABEL]   ? enhope_predictor_label(live->predictor, &rows, w->label)
                 : wanted[SERVE_PROBA] ? enhope_predictor_proba(live->predictor, &rows, w->proba)
                                       : enhope_predictor_embed(live->predictor, &rows, w->y);
        if (!status) return 0; /* with a data set, a failure has a message */
    }
    status = enhope_dataset_view_f32(w->ctx, n, live->info.inputs, w->x, NULL, 0, NULL, &data);
    const int code = status ? fail(w, status) : predict(live, w, data, n, wanted);
    enhope_dataset_free(data);
    return code;
}

int live_predict_frame(const live_model *live, serve_worker *w, enhope_frame *frame, int64_t n,
                       const bool wanted[SERVE_OUTPUTS])
{
    enhope_dataset *data = NULL;
    const enhope_status status = enhope_dataset_from_frame(w->ctx, frame, live->model, NULL, 0, NULL, &data);
    const int code = status ? fail(w, status) : predict(live, w, data, n, wanted);
    enhope_dataset_free(data);
    return code;
}

/* ---- the page ---- */

/* A list of the paths. */
static void put_index(const live_model *live, const char *name, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>enhope serve</title></head>\n"
          "<body><h1>enhope serve</h1>\n<p>Model <b>",
          out);
    cli_put_xml(out, name);
    fputs("</b>: ", out);
    cli_put_xml(out, live->info.method);
    fprintf(out, ", %lld inputs, %d classes.</p>\n<ul>\n", (long long)live->info.inputs, live->info.classes);
    fputs("<li><a href=\"/v2\">/v2</a></li>\n<li><a href=\"/v2/health/ready\">/v2/health/ready</a></li>\n"
          "<li>/v2/models/",
          out);
    cli_put_xml(out, name);
    fputs("</li>\n<li>/v2/models/", out);
    cli_put_xml(out, name);
    fputs("/infer (POST)</li>\n<li><a href=\"/metrics\">/metrics</a></li>\n</ul>\n</body></html>\n", out);
}

static int put_view(const live_model *live, const serve_options *options, FILE *out)
{
    const cli_session session = {.ctx = live->ctx, .model = live->model, .model_info = live->info};
    cli_options of_page = *options->options;
    view v = {0};
    int code = 0;
    if (of_page.data) {
        code = view_read(&v, &session, &of_page);
    } else {
        enhope_dataset *data = NULL;
        const enhope_status status = enhope_model_exemplar_data(live->ctx, live->model, &data);
        if (status) return cli_fail(live->ctx, status);
        of_page.data = "the exemplars";
        view_take(&v, &session, data);
    }
    if (!code) code = view_gather(&v, &of_page);
    if (!code) code = view_put(&v, &of_page, out);
    view_free(&v);
    return code;
}

int live_make_page(live_model *live, const serve_options *options)
{
    const bool possible =
        !*cli_page_missing && live->info.outputs > 1 && (options->options->data || live->info.references_are_exemplars);
    size_t size = 0;
    FILE *out = open_memstream(&live->page.bytes, &size);
    if (!out) return cli_error("out of memory");
    int code = 0;
    if (possible)
        code = put_view(live, options, out);
    else
        put_index(live, options->name, out);
    if (fclose(out)) return cli_error("out of memory");
    live->page.used = live->page.capacity = size;
    return code;
}
