/* The body of a kernel. A file kernel_*.c defines the following for its instruction set, then
 * includes this file and ends with the table KERNEL(name):
 *
 *   TARGET      attribute of all functions, for example __attribute__((target("avx2")))
 *   sums        type: the sums of a panel
 *   weights     type: a block of weights
 *   inputs      type: a group of inputs, once for each column
 *   sums zero(void)
 *   weights load_block(const int8_t *block)
 *   inputs load_group(const uint8_t *x)
 *   sums dot(sums s, inputs x, weights w)     s + the products of a group
 *   sums add(sums a, sums b)
 *   void store(sums s, int32_t *out)          out (PANEL)
 *   int64_t nonzero(const uint32_t *x, int64_t first, int32_t *list)
 *   uint32_t mask(const uint32_t *x)     as eh_int8_nonzero and eh_int8_mask, which may be used
 *   BY_INPUT                  layout of blocks, see eh_int8_kernel
 *   ROWS, WIDE                rows and panels whose sums fit in the registers; WIDE is 1, 2 or 4
 *   FLAT_PANELS, FLAT_WAYS    panels and chains of sums for a single row
 *   SINGLE_WAYS               chains for a single row and panel
 *
 * Integer sums are exact, so their order is free. */
#include "predict/int8/stages.h"

enum {
    PANEL = EH_INT8_PANEL,
    GROUP = EH_INT8_GROUP,
    BLOCK = EH_INT8_BLOCK,
    WORD = EH_INT8_WORD,
    PANELS = 4, /* panels whose sums are finished together */
    WAYS = 4    /* largest number of chains */
};
#define UNROLL _Pragma("GCC unroll 16")

/* What is done with the sums. */
typedef enum finish { FINISH_SUMS, FINISH_POWERS, FINISH_UNITS } finish;

/* A product: rows of codes times the weights W. */
typedef struct product {
    const eh_int8_map *map;
    const eh_int8_matrix *W;
    const eh_int8_tile *tile;
    const uint8_t *x; /* (n, ldx) */
    int64_t ldx;
    finish finish;
    int32_t *out; /* (n, panels * PANEL) of FINISH_SUMS */
} product;

/* The groups of inputs of some rows that are not all zero. */
typedef struct active {
    const int32_t *group; /* (count) */
    int64_t count;
} active;

/* ---- what follows a product ---- */

/* Codes of powers, for the usual orders with a constant number of multiplications. */
TARGET EH_INT8_INLINE void power_codes(const product *p, int order, int64_t first, int64_t columns, const int32_t *sum,
                                       uint8_t *s)
{
    const float *scale = p->W->scale + first, *bias = p->W->bias + first;
    const float *low = p->map->power_low + first, *inverse = p->map->power_inverse + first;
    for (int64_t j = 0; j < columns; j++)
        s[j] = eh_int8_code(eh_int8_power(sum[j], scale[j], bias[j], order), low[j], inverse[j]);
}

/* The arithmetic on the sums of one row, columns first .. first + columns. */
TARGET EH_INT8_INLINE void finish_row(const product *p, int64_t row, int64_t first, int64_t columns, const int32_t *sum)
{
    if (p->finish == FINISH_SUMS) {
        memcpy(p->out + row * p->W->panels * PANEL + first, sum, (size_t)columns * sizeof *sum);
    } else if (p->finish == FINISH_UNITS) {
        const float *scale = p->W->scale + first, *bias = p->W->bias + first;
        float *t = p->tile->t + row * p->tile->ldt + first;
        for (int64_t j = 0; j < columns; j++) t[j] = eh_int8_hidden(sum[j], scale[j], bias[j]);
    } else {
        uint8_t *s = p->tile->s + row * p->tile->lds + first;
        switch (p->map->order) {
        case 2: power_codes(p, 2, first, columns, sum, s); break;
        case 3: power_codes(p, 3, first, columns, sum, s); break;
        default: power_codes(p, p->map->order, first, columns, sum, s);
        }
    }
}

/* ---- dense weights ---- */

/* Some rows times some panels. `ways` chains of sums hide the latency of dot(). The numbers are
 * constants in each call, so that loops are unrolled and sums stay in registers. */
