/* Each allocation of the public calls fails in turn, with all after it and alone: the call returns
 * ENHOPE_ERROR_MEMORY and a message, and nothing leaks. Unit tests of single modules do the same
 * for readers, frames, models, exports and predictions; here are the calls that join modules.
 *
 * Every seventh allocation is tried; the environment variable ENHOPE_FAULTS is how many times as
 * many are, or "all". */
#define _XOPEN_SOURCE 700
#include "read_support.h"

#include "memory_support.h"

enum { N = 36, H = 4, C = 3 };
static float X[N * H];
static int32_t LABEL[N];
static enhope_dataset *data, *table, *other;
static enhope_model *plain, *encoded, *knn;
static void fails(fallible call, const void *user)
{
    fail_allocations(ctx, call, (void *)(uintptr_t)user, 7);
}

/* ---- fixtures ---- */

static enhope_settings *settings_of(const char *const *pair)
{
    enhope_settings *s = enhope_settings_create();
    for (; *pair; pair += 2)
        if (enhope_settings_set(ctx, s, pair[0], pair[1])) fail_msg("%s", enhope_error(ctx));
    return s;
}

static const char *const small[] = {"recipe",   "paper", "n_factors",  "5",  "n_hidden", "3",
                                    "n_epochs", "1",     "batch_size", "20", NULL};

static enhope_model *train(const enhope_dataset *of, const char *const *pair)
{
    enhope_settings *s = settings_of(pair);
    enhope_model *model = NULL;
    if (enhope_train(ctx, of, s, NULL, NULL, &model)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return model;
}

static void write_tables(void)
{
    FILE *csv = fopen("t.csv", "w"), *lines = fopen("t.jsonl", "w");
    assert_true(csv && lines);
    fputs("width,color,bought,kind\n", csv);
    for (int i = 0; i < N; i++) {
        const char *color = i % 3 ? "red" : i % 2 ? "blue" : "green";
        fprintf(csv, "%g,%s,2021-03-%02d,%s\n", X[i * H] + 0.5, i == 7 ? "" : color, i % 27 + 1, LABEL[i] ? "a" : "b");
        fprintf(lines, "{\"width\": %g, \"color\": \"%s\", \"bought\": \"2021-03-%02d\"}\n", X[i * H], color,
                i % 9 + 1);
    }
    fclose(csv), fclose(lines);
}

static int open_all(void **state)
{
    if (enter_folder(state) || enhope_context_set_threads(ctx, 1)) return -1;
    for (int i = 0; i < N; i++) {
        LABEL[i] = i % C;
        for (int j = 0; j < H; j++)
            X[i * H + j] = (float)((j == LABEL[i] ? 2.385 : 0) + 0.35 * eh_random_normal(7, 1, (uint64_t)(i * H + j)));
    }
    write_tables();
    if (enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &data)) return -1;
    if (enhope_dataset_view_f32(ctx, 6, H, X, LABEL, C, NULL, &other)) return -1;
    table = read_ok((enhope_source){.path = "t.csv"});
    plain = train(data, small);
    encoded = train(table, small);
    knn = train(data, (const char *const[]){"method", "knn", NULL});
    return enhope_convert(ctx, &(enhope_source){.path = "synthetic:blobs,n=1000,inputs=6"}, "big", 400, 0, NULL, NULL);
}

static int close_all(void **state)
{
    enhope_model_free(plain), enhope_model_free(encoded), enhope_model_free(knn);
    enhope_dataset_free(data), enhope_dataset_free(table), enhope_dataset_free(other);
    return leave_folder(state);
}

/* ---- training ---- */

static void fails_training(const char *const *pair)
{
    enhope_settings *s = settings_of(pair);
    fails(train_once, &(training){ctx, data, s});
    enhope_settings_free(s);
}

static void training_by_every_method(void **state)
{
    (void)state;
    for (int i = 0; i < enhope_method_count(); i++) {
        const enhope_method_info *method = enhope_method_get(i);
        const char *pair[11] = {"recipe", "paper", "method", method->name};
        const int steps = !strcmp(method->solver, "adam"), hope = *method->map == 'h',
                  mlp = !strncmp(method->map, "mlp", 3);
        if (steps) pair[4] = "n_epochs", pair[5] = "1";
        if (hope || mlp) pair[6] = hope ? "n_factors" : "hidden_layer_sizes", pair[7] = hope ? "5" : "4-3";
        if (hope) pair[8] = "n_hidden", pair[9] = "3";
        fails_training(pair);
    }
}

