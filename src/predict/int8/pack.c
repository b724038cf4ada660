/* Packs the weights of an int8 map in blocks, and divides scratch memory. */
#include <string.h>

#include "predict/int8/stages.h"

enum {
    PANEL = EH_INT8_PANEL,
    GROUP = EH_INT8_GROUP,
    BLOCK = EH_INT8_BLOCK,
    WORD = EH_INT8_WORD,
    /* Blocks of zeros are left out if at most 5 of 8 blocks remain. With more, it is faster to
     * multiply several panels with one list of groups. */
    SPARSE = 5,
    SPARSE_OF = 8
};

static int64_t round_up(int64_t count, int64_t to)
{
    return (count + to - 1) / to * to;
}

/* ---- blocks of weights ---- */

static void free_matrix(eh_int8_matrix *M)
{
    eh_free(M->first);
    eh_free(M->bits);
    eh_free(M->block);
    eh_free(M->scale);
    eh_free(M->bias);
}

/* Copies group g of a panel from W (K, N) to a block; false if all weights are 0. */
static bool copy_block(const int8_t *W, int64_t K, int64_t N, int64_t g, int64_t panel, bool by_input, int8_t *block)
{
    bool any = false;
    memset(block, 0, BLOCK);
    for (int64_t k = g * GROUP; k < eh_min(K, (g + 1) * GROUP); k++)
        for (int64_t j = panel * PANEL; j < eh_min(N, (panel + 1) * PANEL); j++) {
            const int64_t input = k - g * GROUP, column = j - panel * PANEL;
            block[by_input ? input * PANEL + column : column * GROUP + input] = W[k * N + j];
            any |= W[k * N + j] != 0;
        }
    return any;
}

/* Fills block, bits and first; only counts blocks if M->block is NULL. Returns their number. */
static int64_t fill_blocks(const int8_t *W, int64_t K, int64_t N, bool by_input, eh_int8_matrix *M)
{
    int8_t block[BLOCK];
    int64_t count = 0;
    for (int64_t p = 0; p < M->panels; p++)
        for (int64_t g = 0; g < M->groups; g++) {
            const int64_t word = p * M->words + g / WORD;
            if (g % WORD == 0) M->first[word] = count;
            if (!copy_block(W, K, N, g, p, by_input, block) && !M->dense) continue;
            if (M->block) memcpy(M->block + count * BLOCK, block, BLOCK);
            M->bits[word] |= (uint64_t)1 << g % WORD;
            count++;
        }
    return count;
}

/* W (K, N); padded_K: inputs that the rows of codes have. */
static enhope_status pack(enhope_context *ctx, int64_t K, int64_t padded_K, int64_t N, const int8_t *W,
                          const float *scale, const float *bias, bool by_input, eh_int8_matrix *M)
{
    M->groups = round_up(padded_K, GROUP) / GROUP;
    M->panels = round_up(N, PANEL) / PANEL;
    const int64_t columns = M->panels * PANEL, all = M->groups * M->panels;
    if (eh_max(M->groups, M->panels) > INT32_MAX - PANEL)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "the map is too large for int8; use float32");
    M->words = round_up(M->groups, WORD) / WORD;
    EH_TRY(eh_new(ctx, "packed weights", M->panels * M->words, sizeof *M->first, (void **)&M->first));
    EH_TRY(eh_new(ctx, "packed weights", M->panels * M->words, sizeof *M->bits, (void **)&M->bits));
    const int64_t blocks = fill_blocks(W, K, N, by_input, M);
    M->dense = blocks * SPARSE_OF > all * SPARSE;
    EH_TRY(eh_new(ctx, "packed weights", M->dense ? all : blocks, BLOCK, (void **)&M->block));
    EH_TRY(eh_new(ctx, "packed weights", columns, sizeof *M->scale, (void **)&M->scale));
    EH_TRY(eh_new(ctx, "packed weights", columns, sizeof *M->bias, (void **)&M->bias));
    (void)fill_blocks(W, K, N, by_input, M);
    memcpy(M->scale, scale, (size_t)N * sizeof *scale);
    memcpy(M->bias, bias, (size_t)N * sizeof *bias);
    return ENHOPE_OK;
}

/* ---- the map ---- */

void eh_int8_map_free(eh_int8_map *map)
{
    if (!map) return;
    free_matrix(&map->C);
    free_matrix(&map->W);
    eh_free(map->low);
    eh_free(map->inverse);
    eh_free(map->zero_code);
    eh_free(map->power_low);
    eh_free(map->power_inverse);
    eh_free(map->V);
    eh_free(map);
}

static void fill_inputs(const eh_quantized *q, eh_int8_map *map)
{
    map->bytes = true;
    for (int64_t k = 0; k < map->H; k++) {
        map->low[k] = q->low[k];
        map->inverse[k] = 1 / q->step[k];
        map->zero_code[k] = eh_int8_code(0, map->low[k], map->inverse[k]);
        map->bytes &= q->low[k] == 0 && q->step[k] == 1;
    }
}

static void fill_outputs(const float *V, int64_t m, eh_int8_map *map)
{
    const int64_t ld = map->W.panels * PANEL;
    for (int64_t i = 0; i < map->h; i++)
        for (int64_t j = 0; j < m; j++) map->V[i * ld + j] = fabsf(V[i * m + j]) < EH_QUANTIZED_MIN ? 0 : V[i * m + j];
}

