/* How OpenMP threads wait. By default, idle threads spin for milliseconds. On a shared machine they
 * take cores from working threads, and training on small data may take ten times as long.
 *
 * libgomp reads OMP_WAIT_POLICY in a constructor, so main() is too late to set it. A function of
 * .preinit_array runs before all constructors, but setenv() does not work there, because the C
 * library initializes the environment later. The function receives the environment as an argument
 * and may replace an entry. It replaces one that no constructor reads, and main() restores it, so
 * that child processes inherit the original environment. libomp reads its variables after the start
 * of main(). */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

static char passive[] = "OMP_WAIT_POLICY=passive";
static char **replaced, *original; /* the replaced entry and its old value; NULL: none */
static bool configured;            /* by the user */

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
    static const char *const choices[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", NULL};
    static const char *const unread[] = {"OLDPWD", "SHLVL", "_", "PWD", "HOME", "PATH", NULL};
    (void)argc;
    (void)argv;
    char **free_entry = NULL;
    for (char **entry = environment; *entry; entry++) {
        configured = configured || is_any(*entry, choices);
        if (!free_entry && is_any(*entry, unread)) free_entry = entry;
    }
    if (configured || !free_entry) return;
    replaced = free_entry;
    original = *replaced;
    *replaced = passive;
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = before_constructors;

void cli_threads_begin(void)
{
    if (replaced) *replaced = original;
    replaced = NULL;
    const bool libomp = dlsym(RTLD_DEFAULT, "kmp_set_blocktime") != NULL;
    if (libomp && !configured) setenv("KMP_BLOCKTIME", "0", 0);
}
