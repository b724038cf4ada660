/* The context: message of the last error, log callback, threads, memory limit, device. Messages and
 * log lines contain names from files, so control characters are removed from them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

enhope_context *enhope_context_create(void)
{
    enhope_context *ctx = eh_alloc(1, sizeof *ctx);
    if (!ctx) return NULL;
    strcpy(ctx->device, "cpu");
    ctx->local_size = 1;
    return ctx;
}

void enhope_context_free(enhope_context *ctx)
{
    eh_free(ctx);
}

const char *enhope_error(const enhope_context *ctx)
{
    return ctx ? ctx->error : "";
}

void enhope_context_set_log(enhope_context *ctx, enhope_log_fn fn, void *user)
{
    ctx->log = fn;
    ctx->log_user = user;
}

void enhope_context_set_stop(enhope_context *ctx, enhope_stop_fn fn, void *user)
{
    ctx->stop = fn;
    ctx->stop_user = user;
}

enhope_status enhope_context_set_threads(enhope_context *ctx, int threads)
{
    if (threads < 0 || threads > 1024)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "threads is %d: expected 0 (all cores) to 1024", threads);
    ctx->threads = threads;
    return ENHOPE_OK;
}

enhope_status enhope_context_set_memory(enhope_context *ctx, int64_t bytes)
{
    const int64_t min = 1000;
    if (bytes != 0 && bytes < min)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "memory is %lld bytes: expected 0 (half of the machine's memory) or at least %lld",
                       (long long)bytes, (long long)min);
    ctx->memory = bytes;
    return ENHOPE_OK;
}

/* True for "cuda:" and one to three digits. */
static bool is_gpu_name(const char *name)
{
    if (strncmp(name, "cuda:", 5)) return false;
    const size_t digits = strspn(name + 5, "0123456789");
    return digits >= 1 && digits <= 3 && !name[5 + digits];
}

enhope_status enhope_context_set_device(enhope_context *ctx, const char *name)
{
    static const char *const known[] = {"cpu", "cuda", "auto", "ref"};
    bool found = name && is_gpu_name(name);
    for (size_t i = 0; i < sizeof known / sizeof *known && name; i++) found = found || !strcmp(name, known[i]);
    if (!found)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "unknown device '%s': expected cpu, cuda, cuda:N (GPU N, counted from 0), auto or ref",
                       name ? name : "");
    strcpy(ctx->device, name);
    ctx->logged_fallback = false;
    return ENHOPE_OK;
}

enhope_status enhope_context_set_precision(enhope_context *ctx, const char *name)
{
    static const struct {
        const char *name;
        eh_precision on_gpu;
        const char *on_cpu;
    } known[] = {{"fp32", EH_FP32, NULL},
                 {"tf32", EH_TF32, NULL},
                 {"bf16", EH_BF16, NULL},
                 {"float32", EH_FP32, "float32"},
                 {"int8", EH_FP32, "int8"}};
    for (size_t i = 0; i < sizeof known / sizeof *known && name; i++)
        if (!strcmp(name, known[i].name)) {
            ctx->precision = (int)known[i].on_gpu;
            ctx->engine = known[i].on_cpu;
            return ENHOPE_OK;
        }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown precision '%s': expected fp32, tf32, bf16, float32 or int8",
                   name ? name : "");
}

enhope_status eh_fail(enhope_context *ctx, enhope_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    eh_utf8_clean(ctx->error);
    return status;
}

enhope_status eh_fail_in(enhope_context *ctx, enhope_status status, const char *format, ...)
{
    char text[2 * sizeof ctx->error];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof ctx->error, format, args);
    va_end(args);
    const size_t at = length < 0 ? 0 : (size_t)length < sizeof ctx->error ? (size_t)length : sizeof ctx->error - 1;
    snprintf(text + at, sizeof text - at, ": %s", ctx->error);
    memcpy(ctx->error, text, sizeof ctx->error);
    ctx->error[sizeof ctx->error - 1] = '\0';
    eh_utf8_clean(ctx->error);
    return status;
}

enhope_status eh_fail_memory(enhope_context *ctx, const char *what, size_t count, size_t size)
{
    return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: %s needs %.0f bytes", what, (double)count * (double)size);
}

void eh_log(enhope_context *ctx, enhope_log_level level, const char *format, ...)
{
    if (!ctx->log) return;
    char line[sizeof ctx->error];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    eh_utf8_clean(line);
    ctx->log(level, line, ctx->log_user);
}

const char *enhope_status_text(enhope_status status)
{
    switch (status) {
    case ENHOPE_OK: return "ok";
    case ENHOPE_STOPPED: return "stopped";
    case ENHOPE_ERROR_ARGUMENT: return "argument error";
    case ENHOPE_ERROR_DATA: return "data error";
    case ENHOPE_ERROR_FORMAT: return "format error";
    case ENHOPE_ERROR_MODEL: return "model error";
    case ENHOPE_ERROR_IO: return "i/o error";
    case ENHOPE_ERROR_MEMORY: return "out of memory";
    case ENHOPE_ERROR_COMPUTE: return "compute error";
    }
    return "unknown status";
}

#define TEXT_OF(x)                        #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
const char *enhope_version(void)
{
    return VERSION_TEXT(ENHOPE_VERSION_MAJOR, ENHOPE_VERSION_MINOR, ENHOPE_VERSION_PATCH);
}
