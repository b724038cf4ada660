/* The random numbers of augmentation, shared by all backends (the cuda backend compiles them for
 * the device).
 *
 * Columns 4 k .. 4 k + 3 of a row use the four words of the Philox block with the counter (pass,
 * row, stream, k). Two words give two normal numbers (Box, Muller 1958); one word decides
 * whether an input is dropped. Only the upper 24 bits of each word are used. A float holds these
 * exactly, so backends differ only in the rounding of the formulas. The largest noise is sqrt(48
 * log 2) = 5.8 standard deviations. */
#ifndef EH_AUGMENT_H
#define EH_AUGMENT_H

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "compute/compute.h"

/* row < 2^44. */
EH_HOST_DEVICE static inline uint64_t eh_augment_index(uint64_t pass, int64_t row)
{
    return pass << 44 ^ (uint64_t)row;
}

/* An input is dropped if the upper 24 bits of its word are below this value. */
static inline int32_t eh_drop_below(double dropout)
{
    return (int32_t)(dropout * 0x1p24 + 0.5);
}

/* log u for u in (0, 1] with a relative error of 1e-7: u = 2^e m with m near 1, and log m = 2
 * artanh s with s = (m - 1) / (m + 1). The series is short because |s| < 0.172. */
EH_HOST_DEVICE static inline float eh_log_unit(float u)
{
    int32_t bits;
    memcpy(&bits, &u, sizeof bits);
    const int32_t e = (bits - 0x3F3504F3) >> 23; /* m is at least sqrt(1/2) */
    bits -= e * (1 << 23);
    float m;
    memcpy(&m, &bits, sizeof m);
    const float s = (m - 1) / (m + 1), q = s * s;
    return (float)e * 0.693147181f + 2 * s * (1 + q * (1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7))));
}

/* Two normal numbers from two words: sqrt(-2 log u) times cosine and sine of 2 pi v. The angle
 * is q quarter turns plus a remainder of at most an eighth turn, for which the Taylor series
 * below are exact in float. */
EH_HOST_DEVICE static inline void eh_normal_pair(uint32_t word_u, uint32_t word_v, float *first, float *second)
{
    const float u = (float)(int32_t)((word_u >> 8) + 1) * 0x1p-24f;
    const float radius = sqrtf(-2 * eh_log_unit(u));
    const int32_t v = (int32_t)(word_v >> 8), q = (v + (1 << 21)) >> 22;
    const float a = (float)(v - q * (1 << 22)) * (1.57079633f * 0x1p-22f), b = a * a;
    const float sine = a * (1 - b * (1.0f / 6 - b * (1.0f / 120 - b * (1.0f / 5040 - b * (1.0f / 362880)))));
    const float cosine = 1 - b * (0.5f - b * (1.0f / 24 - b * (1.0f / 720 - b * (1.0f / 40320))));
    const float x = q & 1 ? sine : cosine, y = q & 1 ? cosine : sine;
    *first = radius * ((q + 1) & 2 ? -x : x);
    *second = radius * (q & 2 ? -y : y);
}

#endif
