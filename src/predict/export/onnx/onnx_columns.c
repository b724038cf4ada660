/* The inputs of the ONNX graph. A model of plain numbers has one input (batch, H). A model of a
 * table with other columns has one input (batch, 1) for each column, whose encoding is part of the
 * graph:
 *
 *   number, boolean   float, NaN if missing; double if the column has an offset, because x - offset
 *                     is rounded to float after the subtraction
 *   category          text, "" if missing
 *
 * Dates cannot be expressed: they need a calendar. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "predict/export/onnx/onnx.h"

enum { MISSING = -2, UNKNOWN = -1 }; /* codes of texts that are no category */

static bool is_text(const eh_encoded *c)
{
    return c->type == EH_COLUMN_CATEGORY;
}

/* Whether a column becomes one input, its value. */
static bool is_plain(const eh_encoded *c)
{
    return !is_text(c) && c->type != EH_COLUMN_DATE && c->inputs == 1 && !c->constant && !c->indicator &&
           c->offset == 0;
}

static bool all_plain(const eh_encoding *encoding)
{
    for (int64_t j = 0; j < encoding->columns; j++)
        if (!is_plain(&encoding->column[j])) return false;
    return true;
}

/* One input for all columns; missing values are NaN. */
static enhope_status plain_inputs(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value *x)
{
    const int64_t H = e->model->shape.H;
    float *fill = NULL;
    bool fills = false;
    *x = eh_graph_input(g, "input", EH_ONNX_FLOAT, H);
    if (!e->encoding) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "columns", H, sizeof *fill, (void **)&fill));
    for (int64_t j = 0; j < H; j++) {
        fill[j] = (float)e->encoding->column[j].fill;
        fills |= !isnan(fill[j]);
    }
    const eh_value missing = fills ? eh_graph_1(g, "IsNaN", *x) : 0;
    if (fills) *x = eh_graph_node(g, "Where", 3, (eh_value[]){missing, eh_graph_floats(g, fill, 0, H), *x});
    eh_free(fill);
    return ENHOPE_OK;
}

static enhope_status number_column(const eh_encoded *c, eh_graph *g, eh_value x, eh_value *part, int *parts)
{
    const bool wide = c->offset != 0;
    const eh_value missing = c->indicator || !isnan(c->fill) ? eh_graph_1(g, "IsNaN", x) : 0;
    if (!c->constant) {
        if (!isnan(c->fill)) {
            const eh_value fill = wide ? eh_graph_double(g, c->fill) : eh_graph_float(g, (float)c->fill);
            x = eh_graph_node(g, "Where", 3, (eh_value[]){missing, fill, x});
        }
        if (wide) x = eh_graph_cast(g, eh_graph_2(g, "Sub", x, eh_graph_double(g, c->offset)), EH_ONNX_FLOAT);
        part[(*parts)++] = x;
    }
    if (c->indicator) part[(*parts)++] = eh_graph_cast(g, missing, EH_ONNX_FLOAT);
    return ENHOPE_OK;
}

/* A code for each text; an input for each category, for other texts and for missing ones is 1 if
 * the code is its own. Equal compares texts only from opset 19 on, so LabelEncoder does. */
