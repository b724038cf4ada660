/* The variables of a MATLAB 5 file.
 *
 *   a matrix: flags, dimensions, name, then, by class,
 *       values | sparse rows, column starts, values | matrices of a cell
 *
 * A class says what a variable is; its values may be stored in any type of numbers. Structs,
 * objects, functions and texts of their own are skipped. */
#include "data/mat/mat.h"

#include <string.h>

#include "data/mat/mat_bytes.h"

enum {
    MAX_VARIABLES = 1024,
    FEW_VARIABLES = 8, /* memory at first */
    MAX_DIMENSIONS = 32,
    MAX_TEXT = 1024, /* bytes of a name */
    CLASS_CELL = 1,
    CLASS_CHAR = 4,
    CLASS_SPARSE = 5,
    CLASS_DOUBLE = 6,
    CLASS_UINT8 = 9,
    CLASS_UINT64 = 15,
    CLASS_OPAQUE = 17,
    FLAG_COMPLEX = 0x0800
};

/* ---- what a matrix is ---- */

static enhope_status read_sides(eh_mat_cursor *c, int64_t *left, eh_mat_variable *v)
{
    unsigned char sides[4 * MAX_DIMENSIONS];
    eh_mat_tag t;
    EH_TRY(eh_mat_tag_read(c, left, &t));
    if (t.type != EH_MAT_INT32 || t.bytes < 8 || t.bytes % 4) return eh_mat_damaged(c, "its dimensions are wrong");
    EH_TRY(eh_mat_data(c, &t, sides, sizeof sides, left));
    v->rank = (int)(t.bytes / 4);
    v->count = v->side[0] = v->side[1] = v->side[2] = 1;
    for (int i = 0; i < v->rank; i++) {
        const uint32_t side = eh_mat_word(c, sides + 4 * i);
        if (side > INT32_MAX || !eh_mul(v->count, side, &v->count)) return eh_mat_damaged(c, "its dimensions overflow");
        if (i < 3) v->side[i] = side;
    }
    return ENHOPE_OK;
}

/* Reads a name; one that does not fit becomes empty. */
static enhope_status read_name(eh_mat_cursor *c, int64_t *left, eh_mat_variable *v)
{
    eh_mat_tag t;
    EH_TRY(eh_mat_tag_read(c, left, &t));
    if (t.type != EH_MAT_INT8) return eh_mat_damaged(c, "its name is wrong");
    if (t.bytes >= EH_MAT_NAME) return eh_mat_skip_data(c, &t, left);
    return eh_mat_data(c, &t, v->name, EH_MAT_NAME - 1, left);
}

/* Reads a matrix up to its values. */
static enhope_status read_header(eh_mat_cursor *c, int64_t *left, eh_mat_variable *v, uint32_t *class)
{
    unsigned char flags[8];
    eh_mat_tag t;
    *v = (eh_mat_variable){.element = c->element};
    EH_TRY(eh_mat_tag_read(c, left, &t));
    if (t.type != EH_MAT_UINT32 || t.bytes != 8) return eh_mat_damaged(c, "its flags are wrong");
    EH_TRY(eh_mat_data(c, &t, flags, sizeof flags, left));
    *class = eh_mat_word(c, flags) & 0xFF;
    if (*class < CLASS_CELL || *class > CLASS_OPAQUE) return eh_mat_damaged(c, "it is of an unknown class");
    if (*class == CLASS_OPAQUE) return ENHOPE_OK; /* it has no dimensions */
    EH_TRY(read_sides(c, left, v));
    EH_TRY(read_name(c, left, v));
    const bool usable = v->count > 0 && v->rank <= 3;
    v->sparse = usable && *class == CLASS_SPARSE;
    v->numeric = v->sparse || (usable && *class >= CLASS_DOUBLE && *class <= CLASS_UINT64);
    v->cell = usable && *class == CLASS_CELL;
    v->bytes = *class == CLASS_UINT8;
    v->complex = (eh_mat_word(c, flags) & FLAG_COMPLEX) != 0;
    return ENHOPE_OK;
}

