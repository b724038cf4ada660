/* Frames built by callers of the library: from columns to a model, its file, and predictions. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/data.h"
#include "memory_support.h"
#include "model/model.h"

enum { N = 120 };
static enhope_context *ctx;
static char logged[4096];

static void keep_log(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    const size_t at = strlen(logged);
    if (level == ENHOPE_LOG_WARNING) snprintf(logged + at, sizeof logged - at, "%s\n", line);
}

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    enhope_context_set_log(ctx, keep_log, NULL);
    return enhope_context_set_threads(ctx, 1);
}

static int close_context(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

static void must(enhope_status status)
{
    if (status) fail_msg("%s", enhope_error(ctx));
}

/* A table whose classes follow from the color, the far number and missing ages. */
typedef struct table {
    double age[N], far[N], member[N], day[N];
    const char *color[N];
    int32_t label[N];
} table;

static table make_table(uint64_t seed)
{
    static const char *const colors[] = {"red", "green", "blue"};
    table t;
    for (int i = 0; i < N; i++) {
        t.label[i] = i % 3;
        const double noise = eh_random_normal(seed, 1, (uint64_t)i);
        t.age[i] = t.label[i] == 1 && i % 2 ? NAN : 30 + 5 * noise;
        t.far[i] = 1e9 + 2 * t.label[i] + 0.3 * noise;
        t.member[i] = i % 4 == 0;
        t.day[i] = 19000 + 3 * i;
        t.color[i] = i % 7 == 0 ? NULL : colors[(t.label[i] + (i % 11 == 0)) % 3];
    }
    return t;
}

static enhope_frame *frame_of(const table *t, bool reversed)
{
    enhope_frame *frame = NULL;
    must(enhope_frame_create(ctx, N, &frame));
    for (int k = 0; k < 5; k++) switch (reversed ? 4 - k : k) {
        case 0: must(enhope_frame_add_numbers(ctx, frame, "age", t->age)); break;
        case 1: must(enhope_frame_add_numbers(ctx, frame, "far", t->far)); break;
        case 2: must(enhope_frame_add_booleans(ctx, frame, "member", t->member)); break;
        case 3: must(enhope_frame_add_dates(ctx, frame, "day", t->day)); break;
        default: must(enhope_frame_add_texts(ctx, frame, "color", t->color)); break;
        }
    return frame;
}

static enhope_dataset *data_of(const table *t, bool reversed, const enhope_model *model)
{
    static const char *const classes[] = {"a", "b", "c"};
    enhope_dataset *data = NULL;
    enhope_frame *frame = frame_of(t, reversed);
    must(enhope_dataset_from_frame(ctx, frame, model, t->label, 3, classes, &data));
    enhope_frame_free(frame);
    return data;
}