static enhope_status text_column(enhope_context *ctx, const eh_encoded *c, eh_graph *g, eh_value x, eh_value *part,
                                 int *parts)
{
    enhope_status status;
    int64_t *code = NULL;
    char **text = NULL; /* views */
    char none[] = "";
    const int32_t n = c->categories;
    int64_t inputs = 0;
    EH_CHECK(eh_new(ctx, "categories", n + 2, sizeof *code, (void **)&code));
    EH_CHECK(eh_new(ctx, "categories", n + 1, sizeof *text, (void **)&text));
    for (int32_t k = 0; k < n; k++) code[k] = k, text[k] = c->category[k];
    code[n] = MISSING, text[n] = none;
    eh_graph_attribute_strings(g, "keys_strings", text, n + 1);
    eh_graph_attribute_ints(g, "values_int64s", code, n + 1);
    eh_graph_attribute(g, "default_int64", c->other ? n : UNKNOWN);
    const eh_value coded = eh_graph_1(g, "ml.LabelEncoder", x);
    if (!c->constant) inputs = n + c->other;
    for (int64_t k = 0; k < inputs; k++) code[k] = k;
    if (c->indicator) code[inputs++] = MISSING;
    const eh_value equal = eh_graph_2(g, "Equal", coded, eh_graph_ints(g, code, 0, inputs));
    part[(*parts)++] = eh_graph_cast(g, equal, EH_ONNX_FLOAT);
cleanup:
    eh_free(code);
    eh_free(text);
    return status;
}

/* Whether column j has a name that an earlier input, an output or a value of the graph has. */
static bool is_taken(char *const *name, int64_t count, const char *wanted)
{
    static const char *const outputs[] = {"label", "probabilities", "embedding"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (!strcmp(outputs[i], wanted)) return true;
    for (int64_t i = 0; i < count; i++)
        if (name[i] && !strcmp(name[i], wanted)) return true;
    return !strncmp(wanted, "enhope/", 7) || !*wanted;
}

/* The name of the input of column j: that of the column, and as many '_' as make it unique. */
static enhope_status input_name(enhope_context *ctx, const eh_encoding *encoding, int64_t j, char **name)
{
    const char *text = encoding->column[j].name;
    const size_t length = strlen(text), room = length + (size_t)j + 4;
    EH_TRY(eh_new(ctx, "the name of an input", (int64_t)room, 1, (void **)&name[j]));
    memcpy(name[j], text, length + 1);
    if (!strncmp(text, "enhope/", 7)) name[j][6] = '_';
    for (size_t n = length; is_taken(name, j, name[j]) && n + 2 < room; n++) memcpy(name[j] + n, "_", 2);
    if (strcmp(text, name[j]))
        eh_log(ctx, ENHOPE_LOG_INFO, "column '%.60s' is the input '%.60s' of the graph", text, name[j]);
    return ENHOPE_OK;
}

static enhope_status column_inputs(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value *x)
{
    const eh_encoding *encoding = e->encoding;
    enhope_status status;
    eh_value *part = NULL;
    char **name = NULL;
    int parts = 0;
    EH_CHECK(eh_new(ctx, "columns", 2 * encoding->columns, sizeof *part, (void **)&part));
    EH_CHECK(eh_new(ctx, "names", encoding->columns, sizeof *name, (void **)&name));
    for (int64_t j = 0; j < encoding->columns; j++) {
        const eh_encoded *c = &encoding->column[j];
        if (c->inputs == 0) continue;
        if (c->type == EH_COLUMN_DATE)
            EH_CHECK(
                eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                        "ONNX cannot encode the dates of column '%.60s'; use --encoded (encoded = 1) to export the "
                        "map of the %lld encoded inputs, or train without the column",
                        c->name, (long long)e->model->shape.H));
        EH_CHECK(input_name(ctx, encoding, j, name));
        const int type = is_text(c) ? EH_ONNX_STRING : c->offset != 0 ? EH_ONNX_DOUBLE : EH_ONNX_FLOAT;
        const eh_value input = eh_graph_input(g, name[j], type, 1);
        EH_CHECK(is_text(c) ? text_column(ctx, c, g, input, part, &parts) : number_column(c, g, input, part, &parts));
    }
    eh_graph_attribute(g, "axis", 1);
    *x = eh_graph_node(g, "Concat", parts, part);
cleanup:
    eh_names_free(name, encoding->columns);
    eh_free(part);
    return status;
}

enhope_status eh_onnx_inputs(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value *x)
{
    if (!e->encoding || all_plain(e->encoding)) return plain_inputs(ctx, e, g, x);
    return column_inputs(ctx, e, g, x);
}
