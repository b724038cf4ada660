/* What a compression costs: bytes of the file, and errors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "predict/predict.h"
#include "train/compress/compress.h"

static void round_exemplars(const eh_compressor *c, float step)
{
    const eh_parameters *p = &c->t->parameters;
    float *E = c->w.theta + p->map_count;
    for (int64_t i = 0; i < p->z * p->H; i++) E[i] = step * nearbyintf(E[i] / step) + 0.0f; /* not -0 */
}

/* The step that divides the largest value of an exemplar into `count`. */
static float step_for(const eh_compressor *c, int count)
{
    const eh_parameters *p = &c->t->parameters;
    const float *E = c->w.theta + p->map_count;
    float largest = EH_QUANTIZED_MIN;
    for (int64_t i = 0; i < p->z * p->H; i++) largest = fmaxf(largest, fabsf(E[i]));
    return eh_bfloat16(largest * 1.004f / (float)count); /* rounding of the step does not add a level */
}

static enhope_status validate(eh_compressor *c, double *error)
{
    eh_compute_begin(c->t->cp);
    const enhope_status status = eh_train_validate(c->t, c->t->parameters.theta, error);
    eh_compute_end(c->t->cp);
    return status;
}

enhope_status eh_compress_exemplars(eh_compressor *c)
{
    static const int counts[] = {4, 8, 16, 32, 64, 127};
    enum { COUNTS = sizeof counts / sizeof *counts };
    static const double MAX_CHANGE = 0.001; /* of the error */
    const eh_parameters *p = &c->t->parameters;
    const size_t bytes = (size_t)(p->z * p->H) * sizeof *c->w.theta;
    float *E = c->w.theta + p->map_count, *before = NULL;
    double error, rounded = 1;
    enhope_status status;
    EH_CHECK(eh_new(c->ctx, "exemplars", p->z * p->H, sizeof *before, (void **)&before));
    memcpy(before, E, bytes);
    EH_CHECK(validate(c, &error));
    for (int i = 0; i < COUNTS && rounded > error + MAX_CHANGE; i++) {
        memcpy(E, before, bytes);
        c->exemplar_step = step_for(c, counts[i]);
        round_exemplars(c, c->exemplar_step);
        EH_CHECK(eh_weights_push(&c->w));
        EH_CHECK(validate(c, &rounded));
    }
    if (p->learned)
        for (int64_t i = p->map_count; i < p->trained; i++) c->w.mask[i] = 0;
cleanup:
    eh_free(before);
    return status;
}

enhope_status eh_compress_bytes(eh_compressor *c, int64_t keep, int64_t *bytes)
{
    enum { MEASURED = 100 }; /* bytes of errors and temperature, which are measured at the end */
    const eh_parameters *p = &c->t->parameters;
    const float step = c->exemplar_step;
    enhope_model *m = NULL;
    float *theta = NULL, *mask = NULL;
    size_t size = 0;
    enhope_status status;
    EH_CHECK(eh_new(c->ctx, "parameters", p->count, sizeof *theta, (void **)&theta));
    EH_CHECK(eh_new(c->ctx, "parameters", p->trained, sizeof *mask, (void **)&mask));
    memcpy(theta, c->w.theta, (size_t)p->count * sizeof *theta);
    memcpy(mask, c->w.mask, (size_t)p->trained * sizeof *mask);
    EH_CHECK(eh_prune_weights(&c->w, keep));
    if (!c->stage)
        for (int i = 0; i < EH_WEIGHTS_MATRICES; i++) EH_CHECK(eh_grid_fit(&c->grid[i], &c->w, c->bits));
    if (!c->exemplar_step) {
        c->exemplar_step = step_for(c, 4);
        round_exemplars(c, c->exemplar_step);
    }
    EH_CHECK(eh_compress_pack(c, &m));
    EH_CHECK(enhope_model_save_bytes(c->ctx, m, NULL, 0, &size));
    *bytes = (int64_t)size + MEASURED;
cleanup:
    c->exemplar_step = step;
    if (theta && mask) {
        memcpy(c->w.theta, theta, (size_t)p->count * sizeof *theta);
        memcpy(c->w.mask, mask, (size_t)p->trained * sizeof *mask);
    }
    enhope_model_free(m);
    eh_free(theta);
    eh_free(mask);
    return status;
}

/* Predictors compute on the CPU. */
static enhope_status open_predictor(enhope_context *ctx, const enhope_model *model, enhope_predictor **out)
{
    char device[sizeof ctx->device];
    memcpy(device, ctx->device, sizeof device);
    snprintf(ctx->device, sizeof ctx->device, "cpu");
    const enhope_status status = enhope_predictor_create(ctx, model, NULL, out);
    memcpy(ctx->device, device, sizeof device);
    return status;
}

enhope_status eh_compress_errors(eh_compressor *c, const enhope_model *model, int64_t *errors)
{
    enum { ROWS = 500 };
    const eh_samples *s = &c->t->samples;
    const int64_t H = model->shape.H;
    enhope_predictor *predictor = NULL;
    float *x = NULL;
    int32_t label[ROWS];
    enhope_status status;
    *errors = 0;
    EH_CHECK(open_predictor(c->ctx, model, &predictor));
    EH_CHECK(eh_new(c->ctx, "rows of samples", ROWS * H, sizeof *x, (void **)&x));
    for (int64_t i = 0; i < s->valid_n; i += ROWS) {
        const enhope_rows rows = {.n = eh_min(ROWS, s->valid_n - i), .kind = ENHOPE_F32, .values = x};
        for (int64_t r = 0; r < rows.n; r++) eh_matrix_row(s->x, s->rows[s->resident_n + i + r], x + r * H);
        status = enhope_predictor_label(predictor, &rows, label);
        if (status) EH_CHECK(eh_fail(c->ctx, status, "a validation row has a value that is not finite"));
        for (int64_t r = 0; r < rows.n; r++) *errors += label[r] != eh_samples_class(s, s->resident_n + i + r);
    }
cleanup:
    eh_free(x);
    enhope_predictor_free(predictor);
    return status;
}