TARGET EH_INT8_INLINE void multiply(const product *p, int64_t row, int rows, int64_t panel, int panels, int ways,
                                    const active *list)
{
    sums total[ROWS][PANELS][WAYS];
    const int64_t apart = p->W->groups * BLOCK;
    const uint8_t *x = p->x + row * p->ldx;
    const int8_t *from = p->W->block + panel * apart;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int j = 0; j < panels; j++) UNROLL for (int w = 0; w < ways; w++)
        total[r][j][w] = zero();
    int64_t i = 0;
    for (; i + ways <= list->count; i += ways) UNROLL for (int w = 0; w < ways; w++)
        {
            inputs in[ROWS];
            const int64_t group = list->group[i + w];
            UNROLL for (int r = 0; r < rows; r++) in[r] = load_group(x + r * p->ldx + GROUP * group);
            UNROLL for (int j = 0; j < panels; j++)
            {
                const weights b = load_block(from + j * apart + BLOCK * group);
                UNROLL for (int r = 0; r < rows; r++) total[r][j][w] = dot(total[r][j][w], in[r], b);
            }
        }
    for (; i < list->count; i++) {
        const int64_t group = list->group[i];
        UNROLL for (int j = 0; j < panels; j++)
        {
            const weights b = load_block(from + j * apart + BLOCK * group);
            UNROLL for (int r = 0; r < rows; r++) total[r][j][0] =
                dot(total[r][j][0], load_group(x + r * p->ldx + GROUP * group), b);
        }
    }
    int32_t sum[ROWS][PANELS * PANEL];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int j = 0; j < panels; j++)
    {
        UNROLL for (int w = 1; w < ways; w++) total[r][j][0] = add(total[r][j][0], total[r][j][w]);
        store(total[r][j][0], sum[r] + j * PANEL);
    }
    for (int r = 0; r < rows; r++) finish_row(p, row + r, panel * PANEL, panels * PANEL, sum[r]);
}

/* ROWS rows or one, times PANELS panels or one. */
TARGET static void rows_by_panels(const product *p, int64_t row, int64_t panel, const active *list)
{
    for (int j = 0; j < PANELS; j += WIDE) multiply(p, row, ROWS, panel + j, WIDE, 1, list);
}

TARGET static void rows_by_one(const product *p, int64_t row, int64_t panel, const active *list)
{
    multiply(p, row, ROWS, panel, 1, 1, list);
}

TARGET static void one_by_panels(const product *p, int64_t row, int64_t panel, const active *list)
{
    for (int j = 0; j < PANELS; j += FLAT_PANELS) multiply(p, row, 1, panel + j, FLAT_PANELS, FLAT_WAYS, list);
}

TARGET static void one_by_one(const product *p, int64_t row, int64_t panel, const active *list)
{
    multiply(p, row, 1, panel, 1, SINGLE_WAYS, list);
}

/* any (PANEL): the groups g, g + 1, ... of `rows` rows, combined. Rows are padded to whole
 * blocks. */
TARGET EH_INT8_INLINE void any_row(const product *p, int64_t row, int rows, int64_t g, uint32_t *any)
{
    const uint8_t *x = p->x + row * p->ldx + g * GROUP;
    memcpy(any, x, PANEL * sizeof *any);
    for (int r = 1; r < rows; r++) {
        uint32_t more[PANEL];
        memcpy(more, x + r * p->ldx, sizeof more);
        for (int l = 0; l < PANEL; l++) any[l] |= more[l];
    }
}

/* The groups that are not zero in all of `rows` rows, as a list. */
TARGET static int64_t list_groups(const product *p, int64_t row, int rows, int32_t *list)
{
    int64_t count = 0;
    for (int64_t g = 0; g < p->W->groups; g += PANEL) {
        uint32_t any[PANEL];
        any_row(p, row, rows, g, any);
        count += nonzero(any, g, list + count);
    }
    return count;
}

/* Panels outside, rows inside: a panel stays in the cache for all rows of the tile. The last n %
 * ROWS rows are multiplied one by one. */
TARGET static void run_dense(const product *p)
{
    const eh_int8_tile *t = p->tile;
    const int64_t panels = p->W->panels;
    for (int64_t i = 0, l = 0, high; i < t->n; i += high, l++) {
        high = t->n - i >= ROWS ? ROWS : 1;
        t->count[l] = list_groups(p, i, (int)high, t->active + l * t->lda);
    }
    for (int64_t j = 0, wide; j < panels; j += wide) {
        wide = panels - j >= PANELS ? PANELS : 1;
        for (int64_t i = 0, l = 0, high; i < t->n; i += high, l++) {
            high = t->n - i >= ROWS ? ROWS : 1;
            const active list = {t->active + l * t->lda, t->count[l]};
            if (high == 1)
                (wide == 1 ? one_by_one : one_by_panels)(p, i, j, &list);
            else
                (wide == 1 ? rows_by_one : rows_by_panels)(p, i, j, &list);
        }
    }
}

/* ---- weights with blocks of zeros ---- */

/* Some rows times one panel: the blocks of the panel whose groups are not zero in all rows. Bits of
 * words are visited two at a time, for two chains of sums. */