enhope_status eh_int8_map_create(enhope_context *ctx, const eh_int8_kernel *kernel, const eh_map_shape *s,
                                 const eh_quantized *q, const float *V, eh_int8_map **out)
{
    eh_int8_map *map = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "an int8 map", 1, sizeof *map, (void **)&map));
    map->kernel = kernel;
    map->H = s->H;
    map->h = s->h;
    map->order = s->order;
    EH_CHECK(pack(ctx, s->H, s->H, s->F, q->C, q->C_scale, q->C_bias, kernel->by_input, &map->C));
    const int64_t F = map->C.panels * PANEL;
    EH_CHECK(pack(ctx, s->F, F, s->m, q->W, q->W_scale, q->W_bias, kernel->by_input, &map->W));
    EH_CHECK(eh_new(ctx, "ranges of inputs", s->H, sizeof *map->low, (void **)&map->low));
    EH_CHECK(eh_new(ctx, "ranges of inputs", s->H, sizeof *map->inverse, (void **)&map->inverse));
    EH_CHECK(eh_new(ctx, "ranges of inputs", s->H, sizeof *map->zero_code, (void **)&map->zero_code));
    EH_CHECK(eh_new(ctx, "ranges of powers", F, sizeof *map->power_low, (void **)&map->power_low));
    EH_CHECK(eh_new(ctx, "ranges of powers", F, sizeof *map->power_inverse, (void **)&map->power_inverse));
    EH_CHECK(
        eh_new(ctx, "weights of outputs", s->h, (size_t)(map->W.panels * PANEL) * sizeof *map->V, (void **)&map->V));
    fill_inputs(q, map);
    memcpy(map->power_low, q->power_low, (size_t)s->F * sizeof *map->power_low);
    for (int64_t f = 0; f < s->F; f++) map->power_inverse[f] = 1 / q->power_step[f];
    fill_outputs(V, s->m, map);
    *out = map;
    return ENHOPE_OK;
cleanup:
    eh_int8_map_free(map);
    return status;
}

/* ---- scratch memory ---- */

/* Places `count` elements after the *used bytes of the scratch memory; NULL: only counts. */
static void *place(uint8_t *scratch, int64_t count, size_t size, size_t *used)
{
    void *at = scratch ? scratch + *used : NULL;
    *used += (size_t)round_up(count * (int64_t)size, BLOCK);
    return at;
}

static size_t lay_out(const eh_int8_map *map, int64_t n, uint8_t *scratch, eh_int8_tile *t)
{
    const int64_t groups = round_up(eh_max(map->C.groups, map->W.groups), PANEL) + PANEL;
    const int64_t lists = n / map->kernel->rows + map->kernel->rows;
    size_t used = 0;
    t->n = n;
    t->ldx = round_up(map->H, BLOCK);
    t->lds = round_up(map->C.panels * PANEL, BLOCK);
    t->ldt = map->W.panels * PANEL;
    t->lda = groups;
    t->x = place(scratch, n * t->ldx, sizeof *t->x, &used);
    t->s = place(scratch, n * t->lds, sizeof *t->s, &used);
    t->t = place(scratch, n * t->ldt, sizeof *t->t, &used);
    t->active = place(scratch, lists * groups, sizeof *t->active, &used);
    t->count = place(scratch, lists, sizeof *t->count, &used);
    t->bits = place(scratch, lists * eh_max(map->C.words, map->W.words), sizeof *t->bits, &used);
    t->row = place(scratch, map->H, sizeof *t->row, &used);
    return used;
}

size_t eh_int8_tile_bytes(const eh_int8_map *map, int64_t n)
{
    eh_int8_tile tile;
    return lay_out(map, n, NULL, &tile);
}

eh_int8_tile eh_int8_tile_at(const eh_int8_map *map, int64_t n, void *scratch)
{
    eh_int8_tile tile;
    lay_out(map, n, scratch, &tile);
    for (int64_t i = 0; i < n; i++) { /* padding counts as groups of zeros */
        memset(tile.x + i * tile.ldx + map->H, 0, (size_t)(tile.ldx - map->H));
        memset(tile.s + i * tile.lds + map->C.panels * PANEL, 0, (size_t)(tile.lds - map->C.panels * PANEL));
    }
    return tile;
}

/* ---- rows of data ---- */

/* A sparse row: the codes of zeros, then those of the stored values. */
static bool sparse_codes(const eh_int8_map *map, const eh_matrix *x, int64_t row, uint8_t *codes)
{
    bool finite = true;
    memcpy(codes, map->zero_code, (size_t)map->H);
    for (int64_t t = x->row_start[row]; t < x->row_start[row + 1]; t++) {
        const int32_t k = x->column[t];
        finite &= fabsf(x->value[t]) <= FLT_MAX;
        codes[k] = finite ? eh_int8_code(x->value[t], map->low[k], map->inverse[k]) : 0;
    }
    return finite;
}

bool eh_int8_codes(const eh_int8_map *map, const eh_matrix *x, int64_t row, const eh_int8_tile *tile, uint8_t *codes)
{
    if (x->kind == ENHOPE_CSR) return sparse_codes(map, x, row, codes);
    if (x->kind == ENHOPE_F32) return map->kernel->codes(map, x->f32 + row * map->H, codes);
    if (!map->bytes) {
        eh_matrix_row(x, row, tile->row);
        return map->kernel->codes(map, tile->row, codes);
    }
    memcpy(codes, x->u8 + row * map->H, (size_t)map->H);
    return true;
}