static enhope_model *train(const enhope_dataset *data)
{
    enhope_model *model = NULL;
    enhope_settings *settings = enhope_settings_create();
    static const char *const pairs[][2] = {{"n_epochs", "200"},          {"order", "1"},
                                           {"n_factors", "12"},          {"n_hidden", "8"},
                                           {"validation_fraction", "0"}, {"random_state", "3"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        must(enhope_settings_set(ctx, settings, pairs[i][0], pairs[i][1]));
    must(enhope_train(ctx, data, settings, NULL, NULL, &model));
    enhope_settings_free(settings);
    return model;
}

static int64_t errors_of(const enhope_model *model, const enhope_dataset *data)
{
    enhope_evaluation evaluation = {0};
    must(enhope_model_evaluate(ctx, model, data, 0, &evaluation));
    assert_int_equal(evaluation.n, N);
    return evaluation.errors;
}

/* Saves and loads a model in memory. */
static enhope_model *reload(const enhope_model *model)
{
    static char bytes[1 << 20];
    size_t size = 0;
    enhope_model *loaded = NULL;
    must(enhope_model_save_bytes(ctx, model, bytes, sizeof bytes, &size));
    must(enhope_model_load_bytes(ctx, bytes, size, &loaded));
    return loaded;
}

static void a_model_encodes_frames_as_its_training_data(void **state)
{
    (void)state;
    const table t = make_table(5), other = make_table(6);
    enhope_dataset *data = data_of(&t, false, NULL);
    enhope_model *model = train(data), *loaded = reload(model);
    enhope_dataset *same = data_of(&t, true, loaded), *test = data_of(&other, true, loaded);
    assert_int_equal(same->x.H, data->x.H);
    assert_memory_equal(same->x.f32, data->x.f32, (size_t)(N * data->x.H) * sizeof(float));
    assert_in_range(errors_of(loaded, test), 0, N / 20);
    enhope_dataset_free(same);
    enhope_dataset_free(test);
    /* a model with other references keeps the columns */
    enhope_model *again = NULL;
    must(enhope_model_with_references(ctx, loaded, data, "kmeans", 6, 1, &again));
    test = data_of(&other, true, again);
    assert_true(errors_of(again, test) < N / 20);
    enhope_dataset_free(test);
    /* so does an updated model, although its own data would be encoded differently */
    enhope_dataset *more = data_of(&other, false, loaded);
    enhope_model *updated = NULL;
    must(enhope_model_update(ctx, loaded, more, NULL, NULL, NULL, &updated));
    assert_true(updated->input.encoding->column[1].offset == model->input.encoding->column[1].offset);
    enhope_dataset_free(more);
    enhope_model_free(updated);
    enhope_model_free(again);
    enhope_model_free(loaded);
    enhope_model_free(model);
    enhope_dataset_free(data);
}

static void exemplars_are_data_of_their_model(void **state)
{
    (void)state;
    const table t = make_table(5);
    enhope_dataset *data = data_of(&t, false, NULL), *exemplars = NULL;
    enhope_model *model = train(data), *others = NULL;
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    must(enhope_model_exemplar_data(ctx, model, &exemplars));
    assert_int_equal(exemplars->x.n, info.references);
    assert_string_equal(enhope_dataset_class_name(exemplars, 1), "b");
    float Y[64], G[64];
    int32_t label[32];
    assert_true(info.references <= 32);
    must(enhope_model_embed(ctx, model, exemplars, Y)); /* the columns, with their offsets, are those of the model */
    must(enhope_model_references(ctx, model, G, label));
    for (int64_t i = 0; i < 2 * info.references; i++) assert_float_equal(Y[i], G[i], 1e-4);
    assert_memory_equal(enhope_dataset_labels(exemplars), label, (size_t)info.references * sizeof *label);
    must(enhope_model_with_references(ctx, model, data, "training", 0, 1, &others));
    enhope_dataset *none = NULL;
    assert_int_equal(enhope_model_exemplar_data(ctx, others, &none), ENHOPE_ERROR_ARGUMENT);
    assert_null(none);
    enhope_model_free(others);
    enhope_dataset_free(exemplars);
    enhope_model_free(model);
    enhope_dataset_free(data);
}

/* Replaces `from`, of the same length, in the bytes of a file. */
static void replace(char *bytes, size_t size, const char *from, const char *to)
{
    const size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            return;
        }
    fail_msg("%s was not found", from);
}

static void damaged_columns_of_a_file_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"columns\":", "\"kolumns\":", "metadata 'columns' is missing"},
        {"\\\"missing\\\":true", "\\\"missing\\\":null",
         "metadata 'columns': column 1: expected true or false for 'missing'"},
        {"\\\"missing\\\":true", "\\\"massing\\\":true", "metadata 'columns' has 12 inputs: expected 13"},
        {"\\\"type\\\":\\\"date\\\"", "\\\"type\\\":\\\"hour\\\"",
         "metadata 'columns': column 4: expected the type number, boolean, category, date, id or empty; use a newer "
         "enhope"},
    };
    static char bytes[1 << 20];
    const table t = make_table(5);
    enhope_dataset *data = data_of(&t, false, NULL);
    enhope_model *model = train(data), *loaded = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = 0;
        must(enhope_model_save_bytes(ctx, model, bytes, sizeof bytes, &size));
        replace(bytes, size, cases[i].from, cases[i].to);
        assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &loaded), ENHOPE_ERROR_MODEL);
        assert_string_equal(enhope_error(ctx), cases[i].message);
    }
    enhope_model_free(model);
    enhope_dataset_free(data);
}

