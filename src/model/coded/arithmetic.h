/* Adaptive binary arithmetic coding: a bit that is expected costs little.
 *
 * A coder has the interval [low, high] of 32-bit numbers. Each bit divides it in proportion to its
 * probability, and equal leading bytes of both ends are written. All operations are on integers, so
 * that the streams of all machines are byte-identical. docs/reference/model-format.md describes the
 * stream. */
#ifndef EH_ARITHMETIC_H
#define EH_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The probability of a 1, in units of 2^-16, learned from the bits so far. */
typedef struct eh_bit_model {
    uint16_t p;
    uint16_t seen; /* bits so far, at most EH_BIT_MEMORY */
} eh_bit_model;

enum { EH_BIT_MEMORY = 255 }; /* later bits change the probability by 1 / (EH_BIT_MEMORY + 1.5) */
#define EH_BIT_MODEL ((eh_bit_model){.p = 1 << 15})

typedef struct eh_bit_writer {
    uint32_t low, high;
    uint8_t *to; /* NULL: bytes are only counted */
    size_t bytes;
} eh_bit_writer;

typedef struct eh_bit_reader {
    uint32_t low, high, code;
    const uint8_t *from;
    size_t bytes, at; /* at: bytes read, including those behind the end */
} eh_bit_reader;

static inline eh_bit_writer eh_bit_writer_of(uint8_t *to)
{
    return (eh_bit_writer){.high = UINT32_MAX, .to = to};
}

static inline uint32_t eh_bit_middle(uint32_t low, uint32_t high, const eh_bit_model *m)
{
    return low + (uint32_t)((uint64_t)(high - low) * m->p >> 16);
}

static inline void eh_bit_learn(eh_bit_model *m, bool bit)
{
    const int32_t target = bit ? 65535 - 32 : 32, rate = 2 * m->seen + 3; /* p never becomes 0 or 1 */
    m->p = (uint16_t)(m->p + (target - m->p) * 2 / rate);
    if (m->seen < EH_BIT_MEMORY) m->seen++;
}

static inline void eh_bit_put(eh_bit_writer *w, uint8_t byte)
{
    if (w->to) w->to[w->bytes] = byte;
    w->bytes++;
}

static inline void eh_bit_write(eh_bit_writer *w, eh_bit_model *m, bool bit)
{
    const uint32_t middle = eh_bit_middle(w->low, w->high, m);
    if (bit)
        w->high = middle;
    else
        w->low = middle + 1;
    eh_bit_learn(m, bit);
    for (; (w->low ^ w->high) >> 24 == 0; w->low <<= 8, w->high = w->high << 8 | 255)
        eh_bit_put(w, (uint8_t)(w->high >> 24));
}

/* Ends the stream: the byte, followed by zeros, is a number between low and high. */
static inline void eh_bit_end(eh_bit_writer *w)
{
    eh_bit_put(w, (uint8_t)((w->low >> 24) + 1));
}

/* Zeros follow the last byte. */
static inline uint8_t eh_bit_take(eh_bit_reader *r)
{
    return r->at++ < r->bytes ? r->from[r->at - 1] : 0;
}

static inline eh_bit_reader eh_bit_reader_of(const uint8_t *from, size_t bytes)
{
    eh_bit_reader r = {.high = UINT32_MAX, .from = from, .bytes = bytes};
    for (int i = 0; i < 4; i++) r.code = r.code << 8 | eh_bit_take(&r);
    return r;
}

static inline bool eh_bit_read(eh_bit_reader *r, eh_bit_model *m)
{
    const uint32_t middle = eh_bit_middle(r->low, r->high, m);
    const bool bit = r->code <= middle;
    if (bit)
        r->high = middle;
    else
        r->low = middle + 1;
    eh_bit_learn(m, bit);
    for (; (r->low ^ r->high) >> 24 == 0; r->low <<= 8, r->high = r->high << 8 | 255)
        r->code = r->code << 8 | eh_bit_take(r);
    return bit;
}

/* Whether the stream ends after the bits that were read. */
static inline bool eh_bit_at_end(const eh_bit_reader *r)
{
    return r->at == r->bytes + 3;
}

#endif
