/* Creates models that are stored in int8. */
#include "data/data.h"
#include "predict/int8/int8.h"

int enhope_model_int8(const enhope_model *model)
{
    return !model->int8 ? 0 : model->int8->C ? 2 : 1;
}

enhope_status enhope_model_quantize(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    enhope_model **out)
{
    enhope_model *m = NULL;
    eh_quantized *ranges = NULL, *weights = NULL;
    eh_matrix x;
    enhope_status status;
    EH_TRY(eh_quantized_supports(ctx, model));
    EH_TRY(eh_dataset_in_memory(ctx, data, "measuring ranges for int8"));
    EH_TRY(eh_model_inputs(ctx, model, data, &x));
    EH_CHECK(eh_int8_calibrate(ctx, model, &x, NULL, x.n, &ranges));
    EH_CHECK(eh_model_copy_all(ctx, model, &m));
    eh_quantized_free(m->int8);
    m->int8 = ranges;
    ranges = NULL;
    EH_CHECK(eh_model_quantized(ctx, m, &weights));
    eh_quantized_free(m->int8);
    m->int8 = weights;
    weights = NULL;
    EH_CHECK(eh_quantized_decode(ctx, m->int8, m));
    *out = m;
    m = NULL;
cleanup:
    eh_quantized_free(ranges);
    eh_quantized_free(weights);
    enhope_model_free(m);
    return status;
}
