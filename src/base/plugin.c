/* Loading of plug-ins. */
#include "base/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool eh_plugin_find(const eh_plugin *plugin, const char *symbol, void *out, char message[EH_PLUGIN_MESSAGE])
{
    void *library = dlopen(plugin->library, RTLD_NOW | (plugin->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!library) {
        snprintf(message, EH_PLUGIN_MESSAGE,
                 "%s is not available: %s; %s (the plug-in is searched for beside libenhope and in LD_LIBRARY_PATH)",
                 plugin->purpose, dlerror(), plugin->advice);
        return false;
    }
    void *address = dlsym(library, symbol);
    if (!address) {
        snprintf(message, EH_PLUGIN_MESSAGE, "%s is of another version than libenhope: %s", plugin->library, dlerror());
        return false;
    }
    memcpy(out, &address, sizeof address); /* ISO C has no cast from an object to a function */
    return true;
}
