/* Model files: a saved model is loaded bit for bit, equal models give byte-identical files, and
 * invalid files are refused with a message. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "model_fixture.h"

static void assert_same_text(const char *a, const char *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(a, b);
}

static void assert_same_model(const enhope_model *a, const enhope_model *b)
{
    const size_t H = (size_t)a->shape.H, r = (size_t)a->r;
    assert_same_text(a->method, b->method);
    assert_ptr_equal(a->map, b->map);
    assert_int_equal(a->shape.H, b->shape.H);
    assert_int_equal(a->shape.h, b->shape.h);
    assert_int_equal(a->shape.F, b->shape.F);
    assert_int_equal(a->shape.m, b->shape.m);
    assert_int_equal(a->shape.order, b->shape.order);
    assert_int_equal(a->shape.layers, b->shape.layers);
    assert_int_equal(a->shape.relu, b->shape.relu);
    assert_int_equal(a->gaussian, b->gaussian);
    assert_int_equal(a->dof, b->dof);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->r, b->r);
    assert_int_equal(a->exemplars, b->exemplars);
    assert_int_equal(a->c, b->c);
    assert_int_equal(a->input.image_rows, b->input.image_rows);
    assert_int_equal(a->input.image_columns, b->input.image_columns);
    assert_int_equal(a->setting.count, b->setting.count);
    assert_int_equal(a->epochs, b->epochs);
    assert_int_equal(a->earlier, b->earlier);
    assert_int_equal(a->note.count, b->note.count);
    for (int32_t i = 0; i < a->note.count; i++) {
        assert_same_text(a->note.pair[i].name, b->note.pair[i].name);
        assert_same_text(a->note.pair[i].value, b->note.pair[i].value);
    }
    assert_memory_equal(&a->errors.temperature, &b->errors.temperature, sizeof a->errors.temperature);
    assert_int_equal(a->errors.valid_n, b->errors.valid_n);
    assert_int_equal(a->errors.valid, b->errors.valid);
    assert_int_equal(a->errors.train_n, b->errors.train_n);
    assert_int_equal(a->errors.train, b->errors.train);
    const size_t parameters = (size_t)eh_map_parameters(a->map, &a->shape);
    if (parameters) assert_memory_equal(a->theta, b->theta, parameters * sizeof(float));
    assert_memory_equal(a->shift, b->shift, H * sizeof(float));
    assert_memory_equal(a->mul, b->mul, H * sizeof(float));
    assert_memory_equal(a->reference, b->reference, r * (size_t)eh_model_reference_width(a) * sizeof(float));
    assert_memory_equal(a->reference_label, b->reference_label, r * sizeof(int32_t));
    for (int32_t k = 0; k < a->c; k++) assert_same_text(a->class_name[k], b->class_name[k]);
    assert_int_equal(!a->input.name, !b->input.name);
    for (size_t j = 0; a->input.name && j < H; j++) assert_same_text(a->input.name[j], b->input.name[j]);
    for (int32_t i = 0; i < a->setting.count; i++) {
        assert_same_text(a->setting.pair[i].name, b->setting.pair[i].name);
        assert_same_text(a->setting.pair[i].value, b->setting.pair[i].value);
    }
    for (int64_t i = 0; i < a->epochs; i++) {
        assert_int_equal(a->history[i].epoch, b->history[i].epoch);
        assert_memory_equal(&a->history[i].loss, &b->history[i].loss, sizeof(double));
        assert_int_equal(isnan(a->history[i].valid_error), isnan(b->history[i].valid_error));
        if (!isnan(a->history[i].valid_error))
            assert_memory_equal(&a->history[i].valid_error, &b->history[i].valid_error, sizeof(double));
        assert_true(isnan(b->history[i].seconds));
    }
}

static void a_saved_model_is_loaded_bit_for_bit(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const eh_map *const maps[] = {&eh_map_hope, &eh_map_linear, &eh_map_identity, &eh_map_mlp, &eh_map_mlp};
    const char *path = in_folder("m.safetensors"), *again = in_folder("again.safetensors");
    for (int i = 0; i < 10; i++) {
        enhope_model *model = make_model(ctx, maps[i / 2], i % 2, 7, 5), *loaded = NULL;
        model->shape.relu = i >= 8;
        if (i == 1) model->dof = 5, model->shape.order = 13;
        if (i == 3) { /* names of inputs and image sizes are optional */
            for (int64_t j = 0; j < 7; j++) eh_free(model->input.name[j]);
            eh_free(model->input.name);
            model->input.name = NULL;
            model->input.image_rows = model->input.image_columns = 0;
        }
        assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
        assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_OK);
        assert_same_model(model, loaded);
        assert_int_equal(enhope_model_save(ctx, loaded, again), ENHOPE_OK);
        size_t size, size_again;
        unsigned char *bytes = read_all(path, &size), *bytes_again = read_all(again, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, size);
        assert_int_equal((8 + bytes[0] + (bytes[1] << 8)) % 8, 0); /* tensors are aligned */
        free(bytes);
        free(bytes_again);
        enhope_model_free(model);
        enhope_model_free(loaded);
    }
    unlink(path);
    unlink(again);
    enhope_context_free(ctx);
}

