/* The plug-in libenhope_http.so: HTTP by libmicrohttpd. No other file includes it.
 *
 * A pool of threads waits for events (epoll); each thread answers the requests of its connections
 * itself, so that an answer needs no other thread. libmicrohttpd ends idle connections. Requests
 * that take too long, because their client sends or reads slowly, are ended by http_tick. */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "serve/http.h"

static const char json_length[] = "Inference-Header-Content-Length";

enum {
    CONNECTION_BYTES = 1 << 15 /* of libmicrohttpd for each connection: headers, and a window on the body */
};

typedef struct connection {
    http_exchange x;
    struct http_server *server;
    struct connection *before, *after; /* in the list of the server */
    int socket;
    _Atomic int64_t since; /* the request in progress began, or the last one ended */
    atomic_bool busy;      /* a request is in progress */
    bool responded;
} connection;

struct http_server {
    struct MHD_Daemon *daemon;
    const http_host *host;
    const http_config *config;
    pthread_mutex_t lock; /* of the list */
    connection *first;
    atomic_int open, active;
    atomic_size_t memory; /* bytes of all bodies */
    atomic_bool started;
    bool quiet; /* accepts no more connections */
    int listener;
    char reason[256]; /* why the start failed */
};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- connections ---- */

static void name_client(struct MHD_Connection *c, http_exchange *x)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *at = info ? info->client_addr : NULL;
    const void *address = NULL;
    if (at && at->sa_family == AF_INET) address = &((const struct sockaddr_in *)(const void *)at)->sin_addr;
    if (at && at->sa_family == AF_INET6) address = &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr;
    if (!address || !inet_ntop(at->sa_family, address, x->client, sizeof x->client)) strcpy(x->client, "-");
}

static connection *open_connection(http_server *s, struct MHD_Connection *c)
{
    connection *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    one->server = s;
    one->socket = info ? info->connect_fd : -1;
    atomic_store(&one->since, now());
    name_client(c, &one->x);
    pthread_mutex_lock(&s->lock);
    one->after = s->first;
    if (s->first) s->first->before = one;
    s->first = one;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&s->open, 1);
    return one;
}

static void close_connection(connection *one)
{
    http_server *s = one->server;
    pthread_mutex_lock(&s->lock);
    if (one->before)
        one->before->after = one->after;
    else
        s->first = one->after;
    if (one->after) one->after->before = one->before;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_sub(&s->memory, one->x.body.capacity);
    atomic_fetch_sub(&s->open, 1);
    free(one->x.body.bytes);
    free(one->x.answer.bytes);
    free(one);
}

static void notify_connection(void *user, struct MHD_Connection *c, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) *context = open_connection(user, c);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && *context) close_connection(*context);
}

/* ---- bodies ---- */

static void append_body(connection *one, const char *bytes, size_t size)
{
    http_server *s = one->server;
    http_text *body = &one->x.body;
    if (size > s->config->body - body->used) one->x.too_large = true;
    if (one->x.too_large || one->x.no_memory) return;
    if (size > body->capacity - body->used) {
        size_t capacity = body->capacity ? body->capacity : 1 << 14;
        while (capacity - body->used < size) capacity *= 2;
        const size_t more = capacity - body->capacity;
        const bool fits = atomic_fetch_add(&s->memory, more) + more <= s->config->memory;
        char *grown = fits ? realloc(body->bytes, capacity) : NULL;
        if (!grown) {
            atomic_fetch_sub(&s->memory, more);
            one->x.no_memory = true;
            return;
        }
        body->bytes = grown;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->used, bytes, size);
    body->used += size;
}

static void begin_request(connection *one, struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    http_exchange *x = &one->x;
    x->began = now();
    x->body.used = x->answer.used = 0;
    x->too_large = length && strtoull(length, NULL, 10) > one->server->config->body;
    x->no_memory = x->close = false;
    x->page = x->type = x->allow = NULL;
    x->answer_json = 0;
    x->json_length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, json_length);
    x->code = 0;
    x->kept = NULL;
    one->responded = false;
    atomic_store(&one->since, x->began);
    atomic_store(&one->busy, true);
    atomic_fetch_add(&one->server->active, 1);
}

/* Frees a text that is larger than usual. */
static void release_text(http_text *text)
{
    if (text->capacity <= HTTP_KEPT) return;
    free(text->bytes);
    *text = (http_text){0};
}

