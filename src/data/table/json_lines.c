/* JSON lines: each line of a text is an object, whose keys are columns, or an array of fields.
 * A line is parsed in place. Nested values are skipped without recursion. */
#include <string.h>

#include "data/table/csv.h"

enum { MAX_DEPTH = 64 }; /* of nested values */

typedef struct cursor {
    char *at, *end;
    const char *reason; /* of a failure */
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

static bool fail(cursor *c, const char *reason)
{
    if (!c->reason) c->reason = reason;
    return false;
}

static bool expect(cursor *c, char wanted, const char *reason)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return fail(c, reason);
    c->at++;
    return true;
}

/* ---- strings ---- */

static bool parse_string(cursor *c, eh_field *out)
{
    char *to = ++c->at; /* after the quote */
    out->text = to;
    while (c->at < c->end && *c->at != '"') {
        if ((unsigned char)*c->at < ' ') return fail(c, "a string contains a control character");
        if (*c->at == '\\') {
            const char *reason = eh_json_unescape(&c->at, c->end, &to);
            if (reason) return fail(c, reason);
        } else {
            *to++ = *c->at++;
        }
    }
    if (c->at >= c->end) return fail(c, "a string is not closed");
    c->at++;
    out->length = (size_t)(to - out->text);
    return true;
}

/* ---- values ---- */

/* An object or an array stays as it is. */
static bool skip_nested(cursor *c, eh_field *out)
{
    char open[MAX_DEPTH];
    int depth = 0;
    out->text = c->at;
    do {
        const char letter = *c->at++;
        if (letter == '"') {
            while (c->at < c->end && *c->at != '"') c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
            if (c->at >= c->end) return fail(c, "a string is not closed");
            c->at++;
        } else if (letter == '{' || letter == '[') {
            if (depth == MAX_DEPTH) return fail(c, "values are nested too deeply");
            open[depth++] = letter;
        } else if (letter == '}' || letter == ']') {
            if (open[depth - 1] != (letter == '}' ? '{' : '[')) return fail(c, "brackets do not match");
            depth--;
        }
    } while (depth > 0 && c->at < c->end);
    out->length = (size_t)(c->at - out->text);
    return depth == 0 || fail(c, "brackets do not match");
}

static bool is_word(const eh_field *f, const char *word)
{
    return f->length == strlen(word) && memcmp(f->text, word, f->length) == 0;
}

static bool parse_value(cursor *c, eh_field *out)
{
    skip_space(c);
    if (c->at == c->end) return fail(c, "a value is missing");
    if (*c->at == '"') return parse_string(c, out);
    if (*c->at == '{' || *c->at == '[') return skip_nested(c, out);
    out->text = c->at;
    while (c->at < c->end && !strchr(",:]}\" \t\r", *c->at)) c->at++;
    out->length = (size_t)(c->at - out->text);
    double number;
    if (is_word(out, "null")) {
        out->length = 0;
        return true;
    }
    if (is_word(out, "true") || is_word(out, "false")) return true;
    return eh_number_parse(out->text, out->length, &number) != EH_NOT_NUMBER || fail(c, "a value is not JSON");
}

/* ---- lines ---- */

static enhope_status put_value(enhope_context *ctx, eh_csv *f, const eh_field *value)
{
    EH_TRY(eh_csv_grow(ctx, f));
    f->field[f->fields++] = *value;
    return ENHOPE_OK;
}

/* With `header`, a member adds its key to the columns; otherwise its value is a field. */
static enhope_status put_member(enhope_context *ctx, eh_csv *f, bool header, const eh_field *key, const eh_field *value,
                                cursor *c)
{
    int32_t id;
    if (key->length == 0) {
        fail(c, "a key is empty");
    } else if (header) {
        const int32_t before = f->key.c;
        EH_TRY(eh_labels_class(ctx, &f->key, key->text, key->length, &id));
        if (f->key.c == before) fail(c, "a key occurs twice");
    } else if ((id = eh_labels_find(&f->key, key->text, key->length)) >= 0) {
        if (f->field[id].text) fail(c, "a key occurs twice");
        f->field[id] = *value;
    }
    return ENHOPE_OK;
}

static enhope_status parse_line(enhope_context *ctx, eh_csv *f, bool header, cursor *c)
{
    const bool object = f->objects;
    eh_field key, value;
    if (!expect(c, object ? '{' : '[', object ? "it is no object" : "it is no array")) return ENHOPE_OK;
    skip_space(c);
    bool more = c->at < c->end && *c->at != (object ? '}' : ']');
    while (more && !c->reason) {
        skip_space(c);
        if (object && (c->at == c->end || *c->at != '"')) fail(c, "a key is missing");
        const bool good = !c->reason && (!object || (parse_string(c, &key) && expect(c, ':', "a colon is missing"))) &&
                          parse_value(c, &value);
        if (!good) break;
        EH_TRY(object ? put_member(ctx, f, header, &key, &value, c) : put_value(ctx, f, &value));
        skip_space(c);
        more = c->at < c->end && *c->at == ',';
        c->at += more;
    }
    if (c->reason || !expect(c, object ? '}' : ']', "a comma or a bracket is missing")) return ENHOPE_OK;
    skip_space(c);
    if (c->at < c->end) fail(c, "text follows the value");
    return ENHOPE_OK;
}

static void finish_line(eh_csv *f, const cursor *c)
{
    f->damaged = c->reason != NULL;
    f->reason = c->reason;
    if (f->damaged) f->fields = 0;
}

enhope_status eh_json_split(enhope_context *ctx, eh_csv *f, char *line, size_t length)
{
    cursor c = {.at = line, .end = line + length};
    f->fields = f->objects ? f->key.c : 0;
    for (int64_t j = 0; j < f->fields; j++) f->field[j] = (eh_field){.text = NULL};
    EH_TRY(parse_line(ctx, f, false, &c));
    finish_line(f, &c);
    return ENHOPE_OK;
}

enhope_status eh_json_header(enhope_context *ctx, eh_csv *f, const char *line, size_t length)
{
    char *copy = NULL;
    EH_TRY(eh_new(ctx, "the first line", (int64_t)length, 1, (void **)&copy));
    memcpy(copy, line, length);
    cursor c = {.at = copy, .end = copy + length};
    enhope_status status = parse_line(ctx, f, true, &c);
    f->fields = 0;
    if (!status && !c.reason && f->key.c == 0) fail(&c, "the object is empty");
    for (int32_t j = 0; !status && !c.reason && j < f->key.c; j++)
        status = put_value(ctx, f, &(eh_field){.text = f->key.name[j], .length = strlen(f->key.name[j])});
    finish_line(f, &c);
    if (status || f->damaged) eh_labels_free(&f->key);
    eh_free(copy);
    return status;
}
