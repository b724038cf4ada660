/* Codes of a matrix. Writer and reader make the same pass over it and share the contexts. */
#include <stdlib.h>
#include <string.h>

#include "model/coded/arithmetic.h"
#include "model/coded/codes.h"

enum {
    LEVELS = 255,
    DENSITIES = 9, /* classes of densities, by powers of two */
    NEIGHBORS = 3,
    SIZES = 9,    /* classes of the sum of the neighbors */
    ROW_RATE = 4, /* a density changes by 2^-rate of the difference */
    COLUMN_RATE = 6,
    DENSITY = 1 << 16, /* a density of 1 */
    START = DENSITY / 8
};

typedef struct coder {
    eh_codes_shape s;
    int8_t level[LEVELS];
    int levels, bits;
    eh_bit_model zero[DENSITIES][DENSITIES][NEIGHBORS + 1]; /* by the number of neighbors that are not 0 */
    eh_bit_model tree[SIZES][LEVELS + 1];
    int32_t *row;   /* (rows) running density of each row */
    int32_t column; /* of the current column */
} coder;

static enhope_status open_coder(enhope_context *ctx, const eh_codes_shape *shape, coder *c)
{
    c->s = *shape;
    if (c->s.width < 2) c->s.width = 0;
    EH_TRY(eh_new(ctx, "codes", shape->rows, sizeof *c->row, (void **)&c->row));
    for (int64_t k = 0; k < shape->rows; k++) c->row[k] = START;
    for (size_t i = 0; i < sizeof c->zero / sizeof(eh_bit_model); i++) (&c->zero[0][0][0])[i] = EH_BIT_MODEL;
    for (size_t i = 0; i < sizeof c->tree / sizeof(eh_bit_model); i++) (&c->tree[0][0])[i] = EH_BIT_MODEL;
    return ENHOPE_OK;
}

static int bits_for(int levels)
{
    int bits = 0;
    while (1 << bits < levels) bits++;
    return bits;
}

/* 0: a density below 2^-8, ..., 8: above 1/2. */
static int density_class(int32_t density)
{
    int class = 0;
    for (int32_t limit = DENSITY >> 8; class < DENSITIES - 1 && density >= limit; limit <<= 1) class ++;
    return class;
}

/* The numbers before (k, j) in its column: the one before, and in an image the one above and the
 * one to the right of that, else the second one before. Those outside the matrix are 0. */
typedef struct neighbors {
    int count, sum; /* of those that are not 0 */
} neighbors;

static neighbors neighbors_of(const coder *c, const int8_t *values, int64_t k, int64_t j)
{
    const int64_t above = c->s.width ? c->s.width : 2, back[NEIGHBORS] = {1, above, c->s.width ? above - 1 : k + 1};
    neighbors n = {0, 0};
    for (int i = 0; i < NEIGHBORS; i++) {
        const int8_t value = k >= back[i] ? values[(k - back[i]) * c->s.columns + j] : 0;
        n.count += value != 0;
        n.sum += value;
    }
    return n;
}

/* The model of the bit that number (k, j) is not 0. */
static eh_bit_model *zero_model(coder *c, int64_t k, neighbors n)
{
    return &c->zero[density_class(c->row[k])][density_class(c->column)][n.count];
}

/* The models of the bits of a level. */
static eh_bit_model *level_models(coder *c, neighbors n)
{
    static const int limit[SIZES / 2] = {1, 12, 30, 60};
    int class = 0;
    while (class < SIZES / 2 && abs(n.sum) >= limit[class]) class ++;
    return c->tree[n.sum < 0 ? SIZES / 2 - class : SIZES / 2 + class];
}

static void learn_density(coder *c, int64_t k, bool bit)
{
    const int32_t target = bit ? DENSITY : 0;
    c->row[k] += (target - c->row[k]) / (1 << ROW_RATE);
    c->column += (target - c->column) / (1 << COLUMN_RATE);
}

/* ---- writing ---- */

