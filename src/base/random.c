/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011). A number is a function of
 * (seed, stream, index) alone, so a run is the same for any number of threads and on any device. */
#include <math.h>

#include "base/base.h"

static void philox(uint64_t seed, uint32_t stream, uint64_t index, uint32_t out[4])
{
    uint32_t x0 = (uint32_t)index, x1 = (uint32_t)(index >> 32), x2 = stream, x3 = 0;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * x0;
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = x0, out[1] = x1, out[2] = x2, out[3] = x3;
}

uint64_t eh_random_u64(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    philox(seed, stream, index, r);
    return (uint64_t)r[1] << 32 | r[0];
}

static double unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

double eh_random_unit(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    philox(seed, stream, index, r);
    return unit(r[1], r[0]);
}

double eh_random_normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    philox(seed, stream, index, r);
    const double radius = sqrt(-2.0 * log1p(-unit(r[1], r[0]))); /* 1 - u is in (0, 1] */
    return radius * cos(6.283185307179586 * unit(r[3], r[2]));
}

void eh_shuffle(uint64_t seed, uint32_t stream, uint64_t round, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        /* the modulo bias is below n / 2^64 */
        const int64_t j = (int64_t)(eh_random_u64(seed, stream, round << 40 ^ (uint64_t)i) % (uint64_t)(i + 1));
        const int64_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}
