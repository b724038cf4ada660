/* The values of fields: missing values and numbers. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/table/table.h"

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

bool eh_field_missing(const char *text, size_t length)
{
    static const char *const words[] = {"NA", "N/A", "NaN", "null", "none", "?", "-", "."};
    if (length == 0) return true;
    if (length > 4) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, length, words[i])) return true;
    return false;
}

eh_number_kind eh_field_number(const char *text, size_t length, char decimal, double *value)
{
    enum { LONGEST = 64 }; /* characters of a number with a decimal comma */
    static const double LARGEST = 1e30;
    char copy[LONGEST];
    const char *comma = decimal == ',' ? memchr(text, ',', length) : NULL;
    if (decimal == ',' && memchr(text, '.', length)) return EH_NOT_NUMBER;
    if (comma) {
        if (length > LONGEST) return EH_NOT_NUMBER;
        memcpy(copy, text, length);
        copy[comma - text] = '.';
        text = copy;
    }
    const eh_number_kind kind = eh_number_parse(text, length, value);
    return kind == EH_NUMBER && fabs(*value) > LARGEST ? EH_NOT_FINITE : kind;
}
