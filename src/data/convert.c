/* enhope_convert: converts any source to a folder of shards. An interrupted conversion resumes
 * after the last complete shard.
 *
 * Every shard listed in shards.partial.json is on disk. A reader that cannot start in the middle of
 * a source reads from its beginning, and the writer skips the rows that exist already. Labels get
 * the same numbers again, because they are numbered in order of appearance. */
#define _DEFAULT_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/store/shard_writer.h"

static const int64_t USUAL_SHARD = 256000000, LARGEST_SHARD = (int64_t)1 << 40; /* bytes */

/* ---- identity of a conversion ---- */

static void put_file(char *text, size_t size, const char *path)
{
    struct stat info;
    const size_t at = strlen(text);
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        snprintf(text + at, size - at, "; %lld bytes of %lld", (long long)info.st_size, (long long)info.st_mtime);
}

/* Appends the files of a folder, in directory order. */
static void put_folder(char *text, size_t size, const char *folder)
{
    char path[EH_PATH];
    struct stat info;
    long long files = 0, bytes = 0, newest = 0;
    const size_t at = strlen(text);
    DIR *all = opendir(folder);
    if (!all) return;
    for (const struct dirent *one; (one = readdir(all));) {
        if (snprintf(path, sizeof path, "%s/%s", folder, one->d_name) >= EH_PATH || stat(path, &info) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        files++;
        bytes += info.st_size;
        if (info.st_mtime > newest) newest = info.st_mtime;
    }
    closedir(all);
    if (files) snprintf(text + at, size - at, "; %lld files, %lld bytes of %lld", files, bytes, newest);
}

/* Appends the options of a table that are not defaults. */
static void put_table(char *text, size_t size, const enhope_table_options *o)
{
    const struct {
        const char *name, *value;
    } all[] = {{"header", o->header},   {"delimiter", o->delimiter},
               {"decimal", o->decimal}, {"ignore", o->ignore},
               {"id", o->id},           {"group", o->group},
               {"missing", o->missing}, {"categorical", o->categorical},
               {"numeric", o->numeric}, {"skip_bad", o->skip_bad ? "yes" : NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t at = strlen(text);
        if (all[i].value) snprintf(text + at, size - at, "; %s %.300s", all[i].name, all[i].value);
    }
}

/* Describes the source and the settings. Conversions with equal descriptions write equal shards. */
static enhope_status describe(enhope_context *ctx, const enhope_source *s, const eh_shard_writer *w, char **out)
{
    char text[2 * EH_PATH];
    snprintf(text, sizeof text,
             "%.4000s; part %.16s; label %.200s; split %.60s; variables %.200s; limit %lld; shards of %lld %s", s->path,
             s->part ? s->part : "-", s->label ? s->label : "-", s->split ? s->split : "-",
             s->variables ? s->variables : "-", (long long)s->limit,
             (long long)(w->shard_rows > 0 ? w->shard_rows : w->shard_bytes), w->shard_rows > 0 ? "rows" : "bytes");
    if (s->table) put_table(text, sizeof text, s->table);
    put_file(text, sizeof text, s->path);
    put_folder(text, sizeof text, s->path);
    if (s->classes) put_file(text, sizeof text, s->classes);
    char path[EH_PATH];
    if (snprintf(path, sizeof path, "%s/%s", s->path, s->part ? s->part : "train") < EH_PATH)
        put_folder(text, sizeof text, path);
    for (const char *comma = strchr(s->path, ','); comma; comma = strchr(comma + 1, ',')) { /* X,y */
        if (snprintf(path, sizeof path, "%.*s", (int)(comma - s->path), s->path) >= EH_PATH) break;
        put_file(text, sizeof text, path);
        put_file(text, sizeof text, comma + 1);
    }
    for (char *at = text; *at; at++) /* JSON must be UTF-8, but a path may contain any bytes */
        if ((unsigned char)*at >= 0x80 && !eh_utf8_valid(text, strlen(text))) *at = '?';
    return eh_new_text(ctx, "a text", text, out);
}

/* ---- the folder ---- */

static bool is_in(const char *folder, const char *name)
{
    char path[EH_PATH];
    struct stat info;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < EH_PATH && stat(path, &info) == 0;
}

/* Creates the folder and its missing parents. *made is the length of the path of the first folder
 * created, or 0. */
static enhope_status create_folders(enhope_context *ctx, const char *folder, size_t *made)
{
    char path[EH_PATH];
    struct stat info;
    if (snprintf(path, sizeof path, "%s", folder) >= EH_PATH - 64)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "the path of the folder is longer than %d characters; use a shorter path", EH_PATH - 64);
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/') continue;
        const char end = *at;
        *at = '\0';
        if (mkdir(path, 0777) == 0)
            *made = *made ? *made : (size_t)(at - path);
        else if (errno != EEXIST)
            return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot create the folder: %s", path, strerror(errno));
        *at = end;
        if (!end) break;
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: is not a folder", path);
    return ENHOPE_OK;
}

/* Removes the folders created here, innermost first, as long as they are empty. */
static void remove_folders(const char *folder, size_t made)
{
    char path[EH_PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (size_t end = strlen(path); made > 0 && end >= made; end--) {
        if (path[end] && path[end] != '/') continue;
        path[end] = '\0';
        if (rmdir(path) != 0 && errno != ENOENT) return;
    }
}

/* Locks the folder against a concurrent conversion. File systems without locks are not protected.
 */
static enhope_status lock_folder(enhope_context *ctx, const char *folder, int *lock)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", folder, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: another conversion is writing there", folder);
    return ENHOPE_OK;
}

