/* Reads and writes the safetensors container (safetensors.h has the layout).
 *
 * Reading trusts no value of the file. The length of the header is checked against the file
 * before memory is allocated for it. The position of each tensor is checked before its data can
 * be read. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "model/model.h"
#include "model/safetensors.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are moved between file and memory as they are");

enum {
    PREFIX = 8,             /* bytes of the header's length */
    ALIGN = 8,              /* tensors start at a multiple of it */
    MAX_HEADER = 100000000, /* bytes; a limit of the format */
    MAX_VALUES = 1000000    /* JSON values in the header */
};

static const struct {
    const char *name;
    int bytes;
} dtypes[] = {{"F32", 4},  {"I32", 4}, {"BOOL", 1}, {"U8", 1},      {"I8", 1},      {"U16", 2}, {"I16", 2}, {"F16", 2},
              {"BF16", 2}, {"U32", 4}, {"F64", 8},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U64", 8}, {"I64", 8}};

/* 0: unknown type. */
static int dtype_bytes(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(dtypes[i].name, name)) return dtypes[i].bytes;
    return 0;
}

/* ---- reading ---- */

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static enhope_status bad_tensor(enhope_context *ctx, const char *name, const char *what)
{
    char quote[EH_QUOTE];
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor '%s' %s", eh_json_quote(name, quote), what);
}

/* Reads one member of the header. data: bytes after the header. */
static enhope_status read_entry(enhope_context *ctx, const cJSON *entry, int64_t data, eh_st_tensor *out)
{
    const char *name = entry->string;
    eh_st_tensor t = {.name = name};
    const cJSON *dtype = member(entry, "dtype"), *shape = member(entry, "shape");
    const cJSON *range = member(entry, "data_offsets");
    if (!cJSON_IsString(dtype) || !cJSON_IsArray(shape) || !cJSON_IsArray(range) || cJSON_GetArraySize(entry) != 3)
        return bad_tensor(ctx, name, "is not described by dtype, shape and data_offsets");
    t.dtype = dtype->valuestring;
    const int64_t item_bytes = dtype_bytes(t.dtype);
    if (!item_bytes) return bad_tensor(ctx, name, "has an unknown dtype");
    int64_t bytes = item_bytes;
    for (const cJSON *extent = shape->child; extent; extent = extent->next, t.rank++) {
        int64_t size;
        if (!eh_json_size(extent, &size))
            return bad_tensor(ctx, name, "has a shape with a value that is not a whole number >= 0");
        if (!eh_mul(bytes, size, &bytes)) return bad_tensor(ctx, name, "has a shape whose product overflows");
        if (t.rank < 2) t.shape[t.rank] = size;
    }
    const cJSON *begin = range->child;
    if (cJSON_GetArraySize(range) != 2 || !eh_json_size(begin, &t.begin) || !eh_json_size(begin->next, &t.end) ||
        t.begin > t.end)
        return bad_tensor(ctx, name, "has data_offsets that are not two ascending whole numbers >= 0");
    if (t.end > data) return bad_tensor(ctx, name, "reaches beyond the end of the file");
    if (t.end - t.begin != bytes)
        return bad_tensor(ctx, name, "has data_offsets that do not match its shape and dtype");
    *out = t;
    return ENHOPE_OK;
}

static int compare_offsets(const void *a, const void *b)
{
    const eh_st_tensor *s = a, *t = b;
    if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
    return s->end < t->end ? -1 : s->end > t->end;
}

static enhope_status read_metadata(enhope_context *ctx, eh_safetensors *st)
{
    const cJSON *metadata = member(st->header, "__metadata__");
    if (!metadata) return ENHOPE_OK;
    if (!cJSON_IsObject(metadata)) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "__metadata__ is not a JSON object");
    char quote[EH_QUOTE];
    for (const cJSON *item = metadata->child; item; item = item->next)
        if (!cJSON_IsString(item))
            return eh_fail(ctx, ENHOPE_ERROR_MODEL, "__metadata__ '%s' is not a string",
                           eh_json_quote(item->string, quote));
    EH_TRY(eh_json_distinct(ctx, ENHOPE_ERROR_MODEL, "__metadata__", metadata));
    st->metadata = metadata;
    return ENHOPE_OK;
}

