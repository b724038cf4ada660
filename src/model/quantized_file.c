/* The int8 tensors of model files (docs/reference/model-format.md). */
#include <string.h>

#include "model/coded/coded.h"
#include "model/quantized.h"
#include "model/safetensors.h"

bool eh_quantized_replaces(const char *name, bool coded)
{
    return !strcmp(name, "map.C") || !strcmp(name, "map.W") || (coded && !strcmp(name, "map.b"));
}

int eh_quantized_tensors(const eh_map_shape *s, const eh_quantized *q, eh_int8_content content, eh_st_tensor *tensor)
{
    const eh_quantized none = {0}, *at = q ? q : &none;
    const eh_st_tensor all[EH_INT8_TENSORS] = {
        {.name = "int8.low", .dtype = "F32", .rank = 1, .shape = {s->H, 1}, .data = at->low},
        {.name = "int8.step", .dtype = "F32", .rank = 1, .shape = {s->H, 1}, .data = at->step},
        {.name = "int8.power_low", .dtype = "F32", .rank = 1, .shape = {s->F, 1}, .data = at->power_low},
        {.name = "int8.power_step", .dtype = "F32", .rank = 1, .shape = {s->F, 1}, .data = at->power_step},
        {.name = "int8.C_scale", .dtype = "F32", .rank = 1, .shape = {s->F, 1}, .data = at->C_scale},
        {.name = "int8.C_bias", .dtype = "F32", .rank = 1, .shape = {s->F, 1}, .data = at->C_bias},
        {.name = "int8.W_scale", .dtype = "F32", .rank = 1, .shape = {s->m, 1}, .data = at->W_scale},
        {.name = "int8.W_bias", .dtype = "F32", .rank = 1, .shape = {s->m, 1}, .data = at->W_bias},
        {.name = "int8.C", .dtype = "I8", .rank = 2, .shape = {s->H, s->F}, .data = at->C},
        {.name = "int8.W", .dtype = "I8", .rank = 2, .shape = {s->F, s->m}, .data = at->W},
    };
    const int ranges = 4, count = content == EH_INT8_WEIGHTS ? EH_INT8_TENSORS : content == EH_INT8_RANGES ? ranges : 0;
    memcpy(tensor, all, (size_t)count * sizeof *all);
    return count;
}

enhope_status eh_quantized_find(enhope_context *ctx, const eh_safetensors *st, const eh_map_shape *s,
                                eh_int8_content *content)
{
    const eh_st_tensor *found;
    eh_st_tensor want[EH_INT8_TENSORS];
    *content = eh_safetensors_find(st, "int8.C")     ? EH_INT8_WEIGHTS
               : eh_safetensors_find(st, "int8.low") ? EH_INT8_RANGES
                                                     : EH_INT8_NONE;
    const int count = eh_quantized_tensors(s, NULL, *content, want);
    for (int i = 0; i < count; i++) EH_TRY(eh_coded_expect(ctx, st, &want[i], &found));
    return ENHOPE_OK;
}

enhope_status eh_quantized_read(enhope_context *ctx, eh_safetensors *st, eh_int8_content content, enhope_model *model)
{
    eh_st_tensor tensor[EH_INT8_TENSORS];
    EH_TRY(eh_quantized_create(ctx, &model->shape, content == EH_INT8_WEIGHTS, &model->int8));
    const int count = eh_quantized_tensors(&model->shape, model->int8, content, tensor);
    for (int i = 0; i < count; i++) {
        const int64_t width = strcmp(tensor[i].name, "int8.C") ? 0 : model->input.image_columns;
        EH_TRY(eh_coded_read(ctx, st, eh_safetensors_find(st, tensor[i].name), &tensor[i], width,
                             (void *)(uintptr_t)tensor[i].data));
    }
    EH_TRY(eh_quantized_check(ctx, &model->shape, model->int8));
    if (content == EH_INT8_WEIGHTS) EH_TRY(eh_quantized_decode(ctx, model->int8, model));
    if (content == EH_INT8_WEIGHTS && eh_coded_file(st)) eh_quantized_decode_bias(model->int8, model);
    return ENHOPE_OK;
}
