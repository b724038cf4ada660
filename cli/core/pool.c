/* A pool of processes: items of work that are done each in a process of its own, a few at a time. What a process leaves is
 * in files, so that one that ends badly, or all of them, lose no more than their own item.
 *
 * Under mpirun rank 0 hands items out to the others as well. They start processes of their own, which know nothing of ranks,
 * and tell how these ended; files are where all see them. Who is next, and when to end, rank 0 says. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/pool.h"

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The jobs that a rank knows of: rank 0 all, any other its own, by the same numbers. */
typedef struct crew {
    const cli_pool *pool;
    cli_job *jobs; /* (slots) job j is rank j % ranks's */
    int slots, running;
} crew;

/* What ranks tell each other. */
typedef struct word {
    enum { START, ENDED, SIGNAL, LEAVE } kind;
    int job;
    int value; /* START: the item; ENDED: the status of waitpid; SIGNAL: its number; LEAVE: the exit code */
} word;

static int open_crew(crew *c, const cli_pool *pool)
{
    *c = (crew){.pool = pool, .slots = pool->most * cli_ranks()};
    c->jobs = cli_alloc("jobs", c->slots, 1, sizeof *c->jobs);
    signal(SIGCHLD, SIG_DFL); /* whoever started this may ignore it: then no process could be waited for */
    return c->jobs ? 0 : CLI_FAILED;
}

/* A job's process, of this rank. */
static int start(crew *c, int j)
{
    cli_job *job = &c->jobs[j];
    fflush(stdout);
    fflush(stderr);
    job->process = fork();
    if (job->process < 0) {
        *job = (cli_job){0};
        return cli_error("no process could be started: %s", strerror(errno));
    }
    if (job->process == 0) {
        if (cli_rank()) cli_catch_signals(); /* the rank itself is deaf to them */
        cli_ranks_apart();
        _exit(c->pool->run(c->pool->user, job->item));
    }
    return 0;
}

/* Starts what there is room for, here or by another rank. */
static int fill(crew *c)
{
    for (int j = 0; j < c->slots; j++) {
        if (c->jobs[j].busy) continue;
        const int item = c->pool->next(c->pool->user), to = j % cli_ranks();
        if (item < 0) return 0;
        c->jobs[j] = (cli_job){.busy = true, .item = item, .started = cli_now()};
        const int code = to ? cli_ranks_tell(to, &(word){START, j, item}, sizeof(word)) : start(c, j);
        if (code) return code;
        c->running++;
    }
    return 0;
}

/* A signal may have come to this process alone (kill), or to the jobs as well (Ctrl-C). Each kind is caught once and ends a
 * process the second time, so jobs are sent another kind than came. */
static void pass_on(const crew *c, int number)
{
    for (int j = 0; j < c->slots; j++)
        if (c->jobs[j].busy && c->jobs[j].process > 0) kill(c->jobs[j].process, number == SIGTERM ? SIGINT : SIGTERM);
}

/* The same to all ranks. */
static int tell_all(word w)
{
    int code = 0;
    for (int r = 1; r < cli_ranks() && !code; r++) code = cli_ranks_tell(r, &w, sizeof w);
    return code;
}

/* A job of this rank that has ended; -1: none. */
static int reap(const crew *c, int *status)
{
    const pid_t ended = waitpid(-1, status, WNOHANG);
    for (int j = 0; ended > 0 && j < c->slots; j++)
        if (c->jobs[j].busy && c->jobs[j].process == ended) return j;
    return -1;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

/* A job that has ended, of this rank or of another, is told; *any: there was one. */
static int gather(crew *c, bool *any)
{
    word w = {.kind = ENDED};
    int from, code = 0;
    w.job = reap(c, &w.value);
    if (w.job < 0 && cli_ranks() > 1) code = cli_ranks_hear(&w, sizeof w, &from);
    *any = !code && w.job >= 0;
    if (!*any) return code;
    const cli_job job = c->jobs[w.job];
    c->jobs[w.job].busy = false;
    c->running--;
    c->pool->ended(c->pool->user, &job, w.value);
    return 0;
}

static int run(crew *c)
{
    int code = 0;
    bool told = false, any;
    for (;;) {
        if (!code && !cli_caught_signal()) code = fill(c);
        if (!c->running) return code;
        if (cli_caught_signal() && !told) {
            pass_on(c, cli_caught_signal());
            tell_all((word){SIGNAL, 0, cli_caught_signal()});
        }
        told = cli_caught_signal() != 0;
        const int unheard = gather(c, &any);
        if (unheard) { /* what others do will never be known */
            pass_on(c, SIGINT);
            return unheard;
        }
        if (any) continue;
        if (c->pool->draw) c->pool->draw(c->pool->user, c->jobs, c->slots);
        rest();
    }
}

int cli_pool_run(const cli_pool *pool)
{
    crew c;
    int code = open_crew(&c, pool);
    if (!code) code = run(&c);
    free(c.jobs);
    return code;
}

/* ---- another rank than 0 ---- */

static int serve(crew *c)
{
    for (;;) {
        word w = {.kind = ENDED};
        int from, code = cli_ranks_hear(&w, sizeof w, &from);
        if (from >= 0 && w.kind == LEAVE) return w.value;
        if (from >= 0 && w.kind == SIGNAL) pass_on(c, w.value);
        if (from >= 0 && w.kind == START) {
            c->jobs[w.job] = (cli_job){.busy = true, .item = w.value, .started = cli_now()};
            code = start(c, w.job);
        }
        const int ended = reap(c, &w.value);
        if (ended >= 0) {
            c->jobs[ended].busy = false;
            if (!code) code = cli_ranks_tell(0, &(word){ENDED, ended, w.value}, sizeof w);
        }
        if (code) return code;
        if (from < 0 && ended < 0) rest();
    }
}

int cli_pool_serve(const cli_pool *pool)
{
    static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP};
    crew c;
    int code = open_crew(&c, pool);
    for (size_t i = 0; i < sizeof deaf_to / sizeof *deaf_to; i++) signal(deaf_to[i], SIG_IGN);
    if (!code) code = serve(&c);
    free(c.jobs);
    return code;
}

int cli_pool_dismiss(int code)
{
    tell_all((word){LEAVE, 0, code});
    return code;
}
