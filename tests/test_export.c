/* Exports: texts and numbers of the files, the wire format of ONNX, refusals, and files that are
 * written completely or not at all. tests/export runs exported models. */
#define _XOPEN_SOURCE 700
#include <locale.h>
#include <sys/stat.h>

#include "model_fixture.h"
#include "model/quantized.h"
#include "predict/export/onnx/onnx_graph.h"

static enhope_context *ctx;

static int open_context(void **state)
{
    ctx = enhope_context_create();
    return ctx ? make_folder(state) : -1;
}

static int close_context(void **state)
{
    enhope_context_free(ctx);
    return remove_folder(state);
}

/* The text that a function of text.c adds. Valid until the next call. */
static const char *text_of(void (*put)(eh_bytes *, const char *), const char *from)
{
    static char text[512];
    eh_bytes b = {.name = "prefix"};
    put(&b, from);
    assert_false(b.failed);
    assert_true(b.size < sizeof text);
    memcpy(text, b.data, b.size);
    text[b.size] = '\0';
    eh_bytes_free(&b);
    return text;
}

static void c_strings_have_no_trigraphs_and_no_ambiguous_escapes(void **state)
{
    (void)state;
    assert_string_equal(text_of(eh_put_c_string, "plain"), "\"plain\"");
    assert_string_equal(text_of(eh_put_c_string, "a\"b\\c\n\x01"
                                                 "7?"
                                                 "?/"),
                        "\"a\\\"b\\\\c\\012\\0017\\?\\?/\"");
    assert_string_equal(text_of(eh_put_c_string, "gr\xc3\xbc"
                                                 "9"),
                        "\"gr\\303\\2749\"");
    assert_string_equal(text_of(eh_put_c_string, "%s @ \x7f"), "\"%s @ \\177\"");
}

static void json_strings_are_ascii_and_safe_in_a_page(void **state)
{
    (void)state;
    assert_string_equal(text_of(eh_put_json_string, "a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    assert_string_equal(text_of(eh_put_json_string, "</script>"), "\"\\u003c/script>\"");
    assert_string_equal(text_of(eh_put_json, "{\"a\\n\": [\"<\302\224\342\200\250\377\177\"]}"),
                        "{\"a\\n\": [\"\\u003c\\u0094\\u2028\\u00ff\\u007f\"]}");
    assert_string_equal(text_of(eh_put_json_string, "\xf0\x9d\x84\x9e\xe2\x80\xa8"), "\"\\ud834\\udd1e\\u2028\"");
    assert_string_equal(text_of(eh_put_json_string, "\xfc"), "\"\\u00fc\""); /* Latin-1 */
}

static void comments_cannot_be_closed(void **state)
{
    (void)state;
    assert_string_equal(text_of(eh_put_comment, "a */ b\\\n?"
                                                "?/ (c=1)"),
                        "a __ b_____ (c=1)");
}

static void at_sign_stands_for_the_name_in_formats_only(void **state)
{
    (void)state;
    eh_bytes b = {.name = "digits"};
    eh_put(&b, "@_%s %d%%@", "a@b", 7);
    assert_int_equal(b.size, strlen("digits_a@b 7%digits"));
    assert_memory_equal(b.data, "digits_a@b 7%digits", b.size);
    eh_bytes_free(&b);
}

static void floats_are_printed_shortest_and_read_back(void **state)
{
    (void)state;
    char text[EH_FLOAT_TEXT];
    eh_float_print(0.1f, text);
    assert_string_equal(text, "0.1");
    eh_float_print(-3, text);
    assert_string_equal(text, "-3");
    const float hard[] = {1 / 255.0f, 3.4028235e38f, 1.1754944e-38f, 1e-45f, 16777217.0f, 0.2f + 0.1f};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        eh_float_print(hard[i], text);
        assert_true(strtof(text, NULL) == hard[i]);
    }
    for (uint64_t i = 0; i < 2000; i++) {
        const float value = ldexpf(irregular(i), (int)(i % 200) - 100);
        eh_float_print(value, text);
        assert_true(strtof(text, NULL) == value);
    }
}