static void find_levels(coder *c, const int8_t *values)
{
    bool there[256] = {false};
    for (int64_t i = 0; i < c->s.rows * c->s.columns; i++) there[values[i] + 128] = true;
    for (int v = -128; v < 128; v++)
        if (v && there[v + 128]) c->level[c->levels++] = (int8_t)v;
    if (!c->levels) c->level[c->levels++] = 1; /* all are 0 */
    c->bits = bits_for(c->levels);
}

static void write_level(const coder *c, eh_bit_model *tree, eh_bit_writer *w, int8_t value)
{
    int index = 0, node = 1;
    while (c->level[index] != value) index++;
    for (int i = c->bits - 1; i >= 0; i--) {
        const bool bit = index >> i & 1;
        eh_bit_write(w, &tree[node], bit);
        node = 2 * node + bit;
    }
}

enhope_status eh_codes_write(enhope_context *ctx, const eh_codes_shape *shape, const int8_t *values, uint8_t *to,
                             size_t *bytes)
{
    coder c = {.levels = 0};
    EH_TRY(open_coder(ctx, shape, &c));
    find_levels(&c, values);
    eh_bit_writer w = eh_bit_writer_of(to);
    eh_bit_put(&w, (uint8_t)(c.levels - 1));
    for (int i = 0; i < c.levels; i++) eh_bit_put(&w, (uint8_t)c.level[i]);
    for (int64_t j = 0; j < shape->columns; j++) {
        c.column = START;
        for (int64_t k = 0; k < shape->rows; k++) {
            const int8_t value = values[k * shape->columns + j];
            const neighbors n = neighbors_of(&c, values, k, j);
            eh_bit_write(&w, zero_model(&c, k, n), value != 0);
            if (value) write_level(&c, level_models(&c, n), &w, value);
            learn_density(&c, k, value != 0);
        }
    }
    eh_bit_end(&w);
    eh_free(c.row);
    *bytes = w.bytes;
    return ENHOPE_OK;
}

/* ---- reading ---- */

static enhope_status fail_damaged(enhope_context *ctx, const char *what)
{
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "its codes are damaged: %s", what);
}

static enhope_status read_levels(enhope_context *ctx, const uint8_t *from, size_t bytes, coder *c)
{
    c->levels = bytes ? from[0] + 1 : 0;
    if (!c->levels || c->levels > LEVELS || bytes < (size_t)c->levels + 2)
        return fail_damaged(ctx, "they are too short");
    memcpy(c->level, from + 1, (size_t)c->levels);
    for (int i = 0; i < c->levels; i++)
        if (!c->level[i] || (i && c->level[i] <= c->level[i - 1]))
            return fail_damaged(ctx, "the levels are not ascending");
    c->bits = bits_for(c->levels);
    return ENHOPE_OK;
}

/* 0: the index is none of a level. */
static int8_t read_level(const coder *c, eh_bit_model *tree, eh_bit_reader *r)
{
    int node = 1;
    for (int i = 0; i < c->bits; i++) node = 2 * node + eh_bit_read(r, &tree[node]);
    const int index = node - (1 << c->bits);
    return index < c->levels ? c->level[index] : 0;
}

enhope_status eh_codes_read(enhope_context *ctx, const eh_codes_shape *shape, const uint8_t *from, size_t bytes,
                            int8_t *values)
{
    coder c = {.levels = 0};
    EH_TRY(read_levels(ctx, from, bytes, &c));
    EH_TRY(open_coder(ctx, shape, &c));
    eh_bit_reader r = eh_bit_reader_of(from + 1 + c.levels, bytes - 1 - (size_t)c.levels);
    bool good = true;
    for (int64_t j = 0; j < shape->columns && good; j++) {
        c.column = START;
        for (int64_t k = 0; k < shape->rows && good; k++) {
            int8_t *value = &values[k * shape->columns + j];
            const neighbors n = neighbors_of(&c, values, k, j);
            const bool bit = eh_bit_read(&r, zero_model(&c, k, n));
            *value = bit ? read_level(&c, level_models(&c, n), &r) : 0;
            good = !bit || *value;
            learn_density(&c, k, bit);
        }
    }
    eh_free(c.row);
    return good && eh_bit_at_end(&r) ? ENHOPE_OK : fail_damaged(ctx, "they do not end with the matrix");
}
