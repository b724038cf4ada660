/* The int8 kernel for AVX-VNNI: two instructions multiply a block with a group. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#include "predict/int8/int8.h"

#if defined(EH_INT8_EVEX) /* the same instructions in the encoding of AVX-512, for tests */
#define TARGET __attribute__((target("avx2,avx512vl,avx512vnni,popcnt,bmi,bmi2")))
#define dpbusd _mm256_dpbusd_epi32
#else
#define TARGET __attribute__((target("avx2,avxvnni,popcnt,bmi,bmi2")))
#define dpbusd _mm256_dpbusd_avx_epi32
#endif
#define INLINE TARGET static inline __attribute__((always_inline))

typedef struct sums {
    __m256i v[2];
} sums;
typedef struct weights {
    __m256i v[2];
} weights;
typedef __m256i inputs;

INLINE sums zero(void)
{
    return (sums){{_mm256_setzero_si256(), _mm256_setzero_si256()}};
}

INLINE weights load_block(const int8_t *block)
{
    return (weights){{_mm256_load_si256((const __m256i *)block), _mm256_load_si256((const __m256i *)block + 1)}};
}

INLINE inputs load_group(const uint8_t *x)
{
    int32_t group;
    __builtin_memcpy(&group, x, sizeof group);
    return _mm256_set1_epi32(group);
}

INLINE sums dot(sums s, inputs x, weights w)
{
    return (sums){{dpbusd(s.v[0], x, w.v[0]), dpbusd(s.v[1], x, w.v[1])}};
}

INLINE sums add(sums a, sums b)
{
    return (sums){{_mm256_add_epi32(a.v[0], b.v[0]), _mm256_add_epi32(a.v[1], b.v[1])}};
}

INLINE void store(sums s, int32_t *out)
{
    _mm256_storeu_si256((__m256i *)out, s.v[0]);
    _mm256_storeu_si256((__m256i *)out + 1, s.v[1]);
}

#define nonzero eh_int8_nonzero
#define mask    eh_int8_mask
enum { BY_INPUT = 0, ROWS = 4, WIDE = 1, FLAT_PANELS = 4, FLAT_WAYS = 1, SINGLE_WAYS = 4 };
#include "predict/int8/kernel.h"

static bool supported(void)
{
#if defined(EH_INT8_EVEX)
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#else /* GCC 12 does not name this feature in __builtin_cpu_supports */
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
#endif
}

const eh_int8_kernel eh_int8_avx_vnni = KERNEL("avx-vnni");
#endif
