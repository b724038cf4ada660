/* The command as one of several ranks (mpirun): rank 0 speaks and writes, the others only work. What goes wrong in another
 * rank is said by it where rank 0 does not fail as well. */
#define _DEFAULT_SOURCE 1
#include <stdarg.h>
#include <string.h>

#include "core/cli.h"

static enhope_context *joined;
static int rank;
static char deferred[1024]; /* the first sentence of another rank than 0 */

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

int cli_rank_0_value(enhope_context *ctx, int value)
{
    enhope_context_broadcast(ctx, &value, sizeof value);
    return value;
}

void cli_print_message(const char *who, const char *format, va_list args)
{
    if (rank) {
        if (!*deferred) vsnprintf(deferred, sizeof deferred, format, args);
        return;
    }
    fprintf(stderr, "%s: ", who);
    vfprintf(stderr, format, args);
    putc('\n', stderr);
}

/* If all ranks have failed, rank 0 has reported the reason. A rank that fails alone reports it itself, and ends the others
 * when it exits, because they may wait for it. */
int cli_ranks_leave(int code)
{
    static const double patience = 1; /* seconds */
    const bool failed = code == CLI_FAILED || code == CLI_USAGE;
    if (failed && joined && !enhope_context_all_failed(joined, patience) && rank)
        fprintf(stderr, "%s: rank %d: %s\n", cli_self.name, rank, deferred);
    enhope_context_free(joined);
    return code;
}
