/* The session of a command: a context, optionally data and a model. */
#define _DEFAULT_SOURCE 1
#include <stdarg.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cli.h"

int cli_usage_error(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_print_message(cli_title(command), format, args);
    va_end(args);
    return CLI_USAGE;
}

/* A signal that is caught ends reading from a pipe. */
static int is_stopped(void *user)
{
    (void)user;
    return cli_caught_signal() != 0;
}

int cli_session_open(cli_session *session, const cli_options *options)
{
    *session = (cli_session){0};
    session->ctx = enhope_context_create();
    if (!session->ctx) return cli_error("out of memory");
    enhope_status status = enhope_context_set_threads(session->ctx, (int)options->compute.threads);
    if (!status && options->compute.device) status = enhope_context_set_device(session->ctx, options->compute.device);
    if (!status && options->compute.precision)
        status = enhope_context_set_precision(session->ctx, options->compute.precision);
    if (!status && options->command->sharing == CLI_TOGETHER) status = enhope_context_set_ranks(session->ctx, "auto");
    enhope_context_set_stop(session->ctx, is_stopped, NULL);
    static int quiet;
    enhope_context_set_log(session->ctx, cli_put_log, options->quiet ? &quiet : NULL);
    int64_t memory = 0;
    if (options->source.memory && !cli_parse_bytes(options->source.memory, &memory))
        return cli_usage_error(options->command, "--memory is '%s': expected a size, such as 800M or 4GB",
                               options->source.memory);
    if (!status && options->source.memory) status = enhope_context_set_memory(session->ctx, memory);
    return status ? cli_fail(session->ctx, status) : 0;
}

static bool ends_in(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && !strcmp(text + length - tail, ending);
}

static bool has_file(const char *folder, const char *name)
{
    char path[4096];
    struct stat at;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &at) == 0;
}

/* A folder with a shards.json has no parts, and one with files of IDX or shards of parts has. The
 * library finds out whether a folder of images has. */
static cli_parts folder_parts(const char *folder)
{
    if (has_file(folder, "shards.json")) return CLI_WITHOUT_PARTS;
    DIR *dir = opendir(folder);
    bool idx = false;
    for (const struct dirent *entry; dir && !idx && (entry = readdir(dir));) idx = strstr(entry->d_name, "idx");
    if (dir) closedir(dir);
    return idx || has_file(folder, "train/shards.json") ? CLI_WITH_PARTS : CLI_MAYBE_PARTS;
}

cli_parts cli_data_parts(const cli_options *options, const char *spec)
{
    static const char made[] = "synthetic:";
    struct stat at;
    if (options->source.split) return CLI_WITH_PARTS;
    if (!strncmp(spec, made, sizeof made - 1)) return strstr(spec, ",part=") ? CLI_WITHOUT_PARTS : CLI_WITH_PARTS;
    if (stat(spec, &at) == 0 && S_ISDIR(at.st_mode)) return folder_parts(spec);
    return ends_in(spec, ".npz") ? CLI_MAYBE_PARTS : CLI_WITHOUT_PARTS;
}

/* NULL: no option of tables was given. */
static const enhope_table_options *table_options(const cli_table_options *o)
{
    static enhope_table_options table;
    const bool any = o->header || o->delimiter || o->decimal || o->ignore || o->id || o->keep || o->weight ||
                     o->categorical || o->numeric || o->missing || o->skip_bad || o->label_optional;
    table = (enhope_table_options){.header = o->header,
                                   .delimiter = o->delimiter,
                                   .decimal = o->decimal,
                                   .ignore = o->ignore,
                                   .id = o->id,
                                   .keep = o->keep,
                                   .weight = o->weight,
                                   .categorical = o->categorical,
                                   .numeric = o->numeric,
                                   .missing = o->missing,
                                   .skip_bad = o->skip_bad,
                                   .label_optional = o->label_optional};
    return any ? &table : NULL;
}

enhope_source cli_source(const cli_options *options, const char *spec)
{
    return (enhope_source){
        .path = spec,
        .part = options->source.part,
        .label = options->source.label,
        .split = options->source.split,
        .variables = options->source.variables,
        .limit = options->source.limit,
        .table = table_options(&options->source.table),
        .classes = options->source.classes,
    };
}