/* One degree of freedom is not written, because files of earlier versions lack the key. */
static void only_a_dof_other_than_one_is_written(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("m.safetensors");
    static const struct {
        int dof;
        bool gaussian;
        const char *stored; /* in the file */
    } cases[] = {{1, false, NULL}, {5, false, "\"dof\":\"5\""}, {5, true, NULL}};
    for (int i = 0; i < 3; i++) {
        enhope_model *model = make_model(ctx, &eh_map_hope, true, 3, 4), *loaded = NULL;
        model->dof = cases[i].dof;
        model->gaussian = cases[i].gaussian;
        assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
        size_t size;
        unsigned char *bytes = read_all(path, &size);
        bytes[size] = 0;
        const char *stored = strstr((char *)bytes + 8, "\"dof\"");
        assert_int_equal(!stored, !cases[i].stored);
        if (stored) assert_memory_equal(stored, cases[i].stored, strlen(cases[i].stored));
        assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_OK);
        assert_int_equal(loaded->dof, stored ? cases[i].dof : 1);
        free(bytes);
        enhope_model_free(model);
        enhope_model_free(loaded);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void a_model_describes_itself(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make_model(ctx, &eh_map_hope, true, 3, 4);
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    assert_string_equal(info.method, "en-hope");
    assert_string_equal(info.map, "hope");
    assert_int_equal(info.inputs, 3);
    assert_int_equal(info.outputs, 2);
    assert_int_equal(info.factors, 4);
    assert_int_equal(info.hidden, 5);
    assert_int_equal(info.order, 2);
    assert_int_equal(info.parameters, 4 * 4 + 4 * 5 + 5 + 2 * 5);
    assert_int_equal(info.references, 4);
    assert_int_equal(info.references_are_exemplars, 1);
    assert_int_equal(info.classes, 3);
    assert_int_equal(info.neighbours, 3);
    assert_int_equal(info.epochs, 2);
    assert_float_equal(info.temperature, 1 / 0.7, 0);
    assert_true(info.valid_n == 61 && info.valid_errors == 7 && info.train_n == 540 && info.train_errors == 11);
    assert_string_equal(enhope_model_class_name(model, 2), "gr\xc3\xbcn");
    assert_null(enhope_model_class_name(model, 3));
    assert_null(enhope_model_class_name(model, -1));
    assert_string_equal(enhope_model_setting(model, "learning_rate"), "0.0125");
    assert_null(enhope_model_setting(model, "speed"));
    int64_t rows = 0;
    assert_int_equal(enhope_model_history(model, &rows)[1].epoch, 2);
    assert_int_equal(rows, 2);
    enhope_model_free(model);
    enhope_model_free(NULL);
    enhope_context_free(ctx);
}

/* ---- a valid file with one change ---- */

typedef struct image {
    char header[4096];
    unsigned char data[1024];
    size_t data_size;
} image;

static image sound_file(enhope_context *ctx, bool exemplars)
{
    image out = {0};
    enhope_model *model = make_model(ctx, &eh_map_hope, exemplars, 3, 4);
    const char *path = in_folder("sound");
    assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
    size_t size;
    unsigned char *bytes = read_all(path, &size);
    const size_t length = (size_t)bytes[0] + ((size_t)bytes[1] << 8);
    assert_true(length < sizeof out.header);
    memcpy(out.header, bytes + 8, length);
    out.data_size = size - 8 - length;
    assert_true(out.data_size <= sizeof out.data);
    memcpy(out.data, bytes + 8 + length, out.data_size);
    free(bytes);
    unlink(path);
    enhope_model_free(model);
    return out;
}

static void replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at) fail_msg("'%s' is not in the header", from);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static void a_header_that_is_not_a_model_is_refused_with_a_message(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"format\":", "\"form\":", "metadata 'format' is missing"},
        {"\"format\":\"enhope\"", "\"format\":\"pt\"", "metadata 'format' is 'pt': expected 'enhope'"},
        {"\"format_version\"", "\"version\"", "metadata 'format_version' is missing"},
        {"\"format_version\":\"1\"", "\"format_version\":\"5\"",
         "metadata 'format_version' is '5': this enhope reads versions 1 to 4"},
        {"\"enhope_version\"", "\"x\"", "metadata 'enhope_version' is missing"},
        {"\"method\"", "\"x\"", "metadata 'method' is missing"},
        {"\"map\"", "\"x\"", "metadata 'map' is missing"},
        {"\"map\":\"hope\"", "\"map\":\"tree\"",
         "metadata 'map' is 'tree': not a map of this version; use a newer enhope"},
        {"\"map\":\"hope\"", "\"map\":\"linear\"", "tensor map.A is missing"},
        {"\"map\":\"hope\"", "\"map\":\"identity\"", "the identity map has 3 inputs and 2 outputs: expected the same"},
        {"\"inputs\"", "\"x\"", "metadata 'inputs' is missing"},
        {"\"inputs\":\"3\"", "\"inputs\":\"0\"",
         "metadata 'inputs' is '0': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"-3\"",
         "metadata 'inputs' is '-3': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"3 \"",
         "metadata 'inputs' is '3 ': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"99999999999999999999999999\"",
         "metadata 'inputs' is '99999999999999999999999999': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"4\"", "tensor scale.shift has 3 in dimension 1: expected 4"},
        {"\"outputs\":\"2\"", "\"outputs\":\"1000000000000\"",
         "tensor map.V has 2 in dimension 1: expected 1000000000000"},
        {"\"outputs\":\"2\"", "\"outputs\":\"\"",
         "metadata 'outputs' is '': expected a whole number from 1 to 1099511627776"},
        {"\"factors\":\"4\"", "\"factors\":\"0\"",
         "metadata 'factors' is '0': expected a whole number from 1 to 1099511627776"},
        {"\"hidden\":\"5\"", "\"hidden\":\"6\"", "tensor map.W has 5 in dimension 2: expected 6"},
        {"\"order\":\"2\"", "\"order\":\"0\"", "metadata 'order' is '0': expected a whole number from 1 to 1000"},
        {"\"order\":\"2\"", "\"order\":\"2.5\"", "metadata 'order' is '2.5': expected a whole number from 1 to 1000"},
        {"\"student\"", "\"cauchy\"", "metadata 'similarity' is 'cauchy': expected student or gaussian"},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"0\"",
         "metadata 'temperature' is '0': expected a number from 1e-06 to 1e+06"},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"nan\"",
         "metadata 'temperature' is 'nan': expected a number from 1e-06 to 1e+06"},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"warm\"",
         "metadata 'temperature' is 'warm': expected a number from 1e-06 to 1e+06"},
        {"\"7/61\"", "\"62/61\"", "metadata 'valid_errors' is '62/61': expected ERRORS/SAMPLES"},
        {"\"7/61\"", "\"0/0\"", "metadata 'valid_errors' is '0/0': expected ERRORS/SAMPLES"},
        {"\"11/540\"", "\"11\"", "metadata 'train_errors' is '11': expected ERRORS/SAMPLES"},
        {"\"11/540\"", "\"11/540 \"", "metadata 'train_errors' is '11/540 ': expected ERRORS/SAMPLES"},
        {"\"neighbours\":\"3\"", "\"neighbours\":\"0\"",
         "metadata 'neighbours' is '0': expected a whole number from 1 to 4"},
        {"\"neighbours\":\"3\"", "\"neighbours\":\"5\"",
         "metadata 'neighbours' is '5': expected a whole number from 1 to 4"},
        {"\"image\":\"1x3\"", "\"image\":\"2x3\"", "metadata 'image' is '2x3': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"1x\"", "metadata 'image' is '1x': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"3\"", "metadata 'image' is '3': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"classes\"", "\"x\"", "metadata 'classes' is missing"},
        {"[\\\"cat\\\"", "{\\\"cat\\\"", "metadata 'classes' is not valid JSON"},
        {"[\\\"cat\\\"", "[7", "metadata 'classes' is not an array of strings"},
        {"\"classes\":\"", "\"classes\":\"{}\",\"x\":\"", "metadata 'classes' is not an array of strings"},
        {"\"classes\":\"", "\"classes\":\"[]\",\"x\":\"", "metadata 'classes' has no class"},
        {"\"classes\":\"", "\"classes\":\"[\\\"a\\\",\\\"b\\\",\\\"a\\\"]\",\"x\":\"",
         "metadata 'classes' contains 'a' twice"},
        {"\"classes\":\"", "\"classes\":\"[\\\"a\\\",\\\"b\\\"]\",\"x\":\"",
         "tensor exemplar_labels has label 2 (element 3): expected 0 to 1"},
        {"\"classes\":\"", "\"classes\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\",\"x\":\"",
         "metadata 'classes' is nested deeper than 32 levels"},
        {"[\\\"in 0\\\"", "[\\\"a\\\",\\\"in 0\\\"", "metadata 'input_names' has 4 names: expected 3"},
        {"[\\\"in 0\\\"", "[1,2,3,4,5,6,7", "metadata 'input_names' has more than 5 values"},
        {"[\\\"in 0\\\"", "[null", "metadata 'input_names' is not an array of strings"},
        {"\"settings\"", "\"x\"", "metadata 'settings' is missing"},
        {"\\\"0.0125\\\"", "0.0125", "metadata 'settings' is not an object of strings"},
        {"\\\"learning_rate\\\"", "\\\"n_factors\\\"", "metadata 'settings' contains 'n_factors' twice"},
        {"\\\"learning_rate\\\"", "\\\"factors\\\"", "metadata 'settings' contains 'n_factors' under two names"},
        {"\"history\"", "\"x\"", "metadata 'history' is missing"},
        {"[[1,", "[[\\\"1\\\",", "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"[[1,", "[[1,1,", "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"[[1,", "[[-1,", "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"[[1,", "[[],[1,", "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"earlier_epochs\":\"1\"", "\"earlier_epochs\":\"3\"",
         "metadata 'earlier_epochs' is '3': expected a whole number from 0 to 2"},
        {"\"{\\\"mine\\\"", "\"[\\\"mine\\\"", "metadata 'notes' is not valid JSON"},
        {"\\\"mine\\\":", "\\\"mine\\\":1,\\\"x\\\":", "metadata 'notes' is not an object of strings"},
        {"\\\"mine\\\":", "\\\"mine\\\":\\\"\\\",\\\"mine\\\":", "metadata 'notes' contains 'mine' twice"},
        {"\"map.C\":{", "\"map.D\":{", "tensor map.C is missing"},
        {"\"map.C\":{\"dtype\":\"F32\"", "\"map.C\":{\"dtype\":\"I32\"", "tensor map.C is I32: expected F32"},
        {"\"shape\":[4,4]", "\"shape\":[16]", "tensor map.C has 1 dimensions: expected 2"},
        {"\"shape\":[4,4]", "\"shape\":[2,8]", "tensor map.C has 2 in dimension 1: expected 4"},
        {"\"shape\":[4,4]", "\"shape\":[4,2,2]", "tensor map.C has 3 dimensions: expected 2"},
        {"\"scale.mul\"", "\"scale.x\"", "tensor scale.mul is missing"},
        {"\"exemplars\":{", "\"examples\":{", "tensors exemplars and points are both missing"},
        {"\"exemplars\":{", "\"exemplars\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]},\"x\":{",
         "tensor exemplars is empty"},
        {"\"shape\":[4,3]", "\"shape\":[3,4]", "tensor exemplars has 4 in dimension 2: expected 3"},
        {"\"shape\":[4,3]", "\"shape\":[12]", "tensor exemplars has 1 dimensions: expected 2"},
        {"\"exemplar_labels\"", "\"labels\"", "tensor exemplar_labels is missing"},
        {"\"dtype\":\"I32\"", "\"dtype\":\"F32\"", "tensor exemplar_labels is F32: expected I32"},
        {"\"map.b\":{", "\"map.W\":{", "the header contains 'map.W' twice"},
        {"\"format_version\":\"1\"", "\"format_version\":\"0\"",
         "metadata 'format_version' is '0': this enhope reads versions 1 to 4"},
        {"\"format_version\":\"1\"", "\"format_version\":\"2\"", "metadata 'columns' is missing"},
        {"\"format_version\":\"1\"", "\"format_version\":\"4\"", "tensor int8.C is missing"},
        {"\"inputs\":\"3\"", "\"inputs\":\"1099511627776\"",
         "tensor scale.shift has 3 in dimension 1: expected 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"1099511627777\"",
         "metadata 'inputs' is '1099511627777': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"/\"",
         "metadata 'inputs' is '/': expected a whole number from 1 to 1099511627776"},
        {"\"inputs\":\"3\"", "\"inputs\":\"3:\"",
         "metadata 'inputs' is '3:': expected a whole number from 1 to 1099511627776"},
        {"\"outputs\":\"2\"", "\"outputs\":\"0\"",
         "metadata 'outputs' is '0': expected a whole number from 1 to 1099511627776"},
        {"\"hidden\":\"5\"", "\"hidden\":\"0\"",
         "metadata 'hidden' is '0': expected a whole number from 1 to 1099511627776"},
        {"\"order\":\"2\"", "\"order\":\"1001\"", "metadata 'order' is '1001': expected a whole number from 1 to 1000"},
        {"\"student\"", "\"student\",\"dof\":\"0\"", "metadata 'dof' is '0': expected a whole number from 1 to 15"},
        {"\"student\"", "\"student\",\"dof\":\"16\"", "metadata 'dof' is '16': expected a whole number from 1 to 15"},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"0.0000009\"",
         "metadata 'temperature' is '0.0000009': expected a number from 1e-06 to 1e+06"},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"1000001\"",
         "metadata 'temperature' is '1000001': expected a number from 1e-06 to 1e+06"},
        {"\"7/61\"", "\"-1/61\"", "metadata 'valid_errors' is '-1/61': expected ERRORS/SAMPLES"},
        {"\"7/61\"", "\"/61\"", "metadata 'valid_errors' is '/61': expected ERRORS/SAMPLES"},
        {"\"7/61\"", "\"7/\"", "metadata 'valid_errors' is '7/': expected ERRORS/SAMPLES"},
        {"\"7/61\"", "\"7-61\"", "metadata 'valid_errors' is '7-61': expected ERRORS/SAMPLES"},
        {"\"7/61\"", "\"7/9007199254740993\"",
         "metadata 'valid_errors' is '7/9007199254740993': expected ERRORS/SAMPLES"},
        {"\"image\":\"1x3\"", "\"image\":\"0x3\"", "metadata 'image' is '0x3': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"3x0\"", "metadata 'image' is '3x0': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"x3\"", "metadata 'image' is 'x3': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"1X3\"", "metadata 'image' is '1X3': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"1x3x\"", "metadata 'image' is '1x3x': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":\"1x3\"", "\"image\":\"9007199254740992x9007199254740992\"",
         "metadata 'image' is '9007199254740992x9007199254740992': expected ROWSxCOLUMNS of 3 inputs"},
        {"\"image\":", "\"rule\":\"vote\",\"image\":", "metadata 'rule' is 'vote': expected votes"},
        {"[\\\"in 0\\\",", "[", "metadata 'input_names' has 2 names: expected 3"},
        {"\"settings\":\"", "\"settings\":\"[]\",\"x\":\"", "metadata 'settings' is not an object of strings"},
        {"\"history\":\"", "\"history\":\"{}\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[3]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[[1]]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[[1,2]]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[[1,2,3,4]]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[[1,2,[]]]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"history\":\"", "\"history\":\"[[1,true,3]]\",\"x\":\"",
         "metadata 'history' is not an array of [epoch, loss, valid_error]"},
        {"\"notes\":\"", "\"notes\":\"[]\",\"x\":\"", "metadata 'notes' is not an object of strings"},
    };
    enhope_context *ctx = enhope_context_create();
    const image sound = sound_file(ctx, true);
    const char *path = in_folder("malformed");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image changed = sound;
        replace(changed.header, cases[i].from, cases[i].to);
        write_container(path, changed.header, strlen(changed.header), changed.data, changed.data_size);
        enhope_model *untouched = (enhope_model *)&changed, *model = untouched;
        assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_ERROR_MODEL);
        assert_message(ctx, path, cases[i].message);
        assert_ptr_equal(model, untouched);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void write_with(const image *sound, const char *path, const char *from, const char *to)
{
    image changed = *sound;
    replace(changed.header, from, to);
    write_container(path, changed.header, strlen(changed.header), changed.data, changed.data_size);
}

static void values_at_their_limits_are_accepted(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"\"order\":\"2\"", "\"order\":\"1000\""},
        {"\"order\":\"2\"", "\"order\":\"1\""},
        {"\"student\"", "\"student\",\"dof\":\"15\""},
        {"\"student\"", "\"student\",\"dof\":\"1\""},
        {"\"student\"", "\"student\",\"freedom\":\"15\""},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"0.000001\""},
        {"\"temperature\":\"1.4285714285714286\"", "\"temperature\":\"1e6\""},
        {"\"temperature\"", "\"x\""},
        {"\"7/61\"", "\"0/61\""},
        {"\"7/61\"", "\"61/61\""},
        {"\"7/61\"", "\"0/1\""},
        {"\"7/61\"", "\"7/9007199254740992\""},
        {"\"valid_errors\"", "\"x\""},
        {"\"neighbours\":\"3\"", "\"neighbours\":\"1\""},
        {"\"neighbours\":\"3\"", "\"neighbours\":\"4\""},
        {"\"image\":\"1x3\"", "\"image\":\"3x1\""},
        {"\"image\"", "\"x\""},
        {"\"image\":", "\"rule\":\"votes\",\"image\":"},
        {"\"input_names\"", "\"x\""},
        {"\"earlier_epochs\":\"1\"", "\"earlier_epochs\":\"2\""},
        {"\"earlier_epochs\":\"1\"", "\"earlier_epochs\":\"0\""},
        {"\"earlier_epochs\"", "\"x\""},
        {"\"settings\":\"", "\"settings\":\"{}\",\"x\":\""},
        {"\"notes\"", "\"x\""},
        {"\"format_version\":\"1\"", "\"format_version\":\"3\""},
        {"\"inputs\":\"3\"", "\"inputs\":\"0003\""},
    };
    static const int64_t numbers[] = {1000, 1, 15, 1, 15, 1, 1000000, 1, 0, 61, 0, 7, 0,
                                      1,    4, 3,  0, 1,  0, 2,       0, 0, 0,  0, 3, 3};
    enhope_context *ctx = enhope_context_create();
    const image sound = sound_file(ctx, true);
    const char *path = in_folder("limits");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        enhope_model *m = NULL;
        write_with(&sound, path, changes[i][0], changes[i][1]);
        if (enhope_model_load(ctx, path, &m)) fail_msg("%s: %s", changes[i][1], enhope_error(ctx));
        const int64_t found[] = {m->shape.order,
                                 m->shape.order,
                                 m->dof,
                                 m->dof,
                                 m->dof,
                                 (int64_t)(m->errors.temperature * 1e6),
                                 (int64_t)m->errors.temperature,
                                 (int64_t)m->errors.temperature,
                                 m->errors.valid,
                                 m->errors.valid,
                                 m->errors.valid,
                                 m->errors.valid,
                                 m->errors.valid_n,
                                 m->k,
                                 m->k,
                                 m->input.image_rows,
                                 m->input.image_rows,
                                 m->votes,
                                 m->input.name != NULL,
                                 m->earlier,
                                 m->earlier,
                                 m->earlier,
                                 m->setting.count,
                                 m->note.count,
                                 m->shape.H,
                                 m->shape.H};
        assert_int_equal(found[i], numbers[i]);
        enhope_model_free(m);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void layers_and_units_of_networks_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message; /* NULL: the file is loaded */
    } cases[] = {
        {"\"layers\":\"4-3-2\"", "\"layers\":\"4-3-\"",
         "layers is 4-3-: expected one to eight numbers of units joined by '-'"},
        {"\"layers\":\"4-3-2\"", "\"layers\":\"\"", "layers is : expected one to eight numbers of units joined by '-'"},
        {"\"layers\":\"4-3-2\"", "\"layers\":\"1-1-1-1-1-1-1-1-1\"",
         "layers is 1-1-1-1-1-1-1-1-1: expected one to eight numbers of units joined by '-'"},
        {"\"layers\"", "\"x\"", "metadata 'layers' is missing"},
        {"\"layers\":", "\"unit\":\"tanh\",\"layers\":", "metadata 'unit' is 'tanh': expected sigmoid or relu"},
        {"\"layers\":", "\"unit\":\"relu\",\"layers\":", NULL},
        {"\"layers\":", "\"unit\":\"sigmoid\",\"layers\":", NULL},
    };
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("layers");
    enhope_model *model = make_model(ctx, &eh_map_mlp, true, 3, 4);
    assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
    enhope_model_free(model);
    size_t size;
    unsigned char *bytes = read_all(path, &size);
    const size_t length = (size_t)bytes[0] + ((size_t)bytes[1] << 8);
    char *unit = strstr((char *)bytes + 8, "\"unit\"");
    if (unit) memcpy(unit, "\"xxxx\"", 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[4096] = "";
        memcpy(header, bytes + 8, length);
        replace(header, cases[i].from, cases[i].to);
        write_container(path, header, strlen(header), bytes + 8 + length, size - 8 - length);
        model = NULL;
        if (cases[i].message) {
            assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_ERROR_MODEL);
            assert_message(ctx, path, cases[i].message);
        } else {
            assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_OK);
            assert_int_equal(model->shape.relu, i == 5);
            enhope_model_free(model);
        }
    }
    free(bytes);
    unlink(path);
    enhope_context_free(ctx);
}