static void base64_pads(void **state)
{
    (void)state;
    static const char *const expected[] = {"", "/w==", "/wA=", "/wB+", "/wB+cQ=="};
    const unsigned char bytes[] = {255, 0, 126, 113};
    for (size_t n = 0; n <= 4; n++) {
        eh_bytes b = {.name = ""};
        eh_put_base64(&b, bytes, n);
        assert_int_equal(b.size, strlen(expected[n]));
        if (b.size) assert_memory_equal(b.data, expected[n], b.size);
        eh_bytes_free(&b);
    }
}

/* ---- the wire format ---- */

typedef struct wire {
    const unsigned char *at, *end;
    uint64_t field, number; /* of the last field: its number; its value, or its length */
    const unsigned char *bytes;
} wire;

static uint64_t varint(wire *w)
{
    uint64_t value = 0;
    int shift = 0;
    do {
        assert_true(w->at < w->end && shift < 64);
        value |= (uint64_t)(*w->at & 127) << shift;
        shift += 7;
    } while (*w->at++ & 128);
    return value;
}

static bool next_field(wire *w)
{
    if (w->at == w->end) return false;
    const uint64_t key = varint(w);
    w->field = key >> 3;
    w->number = varint(w);
    assert_true((key & 7) == 0 || (key & 7) == 2);
    if ((key & 7) == 2) {
        assert_true(w->number <= (uint64_t)(w->end - w->at));
        w->bytes = w->at;
        w->at += w->number;
    }
    return true;
}

static void onnx_file_is_a_model_of_opset_17(void **state)
{
    (void)state;
    eh_graph g = {0};
    eh_bytes out = {.name = ""};
    const eh_value x = eh_graph_input(&g, "input", EH_ONNX_FLOAT, 300);
    g.result = "label";
    eh_graph_2(&g, "Add", x, eh_graph_float(&g, 2.385f));
    eh_graph_output(&g, "label", EH_ONNX_FLOAT, 300);
    eh_graph_write(&g, "tiny", "a doc", &(eh_onnx_text){"key", "value"}, 1, &out);
    eh_graph_free(&g);
    assert_false(out.failed);
    wire w = {.at = (const unsigned char *)out.data, .end = (const unsigned char *)out.data + out.size};
    bool seen[16] = {false};
    while (next_field(&w)) {
        assert_true(w.field < 16);
        seen[w.field] = true;
        if (w.field == 1) assert_int_equal(w.number, 8);
        if (w.field == 2) assert_memory_equal(w.bytes, "enhope", w.number);
        if (w.field == 8) assert_memory_equal(w.bytes, "\x0a\x00\x10\x11", w.number);
        if (w.field != 7) continue;
        wire graph = {.at = w.bytes, .end = w.bytes + w.number};
        int nodes = 0, initializers = 0;
        while (next_field(&graph)) {
            nodes += graph.field == 1;
            initializers += graph.field == 5;
            if (graph.field == 2) assert_memory_equal(graph.bytes, "tiny", 4);
        }
        assert_int_equal(nodes, 1);
        assert_int_equal(initializers, 1);
    }
    assert_true(seen[1] && seen[2] && seen[3] && seen[6] && seen[7] && seen[8] && seen[14]);
    eh_bytes_free(&out);
}

/* ---- files ---- */

static enhope_model *model_of(const eh_map *map, bool exemplars)
{
    return make_model(ctx, map, exemplars, 7, 12);
}

/* A hope model with ranges for int8. */
static enhope_model *int8_model(void)
{
    enhope_model *model = model_of(&eh_map_hope, true);
    assert_int_equal(eh_quantized_create(ctx, &model->shape, false, &model->int8), 0);
    for (int64_t k = 0; k < model->shape.H; k++) {
        model->int8->low[k] = -1.25f - 0.1f * (float)k;
        model->int8->step[k] = 0.0117f + 0.001f * (float)k;
    }
    for (int64_t f = 0; f < model->shape.F; f++) {
        model->int8->power_low[f] = 0.5f * (float)f;
        model->int8->power_step[f] = 0.0385f;
    }
    return model;
}

