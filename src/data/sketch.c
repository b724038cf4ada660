/* Sketches of rows, and their comparison with other rows. */
#include "data/sketch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hashes of rows ---- */

static uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Adds a value that is not 0. */
static uint64_t stir_value(uint64_t h, int64_t column, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return stir(h, (uint64_t)column << 32 | bits);
}

/* Makes all bits depend on all others (the last steps of SplitMix64). */
static uint64_t finish(uint64_t h)
{
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

static uint64_t hash_row(const eh_matrix *x, int64_t i, uint64_t h)
{
    const int64_t H = x->H;
    switch (x->kind) {
    case ENHOPE_U8:
        for (int64_t j = 0; j < H; j++)
            if (x->u8[i * H + j]) h = stir_value(h, j, x->u8[i * H + j]);
        break;
    case ENHOPE_F32:
        for (int64_t j = 0; j < H; j++)
            if (x->f32[i * H + j] != 0) h = stir_value(h, j, x->f32[i * H + j]);
        break;
    case ENHOPE_CSR:
        for (int64_t t = x->row_start[i]; t < x->row_start[i + 1]; t++)
            if (x->value[t] != 0) h = stir_value(h, x->column[t], x->value[t]);
        break;
    }
    return finish(h);
}

/* name (c): hashes of the names of classes. */
static enhope_status hash_names(enhope_context *ctx, const enhope_dataset *data, uint64_t **name)
{
    EH_TRY(eh_new(ctx, "hashes", data->c, sizeof **name, (void **)name));
    for (int32_t k = 0; k < data->c; k++) {
        char *text = eh_utf8_copy(data->class_name[k]); /* as in a model file */
        if (!text) return eh_fail_memory(ctx, "a class name", strlen(data->class_name[k]) + 1, 1);
        for (const char *at = text; *at; at++) (*name)[k] = stir((*name)[k], (unsigned char)*at);
        eh_free(text);
    }
    return ENHOPE_OK;
}

/* ---- the sketch ---- */

/* The largest hash that the sketch can answer for. */
static uint64_t limit(const eh_sketch *s)
{
    return s->count == EH_SKETCH_ROWS ? s->hash[s->count - 1] : UINT64_MAX;
}

/* The first entry that is not below the hash. */
static int32_t find(const eh_sketch *s, uint64_t hash)
{
    int32_t low = 0, high = s->count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (s->hash[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool contains(const eh_sketch *s, uint64_t hash, int32_t *at)
{
    *at = find(s, hash);
    return *at < s->count && s->hash[*at] == hash;
}

/* The largest entry is dropped if there is no place. */
static void insert(eh_sketch *s, int32_t at, uint64_t hash, uint32_t times)
{
    if (s->count < EH_SKETCH_ROWS) s->count++;
    const size_t moved = (size_t)(s->count - 1 - at);
    memmove(s->hash + at + 1, s->hash + at, moved * sizeof *s->hash);
    memmove(s->times + at + 1, s->times + at, moved * sizeof *s->times);
    s->hash[at] = hash;
    s->times[at] = times;
}

enhope_status eh_sketch_add(enhope_context *ctx, const enhope_dataset *data, eh_sketch *s)
{
    uint64_t *name = NULL;
    const enhope_status status = hash_names(ctx, data, &name);
    for (int64_t i = 0; !status && data->label && i < data->x.n; i++) {
        if (data->label[i] < 0) continue;
        const uint64_t hash = hash_row(&data->x, i, name[data->label[i]]);
        int32_t at;
        if (hash > limit(s)) continue;
        if (!contains(s, hash, &at))
            insert(s, at, hash, 1);
        else if (s->times[at] < UINT32_MAX)
            s->times[at]++;
    }
    eh_free(name);
    return status;
}

void eh_sketch_merge(eh_sketch *s, const eh_sketch *other)
{
    const uint64_t own = limit(s), theirs = limit(other), both = own < theirs ? own : theirs;
    while (s->count && s->hash[s->count - 1] > both) s->count--;
    for (int32_t i = 0; i < other->count && other->hash[i] <= both; i++) {
        int32_t at;
        if (contains(s, other->hash[i], &at)) {
            if (other->times[i] > s->times[at]) s->times[at] = other->times[i];
        } else if (at < EH_SKETCH_ROWS) {
            insert(s, at, other->hash[i], other->times[i]);
        }
    }
}

/* ---- comparison ---- */

/* Whether a share of `found` in `n` rows is clearly above that of `repeated` in `rows`: by five
 * percentage points, and by three standard errors if the shares were equal. */
static bool clearly_above(double found, double n, double repeated, double rows)
{
    const double margin = 0.05, errors = 3, min_found = 2; /* one equal row may be a coincidence */
    const double difference = found / n - repeated / rows, mean = (found + repeated) / (n + rows);
    return found >= min_found && difference > margin &&
           difference > errors * sqrt(mean * (1 - mean) * (1 / n + 1 / rows));
}

enhope_status eh_sketch_compare(enhope_context *ctx, const eh_sketch *s, const enhope_dataset *data,
                                enhope_overlap *out)
{
    uint64_t *name = NULL;
    double rows = 0, repeated = 0;
    enhope_overlap o = {.share = NAN, .expected = NAN};
    const enhope_status status = hash_names(ctx, data, &name);
    for (int64_t i = 0; !status && data->label && i < data->x.n; i++) {
        if (data->label[i] < 0) continue;
        const uint64_t hash = hash_row(&data->x, i, name[data->label[i]]);
        int32_t at;
        if (hash > limit(s)) continue;
        o.sampled++;
        o.found += contains(s, hash, &at);
    }
    eh_free(name);
    if (status) return status;
    for (int32_t i = 0; i < s->count; i++) {
        rows += s->times[i];
        if (s->times[i] > 1) repeated += s->times[i];
    }
    if (rows > 0) o.expected = repeated / rows;
    if (o.sampled) o.share = (double)o.found / (double)o.sampled;
    if (rows > 0 && o.sampled) o.trained = clearly_above((double)o.found, (double)o.sampled, repeated, rows);
    *out = o;
    return ENHOPE_OK;
}

/* ---- text ---- */

void eh_sketch_print(const eh_sketch *s, char text[EH_SKETCH_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < s->count; i++) {
        used += (size_t)snprintf(text + used, EH_SKETCH_TEXT - used, "%s%016" PRIx64, i ? " " : "", s->hash[i]);
        if (s->times[i] > 1) used += (size_t)snprintf(text + used, EH_SKETCH_TEXT - used, "*%" PRIu32, s->times[i]);
    }
}

bool eh_sketch_parse(const char *text, eh_sketch *out)
{
    enum { DIGITS = 16, MAX_TIMES_DIGITS = 9 };
    eh_sketch s = {0};
    for (const char *at = text; *at || s.count;) {
        if (s.count == EH_SKETCH_ROWS || strspn(at, "0123456789abcdef") != DIGITS) return false;
        const uint64_t hash = strtoull(at, NULL, 16);
        if (s.count && hash <= s.hash[s.count - 1]) return false;
        at += DIGITS;
        s.hash[s.count] = hash;
        s.times[s.count] = 1;
        if (*at == '*') {
            const size_t digits = strspn(++at, "0123456789");
            if (digits < 1 || digits > MAX_TIMES_DIGITS || *at == '0') return false;
            s.times[s.count] = (uint32_t)strtoul(at, NULL, 10);
            at += digits;
        }
        s.count++;
        if (!*at) break;
        if (*at++ != ' ') return false;
    }
    *out = s;
    return true;
}