/* ---- numbers ---- */

static bool set_type(uint32_t type, eh_mat_numbers *out)
{
    static const struct {
        uint32_t type;
        char kind;
        int size;
    } all[] = {{EH_MAT_INT8, 'i', 1},   {EH_MAT_UINT8, 'u', 1},  {EH_MAT_INT16, 'i', 2}, {EH_MAT_UINT16, 'u', 2},
               {EH_MAT_INT32, 'i', 4},  {EH_MAT_UINT32, 'u', 4}, {EH_MAT_INT64, 'i', 8}, {EH_MAT_UINT64, 'u', 8},
               {EH_MAT_SINGLE, 'f', 4}, {EH_MAT_DOUBLE, 'f', 8}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].type == type) {
            out->kind = all[i].kind;
            out->size = all[i].size;
            return true;
        }
    return false;
}

/* Reverses the bytes of each number if the file has the other byte order. */
static void set_order(const eh_mat_cursor *c, eh_mat_numbers *n)
{
    const uint16_t probe = 1;
    const bool big = *(const unsigned char *)&probe == 0;
    if (c->big == big) return;
    for (int64_t i = 0; i < n->count; i++) {
        unsigned char *p = (unsigned char *)n->data + i * n->size;
        for (int k = 0; k < n->size / 2; k++) {
            const unsigned char byte = p[k];
            p[k] = p[n->size - 1 - k];
            p[n->size - 1 - k] = byte;
        }
    }
}

/* Reads `count` numbers, or any number of them if count is -1; keep false: only checks them. */
static enhope_status read_numbers(eh_mat_cursor *c, int64_t *left, int64_t count, bool keep, eh_mat_numbers *out)
{
    eh_mat_tag t;
    EH_TRY(eh_mat_tag_read(c, left, &t));
    if (!set_type(t.type, out) || t.bytes % out->size) return eh_mat_damaged(c, "its values have an unknown type");
    out->count = t.bytes / out->size;
    if (count >= 0 && out->count != count) return eh_mat_damaged(c, "its dimensions do not match its values");
    if (!keep) return eh_mat_skip_data(c, &t, left);
    EH_TRY(eh_new(c->ctx, "values", out->count, (size_t)out->size, &out->data));
    EH_TRY(eh_mat_data(c, &t, out->data, t.bytes, left));
    set_order(c, out);
    return ENHOPE_OK;
}

/* The numbers of row or column positions. */
static enhope_status read_positions(eh_mat_cursor *c, int64_t *left, int64_t count, bool keep, eh_mat_numbers *out)
{
    EH_TRY(read_numbers(c, left, count, keep, out));
    return out->kind == 'f' || out->size > 4 ? eh_mat_damaged(c, "its row or column numbers are wrong") : ENHOPE_OK;
}

static enhope_status read_sparse(eh_mat_cursor *c, int64_t *left, const eh_mat_variable *v, bool keep,
                                 eh_mat_values *out)
{
    /* a row without values takes no byte in the file but takes memory */
    if (v->rank != 2) return eh_mat_damaged(c, "its dimensions are wrong");
    if (v->side[0] > (int64_t)1 << 20 && v->side[0] / 64 > c->s.stored)
        return eh_mat_damaged(c, "it claims more rows than the file can contain");
    EH_TRY(read_positions(c, left, -1, keep, &out->row));
    EH_TRY(read_positions(c, left, v->side[1] + 1, keep, &out->start));
    return read_numbers(c, left, -1, keep, &out->value);
}

static enhope_status read_values(eh_mat_cursor *c, const eh_mat_variable *v, bool keep, eh_mat_values *out)
{
    return v->sparse ? read_sparse(c, &c->matrix, v, keep, out)
                     : read_numbers(c, &c->matrix, v->count, keep, &out->value);
}

