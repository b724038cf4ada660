/* Exports: a model as an ONNX graph, or as source text in C, JavaScript or JSON, that computes
 * labels, probabilities and embeddings without enhope.
 *
 *   model -> eh_export (export.c: arithmetic, embedded references, rule) -> a writer -> bytes
 *
 * Exemplars are embedded here, so an exported model contains G (r, h) and not the exemplars. */
#ifndef EH_EXPORT_H
#define EH_EXPORT_H

#include "model/model.h"

/* ---- text.c: a growing block of bytes ---- */

typedef struct eh_bytes {
    char *data;
    size_t size, capacity;
    const char *name; /* replaces each '@' in formats of eh_put */
    bool failed;      /* memory was exhausted; later additions do nothing */
} eh_bytes;
void eh_bytes_free(eh_bytes *b);
void eh_bytes_add(eh_bytes *b, const void *data, size_t size);
/* Adds text, in which each '@' stands for b->name. */
void eh_put_text(eh_bytes *b, const char *text);
/* printf; '@' in the format stands for b->name. */
void eh_put(eh_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shortest decimal number that reads back as the same float, in any locale. */
enum { EH_FLOAT_TEXT = 32 };
void eh_float_print(float value, char text[EH_FLOAT_TEXT]);
/* A string literal of C: printable ASCII and octal escapes, without trigraphs. */
void eh_put_c_string(eh_bytes *b, const char *text);
/* A string of JSON, which is also one of JavaScript: ASCII and \u escapes. */
void eh_put_json_string(eh_bytes *b, const char *text);
/* JSON as ASCII: its strings are changed as above. */
void eh_put_json(eh_bytes *b, const char *json);
/* Text in a comment: letters, digits and harmless punctuation; other bytes become '_'. */
void eh_put_comment(eh_bytes *b, const char *text);
void eh_put_base64(eh_bytes *b, const void *data, size_t size);

/* ---- export.c: what every writer needs ---- */

typedef struct eh_export {
    const enhope_model *model;
    const char *name;            /* prefix of C functions, name of the graph */
    const char *file;            /* name of the file without its folder; NULL: not known */
    const eh_encoding *encoding; /* columns from which the inputs are made; NULL: the inputs are given */
    float *G;                    /* (r, h) embedded references */
    bool votes;                  /* the label is a vote of the k nearest references; else the most probable class */
    int32_t k;
    bool one_scale;     /* all inputs have the same shift and factor */
    eh_quantized *int8; /* numbers of the int8 map; NULL: float32 */
} eh_export;

/* A tensor of the map. */
typedef struct eh_weights {
    const char *name; /* "C", "W2" */
    const float *data;
    int64_t rows, columns; /* a vector has one row */
} eh_weights;
/* Tensor i of the map, 0 .. eh_export_tensors - 1. */
int eh_export_tensors(const eh_export *e);
eh_weights eh_export_tensor(const eh_export *e, int i);
/* Whether the scaling changes the inputs. */
bool eh_export_shifts(const eh_export *e);
bool eh_export_multiplies(const eh_export *e);

/* ---- the writers ---- */

enhope_status eh_export_onnx(enhope_context *ctx, const eh_export *e, eh_bytes *out);
enhope_status eh_export_c(enhope_context *ctx, const eh_export *e, eh_bytes *b);
enhope_status eh_export_c_header(enhope_context *ctx, const eh_export *e, eh_bytes *b);
enhope_status eh_export_js(enhope_context *ctx, const eh_export *e, eh_bytes *out);
enhope_status eh_export_json(enhope_context *ctx, const eh_export *e, eh_bytes *out);
/* The object of JSON, with tensors as arrays or in base64 (json.c). */
enhope_status eh_export_object(enhope_context *ctx, const eh_export *e, bool base64, eh_bytes *b);

#endif
