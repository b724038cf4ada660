/* Small models with irregular numbers, and files in a temporary folder. */
#ifndef MODEL_FIXTURE_H
#define MODEL_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "memory_support.h"

enum { SEED = 20170819 };

static inline float irregular(uint64_t i)
{
    return (float)eh_random_normal(SEED, 77, i);
}

/* H 3 or 7, so that malformed headers are readable; c = 3 with names that need escaping. */
static inline enhope_model *make_model(enhope_context *ctx, const eh_map *map, bool exemplars, int64_t H, int64_t r)
{
    const bool hope = map == &eh_map_hope;
    eh_map_shape shape = {.H = H, .h = map == &eh_map_identity ? H : 2, .F = hope ? 4 : 0, .m = hope ? 5 : 0};
    if (hope) shape.order = 2;
    if (map == &eh_map_mlp) eh_map_layers_parse("4-3-2", &shape);
    enhope_model *model = NULL;
    assert_int_equal(eh_model_create(ctx, hope ? "en-hope" : "mcml+", map, &shape, r, exemplars, 3, 2, 2, &model), 0);
    const int64_t parameters = eh_map_parameters(map, &shape), width = exemplars ? H : shape.h;
    uint64_t at = 0;
    for (int64_t i = 0; i < parameters; i++) model->theta[i] = irregular(at++);
    for (int64_t i = 0; i < r * width; i++) model->reference[i] = irregular(at++);
    for (int64_t j = 0; j < H; j++) model->shift[j] = 0.25f * irregular(at++);
    for (int64_t j = 0; j < H; j++) model->mul[j] = 0.7f + 0.1f * fabsf(irregular(at++));
    for (int64_t i = 0; i < r; i++) model->reference_label[i] = (int32_t)(i * 3 / r);
    model->gaussian = !hope;
    model->k = r < 3 ? 1 : 3;
    model->votes = !exemplars;
    static const char *const names[] = {"cat", "a \"dog\"\\,\t", "gr\xc3\xbcn"};
    for (int i = 0; i < 3; i++) model->class_name[i] = eh_strdup(names[i]);
    model->input.name = eh_alloc((size_t)H, sizeof *model->input.name);
    for (int64_t j = 0; j < H; j++) {
        char name[32];
        snprintf(name, sizeof name, "in %lld", (long long)j);
        model->input.name[j] = eh_strdup(name);
    }
    model->input.image_rows = 1;
    model->input.image_columns = H;
    model->setting.pair[0] = (eh_pair_text){eh_strdup("n_factors"), eh_strdup("4")};
    model->setting.pair[1] = (eh_pair_text){eh_strdup("learning_rate"), eh_strdup("0.0125")};
    model->history[0] = (enhope_history){1, 2.385, 0.7312345678901234, 0.0625};
    model->history[1] = (enhope_history){2, 4.191, 0.1 + 0.2, NAN};
    model->errors.temperature = hope ? 1 / 0.7 : 1;
    model->errors.valid_n = 61;
    model->errors.valid = 7;
    model->errors.train_n = exemplars ? 540 : 0;
    model->errors.train = exemplars ? 11 : 0;
    model->earlier = hope;
    if (hope) assert_int_equal(enhope_model_set_note(ctx, model, "mine", "a \"note\""), 0);
    return model;
}

/* ---- files ---- */

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/enhope-model-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if a test left a file behind */
}

static inline const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, 128, "%s/%s", folder, name);
    return out;
}

static inline unsigned char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static inline void write_all(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Writes the length of a header, the header of `size` bytes, and data. */
static inline void write_container(const char *path, const char *header, size_t size, const void *data, size_t bytes)
{
    unsigned char *all = malloc(8 + size + bytes);
    for (int i = 0; i < 8; i++) all[i] = (unsigned char)((uint64_t)size >> (8 * i) & 0xFF);
    memcpy(all + 8, header, size);
    if (bytes) memcpy(all + 8 + size, data, bytes);
    write_all(path, all, 8 + size + bytes);
    free(all);
}

/* Asserts that the context's message is "PATH: text". */
static inline void assert_message(const enhope_context *ctx, const char *path, const char *text)
{
    char expected[2048];
    snprintf(expected, sizeof expected, "%s: %s", path, text);
    assert_string_equal(enhope_error(ctx), expected);
}

#endif
