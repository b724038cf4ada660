/* A hash that detects damaged or different data. It is not cryptographic. */
#include <string.h>

#include "base/base.h"

static uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

uint64_t eh_hash(uint64_t before, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = stir(before, bytes), word;
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = stir(h, word);
    }
    word = 0;
    if (bytes) memcpy(&word, at, bytes);
    return stir(h, word);
}