/* Removes the temporary files of lists that killed conversions have left. The folder is locked. */
static void remove_temporaries(const char *folder)
{
    DIR *all = opendir(folder);
    if (!all) return;
    for (const struct dirent *one; (one = readdir(all));) {
        long process;
        int attempt, end = 0;
        if ((sscanf(one->d_name, EH_SHARDS_NAME ".tmp-%ld-%d%n", &process, &attempt, &end) == 2 ||
             sscanf(one->d_name, EH_SHARDS_PARTIAL ".tmp-%ld-%d%n", &process, &attempt, &end) == 2) &&
            !one->d_name[end])
            unlinkat(dirfd(all), one->d_name, 0);
    }
    closedir(all);
}

/* Checks the sizes of the files of all listed shards. */
static enhope_status check_sizes(enhope_context *ctx, const char *folder, const eh_shards *s)
{
    for (int64_t i = 0; i < s->shards; i++)
        for (int j = 0; j < EH_ARRAYS; j++) {
            char path[EH_PATH];
            struct stat info;
            if (!*s->shard[i].file[j].name) continue;
            snprintf(path, sizeof path, "%s/%s", folder, s->shard[i].file[j].name);
            if (stat(path, &info) != 0)
                return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
            if (info.st_size != s->shard[i].file[j].bytes)
                return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: has %lld bytes: expected %lld; convert the data again",
                               path, (long long)info.st_size, (long long)s->shard[i].file[j].bytes);
        }
    return ENHOPE_OK;
}

/* ---- start and end ---- */

/* Loads the list of an earlier conversion of the same source. *done: that conversion is complete.
 */
static enhope_status resume(enhope_context *ctx, eh_shard_writer *w, bool *done)
{
    eh_shards there = {.n = 0};
    *done = is_in(w->folder, EH_SHARDS_NAME);
    if (!*done && !is_in(w->folder, EH_SHARDS_PARTIAL)) return ENHOPE_OK;
    EH_TRY(eh_shards_load(ctx, w->folder, *done ? EH_SHARDS_NAME : EH_SHARDS_PARTIAL, &there));
    enhope_status status = check_sizes(ctx, w->folder, &there);
    if (!status && (!there.source || strcmp(there.source, w->to.source) != 0))
        status =
            eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s: contains shards of another source (%.200s); use another folder",
                    w->folder, there.source ? there.source : "unknown");
    if (!status && *done && strncmp(there.source, "-;", 2) == 0)
        status =
            eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                    "%s: contains shards of standard input, which cannot be resumed; use another folder", w->folder);
    if (status) {
        eh_shards_free(&there);
        return status;
    }
    eh_shards_free(&w->to);
    w->to = there;
    w->sink.skip = w->to.n;
    w->at.resumed = w->to.n;
    return ENHOPE_OK;
}

