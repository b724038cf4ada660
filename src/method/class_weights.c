/* The text of the setting class_weight: none, balanced, or a list NAME=WEIGHT,NAME=WEIGHT,...
 *
 * A name that contains a comma, an equals sign or a double quote is written in double quotes, in
 * which a double quote is doubled, as in CSV. Weights are numbers above 0. A class that the list
 * does not name has weight 1. */
#include <string.h>

#include "method/method.h"

static const double min_weight = 1e-9, max_weight = 1e9; /* products with counts stay in the range of floats */

/* Copies the name at `at` without its quotes. Returns the text after it; NULL: invalid. */
static const char *read_name(const char *at, char *name, size_t size)
{
    const bool quoted = *at == '"';
    size_t used = 0;
    at += quoted;
    while (quoted ? *at && (*at != '"' || at[1] == '"') : *at && !strchr(",=\"", *at)) {
        at += *at == '"';
        if (used + 1 >= size) return NULL;
        name[used++] = *at++;
    }
    name[used] = '\0';
    if (quoted && *at++ != '"') return NULL;
    return used ? at : NULL;
}

bool eh_class_weights_next(const char **list, char *name, size_t size, double *weight)
{
    const char *at = read_name(*list, name, size);
    if (!at || *at++ != '=') return false;
    const size_t length = strcspn(at, ",");
    if (eh_number_parse(at, length, weight) != EH_NUMBER || !(*weight >= min_weight && *weight <= max_weight))
        return false;
    at += length;
    if (*at == ',' && !at[1]) return false; /* a comma is followed by a name */
    *list = at + (*at == ',');
    return true;
}

/* Whether the list before `end` has the name. */
static bool has_name(const char *list, const char *end, const char *name)
{
    char other[EH_CLASS_WEIGHTS];
    double weight;
    while (list < end && eh_class_weights_next(&list, other, sizeof other, &weight))
        if (!strcmp(other, name)) return true;
    return false;
}

bool eh_class_weights_good(const char *text)
{
    char name[EH_CLASS_WEIGHTS];
    double weight;
    if (!strcmp(text, "none") || !strcmp(text, "balanced")) return true;
    for (const char *at = text; *at;) {
        const char *begin = at;
        if (!eh_class_weights_next(&at, name, sizeof name, &weight) || has_name(text, begin, name)) return false;
    }
    return *text;
}
