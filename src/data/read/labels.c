/* Conversion of label texts to class numbers: a hash table during reading, sorted classes at the
 * end.
 *
 * An empty label or NaN means "missing". So does -1 if there are two or more classes that are
 * integers from 0; if +1 is the only other class, -1 is a class. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/read.h"

enum { MISSING = -1 };

static uint64_t hash(const char *text, size_t length)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
    return h ^ h >> 32;
}

/* The slot of the text, or the free slot for it. */
static int64_t find_slot(const eh_labels *l, const char *text, size_t length)
{
    const uint64_t mask = (uint64_t)l->slots - 1;
    for (uint64_t at = hash(text, length) & mask;; at = (at + 1) & mask) {
        const int32_t k = l->slot[at];
        if (k == 0) return (int64_t)at;
        const char *name = l->name[k - 1];
        if (strlen(name) == length && memcmp(name, text, length) == 0) return (int64_t)at;
    }
}

static enhope_status grow_slots(enhope_context *ctx, eh_labels *l)
{
    const int64_t slots = l->slots ? 2 * l->slots : 64;
    int32_t *slot = NULL;
    EH_TRY(eh_new(ctx, "the table of classes", slots, sizeof *slot, (void **)&slot));
    eh_free(l->slot);
    l->slot = slot;
    l->slots = slots;
    for (int32_t k = 0; k < l->c; k++) l->slot[find_slot(l, l->name[k], strlen(l->name[k]))] = k + 1;
    return ENHOPE_OK;
}

static enhope_status add_class(enhope_context *ctx, eh_labels *l, const char *text, size_t length, int64_t slot)
{
    if (!eh_utf8_valid(text, length))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "a label is not UTF-8 text: convert the file first");
    if (l->c == l->name_capacity) {
        const int32_t capacity = l->name_capacity ? 2 * l->name_capacity : 16;
        if (l->name_capacity > INT32_MAX / 2)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "more than %d classes", l->name_capacity);
        char **name = eh_grow(l->name, (size_t)l->c, (size_t)capacity, sizeof *name);
        if (!name) return eh_fail_memory(ctx, "class names", (size_t)capacity, sizeof *name);
        l->name = name;
        l->name_capacity = capacity;
    }
    char *name = eh_alloc(length + 1, 1);
    if (!name) return eh_fail_memory(ctx, "a class name", length + 1, 1);
    memcpy(name, text, length);
    l->name[l->c++] = name;
    l->slot[slot] = l->c;
    return ENHOPE_OK;
}

/* Maps +1 and 1.0 to the class 1, because the files of one data set may be written differently.
 * Leading zeros stay: 01 is a code. */
static void plain_number(const char **text, size_t *length)
{
    double value;
    if (eh_number_parse(*text, *length, &value) != EH_NUMBER) return;
    if (**text == '+') ++*text, --*length;
    const char *point = memchr(*text, '.', *length);
    if (!point || point == *text || point[-1] == '-') return;
    for (const char *at = point + 1; at < *text + *length; at++)
        if (*at != '0') return;
    *length = (size_t)(point - *text);
}

enhope_status eh_labels_class(enhope_context *ctx, eh_labels *l, const char *text, size_t length, int32_t *id)
{
    plain_number(&text, &length);
    if (2 * ((int64_t)l->c + 1) > l->slots) EH_TRY(grow_slots(ctx, l));
    const int64_t slot = find_slot(l, text, length);
    if (l->slot[slot] == 0) EH_TRY(add_class(ctx, l, text, length, slot));
    *id = l->slot[slot] - 1;
    return ENHOPE_OK;
}

int32_t eh_labels_find(const eh_labels *l, const char *text, size_t length)
{
    if (length == 0 || l->slots == 0) return -1;
    plain_number(&text, &length);
    return l->slot[find_slot(l, text, length)] - 1;
}

bool eh_labels_missing(const char *text, size_t length)
{
    double value;
    return length == 0 || (length == 3 && (*text | 32) == 'n' && eh_number_parse(text, 3, &value) == EH_NOT_FINITE);
}

enhope_status eh_labels_add(enhope_context *ctx, eh_labels *l, const char *text, size_t length)
{
    plain_number(&text, &length);
    if (l->n == l->capacity) {
        const int64_t capacity = l->capacity ? 2 * l->capacity : 1024;
        int32_t *id = eh_grow(l->id, (size_t)l->n, (size_t)capacity, sizeof *id);
        if (!id) return eh_fail_memory(ctx, "labels", (size_t)capacity, sizeof *id);
        l->id = id;
        l->capacity = capacity;
    }
    if (eh_labels_missing(text, length)) {
        l->id[l->n++] = MISSING;
        return ENHOPE_OK;
    }
    int32_t class;
    EH_TRY(eh_labels_class(ctx, l, text, length, &class));
    l->id[l->n++] = class;
    return ENHOPE_OK;
}

enhope_status eh_labels_add_number(enhope_context *ctx, eh_labels *l, double value)
{
    char text[40];
    if (isnan(value)) return eh_labels_add(ctx, l, "", 0);
    if (!isfinite(value))
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "label %lld is infinite: expected a finite number", (long long)l->n + 1);
    eh_number_print(value, text, sizeof text);
    return eh_labels_add(ctx, l, text, strlen(text));
}

/* ---- the order of classes ---- */

