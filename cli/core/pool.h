/* A pool of processes (pool.c) and the JSON files in which they store results (json_file.c). */
#ifndef ENHOPE_POOL_H
#define ENHOPE_POOL_H

#include <sys/types.h>

#include "core/cli.h"

typedef struct cli_job {
    bool busy;
    pid_t process;
    int item;
    double started;
} cli_job;

typedef struct cli_pool {
    void *user;
    int max_jobs; /* processes at a time */
    /* The next item; -1: none until another item ends. Not called after a signal. */
    int (*next)(void *user);
    /* Runs in its own process; returns its exit code. */
    int (*run)(void *user, int item);
    void (*ended)(void *user, const cli_job *job, int status /* of waitpid */);
    void (*draw)(void *user, const cli_job *jobs, int max_jobs); /* called several times a second; may be NULL */
} cli_pool;
/* Returns when no job runs and no item is left. */
int cli_pool_run(const cli_pool *pool);

double cli_now(void); /* seconds of a monotonic clock */

/* Reads a JSON file; free the result with cJSON_Delete. NULL: missing or invalid. */
struct cJSON *cli_json_read(const char *path);
double cli_json_number(const struct cJSON *object, const char *name); /* NaN: missing */
int64_t cli_json_count(const struct cJSON *object, const char *name); /* 0: missing */
const char *cli_json_text(const struct cJSON *object, const char *name);

/* Applies settings written as "name value name value ..."; modifies words. */
int cli_apply_settings(enhope_context *ctx, enhope_settings *settings, char *words);
/* Creates the folder and the named folders in it, unless they exist. */
int cli_make_folders(const char *folder, const char *const *inner, int count);

#endif