TARGET EH_INT8_INLINE void multiply_sparse(const product *p, int64_t row, int rows, int64_t panel, const uint64_t *any)
{
    const eh_int8_matrix *W = p->W;
    sums total[ROWS][2];
    UNROLL for (int r = 0; r < rows; r++) total[r][0] = total[r][1] = zero();
    for (int64_t w = 0; w < W->words; w++) {
        const uint64_t stored = W->bits[panel * W->words + w];
        const int8_t *from = W->block + W->first[panel * W->words + w] * BLOCK;
        const uint8_t *x = p->x + row * p->ldx + w * WORD * GROUP;
        uint64_t left = stored & any[w];
        while (left) {
            UNROLL for (int way = 0; way < 2; way++)
            {
                if (!left) break;
                const int g = __builtin_ctzll(left);
                const weights b = load_block(from + __builtin_popcountll(stored & (((uint64_t)1 << g) - 1)) * BLOCK);
                UNROLL for (int r = 0; r < rows; r++) total[r][way] =
                    dot(total[r][way], load_group(x + r * p->ldx + g * GROUP), b);
                left &= left - 1;
            }
        }
    }
    int32_t sum[PANEL];
    for (int r = 0; r < rows; r++) {
        store(add(total[r][0], total[r][1]), sum);
        finish_row(p, row + r, panel * PANEL, PANEL, sum);
    }
}

TARGET static void rows_by_sparse(const product *p, int64_t row, int64_t panel, const uint64_t *any)
{
    multiply_sparse(p, row, ROWS, panel, any);
}

TARGET static void one_by_sparse(const product *p, int64_t row, int64_t panel, const uint64_t *any)
{
    multiply_sparse(p, row, 1, panel, any);
}

/* The groups that are not zero in all of `rows` rows, as bits. */
TARGET static void mark_groups(const product *p, int64_t row, int rows, uint64_t *bits)
{
    memset(bits, 0, (size_t)p->W->words * sizeof *bits);
    for (int64_t g = 0; g < p->W->groups; g += PANEL) {
        uint32_t any[PANEL];
        any_row(p, row, rows, g, any);
        bits[g / WORD] |= (uint64_t)mask(any) << g % WORD;
    }
}

TARGET static void run_sparse(const product *p)
{
    const eh_int8_tile *t = p->tile;
    for (int64_t i = 0, l = 0, high; i < t->n; i += high, l++) {
        high = t->n - i >= ROWS ? ROWS : 1;
        mark_groups(p, i, (int)high, t->bits + l * p->W->words);
    }
    for (int64_t j = 0; j < p->W->panels; j++)
        for (int64_t i = 0, l = 0, high; i < t->n; i += high, l++) {
            high = t->n - i >= ROWS ? ROWS : 1;
            (high == 1 ? one_by_sparse : rows_by_sparse)(p, i, j, t->bits + l * p->W->words);
        }
}

/* ---- the functions of the table ---- */

TARGET static void run(const product *p)
{
    (p->W->dense ? run_dense : run_sparse)(p);
}

TARGET static void kernel_sums(const eh_int8_map *map, const eh_int8_tile *tile, int32_t *out)
{
    run(&(product){map, &map->C, tile, tile->x, tile->ldx, FINISH_SUMS, out});
}

TARGET static void kernel_embed(const eh_int8_map *map, const eh_int8_tile *tile, float *Y)
{
    run(&(product){map, &map->C, tile, tile->x, tile->ldx, FINISH_POWERS, NULL});
    run(&(product){map, &map->W, tile, tile->s, tile->lds, FINISH_UNITS, NULL});
    const int64_t m = map->W.panels * PANEL;
    for (int64_t i = 0; i < tile->n; i++)
        for (int64_t o = 0; o < map->h; o++)
            Y[i * map->h + o] = eh_int8_output(map->V + o * m, tile->t + i * tile->ldt, m);
}

TARGET static bool kernel_codes(const eh_int8_map *map, const float *restrict x, uint8_t *restrict codes)
{
    const float *restrict low = map->low, *restrict inverse = map->inverse;
    int bad = 0;
    for (int64_t k = 0; k < map->H; k++) {
        bad |= !(fabsf(x[k]) <= FLT_MAX);
        codes[k] = eh_int8_code(x[k], low[k], inverse[k]);
    }
    return !bad;
}

#define KERNEL(label)                                                                                     \
    {                                                                                                     \
        .name = label, .rows = ROWS, .by_input = BY_INPUT, .supported = supported, .codes = kernel_codes, \
        .sums = kernel_sums, .embed = kernel_embed                                                        \
    }