/* Exemplars of a class are together; stored points may have any order. */
static void labels_of_exemplars_are_sorted(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("sorted");
    for (int exemplars = 0; exemplars < 2; exemplars++) {
        image file = sound_file(ctx, exemplars);
        enhope_model *model = NULL;
        static const int32_t labels[4] = {0, 1, 1, 0};
        memcpy(file.data + 204 + (exemplars ? 48 : 32), labels, sizeof labels);
        write_container(path, file.header, strlen(file.header), file.data, file.data_size);
        assert_int_equal(enhope_model_load(ctx, path, &model), exemplars ? ENHOPE_ERROR_MODEL : ENHOPE_OK);
        if (exemplars)
            assert_message(ctx, path,
                           "tensor exemplar_labels is not sorted (element 3): expected the exemplars of a class "
                           "together");
        else
            assert_memory_equal(model->reference_label, labels, sizeof labels);
        enhope_model_free(model);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void models_are_loaded_from_memory(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make_model(ctx, &eh_map_hope, true, 3, 4), *loaded = NULL;
    const char *path = in_folder("memory");
    assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
    size_t size;
    unsigned char *bytes = read_all(path, &size);
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &loaded), ENHOPE_OK);
    assert_same_model(model, loaded);
    enhope_model_free(loaded);
    loaded = NULL;
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, size - 1, &loaded), ENHOPE_ERROR_MODEL);
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, 0, &loaded), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx), "not a model: 0 bytes, a safetensors file begins with 8");
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, 8, &loaded), ENHOPE_ERROR_MODEL);
    assert_null(loaded);
    free(bytes);
    unlink(path);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* ---- settings of earlier versions ---- */

