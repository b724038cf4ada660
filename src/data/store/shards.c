/* Reading and writing shards.json. The size of an untrusted list is checked before it is parsed. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "data/store/shards.h"

enum {
    MAX_JSON = 1 << 28,  /* bytes */
    MAX_VALUES = 4000000 /* about 300,000 shards, or as many names */
};

const char *const eh_shard_ends[2][EH_ARRAYS] = {
    {[EH_VALUES] = "x.npy", [EH_LABELS] = "y.npy"},
    {[EH_VALUES] = "value.npy", [EH_LABELS] = "y.npy", [EH_STARTS] = "start.npy", [EH_COLUMNS] = "column.npy"}};
static const char *const kinds[] = {[ENHOPE_U8] = "uint8", [ENHOPE_F32] = "float32", [ENHOPE_CSR] = "sparse"};

void eh_shards_free(eh_shards *s)
{
    eh_free(s->source);
    eh_names_free(s->input_name, s->H);
    eh_encoding_free(s->encoding);
    eh_labels_free(&s->labels);
    eh_free(s->shard);
    *s = (eh_shards){.n = 0};
}

enhope_status eh_shards_path(enhope_context *ctx, const char *folder, const char *name, char path[EH_PATH])
{
    if (snprintf(path, EH_PATH, "%s/%s", folder, name) < EH_PATH) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "the path of the folder is longer than %d characters; use a shorter path", EH_PATH);
}

enhope_status eh_shards_append(enhope_context *ctx, eh_shards *s, const eh_shard *shard)
{
    if (s->shards == s->capacity) {
        const int64_t capacity = s->capacity ? 2 * s->capacity : 16;
        eh_shard *grown = eh_grow(s->shard, (size_t)s->shards, (size_t)capacity, sizeof *grown);
        if (!grown) return eh_fail_memory(ctx, "the list of shards", (size_t)capacity, sizeof *grown);
        s->shard = grown;
        s->capacity = capacity;
    }
    s->shard[s->shards++] = *shard;
    return ENHOPE_OK;
}

/* ---- writing ---- */

static void put_text(FILE *out, const char *text)
{
    if (!text) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(out, "\\u%04x", *at);
        else
            putc(*at, out);
    }
    putc('"', out);
}

static void put_names(FILE *out, const char *key, char *const *name, int64_t count)
{
    fprintf(out, ",\n  \"%s\": ", key);
    for (int64_t i = 0; i < count; i++) {
        fputs(i ? ", " : "[", out);
        put_text(out, name[i]);
    }
    fputs(count ? "]" : "null", out);
}

static void put_shard(FILE *out, const eh_shard *shard)
{
    bool first = true;
    fprintf(out, "{\"rows\": %lld, \"stored\": %lld, \"files\": [", (long long)shard->rows, (long long)shard->stored);
    for (int i = 0; i < EH_ARRAYS; i++) {
        if (!*shard->file[i].name) continue;
        fprintf(out, "%s{\"name\": \"%s\", \"bytes\": %lld, \"crc32\": \"%08lx\"}", first ? "" : ", ",
                shard->file[i].name, (long long)shard->file[i].bytes, (unsigned long)shard->file[i].crc);
        first = false;
    }
    fputs("]}", out);
}

/* columns: the encoding as JSON, or NULL. */
static void put_shards(FILE *out, const eh_shards *s, const char *columns)
{
    const bool encoded = s->encoding && !eh_encoding_is_identity(s->encoding);
    fprintf(out, "{\n  \"format\": \"" EH_SHARDS_FORMAT "\",\n  \"version\": %d,\n  \"source\": ",
            encoded ? EH_SHARDS_ENCODED : EH_SHARDS_VERSION);
    put_text(out, s->source);
    fprintf(out,
            ",\n  \"samples\": %lld,\n  \"inputs\": %lld,\n  \"kind\": \"%s\",\n  \"stored\": %lld,\n  \"image\": ",
            (long long)s->n, (long long)s->H, kinds[s->kind], (long long)s->stored);
    if (s->image_rows > 0)
        fprintf(out, "[%lld, %lld]", (long long)s->image_rows, (long long)s->image_columns);
    else
        fputs("null", out);
    put_names(out, "labels", s->labels.name, s->labels.c);
    put_names(out, "input_names", s->input_name, s->input_name ? s->H : 0);
    if (columns) fprintf(out, ",\n  \"columns\": %s", columns);
    fputs(",\n  \"shards\": [", out);
    for (int64_t i = 0; i < s->shards; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        put_shard(out, &s->shard[i]);
    }
    fputs("\n  ]\n}\n", out);
}

