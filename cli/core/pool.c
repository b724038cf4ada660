/* A pool of processes: each item runs in its own process, a limited number at a time. Results are
 * stored in files, so that a crash loses only one item. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/pool.h"

static int start(const cli_pool *pool, cli_job *job, int item)
{
    *job = (cli_job){.busy = true, .item = item, .started = cli_now()};
    fflush(stdout);
    fflush(stderr);
    job->process = fork();
    if (job->process < 0) {
        *job = (cli_job){0};
        return cli_error("cannot start a process: %s; use fewer --jobs", strerror(errno));
    }
    if (job->process == 0) _exit(pool->run(pool->user, item));
    return 0;
}

/* Starts items until all jobs are busy. */
static int fill(const cli_pool *pool, cli_job *jobs)
{
    int code = 0;
    for (int j = 0; j < pool->max_jobs && !code; j++) {
        if (jobs[j].busy) continue;
        const int item = pool->next(pool->user);
        if (item < 0) return 0;
        code = start(pool, &jobs[j], item);
    }
    return code;
}

/* Ctrl-C signals the jobs too, kill signals only this process. The second signal of a kind would
 * end a job immediately, so jobs are sent the other kind. */
static void forward_signal(const cli_job *jobs, int max_jobs, int number)
{
    for (int j = 0; j < max_jobs; j++)
        if (jobs[j].busy) kill(jobs[j].process, number == SIGTERM ? SIGINT : SIGTERM);
}

/* Reports one job that has ended; false: none. */
static bool reap(const cli_pool *pool, cli_job *jobs)
{
    int status;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    for (int j = 0; ended > 0 && j < pool->max_jobs; j++) {
        if (!jobs[j].busy || jobs[j].process != ended) continue;
        jobs[j].busy = false;
        pool->ended(pool->user, &jobs[j], status);
        return true;
    }
    return false;
}

static bool any_busy(const cli_job *jobs, int max_jobs)
{
    for (int j = 0; j < max_jobs; j++)
        if (jobs[j].busy) return true;
    return false;
}

int cli_pool_run(const cli_pool *pool)
{
    cli_job *jobs = cli_alloc("jobs", pool->max_jobs, 1, sizeof *jobs);
    if (!jobs) return CLI_FAILED;
    signal(SIGCHLD, SIG_DFL); /* if the parent ignored it, waitpid would fail */
    int code = 0;
    for (bool forwarded = false;;) {
        if (!code && !cli_caught_signal()) code = fill(pool, jobs);
        if (!any_busy(jobs, pool->max_jobs)) break;
        if (cli_caught_signal() && !forwarded) forward_signal(jobs, pool->max_jobs, cli_caught_signal());
        forwarded = cli_caught_signal() != 0;
        if (reap(pool, jobs)) continue;
        if (pool->draw) pool->draw(pool->user, jobs, pool->max_jobs);
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
    free(jobs);
    return code;
}