double eh_mat_value(const eh_mat_numbers *n, int64_t t)
{
    const void *data = n->data;
    const bool is_signed = n->kind == 'i';
    if (n->kind == 'f') return n->size == 8 ? ((const double *)data)[t] : (double)((const float *)data)[t];
    switch (n->size) {
    case 1: return is_signed ? ((const int8_t *)data)[t] : ((const uint8_t *)data)[t];
    case 2: return is_signed ? ((const int16_t *)data)[t] : ((const uint16_t *)data)[t];
    case 4: return is_signed ? ((const int32_t *)data)[t] : (double)((const uint32_t *)data)[t];
    default: return is_signed ? (double)((const int64_t *)data)[t] : (double)((const uint64_t *)data)[t];
    }
}

void eh_mat_free(eh_mat_values *values)
{
    eh_free(values->value.data);
    eh_free(values->row.data);
    eh_free(values->start.data);
    *values = (eh_mat_values){.value = {.data = NULL}};
}

/* ---- texts ---- */

/* Appends UTF-16 as UTF-8; false if it does not fit. */
static bool put_utf16(const uint16_t *unit, int64_t count, char *to)
{
    size_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t code = unit[i];
        const bool pair = code >> 10 == 0xD800 >> 10 && i + 1 < count && unit[i + 1] >> 10 == 0xDC00 >> 10;
        if (pair) code = 0x10000 + ((code & 0x3FF) << 10) + (unit[++i] & 0x3FFu);
        if (n + 4 > MAX_TEXT) return false;
        n += eh_utf8_put(code, to + n);
    }
    to[n] = '\0';
    return true;
}

/* Reads a row of characters, which is next; *ok is false if it is too long or not text. */
static enhope_status read_characters(eh_mat_cursor *c, int64_t *left, char *to, bool *ok)
{
    union {
        uint16_t wide[MAX_TEXT];
        char text[2 * MAX_TEXT];
    } raw;
    eh_mat_tag t;
    EH_TRY(eh_mat_tag_read(c, left, &t));
    const bool wide = t.type == EH_MAT_UINT16 || t.type == EH_MAT_UTF16;
    const bool narrow = t.type == EH_MAT_UTF8 || t.type == EH_MAT_INT8 || t.type == EH_MAT_UINT8;
    const int64_t count = wide ? t.bytes / 2 : t.bytes;
    *ok = (wide || narrow) && count > 0 && count < MAX_TEXT;
    if (!*ok) return eh_mat_skip_data(c, &t, left);
    EH_TRY(eh_mat_data(c, &t, &raw, sizeof raw, left));
    if (wide) {
        set_order(c, &(eh_mat_numbers){.kind = 'u', .size = 2, .count = count, .data = raw.wide});
        *ok = put_utf16(raw.wide, count, to);
    } else {
        memcpy(to, raw.text, (size_t)count);
        to[count] = '\0';
    }
    *ok = *ok && (int64_t)strlen(to) >= (wide ? 1 : count) && eh_utf8_valid(to, strlen(to));
    return ENHOPE_OK;
}

/* Reads the next matrix of a cell as text. */
static enhope_status read_entry(eh_mat_cursor *c, char *to, bool *ok)
{
    eh_mat_tag t;
    eh_mat_variable v;
    uint32_t class;
    EH_TRY(eh_mat_tag_read(c, &c->matrix, &t));
    if (t.type != EH_MAT_MATRIX || t.small) return eh_mat_damaged(c, "an entry is not a matrix");
    int64_t left = t.bytes;
    c->matrix -= t.bytes;
    *ok = left > 0; /* otherwise an empty entry */
    if (!*ok) return ENHOPE_OK;
    EH_TRY(read_header(c, &left, &v, &class));
    *ok = class == CLASS_CHAR && v.rank == 2 && v.side[0] == 1;
    if (*ok) EH_TRY(read_characters(c, &left, to, ok));
    return eh_mat_skip(c, left, &left);
}

/* ---- the file ---- */

static enhope_status add_variable(enhope_context *ctx, const eh_mat_variable *v, eh_mat_variable **out, int *count,
                                  int *capacity)
{
    if (*count == *capacity) {
        eh_mat_variable *grown = eh_grow(*out, (size_t)*capacity, 2 * (size_t)*capacity, sizeof **out);
        if (!grown) return eh_fail_memory(ctx, "variables", 2 * (size_t)*capacity, sizeof **out);
        *out = grown;
        *capacity *= 2;
    }
    (*out)[(*count)++] = *v;
    return ENHOPE_OK;
}

