/* Copies models. */
#include <string.h>

#include "model/quantized.h"

enhope_status eh_model_copy(enhope_context *ctx, const enhope_model *from, int64_t r, bool exemplars,
                            enhope_model **out)
{
    enhope_model *m = NULL;
    const int64_t H = from->shape.H;
    enhope_status status;
    EH_CHECK(eh_model_create(ctx, from->method, from->map, &from->shape, r, exemplars, from->c, from->setting.count,
                             from->epochs, &m));
    memcpy(m->theta, from->theta, (size_t)eh_map_parameters(from->map, &from->shape) * sizeof *m->theta);
    memcpy(m->shift, from->shift, (size_t)H * sizeof *m->shift);
    memcpy(m->mul, from->mul, (size_t)H * sizeof *m->mul);
    if (m->epochs) memcpy(m->history, from->history, (size_t)m->epochs * sizeof *m->history);
    m->earlier = from->earlier;
    for (int32_t i = 0; i < from->note.count; i++)
        EH_CHECK(enhope_model_set_note(ctx, m, from->note.pair[i].name, from->note.pair[i].value));
    m->gaussian = from->gaussian;
    m->dof = from->dof;
    EH_CHECK(eh_model_copy_names(ctx, from->class_name, m->c, m->class_name));
    for (int32_t i = 0; i < m->setting.count; i++) {
        EH_CHECK(eh_model_copy_names(ctx, &from->setting.pair[i].name, 1, &m->setting.pair[i].name));
        EH_CHECK(eh_model_copy_names(ctx, &from->setting.pair[i].value, 1, &m->setting.pair[i].value));
    }
    EH_CHECK(eh_model_copy_input(ctx, &from->input, H, &m->input));
    if (from->int8) EH_CHECK(eh_quantized_copy(ctx, &from->shape, from->int8, &m->int8));
    if (m->int8) m->int8->exemplar_step = 0; /* other exemplars are no multiples of it */
    if (from->provenance) EH_CHECK(eh_provenance_copy(ctx, from->provenance, &m->provenance));
    *out = m;
    return ENHOPE_OK;
cleanup:
    enhope_model_free(m);
    return status;
}

enhope_status eh_model_copy_all(enhope_context *ctx, const enhope_model *from, enhope_model **out)
{
    enhope_model *m = NULL;
    EH_TRY(eh_model_copy(ctx, from, from->r, from->exemplars, &m));
    m->k = from->k;
    m->votes = from->votes;
    m->errors = from->errors;
    if (m->int8) m->int8->exemplar_step = from->int8->exemplar_step;
    memcpy(m->reference, from->reference, (size_t)(m->r * eh_model_reference_width(m)) * sizeof *m->reference);
    memcpy(m->reference_label, from->reference_label, (size_t)m->r * sizeof *m->reference_label);
    *out = m;
    return ENHOPE_OK;
}
