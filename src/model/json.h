/* JSON from strangers, through cJSON: bounded before it is parsed, checked after. Sentences do not name the file: the
 * caller puts it in front. */
#ifndef EH_JSON_H
#define EH_JSON_H

#include <cjson/cJSON.h>

#include "base/base.h"

/* Parses all of text (length bytes; blanks may follow). Counts values and depth first, so that a hostile text is
 * refused before a tree is built for it. `what` names the text in sentences. */
enhope_status eh_json_parse(enhope_context *ctx, const char *what, const char *text, size_t length, int64_t max_values,
                            cJSON **out);
/* Fails when two members of an object have one name, or two strings of an array are the same. */
enhope_status eh_json_distinct(enhope_context *ctx, const char *what, const cJSON *list);
/* True and *out when item is a whole number in 0..2^53. */
bool eh_json_size(const cJSON *item, int64_t *out);
/* A foreign text made fit for a sentence: cut, and unprintable bytes as '?'. Returns buffer. */
enum { EH_QUOTE = 48 };
const char *eh_json_quote(const char *text, char buffer[EH_QUOTE]);

/* A copy in which every byte that is not part of valid UTF-8 is taken for Latin-1, since JSON must be UTF-8. NULL: no
 * memory. */
char *eh_json_utf8(const char *text);

#endif