static void columns_of_a_model_are_listed(void **state)
{
    (void)state;
    const table t = make_table(5);
    enhope_dataset *data = data_of(&t, false, NULL);
    enhope_model *model = train(data);
    enhope_column_info info;
    assert_int_equal(enhope_model_column_count(model), 5);
    assert_int_equal(enhope_model_column(model, 5, &info), 0);
    assert_int_equal(enhope_model_column(model, -1, &info), 0);
    assert_int_equal(enhope_model_column(model, 0, &info), 1);
    assert_string_equal(info.name, "age");
    assert_string_equal(info.type, "number");
    assert_true(info.missing && info.offset == 0 && fabs(info.fill - 30) < 2 && info.inputs == 2);
    assert_int_equal(enhope_model_column(model, 1, &info), 1);
    assert_true(fabs(info.offset - 1e9) < 5 && info.first == 2);
    assert_int_equal(enhope_model_column(model, 4, &info), 1);
    assert_string_equal(info.type, "category");
    assert_int_equal(info.categories, 3);
    assert_true(info.missing && !info.other && isnan(info.fill));
    assert_null(enhope_model_label_column(model));
    assert_string_equal(enhope_model_input_name(model, 1), "age (missing)");
    enhope_model_free(model);
    enhope_dataset_free(data);
}

static void data_encoded_without_the_model_is_refused(void **state)
{
    (void)state;
    const table t = make_table(5), other = make_table(6);
    enhope_dataset *data = data_of(&t, false, NULL), *own = data_of(&other, false, NULL), *view = NULL;
    enhope_model *model = train(data);
    float *Y = eh_alloc((size_t)N * 2, sizeof *Y);
    assert_int_equal(enhope_model_embed(ctx, model, own, Y), ENHOPE_ERROR_DATA);
    must(enhope_dataset_view_f32(ctx, N, data->x.H, data->x.f32, NULL, 0, NULL, &view));
    assert_int_equal(enhope_model_embed(ctx, model, view, Y), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "0 was subtracted from column 'far' of the data"));
    enhope_dataset_free(view);
    eh_free(Y);
    enhope_dataset_free(own);
    enhope_dataset_free(data);
    enhope_model_free(model);
}

static void a_matrix_without_names_is_found_by_position(void **state)
{
    (void)state;
    double x[N * 3];
    int32_t label[N];
    for (int i = 0; i < N; i++) {
        label[i] = i % 2;
        for (int j = 0; j < 3; j++)
            x[i * 3 + j] = (j == 1 ? 1e9 : 0) + label[i] + 0.2 * eh_random_normal(2, 1, (uint64_t)(i * 3 + j));
    }
    for (int far = 0; far < 2; far++) {
        enhope_frame *frame = NULL;
        enhope_dataset *data = NULL, *again = NULL;
        for (int i = 0; !far && i < N; i++) x[i * 3 + 1] -= 1e9;
        must(enhope_frame_create(ctx, N, &frame));
        must(enhope_frame_add_matrix(ctx, frame, 3, NULL, x));
        must(enhope_dataset_from_frame(ctx, frame, NULL, label, 2, NULL, &data));
        assert_true(far ? data->encoding != NULL : data->encoding == NULL && data->input_name == NULL);
        enhope_model *model = train(data), *loaded = reload(model);
        must(enhope_dataset_from_frame(ctx, frame, loaded, label, 2, NULL, &again));
        assert_true(errors_of(loaded, again) < 3);
        enhope_frame_free(frame);
        enhope_dataset_free(data);
        enhope_dataset_free(again);
        must(enhope_frame_create(ctx, N / 2, &frame));
        must(enhope_frame_add_matrix(ctx, frame, 6, NULL, x));
        assert_int_equal(enhope_dataset_from_frame(ctx, frame, loaded, NULL, 0, NULL, &data), ENHOPE_ERROR_DATA);
        assert_string_equal(enhope_error(ctx), "the frame: 6 columns without names: the model has 3; use the columns "
                                               "of training");
        enhope_frame_free(frame);
        enhope_model_free(loaded);
        enhope_model_free(model);
        for (int i = 0; !far && i < N; i++) x[i * 3 + 1] += 1e9;
    }
}