static enhope_status read_entries(enhope_context *ctx, eh_safetensors *st, int64_t data)
{
    int64_t members = 0;
    for (const cJSON *entry = st->header->child; entry; entry = entry->next) members++;
    EH_TRY(eh_json_distinct(ctx, ENHOPE_ERROR_MODEL, "the header", st->header));
    EH_TRY(read_metadata(ctx, st));
    EH_TRY(eh_new(ctx, "the list of tensors", members, sizeof *st->tensor, (void **)&st->tensor));
    for (const cJSON *entry = st->header->child; entry; entry = entry->next)
        if (entry != st->metadata) EH_TRY(read_entry(ctx, entry, data, &st->tensor[st->tensors++]));
    qsort(st->tensor, (size_t)st->tensors, sizeof *st->tensor, compare_offsets);
    int64_t at = 0;
    for (int64_t i = 0; i < st->tensors; i++) {
        const eh_st_tensor *t = &st->tensor[i];
        if (t->begin < at) return bad_tensor(ctx, t->name, "overlaps another tensor");
        if (t->begin > at) return bad_tensor(ctx, t->name, "leaves a gap before it");
        at = t->end;
    }
    if (at < data) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%lld bytes after the last tensor", (long long)(data - at));
    return ENHOPE_OK;
}

/* Fails at the end of the file too, because the size of the file was checked before. */
static enhope_status read_bytes(enhope_context *ctx, FILE *file, void *to, size_t bytes)
{
    if (eh_fread(to, bytes, file) == bytes) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot read: %s", errno ? strerror(errno) : "the file ended early");
}

static enhope_status read_header(enhope_context *ctx, eh_safetensors *st, int64_t file_bytes)
{
    if (file_bytes < PREFIX)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "not a model: %lld bytes, a safetensors file begins with 8",
                       (long long)file_bytes);
    unsigned char prefix[PREFIX];
    EH_TRY(read_bytes(ctx, st->file, prefix, PREFIX));
    uint64_t length = 0;
    for (int i = PREFIX - 1; i >= 0; i--) length = length << 8 | prefix[i];
    if (length == 0 || length > MAX_HEADER)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "not a model: header length %llu, expected 1 to %d",
                       (unsigned long long)length, MAX_HEADER);
    if ((int64_t)length > file_bytes - PREFIX)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "header length %llu reaches beyond the end of the file (%lld bytes)",
                       (unsigned long long)length, (long long)file_bytes);
    char *text = NULL;
    EH_TRY(eh_new(ctx, "the header", (int64_t)length, 1, (void **)&text));
    enhope_status status = read_bytes(ctx, st->file, text, (size_t)length);
    if (!status && text[0] != '{')
        status = eh_fail(ctx, ENHOPE_ERROR_MODEL, "not a model: the header is not a JSON object");
    if (!status)
        status = eh_json_parse(ctx, ENHOPE_ERROR_MODEL, "the header", text, (size_t)length, MAX_VALUES, &st->header);
    eh_free(text);
    EH_TRY(status);
    st->start = PREFIX + (int64_t)length;
    return read_entries(ctx, st, file_bytes - st->start);
}

enhope_status eh_safetensors_open(enhope_context *ctx, const char *path, eh_safetensors *st)
{
    *st = (eh_safetensors){0};
    struct stat about;
    if (stat(path, &about) != 0) return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot open: %s", strerror(errno));
    if (!S_ISREG(about.st_mode)) return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot open: not a regular file");
    st->file = fopen(path, "rbe");
    if (!st->file) return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot open: %s", strerror(errno));
    const enhope_status status = read_header(ctx, st, (int64_t)about.st_size);
    if (status) eh_safetensors_close(st);
    return status;
}

