/* Exports of a model with hostile texts and numbers: JSON that parses, source text without control
 * characters, and ONNX whose fields lie in each other.
 *
 * Input: a byte of choices; a model, as for the target model. */
#include <cjson/cJSON.h>

#include "fuzz.h"

/* Whether bytes are fields of Protocol Buffers. */
static bool is_message(const uint8_t *at, size_t left)
{
    while (left > 0) {
        uint64_t value[2] = {0, 0}; /* the tag, and a number or a length */
        for (int i = 0; i < 2; i++) {
            const int type = (int)(value[0] & 7);
            if (i == 1 && type != 0 && type != 2) break;
            for (int shift = 0, more = 1; more; shift += 7) {
                if (left == 0 || shift > 63) return false;
                more = *at >> 7;
                value[i] |= (uint64_t)(*at++ & 127) << shift;
                left--;
            }
        }
        const int type = (int)(value[0] & 7);
        if (type == 1 || type == 5) value[1] = type == 1 ? 8 : 4;
        if ((type != 0 && type != 1 && type != 2 && type != 5) || value[0] >> 3 == 0) return false;
        if (type == 0) continue;
        if (value[1] > left) return false;
        at += value[1];
        left -= value[1];
    }
    return true;
}

static void check_export(const char *format, const char *text, size_t size)
{
    if (!strcmp(format, "onnx")) {
        FUZZ_MUST(is_message((const uint8_t *)text, size));
        return;
    }
    FUZZ_MUST(strlen(text) == size && fuzz_clean(text));
    if (!strcmp(format, "json")) {
        cJSON *json = cJSON_ParseWithLength(text, size);
        FUZZ_MUST(json && cJSON_IsObject(json));
        cJSON_Delete(json);
    }
}

static void export_as(const enhope_model *model, const char *format, const enhope_export_options *options)
{
    enum { MAX_TEXT = 4 << 20 };
    size_t size = 0, again = 0;
    if (!fuzz_good(enhope_model_export_bytes(fuzz_ctx, model, format, options, NULL, 0, &size))) return;
    FUZZ_MUST(size > 0);
    if (size > MAX_TEXT) return;
    char *text = fuzz_alloc(size + 1);
    text[size] = '\0';
    fuzz_succeed(enhope_model_export_bytes(fuzz_ctx, model, format, options, text, size, &again));
    FUZZ_MUST(again == size);
    check_export(format, text, size);
}

FUZZ_TARGET(export)
{
    static const char *const formats[] = {"json", "c", "h", "js", "onnx"};
    enum { MAX_NUMBERS = 1 << 17 };
    const int choice = fuzz_byte(in);
    size_t size;
    const uint8_t *file = fuzz_safetensors(in, &size);
    enhope_model *model = NULL;
    if (!fuzz_good(enhope_model_load_bytes(fuzz_ctx, file, size, &model))) return;
    const enhope_export_options options = {.precision = choice & 1   ? "float32"
                                                        : choice & 2 ? "int8"
                                                                     : NULL,
                                           .name = choice & 4 ? "a_name" : NULL,
                                           .encoded = choice >> 3 & 1};
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    const bool large = info.parameters > MAX_NUMBERS || info.references > MAX_NUMBERS / info.outputs ||
                       info.inputs > MAX_NUMBERS; /* of codes: a text of its numbers is larger still */
    for (size_t i = 0; !large && i < sizeof formats / sizeof *formats; i++) export_as(model, formats[i], &options);
    enhope_model_free(model);
}
