/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four words for each counter (index, stream,
 * part) and seed. The CUDA backend compiles the same code for the device, so all backends draw the
 * same words. */
#ifndef EH_PHILOX_H
#define EH_PHILOX_H

#include <stdint.h>

#include "base/host_device.h"

EH_HOST_DEVICE static inline void eh_philox(uint64_t seed, uint32_t stream, uint64_t index, uint32_t part,
                                            uint32_t out[4])
{
    uint32_t x0 = (uint32_t)index, x1 = (uint32_t)(index >> 32), x2 = stream, x3 = part;
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

#endif
