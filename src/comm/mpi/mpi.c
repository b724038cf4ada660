/* Ranks by MPI: the plug-in libenhope_mpi.so, the only file that uses MPI. MPI is initialized once
 * per process and finalized at exit. A waiting rank yields its core, so there may be more ranks
 * than cores, and gives up after ENHOPE_MPI_TIMEOUT seconds. Every operation is therefore
 * nonblocking and polled. Blocks that may lie in GPU memory use point-to-point messages, because
 * nonblocking MPI collectives do not support such memory. */
#define _DEFAULT_SOURCE 1
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm.h"

enum { MESSAGE_BYTES = 1 << 30 }; /* maximum of one message: MPI counts in 32 bits */

typedef struct state {
    MPI_Comm all, gathering,
        leaving;          /* separate communicators: messages of gather() and all_failed() never match others */
    MPI_Request *request; /* (capacity) pending messages */
    int count, capacity;
    long timeout; /* maximum seconds of a wait; 0: no limit */
    bool lost;    /* other ranks may be waiting for this one */
} state;

static state *state_of(eh_comm *c)
{
    return c->state;
}

/* Stores the first failure. */
static bool succeeded(eh_comm *c, int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (error == MPI_SUCCESS) return true;
    if (*c->failure) return false;
    MPI_Error_string(error, text, &length);
    snprintf(c->failure, sizeof c->failure, "%.*s", length, text);
    return false;
}

/* ---- waiting ---- */

static const long default_timeout = 600; /* seconds */

/* Waits for requests. Time in which this process was stopped does not count. Rank 0 gives up first
 * and reports. */
static void wait_for(eh_comm *c, MPI_Request *request, int count)
{
    const long timeout = state_of(c)->timeout;
    double waited = 0, before = eh_seconds();
    for (int done = 0; succeeded(c, MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE)) && !done; sched_yield()) {
        const double now = eh_seconds(), passed = now - before;
        waited += passed < 1 ? passed : 1;
        before = now;
        if (!timeout || waited < (double)(timeout + (c->rank ? 2 : 0))) continue;
        snprintf(c->failure, sizeof c->failure,
                 "rank %d waited %ld s for the other ranks: a host may be unreachable; check the hosts or raise "
                 "ENHOPE_MPI_TIMEOUT (seconds)",
                 c->rank, timeout);
        return;
    }
}

/* ---- the table ---- */

static int message_size(int64_t bytes)
{
    return bytes < MESSAGE_BYTES ? (int)bytes : MESSAGE_BYTES;
}

static void mpi_broadcast(eh_comm *c, int from, void *block, int64_t bytes)
{
    MPI_Request request;
    for (int64_t at = 0; at < bytes && !*c->failure; at += MESSAGE_BYTES)
        if (succeeded(c, MPI_Ibcast((char *)block + at, message_size(bytes - at), MPI_BYTE, from, state_of(c)->all,
                                    &request)))
            wait_for(c, &request, 1);
}

static void mpi_sum(eh_comm *c, int64_t *value, int count)
{
    MPI_Request request;
    if (!*c->failure &&
        succeeded(c, MPI_Iallreduce(MPI_IN_PLACE, value, count, MPI_INT64_T, MPI_SUM, state_of(c)->all, &request)))
        wait_for(c, &request, 1);
}

/* Appends a request; NULL if memory is exhausted. */
static MPI_Request *next_request(eh_comm *c)
{
    state *s = state_of(c);
    if (s->count == s->capacity) {
        const int capacity = s->capacity ? 2 * s->capacity : 64;
        MPI_Request *grown = realloc(s->request, (size_t)capacity * sizeof *grown);
        if (!grown) {
            strcpy(c->failure, "out of memory for a pending message");
            return NULL;
        }
        s->request = grown;
        s->capacity = capacity;
    }
    return &s->request[s->count++];
}

static void begin_send(eh_comm *c, MPI_Comm comm, int to, int tag, const char *block, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && !*c->failure; at += MESSAGE_BYTES) {
        MPI_Request *request = next_request(c);
        if (request) succeeded(c, MPI_Isend(block + at, message_size(bytes - at), MPI_BYTE, to, tag, comm, request));
    }
}

static void begin_receive(eh_comm *c, MPI_Comm comm, int from, int tag, char *block, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && !*c->failure; at += MESSAGE_BYTES) {
        MPI_Request *request = next_request(c);
        if (request) succeeded(c, MPI_Irecv(block + at, message_size(bytes - at), MPI_BYTE, from, tag, comm, request));
    }
}

static void mpi_send(eh_comm *c, int to, int tag, const void *block, int64_t bytes)
{
    begin_send(c, state_of(c)->all, to, tag, block, bytes);
}

static void mpi_receive(eh_comm *c, int from, int tag, void *block, int64_t bytes)
{
    begin_receive(c, state_of(c)->all, from, tag, block, bytes);
}

