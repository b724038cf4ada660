/* Encodings: which inputs of a map each column becomes, and the names of these inputs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/frame/frame.h"

enum { DATE_PARTS = 5, TIME_PARTS = 2 };

static int64_t count_inputs(const eh_encoded *c)
{
    int64_t values = 0;
    switch (c->type) {
    case EH_COLUMN_NUMBER:
    case EH_COLUMN_BOOLEAN: values = 1; break;
    case EH_COLUMN_CATEGORY: values = c->categories + c->other; break;
    case EH_COLUMN_DATE: values = DATE_PARTS + (c->time ? TIME_PARTS : 0); break;
    case EH_COLUMN_ID:
    case EH_COLUMN_EMPTY: break;
    }
    return (c->constant ? 0 : values) + c->indicator;
}

void eh_encoding_layout(eh_encoding *encoding)
{
    encoding->H = 0;
    for (int64_t j = 0; j < encoding->columns; j++) {
        eh_encoded *c = &encoding->column[j];
        c->first = encoding->H;
        c->inputs = count_inputs(c);
        encoding->H += c->inputs;
    }
}

static bool is_plain(const eh_encoded *c)
{
    return c->type == EH_COLUMN_NUMBER && !c->form && c->offset == 0 && !c->constant && !c->indicator;
}

bool eh_encoding_is_identity(const eh_encoding *encoding)
{
    for (int64_t j = 0; j < encoding->columns; j++)
        if (!is_plain(&encoding->column[j])) return false;
    return true;
}

bool eh_encoding_is_plain(const eh_encoding *encoding)
{
    const bool last = encoding->label_place == 0 || encoding->label_place == encoding->columns + 1;
    return !encoding->named && last && eh_encoding_is_identity(encoding);
}

static double offset_of(const eh_encoding *encoding, int64_t j)
{
    return encoding && j < encoding->columns ? encoding->column[j].offset : 0;
}

enhope_status eh_encoding_check(enhope_context *ctx, const eh_encoding *wanted, const eh_encoding *found,
                                const char *whose)
{
    const int64_t columns = eh_max(wanted ? wanted->columns : 0, found ? found->columns : 0);
    for (int64_t j = 0; j < columns; j++) {
        const double expected = offset_of(wanted, j), offset = offset_of(found, j);
        if (expected == offset) continue;
        const eh_encoding *named = wanted && j < wanted->columns ? wanted : found;
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "%.10g was subtracted from column '%.60s' of the data, but %.10g from that of %s; read the data "
                       "with the columns of %s",
                       offset, named->column[j].name, expected, whose, whose);
    }
    return ENHOPE_OK;
}

/* ---- names of inputs ---- */

/* The end of the name of input i of a column; texts of categories are returned as they are. */
static const char *name_end(const eh_encoded *c, int64_t i, const char **before)
{
    static const char *const date[] = {"",          ".year.sin", ".year.cos", ".weekday.sin", ".weekday.cos",
                                       ".time.sin", ".time.cos"};
    *before = "";
    if (c->indicator && i == c->inputs - 1) return " (missing)";
    if (c->type == EH_COLUMN_DATE) return date[i];
    if (c->type != EH_COLUMN_CATEGORY) return "";
    *before = "=";
    return i < c->categories ? c->category[i] : "(other)";
}

static enhope_status join(enhope_context *ctx, const char *a, const char *b, const char *c, char **out)
{
    const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    EH_TRY(eh_new(ctx, "the name of an input", (int64_t)size, 1, (void **)out));
    snprintf(*out, size, "%s%s%s", a, b, c);
    return ENHOPE_OK;
}

static enhope_status name_input(enhope_context *ctx, const eh_encoded *c, int64_t i, char **out)
{
    const char *before, *end = name_end(c, i, &before);
    return join(ctx, c->name, before, end, out);
}

