/* Settings: one table with defaults, bounds and choices; recipes; defaults that depend on the data;
 * what is refused, and the message. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

static void settings_are_one_table_with_working_defaults_and_bounds(void **state)
{
    (void)state;
    enhope_settings *s = enhope_settings_create();
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *info = enhope_setting_get(i);
        char text[64];
        assert_int_equal(enhope_settings_get(ctx, s, info->name, text, sizeof text), ENHOPE_OK);
        assert_string_equal(text, info->initial);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, text), ENHOPE_OK);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, "x-y"), ENHOPE_ERROR_ARGUMENT);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, ""), ENHOPE_ERROR_ARGUMENT);
        if (info->type != ENHOPE_SETTING_CHOICE) {
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "-3"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "1e300"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "1e-300x"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "nan"), ENHOPE_ERROR_ARGUMENT);
        }
        assert_int_equal(enhope_settings_get(ctx, s, info->name, text, sizeof text), ENHOPE_OK);
        assert_string_equal(text, info->initial); /* a refused value changes nothing */
    }
    assert_null(enhope_setting_get(-1));
    assert_int_equal(enhope_settings_set(ctx, s, "factor", "3"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "there is no setting 'factor'; run 'enhope methods --settings' for the list of settings");
    enhope_settings_set(ctx, s, "n_factors", "2.5");
    assert_string_equal(enhope_error(ctx), "n_factors is '2.5': expected a whole number");
    enhope_settings_set(ctx, s, "order", "17");
    assert_string_equal(enhope_error(ctx), "order is 17: expected 1 to 16");
    assert_int_equal(enhope_settings_set(ctx, s, "order", "16"), ENHOPE_OK);
    char order[16];
    assert_int_equal(enhope_settings_get(ctx, s, "order", order, sizeof order), ENHOPE_OK);
    assert_string_equal(order, "16");
    enhope_settings_set(ctx, s, "normalizer", "joints");
    assert_string_equal(enhope_error(ctx), "normalizer is 'joints': expected one of auto|published|joint|row");
    enhope_settings_free(s);
}

static void old_names_give_an_error_with_the_current_name(void **state)
{
    (void)state;
    enhope_settings *s = enhope_settings_create();
    char text[32], expected[96];
    int renamed = 0, removed = 0;
    for (int i = 0; eh_old_setting_name(i); i++) {
        const char *old = eh_old_setting_name(i), *now = enhope_setting_current_name(old);
        if (!now) {
            assert_int_equal(enhope_settings_get(ctx, s, old, text, sizeof text), ENHOPE_OK); /* other values only */
            continue;
        }
        if (*now) {
            assert_int_equal(enhope_settings_get(ctx, s, now, text, sizeof text), ENHOPE_OK);
            snprintf(expected, sizeof expected, "setting '%s' is now '%s'", old, now);
        } else {
            snprintf(expected, sizeof expected, "setting '%s' was removed: leave it out", old);
        }
        *(*now ? &renamed : &removed) += 1;
        assert_int_equal(enhope_settings_set(ctx, s, old, "1"), ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), expected);
    }
    assert_int_equal(renamed, 26);
    assert_int_equal(removed, 8);
    assert_null(enhope_setting_current_name("learning_rate"));
    assert_string_equal(enhope_setting_current_name("rate"), "learning_rate");
    assert_string_equal(enhope_setting_current_name("mix"), "");
    enhope_settings_free(s);
}

static void the_choices_of_method_and_recipe_are_their_tables(void **state)
{
    (void)state;
    char names[512] = "";
    for (int i = 0; i < enhope_method_count(); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "|" : "", enhope_method_get(i)->name);
    assert_string_equal(names, enhope_setting_get(1)->choices);
    names[0] = 0;
    for (int i = 0; i < enhope_recipe_count(); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "|" : "", enhope_recipe_get(i)->name);
    assert_string_equal(names, enhope_setting_get(0)->choices);
}

static void assert_setting(const enhope_settings *s, const char *name, const char *value)
{
    char text[64];
    assert_int_equal(enhope_settings_get(ctx, s, name, text, sizeof text), ENHOPE_OK);
    if (strcmp(text, value) != 0) fail_msg("%s is %s, expected %s", name, text, value);
}

