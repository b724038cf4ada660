/* The command under mpirun: rank 0 prints and writes, the others only compute. Another rank prints
 * its error only if rank 0 does not fail too. */
#define _DEFAULT_SOURCE 1
#include <stdarg.h>
#include <string.h>

#include "core/cli.h"

static enhope_context *joined;
static int rank;
static char deferred[1024]; /* the first message of a rank other than 0 */

int cli_ranks_join(void)
{
    joined = enhope_context_create();
    if (!joined) return cli_error("out of memory");
    const enhope_status status = enhope_context_set_ranks(joined, "auto");
    if (status) return cli_fail(joined, status);
    rank = enhope_context_rank(joined);
    if (rank && !freopen("/dev/null", "w", stdout))
        return cli_error("/dev/null cannot be opened for writing; check its permissions");
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

void cli_print_message(const char *prefix, const char *format, va_list args)
{
    if (rank) {
        if (!*deferred) vsnprintf(deferred, sizeof deferred, format, args);
        return;
    }
    fprintf(stderr, "%s: ", prefix);
    cli_vprint(stderr, format, args);
    putc('\n', stderr);
}

/* If all ranks have failed, rank 0 has printed the reason. A rank that fails alone prints its own
 * message. Its exit ends the others, which may wait for it. */
int cli_ranks_leave(int code)
{
    static const double patience = 1; /* seconds */
    const bool failed = code == CLI_FAILED || code == CLI_USAGE;
    if (failed && joined && !enhope_context_all_failed(joined, patience) && rank)
        cli_print(stderr, "%s: rank %d: %s\n", cli_self.name, rank, deferred);
    enhope_context_free(joined);
    return code;
}
