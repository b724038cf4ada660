/* The interface between enhope serve and the plug-in for HTTP (http_microhttpd.c). The
 * plug-in owns connections and bytes; the host answers requests that are complete. */
#ifndef ENHOPE_SERVE_HTTP_H
#define ENHOPE_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows. bytes is malloc'ed and not terminated. */
typedef struct http_text {
    char *bytes;
    size_t used, capacity;
} http_text;

enum {
    HTTP_CLIENT = 48,
    HTTP_KEPT = 1 << 16 /* bytes of a text; a larger one is freed after the request */
};

/* A request and its answer. The texts are kept for the next request of the connection. */
typedef struct http_exchange {
    const char *method, *path, *version; /* path: decoded, without the query */
    const char *json_length;             /* header Inference-Header-Content-Length; NULL: there is none */
    char client[HTTP_CLIENT];            /* address */
    int64_t began;                       /* nanoseconds of a monotonic clock: the header is complete */
    http_text body;
    bool too_large; /* the body exceeds the limit and is not stored */
    bool no_memory; /* the bodies of all connections exceed their limit: it is not stored */
    /* The answer: */
    int code;
    const char *type;  /* content type, static */
    const char *allow; /* methods of a path, static; NULL: none */
    http_text answer;
    size_t answer_json; /* bytes of the answer before binary data, which a header has; 0: no header */
    const char *page;   /* (page_size) the answer is this text instead, which is valid until `done` */
    size_t page_size;
    bool close; /* the connection ends after the answer */
    void *kept; /* for the host */
} http_exchange;

typedef struct http_host {
    void *user;
    /* Fills the answer. Called by any thread. */
    void (*respond)(void *user, http_exchange *x);
    /* The answer is sent, or the connection is lost. Called once after each `respond`. */
    void (*done)(void *user, http_exchange *x, bool sent);
} http_host;

typedef struct http_config {
    int listener; /* a listening socket, which the plug-in owns after a successful start */
    int threads;
    int connections;     /* maximum */
    int timeout;         /* seconds: maximum of a request, and of an idle connection */
    size_t body, memory; /* maximum bytes of a body, of all bodies */
} http_config;

typedef struct http_server http_server;

/* The functions of the plug-in. */
typedef struct http_functions {
    /* NULL: failed, with a message. config and host must outlive the server. */
    http_server *(*start)(const http_config *config, const http_host *host, char *message, size_t size);
    /* Call it every second: ends connections that exceed the time limit. */
    void (*tick)(http_server *server);
    int (*connections)(http_server *server); /* that are open */
    int (*active)(http_server *server);      /* of these, with a request in progress */
    void (*quiesce)(http_server *server);    /* accepts no more connections */
    void (*stop)(http_server *server);       /* ends all connections and frees the server */
} http_functions;

/* The symbol http_plugin_open. The sizes identify the version; NULL: another one. */
typedef const http_functions *(*http_plugin_open_fn)(size_t exchange, size_t functions);
/* Loads the plug-in; NULL after a message (http_plugin.c). */
const http_functions *http_plugin(void);

#endif
