/* The int8 engine: embeds rows with the fastest kernel of the processor. */
#include <string.h>

#include "predict/engine.h"
#include "predict/int8/int8.h"

static enhope_status create(enhope_context *ctx, const enhope_model *model, void **state)
{
    const eh_map_shape *s = &model->shape;
    eh_quantized *q = NULL;
    eh_int8_map *map = NULL;
    enhope_status status;
    EH_CHECK(eh_model_quantized(ctx, model, &q));
    const float *V = model->theta + (s->H + 1) * s->F + s->F * s->m + s->m;
    EH_CHECK(eh_int8_map_create(ctx, eh_int8_kernel_choose(), s, q, V, &map));
    *state = map;
cleanup:
    eh_quantized_free(q);
    return status;
}

static void destroy(void *state)
{
    eh_int8_map_free(state);
}

static size_t scratch(const void *state, int64_t rows)
{
    return eh_int8_tile_bytes(state, rows);
}

static bool embed(const void *state, const eh_matrix *x, int64_t first, int64_t n, void *memory, float *Y)
{
    const eh_int8_map *map = state;
    const eh_int8_tile tile = eh_int8_tile_at(map, n, memory);
    for (int64_t i = 0; i < n; i++)
        if (!eh_int8_codes(map, x, first + i, &tile, tile.x + i * tile.ldx)) return false;
    map->kernel->embed(map, &tile, Y);
    return true;
}

const eh_engine eh_engine_int8 = {
    .name = "int8", .create = create, .free = destroy, .scratch = scratch, .embed = embed};
