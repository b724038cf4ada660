/* enhope view: writes an interactive page of the embedding, one file that needs no network. */
#include <string.h>
#include <strings.h>

#include "view/page.h"
#include "view/view.h"

static const char default_output[] = "map.html";

int cmd_view(const cli_options *options)
{
    view v = {0};
    cli_session session;
    cli_output output = {0};
    const char *path = options->output ? options->output : default_output, *dot = strrchr(path, '.');
    if (dot && (!strcasecmp(dot, ".svg") || !strcasecmp(dot, ".png") || !strcasecmp(dot, ".pdf")))
        return cli_usage_error(
            options->command, "%s: view writes an HTML page; use a name such as map.html, or enhope plot for a picture",
            path);
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code && session.model_info.outputs < 2)
        code = cli_error("%s maps to 1 dimension, the page needs 2: train with two or more dimensions",
                         options->positional[0]);
    if (!code && session.model_info.outputs > 2)
        cli_print(stderr, "enhope: %s maps to %lld dimensions; the first two are drawn\n", options->positional[0],
                  (long long)session.model_info.outputs);
    if (!code) code = view_read(&v, &session, options);
    if (!code && *cli_page_missing) code = cli_error("view: %s", cli_page_missing);
    if (!code) code = cli_output_differs(path, options->data);
    if (!code) code = cli_output_differs(path, options->positional[0]);
    if (!code) code = cli_output_open(&output, path);
    if (!code) code = view_gather(&v, options);
    if (!code && options->page.history) code = view_record(&v, options);
    if (!code && v.n < v.total)
        fprintf(stderr,
                "enhope: the page shows %lld of %lld points, the same fraction of every class; use --sample N to "
                "change it\n",
                (long long)v.n, (long long)v.total);
    if (!code) code = view_put(&v, options, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    view_free(&v);
    cli_session_close(&session);
    return code;
}