enhope_status eh_shards_save(enhope_context *ctx, const eh_shards *s, const char *folder, const char *name)
{
    enhope_status status = ENHOPE_OK;
    char path[EH_PATH], *text = NULL, *columns = NULL;
    size_t length = 0;
    eh_atomic_file file;
    struct stat old;
    EH_TRY(eh_shards_path(ctx, folder, name, path));
    if (lstat(path, &old) == 0 && !S_ISREG(old.st_mode))
        return eh_fail(ctx, ENHOPE_ERROR_IO, "%s: is not a regular file; remove it or convert to another folder", path);
    if (s->encoding) EH_TRY(eh_encoding_print(ctx, s->encoding, &columns));
    FILE *out = open_memstream(&text, &length);
    if (!out) EH_CHECK(eh_fail_memory(ctx, "the list of shards", (size_t)s->shards, sizeof *s->shard));
    put_shards(out, s, columns);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        EH_CHECK(eh_fail_memory(ctx, "the list of shards", (size_t)s->shards, sizeof *s->shard));
    EH_CHECK(eh_atomic_open(ctx, path, &file));
    EH_CHECK(eh_atomic_write(ctx, path, &file, text, length));
    EH_CHECK(eh_atomic_commit(ctx, path, &file));
cleanup:
    free(text);
    eh_free(columns);
    return status;
}

/* ---- reading ---- */

static enhope_status read_text(enhope_context *ctx, const char *path, char **text, size_t *length)
{
    enhope_status status = ENHOPE_OK;
    eh_stream s = {.name = NULL};
    EH_TRY(eh_stream_check(ctx, path));
    EH_TRY(eh_stream_open(ctx, path, &s));
    if (s.left < 0 || s.left > MAX_JSON)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_FORMAT,
                         "%s: is not a list of shards: expected plain JSON of at most %d bytes", path, MAX_JSON));
    EH_CHECK(eh_new(ctx, "the list of shards", s.left + 1, 1, (void **)text));
    EH_CHECK(eh_stream_read(ctx, &s, *text, (size_t)s.left, length));
cleanup:
    eh_stream_close(&s);
    return status;
}

static bool parse_size(const cJSON *object, const char *key, int64_t *out)
{
    return eh_json_size(cJSON_GetObjectItemCaseSensitive(object, key), out);
}

static enhope_status fail_json(enhope_context *ctx, const char *path, const char *what)
{
    return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is damaged: %s", path, what);
}

/* Frees the first item of a list and returns the next: a list of millions of names takes more
 * memory than the names. */
static cJSON *next_item(cJSON *list)
{
    cJSON_Delete(cJSON_DetachItemViaPointer(list, list->child));
    return list->child;
}

static enhope_status parse_labels(enhope_context *ctx, const char *path, cJSON *list, eh_labels *labels)
{
    if (!list || cJSON_IsNull(list)) return ENHOPE_OK;
    if (!cJSON_IsArray(list)) return fail_json(ctx, path, "'labels' is not a list");
    for (const cJSON *item = list->child; item; item = next_item(list)) {
        int32_t id;
        const int32_t before = labels->c;
        if (!cJSON_IsString(item) || !*item->valuestring) return fail_json(ctx, path, "a label is not text");
        EH_TRY(eh_labels_class(ctx, labels, item->valuestring, strlen(item->valuestring), &id));
        if (labels->c == before) return fail_json(ctx, path, "a label appears twice");
    }
    return ENHOPE_OK;
}