enhope_status eh_encoding_input_name(enhope_context *ctx, const eh_encoding *encoding, int64_t j, char **out)
{
    for (int64_t k = 0; k < encoding->columns; k++) {
        const eh_encoded *c = &encoding->column[k];
        if (j >= c->first && j < c->first + c->inputs) return name_input(ctx, c, j - c->first, out);
    }
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "input %lld of %lld does not exist", (long long)j,
                   (long long)encoding->H);
}

enhope_status eh_encoding_input_names(enhope_context *ctx, const eh_encoding *encoding, char ***out)
{
    char **name = NULL;
    enhope_status status = ENHOPE_OK;
    if (!encoding->named && eh_encoding_is_identity(encoding)) {
        *out = NULL;
        return ENHOPE_OK;
    }
    EH_TRY(eh_new(ctx, "names of inputs", encoding->H, sizeof *name, (void **)&name));
    for (int64_t j = 0; j < encoding->columns; j++) {
        const eh_encoded *c = &encoding->column[j];
        for (int64_t i = 0; i < c->inputs; i++) EH_CHECK(name_input(ctx, c, i, &name[c->first + i]));
    }
    *out = name;
    return ENHOPE_OK;
cleanup:
    eh_names_free(name, encoding->H);
    return status;
}

/* ---- creation ---- */

void eh_encoding_free(eh_encoding *encoding)
{
    if (!encoding) return;
    for (int64_t j = 0; encoding->column && j < encoding->columns; j++) {
        eh_free(encoding->column[j].name);
        eh_names_free(encoding->column[j].category, encoding->column[j].categories);
    }
    eh_free(encoding->column);
    eh_free(encoding->label);
    eh_free(encoding);
}

static enhope_status copy_column(enhope_context *ctx, const eh_encoded *from, eh_encoded *to)
{
    *to = *from;
    to->name = NULL;
    to->category = NULL;
    EH_TRY(eh_new_text(ctx, "a column name", from->name, &to->name));
    return eh_new_names(ctx, "categories", from->category, from->categories, &to->category);
}

enhope_status eh_encoding_copy(enhope_context *ctx, const eh_encoding *encoding, eh_encoding **out)
{
    enhope_status status = ENHOPE_OK;
    eh_encoding *copy = NULL;
    EH_TRY(eh_new(ctx, "an encoding", 1, sizeof *copy, (void **)&copy));
    EH_CHECK(eh_new(ctx, "columns", encoding->columns, sizeof *copy->column, (void **)&copy->column));
    copy->columns = encoding->columns;
    copy->H = encoding->H;
    copy->named = encoding->named;
    copy->label_place = encoding->label_place;
    for (int64_t j = 0; j < copy->columns; j++) EH_CHECK(copy_column(ctx, &encoding->column[j], &copy->column[j]));
    if (encoding->label) EH_CHECK(eh_new_text(ctx, "a column name", encoding->label, &copy->label));
    *out = copy;
    return ENHOPE_OK;
cleanup:
    eh_encoding_free(copy);
    return status;
}

enhope_status eh_encoding_of_numbers(enhope_context *ctx, int64_t H, char *const *name, eh_encoding **out)
{
    enhope_status status = ENHOPE_OK;
    eh_encoding *encoding = NULL;
    EH_TRY(eh_new(ctx, "an encoding", 1, sizeof *encoding, (void **)&encoding));
    EH_CHECK(eh_new(ctx, "columns", H, sizeof *encoding->column, (void **)&encoding->column));
    encoding->columns = H;
    encoding->named = name != NULL;
    for (int64_t j = 0; j < H; j++) {
        char number[32];
        snprintf(number, sizeof number, "column %lld", (long long)j + 1);
        encoding->column[j] = (eh_encoded){.type = EH_COLUMN_NUMBER, .fill = NAN};
        EH_CHECK(eh_new_text(ctx, "a column name", name ? name[j] : number, &encoding->column[j].name));
    }
    eh_encoding_layout(encoding);
    *out = encoding;
    return ENHOPE_OK;
cleanup:
    eh_encoding_free(encoding);
    return status;
}
