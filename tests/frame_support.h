/* Frames for tests. */
#ifndef FRAME_SUPPORT_H
#define FRAME_SUPPORT_H

#include <math.h>
#include <string.h>

#include "data/frame/frame.h"

static eh_frame *make_frame(int64_t n)
{
    eh_frame *frame = eh_alloc(1, sizeof *frame);
    frame->n = n;
    frame->named = true;
    return frame;
}

static eh_column *add_column(eh_frame *frame, const char *name, eh_column_type type)
{
    frame->column = eh_grow(frame->column, (size_t)frame->columns, (size_t)frame->columns + 1, sizeof *frame->column);
    eh_column *column = &frame->column[frame->columns++];
    *column = (eh_column){.name = eh_strdup(name), .type = type};
    return column;
}

static void add_numbers(eh_frame *frame, const char *name, eh_column_type type, const double *x)
{
    eh_column *column = add_column(frame, name, type);
    column->number = eh_alloc((size_t)frame->n, sizeof *x);
    memcpy(column->number, x, (size_t)frame->n * sizeof *x);
}

/* NULL: missing. */
static void add_texts(eh_frame *frame, const char *name, const char *const *text)
{
    eh_column *column = add_column(frame, name, EH_COLUMN_CATEGORY);
    column->code = eh_alloc((size_t)frame->n, sizeof *column->code);
    column->text = eh_alloc((size_t)frame->n, sizeof *column->text);
    for (int64_t i = 0; i < frame->n; i++) {
        int32_t k = 0;
        while (text[i] && k < column->texts && strcmp(column->text[k], text[i])) k++;
        if (text[i] && k == column->texts) column->text[column->texts++] = eh_strdup(text[i]);
        column->code[i] = text[i] ? k : -1;
    }
}

#endif
