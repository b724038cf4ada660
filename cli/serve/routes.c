/* The paths of the server: the Open Inference Protocol, metrics and the page. */
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

/* ---- workers ---- */

static serve_worker *take_worker(server *s)
{
    pthread_mutex_lock(&s->lock);
    serve_worker *w = s->idle;
    if (w) s->idle = w->next;
    pthread_mutex_unlock(&s->lock);
    if (w) return w;
    w = calloc(1, sizeof *w);
    if (w) w->ctx = enhope_context_create();
    if (w && w->ctx) {
        enhope_context_set_threads(w->ctx, 1); /* requests run beside each other */
        return w;
    }
    free(w);
    return NULL;
}

static void return_worker(server *s, serve_worker *w)
{
    pthread_mutex_lock(&s->lock);
    w->next = s->idle;
    s->idle = w;
    pthread_mutex_unlock(&s->lock);
}

void serve_workers_free(server *s)
{
    while (s->idle) {
        serve_worker *w = s->idle;
        s->idle = w->next;
        serve_request_free(&w->request);
        enhope_context_free(w->ctx);
        free(w->x);
        free(w->label);
        free(w->proba);
        free(w->y);
        free(w);
    }
}

/* The model, with one more use. */
static live_model *use_model(server *s)
{
    pthread_mutex_lock(&s->lock);
    live_model *live = s->live;
    atomic_fetch_add(&live->uses, 1);
    pthread_mutex_unlock(&s->lock);
    return live;
}

/* ---- answers ---- */

static const char json[] = "application/json";

static void answer_error(http_exchange *x, int code, const char *message)
{
    x->code = code;
    x->type = json;
    x->answer.used = 0;
    text_add(&x->answer, "{\"error\":");
    text_json(&x->answer, message);
    text_add(&x->answer, "}");
}

static void answer_json(http_exchange *x, const char *text)
{
    x->code = 200;
    x->type = json;
    text_add(&x->answer, text);
}

/* live NULL: the answer of the server. */
static void answer_ready(server *s, http_exchange *x, const live_model *live)
{
    const bool ready = !atomic_load(&s->draining);
    answer_json(x, "{");
    if (live) {
        text_add(&x->answer, "\"name\":");
        text_put(&x->answer, live->name.bytes, live->name.used);
        text_add(&x->answer, ",");
    }
    text_add(&x->answer, ready ? "\"ready\":true}" : "\"ready\":false}");
    if (!ready) x->code = 503;
}

static void answer_server(http_exchange *x)
{
    answer_json(x, "{\"name\":\"enhope\",\"version\":\"");
    text_add(&x->answer, enhope_version());
    text_add(&x->answer, "\",\"extensions\":[\"binary_tensor_data\"]}");
}

static void answer_infer(server *s, http_exchange *x, const live_model *live)
{
    serve_worker *w = take_worker(s);
    int64_t rows = 0;
    if (!w) {
        answer_error(x, 503, "out of memory; try again later");
        return;
    }
    x->type = json;
    x->code = serve_infer(live, w, x, &rows);
    if (x->code == 200)
        atomic_fetch_add_explicit(&s->metrics.rows, rows, memory_order_relaxed);
    else
        answer_error(x, x->code, w->error);
    return_worker(s, w);
}

/* ---- paths ---- */

typedef enum route {
    ROUTE_NONE,
    ROUTE_PAGE,
    ROUTE_METRICS,
    ROUTE_SERVER,
    ROUTE_LIVE,
    ROUTE_READY,
    ROUTE_MODEL,
    ROUTE_MODEL_READY,
    ROUTE_INFER,
    ROUTE_OTHER_MODEL,
    ROUTE_OTHER_VERSION
} route;

static route find_model_route(const server *s, const char *path)
{
    static const char version[] = "/versions/";
    const size_t name = strlen(s->options.name);
    if (strncmp(path, s->options.name, name) != 0 || (path[name] && path[name] != '/')) return ROUTE_OTHER_MODEL;
    path += name;
    if (!strncmp(path, version, sizeof version - 1)) {
        path += sizeof version - 1;
        if (path[0] != '1' || (path[1] && path[1] != '/')) return ROUTE_OTHER_VERSION;
        path++;
    }
    if (!*path) return ROUTE_MODEL;
    if (!strcmp(path, "/ready")) return ROUTE_MODEL_READY;
    return strcmp(path, "/infer") ? ROUTE_NONE : ROUTE_INFER;
}

