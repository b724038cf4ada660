/* A hope map in int8 (docs/reference/int8.md): the ranges of its inputs and powers, which
 * calibration finds, and its weights as integers. */
#ifndef EH_QUANTIZED_H
#define EH_QUANTIZED_H

#include "model/model.h"

/* What a model of the map hope knows about int8. If it is stored in int8, it has the weights, and
 * theta holds their decoded values. */
struct eh_quantized {
    float *low, *step;             /* (H) input k: x = low + step * xq, xq 0..255 */
    float *power_low, *power_step; /* (F) power f: u^O = power_low + power_step * sq, sq 0..255 */
    int8_t *C;                     /* (H, F) weights of xq; NULL: only the ranges are known */
    float *C_scale, *C_bias;       /* (F) u = sum(xq * C) * C_scale + C_bias */
    int8_t *W;                     /* (F, m) weights of sq */
    float *W_scale, *W_bias;       /* (m) a = sum(sq * W) * W_scale + W_bias */
    /* Exemplars are whole multiples of it, and the file has tensors in smaller forms
     * (coded/coded.h); 0: the model is not compressed. */
    float exemplar_step;
};

/* Bounds of steps and scales: no operation gives NaN, and denormal numbers have no
 * effect. Entries of V below the smaller bound count as 0. */
#define EH_QUANTIZED_MIN 0x1p-60f
#define EH_QUANTIZED_MAX 0x1p100f
/* Largest sum of |C| or |W| of a column: 255 times this is below 2^31. */
enum { EH_QUANTIZED_SUM = 8421504 };

/* Allocates the arrays for a shape: the ranges, and with `weights` the others. All values are 0. */
enhope_status eh_quantized_create(enhope_context *ctx, const eh_map_shape *shape, bool weights, eh_quantized **out);
enhope_status eh_quantized_copy(enhope_context *ctx, const eh_map_shape *shape, const eh_quantized *from,
                                eh_quantized **out);
/* Copies the ranges. */
void eh_quantized_copy_ranges(const eh_map_shape *shape, const eh_quantized *from, eh_quantized *to);
void eh_quantized_free(eh_quantized *q); /* accepts NULL */

/* Fails if a range is not usable, for example because a file is damaged. */
enhope_status eh_quantized_check(enhope_context *ctx, const eh_map_shape *shape, const eh_quantized *q);
/* C, C_scale and C_bias from theta and scaling of the model and q->low, q->step. */
enhope_status eh_quantized_factors(enhope_context *ctx, const enhope_model *model, eh_quantized *q);
/* W, W_scale and W_bias from theta and the ranges of the powers. */
enhope_status eh_quantized_hidden(enhope_context *ctx, const enhope_model *model, eh_quantized *q);
/* Sets b of the model's theta to W_bias without the part that comes from power_low. C and W of
 * theta are decoded. */
void eh_quantized_decode_bias(const eh_quantized *q, enhope_model *model);
/* Replaces C and W of the model's theta by the decoded weights of q. */
enhope_status eh_quantized_decode(enhope_context *ctx, const eh_quantized *q, enhope_model *model);

/* ---- quantized_file.c: in model files ---- */

typedef enum eh_int8_content { EH_INT8_NONE = 0, EH_INT8_RANGES = 1, EH_INT8_WEIGHTS = 2 } eh_int8_content;
enum { EH_INT8_TENSORS = 10 };
struct eh_safetensors; /* safetensors.h */
struct eh_st_tensor;
/* Lists the tensors of a shape in the order of a file, without data if q is NULL. Returns their
 * number. */
int eh_quantized_tensors(const eh_map_shape *shape, const eh_quantized *q, eh_int8_content content,
                         struct eh_st_tensor *tensor /* (EH_INT8_TENSORS) */);
/* Whether int8 weights replace a tensor of the map. coded: in a file of smaller forms. */
bool eh_quantized_replaces(const char *name, bool coded);
/* Finds out what a file contains, and checks types and shapes. */
enhope_status eh_quantized_find(enhope_context *ctx, const struct eh_safetensors *st, const eh_map_shape *shape,
                                eh_int8_content *content);
/* Reads and checks the tensors of a model whose scaling is known. If there are weights, C and W of
 * theta become their decoded values. */
enhope_status eh_quantized_read(enhope_context *ctx, struct eh_safetensors *st, eh_int8_content content,
                                enhope_model *model);

/* ---- models ---- */

/* Fails unless the map is hope. */
enhope_status eh_quantized_supports(enhope_context *ctx, const enhope_model *model);
/* The int8 weights of a model: a copy if it is stored in int8, else computed from theta and the
 * ranges. Fails if the map is not hope or the model has no ranges. */
enhope_status eh_model_quantized(enhope_context *ctx, const enhope_model *model, eh_quantized **out);

#endif
