/* Public calls: texts of statuses, refused arguments, and predictions for streamed data. */
#define _DEFAULT_SOURCE 1
#include "read_support.h"

#include "enhope_advanced.h"

static void every_status_has_its_own_text(void **state)
{
    (void)state;
    static const enhope_status statuses[] = {
        ENHOPE_OK,          ENHOPE_STOPPED,  ENHOPE_ERROR_ARGUMENT, ENHOPE_ERROR_DATA,    ENHOPE_ERROR_FORMAT,
        ENHOPE_ERROR_MODEL, ENHOPE_ERROR_IO, ENHOPE_ERROR_MEMORY,   ENHOPE_ERROR_COMPUTE, (enhope_status)1000};
    enum { STATUSES = sizeof statuses / sizeof *statuses };
    for (int i = 0; i < STATUSES; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(enhope_status_text(statuses[i]), enhope_status_text(statuses[j]));
    assert_string_equal(enhope_status_text(ENHOPE_ERROR_IO), "i/o error");
    assert_string_equal(enhope_status_text((enhope_status)1000), "unknown status");
}

static void check_conversion(const char *path, const char *folder, int64_t rows, int64_t bytes, const char *message)
{
    const enhope_source source = {.path = path};
    assert_int_equal(enhope_convert(ctx, &source, folder, rows, bytes, NULL, NULL), ENHOPE_ERROR_ARGUMENT);
    if (!strstr(enhope_error(ctx), message)) fail_msg("%s: expected %s", enhope_error(ctx), message);
}

static void conversions_check_their_arguments(void **state)
{
    (void)state;
    static const char blobs[] = "synthetic:blobs,n=20";
    char long_name[9000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    check_conversion(NULL, "out", 0, 0, "needs a source and a folder");
    check_conversion(blobs, NULL, 0, 0, "needs a source and a folder");
    check_conversion(blobs, "", 0, 0, "needs a source and a folder");
    check_conversion(blobs, "out", -1, 0, "shards of -1 rows and 0 bytes");
    check_conversion(blobs, "out", 0, -7, "shards of 0 rows and -7 bytes");
    check_conversion(blobs, "out", 0, INT64_MAX, "expected 0 (256 MB) to 1 TB");
    check_conversion(blobs, long_name, 0, 0, "longer than 4032 characters");
    assert_int_not_equal(access("out", F_OK), 0);
}

static void columns_outside_the_table_are_refused(void **state)
{
    (void)state;
    write_text("t.csv", "a,b,kind\n1,2,x\n3,1,y\n2,2,x\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "t.csv"});
    enhope_table_column column;
    assert_int_equal(enhope_dataset_column(ctx, data, 1, &column), ENHOPE_OK);
    assert_string_equal(column.name, "b");
    assert_int_equal(enhope_dataset_column(ctx, data, 3, &column), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "column 3 is outside the table: expected 0 to 2");
    assert_int_equal(enhope_dataset_column(ctx, data, -1, &column), ENHOPE_ERROR_ARGUMENT);
    enhope_dataset_free(data);
}

/* ---- streamed data ---- */

enum { N = 400, H = 5, C = 3 };

typedef struct outputs {
    int32_t label[N];
    int64_t winner[N];
    float proba[N * C], distance[N], Y[N * 2];
} outputs;

static enhope_prediction into(outputs *o)
{
    return (enhope_prediction){
        .label = o->label, .proba = o->proba, .winner = o->winner, .distance = o->distance, .Y = o->Y};
}

static void streamed_data_has_the_predictions_of_data_in_memory(void **state)
{
    (void)state;
    static const char blobs[] = "synthetic:blobs,n=400,classes=3,inputs=5,seed=7";
    static const char *const settings[][2] = {
        {"recipe", "paper"}, {"n_factors", "6"}, {"n_hidden", "4"}, {"n_epochs", "2"}};
    static outputs expected, found, by_predictor;
    enhope_settings *s = enhope_settings_create();
    enhope_model *model = NULL;
    enhope_predictor *predictor = NULL;
    for (int i = 0; i < 4; i++)
        assert_int_equal(enhope_settings_set(ctx, s, settings[i][0], settings[i][1]), ENHOPE_OK);
    enhope_dataset *data = read_ok((enhope_source){.path = blobs});
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &model), ENHOPE_OK);
    assert_int_equal(enhope_convert(ctx, &(enhope_source){.path = blobs}, "shards", 90, 0, NULL, NULL), ENHOPE_OK);
    assert_int_equal(enhope_context_set_memory(ctx, 3000), ENHOPE_OK); /* of 8,000 bytes */
    enhope_dataset *streamed = read_ok((enhope_source){.path = "shards"});
    enhope_dataset_info info;
    enhope_dataset_get_info(streamed, &info);
    assert_int_equal(info.streamed, 1);

    enhope_prediction out = into(&expected);
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &out), ENHOPE_OK);
    out = into(&found);
    assert_int_equal(enhope_model_predict(ctx, model, streamed, 0, &out), ENHOPE_OK);
    assert_memory_equal(&found, &expected, sizeof found);
    assert_int_equal(enhope_predictor_create(ctx, model, NULL, &predictor), ENHOPE_OK);
    out = into(&by_predictor);
    assert_int_equal(enhope_predictor_predict(ctx, predictor, streamed, &out), ENHOPE_OK);
    assert_memory_equal(by_predictor.label, expected.label, sizeof expected.label);
    memset(found.Y, 0, sizeof found.Y);
    assert_int_equal(enhope_model_embed(ctx, model, streamed, found.Y), ENHOPE_OK);
    assert_memory_equal(found.Y, expected.Y, sizeof expected.Y);

    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
    enhope_predictor_free(predictor);
    enhope_dataset_free(streamed), enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_settings_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(conversions_check_their_arguments),
        cmocka_unit_test(columns_outside_the_table_are_refused),
        cmocka_unit_test(streamed_data_has_the_predictions_of_data_in_memory),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