int cli_session_data(cli_session *session, const cli_options *options, const char *spec, const char *default_part)
{
    if (!spec) return cli_usage_error(options->command, "missing option: --data SPEC");
    enhope_source source = cli_source(options, spec);
    source.model = session->model;
    const cli_parts found = options->source.part ? CLI_WITHOUT_PARTS : cli_data_parts(options, spec);
    if (found != CLI_WITHOUT_PARTS) source.part = default_part;
    enhope_status status = enhope_dataset_read(session->ctx, &source, &session->data);
    if (status == ENHOPE_ERROR_ARGUMENT && found == CLI_MAYBE_PARTS) {
        source.part = NULL;
        status = enhope_dataset_read(session->ctx, &source, &session->data);
    }
    if (status) return cli_fail(session->ctx, status);
    session->part = source.part;
    enhope_dataset_get_info(session->data, &session->data_info);
    return 0;
}

int cli_session_in_memory(const cli_session *session, const cli_options *options)
{
    if (!session->data_info.streamed) return 0;
    char bytes[32];
    cli_bytes_text((double)session->data_info.bytes, bytes, sizeof bytes);
    return cli_usage_error(
        options->command,
        "the data takes %s and exceeds --memory, and this command cannot stream; raise --memory, or use --limit",
        bytes);
}

int cli_block_next(const cli_session *session, cli_block *block)
{
    enum { BLOCK_BYTES = 1 << 25, WHOLE = 4096 }; /* predictions process WHOLE rows at a time */
    const enhope_dataset_info *info = &session->data_info;
    const int64_t first = block->first + block->n, row = info->bytes / info->n + 1;
    int64_t rows = BLOCK_BYTES / row;
    rows = rows >= WHOLE ? rows / WHOLE * WHOLE : rows > 0 ? rows : 1;
    if (!info->streamed || rows > info->n - first) rows = info->n - first;
    enhope_dataset_free(block->own);
    *block = (cli_block){.data = session->data, .first = first, .n = rows};
    if (!info->streamed || rows == 0) return 0;
    const enhope_status status = enhope_dataset_block(session->ctx, session->data, first, rows, &block->own);
    block->data = block->own;
    return status ? cli_fail(session->ctx, status) : 0;
}

void cli_block_close(cli_block *block)
{
    enhope_dataset_free(block->own);
    *block = (cli_block){0};
}

int cli_session_model(cli_session *session, const char *path)
{
    const enhope_status status = enhope_model_load(session->ctx, path, &session->model);
    if (status) return cli_fail(session->ctx, status);
    enhope_model_get_info(session->model, &session->model_info);
    return 0;
}

int cli_session_set_references(cli_session *session, const cli_options *options)
{
    const char *to = options->answer.references;
    if (!to) return 0;
    if (!strcmp(to, "exemplars")) {
        if (session->model_info.references_are_exemplars) return 0;
        return cli_usage_error(options->command,
                               "--references exemplars: a model of %s has none; use kmeans or training",
                               session->model_info.method);
    }
    if (options->source.part || cli_data_parts(options, options->data) == CLI_WITHOUT_PARTS)
        return cli_usage_error(options->command,
                               "--references %s needs data with a train and a test part; use a folder or --split", to);
    cli_session training = {.ctx = session->ctx, .model = session->model, .model_info = session->model_info};
    int code = cli_session_data(&training, options, options->data, "train");
    if (code) return code;
    enhope_model *model = NULL;
    const enhope_status status = enhope_model_with_references(
        session->ctx, session->model, training.data, to, options->answer.centers, options->answer.random_state, &model);
    enhope_dataset_free(training.data);
    if (status) return cli_fail(session->ctx, status);
    enhope_model_free(session->model);
    session->model = model;
    enhope_model_get_info(session->model, &session->model_info);
    return 0;
}

const enhope_history *cli_session_best(const cli_session *session)
{
    int64_t rows = 0;
    const enhope_history *history = enhope_model_history(session->model, &rows);
    return session->model_info.best < 0 ? NULL : &history[session->model_info.best];
}

void cli_session_close(cli_session *session)
{
    enhope_model_free(session->model);
    enhope_dataset_free(session->data);
    enhope_context_free(session->ctx);
    *session = (cli_session){0};
}