/* Waits for the requests from `first` on. */
static void finish_requests(eh_comm *c, int first)
{
    state *s = state_of(c);
    if (s->count > first && !*c->failure) wait_for(c, s->request + first, s->count - first);
    s->count = first;
}

static void mpi_wait(eh_comm *c)
{
    finish_requests(c, 0);
}

static void mpi_gather(eh_comm *c, void *block, const int64_t *offset)
{
    const int first = state_of(c)->count;
    for (int i = 1; i < c->ranks; i++) {
        const int from = (c->rank + c->ranks - i) % c->ranks;
        begin_receive(c, state_of(c)->gathering, from, 0, (char *)block + offset[from],
                      offset[from + 1] - offset[from]);
    }
    for (int i = 1; i < c->ranks; i++)
        begin_send(c, state_of(c)->gathering, (c->rank + i) % c->ranks, 0, (char *)block + offset[c->rank],
                   offset[c->rank + 1] - offset[c->rank]);
    finish_requests(c, first);
}

static bool mpi_all_failed(eh_comm *c, double seconds)
{
    const double until = eh_seconds() + seconds;
    MPI_Request request;
    int there = 0;
    state_of(c)->lost = state_of(c)->lost || *c->failure || MPI_Ibarrier(state_of(c)->leaving, &request) != MPI_SUCCESS;
    while (!state_of(c)->lost && !there) {
        state_of(c)->lost =
            MPI_Test(&request, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS || (!there && eh_seconds() > until);
        sched_yield();
    }
    return there;
}

static const eh_comm_ops mpi = {
    .name = "mpi",
    .gather = mpi_gather,
    .broadcast = mpi_broadcast,
    .sum = mpi_sum,
    .send = mpi_send,
    .receive = mpi_receive,
    .wait = mpi_wait,
    .all_failed = mpi_all_failed,
};

/* ---- joining ---- */

static pid_t process; /* the process that initialized MPI */
static state own;
static eh_comm comm = {.state = &own};

/* Exit handler. If other ranks may be waiting for this one, MPI_Finalize() would block. Without it,
 * mpirun ends the other ranks when this process has ended, after its own exit handlers. */
static void finalize(void)
{
    int ended = 0;
    if (getpid() != process || MPI_Finalized(&ended) != MPI_SUCCESS || ended) return;
    if (!own.lost && !*comm.failure) MPI_Finalize();
}

static int initialize(void)
{
    int begun = 0, level;
    MPI_Initialized(&begun);
    if (begun) return MPI_SUCCESS; /* the application initialized MPI and finalizes it */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    process = getpid();
    if (error == MPI_SUCCESS) atexit(finalize);
    return error;
}

static void find_local_ranks(eh_comm *c)
{
    MPI_Comm machine;
    c->local_size = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS) return;
    MPI_Comm_rank(machine, &c->local_rank);
    MPI_Comm_size(machine, &c->local_size);
    MPI_Comm_free(&machine);
}

static enhope_status read_timeout(enhope_context *ctx, long *out)
{
    const char *text = getenv("ENHOPE_MPI_TIMEOUT");
    char *end;
    *out = default_timeout;
    if (!text || !*text) return ENHOPE_OK;
    *out = strtol(text, &end, 10);
    if (*end || *out < 0 || *out > INT32_MAX)
        return eh_fail(
            ctx, ENHOPE_ERROR_ARGUMENT,
            "ENHOPE_MPI_TIMEOUT is '%.40s': expected the seconds that a rank waits for others, 0 for no limit", text);
    return ENHOPE_OK;
}

/* Creates the communicators after MPI is initialized. */
static enhope_status open_comm(enhope_context *ctx, eh_comm *c)
{
    state *s = state_of(c);
    if (MPI_Comm_dup(MPI_COMM_WORLD, &s->all) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &s->gathering) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &s->leaving) != MPI_SUCCESS)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "cannot initialize MPI");
    MPI_Comm_set_errhandler(s->all, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->gathering, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->leaving, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->all, &c->rank);
    MPI_Comm_size(s->all, &c->ranks);
    find_local_ranks(c);
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    c->device = MPIX_Query_cuda_support();
#endif
    return ENHOPE_OK;
}

__attribute__((visibility("default"))) enhope_status eh_comm_mpi_open(enhope_context *ctx, size_t table_size,
                                                                      eh_comm **out);

enhope_status eh_comm_mpi_open(enhope_context *ctx, size_t table_size, eh_comm **out)
{
    if (table_size != sizeof(eh_comm_ops))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE,
                       "libenhope_mpi.so does not match this version of libenhope; reinstall enhope");
    if (!comm.op) {
        EH_TRY(read_timeout(ctx, &own.timeout));
        if (initialize() != MPI_SUCCESS) return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "cannot initialize MPI");
        EH_TRY(open_comm(ctx, &comm));
        comm.op = &mpi;
    }
    *out = &comm;
    return ENHOPE_OK;
}