static enhope_status parse_input_names(enhope_context *ctx, const char *path, cJSON *list, eh_shards *s)
{
    int64_t j = 0;
    if (!list || cJSON_IsNull(list)) return ENHOPE_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != s->H)
        return fail_json(ctx, path, "'input_names' is not a list with one name per input");
    EH_TRY(eh_new(ctx, "input names", s->H, sizeof *s->input_name, (void **)&s->input_name));
    for (const cJSON *item = list->child; item; item = next_item(list)) {
        if (!cJSON_IsString(item)) return fail_json(ctx, path, "the name of an input is not text");
        EH_TRY(eh_new_text(ctx, "an input's name", item->valuestring, &s->input_name[j++]));
    }
    return ENHOPE_OK;
}

static enhope_status parse_columns(enhope_context *ctx, const char *path, const cJSON *columns, eh_shards *s)
{
    if (!columns || cJSON_IsNull(columns)) return ENHOPE_OK;
    char *text = cJSON_PrintUnformatted(columns);
    if (!text) return eh_fail_memory(ctx, "columns", 1, 1);
    const enhope_status status = eh_encoding_parse(ctx, text, "'columns'", &s->encoding);
    cJSON_free(text);
    if (status) return eh_fail_in(ctx, status == ENHOPE_ERROR_MODEL ? ENHOPE_ERROR_FORMAT : status, "%s", path);
    if (s->encoding->H != s->H) return fail_json(ctx, path, "'columns' does not match the number of inputs");
    return ENHOPE_OK;
}

/* The array (EH_VALUES ...) that a file name belongs to; -1: not the name of a file of a shard. */
static int array_of_name(const char *name, enhope_kind kind)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits < 1 || name[digits] != '.' || strlen(name) >= EH_SHARD_NAME) return -1;
    for (int i = 0; i < EH_ARRAYS; i++) {
        const char *end = eh_shard_ends[kind == ENHOPE_CSR][i];
        if (end && strcmp(name + digits + 1, end) == 0) return i;
    }
    return -1;
}

static bool parse_file(const cJSON *item, enhope_kind kind, eh_shard *shard)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
    const cJSON *crc = cJSON_GetObjectItemCaseSensitive(item, "crc32");
    unsigned long sum;
    int used = 0;
    if (!cJSON_IsString(name) || !cJSON_IsString(crc) || strspn(crc->valuestring, "0123456789abcdef") != 8 ||
        sscanf(crc->valuestring, "%8lx%n", &sum, &used) != 1 || crc->valuestring[used])
        return false;
    const int at = array_of_name(name->valuestring, kind);
    if (at < 0 || *shard->file[at].name || !parse_size(item, "bytes", &shard->file[at].bytes)) return false;
    strcpy(shard->file[at].name, name->valuestring);
    shard->file[at].crc = (uint32_t)sum;
    return true;
}

static enhope_status parse_shards(enhope_context *ctx, const char *path, const cJSON *list, eh_shards *s)
{
    const cJSON *item, *file;
    int64_t rows = 0, stored = 0;
    if (!cJSON_IsArray(list)) return fail_json(ctx, path, "'shards' is not a list");
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *files = cJSON_GetObjectItemCaseSensitive(item, "files");
        eh_shard shard = {.rows = 0};
        bool valid = parse_size(item, "rows", &shard.rows) && parse_size(item, "stored", &shard.stored) &&
                     cJSON_IsArray(files) && shard.rows > 0;
        if (valid) cJSON_ArrayForEach(file, files) valid = valid && parse_file(file, s->kind, &shard);
        valid = valid && (s->kind == ENHOPE_CSR ? *shard.file[EH_STARTS].name : *shard.file[EH_VALUES].name) &&
                !__builtin_add_overflow(rows, shard.rows, &rows) &&
                !__builtin_add_overflow(stored, shard.stored, &stored);
        if (!valid) {
            char what[96];
            snprintf(what, sizeof what, "shard %lld is invalid", (long long)s->shards + 1);
            return fail_json(ctx, path, what);
        }
        EH_TRY(eh_shards_append(ctx, s, &shard));
    }
    if (rows != s->n || stored != s->stored) return fail_json(ctx, path, "the samples of its shards do not add up");
    return ENHOPE_OK;
}

