/* enhope serve: options, the listening socket, signals, reload and stop. */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "serve/serve.h"

static const int64_t default_body = 16000000;
enum {
    DEFAULT_TIMEOUT = 30, /* seconds */
    DEFAULT_CONNECTIONS = 1000,
    BODIES = 16 /* all bodies together may have so many times the maximum, besides those of usual size */
};

/* ---- options ---- */

/* The name of the file without its folder and ending. */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static int parse_name(const cli_options *options, serve_options *out)
{
    const char *given = options->serve.name;
    out->options = options;
    out->model = options->positional[0];
    out->name = given ? strdup(given) : name_of_file(out->model);
    if (!out->name) return cli_error("out of memory");
    if (*out->name && !strchr(out->name, '/')) return 0;
    return cli_usage_error(options->command, "--name is '%s': expected a name without slashes", out->name);
}

static int parse_config(const cli_options *options, http_config *out)
{
    const cli_serve_options *o = &options->serve;
    int64_t body = default_body;
    const double timeout = o->timeout ? cli_seconds_parse(o->timeout) : DEFAULT_TIMEOUT;
    if (o->max_body && (!cli_parse_bytes(o->max_body, &body) || body < 1000 || body > 1000000000))
        return cli_usage_error(options->command, "--max-body is '%s': expected a size from 1k to 1G", o->max_body);
    if (timeout < 1 || timeout > 86400)
        return cli_usage_error(options->command, "--timeout is '%s': expected a time from 1s to 24h", o->timeout);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    out->threads = options->compute.threads ? (int)options->compute.threads : cores > 0 ? (int)cores : 1;
    out->connections = o->connections ? (int)o->connections : DEFAULT_CONNECTIONS;
    out->timeout = (int)timeout;
    out->body = (size_t)body;
    out->memory = BODIES * (size_t)body + (size_t)out->connections * HTTP_KEPT;
    return 0;
}

/* ---- the socket ---- */

/* Where the server listens. */
typedef struct address {
    const char *host, *port;
    struct addrinfo *info;
} address;

static int parse_address(const cli_options *options, address *out)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    const char *host = options->serve.host ? options->serve.host : "127.0.0.1";
    const char *port = options->serve.port ? options->serve.port : "8080";
    *out = (address){.host = host, .port = port};
    if (strspn(port, "0123456789") != strlen(port) || !*port || strlen(port) > 5 || atoi(port) > 65535)
        return cli_usage_error(options->command, "--port is '%s': expected a number from 0 to 65535", port);
    if (getaddrinfo(host, port, &hints, &out->info) != 0)
        return cli_usage_error(options->command, "--host is '%s': expected an IP address, such as 127.0.0.1", host);
    return 0;
}

/* Opens the listening socket; url: its address. */
static int open_socket(const address *at, int *out, char *url, size_t size)
{
    const int yes = 1, listener = socket(at->info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) || /* connections inherit it */
        bind(listener, at->info->ai_addr, at->info->ai_addrlen) || listen(listener, SOMAXCONN) ||
        getsockname(listener, (struct sockaddr *)&bound, &length)) {
        const int error = errno;
        if (listener >= 0) close(listener);
        return cli_error("cannot listen on %s, port %s: %s", at->host, at->port, strerror(error));
    }
    const bool six = bound.ss_family == AF_INET6;
    const in_port_t port = six ? ((struct sockaddr_in6 *)&bound)->sin6_port : ((struct sockaddr_in *)&bound)->sin_port;
    snprintf(url, size, six ? "http://[%s]:%d" : "http://%s:%d", at->host, ntohs(port));
    *out = listener;
    return 0;
}

/* ---- running ---- */

static void reload(server *s)
{
    live_model *next = live_open(&s->options);
    if (next && live_make_page(next, &s->options)) {
        live_release(next);
        next = NULL;
    }
    access_log_reopen(&s->log);
    atomic_fetch_add(next ? &s->metrics.reloads : &s->metrics.failed_reloads, 1);
    if (!next) {
        cli_error("%s: not loaded again; the old model stays", s->options.model);
        return;
    }
    pthread_mutex_lock(&s->lock);
    live_model *before = s->live;
    s->live = next;
    pthread_mutex_unlock(&s->lock);
    live_release(before);
    cli_print(stderr, "enhope: loaded %s again\n", s->options.model);
}

/* Waits for a signal; 0: the time has passed. */
static int wait_for_signal(const sigset_t *signals, int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    const int number = sigtimedwait(signals, NULL, &time);
    return number > 0 ? number : 0;
}

/* Waits until the requests in progress are answered. A second signal ends it. */
static void drain(server *s, const http_config *config, const sigset_t *signals)
{
    enum { STEP = 20 }; /* milliseconds */
    const int64_t end = serve_now() + (int64_t)config->timeout * 1000000000;
    atomic_store(&s->draining, true);
    s->http->quiesce(s->connections);
    while (s->http->active(s->connections) && serve_now() < end) {
        const int number = wait_for_signal(signals, STEP);
        if (number && number != SIGHUP) break;
    }
}

static void run(server *s, const http_config *config, const sigset_t *signals)
{
    for (;;) {
        const int number = wait_for_signal(signals, 1000);
        s->http->tick(s->connections);
        access_log_flush(&s->log);
        if (number == SIGHUP) reload(s);
        if (number && number != SIGHUP) break;
    }
    drain(s, config, signals);
}

static int serve(server *s, const address *at, http_config *config, const sigset_t *signals)
{
    char message[300] = "", url[128];
    const http_host host = {.user = s, .respond = serve_respond, .done = serve_done};
    int code = open_socket(at, &config->listener, url, sizeof url);
    if (code) return code;
    s->connections = s->http->start(config, &host, message, sizeof message);
    if (!s->connections) {
        close(config->listener);
        return cli_error("cannot start the server: %s", message);
    }
    printf("serving %s at %s\n", s->options.name, url);
    code = cli_stdout_finish(0);
    if (!code) run(s, config, signals);
    s->http->stop(s->connections);
    return code;
}

int cmd_serve(const cli_options *options)
{
    server s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    http_config config = {0};
    address at = {0};
    sigset_t signals;
    struct timespec now;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL); /* also for all threads that follow */
    clock_gettime(CLOCK_REALTIME, &now);
    s.metrics.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    int code = parse_name(options, &s.options);
    if (!code) code = parse_config(options, &config);
    if (!code) code = parse_address(options, &at);
    if (!code && !(s.http = http_plugin())) code = CLI_FAILED;
    if (!code) code = access_log_open(&s.log, options->serve.log);
    if (!code && !(s.live = live_open(&s.options))) code = CLI_FAILED;
    if (!code) code = live_make_page(s.live, &s.options);
    if (!code) code = serve(&s, &at, &config, &signals);
    if (at.info) freeaddrinfo(at.info);
    access_log_close(&s.log);
    live_release(s.live);
    serve_workers_free(&s);
    free(s.options.name);
    return code;
}