static void models_of_earlier_versions_load_under_current_names(void **state)
{
    (void)state;
    static const struct {
        const char *old, *now, *value; /* in the file; NULL: removed */
    } cases[] = {{"\\\"average\\\":\\\"0\\\"", "average", NULL},
                 {"\\\"mix\\\":\\\"0\\\"", "mix", NULL},
                 {"\\\"norm\\\":\\\"linf\\\"", "norm", NULL},
                 {"\\\"push\\\":\\\"0.7\\\"", "push", NULL},
                 {"\\\"warmup\\\":\\\"0.1\\\"", "warmup", NULL},
                 {"\\\"beta1\\\":\\\"0.8\\\"", "beta1", NULL},
                 {"\\\"beta2\\\":\\\"0.9\\\"", "beta2", NULL},
                 {"\\\"pairs\\\":\\\"20\\\"", "pairs", NULL},
                 {"\\\"smooth\\\":\\\"0.1\\\"", "label_smoothing", "0.1"},
                 {"\\\"balance\\\":\\\"0\\\"", "class_weight", "none"},
                 {"\\\"balance\\\":\\\"1\\\"", "class_weight", "balanced"},
                 {"\\\"freedom\\\":\\\"1\\\"", "dof", "1"},
                 {"\\\"freedom\\\":\\\"5\\\"", "dof", "5"},
                 {"\\\"graph\\\":\\\"nearest\\\"", "graph", NULL},
                 {"\\\"graph\\\":\\\"nearest\\\",\\\"graph_k\\\":\\\"7\\\"", "graph_k", "7"},
                 {"\\\"graph\\\":\\\"class\\\",\\\"graph_k\\\":\\\"5\\\"", "graph_k", "0"},
                 {"\\\"links\\\":\\\"5\\\",\\\"graph\\\":\\\"class\\\"", "graph_k", "0"},
                 {"\\\"order\\\":\\\"2\\\"", "order", "2"}};
    enhope_context *ctx = enhope_context_create();
    const image sound = sound_file(ctx, true);
    const char *path = in_folder("earlier");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[96];
        enhope_model *model = NULL;
        snprintf(to, sizeof to, "%s,\\\"learning_rate\\\"", cases[i].old);
        write_with(&sound, path, "\\\"learning_rate\\\"", to);
        assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_OK);
        const char *value = enhope_model_setting(model, cases[i].now);
        if (cases[i].value)
            assert_string_equal(value, cases[i].value);
        else
            assert_null(value);
        assert_int_equal(model->setting.count, cases[i].value ? 3 : 2);
        assert_string_equal(enhope_model_setting(model, "learning_rate"), "0.0125");
        enhope_model_free(model);
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void models_trained_with_removed_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *what; /* a replacement in the file, and the setting of the message */
    } cases[] = {
        {"\\\"learning_rate\\\"", "\\\"average\\\":\\\"0.9\\\",\\\"learning_rate\\\"", "average 0.9"},
        {"\\\"learning_rate\\\"", "\\\"mix\\\":\\\"0.2\\\",\\\"learning_rate\\\"", "mix 0.2"},
        {"\\\"learning_rate\\\"", "\\\"norm\\\":\\\"l2\\\",\\\"learning_rate\\\"", "norm l2"},
        {"\\\"learning_rate\\\"", "\\\"balance\\\":\\\"0.5\\\",\\\"learning_rate\\\"", "balance 0.5"},
        {"\\\"learning_rate\\\"", "\\\"freedom\\\":\\\"2.5\\\",\\\"learning_rate\\\"", "freedom 2.5"},
        {"\\\"learning_rate\\\"", "\\\"freedom\\\":\\\"4\\\",\\\"learning_rate\\\"", "freedom 4"},
        {"\\\"learning_rate\\\"", "\\\"freedom\\\":\\\"17\\\",\\\"learning_rate\\\"", "freedom 17"},
        {"\\\"learning_rate\\\"", "\\\"order\\\":\\\"2+3\\\",\\\"learning_rate\\\"", "order 2+3"},
        {"\"student\"", "\"student\",\"freedom\":\"0.5\"", "freedom 0.5"},
        {"\"student\"", "\"student\",\"freedom\":\"warm\"", "freedom warm"},
        {"\"order\":\"2\"", "\"order\":\"2+3\"", "order 2+3"},
    };
    enhope_context *ctx = enhope_context_create();
    const image sound = sound_file(ctx, true);
    const char *path = in_folder("removed");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[128];
        enhope_model *model = NULL;
        write_with(&sound, path, cases[i].from, cases[i].to);
        assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_ERROR_MODEL);
        assert_null(model);
        snprintf(expected, sizeof expected, "%s: the model was trained with %s, which this version does not have (",
                 path, cases[i].what);
        assert_memory_equal(enhope_error(ctx), expected, strlen(expected));
        assert_non_null(strstr(enhope_error(ctx), "): train it again, or use enhope "));
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void numbers_are_checked_one_by_one(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const char *path = in_folder("numbers");
    for (int exemplars = 0; exemplars < 2; exemplars++) {
        /* bytes: C 64, W 80, b 20, V 40, then references, 4 labels, shift 12, mul 12 */
        const size_t reference = 204, label = reference + (exemplars ? 48 : 32), shift = label + 16;
        const struct {
            size_t at;
            uint32_t bits;
            const char *message;
        } cases[] = {
            {4 * 3, 0x7fc00000, "tensor map.C has a number that is not finite (element 3)"},
            {64 + 80, 0xff800000, "tensor map.b has a number that is not finite (element 0)"},
            {reference + 4 * 5, 0x7f800000,
             exemplars ? "tensor exemplars has a number that is not finite (element 5)"
                       : "tensor points has a number that is not finite (element 5)"},
            {label + 4, 3,
             exemplars ? "tensor exemplar_labels has label 3 (element 1): expected 0 to 2"
                       : "tensor point_labels has label 3 (element 1): expected 0 to 2"},
            {label, 0xffffffff,
             exemplars ? "tensor exemplar_labels has label -1 (element 0): expected 0 to 2"
                       : "tensor point_labels has label -1 (element 0): expected 0 to 2"},
            {shift + 8, 0x7fffffff, "tensor scale.shift has a number that is not finite (element 2)"},
            {shift + 12, 0x7f800001, "tensor scale.mul has a number that is not finite (element 0)"},
        };
        const image sound = sound_file(ctx, exemplars);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            image changed = sound;
            memcpy(changed.data + cases[i].at, &cases[i].bits, 4);
            write_container(path, changed.header, strlen(changed.header), changed.data, changed.data_size);
            enhope_model *model = NULL;
            assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_ERROR_MODEL);
            assert_message(ctx, path, cases[i].message);
        }
    }
    unlink(path);
    enhope_context_free(ctx);
}