static void notify_completed(void *user, struct MHD_Connection *c, void **request, enum MHD_RequestTerminationCode code)
{
    http_server *s = user;
    connection *one = *request;
    (void)c;
    if (!one) return;
    if (one->responded) s->host->done(s->host->user, &one->x, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    const size_t before = one->x.body.capacity;
    release_text(&one->x.body);
    release_text(&one->x.answer);
    atomic_fetch_sub(&s->memory, before - one->x.body.capacity);
    atomic_store(&one->since, now());
    atomic_store(&one->busy, false);
    atomic_fetch_sub(&s->active, 1);
    *request = NULL;
}

/* ---- answers ---- */

static enum MHD_Result send_answer(connection *one, struct MHD_Connection *c)
{
    http_exchange *x = &one->x;
    const http_host *host = one->server->host;
    one->responded = true;
    host->respond(host->user, x);
    const char *bytes = x->page ? x->page : x->answer.bytes;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        x->page ? x->page_size : x->answer.used, (void *)(uintptr_t)(bytes ? bytes : ""), MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    if (x->type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, x->type);
    if (x->allow) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, x->allow);
    if (x->answer_json) {
        char length[24];
        snprintf(length, sizeof length, "%zu", x->answer_json);
        MHD_add_response_header(response, json_length, length);
    }
    if (x->close) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    const enum MHD_Result result = MHD_queue_response(c, (unsigned)x->code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *path, const char *method,
                              const char *version, const char *bytes, size_t *size, void **request)
{
    (void)user;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    connection *one = info ? info->socket_context : NULL;
    if (!one) return MHD_NO;
    if (!*request) {
        *request = one;
        one->x.method = method;
        one->x.path = path;
        one->x.version = version;
        begin_request(one, c);
        /* A client that waits for a permission to send gets the refusal instead. */
        const bool waits = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) != NULL;
        return one->x.too_large && waits ? send_answer(one, c) : MHD_YES;
    }
    if (*size == 0) return send_answer(one, c);
    append_body(one, bytes, *size);
    *size = 0;
    return MHD_YES;
}

/* ---- the server ---- */

static int hex_value(char digit)
{
    const char lower = (char)(digit | 0x20);
    return digit >= '0' && digit <= '9' ? digit - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Decodes a path in place. %00 stays, because it would end the text. */
static size_t decode_path(void *user, struct MHD_Connection *c, char *path)
{
    (void)user;
    (void)c;
    char *to = path;
    for (const char *at = path; *at;) {
        const int high = *at == '%' ? hex_value(at[1]) : -1, low = high >= 0 ? hex_value(at[2]) : -1;
        const bool escape = low >= 0 && high + low > 0;
        *to++ = escape ? (char)(high << 4 | low) : *at;
        at += escape ? 3 : 1;
    }
    *to = '\0';
    return (size_t)(to - path);
}

/* Keeps the reason why the start fails. */
static void keep_reason(void *user, const char *format, va_list args)
{
    http_server *s = user;
    pthread_mutex_lock(&s->lock);
    if (!s->started && !*s->reason) vsnprintf(s->reason, sizeof s->reason, format, args);
    pthread_mutex_unlock(&s->lock);
}

static http_server *start(const http_config *config, const http_host *host, char *message, size_t size)
{
    http_server *s = calloc(1, sizeof *s);
    snprintf(message, size, "out of memory");
    if (!s) return NULL;
    s->host = host;
    s->config = config;
    s->listener = config->listener;
    pthread_mutex_init(&s->lock, NULL);
    const struct MHD_OptionItem single[] = {{MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, config->threads, NULL},
                                          {MHD_OPTION_END, 0, NULL}};
    const unsigned limit = (unsigned)(config->connections > config->threads ? config->connections : config->threads);
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, s,
        MHD_OPTION_EXTERNAL_LOGGER, keep_reason, s, MHD_OPTION_LISTEN_SOCKET, config->listener,
        MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)config->timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, notify_connection,
        s, MHD_OPTION_NOTIFY_COMPLETED, notify_completed, s, MHD_OPTION_UNESCAPE_CALLBACK, decode_path, s,
        MHD_OPTION_ARRAY, config->threads > 1 ? pool : single, MHD_OPTION_END);
    atomic_store(&s->started, s->daemon != NULL);
    if (s->daemon) return s;
    snprintf(message, size, "%s", *s->reason ? s->reason : "libmicrohttpd cannot start");
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

/* A request may take the time limit. Without one, the connection is idle, for which libmicrohttpd
 * has the limit, or sends its header byte by byte. */
static void tick(http_server *s)
{
    const int64_t limit = (int64_t)s->config->timeout * 1000000000, at = now();
    pthread_mutex_lock(&s->lock);
    for (connection *one = s->first; one; one = one->after) {
        const int64_t age = at - atomic_load(&one->since);
        if (age > (atomic_load(&one->busy) ? limit : 2 * limit)) shutdown(one->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->lock);
}

static int count_open(http_server *s)
{
    return atomic_load(&s->open);
}

static int count_active(http_server *s)
{
    return atomic_load(&s->active);
}

/* The socket stays open until no thread uses it. */
static void quiesce(http_server *s)
{
    if (s->quiet) return;
    s->quiet = true;
    MHD_quiesce_daemon(s->daemon);
    shutdown(s->listener, SHUT_RDWR); /* refuses connections that no thread would accept */
}

static void stop(http_server *s)
{
    quiesce(s);
    MHD_stop_daemon(s->daemon);
    close(s->listener);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

__attribute__((visibility("default"))) const http_functions *http_plugin_open(size_t exchange, size_t functions)
{
    static const http_functions own = {start, tick, count_open, count_active, quiesce, stop};
    return exchange == sizeof(http_exchange) && functions == sizeof(http_functions) ? &own : NULL;
}
