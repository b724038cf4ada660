/* A scanner of JSON for requests. It parses in place, allocates nothing and does not recurse. */
#ifndef ENHOPE_SERVE_SCAN_H
#define ENHOPE_SERVE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_REASON = 160, SCAN_DEPTH = 64 };

typedef struct scan {
    char *begin, *at, *end;
    char reason[SCAN_REASON]; /* of a failure; "": none */
} scan;

/* Functions return false after a failure, which stays: its reason begins with the position. */
bool scan_fail(scan *s, const char *reason);
void scan_space(scan *s);
/* The next character that is no space; '\0' at the end. */
char scan_peek(scan *s);
/* Moves over `wanted` if it is next. */
bool scan_accept(scan *s, char wanted);
bool scan_expect(scan *s, char wanted);
/* Moves over the end of an array or object, or a comma. True: another element follows. */
bool scan_more(scan *s, char end);
/* A string, unescaped and terminated in place. It has no NUL and is UTF-8. */
bool scan_string(scan *s, char **out);
/* A key and its colon. */
bool scan_key(scan *s, char **out);
bool scan_number(scan *s, double *out);
/* true, false or null. */
bool scan_word(scan *s, const char *word);
/* Moves over any value of limited depth. */
bool scan_skip(scan *s);

#endif
