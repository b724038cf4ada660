/* Codes of compressed matrices: streams from the input, and matrices that are coded and decoded.
 *
 * Input: a byte of choices, three bytes of the shape; a stream, or the values of a matrix. */
#include "model/coded/codes.h"
#include "fuzz.h"

/* Codes values and decodes them to the same values. */
static void check_round_trip(const eh_codes_shape *shape, const int8_t *values)
{
    const size_t count = (size_t)(shape->rows * shape->columns);
    size_t size = 0, again = 0;
    fuzz_succeed(eh_codes_write(fuzz_ctx, shape, values, NULL, &size));
    uint8_t *stream = fuzz_alloc(size);
    int8_t *decoded = fuzz_alloc(count);
    fuzz_succeed(eh_codes_write(fuzz_ctx, shape, values, stream, &again));
    FUZZ_MUST(again == size);
    fuzz_succeed(eh_codes_read(fuzz_ctx, shape, stream, size, decoded));
    FUZZ_MUST(!memcmp(values, decoded, count));
}

FUZZ_TARGET(codes)
{
    const int choice = fuzz_byte(in);
    const eh_codes_shape shape = {
        .rows = 1 + fuzz_byte(in) % 64, .columns = 1 + fuzz_byte(in) % 8, .width = fuzz_byte(in) % 32};
    const size_t count = (size_t)(shape.rows * shape.columns);
    int8_t *values = fuzz_alloc(count);
    if (choice & 1) {
        for (size_t i = 0; i < count; i++) values[i] = (int8_t)fuzz_byte(in);
    } else {
        uint8_t *stream = fuzz_alloc(in->left);
        if (in->left) memcpy(stream, in->at, in->left);
        if (!fuzz_good(eh_codes_read(fuzz_ctx, &shape, stream, in->left, values))) return;
    }
    for (size_t i = 0; i < count; i++)
        if (values[i] == INT8_MIN && choice & 1) values[i] = 0; /* no weight has this value */
    check_round_trip(&shape, values);
}