static void extra_tensors_and_texts_are_ignored(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    image file = sound_file(ctx, true);
    const char *path = in_folder("extra");
    replace(file.header, "{\"format\"", "{\"author\":\"someone\",\"format\"");
    char extra[128];
    snprintf(extra, sizeof extra, "},\"extra\":{\"dtype\":\"U8\",\"shape\":[1,3],\"data_offsets\":[%zu,%zu]},\"map.C\"",
             file.data_size, file.data_size + 3);
    replace(file.header, "},\"map.C\"", extra);
    write_container(path, file.header, strlen(file.header), file.data, file.data_size + 3);
    enhope_model *model = NULL, *expected = make_model(ctx, &eh_map_hope, true, 3, 4);
    assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_OK);
    assert_same_model(expected, model);
    enhope_model_free(model);
    enhope_model_free(expected);
    unlink(path);
    enhope_context_free(ctx);
}

static void flipped_and_truncated_files_load_or_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make_model(ctx, &eh_map_hope, false, 3, 4);
    const char *path = in_folder("flips");
    assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_OK);
    enhope_model_free(model);
    size_t size;
    unsigned char *bytes = read_all(path, &size), *changed = malloc(size);
    for (uint64_t round = 0; round < 1200; round++) {
        memcpy(changed, bytes, size);
        size_t length = size;
        if (round % 4 == 3) length = eh_random_u64(SEED, 8, round) % size;
        for (uint64_t flip = 0; flip <= round % 3; flip++) {
            const uint64_t random = eh_random_u64(SEED, 9, 3 * round + flip);
            changed[(random >> 16) % size] ^= (unsigned char)(1 << random % 8);
        }
        write_all(path, changed, length);
        enhope_model *loaded = NULL;
        const enhope_status status = enhope_model_load(ctx, path, &loaded);
        assert_true(status == ENHOPE_OK || status == ENHOPE_ERROR_MODEL);
        assert_int_equal(loaded != NULL, status == ENHOPE_OK);
        enhope_model_free(loaded);
    }
    for (size_t length = 0; length < size; length += 7) { /* a truncated file is refused */
        write_all(path, bytes, length);
        enhope_model *loaded = NULL;
        assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_ERROR_MODEL);
    }
    free(bytes);
    free(changed);
    unlink(path);
    enhope_context_free(ctx);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    const char *path = in_folder("missing.safetensors");
    assert_int_equal(enhope_model_load(ctx, path, &model), ENHOPE_ERROR_IO);
    assert_message(ctx, path, "cannot open: No such file or directory");
    enhope_context_free(ctx);
}