static void remove_partial(const char *folder)
{
    char path[EH_PATH];
    snprintf(path, sizeof path, "%s/" EH_SHARDS_PARTIAL, folder);
    unlink(path);
}

/* Moves the names from data, writes the final list and removes the partial list. */
static enhope_status finish(enhope_context *ctx, eh_shard_writer *w, const char *source, enhope_dataset *data)
{
    EH_TRY(eh_shard_writer_flush(ctx, w));
    if (w->to.n == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no samples", source);
    w->to.H = eh_max(w->to.H, data->x.H);
    if (w->to.H == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "%s: there are no inputs, only samples", source);
    w->to.image_rows = data->image_rows;
    w->to.image_columns = data->image_columns;
    eh_labels_free(&w->to.labels);
    for (int32_t k = 0; w->labeled && k < data->c; k++) {
        int32_t id;
        EH_TRY(eh_labels_class(ctx, &w->to.labels, data->class_name[k], strlen(data->class_name[k]), &id));
        if (id != k) return eh_fail(ctx, ENHOPE_ERROR_DATA, "two classes have the name '%.60s'", data->class_name[k]);
    }
    if (!w->to.input_name) {
        w->to.input_name = data->input_name;
        data->input_name = NULL;
    }
    if (!w->to.encoding) {
        w->to.encoding = data->encoding;
        data->encoding = NULL;
    }
    EH_TRY(eh_shards_save(ctx, &w->to, w->folder, EH_SHARDS_NAME));
    remove_partial(w->folder);
    return ENHOPE_OK;
}

enhope_status enhope_convert(enhope_context *ctx, const enhope_source *source, const char *folder, int64_t shard_rows,
                             int64_t shard_bytes, enhope_conversion_fn progress, void *user)
{
    enhope_status status = ENHOPE_OK;
    eh_shard_writer *w = NULL;
    enhope_dataset *data = NULL;
    int lock = -1;
    bool done;
    size_t made = 0;
    if (!source || !source->path || !folder || !*folder)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "enhope_convert needs a source and a folder");
    if (shard_rows < 0 || shard_bytes < 0 || shard_bytes > LARGEST_SHARD)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "shards of %lld rows and %lld bytes: expected 0 (256 MB) to 1 TB",
                       (long long)shard_rows, (long long)shard_bytes);
    EH_TRY(eh_new(ctx, "a conversion", 1, sizeof *w, (void **)&w));
    eh_shard_writer_open(w, folder, source->path);
    w->shard_rows = shard_rows;
    w->shard_bytes = shard_bytes ? shard_bytes : USUAL_SHARD;
    w->limit = source->limit;
    w->progress = progress;
    w->user = user;
    EH_CHECK(create_folders(ctx, folder, &made));
    EH_CHECK(lock_folder(ctx, folder, &lock));
    remove_temporaries(folder);
    EH_CHECK(describe(ctx, source, w, &w->to.source));
    EH_CHECK(resume(ctx, w, &done));
    if (done) {
        remove_partial(folder); /* a conversion may have been killed just before */
        goto cleanup;
    }
    EH_CHECK(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data));
    w->data = data;
    EH_CHECK(eh_read_rows(ctx, source, data, &w->sink));
    if (!w->begun) w->labeled = w->to.shards > 0 && *w->to.shard[0].file[EH_LABELS].name;
    EH_CHECK(finish(ctx, w, source->path, data));
cleanup:
    eh_shard_writer_close(w);
    if (lock >= 0) close(lock);
    if (status) remove_folders(folder, made);
    eh_free(w);
    enhope_dataset_free(data);
    return status;
}
