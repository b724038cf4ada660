/* Smaller forms of tensors. */
#include <math.h>
#include <string.h>

#include "model/coded/coded.h"
#include "model/model.h"

bool eh_coded_file(const eh_safetensors *st)
{
    const char *version = eh_safetensors_text(st, "format_version");
    return version && !strcmp(version, EH_MODEL_FORMAT_CODED);
}

static bool is(const eh_st_tensor *t, const char *dtype)
{
    return !strcmp(t->dtype, dtype);
}

static int64_t count_of(const eh_st_tensor *t)
{
    return t->shape[0] * (t->rank > 1 ? t->shape[1] : 1);
}

static bool same_shape(const eh_st_tensor *a, const eh_st_tensor *b)
{
    return a->rank == b->rank && a->shape[0] == b->shape[0] && (a->rank < 2 || a->shape[1] == b->shape[1]);
}

/* One number for all. */
static bool is_constant(const eh_st_tensor *found, const eh_st_tensor *want)
{
    return want->rank == 1 && is(want, "F32") && is(found, "F32") && found->rank == 1 && found->shape[0] == 1;
}

static bool is_short(const eh_st_tensor *found, const eh_st_tensor *want)
{
    return is(want, "F32") && is(found, "BF16") && same_shape(found, want);
}

static bool is_codes(const eh_st_tensor *found, const eh_st_tensor *want)
{
    return want->rank == 2 && (is(want, "F32") || is(want, "I8")) && is(found, "U8") && found->rank == 1;
}

/* ---- reading ---- */

enhope_status eh_coded_expect(enhope_context *ctx, const eh_safetensors *st, const eh_st_tensor *want,
                              const eh_st_tensor **out)
{
    const eh_st_tensor *found = eh_coded_file(st) ? eh_safetensors_find(st, want->name) : NULL;
    int64_t entries;
    if (!found || found->end == found->begin) return eh_safetensors_expect(ctx, st, want, out);
    if (is_codes(found, want)) {
        /* damaged sizes must not allocate memory that the file does not fill */
        if (!eh_mul(want->shape[0], want->shape[1], &entries) || entries / EH_CODES_ENTRIES > found->shape[0])
            return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                           "tensor %s has %lld bytes of codes: too few for %lld x %lld numbers", want->name,
                           (long long)found->shape[0], (long long)want->shape[0], (long long)want->shape[1]);
    } else if (!is_constant(found, want) && !is_short(found, want)) {
        return eh_safetensors_expect(ctx, st, want, out);
    }
    *out = found;
    return ENHOPE_OK;
}

static void expand_short(const uint16_t *from, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

/* A matrix of floats, whose columns are the rows of the codes. */
static enhope_status expand_floats(enhope_context *ctx, const uint8_t *from, size_t bytes, const eh_st_tensor *want,
                                   int64_t width, float *to)
{
    const eh_codes_shape shape = {want->shape[1], want->shape[0], width};
    int8_t *level = NULL;
    float step;
    enhope_status status;
    if (bytes < sizeof step) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "its codes are damaged: they are too short");
    memcpy(&step, from, sizeof step);
    EH_CHECK(eh_new(ctx, "codes", count_of(want), sizeof *level, (void **)&level));
    EH_CHECK(eh_codes_read(ctx, &shape, from + sizeof step, bytes - sizeof step, level));
    for (int64_t k = 0; k < shape.rows; k++)
        for (int64_t j = 0; j < shape.columns; j++) to[j * shape.rows + k] = step * (float)level[k * shape.columns + j];
cleanup:
    eh_free(level);
    return status;
}

static enhope_status expand(enhope_context *ctx, const void *from, const eh_st_tensor *found, const eh_st_tensor *want,
                            int64_t width, void *to)
{
    const size_t bytes = (size_t)(found->end - found->begin);
    if (is_constant(found, want)) {
        for (int64_t i = 0; i < want->shape[0]; i++) ((float *)to)[i] = *(const float *)from;
        return ENHOPE_OK;
    }
    if (is_short(found, want)) {
        expand_short(from, count_of(want), to);
        return ENHOPE_OK;
    }
    if (is(want, "F32")) return expand_floats(ctx, from, bytes, want, width, to);
    return eh_codes_read(ctx, &(eh_codes_shape){want->shape[0], want->shape[1], width}, from, bytes, to);
}

