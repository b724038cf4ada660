/* The int8 kernel for ARM processors with dot products (ARMv8.2 and later). udot multiplies
 * unsigned bytes, so the weights are used as w + 128, and 128 times the sum of the inputs is
 * subtracted at the end; sums that overflow between are correct modulo 2^32. */
#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>

#include "predict/int8/int8.h"

#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#define INLINE TARGET static inline __attribute__((always_inline))

typedef struct sums {
    uint32x4_t v[4]; /* four columns each */
    uint32x4_t inputs;
} sums;
typedef struct weights {
    uint8x16_t v[4];
} weights;
typedef uint8x16_t inputs;

INLINE sums zero(void)
{
    const uint32x4_t none = vdupq_n_u32(0);
    return (sums){{none, none, none, none}, none};
}

INLINE weights load_block(const int8_t *block)
{
    const uint8x16_t flip = vdupq_n_u8(128);
    const uint8_t *from = (const uint8_t *)block;
    return (weights){{veorq_u8(vld1q_u8(from), flip), veorq_u8(vld1q_u8(from + 16), flip),
                      veorq_u8(vld1q_u8(from + 32), flip), veorq_u8(vld1q_u8(from + 48), flip)}};
}

INLINE inputs load_group(const uint8_t *x)
{
    uint32_t group;
    __builtin_memcpy(&group, x, sizeof group);
    return vreinterpretq_u8_u32(vdupq_n_u32(group));
}

INLINE sums dot(sums s, inputs x, weights w)
{
    return (sums){{vdotq_u32(s.v[0], w.v[0], x), vdotq_u32(s.v[1], w.v[1], x), vdotq_u32(s.v[2], w.v[2], x),
                   vdotq_u32(s.v[3], w.v[3], x)},
                  vdotq_u32(s.inputs, vdupq_n_u8(1), x)};
}

INLINE sums add(sums a, sums b)
{
    return (sums){
        {vaddq_u32(a.v[0], b.v[0]), vaddq_u32(a.v[1], b.v[1]), vaddq_u32(a.v[2], b.v[2]), vaddq_u32(a.v[3], b.v[3])},
        vaddq_u32(a.inputs, b.inputs)};
}

INLINE void store(sums s, int32_t *out)
{
    const uint32x4_t flipped = vshlq_n_u32(s.inputs, 7);
    for (int i = 0; i < 4; i++) vst1q_s32(out + 4 * i, vreinterpretq_s32_u32(vsubq_u32(s.v[i], flipped)));
}

#define nonzero eh_int8_nonzero
#define mask    eh_int8_mask
enum { BY_INPUT = 0, ROWS = 4, WIDE = 1, FLAT_PANELS = 4, FLAT_WAYS = 1, SINGLE_WAYS = 4 };
#include "predict/int8/kernel.h"

static bool supported(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}

const eh_int8_kernel eh_int8_dotprod = KERNEL("dotprod");
#endif
