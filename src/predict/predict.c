/* Prediction with a model: the choice of a predictor or a pass, blocks of streamed data, and
 * selected rows. */
#include <float.h>
#include <string.h>

#include "compute/compute.h"
#include "predict/predictor.h"

enum { SELECTED = 1 << 22 }; /* numbers of a copy of selected rows */

enhope_status eh_engine_find(enhope_context *ctx, const enhope_model *model, const char *precision,
                             const eh_engine **out)
{
    static const eh_engine *const all[] = {&eh_engine_float, &eh_engine_int8};
    const char *name = precision ? precision : enhope_model_int8(model) == 2 ? "int8" : "float32";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i]->name, name)) {
            *out = all[i];
            return ENHOPE_OK;
        }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown precision '%s': expected float32 or int8", precision);
}

enhope_status eh_predict_check(enhope_context *ctx, const enhope_model *model, int32_t k, const enhope_prediction *out)
{
    if (k < 0) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k is %d: expected at least 1 neighbor", k);
    if (k > model->r)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "k is %d, but the model has %lld references; use at most as many", k,
                       (long long)model->r);
    if (!eh_model_classifies(model) && (out->label || out->proba || out->margin))
        return eh_fail(
            ctx, ENHOPE_ERROR_ARGUMENT,
            "the model was trained without labels, so it cannot classify; embed the data, or train with labels");
    if (out->margin && !model->exemplars)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "margins need a model with exemplars; this model compares with training points");
    return ENHOPE_OK;
}

/* Whether the device of the context is the CPU. "auto" depends on the machine. */
static enhope_status on_cpu(enhope_context *ctx, bool *out)
{
    eh_compute *c = NULL;
    *out = !strcmp(ctx->device, "cpu");
    if (strcmp(ctx->device, "auto")) return ENHOPE_OK;
    EH_TRY(eh_compute_open(ctx, true, &c));
    *out = c->op == &eh_compute_cpu;
    eh_compute_close(c);
    return ENHOPE_OK;
}

enhope_status eh_predict_open(enhope_context *ctx, const enhope_model *model, int32_t k, enhope_predictor **out)
{
    bool cpu;
    *out = NULL;
    EH_TRY(on_cpu(ctx, &cpu));
    if (cpu) return enhope_predictor_create(ctx, model, &(enhope_predictor_options){.k = k}, out);
    if (ctx->engine && strcmp(ctx->engine, eh_engine_float.name))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "precision %s needs the device cpu; the device is %s", ctx->engine,
                       ctx->device);
    return ENHOPE_OK;
}

/* The outputs of the rows from `first` on. k: neighbors of each row. */
static enhope_prediction from_row(const enhope_prediction *out, const enhope_model *model, int64_t k, int64_t first)
{
    return (enhope_prediction){.label = out->label ? out->label + first : NULL,
                               .proba = out->proba ? out->proba + first * model->c : NULL,
                               .winner = out->winner ? out->winner + first : NULL,
                               .distance = out->distance ? out->distance + first : NULL,
                               .margin = out->margin ? out->margin + first : NULL,
                               .Y = out->Y ? out->Y + first * model->shape.h : NULL,
                               .neighbour = out->neighbour ? out->neighbour + first * k : NULL,
                               .neighbour_distance =
                                   out->neighbour_distance ? out->neighbour_distance + first * k : NULL};
}

/* ---- selected rows ---- */

/* Rows first .. first + n of x, without a copy. */
static eh_matrix rows_from(const eh_matrix *x, int64_t first, int64_t n)
{
    eh_matrix part = *x;
    part.n = n;
    if (x->kind == ENHOPE_U8) part.u8 += first * x->H;
    if (x->kind == ENHOPE_F32) part.f32 += first * x->H;
    if (x->kind == ENHOPE_CSR) part.row_start += first;
    return part;
}

int64_t eh_predict_overflow(const float *Y, int64_t n, int64_t h)
{
    const float max = FLT_MAX / 4; /* |y - g|^2 is at most 2 |y|^2 + 2 |g|^2 */
    for (int64_t i = 0; i < n; i++) {
        float square = 0;
        for (int64_t j = 0; j < h; j++) square += Y[i * h + j] * Y[i * h + j];
        if (!(square <= max)) return i;
    }
    return n;
}

/* The failure of row `row` of data. x: rows of data among which it is, from row `first` on. */
static enhope_status fail_row(enhope_context *ctx, const eh_matrix *x, int64_t first, const enhope_dataset *data,
                              int64_t row)
{
    EH_TRY(eh_rows_check(ctx, x, first, data, "the data"));
    return eh_fail(ctx, ENHOPE_ERROR_DATA,
                   "row %lld is too far from the training data: the map is not finite there; correct or remove the row",
                   (long long)enhope_dataset_source_row(data, row) + 1);
}

