/* JSON of unknown origin, through cJSON: bounded before it is parsed, checked after. Messages do not name the file: the
 * caller prefixes it. */
#ifndef EH_JSON_H
#define EH_JSON_H

#include <cjson/cJSON.h>

#include "base/base.h"

/* Parses all of text (length bytes; blanks may follow). Values and depth are counted first, so that a hostile text is
 * refused before a tree is built for it. `failure` is the status of a refusal, `what` names the text in messages. */
enhope_status eh_json_parse(enhope_context *ctx, enhope_status failure, const char *what, const char *text,
                            size_t length, int64_t max_values, cJSON **out);
/* Fails if two members of an object have the same name, or two strings of an array are equal. */
enhope_status eh_json_distinct(enhope_context *ctx, enhope_status failure, const char *what, const cJSON *list);
/* True and *out if item is a whole number in 0..2^53. */
bool eh_json_size(const cJSON *item, int64_t *out);
/* A foreign text made fit for a message: cut, and unprintable bytes as '?'. Returns buffer. */
enum { EH_QUOTE = 48 };
const char *eh_json_quote(const char *text, char buffer[EH_QUOTE]);

#endif
