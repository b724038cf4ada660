/* Tables in C: a struct with a field for each column, and the function that encodes it as inputs.
 * Categories are compared with strcmp, days become angles of the year, the week and the day as in
 * data/frame/encode.c. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "predict/export/c/c.h"

enum { FIELD = 48 };

/* Fields of the struct: "col_" and the name of the column; of equal names, the number of the column
 * follows. */
static void field_name(const eh_encoding *encoding, int64_t j, char field[FIELD])
{
    const char *text = encoding->column[j].name;
    int n = snprintf(field, FIELD, "col_");
    for (; *text && n < FIELD - 24; text++) field[n++] = isalnum((unsigned char)*text) ? *text : '_';
    field[n] = '\0';
}

static void unique_field(const eh_encoding *encoding, int64_t j, char field[FIELD])
{
    char other[FIELD];
    bool taken = false;
    field_name(encoding, j, field);
    for (int64_t i = 0; i < encoding->columns && !taken; i++) {
        field_name(encoding, i, other);
        taken = i != j && !strcmp(field, other);
    }
    if (taken) snprintf(field + strlen(field), 24, "_%lld", (long long)j + 1);
}

static const char *type_text(const eh_encoded *c)
{
    switch (c->type) {
    case EH_COLUMN_CATEGORY: return "text; 0 or \"\" if missing";
    case EH_COLUMN_BOOLEAN: return "0 or 1; NAN if missing";
    case EH_COLUMN_DATE: return "days since 1970-01-01, with fractions; NAN if missing";
    default: return "NAN if missing";
    }
}

void eh_c_row_type(const eh_export *e, eh_bytes *b)
{
    char field[FIELD];
    if (!e->encoding) return;
    eh_put_text(b, "\n/* A row of the table that the model was trained on. */\ntypedef struct @_row {\n");
    for (int64_t j = 0; j < e->encoding->columns; j++) {
        const eh_encoded *c = &e->encoding->column[j];
        if (c->inputs == 0) continue;
        unique_field(e->encoding, j, field);
        eh_put(b, "    %s%s; /* ", c->type == EH_COLUMN_CATEGORY ? "const char *" : "double ", field);
        eh_put_comment(b, c->name);
        eh_put(b, ": %s */\n", type_text(c));
    }
    eh_put_text(b, "} @_row;\n"
                   "/* The inputs of a row: x has @_INPUTS numbers. Returns 0, or -1 if a value is infinite, or is\n"
                   " * missing and has no replacement. */\n"
                   "int @_encode(const @_row *row, float *x);\n");
}

static const char angle[] =
    "/* Sine and cosine of a fraction of a turn. */\n"
    "static void @_turn(double part, float *x)\n"
    "{\n"
    "    x[0] = (float)sin(6.28318530717958648 * part);\n"
    "    x[1] = (float)cos(6.28318530717958648 * part);\n"
    "}\n\n"
    "/* The day of the year, from 0, of a number of days since 1970-01-01. */\n"
    "static int @_year_day(double days)\n"
    "{\n"
    "    static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};\n"
    "    const long day = (long)floor(days) + 719468L; /* since 0000-03-01 */\n"
    "    const long era = (day >= 0 ? day : day - 146096L) / 146097L, of_era = day - era * 146097L;\n"
    "    const long year = (of_era - of_era / 1460 + of_era / 36524L - of_era / 146096L) / 365;\n"
    "    const long of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;\n"
    "    const int m = (int)(month < 10 ? month + 2 : month - 10), d = (int)(of_year - (153 * month + 2) / 5);\n"
    "    const long y = year + era * 400 + (m < 2);\n"
    "    const int leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;\n"
    "    return before[m] + d + (m > 1 && leap);\n"
    "}\n\n";

static void put_number(eh_bytes *b, double value)
{
    char text[40];
    eh_number_print(value, text, sizeof text);
    eh_bytes_add(b, text, strlen(text));
    if (strlen(text) == strcspn(text, ".e")) eh_bytes_add(b, ".0", 2);
}

