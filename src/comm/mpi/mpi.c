/* Ranks by MPI: the plug-in libenhope_mpi.so, and the only file that sees MPI. MPI is begun once in a process and ended with
 * it. Whoever waits gives the core away, so that ranks may be more than cores; whoever waits too long ends the run. */
#define _DEFAULT_SOURCE 1
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm.h"

enum { PIECE = 1 << 30 }; /* bytes of a message, at most: MPI counts in 32 bits */

typedef struct state {
    MPI_Comm all, words, leaving; /* tell() and hear(), and meet(), must not meet with other messages */
    MPI_Request *request;
    int count, room;
    int *share;         /* (2 ranks) bytes of each rank and where they begin, of what is gathered */
    atomic_ulong waits; /* begun and ended: odd while this rank waits for others */
    long patience;      /* seconds that one may last; 0: for ever */
} state;

static state *of(eh_comm *c)
{
    return c->state;
}

/* Keeps the first failure. */
static bool good(eh_comm *c, int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (error == MPI_SUCCESS) return true;
    if (*c->failure) return false;
    MPI_Error_string(error, text, &length);
    const size_t most = sizeof c->failure - 1, used = (size_t)length < most ? (size_t)length : most;
    memcpy(c->failure, text, used);
    c->failure[used] = '\0';
    return false;
}

/* ---- waiting ---- */

static const long usual_patience = 600; /* seconds */

/* The thread counts seconds in which it ran itself, so that a run that was stopped and continued has not waited meanwhile.
 * Rank 0 speaks first. */
static void *watch(void *user)
{
    eh_comm *c = user;
    const long most = of(c)->patience + (c->rank ? 2 : 0);
    unsigned long before = 0;
    for (long seconds = 0; seconds < most;) {
        sleep(1);
        const unsigned long now = atomic_load(&of(c)->waits);
        seconds = now % 2 && now == before ? seconds + 1 : 0;
        before = now;
    }
    fprintf(stderr,
            "enhope: rank %d has waited for the others for %ld s: a host may be cut off (ENHOPE_MPI_TIMEOUT says how "
            "long they may take)\n",
            c->rank, of(c)->patience);
    _Exit(EXIT_FAILURE); /* the launcher ends the others; MPI is the other thread's */
}

/* Signals are for the threads of the caller. */
static bool start_watch(eh_comm *c)
{
    pthread_t thread;
    sigset_t all, before;
    if (!of(c)->patience || c->ranks == 1) return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, watch, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(thread);
    return started;
}

/* Around all that may wait for other ranks: begin, then end. */
static void turn(eh_comm *c)
{
    atomic_fetch_add(&of(c)->waits, 1);
}

/* ---- the table ---- */

static int piece_of(int64_t bytes)
{
    return bytes < PIECE ? (int)bytes : PIECE;
}

static void mpi_broadcast(eh_comm *c, int from, void *block, int64_t bytes)
{
    turn(c);
    for (int64_t at = 0; at < bytes && !*c->failure; at += PIECE)
        good(c, MPI_Bcast((char *)block + at, piece_of(bytes - at), MPI_BYTE, from, of(c)->all));
    turn(c);
}

static void mpi_gather(eh_comm *c, void *block, const int64_t *offset)
{
    int *counts = of(c)->share, *starts = counts + c->ranks;
    const int64_t all = offset[c->ranks] - offset[0];
    if (*c->failure || all == 0) return;
    if (all > PIECE) { /* rank after rank */
        for (int r = 0; r < c->ranks; r++) mpi_broadcast(c, r, (char *)block + offset[r], offset[r + 1] - offset[r]);
        return;
    }
    for (int r = 0; r < c->ranks; r++) {
        starts[r] = (int)(offset[r] - offset[0]);
        counts[r] = (int)(offset[r + 1] - offset[r]);
    }
    turn(c);
    good(c, MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, (char *)block + offset[0], counts, starts, MPI_BYTE, of(c)->all));
    turn(c);
}

static void mpi_sum(eh_comm *c, int64_t *value, int count)
{
    turn(c);
    if (!*c->failure) good(c, MPI_Allreduce(MPI_IN_PLACE, value, count, MPI_INT64_T, MPI_SUM, of(c)->all));
    turn(c);
}

/* Room for one more request; NULL: there is none. */
static MPI_Request *next_request(eh_comm *c)
{
    state *s = of(c);
    if (s->count == s->room) {
        const int room = s->room ? 2 * s->room : 64;
        MPI_Request *grown = realloc(s->request, (size_t)room * sizeof *grown);
        if (!grown) {
            strcpy(c->failure, "no memory for a message");
            return NULL;
        }
        s->request = grown;
        s->room = room;
    }
    return &s->request[s->count++];
}

static void mpi_send(eh_comm *c, int to, int tag, const void *block, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && !*c->failure; at += PIECE) {
        MPI_Request *request = next_request(c);
        if (request)
            good(c, MPI_Isend((const char *)block + at, piece_of(bytes - at), MPI_BYTE, to, tag, of(c)->all, request));
    }
}

