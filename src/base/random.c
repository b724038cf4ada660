/* Counter-based random numbers: Philox4x32-10 (philox.h). A number depends only on (seed, stream,
 * index), so results are the same for any number of threads and on any device. */
#include <math.h>

#include "base/base.h"
#include "base/philox.h"

uint64_t eh_random_u64(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    eh_philox(seed, stream, index, 0, r);
    return (uint64_t)r[1] << 32 | r[0];
}

static double unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

double eh_random_unit(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    eh_philox(seed, stream, index, 0, r);
    return unit(r[1], r[0]);
}

double eh_random_normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint32_t r[4];
    eh_philox(seed, stream, index, 0, r);
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