static void a_recipe_sets_all_and_is_changed_by_what_follows(void **state)
{
    (void)state;
    /* what results that are kept were trained with: `reproduce` begins with these */
    static const char *const paper[][2] = {
        {"recipe", "paper"},
        {"method", "en-hope"},
        {"n_components", "2"},
        {"n_factors", "800"},
        {"n_hidden", "400"},
        {"order", "2"},
        {"activation", "sigmoid"},
        {"hidden_layer_sizes", "500-500-2000"},
        {"init_scale", "1"},
        {"n_exemplars", "0"},
        {"normalizer", "published"},
        {"exemplars", "learned"},
        {"similarity", "auto"},
        {"target", "auto"},
        {"target_weight", "pair"},
        {"graph_k", "5"},
        {"lmnn_k", "3"},
        {"solver", "cg"},
        {"n_epochs", "30"},
        {"batch_size", "1000"},
        {"line_searches", "3"},
        {"perplexity", "30"},
        {"learning_rate", "0.003"},
        {"dof", "1"},
        {"noise", "0"},
        {"dropout", "0"},
        {"validation_fraction", "0.1"},
        {"time_limit", "0"},
        {"patience", "10"},
        {"scaling", "auto"},
        {"n_neighbors", "0"},
        {"random_state", "1"},
    };
    enhope_settings *s = enhope_settings_create();
    assert_setting(s, "recipe", "fast");
    assert_int_equal(enhope_settings_set(ctx, s, "random_state", "7"), ENHOPE_OK);
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "paper"), ENHOPE_OK);
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) assert_setting(s, paper[i][0], paper[i][1]);
    assert_int_equal(enhope_settings_set(ctx, s, "n_factors", "20"), ENHOPE_OK);
    assert_setting(s, "n_factors", "20");
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "slow"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "recipe is 'slow': expected one of fast|paper|best|small");
    assert_setting(s, "n_factors", "20");
    for (int i = 0; i < enhope_recipe_count(); i++) { /* each is fit to be used, and leaves nothing of the one before */
        assert_int_equal(enhope_settings_set(ctx, s, "recipe", enhope_recipe_get(i)->name), ENHOPE_OK);
        assert_setting(s, "recipe", enhope_recipe_get(i)->name);
        assert_setting(s, "random_state", "1");
    }
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "fast"), ENHOPE_OK);
    for (int i = 0; i < enhope_setting_count(); i++)
        assert_setting(s, enhope_setting_get(i)->name, enhope_setting_get(i)->initial);
    assert_null(enhope_recipe_get(-1));
    assert_null(enhope_recipe_get(enhope_recipe_count()));
    enhope_settings_free(s);
}

static const char *setting_of(enhope_model *m, const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", enhope_model_setting(m, name));
    enhope_model_free(m);
    return buffer;
}

static void defaults_suit_few_samples_and_sparse_ones(void **state)
{
    (void)state;
    char text[64];
    static const char *const brief[][2] = {{"n_factors", "12"}, {"n_hidden", "8"}, {"n_epochs", "1"}};
    for (int explicit_value = 0; explicit_value < 2; explicit_value++) {
        enhope_settings *s = enhope_settings_create();
        for (int i = 0; i < 3; i++) enhope_settings_set(ctx, s, brief[i][0], brief[i][1]);
        if (explicit_value) enhope_settings_set(ctx, s, "batch_size", "90");
        if (explicit_value) enhope_settings_set(ctx, s, "noise", "0.2");
        enhope_model *m = NULL;
        assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_OK);
        assert_string_equal(enhope_model_setting(m, "recipe"), "fast");
        if (explicit_value) assert_string_equal(enhope_model_setting(m, "noise"), "0.2");
        assert_string_equal(enhope_model_setting(m, "n_epochs"), "1");
        assert_string_equal(enhope_model_setting(m, "n_factors"), "12");
        assert_string_equal(setting_of(m, "batch_size", text, sizeof text), explicit_value ? "90" : "32");
        enhope_settings_free(s);
    }
    enhope_model *m = NULL;
    enhope_settings *images = with("recipe", "best", "n_factors", "12", "n_hidden", "8", "n_epochs", "1", NULL);
    assert_int_equal(enhope_train(ctx, sparse_blobs, images, NULL, NULL, &m), ENHOPE_OK);
    assert_string_equal(enhope_model_setting(m, "adversarial_step"), "0.1"); /* this table is centered */
    assert_string_equal(setting_of(m, "batch_size", text, sizeof text), "20");
    enhope_settings_free(images);
    assert_int_equal(enhope_train(ctx, blobs, NULL, NULL, NULL, &m), ENHOPE_OK);
    assert_true(atof(enhope_model_setting(m, "n_epochs")) * ceil(N / 32.0) >= 1000); /* steps */
    assert_true(error_of(m, blobs) < 0.12);
}

static int logged;

static void count_line(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    logged += level == ENHOPE_LOG_WARNING &&
              !strcmp(line, "perplexity is 30: a batch of 90 samples allows at most 29.6667, which is used");
}

static void a_batch_bounds_the_perplexity_and_the_target_is_not_to_be_chosen(void **state)
{
    (void)state;
    enhope_trainer *t = NULL;
    enhope_settings *s = with("method", "pt-sne", NULL);
    enhope_context_set_log(ctx, count_line, NULL);
    assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK); /* three batches of 90 */
    enhope_context_set_log(ctx, NULL, NULL);
    assert_int_equal(logged, 1);
    assert_true(t->set.objective.perplexity == 89.0 / 3);
    enhope_trainer_free(t);
    enhope_settings_free(s);

    enhope_model *m = NULL;
    s = with("method", "pt-sne", NULL);
    assert_int_equal(enhope_settings_set(ctx, s, "target", "nca"), ENHOPE_OK);
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "target does not apply to method pt-sne (it applies to: "));
    enhope_settings_free(s);
}