/* Columns that identify rows are no inputs, and need not be there later. */
static void ids_are_not_used(void **state)
{
    (void)state;
    table t = make_table(5);
    double count[N], key[N], paid[N];
    char text[N][24];
    const char *note[N];
    for (int i = 0; i < N; i++) {
        count[i] = 4321 + i;
        key[i] = i * i + 11;
        paid[i] = i * i + 7;
        snprintf(text[i], sizeof text[i], "note %d", i);
        note[i] = text[i];
    }
    enhope_dataset *data = NULL;
    enhope_frame *frame = NULL;
    must(enhope_frame_create(ctx, N, &frame));
    must(enhope_frame_add_numbers(ctx, frame, "time", count));
    must(enhope_frame_add_numbers(ctx, frame, "visit_id", key));
    must(enhope_frame_add_numbers(ctx, frame, "paid", paid));
    must(enhope_frame_add_texts(ctx, frame, "note", note));
    must(enhope_frame_add_numbers(ctx, frame, "far", t.far));
    *logged = '\0';
    must(enhope_dataset_from_frame(ctx, frame, NULL, t.label, 3, NULL, &data));
    assert_string_equal(logged,
                        "not used: 'time' (a counter), 'visit_id' (unique numbers), 'note' (unique texts); rename "
                        "a column to use it\n");
    assert_int_equal(data->x.H, 2);
    enhope_model *trained = train(data), *model = reload(trained);
    const int64_t errors = errors_of(model, data);
    enhope_model_free(trained);
    enhope_frame_free(frame);
    enhope_dataset_free(data);
    must(enhope_frame_create(ctx, N, &frame));
    must(enhope_frame_add_numbers(ctx, frame, "far", t.far));
    must(enhope_frame_add_numbers(ctx, frame, "paid", paid));
    must(enhope_dataset_from_frame(ctx, frame, model, t.label, 3, NULL, &data));
    assert_int_equal(errors_of(model, data), errors);
    enhope_model_free(model);
    enhope_frame_free(frame);
    enhope_dataset_free(data);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    enhope_frame *frame = NULL;
    enhope_dataset *data = NULL;
    const double x[2] = {1, 2};
    const char *const bad[2] = {"a", "\xFF"};
    assert_int_equal(enhope_frame_create(ctx, 0, &frame), ENHOPE_ERROR_ARGUMENT);
    must(enhope_frame_create(ctx, 2, &frame));
    assert_int_equal(enhope_dataset_from_frame(ctx, frame, NULL, NULL, 0, NULL, &data), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_frame_add_numbers(ctx, frame, "x", NULL), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_frame_add_texts(ctx, frame, "x", NULL), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_frame_add_matrix(ctx, frame, 0, NULL, x), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_frame_add_booleans(ctx, frame, "x", x), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_frame_add_texts(ctx, frame, "x", bad), ENHOPE_ERROR_DATA);
    assert_int_equal(enhope_frame_add_numbers(ctx, frame, "\xFF", x), ENHOPE_ERROR_ARGUMENT);
    must(enhope_frame_add_numbers(ctx, frame, "x", x));
    assert_int_equal(enhope_frame_add_numbers(ctx, frame, NULL, x), ENHOPE_ERROR_ARGUMENT);
    enhope_frame_free(frame);
    enhope_frame_free(NULL);
}

static enhope_status build(void *user)
{
    const table *t = user;
    enhope_status status = ENHOPE_OK;
    enhope_frame *frame = NULL;
    enhope_dataset *data = NULL, *block = NULL;
    EH_CHECK(enhope_frame_create(ctx, N, &frame));
    EH_CHECK(enhope_frame_add_numbers(ctx, frame, "age", t->age));
    EH_CHECK(enhope_frame_add_texts(ctx, frame, "color", t->color));
    EH_CHECK(enhope_dataset_from_frame(ctx, frame, NULL, t->label, 3, NULL, &data));
    EH_CHECK(enhope_dataset_block(ctx, data, 3, 5, &block));
    assert_int_equal(block->encoding->H, data->encoding->H);
cleanup:
    enhope_frame_free(frame);
    enhope_dataset_free(data);
    enhope_dataset_free(block);
    return status;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    table t = make_table(5);
    fail_allocations(ctx, build, &t, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_encodes_frames_as_its_training_data),
        cmocka_unit_test(exemplars_are_data_of_their_model),
        cmocka_unit_test(damaged_columns_of_a_file_are_refused),
        cmocka_unit_test(columns_of_a_model_are_listed),
        cmocka_unit_test(data_encoded_without_the_model_is_refused),
        cmocka_unit_test(a_matrix_without_names_is_found_by_position),
        cmocka_unit_test(ids_are_not_used),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