static void every_map_is_written_in_every_format(void **state)
{
    (void)state;
    static const eh_map *const maps[] = {&eh_map_hope, &eh_map_mlp, &eh_map_linear, &eh_map_identity};
    static const char *const formats[] = {"onnx", "c", "h", "js", "json"};
    for (size_t i = 0; i < 2 * sizeof maps / sizeof *maps; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++) {
            enhope_model *model = model_of(maps[i / 2], i % 2);
            size_t bytes = 0, again = 0;
            assert_int_equal(enhope_model_export_bytes(ctx, model, formats[j], NULL, NULL, 0, &bytes), 0);
            char *text = malloc(bytes);
            assert_int_equal(enhope_model_export_bytes(ctx, model, formats[j], NULL, text, bytes, &again), 0);
            assert_int_equal(bytes, again);
            assert_int_equal(enhope_model_export_bytes(ctx, model, formats[j], NULL, text, bytes - 1, &again),
                             ENHOPE_ERROR_ARGUMENT);
            free(text);
            enhope_model_free(model);
        }
}

static void int8_needs_ranges(void **state)
{
    (void)state;
    static const char *const formats[] = {"onnx", "js", "json", "c"};
    enhope_model *model = int8_model(), *without = model_of(&eh_map_hope, true);
    const enhope_export_options options = {.precision = "int8"};
    for (size_t j = 0; j < sizeof formats / sizeof *formats; j++) {
        size_t bytes = 0;
        assert_int_equal(enhope_model_export_bytes(ctx, model, formats[j], &options, NULL, 0, &bytes), 0);
        assert_true(bytes > 0);
        assert_int_equal(enhope_model_export_bytes(ctx, without, formats[j], &options, NULL, 0, &bytes),
                         ENHOPE_ERROR_ARGUMENT);
        assert_non_null(strstr(enhope_error(ctx), "ranges"));
    }
    enhope_model_free(model);
    enhope_model_free(without);
}

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static void source_includes_the_header_beside_it(void **state)
{
    (void)state;
    enhope_model *model = model_of(&eh_map_hope, true);
    char text[4096], path[128];
    snprintf(path, sizeof path, "%s/my model-2.c", folder);
    assert_int_equal(enhope_model_export(ctx, model, path, &(enhope_export_options){.name = "digits"}), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    assert_non_null(strstr(text, "#include \"my model-2.h\"\n"));
    assert_non_null(strstr(text, "digits_class_name"));
    snprintf(path, sizeof path, "%s/my model-2.h", folder);
    assert_int_equal(unlink(path), 0);
    path[strlen(path) - 1] = 'c';
    assert_int_equal(unlink(path), 0);
    enhope_model_free(model);
}

static void assert_refused(const enhope_model *model, const char *path, const enhope_export_options *options,
                           const char *reason)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    assert_int_not_equal(enhope_model_export(ctx, model, full, options), 0);
    if (!strstr(enhope_error(ctx), reason)) fail_msg("%s", enhope_error(ctx));
    assert_false(exists(full));
}

