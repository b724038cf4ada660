/* enhope update: continues training of a model on new data. */
#define _DEFAULT_SOURCE 1
#include <string.h>
#include <sys/stat.h>

#include "core/cli.h"

static const char default_output[] = "model.safetensors";

/* The settings of the model, without those that depend on the data, then those of the command
 * line. */
static int make_settings(const cli_session *session, const cli_options *options, enhope_settings **out)
{
    static const char *const others[] = {"n_epochs", "batch_size", "time_limit", NULL};
    const int code = cli_settings_of_model(session, others, out);
    return code ? code : cli_settings_add(session, options, *out);
}

static bool same_file(const char *a, const char *b)
{
    struct stat at, other;
    return stat(a, &at) == 0 && stat(b, &other) == 0 && at.st_dev == other.st_dev && at.st_ino == other.st_ino;
}

/* The output file: MODEL only with --in-place or -o MODEL. */
static int choose_output(const cli_options *options, const char **path)
{
    const char *model = options->positional[0];
    if (options->output && options->training.in_place)
        return cli_usage_error(options->command, "-o and --in-place exclude each other; use one of them");
    *path = options->training.in_place ? model : options->output ? options->output : default_output;
    if (!strcmp(*path, "-"))
        return cli_usage_error(options->command, "a model cannot be written to standard output; use -o FILE");
    if (!options->output && !options->training.in_place && same_file(*path, model))
        return cli_usage_error(options->command, "%s would be overwritten; use --in-place to allow that, or -o FILE",
                               model);
    return 0;
}

int cmd_update(const cli_options *options)
{
    const char *path = NULL;
    cli_session session;
    enhope_settings *settings = NULL;
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code && !options->data) code = cli_usage_error(options->command, "missing option: --data SPEC");
    if (!code) code = choose_output(options, &path);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = make_settings(&session, options, &settings);
    if (!code) code = cli_train(&session, options, settings, path);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