static enhope_status parse_image(enhope_context *ctx, const char *path, const cJSON *list, eh_shards *s)
{
    if (!list || cJSON_IsNull(list)) return ENHOPE_OK;
    int64_t pixels;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 2 ||
        !eh_json_size(cJSON_GetArrayItem(list, 0), &s->image_rows) ||
        !eh_json_size(cJSON_GetArrayItem(list, 1), &s->image_columns) || s->image_rows < 1 ||
        !eh_mul(s->image_rows, s->image_columns, &pixels) || pixels != s->H)
        return fail_json(ctx, path, "'image' does not match the number of inputs");
    return ENHOPE_OK;
}

static enhope_status parse_all(enhope_context *ctx, const char *path, cJSON *all, eh_shards *s)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(all, "format");
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(all, "kind");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(all, "source");
    int64_t version, values;
    int k = 0;
    if (!cJSON_IsString(format) || strcmp(format->valuestring, EH_SHARDS_FORMAT) != 0)
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: is not a list of shards: expected \"format\": \"%s\"", path,
                       EH_SHARDS_FORMAT);
    if (!parse_size(all, "version", &version) || (version != EH_SHARDS_VERSION && version != EH_SHARDS_ENCODED))
        return eh_fail(ctx, ENHOPE_ERROR_FORMAT, "%s: unknown version of the list: expected %d or %d", path,
                       EH_SHARDS_VERSION, EH_SHARDS_ENCODED);
    while (k < 3 && !(cJSON_IsString(kind) && strcmp(kind->valuestring, kinds[k]) == 0)) k++;
    if (k == 3) return fail_json(ctx, path, "the kind is not uint8, float32 or sparse");
    s->kind = (enhope_kind)k;
    if (!parse_size(all, "samples", &s->n) || !parse_size(all, "inputs", &s->H) ||
        !parse_size(all, "stored", &s->stored) || s->H > INT32_MAX || !eh_mul(s->n, s->H, &values) ||
        !eh_mul(values, sizeof(float), &values))
        return fail_json(ctx, path, "its sizes are impossible");
    if (cJSON_IsString(source)) EH_TRY(eh_new_text(ctx, "a text", source->valuestring, &s->source));
    EH_TRY(parse_image(ctx, path, cJSON_GetObjectItemCaseSensitive(all, "image"), s));
    EH_TRY(parse_labels(ctx, path, cJSON_GetObjectItemCaseSensitive(all, "labels"), &s->labels));
    EH_TRY(parse_input_names(ctx, path, cJSON_GetObjectItemCaseSensitive(all, "input_names"), s));
    EH_TRY(parse_columns(ctx, path, cJSON_GetObjectItemCaseSensitive(all, "columns"), s));
    return parse_shards(ctx, path, cJSON_GetObjectItemCaseSensitive(all, "shards"), s);
}

enhope_status eh_shards_load(enhope_context *ctx, const char *folder, const char *name, eh_shards *out)
{
    enhope_status status = ENHOPE_OK;
    char path[EH_PATH], *text = NULL;
    size_t length = 0;
    cJSON *all = NULL;
    eh_shards s = {.n = 0};
    EH_TRY(eh_shards_path(ctx, folder, name, path));
    EH_CHECK(read_text(ctx, path, &text, &length));
    status = eh_json_parse(ctx, ENHOPE_ERROR_FORMAT, "the list", text, length, MAX_VALUES, &all);
    eh_free(text);
    text = NULL;
    if (status) EH_CHECK(eh_fail_in(ctx, status, "%s: is damaged", path));
    if (!cJSON_IsObject(all)) EH_CHECK(fail_json(ctx, path, "it is not a JSON object"));
    EH_CHECK(parse_all(ctx, path, all, &s));
    *out = s;
    s = (eh_shards){.n = 0};
cleanup:
    eh_shards_free(&s);
    cJSON_Delete(all);
    eh_free(text);
    return status;
}
