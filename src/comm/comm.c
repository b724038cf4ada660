/* Joining other ranks, and collective operations on a context.
 *
 * MPI is a plug-in (base/plugin.h), so that the library does not depend on it. The plug-in exports
 *
 *   enhope_status eh_comm_mpi_open(ctx, table_size, &comm)
 *       Joins the ranks that this process was started with; a second call gives the same comm.
 *
 * table_size is sizeof(eh_comm_ops). The plug-in rejects another size, which means another version.
 */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/plugin.h"

typedef enhope_status (*mpi_open_fn)(enhope_context *, size_t, eh_comm **);

/* True if an MPI launcher started this process together with others. */
static bool started_by_mpi(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (getenv(sizes[i])) return atoi(getenv(sizes[i])) > 1;
    const char *tasks = getenv("SLURM_NTASKS");
    return getenv("PMIX_RANK") && tasks && atoi(tasks) > 1;
}

static enhope_status open_mpi(enhope_context *ctx, eh_comm **out)
{
    /* global: the plug-ins of MPI use its symbols */
    static const eh_plugin plugin = {.library = "libenhope_mpi.so",
                                     .purpose = "MPI",
                                     .advice = "rebuild enhope with mpicc installed",
                                     .global = true};
    char message[EH_PLUGIN_MESSAGE];
    mpi_open_fn open = NULL;
    if (!eh_plugin_find(&plugin, "eh_comm_mpi_open", &open, message))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "%s", message);
    return open(ctx, sizeof(eh_comm_ops), out);
}

enhope_status enhope_context_set_ranks(enhope_context *ctx, const char *name)
{
    const bool mpi = name && !strcmp(name, "mpi"), automatic = name && !strcmp(name, "auto");
    if (!mpi && !automatic && (!name || strcmp(name, "self")))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown ranks '%s': expected self, mpi or auto", name ? name : "");
    eh_comm *comm = NULL;
    if (mpi || (automatic && started_by_mpi())) EH_TRY(open_mpi(ctx, &comm));
    const bool several = comm && comm->ranks > 1;
    ctx->comm = several ? comm : NULL;
    ctx->local_rank = several ? comm->local_rank : 0;
    ctx->local_size = several ? comm->local_size : 1;
    return ENHOPE_OK;
}

int enhope_context_rank(const enhope_context *ctx)
{
    return eh_comm_rank(ctx);
}

int enhope_context_ranks(const enhope_context *ctx)
{
    return eh_comm_ranks(ctx);
}

void enhope_context_broadcast(enhope_context *ctx, void *block, size_t bytes)
{
    eh_comm_broadcast(ctx, block, (int64_t)bytes);
}

int enhope_context_all_failed(enhope_context *ctx, double seconds)
{
    return !ctx->comm || ctx->comm->op->all_failed(ctx->comm, seconds);
}

/* ---- collective operations ---- */

/* The failure of the lowest rank that has one. */
typedef struct failure_message {
    int32_t status;
    char error[1024];
} failure_message;

void eh_comm_begin(enhope_context *ctx)
{
    ctx->failure_shared = false;
}

enhope_status eh_comm_check(enhope_context *ctx, enhope_status status)
{
    eh_comm *c = ctx->comm;
    if (!c || (status && ctx->failure_shared)) return status;
    if (*c->failure && !status) status = eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "ranks cannot communicate: %s", c->failure);
    int64_t failed = status != 0;
    c->op->sum(c, &failed, 1);
    if (!failed || *c->failure) return status;
    ctx->failure_shared = true;
    /* the first rank with a failure is the one below which all ranks sum to 0 */
    failure_message v = {.status = status};
    memcpy(v.error, ctx->error, sizeof v.error);
    int from = -1;
    for (int r = 0; r < c->ranks && from < 0; r++) {
        int64_t its = r == c->rank ? status : 0;
        c->op->sum(c, &its, 1);
        if (its) from = r;
    }
    c->op->broadcast(c, from, &v, sizeof v);
    if (status || *c->failure) return status;
    return eh_fail(ctx, (enhope_status)v.status, "rank %d: %.*s", from, (int)sizeof ctx->error - 32, v.error);
}

void eh_comm_broadcast(enhope_context *ctx, void *block, int64_t bytes)
{
    if (ctx->comm) ctx->comm->op->broadcast(ctx->comm, 0, block, bytes);
}

int64_t eh_comm_sum(enhope_context *ctx, int64_t value)
{
    if (ctx->comm) ctx->comm->op->sum(ctx->comm, &value, 1);
    return value;
}

void eh_comm_gather(enhope_context *ctx, void *block, const int64_t *offset)
{
    if (ctx->comm) ctx->comm->op->gather(ctx->comm, block, offset);
}
