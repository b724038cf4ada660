/* Checkpoints DIR/epoch-000012-batch-000034.safetensors: writes one every few minutes and when a
 * signal stops training, keeps the newest few, and resumes from the newest intact one. */
#define _DEFAULT_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli.h"
#include "core/pool.h"

static const double default_interval = 300;
static const double retry_seconds = 10; /* minimum wait after a failed write */
enum { DEFAULT_KEEP = 3 };

typedef struct position {
    int64_t epoch, batch; /* completed epochs, and batches of the next */
} position;

static char *join(const char *folder, const char *name)
{
    char *path = cli_alloc("a path", (int64_t)strlen(folder) + (int64_t)strlen(name) + 2, 1, 1);
    if (path) sprintf(path, "%s/%s", folder, name);
    return path;
}

enum { NAME = 80 };

static void name_of(position at, char name[NAME])
{
    snprintf(name, NAME, "epoch-%06lld-batch-%06lld.safetensors", (long long)at.epoch, (long long)at.batch);
}

static char *path_of(const cli_checkpoint *c, position at)
{
    char name[NAME];
    name_of(at, name);
    return join(c->folder, name);
}

/* Parses a name that begins as this program names a checkpoint, and returns the rest of it; NULL:
 * it does not. */
static const char *parse_name(const char *name, position *at)
{
    char own[NAME];
    long long epoch, batch;
    if (sscanf(name, "epoch-%lld-batch-%lld.safetensors", &epoch, &batch) != 2 || epoch < 0 || batch < 0) return NULL;
    *at = (position){epoch, batch};
    name_of(*at, own);
    return strncmp(name, own, strlen(own)) == 0 ? name + strlen(own) : NULL;
}

/* Whether the rest of a name is that of a temporary file, .tmp-PROCESS-N; other files are the
 * user's. */
static bool is_temporary(const char *rest, long *process)
{
    int attempt, end = 0;
    return sscanf(rest, ".tmp-%ld-%d%n", process, &attempt, &end) == 2 && !rest[end] && *process > 0 && attempt >= 0;
}

static int newest_first(const void *a, const void *b)
{
    const position *p = a, *q = b;
    if (p->epoch != q->epoch) return p->epoch > q->epoch ? -1 : 1;
    return p->batch > q->batch ? -1 : p->batch < q->batch;
}

/* Lists the checkpoints of the folder, newest first. tidy removes temporary files of killed
 * runs. */
static int list(const cli_checkpoint *c, bool tidy, position **out, int *count)
{
    DIR *folder = opendir(c->folder);
    *out = NULL;
    *count = 0;
    if (!folder) return cli_error("%s: cannot read: %s", c->folder, strerror(errno));
    int code = 0;
    for (const struct dirent *entry; !code && (entry = readdir(folder));) {
        position at;
        long process;
        const char *rest = parse_name(entry->d_name, &at);
        if (rest && tidy && is_temporary(rest, &process)) unlinkat(dirfd(folder), entry->d_name, 0);
        if (!rest || *rest) continue;
        position *grown = realloc(*out, (size_t)(*count + 1) * sizeof *grown);
        if (!grown) {
            code = cli_error("out of memory");
            continue;
        }
        *out = grown;
        grown[(*count)++] = at;
    }
    closedir(folder);
    if (*count) qsort(*out, (size_t)*count, sizeof **out, newest_first);
    return code;
}

/* Removes temporary files PATH.tmp-PID-N of processes that no longer run. */
static void tidy_beside(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder_name = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    DIR *folder = folder_name ? opendir(folder_name) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const size_t length = strlen(name);
        long process;
        if (strncmp(entry->d_name, name, length) != 0 || !is_temporary(entry->d_name + length, &process)) continue;
        if (kill((pid_t)process, 0) != 0 && errno == ESRCH) unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder) closedir(folder);
    free(folder_name);
}

/* ---- the folder ---- */

static int parse_options(cli_checkpoint *c, const cli_options *o)
{
    if (!o->training.checkpoint) {
        const char *option = o->training.resume  ? "--resume"
                             : o->training.every ? "--every"
                             : o->training.keep  ? "--keep"
                                                 : NULL;
        return option ? cli_usage_error(o->command, "%s needs --checkpoint DIR", option) : 0;
    }
    c->folder = *o->training.checkpoint ? o->training.checkpoint : ".";
    c->keep = o->training.keep ? o->training.keep : DEFAULT_KEEP;
    c->every = o->training.every ? cli_seconds_parse(o->training.every) : default_interval;
    if (c->every < 0)
        return cli_usage_error(o->command, "--every is '%s': expected a time such as 90s, 5m or 2h", o->training.every);
    return 0;
}

