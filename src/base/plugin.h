/* Plug-ins: libraries of enhope's own that are loaded on first use, because they depend on libraries that are large or
 * often missing. This header stands alone, so that the command loads its plug-in by the same code. */
#ifndef EH_PLUGIN_H
#define EH_PLUGIN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EH_PLUGIN_MESSAGE = 600 };

typedef struct eh_plugin {
    const char *library; /* its file: "libenhope_mat.so" */
    const char *purpose; /* what it is for, as the subject of a message: "reading MATLAB files" */
    const char *advice;  /* what to do if it is missing: "install libmatio" */
    bool global;         /* its symbols are visible to libraries that are loaded later */
} eh_plugin;

/* Loads the plug-in, which stays loaded, and stores the address of the function `symbol` in the function pointer at out.
 * The file is searched for beside the library that calls (RPATH $ORIGIN; if that is linked statically, along the RPATH
 * of the program) and in LD_LIBRARY_PATH. False: the message says why, and what to do. */
static inline bool eh_plugin_find(const eh_plugin *plugin, const char *symbol, void *out,
                                  char message[EH_PLUGIN_MESSAGE])
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

#endif
