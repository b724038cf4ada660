/* The parts of an exported C file. '@' in their texts stands for the prefix of all names. The text
 * is valid C99 and C++11: no hexadecimal floats, no designated initializers, no restrict. */
#ifndef EH_EXPORT_C_H
#define EH_EXPORT_C_H

#include "predict/export/export.h"

/* "static const float @_NAME[count] = {...};" A count of 0 is written as one zero (c.c). */
void eh_c_floats(eh_bytes *b, const char *name, const float *data, int64_t count);
void eh_c_int8s(eh_bytes *b, const char *name, const int8_t *data, int64_t count);
/* Fails if a text is too long for a string literal. */
enhope_status eh_c_check_text(enhope_context *ctx, const char *text);
/* A float literal: "0.5f", "3.0f". */
void eh_c_float(eh_bytes *b, float value);

/* @_embed and @_embed_u8 of a float map (c_float.c), of an int8 map (c_int8.c). They return 0, or
 * -1 if an input is not finite. */
void eh_c_float_map(const eh_export *e, eh_bytes *b);
void eh_c_int8_map(const eh_export *e, eh_bytes *b);
/* Bytes of their local arrays. */
int64_t eh_c_float_ram(const eh_export *e);
int64_t eh_c_int8_ram(const eh_export *e);
/* @_class: the class of an embedded point and, unless p is 0, the probabilities (c_classify.c). */
void eh_c_classify(const eh_export *e, eh_bytes *b);
int64_t eh_c_classify_ram(const eh_export *e);
/* The struct @_row and @_encode, if the inputs are made of columns (c_columns.c). */
void eh_c_row_type(const eh_export *e, eh_bytes *b);
enhope_status eh_c_encode(enhope_context *ctx, const eh_export *e, eh_bytes *b);

#endif
