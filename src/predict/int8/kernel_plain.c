/* The int8 kernel for every processor, in plain C. */
#include "predict/int8/int8.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))

typedef struct sums {
    int32_t v[EH_INT8_PANEL];
} sums;
typedef const int8_t *weights; /* (GROUP, PANEL) */
typedef const uint8_t *inputs; /* (GROUP) */

INLINE sums zero(void)
{
    return (sums){{0}};
}

INLINE weights load_block(const int8_t *block)
{
    return block;
}

INLINE inputs load_group(const uint8_t *x)
{
    return x;
}

/* A product of an input and a weight fits into 16 bits, of which a register has more. */
INLINE sums dot(sums s, inputs x, weights w)
{
    for (int i = 0; i < EH_INT8_GROUP; i++)
        for (int j = 0; j < EH_INT8_PANEL; j++) s.v[j] += (int16_t)(x[i] * w[i * EH_INT8_PANEL + j]);
    return s;
}

INLINE sums add(sums a, sums b)
{
    for (int j = 0; j < EH_INT8_PANEL; j++) a.v[j] += b.v[j];
    return a;
}

INLINE void store(sums s, int32_t *out)
{
    for (int j = 0; j < EH_INT8_PANEL; j++) out[j] = s.v[j];
}

#define nonzero eh_int8_nonzero
#define mask    eh_int8_mask
enum { BY_INPUT = 1, ROWS = 1, WIDE = 1, FLAT_PANELS = 1, FLAT_WAYS = 1, SINGLE_WAYS = 1 };
#include "predict/int8/kernel.h"

static bool supported(void)
{
    return true;
}

const eh_int8_kernel eh_int8_plain = KERNEL("plain");
