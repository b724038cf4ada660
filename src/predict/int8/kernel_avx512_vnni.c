/* The int8 kernel for AVX-512 with VNNI: one instruction multiplies a block with a group. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "predict/int8/int8.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,popcnt,bmi,bmi2")))
#define INLINE TARGET static inline __attribute__((always_inline))

typedef __m512i sums;
typedef __m512i weights;
typedef __m512i inputs;

INLINE sums zero(void)
{
    return _mm512_setzero_si512();
}

INLINE weights load_block(const int8_t *block)
{
    return _mm512_load_si512(block);
}

INLINE inputs load_group(const uint8_t *x)
{
    int32_t group;
    __builtin_memcpy(&group, x, sizeof group);
    return _mm512_set1_epi32(group);
}

INLINE sums dot(sums s, inputs x, weights w)
{
    return _mm512_dpbusd_epi32(s, x, w);
}

INLINE sums add(sums a, sums b)
{
    return _mm512_add_epi32(a, b);
}

INLINE void store(sums s, int32_t *out)
{
    _mm512_storeu_si512(out, s);
}

INLINE uint32_t mask(const uint32_t *x)
{
    const __m512i words = _mm512_loadu_si512(x);
    return _mm512_test_epi32_mask(words, words);
}

INLINE int64_t nonzero(const uint32_t *x, int64_t first, int32_t *list)
{
    const __m512i offset = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i group = _mm512_add_epi32(offset, _mm512_set1_epi32((int)first));
    const uint32_t bits = mask(x);
    _mm512_storeu_si512(list, _mm512_maskz_compress_epi32((__mmask16)bits, group));
    return __builtin_popcount(bits);
}

enum { BY_INPUT = 0, ROWS = 4, WIDE = 4, FLAT_PANELS = 4, FLAT_WAYS = 2, SINGLE_WAYS = 4 };
#include "predict/int8/kernel.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

const eh_int8_kernel eh_int8_avx512_vnni = KERNEL("avx512-vnni");
#endif
