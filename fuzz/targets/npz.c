/* NPZ files: archives that are made here of members from the input, or the input itself.
 *
 * Input: a byte of choices; a line with the names of variables; then the archive, or members: a
 * byte with the number of a name and the method, two bytes of the size, the content. */
#include <zlib.h>

#include "fuzz.h"

typedef struct archive {
    uint8_t *bytes, *directory;
    size_t used, directory_used;
    unsigned members;
} archive;

static void put(uint8_t *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static size_t deflated(const fuzz_input *content, uint8_t *to, size_t capacity)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)content->at, .avail_in = (uInt)content->left, .next_out = to};
    z.avail_out = (uInt)capacity;
    if (deflateInit2(&z, 1, Z_DEFLATED, -9, 1, Z_DEFAULT_STRATEGY) || deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
    deflateEnd(&z);
    return z.total_out;
}

static void add_member(archive *a, const char *name, const fuzz_input *content, bool deflate, bool streamed)
{
    uint8_t *local = a->bytes + a->used, *entry = a->directory + a->directory_used, *data = local + 30 + strlen(name);
    const size_t length = strlen(name);
    const uLong crc = content->left ? crc32(0, content->at, (uInt)content->left) : 0;
    size_t packed = content->left;
    if (deflate)
        packed = deflated(content, data, content->left + content->left / 8 + 64);
    else if (packed)
        memcpy(data, content->at, packed);
    memset(local, 0, 30);
    memset(entry, 0, 46);
    memcpy(local, "PK\3\4", 4);
    memcpy(entry, "PK\1\2", 4);
    memcpy(local + 30, name, length);
    memcpy(entry + 46, name, length);
    put(local + 8, deflate ? 8 : 0, 2), put(entry + 10, deflate ? 8 : 0, 2);
    if (!streamed) put(local + 14, crc, 4), put(local + 18, packed, 4), put(local + 22, content->left, 4);
    put(entry + 16, crc, 4), put(entry + 20, packed, 4), put(entry + 24, content->left, 4);
    put(local + 26, length, 2), put(entry + 28, length, 2);
    put(entry + 42, a->used, 4);
    a->used += 30 + length + packed;
    a->directory_used += 46 + length;
    a->members++;
}

static const char *make_archive(fuzz_input *in)
{
    static const char *const names[] = {"X.npy",      "y.npy",      "X_train.npy", "y_train.npy",
                                        "X_test.npy", "y_test.npy", "arr_0.npy",   "x\xff.npy"};
    enum { MEMBERS = 8, NAME = 16 };
    archive a = {.bytes = fuzz_alloc(2 * in->left + MEMBERS * 256), .directory = fuzz_alloc(MEMBERS * (46 + NAME))};
    while (in->left > 0 && a.members < MEMBERS) {
        const int choice = fuzz_byte(in);
        const fuzz_input content = fuzz_section(in);
        add_member(&a, names[choice & 7], &content, choice & 8, choice & 16);
    }
    uint8_t *file = fuzz_alloc(a.used + a.directory_used + 22), *end = file + a.used + a.directory_used;
    memcpy(file, a.bytes, a.used);
    memcpy(file + a.used, a.directory, a.directory_used);
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    put(end + 8, a.members, 2), put(end + 10, a.members, 2);
    put(end + 12, a.directory_used, 4), put(end + 16, a.used, 4);
    return fuzz_file("a.npz", file, (size_t)(end + 22 - file));
}

FUZZ_TARGET(npz)
{
    const int choice = fuzz_byte(in);
    const char *variables = fuzz_line(in);
    const enhope_source source = {.path = choice & 1 ? fuzz_file("a.npz", in->at, in->left) : make_archive(in),
                                  .variables = *variables ? variables : NULL,
                                  .part = choice & 2 ? "test" : NULL,
                                  .label = choice & 4 ? "none" : NULL};
    fuzz_read_all(&source, choice >> 4);
}
