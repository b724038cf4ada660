/* Plug-ins: shared libraries of enhope that are loaded on first use, because they depend on
 * libraries that are large or often missing. This header has no dependencies within the library, so
 * the command uses it, too. */
#ifndef EH_PLUGIN_H
#define EH_PLUGIN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EH_PLUGIN_MESSAGE = 600 };

typedef struct eh_plugin {
    const char *library; /* file name: "libenhope_image.so" */
    const char *purpose; /* subject of messages: "reading images" */
    const char *advice;  /* what to do if the plug-in is missing: "install libpng and libjpeg" */
    const char *needs;   /* "libcairo.so.2", loaded first for plug-ins that are not linked to it; NULL: nothing */
    bool global;         /* libraries that are loaded later see its symbols */
} eh_plugin;

/* Loads the plug-in, which stays loaded, and stores the address of the function `symbol` in the
 * function pointer at out. The file is searched for beside the calling library (RPATH $ORIGIN; for
 * a static library, the RPATH of the program) and in LD_LIBRARY_PATH. Returns false with a message
 * that states the reason and what to do. */
static inline bool eh_plugin_find(const eh_plugin *plugin, const char *symbol, void *out,
                                  char message[EH_PLUGIN_MESSAGE])
{
    char reason[EH_PLUGIN_MESSAGE / 2] = "";
    if (plugin->needs && !dlopen(plugin->needs, RTLD_NOW | RTLD_GLOBAL))
        snprintf(reason, sizeof reason, "%s", dlerror());
    void *library = dlopen(plugin->library, RTLD_NOW | (plugin->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!library) {
        if (!*reason) snprintf(reason, sizeof reason, "%s", dlerror());
        snprintf(message, EH_PLUGIN_MESSAGE,
                 "%s is not available: %s; %s (the plug-in is searched for beside libenhope and in LD_LIBRARY_PATH)",
                 plugin->purpose, reason, plugin->advice);
        return false;
    }
    void *address = dlsym(library, symbol);
    if (!address) {
        snprintf(message, EH_PLUGIN_MESSAGE, "%s does not match this version of libenhope: %s; reinstall enhope",
                 plugin->library, dlerror());
        return false;
    }
    memcpy(out, &address, sizeof address); /* ISO C does not convert object pointers to function pointers */
    return true;
}

#endif