enhope_status eh_coded_read(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *found,
                            const eh_st_tensor *want, int64_t width, void *to)
{
    const bool full = is(found, want->dtype) && same_shape(found, want);
    void *stored = NULL;
    enhope_status status;
    if (full) {
        EH_TRY(eh_safetensors_read(ctx, st, found, to));
    } else {
        EH_CHECK(eh_new(ctx, "a tensor", found->end - found->begin, 1, &stored));
        EH_CHECK(eh_safetensors_read(ctx, st, found, stored));
        status = expand(ctx, stored, found, want, width, to);
        if (status) EH_CHECK(eh_fail_in(ctx, status, "tensor %s", want->name));
    }
    const int64_t at = is(want, "F32") ? eh_model_not_finite(to, count_of(want)) : -1;
    status = at < 0 ? ENHOPE_OK
                    : eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has a number that is not finite (element %lld)",
                              want->name, (long long)at);
cleanup:
    eh_free(stored);
    return status;
}

enhope_status eh_coded_step(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *found, float *step)
{
    eh_st_tensor first = *found;
    first.end = found->begin + (int64_t)sizeof *step;
    if (!is(found, "U8") || found->rank != 1 || first.end > found->end)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                       "tensor %s is not stored as codes, as format version " EH_MODEL_FORMAT_CODED " requires",
                       found->name);
    EH_TRY(eh_safetensors_read(ctx, st, &first, step));
    if (isfinite(*step) && *step > 0) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has codes with the step %g: expected a number above 0",
                   found->name, (double)*step);
}

/* ---- writing ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool all_equal(const float *x, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (bits_of(x[i]) != bits_of(x[0])) return false;
    return count > 1;
}

static bool all_short(const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (bits_of(x[i]) & 0xffff) return false;
    return true;
}

static enhope_status shrink_short(enhope_context *ctx, eh_st_tensor *t, void **memory)
{
    const int64_t count = count_of(t);
    const float *from = t->data;
    uint16_t *to = NULL;
    EH_TRY(eh_new(ctx, "a tensor", count, sizeof *to, (void **)&to));
    for (int64_t i = 0; i < count; i++) to[i] = (uint16_t)(bits_of(from[i]) >> 16);
    t->dtype = "BF16";
    t->data = *memory = to;
    return ENHOPE_OK;
}

/* Codes of `level`, with `before` bytes in front of them. */
static enhope_status shrink_codes(enhope_context *ctx, const eh_codes_shape *shape, const int8_t *level,
                                  const void *before, size_t before_bytes, eh_st_tensor *t, void **memory)
{
    size_t bytes;
    uint8_t *to = NULL;
    EH_TRY(eh_codes_write(ctx, shape, level, NULL, &bytes));
    EH_TRY(eh_new(ctx, "a tensor", (int64_t)(bytes + before_bytes), 1, (void **)&to));
    if (before_bytes) memcpy(to, before, before_bytes);
    const enhope_status status = eh_codes_write(ctx, shape, level, to + before_bytes, &bytes);
    t->dtype = "U8";
    t->rank = 1;
    t->shape[0] = (int64_t)(bytes + before_bytes);
    t->data = *memory = to;
    return status;
}

static enhope_status shrink_floats(enhope_context *ctx, const eh_coded_tensor *how, eh_st_tensor *t, void **memory)
{
    const eh_codes_shape shape = {t->shape[1], t->shape[0], how->width};
    const float *from = t->data;
    int8_t *level = NULL;
    EH_TRY(eh_new(ctx, "codes", count_of(t), sizeof *level, (void **)&level));
    for (int64_t k = 0; k < shape.rows; k++)
        for (int64_t j = 0; j < shape.columns; j++)
            level[k * shape.columns + j] = (int8_t)lrintf(from[j * shape.rows + k] / how->step);
    const enhope_status status = shrink_codes(ctx, &shape, level, &how->step, sizeof how->step, t, memory);
    eh_free(level);
    return status;
}

enhope_status eh_coded_shrink(enhope_context *ctx, const eh_coded_tensor *how, eh_st_tensor *t, void **memory)
{
    const int64_t count = count_of(t);
    *memory = NULL;
    if (is(t, "I8") && t->rank == 2)
        return shrink_codes(ctx, &(eh_codes_shape){t->shape[0], t->shape[1], how->width}, t->data, NULL, 0, t, memory);
    if (!is(t, "F32")) return ENHOPE_OK;
    if (how->step > 0) return shrink_floats(ctx, how, t, memory);
    if (t->rank == 1 && all_equal(t->data, count)) {
        t->shape[0] = 1;
        return ENHOPE_OK;
    }
    return all_short(t->data, count) ? shrink_short(ctx, t, memory) : ENHOPE_OK;
}