static void what_cannot_be_exported_is_refused(void **state)
{
    (void)state;
    enhope_model *model = model_of(&eh_map_hope, true);
    static char long_name[5000];
    assert_refused(model, "model.pt", NULL, "no export format 'pt'; use onnx, c, js or json");
    assert_refused(model, "model", NULL, "no export format");
    assert_refused(model, "m.c", &(enhope_export_options){.name = "2a"}, "the name is '2a'");
    assert_refused(model, "m.c", &(enhope_export_options){.name = "a-b"}, "the name is 'a-b'");
    assert_refused(model, "m.c", &(enhope_export_options){.name = ""}, "the name is ''");
    assert_refused(model, "m.c", &(enhope_export_options){.k = 13}, "expected 1 to 12");
    assert_refused(model, "m.c", &(enhope_export_options){.precision = "int4"}, "expected float32 or int8");
    assert_refused(model, "a\"b.c", NULL, "no quote");
    assert_refused(model, "missing/m.onnx", NULL, "missing/m.onnx");
    memset(long_name, 'x', sizeof long_name - 1);
    eh_free(model->class_name[1]);
    model->class_name[1] = eh_strdup(long_name);
    assert_refused(model, "m.c", NULL, "has 4999 bytes");
    enhope_model_free(model);
    model = model_of(&eh_map_linear, true);
    assert_refused(model, "m.c", &(enhope_export_options){.precision = "int8"}, "int8");
    enhope_model_free(model);
}

static void dates_are_refused_by_onnx_only(void **state)
{
    (void)state;
    const double days[] = {19782, 3.25, NAN, 7000};
    const int32_t labels[] = {0, 1, 0, 1};
    enhope_frame *frame = NULL;
    enhope_dataset *data = NULL;
    enhope_model *model = NULL;
    enhope_settings *settings = enhope_settings_create();
    size_t bytes = 0;
    assert_int_equal(enhope_frame_create(ctx, 4, &frame), 0);
    assert_int_equal(enhope_frame_add_dates(ctx, frame, "born", days), 0);
    assert_int_equal(enhope_dataset_from_frame(ctx, frame, NULL, labels, 2, NULL, &data), 0);
    assert_int_equal(enhope_settings_set(ctx, settings, "method", "knn"), 0);
    assert_int_equal(enhope_train(ctx, data, settings, NULL, NULL, &model), 0);
    assert_refused(model, "m.onnx", NULL, "ONNX cannot encode the dates of column 'born'");
    assert_int_equal(
        enhope_model_export_bytes(ctx, model, "onnx", &(enhope_export_options){.encoded = 1}, NULL, 0, &bytes), 0);
    assert_int_equal(enhope_model_export_bytes(ctx, model, "c", NULL, NULL, 0, &bytes), 0);
    assert_int_equal(enhope_model_export_bytes(ctx, model, "js", NULL, NULL, 0, &bytes), 0);
    enhope_settings_free(settings);
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_frame_free(frame);
}

typedef struct exported {
    const enhope_model *model;
    const char *format;
    enhope_export_options options;
} exported;

static enhope_status export_once(void *user)
{
    const exported *e = user;
    size_t bytes = 0;
    return enhope_model_export_bytes(ctx, e->model, e->format, &e->options, NULL, 0, &bytes);
}

static void failed_allocation_is_a_status_and_leaks_nothing(void **state)
{
    (void)state;
    static const char *const formats[] = {"onnx", "c", "h", "js", "json"};
    enhope_model *model = int8_model();
    for (size_t j = 0; j < 2 * sizeof formats / sizeof *formats; j++) {
        exported e = {model, formats[j / 2], {.precision = j % 2 ? "int8" : "float32"}};
        assert_true(fail_allocations(ctx, export_once, &e, 1) > 5);
    }
    enhope_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_strings_have_no_trigraphs_and_no_ambiguous_escapes),
        cmocka_unit_test(json_strings_are_ascii_and_safe_in_a_page),
        cmocka_unit_test(comments_cannot_be_closed),
        cmocka_unit_test(at_sign_stands_for_the_name_in_formats_only),
        cmocka_unit_test(floats_are_printed_shortest_and_read_back),
        cmocka_unit_test(base64_pads),
        cmocka_unit_test(onnx_file_is_a_model_of_opset_17),
        cmocka_unit_test(every_map_is_written_in_every_format),
        cmocka_unit_test(int8_needs_ranges),
        cmocka_unit_test(source_includes_the_header_beside_it),
        cmocka_unit_test(what_cannot_be_exported_is_refused),
        cmocka_unit_test(dates_are_refused_by_onnx_only),
        cmocka_unit_test(failed_allocation_is_a_status_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
