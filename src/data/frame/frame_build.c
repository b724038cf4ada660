/* Frames that callers of the library build column by column, and data sets made of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "data/read/read.h"

enhope_status enhope_frame_create(enhope_context *ctx, int64_t n, enhope_frame **out)
{
    eh_frame *frame = NULL;
    if (n < 1) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a frame of %lld rows: expected at least 1", (long long)n);
    EH_TRY(eh_new(ctx, "a frame", 1, sizeof *frame, (void **)&frame));
    frame->n = n;
    *out = frame;
    return ENHOPE_OK;
}

void enhope_frame_free(enhope_frame *frame)
{
    eh_frame_free(frame);
}

/* ---- columns ---- */

/* Appends the column and owns its fields; also if it fails. */
static enhope_status append(enhope_context *ctx, eh_frame *frame, const char *name, eh_column *column)
{
    enhope_status status = ENHOPE_OK;
    char number[32];
    snprintf(number, sizeof number, "column %lld", (long long)frame->columns + 1);
    if (frame->columns && frame->named != (name != NULL))
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s of the frame %s: expected names for all columns, or for none",
                         number, name ? "has a name, unlike those before" : "has no name, unlike those before"));
    if (name && !eh_utf8_valid(name, strlen(name)))
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the name of %s of the frame is not UTF-8 text", number));
    EH_CHECK(eh_new_text(ctx, "a column name", name ? name : number, &column->name));
    eh_column *grown =
        eh_grow(frame->column, (size_t)frame->columns, (size_t)frame->columns + 1, sizeof *frame->column);
    if (!grown) EH_CHECK(eh_fail_memory(ctx, "columns", (size_t)frame->columns + 1, sizeof *grown));
    frame->column = grown;
    frame->column[frame->columns++] = *column;
    frame->named = name != NULL;
    return ENHOPE_OK;
cleanup:
    eh_column_clear(column);
    return status;
}

/* Copies every `step`-th number. */
static enhope_status add_values(enhope_context *ctx, eh_frame *frame, const char *name, eh_column_type type,
                                const double *x, int64_t step)
{
    eh_column column = {.type = type};
    if (!x) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the address of the values of a column is NULL");
    EH_TRY(eh_new(ctx, "values of a column", frame->n, sizeof *x, (void **)&column.number));
    for (int64_t i = 0; i < frame->n; i++) column.number[i] = x[i * step];
    return append(ctx, frame, name, &column);
}

enhope_status enhope_frame_add_numbers(enhope_context *ctx, enhope_frame *frame, const char *name, const double *x)
{
    return add_values(ctx, frame, name, EH_COLUMN_NUMBER, x, 1);
}

enhope_status enhope_frame_add_booleans(enhope_context *ctx, enhope_frame *frame, const char *name, const double *x)
{
    for (int64_t i = 0; x && i < frame->n; i++)
        if (!isnan(x[i]) && x[i] != 0 && x[i] != 1)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "row %lld, column '%.60s' is %g: expected 0, 1 or NaN",
                           (long long)i + 1, name ? name : "", x[i]);
    return add_values(ctx, frame, name, EH_COLUMN_BOOLEAN, x, 1);
}

enhope_status enhope_frame_add_dates(enhope_context *ctx, enhope_frame *frame, const char *name, const double *days)
{
    return add_values(ctx, frame, name, EH_COLUMN_DATE, days, 1);
}

enhope_status enhope_frame_add_texts(enhope_context *ctx, enhope_frame *frame, const char *name,
                                     const char *const *text)
{
    enhope_status status = ENHOPE_OK;
    eh_labels distinct = {.n = 0};
    eh_column column = {.type = EH_COLUMN_CATEGORY};
    if (!text) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the address of the texts of a column is NULL");
    EH_CHECK(eh_new(ctx, "codes of texts", frame->n, sizeof *column.code, (void **)&column.code));
    for (int64_t i = 0; i < frame->n; i++) {
        const size_t length = text[i] ? strlen(text[i]) : 0;
        column.code[i] = -1;
        if (!length) continue;
        if (!eh_utf8_valid(text[i], length))
            EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "row %lld, column '%.60s' is not UTF-8 text", (long long)i + 1,
                             name ? name : ""));
        EH_CHECK(eh_labels_class(ctx, &distinct, text[i], length, &column.code[i]));
    }
    column.text = distinct.name;
    column.texts = distinct.c;
    distinct.name = NULL;
    distinct.c = 0;
    eh_labels_free(&distinct);
    return append(ctx, frame, name, &column);
cleanup:
    eh_column_clear(&column);
    eh_labels_free(&distinct);
    return status;
}

enhope_status enhope_frame_add_matrix(enhope_context *ctx, enhope_frame *frame, int64_t H, const char *const *names,
                                      const double *x)
{
    if (!x || H < 1)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "a matrix of %lld columns%s: expected at least 1", (long long)H,
                       x ? "" : " at the address NULL");
    for (int64_t j = 0; j < H; j++) EH_TRY(add_values(ctx, frame, names ? names[j] : NULL, EH_COLUMN_NUMBER, x + j, H));
    return ENHOPE_OK;
}

/* ---- the data set ---- */

/* The encoding of the model, or one that is fitted to all rows. */
static enhope_status find_encoding(enhope_context *ctx, eh_frame *frame, const enhope_model *model, eh_encoding **out)
{
    eh_encoding *encoding = NULL;
    if (!model) {
        EH_TRY(eh_frame_mark_ids(ctx, frame));
        return eh_encoding_fit(ctx, frame, NULL, frame->n, out);
    }
    EH_TRY(eh_model_encoding(ctx, model, &encoding));
    const enhope_status status = eh_frame_match(ctx, encoding, frame, "the frame");
    if (status)
        eh_encoding_free(encoding);
    else
        *out = encoding;
    return status;
}

enhope_status enhope_dataset_from_frame(enhope_context *ctx, enhope_frame *frame, const enhope_model *model,
                                        const int32_t *labels, int32_t c, const char *const *class_names,
                                        enhope_dataset **out)
{
    enhope_status status = ENHOPE_OK;
    eh_encoding *encoding = NULL;
    enhope_dataset *data = NULL;
    eh_unseen *unseen = NULL;
    float *X = NULL;
    int64_t count;
    if (frame->columns == 0) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the frame has no columns");
    EH_CHECK(find_encoding(ctx, frame, model, &encoding));
    if (!eh_mul(frame->n, encoding->H, &count)) EH_CHECK(eh_fail_memory(ctx, "values", SIZE_MAX, 1));
    EH_CHECK(eh_new(ctx, "values", count, sizeof *X, (void **)&X));
    EH_CHECK(eh_new(ctx, "unseen values", encoding->columns, sizeof *unseen, (void **)&unseen));
    EH_CHECK(eh_encode(ctx, encoding, frame, NULL, frame->n, X, unseen));
    if (model) eh_unseen_warn(ctx, encoding, unseen);
    EH_CHECK(enhope_dataset_view_f32(ctx, frame->n, encoding->H, X, labels, c, class_names, &data));
    data->owned[0] = X;
    X = NULL;
    EH_CHECK(eh_dataset_set_encoding(ctx, data, encoding));
    encoding = NULL;
    *out = data;
    data = NULL;
cleanup:
    eh_free(X);
    eh_free(unseen);
    eh_encoding_free(encoding);
    enhope_dataset_free(data);
    return status;
}
