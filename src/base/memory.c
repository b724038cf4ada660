/* Memory allocation of the library: aligned for SIMD, overflow-checked, through the caller's
 * allocator if one is set. Linked libraries (zlib, cJSON, BLAS) use their own allocators. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { ALIGNMENT = 64 };

static enhope_malloc_fn caller_alloc; /* NULL: malloc */
static enhope_free_fn caller_free;

void enhope_set_allocator(enhope_malloc_fn alloc, enhope_free_fn release)
{
    caller_alloc = alloc && release ? alloc : NULL;
    caller_free = alloc && release ? release : NULL;
}

/* Stores the allocator's own pointer just below the aligned address. */
static void *allocate(size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT - sizeof(void *)) return NULL;
    const size_t whole = bytes + ALIGNMENT + sizeof(void *);
    char *raw = caller_alloc ? caller_alloc(whole) : malloc(whole);
    if (!raw) return NULL;
    const uintptr_t first = (uintptr_t)raw + sizeof(void *);
    char *block = raw + sizeof(void *) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    memcpy(block - sizeof(void *), &raw, sizeof raw);
    return block;
}

void *eh_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    void *block = allocate(bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void *eh_grow(void *block, size_t old_count, size_t new_count, size_t size)
{
    void *grown = eh_alloc(new_count, size);
    if (!grown) return NULL;
    if (block) memcpy(grown, block, (old_count < new_count ? old_count : new_count) * size);
    eh_free(block);
    return grown;
}

void eh_free(void *block)
{
    if (!block) return;
    void *raw;
    memcpy(&raw, (char *)block - sizeof(void *), sizeof raw);
    if (caller_free)
        caller_free(raw);
    else
        free(raw);
}

char *eh_strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = eh_alloc(size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

char *eh_utf8_copy(const char *text)
{
    size_t left = strlen(text);
    char *copy = eh_alloc(left + 1, 2);
    if (!copy) return NULL;
    for (char *to = copy; left > 0;) {
        uint32_t code;
        size_t size = eh_utf8_next(text, left, &code);
        to += eh_utf8_put(size ? code : (unsigned char)*text, to);
        if (size == 0) size = 1;
        text += size;
        left -= size;
    }
    return copy;
}

bool eh_mul(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}

enhope_status eh_new(enhope_context *ctx, const char *what, int64_t count, size_t size, void **out)
{
    void *block = count < 0 ? NULL : eh_alloc((size_t)count, size);
    if (!block) return eh_fail_memory(ctx, what, (size_t)count, size);
    *out = block;
    return ENHOPE_OK;
}

enhope_status eh_new_text(enhope_context *ctx, const char *what, const char *text, char **out)
{
    char *copy = eh_strdup(text);
    if (!copy) return eh_fail_memory(ctx, what, strlen(text) + 1, 1);
    *out = copy;
    return ENHOPE_OK;
}

enhope_status eh_new_names(enhope_context *ctx, const char *what, char *const *from, int64_t count, char ***out)
{
    if (!from) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, what, count, sizeof **out, (void **)out));
    for (int64_t i = 0; i < count; i++) EH_TRY(eh_new_text(ctx, what, from[i], &(*out)[i]));
    return ENHOPE_OK;
}

void eh_names_free(char **name, int64_t count)
{
    for (int64_t i = 0; name && i < count; i++) eh_free(name[i]);
    eh_free(name);
}

int64_t eh_memory_limit(const enhope_context *ctx)
{
    return ctx->memory > 0 ? ctx->memory : eh_machine_memory() / 2;
}
