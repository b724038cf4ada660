/* The values of fields: missing values and numbers. */
#include <ctype.h>
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

bool eh_field_formed_number(const char *text, size_t length, char decimal)
{
    double value;
    const size_t percent = eh_percent_length(text, length);
    return eh_thousands_parse(text, length, &value) ||
           (percent && eh_field_number(text, percent, decimal, &value) == EH_NUMBER);
}

/* The bytes of a currency sign at the start of the text; 0: there is none. */
static size_t currency_length(const char *text, size_t length)
{
    static const char *const signs[] = {"$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5"}; /* dollar, euro, pound, yen */
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i]) <= length && memcmp(text, signs[i], strlen(signs[i])) == 0) return strlen(signs[i]);
    return 0;
}

static size_t count_digits(const char *text, const char *end)
{
    const char *at = text;
    while (at < end && isdigit((unsigned char)*at)) at++;
    return (size_t)(at - text);
}

/* Moves over digits in groups of three. Returns whether there are any digits. */
static bool skip_groups(const char **at, const char *end)
{
    const size_t first = count_digits(*at, end);
    *at += first;
    if (first == 0 || first > 3 || *at == end || !strchr(",.' ", **at)) return first > 0;
    for (const char mark = **at; *at < end && **at == mark && count_digits(*at + 1, end) == 3;) *at += 4;
    return true;
}

bool eh_field_written_number(const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    if (at < end && (*at == '-' || *at == '+')) at++;
    at += currency_length(at, (size_t)(end - at));
    while (at < end && *at == ' ') at++;
    if (!skip_groups(&at, end)) return false;
    if (at < end && (*at == '.' || *at == ',')) {
        at++;
        at += count_digits(at, end);
    }
    while (at < end && *at == ' ') at++;
    return at + currency_length(at, (size_t)(end - at)) == end;
}

bool eh_field_grouped(const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *first = at;
    return skip_groups(&at, end) && at == end && *first != '0' && count_digits(first, end) < (size_t)(end - first);
}
