/* Loads the plug-in libenhope_cairo.so for PNG and PDF on first use. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>

#include "base/plugin.h"
#include "core/cli.h"
#include "plot/canvas.h"

static char *clean(const char *text)
{
    char *result = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&result, &size);
    if (!to) return NULL;
    cli_put_text(to, text, 0);
    if (fclose(to) == 0) return result;
    free(result);
    return NULL;
}

canvas *canvas_open_cairo(FILE *out, const canvas_page *page)
{
    static const eh_plugin plugin = {.library = "libenhope_cairo.so",
                                     .needs = "libcairo.so.2",
                                     .purpose = "drawing PNG and PDF",
                                     .advice =
                                         "write SVG, install cairo, or build enhope where libcairo2-dev is installed"};
    static const canvas_host host = {clean, cli_error};
    char message[EH_PLUGIN_MESSAGE];
    canvas_cairo_open_fn open = NULL;
    if (eh_plugin_find(&plugin, "canvas_cairo_open", &open, message)) return open(sizeof(canvas), &host, out, page);
    cli_error("%s", message);
    return NULL;
}