static void training_with_every_option(void **state)
{
    (void)state;
    static const char *const options[][2] = {
        {"solver", "cg"},         {"solver", "lbfgs"},         {"noise", "0.1"},
        {"dropout", "0.1"},       {"adversarial_step", "0.1"}, {"exemplars", "random"},
        {"exemplars", "learned"}, {"scaling", "standard"},     {"label_smoothing", "0.1"},
        {"normalizer", "joint"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        fails_training((const char *const[]){"recipe", "paper", "n_factors", "5", "n_hidden", "3", "n_epochs", "1",
                                             "solver", "adam", options[i][0], options[i][1], NULL});
}

/* Cross-validation that chooses the map of a table makes thousands of allocations. */
static void training_that_chooses_its_map(void **state)
{
    (void)state;
    enhope_settings *s = settings_of((const char *const[]){"n_epochs", "1", NULL});
    fail_allocations(ctx, train_once, &(training){ctx, data, s}, 997);
    enhope_settings_free(s);
}

static enhope_status train_streamed(void *settings)
{
    enhope_dataset *streamed = NULL;
    enhope_model *model = NULL;
    enhope_status status = enhope_dataset_read(ctx, &(enhope_source){.path = "big"}, &streamed);
    if (!status) status = enhope_train(ctx, streamed, settings, NULL, NULL, &model);
    enhope_model_free(model);
    enhope_dataset_free(streamed);
    return status;
}

static void training_on_streamed_data(void **state)
{
    (void)state;
    enhope_settings *s = settings_of(small);
    assert_int_equal(enhope_context_set_memory(ctx, 12000), 0); /* of 24,000 bytes */
    fails(train_streamed, s);
    assert_int_equal(enhope_context_set_memory(ctx, 0), 0);
    enhope_settings_free(s);
}

static enhope_status update_once(void *settings)
{
    enhope_model *model = NULL;
    const enhope_status status = enhope_model_update(ctx, plain, data, settings, NULL, NULL, &model);
    enhope_model_free(model);
    return status;
}

static enhope_status step_once(void *settings)
{
    enhope_trainer *trainer = NULL;
    enhope_model *model = NULL, *snapshot = NULL;
    int done = 0;
    enhope_status status = enhope_trainer_create(ctx, NULL, data, settings, &trainer);
    if (!status) status = enhope_trainer_step(trainer, NULL, &done);
    if (!status) status = enhope_trainer_checkpoint(trainer, "c.st");
    if (!status) status = enhope_trainer_resume(trainer, "c.st");
    if (!status) status = enhope_trainer_snapshot(trainer, &snapshot);
    if (!status) status = enhope_trainer_run(trainer, NULL, NULL);
    if (!status) status = enhope_trainer_model(trainer, &model);
    enhope_trainer_free(trainer);
    enhope_model_free(model), enhope_model_free(snapshot);
    return status;
}

static enhope_status compress_once(void *settings)
{
    const enhope_compress_options options = {.size = 2800};
    enhope_model *model = NULL;
    enhope_compression report;
    const enhope_status status =
        enhope_model_compress(ctx, plain, data, settings, &options, NULL, NULL, &report, &model);
    enhope_model_free(model);
    return status;
}

static void updates_steps_and_compression(void **state)
{
    (void)state;
    enhope_settings *s = settings_of((const char *const[]){"n_epochs", "1", NULL}), *steps = settings_of(small);
    enhope_settings *ten = settings_of((const char *const[]){"n_epochs", "10", "solver", "adam", NULL});
    fails(update_once, s);
    fails(step_once, steps);
    fails(compress_once, ten);
    enhope_settings_free(s), enhope_settings_free(steps), enhope_settings_free(ten);
}

/* ---- models ---- */

static enhope_status save_and_load(void *model)
{
    static char bytes[100000];
    size_t size = 0;
    enhope_model *back = NULL;
    enhope_status status = enhope_model_save_bytes(ctx, model, bytes, sizeof bytes, &size);
    if (!status) status = enhope_model_load_bytes(ctx, bytes, size, &back);
    if (!status) status = enhope_model_set_note(ctx, back, "note", "text");
    enhope_model_free(back);
    return status;
}

static enhope_status quantize_and_save(void *model)
{
    enhope_model *small_model = NULL;
    enhope_status status = enhope_model_quantize(ctx, model, model == plain ? data : table, &small_model);
    if (!status) status = save_and_load(small_model);
    enhope_model_free(small_model);
    return status;
}

static enhope_status ask_exemplars(void *model)
{
    float E[64 * 64];
    enhope_dataset *exemplars = NULL;
    enhope_overlap overlap;
    enhope_status status = enhope_model_exemplars(ctx, model, E);
    if (!status) status = enhope_model_exemplar_data(ctx, model, &exemplars);
    if (!status) status = enhope_model_overlap(ctx, model, model == plain ? data : table, &overlap);
    enhope_dataset_free(exemplars);
    return status;
}

typedef struct exported {
    const enhope_model *model;
    const char *path;
} exported;

static enhope_status export_once(void *user)
{
    const exported *e = user;
    return enhope_model_export(ctx, e->model, e->path, NULL);
}

static void models_of_every_kind(void **state)
{
    (void)state;
    const enhope_model *const models[] = {plain, encoded, knn};
    static const char *const files[] = {"m.c", "m.onnx", "m.js", "m.json"};
    for (int i = 0; i < 3; i++) {
        fails(save_and_load, models[i]);
        if (i < 2) fails(quantize_and_save, models[i]);
        if (i < 2) fails(ask_exemplars, models[i]);
        for (int j = 0; j < 4; j++)
            if (i != 1 || j != 1) fails(export_once, &(exported){models[i], files[j]}); /* ONNX has no dates */
    }
}

/* ---- prediction ---- */

typedef struct query {
    const enhope_model *model;
    const enhope_dataset *data;
} query;

static enhope_status predict_once(void *user)
{
    const query *q = user;
    int32_t label[N];
    float proba[N * C], distance[N], Y[N * H];
    int64_t winner[N];
    const enhope_prediction out = {.label = label, .proba = proba, .winner = winner, .distance = distance, .Y = Y};
    enhope_calibration calibration;
    enhope_class_metrics row[C];
    enhope_metrics metrics = {.row = row};
    enhope_evaluation evaluation = {.calibration = &calibration, .metrics = &metrics};
    enhope_predictor *predictor = NULL;
    enhope_status status = enhope_predictor_create(ctx, q->model, NULL, &predictor);
    if (!status) status = enhope_predictor_predict(ctx, predictor, q->data, &out);
    if (!status) status = enhope_model_predict(ctx, q->model, q->data, 0, &out);
    if (!status) status = enhope_model_evaluate(ctx, q->model, q->data, 0, &evaluation);
    enhope_predictor_free(predictor);
    return status;
}

static void predictions_of_every_kind(void **state)
{
    (void)state;
    fails(predict_once, &(query){plain, data});
    fails(predict_once, &(query){encoded, table});
    fails(predict_once, &(query){knn, other});
}

static enhope_status predict_by_the_reference(void *user)
{
    const query *q = user;
    int32_t label[N];
    const enhope_prediction out = {.label = label};
    enhope_status status = enhope_context_set_device(ctx, "ref");
    if (!status) status = enhope_model_predict(ctx, q->model, q->data, 0, &out);
    return status;
}

static enhope_status measure_once(void *user)
{
    const enhope_map *references = user;
    enhope_map_measures out = {.k = 5, .sample = 20};
    const enhope_map rows = {data, X};
    return enhope_map_measure(ctx, plain, H, &rows, references, &out);
}

static void measures_of_a_map(void **state)
{
    (void)state;
    fails(measure_once, NULL);
    fails(measure_once, &(enhope_map){data, X});
}

static void predictions_on_another_device(void **state)
{
    (void)state;
    fails(predict_by_the_reference, &(query){plain, other});
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), 0);
}

