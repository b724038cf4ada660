/* A pool of processes (pool.c), and the files of JSON in which they leave their results (json_file.c). */
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
    /* The next item; -1: none now, to be asked again when one has ended. Not asked after a signal. */
    int (*next)(void *user);
    /* In a process of its own; its exit code. */
    int (*run)(void *user, int item);
    void (*ended)(void *user, const cli_job *job, int status /* of waitpid */);
    void (*draw)(void *user, const cli_job *jobs, int max_jobs); /* some times a second; NULL: nothing */
} cli_pool;
/* Returns when nothing runs and there is nothing to start. */
int cli_pool_run(const cli_pool *pool);

double cli_now(void); /* seconds of a clock that never goes back */

/* A file as JSON, to be given to cJSON_Delete; NULL: there is none, or it is none. */
struct cJSON *cli_json_read(const char *path);
double cli_json_number(const struct cJSON *object, const char *name); /* NaN: it has none */
int64_t cli_json_count(const struct cJSON *object, const char *name); /* 0: likewise */
const char *cli_json_text(const struct cJSON *object, const char *name);

/* "name value name value ...", as settings of training; words is taken apart. */
int cli_apply_settings(enhope_context *ctx, enhope_settings *settings, char *words);
/* Makes the folder and those below it that are named; fine where they are. */
int cli_make_folders(const char *folder, const char *const *inner, int count);

#endif
