/* The columns of the training data of a model. */
#include <math.h>

#include "model/model.h"

int64_t enhope_model_column_count(const enhope_model *model)
{
    return model->input.encoding ? model->input.encoding->columns : model->shape.H;
}

int enhope_model_column(const enhope_model *model, int64_t j, enhope_column_info *info)
{
    const eh_encoding *encoding = model->input.encoding;
    if (j < 0 || j >= enhope_model_column_count(model)) return 0;
    if (!encoding) {
        *info = (enhope_column_info){.name = enhope_model_input_name(model, j),
                                     .type = eh_column_type_name(EH_COLUMN_NUMBER),
                                     .fill = NAN,
                                     .first = j,
                                     .inputs = 1};
        return 1;
    }
    const eh_encoded *c = &encoding->column[j];
    *info = (enhope_column_info){.name = encoding->named ? c->name : NULL,
                                 .type = eh_column_type_name(c->type),
                                 .fill = c->type == EH_COLUMN_CATEGORY || c->constant ? NAN : c->fill,
                                 .offset = c->offset,
                                 .categories = c->categories,
                                 .category = (const char *const *)c->category,
                                 .other = c->other,
                                 .missing = c->indicator,
                                 .constant = c->constant,
                                 .first = c->first,
                                 .inputs = c->inputs};
    return 1;
}

const char *enhope_model_label_column(const enhope_model *model)
{
    return model->input.encoding ? model->input.encoding->label : NULL;
}