enhope_status eh_mat_list(enhope_context *ctx, const char *path, eh_mat_variable **out, int *count)
{
    enhope_status status = ENHOPE_OK;
    eh_mat_cursor *c = NULL;
    eh_mat_values none = {.value = {.data = NULL}};
    uint32_t class;
    bool found;
    int capacity = FEW_VARIABLES;
    *count = 0;
    EH_CHECK(eh_mat_open(ctx, path, &c));
    EH_CHECK(eh_new(ctx, "variables", capacity, sizeof **out, (void **)out));
    for (;;) {
        EH_CHECK(eh_mat_next(c, &found));
        if (!found) break;
        if (c->matrix > 0) {
            eh_mat_variable v;
            EH_CHECK(read_header(c, &c->matrix, &v, &class));
            if (v.numeric) EH_CHECK(read_values(c, &v, false, &none));
            if ((v.numeric || v.cell) && *v.name && *count < MAX_VARIABLES)
                EH_CHECK(add_variable(ctx, &v, out, count, &capacity));
        }
        EH_CHECK(eh_mat_finish(c));
    }
cleanup:
    eh_mat_close(c);
    return status;
}

static bool same(const eh_mat_variable *a, const eh_mat_variable *b)
{
    return strcmp(a->name, b->name) == 0 && a->sparse == b->sparse && a->numeric == b->numeric && a->rank == b->rank &&
           memcmp(a->side, b->side, sizeof a->side) == 0;
}

/* Opens the file at the values of a variable. */
static enhope_status open_at(enhope_context *ctx, const char *path, const eh_mat_variable *v, eh_mat_cursor **out)
{
    enhope_status status = ENHOPE_OK;
    eh_mat_cursor *c = NULL;
    eh_mat_variable now = {.count = 0};
    uint32_t class;
    bool found = true;
    EH_TRY(eh_mat_open(ctx, path, &c));
    while (found && c->element < v->element) {
        if (c->element > 0) EH_CHECK(eh_mat_finish(c));
        EH_CHECK(eh_mat_next(c, &found));
    }
    if (found) EH_CHECK(read_header(c, &c->matrix, &now, &class));
    if (!same(&now, v))
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: was changed while it was read; read it again", path));
cleanup:
    if (status) {
        eh_mat_close(c);
        c = NULL;
    }
    *out = c;
    return status;
}

enhope_status eh_mat_read(enhope_context *ctx, const char *path, const eh_mat_variable *v, eh_mat_values *out)
{
    eh_mat_cursor *c = NULL;
    *out = (eh_mat_values){.value = {.data = NULL}};
    if (v->complex)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: variable '%s' is complex: expected real numbers", path, v->name);
    EH_TRY(open_at(ctx, path, v, &c));
    const enhope_status status = read_values(c, v, true, out);
    eh_mat_close(c);
    return status;
}

enhope_status eh_mat_texts(enhope_context *ctx, const char *path, const eh_mat_variable *v, char ***out)
{
    enhope_status status = ENHOPE_OK;
    eh_mat_cursor *c = NULL;
    char **text = NULL, one[MAX_TEXT];
    bool ok = true;
    *out = NULL;
    EH_TRY(open_at(ctx, path, v, &c));
    if (v->count > c->matrix / 8) EH_CHECK(eh_mat_damaged(c, "its dimensions do not match its entries"));
    EH_CHECK(eh_new(ctx, "names", v->count, sizeof *text, (void **)&text));
    for (int64_t i = 0; ok && i < v->count; i++) {
        EH_CHECK(read_entry(c, one, &ok));
        if (ok) EH_CHECK(eh_new_text(ctx, "a name", one, &text[i]));
    }
    if (ok) {
        *out = text;
        text = NULL;
    }
cleanup:
    eh_names_free(text, v->count);
    eh_mat_close(c);
    return status;
}