enhope_status eh_safetensors_open_bytes(enhope_context *ctx, const void *bytes, size_t size, eh_safetensors *st)
{
    *st = (eh_safetensors){0};
    if (!size) return read_header(ctx, st, 0);
    st->file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    if (!st->file) return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot open: %s", strerror(errno));
    const enhope_status status = read_header(ctx, st, (int64_t)size);
    if (status) eh_safetensors_close(st);
    return status;
}

void eh_safetensors_close(eh_safetensors *st)
{
    if (st->file) fclose(st->file);
    cJSON_Delete(st->header);
    eh_free(st->tensor);
    *st = (eh_safetensors){0};
}

const char *eh_safetensors_text(const eh_safetensors *st, const char *key)
{
    const cJSON *item = st->metadata ? member(st->metadata, key) : NULL;
    return item ? item->valuestring : NULL;
}

const eh_st_tensor *eh_safetensors_find(const eh_safetensors *st, const char *name)
{
    for (int64_t i = 0; i < st->tensors; i++)
        if (!strcmp(st->tensor[i].name, name)) return &st->tensor[i];
    return NULL;
}

enhope_status eh_safetensors_read(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *tensor, void *to)
{
    if (fseeko(st->file, (off_t)(st->start + tensor->begin), SEEK_SET) != 0)
        return eh_fail(ctx, ENHOPE_ERROR_IO, "cannot read: %s", strerror(errno));
    return read_bytes(ctx, st->file, to, (size_t)(tensor->end - tensor->begin));
}

enhope_status eh_safetensors_expect(enhope_context *ctx, const eh_safetensors *st, const eh_st_tensor *want,
                                    const eh_st_tensor **out)
{
    const eh_st_tensor *found = eh_safetensors_find(st, want->name);
    if (!found) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s is missing", want->name);
    if (strcmp(found->dtype, want->dtype))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s is %s: expected %s", want->name, found->dtype, want->dtype);
    if (found->rank != want->rank)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has %lld dimensions: expected %lld", want->name,
                       (long long)found->rank, (long long)want->rank);
    for (int64_t i = 0; i < want->rank; i++)
        if (found->shape[i] != want->shape[i])
            return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has %lld in dimension %lld: expected %lld", want->name,
                           (long long)found->shape[i], (long long)i + 1, (long long)want->shape[i]);
    if (found->end == found->begin) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s is empty", want->name);
    *out = found;
    return ENHOPE_OK;
}

/* ---- writing ---- */

static int64_t tensor_bytes(const eh_st_tensor *t)
{
    int64_t bytes = dtype_bytes(t->dtype);
    for (int64_t i = 0; i < t->rank; i++) bytes *= t->shape[i];
    return bytes;
}

/* Adds an array of sizes to object. Sizes are exact as doubles. */
static bool add_sizes(cJSON *object, const char *name, const int64_t *value, int64_t count)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (int64_t i = 0; i < count && array; i++) {
        cJSON *number = cJSON_CreateNumber((double)value[i]);
        if (!number || !cJSON_AddItemToArray(array, number)) {
            cJSON_Delete(number);
            return false;
        }
    }
    return array != NULL;
}

static bool add_entry(cJSON *header, const eh_st_tensor *t, int64_t begin, int64_t end)
{
    cJSON *entry = cJSON_AddObjectToObject(header, t->name);
    const int64_t range[2] = {begin, end};
    return entry && cJSON_AddStringToObject(entry, "dtype", t->dtype) && add_sizes(entry, "shape", t->shape, t->rank) &&
           add_sizes(entry, "data_offsets", range, 2);
}