/* ---- data ---- */

static enhope_status read_lines(void *path)
{
    const enhope_source source = {.path = path, .model = encoded};
    const enhope_dataset *rows = NULL;
    enhope_reader *reader = NULL;
    size_t size;
    unsigned char *text = slurp(path, &size);
    enhope_status status = enhope_reader_create(ctx, &source, &reader);
    for (size_t at = 0; at < size && !status; at += 100)
        status = enhope_reader_take(ctx, reader, (char *)text + at, size - at < 100 ? size - at : 100, &rows);
    do {
        if (!status) status = enhope_reader_end(ctx, reader, &rows);
    } while (!status && rows);
    enhope_reader_free(reader);
    free(text);
    return status;
}

static enhope_status convert_once(void *path)
{
    const enhope_source source = {.path = path};
    enhope_dataset *back = NULL;
    assert_int_equal(system("rm -rf out"), 0);
    enhope_status status = enhope_convert(ctx, &source, "out", 20, 0, NULL, NULL);
    int64_t files;
    if (!status) status = enhope_shards_check(ctx, "out", NULL, NULL, &files);
    if (!status) status = enhope_dataset_read(ctx, &(enhope_source){.path = "out"}, &back);
    enhope_dataset_free(back);
    return status;
}

static enhope_status read_for_model(void *path)
{
    const enhope_source source = {.path = path, .model = encoded, .split = "0.5@3", .part = "test"};
    enhope_dataset *read = NULL;
    const enhope_status status = enhope_dataset_read(ctx, &source, &read);
    enhope_dataset_free(read);
    return status;
}

