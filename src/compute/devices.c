/* Devices: opens a backend by name and lists the devices of this machine.
 *
 * The cuda backend is a plug-in (base/plugin.h), so this file does not need CUDA. The plug-in
 * exports
 *
 *   enhope_status eh_compute_cuda_open(ctx, c, table_size, index, precision)
 *       Opens GPU number index: sets c->op, c->packed_size, c->packed_is_real, c->state.
 *   enhope_status eh_compute_cuda_describe(ctx, table_size, index, text, size)
 *       Describes GPU number index in text. Returns ENHOPE_ERROR_ARGUMENT if there are fewer GPUs,
 *       and another status with a message in the context if CUDA cannot be used.
 *
 * table_size is sizeof(eh_compute_ops). The plug-in refuses a size that differs from its own,
 * because the table is then of another version. */
#define _DEFAULT_SOURCE 1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plugin.h"
#include "compute/compute.h"

typedef enhope_status (*cuda_open_fn)(enhope_context *, eh_compute *, size_t, int, int);
typedef enhope_status (*cuda_describe_fn)(enhope_context *, size_t, int, char *, size_t);

enum { MAX_GPUS = 1000 }; /* a GPU number has at most three digits */

enhope_status eh_compute_cpu_open(enhope_context *ctx, eh_compute *c); /* cpu/cpu.c */

/* Ranks share the cores of their machine, unless the environment assigns cores to each rank. */
int eh_compute_threads(const enhope_context *ctx)
{
    if (ctx->threads) return ctx->threads;
    const bool given = getenv("OMP_NUM_THREADS") || omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN);
    if (ctx->local_size < 2 || given) return omp_get_max_threads();
    return omp_get_max_threads() > ctx->local_size ? omp_get_max_threads() / ctx->local_size : 1;
}

/* ---- the plug-in ---- */

/* Stores the address of a function of the plug-in in the pointer at *out. */
static enhope_status find_cuda(enhope_context *ctx, const char *name, void *out)
{
    static const eh_plugin plugin = {.library = "libenhope_cuda.so",
                                     .purpose = "the cuda backend",
                                     .advice = "build enhope where nvcc is installed"};
    char message[EH_PLUGIN_MESSAGE];
    if (eh_plugin_find(&plugin, name, out, message)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_COMPUTE, "%s", message);
}

/* Describes a GPU in text, or the reason that there is none. Keeps the message of the context. */
static enhope_status describe_cuda(enhope_context *ctx, int index, char *text, size_t size)
{
    char before[sizeof ctx->error];
    cuda_describe_fn describe = NULL;
    memcpy(before, ctx->error, sizeof before);
    ctx->error[0] = '\0';
    enhope_status status = find_cuda(ctx, "eh_compute_cuda_describe", &describe);
    if (!status) status = describe(ctx, sizeof(eh_compute_ops), index, text, size);
    if (status) snprintf(text, size, "%.*s", (int)size - 1, *ctx->error ? ctx->error : "no CUDA device was found");
    memcpy(ctx->error, before, sizeof before);
    return status;
}

/* If the device name has no GPU number, ranks of a machine use its GPUs in turn. */
static int gpu_number(enhope_context *ctx)
{
    char text[256];
    int gpus = 0;
    if (!strncmp(ctx->device, "cuda:", 5)) return atoi(ctx->device + 5);
    while (ctx->local_rank && gpus < MAX_GPUS && describe_cuda(ctx, gpus, text, sizeof text) == ENHOPE_OK) gpus++;
    return gpus ? ctx->local_rank % gpus : 0;
}

static enhope_status open_cuda(enhope_context *ctx, bool plain, eh_compute *c)
{
    const int index = gpu_number(ctx);
    cuda_open_fn open = NULL;
    EH_TRY(find_cuda(ctx, "eh_compute_cuda_open", &open));
    return open(ctx, c, sizeof(eh_compute_ops), index, plain ? EH_UNPACKED : ctx->precision);
}

/* ---- opening ---- */

static enhope_status open_cpu(enhope_context *ctx, eh_compute *c)
{
    EH_TRY(eh_compute_cpu_open(ctx, c));
    c->packed_size = c->op->real_size;
    c->packed_is_real = true;
    return ENHOPE_OK;
}

static enhope_status open_auto(enhope_context *ctx, bool plain, eh_compute *c)
{
    char before[sizeof ctx->error];
    memcpy(before, ctx->error, sizeof before);
    if (open_cuda(ctx, plain, c) == ENHOPE_OK) return ENHOPE_OK;
    if (!ctx->logged_fallback) eh_log(ctx, ENHOPE_LOG_INFO, "computing on the cpu: %s", ctx->error);
    ctx->logged_fallback = true;
    memcpy(ctx->error, before, sizeof before);
    c->state = NULL;
    return open_cpu(ctx, c);
}

enhope_status eh_compute_open(enhope_context *ctx, bool plain, eh_compute **out)
{
    eh_compute *c = NULL;
    EH_TRY(eh_new(ctx, "compute backend", 1, sizeof *c, (void **)&c));
    c->threads = eh_compute_threads(ctx);
    enhope_status status = ENHOPE_OK;
    if (!strcmp(ctx->device, "ref")) {
        c->op = &eh_compute_ref;
        c->packed_size = c->op->real_size;
        c->packed_is_real = true;
    } else if (!strncmp(ctx->device, "cuda", 4)) {
        status = open_cuda(ctx, plain, c);
    } else if (!strcmp(ctx->device, "auto")) {
        status = open_auto(ctx, plain, c);
    } else {
        status = open_cpu(ctx, c);
    }
    if (status) {
        eh_free(c);
        return status;
    }
    *out = c;
    return ENHOPE_OK;
}

/* ---- listing ---- */

/* The instruction set level of the processor, in the names that compilers use. */
static const char *simd_level(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v3 && v4 ? ", x86-64-v4" : v3 ? ", x86-64-v3" : ", x86-64";
#elif defined(__aarch64__)
    return ", aarch64";
#else
    return "";
#endif
}

int enhope_device_count(enhope_context *ctx)
{
    char text[256];
    int gpus = 0;
    while (gpus < MAX_GPUS && describe_cuda(ctx, gpus, text, sizeof text) == ENHOPE_OK) gpus++;
    return 1 + (gpus ? gpus : 1);
}

enhope_status enhope_device_get(enhope_context *ctx, int i, enhope_device_info *out)
{
    enhope_device_info info = {.name = "cpu", .available = 1};
    const int gpu = i > 0 ? i - 1 : -1;
    if (i == 0) {
        const int threads = eh_compute_threads(ctx);
        snprintf(info.text, sizeof info.text, "%d thread%s%s", threads, threads == 1 ? "" : "s", simd_level());
    } else if (gpu >= 0 && gpu < MAX_GPUS && describe_cuda(ctx, gpu, info.text, sizeof info.text) == ENHOPE_OK) {
        snprintf(info.name, sizeof info.name, "cuda:%d", gpu);
    } else if (gpu == 0) {
        strcpy(info.name, "cuda");
        info.available = 0;
    } else {
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "there is no device number %d: expected 0 to %d", i,
                       enhope_device_count(ctx) - 1);
    }
    *out = info;
    return ENHOPE_OK;
}
