/* The floating-point steps of the int8 arithmetic (docs/reference/int8.md), written once for all
 * kernels. With -ffp-contract=off every operation is one IEEE operation, so a loop that the
 * compiler vectorizes has the same bits on every processor. */
#ifndef EH_INT8_STAGES_H
#define EH_INT8_STAGES_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "predict/int8/int8.h"

#define EH_INT8_INLINE static inline __attribute__((always_inline))

EH_INT8_INLINE float eh_int8_clamp(float v, float low, float high)
{
    const float above = v > low ? v : low; /* NaN gives low */
    return above < high ? above : high;
}

/* The nearest integer, ties to even, of |v| <= 2^22. */
EH_INT8_INLINE float eh_int8_round(float v)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 */
    return (v + magic) - magic;
}

/* The code of an input or a power. */
EH_INT8_INLINE uint8_t eh_int8_code(float x, float low, float inverse)
{
    return (uint8_t)(int)eh_int8_round(eh_int8_clamp((x - low) * inverse, 0, 255));
}

EH_INT8_INLINE float eh_int8_power(int32_t sum, float scale, float bias, int order)
{
    const float u = (float)sum * scale + bias;
    float s = u;
    for (int i = 1; i < order; i++) s *= u;
    return s;
}

EH_INT8_INLINE float eh_int8_sigmoid(float a)
{
    const float v = eh_int8_clamp(-a, -20, 20);
    const float k = eh_int8_round(v * 0x1.715476p+0f);          /* v / log 2 */
    const float r = (v - k * 0x1.63p-1f) + k * 0x1.bd0106p-13f; /* v - k log 2 */
    float p = 0x1.6c16c2p-10f;                                  /* 1 / 6! */
    p = p * r + 0x1.111112p-7f;
    p = p * r + 0x1.555556p-5f;
    p = p * r + 0x1.555556p-3f;
    p = p * r + 0x1p-1f;
    p = p * r + 1;
    p = p * r + 1;
    const uint32_t bits = (uint32_t)((int)k + 127) << 23;
    float power; /* 2^k */
    memcpy(&power, &bits, sizeof power);
    return 1 / (1 + p * power);
}

EH_INT8_INLINE float eh_int8_hidden(int32_t sum, float scale, float bias)
{
    return eh_int8_sigmoid((float)sum * scale + bias);
}

/* Lists the groups first .. first + PANEL that are not 0; returns their number. The list has PANEL
 * entries. */
EH_INT8_INLINE int64_t eh_int8_nonzero(const uint32_t *x, int64_t first, int32_t *list)
{
    int64_t count = 0;
    for (int l = 0; l < EH_INT8_PANEL; l++) {
        list[count] = (int32_t)first + l;
        count += x[l] != 0;
    }
    return count;
}

/* Bit l: group l of PANEL groups is not 0. */
EH_INT8_INLINE uint32_t eh_int8_mask(const uint32_t *x)
{
    uint32_t bits = 0;
    for (int l = 0; l < EH_INT8_PANEL; l++) bits |= (uint32_t)(x[l] != 0) << l;
    return bits;
}

/* Sixteen sums at a time, in the order that the arithmetic prescribes. V and t (padded m). */
typedef float eh_int8_sixteen __attribute__((vector_size(64)));
EH_INT8_INLINE float eh_int8_output(const float *V, const float *t, int64_t m)
{
    eh_int8_sixteen sum = {0};
    for (int64_t j = 0; j < m; j += EH_INT8_PANEL) {
        eh_int8_sixteen v, unit;
        memcpy(&v, V + j, sizeof v);
        memcpy(&unit, t + j, sizeof unit);
        sum += v * unit;
    }
    float partial[EH_INT8_PANEL];
    memcpy(partial, &sum, sizeof partial);
    for (int d = EH_INT8_PANEL / 2; d; d /= 2)
        for (int l = 0; l < d; l++) partial[l] += partial[l + d];
    return partial[0];
}

#endif
