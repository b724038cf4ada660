/* Prediction: with a predictor on the CPU, and with a pass over the backend on other devices. */
#ifndef EH_PREDICT_H
#define EH_PREDICT_H

#include "classify/classify.h"
#include "predict/engine.h"

/* ---- predict.c ---- */

/* Fails unless k neighbors and these outputs are possible. */
enhope_status eh_predict_check(enhope_context *ctx, const enhope_model *model, int32_t k, const enhope_prediction *out);
/* Creates the predictor of the context's precision; *out is NULL if its device is not the CPU. */
enhope_status eh_predict_open(enhope_context *ctx, const enhope_model *model, int32_t k, enhope_predictor **out);
/* Predicts the samples rows[0..n) of data in memory, ascending; NULL: the first n. p NULL: with a
 * pass. *seconds, unless NULL, is the time to embed and classify, without loading model and data
 * and without probabilities and margins. */
enhope_status eh_predict_block(enhope_context *ctx, const enhope_predictor *p, const enhope_model *model,
                               const enhope_dataset *data, const int64_t *rows, int64_t n, int32_t k,
                               const enhope_prediction *out, double *seconds);
/* The first of the rows of Y (n, h) that are too long for distances between them to be finite; n if
 * there is none. Values that the model was not trained for may overflow its map. */
int64_t eh_predict_overflow(const float *Y, int64_t n, int64_t h);

/* ---- spearman.c ---- */

/* The rank correlation of a and b (n); NaN if one is constant. */
enhope_status eh_spearman(enhope_context *ctx, const double *a, const double *b, int64_t n, double *out);

/* ---- pass.c: on the backend of the context ---- */

/* x: data as inputs of the model. ENHOPE_ERROR_DATA without a message: sample *bad has no
 * prediction (eh_predict_overflow). */
enhope_status eh_pass_embed(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, float *Y, int64_t *bad);
enhope_status eh_pass_predict(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, const int64_t *rows,
                              int64_t n, int32_t k, const enhope_prediction *out, double *seconds, int64_t *bad);

#endif