/* "v = row->field;" and the replacement of a missing value. */
static void put_value(const eh_encoded *c, eh_bytes *b, const char *field)
{
    eh_put(b, "    v = row->%s;\n    missing = v != v;\n", field);
    if (c->constant) return;
    if (isnan(c->fill)) {
        eh_put_text(b, "    if (missing) return -1;\n");
    } else {
        eh_put_text(b, "    if (missing) v = ");
        put_number(b, c->fill);
        eh_put_text(b, ";\n");
    }
    if (c->offset != 0) {
        eh_put_text(b, "    v -= ");
        put_number(b, c->offset);
        eh_put_text(b, ";\n");
    }
    eh_put_text(b, "    if (v > 3.4028234e38 || v < -3.4028234e38) return -1;\n");
    eh_put(b, "    x[%lld] = (float)v;\n", (long long)c->first);
}

static void put_date(const eh_encoded *c, eh_bytes *b, const char *field)
{
    const long long at = c->first;
    put_value(c, b, field);
    if (c->constant) return;
    eh_put(b, "    for (int i = 1; i < %d; i++) x[%lld + i] = 0;\n", c->time ? 7 : 5, at);
    eh_put(b,
           "    if (!missing) {\n"
           "        v = row->%s;\n"
           "        if (v > 1e9 || v < -1e9) return -1;\n"
           "        @_turn(@_year_day(v) / 365.25, x + %lld);\n"
           "        @_turn(fmod(fmod(floor(v) + 3, 7) + 7, 7) / 7, x + %lld);\n",
           field, at + 1, at + 3);
    if (c->time) eh_put(b, "        @_turn(v - floor(v), x + %lld);\n", at + 5);
    eh_put_text(b, "    }\n");
}

static void put_category(const eh_encoded *c, eh_bytes *b, const char *field)
{
    eh_put(b, "    missing = !row->%s || !*row->%s;\n", field, field);
    if (c->constant) return;
    eh_put(b, "    for (int i = 0; i < %d; i++) x[%lld + i] = 0;\n    if (missing) {\n    }", c->categories + c->other,
           (long long)c->first);
    for (int32_t k = 0; k < c->categories; k++) {
        eh_put(b, " else if (!strcmp(row->%s, ", field);
        eh_put_c_string(b, c->category[k]);
        eh_put(b, ")) {\n        x[%lld] = 1;\n    }", (long long)c->first + k);
    }
    if (c->other) eh_put(b, " else {\n        x[%lld] = 1;\n    }", (long long)c->first + c->categories);
    eh_put_text(b, "\n");
}

enhope_status eh_c_encode(enhope_context *ctx, const eh_export *e, eh_bytes *b)
{
    const eh_encoding *encoding = e->encoding;
    bool dates = false, texts = false, numbers = false;
    char field[FIELD];
    if (!encoding) return ENHOPE_OK;
    for (int64_t j = 0; j < encoding->columns; j++) {
        if (encoding->column[j].inputs == 0) continue;
        const eh_column_type type = encoding->column[j].type;
        dates |= type == EH_COLUMN_DATE && !encoding->column[j].constant;
        texts |= type == EH_COLUMN_CATEGORY;
        numbers |= type != EH_COLUMN_CATEGORY;
        for (int32_t k = 0; k < encoding->column[j].categories; k++)
            EH_TRY(eh_c_check_text(ctx, encoding->column[j].category[k]));
    }
    if (dates) eh_put_text(b, "#include <math.h>\n");
    if (texts) eh_put_text(b, "#include <string.h>\n");
    if (dates || texts) eh_put_text(b, "\n");
    if (dates) eh_put_text(b, angle);
    eh_put_text(b, "int @_encode(const @_row *row, float *x)\n{\n");
    eh_put(b, "%s    int missing;\n", numbers ? "    double v;\n" : "");
    for (int64_t j = 0; j < encoding->columns; j++) {
        const eh_encoded *c = &encoding->column[j];
        if (c->inputs == 0) continue;
        unique_field(encoding, j, field);
        if (c->type == EH_COLUMN_CATEGORY)
            put_category(c, b, field);
        else if (c->type == EH_COLUMN_DATE)
            put_date(c, b, field);
        else
            put_value(c, b, field);
        if (c->indicator) eh_put(b, "    x[%lld] = (float)missing;\n", (long long)(c->first + c->inputs - 1));
    }
    eh_put_text(b, "    return 0;\n}\n\n");
    return ENHOPE_OK;
}
