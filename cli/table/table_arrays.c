/* Tables as NumPy arrays: NPY, one array, and NPZ, a ZIP archive of arrays without compression.
 *
 * Texts are arrays of Unicode strings as long as the longest, integers int64, reals float32. An
 * array is
 *
 *   0     8       \x93NUMPY, version 1.0
 *   8     2       L: length of the rest of the header, little-endian
 *   10    L       dictionary: type, order, shape; padded with spaces and a newline to 64 bytes
 *   10+L  rest    the values, row-major */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "table/table.h"

enum { HEADER = 128 };

/* ---- one array ---- */

static char byte_order(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe == 1 ? '<' : '>';
}

typedef struct array {
    const char *name;
    cli_table_type type;
    int64_t rows, parts;            /* parts 0: a vector */
    const cli_table_values *values; /* of all rows */
} array;

static size_t value_size(const array *a)
{
    static const size_t size[] = {[TABLE_INTEGER] = sizeof(int64_t), [TABLE_REAL] = sizeof(float)};
    if (a->type != TABLE_TEXT) return size[a->type];
    return sizeof(uint32_t) * (size_t)(a->values->longest ? a->values->longest : 1);
}

static void make_header(const array *a, char header[HEADER])
{
    static const char kind[] = {[TABLE_TEXT] = 'U', [TABLE_INTEGER] = 'i', [TABLE_REAL] = 'f'};
    char text[HEADER - 10], shape[48];
    const size_t size = value_size(a) / (a->type == TABLE_TEXT ? sizeof(uint32_t) : 1);
    snprintf(shape, sizeof shape, a->parts ? "%lld, %lld" : "%lld,", (long long)a->rows, (long long)a->parts);
    const int length = snprintf(text, sizeof text, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%s), }",
                                byte_order(), kind[a->type], size, shape);
    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - 10);
    header[9] = 0;
    memcpy(header + 10, text, (size_t)length);
    header[HEADER - 1] = '\n';
}

/* Passes the bytes of the values to `put` in pieces. */
typedef void (*put_fn)(const void *bytes, size_t size, void *user);

static void put_values(const array *a, put_fn put, void *user)
{
    const cli_table_values *v = a->values;
    if (a->type != TABLE_TEXT) {
        put(v->bytes, v->used, user);
        return;
    }
    const size_t units = value_size(a) / sizeof(uint32_t);
    for (const char *at = v->bytes, *end = at + v->used; at < end; at++) {
        uint32_t point = 0;
        for (size_t i = 0; i < units; i++) {
            point = *at ? cli_utf8_next(&at) : 0;
            put(&point, sizeof point, user);
        }
    }
}

static void put_file(const void *bytes, size_t size, void *user)
{
    if (size) fwrite(bytes, 1, size, user);
}

static void put_crc(const void *bytes, size_t size, void *user)
{
    uLong *crc = user;
    *crc = crc32_z(*crc, bytes, size);
}

/* ---- collected values ---- */

static void collect(cli_table *t, cli_table_values *v, const void *bytes, size_t size)
{
    if (t->out_of_memory) return;
    if (v->used + size > v->capacity) {
        size_t capacity = v->capacity ? v->capacity : 4096;
        while (capacity < v->used + size) capacity *= 2;
        char *grown = realloc(v->bytes, capacity);
        if (!grown) {
            t->out_of_memory = true;
            return;
        }
        v->bytes = grown;
        v->capacity = capacity;
    }
    memcpy(v->bytes + v->used, bytes, size);
    v->used += size;
}

static void collect_text(cli_table *t, cli_table_values *v, const char *text)
{
    int64_t length = 0;
    for (const char *at = text; *at; length++) (void)cli_utf8_next(&at);
    if (length > v->longest) v->longest = length;
    collect(t, v, text, strlen(text) + 1);
}

static void collect_cell(cli_table *t, const cli_cell *cell)
{
    cli_table_values *v = &t->values[t->column];
    const float real = (float)cell->real;
    switch (t->columns[t->column].type) {
    case TABLE_TEXT: collect_text(t, v, cell->text ? cell->text : ""); break;
    case TABLE_INTEGER: collect(t, v, &cell->integer, sizeof cell->integer); break;
    case TABLE_REAL: collect(t, v, &real, sizeof real); break;
    }
}

static array column_array(const cli_table *t, int i)
{
    const cli_table_column *c = &t->columns[i];
    return (array){.name = c->name, .type = c->type, .rows = t->rows, .parts = c->parts, .values = &t->values[i]};
}

/* ---- NPY: numbers are written at once ---- */

static void npy_begin(cli_table *t)
{
    const array a = column_array(t, 0);
    char header[HEADER];
    if (a.type == TABLE_TEXT) return;
    make_header(&a, header);
    fwrite(header, 1, HEADER, t->output.file);
}

static void npy_cell(cli_table *t, const cli_cell *cell)
{
    const float real = (float)cell->real;
    switch (t->columns[0].type) {
    case TABLE_TEXT: collect_cell(t, cell); break;
    case TABLE_INTEGER: fwrite(&cell->integer, sizeof cell->integer, 1, t->output.file); break;
    case TABLE_REAL: fwrite(&real, sizeof real, 1, t->output.file); break;
    }
}

