/* Parsing of untrusted JSON through cJSON: limits are checked before parsing, contents after it.
 * Messages do not name the file; the caller adds it. */
#ifndef EH_JSON_H
#define EH_JSON_H

#include <cjson/cJSON.h>

#include "base/base.h"

/* Parses all of text (length bytes; whitespace may follow). Values and depth are counted first, so
 * that an oversized text is rejected before a tree is built. `failure` is the status of a
 * rejection, `what` names the text in messages. */
enhope_status eh_json_parse(enhope_context *ctx, enhope_status failure, const char *what, const char *text,
                            size_t length, int64_t max_values, cJSON **out);
/* Fails if two members of an object have the same name, or two strings of an array are equal. */
enhope_status eh_json_distinct(enhope_context *ctx, enhope_status failure, const char *what, const cJSON *list);
/* Returns true and stores item if it is an integer in 0..2^53. */
bool eh_json_size(const cJSON *item, int64_t *out);
/* Makes untrusted text printable for a message: truncates it and replaces unprintable bytes by '?'.
 * Returns buffer. */
enum { EH_QUOTE = 48 };
const char *eh_json_quote(const char *text, char buffer[EH_QUOTE]);

#endif
