/* Frees frames, and converts columns of numbers to texts. */
#include <math.h>
#include <string.h>

#include "data/frame/frame.h"
#include "data/read/read.h"

void eh_column_clear(eh_column *column)
{
    eh_free(column->name);
    eh_free(column->number);
    eh_free(column->code);
    eh_names_free(column->text, column->texts);
    *column = (eh_column){.name = NULL};
}

void eh_frame_free(eh_frame *frame)
{
    if (!frame) return;
    for (int64_t j = 0; frame->column && j < frame->columns; j++) eh_column_clear(&frame->column[j]);
    eh_free(frame->column);
    eh_free(frame->label_name);
    eh_free(frame);
}

enhope_status eh_numbers_to_texts(enhope_context *ctx, const double *number, int64_t n, eh_column *out)
{
    enhope_status status = ENHOPE_OK;
    eh_labels texts = {.n = 0};
    int32_t *code = NULL;
    EH_TRY(eh_new(ctx, "codes of texts", n, sizeof *code, (void **)&code));
    for (int64_t i = 0; i < n; i++) {
        char text[40];
        code[i] = -1;
        if (isnan(number[i])) continue;
        eh_number_print(number[i], text, sizeof text);
        EH_CHECK(eh_labels_class(ctx, &texts, text, strlen(text), &code[i]));
    }
    out->code = code;
    out->text = texts.name;
    out->texts = texts.c;
    code = NULL;
    texts.name = NULL;
    texts.c = 0;
cleanup:
    eh_free(code);
    eh_labels_free(&texts);
    return status;
}