static int npy_end(cli_table *t)
{
    const array a = column_array(t, 0);
    char header[HEADER];
    if (a.type != TABLE_TEXT || t->out_of_memory) return 0;
    make_header(&a, header);
    fwrite(header, 1, HEADER, t->output.file);
    put_values(&a, put_file, t->output.file);
    return 0;
}

/* ---- NPZ ---- */

typedef struct entry {
    array a;
    uint32_t crc, size, offset;
} entry;

static double entry_size(const array *a)
{
    return HEADER + (double)a->rows * (double)(a->parts ? a->parts : 1) * (double)value_size(a);
}

static void put_number(FILE *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) putc((int)(value >> 8 * i & 0xFF), out);
}

/* The fields that the header of a file and its entry in the directory share. */
static void put_entry(FILE *out, const entry *e)
{
    static const char ending[] = ".npy";
    const uint32_t dos_date = 0x21; /* 1980-01-01, so that equal tables are equal files */
    put_number(out, 20, 2);         /* version of ZIP */
    put_number(out, 0x800, 2);      /* names are UTF-8 */
    put_number(out, 0, 2);          /* not compressed */
    put_number(out, 0, 2);
    put_number(out, dos_date, 2);
    put_number(out, e->crc, 4);
    put_number(out, e->size, 4);
    put_number(out, e->size, 4);
    put_number(out, (uint32_t)(strlen(e->a.name) + sizeof ending - 1), 2);
    put_number(out, 0, 2); /* no extra fields */
}

static uint32_t put_array(FILE *out, entry *e, uint32_t offset)
{
    char header[HEADER];
    make_header(&e->a, header);
    uLong crc = crc32_z(0, (const unsigned char *)header, HEADER);
    put_values(&e->a, put_crc, &crc);
    e->crc = (uint32_t)crc;
    e->size = (uint32_t)entry_size(&e->a);
    e->offset = offset;
    put_number(out, 0x04034b50, 4);
    put_entry(out, e);
    fprintf(out, "%s.npy", e->a.name);
    fwrite(header, 1, HEADER, out);
    put_values(&e->a, put_file, out);
    return offset + 30 + (uint32_t)strlen(e->a.name) + 4 + e->size;
}

static void put_directory(FILE *out, const entry *entries, int count, uint32_t offset)
{
    uint32_t size = 0;
    for (int i = 0; i < count; i++) {
        const entry *e = &entries[i];
        put_number(out, 0x02014b50, 4);
        put_number(out, 20, 2);
        put_entry(out, e);
        put_number(out, 0, 4); /* no comment, first disk */
        put_number(out, 0, 2); /* internal attributes */
        put_number(out, 0, 4); /* external attributes */
        put_number(out, e->offset, 4);
        fprintf(out, "%s.npy", e->a.name);
        size += 46 + (uint32_t)strlen(e->a.name) + 4;
    }
    put_number(out, 0x06054b50, 4);
    put_number(out, 0, 4);
    put_number(out, (uint32_t)count, 2);
    put_number(out, (uint32_t)count, 2);
    put_number(out, size, 4);
    put_number(out, offset, 4);
    put_number(out, 0, 2);
}

/* Lists the arrays: the columns, and the names of the parts of columns. Returns their number. */
static int list_arrays(cli_table *t, entry *entries, cli_table_values *names)
{
    int count = 0;
    for (int i = 0; i < t->count; i++) {
        const cli_table_column *c = &t->columns[i];
        entries[count++] = (entry){.a = column_array(t, i)};
        if (!c->part_array) continue;
        for (int64_t k = 0; k < c->parts; k++) collect_text(t, &names[i], c->part[k]);
        entries[count++] =
            (entry){.a = {.name = c->part_array, .type = TABLE_TEXT, .rows = c->parts, .values = &names[i]}};
    }
    return count;
}

static int npz_end(cli_table *t)
{
    static const double max_bytes = 4e9; /* of an archive without the extension ZIP64 */
    entry *entries = cli_alloc("the archive", t->count, 2, sizeof *entries);
    cli_table_values *names = cli_alloc("the archive", t->count, 1, sizeof *names);
    int code = entries && names ? 0 : CLI_FAILED;
    const int count = code ? 0 : list_arrays(t, entries, names);
    double bytes = 0;
    for (int i = 0; i < count; i++) bytes += entry_size(&entries[i].a);
    if (bytes > max_bytes)
        code = cli_error("%s: the arrays take %.1f GB, and .npz holds at most 4 GB; use .csv or .jsonl", t->output.name,
                         bytes / 1e9);
    if (!code && !t->out_of_memory) {
        uint32_t offset = 0;
        for (int i = 0; i < count; i++) offset = put_array(t->output.file, &entries[i], offset);
        put_directory(t->output.file, entries, count, offset);
    }
    for (int i = 0; names && i < t->count; i++) free(names[i].bytes);
    free(names);
    free(entries);
    return code;
}

const cli_table_format table_npy = {.ending = "npy", .begin = npy_begin, .cell = npy_cell, .end = npy_end};
const cli_table_format table_npz = {.ending = "npz", .cell = collect_cell, .end = npz_end};