typedef struct class_key {
    const char *name;
    double value;
    int32_t id;
} class_key;

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const class_key *)a)->name, ((const class_key *)b)->name);
}

static int by_value(const void *a, const void *b)
{
    const double x = ((const class_key *)a)->value, y = ((const class_key *)b)->value;
    return x < y ? -1 : x > y ? 1 : by_bytes(a, b);
}

/* The class "-1" if it means "label missing" (with two or more classes that are integers from 0);
 * -1: none. */
static int32_t find_minus_one(char *const *name, int32_t c)
{
    int32_t found = -1;
    for (int32_t k = 0; k < c; k++)
        if (!strcmp(name[k], "-1"))
            found = k;
        else if (!name[k][0] || strspn(name[k], "0123456789") != strlen(name[k]))
            return -1;
    return c < 3 ? -1 : found;
}

/* Removes the class -1 if it means "label missing". */
static void drop_minus_one(enhope_context *ctx, enhope_dataset *data)
{
    const int32_t gone = find_minus_one(data->class_name, data->c), last = data->c - 1;
    int64_t count = 0;
    if (gone < 0) return;
    eh_free(data->class_name[gone]);
    data->class_name[gone] = data->class_name[last];
    data->c--;
    for (int64_t i = 0; i < data->x.n; i++) {
        count += data->label[i] == gone;
        data->label[i] = data->label[i] == gone ? MISSING : data->label[i] == last ? gone : data->label[i];
    }
    eh_log(ctx, ENHOPE_LOG_INFO, "label -1 means unlabeled: %lld sample%s", (long long)count, count == 1 ? "" : "s");
}

enhope_status eh_labels_rank(enhope_context *ctx, char *const *name, int32_t c, int32_t *rank)
{
    class_key *key = NULL;
    EH_TRY(eh_new(ctx, "classes", c, sizeof *key, (void **)&key));
    bool numbers = true;
    for (int32_t k = 0; k < c; k++) {
        key[k] = (class_key){name[k], 0, k};
        numbers = numbers && eh_number_parse(name[k], strlen(name[k]), &key[k].value) == EH_NUMBER;
    }
    qsort(key, (size_t)c, sizeof *key, numbers ? by_value : by_bytes);
    const int32_t gone = find_minus_one(name, c);
    int32_t at = 0;
    for (int32_t k = 0; k < c; k++) rank[key[k].id] = key[k].id == gone ? MISSING : at++;
    eh_free(key);
    return ENHOPE_OK;
}

enhope_status eh_labels_classes(enhope_context *ctx, const eh_labels *l, const char *where, int32_t *rank,
                                enhope_dataset *data)
{
    if (l->c == 0) return ENHOPE_OK;
    EH_TRY(eh_labels_rank(ctx, l->name, l->c, rank));
    EH_TRY(eh_new(ctx, "class names", l->c, sizeof *data->class_name, (void **)&data->class_name));
    for (int32_t k = 0; k < l->c; k++) data->c += rank[k] >= 0;
    for (int32_t k = 0; k < l->c; k++)
        if (rank[k] >= 0) EH_TRY(eh_new_text(ctx, "a class name", l->name[k], &data->class_name[rank[k]]));
    if (data->c < l->c) eh_log(ctx, ENHOPE_LOG_INFO, "%s: label -1 means unlabeled", where);
    return ENHOPE_OK;
}

enhope_status eh_dataset_order_classes(enhope_context *ctx, enhope_dataset *data)
{
    enhope_status status = ENHOPE_OK;
    int32_t *rank = NULL; /* (c) new number of a class */
    char **name = NULL;
    if (!data->label) return ENHOPE_OK;
    if (data->c == 0) { /* no sample is labeled */
        eh_free(data->label);
        data->label = NULL;
        return ENHOPE_OK;
    }
    drop_minus_one(ctx, data);
    EH_CHECK(eh_new(ctx, "classes", data->c, sizeof *rank, (void **)&rank));
    EH_CHECK(eh_new(ctx, "class names", data->c, sizeof *name, (void **)&name));
    EH_CHECK(eh_labels_rank(ctx, data->class_name, data->c, rank));
    for (int32_t k = 0; k < data->c; k++) name[rank[k]] = data->class_name[k];
    for (int64_t i = 0; i < data->x.n; i++) data->label[i] = data->label[i] < 0 ? MISSING : rank[data->label[i]];
    eh_free(data->class_name);
    data->class_name = name;
    name = NULL;
cleanup:
    eh_free(rank);
    eh_free(name);
    return status;
}

enhope_status eh_labels_attach(enhope_context *ctx, eh_labels *l, enhope_dataset *data)
{
    data->label = l->id;
    l->id = NULL;
    l->n = l->capacity = 0;
    eh_labels_move_names(l, data);
    return eh_dataset_order_classes(ctx, data);
}

void eh_labels_move_names(eh_labels *l, enhope_dataset *data)
{
    data->class_name = l->name;
    data->c = l->c;
    l->name = NULL;
    l->c = l->name_capacity = 0;
}

void eh_labels_free(eh_labels *l)
{
    for (int32_t k = 0; k < l->c; k++) eh_free(l->name[k]);
    eh_free(l->name);
    eh_free(l->slot);
    eh_free(l->id);
    *l = (eh_labels){.id = NULL};
}