static void mpi_receive(eh_comm *c, int from, int tag, void *block, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && !*c->failure; at += PIECE) {
        MPI_Request *request = next_request(c);
        if (request)
            good(c, MPI_Irecv((char *)block + at, piece_of(bytes - at), MPI_BYTE, from, tag, of(c)->all, request));
    }
}

static void mpi_wait(eh_comm *c)
{
    state *s = of(c);
    turn(c);
    if (s->count && !*c->failure) good(c, MPI_Waitall(s->count, s->request, MPI_STATUSES_IGNORE));
    turn(c);
    s->count = 0;
}

static void mpi_tell(eh_comm *c, int to, const void *words, int bytes)
{
    if (!*c->failure) good(c, MPI_Send(words, bytes, MPI_BYTE, to, 0, of(c)->words));
}

static int mpi_hear(eh_comm *c, void *words, int bytes)
{
    int there = 0;
    MPI_Status status;
    if (*c->failure || !good(c, MPI_Iprobe(MPI_ANY_SOURCE, 0, of(c)->words, &there, &status)) || !there) return -1;
    const int from = status.MPI_SOURCE;
    return good(c, MPI_Recv(words, bytes, MPI_BYTE, from, 0, of(c)->words, MPI_STATUS_IGNORE)) ? from : -1;
}

static bool mpi_meet(eh_comm *c, double seconds)
{
    const double until = eh_seconds() + seconds;
    MPI_Request request;
    int there = 0;
    if (MPI_Ibarrier(of(c)->leaving, &request) != MPI_SUCCESS) return false;
    while (!there && eh_seconds() < until) {
        if (MPI_Test(&request, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (!there) sched_yield();
    }
    return there;
}

static void mpi_abort(eh_comm *c, int code)
{
    MPI_Abort(of(c)->all, code);
    _Exit(code);
}

static const eh_comm_ops mpi = {
    .name = "mpi",
    .gather = mpi_gather,
    .broadcast = mpi_broadcast,
    .sum = mpi_sum,
    .send = mpi_send,
    .receive = mpi_receive,
    .wait = mpi_wait,
    .tell = mpi_tell,
    .hear = mpi_hear,
    .meet = mpi_meet,
    .abort = mpi_abort,
};

/* ---- joining ---- */

static pid_t process; /* that has begun MPI */

static void finish(void)
{
    int ended = 0;
    if (getpid() != process) return; /* a child of it */
    if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended) MPI_Finalize();
}

static int begin(void)
{
    int begun = 0, level;
    MPI_Initialized(&begun);
    if (begun) return MPI_SUCCESS; /* by whoever uses the library, who ends it as well */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    process = getpid();
    if (error == MPI_SUCCESS) atexit(finish);
    return error;
}

static void look_around(eh_comm *c)
{
    MPI_Comm machine;
    c->crowd = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS) return;
    MPI_Comm_rank(machine, &c->near);
    MPI_Comm_size(machine, &c->crowd);
    MPI_Comm_free(&machine);
}

static enhope_status read_patience(enhope_context *ctx, long *out)
{
    const char *text = getenv("ENHOPE_MPI_TIMEOUT");
    char *end;
    *out = usual_patience;
    if (!text || !*text) return ENHOPE_OK;
    *out = strtol(text, &end, 10);
    if (*end || *out < 0 || *out > INT32_MAX)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "ENHOPE_MPI_TIMEOUT is '%.40s': expected the seconds that ranks may wait for each other, 0: for "
                       "ever",
                       text);
    return ENHOPE_OK;
}

/* What is there once MPI is. */
static enhope_status open_comm(enhope_context *ctx, eh_comm *c)
{
    state *s = of(c);
    if (MPI_Comm_dup(MPI_COMM_WORLD, &s->all) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &s->words) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &s->leaving) != MPI_SUCCESS)
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "MPI could not be begun");
    MPI_Comm_set_errhandler(s->all, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->words, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->leaving, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->all, &c->rank);
    MPI_Comm_size(s->all, &c->ranks);
    look_around(c);
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    c->device = MPIX_Query_cuda_support();
#endif
    s->share = malloc(2 * (size_t)c->ranks * sizeof *s->share);
    if (!s->share) return eh_fail_memory(ctx, "shares of ranks", 2 * (size_t)c->ranks, sizeof *s->share);
    if (!start_watch(c))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "no thread could be started to watch over the ranks");
    return ENHOPE_OK;
}

__attribute__((visibility("default"))) enhope_status eh_comm_mpi_open(enhope_context *ctx, size_t table_size,
                                                                      eh_comm **out);

enhope_status eh_comm_mpi_open(enhope_context *ctx, size_t table_size, eh_comm **out)
{
    static state own;
    static eh_comm comm = {.state = &own};
    if (table_size != sizeof(eh_comm_ops))
        return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "libenhope_mpi.so is of another version");
    if (!comm.op) {
        EH_TRY(read_patience(ctx, &own.patience));
        if (begin() != MPI_SUCCESS) return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "MPI could not be begun");
        EH_TRY(open_comm(ctx, &comm));
        comm.op = &mpi;
    }
    *out = &comm;
    return ENHOPE_OK;
}
