/* enhope export: writes a model as ONNX, C, JavaScript, WebAssembly or JSON. */
#include <ctype.h>
#include <string.h>

#include "deploy/export.h"

enum { MAX_NAME = 40 }; /* characters of a prefix, as in the library */

const char *export_format(const cli_options *options)
{
    const char *ending = strrchr(options->output, '.');
    return ending ? ending + 1 : "";
}

static int check_format(const cli_options *options)
{
    static const char *const formats[] = {"onnx", "c", "js", "json", "wasm"};
    if (!options->output) return cli_usage_error(options->command, "-o FILE is required, such as -o model.onnx");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(export_format(options), formats[i])) return 0;
    return cli_usage_error(options->command, "-o is '%s': expected an ending .onnx, .c, .js, .json or .wasm",
                           options->output);
}

/* The name of the output file without folder and ending, as an identifier. */
static void name_of_file(const char *path, char name[MAX_NAME + 1])
{
    const char *base = strrchr(path, '/');
    size_t n = 0;
    base = base ? base + 1 : path;
    if (!isalpha((unsigned char)*base)) n = (size_t)snprintf(name, MAX_NAME + 1, "model_");
    for (; *base && *base != '.' && n < MAX_NAME; base++) name[n++] = isalnum((unsigned char)*base) ? *base : '_';
    name[n] = '\0';
}

int cmd_export(const cli_options *options)
{
    char name[MAX_NAME + 1] = "";
    if (options->output) name_of_file(options->output, name);
    const enhope_export_options export = {.precision = options->deploy.precision,
                                          .name = options->deploy.name ? options->deploy.name : name,
                                          .k = (int32_t)options->n_neighbors,
                                          .encoded = options->deploy.encoded};
    cli_session session;
    int code = cli_session_open(&session, options);
    if (!code) code = check_format(options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code && !strcmp(export_format(options), "wasm")) {
        code = export_wasm(&session, options, &export);
    } else if (!code) {
        const enhope_status status = enhope_model_export(session.ctx, session.model, options->output, &export);
        if (status) code = cli_fail(session.ctx, status);
    }
    if (!code && options->data) code = export_check(&session, options, &export);
    cli_session_close(&session);
    return code;
}
