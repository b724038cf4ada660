/* enhope train: trains a model and saves it. */
#include <string.h>

#include "core/cli.h"

static const char default_output[] = "model.safetensors";

static int make_settings(enhope_context *ctx, const cli_options *options, enhope_settings **out)
{
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    for (int pass = 0; pass < 2; pass++) /* the recipe first, whatever the order of the options */
        for (int i = 0; i < options->settings; i++) {
            const cli_pair *setting = &options->setting[i];
            if (!strcmp(setting->name, "recipe") != (pass == 0)) continue;
            const enhope_status status = enhope_settings_set(ctx, *out, setting->name, setting->value);
            if (status) return cli_fail(ctx, status);
        }
    return 0;
}

int cmd_train(const cli_options *options)
{
    const char *path = options->output ? options->output : default_output;
    if (!strcmp(path, "-"))
        return cli_usage_error(options->command, "a model cannot be written to standard output; use -o FILE");
    cli_session session;
    enhope_settings *settings = NULL;
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code) code = make_settings(session.ctx, options, &settings);
    if (!code && !options->data) code = cli_usage_error(options->command, "missing option: --data SPEC");
    if (!code) code = cli_train(&session, options, settings, path);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