static enhope_status name_everything(void *unused)
{
    (void)unused;
    static const char *const names[] = {"w", "h", "d", "m"};
    double weight[N];
    enhope_dataset *view = NULL, *block = NULL;
    enhope_settings *s = NULL;
    enhope_device_info info;
    for (int i = 0; i < N; i++) weight[i] = 1 + i % 3;
    enhope_status status = enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, (const char *const[]){"a", "b", "c"}, &view);
    if (!status) status = enhope_dataset_set_input_names(ctx, view, names);
    if (!status) status = enhope_dataset_set_image(ctx, view, 2, 2);
    if (!status) status = enhope_dataset_set_weights(ctx, view, weight);
    if (!status) status = enhope_dataset_set_validation(ctx, view, 6);
    if (!status) status = enhope_dataset_block(ctx, view, 3, 5, &block);
    if (!status) status = enhope_device_get(ctx, 0, &info);
    if (!status && !(s = enhope_settings_create()))
        status = eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: settings");
    if (!status) status = enhope_settings_set(ctx, s, "class_weight", "a=2,b=1");
    enhope_settings_free(s);
    enhope_dataset_free(view), enhope_dataset_free(block);
    return status;
}

static void data_of_every_kind(void **state)
{
    (void)state;
    fails(read_lines, "t.jsonl");
    fails(read_lines, "t.csv");
    fails(convert_once, "t.csv");
    fails(convert_once, "synthetic:blobs,n=25,seed=3");
    fails(read_for_model, "t.csv");
    fails(name_everything, NULL);
}

static enhope_status open_context(void *unused)
{
    (void)unused;
    enhope_context *own = enhope_context_create();
    if (!own) return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: a context");
    enhope_context_free(own);
    return ENHOPE_OK;
}

static void contexts(void **state)
{
    (void)state;
    fails(open_context, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_by_every_method),
        cmocka_unit_test(training_with_every_option),
        cmocka_unit_test(training_that_chooses_its_map),
        cmocka_unit_test(training_on_streamed_data),
        cmocka_unit_test(updates_steps_and_compression),
        cmocka_unit_test(models_of_every_kind),
        cmocka_unit_test(predictions_of_every_kind),
        cmocka_unit_test(measures_of_a_map),
        cmocka_unit_test(predictions_on_another_device),
        cmocka_unit_test(data_of_every_kind),
        cmocka_unit_test(contexts),
    };
    return cmocka_run_group_tests_name("failing allocations", tests, open_all, close_all);
}
