/* Matrices of int8 numbers, most of them 0, as a stream of bytes.
 *
 *   byte 0            n, the number of levels - 1: the values other than 0 that occur
 *   bytes 1..n+1      the levels, int8, ascending
 *   the rest          arithmetic code of all numbers (arithmetic.h), column by column
 *
 * A number is one bit, whether it is 0, and, if not, the index of its level. The bits are expected
 * from what was coded before: docs/reference/model-format.md has the rules. */
#ifndef EH_CODES_H
#define EH_CODES_H

#include "base/base.h"

/* width: numbers of a row of the image that a column shows; 0: a column is no image. */
typedef struct eh_codes_shape {
    int64_t rows, columns, width;
} eh_codes_shape;

/* Largest number of matrix entries per byte of a stream. */
enum { EH_CODES_ENTRIES = 1 << 14 };

/* Bytes of the stream of values (rows, columns); to NULL: they are only counted. */
enhope_status eh_codes_write(enhope_context *ctx, const eh_codes_shape *shape, const int8_t *values, uint8_t *to,
                             size_t *bytes);
/* Fails if the stream is damaged. */
enhope_status eh_codes_read(enhope_context *ctx, const eh_codes_shape *shape, const uint8_t *from, size_t bytes,
                            int8_t *values);

#endif
