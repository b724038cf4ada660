/* enhope train: trains a model and saves it. */
#include <string.h>

#include "core/cli.h"

static const char default_output[] = "model.safetensors";

static bool trains_without_labels(const cli_session *session, const enhope_settings *settings)
{
    char method[64] = "";
    if (!settings || enhope_settings_get(session->ctx, settings, "method", method, sizeof method)) return false;
    for (int i = 0; i < enhope_method_count(); i++)
        if (!strcmp(enhope_method_get(i)->name, method)) return enhope_method_get(i)->unlabeled;
    return false;
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
    if (!code) code = cli_settings_of_options(session.ctx, options, &settings);
    if (!code && !options->data) code = cli_usage_error(options->command, "missing option: --data SPEC");
    cli_options reading = *options;
    reading.source.table.label_optional = trains_without_labels(&session, settings);
    if (!code) code = cli_train(&session, &reading, settings, path);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