/* Predicts rows that are not adjacent, through copies of some of them at a time. */
static enhope_status predict_selected(enhope_context *ctx, const enhope_predictor *p, const eh_matrix *x,
                                      const enhope_dataset *data, const int64_t *rows, int64_t n,
                                      const enhope_prediction *out, double *seconds)
{
    const int64_t step = eh_min(eh_max(SELECTED / x->H, 1), n);
    float *copy = NULL;
    enhope_status status = ENHOPE_OK;
    EH_TRY(eh_new(ctx, "selected rows", step * x->H, sizeof *copy, (void **)&copy));
    for (int64_t first = 0; first < n && !status; first += step) {
        const eh_matrix part = {.kind = ENHOPE_F32, .n = eh_min(step, n - first), .H = x->H, .f32 = copy};
        const enhope_prediction to = from_row(out, p->model, p->k, first);
        double spent = 0;
        int64_t bad;
        for (int64_t i = 0; i < part.n; i++) eh_matrix_row(x, rows[first + i], copy + i * x->H);
        status = eh_predictor_rows(ctx, p, &part, &to, seconds ? &spent : NULL, &bad);
        if (status == ENHOPE_ERROR_DATA) status = fail_row(ctx, &part, rows[first], data, rows[first + bad]);
        if (seconds) *seconds += spent;
    }
    eh_free(copy);
    return status;
}

enhope_status eh_predict_block(enhope_context *ctx, const enhope_predictor *p, const enhope_model *model,
                               const enhope_dataset *data, const int64_t *rows, int64_t n, int32_t k,
                               const enhope_prediction *out, double *seconds)
{
    eh_matrix x;
    EH_TRY(eh_predict_check(ctx, model, k, out));
    EH_TRY(eh_model_inputs(ctx, model, data, &x));
    if (seconds) *seconds = 0;
    int64_t bad;
    if (!p) {
        const enhope_status status = eh_pass_predict(ctx, model, &x, rows, n, k, out, seconds, &bad);
        return status == ENHOPE_ERROR_DATA ? fail_row(ctx, &x, 0, data, rows ? rows[bad] : bad) : status;
    }
    if (n == 0) return ENHOPE_OK;
    const int64_t first = rows ? rows[0] : 0;
    const bool adjacent = !rows || rows[n - 1] - first == n - 1;
    if (!adjacent) return predict_selected(ctx, p, &x, data, rows, n, out, seconds);
    const eh_matrix part = rows_from(&x, first, n);
    const enhope_status status = eh_predictor_rows(ctx, p, &part, out, seconds, &bad);
    return status == ENHOPE_ERROR_DATA ? fail_row(ctx, &part, first, data, first + bad) : status;
}

/* ---- data sets ---- */

static bool only_embeds(const enhope_prediction *out)
{
    return out->Y && !out->label && !out->proba && !out->winner && !out->distance && !out->margin && !out->neighbour &&
           !out->neighbour_distance;
}

/* Data in memory. p NULL: with a pass, which embeds without references. */
static enhope_status predict_data(enhope_context *ctx, const enhope_predictor *p, const enhope_model *model,
                                  const enhope_dataset *data, int32_t k, const enhope_prediction *out)
{
    eh_matrix x;
    if (p || !only_embeds(out)) return eh_predict_block(ctx, p, model, data, NULL, data->x.n, k, out, NULL);
    EH_TRY(eh_model_inputs(ctx, model, data, &x));
    int64_t bad;
    const enhope_status status = eh_pass_embed(ctx, model, &x, out->Y, &bad);
    return status == ENHOPE_ERROR_DATA ? fail_row(ctx, &x, 0, data, bad) : status;
}

/* Data that may be streamed. */
static enhope_status predict(enhope_context *ctx, const enhope_predictor *p, const enhope_model *model,
                             const enhope_dataset *data, int32_t k, const enhope_prediction *out)
{
    if (!data->store) return predict_data(ctx, p, model, data, k, out);
    const int64_t step = eh_dataset_block_rows(ctx, data);
    for (int64_t first = 0; first < data->x.n; first += step) {
        const enhope_prediction part = from_row(out, model, k > 0 ? k : model->k, first);
        enhope_dataset *block = NULL;
        EH_TRY(enhope_dataset_block(ctx, data, first, eh_min(step, data->x.n - first), &block));
        const enhope_status status = predict_data(ctx, p, model, block, k, &part);
        enhope_dataset_free(block);
        EH_TRY(status);
    }
    return ENHOPE_OK;
}

enhope_status enhope_predictor_predict(enhope_context *ctx, const enhope_predictor *p, const enhope_dataset *data,
                                       const enhope_prediction *out)
{
    return predict(ctx, p, p->model, data, p->asked_k, out);
}

enhope_status enhope_model_predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, const enhope_prediction *out)
{
    enhope_predictor *p = NULL;
    EH_TRY(eh_predict_check(ctx, model, k, out));
    EH_TRY(eh_predict_open(ctx, model, k, &p));
    const enhope_status status = predict(ctx, p, model, data, k, out);
    enhope_predictor_free(p);
    return status;
}

enhope_status enhope_model_embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, float *Y)
{
    return enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.Y = Y});
}