static route find_route(const server *s, const char *path)
{
    static const struct {
        const char *path;
        route to;
    } table[] = {{"/", ROUTE_PAGE},      {"/metrics", ROUTE_METRICS},     {"/v2", ROUTE_SERVER},
                 {"/v2/", ROUTE_SERVER}, {"/v2/health/live", ROUTE_LIVE}, {"/v2/health/ready", ROUTE_READY}};
    static const char models[] = "/v2/models/";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(path, table[i].path)) return table[i].to;
    return strncmp(path, models, sizeof models - 1) ? ROUTE_NONE : find_model_route(s, path + sizeof models - 1);
}

static void answer_unknown(const server *s, http_exchange *x, route to)
{
    char message[512];
    if (to == ROUTE_OTHER_MODEL)
        snprintf(message, sizeof message, "the model is not here: expected '%.200s'", s->options.name);
    else if (to == ROUTE_OTHER_VERSION)
        snprintf(message, sizeof message, "the version is not here: expected 1");
    else
        snprintf(message, sizeof message, "the path is not known; GET /v2 and /v2/models/%.200s are", s->options.name);
    answer_error(x, 404, message);
}

/* Answers by the live model, which the exchange uses until it is done. */
static void answer_route(server *s, http_exchange *x, route to)
{
    live_model *live = use_model(s);
    x->kept = live;
    switch (to) {
    case ROUTE_PAGE:
        x->code = 200;
        x->type = "text/html; charset=utf-8";
        x->page = live->page.bytes;
        x->page_size = live->page.used;
        break;
    case ROUTE_METRICS:
        x->code = 200;
        x->type = "text/plain; version=0.0.4; charset=utf-8";
        metrics_put(&s->metrics, live, s->http->connections(s->connections), &x->answer);
        break;
    case ROUTE_SERVER: answer_server(x); break;
    case ROUTE_LIVE: answer_json(x, "{\"live\":true}"); break;
    case ROUTE_READY: answer_ready(s, x, NULL); break;
    case ROUTE_MODEL_READY: answer_ready(s, x, live); break;
    case ROUTE_MODEL:
        x->code = 200;
        x->type = json;
        x->page = live->metadata.bytes;
        x->page_size = live->metadata.used;
        break;
    case ROUTE_INFER: answer_infer(s, x, live); break;
    default: answer_unknown(s, x, to);
    }
}

static void respond(server *s, http_exchange *x, route to)
{
    const bool get = !strcmp(x->method, "GET") || !strcmp(x->method, "HEAD"), post = !strcmp(x->method, "POST");
    const bool known = to != ROUTE_NONE && to != ROUTE_OTHER_MODEL && to != ROUTE_OTHER_VERSION;
    x->close = atomic_load(&s->draining);
    if (x->too_large) {
        answer_error(x, 413, "the body is larger than --max-body allows; send fewer rows");
        x->close = true;
    } else if (x->no_memory) {
        answer_error(x, 503, "the bodies of all requests exceed the memory of the server; try again later");
    } else if (known && !(to == ROUTE_INFER ? post : get)) {
        x->allow = to == ROUTE_INFER ? "POST" : "GET, HEAD";
        answer_error(x, 405, to == ROUTE_INFER ? "expected the method POST" : "expected the method GET");
    } else {
        answer_route(s, x, to);
    }
    if (text_good(&x->answer)) return;
    x->answer = (http_text){0};
    x->answer_json = 0;
    x->code = 503;
    x->type = NULL;
}

void serve_respond(void *user, http_exchange *x)
{
    server *s = user;
    const route to = find_route(s, x->path);
    respond(s, x, to);
    metrics_count(&s->metrics, x->code, to == ROUTE_INFER, serve_now() - x->began);
}

void serve_done(void *user, http_exchange *x, bool sent)
{
    server *s = user;
    if (!sent) atomic_fetch_add_explicit(&s->metrics.lost, 1, memory_order_relaxed);
    access_log_write(&s->log, x, serve_now() - x->began, sent);
    live_release(x->kept);
    x->kept = NULL;
}
