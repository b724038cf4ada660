/* Files that released versions have written are read by this one, with the same predictions on
 * every device. tests/data/make writes them, once for each release; add its folder to
 * `releases`. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"

enum { MAX_ROWS = 200, MAX_OUTPUTS = 8 };

static const char *const releases[] = {TEST_DATA "/0.2"};
static const char *const models[] = {"plain", "table", "mlp", "knn", "int8", "compressed"};
static const char *const devices[] = {"ref", "cpu"};

static const char *file_of(const char *release, const char *name, const char *ending)
{
    static char path[4][4200];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s%s", release, name, ending);
    return out;
}

static enhope_model *load(const char *path)
{
    enhope_model *model = NULL;
    if (enhope_model_load(ctx, path, &model)) fail_msg("%s", enhope_error(ctx));
    return model;
}

/* The numbers of a CSV file of coordinates. */
static int64_t read_coordinates(const char *path, int64_t h, float *Y)
{
    char line[1000];
    int64_t n = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); n++) {
        char *at = line;
        assert_true(n < MAX_ROWS);
        for (int64_t j = 0; j < h; j++, at++) Y[n * h + j] = strtof(at, &at);
    }
    fclose(f);
    return n;
}

static void assert_close(const char *what, const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-4f * (1 + fabsf(b[i]))))
            fail_msg("%s, element %d: %.9g, was %.9g", what, (int)i, (double)a[i], (double)b[i]);
}

static void assert_labels_of(const enhope_model *model, const char *path, const int32_t *label)
{
    char line[200], name[100];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (int64_t i = 0; fgets(line, sizeof line, f); i++) {
        assert_int_equal(sscanf(line, "%*d,%99s", name), 1);
        assert_string_equal(enhope_model_class_name(model, label[i]), name);
    }
    fclose(f);
}

/* A model embeds and classifies as the version that has stored it. */
static void check_model(const enhope_model *model, const char *release, const char *name)
{
    static float Y[MAX_ROWS * MAX_OUTPUTS], expected[MAX_ROWS * MAX_OUTPUTS];
    static int32_t label[MAX_ROWS];
    const char *rows = file_of(release, strcmp(name, "table") ? "plain" : "table", ".csv");
    enhope_dataset *data = read_ok((enhope_source){.path = rows, .model = model});
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    assert_true(data->x.n <= MAX_ROWS && info.outputs <= MAX_OUTPUTS);
    assert_int_equal(read_coordinates(file_of(release, name, ".embed.csv"), info.outputs, expected), data->x.n);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[i]), 0);
        if (enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.label = label, .Y = Y}))
            fail_msg("%s: %s", name, enhope_error(ctx));
        /* the reference computes int8 weights in double precision and does not round the inputs */
        if (i == 1 || enhope_model_int8(model) < 2) assert_close(name, Y, expected, data->x.n * info.outputs);
        assert_labels_of(model, file_of(release, name, ".predict.csv"), label);
    }
    enhope_dataset_free(data);
}

static void models_predict_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (size_t j = 0; j < sizeof models / sizeof *models; j++) {
            enhope_model *model = load(file_of(releases[i], models[j], ".safetensors"));
            check_model(model, releases[i], models[j]);
            if (!strcmp(models[j], "int8")) assert_int_equal(enhope_model_int8(model), 2);
            enhope_model_free(model);
        }
}

/* The training that the checkpoint has interrupted ends in the stored model. */
static void checkpoints_resume(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "recipe",       "paper", "n_factors", "7", "n_hidden",   "5",  "n_exemplars", "6",
        "random_state", "3",     "n_epochs",  "4", "batch_size", "30", NULL};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (int device = 0; device < 2; device++) {
            enhope_settings *s = enhope_settings_create();
            enhope_trainer *trainer = NULL;
            enhope_model *model = NULL;
            enhope_dataset *data = read_ok((enhope_source){.path = file_of(releases[i], "plain", ".csv")});
            for (int k = 0; pairs[k]; k += 2) assert_int_equal(enhope_settings_set(ctx, s, pairs[k], pairs[k + 1]), 0);
            assert_int_equal(enhope_context_set_device(ctx, devices[device]), 0);
            assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &trainer), 0);
            if (enhope_trainer_resume(trainer, file_of(releases[i], "checkpoint", ".safetensors")) ||
                enhope_trainer_run(trainer, NULL, NULL) || enhope_trainer_model(trainer, &model))
                fail_msg("%s", enhope_error(ctx));
            check_model(model, releases[i], "plain");
            enhope_model_free(model);
            enhope_trainer_free(trainer);
            enhope_dataset_free(data);
            enhope_settings_free(s);
        }
}

static void shards_have_the_rows_of_their_source(void **state)
{
    (void)state;
    float row[2][64];
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        const char *folder = file_of(releases[i], "shards", "");
        int64_t files = 0;
        if (enhope_shards_check(ctx, folder, NULL, NULL, &files)) fail_msg("%s", enhope_error(ctx));
        assert_true(files > 0);
        enhope_dataset *shards = read_ok((enhope_source){.path = folder});
        enhope_dataset *source = read_ok((enhope_source){.path = file_of(releases[i], "table", ".csv")});
        assert_int_equal(shards->x.n, source->x.n);
        assert_int_equal(shards->x.H, source->x.H);
        for (int64_t k = 0; k < source->x.n; k++) {
            assert_int_equal(enhope_dataset_row(ctx, shards, k, row[0]) | enhope_dataset_row(ctx, source, k, row[1]),
                             0);
            assert_memory_equal(row[0], row[1], (size_t)source->x.H * sizeof **row);
            assert_string_equal(enhope_dataset_class_name(shards, enhope_dataset_labels(shards)[k]),
                                enhope_dataset_class_name(source, enhope_dataset_labels(source)[k]));
        }
        enhope_dataset_free(shards), enhope_dataset_free(source);
    }
}

static void models_of_version_0_1_embed_the_same(void **state)
{
    (void)state;
    float Y[MAX_ROWS * 2], expected[MAX_ROWS * 2];
    enhope_model *model = load(TEST_DATA "/model-0.1.safetensors");
    enhope_dataset *data =
        read_ok((enhope_source){.path = "synthetic:blobs,n=7,classes=3,inputs=4,seed=1", .part = "test"});
    assert_int_equal(read_coordinates(TEST_DATA "/model-0.1.embed.csv", 2, expected), 7);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[i]), 0);
        assert_int_equal(enhope_model_embed(ctx, model, data, Y), 0);
        assert_close("model-0.1", Y, expected, 7 * 2);
    }
    enhope_dataset_free(data);
    enhope_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_predict_the_same),
        cmocka_unit_test(checkpoints_resume),
        cmocka_unit_test(shards_have_the_rows_of_their_source),
        cmocka_unit_test(models_of_version_0_1_embed_the_same),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
