/* Booleans and dates of texts.
 *
 * Conversion between days and dates of the Gregorian calendar counts years from March, so that the
 * leap day is the last day of its year. An era has 400 years or 146,097 days. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/frame/frame.h"

bool eh_boolean_parse(const char *text, size_t length, double *out)
{
    static const char *const word[] = {"false", "no", "f", "n", "true", "yes", "t", "y"};
    for (int i = 0; i < 8; i++)
        if (strlen(word[i]) == length && strncasecmp(text, word[i], length) == 0) {
            *out = i >= 4;
            return true;
        }
    return false;
}

static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int eh_date_year_day(double days)
{
    const int64_t z = (int64_t)floor(days) + 719468;
    const int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365 + era * 400;
    const int64_t first = days_from_date(year, 1, 1), next = days_from_date(year + 1, 1, 1);
    const int64_t day = (int64_t)floor(days);
    return (int)(day < next ? day - first : day - next); /* the year from March ends in February */
}

/* Reads exactly `count` digits. */
static bool read_digits(const char **at, const char *end, int count, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < count; i++, ++*at) {
        if (*at == end || **at < '0' || **at > '9') return false;
        *out = *out * 10 + (**at - '0');
    }
    return true;
}

static bool read_mark(const char **at, const char *end, char mark)
{
    if (*at == end || **at != mark) return false;
    ++*at;
    return true;
}

/* Z, +02:00, +0200, +02 or nothing. */
static bool skip_zone(const char **at, const char *end)
{
    int64_t hours, minutes = 0;
    if (*at == end || read_mark(at, end, 'Z')) return true;
    if (!read_mark(at, end, '+') && !read_mark(at, end, '-')) return false;
    if (!read_digits(at, end, 2, &hours) || hours > 23) return false;
    if (*at == end) return true;
    (void)read_mark(at, end, ':');
    return read_digits(at, end, 2, &minutes) && minutes < 60;
}

/* HH:MM, HH:MM:SS or HH:MM:SS.fff in seconds. */
static bool read_time(const char **at, const char *end, double *seconds)
{
    int64_t hour, minute, second = 0;
    double fraction = 0, digit = 0.1;
    if (!read_digits(at, end, 2, &hour) || !read_mark(at, end, ':') || !read_digits(at, end, 2, &minute)) return false;
    if (read_mark(at, end, ':')) {
        if (!read_digits(at, end, 2, &second)) return false;
        if (read_mark(at, end, '.'))
            for (; *at < end && **at >= '0' && **at <= '9'; ++*at, digit /= 10) fraction += digit * (**at - '0');
    }
    *seconds = (double)(hour * 3600 + minute * 60 + second) + fraction;
    return hour < 24 && minute < 60 && second <= 60;
}

/* The date, and the time that may follow it. */
static bool end_date(int64_t year, int64_t month, int64_t day, const char *at, const char *end, double *out)
{
    static const int64_t lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double seconds = 0;
    if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1]) return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month == 2 && day == 29 && !leap) return false;
    if (at < end) {
        if (*at != 'T' && *at != ' ') return false;
        at++;
        if (!read_time(&at, end, &seconds) || !skip_zone(&at, end) || at != end) return false;
    }
    *out = (double)days_from_date(year, month, day) + seconds / 86400;
    return true;
}

bool eh_date_parse(const char *text, size_t length, double *out)
{
    const char *at = text, *const end = text + length;
    int64_t year, month, day;
    if (!read_digits(&at, end, 4, &year) || at == end) return false;
    const char mark = *at == '/' ? '/' : '-';
    if (!read_mark(&at, end, mark) || !read_digits(&at, end, 2, &month) || !read_mark(&at, end, mark) ||
        !read_digits(&at, end, 2, &day))
        return false;
    return end_date(year, month, day, at, end, out);
}

/* One digit or two. */
static bool read_short(const char **at, const char *end, int64_t *out)
{
    const bool two = end - *at > 1 && (*at)[1] >= '0' && (*at)[1] <= '9';
    return read_digits(at, end, two ? 2 : 1, out);
}

bool eh_date_parse_form(const char *text, size_t length, eh_form form, double *out)
{
    const char *at = text, *const end = text + length;
    int64_t first, second, year;
    if (eh_date_parse(text, length, out)) return true;
    if (form == EH_FORM_PLAIN || !read_short(&at, end, &first) || at == end) return false;
    const char mark = *at;
    if (mark != '.' && mark != '/' && mark != '-') return false;
    if (!read_mark(&at, end, mark) || !read_short(&at, end, &second) || !read_mark(&at, end, mark) ||
        !read_digits(&at, end, 4, &year))
        return false;
    return form == EH_FORM_DAY_FIRST ? end_date(year, second, first, at, end, out)
                                     : end_date(year, first, second, at, end, out);
}

bool eh_thousands_parse(const char *text, size_t length, double *out)
{
    enum { LONGEST = 40 };
    const char *at = text, *const end = text + length;
    char copy[LONGEST];
    size_t used = 0;
    int64_t group;
    if (length > LONGEST) return false;
    if (at < end && (*at == '-' || *at == '+')) copy[used++] = *at++;
    if (at == end || *at < '1' || *at > '9') return false; /* 0,123 has a decimal comma */
    for (int digits = 0; at < end && *at >= '0' && *at <= '9'; copy[used++] = *at++)
        if (++digits > 3) return false;
    const char *first = at;
    while (read_mark(&at, end, ',')) {
        const char *begin = at;
        if (!read_digits(&at, end, 3, &group)) return false;
        memcpy(copy + used, begin, 3);
        used += 3;
    }
    if (at == first || (at < end && *at != '.')) return false;
    memcpy(copy + used, at, (size_t)(end - at));
    return eh_number_parse(copy, used + (size_t)(end - at), out) == EH_NUMBER;
}

size_t eh_percent_length(const char *text, size_t length)
{
    if (!length || text[--length] != '%') return 0;
    while (length && text[length - 1] == ' ') length--;
    return length;
}
