/* Lists of names in messages. A list shows the first few names and counts the others. */
#include <stdio.h>
#include <string.h>

#include "data/frame/frame.h"

enum { LISTED = 8, LONGEST = 40 }; /* names; bytes of a name */

/* Bytes of the longest prefix of text that has at most `max` bytes and ends at a character. */
static int prefix(const char *text, size_t max)
{
    size_t at = 0, length = strlen(text);
    while (at < length) {
        uint32_t code;
        const size_t step = eh_utf8_next(text + at, length - at, &code);
        if (at + (step ? step : 1) > max) break;
        at += step ? step : 1;
    }
    return (int)at;
}

void eh_name_list_add(eh_name_list *list, const char *name)
{
    const size_t at = strlen(list->text);
    const int length = prefix(name, LONGEST);
    if (list->count++ >= LISTED) return;
    snprintf(list->text + at, sizeof list->text - at, "%s'%.*s%s'", at ? ", " : "", length, name,
             name[length] ? "..." : "");
}

void eh_name_list_add_with(eh_name_list *list, const char *name, const char *note)
{
    eh_name_list_add(list, name);
    const size_t at = strlen(list->text);
    if (list->count <= LISTED) snprintf(list->text + at, sizeof list->text - at, " (%.30s)", note);
}

const char *eh_name_list_end(eh_name_list *list)
{
    const size_t at = strlen(list->text);
    if (list->count > LISTED)
        snprintf(list->text + at, sizeof list->text - at, " and %lld other%s", (long long)(list->count - LISTED),
                 list->count == LISTED + 1 ? "" : "s");
    return list->text;
}