static int open_folder(cli_checkpoint *c)
{
    if (mkdir(c->folder, 0777) != 0 && errno != EEXIST)
        return cli_error("%s: cannot create the folder: %s", c->folder, strerror(errno));
    c->lock = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->lock < 0) return cli_error("%s: cannot open the folder: %s", c->folder, strerror(errno));
    /* ignore file systems without locks */
    if (flock(c->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cli_error("%s: another run is writing checkpoints there; choose another folder", c->folder);
    char *probe = path_of(c, (position){0, 0});
    const int code = probe ? cli_output_check(probe) : CLI_FAILED; /* check before training */
    free(probe);
    return code;
}

int cli_checkpoint_open(cli_checkpoint *c, const cli_options *options, const char *output)
{
    *c = (cli_checkpoint){.lock = -1};
    int code = parse_options(c, options);
    if (code || !c->folder) return code;
    if (cli_rank()) return 0; /* rank 0 checks the folder */
    position *found = NULL;
    int count = 0;
    code = open_folder(c);
    if (!code) code = list(c, true, &found, &count);
    if (!code && count && !options->training.resume)
        code = cli_error("%s contains checkpoints; use --resume to resume from them, or another folder", c->folder);
    if (!code) tidy_beside(output);
    free(found);
    return code;
}

void cli_checkpoint_close(cli_checkpoint *c)
{
    if (c->lock >= 0) close(c->lock);
    free(c->newest);
    *c = (cli_checkpoint){.lock = -1};
}

/* ---- resuming ---- */

static bool damaged(enhope_status status)
{
    return status == ENHOPE_ERROR_MODEL || status == ENHOPE_ERROR_IO || status == ENHOPE_ERROR_FORMAT;
}

/* Prints a notice, also with --quiet. */
static void print_notice(const cli_checkpoint *c, const char *text)
{
    if (cli_rank()) return;
    cli_progress_clear(c->progress);
    cli_print(stderr, "enhope: %s\n", text);
}

static int resume_from(cli_checkpoint *c, position at, bool last, bool *resumed)
{
    char *path = path_of(c, at), text[1400];
    if (!path) return CLI_FAILED;
    const enhope_status status = enhope_trainer_resume(c->trainer, path);
    if (!status) {
        snprintf(text, sizeof text, "resuming from %s", path);
        cli_progress_log(ENHOPE_LOG_INFO, text, c->progress);
        *resumed = true;
        c->epoch = at.epoch;
        c->batch = at.batch;
        c->newest = path;
        return 0;
    }
    free(path);
    if (!damaged(status) || last) return cli_fail(c->ctx, status);
    snprintf(text, sizeof text, "%s; using the checkpoint before it", enhope_error(c->ctx));
    print_notice(c, text);
    return 0;
}

int cli_checkpoint_begin(cli_checkpoint *c, enhope_context *ctx, enhope_trainer *trainer, cli_progress *progress)
{
    c->ctx = ctx;
    c->trainer = trainer;
    c->progress = progress;
    c->last = cli_now();
    if (cli_rank_0_value(ctx, c->folder != NULL) != (c->folder != NULL))
        return cli_error("rank 0 runs %s --checkpoint; start all ranks with the same options",
                         c->folder ? "without" : "with");
    if (!c->folder) return 0;
    const enhope_status status = enhope_trainer_checkpoint(trainer, NULL);
    if (status) return cli_fail(ctx, status);
    position *found = NULL;
    int count = 0, code = list(c, false, &found, &count);
    bool resumed = false;
    if (!code && cli_rank_0_value(ctx, count) != count)
        code = cli_error("%s contains other checkpoints than on rank 0; use a folder that all ranks share", c->folder);
    for (int i = 0; i < count && !code && !resumed; i++) code = resume_from(c, found[i], i == count - 1, &resumed);
    free(found);
    if (!code) cli_progress_keep(progress, c->epoch);
    return code;
}

/* ---- writing ---- */

/* Removes all but the newest few up to the current position. Later ones are damaged, and training
 * will overwrite them. */
static void prune(const cli_checkpoint *c)
{
    if (cli_rank()) return;
    position *found = NULL;
    int count = 0;
    if (list(c, false, &found, &count)) return;
    const position now = {c->epoch, c->batch};
    int64_t kept = 0;
    for (int i = 0; i < count; i++) {
        if (newest_first(&found[i], &now) < 0 || kept++ < c->keep) continue;
        char *path = path_of(c, found[i]);
        if (path) unlink(path);
        free(path);
    }
    free(found);
}

/* Writes a checkpoint; false after a message if that failed. */
static bool write_one(cli_checkpoint *c)
{
    char *path = path_of(c, (position){c->epoch, c->batch});
    const enhope_status status = path ? enhope_trainer_checkpoint(c->trainer, path) : ENHOPE_ERROR_MEMORY;
    c->last = cli_now();
    c->failed = status != ENHOPE_OK;
    if (status) {
        char text[1200];
        snprintf(text, sizeof text, "%s; %s", enhope_error(c->ctx),
                 c->newest && access(c->newest, F_OK) == 0 ? "earlier checkpoints are kept"
                                                           : "there is no earlier checkpoint");
        print_notice(c, text);
        free(path);
        return false;
    }
    free(c->newest);
    c->newest = path;
    prune(c);
    return true;
}

int cli_checkpoint_step(const enhope_progress *at, void *user)
{
    cli_checkpoint *c = user;
    int stop = cli_progress_step(at, c->progress);
    if (!c->folder) return stop;
    stop = cli_rank_0_value(c->ctx, stop); /* rank 0's signals and clock apply to all */
    c->epoch = at->epoch;
    c->batch = at->epoch_done ? 0 : at->batch;
    c->stepped = true;
    const double wait = c->failed && c->every < retry_seconds ? retry_seconds : c->every;
    if (stop)
        c->safe = write_one(c);
    else if (cli_rank_0_value(c->ctx, cli_now() - c->last >= wait))
        write_one(c);
    return stop;
}

void cli_checkpoint_end(cli_checkpoint *c)
{
    if (!c->folder) return;
    if (c->stepped)
        write_one(c);
    else
        prune(c); /* the run before may have been killed between writing and pruning */
}