/* The header as text, allocated by cJSON; NULL: out of memory. */
static char *print_header(const cJSON *metadata, const eh_st_tensor *tensor, int64_t tensors)
{
    cJSON *header = cJSON_CreateObject();
    bool made = header && cJSON_AddItemReferenceToObject(header, "__metadata__", (cJSON *)(uintptr_t)metadata);
    int64_t at = 0;
    for (int64_t i = 0; i < tensors && made; i++) {
        const int64_t end = at + tensor_bytes(&tensor[i]);
        made = add_entry(header, &tensor[i], at, end);
        at = end;
    }
    char *text = made ? cJSON_PrintUnformatted(header) : NULL;
    cJSON_Delete(header);
    return text;
}

/* The bytes before the tensors. name: of the file, for messages. */
typedef struct file_start {
    unsigned char prefix[PREFIX];
    char *text; /* the header without padding; free with cJSON_free */
    size_t used, padding;
} file_start;

static enhope_status print_start(enhope_context *ctx, const char *name, const cJSON *metadata,
                                 const eh_st_tensor *tensor, int64_t tensors, file_start *out)
{
    char *text = print_header(metadata, tensor, tensors);
    if (!text) return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "%s: out of memory: the header", name);
    const size_t used = strlen(text), padding = (ALIGN - used % ALIGN) % ALIGN;
    const uint64_t length = used + padding;
    if (length > MAX_HEADER) {
        cJSON_free(text);
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%s: not written: its header would be %llu bytes, the format allows %d",
                       name, (unsigned long long)length, MAX_HEADER);
    }
    *out = (file_start){.text = text, .used = used, .padding = padding};
    for (int i = 0; i < PREFIX; i++) out->prefix[i] = (unsigned char)(length >> (8 * i) & 0xFF);
    return ENHOPE_OK;
}

static const char spaces[ALIGN + 1] = "        ";

enhope_status eh_safetensors_write(enhope_context *ctx, const char *path, const cJSON *metadata,
                                   const eh_st_tensor *tensor, int64_t tensors)
{
    file_start first;
    EH_TRY(print_start(ctx, path, metadata, tensor, tensors, &first));
    eh_atomic_file file;
    enhope_status status;
    EH_CHECK(eh_atomic_open(ctx, path, &file));
    EH_CHECK(eh_atomic_write(ctx, path, &file, first.prefix, PREFIX));
    EH_CHECK(eh_atomic_write(ctx, path, &file, first.text, first.used));
    EH_CHECK(eh_atomic_write(ctx, path, &file, spaces, first.padding));
    for (int64_t i = 0; i < tensors; i++)
        EH_CHECK(eh_atomic_write(ctx, path, &file, tensor[i].data, (size_t)tensor_bytes(&tensor[i])));
    EH_CHECK(eh_atomic_commit(ctx, path, &file));
cleanup:
    cJSON_free(first.text);
    return status;
}

static char *put(char *at, const void *from, size_t bytes)
{
    memcpy(at, from, bytes);
    return at + bytes;
}

enhope_status eh_safetensors_write_bytes(enhope_context *ctx, const cJSON *metadata, const eh_st_tensor *tensor,
                                         int64_t tensors, void *to, size_t capacity, size_t *bytes)
{
    file_start first;
    EH_TRY(print_start(ctx, "the model's bytes", metadata, tensor, tensors, &first));
    size_t all = PREFIX + first.used + first.padding;
    for (int64_t i = 0; i < tensors; i++) all += (size_t)tensor_bytes(&tensor[i]);
    enhope_status status = ENHOPE_OK;
    if (to && capacity < all)
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the buffer has %zu bytes, the model needs %zu", capacity, all);
    if (to && !status) {
        char *at = put(to, first.prefix, PREFIX);
        at = put(at, first.text, first.used);
        at = put(at, spaces, first.padding);
        for (int64_t i = 0; i < tensors; i++) at = put(at, tensor[i].data, (size_t)tensor_bytes(&tensor[i]));
    }
    if (!status) *bytes = all;
    cJSON_free(first.text);
    return status;
}
