/* A pool of processes: items of work that are done each in a process of its own, a few at a time. What a process leaves is
 * in files, so that one that ends badly, or all of them, lose no more than their own item. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int start(const cli_pool *pool, cli_job *job, int item)
{
    fflush(stdout);
    fflush(stderr);
    *job = (cli_job){.item = item, .started = cli_now()};
    job->process = fork();
    if (job->process < 0) {
        job->process = 0;
        return cli_error("no process could be started: %s", strerror(errno));
    }
    if (job->process == 0) _exit(pool->run(pool->user, item));
    return 0;
}

/* Starts what there is room for; adds to *running. */
static int fill(const cli_pool *pool, cli_job *jobs, int *running)
{
    for (int j = 0; j < pool->most; j++) {
        if (jobs[j].process) continue;
        const int item = pool->next(pool->user);
        if (item < 0) return 0;
        const int code = start(pool, &jobs[j], item);
        if (code) return code;
        ++*running;
    }
    return 0;
}

/* A signal may have come to this process alone (kill), or to the jobs as well (Ctrl-C). Each kind is caught once and ends a
 * process the second time, so jobs are sent another kind than came. */
static void pass_on(const cli_pool *pool, const cli_job *jobs)
{
    for (int j = 0; j < pool->most; j++)
        if (jobs[j].process) kill(jobs[j].process, cli_caught_signal() == SIGTERM ? SIGINT : SIGTERM);
}

int cli_pool_run(const cli_pool *pool)
{
    cli_job jobs[CLI_MOST_JOBS] = {{0}};
    int running = 0, code = 0;
    bool told = false;
    signal(SIGCHLD, SIG_DFL); /* whoever started this may ignore it: then no process could be waited for */
    for (;;) {
        if (!code && !cli_caught_signal()) code = fill(pool, jobs, &running);
        if (!running) return code;
        if (cli_caught_signal() && !told) pass_on(pool, jobs);
        told = cli_caught_signal() != 0;
        int status;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        for (int j = 0; ended > 0 && j < pool->most; j++)
            if (jobs[j].process == ended) {
                const cli_job job = jobs[j];
                jobs[j].process = 0;
                running--;
                pool->ended(pool->user, &job, status);
            }
        if (ended > 0) continue;
        if (pool->draw) pool->draw(pool->user, jobs, pool->most);
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
}
