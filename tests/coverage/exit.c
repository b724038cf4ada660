/* Keeps the coverage counters of processes that end by _exit(), such as the trials of enhope tune.
 * Tests of the preset coverage preload it (LD_PRELOAD).
 *
 * gcc writes the counters of a module in its destructors, which _exit() skips. This _exit() runs
 * the destructors of the modules in the folder COVERAGE_MODULES, then ends the process. */
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*destructor)(void);

static void run_destructors(const ElfW(Dyn) * entry, ElfW(Addr) base)
{
    const destructor *array = NULL;
    size_t bytes = 0;
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_FINI_ARRAY) array = (const destructor *)(base + entry->d_un.d_ptr);
        if (entry->d_tag == DT_FINI_ARRAYSZ) bytes = entry->d_un.d_val;
    }
    for (size_t i = array ? bytes / sizeof *array : 0; i > 0; i--) array[i - 1]();
}

static int visit(struct dl_phdr_info *info, size_t size, void *folder)
{
    (void)size;
    char program[4096];
    const char *path = info->dlpi_name;
    if (!*path) { /* the program */
        const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length < 0 ? 0 : length] = 0;
        path = program;
    }
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            run_destructors((const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), info->dlpi_addr);
    return 0;
}

void _exit(int status)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    char *folder = getenv("COVERAGE_MODULES");
    if (folder && !atomic_flag_test_and_set(&done)) dl_iterate_phdr(visit, folder);
    for (;;) syscall(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("_exit")));
