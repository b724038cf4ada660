/* The command as one of several ranks (mpirun): rank 0 speaks and writes, the others only work. What goes wrong in another
 * rank is said by it where rank 0 does not fail as well. */
#define _DEFAULT_SOURCE 1
#include <stdarg.h>
#include <string.h>

#include "core/cli.h"

static enhope_context *joined;
static int rank;
static int home;        /* the rank that has started this process */
static char kept[1024]; /* the first sentence of another rank than 0 */

int cli_ranks_join(void)
{
    joined = enhope_context_create();
    if (!joined) return cli_error("out of memory");
    const enhope_status status = enhope_context_set_ranks(joined, "auto");
    if (status) return cli_fail(joined, status);
    rank = enhope_context_rank(joined);
    if (rank && !freopen("/dev/null", "w", stdout)) return cli_error("/dev/null cannot be written");
    return 0;
}

int cli_rank(void)
{
    return rank;
}

int cli_ranks(void)
{
    return joined ? enhope_context_ranks(joined) : 1;
}

int cli_ranks_here(void)
{
    return joined ? enhope_context_crowd(joined) : 1;
}

int cli_ranks_tell(int to, const void *words, int bytes)
{
    const enhope_status status = enhope_context_tell(joined, to, words, bytes);
    return status ? cli_fail(joined, status) : 0;
}

int cli_ranks_hear(void *words, int bytes, int *from)
{
    const enhope_status status = enhope_context_hear(joined, words, bytes, from);
    return status ? cli_fail(joined, status) : 0;
}

void cli_ranks_apart(void)
{
    home = rank;
    rank = 0;
    joined = NULL; /* its context, and MPI, are the parent's */
}

void cli_say(const char *who, const char *format, va_list args)
{
    if (rank) {
        if (!*kept) vsnprintf(kept, sizeof kept, format, args);
        return;
    }
    fprintf(stderr, "%s: ", who);
    if (home) fprintf(stderr, "rank %d: ", home);
    vfprintf(stderr, format, args);
    putc('\n', stderr);
}

/* Where all ranks have failed, rank 0 has said why. Else the others would wait for this one. */
int cli_ranks_leave(int code)
{
    static const double patience = 1; /* seconds */
    const bool failed = code == CLI_FAILED || code == CLI_USAGE;
    if (failed && cli_ranks() > 1 && !enhope_context_meet(joined, patience)) {
        if (rank) fprintf(stderr, "enhope: rank %d: %s\n", rank, kept);
        enhope_context_abort(joined, code);
    }
    enhope_context_free(joined);
    return code;
}