static void the_pairs_of_a_batch_are_bounded(void **state)
{
    (void)state;
    enum { MANY = 20004 };
    float *x = calloc(MANY, sizeof *x);
    int32_t *label = calloc(MANY, sizeof *label);
    for (int i = 0; i < MANY; i++) label[i] = i % 2, x[i] = (float)(i % 17);
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, MANY, 1, x, label, 2, NULL, &data), ENHOPE_OK);
    enhope_model *m = NULL;
    enhope_settings *s = with("method", "pt-sne", "batch_size", "0", "validation_fraction", "0", NULL);
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "batch_size is 20004: pt-sne stores a probability for every pair of a batch; "
                        "use at most 20000 samples");
    enhope_settings_free(s);
    enhope_dataset_free(data);
    free(x), free(label);
}

static void refused(const enhope_dataset *data, enhope_settings *s, enhope_status status, const char *sentence)
{
    enhope_model *m = NULL;
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &m), status);
    assert_null(m);
    assert_string_equal(enhope_error(ctx), sentence);
    enhope_settings_free(s);
}

static void what_cannot_be_trained_is_refused_with_a_sentence(void **state)
{
    (void)state;
    enhope_dataset *bare = NULL, *single = NULL, *unknown = NULL;
    int32_t zeros[N] = {0}, none[N];
    for (int i = 0; i < N; i++) none[i] = -1;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, NULL, 0, NULL, &bare), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, zeros, 1, (const char *const[]){"oak"}, &single), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, none, 2, NULL, &unknown), ENHOPE_OK);
    refused(bare, with("method", "en-hope", NULL), ENHOPE_ERROR_DATA,
            "the data has no labels: method en-hope needs a class for each sample; add labels, or use en-tsne, pca, "
            "lpp or pt-sne, which train without them");
    refused(bare, with("method", "en-tsne", "graph_k", "0", NULL), ENHOPE_ERROR_ARGUMENT,
            "graph_k is 0: en-tsne needs at least 1 neighbor of each sample");
    refused(single, with(NULL), ENHOPE_ERROR_DATA,
            "the data has a single class ('oak'): training needs at least two; add samples of another class");
    refused(unknown, with(NULL), ENHOPE_ERROR_DATA,
            "the data has no labeled samples; training needs at least two classes");
    refused(blobs, with("n_exemplars", "2", NULL), ENHOPE_ERROR_ARGUMENT,
            "2 exemplars for 3 classes: expected at least one for each class; raise n_exemplars");
    refused(blobs, with("dof", "4", NULL), ENHOPE_ERROR_ARGUMENT, "dof is 4: expected an odd number from 1 to 15");
    refused(blobs, with("n_neighbors", "7", NULL), ENHOPE_ERROR_ARGUMENT,
            "n_neighbors is 7, but there are 6 exemplars; use at most as many");
    refused(blobs, with("method", "hope", "batch_size", "1", NULL), ENHOPE_ERROR_ARGUMENT,
            "batch_size is 1: hope compares the samples of a batch; use at least 2");
    refused(blobs, with("method", "knn", "n_neighbors", "301", NULL), ENHOPE_ERROR_ARGUMENT,
            "n_neighbors is 301, but there are 300 training points; use at most as many");
    enhope_dataset_free(bare);
    enhope_dataset_free(single);
    enhope_dataset_free(unknown);
}

static void samples_without_a_label_are_passed_over(void **state)
{
    (void)state;
    int32_t some[N];
    for (int i = 0; i < N; i++) some[i] = i % 5 ? LABEL[i] : -1;
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, some, C, NULL, &data), ENHOPE_OK);
    assert_true(error_of(train(data, with(NULL)), blobs) < 0.12);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_bounds_the_perplexity_and_the_target_is_not_to_be_chosen),
        cmocka_unit_test(the_pairs_of_a_batch_are_bounded),
        cmocka_unit_test(what_cannot_be_trained_is_refused_with_a_sentence),
        cmocka_unit_test(samples_without_a_label_are_passed_over),
        cmocka_unit_test(settings_are_one_table_with_working_defaults_and_bounds),
        cmocka_unit_test(old_names_give_an_error_with_the_current_name),
        cmocka_unit_test(the_choices_of_method_and_recipe_are_their_tables),
        cmocka_unit_test(a_recipe_sets_all_and_is_changed_by_what_follows),
        cmocka_unit_test(defaults_suit_few_samples_and_sparse_ones),
    };
    return cmocka_run_group_tests_name("settings", tests, open_blobs, close_blobs);
}
