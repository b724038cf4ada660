/* enhope update: a model and new data in, a model that has gone on out. */
#define _DEFAULT_SOURCE 1
#include <string.h>
#include <sys/stat.h>

#include "core/cli.h"

static const char default_output[] = "model.safetensors";

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names)) return true;
    return false;
}

/* The model's own settings, and those that are said. How many epochs and how large a batch is a matter of the data. */
static int make_settings(const cli_session *session, const cli_options *options, enhope_settings **out)
{
    static const char *const shape[] = {"recipe", "method", "dims",  "factors", "hidden", "order",
                                        "layers", "unit",   "start", "z",       "scale",  NULL};
    static const char *const others[] = {"recipe", "epochs", "batch", "time", NULL};
    enhope_context *ctx = session->ctx;
    const char *recipe = enhope_model_setting(session->model, "recipe");
    enhope_status status = ENHOPE_OK;
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    if (recipe) status = enhope_settings_set(ctx, *out, "recipe", recipe);
    for (int i = 0; i < enhope_setting_count() && !status; i++) {
        const char *name = enhope_setting_get(i)->name, *value = enhope_model_setting(session->model, name);
        if (value && !is_one_of(name, others)) status = enhope_settings_set(ctx, *out, name, value);
    }
    for (int i = 0; i < options->settings && !status; i++) {
        const cli_pair *setting = &options->setting[i];
        if (is_one_of(setting->name, shape))
            return cli_usage_error(
                options->command,
                "%s%s is the model's and cannot be changed: the map, its exemplars and its scaling go "
                "on as they are",
                setting->name[1] ? "--" : "-", setting->name);
        status = enhope_settings_set(ctx, *out, setting->name, setting->value);
    }
    return status ? cli_fail(ctx, status) : 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat at, other;
    return stat(a, &at) == 0 && stat(b, &other) == 0 && at.st_dev == other.st_dev && at.st_ino == other.st_ino;
}

/* Where the model goes: over MODEL only where that was said. */
static int choose_output(const cli_options *options, const char **path)
{
    const char *model = options->positional[0];
    if (options->output && options->training.in_place)
        return cli_usage_error(options->command, "-o and --in-place are two places for one model");
    *path = options->training.in_place ? model : options->output ? options->output : default_output;
    if (!strcmp(*path, "-"))
        return cli_usage_error(options->command, "a model cannot go to standard output; -o FILE names a file");
    if (!options->output && !options->training.in_place && same_file(*path, model))
        return cli_usage_error(options->command,
                               "%s would be overwritten: --in-place wants that, -o FILE names another", model);
    return 0;
}

int cmd_update(const cli_options *options)
{
    const char *path = NULL;
    cli_session session;
    enhope_settings *settings = NULL;
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code && !options->data) code = cli_usage_error(options->command, "--data SPEC is missing");
    if (!code) code = choose_output(options, &path);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = make_settings(&session, options, &settings);
    if (!code) code = cli_train(&session, options, settings, path);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