static void a_failed_save_leaves_the_old_model(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *old = make_model(ctx, &eh_map_linear, true, 3, 4), *new = make_model(ctx, &eh_map_hope, true, 7, 5);
    const char *path = in_folder("kept");
    assert_int_equal(enhope_model_save(ctx, old, path), ENHOPE_OK);
    size_t size, size_after;
    unsigned char *bytes = read_all(path, &size);

    struct rlimit limit, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    tight = limit;
    tight.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const enhope_status full = enhope_model_save(ctx, new, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(full, ENHOPE_ERROR_IO);
    assert_message(ctx, path, "cannot write: File too large");

    new->theta[17] = NAN; /* such a file could not be loaded */
    assert_int_equal(enhope_model_save(ctx, new, path), ENHOPE_ERROR_MODEL);
    assert_message(ctx, path, "not written: tensor map.C has a number that is not finite (element 17)");

    unsigned char *after = read_all(path, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(bytes, after, size);
    free(bytes);
    free(after);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
    assert_int_equal(mkdir(folder, 0700), 0);
    enhope_model_free(old);
    enhope_model_free(new);
    enhope_context_free(ctx);
}

typedef struct filed {
    enhope_context *ctx;
    const enhope_model *model;
    const char *path;
} filed;

static enhope_status save_once(void *user)
{
    const filed *f = user;
    return enhope_model_save(f->ctx, f->model, f->path);
}

static enhope_status load_once(void *user)
{
    const filed *f = user;
    enhope_model *loaded = NULL;
    const enhope_status status = enhope_model_load(f->ctx, f->path, &loaded);
    enhope_model_free(loaded);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    filed f = {ctx, make_model(ctx, &eh_map_hope, true, 3, 4), in_folder("memory")};
    assert_true(fail_allocations(ctx, save_once, &f, 3) > 10);
    assert_int_equal(save_once(&f), ENHOPE_OK);
    assert_true(fail_allocations(ctx, load_once, &f, 1) > 10);
    unlink(f.path);
    enhope_model_free((enhope_model *)f.model);
    enhope_context_free(ctx);
}

static void the_hash_covers_everything_a_model_computes_with(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *m = make_model(ctx, &eh_map_hope, true, 3, 4);
    const uint64_t whole = eh_model_hash(m);
    float *const numbers[] = {m->theta, m->reference, m->shift, m->mul};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const float kept = numbers[i][1];
        numbers[i][1] += 0.5F;
        assert_true(eh_model_hash(m) != whole);
        numbers[i][1] = kept;
    }
    m->reference_label[3]++;
    assert_true(eh_model_hash(m) != whole);
    m->reference_label[3]--;
    assert_true(eh_model_hash(m) == whole);
    enhope_model_free(m);
    enhope_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_covers_everything_a_model_computes_with),
        cmocka_unit_test(a_saved_model_is_loaded_bit_for_bit),
        cmocka_unit_test(only_a_dof_other_than_one_is_written),
        cmocka_unit_test(models_of_earlier_versions_load_under_current_names),
        cmocka_unit_test(models_trained_with_removed_settings_are_refused),
        cmocka_unit_test(a_model_describes_itself),
        cmocka_unit_test(a_header_that_is_not_a_model_is_refused_with_a_message),
        cmocka_unit_test(values_at_their_limits_are_accepted),
        cmocka_unit_test(layers_and_units_of_networks_are_checked),
        cmocka_unit_test(labels_of_exemplars_are_sorted),
        cmocka_unit_test(models_are_loaded_from_memory),
        cmocka_unit_test(numbers_are_checked_one_by_one),
        cmocka_unit_test(extra_tensors_and_texts_are_ignored),
        cmocka_unit_test(flipped_and_truncated_files_load_or_are_refused),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_failed_save_leaves_the_old_model),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
