/* How OpenMP threads wait. By default those without work spin for milliseconds: on a machine that others use too, that takes
 * a core from threads that have work, and training on small data may take ten times as long.
 *
 * libgomp reads OMP_WAIT_POLICY in a constructor, so main() is too late to set it; and a function of .preinit_array, which is
 * called before all constructors, is too early for setenv(), because the C library takes the environment only after it. But
 * it is given the environment, and may replace an entry: one that no constructor reads is lent, and put back in main(), so
 * that child processes get the environment as the user left it. libomp reads its variables after main() has begun. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

static char passive[] = "OMP_WAIT_POLICY=passive";
static char **lent, *owner; /* the entry, and what it was; NULL: none */
static bool chosen;         /* by the user */

static bool is(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_any(const char *entry, const char *const *names)
{
    for (; *names; names++)
        if (is(entry, *names)) return true;
    return false;
}

static void before_constructors(int argc, char **argv, char **environment)
{
    static const char *const choices[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", NULL},
                             *const unread[] = {"OLDPWD", "SHLVL", "_", "PWD", "HOME", "PATH", NULL};
    (void)argc;
    (void)argv;
    char **free_entry = NULL;
    for (char **entry = environment; *entry; entry++) {
        chosen = chosen || is_any(*entry, choices);
        if (!free_entry && is_any(*entry, unread)) free_entry = entry;
    }
    if (chosen || !free_entry) return;
    lent = free_entry;
    owner = *lent;
    *lent = passive;
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = before_constructors;

void cli_threads_begin(void)
{
    if (lent) *lent = owner;
    lent = NULL;
    const bool libomp = dlsym(RTLD_DEFAULT, "kmp_set_blocktime") != NULL;
    if (libomp && !chosen) setenv("KMP_BLOCKTIME", "0", 0);
}
