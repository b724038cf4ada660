/* The int8 kernel for AVX2. The instruction for bytes (pmaddubsw) saturates its sums at 16 bits, so
 * bytes are widened to 16 bits and multiplied with pmaddwd, which is exact. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "predict/int8/int8.h"

#define TARGET __attribute__((target("avx2,popcnt,bmi,bmi2")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Two sums for each of four columns in a register: of the first and of the last two inputs. */
typedef struct sums {
    __m256i v[4];
} sums;
typedef struct weights {
    __m256i v[4];
} weights;
typedef __m256i inputs;

INLINE sums zero(void)
{
    const __m256i none = _mm256_setzero_si256();
    return (sums){{none, none, none, none}};
}

INLINE weights load_block(const int8_t *block)
{
    const __m128i *from = (const __m128i *)block;
    return (weights){{_mm256_cvtepi8_epi16(_mm_load_si128(from)), _mm256_cvtepi8_epi16(_mm_load_si128(from + 1)),
                      _mm256_cvtepi8_epi16(_mm_load_si128(from + 2)), _mm256_cvtepi8_epi16(_mm_load_si128(from + 3))}};
}

INLINE inputs load_group(const uint8_t *x)
{
    int32_t group;
    __builtin_memcpy(&group, x, sizeof group);
    return _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(group)));
}

INLINE sums dot(sums s, inputs x, weights w)
{
    return (sums){{_mm256_add_epi32(s.v[0], _mm256_madd_epi16(x, w.v[0])),
                   _mm256_add_epi32(s.v[1], _mm256_madd_epi16(x, w.v[1])),
                   _mm256_add_epi32(s.v[2], _mm256_madd_epi16(x, w.v[2])),
                   _mm256_add_epi32(s.v[3], _mm256_madd_epi16(x, w.v[3]))}};
}

INLINE sums add(sums a, sums b)
{
    return (sums){{_mm256_add_epi32(a.v[0], b.v[0]), _mm256_add_epi32(a.v[1], b.v[1]), _mm256_add_epi32(a.v[2], b.v[2]),
                   _mm256_add_epi32(a.v[3], b.v[3])}};
}

INLINE void store(sums s, int32_t *out)
{
    /* hadd gives columns 0 1 4 5 | 2 3 6 7 */
    const __m256i low = _mm256_permute4x64_epi64(_mm256_hadd_epi32(s.v[0], s.v[1]), 0xd8);
    const __m256i high = _mm256_permute4x64_epi64(_mm256_hadd_epi32(s.v[2], s.v[3]), 0xd8);
    _mm256_storeu_si256((__m256i *)out, low);
    _mm256_storeu_si256((__m256i *)out + 1, high);
}

#define nonzero eh_int8_nonzero
#define mask    eh_int8_mask
enum { BY_INPUT = 0, ROWS = 1, WIDE = 2, FLAT_PANELS = 2, FLAT_WAYS = 1, SINGLE_WAYS = 2 };
#include "predict/int8/kernel.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2");
}

const eh_int8_kernel eh_int8_avx2 = KERNEL("avx2");
#endif
