/* Codes of matrices: every matrix is read as it was written, the bytes are those of the format, and
 * a damaged stream is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/coded/codes.h"

static enhope_context *ctx;

typedef struct stream {
    uint8_t *bytes;
    size_t size;
} stream;

static stream written(const eh_codes_shape *s, const int8_t *values)
{
    stream w = {0};
    size_t again;
    assert_int_equal(eh_codes_write(ctx, s, values, NULL, &w.size), ENHOPE_OK);
    w.bytes = malloc(w.size);
    assert_int_equal(eh_codes_write(ctx, s, values, w.bytes, &again), ENHOPE_OK);
    assert_int_equal(again, w.size);
    return w;
}

/* A matrix of which one number of `every` is not 0, with values of -largest .. largest. */
static int8_t *drawn(const eh_codes_shape *s, uint64_t every, int largest)
{
    const int64_t count = s->rows * s->columns;
    int8_t *values = malloc((size_t)count);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t r = eh_random_u64(7, 1, (uint64_t)i);
        values[i] = r % every ? 0 : (int8_t)((int)(r >> 33) % (2 * largest + 1) - largest);
    }
    return values;
}

static void every_matrix_is_read_as_written(void **state)
{
    (void)state;
    static const eh_codes_shape shapes[] = {{1, 1, 0},   {1, 57, 0},   {57, 1, 0},  {13, 7, 0},
                                            {35, 11, 5}, {784, 9, 28}, {30, 4, 40}, {6, 5, 1}};
    static const uint64_t densities[] = {1, 2, 9, 300, 1000000};
    static const int largest[] = {1, 3, 16, 127};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t d = 0; d < 5; d++)
            for (size_t m = 0; m < 4; m++) {
                const size_t count = (size_t)(shapes[i].rows * shapes[i].columns);
                int8_t *values = drawn(&shapes[i], densities[d], largest[m]), *back = malloc(count);
                memset(back, 99, count);
                const stream w = written(&shapes[i], values);
                if (eh_codes_read(ctx, &shapes[i], w.bytes, w.size, back))
                    fail_msg("%zu %zu %zu: %s", i, d, m, enhope_error(ctx));
                assert_memory_equal(values, back, count);
                free(values), free(back), free(w.bytes);
            }
}

static void regular_matrices_need_few_bytes(void **state)
{
    (void)state;
    const eh_codes_shape s = {784, 50, 28};
    int8_t *values = calloc(784 * 50, 1);
    stream w = written(&s, values);
    assert_true(w.size < 40); /* zeros */
    free(w.bytes);
    for (int k = 0; k < 784; k++)
        for (int j = 0; j < 50; j++)
            values[k * 50 + j] = k / 28 > 5 && k / 28 < 9 ? (int8_t)(1 + k % 2) : 0; /* stripes */
    w = written(&s, values);
    assert_true(w.size < 784 * 50 / 40);
    free(w.bytes), free(values);
}

/* The stream of a small matrix, computed by hand of docs/reference/model-format.md. */
static void the_bytes_are_those_of_the_format(void **state)
{
    (void)state;
    static const int8_t values[] = {0, -3, 5, 0, 0, 5};
    static const uint8_t expected[] = {1, 0xfd, 5, 0x97};
    const eh_codes_shape s = {3, 2, 0};
    const stream w = written(&s, values);
    assert_int_equal(w.size, sizeof expected);
    assert_memory_equal(w.bytes, expected, sizeof expected);
    free(w.bytes);
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    const eh_codes_shape s = {35, 11, 5};
    int8_t *values = drawn(&s, 3, 9), *back = malloc(35 * 11);
    stream w = written(&s, values);
    for (size_t size = 0; size < w.size; size++) /* any result, but within the memory */
        (void)eh_codes_read(ctx, &s, w.bytes, size, back);
    for (size_t size = 0; size < 10; size++)
        assert_int_equal(eh_codes_read(ctx, &s, w.bytes, size, back), ENHOPE_ERROR_MODEL);
    uint8_t *longer = calloc(w.size + 1, 1);
    memcpy(longer, w.bytes, w.size);
    assert_int_equal(eh_codes_read(ctx, &s, longer, w.size + 1, back), ENHOPE_ERROR_MODEL);
    for (size_t i = 0; i < w.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            longer[i] ^= (uint8_t)(1 << bit);
            (void)eh_codes_read(ctx, &s, longer, w.size, back);
            longer[i] ^= (uint8_t)(1 << bit);
        }
    longer[1] = longer[2]; /* two equal levels */
    assert_int_equal(eh_codes_read(ctx, &s, longer, w.size, back), ENHOPE_ERROR_MODEL);
    assert_non_null(strstr(enhope_error(ctx), "ascending"));
    free(values), free(back), free(longer), free(w.bytes);
}

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return !ctx;
}

static int close_context(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_matrix_is_read_as_written),
        cmocka_unit_test(regular_matrices_need_few_bytes),
        cmocka_unit_test(the_bytes_are_those_of_the_format),
        cmocka_unit_test(damaged_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
