/* Loads the plug-in libenhope_http.so of enhope serve. */
#include "base/plugin.h"
#include "core/cli.h"
#include "serve/http.h"

const http_functions *http_plugin(void)
{
    static const eh_plugin plugin = {.library = "libenhope_http.so",
                                     .needs = "libmicrohttpd.so.12",
                                     .purpose = "enhope serve",
                                     .advice =
                                         "install libmicrohttpd, or build enhope where libmicrohttpd-dev is installed"};
    char message[EH_PLUGIN_MESSAGE];
    http_plugin_open_fn open = NULL;
    if (!eh_plugin_find(&plugin, "http_plugin_open", &open, message)) {
        cli_error("%s", message);
        return NULL;
    }
    const http_functions *functions = open(sizeof(http_exchange), sizeof(http_functions));
    if (!functions) cli_error("%s is of another version; reinstall enhope", plugin.library);
    return functions;
}
