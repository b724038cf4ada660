/* Folders of shards. Sizes and checksums in shards.json are made right.
 *
 * Input: a byte of choices; the files in the order of `names`, each with two bytes of its size
 * before it. */
#include <zlib.h>

#include "fuzz.h"

static const char *const names[] = {"shards.json",      "00000.x.npy",     "00000.y.npy", "00000.start.npy",
                                    "00000.column.npy", "00000.value.npy", "00001.x.npy", "00001.y.npy"};
enum { FILES = sizeof names / sizeof *names };

/* Writes the number after "key": behind `at`. Spaces fill what is left. */
static void set_value(char *at, const char *key, const char *value)
{
    char *found = strstr(at, key), *file = strstr(at + 1, "\"name\"");
    if (!found || (file && found > file)) return;
    for (found += strlen(key); *found && !strchr(",}\"", *found); found++) *found = *value ? *value++ : ' ';
}

static void correct_sums(char *json, const fuzz_input *file)
{
    char name[64], text[32];
    for (int i = 1; i < FILES; i++) {
        snprintf(name, sizeof name, "\"%s\"", names[i]);
        char *at = strstr(json, name);
        if (!at) continue;
        const uLong crc = file[i].left ? crc32(0, file[i].at, (uInt)file[i].left) : 0;
        snprintf(text, sizeof text, "%08lx", crc);
        set_value(at, "\"crc32\": \"", text);
        snprintf(text, sizeof text, "%zu", file[i].left);
        set_value(at, "\"bytes\": ", text);
    }
}

FUZZ_TARGET(shards)
{
    const int choice = fuzz_byte(in);
    fuzz_input file[FILES];
    fuzz_make_folder("shards");
    for (int i = 0; i < FILES; i++) file[i] = fuzz_section(in);
    char *json = fuzz_alloc(file[0].left + 1), path[64];
    if (file[0].left) memcpy(json, file[0].at, file[0].left);
    json[file[0].left] = '\0';
    if (choice & 1) correct_sums(json, file);
    fuzz_file(choice & 2 ? "shards/shards.partial.json" : "shards/shards.json", json, file[0].left);
    for (int i = 1; i < FILES; i++) {
        snprintf(path, sizeof path, "shards/%s", names[i]);
        if (file[i].left) fuzz_file(path, file[i].at, file[i].left);
    }
    const enhope_source source = {.path = fuzz_path("shards"), .label = choice & 4 ? "none" : NULL};
    fuzz_read_all(&source, choice >> 4);
    int64_t files = -1;
    if (fuzz_good(enhope_shards_check(fuzz_ctx, source.path, NULL, NULL, &files))) FUZZ_MUST(files > 0);
    if (choice & 2) { /* a conversion that resumes */
        const enhope_source blobs = {.path = "synthetic:blobs,n=7,classes=2,inputs=3,seed=1"};
        (void)fuzz_good(enhope_convert(fuzz_ctx, &blobs, source.path, 2, 0, NULL, NULL));
    }
    fuzz_remove("shards");
}
